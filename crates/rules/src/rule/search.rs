//! Breadth-first search through the cells of a grid, which can trace a path from a reached cell back to the
//! start.
//!
//! For each cell the search stores the number of steps modulo three, in two bits. This suffices to trace a
//! path, because the numbers of steps to adjacent cells differ by at most one.

use voxelize_core::error::Result;
use voxelize_core::grid::BitGrid;
use voxelize_core::grid::bits::bits_of;
use voxelize_core::par::Progress;

/// Cell that a search reached. `place` is the index of the cell's bit in the words of the grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    pub place: usize,
    pub steps: u32,
}

/// Breadth-first search by steps between cells that share a face.
pub(super) struct BreadthFirst {
    /// Cells that the search may enter and has not reached.
    open: BitGrid,
    /// Two bits for each cell. They are 0 if the cell was not reached, otherwise 1 + the number of steps
    /// modulo three.
    reached: [BitGrid; 2],
}

impl BreadthFirst {
    pub(super) fn new(free: BitGrid) -> Result<Self> {
        let dims = free.dims();
        Ok(Self {
            open: free,
            reached: [BitGrid::new(dims)?, BitGrid::new(dims)?],
        })
    }

    /// Resets the search: all reached cells become open again.
    pub(super) fn clear(&mut self) {
        for reached in &mut self.reached {
            self.open.add(reached);
            reached.clear();
        }
    }

    /// Searches from the starting cells, which `from` returns for each word of the grid. After each step
    /// `enough` gets the cells of `wanted` that the step reached. The search stops when `enough` returns
    /// true, or when no cell is left to reach.
    pub(super) fn run(
        &mut self,
        from: impl Fn(usize) -> u64,
        wanted: &BitGrid,
        progress: &dyn Progress,
        mut enough: impl FnMut(&[Reached]) -> bool,
    ) -> Result<()> {
        let row = self.open.row_words();
        let layer = self.open.layer_words();
        let [low, high] = &mut self.reached;
        let reached = [low.words_mut(), high.words_mut()];
        let open = self.open.words_mut();
        let wanted = wanted.words();
        let mut front = Front {
            row,
            layer,
            open,
            reached,
            wanted,
            next: vec![],
            found: vec![],
            steps: 0,
        };
        let count = wanted.len();
        for word in 0..count {
            front.enter(word, from(word));
            // There may be many starting cells. They are not stored. The second loop finds them again.
            front.next.clear();
        }
        if enough(&front.found) {
            return Ok(());
        }
        front.found.clear();
        front.steps = 1;
        for word in 0..count {
            let begun = from(word) & front.reached[0][word] & !front.reached[1][word];
            front.leave(word, begun);
        }
        while !enough(&front.found) && !front.next.is_empty() {
            progress.check()?;
            front.found.clear();
            front.steps += 1;
            for (word, cells) in std::mem::take(&mut front.next) {
                front.leave(word, cells);
            }
        }
        Ok(())
    }

    /// Adds to `path` a shortest path to the start from a cell that was reached after `steps` steps.
    pub(super) fn walk(&self, mut place: usize, steps: u32, path: &mut BitGrid) {
        path.words_mut()[place / 64] |= 1 << (place % 64);
        for step in (0..steps).rev() {
            let next = self
                .next_to(place)
                .into_iter()
                .flatten()
                .find(|next| self.mark(*next) == step % 3 + 1);
            let Some(next) = next else {
                debug_assert!(false, "a cell was reached from none");
                return;
            };
            place = next;
            path.words_mut()[place / 64] |= 1 << (place % 64);
        }
    }

    /// Returns the two bits that the search stores for a cell.
    fn mark(&self, place: usize) -> u32 {
        let [low, high] = self
            .reached
            .each_ref()
            .map(|grid| (grid.words()[place / 64] >> (place % 64) & 1) as u32);
        low | high << 1
    }

    /// Returns the neighbours of a cell in the order −x, +x, −y, +y, −z, +z. `None` for a neighbour outside
    /// the grid.
    fn next_to(&self, place: usize) -> [Option<usize>; 6] {
        let [nx, ny, nz] = self.open.dims();
        let row = 64 * self.open.row_words();
        let layer = 64 * self.open.layer_words();
        let i = place % row;
        let j = place % layer / row;
        let k = place / layer;
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

/// State of a search, which processes whole words of the grid.
struct Front<'a> {
    /// Number of words in a row.
    row: usize,
    /// Number of words in a layer.
    layer: usize,
    open: &'a mut [u64],
    reached: [&'a mut [u64]; 2],
    wanted: &'a [u64],
    /// Cells reached in this step: the index of a word, and the bits of the reached cells in it.
    next: Vec<(usize, u64)>,
    /// Cells of `wanted` that were reached in this step.
    found: Vec<Reached>,
    steps: u32,
}

impl Front<'_> {
    /// Marks the open neighbours of these cells of a word as reached.
    fn leave(&mut self, word: usize, cells: u64) {
        if cells == 0 {
            return;
        }
        let row = self.row;
        let layer = self.layer;
        let along = word % row;
        let across = word % layer;
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

    /// Marks those of these cells of a word that are open as reached.
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
        self.found
            .extend(places.map(|place| Reached { place, steps }));
    }
}
