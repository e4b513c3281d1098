//! Commands of regions: plan, --region, finish.

use std::fs;

use serde_json::{Value, json};
use voxelize::Voxels;

use crate::support::place::{Place, refused};

/// Options of a grid of several regions.
const GRID: &str = "knot.stl -r 300 --filled";

/// Creates a folder with a mesh and computes the digest of its grid in one process.
fn place() -> (Place, Value) {
    let place = Place::new();
    fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl"),
        place.path("knot.stl"),
    )
    .unwrap();
    let json = place
        .run(&format!("{GRID} -o one.zarr --json"))
        .expect(0)
        .json();
    (place, json["digest"].clone())
}

fn numbers(json: &Value) -> Vec<(u64, bool)> {
    let region = |region: &Value| {
        (
            region["number"].as_u64().unwrap(),
            region["made"].as_bool().unwrap(),
        )
    };
    json["regions"]
        .as_array()
        .unwrap()
        .iter()
        .map(region)
        .collect()
}

#[test]
fn a_plan_its_regions_and_the_end_give_the_digest_of_one_process() {
    let (place, digest) = place();
    let run = place.run(&format!("plan {GRID} -o cells.zarr")).expect(0);
    assert_eq!(
        run.line("plan"),
        "3 regions of 64 layers, shards of 64 layers"
    );
    assert!(
        run.line("next").contains("--region 1/3 … 3/3"),
        "{}",
        run.err
    );
    let json = place
        .run(&format!("plan {GRID} -o cells.zarr --json"))
        .expect(0)
        .json();
    assert_eq!(
        json["regions"],
        json!({"count": 3, "layers": 64, "shard_layers": 64})
    );
    assert_eq!(
        (&json["rule"], &json["inside"]),
        (&json!("filled"), &json!("nonzero")),
        "decided once"
    );

    let unfinished = place.run("finish cells.zarr --json").expect(1).json();
    assert_eq!(unfinished["regions"]["missing"], json!([1, 2, 3]));
    assert_eq!(
        (&unfinished["status"], &unfinished["digest"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(
        !place.path("cells.zarr/zarr.json").exists(),
        "it is no group yet"
    );

    let region = |share: &str| {
        place
            .run(&format!("cells.zarr --region {share} --json"))
            .expect(0)
            .json()
    };
    assert_eq!(numbers(&region("2/3")), [(2, true)]);
    assert_eq!(numbers(&region("2/3")), [(2, false)]);
    assert_eq!(numbers(&region("4/4")), [], "there is no fourth");
    let run = place.run("finish cells.zarr").expect(1);
    assert_eq!(run.label("missing"), "1, 3");
    assert!(
        run.err
            .contains("warning[R001]: regions 1, 3 of 3 are missing"),
        "{}",
        run.err
    );
    assert_eq!(
        numbers(&region("1/2")),
        [(1, true), (3, true)],
        "any number of processes"
    );

    let json = place.run("finish cells.zarr --json").expect(0).json();
    assert_eq!(json["digest"], digest);
    assert_eq!(json["regions"]["whole"], json!(3));
    assert_eq!(
        place.run("finish cells.zarr --json").expect(0).json()["digest"],
        digest,
        "once more"
    );
    let [cells, one] =
        ["cells.zarr", "one.zarr"].map(|name| Voxels::open(place.path(name)).unwrap());
    assert_eq!(cells, one);
    let voxels = place.run("info cells.zarr --json").expect(0).json();
    assert_eq!(
        (&voxels["digest"], &voxels["rule"]),
        (&digest, &json!("filled"))
    );
}

#[test]
fn meshes_are_found_from_the_folder_of_the_store_and_must_be_the_same() {
    let (place, digest) = place();
    fs::create_dir_all(place.path("meshes")).unwrap();
    fs::create_dir_all(place.path("out/deep")).unwrap();
    fs::rename(place.path("knot.stl"), place.path("meshes/knot.stl")).unwrap();
    place
        .run("plan meshes/knot.stl -r 300 --filled -o out/deep/cells.zarr --regions 2")
        .expect(0);
    let plan = fs::read_to_string(place.path("out/deep/cells.zarr/plan.json")).unwrap();
    assert!(plan.contains("\"../../meshes/knot.stl\""), "{plan}");
    // Everything moved elsewhere.
    fs::create_dir(place.path("moved")).unwrap();
    fs::rename(place.path("meshes"), place.path("moved/meshes")).unwrap();
    fs::rename(place.path("out"), place.path("moved/out")).unwrap();
    place
        .run("moved/out/deep/cells.zarr --region 1/2")
        .expect(0);
    // Only the mesh moved.
    fs::rename(place.path("moved/meshes/knot.stl"), place.path("other.stl")).unwrap();
    let error = refused(&place, "moved/out/deep/cells.zarr --region 2/2", 3);
    assert!(error.contains("knot.stl"), "{error}");
    let error = refused(
        &place,
        "moved/out/deep/cells.zarr --region 2/2 --mesh cube.stl",
        3,
    );
    assert!(
        error.contains("R004") && error.contains("differs from the mesh of the plan"),
        "{error}"
    );
    place
        .run("moved/out/deep/cells.zarr --region 2/2 --mesh other.stl")
        .expect(0);
    assert_eq!(
        place
            .run("finish moved/out/deep/cells.zarr --json")
            .expect(0)
            .json()["digest"],
        digest
    );
}

#[test]
fn parts_of_several_meshes_are_labels() {
    let (place, _) = place();
    let options = "knot.stl cube.stl -r 200 --solid --labels file";
    let one = place
        .run(&format!("{options} -o one.zarr --json"))
        .expect(0)
        .json();
    place
        .run(&format!("plan {options} -o cells.zarr"))
        .expect(0);
    place.run("cells.zarr --region 1/1").expect(0);
    let json = place.run("finish cells.zarr --json").expect(0).json();
    assert_eq!(json["digest"], one["digest"]);
    let names = |labels: &Value| {
        let label = |one: &Value| (one["label"].clone(), one["cells"].clone());
        labels
            .as_array()
            .unwrap()
            .iter()
            .map(label)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&json["counts"]["labels"]),
        names(&one["counts"]["labels"])
    );
    assert_eq!(names(&one["counts"]["labels"]).len(), 2);
}

#[test]
fn transforms_and_units_are_part_of_the_plan() {
    let (place, _) = place();
    for options in [
        "--axes x,-z,y --rotate z,30 --pad 2",
        "--scale 1/3 --translate 1,2.5,-3",
        "--up y --unit mm",
    ] {
        let options = format!("knot.stl -r 200 --surface {options}");
        let one = place
            .run(&format!("{options} -o one.zarr --json"))
            .expect(0)
            .json();
        place
            .run(&format!("plan {options} -o cells.zarr"))
            .expect(0);
        place.run("cells.zarr --region 1/1").expect(0);
        let json = place.run("finish cells.zarr --json").expect(0).json();
        assert_eq!(
            (&json["digest"], &json["grid"]["origin_exact"]),
            (&one["digest"], &one["grid"]["origin_exact"])
        );
        let [a, b] = ["cells", "one"]
            .map(|name| fs::read_to_string(place.path(&format!("{name}.zarr/zarr.json"))));
        assert_eq!(a.unwrap(), b.unwrap(), "{options}");
        fs::remove_dir_all(place.path("cells.zarr")).unwrap();
    }
}

#[test]
fn wrong_questions_are_refused() {
    let (place, _) = place();
    for (line, code, words) in [
        ("plan knot.stl -o cells.npz", 2, "in a folder of Zarr"),
        ("plan - -o cells.zarr", 2, "a pipe does not allow"),
        (
            "plan knot.stl --filled --inside flood -o cells.zarr",
            2,
            "a flood needs cells beside a region",
        ),
        (
            "plan knot.stl --solid --keep-thin -o cells.zarr",
            2,
            "keep-thin needs cells beside a region",
        ),
        (
            "plan knot.stl --filled --hollow 2 -o cells.zarr",
            2,
            "hollow needs cells beside a region",
        ),
        (
            "plan knot.stl --labels colour -o cells.zarr",
            2,
            "colours are not made in regions",
        ),
        (
            "plan knot.stl -o cells.zarr --dtype bit",
            2,
            "zarr cannot store this type",
        ),
        (
            "plan knot.stl --rule distance --dtype bool -o cells.zarr",
            2,
            "written as f32",
        ),
        (
            "plan knot.stl -r 8192 -o cells.zarr --max-memory 40M",
            5,
            "a slab of 8 layers needs",
        ),
        ("plan missing.stl -o cells.zarr", 3, "missing.stl"),
        ("plan knot.stl -o nowhere/cells.zarr", 6, "nowhere"),
        ("cells.zarr --region 1/2", 3, "no store with a plan"),
        ("finish cells.zarr", 3, "no store with a plan"),
        ("finish one.zarr", 3, "no store with a plan"),
    ] {
        let error = refused(&place, line, code);
        assert!(error.contains(words), "{line}: {error}");
        assert!(!place.path("cells.zarr").exists(), "{line} left something");
    }
    place.run(&format!("plan {GRID} -o cells.zarr")).expect(0);
    let before = fs::read(place.path("cells.zarr/plan.json")).unwrap();
    for (line, code, words) in [
        (
            "plan knot.stl -r 299 --filled -o cells.zarr",
            6,
            "another plan",
        ),
        (
            "plan knot.stl -r 300 --solid -o cells.zarr",
            6,
            "another plan",
        ),
        ("knot.stl -o cells.zarr", 6, "other files"),
        ("cells.zarr --region 3", 2, "such as 3/64"),
        ("cells.zarr --region 4/3", 2, "counts from 1"),
        ("cells.zarr --region 1/3 -r 64", 2, "-r"),
        ("cells.zarr --region 1/3 --max-memory 20M", 5, ""),
        ("cells.zarr", 2, "is a folder"),
        ("info cells.zarr", 3, "is a folder"),
    ] {
        let error = refused(&place, line, code);
        assert!(error.contains(words), "{line}: {error}");
    }
    for (line, code) in [
        ("cells.zarr", 2),
        ("cells.zarr -o cells.npz", 2),
        ("info cells.zarr", 3),
    ] {
        let run = place.run(line).expect(code);
        let hint = "hint: it is an unfinished store: 'voxelize cells.zarr --region 1/1' makes its regions, then 'voxelize finish";
        assert!(run.err.contains(hint), "{line}: {}", run.err);
    }
    assert_eq!(
        fs::read(place.path("cells.zarr/plan.json")).unwrap(),
        before
    );
    // A modified plan.
    let text = String::from_utf8(before)
        .unwrap()
        .replace("\"region_layers\": 64", "\"region_layers\": 128");
    fs::write(place.path("cells.zarr/plan.json"), text).unwrap();
    for line in [
        "cells.zarr --region 1/3",
        "finish cells.zarr",
        "plan knot.stl -o cells.zarr",
    ] {
        assert!(
            refused(&place, line, 3).contains("the plan is damaged"),
            "{line}"
        );
    }
}

#[test]
fn regions_are_made_of_bins_without_the_mesh() {
    let (place, digest) = place();
    let line = format!("plan {GRID} -o cells.zarr --bin --json");
    let json = place.run(&line).expect(0).json();
    let size = |number: usize| {
        fs::metadata(place.path(&format!("cells.zarr/bins/{number}.bin")))
            .unwrap()
            .len()
    };
    let sizes = [1, 2, 3].map(size);
    assert_eq!(
        json["bins"],
        json!({"bytes": sizes.iter().sum::<u64>(), "largest": sizes.iter().max()})
    );
    fs::rename(place.path("knot.stl"), place.path("away.stl")).unwrap();
    place.run("cells.zarr --region 1/2").expect(0);
    let path = place.path("cells.zarr/bins/2.bin");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[1..]).unwrap();
    let error = refused(&place, "cells.zarr --region 2/2", 3);
    assert!(error.contains("R005") && error.contains("2.bin"), "{error}");
    let run = place.run("cells.zarr --region 2/2").expect(3);
    assert!(
        run.err
            .contains("hint: make the bins again: 'voxelize plan MESH … --bin'"),
        "{}",
        run.err
    );
    assert!(!place.path("cells.zarr/parts/2.json").exists());
    // The mesh instead of bins.
    place
        .run("cells.zarr --region 2/2 --mesh away.stl")
        .expect(0);
    assert_eq!(
        place.run("finish cells.zarr --json").expect(0).json()["digest"],
        digest
    );
    fs::rename(place.path("away.stl"), place.path("knot.stl")).unwrap();
    assert_eq!(place.run(&line).expect(0).json()["bins"], json["bins"]);
    assert_eq!(fs::read(&path).unwrap(), bytes, "made again");
    let run = place
        .run(&format!("plan {GRID} -o cells.zarr --bin"))
        .expect(0);
    assert!(run.line("bins").contains("the largest"), "{}", run.err);
    for (line, words) in [
        (
            "plan knot.stl --solid --inside vote --bin -o new.zarr",
            "the method vote",
        ),
        (
            "plan knot.stl --filled --inside robust --bin -o new.zarr",
            "the method robust",
        ),
        (
            "plan knot.stl --rule distance --band all --bin -o new.zarr",
            "a band of all cells",
        ),
    ] {
        let error = refused(&place, line, 2);
        assert!(error.contains(words), "{line}: {error}");
        assert!(!place.path("new.zarr").exists(), "{line} left something");
    }
}

/// Processes are killed midway, like by a machine that fails.
#[cfg(unix)]
#[test]
fn a_process_that_is_killed_loses_nothing_that_is_whole() {
    let (place, _) = place();
    let options = "knot.stl -r 500 --solid";
    let digest = place
        .run(&format!("{options} -o one.npy --json"))
        .expect(0)
        .json()["digest"]
        .clone();
    place
        .run(&format!("plan {options} -o cells.zarr --uncompressed"))
        .expect(0);
    let mut killed = 0;
    for n in 0..12 {
        let mut child = place.command("cells.zarr --region 1/1 -q").spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5 + 7 * n));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        let report = place.run("finish cells.zarr --json").json();
        assert_eq!(
            report["regions"]["damaged"],
            json!([]),
            "only whole files have names"
        );
    }
    place.run("cells.zarr --region 1/1").expect(0);
    assert_eq!(
        place.run("finish cells.zarr --json").expect(0).json()["digest"],
        digest
    );
    assert!(killed > 2, "{killed} killed");
    let mut folders = vec![place.path("cells.zarr")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            assert!(
                !entry.file_name().to_string_lossy().starts_with('.'),
                "{entry:?} is left"
            );
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
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
    let mut killed = 0;
    for n in 0..8 {
        let mut child = place.command(&format!("{line} -q")).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10 + 15 * n));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
    }
    let json = place.run(&format!("{line} --json")).expect(0).json();
    assert_eq!(json["digest"], one["digest"]);
    for key in [
        "rule",
        "ties",
        "grid",
        "field",
        "volume",
        "transform",
        "warnings",
    ] {
        assert_eq!(json[key], one[key], "{key}");
    }
    assert_eq!(json["counts"], one["counts"]);
    assert_eq!(json["outputs"][0]["format"], "zarr");
    assert_eq!(
        Voxels::open(place.path("cells.zarr")).unwrap(),
        Voxels::open(place.path("one.zarr")).unwrap()
    );
    let time = |name: &str| fs::metadata(place.path(name)).unwrap().modified().unwrap();
    let before = ["cells.zarr/0/c/1/0/0", "cells.zarr/parts/2.json"].map(time);
    let run = place.run(&line).expect(0);
    assert_eq!(
        run.line("digest"),
        format!(
            "grid {}   cells {}",
            text(&one, "grid"),
            text(&one, "cells")
        )
    );
    assert_eq!(
        ["cells.zarr/0/c/1/0/0", "cells.zarr/parts/2.json"].map(time),
        before,
        "it was whole"
    );
    // A single process may continue the work of many, and vice versa.
    fs::remove_file(place.path("cells.zarr/parts/2.json")).unwrap();
    assert_eq!(
        numbers(&place.run("cells.zarr --region 1/1 --json").expect(0).json())[1],
        (2, true)
    );
    assert!(killed > 2, "{killed} killed");
    for (line, code, words) in [
        (
            "knot.stl -r 500 --solid -o cells.zarr --resume",
            6,
            "another plan",
        ),
        (
            "knot.stl -r 500 --solid -o cells.npz --resume",
            2,
            "regions of a folder of Zarr",
        ),
        (
            "knot.stl --filled --inside flood -o new.zarr --resume",
            2,
            "a flood",
        ),
        ("- -o new.zarr --resume", 2, "a pipe"),
        ("knot.stl cube.stl -o new/ --resume", 2, "one grid"),
        (
            "knot.stl --solid -o new.zarr --resume --max-doubt 1",
            2,
            "beside the grid",
        ),
    ] {
        let error = refused(&place, line, code);
        assert!(error.contains(words), "{line}: {error}");
        assert!(!place.path("new.zarr").exists(), "{line} left something");
    }
}

