//! Decides exactly on which side of a plane a point is.
//!
//! The side is the sign of the determinant `(b - a) × (c - a) · (d - a)`, computed first in doubles with an
//! error bound, and in integers if the bound does not allow a decision (Shewchuk, "Adaptive precision
//! floating-point arithmetic and fast robust geometric predicates", 1997).

use super::Point;
use super::degenerate::WholePoints;
use super::wide::{Wide, cross, difference, dot};

/// Converts points to integers. In the variant `Short`, differences of points and their 3 × 3 determinants do
/// not overflow: mantissas of 24 bits, shifted by at most 16, have 40 bits. Their differences have 41 bits,
/// the product of three differences 123, and the sum of six products 126. The coordinates must be finite.
pub(super) fn whole<const N: usize>(points: &[Point; N]) -> WholePoints<N> {
    WholePoints::new(points, 16)
}

/// Returns the side of `d` relative to the plane through `a`, `b` and `c`. It is 1 if `d` is on the side to
/// which the normal points, from which `a`, `b`, `c` are counterclockwise. It is -1 on the other side, and 0
/// if all four points lie in one plane. The coordinates must be finite.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::orientation::side;
///
/// let [a, b, c] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// assert_eq!([side([a, b, c, [9.0, 9.0, 1e-30]]), side([a, b, c, [9.0, 9.0, 0.0]])], [1, 0]);
/// ```
pub fn side(points: [Point; 4]) -> i8 {
    sure_side(&points).unwrap_or_else(|| match whole(&points) {
        WholePoints::Short([a, b, c, d]) => exact_side([&a, &b, &c, &d]),
        WholePoints::Long([a, b, c, d]) => exact_side([&a, &b, &c, &d]),
    })
}

/// Returns the side if doubles prove it: if the determinant exceeds its error bound, or if two points are
/// equal. Otherwise `None`.
///
/// Error bound: let u = 2^-53. A rounded difference of floats equals the exact one times a factor within 1 ±
/// u. A product of three differences has a factor within (1 ± u)^5, and the sums add a factor within (1 ±
/// u)^3. The error of the determinant is below 8.01 u times the sum of the magnitudes of its products. The
/// bound 16 u also covers the rounding of the test itself. Nothing overflows or underflows.
#[inline]
pub(super) fn sure_side([a, b, c, d]: &[Point; 4]) -> Option<i8> {
    const BOUND: f64 = 16.0 / (1_u64 << 53) as f64;
    let from_a =
        |p: &Point| -> [f64; 3] { std::array::from_fn(|i| f64::from(p[i]) - f64::from(a[i])) };
    let [b_, c_, d_] = [from_a(b), from_a(c), from_a(d)];
    let mut sum = 0.0;
    let mut size = 0.0;
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let p = b_[i] * c_[j];
        let q = b_[j] * c_[i];
        sum += (p - q) * d_[k];
        size += (p.abs() + q.abs()) * d_[k].abs();
    }
    if sum.abs() > BOUND * size {
        return Some(if sum > 0.0 { 1 } else { -1 });
    }
    (a == b || a == c || a == d || b == c || b == d || c == d).then_some(0)
}

/// Returns the sign of the determinant of integers.
pub(super) fn exact_side<T: Wide>([a, b, c, d]: [&[T; 3]; 4]) -> i8 {
    dot(
        &cross(&difference(b, a), &difference(c, a)),
        &difference(d, a),
    )
    .sign()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::wide::IBig;
    use crate::random::Random;

    #[test]
    fn doubles_and_integers_agree_near_and_in_the_plane() {
        let mut random = Random::new(0x1234_5678_9abc_def1);
        let mut next = || random.unit() - 0.5;
        let mut seen = [0, 0, 0];
        for n in 0..60_000 {
            let scale = [1.0, 1e-3, 3e7, 1e-30][n % 4];
            let [a, b, c]: [Point; 3] =
                std::array::from_fn(|_| std::array::from_fn(|_| next() * scale));
            let d = match n % 3 {
                0 => std::array::from_fn(|_| next()),
                1 => std::array::from_fn(|i| a[i] / 2.0 + b[i] / 4.0 + c[i] / 4.0),
                _ => std::array::from_fn(|i| (b[i] + c[i]) / 2.0),
            };
            let points = [a, b, c, d];
            let WholePoints::Long([p, q, r, s]) = long(&points) else {
                unreachable!("made long")
            };
            let exact = exact_side([&p, &q, &r, &s]);
            assert_eq!(side(points), exact, "{points:?}");
            assert!(
                sure_side(&points).is_none_or(|sure| sure == exact),
                "{points:?}"
            );
            // Exchanging two points reverses the sign.
            assert_eq!(side([b, a, c, d]), -exact);
            assert_eq!(side([a, b, d, c]), -exact);
            seen[(exact + 1) as usize] += 1;
        }
        assert!(
            seen[0] > 10_000 && seen[1] > 100 && seen[2] > 10_000,
            "{seen:?}"
        );
    }

    /// Converts points to integers of any size.
    fn long(points: &[Point; 4]) -> WholePoints<4> {
        WholePoints::Long(match whole(points) {
            WholePoints::Short(points) => points.map(|p| p.map(IBig::from)),
            WholePoints::Long(points) => points,
        })
    }
}
