//! The search: which triangle is the nearest to each cell of a brick.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::frames::{self, ERROR, TriangleFrames};
use super::pairs::{self, PAIRS, PairRows};
use super::tree::{BoxGroup, Cluster, NO_BOXES, TriangleTree, farthest, gaps};
use crate::batch::LANES;
use crate::bits::bits_of;
use crate::geom::distance::squared_distance;
use crate::levels::{Level, on_level};

/// Cells of a brick along each axis.
pub const SIDE: usize = 8;

/// Cells of a brick.
const CELLS: usize = SIDE * SIDE * SIDE;

/// How often a brick is halved before its cells are looked at.
const DEPTHS: usize = 3;

/// Clusters that are few enough to look at for every cell: halving would cost more than it saves.
const FEW: usize = 2 * LANES;

/// Frames that are kept for a brick. Those beyond, as in the middle of a sphere, are made anew.
const KEPT: usize = 1 << 12;

/// Squares of lengths of which one may be larger by two errors are within this factor, and [`SLACK`] times the
/// squared error: `(a + b)² <= (1 + t) a² + (1 + 1/t) b²`, here with `b` two errors.
const WIDER: f32 = 1.0 + 1.0 / 1024.0;

/// See [`WIDER`].
const SLACK: f32 = 4.0 * 1040.0;

/// What rounding does to the bounds of the tree, relative to the numbers.
const TREE_ERROR: f32 = 1.0 / (1 << 18) as f32;

/// No frame, no cluster.
const NONE: u32 = u32::MAX;

/// The centres of the cells of a lattice, per axis.
#[derive(Debug, Clone)]
pub struct CentreLattice {
    /// Coordinates, each the double nearest to the exact one.
    pub centres: [Vec<f64>; 3],
}

/// The squared distances of a brick's cells, x fastest, and the triangles they are to.
#[derive(Debug, Clone)]
pub struct SquaredBrick {
    /// Infinite in cells that no triangle is near enough to. What is beyond the limit may be there or not.
    pub squared: [f64; CELLS],
    /// The number of the nearest triangle, the least of those that are equally near.
    pub nearest: [u32; CELLS],
}

/// Looks for the nearest triangles, brick after brick.
pub struct BrickSearch<'a> {
    tree: &'a TriangleTree,
    lattice: &'a CentreLattice,
    /// Distances above it need not be found; infinite for all.
    limit: f64,
    /// The results of the last brick.
    pub found: SquaredBrick,
    near: LocalBrick,
    /// Clusters for a brick, its parts, and theirs.
    lists: [BoxList; DEPTHS + 1],
    waiting: Waiting,
    /// A cluster near the last brick.
    hint: u32,
}

/// Where the search is: the brick, in coordinates relative to its middle, scaled.
struct LocalBrick {
    origin: [f32; 3],
    /// The centres of its cells.
    centres: [[f32; SIDE]; 3],
    /// Cells along each axis.
    cells: [usize; 3],
    /// What distances may be off by.
    error: f32,
    /// The squared limit, widened.
    limit: f32,
    /// Whether there are triangles that floats cannot measure.
    has_unknown: bool,
    /// Clusters that may be the nearest.
    clusters: Vec<u32>,
    /// Where their frames are; [`NONE`] if they were not made.
    places: Vec<u32>,
    frames: Vec<TriangleFrames>,
    /// The clusters measured for a cell, with their squared distances.
    seen: Vec<(u32, [f32; LANES])>,
}

/// Clusters by their places among those of the brick, with their bounds.
#[derive(Default)]
struct BoxList {
    places: Vec<u32>,
    boxes: Vec<BoxGroup>,
}

impl BoxList {
    fn clear(&mut self) {
        self.places.clear();
        self.boxes.clear();
    }

    #[inline(always)]
    fn push(&mut self, place: u32, bounds: [f32; 6]) {
        let lane = self.places.len() % LANES;
        if lane == 0 {
            self.boxes.push(NO_BOXES);
        }
        let group = self.boxes.last_mut().expect("a group was pushed");
        for (row, value) in group.iter_mut().zip(bounds) {
            row[lane] = value;
        }
        self.places.push(place);
    }
}

