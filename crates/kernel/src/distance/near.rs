//! Clusters near a brick, and distances of their triangles from points.
//!
//! Points are relative to the middle of the brick, and scaled so that the size of a cell is about one.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::frames::{self, ERROR, FLOOR, TriangleFrames};
use super::oriented::{self, NO_ORIENTED, OrientedGroup, gaps_to_oriented};
use super::tree::{BoxGroup, NO_BOXES, TriangleTree, gaps, gaps_to_boxes};
use crate::bits::bits_of;
use crate::levels::{Aligned, LANES, rows, splats};

/// Number of cells of a brick along each axis.
pub const SIDE: usize = 8;

/// Number of cells of a brick.
pub const CELLS: usize = SIDE * SIDE * SIDE;

/// Maximum number of cluster frames that are stored for a brick. Further frames are computed again each time.
/// This happens, for example, in the middle of a sphere.
const KEPT: usize = 1 << 12;

/// Factor by which a squared length is enlarged if the length may be too small by two errors. In addition,
/// [`SLACK`] times the squared error is added. It follows from `(a + b)² <= (1 + t) a² + (1 + 1/t) b²`, here
/// with `b` two errors.
const WIDER: f32 = 1.0 + 1.0 / 8192.0;

/// Factor of the squared error. See [`WIDER`].
const SLACK: f32 = 4.0 * 8320.0;

/// Error bound of the centres of cells as doubles, relative to the origin of the brick.
const CENTRE: f32 = 1.0 / (1_u64 << 50) as f32;

/// Marks a frame or cluster that does not exist.
pub const NONE: u32 = u32::MAX;

/// Brick, and the clusters near it.
#[derive(Default)]
pub struct LocalBrick {
    /// Middle of the brick. It is not scaled.
    pub origin: [f32; 3],
    /// Centres of the cells along each axis, relative to the middle and scaled.
    pub centres: [[f32; SIDE]; 3],
    /// Number of cells along each axis.
    pub cells: [usize; 3],
    /// Error bound of scaled distances.
    pub error: f32,
    /// Upper bound of the coordinates of the centres and of their distances from vertices of the clusters. It
    /// is not scaled.
    pub reach: f64,
    /// Squared limit of the search, enlarged by the error.
    pub limit: f32,
    /// Some triangles are so large that their distances cannot be computed in floats.
    pub has_unknown: bool,
    /// Numbers of the clusters that may be the nearest to a cell.
    pub clusters: Vec<u32>,
    /// Bounding boxes of these clusters.
    boxes: Vec<BoxGroup>,
    oriented: Vec<OrientedGroup>,
    /// For each cluster, the index of its triangles' frames in `frames`. [`NONE`] if they were not computed.
    places: Vec<u32>,
    pub frames: Vec<TriangleFrames>,
    /// Lower bounds of squared distances from the last call of [`look`](Self::look), for each group of its
    /// list.
    gaps: Vec<Aligned<[f32; LANES]>>,
}

/// Selected clusters of a group of sixteen neighbouring clusters of a brick.
#[derive(Clone, Copy)]
pub struct ListedGroup {
    group: u32,
    pub lanes: u32,
}

impl ListedGroup {
    /// Returns the indices of the selected clusters in the list of the brick.
    #[inline(always)]
    pub fn places(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.group * LANES as u32;
        bits_of(u64::from(self.lanes)).map(move |lane| first + lane as u32)
    }
}

/// Squared distances of a cluster's triangles from a point, and the least of them.
pub struct MeasuredCluster<S: Simd> {
    pub squared: f32x16<S>,
    pub least: f32,
}

