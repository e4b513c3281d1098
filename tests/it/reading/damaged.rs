//! Bad input is an error with cause and place. It never causes a panic or an allocation of a claimed size.

use std::io::Read;

use voxelize::Kind;
use voxelize::mesh::read::{ReadOptions, Tolerance, read_file, read_stream};

use super::inputs::{binary, fixture, place, read, read_with, rows, soup, stream, unescaped};
use crate::support::random::Random;

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let cube = std::fs::read(fixture("cube.stl")).unwrap();
    for cut in 0..cube.len() {
        let expected = if cut == 0 { "S001" } else { "S003" };
        let error = read(&cube[..cut]).unwrap_err();
        assert_eq!(error.code().name(), expected, "cut at {cut}");
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
    let message = error.message();
    assert!(message.contains("84") && message.contains("284"), "{error}");
    for extra in [1, 50, 77, 10_000, 1_000_000] {
        let mut bytes = binary(b"", 12, &soup(12));
        bytes.resize(bytes.len() + extra, 0);
        let error = read(&bytes).unwrap_err();
        assert_eq!(error.code().name(), "S005", "{error}");
        let start = format!("{extra} bytes after the last triangle");
        assert!(
            extra > 100_000 || error.message().starts_with(&start),
            "{error}"
        );
    }
}

#[test]
fn a_stream_without_end_is_not_read_to_its_end() {
    let cube = std::fs::read(fixture("cube.stl")).unwrap();
    let mut endless = cube.chain(std::io::repeat(0));
    let mut name = b"solid ".chain(std::io::repeat(b'x'));
    for (stream, code, line) in [
        (&mut std::io::repeat(0) as &mut dyn Read, "S002", None),
        (&mut endless, "S005", None),
        (&mut std::io::repeat(b' '), "S002", None),
        (&mut name, "S006", Some(1)),
    ] {
        let error = read_stream(stream, "-", &ReadOptions::default()).unwrap_err();
        let found = (error.code().name(), error.file(), error.line());
        assert_eq!(found, (code, Some("-"), line));
    }
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
    let nifti = [vec![92, 1, 0, 0], vec![0; 400], noise(9000)].concat();
    let binvox = &b"#binvox 1\ndim 32 32 32\ndata\n"[..];
    let vox = &b"VOX \x96\0\0\0MAIN"[..];
    for (what, bytes, code) in [
        ("NRRD", [&nrrd[..], &slope].concat(), "S009"),
        ("NRRD of zeros", [&nrrd[..], &[0; 128_000]].concat(), "S009"),
        ("NIfTI", with(344, b"n+1\0", nifti), "S009"),
        ("DICOM", with(128, b"DICM", noise(9000)), "S009"),
        ("binvox", [binvox, &noise(9000)].concat(), "S009"),
        ("MagicaVoxel", [vox, &noise(9000)].concat(), "S009"),
        ("noise", noise(100_000), "S002"),
        ("little noise", noise(300), "S002"),
        ("zeros", vec![0; 100_000], "S002"),
        ("numbers", slope.clone(), "S002"),
        ("grey", vec![0x7f; 50_000], "S002"),
    ] {
        for tolerance in [Tolerance::Usual, Tolerance::Strict, Tolerance::Lenient] {
            let options = ReadOptions::default().tolerance(tolerance);
            let error = read_with(&bytes, &options).unwrap_err();
            let hint = error.hint().expect(what).to_string();
            assert_eq!(error.code().name(), code, "{what}, {tolerance:?}: {error}");
            assert!(!hint.contains("lenient"), "{what}: {hint}");
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
}

/// Codes, words of the message, names and files that are no meshes of a known format.
const OTHERS: &str = r"
    S009 | AMF | a.AMF | <amf>\n
    S009 | AMF | a.amf.gz | <amf>\n
    S009 | AMF | a.xml | <?xml version='1.0'?>\n<amf unit='millimeter'>
    S003 | gzip | a.gz | \x1f\x8b\x08
    S009 | Blender | c.stl | BLENDER-v279
    S002 | | d.stl | hello
    S002 | | e | \n \n
    S001 | empty | f.stl |
    S001 | empty | g.fbx |
    S009 | Gmsh | a.msh | $MeshFormat\n4.1 0 8\n$EndMeshFormat\n
    S009 | Medit | a.mesh | MeshVersionFormatted 2\nDimension 3\n
    S009 | Medit | a.stl | \x20\n\nMeshVersionFormatted\n2\n
    S009 | GIFTI | a.gii | <?xml version='1.0'?>\n<!DOCTYPE GIFTI SYSTEM 'x'>\n<GIFTI Version='1.0'>
    S009 | FreeSurfer | lh.pial | \xff\xff\xfecreated by x\n\n\0\0\0\x03\0\0\0\x01
    S009 | FreeSurfer | surface | \xff\xff\xfecreated by x\n\n\0\0\0\x03\0\0\0\x01
    S009 | Nastran | a.nas | CEND\nBEGIN BULK\nGRID,1,,0.,0.,0.\n
    S009 | Nastran | a.dat | GRID           1              0.      0.      0.\nCTRIA3  1\n
    S009 | DXF | a.dxf | \x20 0\r\nSECTION\r\n  2\r\nHEADER\r\n
    S009 | DXF | a.txt | 999\nmade by x\n0\nSECTION\n
    S009 | DXF | a | AutoCAD Binary DXF\r\n\x1a\0
    S009 | 3DS | a.bin | MM\x1e\0\0\0\x02\0\x0a\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0
    S009 | GOCAD | a.ts | GOCAD TSurf 1\nHEADER {\nname:x\n}\nTFACE\nVRTX 1 0 0 0\n
    S009 | TetGen | a.node | 4 3 0 0\n1 0 0 0\n
    S009 | TetGen | a.ele | 1 4 0\n1 1 2 3 4\n
    S009 | 3D Tiles | a.b3dm | b3dm\x01\0\0\0\x20\0\0\0
    S009 | IFC | a.stp | ISO-10303-21;\nHEADER;\nFILE_SCHEMA(('IFC4'));\n
    S009 | STEP | a.ply | ISO-10303-21;\nHEADER;\n
    S009 | STEP | b.stl | ISO-10303-21;\n
    S009 | IGES | a.txt | made by hand                                                            S      1\n
    S009 | FBX | a.fbx | ; FBX 7.4.0 project file\n
    S009 | Collada | a.xml | <?xml version='1.0'?>\n<COLLADA xmlns='x'>
    S009 | URDF | a.urdf | <?xml version='1.0'?>\n<robot name='r'><link name='a'><visual><geometry><mesh filename='a.stl'/>
    S009 | scene of voxelize | a.toml | # a robot\n\n[[mesh]]\nfile = 'a.stl'\n
    S009 | VTK | a.vtp | <?xml version='1.0'?>\n<VTKFile type='PolyData'>
    S009 | X3D | a.x3d | <?xml version='1.0'?><X3D><Scene/></X3D>
    S009 | Abaqus | a.txt | ** made by x\n*HEADING\n*NODE\n1, 0., 0., 0.\n
    S009 | USD | a.txt | #usda 1.0\n(\n)\n
    S009 | SolidWorks | a.sldprt | \xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0
    S009 | Parasolid | a.x_t | **ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijk*****\n
    S009 | PCD | a.txt | # .PCD v0.7\nVERSION 0.7\nFIELDS x y z\n
    S009 | points | a.xyz | 0.5 1.5 2.5\n1.5 2.5 3.5\n
    S009 | UTF-16 | a.obj | v\0 \00\0 \00\0 \00\0\n\0v\0 \01\0 \00\0 \00\0\n\0
    S009 | UTF-16 | a.obj | \xfe\xff\0v\0 \x000
    S009 | web page | a.stl | <!DOCTYPE html>\n<html>
    S009 | Git LFS | a.stl | version https://git-lfs.github.com/spec/v1\noid sha256:0\n
    S009 | OBJ of MNI | a.obj | P 0.3 0.3 0.4 10 1 3\n0 0 0\n1 0 0\n0 1 0\n
";

#[test]
fn other_formats_are_named_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, bytes: &[u8], code: &str, word: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = read_file(&path, &ReadOptions::default()).expect_err(name);
        let found = (error.kind(), error.code().name());
        assert_eq!(found, (Kind::Input, code), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(name) && text.contains(word),
            "{error}, not {word}"
        );
        error.hint().is_some()
    };
    for [code, word, name, bytes] in rows(OTHERS) {
        let has_hint = refused(name, &unescaped(bytes), code, word);
        assert_eq!(has_hint, matches!(code, "S002" | "S009"), "{name}");
    }
    assert!(refused("hero.fbx", &[0; 200], "S009", "FBX"));
    assert!(refused("h.stl", &[0; 83], "S003", "84 bytes"));
}

