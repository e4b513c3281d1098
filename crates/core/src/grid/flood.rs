//! Flood fill from outside: finds the cells that are connected to the faces of the grid by paths of free
//! cells. Adjacent cells of a path share a face.
//!
//! Reached cells are called *wet*. The flood fills rows, 64 cells at a time: the carry of an addition
//! propagates through a run of free cells, from the lowest wet cell to the next wall. A row that got new wet
//! cells *waits* until they have been spread along the row and into its four adjacent rows. Layers are
//! *settled* one after the other, up and down the grid, until no row waits. Each thread settles its own slab
//! of layers. Then the wet cells at the boundaries of slabs are spread into the adjacent slabs, and the slabs
//! are settled again. The final result does not depend on the order.

use super::bits::BitGrid;
use crate::error::Result;
use crate::par::{self, Progress};

/// Least number of layers per thread.
const WORTH: usize = 8;

/// Returns the free cells, which are not in `walls`, that are reachable from the outside of the grid: those
/// on a face of the grid, and all free cells that are connected to them. Uses the calling thread pool.
///
/// # Errors
/// Fails if the memory for another grid cannot be allocated, or if the run is cancelled.
pub fn outside(walls: &BitGrid, progress: &dyn Progress) -> Result<BitGrid> {
    let mut wet = BitGrid::new(walls.dims())?;
    progress.begin("flood", walls.dims()[2] as u64);
    let mut slabs = slabs(walls, &mut wet);
    while slabs.iter().any(FloodSlab::waits) {
        let settled = par::map(slabs.iter_mut().collect(), |slab: &mut FloodSlab| {
            slab.settle(progress)
        });
        settled.into_iter().collect::<Result<()>>()?;
        for n in 1..slabs.len() {
            let (below, above) = slabs.split_at_mut(n);
            exchange(&mut below[n - 1], &mut above[0]);
        }
    }
    drop(slabs);
    Ok(wet)
}

/// Creates a slab for each thread. The free cells on the faces of the grid are wet.
fn slabs<'a>(walls: &'a BitGrid, wet: &'a mut BitGrid) -> Vec<FloodSlab<'a>> {
    let [nx, rows, layers] = walls.dims();
    let row_words = walls.row_words();
    let layer_words = walls.layer_words();
    let height = layers.div_ceil(par::current_threads()).max(WORTH);
    let words = height * layer_words;
    let mut slabs = vec![];
    for (walls, wet) in walls
        .words()
        .chunks(words)
        .zip(wet.words_mut().chunks_mut(words))
    {
        slabs.push(FloodSlab {
            row_words,
            rows,
            inside: !0 >> (row_words * 64 - nx),
            waiting: vec![false; walls.len() / row_words],
            full: vec![false; walls.len() / row_words],
            count: vec![0; walls.len() / layer_words],
            seen: 0,
            walls,
            wet,
        });
    }
    let last = slabs.len() - 1;
    let seeded = slabs.iter_mut().enumerate().collect();
    par::map(seeded, |(n, slab): (usize, &mut FloodSlab)| {
        slab.seed(nx, n == 0, n == last)
    });
    slabs
}

/// Slab of layers of the grid, and the state of the flood in it.
struct FloodSlab<'a> {
    row_words: usize,
    /// Number of rows in a layer.
    rows: usize,
    /// Bits of the last word of a row that belong to cells.
    inside: u64,
    walls: &'a [u64],
    wet: &'a mut [u64],
    /// For each row of all layers, whether it waits.
    waiting: Vec<bool>,
    /// For each row, whether all of its free cells are known to be wet.
    full: Vec<bool>,
    /// Number of waiting rows in each layer.
    count: Vec<usize>,
    /// Number of layers that were visited, for progress reports.
    seen: usize,
}

