//! Axis-aligned bounding box of a set of points.

use crate::{Point, Rational, Triangle};

/// Smallest and largest coordinate per axis, `[x, y, z]`, in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: Point,
    /// Largest coordinates.
    pub max: Point,
}

impl Bounds {
    /// Empty bounds. The first point added replaces them.
    pub const EMPTY: Self = Self {
        min: [f32::INFINITY; 3],
        max: [f32::NEG_INFINITY; 3],
    };

    /// Returns the bounds of triangles, [`Bounds::EMPTY`] for an empty list.
    pub fn of(triangles: &[Triangle]) -> Self {
        triangles
            .iter()
            .flatten()
            .fold(Self::EMPTY, |bounds, point| bounds.with(point))
    }

    /// Returns these bounds grown to contain `point`. `-0` counts as `0`, so that equal bounds print alike.
    #[must_use]
    #[inline]
    pub fn with(mut self, point: &Point) -> Self {
        for (axis, &coordinate) in point.iter().enumerate() {
            let coordinate = coordinate + 0.0;
            self.min[axis] = self.min[axis].min(coordinate);
            self.max[axis] = self.max[axis].max(coordinate);
        }
        self
    }

    /// Returns the bounds of both.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        if other.is_empty() {
            self
        } else {
            self.with(&other.min).with(&other.max)
        }
    }

    /// Returns `true` if the bounds contain no point.
    pub fn is_empty(&self) -> bool {
        self.min[0] > self.max[0]
    }

    /// Returns both corners as exact numbers, `[min, max]`; `None` if the bounds are empty or not finite.
    pub fn exact(&self) -> Option<[[Rational; 3]; 2]> {
        if self.is_empty() {
            return None;
        }
        Some([exact_point(self.min)?, exact_point(self.max)?])
    }
}

fn exact_point(point: Point) -> Option<[Rational; 3]> {
    let [x, y, z] = point.map(Rational::from_f32);
    Some([x?, y?, z?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_all_points_and_no_negative_zero() {
        let bounds = Bounds::of(&[[[-0.0, 2.0, 3.0], [-1.0, 5.0, 3.0], [-0.0, 0.5, 4.0]]]);
        assert_eq!(
            (bounds.min, bounds.max),
            ([-1.0, 0.5, 3.0], [0.0, 5.0, 4.0])
        );
        assert!(bounds.max[0].is_sign_positive());
        assert!(Bounds::EMPTY.is_empty() && Bounds::of(&[]).exact().is_none());
        assert_eq!(bounds.union(&Bounds::EMPTY), bounds);
    }
}
