//! Cells to be shown, and how the values of a field are to be coloured.

use voxelize_core::grid::{BitGrid, Cells, CellsRef, Field, Labels};
use voxelize_formats::Voxels;

/// How the values of a field are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FieldScale {
    /// By a scale from the lowest value to the highest, with contour lines.
    #[default]
    Range,
    /// As shares of cells. 0 looks like an empty cell, 1 is dark, and shares in between are greys.
    Shares,
}

/// How a slice of bits shows the occupied cells whose six neighbours are all occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enclosed {
    /// In a different colour.
    #[default]
    Apart,
    /// In a different colour, as the inside of a solid.
    Inside,
    /// In the same colour as other occupied cells. This suits a hollow shell, in which such cells only show
    /// where the shell is thick.
    Alike,
}

/// Cells for a slice or a sheet. If it is created from [`Voxels`], the rule that made them decides how a
/// field is coloured.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Cells to show.
    pub cells: CellsRef<'a>,
    /// How the values of a field are coloured.
    pub scale: FieldScale,
    /// How enclosed cells are coloured.
    pub enclosed: Enclosed,
    /// Unit of the values of a field, which the scale names. `None` if it is unknown.
    pub unit: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// Shows cells that the rule with this name made. `None` if the rule is unknown.
    pub fn by_rule(cells: impl Into<CellsRef<'a>>, rule_name: Option<&str>) -> Self {
        let scale = if rule_name == Some("fraction") {
            FieldScale::Shares
        } else {
            FieldScale::Range
        };
        let enclosed = match rule_name {
            Some("filled" | "solid") => Enclosed::Inside,
            Some("offset") | None => Enclosed::Apart,
            Some(_) => Enclosed::Alike,
        };
        Self {
            cells: cells.into(),
            scale,
            enclosed,
            unit: None,
        }
    }

    /// Sets the unit of the values of a field.
    #[must_use]
    pub fn with_unit(self, unit: Option<&'a str>) -> Self {
        Self { unit, ..self }
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
