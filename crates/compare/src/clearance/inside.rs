//! Exact decision whether a point is inside a mesh. The point is not on the surface of the mesh.
//!
//! For a closed mesh, the crossings of a ray from the point are counted (`mesh/pairs/ray`). If the mesh is
//! oriented, an outward crossing counts 1 and an inward crossing −1. Otherwise each crossing counts 1.
//!
//! A mesh that is not closed has no inside in this sense. For such a mesh, the inside is where the absolute
//! value of the winding number exceeds one half (Jacobson, Kavan and Sorkine-Hornung 2013). It is computed in
//! doubles.

use super::{ClearanceBody, ClearanceOptions};
use voxelize_core::error::Result;
use voxelize_core::geom::{Point, Winding};
use voxelize_core::par;
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::pairs::{self, RaySample, TriangleMarks};

/// Memory for the components in bytes, per triangle of the first mesh.
const COMPONENTS: u64 = 220;
/// Memory for the winding numbers in bytes, per triangle of the second mesh.
const WINDING: u64 = 360;

/// How points are classified as inside or outside a mesh.
pub(super) enum MeshInside {
    /// By the sum of signed crossings.
    NonZero,
    /// By the parity of the number of crossings.
    EvenOdd,
    /// By the winding number.
    Winding(Winding),
}

/// Components of a mesh that do not meet the other mesh.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ComponentCount {
    /// Number of components that are inside the other mesh.
    pub inside: u64,
    /// All components of the mesh are inside the other mesh.
    pub is_all: bool,
}

/// Counts the components of the first mesh that are inside the second mesh. A component that has a triangle
/// marked in `met` is not counted.
///
/// # Errors
/// Fails if there is not enough memory, or if the work was cancelled.
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

    /// Returns `true` if a point is inside the mesh and not on its surface.
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
