//! Meshes that share a grid, threads and memory.

use std::fs;

use serde_json::{Value, json};

use super::{below, by_mesh, scans, with_broken};
use crate::support::place::{Place, cuboid, stl};
use crate::support::rows;

#[test]
fn one_grid_is_around_all_of_them() {
    let place = scans();
    with_broken(&place);
    for threads in ["-j 1", "-j 2"] {
        let line = format!("scans -r 10 --same-grid -f npz -o out/ --json {threads}");
        let run = place.run(&line).expect(7);
        let mut grids = by_mesh(&run, "/grid");
        grids.retain(|_, grid| !grid.is_null());
        assert_eq!(grids.len(), 3, "{grids:?}");
        // The bounds are 0 … 5, 2, 3.
        let digests = by_mesh(&run, "/digest");
        for (mesh, grid) in &grids {
            assert_eq!(grid["dims"], json!([10, 4, 6]), "{mesh}");
            assert_eq!(*grid, grids["scans/b.stl"], "{mesh}");
            let line = format!("{mesh} --bounds 0,0,0,5,2,3 -r 10 -o alone.npz --json");
            let alone = place.run(&line).expect(0).json();
            assert_eq!(alone["digest"], digests[mesh], "{mesh}");
        }
    }
}

#[test]
fn skipped_meshes_still_count_for_the_common_grid() {
    let place = scans();
    let line = "scans -r 10 --same-grid -f npz -o out/ --json";
    let first = by_mesh(&place.run(line).expect(0), "/digest");
    fs::remove_file(place.path("out/b.npz")).unwrap();
    let table = format!(
        r#"0 {line} --skip-existing
            /0/input/path "scans/b.stl"
            /0/status "ok"
            /0/digest {}
            /1/status "skipped"
            /2/status "skipped""#,
        first["scans/b.stl"]
    );
    rows::check(&place, &table);
}

#[test]
fn small_ones_share_the_threads_and_large_ones_have_them_all() {
    let place = Place::new();
    let large: Vec<_> = cuboid([3.0; 3]).into_iter().cycle().take(340_000).collect();
    place.write("large.stl", stl(&large));
    rows::check(
        &place,
        r#"0 cube.stl large.stl thirds.stl -r 8 -o out/ -j 2 --json
            /0/run/threads 1
            /1/input/path "large.stl"
            /1/run/threads 2
            /2/run/threads 1"#,
    );
}

#[test]
fn the_memory_is_for_all_that_run_at_once() {
    let place = scans();
    // A grid of 32 MiB fits alone, but two would exceed the limit.
    let line = "scans cube.stl -r 640 -f raw --dtype bit -o out/ -j 2 --json --max-memory";
    let run = place.run(&format!("{line} 200M")).expect(0);
    assert!(
        by_mesh(&run, "/run/threads")
            .values()
            .any(|threads| *threads == 1)
    );
    let tight = place.run(&format!("{line} 60M")).expect(0);
    assert_eq!(by_mesh(&run, "/digest"), by_mesh(&tight, "/digest"));
    assert_eq!(
        by_mesh(&tight, "/run/threads")["cube.stl"],
        2,
        "it waits for its turn alone"
    );
    if cfg!(target_os = "linux") {
        let peaks = by_mesh(&tight, "/memory/peak_bytes");
        let peak = peaks.values().filter_map(Value::as_u64).max().unwrap();
        assert!(peak > 20 << 20 && peak <= 60 << 20, "{peak}");
    }
}

#[test]
fn hundreds_are_made_and_each_failure_is_reported() {
    let place = Place::new();
    fs::create_dir(place.path("parts")).unwrap();
    let mut broken = vec![];
    for n in 0..300 {
        let mesh = stl(&cuboid([1.0, 1.0 + n as f32, 2.0]));
        let name = format!("parts/{n:03}.stl");
        if n % 50 == 7 {
            place.write(&name, &mesh[..mesh.len() - 1]);
            broken.push(name);
        } else {
            place.write(&name, mesh);
        }
    }
    let run = place.run("parts -r 12 -f npy --no-sync -o out/").expect(3);
    assert_eq!(below(&place, "out").len(), 294);
    let errors = run
        .err
        .lines()
        .filter_map(|line| line.strip_prefix("error[S003]: "));
    let named: Vec<_> = errors
        .filter_map(|error| error.split(": ").next())
        .collect();
    assert_eq!(named, broken, "in the order of the files");
    assert!(
        run.err.lines().last().unwrap().contains("294 of 300"),
        "{}",
        run.err
    );
}
