//! Pairs of triangles of two meshes that may meet, or may be the closest: by bounds, from the root of both trees down.
//!
//! Bounds that are farther from each other than a limit are left out with all that is in them. For meetings the limit
//! is nothing, and floats are compared as they are. For the closest pair it is the least distance so far, more by what
//! doubles may be off by (docs/clearance.md), so skipped pairs are surely farther apart than the closest pair, and neither
//! threads nor the order of triangles change the answer.

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicU64};

use super::bins::{BinNode, LANES, LaneBoxes};
use super::{ClearanceBody, FoundMeeting};
use crate::error::Result;
use crate::geom::Triangle;
use crate::geom::solid_angle::{dot, minus};
use crate::geom::tri_tri::{self, Meeting};
use crate::par::{self, Progress};

/// Pairs of boxes that are shared out among threads, at least, where there are as many.
const TASKS: usize = 1 << 10;

/// A node of each mesh.
type NodePair<'a> = [&'a BinNode; 2];

/// All pairs of triangles that meet, in the order of their numbers.
///
/// # Errors
/// If the work was cancelled.
pub(super) fn meetings(pair: [&ClearanceBody; 2], progress: &dyn Progress) -> Result<Vec<FoundMeeting>> {
    let search = PairSearch { bodies: pair };
    let tasks = search.tasks(0.0);
    progress.begin("collisions", tasks.len() as u64);
    let found = par::share(&tasks, |next| {
        let mut found = vec![];
        for task in next {
            progress.check()?;
            search.visit(*task, &|| 0.0, &mut |numbers| {
                let [s, t] = super::pair_of(pair, numbers);
                match tri_tri::meeting(s, t) {
                    Meeting::Apart => {}
                    meeting => found.push(FoundMeeting { triangles: numbers, meeting }),
                }
            });
            progress.advance(1);
        }
        Ok(found)
    });
    let mut all = vec![];
    for part in found {
        all.append(&mut part?);
    }
    all.sort_unstable_by_key(|met| met.triangles);
    Ok(all)
}

/// The pair of triangles that come closest, of meshes that do not meet.
///
/// # Errors
/// If the work was cancelled.
pub(super) fn closest(pair: [&ClearanceBody; 2], progress: &dyn Progress) -> Result<[u32; 2]> {
    let search = PairSearch { bodies: pair };
    let limit = SharedLimit::new(pair);
    let mut tasks = search.tasks(f64::INFINITY);
    tasks.sort_by(|a, b| gap(*a).total_cmp(&gap(*b)));
    let measure = |task: NodePair, best: &mut Option<ClosestPair>| {
        search.visit(task, &|| limit.get(), &mut |numbers| {
            let triangles = super::pair_of(pair, numbers).map(in_order);
            if farther(&triangles, limit.get()) {
                return;
            }
            let found = ClosestPair::of(&triangles, numbers);
            limit.lower(found.squared);
            if best.as_ref().is_none_or(|best| found.compare(best) == Ordering::Less) {
                *best = Some(found);
            }
        });
    };
    // The boxes that are closest give a limit to begin with.
    let mut best = None;
    measure(tasks[0], &mut best);
    progress.begin("clearance", tasks.len() as u64);
    let found = par::share(&tasks, |next| {
        let mut best = None;
        for task in next {
            progress.check()?;
            measure(*task, &mut best);
            progress.advance(1);
        }
        Ok(best)
    });
    let mut all: Vec<_> = best.into_iter().collect();
    for part in found {
        all.extend(part?);
    }
    let best = all.into_iter().min_by(ClosestPair::compare);
    Ok(best.map(|best| best.triangles).expect("two triangles at least are measured"))
}

/// Two triangles, and where doubles find them closest.
struct ClosestPair {
    squared: f64,
    points: [[f64; 3]; 2],
    triangles: [u32; 2],
}

