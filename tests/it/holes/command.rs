//! Closing holes on the command line.

use std::fs;

use serde_json::Value;
use voxelize::format::FORMATS;
use voxelize::rule::leak_path::leak_path;
use voxelize::{Inside, Lattice, Mesh, Rule, Run, Voxels};

use super::without;
use crate::support::meshes::fixture;
use crate::support::place::{Place, stl};
use crate::support::rows::{check, refused};

/// Creates `holed.stl`, a sphere without one triangle, and `torn.stl`, a sphere without several.
fn with_holes() -> Place {
    let place = Place::new();
    let sphere = fixture("sphere.stl");
    let holed = without(&sphere, |n| n == 100);
    let torn = without(&sphere, |n| n % 97 == 3);
    place.write("holed.stl", stl(holed.triangles()));
    place.write("torn.stl", stl(torn.triangles()));
    place
}

/// Fills a mesh and returns the report.
fn filled(place: &Place, options: &str) -> Value {
    let line = format!("{options} --inside flood --filled -o d.npz --json");
    place.run(&line).expect(0).json()
}

/// Returns the number of cells that the first warning advises for `--close-holes`.
fn advised(json: &Value) -> u32 {
    let hint = json["warnings"][0]["hint"].as_str().expect("a hint");
    let (_, number) = hint.split_once("--close-holes ").expect("a number");
    number.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn the_command_closes_holes_and_reports_it() {
    let place = with_holes();
    let leaky = filled(&place, "holed.stl -r 128");
    let n = advised(&leaky);
    assert!((2..=16).contains(&n), "{leaky}");
    for key in ["close_holes", "closed_holes", "leak_path"] {
        assert!(leaky["inside"].get(key).is_none(), "{key}");
    }
    for (close, closed) in [(n - 1, 0), (n, 1), (n + 1, 1)] {
        let effects = if closed == 1 {
            "no out W007
             /warnings []
             no out \"leak\""
        } else {
            "out \"leak\"
             /warnings/0/code \"W007\""
        };
        for format in FORMATS.iter().filter(|format| format.is_readable()) {
            let output = format!("{close}.{}", format.name);
            // The record reproduces the cells.
            let runs = check(
                &place,
                &format!(
                    "0 holed.stl -r 128 --inside flood --filled --close-holes {close} -o {output} --sidecar --json
                        /inside/used \"flood\"
                        /inside/requested \"flood\"
                        /inside/close_holes {close}
                        /inside/closed_holes {closed}
                        {effects}
                     0 info {output} --json
                     0 verify {output} holed.stl"
                ),
            );
            let is_leaky = runs[0].json()["digest"] == leaky["digest"];
            assert_eq!(is_leaky, closed == 0, "{output}");
            let info = runs[1].json()["close_holes"].to_string();
            assert_eq!(info.trim_matches('"'), close.to_string());
            let record = Voxels::open(place.path(&output)).unwrap().record;
            let close_holes = Some(close);
            let requested = Rule::filled().with_inside(Inside::Flood { close_holes });
            assert_eq!(Rule::from_record(&record), requested.ok());
        }
    }
    // A long hole is reported with its size as well, and the largest of several holes counts.
    let long = advised(&filled(&place, "holed.stl -r 400"));
    assert!(long > 16, "{long}");
    let closed = filled(&place, &format!("holed.stl -r 400 --close-holes {long}"));
    assert_eq!(closed["warnings"].as_array().unwrap().len(), 0);
    let n = advised(&filled(&place, "torn.stl -r 64"));
    let closed = filled(&place, &format!("torn.stl -r 64 --close-holes {n}"));
    assert_eq!(closed["warnings"].as_array().unwrap().len(), 0);
    let open = filled(&place, &format!("torn.stl -r 64 --close-holes {}", n - 1));
    assert_eq!(open["warnings"][0]["code"], "W007");
    let whole = filled(&place, "cube.stl -r 8 --close-holes 2");
    assert_eq!(whole["inside"]["closed_holes"], 0);
}

#[test]
fn lists_of_goldens_take_closed_holes() {
    let place = with_holes();
    check(
        &place,
        "
        0 verify --update g.toml holed.stl -r 128 --filled --inside flood --close-holes 12
        0 verify g.toml
        0 holed.stl -r 128 --filled --inside flood --close-holes 12 -o a.npz
        2 verify --update a.npz holed.stl
            err a.npz
            err --inside flood --close-holes 12
        ",
    );
    let list = fs::read_to_string(place.path("g.toml")).unwrap();
    assert!(list.contains("close-holes = 12"), "{list}");
}

#[test]
fn the_way_in_is_a_file_in_every_format() {
    let place = with_holes();
    let mesh = Mesh::open(place.path("torn.stl")).unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 64).unwrap();
    let expected = leak_path(&mesh, &lattice, Inside::flood(), &Run::default()).unwrap();
    assert!(expected.count() > 20, "{}", expected.count());
    let count = |name: &str| Voxels::open(place.path(name)).unwrap().count();
    for format in FORMATS.iter().filter(|format| format.is_readable()) {
        let leak = format!("leak.{}", format.name);
        check(
            &place,
            &format!(
                "0 torn.stl -r 64 --solid --inside flood --leak {leak} -o a.npz --json
                    /inside/leak_path {{\"cells\": {}}}
                    /outputs/0/path \"a.npz\"
                    /outputs/1/path \"{leak}\"",
                expected.count()
            ),
        );
        let found = Voxels::open(place.path(&leak)).unwrap();
        assert!(found.into_occupied().unwrap() == expected, "{leak}");
        // Without leaks there are no cells, and the run succeeds.
        for line in ["cube.stl -r 9", "torn.stl -r 64 --close-holes 16"] {
            let line = format!("0 {line} --filled --inside flood --leak {leak} -o a.npz");
            check(&place, &format!("{line}\nerr {leak}"));
            assert_eq!(count(&leak), 0, "{line}");
        }
    }
    let line = "torn.stl -r 64 --filled --inside flood --leak b.vox --doubt c.vox -o a.npz";
    place.run(line).expect(0);
    assert_eq!(count("b.vox"), expected.count());
    assert!(count("c.vox") > 0);
}

/// The transcript `errors` has more combinations of options.
#[test]
fn contradictory_options_are_refused_and_nothing_is_left() {
    let place = with_holes();
    fs::copy(place.path("holed.stl"), place.path("mesh.vox")).unwrap();
    refused(
        &place,
        "
        2 holed.stl --filled --inside flood --leak l.foo
        2 holed.stl --filled --inside flood --leak l.vox -o l.vox
        2 holed.stl --filled --inside flood --leak l.raw --json=l.raw.json
        2 holed.stl cube.stl --filled --inside flood --leak l.vox -o out/
        2 mesh.vox --filled --inside flood --leak mesh.vox -o a.npz
        6 holed.stl --filled --inside flood --leak none/l.vox -o a.npz
        5 holed.stl -r 500 --filled --inside flood -o a.npz --max-memory 100M --leak l.vox
        ",
    );
    check(
        &place,
        "
        0 holed.stl -r 500 --filled --inside flood -o a.npz --max-memory 100M -n
        0 holed.stl -r 500 --filled --inside flood -o a.npz --max-memory 200M --leak l.vox -n
            no file a.npz
            no file l.vox
        ",
    );
}

#[test]
fn a_grid_that_cuts_the_mesh_is_warned_of() {
    let place = Place::new();
    place.write("sphere.stl", stl(fixture("sphere.stl").triangles()));
    check(
        &place,
        "
        0 sphere.stl --filled --inside flood --voxel-size 0.1 -o a.npz --json
            no out W007
            no out \"leak\"
        0 sphere.stl --filled --inside flood --voxel-size 0.1 -o a.npz --json --pad 2
            no out W007
            no out \"leak\"
        0 sphere.stl --filled --inside flood --voxel-size 0.1 -o a.npz --json --bounds -1,-1,-1,0.5,1,1
            out W007
            no out \"leak\"
        ",
    );
}
