//! Worlds of needles: triangles of every relative width from 1e-15 to 1 next to triangles of every shape, at
//! all scales, in near and distant lattices.

use voxelize::geom::Triangle;
use voxelize::{Lattice, Rational};

use crate::support::random::Random;

/// Triangles in a lattice.
pub struct World {
    pub triangles: Vec<Triangle>,
    pub lattice: Lattice,
}

impl World {
    /// Returns a needle that may hide a nearer triangle, seen from cells of similar size.
    pub fn of_a_needle(random: &mut Random) -> Self {
        let scale = 2f64.powi(random.whole(-4, 4) as i32);
        let needle = needle(random, scale);
        let mut triangles = vec![needle, triangle(random, scale)];
        triangles.rotate_left(random.index(2));
        let lattice = lattice(random, scale, 1.0);
        Self { triangles, lattice }
    }

    /// Returns up to `most` triangles of every shape and size.
    pub fn of_all(random: &mut Random, most: usize) -> Self {
        let scale = scale(random);
        let count = 1 + random.index(most);
        let mut triangles: Vec<Triangle> = (0..count).map(|_| triangle(random, scale)).collect();
        if random.one_in(20) {
            // Much larger than all others: floats cannot square it.
            let larger = 2f64.powi(random.whole(20, 140) as i32);
            triangles.push(triangle(random, scale * larger));
        }
        if random.one_in(10) {
            // A duplicate with its vertices in another order.
            let [a, b, c] = triangles[0];
            triangles.push([b, c, a]);
        }
        let far = if random.one_in(5) {
            2f64.powi(random.whole(0, 40) as i32)
        } else {
            1.0
        };
        Self {
            triangles,
            lattice: lattice(random, scale, far),
        }
    }
}

/// Returns a triangle of any shape at any scale, and a point in its plane or next to it, on it or slightly
/// beyond its edges.
pub fn beside_a_triangle(random: &mut Random) -> (Triangle, [f64; 3]) {
    let scale = scale(random);
    let corners = triangle(random, scale);
    let [a, b, c] = corners.map(|vertex| vertex.map(f64::from));
    let [s, t] = [(); 2].map(|()| {
        let part = random.within(-0.2, 1.2);
        random.of(&[0.0, 0.5, 1.0, part, 1e-9])
    });
    let distance = 10f64.powf(random.within(-17.0, 0.0));
    let off = scale * random.of(&[0.0, 1.0, distance]);
    let off = near(random, off);
    let point = |i: usize| a[i] + s * (b[i] - a[i]) + t * (c[i] - a[i]) + off[i];
    (corners, std::array::from_fn(point))
}

/// Returns a width relative to a length, from 1e-15 to 1, or zero.
fn width(random: &mut Random) -> f64 {
    if random.one_in(12) {
        0.0
    } else {
        10f64.powf(random.within(-15.5, 0.0))
    }
}

/// Returns the size of a world: from magnitudes where floats have few digits to magnitudes where their
/// products overflow.
fn scale(random: &mut Random) -> f64 {
    let exponent = match random.index(6) {
        0 => random.whole(-149, -120),
        1 => random.whole(100, 126),
        2 => random.whole(-120, 100),
        _ => random.whole(-6, 6),
    };
    2f64.powi(exponent as i32)
}

/// Returns a triangle of any shape with coordinates of magnitude `scale`.
fn triangle(random: &mut Random, scale: f64) -> Triangle {
    let length = scale
        * if random.one_in(4) {
            2f64.powi(random.whole(-24, 3) as i32)
        } else {
            1.0
        };
    if random.one_in(2) {
        return needle(random, length);
    }
    let [a, b, c] = [(); 3].map(|()| near(random, length));
    let middle = std::array::from_fn(|i| (a[i] + b[i]) / 2.0);
    // Points, segments, three corners on one line, compact triangles.
    let shapes = [
        [a, a, a],
        [a, a, b],
        [a, b, middle],
        [a, b, c],
        [a, b, c],
        [a, b, c],
    ];
    let shape = random.of(&shapes);
    rounded(random, shape)
}

/// Returns a needle of any width, about as long as `length`.
fn needle(random: &mut Random, length: f64) -> Triangle {
    let width = length * width(random);
    let [from, to] = [(); 2].map(|()| near(random, length));
    let [stray, other] = [(); 2].map(|()| near(random, width));
    // Direction of short numbers, so that its multiples are on one line through the origin.
    let whole: [f64; 3] = std::array::from_fn(|_| length * random.whole(-4, 4) as f64 / 4.0);
    let t = random.of(&[0.0, 0.5, 1.0, 1.5, 1e-6, 1.0 - 1e-6]);
    let axis = random.index(3);
    let on_axis = |along: f64, across: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|a| if a == axis { along } else { across[a] })
    };
    let corners = match random.index(9) {
        // The short side is exactly perpendicular to the long one: its component along the long side is the
        // square of the width.
        0..3 => [[0.0; 3], on_axis(0.0, stray), on_axis(to[0], [0.0; 3])],
        // Both ends of the short side next to the origin, in any direction: the width consists of small
        // coordinates.
        3 => [stray, other, whole],
        4 => [stray, other, to],
        // One of them at the origin.
        5 => [[0.0; 3], stray, to],
        // The third corner next to the origin, between the others.
        6 => [whole, whole.map(|c| -t * c), stray],
        // Along an axis, with arbitrarily small coordinates across.
        7 => [
            on_axis(from[0], stray),
            on_axis(to[0], [0.0; 3]),
            on_axis(from[0] + t * (to[0] - from[0]), other),
        ],
        // Anywhere. Floats that are too coarse for the width round it.
        _ => [
            from,
            to,
            std::array::from_fn(|a| from[a] + t * (to[a] - from[a]) + stray[a]),
        ],
    };
    rounded(random, corners)
}

/// Rounds to the nearest floats, starting at any vertex.
fn rounded(random: &mut Random, corners: [[f64; 3]; 3]) -> Triangle {
    let mut triangle = corners.map(|corner| corner.map(|c| (c as f32).clamp(f32::MIN, f32::MAX)));
    triangle.rotate_left(random.index(3));
    triangle
}

/// Returns a point with coordinates up to `by`.
fn near(random: &mut Random, by: f64) -> [f64; 3] {
    std::array::from_fn(|_| random.within(-by, by))
}

/// Returns a few cells, about as large as the triangles or smaller, around them, next to them, or `far` times
/// as far away.
fn lattice(random: &mut Random, scale: f64, far: f64) -> Lattice {
    let dims: [usize; 3] = std::array::from_fn(|_| 1 + random.index(7));
    let mut side = scale * 2f64.powi(random.whole(-3, 1) as i32);
    if far != 1.0 || random.one_in(5) {
        side *= 2f64.powi(random.whole(-24, 12) as i32);
    }
    let exact = |value: f64| Rational::from_f64(value).expect("finite");
    let third = random.one_in(3);
    let spacing: [Rational; 3] = std::array::from_fn(|_| {
        let side = exact(side * random.of(&[1.0, 1.0, 0.75]));
        if third {
            side * Rational::new(1, 3)
        } else {
            side
        }
    });
    let origin = std::array::from_fn(|a| {
        let around = -0.5 * dims[a] as f64 * side;
        let offset = match random.index(3) {
            0 => around,
            1 => around + side * far * random.within(-4.0, 4.0),
            _ => side * (random.whole(-8, 4) as f64 + 0.5) * far.round(),
        };
        exact(offset)
    });
    Lattice::new(dims, origin, spacing, [true; 3]).expect("a few cells")
}
