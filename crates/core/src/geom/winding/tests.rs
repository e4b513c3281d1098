//! Tests that sums by the tree agree with direct sums, and that decisions do not depend on the tree.

use super::*;
use crate::par;
use crate::random::Random;
use voxelize_geom::vector;

/// Error bound that the tests request.
const AIM: f64 = 1.0 / 16_384.0;

impl Random {
    /// Returns a random number from −1 to 1.
    pub(super) fn signed(&mut self) -> f64 {
        self.within(-1.0, 1.0)
    }

    pub(super) fn point(&mut self, size: f64) -> Vector {
        [0; 3].map(|_| size * self.signed())
    }

    pub(super) fn direction(&mut self) -> Vector {
        let v = self.point(1.0);
        let length = vector::dot(v, v).sqrt();
        v.map(|x| x / length)
    }
}

pub(super) fn plus(a: &Vector, b: &Vector, times: f64) -> Vector {
    std::array::from_fn(|i| a[i] + times * b[i])
}

/// Returns random triangles near `place`, in all orientations. `extent` is the greatest offset of a triangle
/// along each axis, and `size` is the size of a triangle.
fn soup(
    random: &mut Random,
    count: usize,
    place: &Vector,
    extent: f64,
    size: f64,
) -> Vec<[Vector; 3]> {
    let triangle = |_| {
        let at = plus(place, &random.point(extent), 1.0);
        [0; 3].map(|_| plus(&at, &random.point(size), 1.0))
    };
    (0..count).map(triangle).collect()
}

/// Returns triangles near two opposite points of the unit sphere around `place`, most of them near one of the
/// points. All triangles face the same way, so their truncation errors do not cancel.
fn facing(random: &mut Random, count: usize, place: &Vector) -> Vec<[Vector; 3]> {
    let way = random.direction();
    let triangle = |_| {
        let at = plus(
            &plus(place, &way, if random.signed() > 0.8 { -1.0 } else { 1.0 }),
            &random.point(0.02),
            1.0,
        );
        let b = random.point(1.0);
        let mut c = random.point(1.0);
        let normal = vector::cross(b, c);
        if vector::dot(normal, way) < 0.0 {
            c = c.map(|x| -x);
        }
        [at, plus(&at, &b, 0.01), plus(&at, &c, 0.01)]
    };
    (0..count).map(triangle).collect()
}

/// Returns a fan of triangles from a wavy rim to an apex near the origin.
fn fan(random: &mut Random, count: usize) -> Vec<[Vector; 3]> {
    around(random.point(0.1), count)
}

/// Returns triangles that join a wavy rim to an apex.
fn around(apex: Vector, count: usize) -> Vec<[Vector; 3]> {
    let rim = |n: usize| {
        let turn = (n % count) as f64 / count as f64 * std::f64::consts::TAU;
        [turn.cos(), turn.sin(), 0.2 * (3.0 * turn).sin()]
    };
    (0..count).map(|n| [rim(n + 1), rim(n), apex]).collect()
}

pub(super) fn sets(random: &mut Random) -> Vec<Vec<[Vector; 3]>> {
    let mut sets = vec![];
    for (count, place, extent, size) in [
        (1, 0.0, 1.0, 1.0),
        (7, 3.0, 1.0, 0.5),
        (40, 0.0, 1.0, 0.1),
        (300, 1e6, 1.0, 0.02),
        (1000, -5.0, 100.0, 1e-3),
        (300, 0.0, 1.0, 3.0),
    ] {
        sets.push(soup(random, count, &[place; 3], extent, size));
    }
    sets.extend([9, 50, 400].map(|count| facing(random, count, &[0.5; 3])));
    sets.extend([9, 100, 2000].map(|count| fan(random, count)));
    sets
}

/// Returns four kinds of points: in a large box around the mesh, near triangles, and at two ranges of
/// distance from nodes.
fn points(random: &mut Random, winding: &Winding, count: usize) -> Vec<Vector> {
    let point = |n: usize| {
        let node = &winding.nodes[random.index(winding.nodes.len())].moments;
        match n % 4 {
            0 => plus(
                &node.centre,
                &random.direction(),
                node.radius * (2.0 + 1e-9),
            ),
            1 => plus(
                &node.centre,
                &random.direction(),
                node.radius * 2f64.powf(1.0 + 3.0 * random.signed()),
            ),
            2 => {
                let corner = winding.triangles[random.index(winding.len())].corners[0];
                plus(
                    &corner,
                    &random.direction(),
                    node.radius * 0.1 * random.signed().powi(4),
                )
            }
            _ => plus(
                &winding.nodes[0].moments.centre,
                &random.point(1.0),
                winding.nodes[0].moments.radius * 3.0,
            ),
        }
    };
    (0..count).map(point).collect()
}

#[test]
fn no_error_is_above_its_bound() {
    let mut random = Random::new(1);
    let mut tried = 0;
    let mut worst = 0.0_f64;
    let mut nodes_seen = 0;
    for set in sets(&mut random) {
        let winding = Winding::new(set);
        for p in points(&mut random, &winding, 6000) {
            let direct = winding.direct(&p, |_| Ordering::Equal);
            for far in FAR {
                let sum = winding.sum(&p, far, &|_| Ordering::Equal).estimate();
                let off = (sum.value - direct.value).abs();
                assert!(
                    off <= sum.error + direct.error,
                    "{p:?}: {off} is above {}",
                    sum.error
                );
                worst = worst.max((off - direct.error) / sum.error);
                nodes_seen += usize::from(sum.error > 2.0 * direct.error);
                tried += 1;
            }
            let found = winding.at(&p, AIM, |_| Ordering::Equal);
            assert!((found.value - direct.value).abs() <= found.error + direct.error);
            assert!(found.error <= AIM || found == direct);
        }
    }
    println!(
        "{tried} sums, {nodes_seen} of them with nodes as a whole: at most {worst:.3} of the bound"
    );
    assert!(tried > 200_000 && nodes_seen > 50_000 && worst > 0.2);
}

