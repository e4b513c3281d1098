//! Solids with a known relation. Most of them have common faces, edges or vertices.

use voxelize::compare::clearance::{Relation, clearance};
use voxelize::geom::Triangle;
use voxelize::{Mesh, Rational};

use super::{all_places, mesh, moved};
use crate::support::meshes::{fixture, mapped};
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

fn cube(low: [f32; 3], high: [f32; 3]) -> Vec<Triangle> {
    between(low, high)
}

fn unit(low: [f32; 3]) -> Vec<Triangle> {
    cube(low, low.map(|c| c + 2.0))
}

/// Name, meshes, relation, and distance of the surfaces.
type RelationCase = (&'static str, Vec<Triangle>, Vec<Triangle>, Relation, f64);

fn cases() -> Vec<RelationCase> {
    use Relation::{Apart, Contains, Crossing, Touching, Within};
    let at = |x: f32, y: f32, z: f32| unit([x, y, z]);
    let zero = || at(0.0, 0.0, 0.0);
    let shell = || {
        [
            cube([-9.0; 3], [9.0; 3]),
            inside_out(cube([-5.0; 3], [5.0; 3])),
        ]
        .concat()
    };
    let pin = |low: f32, high: f32, bottom: f32| cube([low, low, bottom], [high, high, 5.0]);
    let tilted = |t: Vec<Triangle>| -> Vec<Triangle> {
        t.into_iter()
            .map(|t| t.map(|[x, y, z]| [x - y, x + y, z]))
            .collect()
    };
    vec![
        ("beside", zero(), at(3.0, 0.0, 0.0), Apart, 1.0),
        ("beyond an edge", zero(), at(5.0, 6.0, 0.5), Apart, 5.0),
        ("beyond a corner", zero(), at(4.0, 4.0, 3.0), Apart, 3.0),
        ("faces touch", zero(), at(2.0, 0.0, 0.0), Touching, 0.0),
        (
            "faces touch in a part",
            zero(),
            at(2.0, 0.5, 0.25),
            Touching,
            0.0,
        ),
        ("edges touch", zero(), at(2.0, 2.0, 0.0), Touching, 0.0),
        ("corners touch", zero(), at(2.0, 2.0, 2.0), Touching, 0.0),
        (
            "aligned and overlapping",
            zero(),
            at(1.0, 0.0, 0.0),
            Crossing,
            0.0,
        ),
        (
            "overlapping in a corner",
            zero(),
            at(1.0, 1.0, 1.0),
            Crossing,
            0.0,
        ),
        ("the same", zero(), zero(), Crossing, 0.0),
        (
            "inside, a face in common",
            zero(),
            cube([0.0, 0.5, 0.5], [1.0, 1.5, 1.5]),
            Crossing,
            0.0,
        ),
        (
            "inside, an edge in common",
            zero(),
            cube([0.0, 0.0, 0.5], [1.0, 1.0, 1.5]),
            Crossing,
            0.0,
        ),
        (
            "inside, a corner in common",
            zero(),
            cube([0.0; 3], [1.0; 3]),
            Crossing,
            0.0,
        ),
        ("inside", zero(), cube([0.5; 3], [1.5; 3]), Contains, 0.5),
        ("around", cube([0.5; 3], [1.75; 3]), zero(), Within, 0.25),
        ("in a cavity", shell(), zero(), Apart, 3.0),
        (
            "the shell of a cavity, touched",
            shell(),
            cube([3.0; 3], [5.0; 3]),
            Touching,
            0.0,
        ),
        (
            "in the wall of a shell",
            shell(),
            cube([6.0, 0.0, 0.0], [8.0, 1.0, 1.0]),
            Contains,
            1.0,
        ),
        (
            "around the cavity, in the wall",
            shell(),
            cube([-7.0; 3], [7.0; 3]),
            Crossing,
            2.0,
        ),
        (
            "one of two inside",
            zero(),
            [cube([0.5; 3], [1.5; 3]), at(9.0, 0.0, 0.0)].concat(),
            Crossing,
            0.5,
        ),
        (
            "both inside",
            zero(),
            [cube([0.5; 3], [0.75; 3]), cube([1.25; 3], [1.5; 3])].concat(),
            Contains,
            0.5,
        ),
        (
            "a pin that fits",
            ring(),
            pin(2.0, 4.0, -1.0),
            Touching,
            0.0,
        ),
        (
            "a pin that is flush",
            ring(),
            cube([2.0, 2.0, 0.0], [4.0, 4.0, 4.0]),
            Touching,
            0.0,
        ),
        ("a loose pin", ring(), pin(2.5, 3.5, -1.0), Apart, 0.5),
        ("a tight pin", ring(), pin(1.5, 4.5, -1.0), Crossing, 0.0),
        (
            "a pin tight on one side",
            ring(),
            cube([2.0, 2.0, -1.0], [4.5, 4.0, 5.0]),
            Crossing,
            0.0,
        ),
        ("a pin from above", ring(), pin(2.5, 3.5, 4.0), Apart, 0.5),
        (
            "a tilted pin that fits",
            tilted(ring()),
            tilted(pin(2.0, 4.0, -1.0)),
            Touching,
            0.0,
        ),
        (
            "a tilted pin, flush and tight",
            tilted(ring()),
            tilted(cube([1.0, 2.0, 0.0], [4.0, 4.0, 4.0])),
            Crossing,
            0.0,
        ),
        (
            "tips touch a face",
            hourglass(),
            cube([0.0, -3.0, -1.0], [3.0, 3.0, 1.0]),
            Crossing,
            0.0,
        ),
        (
            "a cube between tips",
            hourglass(),
            cube([2.0, -1.0, -1.0], [3.0, 1.0, 1.0]),
            Apart,
            0.0,
        ),
        (
            "a needle at the tips",
            hourglass(),
            vec_tip(),
            Touching,
            0.0,
        ),
        (
            "touching outside, and one inside",
            zero(),
            [at(2.0, 0.0, 0.0), cube([0.5; 3], [1.5; 3])].concat(),
            Crossing,
            0.0,
        ),
    ]
}

/// Returns a tetrahedron with its tip at the origin, between two others.
fn vec_tip() -> Vec<Triangle> {
    let [o, a, b, c] = [
        [0.0; 3],
        [4.0, -0.5, -0.5],
        [4.0, 0.5, -0.5],
        [4.0, 0.0, 0.5],
    ];
    vec![[o, b, a], [o, c, b], [o, a, c], [a, b, c]]
}

/// Transformations that turn the rays or make floats coarse.
const TURNS: [fn([f32; 3]) -> [f32; 3]; 3] = [
    |[x, y, z]| [y, z, x],
    |[x, y, z]| [x + 4096.0, z, -y],
    |[x, y, z]| [z + y, x - y, y],
];

#[test]
fn solids_lie_as_they_do() {
    for (name, a, b, relation, distance) in cases() {
        let [first, second] = [a, b].map(mesh);
        let found = clearance(&first, &second).unwrap();
        assert_eq!(found.relation, relation, "{name}: {found:?}");
        if relation != Relation::Apart || distance > 0.0 {
            assert_eq!(found.distance, distance, "{name}");
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
    }
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
    let cube = mesh(cube([-9.0, -9.0, 0.0], [9.0; 3]));
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
