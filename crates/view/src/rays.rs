//! Finds the first occupied cell on a ray. The segment-box test decides where the ray enters the grid. From
//! there it steps from cell to cell (Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing,
//! 1987), and skips blocks of 8 × 8 × 8 cells that are empty.

use super::solid::{BLOCK, Cell, Solid};
use voxelize_core::geom::segment_box::{ClosedBox, crossing};

/// Intersection of a ray with an occupied cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    /// Cell that the ray entered.
    pub cell: Cell,
    /// Axis that is perpendicular to the face through which the ray entered.
    pub axis: u8,
    /// The ray entered through the face with the higher coordinate along `axis`.
    pub high: bool,
    /// Point where the ray entered, in index space.
    pub at: [f64; 3],
}

/// Segment in index space, in which a cell has size 1.
struct Ray {
    from: [f64; 3],
    along: [f64; 3],
    /// Reciprocal of each component of `along`. Not valid where the component is zero.
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

    /// Returns the fraction of the segment at which the ray crosses a wall. Infinite if the ray is parallel
    /// to the wall.
    fn fraction(&self, axis: usize, wall: i32) -> f64 {
        if self.along[axis] == 0.0 {
            f64::INFINITY
        } else {
            (f64::from(wall) - self.from[axis]) * self.inverse[axis]
        }
    }

    /// Visits the cubes of `SIDE` cells that the ray passes through, in order. The cubes are in the box from
    /// `low` to `high`. The ray enters this box at the fraction `t` through a wall of `axis`, and ends at the
    /// fraction `last`. `visit` is called with the cube, the fraction and the axis at which the ray enters
    /// it. The walk ends when `visit` returns a result.
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
            // Because of rounding, the wall may seem to be slightly before the point of entry.
            t = t.max(ends[axis]);
            ends[axis] = next(cube, axis);
        }
    }
}

/// Returns the intersection with the first occupied cell on a segment in index space. `None` if there is
/// none. The caller knows that there is none before the fraction `start`.
pub(super) fn first_hit(solid: &Solid, segment: [[f64; 3]; 2], start: f64) -> Option<Hit> {
    let [low, high] = solid.extent;
    let within = ClosedBox {
        low: low.map(f64::from),
        high: high.map(f64::from),
    };
    let [enter, leave] = crossing(segment, &within)?;
    let ray = Ray::new(segment);
    // The ray enters through the face whose plane it crosses last.
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
            if !solid.bits.get(cell.map(|c| c as usize)) {
                return None;
            }
            Some(Hit {
                cell,
                axis: axis as u8,
                high: !ray.rises[axis],
                at: ray.point(t),
            })
        })
    })
}
