//! Occupied cells of one thread, in bricks that are created when needed.
//!
//! A brick has 64 × 8 × 8 cells, one word per row. A triangle of a few cells stays within one or two bricks,
//! whereas rows of a whole grid would be far apart in memory. Bricks are stored in a pool. A directory maps
//! the number of a brick to its slot in the pool, so that empty space costs only two bytes per 4096 cells.
//! When the pool is full, all its bricks are written to the [`BrickSink`] that threads share. The bricks that
//! remain at the end follow later.

use std::ops::Range;

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

use super::marks::{self, Marks};
use super::sink::{
    Brick, BrickPlane, BrickSink, SIDE, Shape, ThreadBricks, bricks_in, bricks_of_layer,
};
use crate::memory::Zeroed;

/// Number of bricks in the pools of all threads together. It is 32 MiB for four threads or more.
const ROOM: usize = 1 << 16;

/// Returns the number of bricks in the pool of one of `threads` threads, if the grid has `bricks` bricks.
/// Pools are small compared with the grid, but large enough that they are seldom full.
fn room(bricks: usize, threads: usize) -> usize {
    // At most 16 MiB per thread, because more would hardly stay in a cache. Slot numbers have 16 bits, and
    // slot 0 stands for no brick.
    let most = (ROOM / threads.max(1)).clamp(1 << 8, 1 << 15);
    (bricks / (4 * threads.max(1)))
        .max(1 << 12)
        .min(most)
        .min(bricks)
}

/// Returns the maximum memory in bytes of the pools of all threads for a grid of these dims. Each thread
/// touches at most `touched` bricks.
pub fn bytes_for(dims: [usize; 3], threads: usize, touched: usize) -> u128 {
    let bricks = bricks_in(dims);
    let room = room(bricks, threads);
    let used = room.min(touched);
    // Slot 0 stands for no brick.
    let pool = Zeroed::<Brick>::bytes_for(room + 1, used + 1);
    // Memory for the numbers of the bricks, and for their order when they are written to the grid.
    let numbers = used * (size_of::<u32>() + size_of::<(u32, u16)>());
    threads as u128 * (bricks * size_of::<u16>() + pool + numbers) as u128
}

/// Returns `true` if the pools are never full, provided that each thread touches at most `touched` bricks.
pub fn have_room(dims: [usize; 3], threads: usize, touched: usize) -> bool {
    touched <= room(bricks_in(dims), threads)
}

/// Pool of bricks of one thread, which are written to a [`BrickSink`] later.
pub struct Bricks<'a, 't> {
    /// Layers to cover. Cells in other layers are not occupied.
    pub layers: Range<i64>,
    target: &'a BrickSink<'t>,
    /// Number of cells along x (`cells`) and along y (`rows`).
    cells: i64,
    rows: i64,
    shape: Shape,
    /// Slot of each brick. x varies fastest, then y, then z. 0 stands for no brick.
    slots: Zeroed<u16>,
    pool: Zeroed<Brick>,
    /// Number of the brick in each slot, from slot 1 on.
    numbers: Vec<u32>,
    room: usize,
    /// Cells that were not written into a brick yet.
    marks: Marks,
}

impl<'a, 't> Bricks<'a, 't> {
    /// Creates an empty pool for one of `threads` threads. It covers all layers of `target`.
    pub fn new(target: &'a BrickSink<'t>, threads: usize) -> Self {
        let shape = target.shape();
        let [x, y, _] = shape.dims;
        let bricks = bricks_in(shape.dims);
        let room = room(bricks, threads);
        Self {
            layers: shape.layers(),
            target,
            cells: x as i64,
            rows: y as i64,
            shape,
            slots: Zeroed::new(bricks).expect("two bytes a brick"),
            pool: Zeroed::new(room + 1).expect("a few megabytes"),
            numbers: Vec::with_capacity(room),
            room,
            marks: Marks::new(),
        }
    }

