//! Closing holes on the command line.

use std::fs;

use serde_json::{Value, json};
use voxelize::format::FORMATS;
use voxelize::rule::leak_path::leak_path;
use voxelize::{Inside, Lattice, Mesh, Rule, Run, Voxels};

use super::without;
use crate::support::meshes::fixture;
use crate::support::place::{Place, refused, stl};

/// Creates `holed.stl`, a sphere without one triangle, and `torn.stl`, a sphere without several.
fn with_holes() -> Place {
    let place = Place::new();
    let sphere = fixture("sphere.stl");
    place.write("holed.stl", stl(without(&sphere, |n| n == 100).triangles()));
    place.write(
        "torn.stl",
        stl(without(&sphere, |n| n % 97 == 3).triangles()),
    );
    place
}

/// Returns the number of cells that the first warning advises for `--close-holes`.
fn advised(json: &Value) -> Option<u32> {
    let hint = json["warnings"][0]["hint"].as_str()?;
    let (_, number) = hint.split_once("--close-holes ")?;
    number.split(' ').next()?.parse().ok()
}

#[test]
fn the_command_closes_holes_and_reports_it() {
    let place = with_holes();
    let base = "holed.stl -r 128 --inside flood";
    let leaky = place
        .run(&format!("{base} --filled -o a.npz --json"))
        .expect(0)
        .json();
    assert_eq!(leaky["warnings"][0]["code"], "W007");
    let n = advised(&leaky).expect("it is worth closing");
    assert!((2..=16).contains(&n), "{leaky}");
    for key in ["close_holes", "closed_holes", "leak_path"] {
        assert!(leaky["inside"].get(key).is_none(), "{key}");
    }
    for (close, closed) in [(n - 1, 0), (n, 1), (n + 1, 1)] {
        for format in FORMATS.iter().filter(|format| format.is_readable()) {
            let output = format!("{close}.{}", format.name);
            let line =
                format!("{base} --filled --close-holes {close} -o {output} --sidecar --json");
            let report = place.run(&line).expect(0).json();
            assert_eq!(
                (&report["inside"]["used"], &report["inside"]["requested"]),
                (&json!("flood"), &json!("flood"))
            );
            assert_eq!(report["inside"]["close_holes"], close, "{line}");
            assert_eq!(report["inside"]["closed_holes"], closed, "{line}");
            assert_eq!(
                report["inside"].get("leak").is_none(),
                closed == 1,
                "{line}"
            );
            assert_eq!(
                report["warnings"].as_array().unwrap().is_empty(),
                closed == 1,
                "{line}"
            );
            assert_eq!(report["digest"] == leaky["digest"], closed == 0, "{line}");
            let record = Voxels::open(place.path(&output)).unwrap().record;
            let requested = Rule::filled()
                .with_inside(Inside::Flood {
                    close_holes: Some(close),
                })
                .unwrap();
            assert_eq!(Rule::from_record(&record), Some(requested));
            let info: Value = place.run(&format!("info {output} --json")).expect(0).json();
            assert_eq!(
                info["close_holes"].to_string().trim_matches('"'),
                close.to_string(),
                "{info}"
            );
            // The record reproduces the cells, and other cells are detected.
            place.run(&format!("verify {output} holed.stl")).expect(0);
        }
    }
    let run = place
        .run(&format!("{base} --solid --close-holes {n} -o c.npz -n -v"))
        .expect(0);
    assert!(
        run.err.contains("--close-holes") && !place.path("c.npz").exists(),
        "{}",
        run.err
    );
    // A long hole is reported with its size as well, and the largest of several holes counts.
    let json = |line: &str| {
        place
            .run(&format!("{line} -o d.npz --json"))
            .expect(0)
            .json()
    };
    let long = json("holed.stl -r 400 --inside flood --filled");
    let n = advised(&long).filter(|n| *n > 16).expect("it is long");
    assert_eq!(
        json(&format!(
            "holed.stl -r 400 --inside flood --filled --close-holes {n}"
        ))["warnings"],
        json!([])
    );
    let n =
        advised(&json("torn.stl -r 64 --inside flood --filled")).expect("they are worth closing");
    let line = |n| format!("torn.stl -r 64 --inside flood --filled --close-holes {n}");
    assert_eq!(json(&line(n))["warnings"], json!([]));
    assert_eq!(json(&line(n - 1))["warnings"][0]["code"], "W007");
    assert_eq!(
        place
            .run("cube.stl -r 8 --filled --inside flood --close-holes 2 --json")
            .expect(0)
            .json()["inside"]["closed_holes"],
        0
    );
}

#[test]
fn lists_of_goldens_take_closed_holes() {
    let place = with_holes();
    let options = "-r 128 --filled --inside flood --close-holes 12";
    place
        .run(&format!("verify --update g.toml holed.stl {options}"))
        .expect(0);
    assert!(
        fs::read_to_string(place.path("g.toml"))
            .unwrap()
            .contains("close-holes = 12")
    );
    place.run("verify g.toml").expect(0);
    place
        .run(&format!("holed.stl {options} -o a.npz"))
        .expect(0);
    let error = refused(&place, "verify --update a.npz holed.stl", 2);
    assert!(error.contains("a.npz"), "{error}");
    let hint = place.run("verify --update a.npz holed.stl").err;
    assert!(hint.contains("--inside flood --close-holes 12"), "{hint}");
}

