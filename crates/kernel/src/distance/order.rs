//! Arrangement of the triangles of a mesh in clusters.
//!
//! Triangles are sorted by the Morton codes of the middles of their bounds. Large triangles are separated
//! from small ones, because a large triangle in a cluster of small ones would enlarge its bounds too much.
//! The sorted list is cut into patches. Every patch is halved repeatedly along its longest axis until at most
//! sixteen triangles are left. No result of a search depends on the clusters.

use std::ops::Range;

use super::cluster::Cluster;
use super::oriented::{Surround, enclose};
use crate::geom::{Bounds, Triangle, morton};
use crate::levels::{LANES, Level, on_level};

/// Triangles in the order of their Morton codes, cut into patches.
pub struct OrderedTriangles<'a> {
    triangles: &'a [Triangle],
    order: Vec<Keyed>,
    ranges: Vec<Range<usize>>,
}

/// Patches from which one thread makes clusters.
pub struct ClusterJob<'a> {
    patches: &'a OrderedTriangles<'a>,
    ranges: &'a [Range<usize>],
    scale: f32,
    level: Level,
    clusters: &'a mut [Cluster],
    surrounds: &'a mut [Surround],
}

/// Maximum number of triangles in a patch. It may be exceeded by triangles with equal codes.
const PATCH: usize = 16 * LANES;

/// Returns the maximum number of clusters for `triangles` triangles. Patches are at least half full. In each
/// patch, all clusters except the last are at least half full.
pub fn clusters_for(triangles: usize) -> u128 {
    (triangles.div_ceil(LANES) + triangles.div_ceil(PATCH / 4)) as u128
}

/// Number of patches in a job.
const JOB: usize = 128;

impl<'a> OrderedTriangles<'a> {
    /// Sorts triangles that are within these bounds, and cuts the list into patches. If an octant has many
    /// triangles, no patch extends beyond it. Otherwise the bounds of such a patch could extend across all of
    /// space and be near everything.
    pub fn new(triangles: &'a [Triangle], bounds: &Bounds) -> Self {
        let order = order(triangles, bounds);
        let mut waiting = vec![(0, order.len())];
        let mut ranges = vec![];
        while let Some((start, end)) = waiting.pop() {
            let keys = &order[start..end];
            let differ = keys[0].key ^ keys[keys.len() - 1].key;
            if keys.len() <= PATCH || differ == 0 {
                ranges.push(start..end);
                continue;
            }
            let bit = 1 << differ.ilog2();
            let middle = start + keys.partition_point(|keyed| keyed.key & bit == 0);
            waiting.push((middle, end));
            waiting.push((start, middle));
        }
        Self {
            triangles,
            order,
            ranges,
        }
    }

    /// Makes the clusters of all patches. `share` must run all jobs, in any order.
    pub fn clusters(
        &self,
        level: Level,
        scale: f32,
        share: impl FnOnce(Vec<ClusterJob>),
    ) -> (Vec<Cluster>, Vec<Surround>) {
        let count =
            |ranges: &[Range<usize>]| ranges.iter().map(|range| range.len().div_ceil(LANES)).sum();
        let total = count(&self.ranges);
        let mut clusters = vec![Cluster::EMPTY; total];
        let mut surrounds = vec![Surround::default(); total];
        let mut jobs = vec![];
        let mut rest = (&mut clusters[..], &mut surrounds[..]);
        for ranges in self.ranges.chunks(JOB) {
            let (clusters, later) = rest.0.split_at_mut(count(ranges));
            let (surrounds, after) = rest.1.split_at_mut(clusters.len());
            jobs.push(ClusterJob {
                patches: self,
                ranges,
                scale,
                level,
                clusters,
                surrounds,
            });
            rest = (later, after);
        }
        share(jobs);
        (clusters, surrounds)
    }
}

impl ClusterJob<'_> {
    /// Makes the clusters of these patches.
    pub fn run(self) {
        let Self {
            patches: OrderedTriangles {
                triangles, order, ..
            },
            ranges,
            scale,
            level,
            clusters,
            surrounds,
        } = self;
        let mut middles = vec![];
        let mut done = 0;
        for range in ranges {
            middles.clear();
            middles.extend(
                order[range.clone()]
                    .iter()
                    .map(|keyed| TriangleMiddle::new(triangles, keyed.number)),
            );
            let count = middles.len().div_ceil(LANES);
            halve(triangles, &mut middles, &mut clusters[done..done + count]);
            done += count;
        }
        on_level!(
            level,
            simd => {
                for (cluster, surround) in clusters.iter().zip(surrounds) {
                    *surround = enclose(simd, cluster, scale);
                }
            }
        );
    }
}

