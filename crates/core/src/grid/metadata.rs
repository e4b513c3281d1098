//! Metadata of saved grids, and its JSON form, which all formats share.
//!
//! ```json
//! {"tool":"voxelize 0.1.0","dims":[3,2,1],"origin":["0/1","0/1","0/1"],"spacing":["1/10","1/10","1/10"],
//!  "closed":[true,true,true],"rule":"surface","ties":"up","snap":"float","input":"part.stl"}
//! ```
//! `origin` is the outer corner of cell (0, 0, 0). Fractions are exact. Entries whose values are unknown are
//! omitted. Sidecars additionally contain the nearest doubles as `origin_float` and `spacing_float`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::lattice::Lattice;
use super::legend::{Label, LabelDigest, Legend};
use super::record::Record;
use crate::error::sanitize;
use crate::geom::Rational;

/// Metadata of a saved grid: its lattice, its [`Record`], and entries that depend on the format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// Number of cells along each axis, `[nx, ny, nz]`.
    pub dims: Option<[usize; 3]>,
    /// Position of the cells in space. `None` if it is unknown.
    pub lattice: Option<Lattice>,
    /// Record of how the cells were made.
    pub record: Record,
    /// Legend of the labels. `None` if the cells have no labels.
    pub legend: Option<Legend>,
    /// Background value of the field. `None` if the cells are not a field.
    pub background: Option<f32>,
    /// Further entries of the format whose values are text, such as the type of numbers.
    pub extra: BTreeMap<String, String>,
    /// Further entries of the format whose values are integers, such as the number of bytes per row.
    pub numbers: BTreeMap<String, u64>,
}

impl Metadata {
    /// Formats the metadata as JSON, with keys in a fixed order. In the style `Pretty` the text ends with a
    /// newline.
    pub fn to_json(&self, style: Style) -> String {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.into(), value);
        let mut entries = self.record.entries().peekable();
        if let Some((key, tool)) = entries.next_if(|(key, _)| *key == "tool") {
            put(key, Value::from(tool));
        }
        if let Some(dims) = self.dims {
            put("dims", json!(dims));
        }
        if let Some(lattice) = &self.lattice {
            for (key, value) in json_of_lattice(lattice, style) {
                put(key, value);
            }
        }
        for (key, value) in entries {
            put(key, Value::from(value));
        }
        let mut extra = self.extra.clone();
        if let Some(legend) = &self.legend
            && legend.is_standard()
        {
            extra.insert(PARTS.to_string(), names(legend));
        }
        for (key, value) in extra {
            put(&key, Value::from(value));
        }
        for (key, value) in &self.numbers {
            put(key, Value::from(*value));
        }
        if let Some(legend) = &self.legend
            && !legend.is_standard()
        {
            put(LABELS, legend.labels().iter().map(json_of_label).collect());
            put(LABEL_DIGEST, Value::from(legend.digest().name()));
        }
        if let Some(background) = self.background {
            put(BACKGROUND, Value::from(background.to_string()));
        }
        match style {
            Style::OneLine => Value::Object(map).to_string(),
            Style::Pretty => format!("{:#}\n", Value::Object(map)),
        }
    }

    /// Parses the text that [`to_json`](Self::to_json) writes. Entries with unknown keys are stored in
    /// `extra` if their value is text, and in `numbers` if it is an integer.
    ///
    /// # Errors
    /// Fails with a sentence that describes the problem.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
        let map = value.as_object().ok_or("not a JSON object")?;
        let text_of =
            |key: &str| Ok::<_, String>(map.get(key).and_then(Value::as_str).map(str::to_string));
        let record = Record::from_entries(text_of)?;
        let dims = match map.get("dims") {
            Some(dims) => Some(parse_dims(dims)?),
            None => None,
        };
        let lattice = match (
            dims,
            map.get("origin"),
            map.get("spacing"),
            map.get("closed"),
        ) {
            (Some(dims), Some(origin), Some(spacing), Some(closed)) => {
                let lattice = Lattice::new(
                    dims,
                    parse_fractions(origin)?,
                    parse_fractions(spacing)?,
                    parse_closed(closed)?,
                );
                Some(
                    lattice
                        .map_err(|e| e.to_string())?
                        .with_snap(record.snap_of_lattice()),
                )
            }
            _ => None,
        };
        let mut extra = BTreeMap::new();
        let mut numbers = BTreeMap::new();
        for (key, value) in map {
            let key_text = key.as_str();
            if Record::has_entry(key_text) || PLACE.contains(&key_text) || CELLS.contains(&key_text)
            {
                continue;
            }
            if let Some(text) = value.as_str() {
                extra.insert(key.clone(), text.to_string());
            }
            if let Some(number) = value.as_u64() {
                numbers.insert(key.clone(), number);
            }
        }
        Ok(Self {
            dims,
            lattice,
            record,
            legend: parse_legend(map)?,
            background: parse_background(map)?,
            extra,
            numbers,
        })
    }
}

