//! Sums over the edges of triangles. They are zero if the edges cancel, so one pass without sorting decides
//! whether a mesh is closed and oriented. The same pass computes the volume and the extents of the triangles.
//!
//! Every vertex has three hashes `a`, `b`, `c` of 32 bits: its coordinates, mixed by random keys until each
//! hash depends on all coordinates. A directed edge from `u` to `v` contributes `a(u) b(v) − a(v) b(u)`
//! modulo 2³², and likewise with `b, c` and `c, a`. The reverse edge contributes the opposite, and an edge of
//! length zero contributes nothing. The sum over a triangle is a determinant of differences. For the second
//! kind of sum, an edge of either direction contributes `(a(u) − a(v)) (b(u) − b(v))`, and likewise with the
//! other pairs. Combined by exclusive or, these contributions are zero if every edge occurs an even number of
//! times.
//!
//! The probability that the sums are zero although the edges do not cancel is 2⁻⁶³, for any mesh that was
//! made without knowledge of the keys (docs/internals/testing.md). If directed edges occur 2ᵗ times more
//! often than their reverses, the probability is 2⁻⁶³⁺²ᵗ. Therefore a further sum uses the upper bits of `a`
//! and `b` as ordinary integers. Such a factor does not bring this sum closer to zero.

use fearless_simd::{Simd, f32x16, f64x8, prelude::*, u32x16};

use crate::gather::{Vertices, gather};
use crate::geom::Triangle;
use crate::levels::{LANES, Level, on_level};

/// Sums over triangles. The sums of hashes depend neither on the order of the triangles nor on the rotation
/// of their corners.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EdgeSums {
    /// Sum over directed edges.
    directed: [u32; 3],
    /// Sum over directed edges of the upper bits of the first two hashes, as an ordinary integer.
    upper: i64,
    /// Exclusive or over undirected edges.
    parity: [u32; 3],
    /// Sum over triangles. It is zero if each triangle occurs equally often in both orientations.
    triangles: u32,
    /// Six times the signed volume between the triangles and a point. The volumes are summed in doubles in
    /// the order of the triangles.
    pub six_volumes: f64,
    /// Sums over the triangles of extent along y times extent along z, of the extent along y, and of the
    /// extent along z.
    pub extents: [f64; 3],
}

impl EdgeSums {
    /// Returns the sums over these triangles. `from` is the point for the volumes.
    pub fn of(level: Level, triangles: &[Triangle], from: &[f64; 3], keys: &EdgeKeys) -> Self {
        on_level!(level, simd => in_lanes(simd, triangles, from, keys))
    }

    /// Returns the sums over both lists of triangles together.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            directed: std::array::from_fn(|n| self.directed[n].wrapping_add(other.directed[n])),
            upper: self.upper.wrapping_add(other.upper),
            parity: std::array::from_fn(|n| self.parity[n] ^ other.parity[n]),
            triangles: self.triangles.wrapping_add(other.triangles),
            six_volumes: self.six_volumes + other.six_volumes,
            extents: std::array::from_fn(|n| self.extents[n] + other.extents[n]),
        }
    }

    /// Returns `true` if every directed edge is cancelled by its reverse. `false` is certain, and `true` is
    /// almost certain.
    pub fn are_oriented(&self) -> bool {
        self.directed == [0; 3] && self.upper == 0
    }

    /// Returns `true` if every edge occurs an even number of times. `false` is certain, and `true` is almost
    /// certain.
    pub fn are_closed(&self) -> bool {
        self.parity == [0; 3]
    }

    /// Returns `true` if every triangle may occur equally often in both orientations. `false` is certain.
    /// `true` is wrong for one in 2³² meshes.
    pub fn may_be_two_sided(&self) -> bool {
        self.triangles == 0
    }
}

/// Three hashes of one vertex of each of sixteen triangles.
type VertexHashes<S> = [u32x16<S>; 3];

