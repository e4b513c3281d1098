//! Search for the triangle nearest to each cell of a brick.

use fearless_simd::{Simd, prelude::*};

use super::blocks::{BLOCK, BlockClusters};
use super::cells::{CellLanes, ROUNDED, ball, square_beyond};
use super::centres::{CentreLattice, TieBreak};
use super::frames::{ERROR, FLOOR};
use super::near::{CELLS, ListedGroup, LocalBrick, NONE, SIDE, wider};
use super::order::clusters_for;
use super::oriented::gaps_to_oriented;
use super::pairs::{SquaredBrick, WaitingPairs};
use super::ties::NearestTriangles;
use super::tree::{TriangleTree, farthest, gaps};
use crate::bits::bits_of;
use crate::levels::{LANES, Level, on_level, rows, splats};

/// Number of times that lists of clusters are narrowed: once for a brick, and once for an eighth of it.
const DEPTHS: usize = 2;

/// A list with at most this number of groups of clusters is not narrowed.
const FEW: usize = 2;

/// Maximum of the count of consecutive bricks with many triangles. When it is reached, the search by single
/// triangles is tried only at every fourth brick.
const MOST_CROWDED: u32 = 2;

/// Rounding error of the bounds in the tree, relative to the coordinates.
const TREE_ERROR: f32 = 1.0 / (1 << 18) as f32;

/// Search for the nearest triangles of the cells of bricks.
pub struct BrickSearch<'a> {
    tree: &'a TriangleTree,
    lattice: &'a CentreLattice,
    /// Distances up to this limit must be found. Infinite if all distances must be found.
    limit: f64,
    /// Results of the last brick.
    pub found: SquaredBrick,
    near: LocalBrick,
    /// Clusters near a brick, clusters that may be the nearest to cells of the brick, and clusters that may
    /// be the nearest to cells of an eighth.
    lists: [Vec<ListedGroup>; DEPTHS + 1],
    few: CellLanes,
    blocks: BlockClusters,
    /// Number of consecutive bricks with many triangles near them (`crowded`), and number of bricks until the
    /// search by single triangles is tried again (`pause`).
    crowded: u32,
    pause: u32,
    waiting: WaitingPairs,
    /// Nearest triangles. `None` if they were not requested.
    nearest: Option<NearestTriangles<'a>>,
    /// A cluster near the last brick. [`NONE`] at the start.
    hint: u32,
}

/// Part of the cells of a brick, from `low` up to, but not including, `high`.
#[derive(Clone, Copy, Default)]
struct Part {
    low: [usize; 3],
    high: [usize; 3],
}

impl<'a> BrickSearch<'a> {
    /// Creates a search for distances up to `limit`. If `limit` is infinite, all distances are found.
    pub fn new(tree: &'a TriangleTree, lattice: &'a CentreLattice, limit: f64) -> Self {
        Self {
            tree,
            lattice,
            limit,
            found: SquaredBrick {
                squared: [f64::INFINITY; CELLS],
                nearest: [NONE; CELLS],
            },
            near: LocalBrick::default(),
            lists: Default::default(),
            few: CellLanes::default(),
            blocks: BlockClusters::default(),
            crowded: 0,
            pause: 0,
            waiting: WaitingPairs::default(),
            nearest: None,
            hint: NONE,
        }
    }

    /// Also finds the nearest triangles. `ties` selects one of several equally near triangles.
    #[must_use]
    pub fn with_nearest(self, ties: TieBreak) -> Self {
        Self {
            nearest: Some(NearestTriangles::new(self.tree, self.lattice, ties)),
            ..self
        }
    }

    /// Returns the maximum memory in bytes of a search for `triangles` triangles.
    pub fn bytes_for(triangles: usize) -> u128 {
        let clusters = clusters_for(triangles);
        // A list that grows takes up to twice the memory of its items.
        let lists = 2
            * (DEPTHS as u128 + 1)
            * clusters.div_ceil(LANES as u128)
            * size_of::<ListedGroup>() as u128;
        lists
            + LocalBrick::bytes_for(clusters)
            + BlockClusters::bytes_for(clusters)
            + CellLanes::bytes()
            + size_of::<Self>() as u128
    }

    /// Computes the distances from the cells of the brick that starts at `first`, and stores them in `found`.
    /// Returns `true` if a triangle may be near one of these cells.
    ///
    /// # Panics
    /// If the machine does not support the level.
    pub fn brick(&mut self, level: Level, first: [usize; 3]) -> bool {
        on_level!(level, simd => self.brick_with(simd, first))
    }

