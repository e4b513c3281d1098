//! The parts of a `.vdb` file that precede the tree.

use super::spool::Spool;
use super::{ACTIVE, JSON, MAGIC, TreeType, ZIP};
use crate::Dtype;
use crate::image::{centre_and_step, described};
use voxelize_core::geom::Rational;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{CellSource, CellType, Lattice};

/// Version of the file format, and the version of the library that introduced it.
const VERSIONS: [u32; 3] = [224, 10, 0];

/// Offset of the uuid in the file. The uuid is written last.
pub(super) const UUID: u64 = 21;

/// Formats a custom uuid (version 8 of RFC 9562).
pub(super) fn uuid([a, b, c, d]: [u32; 4]) -> String {
    let [b, low] = [b >> 16, b & 0xfff];
    format!(
        "{a:08x}-{b:04x}-8{low:03x}-a{:03x}-{:04x}{d:08x}",
        c >> 20,
        c & 0xffff
    )
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Returns the part before the grid. The uuid and the offsets are filled with zeros.
pub(super) fn file_head(source: &dyn CellSource, tree: TreeType) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    for version in VERSIONS {
        head.extend_from_slice(&version.to_le_bytes());
    }
    head.push(1);
    head.extend_from_slice(uuid([0; 4]).as_bytes());
    // The file has no metadata of its own, and has one grid.
    head.extend_from_slice(&0_u32.to_le_bytes());
    head.extend_from_slice(&1_u32.to_le_bytes());
    let [name, _] = name_and_class(source, tree);
    put_text(name, &mut head);
    put_text(tree.name(), &mut head);
    put_text("", &mut head);
    head.extend_from_slice(&[0; 3 * 8]);
    head
}

/// Returns the name that OpenVDB programs expect for the grid, and the class of the grid.
fn name_and_class(source: &dyn CellSource, tree: TreeType) -> [&'static str; 2] {
    let CellType::Field { background } = source.cell_type() else {
        return if tree == TreeType::Float {
            ["density", "fog volume"]
        } else {
            ["voxels", "unknown"]
        };
    };
    let record = source.record();
    let is_distance = record.rule_name.as_deref() == Some("distance");
    let is_signed = is_distance && record.field("variant") == Some("signed");
    let is_band = background.is_finite() && background > 0.0;
    let is_cubic = source.lattice().is_none_or(Lattice::is_cubic);
    let class = if is_signed && is_band && is_cubic {
        "level set"
    } else {
        "unknown"
    };
    [if is_distance { "distance" } else { "values" }, class]
}

/// Returns the compression flags, the metadata and the map.
pub(super) fn grid_head(
    source: &dyn CellSource,
    spool: &Spool,
    tree: TreeType,
    dtype: Dtype,
    is_zipped: bool,
) -> Vec<u8> {
    let [name, class] = name_and_class(source, tree);
    let packed = if is_zipped {
        "zip + active values"
    } else {
        "active values"
    };
    // For a grid without cells, OpenVDB states this box.
    let [low, high] = match spool.bounds {
        Some(bounds) => bounds.map(|cell| cell.map(|n| n as i32)),
        None => [[i32::MAX; 3], [i32::MIN; 3]],
    };
    let entries = [
        ("class", "string", class.as_bytes().to_vec()),
        ("creator", "string", TOOL.as_bytes().to_vec()),
        (
            "file_bbox_max",
            "vec3i",
            high.map(i32::to_le_bytes).concat(),
        ),
        ("file_bbox_min", "vec3i", low.map(i32::to_le_bytes).concat()),
        ("file_compression", "string", packed.as_bytes().to_vec()),
        (
            "file_voxel_count",
            "int64",
            spool.active.to_le_bytes().to_vec(),
        ),
        ("is_saved_as_half_float", "bool", vec![0]),
        ("name", "string", name.as_bytes().to_vec()),
        (JSON, "string", described(source, dtype).into_bytes()),
    ];
    let compression = ACTIVE | if is_zipped { ZIP } else { 0 };
    let mut head = compression.to_le_bytes().to_vec();
    head.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    for (name, kind, value) in entries {
        put_text(name, &mut head);
        put_text(kind, &mut head);
        head.extend_from_slice(&(value.len() as u32).to_le_bytes());
        head.extend_from_slice(&value);
    }
    put_map(source.lattice(), &mut head);
    head
}

/// Writes the map from cells to coordinates. Its translation is the centre of the first cell.
fn put_map(lattice: Option<&Lattice>, out: &mut Vec<u8>) {
    let is_cubic = lattice.is_none_or(Lattice::is_cubic);
    let (centre, step) = match lattice.map(centre_and_step) {
        Some((centre, step)) => (centre, step),
        None => ([0, 1, 2].map(|_| Rational::new(1, 2)), [Rational::ONE; 3]),
    };
    let centre = centre.each_ref().map(Rational::to_f64);
    let step = step.each_ref().map(Rational::to_f64);
    put_text(
        if is_cubic {
            "UniformScaleTranslateMap"
        } else {
            "ScaleTranslateMap"
        },
        out,
    );
    let inverse = step.map(|size| 1.0 / size);
    let doubles = [
        centre,
        step,
        step,
        inverse,
        inverse.map(|n| n * n),
        inverse.map(|n| n / 2.0),
    ];
    out.extend(doubles.as_flattened().iter().flat_map(|n| n.to_le_bytes()));
}
