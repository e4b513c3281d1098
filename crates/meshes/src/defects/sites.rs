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
    /// Measure walls at several points of triangles that are longer than this thickness, and not
    /// only at their centres.
    pub samples_walls: bool,
    /// Limit on the number of pairs of triangles to examine.
    pub pairs: PairLimit,
    /// Receives progress and may cancel the search.
    pub progress: &'a dyn Progress,
}

/// Maximum number of triangles that are listed for a place.
pub(crate) const MOST_NAMED: usize = 8;

/// Place of a defect.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Point where the defect is.
    pub at: [f64; 3],
    /// Numbers of some of the triangles with the defect, at most eight.
    pub triangles: Vec<u32>,
    /// Length of a loop, or thickness of a wall. `None` for other defects.
    pub length: Option<f64>,
    /// Number of edges of a loop. `None` for other defects.
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
    /// Number of places. Each defect has its own place, except that a loop of edges is one place.
    pub places: u64,
    /// The first places, up to the maximum of the search.
    pub first: Vec<Site>,
    /// Numbers of all triangles with the defect, ascending.
    pub triangles: Vec<u32>,
    /// The search stopped at its limit, so there may be more defects.
    pub is_partial: bool,
}

impl Sites {
    /// Counts one defect and adds all its triangles. Keeps its place if there are fewer than `most` places so
    /// far.
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

/// Returns the centroid of a triangle.
pub(super) fn centroid([a, b, c]: &Triangle) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + f64::from(b[i]) + f64::from(c[i])) / 3.0)
}

/// Returns the midpoint of two points.
pub(super) fn middle([a, b]: [Point; 2]) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + f64::from(b[i])) / 2.0)
}

/// Returns the vertices in ascending order.
pub(super) fn ascending(mut triangle: [u32; 3]) -> [u32; 3] {
    triangle.sort_unstable();
    triangle
}
