//! Exactness of the intersection of two triangles: compared with an oracle in integers, on pairs that are
//! random, touch, lie in a plane, share an edge or a vertex, or have no area. Closest points are proven by a
//! separating plane across the line between them.
//!
//! `VOXELIZE_PAIRS=10000000 cargo test --release --test counted tri_tri` sets the number of pairs.

mod oracle;
mod pairs;

use voxelize::geom::fractions::{ExactPoint, dot, exact, minus, rounded};
use voxelize::geom::tri_tri::{Meeting, closest_points, meeting};
use voxelize::geom::{Rational, Triangle, separation};

use crate::support::random::Random;
use crate::support::suite::{Counts, Suite};
use pairs::{FAMILIES, as_floats};

pub const SUITE: Suite = Suite::of(
    "tri_tri",
    &[
        ("whole_numbers", whole_numbers),
        ("any_floats", any_floats),
        ("closest_points", closest_points_are_closest),
    ],
);

fn pairs_in_all() -> u64 {
    std::env::var("VOXELIZE_PAIRS").map_or(600_000, |pairs| pairs.parse().expect("a whole number"))
}

/// Counts the pairs by their intersection.
fn counted(seen: [u64; 5]) -> Counts {
    let [apart, point, segment, crossing, overlap] = seen;
    vec![
        ("apart", apart),
        ("meet in a point", point),
        ("in a segment", segment),
        ("cross", crossing),
        ("overlap", overlap),
    ]
}

fn whole_numbers() -> Counts {
    let mut all = [0; 5];
    for (n, (name, make)) in FAMILIES.iter().enumerate() {
        let mut random = Random(0x7121_7121 + n as u64);
        let mut seen = [0; 5];
        for _ in 0..pairs_in_all() / FAMILIES.len() as u64 {
            let whole = make(&mut random);
            let [s, t] = as_floats(&mut random, &whole);
            let [a, b] = whole.map(|t| t.map(|v| v.map(i128::from)));
            let wanted = oracle::meeting(&a, &b);
            assert_eq!(meeting(&s, &t), wanted, "{}: {s:?} {t:?}", name);
            assert_eq!(
                meeting(&t, &s),
                wanted,
                "{}, the other way round: {t:?} {s:?}",
                name
            );
            seen[wanted as usize] += 1;
        }
        println!(
            "  {:<14} apart, point, segment, crossing, overlap: {seen:?}",
            name
        );
        (0..5).for_each(|n| all[n] += seen[n]);
    }
    counted(all)
}

/// Coordinates with all digits and many exponents. Some are taken from the other triangle or halfway between.
fn any_floats() -> Counts {
    let mut random = Random(0xf10a7);
    let mut seen = [0; 5];
    for n in 0..pairs_in_all() / 20 {
        let spread = [1, 6, 40][n as usize % 3];
        let [s, mut t] = [(); 2].map(|()| -> Triangle {
            [(); 3].map(|()| {
                [(); 3].map(|()| {
                    let size = 2f32.powi(random.below(spread) as i32);
                    (random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0) * size
                })
            })
        });
        let half = |a: [f32; 3], b: [f32; 3]| std::array::from_fn(|i| a[i] / 2.0 + b[i] / 2.0);
        match n / 3 % 7 {
            0 => t[0] = s[0],
            1 => [t[0], t[1]] = [s[1], s[0]],
            2 => t[2] = half(s[0], s[1]),
            3 => [t[0], t[1]] = [half(s[0], s[1]), half(s[1], s[2])],
            4 => t = [half(s[0], s[1]), s[2], half(s[1], s[2])],
            5 => t[1] = half(half(s[0], s[1]), s[2]),
            _ => {}
        }
        let [a, b] = oracle::whole(&[s, t]);
        let wanted = oracle::meeting(&a, &b);
        assert_eq!(meeting(&s, &t), wanted, "{s:?} {t:?}");
        seen[wanted as usize] += 1;
    }
    counted(seen)
}

