//! Overlapping tetrahedra, some of them inside out. Nonzero unites them, or cancels two of opposite
//! orientation. Evenodd keeps the points inside an odd number of them. Also meshes that are not closed.

use voxelize::geom::{Point, Triangle};
use voxelize::{Bounds, Fit, Rational, Size};

use super::check::{Case, Chain};
use crate::exact::space::{self, Space, random_snap};
use crate::support::meshes::{cross, fraction, minus};
use crate::support::random::Random;

/// Returns some tetrahedra. A third of them are inside out.
fn tetrahedra(
    random: &mut Random,
    most: i64,
    mut vertex: impl FnMut(&mut Random) -> Point,
) -> Vec<Triangle> {
    let mut triangles = vec![];
    for _ in 0..random.whole(1, most) {
        let mut corners = [0; 4].map(|_| vertex(random));
        // The sign of its volume decides the orientation. A flat one may have any.
        let inside_out = random.one_in(3);
        if (six_volumes(&corners) < 0.0) != inside_out {
            corners.swap(2, 3);
        }
        let [a, b, c, d] = corners;
        triangles.extend([[a, c, b], [a, b, d], [b, c, d], [c, a, d]]);
    }
    let triangles = random.shuffled(&triangles);
    assert_eq!(Chain::of(&triangles), Chain::Oriented);
    triangles
}

fn six_volumes(corners: &[Point; 4]) -> f64 {
    let [a, b, c, d] = corners.map(|v| v.map(f64::from));
    let normal = cross(minus(c, a), minus(d, a));
    (0..3).map(|n| (b[n] - a[n]) * normal[n]).sum()
}

fn cases(seed: u64, count: usize, make: impl Fn(&mut Random) -> Case) -> Vec<Case> {
    let mut random = Random::new(seed);
    (0..count).map(|_| make(&mut random)).collect()
}

/// Returns a case with cells of these sizes and walls through zero.
fn fitted(triangles: Vec<Triangle>, sizes: [&str; 3], pad: usize) -> Case {
    let sizes = sizes.map(fraction);
    let fit = Fit::new(Size::Spacing(sizes))
        .origin([0; 3].map(Rational::from))
        .pad(pad);
    let lattice = fit
        .to(&Bounds::of(&triangles))
        .expect("a lattice that fits");
    Case { triangles, lattice }
}

/// Vertices on walls and centre planes of unit cells, or of non-cubic cells.
pub fn on_halves() -> Vec<Case> {
    cases(21, 400, |random| {
        let reach = random.whole(4, 12);
        let triangles = tetrahedra(random, 8, |r| {
            [0; 3].map(|_| r.whole(0, reach) as f32 / 2.0)
        });
        let sizes = random.of(&[
            ["1/1"; 3],
            ["1/1"; 3],
            ["1/2", "1/1", "2/1"],
            ["3/2", "1/2", "3/4"],
        ]);
        fitted(triangles, sizes, random.index(2))
    })
}

/// Lattices of every kind, with vertices inside and beyond, so that the ends cut the mesh.
pub fn anywhere() -> Vec<Case> {
    cases(22, 300, |random| {
        let space = Space::random(random, 9);
        let reach = random.of(&[0.5, 0.9, 1.6]);
        let triangles = tetrahedra(random, 6, |r| {
            space.at(space.cells.map(|n| n * (0.5 + r.within(-reach, reach))))
        });
        space.case(triangles)
    })
}

/// Lattices of every kind with vertices on walls and centre planes, as near as floats allow.
pub fn on_walls() -> Vec<Case> {
    cases(23, 300, |random| {
        let space = Space::random(random, 8);
        let beyond = random.of(&[0, 0, 6]);
        let triangles = tetrahedra(random, 5, |r| {
            space.at(space
                .cells
                .map(|n| r.whole(-beyond, 2 * n as i64 + beyond) as f64 / 2.0))
        });
        space.case(triangles)
    })
}

/// A million cells long and longer, seen through a few.
pub fn huge() -> Vec<Case> {
    cases(24, 200, |random| {
        let (reach, size) = random.of(&[
            (1e6, "1/1"),
            (1e5, "1/10"),
            (1e9, "27/256"),
            (3e20, "1/1"),
            (3e38, "1/7"),
        ]);
        let triangles = tetrahedra(random, 5, |r| {
            [0; 3].map(|_| {
                if r.one_in(3) {
                    r.whole(-4, 4) as f32
                } else {
                    r.within(-reach, reach) as f32
                }
            })
        });
        space::window(
            triangles,
            [0.0; 3],
            size,
            random.whole(4, 9),
            random_snap(random),
        )
    })
}

/// Coordinates below the smallest normal float, and zeros of both signs.
pub fn tiny() -> Vec<Case> {
    cases(25, 150, |random| {
        let tiny = f32::from_bits(1);
        let triangles = tetrahedra(random, 4, |r| {
            [0; 3].map(|_| match r.index(4) {
                0 => -0.0,
                1 => 0.0,
                2 => r.whole(-20, 20) as f32 * tiny,
                _ => r.within(-1e-41, 1e-41) as f32,
            })
        });
        let bounds = Bounds::of(&triangles);
        let fit = if bounds.min == bounds.max {
            Fit::new(Size::Spacing([1, 1, 1].map(Rational::from)))
        } else {
            Fit::longest(7)
        };
        let lattice = fit
            .snap(random_snap(random))
            .to(&bounds)
            .expect("a lattice that fits");
        Case { triangles, lattice }
    })
}

/// Enough triangles to be distributed among threads.
pub fn crowd() -> Vec<Case> {
    cases(28, 1, |random| {
        let triangles: Vec<_> = (0..5000)
            .flat_map(|_| {
                let at = [0; 3].map(|_| random.whole(0, 34));
                tetrahedra(random, 1, |r| at.map(|c| (c + r.whole(0, 6)) as f32 / 2.0))
            })
            .collect();
        fitted(triangles, ["1/1", "1/1", "4/3"], 1)
    })
}

/// Randomly flipped triangles, so that edges are even but do not cancel.
pub fn not_oriented() -> Vec<Case> {
    let turned = cases(26, 200, |random| {
        let space = Space::random(random, 8);
        let mut triangles = tetrahedra(random, 4, |r| {
            space.at(space.cells.map(|n| r.whole(0, 2 * n as i64) as f64 / 2.0))
        });
        triangles.iter_mut().for_each(|t| {
            if random.one_in(2) {
                t.reverse()
            }
        });
        space.case(triangles)
    });
    let turned: Vec<_> = turned
        .into_iter()
        .filter(|c| Chain::of(&c.triangles) == Chain::Closed)
        .collect();
    assert!(turned.len() > 100, "{}", turned.len());
    turned
}

/// Triangles that enclose nothing: the ray along x decides.
pub fn open() -> Vec<Case> {
    cases(27, 200, |random| {
        let space = Space::random(random, 8);
        let on_walls = random.one_in(2);
        let beyond = random.of(&[0.0, 3.0]);
        let vertex = |r: &mut Random| {
            let at = space.cells.map(|n| r.within(-beyond, n + beyond));
            space.at(if on_walls {
                at.map(|c| (2.0 * c).round() / 2.0)
            } else {
                at
            })
        };
        let triangles = (0..random.whole(1, 12))
            .map(|_| [0; 3].map(|_| vertex(random)))
            .collect();
        space.case(triangles)
    })
}
