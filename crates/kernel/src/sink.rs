//! Destination for the bricks of all threads. It is either a grid or a store whose layers are read later.
//!
//! Each layer of bricks has a lock. A thread acquires the lock when its own pool of bricks is full.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::memory::Zeroed;

/// Number of cells of a brick along y and along z. Along x, a brick has the 64 cells of one word.
pub const SIDE: usize = 8;

/// One layer of a brick: a word for each row. It is as long as a cache line.
pub type BrickPlane = [u64; SIDE];

/// Cells of a brick, layer by layer.
pub type Brick = [BrickPlane; SIDE];

/// Returns the number of bricks of a grid with these dims.
pub fn bricks_in([x, y, z]: [usize; 3]) -> usize {
    x.div_ceil(64) * y.div_ceil(SIDE) * z.div_ceil(SIDE)
}

/// Arrangement of some layers of a lattice, both as rows of words and as bricks.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Number of cells per axis.
    pub dims: [usize; 3],
    row_words: usize,
    /// Number of bricks along x.
    pub across: usize,
    /// Number of bricks in a layer of bricks.
    pub per_layer: usize,
    /// Index in the lattice of the first of these layers.
    pub first: i64,
}

impl Shape {
    /// Creates the arrangement for `dims` cells per axis, from layer `first` of a lattice on. `None` if there
    /// are too many bricks for 32-bit numbers.
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

    /// Returns the range of layers, as indices in the lattice.
    pub fn layers(&self) -> Range<i64> {
        self.first..self.first + self.dims[2] as i64
    }

    /// Returns the number of layers of bricks.
    pub fn brick_layers(&self) -> usize {
        self.dims[2].div_ceil(SIDE)
    }

    /// Returns the number of words in a layer of bricks if its cells are stored in rows.
    fn layer_words(&self, layer: usize) -> usize {
        self.row_words * self.dims[1] * SIDE.min(self.dims[2] - layer * SIDE)
    }

    /// Adds the cells of a brick to `words`, which are the rows of its layer of bricks.
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

/// Destination to which several threads write bricks.
pub struct BrickSink<'a> {
    shape: Shape,
    /// Cells of each layer of bricks, each with its own lock.
    layers: Vec<Mutex<BrickLayer<'a>>>,
}

/// Cells of one layer of bricks.
enum BrickLayer<'a> {
    /// Rows of words of a grid.
    Rows(&'a mut [u64]),
    Kept(Kept),
}

/// Number of bricks in each list of [`Kept`]. A list is allocated with this capacity and never grows, so less
/// than one list per layer is unused.
const TOGETHER: usize = 16;

/// Cells that are stored until their layer is read.
#[derive(Default)]
struct Kept {
    /// Columns that have a brick, in ascending order. Each is followed by the number of its brick.
    order: Vec<(u32, u32)>,
    /// Bricks by their numbers. Each list has [`TOGETHER`] of them.
    bricks: Vec<Vec<Brick>>,
    /// Rows of words of the layer. They are used when bricks would take more memory than rows.
    words: Vec<u64>,
}

/// Returns the maximum memory in bytes of stored bricks and their order. While the order grows, it may exist
/// twice.
pub fn kept_bytes_for(bricks: usize, layers: usize) -> u128 {
    let each = size_of::<Brick>() + 3 * size_of::<(u32, u32)>();
    bricks as u128 * each as u128 + (layers * TOGETHER * size_of::<Brick>()) as u128
}

impl<'a> BrickSink<'a> {
    /// Creates a destination that writes into the words of a grid with the dims of `shape`. A word has 64
    /// cells along x. In the list of words x varies fastest, then y, then z.
    pub fn rows(words: &'a mut [u64], shape: Shape) -> Self {
        let layer = shape.row_words * shape.dims[1];
        assert_eq!(words.len(), layer * shape.dims[2]);
        let mut layers = vec![];
        for words in words.chunks_mut(SIDE * layer) {
            layers.push(Mutex::new(BrickLayer::Rows(words)));
        }
        Self { shape, layers }
    }