    /// Returns `true` if a triangle may be within the limit of a cell in a box. The box starts at `first` and
    /// has `cells` cells along each axis.
    ///
    /// # Panics
    /// If the machine does not support the level.
    pub fn is_near(&mut self, level: Level, first: [usize; 3], cells: [usize; 3]) -> bool {
        self.place(first, cells);
        on_level!(level, simd => self.collect(simd, true));
        !self.near.clusters.is_empty()
    }

    fn brick_with<S: Simd>(&mut self, simd: S, first: [usize; 3]) -> bool {
        self.place(first, [SIDE; 3]);
        self.collect(simd, false);
        if self.near.clusters.is_empty() {
            return false;
        }
        self.found.squared.fill(f64::INFINITY);
        let limit = (self.limit * f64::from(self.tree.scale)) as f32;
        self.near.list_all(self.tree, limit, &mut self.lists[0]);
        if let Some(nearest) = &mut self.nearest {
            nearest.place(first, self.near.reach);
        }
        self.parts(simd, first);
        self.waiting
            .measure(simd, &mut self.found, &mut self.nearest);
        if let Some(nearest) = &self.nearest {
            nearest.numbers(&mut self.found.nearest);
        }
        true
    }

    /// Moves the search to the box of `cells` cells along each axis from `first` on. It is a brick or larger.
    fn place(&mut self, first: [usize; 3], cells: [usize; 3]) {
        let Self {
            lattice,
            near,
            tree,
            ..
        } = self;
        let scale = tree.scale;
        for axis in 0..3 {
            let centres = &lattice.centres[axis];
            let end = centres.len().min(first[axis] + cells[axis]);
            let [low, high] = [centres[first[axis]], centres[end - 1]];
            let origin = (((low + high) / 2.0) as f32).clamp(f32::MIN, f32::MAX);
            near.origin[axis] = origin;
            let local = |centre: f64| ((centre - f64::from(origin)) * f64::from(scale)) as f32;
            near.cells[axis] = end - first[axis];
            // Only the ends are needed for a box larger than a brick.
            near.centres[axis][SIDE - 1] = local(high);
            let inner = centres[first[axis]..end].iter().take(SIDE);
            for (to, centre) in near.centres[axis].iter_mut().zip(inner) {
                *to = local(*centre);
            }
            near.centres[axis][near.cells[axis].min(SIDE) - 1] = local(high);
        }
    }

    /// Finds the clusters that may be the nearest to a cell of the current brick. If `any` is true, stops at
    /// the first group with such clusters.
    fn collect<S: Simd>(&mut self, simd: S, any: bool) {
        simd.vectorize(
            #[inline(always)]
            || {
                let scale = self.tree.scale;
                let origin = self.near.origin.map(|origin| origin * scale);
                // Bounds are relative to the origin of space here. The slack exceeds the rounding errors of
                // these large coordinates.
                let mut low = [0.0; 3];
                let mut high = [0.0; 3];
                let [mut half, mut sizes] = [0.0, 0.0];
                for axis in 0..3 {
                    let row = &self.near.centres[axis];
                    let [first, last] = [row[0], row[self.near.cells[axis].min(SIDE) - 1]];
                    let slack =
                        4.0 * f32::EPSILON * (origin[axis].abs() + first.abs() + last.abs());
                    (low[axis], high[axis]) =
                        (origin[axis] + first - slack, origin[axis] + last + slack);
                    let reach = (origin[axis] - low[axis]).max(high[axis] - origin[axis]) + slack;
                    half += reach * reach;
                    let [below, above] =
                        [0, 3].map(|n| (self.tree.bounds[n + axis] - origin[axis]).abs());
                    sizes += below.max(above) + reach; // This is T of docs/internals/distance.md.
                }
                let limit = (self.limit * f64::from(scale)) as f32;
                let limit = if limit.is_finite() {
                    limit
                } else {
                    // Some triangle is at most as far from the middle as the farthest corner of any cluster's
                    // box.
                    self.upper_bound(simd, origin) + half.sqrt()
                };
                let widened = limit * (1.0 + TREE_ERROR) + 2.0 * FLOOR;
                let from_middle = (widened + half.sqrt()) * (1.0 + TREE_ERROR) + ERROR * sizes;
                let most = [widened * widened, from_middle * from_middle];
                self.near.clusters.clear();
                let Self { tree, near, .. } = self;
                visit(
                    simd,
                    tree,
                    &mut near.clusters,
                    any,
                    [low, high],
                    origin,
                    most,
                );
            },
        )
    }

