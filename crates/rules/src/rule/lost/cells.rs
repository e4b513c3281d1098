//! Lost cells: filled cells that are not solid and have no solid cell among their 26 neighbours.
//!
//! The filled cells are the solid cells and the cells that triangles touch. The touched cells are stored in
//! bricks. Each task decodes one layer of bricks, so that the decoded cells stay in the cache. Most grids
//! have few lost cells or none. They are stored as a list of words.

use std::collections::BTreeMap;

use crate::run::Run;
use crate::run::cover::Covered;
use voxelize_core::error::Result;
use voxelize_core::grid::BitGrid;
use voxelize_core::grid::components::{CellComponents, Dilation};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::sink::SIDE;

/// Lost cells of a grid. Each layer has a sorted list of its nonzero words. An entry has the row of the word,
/// the index of the word in the row, and the word itself.
pub(super) struct LostCells {
    dims: [usize; 3],
    layers: Vec<Vec<(usize, usize, u64)>>,
}

impl LostCells {
    /// Finds the lost cells of a grid in the calling thread pool.
    ///
    /// # Errors
    /// Fails if the run was cancelled.
    pub(super) fn of(solid: &BitGrid, touched: &Covered, run: &Run) -> Result<Self> {
        let dims = solid.dims();
        let row_words = solid.row_words();
        let layer_words = solid.layer_words();
        let found = par::map_range(0..touched.brick_layers(), |n| {
            run.check()?;
            let layers = n * SIDE..dims[2].min((n + 1) * SIDE);
            let mut words = vec![0; layers.len() * layer_words];
            touched.add_to(n, &mut words);
            let mut near = vec![0; layer_words];
            let mut dilation = Dilation::of(solid);
            let mut found = vec![];
            for (k, words) in layers.zip(words.chunks(layer_words)) {
                dilation.layer(k, &mut near);
                let mut lost_words = vec![];
                for (place, (touched, near)) in words.iter().zip(&near).enumerate() {
                    let lost = touched & !near;
                    if lost != 0 {
                        lost_words.push((place / row_words, place % row_words, lost));
                    }
                }
                found.push(lost_words);
            }
            Ok(found)
        });
        let layers = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
        Ok(Self { dims, layers })
    }

    /// Returns true if there are no lost cells.
    pub(super) fn is_empty(&self) -> bool {
        self.layers.iter().all(Vec::is_empty)
    }

    /// Returns the connected components of lost cells.
    pub(super) fn places(&self) -> CellComponents {
        let [_, rows, layers] = self.dims;
        CellComponents::of_rows(rows, layers, |j, k| {
            self.row(j, k).iter().map(|(_, n, word)| (*n, *word))
        })
    }

    /// Returns a grid of the lost cells.
    pub(super) fn grid(&self) -> Result<BitGrid> {
        let mut grid = BitGrid::new(self.dims)?;
        let row_words = grid.row_words();
        let layer_words = grid.layer_words();
        for (k, j, n, word) in self.words() {
            grid.words_mut()[k * layer_words + j * row_words + n] = word;
        }
        Ok(grid)
    }

    /// Returns true if each component of lost cells has a neighbour that is filled and not lost. Then no
    /// component of filled cells consists only of lost cells. The neighbour is filled, so it is solid or
    /// touched. It is not solid, because no solid cell is next to a lost cell.
    pub(super) fn are_all_connected(&self, places: &CellComponents, touched: &Covered) -> bool {
        let [nx, ny, nz] = self.dims;
        let row_words = nx.div_ceil(64);
        let mut is_connected = vec![false; places.count()];
        // Decoded layers of bricks around the current layer of cells. Each layer is decoded only once.
        let mut made: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for k in (0..nz).filter(|k| !self.layers[*k].is_empty()) {
            let near = k.saturating_sub(1)..nz.min(k + 2);
            let bricks = near.start / SIDE..=(near.end - 1) / SIDE;
            made.retain(|n, _| bricks.contains(n));
            for n in bricks {
                made.entry(n).or_insert_with(|| {
                    let mut words = vec![0; (nz - n * SIDE).min(SIDE) * ny * row_words];
                    touched.add_to(n, &mut words);
                    words
                });
            }
            let goes_on = |j: usize, k: usize, n: usize| {
                let words = &made[&(k / SIDE)];
                words[(k % SIDE * ny + j) * row_words + n] & !self.word(j, k, n)
            };
            for rows in self.layers[k].chunk_by(|one, next| one.0 == next.0) {
                let j = rows[0].0;
                for run in places.row(j, k) {
                    let from = (run.start as usize).saturating_sub(1);
                    let to = nx.min(run.end as usize + 1);
                    let found = &mut is_connected[run.label as usize];
                    *found = *found
                        || near.clone().any(|k| {
                            (j.saturating_sub(1)..ny.min(j + 2)).any(|j| {
                                (from / 64..=(to - 1) / 64).any(|n| {
                                    let from = from.max(64 * n);
                                    let to = to.min(64 * n + 64);
                                    let these = !0 << (from % 64) & !0 >> (63 - (to - 1) % 64);
                                    goes_on(j, k, n) & these != 0
                                })
                            })
                        });
                }
            }
        }
        !is_connected.contains(&false)
    }

    fn words(&self) -> impl Iterator<Item = (usize, usize, usize, u64)> + '_ {
        self.layers
            .iter()
            .enumerate()
            .flat_map(|(k, layer)| layer.iter().map(move |(j, n, word)| (k, *j, *n, *word)))
    }

    /// Returns the lost cells in word `n` of row `j` in layer `k`.
    fn word(&self, j: usize, k: usize, n: usize) -> u64 {
        let layer = &self.layers[k];
        layer
            .binary_search_by_key(&(j, n), |(row, n, _)| (*row, *n))
            .map_or(0, |place| layer[place].2)
    }

    fn row(&self, j: usize, k: usize) -> &[(usize, usize, u64)] {
        let layer = &self.layers[k];
        let from = layer.partition_point(|(row, ..)| *row < j);
        let to = layer[from..].partition_point(|(row, ..)| *row == j);
        &layer[from..from + to]
    }
}
