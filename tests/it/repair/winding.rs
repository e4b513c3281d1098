//! Winding numbers of open meshes, compared with the winding numbers of their caps and with an independent
//! sum.

use std::cmp::Ordering;

use voxelize::geom::{Triangle, Winding, solid_angle};
use voxelize::mesh::boundary::caps;

use super::shapes::*;
use crate::support::random::Random;

type Point = [f64; 3];

fn doubles(triangles: &[Triangle]) -> Vec<[Point; 3]> {
    triangles
        .iter()
        .map(|t| t.map(|v| v.map(f64::from)))
        .collect()
}

fn winding(triangles: &[Triangle]) -> Winding {
    Winding::new(doubles(triangles))
}

/// Returns the signed number of crossings of a ray along x. `None` near an edge.
fn crossings(triangles: &[[Point; 3]], p: &Point) -> Option<i32> {
    let mut sum = 0;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| [v[0] - p[0], v[1] - p[1], v[2] - p[2]]);
        let around = |a: &Point, b: &Point| a[1] * b[2] - a[2] * b[1];
        let u = around(&b, &c);
        let v = around(&c, &a);
        let w = around(&a, &b);
        // A triangle seen edge-on has no crossing.
        if (u + v + w).abs() < 1e-12 {
            continue;
        }
        if u.abs().min(v.abs()).min(w.abs()) < 1e-12 {
            return None;
        }
        if (u > 0.0) == (v > 0.0) && (v > 0.0) == (w > 0.0) {
            let at = (u * a[0] + v * b[0] + w * c[0]) / (u + v + w);
            if at.abs() < 1e-9 {
                return None;
            }
            if at > 0.0 {
                sum += (u + v + w).signum() as i32;
            }
        }
    }
    Some(sum)
}

fn width(triangles: &[Triangle]) -> f64 {
    let bounds = *mesh(triangles).bounds();
    f64::from(bounds.max[0] - bounds.min[0])
}

fn near(triangles: &[Triangle], random: &mut Random, reach: f64) -> Point {
    let triangle = &triangles[random.index(triangles.len())];
    std::array::from_fn(|i| f64::from(triangle[0][i]) + reach * random.within(-1.0, 1.0))
}

#[test]
fn closed_meshes_wind_whole_times() {
    let mut random = Random::new(12);
    for name in ["cube", "knot", "sphere", "bracket", "prism", "octahedron"] {
        let triangles = fixture(name);
        let winding = winding(&triangles);
        let doubles = doubles(&triangles);
        let extent = width(&triangles);
        let mut inside = 0;
        let mut tried = 0;
        for _ in 0..300 {
            let p = near(&triangles, &mut random, extent / 8.0);
            let Some(expected) = crossings(&doubles, &p) else {
                continue;
            };
            for (found, bound) in [
                (winding.direct(&p, |_| Ordering::Equal), 1e-6),
                (winding.at(&p, 1e-4, |_| Ordering::Equal), 1e-4),
            ] {
                let off = (found.value - f64::from(expected)).abs();
                assert!(off <= found.error, "{name}: {found:?} {expected}");
                assert!(found.error <= bound);
            }
            tried += 1;
            inside += expected;
        }
        assert!(tried > 200 && inside > 10, "{name}: {tried} {inside}");
    }
}

