//! Reading arrays of cells.

use std::io::Read;

use super::{BLOCK, Order};
use crate::open::failure;
use crate::room::CellRoom;
use crate::shares;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::spread::gather;
use voxelize_core::grid::{BitGrid, Cells, Field, Labels, Legend};

/// Reads one byte per cell. Every value except 0 is an occupied cell.
pub(crate) fn read_occupied(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    room: CellRoom,
) -> Result<BitGrid> {
    let mut bits = room.bits(dims)?;
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

/// Reads one byte per cell. If `legend` names all values, the cells are labels. Otherwise the cells are bits
/// if only one value other than 0 occurs, such as 1 or 255, and labels without names if several occur.
pub(crate) fn read_values(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    legend: Option<&Legend>,
    room: CellRoom,
) -> Result<Cells> {
    let mut values = RowValues::new(dims, legend, room)?;
    match order {
        Order::XFastest => {
            each_block(input, dims, 1, |first, bytes| values.put_rows(first, bytes))?
        }
        Order::ZFastest => {
            let mut result = Ok(());
            each_column(input, dims, 1, |i, j, column| {
                for (k, value) in column.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                    if result.is_ok() {
                        result = values.set([i, j, k], *value);
                    }
                }
            })?;
            result?;
        }
    }
    Ok(values.cells)
}

/// Cells that are read row by row. They are bits or named labels until a value requires labels without names.
pub(crate) struct RowValues {
    pub cells: Cells,
    /// Value that stands for occupied cells, as long as the cells are bits. 0 before the first occupied cell.
    one: u8,
    room: CellRoom,
}

impl RowValues {
    /// Creates a grid of empty cells. With a legend the cells are labels, otherwise bits.
    pub(crate) fn new(dims: [usize; 3], legend: Option<&Legend>, room: CellRoom) -> Result<Self> {
        let cells = match legend {
            Some(legend) => room.labels(dims, legend.clone(), 0)?.into(),
            None => room.bits(dims)?.into(),
        };
        Ok(Self {
            cells,
            one: 0,
            room,
        })
    }

    /// Stores the values of consecutive rows, beginning with row `first`.
    pub(crate) fn put_rows(&mut self, first: usize, bytes: &[u8]) -> Result<()> {
        if let Cells::Bits(bits) = &mut self.cells {
            if self.one == 0 {
                self.one = bytes.iter().copied().find(|byte| *byte != 0).unwrap_or(0);
            }
            let one = self.one;
            // The loop examines all bytes without branching on each of them.
            if !bytes
                .iter()
                .fold(false, |other, byte| other | (*byte != 0) & (*byte != one))
            {
                gather_rows(bits, first, bytes);
                return Ok(());
            }
        }
        let [nx, ny, _] = self.cells.as_ref().dims();
        for (n, row) in bytes.chunks_exact(nx).enumerate() {
            let j = (first + n) % ny;
            let k = (first + n) / ny;
            let is_named = match &mut self.cells {
                Cells::Labels(labels) => labels.put_row(j, k, row).is_ok(),
                _ => false,
            };
            if !is_named {
                put_row(self.unnamed()?, j, k, row);
            }
        }
        Ok(())
    }

    /// Stores the value of a cell. The value must not be 0.
    pub(crate) fn set(&mut self, cell: [usize; 3], value: u8) -> Result<()> {
        if self.one == 0 {
            self.one = value;
        }
        match &mut self.cells {
            Cells::Bits(bits) if value == self.one => bits.set(cell),
            Cells::Labels(labels) if labels.legend().allows(value) => labels.set(cell, value),
            _ => self.unnamed()?.set(cell, value),
        }
        Ok(())
    }

    /// Converts the cells to labels without names.
    fn unnamed(&mut self) -> Result<&mut Labels> {
        if !matches!(&self.cells, Cells::Labels(labels) if labels.legend().labels().is_empty()) {
            let dims = self.cells.as_ref().dims();
            let own = self.cells.as_ref().bytes();
            let mut labels = self.room.labels(dims, Legend::default(), own)?;
            match &self.cells {
                Cells::Labels(named) => {
                    for (cell, value) in named.iter() {
                        labels.set(cell, value);
                    }
                }
                bits => {
                    for cell in bits.as_ref().occupied()?.iter() {
                        labels.set(cell, self.one);
                    }
                }
            }
            self.cells = labels.into();
        }
        match &mut self.cells {
            Cells::Labels(labels) => Ok(labels),
            _ => unreachable!("labels were just made"),
        }
    }
}