impl ClosestPair {
    /// Of triangles whose vertices are in order, so that equal triangles give equal bits.
    fn of([s, t]: &[Triangle; 2], triangles: [u32; 2]) -> Self {
        let points = tri_tri::closest_points(s, t);
        let away = minus(&points[0], &points[1]);
        Self { squared: dot(&away, &away), points, triangles }
    }

    /// The closer first, then the lesser points by coordinates, then the smaller numbers.
    fn compare(&self, other: &Self) -> Ordering {
        let points = || self.points.as_flattened().iter().zip(other.points.as_flattened());
        let by_points = || points().map(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0))).find(|o| o.is_ne());
        let by_numbers = || self.triangles.cmp(&other.triangles);
        self.squared.total_cmp(&other.squared).then_with(|| by_points().unwrap_or_else(by_numbers))
    }
}

/// The vertices in lexicographic order.
fn in_order(triangle: &Triangle) -> Triangle {
    let mut sorted = triangle.map(|v| v.map(|c| c + 0.0));
    sorted.sort_unstable_by(|a, b| a.partial_cmp(b).expect("finite"));
    sorted
}

/// Squared distances beyond it are of no interest.
struct SharedLimit {
    bits: AtomicU64,
    /// The error bound of a distance in doubles: 2^-44 of the largest coordinate.
    slack: f64,
}

impl SharedLimit {
    fn new(pair: [&ClearanceBody; 2]) -> Self {
        let corners = pair.map(|body| [body.mesh.bounds().min, body.mesh.bounds().max]);
        let largest = corners.as_flattened().as_flattened().iter().fold(0.0, |most, c| c.abs().max(most));
        let slack = f64::from(largest) / (1_u64 << 44) as f64;
        Self { bits: AtomicU64::new(f64::INFINITY.to_bits()), slack }
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.bits.load(atomic::Ordering::Relaxed))
    }

    /// A pair at this squared distance was found.
    fn lower(&self, squared: f64) {
        let most = squared.sqrt() + self.slack;
        // Above zero, numbers are in the order of their bits.
        self.bits.fetch_min((most * most * (1.0 + 1e-12)).to_bits(), atomic::Ordering::Relaxed);
    }
}

/// Whether the plane of one triangle is surely farther from the other than the limit.
///
/// With u = 2^-53 the normal and the heights above it are off by less than 16 u times the sums of the sizes of their
/// products, as in [`orientation`](crate::geom::orientation).
fn farther([s, t]: &[Triangle; 2], limit: f64) -> bool {
    is_beyond_plane(s, t, limit) || is_beyond_plane(t, s, limit)
}

fn is_beyond_plane([a, b, c]: &Triangle, other: &Triangle, limit: f64) -> bool {
    const BOUND: f64 = 16.0 / (1_u64 << 53) as f64;
    let from_a = |p: &[f32; 3]| -> [f64; 3] { std::array::from_fn(|i| f64::from(p[i]) - f64::from(a[i])) };
    let (e, f) = (from_a(b), from_a(c));
    let parts = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| [e[i] * f[j], e[j] * f[i]]);
    let (normal, sizes) = (parts.map(|[p, q]| p - q), parts.map(|[p, q]| p.abs() + q.abs()));
    let heights = other.map(|v| {
        let v = from_a(&v);
        [dot(&normal, &v), BOUND * dot(&sizes, &v.map(f64::abs))]
    });
    let above = heights.iter().map(|[h, e]| h - e).fold(f64::INFINITY, f64::min);
    let below = heights.iter().map(|[h, e]| -h - e).fold(f64::INFINITY, f64::min);
    let least = above.max(below);
    let longest: [f64; 3] = std::array::from_fn(|i| normal[i].abs() + BOUND * sizes[i]);
    least > 0.0 && least * least > limit * dot(&longest, &longest) * (1.0 + 1e-12)
}

/// Two meshes.
struct PairSearch<'a> {
    bodies: [&'a ClearanceBody<'a>; 2],
}

