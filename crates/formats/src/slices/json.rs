//! The content of `slices.json`.

use serde_json::{Map, Value, json};

use super::plate::PictureFrame;
use crate::Dtype;
use crate::image::described;
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellKind, CellSource, Lattice};

/// Units of length that this tool knows, each with its length in metres as a fraction.
const METRES: [(&str, [i64; 2]); 6] = [
    ("um", [1, 1_000_000]),
    ("mm", [1, 1000]),
    ("cm", [1, 100]),
    ("m", [1, 1]),
    ("in", [127, 5000]),
    ("ft", [381, 1250]),
];

/// Returns the number of pixels per metre along x and y. `None` if the unit is unknown, or if a PNG cannot
/// state the number.
pub(super) fn density(source: &dyn CellSource) -> Option<[u32; 2]> {
    let unit = source.record().transform("unit")?;
    let (_, [n, d]) = METRES.iter().find(|(name, _)| *name == unit)?;
    let spacing = source.lattice()?.spacing();
    let mut densities = [0; 2];
    for (density, size) in densities.iter_mut().zip(spacing) {
        let metres = size * &Rational::new(*n, *d);
        let rounded = (&Rational::ONE / &metres).round()?;
        *density = u32::try_from(rounded).ok().filter(|density| *density > 0)?;
    }
    Some(densities)
}

/// Returns the content of the file.
pub(super) fn text(
    source: &dyn CellSource,
    dtype: Dtype,
    frame: &PictureFrame,
    names: &[String],
) -> String {
    let [width, height] = frame.size;
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| drop(all.insert(key.into(), value));
    put("dims", json!(source.dims()));
    put(
        "picture",
        json!({ "width": width, "height": height, "bits": if dtype == Dtype::Bit { 1 } else { 8 } }),
    );
    // Column and row of the pixel of the cell with the lowest x and the highest y.
    put("corner", json!(frame.corner));
    put("first_picture", Value::from("lowest z"));
    put("first_row", Value::from("highest y"));
    put("first_column", Value::from("lowest x"));
    put("occupied", Value::from(occupied(source, dtype)));
    put("unit", json!(source.record().transform("unit")));
    if let Some(lattice) = source.lattice() {
        let [x, y, z] = lattice.spacing();
        put("pixel_size", json!([x.to_f64(), y.to_f64()]));
        put("pixel_size_exact", json!([x.to_string(), y.to_string()]));
        put("layer_height", json!(z.to_f64()));
        put("layer_height_exact", json!(z.to_string()));
    }
    let mut layers = Vec::new();
    for (k, name) in names.iter().enumerate() {
        layers.push(layer(source.lattice(), k, name));
    }
    put("layers", Value::from(layers));
    put(
        "voxelize",
        serde_json::from_str(&described(source, dtype)).unwrap_or_default(),
    );
    format!("{:#}\n", Value::Object(all))
}

/// Returns a description of the pixels of occupied cells.
fn occupied(source: &dyn CellSource, dtype: Dtype) -> &'static str {
    match (source.cell_type().kind(), dtype) {
        (_, Dtype::Bit) => "1, white",
        (CellKind::Labels, _) => "the label",
        (CellKind::Field, _) => "the share of the cell in 255ths, rounded to the nearest",
        _ => "255, white",
    }
}

/// Returns the JSON of a layer: its picture, its lower wall, its upper wall and its centre.
fn layer(lattice: Option<&Lattice>, k: usize, name: &str) -> Value {
    let Some(lattice) = lattice else {
        return json!({ "file": name });
    };
    let [lower, centre, upper] = [0, 1, 2].map(|halves| {
        let cells = &Rational::from(2 * k as i64 + halves) * &Rational::new(1, 2);
        &lattice.origin()[2] + &(&lattice.spacing()[2] * &cells)
    });
    json!({
        "file": name,
        "z": [lower.to_f64(), upper.to_f64()],
        "centre": centre.to_f64(),
        "z_exact": [lower.to_string(), upper.to_string()],
        "centre_exact": centre.to_string(),
    })
}