impl LocalBrick {
    /// Lists all clusters of the brick, computes their bounds relative to the brick, and computes the error
    /// bound of distances from these. `limit` is the scaled distance up to which distances are needed.
    pub fn list_all(&mut self, tree: &TriangleTree, limit: f32, list: &mut Vec<ListedGroup>) {
        let origin = self.origin.map(|origin| origin * tree.scale);
        let groups = self.clusters.len().div_ceil(LANES);
        self.boxes.clear();
        self.boxes.resize(groups, NO_BOXES);
        self.oriented.clear();
        self.oriented.resize(groups, NO_ORIENTED);
        let mut reach = [0.0_f32; 3];
        for (place, cluster) in self.clusters.iter().enumerate() {
            let from = *cluster as usize / LANES;
            let from_lane = *cluster as usize % LANES;
            let to = place / LANES;
            let lane = place % LANES;
            for n in 0..6 {
                let bound = tree.levels[0][from][n][from_lane] - origin[n % 3];
                self.boxes[to][n][lane] = bound;
                reach[n % 3] = reach[n % 3].max(bound.abs());
            }
            for n in 0..oriented::ROWS {
                let value = tree.oriented[from][n][from_lane];
                self.oriented[to][n][lane] = if n < 3 { value - origin[n] } else { value };
            }
        }
        let lanes = |group: usize| (1 << LANES.min(self.clusters.len() - group * LANES)) - 1;
        list.clear();
        list.extend((0..groups).map(|group| ListedGroup {
            group: group as u32,
            lanes: lanes(group),
        }));
        self.places.clear();
        self.places.resize(self.clusters.len(), NONE);
        self.frames.clear();
        // Allocates the maximum at once, so that the list does not grow.
        self.frames.reserve_exact(self.clusters.len().min(KEPT) + 1);
        self.gaps.clear();
        self.gaps.reserve_exact(groups);
        self.has_unknown = false;
        let own: f32 = (0..3)
            .map(|a| self.centres[a].iter().fold(0.0_f32, |r, c| r.max(c.abs())))
            .sum();
        let reach = reach.iter().sum::<f32>() + own;
        let far = origin.iter().map(|c| c.abs()).sum::<f32>();
        self.error = ERROR * reach + CENTRE * far + FLOOR;
        self.reach = (f64::from(reach) + f64::from(far)) / f64::from(tree.scale);
        self.limit = wider(limit * limit, self.error);
    }

