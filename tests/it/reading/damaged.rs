//! Bad input is an error with cause and place. It never causes a panic or an allocation of a claimed size.

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
        assert_eq!(
            read(&cube[..cut]).unwrap_err().code().name(),
            expected,
            "cut at {cut}"
        );
    }
    let ascii = std::fs::read(fixture("bracket_ascii.stl")).unwrap();
    let end = ascii.len() - " bracket\n".len();
    for cut in (0..1500)
        .chain((1500..end - 1500).step_by(41))
        .chain(end - 1500..end)
    {
        let error = read(&ascii[..cut]).expect_err("a cut file is no mesh");
        let expected = match cut {
            0 => "S001",
            1..5 => "S002",
            _ => "S003",
        };
        assert_eq!(error.code().name(), expected, "cut at {cut}: {error}");
    }
    // From here on only the name is missing, which does not matter.
    assert_eq!(
        read(&ascii[..end]).unwrap().mesh,
        read(&ascii).unwrap().mesh
    );
}

#[test]
fn wrong_counts_are_specific_errors() {
    for header in [&b""[..], b"solid liar"] {
        for n in [12, 300] {
            for (count, code) in [
                (n + 1, "S003"),
                (u32::MAX, "S003"),
                (n - 1, "S005"),
                (0, "S005"),
            ] {
                let bytes = binary(header, count, &soup(n as usize));
                // If the memory for the claimed count were allocated, this limit would be too small.
                let options = ReadOptions::default().memory(1 << 20);
                let error = read_with(&bytes, &options).unwrap_err();
                assert_eq!(error.code().name(), code, "{error}");
            }
        }
    }
    let error = read(&binary(b"", 4, &soup(3))[..200]).unwrap_err();
    assert_eq!((error.code().name(), error.byte()), ("S003", Some(200)));
    assert!(
        error.message().contains("84") && error.message().contains("284"),
        "{error}"
    );
    for extra in [1, 50, 77, 10_000, 1_000_000] {
        let mut bytes = binary(b"", 12, &soup(12));
        bytes.resize(bytes.len() + extra, 0);
        let error = read(&bytes).unwrap_err();
        assert_eq!(error.code().name(), "S005", "{error}");
        assert!(
            extra > 100_000
                || error
                    .message()
                    .starts_with(&format!("{extra} bytes too many")),
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
    // Far enough apart for several blocks and threads. The first one in the file is reported.
    let triangles = soup(100_000);
    for (n, coordinate) in [(0, 0), (812, 0), (5242, 8), (20_000, 4), (99_999, 8)] {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut triangles = triangles.clone();
            triangles[n.max(70_000)][2][2] = f32::NAN;
            triangles[n].as_flattened_mut()[coordinate] = bad;
            let error = read(&binary(b"", 100_000, &triangles)).unwrap_err();
            let byte = (84 + 50 * n + 12 + 4 * coordinate) as u64;
            assert_eq!(
                place(&error),
                (Kind::Input, "S004", Some(n as u64), Some(byte), None)
            );
        }
    }
    // Normals and attributes may have any value.
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

/// Regression: binaries of other programs were reported as a binary STL "cut short by 97 GB", and `--lenient`
/// turned them into triangles.
#[test]
fn binaries_of_others_are_no_stl() {
    let mut random = Random::new(1);
    let mut noise =
        |length: usize| -> Vec<u8> { (0..length).map(|_| random.next() as u8).collect() };
    let with = |at: usize, magic: &[u8], mut bytes: Vec<u8>| {
        bytes[at..at + magic.len()].copy_from_slice(magic);
        bytes
    };
    let nrrd =
        b"NRRD0004\ntype: short\ndimension: 3\nsizes: 40 40 40\nencoding: raw\nendian: little\n\n";
    let slope: Vec<u8> = (0..40_000_u32)
        .flat_map(|n| ((n / 40) as i16 - 500).to_le_bytes())
        .collect();
    for (what, bytes, code) in [
        ("NRRD", [&nrrd[..], &slope].concat(), "S009"),
        ("NRRD of zeros", [&nrrd[..], &[0; 128_000]].concat(), "S009"),
        (
            "NIfTI",
            with(
                344,
                b"n+1\0",
                [vec![92, 1, 0, 0], vec![0; 400], noise(9000)].concat(),
            ),
            "S009",
        ),
        ("DICOM", with(128, b"DICM", noise(9000)), "S009"),
        (
            "binvox",
            [&b"#binvox 1\ndim 32 32 32\ndata\n"[..], &noise(9000)].concat(),
            "S009",
        ),
        (
            "MagicaVoxel",
            [&b"VOX \x96\0\0\0MAIN"[..], &noise(9000)].concat(),
            "S009",
        ),
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
                    error
                        .hint()
                        .is_some_and(|hint| !hint.to_string().contains("lenient")),
                    "{what}: {error}"
                );
            }
        }
    }
}

