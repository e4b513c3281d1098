//! The triangles near a brick, and their distances from four points at a time.
//!
//! Points are in coordinates relative to the middle of the brick, scaled so that cells are about as large as one.
//! Four neighbouring points have mostly the same clusters near them: each is fetched once for all four, and no
//! distance waits for another.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::cluster::Cluster;
use super::discs::{DiscGroup, NO_DISCS, gaps_to_discs};
use super::frames::{self, ERROR, FLOOR, TriangleFrames};
use super::tree::{BoxGroup, NO_BOXES, TriangleTree, gaps};
use crate::bits::bits_of;
use crate::geom::distance::squared_distance;
use crate::levels::LANES;

/// Cells of a brick along each axis.
pub const SIDE: usize = 8;

/// Cells of a brick.
pub const CELLS: usize = SIDE * SIDE * SIDE;

/// Points looked at together.
pub const POINTS: usize = 4;

/// Frames that are kept for a brick. Those beyond, as in the middle of a sphere, are made anew.
const KEPT: usize = 1 << 12;

/// Squares of lengths of which one may be larger by two errors are within this factor, and [`SLACK`] times the
/// squared error: `(a + b)² <= (1 + t) a² + (1 + 1/t) b²`, here with `b` two errors.
const WIDER: f32 = 1.0 + 1.0 / 1024.0;

/// See [`WIDER`].
const SLACK: f32 = 4.0 * 1040.0;

/// The error bound of centres as doubles, relative to the origin of the brick.
const CENTRE: f32 = 1.0 / (1_u64 << 50) as f32;

/// No frame, no cluster.
pub const NONE: u32 = u32::MAX;

/// A brick and the clusters near it.
#[derive(Default)]
pub struct LocalBrick {
    /// The middle of the brick.
    pub origin: [f32; 3],
    /// The centres of its cells.
    pub centres: [[f32; SIDE]; 3],
    /// Cells along each axis.
    pub cells: [usize; 3],
    /// The error bound of distances.
    pub error: f32,
    /// A length, not scaled, no less than the coordinates of the centres, and their distances from vertices of the
    /// clusters.
    pub reach: f64,
    /// The squared limit, widened.
    pub limit: f32,
    /// Whether there are triangles that floats cannot measure.
    pub has_unknown: bool,
    /// Clusters that may be the nearest.
    pub clusters: Vec<u32>,
    /// Their bounds.
    boxes: Vec<BoxGroup>,
    discs: Vec<DiscGroup>,
    /// Where their frames are; [`NONE`] if they were not made.
    places: Vec<u32>,
    pub frames: Vec<TriangleFrames>,
    /// The clusters measured by the last look, by their places, with their squared distances from each point.
    pub seen: Vec<SeenCluster>,
}

/// Some of sixteen neighbouring clusters of a brick.
#[derive(Clone, Copy)]
pub struct ListedGroup {
    group: u32,
    pub lanes: u32,
}

impl ListedGroup {
    /// The places of its clusters.
    #[inline(always)]
    pub fn places(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.group * LANES as u32;
        bits_of(u64::from(self.lanes)).map(move |lane| first + lane as u32)
    }
}

/// The place of a cluster, and the squared distances of its triangles from each point.
pub type SeenCluster = (u32, [[f32; LANES]; POINTS]);

/// Four points that look for their nearest triangles.
struct Look<S: Simd> {
    points: [[f32; 3]; POINTS],
    /// The least squared distances up to now, one of each lane.
    least: [f32x16<S>; POINTS],
    /// Squared distances above these are not the least.
    most: [f32; POINTS],
}

