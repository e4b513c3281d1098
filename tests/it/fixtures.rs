//! The committed fixtures equal the output of their generator and the description in their table.

#[path = "../../examples/fixtures/mod.rs"]
pub mod made;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use made::{DEFECTS, Edges, FIXTURES, Fixture, Triangle};
use voxelize::Mesh;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn triangles_of(file: &str) -> Vec<Triangle> {
    let fixture: &Fixture = FIXTURES.iter().find(|f| f.file == file).expect(file);
    (fixture.make)()
}

#[test]
fn every_fixture_is_made_again_byte_by_byte() {
    for fixture in FIXTURES {
        let committed = std::fs::read(folder().join(fixture.file)).expect(fixture.file);
        assert!(
            committed == fixture.bytes(),
            "{}: cargo run --example make_fixtures",
            fixture.file
        );
        assert!(committed.len() < 300_000, "{} is large", fixture.file);
    }
    for fixture in DEFECTS {
        let committed =
            std::fs::read(folder().join("defects").join(fixture.file)).expect(fixture.file);
        assert!(
            committed == made::binary(&(fixture.make)()),
            "{}: make_fixtures",
            fixture.file
        );
    }
    let committed = std::fs::read_to_string(folder().join("README.md")).unwrap();
    assert_eq!(
        committed.replace("\r\n", "\n"),
        made::readme(),
        "cargo run --example make_fixtures"
    );
}

#[test]
fn no_mesh_lies_there_that_nothing_makes() {
    let names = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = names.filter(|name| name.ends_with(".stl")).collect();
    let known: BTreeSet<String> = FIXTURES.iter().map(|f| f.file.to_string()).collect();
    assert_eq!(found, known);
    assert!(known.len() >= 12);
}

#[test]
fn closed_fixtures_are_closed_oriented_and_not_inside_out() {
    for fixture in FIXTURES {
        let triangles = (fixture.make)();
        let open = ["open.stl", "slivers.stl"].contains(&fixture.file);
        let expected = Edges {
            closed: !open,
            oriented: !open,
        };
        assert_eq!(Edges::of(&triangles), expected, "{}", fixture.file);
        assert!(open || volume(&triangles) > 0.0, "{}", fixture.file);
    }
}

#[test]
fn volumes_match_the_shapes() {
    let bracket = 10.0 * 4.3 * 0.2 + 4.3 * (2.5 * 0.9 + 0.7 * 1.2 + 0.3 * 3.8)
        - 2.4 * 1.5 * 0.2
        - 0.3 * 0.9 * 1.3;
    let cad = 5.0 * 2.5 * 0.375 + 1.5 * 1.2 - 0.7 * 1.1 * 0.375;
    for (file, expected, within) in [
        ("cube.stl", 262_144.0, 0.0),
        ("prism.stl", 192.0, 0.0),
        ("octahedron.stl", 2048.0 / 3.0, 1e-9),
        ("degenerate.stl", 512.0, 1e-4),
        ("f.stl", 27.0, 0.0),
        ("bracket.stl", bracket, 1e-5),
        ("cad_bounds.stl", cad, 1e-5),
        ("sphere.stl", 4.0 / 3.0 * std::f64::consts::PI, 0.05),
    ] {
        let found = volume(&triangles_of(file));
        assert!(
            (found - expected).abs() <= within,
            "{file}: {found}, not {expected}"
        );
    }
}

#[test]
fn the_bracket_has_its_steps_at_the_nearest_floats() {
    let bracket = triangles_of("bracket.stl");
    for step in [0.0_f32, 0.3, 0.7, 2.5, 10.0] {
        let faces = bracket
            .iter()
            .filter(|t| t.iter().all(|vertex| vertex[0] == step))
            .count();
        assert!(faces >= 2, "no face at x = {step}");
    }
}

#[test]
fn triangles_without_area_are_counted() {
    for fixture in FIXTURES {
        let expected = if fixture.file == "degenerate.stl" {
            14
        } else {
            0
        };
        let mesh = Mesh::open(folder().join(fixture.file)).unwrap();
        assert_eq!(mesh.degenerate(), expected, "{}", fixture.file);
    }
}

/// Returns the signed volume by the divergence theorem.
fn volume(triangles: &[Triangle]) -> f64 {
    let six = triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(|vertex| vertex.map(f64::from));
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    });
    six.sum::<f64>() / 6.0
}
