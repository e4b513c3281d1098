//! Signed solid angle of a triangle as seen from a point, as a fraction of the full sphere (van Oosterom and
//! Strackee, The solid angle of a plane triangle, 1983). `docs/internals/winding.md`, section 1, derives the
//! error bound.
//!
//! The computation uses only `+ - * /` and square roots of doubles, so the result is bitwise equal on all
//! machines.

use std::cmp::Ordering;

use voxelize_geom::vector::{cross, dot, minus};

/// Point or vector in doubles.
pub type Vector = [f64; 3];

/// Computed number, with a bound of its error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// Computed value.
    pub value: f64,
    /// Upper bound of the error: |exact value − `value`|.
    pub error: f64,
}

/// Unit roundoff, 2^-53.
pub(super) const U: f64 = f64::EPSILON / 2.0;

/// Returns the solid angle of a triangle as seen from `p`, divided by 4π. It is positive if the normal points
/// away from `p`. It approaches ½ as `p` approaches the face from that side.
///
/// `side` is called if doubles cannot decide on which side of the triangle's plane `p` is. It must return
/// `Greater` if the normal points away from `p`, which is equivalent to a positive determinant of the corners
/// minus `p`, and `Less` on the other side. `Equal` makes the angle zero. This is correct for a triangle
/// without area. For other triangles it is the average of the angles on both sides of the plane.
///
/// ```
/// # use voxelize_core as voxelize;
/// use std::cmp::Ordering;
/// use voxelize::geom::solid_angle;
///
/// let octant = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let seen = solid_angle::of(&octant, &[0.0; 3], || unreachable!("the side is clear"));
/// assert!((seen.value - 1.0 / 8.0).abs() <= seen.error && seen.error < 1e-13);
///
/// let within = solid_angle::of(&octant, &[1.0 / 3.0; 3], || Ordering::Less);
/// assert!((within.value + 1.0 / 2.0).abs() <= within.error);
/// ```
#[inline]
pub fn of(triangle: &[Vector; 3], p: &Vector, side: impl FnOnce() -> Ordering) -> Estimate {
    of_about(triangle, p, 0.0, side)
}

/// Returns the solid angle of a triangle whose corners are approximate: each may deviate by `slack` along
/// each axis. `side` must return the side of `p` relative to the exact triangle.
#[inline]
pub fn of_about(
    triangle: &[Vector; 3],
    p: &Vector,
    slack: f64,
    side: impl FnOnce() -> Ordering,
) -> Estimate {
    let parts = Parts::of(triangle, p, slack);
    let across = parts.across;
    let along = parts.along;
    let off = parts.off;
    // If `p` is in the plane but outside the triangle, the side does not matter, because the angle is almost
    // zero.
    let positive = if across.abs() > parts.side_off || along > 2.0 * off {
        across > 0.0
    } else {
        match side() {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => return Estimate::default(),
        }
    };
    let sign = if positive { 1.0 } else { -1.0 };
    let radius = (across * across + along * along).sqrt();
    if radius <= 2.0 * off || radius.is_nan() {
        // If `p` is on an edge or a corner, the magnitude of the angle may have any value from zero to a
        // half.
        return Estimate {
            value: sign * 0.25,
            error: 0.25,
        };
    }
    let value = sign * angle(across.abs(), along) * std::f64::consts::FRAC_1_PI / 2.0;
    Estimate {
        value,
        error: 0.17 * (off / radius) + 2f64.powi(-50),
    }
}

/// Returns the solid angle of a triangle that is not near `p`. Such an angle does not depend on an exact
/// side. `None` if `p` may be on an edge.
pub(crate) fn far_from(triangle: &[Vector; 3], p: &Vector) -> Option<Estimate> {
    let Parts {
        across, along, off, ..
    } = Parts::of(triangle, p, 0.0);
    let radius = (across * across + along * along).sqrt();
    let sign = if across < 0.0 { -1.0 } else { 1.0 };
    let value = sign * angle(across.abs(), along) * std::f64::consts::FRAC_1_PI / 2.0;
    (radius > 2.0 * off).then(|| Estimate {
        value,
        error: 0.17 * (off / radius) + 2f64.powi(-50),
    })
}

