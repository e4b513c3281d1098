//! Methods that find the inside of a mesh, one per file, and their table.
//!
//! A method decides by the centres of cells. Centres are displaced as the inner walls are, by −ε,
//! −ε² and −ε³, so that none is on a triangle.

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
    /// The first method that suits the mesh. Nonzero if every directed edge is cancelled by its
    /// reverse, evenodd if every edge occurs an even number of times, otherwise robust. Robust also
    /// if every triangle occurs in both directions, because the other methods find nothing inside
    /// such a mesh.
    #[default]
    Auto,
    /// Lines from outside enter the mesh and leave it a different number of times. Overlapping
    /// shells unite, cavities stay.
    Nonzero,
    /// Lines from outside cross the mesh an odd number of times. The overlap of two shells is
    /// outside.
    EvenOdd,
    /// Cells that are not reachable from outside through cells that the surface does not touch, by
    /// steps between cells that share a face.
    Flood {
        /// Closes holes of the mesh first: those whose bounds are at most this number of cells of
        /// the lattice along every axis. The cells that their caps touch under ties up stop the
        /// flood. Like the cells of the surface, they are occupied with
        /// [`Rule::Filled`](crate::Rule::Filled) and empty with
        /// [`Rule::Solid`](crate::Rule::Solid). The holes are defined by [`Mesh::holes`], the caps
        /// by [`Loop::cap`].
        close_holes: Option<u32>,
    },
    /// The majority of evenodd along the three axes.
    Vote,
    /// Generalized winding number above one half, after repair and re-orientation. A value within
    /// its error of one half, as on a flat sheet, is outside.
    Robust,
}

/// Row of the table of methods.
#[derive(Debug)]
pub struct Method {
    /// Method with its defaults.
    pub inside: Inside,
    /// Name on the command line and in saved files.
    pub name: &'static str,
    /// One line for help and README.
    pub about: &'static str,
    /// Greatest number of additional grids of the same size.
    grids: u128,
    /// Expected number of additional grids of the same size.
    expected_grids: f64,
    prepare: Prepare,
}

/// Prepares a method for a mesh and a lattice.
type Prepare = for<'a> fn(Inside, &'a Mesh, &'a Lattice, &Run) -> Result<PreparedInside<'a>>;

/// All methods. Help, README and tests loop over this table.
pub static METHODS: &[Method] = &[
    Method {
        inside: Inside::Auto,
        name: "auto",
        about: "nonzero on closed, consistently oriented meshes; evenodd on other closed meshes; else robust",
        grids: 0,
        expected_grids: 0.0,
        prepare: |_, mesh, lattice, run| automatic(mesh, lattice, run),
    },
    Method {
        inside: Inside::Nonzero,
        name: "nonzero",
        about: "lines from outside enter and leave the mesh a different number of times; overlapping shells unite",
        grids: 0,
        expected_grids: 0.0,
        prepare: |inside, mesh, lattice, _| Ok(crossings::ready(mesh, lattice, inside)),
    },
    Method {
        inside: Inside::EvenOdd,
        name: "evenodd",
        about: "a ray crosses the mesh an odd number of times",
        grids: 0,
        expected_grids: 0.0,
        prepare: |inside, mesh, lattice, _| Ok(crossings::ready(mesh, lattice, inside)),
    },
    Method {
        inside: Inside::flood(),
        name: "flood",
        about: "a flood from outside cannot reach it; cells that the mesh touches stop the flood",
        grids: 4,
        expected_grids: 2.2,
        prepare: flood::ready,
    },
    Method {
        inside: Inside::Vote,
        name: "vote",
        about: "inside by evenodd along at least two of the three axes",
        grids: 3,
        expected_grids: 2.5,
        prepare: |_, mesh, lattice, _| Ok(vote::ready(mesh, lattice)),
    },
    Method {
        inside: Inside::Robust,
        name: "robust",
        about: "after repair, the winding number at the centre is above 1/2",
        grids: 0,
        expected_grids: 0.0,
        prepare: |_, mesh, lattice, run| robust::ready(mesh, lattice, run),
    },
];

/// Method prepared for a mesh and a lattice.
pub(super) struct PreparedInside<'a> {
    /// Method in force, never [`Inside::Auto`].
    pub used: Inside,
    fill: Box<dyn FillInside + 'a>,
}

