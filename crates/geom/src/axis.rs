//! One axis of a lattice: maps a coordinate in the file to an exact coordinate in index space.
//!
//! A binary STL cannot store 0.7, only the nearest float. Under [`Snap::Float`] a coordinate that *is* the
//! float nearest to a wall or to a plane of cell centres is moved onto it.
//!
//! All results are exact. Doubles and 128-bit integers give most of them. Cases that they cannot settle use
//! rationals.

use std::cmp::Ordering;

use crate::Rational;

/// Treatment of coordinates that are the nearest float to a wall or centre plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Snap {
    /// Such coordinates lie on the plane, provided that the float step there is below a thousandth of a cell.
    #[default]
    Float,
    /// Coordinates keep the bits of the file.
    None,
}

impl Snap {
    /// Returns the name on the command line and in saved files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::None => "none",
        }
    }
}

/// Bound on the distance from the first wall, in walls, up to which coordinates are resolved; beyond it a
/// coordinate is only known to be far away. No lattice has as many cells, and within it doubles are accurate
/// to a fraction of a cell.
pub const FAR: i64 = 1 << 48;

/// Map of one axis from world space to index space: wall `i` is at `origin + i * spacing`.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisMap {
    origin: Rational,
    spacing: Rational,
    snap: Snap,
    planes: Planes,
    ratio: Option<Ratio>,
}

/// Half-planes of an axis as doubles: half-index `m` is near `origin + m * half`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planes {
    /// Double nearest to the origin.
    pub origin: f64,
    /// Double nearest to half the spacing.
    pub half: f64,
    /// The sum is exact for half-indices up to [`EXACT_PLANES`].
    pub exact: bool,
    /// Magnitude below which coordinates snap: the float step is below spacing / 1000 there. Zero if
    /// coordinates do not snap.
    pub limit: f64,
}

/// Bound for [`Planes::exact`]: more than twice the largest number of cells of a lattice.
pub const EXACT_PLANES: f64 = (1u64 << 26) as f64;

impl Planes {
    fn of(origin: &Rational, spacing: &Rational, snap: Snap) -> Self {
        let half = spacing / Rational::from(2);
        let o = origin.to_f64();
        let h = half.to_f64();
        // Both are multiples of some 2^-k, and the farthest plane is below 2^53 of it.
        let exact = match (origin.parts(), half.parts()) {
            (Some((_, p)), Some((_, q))) if origin.is_f64() && half.is_f64() => {
                (o.abs() + EXACT_PLANES * h) * (p.max(q) as f64) < 2f64.powi(53)
            }
            _ => false,
        };
        let limit = if snap == Snap::Float {
            snap_limit(spacing)
        } else {
            0.0
        };
        Self {
            origin: o,
            half: h,
            exact,
            limit,
        }
    }

    /// Returns the plane of half-index `m` as a double, and its error bound: a few roundings of its parts
    /// (docs/internals/error-bounds.md).
    pub fn at(&self, m: f64) -> (f64, f64) {
        let offset = m * self.half;
        let exact = self.exact && m.abs() <= EXACT_PLANES;
        let error = if exact {
            0.0
        } else {
            4.0 * f64::EPSILON * (self.origin.abs() + offset.abs())
        };
        (self.origin + offset, error)
    }
}

/// Map in small integers: index coordinate `u = (v * mul - add) / unit`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ratio {
    mul: i128,
    add: i128,
    unit: i128,
}

/// Three coordinates of a triangle along one axis as exact integers: index coordinate `u = values[n] / unit`.
/// The unit is even, so that cell centres are whole numbers as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled {
    /// Index coordinates times `unit`.
    pub values: [i128; 3],
    /// Scaled size of a cell.
    pub unit: i128,
}

/// Axis of a lattice: the positions of its walls and the number of cells between them.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticeAxis {
    /// Map from world to index space.
    pub map: AxisMap,
    /// Number of cells along the axis.
    pub cells: usize,
    /// The last wall belongs to the lattice.
    pub closed: bool,
}

impl AxisMap {
    /// Creates the map with walls at `origin + i * spacing`. `spacing` must be above zero.
    pub fn new(origin: Rational, spacing: Rational, snap: Snap) -> Self {
        let planes = Planes::of(&origin, &spacing, snap);
        let ratio = Ratio::of(&origin, &spacing);
        Self {
            origin,
            spacing,
            snap,
            planes,
            ratio,
        }
    }

