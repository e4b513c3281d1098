//! Meshes are read correctly from every kind of input.

mod ascii;
mod damaged;
#[cfg(feature = "cli")]
mod far;
mod gltf;
mod indexed;
mod inputs;
#[cfg(feature = "cli")]
mod materials;
mod odd;
mod pose;
#[cfg(feature = "3mf")]
mod threemf;
mod wild;

use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use voxelize::mesh::read::{INPUTS, ReadOptions, read_file};
use voxelize::{Kind, Mesh, Progress};

use inputs::{Triangle, binary, fixture, fixtures, read, read_with, soup};

#[test]
fn every_fixture_reads_alike_in_every_way_and_by_an_independent_reader() {
    for path in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        let loaded = read(&bytes).unwrap();
        let oracle: Vec<Triangle> = stl_io::create_stl_reader(&mut Cursor::new(&bytes))
            .unwrap()
            .map(|triangle| triangle.unwrap().vertices.map(|vertex| vertex.0))
            .collect();
        let oracle = Mesh::from_triangles(oracle).unwrap();
        assert_eq!(loaded.mesh, oracle, "{}", path.display());
        assert_eq!(loaded.mesh, Mesh::open(&path).unwrap());
        assert_eq!(loaded.bytes, bytes.len() as u64);
        let is_ascii = path.to_string_lossy().ends_with("_ascii.stl");
        assert_eq!(loaded.format == "stl-ascii", is_ascii);
        assert!(INPUTS.iter().any(|input| input.name == loaded.format));
    }
}

#[test]
fn the_twins_are_equal() {
    let twins = ["bracket.stl", "bracket_ascii.stl"].map(|name| Mesh::open(fixture(name)).unwrap());
    assert_eq!(twins[0], twins[1]);
    assert!(twins[0].triangles().len() > 100);
}

#[test]
fn a_header_that_begins_with_solid_is_still_a_header() {
    for header in [
        &b"solid exported by SomeCAD"[..],
        b"solid\nfacet normal 0 0 1",
        b"SOLID",
        &[b'\n'; 80],
    ] {
        // The counts 10 and 2570 contain bytes of line ends.
        for n in [1, 10, 500, 2570] {
            let triangles = soup(n);
            let loaded = read(&binary(header, n as u32, &triangles)).unwrap();
            assert_eq!(loaded.mesh.triangles(), triangles);
            assert_eq!(loaded.format, "stl-binary");
        }
    }
    let empty = read(&binary(b"solid", 0, &[])).unwrap();
    assert!(empty.mesh.triangles().is_empty() && empty.mesh.bounds().is_empty());
}

#[test]
fn threads_change_nothing() {
    let triangles = soup(130_003);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&binary(b"", 130_003, &triangles)).unwrap();
    let expected = Mesh::from_triangles(triangles).unwrap();
    for threads in [1, 2, 3, 8] {
        let mesh = voxelize::par::with_threads(threads, || Mesh::open(file.path()))
            .unwrap()
            .unwrap();
        assert_eq!(mesh, expected);
    }
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    for name in ["cube.stl", "bracket.stl", "bracket_ascii.stl"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let need = 36 * read(&bytes).unwrap().mesh.triangles().len() as u64;
        let with = |max| ReadOptions::default().memory(max);
        assert!(read_with(&bytes, &with(need)).is_ok());
        let error = read_with(&bytes, &with(need - 1)).unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge);
    }
    // A sparse file of 20 GB that occupies no disk space and must occupy no memory.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&binary(b"", 400_000_000, &[])).unwrap();
    if file.as_file().set_len(84 + 50 * 400_000_000).is_ok() {
        let options = ReadOptions::default().memory(1 << 30);
        let error = read_file(file.path(), &options).unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge);
    }
}

#[derive(Default)]
struct Bar {
    total: AtomicU64,
    done: AtomicU64,
    stop: AtomicBool,
}

impl Progress for Bar {
    fn begin(&self, phase: &str, total: u64) {
        assert_eq!(phase, "read");
        self.total.store(total, Ordering::Relaxed);
    }

    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[test]
fn progress_adds_up_and_cancels() {
    for path in fixtures() {
        let bar = Bar::default();
        let loaded = read_file(&path, &ReadOptions::default().progress(&bar)).unwrap();
        assert_eq!(bar.total.load(Ordering::Relaxed), loaded.bytes);
        assert_eq!(bar.done.load(Ordering::Relaxed), loaded.bytes);
        bar.stop.store(true, Ordering::Relaxed);
        let error = read_file(&path, &ReadOptions::default().progress(&bar)).unwrap_err();
        assert_eq!(error.kind(), Kind::Interrupted);
    }
}
