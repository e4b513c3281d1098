//! The inside of a mesh: one file per method, and their table.
//!
//! A method decides about the centre of a cell, displaced as the inner walls are (less ε, ε², ε³), so that it is
//! never on a triangle.

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

/// A method that finds the inside of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Inside {
    /// The first that the mesh allows: nonzero if every directed edge is cancelled by its reverse, evenodd if every
    /// edge is there an even number of times, else robust. Robust as well if every triangle occurs in both directions:
    /// around such a mesh no line is inside by the others.
    #[default]
    Auto,
    /// Lines from outside go into the mesh more often than out of it, or less often: overlapping shells
    /// unite, cavities stay.
    Nonzero,
    /// Lines from outside cross the mesh an odd number of times: where two shells overlap is outside.
    EvenOdd,
    /// Cells that are not reachable from outside: 6-connected, through cells that the surface does not touch.
    Flood {
        /// Closes holes of the mesh first: those whose bounds' longest side is at most so many cells of the
        /// lattice, its extent along each axis counted in cells. The cells that their caps touch under ties up
        /// keep the flood out; with [`Rule::Filled`](crate::Rule::Filled) they are occupied, with
        /// [`Rule::Solid`](crate::Rule::Solid) left out, as those of the surface are. The holes are those of
        /// [`Mesh::holes`], the caps those of [`Loop::cap`].
        close_holes: Option<u32>,
    },
    /// The majority of evenodd along the three axes.
    Vote,
    /// Generalized winding number above one half, after repair and re-orientation. A value within its error of one
    /// half, as on a flat sheet, is outside.
    Robust,
}

/// One row of the table of methods.
#[derive(Debug)]
pub struct Method {
    /// The method with its defaults.
    pub inside: Inside,
    /// Its name on the command line and in saved files.
    pub name: &'static str,
    /// One line for help and README.
    pub about: &'static str,
    /// The number of other grids of the same size that it needs, at most.
    grids: u128,
    /// The same as a rule.
    expected_grids: f64,
    prepare: Prepare,
}

/// Makes a method ready for a mesh and a lattice.
type Prepare = for<'a> fn(Inside, &'a Mesh, &'a Lattice, &Run) -> Result<PreparedInside<'a>>;

/// Every method. Help, README and tests loop over this.
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

/// A method prepared for a mesh and a lattice.
pub(super) struct PreparedInside<'a> {
    /// The method, never [`Inside::Auto`].
    pub used: Inside,
    fill: Box<dyn FillInside + 'a>,
}

/// Findings of the method that finds the inside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InsideReport {
    /// The cells on which the axes of [`Inside::Vote`] disagree.
    pub disputed: Option<u64>,
    /// The leaks through which [`Inside::Flood`] entered the mesh.
    pub leak: Option<Leak>,
    /// How many holes were closed, where [`Inside::Flood`] closes any.
    pub closed_holes: Option<u64>,
    /// The repairs by [`Inside::Robust`].
    pub repairs: Option<Repairs>,
}

/// The repair of a mesh; numbers of triangles, unless stated otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Repairs {
    /// Without area, dropped.
    pub degenerate: u64,
    /// With the corners of others, dropped.
    pub duplicates: u64,
    /// Re-oriented.
    pub turned: u64,
    /// Patches: components connected by edges of exactly two triangles.
    pub patches: u64,
    /// Patches that are cavities in others.
    pub cavities: u64,
    /// Patches that have one side only.
    pub not_orientable: u64,
    /// Loops of edges that it ends at.
    pub holes: usize,
    /// The longest of these.
    pub longest: Option<Loop>,
    /// Triangles of open sheets (ragged patches, which get no caps). 0 if the mesh is a single patch.
    pub of_sheets: u64,
}

/// Fills the inside.
trait FillInside: Send + Sync {
    /// Occupies the cells of these layers of the lattice whose centres are inside; layer 0 of the grid is
    /// layer `layers.start`.
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats>;

    /// Occupies the cells that close holes, as the surface closes the rest.
    fn close(&self, _layers: Range<usize>, _grid: &mut BitGrid) {}

    /// Occupies the cells that the mesh touches, where these bound the inside.
    fn occupy_touched(&self, _layers: Range<usize>, _grid: &mut BitGrid) {}
}

/// Returns the bytes of the repaired mesh and of what repairs it.
pub(super) fn repair_memory(estimate: &MemoryEstimate) -> u128 {
    estimate.meshes(8, 2.5)
}

impl Inside {
    /// A flood that closes no holes.
    pub const fn flood() -> Self {
        Self::Flood { close_holes: None }
    }

    /// The row of the table for this method.
    pub fn info(self) -> &'static Method {
        let is_this = |method: &&Method| discriminant(&method.inside) == discriminant(&self);
        METHODS
            .iter()
            .find(is_this)
            .expect("every method has its row")
    }

    /// Its name on the command line and in saved files.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The method of that name with its defaults.
    pub fn from_name(name: &str) -> Option<Self> {
        METHODS
            .iter()
            .find(|method| method.name == name)
            .map(|method| method.inside)
    }

    /// Whether it is a flood.
    pub fn is_flood(self) -> bool {
        matches!(self, Self::Flood { .. })
    }

    /// Up to how many cells long holes are closed, if any are.
    pub(super) fn closed_holes(self) -> Option<u32> {
        match self {
            Self::Flood { close_holes } => close_holes,
            _ => None,
        }
    }

    /// Returns the bytes that it takes in addition to mesh and grid.
    pub(super) fn memory(self, estimate: &MemoryEstimate) -> u128 {
        let MemoryEstimate {
            mesh, lattice, run, ..
        } = *estimate;
        let numbers = near::bytes(lattice.dims(), run.max_memory());
        let repair = repair_memory(estimate) + estimate.bytes(numbers, 0);
        let is_repaired = match estimate.figure {
            // Closedness is tested only where it may matter.
            MemoryFigure::UpperBound if self == Self::Auto => {
                let limit = run.max_memory().map_or(u128::MAX, u128::from);
                repair > limit / 8 && (mesh.closedness() == Closedness::Open || mesh.is_two_sided())
            }
            MemoryFigure::UpperBound => self == Self::Robust,
            // The findings about an open mesh compare it with the repaired one.
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

    /// The method in force for a mesh, never [`Auto`](Self::Auto).
    pub(super) fn for_mesh(self, mesh: &Mesh) -> Self {
        if self != Self::Auto {
            return self;
        }
        match mesh.closedness() {
            _ if mesh.is_two_sided() => Self::Robust,
            Closedness::Oriented => Self::Nonzero,
            Closedness::Closed => Self::EvenOdd,
            Closedness::Open => Self::Robust,
        }
    }

    /// Makes the method ready for a mesh and a lattice.
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

    /// Occupies the cells of these layers that the mesh touches, if the method is a flood: it stops at these cells, so
    /// they belong to the inside as in [`Rule::Filled`](crate::Rule::Filled).
    pub(super) fn occupy_touched(&self, layers: Range<usize>, grid: &mut BitGrid) {
        self.fill.occupy_touched(layers, grid);
    }
}

fn automatic<'a>(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<PreparedInside<'a>> {
    Inside::Auto.for_mesh(mesh).prepare(mesh, lattice, run)
}
