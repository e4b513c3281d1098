//! Least translation that separates the convex hulls of two sets of points.
//!
//! Let C be the set of all differences a - b of a point of the first hull and a point of the second. After a
//! translation t of the first hull, the hulls share no volume if and only if -t is not inside C. C is convex,
//! so the least translation leads from the origin to the nearest face of C. A polytope within C grows towards
//! this face: to the nearest face of the polytope, the difference farthest beyond it is added, until no
//! difference is beyond the face (van den Bergen, "Proximity queries and penetration depth computation on 3D
//! game objects", 2001). All decisions are exact. Doubles choose the differences, and exclude points that are
//! certainly not beyond a face.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use voxelize_core::error::Result;
use voxelize_core::geom::fractions::{
    ExactPoint, cross, dot, exact, is_zero, minus, rounded, sign,
};
use voxelize_core::geom::vector;
use voxelize_core::geom::{Point, Rational};
use voxelize_core::par::Progress;

/// Number of faces, including removed ones, at which the search ends. Meshes of flat faces need a few hundred,
/// and balls that lie within each other would need nearly all of their vertices.
const FACES: usize = 8000;

/// Upper bound of the memory of the polytope in bytes.
pub(super) const POLYTOPE_BYTES: u64 = FACES as u64 * 2048;

/// Least translation of the first hull after which the hulls share no volume.
#[derive(Debug, Clone)]
pub(super) struct HullSeparation {
    pub translation: [f64; 3],
    /// Length of the translation, rounded once.
    pub length: f64,
    /// Lower bound of the length of every separating translation. It equals `length` unless the search ended
    /// early.
    pub least: f64,
}

/// Returns the least translation of the first of two sets of points that separates their hulls. `None` if the
/// hulls share no volume, or are too thin to decide.
///
/// # Errors
/// Fails if the work was cancelled.
pub(super) fn separate(
    points: [&[Point]; 2],
    progress: &dyn Progress,
) -> Result<Option<HullSeparation>> {
    let support = Support::new(points);
    let Some(mut polytope) = Polytope::new(&support) else {
        return Ok(None);
    };
    while polytope.faces.len() < FACES {
        progress.check()?;
        let Some(nearest) = polytope.nearest() else {
            return Ok(None);
        };
        let face = &polytope.faces[nearest];
        let mut found = support.likely(face.rounded_normal);
        if !face.is_below(&found) {
            found = support.farthest(&face.normal);
        }
        if !face.is_below(&found) {
            return Ok(polytope.separation());
        }
        polytope.add(found);
    }
    Ok(polytope.bounds(&support))
}

/// Difference of a point of the first set and a point of the second.
#[derive(Debug, Clone)]
struct PointDifference {
    exact: ExactPoint,
    rounded: [f64; 3],
}

impl PointDifference {
    fn new(first: Point, second: Point) -> Self {
        let exact = minus(&exact(first), &exact(second));
        Self {
            rounded: rounded(&exact),
            exact,
        }
    }
}

/// Finds the difference that is farthest along a direction.
struct Support<'a> {
    points: [&'a [Point]; 2],
    /// Greatest absolute value of each coordinate of each set.
    largest: [[f64; 3]; 2],
}

