//! Sixteen triangles as vectors, one a coordinate.

use fearless_simd::{Simd, f32x16, prelude::*};

use crate::geom::Triangle;

use super::levels::{LANES, is_avx512};

/// Sixteen triangles, `[axis][vertex]`.
pub type Vertices<S> = [[f32x16<S>; 3]; 3];

/// Floats of a triangle.
const FLOATS: usize = 9;

/// The first of some triangles in lanes; lanes beyond the last triangle repeat it.
#[inline(always)]
pub fn gather<S: Simd>(simd: S, triangles: &[Triangle]) -> Vertices<S> {
    let floats = triangles.as_flattened().as_flattened();
    let wide = is_avx512(simd);
    if wide && floats.len() >= FLOATS * (LANES - 1) + LANES {
        transposed(simd, floats)
    } else {
        one_by_one(simd, triangles)
    }
}

/// Rows of sixteen floats, of which nine are a triangle, transposed by interleaving them four times.
#[inline(always)]
fn transposed<S: Simd>(simd: S, floats: &[f32]) -> Vertices<S> {
    let mut rows = [f32x16::splat(simd, 0.0); LANES];
    for lane in 0..LANES {
        rows[lane] = f32x16::from_slice(simd, &floats[FLOATS * lane..][..LANES]);
    }
    for _ in 0..LANES.ilog2() {
        let old = rows;
        for n in 0..LANES / 2 {
            rows[2 * n] = old[n].zip_low(old[n + LANES / 2]);
            rows[2 * n + 1] = old[n].zip_high(old[n + LANES / 2]);
        }
    }
    // Vertex by vertex in memory, axis by axis here.
    [[rows[0], rows[3], rows[6]], [rows[1], rows[4], rows[7]], [rows[2], rows[5], rows[8]]]
}

#[inline(always)]
fn one_by_one<S: Simd>(simd: S, triangles: &[Triangle]) -> Vertices<S> {
    let mut lanes = [[0.0; LANES]; FLOATS];
    for lane in 0..LANES {
        let [a, b, c] = &triangles[lane.min(triangles.len() - 1)];
        for axis in 0..3 {
            lanes[3 * axis][lane] = a[axis];
            lanes[3 * axis + 1][lane] = b[axis];
            lanes[3 * axis + 2][lane] = c[axis];
        }
    }
    let mut vertices = [[f32x16::splat(simd, 0.0); 3]; 3];
    for axis in 0..3 {
        for vertex in 0..3 {
            vertices[axis][vertex] = f32x16::from_slice(simd, &lanes[3 * axis + vertex]);
        }
    }
    vertices
}
