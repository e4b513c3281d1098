//! From crossings to parity: a grid of toggles, cells at which a line of cells goes in or out, becomes
//! the grid of the cells inside, and three of those become one by majority.

use super::bits::BitGrid;
use crate::par;

/// Every cell becomes the xor of itself and all cells before it along `axis` (0, 1, 2 for x, y, z). Runs
/// in the threads it is called in.
pub(crate) fn parity(toggles: &mut BitGrid, axis: usize) {
    let [nx, ny, nz] = toggles.dims();
    let (row_words, layer_words) = (toggles.row_words(), toggles.layer_words());
    match axis {
        0 => {
            let cells = !0 >> (row_words * 64 - nx);
            let layers = toggles.words_mut().chunks_exact_mut(layer_words).collect();
            par::map(layers, |layer: &mut [u64]| {
                layer.chunks_exact_mut(row_words).for_each(|row| along_row(row, cells));
            });
        }
        1 => {
            let layers = toggles.words_mut().chunks_exact_mut(layer_words).collect();
            par::map(layers, |layer: &mut [u64]| along(layer.chunks_exact_mut(row_words)));
        }
        2 => {
            // Each thread takes the same rows of all layers.
            let part = layer_words.div_ceil(par::current_threads().min(ny));
            let mut parts: Vec<Vec<&mut [u64]>> = vec![];
            parts.resize_with(layer_words.div_ceil(part), || Vec::with_capacity(nz));
            for layer in toggles.words_mut().chunks_exact_mut(layer_words) {
                parts.iter_mut().zip(layer.chunks_mut(part)).for_each(|(part, words)| part.push(words));
            }
            par::map(parts, |part| along(part.into_iter()));
        }
        _ => unreachable!("a grid has three axes"),
    }
}

/// The xor of each and all before it, of lists of words.
fn along<'a>(lists: impl Iterator<Item = &'a mut [u64]>) {
    let mut before: Option<&mut [u64]> = None;
    for words in lists {
        if let Some(before) = before {
            words.iter_mut().zip(&*before).for_each(|(word, before)| *word ^= before);
        }
        before = Some(words);
    }
}

/// The same for the cells of a row; `cells` are the bits of its last word that are some.
fn along_row(row: &mut [u64], cells: u64) {
    // All ones after an odd number of toggles.
    let mut carry = 0;
    for word in row.iter_mut() {
        if *word != 0 {
            for shift in [1, 2, 4, 8, 16, 32] {
                *word ^= *word << shift;
            }
        }
        *word ^= carry;
        carry = 0_u64.wrapping_sub(*word >> 63);
    }
    if let Some(last) = row.last_mut() {
        *last &= cells;
    }
}

/// Each cell of `a` becomes what at least two of three grids of the same dims say; answers in how many
/// cells they do not all agree. Runs in the threads it is called in.
///
/// # Panics
/// If the dims differ.
pub(crate) fn majority(a: &mut BitGrid, b: &BitGrid, c: &BitGrid) -> u64 {
    assert!(a.dims() == b.dims() && a.dims() == c.dims(), "grids of the same dims");
    let words = a.layer_words();
    let layers = a.words_mut().chunks_exact_mut(words);
    let others = b.words().chunks_exact(words).zip(c.words().chunks_exact(words));
    let disputed = par::map(layers.zip(others).collect(), |(a, (b, c)): (&mut [u64], (&[u64], &[u64]))| {
        let mut disputed = 0;
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            disputed += u64::from(((*a ^ b) | (*a ^ c)).count_ones());
            *a = *a & (b | c) | b & c;
        }
        disputed
    });
    disputed.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: [[usize; 3]; 8] =
        [[1, 1, 1], [63, 2, 3], [64, 5, 1], [65, 1, 9], [130, 4, 7], [128, 3, 2], [3, 70, 11], [200, 13, 17]];

    fn cells([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / nx / ny])
    }

    /// About `percent` of all cells.
    fn random(dims: [usize; 3], seed: u64, percent: u64) -> BitGrid {
        let mut grid = BitGrid::new(dims).unwrap();
        let mut state = seed;
        for cell in cells(dims) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if (state >> 33) % 100 < percent {
                grid.set(cell);
            }
        }
        grid
    }

    #[test]
    fn parity_counts_the_toggles_up_to_each_cell() {
        let mut odd = 0;
        for (n, dims) in DIMS.into_iter().enumerate() {
            for percent in [0, 2, 50, 100] {
                let toggles = random(dims, n as u64, percent);
                for axis in 0..3 {
                    let mut wanted = BitGrid::new(dims).unwrap();
                    for cell in cells(dims) {
                        let before = (0..=cell[axis]).map(|at| {
                            let mut other = cell;
                            other[axis] = at;
                            other
                        });
                        if before.filter(|other| toggles.get(*other)).count() % 2 == 1 {
                            wanted.set(cell);
                            odd += 1;
                        }
                    }
                    for threads in [1, 2, 7] {
                        let mut found = toggles.clone();
                        par::with_threads(threads, || parity(&mut found, axis)).unwrap();
                        assert!(found == wanted, "{dims:?}, {percent} %, axis {axis}, {threads} threads");
                    }
                }
            }
        }
        assert!(odd > 10_000, "{odd}");
    }

    #[test]
    fn two_of_three_decide() {
        let mut seen = 0;
        for (n, dims) in DIMS.into_iter().enumerate() {
            let [a, b, c] = [1, 2, 3].map(|seed| random(dims, 8 * n as u64 + seed, 50));
            let votes = |cell| [&a, &b, &c].iter().filter(|grid| grid.get(cell)).count();
            let mut wanted = BitGrid::new(dims).unwrap();
            let mut disputed = 0;
            for cell in cells(dims) {
                disputed += u64::from(votes(cell) % 3 != 0);
                if votes(cell) >= 2 {
                    wanted.set(cell);
                }
            }
            for threads in [1, 2, 7] {
                let mut found = a.clone();
                let count = par::with_threads(threads, || majority(&mut found, &b, &c)).unwrap();
                assert!(found == wanted && count == disputed, "{dims:?}, {threads} threads");
            }
            seen += disputed;
        }
        assert!(seen > 10_000, "{seen}");
    }
}