/// Pairs of a cell and a triangle that wait to be measured.
struct Waiting {
    rows: PairRows,
    cells: [u16; PAIRS],
    numbers: [u32; PAIRS],
    count: usize,
}

/// Some cells of a brick: from the first ones to those after the last.
#[derive(Clone, Copy)]
struct Part {
    low: [usize; 3],
    high: [usize; 3],
}

impl<'a> BrickSearch<'a> {
    /// A search for distances up to `limit`, or all if that is infinite.
    pub fn new(tree: &'a TriangleTree, lattice: &'a CentreLattice, limit: f64) -> Self {
        Self {
            tree,
            lattice,
            limit,
            found: SquaredBrick { squared: [f64::INFINITY; CELLS], nearest: [NONE; CELLS] },
            near: LocalBrick {
                origin: [0.0; 3],
                centres: [[0.0; SIDE]; 3],
                cells: [0; 3],
                error: 0.0,
                limit: 0.0,
                has_unknown: false,
                clusters: vec![],
                places: vec![],
                frames: vec![],
                seen: vec![],
            },
            lists: Default::default(),
            waiting: Waiting { rows: [[0.0; PAIRS]; 12], cells: [0; PAIRS], numbers: [0; PAIRS], count: 0 },
            hint: NONE,
        }
    }

    /// The bytes that a search takes at most, for so many triangles.
    pub fn bytes_for(triangles: usize) -> u128 {
        let clusters = triangles.div_ceil(LANES) as u128;
        let lists = clusters * (4 * size_of::<[f32; 7]>() + 2 * size_of::<u32>()) as u128;
        let frames = clusters.min(KEPT as u128) * size_of::<TriangleFrames>() as u128;
        // Lists that grow take up to twice what is in them.
        2 * (lists + frames + clusters * size_of::<(u32, [f32; LANES])>() as u128) + size_of::<Self>() as u128
    }

    /// Measures the cells of the brick whose first cell is `first`; whether any is near a triangle.
    ///
    /// # Panics
    /// If the machine has no such level.
    pub fn brick(&mut self, level: Level, first: [usize; 3]) -> bool {
        let token = level.token().expect("the level was checked to run here");
        on_level!(
            token,
            simd => self.brick_with::<_, false>(simd, first),
            scalar => self.brick_with::<_, true>(scalar, first)
        )
    }

    /// Whether any triangle may be within the limit of the cells from `first` on, so many along each axis.
    ///
    /// # Panics
    /// If the machine has no such level.
    pub fn is_near(&mut self, level: Level, first: [usize; 3], cells: [usize; 3]) -> bool {
        let token = level.token().expect("the level was checked to run here");
        self.place(first, cells);
        on_level!(token, simd => self.collect(simd, true), simd => self.collect(simd, true));
        !self.near.clusters.is_empty()
    }

    fn brick_with<S: Simd, const SCALAR: bool>(&mut self, simd: S, first: [usize; 3]) -> bool {
        self.place(first, [SIDE; 3]);
        self.collect(simd, false);
        if self.near.clusters.is_empty() {
            return false;
        }
        self.found.squared.fill(f64::INFINITY);
        self.found.nearest.fill(NONE);
        self.list_all();
        let all = Part { low: [0; 3], high: self.near.cells };
        let mut hint =
            self.near.clusters.iter().position(|cluster| *cluster == self.hint).unwrap_or(0) as u32;
        self.part::<S, SCALAR>(simd, 0, all, first, &mut hint);
        if self.waiting.count > 0 {
            self.measure::<S, SCALAR>(simd);
        }
        self.hint = self.near.clusters[hint as usize];
        true
    }

    /// Goes to the brick, or larger box, of these cells.
    fn place(&mut self, first: [usize; 3], cells: [usize; 3]) {
        let Self { lattice, near, tree, .. } = self;
        let scale = tree.scale;
        for axis in 0..3 {
            let centres = &lattice.centres[axis];
            let end = centres.len().min(first[axis] + cells[axis]);
            let [low, high] = [centres[first[axis]], centres[end - 1]];
            let origin = ((low + high) / 2.0) as f32;
            near.origin[axis] = origin;
            let local = |centre: f64| ((centre - f64::from(origin)) * f64::from(scale)) as f32;
            near.cells[axis] = end - first[axis];
            // Of a larger box only the ends.
            near.centres[axis][SIDE - 1] = local(high);
            let inner = centres[first[axis]..end].iter().take(SIDE);
            near.centres[axis].iter_mut().zip(inner).for_each(|(to, centre)| *to = local(*centre));
            near.centres[axis][near.cells[axis].min(SIDE) - 1] = local(high);
        }
    }