/// Number of bits by which each mixing step shifts.
const SHIFTS: [u32; STEPS] = [16, 15, 13, 14, 16, 15, 13, 16, 14];

/// Number of mixing steps. There are three for each of three words.
const STEPS: usize = 9;

/// Random numbers that determine the hashes of vertices. Sums may be combined only if they have the same
/// keys.
#[derive(Debug, Clone, Copy)]
pub struct EdgeKeys {
    /// Offsets added to the bits of x, y and z.
    offsets: [u32; 3],
    /// Odd factors of the mixing steps.
    factors: [u32; STEPS],
}

impl EdgeKeys {
    /// Creates keys from random bits.
    pub fn new(random: [u64; 6]) -> Self {
        Self {
            offsets: std::array::from_fn(|n| half(&random, n)),
            factors: std::array::from_fn(|n| half(&random, n + 3) | 1),
        }
    }
}

/// Returns half `n` of the words. Each word has a lower and an upper half.
fn half(words: &[u64; 6], n: usize) -> u32 {
    (words[n / 2] >> (n % 2 * 32)) as u32
}

/// Keys copied into all lanes: the offsets, then the factors.
type KeyLanes<S> = [u32x16<S>; 3 + STEPS];

/// Maximum number of triangles whose sums of upper bits surely do not exceed 32 bits.
const TOGETHER: usize = LANES << 12;

/// Offset that makes a determinant positive.
const HALF: i64 = 1 << 31;

#[inline(always)]
fn in_lanes<S: Simd>(
    simd: S,
    triangles: &[Triangle],
    from: &[f64; 3],
    keys: &EdgeKeys,
) -> EdgeSums {
    let mut lanes = [u32x16::splat(simd, 0); 3 + STEPS];
    for (lanes, key) in lanes
        .iter_mut()
        .zip(keys.offsets.iter().chain(&keys.factors))
    {
        *lanes = u32x16::splat(simd, *key);
    }
    let mut sums = EdgeSums::default();
    for triangles in triangles.chunks(TOGETHER) {
        add_triangles(simd, triangles, from, &lanes, &mut sums);
    }
    sums
}

/// Adds triangles to the sums, sixteen at a time.
#[inline(always)]
fn add_triangles<S: Simd>(
    simd: S,
    triangles: &[Triangle],
    from: &[f64; 3],
    keys: &KeyLanes<S>,
    sums: &mut EdgeSums,
) {
    let zero = u32x16::splat(simd, 0);
    let mut directed = [zero; 3];
    let mut upper = [zero; 2];
    let mut parity = [zero; 3];
    let mut both = zero;
    let mut six_volumes = sums.six_volumes;
    let mut extents = sums.extents;
    // Missing triangles of the last group are points, which contribute nothing.
    let mut last = [[[0.0; 3]; 3]; LANES];
    for first in (0..triangles.len()).step_by(LANES) {
        let count = LANES.min(triangles.len() - first);
        let mut some = &triangles[first..];
        if count < LANES {
            last[..count].copy_from_slice(some);
            some = &last;
        }
        let vertices = gather(simd, some);
        let [u, v, w] = [0, 1, 2].map(|corner| hashes(simd, &vertices, corner, keys));
        add_edges(simd, &[u, v, w], &mut directed, &mut parity, &mut both);
        add_upper(simd, &[u, v, w], &mut upper);
        let volumes = volumes(simd, &vertices, from);
        let [y, z] = [extent(&vertices[1]), extent(&vertices[2])];
        for lane in 0..count {
            six_volumes += volumes[lane];
            extents[0] += y[lane] * z[lane];
            extents[1] += y[lane];
            extents[2] += z[lane];
        }
    }
    (sums.six_volumes, sums.extents) = (six_volumes, extents);
    let batches = triangles.len().div_ceil(LANES) as i64;
    for lane in 0..LANES {
        for n in 0..3 {
            sums.directed[n] = sums.directed[n].wrapping_add(directed[n][lane]);
            sums.parity[n] ^= parity[n][lane];
        }
        let upper = i64::from(upper[0][lane]) + (i64::from(upper[1][lane]) << 16);
        sums.upper = sums.upper.wrapping_add(upper - batches * HALF);
        sums.triangles = sums.triangles.wrapping_add(both[lane]);
    }
}