impl FloodSlab<'_> {
    /// Reports whether any row waits.
    fn waits(&self) -> bool {
        self.count.iter().any(|count| *count > 0)
    }

    fn mark(&mut self, row: usize) {
        if !std::mem::replace(&mut self.waiting[row], true) {
            self.count[row / self.rows] += 1;
        }
    }

    /// Marks the free cells on faces of the grid as wet. The grid has `nx` cells along x. `bottom` and `top`
    /// state whether the lowest and the highest layer of the slab are faces of the grid.
    fn seed(&mut self, nx: usize, bottom: bool, top: bool) {
        let words = self.row_words;
        let layers = self.count.len();
        for row in 0..self.waiting.len() {
            let j = row % self.rows;
            let k = row / self.rows;
            let face = j == 0 || j == self.rows - 1 || bottom && k == 0 || top && k == layers - 1;
            let walls = &self.walls[row * words..][..words];
            let wet = &mut self.wet[row * words..][..words];
            if face {
                wet.iter_mut()
                    .zip(walls)
                    .for_each(|(wet, wall)| *wet = !wall);
                wet[words - 1] &= self.inside;
            } else {
                wet[0] |= 1 & !walls[0];
                wet[words - 1] |= 1 << ((nx - 1) % 64) & !walls[words - 1];
            }
            if wet.iter().any(|word| *word != 0) {
                self.mark(row);
            }
        }
    }

    /// Floods the slab until no row waits.
    fn settle(&mut self, progress: &dyn Progress) -> Result<()> {
        while self.waits() {
            for layer in 0..self.count.len() {
                progress.check()?;
                self.settle_layer(layer);
                if layer == self.seen {
                    self.seen += 1;
                    progress.advance(1);
                }
            }
            for layer in (0..self.count.len()).rev() {
                progress.check()?;
                self.settle_layer(layer);
            }
        }
        Ok(())
    }

    /// Floods a layer until none of its rows waits. Rows of the adjacent layers may wait afterwards.
    fn settle_layer(&mut self, layer: usize) {
        let rows = layer * self.rows..(layer + 1) * self.rows;
        while self.count[layer] > 0 {
            rows.clone().for_each(|row| self.settle_row(row));
            rows.clone().rev().for_each(|row| self.settle_row(row));
        }
    }

    /// Spreads the wet cells of a waiting row along the row and into the adjacent rows.
    fn settle_row(&mut self, row: usize) {
        if !std::mem::replace(&mut self.waiting[row], false) {
            return;
        }
        self.count[row / self.rows] -= 1;
        let words = row * self.row_words..(row + 1) * self.row_words;
        let walls = &self.walls[words.clone()];
        let wet = &mut self.wet[words];
        if is_full(walls, self.inside, wet) {
            self.full[row] = true;
        } else {
            spread(walls, self.inside, wet);
        }
        let j = row % self.rows;
        let all = self.waiting.len();
        if j > 0 {
            self.flow(row, row - 1);
        }
        if j + 1 < self.rows {
            self.flow(row, row + 1);
        }
        if row >= self.rows {
            self.flow(row, row - self.rows);
        }
        if row + self.rows < all {
            self.flow(row, row + self.rows);
        }
    }

    /// Spreads the wet cells of a row into an adjacent row of the same slab.
    fn flow(&mut self, from: usize, to: usize) {
        if self.full[to] {
            return;
        }
        let words = self.row_words;
        let (low, high) = self.wet.split_at_mut(from.max(to) * words);
        let low = &mut low[from.min(to) * words..][..words];
        let high = &mut high[..words];
        let (from, into) = if from < to {
            (&*low, high)
        } else {
            (&*high, low)
        };
        if pour(from, &self.walls[to * words..][..words], into) {
            self.mark(to);
        }
    }

    /// Spreads the wet cells of a row of another slab into a row of this slab.
    fn take(&mut self, from: &[u64], row: usize) {
        let words = row * self.row_words..(row + 1) * self.row_words;
        if pour(from, &self.walls[words.clone()], &mut self.wet[words]) {
            self.mark(row);
        }
    }
}

/// Spreads wet cells across the boundary of two slabs, in both directions.
fn exchange(below: &mut FloodSlab, above: &mut FloodSlab) {
    let words = below.row_words;
    let first = below.waiting.len() - below.rows;
    for row in 0..below.rows {
        above.take(&below.wet[(first + row) * words..][..words], row);
        below.take(&above.wet[row * words..][..words], first + row);
    }
}

