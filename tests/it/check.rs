//! `voxelize check` finds every planted defect at its place, and nothing in sound meshes.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use voxelize::compare::check::{CheckOptions, DEFECTS, check};
use voxelize::{Code, Mesh, Voxels};

use crate::fixtures::made;
use crate::support::meshes::{fixtures, folder};
use crate::support::place::{Place, cuboid, stl};
use crate::support::random::Random;
use crate::support::rows;
use crate::support::solids::inside_out;

/// Copies a mesh with a planted defect.
fn plant(place: &Place, file: &str) {
    fs::copy(folder().join("defects").join(file), place.path(file)).unwrap();
}

#[test]
fn every_planted_defect_is_found_at_its_place() {
    let place = Place::new();
    let mut planted = BTreeSet::new();
    for fixture in made::DEFECTS {
        let mesh = fixture.file;
        plant(&place, mesh);
        let line = format!("check {mesh} {}", fixture.options);
        let json = place.run(&format!("{line} --json")).expect(0).json();
        let findings = json["findings"].as_array().unwrap();
        let mut expected = fixture.findings.to_vec();
        expected.sort();
        let mut found: Vec<_> = findings
            .iter()
            .map(|found| {
                let code = found["code"].as_str().unwrap();
                (code, found["count"].as_u64().unwrap())
            })
            .collect();
        found.sort();
        assert_eq!(found, expected, "{mesh}");

        let code = fixture.findings[0].0;
        planted.insert(code);
        let first = findings.iter().find(|found| found["code"] == code).unwrap();
        let [low, high] = fixture.within;
        let places = first["places"].as_array().unwrap();
        assert!(!places.is_empty() && first["more"] == 0, "{mesh}");
        for found in places {
            for axis in 0..3 {
                let at = found["at"][axis].as_f64().unwrap();
                let is_within = low[axis] - 1e-12 <= at && at <= high[axis] + 1e-12;
                assert!(is_within, "{mesh}: {found}");
            }
        }

        // The defects are marked as triangles and as cells.
        rows::check(
            &place,
            &format!(
                "0 {line} --mark mark.stl -q
                 0 {line} --mark mark.vox -q"
            ),
        );
        let marked = Mesh::open(place.path("mark.stl")).unwrap();
        assert!(!marked.triangles().is_empty(), "{mesh}");
        let voxels = Voxels::open(place.path("mark.vox")).unwrap();
        let labels = voxels.labels().unwrap();
        let label = code[2..].parse().unwrap();
        let count = labels.count(label);
        assert!(count > 0, "{mesh}");
        // Cells where triangles meet, but not all of their cells.
        if matches!(code, "M009" | "M010" | "M011") {
            let all = labels.occupied().count();
            assert!(count * 8 < all, "{mesh}: {count} of {all}");
        }
        let name = &labels.legend().get(label).unwrap().name;
        assert_eq!(name, first["name"].as_str().unwrap());
    }
    // STL does not number vertices.
    let of_stl = DEFECTS.iter().filter(|info| info.code != Code::M013);
    assert_eq!(planted.len(), of_stl.count(), "every code is planted");
}

