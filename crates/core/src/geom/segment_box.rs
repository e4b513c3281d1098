//! Tests exactly whether a segment intersects a box, and computes the fractions of the segment at which it
//! enters and leaves the box.
//!
//! A box is the intersection of three slabs. A slab is the space between two planes perpendicular to an axis.
//! Along this axis, the point at the fraction `t` of the segment from `p` to `q` is on the plane at `offset`
//! if `t = (offset - p) / (q - p)`. Therefore the values of `t` for which the point is within a slab form an
//! interval. The segment touches the box if the intervals of the three slabs and `[0, 1]` have a number in
//! common (Kay and Kajiya 1986; Ericson, Real-Time Collision Detection, section 5.3.3).
//!
//! Several intervals have a common number if every two of them have one. [`touches`] tests all pairs without
//! division. Let `d = q - p`, let `n` and `f` be the offsets of the first and last plane minus `p`, and
//! mirror every axis so that `d >= 0`. Then
//!
//! - the interval of a slab and `[0, 1]` have a common number if `n <= d` and `f >= 0`, that is, if the
//!   ranges of segment and box along the axis overlap;
//! - the intervals of two slabs have a common number if `n_i / d_i <= f_j / d_j`, that is, if `n_i d_j <= f_j
//!   d_i`, for both orders of the two slabs.
//!
//! A segment parallel to a slab, with `d = 0`, needs no special case: the first condition becomes `n <= 0 <=
//! f`, which implies the second. The first condition compares given numbers. The second is decided in doubles
//! if the difference exceeds their error bound (`docs/internals/error-bounds.md`, section 8), otherwise in
//! fractions.

use super::Rational;

/// Box given by its least and greatest corner. It is closed: its faces, edges and corners belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedBox {
    /// Least coordinate along each axis.
    pub low: [f64; 3],
    /// Greatest coordinate along each axis, which is at least that of `low`.
    pub high: [f64; 3],
}

