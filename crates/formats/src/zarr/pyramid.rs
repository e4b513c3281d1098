//! Smaller levels of a grid. Each cell of a level is computed from eight cells of the previous level.
//!
//! | cells | cell of the next level |
//! |---|---|
//! | bits | occupied if one of the eight is occupied |
//! | labels | the most frequent label of the occupied cells, the smallest in a tie |
//! | field | the mean of the finite values, summed as doubles, x fastest; if no value is finite, the first value |
//!
//! At the upper ends of the grid, a cell may have fewer than eight source cells.

use std::ops::Range;

use voxelize_core::grid::{BitGrid, CellKind, Cells, CellsRef, Field, Labels};
use voxelize_core::par;

/// Halving stops once no axis has more cells than this.
const SMALLEST: usize = 128;

/// Consecutive layers of a grid or of a slab.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerWindow<'a> {
    pub cells: CellsRef<'a>,
    pub first: usize,
    pub count: usize,
}

/// Returns the dims of all levels. The first level is the grid itself.
pub(super) fn levels(mut dims: [usize; 3]) -> Vec<[usize; 3]> {
    let mut levels = vec![dims];
    while dims.iter().any(|n| *n > SMALLEST) {
        dims = dims.map(|n| n.div_ceil(2));
        levels.push(dims);
    }
    levels
}

/// Returns how a smaller level is computed: as a word, and as a sentence.
pub(super) fn method(kind: CellKind) -> (&'static str, &'static str) {
    match kind {
        CellKind::Bits => ("any", "a cell is occupied if one of its eight is"),
        CellKind::Labels => (
            "mode",
            "a cell has the most frequent label of its occupied eight, or the smallest of these",
        ),
        CellKind::Field => (
            "mean",
            "a cell has the mean of the finite values of its eight",
        ),
    }
}

/// Computes layers of the next level from the layers `from`. The result is written to `to`, beginning with
/// layer `at`, which must be empty.
pub(super) fn reduce(from: LayerWindow, to: &mut Cells, at: usize) {
    let layers = from.first..from.first + from.count;
    match (from.cells, to) {
        (CellsRef::Bits(bits), Cells::Bits(to)) => reduce_bits(bits, layers, to, at),
        (CellsRef::Labels(labels), Cells::Labels(to)) => reduce_labels(labels, layers, to, at),
        (CellsRef::Field(field), Cells::Field(to)) => reduce_field(field, layers, to, at),
        _ => unreachable!("levels have cells of one kind"),
    }
}

/// Returns the source rows of row `j` in layer `k`. There are up to four, and the lowest y comes first. The
/// source has `ny` rows per layer.
fn rows_of(
    ny: usize,
    layers: &Range<usize>,
    j: usize,
    k: usize,
) -> impl Iterator<Item = (usize, usize)> + Clone {
    let ks = layers.start + 2 * k..layers.end.min(layers.start + 2 * k + 2);
    let js = 2 * j..ny.min(2 * j + 2);
    ks.flat_map(move |k| js.clone().map(move |j| (j, k)))
}

fn reduce_bits(from: &BitGrid, layers: Range<usize>, to: &mut BitGrid, at: usize) {
    let ny = from.dims()[1];
    let row_words = to.row_words();
    let size = to.layer_words();
    let targets = to.words_mut()[at * size..]
        .chunks_mut(size)
        .take(layers.len().div_ceil(2));
    par::map(
        targets.enumerate().collect(),
        |(k, target): (usize, &mut [u64])| {
            for (j, target) in target.chunks_mut(row_words).enumerate() {
                let rows = rows_of(ny, &layers, j, k).map(|(j, k)| from.row(j, k));
                let any = |n: usize| {
                    rows.clone()
                        .fold(0, |word, row| word | row.get(n).copied().unwrap_or(0))
                };
                for (n, word) in target.iter_mut().enumerate() {
                    *word = half(any(2 * n)) | half(any(2 * n + 1)) << 32;
                }
            }
        },
    );
}

/// Returns a word in which bit `n` is set if bit `2 n` or bit `2 n + 1` of `word` is set.
fn half(word: u64) -> u64 {
    let mut bits = (word | word >> 1) & 0x5555_5555_5555_5555;
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) & 0xffff_ffff
}

fn reduce_labels(from: &Labels, layers: Range<usize>, to: &mut Labels, at: usize) {
    let [nx, ny, _] = to.dims();
    let made = |k: usize| {
        let mut values = vec![0; nx * ny];
        let mut rows = [(); 4].map(|()| vec![0; 2 * nx]);
        for (j, target) in values.chunks_mut(nx).enumerate() {
            reduce_row(
                from,
                rows_of(from.dims()[1], &layers, j, k),
                &mut rows,
                target,
            );
        }
        values
    };
    let count = layers.len().div_ceil(2);
    // As many layers as there are threads are made at a time, because each takes a byte per cell.
    for first in (0..count).step_by(par::current_threads()) {
        let some = first..count.min(first + par::current_threads());
        for (n, layer) in par::map_range(some, made).into_iter().enumerate() {
            for (j, row) in layer.chunks(nx).enumerate() {
                to.put_row(j, at + first + n, row)
                    .expect("both levels have one legend");
            }
        }
    }
}

