//! Axis-aligned bounding box of a set of points.

use crate::{Point, Rational, Triangle};

/// Axis-aligned bounding box in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest coordinate along each axis.
    pub min: Point,
    /// Largest coordinate along each axis.
    pub max: Point,
}

impl Bounds {
    /// Bounding box of no points. [`with`](Self::with) turns it into the box of a single point.
    pub const EMPTY: Self = Self {
        min: [f32::INFINITY; 3],
        max: [f32::NEG_INFINITY; 3],
    };

    /// Returns the bounding box of triangles, or [`Bounds::EMPTY`] for an empty list.
    pub fn of(triangles: &[Triangle]) -> Self {
        triangles
            .iter()
            .flatten()
            .fold(Self::EMPTY, |bounds, point| bounds.with(point))
    }

    /// Returns this box, extended so that it contains `point`. `-0` is stored as `0`, so that equal boxes are
    /// printed equally.
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

    /// Returns the smallest box that contains both boxes.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        if other.is_empty() {
            self
        } else {
            self.with(&other.min).with(&other.max)
        }
    }

    /// Returns `true` if the box contains no point.
    pub fn is_empty(&self) -> bool {
        self.min[0] > self.max[0]
    }

    /// Returns both corners as exact numbers, `[min, max]`. `None` if the box is empty or a coordinate is not
    /// finite.
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
