//! Measures kernel time as a function of the number of triangles and of the number of cells, next to the
//! textbook test.
//!
//! `cargo bench --bench curves -- [--triangles LIST] [--res LIST] [--threads LIST] [--simd LEVEL] [--tsv]`
//!
//! The mesh is a torus knot with the requested tessellation. `curve` names the variable: `triangles` at 512
//! cells on the longest axis, or `res` with 100,000 triangles. Times are medians, measured as in
//! `versus_textbook`; the textbook runs in 32-bit floats. At 4096 the grid takes 3.5 GiB.

#[path = "../examples/fixtures/mod.rs"]
#[expect(dead_code, reason = "only the knot is needed")]
mod fixtures;
mod suite;
#[path = "versus_textbook/textbook.rs"]
#[expect(dead_code, reason = "its cells are not compared here")]
mod textbook;

use suite::args::{Args, refuse};
use suite::kernel;
use suite::table::{Table, ms};
use suite::timing::median;
use textbook::{Cells, textbook};
use voxelize::{Lattice, Level, Mesh};

const COLUMNS: &[(&str, usize)] = &[
    ("curve", 9),
    ("who", 8),
    ("threads", 0),
    ("triangles", 9),
    ("res", 4),
    ("cells", 9),
    ("ms", 10),
];

/// Cells on the longest axis of the curve over triangles.
const RES: usize = 512;

/// Triangles of the curve over cells.
const TRIANGLES: usize = 100_000;

struct Curve<'a> {
    name: &'static str,
    threads: &'a [usize],
    level: Level,
    table: &'a Table,
}

fn main() {
    let mut args = Args::from_env();
    let triangles: Vec<usize> = args.list(
        "--triangles",
        "10000,30000,100000,300000,1000000,3000000,10000000",
    );
    let res: Vec<usize> = args.list("--res", "64,128,256,512,1024,2048,4096");
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let level: String = args.one("--simd", Level::best().name());
    let level = Level::from_name(&level).unwrap_or_else(|| refuse(&format!("no level {level}")));
    let tsv = args.flag("--tsv");
    if let Some(word) = args.words().first() {
        refuse(&format!("{word}: the curves make their own meshes"));
    }
    let table = Table::new(tsv, COLUMNS);
    let curve = |name| Curve {
        name,
        threads: &threads,
        level,
        table: &table,
    };
    for triangles in triangles {
        curve("triangles").measure(&knot(triangles), RES);
    }
    let mesh = knot(TRIANGLES);
    for res in res {
        curve("res").measure(&mesh, res);
    }
}

/// Returns a torus knot of about `triangles` triangles, with equal widths along and around its tube.
fn knot(triangles: usize) -> Mesh {
    let sides = (triangles as f64 / 2.0 * 16.0 / 150.0)
        .sqrt()
        .round()
        .max(3.0);
    let rings = (triangles as f64 / 2.0 / sides).round().max(3.0);
    Mesh::from_triangles(fixtures::round::knot_of(rings as u32, sides as u32))
        .expect("the knot is finite")
}

impl Curve<'_> {
    fn measure(&self, mesh: &Mesh, res: usize) {
        let lattice =
            Lattice::fit(mesh.bounds(), res).unwrap_or_else(|error| refuse(&error.to_string()));
        let textbook_ms = median(
            || Cells::new(&lattice),
            |cells| textbook::<f32>(mesh.triangles(), &lattice, cells),
        );
        self.row("textbook", 1, mesh, res, None, textbook_ms);
        for &threads in self.threads {
            let (ours_ms, grid) = kernel::time(mesh, &lattice, threads, self.level);
            self.row("voxelize", threads, mesh, res, Some(grid.count()), ours_ms);
        }
    }

    fn row(
        &self,
        who: &str,
        threads: usize,
        mesh: &Mesh,
        res: usize,
        cells: Option<u64>,
        time: f64,
    ) {
        self.table.row(&[
            self.name.to_string(),
            who.to_string(),
            threads.to_string(),
            mesh.triangles().len().to_string(),
            res.to_string(),
            cells.map_or("-".into(), |cells| cells.to_string()),
            ms(time),
        ]);
    }
}