impl<'a> Support<'a> {
    fn new(points: [&'a [Point]; 2]) -> Self {
        let largest = points.map(|points| {
            let mut largest = [0.0_f64; 3];
            for point in points {
                for (largest, c) in largest.iter_mut().zip(point) {
                    *largest = largest.max(f64::from(c.abs()));
                }
            }
            largest
        });
        Self { points, largest }
    }

    /// Returns a difference that is the farthest along a direction, except for rounding.
    fn likely(&self, direction: [f64; 3]) -> PointDifference {
        let back = direction.map(|c| -c);
        let [first, second] = [(0, direction), (1, back)].map(|(n, direction)| {
            let mut best = self.points[n][0];
            let mut most = f64::NEG_INFINITY;
            for point in self.points[n] {
                let height = vector::dot(direction, point.map(f64::from));
                if height > most {
                    most = height;
                    best = *point;
                }
            }
            best
        });
        PointDifference::new(first, second)
    }

    /// Returns a difference that is the farthest along a direction.
    fn farthest(&self, direction: &ExactPoint) -> PointDifference {
        let back = direction.each_ref().map(|c| -c);
        let [first, second] = [(0, direction), (1, &back)].map(|(n, direction)| {
            let near = self.highest(n, rounded(direction));
            let mut best = near[0];
            let mut most = dot(direction, &exact(best));
            for point in &near[1..] {
                let height = dot(direction, &exact(*point));
                if height > most {
                    most = height;
                    best = *point;
                }
            }
            best
        });
        PointDifference::new(first, second)
    }

    /// Returns all points of a set that may be the highest along a direction, whose coordinates are rounded.
    ///
    /// Error bound, with u = 2^-53: a product has a relative error below 2.01 u, because the direction is
    /// rounded as well, and the two sums add 2.01 u. Two heights are compared, so their errors add up to less
    /// than 9 u times the sum of the greatest products. The bound 32 u has room for its own rounding.
    fn highest(&self, n: usize, direction: [f64; 3]) -> Vec<Point> {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let heights = || {
            self.points[n]
                .iter()
                .map(|point| vector::dot(direction, point.map(f64::from)))
        };
        let most = heights().fold(f64::NEG_INFINITY, f64::max);
        let slack = BOUND * vector::dot(direction.map(f64::abs), self.largest[n]);
        let mut highest = vec![];
        for (point, height) in self.points[n].iter().zip(heights()) {
            if height >= most - slack {
                highest.push(*point);
            }
        }
        highest
    }

    /// Returns an upper bound of the greatest height of a difference along a direction of length one.
    fn height(&self, direction: [f64; 3]) -> f64 {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let mut sum = 0.0;
        for (n, sign) in [(0, 1.0), (1, -1.0)] {
            let direction = direction.map(|c| sign * c);
            let mut most = f64::NEG_INFINITY;
            for point in self.points[n] {
                most = most.max(vector::dot(direction, point.map(f64::from)));
            }
            sum += most + BOUND * vector::dot(direction.map(f64::abs), self.largest[n]);
        }
        sum
    }
}

/// Triangle of the polytope.
struct PolytopeFace {
    /// Numbers of the corners, counterclockwise from outside.
    corners: [usize; 3],
    /// Outward normal of any length.
    normal: ExactPoint,
    rounded_normal: [f64; 3],
    /// Dot product of the normal and a corner.
    offset: Rational,
    rounded_offset: f64,
    /// Squared distance of the plane from the origin, negative if the origin is beyond the plane.
    level: Rational,
}

impl PolytopeFace {
    fn new(corners: [usize; 3], points: &[PointDifference]) -> Self {
        let [a, b, c] = corners.map(|n| &points[n].exact);
        let normal = cross(&minus(b, a), &minus(c, a));
        let offset = dot(&normal, a);
        let level = &(&offset * &offset.abs()) / &dot(&normal, &normal);
        Self {
            corners,
            rounded_normal: rounded(&normal),
            rounded_offset: offset.to_f64(),
            normal,
            offset,
            level,
        }
    }

    /// Returns the side of a point: 1 beyond the plane, 0 in it, -1 below.
    ///
    /// Error bound, with u = 2^-53: normal, point and offset are rounded once, and each product, sum and
    /// difference once more. The total error is below 6.1 u times the sum of the absolute values of all terms.
    fn side(&self, point: &PointDifference) -> i8 {
        const BOUND: f64 = 8.0 / (1_u64 << 53) as f64;
        let height = vector::dot(self.rounded_normal, point.rounded) - self.rounded_offset;
        let size = vector::dot(
            self.rounded_normal.map(f64::abs),
            point.rounded.map(f64::abs),
        ) + self.rounded_offset.abs();
        if height.abs() > BOUND * size {
            return if height > 0.0 { 1 } else { -1 };
        }
        sign(&(dot(&self.normal, &point.exact) - &self.offset))
    }

