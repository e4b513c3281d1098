//! `voxelize check` finds every planted defect at its place, and nothing in sound meshes.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use voxelize::compare::check::{CheckOptions, DEFECTS, check};
use voxelize::{Code, Mesh, Voxels};

use crate::fixtures::made;
use crate::support::meshes::{fixtures, folder};
use crate::support::place::{Place, refused, stl};
use crate::support::random::Random;

fn planted(place: &Place, file: &str) -> String {
    let path = folder().join("defects").join(file);
    fs::copy(path, place.path(file)).unwrap();
    file.to_string()
}

#[test]
fn every_planted_defect_is_found_at_its_place() {
    let place = Place::new();
    let mut found = BTreeSet::new();
    for fixture in made::DEFECTS {
        let mesh = planted(&place, fixture.file);
        let json = place
            .run(&format!("check {mesh} {} --json", fixture.options))
            .expect(0)
            .json();
        let findings = json["findings"].as_array().unwrap();
        let counted = |finding: &Value| (finding["code"].clone(), finding["count"].clone());
        let expected: BTreeSet<String> = fixture
            .findings
            .iter()
            .map(|(code, count)| format!("{:?}", (json!(code), json!(count))))
            .collect();
        let codes: BTreeSet<String> = findings
            .iter()
            .map(|f| format!("{:?}", counted(f)))
            .collect();
        assert_eq!(codes, expected, "{mesh}");
        let first = findings
            .iter()
            .find(|finding| finding["code"] == fixture.findings[0].0)
            .unwrap();
        let [low, high] = fixture.within;
        let places = first["places"].as_array().unwrap();
        assert!(!places.is_empty() && first["more"] == 0, "{mesh}");
        for at in places.iter().map(|place| &place["at"]) {
            let at: [f64; 3] = [0, 1, 2].map(|a| at[a].as_f64().unwrap());
            let is_within = (0..3).all(|a| low[a] - 1e-12 <= at[a] && at[a] <= high[a] + 1e-12);
            assert!(is_within, "{mesh}: {at:?}");
        }
        found.insert(fixture.findings[0].0);
        // The defects are marked as triangles and as cells.
        let marked = format!("{mesh}.mark.stl");
        place
            .run(&format!(
                "check {mesh} {} --mark {marked} -q",
                fixture.options
            ))
            .expect(0);
        assert!(
            !Mesh::open(place.path(&marked))
                .unwrap()
                .triangles()
                .is_empty(),
            "{mesh}"
        );
        place
            .run(&format!(
                "check {mesh} {} --mark bad.vox -q",
                fixture.options
            ))
            .expect(0);
        let voxels = Voxels::open(place.path("bad.vox")).unwrap();
        let label = fixture.findings[0].0[2..].parse().unwrap();
        let labels = voxels.labels().unwrap();
        assert!(labels.count(label) > 0, "{mesh}");
        // Cells where triangles meet, but not all of their cells.
        if matches!(fixture.findings[0].0, "M009" | "M010" | "M011") {
            let all = labels.occupied().count();
            assert!(
                labels.count(label) * 8 < all,
                "{mesh}: {} of {all}",
                labels.count(label)
            );
        }
        assert_eq!(
            labels.legend().get(label).unwrap().name,
            first["name"].as_str().unwrap()
        );
    }
    // STL does not number vertices.
    let all = DEFECTS
        .iter()
        .filter(|info| info.code != Code::M013)
        .count();
    assert_eq!(found.len(), all, "every code is planted");
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
    let all = made::DEFECTS
        .iter()
        .map(|fixture| (format!("defects/{}", fixture.file), fixture.options));
    let others = ["open.stl", "slivers.stl", "degenerate.stl", "knot.stl"]
        .map(|name| (name.to_string(), "-r 9"));
    for (name, options) in all.chain(others) {
        let mesh = Mesh::open(folder().join(&name)).unwrap();
        place.write("a.stl", stl(mesh.triangles()));
        let text = |threads: usize| {
            let run = place
                .run(&format!("check a.stl --places 100 -j {threads} {options}"))
                .expect(0);
            run.text().to_string()
        };
        let expected = text(1);
        assert_eq!(text(2), expected, "{name}");
        assert_eq!(text(3), expected, "{name}");
        for _ in 0..3 {
            place.write("a.stl", stl(&random.shuffled(mesh.triangles())));
            assert_eq!(
                without_numbers(&text(2)),
                without_numbers(&expected),
                "{name}"
            );
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn commands_agree_on_a_mesh() {
    let place = Place::new();
    let mut seen = [0; 2];
    let names = made::FIXTURES
        .iter()
        .map(|fixture| fixture.file.to_string());
    let planted = made::DEFECTS
        .iter()
        .map(|fixture| format!("defects/{}", fixture.file));
    for name in names.chain(planted) {
        let path = folder().join(&name).display().to_string();
        let verdict =
            place.run(&format!("check {path} --json")).expect(0).json()["verdict"].clone();
        let info = place.run(&format!("info {path} --json")).expect(0).json()["mesh"].clone();
        assert_eq!(
            [&verdict["closed"], &verdict["oriented"]],
            [&info["closed"], &info["oriented"]],
            "{name}"
        );
        let fill = place
            .run(&format!("{path} --solid -r 8 -o a.vox"))
            .expect(0);
        let is_sound = verdict["closed"] == true && verdict["oriented"] == true;
        let hint = fill.err.lines().find(|line| line.starts_with("check "));
        assert_eq!(hint.is_none(), is_sound, "{name}: {hint:?}");
        assert!(
            hint.is_none_or(|hint| hint.contains("voxelize check ")),
            "{hint:?}"
        );
        assert_eq!(
            fill.err.contains("[W006]"),
            verdict["closed"] == false,
            "{name}: {}",
            fill.err
        );
        seen[usize::from(is_sound)] += 1;
    }
    assert!(seen[0] >= 4 && seen[1] > 12, "{seen:?}");
    place.write(
        "out.stl",
        stl(&crate::support::solids::inside_out(
            crate::support::place::cuboid([1.0; 3]),
        )),
    );
    let fill = place.run("out.stl --solid -r 8 -o a.vox").expect(0);
    assert!(fill.line("check ").contains("inside out"), "{}", fill.err);
    assert_eq!(
        place.run("check out.stl --json").expect(0).json()["verdict"]["safe_for_solid"],
        false
    );
}

#[test]
fn a_soup_has_a_thousand_components_in_its_json() {
    let place = Place::new();
    let loose = (0..1500)
        .map(|n| n as f32)
        .map(|n| [[n, 0.0, 0.0], [n + 0.5, 0.0, 0.0], [n, 1.0, 0.0]]);
    place.write("loose.stl", stl(&loose.collect::<Vec<_>>()));
    let json = place.run("check loose.stl --json").expect(0).json();
    assert_eq!(json["components"].as_array().unwrap().len(), 1000);
    assert_eq!(json["components_more"], 500);
}

#[test]
fn json_has_its_keys() {
    let place = Place::new();
    let mesh = planted(&place, "hole.stl");
    let json = place
        .run(&format!("check {mesh} --voxel-size 2 --json"))
        .expect(0)
        .json();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        keys(&json),
        "schema tool command status exit_code path format bytes mesh vertices grid findings components components_more verdict warnings outputs"
    );
    let finding = &json["findings"][0];
    assert_eq!(
        keys(finding),
        "code name severity count at_least effect exact places more"
    );
    assert_eq!(
        (&finding["code"], &finding["exact"]),
        (&json!("M004"), &json!(true))
    );
    let at = &finding["places"][0];
    assert_eq!(keys(at), "at triangles component cell length edges");
    assert_eq!(
        (&at["component"], &at["edges"], &at["cell"][2]),
        (&json!(0), &json!(3), &json!(0))
    );
    assert_eq!(
        keys(&json["verdict"]),
        "closed oriented manifold_3mf safe_for_solid safe_methods nested_shells"
    );
    assert_eq!(
        keys(&json["components"][0]),
        "triangles bounds area volume closed oriented"
    );
    assert_eq!(json["vertices"], json!({"count": 8, "equal_by": "bits"}));
    let lines = place
        .run(&format!("check {mesh} cube.stl --json"))
        .expect(0);
    assert_eq!(lines.text().lines().count(), 2);
    let limited = place
        .run("check cube.stl --places 0 --json")
        .expect(0)
        .json();
    assert_eq!(limited["findings"], json!([]));
    let limited = place
        .run(&format!("check {mesh} --places 0 --json"))
        .expect(0)
        .json();
    let finding = &limited["findings"][0];
    assert_eq!(
        (&finding["count"], &finding["places"], &finding["more"]),
        (&json!(3), &json!([]), &json!(1))
    );
}

#[test]
fn exit_codes_match_the_table() {
    let place = Place::new();
    for file in ["hole.stl", "needles.stl"] {
        planted(&place, file);
    }
    place.write("bad.stl", b"neither this nor that\n");
    place.write("none.stl", stl(&[]));
    for (line, code) in [
        ("check cube.stl", 0),
        ("check cube.stl --strict", 0),
        ("check hole.stl", 0),
        ("check hole.stl --strict", 4),
        ("check needles.stl --strict -q", 4),
        ("check hole.stl needles.stl --strict", 4),
        ("check hole.stl bad.stl --strict", 7),
        ("check none.stl", 4),
        ("check none.stl -r 8", 4),
        ("check missing.stl", 3),
        ("check bad.stl", 3),
        ("check hole.stl --max-memory 1", 5),
        ("check hole.stl --mark missing/a.stl", 6),
    ] {
        place.run(line).expect(code);
    }
    let strict = place.run("check hole.stl --strict --json").expect(4).json();
    assert_eq!(
        (&strict["error"]["code"], &strict["findings"][0]["code"]),
        (&json!("unfit"), &json!("M004"))
    );
    assert!(
        place
            .run("check hole.stl --strict")
            .expect(4)
            .text()
            .contains("failed  --strict: M004")
    );
    for line in [
        "check",
        "check cube.stl --mark cube.stl",
        "check cube.stl hole.stl --mark a.stl",
        "check cube.stl --mark a.foo",
        "check cube.stl --mark a.npy --places x",
        "check cube.stl --stretch",
    ] {
        refused(&place, line, 2);
    }
}

/// Returns a box whose upper face has its own vertices, or shares the vertices of the other faces.
fn lidded(is_split: bool) -> (Vec<[u8; 3]>, Vec<[usize; 4]>) {
    let mut corners = vec![
        [0, 0, 0],
        [2, 0, 0],
        [2, 2, 0],
        [0, 2, 0],
        [0, 0, 2],
        [2, 0, 2],
        [2, 2, 2],
        [0, 2, 2],
    ];
    let mut faces = vec![
        [0, 3, 2, 1],
        [0, 1, 5, 4],
        [1, 2, 6, 5],
        [2, 3, 7, 6],
        [3, 0, 4, 7],
    ];
    faces.push(if is_split {
        [8, 9, 10, 11]
    } else {
        [4, 5, 6, 7]
    });
    if is_split {
        corners.extend_from_within(4..);
    }
    (corners, faces)
}

#[test]
fn a_crack_is_an_edge_whose_vertices_the_file_does_not_share() {
    let place = Place::new();
    let words = |numbers: &[usize], more: usize| {
        numbers
            .iter()
            .map(|n| (n + more).to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut seen = 0;
    for is_split in [false, true] {
        let (corners, faces) = lidded(is_split);
        let points: String = corners
            .iter()
            .map(|[x, y, z]| format!("{x} {y} {z}\n"))
            .collect();
        let listed: String = faces
            .iter()
            .map(|face| format!("4 {}\n", words(face, 0)))
            .collect();
        place.write(
            "a.off",
            format!("OFF\n{} 6 0\n{points}{listed}", corners.len()),
        );
        place.write("a.ply", format!(
            "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
             element face 6\nproperty list uchar int vertex_indices\nend_header\n{points}{listed}", corners.len()));
        let vertices: String = corners
            .iter()
            .map(|[x, y, z]| format!("v {x} {y} {z}\n"))
            .collect();
        let polygons: String = faces
            .iter()
            .map(|face| format!("f {}\n", words(face, 1)))
            .collect();
        place.write("a.obj", vertices + &polygons);
        place.run("a.obj -r 8 -o a.vox").expect(0);
        for line in ["a.off", "a.ply", "a.obj", "a.obj --axes -x,y,z"] {
            let json = place.run(&format!("check {line} --json")).expect(0).json();
            let cracks = json["findings"]
                .as_array()
                .unwrap()
                .iter()
                .find(|found| found["code"] == "M013");
            assert_eq!(
                cracks.map(|found| found["count"].clone()),
                is_split.then(|| json!(4)),
                "{line}: {json}"
            );
            assert_eq!(json["verdict"]["manifold_3mf"], json!(!is_split), "{line}");
            assert_eq!(
                (&json["verdict"]["closed"], &json["vertices"]["count"]),
                (&json!(true), &json!(8))
            );
            if let Some(found) = cracks {
                assert_eq!(found["places"].as_array().unwrap().len(), 4);
                assert_eq!(found["places"][0]["triangles"].as_array().unwrap().len(), 2);
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
    let file = planted(&place, "hole.stl");
    fs::rename(place.path(&file), place.path("all/below/open.stl")).unwrap();
    fs::copy(place.path("cube.stl"), place.path("all/cube.stl")).unwrap();
    let run = place
        .run("check all cube.stl --require closed --json")
        .expect(1);
    let path = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["path"]
            .as_str()
            .unwrap()
            .to_string()
    };
    let names: Vec<_> = run.text().lines().map(path).collect();
    assert_eq!(names, ["all/below/open.stl", "all/cube.stl", "cube.stl"]);
    assert!(place.run("check none").expect(3).err.contains("no mesh"));
    place.run("verify --update list.toml all -r 4").expect(0);
    assert!(
        place
            .run("verify list.toml")
            .expect(0)
            .text()
            .contains("all/below/open.stl")
    );
}
