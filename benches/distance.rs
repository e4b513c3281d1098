//! Times distance fields: narrow bands, all cells, and cells within a distance.
//!
//! `cargo bench --bench distance -- [MESH …] [--threads LIST] [--tsv]`
//!
//! Kernel time in milliseconds: from the mesh in memory to the finished cells, including the preparation of
//! the rule, at the best level. Fields are computed in the slabs of the command line, one after the other,
//! without digests. `cells` have a value or are occupied; `ns` is the time per such cell.

mod suite;

use suite::args::{Args, refuse};
use suite::table::Table;
use suite::{kernel, meshes};
use voxelize::grid::CellKind;
use voxelize::{Band, Fit, Length, Level, Mesh, Rule};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("rule", 12),
    ("res", 4),
    ("threads", 0),
    ("ms", 9),
    ("cells", 11),
    ("ns", 7),
];

/// Measured cases: name, rule, cells on the longest axis, cells of padding.
fn cases() -> Vec<(&'static str, Rule, usize, usize)> {
    let band = Rule::distance();
    let all = Rule::distance()
        .with_band(Band::All)
        .expect("a distance has a band");
    let offset = Rule::offset(Length::cells(2));
    vec![
        ("band 3", band, 256, 3),
        ("band 3", band, 512, 3),
        ("band 3", band, 1024, 3),
        ("band all", all, 128, 3),
        ("offset 2vx", offset, 512, 2),
    ]
}

fn main() {
    let mut args = Args::from_env();
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let repeats: usize = args.one("--repeats", "5");
    let table = Table::new(args.flag("--tsv"), COLUMNS);
    for path in meshes::meant(&args.words(), &["dragon"]) {
        let mesh = Mesh::open(&path).unwrap_or_else(|error| refuse(&error.to_string()));
        for (name, rule, res, pad) in cases() {
            let fit = Fit::longest(res).pad(pad);
            let lattice = fit
                .to(mesh.bounds())
                .unwrap_or_else(|error| refuse(&error.to_string()));
            for &threads in &threads {
                let (ms, cells) = match rule.kind() {
                    CellKind::Field => kernel::field_of(rule, &mesh, &lattice, threads, repeats),
                    _ => {
                        let (ms, grid) =
                            kernel::time_of(rule, &mesh, &lattice, threads, Level::best());
                        (ms, grid.count())
                    }
                };
                table.row(&[
                    meshes::name(&path),
                    mesh.triangles().len().to_string(),
                    name.to_string(),
                    res.to_string(),
                    threads.to_string(),
                    format!("{ms:.1}"),
                    cells.to_string(),
                    format!("{:.1}", 1e6 * ms / cells.max(1) as f64),
                ]);
            }
        }
    }
}
