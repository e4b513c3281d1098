//! Methods that find the inside of a mesh. Each method has its own file, and this file has a table of all
//! methods.
//!
//! A method decides whether the centre of a cell is inside. Centres are displaced by −ε, −ε² and −ε³ along x,
//! y and z, as the inner walls are, so that no centre is on a triangle.

mod crossings;
pub(super) mod flood;
mod near;
mod robust;
mod vote;

pub(super) use robust::{RobustParts, parts as robust_parts};

use std::mem::discriminant;
use std::ops::Range;

use super::Stats;
use crate::run::leak::Leak;
use crate::run::memory::{MemoryEstimate, MemoryFigure};
use crate::run::{Run, rows};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_meshes::Mesh;
use voxelize_meshes::boundary::Loop;
use voxelize_meshes::closed::Closedness;

/// Method that finds the inside of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Inside {
    /// Method chosen by the mesh. It is nonzero if every directed edge is cancelled by its reverse, otherwise
    /// evenodd if every edge occurs an even number of times, otherwise robust. If every triangle occurs in
    /// both orientations, it is robust, because nonzero and evenodd find nothing inside such a mesh.
    #[default]
    Auto,
    /// A point is inside if a line from outside to the point enters the mesh more or fewer times than it
    /// leaves it. Overlapping shells are united, and cavities stay empty.
    Nonzero,
    /// A point is inside if a line from outside to the point crosses the mesh an odd number of times. The
    /// overlap of two shells is outside.
    EvenOdd,
    /// A cell is inside if it is not reachable from outside the grid. The flood steps between cells that
    /// share a face and does not enter cells that the surface touches.
    Flood {
        /// Greatest size of a hole that is closed before the flood: the number of cells that its bounding box
        /// may have along every axis. `None` if no holes are closed. The cells that a cap touches under ties
        /// up stop the flood. Like the cells of the surface, they are occupied with
        /// [`Rule::Filled`](crate::Rule::Filled) and empty with [`Rule::Solid`](crate::Rule::Solid).
        /// [`Mesh::holes`] defines the holes, and [`Loop::cap`] defines the caps.
        close_holes: Option<u32>,
    },
    /// Majority of the three results of evenodd along x, y and z.
    Vote,
    /// The mesh is repaired and re-oriented. A point is inside if its generalized winding number is greater
    /// than one half. If the number equals one half within its error bound, as on a flat sheet, the point is
    /// outside.
    Robust,
}

/// Entry in the table of methods.
#[derive(Debug)]
pub struct Method {
    /// The method with default options.
    pub inside: Inside,
    /// Name on the command line and in saved files.
    pub name: &'static str,
    /// Description of one line, for the help and the README.
    pub about: &'static str,
    /// Greatest number of grids that the method needs in addition to the result, each of the result's size.
    grids: u128,
    /// Expected number of grids that the method needs in addition to the result, each of the result's size.
    expected_grids: f64,
    prepare: Prepare,
}

/// Function that prepares a method for a mesh and a lattice.
type Prepare = for<'a> fn(Inside, &'a Mesh, &'a Lattice, &Run) -> Result<PreparedInside<'a>>;

