//! Cells of a grid: bits, labels, or a field.

use super::arrays::CellArray;
use super::bits::{BitGrid, bits_of};
use super::field::Field;
use super::labels::Labels;
use super::legend::Legend;
use crate::error::{Error, Result};

/// Kind of value in the cells of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// Occupied or empty.
    Bits,
    /// A label for each occupied cell.
    Labels,
    /// A number for each cell.
    Field,
}

impl CellKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Bits, Self::Labels, Self::Field];

    /// Returns the name: `bits`, `labels` or `field`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Labels => "labels",
            Self::Field => "field",
        }
    }

    /// Returns the plural: `bits`, `labels` or `fields`.
    pub fn plural(self) -> &'static str {
        if self == Self::Field {
            "fields"
        } else {
            self.name()
        }
    }

    /// Returns an upper bound of the bytes of a grid of these dims. Labels with a short legend need less.
    pub fn bytes_for(self, dims: [usize; 3]) -> u128 {
        let cells = dims.iter().map(|&n| n as u128).product::<u128>();
        match self {
            Self::Bits => BitGrid::bytes_for(dims),
            Self::Labels => BitGrid::bytes_for(dims) + cells,
            Self::Field => 4 * cells,
        }
    }
}

/// Kind of cells with their common properties.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellType<'a> {
    /// Occupied or empty.
    Bits,
    /// Labels of this legend.
    Labels(&'a Legend),
    /// Numbers with this background.
    Field {
        /// Value of cells without a computed number.
        background: f32,
    },
}

impl CellType<'_> {
    /// Returns the kind without the properties.
    pub fn kind(&self) -> CellKind {
        match self {
            Self::Bits => CellKind::Bits,
            Self::Labels(_) => CellKind::Labels,
            Self::Field { .. } => CellKind::Field,
        }
    }

    /// Returns the colour of a label: the colour in its legend, or the default colour of the label.
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
    /// Occupied or empty.
    Bits(BitGrid),
    /// A label for each occupied cell.
    Labels(Labels),
    /// A number for each cell.
    Field(Field),
}

/// Borrowed cells of a grid.
#[derive(Debug, Clone, Copy)]
pub enum CellsRef<'a> {
    /// Occupied or empty.
    Bits(&'a BitGrid),
    /// A label for each occupied cell.
    Labels(&'a Labels),
    /// A number for each cell.
    Field(&'a Field),
}

/// Cells of a grid to be computed.
#[derive(Debug)]
pub enum CellsMut<'a> {
    /// Occupied or empty.
    Bits(&'a mut BitGrid),
    /// A number for each cell and, if requested, the number of the triangle nearest to each cell.
    Field(&'a mut Field, Option<&'a mut [i32]>),
    /// A number for each cell, and additional arrays.
    WithArrays(&'a mut Field, &'a mut [CellArray]),
}

impl<'a> CellsMut<'a> {
    /// Returns the bits.
    ///
    /// # Errors
    /// The cells are a field.
    pub fn bits(self) -> Result<&'a mut BitGrid> {
        match self {
            Self::Bits(bits) => Ok(bits),
            Self::Field(..) | Self::WithArrays(..) => Err(not_occupied()),
        }
    }

    /// Returns the cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Field(field, _) | Self::WithArrays(field, _) => field.dims(),
        }
    }

    /// Returns the kind.
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
    /// Borrows the cells.
    pub fn as_ref(&self) -> CellsRef<'_> {
        match self {
            Self::Bits(bits) => CellsRef::Bits(bits),
            Self::Labels(labels) => CellsRef::Labels(labels),
            Self::Field(field) => CellsRef::Field(field),
        }
    }

    /// Returns the occupied cells of bits or labels.
    ///
    /// # Errors
    /// The cells are a field, which has no occupied cells.
    pub fn into_occupied(self) -> Result<BitGrid> {
        match self {
            Self::Bits(bits) => Ok(bits),
            Self::Labels(labels) => Ok(labels.into_occupied()),
            Self::Field(_) => Err(not_occupied()),
        }
    }
}

impl<'a> CellsRef<'a> {
    /// Returns an upper bound of the bytes in memory.
    pub fn bytes(self) -> u128 {
        match self {
            Self::Bits(bits) => BitGrid::bytes_for(bits.dims()),
            Self::Labels(labels) => Labels::bytes_for(labels.dims(), labels.legend()),
            Self::Field(field) => Field::bytes_for(field.dims()),
        }
    }

    /// Returns the cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Labels(labels) => labels.dims(),
            Self::Field(field) => field.dims(),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> CellKind {
        self.cell_type().kind()
    }

    /// Returns the kind with the legend of labels or the background of a field.
    pub fn cell_type(&self) -> CellType<'a> {
        match *self {
            Self::Bits(_) => CellType::Bits,
            Self::Labels(labels) => CellType::Labels(labels.legend()),
            Self::Field(field) => CellType::Field {
                background: field.background(),
            },
        }
    }

    /// Returns the occupied cells of bits or labels.
    ///
    /// # Errors
    /// The cells are a field, which has no occupied cells.
    pub fn occupied(&self) -> Result<&'a BitGrid> {
        match *self {
            Self::Bits(bits) => Ok(bits),
            Self::Labels(labels) => Ok(labels.occupied()),
            Self::Field(_) => Err(not_occupied()),
        }
    }

    /// Returns the occupied cells among up to 64 cells of row `(j, k)`, starting at cell `64 n`. For a field,
    /// the cells that differ from the background.
    pub fn word(self, j: usize, k: usize, n: usize) -> u64 {
        match self {
            Self::Bits(bits) => bits.row(j, k)[n],
            Self::Labels(labels) => labels.occupied().row(j, k)[n],
            Self::Field(field) => field.word(j, k, n),
        }
    }

    /// Returns the occupied cells of row `(j, k)`. For a field, the cells that differ from the background.
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