    /// Finds the clusters that may be the nearest for a cell here; if `any`, one of them.
    fn collect<S: Simd>(&mut self, simd: S, any: bool) {
        simd.vectorize(
            #[inline(always)]
            || {
                let scale = self.tree.scale;
                let origin = self.near.origin.map(|origin| origin * scale);
                // Bounds are relative to the origin of space here: what differences of large numbers lose is added.
                let (mut low, mut high, mut half) = ([0.0; 3], [0.0; 3], 0.0);
                for axis in 0..3 {
                    let row = &self.near.centres[axis];
                    let [first, last] = [row[0], row[self.near.cells[axis].min(SIDE) - 1]];
                    let slack = f32::EPSILON * (origin[axis].abs() + last.abs());
                    (low[axis], high[axis]) = (origin[axis] + first - slack, origin[axis] + last + slack);
                    let reach = (origin[axis] - low[axis]).max(high[axis] - origin[axis]) + slack;
                    half += reach * reach;
                }
                let limit = (self.limit * f64::from(scale)) as f32;
                let limit = if limit.is_finite() {
                    limit
                } else {
                    // Of the cell in the middle no more than to the farthest corner of any cluster.
                    self.upper_bound(simd, origin) + half.sqrt()
                };
                let widened = limit * (1.0 + TREE_ERROR) + f32::MIN_POSITIVE;
                let most = widened * widened;
                self.near.clusters.clear();
                let Self { tree, near, .. } = self;
                visit(simd, tree, &mut near.clusters, any, [low, high], most);
            },
        )
    }

    /// An upper bound of the distance from a point to the nearest triangle, scaled.
    fn upper_bound<S: Simd>(&mut self, simd: S, point: [f32; 3]) -> f32 {
        simd.vectorize(
            #[inline(always)]
            || {
                let tree = self.tree;
                let mut most = f32::INFINITY;
                if self.hint != NONE {
                    let hint = self.hint as usize;
                    most = farthest(simd, &tree.levels[0][hint / LANES], point).as_array()[hint % LANES];
                }
                let mut stack = vec![(tree.levels.len() - 1, 0)];
                while let Some((level, group)) = stack.pop() {
                    let boxes = &tree.levels[level][group];
                    let far = farthest(simd, boxes, point);
                    // Bounds of nothing are infinitely far.
                    most = most.min(far.reduce_min());
                    if level == 0 {
                        continue;
                    }
                    let near = gaps(simd, boxes, [point; 2]).simd_le(most).to_bitmask();
                    let below = tree.levels[level - 1].len();
                    stack.extend(
                        bits_of(near)
                            .map(|lane| (level - 1, group * LANES + lane))
                            .filter(|(_, group)| *group < below),
                    );
                }
                most.sqrt() * (1.0 + TREE_ERROR) + f32::MIN_POSITIVE
            },
        )
    }

    /// Lists all clusters that were found, with their bounds relative to the brick, and what distances from there
    /// may be off by.
    fn list_all(&mut self) {
        let Self { tree, near, lists, .. } = self;
        let origin = near.origin.map(|origin| origin * tree.scale);
        let list = &mut lists[0];
        list.clear();
        let mut reach = [0.0_f32; 3];
        for (place, cluster) in near.clusters.iter().enumerate() {
            let group = &tree.levels[0][*cluster as usize / LANES];
            let bounds = [0, 1, 2, 3, 4, 5].map(|n| group[n][*cluster as usize % LANES] - origin[n % 3]);
            list.push(place as u32, bounds);
            for n in 0..6 {
                reach[n % 3] = reach[n % 3].max(bounds[n].abs());
            }
        }
        near.places.clear();
        near.places.resize(near.clusters.len(), NONE);
        near.frames.clear();
        near.has_unknown = false;
        let own: f32 = (0..3).map(|a| near.centres[a].iter().fold(0.0_f32, |r, c| r.max(c.abs()))).sum();
        near.error = ERROR * (reach.iter().sum::<f32>() + own);
        let limit = (self.limit * f64::from(tree.scale)) as f32;
        near.limit = wider(limit * limit, near.error);
    }

