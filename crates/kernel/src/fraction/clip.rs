//! Cutting of polygons by walls, in index space.
//!
//! The point at which an edge meets a wall is computed from both ends of the edge, of which the
//! lexicographically smaller one comes first. It is therefore the same for both triangles that share the
//! edge, and for both pieces of a triangle that meet at the wall.

use std::cmp::Ordering;
use std::ops::Range;

/// Point in index space. Cell `i` of an axis extends from `i` to `i + 1`.
pub(super) type IndexPoint = [f64; 3];

/// Receiver of pieces of triangles.
pub(super) trait PieceTaker {
    /// Receives a piece in a cell. If the piece lies on a wall across x or y, it is given the cell above that
    /// wall, and the receiver chooses the cell. A piece on a wall across z already has its final layer.
    fn add(&mut self, cell: [i64; 3], corners: &[IndexPoint], extents: [[f64; 2]; 3]);
}

/// Maximum number of corners of a piece. When a convex polygon is cut by two parallel walls, it gains at most
/// two corners. If rounding has bent an edge by a unit in the last place, one more corner per edge is
/// possible.
const MOST: usize = 24;

/// Triangle, or the part of a triangle between some walls.
#[derive(Clone)]
pub(super) struct Polygon {
    corners: [IndexPoint; MOST],
    count: usize,
}

impl Polygon {
    /// Creates a polygon without corners.
    pub(super) const fn empty() -> Self {
        Self {
            corners: [[0.0; 3]; MOST],
            count: 0,
        }
    }

    /// Replaces the polygon by a triangle.
    pub(super) fn set(&mut self, corners: &[IndexPoint; 3]) {
        self.corners[..3].copy_from_slice(corners);
        self.count = 3;
    }

    pub(super) fn corners(&self) -> &[IndexPoint] {
        &self.corners[..self.count]
    }

    fn push(&mut self, corner: IndexPoint) {
        self.corners[self.count] = corner;
        self.count += 1;
    }

    /// Replaces the polygon by the part of `whole` between `low` and `high` along an axis.
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

/// Computes the parts of a polygon below and above a wall. The result is the same as from two calls of
/// [`set_band`](Polygon::set_band), in half the time.
pub(super) fn split(whole: &Polygon, axis: usize, wall: f64, [below, above]: [&mut Polygon; 2]) {
    (below.count, above.count) = (0, 0);
    let corners = whole.corners();
    let Some(mut p) = corners.last() else { return };
    for q in corners {
        let (a, b) = (p[axis], q[axis]);
        if (a < wall && wall < b) || (b < wall && wall < a) {
            let point = cut(p, q, axis, wall);
            below.push(point);
            above.push(point);
        }
        if b <= wall {
            below.push(*q);
        }
        if b >= wall {
            above.push(*q);
        }
        p = q;
    }
}

/// Returns the point at which the edge from `p` to `q` meets a wall. The wall must be between them.
fn cut(p: &IndexPoint, q: &IndexPoint, axis: usize, wall: f64) -> IndexPoint {
    let (p, q) = if p.partial_cmp(q) == Some(Ordering::Greater) {
        (q, p)
    } else {
        (p, q)
    };
    let t = (wall - p[axis]) / (q[axis] - p[axis]);
    let mut point =
        [0, 1, 2].map(|a| (p[a] + t * (q[a] - p[a])).clamp(p[a].min(q[a]), p[a].max(q[a])));
    point[axis] = wall;
    point
}

/// Returns the least and the greatest coordinate of the corners along an axis.
pub(super) fn extent(corners: &[IndexPoint], axis: usize) -> [f64; 2] {
    corners
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], corner| {
            [low.min(corner[axis]), high.max(corner[axis])]
        })
}

/// Coordinate that is farther away than any cell of a lattice.
const FAR: f64 = (1_u64 << 40) as f64;

/// Returns the greatest wall at or below a coordinate. Its absolute value is limited to [`FAR`]. The
/// conversion is faster than `f64::floor` on targets without a rounding instruction, where that is a function
/// call.
fn floor(x: f64) -> i64 {
    let whole = x.clamp(-FAR, FAR) as i64;
    whole - i64::from(whole as f64 > x)
}

