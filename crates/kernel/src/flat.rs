//! Triangles in planes parallel to two axes. They are common in CAD parts and block models, and are decided
//! in two dimensions.
//!
//! If cell sizes are powers of two and walls are floats, coordinates that are multiples of an eighth of a
//! cell are exact floats in index space. For triangles of up to sixteen cells per axis, the edge functions
//! are then exact as well. No error bound is needed. A bias that is less than half the step between values
//! decides ties, as in `lanes.rs`. The bounds are one cell along one axis, so only the projection along this
//! axis has to be decided, and the cells of one row fit into a word. Other triangles are left to more precise
//! kernels.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

use crate::geom::Ties;

use super::bricks::Bricks;
use super::gather::Vertices;
use super::lattice::{KernelAxis, KernelLattice};
use super::levels::LANES;
use super::marks;

/// Number of grains per cell. Coordinates are whole numbers of grains.
const GRAINS: f32 = 8.0;

/// Largest absolute value of walls and coordinates in grains. Their sums are then whole floats without
/// rounding.
const MOST_GRAINS: f64 = (1 << 22) as f64;

/// Cell number that does not occur.
const NOWHERE: f32 = -1.0;

/// Bias that decides ties. It is less than half the step between values of edge functions, which is 1 divided
/// by the square of [`GRAINS`].
const BIAS: f32 = 1.0 / 256.0;

/// Lattice whose walls are exact floats.
pub struct Flat {
    axes: [ExactAxis; 3],
    ties: Ties,
    /// Number of batches to skip. It is set if a batch contained too few of these triangles.
    rest: u32,
}

/// Axis whose walls are exact floats.
struct ExactAxis {
    origin: f32,
    /// Number of cells per unit of world space (`scale`), and number of units per cell (`spacing`). Both are
    /// powers of two.
    scale: f32,
    spacing: f32,
    cells: f32,
    closed: bool,
}

impl ExactAxis {
    fn new(axis: &KernelAxis) -> Option<Self> {
        let origin = axis.origin[0] as f32;
        let scale = axis.scale as f32;
        let exact = f64::from(origin) == axis.origin[0]
            && f64::from(scale) == axis.scale
            && (1e-30..1e30).contains(&scale)
            && axis.dyadic;
        let grains = axis.origin[0] * axis.scale * f64::from(GRAINS);
        let short = grains.fract() == 0.0
            && grains.abs() < MOST_GRAINS
            && axis.cells as f64 * f64::from(GRAINS) < MOST_GRAINS;
        if !(exact && short) {
            return None;
        }
        Some(Self {
            origin,
            scale,
            spacing: scale.recip(),
            cells: axis.cells as f32,
            closed: axis.closed,
        })
    }
}

/// Sixteen triangles in index space.
struct FlatTriangles<S: Simd> {
    u: Vertices<S>,
    /// Lowest cell of the bounds along each axis (`low`), and the highest cell relative to it (`span`).
    low: [f32x16<S>; 3],
    span: [f32x16<S>; 3],
    /// For each axis, the triangles that lie in a plane across it.
    level: [mask32x16<S>; 3],
    /// Triangles whose coordinates are exact, and which are within the covered layers and the grid.
    fit: mask32x16<S>,
}

/// Edge functions of sixteen triangles in the plane of two axes, relative to their lowest cells.
struct FlatEdges<S: Simd> {
    /// Highest cell along both axes.
    span: [f32x16<S>; 2],
    /// Last cell of the lattice along both axes, if its last wall is displaced outwards.
    last: [f32x16<S>; 2],
    /// Edge functions at cell (0, 0) (`start`), and their change from one cell to the next along both axes
    /// (`step`).
    start: [f32x16<S>; 3],
    step: [[f32x16<S>; 3]; 2],
    /// Triangles that have an area.
    fit: mask32x16<S>,
}

impl<S: Simd> FlatEdges<S> {
    /// Moves the tie bias for the last cells along the axis that decides a tie. A triangle that touches such
    /// a cell on either side then counts as touching it.
    #[inline(always)]
    fn displace(&self, simd: S, [cell, row]: [usize; 2], values: &mut [f32x16<S>; 3]) {
        let zero = f32x16::splat(simd, 0.0);
        let in_last_cell = self.last[0].simd_eq(f32x16::splat(simd, cell as f32));
        let in_last_row = self.last[1].simd_eq(f32x16::splat(simd, row as f32));
        for e in 0..3 {
            let a = self.step[0][e];
            let b = self.step[1][e];
            let first = in_last_cell & a.simd_gt(zero);
            let second = in_last_row & a.simd_eq(zero) & b.simd_gt(zero);
            values[e] = (first | second).select(values[e] + 2.0 * BIAS, values[e]);
        }
    }
}

