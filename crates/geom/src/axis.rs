//! One axis of a lattice. It maps a coordinate of the file to an exact coordinate in index space, where
//! lattice planes have integer coordinates.
//!
//! A binary STL file cannot store 0.7. It stores the 32-bit float nearest to 0.7. Under [`Snap::Float`], a
//! coordinate that *is* the float nearest to a wall or to a plane of cell centres is moved exactly onto this
//! plane.
//!
//! All results are exact. Most are computed with doubles and 128-bit integers. Where these cannot decide,
//! rationals are used.

use std::cmp::Ordering;

use crate::Rational;

/// Treatment of coordinates that equal the 32-bit float nearest to a wall or to a plane of cell centres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Snap {
    /// Such a coordinate is moved onto the plane, provided that adjacent floats there are less than a
    /// thousandth of a cell apart.
    #[default]
    Float,
    /// Coordinates keep the exact values of the file.
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

/// Greatest distance from the first wall, in cells, at which the position of a coordinate is computed. Beyond
/// it a coordinate is only known to be far away. Every lattice has fewer cells, and up to this distance
/// doubles are accurate to a fraction of a cell.
pub const FAR: i64 = 1 << 48;

/// Map of one axis from world space to index space. Wall `i` has the world coordinate `origin + i * spacing`.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisMap {
    origin: Rational,
    spacing: Rational,
    snap: Snap,
    planes: Planes,
    ratio: Option<Ratio>,
}

/// Walls and planes of cell centres of an axis, as doubles. Plane `m` is near `origin + m * half`. It is a
/// wall if the half-index `m` is even, otherwise a plane of cell centres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planes {
    /// Double nearest to the origin.
    pub origin: f64,
    /// Double nearest to half the spacing.
    pub half: f64,
    /// `origin + m * half` is exact for all `m` up to [`EXACT_PLANES`].
    pub exact: bool,
    /// Magnitude below which coordinates may snap. Below it adjacent floats are less than `spacing / 1000`
    /// apart. Zero if coordinates do not snap.
    pub limit: f64,
}

/// Greatest half-index for which [`Planes::exact`] holds. It is more than twice the greatest number of cells
/// along an axis.
pub const EXACT_PLANES: f64 = (1u64 << 26) as f64;

impl Planes {
    fn of(origin: &Rational, spacing: &Rational, snap: Snap) -> Self {
        let half = spacing / Rational::from(2);
        let o = origin.to_f64();
        let h = half.to_f64();
        // Both numbers are multiples of some 2^-k. The sum is exact if the farthest plane is less than 2^53
        // times 2^-k.
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

    /// Returns the position of plane `m` as a double, and its error bound. The bound allows for a few
    /// roundings of the terms (docs/internals/error-bounds.md).
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

/// Map from world to index space in small integers: the index coordinate of `v` is `(v * mul - add) / unit`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ratio {
    mul: i128,
    add: i128,
    unit: i128,
}

/// Three coordinates of a triangle along one axis as exact integers. The index coordinate of vertex `n` is
/// `values[n] / unit`. The unit is even, so that the coordinates of cell centres are integers as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled {
    /// Index coordinates times `unit`.
    pub values: [i128; 3],
    /// Size of a cell in the same scale.
    pub unit: i128,
}

/// Axis of a lattice: the map that gives the positions of its walls, and the number of cells.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticeAxis {
    /// Map from world space to index space.
    pub map: AxisMap,
    /// Number of cells along the axis.
    pub cells: usize,
    /// The last wall belongs to the last cell of the lattice.
    pub closed: bool,
}

impl AxisMap {
    /// Creates the map whose walls are at `origin + i * spacing`. `spacing` must be positive.
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

    /// Returns the distance between adjacent walls.
    pub fn spacing(&self) -> &Rational {
        &self.spacing
    }

    /// Returns the treatment of coordinates that are nearest to a wall or to a plane of cell centres.
    pub fn snap(&self) -> Snap {
        self.snap
    }

