//! Scale for the values of a field. Its ends and steps are round numbers. If there are values of both signs,
//! zero has the colour in the middle of the scale.

use super::colours::{self, Colour};

/// Maximum number of values that are written next to a scale.
const MOST: usize = 9;

/// Range of values whose ends are round numbers if possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Range whose ends are not rounded: a single value, or values near which there is no round number.
    Plain([f64; 2]),
    /// Step between values, and the two ends in numbers of steps.
    Round(ScaleStep, [f64; 2]),
}

impl Scale {
    /// Returns a scale that contains the range from `low` to `high`.
    pub(super) fn around([low, high]: [f64; 2]) -> Self {
        let span = high - low;
        if !span.is_normal() {
            return Self::Plain([low, high]);
        }
        for step in ScaleStep::from(span / MOST as f64) {
            let first = (low / step.times(1.0)).floor();
            let last = (high / step.times(1.0)).ceil();
            let are_finite = step.times(first).is_finite() && step.times(last).is_finite();
            if last - first < MOST as f64 && are_finite {
                return Self::Round(step, [first, last]);
            }
        }
        Self::Plain([low, high])
    }

    /// Returns the two ends of the scale.
    fn ends(self) -> [f64; 2] {
        match self {
            Self::Plain(ends) => ends,
            Self::Round(step, ends) => ends.map(|end| step.times(end)),
        }
    }

    /// Returns round values from high to low. There are at most `most` of them, or at most two if `most` is
    /// less.
    pub(super) fn values(self, most: usize) -> Vec<f64> {
        match self {
            Self::Plain([low, high]) if low == high => vec![low],
            Self::Plain([low, high]) => vec![high, low],
            Self::Round(step, [first, last]) => {
                // Each step, each second step or each fifth step is used. Zero is included if it is in the
                // range.
                let mut values = vec![];
                for every in [1.0, 2.0, 5.0] {
                    let low = (first / every).ceil() as i64;
                    let high = (last / every).floor() as i64;
                    let places = (low..=high).rev();
                    values = places.map(|n| step.times(n as f64 * every)).collect();
                    if values.len() <= most.max(2) {
                        break;
                    }
                }
                values
            }
        }
    }

    /// Returns the colour of a value. If there are values of both signs, zero is in the middle, and each side
    /// has its own range of colours. A side counts as at least a quarter as long as the other.
    pub(super) fn colour(self, value: f64) -> Colour {
        let [low, high] = self.ends();
        if low < 0.0 && high > 0.0 {
            let side = if value < 0.0 {
                (-low).max(high / 4.0)
            } else {
                high.max(-low / 4.0)
            };
            return colours::of_signed_share(value / side);
        }
        colours::of_share(if low < high {
            (value - low) / (high - low)
        } else {
            0.5
        })
    }
}

/// Step of a scale: 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScaleStep {
    digit: f64,
    power: i32,
}

impl ScaleStep {
    /// Returns steps in ascending order. The first is the power of ten that is at most `size`.
    fn from(size: f64) -> impl Iterator<Item = Self> {
        let power = size.log10().floor() as i32;
        (power..power + 3).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| Self { digit, power }))
    }

    /// Returns a multiple of the step. A negative power divides, because dividing by a power of ten rounds
    /// once, but multiplying by its inverse rounds twice.
    fn times(self, count: f64) -> f64 {
        let ten = 10_f64.powi(self.power.abs());
        let steps = self.digit * count;
        // Adding zero turns -0 into 0, which has no minus sign.
        (if self.power < 0 {
            steps / ten
        } else {
            steps * ten
        }) + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_ends_and_steps() {
        let cases: [([f64; 2], &[f64]); 5] = [
            (
                [-5.377, 24.28],
                &[25.0, 20.0, 15.0, 10.0, 5.0, 0.0, -5.0, -10.0],
            ),
            ([3.137e-5, 4.104], &[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]),
            ([-0.1, 0.31], &[0.4, 0.3, 0.2, 0.1, 0.0, -0.1]),
            ([0.0, 1.0], &[1.0, 0.8, 0.6, 0.4, 0.2, 0.0]),
            ([7.0, 7.0], &[7.0]),
        ];
        for (range, values) in cases {
            let scale = Scale::around(range);
            let [low, high] = scale.ends();
            assert!(low <= range[0] && high >= range[1], "{range:?} {scale:?}");
            assert_eq!(scale.values(MOST), values, "{range:?}");
            for most in 2..MOST {
                let few = scale.values(most);
                assert!(
                    few.len() <= most && few.iter().all(|value| values.contains(value)),
                    "{few:?}"
                );
            }
        }
    }

    #[test]
    fn zero_is_the_middle_of_signed_values() {
        let scale = Scale::around([-5.0, 25.0]);
        assert_eq!(scale.colour(0.0), colours::of_signed_share(0.0));
        let strength = |value: f64| {
            let [r, g, b] = scale.colour(value);
            r.max(g).max(b) - r.min(g).min(b)
        };
        assert!(
            strength(-5.0) > strength(-1.0)
                && strength(25.0) > strength(5.0)
                && strength(-5.0) > strength(0.0)
        );
        let plain = Scale::around([1.0, 9.0]);
        assert_eq!(
            (plain.colour(0.0), plain.colour(10.0)),
            (colours::of_share(0.0), colours::of_share(1.0))
        );
    }
}
