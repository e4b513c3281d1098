//! Depth of penetration: exact for convex meshes, between bounds for others.

use voxelize::compare::clearance::{
    ClearanceBody, ClearanceOptions, PenetrationDepth, Relation, clearance,
};
use voxelize::{Mesh, par};

use super::relations::solid;
use super::{mesh, moved};
use crate::support::meshes::{fixture, mapped};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out};

fn depth(first: &Mesh, second: &Mesh) -> Option<PenetrationDepth> {
    let first = ClearanceBody::new(first).unwrap();
    let second = ClearanceBody::new(second).unwrap();
    first.depth(&second, &ClearanceOptions::default()).unwrap()
}

fn length([x, y, z]: [f64; 3]) -> f64 {
    (x * x + y * y + z * z).sqrt()
}

fn shares_volume(first: &Mesh, second: &Mesh) -> bool {
    let relation = clearance(first, second).unwrap().relation;
    !matches!(relation, Relation::Apart | Relation::Touching)
}

/// Boxes along the axes: the least overlap of their sides, which a move by exactly this length removes.
#[test]
fn depths_of_boxes_are_exact() {
    let mut random = Random(23);
    let mut seen = [0; 2];
    for _ in 0..200 {
        let mut sides = || -> [[f32; 3]; 2] {
            let low = [(); 3].map(|()| random.below(64) as f32 / 8.0);
            [low, low.map(|c| c + (1 + random.below(64)) as f32 / 8.0)]
        };
        let [a, b] = [sides(), sides()];
        let expected = (0..3)
            .map(|axis| (a[1][axis] - b[0][axis]).min(b[1][axis] - a[0][axis]))
            .fold(f32::INFINITY, f32::min);
        let meshes = [a, b].map(|[low, high]| mesh(between(low, high)));
        let [first, second] = &meshes;
        let found = depth(first, second);
        seen[usize::from(found.is_some())] += 1;
        let Some(found) = found else {
            assert!(expected <= 0.0, "{a:?} {b:?}");
            continue;
        };
        let expected = f64::from(expected);
        assert_eq!((found.least, found.most), (expected, expected), "{found:?}");
        assert!(found.is_exact && found.deepest.is_none());
        assert_eq!(length(found.separation), expected);
        let away = moved(first, found.separation.map(|c| c as f32));
        assert!(shares_volume(first, second) && !shares_volume(&away, second));
        let flipped = mesh(inside_out(second.triangles().to_vec()));
        let back = depth(&flipped, first).unwrap();
        assert_eq!((back.least, back.most), (expected, expected));
        assert!(back.is_exact);
    }
    assert!(seen.iter().all(|seen| *seen > 20), "{seen:?}");
}

/// Returns the box turned by a random rotation, and its corners.
fn turned(random: &mut Random, corners: [[f32; 3]; 2]) -> Mesh {
    let mut next = || random.within(-1.0, 1.0);
    let [mut w, mut x, mut y, mut z] = [next(), next(), next(), next()];
    let size = (w * w + x * x + y * y + z * z).sqrt();
    for c in [&mut w, &mut x, &mut y, &mut z] {
        *c /= size;
    }
    let rows = [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
        ],
        [
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
        ],
        [
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ];
    let middle: [f32; 3] = std::array::from_fn(|i| corners[0][i].midpoint(corners[1][i]));
    mapped(&mesh(between(corners[0], corners[1])), |v| {
        let from: [f64; 3] = std::array::from_fn(|i| f64::from(v[i] - middle[i]));
        std::array::from_fn(|i| {
            let turned: f64 = (0..3).map(|j| rows[i][j] * from[j]).sum();
            (turned + f64::from(middle[i])) as f32
        })
    })
}

/// Returns the least overlap of two boxes along the normals of their faces and the cross products of their
/// edges.
fn least_overlap(meshes: [&Mesh; 2]) -> f64 {
    let axes = meshes.map(|mesh| {
        let mut axes: Vec<[f64; 3]> = vec![];
        for [a, b, c] in mesh.triangles() {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                let edge: [f64; 3] = std::array::from_fn(|i| f64::from(q[i]) - f64::from(p[i]));
                axes.push(edge.map(|c| c / length(edge)));
            }
        }
        axes
    });
    let mut least = f64::INFINITY;
    let normals = |a: &[[f64; 3]], b: &[[f64; 3]]| -> Vec<[f64; 3]> {
        a.iter()
            .flat_map(|[x, y, z]| {
                b.iter()
                    .map(move |[u, v, w]| [y * w - z * v, z * u - x * w, x * v - y * u])
            })
            .collect()
    };
    let [a, b] = &axes;
    for normal in [normals(a, a), normals(b, b), normals(a, b)].concat() {
        let size = length(normal);
        if size < 1e-3 {
            continue;
        }
        let ranges = meshes.map(|mesh| {
            let heights = mesh
                .triangles()
                .as_flattened()
                .iter()
                .map(|v| (0..3).map(|i| normal[i] * f64::from(v[i])).sum::<f64>() / size);
            heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], c| {
                [low.min(c), high.max(c)]
            })
        });
        let [[low, high], [from, to]] = ranges;
        least = least.min(high - from).min(to - low);
    }
    least
}

