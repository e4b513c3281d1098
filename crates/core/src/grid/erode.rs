//! Erosion: removes the cells that are near an empty cell.

use super::bits::BitGrid;
use crate::error::Result;
use crate::par;

/// Empties every cell that has an empty cell or the outside of the grid within `steps` steps. A step leads
/// from a cell to any of its 26 neighbours. Each remaining cell is the centre of a cube of occupied cells
/// whose side is `2 * steps + 1` cells. Uses the calling thread pool, and allocates another grid of the same
/// size.
///
/// # Errors
/// Fails if the memory cannot be allocated.
pub fn erode(grid: &mut BitGrid, steps: usize) -> Result<()> {
    let dims = grid.dims();
    if dims.iter().any(|n| steps > (n - 1) / 2) {
        grid.clear();
        return Ok(());
    }
    let mut next = BitGrid::new(dims)?;
    for axis in 0..3 {
        let mut reach = 0;
        // Each remaining cell is at the middle of a range of occupied cells, `reach` cells long on both
        // sides. The ranges of the cells at distance `step` on both sides are adjacent to this range or
        // overlap it.
        while reach < steps {
            let step = (2 * reach + 1).min(steps - reach);
            both_sides(grid, axis, step, &mut next);
            std::mem::swap(grid, &mut next);
            reach += step;
        }
    }
    Ok(())
}

/// Writes to `next` the occupied cells of `grid` for which the cells at distance `step` on both sides along
/// an axis are also occupied.
fn both_sides(grid: &BitGrid, axis: usize, step: usize, next: &mut BitGrid) {
    let [_, ny, nz] = grid.dims();
    let row_words = grid.row_words();
    let layer_words = grid.layer_words();
    let layers = next
        .words_mut()
        .chunks_exact_mut(layer_words)
        .enumerate()
        .collect();
    par::map(layers, |(k, layer): (usize, &mut [u64])| {
        for (j, row) in layer.chunks_exact_mut(row_words).enumerate() {
            let here = grid.row(j, k);
            // Returns the indices at distance `step` on both sides. `None` if one of them is outside the
            // grid.
            let next_to = |n: usize, count: usize| {
                (n >= step && n + step < count).then(|| [n - step, n + step])
            };
            let rows = match axis {
                0 => {
                    along_row(here, step, row);
                    continue;
                }
                1 => next_to(j, ny).map(|rows| rows.map(|j| grid.row(j, k))),
                _ => next_to(k, nz).map(|rows| rows.map(|k| grid.row(j, k))),
            };
            match rows {
                Some([below, above]) => {
                    for (n, word) in row.iter_mut().enumerate() {
                        *word = here[n] & below[n] & above[n];
                    }
                }
                None => row.fill(0),
            }
        }
    });
}

/// Does the same along x for one row. Bits after the end of the row stay zero.
fn along_row(here: &[u64], step: usize, row: &mut [u64]) {
    let words = step / 64;
    let bits = step % 64;
    let at = |n: Option<usize>| n.and_then(|n| here.get(n)).copied().unwrap_or(0);
    for (n, word) in row.iter_mut().enumerate() {
        let low = n.checked_sub(words);
        let high = Some(n + words);
        let mut below = at(low) << bits;
        let mut above = at(high) >> bits;
        if bits > 0 {
            below |= at(low.and_then(|n| n.checked_sub(1))) >> (64 - bits);
            above |= at(high.map(|n| n + 1)) << (64 - bits);
        }
        *word = here[n] & below & above;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Erodes a grid by testing all neighbours of each cell.
    fn slowly(grid: &BitGrid, steps: i64) -> BitGrid {
        let mut left = BitGrid::new(grid.dims()).unwrap();
        let is_full = |cell: [i64; 3]| {
            let within = (0..3).all(|a| cell[a] >= 0 && cell[a] < grid.dims()[a] as i64);
            within && grid.get(cell.map(|c| c as usize))
        };
        for cell in grid.iter() {
            let [i, j, k] = cell.map(|c| c as i64);
            let near = || -steps..=steps;
            if near().all(|z| near().all(|y| near().all(|x| is_full([i + x, j + y, k + z])))) {
                left.set(cell);
            }
        }
        left
    }

    #[test]
    fn remaining_cells_are_surrounded_by_full_ones() {
        let mut seen = 0;
        let mut random = Random::new(1);
        for dims in [
            [1, 1, 1],
            [3, 5, 4],
            [64, 9, 7],
            [65, 12, 11],
            [150, 9, 9],
            [200, 150, 3],
        ] {
            for holes in [0, 1, 5, 40] {
                let mut grid = BitGrid::new(dims).unwrap();
                let [nx, ny, nz] = dims;
                (0..nx * ny * nz).for_each(|n| grid.set([n % nx, n / nx % ny, n / nx / ny]));
                for _ in 0..holes {
                    let n = random.index(nx * ny * nz);
                    let cell = [n % nx, n / nx % ny, n / nx / ny];
                    if grid.get(cell) {
                        grid.toggle(cell);
                    }
                }
                for steps in [0, 1, 2, 3, 4] {
                    let mut found = grid.clone();
                    par::with_threads(2, || erode(&mut found, steps))
                        .unwrap()
                        .unwrap();
                    let wanted = slowly(&grid, steps as i64);
                    seen += wanted.count();
                    assert!(found == wanted, "{dims:?}, {holes} holes, {steps} steps");
                }
            }
        }
        assert!(seen > 10_000, "{seen}");
    }

    #[test]
    fn steps_beyond_a_word_reach_over_it() {
        let mut grid = BitGrid::new([400, 400, 401]).unwrap();
        for n in 0..400 * 400 * 401 {
            grid.set([n % 400, n / 400 % 400, n / 160_000]);
        }
        grid.toggle([0, 200, 200]);
        erode(&mut grid, 150).unwrap();
        // The empty cell at x = 0 reaches one cell further than the outside of the grid, which ends at x =
        // −1.
        assert_eq!(
            grid.occupied_box(),
            Some([[151, 150, 150], [249, 249, 250]])
        );
    }
}
