//! Triangles at exactly equal distance: the first of them is the nearest, whatever the rounding of their
//! distances, in every order of the triangles, on every level and for every plan.
//!
//! Corners are few points of a lattice, so that triangles share vertices and edges, lie in common planes,
//! occur twice or mirrored, and centres of cells have their feet exactly on edges.

use voxelize::geom::Triangle;
use voxelize::{Lattice, Level, Rational, Run, Voxelizer};

use super::exact::Ruler;
use super::needles::World;
use super::rule;
use super::shapes::{Compared, soak};
use crate::support::meshes::{each_cell, mesh_of};
use crate::support::random::Random;
use crate::support::suite::Counts;

/// Returns a world whose corners are integers or half-integers in some unit.
fn world(random: &mut Random) -> World {
    let unit = random.of(&[1.0, 1.0, 0.125, 4096.0, 0.1]);
    let size = random.of(&[3, 6, 12]);
    let tilt = random.index(4);
    let mut corner = || {
        let [x, y]: [i64; 2] = std::array::from_fn(|_| random.whole(0, size));
        // In one plane, in planes that meet, or anywhere.
        let z = match tilt {
            0 => 2,
            1 => x + 2 * y,
            2 => (x - size / 2).abs(),
            _ => random.whole(0, size),
        };
        [x, y, z].map(|c| (unit * c as f64 / 2.0) as f32)
    };
    let corners: Vec<[f32; 3]> = (0..7).map(|_| corner()).collect();
    let mut triangles: Vec<Triangle> = (0..8)
        .map(|_| [(); 3].map(|()| random.of(&corners)))
        .collect();
    let middle = unit * size as f64 / 4.0;
    for n in 0..4 {
        let copy = triangles[random.index(triangles.len())];
        triangles.push(if n < 2 {
            copy.map(|[x, y, z]| [(2.0 * middle) as f32 - x, y, z])
        } else {
            copy
        });
    }
    let exact = |value: f64| Rational::from_f64(value).expect("finite");
    let side = exact(unit / random.of(&[1.0, 2.0, 4.0]));
    let side = if random.one_in(5) {
        side * Rational::new(1, 3)
    } else {
        side
    };
    let origin = std::array::from_fn(|_| exact(unit * random.whole(-4, 2) as f64 / 4.0));
    let lattice = Lattice::new([7, 6, 5], origin, [(); 3].map(|()| side.clone()), [true; 3]);
    World {
        triangles,
        lattice: lattice.expect("a few cells"),
    }
}

/// Feet exactly on shared edges and vertices, common planes, copies, mirrored triangles.
pub fn first_of_equals() -> Counts {
    let mut compared = Compared::default();
    for n in 0..soak() * 150 {
        let world = world(&mut Random::new(n as u64));
        compared.add(&world, "all", &format!("world {n}"));
    }
    vec![
        ("worlds", compared.worlds),
        ("cells", compared.cells),
        ("close", compared.close),
        ("where doubles are least elsewhere", compared.corrected),
    ]
}

/// A hundred orders of the triangles. Each reports the exactly nearest triangle that comes first in it.
pub fn every_order() -> Counts {
    let mut orders = 0;
    let mut cells = 0;
    let mut ties = 0;
    for seed in 1000.. {
        if orders == 300 * soak() as u64 {
            break;
        }
        let mut random = Random::new(seed);
        let World {
            mut triangles,
            lattice,
        } = world(&mut random);
        let ruler = Ruler::of_cells(&lattice, &triangles);
        let mut compared = Compared::default();
        let nearest: Vec<Vec<usize>> = each_cell(lattice.dims())
            .map(|cell| compared.cell(&ruler, &triangles, &lattice, cell).nearest)
            .collect();
        // Only worlds in which the least double is the wrong triangle.
        if compared.corrected == 0 {
            continue;
        }
        let mut order: Vec<usize> = (0..triangles.len()).collect();
        for _ in 0..100 {
            for last in (1..triangles.len()).rev() {
                let other = random.index(last + 1);
                triangles.swap(last, other);
                order.swap(last, other);
            }
            let mesh = mesh_of(triangles.clone());
            let run = Run::default()
                .threads(1)
                .level(random.of(&Level::available()));
            let made = Voxelizer::new(rule("all"))
                .with_run(run)
                .run_with_nearest(&mesh, &lattice);
            let (_, found) = made.expect("a small field");
            for (found, nearest) in found.iter().zip(&nearest) {
                let first = order
                    .iter()
                    .position(|n| nearest.contains(n))
                    .expect("one of them");
                assert_eq!(
                    *found, first as i32,
                    "world {seed}: {triangles:?}\n{lattice:?}"
                );
                ties += u64::from(nearest.len() > 1);
                cells += 1;
            }
            orders += 1;
        }
    }
    vec![("orders", orders), ("cells", cells), ("ties", ties)]
}
