//! Exact closest points of two meshes that do not meet. Candidates are excluded first by bounding boxes and
//! then in doubles with an error bound. The others are compared in exact fractions.
//!
//! The distance of any two points of two triangles is an upper bound for the distance of the meshes. The gap
//! between two triangles along any direction is a lower bound for their own distance. Pairs that are
//! certainly farther apart than two known points are left out, so that few pairs remain except for ties. The
//! remaining pairs are compared in fractions. These give the least distance and, among the pairs of points at
//! this distance, the first one in lexicographic order of the coordinates. The result does not depend on the
//! number of threads or on the order of the triangles (docs/internals/clearance.md).

use std::cmp::Ordering;
use std::sync::Mutex;
use std::sync::atomic::{self, AtomicU64};

use super::{ClearanceBody, pair_of};
use voxelize_core::error::Result;
use voxelize_core::geom::fractions::{
    ExactPoint, dot as exact_dot, exact, minus as exact_minus, rounded,
};
use voxelize_core::geom::separation;
use voxelize_core::geom::tri_tri;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Point, Rational, Triangle};
use voxelize_core::par::{self, Progress};
use voxelize_meshes::pairs::boxes::{LANES, LaneBoxes, squared_gaps};
use voxelize_meshes::pairs::search::{NodePair, PairSearch, PairVisitor};

/// The two closest points, the first on the first mesh. On each mesh, also the lowest index of a triangle
/// that contains the point.
pub(super) struct Closest {
    pub points: [ExactPoint; 2],
    pub triangles: [u32; 2],
}

/// Maximum number of pairs that are collected before they are compared in fractions.
const WAITING: usize = 1 << 10;

/// Number of leaves visited between two checks for cancellation.
const CHECKED: usize = 1 << 8;

/// Finds the closest points of meshes that do not meet.
///
/// # Errors
/// Fails if the work was cancelled.
pub(super) fn closest(pair: [&ClearanceBody; 2], progress: &dyn Progress) -> Result<Closest> {
    let search = PairSearch::two(pair.map(|body| &body.tree));
    let limit = SharedLimit::new(pair);
    let best = Mutex::new(None);
    let visitor = || ClosestSearch {
        pair,
        limit: &limit,
        best: &best,
        progress,
        waiting: vec![],
        steps: 0,
    };
    let mut tasks = search.tasks(&visitor());
    let by_points = |a: &NodePair, b: &NodePair| {
        least_points(*a)
            .partial_cmp(&least_points(*b))
            .unwrap_or(Ordering::Equal)
    };
    tasks.sort_by(|a, b| gap(*a).total_cmp(&gap(*b)).then_with(|| by_points(a, b)));
    // The closest boxes are searched first, because they give a small limit.
    let mut first = visitor();
    search.visit(tasks[0], &mut first)?;
    progress.begin("clearance", tasks.len() as u64);
    let found = par::share(&tasks[1..], |next| {
        let mut visitor = visitor();
        for task in next {
            progress.check()?;
            if visitor.enters(gap(*task), *task) {
                search.visit(*task, &mut visitor)?;
            }
            progress.advance(1);
        }
        Ok(visitor.waiting)
    });
    for part in found {
        first.waiting.extend(part?);
    }
    first.settle()?;
    let found: Option<ClosestPoints> = best.into_inner().expect("no thread panics");
    let points = found.expect("two triangles at least are measured").points;
    let triangles = std::array::from_fn(|n| holder(pair[n], &points[n]));
    Ok(Closest { points, triangles })
}

/// Two points, one on each mesh, and their distance.
struct ClosestPoints {
    squared: Rational,
    points: [ExactPoint; 2],
    /// Exact vector from the second point to the first.
    away: ExactPoint,
    /// The points, rounded to doubles.
    rounded: [[f64; 3]; 2],
    /// The vector, rounded to doubles.
    rounded_away: [f64; 3],
}

