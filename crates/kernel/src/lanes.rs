//! Test of triangles against boxes with 13 separating axes, for triangles of a few cells. The lanes of a
//! vector hold different triangles.
//!
//! Triangles with bounds of at most `N` cells per axis are tested against every cell of their bounds. As many
//! triangles are tested at once as a register has lanes, in floats relative to each triangle's lowest cell.
//! The edge and plane functions are from Schwarz and Seidel 2010. They are linear in the cell, and the offset
//! of the critical corner is computed once per triangle. A projection is tested only if the bounds span
//! several cells along both of its axes, and the plane only if they span several cells along all three axes.
//!
//! A triangle is *unsure* if a value is within its error bound (docs/internals/error-bounds.md) of zero.
//! Triangles whose coordinates are exact multiples of half a cell are computed without rounding, and their
//! error bound is zero. For these, a bias that is smaller than any value other than zero decides whether a
//! value of zero counts as touching.

use fearless_simd::{Simd, prelude::*, u32x16};

use crate::geom::Ties;

use super::lattice::KernelLattice;
use super::levels::LANES;

/// Half a unit in the last place of 1.0 in floats.
pub const U32: f32 = f32::EPSILON / 2.0;

/// Number of rows in the input of the test: nine coordinates, the lowest cell (three), the highest cell
/// relative to it (three), and `TriangleBatch::exact`.
pub const ROWS: usize = 16;

/// Value above any edge or plane function.
const HUGE: f32 = 1e30;

/// Triangles as columns. The first sixteen columns are tested.
pub type TestRows = [[f32; 2 * LANES]; ROWS];

/// Test for bounds of at most `N` cells per axis. `N` is 2, 3 or 4.
pub struct BoxTest<const N: usize> {
    ties: Ties,
    /// Error bound of edge functions. It is also the error bound of plane functions times `scale`.
    bound: f32,
    /// Power of two that plane functions are multiplied by.
    scale: f32,
}

/// As many triangles as a register of the level has lanes. Values are indexed by axis, then by vertex or
/// edge.
struct Triangles<S: Simd> {
    vertex: [[S::f32s; 3]; 3],
    edge: [[S::f32s; 3]; 3],
    normal: [S::f32s; 3],
    /// Highest cell of the bounds along each axis, relative to the lowest cell.
    span: [S::f32s; 3],
    /// Error bound of values. It is zero for exact triangles.
    bound: S::f32s,
    /// Bias that decides whether a value of zero counts as touching. For exact triangles, it is smaller than
    /// the absolute value of every non-zero edge or plane function. Zero for other triangles.
    bias: S::f32s,
}

/// Edge functions of a projection, one for each column of cells.
type EdgeTable<S, const N: usize> = [[<S as Simd>::f32s; N]; N];

impl<S: Simd> Triangles<S> {
    #[inline(always)]
    fn load(simd: S, rows: &TestRows, first: usize, bound: f32, bias: f32) -> Self {
        let lanes = first..first + S::f32s::LEN;
        let zero = S::f32s::splat(simd, 0.0);
        let mut vertex = [[zero; 3]; 3];
        let mut edge = vertex;
        let mut span = vertex[0];
        // These are loops because only inlined code is compiled for the level, and closures may not be
        // inlined.
        for axis in 0..3 {
            for n in 0..3 {
                vertex[axis][n] = S::f32s::from_slice(simd, &rows[3 * axis + n][lanes.clone()]);
            }
            span[axis] = S::f32s::from_slice(simd, &rows[12 + axis][lanes.clone()]);
            let [a, b, c] = vertex[axis];
            edge[axis] = [b - a, c - b, a - c];
        }
        let [x, y, z] = edge;
        let normal = [
            y[0] * z[1] - z[0] * y[1],
            z[0] * x[1] - x[0] * z[1],
            x[0] * y[1] - y[0] * x[1],
        ];
        let exact = S::f32s::from_slice(simd, &rows[15][lanes.clone()]).simd_gt(zero);
        let bound = exact.select(zero, S::f32s::splat(simd, bound));
        let bias = exact.select(S::f32s::splat(simd, bias), zero);
        Self {
            vertex,
            edge,
            normal,
            span,
            bound,
            bias,
        }
    }

