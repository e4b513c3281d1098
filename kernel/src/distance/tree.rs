//! Triangles in clusters of sixteen, and a tree of the clusters' bounds, sixteen to a node.
//!
//! The order is that of Morton codes of the middles of their bounds, large triangles apart from small ones: a large
//! one would make the bounds of its neighbours useless. No result depends on the order.

use fearless_simd::{Simd, f32x16, prelude::*};

use crate::batch::LANES;
use crate::geom::{Bounds, Triangle};

/// Sixteen bounds: the lowest coordinates x, y, z, then the highest.
pub type BoxGroup = [[f32; LANES]; 6];

/// Bounds of nothing.
pub const NO_BOXES: BoxGroup = {
    let (low, high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    [low, low, low, high, high, high]
};

/// Sixteen triangles. The last cluster has its last triangle several times.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Nine coordinates, x, y, z of the first vertex first; the side between the first two is the longest.
    pub vertices: [[f32; LANES]; 9],
    /// Their numbers in the mesh.
    pub numbers: [u32; LANES],
}

/// The triangles of a mesh, to find those near a point.
#[derive(Debug, Clone)]
pub struct TriangleTree {
    pub(super) clusters: Vec<Cluster>,
    /// Groups of bounds, scaled: of clusters, of the groups of these, and so on up to one group.
    pub(super) levels: Vec<Vec<BoxGroup>>,
    /// A power of two that makes cells about as large as one.
    pub(super) scale: f32,
}

impl TriangleTree {
    /// The tree of these triangles, at least one, for cells of about this size.
    ///
    /// # Panics
    /// If there are none, or more than 2^32 - 1.
    pub fn new(triangles: &[Triangle], cell: f64) -> Self {
        assert!(!triangles.is_empty() && u32::try_from(triangles.len()).is_ok(), "triangles without numbers");
        let scale = (-(cell.log2().floor())).clamp(-126.0, 126.0).exp2() as f32;
        let mut order = order(triangles);
        let mut clusters = Vec::with_capacity(triangles.len().div_ceil(LANES) * 9 / 8);
        by_octants(triangles, &mut order, &mut clusters);
        let mut levels = vec![group(clusters.iter().map(|cluster| cluster.bounds(scale)))];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            levels.push(group(last.iter().map(bounds_of)));
        }
        Self { clusters, levels, scale }
    }

    /// The bytes it takes for so many triangles, with those that building takes.
    pub fn bytes_for(triangles: usize) -> u128 {
        // Patches are at least half full, and all but their last clusters are.
        let clusters = (triangles.div_ceil(LANES) + triangles.div_ceil(PATCH / 4)) as u128;
        let boxes = (clusters.div_ceil(LANES as u128) * size_of::<BoxGroup>() as u128) * 17 / 16;
        let order = 2 * triangles as u128 * size_of::<Keyed>() as u128;
        clusters * size_of::<Cluster>() as u128 + boxes + 2 * size_of::<BoxGroup>() as u128 + order
    }
}

impl Cluster {
    fn new(triangles: &[Triangle], numbers: &[Keyed]) -> Self {
        let mut cluster = Self { vertices: [[0.0; LANES]; 9], numbers: [0; LANES] };
        for lane in 0..LANES {
            let number = numbers[lane.min(numbers.len() - 1)].number;
            let [a, b, c] = longest_first(&triangles[number as usize]);
            for axis in 0..3 {
                cluster.vertices[axis][lane] = a[axis];
                cluster.vertices[3 + axis][lane] = b[axis];
                cluster.vertices[6 + axis][lane] = c[axis];
            }
            cluster.numbers[lane] = number;
        }
        cluster
    }

    /// The vertices of one triangle.
    pub fn triangle(&self, lane: usize) -> Triangle {
        let v = &self.vertices;
        [0, 3, 6].map(|n| [v[n][lane], v[n + 1][lane], v[n + 2][lane]])
    }

    /// Its scaled bounds.
    fn bounds(&self, scale: f32) -> [[f32; 3]; 2] {
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for (n, row) in self.vertices.iter().enumerate() {
            for v in row {
                bounds[0][n % 3] = bounds[0][n % 3].min(v * scale);
                bounds[1][n % 3] = bounds[1][n % 3].max(v * scale);
            }
        }
        bounds
    }
}