/// Reports whether the segment between two points touches the box. The result is exact for all finite
/// coordinates. The points may be equal.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::segment_box::{ClosedBox, touches};
///
/// let unit = ClosedBox { low: [0.0; 3], high: [1.0; 3] };
/// assert!(touches([[-1.0, 0.5, 0.5], [0.0, 0.5, 0.5]], &unit), "it ends on a face");
/// assert!(touches([[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]].map(|p| p.map(|c| c - 0.5)), &unit), "an edge");
/// assert!(!touches([[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]], &unit));
/// ```
pub fn touches([p, q]: [[f64; 3]; 2], within: &ClosedBox) -> bool {
    let axes: [AxisInterval; 3] =
        std::array::from_fn(|a| AxisInterval::new(p[a], q[a], within.low[a], within.high[a]));
    axes.iter()
        .all(|axis| axis.near <= axis.q && axis.far >= axis.p)
        && [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
            .into_iter()
            .all(|(i, j)| axes[i].enters_before(&axes[j]))
}

/// Returns the fractions of the segment at which it enters and leaves the box, from 0 at the first point to 1
/// at the second. `None` if the segment does not touch the box, which is decided exactly. A segment that
/// starts inside the box enters at 0, and a segment that ends inside leaves at 1.
///
/// The error of each fraction is less than `3.1 * 2^-53` of its value (`docs/internals/error-bounds.md`, section 8),
/// and the first fraction is at most the second.
pub fn crossing(segment: [[f64; 3]; 2], within: &ClosedBox) -> Option<[f64; 2]> {
    if !touches(segment, within) {
        return None;
    }
    let [p, q] = segment;
    let mut enter = 0.0_f64;
    let mut leave = 1.0_f64;
    for a in 0..3 {
        let axis = AxisInterval::new(p[a], q[a], within.low[a], within.high[a]);
        if axis.q > axis.p {
            enter = enter.max(axis.fraction(axis.near));
            leave = leave.min(axis.fraction(axis.far));
        }
    }
    Some([enter, leave.max(enter)])
}

/// Segment and box along one axis, mirrored if needed so that `p <= q`.
#[derive(Clone, Copy)]
struct AxisInterval {
    p: f64,
    q: f64,
    near: f64,
    far: f64,
}

impl AxisInterval {
    fn new(p: f64, q: f64, low: f64, high: f64) -> Self {
        if p <= q {
            Self {
                p,
                q,
                near: low,
                far: high,
            }
        } else {
            Self {
                p: -p,
                q: -q,
                near: -high,
                far: -low,
            }
        }
    }

    /// Reports whether the segment enters this slab before it leaves the `other` slab: `n_i d_j <= f_j d_i`.
    /// The caller has checked that the bounds of segment and box overlap along both axes.
    fn enters_before(&self, other: &Self) -> bool {
        // The segment enters this slab at its start, and it does not leave the other slab before its start.
        if self.near <= self.p {
            return true;
        }
        let last = (other.far - other.p) * (self.q - self.p);
        let first = (self.near - self.p) * (other.q - other.p);
        // The comparison is also false if a value is infinite or NaN.
        let error = RELATIVE * (last + first) + ABSOLUTE;
        if (last - first).abs() > error {
            last > first
        } else {
            self.exactly_before(other)
        }
    }

    fn exactly_before(&self, other: &Self) -> bool {
        let last = span(other.p, other.far) * span(self.p, self.q);
        span(self.p, self.near) * span(other.p, other.q) <= last
    }

    /// Returns the fraction of the segment at which its coordinate is `offset`.
    fn fraction(&self, offset: f64) -> f64 {
        let along = offset - self.p;
        let whole = self.q - self.p;
        if along.is_finite() && whole.is_finite() {
            return along / whole;
        }
        ((exact(offset) - exact(self.p)) / (exact(self.q) - exact(self.p))).to_f64()
    }
}

/// Relative error bound of the comparison, 8u with u = 2^-53. The relative error of each product is below
/// 3.1u.
const RELATIVE: f64 = 8.0 / (1_u64 << 53) as f64;

/// Upper bound of the absolute error of products that underflow.
const ABSOLUTE: f64 = f64::MIN_POSITIVE;

fn span(from: f64, to: f64) -> Rational {
    exact(to) - exact(from)
}

fn exact(value: f64) -> Rational {
    Rational::from_f64(value).expect("coordinates are finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: ClosedBox = ClosedBox {
        low: [0.0; 3],
        high: [1.0; 3],
    };

    #[test]
    fn fractions_mark_entry_and_exit() {
        let half = [0.5; 3];
        for (from, to, expected) in [
            ([-1.0, 0.5, 0.5], [3.0, 0.5, 0.5], Some([0.25, 0.5])),
            ([3.0, 0.5, 0.5], [-1.0, 0.5, 0.5], Some([0.5, 0.75])),
            (half, [0.5, 0.5, 1.5], Some([0.0, 0.5])),
            (half, half, Some([0.0, 1.0])),
            ([-1.0; 3], [1.0; 3], Some([0.5, 1.0])),
            ([-1.0, 0.0, 1.0], [0.0, 0.0, 1.0], Some([1.0, 1.0])),
            ([-1.0, 0.5, 0.5], [-0.5, 0.5, 0.5], None),
            ([0.5, 0.5, 2.0], [0.5, 0.5, 2.0], None),
        ] {
            assert_eq!(crossing([from, to], &UNIT), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn numbers_beyond_doubles_on_the_way_are_decided() {
        let most = f64::MAX;
        let all = ClosedBox {
            low: [-most; 3],
            high: [most, 0.0, 0.0],
        };
        let diagonal = [[-most, most, 0.0], [most, -most, 0.0]];
        assert_eq!(crossing(diagonal, &all), Some([0.5, 1.0]));
        let tiny = f64::from_bits(1);
        let corner = ClosedBox {
            low: [tiny, tiny, 0.0],
            high: [1.0; 3],
        };
        // The segment from (0, 2) to (2, 0), in units of the smallest positive double, touches the box only
        // at (1, 1).
        assert!(touches(
            [[0.0, 2.0 * tiny, 0.0], [2.0 * tiny, 0.0, 0.0]],
            &corner
        ));
        assert!(!touches(
            [[0.0, tiny, 0.0], [2.0 * tiny, 0.0, 0.0]],
            &corner
        ));
    }
}