    /// Returns layer `k` of the brick in this [`column`](Self::column).
    #[inline(always)]
    pub fn plane(&mut self, column: u32, k: i64) -> &mut BrickPlane {
        let k = (k - self.shape.first) as usize;
        let number = k / SIDE * self.shape.per_layer + column as usize;
        let mut slot = self.slots[number];
        if slot == 0 {
            slot = self.open(number);
        }
        &mut self.pool[usize::from(slot)][k % SIDE]
    }

    /// Returns the number of the brick that has the cells `64 n ..` of the rows `8 column ..` in layer `k`.
    #[inline(always)]
    pub(crate) fn number(&self, n: i64, column: i64, k: i64) -> usize {
        let layer = (k - self.shape.first) as usize / SIDE;
        layer * self.shape.per_layer + column as usize * self.shape.across + n as usize
    }

    /// Returns the brick with this number. `None` if the pool does not have it.
    #[inline(always)]
    pub(crate) fn peek(&self, number: usize) -> Option<&Brick> {
        let slot = self.slots[number];
        (slot != 0).then(|| &self.pool[usize::from(slot)])
    }

    /// Returns `true` if a cell is occupied in a brick of the pool. The cell must be within the covered
    /// layers and the grid.
    pub(crate) fn has(&self, [i, j, k]: [i64; 3]) -> bool {
        let brick = self.peek(self.number(i / 64, j / SIDE as i64, k));
        let plane = brick.map(|brick| brick[(k - self.shape.first) as usize % SIDE]);
        plane.is_some_and(|plane| plane[j as usize % SIDE] >> (i & 63) & 1 == 1)
    }

    /// Returns the brick with this number. It is created if the pool does not have it.
    #[inline(always)]
    pub(crate) fn brick(&mut self, number: usize) -> &mut Brick {
        let mut slot = self.slots[number];
        if slot == 0 {
            slot = self.open(number);
        }
        &mut self.pool[usize::from(slot)]
    }

    /// Returns the column of the bricks that have the cells `64 n ..` of row `j`. A column is a number within
    /// a layer of bricks.
    #[inline(always)]
    pub fn column(&self, n: i64, j: i64) -> u32 {
        (j as usize / SIDE * self.shape.across + n as usize) as u32
    }

    /// Returns the word with the cells `64 n ..` of row `(j, k)`.
    #[inline(always)]
    fn word(&mut self, n: usize, j: i64, k: i64) -> &mut u64 {
        let column = self.column(n as i64, j);
        &mut self.plane(column, k)[j as usize % SIDE]
    }

    /// Assigns a slot to a brick. If the pool is full, it is emptied first.
    #[cold]
    fn open(&mut self, number: usize) -> u16 {
        if self.numbers.len() == self.room {
            self.empty();
        }
        self.numbers.push(number as u32);
        let slot = self.numbers.len() as u16;
        self.slots[number] = slot;
        slot
    }

    /// Writes all bricks to the target and empties the pool.
    fn empty(&mut self) {
        let order = self.order();
        let layer_of = |number: u32| number as usize / self.shape.per_layer;
        for layer in order.chunk_by(|a, b| layer_of(a.0) == layer_of(b.0)) {
            let layer_number = layer_of(layer[0].0);
            self.target.put(
                layer_number,
                bricks_of_layer(self.shape, layer, &self.pool, layer_number),
            );
        }
        for (number, slot) in order {
            self.slots[number as usize] = 0;
            self.pool[usize::from(slot)] = [[0; SIDE]; SIDE];
        }
        self.numbers.clear();
    }

    /// Returns the numbers of the bricks in ascending order, each with its slot.
    fn order(&self) -> Vec<(u32, u16)> {
        let mut order: Vec<(u32, u16)> = self.numbers.iter().copied().zip(1..).collect();
        // Sorts by the number only, because comparing pairs takes branches.
        order.sort_unstable_by_key(|(number, _)| *number);
        order
    }

    /// Returns the remaining bricks. All marks must already have been written.
    pub fn finish(self) -> ThreadBricks {
        assert_eq!(self.marks.lists(), [&[]; 2], "marks are put before");
        ThreadBricks {
            shape: self.shape,
            order: self.order(),
            pool: self.pool,
        }
    }

