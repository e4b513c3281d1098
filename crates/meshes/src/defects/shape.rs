//! Defects of single triangles: duplicates, triangles without area, and needles. Also computes a point where
//! two triangles meet.

use super::sites::{Search, Site, Sites, ascending, centroid};
use crate::counted;
use crate::weld::Welded;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Rational, Triangle, closest, degenerate, fractions, tri_tri};
use voxelize_core::par;

/// A triangle is a needle if its length is more than this many times its width.
const NEEDLE: i64 = 1000;

/// Number of triangles that a thread processes at a time.
const CHUNK: usize = 1 << 14;

/// Inputs of the search for defects of single triangles.
pub(super) struct Shapes<'a> {
    pub search: &'a Search<'a>,
    pub welded: &'a Welded,
}

impl Shapes<'_> {
    /// Finds triangles with the same three vertices in any order. All triangles of such a group except the
    /// first count.
    pub(super) fn duplicates(&self) -> Sites {
        let all = (0_u32..)
            .zip(&self.welded.triangles)
            .map(|(n, triangle)| (ascending(*triangle), n));
        let sorted = counted::sorted(all, self.welded.points.len(), |one| one.0[0]);
        let mut found = Sites::default();
        for copies in sorted.chunk_by(|one, next| one.0 == next.0) {
            if copies.len() == 1 {
                continue;
            }
            let triangles: Vec<u32> = copies.iter().map(|(_, n)| *n).collect();
            let corners = self.welded.corners(&copies[0].0);
            found.add(self.search.most, &triangles, || {
                Site::new(centroid(&corners), triangles.iter().copied())
            });
            found.count += copies.len() as u64 - 2;
        }
        found.finished()
    }

    /// Finds the triangles without area, and the needles.
    pub(super) fn degenerate_and_needles(&self) -> (Sites, Sites) {
        let chunks = self.search.mesh.triangles().chunks(CHUNK).collect();
        let shapes = par::map(chunks, |chunk: &[Triangle]| {
            chunk.iter().map(TriangleShape::of).collect::<Vec<_>>()
        });
        (
            self.of_shape(&shapes, TriangleShape::Degenerate),
            self.of_shape(&shapes, TriangleShape::Needle),
        )
    }

    /// Collects the triangles of one shape, in the order of their vertices. `shapes` has the shape of every
    /// triangle.
    fn of_shape(&self, shapes: &[Vec<TriangleShape>], shape: TriangleShape) -> Sites {
        let mut here: Vec<([u32; 3], u32)> = vec![];
        for (n, own) in shapes.iter().flatten().enumerate() {
            if *own == shape {
                here.push((ascending(self.welded.triangles[n]), n as u32));
            }
        }
        here.sort_unstable();
        let mut found = Sites::default();
        for (vertices, n) in here {
            let corners = self.welded.corners(&vertices);
            found.add(self.search.most, &[n], || {
                Site::new(centroid(&corners), [n])
            });
        }
        found.finished()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TriangleShape {
    Sound,
    Degenerate,
    Needle,
}

impl TriangleShape {
    fn of(triangle: &Triangle) -> Self {
        if degenerate::is_degenerate(triangle) {
            Self::Degenerate
        } else if is_needle(triangle) {
            Self::Needle
        } else {
            Self::Sound
        }
    }
}

/// Returns whether a triangle with an area is a needle: its longest side `l` is more than
/// [`NEEDLE`] times its height above that side.
///
/// The height is the length of the normal `n` over `l`, so the condition is `l⁴ > NEEDLE² n²`. The
/// decision is exact.
///
/// With u = 2^-53, the relative error of `l²` in doubles is less than 6.1 u. The error of a component of the
/// normal is less than 4.01 u times the sum of the absolute values of its two products. The factors 64 u and
/// 8 u leave room for the rounding of the test itself.
fn is_needle(triangle: &Triangle) -> bool {
    const U: f64 = 1.0 / (1_u64 << 53) as f64;
    const RATIO: f64 = (NEEDLE * NEEDLE) as f64;
    let [a, b, c] = triangle.map(|v| v.map(f64::from));
    let [ab, bc, ca] = [minus(b, a), minus(c, b), minus(a, c)];
    let square = [ab, bc, ca]
        .iter()
        .map(|edge| dot(*edge, *edge))
        .fold(0.0, f64::max);
    let mut least = 0.0;
    let mut most = 0.0;
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let p = ab[i] * bc[j];
        let q = ab[j] * bc[i];
        let size = (p - q).abs();
        let error = 8.0 * U * (p.abs() + q.abs());
        least += (size - error).max(0.0).powi(2);
        most += (size + error).powi(2);
    }
    let fourth = square * square;
    if fourth * (1.0 - 64.0 * U) > RATIO * most {
        return true;
    }
    if fourth * (1.0 + 64.0 * U) < RATIO * least {
        return false;
    }
    is_exactly_needle(triangle)
}

