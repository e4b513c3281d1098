//! Consistency of the oracle, and comparison with a mesh of known inside.

use voxelize::{BitGrid, Lattice, Rational};

use super::boxes;
use super::check::{Case, Chain};
use super::winding::Windings;
use super::{closed, soups};
use crate::support::solids::inside_out;
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
        let along = [0, 1, 2].map(|axis| Windings::along(axis, triangles, lattice));
        let [x, y, z] = along.map(|windings| [windings.nonzero(), windings.evenodd()]);
        assert!(x == y && y == z, "{triangles:?} {lattice:?}");
        meshes += 1;
        cells += 3 * lattice.cells() as u64;
        inside += x[0].count();
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
    let turned = inside_out(second.clone());
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
            ([first.clone(), turned.clone()].concat(), ".#.#", ".#.#"),
            (turned.clone(), "..##", "..##"),
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
                let found = [windings.nonzero(), windings.evenodd()].map(|grid| row(&grid, j));
                assert_eq!(
                    found,
                    [wanted_nonzero, wanted_evenodd],
                    "axis {axis}, row {j}"
                );
                seen += 1;
            }
        }
    }
    vec![("rows", seen)]
}