    /// Returns an upper bound of the scaled distance from a point to the nearest triangle.
    fn upper_bound<S: Simd>(&mut self, simd: S, point: [f32; 3]) -> f32 {
        simd.vectorize(
            #[inline(always)]
            || {
                let tree = self.tree;
                let mut most = f32::INFINITY;
                if self.hint != NONE {
                    let hint = self.hint as usize;
                    most = farthest(simd, &tree.levels[0][hint / LANES], point).as_array()
                        [hint % LANES];
                }
                let mut stack = vec![(tree.levels.len() - 1, 0)];
                while let Some((level, group)) = stack.pop() {
                    let boxes = &tree.levels[level][group];
                    let far = farthest(simd, boxes, point);
                    // Lanes without boxes are infinitely far.
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
                most.sqrt() * (1.0 + TREE_ERROR) + FLOOR
            },
        )
    }

    /// Computes the distances from the cells of the brick. The first list has the clusters near the brick.
    fn parts<S: Simd>(&mut self, simd: S, first: [usize; 3]) {
        let all = Part {
            low: [0; 3],
            high: self.near.cells,
        };
        let Some(list) = self.narrowed(simd, 0, all) else {
            return;
        };
        if self.few(simd, list, first) {
            return;
        }
        for part in all.cut([SIDE / 2; 3]) {
            let Some(list) = self.narrowed(simd, list, part) else {
                continue;
            };
            for block in part.cut(BLOCK) {
                self.block(simd, list, block, first);
            }
        }
    }

    /// Measures the distance from the cells of the brick to each triangle of the list in turn. Returns
    /// `false`, with nothing measured, if too many triangles are near or the search is paused.
    fn few<S: Simd>(&mut self, simd: S, list: usize, first: [usize; 3]) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        simd.vectorize(
            #[inline(always)]
            || {
                let Self {
                    tree,
                    lattice,
                    near,
                    lists,
                    few,
                    waiting,
                    found,
                    nearest,
                    ..
                } = self;
                if !few.list(simd, near, tree, &lists[list]) {
                    // The neighbours of a brick with many triangles usually have many triangles too, so the
                    // search is paused.
                    self.crowded = MOST_CROWDED.min(self.crowded + 1);
                    self.pause = (1 << self.crowded) - 1;
                    return false;
                }
                self.crowded = 0;
                few.look(simd, near, |cell, place| {
                    let at = [cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE];
                    let centre = [0, 1, 2].map(|a| lattice.centres[a][first[a] + at[a]]);
                    if waiting.push(tree, place, cell, centre) {
                        waiting.measure(simd, found, nearest);
                    }
                });
                self.hint = few.hint().unwrap_or(self.hint);
                true
            },
        )
    }

    /// Narrows a list to the clusters that may be the nearest to a cell of a part. Returns the index of the
    /// narrowed list. `None` if no cluster is near.
    fn narrowed<S: Simd>(&mut self, simd: S, list: usize, part: Part) -> Option<usize> {
        if self.lists[list].len() <= FEW {
            return Some(list);
        }
        let corners = self.near.corners(part.low, part.high);
        let reach = self.reach(simd, list, corners)?;
        let (from, to) = self.lists.split_at_mut(list + 1);
        self.near.narrow(
            simd,
            &from[list],
            corners,
            wider(reach * reach, self.near.error),
            &mut to[0],
        );
        Some(list + 1)
    }

    /// Returns an upper bound of the distance to the nearest triangle that is valid for all points of a box.
    /// It is computed from the distance of its middle to the clusters of a list. `None` if all triangles are
    /// beyond the limit.
    fn reach<S: Simd>(&mut self, simd: S, list: usize, corners: [[f32; 3]; 2]) -> Option<f32> {
        let Self {
            tree, near, lists, ..
        } = self;
        let limit = near.limit.sqrt() * ROUNDED;
        let (middle, radius) = ball(corners);
        let start = (limit + radius) * (limit + radius);
        let least = near.look(simd, tree, &lists[list], middle, start);
        if least > start && !near.has_unknown {
            return None;
        }
        Some((wider(least, near.error).sqrt() * ROUNDED + radius).min(limit))
    }

