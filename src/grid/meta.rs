//! What is saved beside the cells, and its JSON form: the one used by every format that carries it.
//!
//! ```json
//! {"tool":"voxelize 0.1.0","dims":[3,2,1],"origin":["0/1","0/1","0/1"],"spacing":["1/10","1/10","1/10"],
//!  "closed":[true,true,true],"rule":"surface","ties":"up","snap":"float","input":"part.stl"}
//! ```
//! `origin` is the outer corner of cell (0, 0, 0); fractions are exact. Keys not known are absent.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::lattice::Lattice;
use crate::geom::Rational;
use crate::geom::axis::Snap;

/// The name and version that saved files carry.
pub const TOOL: &str = concat!("voxelize ", env!("CARGO_PKG_VERSION"));

/// How a grid came about, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// Name and version of the tool that made it.
    pub tool: Option<String>,
    /// The rule by its name on the command line.
    pub rule: Option<String>,
    /// Which ties count, by name; absent where the rule has none.
    pub ties: Option<String>,
    /// The variant of the rule, such as `hollow 2`; absent for the rule itself.
    pub variant: Option<String>,
    /// How inside was told from outside, by name; absent where the rule does not.
    pub inside: Option<String>,
    /// Up to how many cells long holes were closed, such as `3`; absent where none were to be.
    pub close_holes: Option<String>,
    /// Whether coordinates snapped, by name.
    pub snap: Option<String>,
    /// The file it was made from, without its folder.
    pub input: Option<String>,
}

/// What a saved description says: [`Meta`], the lattice, and what a format added of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Cells per axis, `[nx, ny, nz]`.
    pub dims: Option<[usize; 3]>,
    /// Where the cells are.
    pub lattice: Option<Lattice>,
    /// How the grid came about.
    pub meta: Meta,
    /// The format's own entries, such as the type of its numbers.
    pub extra: BTreeMap<String, String>,
    /// The format's own entries that are whole numbers, such as the bytes of a row.
    pub numbers: BTreeMap<String, u64>,
}

impl Record {
    /// The JSON text of this record, keys in a fixed order. Pretty text ends in a newline.
    pub fn to_json(&self, style: Style) -> String {
        let mut map = Map::new();
        let Meta { tool, rule, variant, ties, inside, close_holes, snap, input } = &self.meta;
        let mut put = |key: &str, value: Option<Value>| value.map(|value| map.insert(key.into(), value));
        put("tool", tool.clone().map(Value::from));
        put("dims", self.dims.map(|dims| json!(dims)));
        if let Some(lattice) = &self.lattice {
            put("origin", Some(fractions(lattice.origin())));
            put("spacing", Some(fractions(lattice.spacing())));
            put("closed", Some(json!(lattice.closed())));
        }
        let named = [("rule", rule), ("variant", variant), ("ties", ties), ("inside", inside)];
        let rest = [("close_holes", close_holes), ("snap", snap), ("input", input)];
        for (key, value) in named.into_iter().chain(rest) {
            put(key, value.clone().map(Value::from));
        }
        for (key, value) in &self.extra {
            put(key, Some(Value::from(value.clone())));
        }
        for (key, value) in &self.numbers {
            put(key, Some(Value::from(*value)));
        }
        match style {
            Style::OneLine => Value::Object(map).to_string(),
            Style::Pretty => format!("{:#}\n", Value::Object(map)),
        }
    }

    /// Reads what [`to_json`](Self::to_json) writes; unknown keys are kept in `extra` if they hold
    /// text, in `numbers` if they hold a whole number.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
        let map = value.as_object().ok_or("not a JSON object")?;
        let text_of = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_string);
        let meta = Meta {
            tool: text_of("tool"),
            rule: text_of("rule"),
            variant: text_of("variant"),
            ties: text_of("ties"),
            inside: text_of("inside"),
            close_holes: text_of("close_holes"),
            snap: text_of("snap"),
            input: text_of("input"),
        };
        let dims = map.get("dims").map(parse_dims).transpose()?;
        let lattice = match (dims, map.get("origin"), map.get("spacing"), map.get("closed")) {
            (Some(dims), Some(origin), Some(spacing), Some(closed)) => {
                let snap = if meta.snap.as_deref() == Some("none") { Snap::None } else { Snap::Float };
                let lattice = Lattice::new(
                    dims,
                    parse_fractions(origin)?,
                    parse_fractions(spacing)?,
                    parse_closed(closed)?,
                );
                Some(lattice.map_err(|e| e.to_string())?.with_snap(snap))
            }
            _ => None,
        };
        const KNOWN: [&str; 12] = [
            "tool",
            "dims",
            "origin",
            "spacing",
            "closed",
            "rule",
            "variant",
            "ties",
            "inside",
            "close_holes",
            "snap",
            "input",
        ];
        let own = || map.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str()));
        let extra = own().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_string())));
        let numbers = own().filter_map(|(key, value)| Some((key.clone(), value.as_u64()?)));
        let (extra, numbers) = (extra.collect(), numbers.collect());
        Ok(Self { dims, lattice, meta, extra, numbers })
    }
}