/// All methods. The help, the README and the tests are made from this table.
pub static METHODS: &[Method] = &[
    Method {
        inside: Inside::Auto,
        name: "auto",
        about: "nonzero says so on closed, consistently oriented meshes, evenodd on other closed meshes, robust on open meshes",
        grids: 0,
        expected_grids: 0.0,
        prepare: |_, mesh, lattice, run| automatic(mesh, lattice, run),
    },
    Method {
        inside: Inside::Nonzero,
        name: "nonzero",
        about: "a line from outside to the point enters the mesh more or less often than it leaves it; overlapping shells are united",
        grids: 0,
        expected_grids: 0.0,
        prepare: |inside, mesh, lattice, _| Ok(crossings::ready(mesh, lattice, inside)),
    },
    Method {
        inside: Inside::EvenOdd,
        name: "evenodd",
        about: "a ray from the point crosses the mesh an odd number of times",
        grids: 0,
        expected_grids: 0.0,
        prepare: |inside, mesh, lattice, _| Ok(crossings::ready(mesh, lattice, inside)),
    },
    Method {
        inside: Inside::flood(),
        name: "flood",
        about: "a flood from outside cannot reach its cell; cells that the mesh touches stop the flood",
        grids: 4,
        expected_grids: 2.2,
        prepare: flood::ready,
    },
    Method {
        inside: Inside::Vote,
        name: "vote",
        about: "evenodd calls it inside along at least two of the three axes",
        grids: 3,
        expected_grids: 2.5,
        prepare: |_, mesh, lattice, _| Ok(vote::ready(mesh, lattice)),
    },
    Method {
        inside: Inside::Robust,
        name: "robust",
        about: "after repair of the mesh, its winding number is above 1/2",
        grids: 0,
        expected_grids: 0.0,
        prepare: |_, mesh, lattice, run| robust::ready(mesh, lattice, run),
    },
];

/// Method that was prepared for a mesh and a lattice.
pub(super) struct PreparedInside<'a> {
    /// Method that is used, never [`Inside::Auto`].
    pub used: Inside,
    fill: Box<dyn FillInside + 'a>,
}

/// Counts and findings of the method for the inside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InsideReport {
    /// Number of cells on which the three axes of [`Inside::Vote`] disagree. `None` for other methods.
    pub disputed: Option<u64>,
    /// Leaks through which [`Inside::Flood`] entered the mesh. `None` if there are none.
    pub leak: Option<Leak>,
    /// Number of holes that were closed. `None` unless [`Inside::Flood`] is used with `close_holes`.
    pub closed_holes: Option<u64>,
    /// Repairs made by [`Inside::Robust`]. `None` for other methods.
    pub repairs: Option<Repairs>,
}

/// Counts of the repairs of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Repairs {
    /// Number of dropped triangles without area.
    pub degenerate: u64,
    /// Number of triangles dropped because another triangle has the same corners.
    pub duplicates: u64,
    /// Number of triangles whose orientation was reversed.
    pub turned: u64,
    /// Number of patches. A patch is a set of triangles connected by edges that belong to exactly two
    /// triangles.
    pub patches: u64,
    /// Number of patches that are cavities within other patches.
    pub cavities: u64,
    /// Number of patches that cannot be oriented, such as a Möbius strip.
    pub not_orientable: u64,
    /// Number of boundary loops of the repaired mesh.
    pub holes: usize,
    /// Longest boundary loop. `None` if there are no boundary loops.
    pub longest: Option<Loop>,
    /// Number of triangles of open sheets, which are ragged patches without caps. 0 if the mesh is a single
    /// patch.
    pub of_sheets: u64,
}

/// Implementation of a method.
trait FillInside: Send + Sync {
    /// Occupies the cells of these layers of the lattice whose centres are inside. Layer 0 of the grid is
    /// layer `layers.start` of the lattice.
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats>;

    /// Occupies the cells of these layers that the flood did not reach, if holes were closed. They include
    /// the cells of the caps. Does nothing for methods that close no holes.
    fn close(&self, _layers: Range<usize>, _grid: &mut BitGrid) {}

    /// Occupies the cells of these layers that the mesh touches, if the method is a flood. Does nothing for
    /// other methods.
    fn occupy_touched(&self, _layers: Range<usize>, _grid: &mut BitGrid) {}
}

/// Returns the memory, in bytes, of the repaired mesh and of the data structures of the repair.
pub(super) fn repair_memory(estimate: &MemoryEstimate) -> u128 {
    estimate.meshes(8, 2.5)
}

impl Inside {
    /// Returns a flood that closes no holes.
    pub const fn flood() -> Self {
        Self::Flood { close_holes: None }
    }

