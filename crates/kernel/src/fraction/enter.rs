//! Maps triangles of the mesh to index space, several at a time. A triangle within one cell is added to that
//! cell, and other triangles are listed for cutting.
//!
//! The corners of a triangle are sorted first, so that a rotation of the triangle does not change the result.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::bands::{LAYER, LanePoint, RowPlaces, WHOLE, layer, whole};
use super::cut_cells::CutCells;
use super::lists::LaneList;
use super::pieces::{add_piece, twice_area};
use super::place::{are_exact, coordinate};
use crate::gather::{Vertices, gather_numbers};
use crate::geom::Triangle;
use crate::lattice::{KernelAxis, KernelLattice};
use crate::levels::LANES;

/// One corner of each of sixteen triangles.
type WorldPoint<S> = [f32x16<S>; 3];

/// Values of sixteen triangles: nine coordinates each, and 1 or −1 for the orientation.
type WorldRows = [[f64; LANES]; 10];

/// Lists and cells to which triangles are added.
pub(super) struct EnterLists<'a> {
    pub(super) whole: &'a mut LaneList<WHOLE>,
    pub(super) layer: &'a mut LaneList<LAYER>,
    pub(super) cells: &'a mut CutCells,
}

/// Processes the triangles with these numbers until a list is full. Returns the number of triangles
/// processed.
#[inline(always)]
pub(super) fn enter<S: Simd>(
    simd: S,
    frame: &KernelLattice,
    triangles: &[Triangle],
    numbers: &[u32],
    places: &RowPlaces,
    to: &mut EnterLists,
) -> usize {
    let mut done = 0;
    while done < numbers.len() && to.whole.has_room(LANES) && to.layer.has_room(LANES) {
        let some = &numbers[done..numbers.len().min(done + LANES)];
        let mut sixteen = [some[0]; LANES];
        sixteen[..some.len()].copy_from_slice(some);
        let rows = world_rows(simd, gather_numbers(simd, triangles, &sixteen));
        enter_rows(simd, frame, &rows, some.len(), places, to);
        done += some.len();
    }
    done
}

/// Processes the first `count` of sixteen triangles.
#[inline(always)]
fn enter_rows<S: Simd>(
    simd: S,
    frame: &KernelLattice,
    rows: &WorldRows,
    count: usize,
    places: &RowPlaces,
    to: &mut EnterLists,
) {
    let EnterLists {
        whole: wholes,
        layer: layers,
        cells,
    } = to;
    let zero = S::f64s::splat(simd, 0.0);
    let one = S::f64s::splat(simd, 1.0);
    let start_of_rows = S::f64s::splat(simd, places.rows[0]);
    let mut first = 0;
    while first < count {
        let mut corners: [LanePoint<S>; 3] = [[one; 3]; 3];
        for axis in 0..3 {
            for corner in 0..3 {
                corners[corner][axis] =
                    place(simd, &frame.axes[axis], &rows[3 * corner + axis], first);
            }
        }
        let [a, b, c] = corners;
        let sign = S::f64s::from_slice(simd, &rows[9][first..first + S::f64s::LEN]);
        let left = (1_u64 << (count - first).min(S::f64s::LEN)) - 1;
        first += S::f64s::LEN;

        let low = [
            a[0].min(b[0]).min(c[0]),
            a[1].min(b[1]).min(c[1]),
            a[2].min(b[2]).min(c[2]),
        ];
        let high = [
            a[0].max(b[0]).max(c[0]),
            a[1].max(b[1]).max(c[1]),
            a[2].max(b[2]).max(c[2]),
        ];
        let [i, j, k] = [low[0].floor(), low[1].floor(), low[2].floor()];
        // Triangles in a wall across y or z have no area along x, so they are skipped.
        let is_there = S::mask64s::from_bitmask(simd, left)
            & high[2].simd_gt(k.max(S::f64s::splat(simd, places.layers[0])))
            & low[2].simd_lt(S::f64s::splat(simd, places.layers[1]))
            & high[1].simd_gt(j.max(start_of_rows))
            & low[1].simd_lt(S::f64s::splat(simd, places.rows[1]));
        let is_in_layer = is_there & high[2].simd_le(k + one);
        let is_in_cell = is_in_layer
            & high[1].simd_le(j + one)
            & high[0].simd_le(i + one)
            & i.simd_ge(zero)
            & i.simd_lt(S::f64s::splat(simd, cells.cells[0] as f64));
        if is_in_cell.any_true() {
            let twice =
                twice_area::<S>([b[1] - a[1], b[2] - a[2]], [c[1] - a[1], c[2] - a[2]]) * sign;
            let moment = twice * ((a[0] - i) + (b[0] - i) + (c[0] - i));
            let row = places.row::<S>(j, k) + one;
            add_piece::<S>(
                simd,
                cells,
                is_in_cell,
                [row, i],
                [twice, moment],
                high[0].simd_gt(i),
            );
        }
        let start = S::f64s::splat(simd, places.layers[0]);
        wholes.push::<S>(whole::<S>(&corners, [sign, start]), is_there & !is_in_layer);
        layers.push::<S>(
            layer::<S>(&corners, [sign, k, start_of_rows]),
            is_in_layer & !is_in_cell,
        );
    }
}