impl ClosestPoints {
    fn of(points: [ExactPoint; 2]) -> Self {
        let away = exact_minus(&points[0], &points[1]);
        let rounded_points = [rounded(&points[0]), rounded(&points[1])];
        Self {
            squared: exact_dot(&away, &away),
            rounded: rounded_points,
            rounded_away: rounded(&away),
            points,
            away,
        }
    }

    /// Returns the two points in lexicographic order of their coordinates. The result does not depend on the
    /// order of the meshes.
    fn key(&self) -> [&ExactPoint; 2] {
        in_order([&self.points[0], &self.points[1]])
    }

    fn is_before(&self, other: &Self) -> bool {
        (&self.squared, self.key()) < (&other.squared, other.key())
    }

    /// Returns `true` if two triangles certainly have no better pair of points: neither a closer pair, nor a
    /// pair that is equally close and precedes this one in the order.
    ///
    /// Proof: Consider the two planes that are perpendicular to the vector between both points, one through
    /// each point. If the first triangle lies on or beyond the plane of the first point, and the second
    /// triangle on or beyond the plane of the second point, no two points of the triangles are closer than
    /// these. Only points on both planes can be equally close, and none of them precedes the first vertex of
    /// its triangle on the plane.
    fn is_no_worse_than(&self, [s, t]: [&Triangle; 2]) -> bool {
        let [Some(a), Some(b)] = [self.supported(0, s), self.supported(1, t)] else {
            return false;
        };
        let [Some(a), Some(b)] = [a, b] else {
            return true;
        };
        in_order([&a, &b]) >= self.key()
    }

    /// Returns the first vertex, in lexicographic order, of a triangle on the plane through point `n`.
    /// `Some(None)` if no vertex is on the plane, and `None` if a vertex lies before it.
    fn supported(&self, n: usize, triangle: &Triangle) -> Option<Option<ExactPoint>> {
        const BOUND: f64 = 1.0 / (1_u64 << 48) as f64;
        let mut least: Option<ExactPoint> = None;
        for v in triangle {
            let mut height = 0.0;
            let mut size = 0.0;
            for (c, (away, point)) in v.iter().zip(self.rounded_away.iter().zip(&self.rounded[n])) {
                height += away * (f64::from(*c) - point);
                size += away.abs() * (f64::from(*c).abs() + point.abs());
            }
            let height = if n == 0 { height } else { -height };
            if height > BOUND * size {
                continue;
            }
            let v = exact(*v);
            let height = exact_dot(&self.away, &exact_minus(&v, &self.points[n]));
            if height.is_zero() {
                least = Some(least.map_or(v.clone(), |least| least.min(v)));
            } else if height.is_positive() != (n == 0) {
                return None;
            }
        }
        Some(least)
    }

    /// Returns `true` if two boxes certainly contain no better pair of points: neither a closer pair, nor a
    /// pair that is equally close and precedes this one in the order.
    fn is_no_worse_than_boxes(&self, boxes: [[[f32; 3]; 2]; 2]) -> bool {
        let [[low, high], [from, to]] = boxes.map(|corners| corners.map(exact));
        let gap = |i: usize| {
            let gaps = [&from[i] - &high[i], &low[i] - &to[i]];
            gaps.into_iter()
                .max()
                .filter(Rational::is_positive)
                .unwrap_or(Rational::ZERO)
        };
        let gaps: ExactPoint = [gap(0), gap(1), gap(2)];
        exact_dot(&gaps, &gaps) >= self.squared && in_order([&low, &from]) >= self.key()
    }
}

fn in_order([p, q]: [&ExactPoint; 2]) -> [&ExactPoint; 2] {
    if q < p { [q, p] } else { [p, q] }
}

/// Search for pairs of triangles that may be the closest pair.
struct ClosestSearch<'a> {
    pair: [&'a ClearanceBody<'a>; 2],
    limit: &'a SharedLimit,
    best: &'a Mutex<Option<ClosestPoints>>,
    progress: &'a dyn Progress,
    /// Pairs that cannot be distinguished from the closest pair in doubles.
    waiting: Vec<[u32; 2]>,
    steps: usize,
}

