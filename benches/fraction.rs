//! Times the shares of cells in comparison with the surface.
//!
//! `cargo bench --bench fraction -- [MESH …] [--threads LIST] [--tsv]`
//!
//! Kernel time in milliseconds: from the mesh in memory to the finished cells, including the preparation of
//! the rule, at the best level. `cells` have a share; `ratio` is the time of shares divided by the time of
//! the surface.

mod suite;

use suite::args::{Args, refuse};
use suite::table::Table;
use suite::{kernel, meshes};
use voxelize::{Fit, Inside, Level, Mesh, Rule};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("triangles", 0),
    ("res", 4),
    ("threads", 0),
    ("surface", 9),
    ("fraction", 9),
    ("ratio", 5),
    ("cells", 11),
];

fn main() {
    let mut args = Args::from_env();
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let repeats: usize = args.one("--repeats", "5");
    let table = Table::new(args.flag("--tsv"), COLUMNS);
    for path in meshes::meant(&args.words(), &["dragon"]) {
        let mesh = Mesh::open(&path).unwrap_or_else(|error| refuse(&error.to_string()));
        let open = mesh.closedness_defect().is_some();
        let rule = Rule::Fraction {
            inside: if open { Inside::Robust } else { Inside::Auto },
        };
        for res in [256, 512] {
            let lattice = Fit::longest(res)
                .to(mesh.bounds())
                .unwrap_or_else(|error| refuse(&error.to_string()));
            for &threads in &threads {
                let surface =
                    kernel::time_of(Rule::surface(), &mesh, &lattice, threads, Level::best()).0;
                let (fraction, cells) = kernel::field_of(rule, &mesh, &lattice, threads, repeats);
                table.row(&[
                    meshes::name(&path),
                    mesh.triangles().len().to_string(),
                    res.to_string(),
                    threads.to_string(),
                    format!("{surface:.2}"),
                    format!("{fraction:.2}"),
                    format!("{:.1}", fraction / surface),
                    cells.to_string(),
                ]);
            }
        }
    }
}
