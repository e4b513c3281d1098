//! How two fields differ: by how much at most and where, and in how many cells by more than a tolerance.

use super::diff::{joined, same_dims};
use crate::error::{Error, Result};
use crate::grid::Field;
use crate::par;

/// How two fields of the same dims differ, cell by cell.
///
/// ```
/// use voxelize::compare::FieldDifference;
/// use voxelize::grid::Field;
///
/// let old = Field::from_values([4, 1, 1], 0.0, vec![0.0, 1.0, 2.0, f32::NAN])?;
/// let new = Field::from_values([4, 1, 1], 0.0, vec![0.0, 1.25, -1.0, f32::NAN])?;
/// let difference = FieldDifference::between(&old, &new, 0.5)?;
/// assert_eq!((difference.differing, difference.beyond), (2, 1));
/// assert_eq!(difference.largest.unwrap().cell, [2, 0, 0]);
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FieldDifference {
    /// Cells whose values are not equal numbers. All NaNs are equal, and so are −0 and +0.
    pub differing: u64,
    /// Cells whose values differ by more than the tolerance. A NaN differs from a number by infinity.
    pub beyond: u64,
    /// The cell with the largest difference, the first of several; `None` if no value differs.
    pub largest: Option<LargestDifference>,
    /// The box of the cells beyond the tolerance, `[lowest, highest]`, both inclusive.
    pub bounds: Option<[[usize; 3]; 2]>,
}

/// The largest difference of two fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargestDifference {
    /// The cell.
    pub cell: [usize; 3],
    /// The values of the first and the second field.
    pub values: [f32; 2],
    /// The absolute difference.
    pub difference: f64,
}

impl FieldDifference {
    /// Compares two fields.
    ///
    /// # Errors
    /// If their dims differ, or the tolerance is negative or NaN.
    pub fn between(first: &Field, second: &Field, tolerance: f64) -> Result<Self> {
        same_dims(first.dims(), second.dims())?;
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(Error::usage(format!("a tolerance of {tolerance}; it must be 0 or more")));
        }
        let layers = par::map_range(0..first.dims()[2], |k| Self::of_layer(first, second, tolerance, k));
        Ok(layers.into_iter().fold(Self::default(), Self::and))
    }

    fn of_layer(first: &Field, second: &Field, tolerance: f64, k: usize) -> Self {
        let mut found = Self::default();
        for j in 0..first.dims()[1] {
            let pairs = first.row(j, k).iter().zip(second.row(j, k)).enumerate();
            for (i, (a, b)) in pairs.filter(|(_, (a, b))| a != b && !(a.is_nan() && b.is_nan())) {
                let apart = (f64::from(*a) - f64::from(*b)).abs();
                let difference = if apart.is_nan() { f64::INFINITY } else { apart };
                found.differing += 1;
                if difference > tolerance {
                    found.beyond += 1;
                    found.bounds = joined(found.bounds, Some([[i, j, k]; 2]));
                }
                if found.largest.is_none_or(|largest| difference > largest.difference) {
                    found.largest = Some(LargestDifference { cell: [i, j, k], values: [*a, *b], difference });
                }
            }
        }
        found
    }

    /// The differences of this and of layers above it.
    fn and(self, above: Self) -> Self {
        let largest = match (self.largest, above.largest) {
            (Some(a), Some(b)) => Some(if b.difference > a.difference { b } else { a }),
            (one, other) => one.or(other),
        };
        Self {
            differing: self.differing + above.differing,
            beyond: self.beyond + above.beyond,
            largest,
            bounds: joined(self.bounds, above.bounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_differences_is_found() {
        let (mut first, mut second) =
            (Field::new([70, 3, 4], 1.0).unwrap(), Field::new([70, 3, 4], 1.0).unwrap());
        let all = FieldDifference::between(&first, &second, 0.0).unwrap();
        assert_eq!(all, FieldDifference::default());
        for (cell, a, b) in [
            ([3, 1, 0], 0.0, -0.0),
            ([9, 0, 1], f32::INFINITY, f32::INFINITY),
            ([5, 2, 1], 2.0, 2.5),
            ([69, 0, 2], -1.5, 0.5),
            ([0, 1, 3], 3.0, 1.0),
            ([1, 1, 3], 0.1, 0.2),
        ] {
            first.set(cell, a);
            second.set(cell, b);
        }
        let found = FieldDifference::between(&first, &second, 0.5).unwrap();
        assert_eq!((found.differing, found.beyond), (4, 2));
        assert_eq!(found.bounds, Some([[0, 0, 2], [69, 1, 3]]));
        let largest = LargestDifference { cell: [69, 0, 2], values: [-1.5, 0.5], difference: 2.0 };
        assert_eq!(found.largest, Some(largest));
        second.set([4, 0, 0], f32::NAN);
        let found = FieldDifference::between(&first, &second, f64::MAX).unwrap();
        assert_eq!((found.beyond, found.largest.unwrap().cell), (1, [4, 0, 0]));
        assert!(FieldDifference::between(&first, &second, f64::NAN).is_err());
        assert!(FieldDifference::between(&first, &Field::new([70, 3, 3], 1.0).unwrap(), 0.0).is_err());
    }
}