    /// Measures the cells of a part of the brick. The list of its depth has its clusters; `hint` is one near it.
    fn part<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        depth: usize,
        part: Part,
        first: [usize; 3],
        hint: &mut u32,
    ) {
        // Parts that wait, and the depths they are at.
        let mut waiting = vec![(depth, part)];
        while let Some((depth, part)) = waiting.pop() {
            let Part { low, high } = part;
            let size = [0, 1, 2].map(|a| high[a] - low[a]);
            let Some(list) = self.narrowed::<S, SCALAR>(simd, depth, part, hint) else { continue };
            let is_small = size.iter().all(|n| *n <= 2) || self.lists[list].places.len() <= FEW;
            if is_small || list == DEPTHS {
                self.cells::<S, SCALAR>(simd, list, part, first, hint);
                continue;
            }
            let middle = [0, 1, 2].map(|a| low[a] + size[a].div_ceil(2));
            for n in 0..8 {
                let is_high = |a: usize| n >> a & 1 == 1;
                let child = Part {
                    low: [0, 1, 2].map(|a| if is_high(a) { middle[a] } else { low[a] }),
                    high: [0, 1, 2].map(|a| if is_high(a) { high[a] } else { middle[a] }),
                };
                if (0..3).all(|a| child.low[a] < child.high[a]) {
                    waiting.push((list, child));
                }
            }
        }
    }

    /// The list of the clusters that may be the nearest for a cell of this part; `None` if all its cells are beyond
    /// the limit.
    fn narrowed<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        depth: usize,
        part: Part,
        hint: &mut u32,
    ) -> Option<usize> {
        simd.vectorize(
            #[inline(always)]
            || {
                let Self { tree, near, lists, .. } = self;
                let ends =
                    [0, 1, 2].map(|a| [near.centres[a][part.low[a]], near.centres[a][part.high[a] - 1]]);
                let centre = ends.map(|[low, high]| (low + high) / 2.0);
                let half = ends.map(|[low, high]| (high - low) / 2.0);
                let radius = (half[0] * half[0] + half[1] * half[1] + half[2] * half[2]).sqrt() * 1.000_001;
                let limit = near.limit.sqrt() * 1.000_001;
                let start = (limit + radius) * (limit + radius);
                let (from, to) = lists.split_at_mut(depth + 1);
                let from = &from[depth];
                let least = near.look::<S, SCALAR>(simd, tree, from, centre, start, hint);
                if least > start && !near.has_unknown {
                    return None;
                }
                let distance = wider(least, near.error).sqrt() * 1.000_001;
                let most = (distance + radius).min(limit);
                let most = wider(most * most, near.error);
                let narrow = &mut to[0];
                narrow.clear();
                let corners = [ends.map(|[low, _]| low), ends.map(|[_, high]| high)];
                for (n, boxes) in from.boxes.iter().enumerate() {
                    let far = gaps(simd, boxes, corners).simd_gt(most).to_bitmask();
                    let count = LANES.min(from.places.len() - n * LANES);
                    for lane in bits_of(!far & ((1 << count) - 1)) {
                        narrow.push(from.places[n * LANES + lane], boxes.map(|row| row[lane]));
                    }
                }
                Some(depth + 1)
            },
        )
    }

    /// Looks at each cell of a part, and lines up the triangles that may be its nearest.
    fn cells<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        list: usize,
        part: Part,
        first: [usize; 3],
        hint: &mut u32,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                for k in part.low[2]..part.high[2] {
                    for j in part.low[1]..part.high[1] {
                        for i in part.low[0]..part.high[0] {
                            let Self { tree, near, lists, .. } = self;
                            let point = [near.centres[0][i], near.centres[1][j], near.centres[2][k]];
                            let least =
                                near.look::<S, SCALAR>(simd, tree, &lists[list], point, near.limit, hint);
                            let most = wider(least, near.error).min(near.limit);
                            let cell = (k * SIDE + j) * SIDE + i;
                            let centre = [
                                self.lattice.centres[0][first[0] + i],
                                self.lattice.centres[1][first[1] + j],
                                self.lattice.centres[2][first[2] + k],
                            ];
                            for n in 0..self.near.seen.len() {
                                let (place, squared) = &self.near.seen[n];
                                let far = f32x16::from_slice(simd, squared).simd_gt(most).to_bitmask();
                                let cluster = self.near.clusters[*place as usize];
                                for lane in bits_of(!far & 0xffff) {
                                    self.waiting.push(self.tree, cluster, lane, cell, centre);
                                    if self.waiting.count == PAIRS {
                                        self.measure::<S, SCALAR>(simd);
                                    }
                                }
                            }
                        }
                    }
                }
            },
        )
    }

    /// Measures the pairs that wait.
    fn measure<S: Simd, const SCALAR: bool>(&mut self, simd: S) {
        let Self { waiting, found, .. } = self;
        let squared = if SCALAR { waiting.squared_one_by_one() } else { pairs::squared(simd, &waiting.rows) };
        for n in 0..waiting.count {
            let (cell, number) = (usize::from(waiting.cells[n]), waiting.numbers[n]);
            let best = (found.squared[cell], found.nearest[cell]);
            if squared[n] < best.0 || squared[n] == best.0 && number < best.1 {
                (found.squared[cell], found.nearest[cell]) = (squared[n], number);
            }
        }
        waiting.count = 0;
    }
}

