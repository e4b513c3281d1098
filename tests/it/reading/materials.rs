//! Colours are found in all notations and through all references between files.

use voxelize::mesh::read::{ReadOptions, read_file, read_stream};

use crate::support::place::Place;

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255; 3];

/// Returns the colour of the first corner of the only triangle, and the codes of findings.
fn colour(files: &Place, name: &str) -> (Option<[u8; 3]>, Vec<&'static str>) {
    let loaded = read_file(&files.path(name), &ReadOptions::default().textures(true));
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    let codes = loaded
        .findings
        .iter()
        .map(|finding| finding.code().name())
        .collect();
    (
        loaded
            .mesh
            .colours()
            .map(|colours| colours.at(0, [1.0, 0.0, 0.0])),
        codes,
    )
}

/// Picture of one red texel.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92, 0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

#[test]
fn materials_are_found_however_they_are_named() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n";
    let red = "newmtl red\nKd 1 0 0\n";
    let mut seen = 0;
    for (file, material, head, expected, codes) in [
        ("a.mtl", red, "mtllib a.mtl\nusemtl red", RED, &[][..]),
        (
            "a.mtl",
            red,
            "mtllib none.mtl a.mtl\nusemtl red",
            RED,
            &["S110"],
        ),
        (
            "b.mtl",
            red,
            "mtllib b.mtl # here\nusemtl red # this",
            RED,
            &[],
        ),
        (
            "my file.mtl",
            red,
            "mtllib my file.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "my file.mtl",
            red,
            "mtllib my file.mtl none.mtl\nusemtl red",
            RED,
            &["S110"],
        ),
        (
            "quoted.mtl",
            red,
            "mtllib \"quoted.mtl\"\nusemtl red",
            RED,
            &[],
        ),
        (
            "data/c.mtl",
            red,
            "mtllib data\\c.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "d.mtl",
            red,
            "mtllib C:\\Users\\x\\d.mtl\nusemtl red",
            RED,
            &[],
        ),
        ("e.mtl", red, "usemtl red\nmtllib e.mtl", RED, &[]),
        (
            "f.mtl",
            "newmtl red one\nKd 1 0 0\n",
            "mtllib f.mtl\nusemtl red one",
            RED,
            &[],
        ),
        (
            "g.mtl",
            "NEWMTL red\n\tkd 1 0 0\n",
            "mtllib g.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "h.mtl",
            "newmtl red\nKd 1 \\\n0 0\n",
            "mtllib h.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "i.mtl",
            "newmtl red\nKd 1.5 0.0 0.0\n",
            "mtllib i.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "j.mtl",
            "newmtl red\nKd 255 0 0\nnewmtl x\nKd 0 0 1\n",
            "mtllib j.mtl\nusemtl x",
            [0, 0, 1],
            &[],
        ),
        (
            "k.mtl",
            "newmtl M #1\nKd 1 0 0\nnewmtl M #2\nKd 0 0 1\n",
            "mtllib k.mtl\nusemtl M #2",
            BLUE,
            &[],
        ),
        (
            "l.mtl",
            "newmtl red # it is\nKd 1 0 0\n",
            "mtllib l.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "m.mtl",
            "newmtl red\nmap_kd t.png\n",
            "mtllib m.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "n.mtl",
            "newmtl red\nmap_Kd C:\\x\\t.png\n",
            "mtllib n.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "data/o.mtl",
            "newmtl red\nmap_Kd u.png\n",
            "mtllib data/o.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "p.mtl",
            "newmtl red\nmap_Kd -s 1 1 1 \\\nt.png\n",
            "mtllib p.mtl\nusemtl red",
            RED,
            &[],
        ),
        (
            "q.mtl",
            "newmtl red\nKd 1\nnewmtl x\n# C:\\\nKd 0 0 1\n",
            "mtllib q.mtl\nusemtl x",
            BLUE,
            &[],
        ),
        ("r.mtl", red, "mtllib r.mtl\nusemtl blue", WHITE, &["S110"]),
    ] {
        let files = Place::new();
        std::fs::create_dir(files.path("data")).unwrap();
        files.write(file, material);
        files.write("t.png", PNG);
        files.write("data/u.png", PNG);
        files.write("a.obj", format!("{head}\n{triangle}f 1/1 2/1 3/1\n"));
        let (found, notes) = colour(&files, "a.obj");
        let is_white = expected == WHITE;
        assert!(
            found == Some(expected) || is_white && found.is_none(),
            "{head}, {material}: {found:?} {notes:?}"
        );
        assert_eq!(notes, codes, "{head}, {material}");
        seen += 1;
    }
    assert!(seen > 20);
}