    /// Creates a destination that stores bricks and has no grid.
    pub fn kept(shape: Shape) -> Self {
        let mut layers = vec![];
        for _ in 0..shape.brick_layers() {
            layers.push(Mutex::new(BrickLayer::Kept(Kept::default())));
        }
        Self { shape, layers }
    }

    /// Adds the cells of bricks that belong to one layer of bricks.
    pub fn put<'b>(&self, layer: usize, bricks: impl Iterator<Item = (usize, &'b Brick)>) {
        let mut target = self.layers[layer]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &mut *target {
            BrickLayer::Rows(words) => {
                bricks.for_each(|(column, brick)| self.shape.put(column, brick, words))
            }
            BrickLayer::Kept(kept) => kept.add(&self.shape, layer, bricks),
        }
    }

    /// Returns the arrangement of the cells.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Adds the bricks of all threads that belong to one layer of bricks.
    pub fn take(&self, layer: usize, full: &[ThreadBricks]) {
        for full in full {
            self.put(layer, full.of_layer(layer));
        }
    }

    /// Returns the stored bricks together with the bricks in the pools of all threads.
    pub fn into_kept(self, full: Vec<ThreadBricks>) -> KeptBricks {
        let mut layers = vec![];
        for layer in self.layers {
            let layer = layer.into_inner().unwrap_or_else(PoisonError::into_inner);
            layers.push(match layer {
                BrickLayer::Kept(kept) => kept,
                BrickLayer::Rows(_) => Kept::default(),
            });
        }
        KeptBricks {
            shape: self.shape,
            layers,
            full,
        }
    }
}

/// Cells in the bricks of all threads, after all triangles were covered.
pub struct KeptBricks {
    shape: Shape,
    /// Bricks that did not fit into the pools of the threads, for each layer of bricks.
    layers: Vec<Kept>,
    full: Vec<ThreadBricks>,
}

impl KeptBricks {
    /// Returns the arrangement of the cells.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the cells of one layer of bricks.
    pub fn layer(&self, layer: usize) -> LayerCells<'_> {
        let kept = &self.layers[layer];
        let mut bricks: Vec<_> = kept.of_layer().collect();
        bricks.extend(self.full.iter().flat_map(|full| full.of_layer(layer)));
        // The list consists of ascending runs, which a stable sort merges fast.
        bricks.sort_by_key(|(column, _)| *column);
        LayerCells {
            shape: self.shape,
            words: &kept.words,
            bricks,
        }
    }

    /// Adds the cells of one layer of bricks to `words`, which are the rows of the layer.
    pub fn add_to(&self, layer: usize, words: &mut [u64]) {
        let kept = &self.layers[layer];
        for (word, kept) in words.iter_mut().zip(&kept.words) {
            *word |= kept;
        }
        for (column, brick) in kept.of_layer() {
            self.shape.put(column, brick, words);
        }
        for full in &self.full {
            for (column, brick) in full.of_layer(layer) {
                self.shape.put(column, brick, words);
            }
        }
    }
}

/// Cells of one layer of bricks.
pub struct LayerCells<'a> {
    shape: Shape,
    /// Rows of words. Empty unless bricks would take more memory.
    words: &'a [u64],
    /// Bricks with their columns, in ascending order of the columns. If a column has several bricks, their
    /// cells are combined.
    bricks: Vec<(usize, &'a Brick)>,
}

