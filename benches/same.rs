//! Compares the cells of every way to run, on meshes too large for the tests.
//!
//! `cargo bench --bench same -- [MESH …] [--res LIST] [--threads LIST] [--tsv]`
//!
//! Each mesh is voxelized at every level of this machine, with every number of threads, whole and in three
//! and in twenty slabs, and once with its triangles in reverse order and their vertices rotated. A digest
//! that differs from the digest of the scalar level in one thread is a failure.

mod suite;

use std::process::ExitCode;
use std::time::Instant;

use suite::args::{Args, refuse};
use suite::meshes;
use suite::table::Table;
use voxelize::grid::CellSource;
use voxelize::{Digest, Lattice, Level, Mesh, Rule, Run, Voxelizer};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("res", 4),
    ("cells", 10),
    ("ways", 4),
    ("other", 5),
    ("seconds", 0),
    ("digest", 35),
];

fn main() -> ExitCode {
    let mut args = Args::from_env();
    let res: Vec<usize> = args.list("--res", "256,1024");
    let threads: Vec<usize> = args.list("--threads", "1,2,3");
    let table = Table::new(args.flag("--tsv"), COLUMNS);
    let words = args.words();
    let paths = if words.is_empty() {
        meshes::all()
    } else {
        meshes::named(&words)
    };
    let mut others = 0;
    for path in paths {
        let mesh = Mesh::open(&path).unwrap_or_else(|error| refuse(&error.to_string()));
        if mesh.triangles().is_empty() {
            continue;
        }
        for &res in &res {
            let lattice =
                Lattice::fit(mesh.bounds(), res).unwrap_or_else(|error| refuse(&error.to_string()));
            others += compare(&meshes::name(&path), &mesh, &lattice, res, &threads, &table);
        }
    }
    if others == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints a row. Returns the number of runs with different cells.
fn compare(
    name: &str,
    mesh: &Mesh,
    lattice: &Lattice,
    res: usize,
    threads: &[usize],
    table: &Table,
) -> usize {
    let start = Instant::now();
    let scalar = Run::default().threads(1).level(Level::Scalar);
    let (first, cells) = whole(mesh, lattice, &scalar);
    let reversed = mesh
        .triangles()
        .iter()
        .rev()
        .map(|triangle| [triangle[2], triangle[0], triangle[1]]);
    let reversed = Mesh::from_triangles(reversed.collect()).expect("they are finite");
    let layers = lattice.dims()[2];
    let mut digests = vec![whole(&reversed, lattice, &Run::default()).0];
    for level in Level::available() {
        for &threads in threads {
            let run = Run::default().threads(threads).level(level);
            digests.push(whole(mesh, lattice, &run).0);
        }
        for height in [layers.div_ceil(20), layers.div_ceil(3)] {
            digests.push(slabs(mesh, lattice, height, &Run::default().level(level)));
        }
    }
    let other = digests.iter().filter(|digest| **digest != first).count();
    table.row(&[
        name.to_string(),
        mesh.triangles().len().to_string(),
        res.to_string(),
        cells.to_string(),
        (digests.len() + 1).to_string(),
        other.to_string(),
        format!("{:.1}", start.elapsed().as_secs_f64()),
        first.cells.to_string(),
    ]);
    other
}

fn whole(mesh: &Mesh, lattice: &Lattice, run: &Run) -> (Digest, u64) {
    let voxelize::Voxelized { voxels, .. } = Voxelizer::new(Rule::surface())
        .with_run(*run)
        .run(mesh, lattice)
        .expect("the grid fits");
    (voxels.digest(), voxels.count())
}

fn slabs(mesh: &Mesh, lattice: &Lattice, height: usize, run: &Run) -> Digest {
    let mut slabs = Voxelizer::new(Rule::surface())
        .with_run(*run)
        .slabs(mesh, lattice, voxelize::run::Plan::Slabs(height))
        .expect("the slabs fit");
    while slabs.next().expect("nothing cancels it").is_some() {}
    slabs.digest()
}
