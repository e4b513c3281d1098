//! How cells look in a slice: the colour and the letter of each, and what the colours mean.

use super::colours::{self, Colour};
use super::panel::{Panel, PanelScale, short};
use super::scale::Scale;
use super::shown::{Enclosed, FieldScale, Shown};
use voxelize_core::grid::{BitGrid, CellsRef, Field, Label, Labels};
use voxelize_core::par;

/// The colours of cells.
pub(super) enum Paint<'a> {
    /// Occupied cells in one colour; enclosed ones in another, but those of a shell.
    Bits(&'a BitGrid, Enclosed),
    /// Every label in its own.
    Labels(&'a Labels, Box<[Colour; 256]>),
    /// Values on a scale; `None` if there are none but the background.
    Field(&'a Field, Option<[f64; 2]>),
    /// Shares of cells, 0 to 1.
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

    /// The colour of a cell. Surface within other cells is drawn as interior.
    pub(super) fn colour(&self, cell: [usize; 3]) -> Colour {
        match self {
            Self::Bits(bits, _) if !bits.get(cell) => colours::EMPTY,
            Self::Bits(bits, Enclosed::Apart) if is_inner(bits, cell) => colours::INTERIOR,
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

    /// A letter for a cell: `.` if it is empty or background; `#` for an occupied one, `+` and `-` for one added
    /// or removed, 1 to 9 and a to z for other labels up to 35; 0 to 9 for tenths of the range of a field, `?`
    /// where it has no value. With values below zero 0 to 9 are tenths of the largest size, a to j the same below zero,
    /// and `#` is inside beyond the band.
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

    /// The meaning of the colours; nothing if they are those of every picture.
    pub(super) fn panel(&self) -> Panel {
        match self {
            // One colour says nothing.
            Self::Bits(_, Enclosed::Alike) => Panel::default(),
            Self::Bits(_, Enclosed::Apart) => Panel {
                squares: Vec::from(OF_BITS.map(named)),
                ..Panel::default()
            },
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
                }
            }
            Self::Shares(_) => {
                let plain = [(0.0, "0: outside"), (1.0, "1: inside")];
                let square = |(share, name)| named((colours::of_share_of_cell(share), name));
                Panel {
                    scale: Some(PanelScale::Shares),
                    squares: plain.map(square).into(),
                }
            }
        }
    }
}

/// The meaning of the colours of bits in a slice.
const OF_BITS: [(Colour, &str); 2] = [
    (colours::SURFACE, "occupied"),
    (colours::INTERIOR, "enclosed"),
];

fn named((colour, name): (Colour, &str)) -> (Colour, String) {
    (colour, name.to_string())
}

/// The digit for a share of a scale.
fn tenth(share: f64) -> char {
    char::from_digit((share * 10.0).min(9.0) as u32, 10).unwrap_or('9')
}

/// Where the value of a cell is on a scale.
enum Share {
    Background,
    /// Inside, beyond the band.
    Negated,
    NoValue,
    Of(f64),
}

/// A letter for a value of a field with values of both signs: 0 to 9 for tenths of the largest value, a to j for the
/// same below zero.
fn signed_letter(field: &Field, cell: [usize; 3], largest: f64) -> char {
    let value = field.get(cell);
    match () {
        () if field.is_background(value) => '.',
        () if field.is_negated(value) => '#',
        () if value.is_nan() => '?',
        () => {
            let tenth = (f64::from(value.abs()) / largest * 10.0).min(9.0) as u8;
            char::from(if value.is_sign_negative() { b'a' } else { b'0' } + tenth)
        }
    }
}

/// Labels that have a line beside a picture.
const MOST_LABELS: usize = 24;

/// The meaning of the colours of labels: those of the cells. Colours that are named by their numbers mean nothing else.
pub(super) fn of_labels(labels: &Labels, colours: &[Colour; 256]) -> Panel {
    let present = labels.counts().into_iter().filter(|(_, count)| *count > 0);
    let square = |(value, _): (u8, u64)| {
        (
            colours[usize::from(value)],
            labels.legend().name(value).into_owned(),
        )
    };
    let mut squares: Vec<_> = present
        .map(square)
        .filter(|(_, name)| !name.starts_with('#'))
        .collect();
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

/// Whether all six neighbours are occupied.
fn is_inner(occupied: &BitGrid, cell: [usize; 3]) -> bool {
    (0..3).all(|axis| {
        let is_same = |at: usize| {
            let mut other = cell;
            other[axis] = at;
            occupied.get(other)
        };
        cell[axis] > 0
            && cell[axis] + 1 < occupied.dims()[axis]
            && is_same(cell[axis] - 1)
            && is_same(cell[axis] + 1)
    })
}

/// The least and the greatest finite value that is not the background.
fn finite_range(field: &Field) -> Option<[f64; 2]> {
    let [nx, ny, nz] = field.dims();
    let of_layer = |k: usize| {
        let values = field.values()[k * nx * ny..(k + 1) * nx * ny].iter();
        let is_value = |value: f32| {
            value.is_finite() && !field.is_background(value) && !field.is_negated(value)
        };
        let values = values.filter(|value| is_value(**value));
        values.fold(None, |range: Option<[f32; 2]>, value| {
            Some(range.map_or([*value; 2], |[low, high]| {
                [low.min(*value), high.max(*value)]
            }))
        })
    };
    let layers = par::map_range(0..nz, of_layer);
    let range = layers
        .into_iter()
        .flatten()
        .reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    range.map(|range| range.map(f64::from))
}
