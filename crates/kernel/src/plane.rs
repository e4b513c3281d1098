//! Plane of a triangle: computes the positions along x at which it enters and leaves the rows of cells.
//!
//! A row is a rectangle in (y, z). The plane's x is least and greatest at two opposite corners of this
//! rectangle. The signs of the slopes determine which corners (Schwarz and Seidel 2010 call them critical). A
//! cell of the row passes the test along the plane's normal iff it extends up to at least the least x and
//! down to at most the greatest x.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::exact::LazyExact;
use super::lattice::U;
use super::setup::Setup;
use super::table::{LANES, RAMP, lanes_of};
use crate::geom::crossing::Floor;

/// Plane `x = x₀ + slope · (y - y₀, z - z₀)`.
pub struct LongPlane {
    /// Slopes of x along y and z.
    slope: [f64; 2],
    /// Point of the plane, `[x₀, y₀, z₀]`.
    through: [f64; 3],
    /// Error bound of a crossing. Infinite if all crossings have to be decided exactly.
    pub error: f64,
    /// If a crossing is within `error` of a wall, it is exactly on the wall.
    pub on_grain: bool,
    /// For y and z: wall of a row at which the plane meets the row first along x. 0 is the lower wall, 1 the
    /// upper.
    first: [i64; 2],
}

/// Normal of a triangle, with the error bound of its components and the longest component of an edge.
struct Normal {
    n: [f64; 3],
    /// Error bound of each component. A bound of zero does not imply that the normal is exact, because
    /// different vertices may be rounded to one double.
    error: f64,
    exact: bool,
    size: f64,
}

impl Normal {
    fn of(setup: &Setup) -> Self {
        let edge = |v: usize| setup.u.map(|u| u[v] - u[0]);
        let [ax, ay, az] = edge(1);
        let [bx, by, bz] = edge(2);
        let n = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
        let size = [ax, ay, az, bx, by, bz]
            .into_iter()
            .fold(0.0_f64, |size, e| size.max(e.abs()));
        // Multiples of the grain that are this short are multiplied without rounding.
        let exact = setup.error == 0.0 && size < (1 << 25) as f64 * setup.grain;
        let error = if exact {
            0.0
        } else {
            10.0 * size * (setup.error + U * size)
        };
        Self {
            n,
            error,
            exact,
            size,
        }
    }

    /// Returns `true` if the sign of the computed component may be wrong.
    fn in_doubt(&self, axis: usize) -> bool {
        !self.exact && self.n[axis].abs() <= self.error
    }
}

impl LongPlane {
    /// Creates the plane of a triangle. `None` if the plane is parallel to x. Then the table of the
    /// projection onto y and z decides alone.
    pub fn new(setup: &Setup, exact: &mut LazyExact) -> Option<Self> {
        let normal = Normal::of(setup);
        let Normal {
            n,
            error: normal_error,
            size,
            ..
        } = normal;
        let through = setup.u.map(|u| u[0]);
        if n[0].abs() <= 4.0 * normal_error || setup.error > size / 16.0 {
            if normal.exact {
                return None;
            }
            return Some(Self {
                slope: [0.0; 2],
                through,
                error: f64::INFINITY,
                on_grain: false,
                first: exact_first(exact)?,
            });
        }
        let slope = [-n[1] / n[0], -n[2] / n[0]];
        let reach = [setup.high[1] as f64 + 2.0, setup.high[2] as f64 + 2.0];
        let steep = slope.map(f64::abs);
        let rise = reach[0] * steep[0] + reach[1] * steep[1];
        let error = 2.0 * setup.error * (1.0 + steep[0] + steep[1])
            + 2.0 * normal_error / n[0].abs() * (reach[0] + reach[1] + rise)
            + 8.0 * U * (through[0].abs() + rise);
        // If coordinates are exact, crossings are fractions with the denominator n.x / grain³. A crossing
        // within the error bound of a wall is therefore on the wall.
        let on_grain = setup.error == 0.0 && 3.0 * error * n[0].abs() < setup.grain.powi(3);
        // If the sign of a slope is in doubt, the critical corner is in doubt as well.
        let first = if normal.in_doubt(1) || normal.in_doubt(2) {
            exact_first(exact)?
        } else {
            slope.map(|slope| i64::from(slope < 0.0))
        };
        Some(Self {
            slope,
            through,
            error,
            on_grain,
            first,
        })
    }

    /// Returns the position along x at which the plane meets the line in which walls `y` and `z` intersect.
    pub fn at(&self, y: i64, z: i64) -> f64 {
        let at = self.through[0] + self.slope[1] * (z as f64 - self.through[2]);
        (y as f64 - self.through[1]) * self.slope[0] + at
    }

