//! Commands of regions: plan, --region, finish.

use std::fs;
#[cfg(unix)]
use std::time::Duration;

use serde_json::Value;
#[cfg(unix)]
use serde_json::json;
use voxelize::Voxels;

use crate::support::place::Place;
use crate::support::rows;
#[cfg(unix)]
use crate::support::stores::files;

/// Options of a grid of several regions.
const GRID: &str = "knot.stl -r 300 --filled";

/// Creates a folder with a mesh and computes the digest of its grid in one process.
fn place() -> (Place, Value) {
    let place = Place::new();
    place.write("knot.stl", fs::read("fixtures/knot.stl").unwrap());
    let json = place
        .run(&format!("{GRID} -o one.zarr --json"))
        .expect(0)
        .json();
    (place, json["digest"].clone())
}

#[test]
fn a_plan_its_regions_and_the_end_give_the_digest_of_one_process() {
    let (place, digest) = place();
    // Any number of processes makes the regions, in any order. There is no fourth region. The store is no
    // group before its end.
    let table = format!(
        r#"0 plan {GRID} -o cells.zarr --json
            /regions/count 3
            /rule "filled"
            /inside "nonzero"
           1 finish cells.zarr --json
            /status "failed"
            /digest null
            /regions/missing [1, 2, 3]
            no file cells.zarr/zarr.json
           0 cells.zarr --region 2/3 --json
            /regions/0/number 2
            /regions/0/made true
            no /regions/1
           0 cells.zarr --region 2/3 --json
            /regions/0/number 2
            /regions/0/made false
           0 cells.zarr --region 4/4 --json
            /regions []
           1 finish cells.zarr
            out missing 1, 3
            err warning[R001]: regions 1, 3 of 3 are missing
           0 cells.zarr --region 1/2 --json
            /regions/0/number 1
            /regions/0/made true
            /regions/1/number 3
            /regions/1/made true
           0 finish cells.zarr --json
            /digest {digest}
            /regions/whole 3
           0 finish cells.zarr --json
            /digest {digest}
           0 info cells.zarr --json
            /digest {digest}
            /rule "filled""#
    );
    rows::check(&place, &table);
    let [cells, one] =
        ["cells.zarr", "one.zarr"].map(|name| Voxels::open(place.path(name)).unwrap());
    assert_eq!(cells, one);
}

