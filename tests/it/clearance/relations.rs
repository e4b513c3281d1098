//! Solids with a known relation. Most of them have common faces, edges or vertices.

use voxelize::compare::clearance::{Relation, clearance, shared_volume};
use voxelize::geom::Triangle;
use voxelize::{Mesh, Rational, Run};

use super::{all_places, mesh, moved};
use crate::support::meshes::{fixture, mapped};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out};

/// Returns a box with a square hole through its middle, from z = 0 to 4.
fn ring() -> Vec<Triangle> {
    let quad = |a: [f32; 3], b, c, d| [[a, b, c], [a, c, d]];
    let outer = [[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]];
    let inner = [[2.0, 2.0], [4.0, 2.0], [4.0, 4.0], [2.0, 4.0]];
    (0..4)
        .flat_map(|n| {
            let at = |p: [[f32; 2]; 4], n: usize, z: f32| [p[n % 4][0], p[n % 4][1], z];
            let o = |n, z| at(outer, n, z);
            let i = |n, z| at(inner, n, z);
            [
                quad(o(n, 0.0), o(n + 1, 0.0), o(n + 1, 4.0), o(n, 4.0)),
                quad(i(n + 1, 0.0), i(n, 0.0), i(n, 4.0), i(n + 1, 4.0)),
                quad(o(n, 4.0), o(n + 1, 4.0), i(n + 1, 4.0), i(n, 4.0)),
                quad(o(n + 1, 0.0), o(n, 0.0), i(n, 0.0), i(n + 1, 0.0)),
            ]
            .concat()
        })
        .collect()
}

/// Returns two pyramids that meet with their tips at the origin.
fn hourglass() -> Vec<Triangle> {
    let base = |z: f32| {
        [
            [-1.0, -1.0, z],
            [1.0, -1.0, z],
            [1.0, 1.0, z],
            [-1.0, 1.0, z],
        ]
    };
    let cone = |z: f32| {
        let b = base(z);
        let sides = (0..4).map(move |n| [b[n], b[(n + 1) % 4], [0.0; 3]]);
        let all: Vec<_> = sides
            .chain([[b[0], b[2], b[1]], [b[0], b[3], b[2]]])
            .collect();
        if z < 0.0 { all } else { inside_out(all) }
    };
    [cone(-2.0), cone(2.0)].concat()
}

/// Returns a tetrahedron with its tip at the origin, between two others.
fn needle() -> Vec<Triangle> {
    let [o, a, b, c] = [
        [0.0; 3],
        [4.0, -0.5, -0.5],
        [4.0, 0.5, -0.5],
        [4.0, 0.0, 0.5],
    ];
    vec![[o, b, a], [o, c, b], [o, a, c], [a, b, c]]
}

/// Returns a cube with a cubic cavity.
fn shell() -> Vec<Triangle> {
    let cavity = inside_out(between([-5.0; 3], [5.0; 3]));
    [between([-9.0; 3], [9.0; 3]), cavity].concat()
}

