//! Logarithmic scale from values to positions.

/// Scale from the values `low..=high` to the positions `from..=to`.
#[derive(Clone)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    pub fn new([low, high]: [f64; 2], [from, to]: [f64; 2]) -> Self {
        Self {
            low,
            high,
            from,
            to,
        }
    }

    pub fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value / self.low).ln() / (self.high / self.low).ln()
    }

    /// Returns the powers of `base` on the scale.
    pub fn powers(&self, base: f64) -> impl Iterator<Item = f64> {
        let exponent = |value: f64| value.ln() / base.ln();
        let first = exponent(self.low).ceil();
        let last = exponent(self.high).floor();
        (first as i32..=last as i32).map(move |power| base.powi(power))
    }

    /// Returns the positions of the ends.
    pub fn ends(&self) -> [f64; 2] {
        [self.from, self.to]
    }
}
