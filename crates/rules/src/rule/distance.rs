//! The rule distance: the value of a cell is the distance from its centre to the nearest point of the mesh,
//! in units of the file. If an iso value is given, there is no field; the cells whose value is at most the iso
//! value are occupied. docs/internals/distance.md describes the computation and its exactness.

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

/// Iso value of a field of distances: a length, or a length below zero, which is inside the mesh. `Display`
/// writes the text that [`FromStr`] parses, such as `0.5` or `-2vx`.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::{Iso, Length};
///
/// assert_eq!("2vx".parse::<Iso>()?, Iso::from(Length::cells(2)));
/// assert_eq!("-0.50".parse::<Iso>()?.to_string(), "-0.5");
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Iso {
    distance: Length,
    is_below_zero: bool,
}

impl Iso {
    /// Creates the value `distance`, or the negative value if `is_below_zero` is true.
    pub fn new(distance: Length, is_below_zero: bool) -> Self {
        Self {
            distance,
            is_below_zero: is_below_zero && distance.value().is_positive(),
        }
    }

    /// Returns the distance from the mesh without a sign.
    pub fn distance(&self) -> Length {
        self.distance
    }

    /// Returns true if the value is less than zero.
    pub fn is_below_zero(&self) -> bool {
        self.is_below_zero
    }
}

impl From<Length> for Iso {
    fn from(distance: Length) -> Self {
        Self::new(distance, false)
    }
}

impl FromStr for Iso {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim_start().strip_prefix('-') {
            Some(distance) => Ok(Self::new(distance.parse()?, true)),
            None => Ok(text.parse::<Length>()?.into()),
        }
    }
}

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_below_zero { "-" } else { "" };
        write!(f, "{sign}{}", self.distance)
    }
}

/// Cells that the rule occupies on a lattice if it makes bits.
#[derive(Debug, Clone, Copy)]
pub(super) enum IsoCells {
    /// Cells whose distance is at most this value, and cells inside.
    Within(f32),
    /// Cells inside whose distance is at least this value.
    Deep(f32),
}

/// Computes the distances of cells, or occupies the cells up to an iso value. Distances have a sign if a
/// method finds the inside.
pub(super) struct DistanceCells<'a> {
    pub distances: Distances,
    pub inside: Option<PreparedInside<'a>>,
    /// Cells that are occupied. `None` if the rule makes a field.
    pub iso: Option<IsoCells>,
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
            CellsMut::Bits(grid) => match self.iso.ok_or_else(makes_field)? {
                IsoCells::Within(most) => {
                    self.distances.occupy(layers.clone(), most, grid, run)?;
                    self.fill_inside(layers, run, grid)
                }
                IsoCells::Deep(least) => {
                    let stats = self.fill_inside(layers.clone(), run, grid)?;
                    let mut near = BitGrid::new(grid.dims())?;
                    self.distances
                        .occupy(layers, least.next_down(), &mut near, run)?;
                    grid.remove(&near, 0);
                    Ok(stats)
                }
            },
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

/// Returns the cells that are occupied with an iso value. Fails if its distance is not less than the width of
/// the band.
pub(super) fn iso_cells(band: Band, iso: Iso, lattice: &Lattice) -> Result<IsoCells> {
    let exact = iso.distance.in_world(lattice.spacing());
    if let Band::Width(width) = band
        && exact >= width.in_world(lattice.spacing())
    {
        let reach = width.in_world(lattice.spacing()).to_f64();
        let error = beyond_band(iso, width);
        let message = format!(
            "{} ({} in units of the file)",
            error.message(),
            number(reach)
        );
        return Err(match iso.distance.unit() {
            LengthUnit::Cells => error,
            _ => Error::usage(message).with_hint(error.hint().cloned().unwrap_or_default()),
        });
    }
    let nearest = exact.to_f32();
    let rounded = Rational::from_f32(nearest);
    if iso.is_below_zero {
        let is_below = rounded.is_some_and(|rounded| rounded < exact);
        let least = if is_below { nearest.next_up() } else { nearest };
        return Ok(IsoCells::Deep(least));
    }
    let is_above = rounded.is_none_or(|rounded| rounded > exact);
    let most = if is_above {
        nearest.next_down()
    } else {
        nearest
    };
    Ok(IsoCells::Within(most))
}

/// Returns the error for an iso value that is not within the band.
pub(super) fn beyond_band(iso: Iso, width: Length) -> Error {
    let unit = match width.unit() {
        LengthUnit::Cells => " cells",
        _ => "",
    };
    let width = Band::Width(width);
    let distance = iso.distance;
    Error::usage(format!(
        "iso: {distance} must be less than the band, {width}{unit}"
    ))
    .with_hint("use `--band W` with a larger W, or `--band all`")
}
