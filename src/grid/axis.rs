//! One axis of a lattice: from a coordinate in the file to an exact coordinate in index space.
//!
//! A binary STL cannot hold 0.7, it holds the nearest float. Under [`Snap::Float`] a coordinate
//! that *is* the float nearest to a wall, or to a plane of cell centres, is taken to lie on it.

use crate::geom::Rational;

/// Whether coordinates that are the nearest float to a wall or centre plane are taken to lie on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Snap {
    /// Yes, where the float step is below a thousandth of a cell.
    #[default]
    Float,
    /// No: the bits of the file as they are.
    None,
}

impl Snap {
    /// The word for it on the command line and in saved files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::None => "none",
        }
    }
}

/// The map of one axis from world space to index space: wall `i` is at `origin + i * spacing`.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisMap {
    origin: Rational,
    spacing: Rational,
    snap: Snap,
    /// For the quick look: doubles near the origin and near half a cell.
    near: (f64, f64),
    /// A float step must be below this for its coordinates to snap: spacing / 1000.
    widest_step: Rational,
}

impl AxisMap {
    /// The map for walls at `origin + i * spacing`; `spacing` is above zero.
    pub fn new(origin: Rational, spacing: Rational, snap: Snap) -> Self {
        let near = (origin.to_f64(), (&spacing / Rational::from(2)).to_f64());
        let widest_step = &spacing / Rational::from(1000);
        Self { origin, spacing, snap, near, widest_step }
    }

    /// The coordinate of wall 0.
    pub fn origin(&self) -> &Rational {
        &self.origin
    }

    /// The distance between walls.
    pub fn spacing(&self) -> &Rational {
        &self.spacing
    }

    /// Whether coordinates snap.
    pub fn snap(&self) -> Snap {
        self.snap
    }

    /// The exact world coordinate of half-index `m`: wall `m / 2` if even, else a centre plane.
    pub fn half_plane(&self, m: i64) -> Rational {
        &self.origin + &(&self.spacing * &Rational::new(m, 2))
    }

    /// The half-index that the finite coordinate `v` snaps to, if it does: even for a wall, odd
    /// for a plane of cell centres. A coordinate exactly on a plane answers with it, too.
    pub fn snapped(&self, v: f32) -> Option<i64> {
        if self.snap == Snap::None {
            return None;
        }
        // A snapped coordinate is within half a float step of its plane, so within 1/1000 of a
        // half-index; the doubles here are far better than the 1/4 they are asked for.
        let guess = (f64::from(v) - self.near.0) / self.near.1;
        let m = guess.round();
        if (guess - m).abs() > 0.25 || m.abs() > 9e15 {
            return None;
        }
        let magnitude = v.abs();
        let step = f64::from(magnitude.next_up()) - f64::from(magnitude);
        let m = m as i64;
        let lies_on = self.half_plane(m).to_f32() == v;
        (lies_on && Rational::from_f64(step)? < self.widest_step).then_some(m)
    }

    /// Whether snapping moves `v`: it snaps, and was not exactly there.
    pub fn moves(&self, v: f32) -> bool {
        self.snapped(v).is_some_and(|m| Some(self.half_plane(m)) != Rational::from_f32(v))
    }

    /// The exact index coordinate of the finite coordinate `v`, after snapping.
    pub fn index(&self, v: f32) -> Rational {
        match self.snapped(v) {
            Some(m) => Rational::new(m, 2),
            None => self.index_of(&Rational::from_f32(v).expect("coordinates are finite")),
        }
    }

    /// The index coordinate of an exact world coordinate, which never snaps.
    pub fn index_of(&self, coordinate: &Rational) -> Rational {
        (coordinate - &self.origin) / &self.spacing
    }
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
        for (v, m) in [(0.7_f32, 14), (0.3, 6), (2.5, 50), (-0.2, -4), (0.05, 1), (0.0, 0), (-0.0, 0)] {
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
    }

    #[test]
    fn coarse_floats_do_not_snap() {
        // At 1e6 floats step by 1/16; a cell of 1 is not a thousand steps wide.
        let axis = AxisMap::new(Rational::new(1, 3), Rational::ONE, Snap::Float);
        let v = (Rational::new(1, 3) + Rational::from(1_000_000)).to_f32();
        assert_eq!(axis.snapped(v), None);
        let fine = (Rational::new(1, 3) + Rational::from(1000)).to_f32();
        assert_eq!(axis.snapped(fine), Some(2000));
    }
}
