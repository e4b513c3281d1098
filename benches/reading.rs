//! Times reading of meshes, binary and ASCII, next to another reader in the same run.
//!
//! `cargo bench --bench reading -- [MESH …] [--threads LIST] [--tsv]`
//!
//! Each mesh is read from its own file, and from copies below the target folder: as ASCII with six fractional
//! digits, as the C library and most exporters print them, as ASCII with all digits of a float, and packed.
//! Files are in the system's cache. `ours` returns a mesh with verified finite coordinates, its bounds and
//! degenerate triangles; `stl_io`, in one thread, returns its triangles in a list. Without a mesh: dragon and
//! bunny, or the meshes in the folder VOXELIZE_MESHES.

mod suite;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use suite::args::Args;
use suite::meshes;
use suite::table::{Table, ms};
use suite::timing::median;
use voxelize::{Mesh, par};

const COLUMNS: &[(&str, usize)] = &[
    ("mesh", 12),
    ("form", 7),
    ("who", 6),
    ("threads", 0),
    ("triangles", 0),
    ("mb", 7),
    ("ms", 9),
    ("mb_s", 6),
];

fn main() {
    let mut args = Args::from_env();
    let threads: Vec<usize> = args.list("--threads", "1,2");
    let tsv = args.flag("--tsv");
    let words = args.words();
    let paths = meshes::meant(&words, &["dragon", "bunny"]);
    let table = Table::new(tsv, COLUMNS);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder to write to");
    for path in paths {
        let mesh =
            Mesh::open(&path).unwrap_or_else(|error| suite::args::refuse(&error.to_string()));
        let copy = |form: &str, bytes: Vec<u8>| {
            let path = folder.path().join(form);
            fs::write(&path, bytes).expect("room for a copy");
            path
        };
        let binary = fs::read(&path).expect("it was read before");
        let forms = [
            ("binary", copy("binary", binary.clone())),
            ("gzip", copy("gzip", packed(&binary))),
            (
                "%e",
                copy("e", ascii(&mesh, |text, c| write!(text, " {c:.6e}"))),
            ),
            (
                "digits",
                copy("digits", ascii(&mesh, |text, c| write!(text, " {c}"))),
            ),
        ];
        for (form, copy) in &forms {
            measure(&table, &meshes::name(&path), form, copy, &mesh, &threads);
        }
    }
}

/// Measures every reader that supports the form of a file.
fn measure(table: &Table, name: &str, form: &str, path: &Path, mesh: &Mesh, threads: &[usize]) {
    let bytes = fs::metadata(path).expect("it was written").len() as f64;
    let row = |who: &str, threads: usize, time: f64| {
        table.row(&[
            name.to_string(),
            form.to_string(),
            who.to_string(),
            threads.to_string(),
            mesh.triangles().len().to_string(),
            format!("{:.1}", bytes / 1e6),
            ms(time),
            format!("{:.0}", bytes / 1e3 / time),
        ]);
    };
    for &threads in threads {
        let open = || Mesh::open(path).expect("it can be read");
        let time = par::with_threads(threads, || median(|| None, |read| *read = Some(open())));
        row("ours", threads, time.expect("threads start"));
    }
    if form != "gzip" {
        row(
            "stl_io",
            1,
            median(|| None, |read| *read = Some(theirs(path))),
        );
        assert_eq!(theirs(path).len(), mesh.triangles().len(), "{name}, {form}");
    }
}

fn theirs(path: &Path) -> Vec<stl_io::Triangle> {
    let mut file = BufReader::new(File::open(path).expect("it was written"));
    let triangles = stl_io::create_stl_reader(&mut file).expect("it is whole");
    triangles.collect::<Result<_, _>>().expect("it is whole")
}

/// Returns the mesh as ASCII with numbers formatted by `print`.
fn ascii(mesh: &Mesh, print: impl Fn(&mut String, f32) -> std::fmt::Result) -> Vec<u8> {
    let mut text = "solid part\n".to_string();
    for triangle in mesh.triangles() {
        text += "  facet normal";
        [0.0, 0.0, 1.0]
            .iter()
            .for_each(|c| print(&mut text, *c).expect("text grows"));
        text += "\n    outer loop\n";
        for vertex in triangle {
            text += "      vertex";
            vertex
                .iter()
                .for_each(|c| print(&mut text, *c).expect("text grows"));
            text += "\n";
        }
        text += "    endloop\n  endfacet\n";
    }
    (text + "endsolid part\n").into_bytes()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(vec![], Compression::fast());
    packer
        .write_all(bytes)
        .and_then(|()| packer.finish())
        .expect("memory grows")
}
