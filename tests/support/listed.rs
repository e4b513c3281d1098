//! Written cases, in the form in which the suites print their failures.

use voxelize::{Lattice, Rational, Snap};

use super::check::{self, Case};

/// Triangles as the bits of their coordinates, on a lattice of fractions.
pub struct Listed<'a> {
    /// Nine words per triangle: x, y, z of each vertex.
    pub triangles: &'a [[u32; 9]],
    /// Cells per axis.
    pub dims: [usize; 3],
    /// Position of the first wall, `p/q`.
    pub origin: [&'a str; 3],
    /// Size of a cell, `p/q`.
    pub spacing: [&'a str; 3],
    /// The last wall belongs to the lattice, per axis.
    pub closed: [bool; 3],
    /// Snap of coordinates.
    pub snap: Snap,
}

impl Listed<'_> {
    /// Compares every level under all ties. Returns the number of compared decisions, or the shrunk case.
    pub fn check(&self) -> Result<u64, String> {
        let fractions =
            |of: [&str; 3]| of.map(|text| Rational::parse_fraction(text).expect("a fraction"));
        let origin = fractions(self.origin);
        let spacing = fractions(self.spacing);
        let lattice = Lattice::new(self.dims, origin, spacing, self.closed).expect("a lattice");
        let lattice = lattice.with_snap(self.snap);
        let vertices = |t: &[u32; 9]| {
            std::array::from_fn(|v| std::array::from_fn(|axis| f32::from_bits(t[3 * v + axis])))
        };
        let case = Case {
            triangles: self.triangles.iter().map(vertices).collect(),
            lattice,
        };
        match check::compare(&case) {
            (compared, None) => {
                assert_eq!(
                    (compared.triangles, compared.wrong),
                    (self.triangles.len() as u64, 0)
                );
                Ok(compared.decisions)
            }
            (_, Some(wrong)) => Err(format!(
                "paste into tests/it/regressions.rs:\n{}",
                wrong.shrunk()
            )),
        }
    }
}
