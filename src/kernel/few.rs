//! Triangles whose bounds span a few cells: the 13-axis test with lanes across triangles.
//!
//! Sixteen triangles wait in a queue until they fill the lanes; then every cell of their bounds is
//! tested for all of them at once, in floats relative to each triangle's lowest cell. The edge and
//! plane functions are those of Schwarz and Seidel 2010: linear in the cell, with the corner that
//! decides hoisted. A value within its error bound (docs/error-bounds.md) makes the triangle
//! *unsure*, and the row kernel takes it.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16, prelude::*, u32x16};

use super::batch::{Batch, LANES};
use super::slab::Slab;

/// Half a unit in the last place of 1.0 in floats.
const U32: f32 = f32::EPSILON / 2.0;

/// Rows of a queue: nine coordinates, then base and highest cell per axis.
const ROWS: usize = 15;

/// Below any edge or plane function: the value of a cell beyond the bounds of its triangle.
const BEYOND: f32 = -1e30;

/// Triangles of at most `N` cells an axis, waiting for their lanes to fill.
pub struct Few<const N: usize> {
    rows: [[f32; 2 * LANES]; ROWS],
    /// Which triangle each lane is.
    ids: [u32; 2 * LANES],
    count: usize,
    /// Bounds of the errors of edge and plane functions.
    bounds: [f32; 2],
}

impl<const N: usize> Few<N> {
    /// An empty queue; local coordinates are off by at most `error` before rounding to floats.
    pub fn new(error: f64) -> Self {
        let n = N as f32;
        // A local coordinate within 0..=N rounds by at most N u.
        let place = error as f32 * 1.000_001 + n * U32;
        let edge = 2.0 * place + n * U32;
        let edges = edge * (2.0 * n + 4.0) + 2.0 * n * place + 16.0 * U32 * (4.0 * n * n + 2.0 * n);
        let normal = 4.0 * n * edge + 8.0 * n * n * U32;
        let plane = normal * 3.0 * (n + 1.0) + 6.0 * n * n * place + 20.0 * U32 * 6.0 * n * n * n;
        Self {
            rows: [[0.0; 2 * LANES]; ROWS],
            ids: [0; 2 * LANES],
            count: 0,
            bounds: [edges.max(normal), plane],
        }
    }

    /// Adds the lanes of `mask`; lane `l` is triangle `ids[l]`. Answers whether a full set waits.
    #[inline(always)]
    pub fn push<S: Simd>(&mut self, simd: S, batch: &Batch<S>, mask: u64, ids: &[u32; LANES]) -> bool {
        let lanes = mask32x16::from_bitmask(simd, mask);
        // Spelled out, so that the vectors stay in registers.
        self.put(0, batch.local[0][0], lanes);
        self.put(1, batch.local[0][1], lanes);
        self.put(2, batch.local[0][2], lanes);
        self.put(3, batch.local[1][0], lanes);
        self.put(4, batch.local[1][1], lanes);
        self.put(5, batch.local[1][2], lanes);
        self.put(6, batch.local[2][0], lanes);
        self.put(7, batch.local[2][1], lanes);
        self.put(8, batch.local[2][2], lanes);
        self.put(9, batch.base[0], lanes);
        self.put(10, batch.base[1], lanes);
        self.put(11, batch.base[2], lanes);
        self.put(12, batch.span[0], lanes);
        self.put(13, batch.span[1], lanes);
        self.put(14, batch.span[2], lanes);
        u32x16::from_slice(simd, ids).compress(lanes).store_slice(&mut self.ids[self.count..][..LANES]);
        self.count += mask.count_ones() as usize;
        self.count >= LANES
    }

    /// Appends the chosen lanes to a row.
    #[inline(always)]
    fn put<S: Simd>(&mut self, row: usize, values: f32x16<S>, lanes: mask32x16<S>) {
        values.compress(lanes).store_slice(&mut self.rows[row][self.count..][..LANES]);
    }

    /// Tests the first sixteen triangles that wait, or what is left of them; the answer is which
    /// of `waiting` were unsure, as a mask.
    #[inline(always)]
    pub fn flush<S: Simd>(&mut self, simd: S, slab: &mut Slab, unsure: &mut Vec<u32>) {
        let count = self.count.min(LANES);
        let (cells, doubt) = self.test(simd);
        let doubt = doubt & ((1 << count) - 1);
        for lane in 0..count {
            if doubt >> lane & 1 == 1 {
                unsure.push(self.ids[lane]);
            } else {
                let row = |n: usize| self.rows[n][lane] as i64;
                let (base, high) = ([row(9), row(10), row(11)], [row(13), row(14)]);
                let cells = u64::from(cells[0][lane]) | u64::from(cells[1][lane]) << 32;
                slab.block::<N>(base, high, cells);
            }
        }
        for row in &mut self.rows {
            f32x16::from_slice(simd, &row[LANES..]).store_slice(&mut row[..LANES]);
        }
        u32x16::from_slice(simd, &self.ids[LANES..]).store_slice(&mut self.ids[..LANES]);
        self.count -= count;
    }

