//! Times the methods that find the inside, next to the surface, in one run.
//!
//! `cargo bench --bench inside -- [MESH …] [--res LIST] [--threads LIST] [--tsv]`
//!
//! Kernel time in milliseconds: from the mesh in memory to the finished bit grid of the rule solid, including
//! the preparation of the method, at the best level. `pass` is one write over all words of the grid. `filled`
//! is that rule. `command` is the work of the command for `--solid`: the test whether the mesh is closed and
//! sound, solid, and lost features. `f/s` and `c/s` are these two divided by the surface. Both start without
//! cached properties of the mesh. Soups, which have as many open edges as triangles, have no meaningful
//! inside: they are timed only if they are named.

mod suite;

use suite::args::{Args, refuse};
use suite::table::Table;
use suite::timing::median;
use suite::{kernel, meshes};
use voxelize::rule::lost;
use voxelize::{BitGrid, Inside, Lattice, Level, Mesh, Rule, Run, par};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("res", 4),
    ("threads", 0),
    ("pass", 7),
    ("surface", 8),
    ("nonzero", 8),
    ("evenodd", 8),
    ("flood", 8),
    ("vote", 8),
    ("robust", 8),
    ("filled", 8),
    ("command", 8),
    ("f/s", 5),
    ("c/s", 5),
    ("inside", 11),
];

const METHODS: [Inside; 5] = [
    Inside::Nonzero,
    Inside::EvenOdd,
    Inside::flood(),
    Inside::Vote,
    Inside::Robust,
];

fn main() {
    let mut args = Args::from_env();
    let res: Vec<usize> = args.list("--res", "256,512,1024");
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let table = Table::new(args.flag("--tsv"), COLUMNS);
    let words = args.words();
    let are_named = !words.is_empty();
    let paths = if are_named {
        meshes::named(&words)
    } else {
        meshes::all()
    };
    for path in paths {
        let mesh = Mesh::open(&path).unwrap_or_else(|error| refuse(&error.to_string()));
        let is_soup = mesh.edge_counts().open_edges >= mesh.triangles().len() as u64;
        if mesh.triangles().is_empty() || is_soup && !are_named {
            continue;
        }
        for &res in &res {
            let lattice =
                Lattice::fit(mesh.bounds(), res).unwrap_or_else(|error| refuse(&error.to_string()));
            for &threads in &threads {
                row(&meshes::name(&path), &mesh, &lattice, res, threads, &table);
            }
        }
    }
}

fn row(name: &str, mesh: &Mesh, lattice: &Lattice, res: usize, threads: usize, table: &Table) {
    let level = Level::best();
    let pass = median(|| kernel::touched(lattice), |grid| grid.clear());
    let (surface, _) = kernel::time(mesh, lattice, threads, level);
    let solid = METHODS.map(|inside| {
        kernel::time_of(
            Rule::solid().with_inside(inside).unwrap(),
            mesh,
            lattice,
            threads,
            level,
        )
    });
    let [filled, command] = par::with_threads(threads, || {
        let run = Run::default().threads(threads).level(level);
        [Rule::filled(), Rule::solid()].map(|rule| {
            median(
                || (fresh(mesh), kernel::touched(lattice)),
                |(mesh, grid)| fill(rule, mesh, lattice, grid, &run),
            )
        })
    })
    .expect("threads start");
    let count = par::with_threads(threads, || solid[0].1.count()).expect("threads start");
    let mut cells = vec![
        name.to_string(),
        mesh.triangles().len().to_string(),
        res.to_string(),
        threads.to_string(),
        format!("{pass:.3}"),
        format!("{surface:.3}"),
    ];
    cells.extend(solid.iter().map(|(ms, _)| format!("{ms:.3}")));
    cells.extend([filled, command].map(|ms| format!("{ms:.3}")));
    cells.extend([filled, command].map(|ms| format!("{:.2}", ms / surface)));
    cells.push(count.to_string());
    table.row(&cells);
}

/// Returns the same mesh without cached properties.
fn fresh(mesh: &Mesh) -> Mesh {
    Mesh::from_triangles(mesh.triangles().to_vec()).expect("it was a mesh before")
}

/// Fills a grid like the command.
fn fill(rule: Rule, mesh: &Mesh, lattice: &Lattice, grid: &mut BitGrid, run: &Run) {
    std::hint::black_box((mesh.closedness(), mesh.closedness_defect()));
    let prepared = rule
        .prepare(mesh, lattice, run)
        .expect("memory for what is beside the grid");
    prepared
        .fill(0..lattice.dims()[2], run, &mut *grid)
        .expect("nothing cancels it");
    if let Rule::Solid { inside, .. } = rule {
        let found =
            lost::find(mesh, lattice, inside, Some(grid), run).expect("memory for the search");
        std::hint::black_box(found);
    }
}