#[test]
fn places_without_one_mesh_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| read_file(&folder.path().join(name), &ReadOptions::default());
    let error = read("none.stl").unwrap_err();
    assert_eq!(
        (error.code().name(), error.message()),
        ("S008", "no such file")
    );
    let text = "no mesh (.stl, .obj, .off, .ply, .gltf, .glb, .3mf) in this folder";
    let error = read("").unwrap_err();
    assert_eq!((error.code().name(), error.message()), ("S010", text));
    // The content decides: an STL is read under any name.
    let cube = std::fs::read(fixture("cube.stl")).unwrap();
    for name in ["part", "part.dat", "part.obj", "part.stl"] {
        std::fs::write(folder.path().join(name), &cube).unwrap();
        assert_eq!(read(name).unwrap().mesh.triangles().len(), 12, "{name}");
    }
    let text = "a folder, with 2 meshes in it; one file is expected";
    let error = read("").unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Usage, text));
}

#[test]
fn leniency_is_advised_if_it_helps() {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let ply = "ply\nformat ascii 1.0\n";
    for (text, helps) in [
        (format!("{obj}f 1 2\n"), true),
        (format!("{ply}wrong\nend_header\n"), false),
        (format!("{ply}element vertex\n"), false),
        ("OFF\nx y\n".to_string(), false),
        (format!("{obj}v {}\n", "0".repeat(2 << 20)), false),
    ] {
        let error = stream(&text, Tolerance::Usual).unwrap_err();
        let hint = error.advice().to_string();
        let is_read = stream(&text, Tolerance::Lenient).is_ok();
        let found = (hint.contains("`--lenient`"), is_read);
        assert_eq!(found, (helps, helps), "{error}: {hint:?}");
    }
}
