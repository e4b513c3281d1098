//! Test whether the centre of a cell is within a radius of a triangle, for eight cells at a time. It uses the
//! seven separating axes of `crates/geom/src/tri_sphere.rs` (Ericson, "Optimizing a sphere-triangle
//! intersection test", 2010).
//!
//! Let `A`, `B`, `C` be the vertices relative to the centre. The axes compare only `A²` and three products of
//! `A` with vectors of the triangle, which are the edges `AB`, `AC` and the normal `V`: `p = A · AB`, `q = A
//! · AC` and `d = A · V`:
//!
//! - whether the other vertices are on the far side of a vertex: `A · B - A² = p`, `B · C - B² = q - p + AB ·
//!   AC - AB²`, and so on;
//! - whether the foot of the perpendicular on edge `AB` is farther than the radius, in terms multiplied by
//!   the edge's length: `Q² > r²` is `A² AB² - p² > r² AB²`, and `Q · (C - Q) >= 0` is `q AB² - p AB · AC >=
//!   0`.
//!
//! Each comparison is between zero and a value with an error bound (docs/internals/error-bounds.md, section
//! 10). A cell is surely *out* if all comparisons of some axis surely hold. It is surely *in* if for every
//! axis some comparison surely does not hold. It is also surely in if a vertex surely is within the radius,
//! or if the foot on an edge surely is on the edge and within the radius. This decides slivers, for which the
//! direction of the normal is not sure.

use fearless_simd::{Simd, f64x8, mask64x8, prelude::*};

use crate::geom::vector::{cross, dot, minus};

use crate::lattice::U;

/// Triangle and radius, prepared for the test, with the error bounds of all comparisons. The unit of length
/// is the smallest side of a cell.
pub struct BallTest {
    a: [f64; 3],
    ab: [f64; 3],
    ac: [f64; 3],
    normal: [f64; 3],
    /// Squared lengths of the edges AB, BC and CA.
    squared: [f64; 3],
    /// Dot product `AB · AC`.
    product: f64,
    /// Squared length of the normal.
    area: f64,
    rr: f64,
    /// Error bounds of the comparisons with the radius: for the vertices, for the edges AB, BC and CA, and
    /// for the face.
    near: [f64; 5],
    /// Error bounds of the comparisons at the ends of the edges AB, BC and CA.
    ends: [f64; 3],
    /// Error bound of the comparisons of the centre's projection with the edges of the triangle.
    sides: f64,
}

/// Radius of a ball.
#[derive(Debug, Clone, Copy)]
pub struct BallRadius {
    /// Radius as a double, rounded once.
    pub radius: f64,
    /// Square of the exact radius, rounded once.
    pub squared: f64,
    /// Power of two, at most 1/2, that divides the radius. Zero if no suitable one does.
    pub grain: f64,
}

/// Decisions about eight cells, as bit masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// Cells whose centres are surely within the radius.
    pub within: u64,
    /// Cells whose centres are surely not within the radius.
    pub outside: u64,
}

impl BallTest {
    /// Creates the test for a triangle from its vertices. Each coordinate has an error of at most `error`, or
    /// is an exact multiple of `grain` if `error` is zero. The test is valid for centres of which no
    /// coordinate differs from that of a vertex by more than `reach`. `reach` must be larger than the radius.
    #[inline(always)]
    pub fn new(
        [a, b, c]: [[f64; 3]; 3],
        [error, grain]: [f64; 2],
        ball: &BallRadius,
        reach: f64,
    ) -> Self {
        let ab = minus(b, a);
        let ac = minus(c, a);
        let bc = minus(c, b);
        let normal = cross(ab, ac);
        let squared = [dot(ab, ab), dot(bc, bc), dot(ac, ac)];
        let most = |v: [f64; 3]| v[0].abs().max(v[1].abs()).max(v[2].abs());
        let mut this = Self {
            a,
            ab,
            ac,
            normal,
            squared,
            product: dot(ab, ac),
            area: dot(normal, normal),
            rr: ball.squared,
            near: [0.0; 5],
            ends: [0.0; 3],
            sides: 0.0,
        };
        let edge = most(ab).max(most(ac)).max(most(bc));
        let grain = grain.min(ball.grain);
        if error > 0.0 || !is_exact(reach, edge, grain) {
            this.bound(
                error + 8.0 * U * reach,
                edge,
                reach,
                [a == b, b == c, c == a],
            );
        }
        // There is no foot on an edge of length zero, so its comparison is never sure.
        for n in 0..3 {
            if squared[n] == 0.0 {
                this.near[n + 1] = f64::INFINITY;
            }
        }
        this
    }

