//! The way of a flood through the holes that leak, as paths of cells.
//!
//! Two searches go through the flooded cells, breadth first: one from the faces of the grid to the caps of
//! the holes, one from what was leaked into back to where the first paths end. Of each cell is kept how many
//! steps it is from where the search began, modulo three, in two bits: neighbours differ by one step at
//! most, so that this is enough to walk back.

use std::ops::ControlFlow;

use super::cover;
use super::leak;
use crate::error::Result;
use crate::geom::{Bounds, Ties};
use crate::grid::bits::bits_of;
use crate::grid::{BitGrid, Lattice, flood};
use crate::kernel::target::SIDE;
use crate::kernel::{Frame, Level};
use crate::mesh::boundary::{self, Loop};
use crate::par::Progress;

/// Grids in memory at a time, beside the one of the answer.
pub(crate) const GRIDS: u128 = 5;

/// A path of cells, each sharing a face with the next, for every hole: from a cell on a face of the grid to
/// a nearest cell that the hole's cap touches, and from there on to a nearest one that was leaked into, if
/// there is one to be reached. All are cells of `outside`, which the flood reached between the cells of
/// `walls`. Leaked into are those that it does not reach where the cells that the caps of `holes` touch keep
/// it out, and that are none of these.
///
/// Of nearest cells of a cap the path takes the first, x fastest; from there each way is gone to the first
/// neighbour that is a step nearer, of those below and above along x, y and z. Runs in the threads it is
/// called in.
///
/// # Errors
/// If the run was cancelled, or memory is not there.
pub(crate) fn through(
    holes: &[Loop],
    lattice: &Lattice,
    mut walls: BitGrid,
    outside: BitGrid,
    level: Level,
    progress: &dyn Progress,
) -> Result<BitGrid> {
    let mut caps = BitGrid::try_from(lattice)?;
    if holes.is_empty() {
        return Ok(caps);
    }
    let triangles = boundary::caps(holes);
    let frame = Frame::new(lattice, &Bounds::of(&triangles), Ties::Up);
    cover::cover(&frame, &triangles, 0, &mut caps, level, progress)?;
    walls.add(&caps);
    let mut leaked = BitGrid::try_from(lattice)?;
    leaked.add(&outside);
    leaked.remove(&flood::outside(&walls, progress)?, 0);
    leaked.remove(&walls, 0);
    drop(walls);
    caps.keep(&outside);

    let faces = Faces::of(&outside);
    let mut search = Search::new(outside)?;
    let found = search.run(|word| faces.cells(word), &caps, progress)?;
    let mut path = BitGrid::try_from(lattice)?;
    let mut ends = vec![];
    let [nx, ny, nz] = lattice.dims();
    let mut layers = BitGrid::new([nx, ny, SIDE.min(nz)])?;
    for hole in holes {
        progress.check()?;
        let end = nearest(hole, lattice, &found, &mut layers, level)?;
        if let Some(Found { place, steps }) = end {
            search.walk(place, steps, &mut path);
            ends.push(place);
        }
    }
    caps.clear();
    for place in &ends {
        caps.words_mut()[place / 64] |= 1 << (place % 64);
    }
    search.clear();
    for Found { place, steps } in search.run(|word| leaked.words()[word], &caps, progress)? {
        search.walk(place, steps, &mut path);
    }
    Ok(path)
}

/// A cell that a search came to: its place is the number of its bit in the words of a grid.
#[derive(Debug, Clone, Copy)]
struct Found {
    place: usize,
    steps: u32,
}

