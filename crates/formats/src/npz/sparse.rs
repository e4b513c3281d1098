//! Sparse arrays: rows that list some cells, in place of an array of all cells.

use std::io::{self, Seek, Write};

use super::archive::{Archive, has};
use crate::npy;
use crate::save::{SPOOL, not_spooled};
use crate::steps::{cancelled, next};
use crate::{Choice, Dtype, SaveOptions};
use tempfile::SpooledTempFile;
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::{CellSource, CellType, CellsRef};

/// Content of a row in a sparse array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sparse {
    /// One cell.
    Indices,
    /// A run of cells along x that have the same value.
    Runs,
}

impl Sparse {
    /// Returns the kind of rows that these choices request. `None` for an array of all cells.
    pub(super) fn of(choices: &[Choice]) -> Option<Self> {
        choices.iter().find_map(|choice| match choice {
            Choice::SparseIndices => Some(Self::Indices),
            Choice::SparseRuns => Some(Self::Runs),
            _ => None,
        })
    }

    /// Returns the kind of rows in an archive. `None` if the archive has an array of all cells, or no sparse
    /// array.
    pub(super) fn in_archive(archive: &Archive) -> Option<Self> {
        if has(archive, "voxels") || !has(archive, "shape") {
            return None;
        }
        [Self::Indices, Self::Runs]
            .into_iter()
            .find(|form| has(archive, form.name()))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Indices => "indices",
            Self::Runs => "runs",
        }
    }

    /// Returns the number of columns in the array.
    pub(super) fn columns(self) -> usize {
        match self {
            Self::Indices => 3,
            Self::Runs => 4,
        }
    }
}

/// Rows and their values. They are collected in temporary files, because the header of the array must state
/// the number of rows.
pub(super) struct SparseRows {
    form: Sparse,
    dims: [usize; 3],
    rows: SpooledTempFile,
    values: SpooledTempFile,
    /// Number of bytes of a value: 0 for bits, 1 for labels, 4 for fields.
    width: usize,
    count: usize,
}

/// Consecutive cells that have the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SparseRun {
    start: usize,
    length: usize,
    value: u32,
}

/// Member of the archive: its name, the header of its array, the data, and the size of the data in bytes.
type Member = (&'static str, Vec<u8>, SpooledTempFile, u128);

impl SparseRows {
    /// Collects the rows for all cells of a grid.
    pub(super) fn collect(
        source: &mut dyn CellSource,
        form: Sparse,
        dtype: Dtype,
        options: &SaveOptions,
    ) -> io::Result<Self> {
        let dims = source.dims();
        let width = match (source.cell_type(), dtype) {
            (CellType::Field { .. }, _) => 4,
            (CellType::Labels(_), Dtype::U8) => 1,
            _ => 0,
        };
        let mut all = Self {
            form,
            dims,
            rows: SpooledTempFile::new(SPOOL),
            values: SpooledTempFile::new(SPOOL),
            width,
            count: 0,
        };
        options.progress.begin("write", dims[2] as u64);
        let mut runs = Vec::new();
        while let Some(slab) = next(source)? {
            let [_, ny, layers] = slab.cells.dims();
            for k in 0..layers {
                cancelled(options.progress)?;
                for j in 0..ny {
                    find_runs(slab.cells, j, k, width, &mut runs);
                    all.put(&runs, j, slab.first + k).map_err(not_spooled)?;
                }
                options.progress.advance(1);
            }
        }
        Ok(all)
    }

    /// Adds the runs of row `(j, k)` of the grid.
    fn put(&mut self, runs: &[SparseRun], j: usize, k: usize) -> io::Result<()> {
        for run in runs {
            match self.form {
                Sparse::Runs => self.push(&[run.start, j, k, run.length], run.value)?,
                Sparse::Indices => {
                    for i in run.start..run.start + run.length {
                        self.push(&[i, j, k], run.value)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a row of the array and its value.
    fn push(&mut self, numbers: &[usize], value: u32) -> io::Result<()> {
        for number in numbers {
            // The cast cannot truncate, because an axis has at most 2²⁴ cells.
            self.rows.write_all(&(*number as i32).to_le_bytes())?;
        }
        self.count += 1;
        self.values.write_all(&value.to_le_bytes()[..self.width])
    }

    /// Returns the members of the archive that hold the cells.
    pub(super) fn members(mut self) -> io::Result<Vec<Member>> {
        let shape: Vec<u8> = self
            .dims
            .iter()
            .flat_map(|&n| (n as i64).to_le_bytes())
            .collect();
        let mut shape_data = SpooledTempFile::new(SPOOL);
        shape_data.write_all(&shape)?;
        for file in [&mut self.rows, &mut self.values, &mut shape_data] {
            file.rewind()?;
        }
        let columns = self.form.columns();
        let header = npy::header_of_rows("<i4", &[self.count, columns]);
        let count = self.count as u128;
        let mut members = vec![(
            self.form.name(),
            header,
            self.rows,
            4 * columns as u128 * count,
        )];
        if self.width > 0 {
            let descr = if self.width == 4 { "<f4" } else { "|u1" };
            let header = npy::header_of_rows(descr, &[self.count]);
            members.push(("values", header, self.values, self.width as u128 * count));
        }
        members.push(("shape", npy::header("<i8", &[3]), shape_data, 24));
        Ok(members)
    }
}

/// Finds the runs in row `(j, k)` of a slab. If `width` is not 0, all cells of a run have the same value.
fn find_runs(cells: CellsRef, j: usize, k: usize, width: usize, runs: &mut Vec<SparseRun>) {
    runs.clear();
    let [nx, ..] = cells.dims();
    let mut labels = Vec::new();
    if let (CellsRef::Labels(all), 1) = (cells, width) {
        labels.resize(nx, 0);
        all.row(j, k, &mut labels);
    }
    let mut take = |start: usize, length: usize, value: u32| match runs.last_mut() {
        Some(last) if last.start + last.length == start && last.value == value => {
            last.length += length
        }
        _ => runs.push(SparseRun {
            start,
            length,
            value,
        }),
    };
    for n in 0..nx.div_ceil(64) {
        let mut word = cells.word(j, k, n);
        while word != 0 {
            let first = word.trailing_zeros() as usize;
            let length = (word >> first).trailing_ones() as usize;
            word &= u64::MAX.checked_shl((first + length) as u32).unwrap_or(0);
            let start = 64 * n + first;
            match cells {
                CellsRef::Field(field) => {
                    let row = field.row(j, k);
                    (start..start + length).for_each(|i| take(i, 1, canonical(row[i])));
                }
                _ if labels.is_empty() => take(start, length, 1),
                _ => (start..start + length).for_each(|i| take(i, 1, labels[i].into())),
            }
        }
    }
}
