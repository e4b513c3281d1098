//! Loading of sixteen triangles into vectors, one vector for each coordinate.

use fearless_simd::{Simd, f32x4, f32x16, prelude::*};

use crate::geom::Triangle;

use super::levels::{LANES, is_avx512};

/// Coordinates of sixteen triangles, indexed by axis, then by vertex.
pub type Vertices<S> = [[f32x16<S>; 3]; 3];

/// Number of floats per triangle.
const FLOATS: usize = 9;

/// Side of the squares that are transposed on levels on which a permutation of a whole vector takes several
/// instructions.
const SQUARE: usize = 4;

/// Loads the first triangles of a list into lanes. If there are fewer triangles than lanes, the last one is
/// repeated.
#[inline(always)]
pub fn gather<S: Simd>(simd: S, triangles: &[Triangle]) -> Vertices<S> {
    let last = triangles.len() - 1;
    let are_rows_there = FLOATS * triangles.len() >= FLOATS * (LANES - 1) + LANES;
    gather_by(simd, triangles, |lane| lane.min(last), are_rows_there)
}

/// Loads the triangles with these numbers into lanes.
#[inline(always)]
pub fn gather_numbers<S: Simd>(
    simd: S,
    triangles: &[Triangle],
    numbers: &[u32; LANES],
) -> Vertices<S> {
    // A load of sixteen floats extends into the next triangle, which must exist.
    let are_rows_there = numbers.iter().all(|n| (*n as usize) + 1 < triangles.len());
    gather_by(
        simd,
        triangles,
        |lane| numbers[lane] as usize,
        are_rows_there,
    )
}

/// Loads the triangle of each lane. `number` returns the index of a lane's triangle. `are_rows_there` states
/// that a full vector can be loaded from the first float of each triangle.
#[inline(always)]
fn gather_by<S: Simd>(
    simd: S,
    triangles: &[Triangle],
    number: impl Fn(usize) -> usize,
    are_rows_there: bool,
) -> Vertices<S> {
    if is_avx512(simd) && are_rows_there {
        transposed(simd, triangles.as_flattened().as_flattened(), number)
    } else {
        by_squares(simd, triangles, number)
    }
}

/// Transposes rows of sixteen floats by interleaving them four times. The first nine floats of a row are a
/// triangle.
#[inline(always)]
fn transposed<S: Simd>(simd: S, floats: &[f32], number: impl Fn(usize) -> usize) -> Vertices<S> {
    let mut rows = [f32x16::splat(simd, 0.0); LANES];
    for lane in 0..LANES {
        rows[lane] = f32x16::from_slice(simd, &floats[FLOATS * number(lane)..][..LANES]);
    }
    for _ in 0..LANES.ilog2() {
        let old = rows;
        for n in 0..LANES / 2 {
            rows[2 * n] = old[n].zip_low(old[n + LANES / 2]);
            rows[2 * n + 1] = old[n].zip_high(old[n + LANES / 2]);
        }
    }
    // In memory, floats are ordered by vertex. In the result they are ordered by axis.
    [
        [rows[0], rows[3], rows[6]],
        [rows[1], rows[4], rows[7]],
        [rows[2], rows[5], rows[8]],
    ]
}

/// Loads vertices in squares of four triangles and four floats, using registers of four lanes.
#[inline(always)]
fn by_squares<S: Simd>(
    simd: S,
    triangles: &[Triangle],
    number: impl Fn(usize) -> usize,
) -> Vertices<S> {
    let mut parts = [[f32x4::splat(simd, 0.0); LANES / SQUARE]; FLOATS];
    for part in 0..LANES / SQUARE {
        let lane = |n: usize| triangles[number(SQUARE * part + n)].as_flattened();
        let four = [lane(0), lane(1), lane(2), lane(3)];
        for first in [0, SQUARE] {
            let mut rows = [f32x4::splat(simd, 0.0); SQUARE];
            for n in 0..SQUARE {
                rows[n] = f32x4::from_slice(simd, &four[n][first..first + SQUARE]);
            }
            for _ in 0..SQUARE.ilog2() {
                let [a, b, c, d] = rows;
                rows = [a.zip_low(c), a.zip_high(c), b.zip_low(d), b.zip_high(d)];
            }
            for n in 0..SQUARE {
                parts[first + n][part] = rows[n];
            }
        }
        let last = [four[0][8], four[1][8], four[2][8], four[3][8]];
        parts[8][part] = f32x4::from_slice(simd, &last);
    }
    // In memory, floats are ordered by vertex. In the result they are ordered by axis.
    let mut vertices = [[f32x16::splat(simd, 0.0); 3]; 3];
    for axis in 0..3 {
        for vertex in 0..3 {
            let [a, b, c, d] = parts[3 * vertex + axis];
            vertices[axis][vertex] = a.combine(b).combine(c.combine(d));
        }
    }
    vertices
}
