//! Medians of repeated measurements.

use std::time::{Duration, Instant};

/// The middle of the values.
pub fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median time of `work` in milliseconds, of which `reset` is not part: of 15 repetitions or as
/// many as fit a second, at least three; one where a repetition takes over a second.
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