/// A truncated file is recognized however little remains, and the remainder can be read.
#[test]
fn a_tenth_of_a_file_is_still_an_stl() {
    let mut bytes = std::fs::read(fixture("knot.stl")).unwrap();
    bytes.truncate(bytes.len() / 10);
    let error = read(&bytes).unwrap_err();
    assert_eq!(error.code().name(), "S003", "{error}");
    let options = ReadOptions::default().tolerance(Tolerance::Lenient);
    let kept = read_with(&bytes, &options).unwrap().mesh.triangles().len();
    assert_eq!(kept, (bytes.len() - 84) / 50);
    assert_eq!(
        read_stream(&mut &bytes[..], "-", &options)
            .unwrap()
            .mesh
            .triangles()
            .len(),
        kept
    );
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
        assert_eq!(
            (error.kind(), error.code().name()),
            (Kind::Input, code),
            "{error}"
        );
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(
            error.hint().is_some(),
            matches!(code, "S002" | "S009") || name == "h.stl",
            "{error}"
        );
    }
    // The content decides: an STL is read under any name.
    for name in ["part", "part.dat", "part.obj"] {
        assert_eq!(
            at(name, &cube).unwrap().mesh.triangles().len(),
            12,
            "{name}"
        );
    }
    let missing = read_file(&folder.path().join("none.stl"), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        (missing.code().name(), missing.message()),
        ("S008", "no such file")
    );
    let many = read_file(folder.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        (many.kind(), many.message()),
        (
            Kind::Usage,
            "a folder, with 6 meshes in it; one file is expected"
        )
    );
    let none = tempfile::tempdir().unwrap();
    let none = read_file(none.path(), &ReadOptions::default()).unwrap_err();
    let text = "no mesh (.stl, .obj, .off, .ply, .gltf, .glb, .3mf) in this folder";
    assert_eq!((none.code().name(), none.message()), ("S010", text));
}