impl Waiting {
    #[inline(always)]
    fn push(&mut self, tree: &TriangleTree, cluster: u32, lane: usize, cell: usize, centre: [f64; 3]) {
        let (cluster, n) = (&tree.clusters[cluster as usize], self.count);
        for axis in 0..3 {
            self.rows[axis][n] = centre[axis];
        }
        for row in 0..9 {
            self.rows[3 + row][n] = f64::from(cluster.vertices[row][lane]);
        }
        (self.cells[n], self.numbers[n]) = (cell as u16, cluster.numbers[lane]);
        self.count += 1;
    }
}

impl Waiting {
    /// What is measured of pairs, where there are no lanes.
    fn squared_one_by_one(&self) -> [f64; PAIRS] {
        std::array::from_fn(|lane| {
            let of = |n: usize| [self.rows[n][lane], self.rows[n + 1][lane], self.rows[n + 2][lane]];
            squared_distance(of(0), &[3, 6, 9].map(|n| of(n).map(|v| v as f32)))
        })
    }
}

impl LocalBrick {
    /// Measures the clusters of a list that may hold the nearest triangle to a point: they are what is then seen.
    /// The answer is the least squared distance, or infinity if all are above `start`.
    fn look<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        tree: &TriangleTree,
        list: &BoxList,
        point: [f32; 3],
        start: f32,
        hint: &mut u32,
    ) -> f32 {
        simd.vectorize(
            #[inline(always)]
            || {
                self.seen.clear();
                let mut least = f32::INFINITY;
                let first = *hint;
                self.see::<S, SCALAR>(simd, tree, first, point, &mut least, hint);
                let mut most = wider(least, self.error).min(start);
                for (n, boxes) in list.boxes.iter().enumerate() {
                    let squares = gaps(simd, boxes, [point; 2]);
                    let count = LANES.min(list.places.len() - n * LANES);
                    let near = !squares.simd_gt(most).to_bitmask() & ((1 << count) - 1);
                    if near == 0 {
                        continue;
                    }
                    let squares = *squares.as_array();
                    for lane in bits_of(near) {
                        let place = list.places[n * LANES + lane];
                        if squares[lane] > most || place == first {
                            continue;
                        }
                        self.see::<S, SCALAR>(simd, tree, place, point, &mut least, hint);
                        most = most.min(wider(least, self.error));
                    }
                }
                least
            },
        )
    }

    /// Measures one cluster.
    fn see<S: Simd, const SCALAR: bool>(
        &mut self,
        simd: S,
        tree: &TriangleTree,
        place: u32,
        point: [f32; 3],
        least: &mut f32,
        hint: &mut u32,
    ) {
        let cluster = &tree.clusters[self.clusters[place as usize] as usize];
        let (squared, nearest) = if SCALAR {
            self.squared_one_by_one(cluster, point, tree.scale)
        } else {
            simd.vectorize(
                #[inline(always)]
                || {
                    let slot = self.slot(simd, cluster, place, tree.scale);
                    let squared = frames::squared(simd, &self.frames[slot], point);
                    // What is no number is not counted: its distance is not known.
                    let most = f32x16::splat(simd, f32::INFINITY);
                    let known = squared.simd_lt(most).select(squared, most);
                    (*squared.as_array(), known.reduce_min())
                },
            )
        };
        if nearest < *least {
            (*least, *hint) = (nearest, place);
        }
        self.seen.push((place, squared));
    }

    /// The place of the frames of a cluster, which are made if they are not there.
    #[inline(always)]
    fn slot<S: Simd>(&mut self, simd: S, cluster: &Cluster, place: u32, scale: f32) -> usize {
        let slot = self.places[place as usize];
        if slot != NONE {
            return slot as usize;
        }
        let frames = frames::frames(simd, cluster, self.origin, scale);
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

    /// The same by the definition, where there are no lanes.
    fn squared_one_by_one(&self, cluster: &Cluster, point: [f32; 3], scale: f32) -> ([f32; LANES], f32) {
        let scale = f64::from(scale);
        let point = [0, 1, 2].map(|a| f64::from(self.origin[a]) + f64::from(point[a]) / scale);
        let squared = std::array::from_fn(|lane| {
            let distance = squared_distance(point, &cluster.triangle(lane)).sqrt() * scale;
            (distance * distance) as f32
        });
        (squared, squared.into_iter().fold(f32::INFINITY, f32::min))
    }
}

