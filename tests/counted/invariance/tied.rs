//! Relations between ties, and between ties and the size of cells.

use voxelize::{BitGrid, Fit, Lattice, Rational, Snap, Ties};

use crate::support::meshes::{fixtures, remapped, surface};
use crate::support::suite::Counts;

/// Under ties up and both, without snapping, cells of double spacing are the OR of eight.
pub fn double_spacing_is_the_or() -> Counts {
    let mut compared = 0;
    let mut occupied = 0;
    for (name, mesh) in fixtures() {
        for (longest, pad) in [(16, 0), (24, 1), (37, 0)] {
            let fit = Fit::longest(longest).pad(pad).snap(Snap::None);
            let lattice = fit.to(mesh.bounds()).expect("it fits");
            for closed in [[true; 3], [false; 3], [true, false, true]] {
                for ties in [Ties::Up, Ties::Both] {
                    let half = lattice.dims().map(|n| n.div_ceil(2));
                    let fine = lattice_of(&lattice, half.map(|n| 2 * n), 1, closed);
                    let coarse = lattice_of(&lattice, half, 2, closed);
                    let fine = surface(&mesh, &fine, ties);
                    let expected = remapped(&fine, half, |cell| Some(cell.map(|c| c / 2)));
                    let found = surface(&mesh, &coarse, ties);
                    assert_eq!(
                        found, expected,
                        "{name}, {longest}, {ties:?}, closed {closed:?}"
                    );
                    compared += 1;
                    occupied += found.count();
                }
            }
        }
    }
    vec![("lattices", compared), ("cells", occupied)]
}

/// Returns a lattice from the same corner with other dims and `times` the spacing.
fn lattice_of(like: &Lattice, dims: [usize; 3], times: i64, closed: [bool; 3]) -> Lattice {
    let spacing = like
        .spacing()
        .each_ref()
        .map(|s| s * &Rational::from(times));
    Lattice::new(dims, like.origin().clone(), spacing, closed)
        .expect("few cells")
        .with_snap(like.snap())
}

/// Ties none is a subset of ties up, which is a subset of ties both.
pub fn ties_are_nested() -> Counts {
    let within =
        |a: &BitGrid, b: &BitGrid| a.words().iter().zip(b.words()).all(|(a, b)| a & !b == 0);
    let mut compared = 0;
    let mut grown = 0;
    for (name, mesh) in fixtures() {
        for longest in [10, 16, 64, 67] {
            for fit in [Fit::longest(longest), Fit::longest(longest).pad(1)] {
                let lattice = fit.to(mesh.bounds()).expect("it fits");
                let of = |ties| surface(&mesh, &lattice, ties);
                let none = of(Ties::None);
                let up = of(Ties::Up);
                let both = of(Ties::Both);
                assert!(
                    within(&none, &up),
                    "{name}, {longest}: none is not within up"
                );
                assert!(
                    within(&up, &both),
                    "{name}, {longest}: up is not within both"
                );
                compared += 1;
                grown += u64::from(none.count() < up.count() && up.count() < both.count());
            }
        }
    }
    vec![
        ("lattices", compared),
        ("lattices where all three differ", grown),
    ]
}