/// Marks the free cells of a row as wet that are next to wet cells of an adjacent row. Reports whether the
/// row got new wet cells.
fn pour(from: &[u64], walls: &[u64], into: &mut [u64]) -> bool {
    let mut gain = 0;
    for ((from, wall), into) in from.iter().zip(walls).zip(&*into) {
        gain |= from & !wall & !into;
    }
    if gain == 0 {
        return false;
    }
    for ((from, wall), into) in from.iter().zip(walls).zip(into) {
        *into |= from & !wall;
    }
    true
}

/// Reports whether all free cells of a row are wet. `inside` has the bits of the last word that belong to
/// cells.
fn is_full(walls: &[u64], inside: u64, wet: &[u64]) -> bool {
    let last = walls.len() - 1;
    let mut dry = 0;
    for (wall, wet) in walls[..last].iter().zip(wet) {
        dry |= !(wall | wet);
    }
    dry | !(walls[last] | wet[last]) & inside == 0
}

/// Spreads the wet cells of a row along the row. `inside` has the bits of the last word that belong to cells.
fn spread(walls: &[u64], inside: u64, wet: &mut [u64]) {
    let last = walls.len() - 1;
    let free = |n: usize| {
        if n == last {
            !walls[n] & inside
        } else {
            !walls[n]
        }
    };
    let mut carry = 0;
    for (n, wet) in wet.iter_mut().enumerate() {
        *wet = upwards(free(n), *wet | carry & free(n));
        carry = *wet >> 63;
    }
    carry = 0;
    for (n, wet) in wet.iter_mut().enumerate().rev() {
        *wet = downwards(free(n), *wet | carry << 63 & free(n));
        carry = *wet & 1;
    }
}

/// Returns the wet cells of a word, and the free cells above them in the same run. In the sum `free + wet`,
/// the carry propagates from the lowest wet cell through the run and clears its bits, except at other wet
/// cells.
fn upwards(free: u64, wet: u64) -> u64 {
    free & (!free.wrapping_add(wet) | wet)
}