impl PairVisitor for ClosestSearch<'_> {
    const SORTED: bool = true;

    fn near(&self, boxes: &LaneBoxes, bounds: &[[f32; 3]; 2], gaps: &mut [f64; LANES]) -> u32 {
        squared_gaps(boxes, bounds, gaps);
        let limit = self.limit.get();
        gaps.iter()
            .rev()
            .fold(0, |mask, gap| mask << 1 | u32::from(*gap <= limit))
    }

    fn is_near(&self, gap: f64) -> bool {
        gap <= self.limit.get()
    }

    fn enters(&self, gap: f64, pair: NodePair) -> bool {
        if gap < self.limit.tie() {
            return true;
        }
        if gap > self.limit.get() {
            return false;
        }
        let best = self.best.lock().expect("no thread panics");
        match &*best {
            Some(best) => !best.is_no_worse_than_boxes(pair.map(|node| node.bounds)),
            None => true,
        }
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(CHECKED) {
            self.progress.check()?;
        }
        if self.waiting.len() > WAITING {
            self.settle()
        } else {
            Ok(())
        }
    }

    fn take(&mut self, numbers: [u32; 2]) {
        let triangles = pair_of(self.pair, numbers);
        if self.may_be_closest(triangles) {
            self.waiting.push(numbers);
        }
    }
}

impl ClosestSearch<'_> {
    /// Returns `false` if in some direction the triangles are certainly farther apart than two known points.
    fn may_be_closest(&self, [s, t]: [&Triangle; 2]) -> bool {
        let limit = self.limit.get();
        if [[s, t], [t, s]]
            .into_iter()
            .any(|[s, t]| is_beyond(&normal(s), [s, t], limit))
        {
            return false;
        }
        let [p, q] = tri_tri::closest_points(s, t);
        let away = minus(p, q);
        self.limit.lower(dot(away, away));
        !is_beyond(&away, [s, t], self.limit.get())
    }

    /// Compares all collected pairs in fractions.
    fn settle(&mut self) -> Result<()> {
        let limit = self.limit.get();
        for numbers in std::mem::take(&mut self.waiting) {
            self.progress.check()?;
            let [s, t] = pair_of(self.pair, numbers);
            let [p, q] = tri_tri::closest_points(s, t);
            if is_beyond(&minus(p, q), [s, t], limit) {
                continue;
            }
            let mut best = self.best.lock().expect("no thread panics");
            if best
                .as_ref()
                .is_some_and(|best| best.is_no_worse_than([s, t]))
            {
                continue;
            }
            let found = ClosestPoints::of(separation::closest(s, t));
            if best.as_ref().is_none_or(|best| found.is_before(best)) {
                self.limit.set_tie(&found.squared);
                *best = Some(found);
            }
        }
        Ok(())
    }
}

/// Upper bound of the squared distances that still matter. All threads share it.
struct SharedLimit {
    bits: AtomicU64,
    /// Value a little below the least squared distance that was computed in fractions.
    tie: AtomicU64,
    /// Error bound of a distance that is computed in doubles: 2⁻⁴⁴ times the largest coordinate.
    slack: f64,
}

impl SharedLimit {
    fn new(pair: [&ClearanceBody; 2]) -> Self {
        let corners = pair.map(|body| [body.mesh.bounds().min, body.mesh.bounds().max]);
        let largest = corners
            .as_flattened()
            .as_flattened()
            .iter()
            .fold(0.0, |most, c| c.abs().max(most));
        let slack = f64::from(largest) / (1_u64 << 44) as f64;
        let none = || AtomicU64::new(f64::INFINITY.to_bits());
        Self {
            bits: none(),
            tie: none(),
            slack,
        }
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.bits.load(atomic::Ordering::Relaxed))
    }

    fn tie(&self) -> f64 {
        f64::from_bits(self.tie.load(atomic::Ordering::Relaxed))
    }

    /// Lowers the limit to the squared distance of two known points.
    fn lower(&self, squared: f64) {
        let most = squared.sqrt() + self.slack;
        // The bits of positive doubles have the same order as the doubles.
        self.bits.fetch_min(
            (most * most * (1.0 + 1e-12)).to_bits(),
            atomic::Ordering::Relaxed,
        );
    }

    fn set_tie(&self, squared: &Rational) {
        let tie = squared.to_f64() * (1.0 - 1e-12);
        self.tie.fetch_min(tie.to_bits(), atomic::Ordering::Relaxed);
    }
}

