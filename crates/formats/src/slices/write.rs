//! Writing slices. Several layers are encoded in parallel and then written in order.

use std::io::{self, Write as _};

use super::plate::PictureFrame;
use super::{INDEX, json};
use crate::png::{Pixels, PngFrame};
use crate::several::NewFolder;
use crate::steps::{cancelled, next};
use crate::{Dtype, SaveOptions, shares};
use voxelize_core::grid::spread::spread;
use voxelize_core::grid::{BitGrid, CellSource, CellsRef, Field, Labels};
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
    let frame = PictureFrame::new([nx, ny], options.plate)?;
    let png = PngFrame {
        size: frame.size,
        pixels: Pixels::Grey,
        depth: if dtype == Dtype::Bit { 1 } else { 8 },
        density: json::density(source),
    };
    let digits = (nz - 1).to_string().len().max(DIGITS);
    let names: Vec<_> = (0..nz).map(|k| format!("{k:0digits$}.png")).collect();
    put(INDEX, json::text(source, dtype, &frame, &names).as_bytes())?;
    options.progress.begin("write", nz as u64);
    while let Some(slab) = next(source)? {
        let layers: Vec<_> = (0..slab.cells.dims()[2]).collect();
        for some in layers.chunks(LAYERS_PER_THREAD * par::current_threads()) {
            cancelled(options.progress)?;
            let drawn = par::map(some.to_vec(), |k| {
                let layer = LayerPixels::new(slab.cells, k, dtype)?;
                png.encode(|y, row| {
                    if let Some(j) = frame.cells_in(y) {
                        layer.draw(j, frame.corner[0], row);
                    }
                })
            });
            for (k, png) in some.iter().zip(drawn) {
                put(&names[slab.first + k], &png?)?;
            }
            options.progress.advance(some.len() as u64);
        }
    }
    Ok(())
}

/// Pixels of a layer.
struct LayerPixels<'a> {
    k: usize,
    pixels: PixelSource<'a>,
}

/// Cells and what their pixels show.
enum PixelSource<'a> {
    /// One bit per pixel: 1 for an occupied cell.
    Bits(&'a BitGrid),
    /// 255 for an occupied cell.
    White(&'a BitGrid),
    /// The label of the cell.
    Labels(&'a Labels),
    /// The share of the cell in 255ths, rounded to the nearest.
    Shares(&'a Field),
}

impl<'a> LayerPixels<'a> {
    fn new(cells: CellsRef<'a>, k: usize, dtype: Dtype) -> io::Result<Self> {
        let pixels = match cells {
            CellsRef::Field(field) => PixelSource::Shares(field),
            CellsRef::Labels(labels) if dtype != Dtype::Bit => PixelSource::Labels(labels),
            _ => {
                let bits = cells.occupied().map_err(io::Error::other)?;
                if dtype == Dtype::Bit {
                    PixelSource::Bits(bits)
                } else {
                    PixelSource::White(bits)
                }
            }
        };
        Ok(Self { k, pixels })
    }

    /// Draws the cells of row `j` into an empty row of pixels, beginning with column `left`.
    fn draw(&self, j: usize, left: usize, row: &mut [u8]) {
        match self.pixels {
            PixelSource::Bits(bits) => draw_bits(bits.row(j, self.k), left, row),
            PixelSource::White(bits) => {
                let words = bits.row(j, self.k);
                for (word, pixels) in words.iter().zip(row[left..].chunks_mut(64)) {
                    let cells = spread(*word);
                    for (pixel, is_occupied) in pixels.iter_mut().zip(cells.as_flattened()) {
                        *pixel = 255 * is_occupied;
                    }
                }
            }
            PixelSource::Labels(labels) => {
                let [nx, _, _] = labels.dims();
                labels.row(j, self.k, &mut row[left..left + nx]);
            }
            PixelSource::Shares(field) => {
                for (pixel, share) in row[left..].iter_mut().zip(field.row(j, self.k)) {
                    *pixel = shares::byte(*share);
                }
            }
        }
    }
}

/// Draws bits into an empty row of pixels with one bit each, beginning with column `left`. In a PNG the first
/// pixel is the highest bit of a byte. Bits beyond the row must be 0.
pub fn draw_bits(words: &[u64], left: usize, row: &mut [u8]) {
    let shift = left % 8;
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    for (n, byte) in bytes.enumerate() {
        let place = left / 8 + n;
        let pixels = u16::from_be_bytes([byte.reverse_bits(), 0]) >> shift;
        // Bytes beyond the row have only bits beyond the cells.
        for (n, byte) in pixels.to_be_bytes().into_iter().enumerate() {
            if let Some(pixels) = row.get_mut(place + n) {
                *pixels |= byte;
            }
        }
    }
}