/// Number of a triangle and the middle of its bounds.
struct TriangleMiddle {
    middle: [f32; 3],
    number: u32,
}

impl TriangleMiddle {
    fn new(triangles: &[Triangle], number: u32) -> Self {
        let [a, b, c] = &triangles[number as usize];
        let middle =
            [0, 1, 2].map(|n| a[n].min(b[n]).min(c[n]) / 2.0 + a[n].max(b[n]).max(c[n]) / 2.0);
        Self { middle, number }
    }
}

/// Makes the clusters of a patch. The patch is halved repeatedly along the longest axis of the middles of its
/// triangles.
fn halve(triangles: &[Triangle], patch: &mut [TriangleMiddle], clusters: &mut [Cluster]) {
    if patch.len() <= LANES {
        return clusters[0].fill(triangles, |lane| patch[lane.min(patch.len() - 1)].number);
    }
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for TriangleMiddle { middle, .. } in &*patch {
        for n in 0..3 {
            low[n] = if middle[n] < low[n] {
                middle[n]
            } else {
                low[n]
            };
            high[n] = if middle[n] > high[n] {
                middle[n]
            } else {
                high[n]
            };
        }
    }
    let extent = |axis: usize| high[axis] - low[axis];
    let axis = (0..3)
        .max_by(|a, b| extent(*a).total_cmp(&extent(*b)))
        .unwrap_or(0);
    let half = (patch.len() / 2).next_multiple_of(LANES);
    patch.select_nth_unstable_by(half, |a, b| a.middle[axis].total_cmp(&b.middle[axis]));
    let (low, high) = patch.split_at_mut(half);
    let (first, second) = clusters.split_at_mut(half / LANES);
    halve(triangles, low, first);
    halve(triangles, high, second);
}

/// Number of a triangle and its sort key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keyed {
    key: u32,
    number: u32,
}

/// Number of bits of the key that one pass of the sort uses.
const DIGIT: u32 = 11;

/// Sorts the triangles by their keys. Each pass is a counting sort by some bits of the key, the lowest bits
/// first.
fn order(triangles: &[Triangle], bounds: &Bounds) -> Vec<Keyed> {
    let extent = (0..3)
        .map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a]))
        .fold(0.0, f64::max);
    let scale = if extent > 0.0 { 1024.0 / extent } else { 0.0 };
    let key = |(n, triangle): (usize, &Triangle)| Keyed {
        key: key(triangle, bounds, scale),
        number: n as u32,
    };
    let mut order: Vec<Keyed> = triangles.iter().enumerate().map(key).collect();
    let mut sorted = vec![Keyed::default(); order.len()];
    for shift in [0, DIGIT, 2 * DIGIT] {
        let digit = |keyed: &Keyed| (keyed.key >> shift) as usize & ((1 << DIGIT) - 1);
        let mut places = vec![0_u32; 1 << DIGIT];
        order.iter().for_each(|keyed| places[digit(keyed)] += 1);
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for keyed in &order {
            let place = &mut places[digit(keyed)];
            sorted[*place as usize] = *keyed;
            *place += 1;
        }
        std::mem::swap(&mut order, &mut sorted);
    }
    order
}

/// Returns the sort key of a triangle. It has two bits for the size of the triangle and thirty bits for the
/// Morton code of the middle of its bounds.
fn key(triangle: &Triangle, bounds: &Bounds, scale: f64) -> u32 {
    let [a, b, c] = triangle;
    let mut longest = 0.0_f64;
    let middle = [0, 1, 2].map(|axis| {
        let low = f64::from(a[axis].min(b[axis]).min(c[axis]));
        let high = f64::from(a[axis].max(b[axis]).max(c[axis]));
        longest = longest.max((high - low) * scale);
        let middle = ((low + high) / 2.0 - f64::from(bounds.min[axis])) * scale;
        (middle as u64).min(1023)
    });
    let size = [4.0, 32.0, 256.0]
        .into_iter()
        .filter(|least| longest > *least)
        .count() as u32;
    size << 30 | morton::code(middle) as u32
}