/// Corner or edge of a triangle that contains a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RimPlace {
    /// Corner with this index.
    Corner(usize),
    /// Edge between the corner with this index and the next corner.
    Edge(usize),
}

impl RimPlace {
    /// Returns the same corner or edge for a triangle whose corners are numbered from the corner `first`.
    pub(crate) fn counted_from(self, first: usize) -> Self {
        match self {
            Self::Corner(n) => Self::Corner((n + 3 - first) % 3),
            Self::Edge(n) => Self::Edge((n + 3 - first) % 3),
        }
    }
}

/// Returns the solid angle of a triangle as seen from a point of its rim that is displaced by (−ε, −ε², −ε³),
/// in the limit of small ε. `side` is the side of the displaced point. Corners may deviate by `slack` along
/// each axis.
pub(crate) fn from_rim(
    triangle: &[Vector; 3],
    rim: RimPlace,
    slack: f64,
    side: Ordering,
) -> Estimate {
    let sign = match side {
        Ordering::Greater => 1.0,
        Ordering::Less => -1.0,
        Ordering::Equal => return Estimate::default(),
    };
    let (RimPlace::Corner(n) | RimPlace::Edge(n)) = rim;
    let [a, b, c] = [triangle[n], triangle[(n + 1) % 3], triangle[(n + 2) % 3]];
    let [to_b, to_c] = [minus(b, a), minus(c, a)];
    // Seen from the displaced point, the corner is in the direction of x. If an edge leads from the corner in
    // the direction of −x, the displaced point is next to this edge.
    let (half, relative) = match rim {
        RimPlace::Corner(_) if leads_back(to_c) => half_plane(to_c, to_b, slack),
        RimPlace::Corner(_) if !leads_back(to_b) => sector(to_b, to_c, slack),
        _ => half_plane(to_b, to_c, slack),
    };
    if relative > 0.5 || relative.is_nan() {
        return Estimate {
            value: sign * 0.25,
            error: 0.25,
        };
    }
    let value = sign * half * std::f64::consts::FRAC_1_PI / 2.0;
    Estimate {
        value,
        error: 0.17 * relative + 2f64.powi(-48),
    }
}

fn leads_back(to: Vector) -> bool {
    to[0] < 0.0 && to[1] == 0.0 && to[2] == 0.0
}

fn length(v: Vector) -> f64 {
    dot(v, v).sqrt()
}

/// Returns half the solid angle of a half-plane as seen from a point next to its boundary line. The line is
/// parallel to `edge`, and the half-plane extends towards `inner`. From the point, the line is in the
/// direction of x, or in the direction of y if it is parallel to x. Also returns the relative error of the
/// vectors that define the angle.
fn half_plane(edge: Vector, inner: Vector, slack: f64) -> (f64, f64) {
    let towards = if edge[1] == 0.0 && edge[2] == 0.0 {
        [0.0, 1.0, 0.0]
    } else {
        [1.0, 0.0, 0.0]
    };
    let first = cross(edge, towards);
    let second = cross(edge, inner);
    let normal = cross(first, second);
    let of_first = (8.0 * U * length(edge) + 4.0 * slack) / length(first);
    let size = length(edge) * length(inner);
    let of_second =
        (16.0 * U * size + 4.0 * slack * (length(edge) + length(inner))) / length(second);
    (
        angle(length(normal), dot(first, second)),
        of_first + of_second,
    )
}

/// Returns half the solid angle of the sector between two edges as seen from a point next to their common
/// corner. From the point, the corner is in the direction of x. Also returns the relative error of the vector
/// that defines the angle.
fn sector(to_b: Vector, to_c: Vector, slack: f64) -> (f64, f64) {
    let [of_b, of_c] = [to_b, to_c].map(|to| dot(to, to).sqrt());
    let across = to_b[1] * to_c[2] - to_b[2] * to_c[1];
    let along = of_b * of_c + to_b[0] * of_c + dot(to_b, to_c) + to_c[0] * of_b;
    let off = 64.0 * U * of_b * of_c + 16.0 * slack * (of_b + of_c);
    let radius = (across * across + along * along).sqrt();
    (angle(across.abs(), along), off / radius)
}

