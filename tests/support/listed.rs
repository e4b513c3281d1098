//! Written cases, in the form in which the suites print their failures.

use std::fmt;

use voxelize::{Lattice, Rational, Snap};

use super::check::{self, Case};
use super::tables::rows;

/// Writes a case as a row of text: cells per axis, origin, spacing, closed axes, snap, and triangles as the bits
/// of their coordinates, x, y and z of each vertex.
pub fn write(case: &Case, f: &mut fmt::Formatter) -> fmt::Result {
    let Case { triangles, lattice } = case;
    let words = |of: &[Rational; 3]| of.each_ref().map(Rational::to_string).join(" ");
    write!(
        f,
        "{} | {} | {} | {} | {:?} |",
        lattice.dims().map(|n| n.to_string()).join(" "),
        words(lattice.origin()),
        words(lattice.spacing()),
        lattice.closed().map(|closed| closed.to_string()).join(" "),
        lattice.snap()
    )?;
    for coordinate in triangles.as_flattened().as_flattened() {
        write!(f, " {:08x}", coordinate.to_bits())?;
    }
    Ok(())
}

/// Returns the three values of a field.
fn three<T>(field: &str, parse: impl Fn(&str) -> Option<T>) -> [T; 3] {
    let values: Option<Vec<T>> = field.split(' ').map(parse).collect();
    let values = values.expect(field);
    values.try_into().ok().expect(field)
}

/// Returns the cases of a table.
pub fn parse(table: &str) -> Vec<Case> {
    let mut cases = vec![];
    for [dims, origin, spacing, closed, snap, words] in rows(table) {
        let fraction = |text: &str| Rational::parse_fraction(text).ok();
        let snap = match snap {
            "Float" => Snap::Float,
            "None" => Snap::None,
            _ => panic!("not a snap: {snap}"),
        };
        let lattice = Lattice::new(
            three(dims, |word| word.parse().ok()),
            three(origin, fraction),
            three(spacing, fraction),
            three(closed, |word| word.parse().ok()),
        );
        let bits = |word| f32::from_bits(u32::from_str_radix(word, 16).expect(word));
        let numbers: Vec<f32> = words.split(' ').map(bits).collect();
        let (triangles, rest) = numbers.as_chunks::<9>();
        assert!(rest.is_empty() && !triangles.is_empty(), "{words}");
        let corners = |t: &[f32; 9]| [0, 3, 6].map(|n| [t[n], t[n + 1], t[n + 2]]);
        cases.push(Case {
            triangles: triangles.iter().map(corners).collect(),
            lattice: lattice.expect("a lattice").with_snap(snap),
        });
    }
    cases
}

/// Compares a case on every level under all ties. Returns the number of compared decisions, or the row of the
/// shrunk case.
pub fn compare(case: &Case) -> Result<u64, String> {
    let (compared, wrong) = check::compare(case);
    if let Some(wrong) = wrong {
        let row = wrong.shrunk();
        return Err(format!("paste into tests/it/regressions.rs:\n{row}"));
    }
    Ok(compared.decisions)
}