    /// Computes the distances from the cells of a block to the clusters of a list that may be the nearest.
    fn block<S: Simd>(&mut self, simd: S, list: usize, block: Part, first: [usize; 3]) {
        let corners = self.near.corners(block.low, block.high);
        let Some(reach) = self.reach(simd, list, corners) else {
            return;
        };
        let Self {
            tree,
            lattice,
            near,
            lists,
            blocks,
            waiting,
            found,
            nearest,
            hint,
            ..
        } = self;
        let (_, radius) = ball(corners);
        let most = square_beyond(reach, radius, near.error);
        near.within(simd, &lists[list], most, &mut blocks.places);
        let last = blocks.look(simd, near, tree, block.low, |cell, place| {
            let at = [cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE];
            let centre = [0, 1, 2].map(|a| lattice.centres[a][first[a] + at[a]]);
            if waiting.push(tree, place, cell, centre) {
                waiting.measure(simd, found, nearest);
            }
        });
        *hint = last.unwrap_or(*hint);
    }
}

impl Part {
    /// Divides the part into parts of this size. The parts at the end may be smaller.
    fn cut(self, size: [usize; 3]) -> impl Iterator<Item = Self> {
        let Self { low, high } = self;
        let starts = move |axis: usize| (low[axis]..high[axis]).step_by(size[axis]);
        starts(2).flat_map(move |z| {
            starts(1).flat_map(move |y| {
                starts(0).map(move |x| {
                    let low = [x, y, z];
                    Self {
                        low,
                        high: [0, 1, 2].map(|a| high[a].min(low[a] + size[a])),
                    }
                })
            })
        })
    }
}

