//! Cells as arrays, x fastest: bits and labels as bytes, bits as words, fields as floats, a block of rows at a
//! time.

use std::io::{self, Read, Write};

use super::Dtype;
use super::open::failure;
use super::save::{cancelled, next};
use crate::error::{Code, Error, Result};
use crate::grid::field::canonical;
use crate::grid::spread::{gather, spread};
use crate::grid::{BitGrid, CellSource, Cells, CellsRef, Field, Labels, Legend};
use crate::par::Progress;

/// Bytes that are spread at a time: fits the second-level cache, so that the write finds it there.
const BLOCK: usize = 256 << 10;

/// The order of cells in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// x fastest, then y: Fortran order of an array `a[x, y, z]`.
    XFastest,
    /// z fastest, then y: C order.
    ZFastest,
}

/// The bytes of an array of cells.
pub(super) fn bytes_for([nx, ny, nz]: [usize; 3], dtype: Dtype) -> Option<u128> {
    let row = match dtype {
        Dtype::Bool | Dtype::U8 => nx as u128,
        Dtype::Bit => 8 * nx.div_ceil(64) as u128,
        Dtype::F32 => 4 * nx as u128,
    };
    row.checked_mul(ny as u128)?.checked_mul(nz as u128)
}

/// Writes an array of cells, x fastest.
pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    dtype: Dtype,
    progress: &dyn Progress,
) -> io::Result<()> {
    match dtype {
        Dtype::Bool | Dtype::U8 => write_bytes(source, out, dtype, progress),
        Dtype::Bit => write_words(source, out, progress),
        Dtype::F32 => write_floats(source, out, progress),
    }
}

