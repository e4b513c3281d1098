//! Squared distances of eight pairs of a point and a triangle. They are computed with the sequence of
//! operations on doubles that defines a distance.
//!
//! The operations are the same and in the same order as in
//! [`squared_distance`](crate::geom::distance::squared_distance), but with selections in place of branches.
//! Every lane therefore has exactly the bits of the definition, which also explains the steps.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::near::CELLS;
use super::ties::NearestTriangles;
use super::tree::TriangleTree;
use crate::geom::distance::{NARROW, SPLITTER};
use crate::levels::{Aligned, LANES};

/// Number of pairs measured at a time.
pub const PAIRS: usize = 8;

/// Coordinates of eight pairs: x, y, z of the point, then of the three vertices of the triangle.
pub type PairRows = Aligned<[[f64; PAIRS]; 12]>;

/// Three coordinates in eight lanes.
type Lanes3<S> = [f64x8<S>; 3];

/// Squared distances from the cells of a brick, and the nearest triangles. In the lists of cells x varies
/// fastest, then y, then z.
#[derive(Debug, Clone)]
pub struct SquaredBrick {
    /// Squared distance of each cell. Infinite if no triangle is near enough. Beyond the limit, a value may
    /// be present or infinite.
    pub squared: [f64; CELLS],
    /// Number of the nearest triangle of each cell, if requested. Among equally near triangles, the tie-break
    /// decides.
    pub nearest: [u32; CELLS],
}

/// Pairs of a cell and a triangle whose distances were not computed yet.
#[derive(Default)]
pub struct WaitingPairs {
    rows: PairRows,
    cells: [u16; PAIRS],
    /// Indices of the triangles among the triangles of all clusters.
    places: [u32; PAIRS],
    count: usize,
}

impl WaitingPairs {
    /// Adds a pair. Returns `true` if there is no room for another pair, so that [`measure`](Self::measure)
    /// must be called now.
    #[inline(always)]
    pub fn push(&mut self, tree: &TriangleTree, place: u32, cell: usize, centre: [f64; 3]) -> bool {
        let n = self.count;
        let lane = place as usize % LANES;
        let cluster = &tree.clusters[place as usize / LANES];
        for axis in 0..3 {
            self.rows[axis][n] = centre[axis];
        }
        for row in 0..9 {
            self.rows[3 + row][n] = f64::from(cluster.vertices[row][lane]);
        }
        (self.cells[n], self.places[n]) = (cell as u16, place);
        self.count += 1;
        self.count == PAIRS
    }

    /// Computes the distances of all pairs. Updates the least distance of each cell in `found`, and the
    /// nearest triangles in `nearest`.
    pub fn measure<S: Simd>(
        &mut self,
        simd: S,
        found: &mut SquaredBrick,
        nearest: &mut Option<NearestTriangles>,
    ) {
        let squared = squared(simd, &self.rows);
        for n in 0..self.count {
            let cell = usize::from(self.cells[n]);
            let best = &mut found.squared[cell];
            match nearest {
                Some(nearest) => nearest.add(cell, self.places[n], squared[n], best),
                None if squared[n] < *best => *best = squared[n],
                None => {}
            }
        }
        self.count = 0;
    }
}

/// Returns the squared distances of eight pairs.
pub fn squared<S: Simd>(simd: S, rows: &PairRows) -> [f64; PAIRS] {
    simd.vectorize(
        #[inline(always)]
        || measure(simd, rows),
    )
}

#[inline(always)]
fn measure<S: Simd>(simd: S, rows: &PairRows) -> [f64; PAIRS] {
    let zero = f64x8::splat(simd, 0.0);
    let mut read = [[zero; 3]; 4];
    for (n, row) in rows.iter().enumerate() {
        read[n / 3][n % 3] = f64x8::from_slice(simd, row);
    }
    let [point, a, b, c] = read;
    let (a, b) = ordered(a, b);
    let (b, c) = ordered(b, c);
    let (a, b) = ordered(a, b);

    let from = [less(point, a), less(point, b), less(point, c)];
    let ends = [
        dot(from[0], from[0]),
        dot(from[1], from[1]),
        dot(from[2], from[2]),
    ];
    let ab = less(b, a);
    let ac = less(c, a);
    let bc = less(c, b);
    let first = side(ab, from[0], ends[0], ends[1], zero);
    let second = side(ac, from[0], ends[0], ends[2], zero);
    let third = side(bc, from[1], ends[1], ends[2], zero);
    let edges = least(least(first[2], second[2]), third[2]);

    let normal = cross_with_errors(simd, ab, ac);
    let size = dot(normal, normal);
    let height = dot(normal, from[0]);
    let plane = height * height / size;
    let turned_a = cross(normal, from[0]);
    let turned_b = cross(normal, from[1]);
    let within = dot(ab, turned_a).simd_le(zero)
        & dot(ac, turned_a).simd_ge(zero)
        & dot(bc, turned_b).simd_le(zero);
    let is_first = first[1].simd_ge(second[1]);
    let [along, length] = [
        is_first.select(first[0], second[0]),
        is_first.select(first[1], second[1]),
    ];
    let is_longer = length.simd_ge(third[1]);
    let [along, length] = [
        is_longer.select(along, third[0]),
        is_longer.select(length, third[1]),
    ];
    let between = along.simd_ge(zero) & along.simd_le(length);
    let is_wide = size.simd_gt(first[1] * second[1] * NARROW);
    let is_face = is_wide & within & between & plane.simd_lt(edges);
    let mut squared = [0.0; PAIRS];
    is_face.select(plane, edges).store_slice(&mut squared);
    squared
}