    /// Returns `true` if the point is beyond the plane.
    fn is_below(&self, point: &PointDifference) -> bool {
        self.side(point) > 0
    }

    /// Returns the translation of the first hull that moves the plane to the origin, each coordinate rounded
    /// once. It is `-(offset / normal²) normal`.
    fn translation(&self) -> [f64; 3] {
        let scale = &self.offset / &dot(&self.normal, &self.normal);
        let towards = self.normal.each_ref().map(|c| &-c * &scale);
        rounded(&towards)
    }
}

/// Convex polytope whose corners are differences.
struct Polytope {
    points: Vec<PointDifference>,
    faces: Vec<PolytopeFace>,
    /// Numbers of the faces of the polytope. Other faces were removed.
    present: HashSet<usize>,
    /// All faces by the level of their planes, also removed ones.
    queue: BinaryHeap<Reverse<(Rational, usize)>>,
}

impl Polytope {
    /// Creates a tetrahedron of differences. `None` if none was found, because the differences lie in a plane
    /// or almost in a plane.
    fn new(support: &Support) -> Option<Self> {
        let first = support.likely([1.0, 0.0, 0.0]);
        let second = support.likely([-1.0, 0.0, 0.0]);
        let edge = minus(&second.exact, &first.exact);
        let along = rounded(&edge);
        let axis = (0..3).min_by(|a, b| along[*a].abs().total_cmp(&along[*b].abs()))?;
        let mut across = [0.0; 3];
        across[axis] = 1.0;
        let across = vector::cross(along, across);
        let upwards = vector::cross(along, across);
        let third = [across, across.map(|c| -c), upwards, upwards.map(|c| -c)]
            .map(|direction| support.likely(direction))
            .into_iter()
            .find(|point| !is_zero(&cross(&edge, &minus(&point.exact, &first.exact))))?;
        let normal = cross(&edge, &minus(&third.exact, &first.exact));
        let height = |point: &PointDifference| dot(&normal, &minus(&point.exact, &first.exact));
        let direction = rounded(&normal);
        let fourth = [direction, direction.map(|c| -c)]
            .map(|direction| support.likely(direction))
            .into_iter()
            .find(|point| !height(point).is_zero())?;
        let is_above = height(&fourth).is_positive();
        let points = if is_above {
            vec![first, third, second, fourth]
        } else {
            vec![first, second, third, fourth]
        };
        let mut polytope = Self {
            points,
            faces: vec![],
            present: HashSet::new(),
            queue: BinaryHeap::new(),
        };
        for corners in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
            polytope.add_face(corners);
        }
        Some(polytope)
    }

    fn add_face(&mut self, corners: [usize; 3]) {
        let face = PolytopeFace::new(corners, &self.points);
        let number = self.faces.len();
        self.queue.push(Reverse((face.level.clone(), number)));
        self.present.insert(number);
        self.faces.push(face);
    }

    /// Returns the number of the face whose plane has the least level.
    fn nearest(&mut self) -> Option<usize> {
        while let Some(Reverse((_, number))) = self.queue.peek() {
            if self.present.contains(number) {
                return Some(*number);
            }
            self.queue.pop();
        }
        None
    }

    /// Adds a corner beyond a face. The faces whose planes the corner is beyond or on are replaced by the
    /// faces between the corner and the border of the removed ones. A new face is never degenerate, because
    /// the corner is below the plane on the other side of its edge.
    fn add(&mut self, point: PointDifference) {
        let mut removed = vec![];
        for number in &self.present {
            if self.faces[*number].side(&point) >= 0 {
                removed.push(*number);
            }
        }
        removed.sort_unstable();
        let mut edges = vec![];
        for number in &removed {
            self.present.remove(number);
            let [a, b, c] = self.faces[*number].corners;
            edges.extend([[a, b], [b, c], [c, a]]);
        }
        let inner: HashSet<[usize; 2]> = edges.iter().copied().collect();
        let corner = self.points.len();
        self.points.push(point);
        for [from, to] in edges {
            if !inner.contains(&[to, from]) {
                self.add_face([from, to, corner]);
            }
        }
    }