#[test]
fn the_way_in_is_a_file_in_every_format() {
    let place = with_holes();
    let mesh = Mesh::open(place.path("torn.stl")).unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 64).unwrap();
    let expected = leak_path(&mesh, &lattice, Inside::flood(), &Run::default()).unwrap();
    assert!(expected.count() > 20, "{}", expected.count());
    for format in FORMATS.iter().filter(|format| format.is_readable()) {
        let leak = format!("leak.{}", format.name);
        let report = place.run(&format!(
            "torn.stl -r 64 --solid --inside flood --leak {leak} -o a.npz --json"
        ));
        let report = report.expect(0).json();
        assert_eq!(
            report["inside"]["leak_path"],
            json!({"cells": expected.count()})
        );
        let paths = [&report["outputs"][0]["path"], &report["outputs"][1]["path"]];
        assert_eq!(paths, ["a.npz", leak.as_str()]);
        assert!(
            Voxels::open(place.path(&leak))
                .unwrap()
                .into_occupied()
                .unwrap()
                == expected,
            "{leak}"
        );
        // Without leaks there are no cells, and the run succeeds.
        for line in ["cube.stl -r 9", "torn.stl -r 64 --close-holes 16"] {
            let run = place
                .run(&format!(
                    "{line} --filled --inside flood --leak {leak} -o a.npz"
                ))
                .expect(0);
            assert!(run.err.contains(&leak), "{}", run.err);
            assert_eq!(
                Voxels::open(place.path(&leak)).unwrap().count(),
                0,
                "{line}"
            );
        }
    }
    let line = "torn.stl -r 64 --filled --inside flood --leak b.vox --doubt c.vox -o a.npz --json";
    let json = place.run(line).expect(0).json();
    assert_eq!(json["inside"]["leak_path"]["cells"], expected.count());
    assert!(json["doubt"]["cells"].as_u64() > Some(0), "{json}");
    for (name, count) in [("b.vox", Some(expected.count())), ("c.vox", None)] {
        let found = Voxels::open(place.path(name)).unwrap().count();
        assert!(
            found > 0 && count.is_none_or(|count| count == found),
            "{name}"
        );
    }
}

#[test]
fn contradictory_options_are_refused_and_nothing_is_left() {
    let place = with_holes();
    let before = place.files();
    for line in [
        "holed.stl --close-holes 2",
        "holed.stl --solid --close-holes 2",
        "holed.stl --filled --inside robust --close-holes 2",
        "holed.stl --filled --inside flood --close-holes 0",
        "holed.stl --filled --inside flood --close-holes -1",
        "holed.stl --filled --inside flood --close-holes 2.5",
        "holed.stl --leak l.vox",
        "holed.stl --filled --inside evenodd --leak l.vox",
        "holed.stl --filled --inside flood --leak l.foo",
        "holed.stl --filled --inside flood --leak -",
        "holed.stl --filled --inside flood --leak l.vox -o l.vox",
        "holed.stl --filled --inside flood --leak l.vox --doubt l.vox",
        "holed.stl --filled --inside flood --leak l.raw --json=l.raw.json",
        "holed.stl --filled --inside flood --leak l.vox --json=l.vox",
        "holed.stl cube.stl --filled --inside flood --leak l.vox -o out/",
    ] {
        refused(&place, line, 2);
    }
    fs::copy(place.path("holed.stl"), place.path("mesh.vox")).unwrap();
    refused(
        &place,
        "mesh.vox --filled --inside flood --leak mesh.vox -o a.npz",
        2,
    );
    fs::remove_file(place.path("mesh.vox")).unwrap();
    refused(
        &place,
        "holed.stl --filled --inside flood --leak none/l.vox -o a.npz",
        6,
    );
    let limited = "holed.stl -r 500 --filled --inside flood -o a.npz --max-memory";
    refused(&place, &format!("{limited} 100M --leak l.vox"), 5);
    place.run(&format!("{limited} 100M -n")).expect(0);
    place
        .run(&format!("{limited} 200M --leak l.vox -n"))
        .expect(0);
    assert_eq!(place.files(), before);
}

#[test]
fn a_grid_that_cuts_the_mesh_is_warned_of() {
    let place = Place::new();
    place.write("sphere.stl", stl(fixture("sphere.stl").triangles()));
    let base = "sphere.stl --filled --inside flood --voxel-size 0.1 -o a.npz --json";
    for (options, cut) in [
        ("", false),
        (" --pad 2", false),
        (" --bounds -1,-1,-1,0.5,1,1", true),
    ] {
        let report = place.run(&format!("{base}{options}")).expect(0).json();
        let warned = report["warnings"][0]["code"] == "W007";
        assert_eq!(
            (warned, report["inside"].get("leak").is_some()),
            (cut, false),
            "{options}: {report}"
        );
    }
}
