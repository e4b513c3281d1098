//! Bad input is an error with cause and place: never a panic, never an allocation by a claimed size.

use std::io::Read;

use voxelize::Kind;
use voxelize::mesh::read::{ReadOptions, Tolerance, read_file, read_stream};

use super::inputs::{binary, fixture, place, read, read_with, soup};
use crate::support::random::Random;

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let cube = std::fs::read(fixture("cube.stl")).unwrap();
    for cut in 0..cube.len() {
        let expected = if cut == 0 { "S001" } else { "S003" };
        assert_eq!(read(&cube[..cut]).unwrap_err().code().name(), expected, "cut at {cut}");
    }
    let ascii = std::fs::read(fixture("bracket_ascii.stl")).unwrap();
    let end = ascii.len() - " bracket\n".len();
    for cut in (0..1500).chain((1500..end - 1500).step_by(41)).chain(end - 1500..end) {
        let error = read(&ascii[..cut]).expect_err("a cut file is no mesh");
        let expected = match cut {
            0 => "S001",
            1..5 => "S002",
            _ => "S003",
        };
        assert_eq!(error.code().name(), expected, "cut at {cut}: {error}");
    }
    // From here only the name is missing, which does not matter.
    assert_eq!(read(&ascii[..end]).unwrap().mesh, read(&ascii).unwrap().mesh);
}

#[test]
fn counts_that_lie_are_errors_that_say_so() {
    for header in [&b""[..], b"solid liar"] {
        for n in [12, 300] {
            for (count, code) in [(n + 1, "S003"), (u32::MAX, "S003"), (n - 1, "S005"), (0, "S005")] {
                let bytes = binary(header, count, &soup(n as usize));
                // Were memory taken for what the count claims, this would be too little.
                let options = ReadOptions::default().memory(1 << 20);
                let error = read_with(&bytes, &options).unwrap_err();
                assert_eq!(error.code().name(), code, "{error}");
            }
        }
    }
    let error = read(&binary(b"", 4, &soup(3))[..200]).unwrap_err();
    assert_eq!((error.code().name(), error.byte()), ("S003", Some(200)));
    assert!(error.message().contains("84") && error.message().contains("284"), "{error}");
    for extra in [1, 50, 77, 10_000, 1_000_000] {
        let mut bytes = binary(b"", 12, &soup(12));
        bytes.resize(bytes.len() + extra, 0);
        let error = read(&bytes).unwrap_err();
        assert_eq!(error.code().name(), "S005", "{error}");
        assert!(
            extra > 100_000 || error.message().starts_with(&format!("{extra} bytes too many")),
            "{error}"
        );
    }
}

#[test]
fn a_stream_without_end_is_not_read_to_its_end() {
    let error = read_stream(&mut std::io::repeat(0), "-", &ReadOptions::default()).unwrap_err();
    assert_eq!((error.code().name(), error.file()), ("S002", Some("-")));
    let cube = std::fs::read(fixture("cube.stl")).unwrap();
    let mut endless = cube.chain(std::io::repeat(0));
    let error = read_stream(&mut endless, "-", &ReadOptions::default()).unwrap_err();
    assert_eq!((error.code().name(), error.file()), ("S005", Some("-")));
    let error = read_stream(&mut std::io::repeat(b' '), "-", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.code().name(), "S002");
    let name = b"solid ".chain(std::io::repeat(b'x'));
    let error = read_stream(&mut { name }, "-", &ReadOptions::default()).unwrap_err();
    assert_eq!((error.code().name(), error.line()), ("S006", Some(1)));
}

#[test]
fn vertices_that_are_not_finite_are_found_at_their_byte() {
    // Far enough apart for several blocks and threads; the first in the file is the one reported.
    let triangles = soup(100_000);
    for (n, coordinate) in [(0, 0), (812, 0), (5242, 8), (20_000, 4), (99_999, 8)] {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut triangles = triangles.clone();
            triangles[n.max(70_000)][2][2] = f32::NAN;
            triangles[n].as_flattened_mut()[coordinate] = bad;
            let error = read(&binary(b"", 100_000, &triangles)).unwrap_err();
            let byte = (84 + 50 * n + 12 + 4 * coordinate) as u64;
            assert_eq!(place(&error), (Kind::Input, "S004", Some(n as u64), Some(byte), None));
        }
    }
    // Normals and attributes may be anything.
    let mut bytes = binary(b"", 1, &soup(1));
    bytes[84..96].fill(0xff);
    bytes[132..134].fill(0xff);
    assert_eq!(read(&bytes).unwrap().mesh.triangles(), soup(1));
}

#[test]
fn damaged_bytes_never_panic() {
    let mut random = Random::new(7);
    let mut refused = 0;
    for name in ["cube.stl", "f.stl", "bracket_ascii.stl"] {
        let whole = std::fs::read(fixture(name)).unwrap();
        let whole = &whole[..whole.len().min(4000)];
        for _ in 0..1500 {
            let mut bytes = whole.to_vec();
            for _ in 0..1 + random.below(4) {
                let at = random.index(bytes.len());
                bytes[at] = [0, 0xff, b' ', b'\n', b'e', random.next() as u8][random.index(6)];
            }
            refused += u32::from(read(&bytes).is_err());
        }
    }
    assert!(refused > 1500);
}