    /// Returns the edge functions of the projection along `axis`. For each column of cells, this is the least
    /// of the three functions.
    #[inline(always)]
    fn table<const N: usize>(&self, simd: S, axis: usize, ties: Ties) -> EdgeTable<S, N> {
        let s = (axis + 1) % 3;
        let t = (axis + 2) % 3;
        let zero = S::f32s::splat(simd, 0.0);
        // Orients the triangle so that its inside is to the left of its edges.
        let turn = S::f32s::splat(simd, 1.0).copysign(self.normal[axis]);
        let mut table = [[S::f32s::splat(simd, HUGE); N]; N];
        for e in 0..3 {
            let a = -(self.edge[t][e] * turn);
            let b = self.edge[s][e] * turn;
            let start =
                (a.max(zero) + b.max(zero)) - (a * self.vertex[s][e] + b * self.vertex[t][e]);
            // The displacement along x decides before the displacement along y, and that along y before that
            // along z.
            let (first, second) = if axis == 1 { (b, a) } else { (a, b) };
            let mut line = start + self.tie_bias(simd, first, second, ties);
            for j in 0..N {
                let mut value = line;
                for i in 0..N {
                    table[i][j] = table[i][j].min(value);
                    value += a;
                }
                line += b;
            }
        }
        table
    }

    /// Returns the bias of an edge function. If the edge passes through the critical corner, the function is
    /// zero and the bias decides its sign. A positive value counts as touching. Under the rule `Ties::Up`,
    /// the bias is positive iff the first non-zero component is negative. The corner then lies on a lower
    /// wall along the axis of this component, and this wall moves away from the inside.
    #[inline(always)]
    fn tie_bias(&self, simd: S, first: S::f32s, second: S::f32s, ties: Ties) -> S::f32s {
        let zero = S::f32s::splat(simd, 0.0);
        match ties {
            Ties::Both => self.bias,
            Ties::None => -self.bias,
            Ties::Up => {
                let leading = first.simd_eq(zero).select(second, first);
                leading.simd_gt(zero).select(-self.bias, self.bias)
            }
        }
    }

    /// Returns the lanes whose bounds span several cells along each of `axes`.
    #[inline(always)]
    fn wide(&self, simd: S, axes: &[usize]) -> S::mask32s {
        let mut least = self.span[axes[0]];
        for &axis in axes {
            least = least.min(self.span[axis]);
        }
        least.simd_gt(S::f32s::splat(simd, 0.5))
    }

    /// Returns the largest number of cells along an axis that any of the triangles has.
    #[inline(always)]
    fn cells<const N: usize>(&self, axis: usize) -> usize {
        (self.span[axis].reduce_max() as usize + 1).min(N)
    }
}

/// Plane function `reach - |height|`. `height` is the value at the centre of the lowest cell.
struct PlaneTest<S: Simd> {
    normal: [S::f32s; 3],
    reach: S::f32s,
    height: S::f32s,
}

impl<S: Simd> PlaneTest<S> {
    #[inline(always)]
    fn of(simd: S, triangles: &Triangles<S>, scale: f32, ties: Ties) -> Self {
        let zero = S::f32s::splat(simd, 0.0);
        let [x, y, z] = triangles.normal;
        let [x, y, z] = [x * scale, y * scale, z * scale];
        let v = &triangles.vertex;
        let reach = (x.abs() + y.abs() + z.abs()) * 0.5;
        let height = (x * (-v[0][0] + 0.5) + y * (-v[1][0] + 0.5)) + z * (-v[2][0] + 0.5);
        let bias = triangles.bias;
        let (reach, height) = match ties {
            Ties::Both => (reach + bias, height),
            Ties::None => (reach - bias, height),
            // The box moves down along the leading component of the normal. A plane at its upper end is then
            // outside, and a plane at its lower end is inside.
            Ties::Up => {
                let leading = y.simd_eq(zero).select(z, y);
                let leading = x.simd_eq(zero).select(leading, x);
                (reach, height - bias.copysign(leading))
            }
        };
        let needed = triangles.wide(simd, &[0, 1, 2]);
        let reach = needed.select(reach, S::f32s::splat(simd, HUGE));
        Self {
            normal: [x, y, z],
            reach,
            height,
        }
    }
}

impl<const N: usize> BoxTest<N> {
    /// Creates the test for triangles in this lattice.
    pub fn new(frame: &KernelLattice) -> Self {
        let n = N as f32;
        // The rounding error of a local coordinate within 0..=N is at most N w, or (4 N + 3) w if it is
        // computed without doubles.
        let rounded = frame.local_error() as f32 * 1.000_001 + n * U32;
        let split = frame.wall_error().map_or(0.0, |error| {
            error as f32 * 1.000_001 + (4.0 * n + 3.0) * U32
        });
        let place = rounded.max(split);
        let edge = 2.0 * place + n * U32;
        let edges = edge * (2.0 * n + 4.0) + 2.0 * n * place + 16.0 * U32 * (4.0 * n * n + 2.0 * n);
        let normal = 4.0 * n * edge + 8.0 * n * n * U32;
        let plane = normal * 3.0 * (n + 1.0) + 6.0 * n * n * place + 20.0 * U32 * 6.0 * n * n * n;
        let bound = edges.max(normal);
        let scale = (bound / plane).log2().floor().exp2();
        Self {
            ties: frame.ties,
            bound,
            scale,
        }
    }