    /// Returns the positions along x at which the plane meets the lines in which wall `z` intersects the
    /// walls `y, y + 1, …`.
    #[inline(always)]
    fn meets<S: Simd>(&self, simd: S, y: i64, z: i64) -> f64x8<S> {
        let at = self.through[0] + self.slope[1] * (z as f64 - self.through[2]);
        let ys = f64x8::from_slice(simd, &RAMP) + (y as f64 - self.through[1]);
        ys * self.slope[0] + at
    }

    /// Returns the positions along x at which the plane enters and leaves a row in each lane. `row` and
    /// `layer` are the coordinates of the rows.
    #[inline(always)]
    pub fn ends<S: Simd>(&self, row: f64x8<S>, layer: f64x8<S>) -> [f64x8<S>; 2] {
        let [[y, z], [y_last, z_last]] = self.corners(0, 0);
        let enter = (row + (y as f64 - self.through[1])) * self.slope[0];
        let leave = (row + (y_last as f64 - self.through[1])) * self.slope[0];
        let first = layer + (z as f64 - self.through[2]);
        let last = layer + (z_last as f64 - self.through[2]);
        [
            enter + (first * self.slope[1] + self.through[0]),
            leave + (last * self.slope[1] + self.through[0]),
        ]
    }

    /// Cuts the intervals `lows..=highs` of eight rows to the cells that the plane passes. If the plane
    /// passes an end of a row within the error bound of a wall, and this could move an end of the interval,
    /// the crossing is decided exactly.
    #[cold]
    #[inline(never)]
    fn settle(
        &self,
        [j, k]: [i64; 2],
        [lows, highs]: &mut [[f64; LANES]; 2],
        [enter, leave]: [&[f64; LANES]; 2],
        exact: &mut LazyExact,
        cell_of: &dyn Fn(Floor) -> (i64, i64),
    ) {
        let error = self.error;
        let mut floor = |crossing: f64, [y, z]: [i64; 2]| {
            if self.on_grain {
                (crossing.round_ties_even() as i64, true)
            } else {
                exact.plane_crossing(y, z)
            }
        };
        let unsure = |crossing: f64| (crossing - crossing.round_ties_even()).abs() <= error;
        for lane in 0..LANES {
            let [low, high] = [lows[lane], highs[lane]];
            let [enter, leave] = [enter[lane], leave[lane]];
            if low > high {
                continue;
            }
            let [first, last] = self.corners(j + lane as i64, k);
            let decides = enter + error >= low + 1.0 && enter - error <= high + 1.0;
            let enters = if decides && unsure(enter) {
                cell_of(floor(enter, first)).0 as f64
            } else {
                enter.floor()
            };
            let decides = leave - error <= high && leave + error >= low;
            let leaves = if decides && unsure(leave) {
                cell_of(floor(leave, last)).1 as f64
            } else {
                leave.floor()
            };
            (lows[lane], highs[lane]) = (low.max(enters), high.min(leaves));
        }
    }

    /// Returns the walls `[y, z]` of row `(j, k)` at which the plane enters the row, and those at which it
    /// leaves the row, along x.
    #[inline(always)]
    fn corners(&self, j: i64, k: i64) -> [[i64; 2]; 2] {
        let [y, z] = self.first;
        [[j + y, k + z], [j + 1 - y, k + 1 - z]]
    }

    /// Returns the intervals of rows `j..j + 8` of layer `k`, cut to the cells that the plane passes.
    /// `cell_of` returns the lowest and the highest cell that a crossing touches.
    #[inline(always)]
    pub fn cut<S: Simd>(
        &self,
        simd: S,
        [j, k]: [i64; 2],
        [lows, highs]: [f64x8<S>; 2],
        exact: &mut LazyExact,
        cell_of: &dyn Fn(Floor) -> (i64, i64),
    ) -> [f64x8<S>; 2] {
        let [[y, z], [y_last, z_last]] = self.corners(j, k);
        let enter = self.meets(simd, y, z);
        let leave = self.meets(simd, y_last, z_last);
        let distance = (enter - enter.round_ties_even())
            .abs()
            .min((leave - leave.round_ties_even()).abs());
        let unsure = distance.simd_le(f64x8::splat(simd, self.error)) & lows.simd_le(highs);
        if unsure.any_true() {
            let mut ends = [lanes_of(lows), lanes_of(highs)];
            self.settle(
                [j, k],
                &mut ends,
                [&lanes_of(enter), &lanes_of(leave)],
                exact,
                cell_of,
            );
            return [
                f64x8::from_slice(simd, &ends[0]),
                f64x8::from_slice(simd, &ends[1]),
            ];
        }
        [lows.max(enter.floor()), highs.min(leave.floor())]
    }
}

/// Returns the walls at which the plane enters rows along x, from the exact signs of its normal. `None` if
/// the plane is parallel to x.
fn exact_first(exact: &mut LazyExact) -> Option<[i64; 2]> {
    let signs = exact.normal_signs();
    if signs[0] == 0 {
        return None;
    }
    Some([1, 2].map(|axis| i64::from(signs[axis] * signs[0] > 0)))
}
