//! Part file of a region. It lists the results of the region, so that they can be checked and joined without
//! reading the cells.

use serde_json::{Value, json};

use super::text::{self, JsonFields};
use voxelize_core::grid::{FieldSummary, Hash, LayerHash};

/// Results of a region.
#[derive(Debug, Clone, PartialEq)]
pub struct StorePart {
    /// Hash of the plan that the region belongs to.
    pub plan: Hash,
    /// Number of the region. The first region has the number 0.
    pub region: usize,
    /// Hashes of the layers, in order. `None` for an empty layer.
    pub layers: Vec<Option<LayerHash>>,
    /// Number of occupied cells. In a field, the number of cells with a value.
    pub occupied: u64,
    /// Labels, each with the number of its cells.
    pub labels: Vec<(u8, u64)>,
    /// Summary of the values of a field. `None` for other cells.
    pub field: Option<FieldSummary>,
    /// Number of coordinates that were snapped.
    pub snapped: u64,
    /// Findings about the cells, each as its code and its message.
    pub findings: Vec<(String, String)>,
    /// Shards of the region, sorted by name.
    pub shards: Vec<ShardFile>,
    /// Time that making the region took, in milliseconds.
    pub milliseconds: u64,
}

/// Shard or other file in a store, with the size and the hash that identify its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShardFile {
    /// Name of the file in the store.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Hash of the bytes.
    pub hash: Hash,
}

impl ShardFile {
    /// Returns the JSON entry for this file.
    pub(super) fn value(&self) -> Value {
        json!({"name": self.name, "bytes": self.bytes, "hash": self.hash.to_string()})
    }

    /// Parses the JSON entry of a file.
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
    /// Returns the content of the part file.
    pub(super) fn text(&self) -> String {
        text::sealed(self.value())
    }

    fn value(&self) -> Value {
        let mut layers = Vec::new();
        for hash in &self.layers {
            layers.push(hash.as_ref().map(LayerHash::to_string));
        }
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
            "layers": layers,
        })
    }

    /// Parses the content of a part file.
    ///
    /// # Errors
    /// Returns a sentence that describes the fault.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value = text::unsealed(text)?;
        let fields = JsonFields(&value);
        if fields.number("voxelize_part")? != 1 {
            return Err("it is of another version of voxelize".into());
        }
        let part = Self {
            plan: fields.text("plan")?.parse()?,
            region: fields
                .count("region")?
                .checked_sub(1)
                .ok_or("its region is missing")?,
            layers: fields.each("layers", layer)?,
            occupied: fields.number("occupied")?,
            labels: fields.each("labels", label)?,
            field: match fields.value("field")? {
                Value::Null => None,
                field => Some(summary(field)?),
            },
            snapped: fields.number("snapped")?,
            findings: fields.each("findings", finding)?,
            shards: fields.each("shards", ShardFile::of)?,
            milliseconds: fields.number("milliseconds")?,
        };
        if part.text() != text {
            return Err("it was changed after it was written".into());
        }
        Ok(part)
    }
}

fn layer(value: &Value) -> Result<Option<LayerHash>, String> {
    match value.as_str() {
        Some(text) => Ok(Some(text.parse()?)),
        None => Ok(None),
    }
}

fn pair(value: &Value) -> Result<(&Value, &Value), String> {
    match value.as_array().map(Vec::as_slice) {
        Some([first, second]) => Ok((first, second)),
        _ => Err("a pair is missing".into()),
    }
}

fn label(value: &Value) -> Result<(u8, u64), String> {
    let (value, cells) = pair(value)?;
    let value = value.as_u64().and_then(|value| u8::try_from(value).ok());
    let value = value.ok_or("a label is missing")?;
    let cells = cells.as_u64().ok_or("cells are missing")?;
    Ok((value, cells))
}

fn finding(value: &Value) -> Result<(String, String), String> {
    let (code, message) = pair(value)?;
    match (code.as_str(), message.as_str()) {
        (Some(code), Some(message)) => Ok((code.to_string(), message.to_string())),
        _ => Err("a finding is missing".into()),
    }
}

fn summary(value: &Value) -> Result<FieldSummary, String> {
    let fields = JsonFields(value);
    let range = if fields.value("range")?.is_null() {
        None
    } else {
        match fields.texts("range")?.as_slice() {
            [low, high] => Some([range_end(low)?, range_end(high)?]),
            _ => return Err("its range is not two numbers".into()),
        }
    };
    Ok(FieldSummary {
        cells: fields.number("cells")?,
        nan: fields.number("nan")?,
        negated: fields.number("negated")?,
        range,
    })
}

fn range_end(text: &str) -> Result<f32, String> {
    text.parse()
        .map_err(|_| "its range does not consist of numbers".to_string())
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
