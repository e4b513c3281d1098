//! Triangles without area: two vertices are equal, or all three vertices are on one line.
//!
//! A test in doubles with a proven error bound comes first. It decides every triangle that is not extremely
//! thin. The remaining triangles are decided in integers. Most of these are really degenerate.

use crate::wide::{IBig, Wide, cross, difference};
use crate::{Point, Triangle};

/// Returns the number of triangles without area, which are segments or points. Coordinates must be finite.
pub fn count(triangles: &[Triangle]) -> u64 {
    triangles
        .iter()
        .filter(|triangle| is_degenerate(triangle))
        .count() as u64
}

/// Returns `true` if the triangle has no area, so that it is a segment or a point. Coordinates must be
/// finite.
pub fn is_degenerate(triangle: &Triangle) -> bool {
    if has_area_for_sure(triangle) {
        return false;
    }
    let [a, b, c] = triangle;
    a == b || b == c || c == a || exactly_degenerate(triangle)
}

/// Returns `true` if doubles prove that a component of the cross product of two edges is not zero.
///
/// Error bound, with u = 2^-53: a computed component of an edge equals the exact one times a factor within 1
/// ± u. For each of the two products the factor is within (1 ± u)^3, and the subtraction adds another factor
/// within 1 ± u. The error of the result is therefore below 5u times the sum of the products' absolute
/// values. The bound 8u also covers the rounding of the test itself. Differences of floats and their products
/// neither overflow nor underflow in doubles.
fn has_area_for_sure(triangle: &Triangle) -> bool {
    const BOUND: f64 = 8.0 / (1_u64 << 53) as f64;
    let [a, b, c] = triangle.map(|vertex| vertex.map(f64::from));
    let ab: [f64; 3] = std::array::from_fn(|i| b[i] - a[i]);
    let ac: [f64; 3] = std::array::from_fn(|i| c[i] - a[i]);
    [(1, 2), (2, 0), (0, 1)].into_iter().any(|(i, j)| {
        let p = ab[i] * ac[j];
        let q = ab[j] * ac[i];
        (p - q).abs() > BOUND * (p.abs() + q.abs())
    })
}

/// Decides in integers whether the triangle has no area.
fn exactly_degenerate(triangle: &Triangle) -> bool {
    // Mantissas of 24 bits, shifted by at most 37, have 61 bits. Their differences have 62 bits, the products
    // 124, and the components of the cross product 125.
    match WholePoints::new(triangle, 37) {
        WholePoints::Short(points) => collinear(&points),
        WholePoints::Long(points) => collinear(&points),
    }
}

fn collinear<T: Wide>([a, b, c]: &[[T; 3]; 3]) -> bool {
    cross(&difference(b, a), &difference(c, a))
        .iter()
        .all(|component| component.sign() == 0)
}

/// Points whose coordinates are integers: multiples of the least significant bit of all coordinates.
pub enum WholePoints<const N: usize> {
    /// Integers of 128 bits.
    Short([[i128; 3]; N]),
    /// Integers of any size.
    Long([[IBig; 3]; N]),
}

impl<const N: usize> WholePoints<N> {
    /// Converts points. Returns [`Short`](Self::Short) if no coordinate is shifted by more than `most` bits,
    /// otherwise [`Long`](Self::Long). The coordinates must be finite.
    pub fn new(points: &[Point; N], most: i32) -> Self {
        let parts = points.map(|point| point.map(mantissa_and_exponent));
        let mut low = i32::MAX;
        let mut high = i32::MIN;
        for (mantissa, exponent) in parts.iter().flatten() {
            if *mantissa != 0 {
                low = low.min(*exponent);
                high = high.max(*exponent);
            }
        }
        // Zero is not shifted, because its exponent may be below `low`.
        let shift = |mantissa: i64, exponent: i32| {
            if mantissa == 0 { 0 } else { exponent - low }
        };
        if high.saturating_sub(low) <= most {
            Self::Short(parts.map(|point| point.map(|(m, e)| i128::from(m) << shift(m, e))))
        } else {
            Self::Long(parts.map(|point| point.map(|(m, e)| IBig::from(m) << shift(m, e) as usize)))
        }
    }
}

