//! The closest points of two meshes that do not meet, exactly: by boxes, then by doubles whose error is bounded, and at
//! last in fractions.
//!
//! Every two points of two triangles bound the distance from above, and every direction bounds it from below: by how far
//! the triangles are apart along it. So pairs are left out that are surely farther apart than some two points that are
//! known. Of the rest, few but for ties, fractions find the least distance, and of points at that distance the least by
//! coordinates: neither threads nor the order of triangles change the answer (docs/internals/clearance.md).

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
use voxelize_core::geom::{Rational, Triangle};
use voxelize_core::par::{self, Progress};
use voxelize_meshes::pairs::boxes::{LANES, LaneBoxes, squared_gaps};
use voxelize_meshes::pairs::search::{NodePair, PairSearch, PairVisitor};

/// The closest two points, the first on the first mesh, and the least triangles that have them.
pub(super) struct Closest {
    pub points: [ExactPoint; 2],
    pub triangles: [u32; 2],
}

/// Pairs that wait for fractions, at most.
const WAITING: usize = 1 << 10;

/// Leaves between two looks at whether to go on.
const CHECKED: usize = 1 << 8;

/// Finds the closest points of meshes that do not meet.
///
/// # Errors
/// If the work was cancelled.
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
    // The boxes that are closest give a limit.
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

/// Two points, one of each mesh.
struct ClosestPoints {
    squared: Rational,
    points: [ExactPoint; 2],
    /// From the second to the first.
    away: ExactPoint,
    /// The points in doubles, and the way.
    rounded: [[f64; 3]; 2],
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

    /// The lesser point by coordinates, then the other: whichever mesh is the first.
    fn key(&self) -> [&ExactPoint; 2] {
        in_order([&self.points[0], &self.points[1]])
    }

    fn is_before(&self, other: &Self) -> bool {
        (&self.squared, self.key()) < (&other.squared, other.key())
    }

    /// Whether two triangles are surely no closer, nor as close at lesser points.
    ///
    /// If all of the first are at or beyond the plane through the first point across the way between both, and all of
    /// the second at or beyond that through the second point, no two points are closer than these; as close are only
    /// points on both planes, each no less than the least vertex there.
    fn is_no_worse_than(&self, [s, t]: [&Triangle; 2]) -> bool {
        let [Some(a), Some(b)] = [self.supported(0, s), self.supported(1, t)] else {
            return false;
        };
        let [Some(a), Some(b)] = [a, b] else {
            return true;
        };
        in_order([&a, &b]) >= self.key()
    }

    /// The least vertex of a triangle in the plane through one of the points, if there is one, and if none is before
    /// that plane.
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

    /// Whether no points of two boxes are closer, nor as close and less.
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

/// Pairs of triangles that may be the closest.
struct ClosestSearch<'a> {
    pair: [&'a ClearanceBody<'a>; 2],
    limit: &'a SharedLimit,
    best: &'a Mutex<Option<ClosestPoints>>,
    progress: &'a dyn Progress,
    /// The pairs that doubles do not tell from the closest.
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
        gap <= self.limit.get() && {
            let best = self.best.lock().expect("no thread panics");
            !best
                .as_ref()
                .is_some_and(|best| best.is_no_worse_than_boxes(pair.map(|node| node.bounds)))
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
    /// Whether no direction surely has the triangles farther apart than some points that are known.
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

    /// Compares all that wait in fractions.
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

/// Squared distances beyond it are of no interest.
struct SharedLimit {
    bits: AtomicU64,
    /// A little less than the least squared distance in fractions.
    tie: AtomicU64,
    /// The error bound of a distance in doubles: 2^-44 of the largest coordinate.
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

    /// Two points at this squared distance were found.
    fn lower(&self, squared: f64) {
        let most = squared.sqrt() + self.slack;
        // Above zero, numbers are in the order of their bits.
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

/// The normal of a triangle.
fn normal([a, b, c]: &Triangle) -> [f64; 3] {
    let from_a =
        |p: &[f32; 3]| -> [f64; 3] { std::array::from_fn(|i| f64::from(p[i]) - f64::from(a[i])) };
    cross(from_a(b), from_a(c))
}

/// Whether two triangles are surely farther apart along a direction than the limit.
///
/// A direction is any vector of doubles, so that only its products are rounded: with u = 2^-53 a coordinate less another
/// one is off by a factor within 1 ± u, its product by (1 ± u)^2, the sum of three by (1 ± u)^4, which is less than 8 u
/// of the sum of their sizes.
fn is_beyond(direction: &[f64; 3], [s, t]: [&Triangle; 2], limit: f64) -> bool {
    const BOUND: f64 = 8.0 / (1_u64 << 53) as f64;
    let from = |p: &[f32; 3]| -> [f64; 3] {
        std::array::from_fn(|i| f64::from(p[i]) - f64::from(s[0][i]))
    };
    let heights = |triangle: &Triangle| {
        triangle.map(|v| {
            let v = from(&v);
            let size: f64 = (0..3).map(|i| (direction[i] * v[i]).abs()).sum();
            let height = dot(*direction, v);
            let error = BOUND * size;
            [height - error, height + error]
        })
    };
    let low = |heights: [[f64; 2]; 3]| heights.iter().fold(f64::INFINITY, |low, h| low.min(h[0]));
    let high = |heights: [[f64; 2]; 3]| {
        heights
            .iter()
            .fold(f64::NEG_INFINITY, |high, h| high.max(h[1]))
    };
    let s = heights(s);
    let t = heights(t);
    let least = (low(s) - high(t)).max(low(t) - high(s));
    least > 0.0 && least * least > limit * dot(*direction, *direction) * (1.0 + 1e-12)
}

/// The least coordinates of two nodes, the lesser first: no points of both are less.
fn least_points([a, b]: NodePair) -> [[f32; 3]; 2] {
    let [p, q] = [a.bounds[0], b.bounds[0]];
    if q < p { [q, p] } else { [p, q] }
}

/// The squared gap between two nodes.
fn gap([a, b]: NodePair) -> f64 {
    let [low, high] = a.bounds;
    let [from, to] = b.bounds;
    let gap = |i: usize| {
        let below = f64::from(from[i]) - f64::from(high[i]);
        let above = f64::from(low[i]) - f64::from(to[i]);
        below.max(above).max(0.0)
    };
    (0..3).map(gap).map(|gap| gap * gap).sum()
}

/// The least of all triangles of a mesh that have a point.
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

/// The boxes that may have a point, which is between two others on each axis.
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
