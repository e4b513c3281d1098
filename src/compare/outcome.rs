//! What came of a case: whether its cells are those of the golden, and if not, how they differ.

use super::diff::Difference;
use super::goldens::Gate;
use super::lattice::lattices;
use crate::error::{Error, Result};
use crate::grid::{Lattice, Meta, Voxels};

/// What came of a case.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The cells, and where they are, are those of the golden.
    Same,
    /// Cells differ, and the gate lets that pass.
    Allowed(Difference),
    /// Cells differ.
    Cells(Difference),
    /// The digest is another: cells differ, or are elsewhere.
    Digest,
    /// Lattice or record are others: for each thing that differs its name, the golden's value and
    /// the new one.
    Grid(Vec<String>),
    /// There is nothing to compare.
    Failed(Error),
}

impl Outcome {
    /// Whether the case passes.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Same | Self::Allowed(_))
    }

    /// The word for it, the same for the same kind of outcome.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Allowed(_) => "allowed",
            Self::Cells(_) => "cells",
            Self::Digest => "digest",
            Self::Grid(_) => "grid",
            Self::Failed(_) => "error",
        }
    }

    /// How the cells differ, where that is known.
    pub fn difference(&self) -> Option<&Difference> {
        match self {
            Self::Allowed(difference) | Self::Cells(difference) => Some(difference),
            _ => None,
        }
    }
}

/// In what the lattice and the record of a grid are others than those of a golden, before any cell is
/// looked at: for each thing its name, the golden's value and the new one. Rule, ties, inside and snap are
/// compared where both say them.
///
/// # Errors
/// If one of the two does not say where its cells are.
pub fn other_grid(lattice: Option<&Lattice>, meta: &Meta, got: &Voxels) -> Result<Vec<String>> {
    let (Some(wanted), Some(found)) = (lattice, &got.lattice) else {
        return Err(Error::usage("does not say where its cells are, so nothing can be compared with it")
            .with_hint("take an .npz, or write a sidecar beside it"));
    };
    let mut other: Vec<_> = lattices(wanted, found).iter().map(ToString::to_string).collect();
    for (what, old, new) in [
        ("rule", &meta.rule, &got.meta.rule),
        ("ties", &meta.ties, &got.meta.ties),
        ("inside", &meta.inside, &got.meta.inside),
        ("snap", &meta.snap, &got.meta.snap),
    ] {
        let pair = old.as_ref().zip(new.as_ref()).filter(|(old, new)| old != new);
        other.extend(pair.map(|(old, new)| format!("{what}: {old} and {new}")));
    }
    // What is absent is so where the rule is known.
    if meta.rule.is_some() && got.meta.rule.is_some() {
        for (what, old, new) in [
            ("variant", &meta.variant, &got.meta.variant),
            ("holes closed up to", &meta.close_holes, &got.meta.close_holes),
        ] {
            let name = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_string());
            if old != new {
                other.push(format!("{what}: {} and {}", name(old), name(new)));
            }
        }
    }
    Ok(other)
}

/// The outcome for a golden that is a whole grid, and says where its cells are.
///
/// # Errors
/// If one of the grids does not say where its cells are.
pub fn against_grid(golden: &Voxels, got: &Voxels, gate: Gate) -> Result<Outcome> {
    let other = other_grid(golden.lattice.as_ref(), &golden.meta, got)?;
    if !other.is_empty() {
        return Ok(Outcome::Grid(other));
    }
    let difference = Difference::between(&golden.bits, &got.bits)?;
    Ok(match difference {
        none if none.is_none() => Outcome::Same,
        few if gate.lets_pass(few.differing(), few.iou()) => Outcome::Allowed(few),
        many => Outcome::Cells(many),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Rational;
    use crate::grid::BitGrid;

    fn voxels(text: &str, origin: i64, ties: Option<&str>) -> Voxels {
        let bits = BitGrid::from_text(text).unwrap();
        let origin = [origin, 0, 0].map(Rational::from);
        let lattice = Lattice::new(bits.dims(), origin, [1, 1, 1].map(Rational::from), [true; 3]).unwrap();
        let meta = Meta { ties: ties.map(str::to_string), ..Meta::default() };
        Voxels { bits, lattice: Some(lattice), meta }
    }

    #[test]
    fn cells_lattice_and_record_count() {
        let golden = voxels("##.#", 0, Some("up"));
        let outcome = |got: &Voxels, gate| against_grid(&golden, got, gate).unwrap();
        let closed = Gate::default();
        assert_eq!(outcome(&golden, closed), Outcome::Same);
        assert_eq!(outcome(&voxels("##.#", 0, None), closed), Outcome::Same);
        let differs = outcome(&voxels("###.", 0, Some("up")), closed);
        assert!(!differs.passes() && differs.name() == "cells");
        assert_eq!(differs.difference().map(|d| (d.added, d.removed, d.common)), Some((1, 1, 2)));
        let moved = outcome(&voxels("##.#", 1, Some("both")), closed);
        assert_eq!(moved, Outcome::Grid(vec!["origin along x: 0 and 1".into(), "ties: up and both".into()]));
        let larger = outcome(&voxels("##.##", 0, Some("up")), Gate { allow: Some(9), iou_min: None });
        assert_eq!(larger, Outcome::Grid(vec!["dims: 4 × 1 × 1 and 5 × 1 × 1".into()]));
        for (allow, passes) in [(1, false), (2, true)] {
            let allowed = outcome(&voxels("###.", 0, None), Gate { allow: Some(allow), iou_min: None });
            assert_eq!(allowed.passes(), passes, "{allowed:?}");
        }
        let nowhere = Voxels { lattice: None, ..golden.clone() };
        assert!(against_grid(&nowhere, &golden, closed).is_err());
    }
}
