//! Cells of one of three kinds: bits, labels, or a field.

use super::arrays::CellArray;
use super::bits::{BitGrid, bits_of};
use super::field::Field;
use super::labels::Labels;
use super::legend::Legend;
use crate::error::{Error, Result};

/// The kind of value in the cells of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// Occupied or not.
    Bits,
    /// A label for each occupied cell.
    Labels,
    /// A number for each cell.
    Field,
}

impl CellKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bits, Self::Labels, Self::Field];

    /// The word for it: `bits`, `labels` or `field`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Labels => "labels",
            Self::Field => "field",
        }
    }

    /// The word for cells of this kind: `bits`, `labels` or `fields`.
    pub fn plural(self) -> &'static str {
        if self == Self::Field {
            "fields"
        } else {
            self.name()
        }
    }

    /// The bytes a grid of these dims takes, at most: labels of a short legend take less.
    pub fn bytes_for(self, dims: [usize; 3]) -> u128 {
        let cells = dims.iter().map(|&n| n as u128).product::<u128>();
        match self {
            Self::Bits => BitGrid::bytes_for(dims),
            Self::Labels => BitGrid::bytes_for(dims) + cells,
            Self::Field => 4 * cells,
        }
    }
}

/// The kind of some cells, with what belongs to all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellType<'a> {
    /// Occupied or not.
    Bits,
    /// Labels of this legend.
    Labels(&'a Legend),
    /// Numbers with this background.
    Field {
        /// The value of cells that nothing was computed for.
        background: f32,
    },
}

impl CellType<'_> {
    /// The kind alone.
    pub fn kind(&self) -> CellKind {
        match self {
            Self::Bits => CellKind::Bits,
            Self::Labels(_) => CellKind::Labels,
            Self::Field { .. } => CellKind::Field,
        }
    }

    /// The colour of a label: one that its legend states, or the usual one of the label.
    pub fn colour(&self, label: u8) -> [u8; 3] {
        let legend = match self {
            Self::Labels(legend) => *legend,
            _ => &Legend::default(),
        };
        let standard = legend.get(label).and_then(|label| label.standard_colour());
        standard.unwrap_or_else(|| legend.colour(label))
    }
}

/// The cells of a grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Occupied or not.
    Bits(BitGrid),
    /// A label for each occupied cell.
    Labels(Labels),
    /// A number for each cell.
    Field(Field),
}

/// The cells of a grid, borrowed.
#[derive(Debug, Clone, Copy)]
pub enum CellsRef<'a> {
    /// Occupied or not.
    Bits(&'a BitGrid),
    /// A label for each occupied cell.
    Labels(&'a Labels),
    /// A number for each cell.
    Field(&'a Field),
}

/// The cells of a grid, to be filled in.
#[derive(Debug)]
pub enum CellsMut<'a> {
    /// Occupied or not.
    Bits(&'a mut BitGrid),
    /// A number for each cell; and, if they are wanted, the number of the triangle that is nearest to each cell.
    Field(&'a mut Field, Option<&'a mut [i32]>),
    /// A number for each cell, and arrays beside it.
    WithArrays(&'a mut Field, &'a mut [CellArray]),
}

impl<'a> CellsMut<'a> {
    /// The bits.
    ///
    /// # Errors
    /// If it is a field.
    pub fn bits(self) -> Result<&'a mut BitGrid> {
        match self {
            Self::Bits(bits) => Ok(bits),
            Self::Field(..) | Self::WithArrays(..) => Err(not_occupied()),
        }
    }

    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Field(field, _) | Self::WithArrays(field, _) => field.dims(),
        }
    }

    /// The kind.
    pub fn kind(&self) -> CellKind {
        match self {
            Self::Bits(_) => CellKind::Bits,
            Self::Field(..) | Self::WithArrays(..) => CellKind::Field,
        }
    }
}

impl<'a> From<&'a mut BitGrid> for CellsMut<'a> {
    fn from(bits: &'a mut BitGrid) -> Self {
        Self::Bits(bits)
    }
}

impl<'a> From<&'a mut Field> for CellsMut<'a> {
    fn from(field: &'a mut Field) -> Self {
        Self::Field(field, None)
    }
}