/// Complex number `along + i across`, whose argument is half the solid angle, with its error bounds.
struct Parts {
    across: f64,
    along: f64,
    /// Error bound of the complex number.
    off: f64,
    /// Error bound of `across`.
    side_off: f64,
}

impl Parts {
    #[inline]
    fn of(triangle: &[Vector; 3], p: &Vector, slack: f64) -> Self {
        let [a, b, c] = [
            minus(triangle[0], *p),
            minus(triangle[1], *p),
            minus(triangle[2], *p),
        ];
        let lengths = [dot(a, a).sqrt(), dot(b, b).sqrt(), dot(c, c).sqrt()];
        let size = lengths[0] * lengths[1] * lengths[2];
        let across = dot(a, cross(b, c));
        let along = size + dot(a, b) * lengths[2] + dot(b, c) * lengths[0] + dot(c, a) * lengths[1];
        let sides = lengths[0] * lengths[1] + lengths[1] * lengths[2] + lengths[2] * lengths[0];
        let off = 64.0 * U * size + 7.5 * slack * sides;
        Self {
            across,
            along,
            off,
            side_off: 12.0 * U * size + 1.75 * slack * sides,
        }
    }
}

/// Returns the argument of a complex number as a fraction of a full turn, from −½ to ½.
pub fn turn(real: f64, imaginary: f64) -> f64 {
    let sign = if imaginary < 0.0 { -1.0 } else { 1.0 };
    sign * angle(imaginary.abs(), real) * std::f64::consts::FRAC_1_PI / 2.0
}

/// Returns the angle between the vector `(x, y)` and the x axis, from zero to π, with an error below 2⁻⁵⁰.
/// `y` must not be negative.
fn angle(y: f64, x: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_2, PI};
    let long = x.abs();
    let first = if y <= long {
        arctangent(y / long)
    } else {
        FRAC_PI_2 - arctangent(long / y)
    };
    if x < 0.0 { PI - first } else { first }
}

