//! Values for the cells of some layers, in bricks that are created when needed.

use std::ops::Range;

use super::place::LAYERS;

/// Number of cells of a brick along x, and also along y.
pub(super) const SIDE: usize = 8;

/// Number of cells of a brick.
pub(super) const CELLS: usize = SIDE * SIDE * LAYERS;

/// Number that marks a missing brick.
const NONE: u32 = u32::MAX;

/// Bricks for at most [`LAYERS`] layers of cells.
pub(super) struct SumBricks<B> {
    /// First cell along x and along y.
    pub(super) first: [i64; 2],
    /// Number of cells along x and along y. Cells before the first are included.
    pub(super) cells: [i64; 2],
    pub(super) layers: Range<i64>,
    /// Number of bricks along x.
    count: usize,
    places: Vec<u32>,
    bricks: Vec<Box<B>>,
}

impl<B> SumBricks<B> {
    /// Creates an empty set of bricks for `layers`. Along x and y it has the cells from `first` up to
    /// `cells`.
    pub(super) fn new(first: [i64; 2], cells: [i64; 2], layers: Range<i64>) -> Self {
        let [x, y] = [0, 1].map(|a| (cells[a] as usize).div_ceil(SIDE) - first[a] as usize / SIDE);
        Self {
            first,
            cells,
            layers,
            count: x,
            places: vec![NONE; x * y],
            bricks: vec![],
        }
    }

    /// Returns the maximum memory in bytes of the bricks of one layer of bricks, for a lattice of these dims.
    pub(super) fn bytes_for([nx, ny, _]: [usize; 3]) -> u128 {
        let bricks = (nx.div_ceil(SIDE) * ny.div_ceil(SIDE)) as u128;
        // A list that grows takes up to twice the memory of its items.
        bricks * (size_of::<u32>() + 2 * size_of::<Box<B>>() + size_of::<B>()) as u128
    }

    /// Returns the brick of a cell, and the number of the cell in that brick. `make` creates the brick if it
    /// does not exist. `None` if the cell is outside of the lattice.
    pub(super) fn at(
        &mut self,
        [i, j, k]: [i64; 3],
        make: impl FnOnce() -> B,
    ) -> Option<(&mut B, usize)> {
        let [nx, ny] = self.cells;
        let [x, y] = self.first;
        if !(x..nx).contains(&i) || !(y..ny).contains(&j) {
            return None;
        }
        let [i, j, x, y] = [i, j, x, y].map(|n| n as usize);
        let place = &mut self.places[(j / SIDE - y / SIDE) * self.count + i / SIDE - x / SIDE];
        if *place == NONE {
            *place = self.bricks.len() as u32;
            self.bricks.push(Box::new(make()));
        }
        let row = (k - self.layers.start) as usize * SIDE + j % SIDE;
        Some((&mut self.bricks[*place as usize], row * SIDE + i % SIDE))
    }

    /// Returns the bricks along row `(j, k)`, and the number of that row in each brick.
    pub(super) fn row(&self, [j, k]: [usize; 2]) -> (impl Iterator<Item = Option<&B>>, usize) {
        let row = (k - self.layers.start as usize) * SIDE + j % SIDE;
        let before = self.first[1] as usize / SIDE;
        let places = &self.places[(j / SIDE - before) * self.count..][..self.count];
        (
            places
                .iter()
                .map(|place| self.bricks.get(*place as usize).map(|brick| &**brick)),
            row,
        )
    }
}
