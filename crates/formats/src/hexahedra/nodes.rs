//! Converts cells to hexahedra, layer by layer, and numbers their nodes.
//!
//! Nodes are numbered from 0, in the order in which layers of cells need them. Each layer first numbers the
//! nodes on its lower walls that the layer below did not use, then all nodes on its upper walls. Within each
//! group x varies fastest, then y. So the data kept for a layer are one bit for each node that the layer
//! below used, and the number of the first node in each row.

use std::io;

use crate::steps::{cancelled, next};
use crate::{Dtype, SaveOptions};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::{CellSource, CellsRef};

/// Receiver of nodes and hexahedra. It receives the nodes of a hexahedron before the hexahedron.
pub(super) trait HexahedronSink {
    /// Adds the next node. `walls` are its wall indices along x, y and z.
    fn node(&mut self, walls: [usize; 3]) -> io::Result<()>;

    /// Adds the next cell with its nodes and its value. The value is 1, the label, or the bits of a float.
    fn hexahedron(&mut self, cell: [usize; 3], nodes: &[u64; 8], value: u32) -> io::Result<()>;
}

/// Passes the cells of a source and their nodes to `sink`.
pub(super) fn hexahedra(
    source: &mut dyn CellSource,
    dtype: Dtype,
    options: &SaveOptions,
    sink: &mut dyn HexahedronSink,
) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    options.progress.begin("write", nz as u64);
    let mut nodes = NodeNumbers::new(nx, ny);
    let mut labels = vec![0; nx];
    while let Some(slab) = next(source)? {
        for layer in 0..slab.cells.dims()[2] {
            cancelled(options.progress)?;
            let k = slab.first + layer;
            nodes.add_layer(slab.cells, layer, k, sink)?;
            for j in 0..ny {
                let mut cells = slab.cells.occupied_in(j, layer).peekable();
                if cells.peek().is_none() {
                    continue;
                }
                if let (CellsRef::Labels(all), Dtype::U8) = (slab.cells, dtype) {
                    all.row(j, layer, &mut labels);
                }
                nodes.find_rows(j);
                for i in cells {
                    let value = match slab.cells {
                        CellsRef::Labels(_) if dtype == Dtype::U8 => labels[i].into(),
                        CellsRef::Field(field) => canonical(field.row(j, layer)[i]),
                        _ => 1,
                    };
                    sink.hexahedron([i, j, k], &nodes.of(i), value)?;
                }
            }
            options.progress.advance(1);
        }
    }
    Ok(())
}

/// Numbers of the nodes on the lower and upper walls of a layer of cells.
struct NodeNumbers {
    /// Number of rows of nodes.
    rows: usize,
    /// Number of words in a row of nodes. A row has one more node than cells.
    row_words: usize,
    /// Nodes on the lower walls that cells of the layer below use, as bits.
    below: Vec<u64>,
    /// Nodes on the lower walls that cells of this layer use, as bits. The nodes used on the upper walls have
    /// the same positions.
    here: Vec<u64>,
    /// Number of the first node in each row.
    first: FirstNumbers,
    /// Number of nodes that are numbered so far.
    count: u64,
    /// Node numbers of the two rows of nodes on both sides of the current row of cells.
    along: [NumberedRow; 2],
    /// Index of the current row of cells. `None` before the first one.
    at: Option<usize>,
}

/// Number of the first node in each row, for three groups of nodes.
struct FirstNumbers {
    /// Nodes on the lower walls that the layer below uses.
    below: Vec<u64>,
    /// Nodes on the lower walls that only this layer uses.
    new: Vec<u64>,
    /// Nodes on the upper walls.
    above: Vec<u64>,
}

/// Node numbers in a row of nodes, on the lower and on the upper walls. They are valid only for nodes that
/// this layer uses.
#[derive(Clone)]
struct NumberedRow {
    lower: Vec<u64>,
    upper: Vec<u64>,
}

