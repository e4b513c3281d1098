//! Cells of bits as bytes 0 and 1, deflated without making the bytes: runs of cells are found in the words of the grid and
//! written as what repeats, so that empty space costs almost nothing.
//!
//! Blocks of rows are packed side by side and joined bit by bit. Each begins with a run of its own, so that the bytes are
//! the same for any slabs and any number of threads.

mod bit_string;
mod code;
mod sum;

use std::io::{self, Write};
use std::ops::Range;

use self::bit_string::BitString;
use self::code::RunCode;
use self::sum::SumTables;
use super::save::{cancelled, next};
use super::{Dtype, SaveOptions};
use crate::grid::{BitGrid, CellSource, CellType};
use crate::par::{self, Progress};

/// The cells of a block of rows, about.
const BLOCK: usize = 1 << 19;

/// The cells of blocks that are packed side by side, about: with two bits for each, the most, 2 MiB.
const AT_ONCE: usize = 8 << 20;

/// What a container says of bytes that are deflated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainBytes {
    /// Their CRC-32.
    pub sum: u32,
    pub count: u64,
}

/// Whether cells are written as bytes 0 and 1 of what is occupied.
pub(super) fn are_written(cells: CellType, dtype: Dtype, options: &SaveOptions) -> bool {
    let is_plain = match cells {
        CellType::Bits => matches!(dtype, Dtype::Bool | Dtype::U8),
        CellType::Labels(_) => dtype == Dtype::Bool,
        CellType::Field { .. } => false,
    };
    is_plain && options.values.is_empty()
}

/// Writes a deflated stream of `head` and all cells, x fastest.
pub(super) fn write(
    source: &mut dyn CellSource,
    head: &[u8],
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> io::Result<PlainBytes> {
    let [nx, ny, nz] = source.dims();
    let count = (nx as u64).saturating_mul(ny as u64).saturating_mul(nz as u64);
    progress.begin("write", count);
    let rows = (BLOCK / nx).clamp(1, ny);
    let packer = RowPacker { code: RunCode::new(), sums: SumTables::new(nx * rows + 64), nx };
    let mut sum = packer.sums.of_bytes(!0, head);
    for bytes in head.chunks(u16::MAX.into()) {
        let length = bytes.len() as u16;
        // A block that is stored and not the last.
        out.write_all(&[&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes(), bytes].concat())?;
    }
    let mut bits = BitString::default();
    packer.code.begin(&mut bits);
    let mut bytes = vec![];
    while let Some(slab) = next(source)? {
        let cells = slab.cells.occupied().map_err(io::Error::other)?;
        let layers = 0..cells.dims()[2];
        let blocks: Vec<_> =
            layers.flat_map(|k| (0..ny).step_by(rows).map(move |j| (k, j..ny.min(j + rows)))).collect();
        for blocks in blocks.chunks((AT_ONCE / (nx * rows)).max(1)) {
            cancelled(progress)?;
            let packed = par::map_range(0..blocks.len(), |n| packer.pack(cells, &blocks[n]));
            for ((_, rows), (packed, sum_of_block)) in blocks.iter().zip(packed) {
                bits.append(&packed);
                sum = packer.sums.after_zeros(sum, nx * rows.len()) ^ sum_of_block;
                progress.advance((nx * rows.len()) as u64);
            }
            bytes.clear();
            bits.take_words(&mut bytes);
            out.write_all(&bytes)?;
        }
    }
    packer.code.end(&mut bits);
    bytes.clear();
    bits.finish(&mut bytes);
    out.write_all(&bytes)?;
    Ok(PlainBytes { sum: !sum, count: head.len() as u64 + count })
}

/// What rows are packed with.
struct RowPacker {
    code: RunCode,
    sums: SumTables,
    nx: usize,
}

impl RowPacker {
    /// The code of rows of a layer, and their sum, which begins with zero.
    fn pack(&self, bits: &BitGrid, (k, rows): &(usize, Range<usize>)) -> (BitString, u32) {
        let width = bits.row_words();
        let mut block = PackedRows { packer: self, bits: BitString::default(), run: 0..0, sum: 0, summed: 0 };
        match bits.noted(*k) {
            Some(noted) => {
                let start = noted.partition_point(|(place, _)| *place < rows.start * width);
                let (mut row, mut at) = (rows.start * width, 0);
                for &(place, word) in noted[start..].iter().take_while(|(place, _)| *place < rows.end * width)
                {
                    while place >= row + width {
                        (row, at) = (row + width, at + self.nx);
                    }
                    block.push(at, place - row, word);
                }
            }
            None => {
                for (n, j) in rows.clone().enumerate() {
                    let words = bits.row(j, *k).iter().enumerate().filter(|(_, word)| **word != 0);
                    words.for_each(|(place, word)| block.push(n * self.nx, place, *word));
                }
            }
        }
        block.finish(self.nx * rows.len())
    }
}

/// Rows on their way.
struct PackedRows<'a> {
    packer: &'a RowPacker,
    bits: BitString,
    /// The last run of occupied cells, whose code is still to come.
    run: Range<usize>,
    /// The sum of the first so many cells.
    sum: u32,
    summed: usize,
}

impl PackedRows<'_> {
    /// Takes word `place`, which is not zero, of the row that begins at cell `row`.
    #[inline]
    fn push(&mut self, row: usize, place: usize, word: u64) {
        let first = row + 64 * place;
        let count = (self.packer.nx - 64 * place).min(64);
        self.sum = self.packer.sums.after_zeros(self.sum, first + count - self.summed)
            ^ self.packer.sums.of_word(word << (64 - count));
        self.summed = first + count;
        let (mut rest, mut at) = (word, first);
        while rest != 0 {
            let empty = rest.trailing_zeros();
            // The highest bits become empty, so that a run ends with the word.
            let occupied = (rest >> empty).trailing_ones();
            at += empty as usize;
            self.occupy(at..at + occupied as usize);
            at += occupied as usize;
            rest = rest.checked_shr(empty + occupied).unwrap_or(0);
        }
    }

    fn occupy(&mut self, run: Range<usize>) {
        if run.start == self.run.end {
            self.run.end = run.end;
            return;
        }
        self.end_run(run.start);
        self.run = run;
    }

    /// Adds the code of the run, and of empty cells up to `end`.
    fn end_run(&mut self, end: usize) {
        self.packer.code.push_run(&mut self.bits, 1, self.run.len());
        self.packer.code.push_run(&mut self.bits, 0, end - self.run.end);
    }

    fn finish(mut self, count: usize) -> (BitString, u32) {
        self.end_run(count);
        (self.bits, self.packer.sums.after_zeros(self.sum, count - self.summed))
    }
}
