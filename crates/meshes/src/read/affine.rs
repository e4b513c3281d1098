//! Affine maps (a matrix and a translation, in doubles) that place objects in a mesh.

use voxelize_core::geom::Point;

/// Affine map, as three rows. The last number of each row is the translation.
#[derive(Clone, Copy)]
pub(super) struct Affine(pub [[f64; 4]; 3]);

impl Affine {
    pub(super) const IDENTITY: Self = Self([
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ]);

    /// Returns the map that applies `first`, then this map.
    pub(super) fn after(&self, first: &Self) -> Self {
        Self(self.0.map(|row| {
            let mut product =
                [0, 1, 2, 3].map(|column| (0..3).map(|n| row[n] * first.0[n][column]).sum::<f64>());
            product[3] += row[3];
            product
        }))
    }

    /// Maps a point. The result is computed in doubles and rounded to floats once.
    pub(super) fn apply(&self, [x, y, z]: [f64; 3]) -> Point {
        self.0
            .map(|[a, b, c, shift]| (a * x + b * y + c * z + shift) as f32)
    }

    pub(super) fn is_mirror(&self) -> bool {
        let [[a, b, c, _], [d, e, f, _], [g, h, i, _]] = self.0;
        a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_follow_each_other() {
        let double = Affine([
            [2.0, 0.0, 0.0, 1.0],
            [0.0, 2.0, 0.0, 0.0],
            [0.0, 0.0, -2.0, 0.0],
        ]);
        let shift = Affine([
            [1.0, 0.0, 0.0, 5.0],
            [0.0, 1.0, 0.0, 6.0],
            [0.0, 0.0, 1.0, 7.0],
        ]);
        assert_eq!(
            double.after(&shift).apply([1.0, 1.0, 1.0]),
            [13.0, 14.0, -16.0]
        );
        assert_eq!(shift.after(&double).apply([1.0, 1.0, 1.0]), [8.0, 8.0, 5.0]);
        assert!(double.is_mirror() && !shift.is_mirror() && !double.after(&double).is_mirror());
    }
}
