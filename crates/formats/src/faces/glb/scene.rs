//! The JSON of a GLB: one node, its mesh, and a material for each label.

use std::fmt::Write as _;

use super::POSITION;
use crate::comments::ascii;
use crate::faces::meshing::has_labels;
use crate::{Dtype, metadata};
use voxelize_core::grid::metadata::Style;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{CellSource, CellType, Label, Record};

/// Data for the JSON that are known before the faces are made.
pub(super) struct GlbScene {
    /// Start of the JSON, up to the first node.
    start: String,
    /// Labels that faces may have, and the colours of their materials.
    pub labels: Vec<Label>,
}

impl GlbScene {
    pub(super) fn of(source: &dyn CellSource, dtype: Dtype) -> Self {
        let cells = source.cell_type();
        let labels = match &cells {
            CellType::Labels(legend) if has_labels(source, dtype) => {
                let mut labels = match legend.labels() {
                    [] => (1..=255)
                        .map(|value| Label::new(value, legend.name(value)))
                        .collect(),
                    labels => labels.to_vec(),
                };
                labels.sort_by_key(|label| label.value);
                for label in &mut labels {
                    *label = label.clone().with_colour(cells.colour(label.value));
                }
                labels
            }
            _ => {
                let mut label = Label::new(0, "voxels");
                if let Some(colour) = Label::SURFACE.standard_colour() {
                    label = label.with_colour(colour);
                }
                vec![label]
            }
        };
        Self {
            start: start(source, dtype),
            labels,
        }
    }

    /// Returns the JSON. `vertices` is the number of vertices, `indices` the number of indices for each
    /// label, and `low` and `high` are the coordinates of the lowest and the highest corner.
    pub(super) fn json(
        &self,
        vertices: u64,
        indices: &[u64],
        [low, high]: &[[String; 3]; 2],
    ) -> String {
        let Self { start, labels } = self;
        let mut json = start.clone();
        if vertices == 0 {
            return json + "}]}";
        }
        let mut primitives = Vec::new();
        let mut materials = Vec::new();
        let mut accessors = Vec::new();
        let mut faces = 0;
        for (label, count) in labels.iter().zip(indices) {
            if *count == 0 {
                continue;
            }
            let n = primitives.len();
            primitives.push(format!(
                "{{\"attributes\":{{\"POSITION\":0}},\"indices\":{},\"material\":{n},\"mode\":4}}",
                n + 1
            ));
            materials.push(material(label));
            accessors.push(format!(
                "{{\"bufferView\":1,\"byteOffset\":{faces},\"componentType\":5125,\"count\":{count},\"type\":\"SCALAR\"}}"
            ));
            faces += 4 * count;
        }
        let positions = POSITION * vertices;
        let _ = write!(
            json,
            ",\"mesh\":0}}],\"meshes\":[{{\"primitives\":[{}]}}],\"materials\":[{}],\
             \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\"count\":{vertices},\"type\":\"VEC3\",\
             \"min\":[{}],\"max\":[{}]}},{}],\
             \"bufferViews\":[{{\"buffer\":0,\"byteLength\":{positions},\"target\":34962}},\
             {{\"buffer\":0,\"byteOffset\":{positions},\"byteLength\":{faces},\"target\":34963}}],\
             \"buffers\":[{{\"byteLength\":{}}}]}}",
            primitives.join(","),
            materials.join(","),
            low.join(","),
            high.join(","),
            accessors.join(","),
            positions + faces
        );
        json
    }
}

/// Returns the start of the JSON: the metadata, the scene, and the first node without its mesh and without its
/// end.
pub(super) fn start(source: &dyn CellSource, dtype: Dtype) -> String {
    let metadata = ascii(&metadata(source, dtype).to_json(Style::OneLine));
    let mut json = format!(
        "{{\"asset\":{{\"version\":\"2.0\",\"generator\":{},\"extras\":{{\"voxelize\":{metadata}}}}},\
         \"scene\":0,\"scenes\":[{{\"nodes\":[0]}}],\"nodes\":[{{\"name\":\"voxels\"",
        quoted(TOOL)
    );
    if let Some(matrix) = matrix(source.record()) {
        let _ = write!(json, ",\"matrix\":[{matrix}]");
    }
    json
}

fn material(label: &Label) -> String {
    let [r, g, b] = label.colour.unwrap_or([255; 3]).map(light);
    let name = quoted(&label.name);
    let value = label.value;
    let extras = if value == 0 {
        String::new()
    } else {
        format!(",\"extras\":{{\"label\":{value}}}")
    };
    format!(
        "{{\"name\":{name},\"pbrMetallicRoughness\":{{\"baseColorFactor\":[{r},{g},{b},1],\
         \"metallicFactor\":0,\"roughnessFactor\":1}}{extras}}}"
    )
}

/// Returns the exact decimal digits of a float.
pub(super) fn number(value: f32) -> String {
    f64::from(value).to_string()
}

/// Returns a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    ascii(&(quoted + "\""))
}

/// Returns the matrix from the coordinates of the grid to metres with y up, column by column. `None` if it is
/// the identity.
fn matrix(record: &Record) -> Option<String> {
    let scale = match record.transform("unit") {
        Some("um") => "0.000001",
        Some("mm") => "0.001",
        Some("cm") => "0.01",
        Some("in") => "0.0254",
        Some("ft") => "0.3048",
        _ => "1",
    };
    match record.transform("up") {
        Some("y") if scale == "1" => None,
        Some("y") => Some(format!("{scale},0,0,0,0,{scale},0,0,0,0,{scale},0,0,0,0,1")),
        _ => Some(format!(
            "{scale},0,0,0,0,0,-{scale},0,0,{scale},0,0,0,0,0,1"
        )),
    }
}

/// Returns the linear light of an sRGB channel with six digits.
///
/// x to the power of 2.4 is the product of x² and the fifth root of x². Newton's method computes this root
/// with the same operations on every machine.
fn light(channel: u8) -> String {
    let share = f64::from(channel) / 255.0;
    let base = (share + 0.055) / 1.055;
    let square = base * base;
    let mut root = 1.0;
    for _ in 0..40 {
        root -= (root - square / (root * root * root * root)) / 5.0;
    }
    let light = if share <= 0.04045 {
        share / 12.92
    } else {
        square * root
    };
    ((light * 1e6).round() / 1e6).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_agrees_with_the_standard() {
        for channel in 0..=255 {
            let share = f64::from(channel) / 255.0;
            let exact = if share <= 0.04045 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            };
            let found: f64 = light(channel).parse().unwrap();
            assert!((found - exact).abs() < 1e-6, "{channel}: {found}, {exact}");
        }
        assert_eq!([0, 255].map(light), ["0", "1"]);
    }

    #[test]
    fn text_is_quoted() {
        assert_eq!(quoted("a\"\\ü\n"), "\"a\\\"\\\\\\u00fc\\u000a\"");
    }
}
