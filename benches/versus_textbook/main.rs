//! Compares kernel time with the textbook test, with the mesh in memory and one bit per cell.
//!
//! `cargo bench --bench versus_textbook -- [MESH …] [--res LIST] [--threads LIST] [--simd LIST] [--tsv]`
//!
//! A mesh is a path or a name in the folder VOXELIZE_MESHES, or else of a fixture; without one, all are
//! measured. Each time is the median of several repetitions, or a single one if it takes more than a second.
//! `ours_ms` ends with the finished x-fastest bit grid; allocating and clearing it are only in `clear_ms`.
//! `ratio` is textbook_f32 / ours, `scaling` is ours with the first number of threads / ours; `wrong` counts
//! the cells in which the textbook differs from the exact grid.

#[path = "../suite/mod.rs"]
mod suite;
mod textbook;

use suite::args::{Args, refuse};
use suite::table::{Table, ms};
use suite::timing::median;
use suite::{kernel, meshes};
use textbook::{Cells, Float, textbook};
use voxelize::{Lattice, Level, Mesh};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("res", 4),
    ("level", 6),
    ("threads", 0),
    ("textbook_f32_ms", 0),
    ("textbook_f64_ms", 0),
    ("ours_ms", 9),
    ("clear_ms", 0),
    ("ratio", 6),
    ("scaling", 0),
    ("cells", 9),
    ("wrong_f32", 0),
    ("wrong_f64", 0),
];

/// Returns the time and the cells of the textbook.
fn yardstick<T: Float>(mesh: &Mesh, lattice: &Lattice) -> (f64, Cells) {
    let run = |cells: &mut Cells| textbook::<T>(mesh.triangles(), lattice, cells);
    let ms = median(|| Cells::new(lattice), run);
    let mut cells = Cells::new(lattice);
    run(&mut cells);
    (ms, cells)
}

fn level(name: &str) -> Level {
    Level::from_name(name).unwrap_or_else(|| refuse(&format!("no level {name}")))
}

fn main() {
    let mut args = Args::from_env();
    let res: Vec<usize> = args.list("--res", "256");
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let levels: Vec<String> = args.list("--simd", Level::best().name());
    let levels: Vec<_> = levels.iter().map(|name| level(name)).collect();
    let tsv = args.flag("--tsv");
    let words = args.words();
    let paths = if words.is_empty() {
        meshes::all()
    } else {
        meshes::named(&words)
    };
    let table = Table::new(tsv, COLUMNS);
    for path in &paths {
        let mesh = Mesh::open(path).unwrap_or_else(|error| refuse(&error.to_string()));
        for &res in &res {
            let lattice =
                Lattice::fit(mesh.bounds(), res).unwrap_or_else(|error| refuse(&error.to_string()));
            let (f32_ms, f32_cells) = yardstick::<f32>(&mesh, &lattice);
            let (f64_ms, f64_cells) = yardstick::<f64>(&mesh, &lattice);
            let clear_ms = median(|| (), |()| drop(kernel::touched(&lattice)));
            for &level in &levels {
                let mut first_ms = None;
                for &threads in &threads {
                    let (ours_ms, grid) = kernel::time(&mesh, &lattice, threads, level);
                    table.row(&[
                        meshes::name(path),
                        mesh.triangles().len().to_string(),
                        res.to_string(),
                        level.name().to_string(),
                        threads.to_string(),
                        ms(f32_ms),
                        ms(f64_ms),
                        ms(ours_ms),
                        ms(clear_ms),
                        format!("{:.2}", f32_ms / ours_ms),
                        format!(
                            "{:.2}",
                            first_ms.get_or_insert(ours_ms).to_owned() / ours_ms
                        ),
                        grid.count().to_string(),
                        f32_cells.differ(&grid).to_string(),
                        f64_cells.differ(&grid).to_string(),
                    ]);
                }
            }
        }
    }
}
