//! Collisions and distances of meshes, compared with all pairs of triangles and with solids of known
//! relation.

#[cfg(feature = "cli")]
mod command;
mod depth;
#[cfg(feature = "cli")]
mod orders;
mod relations;

use voxelize::compare::clearance::{
    Clearance, ClearanceBody, ClearanceOptions, MeetingPair, Relation, clearance,
};
use voxelize::geom::Triangle;
use voxelize::geom::tri_tri::{Meeting, closest_points, meeting};
use voxelize::{Mesh, par};

use crate::support::meshes::{fixture, mapped};
use crate::support::random::Random;

fn mesh(triangles: Vec<Triangle>) -> Mesh {
    Mesh::from_triangles(triangles).unwrap()
}

fn moved(mesh: &Mesh, by: [f32; 3]) -> Mesh {
    mapped(mesh, |v| [v[0] + by[0], v[1] + by[1], v[2] + by[2]])
}

fn distance([p, q]: [[f64; 3]; 2]) -> f64 {
    (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt()
}

/// Returns small triangles and some large ones around a place, on a coarse lattice or off it.
fn soup(random: &mut Random, count: usize, at: f32, is_whole: bool) -> Mesh {
    let mut unit = || random.below(1 << 20) as f32 / (1 << 20) as f32;
    let triangles = (0..count).map(|n| {
        let middle = [(); 3].map(|()| unit());
        let size = if n % 40 == 7 { 0.9 } else { 0.15 };
        [(); 3].map(|()| {
            let v: [f32; 3] = std::array::from_fn(|a| middle[a] + size * (unit() - 0.5));
            let [x, y, z] = if is_whole {
                v.map(|c| (c * 16.0).round() / 16.0)
            } else {
                v
            };
            [x + at, y, z]
        })
    });
    mesh(triangles.collect())
}

/// Returns every pair that meets, and the least distance in doubles.
fn by_all_pairs(first: &Mesh, second: &Mesh) -> (Vec<([u64; 2], Meeting)>, f64) {
    let mut meetings = vec![];
    let mut least = f64::INFINITY;
    for (i, s) in (0..).zip(first.triangles()) {
        for (j, t) in (0..).zip(second.triangles()) {
            match meeting(s, t) {
                Meeting::Apart => {}
                found => meetings.push(([i, j], found)),
            }
            least = least.min(distance(closest_points(s, t)));
        }
    }
    (meetings, least)
}

fn all_places(first: &Mesh, second: &Mesh) -> Clearance {
    let [a, b] = [first, second].map(|mesh| ClearanceBody::new(mesh).unwrap());
    let options = ClearanceOptions {
        places: usize::MAX,
        ..ClearanceOptions::default()
    };
    a.clearance(&b, &options).unwrap()
}

/// Returns the distance of a point from a triangle.
fn off(point: [f64; 3], triangle: &Triangle) -> f64 {
    let wide = triangle.map(|v| v.map(f64::from));
    distance([voxelize::geom::closest::on_triangle(point, wide), point])
}

#[test]
fn clearance_of_soups_matches_all_pairs() {
    let mut meetings = 0;
    let mut apart = 0;
    for n in 0..24 {
        let mut random = Random(0xc1ea5 + n);
        let gap = [0.0, 0.9, 1.5, 40.0][n as usize % 4];
        let [a, b] = [0.0, gap].map(|at| soup(&mut random, 60 + 25 * n as usize, at, n % 3 == 0));
        let found = all_places(&a, &b);
        let (wanted, least) = by_all_pairs(&a, &b);
        let mut pairs: Vec<_> = found
            .places
            .iter()
            .map(|place| (place.triangles, place.meeting))
            .collect();
        assert!(pairs.is_sorted_by_key(|pair| pair.1 != Meeting::Crossing));
        pairs.sort();
        assert_eq!(pairs, wanted, "{n}");
        let largest = f64::from(gap + 1.5);
        let [s, t] = [(&a, 0), (&b, 1)].map(|(m, n)| &m.triangles()[found.triangles[n] as usize]);
        if wanted.is_empty() {
            apart += 1;
            assert!(
                (found.distance - least).abs() <= 1e-12 * largest,
                "{} for {least}",
                found.distance
            );
            assert!((distance(found.points) - found.distance).abs() <= 1e-15 * largest);
            assert!(
                off(found.points[0], s) <= 1e-15 * largest
                    && off(found.points[1], t) <= 1e-15 * largest
            );
            let [p, q] = found.points;
            let way = found.direction.unwrap();
            assert!(
                (0..3).all(|i| (way[i] * found.distance - (p[i] - q[i])).abs() <= 1e-15 * largest)
            );
        } else {
            meetings += wanted.len();
            assert_eq!((found.distance, found.direction), (0.0, None));
            assert_eq!(found.points[0], found.points[1]);
            for MeetingPair {
                triangles: [i, j],
                ends,
                ..
            } in &found.places
            {
                for end in ends {
                    assert!(off(*end, &a.triangles()[*i as usize]) <= 1e-15 * largest);
                    assert!(off(*end, &b.triangles()[*j as usize]) <= 1e-15 * largest);
                }
            }
        }
    }
    assert!(meetings > 800 && apart > 8, "{meetings} {apart}");
}

/// A mesh moved away from itself, so that thousands of triangles are about as near as the closest.
#[test]
fn distances_of_meshes_match_all_pairs() {
    for (name, by) in [
        ("knot.stl", [1.5, 70.0, 0.0]),
        ("sphere.stl", [1.0, 1.0, 1.75]),
        ("bracket.stl", [0.0, 4.4, 0.1]),
    ] {
        let first = fixture(name);
        let second = moved(&first, by);
        let found = clearance(&first, &second).unwrap();
        let few = |m: &Mesh, [p, _]: [[f64; 3]; 2]| {
            // All triangles are too many pairs for a test, so only the triangles with a near vertex are kept.
            let near =
                |t: &&Triangle| distance([t[0].map(f64::from), p]) < 3.0 * found.distance + 4.0;
            mesh(m.triangles().iter().filter(near).copied().collect())
        };
        let (_, least) = by_all_pairs(&few(&first, found.points), &few(&second, found.points));
        assert_eq!(found.relation, Relation::Apart, "{name}");
        assert!(
            (found.distance - least).abs() < 1e-12 * 100.0,
            "{name}: {} for {least}",
            found.distance
        );
    }
}

/// The knot and its copy, moved until their distance is a tenth, a thousandth and a millionth. The distance
/// refers to the final floats.
#[test]
fn small_gaps_are_measured() {
    let first = fixture("knot.stl");
    let start = clearance(&first, &moved(&first, [0.0, 80.0, 0.0])).unwrap();
    let [_, y, _] = start.direction.unwrap();
    assert!(y < 0.0);
    for gap in [0.1, 1e-3, 1e-4] {
        // Moving along y reduces the distance by the same amount. Bisection finds the remaining move.
        let mut low = 60.0_f32;
        let mut high = 80.0_f32;
        for _ in 0..40 {
            let middle = low.midpoint(high);
            let found = clearance(&first, &moved(&first, [0.0, middle, 0.0])).unwrap();
            let is_far = found.relation == Relation::Apart && found.distance > gap;
            *if is_far { &mut high } else { &mut low } = middle;
        }
        let second = moved(&first, [0.0, high, 0.0]);
        let found = clearance(&first, &second).unwrap();
        assert_eq!(found.relation, Relation::Apart);
        assert!(
            found.distance > gap && found.distance < gap + 2e-5,
            "{} for {gap}",
            found.distance
        );
        let [s, t] =
            [(&first, 0), (&second, 1)].map(|(m, n)| m.triangles()[found.triangles[n] as usize]);
        assert_eq!(meeting(&s, &t), Meeting::Apart);
        assert!((distance(closest_points(&s, &t)) - found.distance).abs() < 1e-12 * 35.0);
    }
}

/// The squared distance is exact, and its root is rounded once.
#[test]
fn distances_are_the_nearest_doubles() {
    let triangle = |corners: Triangle| mesh(vec![corners]);
    let slanted = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for (second, wanted) in [
        // 5/√3 and 2/√3, whose squares are not doubles.
        (
            [[2.0, 2.0, 2.0], [3.0, 2.0, 2.0], [2.0, 3.0, 2.0]],
            2.886_751_345_948_128_7,
        ),
        (
            [[1.0, 1.0, 1.0], [2.0, 1.0, 1.0], [1.0, 2.0, 1.0]],
            1.154_700_538_379_251_5,
        ),
        ([[4.0, 0.0, 0.0], [5.0, 0.0, 0.0], [4.0, 1.0, 0.0]], 3.0),
    ] {
        let found = clearance(&triangle(slanted), &triangle(second)).unwrap();
        assert_eq!(found.distance, wanted, "{second:?}");
    }
}

/// Results without numbers of triangles do not depend on order and threads.
#[test]
fn order_and_threads_change_nothing() {
    let mut random = Random(77);
    let first = fixture("knot.stl");
    for by in [[0.0, 71.0, 3.0], [4.0, 1.0, 0.5], [0.0, 0.0, 28.0]] {
        let second = moved(&first, by);
        let wanted = all_places(&first, &second);
        for threads in [1, 2, 5] {
            let again = par::with_threads(threads, || all_places(&first, &second)).unwrap();
            assert_eq!(again, wanted, "{by:?}, {threads} threads");
            let [a, b] = [&first, &second].map(|m| mesh(random.shuffled(m.triangles())));
            let found = par::with_threads(threads, || all_places(&a, &b)).unwrap();
            assert_eq!(
                (found.relation, found.meetings),
                (wanted.relation, wanted.meetings)
            );
            assert_eq!(
                found.distance.to_bits(),
                wanted.distance.to_bits(),
                "{by:?}"
            );
            assert_eq!(
                (found.points, found.direction),
                (wanted.points, wanted.direction),
                "{by:?}"
            );
        }
        let back = all_places(&second, &first);
        assert_eq!(
            (back.meetings, back.distance),
            (wanted.meetings, wanted.distance)
        );
    }
}

#[test]
fn far_tiny_and_huge_meshes_have_distances() {
    let cube = fixture("cube.stl");
    for (scale, gap) in [(1e-38_f32, 3.0_f32), (1e30, 3.0), (1e-20, 0.5), (1.0, 1e-4)] {
        let first = mapped(&cube, |v| v.map(|c| c * scale));
        let second = mapped(&cube, |[x, y, z]| {
            [(x + 64.0 + gap) * scale, y * scale, z * scale]
        });
        let found = clearance(&first, &second).unwrap();
        let wanted = f64::from(second.bounds().min[0]) - f64::from(first.bounds().max[0]);
        assert_eq!(
            (found.relation, found.direction),
            (Relation::Apart, Some([-1.0, 0.0, 0.0])),
            "{scale}"
        );
        assert!(
            (found.distance / wanted - 1.0).abs() < 1e-15,
            "{} for {wanted}",
            found.distance
        );
    }
}
