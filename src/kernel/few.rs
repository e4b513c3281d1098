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

/// Rows of a queue: nine coordinates, then base, lowest and highest cell per axis.
const ROWS: usize = 18;

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
        let plane = normal * 3.0 * (n + 1.0) + 6.0 * n * n * place + 16.0 * U32 * 6.0 * n * n * n;
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
        let [x, y, z] = batch.local;
        let rows = [
            x[0],
            x[1],
            x[2],
            y[0],
            y[1],
            y[2],
            z[0],
            z[1],
            z[2],
            batch.base[0],
            batch.base[1],
            batch.base[2],
            batch.low[0],
            batch.low[1],
            batch.low[2],
            batch.high[0],
            batch.high[1],
            batch.high[2],
        ];
        let at = self.count;
        for (row, values) in self.rows.iter_mut().zip(rows) {
            values.compress(lanes).store_slice(&mut row[at..at + LANES]);
        }
        u32x16::from_slice(simd, ids).compress(lanes).store_slice(&mut self.ids[at..at + LANES]);
        self.count += mask.count_ones() as usize;
        self.count >= LANES
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
                let base = [9, 10, 11].map(|row| self.rows[row][lane] as i64);
                write::<N>(slab, base, cells[0][lane], cells[1][lane]);
            }
        }
        for row in &mut self.rows {
            row.copy_within(LANES.., 0);
        }
        self.ids.copy_within(LANES.., 0);
        self.count -= count;
    }

    /// Whether triangles wait.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The touched cells of each lane, bit `i + N (j + N k)` in two words, and the unsure lanes.
    #[inline(always)]
    fn test<S: Simd>(&self, simd: S) -> ([[u32; LANES]; 2], u64) {
        let row = |n: usize| f32x16::from_slice(simd, &self.rows[n][..LANES]);
        let zero = f32x16::splat(simd, 0.0);
        let v: [[f32x16<S>; 3]; 3] = std::array::from_fn(|axis| std::array::from_fn(|v| row(3 * axis + v)));
        let edge: [[f32x16<S>; 3]; 3] = v.map(|[a, b, c]| [b - a, c - b, a - c]);
        let minor = |s: usize, t: usize| edge[s][0] * edge[t][1] - edge[t][0] * edge[s][1];
        let normal = [minor(1, 2), minor(2, 0), minor(0, 1)];

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
                        value = value + a;
                    }
                    line = line + b;
                }
            }
        }
        // The plane, scaled so that one bound serves both.
        let scale = self.bounds[0] / self.bounds[1];
        let n = normal.map(|n| n * scale);
        let reach = (n[0].abs() + n[1].abs() + n[2].abs()) * 0.5;
        let height = (n[0] * (-v[0][0] + 0.5) + n[1] * (-v[1][0] + 0.5)) + n[2] * (-v[2][0] + 0.5);

        let within: [[mask32x16<S>; N]; 3] = std::array::from_fn(|axis| {
            let (low, high) = (row(12 + axis), row(15 + axis));
            std::array::from_fn(|n| {
                let n = f32x16::splat(simd, n as f32);
                n.simd_ge(low) & n.simd_le(high)
            })
        });
        let mut cells = [u32x16::splat(simd, 0); 2];
        let none = u32x16::splat(simd, 0);
        let mut layer = height;
        for k in 0..N {
            let mut line = layer;
            for j in 0..N {
                let here = within[1][j] & within[2][k];
                let mut plane = line;
                for i in 0..N {
                    let edges = tables[2][i][j].min(tables[0][j][k]).min(tables[1][k][i]);
                    let value = edges.min(reach - plane.abs());
                    let cell = here & within[0][i];
                    let touched = value.simd_gt(edge_bound) & cell;
                    doubt |= value.abs().simd_le(edge_bound) & cell;
                    let bit = i + N * (j + N * k);
                    let mark = touched.select(u32x16::splat(simd, 1 << (bit % 32)), none);
                    cells[bit / 32] = cells[bit / 32] | mark;
                    plane = plane + n[0];
                }
                line = line + n[1];
            }
            layer = layer + n[2];
        }
        let mut found = [[0; LANES]; 2];
        cells[0].store_slice(&mut found[0]);
        cells[1].store_slice(&mut found[1]);
        (found, doubt.to_bitmask())
    }
}

/// Writes the cells of one triangle, whose bits lie within slab and grid.
#[inline(always)]
fn write<const N: usize>(slab: &mut Slab, [x, y, z]: [i64; 3], low: u32, high: u32) {
    let mut bits = u64::from(low) | u64::from(high) << 32;
    while bits != 0 {
        let row = bits.trailing_zeros() as usize / N;
        let cells = bits >> (row * N) & ((1 << N) - 1);
        bits &= !(((1 << N) - 1) << (row * N));
        slab.bits(x, cells, y + (row % N) as i64, z + (row / N) as i64);
    }
}