#[test]
fn an_open_mesh_winds_as_with_its_caps_less_its_caps() {
    let mut random = Random::new(13);
    let knot = torn(&fixture("knot"), &mut random);
    let sphere = torn(&fixture("sphere"), &mut random);
    let meshes = [
        fixture("open"),
        cube([0.0; 3], 8.0)[2..].to_vec(),
        slit_cube(),
        moebius(30),
        knot,
        sphere,
    ];
    for (n, triangles) in meshes.iter().enumerate() {
        let repaired = repaired(triangles);
        let closing = repaired.caps();
        let closed = doubles(&[repaired.triangles.clone(), closing.clone()].concat());
        let open = winding(&repaired.triangles);
        let only_caps = winding(&closing);
        let extent = width(triangles);
        let mut tried = 0;
        let mut inside = 0;
        for m in 0..600 {
            // Near the mesh, and near the holes.
            let around = if m % 2 == 0 { triangles } else { &closing };
            let p = near(around, &mut random, extent / 10.0);
            let Some(crossings) = crossings(&closed, &p) else {
                continue;
            };
            let whole = open.direct(&p, |_| Ordering::Equal);
            let less = only_caps.direct(&p, |_| Ordering::Equal);
            let off = (whole.value - (f64::from(crossings) - less.value)).abs();
            assert!(
                off <= whole.error + less.error && whole.error < 1e-6,
                "{n}: {off}"
            );
            if (whole.value - 0.5).abs() > 1e-6 {
                let found = only_caps.inside_without(&p, crossings, |_| Ordering::Equal);
                assert_eq!(found, whole.value > 0.5, "{n}: {p:?}");
                inside += usize::from(found);
                tried += 1;
            }
        }
        assert!(
            tried > 400 && (inside > 40 || n == 3),
            "{n}: {tried} {inside}"
        );
    }
}

#[test]
fn a_value_indistinguishable_from_a_half_is_outside() {
    // A cube without its top. Between its rim and the centre of the rim, the winding number is a half
    // everywhere.
    let top = |t: &&Triangle| !t.iter().all(|v| v[2] == 8.0);
    let open: Vec<_> = cube([0.0; 3], 8.0).iter().filter(top).copied().collect();
    let repaired = repaired(&open);
    let closing = repaired.caps();
    let winding = winding(&closing);
    let mut on_spokes = 0;
    let mut tried = 0;
    for (i, j) in (1..16).flat_map(|i| (1..16).map(move |j| (i, j))) {
        let p = [f64::from(i) / 2.0, f64::from(j) / 2.0, 8.0];
        for (crossings, side) in [(1, Ordering::Greater), (0, Ordering::Less)] {
            assert!(!winding.inside_without(&p, crossings, |_| side));
            let seen = winding.direct(&p, |_| side);
            assert!(seen.error > 0.1 || winding.inside_without(&p, crossings + 1, |_| side));
            tried += 1;
        }
        on_spokes += usize::from(winding.direct(&p, |_| Ordering::Less).error > 0.1);
        // At a small distance from it, the isosurface of one half is still the cap.
        for (z, crossings) in [(8.0 - 1e-6, 1), (8.0 + 1e-6, 0)] {
            let p = [p[0], p[1], z];
            let is_inside = winding.inside_without(&p, crossings, |_| unreachable!());
            assert_eq!(is_inside, crossings == 1);
        }
    }
    assert!(tried > 400 && on_spokes > 20, "{tried} {on_spokes}");
    assert_eq!(caps(&repaired.boundary), closing);
    // Without triangles, crossings alone decide.
    let none = Winding::new(vec![]);
    assert_eq!(
        [0, 1].map(|crossings| none.inside_without(&[0.0; 3], crossings, |_| unreachable!())),
        [false, true]
    );
}

#[test]
fn angles_keep_their_bound() {
    // A long sum of thin triangles around the point is one turn: the sum of their errors is small.
    let mut random = Random::new(14);
    let mut worst: f64 = 0.0;
    for _ in 0..20_000 {
        let [a, b, c, p] = [(); 4].map(|()| [(); 3].map(|()| random.within(-1.0, 1.0)));
        let scale = 10_f64.powi(random.index(12) as i32 - 9);
        let middle: Point = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
        let p: Point = std::array::from_fn(|i| middle[i] + scale * p[i]);
        let seen = |t: [Point; 3]| solid_angle::of(&t, &p, || Ordering::Equal);
        // A tetrahedron, from inside or outside: an integer.
        let d = [p[0] + 3.0, p[1] - 2.0, p[2] + 1.0];
        let faces = [[a, b, c], [a, c, d], [c, b, d], [b, a, d]].map(seen);
        let sum: f64 = faces.iter().map(|face| face.value).sum();
        let error: f64 = faces.iter().map(|face| face.error).sum();
        let off = (sum - f64::round(sum)).abs();
        assert!(off <= error + 1e-15, "{off} is above {error}");
        worst = worst.max(off / (error + 1e-15));
    }
    println!("at most {worst:.3} of the bound");
    assert!(worst > 0.01);
}