    /// Returns the coordinate of wall 0.
    pub fn origin(&self) -> &Rational {
        &self.origin
    }

    /// Returns the distance between walls.
    pub fn spacing(&self) -> &Rational {
        &self.spacing
    }

    /// Returns the treatment of coordinates close to walls.
    pub fn snap(&self) -> Snap {
        self.snap
    }

    /// Returns the exact world coordinate of half-index `m`: wall `m / 2` if `m` is even, otherwise a centre
    /// plane.
    pub fn half_plane(&self, m: i64) -> Rational {
        &self.origin + &(&self.spacing * &Rational::new(m, 2))
    }

    /// Returns the half-planes as doubles.
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Returns the half-index that the finite coordinate `v` snaps to, even for a wall and odd for a plane of
    /// cell centres. A coordinate exactly on a plane also returns it. Nothing snaps beyond [`FAR`]
    /// half-planes.
    #[inline]
    pub fn snapped(&self, v: f32) -> Option<i64> {
        if f64::from(v.abs()) >= self.planes.limit {
            return None;
        }
        // A snapping coordinate is within half a float step, and so within 1/1000, of its half-index. Doubles
        // are accurate to a fraction of that for the magnitudes that snap.
        let m = ((f64::from(v) - self.planes.origin) / self.planes.half).round_ties_even();
        if m.abs() > FAR as f64 {
            return None;
        }
        let (plane, error) = self.planes.at(m);
        let below = (plane - error) as f32;
        let above = (plane + error) as f32;
        let lies_on = if below == above {
            above == v
        } else {
            self.half_plane(m as i64).to_f32() == v
        };
        lies_on.then_some(m as i64)
    }

    /// Returns `true` if snapping moves `v` to half-index `m`, which it snaps to: `v` was not exactly there.
    #[inline]
    pub fn moves_to(&self, v: f32, m: i64) -> bool {
        let (plane, error) = self.planes.at(m as f64);
        let off = (plane - f64::from(v)).abs();
        off > error || (error > 0.0 && self.side(v, m) != Ordering::Equal)
    }

    /// Returns `true` if snapping moves `v`: it snaps, and was not exactly there.
    pub fn moves(&self, v: f32) -> bool {
        self.snapped(v).is_some_and(|m| self.moves_to(v, m))
    }

    /// Returns the side of half-plane `m` on which the bits of `v` lie, without snapping.
    pub fn side(&self, v: f32, m: i64) -> Ordering {
        match self.side_in_integers(v, m) {
            Some(side) => side,
            None => exact(v).cmp(&self.half_plane(m)),
        }
    }

    /// Compares v * mul - add with m / 2 * unit. `None` if a number exceeds 128 bits.
    fn side_in_integers(&self, v: f32, m: i64) -> Option<Ordering> {
        let Ratio { mul, add, unit } = self.ratio?;
        let (mantissa, exponent) = parts(v);
        let left = (2 * mantissa).checked_mul(mul)?;
        let right = unit
            .checked_mul(m.into())?
            .checked_add(add.checked_mul(2)?)?;
        if exponent >= 0 {
            Some(shifted(left, exponent)?.cmp(&right))
        } else {
            Some(left.cmp(&shifted(right, -exponent)?))
        }
    }

    /// Returns the exact index coordinate of the finite coordinate `v`, after snapping.
    pub fn index(&self, v: f32) -> Rational {
        match self.snapped(v) {
            Some(m) => Rational::new(m, 2),
            None => self.index_of(&exact(v)),
        }
    }

    /// Returns the index coordinate of an exact world coordinate, without snapping.
    pub fn index_of(&self, coordinate: &Rational) -> Rational {
        (coordinate - &self.origin) / &self.spacing
    }

    /// Returns the greatest wall at or below `v` after snapping, and `true` if `v` lies on it. `guess` is any
    /// double near the index coordinate. Beyond ±[`FAR`] walls the result saturates and is never on a wall.
    pub fn floor(&self, v: f32, guess: f64) -> (i64, bool) {
        if let Some(m) = self.snapped(v) {
            return (m.div_euclid(2), m % 2 == 0);
        }
        let near = guess.round();
        if near.abs() >= FAR as f64 {
            return (if near > 0.0 { FAR } else { -FAR }, false);
        }
        let mut wall = near as i64;
        while self.side(v, 2 * wall) == Ordering::Less {
            wall -= 1;
        }
        while self.side(v, 2 * wall + 2) != Ordering::Less {
            wall += 1;
        }
        (wall, self.side(v, 2 * wall) == Ordering::Equal)
    }

