//! Cells of a grid, which are bits, labels or a field.

use super::arrays::CellArray;
use super::bits::{BitGrid, bits_of};
use super::field::Field;
use super::labels::Labels;
use super::legend::Legend;
use crate::error::{Error, Result};

/// Kind of value in the cells of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// Each cell is occupied or empty.
    Bits,
    /// Each occupied cell has a label.
    Labels,
    /// Each cell has a number.
    Field,
}

impl CellKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Bits, Self::Labels, Self::Field];

    /// Returns the name of the kind: `bits`, `labels` or `field`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Labels => "labels",
            Self::Field => "field",
        }
    }

    /// Returns the plural of the name: `bits`, `labels` or `fields`.
    pub fn plural(self) -> &'static str {
        if self == Self::Field {
            "fields"
        } else {
            self.name()
        }
    }

    /// Returns an upper bound of the memory, in bytes, of a grid of these dims. Labels with a short legend
    /// need less.
    pub fn bytes_for(self, dims: [usize; 3]) -> u128 {
        let cells = dims.iter().map(|&n| n as u128).product::<u128>();
        match self {
            Self::Bits => BitGrid::bytes_for(dims),
            Self::Labels => BitGrid::bytes_for(dims) + cells,
            Self::Field => 4 * cells,
        }
    }
}

/// Kind of the cells, with the properties that all cells share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellType<'a> {
    /// Each cell is occupied or empty.
    Bits,
    /// Each occupied cell has a label of this legend.
    Labels(&'a Legend),
    /// Each cell has a number.
    Field {
        /// Value of cells for which no number was computed.
        background: f32,
    },
}

impl CellType<'_> {
    /// Returns the kind of the cells.
    pub fn kind(&self) -> CellKind {
        match self {
            Self::Bits => CellKind::Bits,
            Self::Labels(_) => CellKind::Labels,
            Self::Field { .. } => CellKind::Field,
        }
    }

    /// Returns the colour of a label. It is the standard colour if the label is a standard one, otherwise the
    /// colour in the legend or a default colour.
    pub fn colour(&self, label: u8) -> [u8; 3] {
        let legend = match self {
            Self::Labels(legend) => *legend,
            _ => &Legend::default(),
        };
        let standard = legend.get(label).and_then(|label| label.standard_colour());
        standard.unwrap_or_else(|| legend.colour(label))
    }
}

/// Cells of a grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Each cell is occupied or empty.
    Bits(BitGrid),
    /// Each occupied cell has a label.
    Labels(Labels),
    /// Each cell has a number.
    Field(Field),
}

/// Borrowed cells of a grid.
#[derive(Debug, Clone, Copy)]
pub enum CellsRef<'a> {
    /// Each cell is occupied or empty.
    Bits(&'a BitGrid),
    /// Each occupied cell has a label.
    Labels(&'a Labels),
    /// Each cell has a number.
    Field(&'a Field),
}

/// Borrowed cells of a grid, for writing.
#[derive(Debug)]
pub enum CellsMut<'a> {
    /// Each cell is occupied or empty.
    Bits(&'a mut BitGrid),
    /// Each cell has a number. If the list is present, it has the number of the triangle nearest to each
    /// cell.
    Field(&'a mut Field, Option<&'a mut [i32]>),
    /// Each cell has a number, and values in additional arrays.
    WithArrays(&'a mut Field, &'a mut [CellArray]),
}

impl<'a> CellsMut<'a> {
    /// Returns the grid of bits.
    ///
    /// # Errors
    /// Fails if the cells are a field.
    pub fn bits(self) -> Result<&'a mut BitGrid> {
        match self {
            Self::Bits(bits) => Ok(bits),
            Self::Field(..) | Self::WithArrays(..) => Err(not_occupied()),
        }
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Field(field, _) | Self::WithArrays(field, _) => field.dims(),
        }
    }

    /// Returns the kind of the cells.
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
    /// Returns a reference to the cells.
    pub fn as_ref(&self) -> CellsRef<'_> {
        match self {
            Self::Bits(bits) => CellsRef::Bits(bits),
            Self::Labels(labels) => CellsRef::Labels(labels),
            Self::Field(field) => CellsRef::Field(field),
        }
    }

    /// Returns the grid of occupied cells, if the cells are bits or labels.
    ///
    /// # Errors
    /// Fails if the cells are a field, which has no occupied cells.
    pub fn into_occupied(self) -> Result<BitGrid> {
        match self {
            Self::Bits(bits) => Ok(bits),
            Self::Labels(labels) => Ok(labels.into_occupied()),
            Self::Field(_) => Err(not_occupied()),
        }
    }
}

impl<'a> CellsRef<'a> {
    /// Returns an upper bound of the memory of the cells in bytes.
    pub fn bytes(self) -> u128 {
        match self {
            Self::Bits(bits) => BitGrid::bytes_for(bits.dims()),
            Self::Labels(labels) => Labels::bytes_for(labels.dims(), labels.legend()),
            Self::Field(field) => Field::bytes_for(field.dims()),
        }
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Labels(labels) => labels.dims(),
            Self::Field(field) => field.dims(),
        }
    }

    /// Returns the kind of the cells.
    pub fn kind(&self) -> CellKind {
        self.cell_type().kind()
    }

    /// Returns the kind of the cells, with the legend of labels or the background of a field.
    pub fn cell_type(&self) -> CellType<'a> {
        match *self {
            Self::Bits(_) => CellType::Bits,
            Self::Labels(labels) => CellType::Labels(labels.legend()),
            Self::Field(field) => CellType::Field {
                background: field.background(),
            },
        }
    }

    /// Returns the grid of occupied cells, if the cells are bits or labels.
    ///
    /// # Errors
    /// Fails if the cells are a field, which has no occupied cells.
    pub fn occupied(&self) -> Result<&'a BitGrid> {
        match *self {
            Self::Bits(bits) => Ok(bits),
            Self::Labels(labels) => Ok(labels.occupied()),
            Self::Field(_) => Err(not_occupied()),
        }
    }

    /// Returns 64 cells of row `(j, k)` from cell `64 n` on as a word, with one bit for each occupied cell.
    /// For a field, the bits are the cells that differ from the background.
    pub fn word(self, j: usize, k: usize, n: usize) -> u64 {
        match self {
            Self::Bits(bits) => bits.row(j, k)[n],
            Self::Labels(labels) => labels.occupied().row(j, k)[n],
            Self::Field(field) => field.word(j, k, n),
        }
    }

    /// Returns the x indices of the occupied cells in row `(j, k)`. For a field, those of the cells that
    /// differ from the background.
    pub fn occupied_in(self, j: usize, k: usize) -> impl Iterator<Item = usize> {
        let words = 0..self.dims()[0].div_ceil(64);
        words.flat_map(move |n| bits_of(self.word(j, k, n)).map(move |bit| 64 * n + bit))
    }

    /// Returns the number of occupied cells. For a field, the number of cells that differ from the
    /// background.
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
