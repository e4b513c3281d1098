//! Cells that are shown, with the meaning of the numbers of a field.

use voxelize_core::grid::{BitGrid, Cells, CellsRef, Field, Labels};
use voxelize_formats::Voxels;

/// The colours of the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FieldScale {
    /// A scale of colours from the lowest value to the highest, with lines of equal value.
    #[default]
    Range,
    /// Greys of shares of cells: 0 is plain as an empty cell, 1 plain and dark, and what is between is between.
    Shares,
}

/// The colour of occupied cells of bits in a slice whose six neighbours are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enclosed {
    /// Another colour than others have.
    #[default]
    Apart,
    /// The same colour: in a hollow shell they are where it is thick.
    Alike,
}

/// Cells for a slice or a sheet. Made of [`Voxels`], it shows a field by the rule that made it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The cells.
    pub cells: CellsRef<'a>,
    /// The colours of a field.
    pub scale: FieldScale,
    /// The colour of enclosed cells.
    pub enclosed: Enclosed,
}

impl<'a> Shown<'a> {
    /// These cells, made by the rule of this name, if one is known.
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
