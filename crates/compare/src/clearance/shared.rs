//! Volume that two closed meshes share: the sum of their volumes less the volume of their union.
//!
//! Cells that exactly fill the common part of both bounds are filled by the rule fraction with the
//! first mesh, the second mesh, and both. A cell shares the sum of the first two numbers less the
//! third. Shares of 0 and 1 are exact, so that only cells on a surface have an error.

use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Triangle};
use voxelize_core::grid::{Field, Fit, Lattice, Size};
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;
use voxelize_rules::Voxelizer;
use voxelize_rules::rule::{FractionReport, Inside, Rule};
use voxelize_rules::run::Run;

/// Volume that two meshes share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedVolume {
    /// Volume in cubed units of the mesh.
    pub volume: f64,
    /// Bound of its error.
    pub error: f64,
}

/// Largest error of a share of a cell because of its rounding to a float.
const ROUNDING: f64 = 1.0 / (1 << 25) as f64;

/// Returns the maximum memory of [`shared_volume`] in bytes, including the meshes.
pub fn shared_volume_bytes([first, second]: [&Mesh; 2], run: &Run) -> u128 {
    let Some(lattice) = common_lattice([first, second]) else {
        return 0;
    };
    let both = first.triangles().len() + second.triangles().len();
    let joined = (both * size_of::<Triangle>()) as u128;
    let mut filled = 0;
    for mesh in [first, second] {
        match shares(run).prepare(mesh, &lattice, None) {
            Ok(prepared) => filled += prepared.memory.dense,
            Err(_) => return u128::MAX,
        }
    }
    // Memory for the union is at most that for both.
    filled + 3 * Field::bytes_for(lattice.dims()) + 3 * joined
}

/// Returns the voxelizer of the shares of cells.
fn shares<'a>(run: &Run<'a>) -> Voxelizer<'a> {
    let rule = Rule::Fraction {
        inside: Inside::Nonzero,
    };
    Voxelizer::new(rule).with_run(*run).without_findings()
}

/// Returns the volume inside both meshes. `None` if it is not known: a mesh is not closed and
/// oriented, a part of it is inside out, or too many triangles meet in a cell.
///
/// # Errors
/// Fails if there is not enough memory, or if the work was cancelled.
pub fn shared_volume(meshes: [&Mesh; 2], run: &Run) -> Result<Option<SharedVolume>> {
    if meshes
        .iter()
        .any(|mesh| mesh.closedness() != Closedness::Oriented)
    {
        return Ok(None);
    }
    let Some(lattice) = common_lattice(meshes) else {
        return Ok(Some(SharedVolume {
            volume: 0.0,
            error: 0.0,
        }));
    };
    let outwards = meshes.map(|mesh| {
        if mesh.volume() < 0.0 {
            mesh.map(|[a, b, c]| [*a, *c, *b])
        } else {
            Ok(mesh.clone())
        }
    });
    let [first, second] = outwards;
    let [first, second] = [first?, second?];
    let both = Mesh::join([("first", &first), ("second", &second)])?;
    let mut fields = vec![];
    let mut united_error = 0.0;
    for mesh in [&first, &second, &both] {
        let filled = shares(run).fill(mesh, &lattice)?;
        let FractionReport { odd, united, .. } = filled.stats.fraction;
        let is_negative = odd.farthest.is_some_and(|(mean, _)| mean < 0.0);
        if is_negative || united.unknown > 0 {
            return Ok(None);
        }
        united_error += united.cells as f64 * united.error;
        let Some(field) = filled.voxels.field() else {
            return Ok(None);
        };
        fields.push(field.clone());
    }
    let [one, other, union] = [&fields[0], &fields[1], &fields[2]].map(Field::values);
    // Shares are multiples of a small power of two, so that most of these sums are exact.
    let mut shared = 0.0;
    let mut cut = 0_u64;
    for ((a, b), u) in one.iter().zip(other).zip(union) {
        shared += f64::from(*a) + f64::from(*b) - f64::from(*u);
        cut += [*a, *b, *u]
            .iter()
            .filter(|share| **share != 0.0 && **share != 1.0)
            .count() as u64;
    }
    let cell = lattice.cell_volume().to_f64();
    Ok(Some(SharedVolume {
        volume: shared.max(0.0) * cell,
        error: (cut as f64 * ROUNDING + united_error) * cell,
    }))
}

/// Returns cells that exactly fill the common part of both bounds. `None` if it has no volume.
fn common_lattice(meshes: [&Mesh; 2]) -> Option<Lattice> {
    let [one, other] = meshes.map(Mesh::bounds);
    let low: [f32; 3] = std::array::from_fn(|axis| one.min[axis].max(other.min[axis]));
    let high: [f32; 3] = std::array::from_fn(|axis| one.max[axis].min(other.max[axis]));
    if (0..3).any(|axis| low[axis] >= high[axis]) {
        return None;
    }
    let triangles: usize = meshes.iter().map(|mesh| mesh.triangles().len()).sum();
    let most = match triangles {
        0..=2_000 => 32,
        2_001..=200_000 => 64,
        _ => 128,
    };
    // Cells that are about cubes, but not less than a quarter of the cells along any axis.
    let sides: [f64; 3] = std::array::from_fn(|axis| f64::from(high[axis]) - f64::from(low[axis]));
    let longest = sides.into_iter().fold(0.0, f64::max);
    let dims = sides.map(|side| ((most as f64 * side / longest).ceil() as usize).max(most / 4));
    let [low, high] = Bounds {
        min: low,
        max: high,
    }
    .exact()?;
    Fit::new(Size::Stretched(dims))
        .bounds(low, high)
        .to(one)
        .ok()
}
