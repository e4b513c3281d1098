//! Boxes along the axes, whose cells are known by a formula.

use voxelize::geom::{Point, Triangle};
use voxelize::{BitGrid, Fit, Inside, Lattice, Rational, Rule, Size, Snap, Voxelizer, voxelize};

use super::check::Case;
use crate::support::meshes::{each_cell, fraction, mesh_of, occupied};
use crate::support::suite::Counts;

/// Returns the closed box between two corners.
pub fn triangles(low: Point, high: Point) -> Vec<Triangle> {
    let corner = |n: usize| -> Point {
        std::array::from_fn(|a| if n >> a & 1 == 1 { high[a] } else { low[a] })
    };
    // Faces by the bits of their corners, seen from outside.
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .map(|t| t.map(corner))
        .collect()
}

/// Cells along each axis of these lattices.
const CELLS: usize = 5;

/// Start and end of a box along an axis, in halves of cells: every offset, every length up to two cells.
fn extents() -> Vec<[i64; 2]> {
    (0..2)
        .flat_map(|low| (1..=4).map(move |length| [2 + low, 2 + low + length]))
        .collect()
}

/// Returns every box of these extents, with its lattice of cells of that size.
fn boxes(size: &str) -> Vec<([[i64; 2]; 3], Case)> {
    let size = fraction(size);
    let half = &size * &Rational::new(1, 2);
    let zero = [0; 3].map(Rational::from);
    let lattice =
        Lattice::new([CELLS; 3], zero, [0; 3].map(|_| size.clone()), [true; 3]).expect("few cells");
    let all = extents();
    let triples = all
        .iter()
        .flat_map(|x| all.iter().flat_map(|y| all.iter().map(|z| [*x, *y, *z])));
    let case = |extents: [[i64; 2]; 3]| {
        let corner = |n: usize| extents.map(|e| (&half * &Rational::from(e[n])).to_f32());
        Case {
            triangles: triangles(corner(0), corner(1)),
            lattice: lattice.clone(),
        }
    };
    triples.map(|extents| (extents, case(extents))).collect()
}

/// Returns some boxes in cells of each size. `by_the_formula` compares all of them.
pub fn at_half_cells() -> Vec<Case> {
    let some =
        |size: &str, step: usize| boxes(size).into_iter().step_by(step).map(|(_, case)| case);
    some("1/1", 3)
        .chain(some("1/10", 7))
        .chain(some("7/3", 11))
        .collect()
}

/// A displaced centre on a face is not above it. A cell shares volume with everything that is less than a
/// cell away.
pub fn by_the_formula() -> Counts {
    let mut meshes = 0;
    let mut inside = 0;
    let mut shared = 0;
    for size in ["1/1", "1/10", "7/3"] {
        for (extents, Case { triangles, lattice }) in boxes(size) {
            let mesh = mesh_of(triangles);
            let cells = |rule| occupied(Voxelizer::new(rule).threads(1), &mesh, &lattice);
            let within = |cell: [usize; 3], test: fn(i64, [i64; 2]) -> bool| {
                (0..3).all(|a| test(2 * cell[a] as i64, extents[a]))
            };
            let mut solid = BitGrid::new([CELLS; 3]).unwrap();
            let mut filled = BitGrid::new([CELLS; 3]).unwrap();
            for cell in each_cell([CELLS; 3]) {
                if within(cell, |low, [from, to]| from < low + 1 && low < to) {
                    solid.set(cell);
                }
                if within(cell, |low, [from, to]| from < low + 2 && low < to) {
                    filled.set(cell);
                }
            }
            assert_eq!(cells(Rule::solid()), solid, "{extents:?} of {size}");
            assert_eq!(cells(Rule::filled()), filled, "{extents:?} of {size}");
            (meshes, inside, shared) =
                (meshes + 1, inside + solid.count(), shared + filled.count());
        }
    }
    vec![
        ("boxes", meshes),
        ("cells inside", inside),
        ("cells that share volume", shared),
    ]
}

/// The cube 0…64 has its exact volume with any padding, and when joined from eight tiles.
pub fn a_cube_is_its_volume() -> Counts {
    const VOLUME: u64 = 64 * 64 * 64;
    let mesh = mesh_of(triangles([0.0; 3], [64.0; 3]));
    let fit = || Fit::new(Size::Spacing([1, 1, 1].map(Rational::from)));
    let mut counted = 0;
    for rule in [Rule::solid(), Rule::filled()] {
        let count = |fit: &Fit| {
            let lattice = fit.to(mesh.bounds()).expect("it fits");
            voxelize(&mesh, &lattice, rule.with_inside(Inside::Auto).unwrap())
                .expect("it fits")
                .count()
        };
        for pad in [0, 1, 3] {
            assert_eq!(count(&fit().pad(pad)), VOLUME, "{rule:?}, pad {pad}");
            counted += VOLUME;
        }
        for cut in [1, 31, 32] {
            let ends = [-2, cut, 66];
            let tiles = (0..8).map(|n| {
                let end =
                    |high: usize| [0, 1, 2].map(|a| Rational::from(ends[(n >> a & 1) + high]));
                count(&fit().bounds(end(0), end(1)).snap(Snap::None))
            });
            assert_eq!(tiles.sum::<u64>(), VOLUME, "{rule:?}, cut at {cut}");
            counted += VOLUME;
        }
    }
    vec![("cells", counted)]
}
