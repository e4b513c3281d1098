//! The 13-axis test for a few cells, with lanes across triangles.
//!
//! Triangles whose bounds span at most `N` cells per axis are tested against every cell of their bounds, as
//! many at once as a register has lanes, in floats relative to each triangle's lowest cell. The edge and
//! plane functions are from Schwarz and Seidel 2010: linear in the cell, with the critical corner hoisted. A
//! projection is needed only if the bounds span several cells along both of its axes, and the plane only if
//! they do along all three.
//!
//! A value within its error bound (docs/internals/error-bounds.md) makes the triangle *unsure*. Triangles whose
//! coordinates are exact multiples of half a cell are computed without rounding. Their bound is zero, and a
//! bias smaller than any other value decides whether a value of zero counts.

use fearless_simd::{Simd, prelude::*, u32x16};

use crate::geom::Ties;

use super::lattice::KernelLattice;
use super::levels::LANES;

/// Half a unit in the last place of 1.0 in floats.
pub const U32: f32 = f32::EPSILON / 2.0;

/// Number of rows of a set of triangles: nine coordinates, then base and highest cell per axis, then
/// `TriangleBatch::exact`.
pub const ROWS: usize = 16;

/// Above any edge or plane function.
const HUGE: f32 = 1e30;

/// Triangles in rows. The first sixteen columns are tested.
pub type TestRows = [[f32; 2 * LANES]; ROWS];

/// Test for at most `N` cells per axis, `N` being 2, 3 or 4.
pub struct BoxTest<const N: usize> {
    ties: Ties,
    /// Error bound of edge functions, and of plane functions times `scale`.
    bound: f32,
    /// Power of two that scales plane functions.
    scale: f32,
}

/// As many triangles as a register of the level has lanes, `[axis][vertex]` or `[axis][edge]`.
struct Triangles<S: Simd> {
    vertex: [[S::f32s; 3]; 3],
    edge: [[S::f32s; 3]; 3],
    normal: [S::f32s; 3],
    /// Highest cell of the bounds per axis.
    span: [S::f32s; 3],
    /// Error bound of values, zero for exact triangles.
    bound: S::f32s,
    /// For exact triangles a number below half the step of values, otherwise zero.
    bias: S::f32s,
}

/// Edge functions per column of cells of a projection.
type EdgeTable<S, const N: usize> = [[<S as Simd>::f32s; N]; N];

impl<S: Simd> Triangles<S> {
    #[inline(always)]
    fn load(simd: S, rows: &TestRows, first: usize, bound: f32, bias: f32) -> Self {
        let lanes = first..first + S::f32s::LEN;
        let zero = S::f32s::splat(simd, 0.0);
        let mut vertex = [[zero; 3]; 3];
        let mut edge = vertex;
        let mut span = vertex[0];
        // Loops instead of closures: only inlined code is compiled for the level.
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

    /// Returns the edge functions of the projection along `axis`: for each column of cells the least of
    /// three.
    #[inline(always)]
    fn table<const N: usize>(&self, simd: S, axis: usize, ties: Ties) -> EdgeTable<S, N> {
        let s = (axis + 1) % 3;
        let t = (axis + 2) % 3;
        let zero = S::f32s::splat(simd, 0.0);
        // Orient the triangle so that it lies to the left of its edges.
        let turn = S::f32s::splat(simd, 1.0).copysign(self.normal[axis]);
        let mut table = [[S::f32s::splat(simd, HUGE); N]; N];
        for e in 0..3 {
            let a = -(self.edge[t][e] * turn);
            let b = self.edge[s][e] * turn;
            let start =
                (a.max(zero) + b.max(zero)) - (a * self.vertex[s][e] + b * self.vertex[t][e]);
            // Displacements along y precede displacements along z, and x precedes both.
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

    /// Returns the bias of an edge function, which decides its sign if the edge passes through the critical
    /// corner and the function is zero. A positive bias counts as touching. Under ties up the bias is
    /// positive iff the first non-zero component is negative: the corner then lies on a lower wall along that
    /// axis, which moves away from the inside.
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

    /// Returns the largest number of cells along an axis over all triangles.
    #[inline(always)]
    fn cells<const N: usize>(&self, axis: usize) -> usize {
        (self.span[axis].reduce_max() as usize + 1).min(N)
    }
}

/// Plane function `reach - |height|`, with `height` at the centre of the lowest cell.
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
            // Along its leading component the box moves down. It leaves a plane at its upper end and reaches
            // a plane at its lower end.
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
    /// Creates the test for the meshes of `frame`.
    pub fn new(frame: &KernelLattice) -> Self {
        let n = N as f32;
        // A local coordinate within 0..=N rounds by at most N w, or by (4 N + 3) w if it is computed without
        // doubles.
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

    /// Returns the touched cells of the first sixteen columns, bit `i + N (j + N k)` in two words, and the
    /// unsure columns.
    #[inline(always)]
    pub fn run<S: Simd>(&self, simd: S, rows: &TestRows) -> ([u32x16<S>; 2], u64) {
        let mut words = [[0; LANES]; 2];
        let mut doubt = 0;
        // One register at a time: with more, the test would keep most of its values on the stack.
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
        // Exact edge functions are multiples of 1/4, exact plane functions multiples of scale / 8.
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

/// Makes the cells beyond the bounds of their triangle untouched and never in doubt. Table xy serves x and y,
/// table yz serves z.
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

/// Returns the cells in which all functions are above the bound, and the least absolute value that decided a
/// cell.
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
