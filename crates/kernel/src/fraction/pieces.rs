//! Integrals over parts of triangles in the cells of their rows. The lanes of a vector hold different parts.
//!
//! With the outward normal n, a part has the area `∫ n_x dA` and the moment `∫ x n_x dA`, computed from a fan
//! of triangles. The region of the part below a wall is also a fan. Its apex is the point where the boundary
//! leaves the region. The piece in a cell is the difference of the regions below the two walls of the cell.

use fearless_simd::{Simd, prelude::*};

use super::bands::{LanePoint, PART, select};
use super::bricks::SIDE;
use super::cut_cells::{CELLS, CutCells};
use super::lists::{LaneList, WIDEST};
use super::units::{UNITS, WHOLE_UNITS};

/// Number of values of a part in several cells: its corners, with x relative to the low wall of its first
/// cell (12); the place of its row plus 1; its first cell; the number of finished walls; twice the area and
/// six times the moment below the last finished wall (2); twice the area and six times the moment of the
/// whole part (2).
pub(super) const LONG: usize = 19;

/// Maximum number of parts in the list of multi-cell parts that one step adds.
pub(super) const LONG_OF_STEP: usize = WIDEST;

/// Number of corners of a part.
const CORNERS: usize = 4;

/// Adds parts within one cell to that cell and lists other parts, until fewer than `least` are left or the
/// list is full.
#[inline(always)]
pub(super) fn add_parts<S: Simd>(
    simd: S,
    from: &mut LaneList<PART>,
    to: &mut LaneList<LONG>,
    cells: &mut CutCells,
    least: usize,
) {
    let zero = S::f64s::splat(simd, 0.0);
    let one = S::f64s::splat(simd, 1.0);
    let end = S::f64s::splat(simd, cells.cells[0] as f64);
    while from.count() >= least && to.has_room(LONG_OF_STEP) {
        let [p0, p1, p2, q0, q1, q2, r0, r1, r2, s0, s1, s2, row] = from.pop(simd);
        let low = p0.min(q0).min(r0.min(s0));
        let high = p0.max(q0).max(r0.max(s0));
        // All cells before the lattice count as one cell.
        let first = low.floor().max(-one);
        let lanes = row.simd_ge(one) & first.simd_lt(end);
        let x = [p0 - first, q0 - first, r0 - first, s0 - first];
        let across = [[q1 - p1, q2 - p2], [r1 - p1, r2 - p2], [s1 - p1, s2 - p2]];
        let [mut area, mut moment] = [zero; 2];
        for n in 0..2 {
            let twice = twice_area::<S>(across[n], across[n + 1]);
            area += twice;
            moment += twice * (x[0] + x[n + 1] + x[n + 2]);
        }
        let is_long = (high - first).simd_gt(one);
        add_piece::<S>(
            simd,
            cells,
            lanes & !is_long,
            [row, first],
            [area, moment],
            high.simd_gt(first),
        );
        let long = [
            x[0], p1, p2, x[1], q1, q2, x[2], r1, r2, x[3], s1, s2, row, first, zero, zero, zero,
            area, moment,
        ];
        to.push::<S>(long, lanes & is_long);
    }
}

/// Adds the piece in the next cell of each part in several cells. If only one more piece follows, adds that
/// too. Stops when fewer than `least` parts are left.
#[inline(always)]
pub(super) fn add_long_parts<S: Simd>(
    simd: S,
    list: &mut LaneList<LONG>,
    cells: &mut CutCells,
    least: usize,
) {
    let one = S::f64s::splat(simd, 1.0);
    let end = S::f64s::splat(simd, cells.cells[0] as f64);
    while list.count() >= least {
        let mut long = list.pop(simd);
        let [
            p0,
            p1,
            p2,
            q0,
            q1,
            q2,
            r0,
            r1,
            r2,
            s0,
            s1,
            s2,
            row,
            first,
            done,
            area_done,
            moment_done,
            ..,
        ] = long;
        let lanes = row.simd_ge(one);
        let wall = done + one;
        let high = p0.max(q0).max(r0.max(s0));
        let corners = [
            [p0 - wall, p1, p2],
            [q0 - wall, q1, q2],
            [r0 - wall, r1, r2],
            [s0 - wall, s1, s2],
        ];
        let [area_below, moment_below] = below_wall::<S>(simd, &corners, wall);
        let area = area_below - area_done;
        let moment = moment_below - moment_done - done * (area * 3.0);
        add_piece::<S>(
            simd,
            cells,
            lanes,
            [row, first + done],
            [area, moment],
            lanes,
        );
        let next = first + wall;
        let lanes = lanes & next.simd_lt(end);
        let is_last = (wall + one).simd_ge(high);
        let area = long[17] - area_below;
        let moment = long[18] - moment_below - wall * (area * 3.0);
        add_piece::<S>(
            simd,
            cells,
            lanes & is_last,
            [row, next],
            [area, moment],
            lanes,
        );
        (long[14], long[15], long[16]) = (wall, area_below, moment_below);
        list.push::<S>(long, lanes & !is_last);
    }
}