/// Of the cells found that the hole's cap touches, the nearest; of these, the first.
fn nearest(
    hole: &Loop,
    lattice: &Lattice,
    found: &[Found],
    layers: &mut BitGrid,
    level: Level,
) -> Result<Option<Found>> {
    let mut best: Option<Found> = None;
    leak::cap(lattice, hole, layers, level, |first, layers| {
        let before = 64 * first * layers.layer_words();
        for (n, word) in layers.words().iter().enumerate().filter(|(_, word)| **word != 0) {
            for bit in bits_of(*word) {
                let place = before + 64 * n + bit;
                let Ok(at) = found.binary_search_by_key(&place, |found| found.place) else { continue };
                best = best.filter(|best| best.steps <= found[at].steps).or(Some(found[at]));
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(best)
}

/// The cells of a grid that are on its faces.
struct Faces {
    dims: [usize; 3],
    row_words: usize,
}

impl Faces {
    fn of(grid: &BitGrid) -> Self {
        Self { dims: grid.dims(), row_words: grid.row_words() }
    }

    /// Those of a word, and maybe bits beyond the row.
    fn cells(&self, word: usize) -> u64 {
        let [nx, ny, nz] = self.dims;
        let (n, row) = (word % self.row_words, word / self.row_words);
        let (j, k) = (row % ny, row / ny);
        if j == 0 || j == ny - 1 || k == 0 || k == nz - 1 {
            return !0;
        }
        let low = u64::from(n == 0);
        let high = if n == (nx - 1) / 64 { 1 << ((nx - 1) % 64) } else { 0 };
        low | high
    }
}

/// A search, breadth first, by steps between cells that share a face.
struct Search {
    /// The cells that it may enter and has not reached.
    open: BitGrid,
    /// Two bits for each cell: 0 if it was not reached, else one more than its steps modulo three.
    reached: [BitGrid; 2],
}

impl Search {
    fn new(free: BitGrid) -> Result<Self> {
        let dims = free.dims();
        Ok(Self { open: free, reached: [BitGrid::new(dims)?, BitGrid::new(dims)?] })
    }

    /// As if nothing had been reached.
    fn clear(&mut self) {
        for reached in &mut self.reached {
            self.open.add(reached);
            reached.clear();
        }
    }

    /// Searches from these cells, of each word, until all of `wanted` that can be are found: those, by place.
    fn run(
        &mut self,
        from: impl Fn(usize) -> u64,
        wanted: &BitGrid,
        progress: &dyn Progress,
    ) -> Result<Vec<Found>> {
        let all = wanted.count();
        let (row, layer) = (self.open.row_words(), self.open.layer_words());
        let [low, high] = &mut self.reached;
        let reached = [low.words_mut(), high.words_mut()];
        let (open, wanted) = (self.open.words_mut(), wanted.words());
        let mut front = Front { row, layer, open, reached, wanted, next: vec![], found: vec![], steps: 0 };
        let count = wanted.len();
        for word in 0..count {
            front.enter(word, from(word));
            // Where many begin they are not kept, but looked for again.
            front.next.clear();
        }
        front.steps = 1;
        for word in 0..count {
            let begun = from(word) & front.reached[0][word] & !front.reached[1][word];
            front.leave(word, begun);
        }
        while !front.next.is_empty() && (front.found.len() as u64) < all {
            progress.check()?;
            front.steps += 1;
            for (word, cells) in std::mem::take(&mut front.next) {
                front.leave(word, cells);
            }
        }
        let mut found = front.found;
        found.sort_unstable_by_key(|found| found.place);
        Ok(found)
    }

    /// Adds the way back from a cell that was reached after so many steps.
    fn walk(&self, mut place: usize, steps: u32, path: &mut BitGrid) {
        let marked = |place: usize| {
            let bit = |grid: &BitGrid| (grid.words()[place / 64] >> (place % 64) & 1) as u32;
            bit(&self.reached[0]) | bit(&self.reached[1]) << 1
        };
        path.words_mut()[place / 64] |= 1 << (place % 64);
        for step in (0..steps).rev() {
            let next = self.beside(place).into_iter().flatten().find(|next| marked(*next) == step % 3 + 1);
            let Some(next) = next else {
                debug_assert!(false, "a cell was reached from none");
                return;
            };
            place = next;
            path.words_mut()[place / 64] |= 1 << (place % 64);
        }
    }

    /// The cells beside one, below and above along x, y and z.
    fn beside(&self, place: usize) -> [Option<usize>; 6] {
        let [nx, ny, nz] = self.open.dims();
        let (row, layer) = (64 * self.open.row_words(), 64 * self.open.layer_words());
        let (i, j, k) = (place % row, place % layer / row, place / layer);
        [
            (i > 0).then(|| place - 1),
            (i + 1 < nx).then(|| place + 1),
            (j > 0).then(|| place - row),
            (j + 1 < ny).then(|| place + row),
            (k > 0).then(|| place - layer),
            (k + 1 < nz).then(|| place + layer),
        ]
    }
}

/// Where a search is, in words of the grid.
struct Front<'a> {
    /// Words of a row and of a layer.
    row: usize,
    layer: usize,
    open: &'a mut [u64],
    reached: [&'a mut [u64]; 2],
    wanted: &'a [u64],
    /// Words, and the cells in them that were just reached.
    next: Vec<(usize, u64)>,
    /// Cells that were wanted and are reached.
    found: Vec<Found>,
    steps: u32,
}

impl Front<'_> {
    /// Goes from cells of a word to their neighbours.
    fn leave(&mut self, word: usize, cells: u64) {
        if cells == 0 {
            return;
        }
        let (row, layer) = (self.row, self.layer);
        let (along, across) = (word % row, word % layer);
        self.enter(word, cells << 1 | cells >> 1);
        if along > 0 {
            self.enter(word - 1, cells << 63);
        }
        if along + 1 < row {
            self.enter(word + 1, cells >> 63);
        }
        if across >= row {
            self.enter(word - row, cells);
        }
        if across + row < layer {
            self.enter(word + row, cells);
        }
        if word >= layer {
            self.enter(word - layer, cells);
        }
        if word + layer < self.open.len() {
            self.enter(word + layer, cells);
        }
    }

    /// Reaches the cells of a word that are open.
    #[inline]
    fn enter(&mut self, word: usize, cells: u64) {
        let new = cells & self.open[word];
        if new == 0 {
            return;
        }
        self.open[word] &= !new;
        let mark = self.steps % 3 + 1;
        for (n, bits) in self.reached.iter_mut().enumerate() {
            bits[word] |= if mark >> n & 1 == 1 { new } else { 0 };
        }
        self.next.push((word, new));
        let steps = self.steps;
        let places = bits_of(new & self.wanted[word]).map(|bit| 64 * word + bit);
        self.found.extend(places.map(|place| Found { place, steps }));
    }
}
