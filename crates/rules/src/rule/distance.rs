//! The rule distance: the value of a cell is the distance from its centre to the nearest point of the mesh,
//! in units of the file. If an iso value is given, there is no field; the cells whose distance is at most
//! that value are occupied. docs/internals/distance.md describes the computation and its exactness.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::inside::{Inside, PreparedInside};
use super::{FillCells, Stats};
use crate::run::Run;
use crate::run::nearest::Distances;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{BitGrid, CellsMut, Field, Lattice, Length, LengthUnit};
use voxelize_core::par;
use voxelize_core::text::number;
use voxelize_kernel::distance::TieBreak;

/// Width of the narrow band around the mesh. Only cells in the band store their distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Band {
    /// Width in cells or in units of the file. Cells farther from the mesh have the width as their value, the
    /// background. If the sides of a cell differ in length, the shortest side is the unit of a width in cells.
    Width(Length),
    /// Every cell stores its distance. The background value is infinity.
    All,
}

impl Band {
    /// Text of a band that has all cells.
    const ALL: &str = "all";

    /// Returns a band of `count` cells.
    pub const fn cells(count: u32) -> Self {
        Self::Width(Length::cells(count))
    }
}

impl Default for Band {
    /// Returns a band of three cells.
    fn default() -> Self {
        Self::cells(3)
    }
}

impl FromStr for Band {
    type Err = Error;

    /// Parses `all`, a positive number of cells, or a length in units of the file such as `10units`.
    fn from_str(text: &str) -> Result<Self> {
        if text == Self::ALL {
            return Ok(Self::All);
        }
        let hint = "a band is a number of cells such as 3 or 2.5, a length such as 10mm or 10units, or all";
        if text.starts_with('-') {
            return Err(Error::usage("must be above zero").with_hint(hint));
        }
        let length = match text.strip_suffix(Length::UNITS) {
            Some(number) => number.trim_end().to_string(),
            None => format!("{}vx", text.trim_end_matches("vx")),
        };
        let width: Length = length
            .parse()
            .map_err(|e: Error| Error::usage(e.message()).with_hint(hint))?;
        if width.value().is_positive() {
            return Ok(Self::Width(width));
        }
        Err(Error::usage("must be above zero").with_hint(hint))
    }
}

impl fmt::Display for Band {
    /// Writes the text that [`FromStr`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Width(width) => match width.unit() {
                LengthUnit::World => write!(f, "{width}{}", Length::UNITS),
                _ => f.write_str(width.to_string().trim_end_matches("vx")),
            },
            Self::All => f.write_str(Self::ALL),
        }
    }
}

/// Computes the distances of cells, or occupies the cells up to a given distance. Distances have a sign if a
/// method finds the inside.
pub(super) struct DistanceCells<'a> {
    pub distances: Distances,
    pub inside: Option<PreparedInside<'a>>,
    /// Greatest distance of an occupied cell from the mesh. `None` if the rule makes a field.
    pub most: Option<f32>,
}

impl DistanceCells<'_> {
    /// Occupies the cells whose centres are inside, if the rule has a method for the inside. If the method is
    /// a flood, it occupies all cells that the flood does not reach, as the rule filled does.
    fn fill_inside(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let Some(inside) = &self.inside else {
            return Ok(Stats::default());
        };
        let stats = inside.fill(layers.clone(), run, grid)?;
        inside.occupy_touched(layers, grid);
        Ok(stats)
    }
}

impl FillCells for DistanceCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        match cells {
            CellsMut::Field(field, nearest) => {
                let nearest = nearest.map(|numbers| (numbers, TieBreak::Number));
                self.distances.fill(layers.clone(), field, nearest, run)?;
                if self.inside.is_none() {
                    return Ok(Stats::default());
                }
                let mut inside = BitGrid::new(field.dims())?;
                let stats = self.fill_inside(layers, run, &mut inside)?;
                negate(field, &inside);
                Ok(stats)
            }
            CellsMut::WithArrays(..) => {
                Err(Error::usage("the rule distance has no additional arrays"))
            }
            CellsMut::Bits(grid) => {
                let most = self.most.ok_or_else(makes_field)?;
                self.distances.occupy(layers.clone(), most, grid, run)?;
                self.fill_inside(layers, run, grid)
            }
        }
    }

    fn inside(&self) -> Option<Inside> {
        Some(self.inside.as_ref()?.used)
    }
}

/// Sets the sign bit in the values of the cells that are inside.
fn negate(field: &mut Field, inside: &BitGrid) {
    let [nx, ny, _] = field.dims();
    let layers = field.values_mut().chunks_mut(nx * ny).enumerate().collect();
    par::map(layers, |(k, layer): (usize, &mut [f32])| {
        for (j, row) in layer.chunks_mut(nx).enumerate() {
            for (values, word) in row
                .chunks_mut(64)
                .zip(inside.row(j, k))
                .filter(|(_, word)| **word != 0)
            {
                for (n, value) in values.iter_mut().enumerate() {
                    *value = f32::from_bits(value.to_bits() | ((word >> n & 1) as u32) << 31);
                }
            }
        }
    });
}

/// Returns the error for a request of bits from a rule that makes a field.
pub(super) fn makes_field() -> Error {
    Error::usage("the rule distance makes a field, not bits")
        .with_hint("with an iso value it makes bits")
}

/// Returns the value of cells outside the band: the width of the band in units of the file.
pub(super) fn background(band: Band, lattice: &Lattice) -> f32 {
    match band {
        Band::Width(width) => width.in_world(lattice.spacing()).to_f32(),
        Band::All => f32::INFINITY,
    }
}

/// Returns the greatest 32-bit float that is at most the iso distance. Fails if the distance is not less than
/// the width of the band.
pub(super) fn most(band: Band, iso: Length, lattice: &Lattice) -> Result<f32> {
    let exact = iso.in_world(lattice.spacing());
    if let Band::Width(width) = band
        && exact >= width.in_world(lattice.spacing())
    {
        let reach = width.in_world(lattice.spacing()).to_f64();
        let error = beyond_band(&iso.to_string(), width);
        let message = format!(
            "{} ({} in units of the file)",
            error.message(),
            number(reach)
        );
        return Err(match iso.unit() {
            LengthUnit::Cells => error,
            _ => Error::usage(message).with_hint(error.hint().cloned().unwrap_or_default()),
        });
    }
    let nearest = exact.to_f32();
    let is_above = Rational::from_f32(nearest).is_none_or(|nearest| nearest > exact);
    Ok(if is_above {
        nearest.next_down()
    } else {
        nearest
    })
}

/// Returns the error for an iso distance that is not within the band.
pub(super) fn beyond_band(iso: &str, width: Length) -> Error {
    let unit = match width.unit() {
        LengthUnit::Cells => " cells",
        _ => "",
    };
    let width = Band::Width(width);
    Error::usage(format!(
        "iso: {iso} must be less than the band, {width}{unit}"
    ))
    .with_hint("use `--band W` with a larger W, or `--band all`")
}