impl NodeNumbers {
    fn new(nx: usize, ny: usize) -> Self {
        let rows = ny + 1;
        let row_words = (nx + 1).div_ceil(64);
        let words = vec![0; rows * row_words];
        let first = vec![0; rows];
        let row = NumberedRow {
            lower: vec![0; nx + 1],
            upper: vec![0; nx + 1],
        };
        Self {
            rows,
            row_words,
            below: words.clone(),
            here: words,
            first: FirstNumbers {
                below: first.clone(),
                new: first.clone(),
                above: first,
            },
            count: 0,
            along: [row.clone(), row],
            at: None,
        }
    }

    /// Numbers the nodes of layer `k` that have no number yet. The cells of this layer are layer `layer` of
    /// `cells`.
    fn add_layer(
        &mut self,
        cells: CellsRef,
        layer: usize,
        k: usize,
        sink: &mut dyn HexahedronSink,
    ) -> io::Result<()> {
        std::mem::swap(&mut self.below, &mut self.here);
        std::mem::swap(&mut self.first.below, &mut self.first.above);
        self.at = None;
        for (row, words) in self.here.chunks_exact_mut(self.row_words).enumerate() {
            touch(cells, row, layer, words);
        }
        let (here, below) = (&self.here, &self.below);
        for (walls, first, is_new) in [
            (k, &mut self.first.new, true),
            (k + 1, &mut self.first.above, false),
        ] {
            for (row, first) in first.iter_mut().enumerate() {
                *first = self.count;
                for n in 0..self.row_words {
                    let place = row * self.row_words + n;
                    let old = if is_new { below[place] } else { 0 };
                    for bit in bits_of(here[place] & !old) {
                        sink.node([64 * n + bit, row, walls])?;
                        self.count += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds the node numbers on both sides of row `j` of cells.
    fn find_rows(&mut self, j: usize) {
        debug_assert!(j + 1 < self.rows);
        if j > 0 && self.at == Some(j - 1) {
            self.along.swap(0, 1);
        } else {
            self.find_row(0, j);
        }
        self.find_row(1, j + 1);
        self.at = Some(j);
    }

    fn find_row(&mut self, side: usize, row: usize) {
        let NumberedRow { lower, upper } = &mut self.along[side];
        let FirstNumbers { below, new, above } = &self.first;
        let [mut below, mut new, mut above] = [below[row], new[row], above[row]];
        for n in 0..self.row_words {
            let place = row * self.row_words + n;
            let (old, here) = (self.below[place], self.here[place]);
            for bit in bits_of(here) {
                let before = (1 << bit) - 1;
                let count = |word: u64| u64::from((word & before).count_ones());
                let is_old = old >> bit & 1 == 1;
                lower[64 * n + bit] = if is_old {
                    below + count(old)
                } else {
                    new + count(here & !old)
                };
                upper[64 * n + bit] = above + count(here);
            }
            let count = |word: u64| u64::from(word.count_ones());
            below += count(old);
            new += count(here & !old);
            above += count(here);
        }
    }

    /// Returns the numbers of the nodes of cell `i` in the current row.
    fn of(&self, i: usize) -> [u64; 8] {
        let [near, far] = &self.along;
        let around = |near: &[u64], far: &[u64]| [near[i], near[i + 1], far[i + 1], far[i]];
        let [lower, upper] = [
            around(&near.lower, &far.lower),
            around(&near.upper, &far.upper),
        ];
        std::array::from_fn(|n| if n < 4 { lower[n] } else { upper[n - 4] })
    }
}

/// Marks the nodes of `row` that are corners of occupied cells of `layer`. Each node is one bit of `nodes`.
fn touch(cells: CellsRef, row: usize, layer: usize, nodes: &mut [u64]) {
    let [nx, ny, _] = cells.dims();
    let mut carry = 0;
    for (n, nodes) in nodes.iter_mut().enumerate() {
        let is_there = 64 * n < nx;
        let before = if is_there && row > 0 {
            cells.word(row - 1, layer, n)
        } else {
            0
        };
        let after = if is_there && row < ny {
            cells.word(row, layer, n)
        } else {
            0
        };
        let both = before | after;
        *nodes = both | both << 1 | carry;
        carry = both >> 63;
    }
}