#[test]
fn sound_fixtures_have_no_findings() {
    // Walls of 2.7e-16, as CAD programs write them, and triangles without area that close a T-junction.
    const NOT_SOUND: [&str; 4] = [
        "cad_bounds.stl",
        "degenerate.stl",
        "open.stl",
        "slivers.stl",
    ];
    let mut seen = 0;
    for (name, mesh) in fixtures() {
        let found = check(&mesh, &CheckOptions::default()).unwrap();
        assert_eq!(
            found.defects.is_empty(),
            !NOT_SOUND.contains(&name.as_str()),
            "{name}"
        );
        if found.defects.is_empty() {
            let all = [
                found.verdict.closed,
                found.verdict.oriented,
                found.verdict.manifold_3mf,
            ];
            assert!(
                all == [true; 3] && found.verdict.safe_methods.len() == 5,
                "{name}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen}");
}

/// Removes the numbers of triangles, which depend on the file.
fn without_numbers(text: &str) -> String {
    let line = |line: &str| match line.split_once("; triangle") {
        Some((before, after)) => format!(
            "{before};{}\n",
            after.split_once(';').map_or("", |(_, rest)| rest)
        ),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn orders_and_threads_change_nothing_but_numbers() {
    let place = Place::new();
    let mut random = Random(5);
    let mut seen = 0;
    let mut all = ["open.stl", "slivers.stl", "degenerate.stl", "knot.stl"]
        .map(|name| (name.to_string(), "-r 9"))
        .to_vec();
    for fixture in made::DEFECTS {
        all.push((format!("defects/{}", fixture.file), fixture.options));
    }
    for (name, options) in all {
        let mesh = Mesh::open(folder().join(&name)).unwrap();
        place.write("a.stl", stl(mesh.triangles()));
        let text = |threads: usize| {
            let line = format!("check a.stl --places 100 -j {threads} {options}");
            place.run(&line).expect(0).text().to_string()
        };
        let expected = text(1);
        assert_eq!([text(2), text(3)], [&*expected; 2], "{name}");
        let expected = without_numbers(&expected);
        for _ in 0..3 {
            place.write("a.stl", stl(&random.shuffled(mesh.triangles())));
            assert_eq!(without_numbers(&text(2)), expected, "{name}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn commands_agree_on_a_mesh() {
    let place = Place::new();
    let mut seen = [0; 2];
    let fixtures = made::FIXTURES
        .iter()
        .map(|fixture| fixture.file.to_string());
    let planted = made::DEFECTS
        .iter()
        .map(|fixture| format!("defects/{}", fixture.file));
    for name in fixtures.chain(planted) {
        let path = folder().join(&name).display().to_string();
        let runs = rows::check(
            &place,
            &format!(
                "0 check {path} --json
                 0 info {path} --json
                 0 {path} --solid -r 8 -o a.vox"
            ),
        );
        let verdict = &runs[0].json()["verdict"];
        let mesh = &runs[1].json()["mesh"];
        for key in ["closed", "oriented"] {
            assert_eq!(verdict[key], mesh[key], "{name}");
        }
        let is_sound = verdict["closed"] == true && verdict["oriented"] == true;
        let err = &runs[2].err;
        match err.lines().find(|line| line.starts_with("check ")) {
            Some(hint) => assert!(
                !is_sound && hint.contains("voxelize check "),
                "{name}: {err}"
            ),
            None => assert!(is_sound, "{name}: {err}"),
        }
        assert_eq!(
            err.contains("[W006]"),
            verdict["closed"] == false,
            "{name}: {err}"
        );
        seen[usize::from(is_sound)] += 1;
    }
    assert!(seen[0] >= 4 && seen[1] > 12, "{seen:?}");
    place.write("out.stl", stl(&inside_out(cuboid([1.0; 3]))));
    let runs = rows::check(
        &place,
        "0 out.stl --solid -r 8 -o a.vox
         0 check out.stl --json
             /verdict/safe_for_solid false",
    );
    assert!(runs[0].line("check ").contains("inside out"));
}

#[test]
fn lists_of_findings_are_limited() {
    let place = Place::new();
    let loose = (0..1500)
        .map(|n| n as f32)
        .map(|n| [[n, 0.0, 0.0], [n + 0.5, 0.0, 0.0], [n, 1.0, 0.0]]);
    place.write("loose.stl", stl(&loose.collect::<Vec<_>>()));
    plant(&place, "hole.stl");
    let runs = rows::check(
        &place,
        r#"0 check loose.stl --json
             /components_more 500
           0 check cube.stl --places 0 --json
             /findings []
           0 check hole.stl --places 0 --json
             /findings/0/count 3
             /findings/0/places []
             /findings/0/more 1
           0 check hole.stl --voxel-size 2 --json
             /findings/0/places/0/cell [1, 2, 0]
             /findings/0/places/0/component 0"#,
    );
    let components = runs[0].json()["components"].clone();
    assert_eq!(components.as_array().unwrap().len(), 1000);
}

#[test]
fn exit_codes_match_the_table() {
    let place = Place::new();
    plant(&place, "hole.stl");
    place.write("bad.stl", b"neither this nor that\n");
    place.write("none.stl", stl(&[]));
    rows::check(
        &place,
        r#"0 check cube.stl --strict
           7 check hole.stl bad.stl --strict
           4 check none.stl
           4 check none.stl -r 8
           3 check bad.stl
           5 check hole.stl --max-memory 1
           6 check hole.stl --mark missing/a.stl
           4 check hole.stl --strict --json
             /error/code "unfit"
             /findings/0/code "M004""#,
    );
    rows::refused(
        &place,
        "2 check
         2 check cube.stl --mark a.foo
         2 check cube.stl --mark a.npy --places x
         2 check cube.stl --stretch",
    );
}

/// Returns a box whose upper face has its own vertices, or shares the vertices of the other faces.
fn lidded(is_split: bool) -> (Vec<[u8; 3]>, Vec<[usize; 4]>) {
    let mut corners: Vec<_> = (0..8)
        .map(|n| [n & 1, n >> 1 & 1, n >> 2].map(|c| 2 * c))
        .collect();
    let mut faces = vec![
        [0, 2, 3, 1],
        [0, 1, 5, 4],
        [1, 3, 7, 5],
        [3, 2, 6, 7],
        [2, 0, 4, 6],
    ];
    if is_split {
        corners.extend_from_within(4..);
        faces.push([8, 9, 11, 10]);
    } else {
        faces.push([4, 5, 7, 6]);
    }
    (corners, faces)
}

#[test]
fn a_crack_is_an_edge_whose_vertices_the_file_does_not_share() {
    let place = Place::new();
    let mut seen = 0;
    for is_split in [false, true] {
        let (corners, faces) = lidded(is_split);
        let mut points = String::new();
        let mut vertices = String::new();
        for [x, y, z] in &corners {
            points += &format!("{x} {y} {z}\n");
            vertices += &format!("v {x} {y} {z}\n");
        }
        let mut listed = String::new();
        let mut polygons = String::new();
        for [a, b, c, d] in &faces {
            listed += &format!("4 {a} {b} {c} {d}\n");
            polygons += &format!("f {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
        }
        let count = corners.len();
        place.write("a.off", format!("OFF\n{count} 6 0\n{points}{listed}"));
        let head = format!(
            "ply\nformat ascii 1.0\nelement vertex {count}\nproperty float x\nproperty float y\n\
             property float z\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n"
        );
        place.write("a.ply", format!("{head}{points}{listed}"));
        place.write("a.obj", format!("{vertices}{polygons}"));
        for line in ["a.off", "a.ply", "a.obj", "a.obj --axes -x,y,z"] {
            let table = format!(
                "0 check {line} --json
                     /verdict/manifold_3mf {}
                     /verdict/closed true
                     /vertices/count 8",
                !is_split
            );
            let json = rows::check(&place, &table)[0].json();
            let findings = json["findings"].as_array().unwrap();
            let crack = findings.iter().find(|found| found["code"] == "M013");
            assert_eq!(crack.is_some(), is_split, "{line}: {json}");
            if let Some(found) = crack {
                let places = found["places"].as_array().unwrap();
                assert_eq!((&found["count"], places.len()), (&json!(4), 4));
                assert_eq!(places[0]["triangles"].as_array().unwrap().len(), 2);
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
    // A mesh created from numbered vertices. The coinciding vertices at the split edge are not reported as a
    // crack.
    let (corners, faces) = lidded(true);
    let points: Vec<[f32; 3]> = corners.iter().map(|corner| corner.map(f32::from)).collect();
    let triangles: Vec<[u32; 3]> = faces
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .map(|t| t.map(|n| n as u32))
        .collect();
    let mesh = Mesh::from_indexed(&points, &triangles).unwrap();
    let cracks = |mesh: &Mesh| {
        let found = check(mesh, &CheckOptions::default()).unwrap().defects;
        found
            .iter()
            .find(|defect| defect.info.code == Code::M013)
            .map_or(0, |defect| defect.count)
    };
    assert_eq!(cracks(&mesh), 0);
    let numbered = mesh.with_vertex_numbers(triangles.clone()).unwrap();
    assert_eq!(cracks(&numbered), 4);
    assert_eq!(
        cracks(&numbered.select(|n| n >= 4)),
        3,
        "without a side there are three"
    );
    assert!(numbered.with_vertex_numbers(vec![[0; 3]]).is_err());
}

#[test]
fn meshes_of_folders_are_checked_with_those_below() {
    let place = Place::new();
    for folder in ["all/below", "none"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    let hole = folder().join("defects/hole.stl");
    fs::copy(hole, place.path("all/below/open.stl")).unwrap();
    fs::copy(place.path("cube.stl"), place.path("all/cube.stl")).unwrap();
    rows::check(
        &place,
        r#"1 check all cube.stl --require closed --json
             /0/path "all/below/open.stl"
             /1/path "all/cube.stl"
             /2/path "cube.stl"
           3 check none
             err no mesh
           0 verify --update list.toml all -r 4
           0 verify list.toml
             out all/below/open.stl"#,
    );
}
