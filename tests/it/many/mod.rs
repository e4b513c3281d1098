//! Many meshes in one run give the same results as separate runs. The tests cover the selection of meshes,
//! the names of their files, the report for each, and the exit code.

mod stack;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use voxelize::Voxels;

use crate::support::place::{Place, Run, cuboid, stl};
use crate::support::rows;

/// Creates meshes in folders: three valid ones, one truncated, one without triangles.
fn scans() -> Place {
    let place = Place::new();
    for folder in ["scans/left/inner", "scans/right"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("scans/b.stl", stl(&cuboid([1.0, 2.0, 3.0])));
    place.write("scans/left/a.stl", stl(&cuboid([2.0, 2.0, 1.0])));
    place.write("scans/left/inner/a.STL", stl(&cuboid([5.0, 1.0, 1.0])));
    place.write("scans/notes.txt", "no mesh");
    place
}

#[test]
fn shares_of_processes_are_disjoint_and_make_all() {
    let place = scans();
    for n in 0..20 {
        place.write(
            &format!("scans/right/{n}.stl"),
            stl(&cuboid([1.0 + n as f32, 2.0, 3.0])),
        );
    }
    place.run("scans/ -r 20 -f npy -o all/ -q").expect(0);
    let all = below(&place, "all");
    let mut seen = BTreeSet::new();
    for share in 1..=4 {
        let line = format!("scans/ -r 20 -f npy -o out/ --shard-list {share}/4 --json");
        let made = by_mesh(&place.run(&line).expect(0), "/outputs/0/path");
        // As after a kill: existing outputs are skipped.
        let again = place.run(&format!("{line} --skip-existing")).expect(0);
        let statuses = by_mesh(&again, "/status");
        assert!(statuses.keys().eq(made.keys()));
        assert!(statuses.values().all(|status| status == "skipped"));
        for path in made.values() {
            assert!(seen.insert(path.to_string()), "{path} is made twice");
        }
    }
    assert_eq!(seen.len(), all.len());
    assert_eq!(below(&place, "out"), all);
    for name in &all {
        let bytes = |folder: &str| fs::read(place.path(&format!("{folder}/{name}"))).unwrap();
        assert_eq!(bytes("out"), bytes("all"), "{name}");
    }
    rows::check(
        &place,
        "0 scans/ -r 20 -o out/ --shard-list 99/99
         0 scans/b.stl -r 20 -f npy -o one/ --shard-list 1/1
            file one/b.npy
         2 scans/ -o out/ --shard-list 0/4
         2 scans/ -o out/ --shard-list 1/4 --same-grid
         2 cube.stl --shard-list 1/1",
    );
}

fn with_broken(place: &Place) {
    place.write("scans/right/cut.stl", &stl(&cuboid([1.0; 3]))[..400]);
    place.write("scans/right/none.stl", stl(&[]));
}

/// Returns every file below a folder, by its relative path.
fn below(place: &Place, folder: &str) -> Vec<String> {
    fn walk(folder: &std::path::Path, prefix: &str, names: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), names);
            } else {
                names.push(name);
            }
        }
    }
    let mut names = vec![];
    walk(&place.path(folder), "", &mut names);
    names.sort();
    names
}

/// Returns the values at `pointer` of the JSON by the path of the mesh.
fn by_mesh(run: &Run, pointer: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for line in run.text().lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        let mesh = object["input"]["path"].as_str().unwrap().to_string();
        found.insert(mesh, object.pointer(pointer).unwrap().clone());
    }
    found
}

#[test]
fn a_folder_is_walked_and_its_paths_are_kept() {
    let place = scans();
    fs::create_dir(place.path("there")).unwrap();
    // Paths are relative to the named folder, even if all meshes are deeper.
    for (line, folder, names) in [
        (
            "scans -r 16 -o out/",
            "out",
            "b.vox left/a.vox left/inner/a.vox",
        ),
        (
            "scans/left -r 16 -f npz -o deep/",
            "deep",
            "a.npz inner/a.npz",
        ),
        (
            "scans/left/inner/a.STL scans/left/a.stl -r 16 -o files/",
            "files",
            "a.vox inner/a.vox",
        ),
        (
            "scans/left/inner/a.STL cube.stl -r 16 -o far/",
            "far",
            "cube.vox scans/left/inner/a.vox",
        ),
        (
            "cube.stl thirds.stl -r 4 -f raw -o there",
            "there",
            "cube.raw cube.raw.json thirds.raw thirds.raw.json",
        ),
    ] {
        place.run(line).expect(0);
        assert_eq!(below(&place, folder).join(" "), names, "{line}");
    }
}

/// The outputs of an earlier run may be among the meshes.
#[test]
fn folders_of_voxels_are_not_walked() {
    let place = scans();
    place.run("scans -r 16 -f zarr -o scans/").expect(0);
    place.write("scans/b.zarr/0/mesh.stl", stl(&cuboid([1.0; 3])));
    place.run("scans -r 16 -f slices -o out/").expect(0);
    let mut found = below(&place, "out");
    found.retain(|name| name.ends_with(".json"));
    assert_eq!(
        found,
        [
            "b.slices/slices.json",
            "left/a.slices/slices.json",
            "left/inner/a.slices/slices.json",
        ]
    );
    // An existing folder is an existing output.
    rows::check(
        &place,
        r#"0 scans -r 8 -f zarr -o scans/ --skip-existing --json
            /0/status "skipped"
            /1/status "skipped"
            /2/status "skipped"
            no /3"#,
    );
}