/// No vertex of a triangle lies beyond the plane through its closest point, across the direction to the
/// other. This alone proves that both points are the closest.
fn closest_points_are_closest() -> Counts {
    let mut apart = 0;
    let mut meet = 0;
    let mut worst = 0.0_f64;
    for (n, (name, make)) in FAMILIES.iter().enumerate() {
        let mut random = Random(0xc105e57 + n as u64);
        for _ in 0..pairs_in_all() / 1000 {
            let whole = make(&mut random);
            let [s, t] = as_floats(&mut random, &whole);
            let (p, q) = separation_of(&s, &t);
            let away = minus(&p, &q);
            let squared = dot(&away, &away);
            // In doubles: the same distance, and points no farther apart than that.
            let largest = [s, t]
                .as_flattened()
                .as_flattened()
                .iter()
                .fold(0.0, |m: f32, c| m.max(c.abs()));
            let [x, y] = closest_points(&s, &t);
            let distance = (0..3).map(|i| (x[i] - y[i]).powi(2)).sum::<f64>().sqrt();
            let off = (distance - squared.to_f64().sqrt()).abs()
                / f64::from(largest).max(f64::MIN_POSITIVE);
            assert!(off <= 1e-12, "{}: {s:?} {t:?}: off by {off:e}", name);
            worst = worst.max(off);
            match meeting(&s, &t) {
                Meeting::Apart => {
                    assert!(squared.is_positive(), "{s:?} {t:?}");
                    apart += 1;
                }
                _ => {
                    assert!(squared.is_zero(), "{s:?} {t:?}");
                    meet += 1;
                }
            }
        }
    }
    println!("  distances in doubles are off by at most {worst:.1e} of the largest coordinate");
    vec![("apart", apart), ("meet", meet)]
}

/// Returns the closest points. Proves that they are closest and on their triangles.
fn separation_of(s: &Triangle, t: &Triangle) -> (ExactPoint, ExactPoint) {
    let [p, q] = separation::closest(s, t);
    let away = minus(&p, &q);
    for (triangle, x, sign) in [(s, &p, Rational::ONE), (t, &q, Rational::new(-1, 1))] {
        let heights = triangle.map(|v| dot(&minus(&exact(v), x), &away) * &sign);
        assert!(
            heights.iter().all(|h| *h >= Rational::ZERO),
            "{s:?} {t:?}: closer than {:?}",
            rounded(x)
        );
        assert!(
            is_in_hull(triangle, x),
            "{s:?} {t:?}: {:?} is not on it",
            rounded(x)
        );
    }
    (p, q)
}

/// Reports whether a point is a mean of the vertices with non-negative weights, solved along each of the
/// lines of vertices.
fn is_in_hull(triangle: &Triangle, x: &ExactPoint) -> bool {
    let [a, b, c] = triangle.map(exact);
    let on_line = |p: &ExactPoint, q: &ExactPoint| {
        // p + t (q - p) = x, with the t of one coordinate that differs.
        let Some(i) = (0..3).find(|i| p[*i] != q[*i]) else {
            return p == x;
        };
        let t = &(&x[i] - &p[i]) / &(&q[i] - &p[i]);
        t >= Rational::ZERO
            && t <= Rational::ONE
            && (0..3).all(|j| &p[j] + &(&t * &(&q[j] - &p[j])) == x[j])
    };
    if on_line(&a, &b) || on_line(&b, &c) || on_line(&c, &a) {
        return true;
    }
    // x = a + u (b - a) + v (c - a), by two coordinates whose determinant is not zero.
    let e = minus(&b, &a);
    let f = minus(&c, &a);
    let r = minus(x, &a);
    let minor =
        |g: &ExactPoint, h: &ExactPoint, i: usize, j: usize| &(&g[i] * &h[j]) - &(&g[j] * &h[i]);
    let Some((i, j)) = [(0, 1), (1, 2), (2, 0)]
        .into_iter()
        .find(|(i, j)| !minor(&e, &f, *i, *j).is_zero())
    else {
        return false;
    };
    let area = minor(&e, &f, i, j);
    let u = &minor(&r, &f, i, j) / &area;
    let v = &minor(&e, &r, i, j) / &area;
    u >= Rational::ZERO
        && v >= Rational::ZERO
        && &u + &v <= Rational::ONE
        && (0..3).all(|n| &(&u * &e[n]) + &(&v * &f[n]) == r[n])
}
