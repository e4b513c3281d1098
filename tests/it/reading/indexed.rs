//! OBJ, OFF and PLY: the same triangles in every format, odd files of other programs, and damage.

use voxelize::mesh::PartKind;
use voxelize::mesh::read::{ReadOptions, Tolerance, read_stream};
use voxelize::{Code, Error, Mesh, Result};

pub const CUBE: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [2.0, 0.0, 0.0],
    [2.0, 2.0, 0.0],
    [0.0, 2.0, 0.0],
    [0.0, 0.0, 2.5],
    [2.0, 0.0, 2.5],
    [2.0, 2.0, 2.5],
    [0.0, 2.0, 2.5],
];
pub const SIDES: [[u32; 4]; 6] = [
    [0, 3, 2, 1],
    [4, 5, 6, 7],
    [0, 1, 5, 4],
    [1, 2, 6, 5],
    [2, 3, 7, 6],
    [3, 0, 4, 7],
];

fn read(bytes: &[u8], tolerance: Tolerance) -> Result<(Mesh, &'static str, Vec<&'static str>)> {
    let loaded = read_stream(
        &mut &bytes[..],
        "-",
        &ReadOptions::default().tolerance(tolerance),
    )?;
    assert_eq!(loaded.bytes, bytes.len() as u64);
    let codes = loaded
        .findings
        .iter()
        .map(|finding| finding.code().name())
        .collect();
    Ok((loaded.mesh, loaded.format, codes))
}