/// Writes one byte per cell, x fastest: 0; 1 for bits and as `bool`, else the label. On one thread: 15 GB/s,
/// several times what a file takes; a second thread gained nothing. Blocks go on from slab to slab, so that a
/// compressor behind `out` gets the same pieces and makes the same bytes.
fn write_bytes(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    dtype: Dtype,
    progress: &dyn Progress,
) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    let (row_words, per_block) = (nx.div_ceil(64), (BLOCK / nx).max(1));
    progress.begin("write", (nx as u64).saturating_mul(ny as u64).saturating_mul(nz as u64));
    let (mut block, mut filled) = (vec![0; per_block * nx], 0);
    while let Some(slab) = next(source)? {
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        let (mut row, all) = (0, bits.words().len() / row_words);
        while row < all {
            let rows = ((block.len() - filled) / nx).min(all - row);
            let cells = &mut block[filled..filled + rows * nx];
            match slab.cells {
                CellsRef::Labels(labels) if dtype == Dtype::U8 => {
                    for (n, cells) in cells.chunks_exact_mut(nx).enumerate() {
                        labels.row((row + n) % ny, (row + n) / ny, cells);
                    }
                }
                _ => {
                    let words = &bits.words()[row * row_words..(row + rows) * row_words];
                    for (words, cells) in words.chunks_exact(row_words).zip(cells.chunks_exact_mut(nx)) {
                        spread_row(words, cells);
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

fn spread_row(words: &[u64], cells: &mut [u8]) {
    for (word, cells) in words.iter().zip(cells.chunks_mut(64)) {
        match cells.as_chunks_mut::<8>().0 {
            // The whole word; most words of a shell are zero.
            whole @ [_, _, _, _, _, _, _, _] if *word == 0 => whole.fill([0; 8]),
            whole @ [_, _, _, _, _, _, _, _] => whole.copy_from_slice(&spread(*word)),
            _ => cells.copy_from_slice(&spread(*word).as_flattened()[..cells.len()]),
        }
    }
}

/// Writes the words of the occupied cells, little-endian: one bit per cell, rows padded to 64.
fn write_words(source: &mut dyn CellSource, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
    progress.begin("write", u64::try_from(BitGrid::bytes_for(source.dims())).unwrap_or(u64::MAX));
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

/// Writes four bytes per cell, x fastest, little-endian; every NaN as one, so that equal fields make equal files.
fn write_floats(source: &mut dyn CellSource, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    progress.begin("write", (4 * nx as u64).saturating_mul(ny as u64).saturating_mul(nz as u64));
    let mut block = Vec::with_capacity(BLOCK);
    while let Some(slab) = next(source)? {
        let CellsRef::Field(field) = slab.cells else {
            return Err(io::Error::other(Error::usage("only a field is written as floats")));
        };
        let mut values = field.values();
        while !values.is_empty() {
            let (these, rest) = values.split_at(((BLOCK - block.len()) / 4).min(values.len()));
            block.extend(these.iter().flat_map(|value| canonical(*value).to_le_bytes()));
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

/// Reads one byte per cell; any byte but 0 is an occupied cell.
pub(super) fn read_occupied(input: &mut dyn Read, dims: [usize; 3], order: Order) -> Result<BitGrid> {
    let mut bits = BitGrid::new(dims)?;
    match order {
        Order::XFastest => each_block(input, dims, 1, |first, cells| {
            gather_rows(&mut bits, first, cells);
            Ok(())
        })?,
        Order::ZFastest => each_column(input, dims, 1, |i, j, column| {
            for (k, _) in column.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                bits.set([i, j, k]);
            }
        })?,
    }
    Ok(bits)
}

/// Reads one byte per cell: labels of `legend`, if one is given and it names all values. Without one, cells are
/// bits if only one value occurs beside 0, such as 1 or 255, else labels without names.
pub(super) fn read_values(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    legend: Option<&Legend>,
) -> Result<Cells> {
    let mut cells: Cells = match legend {
        Some(legend) => Labels::new(dims, legend.clone())?.into(),
        None => BitGrid::new(dims)?.into(),
    };
    // The value of occupied cells, as long as they are bits.
    let mut one = 0;
    match order {
        Order::XFastest => each_block(input, dims, 1, |first, bytes| {
            if let Cells::Bits(bits) = &mut cells {
                if one == 0 {
                    one = bytes.iter().copied().find(|byte| *byte != 0).unwrap_or(0);
                }
                // One look at all bytes, without a branch for each.
                if !bytes.iter().fold(false, |other, byte| other | (*byte != 0) & (*byte != one)) {
                    gather_rows(bits, first, bytes);
                    return Ok(());
                }
            }
            for (n, row) in bytes.chunks_exact(dims[0]).enumerate() {
                let (j, k) = ((first + n) % dims[1], (first + n) / dims[1]);
                let is_named = match &mut cells {
                    Cells::Labels(labels) => labels.put_row(j, k, row).is_ok(),
                    _ => false,
                };
                if !is_named {
                    put_row(unnamed(&mut cells, one)?, j, k, row);
                }
            }
            Ok(())
        })?,
        Order::ZFastest => {
            let mut result = Ok(());
            each_column(input, dims, 1, |i, j, column| {
                for (k, value) in column.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                    one = if one == 0 { *value } else { one };
                    match &mut cells {
                        Cells::Bits(bits) if *value == one => bits.set([i, j, k]),
                        Cells::Labels(labels) if labels.legend().allows(*value) => {
                            labels.set([i, j, k], *value)
                        }
                        _ => match unnamed(&mut cells, one) {
                            Ok(labels) => labels.set([i, j, k], *value),
                            Err(error) => result = Err(error),
                        },
                    }
                }
            })?;
            result?;
        }
    }
    Ok(cells)
}

/// Makes what was read so far labels without names, of bits with the value `one`.
fn unnamed(cells: &mut Cells, one: u8) -> Result<&mut Labels> {
    let is_named = !matches!(cells, Cells::Labels(labels) if labels.legend().labels().is_empty());
    if is_named {
        let mut labels = Labels::new(cells.as_ref().dims(), Legend::default())?;
        match &*cells {
            Cells::Labels(named) => named.iter().for_each(|(cell, value)| labels.set(cell, value)),
            _ => cells.as_ref().occupied()?.iter().for_each(|cell| labels.set(cell, one)),
        }
        *cells = labels.into();
    }
    match cells {
        Cells::Labels(labels) => Ok(labels),
        _ => Err(Error::usage("labels were just made")),
    }
}

/// Gives the cells of a row, of which some may have a value already, these values.
fn put_row(labels: &mut Labels, j: usize, k: usize, row: &[u8]) {
    for (i, value) in row.iter().enumerate().filter(|(_, value)| **value != 0) {
        labels.set([i, j, k], *value);
    }
}

/// Reads four bytes per cell, little-endian.
pub(super) fn read_floats(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    background: Option<f32>,
) -> Result<Field> {
    let mut field = Field::new(dims, 0.0)?;
    let float = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    match order {
        Order::XFastest => each_block(input, dims, 4, |first, bytes| {
            let values = &mut field.values_mut()[first * dims[0]..];
            for (value, bytes) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = float(bytes);
            }
            Ok(())
        })?,
        Order::ZFastest => each_column(input, dims, 4, |i, j, column| {
            for (k, bytes) in column.as_chunks::<4>().0.iter().enumerate() {
                field.row_mut(j, k)[i] = float(bytes);
            }
        })?,
    }
    Ok(field.with_background(background.unwrap_or(0.0)))
}

/// Reads rows of cells of `size` bytes, many at a time, and hands them on with the number of their first row.
fn each_block(
    input: &mut dyn Read,
    [nx, ny, nz]: [usize; 3],
    size: usize,
    mut take: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    let per_block = (BLOCK / (nx * size)).max(1);
    let mut buffer = Vec::new();
    for first in (0..ny * nz).step_by(per_block) {
        buffer.resize(per_block.min(ny * nz - first) * nx * size, 0);
        input.read_exact(&mut buffer).map_err(failure)?;
        take(first, &buffer)?;
    }
    Ok(())
}

/// Reads columns along z of cells of `size` bytes, y faster than x.
fn each_column(
    input: &mut dyn Read,
    [nx, ny, nz]: [usize; 3],
    size: usize,
    mut take: impl FnMut(usize, usize, &[u8]),
) -> Result<()> {
    let mut column = vec![0; nz * size];
    for i in 0..nx {
        for j in 0..ny {
            input.read_exact(&mut column).map_err(failure)?;
            take(i, j, &column);
        }
    }
    Ok(())
}

/// Occupies the cells of some rows, from row `first` on, whose bytes are not 0.
fn gather_rows(bits: &mut BitGrid, first: usize, cells: &[u8]) {
    let (nx, row_words) = (bits.dims()[0], bits.row_words());
    let words = bits.words_mut()[first * row_words..].chunks_exact_mut(row_words);
    for (words, cells) in words.zip(cells.chunks_exact(nx)) {
        for (word, cells) in words.iter_mut().zip(cells.chunks(64)) {
            // Zero pages that stay zero are never touched.
            let gathered = gather(cells);
            if gathered != 0 {
                *word = gathered;
            }
        }
    }
}

/// Reads what [`write_words`] writes. Bits beyond the end of a row are an error.
pub(super) fn read_words(input: &mut dyn Read, dims: [usize; 3]) -> Result<BitGrid> {
    let mut bits = BitGrid::new(dims)?;
    let (nx, row_words) = (bits.dims()[0], bits.row_words());
    let mut buffer = vec![0; BLOCK];
    for words in bits.words_mut().chunks_mut(BLOCK / 8) {
        let bytes = &mut buffer[..8 * words.len()];
        input.read_exact(bytes).map_err(failure)?;
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    let unused = if nx % 64 == 0 { 0 } else { !0 << (nx % 64) };
    let last_words = bits.words().iter().skip(row_words - 1).step_by(row_words);
    if last_words.into_iter().any(|word| word & unused != 0) {
        return Err(Error::input(Code::V003, "bits are set beyond the end of a row"));
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{InMemory, Label, Voxels};

    fn bytes(cells: impl Into<Cells>, dtype: Dtype) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut InMemory::new(&Voxels::new(cells)), &mut bytes, dtype, &()).unwrap();
        bytes
    }

    #[test]
    fn bytes_and_bits_agree_for_every_length() {
        for n in 1..=130 {
            let mut bits = BitGrid::new([n, 2, 1]).unwrap();
            (0..n).filter(|i| i * i % 7 < 3).for_each(|i| bits.set([i, 1, 0]));
            let bytes = bytes(bits.clone(), Dtype::U8);
            let expected: Vec<u8> = (0..2 * n).map(|c| u8::from(bits.get([c % n, c / n, 0]))).collect();
            assert_eq!(bytes, expected);
            let back = read_occupied(&mut &bytes[..], [n, 2, 1], Order::XFastest).unwrap();
            assert_eq!(back, bits);
            let back = read_values(&mut &bytes[..], [n, 2, 1], Order::XFastest, None).unwrap();
            assert_eq!(back, bits.clone().into());
            // A mask of another value is bits, too.
            let mask: Vec<u8> = bytes.iter().map(|byte| byte * 255).collect();
            assert_eq!(read_values(&mut &mask[..], [n, 2, 1], Order::XFastest, None).unwrap(), bits.into());
        }
    }

    /// More cells than a block, so that blocks end within the grid.
    const DIMS: [usize; 3] = [130, 70, 40];

    fn labels(legend: &Legend, value: impl Fn(usize) -> u8) -> Labels {
        let mut labels = Labels::new(DIMS, legend.clone()).unwrap();
        for n in 0..130 * 70 * 40_usize {
            labels.set([n % 130, n / 130 % 70, n / (130 * 70)], value(n));
        }
        labels
    }

    #[test]
    fn labels_are_numbers_as_u8_and_1_as_bool() {
        let number = |n: usize| [0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0][n * n % 11];
        let legend = Legend::surface_and_interior();
        let labels = labels(&legend, number);
        let numbers = bytes(labels.clone(), Dtype::U8);
        assert!(numbers.len() > BLOCK && (0..numbers.len()).all(|n| numbers[n] == number(n)));
        let ones = bytes(labels.clone(), Dtype::Bool);
        assert_eq!(ones, numbers.iter().map(|n| u8::from(*n > 0)).collect::<Vec<_>>());
        let back = read_values(&mut &numbers[..], DIMS, Order::XFastest, Some(&legend)).unwrap();
        assert_eq!(back, labels.into());
    }

    #[test]
    fn values_without_a_name_make_the_labels_nameless() {
        // The first value above 1, and the first without a name, come late.
        let value = |n: usize| match n % 5 {
            1 => {
                if n < 300_000 {
                    1
                } else {
                    9
                }
            }
            2 => u8::from(n > 310_000) * 200,
            _ => 0,
        };
        let expected = Cells::from(labels(&Legend::default(), value));
        let bytes = bytes(expected.clone(), Dtype::U8);
        let named = Legend::new([1, 9].map(|value| Label::new(value, format!("label {value}")))).unwrap();
        for legend in [None, Some(&Legend::surface_and_interior()), Some(&named)] {
            let back = read_values(&mut &bytes[..], DIMS, Order::XFastest, legend).unwrap();
            assert!(back == expected, "{legend:?}");
            // The same bytes as the C order of a grid whose axes are turned around.
            let [x, y, z] = DIMS;
            let turned = read_values(&mut &bytes[..], [z, y, x], Order::ZFastest, legend).unwrap();
            let (Cells::Labels(turned), Cells::Labels(back)) = (turned, back) else { panic!("{legend:?}") };
            assert!(back.iter().all(|([i, j, k], value)| turned.get([k, j, i]) == value));
            assert_eq!(turned.occupied().count(), back.occupied().count());
        }
    }

    #[test]
    fn fields_come_back_in_either_order() {
        let values: Vec<f32> = (0..130 * 70 * 40).map(|n| (n as f32).sqrt() - 7.0).collect();
        let field = Field::from_values(DIMS, 3.5, values).unwrap();
        let bytes = bytes(field.clone(), Dtype::F32);
        assert_eq!(bytes[4..8], (-6.0_f32).to_le_bytes());
        assert_eq!(read_floats(&mut &bytes[..], DIMS, Order::XFastest, Some(3.5)).unwrap(), field);
        let [x, y, z] = DIMS;
        let turned = read_floats(&mut &bytes[..], [z, y, x], Order::ZFastest, None).unwrap();
        assert_eq!((turned.get([39, 3, 129]), turned.background()), (field.get([129, 3, 39]), 0.0));
    }

    #[test]
    fn bits_beyond_a_row_are_refused() {
        let bytes: Vec<u8> = [7u64, 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(read_words(&mut &bytes[..], [3, 2, 1]).unwrap_err().code(), Code::V003);
    }
}