impl LayerCells<'_> {
    /// Returns `true` if some cells are stored in rows of words.
    pub fn has_rows(&self) -> bool {
        !self.words.is_empty()
    }

    /// Calls `take` with each non-zero word of layer `k` of the bricks and its position in the layer, in
    /// ascending order. No cell may be stored in rows of words.
    pub fn each_word(&self, k: usize, mut take: impl FnMut(usize, u64)) {
        debug_assert!(!self.has_rows());
        let across = self.shape.across;
        let mut planes: Vec<(usize, BrickPlane)> = vec![];
        for row in self.bricks.chunk_by(|a, b| a.0 / across == b.0 / across) {
            planes.clear();
            for (column, brick) in row.iter().filter(|(_, brick)| has_cells(&brick[k])) {
                let n = column % across;
                match planes.last_mut() {
                    Some((same, plane)) if *same == n => {
                        plane
                            .iter_mut()
                            .zip(brick[k])
                            .for_each(|(word, more)| *word |= more);
                    }
                    _ => planes.push((n, brick[k])),
                }
            }
            let first = row[0].0 / across * SIDE * across;
            for j in 0..SIDE {
                for (n, plane) in planes.iter().filter(|(_, plane)| plane[j] != 0) {
                    take(first + j * across + n, plane[j]);
                }
            }
        }
    }
}

impl Kept {
    /// Adds bricks, which are in the order of their columns.
    fn add<'b>(
        &mut self,
        shape: &Shape,
        layer: usize,
        bricks: impl Iterator<Item = (usize, &'b Brick)>,
    ) {
        let words = shape.layer_words(layer);
        let known = self.order.len();
        let mut next = 0;
        let with_cells = bricks.filter(|(_, brick)| has_cells(brick.as_flattened()));
        for (column, brick) in with_cells {
            if !self.words.is_empty() {
                shape.put(column, brick, &mut self.words);
                continue;
            }
            while next < known && (self.order[next].0 as usize) < column {
                next += 1;
            }
            match self.order[..known].get(next) {
                Some(&(same, n)) if same as usize == column => add_brick(self.brick(n), brick),
                _ => self.push(column, brick),
            }
            if self.order.len() * size_of::<Brick>() > words * size_of::<u64>() {
                self.words = vec![0; words];
                let Self {
                    order,
                    bricks,
                    words,
                } = self;
                for (column, n) in std::mem::take(order) {
                    shape.put(
                        column as usize,
                        &bricks[n as usize / TOGETHER][n as usize % TOGETHER],
                        words,
                    );
                }
                *bricks = vec![];
            }
        }
        // The list now consists of two ascending runs.
        self.order.sort_by_key(|(column, _)| *column);
    }

    fn brick(&mut self, n: u32) -> &mut Brick {
        &mut self.bricks[n as usize / TOGETHER][n as usize % TOGETHER]
    }

    fn push(&mut self, column: usize, brick: &Brick) {
        let n = self.order.len();
        if n.is_multiple_of(TOGETHER) {
            self.bricks.push(Vec::with_capacity(TOGETHER));
        }
        self.bricks[n / TOGETHER].push(*brick);
        self.order.push((column as u32, n as u32));
    }

    /// Returns the bricks with their columns, in ascending order of the columns.
    fn of_layer(&self) -> impl Iterator<Item = (usize, &Brick)> {
        let brick = |n: u32| &self.bricks[n as usize / TOGETHER][n as usize % TOGETHER];
        self.order
            .iter()
            .map(move |&(column, n)| (column as usize, brick(n)))
    }
}

/// Returns `true` if at least one word is not zero.
fn has_cells(words: &[u64]) -> bool {
    words.iter().fold(0, |all, word| all | word) != 0
}

/// Adds the cells of `more` to a brick.
fn add_brick(brick: &mut Brick, more: &Brick) {
    for (word, more) in brick.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *word |= more;
    }
}

/// Bricks that remain in the pool of a thread when it has finished. They are written together with the bricks
/// of all other threads, layer by layer, so that each row is loaded from memory only once.
pub struct ThreadBricks {
    pub(super) shape: Shape,
    /// Numbers of the bricks in ascending order, each with its index in the pool.
    pub(super) order: Vec<(u32, u16)>,
    pub(super) pool: Zeroed<Brick>,
}

impl ThreadBricks {
    /// Returns the bricks of one layer of bricks, with their columns.
    fn of_layer(&self, layer: usize) -> impl Iterator<Item = (usize, &Brick)> {
        bricks_of_layer(self.shape, &self.order, &self.pool, layer)
    }
}