impl Flat {
    /// Creates the lattice. `None` if floats are not exact. Also `None` under the rule that ties occupy both
    /// sides, because a face on a wall then occupies two layers.
    pub fn new(frame: &KernelLattice) -> Option<Self> {
        let [x, y, z] = &frame.axes;
        let axes = [ExactAxis::new(x)?, ExactAxis::new(y)?, ExactAxis::new(z)?];
        if frame.ties == Ties::Both {
            return None;
        }
        Some(Self {
            axes,
            ties: frame.ties,
            rest: 0,
        })
    }

    /// Marks the cells of the exact triangles that lie in planes across an axis. Returns the other triangles
    /// of `valid`.
    #[inline(always)]
    pub fn take<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        valid: u64,
        bricks: &mut Bricks,
    ) -> u64 {
        if self.rest > 0 {
            self.rest -= 1;
            return valid;
        }
        let left = simd.vectorize(
            #[inline(always)]
            || self.take_lanes(simd, vertices, valid, bricks),
        );
        // Consecutive batches usually have triangles of the same kind, so the next batches are skipped.
        self.rest = if left.count_ones() > 13 { 15 } else { 0 };
        left
    }

    #[inline(always)]
    fn take_lanes<S: Simd>(
        &self,
        simd: S,
        vertices: &Vertices<S>,
        valid: u64,
        bricks: &mut Bricks,
    ) -> u64 {
        let placed = self.place(simd, vertices, bricks);
        let [x_level, y_level, z_level] = placed.level;
        let flat =
            placed.fit & (x_level | y_level | z_level) & mask32x16::from_bitmask(simd, valid);
        if !flat.any_true() {
            return valid;
        }
        let found = self.project(simd, &placed);
        let none = f32x16::splat(simd, 0.0);
        // Cells are open boxes, so a triangle in a wall touches no cell. Its span is negative.
        let empty = flat & (placed.span[0].min(placed.span[1]).min(placed.span[2])).simd_lt(none);
        let sixteen = f32x16::splat(simd, LANES as f32);
        let taken = flat & found.fit & found.span[0].max(found.span[1]).simd_lt(sixteen) & !empty;
        if taken.any_true() {
            self.mark(simd, &placed, &found, taken, bricks);
        }
        valid & !(taken | empty).to_bitmask()
    }

    #[inline(always)]
    fn place<S: Simd>(&self, simd: S, vertices: &Vertices<S>, bricks: &Bricks) -> FlatTriangles<S> {
        let zero = f32x16::splat(simd, 0.0);
        let no = mask32x16::splat(simd, false);
        let mut placed = FlatTriangles {
            u: *vertices,
            low: [zero; 3],
            span: [zero; 3],
            level: [no; 3],
            fit: !no,
        };
        let ranges = bricks.ranges();
        // These are loops because only inlined code is compiled for the level, and closures may not be
        // inlined.
        for axis in 0..3 {
            let ExactAxis {
                origin,
                scale,
                spacing,
                cells,
                closed,
            } = self.axes[axis];
            for v in 0..3 {
                let x = vertices[axis][v];
                let u = (x - origin) * scale;
                let grains = u * GRAINS;
                // A coordinate that is a whole number of grains was not rounded if it maps back to the
                // original coordinate.
                placed.fit &=
                    grains.simd_eq(grains.round_ties_even()) & (u * spacing + origin).simd_eq(x);
                placed.u[axis][v] = u;
            }
            let [a, b, c] = placed.u[axis];
            let least = a.min(b).min(c);
            let most = a.max(b).max(c);
            let end = f32x16::splat(simd, cells);
            let mut low = least.floor();
            let mut high = most.floor();
            match self.ties {
                // A coordinate on the last wall of a closed axis belongs to the last layer.
                Ties::Up if closed => {
                    low = least.simd_eq(end).select(end - 1.0, low);
                    high = most.simd_eq(end).select(end - 1.0, high);
                }
                Ties::Up => {}
                _ => high = most.ceil() - 1.0,
            }
            let first = f32x16::splat(simd, ranges[axis].start as f32);
            let last = f32x16::splat(simd, (ranges[axis].end - 1) as f32);
            placed.fit &= low.simd_ge(first) & low.max(high).simd_le(last);
            placed.level[axis] = least.simd_eq(most);
            (placed.low[axis], placed.span[axis]) = (low, high - low);
        }
        placed
    }

    /// Projects each triangle along the axis across its plane, along which its bounds are one cell.
    #[inline(always)]
    fn project<S: Simd>(&self, simd: S, placed: &FlatTriangles<S>) -> FlatEdges<S> {
        let zero = f32x16::splat(simd, 0.0);
        let FlatTriangles {
            u,
            low,
            span,
            level: [x_level, _, z_level],
            ..
        } = placed;
        let mut s = [zero; 3];
        let mut t = [zero; 3];
        for v in 0..3 {
            s[v] = x_level.select(u[1][v] - low[1], u[0][v] - low[0]);
            t[v] = z_level.select(u[1][v] - low[1], u[2][v] - low[2]);
        }
        let mut last = [f32x16::splat(simd, NOWHERE); 3];
        for axis in 0..3 {
            if self.axes[axis].closed && self.ties == Ties::Up {
                last[axis] = f32x16::splat(simd, self.axes[axis].cells - 1.0) - low[axis];
            }
        }
        let span = [
            x_level.select(span[1], span[0]),
            z_level.select(span[1], span[2]),
        ];
        let ds = [s[1] - s[0], s[2] - s[1], s[0] - s[2]];
        let dt = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
        let normal = ds[0] * dt[1] - dt[0] * ds[1];
        let turn = f32x16::splat(simd, 1.0).copysign(normal);
        let bias = f32x16::splat(simd, BIAS);
        let last = [
            x_level.select(last[1], last[0]),
            z_level.select(last[1], last[2]),
        ];
        let mut found = FlatEdges {
            span,
            last,
            start: [zero; 3],
            step: [[zero; 3]; 2],
            fit: normal.simd_ne(zero),
        };
        for e in 0..3 {
            let a = -(dt[e] * turn);
            let b = ds[e] * turn;
            let start = (a.max(zero) + b.max(zero)) - (a * s[e] + b * t[e]);
            let bias = match self.ties {
                // The first non-zero component decides. See `tie_bias` in `lanes.rs`.
                Ties::Up => a
                    .simd_eq(zero)
                    .select(b, a)
                    .simd_gt(zero)
                    .select(-bias, bias),
                _ => -bias,
            };
            (found.start[e], found.step[0][e], found.step[1][e]) = (start + bias, a, b);
        }
        found
    }

    /// Marks the cells of the triangles in `taken`, row by row.
    #[inline(always)]
    fn mark<S: Simd>(
        &self,
        simd: S,
        placed: &FlatTriangles<S>,
        found: &FlatEdges<S>,
        taken: mask32x16<S>,
        bricks: &mut Bricks,
    ) {
        let none = u32x16::splat(simd, 0);
        let zero = f32x16::splat(simd, 0.0);
        let [x_level, _, z_level] = placed.level;
        let [x, y, z]: [u32x16<S>; 3] = [
            placed.low[0].to_int(),
            placed.low[1].to_int(),
            placed.low[2].to_int(),
        ];
        let z = bricks.layers_from_first(z);
        let across: u32x16<S> = found.span[0].to_int();
        let own = u32x16::splat(simd, 0xffff) >> ((u32x16::splat(simd, 15) - across) & 15);
        let most = |span: f32x16<S>| taken.select(span, zero).reduce_max() as usize;
        let cells = most(found.span[0]) + 1;
        let rows = most(found.span[1]) + 1;
        let along_x = taken & !x_level;
        let along_y = taken & x_level;
        let straddles = ((x & 63) + across).simd_gt(u32x16::splat(simd, 63)) & along_x;
        let [last_cell, last_row] = found.last;
        let reaches = found.span[0].simd_ge(last_cell) | found.span[1].simd_ge(last_row);
        let reaches = (reaches & taken).any_true();
        let mut line = found.start;
        for row in 0..rows {
            let mut value = line;
            let mut word = none;
            for cell in 0..cells {
                let mut at = value;
                if reaches {
                    found.displace(simd, [cell, row], &mut at);
                }
                let inside = at[0].min(at[1]).min(at[2]).simd_gt(zero);
                word |= inside.select(u32x16::splat(simd, 1 << (cell % LANES)), none);
                for e in 0..3 {
                    value[e] += found.step[0][e];
                }
            }
            for e in 0..3 {
                line[e] += found.step[1][e];
            }
            let here = found.span[1].simd_ge(f32x16::splat(simd, row as f32));
            let word = here.select(word & own, none);
            let step = u32x16::splat(simd, row as u32);
            let y = z_level.select(y + step, y);
            let z = z_level.select(z, z + step);
            let numbers = bricks.first_of_layers(z) + bricks.columns(x, y);
            let words = marks::words([x, y, z]) | word;
            bricks.mark(simd, numbers, words, along_x & word.simd_ne(none));
            if straddles.any_true() {
                let rest = marks::beyond(simd, words);
                bricks.mark(
                    simd,
                    numbers + 1,
                    rest,
                    straddles & (rest & 0xffff).simd_ne(none),
                );
            }
            if along_y.any_true() {
                // The cells are in different rows.
                for cell in 0..cells as u32 {
                    let y = y + cell;
                    let numbers = bricks.first_of_layers(z) + bricks.columns(x, y);
                    let lanes = along_y & ((word >> cell) & 1).simd_ne(none);
                    bricks.mark(simd, numbers, marks::words([x, y, z]) | 1, lanes);
                }
            }
            bricks.make_room(simd);
        }
    }
}