/// Keys of the entries about the contents of the cells.
const CELLS: [&str; 4] = [PARTS, LABELS, LABEL_DIGEST, BACKGROUND];

/// Keys of the entries about the position of the cells.
const PLACE: [&str; 4] = ["dims", "origin", "spacing", "closed"];

#[doc(hidden)]
/// Layout of JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A single line, for attributes in files.
    OneLine,
    /// Indented lines, for files that people read.
    Pretty,
}

#[doc(hidden)]
/// Creates a lattice from fractions `p/q`, for formats that store them as text.
///
/// # Errors
/// Fails with a sentence that describes the problem.
pub fn lattice_from_fractions(
    dims: [usize; 3],
    origin: &[String; 3],
    spacing: &[String; 3],
    closed: [bool; 3],
) -> Result<Lattice, String> {
    Lattice::new(dims, exact(origin)?, exact(spacing)?, closed).map_err(|e| e.to_string())
}

fn exact(texts: &[String; 3]) -> Result<[Rational; 3], String> {
    let [x, y, z] = texts;
    Ok([
        Rational::parse_fraction(x)?,
        Rational::parse_fraction(y)?,
        Rational::parse_fraction(z)?,
    ])
}

#[doc(hidden)]
/// Creates a lattice from doubles, for files without fractions. Each double is used with its exact value, and
/// all axes are closed.
///
/// # Errors
/// Fails with a sentence that describes the problem.
pub fn lattice_from_doubles(
    dims: [usize; 3],
    origin: [f64; 3],
    spacing: [f64; 3],
) -> Result<Lattice, String> {
    let origin = exact_doubles(origin)?;
    let spacing = exact_doubles(spacing)?;
    Lattice::new(dims, origin, spacing, [true; 3]).map_err(|e| e.to_string())
}

fn exact_doubles(values: [f64; 3]) -> Result<[Rational; 3], String> {
    let [x, y, z] = values.map(|v| Rational::from_f64(v).ok_or(format!("{v} is not a number")));
    Ok([x?, y?, z?])
}

fn json_of_lattice(lattice: &Lattice, style: Style) -> Vec<(&'static str, Value)> {
    let origin = lattice.origin();
    let spacing = lattice.spacing();
    let mut entries = vec![
        ("origin", fractions(origin)),
        ("spacing", fractions(spacing)),
    ];
    if style == Style::Pretty {
        entries.extend([
            ("origin_float", floats(origin)),
            ("spacing_float", floats(spacing)),
        ]);
    }
    entries.push(("closed", json!(lattice.closed())));
    entries
}

/// Returns the nearest doubles as JSON, for programs that do not read fractions. This program does not read
/// them.
fn floats(values: &[Rational; 3]) -> Value {
    values.iter().map(Rational::to_f64).collect()
}

fn fractions(values: &[Rational; 3]) -> Value {
    values.iter().map(Rational::to_string).collect()
}

/// Key of the names of standard labels, if the digest does not cover them.
const PARTS: &str = "parts";

/// Key of other labels. The value is a list of objects such as
/// `{"value":1,"name":"bone","colour":"#eee8d5"}`.
const LABELS: &str = "labels";

/// Key of the name of the content that the digest of labels covers.
const LABEL_DIGEST: &str = "label_digest";

