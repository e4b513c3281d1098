//! The first occupied cell that a ray meets: it enters the grid by the segment–box test and walks
//! from cell to cell (Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing, 1987),
//! by blocks of 8 × 8 × 8 cells where these are empty.

use super::solid::{BLOCK, Cell, Solid};
use voxelize_core::geom::segment_box::{ClosedBox, crossing};

/// Where a ray met a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    /// The cell.
    pub cell: Cell,
    /// The axis of the face it was entered by.
    pub axis: u8,
    /// Whether that is the face towards the higher cells.
    pub high: bool,
    /// The point, in index space.
    pub at: [f64; 3],
}

/// A segment in index space.
struct Ray {
    from: [f64; 3],
    along: [f64; 3],
    /// One over `along`, to be used where that is not zero.
    inverse: [f64; 3],
    rises: [bool; 3],
}

impl Ray {
    fn new([from, to]: [[f64; 3]; 2]) -> Self {
        let along: [f64; 3] = std::array::from_fn(|a| to[a] - from[a]);
        Self {
            from,
            along,
            inverse: along.map(|c| 1.0 / c),
            rises: along.map(|c| c > 0.0),
        }
    }

    fn point(&self, t: f64) -> [f64; 3] {
        std::array::from_fn(|a| self.from[a] + t * self.along[a])
    }

    /// The fraction at which it is on a wall.
    fn fraction(&self, axis: usize, wall: i32) -> f64 {
        if self.along[axis] == 0.0 {
            f64::INFINITY
        } else {
            (f64::from(wall) - self.from[axis]) * self.inverse[axis]
        }
    }

    /// Visits the cubes of `SIDE` cells that it passes, from where it enters the box of cubes from
    /// `low` up to `high` through a wall of `axis` at the fraction `t`, up to the fraction `last`.
    /// `visit` gets the cube and where it was entered, and ends the walk with an answer.
    fn walk<const SIDE: i32, T>(
        &self,
        [low, high]: [Cell; 2],
        (mut t, mut axis): (f64, usize),
        last: f64,
        mut visit: impl FnMut(Cell, f64, usize) -> Option<T>,
    ) -> Option<T> {
        let start = self.point(t);
        let mut cube: Cell = std::array::from_fn(|a| {
            let at = (start[a] / f64::from(SIDE)).floor() as i32;
            at.clamp(low[a], high[a] - 1)
        });
        let next =
            |cube: Cell, a: usize| self.fraction(a, SIDE * (cube[a] + i32::from(self.rises[a])));
        let mut ends: [f64; 3] = std::array::from_fn(|a| next(cube, a));
        loop {
            if let Some(answer) = visit(cube, t, axis) {
                return Some(answer);
            }
            axis = if ends[0] <= ends[1] && ends[0] <= ends[2] {
                0
            } else if ends[1] <= ends[2] {
                1
            } else {
                2
            };
            cube[axis] += if self.rises[axis] { 1 } else { -1 };
            if cube[axis] < low[axis] || cube[axis] >= high[axis] || ends[axis] > last {
                return None;
            }
            // Rounding may put a wall a hair before the point where the cube was entered.
            t = t.max(ends[axis]);
            ends[axis] = next(cube, axis);
        }
    }
}

/// The first occupied cell on a segment in index space, and where it is met. Before the fraction
/// `start` there is none.
pub(super) fn first_hit(solid: &Solid, segment: [[f64; 3]; 2], start: f64) -> Option<Hit> {
    let [low, high] = solid.extent;
    let within = ClosedBox {
        low: low.map(f64::from),
        high: high.map(f64::from),
    };
    let [enter, leave] = crossing(segment, &within)?;
    let ray = Ray::new(segment);
    // The face by which it comes in: that of the plane it met last.
    let met = |a: usize| ray.fraction(a, if ray.rises[a] { low[a] } else { high[a] });
    let before = |a: usize| {
        if ray.along[a] == 0.0 {
            f64::NEG_INFINITY
        } else {
            met(a)
        }
    };
    let axis = (0..3).fold(0, |best, a| if before(a) > before(best) { a } else { best });
    const SIDE: i32 = BLOCK as i32;
    let blocks = [low.map(|c| c / SIDE), high.map(|c| (c + SIDE - 1) / SIDE)];
    ray.walk::<SIDE, Hit>(blocks, (enter.max(start), axis), leave, |block, t, axis| {
        if !solid.blocks.get(block.map(|c| c as usize)) {
            return None;
        }
        let low = block.map(|c| c * SIDE);
        let within = [low, std::array::from_fn(|a| (low[a] + SIDE).min(high[a]))];
        ray.walk::<1, Hit>(within, (t, axis), leave, |cell, t, axis| {
            let hit = || Hit {
                cell,
                axis: axis as u8,
                high: !ray.rises[axis],
                at: ray.point(t),
            };
            solid.bits.get(cell.map(|c| c as usize)).then(hit)
        })
    })
}
