//! Writing slices. Several layers are encoded in parallel and then written in order.

use std::io::{self, Write as _};

use super::png::PngFrame;
use super::{INDEX, json};
use crate::several::NewFolder;
use crate::steps::{cancelled, next};
use crate::{Dtype, SaveOptions};
use voxelize_core::grid::spread::spread;
use voxelize_core::grid::{CellSource, CellsRef};
use voxelize_core::par;

/// Number of layers that each thread encodes before they are written.
pub(super) const LAYERS_PER_THREAD: usize = 4;

/// Minimum number of digits in the name of a picture.
const DIGITS: usize = 4;

pub(super) fn folder(
    source: &mut dyn CellSource,
    folder: &NewFolder,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    write(source, dtype, options, |name, bytes| {
        folder.write(name, |out| out.write_all(bytes))
    })
}

#[cfg(feature = "npz")]
pub(super) fn archive(
    source: &mut dyn CellSource,
    out: &mut dyn crate::save::Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let mut archive = crate::container::ArchiveWriter::new(out);
    write(source, dtype, options, |name, bytes| {
        archive.store(name, bytes)
    })?;
    archive.finish()
}

/// Makes all files and passes each to `put` with its name.
fn write(
    source: &mut dyn CellSource,
    dtype: Dtype,
    options: &SaveOptions,
    mut put: impl FnMut(&str, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    let depth = if dtype == Dtype::Bit { 1 } else { 8 };
    let frame = PngFrame {
        size: [nx, ny],
        depth,
        density: json::density(source),
    };
    let digits = (nz - 1).to_string().len().max(DIGITS);
    let names: Vec<_> = (0..nz).map(|k| format!("{k:0digits$}.png")).collect();
    put(INDEX, json::text(source, dtype, &names).as_bytes())?;
    options.progress.begin("write", nz as u64);
    while let Some(slab) = next(source)? {
        let layers: Vec<_> = (0..slab.cells.dims()[2]).collect();
        for some in layers.chunks(LAYERS_PER_THREAD * par::current_threads()) {
            cancelled(options.progress)?;
            let drawn = par::map(some.to_vec(), |k| frame.png(&rows(slab.cells, k, dtype)?));
            for (k, png) in some.iter().zip(drawn) {
                put(&names[slab.first + k], &png?)?;
            }
            options.progress.advance(some.len() as u64);
        }
    }
    Ok(())
}

/// Returns the rows of layer `k`, beginning with the highest y. Each row begins with a zero byte, which
/// states that it has no filter.
fn rows(cells: CellsRef, k: usize, dtype: Dtype) -> io::Result<Vec<u8>> {
    let [nx, ny, _] = cells.dims();
    let bits = cells.occupied().map_err(io::Error::other)?;
    let width = if dtype == Dtype::Bit {
        nx.div_ceil(8)
    } else {
        nx
    };
    let mut rows = vec![0; ny * (1 + width)];
    for (n, row) in rows.chunks_exact_mut(1 + width).enumerate() {
        let j = ny - 1 - n;
        let row = &mut row[1..];
        match cells {
            _ if dtype == Dtype::Bit => {
                // In a PNG the first pixel is the highest bit of a byte.
                let bytes = bits.row(j, k).iter().flat_map(|word| word.to_le_bytes());
                for (pixels, byte) in row.iter_mut().zip(bytes) {
                    *pixels = byte.reverse_bits();
                }
            }
            CellsRef::Labels(labels) => labels.row(j, k, row),
            _ => {
                for (word, pixels) in bits.row(j, k).iter().zip(row.chunks_mut(64)) {
                    let cells = spread(*word);
                    for (pixel, is_occupied) in pixels.iter_mut().zip(cells.as_flattened()) {
                        *pixel = 255 * is_occupied;
                    }
                }
            }
        }
    }
    Ok(rows)
}