/// Key of the background value of a field. The value is stored as text, because JSON has no infinity.
const BACKGROUND: &str = "background";

/// Returns the names of the labels, separated by spaces, such as `surface interior`.
fn names(legend: &Legend) -> String {
    let names: Vec<&str> = legend.labels().iter().map(|label| &*label.name).collect();
    names.join(" ")
}

fn json_of_label(label: &Label) -> Value {
    let mut entry = json!({"value": label.value, "name": label.name});
    if let Some(colour) = label.colour {
        entry["colour"] = Value::from(hex(colour));
    }
    entry
}

#[doc(hidden)]
/// Formats a colour as `#rrggbb`.
pub fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[doc(hidden)]
/// Parses a colour of the form `#rrggbb`. `None` if the text has another form.
pub fn parse_hex(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#')?;
    if digits.len() != 6 || !digits.bytes().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, rgb @ ..] = number.to_be_bytes();
    Some(rgb)
}

fn parse_legend(map: &Map<String, Value>) -> Result<Option<Legend>, String> {
    let legend = match (map.get(LABELS), map.get(PARTS).and_then(Value::as_str)) {
        (Some(labels), _) => {
            let entries = labels.as_array().ok_or("labels must be a list")?;
            let mut labels = vec![];
            for entry in entries {
                labels.push(parse_label(entry)?);
            }
            Legend::new(labels).map_err(|e| e.to_string())?
        }
        (None, Some(names)) => standard_legend(names)
            .ok_or_else(|| format!("'{}' are not keys of a grid", sanitize(names)))?,
        (None, None) => return Ok(None),
    };
    let Some(name) = map.get(LABEL_DIGEST) else {
        return Ok(Some(legend));
    };
    let digest = name.as_str().and_then(LabelDigest::from_name);
    let digest = digest.ok_or("label_digest must be occupancy or values")?;
    Ok(Some(legend.with_digest(digest)))
}

/// Returns the legend of the standard labels with these names, which are separated by spaces. `None` if a
/// name is unknown, or if there are none.
fn standard_legend(names: &str) -> Option<Legend> {
    let mut labels = vec![];
    for name in names.split_whitespace() {
        labels.push(Label::standard_of(name)?);
    }
    if labels.is_empty() {
        return None;
    }
    let legend = Legend::new(labels).ok()?;
    Some(legend.with_digest(LabelDigest::Occupancy))
}

fn parse_label(entry: &Value) -> Result<Label, String> {
    let value = entry
        .get("value")
        .and_then(Value::as_u64)
        .and_then(|value| u8::try_from(value).ok());
    let name = entry.get("name").and_then(Value::as_str);
    let (Some(value), Some(name)) = (value, name) else {
        return Err("a label needs a value of 1 to 255 and a name".into());
    };
    let label = Label::new(value, name);
    match entry.get("colour") {
        None => Ok(label),
        Some(colour) => {
            let colour = colour
                .as_str()
                .and_then(parse_hex)
                .ok_or("the colour of a label must be #rrggbb")?;
            Ok(label.with_colour(colour))
        }
    }
}

fn parse_background(map: &Map<String, Value>) -> Result<Option<f32>, String> {
    let Some(value) = map.get(BACKGROUND) else {
        return Ok(None);
    };
    match value.as_str().map(str::parse) {
        Some(Ok(background)) => Ok(Some(background)),
        _ => Err("background must be a number as text".into()),
    }
}

fn triple(value: &Value) -> Result<&[Value; 3], String> {
    let list = value.as_array().ok_or("expected a list of three")?;
    list.as_slice()
        .try_into()
        .map_err(|_| "expected a list of three".to_string())
}

fn parse_dims(value: &Value) -> Result<[usize; 3], String> {
    let [x, y, z] = triple(value)?;
    Ok([parse_dim(x)?, parse_dim(y)?, parse_dim(z)?])
}

fn parse_dim(value: &Value) -> Result<usize, String> {
    match value.as_u64().map(usize::try_from) {
        Some(Ok(dim)) => Ok(dim),
        _ => Err("dims must be whole numbers".into()),
    }
}

