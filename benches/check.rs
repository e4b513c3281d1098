//! Times the comparison of triangles, within a mesh and between two meshes.
//!
//! `cargo bench --bench check -- [MESH …] [--threads LIST] [--tsv]`
//!
//! Times run from meshes in memory to the result, with all preparation, in milliseconds:
//! the median of at least three. A mesh is compared with itself, with its copy moved aside by 1.1 times its
//! width (`apart`) or by an eighth of it (`crossing`), and with a copy of half its size in its middle
//! (`half`). `pairs` is the number of pairs of triangles that meet; `distance` is the distance of the
//! surfaces.

mod suite;

use suite::args::{Args, refuse};
use suite::meshes;
use suite::table::Table;
use suite::timing::median;
use voxelize::compare::clearance::clearance;
use voxelize::{Mesh, par};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("with", 9),
    ("threads", 0),
    ("ms", 9),
    ("relation", 9),
    ("pairs", 7),
    ("distance", 12),
];

/// Name of a transformation, and the function of a coordinate: its axis, its value, lowest and highest one.
type Change = (&'static str, fn(usize, f32, [f32; 2]) -> f32);

const CHANGES: [Change; 3] = [
    (
        "apart",
        |axis, c, [low, high]| if axis == 0 { c + 1.1 * (high - low) } else { c },
    ),
    ("crossing", |axis, c, [low, high]| {
        if axis == 0 {
            c + 0.125 * (high - low)
        } else {
            c
        }
    }),
    ("half", |_, c, [low, high]| (c + low.midpoint(high)) / 2.0),
];

fn main() {
    let mut args = Args::from_env();
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let table = Table::new(args.flag("--tsv"), COLUMNS);
    let words = args.words();
    let usual = ["dragon", "bunny", "lucy_100k"];
    let paths = meshes::meant(&words, &usual);
    for path in paths {
        let mesh = Mesh::open(&path).unwrap_or_else(|error| refuse(&error.to_string()));
        let row = |with: &str, threads: usize, ms: f64, found: [String; 3]| {
            let [relation, pairs, distance] = found;
            let triangles = mesh.triangles().len().to_string();
            let name = meshes::name(&path);
            let ms = format!("{ms:.1}");
            let with = with.to_string();
            let threads = threads.to_string();
            table.row(&[
                name, triangles, with, threads, ms, relation, pairs, distance,
            ]);
        };
        for &threads in &threads {
            let (ms, pairs) = timed(threads, || mesh.contacts(&()).expect("few pairs").len());
            row(
                "itself",
                threads,
                ms,
                [String::new(), pairs.to_string(), String::new()],
            );
        }
        for (name, change) in CHANGES {
            let other = changed(&mesh, change);
            for &threads in &threads {
                let (ms, found) = timed(threads, || clearance(&mesh, &other).expect("it fits"));
                let distance = format!("{:.6}", found.distance);
                row(
                    name,
                    threads,
                    ms,
                    [
                        found.relation.name().to_string(),
                        found.meetings.to_string(),
                        distance,
                    ],
                );
            }
        }
    }
}

fn timed<R: Send>(threads: usize, work: impl Fn() -> R + Send + Sync) -> (f64, R) {
    par::with_threads(threads, || (median(|| (), |()| drop(work())), work()))
        .expect("threads start")
}

fn changed(mesh: &Mesh, change: fn(usize, f32, [f32; 2]) -> f32) -> Mesh {
    let bounds = mesh.bounds();
    let moved =
        |v: [f32; 3]| std::array::from_fn(|a| change(a, v[a], [bounds.min[a], bounds.max[a]]));
    Mesh::from_triangles(mesh.triangles().iter().map(|t| t.map(moved)).collect()).expect("finite")
}