/// How JSON text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// On one line, for attributes.
    OneLine,
    /// Indented, for files people open.
    Pretty,
}

/// The lattice that fractions `p/q` describe, for formats that keep them as text of their own.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn lattice_from_fractions(
    dims: [usize; 3],
    origin: &[String; 3],
    spacing: &[String; 3],
    closed: [bool; 3],
) -> Result<Lattice, String> {
    let all = |texts: &[String; 3]| {
        let [x, y, z] = texts.each_ref().map(|text| Rational::parse_fraction(text));
        Ok::<_, String>([x?, y?, z?])
    };
    Lattice::new(dims, all(origin)?, all(spacing)?, closed).map_err(|e| e.to_string())
}

/// The lattice that doubles describe, taken exactly, closed on every axis: what a file says that
/// knows no fractions.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn lattice_from_doubles(
    dims: [usize; 3],
    origin: [f64; 3],
    spacing: [f64; 3],
) -> Result<Lattice, String> {
    let all = |values: [f64; 3]| {
        let [x, y, z] = values.map(|v| Rational::from_f64(v).ok_or(format!("{v} is not a number")));
        Ok::<_, String>([x?, y?, z?])
    };
    Lattice::new(dims, all(origin)?, all(spacing)?, [true; 3]).map_err(|e| e.to_string())
}

fn fractions(values: &[Rational; 3]) -> Value {
    values.iter().map(Rational::to_string).collect()
}

fn triple(value: &Value) -> Result<&[Value; 3], String> {
    let list = value.as_array().ok_or("expected a list of three")?;
    list.as_slice().try_into().map_err(|_| "expected a list of three".to_string())
}

fn parse_dims(value: &Value) -> Result<[usize; 3], String> {
    let one =
        |v: &Value| v.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or("dims must be whole numbers");
    let [x, y, z] = triple(value)?;
    Ok([one(x)?, one(y)?, one(z)?])
}

fn parse_fractions(value: &Value) -> Result<[Rational; 3], String> {
    let one = |v: &Value| Rational::parse_fraction(v.as_str().ok_or("expected fractions as text")?);
    let [x, y, z] = triple(value)?;
    Ok([one(x)?, one(y)?, one(z)?])
}

fn parse_closed(value: &Value) -> Result<[bool; 3], String> {
    let one = |v: &Value| v.as_bool().ok_or("closed must be true or false");
    let [x, y, z] = triple(value)?;
    Ok([one(x)?, one(y)?, one(z)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let spacing = [Rational::new(1, 10), Rational::new(1, 10), Rational::new(2, 7)];
        let origin = [Rational::ZERO, Rational::new(-1, 3), Rational::from(5)];
        let lattice = Lattice::new([3, 2, 1], origin, spacing, [true, false, true]).unwrap();
        Record {
            dims: Some([3, 2, 1]),
            lattice: Some(lattice.with_snap(Snap::None)),
            meta: Meta {
                tool: Some("voxelize 0.1.0".into()),
                rule: Some("surface".into()),
                variant: Some("hollow 2".into()),
                ties: Some("up".into()),
                inside: Some("flood".into()),
                close_holes: Some("3".into()),
                snap: Some("none".into()),
                input: None,
            },
            extra: [("dtype".to_string(), "uint8".to_string())].into(),
            numbers: [("row_bytes".to_string(), 8)].into(),
        }
    }

    #[test]
    fn records_round_trip() {
        for style in [Style::OneLine, Style::Pretty] {
            let text = record().to_json(style);
            assert_eq!(Record::from_json(&text), Ok(record()), "{text}");
        }
        assert_eq!(Record::from_json("{}"), Ok(Record::default()));
    }

    #[test]
    fn broken_records_are_refused() {
        for text in ["", "[]", r#"{"dims":[1,2]}"#, r#"{"dims":[1,2,-3]}"#, r#"{"dims":"x"}"#] {
            assert!(Record::from_json(text).is_err(), "{text}");
        }
        let text = record().to_json(Style::OneLine).replace("1/10", "0/1");
        assert!(Record::from_json(&text).is_err(), "a spacing of zero");
    }
}
