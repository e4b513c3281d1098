//! The 5 × 5 × 5 cells around one, a bit each: whether the solid ones are disconnected.

use std::ops::Range;

use crate::grid::BitGrid;

/// How far the window reaches.
pub(super) const REACH: usize = 2;

/// Cells along an axis. Bit `x + SIDE * (y + SIDE * z)` is a cell.
const SIDE: usize = 2 * REACH + 1;

const ALL: u128 = (1 << (SIDE * SIDE * SIDE)) - 1;

/// The cell in the middle.
const MIDDLE: u128 = 1 << (REACH * (1 + SIDE + SIDE * SIDE));

/// The cells whose number along x, or along y, is `at`.
const fn across(axis: usize, at: usize) -> u128 {
    let (mut cells, mut n) = (0, 0);
    while n < SIDE * SIDE * SIDE {
        let number = if axis == 0 { n % SIDE } else { n / SIDE % SIDE };
        if number == at {
            cells |= 1 << n;
        }
        n += 1;
    }
    cells
}

const FIRST: [u128; 2] = [across(0, 0), across(1, 0)];
const LAST: [u128; 2] = [across(0, SIDE - 1), across(1, SIDE - 1)];

/// These cells, and the 26 around each.
fn spread(cells: u128) -> u128 {
    let x = cells | (cells & !LAST[0]) << 1 | (cells & !FIRST[0]) >> 1;
    let y = x | (x & !LAST[1]) << SIDE | (x & !FIRST[1]) >> SIDE;
    (y | y << (SIDE * SIDE) | y >> (SIDE * SIDE)) & ALL
}

/// The cells of `cells` that are 26-connected with `some` of them.
fn piece(mut some: u128, cells: u128) -> u128 {
    loop {
        let more = spread(some) & cells;
        if more == some {
            return some;
        }
        some = more;
    }
}

/// Whether the solid cells around a filled cell are none, or several pieces. Only those count that are connected
/// with the cell through filled cells.
pub(super) fn is_broken(filled: u128, solid: u128) -> bool {
    let solid = solid & piece(MIDDLE, filled);
    solid == 0 || piece(solid & solid.wrapping_neg(), solid) != solid
}

/// The window of a grid around a cell; beyond the grid nothing is.
pub(super) fn at(grid: &BitGrid, [i, j, k]: [usize; 3]) -> u128 {
    let [_, ny, nz] = grid.dims();
    let mut cells = 0;
    for z in reach(k, nz) {
        for y in reach(j, ny) {
            let place = SIDE * (y + REACH - j) + SIDE * SIDE * (z + REACH - k);
            cells |= u128::from(five(grid.row(y, z), i)) << place;
        }
    }
    cells
}

fn reach(at: usize, n: usize) -> Range<usize> {
    at.saturating_sub(REACH)..n.min(at + REACH + 1)
}

/// The cells of a row from two before one to two behind it.
fn five(row: &[u64], i: usize) -> u64 {
    let bits = match i.checked_sub(REACH) {
        None => row[0] << (REACH - i),
        Some(from) => {
            let (n, bit) = (from / 64, from % 64);
            let above = if bit > 64 - SIDE { row.get(n + 1).map_or(0, |word| word << (64 - bit)) } else { 0 };
            row[n] >> bit | above
        }
    };
    bits & ((1 << SIDE) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u128 {
        let mut cells = 0;
        for _ in 0..5 {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            cells = cells << 31 | u128::from(*state >> 33);
        }
        cells & ALL
    }

    /// By spreading from cell to cell.
    fn slowly(some: u128, cells: u128) -> u128 {
        let (mut found, mut waiting) = (0, vec![some.trailing_zeros() as i32]);
        while let Some(n) = waiting.pop() {
            if found >> n & 1 == 1 {
                continue;
            }
            found |= 1 << n;
            let at = [n % 5, n / 5 % 5, n / 25];
            for step in 0..27 {
                let near = [at[0] + step % 3 - 1, at[1] + step / 3 % 3 - 1, at[2] + step / 9 - 1];
                let n = near[0] + 5 * near[1] + 25 * near[2];
                if near.iter().all(|c| (0..5).contains(c)) && cells >> n & 1 == 1 {
                    waiting.push(n);
                }
            }
        }
        found
    }

    #[test]
    fn pieces_are_connected_by_corners() {
        let (mut state, mut components) = (3, 0);
        for n in 0..3000 {
            // Fewer and fewer cells.
            let cells = (0..n % 6).fold(ALL, |cells, _| cells & random(&mut state));
            let Some(first) = cells.checked_sub(1).map(|less| cells & !less) else { continue };
            assert_eq!(piece(first, cells), slowly(first, cells), "{cells:#x}");
            components += u32::from(piece(first, cells) != cells);
        }
        assert!(components > 500, "{components}");
    }

    #[test]
    fn what_is_solid_is_broken_if_it_is_nothing_or_in_pieces() {
        let row = |xs: &[usize]| xs.iter().fold(0, |cells, x| cells | 1 << (x + 2 * 5 + 2 * 25));
        let all = row(&[0, 1, 2, 3, 4]);
        for (filled, solid, broken) in [
            (all, &[0, 1, 3, 4][..], true),
            (all, &[0, 1, 2], false),
            (all, &[], true),
            (all, &[4], false),
            // Cells that are not connected with the middle do not count.
            (row(&[0, 2, 3]), &[0, 3], false),
            (row(&[0, 2]), &[0], true),
        ] {
            assert_eq!(is_broken(filled, row(solid)), broken, "{filled:#x} {solid:?}");
        }
    }

    #[test]
    fn windows_are_cells_around_one() {
        let (mut state, mut seen) = (9, 0);
        for dims in [[3, 4, 5], [64, 5, 5], [65, 7, 3], [131, 6, 6]] {
            let mut grid = BitGrid::new(dims).unwrap();
            for n in 0..dims[0] * dims[1] * dims[2] {
                if random(&mut state) & 1 == 1 {
                    grid.set([n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]]);
                }
            }
            for n in 0..dims[0] * dims[1] * dims[2] {
                let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
                let window = at(&grid, cell);
                for bit in 0..125 {
                    let step = [bit % 5, bit / 5 % 5, bit / 25];
                    let near = [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(2));
                    let is_in = (0..3).all(|a| near[a] < dims[a]) && grid.get(near);
                    assert_eq!(window >> bit & 1 == 1, is_in, "{dims:?} {cell:?} {near:?}");
                    seen += u32::from(is_in);
                }
            }
        }
        assert!(seen > 10_000, "{seen}");
    }
}
