//! Blocks of sixteen cells in a brick with many triangles near it: finds the clusters of triangles near each
//! cell.
//!
//! First a lower bound of the distance from each cell of the block to each cluster is computed. Then each
//! cell computes the distances to the triangles of its most promising cluster, and to those of every other
//! cluster that its distance so far does not exclude.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::near::{LocalBrick, SIDE, wider};
use super::ties::place_of;
use super::tree::TriangleTree;
use crate::bits::bits_of;
use crate::levels::{Aligned, LANES};

/// Number of cells of a block along each axis.
pub const BLOCK: [usize; 3] = [4, 2, 2];

/// Maximum number of cluster measurements that are stored until it is known which triangles are near enough.
const MOST_SEEN: usize = 192;

/// Clusters near a block of cells.
#[derive(Default)]
pub struct BlockClusters {
    /// Index of each cluster in the list of the brick.
    pub places: Vec<u32>,
    /// For each cluster, lower bounds of its squared distances from the cells.
    gaps: Vec<Aligned<[f32; LANES]>>,
    seen: Vec<SeenCluster>,
}

/// Cluster whose distance from a cell was measured.
#[derive(Clone)]
struct SeenCluster {
    cluster: u32,
    lane: usize,
    squares: [f32; LANES],
}

impl BlockClusters {
    /// Returns the maximum memory in bytes for `clusters` clusters.
    pub fn bytes_for(clusters: u128) -> u128 {
        // A list that grows takes up to twice the memory of its items.
        2 * clusters * (size_of::<u32>() + LANES * size_of::<f32>()) as u128
            + ((MOST_SEEN + 1) * size_of::<SeenCluster>()) as u128
    }

    /// Finds the triangles that may be the nearest to a cell of the block that starts at `low`. Calls `found`
    /// with each such cell and triangle. A triangle is given by its index among the triangles of all
    /// clusters. Returns a cluster that is near, if there is one.
    #[inline(always)]
    pub fn look<S: Simd>(
        &mut self,
        simd: S,
        near: &mut LocalBrick,
        tree: &TriangleTree,
        low: [usize; 3],
        mut found: impl FnMut(usize, u32),
    ) -> Option<u32> {
        simd.vectorize(
            #[inline(always)]
            || {
                let Self { places, gaps, seen } = self;
                seen.resize(
                    MOST_SEEN + 1,
                    SeenCluster {
                        cluster: 0,
                        lane: 0,
                        squares: [0.0; LANES],
                    },
                );
                let mut look = Look::new(near, tree, seen, low);
                let points = look.rows.map(
                    #[inline(always)]
                    |row| f32x16::from_slice(simd, &row),
                );
                let mut nearest = f32x16::splat(simd, f32::INFINITY);
                let mut of = f32x16::splat(simd, -1.0);
                gaps.clear();
                for (n, place) in places.iter().enumerate() {
                    let gap = look.near.gap(simd, *place, points);
                    let mut stored = [0.0; LANES];
                    gap.store_slice(&mut stored);
                    gaps.push(Aligned(stored));
                    let is_nearer = gap.simd_lt(nearest);
                    nearest = is_nearer.select(gap, nearest);
                    of = is_nearer.select(f32x16::splat(simd, n as f32), of);
                }
                let mut first = [0.0; LANES];
                of.store_slice(&mut first);
                let may_be = nearest
                    .simd_le(f32x16::from_slice(simd, &look.most))
                    .to_bitmask();
                for lane in bits_of(may_be) {
                    look.see(simd, places[first[lane] as usize], lane);
                }
                let mut most = f32x16::from_slice(simd, &look.most);
                for (n, gaps) in gaps.iter().enumerate() {
                    // The bounds are not updated for every cluster, because an update excludes too little to
                    // be worth waiting for a measurement.
                    if n % 4 == 3 {
                        most = f32x16::from_slice(simd, &look.most);
                    }
                    let near =
                        !f32x16::from_slice(simd, &**gaps).simd_gt(most).to_bitmask() & look.cells;
                    let seen = of.simd_eq(f32x16::splat(simd, n as f32)).to_bitmask();
                    for lane in bits_of(near & !seen) {
                        if look.waiting == MOST_SEEN {
                            look.flush(simd, &mut found);
                        }
                        look.see(simd, places[n], lane);
                    }
                }
                look.flush(simd, &mut found);
                look.last
            },
        )
    }
}