/// Returns the hashes of corner number `corner` of sixteen triangles.
#[inline(always)]
fn hashes<S: Simd>(
    simd: S,
    vertices: &Vertices<S>,
    corner: usize,
    keys: &KeyLanes<S>,
) -> VertexHashes<S> {
    let zero = f32x16::splat(simd, 0.0);
    let mut words = [u32x16::splat(simd, 0); 3];
    for axis in 0..3 {
        // Adding 0 turns −0 into 0.
        let bits: u32x16<S> = (vertices[axis][corner] + zero).bitcast();
        words[axis] = bits + keys[axis];
    }
    // The shift moves upper bits down, and the multiplication moves lower bits up. Each word is mixed into
    // the next one.
    for n in 0..STEPS {
        let word = words[n % 3] + words[(n + 2) % 3];
        words[n % 3] = (word ^ (word >> SHIFTS[n])) * keys[3 + n];
    }
    for word in &mut words {
        *word ^= *word >> 16;
    }
    words
}

/// Adds the contributions of sixteen triangles and of their edges. The arguments are the hashes of the first,
/// second and third corners.
#[inline(always)]
fn add_edges<S: Simd>(
    simd: S,
    [u, v, w]: &[VertexHashes<S>; 3],
    directed: &mut [u32x16<S>; 3],
    parity: &mut [u32x16<S>; 3],
    triangles: &mut u32x16<S>,
) {
    let mut sides = [u32x16::splat(simd, 0); 3];
    for n in 0..3 {
        let m = (n + 1) % 3;
        let [a1, a2, b1, b2] = [v[n] - u[n], w[n] - u[n], v[m] - u[m], w[m] - u[m]];
        let [p11, p12, p21, p22] = [a1 * b1, a1 * b2, a2 * b1, a2 * b2];
        sides[n] = p12 - p21;
        directed[n] += sides[n];
        // The last term is (a2 − a1) (b2 − b1), the contribution of the edge between the second and third
        // corners.
        parity[n] ^= p11 ^ p22 ^ ((p11 + p22) - (p12 + p21));
    }
    // A rotation of the corners does not change this product, and a reversal negates it.
    *triangles += sides[0] * (u[2] + v[2] + w[2]);
}

/// Adds the contributions of the edges of sixteen triangles to the sums of upper bits. Each contribution is
/// increased by [`HALF`], and its lower and upper 16 bits are summed separately.
#[inline(always)]
fn add_upper<S: Simd>(simd: S, corners: &[VertexHashes<S>; 3], upper: &mut [u32x16<S>; 2]) {
    // The absolute value of a determinant of 15-bit numbers is below 2³¹.
    let [[a, b], [c, d], [e, f]] = corners.map(|hashes| [hashes[0] >> 17, hashes[1] >> 17]);
    let determinant = (c - a) * (f - b) - (e - a) * (d - b) + u32x16::splat(simd, HALF as u32);
    upper[0] += determinant & u32x16::splat(simd, 0xffff);
    upper[1] += determinant >> 16;
}

/// Returns six times the signed volumes of the tetrahedra between triangles and a point.
#[inline(always)]
fn volumes<S: Simd>(simd: S, vertices: &Vertices<S>, from: &[f64; 3]) -> [f64; LANES] {
    let mut corners = [[[f64x8::splat(simd, 0.0); 3]; 3]; 2];
    for axis in 0..3 {
        let from = f64x8::splat(simd, from[axis]);
        for corner in 0..3 {
            let (low, high) = vertices[axis][corner].widen();
            corners[0][corner][axis] = low - from;
            corners[1][corner][axis] = high - from;
        }
    }
    let mut found = [0.0; LANES];
    for half in 0..2 {
        let [a, b, c] = corners[half];
        let volumes = a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        volumes.store_slice(&mut found[half * LANES / 2..][..LANES / 2]);
    }
    found
}

