//! Search in a brick with few triangles near it. The triangles are processed one after another, and the lanes
//! of a vector hold different cells.
//!
//! This is for clusters of large or long triangles, whose bounding boxes are larger than the brick and
//! exclude little. The triangles near the brick are listed individually, the nearest to the middle of the
//! brick first. The brick is divided into sixteen boxes. The distance of a triangle from the middle of a box
//! bounds its distances from all cells of the box (Lipschitz). Distances are then computed for the cells of
//! those boxes in which the triangle may be the nearest.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::frames::{self, TriangleFrame};
use super::near::{CELLS, ListedGroup, LocalBrick, SIDE, wider, wider_lanes};
use super::ties::place_of;
use super::tree::TriangleTree;
use crate::bits::bits_of;
use crate::levels::{Aligned, LANES};

/// Maximum number of clusters whose triangles are examined.
const MOST_CLUSTERS: usize = 256;

/// Maximum number of triangles near a brick. If there are more, the search by clusters is faster.
const MOST_TRIANGLES: usize = 160;

/// Maximum number of measurements that are stored until it is known which cells are near enough.
const MOST_MEASURED: usize = 1 << 9;

/// Number of cells of a box along each axis. There are as many boxes as lanes. A box has two layers, each
/// with as many cells as lanes.
const BOX: [usize; 3] = [4, 4, 2];

/// Factor that exceeds the rounding errors of a few operations.
pub const ROUNDED: f32 = 1.000_001;

/// Triangles near a brick, and their distances from the cells of the brick.
pub struct CellLanes {
    /// Squared distances from the middle of the brick to the triangles of the listed clusters.
    squares: Vec<Aligned<[f32; LANES]>>,
    triangles: Vec<NearTriangle>,
    measured: Vec<MeasuredLayer>,
    /// Squared distances of the cells of each layer in `measured`.
    layers: Vec<Aligned<[f32; LANES]>>,
    /// For each cell, by box and layer, an upper bound of the least squared distance.
    most: Aligned<[[[f32; LANES]; BOX[2]]; LANES]>,
}

/// Triangle near a brick.
struct NearTriangle {
    /// Squared distance from the middle of the brick.
    squared: f32,
    /// Index among the triangles of all clusters.
    place: u32,
    frame: TriangleFrame,
}

/// Layer of a box, and a triangle that may be the nearest to some of its cells.
#[derive(Clone, Copy)]
struct MeasuredLayer {
    triangle: u16,
    /// Cells for which the triangle may be the nearest.
    lanes: u16,
    /// Number of the box, and of the layer in the box.
    at: [u8; 2],
}

/// The sixteen boxes of a brick.
struct Boxes {
    middles: [[f32; LANES]; 3],
    radii: [f32; LANES],
    /// Coordinates of the cells of a layer, for each half of the brick that may contain the layer.
    layer: Aligned<[[[f32; LANES]; 2]; 2]>,
    /// For each box, the cells of a layer that exist in the brick.
    cells: [u64; LANES],
}

impl Default for CellLanes {
    fn default() -> Self {
        Self {
            squares: Vec::with_capacity(MOST_CLUSTERS),
            triangles: Vec::with_capacity(MOST_TRIANGLES),
            measured: Vec::with_capacity(MOST_MEASURED),
            layers: Vec::with_capacity(MOST_MEASURED),
            most: Aligned([[[0.0; LANES]; BOX[2]]; LANES]),
        }
    }
}

impl CellLanes {
    /// Returns the memory in bytes.
    pub fn bytes() -> u128 {
        (MOST_CLUSTERS * size_of::<[f32; LANES]>()
            + MOST_TRIANGLES * size_of::<NearTriangle>()
            + MOST_MEASURED * (size_of::<MeasuredLayer>() + LANES * size_of::<f32>()))
            as u128
    }

