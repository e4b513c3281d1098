//! Reading `.binvox`.

use std::io::{BufRead, BufReader, Read};

use super::{MAX_RUN, cube, place};
use crate::Voxels;
use crate::image::ImageFrame;
use crate::open::{VoxelSource, failure, is_about};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{BitGrid, Lattice};

/// Maximum size of the header in bytes.
const MAX_HEADER: u64 = 1 << 12;

/// Contents of the lines before the cells.
struct BinvoxHeader {
    dims: [usize; 3],
    translate: [Rational; 3],
    scale: Option<Rational>,
    /// Offset of the first run in the file.
    end: u64,
}

fn broken(why: impl Into<String>) -> Error {
    Error::input(Code::V003, why)
}

/// Parses a line that consists of a word and `N` numbers, and returns the numbers.
fn numbers<const N: usize>(line: &str) -> Result<[Rational; N]> {
    let words = line.split_whitespace().skip(1);
    let numbers: Option<Vec<_>> = words
        .map(|word| Rational::parse_decimal(word).ok())
        .collect();
    if let Some(Ok(numbers)) = numbers.map(<[Rational; N]>::try_from) {
        return Ok(numbers);
    }
    Err(broken(format!(
        "'{}' is not a keyword and {N} numbers",
        sanitize(line)
    )))
}

impl BinvoxHeader {
    fn read(source: &mut VoxelSource) -> Result<Self> {
        source.seek(0)?;
        let mut dims = None;
        let mut translate = None;
        let mut scale = None;
        let mut input = BufReader::new(source.by_ref().take(MAX_HEADER));
        let mut end = 0;
        loop {
            let mut line = Vec::new();
            end += input.read_until(b'\n', &mut line).map_err(failure)? as u64;
            if line.last() != Some(&b'\n') {
                return Err(
                    Error::input(Code::V002, "the file ends early, or has no line 'data'")
                        .at_byte(end),
                );
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            match line.split_whitespace().next().unwrap_or_default() {
                "#binvox" if line.split_whitespace().nth(1) != Some("1") => {
                    let text = format!("'{}' is not version 1", sanitize(line));
                    return Err(Error::input(Code::V004, text));
                }
                "dim" => {
                    let words = line.split_whitespace().skip(1);
                    let sizes: Option<Vec<usize>> = words.map(|word| word.parse().ok()).collect();
                    let Some(Ok([x, z, y])) = sizes.map(<[usize; 3]>::try_from) else {
                        let text = format!("'{}' is not dim and three sizes", sanitize(line));
                        return Err(broken(text));
                    };
                    dims = Some([x, y, z]);
                }
                "translate" => translate = Some(numbers::<3>(line)?),
                "scale" => {
                    let [value] = numbers(line)?;
                    scale = Some(value);
                }
                "data" => break,
                _ => {}
            }
        }
        let dims = dims
            .filter(|dims| !dims.contains(&0))
            .ok_or_else(|| broken("the line with the size is missing: dim D D D"))?;
        Ok(Self {
            dims,
            translate: translate.unwrap_or([Rational::ZERO; 3]),
            scale,
            end,
        })
    }

    /// Returns the lattice of the cells. `None` if the header states no scale.
    fn lattice(&self) -> Result<Option<Lattice>> {
        let Some(scale) = &self.scale else {
            return Ok(None);
        };
        let longest = Rational::from(cube(self.dims)[0] as i64);
        let size = scale / &longest;
        let half = &size * &Rational::new(1, 2);
        let centre = self.translate.each_ref().map(|corner| corner + &half);
        let steps = [0, 1, 2].map(|axis| step(axis, &size));
        let frame = ImageFrame::parallel(self.dims, &centre, &steps)?;
        Ok(Some(frame.lattice))
    }

    /// Returns the sidecar if it describes the grid of this header.
    fn sidecar(&self, source: &mut VoxelSource) -> Option<Metadata> {
        source
            .sidecar
            .take()
            .filter(|metadata| self.agrees_with(metadata))
    }

    fn agrees_with(&self, metadata: &Metadata) -> bool {
        let Some(dims) = metadata.dims else {
            return false;
        };
        if dims != self.dims && cube(dims) != self.dims {
            return false;
        }
        let Some(lattice) = &metadata.lattice else {
            return true;
        };
        let (corner, scale) = place(lattice, self.dims);
        corner == self.translate.each_ref().map(Rational::to_f64)
            && self.scale.as_ref().is_none_or(|own| own.to_f64() == scale)
    }
}

/// Returns the vector of length `size` along an axis.
fn step(axis: usize, size: &Rational) -> [Rational; 3] {
    let mut step = [Rational::ZERO; 3];
    step[axis] = size.clone();
    step
}

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let header = BinvoxHeader::read(source)?;
    match header.sidecar(source) {
        Some(metadata) => Ok(metadata),
        None => {
            let lattice = header.lattice()?;
            Ok(Metadata {
                dims: Some(header.dims),
                lattice,
                ..Metadata::default()
            })
        }
    }
}

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let header = BinvoxHeader::read(source)?;
    let metadata = header.sidecar(source);
    let lattice = header.lattice()?;
    source.seek(header.end)?;
    let bits = read_runs(source, header.dims)?;
    if let Some(metadata) = metadata
        && let Some(bits) = cropped(&bits, &metadata, source)?
    {
        let cells = bits.into();
        if is_about(&metadata, &cells) {
            return Ok(Voxels {
                cells,
                lattice: metadata.lattice,
                record: metadata.record,
            });
        }
    }
    Ok(Voxels {
        lattice,
        ..Voxels::new(bits)
    })
}

