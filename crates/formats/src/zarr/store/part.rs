//! The part of a region: what was made, so that it can be checked and put together without a look at the cells.

use serde_json::{Value, json};

use super::text::{self, JsonFields};
use voxelize_core::grid::{FieldSummary, Hash, LayerHash};

/// The numbers of a region that is made.
#[derive(Debug, Clone, PartialEq)]
pub struct StorePart {
    /// The hash of the plan.
    pub plan: Hash,
    /// The number of the region, the first of which is 0.
    pub region: usize,
    /// The hashes of its layers, in order; `None` for an empty one.
    pub layers: Vec<Option<LayerHash>>,
    /// Occupied cells; of a field, those with a value.
    pub occupied: u64,
    /// How many cells have each label, by its value.
    pub labels: Vec<(u8, u64)>,
    /// The values of a field.
    pub field: Option<FieldSummary>,
    /// Coordinates that were snapped.
    pub snapped: u64,
    /// The findings about its cells: codes and messages.
    pub findings: Vec<(String, String)>,
    /// The shards, in the order of their names.
    pub shards: Vec<ShardFile>,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

/// A shard of a store, or another of its files that is known by its hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShardFile {
    /// Its name in the store.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// The hash of its bytes.
    pub hash: Hash,
}

impl ShardFile {
    /// Its entry in a file that lists it.
    pub(super) fn value(&self) -> Value {
        json!({"name": self.name, "bytes": self.bytes, "hash": self.hash.to_string()})
    }

    /// The file of an entry.
    pub(super) fn of(value: &Value) -> Result<Self, String> {
        let fields = JsonFields(value);
        Ok(Self {
            name: fields.text("name")?.to_string(),
            bytes: fields.number("bytes")?,
            hash: fields.text("hash")?.parse()?,
        })
    }
}

impl StorePart {
    /// The text of its file.
    pub(super) fn text(&self) -> String {
        text::sealed(self.value())
    }

    fn value(&self) -> Value {
        let layer = |hash: &Option<LayerHash>| hash.as_ref().map(LayerHash::to_string);
        let field = self.field.map(|field| {
            let range = field.range.map(|range| range.map(|value| value.to_string()));
            json!({"cells": field.cells, "nan": field.nan, "negated": field.negated, "range": range})
        });
        json!({
            "voxelize_part": 1,
            "plan": self.plan.to_string(),
            "region": self.region + 1,
            "occupied": self.occupied,
            "labels": self.labels,
            "field": field,
            "snapped": self.snapped,
            "findings": self.findings,
            "milliseconds": self.milliseconds,
            "shards": self.shards.iter().map(ShardFile::value).collect::<Value>(),
            "layers": self.layers.iter().map(layer).collect::<Vec<_>>(),
        })
    }

    /// Reads the text of its file.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value = text::unsealed(text)?;
        let fields = JsonFields(&value);
        if fields.number("voxelize_part")? != 1 {
            return Err("it is of another version of voxelize".into());
        }
        let layer = |value: &Value| value.as_str().map(str::parse).transpose();
        let pair = |value: &Value| {
            let value = value
                .as_array()
                .filter(|pair| pair.len() == 2)
                .ok_or("a pair is missing")?;
            Ok::<_, String>([value[0].clone(), value[1].clone()])
        };
        let label = |value: &Value| {
            let [value, cells] = pair(value)?;
            let value = value.as_u64().and_then(|value| u8::try_from(value).ok());
            Ok::<_, String>((
                value.ok_or("a label is missing")?,
                cells.as_u64().ok_or("cells are missing")?,
            ))
        };
        let finding = |value: &Value| {
            let text = |value: &Value| {
                value
                    .as_str()
                    .map(str::to_string)
                    .ok_or("a finding is missing")
            };
            let [code, message] = pair(value)?;
            Ok::<_, String>((text(&code)?, text(&message)?))
        };
        let part = Self {
            plan: fields.text("plan")?.parse()?,
            region: fields
                .count("region")?
                .checked_sub(1)
                .ok_or("its region is missing")?,
            layers: fields
                .list("layers")?
                .iter()
                .map(layer)
                .collect::<Result<_, _>>()?,
            occupied: fields.number("occupied")?,
            labels: fields
                .list("labels")?
                .iter()
                .map(label)
                .collect::<Result<_, _>>()?,
            field: Some(fields.value("field")?)
                .filter(|field| !field.is_null())
                .map(summary)
                .transpose()?,
            snapped: fields.number("snapped")?,
            findings: fields
                .list("findings")?
                .iter()
                .map(finding)
                .collect::<Result<_, _>>()?,
            shards: fields
                .list("shards")?
                .iter()
                .map(ShardFile::of)
                .collect::<Result<_, _>>()?,
            milliseconds: fields.number("milliseconds")?,
        };
        match part.text() == text {
            true => Ok(part),
            false => Err("it is not as it was written".into()),
        }
    }
}

fn summary(value: &Value) -> Result<FieldSummary, String> {
    let fields = JsonFields(value);
    let range = Some(fields.value("range")?).filter(|range| !range.is_null());
    let number = |text: &String| {
        text.parse::<f32>()
            .map_err(|_| "its range is no numbers".to_string())
    };
    let range = match range {
        None => None,
        Some(_) => match fields.texts("range")?.as_slice() {
            [low, high] => Some([number(low)?, number(high)?]),
            _ => return Err("its range is no two numbers".into()),
        },
    };
    Ok(FieldSummary {
        cells: fields.number("cells")?,
        nan: fields.number("nan")?,
        negated: fields.number("negated")?,
        range,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::{BitGrid, BytesHasher, layer_hashes};

    #[test]
    fn parts_round_trip_and_no_changed_byte_passes() {
        let cells = BitGrid::from_text("##.\n\n...\n\n..#").unwrap();
        let hash = BytesHasher::default().finish();
        let range = Some([-0.0, f32::INFINITY]);
        let part = StorePart {
            plan: hash,
            region: 4,
            layers: layer_hashes(7, &cells),
            occupied: 3,
            labels: vec![(1, 2), (255, u64::MAX)],
            field: Some(FieldSummary {
                cells: 3,
                nan: 1,
                negated: 0,
                range,
            }),
            snapped: 5,
            findings: vec![("W008".into(), "vote: the axes disagree".into())],
            shards: vec![ShardFile {
                name: "0/c/1/0/0".into(),
                bytes: 9,
                hash,
            }],
            milliseconds: 12,
        };
        let text = part.text();
        assert_eq!(StorePart::parse(&text), Ok(part.clone()));
        let empty = StorePart {
            field: None,
            labels: vec![],
            findings: vec![],
            shards: vec![],
            ..part
        };
        assert_eq!(StorePart::parse(&empty.text()), Ok(empty));
        let mut changed = 0;
        for place in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[place] ^= 1 << bit;
                let read = String::from_utf8(bytes).map_err(|e| e.to_string());
                assert!(
                    read.and_then(|text| StorePart::parse(&text)).is_err(),
                    "byte {place}, bit {bit}"
                );
                changed += 1;
            }
            assert!(StorePart::parse(&text[..place]).is_err(), "cut at {place}");
        }
        assert!(changed > 1000);
    }
}