fn longest_first(&[a, b, c]: &Triangle) -> Triangle {
    let squared = |p: [f32; 3], q: [f32; 3]| {
        let [x, y, z] = [0, 1, 2].map(|n| f64::from(p[n]) - f64::from(q[n]));
        x * x + y * y + z * z
    };
    let (ab, bc, ca) = (squared(a, b), squared(b, c), squared(c, a));
    if ab >= bc && ab >= ca {
        [a, b, c]
    } else if bc >= ca {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// Triangles that are divided by their middles rather than by octants: enough to fill clusters.
const PATCH: usize = 16 * LANES;

/// Makes clusters of triangles in the order of their codes. None goes beyond an octant that has many: its bounds
/// would reach from one end of space to another, and be near to everything.
fn by_octants(triangles: &[Triangle], order: &mut [Keyed], clusters: &mut Vec<Cluster>) {
    let mut waiting = vec![(0, order.len())];
    while let Some((start, end)) = waiting.pop() {
        let keys = &mut order[start..end];
        let differ = keys[0].key ^ keys[keys.len() - 1].key;
        if keys.len() <= PATCH || differ == 0 {
            by_middles(triangles, keys, clusters);
            continue;
        }
        let bit = 1 << differ.ilog2();
        let middle = start + keys.partition_point(|keyed| keyed.key & bit == 0);
        waiting.push((middle, end));
        waiting.push((start, middle));
    }
}

/// Makes clusters of a patch: it is halved along the longest axis of its triangles' middles, again and again.
fn by_middles(triangles: &[Triangle], patch: &mut [Keyed], clusters: &mut Vec<Cluster>) {
    if patch.len() <= LANES {
        return clusters.push(Cluster::new(triangles, patch));
    }
    let middle = |keyed: &Keyed, axis: usize| {
        let [a, b, c] = triangles[keyed.number as usize].map(|vertex| vertex[axis]);
        a.min(b).min(c) / 2.0 + a.max(b).max(c) / 2.0
    };
    let extent = |axis: usize| {
        let ends = patch.iter().map(|keyed| middle(keyed, axis));
        let ends = ends.fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], m| [l.min(m), h.max(m)]);
        ends[1] - ends[0]
    };
    let extents = [0, 1, 2].map(extent);
    let axis = (0..3).max_by(|a, b| extents[*a].total_cmp(&extents[*b])).unwrap_or(0);
    let half = (patch.len() / 2).next_multiple_of(LANES);
    patch.select_nth_unstable_by(half, |a, b| middle(a, axis).total_cmp(&middle(b, axis)));
    let (low, high) = patch.split_at_mut(half);
    by_middles(triangles, low, clusters);
    by_middles(triangles, high, clusters);
}

/// Bounds in groups of sixteen.
fn group(bounds: impl ExactSizeIterator<Item = [[f32; 3]; 2]>) -> Vec<BoxGroup> {
    let mut groups = vec![NO_BOXES; bounds.len().div_ceil(LANES)];
    for (n, [low, high]) in bounds.enumerate() {
        for axis in 0..3 {
            groups[n / LANES][axis][n % LANES] = low[axis];
            groups[n / LANES][3 + axis][n % LANES] = high[axis];
        }
    }
    groups
}

fn bounds_of(group: &BoxGroup) -> [[f32; 3]; 2] {
    let least = |row: &[f32; LANES]| row.iter().copied().fold(f32::INFINITY, f32::min);
    let most = |row: &[f32; LANES]| row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    [[0, 1, 2].map(|n| least(&group[n])), [3, 4, 5].map(|n| most(&group[n]))]
}

/// The squared gaps between sixteen bounds and a box.
#[inline(always)]
pub fn gaps<S: Simd>(simd: S, boxes: &BoxGroup, [low, high]: [[f32; 3]; 2]) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let mut sum = zero;
    for axis in 0..3 {
        let below = f32x16::from_slice(simd, &boxes[axis]) - high[axis];
        let above = f32x16::splat(simd, low[axis]) - f32x16::from_slice(simd, &boxes[3 + axis]);
        let gap = below.max(above).max(zero);
        sum = gap.mul_add(gap, sum);
    }
    sum
}

