//! Arrays that are stored in addition to the cells of a field.
//!
//! The arrays are made slab by slab, together with the cells. If there are several slabs, the arrays are
//! collected in temporary files until the last slab is made.

use std::io::{self, Seek, Write};

use tempfile::SpooledTempFile;

use super::place::failure;
use super::save::{SPOOL, not_spooled};
use super::{Choice, Dtype, FORMATS, Format, shares};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::{
    ArrayContent, CellArray, CellSource, CellType, Digest, Lattice, Record, Slab,
};

/// Names of the formats that can store arrays in addition to their cells.
const ARRAY_FORMATS: [&str; 2] = ["npz", "vti"];

/// Memory of the arrays of earlier slabs, in bytes. More bytes are kept in temporary files.
const SPOOLS: usize = 4 * SPOOL;

/// Number of bytes that are written at once.
const BLOCK: usize = 1 << 16;

impl Format {
    /// Returns `true` if the format can store arrays in addition to its cells.
    pub fn has_arrays(&self) -> bool {
        ARRAY_FORMATS.contains(&self.name)
    }

    /// Returns an upper bound, in bytes, for the memory of writing arrays, which [`memory`](Self::memory) does
    /// not include.
    pub fn memory_of_arrays(&self) -> u64 {
        match self.name {
            // The memory that every job reserves for buffers includes it.
            "npz" => 0,
            _ => SPOOLS as u64,
        }
    }

    /// Checks that the format can store arrays of these names with these choices.
    ///
    /// # Errors
    /// Fails if there is an array and the format, or one of the choices, cannot store it.
    pub fn check_arrays<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
        choices: &[Choice],
    ) -> Result<()> {
        let Some(name) = names.into_iter().next() else {
            return Ok(());
        };
        if !self.has_arrays() {
            let known: Vec<_> = FORMATS
                .iter()
                .filter(|format| format.has_arrays())
                .map(|format| format.name)
                .collect();
            return Err(Error::usage(format!(
                "{} cannot store '{name}' next to the cells",
                self.name
            ))
            .with_hint(format!("save it as {}", known.join(" or "))));
        }
        match choices
            .iter()
            .find(|choice| choice.option() == Choice::SparseRuns.option())
        {
            Some(choice) => Err(Error::usage(format!(
                "'{}' cannot store '{name}'",
                choice.words()
            ))),
            None => Ok(()),
        }
    }
}

/// Returns the name for the fields of labels together: `fractions`, or `areas` for the rule area.
pub(super) fn name_of_labels(record: &Record) -> &'static str {
    match record.rule_name.as_deref() {
        Some("area") => "areas",
        _ => "fractions",
    }
}

/// Source that collects the arrays of all slabs.
pub(super) struct KeptArrays<'a> {
    source: &'a mut dyn CellSource,
    spools: Vec<SpooledTempFile>,
    /// Fields of labels are stored as bytes, like the cells.
    are_bytes: bool,
}

impl<'a> KeptArrays<'a> {
    pub(super) fn new(source: &'a mut dyn CellSource, dtype: Dtype) -> Self {
        let count = source.arrays().len();
        let size = SPOOL.min(SPOOLS / count.max(1));
        Self {
            are_bytes: shares::are_bytes(source.cell_type(), dtype),
            source,
            spools: (0..count).map(|_| SpooledTempFile::new(size)).collect(),
        }
    }

    /// Returns the contents of the arrays, in their order.
    pub(super) fn contents(&self) -> Vec<ArrayContent> {
        let arrays = self.source.arrays().iter();
        arrays.map(|array| array.content.clone()).collect()
    }

    /// Returns the number type of an array.
    pub(super) fn dtype(&self, content: &ArrayContent) -> Dtype {
        if self.are_bytes && content.label().is_some() {
            Dtype::U8
        } else {
            Dtype::F32
        }
    }

    /// Returns `true` if a single slab has all cells. Its arrays then need no temporary file.
    fn is_whole(&self, array: &CellArray) -> bool {
        array.numbers().len()
            == array.content.numbers() * self.source.dims().iter().product::<usize>()
    }

    /// Copies the arrays of the latest slab.
    fn keep(&mut self) -> io::Result<()> {
        for n in 0..self.spools.len() {
            let array = &self.source.arrays()[n];
            if !self.is_whole(array) {
                let dtype = self.dtype(&array.content);
                write_numbers(array.numbers(), dtype, &mut self.spools[n]).map_err(not_spooled)?;
            }
        }
        Ok(())
    }

    /// Writes array `n` for all slabs.
    pub(super) fn write(&mut self, n: usize, out: &mut dyn Write) -> io::Result<()> {
        let array = &self.source.arrays()[n];
        if self.is_whole(array) {
            return write_numbers(array.numbers(), self.dtype(&array.content), out);
        }
        let spool = &mut self.spools[n];
        spool.rewind().map_err(not_spooled)?;
        io::copy(spool, out).map(drop)
    }
}

/// Writes floats, little-endian, or shares as bytes. Every NaN gets the same bytes.
fn write_numbers(numbers: &[f32], dtype: Dtype, out: &mut dyn Write) -> io::Result<()> {
    let mut block = Vec::with_capacity(BLOCK);
    for numbers in numbers.chunks(BLOCK / 4) {
        block.clear();
        for number in numbers {
            match dtype {
                Dtype::U8 => block.push(shares::byte(*number)),
                _ => block.extend(canonical(*number).to_le_bytes()),
            }
        }
        out.write_all(&block)?;
    }
    Ok(())
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

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        self.keep().map_err(failure)?;
        self.source.next()
    }

    fn digest(&self) -> Digest {
        self.source.digest()
    }
}
