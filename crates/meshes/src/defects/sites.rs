//! Inputs of the search for defects, and places of defects.

use crate::Mesh;
use crate::components::Components;
use crate::pairs::PairLimit;
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par::Progress;

/// Inputs of the search for defects.
pub struct Search<'a> {
    /// Mesh to search.
    pub mesh: &'a Mesh,
    /// Connected components of the mesh.
    pub components: &'a Components,
    /// Maximum number of places to keep for each kind.
    pub most: usize,
    /// Thickness below which walls are thin. `None` skips the search for thin walls.
    pub thin: Option<f64>,
    /// Limit of the pairs of triangles to examine.
    pub pairs: PairLimit,
    /// Receiver of progress, which may cancel.
    pub progress: &'a dyn Progress,
}

/// Maximum number of triangles that a place names.
pub(crate) const MOST_NAMED: usize = 8;

/// Place of a defect.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Point of the defect.
    pub at: [f64; 3],
    /// Some of its triangles, at most eight.
    pub triangles: Vec<u32>,
    /// Length of a loop, or thickness of a wall.
    pub length: Option<f64>,
    /// Number of edges of a loop.
    pub edges: Option<usize>,
}

impl Site {
    pub(super) fn new(at: [f64; 3], triangles: impl IntoIterator<Item = u32>) -> Self {
        let mut named: Vec<u32> = Vec::with_capacity(MOST_NAMED);
        for triangle in triangles {
            if named.len() < MOST_NAMED && !named.contains(&triangle) {
                named.push(triangle);
            }
        }
        Self {
            at,
            triangles: named,
            length: None,
            edges: None,
        }
    }
}

/// Defects of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sites {
    /// Number of defects.
    pub count: u64,
    /// Number of places. A loop of edges is one place.
    pub places: u64,
    /// First places.
    pub first: Vec<Site>,
    /// Triangles with the defect, ascending.
    pub triangles: Vec<u32>,
    /// The search ended at its limit, so that there may be more defects.
    pub is_partial: bool,
}

impl Sites {
    /// Adds one defect with all its triangles. Keeps its place if fewer than `most` are kept.
    pub(super) fn add(&mut self, most: usize, triangles: &[u32], site: impl FnOnce() -> Site) {
        self.count += 1;
        self.places += 1;
        self.triangles.extend(triangles);
        if self.first.len() < most {
            self.first.push(site());
        }
    }

    pub(super) fn finished(mut self) -> Self {
        self.triangles.sort_unstable();
        self.triangles.dedup();
        self
    }
}

/// Returns the middle of a triangle.
pub(super) fn centroid([a, b, c]: &Triangle) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + f64::from(b[i]) + f64::from(c[i])) / 3.0)
}

/// Returns the middle of two points.
pub(super) fn middle([a, b]: [Point; 2]) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + f64::from(b[i])) / 2.0)
}

/// Returns the vertices in ascending order.
pub(super) fn ascending(mut triangle: [u32; 3]) -> [u32; 3] {
    triangle.sort_unstable();
    triangle
}
