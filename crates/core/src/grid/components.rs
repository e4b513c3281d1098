//! Connected components of cells, computed from runs of bits. Cells that share a face, an edge or a corner
//! are connected (26 neighbours).
//!
//! A run is a maximal sequence of adjacent occupied cells in a row. It is joined with the overlapping or
//! touching runs of the previous row and of the three adjacent rows in the layer below (union-find on runs;
//! He, Chao and Suzuki 2008 in two dimensions). Chunks of layers are labelled in parallel. Then the
//! components of adjacent chunks are joined. Components are numbered in the order of their first cells, so
//! the result does not depend on the number of threads.

use super::bits::BitGrid;
use crate::geom::forest;
use crate::par;

/// Number of layers in a chunk.
const HEIGHT: usize = 32;

/// Maximal sequence of adjacent occupied cells in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRun {
    /// First cell of the run.
    pub start: u32,
    /// End of the run: the cell after its last cell.
    pub end: u32,
    /// Number of the component that contains the run.
    pub label: u32,
}

/// Components of the cells of a grid.
pub struct CellComponents {
    chunks: Vec<Chunk>,
    /// Number of rows in a layer.
    rows: usize,
    count: usize,
}

/// Size and position of a connected component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellComponent {
    /// Number of cells.
    pub cells: u64,
    /// First cell, in the order with x fastest, then y.
    pub first: [usize; 3],
    /// Least and greatest cell of the bounding box.
    pub reach: [[usize; 3]; 2],
}

/// Runs in a chunk of layers.
#[derive(Default)]
struct Chunk {
    /// Index of the first run of each row, followed by the number of runs.
    begins: Vec<u32>,
    runs: Vec<CellRun>,
    /// Union-find forest of the provisional labels: the first label of a component is its own parent. After
    /// all chunks have been joined, it has the final label for each provisional label.
    forest: Vec<u32>,
}

impl CellComponents {
    /// Finds the components of the occupied cells of `grid`. Uses the calling thread pool.
    pub fn of(grid: &BitGrid) -> Self {
        let [_, rows, layers] = grid.dims();
        Self::of_rows(rows, layers, |j, k| {
            grid.row(j, k).iter().copied().enumerate()
        })
    }

    /// Finds the components of cells that are given row by row. `row` returns the words of row `(j, k)` with
    /// their indices, in ascending order. Words that are zero may be omitted.
    pub fn of_rows<I: Iterator<Item = (usize, u64)>>(
        rows: usize,
        layers: usize,
        row: impl Fn(usize, usize) -> I + Sync,
    ) -> Self {
        let mut chunks = par::map_range(0..layers.div_ceil(HEIGHT), |n| {
            let mut chunk = Chunk::default();
            chunk.begins.push(0);
            for k in n * HEIGHT..layers.min((n + 1) * HEIGHT) {
                (0..rows).for_each(|j| chunk.add(row(j, k), j, rows));
            }
            chunk
        });
        let count = joined(&mut chunks, rows);
        Self {
            chunks,
            rows,
            count,
        }
    }