fn parse_fractions(value: &Value) -> Result<[Rational; 3], String> {
    let [x, y, z] = triple(value)?;
    Ok([parse_fraction(x)?, parse_fraction(y)?, parse_fraction(z)?])
}

fn parse_fraction(value: &Value) -> Result<Rational, String> {
    Rational::parse_fraction(value.as_str().ok_or("expected fractions as text")?)
}

fn parse_closed(value: &Value) -> Result<[bool; 3], String> {
    let mut closed = [false; 3];
    for (closed, value) in closed.iter_mut().zip(triple(value)?) {
        *closed = value.as_bool().ok_or("closed must be true or false")?;
    }
    Ok(closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::record::{FIELDS, TRANSFORM};

    fn metadata() -> Metadata {
        let spacing = [
            Rational::new(1, 10),
            Rational::new(1, 10),
            Rational::new(2, 7),
        ];
        let origin = [Rational::ZERO, Rational::new(-1, 3), Rational::from(5)];
        let lattice = Lattice::new([3, 2, 1], origin, spacing, [true, false, true]).unwrap();
        Metadata {
            dims: Some([3, 2, 1]),
            lattice: Some(lattice.with_snap(crate::Snap::None)),
            record: Record {
                tool: Some("voxelize 0.1.0".into()),
                rule_name: Some("surface".into()),
                fields: FIELDS.map(|name| (name, format!("some {name}"))).into(),
                drain: Some("1,2,3,0.5".into()),
                transform: TRANSFORM.map(|name| (name, format!("some {name}"))).into(),
                snap: Some("none".into()),
                mesh_volume: Some("0.5".into()),
                input: None,
            },
            legend: Some(
                Legend::new([Label::new(7, "bone \"a\"").with_colour([0, 0x1f, 255])]).unwrap(),
            ),
            background: Some(f32::NEG_INFINITY),
            extra: [("dtype".to_string(), "uint8".to_string())].into(),
            numbers: [("row_bytes".to_string(), 8)].into(),
        }
    }

    #[test]
    fn records_round_trip() {
        for style in [Style::OneLine, Style::Pretty] {
            let text = metadata().to_json(style);
            assert_eq!(Metadata::from_json(&text), Ok(metadata()), "{text}");
        }
        assert_eq!(Metadata::from_json("{}"), Ok(Metadata::default()));
    }

    #[test]
    fn standard_labels_are_written_by_their_names() {
        let metadata = Metadata {
            legend: Some(Legend::surface_and_interior()),
            ..metadata()
        };
        let text = metadata.to_json(Style::OneLine);
        assert!(
            text.contains(r#""dtype":"uint8","parts":"surface interior","row_bytes":8"#),
            "{text}"
        );
        assert_eq!(Metadata::from_json(&text), Ok(metadata));
        let unnamed = Metadata {
            legend: Some(Legend::default()),
            ..Metadata::default()
        };
        let text = unnamed.to_json(Style::OneLine);
        assert_eq!(
            (&*text, Metadata::from_json(&text)),
            (r#"{"labels":[],"label_digest":"occupancy"}"#, Ok(unnamed))
        );
    }

    #[test]
    fn broken_records_are_refused() {
        for text in [
            "",
            "[]",
            r#"{"dims":[1,2]}"#,
            r#"{"dims":[1,2,-3]}"#,
            r#"{"dims":"x"}"#,
            r#"{"parts":"surface surface"}"#,
            r#"{"parts":"skin"}"#,
            r#"{"labels":{}}"#,
            r#"{"labels":[{"value":256,"name":"a"}]}"#,
            r#"{"labels":[{"value":0,"name":"a"}]}"#,
            r#"{"labels":[{"value":1}]}"#,
            r##"{"labels":[{"value":1,"name":"a","colour":"#+12345"}]}"##,
            r#"{"labels":[],"label_digest":"none"}"#,
            r#"{"background":1}"#,
        ] {
            assert!(Metadata::from_json(text).is_err(), "{text}");
        }
        let text = metadata().to_json(Style::OneLine).replace("1/10", "0/1");
        assert!(Metadata::from_json(&text).is_err(), "a spacing of zero");
    }
}
