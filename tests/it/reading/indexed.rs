//! OBJ, OFF and PLY: the same triangles in every format, parts, and binary files that are cut or lie.

use voxelize::mesh::PartKind;
use voxelize::mesh::read::Tolerance;

use super::inputs::{refused, sound, stream, too_large};

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
    let whole = sound(obj());
    assert_eq!((whole.triangles().len(), whole.volume()), (12, 10.0));
    assert!(whole.edge_counts().is_oriented());
    for (name, bytes) in [
        ("off", off().into_bytes()),
        ("ply", ply_text().into_bytes()),
        ("ply", ply_bytes(false, false)),
        ("ply", ply_bytes(true, false)),
        ("ply", ply_bytes(false, true)),
        ("ply", ply_bytes(true, true)),
    ] {
        let loaded = stream(&bytes, Tolerance::Strict).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((loaded.format, loaded.findings.len()), (name, 0));
        assert!(loaded.mesh == whole, "{name}");
    }
    // Line ends of other systems.
    for text in [
        obj().replace('\n', "\r\n"),
        obj().replace('\n', "\r"),
        off().replace('\n', "\r\n"),
        ply_text().replace('\n', "\r\n"),
    ] {
        assert!(sound(&text) == whole, "{text:?}");
    }
}

#[test]
fn objects_and_groups_are_parts() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n";
    let groups = format!("g lid top\n{triangle}g body\n{triangle}{triangle}g lid top\n{triangle}");
    let objects = format!("g default\no a\ng x\n{triangle}g y\n{triangle}o b\n{triangle}");
    let later = format!("{triangle}o late\n{triangle}");
    for (text, names, wanted) in [
        (groups, ["lid top", "body"], &[0, 1, 1, 0][..]),
        (objects, ["a", "b"], &[0, 0, 1]),
        (later, ["", "late"], &[0, 1]),
    ] {
        let mesh = sound(&text);
        let parts = mesh.parts(PartKind::Object).expect("parts");
        let count = mesh.triangles().len() as u32;
        let found: Vec<u32> = (0..count).map(|n| parts.of(n)).collect();
        assert_eq!(
            (parts.names(), &found[..]),
            (&names.map(String::from)[..], wanted)
        );
    }
    assert!(sound(triangle).parts(PartKind::Object).is_none());
}

#[test]
fn strips_of_ply_turn_every_second_triangle() {
    let header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                  element tristrips 1\nproperty list int int vertex_indices\nend_header\n";
    let mesh = sound(format!(
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
fn binary_ply_that_is_cut_is_an_error_at_every_byte() {
    for bytes in [ply_bytes(false, false), ply_bytes(true, true)] {
        let header = bytes
            .windows(11)
            .position(|window| window == b"end_header\n")
            .unwrap()
            + 11;
        for length in header..bytes.len() {
            let error = refused(&bytes[..length], "S003", "");
            assert!(
                error.byte().is_some_and(|byte| byte <= length as u64),
                "{length}: {error}"
            );
        }
        let longer = [&bytes[..], &[0]].concat();
        let error = refused(&longer, "S005", "");
        assert_eq!(error.byte(), Some(bytes.len() as u64));
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
    refused(header("999999999999999999"), "S003", "");
    let mut long = header("1").into_bytes();
    long.extend([0; 12]);
    long.extend([0xff; 4]);
    refused(&long, "S003", "");
    let counts = "OFF\n999999999999999999 999999999999999999 0\n0 0 0\n";
    refused(counts, "S003", "");
    let corners = "OFF\n1 1 0\n0 0 0\n999999999999999999 0 0 0\n";
    refused(corners, "S007", "");
    // The limit also applies to vertices.
    let many: String = (0..4000).map(|n| format!("v {n} 0 0\n")).collect();
    too_large(&many, 20_000);
}