/// Removes the empty cells that fill a grid up to a cube. Returns `None` if a cell outside the dims of
/// `metadata` is occupied.
fn cropped(bits: &BitGrid, metadata: &Metadata, source: &VoxelSource) -> Result<Option<BitGrid>> {
    let Some(dims) = metadata.dims else {
        return Ok(None);
    };
    if bits
        .occupied_box()
        .is_some_and(|[_, last]| (0..3).any(|axis| last[axis] >= dims[axis]))
    {
        return Ok(None);
    }
    let mut found = source.room.bits(dims)?;
    bits.iter().for_each(|cell| found.set(cell));
    Ok(Some(found))
}

fn read_runs(source: &mut VoxelSource, dims: [usize; 3]) -> Result<BitGrid> {
    let [_, ny, nz] = dims;
    let all: u128 = dims.iter().map(|&n| n as u128).product();
    let most = u128::from(source.left() / 2) * MAX_RUN as u128;
    if most < all {
        let [x, y, z] = dims;
        let text =
            format!("the file ends early: its runs have at most {most} of {x} × {y} × {z} cells");
        return Err(source.error(Code::V002, text));
    }
    let mut bits = source.room.bits(dims)?;
    let mut left = usize::try_from(all).unwrap_or(usize::MAX);
    let [mut i, mut j, mut k] = [0; 3];
    let mut input = BufReader::with_capacity(1 << 16, source.by_ref());
    while left > 0 {
        let mut run = [0; 2];
        input.read_exact(&mut run).map_err(failure)?;
        let [value, length] = run;
        if usize::from(length) > left || length == 0 {
            drop(input);
            let text = format!("a run has {length} cells, but only {left} cells are left");
            return Err(source.error(Code::V005, text));
        }
        left -= usize::from(length);
        for _ in 0..length {
            if value != 0 {
                bits.set([i, j, k]);
            }
            j += 1;
            if j == ny {
                (j, k) = (0, k + 1);
            }
            if k == nz {
                (k, i) = (0, i + 1);
            }
        }
    }
    let more = input.fill_buf().map_err(failure)?.len();
    drop(input);
    match more {
        0 => Ok(bits),
        _ => Err(source
            .error(Code::V005, "more bytes follow the last cell")
            .with_hint("the file may be damaged")),
    }
}
