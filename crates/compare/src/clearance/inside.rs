//! Exact decision whether a point is inside a mesh that it does not lie on.
//!
//! For a closed mesh, the crossings of a ray from the point are counted (`mesh/pairs/ray`). If the
//! mesh is oriented, an outward crossing counts one and an inward crossing minus one. Otherwise all
//! crossings count one.
//!
//! A mesh that is not closed has no inside in this sense. Its inside is where the absolute winding
//! number exceeds a half (Jacobson, Kavan and Sorkine-Hornung 2013), in doubles.

use super::{ClearanceBody, ClearanceOptions};
use voxelize_core::error::Result;
use voxelize_core::geom::{Point, Winding};
use voxelize_core::par;
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::pairs::{self, RaySample, TriangleMarks};

/// Memory of components in bytes, for a triangle of the first mesh.
const COMPONENTS: u64 = 220;
/// Memory of winding numbers in bytes, for a triangle of the second mesh.
const WINDING: u64 = 360;

/// Method to classify points as inside or outside a mesh.
pub(super) enum MeshInside {
    /// Crossings with their signs.
    NonZero,
    /// Parity of crossings.
    EvenOdd,
    /// Winding number.
    Winding(Winding),
}

/// Components of a mesh that do not meet another mesh.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ComponentCount {
    /// Number of these components inside the other mesh.
    pub inside: u64,
    /// These are all components of the mesh.
    pub is_all: bool,
}

/// Counts the components of the first mesh that are inside the second. Components with a marked
/// triangle are left out.
///
/// # Errors
/// If there is not enough memory, or the work was cancelled.
pub(super) fn components(
    [own, other]: [&ClearanceBody; 2],
    met: Option<&TriangleMarks>,
    options: &ClearanceOptions,
) -> Result<ComponentCount> {
    let bounds = own.mesh.bounds();
    let around = other.mesh.bounds();
    if (0..3).any(|a| bounds.max[a] < around.min[a] || around.max[a] < bounds.min[a]) {
        return Ok(ComponentCount::default());
    }
    let ClearanceOptions {
        max_bytes,
        progress,
        ..
    } = *options;
    progress.check()?;
    let of_other = if other.mesh.closedness() == Closedness::Open {
        other.mesh.triangles().len() as u64 * WINDING
    } else {
        0
    };
    pairs::refuse_more(
        own.mesh.triangles().len() as u64 * COMPONENTS + of_other,
        max_bytes,
    )?;
    let found = own.mesh.components()?;
    let mut least: Vec<Option<Point>> = vec![None; found.components.len()];
    for (triangle, component) in own.mesh.triangles().iter().zip(&found.of) {
        let least = &mut least[*component as usize];
        for v in triangle {
            if least.is_none_or(|least| *v < least) {
                *least = Some(*v);
            }
        }
    }
    for n in met.map(TriangleMarks::numbers).into_iter().flatten() {
        least[found.of[n as usize] as usize] = None;
    }
    for (least, component) in least.iter_mut().zip(&found.components) {
        let low = component.bounds.min;
        let high = component.bounds.max;
        if (0..3).any(|a| low[a] < around.min[a] || high[a] > around.max[a]) {
            *least = None;
        }
    }
    let points: Vec<Point> = least.into_iter().flatten().collect();
    if points.is_empty() {
        return Ok(ComponentCount::default());
    }
    let method = MeshInside::of(other.mesh);
    let answers = par::map(points, |point| {
        progress.check()?;
        Ok(method.holds(other, &RaySample::vertex(point)))
    });
    let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
    let inside = answers.iter().filter(|is_inside| **is_inside).count();
    Ok(ComponentCount {
        inside: inside as u64,
        is_all: inside == found.components.len(),
    })
}

impl MeshInside {
    pub(super) fn of(mesh: &Mesh) -> Self {
        match mesh.closedness() {
            Closedness::Oriented => Self::NonZero,
            Closedness::Closed => Self::EvenOdd,
            Closedness::Open => {
                let triangles = mesh.triangles().iter().map(|t| t.map(|v| v.map(f64::from)));
                Self::Winding(Winding::new(triangles.collect()))
            }
        }
    }

    /// Returns whether a point is inside the mesh, and not on its surface.
    pub(super) fn holds(&self, body: &ClearanceBody, sample: &RaySample) -> bool {
        match self {
            Self::NonZero => {
                let found = body.tree.crossings(sample);
                found.on_surface == 0 && found.turns != 0
            }
            Self::EvenOdd => {
                let found = body.tree.crossings(sample);
                found.on_surface == 0 && found.count % 2 == 1
            }
            Self::Winding(winding) => {
                let side = |n: usize| sample.side(&body.mesh.triangles()[n]).cmp(&0).reverse();
                winding.at(sample.rounded(), 1e-3, side).value.abs() > 0.5
            }
        }
    }
}
