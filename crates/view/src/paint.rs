//! Appearance of cells in a slice: the colour and the letter of each cell, and the legend of the colours.

use super::colours::{self, Colour};
use super::panel::{Panel, PanelScale, short};
use super::scale::Scale;
use super::shown::{Enclosed, FieldScale, Shown};
use voxelize_core::grid::{BitGrid, CellsRef, Field, Label, Labels};
use voxelize_core::par;

/// Determines the colours of cells.
pub(super) enum Paint<'a> {
    /// Occupied cells have one colour. Enclosed cells may have another.
    Bits(&'a BitGrid, Enclosed),
    /// Each label has its own colour.
    Labels(&'a Labels, Box<[Colour; 256]>),
    /// Values are shown on a scale. `None` if all cells have the background.
    Field(&'a Field, Option<[f64; 2]>),
    /// Shares of cells, from 0 to 1.
    Shares(&'a Field),
}

impl<'a> Paint<'a> {
    pub(super) fn new(shown: Shown<'a>) -> Self {
        match shown.cells {
            CellsRef::Bits(bits) => Self::Bits(bits, shown.enclosed),
            CellsRef::Labels(labels) => {
                Self::Labels(labels, Box::new(colours::of(labels.legend())))
            }
            CellsRef::Field(field) if shown.scale == FieldScale::Shares => Self::Shares(field),
            CellsRef::Field(field) => Self::Field(field, finite_range(field)),
        }
    }

    /// Returns the colour of a cell. Surface cells whose six neighbours are all occupied are drawn as
    /// interior.
    pub(super) fn colour(&self, cell: [usize; 3]) -> Colour {
        match self {
            Self::Bits(bits, _) if !bits.get(cell) => colours::EMPTY,
            Self::Bits(bits, Enclosed::Apart | Enclosed::Inside) if is_inner(bits, cell) => {
                colours::INTERIOR
            }
            Self::Bits(..) => colours::SURFACE,
            Self::Labels(labels, colours) => match labels.get(cell) {
                0 => colours::EMPTY,
                value
                    if is(labels, value, &Label::SURFACE) && is_inner(labels.occupied(), cell) =>
                {
                    colours::INTERIOR
                }
                value => colours[usize::from(value)],
            },
            Self::Field(field, range) => match self.share(field.get(cell), *range) {
                Share::Background => colours::EMPTY,
                Share::Negated => colours::NEGATED,
                Share::NoValue => colours::NO_VALUE,
                Share::Of(_) => range.map_or(colours::EMPTY, |range| {
                    Scale::around(range).colour(field.get(cell).into())
                }),
            },
            Self::Shares(field) => colours::of_share_of_cell(field.get(cell)),
        }
    }

    /// Returns a letter for a cell. `.` is an empty or background cell, `#` an occupied cell, `+` an added
    /// cell, and `-` a removed cell. 1 to 9 and a to z are other labels up to 35. In a field, 0 to 9 are
    /// tenths of the range of the values, and `?` is a missing value. If the field has values below zero, 0
    /// to 9 are tenths of the largest magnitude, a to j are the same for values below zero, and `#` is a cell
    /// inside and beyond the band.
    pub(super) fn letter(&self, cell: [usize; 3]) -> char {
        match self {
            Self::Bits(bits, _) => {
                if bits.get(cell) {
                    '#'
                } else {
                    '.'
                }
            }
            Self::Labels(labels, _) => match labels.get(cell) {
                0 => '.',
                value if is(labels, value, &Label::ADDED) => '+',
                value if is(labels, value, &Label::REMOVED) => '-',
                _ if labels.legend().is_standard() => '#',
                value => char::from_digit(value.into(), 36).unwrap_or('#'),
            },
            Self::Field(field, Some([low, high]))
                if *low < 0.0 || field.get(cell).is_sign_negative() =>
            {
                signed_letter(field, cell, high.max(-low))
            }
            Self::Field(field, range) => match self.share(field.get(cell), *range) {
                Share::Background => '.',
                Share::Negated => '#',
                Share::NoValue => '?',
                Share::Of(share) => tenth(share),
            },
            Self::Shares(field) => match field.get(cell) {
                value if value.is_nan() => '?',
                value if value <= 0.0 => '.',
                value if value >= 1.0 => '#',
                value => tenth(value.into()),
            },
        }
    }

    fn share(&self, value: f32, range: Option<[f64; 2]>) -> Share {
        match (self, range) {
            (Self::Field(field, _), _) if field.is_background(value) => Share::Background,
            (Self::Field(field, _), _) if field.is_negated(value) => Share::Negated,
            _ if value.is_nan() => Share::NoValue,
            (_, Some([low, high])) if low < high => {
                Share::Of(((f64::from(value) - low) / (high - low)).clamp(0.0, 1.0))
            }
            _ => Share::Of(0.5),
        }
    }

    /// Returns the legend of the colours. Empty if the colours need no explanation.
    pub(super) fn panel(&self) -> Panel {
        match self {
            // A single colour needs no legend.
            Self::Bits(_, Enclosed::Alike) => Panel::default(),
            Self::Bits(_, enclosed) => {
                let inner = match enclosed {
                    Enclosed::Inside => "inside",
                    _ => "enclosed",
                };
                Panel {
                    squares: vec![
                        (colours::SURFACE, "occupied".to_string()),
                        (colours::INTERIOR, inner.to_string()),
                    ],
                    ..Panel::default()
                }
            }
            Self::Labels(labels, colours) => of_labels(labels, colours),
            Self::Field(field, range) => {
                let summary = field.summary();
                let all = field.dims().iter().map(|&n| n as u64).product::<u64>();
                let mut squares = Vec::new();
                if summary.negated > 0 {
                    squares.push((colours::NEGATED, "inside, beyond".to_string()));
                }
                if summary.cells + summary.negated < all {
                    let background = short(field.background().into());
                    squares.push((colours::EMPTY, format!("background {background}")));
                }
                if summary.nan > 0 {
                    squares.push((colours::NO_VALUE, "no value".to_string()));
                }
                Panel {
                    scale: range.map(|range| PanelScale::Values(Scale::around(range))),
                    squares,
                    ..Panel::default()
                }
            }
            Self::Shares(_) => Panel {
                scale: Some(PanelScale::Shares),
                squares: vec![
                    (colours::of_share_of_cell(0.0), "0: outside".to_string()),
                    (colours::of_share_of_cell(1.0), "1: inside".to_string()),
                ],
                ..Panel::default()
            },
        }
    }
}

/// Returns the digit for a position from 0 to 1 on a scale.
fn tenth(share: f64) -> char {
    char::from_digit((share * 10.0).min(9.0) as u32, 10).unwrap_or('9')
}

/// Position of a cell's value on a scale.
enum Share {
    Background,
    /// The cell is inside and beyond the band.
    Negated,
    NoValue,
    Of(f64),
}

/// Returns a letter for a value of a field that has positive and negative values. 0 to 9 are tenths of the
/// largest magnitude, and a to j are the same for values below zero.
fn signed_letter(field: &Field, cell: [usize; 3], largest: f64) -> char {
    let value = field.get(cell);
    if field.is_background(value) {
        return '.';
    }
    if field.is_negated(value) {
        return '#';
    }
    if value.is_nan() {
        return '?';
    }
    let tenth = (f64::from(value.abs()) / largest * 10.0).min(9.0) as u8;
    let zero = if value.is_sign_negative() { b'a' } else { b'0' };
    char::from(zero + tenth)
}

/// Maximum number of labels in a legend.
const MOST_LABELS: usize = 24;

/// Returns the legend of the labels that occur. Labels whose name is only a colour are left out, because the
/// name says nothing more than the colour.
pub(super) fn of_labels(labels: &Labels, colours: &[Colour; 256]) -> Panel {
    let mut squares = vec![];
    for (value, count) in labels.counts() {
        let name = labels.legend().name(value);
        if count > 0 && !name.starts_with('#') {
            squares.push((colours[usize::from(value)], name.into_owned()));
        }
    }
    let more = squares.len().saturating_sub(MOST_LABELS);
    squares.truncate(MOST_LABELS);
    if more > 0 {
        squares.push((colours[0], format!("and {more} more")));
    }
    Panel {
        squares,
        ..Panel::default()
    }
}

fn is(labels: &Labels, value: u8, label: &Label) -> bool {
    value == label.value && labels.legend().get(value) == Some(label)
}

/// Returns `true` if all six neighbours of a cell are occupied.
fn is_inner(occupied: &BitGrid, cell: [usize; 3]) -> bool {
    for axis in 0..3 {
        if cell[axis] == 0 || cell[axis] + 1 == occupied.dims()[axis] {
            return false;
        }
        let mut below = cell;
        let mut above = cell;
        below[axis] -= 1;
        above[axis] += 1;
        if !occupied.get(below) || !occupied.get(above) {
            return false;
        }
    }
    true
}

/// Returns the least and the greatest finite value. The background and its negative do not count. `None` if
/// there is no value.
fn finite_range(field: &Field) -> Option<[f64; 2]> {
    let [nx, ny, nz] = field.dims();
    let layers = par::map_range(0..nz, |k| {
        let mut range: Option<[f32; 2]> = None;
        for value in &field.values()[k * nx * ny..(k + 1) * nx * ny] {
            if value.is_finite() && !field.is_background(*value) && !field.is_negated(*value) {
                let [low, high] = range.unwrap_or([*value; 2]);
                range = Some([low.min(*value), high.max(*value)]);
            }
        }
        range
    });
    let ranges = layers.into_iter().flatten();
    let range = ranges.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
    Some(range.map(f64::from))
}
