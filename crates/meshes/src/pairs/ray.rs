//! Exact intersections of rays with triangles.
//!
//! A ray goes from a point towards greater x. It is displaced by an infinitesimal in y and by the square of
//! the infinitesimal in z, so that it intersects no edge (Edelsbrunner and Mücke, Simulation of Simplicity,
//! 1990). Signs are decided in doubles if the error bound leaves no doubt, otherwise in fractions.

use super::boxes::{LANES, LaneBoxes};
use super::tree::PairTree;
use voxelize_core::geom::fractions::{self, ExactPoint, cross, exact, minus, plus};
use voxelize_core::geom::{Point, Rational, Triangle};

/// Crossings of a ray with triangles. Outward crossings count as 1, inward crossings as −1.
#[derive(Debug, Clone, Copy, Default)]
pub struct RayCount {
    /// Signed number of crossings ahead of the point.
    pub turns: i64,
    /// Number of triangles that the ray crosses ahead of the point.
    pub count: u64,
    /// Signed number of crossings at the point itself.
    pub turns_on_surface: i64,
    /// Number of crossed triangles that the point lies on.
    pub on_surface: u64,
}

/// Start of a ray: a point and the directions of its displacement. The point is displaced by an infinitesimal
/// along the first direction, and by the square of the infinitesimal along the second.
#[derive(Debug)]
pub struct RaySample {
    at: ExactPoint,
    leans: Vec<ExactPoint>,
    /// The point, rounded to doubles.
    approximate: [f64; 3],
    /// For each coordinate: the rounded coordinate is exact.
    is_exact: [bool; 3],
}

impl RaySample {
    /// Creates the sample of a point without displacement.
    pub fn vertex(point: Point) -> Self {
        Self::displaced(exact(point), vec![])
    }

    /// Creates a sample displaced along `leans`: by an infinitesimal along the first direction, and by its
    /// square along the second.
    pub fn displaced(at: ExactPoint, leans: Vec<ExactPoint>) -> Self {
        let approximate = fractions::rounded(&at);
        let is_exact = at.each_ref().map(Rational::is_f64);
        Self {
            at,
            leans,
            approximate,
            is_exact,
        }
    }

    /// Returns two samples at the middle of a triangle, one displaced to each side of the triangle.
    pub(crate) fn sides_of(triangle: &Triangle) -> [Self; 2] {
        let [a, b, c] = triangle.map(exact);
        let third = &Rational::ONE / &Rational::from(3);
        let middle = plus(&plus(&a, &b), &c).each_ref().map(|c| c * &third);
        let normal = cross(&minus(&b, &a), &minus(&c, &a));
        let back = normal.each_ref().map(|c| -c);
        [normal, back].map(|lean| Self::displaced(middle.clone(), vec![lean]))
    }

    /// Returns the point, rounded to doubles.
    pub fn rounded(&self) -> &[f64; 3] {
        &self.approximate
    }

    /// Returns the side of a triangle's plane on which the point lies: 1 in the direction of the
    /// normal, −1 on the other side, 0 in the plane.
    pub fn side(&self, triangle: &Triangle) -> i8 {
        if let Some(sure) = self.sure_side(triangle) {
            return sure;
        }
        let [a, b, c] = triangle.map(exact);
        let normal = cross(&minus(&b, &a), &minus(&c, &a));
        let heights = std::iter::once(minus(&self.at, &a)).chain(self.leans.iter().cloned());
        first_sign(heights.map(|v| fractions::dot(&normal, &v)))
    }

    /// Returns the side of a triangle's plane if doubles determine it for certain. The error of the point is
    /// half a unit in the last place. All other errors are as in
    /// [`orientation`](voxelize_core::geom::orientation). Their sum is less than 32 u times the absolute
    /// values of the terms.
    fn sure_side(&self, triangle: &Triangle) -> Option<i8> {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let [a, b, c] = triangle.map(|v| v.map(f64::from));
        let mut sum = 0.0;
        let mut size = 0.0;
        for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let p = (b[i] - a[i]) * (c[j] - a[j]);
            let q = (b[j] - a[j]) * (c[i] - a[i]);
            sum += (p - q) * (self.approximate[k] - a[k]);
            size += (p.abs() + q.abs()) * (self.approximate[k].abs() + a[k].abs());
        }
        (sum.abs() > BOUND * size).then_some(if sum > 0.0 { 1 } else { -1 })
    }

    /// Returns the side of the edge from `p` to `q` on which the point lies, in a projection along x. 0 only
    /// if the projection of the edge is a point.
    fn side_of_edge(&self, p: &Point, q: &Point) -> i8 {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let [p64, q64] = [p, q].map(|v| v.map(f64::from));
        let [_, y, z] = self.approximate;
        let along_y = q64[1] - p64[1];
        let along_z = q64[2] - p64[2];
        let sum = along_y * (z - p64[2]) - along_z * (y - p64[1]);
        let size =
            along_y.abs() * (z.abs() + p64[2].abs()) + along_z.abs() * (y.abs() + p64[1].abs());
        if sum.abs() > BOUND * size {
            return if sum > 0.0 { 1 } else { -1 };
        }
        // A result of exactly zero is frequent in meshes whose faces are parallel to the axes.
        let is_level = |i: usize, along: f64| {
            along == 0.0 || self.is_exact[i] && self.approximate[i] == p64[i]
        };
        if self.leans.is_empty() && is_level(2, along_y) && is_level(1, along_z) {
            let displaced = [-along_z, along_y].into_iter().find(|c| *c != 0.0);
            return displaced.map_or(0, |c| if c > 0.0 { 1 } else { -1 });
        }
        let [p, q] = [p, q].map(|v| exact(*v));
        let e = minus(&q, &p);
        let turn = |v: &ExactPoint| &(&e[1] * &v[2]) - &(&e[2] * &v[1]);
        let displaced =
            std::iter::once(turn(&minus(&self.at, &p))).chain(self.leans.iter().map(turn));
        first_sign(displaced.chain([-&e[2], e[1].clone()]))
    }

    /// Returns the crossing of the ray with a triangle. `None` if the ray does not cross it.
    fn crosses(&self, triangle: &Triangle) -> Option<RayCrossing> {
        let [a, b, c] = triangle;
        // A triangle whose projection along x is a line is never crossed, because it has edges in both
        // directions.
        if [1, 2].into_iter().any(|i| a[i] == b[i] && b[i] == c[i]) {
            return None;
        }
        let turn = self.side_of_edge(a, b);
        if turn == 0 || self.side_of_edge(b, c) != turn || self.side_of_edge(c, a) != turn {
            return None;
        }
        match self.side(triangle) {
            0 => Some(RayCrossing::OnSurface(turn)),
            side if side == -turn => Some(RayCrossing::Ahead(turn)),
            _ => None,
        }
    }
}