/// Returns a square of `2 n n` triangles from a corner.
fn sheet(n: usize, [x, y, z]: [f32; 3]) -> Vec<Triangle> {
    let at = |i: usize, j: usize| [i as f32 + x, j as f32 + y, z];
    let mut triangles = vec![];
    for i in 0..n {
        for j in 0..n {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

/// Names, two solids, their relation, and the distance of their surfaces.
const CASES: &str = "
    beside                            | 0 0 0             | 3 0 0               | apart 1
    beyond an edge                    | 0 0 0             | 5 6 0.5             | apart 5
    beyond a corner                   | 0 0 0             | 4 4 3               | apart 3
    faces touch                       | 0 0 0             | 2 0 0               | touching 0
    faces touch in a part             | 0 0 0             | 2 0.5 0.25          | touching 0
    edges touch                       | 0 0 0             | 2 2 0               | touching 0
    corners touch                     | 0 0 0             | 2 2 2               | touching 0
    aligned and overlapping           | 0 0 0             | 1 0 0               | crossing 0
    overlapping in a corner           | 0 0 0             | 1 1 1               | crossing 0
    the same                          | 0 0 0             | 0 0 0               | crossing 0
    inside, a face in common          | 0 0 0             | 0 0.5 0.5 1 1.5 1.5 | crossing 0
    inside, an edge in common         | 0 0 0             | 0 0 0.5 1 1 1.5     | crossing 0
    inside, a corner in common        | 0 0 0             | 0 0 0 1 1 1         | crossing 0
    inside                            | 0 0 0             | 0.5 0.5 0.5 1.5 1.5 1.5 | contains 0.5
    around                            | 0.5 0.5 0.5 1.75 1.75 1.75 | 0 0 0      | within 0.25
    in a cavity                       | shell             | 0 0 0               | apart 3
    the shell of a cavity, touched    | shell             | 3 3 3 5 5 5         | touching 0
    in the wall of a shell            | shell             | 6 0 0 8 1 1         | contains 1
    around the cavity, in the wall    | shell             | -7 -7 -7 7 7 7      | crossing 2
    one of two inside                 | 0 0 0             | 0.5 0.5 0.5 1.5 1.5 1.5 + 9 0 0 | crossing 0.5
    both inside                       | 0 0 0             | 0.5 0.5 0.5 0.75 0.75 0.75 + 1.25 1.25 1.25 1.5 1.5 1.5 | contains 0.5
    a pin that fits                   | ring              | 2 2 -1 4 4 5        | touching 0
    a pin that is flush               | ring              | 2 2 0 4 4 4         | touching 0
    a loose pin                       | ring              | 2.5 2.5 -1 3.5 3.5 5 | apart 0.5
    a tight pin                       | ring              | 1.5 1.5 -1 4.5 4.5 5 | crossing 0
    a pin tight on one side           | ring              | 2 2 -1 4.5 4 5      | crossing 0
    a pin from above                  | ring              | 2.5 2.5 4 3.5 3.5 5 | apart 0.5
    a tilted pin that fits            | tilted ring       | tilted 2 2 -1 4 4 5 | touching 0
    a tilted pin, flush and tight     | tilted ring       | tilted 1 2 0 4 4 4  | crossing 0
    tips touch a face                 | hourglass         | 0 -3 -1 3 3 1       | crossing 0
    a cube between tips               | hourglass         | 2 -1 -1 3 1 1       | apart ?
    a needle at the tips              | hourglass         | needle              | touching 0
    touching outside, and one inside  | 0 0 0             | 2 0 0 + 0.5 0.5 0.5 1.5 1.5 1.5 | crossing 0
";

/// Parses a sum of solids:
/// - `X Y Z`, `X Y Z X Y Z`: a cube with edges of 2 from its lower corner, or a box between two corners.
/// - `sheet N X Y Z`: squares of 1 from a corner.
/// - `ring`, `shell`, `hourglass`, `needle`: those of this file.
/// - `tilted SOLID`: turned about z.
/// - `N times SOLID`: each triangle several times.
pub fn solid(text: &str) -> Vec<Triangle> {
    let mut all = vec![];
    for part in text.split(" + ") {
        let (times, part) = part.split_once(" times ").unwrap_or(("1", part));
        let (name, numbers) = match part.split_once(' ') {
            Some((name, numbers)) if name.parse::<f32>().is_err() => (name, numbers),
            _ => ("", part),
        };
        let numbers: Vec<f32> = numbers.split(' ').filter_map(|n| n.parse().ok()).collect();
        let mut triangles = match (name, part, &numbers[..]) {
            (_, "ring" | "tilted ring", _) => ring(),
            (_, "shell", _) => shell(),
            (_, "hourglass", _) => hourglass(),
            (_, "needle", _) => needle(),
            ("sheet", _, &[n, x, y, z]) => sheet(n as usize, [x, y, z]),
            (_, _, &[x, y, z]) => between([x, y, z], [x + 2.0, y + 2.0, z + 2.0]),
            (_, _, &[a, b, c, d, e, f]) => between([a, b, c], [d, e, f]),
            _ => panic!("no solid: {part}"),
        };
        if name == "tilted" {
            for vertex in triangles.iter_mut().flatten() {
                let [x, y, z] = *vertex;
                *vertex = [x - y, x + y, z];
            }
        }
        let times = times.parse().unwrap();
        for triangle in triangles {
            all.extend(vec![triangle; times]);
        }
    }
    all
}

/// Transformations that turn the rays or make floats coarse.
const TURNS: [fn([f32; 3]) -> [f32; 3]; 3] = [
    |[x, y, z]| [y, z, x],
    |[x, y, z]| [x + 4096.0, z, -y],
    |[x, y, z]| [z + y, x - y, y],
];

#[test]
fn solids_lie_as_they_do() {
    let mut seen = 0;
    for line in CASES.trim().lines() {
        let [name, first, second, result] = line.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let [first, second] = [first, second].map(|text| mesh(solid(text)));
        let (relation, distance) = result.split_once(' ').unwrap();
        let relation = match relation {
            "apart" => Relation::Apart,
            "touching" => Relation::Touching,
            "crossing" => Relation::Crossing,
            "contains" => Relation::Contains,
            "within" => Relation::Within,
            other => panic!("{other}"),
        };
        let found = clearance(&first, &second).unwrap();
        assert_eq!(found.relation, relation, "{name}: {found:?}");
        if distance != "?" {
            assert_eq!(found.distance, distance.parse::<f64>().unwrap(), "{name}");
        }
        assert_eq!(found.meetings > 0, found.distance == 0.0, "{name}");
        let swapped = clearance(&second, &first).unwrap();
        let mirrored = match relation {
            Relation::Contains => Relation::Within,
            Relation::Within => Relation::Contains,
            same => same,
        };
        assert_eq!(
            (swapped.relation, swapped.distance),
            (mirrored, found.distance),
            "{name}, swapped"
        );
        // A point is inside if the winding number is non-zero, so flipping the mesh changes nothing.
        let flipped = mesh(inside_out(second.triangles().to_vec()));
        assert_eq!(
            clearance(&first, &flipped).unwrap().relation,
            relation,
            "{name}, inside out"
        );
        for turn in TURNS {
            let [first, second] = [&first, &second].map(|m| mapped(m, turn));
            assert_eq!(
                clearance(&first, &second).unwrap().relation,
                relation,
                "{name}, turned"
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 33);
}

#[test]
fn spheres_are_contained_not_clear() {
    let sphere = fixture("sphere.stl");
    let small = mapped(&sphere, |v| v.map(|c| c / 4.0));
    let found = clearance(&sphere, &small).unwrap();
    assert_eq!((found.relation, found.meetings), (Relation::Contains, 0));
    assert!(
        found.distance > 0.7
            && found.distance < 0.75
            && found.is_closer_than(&Rational::new(1, 10)),
        "{found:?}"
    );
    assert_eq!(
        clearance(&small, &sphere).unwrap().relation,
        Relation::Within
    );
    // A vertex of the small sphere is moved to a vertex of the large one, from within and from outside.
    let tip = sphere.triangles()[0][0];
    let within = mapped(&small, |v| std::array::from_fn(|a| v[a] + 0.75 * tip[a]));
    let outside = mapped(&small, |v| std::array::from_fn(|a| v[a] + 1.25 * tip[a]));
    for (touching, relation) in [(within, Relation::Crossing), (outside, Relation::Touching)] {
        let found = all_places(&sphere, &touching);
        if found.meetings > 0
            && found
                .places
                .iter()
                .all(|place| place.ends[0] == place.ends[1])
        {
            assert_eq!(found.relation, relation, "{found:?}");
        }
    }
}

#[test]
fn fixtures_touch_at_a_vertex_and_overlap() {
    // The lowest vertex is at the highest vertex of the other, and only that point is shared.
    let octahedron = fixture("octahedron.stl");
    let above = moved(&octahedron, [0.0, 0.0, 16.0]);
    let found = all_places(&octahedron, &above);
    assert_eq!(
        (found.relation, found.meetings, found.distance),
        (Relation::Touching, 16, 0.0)
    );
    assert!(
        found
            .places
            .iter()
            .all(|place| place.ends == [[0.0, 0.0, 8.0]; 2])
    );
    let found = clearance(&octahedron, &moved(&octahedron, [0.0, 0.0, 15.999_999])).unwrap();
    assert_eq!(found.relation, Relation::Crossing);
    let found = clearance(&octahedron, &moved(&octahedron, [0.0, 0.0, 16.000_002])).unwrap();
    assert_eq!(
        (found.relation, found.distance),
        (Relation::Apart, 16.000_002_f32 as f64 - 16.0)
    );
    let knot = fixture("knot.stl");
    assert_eq!(
        clearance(&knot, &moved(&knot, [1.0, 0.0, 0.0]))
            .unwrap()
            .relation,
        Relation::Crossing
    );
}

/// Open meshes have no volume. Their surfaces cross or touch, and a point is inside if the winding number is
/// above a half.
#[test]
fn open_meshes_have_relations() {
    let bowl = fixture("open.stl");
    let ball = mapped(&fixture("sphere.stl"), |[x, y, z]| {
        [x / 2.0, y / 2.0, z / 2.0 + 2.0]
    });
    assert_eq!(
        clearance(&bowl, &ball).unwrap().relation,
        Relation::Contains
    );
    let below = moved(&ball, [0.0, 0.0, -4.0]);
    assert_eq!(clearance(&bowl, &below).unwrap().relation, Relation::Apart);
    let through = moved(&ball, [0.0, 0.0, 3.0]);
    assert_eq!(
        clearance(&bowl, &through).unwrap().relation,
        Relation::Crossing
    );
    let sheet = mesh(vec![[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]]]);
    let cube = mesh(between([-9.0, -9.0, 0.0], [9.0; 3]));
    assert_eq!(
        clearance(&sheet, &cube).unwrap().relation,
        Relation::Touching
    );
}

#[test]
fn a_mesh_without_triangles_is_unfit() {
    let empty = mesh(vec![]);
    let error = clearance(&empty, &Mesh::open("fixtures/cube.stl").unwrap()).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::Unfit);
}

#[test]
fn open_meshes_that_touch_are_not_reported_clear() {
    let open = fixture("defects/hole.stl");
    let [same, beside] = [
        [0.0; 3],
        [open.bounds().max[0] - open.bounds().min[0], 0.0, 0.0],
    ];
    let found = clearance(&open, &moved(&open, same)).unwrap();
    assert_eq!(
        (found.relation, found.shares_volume),
        (Relation::Touching, None)
    );
    assert!(
        found.is_closer_than(&Rational::ZERO),
        "nobody knows whether they collide"
    );
    // A separating plane suffices.
    let found = clearance(&open, &moved(&open, beside)).unwrap();
    assert_eq!(
        (found.relation, found.shares_volume),
        (Relation::Touching, Some(false))
    );
    assert!(!found.is_closer_than(&Rational::ZERO) && found.is_closer_than(&Rational::new(1, 10)));
}

/// Shared volumes of boxes are exact, and those of turned boxes agree with the volume of their
/// common part.
#[test]
fn shared_volumes_of_boxes_are_exact() {
    let mut random = Random(11);
    let mut seen = [0; 2];
    for _ in 0..60 {
        let mut sides = || -> [[f32; 3]; 2] {
            let low = [(); 3].map(|()| random.below(64) as f32 / 8.0);
            [low, low.map(|c| c + (1 + random.below(64)) as f32 / 8.0)]
        };
        let [a, b] = [sides(), sides()];
        let expected: f64 = (0..3)
            .map(|axis| f64::from(a[1][axis].min(b[1][axis]) - a[0][axis].max(b[0][axis])).max(0.0))
            .product();
        let meshes = [a, b].map(|[low, high]| mesh(between(low, high)));
        let [first, second] = &meshes;
        let found = shared_volume([first, second], &Run::default())
            .unwrap()
            .unwrap();
        let flipped = mesh(inside_out(second.triangles().to_vec()));
        let other = shared_volume([&flipped, first], &Run::default())
            .unwrap()
            .unwrap();
        for found in [found, other] {
            assert!(
                (found.volume - expected).abs() <= 1e-12 * expected,
                "{found:?}, {expected}"
            );
        }
        seen[usize::from(expected > 0.0)] += 1;
    }
    assert!(seen.iter().all(|seen| *seen > 5), "{seen:?}");
    // A cube of side 2 turned by 45 degrees about z in a cube of side 2: a prism on an octagon.
    let turned = |v: [f32; 3]| {
        let [x, y, z] = v.map(f64::from);
        let s = 0.5_f64.sqrt();
        [((x - y) * s) as f32, ((x + y) * s) as f32, z as f32]
    };
    let cube = mesh(between([-1.0; 3], [1.0; 3]));
    let found = shared_volume([&cube, &mapped(&cube, turned)], &Run::default());
    let found = found.unwrap().unwrap();
    let octagon = 8.0 * (2.0_f64.sqrt() - 1.0);
    let off = (found.volume - 2.0 * octagon).abs();
    // The corners of the turned cube are rounded to floats.
    assert!(off < 1e-6, "{found:?}, {octagon}");
    let open = mesh(between([0.0; 3], [2.0; 3])[1..].to_vec());
    assert_eq!(
        shared_volume([&cube, &open], &Run::default()).unwrap(),
        None
    );
}
