//! The bins of a store: of each region the triangles that it can meet, so that a process needs no more of the mesh; and
//! their list.

use serde_json::{Value, json};

use super::part::ShardFile;
use super::text::{self, JsonFields};
use voxelize_core::grid::Hash;

/// The list of the bins of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreBins {
    /// The hash of the plan.
    pub plan: Hash,
    /// The least and the largest coordinates of the whole mesh.
    pub bounds: [[f32; 3]; 2],
    /// The word for how far the whole mesh is closed.
    pub closed: String,
    /// The names of the parts that labels stand for; none if there are no such labels.
    pub parts: Vec<String>,
    /// The bins, in the order of the regions.
    pub bins: Vec<ShardFile>,
}

impl StoreBins {
    /// The text of its file.
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

    /// Reads the text of its file.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value = text::unsealed(text)?;
        let fields = JsonFields(&value);
        if fields.number("voxelize_bins")? != 1 {
            return Err("it is of another version of voxelize".into());
        }
        let point = |value: &Value| {
            let numbers = value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64);
            let numbers: Vec<f32> = numbers.map(|number| number as f32).collect();
            <[f32; 3]>::try_from(numbers).map_err(|_| "its bounds are no points".to_string())
        };
        let bounds = fields
            .list("bounds")?
            .iter()
            .map(point)
            .collect::<Result<Vec<_>, _>>()?;
        let bins = Self {
            plan: fields.text("plan")?.parse()?,
            bounds: bounds
                .try_into()
                .map_err(|_| "its bounds are no two points")?,
            closed: fields.text("closed")?.to_string(),
            parts: fields.texts("parts")?,
            bins: fields
                .list("bins")?
                .iter()
                .map(ShardFile::of)
                .collect::<Result<_, _>>()?,
        };
        match bins.text() == text {
            true => Ok(bins),
            false => Err("it is not as it was written".into()),
        }
    }
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