    /// Returns the cells to cover along each axis.
    #[inline(always)]
    pub fn ranges(&self) -> [Range<i64>; 3] {
        [0..self.cells, 0..self.rows, self.layers.clone()]
    }

    /// Returns the number of bricks along x.
    #[inline(always)]
    pub fn across(&self) -> u32 {
        self.shape.across as u32
    }

    /// Converts layers of the lattice to layers counted from the first layer of the grid.
    #[inline(always)]
    pub(crate) fn layers_from_first<S: Simd>(&self, z: u32x16<S>) -> u32x16<S> {
        z - self.shape.first as u32
    }

    /// Returns the columns of the bricks that have the cells at `x` of the rows `y`.
    #[inline(always)]
    pub(crate) fn columns<S: Simd>(&self, x: u32x16<S>, y: u32x16<S>) -> u32x16<S> {
        (y >> SIDE.ilog2()) * self.across() + (x >> 6)
    }

    /// Returns the number of the first brick in the layer of bricks that contains a layer. Layers are counted
    /// as by [`layers_from_first`](Self::layers_from_first).
    #[inline(always)]
    pub(crate) fn first_of_layers<S: Simd>(&self, z: u32x16<S>) -> u32x16<S> {
        (z >> SIDE.ilog2()) * self.shape.per_layer as u32
    }

    /// Adds a mark for each selected lane. A mark is the number of a brick and a word (see `marks.rs`). The
    /// caller has made room in the list of marks.
    #[inline(always)]
    pub(crate) fn mark<S: Simd>(
        &mut self,
        simd: S,
        numbers: u32x16<S>,
        words: u32x16<S>,
        lanes: mask32x16<S>,
    ) {
        self.marks.add(simd, numbers, words, lanes);
    }

    /// Marks a run of up to [`marks::CELLS`] cells for each selected lane. A run has its lowest cell at `[x,
    /// y, z]` and `more` cells after it along x. The caller has made room in the list of marks.
    #[inline(always)]
    pub(crate) fn mark_runs<S: Simd>(
        &mut self,
        simd: S,
        [x, y, z]: [f32x16<S>; 3],
        more: f32x16<S>,
        lanes: u64,
    ) {
        let [x, y, z, more]: [u32x16<S>; 4] = [x.to_int(), y.to_int(), z.to_int(), more.to_int()];
        let z = self.layers_from_first(z);
        let numbers = self.first_of_layers(z) + self.columns(x, y);
        let words = marks::words([x, y, z]) | ((u32x16::splat(simd, 2) << more) - 1);
        let lanes = mask32x16::from_bitmask(simd, lanes);
        self.mark(simd, numbers, words, lanes);
        let straddles = lanes & ((x & 63) + more).simd_gt(u32x16::splat(simd, 63));
        if straddles.any_true() {
            self.mark(simd, numbers + 1, marks::beyond(simd, words), straddles);
        }
    }

    /// Makes room in the list for as many marks as a kernel adds between two calls.
    #[inline(always)]
    pub(crate) fn make_room<S: Simd>(&mut self, simd: S) {
        if self.marks.are_enough() {
            self.put_marks(simd);
        }
    }

    /// Occupies the cells of all marks, and empties the list of marks.
    pub(crate) fn put_marks<S: Simd>(&mut self, simd: S) {
        // The code is compiled for the level, so that shifts by any number of bits take one instruction.
        simd.vectorize(
            #[inline(always)]
            || self.put_marks_with(),
        );
    }

    #[inline(always)]
    fn put_marks_with(&mut self) {
        let mut n = 0;
        loop {
            let [numbers, words] = self.marks.lists();
            let pool: &mut [Brick] = &mut self.pool;
            n += put(
                &self.slots,
                pool.as_flattened_mut().as_flattened_mut(),
                &numbers[n..],
                &words[n..],
            );
            let Some(&number) = numbers.get(n) else { break };
            self.open(number as usize);
        }
        self.marks.clear();
    }

    /// Occupies one cell. It must be within the covered layers and the grid.
    #[inline(always)]
    pub fn cell(&mut self, [i, j, k]: [i64; 3]) {
        *self.word(i as usize / 64, j, k) |= 1 << (i & 63);
    }