/// Returns two points in their lexicographic order.
#[inline(always)]
fn ordered<S: Simd>(a: Lanes3<S>, b: Lanes3<S>) -> (Lanes3<S>, Lanes3<S>) {
    let swap = b[0].simd_lt(a[0])
        | (b[0].simd_eq(a[0]) & (b[1].simd_lt(a[1]) | (b[1].simd_eq(a[1]) & b[2].simd_lt(a[2]))));
    let low = [
        swap.select(b[0], a[0]),
        swap.select(b[1], a[1]),
        swap.select(b[2], a[2]),
    ];
    let high = [
        swap.select(a[0], b[0]),
        swap.select(a[1], b[1]),
        swap.select(a[2], b[2]),
    ];
    (low, high)
}

/// Computes, for a side of the triangle, the position of the foot of the perpendicular along it, its squared
/// length, and the squared distance of the point from it.
#[inline(always)]
fn side<S: Simd>(
    edge: Lanes3<S>,
    from: Lanes3<S>,
    start: f64x8<S>,
    end: f64x8<S>,
    zero: f64x8<S>,
) -> [f64x8<S>; 3] {
    let along = dot(from, edge);
    let length = dot(edge, edge);
    let part = along / length;
    let across = [
        from[0] - part * edge[0],
        from[1] - part * edge[1],
        from[2] - part * edge[2],
    ];
    let inner = along.simd_lt(length).select(dot(across, across), end);
    [along, length, along.simd_gt(zero).select(inner, start)]
}

#[inline(always)]
fn least<S: Simd>(a: f64x8<S>, b: f64x8<S>) -> f64x8<S> {
    b.simd_lt(a).select(b, a)
}

#[inline(always)]
fn less<S: Simd>(a: Lanes3<S>, b: Lanes3<S>) -> Lanes3<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn dot<S: Simd>(a: Lanes3<S>, b: Lanes3<S>) -> f64x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<S: Simd>(a: Lanes3<S>, b: Lanes3<S>) -> Lanes3<S> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
fn cross_with_errors<S: Simd>(simd: S, a: Lanes3<S>, b: Lanes3<S>) -> Lanes3<S> {
    let splitter = f64x8::splat(simd, SPLITTER);
    let mut a_halves = [a, a];
    let mut b_halves = [b, b];
    for n in 0..3 {
        let [low, high] = halves(a[n], splitter);
        (a_halves[0][n], a_halves[1][n]) = (low, high);
        let [low, high] = halves(b[n], splitter);
        (b_halves[0][n], b_halves[1][n]) = (low, high);
    }
    let mut result = a;
    for (n, (i, j)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
        let p = a[i] * b[j];
        let p_off = error(
            p,
            [a_halves[0][i], a_halves[1][i]],
            [b_halves[0][j], b_halves[1][j]],
        );
        let q = a[j] * b[i];
        let q_off = error(
            q,
            [a_halves[0][j], a_halves[1][j]],
            [b_halves[0][i], b_halves[1][i]],
        );
        result[n] = (p - q) + (p_off - q_off);
    }
    result
}

/// Splits a number into a sum of two: the upper half and the lower half of its digits.
#[inline(always)]
fn halves<S: Simd>(a: f64x8<S>, splitter: f64x8<S>) -> [f64x8<S>; 2] {
    let c = splitter * a;
    let high = c - (c - a);
    [high, a - high]
}

/// Returns the rounding error of the product `p` of two split numbers.
#[inline(always)]
fn error<S: Simd>(p: f64x8<S>, [ah, al]: [f64x8<S>; 2], [bh, bl]: [f64x8<S>; 2]) -> f64x8<S> {
    ((ah * bh - p) + ah * bl + al * bh) + al * bl
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::distance::squared_distance;
    use crate::levels::{Level, on_level};
    use crate::random::Random;

    fn measured(level: Level, rows: &PairRows) -> [f64; PAIRS] {
        on_level!(level, simd => squared(simd, rows))
    }

    #[test]
    fn every_lane_has_the_bits_of_the_definition_on_every_level() {
        let mut random = Random::new(7);
        let mut number = |steps: i64| random.whole(-steps, steps) as f32 / steps as f32;
        let mut faces = 0;
        let mut compared = 0;
        for round in 0..4000 {
            // With few steps, many coordinates are equal, many edges have length zero, and many points are on
            // faces.
            let steps = [1, 2, 8, 1 << 23][round % 4];
            let mut rows = Aligned([[0.0; PAIRS]; 12]);
            rows.as_flattened_mut()
                .iter_mut()
                .for_each(|value| *value = f64::from(number(steps)));
            for level in Level::available() {
                let found = measured(level, &rows);
                for lane in 0..PAIRS {
                    let of = |n: usize| {
                        [
                            rows[3 * n][lane],
                            rows[3 * n + 1][lane],
                            rows[3 * n + 2][lane],
                        ]
                    };
                    let triangle = [1, 2, 3].map(|n| of(n).map(|v| v as f32));
                    let defined = squared_distance(of(0), &triangle);
                    assert_eq!(
                        found[lane].to_bits(),
                        defined.to_bits(),
                        "{level:?} {:?} {triangle:?}",
                        of(0)
                    );
                    faces += usize::from(defined == 0.0);
                    compared += 1;
                }
            }
        }
        assert!(compared >= 8 * 4000 && faces > 100, "{compared} {faces}");
    }
}