    /// Lists the triangles of these clusters that may be the nearest to a cell of the brick, sorted by their
    /// distance from its middle. Returns `false` if there are too many.
    #[inline(always)]
    pub fn list<S: Simd>(
        &mut self,
        simd: S,
        near: &mut LocalBrick,
        tree: &TriangleTree,
        listed: &[ListedGroup],
    ) -> bool {
        let clusters = listed
            .iter()
            .map(|group| group.lanes.count_ones() as usize)
            .sum::<usize>();
        if clusters > MOST_CLUSTERS {
            return false;
        }
        let corners = near.corners([0; 3], near.cells);
        let (middle, radius) = ball(corners);
        let places = || listed.iter().flat_map(ListedGroup::places);
        let mut least = f32x16::splat(simd, f32::INFINITY);
        self.squares.clear();
        for place in places() {
            let slot = near.slot(simd, tree, place);
            let squared = frames::squared(simd, &near.frames[slot], middle);
            least = squared.simd_lt(least).select(squared, least);
            let mut stored = Aligned([0.0; LANES]);
            squared.store_slice(&mut *stored);
            self.squares.push(stored);
        }
        let limit = near.limit.sqrt() * ROUNDED;
        let nearest = wider(least.reduce_min(), near.error).sqrt() * ROUNDED;
        let most = square_beyond((nearest + radius).min(limit), radius, near.error);
        self.triangles.clear();
        for (place, squares) in places().zip(&self.squares) {
            // A triangle with NaN is kept, because its distance is not known.
            let lanes = !f32x16::from_slice(simd, &**squares)
                .simd_gt(most)
                .to_bitmask()
                & 0xffff;
            if self.triangles.len() + lanes.count_ones() as usize > MOST_TRIANGLES {
                return false;
            }
            if lanes == 0 {
                continue;
            }
            let slot = near.slot(simd, tree, place);
            let triangles = bits_of(lanes).map(|lane| NearTriangle {
                squared: squares[lane],
                place: place_of(near.clusters[place as usize], lane),
                frame: near.frames[slot].each_ref().map(|row| row[lane]),
            });
            self.triangles.extend(triangles);
        }
        self.triangles
            .sort_unstable_by(|a, b| a.squared.total_cmp(&b.squared));
        true
    }

    /// Returns a cluster near the brick. `None` if there is none.
    pub fn hint(&self) -> Option<u32> {
        self.triangles
            .first()
            .map(|triangle| triangle.place / LANES as u32)
    }

    /// Finds the listed triangles that may be the nearest to a cell. Calls `found` with each such cell and
    /// the index of the triangle.
    #[inline(always)]
    pub fn look<S: Simd>(&mut self, simd: S, near: &LocalBrick, mut found: impl FnMut(usize, u32)) {
        let boxes = Boxes::new(near);
        let mut far = [0.0; LANES];
        for n in 0..LANES {
            let most = if boxes.cells[n] == 0 { 0.0 } else { near.limit };
            self.most[n] = [[most; LANES]; BOX[2]];
            far[n] = square_beyond(near.limit.sqrt() * ROUNDED, boxes.radii[n], near.error);
        }
        let middles = boxes.middles.map(
            #[inline(always)]
            |row| f32x16::from_slice(simd, &row),
        );
        for n in 0..self.triangles.len() {
            let frame = self.triangles[n].frame;
            let from_middles = frames::squared_from(simd, &frame, middles);
            let near_to = !from_middles
                .simd_gt(f32x16::from_slice(simd, &far))
                .to_bitmask()
                & 0xffff;
            for at in bits_of(near_to) {
                let [low_x, low_y, low_z] = low(at);
                let x = f32x16::from_slice(simd, &boxes.layer[0][low_x / BOX[0]]);
                let y = f32x16::from_slice(simd, &boxes.layer[1][low_y / BOX[1]]);
                let mut worst = f32x16::splat(simd, 0.0);
                let mut is_nearer = false;
                for layer in 0..BOX[2].min(near.cells[2].saturating_sub(low_z)) {
                    let z = f32x16::splat(simd, near.centres[2][low_z + layer]);
                    let squared = frames::squared_from(simd, &frame, [x, y, z]);
                    let most = f32x16::from_slice(simd, &self.most[at][layer]);
                    let lanes = !squared.simd_gt(most).to_bitmask() & boxes.cells[at];
                    if lanes == 0 {
                        worst = worst.max(most);
                        continue;
                    }
                    is_nearer = true;
                    let enough = wider_lanes(squared, near.error);
                    let most = enough.simd_lt(most).select(enough, most);
                    most.store_slice(&mut self.most[at][layer]);
                    worst = worst.max(most);
                    if self.measured.len() == MOST_MEASURED {
                        self.flush(simd, &mut found);
                    }
                    let mut squares = Aligned([0.0; LANES]);
                    squared.store_slice(&mut *squares);
                    self.layers.push(squares);
                    let at = [at as u8, layer as u8];
                    self.measured.push(MeasuredLayer {
                        triangle: n as u16,
                        lanes: lanes as u16,
                        at,
                    });
                }
                if is_nearer {
                    let worst = worst.reduce_max().sqrt() * ROUNDED;
                    far[at] = square_beyond(worst, boxes.radii[at], near.error);
                }
            }
        }
        self.flush(simd, &mut found);
    }