    /// Occupies cells of a block of `N` cells per axis. Bit `i + N (j + N k)` of `cells` stands for the cell
    /// `base + [i, j, k]`, where `base` is the first argument. Cells outside of the covered layers or the
    /// grid are left out.
    #[cold]
    pub fn block<const N: usize>(&mut self, [x, y, z]: [i64; 3], cells: u64) {
        // Range of the numbers below N for which the cells from `at` on are within `low..end`.
        let clip = |at: i64, low: i64, end: i64| (low - at).max(0)..(end - at).min(N as i64);
        for k in clip(z, self.layers.start, self.layers.end) {
            for j in clip(y, 0, self.rows) {
                for i in clip(x, 0, self.cells) {
                    if cells >> (i + N as i64 * (j + N as i64 * k)) & 1 == 1 {
                        self.cell([x + i, y + j, z + k]);
                    }
                }
            }
        }
    }

    /// Occupies the cells `first..=last` of row `(j, k)`. All of them must be within the covered layers and
    /// the grid.
    #[inline(always)]
    pub fn span(&mut self, first: i64, last: i64, j: i64, k: i64) {
        let a = first as usize / 64;
        let b = last as usize / 64;
        let head = !0 << (first & 63);
        let tail = !0 >> (63 - (last & 63));
        if a == b {
            *self.word(a, j, k) |= head & tail;
            return;
        }
        *self.word(a, j, k) |= head;
        for n in a + 1..b {
            *self.word(n, j, k) = !0;
        }
        *self.word(b, j, k) |= tail;
    }
}

/// Writes marks into the rows of bricks, up to the first mark whose brick has no slot. Returns the number of
/// marks written.
#[inline(always)]
fn put(slots: &[u16], rows: &mut [u64], numbers: &[u32], words: &[u32]) -> usize {
    for (n, (&number, &word)) in numbers.iter().zip(words).enumerate() {
        let slot = usize::from(slots[number as usize]);
        if slot == 0 {
            return n;
        }
        let (row, cells) = marks::cells(word);
        rows[slot * SIDE * SIDE + row] |= cells;
    }
    numbers.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::cells_of;

    #[test]
    fn spans_fill_exactly_their_cells() {
        let mut cases = 0;
        for first in [0, 1, 62, 63, 64, 65, 127, 128, 190] {
            for last in (first..200).step_by(7).chain([first, 199]) {
                let mut words = vec![0; 4 * 3 * 2];
                let target = BrickSink::rows(&mut words, Shape::new([200, 3, 2], 5).unwrap());
                let mut bricks = Bricks::new(&target, 1);
                bricks.span(first, last, 1, 6);
                bricks.empty();
                drop(bricks);
                drop(target);
                let cells = cells_of([200, 3, 2], &words);
                let wanted: Vec<_> = (first..=last).map(|i| [i as usize, 1, 1]).collect();
                assert_eq!(cells, wanted);
                cases += 1;
            }
        }
        assert!(cases > 100);
    }

    #[test]
    fn a_full_pool_goes_into_the_grid() {
        let dims = [70, 9 * SIDE + 3, 20 * SIDE + 5];
        let mut words = vec![0; 2 * dims[1] * dims[2]];
        let target = BrickSink::rows(&mut words, Shape::new(dims, 0).unwrap());
        let mut bricks = Bricks::new(&target, ROOM);
        let wanted: Vec<_> = (0..dims[2])
            .step_by(5)
            .flat_map(|k| (0..dims[1]).flat_map(move |j| [[j % 64, j, k], [64 + j % 6, j, k]]))
            .collect();
        let mut emptied = 0;
        for &cell in &wanted {
            let before = bricks.numbers.len();
            bricks.cell(cell.map(|c| c as i64));
            emptied += usize::from(bricks.numbers.len() < before);
        }
        bricks.empty();
        drop(bricks);
        drop(target);
        assert!(emptied > 0, "it was never full");
        assert_eq!(cells_of(dims, &words), wanted);
    }
}
