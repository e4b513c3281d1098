//! Checks the connectivity of a grid while it is written slab by slab. Counts pieces, which are sets of cells
//! connected by faces, and the edges and vertices at which two cells touch without being connected by faces
//! there. At such points a finite element model falls apart or moves.

use super::bits::bits_of;
use super::{CellArray, CellSource, CellType, CellsRef, Digest, Lattice, Record, Slab};
use crate::error::Result;
use crate::geom::forest::{join, root};

/// Source that passes on the slabs of another source and counts their pieces.
pub struct CountedPieces<'a> {
    source: &'a mut dyn CellSource,
    /// Counts over the layers that were passed on.
    pub counts: PieceCounts,
    before: LayerRuns,
    /// Words of the previous layer, row by row.
    words: Vec<u64>,
}

/// Numbers of pieces of a grid, and of contacts only at an edge or a vertex.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PieceCounts {
    /// Number of pieces. Cells of different pieces do not share a face.
    pub pieces: u64,
    /// Total number of cells in all pieces.
    pub cells: u64,
    /// Number of cells in the largest piece.
    pub largest: u64,
    /// Number of edges for which only two diagonally opposite ones of the four cells around the edge are
    /// occupied.
    pub edges: u64,
    /// Number of vertices for which only two diagonally opposite ones of the eight cells around the vertex
    /// are occupied.
    pub vertices: u64,
}

/// Runs of occupied cells in a layer, in the order of rows, and the number of cells so far of each piece in
/// the layer.
#[derive(Default)]
struct LayerRuns {
    runs: Vec<PieceRun>,
    sizes: Vec<u64>,
}

/// Run of occupied cells along x, with the number of its piece.
#[derive(Clone, Copy)]
struct PieceRun {
    row: usize,
    start: usize,
    end: usize,
    piece: u32,
}

impl<'a> CountedPieces<'a> {
    /// Creates a source that counts the pieces of `source`.
    pub fn new(source: &'a mut dyn CellSource) -> Self {
        Self {
            source,
            counts: PieceCounts::default(),
            before: LayerRuns::default(),
            words: vec![],
        }
    }

    /// Returns the final counts. Must be called after the last slab.
    pub fn finish(mut self) -> PieceCounts {
        self.counts.end(&self.before.sizes);
        self.counts
    }
}

impl PieceCounts {
    /// Counts pieces of these sizes that are complete.
    fn end(&mut self, sizes: &[u64]) {
        for size in sizes {
            self.pieces += 1;
            self.cells += size;
            self.largest = self.largest.max(*size);
        }
    }

    /// Counts the edges and vertices between a layer and the layer below it, and the edges along z within the
    /// layer.
    fn touch(&mut self, below: &[u64], above: &[u64], row_words: usize) {
        let rows = above.len() / row_words;
        for row in 0..rows {
            let here = row * row_words..(row + 1) * row_words;
            let [a, b] = [&below[here.clone()], &above[here.clone()]];
            let next = (row + 1 < rows).then(|| here.end..here.end + row_words);
            for word in 0..row_words {
                let [a0, b0] = [a[word], b[word]];
                let [a1, b1] = [shifted(a, word), shifted(b, word)];
                // Counts edges along y, each between a cell, the next cell along x, and the two cells above
                // these.
                self.edges += diagonals(a0, a1, b0, b1);
                let Some(next) = next.clone() else { continue };
                let [c, d] = [&below[next.clone()], &above[next]];
                let [c0, d0, c1, d1] = [c[word], d[word], shifted(c, word), shifted(d, word)];
                self.edges += diagonals(a0, c0, b0, d0);
                self.edges += diagonals(b0, b1, d0, d1);
                let all = [a0, a1, c0, c1, b0, b1, d0, d1];
                for (one, opposite) in [(0, 7), (1, 6), (2, 5), (3, 4)] {
                    let others = (0..8).filter(|n| ![one, opposite].contains(n));
                    let others = others.fold(0, |others, n| others | all[n]);
                    self.vertices += u64::from((all[one] & all[opposite] & !others).count_ones());
                }
            }
        }
    }
}

/// Returns a word of a row shifted by one cell: bit `i` of the result is bit `i + 1` of the row from this
/// word on.
fn shifted(row: &[u64], word: usize) -> u64 {
    row[word] >> 1 | row.get(word + 1).map_or(0, |next| next << 63)
}

/// Counts the bits for which only two diagonally opposite ones of four cells are occupied.
fn diagonals(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let [one, other] = [a & d & !b & !c, b & c & !a & !d];
    u64::from(one.count_ones() + other.count_ones())
}

/// Appends the runs of occupied cells in a row.
fn runs_of(words: &[u64], row: usize, runs: &mut Vec<PieceRun>) {
    let mut last: Option<PieceRun> = None;
    for (n, word) in words.iter().enumerate() {
        for bit in bits_of(*word) {
            let cell = 64 * n + bit;
            match &mut last {
                Some(run) if run.end == cell => run.end += 1,
                _ => {
                    runs.extend(last.take());
                    last = Some(PieceRun {
                        row,
                        start: cell,
                        end: cell + 1,
                        piece: 0,
                    });
                }
            }
        }
    }
    runs.extend(last);
}