/// Crossing of a ray with a triangle: 1 if the ray leaves the volume that the triangle bounds, −1
/// if it enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RayCrossing {
    Ahead(i8),
    /// The ray begins on the triangle.
    OnSurface(i8),
}

impl PairTree<'_> {
    /// Counts the crossings of the ray that starts at a sample, with all triangles of the tree.
    pub fn crossings(&self, sample: &RaySample) -> RayCount {
        let [x, y, z] = sample.approximate.map(|c| [c.next_down(), c.next_up()]);
        let is_ahead = |boxes: &LaneBoxes, lane: usize| {
            let [_, low_y, low_z, high_x, high_y, high_z] =
                boxes.each_ref().map(|row| f64::from(row[lane]));
            low_y <= y[1] && low_z <= z[1] && high_x >= x[0] && high_y >= y[0] && high_z >= z[0]
        };
        let hit = |boxes: &LaneBoxes| {
            (0..LANES).fold(0, |hits, lane| {
                hits | u32::from(is_ahead(boxes, lane)) << lane
            })
        };
        let mut found = RayCount::default();
        self.visit(&|_| true, &hit, &mut |number| match sample
            .crosses(&self.triangles[number as usize])
        {
            Some(RayCrossing::Ahead(turn)) => {
                found.turns += i64::from(turn);
                found.count += 1;
            }
            Some(RayCrossing::OnSurface(turn)) => {
                found.turns_on_surface += i64::from(turn);
                found.on_surface += 1;
            }
            None => {}
        });
        found
    }
}

/// Returns the sign of the first number that is not zero, or 0 if all are zero.
fn first_sign(numbers: impl Iterator<Item = Rational>) -> i8 {
    numbers
        .map(|number| fractions::sign(&number))
        .find(|sign| *sign != 0)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the twelve triangles of a box, facing outwards.
    fn cuboid(low: [f32; 3], high: [f32; 3]) -> Vec<Triangle> {
        let corner =
            |n: usize| std::array::from_fn(|a| if n >> a & 1 == 1 { high[a] } else { low[a] });
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let halves = |[a, b, c, d]: [usize; 4]| [[a, b, c], [a, c, d]];
        faces
            .into_iter()
            .flat_map(halves)
            .map(|t| t.map(corner))
            .collect()
    }

    #[test]
    fn a_ray_through_edges_and_vertices_crosses_the_triangles_of_its_displacement() {
        let low = [-1.0, 0.0, 1.0];
        let high = [2.0, 3.0, 4.0];
        let triangles = cuboid(low, high);
        let tree = PairTree::new(&triangles);
        let steps = (-4..=10).map(|n| n as f32 / 2.0);
        let mut seen = [0; 3];
        for x in steps.clone() {
            for y in steps.clone() {
                for z in steps.clone() {
                    let found = tree.crossings(&RaySample::vertex([x, y, z]));
                    // The displaced ray passes above a face at the upper end of y or z.
                    let meets = (1..3).all(|a| low[a] <= [x, y, z][a] && [x, y, z][a] < high[a]);
                    let ahead = u64::from(meets && x < low[0]) + u64::from(meets && x < high[0]);
                    let on = [(low[0], -1), (high[0], 1)]
                        .into_iter()
                        .filter(|(face, _)| meets && x == *face);
                    let on: Vec<i64> = on.map(|(_, turn)| turn).collect();
                    assert_eq!(
                        (found.count, found.turns),
                        (ahead, (ahead % 2) as i64),
                        "{x} {y} {z}"
                    );
                    assert_eq!(
                        (found.on_surface, found.turns_on_surface),
                        (on.len() as u64, on.iter().sum())
                    );
                    seen[ahead as usize] += 1;
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    }

    #[test]
    fn the_two_sides_of_a_triangle_are_off_it_even_without_a_double_in_its_plane() {
        let triangle = [[0.1, 0.2, 0.3], [1.7, 0.9, 0.4], [0.6, 1.3, 1.1]];
        let level = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]];
        let ahead = |triangle: Triangle| {
            let triangles = [triangle];
            let tree = PairTree::new(&triangles);
            RaySample::sides_of(&triangle).map(|side| {
                let found = tree.crossings(&side);
                assert_eq!(found.on_surface, 0);
                found.turns
            })
        };
        // If the normal points to lower x, the ray that starts on the front crosses the triangle inwards.
        let front_is_low = RaySample::sides_of(&triangle)[0].leans[0][0] < Rational::ZERO;
        assert_eq!(ahead(triangle), if front_is_low { [-1, 0] } else { [0, 1] });
        assert_eq!(ahead(level), [0, 0]);
    }
}
