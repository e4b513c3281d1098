//! `voxelize verify` detects and reports every difference. The tests cover lists of goldens, recording and
//! reports. Messages and misuse are in the transcripts.

mod pictures;
mod recording;
mod reports;
mod single;
mod story;

use std::fs;

use serde_json::Value;

use crate::support::bless;
use crate::support::place::{Place, Run};
use crate::support::rows;

/// Creates a folder with `meshes/cube.stl`, `meshes/knot.stl` and `meshes/f.stl`.
fn meshes() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("meshes")).unwrap();
    for mesh in ["cube.stl", "knot.stl", "f.stl"] {
        bring(&place, mesh, &format!("meshes/{mesh}"));
    }
    place
}

/// Adds a list: the cube by its digest, the F and the knot by files.
fn recorded() -> Place {
    let place = meshes();
    rows::check(
        &place,
        "0 verify --update goldens.toml meshes/cube.stl -r 16 --pad 1
         0 verify --update goldens.toml meshes/f.stl --res 20 --golden cells
         0 verify --update goldens.toml meshes/knot.stl --res 40 --golden cells",
    );
    place
}

/// Copies a fixture.
fn bring(place: &Place, fixture: &str, to: &str) {
    fs::copy(bless::root("fixtures").join(fixture), place.path(to)).unwrap();
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

/// Moves one vertex of the knot inwards by half a cell of 40.
fn dent_knot(place: &Place) {
    let from = 34.081_3;
    let y = 0.888_183_6;
    let z = -1.908_203_1;
    let to = [from - 65.67 / 40.0 / 2.0, y, z];
    move_vertex(place, "meshes/knot.stl", [from, y, z], to);
}

/// Moves vertices of a binary STL from `from` to `to`.
fn move_vertex(place: &Place, mesh: &str, from: [f32; 3], to: [f32; 3]) {
    let mut bytes = fs::read(place.path(mesh)).unwrap();
    let [from, to] = [from, to].map(|point| point.map(f32::to_le_bytes).concat());
    let mut moved = 0;
    for triangle in bytes[84..].chunks_mut(50) {
        for vertex in triangle[12..48].chunks_mut(12) {
            if *vertex == from {
                vertex.copy_from_slice(&to);
                moved += 1;
            }
        }
    }
    assert!(moved > 0, "{mesh} has no such vertex");
    place.write(mesh, bytes);
}

/// Returns the objects of `--json`, one per case.
#[track_caller]
fn cases(run: &Run) -> Vec<Value> {
    match rows::json(run) {
        Value::Array(cases) => cases,
        one => vec![one],
    }
}

/// Runs `voxelize verify` with `--json` and returns the outcome of every case in order: `same`, `cells`,
/// `error`; for recordings `new`, `changed`, `again`.
#[track_caller]
fn outcomes(place: &Place, line: &str, code: i32) -> Vec<String> {
    let run = place.run(&format!("verify {line} --json")).expect(code);
    cases(&run)
        .iter()
        .map(|case| case["outcome"].as_str().unwrap_or("none").to_string())
        .collect()
}
