//! The methods that a check calls safe find the same cells, and the check doubts the others.

use voxelize::compare::check::{CheckOptions, check};
use voxelize::geom::Triangle;
use voxelize::mesh::PairLimit;
use voxelize::{BitGrid, Fit, Inside, Lattice, Mesh, Rule, ThinFeatures, voxelize};

use crate::support::place::Place;
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
    let rule = Rule::Solid {
        inside,
        thin: ThinFeatures::Lose,
    };
    voxelize(mesh, lattice, rule)
        .unwrap()
        .occupied()
        .unwrap()
        .clone()
}

#[test]
fn safe_methods_find_the_same_cells() {
    let mut compared = 0;
    let mut disagree = 0;
    for (name, triangles, expected) in meshes() {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let found = check(&mesh, &CheckOptions::default()).unwrap().verdict;
        let names: Vec<_> = found
            .safe_methods
            .iter()
            .map(|method| method.name())
            .collect();
        assert_eq!(names.join(" "), expected, "{name}");
        assert_eq!(found.is_safe_for_solid(), !expected.is_empty(), "{name}");
        for side in ["0.5", "0.7", "1"] {
            let lattice = Fit::cell_size(side)
                .unwrap()
                .pad(1)
                .to(mesh.bounds())
                .unwrap();
            let wanted = cells(&mesh, &lattice, Inside::Nonzero);
            for method in [Inside::Auto, Inside::EvenOdd, Inside::Vote, Inside::Robust] {
                let is_equal = cells(&mesh, &lattice, method) == wanted;
                assert!(
                    is_equal || !found.safe_methods.contains(&method),
                    "{name}: {}",
                    method.name()
                );
                (compared, disagree) = (
                    compared + usize::from(is_equal),
                    disagree + usize::from(!is_equal),
                );
            }
        }
    }
    assert!(compared > 100 && disagree > 20, "{compared} {disagree}");
}

#[test]
fn methods_are_doubtful_if_not_all_pairs_were_examined() {
    let mut doubted = 0;
    for (name, triangles, expected) in meshes() {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let options = CheckOptions {
            pairs: PairLimit::AtMost(0),
            ..CheckOptions::default()
        };
        let found = check(&mesh, &options).unwrap();
        let wanted = if expected.is_empty() {
            vec![]
        } else {
            vec![Inside::Auto, Inside::Nonzero]
        };
        assert!(
            found.is_partial && found.verdict.safe_methods == wanted,
            "{name}: {:?}",
            found.verdict
        );
        assert_eq!(found.verdict.nested_shells, 0, "{name}");
        doubted += usize::from(expected.split(' ').count() > wanted.len());
        let options = CheckOptions {
            pairs: PairLimit::AtMost(1 << 20),
            ..CheckOptions::default()
        };
        let found = check(&mesh, &options).unwrap();
        let names: Vec<_> = found
            .verdict
            .safe_methods
            .iter()
            .map(|method| method.name())
            .collect();
        assert!(!found.is_partial && names.join(" ") == expected, "{name}");
    }
    assert!(doubted > 3, "{doubted}");
}

#[test]
fn the_verdict_names_the_methods() {
    let place = Place::new();
    let row = |name: &str| {
        let (_, triangles, _) = meshes().into_iter().find(|mesh| mesh.0 == name).unwrap();
        place.write("a.stl", stl(&triangles));
        let run = place.run("check a.stl").expect(0);
        let text = run.text().lines().last().unwrap().trim().to_string();
        let json = place.run("check a.stl --json").expect(0).json();
        (
            text,
            json["verdict"]["safe_methods"].clone(),
            json["verdict"]["nested_shells"].clone(),
        )
    };
    let (text, methods, nested) = row("a cube");
    assert_eq!(
        text,
        "safe for solid: yes, with --inside auto, nonzero, evenodd, vote, robust"
    );
    assert_eq!(
        (methods[4].as_str(), nested.as_u64()),
        (Some("robust"), Some(0))
    );
    let (text, methods, nested) = row("one within another");
    assert_eq!(
        text,
        "safe for solid: yes, with --inside auto, nonzero, robust; 1 shell lies within another"
    );
    assert_eq!(
        (methods.as_array().unwrap().len(), nested.as_u64()),
        (3, Some(1))
    );
    let (text, methods, _) = row("two-sided");
    assert_eq!(
        (text.as_str(), methods.as_array().unwrap().len()),
        ("safe for solid: no (12 duplicate triangles)", 0)
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
        let mut run = place
            .run(&format!("a.stl {options} -n --json"))
            .expect(0)
            .json()["grid"]
            .clone();
        let _ = run.as_object_mut().unwrap().remove("pad");
        assert_eq!(
            place
                .run(&format!("check a.stl {options} --json"))
                .expect(0)
                .json()["grid"],
            run,
            "{options}"
        );
    }
}