/// Collects the clusters whose bounding boxes are near a box and whose oriented boxes are near its middle.
#[inline(always)]
fn visit<S: Simd>(
    simd: S,
    tree: &TriangleTree,
    found: &mut Vec<u32>,
    any: bool,
    corners: [[f32; 3]; 2],
    middle: [f32; 3],
    [most, from_middle]: [f32; 2],
) {
    let middle = splats(simd)(middle);
    let mut stack = vec![(tree.levels.len() - 1, 0)];
    while let Some((level, group)) = stack.pop() {
        let mut far = gaps(simd, &tree.levels[level][group], corners)
            .simd_gt(most)
            .to_bitmask()
            | !0xffff;
        if level == 0 && far != !0 {
            let oriented = gaps_to_oriented(simd, rows(simd, &tree.oriented[group]), middle);
            far |= oriented.simd_gt(from_middle).to_bitmask();
        }
        let below = if level == 0 {
            tree.clusters.len()
        } else {
            tree.levels[level - 1].len()
        };
        let nodes = bits_of(!far)
            .map(|lane| group * LANES + lane)
            .filter(|node| *node < below);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::distance::squared_distance;
    use crate::geom::{Rational, Triangle};
    use crate::random::Random;

    /// Returns random triangles of about `size` within a cube of `extent`. Some are compact, some are
    /// slivers, some have no area, and some are large.
    fn soup(count: usize, extent: f32, size: f32, seed: u64) -> Vec<Triangle> {
        let mut random = Random::new(seed);
        let triangles = (0..count).map(|n| {
            let size = if n % 37 == 0 { extent } else { size };
            let a = [(); 3].map(|()| extent * random.unit());
            let mut near = |of: [f32; 3], by: f32| of.map(|c| c + by * (random.unit() - 0.5));
            let b = near(a, size);
            match n % 7 {
                0 => [a, b, a],
                1 => [a, a, a],
                2 => [
                    a,
                    near([0, 1, 2].map(|i| (a[i] + b[i]) / 2.0), 1e-5 * size),
                    b,
                ],
                _ => [a, b, near(a, size)],
            }
        });
        triangles.collect()
    }

    /// Compares the result for every cell of every brick with the distances of all triangles. Returns the
    /// number of cells with a value.
    fn check(triangles: &[Triangle], axes: [Axis; 3], limit: f64, level: Level) -> usize {
        check_by(TieBreak::InnerSide, triangles, axes, limit, level);
        check_by(TieBreak::Number, triangles, axes, limit, level)
    }

    /// Compares the results of one tie-break.
    fn check_by(
        ties: TieBreak,
        triangles: &[Triangle],
        axes: [Axis; 3],
        limit: f64,
        level: Level,
    ) -> usize {
        let tree = TriangleTree::of(triangles, axes[0].1);
        let lattice = lattice(axes);
        let mut search = BrickSearch::new(&tree, &lattice, limit).with_nearest(ties);
        let [nx, ny, nz] = lattice.centres.each_ref().map(Vec::len);
        let coordinates = triangles
            .iter()
            .flatten()
            .flatten()
            .map(|c| f64::from(c.abs()));
        let reach = coordinates
            .chain(lattice.centres.iter().flatten().map(|c| c.abs()))
            .fold(0.0, f64::max);
        let mut valued = 0;
        let mut cells = 0;
        for (z, y, x) in (0..nz).step_by(SIDE).flat_map(|z| {
            (0..ny)
                .step_by(SIDE)
                .flat_map(move |y| (0..nx).step_by(SIDE).map(move |x| (z, y, x)))
        }) {
            let found = search.brick(level, [x, y, z]);
            for n in 0..CELLS {
                let at = [x + n % SIDE, y + n / SIDE % SIDE, z + n / SIDE / SIDE];
                if at[0] >= nx || at[1] >= ny || at[2] >= nz {
                    continue;
                }
                let point = [0, 1, 2].map(|a| lattice.centres[a][at[a]]);
                let of_all = || {
                    triangles
                        .iter()
                        .map(|triangle| squared_distance(point, triangle))
                };
                let best = of_all().fold(f64::INFINITY, f64::min);
                cells += 1;
                if best.sqrt() <= limit {
                    // The nearest triangle by exact comparison of all candidates.
                    let most = best.sqrt() * (1.0 + 1e-9) + 1e-13 * reach;
                    let may_be = of_all()
                        .zip(0_u32..)
                        .filter(|(squared, _)| squared.sqrt() <= most);
                    let first = may_be.map(|(_, number)| number).reduce(|first, number| {
                        let both = [first, number].map(|number| &triangles[number as usize]);
                        if lattice.nearer(at, both, ties).is_le() {
                            first
                        } else {
                            number
                        }
                    });
                    assert!(found, "{at:?}");
                    let found = (search.found.squared[n], search.found.nearest[n]);
                    assert_eq!(found, (best, first.unwrap()), "{at:?} {level:?}");
                    valued += 1;
                }
            }
        }
        assert_eq!(cells, nx * ny * nz);
        valued
    }

    /// First centre, step between neighbouring centres, and number of centres.
    type Axis = (f64, f64, usize);

    fn axis(cells: usize, first: f64, spacing: f64) -> Axis {
        (first, spacing, cells)
    }

    fn lattice(axes: [Axis; 3]) -> CentreLattice {
        let exact = |value: f64| Rational::from_f64(value).unwrap();
        CentreLattice::new(axes.map(|(first, step, cells)| (exact(first), exact(step), cells)))
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
            let of = |first: f64| {
                axis(
                    11,
                    first * f64::from(scale) + f64::from(shift),
                    f64::from(scale),
                )
            };
            for limit in [2.5 * f64::from(scale), f64::INFINITY] {
                assert!(
                    check(
                        &triangles,
                        [of(0.1), of(3.0), of(2.0)],
                        limit,
                        Level::best()
                    ) > 100
                );
            }
        }
        // One triangle is so large that floats cannot hold its squares, and one is small.
        let triangles = [
            [[-2e38; 3], [2e38; 3], [2e38, -2e38, 0.0]],
            [[3.0; 3], [4.0, 3.0, 3.0], [3.0, 4.0, 3.0]],
        ];
        let of = || axis(9, 0.0, 1.0);
        check(&triangles, [of(), of(), of()], 2.0, Level::best());
        check(&triangles, [of(), of(), of()], f64::INFINITY, Level::best());
    }

    #[test]
    fn a_sphere_seen_from_its_middle_has_all_triangles_at_about_one_distance() {
        let at = |u: usize, v: usize| {
            let u = u as f32 / 60.0 * std::f32::consts::TAU;
            let v = v as f32 / 40.0 * std::f32::consts::PI;
            [
                20.0 * u.cos() * v.sin(),
                20.0 * u.sin() * v.sin(),
                20.0 * v.cos(),
            ]
        };
        let corners = (0..40).flat_map(|v| (0..60).map(move |u| (u, v)));
        let triangles: Vec<_> = corners
            .flat_map(|(u, v)| {
                [
                    [at(u, v), at(u + 1, v), at(u, v + 1)],
                    [at(u + 1, v + 1), at(u, v + 1), at(u + 1, v)],
                ]
            })
            .collect();
        let of = || axis(8, -3.5, 1.0);
        assert_eq!(
            check(&triangles, [of(), of(), of()], f64::INFINITY, Level::best()),
            CELLS
        );
    }
}