    /// Reports the cells of the stored measurements for which the triangle is still near enough.
    #[inline(always)]
    fn flush<S: Simd>(&mut self, simd: S, found: &mut impl FnMut(usize, u32)) {
        for (
            MeasuredLayer {
                triangle,
                lanes,
                at,
            },
            squares,
        ) in self.measured.iter().zip(&self.layers)
        {
            let [at, layer] = at.map(usize::from);
            let most = f32x16::from_slice(simd, &self.most[at][layer]);
            // NaN is kept, because the distance is not known.
            let near = !f32x16::from_slice(simd, &**squares)
                .simd_gt(most)
                .to_bitmask()
                & u64::from(*lanes);
            let [x, y, z] = low(at);
            let first = ((z + layer) * SIDE + y) * SIDE + x;
            for lane in bits_of(near) {
                let cell = first + lane / BOX[0] * SIDE + lane % BOX[0];
                found(cell, self.triangles[usize::from(*triangle)].place);
            }
        }
        self.measured.clear();
        self.layers.clear();
    }
}

impl Boxes {
    fn new(near: &LocalBrick) -> Self {
        let mut boxes = Self {
            middles: [[0.0; LANES]; 3],
            radii: [0.0; LANES],
            layer: Aligned([[[0.0; LANES]; 2]; 2]),
            cells: [0; LANES],
        };
        let last = near.cells.map(|cells| cells - 1);
        for axis in 0..2 {
            for half in 0..2 {
                boxes.layer[axis][half] = std::array::from_fn(|lane| {
                    let within = if axis == 0 {
                        lane % BOX[0]
                    } else {
                        lane / BOX[0]
                    };
                    near.centres[axis][last[axis].min(half * BOX[axis] + within)]
                });
            }
        }
        for at in 0..LANES {
            let low = low(at);
            if (0..3).any(|axis| low[axis] > last[axis]) {
                continue;
            }
            let high = [0, 1, 2].map(|axis| near.cells[axis].min(low[axis] + BOX[axis]));
            let (middle, radius) = ball(near.corners(low, high));
            for axis in 0..3 {
                boxes.middles[axis][at] = middle[axis];
            }
            boxes.radii[at] = radius;
            for lane in 0..LANES {
                let is_there = low[0] + lane % BOX[0] < high[0] && low[1] + lane / BOX[0] < high[1];
                boxes.cells[at] |= u64::from(is_there) << lane;
            }
        }
        boxes
    }
}

/// Returns the first cell of a box.
fn low(at: usize) -> [usize; 3] {
    [at % 2 * BOX[0], at / 2 % 2 * BOX[1], at / 4 * BOX[2]]
}

/// Returns the middle of a box, and an upper bound of the distance from the middle to the points of the box.
pub fn ball([low, high]: [[f32; 3]; 2]) -> ([f32; 3], f32) {
    let middle = [0, 1, 2].map(|a| (low[a] + high[a]) / 2.0);
    let half = [0, 1, 2].map(|a| (high[a] - low[a]) / 2.0);
    (
        middle,
        (half[0] * half[0] + half[1] * half[1] + half[2] * half[2]).sqrt() * ROUNDED,
    )
}

/// Returns a squared distance from the middle of a ball. A triangle beyond it is farther than `most` from
/// every point of the ball.
pub fn square_beyond(most: f32, radius: f32, error: f32) -> f32 {
    let distance = (most + radius) * ROUNDED;
    wider(distance * distance, error)
}

const _: () = assert!(BOX[0] * BOX[1] == LANES && BOX[0] * BOX[1] * BOX[2] * LANES == CELLS);