impl<'a> PairSearch<'a> {
    /// Pairs of nodes within a squared limit, enough of them to share out.
    fn tasks(&self, limit: f64) -> Vec<NodePair<'a>> {
        let mut tasks = vec![self.bodies.map(|body| &body.root)];
        loop {
            tasks.retain(|task| gap(*task) <= limit);
            if tasks.len() >= TASKS || tasks.iter().flatten().all(|node| node.is_leaf()) {
                return tasks;
            }
            let mut finer = Vec::with_capacity(LANES * tasks.len());
            for task in tasks {
                if task.iter().all(|node| node.is_leaf()) {
                    finer.push(task);
                } else {
                    self.divide(task, limit, &mut |pair, _| finer.push(pair));
                }
            }
            tasks = finer;
        }
    }

    /// The pairs within a limit that the larger node of a pair is divided into, with their squared gaps; leaves are not
    /// divided.
    fn divide(&self, [a, b]: NodePair<'a>, limit: f64, take: &mut impl FnMut(NodePair<'a>, f64)) {
        let side = usize::from(a.is_leaf() || !b.is_leaf() && b.count > a.count);
        let (divided, kept) = if side == 0 { (a, b) } else { (b, a) };
        let parts = divided.parts(self.bodies[side].mesh.triangles());
        let gaps = gaps(&parts.boxes, &kept.bounds);
        for (node, gap) in parts.nodes.iter().zip(gaps).filter(|(_, gap)| *gap <= limit) {
            take(if side == 0 { [node, kept] } else { [kept, node] }, gap);
        }
    }

    /// Gives the numbers of all pairs of triangles of two nodes whose bounds are within the limit, near ones first.
    fn visit(&self, pair: NodePair<'a>, limit: &impl Fn() -> f64, take: &mut impl FnMut([u32; 2])) {
        if pair.iter().all(|node| node.is_leaf()) {
            return self.visit_triangles(pair, limit, take);
        }
        let mut near = [(0.0, pair); LANES];
        let mut count = 0;
        self.divide(pair, limit(), &mut |part, gap| {
            near[count] = (gap, part);
            count += 1;
        });
        let near = &mut near[..count];
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (gap, part) in near {
            if *gap <= limit() {
                self.visit(*part, limit, take);
            }
        }
    }

    fn visit_triangles(&self, [a, b]: NodePair, limit: &impl Fn() -> f64, take: &mut impl FnMut([u32; 2])) {
        let [first, second] = [(0, a), (1, b)].map(|(n, node)| node.parts(self.bodies[n].mesh.triangles()));
        let (near, whole) = (gaps(&first.boxes, &b.bounds), limit());
        for (lane, number) in first.numbers.iter().enumerate().filter(|(lane, _)| near[*lane] <= whole) {
            let own = [0, 3].map(|n| std::array::from_fn(|axis| first.boxes[n + axis][lane]));
            for (gap, other) in gaps(&second.boxes, &own).into_iter().zip(&second.numbers) {
                if gap <= whole && gap <= limit() {
                    take([*number, *other]);
                }
            }
        }
    }
}

/// The squared gap between two nodes.
fn gap([a, b]: NodePair) -> f64 {
    let ([low, high], [from, to]) = (a.bounds, b.bounds);
    let gap = |i: usize| {
        let (below, above) = (f64::from(from[i]) - f64::from(high[i]), f64::from(low[i]) - f64::from(to[i]));
        below.max(above).max(0.0)
    };
    (0..3).map(gap).map(|gap| gap * gap).sum()
}

/// The squared gaps between sixteen boxes and one.
#[inline]
fn gaps(boxes: &LaneBoxes, [low, high]: &[[f32; 3]; 2]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for axis in 0..3 {
        let (low, high) = (f64::from(low[axis]), f64::from(high[axis]));
        let (lowest, highest) = (&boxes[axis], &boxes[3 + axis]);
        for lane in 0..LANES {
            let below = f64::from(lowest[lane]) - high;
            let above = low - f64::from(highest[lane]);
            let gap = if below > above { below } else { above };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            sums[lane] += gap * gap;
        }
    }
    sums
}