    /// Returns the exact world coordinate of plane `m`. It is wall `m / 2` if `m` is even, otherwise a plane
    /// of cell centres.
    pub fn half_plane(&self, m: i64) -> Rational {
        &self.origin + &(&self.spacing * &Rational::new(m, 2))
    }

    /// Returns the walls and the planes of cell centres as doubles.
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Returns the half-index of the plane to which the finite coordinate `v` snaps. It is even for a wall
    /// and odd for a plane of cell centres. `None` if `v` does not snap. A coordinate that is exactly on a
    /// plane snaps to it. No coordinate snaps to a plane beyond half-index [`FAR`].
    #[inline]
    pub fn snapped(&self, v: f32) -> Option<i64> {
        if f64::from(v.abs()) >= self.planes.limit {
            return None;
        }
        // The quotient of a snapping coordinate differs from its half-index by at most half the spacing of
        // floats, which is less than 1/1000. For such magnitudes the error of doubles is a fraction of that.
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

    /// Returns `true` if snapping changes `v`, which snaps to plane `m`. Returns `false` if `v` is exactly on
    /// the plane.
    #[inline]
    pub fn moves_to(&self, v: f32, m: i64) -> bool {
        let (plane, error) = self.planes.at(m as f64);
        let off = (plane - f64::from(v)).abs();
        off > error || (error > 0.0 && self.side(v, m) != Ordering::Equal)
    }

    /// Returns `true` if snapping changes `v`: it snaps to a plane and is not exactly on it.
    pub fn moves(&self, v: f32) -> bool {
        self.snapped(v).is_some_and(|m| self.moves_to(v, m))
    }

    /// Returns the side of plane `m` on which the exact value of `v` is, without snapping.
    pub fn side(&self, v: f32, m: i64) -> Ordering {
        match self.side_in_integers(v, m) {
            Some(side) => side,
            None => exact(v).cmp(&self.half_plane(m)),
        }
    }

    /// Compares `v * mul - add` with `m / 2 * unit`. `None` if a number does not fit in 128 bits.
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

    /// Returns the exact index coordinate of the finite coordinate `v` after snapping.
    pub fn index(&self, v: f32) -> Rational {
        match self.snapped(v) {
            Some(m) => Rational::new(m, 2),
            None => self.index_of(&exact(v)),
        }
    }

    /// Returns the exact index coordinate of an exact world coordinate, without snapping.
    pub fn index_of(&self, coordinate: &Rational) -> Rational {
        (coordinate - &self.origin) / &self.spacing
    }

    /// Returns the index of the greatest wall at or below `v` after snapping, and `true` if `v` is on this
    /// wall. `guess` is any double near the index coordinate. Beyond ±[`FAR`] the index is limited to
    /// ±[`FAR`], and the second value is `false`.
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

    /// Returns three coordinates after snapping, as exact integers with a common unit. `None` if they do not
    /// fit in 128 bits with some bits to spare.
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
        // Divides by the greatest common power of two for which the unit stays even.
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
        // The index coordinate is u = (v - on / od) * hd / hn. With od = g a and hd = g b this is u = (v * g
        // a b - on * b) / (a * hn).
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

/// Returns the magnitude below which adjacent 32-bit floats are less than `spacing / 1000` apart.
fn snap_limit(spacing: &Rational) -> f64 {
    let widest = spacing / Rational::from(1000);
    // `step` becomes the greatest power of two below `widest`. Adjacent floats below `2^24 * step` are at
    // most `step` apart.
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

/// Splits `v` into a mantissa and an exponent with `v = mantissa * 2^exponent`. The mantissa is odd or zero.
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

/// Returns `value * 2^by`. `None` if it does not fit in 128 bits. `by` must not be negative unless `value` is
/// zero.
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
        // Near 1e6, adjacent floats are 1/16 apart, so a cell of size 1 has fewer than a thousand floats.
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

    /// Returns values of many magnitudes, some of them on planes or next to planes.
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