    /// Returns the entry of this method in the table.
    pub fn info(self) -> &'static Method {
        for method in METHODS {
            if discriminant(&method.inside) == discriminant(&self) {
                return method;
            }
        }
        unreachable!("every method has its row")
    }

    /// Returns the name on the command line and in saved files.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the method of this name with default options. `None` if no method has the name.
    pub fn from_name(name: &str) -> Option<Self> {
        METHODS
            .iter()
            .find(|method| method.name == name)
            .map(|method| method.inside)
    }

    /// Returns true if the method is a flood.
    pub fn is_flood(self) -> bool {
        matches!(self, Self::Flood { .. })
    }

    /// Returns the greatest size, in cells, of a hole that is closed. `None` if no holes are closed.
    pub(super) fn closed_holes(self) -> Option<u32> {
        match self {
            Self::Flood { close_holes } => close_holes,
            _ => None,
        }
    }

    /// Returns the memory, in bytes, that the method needs in addition to the mesh and the grid.
    pub(super) fn memory(self, estimate: &MemoryEstimate) -> u128 {
        let MemoryEstimate {
            mesh, lattice, run, ..
        } = *estimate;
        let numbers = near::bytes(lattice.dims(), run.max_memory());
        let repair = repair_memory(estimate) + estimate.bytes(numbers, 0);
        let is_repaired = match estimate.figure {
            // The test whether the mesh is closed takes time. It is made only if a repair would need a large
            // part of the memory limit.
            MemoryFigure::UpperBound if self == Self::Auto => {
                let limit = run.max_memory().map_or(u128::MAX, u128::from);
                repair > limit / 8 && (mesh.closedness() == Closedness::Open || mesh.is_two_sided())
            }
            MemoryFigure::UpperBound => self == Self::Robust,
            // The findings about an open mesh need the repaired mesh, whichever method is used.
            MemoryFigure::Expected { .. } => {
                self == Self::Robust || self != Self::Vote && mesh.closedness() == Closedness::Open
            }
        };
        let Method {
            grids,
            expected_grids,
            ..
        } = *self.info();
        let grids = if self.is_flood() {
            estimate.of_whole().grids(grids, expected_grids)
        } else {
            estimate.grids(grids, expected_grids)
        };
        let repair = if is_repaired { repair } else { 0 };
        rows::memory(estimate) + grids + repair
    }

    /// Returns the method that is used for a mesh, never [`Auto`](Self::Auto).
    pub(super) fn for_mesh(self, mesh: &Mesh) -> Self {
        if self != Self::Auto {
            return self;
        }
        if mesh.is_two_sided() {
            return Self::Robust;
        }
        match mesh.closedness() {
            Closedness::Oriented => Self::Nonzero,
            Closedness::Closed => Self::EvenOdd,
            Closedness::Open => Self::Robust,
        }
    }

    /// Prepares the method for a mesh and a lattice.
    pub(super) fn prepare<'a>(
        self,
        mesh: &'a Mesh,
        lattice: &'a Lattice,
        run: &Run,
    ) -> Result<PreparedInside<'a>> {
        (self.info().prepare)(self, mesh, lattice, run)
    }
}

impl<'a> PreparedInside<'a> {
    fn new(used: Inside, fill: impl FillInside + 'a) -> Self {
        Self {
            used,
            fill: Box::new(fill),
        }
    }

    /// Occupies the cells of these layers of the lattice whose centres are inside.
    pub(super) fn fill(
        &self,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
    ) -> Result<Stats> {
        self.fill.fill(layers, run, grid)
    }

    /// Occupies the cells of these layers that the flood did not reach, if holes were closed. They include
    /// the cells of the caps, which the surface may not touch.
    pub(super) fn close(&self, layers: Range<usize>, grid: &mut BitGrid) {
        self.fill.close(layers, grid);
    }

    /// Occupies the cells of these layers that the mesh touches, if the method is a flood. The flood stops at
    /// these cells, so they count as inside, as in [`Rule::Filled`](crate::Rule::Filled).
    pub(super) fn occupy_touched(&self, layers: Range<usize>, grid: &mut BitGrid) {
        self.fill.occupy_touched(layers, grid);
    }
}

fn automatic<'a>(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<PreparedInside<'a>> {
    Inside::Auto.for_mesh(mesh).prepare(mesh, lattice, run)
}
