//! Points and vectors of fractions: what two triangles have in common is made of quotients.

use super::{Point, Rational};

/// A point or vector, `[x, y, z]`, exactly.
pub type ExactPoint = [Rational; 3];

/// A vertex. Its coordinates must be finite.
///
/// # Panics
/// If one is not.
pub fn exact(point: Point) -> ExactPoint {
    point.map(|c| Rational::from_f32(c).expect("finite"))
}

/// The nearest doubles.
pub fn rounded(point: &ExactPoint) -> [f64; 3] {
    // A zero that was negative is zero.
    point.each_ref().map(|c| c.to_f64() + 0.0)
}

/// `a - b`.
pub fn minus(a: &ExactPoint, b: &ExactPoint) -> ExactPoint {
    std::array::from_fn(|i| &a[i] - &b[i])
}

/// `a + b`.
pub fn plus(a: &ExactPoint, b: &ExactPoint) -> ExactPoint {
    std::array::from_fn(|i| &a[i] + &b[i])
}

/// `a + t b`.
pub fn along(a: &ExactPoint, b: &ExactPoint, t: &Rational) -> ExactPoint {
    std::array::from_fn(|i| &a[i] + &(t * &b[i]))
}

/// The dot product.
pub fn dot(a: &ExactPoint, b: &ExactPoint) -> Rational {
    &(&a[0] * &b[0]) + &(&(&a[1] * &b[1]) + &(&a[2] * &b[2]))
}

/// The cross product.
pub fn cross(a: &ExactPoint, b: &ExactPoint) -> ExactPoint {
    let minor = |i: usize, j: usize| &(&a[i] * &b[j]) - &(&a[j] * &b[i]);
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// Whether it is the zero vector.
pub fn is_zero(a: &ExactPoint) -> bool {
    a.iter().all(Rational::is_zero)
}

/// -1, 0 or 1.
pub fn sign(value: &Rational) -> i8 {
    if value.is_zero() {
        0
    } else if value.is_positive() {
        1
    } else {
        -1
    }
}