/// Splits `value` into integers `m` and `e` with `value = m * 2^e` exactly.
pub fn mantissa_and_exponent(value: f32) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32;
    let fraction = i64::from(bits & 0x7f_ffff);
    // Subnormal numbers have the exponent of the smallest normal numbers and no implicit leading bit.
    let mantissa = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 23
    };
    let exponent = exponent.max(1) - 150;
    if value.is_sign_negative() {
        (-mantissa, exponent)
    } else {
        (mantissa, exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn mantissa_and_exponent_are_the_value() {
        for value in [
            0.0,
            -0.0,
            1.0,
            -0.1,
            3.0e38,
            f32::MIN_POSITIVE,
            1e-45,
            -1.1e-40,
        ] {
            let (m, e) = mantissa_and_exponent(value);
            let half = e / 2;
            let rest = e - e / 2;
            assert_eq!(
                m as f64 * 2_f64.powi(half) * 2_f64.powi(rest),
                f64::from(value),
                "{value}"
            );
        }
    }

    #[test]
    fn lines_and_points_are_found_at_any_scale() {
        let tiny = f32::from_bits(1);
        let long = [[1e30, 1e30, 0.0], [tiny, tiny, 0.0], [-1e30, -1e30, 0.0]];
        for (triangle, degenerate) in [
            ([[1.0; 3], [1.0; 3], [1.0; 3]], true),
            ([[1.0; 3], [2.0; 3], [1.0; 3]], true),
            ([[0.0; 3], [-0.0; 3], [1.0, 2.0, 3.0]], true),
            ([[0.0; 3], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]], true),
            ([[0.1, 0.2, 0.4], [0.2, 0.4, 0.8], [0.4, 0.8, 1.6]], true),
            (
                [[0.0; 3], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0_f32.next_up()]],
                false,
            ),
            ([[1e6, 0.0, 0.0], [2e6, 0.0, 0.0], [3e6, tiny, 0.0]], false),
            ([[0.0; 3], [tiny, 0.0, 0.0], [0.0, tiny, 0.0]], false),
            (long, true),
            ([long[0], [tiny, 2.0 * tiny, 0.0], long[2]], false),
            (
                [
                    [f32::MAX, 0.0, 0.0],
                    [0.0, f32::MAX, 0.0],
                    [0.0, 0.0, -f32::MAX],
                ],
                false,
            ),
        ] {
            for rotation in 0..3 {
                let mut turned = triangle;
                turned.rotate_left(rotation);
                assert_eq!(is_degenerate(&turned), degenerate, "{triangle:?}");
            }
        }
    }

    #[test]
    fn the_filter_never_contradicts_the_integers() {
        let mut random = Random::new(1);
        let mut lines = 0;
        let mut next = |n: u64| random.below(n) as u32;
        for _ in 0..20_000 {
            // Few mantissa bits and similar exponents make exactly collinear vertices frequent.
            let mut number =
                || f32::from_bits(next(2) << 31 | (next(12) + 120) << 23 | next(4) << 21);
            let (a, d): ([f32; 3], [f32; 3]) =
                (std::array::from_fn(|_| number()), [number(), number(), 0.0]);
            let triangle = [
                a,
                std::array::from_fn(|i| a[i] + d[i]),
                std::array::from_fn(|i| a[i] - 2.0 * d[i]),
            ];
            let exact = exactly_degenerate(&triangle);
            assert_eq!(is_degenerate(&triangle), exact, "{triangle:?}");
            assert!(!(exact && has_area_for_sure(&triangle)));
            lines += u32::from(exact);
        }
        assert!(lines > 1000);
    }
}
