//! Cells to be shown, with the meaning of the numbers of a field.

use voxelize_core::grid::{BitGrid, Cells, CellsRef, Field, Labels};
use voxelize_formats::Voxels;

/// Colours of the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FieldScale {
    /// Scale of colours from the lowest value to the highest, with contour lines.
    #[default]
    Range,
    /// Greys for shares of cells. 0 looks like an empty cell, 1 is dark, and shares in between are greys.
    Shares,
}

/// Colour of occupied cells of bits in a slice whose six neighbours are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enclosed {
    /// A different colour.
    #[default]
    Apart,
    /// The same colour as others. In a hollow shell these cells only mark its thick places.
    Alike,
}

/// Cells for a slice or a sheet. Created from [`Voxels`], it shows a field according to the rule that made
/// it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Cells to show.
    pub cells: CellsRef<'a>,
    /// Colours of a field.
    pub scale: FieldScale,
    /// Colour of enclosed cells.
    pub enclosed: Enclosed,
}

impl<'a> Shown<'a> {
    /// Shows cells made by the rule with this name, if it is known.
    pub fn by_rule(cells: impl Into<CellsRef<'a>>, rule_name: Option<&str>) -> Self {
        let scale = if rule_name == Some("fraction") {
            FieldScale::Shares
        } else {
            FieldScale::Range
        };
        let has_inside = rule_name.is_none_or(|name| ["filled", "solid", "offset"].contains(&name));
        let enclosed = if has_inside {
            Enclosed::Apart
        } else {
            Enclosed::Alike
        };
        Self {
            cells: cells.into(),
            scale,
            enclosed,
        }
    }
}

impl<'a> From<&'a Voxels> for Shown<'a> {
    fn from(voxels: &'a Voxels) -> Self {
        Self::by_rule(voxels, voxels.record.rule_name.as_deref())
    }
}

impl<'a> From<CellsRef<'a>> for Shown<'a> {
    fn from(cells: CellsRef<'a>) -> Self {
        Self::by_rule(cells, None)
    }
}

impl<'a> From<&'a Cells> for Shown<'a> {
    fn from(cells: &'a Cells) -> Self {
        Self::by_rule(cells, None)
    }
}

impl<'a> From<&'a BitGrid> for Shown<'a> {
    fn from(bits: &'a BitGrid) -> Self {
        Self::by_rule(bits, None)
    }
}

impl<'a> From<&'a Labels> for Shown<'a> {
    fn from(labels: &'a Labels) -> Self {
        Self::by_rule(labels, None)
    }
}

impl<'a> From<&'a Field> for Shown<'a> {
    fn from(field: &'a Field) -> Self {
        Self::by_rule(field, None)
    }
}
