//! The lattice with cells around it, where the grid cuts the mesh: what the grid leaves out may be connected there.

use crate::rule::Inside;
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Rational};
use voxelize_core::grid::{BitGrid, Lattice};

/// How many cells around the grid are looked at, where the mesh goes on beyond it.
const REACH: usize = 8;

/// A lattice extended to where the mesh extends beyond it.
pub(super) struct Around {
    pub lattice: Lattice,
    /// The number of cells before those of the lattice, along each axis.
    before: [usize; 3],
    /// The number of cells behind them.
    behind: [usize; 3],
    /// The dims of the lattice.
    dims: [usize; 3],
}

impl Around {
    /// For a method that finds the inside; a flood depends on where the grid ends, so its grid stays as it is.
    pub(super) fn new(lattice: &Lattice, bounds: &Bounds, inside: Inside) -> Result<Self> {
        let dims = lattice.dims();
        let more = |a: usize| {
            let is_passed = if inside.is_flood() {
                [false; 2]
            } else {
                lattice.is_passed(a, bounds)
            };
            is_passed.map(|is_passed| if is_passed { REACH } else { 0 })
        };
        let [before, behind] = [0, 1].map(|side: usize| [0, 1, 2].map(|a| more(a)[side]));
        let wide = [0, 1, 2].map(|a| before[a] + dims[a] + behind[a]);
        let spacing = lattice.spacing();
        let origin = [0, 1, 2]
            .map(|a| &lattice.origin()[a] + &(&spacing[a] * &Rational::from(-(before[a] as i64))));
        let lattice = Lattice::new(wide, origin, spacing.clone(), lattice.closed())?
            .with_snap(lattice.snap());
        Ok(Self {
            lattice,
            before,
            behind,
            dims,
        })
    }

    /// Whether the mesh extends beyond the lattice.
    pub(super) fn is_cut(&self) -> bool {
        self.lattice.dims() != self.dims
    }

    /// Whether cells of this extent reach into the lattice.
    pub(super) fn is_here(&self, [low, high]: [[usize; 3]; 2]) -> bool {
        (0..3).all(|a| high[a] >= self.before[a] && low[a] < self.before[a] + self.dims[a])
    }

    /// Whether cells of this extent may be connected with others beyond the cells around the lattice.
    pub(super) fn goes_on(&self, [low, high]: [[usize; 3]; 2]) -> bool {
        let last = |a: usize| self.lattice.dims()[a] - 1;
        (0..3)
            .any(|a| self.before[a] > 0 && low[a] == 0 || self.behind[a] > 0 && high[a] == last(a))
    }

    /// The cells of the lattice itself.
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