    /// Sets the error bounds. Coordinates have an error of at most `e`, components of edges are at most
    /// `edge`, and centres are at most `reach` away along each axis. `no_length` states which edges have
    /// length zero.
    #[inline(always)]
    fn bound(&mut self, e: f64, edge: f64, reach: f64, no_length: [bool; 3]) {
        let edge = edge + 4.0 * e;
        let quantum = e * edge * reach;
        let line = quantum * (320.0 * reach + 1700.0 * edge);
        self.near = [
            120.0 * e * reach,
            line,
            line,
            line,
            quantum * edge * edge * (1300.0 * reach + 370.0 * edge),
        ];
        let end = e * (13.0 * reach + 68.0 * edge);
        // Between equal vertices all terms are exactly zero, so there is no rounding error.
        self.ends = no_length.map(|none| if none { 0.0 } else { end });
        // If an edge has length zero, the terms for the third vertex are exact as well.
        let side = e * edge * edge * (560.0 * reach + 600.0 * edge);
        self.sides = if no_length.contains(&true) { 0.0 } else { side };
        if e > reach * SMALL {
            (self.near, self.ends, self.sides) =
                ([f64::INFINITY; 5], [f64::INFINITY; 3], f64::INFINITY);
        }
    }

    /// Decides eight cells, given their centres.
    #[inline(always)]
    pub fn decide<S: Simd>(&self, simd: S, centre: [f64x8<S>; 3]) -> Decided {
        let splat = |value: f64| f64x8::splat(simd, value);
        let [x, y, z] = [
            splat(self.a[0]) - centre[0],
            splat(self.a[1]) - centre[1],
            splat(self.a[2]) - centre[2],
        ];
        let [ab2, bc2, ca2] = self.squared;
        let k = self.product;
        let aa = x * x + y * y + z * z;
        let p = x * self.ab[0] + y * self.ab[1] + z * self.ab[2];
        let q = x * self.ac[0] + y * self.ac[1] + z * self.ac[2];
        let d = x * self.normal[0] + y * self.normal[1] + z * self.normal[2];
        let bb = aa + (p + p + ab2);
        let cc = aa + (q + q + ca2);
        // A · AB, B · BC and C · CA. Their signs show whether a centre lies before the start of each edge.
        // The next line has the corresponding terms for the ends.
        let difference = q - p;
        let starts = [p, difference + (k - ab2), -(q + ca2)];
        let ends = [-(p + ab2), -(difference + (ca2 - k)), q];
        // Twice the area of the projected triangle, minus the part beyond an edge.
        let sides = [
            q * ab2 - p * k,
            ends[0] * bc2 - starts[1] * (ab2 - k),
            ends[1] * ca2 - starts[2] * (ca2 - k),
        ];
        let away = [aa - self.rr, bb - self.rr, cc - self.rr];
        let lines = [
            aa * ab2 - p * p - self.rr * ab2,
            bb * bc2 - starts[1] * starts[1] - self.rr * bc2,
            cc * ca2 - starts[2] * starts[2] - self.rr * ca2,
        ];
        let face = d * d - self.rr * self.area;
        self.combine(simd, face, away, [starts, ends], [lines, sides])
    }

