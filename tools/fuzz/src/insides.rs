//! The inside by nonzero and evenodd, at every level and with every memory plan, compared with rays in
//! integers of any size; and robust, vote and flood in slabs compared with the whole.
//!
//! The input has the layout of `kernels.rs`.

use arbitrary::Unstructured;
use voxelize::{Inside, Rule, Voxelizer};

use crate::alone;
use crate::kernels::Case;
use crate::winding::Windings;

/// Maximum product of cells and triangles of an input.
const MOST: usize = 100_000;

/// Compares the insides of some triangles.
pub fn check(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let case = Case::from(&mut input).expect("zeros follow the end");
    let cells: usize = case.lattice.dims().iter().product();
    if cells * case.mesh.triangles().len() > MOST {
        return;
    }
    alone();
    let windings = Windings::along(0, case.mesh.triangles(), &case.lattice);
    case.compare(
        Rule::solid().with_inside(Inside::Nonzero).unwrap(),
        &windings.nonzero(),
    );
    case.compare(
        Rule::solid().with_inside(Inside::EvenOdd).unwrap(),
        &windings.evenodd(),
    );
    for inside in [Inside::Robust, Inside::Vote, Inside::flood()] {
        for rule in [Rule::solid(), Rule::filled()] {
            let what = rule.with_inside(inside).unwrap();
            let whole = Voxelizer::new(what).run(&case.mesh, &case.lattice);
            case.compare(
                what,
                &whole.expect("a small grid").voxels.into_occupied().unwrap(),
            );
        }
    }
}
