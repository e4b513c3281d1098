//! Meshes: a list of triangles with finite coordinates, and their bounds.

use crate::error::{Error, Result};
use crate::geom::{Bounds, Triangle};

/// Triangles in the order of their file, every coordinate finite. 36 bytes each; nothing is welded.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    triangles: Vec<Triangle>,
    bounds: Bounds,
}

impl Mesh {
    /// A mesh of these triangles.
    ///
    /// # Errors
    /// If a coordinate is not finite: the error names the triangle.
    pub fn from_triangles(triangles: Vec<Triangle>) -> Result<Self> {
        let finite = |t: &Triangle| t.iter().flatten().all(|c| c.is_finite());
        if let Some(bad) = triangles.iter().position(|t| !finite(t)) {
            return Err(not_finite(&triangles[bad]).at_triangle(bad as u64));
        }
        let bounds = Bounds::of(&triangles);
        Ok(Self { triangles, bounds })
    }

    /// The triangles, in the order of the file.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// The bounds of all triangles; empty if there are none.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

/// The error for a triangle with a coordinate that is not finite.
fn not_finite(triangle: &Triangle) -> Error {
    let nan = triangle.iter().flatten().any(|c| c.is_nan());
    Error::input("S004", format!("vertex is {}", if nan { "NaN" } else { "infinite" }))
}