/// Stores the nonzero values of a row. Cells of the row may already have a value.
fn put_row(labels: &mut Labels, j: usize, k: usize, row: &[u8]) {
    for (i, value) in row.iter().enumerate().filter(|(_, value)| **value != 0) {
        labels.set([i, j, k], *value);
    }
}

/// Reads one 32-bit float per cell, little-endian.
pub(crate) fn read_floats(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    background: Option<f32>,
    room: CellRoom,
) -> Result<Field> {
    read_field(input, dims, order, background, room, |bytes: &[u8; 4]| {
        f32::from_le_bytes(*bytes)
    })
}

/// Reads one byte per cell, which is a share in 255ths.
pub(crate) fn read_shares(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    background: Option<f32>,
    room: CellRoom,
) -> Result<Field> {
    read_field(input, dims, order, background, room, |[byte]: &[u8; 1]| {
        shares::share(*byte)
    })
}

/// Reads `N` bytes per cell. `value` converts them to the cell's value.
fn read_field<const N: usize>(
    input: &mut dyn Read,
    dims: [usize; 3],
    order: Order,
    background: Option<f32>,
    room: CellRoom,
    value: impl Fn(&[u8; N]) -> f32,
) -> Result<Field> {
    let mut field = room.field(dims)?;
    match order {
        Order::XFastest => each_block(input, dims, N, |first, bytes| {
            let values = &mut field.values_mut()[first * dims[0]..];
            for (cell, bytes) in values.iter_mut().zip(bytes.as_chunks::<N>().0) {
                *cell = value(bytes);
            }
            Ok(())
        })?,
        Order::ZFastest => each_column(input, dims, N, |i, j, column| {
            for (k, bytes) in column.as_chunks::<N>().0.iter().enumerate() {
                field.row_mut(j, k)[i] = value(bytes);
            }
        })?,
    }
    Ok(field.with_background(background.unwrap_or(0.0)))
}

/// Reads rows of cells in blocks and passes each block to `take`, with the index of its first row. A cell has
/// `size` bytes.
pub(super) fn each_block(
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

/// Reads columns of cells along z and passes each to `take`. y varies faster than x. A cell has `size` bytes.
pub(super) fn each_column(
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

/// Sets the cells whose bytes are not 0, beginning with row `first`.
fn gather_rows(bits: &mut BitGrid, first: usize, cells: &[u8]) {
    let nx = bits.dims()[0];
    let row_words = bits.row_words();
    let words = bits.words_mut()[first * row_words..].chunks_exact_mut(row_words);
    for (words, cells) in words.zip(cells.chunks_exact(nx)) {
        for (word, cells) in words.iter_mut().zip(cells.chunks(64)) {
            // A word that stays zero is not written, so that its memory page is never allocated.
            let gathered = gather(cells);
            if gathered != 0 {
                *word = gathered;
            }
        }
    }
}

/// Reads words that [`write_words`] wrote. A set bit beyond the end of a row is an error.
pub(crate) fn read_words(
    input: &mut dyn Read,
    dims: [usize; 3],
    room: CellRoom,
) -> Result<BitGrid> {
    let mut bits = room.bits(dims)?;
    let mut buffer = vec![0; BLOCK];
    for words in bits.words_mut().chunks_mut(BLOCK / 8) {
        let bytes = &mut buffer[..8 * words.len()];
        input.read_exact(bytes).map_err(failure)?;
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    whole_rows(bits)
}

/// Returns the cells. Fails if a bit is set beyond the end of a row.
pub(super) fn whole_rows(bits: BitGrid) -> Result<BitGrid> {
    let [nx, ..] = bits.dims();
    let row_words = bits.row_words();
    let unused = if nx % 64 == 0 { 0 } else { !0 << (nx % 64) };
    let mut last_words = bits.words().iter().skip(row_words - 1).step_by(row_words);
    if last_words.any(|word| word & unused != 0) {
        return Err(Error::input(
            Code::V003,
            "bits are set beyond the end of a row",
        ));
    }
    Ok(bits)
}
