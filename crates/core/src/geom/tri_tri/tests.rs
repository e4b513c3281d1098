//! Tests against an oracle. It computes the corners of the intersection of two triangles in rational numbers:
//! vertices of one triangle in the other, points where an edge passes through the plane of the other, and
//! points where coplanar edges cross.

use super::*;
use crate::geom::{Point, Rational};
use crate::random::Random;

type Fractions = [Rational; 3];

fn exact(p: Point) -> Fractions {
    p.map(|c| Rational::from_f32(c).unwrap())
}

fn sub(a: &Fractions, b: &Fractions) -> Fractions {
    std::array::from_fn(|i| &a[i] - &b[i])
}

fn product(a: &Fractions, b: &Fractions) -> Rational {
    &(&a[0] * &b[0]) + &(&(&a[1] * &b[1]) + &(&a[2] * &b[2]))
}

fn outer(a: &Fractions, b: &Fractions) -> Fractions {
    let minor = |i: usize, j: usize| &(&a[i] * &b[j]) - &(&a[j] * &b[i]);
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

fn is_zero(a: &Fractions) -> bool {
    a.iter().all(Rational::is_zero)
}

fn at(a: &Fractions, e: &Fractions, t: &Rational) -> Fractions {
    std::array::from_fn(|i| &a[i] + &(t * &e[i]))
}

fn normal([a, b, c]: &[Fractions; 3]) -> Fractions {
    outer(&sub(b, a), &sub(c, a))
}

fn edges([a, b, c]: &[Fractions; 3]) -> [[&Fractions; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

fn on_segment(x: &Fractions, [a, b]: [&Fractions; 2]) -> bool {
    let e = sub(b, a);
    let r = sub(x, a);
    let rise = product(&r, &e);
    is_zero(&outer(&e, &r))
        && rise >= Rational::ZERO
        && rise <= product(&e, &e)
        && (!is_zero(&e) || is_zero(&r))
}

fn contains(triangle: &[Fractions; 3], x: &Fractions) -> bool {
    let n = normal(triangle);
    if is_zero(&n) {
        return edges(triangle).into_iter().any(|edge| on_segment(x, edge));
    }
    product(&n, &sub(x, &triangle[0])).is_zero()
        && edges(triangle)
            .into_iter()
            .all(|[a, b]| product(&outer(&sub(b, a), &sub(x, a)), &n) >= Rational::ZERO)
}

/// Returns the point at which the line of an edge intersects the plane of a triangle. `None` if they are
/// parallel.
fn pierced([a, b]: [&Fractions; 2], triangle: &[Fractions; 3]) -> Option<Fractions> {
    let n = normal(triangle);
    let e = sub(b, a);
    let slope = product(&n, &e);
    (!slope.is_zero()).then(|| at(a, &e, &(product(&n, &sub(&triangle[0], a)) / &slope)))
}

/// Returns the point of the first edge's line that is closest to the line of the second edge. `None` if the
/// lines are parallel.
fn crossed([a, b]: [&Fractions; 2], [c, d]: [&Fractions; 2]) -> Option<Fractions> {
    let e = sub(b, a);
    let f = sub(d, c);
    let r = sub(c, a);
    let n = outer(&e, &f);
    let area = product(&n, &n);
    (!area.is_zero()).then(|| at(a, &e, &(product(&outer(&r, &f), &n) / &area)))
}

fn oracle(first: &Triangle, second: &Triangle) -> Meeting {
    let s = first.map(exact);
    let t = second.map(exact);
    let mut points = vec![];
    for (one, other) in [(&s, &t), (&t, &s)] {
        points.extend(one.iter().cloned());
        points.extend(
            edges(one)
                .into_iter()
                .filter_map(|edge| pierced(edge, other)),
        );
    }
    for edge in edges(&s) {
        points.extend(
            edges(&t)
                .into_iter()
                .filter_map(|other| crossed(edge, other)),
        );
    }
    points.retain(|x| contains(&s, x) && contains(&t, x));
    let Some(first) = points.first() else {
        return Meeting::Apart;
    };
    let flat = is_zero(&normal(&s)) || is_zero(&normal(&t));
    let Some(second) = points.iter().find(|x| *x != first).filter(|_| !flat) else {
        return Meeting::Point;
    };
    let e = sub(second, first);
    if points.iter().any(|x| !is_zero(&outer(&e, &sub(x, first)))) {
        return Meeting::Overlap;
    }
    // The triangles cross if the midpoint of the segment is in the interior of both.
    let middle = at(first, &e, &Rational::new(1, 2));
    let is_inner = |triangle: &[Fractions; 3]| {
        !edges(triangle)
            .into_iter()
            .any(|edge| on_segment(&middle, edge))
    };
    if is_inner(&s) && is_inner(&t) {
        Meeting::Crossing
    } else {
        Meeting::Segment
    }
}

impl Random {
    /// Returns a vertex on a small lattice (kind 0), in the plane z = 0 (kind 1), or at any position.
    fn vertex(&mut self, kind: u64) -> Point {
        let mut number = |n: usize| match kind {
            0 => self.below(4) as f32,
            1 if n == 2 => 0.0,
            1 => self.below(5) as f32,
            _ => (4.0 * self.unit()) * [1.0, 1e-3, 3.0][n],
        };
        std::array::from_fn(&mut number)
    }

    fn triangle(&mut self, kind: u64) -> Triangle {
        std::array::from_fn(|_| self.vertex(kind))
    }
}

/// Returns pairs of triangles of many kinds: on a lattice, in one plane, with shared vertices, and with a
/// vertex of one in the plane of the other.
fn pairs(count: u64) -> impl Iterator<Item = [Triangle; 2]> {
    let mut random = Random::new(0x7121_2722);
    (0..count).map(move |n| {
        let kind = n % 3;
        let s = random.triangle(kind);
        let mut t = random.triangle(kind);
        match n / 3 % 6 {
            0 => t[1] = s[2],
            1 => [t[2], t[0]] = [s[0], s[1]],
            2 => t[0] = std::array::from_fn(|i| s[0][i] / 2.0 + s[1][i] / 2.0),
            3 => t[2] = std::array::from_fn(|i| s[0][i] / 2.0 + s[1][i] / 4.0 + s[2][i] / 4.0),
            _ => {}
        }
        [s, t]
    })
}

#[test]
fn meetings_match_fractions() {
    let mut seen = [0; 5];
    for [s, t] in pairs(12_000) {
        let wanted = oracle(&s, &t);
        assert_eq!(meeting(&s, &t), wanted, "{s:?} {t:?}");
        assert_eq!(meeting(&t, &s), wanted, "the other way round: {t:?} {s:?}");
        let turned = [t[2], t[1], t[0]];
        assert_eq!(meeting(&s, &turned), wanted, "turned: {s:?} {turned:?}");
        seen[wanted as usize] += 1;
    }
    assert!(seen.iter().all(|n| *n > 200), "{seen:?}");
}

/// Tests coordinates of such different magnitudes that determinants do not fit in 128 bits.
#[test]
fn long_numbers_are_decided_as_well() {
    let mut seen = [0; 5];
    for [s, t] in pairs(6_000) {
        let stretch = |v: Point| [v[0] * 1e20, v[1], v[2] * 1e-20];
        let s = s.map(stretch);
        let t = t.map(stretch);
        let wanted = oracle(&s, &t);
        assert_eq!(meeting(&s, &t), wanted, "{s:?} {t:?}");
        seen[wanted as usize] += 1;
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

/// Checks that the closest points are on their triangles, that no other pair is closer, and that the distance
/// is zero if the triangles intersect.
#[test]
fn closest_points_are_on_the_triangles_and_none_are_closer() {
    let mut random = Random::new(0xc105e);
    let mut apart = 0;
    for [s, t] in pairs(20_000) {
        let [p, q] = closest_points(&s, &t);
        let length = |v: [f64; 3]| dot(v, v).sqrt();
        let wide = |t: Triangle| t.map(|v| v.map(f64::from));
        for (x, triangle) in [(p, s), (q, t)] {
            let off = length(minus(closest::on_triangle(x, wide(triangle)), x));
            assert!(off < 1e-12, "{off:e}: {x:?} {triangle:?}");
        }
        let distance = length(minus(p, q));
        match meeting(&s, &t) {
            Meeting::Apart => apart += 1,
            _ => assert!(distance < 1e-12, "{s:?} {t:?}: {distance:e}"),
        }
        for _ in 0..20 {
            // A random point of each triangle.
            let [x, y] = [s, t].map(|triangle| {
                let mut w = [0.0; 3].map(|_: f64| random.below(1000) as f64);
                let sum: f64 = w.iter().sum::<f64>().max(1.0);
                w = w.map(|w| w / sum);
                w[0] = 1.0 - w[1] - w[2];
                let v = wide(triangle);
                std::array::from_fn(|i| w[0] * v[0][i] + w[1] * v[1][i] + w[2] * v[2][i])
            });
            assert!(length(minus(x, y)) > distance - 1e-12, "{s:?} {t:?}");
        }
        // The other triangle must not have a point that is closer to `p`.
        let again = closest::on_triangle(p, wide(t));
        assert!(length(minus(again, p)) > distance - 1e-12);
    }
    assert!(apart > 3000, "{apart}");
}