    /// Combines the values of all comparisons into decisions.
    #[inline(always)]
    fn combine<S: Simd>(
        &self,
        simd: S,
        face: f64x8<S>,
        away: [f64x8<S>; 3],
        [starts, ends]: [[f64x8<S>; 3]; 2],
        [lines, sides]: [[f64x8<S>; 3]; 2],
    ) -> Decided {
        let splat = |value: f64| f64x8::splat(simd, value);
        let mut outside = face.simd_gt(splat(self.near[4]));
        // Cells that surely no axis separates from the triangle.
        let mut joined = face.simd_le(splat(-self.near[4]));
        let mut within = mask64x8::splat(simd, false);
        for n in 0..3 {
            // Vertex n is the start of edge n and the end of the previous edge.
            let before = (n + 2) % 3;
            let start = self.ends[n];
            let end = self.ends[before];
            let far = away[n].simd_gt(splat(self.near[0]));
            let beyond = away[n].simd_le(splat(-self.near[0]));
            let out = starts[n].simd_ge(splat(start)) & ends[before].simd_ge(splat(end));
            let not = starts[n].simd_lt(splat(-start)) | ends[before].simd_lt(splat(-end));
            outside |= far & out;
            joined &= beyond | not;
            within |= beyond;
            let bound = self.near[n + 1];
            let side = self.sides;
            let close = lines[n].simd_le(splat(-bound));
            outside |= lines[n].simd_gt(splat(bound)) & sides[n].simd_ge(splat(side));
            joined &= close | sides[n].simd_lt(splat(-side));
            within |= close & starts[n].simd_le(splat(-start)) & ends[n].simd_le(splat(-start));
        }
        Decided {
            within: (within | joined).to_bitmask(),
            outside: outside.to_bitmask(),
        }
    }
}

/// Largest error of a coordinate, relative to the reach, for which the test is used.
const SMALL: f64 = 1.0 / (1 << 20) as f64;

