//! Finds exposed faces of cells, 64 cells at a time. A face is exposed if its cell is occupied and the cell
//! on the other side of the face is empty or outside the grid.
//!
//! A face points in one of six directions: low or high along x, y or z. A word holds 64 cells along x.
//! Shifting it by one gives the neighbours along x. The neighbours along y and z are the same word of another
//! row.

use std::io;

use voxelize_core::error::{Error, Result};
use voxelize_core::grid::labels::Unnamed;
use voxelize_core::grid::{BitGrid, Cells, CellsRef, Labels};

/// Lower or upper side of a cell along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaceSide {
    Low,
    High,
}

/// Direction of a face: from its cell outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facing {
    pub axis: usize,
    pub side: FaceSide,
}

impl Facing {
    /// The four directions within a layer.
    pub(super) const WITHIN: [Self; 4] = [
        Self {
            axis: 0,
            side: FaceSide::Low,
        },
        Self {
            axis: 0,
            side: FaceSide::High,
        },
        Self {
            axis: 1,
            side: FaceSide::Low,
        },
        Self {
            axis: 1,
            side: FaceSide::High,
        },
    ];
    /// Direction from a layer to the layer below.
    pub(super) const DOWN: Self = Self {
        axis: 2,
        side: FaceSide::Low,
    };
    /// Direction from a layer to the layer above.
    pub(super) const UP: Self = Self {
        axis: 2,
        side: FaceSide::High,
    };

    /// Returns the index of the wall on which a cell has its face in this direction. `cell` is the index of
    /// the cell along the axis of the direction.
    pub(super) fn wall(self, cell: u32) -> u32 {
        match self.side {
            FaceSide::Low => cell,
            FaceSide::High => cell + 1,
        }
    }

    /// Returns the unit vector that points away from the cell.
    pub(super) fn normal(self) -> [f32; 3] {
        let length = if self.side == FaceSide::High {
            1.0
        } else {
            -1.0
        };
        let mut normal = [0.0; 3];
        normal[self.axis] = length;
        normal
    }
}

/// Exposed face, or a rectangle of exposed faces that have the same plane, direction and label.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExposedFace {
    pub facing: Facing,
    /// Label of the cells. 0 if faces have no labels.
    pub label: u8,
    /// Wall indices of the lowest and the highest corner. Along the axis of the direction both are equal.
    pub low: [u32; 3],
    pub high: [u32; 3],
}

impl ExposedFace {
    /// Returns the corners. Seen from outside they are counterclockwise.
    pub(super) fn corners(&self) -> [[u32; 3]; 4] {
        let Self {
            facing, low, high, ..
        } = self;
        let [u, v] = [(facing.axis + 1) % 3, (facing.axis + 2) % 3];
        let mut corners = [*low; 4];
        let [one, other] = if facing.side == FaceSide::High {
            [u, v]
        } else {
            [v, u]
        };
        corners[1][one] = high[one];
        corners[2] = *high;
        corners[3][other] = high[other];
        corners
    }
}

/// Layer of cells. A layer outside the grid is empty.
#[derive(Clone, Copy)]
pub(super) struct CellLayer<'a> {
    words: &'a [u64],
    row_words: usize,
    zeros: &'a [u64],
    /// Labels and the index of this layer in them. `None` if faces have no labels.
    labels: Option<(&'a Labels, usize)>,
}

impl<'a> CellLayer<'a> {
    /// Creates an empty layer whose rows are as long as `zeros`.
    pub(super) fn empty(zeros: &'a [u64]) -> Self {
        Self {
            words: &[],
            row_words: zeros.len(),
            zeros,
            labels: None,
        }
    }

    /// Returns layer `k` of a slab.
    pub(super) fn of(
        cells: CellsRef<'a>,
        k: usize,
        has_labels: bool,
        zeros: &'a [u64],
    ) -> io::Result<Self> {
        let bits = cells.occupied().map_err(io::Error::other)?;
        let labels = match cells {
            CellsRef::Labels(labels) if has_labels => Some((labels, k)),
            _ => None,
        };
        Ok(Self {
            words: bits.layer(k),
            row_words: bits.row_words(),
            zeros,
            labels,
        })
    }