/// Returns the arctangent of a number from zero to one. Uses a table with steps of 1/8 and a power series for
/// the remainder.
fn arctangent(t: f64) -> f64 {
    const STEPS: [f64; 9] = [
        0.0,
        0.124_354_994_546_761_44,
        0.244_978_663_126_864_14,
        0.358_770_670_270_572_25,
        0.463_647_609_000_806_1,
        0.558_599_315_343_562_4,
        0.643_501_108_793_284_4,
        0.718_829_999_621_624_5,
        std::f64::consts::FRAC_PI_4,
    ];
    let step = (t * 8.0).round();
    let z = (t - step / 8.0) / (1.0 + t * (step / 8.0));
    // |z| is at most 1/16, so the first omitted term is below 2^-55.
    let square = z * z;
    let series = 1.0
        + square
            * (-1.0 / 3.0
                + square
                    * (1.0 / 5.0
                        + square * (-1.0 / 7.0 + square * (1.0 / 9.0 + square * (-1.0 / 11.0)))));
    STEPS[step as usize] + z * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_match_the_system_library() {
        for n in 0..200_000 {
            let x = f64::from(n - 100_000) / 3.0;
            let y = f64::from(n % 977) * 41.0;
            assert!((angle(y, x) - y.atan2(x)).abs() < 2f64.powi(-50), "{y} {x}");
        }
    }

    #[test]
    fn a_triangle_seen_from_its_plane_is_a_half_or_nothing() {
        let triangle = [[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [0.0, 4.0, 1.0]];
        let from = |p: Vector, side| of(&triangle, &p, || side);
        for side in [Ordering::Less, Ordering::Greater] {
            let sign = f64::from(side as i8);
            let within = from([1.0, 1.0, 1.0], side);
            assert!((within.value - sign / 2.0).abs() < 1e-15 && within.error < 1e-13);
            let near = from([5.0, 1.0, 1.0], side);
            assert!(near.value.abs() < 1e-15 && near.error < 1e-13);
            for doubtful in [[1.0, 0.0, 1.0], [4.0, 0.0, 1.0], [2.0, 2.0, 1.0]] {
                assert_eq!(
                    from(doubtful, side),
                    Estimate {
                        value: sign / 4.0,
                        error: 0.25
                    }
                );
            }
        }
        assert_eq!(from([1.0, 1.0, 1.0], Ordering::Equal), Estimate::default());
        let below = of(&triangle, &[1.0, 1.0, 0.0], || unreachable!());
        let above = of(&triangle, &[1.0, 1.0, 2.0], || unreachable!());
        assert!(
            below.value > 0.0 && (below.value + above.value).abs() <= below.error + above.error
        );
    }

    /// Checks that a triangle seen from a point of its rim has the same angle as seen from a slightly
    /// displaced point.
    #[test]
    fn a_triangle_seen_from_its_rim_equals_the_limit_from_nearby() {
        let corners = [
            [0.0, 0.0, 0.0],
            [4.0, 0.0, 0.0],
            [0.0, 4.0, 0.0],
            [2.0, -2.0, 0.0],
            [0.0, 2.0, 4.0],
            [2.0, 2.0, 6.0],
        ];
        let mut seen = 0;
        for [n, m, k] in (0..216).map(|code| [code / 36, code / 6 % 6, code % 6]) {
            let triangle = [corners[n], corners[m], corners[k]];
            if n == m || m == k || k == n {
                continue;
            }
            for at in 0..6 {
                let [a, b] = [triangle[at % 3], triangle[(at + 1) % 3]];
                let (p, rim) = match at {
                    0..3 => (a, RimPlace::Corner(at)),
                    _ => (
                        std::array::from_fn(|i| (a[i] + b[i]) / 2.0),
                        RimPlace::Edge(at - 3),
                    ),
                };
                // The powers of ε differ by factors that are as large as doubles allow.
                let beside = [
                    p[0] - 2f64.powi(-12),
                    p[1] - 2f64.powi(-24),
                    p[2] - 2f64.powi(-36),
                ];
                let expected = of(&triangle, &beside, || Ordering::Equal);
                let side = if expected.value < 0.0 {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                let found = from_rim(&triangle, rim, 0.0, side);
                assert!(found.error < 1e-12, "{triangle:?} {rim:?}");
                assert!(
                    (found.value - expected.value).abs() < 1e-3,
                    "{triangle:?} {rim:?}: {found:?} {expected:?}"
                );
                seen += 1;
            }
        }
        assert_eq!(seen, 120 * 6);
        assert_eq!(
            from_rim(&[corners[0]; 3], RimPlace::Corner(0), 0.0, Ordering::Equal),
            Estimate::default()
        );
    }

    #[test]
    fn a_tetrahedron_winds_once_around_inner_points() {
        let v = [
            [0.1, -0.2, 0.0],
            [5.0, 0.3, 0.1],
            [0.2, 4.0, -0.3],
            [0.5, 0.4, 3.0],
        ];
        let faces = [
            [v[0], v[2], v[1]],
            [v[0], v[1], v[3]],
            [v[1], v[2], v[3]],
            [v[2], v[0], v[3]],
        ];
        for (p, turns) in [
            ([1.0, 0.5, 0.5], 1.0),
            ([1.0, 0.5, -0.5], 0.0),
            ([3.0, 3.0, 3.0], 0.0),
        ] {
            let all = faces.map(|face| of(&face, &p, || unreachable!()));
            let (sum, error) = all
                .iter()
                .fold((0.0, 1e-15), |s, e| (s.0 + e.value, s.1 + e.error));
            assert!(
                (sum - turns).abs() <= error && error < 1e-12,
                "{p:?}: {sum}"
            );
        }
    }
}