    /// Returns the number of components.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the runs of row `(j, k)` in order.
    pub fn row(&self, j: usize, k: usize) -> impl Iterator<Item = CellRun> + '_ {
        let chunk = &self.chunks[k / HEIGHT];
        let runs = chunk.row(k % HEIGHT * self.rows + j);
        runs.iter().map(|run| CellRun {
            label: chunk.forest[run.label as usize],
            ..*run
        })
    }

    /// Returns the number of the component that contains a cell. `None` if the cell is empty.
    pub fn at(&self, [i, j, k]: [usize; 3]) -> Option<usize> {
        let chunk = &self.chunks[k / HEIGHT];
        let runs = chunk.row(k % HEIGHT * self.rows + j);
        let run = runs.get(runs.partition_point(|run| run.end as usize <= i))?;
        (run.start as usize <= i).then(|| chunk.forest[run.label as usize] as usize)
    }

    /// Returns the numbers of the components of the runs among cells `first` to `last` of row `(j, k)`, in
    /// order.
    pub fn within(
        &self,
        [first, last]: [usize; 2],
        j: usize,
        k: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        let chunk = &self.chunks[k / HEIGHT];
        let runs = chunk.row(k % HEIGHT * self.rows + j);
        let runs = &runs[runs.partition_point(|run| run.end as usize <= first)..];
        let runs = runs
            .iter()
            .take_while(move |run| run.start as usize <= last);
        runs.map(|run| chunk.forest[run.label as usize] as usize)
    }

    /// Returns the size, the first cell and the bounding box of every component, indexed by its number.
    pub fn measured(&self) -> Vec<CellComponent> {
        let mut found: Vec<Option<CellComponent>> = vec![None; self.count];
        for (n, chunk) in self.chunks.iter().enumerate() {
            for row in 0..chunk.begins.len() - 1 {
                let j = row % self.rows;
                let k = n * HEIGHT + row / self.rows;
                for run in chunk.row(row) {
                    let start = run.start as usize;
                    let end = run.end as usize;
                    let part = CellComponent {
                        cells: (end - start) as u64,
                        first: [start, j, k],
                        reach: [[start, j, k], [end - 1, j, k]],
                    };
                    let all = &mut found[chunk.forest[run.label as usize] as usize];
                    all.get_or_insert(CellComponent { cells: 0, ..part })
                        .add(&part);
                }
            }
        }
        found
            .into_iter()
            .map(|found| found.expect("every label has a run"))
            .collect()
    }
}

impl CellComponent {
    fn add(&mut self, other: &Self) {
        self.cells += other.cells;
        for a in 0..3 {
            self.reach[0][a] = self.reach[0][a].min(other.reach[0][a]);
            self.reach[1][a] = self.reach[1][a].max(other.reach[1][a]);
        }
    }

    /// Returns the length of the bounding box along its longest axis, in cells.
    pub fn length(&self) -> usize {
        let [low, high] = self.reach;
        (0..3).map(|a| high[a] + 1 - low[a]).fold(0, usize::max)
    }
}

impl Chunk {
    fn row(&self, row: usize) -> &[CellRun] {
        &self.runs[self.begins[row] as usize..self.begins[row + 1] as usize]
    }

    /// Adds the next row, which is row `j` of a layer with `rows` rows.
    fn add(&mut self, words: impl Iterator<Item = (usize, u64)>, j: usize, rows: usize) {
        let row = self.begins.len() - 1;
        let first = self.runs.len();
        self.note(words);
        if self.runs.len() > first {
            if j > 0 {
                self.meet(row - 1, first);
            }
            if let Some(below) = row.checked_sub(rows) {
                for other in below - usize::from(j > 0)..=below + usize::from(j + 1 < rows) {
                    self.meet(other, first);
                }
            }
            for run in &mut self.runs[first..] {
                if run.label == FREE {
                    run.label = self.forest.len() as u32;
                    self.forest.push(run.label);
                }
            }
        }
        self.begins.push(self.runs.len() as u32);
    }

    /// Appends the runs of a row, without labels.
    fn note(&mut self, words: impl Iterator<Item = (usize, u64)>) {
        let first = self.runs.len();
        for (n, mut word) in words.filter(|(_, word)| *word != 0) {
            let mut at = 64 * n as u32;
            while word != 0 {
                let gap = word.trailing_zeros();
                let length = (word >> gap).trailing_ones();
                let start = at + gap;
                let end = at + gap + length;
                match self.runs[first..].last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => self.runs.push(CellRun {
                        start,
                        end,
                        label: FREE,
                    }),
                }
                let taken = gap + length;
                if taken >= 64 {
                    break;
                }
                word >>= taken;
                at += taken;
            }
        }
    }

    /// Joins the runs from index `first` on with the overlapping or touching runs of another row.
    #[inline]
    fn meet(&mut self, row: usize, first: usize) {
        let (before, new) = self.runs.split_at_mut(first);
        let mut others = &before[self.begins[row] as usize..self.begins[row + 1] as usize];
        for run in new {
            while let [other, rest @ ..] = others
                && other.end < run.start
            {
                others = rest;
            }
            for other in others.iter().take_while(|other| other.start <= run.end) {
                if run.label == FREE {
                    run.label = other.label;
                } else if run.label != other.label {
                    forest::join(&mut self.forest, run.label, other.label);
                }
            }
        }
    }
}

