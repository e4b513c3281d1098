//! Medians of repeated measurements.

use std::time::{Duration, Instant};

/// Returns the median of the values.
pub fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the median time of `work` in milliseconds, without `reset`: of 15 repetitions or as many as fit in
/// a second, at least three. If a repetition takes more than a second, of one.
pub fn median<T>(mut reset: impl FnMut() -> T, mut work: impl FnMut(&mut T)) -> f64 {
    let mut times = vec![];
    let start = Instant::now();
    while times.len() < 15 && (times.len() < 3 || start.elapsed() < Duration::from_secs(1)) {
        let mut state = reset();
        let begin = Instant::now();
        work(&mut state);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        if times[0] > 1000.0 {
            break;
        }
    }
    middle(times)
}