impl Cells {
    /// The cells, borrowed.
    pub fn as_ref(&self) -> CellsRef<'_> {
        match self {
            Self::Bits(bits) => CellsRef::Bits(bits),
            Self::Labels(labels) => CellsRef::Labels(labels),
            Self::Field(field) => CellsRef::Field(field),
        }
    }

    /// The occupied cells of bits or labels.
    ///
    /// # Errors
    /// If it is a field, which has none.
    pub fn into_occupied(self) -> Result<BitGrid> {
        match self {
            Self::Bits(bits) => Ok(bits),
            Self::Labels(labels) => Ok(labels.into_occupied()),
            Self::Field(_) => Err(not_occupied()),
        }
    }
}

impl<'a> CellsRef<'a> {
    /// The bytes that they take in memory, at most.
    pub fn bytes(self) -> u128 {
        match self {
            Self::Bits(bits) => BitGrid::bytes_for(bits.dims()),
            Self::Labels(labels) => Labels::bytes_for(labels.dims(), labels.legend()),
            Self::Field(field) => Field::bytes_for(field.dims()),
        }
    }

    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Labels(labels) => labels.dims(),
            Self::Field(field) => field.dims(),
        }
    }

    /// The kind.
    pub fn kind(&self) -> CellKind {
        self.cell_type().kind()
    }

    /// The kind, with the legend of labels or the background of a field.
    pub fn cell_type(&self) -> CellType<'a> {
        match *self {
            Self::Bits(_) => CellType::Bits,
            Self::Labels(labels) => CellType::Labels(labels.legend()),
            Self::Field(field) => CellType::Field {
                background: field.background(),
            },
        }
    }

    /// The occupied cells of bits or labels.
    ///
    /// # Errors
    /// If it is a field, which has none.
    pub fn occupied(&self) -> Result<&'a BitGrid> {
        match *self {
            Self::Bits(bits) => Ok(bits),
            Self::Labels(labels) => Ok(labels.occupied()),
            Self::Field(_) => Err(not_occupied()),
        }
    }

    /// Which of up to 64 cells of row `(j, k)`, from cell `64 n` on, are occupied; of a field, which have another value
    /// than the background.
    pub fn word(self, j: usize, k: usize, n: usize) -> u64 {
        match self {
            Self::Bits(bits) => bits.row(j, k)[n],
            Self::Labels(labels) => labels.occupied().row(j, k)[n],
            Self::Field(field) => field.word(j, k, n),
        }
    }

    /// The cells of row `(j, k)` that are occupied; of a field, that have another value than the background.
    pub fn occupied_in(self, j: usize, k: usize) -> impl Iterator<Item = usize> {
        let words = 0..self.dims()[0].div_ceil(64);
        words.flat_map(move |n| bits_of(self.word(j, k, n)).map(move |bit| 64 * n + bit))
    }

    /// How many cells are occupied; of a field, how many have another value than the background.
    pub fn count(&self) -> u64 {
        match self {
            Self::Bits(bits) => bits.count(),
            Self::Labels(labels) => labels.occupied().count(),
            Self::Field(field) => field.summary().cells,
        }
    }
}

fn not_occupied() -> Error {
    Error::usage("a field has a number in every cell, so none is occupied")
}

impl From<BitGrid> for Cells {
    fn from(bits: BitGrid) -> Self {
        Self::Bits(bits)
    }
}

impl From<Labels> for Cells {
    fn from(labels: Labels) -> Self {
        Self::Labels(labels)
    }
}

impl From<Field> for Cells {
    fn from(field: Field) -> Self {
        Self::Field(field)
    }
}

impl<'a> From<&'a BitGrid> for CellsRef<'a> {
    fn from(bits: &'a BitGrid) -> Self {
        Self::Bits(bits)
    }
}

impl<'a> From<&'a Labels> for CellsRef<'a> {
    fn from(labels: &'a Labels) -> Self {
        Self::Labels(labels)
    }
}

impl<'a> From<&'a Field> for CellsRef<'a> {
    fn from(field: &'a Field) -> Self {
        Self::Field(field)
    }
}

impl<'a> From<&'a Cells> for CellsRef<'a> {
    fn from(cells: &'a Cells) -> Self {
        cells.as_ref()
    }
}
