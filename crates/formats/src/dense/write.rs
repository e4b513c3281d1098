//! Writing arrays of cells.

use std::io::{self, Write};

use super::BLOCK;
use crate::steps::{cancelled, next};
use crate::{Dtype, shares};
use voxelize_core::error::Error;
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::spread::spread_row;
use voxelize_core::grid::{BitGrid, CellSource, CellsRef};
use voxelize_core::par::Progress;

/// Writes an array of cells in which x varies fastest.
pub(crate) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    dtype: Dtype,
    progress: &dyn Progress,
) -> io::Result<()> {
    match dtype {
        Dtype::U8 if shares::are_bytes(source.cell_type(), dtype) => {
            write_field(source, out, progress, |share| [shares::byte(share)])
        }
        Dtype::Bool | Dtype::U8 | Dtype::I8 => write_bytes(source, out, dtype, progress),
        Dtype::Bit => write_words(source, out, progress),
        // Every NaN gets the same bytes, so that equal fields make equal files.
        Dtype::F32 => write_field(source, out, progress, |value| {
            canonical(value).to_le_bytes()
        }),
    }
}

/// Writes one byte per cell, x fastest. Empty cells are 0. Occupied cells are 1 if they are bits or if
/// `dtype` is `bool`, otherwise their label. A single thread writes 15 GB/s, several times the speed of a
/// disk; a second thread gained nothing. Blocks do not end at the end of a slab, so that a compressor behind
/// `out` makes the same bytes however the grid is divided into slabs.
fn write_bytes(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    dtype: Dtype,
    progress: &dyn Progress,
) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    let row_words = nx.div_ceil(64);
    let per_block = (BLOCK / nx).max(1);
    progress.begin(
        "write",
        (nx as u64)
            .saturating_mul(ny as u64)
            .saturating_mul(nz as u64),
    );
    let mut block = vec![0; per_block * nx];
    let mut spread = SpreadRows::new(per_block);
    let mut filled = 0;
    while let Some(slab) = next(source)? {
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        let mut row = 0;
        let all = bits.words().len() / row_words;
        while row < all {
            let rows = ((block.len() - filled) / nx).min(all - row);
            let cells = &mut block[filled..filled + rows * nx];
            match slab.cells {
                CellsRef::Labels(labels) if dtype != Dtype::Bool => {
                    for (n, cells) in cells.chunks_exact_mut(nx).enumerate() {
                        labels.row((row + n) % ny, (row + n) / ny, cells);
                    }
                }
                _ => {
                    for (n, cells) in cells.chunks_exact_mut(nx).enumerate() {
                        let place = [(row + n) % ny, (row + n) / ny];
                        spread.take(filled / nx + n, bits, place, cells);
                    }
                }
            }
            (row, filled) = (row + rows, filled + rows * nx);
            if filled == block.len() {
                cancelled(progress)?;
                out.write_all(&block)?;
                progress.advance(filled as u64);
                filled = 0;
            }
        }
    }
    cancelled(progress)?;
    out.write_all(&block[..filled])?;
    progress.advance(filled as u64);
    Ok(())
}

/// Positions of the nonzero words in each row of a block. Only these words are cleared before the next block.
struct SpreadRows {
    /// Indices of the nonzero words of each row. `None` if they are not known.
    rows: Vec<Option<Vec<usize>>>,
    /// Number of nonzero words of the current layer that have been written to rows.
    taken: usize,
}

impl SpreadRows {
    /// Creates rows of zeros.
    fn new(rows: usize) -> Self {
        Self {
            rows: vec![Some(vec![]); rows],
            taken: 0,
        }
    }

    /// Writes row `(j, k)` of a grid to `cells`, which is row `n` of the block. The caller must pass all rows
    /// of a layer in order.
    fn take(&mut self, n: usize, bits: &BitGrid, [j, k]: [usize; 2], cells: &mut [u8]) {
        let Some(noted) = bits.noted(k) else {
            self.rows[n] = None;
            return spread_row(bits.row(j, k), cells);
        };
        let mut put = |place: usize, word: u64| {
            let cells = &mut cells[64 * place..];
            let count = cells.len().min(64);
            spread_row(&[word], &mut cells[..count]);
        };
        let row_words = bits.row_words();
        match &mut self.rows[n] {
            Some(places) => places.drain(..).for_each(|place| put(place, 0)),
            None => (0..row_words).for_each(|place| put(place, 0)),
        }
        if j == 0 {
            self.taken = 0;
        }
        let places = self.rows[n].get_or_insert_default();
        for (place, word) in noted[self.taken..]
            .iter()
            .take_while(|(place, _)| *place < (j + 1) * row_words)
        {
            put(place - j * row_words, *word);
            places.push(place - j * row_words);
        }
        self.taken += places.len();
    }
}

/// Writes the words of the occupied cells, little-endian. Each cell is one bit, and each row is filled up to
/// a multiple of 64 bits.
fn write_words(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> io::Result<()> {
    progress.begin(
        "write",
        u64::try_from(BitGrid::bytes_for(source.dims())).unwrap_or(u64::MAX),
    );
    let mut buffer = Vec::with_capacity(BLOCK);
    while let Some(slab) = next(source)? {
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        for words in bits.words().chunks(BLOCK / 8) {
            cancelled(progress)?;
            buffer.clear();
            buffer.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            out.write_all(&buffer)?;
            progress.advance(buffer.len() as u64);
        }
    }
    Ok(())
}

/// Writes the value of each cell, x fastest. `bytes` converts a value to its bytes.
fn write_field<const N: usize>(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    progress: &dyn Progress,
    bytes: impl Fn(f32) -> [u8; N],
) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    progress.begin(
        "write",
        ((N * nx) as u64)
            .saturating_mul(ny as u64)
            .saturating_mul(nz as u64),
    );
    let mut block = Vec::with_capacity(BLOCK);
    while let Some(slab) = next(source)? {
        let CellsRef::Field(field) = slab.cells else {
            return Err(io::Error::other(Error::usage(
                "only a field is written as values",
            )));
        };
        let mut values = field.values();
        while !values.is_empty() {
            let (these, rest) = values.split_at(((BLOCK - block.len()) / N).min(values.len()));
            block.extend(these.iter().flat_map(|value| bytes(*value)));
            values = rest;
            if block.len() == BLOCK {
                cancelled(progress)?;
                out.write_all(&block)?;
                progress.advance(BLOCK as u64);
                block.clear();
            }
        }
    }
    cancelled(progress)?;
    out.write_all(&block)?;
    progress.advance(block.len() as u64);
    Ok(())
}