fn text<'a>(json: &'a Value, key: &str) -> &'a str {
    json["digest"][key].as_str().unwrap()
}

/// Regions whose smaller levels are not whole shards of 64 layers. Each region has its own files, and every
/// level has the cells of one process.
#[test]
fn regions_of_any_height_make_a_store_that_can_be_finished() {
    let place = Place::new();
    let mut cases = 0;
    for (layers, regions, expected, options) in [
        (257, 2, "2 regions of 192 layers", "--filled"),
        (512, 3, "3 regions of 192 layers", "--solid"),
        (384, 2, "2 regions of 192 layers", "--surface"),
        (576, 2, "2 regions of 320 layers", "--filled --labels file"),
        (
            600,
            4,
            "4 regions of 192 layers",
            "--rule distance --band 2",
        ),
        (257, 12, "5 regions of 64 layers", "--surface --dtype bool"),
    ] {
        let grid = format!("cube.stl --dims 9,7,{layers} {options}");
        let one = place
            .run(&format!("{grid} -o one.zarr --json"))
            .expect(0)
            .json();
        let run = place
            .run(&format!("plan {grid} --regions {regions} -o cells.zarr"))
            .expect(0);
        assert!(
            run.line("plan").starts_with(expected),
            "{grid}: {}",
            run.line("plan")
        );
        let count: u64 = expected.split(' ').next().unwrap().parse().unwrap();
        let has_fewer = run
            .line("plan")
            .contains(&format!("whole shards allow no {regions} regions"));
        assert_eq!(has_fewer, count < regions, "{grid}: {}", run.line("plan"));
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
        for name in ["cells.zarr", "one.zarr"] {
            fs::remove_dir_all(place.path(name)).unwrap();
        }
        cases += 1;
    }
    assert_eq!(cases, 6);
}

/// A plan has no cells, so it does not replace a finished grid.
#[test]
fn a_plan_does_not_replace_a_finished_grid() {
    let place = Place::new();
    place.run("cube.stl -r 20 -o one.zarr").expect(0);
    for line in [
        "plan cube.stl -r 20 -o one.zarr",
        "cube.stl -r 20 -o one.zarr --resume",
    ] {
        let error = refused(&place, line, 6);
        assert!(
            error.contains("finished grid without a plan"),
            "{line}: {error}"
        );
        assert!(Voxels::open(place.path("one.zarr")).is_ok(), "{line}");
    }
    place.run("cube.stl -r 21 -o one.zarr").expect(0);
}
