//! Many meshes in one run give the same results as separate runs. The tests cover the selection of meshes,
//! the names of their files, the report for each, and the exit code.

mod misuse;
mod stack;
mod together;

use std::collections::BTreeMap;
use std::fs;

use crate::support::place::{Place, Run, cuboid, stl};
use serde_json::Value;
use voxelize::Voxels;

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
    let mut seen = vec![];
    let mut shares = 0;
    for share in 1..=4 {
        let line = format!("scans/ -r 20 -f npy -o out/ --shard-list {share}/4 --json");
        let run = place.run(&line).expect(0);
        let made: Vec<_> = run
            .text()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .collect();
        seen.extend(
            made.iter()
                .map(|json| json["outputs"][0]["path"].as_str().unwrap().to_string()),
        );
        shares += 1;
        // As after a kill: existing outputs are skipped.
        let again = place.run(&format!("{line} --skip-existing")).expect(0);
        let is_skipped =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"] == "skipped";
        assert!(again.text().lines().count() == made.len() && again.text().lines().all(is_skipped));
    }
    assert_eq!((shares, seen.len()), (4, all.len()));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), all.len(), "none is made twice");
    assert_eq!(below(&place, "out"), all);
    for name in &all {
        let bytes = |folder: &str| fs::read(place.path(&format!("{folder}/{name}"))).unwrap();
        assert_eq!(bytes("out"), bytes("all"), "{name}");
    }
    place
        .run("scans/ -r 20 -o out/ --shard-list 99/99")
        .expect(0);
    place
        .run("scans/b.stl -r 20 -f npy -o one/ --shard-list 1/1")
        .expect(0);
    assert_eq!(below(&place, "one"), ["b.npy"]);
    for line in [
        "scans/ -o out/ --shard-list 0/4",
        "scans/ -o out/ --shard-list 1/4 --same-grid",
        "cube.stl --shard-list 1/1",
    ] {
        place.run(line).expect(2);
    }
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

