//! Finds the cells whose crosses are met by triangles. A cross consists of the three segments that join the
//! centres of opposite faces of a cell (the 6-separating target of Laine, A Topological Approach to
//! Voxelization, 2013).
//!
//! The lines through centres of cells are displaced, so that none of them meets an edge or vertex. A triangle
//! therefore meets a segment of a line exactly where the line crosses the triangle. The crossing is between
//! two walls, never on a wall (`crossings.rs`). Every crossing of a row along x, y or z occupies one cell.

use std::ops::Range;

use crate::geom::Triangle;

use super::bricks::Bricks;
use super::crossings::Crosser;
use super::lattice::{KernelLattice, across};
use super::levels::Level;
use super::sink::{BrickSink, ThreadBricks};

/// Occupies the cells whose crosses are met by triangles, in the bricks of one thread.
/// [`finish`](Self::finish) returns these cells.
pub struct CrossCoverer<'a, 'b, 't> {
    frames: &'a [KernelLattice; 3],
    triangles: &'a [Triangle],
    bricks: Bricks<'b, 't>,
    snapped: u64,
}

impl<'a, 'b, 't> CrossCoverer<'a, 'b, 't> {
    /// Creates the state of one thread for triangles of a mesh. The cells are written to `target`, to which
    /// `threads` threads write. `frames` are the lattices [`KernelLattice::of_segments`] for x, y and z.
    pub fn new(
        frames: &'a [KernelLattice; 3],
        triangles: &'a [Triangle],
        target: &'b BrickSink<'t>,
        threads: usize,
    ) -> Self {
        Self {
            frames,
            triangles,
            bricks: Bricks::new(target, threads),
            snapped: 0,
        }
    }

    /// Occupies every cell of `layers` whose cross one of `triangles` meets.
    pub fn cover(&mut self, level: Level, triangles: Range<u32>, layers: Range<i64>) {
        let triangles = &self.triangles[triangles.start as usize..triangles.end as usize];
        self.bricks.layers = layers;
        for axis in 0..3 {
            let moved = self.cover_along(axis, level, triangles);
            // Snapping moves the same coordinates on all axes, so they are counted once. The count is limited
            // to the covered layers only for rows along x and y, so it is done for x.
            self.snapped += if axis == 0 { moved } else { 0 };
        }
    }

    /// Occupies the cells in which rows along an axis cross triangles. Returns the number of coordinates that
    /// snapping moved.
    fn cover_along(&mut self, axis: usize, level: Level, triangles: &[Triangle]) -> u64 {
        let Self { frames, bricks, .. } = self;
        let ranges = bricks.ranges();
        let mut cells = across(axis).map(|a| ranges[a].start as usize..ranges[a].end as usize);
        // A crossing has the number of the next wall, and the first cell comes before wall 1. So one more
        // wall is needed.
        cells[0].end += 1;
        let first = cells[0].start;
        let crosser = Crosser::new(&frames[axis], axis, cells);
        crosser.cross(level, triangles, &mut |crossings| {
            for crossing in crossings.iter().filter(|crossing| crossing.first > first) {
                let along = crossing.first as i64 - 1;
                let [b, c] = crossing.row.map(|n| n as i64);
                bricks.cell(match axis {
                    0 => [along, b, c],
                    1 => [b, along, c],
                    _ => [b, c, along],
                });
            }
        })
    }

    /// Returns the occupied cells, and the number of coordinates that snapping moved. A triangle is counted
    /// only by the call of [`cover`](Self::cover) whose layers contain its lowest cell.
    pub fn finish(self) -> (ThreadBricks, u64) {
        (self.bricks.finish(), self.snapped)
    }
}