#[test]
fn meshes_are_found_from_the_folder_of_the_store_and_must_be_the_same() {
    let (place, digest) = place();
    let rename = |from: &str, to: &str| fs::rename(place.path(from), place.path(to)).unwrap();
    for folder in ["meshes", "out/deep", "moved"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    rename("knot.stl", "meshes/knot.stl");
    place
        .run("plan meshes/knot.stl -r 300 --filled -o out/deep/cells.zarr --regions 2")
        .expect(0);
    let plan = fs::read_to_string(place.path("out/deep/cells.zarr/plan.json")).unwrap();
    assert!(plan.contains("\"../../meshes/knot.stl\""), "{plan}");
    // Everything moved elsewhere.
    rename("meshes", "moved/meshes");
    rename("out", "moved/out");
    rows::check(&place, "0 moved/out/deep/cells.zarr --region 1/2");
    // Only the mesh moved.
    rename("moved/meshes/knot.stl", "other.stl");
    rows::refused(
        &place,
        "3 moved/out/deep/cells.zarr --region 2/2
            err knot.stl
         3 moved/out/deep/cells.zarr --region 2/2 --mesh cube.stl
            err [R004]
            err differs from the mesh of the plan",
    );
    let table = format!(
        "0 moved/out/deep/cells.zarr --region 2/2 --mesh other.stl
         0 finish moved/out/deep/cells.zarr --json
            /digest {digest}"
    );
    rows::check(&place, &table);
}

#[test]
fn parts_of_several_meshes_are_labels() {
    let (place, _) = place();
    let runs = rows::check(
        &place,
        "0 knot.stl cube.stl -r 200 --solid --labels file -o one.zarr --json
            no /counts/labels/2
         0 plan knot.stl cube.stl -r 200 --solid --labels file -o cells.zarr
         0 cells.zarr --region 1/1
         0 finish cells.zarr --json",
    );
    let [one, json] = [runs[0].json(), runs[3].json()];
    assert_eq!(json["digest"], one["digest"]);
    for n in 0..2 {
        for key in ["label", "cells"] {
            let pointer = format!("/counts/labels/{n}/{key}");
            let expected = one.pointer(&pointer).unwrap();
            assert_eq!(json.pointer(&pointer), Some(expected), "{pointer}");
        }
    }
}

#[test]
fn transforms_and_units_are_part_of_the_plan() {
    for options in [
        "--axes x,-z,y --rotate z,30 --pad 2",
        "--scale 1/3 --translate 1,2.5,-3",
        "--up y --unit mm",
    ] {
        let (place, _) = place();
        let table = format!(
            "0 knot.stl -r 200 --surface {options} -o one.zarr --json
             0 plan knot.stl -r 200 --surface {options} -o cells.zarr
             0 cells.zarr --region 1/1
             0 finish cells.zarr --json"
        );
        let runs = rows::check(&place, &table);
        let [one, json] = [runs[0].json(), runs[3].json()];
        assert_eq!(json["digest"], one["digest"], "{options}");
        assert_eq!(
            json["grid"]["origin_exact"], one["grid"]["origin_exact"],
            "{options}"
        );
        let [a, b] = ["cells", "one"]
            .map(|name| fs::read_to_string(place.path(&format!("{name}.zarr/zarr.json"))));
        assert_eq!(a.unwrap(), b.unwrap(), "{options}");
    }
}

#[test]
fn wrong_questions_are_refused() {
    let (place, _) = place();
    rows::refused(
        &place,
        "2 plan knot.stl -o cells.npz
            err in a folder of Zarr
         2 plan - -o cells.zarr
            err a pipe does not allow
         2 plan knot.stl --filled --inside flood -o cells.zarr
            err a flood needs cells outside a region
         2 plan knot.stl --solid --keep-thin -o cells.zarr
            err keep-thin needs cells outside a region
         2 plan knot.stl --filled --hollow 2 -o cells.zarr
            err hollow needs cells outside a region
         2 plan knot.stl --labels colour -o cells.zarr
            err colours cannot be made in regions
         2 plan knot.stl -o cells.zarr --dtype bit
            err zarr cannot store this type
         2 plan knot.stl --rule distance --dtype bool -o cells.zarr
            err written as f32
         5 plan knot.stl -r 8192 -o cells.zarr --max-memory 40M
            err a slab of 8 layers needs
         3 plan missing.stl -o cells.zarr
            err missing.stl
         6 plan knot.stl -o nowhere/cells.zarr
            err nowhere
         3 cells.zarr --region 1/2
            err not a store with a plan
         3 finish cells.zarr
            err not a store with a plan
         3 finish one.zarr
            err not a store with a plan",
    );
    place.run(&format!("plan {GRID} -o cells.zarr")).expect(0);
    rows::refused(
        &place,
        "6 plan knot.stl -r 299 --filled -o cells.zarr
            err another plan
         6 knot.stl -o cells.zarr
            err other files
         2 cells.zarr --region 3
            err such as 3/64
         2 cells.zarr --region 4/3
            err must be a number from 1
         2 cells.zarr --region 1/3 -r 64
            err -r
         5 cells.zarr --region 1/3 --max-memory 20M
         2 cells.zarr
            err is a folder
         2 cells.zarr -o cells.npz
            err hint: it is an unfinished store: 'voxelize cells.zarr --region 1/1' makes its regions, then 'voxelize finish
         3 info cells.zarr
            err is a folder
            err hint: it is an unfinished store: 'voxelize cells.zarr --region 1/1' makes its regions, then 'voxelize finish",
    );
    // A modified plan.
    let text = fs::read_to_string(place.path("cells.zarr/plan.json")).unwrap();
    let modified = text.replace("\"region_layers\": 64", "\"region_layers\": 128");
    place.write("cells.zarr/plan.json", modified);
    rows::refused(
        &place,
        "3 cells.zarr --region 1/3
            err the plan is damaged
         3 finish cells.zarr
            err the plan is damaged
         3 plan knot.stl -o cells.zarr
            err the plan is damaged",
    );
}

#[test]
fn regions_are_made_of_bins_without_the_mesh() {
    let (place, digest) = place();
    let line = format!("plan {GRID} -o cells.zarr --bin");
    place.run(&line).expect(0);
    let bins = [1, 2, 3].map(|n| place.path(&format!("cells.zarr/bins/{n}.bin")));
    let sizes = bins
        .each_ref()
        .map(|path| fs::metadata(path).unwrap().len());
    let bytes = fs::read(&bins[1]).unwrap();
    fs::rename(place.path("knot.stl"), place.path("away.stl")).unwrap();
    place.run("cells.zarr --region 1/2").expect(0);
    fs::write(&bins[1], &bytes[1..]).unwrap();
    rows::refused(
        &place,
        "3 cells.zarr --region 2/2
            err [R005]
            err 2.bin
            err hint: make the bins again: 'voxelize plan MESH … --bin'",
    );
    // The mesh instead of bins, and then the bins are made again.
    let table = format!(
        "0 cells.zarr --region 2/2 --mesh away.stl
         0 finish cells.zarr --json
            /digest {digest}"
    );
    rows::check(&place, &table);
    fs::rename(place.path("away.stl"), place.path("knot.stl")).unwrap();
    let table = format!(
        r#"0 {line} --json
            /bins {{"bytes": {}, "largest": {}}}"#,
        sizes.iter().sum::<u64>(),
        sizes.iter().max().unwrap()
    );
    rows::check(&place, &table);
    assert_eq!(fs::read(&bins[1]).unwrap(), bytes);
}

/// Starts the command several times, and kills it after a longer and longer time. Calls `check` after each.
/// Returns the number of killed processes.
#[cfg(unix)]
fn kill(place: &Place, line: &str, times: impl Iterator<Item = u64>, check: impl Fn()) -> usize {
    let mut killed = 0;
    for milliseconds in times {
        let mut child = place.command(line).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        check();
    }
    killed
}

/// Processes are killed midway, like by a machine that fails.
#[cfg(unix)]
#[test]
fn a_process_that_is_killed_loses_nothing_that_is_whole() {
    let (place, _) = place();
    let runs = rows::check(
        &place,
        "0 knot.stl -r 500 --solid -o one.npy --json
         0 plan knot.stl -r 500 --solid -o cells.zarr --uncompressed",
    );
    let digest = &runs[0].json()["digest"];
    let times = (0..12).map(|n| 5 + 7 * n);
    let killed = kill(&place, "cells.zarr --region 1/1 -q", times, || {
        let report = place.run("finish cells.zarr --json").json();
        // Only complete files have names.
        assert_eq!(report["regions"]["damaged"], json!([]));
    });
    assert!(killed > 2, "{killed} killed");
    let table = format!(
        "0 cells.zarr --region 1/1
         0 finish cells.zarr --json
            /digest {digest}"
    );
    rows::check(&place, &table);
    for name in files(&place.path("cells.zarr")).keys() {
        assert!(
            !name.split('/').any(|part| part.starts_with('.')),
            "{name} is left"
        );
    }
}

#[cfg(unix)]
#[test]
fn one_process_goes_on_after_it_was_killed() {
    let (place, _) = place();
    let options = "knot.stl -r 500 --filled";
    let one = place
        .run(&format!("{options} -o one.zarr --json"))
        .expect(0)
        .json();
    let line = format!("{options} -o cells.zarr --resume");
    let times = (0..8).map(|n| 10 + 15 * n);
    let killed = kill(&place, &format!("{line} -q"), times, || ());
    assert!(killed > 2, "{killed} killed");
    let json = place.run(&format!("{line} --json")).expect(0).json();
    for key in [
        "digest",
        "rule",
        "ties",
        "grid",
        "field",
        "volume",
        "transform",
        "warnings",
        "counts",
    ] {
        assert_eq!(json[key], one[key], "{key}");
    }
    assert_eq!(json["outputs"][0]["format"], "zarr");
    assert_eq!(
        Voxels::open(place.path("cells.zarr")).unwrap(),
        Voxels::open(place.path("one.zarr")).unwrap()
    );
    // Complete files are kept.
    let time = |name: &str| fs::metadata(place.path(name)).unwrap().modified().unwrap();
    let before = ["cells.zarr/0/c/1/0/0", "cells.zarr/parts/2.json"].map(time);
    let table = format!(
        "0 {line} --json
            /digest {}",
        one["digest"]
    );
    rows::check(&place, &table);
    let after = ["cells.zarr/0/c/1/0/0", "cells.zarr/parts/2.json"].map(time);
    assert_eq!(after, before);
    // A single process may continue the work of many, and vice versa.
    fs::remove_file(place.path("cells.zarr/parts/2.json")).unwrap();
    rows::check(
        &place,
        "0 cells.zarr --region 1/1 --json
            /regions/1/number 2
            /regions/1/made true",
    );
    rows::refused(
        &place,
        "2 knot.stl -r 500 --solid -o cells.npz --resume
            err regions of a folder of Zarr
         2 knot.stl --filled --inside flood -o new.zarr --resume
            err a flood
         2 - -o new.zarr --resume
            err a pipe
         2 knot.stl cube.stl -o new/ --resume
            err one grid
         2 knot.stl --solid -o new.zarr --resume --max-doubt 1
            err additional outputs",
    );
}

/// Regions whose smaller levels are not whole shards of 64 layers. Each region has its own files, and every
/// level has the cells of one process.
#[test]
fn regions_of_any_height_make_a_store_that_can_be_finished() {
    for (layers, regions, count, height, options) in [
        (257, 2, 2, 192, "--filled"),
        (512, 3, 3, 192, "--solid"),
        (384, 2, 2, 192, "--surface"),
        (576, 2, 2, 320, "--filled --labels file"),
        (600, 4, 4, 192, "--rule distance --band 2"),
        (257, 12, 5, 64, "--surface --dtype bool"),
    ] {
        let place = Place::new();
        let grid = format!("cube.stl --dims 9,7,{layers} {options}");
        let one = place
            .run(&format!("{grid} -o one.zarr --json"))
            .expect(0)
            .json();
        let run = place
            .run(&format!("plan {grid} --regions {regions} -o cells.zarr"))
            .expect(0);
        let plan = run.line("plan");
        assert!(
            plan.starts_with(&format!("{count} regions of {height} layers")),
            "{grid}: {plan}"
        );
        let has_fewer = plan.contains(&format!("whole shards do not allow {regions} regions"));
        assert_eq!(has_fewer, count < regions, "{grid}: {plan}");
        // The last region first, as may happen on a cluster.
        for region in (1..=count).rev() {
            place
                .run(&format!("cells.zarr --region {region}/{count}"))
                .expect(0);
        }
        let end = place.run("finish cells.zarr --json").expect(0).json();
        assert_eq!(end["digest"], one["digest"], "{grid}");
        let mut levels = 0;
        while place.path(&format!("one.zarr/{levels}")).exists() {
            let [cells, one] = ["cells", "one"]
                .map(|name| Voxels::open(place.path(&format!("{name}.zarr/{levels}"))).unwrap());
            assert_eq!(cells.cells, one.cells, "{grid}: level {levels}");
            levels += 1;
        }
        assert!(levels > 2, "{grid}: {levels}");
    }
}

/// A plan has no cells, so it does not replace a finished grid.
#[test]
fn a_plan_does_not_replace_a_finished_grid() {
    let place = Place::new();
    rows::check(&place, "0 cube.stl -r 20 -o one.zarr");
    rows::refused(
        &place,
        "6 plan cube.stl -r 20 -o one.zarr
            err finished grid without a plan
         6 cube.stl -r 20 -o one.zarr --resume
            err finished grid without a plan",
    );
    rows::check(&place, "0 cube.stl -r 21 -o one.zarr");
}