#[test]
fn one_mesh_goes_to_a_folder_with_the_usual_summary() {
    let place = scans();
    rows::check(
        &place,
        r#"0 cube.stl -r 4 -f npz -o new/folder/
            err wrote   new/folder/cube.npz
            err digest
           3 scans/right cube.stl -r 4 -o out/ --json
            /0/input/path "scans/right"
            /0/exit_code 3
            /1/exit_code 0"#,
    );
    assert_eq!(below(&place, "out"), ["cube.vox"]);
}

#[test]
fn each_mesh_gives_the_same_cells_as_alone() {
    let place = scans();
    let mut alone = BTreeMap::new();
    for mesh in ["scans/b.stl", "scans/left/a.stl", "scans/left/inner/a.STL"] {
        let line = format!("{mesh} -r 40 --pad 1 -o alone.npz --json");
        let json = place.run(&line).expect(0).json();
        alone.insert(mesh.to_string(), json["digest"].clone());
    }
    for options in [
        "-j 1",
        "-j 2",
        "-j 3 --simd scalar",
        "-j 2 --max-memory 24M",
        "-j 1000",
    ] {
        let line = format!("scans -r 40 --pad 1 -f npz -o out/ --json {options}");
        let run = place.run(&line).expect(0);
        assert_eq!(by_mesh(&run, "/digest"), alone, "{options}");
        // The last mesh is the one of alone.npz.
        let [made, alone] = ["out/left/inner/a.npz", "alone.npz"]
            .map(|name| Voxels::open(place.path(name)).unwrap());
        assert_eq!(made, alone, "{options}");
    }
}

#[test]
fn names_come_from_lists() {
    let place = scans();
    let lines = "scans/b.stl\n\nscans/left\r\n./thirds.stl\n";
    let zeros = "scans/b.stl\0scans/left\0thirds.stl\0";
    let all = "scans/b.vox scans/left/a.vox scans/left/inner/a.vox thirds.vox";
    place.write("list.txt", lines);
    place.write("a\nb.stl", stl(&cuboid([1.0; 3])));
    for (line, input, names) in [
        ("--files-from list.txt", "", all),
        ("--files-from -", lines, all),
        ("-0 --files-from -", zeros, all),
        (
            "cube.stl --null --files-from -",
            "a\nb.stl\0",
            "a\nb.vox cube.vox",
        ),
    ] {
        let folder = tempfile::tempdir_in(place.path("")).unwrap();
        let line = format!("{line} -r 8 -o {}/", folder.path().display());
        place.run_with(&line, input.as_bytes()).expect(0);
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(below(&place, name).join(" "), names, "{line}");
    }
}

#[test]
fn json_has_an_object_for_each_in_order() {
    let place = scans();
    with_broken(&place);
    rows::check(
        &place,
        r#"7 scans missing.stl cube.stl -r 16 -o out/ --json
            no err of 7
            /0/input/path "scans/b.stl"
            /0/exit_code 0
            /0/outputs/0/path "out/scans/b.vox"
            /1/input/path "scans/left/a.stl"
            /1/exit_code 0
            /2/input/path "scans/left/inner/a.STL"
            /2/exit_code 0
            /3/input/path "scans/right/cut.stl"
            /3/exit_code 3
            /4/input/path "scans/right/none.stl"
            /4/exit_code 4
            /5/input/path "missing.stl"
            /5/exit_code 3
            /6/input/path "cube.stl"
            /6/exit_code 0
            no /7
           0 cube.stl thirds.stl -r 4 -o out/ --json=out.json
            err 2 of 2"#,
    );
    let lines = fs::read_to_string(place.path("out.json")).unwrap();
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn existing_outputs_can_be_skipped() {
    let place = scans();
    place.run("scans -r 16 -o out/").expect(0);
    place.write("out/b.vox", "mine");
    fs::remove_file(place.path("out/left/a.vox")).unwrap();
    rows::check(
        &place,
        "0 scans -r 16 -o out/ --skip-existing
            err 1 of 3
            file out/left/a.vox
         0 scans/b.stl -o out/b.vox --skip-existing
            err out/b.vox",
    );
    assert_eq!(fs::read(place.path("out/b.vox")).unwrap(), b"mine");
    place.run("scans/b.stl -r 4 -o out/b.vox").expect(0);
    assert_ne!(fs::read(place.path("out/b.vox")).unwrap(), b"mine");
}

#[test]
fn a_dry_run_writes_nothing() {
    rows::check(
        &scans(),
        "0 scans/b.stl cube.stl -r 100 -n -f npy -o out/ --json
            /0/estimate/output_bytes 227800
            /1/estimate/output_bytes 1000000
            no file out",
    );
}

#[test]
fn a_warning_that_all_meshes_share_is_that_of_one_mesh() {
    let place = Place::new();
    // These plates contain no cell centre.
    for name in ["a.stl", "b.stl"] {
        place.write(name, stl(&cuboid([8.0, 8.0, 0.1])));
    }
    rows::check(
        &place,
        "0 a.stl --solid --voxel-size 1 --bounds 0,0,0,8,8,8 -o a.npz
            err warning[W002]: no cell is occupied: no cell centre is inside the mesh
         0 a.stl b.stl --solid --voxel-size 1 --bounds 0,0,0,8,8,8 -o out/
            err warning[W002]: 2 of 2 meshes: no cell is occupied: no cell centre is inside the mesh",
    );
}
