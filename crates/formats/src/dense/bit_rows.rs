//! Rows of cells as bits. Each row is filled up to whole bytes. In NumPy, `numpy.unpackbits(a, axis=0,
//! count=nx, bitorder="little")` unpacks an array `a[x/8, y, z]` of u8 in which x varies fastest.

use std::io::{self, Read, Write};

use super::read::{each_block, each_column, whole_rows};
use super::{BLOCK, Order};
use crate::room::CellRoom;
use crate::steps::{cancelled, next};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, CellSource};
use voxelize_core::par::Progress;

/// Returns the shape of the byte array for cells of these dims.
pub(crate) fn shape([nx, ny, nz]: [usize; 3]) -> [usize; 3] {
    [nx.div_ceil(8), ny, nz]
}

/// Writes one bit per cell. The first cell of a row is the lowest bit of the row's first byte. Blocks do not
/// end at the end of a slab, so that a compressor behind `out` gets the same pieces however the grid is
/// divided into slabs.
pub(crate) fn write_bit_rows(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> io::Result<()> {
    let dims = source.dims();
    let [width, ny, nz] = shape(dims);
    let row_words = dims[0].div_ceil(64);
    progress.begin(
        "write",
        (width as u64)
            .saturating_mul(ny as u64)
            .saturating_mul(nz as u64),
    );
    let full = (BLOCK / width * width).max(width);
    let mut block = Vec::with_capacity(full + 8);
    while let Some(slab) = next(source)? {
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        for row in bits.words().chunks_exact(row_words) {
            let start = block.len();
            block.extend(row.iter().flat_map(|word| word.to_le_bytes()));
            block.truncate(start + width);
            if block.len() >= full {
                put(out, &mut block, progress)?;
            }
        }
    }
    put(out, &mut block, progress)
}

fn put(out: &mut dyn Write, block: &mut Vec<u8>, progress: &dyn Progress) -> io::Result<()> {
    cancelled(progress)?;
    out.write_all(block)?;
    progress.advance(block.len() as u64);
    block.clear();
    Ok(())
}

/// Reads the bits of a grid with the given dims. A set bit beyond the end of a row is an error.
pub(crate) fn read_bit_rows(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    room: CellRoom,
) -> Result<BitGrid> {
    let mut bits = room.bits(dims)?;
    let [width, ny, _] = shape(dims);
    let row_words = bits.row_words();
    match order {
        Order::XFastest => each_block(input, shape(dims), 1, |first, bytes| {
            let words = bits.words_mut()[first * row_words..].chunks_exact_mut(row_words);
            for (words, bytes) in words.zip(bytes.chunks_exact(width)) {
                gather_row(words, bytes);
            }
            Ok(())
        })?,
        Order::ZFastest => each_column(input, shape(dims), 1, |byte, j, column| {
            for (k, value) in column.iter().enumerate().filter(|(_, value)| **value != 0) {
                let word = (k * ny + j) * row_words + byte / 8;
                bits.words_mut()[word] |= u64::from(*value) << (byte % 8 * 8);
            }
        })?,
    }
    whole_rows(bits)
}

/// Stores the bytes of a row in words. A word that stays zero is not written, so that its memory page is
/// never allocated.
fn gather_row(words: &mut [u64], bytes: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        if whole != [0; 8] {
            *word = u64::from_le_bytes(whole);
        }
    }
}