/// Returns the bricks in `order` that belong to one layer of bricks, with their columns.
pub(super) fn bricks_of_layer<'b>(
    shape: Shape,
    order: &'b [(u32, u16)],
    pool: &'b [Brick],
    layer: usize,
) -> impl Iterator<Item = (usize, &'b Brick)> {
    let first = layer * shape.per_layer;
    let from = order.partition_point(|(number, _)| (*number as usize) < first);
    let to = order.partition_point(|(number, _)| (*number as usize) < first + shape.per_layer);
    order[from..to]
        .iter()
        .map(move |&(number, slot)| (number as usize - first, &pool[usize::from(slot)]))
}

/// Returns the occupied cells in rows of words.
#[cfg(test)]
pub(super) fn cells_of([nx, ny, nz]: [usize; 3], words: &[u64]) -> Vec<[usize; 3]> {
    let row_words = nx.div_ceil(64);
    let mut cells = vec![];
    for k in 0..nz {
        for j in 0..ny {
            let row = &words[(k * ny + j) * row_words..][..row_words];
            for i in 0..64 * row_words {
                if row[i / 64] >> (i % 64) & 1 == 1 {
                    cells.push([i, j, k]);
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of a grid after all `bricks` were added. Each is given as `(layer, column, brick)`.
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
    fn kept_cells_are_returned_as_bricks_and_as_rows() {
        let dims = [130, 19, 21];
        let mut lists = 0;
        let mut rows = 0;
        let shape = Shape::new(dims, 3).unwrap();
        // Each word of a brick has a different bit, and no bit is outside of the grid.
        let brick = |n: usize, layer: usize, column: usize| {
            let mut brick = [[0; SIDE]; SIDE];
            for (k, plane) in brick.iter_mut().enumerate().take(dims[2] - layer * SIDE) {
                let high = dims[1] - column / shape.across * SIDE;
                for (j, word) in plane.iter_mut().enumerate().take(high) {
                    *word = 1
                        << ((n + 3 * j + 5 * k) % if column % shape.across == 2 { 2 } else { 64 });
                }
            }
            brick
        };
        for count in [0, 1, 2, 40] {
            let bricks: Vec<_> = (0..count)
                .map(|n| (n % 3, n / 3 * 7 % shape.per_layer))
                .enumerate()
                .map(|(n, (layer, column))| (layer, column, brick(n, layer, column)))
                .collect();
            let target = BrickSink::kept(shape);
            for (layer, column, brick) in &bricks {
                target.put(*layer, [(*column, brick)].into_iter());
            }
            let kept = target.into_kept(vec![]);
            let mut grid = vec![0; shape.row_words * dims[1] * dims[2]];
            for (layer, words) in grid
                .chunks_mut(SIDE * shape.row_words * dims[1])
                .enumerate()
            {
                kept.add_to(layer, words);
                let cells = kept.layer(layer);
                for (k, words) in words
                    .chunks(shape.row_words * dims[1])
                    .enumerate()
                    .filter(|_| !cells.has_rows())
                {
                    let mut each = vec![];
                    cells.each_word(k, |place, word| each.push((place, word)));
                    let set = words
                        .iter()
                        .copied()
                        .enumerate()
                        .filter(|(_, word)| *word != 0);
                    assert!(set.eq(each), "layer {k} of {layer}");
                }
                let kept = &kept.layers[layer];
                assert!(kept.words.is_empty() || kept.bricks.is_empty());
                assert!(
                    kept.order.is_sorted_by(|a, b| a.0 < b.0),
                    "a brick for each column"
                );
                if kept.words.is_empty() {
                    lists += 1;
                } else {
                    rows += 1;
                }
            }
            assert_eq!(grid, put(shape, &bricks), "{count} bricks");
        }
        assert!(
            lists > 3 && rows > 2,
            "{lists} layers in bricks, {rows} in rows"
        );
    }
}