/// Findings of the method that finds the inside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InsideReport {
    /// Number of cells on which the axes of [`Inside::Vote`] disagree.
    pub disputed: Option<u64>,
    /// Leaks through which [`Inside::Flood`] entered the mesh.
    pub leak: Option<Leak>,
    /// Number of closed holes. `None` unless [`Inside::Flood`] is to close holes.
    pub closed_holes: Option<u64>,
    /// Repairs by [`Inside::Robust`].
    pub repairs: Option<Repairs>,
}

/// Repair of a mesh. Counts are counts of triangles unless stated otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Repairs {
    /// Triangles without area, dropped.
    pub degenerate: u64,
    /// Triangles with the corners of another one, dropped.
    pub duplicates: u64,
    /// Triangles re-oriented.
    pub turned: u64,
    /// Number of patches: components connected by edges of exactly two triangles.
    pub patches: u64,
    /// Number of patches that are cavities in others.
    pub cavities: u64,
    /// Number of patches with a single side.
    pub not_orientable: u64,
    /// Number of boundary loops.
    pub holes: usize,
    /// Longest boundary loop.
    pub longest: Option<Loop>,
    /// Triangles of open sheets, which are ragged patches without caps. 0 if the mesh is a single
    /// patch.
    pub of_sheets: u64,
}

/// Implementation of a method.
trait FillInside: Send + Sync {
    /// Occupies the cells of these layers of the lattice whose centres are inside. Layer 0 of the
    /// grid is layer `layers.start`.
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats>;

    /// Occupies the cells that close holes as the surface closes the rest.
    fn close(&self, _layers: Range<usize>, _grid: &mut BitGrid) {}

    /// Occupies the cells that the mesh touches, if they bound the inside.
    fn occupy_touched(&self, _layers: Range<usize>, _grid: &mut BitGrid) {}
}

/// Returns the bytes of the repaired mesh and of the repair.
pub(super) fn repair_memory(estimate: &MemoryEstimate) -> u128 {
    estimate.meshes(8, 2.5)
}

impl Inside {
    /// Returns a flood that closes no holes.
    pub const fn flood() -> Self {
        Self::Flood { close_holes: None }
    }

    /// Returns the row of the table for this method.
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

    /// Returns the method of that name with its defaults.
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

    /// Returns the size in cells up to which holes are closed. `None` if no holes are closed.
    pub(super) fn closed_holes(self) -> Option<u32> {
        match self {
            Self::Flood { close_holes } => close_holes,
            _ => None,
        }
    }

    /// Returns the bytes that the method takes in addition to mesh and grid.
    pub(super) fn memory(self, estimate: &MemoryEstimate) -> u128 {
        let MemoryEstimate {
            mesh, lattice, run, ..
        } = *estimate;
        let numbers = near::bytes(lattice.dims(), run.max_memory());
        let repair = repair_memory(estimate) + estimate.bytes(numbers, 0);
        let is_repaired = match estimate.figure {
            // Testing closedness takes time, so it is tested only if a repair would need much of
            // the limit.
            MemoryFigure::UpperBound if self == Self::Auto => {
                let limit = run.max_memory().map_or(u128::MAX, u128::from);
                repair > limit / 8 && (mesh.closedness() == Closedness::Open || mesh.is_two_sided())
            }
            MemoryFigure::UpperBound => self == Self::Robust,
            // Findings about an open mesh compare it with the repaired mesh.
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

    /// Returns the method in force for a mesh, never [`Auto`](Self::Auto).
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

    /// Occupies the cells of these layers that close holes and that the surface need not touch.
    pub(super) fn close(&self, layers: Range<usize>, grid: &mut BitGrid) {
        self.fill.close(layers, grid);
    }

    /// Occupies the cells of these layers that the mesh touches, if the method is a flood. The
    /// flood stops at these cells, so they belong to the inside as in
    /// [`Rule::Filled`](crate::Rule::Filled).
    pub(super) fn occupy_touched(&self, layers: Range<usize>, grid: &mut BitGrid) {
        self.fill.occupy_touched(layers, grid);
    }
}

fn automatic<'a>(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<PreparedInside<'a>> {
    Inside::Auto.for_mesh(mesh).prepare(mesh, lattice, run)
}