fn is_exactly_needle(triangle: &Triangle) -> bool {
    let [a, b, c] = triangle.map(fractions::exact);
    let ab = fractions::minus(&b, &a);
    let bc = fractions::minus(&c, &b);
    let ca = fractions::minus(&a, &c);
    let normal = fractions::cross(&ab, &bc);
    let mut longest = Rational::ZERO;
    for edge in [ab, bc, ca] {
        longest = longest.max(fractions::dot(&edge, &edge));
    }
    &longest * &longest > &Rational::from(NEEDLE * NEEDLE) * &fractions::dot(&normal, &normal)
}

/// Returns a point that two triangles have in common, computed in doubles. Candidates are the points where a
/// vertex or an edge of one triangle meets the other triangle. The result is the midpoint of the two
/// candidates that are farthest apart.
pub(super) fn meeting_point([s, t]: &[Triangle; 2]) -> [f64; 3] {
    let [exact_s, exact_t] = [s, t].map(|triangle| triangle.map(|v| v.map(f64::from)));
    let mut found = pierced(&exact_s, &exact_t);
    found.extend(pierced(&exact_t, &exact_s));
    let mut farthest = None;
    let mut largest = 0.0;
    for p in &found {
        for q in &found {
            let apart = minus(*p, *q);
            let square = dot(apart, apart);
            if square >= largest {
                largest = square;
                farthest = Some([*p, *q]);
            }
        }
    }
    let [p, q] = match farthest {
        Some(ends) => ends,
        None => tri_tri::closest_points(s, t),
    };
    std::array::from_fn(|i| (p[i] + q[i]) / 2.0)
}

/// Returns the vertices of `one` that lie in `other`, and the points where edges of `one` pass through
/// `other`.
fn pierced(one: &[[f64; 3]; 3], other: &[[f64; 3]; 3]) -> Vec<[f64; 3]> {
    let [a, b, c] = other;
    let ab = minus(*b, *a);
    let ac = minus(*c, *a);
    let normal = cross(ab, ac);
    let size = dot(ab, ab) + dot(ac, ac);
    let mut points = vec![];
    for n in 0..3 {
        let p = one[n];
        let q = one[(n + 1) % 3];
        points.push(p);
        let of_p = dot(normal, minus(p, *a));
        let of_q = dot(normal, minus(q, *a));
        if of_p * of_q < 0.0 {
            let share = of_p / (of_p - of_q);
            points.push(std::array::from_fn(|i| p[i] + share * (q[i] - p[i])));
        }
    }
    // These points only show the user where to look. They decide nothing, so rounding errors between a point
    // and the triangle do not matter.
    points.retain(|x| {
        let off = minus(*x, closest::on_triangle(*x, *other));
        dot(off, off) <= 1e-20 * size
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn needles_are_decided_exactly_at_their_limit() {
        let flat = |height: f32| [[0.0; 3], [1000.0, 0.0, 0.0], [500.0, height, 0.0]];
        for (triangle, is) in [
            (flat(1.0), false),
            (flat(1.0_f32.next_down()), true),
            (flat(1.0_f32.next_up()), false),
            (flat(1e-30), true),
            ([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], false),
        ] {
            for turn in 0..3 {
                let mut turned = triangle;
                turned.rotate_left(turn);
                assert_eq!(
                    (is_needle(&turned), is_exactly_needle(&turned)),
                    (is, is),
                    "{triangle:?}"
                );
            }
        }
    }

    #[test]
    fn doubles_never_contradict_the_fractions() {
        let mut random = Random::new(5);
        let mut next = || random.unit();
        let mut seen = [0; 2];
        for n in 0..4000 {
            let thin = [1.0, 1e-3, 1e-6][n % 3];
            let triangle: Triangle = [(); 3].map(|()| [next(), next() * thin, next() * thin]);
            assert_eq!(
                is_needle(&triangle),
                is_exactly_needle(&triangle),
                "{triangle:?}"
            );
            seen[usize::from(is_needle(&triangle))] += 1;
        }
        assert!(seen.iter().all(|n| *n > 500), "{seen:?}");
    }
}
