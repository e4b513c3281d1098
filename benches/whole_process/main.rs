//! Times the whole process, from an STL file in the system's cache to bits on disk, next to a floor.
//!
//! `cargo bench --bench whole_process -- [MESH …] [--res LIST] [--threads N] [--runs N] [--instructions]
//! [--tsv]`
//!
//! Our process reads, voxelizes, digests, and writes raw bits and their sidecar, synced. The floor is a
//! process that only reads the same file, and writes and syncs the same number of bytes to the same place.
//! Both run alternately; `ours_ms`, `floor_ms` and `over_ms`, their difference, are medians. `peak_mib` is
//! the peak memory of all runs, `allowed_mib` the grid plus 40 bytes per triangle plus 32 MiB. The first row
//! is the start-up: a tiny mesh and grid. Without a mesh: dragon and bunny, or the meshes in the folder
//! VOXELIZE_MESHES.

mod floor;
mod instructions;
#[path = "../suite/mod.rs"]
mod suite;

use std::num::NonZero;
use std::path::Path;

use instructions::Counter;
use suite::args::Args;
use suite::table::{Table, mib, ms};
use suite::timing::middle;
use suite::tool::{Answer, voxelize};
use suite::{meshes, process};
use voxelize::BitGrid;

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("res", 4),
    ("occupied", 9),
    ("written_mib", 0),
    ("ours_ms", 9),
    ("floor_ms", 9),
    ("over_ms", 9),
    ("peak_mib", 0),
    ("allowed_mib", 0),
    ("instructions", 13),
];

struct Bench {
    threads: usize,
    runs: usize,
    counter: Option<Counter>,
    table: Table,
}

fn main() {
    if floor::asked() {
        return floor::run();
    }
    let mut args = Args::from_env();
    let res: Vec<usize> = args.list("--res", "256,1024");
    let threads = args.one("--threads", "2");
    let runs = args.one::<NonZero<usize>>("--runs", "21").get();
    let instructions = args.flag("--instructions");
    let tsv = args.flag("--tsv");
    let words = args.words();
    let paths = meshes::meant(&words, &["dragon", "bunny"]);
    let bench = Bench {
        threads,
        runs,
        counter: Counter::choose(instructions),
        table: Table::new(tsv, COLUMNS),
    };
    bench.measure(&meshes::fixture("octahedron.stl"), 32);
    for path in &paths {
        for &res in &res {
            bench.measure(path, res);
        }
    }
}

impl Bench {
    fn measure(&self, mesh: &Path, res: usize) {
        let folder =
            tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder to write to");
        let [output, copy] = ["ours.raw", "floor.raw"].map(|name| folder.path().join(name));
        // The first run brings the mesh into the cache and is not counted.
        let mut ours = voxelize(mesh, res, self.threads, &output);
        let answer = Answer::of(&process::succeed(&mut ours).stdout);
        let mut floor = floor::command(mesh, &copy, answer.written);
        let mut times = vec![];
        let mut peak = 0;
        for _ in 0..self.runs {
            // Both create a new file.
            std::fs::remove_file(&output).expect("ours wrote it");
            let ended = process::succeed(&mut ours);
            let floor_ms = process::succeed(&mut floor).ms;
            std::fs::remove_file(&copy).expect("the floor wrote it");
            times.push((ended.ms, floor_ms));
            peak = peak.max(ended.peak);
        }
        let median = |of: fn(&(f64, f64)) -> f64| ms(middle(times.iter().map(of).collect()));
        let allowed =
            BitGrid::bytes_for(answer.dims) + 40 * u128::from(answer.triangles) + (32 << 20);
        let instructions = self.counter.and_then(|counter| counter.count(&ours));
        self.table.row(&[
            meshes::name(mesh),
            answer.triangles.to_string(),
            res.to_string(),
            answer.occupied.to_string(),
            mib(answer.written.into()),
            median(|(ours, _)| *ours),
            median(|(_, floor)| *floor),
            median(|(ours, floor)| ours - floor),
            mib(peak.into()),
            mib(allowed),
            instructions.map_or("-".into(), |count| count.to_string()),
        ]);
    }
}
