//! `.xyz` and `.csv`: one line of text for each cell, for programs that read points: CloudCompare, MeshLab,
//! Open3D, pandas and spreadsheets.
//!
//! | format | line |
//! |---|---|
//! | `.xyz` | `X Y Z`: the centre of an occupied cell; for labels and fields followed by the label or the value |
//! | `.csv` | first `x,y,z,i,j,k`, then for each cell its centre and its indices; for labels and fields followed by `label` or `value` |
//!
//! Cells of a field that equal its background are left out. Cells are sorted by z, then y, then x. A centre
//! is the double nearest to the exact number, with the fewest digits that identify it. If there is no
//! lattice, cells have size 1. Coordinates are those of the mesh, and the formats state no up axis.

use std::fmt::Write as _;
use std::io;

use super::{Carries, Dtype, FileSize, Format, SaveOptions, Write};
use crate::steps::{cancelled, next};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellSource, CellType, CellsRef};

/// Maximum number of bytes in a line.
const LINE: u128 = 120;

pub(super) const XYZ: Format = Format {
    name: "xyz",
    extensions: &["xyz"],
    about: "centres of occupied cells as text, one line per cell: x y z, and the label or value",
    carries: Carries::Rounded,
    dtypes: &[Dtype::Bool, Dtype::U8],
    size: |_, _, occupied, _| Some(FileSize::at_most(LINE * u128::from(occupied?))),
    write: Write::Forward(|source, out, dtype, options| {
        write(
            source,
            out,
            dtype,
            options,
            &TextStyle {
                gap: ' ',
                is_table: false,
            },
        )
    }),
    ..Format::BASE
};

pub(super) const CSV: Format = Format {
    name: "csv",
    extensions: &["csv"],
    about: "table of occupied cells as text: centre, indices, and the label or value",
    write: Write::Forward(|source, out, dtype, options| {
        write(
            source,
            out,
            dtype,
            options,
            &TextStyle {
                gap: ',',
                is_table: true,
            },
        )
    }),
    ..XYZ
};

/// Style of the lines.
struct TextStyle {
    gap: char,
    /// The first line has the names of the columns, and each line has the indices of the cell.
    is_table: bool,
}

/// Returns the coordinates of the cell centres along each axis as text. Each text ends with `gap`.
fn centres(source: &dyn CellSource, gap: char) -> [Vec<String>; 3] {
    let half = Rational::new(1, 2);
    let dims = source.dims();
    std::array::from_fn(|axis| {
        let mut centres = Vec::with_capacity(dims[axis]);
        for n in 0..dims[axis] {
            let cells = &Rational::from(n as i64) + &half;
            let centre = match source.lattice() {
                Some(lattice) => &lattice.origin()[axis] + &(&lattice.spacing()[axis] * &cells),
                None => cells,
            };
            centres.push(format!("{}{gap}", centre.to_f64()));
        }
        centres
    })
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
    style: &TextStyle,
) -> io::Result<()> {
    let [nx, _, nz] = source.dims();
    let gap = style.gap;
    let [xs, ys, zs] = centres(source, gap);
    let value = match source.cell_type() {
        CellType::Labels(_) if dtype == Dtype::U8 => ",label",
        CellType::Field { .. } => ",value",
        _ => "",
    };
    if style.is_table {
        writeln!(out, "x,y,z,i,j,k{value}")?;
    }
    options.progress.begin("write", nz as u64);
    let mut text = String::new();
    let mut labels = vec![0; nx];
    while let Some(slab) = next(source)? {
        for k in 0..slab.cells.dims()[2] {
            cancelled(options.progress)?;
            for (j, y) in ys.iter().enumerate() {
                if let CellsRef::Labels(all) = slab.cells {
                    all.row(j, k, &mut labels);
                }
                for i in slab.cells.occupied_in(j, k) {
                    text += &xs[i];
                    text += y;
                    text += &zs[slab.first + k];
                    if style.is_table {
                        let _ = write!(text, "{i},{j},{},", slab.first + k);
                    }
                    match slab.cells {
                        CellsRef::Labels(_) if dtype == Dtype::U8 => {
                            let _ = write!(text, "{}{gap}", labels[i]);
                        }
                        CellsRef::Field(field) => {
                            let _ = write!(text, "{}{gap}", field.row(j, k)[i]);
                        }
                        _ => {}
                    }
                    // Removes the separator after the last number.
                    text.pop();
                    text.push('\n');
                }
                out.write_all(text.as_bytes())?;
                text.clear();
            }
            options.progress.advance(1);
        }
    }
    Ok(())
}
