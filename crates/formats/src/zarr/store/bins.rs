//! Bins of a store, and the list of all bins. The bin of a region has the triangles that can affect the
//! region, so that a process needs no other part of the mesh.

use serde_json::{Value, json};

use super::part::ShardFile;
use super::text::{self, JsonFields};
use voxelize_core::grid::Hash;

/// List of the bins of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreBins {
    /// Hash of the plan that the bins belong to.
    pub plan: Hash,
    /// Least and largest coordinates of the whole mesh.
    pub bounds: [[f32; 3]; 2],
    /// States whether the whole mesh is closed, as a word.
    pub closed: String,
    /// Names of the parts that labels stand for. Empty if labels do not stand for parts.
    pub parts: Vec<String>,
    /// The bins, in the order of their regions.
    pub bins: Vec<ShardFile>,
}

impl StoreBins {
    /// Returns the content of the list's file.
    pub(super) fn text(&self) -> String {
        text::sealed(json!({
            "voxelize_bins": 1,
            "plan": self.plan.to_string(),
            "bounds": self.bounds,
            "closed": self.closed,
            "parts": self.parts,
            "bins": self.bins.iter().map(ShardFile::value).collect::<Value>(),
        }))
    }

    /// Parses the content of the list's file.
    ///
    /// # Errors
    /// Returns a sentence that describes the fault.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value = text::unsealed(text)?;
        let fields = JsonFields(&value);
        if fields.number("voxelize_bins")? != 1 {
            return Err("it is of another version of voxelize".into());
        }
        let bounds = fields.each("bounds", point)?;
        let bins = Self {
            plan: fields.text("plan")?.parse()?,
            bounds: bounds
                .try_into()
                .map_err(|_| "its bounds are not two points")?,
            closed: fields.text("closed")?.to_string(),
            parts: fields.texts("parts")?,
            bins: fields.each("bins", ShardFile::of)?,
        };
        if bins.text() != text {
            return Err("it was changed after it was written".into());
        }
        Ok(bins)
    }
}

fn point(value: &Value) -> Result<[f32; 3], String> {
    let mut numbers = Vec::new();
    for number in value.as_array().into_iter().flatten() {
        if let Some(number) = number.as_f64() {
            numbers.push(number as f32);
        }
    }
    <[f32; 3]>::try_from(numbers).map_err(|_| "its bounds are not points".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::BytesHasher;

    #[test]
    fn lists_of_bins_round_trip_and_no_changed_byte_passes() {
        let hash = BytesHasher::default().finish();
        let bins = StoreBins {
            plan: hash,
            bounds: [[-0.0, 1.0e-40, -3.4e38], [0.1, 1.0 / 3.0, 16_777_217.0]],
            closed: "oriented".into(),
            parts: vec!["lid \"a\"".into()],
            bins: vec![ShardFile {
                name: "bins/1.bin".into(),
                bytes: 36,
                hash,
            }],
        };
        let text = bins.text();
        let read = StoreBins::parse(&text).unwrap();
        assert_eq!(read, bins);
        assert_eq!(
            read.bounds.map(|p| p.map(f32::to_bits)),
            bins.bounds.map(|p| p.map(f32::to_bits))
        );
        let mut changed = 0;
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1 << (place % 7);
            let read = String::from_utf8(bytes).map_err(|e| e.to_string());
            assert!(
                read.and_then(|text| StoreBins::parse(&text)).is_err(),
                "byte {place}"
            );
            changed += 1;
        }
        assert!(changed > 300);
    }
}