impl LocalBrick {
    /// Lists all clusters that were found, with their bounds relative to the brick, and computes the error of distances
    /// from there. `limit` is the greatest distance of interest, scaled.
    pub fn list_all(&mut self, tree: &TriangleTree, limit: f32, list: &mut Vec<ListedGroup>) {
        let origin = self.origin.map(|origin| origin * tree.scale);
        let groups = self.clusters.len().div_ceil(LANES);
        self.boxes.clear();
        self.boxes.resize(groups, NO_BOXES);
        self.discs.clear();
        self.discs.resize(groups, NO_DISCS);
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
            for n in 0..8 {
                let value = tree.discs[from][n][from_lane];
                self.discs[to][n][lane] = if n < 3 { value - origin[n] } else { value };
            }
        }
        let lanes = |group: usize| (1 << LANES.min(self.clusters.len() - group * LANES)) - 1;
        list.clear();
        list.extend((0..groups).map(|group| ListedGroup { group: group as u32, lanes: lanes(group) }));
        self.places.clear();
        self.places.resize(self.clusters.len(), NONE);
        self.frames.clear();
        // No more than these, without room to grow.
        self.frames.reserve_exact(self.clusters.len().min(KEPT) + 1);
        self.seen.clear();
        self.seen.reserve_exact(self.clusters.len());
        self.has_unknown = false;
        let own: f32 = (0..3).map(|a| self.centres[a].iter().fold(0.0_f32, |r, c| r.max(c.abs()))).sum();
        let reach = reach.iter().sum::<f32>() + own;
        let far = origin.iter().map(|c| c.abs()).sum::<f32>();
        self.error = ERROR * reach + CENTRE * far + FLOOR;
        self.reach = (f64::from(reach) + f64::from(far)) / f64::from(tree.scale);
        self.limit = wider(limit * limit, self.error);
    }

    /// Lists the clusters of another list whose bounds are within a squared distance of a box.
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

    /// The lowest and the highest centre of the cells from `low` to before `high`.
    #[inline(always)]
    pub fn corners(&self, low: [usize; 3], high: [usize; 3]) -> [[f32; 3]; 2] {
        [[0, 1, 2].map(|a| self.centres[a][low[a]]), [0, 1, 2].map(|a| self.centres[a][high[a] - 1])]
    }

    /// Measures the clusters of a list that may hold the nearest triangle to one of these points, one to four: they are
    /// what is then seen. The answers are the least squared distances, or above `start` where all are above it. `first` is
    /// a cluster that is probably near.
    pub fn look<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        tree: &TriangleTree,
        list: &[ListedGroup],
        points: &[[f32; 3]],
        start: f32,
        first: u32,
    ) -> [f32; POINTS] {
        simd.vectorize(
            #[inline(always)]
            || {
                self.seen.clear();
                let least = [f32x16::splat(simd, f32::INFINITY); POINTS];
                let is_asked = [0, 1, 2, 3].map(|n| n < points.len());
                // The last stands for those that are not there.
                let points = [0, 1, 2, 3].map(|n| points[n.min(points.len() - 1)]);
                // Nothing is as near as that.
                let most = is_asked.map(|is_asked| if is_asked { start } else { -1.0 });
                let mut look = Look { points, least, most };
                self.see::<S, SCALAR>(simd, tree, first, &mut look, is_asked);
                for listed in list {
                    let group = listed.group as usize;
                    let mut squares = look.least;
                    let mut left = 0;
                    for n in 0..POINTS {
                        squares[n] = gaps(simd, &self.boxes[group], [points[n]; 2]);
                        left |= !squares[n].simd_gt(look.most[n]).to_bitmask();
                    }
                    left &= u64::from(listed.lanes);
                    if group == first as usize / LANES {
                        left &= !(1 << (first as usize % LANES));
                    }
                    if left == 0 {
                        continue;
                    }
                    for n in 0..POINTS {
                        squares[n] = squares[n].max(gaps_to_discs(simd, &self.discs[group], points[n]));
                    }
                    loop {
                        let mut near = 0;
                        let mut near_to = [0; POINTS];
                        for n in 0..POINTS {
                            near_to[n] = left & !squares[n].simd_gt(look.most[n]).to_bitmask();
                            near |= near_to[n];
                        }
                        if near == 0 {
                            break;
                        }
                        left = near & (near - 1);
                        let lane = near & near.wrapping_neg();
                        let place = (group * LANES) as u32 + lane.trailing_zeros();
                        let of = near_to.map(|near| near & lane != 0);
                        self.see::<S, SCALAR>(simd, tree, place, &mut look, of);
                    }
                }
                look.least.map(|least| least.reduce_min())
            },
        )
    }

    /// Measures one cluster from some of the points.
    #[inline(always)]
    fn see<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        tree: &TriangleTree,
        place: u32,
        look: &mut Look<S>,
        of: [bool; POINTS],
    ) {
        let cluster = &tree.clusters[self.clusters[place as usize] as usize];
        let slot = if SCALAR { 0 } else { self.slot(simd, tree, place) };
        let mut squared = [[f32::INFINITY; LANES]; POINTS];
        for n in 0..POINTS {
            if !of[n] {
                continue;
            }
            let found = if SCALAR {
                f32x16::from_slice(simd, &self.squared_one_by_one(cluster, look.points[n], tree.scale))
            } else {
                frames::squared(simd, &self.frames[slot], look.points[n])
            };
            found.store_slice(&mut squared[n]);
            // What is no number is not counted: its distance is not known.
            look.least[n] = found.simd_lt(look.least[n]).select(found, look.least[n]);
            look.most[n] = look.most[n].min(wider(look.least[n].reduce_min(), self.error));
        }
        self.seen.push((place, squared));
    }

    /// The place of the frames of a cluster, which are made if they are not there.
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

    /// Squared distances by the definition, where there are no lanes.
    fn squared_one_by_one(&self, cluster: &Cluster, point: [f32; 3], scale: f32) -> [f32; LANES] {
        let scale = f64::from(scale);
        let point = [0, 1, 2].map(|a| f64::from(self.origin[a]) + f64::from(point[a]) / scale);
        std::array::from_fn(|lane| {
            let distance = squared_distance(point, &cluster.triangle(lane)).sqrt() * scale;
            (distance * distance) as f32
        })
    }

    /// The bytes that it takes at most, with so many clusters.
    pub fn bytes_for(clusters: u128) -> u128 {
        let groups =
            clusters.div_ceil(LANES as u128) * (size_of::<BoxGroup>() + size_of::<DiscGroup>()) as u128;
        let frames = (clusters.min(KEPT as u128) + 1) * size_of::<TriangleFrames>() as u128;
        let each = 2 * size_of::<u32>() as u128;
        // Lists that grow take up to twice what is in them.
        2 * (groups + clusters * each) + frames + clusters * size_of::<SeenCluster>() as u128
    }
}

/// A squared length, made larger by more than two errors of the length.
#[inline(always)]
pub fn wider(squared: f32, error: f32) -> f32 {
    squared * WIDER + SLACK * error * error
}

/// As [`wider`], of sixteen.
#[inline(always)]
pub fn wider_lanes<S: Simd>(squared: f32x16<S>, error: f32) -> f32x16<S> {
    squared * WIDER + SLACK * error * error
}
