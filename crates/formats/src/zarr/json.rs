//! The JSON of a group and its arrays, as this tool writes it.

use serde_json::{Map, Value, json};

use super::pyramid::method;
use super::{CHUNK, OME, OWN};
use crate::image::described;
use crate::packed::LEVEL;
use crate::{Choice, Dtype, SaveOptions};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellSource, CellType, Lattice, Legend};

/// Names of the axes. The slowest axis comes first.
const AXES: [&str; 3] = ["z", "y", "x"];

/// Units of length that this tool knows, each with the name that OME uses.
const UNITS: [(&str, &str); 6] = [
    ("um", "micrometer"),
    ("mm", "millimeter"),
    ("cm", "centimeter"),
    ("m", "meter"),
    ("in", "inch"),
    ("ft", "foot"),
];

/// Returns the JSON node of the group. `levels` is the number of levels.
pub(super) fn group(source: &dyn CellSource, dtype: Dtype, levels: usize) -> String {
    let datasets: Vec<_> = (0..levels)
        .map(|level| dataset(source.lattice(), level))
        .collect();
    let name = source.record().input.as_deref().unwrap_or("voxels");
    let mut image = json!({ "name": name, "axes": axes(source), "datasets": datasets });
    if levels > 1 {
        let (method, description) = method(source.cell_type().kind());
        image["type"] = Value::from(method);
        image["metadata"] = json!({ "description": description });
    }
    let mut ome = json!({ "version": "0.5", "multiscales": [image] });
    if let (CellType::Labels(legend), Dtype::U8) = (source.cell_type(), dtype) {
        ome["image-label"] = image_label(legend);
    }
    let own: Value = serde_json::from_str(&described(source, dtype)).unwrap_or_default();
    let mut attributes = Map::new();
    attributes.insert(OME.into(), ome);
    attributes.insert(OWN.into(), own);
    pretty(&json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes }))
}

fn axes(source: &dyn CellSource) -> Value {
    let unit = source.record().transform("unit");
    let unit = UNITS.iter().find(|(own, _)| Some(*own) == unit);
    let mut axes = Vec::new();
    for name in AXES {
        axes.push(match unit {
            Some((_, unit)) => json!({ "name": name, "type": "space", "unit": unit }),
            None => json!({ "name": name, "type": "space" }),
        });
    }
    Value::from(axes)
}

/// Returns the JSON of a level: its path, its cell size and the centre of its first cell.
fn dataset(lattice: Option<&Lattice>, level: usize) -> Value {
    let half = Rational::new(1, 2);
    let factor = Rational::from(1_i64 << level);
    let mut scale = Vec::new();
    let mut translation = Vec::new();
    for axis in [2, 1, 0] {
        let (origin, spacing) = match lattice {
            Some(lattice) => (
                lattice.origin()[axis].clone(),
                &lattice.spacing()[axis] * &factor,
            ),
            None => (Rational::ZERO, factor.clone()),
        };
        scale.push(spacing.to_f64());
        translation.push((&origin + &(&spacing * &half)).to_f64());
    }
    json!({
        "path": level.to_string(),
        "coordinateTransformations": [
            { "type": "scale", "scale": scale },
            { "type": "translation", "translation": translation },
        ],
    })
}

/// Returns the names and the colours of the labels as JSON.
fn image_label(legend: &Legend) -> Value {
    let mut colours = vec![];
    let mut names = vec![];
    for label in legend.labels() {
        let [r, g, b] = label
            .standard_colour()
            .unwrap_or(legend.colour(label.value));
        colours.push(json!({ "label-value": label.value, "rgba": [r, g, b, 255] }));
        names.push(json!({ "label-value": label.value, "name": label.name }));
    }
    if names.is_empty() {
        return json!({});
    }
    json!({ "colors": colours, "properties": names })
}

/// Returns the JSON node of an array. `layers` is the number of layers in a chunk.
pub(super) fn array(
    dims: [usize; 3],
    layers: usize,
    background: f32,
    dtype: Dtype,
    options: &SaveOptions,
) -> String {
    let [nx, ny, nz] = dims;
    let shard = [
        layers,
        ny.next_multiple_of(CHUNK),
        nx.next_multiple_of(CHUNK),
    ];
    let (data_type, fill) = match dtype {
        Dtype::F32 => ("float32", number(background)),
        Dtype::Bool => ("bool", Value::from(false)),
        _ => ("uint8", Value::from(0)),
    };
    let bytes = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let mut codecs = vec![bytes.clone()];
    if !options.has(Choice::Uncompressed) {
        codecs.push(json!({ "name": "gzip", "configuration": { "level": LEVEL } }));
    }
    let sharding = json!({
        "chunk_shape": [layers, CHUNK, CHUNK],
        "codecs": codecs,
        "index_codecs": [bytes, { "name": "crc32c" }],
        "index_location": "end",
    });
    pretty(&json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [nz, ny, nx],
        "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": shard } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
        "fill_value": fill,
        "codecs": [{ "name": "sharding_indexed", "configuration": sharding }],
        "attributes": {},
        "dimension_names": AXES,
    }))
}

/// Returns a float as JSON. NaN and infinity become text, because JSON has no such numbers.
fn number(value: f32) -> Value {
    match value {
        _ if value.is_nan() => Value::from("NaN"),
        f32::INFINITY => Value::from("Infinity"),
        f32::NEG_INFINITY => Value::from("-Infinity"),
        _ => Value::from(f64::from(value)),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