/// Label of a run that has no component yet.
const FREE: u32 = u32::MAX;

/// Joins the components of adjacent chunks and replaces the forests by final labels. Returns the number of
/// components.
fn joined(chunks: &mut [Chunk], rows: usize) -> usize {
    let mut bases = vec![];
    let mut forest: Vec<u32> = vec![];
    for chunk in &*chunks {
        let base = forest.len() as u32;
        bases.push(base);
        forest.extend(chunk.forest.iter().map(|parent| base + parent));
    }
    for n in 1..chunks.len() {
        let below = &chunks[n - 1];
        let above = &chunks[n];
        let top = below.begins.len() - 1 - rows;
        for j in 0..rows {
            for other in j.saturating_sub(1)..rows.min(j + 2) {
                let others = below.row(top + other);
                let mut from = 0;
                for run in above.row(j) {
                    while from < others.len() && others[from].end < run.start {
                        from += 1;
                    }
                    for other in others[from..]
                        .iter()
                        .take_while(|other| other.start <= run.end)
                    {
                        forest::join(
                            &mut forest,
                            bases[n] + run.label,
                            bases[n - 1] + other.label,
                        );
                    }
                }
            }
        }
    }
    // A parent precedes its children, so its label is already final.
    let mut count = 0;
    for n in 0..forest.len() {
        let parent = forest[n] as usize;
        forest[n] = if parent == n { count } else { forest[parent] };
        count += u32::from(parent == n);
    }
    for (chunk, base) in chunks.iter_mut().zip(bases) {
        let length = chunk.forest.len();
        chunk
            .forest
            .copy_from_slice(&forest[base as usize..][..length]);
    }
    count as usize
}

/// Dilation of a grid: its occupied cells and their 26 neighbours.
pub struct Dilation<'a> {
    grid: &'a BitGrid,
    /// Union of a layer and its two adjacent layers, with an empty row before and after it.
    flat: Vec<u64>,
    /// Union of a row and its two adjacent rows, with an empty word before and after it.
    row: Vec<u64>,
}

impl<'a> Dilation<'a> {
    /// Prepares the dilation of `grid`.
    pub fn of(grid: &'a BitGrid) -> Self {
        let words = grid.row_words();
        let [_, rows, _] = grid.dims();
        Self {
            grid,
            flat: vec![0; words * (rows + 2)],
            row: vec![0; words + 2],
        }
    }

