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
use crate::support::solids::{BOX_FACES, inside_out};

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

/// Box of an OBJ file: its name, its low and high corner, and the face that is left out.
type NamedBox<'a> = (&'a str, [f32; 3], [f32; 3], Option<usize>);

/// Returns an OBJ file of boxes.
fn boxes(all: &[NamedBox]) -> String {
    let mut text = String::new();
    for (n, (name, low, high, open)) in all.iter().enumerate() {
        text += &format!("o {name}\n");
        for corner in 0..8 {
            let of = |axis: usize| [low, high][corner >> axis & 1][axis];
            text += &format!("v {} {} {}\n", of(0), of(1), of(2));
        }
        for (face, corners) in BOX_FACES.iter().enumerate() {
            if Some(face) != *open {
                let [a, b, c, d] = corners.map(|corner| 8 * n + corner + 1);
                text += &format!("f {a} {b} {c} {d}\n");
            }
        }
    }
    text
}

#[test]
fn each_object_of_a_file_is_judged_alone() {
    let place = Place::new();
    // Two boxes that share a face, and one without a lid.
    let shared = [
        ("body", [0.0; 3], [2.0; 3], None),
        ("lid", [0.0, 0.0, 2.0], [2.0, 2.0, 3.0], None),
    ];
    place.write("shared.obj", boxes(&shared));
    let open = ("tray", [5.0, 0.0, 0.0], [6.0, 1.0, 1.0], Some(1));
    place.write("tray.obj", boxes(&[shared[0], open, shared[1]]));
    // Two halves of one body are open alone.
    place.write(
        "halves.obj",
        boxes(&[
            ("low", [0.0; 3], [2.0; 3], Some(1)),
            ("high", [0.0, 0.0, 2.0], [2.0, 2.0, 3.0], Some(0)),
        ]),
    );
    let runs = rows::check(
        &place,
        r#"0 check shared.obj --require closed,oriented,manifold,solid
             line 1 verdict shared.obj passes: 2 objects, each closed, oriented, manifold, safe for solid
             out object  body: closed
             out between 4 pairs of triangles that overlap in one plane, of different objects
           0 check shared.obj --json --strict
             /objects/0/name "body"
             /objects/1/name "lid"
             /objects/1/volume 4.0
             /objects/1/verdict/manifold_3mf true
             /verdict/manifold_3mf true
             /verdict/safe_methods ["auto","nonzero"]
             /between/0/code "M011"
             /findings []
             /components/1/volume 4.0
           1 check tray.obj --require manifold
             line 1 verdict tray.obj fails: 1 of 3 objects is unfit: tray is not closed, not oriented, not manifold, not safe for solid (4 open edges)
             out M004    tray: warning: 4 open edges
             out component 1
           0 check tray.obj --require manifold --only lid --only body
             line 1 verdict tray.obj, lid, body passes: 2 objects, each closed, oriented, manifold, safe for solid
           4 check tray.obj --only cover
             err its parts are body, tray, lid
           1 check tray.obj --require closed --json
             /findings/0/count 4
             /objects/0/findings []
             /objects/1/findings/0/code "M004"
             /objects/1/verdict/closed false
             /objects/2/verdict/closed true
             /verdict/closed false
           0 check halves.obj --require closed,solid
             line 1 verdict halves.obj passes: closed, oriented, safe for solid; not manifold (4 edges whose vertices have equal coordinates but different indices)
           0 check tray.obj --mark bad.stl -q
             file bad.stl
           0 check tray.obj -r 12 --mark bad.vox -q"#,
    );
    assert_eq!(runs[5].json()["objects"].as_array().unwrap().len(), 3);
    let marked = Mesh::open(place.path("bad.stl")).unwrap();
    let tray = Mesh::open(place.path("tray.obj")).unwrap();
    assert!(!marked.triangles().is_empty());
    for triangle in marked.triangles() {
        let n = tray.triangles().iter().position(|other| other == triangle);
        assert!((12..22).contains(&n.unwrap()), "{n:?}");
    }
}

#[test]
fn junit_of_a_check_has_a_test_for_every_object() {
    let place = Place::new();
    place.write(
        "tray.obj",
        boxes(&[
            ("body", [0.0; 3], [2.0; 3], None),
            ("a<b", [5.0, 0.0, 0.0], [6.0, 1.0, 1.0], Some(1)),
        ]),
    );
    place.write("bad.stl", b"neither this nor that\n");
    rows::check(
        &place,
        "7 check tray.obj cube.stl bad.stl --require closed --junit report.xml
             file report.xml
         0 check cube.stl --junit other.xml
         2 check cube.stl --junit cube.stl",
    );
    let xml = fs::read_to_string(place.path("report.xml")).unwrap();
    let lines = [
        r#"<testsuite name="voxelize check" tests="4" failures="1" errors="1""#,
        r#"<testcase classname="tray.obj" name="body" file="tray.obj""#,
        r#"<testcase classname="tray.obj" name="a&lt;b" file="tray.obj""#,
        r#"<failure type="unfit" message="--require: not closed: 4 open edges">"#,
        r#"<testcase classname="cube.stl" name="cube.stl" file="cube.stl""#,
        r#"<error type="failed""#,
    ];
    for line in lines {
        assert!(xml.contains(line), "{line}\n{xml}");
    }
}

#[test]
fn walls_thinner_than_a_length_fail() {
    let place = Place::new();
    // Of a wedge, the middle is 1.1 thick and its thin end 0.2.
    let mut wedge = cuboid([20.0, 10.0, 0.2]);
    for corner in wedge.iter_mut().flatten() {
        if corner[2] > 0.0 && corner[0] > 0.0 {
            corner[2] = 2.0;
        }
    }
    place.write("wedge.stl", stl(&wedge));
    // A wall of 0.8 mm whose coordinates are rounded: 11.4 - 10.6 is less than 0.8 in 32 bits.
    let mut wall = cuboid([5.0, 5.0, 0.8]);
    for corner in wall.iter_mut().flatten() {
        corner[2] = if corner[2] > 0.0 { 11.4 } else { 10.6 };
    }
    assert!(f64::from(11.4_f32) - f64::from(10.6_f32) < 0.8);
    place.write("wall.stl", stl(&wall));
    rows::check(
        &place,
        r#"1 check wedge.stl --min-wall 0.4
             line 1 verdict wedge.stl fails: closed, oriented, manifold, safe for solid; 4 triangles of thin walls
             out failed  --min-wall 0.4: 4 triangles of thin walls, the thinnest 0.2
             out , thinner than 0.4, computed
           0 check wedge.stl --min-wall 0.2
             line 1 verdict wedge.stl passes: closed, oriented, manifold, safe for solid
           0 check wall.stl --min-wall 0.8mm --unit mm
             out walls are measured at points of all triangles
           1 check wall.stl --min-wall 0.81mm --unit mm --json
             /min_wall 0.81
             /unit "mm"
             /findings/0/code "M012"
             /status "failed"
           1 check wall.stl --min-wall 0.81 --max-pairs 0
             out --min-wall 0.81:
           2 check wall.stl --min-wall 0.8mm
             err the unit of the file is unknown
           2 check wall.stl --min-wall 0
             err a wall has a positive thickness
           2 check wall.stl --min-wall thin"#,
    );
}
