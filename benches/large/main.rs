//! Runs more than ten million triangles through the whole process, and grids above a memory limit.
//!
//! `cargo bench --bench large -- [MESH] [--res LIST] [--stream N] [--tsv]`
//!
//! The mesh, dragon or else the knot of the fixtures, is subdivided until it has ten million triangles, and
//! written as a temporary STL. It is voxelized at each `--res` to raw bits on disk; at the last one again
//! with a limit that the grid exceeds, which must give the same cells; and at `--stream` under 4 GiB with
//! discarded output. A refusal of the tool is a row; differing cells are a failure.

mod divide;
#[path = "../suite/mod.rs"]
mod suite;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use suite::args::{Args, refuse};
use suite::table::{Table, mib, ms};
use suite::timing::middle;
use suite::tool::{Answer, refusal, voxelize};
use suite::{meshes, process};
use voxelize::{BitGrid, Lattice, Mesh};

const COLUMNS: &[(&str, usize)] = &[
    ("triangles", 0),
    ("res", 4),
    ("grid_mib", 9),
    ("limit_mib", 9),
    ("ms", 10),
    ("ns_per_triangle", 0),
    ("peak_mib", 9),
    ("outcome", 35),
];

/// Minimum number of triangles of the mesh.
const TRIANGLES: usize = 10_000_000;

/// Memory limit of the streamed run.
const LIMIT: u64 = 4 << 30;

/// Size of a grid with its memory.
struct Size {
    res: usize,
    grid: u128,
}

struct Bench {
    folder: tempfile::TempDir,
    mesh: PathBuf,
    triangles: usize,
    table: Table,
}

fn main() -> ExitCode {
    let mut args = Args::from_env();
    let res: Vec<usize> = args.list("--res", "256,1024,4096");
    let stream: usize = args.one("--stream", "8192");
    let tsv = args.flag("--tsv");
    let source = match &meshes::named(&args.words())[..] {
        [] => [
            meshes::folder().join("dragon.stl"),
            meshes::fixture("knot.stl"),
        ]
        .into_iter()
        .find(|path| path.is_file())
        .expect("the knot is a fixture"),
        [one] => one.clone(),
        _ => refuse("one mesh is enough"),
    };
    let mesh = Mesh::open(&source).unwrap_or_else(|error| refuse(&error.to_string()));
    let size = |res| {
        let lattice =
            Lattice::fit(mesh.bounds(), res).unwrap_or_else(|error| refuse(&error.to_string()));
        Size {
            res,
            grid: BitGrid::bytes_for(lattice.dims()),
        }
    };
    let sizes: Vec<_> = res.into_iter().map(size).collect();
    let stream = size(stream);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder to write to");
    let times = divide::times(mesh.triangles().len(), TRIANGLES);
    let triangles = mesh.triangles().len() << (2 * times);
    let most = sizes.iter().map(|size| size.grid).max().unwrap_or_default();
    room(folder.path(), most + 50 * triangles as u128);
    let path = folder.path().join("large.stl");
    divide::write(mesh.triangles(), times, &path)
        .unwrap_or_else(|error| refuse(&error.to_string()));
    drop(mesh);
    Bench {
        folder,
        mesh: path,
        triangles,
        table: Table::new(tsv, COLUMNS),
    }
    .run(&sizes, &stream)
}

/// Refuses to start without free disk space of `need` bytes.
fn room(folder: &Path, need: u128) {
    let said = process::succeed(Command::new("df").arg("-Pk").arg(folder)).stdout;
    // The second line: device, KiB in total, used, available.
    let free = said
        .lines()
        .nth(1)
        .and_then(|line| line.split_whitespace().nth(3)?.parse::<u128>().ok());
    let free = free.expect("df says how much is free") << 10;
    if free < need {
        refuse(&format!(
            "{} MiB are needed in {}, {} are free",
            mib(need),
            folder.display(),
            mib(free)
        ));
    }
}

impl Bench {
    fn run(&self, sizes: &[Size], stream: &Size) -> ExitCode {
        let output = self.folder.path().join("large.raw");
        let mut free = None;
        for size in sizes {
            free = self.measure(size, None, &output);
        }
        let last = sizes.last().expect("a list has an element");
        // The permitted memory besides the grid, and half of the grid.
        let limit = 40 * self.triangles as u64 + (32 << 20) + (last.grid / 2) as u64;
        let limited = self.measure(last, Some(limit), &output);
        self.measure(stream, Some(LIMIT), Path::new("/dev/null"));
        match (free, limited) {
            (Some(free), Some(limited)) if free != limited => {
                eprintln!(
                    "error: at {} a limit of memory changes cells: {free}, {limited}",
                    last.res
                );
                ExitCode::FAILURE
            }
            (Some(_), Some(_)) => {
                eprintln!("at {} a limit of memory changes no cell", last.res);
                ExitCode::SUCCESS
            }
            _ => {
                eprintln!("at {} there is nothing to compare", last.res);
                ExitCode::SUCCESS
            }
        }
    }

    /// Measures one row. Returns the digest of the cells, if the run succeeded.
    fn measure(&self, size: &Size, limit: Option<u64>, output: &Path) -> Option<String> {
        let mut command = voxelize(&self.mesh, size.res, 2, output);
        if let Some(limit) = limit {
            command.args(["--max-memory", &limit.to_string()]);
        }
        let mut times = vec![];
        let mut peak = 0;
        let mut outcome = Err(String::new());
        while times.is_empty()
            || outcome.is_ok() && times.len() < 5 && times.iter().sum::<f64>() < 5000.0
        {
            let ended = process::run(&mut command);
            times.push(ended.ms);
            peak = peak.max(ended.peak);
            outcome = if ended.status.success() {
                Ok(Answer::of(&ended.stdout).digest)
            } else {
                Err(format!("{}: {}", ended.status, refusal(&ended.stdout)))
            };
        }
        let median = middle(times);
        self.table.row(&[
            self.triangles.to_string(),
            size.res.to_string(),
            mib(size.grid),
            limit.map_or("-".into(), |limit| mib(limit.into())),
            ms(median),
            outcome.as_ref().map_or("-".into(), |_| {
                format!("{:.1}", median * 1e6 / self.triangles as f64)
            }),
            mib(peak.into()),
            outcome.clone().unwrap_or_else(|refusal| refusal),
        ]);
        outcome.ok()
    }
}