/// Returns twice the area of the triangle between two vectors in the plane of y and z.
#[inline(always)]
pub(super) fn twice_area<S: Simd>(p: [S::f64s; 2], q: [S::f64s; 2]) -> S::f64s {
    p[0] * q[1] - p[1] * q[0]
}

/// Returns twice the area and six times the moment, relative to the first cell, of the region of a part below
/// a wall. The x coordinates of `corners` are relative to the wall.
#[inline(always)]
fn below_wall<S: Simd>(simd: S, corners: &[LanePoint<S>; CORNERS], wall: S::f64s) -> [S::f64s; 2] {
    let zero = S::f64s::splat(simd, 0.0);
    let mut is_below = [zero.simd_le(zero); CORNERS];
    for n in 0..CORNERS {
        is_below[n] = corners[n][0].simd_le(zero);
    }
    // Edges at which the boundary leaves the region below the wall (`up`), and at which it returns. Both are
    // stored with their lower end first.
    let mut up = [corners[0], corners[1]];
    for n in 1..CORNERS {
        let next = (n + 1) % CORNERS;
        let leaves = is_below[n] & !is_below[next];
        up = [
            select::<S>(leaves, corners[n], up[0]),
            select::<S>(leaves, corners[next], up[1]),
        ];
    }
    let mut down = [corners[0], corners[CORNERS - 1]];
    for n in 1..CORNERS {
        let comes = !is_below[n - 1] & is_below[n];
        down = [
            select::<S>(comes, corners[n], down[0]),
            select::<S>(comes, corners[n - 1], down[1]),
        ];
    }
    let [up, down] = [meet::<S>(up), meet::<S>(down)];
    let mut across = [[zero; 2]; CORNERS];
    for n in 0..CORNERS {
        across[n] = [corners[n][1] - up[0], corners[n][2] - up[1]];
    }
    let down = [down[0] - up[0], down[1] - up[1]];
    let [mut area, mut moment] = [zero; 2];
    for n in 0..CORNERS {
        let next = (n + 1) % CORNERS;
        let from = [
            is_below[n].select(across[n][0], down[0]),
            is_below[n].select(across[n][1], down[1]),
        ];
        let from_x = is_below[n].select(corners[n][0], zero);
        let twice = is_below[next].select(twice_area::<S>(from, across[next]), zero);
        area += twice;
        moment += twice * (from_x + corners[next][0]);
    }
    [area, moment + area * (wall * 3.0)]
}

/// Returns the y and z of the points at which edges meet a wall. The edges go from below the wall to above
/// it, and x is relative to the wall.
#[inline(always)]
fn meet<S: Simd>([p, q]: [LanePoint<S>; 2]) -> [S::f64s; 2] {
    let t = p[0] / (p[0] - q[0]);
    [p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])]
}

/// Adds twice the area and six times the moment of a piece to the cell in each lane. `i` is the cell in its
/// row. Pieces before the first cell count as if they were on its low wall.
#[inline(always)]
pub(super) fn add_piece<S: Simd>(
    simd: S,
    cells: &mut CutCells,
    lanes: S::mask64s,
    [row, i]: [S::f64s; 2],
    [area, moment]: [S::f64s; 2],
    is_cut: S::mask64s,
) {
    let zero = S::f64s::splat(simd, 0.0);
    let is_before = i.simd_lt(zero);
    let moment = is_before.select(zero, moment);
    let is_cut = (is_cut & !is_before).to_bitmask();
    let i = i.max(zero);
    let brick = (i * (1.0 / SIDE as f64)).floor();
    let place = row - 1.0 + brick * ((CELLS - SIDE) as f64) + i;
    // After adding this constant, the last bits of the sum are a whole number.
    let area = area * (UNITS / 2.0) + WHOLE_UNITS;
    let moment = moment * (UNITS / 6.0) + WHOLE_UNITS;
    let place = place + WHOLE_UNITS;
    let [place, area, moment] = [place.as_slice(), area.as_slice(), moment.as_slice()];
    let mut bits = lanes.to_bitmask();
    while bits != 0 {
        let lane = bits.trailing_zeros() as usize % S::f64s::LEN;
        bits &= bits - 1;
        let whole = |sum: f64| sum.to_bits().wrapping_sub(WHOLE_UNITS.to_bits()) as i64;
        cells.add(
            whole(place[lane]) as usize,
            whole(area[lane]),
            whole(moment[lane]),
            is_cut >> lane & 1 != 0,
        );
    }
}
