//! By what two grids are compared: where their cells are, or the cells alone.

use serde_json::{Value, json};
use voxelize::compare::{self, Mismatch};
use voxelize::grid::lattice::AXES;
use voxelize::{Error, Lattice, Rational, Result, Voxels};

use super::super::numbers::{number, sizes};
use super::Args;

/// By what two grids are compared.
pub struct Grid<'a> {
    /// Where the cells are, if that is the same, or only one of them says it.
    pub lattice: Option<&'a Lattice>,
    /// What differs.
    mismatches: Vec<Mismatch>,
    /// Whether both say where their cells are.
    known: [bool; 2],
    ignored: bool,
}

impl<'a> Grid<'a> {
    pub fn of(args: &Args, first: &'a Voxels, second: &'a Voxels) -> Self {
        let known = [first.lattice.is_some(), second.lattice.is_some()];
        let mismatches = match (&first.lattice, &second.lattice) {
            (Some(a), Some(b)) => compare::lattices(a, b),
            _ if first.dims() != second.dims() => vec![Mismatch::Dims([first.dims(), second.dims()])],
            _ => Vec::new(),
        };
        let lattice = first.lattice.as_ref().or(second.lattice.as_ref()).filter(|_| mismatches.is_empty());
        Self { lattice, mismatches, known, ignored: args.ignore_grid }
    }

    pub fn check(&self, args: &Args) -> Result<()> {
        let dims = self.mismatches.iter().any(|m| matches!(m, Mismatch::Dims(_)));
        if self.mismatches.is_empty() || self.ignored && !dims {
            return Ok(());
        }
        let (first, second) = (args.first.display(), args.second.display());
        let what = match self.mismatches.iter().find(|m| matches!(m, Mismatch::Dims(_))) {
            Some(dims) if self.ignored => {
                format!("cell by cell needs as many cells; {}", said(std::slice::from_ref(dims)))
            }
            _ => format!("the grids do not match; {}", said(&self.mismatches)),
        };
        let error = Error::usage(format!("{first} and {second}: {what}"));
        let like = format!("voxelize MESH --like {first} makes another on its grid");
        Err(if dims {
            error.with_hint(like)
        } else {
            error.with_hint(format!("--ignore-grid compares the cells all the same; {like}"))
        })
    }

    /// Whether the cells are known to be the same boxes.
    fn is_same(&self) -> bool {
        self.known == [true; 2] && self.mismatches.is_empty()
    }

    pub fn json(&self, dims: [usize; 3]) -> Value {
        let differs: Vec<_> = self.mismatches.iter().map(json_of).collect();
        json!({
            "dims": dims,
            "compared_by": if self.is_same() { "lattice" } else { "cells" },
            "differs": differs,
        })
    }

    pub fn text(&self, args: &Args) -> String {
        let names = [&args.first, &args.second].map(|path| path.display().to_string());
        if let (true, Some(lattice)) = (self.is_same(), self.lattice) {
            let size = sizes(lattice.spacing().each_ref().map(voxelize::Rational::to_f64));
            let corner = lattice.origin().each_ref().map(|c| number(c.to_f64())).join(", ");
            return format!("the same: cells of {size}, corner ({corner})");
        }
        if !self.mismatches.is_empty() {
            return format!("differs, ignored; {}", said(&self.mismatches));
        }
        let silent: Vec<_> =
            names.into_iter().zip(self.known).filter(|(_, known)| !known).map(|(name, _)| name).collect();
        let verb = if silent.len() == 1 { "does" } else { "do" };
        format!("compared by cells: {} {verb} not say where the cells are", silent.join(" and "))
    }
}

/// What differs, what is the same on all axes said once.
fn said(mismatches: &[Mismatch]) -> String {
    let mut said: Vec<String> = Vec::new();
    let all_sizes = match mismatches.iter().filter_map(spacings).collect::<Vec<_>>().as_slice() {
        [x, y, z] if x == y && y == z => Some(format!("cell size: {}", pair(x))),
        _ => None,
    };
    for mismatch in mismatches {
        match (mismatch, &all_sizes) {
            (Mismatch::Spacing(0, _), Some(all)) => said.push(all.clone()),
            (Mismatch::Spacing(..), Some(_)) => {}
            (Mismatch::Spacing(axis, values), None) => {
                said.push(format!("cell size along {}: {}", AXES[*axis], pair(values)));
            }
            (Mismatch::Origin(axis, values), _) => {
                said.push(format!("corner along {}: {}", AXES[*axis], pair(values)));
            }
            (other, _) => said.push(other.to_string()),
        }
    }
    said.join("; ")
}

fn spacings(mismatch: &Mismatch) -> Option<&[Rational; 2]> {
    match mismatch {
        Mismatch::Spacing(_, values) => Some(values),
        _ => None,
    }
}

/// Two numbers that differ: to six digits if that shows it, else exactly.
fn pair([first, second]: &[Rational; 2]) -> String {
    let [a, b] = [first, second].map(|value| number(value.to_f64()));
    if a == b { format!("{first} and {second}") } else { format!("{a} and {b}") }
}

fn json_of(mismatch: &Mismatch) -> Value {
    let fractions = |values: &[Rational; 2]| values.each_ref().map(Rational::to_string);
    let (what, axis, values) = match mismatch {
        Mismatch::Dims(dims) => ("dims", None, json!(dims)),
        Mismatch::Origin(axis, values) => ("origin", Some(axis), json!(fractions(values))),
        Mismatch::Spacing(axis, values) => ("spacing", Some(axis), json!(fractions(values))),
        Mismatch::Closed(axis, closed) => ("closed", Some(axis), json!(closed)),
        other => ("other", None, json!([other.to_string(), null])),
    };
    let axis = axis.map(|axis| AXES[*axis].to_string());
    json!({"what": what, "axis": axis, "first": values[0], "second": values[1]})
}
