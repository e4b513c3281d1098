//! Numbers for cells of some layers, in bricks that are made as cells need them.

use std::ops::Range;

use super::place::LAYERS;

/// Cells of a brick along x and y.
pub(super) const SIDE: usize = 8;

/// Cells of a brick.
pub(super) const CELLS: usize = SIDE * SIDE * LAYERS;

/// No brick.
const NONE: u32 = u32::MAX;

/// Bricks of at most [`LAYERS`] layers of cells.
pub(super) struct SumBricks<B> {
    /// The first cells along x and y.
    pub(super) first: [i64; 2],
    /// Cells along x and y, those before the first ones included.
    pub(super) cells: [i64; 2],
    pub(super) layers: Range<i64>,
    /// Bricks along x.
    count: usize,
    places: Vec<u32>,
    bricks: Vec<Box<B>>,
}

impl<B> SumBricks<B> {
    /// None yet, of these layers of cells along x and y from the first ones to the last.
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

    /// The bytes of those of a layer of a lattice of these dims, at most.
    pub(super) fn bytes_for([nx, ny, _]: [usize; 3]) -> u128 {
        let bricks = (nx.div_ceil(SIDE) * ny.div_ceil(SIDE)) as u128;
        // A list that grows takes up to twice what is in it.
        bricks * (size_of::<u32>() + 2 * size_of::<Box<B>>() + size_of::<B>()) as u128
    }

    /// The brick of a cell, made if it is new, and the number of the cell in it; `None` beside the lattice.
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

    /// The bricks along row `(j, k)`, and the number of the row in each.
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
