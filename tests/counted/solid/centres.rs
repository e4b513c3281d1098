//! Cases that the suite `exact` aims at corners of a lattice, aimed at centres instead: the lattice is moved
//! by half a cell. Rows of centres then nearly pass edges and vertices, and planes nearly pass centres.

use voxelize::{Lattice, Rational};

use super::check::Case;
use crate::exact::{aimed, exactly};
use crate::support::random::Random;

/// Families of that suite.
const FAMILIES: [fn(&mut Random) -> Case; 14] = [
    |r| aimed::edges(r, 1.9),
    aimed::edges_around,
    |r| aimed::edges(r, 3.9),
    |r| aimed::edges(r, 12.0),
    |r| aimed::planes(r, 1.9),
    |r| aimed::planes(r, 3.9),
    |r| aimed::planes(r, 12.0),
    |r| aimed::vertices(r, 4),
    |r| aimed::vertices(r, 14),
    exactly::walls,
    exactly::corners,
    exactly::fine,
    exactly::beside,
    exactly::middles,
];

/// Cases of each family.
const EACH: usize = 20;

/// Every family in turn.
pub fn aimed_at() -> Vec<Case> {
    let mut random = Random::new(31);
    (0..EACH)
        .flat_map(|_| FAMILIES.map(|make| moved(make(&mut random))))
        .collect()
}

/// Returns the same triangles with walls replaced by centres.
fn moved(case: Case) -> Case {
    let old = case.lattice;
    let half = Rational::new(1, 2);
    let origin = [0, 1, 2].map(|a| &old.origin()[a] - &(&old.spacing()[a] * &half));
    let dims = old.dims().map(|n| n + 1);
    let lattice = Lattice::new(dims, origin, old.spacing().clone(), [false; 3]).expect("few cells");
    Case {
        lattice: lattice.with_snap(old.snap()),
        ..case
    }
}