impl CountedPieces<'_> {
    /// Updates the counts for the next layer, which has the words `new`.
    fn add(
        counts: &mut PieceCounts,
        before: &mut LayerRuns,
        words: &mut Vec<u64>,
        new: &[u64],
        row_words: usize,
    ) {
        // All cells below the first layer are empty.
        if words.len() != new.len() {
            *words = vec![0; new.len()];
        }
        counts.touch(words, new, row_words);
        let mut runs = vec![];
        for (row, words) in new.chunks(row_words).enumerate() {
            runs_of(words, row, &mut runs);
        }
        // The forest has the pieces of the layer below, followed by the runs of this layer.
        let known = before.sizes.len();
        let mut forest: Vec<u32> = (0..(known + runs.len()) as u32).collect();
        for (n, run) in runs.iter_mut().enumerate() {
            run.piece = (known + n) as u32;
        }
        join_touching(&before.runs, &runs, 0, &mut forest);
        join_touching(&runs, &runs, 1, &mut forest);
        let mut sizes = vec![0; forest.len()];
        for (piece, size) in before.sizes.iter().enumerate() {
            sizes[root(&mut forest, piece as u32) as usize] += size;
        }
        let mut is_here = vec![false; forest.len()];
        for run in &mut runs {
            run.piece = root(&mut forest, run.piece);
            sizes[run.piece as usize] += (run.end - run.start) as u64;
            is_here[run.piece as usize] = true;
        }
        let mut numbers = vec![0; forest.len()];
        let mut kept = vec![];
        for piece in 0..forest.len() {
            if is_here[piece] {
                numbers[piece] = kept.len() as u32;
                kept.push(sizes[piece]);
            } else if sizes[piece] > 0 {
                counts.end(&[sizes[piece]]);
            }
        }
        for run in &mut runs {
            run.piece = numbers[run.piece as usize];
        }
        *before = LayerRuns { runs, sizes: kept };
        words.copy_from_slice(new);
    }
}

/// Joins the pieces of a run of `first` and a run of `second` if they overlap along x and the second run is
/// `step` rows further.
fn join_touching(first: &[PieceRun], second: &[PieceRun], step: usize, forest: &mut [u32]) {
    let mut from = 0;
    for run in first {
        while from < second.len()
            && (second[from].row, second[from].end) <= (run.row + step, run.start)
        {
            from += 1;
        }
        for other in &second[from..] {
            if other.row != run.row + step || other.start >= run.end {
                break;
            }
            join(forest, run.piece, other.piece);
        }
    }
}

impl CellSource for CountedPieces<'_> {
    fn dims(&self) -> [usize; 3] {
        self.source.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.source.lattice()
    }

    fn record(&self) -> &Record {
        self.source.record()
    }

    fn cell_type(&self) -> CellType<'_> {
        self.source.cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let Self {
            source,
            counts,
            before,
            words,
        } = self;
        let Some(slab) = source.next()? else {
            return Ok(None);
        };
        let occupied = match slab.cells {
            CellsRef::Bits(bits) => bits,
            CellsRef::Labels(labels) => labels.occupied(),
            CellsRef::Field(_) => return Ok(Some(slab)),
        };
        let row_words = occupied.row_words();
        for layer in occupied.words().chunks(occupied.layer_words()) {
            Self::add(counts, before, words, layer, row_words);
        }
        Ok(Some(slab))
    }

    fn digest(&self) -> Digest {
        self.source.digest()
    }

    fn arrays(&self) -> &[CellArray] {
        self.source.arrays()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{BitGrid, Cells, Digest, Lattice, Record};

    /// Source with a single slab.
    struct OneSlab {
        cells: Cells,
        record: Record,
        is_given: bool,
    }

    impl CellSource for OneSlab {
        fn dims(&self) -> [usize; 3] {
            self.cells.as_ref().dims()
        }

        fn lattice(&self) -> Option<&Lattice> {
            None
        }

        fn record(&self) -> &Record {
            &self.record
        }

        fn cell_type(&self) -> CellType<'_> {
            self.cells.as_ref().cell_type()
        }

        fn next(&mut self) -> Result<Option<Slab<'_>>> {
            if self.is_given {
                return Ok(None);
            }
            self.is_given = true;
            Ok(Some(Slab {
                first: 0,
                cells: self.cells.as_ref(),
            }))
        }

        fn digest(&self) -> Digest {
            unreachable!("no digest is needed")
        }
    }

    #[test]
    fn pieces_and_hinges_are_counted() {
        // Each case has the occupied cells, and the expected numbers of pieces, of cells in the largest
        // piece, of edges and of vertices.
        let cases: [(&[[usize; 3]], [u64; 4]); 8] = [
            (&[], [0, 0, 0, 0]),
            (&[[0, 0, 0]], [1, 1, 0, 0]),
            (&[[0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 0, 0]], [2, 3, 0, 0]),
            (&[[63, 1, 1], [64, 1, 2]], [2, 1, 1, 0]),
            (&[[63, 1, 1], [64, 2, 1]], [2, 1, 1, 0]),
            (&[[1, 1, 1], [1, 2, 2]], [2, 1, 1, 0]),
            (&[[63, 1, 1], [64, 2, 2]], [2, 1, 0, 1]),
            // A single piece that extends through three layers.
            (
                &[
                    [0, 0, 0],
                    [1, 0, 0],
                    [2, 0, 0],
                    [2, 0, 1],
                    [2, 0, 2],
                    [1, 0, 1],
                ],
                [1, 6, 0, 0],
            ),
        ];
        for (cells, [pieces, largest, edges, vertices]) in cases {
            let mut bits = BitGrid::new([70, 4, 4]).unwrap();
            for [x, y, z] in cells {
                let row = bits.row_words();
                let layer = bits.layer_words();
                bits.words_mut()[z * layer + y * row + x / 64] |= 1 << (x % 64);
            }
            let mut source = OneSlab {
                cells: bits.into(),
                record: Record::default(),
                is_given: false,
            };
            let mut counted = CountedPieces::new(&mut source);
            while counted.next().unwrap().is_some() {}
            let expected = PieceCounts {
                pieces,
                cells: cells.len() as u64,
                largest,
                edges,
                vertices,
            };
            assert_eq!(counted.finish(), expected, "{cells:?}");
        }
    }
}
