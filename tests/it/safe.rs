//! The methods that a check calls safe find the same cells, and the check doubts the others.

use voxelize::compare::check::{CheckOptions, check};
use voxelize::geom::Triangle;
use voxelize::mesh::PairLimit;
use voxelize::{BitGrid, Fit, Inside, Lattice, Mesh, Rule, voxelize};

use crate::support::place::Place;
use crate::support::rows;
use crate::support::solids::{between, inside_out, stl};

/// Returns meshes with the methods that are safe for them.
fn meshes() -> Vec<(&'static str, Vec<Triangle>, &'static str)> {
    const ALL: &str = "auto nonzero evenodd vote robust";
    let cube = || between([0.0; 3], [8.0; 3]);
    let inner = || between([2.0; 3], [4.0; 3]);
    let beside = between([8.0, 0.0, 0.0], [12.0, 8.0, 8.0]);
    let beyond = between([4.0; 3], [12.0; 3]);
    let at_edge = || between([8.0, 8.0, 0.0], [12.0, 12.0, 8.0]);
    let both = |one: Vec<Triangle>, other: Vec<Triangle>| [one, other].concat();
    let third = between([3.0; 3], [3.5; 3]);
    vec![
        ("a cube", cube(), ALL),
        ("inside out", inside_out(cube()), ""),
        ("two-sided", both(cube(), inside_out(cube())), ""),
        ("twice", both(cube(), cube()), "auto nonzero"),
        ("open", cube()[1..].to_vec(), ""),
        ("a cavity", both(cube(), inside_out(inner())), ALL),
        (
            "one within another",
            both(cube(), inner()),
            "auto nonzero robust",
        ),
        (
            "one within a cavity",
            [cube(), inside_out(inner()), third.clone()].concat(),
            ALL,
        ),
        (
            "two within each other",
            [cube(), inner(), third].concat(),
            "auto nonzero robust",
        ),
        (
            "a cavity twice",
            [cube(), inside_out(inner()), inside_out(inner())].concat(),
            "",
        ),
        ("one beside another", both(cube(), beside), "auto nonzero"),
        (
            "two that cross",
            both(cube(), beyond.clone()),
            "auto nonzero",
        ),
        ("a lobe at an edge", both(cube(), at_edge()), "auto nonzero"),
        (
            "a lobe inside out",
            both(cube(), inside_out(at_edge())),
            "auto nonzero",
        ),
        (
            "one that crosses inside out",
            both(cube(), inside_out(beyond)),
            "",
        ),
        ("a bow tie", bow_tie(), "auto nonzero"),
    ]
}

/// Returns a prism over a figure of eight with lobes of unequal size. One lobe is inside out.
fn bow_tie() -> Vec<Triangle> {
    // The lines from 0 to 1 and from 2 to 3 cross.
    let corners = [[0.0, 0.0], [9.0, 6.0], [9.0, 0.0], [0.0, 12.0]];
    let at = |n: usize, z: f32| [corners[n % 4][0], corners[n % 4][1], z];
    let mut triangles = vec![];
    for n in 0..4 {
        triangles.push([at(n, 0.0), at(n + 1, 0.0), at(n + 1, 5.0)]);
        triangles.push([at(n, 0.0), at(n + 1, 5.0), at(n, 5.0)]);
    }
    for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
        triangles.push([at(a, 5.0), at(b, 5.0), at(c, 5.0)]);
        triangles.push([at(a, 0.0), at(c, 0.0), at(b, 0.0)]);
    }
    triangles
}

fn cells(mesh: &Mesh, lattice: &Lattice, inside: Inside) -> BitGrid {
    let rule = Rule::solid().with_inside(inside).unwrap();
    voxelize(mesh, lattice, rule)
        .unwrap()
        .occupied()
        .unwrap()
        .clone()
}

fn names(methods: &[Inside]) -> String {
    let names: Vec<_> = methods.iter().map(|method| method.name()).collect();
    names.join(" ")
}