/// The faces of turned boxes have dents of a rounding. Both bounds agree with the overlap along all axes.
#[test]
fn depths_of_turned_boxes_are_known_to_a_rounding() {
    let mut random = Random(29);
    let mut seen = 0;
    for _ in 0..120 {
        let mut next = || -> Mesh {
            let low = [(); 3].map(|()| random.within(-1.0, 1.0) as f32);
            let high = low.map(|c| c + random.within(0.5, 2.0) as f32);
            turned(&mut random, [low, high])
        };
        let [first, second] = [next(), next()];
        let Some(found) = depth(&first, &second) else {
            continue;
        };
        let expected = least_overlap([&first, &second]);
        assert!(
            found.least <= expected + 1e-6 && (found.most - expected).abs() < 1e-6,
            "{found:?}, {expected}"
        );
        assert!(found.most - found.least < 1e-5, "{found:?}");
        assert!((length(found.separation) - found.most).abs() < 1e-12);
        seen += 1;
    }
    assert!(seen > 60, "{seen}");
}

/// Solids, the greatest depth of a point of one in the other, and the depth of their hulls.
const CASES: &str = "
    a pin tight on all sides   | ring  | 1.5 1.5 -1 4.5 4.5 5          | 0.7071068 4.5
    a pin tight on one side    | ring  | 2 2 -1 4.5 4 5                | 0.5   4
    in the wall of a shell     | shell | 6 0 0 8 1 1                   | 2     3
    bars across each other     | 0 4 4 9 5 5 | 4 0 4 5 9 5             | 1     1
    a wall and another body    | ring + 9 0 0 10 1 1 | 5 0 0 7 1 1     | 1     1
";

#[test]
fn depths_of_other_solids_are_between_bounds() {
    let mut seen = 0;
    for line in CASES.trim().lines() {
        let [name, first, second, result] = line.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let [first, second] = [first, second].map(|text| mesh(solid(text)));
        let expected: Vec<f64> = result
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        let found = depth(&first, &second).unwrap();
        assert!(
            found.least <= expected[0] + 1e-7 && found.least > 0.98 * expected[0],
            "{name}: {found:?}"
        );
        assert_eq!(found.most, expected[1], "{name}: {found:?}");
        let back = depth(&second, &first).unwrap();
        assert_eq!(back.most, found.most, "{name}");
        assert!(
            (back.least / found.least - 1.0).abs() < 0.02,
            "{name}: {back:?}"
        );
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// Shorter translations in any direction leave the meshes sharing volume, and the reported one separates them.
#[test]
fn no_shorter_translation_separates() {
    let mut random = Random(31);
    for (name, by) in [
        ("knot.stl", [4.0, 1.0, 0.5]),
        ("bracket.stl", [1.0, 0.5, 0.25]),
    ] {
        let first = fixture(name);
        let second = moved(&first, by);
        let found = depth(&first, &second).unwrap();
        assert!(found.least > 0.0 && !found.is_exact, "{name}: {found:?}");
        let deepest = found.deepest.unwrap();
        assert_eq!(deepest.depth, found.least, "{name}");
        for _ in 0..20 {
            let way = [(); 3].map(|()| random.within(-1.0, 1.0));
            let short = way.map(|c| (c / length(way) * 0.999 * found.least) as f32);
            assert!(
                shares_volume(&moved(&first, short), &second),
                "{name}: {short:?}"
            );
        }
        let far = found.separation.map(|c| (c * (1.0 + 1e-5)) as f32);
        assert!(
            !shares_volume(&moved(&first, far), &second),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn spheres_have_close_bounds() {
    let sphere = fixture("sphere.stl");
    let found = depth(&sphere, &moved(&sphere, [1.0, 0.5, 0.25])).unwrap();
    assert!(
        found.least > 0.99 * found.most && found.least <= found.most,
        "{found:?}"
    );
    // Within each other: the search of the hulls may end early.
    let small = mapped(&sphere, |v| v.map(|c| c / 4.0));
    let found = depth(&sphere, &small).unwrap();
    assert!(found.least > 0.7 && found.least <= found.most, "{found:?}");
}

#[test]
fn order_and_threads_do_not_change_depths() {
    let mut random = Random(37);
    let first = fixture("knot.stl");
    let second = moved(&first, [4.0, 1.0, 0.5]);
    let wanted = depth(&first, &second);
    for threads in [1, 3] {
        let [a, b] = [&first, &second].map(|m| mesh(random.shuffled(m.triangles())));
        let found = par::with_threads(threads, || depth(&a, &b)).unwrap();
        assert_eq!(found, wanted, "{threads} threads");
    }
}

#[test]
fn open_meshes_have_no_depth() {
    let cube = mesh(between([0.0; 3], [2.0; 3]));
    let open = mesh(between([0.5; 3], [2.0; 3])[1..].to_vec());
    assert_eq!(depth(&cube, &open), None);
    let apart = mesh(between([3.0; 3], [4.0; 3]));
    assert_eq!(depth(&cube, &apart), None);
}
