//! A lattice that is extended by some cells wherever the grid cuts the mesh. Cells that are separate within
//! the grid may be connected in the added cells.

use crate::rule::Inside;
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Rational};
use voxelize_core::grid::{BitGrid, Lattice};

/// Number of cells that are added at each end of an axis at which the mesh continues beyond the grid.
const REACH: usize = 8;

/// Lattice that is extended wherever the mesh continues beyond it.
pub(super) struct Around {
    pub lattice: Lattice,
    /// Number of cells added before the original lattice, along each axis.
    before: [usize; 3],
    /// Number of cells added after the original lattice, along each axis.
    after: [usize; 3],
    /// Dims of the original lattice.
    dims: [usize; 3],
}

impl Around {
    /// Extends the lattice, unless `inside` is a flood. The result of a flood depends on the borders of the
    /// grid.
    pub(super) fn new(lattice: &Lattice, bounds: &Bounds, inside: Inside) -> Result<Self> {
        let dims = lattice.dims();
        let mut before = [0; 3];
        let mut after = [0; 3];
        if !inside.is_flood() {
            for a in 0..3 {
                let [is_cut_below, is_cut_above] = lattice.is_passed(a, bounds);
                before[a] = if is_cut_below { REACH } else { 0 };
                after[a] = if is_cut_above { REACH } else { 0 };
            }
        }
        let wide = [0, 1, 2].map(|a| before[a] + dims[a] + after[a]);
        let spacing = lattice.spacing();
        let origin = [0, 1, 2]
            .map(|a| &lattice.origin()[a] + &(&spacing[a] * &Rational::from(-(before[a] as i64))));
        let lattice = Lattice::new(wide, origin, spacing.clone(), lattice.closed())?
            .with_snap(lattice.snap());
        Ok(Self {
            lattice,
            before,
            after,
            dims,
        })
    }

    /// Returns true if the lattice was extended, because the mesh extends beyond the original lattice.
    pub(super) fn is_cut(&self) -> bool {
        self.lattice.dims() != self.dims
    }

    /// Returns true if a box of cells of the extended lattice overlaps the original lattice. The box is given
    /// by its least and greatest cell.
    pub(super) fn is_here(&self, [low, high]: [[usize; 3]; 2]) -> bool {
        (0..3).all(|a| high[a] >= self.before[a] && low[a] < self.before[a] + self.dims[a])
    }

    /// Returns true if cells in this box may be connected to cells beyond the extended lattice. The box is
    /// given by its least and greatest cell.
    pub(super) fn goes_on(&self, [low, high]: [[usize; 3]; 2]) -> bool {
        (0..3).any(|a| {
            let last = self.lattice.dims()[a] - 1;
            self.before[a] > 0 && low[a] == 0 || self.after[a] > 0 && high[a] == last
        })
    }

    /// Returns the part of a grid on the extended lattice that belongs to the original lattice.
    pub(super) fn cropped(&self, cells: BitGrid) -> Result<BitGrid> {
        if !self.is_cut() {
            return Ok(cells);
        }
        let mut cropped = BitGrid::new(self.dims)?;
        for cell in cells.iter() {
            let cell = [0, 1, 2].map(|a| cell[a].wrapping_sub(self.before[a]));
            if (0..3).all(|a| cell[a] < self.dims[a]) {
                cropped.set(cell);
            }
        }
        Ok(cropped)
    }
}
