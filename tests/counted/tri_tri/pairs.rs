//! Pairs of triangles of every kind, most of them close to a tie.

use voxelize::geom::{Point, Triangle};

use crate::support::random::Random;

/// Pair with integer coordinates.
pub type WholePair = [[[i64; 3]; 3]; 2];

/// Pairs of one kind: its name, and a function that creates a pair.
pub type Family = (&'static str, fn(&mut Random) -> WholePair);

pub const FAMILIES: &[Family] = &[
    ("random", |r| [triangle(r, 1000), triangle(r, 1000)]),
    ("small", |r| [triangle(r, 3), triangle(r, 3)]),
    ("touching", touching),
    ("coplanar", coplanar),
    ("shared edge", shared_edge),
    ("shared vertex", shared_vertex),
    ("degenerate", degenerate),
    ("through edges", through_edges),
    ("near", near),
];

fn point(random: &mut Random, most: i64) -> [i64; 3] {
    [(); 3].map(|()| random.below(2 * most as u64 + 1) as i64 - most)
}

fn triangle(random: &mut Random, most: i64) -> [[i64; 3]; 3] {
    [(); 3].map(|()| point(random, most))
}

/// Returns a point of a triangle at eighths: a vertex, on an edge, or within. Its vertices are multiples of
/// eight.
fn inner_point(random: &mut Random, t: &[[i64; 3]; 3]) -> [i64; 3] {
    let u = random.below(9) as i64;
    let v = random.below(9 - u as u64) as i64;
    std::array::from_fn(|i| (u * t[0][i] + v * t[1][i] + (8 - u - v) * t[2][i]) / 8)
}

fn times_eight(t: [[i64; 3]; 3]) -> [[i64; 3]; 3] {
    t.map(|v| v.map(|c| 8 * c))
}

/// A vertex or an edge of one triangle lies in the other.
fn touching(random: &mut Random) -> WholePair {
    let s = times_eight(triangle(random, 40));
    let mut t = triangle(random, 400);
    t[0] = inner_point(random, &s);
    if random.below(2) == 0 {
        t[1] = inner_point(random, &s);
    }
    [s, t]
}

/// Both in the plane of two vectors.
fn coplanar(random: &mut Random) -> WholePair {
    let from = point(random, 20);
    let e = point(random, 6);
    let f = point(random, 6);
    [(); 2].map(|()| {
        [(); 3].map(|()| {
            let [u, v] = [(); 2].map(|()| random.below(7) as i64 - 3);
            std::array::from_fn(|i| from[i] + u * e[i] + v * f[i])
        })
    })
}

fn shared_edge(random: &mut Random) -> WholePair {
    let s = times_eight(triangle(random, 30));
    let third = if random.below(3) == 0 {
        inner_point(random, &s)
    } else {
        point(random, 240)
    };
    [s, [s[2], s[1], third]]
}

fn shared_vertex(random: &mut Random) -> WholePair {
    let s = times_eight(triangle(random, 30));
    let second = if random.below(2) == 0 {
        inner_point(random, &s)
    } else {
        point(random, 240)
    };
    [s, [second, s[1], point(random, 240)]]
}

/// One or both are a segment or a point.
fn degenerate(random: &mut Random) -> WholePair {
    let s = times_eight(triangle(random, 12));
    let p = inner_point(random, &s);
    let q = point(random, 60);
    let far = std::array::from_fn(|i| 2 * p[i] - q[i]);
    let line = match random.below(4) {
        0 => [p, p, p],
        1 => [q, q, q],
        2 => [q, p, far],
        _ => [p, q, p],
    };
    let other = match random.below(3) {
        0 => [s[0], s[1], std::array::from_fn(|i| (s[0][i] + s[1][i]) / 2)],
        _ => s,
    };
    if random.below(2) == 0 {
        [line, other]
    } else {
        [other, line]
    }
}

/// An edge of one passes through a point on an edge of the other.
fn through_edges(random: &mut Random) -> WholePair {
    let s = times_eight(triangle(random, 40));
    let at: [i64; 3] = std::array::from_fn(|i| (3 * s[0][i] + 5 * s[1][i]) / 8);
    let way = point(random, 50);
    let back = random.below(5) as i64;
    let on = random.below(5) as i64;
    let third = point(random, 300);
    [
        s,
        [
            std::array::from_fn(|i| at[i] - back * way[i]),
            std::array::from_fn(|i| at[i] + on * way[i]),
            third,
        ],
    ]
}

/// Touching, then one coordinate moved by a step.
fn near(random: &mut Random) -> WholePair {
    let make = FAMILIES[2 + random.below(6) as usize].1;
    let mut pair = make(random);
    let [side, vertex, axis] = [2, 3, 3].map(|n| random.below(n) as usize);
    pair[side][vertex][axis] += if random.below(2) == 0 { 1 } else { -1 };
    pair
}

/// Returns the pair as floats: scaled by a power of two, translated exactly, rotated and exchanged.
pub fn as_floats(random: &mut Random, pair: &WholePair) -> [Triangle; 2] {
    let scale = [1.0, 0.125, 1024.0, 2f32.powi(-100), 2f32.powi(90)][random.below(5) as usize];
    let shift = [0, 0, 0, 1 << 14, -(1 << 20)][random.below(5) as usize];
    let turn = random.below(3) as usize;
    pair.map(|t| {
        let mut t = t.map(|v| -> Point { v.map(|c| (c + shift) as f32 * scale) });
        t.rotate_left(turn);
        t
    })
}