/// Returns the objects of `--json`, one per line.
fn objects(run: &Run) -> Vec<Value> {
    run.text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the values at `pointer` by the path of the mesh.
fn by_mesh(run: &Run, pointer: &str) -> BTreeMap<String, Value> {
    let of = |object: &Value| {
        let mesh = object
            .pointer("/input/path")
            .unwrap()
            .as_str()
            .unwrap()
            .to_string();
        (mesh, object.pointer(pointer).unwrap().clone())
    };
    objects(run).iter().map(of).collect()
}

#[test]
fn a_folder_is_walked_and_its_paths_are_kept() {
    let place = scans();
    let run = place.run("scans -r 16 -o out/").expect(0);
    assert_eq!(
        below(&place, "out"),
        ["b.vox", "left/a.vox", "left/inner/a.vox"]
    );
    assert_eq!(run.err.lines().count(), 2, "one line for all: {}", run.err);
    assert!(
        run.err
            .starts_with("skipped 1 file that is not named like a mesh: 1 .txt\n"),
        "{}",
        run.err
    );
    assert!(run.err.contains("3 of 3"), "{}", run.err);
    // Relative to the named folder, even if all meshes are deeper.
    place.run("scans/left -r 16 -f npz -o deep/").expect(0);
    assert_eq!(below(&place, "deep"), ["a.npz", "inner/a.npz"]);
    place
        .run("scans/left/inner/a.STL scans/left/a.stl -r 16 -o files/")
        .expect(0);
    assert_eq!(below(&place, "files"), ["a.vox", "inner/a.vox"]);
    place
        .run("scans/left/inner/a.STL cube.stl -r 16 -o far/")
        .expect(0);
    assert_eq!(below(&place, "far"), ["cube.vox", "scans/left/inner/a.vox"]);
    fs::create_dir(place.path("there")).unwrap();
    place
        .run("cube.stl thirds.stl -r 4 -f raw -o there")
        .expect(0);
    assert_eq!(
        below(&place, "there"),
        ["cube.raw", "cube.raw.json", "thirds.raw", "thirds.raw.json"]
    );
}

/// The outputs of an earlier run may be among the meshes.
#[test]
fn folders_of_voxels_are_not_walked() {
    let place = scans();
    let run = |line: &str| place.run(line).expect(0);
    run("scans -r 16 -f zarr -o scans/");
    place.write("scans/b.zarr/0/mesh.stl", stl(&cuboid([1.0; 3])));
    run("scans -r 16 -f slices -o out/");
    let folders = [
        "b.slices/slices.json",
        "left/a.slices/slices.json",
        "left/inner/a.slices/slices.json",
    ];
    let found = below(&place, "out");
    assert_eq!(
        found
            .iter()
            .filter(|name| name.ends_with(".json"))
            .collect::<Vec<_>>(),
        folders.iter().collect::<Vec<_>>()
    );
    // An existing folder is an existing output.
    let kept = run("scans -r 8 -f zarr -o scans/ --skip-existing --json");
    assert_eq!(
        by_mesh(&kept, "/status")
            .values()
            .filter(|status| **status == "skipped")
            .count(),
        3,
        "{}",
        kept.text()
    );
}

#[test]
fn one_mesh_goes_to_a_folder_with_the_usual_summary() {
    let place = scans();
    let run = place.run("cube.stl -r 4 -f npz -o new/folder/").expect(0);
    assert!(
        run.err.contains("new/folder/cube.npz") && run.err.lines().count() > 5,
        "{}",
        run.err
    );
    let run = place.run("scans/right cube.stl -r 4 -o out/").expect(3);
    assert!(
        run.line("error[S010]:").contains("scans/right") && !run.line("hint:").is_empty(),
        "{}",
        run.err
    );
    let run = place
        .run("scans/right cube.stl -r 4 -o out/ --json")
        .expect(3);
    assert_eq!(
        by_mesh(&run, "/exit_code").get("scans/right"),
        Some(&3.into())
    );
    assert_eq!(below(&place, "out"), ["cube.vox"]);
}

#[test]
fn each_mesh_gives_the_same_cells_as_alone() {
    let place = scans();
    for options in [
        "-j 1",
        "-j 2",
        "-j 3 --simd scalar",
        "-j 2 --max-memory 24M",
        "-j 1000",
    ] {
        let run = place
            .run(&format!(
                "scans -r 40 --pad 1 -f npz -o out/ --json {options}"
            ))
            .expect(0);
        let digests = by_mesh(&run, "/digest");
        assert_eq!(digests.len(), 3);
        for (mesh, digest) in &digests {
            let alone = place
                .run(&format!("{mesh} -r 40 --pad 1 -o alone.npz --json"))
                .expect(0)
                .json();
            assert_eq!(&alone["digest"], digest, "{mesh} {options}");
        }
        let made = Voxels::open(place.path("out/left/inner/a.npz")).unwrap();
        let alone = place
            .run("scans/left/inner/a.STL -r 40 --pad 1 -o alone.npz")
            .expect(0);
        assert_eq!(
            made,
            Voxels::open(place.path("alone.npz")).unwrap(),
            "{}",
            alone.err
        );
    }
}

#[test]
fn names_come_from_lists() {
    let place = scans();
    let names = "scans/b.stl\n\nscans/left\r\n./thirds.stl\n";
    place.write("list.txt", names);
    let lists = [
        ("--files-from list.txt -r 8 -o one/", "one", ""),
        ("--files-from - -r 8 -o two/", "two", names),
        (
            "-0 --files-from - -r 8 -o three/",
            "three",
            "scans/b.stl\0scans/left\0thirds.stl\0",
        ),
    ];
    let mut seen = 0;
    for (line, folder, input) in lists {
        place.run_with(line, input.as_bytes()).expect(0);
        let expected = [
            "scans/b.vox",
            "scans/left/a.vox",
            "scans/left/inner/a.vox",
            "thirds.vox",
        ];
        assert_eq!(below(&place, folder), expected, "{line}");
        seen += 1;
    }
    assert!(seen > 0);
    place.write("a\nb.stl", stl(&cuboid([1.0; 3])));
    place
        .run_with(
            "cube.stl --null --files-from - -r 8 -o four/",
            b"a\nb.stl\0",
        )
        .expect(0);
    assert_eq!(below(&place, "four"), ["a\nb.vox", "cube.vox"]);
}

#[test]
fn one_that_fails_stops_no_other() {
    let place = scans();
    with_broken(&place);
    let run = place.run("scans -r 16 -o out/").expect(7);
    assert_eq!(
        below(&place, "out"),
        ["b.vox", "left/a.vox", "left/inner/a.vox"],
        "no folder without a file"
    );
    assert!(!place.path("out/right").exists());
    let errors: Vec<_> = run
        .err
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    assert_eq!(errors.len(), 2, "{}", run.err);
    for (error, name) in errors
        .iter()
        .zip(["scans/right/cut.stl", "scans/right/none.stl"])
    {
        assert!(error.contains(name), "{}", run.err);
    }
    assert!(
        run.err.lines().last().unwrap().contains("3 of 5"),
        "{}",
        run.err
    );
    let all = objects(&place.run("scans -r 16 -o json/ --json").expect(7));
    let codes: Vec<_> = all
        .iter()
        .filter_map(|one| one.pointer("/error/code")?.as_str())
        .collect();
    assert_eq!(codes, ["S003", "unfit"]);
    let run = place
        .run("scans/right/cut.stl missing.stl cube.stl -r 4 -o out2/ -q")
        .expect(3);
    let is_of_an_error = |line: &str| line.starts_with("error") || line.starts_with("hint: ");
    assert!(
        run.err.lines().all(is_of_an_error) && run.err.contains("missing.stl"),
        "{}",
        run.err
    );
    place
        .run("scans/right/none.stl cube.stl -r 4 -o out3/")
        .expect(4);
    place
        .run("scans/right/none.stl scans/right/cut.stl -r 4 -o out4/")
        .expect(7);
    assert!(!place.path("out4").exists(), "a folder without a file");
}

#[test]
fn json_has_an_object_for_each_in_order() {
    let place = scans();
    with_broken(&place);
    let run = place
        .run("scans missing.stl cube.stl -r 16 -o out/ --json")
        .expect(7);
    let of = |object: &Value, key: &str| object.pointer(key).unwrap().clone();
    let all = objects(&run);
    let ends: Vec<_> = all
        .iter()
        .map(|o| {
            format!(
                "{} {}",
                of(o, "/input/path").as_str().unwrap(),
                of(o, "/exit_code")
            )
        })
        .collect();
    let expected = [
        "scans/b.stl 0",
        "scans/left/a.stl 0",
        "scans/left/inner/a.STL 0",
        "scans/right/cut.stl 3",
        "scans/right/none.stl 4",
        "missing.stl 3",
        "cube.stl 0",
    ];
    assert_eq!(ends, expected);
    assert_eq!(of(&all[0], "/outputs/0/path"), "out/scans/b.vox");
    assert!(
        !run.err.contains("4 of 7"),
        "JSON in place of the summary: {}",
        run.err
    );
    let one = place
        .run("cube.stl -r 4 -o one.vox --json")
        .expect(0)
        .json();
    let keys = |object: &Value| {
        object
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&all[0]), keys(&one), "the schema of one mesh");
    let run = place
        .run("cube.stl thirds.stl -r 4 -o out/ --json=out.json")
        .expect(0);
    assert_eq!(
        fs::read_to_string(place.path("out.json"))
            .unwrap()
            .lines()
            .count(),
        2
    );
    assert!(run.err.contains("2 of 2"), "{}", run.err);
}

