//! Connected components of cells, here called pieces: labelled on runs of rows, a layer at a time.

use std::ops::Range;

/// A run of cells of a row, as long as it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellRun {
    /// The row, `[j, k]`.
    pub row: [usize; 2],
    pub cells: Range<usize>,
}

/// What makes two cells neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// A face in common.
    Faces,
    /// A face, an edge or a corner.
    Corners,
}

/// A connected component of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// How many they are.
    pub cells: u64,
    /// The lowest and the highest of them along each axis.
    pub reach: [[usize; 3]; 2],
}

impl Piece {
    fn of(cell_run: &CellRun) -> Self {
        let ([j, k], Range { start, end }) = (cell_run.row, cell_run.cells.clone());
        Self { cells: (end - start) as u64, reach: [[start, j, k], [end - 1, j, k]] }
    }

    /// Makes it one with another.
    pub(super) fn add(&mut self, other: &Self) {
        self.cells += other.cells;
        for a in 0..3 {
            self.reach[0][a] = self.reach[0][a].min(other.reach[0][a]);
            self.reach[1][a] = self.reach[1][a].max(other.reach[1][a]);
        }
    }

    /// How many cells it is long, along the axis where it is longest.
    pub(super) fn length(&self) -> usize {
        let [low, high] = self.reach;
        (0..3).map(|a| high[a] + 1 - low[a]).fold(0, usize::max)
    }
}

/// Connects runs that come layer by layer, row by row. `done` gets every piece when no more runs can
/// join it. Two layers are in memory.
pub(super) struct PieceBuilder<F> {
    touch: Touch,
    /// The runs of the layer that comes and of the one below, each in order, with their numbers.
    layers: [Vec<(CellRun, usize)>; 2],
    /// By number: the one it is joined to, itself if it is the first of its piece.
    firsts: Vec<usize>,
    /// By number: the piece, if it is the first.
    pieces: Vec<Piece>,
    done: F,
}

impl<F: FnMut(Piece)> PieceBuilder<F> {
    pub(super) fn new(touch: Touch, done: F) -> Self {
        Self { touch, layers: [vec![], vec![]], firsts: vec![], pieces: vec![], done }
    }

    /// Adds a cell_run that is in order behind all others.
    pub(super) fn add(&mut self, cell_run: CellRun) {
        let [j, k] = cell_run.row;
        if self.layers[0].last().is_some_and(|(last, _)| last.row[1] != k) {
            self.turn();
        }
        let number = self.firsts.len();
        self.firsts.push(number);
        self.pieces.push(Piece::of(&cell_run));
        let (more, rows) = match self.touch {
            Touch::Faces => (0, 0),
            Touch::Corners => (1, 1),
        };
        // The row before it in its layer, and those below it.
        let before = j.checked_sub(1).map(|j| (0, [j, k]));
        let below = k.checked_sub(1).into_iter();
        let below = below.flat_map(|k| (j.saturating_sub(rows)..=j + rows).map(move |j| (1, [j, k])));
        for (layer, row) in before.into_iter().chain(below) {
            let from = self.layers[layer].partition_point(|(other, _)| other.row[0] < row[0]);
            for n in from..self.layers[layer].len() {
                let (other, its) = &self.layers[layer][n];
                if other.row != row {
                    break;
                }
                let [one, two] = [&other.cells, &cell_run.cells];
                if one.start < two.end + more && two.start < one.end + more {
                    let its = *its;
                    self.join(its, number);
                }
            }
        }
        self.layers[0].push((cell_run, number));
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (first(&mut self.firsts, a), first(&mut self.firsts, b));
        if a != b {
            let (low, high) = (a.min(b), a.max(b));
            self.firsts[high] = low;
            let more = self.pieces[high];
            self.pieces[low].add(&more);
        }
    }

    /// Turns to the next layer: pieces without a cell_run in the last one are done.
    fn turn(&mut self) {
        self.layers.swap(0, 1);
        self.layers[0].clear();
        let mut numbers = vec![None; self.firsts.len()];
        let mut pieces = vec![];
        for (_, number) in &mut self.layers[1] {
            let root = first(&mut self.firsts, *number);
            *number = *numbers[root].get_or_insert_with(|| {
                pieces.push(self.pieces[root]);
                pieces.len() - 1
            });
        }
        for (n, piece) in self.pieces.iter().enumerate() {
            if self.firsts[n] == n && numbers[n].is_none() {
                (self.done)(*piece);
            }
        }
        self.firsts = (0..pieces.len()).collect();
        self.pieces = pieces;
    }

    /// After the last cell_run: the pieces that are left are done, too.
    pub(super) fn finish(mut self) {
        for (n, piece) in self.pieces.iter().enumerate() {
            if self.firsts[n] == n {
                (self.done)(*piece);
            }
        }
    }
}

fn first(firsts: &mut [usize], mut n: usize) -> usize {
    while firsts[n] != n {
        firsts[n] = firsts[firsts[n]];
        n = firsts[n];
    }
    n
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// By spreading from cell to cell.
    fn slowly(cells: &BTreeSet<[usize; 3]>, touch: Touch) -> Vec<Piece> {
        let mut left = cells.clone();
        let mut pieces = vec![];
        while let Some(cell) = left.pop_first() {
            let one = |[i, j, k]: [usize; 3]| Piece::of(&CellRun { row: [j, k], cells: i..i + 1 });
            let mut piece = one(cell);
            let mut waiting = vec![cell];
            while let Some(cell) = waiting.pop() {
                for n in 0..27 {
                    let step = [n % 3, n / 3 % 3, n / 9];
                    if touch == Touch::Faces && step.iter().filter(|s| **s != 1).count() > 1 {
                        continue;
                    }
                    let near = [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(1));
                    if left.remove(&near) {
                        piece.add(&one(near));
                        waiting.push(near);
                    }
                }
            }
            pieces.push(piece);
        }
        pieces
    }

    #[test]
    fn pieces_are_connected_components() {
        let (mut state, mut seen) = (7_u64, [0, 0]);
        for dims in [[1, 1, 1], [9, 1, 6], [1, 7, 7], [6, 7, 8], [12, 5, 9], [14, 15, 16]] {
            for tenths in [0, 1, 2, 4, 7, 10] {
                let mut cells = BTreeSet::new();
                let mut runs: Vec<CellRun> = vec![];
                for n in 0..dims[0] * dims[1] * dims[2] {
                    let [i, j, k] = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if (state >> 33) % 10 < tenths {
                        cells.insert([i, j, k]);
                        match runs.last_mut() {
                            Some(last) if last.row == [j, k] && last.cells.end == i => last.cells.end += 1,
                            _ => runs.push(CellRun { row: [j, k], cells: i..i + 1 }),
                        }
                    }
                }
                for (n, touch) in [Touch::Faces, Touch::Corners].into_iter().enumerate() {
                    let mut found = vec![];
                    let mut pieces = PieceBuilder::new(touch, |piece| found.push(piece));
                    runs.iter().for_each(|cell_run| pieces.add(cell_run.clone()));
                    pieces.finish();
                    let mut wanted = slowly(&cells, touch);
                    let key = |piece: &Piece| (piece.reach, piece.cells);
                    found.sort_by_key(key);
                    wanted.sort_by_key(key);
                    assert_eq!(found, wanted, "{dims:?}, {tenths}, {touch:?}");
                    seen[n] += found.len();
                }
            }
        }
        assert!(seen[0] > 400 && seen[1] > 100 && seen[1] < seen[0], "{seen:?}");
    }
}
