//! Colours are found in all notations and through all references between files.

use voxelize::mesh::read::{ReadOptions, read_file, read_stream};

use super::inputs::{binary, codes, rows, text};
use crate::support::place::Place;

const RED: [u8; 3] = [255, 0, 0];

/// Returns the colour of the first corner of the only triangle, and the codes of findings.
fn colour(files: &Place, name: &str) -> (Option<[u8; 3]>, String) {
    let loaded = read_file(&files.path(name), &ReadOptions::default().textures(true));
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    let colours = loaded.mesh.colours();
    let colour = colours.map(|colours| colours.at(0, [1.0, 0.0, 0.0]));
    (colour, codes(&loaded))
}

/// Picture of one red texel.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92, 0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Colours and codes of findings, names of files of materials, their content, and the start of an OBJ.
const MATERIALS: &str = r"
    255 0 0 | | a.mtl | newmtl red\nKd 1 0 0 | mtllib a.mtl\nusemtl red
    255 0 0 | S110 | a.mtl | newmtl red\nKd 1 0 0 | mtllib none.mtl a.mtl\nusemtl red
    255 0 0 | | b.mtl | newmtl red\nKd 1 0 0 | mtllib b.mtl # here\nusemtl red # this
    255 0 0 | | my file.mtl | newmtl red\nKd 1 0 0 | mtllib my file.mtl\nusemtl red
    255 0 0 | S110 | my file.mtl | newmtl red\nKd 1 0 0 | mtllib my file.mtl none.mtl\nusemtl red
    255 0 0 | | quoted.mtl | newmtl red\nKd 1 0 0 | mtllib 'quoted.mtl'\nusemtl red
    255 0 0 | | data/c.mtl | newmtl red\nKd 1 0 0 | mtllib data\\c.mtl\nusemtl red
    255 0 0 | | d.mtl | newmtl red\nKd 1 0 0 | mtllib C:\\Users\\x\\d.mtl\nusemtl red
    255 0 0 | | e.mtl | newmtl red\nKd 1 0 0 | usemtl red\nmtllib e.mtl
    255 0 0 | | f.mtl | newmtl red one\nKd 1 0 0 | mtllib f.mtl\nusemtl red one
    255 0 0 | | g.mtl | NEWMTL red\n\tkd 1 0 0 | mtllib g.mtl\nusemtl red
    255 0 0 | | h.mtl | newmtl red\nKd 1 \\\n0 0 | mtllib h.mtl\nusemtl red
    255 0 0 | | i.mtl | newmtl red\nKd 1.5 0.0 0.0 | mtllib i.mtl\nusemtl red
    0 0 1 | | j.mtl | newmtl red\nKd 255 0 0\nnewmtl x\nKd 0 0 1 | mtllib j.mtl\nusemtl x
    0 0 255 | | k.mtl | newmtl M #1\nKd 1 0 0\nnewmtl M #2\nKd 0 0 1 | mtllib k.mtl\nusemtl M #2
    255 0 0 | | l.mtl | newmtl red # it is\nKd 1 0 0 | mtllib l.mtl\nusemtl red
    255 0 0 | | m.mtl | newmtl red\nmap_kd t.png | mtllib m.mtl\nusemtl red
    255 0 0 | | n.mtl | newmtl red\nmap_Kd C:\\x\\t.png | mtllib n.mtl\nusemtl red
    255 0 0 | | data/o.mtl | newmtl red\nmap_Kd u.png | mtllib data/o.mtl\nusemtl red
    255 0 0 | | p.mtl | newmtl red\nmap_Kd -s 1 1 1 \\\nt.png | mtllib p.mtl\nusemtl red
    0 0 255 | | q.mtl | newmtl red\nKd 1\nnewmtl x\n# C:\\\nKd 0 0 1 | mtllib q.mtl\nusemtl x
    255 255 255 | S110 | r.mtl | newmtl red\nKd 1 0 0 | mtllib r.mtl\nusemtl blue
";

#[test]
fn materials_are_found_however_they_are_named() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n";
    for [expected, findings, name, material, head] in rows(MATERIALS) {
        let files = Place::new();
        std::fs::create_dir(files.path("data")).unwrap();
        files.write(name, text(material) + "\n");
        files.write("t.png", PNG);
        files.write("data/u.png", PNG);
        let head = text(&head.replace('\'', "\""));
        files.write("a.obj", format!("{head}\n{triangle}"));
        let (found, notes) = colour(&files, "a.obj");
        // Without colours, the triangle is white.
        let found = found.unwrap_or([255; 3]).map(|channel| channel.to_string());
        assert_eq!(
            (found.join(" ").as_str(), notes.as_str()),
            (expected, findings),
            "{head}"
        );
    }
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
        assert_eq!(
            colour(&files, name),
            (Some(expected), String::new()),
            "{text}"
        );
    }
}

#[test]
fn pictures_of_ply_and_attributes_of_stl_are_colours() {
    let files = Place::new();
    files.write("t.png", PNG);
    let places = ("property float s\nproperty float t\n", " 0 0");
    let corners = ("property list uchar float texcoord\n", " 6 0 0 0 0 0 0");
    let none = ("", "");
    for (vertex, face, expected) in [
        (places, none, Some(RED)),
        (none, corners, Some(RED)),
        (none, none, None),
    ] {
        let text = format!(
            "ply\nformat ascii 1.0\ncomment TextureFile t.png\nelement vertex 3\nproperty float x\nproperty float y\n\
             property float z\n{}element face 1\nproperty list uchar int vertex_indices\n{}end_header\n\
             0 0 0{2}\n1 0 0{2}\n0 1 0{2}\n3 0 1 2{3}\n",
            vertex.0, face.0, vertex.1, face.1
        );
        files.write("a.ply", &text);
        assert_eq!(colour(&files, "a.ply"), (expected, String::new()), "{text}");
    }
    let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut stl = binary(b"", 1, &[triangle]);
    stl[132..].copy_from_slice(&(0x8000_u16 | 31 << 10).to_le_bytes());
    files.write("a.stl", &stl);
    assert_eq!(colour(&files, "a.stl"), (Some(RED), String::new()));
    let stream = read_stream(&mut &stl[..], "-", &ReadOptions::default().textures(true)).unwrap();
    let colours = stream.mesh.colours().expect("colours");
    assert_eq!(colours.of(0), [RED; 3]);
}