/// Binaries of other programs were a binary STL "cut short by 97 GB", and `--lenient` made triangles of them.
#[test]
fn binaries_of_others_are_no_stl() {
    let mut random = Random::new(1);
    let mut noise = |length: usize| -> Vec<u8> { (0..length).map(|_| random.next() as u8).collect() };
    let with = |at: usize, magic: &[u8], mut bytes: Vec<u8>| {
        bytes[at..at + magic.len()].copy_from_slice(magic);
        bytes
    };
    let nrrd = b"NRRD0004\ntype: short\ndimension: 3\nsizes: 40 40 40\nencoding: raw\nendian: little\n\n";
    let slope: Vec<u8> = (0..40_000_u32).flat_map(|n| ((n / 40) as i16 - 500).to_le_bytes()).collect();
    for (what, bytes, code) in [
        ("NRRD", [&nrrd[..], &slope].concat(), "S009"),
        ("NRRD of zeros", [&nrrd[..], &[0; 128_000]].concat(), "S009"),
        ("NIfTI", with(344, b"n+1\0", [vec![92, 1, 0, 0], vec![0; 400], noise(9000)].concat()), "S009"),
        ("DICOM", with(128, b"DICM", noise(9000)), "S009"),
        ("binvox", [&b"#binvox 1\ndim 32 32 32\ndata\n"[..], &noise(9000)].concat(), "S009"),
        ("MagicaVoxel", [&b"VOX \x96\0\0\0MAIN"[..], &noise(9000)].concat(), "S009"),
        ("noise", noise(100_000), "S002"),
        ("little noise", noise(300), "S002"),
        ("zeros", vec![0; 100_000], "S002"),
        ("numbers", slope.clone(), "S002"),
        ("grey", vec![0x7f; 50_000], "S002"),
    ] {
        for tolerance in [Tolerance::Usual, Tolerance::Strict, Tolerance::Lenient] {
            let options = ReadOptions::default().tolerance(tolerance);
            let from_pipe = read_stream(&mut &bytes[..], "-", &options).unwrap_err();
            for error in [read_with(&bytes, &options).unwrap_err(), from_pipe] {
                assert_eq!(error.code().name(), code, "{what}, {tolerance:?}: {error}");
                assert!(
                    error.hint().is_some_and(|hint| !hint.to_string().contains("lenient")),
                    "{what}: {error}"
                );
            }
        }
    }
}

/// What was cut off says so however little is left, and is read as far as it goes.
#[test]
fn a_tenth_of_a_file_is_still_an_stl() {
    let mut bytes = std::fs::read(fixture("knot.stl")).unwrap();
    bytes.truncate(bytes.len() / 10);
    let error = read(&bytes).unwrap_err();
    assert_eq!(error.code().name(), "S003", "{error}");
    let options = ReadOptions::default().tolerance(Tolerance::Lenient);
    let kept = read_with(&bytes, &options).unwrap().mesh.triangles().len();
    assert_eq!(kept, (bytes.len() - 84) / 50);
    assert_eq!(read_stream(&mut &bytes[..], "-", &options).unwrap().mesh.triangles().len(), kept);
}

#[test]
fn other_formats_and_places_without_meshes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_file(&path, &ReadOptions::default())
    };
    let cube = std::fs::read(fixture("cube.stl")).unwrap();
    let nul = [0_u8; 200];
    for (name, bytes, code) in [
        ("hero.fbx", &nul[..], "S009"),
        ("a.AMF", b"<amf>\n", "S009"),
        ("a.gz", b"\x1f\x8b\x08", "S003"),
        ("a.amf.gz", b"<amf>\n", "S009"),
        ("b.stl", b"ISO-10303-21;\n", "S009"),
        ("c.stl", b"BLENDER-v279", "S009"),
        ("d.stl", b"hello", "S002"),
        ("e", b"\n \n", "S002"),
        ("f.stl", b"", "S001"),
        ("g.fbx", b"", "S001"),
        ("h.stl", &nul[..83], "S003"),
    ] {
        let error = at(name, bytes).unwrap_err();
        assert_eq!((error.kind(), error.code().name()), (Kind::Input, code), "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(error.hint().is_some(), matches!(code, "S002" | "S009"), "{error}");
    }
    // The content decides: what is an STL is read, whatever it is called.
    for name in ["part", "part.dat", "part.obj"] {
        assert_eq!(at(name, &cube).unwrap().mesh.triangles().len(), 12, "{name}");
    }
    let missing = read_file(&folder.path().join("none.stl"), &ReadOptions::default()).unwrap_err();
    assert_eq!((missing.code().name(), missing.message()), ("S008", "no such file"));
    let many = read_file(folder.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        (many.kind(), many.message()),
        (Kind::Usage, "a folder, with 6 meshes in it; one file is expected")
    );
    let none = tempfile::tempdir().unwrap();
    let none = read_file(none.path(), &ReadOptions::default()).unwrap_err();
    let text = "no mesh (.stl, .obj, .off, .ply, .gltf, .glb, .3mf) in this folder";
    assert_eq!((none.code().name(), none.message()), ("S010", text));
}