#[test]
fn every_node_alone_keeps_its_bound() {
    let mut random = Random::new(2);
    let mut tried = 0;
    let mut worst = 0.0_f64;
    for set in sets(&mut random) {
        let winding = Winding::new(set);
        for node in winding.nodes.iter().step_by(winding.nodes.len() / 40 + 1) {
            let own = &winding.triangles[node.first..node.end];
            for n in 0..60 {
                let distance = if n % 2 == 0 {
                    2.0 + 1e-9
                } else {
                    2.0 + random.signed().abs() * 6.0
                };
                let p = plus(
                    &node.moments.centre,
                    &random.direction(),
                    distance * node.moments.radius,
                );
                let Some(seen) = node.moments.seen_from(&p, 2.0) else {
                    continue;
                };
                let mut sum = Sum::default();
                own.iter().for_each(|triangle| {
                    sum.add(triangle.seen_from(&p, 0.0, &|_| Ordering::Equal))
                });
                let off = (sum.value - seen.estimate.value).abs() - sum.estimate().error;
                assert!(
                    off <= seen.estimate.error,
                    "{off} is above {}",
                    seen.estimate.error
                );
                assert!(sum.size <= seen.size, "{} {}", sum.size, seen.size);
                worst = worst.max(off / seen.estimate.error);
                tried += 1;
            }
        }
    }
    println!("{tried} nodes seen from somewhere: at most {worst:.3} of the bound");
    assert!(tried > 10_000 && worst > 0.3);
}

#[test]
fn the_same_for_any_order_and_any_tree() {
    let mut random = Random::new(3);
    for set in sets(&mut random) {
        let winding = Winding::new(set.clone());
        let mut other: Vec<_> = set.iter().map(|[a, b, c]| [*b, *c, *a]).collect();
        other.reverse();
        let turned = par::with_threads(1, || Winding::new(other)).unwrap();
        let mut close = 0;
        let mut inside = 0;
        for p in points(&mut random, &winding, 600) {
            let direct = winding.direct(&p, |_| Ordering::Equal);
            assert_eq!(direct, turned.direct(&p, |_| Ordering::Equal));
            assert_eq!(
                winding.at(&p, AIM, |_| Ordering::Equal),
                turned.at(&p, AIM, |_| Ordering::Equal)
            );
            // The two numbers of crossings for which `crossings - w` is nearest to one half.
            for crossings in [
                (direct.value + 0.5).floor() as i32,
                (direct.value + 0.5).ceil() as i32,
            ] {
                let over = f64::from(crossings) - 0.5 - direct.value;
                let expected = over > direct.error;
                assert_eq!(
                    winding.inside_without(&p, crossings, |_| Ordering::Equal),
                    expected
                );
                assert_eq!(
                    turned.inside_without(&p, crossings, |_| Ordering::Equal),
                    expected
                );
                close += usize::from(over.abs() < 0.01);
                inside += usize::from(expected);
            }
        }
        assert!(inside > 0, "{close}");
    }
}

#[test]
fn the_side_is_asked_by_the_place_in_the_given_list() {
    let sheet = |z: f64| [[0.0, 0.0, z], [4.0, 0.0, z], [0.0, 4.0, z]];
    let list: Vec<_> = [7.0, 1.0, 9.0, 3.0, 5.0, 2.0, 8.0, 0.0, 6.0, 4.0, 11.0]
        .map(sheet)
        .to_vec();
    let winding = Winding::new(list.clone());
    for (n, triangle) in list.iter().enumerate() {
        let p = [1.0, 1.0, triangle[0][2]];
        let at = |side: Ordering| {
            winding.direct(&p, |index| {
                assert_eq!(index, n);
                side
            })
        };
        assert!((at(Ordering::Greater).value - at(Ordering::Less).value - 1.0).abs() < 1e-12);
    }
}

#[test]
fn no_point_of_a_box_is_above_its_bound() {
    let mut random = Random::new(4);
    let mut tried = 0;
    let mut useful = 0;
    for set in sets(&mut random) {
        let winding = Winding::new(set);
        let node = &winding.nodes[0].moments;
        for n in 0..400 {
            let low = plus(
                &node.centre,
                &random.point(1.0),
                node.radius * f64::from(n % 7),
            );
            let high =
                std::array::from_fn(|i| low[i] + random.signed().abs().powi(3) * node.radius);
            let bound = winding.bound(&low, &high);
            for _ in 0..4 {
                let p = std::array::from_fn(|i| {
                    low[i] + (random.signed() + 1.0) / 2.0 * (high[i] - low[i])
                });
                let w = winding.direct(&p, |_| Ordering::Equal);
                assert!(
                    w.value.abs() <= bound + w.error,
                    "{} is above {bound}",
                    w.value
                );
                tried += 1;
            }
            useful += usize::from(bound < 0.5);
        }
    }
    println!("{tried} points in boxes, {useful} boxes below one half");
    assert!(tried > 10_000 && useful > 1000);
}

#[test]
fn nothing_winds_around_nothing() {
    let none = Winding::new(vec![]);
    assert!(none.is_empty() && none.bound(&[0.0; 3], &[1.0; 3]) == 0.0);
    assert_eq!(
        none.at(&[0.0; 3], AIM, |_| Ordering::Equal),
        Estimate::default()
    );
    assert!(none.inside_without(&[0.0; 3], 1, |_| Ordering::Equal));
    assert!(!none.inside_without(&[0.0; 3], 0, |_| Ordering::Equal));
}