/// Returns the wet cells of a word, and the free cells below them in the same run.
fn downwards(free: u64, wet: u64) -> u64 {
    if wet == free || wet == 0 {
        return wet;
    }
    upwards(free.reverse_bits(), wet.reverse_bits()).reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns the result of a flood that visits cells one by one.
    fn plainly(walls: &BitGrid) -> BitGrid {
        let dims = walls.dims();
        let mut wet = BitGrid::new(dims).unwrap();
        let mut queue = vec![];
        let cells = |n: usize| [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
        let on_face = |c: &[usize; 3]| (0..3).any(|a| c[a] == 0 || c[a] == dims[a] - 1);
        for cell in (0..dims.iter().product())
            .map(cells)
            .filter(on_face)
            .filter(|c| !walls.get(*c))
        {
            wet.set(cell);
            queue.push(cell);
        }
        while let Some(cell) = queue.pop() {
            for (axis, step) in (0..3).flat_map(|a| [(a, 1), (a, usize::MAX)]) {
                let mut next = cell;
                next[axis] = next[axis].wrapping_add(step);
                if next[axis] < dims[axis] && !walls.get(next) && !wet.get(next) {
                    wet.set(next);
                    queue.push(next);
                }
            }
        }
        wet
    }

    /// Compares the floods with one, two and seven threads to the simple flood. Returns the number of reached
    /// cells that are not on a face of the grid.
    fn check(walls: &BitGrid) -> u64 {
        let wanted = plainly(walls);
        for threads in [1, 2, 7] {
            let found = par::with_threads(threads, || outside(walls, &()))
                .unwrap()
                .unwrap();
            assert!(found == wanted, "{threads} threads, {walls:?}");
        }
        let dims = walls.dims();
        let within = |c: &[usize; 3]| (0..3).all(|a| c[a] > 0 && c[a] + 1 < dims[a]);
        wanted.iter().filter(within).count() as u64
    }

    #[test]
    fn random_walls_of_every_density() {
        let mut random = Random::new(3);
        let mut reached = 0;
        let mut dry = 0;
        for nx in [1, 2, 63, 64, 65, 130] {
            for [ny, nz] in [[1, 1], [1, 9], [7, 1], [5, 6], [9, 40]] {
                for percent in [0, 3, 20, 40, 60, 69, 80, 97, 100] {
                    let mut walls = BitGrid::new([nx, ny, nz]).unwrap();
                    let cells = (0..nx * ny * nz).map(|n| [n % nx, n / nx % ny, n / nx / ny]);
                    cells
                        .filter(|_| random.below(100) < percent)
                        .for_each(|cell| walls.set(cell));
                    let within = check(&walls);
                    reached += within;
                    dry += ((nx * ny * nz) as u64 - walls.count()).saturating_sub(within);
                }
            }
        }
        assert!(
            reached > 10_000 && dry > 10_000,
            "{reached} reached, {dry} not"
        );
    }

    /// Returns a closed box, divided along an axis by walls. Each wall has a door, alternately on opposite
    /// sides.
    fn serpentine(dims: [usize; 3], axis: usize, across: usize) -> BitGrid {
        let mut walls = BitGrid::new(dims).unwrap();
        for n in 0..dims.iter().product() {
            let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
            let plane = cell[axis];
            let door = if plane % 4 == 1 { 1 } else { dims[across] - 2 };
            let face = (0..3).any(|a| cell[a] == 0 || cell[a] == dims[a] - 1);
            let way_in = plane == 0 && cell[across] == 1;
            if face && !way_in || plane % 2 == 1 && cell[across] != door {
                walls.set(cell);
            }
        }
        walls
    }

    #[test]
    fn long_ways_through_mazes() {
        let mut mazes = 0;
        for dims in [[70, 30, 41], [131, 12, 33], [64, 64, 17]] {
            for (axis, across) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
                let walls = serpentine(dims, axis, across);
                let reached = check(&walls);
                let free = dims.iter().product::<usize>() as u64 - walls.count();
                assert!(
                    reached * 20 > free * 19,
                    "{dims:?} {axis} {across}: {reached} of {free}"
                );
                mazes += 1;
            }
        }
        assert_eq!(mazes, 18);
    }

    #[test]
    fn spirals_in_every_plane() {
        const N: usize = 41;
        for axis in 0..3 {
            let mut dims = [N; 3];
            dims[axis] = 11;
            let mut walls = BitGrid::new(dims).unwrap();
            let mut free = 0;
            for n in 0..dims.iter().product() {
                let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
                let u = cell[(axis + 1) % 3];
                let v = cell[(axis + 2) % 3];
                // Every second ring is a wall. Its door is on the side opposite to the previous door.
                let ring = u.min(v).min(N - 1 - u).min(N - 1 - v);
                let door = v == N / 2 && (u < N / 2) == (ring % 4 == 0);
                let end = cell[axis] == 0 || cell[axis] == dims[axis] - 1;
                if end || ring % 2 == 0 && !door {
                    walls.set(cell)
                } else {
                    free += 1
                }
            }
            assert!(free > 1000 && plainly(&walls).count() == free);
            check(&walls);
        }
    }

    #[test]
    fn a_closed_box_stays_dry_and_a_pinhole_lets_all_in() {
        let mut walls = BitGrid::new([70, 20, 30]).unwrap();
        let low = [2, 3, 4];
        let high = [67, 16, 25];
        for n in 0..70 * 20 * 30 {
            let cell = [n % 70, n / 70 % 20, n / 1400];
            let within = (0..3).all(|a| (low[a]..=high[a]).contains(&cell[a]));
            if within && (0..3).any(|a| cell[a] == low[a] || cell[a] == high[a]) {
                walls.set(cell);
            }
        }
        let all = 70 * 20 * 30 - walls.count();
        let cavity = 64 * 12 * 20;
        assert_eq!(outside(&walls, &()).unwrap().count(), all - cavity);
        let hole = [67, 9, 11];
        let mut open = BitGrid::new(walls.dims()).unwrap();
        walls
            .iter()
            .filter(|cell| *cell != hole)
            .for_each(|cell| open.set(cell));
        assert_eq!(outside(&open, &()).unwrap().count(), all + 1);
        check(&open);
    }

    #[test]
    fn it_stops_when_cancelled() {
        struct Stop;
        impl Progress for Stop {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let walls = BitGrid::new([70, 3, 30]).unwrap();
        assert_eq!(
            outside(&walls, &Stop).unwrap_err().kind(),
            crate::error::Kind::Interrupted
        );
    }
}