    /// Whether triangles wait.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first sixteen values of a row.
    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, n: usize) -> f32x16<S> {
        f32x16::from_slice(simd, &self.rows[n][..LANES])
    }

    /// The touched cells of each lane, bit `i + N (j + N k)` in two words, and the unsure lanes.
    #[inline(always)]
    fn test<S: Simd>(&self, simd: S) -> ([[u32; LANES]; 2], u64) {
        // Loops, not closures: only what is inlined here is compiled for the level.
        let zero = f32x16::splat(simd, 0.0);
        let mut v = [[zero; 3]; 3];
        let mut edge = v;
        for axis in 0..3 {
            for n in 0..3 {
                v[axis][n] = self.row(simd, 3 * axis + n);
            }
            let [a, b, c] = v[axis];
            edge[axis] = [b - a, c - b, a - c];
        }
        let [x, y, z] = edge;
        let normal = [y[0] * z[1] - z[0] * y[1], z[0] * x[1] - x[0] * z[1], x[0] * y[1] - y[0] * x[1]];

        // The projections: for each pair of axes the least of three edge functions per column.
        let edge_bound = f32x16::splat(simd, self.bounds[0]);
        let mut doubt = mask32x16::splat(simd, false);
        let mut tables = [[[zero; N]; N]; 3];
        for (axis, table) in tables.iter_mut().enumerate() {
            let (s, t) = ((axis + 1) % 3, (axis + 2) % 3);
            doubt |= normal[axis].abs().simd_le(edge_bound);
            // Turn the triangle so that its edges have it on their left.
            let turn = f32x16::splat(simd, 1.0).copysign(normal[axis]);
            for e in 0..3 {
                let (a, b) = (-(edge[t][e] * turn), edge[s][e] * turn);
                let start = (a.max(zero) + b.max(zero)) - (a * v[s][e] + b * v[t][e]);
                let mut line = start;
                for j in 0..N {
                    let mut value = line;
                    for i in 0..N {
                        table[i][j] = if e == 0 { value } else { table[i][j].min(value) };
                        value += a;
                    }
                    line += b;
                }
            }
        }
        // A cell beyond the bounds is untouched, and never in doubt.
        for n in 1..N {
            let at = f32x16::splat(simd, n as f32 - 0.5);
            let beyond = f32x16::splat(simd, BEYOND);
            for (axis, row) in [(0, 12), (1, 13), (2, 14)] {
                let within = at.simd_lt(self.row(simd, row));
                // Table xy serves x and y, table yz serves z.
                for m in 0..N {
                    let value = match axis {
                        0 => &mut tables[2][n][m],
                        1 => &mut tables[2][m][n],
                        _ => &mut tables[0][m][n],
                    };
                    *value = within.select(*value, beyond);
                }
            }
        }
        // The plane, scaled so that one bound serves both.
        let scale = self.bounds[0] / self.bounds[1];
        let n = [normal[0] * scale, normal[1] * scale, normal[2] * scale];
        let reach = (n[0].abs() + n[1].abs() + n[2].abs()) * 0.5;
        let mut layer = (n[0] * (-v[0][0] + 0.5) + n[1] * (-v[1][0] + 0.5)) + n[2] * (-v[2][0] + 0.5);

        let none = u32x16::splat(simd, 0);
        let mut cells = [none; 2];
        let mut nearest = f32x16::splat(simd, -BEYOND);
        for k in 0..N {
            let mut line = layer;
            for j in 0..N {
                let mut plane = line;
                for i in 0..N {
                    let edges = tables[2][i][j].min(tables[0][j][k]).min(tables[1][k][i]);
                    let value = edges.min(reach - plane.abs());
                    let bit = i + N * (j + N * k);
                    let mark = u32x16::splat(simd, 1 << (bit % 32));
                    cells[bit / 32] |= value.simd_gt(edge_bound).select(mark, none);
                    nearest = nearest.min(value.abs());
                    plane += n[0];
                }
                line += n[1];
            }
            layer += n[2];
        }
        doubt |= nearest.simd_le(edge_bound);
        let mut found = [[0; LANES]; 2];
        cells[0].store_slice(&mut found[0]);
        cells[1].store_slice(&mut found[1]);
        (found, doubt.to_bitmask())
    }
}
