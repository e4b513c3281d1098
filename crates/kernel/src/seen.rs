//! Pass over all triangles after they were read. It computes their bounds, checks that coordinates are
//! finite, and counts triangles without area.
//!
//! A triangle surely has an area if a component of the cross product of two of its edges, computed in floats,
//! exceeds the error bound of docs/internals/error-bounds.md, section 11. The exact test [`degenerate`]
//! decides the other triangles.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::gather::gather;
use super::geom::{Bounds, Triangle, degenerate};
use super::levels::{LANES, Level, on_level};

/// Bounds of a list of triangles, and the number of triangles without area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeenTriangles {
    /// Bounding box of the triangles.
    pub bounds: Bounds,
    /// Number of triangles whose area is exactly zero.
    pub degenerate: u64,
}

impl Default for SeenTriangles {
    /// Returns the result for an empty list.
    fn default() -> Self {
        Self {
            bounds: Bounds::EMPTY,
            degenerate: 0,
        }
    }
}

impl SeenTriangles {
    /// Returns the result for two lists together.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        let bounds = self.bounds.union(&others.bounds);
        Self {
            bounds,
            degenerate: self.degenerate + others.degenerate,
        }
    }
}

/// Returns the bounds of triangles and the number of triangles without area. `None` if a coordinate is not
/// finite.
pub fn seen(level: Level, triangles: &[Triangle]) -> Option<SeenTriangles> {
    on_level!(level, simd => in_lanes(simd, triangles))
}

fn is_finite(triangle: &Triangle) -> bool {
    triangle
        .as_flattened()
        .iter()
        .all(|coordinate| coordinate.is_finite())
}

#[inline(always)]
fn in_lanes<S: Simd>(simd: S, triangles: &[Triangle]) -> Option<SeenTriangles> {
    let splat = |x: f32| f32x16::splat(simd, x);
    let zero = splat(0.0);
    let mut min = [splat(f32::INFINITY); 3];
    let mut max = [splat(f32::NEG_INFINITY); 3];
    let mut sum = zero;
    let mut count = 0;
    for n in (0..triangles.len()).step_by(LANES) {
        let vertices = gather(simd, &triangles[n..]);
        for axis in 0..3 {
            let [a, b, c] = vertices[axis];
            min[axis] = min[axis].min(a.min(b).min(c));
            max[axis] = max[axis].max(a.max(b).max(c));
            // The sum becomes NaN if a coordinate is not finite.
            sum += a * zero + b * zero + c * zero;
        }
        let lanes = (triangles.len() - n).min(LANES);
        let unsure = !has_area_for_sure(simd, &vertices) & ((1 << lanes) - 1);
        if unsure != 0 {
            let undecided = (0..lanes)
                .filter(|lane| unsure >> lane & 1 == 1)
                .map(|lane| &triangles[n + lane]);
            count += undecided
                .filter(|triangle| is_finite(triangle) && degenerate::is_degenerate(triangle))
                .count() as u64;
        }
    }
    if !sum.simd_eq(zero).all_true() {
        return None;
    }
    let bounds = Bounds::EMPTY
        .with(&min.map(|min| min.reduce_min()))
        .with(&max.map(|max| max.reduce_max()));
    Some(SeenTriangles {
        bounds: if triangles.is_empty() {
            Bounds::EMPTY
        } else {
            bounds
        },
        degenerate: count,
    })
}

/// Returns the lanes whose triangles surely have an area.
#[inline(always)]
fn has_area_for_sure<S: Simd>(simd: S, vertices: &[[f32x16<S>; 3]; 3]) -> u64 {
    let bound = f32x16::splat(simd, 8.0 / (1 << 24) as f32);
    let least = f32x16::splat(simd, f32::MIN_POSITIVE);
    let [ab, ac] =
        [1, 2].map(|vertex| [0, 1, 2].map(|axis| vertices[axis][vertex] - vertices[axis][0]));
    let mut sure = 0;
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let p = ab[i] * ac[j];
        let q = ab[j] * ac[i];
        sure |= (p - q)
            .abs()
            .simd_gt(bound * (p.abs() + q.abs()) + least)
            .to_bitmask();
    }
    sure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn one_by_one(triangles: &[Triangle]) -> Option<SeenTriangles> {
        triangles.iter().all(is_finite).then(|| SeenTriangles {
            bounds: Bounds::of(triangles),
            degenerate: degenerate::count(triangles),
        })
    }

    #[test]
    fn levels_agree_with_the_scalar_definition() {
        let mut random = Random::new(7);
        let mut triangles: Vec<Triangle> = (0..100)
            .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| 16.0 * random.unit() - 8.0)))
            .collect();
        triangles[3][1] = triangles[3][0];
        triangles[17] = [[0.1; 3], [0.2; 3], [0.4; 3]];
        triangles[18] = [[0.1; 3], [0.2; 3], [0.3; 3]];
        triangles[40] = [[1e-30, 0.0, 0.0], [0.0, 1e-30, 0.0], [0.0; 3]];
        triangles[41] = [[3e38, 0.0, 0.0], [0.0, 3e38, 0.0], [-3e38; 3]];
        triangles[99] = [[-0.0; 3]; 3];
        for level in Level::available() {
            for count in 0..=triangles.len() {
                let some = &triangles[..count];
                let [seen, expected] = [seen(level, some), one_by_one(some)];
                assert_eq!(seen, expected, "{} {count}", level.name());
            }
            let degenerate = seen(level, &triangles).map(|seen| seen.degenerate);
            assert!(
                degenerate.is_some_and(|count| (2..6).contains(&count)),
                "{degenerate:?}"
            );
        }
    }

    #[test]
    fn edges_that_floats_round_are_not_taken_for_area() {
        // Three vertices on a line with integer coordinates. The first edge is three times the second, is
        // odd, and has too many digits for a float.
        let mut random = Random::new(5);
        let mut corners = || -> Triangle {
            let steps = [0; 3].map(|_| 5_592_407 + 2 * random.whole(0, 2_796_199));
            let corner = |times: i64| steps.map(|step| (times * step - 3 * step / 2) as f32);
            [corner(0), corner(3), corner(1)]
        };
        let triangles: Vec<Triangle> = (0..1000).map(|_| corners()).collect();
        for level in Level::available() {
            let found = seen(level, &triangles).map(|seen| seen.degenerate);
            assert_eq!(found, Some(1000), "{}", level.name());
        }
    }

    #[test]
    fn every_level_rejects_non_finite_coordinates() {
        let good = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for (level, bad) in Level::available()
            .into_iter()
            .flat_map(|level| [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|bad| (level, bad)))
        {
            for place in 0..9 * 40 {
                let mut triangles = vec![good; 40];
                triangles.as_flattened_mut().as_flattened_mut()[place] = bad;
                assert_eq!(
                    seen(level, &triangles),
                    None,
                    "{} {bad} {place}",
                    level.name()
                );
            }
        }
    }
}