    /// Lists the clusters of another list whose bounding boxes are within a squared distance of a box.
    pub fn narrow<S: Simd>(
        &self,
        simd: S,
        from: &[ListedGroup],
        corners: [[f32; 3]; 2],
        most: f32,
        to: &mut Vec<ListedGroup>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                to.clear();
                for listed in from {
                    let far = gaps(simd, &self.boxes[listed.group as usize], corners).simd_gt(most);
                    let lanes = listed.lanes & !far.to_bitmask() as u32;
                    if lanes != 0 {
                        to.push(ListedGroup { lanes, ..*listed });
                    }
                }
            },
        );
    }

    /// Returns the lowest and the highest centre of the cells from `low` up to, but not including, `high`.
    #[inline(always)]
    pub fn corners(&self, low: [usize; 3], high: [usize; 3]) -> [[f32; 3]; 2] {
        [
            [0, 1, 2].map(|a| self.centres[a][low[a]]),
            [0, 1, 2].map(|a| self.centres[a][high[a] - 1]),
        ]
    }

    /// Returns an upper bound of the least squared distance from a point to the clusters of a list. It is
    /// larger than `start` if all clusters are farther. Afterwards `gaps` has lower bounds of the squared
    /// distances of the clusters.
    pub fn look<S: Simd>(
        &mut self,
        simd: S,
        tree: &TriangleTree,
        list: &[ListedGroup],
        point: [f32; 3],
        start: f32,
    ) -> f32 {
        simd.vectorize(
            #[inline(always)]
            || {
                let points = splats(simd)(point);
                let mut nearest = f32x16::splat(simd, f32::INFINITY);
                let mut of = f32x16::splat(simd, 0.0);
                self.gaps.clear();
                for listed in list {
                    let group = listed.group as usize;
                    let (boxes, oriented) = (
                        rows(simd, &self.boxes[group]),
                        rows(simd, &self.oriented[group]),
                    );
                    let gap = gap(simd, boxes, oriented, points);
                    let mut stored = [0.0; LANES];
                    gap.store_slice(&mut stored);
                    let is_nearer = gap.simd_lt(nearest);
                    nearest = is_nearer.select(gap, nearest);
                    of = is_nearer.select(f32x16::splat(simd, self.gaps.len() as f32), of);
                    self.gaps.push(Aligned(stored));
                }
                // The cluster whose box is nearest is often the nearest cluster. Even if its lane is not
                // selected in the list, its distance is a valid bound.
                let lane = (nearest.simd_le(nearest.reduce_min()).to_bitmask() | 1 << LANES)
                    .trailing_zeros();
                if nearest.reduce_min() > start {
                    return f32::INFINITY;
                }
                let listed = &list[of.as_array()[lane as usize] as usize];
                let first = listed.group * LANES as u32 + lane;
                let mut least = self.see(simd, tree, first, point).least;
                if least <= start {
                    return least;
                }
                for (listed, gaps) in list.iter().zip(0..) {
                    let near = !f32x16::from_slice(simd, &*self.gaps[gaps])
                        .simd_gt(start)
                        .to_bitmask() as u32;
                    for place in (ListedGroup {
                        lanes: listed.lanes & near,
                        ..*listed
                    })
                    .places()
                    {
                        least = least.min(self.see(simd, tree, place, point).least);
                    }
                }
                least
            },
        )
    }

    /// Lists the clusters whose lower bounds of the squared distance are at most `most`. `from` is the list
    /// of the last call of [`look`](Self::look).
    pub fn within<S: Simd>(&self, simd: S, from: &[ListedGroup], most: f32, to: &mut Vec<u32>) {
        simd.vectorize(
            #[inline(always)]
            || {
                to.clear();
                for (listed, gaps) in from.iter().zip(&self.gaps) {
                    let far = f32x16::from_slice(simd, &**gaps).simd_gt(most).to_bitmask();
                    let lanes = listed.lanes & !far as u32;
                    to.extend(ListedGroup { lanes, ..*listed }.places());
                }
            },
        );
    }

    /// Returns lower bounds of the squared distances of a cluster from sixteen points.
    #[inline(always)]
    pub fn gap<S: Simd>(&self, simd: S, place: u32, points: [f32x16<S>; 3]) -> f32x16<S> {
        let [group, lane] = [place as usize / LANES, place as usize % LANES];
        gap(
            simd,
            #[inline(always)]
            |n| f32x16::splat(simd, self.boxes[group][n][lane]),
            #[inline(always)]
            |n| f32x16::splat(simd, self.oriented[group][n][lane]),
            points,
        )
    }

    /// Computes the distances of the triangles of a cluster from a point.
    #[inline(always)]
    pub fn see<S: Simd>(
        &mut self,
        simd: S,
        tree: &TriangleTree,
        place: u32,
        point: [f32; 3],
    ) -> MeasuredCluster<S> {
        let slot = self.slot(simd, tree, place);
        let squared = frames::squared(simd, &self.frames[slot], point);
        // NaN does not count, because it stands for an unknown distance.
        let infinity = f32x16::splat(simd, f32::INFINITY);
        let least = squared
            .simd_lt(infinity)
            .select(squared, infinity)
            .reduce_min();
        MeasuredCluster { squared, least }
    }

    /// Returns the index of the frames of a cluster. They are computed if they are missing.
    #[inline(always)]
    pub fn slot<S: Simd>(&mut self, simd: S, tree: &TriangleTree, place: u32) -> usize {
        let slot = self.places[place as usize];
        if slot != NONE {
            return slot as usize;
        }
        let cluster = &tree.clusters[self.clusters[place as usize] as usize];
        let origin = self.origin.map(|origin| origin * tree.scale);
        let frames = frames::frames(simd, cluster, origin, tree.scale);
        self.has_unknown |= frames[0].iter().any(|first| first.is_nan());
        let slot = self.frames.len().min(KEPT);
        if self.frames.len() <= KEPT {
            self.frames.push(frames);
        } else {
            self.frames[KEPT] = frames;
        }
        if slot < KEPT {
            self.places[place as usize] = slot as u32;
        }
        slot
    }

    /// Returns the maximum memory in bytes for `clusters` clusters.
    pub fn bytes_for(clusters: u128) -> u128 {
        let groups = clusters.div_ceil(LANES as u128)
            * (size_of::<BoxGroup>() + size_of::<OrientedGroup>()) as u128;
        let frames = (clusters.min(KEPT as u128) + 1) * size_of::<TriangleFrames>() as u128;
        let each = 2 * size_of::<u32>() as u128;
        // A list that grows takes up to twice the memory of its items.
        2 * (groups + clusters * each)
            + frames
            + clusters.next_multiple_of(LANES as u128) * size_of::<f32>() as u128
    }
}

/// Returns lower bounds of the squared distances between clusters and points, lane by lane. They are computed
/// from the axis-aligned and the oriented boxes of the clusters.
#[inline(always)]
fn gap<S: Simd>(
    simd: S,
    boxes: impl Fn(usize) -> f32x16<S>,
    oriented: impl Fn(usize) -> f32x16<S>,
    points: [f32x16<S>; 3],
) -> f32x16<S> {
    gaps_to_boxes(simd, boxes, [points; 2]).max(gaps_to_oriented(simd, oriented, points))
}

/// Returns a squared length, enlarged as if the length were larger by more than two errors.
#[inline(always)]
pub fn wider(squared: f32, error: f32) -> f32 {
    squared * WIDER + SLACK * error * error
}

/// Applies [`wider`] to sixteen lanes.
#[inline(always)]
pub fn wider_lanes<S: Simd>(squared: f32x16<S>, error: f32) -> f32x16<S> {
    squared * WIDER + SLACK * error * error
}
