//! Difference of two fields: the largest difference with its cell, and the number of cells that differ by
//! more than a tolerance.
//!
//! Two values are equal if the digest cannot distinguish them. All NaNs are the same value. −0 and +0 are
//! different values, because the sign states on which side of a surface the cell lies.

use super::diff::{joined, same_dims};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::Field;
use voxelize_core::grid::field::canonical;
use voxelize_core::par;

/// Cell-by-cell difference of two fields. Both fields must have the same dims.
///
/// ```
/// # use voxelize_compare::voxelize;
/// use voxelize::compare::FieldDifference;
/// use voxelize::grid::Field;
///
/// let old = Field::from_values([5, 1, 1], 0.0, vec![0.0, 1.0, 2.0, f32::NAN, -0.0])?;
/// let new = Field::from_values([5, 1, 1], 0.0, vec![0.0, 1.25, -1.0, f32::NAN, 0.0])?;
/// let difference = FieldDifference::between(&old, &new, Some(0.5))?;
/// assert_eq!((difference.differing, difference.signs_of_zero, difference.beyond), (3, 1, 1));
/// assert_eq!(difference.largest.unwrap().cell, [2, 0, 0]);
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FieldDifference {
    /// Number of cells whose values differ. All NaNs are the same value, and −0 and +0 are different values.
    pub differing: u64,
    /// Number of these cells in which one field has −0 and the other +0.
    pub signs_of_zero: u64,
    /// Number of cells whose values differ by more than the tolerance. Without a tolerance, the number of all
    /// cells that differ. A NaN differs from a number by infinity, and −0 differs from +0 by zero.
    pub beyond: u64,
    /// Cell with the largest difference. If several have it, the first one. `None` if no value differs.
    pub largest: Option<LargestDifference>,
    /// Bounding box of the cells that differ by more than the tolerance, as `[lowest, highest]`. Both are
    /// included.
    pub bounds: Option<[[usize; 3]; 2]>,
}

/// Largest difference between two fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargestDifference {
    /// Cell in which the values differ.
    pub cell: [usize; 3],
    /// Value of the first field and value of the second field.
    pub values: [f32; 2],
    /// Absolute difference of the two values.
    pub difference: f64,
}

impl FieldDifference {
    /// Compares two fields. With a tolerance of 0, −0 is accepted for +0. Without a tolerance, −0 and +0
    /// differ.
    ///
    /// # Errors
    /// Fails if the dims differ, or if the tolerance is negative or NaN.
    pub fn between(first: &Field, second: &Field, tolerance: Option<f64>) -> Result<Self> {
        same_dims(first.dims(), second.dims())?;
        if let Some(tolerance) =
            tolerance.filter(|tolerance| tolerance.is_nan() || *tolerance < 0.0)
        {
            return Err(Error::usage(format!(
                "the tolerance is {tolerance}, but must be 0 or more"
            )));
        }
        let layers = par::map_range(0..first.dims()[2], |k| {
            Self::of_layer(first, second, tolerance, k)
        });
        Ok(layers.into_iter().fold(Self::default(), Self::and))
    }

    fn of_layer(first: &Field, second: &Field, tolerance: Option<f64>, k: usize) -> Self {
        let mut found = Self::default();
        for j in 0..first.dims()[1] {
            let pairs = first.row(j, k).iter().zip(second.row(j, k)).enumerate();
            for (i, (a, b)) in pairs.filter(|(_, (a, b))| canonical(**a) != canonical(**b)) {
                let apart = (f64::from(*a) - f64::from(*b)).abs();
                let difference = if apart.is_nan() { f64::INFINITY } else { apart };
                found.differing += 1;
                found.signs_of_zero += u64::from(difference == 0.0);
                if tolerance.is_none_or(|tolerance| difference > tolerance) {
                    found.beyond += 1;
                    found.bounds = joined(found.bounds, Some([[i, j, k]; 2]));
                }
                if found
                    .largest
                    .is_none_or(|largest| difference > largest.difference)
                {
                    found.largest = Some(LargestDifference {
                        cell: [i, j, k],
                        values: [*a, *b],
                        difference,
                    });
                }
            }
        }
        found
    }

    /// Joins the differences of these layers with those of the layers above them.
    fn and(self, above: Self) -> Self {
        let largest = match (self.largest, above.largest) {
            (Some(a), Some(b)) => Some(if b.difference > a.difference { b } else { a }),
            (one, other) => one.or(other),
        };
        Self {
            differing: self.differing + above.differing,
            signs_of_zero: self.signs_of_zero + above.signs_of_zero,
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
    fn the_sign_of_a_zero_differs_unless_there_is_a_tolerance() {
        let of = |zero: f32| Field::from_values([70, 1, 2], 1.0, vec![zero; 140]).unwrap();
        let largest = LargestDifference {
            cell: [0; 3],
            values: [-0.0, 0.0],
            difference: 0.0,
        };
        for (tolerance, beyond) in [(None, 140), (Some(0.0), 0), (Some(1.0), 0)] {
            let found = FieldDifference::between(&of(-0.0), &of(0.0), tolerance).unwrap();
            assert_eq!(
                (found.differing, found.signs_of_zero, found.beyond),
                (140, 140, beyond)
            );
            assert_eq!(found.largest, Some(largest));
            assert_eq!(found.bounds, (beyond > 0).then_some([[0; 3], [69, 0, 1]]));
        }
        let same = FieldDifference::between(&of(-0.0), &of(-0.0), None).unwrap();
        assert_eq!(same, FieldDifference::default());
    }

    #[test]
    fn the_first_of_the_largest_differences_is_found() {
        let mut first = Field::new([70, 3, 4], 1.0).unwrap();
        let mut second = Field::new([70, 3, 4], 1.0).unwrap();
        let all = FieldDifference::between(&first, &second, None).unwrap();
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
        let found = FieldDifference::between(&first, &second, Some(0.5)).unwrap();
        assert_eq!(
            (found.differing, found.signs_of_zero, found.beyond),
            (5, 1, 2)
        );
        assert_eq!(found.bounds, Some([[0, 0, 2], [69, 1, 3]]));
        let largest = LargestDifference {
            cell: [69, 0, 2],
            values: [-1.5, 0.5],
            difference: 2.0,
        };
        assert_eq!(found.largest, Some(largest));
        second.set([4, 0, 0], f32::NAN);
        let found = FieldDifference::between(&first, &second, Some(f64::MAX)).unwrap();
        assert_eq!((found.beyond, found.largest.unwrap().cell), (1, [4, 0, 0]));
        assert!(FieldDifference::between(&first, &second, Some(f64::NAN)).is_err());
        assert!(
            FieldDifference::between(&first, &Field::new([70, 3, 3], 1.0).unwrap(), None).is_err()
        );
    }
}
