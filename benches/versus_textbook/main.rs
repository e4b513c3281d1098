//! Kernel time against the textbook test, mesh in memory, one bit a cell.
//!
//! `cargo bench --bench versus_textbook -- [MESH.stl …] [--res LIST] [--threads LIST] [--simd LEVEL] [--tsv]`
//!
//! Without a mesh: every STL of the folder in VOXELIZE_MESHES, else the fixtures. Each time is the
//! median of several repetitions, one where a repetition takes over a second. `ours_ms` ends with
//! the finished x-fastest bit grid; allocating and clearing it are in `clear_ms` alone. The ratio
//! is textbook_f32 / ours; `wrong` counts the cells where the textbook differs from the exact grid.

mod textbook;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use textbook::{Cells, textbook};
use voxelize::{BitGrid, Lattice, Level, Mesh, Rule, Run, What};

struct Options {
    meshes: Vec<PathBuf>,
    res: Vec<usize>,
    threads: Vec<usize>,
    level: Level,
    tsv: bool,
}

fn options() -> Options {
    let mut options =
        Options { meshes: vec![], res: vec![256], threads: vec![1], level: Level::best(), tsv: false };
    let list = |text: Option<String>| -> Vec<usize> {
        let text = text.expect("a list of numbers");
        text.split(',').map(|n| n.parse().expect("a number")).collect()
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--res" => options.res = list(args.next()),
            "--threads" => options.threads = list(args.next()),
            "--simd" => {
                let name = args.next().expect("the name of a level");
                options.level = Level::from_name(&name).unwrap_or_else(|| panic!("no level {name}"));
            }
            "--tsv" => options.tsv = true,
            "--bench" => {} // cargo passes it
            _ => options.meshes.push(arg.into()),
        }
    }
    if options.meshes.is_empty() {
        let folder = std::env::var_os("VOXELIZE_MESHES").unwrap_or_else(|| "fixtures".into());
        let files = std::fs::read_dir(&folder).expect("a folder of meshes").map(|e| e.unwrap().path());
        options.meshes = files.filter(|p| p.extension().is_some_and(|e| e == "stl")).collect();
        options.meshes.sort();
    }
    assert!(!options.meshes.is_empty(), "no mesh to measure");
    options
}

/// The median time of `work`, of which `reset` is not part.
fn median<T>(mut reset: impl FnMut() -> T, mut work: impl FnMut(&mut T)) -> f64 {
    let mut times = vec![];
    let start = Instant::now();
    while times.len() < 15 && (times.len() < 3 || start.elapsed() < Duration::from_secs(1)) {
        let mut state = reset();
        let begin = Instant::now();
        work(&mut state);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        if times[0] > 1000.0 {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A cleared grid whose pages are all there.
fn touched(lattice: &Lattice) -> BitGrid {
    let mut grid = BitGrid::try_from(lattice).expect("the grid fits");
    grid.touch();
    grid
}

fn main() {
    let options = options();
    let header = "mesh triangles res threads level textbook_f32_ms textbook_f64_ms ours_ms clear_ms ratio cells \
                  wrong_f32 wrong_f64";
    let columns: Vec<&str> = header.split_whitespace().collect();
    let line = |cells: &[String]| {
        if options.tsv {
            cells.join("\t")
        } else {
            let widths = [16, 9, 5, 7, 6, 15, 15, 9, 8, 6, 9, 9, 9];
            cells.iter().zip(widths).map(|(c, w)| format!("{c:>w$}")).collect::<Vec<_>>().join(" ")
        }
    };
    println!("{}", line(&columns.iter().map(|c| c.to_string()).collect::<Vec<_>>()));
    for path in &options.meshes {
        let mesh = Mesh::open(path).unwrap_or_else(|e| panic!("{e}"));
        for &res in &options.res {
            let lattice = Lattice::fit(mesh.bounds(), res).unwrap_or_else(|e| panic!("{e}"));
            let what = What::from(Rule::Surface);
            let [f32_ms, f64_ms] = [textbook::<f32>, textbook::<f64>].map(|kernel| {
                median(|| Cells::new(&lattice), |cells| kernel(mesh.triangles(), &lattice, cells))
            });
            let clear_ms = median(|| (), |()| drop(touched(&lattice)));
            for &threads in &options.threads {
                let run = Run { threads, level: Some(options.level), ..Run::default() };
                let ours_ms = voxelize::par::with_threads(threads, || {
                    median(|| touched(&lattice), |grid| _ = what.fill(&mesh, &lattice, &run, grid).unwrap())
                })
                .unwrap();
                let mut grid = touched(&lattice);
                what.fill(&mesh, &lattice, &run, &mut grid).unwrap();
                let wrong = [textbook::<f32>, textbook::<f64>].map(|kernel| {
                    let mut cells = Cells::new(&lattice);
                    kernel(mesh.triangles(), &lattice, &mut cells);
                    cells.differ(&grid)
                });
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                println!(
                    "{}",
                    line(&[
                        name,
                        mesh.triangles().len().to_string(),
                        res.to_string(),
                        threads.to_string(),
                        options.level.name().to_string(),
                        format!("{f32_ms:.3}"),
                        format!("{f64_ms:.3}"),
                        format!("{ours_ms:.3}"),
                        format!("{clear_ms:.3}"),
                        format!("{:.2}", f32_ms / ours_ms),
                        grid.count().to_string(),
                        wrong[0].to_string(),
                        wrong[1].to_string(),
                    ])
                );
            }
        }
    }
}