/// Collects the clusters whose bounds are near a box.
#[inline(always)]
fn visit<S: Simd>(
    simd: S,
    tree: &TriangleTree,
    found: &mut Vec<u32>,
    any: bool,
    corners: [[f32; 3]; 2],
    most: f32,
) {
    let mut stack = vec![(tree.levels.len() - 1, 0)];
    while let Some((level, group)) = stack.pop() {
        let far = gaps(simd, &tree.levels[level][group], corners).simd_gt(most).to_bitmask();
        let below = if level == 0 { tree.clusters.len() } else { tree.levels[level - 1].len() };
        let nodes = bits_of(!far & 0xffff).map(|lane| group * LANES + lane).filter(|node| *node < below);
        if level == 0 {
            found.extend(nodes.map(|cluster| cluster as u32));
            if any && !found.is_empty() {
                return;
            }
        } else {
            stack.extend(nodes.map(|node| (level - 1, node)));
        }
    }
}

/// A squared length, made larger by more than two errors of the length.
#[inline(always)]
fn wider(squared: f32, error: f32) -> f32 {
    squared * WIDER + SLACK * error * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Triangle;

    fn randoms(seed: u64) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32
        }
    }

    /// Triangles of about `size` within a cube of `extent`: compact ones, slivers, degenerate ones, some large.
    fn soup(count: usize, extent: f32, size: f32, seed: u64) -> Vec<Triangle> {
        let mut random = randoms(seed);
        let triangles = (0..count).map(|n| {
            let size = if n % 37 == 0 { extent } else { size };
            let a = [(); 3].map(|()| extent * random());
            let mut near = |of: [f32; 3], by: f32| of.map(|c| c + by * (random() - 0.5));
            let b = near(a, size);
            match n % 7 {
                0 => [a, b, a],
                1 => [a, a, a],
                2 => [a, near([0, 1, 2].map(|i| (a[i] + b[i]) / 2.0), 1e-5 * size), b],
                _ => [a, b, near(a, size)],
            }
        });
        triangles.collect()
    }

    /// Every cell of every brick against all triangles; how many cells have a value.
    fn check(triangles: &[Triangle], centres: [Vec<f64>; 3], limit: f64, level: Level) -> usize {
        let cell = centres[0][1] - centres[0][0];
        let (tree, lattice) = (TriangleTree::new(triangles, cell), CentreLattice { centres });
        let mut search = BrickSearch::new(&tree, &lattice, limit);
        let [nx, ny, nz] = lattice.centres.each_ref().map(Vec::len);
        let (mut valued, mut cells) = (0, 0);
        for (z, y, x) in (0..nz).step_by(SIDE).flat_map(|z| {
            (0..ny).step_by(SIDE).flat_map(move |y| (0..nx).step_by(SIDE).map(move |x| (z, y, x)))
        }) {
            let found = search.brick(level, [x, y, z]);
            for n in 0..CELLS {
                let at = [x + n % SIDE, y + n / SIDE % SIDE, z + n / SIDE / SIDE];
                if at[0] >= nx || at[1] >= ny || at[2] >= nz {
                    continue;
                }
                let point = [0, 1, 2].map(|a| lattice.centres[a][at[a]]);
                let of_all = triangles.iter().map(|triangle| squared_distance(point, triangle)).zip(0..);
                let best = of_all.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).unwrap();
                cells += 1;
                if best.0.sqrt() <= limit {
                    assert!(found, "{at:?}");
                    assert_eq!((search.found.squared[n], search.found.nearest[n]), best, "{at:?} {level:?}");
                    valued += 1;
                }
            }
        }
        assert_eq!(cells, nx * ny * nz);
        valued
    }

    fn axis(cells: usize, first: f64, spacing: f64) -> Vec<f64> {
        (0..cells).map(|n| first + spacing * n as f64).collect()
    }

    #[test]
    fn bricks_have_the_least_of_all_triangles_and_the_first_of_equals() {
        for level in Level::available() {
            for (count, size) in [(1, 1.0), (17, 8.0), (400, 2.0), (1500, 0.4)] {
                let triangles = soup(count, 16.0, size, count as u64);
                for limit in [0.7, 3.0, f64::INFINITY] {
                    let centres = [axis(19, -1.2, 1.0), axis(16, 0.3, 0.9), axis(9, 3.0, 1.1)];
                    let valued = check(&triangles, centres, limit, level);
                    assert!(count == 1 || valued > 10, "{count} {limit}");
                }
            }
        }
    }

    #[test]
    fn far_and_tiny_and_huge_meshes_have_their_distances() {
        for (scale, shift) in [(1e-30_f32, 0.0), (1e30, 0.0), (1.0, 1e5), (1e-3, 16_384.0)] {
            let triangles: Vec<_> = soup(120, 16.0, 2.0, 5)
                .into_iter()
                .map(|triangle| triangle.map(|v| v.map(|c| c * scale + shift)))
                .collect();
            let of = |first: f64| axis(11, first * f64::from(scale) + f64::from(shift), f64::from(scale));
            for limit in [2.5 * f64::from(scale), f64::INFINITY] {
                assert!(check(&triangles, [of(0.1), of(3.0), of(2.0)], limit, Level::best()) > 100);
            }
        }
        // One triangle larger than floats can square, one small.
        let triangles =
            [[[-2e38; 3], [2e38; 3], [2e38, -2e38, 0.0]], [[3.0; 3], [4.0, 3.0, 3.0], [3.0, 4.0, 3.0]]];
        let of = || axis(9, 0.0, 1.0);
        check(&triangles, [of(), of(), of()], 2.0, Level::best());
        check(&triangles, [of(), of(), of()], f64::INFINITY, Level::best());
    }

    #[test]
    fn a_sphere_seen_from_its_middle_has_all_triangles_at_about_one_distance() {
        let at = |u: usize, v: usize| {
            let (u, v) = (u as f32 / 60.0 * std::f32::consts::TAU, v as f32 / 40.0 * std::f32::consts::PI);
            [20.0 * u.cos() * v.sin(), 20.0 * u.sin() * v.sin(), 20.0 * v.cos()]
        };
        let corners = (0..40).flat_map(|v| (0..60).map(move |u| (u, v)));
        let triangles: Vec<_> = corners
            .flat_map(|(u, v)| {
                [[at(u, v), at(u + 1, v), at(u, v + 1)], [at(u + 1, v + 1), at(u, v + 1), at(u + 1, v)]]
            })
            .collect();
        let of = || axis(8, -3.5, 1.0);
        assert_eq!(check(&triangles, [of(), of(), of()], f64::INFINITY, Level::best()), CELLS);
    }
}