/// Computes the row `target` from the source rows `places`. `target` must be all zeros. `rows` are buffers.
fn reduce_row(
    from: &Labels,
    places: impl Iterator<Item = (usize, usize)> + Clone,
    rows: &mut [Vec<u8>; 4],
    target: &mut [u8],
) {
    if places
        .clone()
        .all(|(j, k)| from.occupied().row(j, k).iter().all(|word| *word == 0))
    {
        return;
    }
    let mut places = places;
    for row in rows.iter_mut() {
        match places.next() {
            Some((j, k)) => from.row(j, k, &mut row[..from.dims()[0]]),
            None => row.fill(0),
        }
    }
    let pairs = rows.each_ref().map(|row| row.as_chunks::<2>().0);
    for (n, cell) in target.iter_mut().enumerate() {
        let eight = pairs.map(|row| row[n]);
        *cell = match eight {
            [[a, b], c, d, e] if a == b && [a, b] == c && c == d && d == e => a,
            _ => most_frequent(eight),
        };
    }
}

/// Returns the most frequent value other than 0. Returns 0 if all values are 0.
fn most_frequent(cells: [[u8; 2]; 4]) -> u8 {
    let mut values = cells;
    let values = values.as_flattened_mut();
    values.sort_unstable();
    let occupied = values.chunk_by(|a, b| a == b).filter(|run| run[0] != 0);
    // In a tie `max_by_key` returns the last run. The order is reversed, so this is the run with the smallest
    // value.
    occupied
        .rev()
        .max_by_key(|run| run.len())
        .map_or(0, |run| run[0])
}

fn reduce_field(from: &Field, layers: Range<usize>, to: &mut Field, at: usize) {
    let [nx, ny, _] = to.dims();
    let targets = to.values_mut()[at * nx * ny..]
        .chunks_mut(nx * ny)
        .take(layers.len().div_ceil(2));
    par::map(
        targets.enumerate().collect(),
        |(k, target): (usize, &mut [f32])| {
            for (j, target) in target.chunks_mut(nx).enumerate() {
                let rows = rows_of(from.dims()[1], &layers, j, k).map(|(j, k)| from.row(j, k));
                for (n, value) in target.iter_mut().enumerate() {
                    let cells = rows
                        .clone()
                        .flat_map(|row| &row[2 * n..row.len().min(2 * n + 2)]);
                    *value = mean(cells.copied());
                }
            }
        },
    );
}

fn mean(values: impl Iterator<Item = f32> + Clone) -> f32 {
    // The sum starts with −0, so that the sum of several −0 is −0.
    let mut sum = -0.0_f64;
    let mut count = 0;
    for value in values.clone().filter(|value| value.is_finite()) {
        sum += f64::from(value);
        count += 1;
    }
    match count {
        0 => values.into_iter().next().unwrap_or(f32::NAN),
        count => (sum / f64::from(count)) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_half_as_long_rounded_up() {
        assert_eq!(levels([128, 5, 1]), [[128, 5, 1]]);
        assert_eq!(
            levels([300, 45, 1]),
            [[300, 45, 1], [150, 23, 1], [75, 12, 1]]
        );
        assert_eq!(levels([4096, 4095, 4097]).len(), 7);
    }

    #[test]
    fn pairs_of_bits_become_one() {
        assert_eq!(
            (half(0), half(!0), half(1 << 63), half(2)),
            (0, 0xffff_ffff, 1 << 31, 1)
        );
        for n in 0..64 {
            assert_eq!(half(1 << n), 1 << (n / 2), "{n}");
        }
    }

    #[test]
    fn the_most_frequent_label_wins_and_the_smallest_in_a_tie() {
        assert_eq!(most_frequent([[0; 2]; 4]), 0);
        assert_eq!(most_frequent([[0, 0], [9, 0], [0, 0], [0, 0]]), 9);
        assert_eq!(most_frequent([[9, 2], [9, 0], [0, 2], [0, 0]]), 2);
        assert_eq!(most_frequent([[1, 9], [9, 1], [9, 0], [0, 0]]), 9);
    }

    #[test]
    fn a_mean_is_of_the_finite_values() {
        let of = |values: &[f32]| mean(values.iter().copied());
        assert_eq!(of(&[1.0, f32::INFINITY, 2.0, f32::NAN]), 1.5);
        assert_eq!(of(&[f32::INFINITY, f32::NAN]), f32::INFINITY);
        assert!(of(&[-0.0, -0.0]).is_sign_negative() && of(&[f32::MAX; 8]) == f32::MAX);
    }
}
