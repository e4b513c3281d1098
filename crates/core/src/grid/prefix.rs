//! Finds the cells inside a mesh from crossings along three axes. A toggle is a cell at which a line of cells
//! enters or leaves the mesh. Along each axis, a cell is inside if the number of toggles up to the cell is
//! odd. The majority of the three axes decides. The grids are processed layer by layer in one pass.

use super::bits::BitGrid;
use crate::par;

/// Occupies every cell that is inside along at least two of the three axes: the number of toggles up to and
/// including the cell is odd. `toggles` has the toggles of the axes x, y and z. Cells that are already
/// occupied stay occupied. Returns the number of cells for which the axes disagree. Uses the calling thread
/// pool.
///
/// # Panics
/// Panics if the dims of the grids differ.
pub fn vote(toggles: [&BitGrid; 3], grid: &mut BitGrid) -> u64 {
    assert!(
        toggles.iter().all(|toggles| toggles.dims() == grid.dims()),
        "grids of the same dims"
    );
    let [nx, _, nz] = grid.dims();
    let row_words = grid.row_words();
    let layer_words = grid.layer_words();
    let height = nz.div_ceil(par::current_threads());
    let slabs: Vec<_> = (0..nz).step_by(height).collect();
    // For each slab, the parity of its number of toggles along z in each column of cells.
    let changes = par::map_range(0..slabs.len() - 1, |n| {
        let mut all = vec![0; layer_words];
        (slabs[n]..slabs[n] + height).for_each(|k| toggle(&mut all, toggles[2].layer(k)));
        all
    });
    let slabs = grid
        .words_mut()
        .chunks_mut(height * layer_words)
        .enumerate()
        .collect();
    let disputed = par::map(slabs, |(n, words): (usize, &mut [u64])| {
        let mut z = vec![0; layer_words];
        let mut disputed = 0;
        changes[..n]
            .iter()
            .for_each(|changes| toggle(&mut z, changes));
        let mut x = vec![0; row_words];
        let mut y = vec![0; row_words];
        for (k, layer) in (n * height..).zip(words.chunks_exact_mut(layer_words)) {
            toggle(&mut z, toggles[2].layer(k));
            y.fill(0);
            for (j, row) in layer.chunks_exact_mut(row_words).enumerate() {
                toggle(&mut y, toggles[1].row(j, k));
                x.copy_from_slice(toggles[0].row(j, k));
                along_row(&mut x, !0 >> (row_words * 64 - nx));
                let z = &z[j * row_words..][..row_words];
                for (word, ((a, b), c)) in row.iter_mut().zip(x.iter().zip(&y).zip(z)) {
                    disputed += u64::from(((a ^ b) | (a ^ c)).count_ones());
                    *word |= a & (b | c) | b & c;
                }
            }
        }
        disputed
    });
    disputed.into_iter().sum()
}

fn toggle(words: &mut [u64], toggles: &[u64]) {
    words
        .iter_mut()
        .zip(toggles)
        .for_each(|(word, toggles)| *word ^= toggles);
}

/// Replaces every bit of a row by the xor of itself and all previous bits. `cells` has the bits of the last
/// word that belong to cells.
fn along_row(row: &mut [u64], cells: u64) {
    // All bits are one if the number of previous toggles is odd, otherwise zero.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const DIMS: [[usize; 3]; 8] = [
        [1, 1, 1],
        [63, 2, 3],
        [64, 5, 1],
        [65, 1, 9],
        [130, 4, 7],
        [128, 3, 2],
        [3, 70, 11],
        [200, 13, 17],
    ];

    fn cells([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / nx / ny])
    }

    /// Returns a grid in which about `percent` % of the cells are occupied.
    fn random(dims: [usize; 3], seed: u64, percent: u64) -> BitGrid {
        let mut grid = BitGrid::new(dims).unwrap();
        let mut random = Random::new(seed);
        for cell in cells(dims) {
            if random.below(100) < percent {
                grid.set(cell);
            }
        }
        grid
    }

    #[test]
    fn two_of_three_axes_decide_by_the_toggles_up_to_each_cell() {
        let mut seen = 0;
        let mut inside = 0;
        for (n, dims) in DIMS.into_iter().enumerate() {
            for percent in [0, 2, 50, 100] {
                let [x, y, z] = [1, 2, 3].map(|seed| random(dims, 8 * n as u64 + seed, percent));
                let is_odd = |cell: [usize; 3], axis: usize| {
                    let before = (0..=cell[axis]).map(|at| {
                        let mut other = cell;
                        other[axis] = at;
                        other
                    });
                    before
                        .filter(|other| [&x, &y, &z][axis].get(*other))
                        .count()
                        % 2
                        == 1
                };
                let occupied = random(dims, n as u64, 10);
                let mut wanted = occupied.clone();
                let mut disputed = 0;
                for cell in cells(dims) {
                    let votes = (0..3).filter(|axis| is_odd(cell, *axis)).count();
                    disputed += u64::from(votes % 3 != 0);
                    if votes >= 2 {
                        wanted.set(cell);
                        inside += 1;
                    }
                }
                for threads in [1, 2, 7] {
                    let mut found = occupied.clone();
                    let count =
                        par::with_threads(threads, || vote([&x, &y, &z], &mut found)).unwrap();
                    assert!(
                        found == wanted && count == disputed,
                        "{dims:?}, {percent} %, {threads} threads"
                    );
                }
                seen += disputed;
            }
        }
        assert!(seen > 10_000 && inside > 10_000, "{seen} {inside}");
    }
}