    /// Returns three coordinates as exact integers over a common unit, after snapping. `None` if they do not
    /// fit 128 bits with room to spare.
    pub fn scaled(&self, coordinates: [f32; 3]) -> Option<Scaled> {
        let Ratio { mul, add, unit } = self.ratio?;
        let split = coordinates.map(parts);
        let down = split.iter().map(|&(_, exponent)| exponent).min()?.min(0);
        let unit = shifted(unit.checked_mul(2)?, -down)?;
        let add = shifted(add.checked_mul(2)?, -down)?;
        let mut values = [0; 3];
        for (n, &(mantissa, exponent)) in split.iter().enumerate() {
            values[n] = match self.snapped(coordinates[n]) {
                Some(m) => (unit / 2).checked_mul(m.into())?,
                None => {
                    shifted((2 * mantissa).checked_mul(mul)?, exponent - down)?.checked_sub(add)?
                }
            };
        }
        // Divide by common powers of two. The unit stays even.
        let zeros = values.iter().fold(unit.trailing_zeros() - 1, |zeros, v| {
            zeros.min(v.trailing_zeros())
        });
        Some(Scaled {
            values: values.map(|v| v >> zeros),
            unit: unit >> zeros,
        })
    }
}

impl Ratio {
    fn of(origin: &Rational, spacing: &Rational) -> Option<Self> {
        // u = (v - on / od) * hd / hn. With od = g a and hd = g b this is u = (v * g a b - on * b) / (a *
        // hn).
        let (on, od) = origin.parts()?;
        let (hn, hd) = spacing.parts()?;
        let g = gcd(od, hd);
        let mul = od.checked_mul(hd / g)?;
        let add = on.checked_mul(hd / g)?;
        let unit = hn.checked_mul(od / g)?;
        let g = gcd(gcd(mul, add), unit);
        let reduced = Self {
            mul: mul / g,
            add: add / g,
            unit: unit / g,
        };
        for n in [reduced.mul, reduced.add, reduced.unit] {
            if n.unsigned_abs() >= 1 << 96 {
                return None;
            }
        }
        Some(reduced)
    }
}

/// Returns the magnitude below which floats step by less than `spacing / 1000`.
fn snap_limit(spacing: &Rational) -> f64 {
    let widest = spacing / Rational::from(1000);
    // The greatest power of two below `widest`. A float below 2^24 times it steps by at most this power.
    let mut step = 2f64.powi(widest.to_f64().log2().floor() as i32 + 1);
    while step > 0.0 && Rational::from_f64(step).is_none_or(|step| step >= widest) {
        step /= 2.0;
    }
    if step < f64::from(f32::from_bits(1)) {
        0.0
    } else {
        step * 2f64.powi(24)
    }
}

/// Splits `v = mantissa * 2^exponent`, with an odd mantissa or zero.
fn parts(v: f32) -> (i128, i32) {
    let bits = v.to_bits();
    let field = (bits >> 23 & 0xff) as i32;
    let fraction = i128::from(bits & 0x7f_ffff);
    let (mantissa, exponent) = if field == 0 {
        (fraction, -149)
    } else {
        (fraction | 1 << 23, field - 150)
    };
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.trailing_zeros() as i32;
    let mantissa = mantissa >> zeros;
    (if v < 0.0 { -mantissa } else { mantissa }, exponent + zeros)
}

/// Returns `value * 2^by`, if it fits. `by` is not negative unless `value` is zero.
fn shifted(value: i128, by: i32) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    let room = value.unsigned_abs().leading_zeros() as i32 - 2;
    if by > room {
        return None;
    }
    Some(value << by)
}

fn gcd(a: i128, b: i128) -> i128 {
    let mut a = a.unsigned_abs();
    let mut b = b.unsigned_abs();
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i128
}