/// Returns the extents of triangles along an axis.
#[inline(always)]
fn extent<S: Simd>([p, q, r]: &[f32x16<S>; 3]) -> [f64; LANES] {
    let low = p.min(*q).min(*r).widen();
    let high = p.max(*q).max(*r).widen();
    let mut found = [0.0; LANES];
    (high.0 - low.0).store_slice(&mut found[..LANES / 2]);
    (high.1 - low.1).store_slice(&mut found[LANES / 2..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns random triangles with few different vertices, so that edges and triangles repeat in both
    /// directions.
    fn soup(count: usize, values: u64, seed: u64) -> Vec<Triangle> {
        let mut random = Random::new(seed);
        let mut coordinate = || random.below(values) as f32 - 2.0;
        (0..count)
            .map(|_| [(); 3].map(|()| [coordinate(), coordinate(), 0.25]))
            .collect()
    }

    fn sums(level: Level, triangles: &[Triangle]) -> EdgeSums {
        EdgeSums::of(level, triangles, &[0.5, -0.25, 0.0], &keys(0))
    }

    /// Returns keys derived from a seed.
    fn keys(seed: u64) -> EdgeKeys {
        let mut random = Random::new(seed);
        EdgeKeys::new(std::array::from_fn(|_| random.next()))
    }

    #[test]
    fn levels_agree() {
        for count in [0, 1, 15, 16, 17, 100] {
            let triangles = soup(count, 50, 1);
            let wanted = sums(Level::Scalar, &triangles);
            for level in Level::available() {
                assert_eq!(
                    sums(level, &triangles),
                    wanted,
                    "{count} at {}",
                    level.name()
                );
            }
        }
    }

    #[test]
    fn volumes_and_extents_are_added_one_after_the_other() {
        let triangles = soup(37, 1000, 2);
        let from = [0.5, -0.25, 0.0];
        let mut wanted = EdgeSums::default();
        for triangle in &triangles {
            let [a, b, c] = triangle.map(|v| [0, 1, 2].map(|i| f64::from(v[i]) - from[i]));
            wanted.six_volumes += a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0]);
            let extent = |axis: usize| {
                let along = triangle.map(|v| f64::from(v[axis]));
                along.into_iter().fold(f64::MIN, f64::max)
                    - along.into_iter().fold(f64::MAX, f64::min)
            };
            let y = extent(1);
            let z = extent(2);
            wanted.extents = [
                wanted.extents[0] + y * z,
                wanted.extents[1] + y,
                wanted.extents[2] + z,
            ];
        }
        let found = sums(Level::best(), &triangles);
        assert_eq!(
            (found.six_volumes, found.extents),
            (wanted.six_volumes, wanted.extents)
        );
    }

    #[test]
    fn neither_the_order_of_triangles_nor_of_corners_counts() {
        let triangles = soup(500, 9, 3);
        let whole = sums(Level::best(), &triangles);
        let mut turned = triangles.clone();
        turned.reverse();
        turned
            .iter_mut()
            .step_by(3)
            .for_each(|triangle| triangle.rotate_left(1));
        let [one, two] = [&turned[..123], &turned[123..]].map(|part| sums(Level::best(), part));
        let both = one.and(&two);
        assert_eq!(
            (both.directed, both.upper, both.parity, both.triangles),
            (whole.directed, whole.upper, whole.parity, whole.triangles)
        );
        assert!(!whole.are_oriented() && !whole.are_closed() && !whole.may_be_two_sided());
    }

    #[test]
    fn triangles_in_both_directions_cancel() {
        let triangles = soup(300, 5, 4);
        let back = triangles.iter().map(|[a, b, c]| [*b, *a, *c]);
        let all: Vec<_> = triangles.iter().copied().chain(back).collect();
        let found = sums(Level::best(), &all);
        assert!(found.are_oriented() && found.are_closed() && found.may_be_two_sided());
        let twice = sums(Level::best(), &[triangles.clone(), triangles].concat());
        assert!(!twice.are_oriented() && twice.are_closed() && !twice.may_be_two_sided());
    }

    #[test]
    fn one_uncancelled_edge_is_found_for_any_vertices() {
        // Sums of single triangles. Their vertices are on lattices, so that they differ in few bits, or are
        // near each other.
        let mut seen = std::collections::HashSet::new();
        let steps = [1.0, 0.5, 1024.0, 1e-6, 1e30, f32::from_bits(1)];
        let mut count = 0;
        for step in steps {
            for n in 0..4096_u32 {
                let at = |n: u32| [n & 15, n >> 4 & 15, n >> 8].map(|c| step * c as f32);
                let triangle = [at(n), at(n ^ 1), at(n ^ 0x230)];
                let found = sums(Level::best(), &[triangle]);
                assert!(!found.are_oriented() && !found.are_closed() && !found.may_be_two_sided());
                for n in 0..3 {
                    let words = [found.directed[n], found.parity[n]];
                    seen.insert((n, words));
                }
                count += 3;
            }
        }
        // All sums are different.
        assert_eq!(seen.len(), count);
    }

    /// Returns the vertex that has these hashes under some keys. `None` if its coordinates are not finite.
    fn vertex_of(hashes: [u32; 3], keys: &EdgeKeys) -> Option<[f32; 3]> {
        let unshift =
            |word: u32, shift: u32| (0..32 / shift).fold(word, |found, _| word ^ (found >> shift));
        let mut words = hashes.map(|word| unshift(word, 16));
        for n in (0..STEPS).rev() {
            let factor = keys.factors[n];
            // Inverse modulo 2³², computed by Newton's iteration.
            let inverse = (0..5).fold(factor, |x, _| {
                x.wrapping_mul(2_u32.wrapping_sub(factor.wrapping_mul(x)))
            });
            let mixed = unshift(words[n % 3].wrapping_mul(inverse), SHIFTS[n]);
            words[n % 3] = mixed.wrapping_sub(words[(n + 2) % 3]);
        }
        let vertex =
            [0, 1, 2].map(|axis| f32::from_bits(words[axis].wrapping_sub(keys.offsets[axis])));
        vertex
            .iter()
            .all(|c| c.is_finite() && c.abs() > f32::MIN_POSITIVE)
            .then_some(vertex)
    }

    #[test]
    fn triangles_made_for_known_keys_are_found_with_other_keys() {
        let mut made = 0;
        for seed in 0..8 {
            let known = keys(seed);
            // The hashes of the corners are on a line, so all determinants of their differences are zero.
            let on_a_line =
                |n: u32| [n + 1, n + 2, n + 3].map(|k| [k << 17 | 5, k << 17 | 3, 7 * k]);
            let triangle = (0..8192).find_map(|n| {
                let corners = on_a_line(n).map(|hashes| vertex_of(hashes, &known));
                Some([corners[0]?, corners[1]?, corners[2]?])
            });
            let triangles = [triangle.expect("one of many has finite coordinates")];
            let of = |keys: &EdgeKeys| EdgeSums::of(Level::best(), &triangles, &[0.0; 3], keys);
            assert!(
                of(&known).are_oriented(),
                "the attack is one: {triangles:?}"
            );
            for other in 100..200 {
                let found = of(&keys(other));
                assert!(
                    !found.are_oriented() && !found.are_closed(),
                    "{triangles:?}"
                );
            }
            made += 1;
        }
        assert!(made > 0);
    }
}