    /// Writes layer `k` of the dilation to `wide`.
    pub fn layer(&mut self, k: usize, wide: &mut [u64]) {
        let [nx, _, nz] = self.grid.dims();
        let words = self.grid.row_words();
        let flat = &mut self.flat[words..][..wide.len()];
        flat.copy_from_slice(self.grid.layer(k));
        for k in [k.checked_sub(1), Some(k + 1).filter(|k| *k < nz)]
            .into_iter()
            .flatten()
        {
            flat.iter_mut()
                .zip(self.grid.layer(k))
                .for_each(|(flat, word)| *flat |= word);
        }
        let last = !0 >> (63 - (nx - 1) % 64);
        for (j, wide) in wide.chunks_exact_mut(words).enumerate() {
            let [below, here, above] = [0, 1, 2].map(|n| &self.flat[(j + n) * words..][..words]);
            for (word, ((below, here), above)) in self.row[1..=words]
                .iter_mut()
                .zip(below.iter().zip(here).zip(above))
            {
                *word = below | here | above;
            }
            for (wide, near) in wide.iter_mut().zip(self.row.windows(3)) {
                *wide = near[1] | near[1] << 1 | near[1] >> 1 | near[0] >> 63 | near[2] << 63;
            }
            wide[words - 1] &= last;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Random;

    /// Finds the components by visiting cells one by one, in the order of their first cells.
    fn slowly(grid: &BitGrid) -> Vec<CellComponent> {
        let order = |[i, j, k]: [usize; 3]| [k, j, i];
        let mut left: BTreeSet<[usize; 3]> = grid.iter().map(order).collect();
        let mut found = vec![];
        while let Some(first) = left.pop_first() {
            let one = |[k, j, i]: [usize; 3]| {
                let cell = [i, j, k];
                CellComponent {
                    cells: 1,
                    first: cell,
                    reach: [cell; 2],
                }
            };
            let mut all = one(first);
            let mut waiting = vec![first];
            while let Some(cell) = waiting.pop() {
                for n in 0..27 {
                    let step = [n % 3, n / 3 % 3, n / 9];
                    let near = [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(1));
                    if left.remove(&near) {
                        all.add(&one(near));
                        waiting.push(near);
                    }
                }
            }
            found.push(all);
        }
        found
    }

    fn scattered(dims: [usize; 3], tenths: u64, random: &mut Random) -> BitGrid {
        let mut grid = BitGrid::new(dims).unwrap();
        for n in 0..dims[0] * dims[1] * dims[2] {
            if random.below(30) < tenths {
                grid.set([n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]]);
            }
        }
        grid
    }

    #[test]
    fn components_match_a_search_through_touching_cells() {
        let mut random = Random::new(7);
        let mut seen = [0; 2];
        for dims in [
            [1, 1, 1],
            [9, 1, 6],
            [1, 7, 7],
            [65, 7, 8],
            [130, 5, 70],
            [14, 15, 97],
        ] {
            for part in [0, 1, 2, 3, 5, 9, 30] {
                let grid = scattered(dims, part, &mut random);
                let wanted = slowly(&grid);
                for threads in [1, 3] {
                    let found = par::with_threads(threads, || CellComponents::of(&grid)).unwrap();
                    assert_eq!(found.measured(), wanted, "{dims:?}, {part}");
                    for (n, one) in wanted.iter().enumerate() {
                        assert_eq!(found.at(one.first), Some(n));
                    }
                    seen[0] += found.count();
                }
                let mut wide = BitGrid::new(dims).unwrap();
                let mut dilation = Dilation::of(&grid);
                let layer = wide.layer_words();
                let layers = wide.words_mut().chunks_mut(layer).enumerate();
                layers.for_each(|(k, wide)| dilation.layer(k, wide));
                for n in 0..dims[0] * dims[1] * dims[2] {
                    let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
                    let low = cell.map(|c| c.saturating_sub(1));
                    let high = [0, 1, 2].map(|a| (cell[a] + 1).min(dims[a] - 1));
                    let cells = (low[2]..=high[2]).flat_map(|k| {
                        (low[1]..=high[1])
                            .flat_map(move |j| (low[0]..=high[0]).map(move |i| [i, j, k]))
                    });
                    let any = cells.into_iter().any(|cell| grid.get(cell));
                    assert_eq!(wide.get(cell), any, "{dims:?}, {part}, {cell:?}");
                    seen[1] += usize::from(any);
                }
            }
        }
        assert!(seen[0] > 2000 && seen[1] > 10_000, "{seen:?}");
    }

    #[test]
    fn rows_give_their_runs_with_labels() {
        let grid = BitGrid::from_text("##.##\n.....\n#...#").unwrap();
        let found = CellComponents::of(&grid);
        let run = |start, end, label| CellRun { start, end, label };
        assert_eq!(
            found.row(0, 0).collect::<Vec<_>>(),
            [run(0, 1, 0), run(4, 5, 1)]
        );
        assert_eq!(
            found.row(2, 0).collect::<Vec<_>>(),
            [run(0, 2, 2), run(3, 5, 3)]
        );
        assert_eq!((found.at([2, 2, 0]), found.count()), (None, 4));
    }
}
