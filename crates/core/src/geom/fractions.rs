//! Exact points and vectors with rational coordinates, such as the intersections of triangles.

use super::{Point, Rational};

/// Exact point or vector, `[x, y, z]`.
pub type ExactPoint = [Rational; 3];

/// Converts a point with finite coordinates to an exact point.
///
/// # Panics
/// Panics if a coordinate is not finite.
pub fn exact(point: Point) -> ExactPoint {
    point.map(|c| Rational::from_f32(c).expect("finite"))
}

/// Rounds an exact point to the nearest doubles.
pub fn rounded(point: &ExactPoint) -> [f64; 3] {
    // Adding zero turns -0 into 0.
    point.each_ref().map(|c| c.to_f64() + 0.0)
}

/// Returns `a - b`.
pub fn minus(a: &ExactPoint, b: &ExactPoint) -> ExactPoint {
    std::array::from_fn(|i| &a[i] - &b[i])
}

/// Returns `a + b`.
pub fn plus(a: &ExactPoint, b: &ExactPoint) -> ExactPoint {
    std::array::from_fn(|i| &a[i] + &b[i])
}

/// Returns `a + t b`.
pub fn along(a: &ExactPoint, b: &ExactPoint, t: &Rational) -> ExactPoint {
    std::array::from_fn(|i| &a[i] + &(t * &b[i]))
}

/// Returns the dot product.
pub fn dot(a: &ExactPoint, b: &ExactPoint) -> Rational {
    &(&a[0] * &b[0]) + &(&(&a[1] * &b[1]) + &(&a[2] * &b[2]))
}

/// Returns the cross product.
pub fn cross(a: &ExactPoint, b: &ExactPoint) -> ExactPoint {
    [
        &(&a[1] * &b[2]) - &(&a[2] * &b[1]),
        &(&a[2] * &b[0]) - &(&a[0] * &b[2]),
        &(&a[0] * &b[1]) - &(&a[1] * &b[0]),
    ]
}

/// Reports whether the vector is zero.
pub fn is_zero(a: &ExactPoint) -> bool {
    a.iter().all(Rational::is_zero)
}

/// Returns the sign of a number: -1, 0 or 1.
pub fn sign(value: &Rational) -> i8 {
    if value.is_zero() {
        0
    } else if value.is_positive() {
        1
    } else {
        -1
    }
}