/// State of the search for the nearest triangles of sixteen cells.
struct Look<'a> {
    near: &'a mut LocalBrick,
    tree: &'a TriangleTree,
    /// Buffer for the stored measurements. It has one more entry than may be used.
    seen: &'a mut [SeenCluster],
    low: [usize; 3],
    /// Centres of the cells.
    rows: [[f32; LANES]; 3],
    /// Lanes whose cells are in the brick.
    cells: u64,
    /// For each cell, an upper bound of the least squared distance.
    most: [f32; LANES],
    /// A cluster that is near one of the cells.
    last: Option<u32>,
    /// Number of stored measurements in `seen`.
    waiting: usize,
}

impl<'a> Look<'a> {
    #[inline(always)]
    fn new(
        near: &'a mut LocalBrick,
        tree: &'a TriangleTree,
        seen: &'a mut [SeenCluster],
        low: [usize; 3],
    ) -> Self {
        let mut rows = [[0.0; LANES]; 3];
        let mut cells = 0;
        // A lane without a cell gets a bound that excludes all triangles.
        let mut most = [-1.0; LANES];
        for lane in 0..LANES {
            let cell = cell(low, lane);
            if (0..3).all(|a| cell[a] < near.cells[a]) {
                most[lane] = near.limit;
                cells |= 1 << lane;
            }
            for a in 0..3 {
                rows[a][lane] = near.centres[a][cell[a].min(near.cells[a] - 1)];
            }
        }
        Self {
            near,
            tree,
            seen,
            low,
            rows,
            cells,
            most,
            last: None,
            waiting: 0,
        }
    }

    /// Computes the distances from one cell to the triangles of a cluster. Stores the measurement if one of
    /// these triangles may be the nearest.
    #[inline(always)]
    fn see<S: Simd>(&mut self, simd: S, place: u32, lane: usize) {
        let point = [self.rows[0][lane], self.rows[1][lane], self.rows[2][lane]];
        let seen = self.near.see(simd, self.tree, place, point);
        self.most[lane] = self.most[lane].min(wider(seen.least, self.near.error));
        // This is written without a branch, because the branch would often be mispredicted.
        let next = &mut self.seen[self.waiting];
        seen.squared.store_slice(&mut next.squares);
        (next.cluster, next.lane) = (self.near.clusters[place as usize], lane);
        let far = seen.squared.simd_gt(self.most[lane]).to_bitmask() & 0xffff;
        self.waiting += usize::from(far != 0xffff);
    }

    /// Reports the triangles of the stored measurements that are still near enough, and empties the buffer.
    #[inline(always)]
    fn flush<S: Simd>(&mut self, simd: S, found: &mut impl FnMut(usize, u32)) {
        for SeenCluster {
            cluster,
            lane,
            squares,
        } in &self.seen[..self.waiting]
        {
            let near = !f32x16::from_slice(simd, squares)
                .simd_gt(self.most[*lane])
                .to_bitmask()
                & 0xffff;
            for triangle in bits_of(near) {
                let [x, y, z] = cell(self.low, *lane);
                found((z * SIDE + y) * SIDE + x, place_of(*cluster, triangle));
                self.last = Some(*cluster);
            }
        }
        self.waiting = 0;
    }
}

/// Returns the cell of a lane in the block that starts at `low`.
#[inline(always)]
fn cell(low: [usize; 3], lane: usize) -> [usize; 3] {
    [
        low[0] + lane % BLOCK[0],
        low[1] + lane / BLOCK[0] % BLOCK[1],
        low[2] + lane / BLOCK[0] / BLOCK[1],
    ]
}

const _: () = assert!(BLOCK[0] * BLOCK[1] * BLOCK[2] == LANES);