#[test]
fn safe_methods_find_the_same_cells() {
    let mut agree = 0;
    let mut disagree = 0;
    for (name, triangles, expected) in meshes() {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let found = check(&mesh, &CheckOptions::default()).unwrap().verdict;
        assert_eq!(names(&found.safe_methods), expected, "{name}");
        assert_eq!(found.is_safe_for_solid(), !expected.is_empty(), "{name}");
        for side in ["0.5", "0.7", "1"] {
            let lattice = Fit::cell_size(side)
                .unwrap()
                .pad(1)
                .to(mesh.bounds())
                .unwrap();
            let wanted = cells(&mesh, &lattice, Inside::Nonzero);
            for method in [Inside::Auto, Inside::EvenOdd, Inside::Vote, Inside::Robust] {
                if cells(&mesh, &lattice, method) == wanted {
                    agree += 1;
                } else {
                    let is_safe = found.safe_methods.contains(&method);
                    assert!(!is_safe, "{name}: {}", method.name());
                    disagree += 1;
                }
            }
        }
    }
    assert!(agree > 100 && disagree > 20, "{agree} {disagree}");
}

#[test]
fn methods_are_doubtful_if_not_all_pairs_were_examined() {
    let mut doubted = 0;
    for (name, triangles, expected) in meshes() {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let of_pairs = |most| {
            let options = CheckOptions {
                pairs: PairLimit::AtMost(most),
                ..CheckOptions::default()
            };
            check(&mesh, &options).unwrap()
        };
        let found = of_pairs(0);
        let certain = if expected.is_empty() {
            ""
        } else {
            "auto nonzero"
        };
        assert!(found.is_partial, "{name}");
        assert_eq!(names(&found.verdict.safe_methods), certain, "{name}");
        assert_eq!(found.verdict.nested_shells, 0, "{name}");
        doubted += usize::from(certain != expected);
        let found = of_pairs(1 << 20);
        assert!(!found.is_partial, "{name}");
        assert_eq!(names(&found.verdict.safe_methods), expected, "{name}");
    }
    assert!(doubted > 3, "{doubted}");
}

#[test]
fn the_verdict_names_the_methods() {
    let place = Place::new();
    for (name, triangles, _) in meshes() {
        place.write(&format!("{}.stl", name.replace(' ', "_")), stl(&triangles));
    }
    rows::check(
        &place,
        r#"0 check a_cube.stl
            out safe for solid: yes, with --inside auto, nonzero, evenodd, vote, robust
           0 check a_cube.stl --json
            /verdict/safe_methods ["auto", "nonzero", "evenodd", "vote", "robust"]
            /verdict/nested_shells 0
           0 check one_within_another.stl
            out safe for solid: yes, with --inside auto, nonzero, robust; 1 shell lies within another
           0 check one_within_another.stl --json
            /verdict/safe_methods ["auto", "nonzero", "robust"]
            /verdict/nested_shells 1
           0 check two-sided.stl
            out safe for solid: no (12 duplicate triangles)
           0 check two-sided.stl --json
            /verdict/safe_methods []"#,
    );
}

#[test]
fn the_grid_of_a_scaled_mesh_is_the_one_that_a_run_has() {
    let place = Place::new();
    place.write("a.stl", stl(&between([0.0; 3], [8.0; 3])));
    for options in [
        "--scale 2 --voxel-size 1",
        "--scale 0.1 -r 7 --pad 1",
        "--voxel-size 1",
    ] {
        let json = |line: String| place.run(&line).expect(0).json();
        let mut run = json(format!("a.stl {options} -n --json"));
        let grid = run["grid"].as_object_mut().unwrap();
        grid.remove("pad").unwrap();
        let check = json(format!("check a.stl {options} --json"));
        assert_eq!(check["grid"], run["grid"], "{options}");
    }
}