/// Returns the values of sixteen triangles with sorted corners.
#[inline(always)]
fn world_rows<S: Simd>(simd: S, axes: Vertices<S>) -> WorldRows {
    let mut sign = f32x16::splat(simd, 1.0);
    let mut corners = [[sign; 3]; 3];
    for axis in 0..3 {
        for corner in 0..3 {
            corners[corner][axis] = axes[axis][corner];
        }
    }
    let [a, b, c] = corners;
    let [a, b] = order([a, b], &mut sign);
    let [b, c] = order([b, c], &mut sign);
    let [a, b] = order([a, b], &mut sign);
    let mut rows = [[0.0; LANES]; 10];
    let corners = [a, b, c];
    for row in 0..10 {
        let numbers = if row < 9 {
            corners[row / 3][row % 3]
        } else {
            sign
        };
        let (low, high) = numbers.widen();
        low.store_slice(&mut rows[row][..LANES / 2]);
        high.store_slice(&mut rows[row][LANES / 2..]);
    }
    rows
}

/// Sorts two corners by x, then y, then z. If they are exchanged, `sign` is negated.
#[inline(always)]
fn order<S: Simd>([p, q]: [WorldPoint<S>; 2], sign: &mut f32x16<S>) -> [WorldPoint<S>; 2] {
    let by_z = p[2].simd_gt(q[2]);
    let by_y = p[1].simd_gt(q[1]) | (p[1].simd_eq(q[1]) & by_z);
    let turned = p[0].simd_gt(q[0]) | (p[0].simd_eq(q[0]) & by_y);
    *sign = turned.select(-*sign, *sign);
    let [mut low, mut high] = [p, q];
    for axis in 0..3 {
        low[axis] = turned.select(q[axis], p[axis]);
        high[axis] = turned.select(p[axis], q[axis]);
    }
    [low, high]
}

/// Returns coordinates in index space, after snapping.
#[inline(always)]
fn place<S: Simd>(simd: S, axis: &KernelAxis, world: &[f64; LANES], first: usize) -> S::f64s {
    let world = &world[first..first + S::f64s::LEN];
    let index = (S::f64s::from_slice(simd, world) - axis.origin[0] - axis.origin[1]) * axis.scale;
    if are_exact(axis) {
        return index;
    }
    let twice = index * 2.0;
    let off = (twice - twice.round_ties_even()).abs();
    let near = off
        .simd_le(S::f64s::splat(simd, 2.0 * axis.margin))
        .to_bitmask();
    if near == 0 {
        return index;
    }
    let mut index = index;
    let mut bits = near;
    while bits != 0 {
        let lane = bits.trailing_zeros() as usize;
        bits &= bits - 1;
        index[lane] = coordinate(axis, world[lane] as f32);
    }
    index
}
