//! Outcome of a case: its cells are compared with those of the golden.

use super::diff::Difference;
use super::field::FieldDifference;
use super::goldens::Gate;
use super::lattice::{Mismatch, lattices};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::record::FIELDS;
use voxelize_core::grid::{Lattice, Record};
use voxelize_formats::Voxels;
use voxelize_rules::rule::RULES;

/// Outcome of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseResult {
    /// The cells and their positions are equal to those of the golden.
    Same,
    /// Cells differ, but within the accepted limits.
    Allowed(Difference),
    /// More cells differ than is accepted.
    Cells(Difference),
    /// Values of two fields differ.
    Field(FieldDifference),
    /// The digests differ, so either cells or their positions differ.
    Digest,
    /// Lattices or records differ. Each line has the name of a property, the value in the golden and the new
    /// value.
    Grid(Vec<String>),
    /// There is no result to compare, because of this error.
    Failed(Error),
}

impl CaseResult {
    /// Returns `true` if the case passes.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Same | Self::Allowed(_))
    }

    /// Returns the name of the kind of outcome.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Allowed(_) => "allowed",
            Self::Cells(_) | Self::Field(_) => "cells",
            Self::Digest => "digest",
            Self::Grid(_) => "grid",
            Self::Failed(_) => "error",
        }
    }

    /// Returns the difference between the cells. `None` if it is not known.
    pub fn difference(&self) -> Option<&Difference> {
        match self {
            Self::Allowed(difference) | Self::Cells(difference) => Some(difference),
            _ => None,
        }
    }
}

/// Returns the differences in lattice and record between a golden and a grid. Cells are not compared. Each
/// line has the name of a property, the value in the golden and the new value. Rule, ties, inside and snap
/// are compared only if both records state them.
///
/// # Errors
/// Fails if the golden or the grid has no lattice.
pub fn other_grid(lattice: Option<&Lattice>, record: &Record, got: &Voxels) -> Result<Vec<String>> {
    let (Some(wanted), Some(found)) = (lattice, &got.lattice) else {
        return Err(Error::usage(
            "does not contain the position of its cells, so it cannot be compared",
        )
        .with_hint("use an .npz, or write a sidecar"));
    };
    let made = &got.record;
    let mut pairs = vec![(
        "rule".to_string(),
        record.rule_name.as_deref(),
        made.rule_name.as_deref(),
    )];
    let have_rules = record.rule_name.is_some() && made.rule_name.is_some();
    for name in FIELDS {
        // Other tools may omit an option that a rule always has, so it counts as unknown. Any other option is
        // absent if it was not used.
        let none = (have_rules && !is_always_there(name)).then_some("none");
        pairs.push((
            name.replace('_', " "),
            record.field(name).or(none),
            made.field(name).or(none),
        ));
    }
    pairs.push((
        "snap".to_string(),
        record.snap.as_deref(),
        made.snap.as_deref(),
    ));
    let mut other: Vec<_> = lattices(wanted, found)
        .iter()
        .map(Mismatch::rounded)
        .collect();
    for (name, old, new) in pairs {
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            other.push(format!("{name}: {old} → {new}"));
        }
    }
    Ok(other)
}

/// Returns `true` if the record of some rule always states this option, even with its default value.
fn is_always_there(name: &str) -> bool {
    RULES
        .iter()
        .any(|info| info.rule.fields().iter().any(|(field, _)| *field == name))
}

/// Compares a grid with a golden whose cells are known, and returns the outcome.
///
/// # Errors
/// Fails if the golden or the grid has no lattice.
pub fn against_grid(golden: &Voxels, got: &Voxels, gate: Gate) -> Result<CaseResult> {
    let other = other_grid(golden.lattice.as_ref(), &golden.record, got)?;
    if !other.is_empty() {
        return Ok(CaseResult::Grid(other));
    }
    // The limits of a gate apply to occupied cells, not to the values of a field.
    if let (Some(golden), Some(got)) = (golden.field(), got.field()) {
        let difference = FieldDifference::between(golden, got, None)?;
        return Ok(if golden == got {
            CaseResult::Same
        } else if difference.differing > 0 {
            CaseResult::Field(difference)
        } else {
            // Only the backgrounds differ.
            CaseResult::Digest
        });
    }
    let difference = Difference::between(golden.occupied()?, got.occupied()?)?;
    Ok(if difference.is_none() {
        CaseResult::Same
    } else if gate.lets_pass(difference.differing(), difference.iou()) {
        CaseResult::Allowed(difference)
    } else {
        CaseResult::Cells(difference)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::geom::Rational;
    use voxelize_core::grid::BitGrid;

    fn voxels(text: &str, origin: i64, ties: Option<&str>) -> Voxels {
        let bits = BitGrid::from_text(text).unwrap();
        let origin = [origin, 0, 0].map(Rational::from);
        let lattice = Lattice::new(
            bits.dims(),
            origin,
            [1, 1, 1].map(Rational::from),
            [true; 3],
        )
        .unwrap();
        let fields = ties
            .map(|ties| ("ties", ties.to_string()))
            .into_iter()
            .collect();
        let record = Record {
            fields,
            ..Record::default()
        };
        Voxels {
            cells: bits.into(),
            lattice: Some(lattice),
            record,
        }
    }

    #[test]
    fn cells_lattice_and_record_count() {
        let golden = voxels("##.#", 0, Some("up"));
        let outcome = |got: &Voxels, gate| against_grid(&golden, got, gate).unwrap();
        let closed = Gate::default();
        assert_eq!(outcome(&golden, closed), CaseResult::Same);
        assert_eq!(outcome(&voxels("##.#", 0, None), closed), CaseResult::Same);
        let differs = outcome(&voxels("###.", 0, Some("up")), closed);
        assert!(!differs.passes() && differs.name() == "cells");
        assert_eq!(
            differs.difference().map(|d| (d.added, d.removed, d.common)),
            Some((1, 1, 2))
        );
        let moved = outcome(&voxels("##.#", 1, Some("both")), closed);
        assert_eq!(
            moved,
            CaseResult::Grid(vec![
                "origin along x: 0 → 1".into(),
                "ties: up → both".into()
            ])
        );
        let larger = outcome(
            &voxels("##.##", 0, Some("up")),
            Gate {
                allow: Some(9),
                iou_min: None,
            },
        );
        assert_eq!(
            larger,
            CaseResult::Grid(vec!["dims: 4 × 1 × 1 → 5 × 1 × 1".into()])
        );
        for (allow, passes) in [(1, false), (2, true)] {
            let allowed = outcome(
                &voxels("###.", 0, None),
                Gate {
                    allow: Some(allow),
                    iou_min: None,
                },
            );
            assert_eq!(allowed.passes(), passes, "{allowed:?}");
        }
        let nowhere = Voxels {
            lattice: None,
            ..golden.clone()
        };
        assert!(against_grid(&nowhere, &golden, closed).is_err());
    }
}
