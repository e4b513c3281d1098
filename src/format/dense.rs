//! Cells as bytes, x fastest: bits are spread and gathered a block of rows at a time.

use std::io::{self, Read, Write};

use super::Dtype;
use super::save::{cancelled, next};
use crate::grid::{BitGrid, Layers};
use crate::par::Progress;

/// Bytes that are spread at a time: fits the second-level cache, so that the write finds it there.
const BLOCK: usize = 256 << 10;

/// `SPREAD[b]`: byte `i` is bit `i` of `b`, lowest first.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let mut i = 0;
        while i < 8 {
            table[b] |= ((b >> i & 1) as u64) << (8 * i);
            i += 1;
        }
        b += 1;
    }
    table
};

/// What the byte of an occupied cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// 1.
    One,
    /// The number of its part, where a grid has parts; else 1.
    Part,
}

impl Values {
    /// Of cells that are stored as this type.
    pub fn of(dtype: Dtype) -> Self {
        if dtype == Dtype::U8 { Self::Part } else { Self::One }
    }
}

/// Writes one byte per cell, x fastest: 0, or as `values` says. On one thread: 15 GB/s, several times what a file
/// takes; a second thread gained nothing. Blocks go on from window to window, so that a compressor
/// behind `out` gets the same pieces and makes the same bytes.
pub(super) fn write_bytes(
    layers: &mut dyn Layers,
    out: &mut dyn Write,
    values: Values,
    progress: &dyn Progress,
) -> io::Result<()> {
    let [nx, ny, nz] = layers.dims();
    let (row_words, per_block) = (nx.div_ceil(64), (BLOCK / nx).max(1));
    progress.begin("write", (nx as u64).saturating_mul(ny as u64).saturating_mul(nz as u64));
    let (mut block, mut filled) = (vec![0; per_block * nx], 0);
    while let Some(window) = next(layers)? {
        let parts = if values == Values::Part { window.parts } else { &[] };
        let (mut row, all) = (0, window.bits.words().len() / row_words);
        while row < all {
            let rows = ((block.len() - filled) / nx).min(all - row);
            let words = row * row_words..(row + rows) * row_words;
            let cells = &mut block[filled..filled + rows * nx];
            if parts.is_empty() {
                each_row(&window.bits.words()[words], cells, nx, spread_row);
            } else {
                cells.fill(0);
                for part in parts {
                    let number = part.sort.number();
                    let number_row = |words: &[u64], cells: &mut [u8]| number_row(words, number, cells);
                    each_row(&part.cells.words()[words.clone()], cells, nx, number_row);
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

fn each_row(words: &[u64], cells: &mut [u8], nx: usize, f: impl Fn(&[u64], &mut [u8])) {
    for (words, cells) in words.chunks_exact(nx.div_ceil(64)).zip(cells.chunks_exact_mut(nx)) {
        f(words, cells);
    }
}

/// Gives `number` to the cells of a row that a part has.
fn number_row(words: &[u64], number: u8, cells: &mut [u8]) {
    for (word, cells) in words.iter().zip(cells.chunks_mut(64)).filter(|(word, _)| **word != 0) {
        let spread = word.to_le_bytes().map(|byte| SPREAD[usize::from(byte)].to_le_bytes());
        for (cell, is_there) in cells.iter_mut().zip(spread.as_flattened()) {
            *cell |= number * is_there;
        }
    }
}

fn spread_row(words: &[u64], cells: &mut [u8]) {
    for (word, cells) in words.iter().zip(cells.chunks_mut(64)) {
        let spread = word.to_le_bytes().map(|byte| SPREAD[usize::from(byte)].to_le_bytes());
        match cells.as_chunks_mut::<8>().0 {
            // The whole word; most words of a shell are zero.
            whole @ [_, _, _, _, _, _, _, _] if *word == 0 => whole.fill([0; 8]),
            whole @ [_, _, _, _, _, _, _, _] => whole.copy_from_slice(&spread),
            _ => cells.copy_from_slice(&spread.as_flattened()[..cells.len()]),
        }
    }
}

/// Writes the words of the grid, little-endian: one bit per cell, rows padded to 64.
pub(super) fn write_words(
    layers: &mut dyn Layers,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> io::Result<()> {
    progress.begin("write", u64::try_from(BitGrid::bytes_for(layers.dims())).unwrap_or(u64::MAX));
    let mut buffer = Vec::with_capacity(BLOCK);
    while let Some(window) = next(layers)? {
        for words in window.bits.words().chunks(BLOCK / 8) {
            cancelled(progress)?;
            buffer.clear();
            buffer.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            out.write_all(&buffer)?;
            progress.advance(buffer.len() as u64);
        }
    }
    Ok(())
}

/// Reads what [`write_bytes`] writes; any byte but 0 is an occupied cell.
pub(super) fn read_bytes(input: &mut dyn Read, bits: &mut BitGrid) -> io::Result<()> {
    let (nx, row_words) = (bits.dims()[0], bits.row_words());
    let per_block = (BLOCK / nx).max(1);
    let mut buffer = Vec::new();
    for words in bits.words_mut().chunks_mut(per_block * row_words) {
        buffer.resize(words.len() / row_words * nx, 0);
        input.read_exact(&mut buffer)?;
        for (words, cells) in words.chunks_exact_mut(row_words).zip(buffer.chunks_exact(nx)) {
            for (word, cells) in words.iter_mut().zip(cells.chunks(64)) {
                // Zero pages that stay zero are never touched.
                let gathered = gather(cells);
                if gathered != 0 {
                    *word = gathered;
                }
            }
        }
    }
    Ok(())
}

/// Reads one byte per cell, z fastest, then y: the C order of an array `a[x, y, z]`.
pub(super) fn read_bytes_z_fastest(input: &mut dyn Read, bits: &mut BitGrid) -> io::Result<()> {
    let [nx, ny, nz] = bits.dims();
    let mut column = vec![0; nz];
    for i in 0..nx {
        for j in 0..ny {
            input.read_exact(&mut column)?;
            for (n, cells) in column.chunks(64).enumerate() {
                for bit in crate::grid::bits::bits_of(gather(cells)) {
                    bits.set([i, j, 64 * n + bit]);
                }
            }
        }
    }
    Ok(())
}

/// Up to 64 cells as bits, the first lowest.
fn gather(cells: &[u8]) -> u64 {
    let (whole, rest) = cells.as_chunks::<8>();
    let mut word = 0;
    for (n, bytes) in whole.iter().enumerate() {
        let bytes = u64::from_le_bytes(*bytes);
        // The top bit of each byte that is not zero, then moved down to one byte by a product.
        let occupied = (((bytes & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f) | bytes) >> 7;
        let ones = occupied & 0x0101_0101_0101_0101;
        word |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * n);
    }
    for (n, byte) in rest.iter().enumerate() {
        word |= u64::from(*byte != 0) << (8 * whole.len() + n);
    }
    word
}

/// Reads what [`write_words`] writes. Bits beyond the end of a row are an error.
pub(super) fn read_words(input: &mut dyn Read, bits: &mut BitGrid) -> io::Result<()> {
    let (nx, row_words) = (bits.dims()[0], bits.row_words());
    let mut buffer = vec![0; BLOCK];
    for words in bits.words_mut().chunks_mut(BLOCK / 8) {
        let bytes = &mut buffer[..8 * words.len()];
        input.read_exact(bytes)?;
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    let unused = if nx % 64 == 0 { 0 } else { !0 << (nx % 64) };
    let last_words = bits.words().iter().skip(row_words - 1).step_by(row_words);
    if last_words.into_iter().any(|word| word & unused != 0) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "bits are set beyond the end of a row"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::parts::union;
    use crate::grid::{Part, Record, Sort, Voxels, Whole};

    #[test]
    fn bytes_and_bits_agree_for_every_length() {
        for n in 1..=130 {
            let mut bits = BitGrid::new([n, 2, 1]).unwrap();
            (0..n).filter(|i| i * i % 7 < 3).for_each(|i| bits.set([i, 1, 0]));
            let mut bytes = Vec::new();
            let voxels = Voxels { bits, lattice: None, record: Record::default() };
            write_bytes(&mut Whole::new(&voxels), &mut bytes, Values::Part, &()).unwrap();
            let bits = &voxels.bits;
            let expected: Vec<u8> = (0..2 * n).map(|c| u8::from(bits.get([c % n, c / n, 0]))).collect();
            assert_eq!(bytes, expected);
            let mut back = BitGrid::new([n, 2, 1]).unwrap();
            read_bytes(&mut &bytes[..], &mut back).unwrap();
            assert_eq!(back, *bits);
        }
    }

    #[test]
    fn parts_are_numbers_where_these_are_asked_for() {
        // More cells than a block, so that blocks end within the grid.
        let dims = [130, 70, 40];
        let [mut surface, mut interior] = [0; 2].map(|_| BitGrid::new(dims).unwrap());
        for n in 0..130 * 70 * 40_usize {
            let cell = [n % 130, n / 130 % 70, n / (130 * 70)];
            match n * n % 11 {
                1 | 4 => surface.set(cell),
                3 => interior.set(cell),
                _ => {}
            }
        }
        let parts = [(Sort::Surface, surface), (Sort::Interior, interior)];
        let parts = parts.map(|(sort, cells)| Part { sort, cells });
        let voxels = Voxels { bits: union(&parts).unwrap(), lattice: None, record: Record::default() };
        let bytes = |values| {
            let mut bytes = Vec::new();
            write_bytes(&mut Whole::with_parts(&voxels, &parts), &mut bytes, values, &()).unwrap();
            bytes
        };
        let numbers = bytes(Values::Part);
        let number = |n: usize| [0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0][n * n % 11];
        assert!(numbers.len() > BLOCK && (0..numbers.len()).all(|n| numbers[n] == number(n)));
        assert_eq!(bytes(Values::One), numbers.iter().map(|n| u8::from(*n > 0)).collect::<Vec<_>>());
    }

    #[test]
    fn any_byte_but_zero_is_occupied() {
        for byte in 0..=255u8 {
            let expected = if byte == 0 { 0 } else { 1 << 11 | 1 << 17 };
            let mut cells = [0; 18];
            (cells[11], cells[17]) = (byte, byte);
            assert_eq!(gather(&cells), expected, "{byte}");
        }
    }

    #[test]
    fn bits_beyond_a_row_are_refused() {
        let mut bits = BitGrid::new([3, 2, 1]).unwrap();
        let bytes: Vec<u8> = [7u64, 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(read_words(&mut &bytes[..], &mut bits).is_err());
    }
}