/// Returns the range of cells along an axis that contain more than one point of an extent. If the extent is
/// on a wall, returns the cell above the wall.
pub(super) fn cells([low, high]: [f64; 2]) -> Range<i64> {
    let first = floor(low);
    let last = floor(high);
    first..(last + i64::from(last as f64 != high)).max(first + 1)
}

/// Returns `true` if the extent is a single coordinate on a wall.
pub(super) fn is_on_wall([low, high]: [f64; 2]) -> bool {
    low == high && floor(low) as f64 == low
}

/// Returns two integrals over a piece in the cell at `origin`: ∫ n_x dA and ∫ (x − x₀) n_x dA. n is the
/// outward normal, and x₀ is the low x wall of the cell.
#[cfg(test)]
pub(super) fn integrals(corners: &[IndexPoint], origin: IndexPoint) -> [f64; 2] {
    let local = |corner: &IndexPoint| [0, 1, 2].map(|a| corner[a] - origin[a]);
    let [x, y, z] = local(&corners[0]);
    let from_first = |corner: &IndexPoint| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn floors_are_those_of_the_library() {
        let mut compared = 0;
        for n in -40..40 {
            let wall = f64::from(n) / 4.0;
            for x in [wall, wall.next_up(), wall.next_down(), wall * 1e9] {
                assert_eq!(floor(x), x.floor() as i64, "{x}");
                assert_eq!(is_on_wall([x, x]), x.floor() == x, "{x}");
                compared += 1;
            }
        }
        assert_eq!(
            (compared, cells([1.0, 2.5]), cells([2.0, 2.0])),
            (320, 1..3, 2..3)
        );
        assert_eq!(
            (cells([-1e300, 1.5]).end, cells([-0.5, 1e300]).start),
            (2, -1)
        );
    }

    #[test]
    fn both_directions_of_an_edge_are_cut_in_one_point() {
        let mut random = Random::new(5);
        let mut cuts = 0;
        for _ in 0..10_000 {
            let [p, q] = [0; 2].map(|_| [0; 3].map(|_| random.within(-9.0, 9.0)));
            let axis = random.index(3);
            let wall = floor(p[axis].max(q[axis])) as f64;
            if wall <= p[axis].min(q[axis]) || wall == p[axis].max(q[axis]) {
                continue;
            }
            let point = cut(&p, &q, axis, wall);
            cuts += 1;
            assert_eq!(point, cut(&q, &p, axis, wall));
            assert!((0..3).all(|a| p[a].min(q[a]) <= point[a] && point[a] <= p[a].max(q[a])));
        }
        assert!(cuts > 5_000, "{cuts}");
    }

    #[test]
    fn bands_of_a_triangle_have_its_integrals() {
        let mut random = Random::new(6);
        let (mut parts, mut halves) = (0, 0);
        for _ in 0..1_000 {
            let mut whole = Polygon::empty();
            whole.set(&[0; 3].map(|_| [0; 3].map(|_| random.within(0.0, 5.0))));
            let axis = random.index(3);
            let mut sum = [0.0; 2];
            for n in cells(extent(whole.corners(), axis)) {
                let mut part = Polygon::empty();
                part.set_band(&whole, axis, [n as f64, (n + 1) as f64]);
                let found = integrals(part.corners(), [0.0; 3]);
                (0..2).for_each(|n| sum[n] += found[n]);
                parts += 1;
            }
            let wanted = integrals(whole.corners(), [0.0; 3]);
            let Range { start, end } = cells(extent(whole.corners(), axis));
            if end - start == 2 {
                let [mut below, mut above] = [const { Polygon::empty() }; 2];
                split(&whole, axis, (start + 1) as f64, [&mut below, &mut above]);
                for (n, half) in [(start, below), (start + 1, above)] {
                    let mut part = Polygon::empty();
                    part.set_band(&whole, axis, [n as f64, (n + 1) as f64]);
                    assert_eq!(part.corners(), half.corners());
                    halves += 1;
                }
            }
            assert!(
                (0..2).all(|n| (sum[n] - wanted[n]).abs() < 1e-12),
                "{sum:?} {wanted:?}"
            );
        }
        assert!(parts > 2_000 && halves > 200, "{parts} {halves}");
    }
}