#[test]
fn colours_of_vertices_are_judged_by_the_whole_file() {
    let obj = |a: &str, b: &str| format!("v 0 0 0 {a}\nv 1 0 0 {b}\nv 0 1 0 {b}\nf 1 2 3\n");
    let off = |a: &str, b: &str| format!("COFF\n3 1 0\n0 0 0 {a}\n1 0 0 {b}\n0 1 0 {b}\n3 0 1 2\n");
    let face =
        |a: &str, b: &str| format!("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 {a}\n3 0 2 1 {b}\n");
    let floats = |a: &str, b: &str| {
        let more = ["red", "green", "blue"]
            .map(|name| format!("property float {name}\n"))
            .concat();
        format!(
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n{more}element \
             face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 {a}\n1 0 0 {b}\n0 1 0 {b}\n3 0 1 2\n"
        )
    };
    let later = |a: &str, b: &str| {
        format!("v 0 0 0 {a}\nv 1 0 0\nv 0 1 0\nf 1 2 3\nv 0 0 0 {b}\nf 1 2 4\n")
    };
    let painted =
        |a: &str, b: &str| format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n#MRGB {a}{b}{b}\nf 1 2 3\n");
    let files = Place::new();
    let mut seen = 0;
    for (name, text, expected) in [
        ("a.obj", obj("1 0 0", "0 0 1"), RED),
        ("a.obj", obj("0 0 1", "255 128 0"), [0, 0, 1]),
        ("a.obj", obj("1.05 0.5 0.2", "1 1 1"), [255, 128, 51]),
        ("a.obj", obj("3.5 0 0", "0 0 1"), RED),
        ("a.obj", obj("200.5 0 0", "0 0 1"), [201, 0, 0]),
        ("a.obj", later("1 0 0", "0 255 0"), [1, 0, 0]),
        ("a.obj", later("1 0 0", "0 1 0"), RED),
        ("a.obj", painted("ffff0000", "ff00ff00"), RED),
        ("a.off", off("1 0 0 1", "0 0 1 1"), RED),
        ("a.off", off("1 0 0 255", "0 0 1 255"), [1, 0, 0]),
        ("a.off", off("1.0 0 0", "0 0 1"), RED),
        ("a.off", face("1 0 0", "0 0 1"), RED),
        ("a.off", face("1 0 0", "0 0 255"), [1, 0, 0]),
        ("a.off", face("1.0 0.0 0.0 1.0", "0 0 1 1"), RED),
        ("a.ply", floats("1 0 0", "0 0 1"), RED),
        ("a.ply", floats("1.2 0 0", "0 0 1"), RED),
        ("a.ply", floats("1 0 0", "0 0 255"), [1, 0, 0]),
    ] {
        files.write(name, &text);
        assert_eq!(colour(&files, name), (Some(expected), vec![]), "{text}");
        seen += 1;
    }
    assert!(seen > 15);
}

#[test]
fn pictures_of_ply_and_attributes_of_stl_are_colours() {
    let files = Place::new();
    files.write("t.png", PNG);
    let head = |vertex: &str, face: &str| {
        format!(
            "ply\nformat ascii 1.0\ncomment TextureFile t.png\nelement vertex 3\nproperty float x\nproperty float y\n\
             property float z\n{vertex}element face 1\nproperty list uchar int vertex_indices\n{face}end_header\n"
        )
    };
    let places = "property float s\nproperty float t\n";
    let corners = "property list uchar float texcoord\n";
    for (text, expected) in [
        (
            head(places, "") + "0 0 0 0 0\n1 0 0 0 0\n0 1 0 0 0\n3 0 1 2\n",
            Some(RED),
        ),
        (
            head("", corners) + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2 6 0 0 0 0 0 0\n",
            Some(RED),
        ),
        (head("", "") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", None),
    ] {
        files.write("a.ply", &text);
        assert_eq!(colour(&files, "a.ply"), (expected, vec![]), "{text}");
    }
    let mut stl = vec![b' '; 80];
    stl.extend(1_u32.to_le_bytes());
    for value in [
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32,
    ] {
        stl.extend(value.to_le_bytes());
    }
    stl.extend((0x8000_u16 | 31 << 10).to_le_bytes());
    files.write("a.stl", &stl);
    assert_eq!(colour(&files, "a.stl"), (Some(RED), vec![]));
    let stream = read_stream(&mut &stl[..], "-", &ReadOptions::default().textures(true)).unwrap();
    assert_eq!(
        stream.mesh.colours().map(|colours| colours.of(0)),
        Some([RED; 3])
    );
}