/// Returns the normal of a triangle. Its length is not 1.
fn normal([a, b, c]: &Triangle) -> [f64; 3] {
    cross(difference(b, a), difference(c, a))
}

/// Returns `p - q` in doubles.
fn difference(p: &Point, q: &Point) -> [f64; 3] {
    std::array::from_fn(|i| f64::from(p[i]) - f64::from(q[i]))
}

/// Returns `true` if two triangles are certainly farther apart along a direction than the limit.
///
/// The direction may be any vector of doubles, so that only products with it are rounded. With u = 2^-53, the
/// relative error of a difference of coordinates is within 1 ± u, that of its product within (1 ± u)^2, and
/// that of the sum of three products within (1 ± u)^4. The total error is less than 8 u times the sum of the
/// absolute values of the products.
fn is_beyond(direction: &[f64; 3], [s, t]: [&Triangle; 2], limit: f64) -> bool {
    let [low_s, high_s] = range_along(direction, s, &s[0]);
    let [low_t, high_t] = range_along(direction, t, &s[0]);
    let least = (low_s - high_t).max(low_t - high_s);
    least > 0.0 && least * least > limit * dot(*direction, *direction) * (1.0 + 1e-12)
}

/// Returns bounds for the positions of a triangle along a direction, relative to `origin`.
fn range_along(direction: &[f64; 3], triangle: &Triangle, origin: &Point) -> [f64; 2] {
    const BOUND: f64 = 8.0 / (1_u64 << 53) as f64;
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;
    for v in triangle {
        let v = difference(v, origin);
        let size: f64 = (0..3).map(|i| (direction[i] * v[i]).abs()).sum();
        let height = dot(*direction, v);
        let error = BOUND * size;
        low = low.min(height - error);
        high = high.max(height + error);
    }
    [low, high]
}

/// Returns the lowest corners of two nodes in lexicographic order. No points of the two nodes precede them.
fn least_points([a, b]: NodePair) -> [[f32; 3]; 2] {
    let [p, q] = [a.bounds[0], b.bounds[0]];
    if q < p { [q, p] } else { [p, q] }
}

/// Returns the squared gap between the boxes of two nodes.
fn gap([a, b]: NodePair) -> f64 {
    let [low, high] = a.bounds;
    let [from, to] = b.bounds;
    let mut squared = 0.0;
    for i in 0..3 {
        let below = f64::from(from[i]) - f64::from(high[i]);
        let above = f64::from(low[i]) - f64::from(to[i]);
        squared += below.max(above).max(0.0).powi(2);
    }
    squared
}

/// Returns the lowest index of a triangle that contains the point.
fn holder(body: &ClearanceBody, point: &ExactPoint) -> u32 {
    let [x, y, z] = rounded(point).map(|c| [c.next_down(), c.next_up()]);
    let near = [[x, y, z].map(|c| c[0]), [x, y, z].map(|c| c[1])];
    let mut least = u32::MAX;
    body.tree
        .visit(&|_| true, &|boxes| around(boxes, &near), &mut |n| {
            if n < least && separation::holds(&body.mesh.triangles()[n as usize], point) {
                least = n;
            }
        });
    least
}

/// Returns the boxes that may contain a point, as a bit mask. The point is between `low` and `high` on each
/// axis.
fn around(boxes: &LaneBoxes, [low, high]: &[[f64; 3]; 2]) -> u32 {
    let is_around = |lane: usize| {
        (0..3).all(|axis| {
            f64::from(boxes[axis][lane]) <= high[axis]
                && f64::from(boxes[3 + axis][lane]) >= low[axis]
        })
    };
    (0..LANES)
        .rev()
        .fold(0, |mask, lane| mask << 1 | u32::from(is_around(lane)))
}
