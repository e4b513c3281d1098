//! Moving, permuting and mirroring mesh and lattice together.

use voxelize::{Digest, Fit, Lattice, Mesh, Rational, Size, Snap, Ties};

use super::{cells_of, shells};
use crate::support::meshes::{cells, fitted, fixtures, mapped, remapped, surface};
use crate::support::suite::Counts;

const PERMUTATIONS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

const SHIFTS: [[i64; 3]; 4] = [[1, 0, 0], [0, -3, 0], [7, -11, 64], [-129, 1000, 5]];

/// Returns the power of two that divides the mesh into 16 to 32 cells.
fn dyadic_size(mesh: &Mesh) -> f32 {
    let bounds = mesh.bounds();
    let longest = (0..3)
        .map(|a| bounds.max[a] - bounds.min[a])
        .fold(0.0, f32::max);
    2f32.powi((longest / 16.0).log2().floor() as i32)
}

/// Fixtures rounded to sixteenths of a dyadic cell, moved by whole cells with their lattice. Every coordinate
/// stays a float, so only the place changes.
pub fn mesh_and_lattice_move() -> Counts {
    let mut meshes = 0;
    let mut moves = 0;
    for (name, mesh) in fixtures() {
        let size = dyadic_size(&mesh);
        let mesh = mapped(&mesh, |v| {
            v.map(|c| (c / size * 16.0).round() * size / 16.0)
        });
        let exact = Rational::from_f32(size).expect("finite");
        let snaps = [Snap::Float, Snap::None];
        for (snap, rule) in snaps
            .into_iter()
            .flat_map(|snap| shells().map(|rule| (snap, rule)))
        {
            let fit =
                Fit::new(Size::Spacing([exact.clone(), exact.clone(), exact.clone()])).snap(snap);
            let lattice = fit.to(mesh.bounds()).expect("it fits");
            let bits = cells_of(rule, &mesh, &lattice);
            for shift in SHIFTS {
                let moved = moved(&mesh, shift, size);
                let there = moved_lattice(&lattice, shift);
                assert_eq!(
                    there,
                    fit.to(moved.bounds()).expect("it fits"),
                    "{name} by {shift:?}"
                );
                let found = cells_of(rule, &moved, &there);
                assert_eq!(found, bits, "{name} by {shift:?}, {rule:?}, {snap:?}");
                let here = Digest::of(&bits, Some(&lattice));
                let there = Digest::of(&found, Some(&there));
                assert!(
                    here.cells == there.cells && here.grid != there.grid,
                    "{name} by {shift:?}"
                );
                moves += 1;
            }
        }
        meshes += 1;
    }
    vec![("meshes", meshes), ("moves", moves)]
}

fn moved(mesh: &Mesh, shift: [i64; 3], size: f32) -> Mesh {
    let along = |v: [f32; 3], a: usize| {
        let exact = f64::from(v[a]) + shift[a] as f64 * f64::from(size);
        assert_eq!(f64::from(exact as f32), exact, "the shift is exact");
        exact as f32
    };
    mapped(mesh, |v| std::array::from_fn(|a| along(v, a)))
}

fn moved_lattice(lattice: &Lattice, shift: [i64; 3]) -> Lattice {
    let origin =
        std::array::from_fn(|a| &lattice.origin()[a] + &cells(shift[a], &lattice.spacing()[a]));
    let spacing = lattice.spacing().clone();
    let moved =
        Lattice::new(lattice.dims(), origin, spacing, lattice.closed()).expect("the same dims");
    moved.with_snap(lattice.snap())
}

/// Calls `check` for each fixture on lattices with many ties and without any, with and without snapping, with
/// the ties that have no direction.
fn each_symmetric(mut check: impl FnMut(&str, &Mesh, &Lattice, Ties)) {
    for (name, mesh) in fixtures() {
        for (snap, longest) in [(Snap::Float, 20), (Snap::None, 20), (Snap::Float, 23)] {
            let lattice = fitted(Fit::longest(longest).pad(1).snap(snap), &mesh);
            for ties in [Ties::Both, Ties::None] {
                check(&name, &mesh, &lattice, ties);
            }
        }
    }
}

/// Under ties both and none, permuting the axes permutes the result.
pub fn axes_permute() -> Counts {
    let mut compared = 0;
    let mut occupied = 0;
    each_symmetric(|name, mesh, lattice, ties| {
        let bits = surface(mesh, lattice, ties);
        for order in PERMUTATIONS {
            let other = mapped(mesh, |v| order.map(|a| v[a]));
            let dims = order.map(|a| lattice.dims()[a]);
            let closed = order.map(|a| lattice.closed()[a]);
            let origin = order.map(|a| lattice.origin()[a].clone());
            let spacing = order.map(|a| lattice.spacing()[a].clone());
            let there = Lattice::new(dims, origin, spacing, closed).expect("the same dims");
            let found = surface(&other, &there.with_snap(lattice.snap()), ties);
            let expected = remapped(&bits, dims, |cell| Some(order.map(|a| cell[a])));
            assert_eq!(found, expected, "{name}: {order:?}, {ties:?}");
            compared += 1;
            occupied += found.count();
        }
    });
    vec![("permutations", compared), ("cells", occupied)]
}

/// Under ties both and none, mirroring any axes mirrors the result.
pub fn axes_mirror() -> Counts {
    let mut compared = 0;
    let mut occupied = 0;
    each_symmetric(|name, mesh, lattice, ties| {
        let bits = surface(mesh, lattice, ties);
        for mask in 1..8 {
            let turned = |a: usize| mask >> a & 1 == 1;
            let other = mapped(mesh, |v| {
                std::array::from_fn(|a| if turned(a) { -v[a] } else { v[a] })
            });
            let end = lattice.end();
            let origin = std::array::from_fn(|a| {
                if turned(a) {
                    Rational::ZERO - end[a].clone()
                } else {
                    lattice.origin()[a].clone()
                }
            });
            let dims = lattice.dims();
            let spacing = lattice.spacing().clone();
            let there =
                Lattice::new(dims, origin, spacing, lattice.closed()).expect("the same dims");
            let found = surface(&other, &there.with_snap(lattice.snap()), ties);
            let turn = |cell: [usize; 3], a: usize| {
                if turned(a) {
                    dims[a] - 1 - cell[a]
                } else {
                    cell[a]
                }
            };
            let expected = remapped(&bits, dims, |cell| {
                Some(std::array::from_fn(|a| turn(cell, a)))
            });
            assert_eq!(found, expected, "{name}: axes {mask:03b}, {ties:?}");
            compared += 1;
            occupied += found.count();
        }
    });
    vec![("mirrors", compared), ("cells", occupied)]
}