    /// Returns the translation to the nearest face, which is a face of the set of all differences. If several
    /// planes are equally near, the translation whose absolute coordinates are last in lexicographic order, so
    /// that exchanging the hulls reverses it. All such planes are planes of the polytope.
    fn separation(&mut self) -> Option<HullSeparation> {
        let nearest = self.nearest()?;
        let level = self.faces[nearest].level.clone();
        if !level.is_positive() {
            return None;
        }
        let mut best: Option<[f64; 3]> = None;
        for number in &self.present {
            let face = &self.faces[*number];
            if face.level == level {
                let translation = face.translation();
                if best.is_none_or(|best| tie_key(translation) > tie_key(best)) {
                    best = Some(translation);
                }
            }
        }
        let length = level.root_to_f64();
        Some(HullSeparation {
            translation: best?,
            length,
            least: length,
        })
    }

    /// Returns bounds of the least translation. The polytope is within the set of all differences, and a
    /// translation along any normal separates the hulls.
    fn bounds(&mut self, support: &Support) -> Option<HullSeparation> {
        let nearest = self.nearest()?;
        let face = &self.faces[nearest];
        if !face.level.is_positive() {
            return None;
        }
        let least = face.level.root_to_f64();
        let direction = face.translation().map(|c| c / least);
        let length = support.height(direction.map(|c| -c));
        Some(HullSeparation {
            translation: direction.map(|c| c * length),
            length,
            least,
        })
    }
}

/// Returns the sort key of a translation.
fn tie_key(translation: [f64; 3]) -> [[f64; 3]; 2] {
    [translation.map(f64::abs), translation]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use voxelize_core::geom::vector::minus as difference;

    /// Returns the least height of the differences over all normals of triples of differences, which include
    /// the normals of all faces.
    fn by_all_planes([first, second]: [&[Point]; 2]) -> f64 {
        let differences: Vec<[f64; 3]> = first
            .iter()
            .flat_map(|a| {
                second
                    .iter()
                    .map(|b| difference(a.map(f64::from), b.map(f64::from)))
            })
            .collect();
        let mut least = f64::INFINITY;
        for (i, a) in differences.iter().enumerate() {
            for (j, b) in differences.iter().enumerate().take(i) {
                for c in &differences[..j] {
                    let normal = vector::cross(difference(*b, *a), difference(*c, *a));
                    let length = vector::dot(normal, normal).sqrt();
                    if length < 1e-9 {
                        continue;
                    }
                    for sign in [1.0, -1.0] {
                        let heights = differences
                            .iter()
                            .map(|d| sign * vector::dot(normal, *d) / length);
                        least = least.min(heights.fold(f64::NEG_INFINITY, f64::max));
                    }
                }
            }
        }
        least
    }

    #[test]
    fn the_translation_is_the_least_over_all_planes() {
        let mut random = Random::new(5);
        let mut seen = [0; 2];
        for n in 0..150 {
            // Coordinates from a small grid have many coplanar and collinear differences.
            let steps = [2, 4, 1000][n % 3];
            let mut points = |count: usize| -> Vec<Point> {
                (0..count)
                    .map(|_| [(); 3].map(|()| random.below(steps) as f32 / 8.0))
                    .collect()
            };
            let sets = [points(5), points(4)];
            let sets = [sets[0].as_slice(), &sets[1]];
            let expected = by_all_planes(sets);
            let found = separate(sets, &()).unwrap();
            seen[usize::from(found.is_some())] += 1;
            let Some(found) = found else {
                assert!(
                    expected < 1e-9 || !expected.is_finite(),
                    "{sets:?}: {expected}"
                );
                continue;
            };
            assert!(
                (found.length - expected).abs() < 1e-9 * (1.0 + expected),
                "{sets:?}: {found:?}, {expected}"
            );
            assert_eq!(found.least, found.length);
            let [x, y, z] = found.translation;
            assert!(((x * x + y * y + z * z).sqrt() - found.length).abs() < 1e-12 * expected);
        }
        assert!(seen[0] > 5 && seen[1] > 50, "{seen:?}");
    }
}
