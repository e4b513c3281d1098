//! Lost cells: cells of filled that are not solid, and have no solid cell among the 26 around them.
//!
//! Filled is what triangles touch, and solid. What they touch is in bricks, taken a layer of bricks at a time, so that
//! all of it stays in the cache. Lost cells are few, mostly none, and are kept as words.

use crate::error::Result;
use crate::grid::BitGrid;
use crate::grid::components::{CellComponents, Dilation};
use crate::kernel::sink::SIDE;
use crate::par::{self, Progress};
use crate::run::Run;
use crate::run::cover::Covered;

/// Words of lost cells by layer, each with its row and its number there, in order.
pub(super) struct LostCells {
    dims: [usize; 3],
    layers: Vec<Vec<(usize, usize, u64)>>,
}

impl LostCells {
    /// The lost cells of a grid, in the threads this is called in.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub(super) fn of(solid: &BitGrid, touched: &Covered, run: &Run) -> Result<Self> {
        let dims = solid.dims();
        let (row_words, layer_words) = (solid.row_words(), solid.layer_words());
        let found = par::map_range(0..touched.brick_layers(), |n| {
            run.check()?;
            let layers = n * SIDE..dims[2].min((n + 1) * SIDE);
            let mut words = vec![0; layers.len() * layer_words];
            touched.add_to(n, &mut words);
            let (mut near, mut dilation) = (vec![0; layer_words], Dilation::of(solid));
            let of_layer = |(k, words): (usize, &[u64])| {
                dilation.layer(k, &mut near);
                let lost = words.iter().zip(&near).map(|(touched, near)| touched & !near);
                let lost = lost.enumerate().filter(|(_, lost)| *lost != 0);
                lost.map(|(place, lost)| (place / row_words, place % row_words, lost)).collect::<Vec<_>>()
            };
            Ok(layers.zip(words.chunks(layer_words)).map(of_layer).collect::<Vec<_>>())
        });
        let layers = found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        Ok(Self { dims, layers })
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.layers.iter().all(Vec::is_empty)
    }

    /// Their components: those that touch.
    pub(super) fn places(&self) -> CellComponents {
        let [_, rows, layers] = self.dims;
        CellComponents::of_rows(rows, layers, |j, k| self.row(j, k).iter().map(|(_, n, word)| (*n, *word)))
    }

    /// As a grid.
    pub(super) fn grid(&self) -> Result<BitGrid> {
        let mut grid = BitGrid::new(self.dims)?;
        let (row_words, layer_words) = (grid.row_words(), grid.layer_words());
        for (k, j, n, word) in self.words() {
            grid.words_mut()[k * layer_words + j * row_words + n] = word;
        }
        Ok(grid)
    }

    /// The cells that touch lost ones and are touched, but not lost: where components of these go on. They have solid
    /// cells near.
    pub(super) fn surroundings(&self, solid: &BitGrid, touched: &Covered) -> Result<BitGrid> {
        let [_, ny, nz] = self.dims;
        let lost = self.grid()?;
        let mut filled = BitGrid::new(self.dims)?;
        let (row_words, layer_words) = (filled.row_words(), filled.layer_words());
        // Only layers of bricks with lost cells, or next to some.
        let has_lost = |k: usize| (k.saturating_sub(1)..nz.min(k + 2)).any(|k| !self.layers[k].is_empty());
        let layers = filled.words_mut().chunks_mut(SIDE * layer_words).enumerate().collect();
        par::map(layers, |(n, words): (usize, &mut [u64])| {
            if (n * SIDE..nz.min((n + 1) * SIDE)).any(has_lost) {
                touched.add_to(n, words);
            }
        });
        let mut found = BitGrid::new(self.dims)?;
        for (k, j, n, word) in self.words() {
            let spread = [
                (n.checked_sub(1), word << 63),
                (Some(n), word | word << 1 | word >> 1),
                (Some(n + 1).filter(|n| *n < row_words), word >> 63),
            ];
            for k in k.saturating_sub(1)..nz.min(k + 2) {
                for j in j.saturating_sub(1)..ny.min(j + 2) {
                    for (n, cells) in spread.iter().filter_map(|(n, cells)| n.map(|n| (n, cells))) {
                        let place = k * layer_words + j * row_words + n;
                        let all = filled.words()[place] | solid.words()[place];
                        found.words_mut()[place] |= cells & all & !lost.words()[place];
                    }
                }
            }
        }
        Ok(found)
    }

    fn words(&self) -> impl Iterator<Item = (usize, usize, usize, u64)> + '_ {
        self.layers
            .iter()
            .enumerate()
            .flat_map(|(k, layer)| layer.iter().map(move |(j, n, word)| (k, *j, *n, *word)))
    }

    fn row(&self, j: usize, k: usize) -> &[(usize, usize, u64)] {
        let layer = &self.layers[k];
        let from = layer.partition_point(|(row, ..)| *row < j);
        let to = layer[from..].partition_point(|(row, ..)| *row == j);
        &layer[from..from + to]
    }
}
