//! Consistency of the oracle, and comparison with a mesh of known inside.

use voxelize::{BitGrid, Lattice, Rational};

use super::boxes;
use super::check::{Case, Chain};
use super::winding::Windings;
use super::{closed, soups};
use crate::support::suite::Counts;

/// Rays along x, y and z agree for closed meshes.
pub fn rays_agree() -> Counts {
    let mut meshes = 0;
    let mut cells = 0;
    let mut inside = 0;
    let cases = [
        closed::prisms(),
        closed::images_of_cubes(),
        soups::on_halves(),
        soups::anywhere(),
    ]
    .concat();
    for Case { triangles, lattice } in cases.iter().step_by(3) {
        assert_eq!(Chain::of(triangles), Chain::Oriented);
        let [x, y, z] = [0, 1, 2].map(|axis| Windings::along(axis, triangles, lattice));
        assert!(
            x.nonzero() == y.nonzero() && y.nonzero() == z.nonzero(),
            "{triangles:?} {lattice:?}"
        );
        assert!(
            x.evenodd() == y.evenodd() && y.evenodd() == z.evenodd(),
            "{triangles:?} {lattice:?}"
        );
        meshes += 1;
        cells += 3 * lattice.cells() as u64;
        inside += x.nonzero().count();
    }
    vec![("meshes", meshes), ("cells", cells), ("inside", inside)]
}

/// A cube whose faces pass through centres: centres on low faces are outside, centres on high faces inside. A
/// second one, inside out, removes their intersection. With reversed orientation it counts twice.
pub fn by_hand() -> Counts {
    let lattice = Lattice::new(
        [4; 3],
        [0; 3].map(Rational::from),
        [1; 3].map(Rational::from),
        [true; 3],
    );
    let lattice = lattice.expect("few cells");
    let first = boxes::triangles([0.5; 3], [2.5; 3]);
    let second = boxes::triangles([1.5, 0.5, 0.5], [3.5, 2.5, 2.5]);
    let inside_out: Vec<_> = second.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let row = |grid: &BitGrid, j: usize| -> String {
        grid.layer_text(1)
            .lines()
            .rev()
            .nth(j)
            .expect("four rows")
            .to_string()
    };
    let mut seen = 0;
    for axis in 0..3 {
        for (triangles, nonzero, evenodd) in [
            (first.clone(), ".##.", ".##."),
            ([first.clone(), second.clone()].concat(), ".###", ".#.#"),
            ([first.clone(), inside_out.clone()].concat(), ".#.#", ".#.#"),
            (inside_out.clone(), "..##", "..##"),
        ] {
            let windings = Windings::along(axis, &triangles, &lattice);
            for (j, (wanted_nonzero, wanted_evenodd)) in [
                ("....", "...."),
                (nonzero, evenodd),
                (nonzero, evenodd),
                ("....", "...."),
            ]
            .into_iter()
            .enumerate()
            {
                assert_eq!(
                    row(&windings.nonzero(), j),
                    wanted_nonzero,
                    "nonzero, axis {axis}, row {j}"
                );
                assert_eq!(
                    row(&windings.evenodd(), j),
                    wanted_evenodd,
                    "evenodd, axis {axis}, row {j}"
                );
                seen += 1;
            }
        }
    }
    vec![("rows", seen)]
}
