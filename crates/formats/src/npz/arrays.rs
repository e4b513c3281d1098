//! Arrays that are stored in addition to the cells. Each is a separate member, which is written after the
//! member of the cells.
//!
//! The arrays are made slab by slab, together with the cells. If there are several slabs, the arrays are
//! collected in temporary files until the last slab is made.

use std::io::{self, Seek, Write};

use tempfile::SpooledTempFile;

use crate::save::{SPOOL, not_spooled};
use crate::{Choice, SaveOptions, npy};
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::{
    CellArray, CellSource, CellType, Digest, Lattice, Quantity, Record, Slab,
};

/// Number of bytes that are written at once.
const BLOCK: usize = 1 << 16;

/// Source that collects the arrays of all slabs.
pub(super) struct KeptArrays<'a> {
    source: &'a mut dyn CellSource,
    spools: Vec<SpooledTempFile>,
}

impl<'a> KeptArrays<'a> {
    pub(super) fn new(source: &'a mut dyn CellSource) -> Self {
        let spools = source
            .arrays()
            .iter()
            .map(|_| SpooledTempFile::new(SPOOL))
            .collect();
        Self { source, spools }
    }

    /// Returns `true` if a single slab has all cells. Its arrays then need no temporary file.
    fn is_whole(&self, array: &CellArray) -> bool {
        array.numbers().len()
            == array.quantity.numbers() * self.source.dims().iter().product::<usize>()
    }

    /// Copies the arrays of the latest slab.
    fn keep(&mut self) -> io::Result<()> {
        for n in 0..self.spools.len() {
            let array = &self.source.arrays()[n];
            if !self.is_whole(array) {
                write_numbers(array.numbers(), &mut self.spools[n]).map_err(not_spooled)?;
            }
        }
        Ok(())
    }

    /// Returns the quantities of the arrays, in the order of the arrays.
    pub(super) fn quantities(&self) -> Vec<Quantity> {
        self.source
            .arrays()
            .iter()
            .map(|array| array.quantity)
            .collect()
    }

    /// Writes array `n` for all slabs.
    pub(super) fn write(&mut self, n: usize, out: &mut dyn Write) -> io::Result<()> {
        let array = &self.source.arrays()[n];
        if self.is_whole(array) {
            return write_numbers(array.numbers(), out);
        }
        let spool = &mut self.spools[n];
        spool.rewind().map_err(not_spooled)?;
        io::copy(spool, out).map(drop)
    }
}

/// Writes floats, little-endian. Every NaN gets the same bytes.
fn write_numbers(numbers: &[f32], out: &mut dyn Write) -> io::Result<()> {
    let mut block = Vec::with_capacity(BLOCK);
    for numbers in numbers.chunks(BLOCK / 4) {
        block.clear();
        for number in numbers {
            block.extend(canonical(*number).to_le_bytes());
        }
        out.write_all(&block)?;
    }
    Ok(())
}

/// Returns the header for the array of a quantity. If a cell has several numbers, they are adjacent. Their
/// axis is the first one in Fortran order and the last one in C order.
pub(super) fn header(
    quantity: Quantity,
    [nx, ny, nz]: [usize; 3],
    options: &SaveOptions,
) -> Vec<u8> {
    match (quantity.numbers(), options.has(Choice::Zyx)) {
        (1, false) => npy::header("<f4", &[nx, ny, nz]),
        (1, true) => npy::header_of_rows("<f4", &[nz, ny, nx]),
        (each, false) => npy::header("<f4", &[each, nx, ny, nz]),
        (each, true) => npy::header_of_rows("<f4", &[nz, ny, nx, each]),
    }
}

impl CellSource for KeptArrays<'_> {
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

    fn next(&mut self) -> voxelize_core::error::Result<Option<Slab<'_>>> {
        self.keep().map_err(crate::place::failure)?;
        self.source.next()
    }

    fn digest(&self) -> Digest {
        self.source.digest()
    }
}
