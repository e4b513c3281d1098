//! Members for the arrays that are stored in addition to the cells. They follow the member of the cells.

use std::io;

use flate2::Compression;

use super::archive::LARGE;
use crate::arrays::{KeptArrays, name_of_labels};
use crate::container::ArchiveWriter;
use crate::{Choice, Dtype, SaveOptions, npy};
use voxelize_core::grid::{ArrayContent, CellArray, CellSource, Quantity};

/// Member with the names of the labels whose fields a file has.
pub(super) const LABEL_NAMES: &str = "label_names";

/// Members that hold the fields of labels, one of which a file may have.
pub(super) const FIELDS_OF_LABELS: [&str; 2] = ["fractions", "areas"];

/// Writes all arrays. Each quantity is a member, and so are the fields of all labels together.
pub(super) fn write(
    kept: &mut KeptArrays,
    archive: &mut ArchiveWriter,
    options: &SaveOptions,
) -> io::Result<()> {
    let dims = kept.dims();
    let mut labels = vec![];
    for (n, content) in kept.contents().into_iter().enumerate() {
        let ArrayContent::Quantity(quantity) = content else {
            labels.push((n, content));
            continue;
        };
        let large = npy::bytes_for(CellArray::dims_for(&content, dims), Dtype::F32)
            .is_none_or(|bytes| bytes > LARGE);
        let name = format!("{}.npy", quantity.name());
        archive.deflate((&name, Compression::fast()), large, |out| {
            out.write_all(&header(quantity, dims, options))?;
            kept.write(n, out)
        })?;
    }
    let Some((_, first)) = labels.first() else {
        return Ok(());
    };
    let dtype = kept.dtype(first);
    let bytes = npy::bytes_for(dims, dtype).map(|bytes| bytes * labels.len() as u128);
    let name = format!("{}.npy", name_of_labels(kept.record()));
    archive.deflate(
        (&name, Compression::fast()),
        bytes.is_none_or(|bytes| bytes > LARGE),
        |out| {
            out.write_all(&header_of_labels(labels.len(), dtype, dims, options))?;
            for (n, _) in &labels {
                kept.write(*n, out)?;
            }
            Ok(())
        },
    )
}

/// Returns the header for the array of a quantity. If a cell has several numbers, they are adjacent. Their
/// axis is the first one in Fortran order and the last one in C order.
fn header(quantity: Quantity, [nx, ny, nz]: [usize; 3], options: &SaveOptions) -> Vec<u8> {
    match (quantity.numbers(), options.has(Choice::Zyx)) {
        (1, false) => npy::header("<f4", &[nx, ny, nz]),
        (1, true) => npy::header_of_rows("<f4", &[nz, ny, nx]),
        (each, false) => npy::header("<f4", &[each, nx, ny, nz]),
        (each, true) => npy::header_of_rows("<f4", &[nz, ny, nx, each]),
    }
}

/// Returns the header for the fields of labels, one after the other. Their axis is the last one in Fortran
/// order and the first one in C order.
fn header_of_labels(
    labels: usize,
    dtype: Dtype,
    [nx, ny, nz]: [usize; 3],
    options: &SaveOptions,
) -> Vec<u8> {
    let descr = npy::descr(dtype);
    if options.has(Choice::Zyx) {
        npy::header_of_rows(descr, &[labels, nz, ny, nx])
    } else {
        npy::header(descr, &[nx, ny, nz, labels])
    }
}

/// Returns the names of the labels whose fields a source has.
pub(super) fn names_of_labels(contents: &[ArrayContent]) -> Vec<&str> {
    let labels = contents.iter().filter_map(ArrayContent::label);
    labels.map(|label| &*label.name).collect()
}
