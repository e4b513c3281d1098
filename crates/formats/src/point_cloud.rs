//! `.ply` with `--points`: one binary point for each cell, for CloudCompare, MeshLab, Open3D and PCL.
//!
//! ```text
//! ply
//! format binary_little_endian 1.0
//! comment voxelize {…}                         like a .ply of faces (faces/ply.rs)
//! element vertex N                             sorted by z, then y, then x
//! property double x                            then y and z
//! property uchar red                           then green and blue; for labels
//! property uchar label                         for labels
//! property float value                         for fields
//! comment ....                                 fills up the header to the same length for all counts
//! end_header
//! ```
//!
//! The points follow without gaps. Each has its properties in the order above. A point is the centre of an
//! occupied cell, or of a cell whose value differs from the background of the field. Its coordinates are the
//! nearest doubles. If there is no lattice, cells have size 1. Coordinates are those of the mesh, and the
//! format states no up axis. The colour of a point is the colour of its label.

use std::io::{self, SeekFrom};

use super::comments::comments;
use super::save::Sink;
use super::{Dtype, FileSize, SaveOptions, metadata};
use crate::steps::{cancelled, next};
use voxelize_core::error::Error;
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Style;
use voxelize_core::grid::{CellSource, CellType, CellsRef, Slab};

/// Maximum number of bytes of a point: three doubles, and either a float, or a colour and a label.
const POINT: u128 = 28;

/// Returns the size of a file of points. `None` if their number is not known.
pub(super) fn size(occupied: Option<u64>) -> Option<FileSize> {
    Some(FileSize::at_most(POINT * u128::from(occupied?)))
}

/// Maximum number of points. Readers count them in signed 32-bit numbers.
const MOST: u64 = i32::MAX as u64;

/// Properties of a point in addition to its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PointValue {
    None,
    Label,
    Value,
}

impl PointValue {
    fn of(cells: &CellType, dtype: Dtype) -> Self {
        match cells {
            CellType::Labels(_) if dtype == Dtype::U8 => Self::Label,
            CellType::Field { .. } => Self::Value,
            _ => Self::None,
        }
    }
}

/// Data that are needed to make points.
struct PointMaker {
    centres: [Vec<f64>; 3],
    value: PointValue,
    /// Colour of each label, indexed by its number.
    colours: Vec<[u8; 3]>,
}

impl PointMaker {
    /// Appends the points of row `j` in layer `k` of a slab to `bytes`. Returns their number.
    fn put_row(&self, slab: &Slab, j: usize, k: usize, bytes: &mut Vec<u8>) -> u64 {
        let [xs, ys, zs] = &self.centres;
        let mut count = 0;
        for i in slab.cells.occupied_in(j, k) {
            let centre = [xs[i], ys[j], zs[slab.first + k]];
            bytes.extend(centre.into_iter().flat_map(f64::to_le_bytes));
            match (self.value, slab.cells) {
                (PointValue::Label, CellsRef::Labels(labels)) => {
                    let label = labels.get([i, j, k]);
                    bytes.extend(self.colours[usize::from(label)]);
                    bytes.push(label);
                }
                (PointValue::Value, CellsRef::Field(field)) => {
                    bytes.extend(field.row(j, k)[i].to_le_bytes())
                }
                _ => {}
            }
            count += 1;
        }
        count
    }
}

/// Writes a file of points.
pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let [_, ny, nz] = source.dims();
    let cells = source.cell_type();
    let value = PointValue::of(&cells, dtype);
    let colours = (0..=255).map(|label| cells.colour(label)).collect();
    let json = metadata(source, dtype).to_json(Style::OneLine);
    let maker = PointMaker {
        centres: centres(source),
        value,
        colours,
    };
    let start = out.stream_position()?;
    out.write_all(header(&json, MOST, value).as_bytes())?;
    let mut count = 0;
    let mut bytes = vec![];
    options.progress.begin("write", nz as u64);
    while let Some(slab) = next(source)? {
        for k in 0..slab.cells.dims()[2] {
            cancelled(options.progress)?;
            for j in 0..ny {
                count += maker.put_row(&slab, j, k, &mut bytes);
                out.write_all(&bytes)?;
                bytes.clear();
            }
            check(count)?;
            options.progress.advance(1);
        }
    }
    out.seek(SeekFrom::Start(start))?;
    out.write_all(header(&json, count, value).as_bytes())?;
    out.seek(SeekFrom::End(0))?;
    out.flush()
}

fn check(count: u64) -> io::Result<()> {
    if count <= MOST {
        return Ok(());
    }
    let error = Error::too_large(format!(
        "{count} points and more are more than a .ply counts"
    ));
    Err(io::Error::other(error.with_hint(
        "use larger cells, or save the cells themselves, as .npz",
    )))
}

/// Returns the header. It has the same length for all numbers of points.
fn header(json: &str, count: u64, value: PointValue) -> String {
    let json = comments("comment", json);
    let value = match value {
        PointValue::None => "",
        PointValue::Label => {
            "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar label\n"
        }
        PointValue::Value => "property float value\n",
    };
    let count = count.to_string();
    let gap = ".".repeat(1 + MOST.to_string().len() - count.len());
    format!(
        "ply\nformat binary_little_endian 1.0\n{json}element vertex {count}\n\
         property double x\nproperty double y\nproperty double z\n{value}comment {gap}\nend_header\n"
    )
}

/// Returns the coordinates of the cell centres along each axis, as the nearest doubles.
fn centres(source: &dyn CellSource) -> [Vec<f64>; 3] {
    let dims = source.dims();
    let half = Rational::new(1, 2);
    [0, 1, 2].map(|axis| {
        let mut centres = Vec::with_capacity(dims[axis]);
        for n in 0..dims[axis] {
            let centre = match source.lattice() {
                Some(lattice) => lattice.axis(axis).half_plane(2 * n as i64 + 1),
                None => &Rational::from(n as i64) + &half,
            };
            centres.push(centre.to_f64());
        }
        centres
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_points_are_refused() {
        assert!(check(MOST).is_ok());
        let error = check(MOST + 1).unwrap_err();
        assert!(error.to_string().contains("2147483648 points"), "{error}");
    }
}
