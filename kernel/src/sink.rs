//! Where the bricks of all threads go: into a grid, or kept until somebody asks for their layers.
//!
//! Layers of bricks are shared out by locks, which threads take when their own bricks are full.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::memory::Zeroed;

/// Cells along y and along z of a brick; along x it has the 64 of a word.
pub const SIDE: usize = 8;

/// The words of a layer of a brick, row by row: a line of the cache.
pub type BrickPlane = [u64; SIDE];

/// The layers of a brick.
pub type Brick = [BrickPlane; SIDE];

/// Bricks in a grid of these dims.
pub fn bricks_in([x, y, z]: [usize; 3]) -> usize {
    x.div_ceil(64) * y.div_ceil(SIDE) * z.div_ceil(SIDE)
}

/// Where the cells of some layers of a lattice are among rows and bricks.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Cells per axis.
    pub dims: [usize; 3],
    row_words: usize,
    /// Bricks along x.
    pub across: usize,
    /// Bricks of a layer of them.
    pub per_layer: usize,
    /// The first layer of the lattice that is taken.
    pub first: i64,
}

impl Shape {
    /// So many cells per axis, the first of them in layer `first` of a lattice; `None` if there are too
    /// many bricks to be numbered.
    pub fn new(dims: [usize; 3], first: usize) -> Option<Self> {
        u32::try_from(bricks_in(dims)).ok()?;
        let [x, y, _] = dims;
        let across = x.div_ceil(64);
        Some(Self {
            dims,
            row_words: across,
            across,
            per_layer: across * y.div_ceil(SIDE),
            first: first as i64,
        })
    }

    /// The layers of the lattice.
    pub fn layers(&self) -> Range<i64> {
        self.first..self.first + self.dims[2] as i64
    }

    /// Layers of bricks.
    pub fn brick_layers(&self) -> usize {
        self.dims[2].div_ceil(SIDE)
    }

    /// The words of a layer of bricks, row by row.
    fn layer_words(&self, layer: usize) -> usize {
        self.row_words * self.dims[1] * SIDE.min(self.dims[2] - layer * SIDE)
    }

    /// Adds the cells of a brick to the words of its layer of bricks.
    fn put(&self, column: usize, brick: &Brick, words: &mut [u64]) {
        let n = column % self.across;
        let y = column / self.across * SIDE;
        for (k, plane) in brick.iter().enumerate() {
            for (j, word) in plane.iter().enumerate().filter(|(_, word)| **word != 0) {
                words[(k * self.dims[1] + y + j) * self.row_words + n] |= word;
            }
        }
    }
}

/// The bricks that several threads write to.
pub struct BrickSink<'a> {
    shape: Shape,
    /// One for each layer of bricks.
    layers: Vec<Mutex<BrickLayer<'a>>>,
}

/// The cells of a layer of bricks.
enum BrickLayer<'a> {
    /// The words of a grid.
    Rows(&'a mut [u64]),
    Kept(Kept),
}

/// Cells that are kept until somebody asks for their layers.
#[derive(Default)]
struct Kept {
    /// Bricks with their columns; several of one column add up.
    bricks: Vec<(u32, Brick)>,
    /// The words of the layer, once bricks would take more memory than these.
    words: Vec<u64>,
}

impl<'a> BrickSink<'a> {
    /// The words of a grid of the dims of `shape`: 64 cells along x each, rows along y, then z.
    pub fn rows(words: &'a mut [u64], shape: Shape) -> Self {
        let layer = shape.row_words * shape.dims[1];
        assert_eq!(words.len(), layer * shape.dims[2]);
        let layers = words.chunks_mut(SIDE * layer).map(|words| Mutex::new(BrickLayer::Rows(words)));
        Self { shape, layers: layers.collect() }
    }

    /// No grid: bricks are kept.
    pub fn kept(shape: Shape) -> Self {
        let layer = |_| Mutex::new(BrickLayer::Kept(Kept::default()));
        Self { shape, layers: (0..shape.brick_layers()).map(layer).collect() }
    }

    /// Adds the cells of bricks of one layer of them.
    pub fn put<'b>(&self, layer: usize, bricks: impl Iterator<Item = (usize, &'b Brick)>) {
        let mut target = self.layers[layer].lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *target {
            BrickLayer::Rows(words) => {
                bricks.for_each(|(column, brick)| self.shape.put(column, brick, words))
            }
            BrickLayer::Kept(kept) => kept.add(&self.shape, layer, bricks),
        }
    }

    /// Where its cells are.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Puts the bricks of all threads that belong to one layer of them into the grid.
    pub fn take(&self, layer: usize, full: &[ThreadBricks]) {
        for full in full {
            self.put(layer, full.of_layer(layer));
        }
    }

    /// Adds the cells of one layer of bricks to `words`, those of its rows.
    pub fn add_to(&self, layer: usize, full: &[ThreadBricks], words: &mut [u64]) {
        let target = self.layers[layer].lock().unwrap_or_else(PoisonError::into_inner);
        if let BrickLayer::Kept(kept) = &*target {
            words.iter_mut().zip(&kept.words).for_each(|(word, kept)| *word |= kept);
            kept.bricks.iter().for_each(|(column, brick)| self.shape.put(*column as usize, brick, words));
        }
        for (column, brick) in full.iter().flat_map(|full| full.of_layer(layer)) {
            self.shape.put(column, brick, words);
        }
    }
}

