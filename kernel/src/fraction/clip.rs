//! Triangles cut by walls, in index space.
//!
//! The place where an edge meets a wall is computed from both ends of the edge, the lexicographically smaller first.
//! So it is the same point for both triangles that share the edge, and for both pieces of a triangle that meet at a wall.

use std::cmp::Ordering;
use std::ops::Range;

/// A point in index space: cell `i` of an axis is from `i` to `i + 1`.
pub(super) type Point = [f64; 3];

/// Corners of a piece at most. A convex polygon gains two corners when it is cut by two parallel walls; one that
/// rounding has bent by a unit in the last place may gain one an edge.
const MOST: usize = 24;

/// A triangle, or the part of it between some walls.
#[derive(Clone)]
pub(super) struct Polygon {
    corners: [Point; MOST],
    count: usize,
}

impl Polygon {
    /// One without corners.
    pub(super) const fn empty() -> Self {
        Self { corners: [[0.0; 3]; MOST], count: 0 }
    }

    /// Makes it a triangle.
    pub(super) fn set(&mut self, corners: &[Point; 3]) {
        self.corners[..3].copy_from_slice(corners);
        self.count = 3;
    }

    pub(super) fn corners(&self) -> &[Point] {
        &self.corners[..self.count]
    }

    fn push(&mut self, corner: Point) {
        self.corners[self.count] = corner;
        self.count += 1;
    }

    /// Makes it the part of another one from `low` to `high` along an axis.
    pub(super) fn set_band(&mut self, whole: &Self, axis: usize, [low, high]: [f64; 2]) {
        self.count = 0;
        let corners = whole.corners();
        let Some(mut p) = corners.last() else { return };
        for q in corners {
            let (a, b) = (p[axis], q[axis]);
            let walls = if a < b { [low, high] } else { [high, low] };
            for wall in walls {
                if (a < wall && wall < b) || (b < wall && wall < a) {
                    self.push(cut(p, q, axis, wall));
                }
            }
            if low <= b && b <= high {
                self.push(*q);
            }
            p = q;
        }
    }
}

/// Where the edge from `p` to `q` meets a wall that is between them.
fn cut(p: &Point, q: &Point, axis: usize, wall: f64) -> Point {
    let (p, q) = if p.partial_cmp(q) == Some(Ordering::Greater) { (q, p) } else { (p, q) };
    let t = (wall - p[axis]) / (q[axis] - p[axis]);
    let mut point = [0, 1, 2].map(|a| (p[a] + t * (q[a] - p[a])).clamp(p[a].min(q[a]), p[a].max(q[a])));
    point[axis] = wall;
    point
}

/// The least and the greatest coordinate along an axis.
pub(super) fn extent(corners: &[Point], axis: usize) -> [f64; 2] {
    corners.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], corner| {
        [low.min(corner[axis]), high.max(corner[axis])]
    })
}

/// Farther away than any cell of a lattice.
const FAR: f64 = (1_u64 << 40) as f64;

/// The cells of an axis in which an extent has more than a point, or the cell above it if it is on a wall.
pub(super) fn cells([low, high]: [f64; 2]) -> Range<i64> {
    let first = low.floor().clamp(-FAR, FAR) as i64;
    first..(high.ceil().clamp(-FAR, FAR) as i64).max(first + 1)
}

/// Whether an extent is on a wall.
pub(super) fn is_on_wall([low, high]: [f64; 2]) -> bool {
    low == high && low.floor() == low
}

/// The integrals of a piece in the cell at `origin`, with the normal n outwards: ∫ n_x dA, and ∫ (x − x₀) n_x dA with
/// the low x wall of the cell at x₀.
pub(super) fn integrals(corners: &[Point], origin: Point) -> [f64; 2] {
    let local = |corner: &Point| [0, 1, 2].map(|a| corner[a] - origin[a]);
    let [x, y, z] = local(&corners[0]);
    let from_first = |corner: &Point| {
        let [u, v, w] = local(corner);
        [u, v - y, w - z]
    };
    let (mut area, mut moment) = (0.0, 0.0);
    let mut p = from_first(&corners[1]);
    for corner in &corners[2..] {
        let q = from_first(corner);
        let twice = p[1] * q[2] - p[2] * q[1];
        area += twice;
        moment += twice * (x + p[0] + q[0]);
        p = q;
    }
    [area / 2.0, moment / 6.0]
}
