//! Triangles cut into pieces one by one. This is used for quantities that are rarely requested.

use std::ops::Range;

use super::clip::{PieceTaker, Polygon, cells, extent, is_on_wall, split};
use super::place::placed;
use super::quantities::area_vector;
use crate::geom::Triangle;
use crate::lattice::{KernelAxis, KernelLattice};

/// Cuts triangles into pieces, each within one cell of some layers.
pub(super) struct PieceCutter {
    pub(super) layers: Range<i64>,
    /// Buffers: a triangle, two parts of it in layers, two parts in rows, and two parts in cells.
    parts: Box<[Polygon; 7]>,
    /// Whether the orientation of triangles matters.
    is_oriented: bool,
}

impl PieceCutter {
    /// Creates a cutter. Its range of layers is empty.
    pub(super) fn new(is_oriented: bool) -> Self {
        Self {
            layers: 0..0,
            parts: Box::new([const { Polygon::empty() }; 7]),
            is_oriented,
        }
    }

    /// Adds the pieces of a triangle to `sums`.
    pub(super) fn add(
        &mut self,
        frame: &KernelLattice,
        triangle: &Triangle,
        sums: &mut impl PieceTaker,
    ) {
        let mut corners = placed(frame, triangle);
        if !self.is_oriented && corners[2] < corners[1] {
            corners.swap(1, 2);
        }
        let extents = [0, 1, 2].map(|a| extent(&corners, a));
        let [x, y, mut all] = extents.map(cells);
        if is_on_wall(extents[2]) {
            let is_below = if self.is_oriented {
                // A triangle that lies in a wall belongs to the layer on its inner side.
                area_vector(&corners)[2] > 0.0
            } else {
                all.start == end(&frame.axes[2])
            };
            if is_below {
                all = all.start - 1..all.start;
            }
        }
        let mine = all.start.max(self.layers.start)..all.end.min(self.layers.end);
        if mine.is_empty() {
            return;
        }
        if [&x, &y, &all]
            .iter()
            .all(|cells| cells.end - cells.start == 1)
        {
            // The triangle is within one cell, as most triangles of a scan are.
            sums.add([x.start, y.start, all.start], &corners, extents);
            return;
        }
        self.parts[0].set(&corners);
        if all.end - all.start == 1 {
            self.add_layer(frame, 0, all.start, sums);
            return;
        }
        let [whole, part, other, ..] = &mut *self.parts;
        if all.end - all.start == 2 {
            split(whole, 2, (all.start + 1) as f64, [part, other]);
            for k in mine {
                let which = if k == all.start { 1 } else { 2 };
                self.add_layer(frame, which, k, sums);
            }
            return;
        }
        for k in mine {
            let [whole, part, ..] = &mut *self.parts;
            part.set_band(whole, 2, walls(k));
            self.add_layer(frame, 1, k, sums);
        }
    }

    /// Adds the pieces of `parts[which]`, the part of the triangle in layer `k`.
    fn add_layer(
        &mut self,
        frame: &KernelLattice,
        which: usize,
        k: i64,
        sums: &mut impl PieceTaker,
    ) {
        let corners = self.parts[which].corners();
        if corners.len() < 3 {
            return;
        }
        let all = cells(extent(corners, 1));
        if all.end - all.start == 1 {
            self.add_row(frame, which, [all.start, k], sums);
            return;
        }
        let (layers, [part, other, ..]) = self.parts.split_at_mut(3) else {
            return;
        };
        if all.end - all.start == 2 {
            split(&layers[which], 1, (all.start + 1) as f64, [part, other]);
            self.add_row(frame, 3, [all.start, k], sums);
            self.add_row(frame, 4, [all.start + 1, k], sums);
            return;
        }
        for j in all.start.max(0)..all.end.min(frame.axes[1].cells) {
            let (layers, rows) = self.parts.split_at_mut(3);
            rows[0].set_band(&layers[which], 1, walls(j));
            self.add_row(frame, 3, [j, k], sums);
        }
    }

    /// Adds the pieces of `parts[which]`, the part of the triangle in one row of cells.
    fn add_row(
        &mut self,
        frame: &KernelLattice,
        which: usize,
        [j, k]: [i64; 2],
        sums: &mut impl PieceTaker,
    ) {
        let (rows, [piece, other]) = self.parts.split_at_mut(5) else {
            return;
        };
        let row = &rows[which];
        if row.corners().len() < 3 {
            return;
        }
        let extents = [0, 1, 2].map(|a| extent(row.corners(), a));
        let all = cells(extents[0]);
        if all.end - all.start == 1 {
            sums.add([all.start, j, k], row.corners(), extents);
            return;
        }
        if all.end - all.start == 2 {
            split(row, 0, (all.start + 1) as f64, [piece, other]);
            for (i, half) in [(all.start, piece), (all.start + 1, other)] {
                if half.corners().len() > 2 {
                    sums.add(
                        [i, j, k],
                        half.corners(),
                        [walls(i), extents[1], extents[2]],
                    );
                }
            }
            return;
        }
        let mut add = |i: i64, walls: [f64; 2]| {
            piece.set_band(row, 0, walls);
            if piece.corners().len() > 2 {
                sums.add([i, j, k], piece.corners(), [walls, extents[1], extents[2]]);
            }
        };
        if all.start < 0 {
            add(-1, [f64::NEG_INFINITY, 0.0]);
        }
        for i in all.start.max(0)..all.end.min(frame.axes[0].cells) {
            add(i, walls(i));
        }
    }
}

/// Returns the last wall of an axis if a point on it belongs to the last cell. Otherwise returns a number
/// that no wall has.
pub(super) fn end(axis: &KernelAxis) -> i64 {
    if axis.closed { axis.cells } else { i64::MAX }
}

/// Returns the lower and the upper wall of a cell.
fn walls(cell: i64) -> [f64; 2] {
    [cell as f64, (cell + 1) as f64]
}