impl Kept {
    fn add<'b>(&mut self, shape: &Shape, layer: usize, bricks: impl Iterator<Item = (usize, &'b Brick)>) {
        let words = shape.layer_words(layer);
        for (column, brick) in bricks {
            if self.words.is_empty() {
                self.bricks.push((column as u32, *brick));
            } else {
                shape.put(column, brick, &mut self.words);
            }
            // A list takes up to twice what is in it.
            if 2 * size_of_val(&self.bricks[..]) > words * size_of::<u64>() {
                self.words = vec![0; words];
                for (column, brick) in std::mem::take(&mut self.bricks) {
                    shape.put(column as usize, &brick, &mut self.words);
                }
            }
        }
    }
}

/// The bricks of one thread at its end. They go on with those of all others, layer by layer: where
/// threads touched the same rows, these are fetched once.
pub struct ThreadBricks {
    pub(super) shape: Shape,
    /// The numbers of the bricks, in order, with their slots.
    pub(super) order: Vec<(u32, u16)>,
    pub(super) pool: Zeroed<Brick>,
}

impl ThreadBricks {
    /// The bricks of one layer of them, with their columns.
    fn of_layer(&self, layer: usize) -> impl Iterator<Item = (usize, &Brick)> {
        bricks_of_layer(self.shape, &self.order, &self.pool, layer)
    }
}

/// The bricks of one layer of them, of those in `order`, with their columns.
pub(super) fn bricks_of_layer<'b>(
    shape: Shape,
    order: &'b [(u32, u16)],
    pool: &'b [Brick],
    layer: usize,
) -> impl Iterator<Item = (usize, &'b Brick)> {
    let first = layer * shape.per_layer;
    let from = order.partition_point(|(number, _)| (*number as usize) < first);
    let to = order.partition_point(|(number, _)| (*number as usize) < first + shape.per_layer);
    order[from..to].iter().map(move |&(number, slot)| (number as usize - first, &pool[usize::from(slot)]))
}

/// The occupied cells of rows of words.
#[cfg(test)]
pub(super) fn cells_of([nx, ny, nz]: [usize; 3], words: &[u64]) -> Vec<[usize; 3]> {
    let rows = (0..nz).flat_map(|k| (0..ny).map(move |j| (j, k)));
    let cells = rows.zip(words.chunks(nx.div_ceil(64))).flat_map(|((j, k), row)| {
        let is_set = move |i: &usize| row[i / 64] >> (i % 64) & 1 == 1;
        (0..64 * row.len()).filter(is_set).map(move |i| [i, j, k])
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a grid that each of `bricks`, `(layer, column, brick)`, was added to.
    fn put(shape: Shape, bricks: &[(usize, usize, Brick)]) -> Vec<u64> {
        let mut words = vec![0; shape.row_words * shape.dims[1] * shape.dims[2]];
        let target = BrickSink::rows(&mut words, shape);
        for (layer, column, brick) in bricks {
            target.put(*layer, [(*column, brick)].into_iter());
        }
        drop(target);
        words
    }

    #[test]
    fn what_is_kept_comes_back_as_bricks_and_as_rows() {
        let dims = [130, 19, 21];
        let [mut lists, mut rows] = [0, 0];
        let shape = Shape::new(dims, 3).unwrap();
        // Word by word a bit of its own, and nothing beyond the grid.
        let brick = |n: usize, layer: usize, column: usize| {
            let mut brick = [[0; SIDE]; SIDE];
            for (k, plane) in brick.iter_mut().enumerate().take(dims[2] - layer * SIDE) {
                let high = dims[1] - column / shape.across * SIDE;
                for (j, word) in plane.iter_mut().enumerate().take(high) {
                    *word = 1 << ((n + 3 * j + 5 * k) % if column % shape.across == 2 { 2 } else { 64 });
                }
            }
            brick
        };
        for count in [0, 1, 2, 40] {
            let bricks: Vec<_> = (0..count)
                .map(|n| (n % 3, n * 7 % shape.per_layer))
                .enumerate()
                .map(|(n, (layer, column))| (layer, column, brick(n, layer, column)))
                .collect();
            let target = BrickSink::kept(shape);
            for (layer, column, brick) in &bricks {
                target.put(*layer, [(*column, brick)].into_iter());
            }
            let mut grid = vec![0; shape.row_words * dims[1] * dims[2]];
            for (layer, words) in grid.chunks_mut(SIDE * shape.row_words * dims[1]).enumerate() {
                target.add_to(layer, &[], words);
                let BrickLayer::Kept(kept) = &*target.layers[layer].lock().unwrap() else { panic!("rows") };
                assert!(kept.words.is_empty() || kept.bricks.is_empty());
                *if kept.words.is_empty() { &mut lists } else { &mut rows } += 1;
            }
            assert_eq!(grid, put(shape, &bricks), "{count} bricks");
        }
        assert!(lists > 3 && rows > 2, "{lists} layers in bricks, {rows} in rows");
    }
}