fn usual(bytes: impl AsRef<[u8]>) -> Mesh {
    read(bytes.as_ref(), Tolerance::Strict)
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

fn refused(bytes: impl AsRef<[u8]>) -> Error {
    read(bytes.as_ref(), Tolerance::Usual)
        .map(|(mesh, ..)| mesh)
        .expect_err("it is damaged")
}

fn vertices() -> impl Iterator<Item = String> {
    CUBE.iter().map(|[x, y, z]| format!("{x} {y} {z}"))
}

pub fn obj() -> String {
    let vertices: String = vertices().map(|vertex| format!("v {vertex}\n")).collect();
    let side = |[a, b, c, d]: &[u32; 4]| format!("f {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
    vertices + &SIDES.iter().map(side).collect::<String>()
}

fn off() -> String {
    let vertices: String = vertices().map(|vertex| format!("{vertex}\n")).collect();
    let side = |[a, b, c, d]: &[u32; 4]| format!("4 {a} {b} {c} {d}\n");
    format!(
        "OFF\n8 6 12\n{vertices}{}",
        SIDES.iter().map(side).collect::<String>()
    )
}

fn ply_header(format: &str, scalar: &str) -> String {
    format!(
        "ply\nformat {format} 1.0\ncomment a box\nelement vertex 8\nproperty {scalar} x\nproperty uchar red\n\
         property {scalar} y\nproperty list uchar short odd\nproperty {scalar} z\nelement extra 1\n\
         property list int float numbers\nelement face 6\nproperty uchar red\n\
         property list uchar int vertex_indices\nend_header\n"
    )
}

fn ply_text() -> String {
    let vertices: String = CUBE
        .iter()
        .map(|[x, y, z]| format!("{x} 255 {y} 2 7 8 {z}\n"))
        .collect();
    let side = |[a, b, c, d]: &[u32; 4]| format!("9 4 {a} {b} {c} {d}\n");
    ply_header("ascii", "float")
        + &vertices
        + "3 0.5 1e3 -2\n"
        + &SIDES.iter().map(side).collect::<String>()
}

fn ply_bytes(is_big: bool, is_double: bool) -> Vec<u8> {
    let format = if is_big {
        "binary_big_endian"
    } else {
        "binary_little_endian"
    };
    let mut bytes = ply_header(format, if is_double { "double" } else { "float32" }).into_bytes();
    let mut put = |number: &[u8]| {
        let mut number = number.to_vec();
        if is_big {
            number.reverse();
        }
        bytes.extend(number);
    };
    for [x, y, z] in CUBE {
        let coordinate = |put: &mut dyn FnMut(&[u8]), value: f32| {
            if is_double {
                put(&f64::from(value).to_le_bytes());
            } else {
                put(&value.to_le_bytes());
            }
        };
        coordinate(&mut put, x);
        put(&[255]);
        coordinate(&mut put, y);
        put(&[2]);
        put(&7_i16.to_le_bytes());
        put(&(-8_i16).to_le_bytes());
        coordinate(&mut put, z);
    }
    put(&1_i32.to_le_bytes());
    put(&0.5_f32.to_le_bytes());
    for side in SIDES {
        put(&[9]);
        put(&[4]);
        side.iter().for_each(|n| put(&n.to_le_bytes()));
    }
    bytes
}

#[test]
fn one_box_is_the_same_from_every_format() {
    let whole = usual(obj());
    assert_eq!((whole.triangles().len(), whole.volume()), (12, 10.0));
    assert!(whole.edge_counts().is_oriented());
    let mut seen = 0;
    for (name, bytes) in [
        ("off", off().into_bytes()),
        ("ply", ply_text().into_bytes()),
        ("ply", ply_bytes(false, false)),
        ("ply", ply_bytes(true, false)),
        ("ply", ply_bytes(false, true)),
        ("ply", ply_bytes(true, true)),
    ] {
        let (mesh, format, codes) =
            read(&bytes, Tolerance::Strict).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((format, codes.len()), (name, 0));
        assert!(mesh == whole, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 6);
    // Line ends of other systems.
    for text in [
        obj().replace('\n', "\r\n"),
        obj().replace('\n', "\r"),
        format!("\u{feff}{}", obj()),
    ] {
        assert!(usual(&text) == whole, "{text:?}");
    }
    assert!(
        usual(off().replace('\n', "\r\n")) == whole
            && usual(ply_text().replace('\n', "\r\n")) == whole
    );
}

#[test]
fn obj_files_of_the_wild_are_read() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let whole = usual(format!("{triangle}f 1 2 3\n"));
    assert_eq!(
        whole.triangles(),
        [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    );
    for face in [
        "f 1/1 2/2 3/3",
        "f 1//1 2//1 3//1",
        "f 1/1/1 2/2/1 3/3/1",
        "f -3 -2 -1",
        "f -3//-1 -2 3 # a comment",
        "f 1 \\\n2 \\\r\n3",
        "fo 1 2 3",
        "  f   1\t2 3  ",
        "s off\nusemtl red\ng\nvn 0 0 1\nvt 0 0\nf 1 2 3",
        "f +1 2 3",
    ] {
        assert!(
            usual(format!("# made by hand\n\n{triangle}{face}\n")) == whole,
            "{face}"
        );
        // Without a final line end.
        assert!(usual(format!("{triangle}{face}")) == whole, "{face}");
    }
    // Weights and colours after a vertex, exponents, and numbers that are rounded once.
    let odd = "v 0 0 0 1\nv 1.0e0 0 0 0.5 0.5 1\nv 0.000 +1 -0e5 255 0 0\nf 1 2 3\n";
    assert!(usual(odd) == whole);
    let (_, _, codes) = read(
        format!("{triangle}p 1\nl 1 2\nf 1 2 3\n").as_bytes(),
        Tolerance::Usual,
    )
    .unwrap();
    assert_eq!(codes, ["S107"]);
    // A stream has no files next to it.
    let (_, _, codes) = read(
        format!("mtllib none.mtl\n{triangle}f 1 2 3\n").as_bytes(),
        Tolerance::Usual,
    )
    .unwrap();
    assert_eq!(codes, ["S110"]);
}

#[test]
fn objects_and_groups_are_parts() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n";
    let named = |mesh: &Mesh| {
        let parts = mesh.parts(PartKind::Object).expect("parts");
        let of: Vec<u32> = (0..mesh.triangles().len() as u32)
            .map(|n| parts.of(n))
            .collect();
        (parts.names().to_vec(), of)
    };
    let groups = format!("g lid top\n{triangle}g body\n{triangle}{triangle}g lid top\n{triangle}");
    let names = ["lid top", "body"].map(String::from).to_vec();
    assert_eq!(named(&usual(groups)), (names, vec![0, 1, 1, 0]));
    let objects = format!("g default\no a\ng x\n{triangle}g y\n{triangle}o b\n{triangle}");
    assert_eq!(
        named(&usual(objects)),
        (["a", "b"].map(String::from).to_vec(), vec![0, 0, 1])
    );
    assert!(usual(triangle).parts(PartKind::Object).is_none());
    let later = format!("{triangle}o late\n{triangle}");
    assert_eq!(
        named(&usual(later)),
        (["", "late"].map(String::from).to_vec(), vec![0, 1])
    );
}

#[test]
fn off_files_of_the_wild_are_read() {
    let whole = usual("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    for text in [
        "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2",
        "# by hand\nOFF # here\n# more\n3 1\n\n0 0 0\n1 0 0\n# between\n0 1 0\n3 0 1 2 0.5 0.5 0.5\n\n",
        "COFF\n3 1 0\n0 0 0 1 0 0 1\n1 0 0 1 0 0 1\n0 1 0 1 0 0 1\n3 0 1 2 255 0 0\n",
        "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n",
        "STCNOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n",
    ] {
        assert!(usual(text) == whole, "{text}");
    }
    for (text, word) in [
        ("OFF BINARY\n3 1 0\n", "binary OFF"),
        ("4OFF\n3 1 0\n", "three coordinates"),
    ] {
        let error = refused(text);
        assert!(
            error.code() == Code::S009 && error.message().contains(word),
            "{error}"
        );
    }
}

#[test]
fn strips_of_ply_turn_every_second_triangle() {
    let header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                  element tristrips 1\nproperty list int int vertex_indices\nend_header\n";
    let mesh = usual(format!(
        "{header}0 0 0\n1 0 0\n0 1 0\n1 1 0\n8 0 1 2 3 -1 2 1 0\n"
    ));
    let places: Vec<_> = mesh
        .triangles()
        .iter()
        .map(|t| t.map(|[x, y, _]| (x + 2.0 * y) as u32))
        .collect();
    assert_eq!(places, [[0, 1, 2], [2, 1, 3], [2, 1, 0]]);
}

#[test]
fn damage_is_named_with_its_place_or_left_out() {
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
                  element face 1\nproperty list uchar int vertex_index\nend_header\n";
    let mut seen = 0;
    for (text, code, line, kept) in [
        (format!("{vertices}f 1 2 4\nf 1 2 3\n"), Code::S012, 4, 1),
        (format!("{vertices}f 0 2 3\nf 1 2 3\n"), Code::S012, 4, 1),
        (format!("{vertices}f -4 2 3\nf 1 2 3\n"), Code::S012, 4, 1),
        (format!("{vertices}f 1 2\nf 1 2 3\n"), Code::S006, 4, 1),
        (format!("{vertices}f 1 2 x\nf 1 2 3\n"), Code::S007, 4, 1),
        (
            format!("{vertices}f 99999999999999999999 2 3\nf 1 2 3\n"),
            Code::S007,
            4,
            1,
        ),
        (
            format!("{vertices}v 1,5 0 0\nf 1 2 3\nf 2 3 4\n"),
            Code::S007,
            4,
            1,
        ),
        (
            format!("{vertices}v nan 0 0\nf 1 2 3\nf 2 3 4\n"),
            Code::S004,
            4,
            1,
        ),
        (
            format!("{vertices}v 0 1e39 0\nf 4 2 3\nf 1 2 3\n"),
            Code::S004,
            4,
            1,
        ),
        (format!("{vertices}v 0 1\nf 1 2 3\n"), Code::S007, 4, 1),
        (
            "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n3 0 1 2\n".into(),
            Code::S012,
            6,
            1,
        ),
        (
            "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n".into(),
            Code::S003,
            6,
            1,
        ),
        (
            "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n7\n".into(),
            Code::S005,
            7,
            1,
        ),
        (
            "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n3 0 1 2\n".into(),
            Code::S007,
            6,
            1,
        ),
        (
            "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n-3 0 1\n3 0 1 2\n".into(),
            Code::S007,
            6,
            1,
        ),
        (
            format!("{header}0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n9\n"),
            Code::S005,
            14,
            1,
        ),
        (format!("{header}0 0 0\n1 0 0\n0 1 0\n"), Code::S003, 12, 0),
        (
            format!("{header}0 0 0\n1 0 0\n0 1\n3 0 1 2\n"),
            Code::S007,
            12,
            0,
        ),
        (
            format!("{header}0 0 0\n1 0 0\n0 1 0\n300 0 1 2\n"),
            Code::S007,
            13,
            0,
        ),
    ] {
        let error = refused(&text);
        assert_eq!(
            (error.code(), error.line()),
            (code, Some(line)),
            "{text}\n{error}"
        );
        match read(text.as_bytes(), Tolerance::Lenient) {
            Ok((mesh, ..)) => assert_eq!(mesh.triangles().len(), kept, "{text}"),
            Err(error) => assert_eq!((error.code(), kept), (code, 0), "{text}\n{error}"),
        }
        seen += 1;
    }
    assert_eq!(seen, 19);
    for text in [
        "OFF\n",
        "OFF\nx 1 0\n",
        "OFF\n-1 1 0\n",
        "ply\nformat ascii 2.0\nelement vertex 1\n",
        "ply\nelement vertex 1\nend_header\n",
        "ply\nformat odd 1.0\nend_header\n",
        "ply\nformat ascii 1.0\nproperty float x\nend_header\n",
        "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int corners\nend_header\n3 0 1 2\n",
        "ply\nformat ascii 1.0\nelement vertex -1\nend_header\n",
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty list x\nend_header\n",
    ] {
        let error = refused(text);
        assert!(
            error.code().name().starts_with('S') && !error.message().is_empty(),
            "{text:?}"
        );
    }
}

#[test]
fn binary_ply_that_is_cut_is_an_error_at_every_byte() {
    for bytes in [ply_bytes(false, false), ply_bytes(true, true)] {
        let header = bytes
            .windows(11)
            .position(|window| window == b"end_header\n")
            .unwrap()
            + 11;
        for length in header..bytes.len() {
            let error = refused(&bytes[..length]);
            assert_eq!(error.code(), Code::S003, "{length}: {error}");
            assert!(
                error.byte().is_some_and(|byte| byte <= length as u64),
                "{length}: {error}"
            );
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(
            (refused(&longer).code(), refused(&longer).byte()),
            (Code::S005, Some(bytes.len() as u64))
        );
    }
}

#[test]
fn counts_and_lengths_that_lie_allocate_nothing() {
    let header = |count: &str| {
        format!(
            "ply\nformat binary_little_endian 1.0\nelement nothing {count}\nelement vertex {count}\nproperty float x\n\
             property float y\nproperty float z\nelement face {count}\nproperty list uint int vertex_indices\nend_header\n"
        )
    };
    let claims = header("999999999999999999");
    assert_eq!(refused(&claims).code(), Code::S003);
    let mut long = header("1").into_bytes();
    long.extend([0; 12]);
    long.extend([0xff; 4]);
    assert_eq!(refused(&long).code(), Code::S003);
    assert_eq!(
        refused("OFF\n999999999999999999 999999999999999999 0\n0 0 0\n").code(),
        Code::S003
    );
    assert_eq!(
        refused("OFF\n1 1 0\n0 0 0\n999999999999999999 0 0 0\n").code(),
        Code::S007
    );
    // The limit also applies to vertices.
    let many: String = (0..4000).map(|n| format!("v {n} 0 0\n")).collect();
    let options = ReadOptions::default().memory(20_000);
    let error = read_stream(&mut many.as_bytes(), "-", &options).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::TooLarge);
}