#[test]
fn other_formats_are_named_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_file(&path, &ReadOptions::default())
            .map(|loaded| loaded.format)
            .expect_err(name)
    };
    let mut seen = 0;
    let utf16: Vec<u8> = "v 0 0 0\nv 1 0 0\n"
        .bytes()
        .flat_map(|byte| [byte, 0])
        .collect();
    let iges = format!("{:72}S      1\n", "made by hand");
    for (name, bytes, word) in [
        (
            "Gmsh",
            &b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"[..],
            "a.msh",
        ),
        ("Medit", b"MeshVersionFormatted 2\nDimension 3\n", "a.mesh"),
        ("Medit", b" \n\nMeshVersionFormatted\n2\n", "a.stl"),
        (
            "GIFTI",
            b"<?xml version=\"1.0\"?>\n<!DOCTYPE GIFTI SYSTEM \"x\">\n<GIFTI Version=\"1.0\">",
            "a.gii",
        ),
        (
            "FreeSurfer",
            b"\xff\xff\xfecreated by x\n\n\0\0\0\x03\0\0\0\x01",
            "lh.pial",
        ),
        (
            "FreeSurfer",
            b"\xff\xff\xfecreated by x\n\n\0\0\0\x03\0\0\0\x01",
            "surface",
        ),
        ("Nastran", b"CEND\nBEGIN BULK\nGRID,1,,0.,0.,0.\n", "a.nas"),
        (
            "Nastran",
            b"GRID           1              0.      0.      0.\nCTRIA3  1\n",
            "a.dat",
        ),
        ("DXF", b"  0\r\nSECTION\r\n  2\r\nHEADER\r\n", "a.dxf"),
        ("DXF", b"999\nmade by x\n0\nSECTION\n", "a.txt"),
        ("DXF", b"AutoCAD Binary DXF\r\n\x1a\0", "a"),
        (
            "3DS",
            b"MM\x1e\0\0\0\x02\0\x0a\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            "a.bin",
        ),
        (
            "GOCAD",
            b"GOCAD TSurf 1\nHEADER {\nname:x\n}\nTFACE\nVRTX 1 0 0 0\n",
            "a.ts",
        ),
        ("TetGen", b"4 3 0 0\n1 0 0 0\n", "a.node"),
        ("TetGen", b"1 4 0\n1 1 2 3 4\n", "a.ele"),
        ("3D Tiles", b"b3dm\x01\0\0\0\x20\0\0\0", "a.b3dm"),
        (
            "IFC",
            b"ISO-10303-21;\nHEADER;\nFILE_SCHEMA(('IFC4'));\n",
            "a.stp",
        ),
        ("STEP", b"ISO-10303-21;\nHEADER;\n", "a.ply"),
        ("IGES", iges.as_bytes(), "a.txt"),
        ("FBX", b"; FBX 7.4.0 project file\n", "a.fbx"),
        (
            "Collada",
            b"<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"x\">",
            "a.xml",
        ),
        (
            "VTK",
            b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\">",
            "a.vtp",
        ),
        (
            "X3D",
            b"<?xml version=\"1.0\"?><X3D><Scene/></X3D>",
            "a.x3d",
        ),
        (
            "AMF",
            b"<?xml version=\"1.0\"?>\n<amf unit=\"millimeter\">",
            "a.xml",
        ),
        (
            "Abaqus",
            b"** made by x\n*HEADING\n*NODE\n1, 0., 0., 0.\n",
            "a.txt",
        ),
        ("USD", b"#usda 1.0\n(\n)\n", "a.txt"),
        (
            "SolidWorks",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
            "a.sldprt",
        ),
        (
            "Parasolid",
            b"**ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijk*****\n",
            "a.x_t",
        ),
        ("PCD", b"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\n", "a.txt"),
        ("points", b"0.5 1.5 2.5\n1.5 2.5 3.5\n", "a.xyz"),
        ("UTF-16", &utf16, "a.obj"),
        ("UTF-16", b"\xfe\xff\0v\0 \x000", "a.obj"),
        ("web page", b"<!DOCTYPE html>\n<html>", "a.stl"),
        (
            "Git LFS",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "a.stl",
        ),
        (
            "OBJ of MNI",
            b"P 0.3 0.3 0.4 10 1 3\n0 0 0\n1 0 0\n0 1 0\n",
            "a.obj",
        ),
    ]
    .map(|(word, bytes, name)| (name, bytes, word))
    {
        let error = read(name, bytes);
        assert_eq!(error.code().name(), "S009", "{error}");
        assert!(
            error.message().contains(word),
            "{name}: {error}, not {word}"
        );
        assert!(error.hint().is_some(), "{error}");
        seen += 1;
    }
    assert!(seen > 30);
}

#[test]
fn leniency_is_advised_if_it_helps() {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for (text, helps) in [
        (format!("{obj}f 1 2\n"), true),
        (
            "ply\nformat ascii 1.0\nwrong\nend_header\n".to_string(),
            false,
        ),
        ("ply\nformat ascii 1.0\nelement vertex\n".to_string(), false),
        ("OFF\nx y\n".to_string(), false),
        (format!("{obj}v {}\n", "0".repeat(2 << 20)), false),
    ] {
        let read = |tolerance: Tolerance| {
            read_stream(
                &mut text.as_bytes(),
                "-",
                &ReadOptions::default().tolerance(tolerance),
            )
        };
        let error = read(Tolerance::Usual).unwrap_err();
        let hint = error.advice().to_string();
        let is_named = hint.contains("`--lenient`");
        assert_eq!(
            (is_named, read(Tolerance::Lenient).is_ok()),
            (helps, helps),
            "{error}: {hint:?}"
        );
    }
}
