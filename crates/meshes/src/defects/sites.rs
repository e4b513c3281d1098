//! What defects are looked for with, and their places.

use crate::Mesh;
use crate::components::Components;
use crate::pairs::PairLimit;
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par::Progress;

/// The inputs of the search for defects.
pub struct Search<'a> {
    /// Mesh to search.
    pub mesh: &'a Mesh,
    /// Its connected components.
    pub components: &'a Components,
    /// Places to keep of each kind.
    pub most: usize,
    /// Walls thinner than this are found.
    pub thin: Option<f64>,
    /// Pairs of triangles to examine.
    pub pairs: PairLimit,
    /// Listener of progress, which may cancel.
    pub progress: &'a dyn Progress,
}

/// Triangles that a place names, at most.
pub(crate) const MOST_NAMED: usize = 8;

/// A place of a defect.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// A point of the defect.
    pub at: [f64; 3],
    /// Some of its triangles, at most eight.
    pub triangles: Vec<u32>,
    /// How long a loop is, or how thick a wall.
    pub length: Option<f64>,
    /// The edges of a loop.
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

/// The defects of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sites {
    /// How many there are.
    pub count: u64,
    /// How many places they have: loops of edges are one.
    pub places: u64,
    /// The first places.
    pub first: Vec<Site>,
    /// The triangles that have them, ascending.
    pub triangles: Vec<u32>,
    /// Whether the search ended at its limit, so that there may be more.
    pub is_partial: bool,
}

impl Sites {
    /// One more, with all its triangles; its place is kept if there are fewer than `most`.
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

/// The middle of a triangle.
pub(super) fn centroid([a, b, c]: &Triangle) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + f64::from(b[i]) + f64::from(c[i])) / 3.0)
}

/// The middle of two points.
pub(super) fn middle([a, b]: [Point; 2]) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(a[i]) + f64::from(b[i])) / 2.0)
}

/// The vertices in order, whatever way round they were.
pub(super) fn ascending(mut triangle: [u32; 3]) -> [u32; 3] {
    triangle.sort_unstable();
    triangle
}
