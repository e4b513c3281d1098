//! Boundary loops and the caps that close them.

use std::collections::HashMap;

use voxelize::geom::{Point, Triangle};
use voxelize::mesh::boundary::{Loop, boundary, caps};

use super::shapes::*;
use crate::support::random::Random;

type Key = [u32; 3];

fn key(point: Point) -> Key {
    point.map(|c| (c + 0.0).to_bits())
}

fn undirected([from, to]: [Point; 2]) -> (Key, Key) {
    let [from, to] = [key(from), key(to)];
    (from.min(to), from.max(to))
}

fn edges_of(triangles: &[Triangle]) -> impl Iterator<Item = [Point; 2]> {
    let sides = |t: &Triangle| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    triangles.iter().flat_map(sides)
}

/// Returns the sum of directed edges, computed independently of the product.
fn net(edges: impl Iterator<Item = [Point; 2]>) -> HashMap<(Key, Key), i64> {
    let mut net = HashMap::new();
    for edge in edges {
        let [from, to] = edge.map(key);
        if from != to {
            *net.entry(undirected(edge)).or_insert(0) += if from < to { 1 } else { -1 };
        }
    }
    net.retain(|_, count| *count != 0);
    net
}

fn meshes(random: &mut Random) -> Vec<Vec<Triangle>> {
    let mut meshes: Vec<_> = (1..60).map(|n| soup(n * n, 2 + n % 7, random)).collect();
    meshes.extend([
        fixture("open"),
        torn(&fixture("knot"), random),
        moebius(9),
        slit_cube(),
    ]);
    meshes.push(tossed(&fixture("sphere"), random));
    // Rims around one centre.
    let rims = [2.0, 4.0, 6.0].map(|size| cube([-size / 2.0; 3], size)[2..].to_vec());
    meshes.push(rims.concat());
    meshes
}

#[test]
fn loops_are_the_boundary_and_caps_close_it() {
    let mut random = Random::new(10);
    let mut loops_seen = 0;
    let mut several = 0;
    for triangles in meshes(&mut random) {
        let loops = boundary(&triangles).unwrap();
        let open = net(edges_of(&triangles));
        assert_eq!(net(loops.iter().flat_map(Loop::edges)), open);
        let closed = [triangles.clone(), caps(&loops)].concat();
        assert!(net(edges_of(&closed)).is_empty());
        assert!(boundary(&closed).unwrap().is_empty());
        for found in &loops {
            let mut keys: Vec<_> = found.points.iter().map(|p| key(*p)).collect();
            keys.sort_unstable();
            keys.dedup();
            assert!(
                keys.len() == found.points.len() && keys.len() > 2,
                "a vertex is met twice"
            );
            assert!(found.points.iter().all(|p| found.points[0] <= *p));
        }
        assert_eq!(boundary(&random.shuffled(&triangles)).unwrap(), loops);
        let repaired = repaired(&triangles);
        assert_eq!(repaired.boundary, boundary(&repaired.triangles).unwrap());
        let closed = [repaired.triangles.clone(), repaired.caps()].concat();
        assert!(net(edges_of(&closed)).is_empty());
        loops_seen += loops.len();
        several += open.values().filter(|count| count.abs() > 1).count();
    }
    println!("{loops_seen} loops, {several} edges in several");
    assert!(loops_seen > 1000 && several > 100);
}

#[test]
fn holes_are_the_odd_edges_in_any_direction() {
    let mut random = Random::new(11);
    let mut seen = 0;
    for triangles in meshes(&mut random) {
        let mut odd: HashMap<(Key, Key), u64> = HashMap::new();
        for edge in edges_of(&triangles) {
            let is_long = key(edge[0]) != key(edge[1]);
            *odd.entry(undirected(edge)).or_insert(0) += u64::from(is_long);
        }
        odd.retain(|_, count| *count % 2 == 1);
        let holes = mesh(&triangles).holes().unwrap();
        let edges: Vec<_> = holes.iter().flat_map(Loop::edges).collect();
        assert_eq!(edges.len(), odd.len());
        assert!(
            edges
                .iter()
                .all(|edge| odd.contains_key(&undirected(*edge)))
        );
        assert_eq!(mesh(&triangles).edge_counts().open_edges, odd.len() as u64);
        let other = tossed(&random.shuffled(&triangles), &mut random);
        assert_eq!(mesh(&other).holes().unwrap(), holes);
        seen += holes.len();
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn a_hole_is_reported_with_its_place() {
    let cube = cube([1.0; 3], 2.0);
    let without = [&cube[..4], &cube[5..]].concat();
    let holes = mesh(&without).holes().unwrap();
    assert_eq!(holes.len(), 1);
    assert_eq!(holes[0].points.len(), 3);
    assert!((holes[0].length() - (4.0 + 8_f64.sqrt())).abs() < 1e-12);
    let bounds = holes[0].bounds();
    let centre = holes[0].centre();
    assert!((0..3).all(|i| f64::from(bounds.min[i]) <= centre[i] && centre[i] <= f64::from(bounds.max[i])));
    assert_eq!(bounds, *mesh(&cube[4..5]).bounds());
    // Two holes that meet in a vertex remain two loops.
    let corner = cube[0][0];
    let opposite: Vec<_> = cube.iter().filter(|t| t.contains(&corner)).collect();
    assert!(opposite.len() > 2);
    let apart = without_two(&cube, corner);
    assert_eq!(mesh(&apart).holes().unwrap().len(), 2);
}

/// Returns the cube without two triangles that have only this vertex in common.
fn without_two(cube: &[Triangle], corner: Point) -> Vec<Triangle> {
    for a in 0..cube.len() {
        for b in 0..a {
            let common: Vec<_> = cube[a].iter().filter(|v| cube[b].contains(v)).collect();
            if common == [&corner] {
                let kept = cube.iter().enumerate().filter(|(n, _)| ![a, b].contains(n));
                return kept.map(|(_, t)| *t).collect();
            }
        }
    }
    panic!("no two triangles meet in the corner alone");
}
