//! Cells in the order of the array of a scan, for formats that store them in the scan's frame.
//!
//! If the last axis of the array is z, layers stay layers, and each slab is reordered when it is written.
//! Otherwise a layer of the file has cells of every layer of the grid, so the whole grid is needed.

use std::io;

use super::steps::next;
use super::{Reordering, WHOLE};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::frame::{ArrayAxis, PLAIN_AXES};
use voxelize_core::grid::{
    BitGrid, CellSource, CellType, Cells, CellsRef, Digest, Field, Labels, Lattice, Record,
    ScanFrame, Slab,
};

/// Maximum size of the reordered part of a grid that is in memory as a whole, in bytes. The part has at least
/// one layer.
const PART: u128 = 4 << 20;

/// Returns the axes of the array in which the cells of a grid with this record are stored.
pub(super) fn axes_of(record: &Record) -> [ArrayAxis; 3] {
    ScanFrame::of(record).map_or(PLAIN_AXES, |frame| frame.axes())
}

/// Returns the dims of an array with these axes.
pub(super) fn array_dims(dims: [usize; 3], axes: [ArrayAxis; 3]) -> [usize; 3] {
    axes.map(|(axis, _)| dims[axis])
}

/// Returns the number of layers of which the height of slabs must be a multiple, so that they can be written
/// to an array with these axes.
pub(super) fn slab_layers(axes: [ArrayAxis; 3]) -> usize {
    if keeps_layers(axes) { 1 } else { WHOLE }
}

/// Returns what is copied to reorder the cells of a grid for an array with these axes. A grid in memory as a
/// whole is always copied in parts.
pub(super) fn reordering(axes: [ArrayAxis; 3]) -> Reordering {
    if axes == PLAIN_AXES {
        Reordering::Nothing
    } else if keeps_layers(axes) {
        Reordering::EachSlab
    } else {
        Reordering::Parts(PART as u64)
    }
}

/// The layers of the array are the layers of the grid, in the same order.
fn keeps_layers(axes: [ArrayAxis; 3]) -> bool {
    axes[2] == PLAIN_AXES[2]
}

/// Calls `write` with the cells of `source` in the order of the array in which its record places them.
///
/// # Errors
/// Fails if `write` fails, or if the order needs the whole grid and the source makes it in several slabs.
pub(super) fn write(
    source: &mut dyn CellSource,
    write: impl FnOnce(&mut dyn CellSource) -> io::Result<()>,
) -> io::Result<()> {
    let axes = axes_of(source.record());
    if axes == PLAIN_AXES {
        return write(source);
    }
    let turn = ArrayTurn {
        axes,
        dims: source.dims(),
    };
    let lattice = source.lattice().cloned();
    let record = source.record().clone();
    let Some(slab) = next(source)? else {
        return write(source);
    };
    if slab.cells.dims() == turn.dims {
        return write(&mut WholeGrid {
            cells: slab.cells,
            turn,
            lattice,
            record,
            next: 0,
            part: None,
        });
    }
    if !keeps_layers(axes) {
        let text =
            "the array of the scan is written from the whole grid, but the grid is made in slabs";
        return Err(io::Error::other(Error::usage(text)));
    }
    let layers = slab.cells.dims()[2];
    let first = turn
        .layers(slab.cells, 0..layers)
        .map_err(io::Error::other)?;
    let place = slab.first;
    write(&mut TurnedSlabs {
        source,
        turn,
        slab: first,
        first: Some(place),
    })
}

/// Reordering of cells.
#[derive(Clone, Copy)]
struct ArrayTurn {
    axes: [ArrayAxis; 3],
    /// Dims of the grid.
    dims: [usize; 3],
}

impl ArrayTurn {
    fn array_dims(&self) -> [usize; 3] {
        array_dims(self.dims, self.axes)
    }

    /// Returns the indices in the grid of the first cell of row `(j, k)` of the array.
    fn row(&self, j: usize, k: usize) -> [usize; 3] {
        let mut cell = [0; 3];
        for (n, (axis, is_back)) in self.axes.into_iter().enumerate() {
            let index = [0, j, k][n];
            cell[axis] = if is_back {
                self.dims[axis] - 1 - index
            } else {
                index
            };
        }
        cell
    }