/// Returns `true` if no product of the test is rounded. This holds if all coordinates are multiples of
/// `grain` and the largest products, which have six factors, are below 2^53 times the sixth power of `grain`.
#[inline(always)]
fn is_exact(reach: f64, edge: f64, grain: f64) -> bool {
    let m = reach / grain;
    let e = edge / grain;
    let square = m * e * e;
    grain > 0.0
        && 36.0 * square * square.max(e * e * e) < 2f64.powi(53)
        && m * m * 27.0 * (e * e * 3.0 + 1.0) < 2f64.powi(53)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::tri_sphere::is_within;
    use crate::levels::{Level, on_level};
    use crate::random::Random;

    /// Number of steps per cell. Coordinates are whole numbers of steps.
    const PART: i64 = 1 << 12;

    fn corner(random: &mut Random, step: i64) -> [i64; 3] {
        let most = 8 * PART / step;
        [(); 3].map(|()| random.whole(-most, most - 1) * step)
    }

    /// Returns a triangle and a radius, in steps of which [`PART`] are a cell. There are several kinds of
    /// triangles: random ones, triangles on halves of cells, with few different corners, almost on a line,
    /// slivers, and triangles across an axis. Some radii reach exactly to the centre of a cell.
    fn case(random: &mut Random, n: u64) -> ([[i64; 3]; 3], i64) {
        let step = [1, PART / 2, PART, 1][n as usize % 4];
        let [a, mut b, mut c] = [(); 3].map(|()| corner(random, step));
        let step_of = |a: [i64; 3], b: [i64; 3], t: i64| {
            std::array::from_fn(|i| a[i] + (b[i] - a[i]) / PART * t)
        };
        match n / 4 % 8 {
            0 => c = a,
            1 => c = b,
            2 => c = step_of(a, b, random.whole(0, PART - 1)),
            3 => {
                c = std::array::from_fn(|i| {
                    step_of(a, b, random.whole(0, PART - 1))[i] + random.whole(-1, 1)
                })
            }
            4 | 5 => {
                (b[n as usize / 64 % 3], c[n as usize / 64 % 3]) =
                    (a[n as usize / 64 % 3], a[n as usize / 64 % 3])
            }
            _ => {}
        }
        let b = if n.is_multiple_of(97) { a } else { b };
        let radius = match n / 32 % 4 {
            0 => random.whole(0, 4 * PART - 1),
            1 => random.whole(0, 8) * PART / 2,
            // The distance from a corner to a centre, if it is a whole number.
            2 => (0..3).map(|i| a[i].abs() % (3 * PART)).max().unwrap_or(0),
            _ => random.of(&[0, 3, 5, 13]) * PART / 2,
        };
        ([a, b, c], radius)
    }

    fn decided(level: Level, test: &BallTest, centre: [[f64; 8]; 3]) -> Decided {
        on_level!(level, simd => test.decide(simd, centre.each_ref().map(|c| f64x8::from_slice(simd, c))))
    }

    /// Asserts that sure decisions are right on every level, and that decisions without rounding errors are
    /// always sure. With `VOXELIZE_BALL_SOAK=10` there are ten times as many cases.
    #[test]
    fn what_is_sure_is_right() {
        let soak: u64 =
            std::env::var("VOXELIZE_BALL_SOAK").map_or(1, |n| n.parse().expect("a whole number"));
        let levels = Level::available();
        let mut random = Random::new(0x5eed_0ff5);
        let mut decisions = 0u64;
        let mut sure = 0u64;
        let mut exact = 0u64;
        let mut within = 0u64;
        let mut touching = 0u64;
        for n in 0..soak * 1_200_000 / (8 * levels.len() as u64) {
            let (triangle, radius) = case(&mut random, n);
            let centre: [[i64; 8]; 3] = [(); 3].map(|()| [(); 8].map(|()| random.whole(-6, 6)));
            let to_cells = |c: i64| c as f64 / PART as f64;
            let r = to_cells(radius);
            let grain = [0.5, 0.25, 0.125, 1.0 / PART as f64]
                .into_iter()
                .find(|g| (r / g).fract() == 0.0);
            let ball = BallRadius {
                radius: r,
                squared: r * r,
                grain: grain.unwrap_or(0.0),
            };
            let finest = if triangle.iter().flatten().all(|c| c % (PART / 2) == 0) {
                0.5
            } else {
                to_cells(1)
            };
            // In some cases the stated error bound of the coordinates exceeds their actual error.
            let error = if n % 5 == 0 { 1e-12 } else { 0.0 };
            let test = BallTest::new(
                triangle.map(|v| v.map(to_cells)),
                [error, finest],
                &ball,
                32.0,
            );
            let is_exact = test.near[0] == 0.0;
            let expected = (0..8).fold(0u64, |mask, lane| {
                let relative = triangle
                    .map(|v| std::array::from_fn(|i| i128::from(v[i] - centre[i][lane] * PART)));
                touching += u64::from(
                    is_within(&relative, &radius.into())
                        && (radius == 0 || !is_within(&relative, &(radius - 1).into())),
                );
                mask | u64::from(is_within(&relative, &radius.into())) << lane
            });
            for &level in &levels {
                let Decided {
                    within: yes,
                    outside: no,
                } = decided(level, &test, centre.map(|c| c.map(|n| n as f64)));
                assert_eq!(
                    (yes & !expected, no & expected),
                    (0, 0),
                    "{level:?} {triangle:?} {radius} {centre:?}"
                );
                assert!(
                    !is_exact || yes | no == 0xff,
                    "{triangle:?} {radius} {centre:?}"
                );
                decisions += 8;
                sure += u64::from((yes | no).count_ones());
                within += u64::from(yes.count_ones());
                exact += if is_exact { 8 } else { 0 };
            }
        }
        println!(
            "{decisions} decisions, {sure} sure, {exact} without rounding, {within} within, {touching} touch"
        );
        assert!(decisions > 1_000_000 && exact > 100_000 && within > 100_000 && touching > 200);
        // Only ties and the normals of slivers may be unsure.
        assert!(sure * 100 > decisions * 85, "{sure} of {decisions}");
    }
}