fn exact(v: f32) -> Rational {
    Rational::from_f32(v).expect("coordinates of a mesh are finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenths(snap: Snap) -> AxisMap {
        AxisMap::new(Rational::ZERO, Rational::new(1, 10), snap)
    }

    #[test]
    fn decimals_snap_to_the_wall_they_mean() {
        let axis = tenths(Snap::Float);
        for (v, m) in [
            (0.7_f32, 14),
            (0.3, 6),
            (2.5, 50),
            (-0.2, -4),
            (0.05, 1),
            (0.0, 0),
            (-0.0, 0),
        ] {
            assert_eq!(axis.snapped(v), Some(m), "{v}");
            assert_eq!(axis.index(v), Rational::new(m, 2));
        }
        assert!(axis.moves(0.7) && !axis.moves(2.5) && !axis.moves(0.0));
    }

    #[test]
    fn neighbours_of_the_nearest_float_do_not_snap() {
        let axis = tenths(Snap::Float);
        assert_eq!(axis.snapped(0.7_f32.next_up()), None);
        assert_eq!(axis.snapped(0.7_f32.next_down()), None);
    }

    #[test]
    fn without_snap_the_bits_count() {
        let axis = tenths(Snap::None);
        assert!(axis.index(0.7) < Rational::from(7) && axis.index(0.3) > Rational::from(3));
        assert_eq!(
            (axis.floor(0.7, 7.0), axis.floor(0.3, 3.0)),
            ((6, false), (3, false))
        );
        assert_eq!(axis.floor(2.5, 24.9), (25, true));
        assert_eq!(axis.floor(-1e30, -1e31), (-FAR, false));
    }

    #[test]
    fn coarse_floats_do_not_snap() {
        // At 1e6 floats step by 1/16, and a cell of size 1 is less than a thousand steps wide.
        let axis = AxisMap::new(Rational::new(1, 3), Rational::ONE, Snap::Float);
        let v = (Rational::new(1, 3) + Rational::from(1_000_000)).to_f32();
        assert_eq!(axis.snapped(v), None);
        let fine = (Rational::new(1, 3) + Rational::from(1000)).to_f32();
        assert_eq!(axis.snapped(fine), Some(2000));
    }

    #[test]
    fn the_limit_is_where_the_step_reaches_a_thousandth() {
        for spacing in [
            Rational::ONE,
            Rational::new(1, 10),
            Rational::new(27, 256),
            Rational::new(1000, 1),
        ] {
            let limit = snap_limit(&spacing) as f32;
            let step = |v: f32| Rational::from_f32(v.next_up() - v).unwrap();
            assert!(
                step(limit.next_down()) < &spacing / Rational::from(1000),
                "{spacing}"
            );
            assert!(step(limit) >= &spacing / Rational::from(1000), "{spacing}");
        }
    }

    /// Values of many magnitudes, near planes and on them.
    fn samples(axis: &AxisMap) -> Vec<f32> {
        let mut values = vec![
            0.0,
            -0.0,
            1e-40,
            f32::MIN_POSITIVE,
            -2.731_852e-16,
            1e6,
            -3.5e7,
            1e12,
        ];
        for m in -40..40 {
            let plane = axis.half_plane(m * 3).to_f32();
            values.extend([plane, plane.next_up(), plane.next_down(), plane + 0.013]);
        }
        values
    }

    #[test]
    fn fast_answers_equal_the_rational_ones() {
        let origins = [
            Rational::ZERO,
            Rational::new(1, 3),
            Rational::from_f32(-2.731_852e-16).unwrap(),
        ];
        let sizes = [
            Rational::ONE,
            Rational::new(1, 10),
            Rational::new(27, 256),
            Rational::new(999, 7),
        ];
        let mut compared = 0;
        for (origin, spacing) in origins
            .iter()
            .flat_map(|o| sizes.iter().map(move |s| (o, s)))
        {
            for snap in [Snap::Float, Snap::None] {
                let axis = AxisMap::new(origin.clone(), spacing.clone(), snap);
                for v in samples(&axis) {
                    let m = (exact(v) - origin) / spacing * Rational::from(2);
                    let m = m.round().expect("within range");
                    assert_eq!(
                        axis.side(v, m),
                        exact(v).cmp(&axis.half_plane(m)),
                        "{v} {axis:?}"
                    );
                    let index = axis.index(v);
                    let floor = axis.floor(v, index.to_f64());
                    assert_eq!(
                        floor,
                        (index.floor().unwrap(), index.is_whole()),
                        "{v} {axis:?}"
                    );
                    if let Some(scaled) = axis.scaled([v, 0.5, v]) {
                        let ratio = Rational::from_wide(scaled.values[0].into())
                            / Rational::from_wide(scaled.unit.into());
                        assert_eq!(ratio, index, "{v} {axis:?}");
                        assert_eq!(scaled.unit % 2, 0);
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 2000, "{compared}");
    }
}