#[test]
fn existing_outputs_can_be_skipped() {
    let place = scans();
    place.run("scans -r 16 -o out/").expect(0);
    place.write("out/b.vox", "mine");
    fs::remove_file(place.path("out/left/a.vox")).unwrap();
    let run = place
        .run("scans -r 16 -o out/ --skip-existing -v")
        .expect(0);
    assert!(
        run.err.lines().last().unwrap().contains("1 of 3"),
        "{}",
        run.err
    );
    assert!(
        run.err
            .lines()
            .any(|line| line.contains("scans/b.stl") && line.contains("out/b.vox")),
        "{}",
        run.err
    );
    assert_eq!(fs::read_to_string(place.path("out/b.vox")).unwrap(), "mine");
    let json = place
        .run("scans/b.stl -o out/b.vox --skip-existing --json")
        .expect(0)
        .json();
    assert_eq!(
        (&json["status"], &json["exit_code"], &json["digest"]),
        (&"skipped".into(), &0.into(), &Value::Null)
    );
    let run = place
        .run("scans/b.stl -o out/b.vox --skip-existing")
        .expect(0);
    assert!(
        run.err.lines().count() == 1 && run.err.contains("out/b.vox"),
        "{}",
        run.err
    );
    place.run("scans/b.stl -r 4 -o out/b.vox").expect(0);
    assert_ne!(fs::read(place.path("out/b.vox")).unwrap(), b"mine");
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = scans();
    with_broken(&place);
    let before = below(&place, "");
    let run = place.run("scans -r 100 -n -o out/").expect(7);
    assert!(
        run.err.lines().last().unwrap().contains("3 of 5"),
        "{}",
        run.err
    );
    let run = place
        .run("scans/b.stl cube.stl -r 100 -n -f npy -o out/ --json")
        .expect(0);
    assert!(
        by_mesh(&run, "/estimate/output_bytes")
            .values()
            .all(|bytes| bytes.as_u64() > Some(1000))
    );
    assert_eq!(below(&place, ""), before);
    assert!(!place.path("out").exists());
}

#[test]
fn a_warning_that_all_meshes_share_is_that_of_one_mesh() {
    let place = Place::new();
    // These plates contain no cell centre.
    for name in ["a.stl", "b.stl"] {
        place.write(name, stl(&cuboid([8.0, 8.0, 0.1])));
    }
    let line = "--solid --voxel-size 1 --bounds 0,0,0,8,8,8";
    let text = "no cell is occupied: no cell centre is inside the mesh";
    let one = place.run(&format!("a.stl {line} -o a.npz")).expect(0);
    assert!(
        one.err.contains(&format!("warning[W002]: {text}")),
        "{}",
        one.err
    );
    let many = place.run(&format!("a.stl b.stl {line} -o out/")).expect(0);
    assert!(
        many.err
            .contains(&format!("warning[W002]: 2 of 2 meshes: {text}")),
        "{}",
        many.err
    );
}
