//! Triangles in general position that nearly touch a corner of the lattice: floats chosen so that an edge or
//! a plane passes through it up to their rounding, then moved by a step.

use voxelize::geom::Triangle;

use super::space::Space;
use crate::support::check::Case;
use crate::support::meshes::{cross, minus};
use crate::support::random::Random;

/// Numbers of attempts to find the nearest miss. Floats are coarse, but there are many of them.
const TRIES: [usize; 4] = [1, 10, 100, 400];

/// Moves a float by at most a few steps; mostly by none.
fn nudged(random: &mut Random, v: f32) -> f32 {
    match random.index(6) {
        0 => v.next_up(),
        1 => v.next_down(),
        2 => v.next_up().next_up(),
        _ => v,
    }
}

/// Returns a vector of length below `reach` that is not short.
fn offset(random: &mut Random, reach: f64) -> [f64; 3] {
    [0; 3].map(|_| random.within(0.15, 1.0) * reach * random.of(&[-1.0, 1.0]))
}

/// Returns a corner of the lattice away from its ends.
fn corner(random: &mut Random, space: &Space, reach: f64) -> [f64; 3] {
    let reach = reach.ceil() as i64;
    space.cells.map(|n| {
        random.whole(
            reach.min(n as i64 / 2),
            (n as i64 - reach).max(n as i64 / 2),
        ) as f64
    })
}

fn count(size: f64) -> usize {
    if size > 4.0 { 8 } else { 32 }
}

/// Edges that nearly pass a corner along one axis. Triangles span up to `size` cells.
pub fn edges(random: &mut Random, size: f64) -> Case {
    let space = Space::random(random, if size > 4.0 { 26 } else { 14 });
    let triangles = (0..count(size))
        .map(|_| edge(random, &space, size, false))
        .collect();
    space.case(triangles)
}

/// Edges that nearly pass a lattice line, of triangles within the four cells around it.
pub fn edges_around(random: &mut Random) -> Case {
    let space = Space::random(random, 14);
    let triangles = (0..48).map(|_| edge(random, &space, 1.9, true)).collect();
    space.case(triangles)
}

/// A `flat` triangle is within a cell along the axis that is neither `s` nor `t`.
fn edge(random: &mut Random, space: &Space, size: f64, flat: bool) -> Triangle {
    let reach = size / 2.0;
    let mut at = corner(random, space, reach);
    let s = random.index(3);
    let t = (s + random.whole(1, 2) as usize) % 3;
    let along = 3 - s - t;
    if flat {
        at[along] += 0.5;
    }
    let offset = |random: &mut Random, reach: f64| {
        let mut offset = offset(random, reach);
        if flat {
            offset[along] *= 0.4;
        }
        offset
    };
    let third = {
        let offset = offset(random, reach);
        space.at([0, 1, 2].map(|i| at[i] + offset[i]))
    };
    let mut best = ([[0.0; 3]; 2], f64::INFINITY);
    for _ in 0..random.of(&TRIES) {
        let out = offset(random, reach);
        let a = space.at([0, 1, 2].map(|i| at[i] + out[i]));
        let ua = space.index(a);
        // B is beyond the corner: any s, and the t of the line through A and the corner.
        let mut ub = [0, 1, 2].map(|i| at[i] - out[i] * random.within(0.5, 1.0));
        ub[s] = space.index(space.at(ub))[s];
        ub[t] = at[t] + (ub[s] - at[s]) * (at[t] - ua[t]) / (at[s] - ua[s]);
        let b = space.at(ub);
        let ub = space.index(b);
        let miss = (ub[s] - at[s]) * (at[t] - ua[t]) - (ub[t] - at[t]) * (at[s] - ua[s]);
        if miss.abs() < best.1 {
            best = ([a, b], miss.abs());
        }
    }
    let [a, mut b] = best.0;
    b[t] = nudged(random, b[t]);
    let mut triangle = [a, b, third];
    triangle.rotate_left(random.index(3));
    if random.one_in(2) {
        triangle.reverse();
    }
    triangle
}

/// Planes that nearly pass a corner within the triangle.
pub fn planes(random: &mut Random, size: f64) -> Case {
    let space = Space::random(random, if size > 4.0 { 26 } else { 14 });
    let triangles = (0..count(size))
        .map(|_| plane(random, &space, size))
        .collect();
    space.case(triangles)
}

fn plane(random: &mut Random, space: &Space, size: f64) -> Triangle {
    let at = corner(random, space, size / 2.0);
    let mut best = ([[0.0; 3]; 3], f64::INFINITY);
    let axis = random.index(3);
    for _ in 0..random.of(&TRIES) {
        // Around the corner: two offsets and the negative of their sum.
        let p = offset(random, size / 3.5);
        let q = offset(random, size / 3.5);
        let a = space.at([0, 1, 2].map(|i| at[i] + p[i]));
        let b = space.at([0, 1, 2].map(|i| at[i] + q[i]));
        let ua = space.index(a);
        let ub = space.index(b);
        let normal = cross(minus(ua, at), minus(ub, at));
        let j = (axis + 1) % 3;
        let k = (axis + 2) % 3;
        if normal[axis].abs() < 1e-3 * size {
            continue;
        }
        let mut uc = [0, 1, 2].map(|i| at[i] - (p[i] + q[i]) * random.within(0.7, 0.9));
        uc = space.index(space.at(uc));
        uc[axis] =
            at[axis] - (normal[j] * (uc[j] - at[j]) + normal[k] * (uc[k] - at[k])) / normal[axis];
        let c = space.at(uc);
        let uc = space.index(c);
        let miss: f64 = (0..3).map(|i| normal[i] * (uc[i] - at[i])).sum();
        if miss.abs() < best.1 && (0..3).all(|i| (uc[i] - at[i]).abs() < size / 1.9) {
            best = ([a, b, c], miss.abs());
        }
    }
    let mut triangle = best.0;
    triangle[2][axis] = nudged(random, triangle[2][axis]);
    triangle.rotate_left(random.index(3));
    triangle
}

/// Vertices on the float nearest to a wall or centre plane, or a step or two next to it, up to `halves` half
/// cells from a corner.
pub fn vertices(random: &mut Random, halves: i64) -> Case {
    let space = Space::random(random, if halves > 4 { 30 } else { 16 });
    let triangles = (0..if halves > 4 { 8 } else { 24 })
        .map(|_| {
            let at = corner(random, &space, halves as f64 / 2.0 + 1.0);
            [0; 3].map(|_| {
                let half = at.map(|c| c + 0.5 * random.whole(-halves, halves) as f64);
                let mut v = space.at(half);
                for c in &mut v {
                    *c = nudged(random, *c);
                }
                v
            })
        })
        .collect();
    space.case(triangles)
}

/// Triangles of several cells that extend slightly beyond walls with their first vertex only.
pub fn tips(random: &mut Random) -> Case {
    let middle = 13;
    let space = Space::around_zero(random, middle);
    let middle = middle as f64;
    let triangles = (0..12)
        .map(|_| {
            let side = [0; 3].map(|_| random.of(&[-1.0, 1.0]));
            let beyond = [0; 3].map(|_| 2f64.powi(-(random.whole(16, 40) as i32)));
            let tip = space.at([0, 1, 2].map(|a| middle - side[a] * beyond[a]));
            let far = [0; 2]
                .map(|_| space.at([0, 1, 2].map(|a| middle + side[a] * random.within(1.1, 8.0))));
            let mut triangle = [tip, far[0], far[1]];
            triangle.rotate_left(random.index(3));
            triangle
        })
        .collect();
    space.case(triangles)
}