/// The squared distances from a point to the farthest corners of sixteen bounds.
#[inline(always)]
pub fn farthest<S: Simd>(simd: S, boxes: &BoxGroup, point: [f32; 3]) -> f32x16<S> {
    let mut sum = f32x16::splat(simd, 0.0);
    for axis in 0..3 {
        let below = (f32x16::from_slice(simd, &boxes[axis]) - point[axis]).abs();
        let above = (f32x16::from_slice(simd, &boxes[3 + axis]) - point[axis]).abs();
        let far = below.max(above);
        sum = far.mul_add(far, sum);
    }
    sum
}

/// A triangle with its place in the order.
#[derive(Debug, Clone, Copy, Default)]
struct Keyed {
    key: u32,
    number: u32,
}

/// Bits of a key that one pass of the sort looks at.
const DIGIT: u32 = 11;

/// The triangles by their keys: a counting sort by each digit, the lowest first.
fn order(triangles: &[Triangle]) -> Vec<Keyed> {
    let bounds = Bounds::of(triangles);
    let extent = (0..3).map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a])).fold(0.0, f64::max);
    let scale = if extent > 0.0 { 1024.0 / extent } else { 0.0 };
    let key =
        |(n, triangle): (usize, &Triangle)| Keyed { key: key(triangle, &bounds, scale), number: n as u32 };
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

/// How large a triangle is in two bits, and the Morton code of the middle of its bounds in thirty.
fn key(triangle: &Triangle, bounds: &Bounds, scale: f64) -> u32 {
    let [a, b, c] = triangle;
    let (mut code, mut longest) = (0, 0.0_f64);
    for axis in 0..3 {
        let low = f64::from(a[axis].min(b[axis]).min(c[axis]));
        let high = f64::from(a[axis].max(b[axis]).max(c[axis]));
        longest = longest.max((high - low) * scale);
        let middle = ((low + high) / 2.0 - f64::from(bounds.min[axis])) * scale;
        code |= spread((middle as u32).min(1023)) << axis;
    }
    let size = [4.0, 32.0, 256.0].into_iter().filter(|least| longest > *least).count() as u32;
    size << 30 | code
}

/// Ten bits, two zeros after each.
fn spread(bits: u32) -> u32 {
    let bits = (bits | bits << 16) & 0x0300_00ff;
    let bits = (bits | bits << 8) & 0x0300_f00f;
    let bits = (bits | bits << 4) & 0x030c_30c3;
    (bits | bits << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_triangle_is_in_a_cluster_within_its_bounds() {
        let at = |n: usize| (n * 7919 % 1009) as f32;
        let corner = |n: usize| [at(n), at(n + 1), at(n + 2)];
        let triangles: Vec<_> =
            (0..3001).map(|n| [corner(n), corner(n).map(|c| c + 1.0), corner(5 * n)]).collect();
        let tree = TriangleTree::new(&triangles, 0.3);
        let mut seen = vec![0; triangles.len()];
        for (n, cluster) in tree.clusters.iter().enumerate() {
            let boxes = &tree.levels[0][n / LANES];
            for lane in 0..LANES {
                let triangle = cluster.triangle(lane);
                seen[cluster.numbers[lane] as usize] += 1;
                let mut sorted = [triangle, triangles[cluster.numbers[lane] as usize]];
                sorted.iter_mut().for_each(|t| t.sort_by(|a, b| a.partial_cmp(b).unwrap()));
                assert_eq!(sorted[0], sorted[1]);
                let within = |v: [f32; 3]| {
                    (0..3).all(|a| {
                        let v = v[a] * tree.scale;
                        boxes[a][n % LANES] <= v && v <= boxes[3 + a][n % LANES]
                    })
                };
                assert!(triangle.into_iter().all(within));
            }
        }
        assert!(seen.iter().all(|count| *count >= 1));
        assert!(tree.clusters.len() < 250, "{} clusters", tree.clusters.len());
        assert_eq!((tree.levels.len(), tree.levels[1].len(), tree.scale), (2, 1, 4.0));
    }

    #[test]
    fn bits_are_spread() {
        assert_eq!((spread(0b11), spread(1 << 9), spread(1023).count_ones()), (0b1001, 1 << 27, 10));
    }
}