    /// Returns layers of the array. `cells` are the whole grid, or a slab of it if layers stay layers.
    fn layers(&self, cells: CellsRef, layers: std::ops::Range<usize>) -> Result<Cells> {
        let [nx, ny, _] = self.array_dims();
        let dims = [nx, ny, layers.len()];
        let (axis, is_back) = self.axes[0];
        let step = |cell: &mut [usize; 3]| {
            // After the last cell of the row the index is not used.
            cell[axis] = if is_back {
                cell[axis].wrapping_sub(1)
            } else {
                cell[axis] + 1
            };
        };
        Ok(match cells {
            CellsRef::Bits(bits) => {
                let mut turned = BitGrid::new(dims)?;
                for (k, layer) in layers.enumerate() {
                    for j in 0..ny {
                        let mut cell = self.row(j, layer);
                        for i in 0..nx {
                            if bits.get(cell) {
                                turned.set([i, j, k]);
                            }
                            step(&mut cell);
                        }
                    }
                }
                turned.into()
            }
            CellsRef::Labels(labels) => {
                let mut turned = Labels::new(dims, labels.legend().clone())?;
                for (k, layer) in layers.enumerate() {
                    for j in 0..ny {
                        let mut cell = self.row(j, layer);
                        for i in 0..nx {
                            if labels.occupied().get(cell) {
                                turned.set([i, j, k], labels.get(cell));
                            }
                            step(&mut cell);
                        }
                    }
                }
                turned.into()
            }
            CellsRef::Field(field) => {
                let mut turned = Field::new(dims, field.background())?;
                for (k, layer) in layers.enumerate() {
                    for j in 0..ny {
                        let mut cell = self.row(j, layer);
                        for value in turned.row_mut(j, k) {
                            *value = field.get(cell);
                            step(&mut cell);
                        }
                    }
                }
                turned.into()
            }
        })
    }
}

/// Source of the reordered cells of a grid that is in memory as a whole. It reorders a few layers at a time.
struct WholeGrid<'a> {
    cells: CellsRef<'a>,
    turn: ArrayTurn,
    lattice: Option<Lattice>,
    record: Record,
    /// Index of the next layer of the array.
    next: usize,
    part: Option<Cells>,
}

impl CellSource for WholeGrid<'_> {
    fn dims(&self) -> [usize; 3] {
        self.turn.array_dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn cell_type(&self) -> CellType<'_> {
        self.cells.cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let [nx, ny, nz] = self.turn.array_dims();
        let first = self.next;
        if first == nz {
            return Ok(None);
        }
        let layer = self.cells.bytes() / nz as u128;
        let layer = layer.max(BitGrid::bytes_for([nx, ny, 1])).max(1);
        let count = usize::try_from(PART / layer)
            .unwrap_or(nz)
            .clamp(1, nz - first);
        self.next = first + count;
        // The previous part is freed first.
        self.part = None;
        let part = self.turn.layers(self.cells, first..self.next)?;
        Ok(Some(Slab {
            first,
            cells: self.part.insert(part).as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of(self.cells, self.lattice.as_ref())
    }
}

/// Source that reorders each slab of another source, whose layers stay layers.
struct TurnedSlabs<'a> {
    source: &'a mut dyn CellSource,
    turn: ArrayTurn,
    /// Reordered slab.
    slab: Cells,
    /// Index of the first layer of `slab`, if it is yet to be returned.
    first: Option<usize>,
}

impl CellSource for TurnedSlabs<'_> {
    fn dims(&self) -> [usize; 3] {
        self.turn.array_dims()
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
        if let Some(first) = self.first.take() {
            return Ok(Some(Slab {
                first,
                cells: self.slab.as_ref(),
            }));
        }
        let Some(slab) = self.source.next()? else {
            return Ok(None);
        };
        let layers = slab.cells.dims()[2];
        self.slab = self.turn.layers(slab.cells, 0..layers)?;
        Ok(Some(Slab {
            first: slab.first,
            cells: self.slab.as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        self.source.digest()
    }
}