    /// Returns the words of row `j`. A row outside the layer is empty.
    pub(super) fn row(&self, j: usize) -> &'a [u64] {
        self.words
            .chunks_exact(self.row_words)
            .nth(j)
            .unwrap_or(self.zeros)
    }

    /// Returns the label of an occupied cell. 0 if faces have no labels.
    pub(super) fn label(&self, i: usize, j: usize) -> u8 {
        self.labels.map_or(0, |(labels, k)| labels.get([i, j, k]))
    }

    /// Returns row `j` with the rows next to it. `None` if row `j` is empty.
    pub(super) fn rows(&self, j: usize) -> Option<LayerRows<'a>> {
        let row = self.row(j);
        if is_empty(row) {
            return None;
        }
        Some(LayerRows {
            before: self.row(j.wrapping_sub(1)),
            row,
            after: self.row(j + 1),
        })
    }
}

/// Row of a layer, with the rows before and after it along y.
pub(super) struct LayerRows<'a> {
    before: &'a [u64],
    row: &'a [u64],
    after: &'a [u64],
}

impl LayerRows<'_> {
    /// Returns the exposed faces of the row in a direction within the layer, as words.
    pub(super) fn exposed(&self, facing: Facing) -> impl Iterator<Item = u64> + '_ {
        let Self { before, row, after } = self;
        row.iter().enumerate().map(move |(n, word)| {
            let beyond = match (facing.axis, facing.side) {
                (0, FaceSide::Low) => word << 1 | if n > 0 { row[n - 1] >> 63 } else { 0 },
                (0, FaceSide::High) => word >> 1 | row.get(n + 1).map_or(0, |next| next << 63),
                (_, FaceSide::Low) => before[n],
                (_, FaceSide::High) => after[n],
            };
            word & !beyond
        })
    }
}

/// Returns `true` if a row has no occupied cell. This is so for most rows.
fn is_empty(row: &[u64]) -> bool {
    row.iter().fold(0, |all, word| all | word) == 0
}

/// The two layers on both sides of a wall of z.
#[derive(Clone, Copy)]
pub(super) struct LayerPair<'a> {
    pub below: CellLayer<'a>,
    pub above: CellLayer<'a>,
}

impl<'a> LayerPair<'a> {
    /// Returns the exposed faces of row `j` that point from one layer to the other, as words.
    pub(super) fn exposed(&self, j: usize, facing: Facing) -> impl Iterator<Item = u64> + use<'a> {
        let [from, to] = if facing == Facing::UP {
            [self.below, self.above]
        } else {
            [self.above, self.below]
        };
        from.row(j)
            .iter()
            .zip(to.row(j))
            .map(|(word, beyond)| word & !beyond)
    }

    /// Returns the layer of the cells whose faces point in this direction.
    pub(super) fn layer(&self, facing: Facing) -> &CellLayer<'a> {
        if facing == Facing::UP {
            &self.below
        } else {
            &self.above
        }
    }

    /// Sets bits in `corners` for the corners of exposed faces on wall `j` of y. `corners` has one bit for
    /// each wall of x. A point is such a corner if some but not all of the eight cells around it are
    /// occupied.
    pub(super) fn corners(&self, j: usize, corners: &mut [u64]) {
        let [below, above] =
            [self.below, self.above].map(|layer| [layer.row(j.wrapping_sub(1)), layer.row(j)]);
        let rows = [below[0], below[1], above[0], above[1]];
        if rows.iter().all(|row| is_empty(row)) {
            return;
        }
        let [mut some_before, mut all_before] = [0; 2];
        for (n, corners) in corners.iter_mut().enumerate() {
            let words = rows.map(|row| row.get(n).copied().unwrap_or(0));
            let some = words.into_iter().fold(0, |some, word| some | word);
            let all = words.into_iter().fold(!0, |all, word| all & word);
            // The cells on both sides along x are combined.
            *corners =
                (some | some << 1 | some_before >> 63) & !(all & (all << 1 | all_before >> 63));
            (some_before, all_before) = (some, all);
        }
    }
}

/// Copies the last layer of a slab, because the faces of the next slab depend on it.
pub(super) fn last_layer(cells: CellsRef, has_labels: bool) -> Result<Cells> {
    let [nx, ny, layers] = cells.dims();
    let k = layers - 1;
    if let (CellsRef::Labels(labels), true) = (cells, has_labels) {
        let mut copy = Labels::new([nx, ny, 1], labels.legend().clone())?;
        let mut row = vec![0; nx];
        for j in 0..ny {
            labels.row(j, k, &mut row);
            copy.put_row(j, 0, &row).map_err(|Unnamed(value)| {
                Error::usage(format!("the legend has no label {value}"))
            })?;
        }
        return Ok(copy.into());
    }
    let mut copy = BitGrid::new([nx, ny, 1])?;
    copy.words_mut().copy_from_slice(cells.occupied()?.layer(k));
    Ok(copy.into())
}