    /// Returns the touched cells of the first sixteen columns, and the columns that are unsure. Cell `[i, j,
    /// k]` is bit `i + N (j + N k)` of two words.
    #[inline(always)]
    pub fn run<S: Simd>(&self, simd: S, rows: &TestRows) -> ([u32x16<S>; 2], u64) {
        let mut words = [[0; LANES]; 2];
        let mut doubt = 0;
        // One register of triangles is tested at a time. With more, most values of the test would be stored
        // on the stack.
        for first in (0..LANES).step_by(S::f32s::LEN) {
            let (cells, unsure) = self.run_register(simd, rows, first);
            for (words, cells) in words.iter_mut().zip(cells) {
                cells.store_slice(&mut words[first..first + S::f32s::LEN]);
            }
            doubt |= unsure << first;
        }
        (
            [
                u32x16::from_slice(simd, &words[0]),
                u32x16::from_slice(simd, &words[1]),
            ],
            doubt,
        )
    }

    /// Tests as many columns from `first` on as a register has lanes.
    #[inline(always)]
    fn run_register<S: Simd>(&self, simd: S, rows: &TestRows, first: usize) -> ([S::u32s; 2], u64) {
        // Exact edge functions are multiples of 1/4, and exact plane functions are multiples of scale / 8.
        let triangles = Triangles::load(simd, rows, first, self.bound, self.scale / 16.0);
        let mut doubt = S::mask32s::splat(simd, false);
        let mut tables = [[[S::f32s::splat(simd, HUGE); N]; N]; 3];
        for (axis, table) in tables.iter_mut().enumerate() {
            let needed = triangles.wide(simd, &[(axis + 1) % 3, (axis + 2) % 3]);
            doubt |= triangles.normal[axis].abs().simd_le(triangles.bound) & needed;
            let edges = triangles.table::<N>(simd, axis, self.ties);
            for i in 0..N {
                for j in 0..N {
                    table[i][j] = needed.select(edges[i][j], table[i][j]);
                }
            }
        }
        bar(simd, &triangles, &mut tables);
        let plane = PlaneTest::of(simd, &triangles, self.scale, self.ties);
        let (cells, nearest) = march(simd, &triangles, &tables, &plane);
        doubt |= nearest.simd_le(triangles.bound);
        (cells, doubt.to_bitmask())
    }
}

/// Excludes the cells outside of the bounds of their triangle: they are never touched and never in doubt. The
/// table xy is used for x and y, and the table yz for z.
#[inline(always)]
fn bar<S: Simd, const N: usize>(
    simd: S,
    triangles: &Triangles<S>,
    tables: &mut [EdgeTable<S, N>; 3],
) {
    let beyond = S::f32s::splat(simd, -HUGE);
    let [x, y, z] = triangles.span;
    for n in 1..N {
        let at = S::f32s::splat(simd, n as f32 - 0.5);
        let x = at.simd_lt(x);
        let y = at.simd_lt(y);
        let z = at.simd_lt(z);
        for m in 0..N {
            tables[2][n][m] = x.select(tables[2][n][m], beyond);
            tables[2][m][n] = y.select(tables[2][m][n], beyond);
            tables[0][m][n] = z.select(tables[0][m][n], beyond);
        }
    }
}

/// Returns the cells in which all functions are above the bound, and the least absolute value of a function
/// that decided a cell.
#[inline(always)]
fn march<S: Simd, const N: usize>(
    simd: S,
    triangles: &Triangles<S>,
    tables: &[EdgeTable<S, N>; 3],
    plane: &PlaneTest<S>,
) -> ([S::u32s; 2], S::f32s) {
    let none = S::u32s::splat(simd, 0);
    let mut cells = [none; 2];
    let mut nearest = S::f32s::splat(simd, HUGE);
    let mut layer = plane.height;
    for k in 0..triangles.cells::<N>(2) {
        let mut line = layer;
        for j in 0..triangles.cells::<N>(1) {
            let mut height = line;
            for i in 0..N {
                let edges = tables[2][i][j].min(tables[0][j][k]).min(tables[1][k][i]);
                let value = edges.min(plane.reach - height.abs());
                let bit = i + N * (j + N * k);
                let mark = S::u32s::splat(simd, 1 << (bit % 32));
                cells[bit / 32] |= value.simd_gt(triangles.bound).select(mark, none);
                nearest = nearest.min(value.abs());
                height += plane.normal[0];
            }
            line += plane.normal[1];
        }
        layer += plane.normal[2];
    }
    (cells, nearest)
}
