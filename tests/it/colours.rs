//! Cells have the colour of the nearest point of the mesh, in every file format and with every plan.

use voxelize::Mesh;
use voxelize::format;
use voxelize::grid::{Cells, Labels};
use voxelize::mesh::MeshColours;

use crate::support::place::Place;
use crate::support::rows;

/// Corners of a box of 4 × 2 × 1, and its faces.
const CORNERS: [[u8; 3]; 8] = [
    [0, 0, 0],
    [4, 0, 0],
    [4, 2, 0],
    [0, 2, 0],
    [0, 0, 1],
    [4, 0, 1],
    [4, 2, 1],
    [0, 2, 1],
];
const FACES: [[usize; 4]; 6] = [
    [0, 3, 2, 1],
    [4, 5, 6, 7],
    [0, 1, 5, 4],
    [1, 2, 6, 5],
    [2, 3, 7, 6],
    [3, 0, 4, 7],
];
const COLOURS: [[u8; 3]; 6] = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 0],
    [255, 0, 255],
    [51, 102, 153],
];

/// Writes the box with a colour for each face, in every format with colours. Returns the names of the meshes.
fn boxes(place: &Place) -> [&'static str; 4] {
    let mut corners = String::new();
    let mut obj = "mtllib m.mtl\n".to_string();
    for [x, y, z] in CORNERS {
        corners += &format!("{x} {y} {z}\n");
        obj += &format!("v {x} {y} {z}\n");
    }
    let mut whole = format!("OFF\n8 6 0\n{corners}");
    let mut share = whole.clone();
    let mut ply = format!(
        "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 6\n\
         property list uchar int vertex_indices\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
         end_header\n{corners}"
    );
    let mut mtl = String::new();
    for (n, ([a, b, c, d], rgb)) in FACES.into_iter().zip(COLOURS).enumerate() {
        let [red, green, blue] = rgb;
        whole += &format!("4 {a} {b} {c} {d} {red} {green} {blue}\n");
        ply += &format!("4 {a} {b} {c} {d} {red} {green} {blue}\n");
        let [red, green, blue] = rgb.map(|channel| f64::from(channel) / 255.0);
        share += &format!("4 {a} {b} {c} {d} {red:.4} {green:.4} {blue:.4}\n");
        mtl += &format!("newmtl m{n}\nKa 0 0 0\nKd {red:.4} {green:.4} {blue:.4}\n");
        obj += &format!("usemtl m{n}\nf {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
    }
    place.write("m.mtl", mtl);
    place.write("whole.off", whole);
    place.write("share.off", share);
    place.write("box.obj", obj);
    place.write("box.ply", ply);
    ["whole.off", "share.off", "box.obj", "box.ply"]
}

fn labels(place: &Place, name: &str) -> Labels {
    let Cells::Labels(labels) = format::open(&place.path(name)).unwrap().cells else {
        panic!("no labels")
    };
    labels
}

/// Returns the colour of each cell.
fn colours(labels: &Labels) -> Vec<([usize; 3], [u8; 3])> {
    let colour = |value| labels.legend().get(value).unwrap().colour.unwrap();
    labels
        .iter()
        .map(|(cell, value)| (cell, colour(value)))
        .collect()
}

fn is_near(found: [u8; 3], wanted: [u8; 3], tolerance: u8) -> bool {
    found
        .iter()
        .zip(wanted)
        .all(|(a, b)| a.abs_diff(b) < tolerance)
}

#[test]
fn a_cell_has_the_colour_of_the_nearest_face() {
    let place = Place::new();
    let mut seen = 0;
    for name in boxes(&place) {
        let line = format!("{name} --voxel-size 1/4 --filled --labels colour -o a.npz");
        place.run(&line).expect(0);
        let found = colours(&labels(&place, "a.npz"));
        assert_eq!(found.len(), 16 * 8 * 4);
        for (cell, colour) in found {
            // Distances from the centre of the cell to the faces in eighths, in the order of the file.
            let [x, y, z] = cell.map(|n| 2 * n + 1);
            let away = [z, 8 - z, y, 32 - x, 16 - y, x];
            let nearest = (0..6).min_by_key(|face| away[*face]).unwrap();
            assert_eq!(colour, COLOURS[nearest], "{name}: {cell:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 4 * 512);
}

#[test]
fn between_corners_colours_are_weighted() {
    let place = Place::new();
    // Red grows along x, green along y.
    place.write(
        "a.obj",
        "v 0 0 0 0 0 0\nv 1 0 0 1 0 0\nv 1 1 0 1 1 0\nv 0 1 0 0 1 0\nf 1 2 3 4\n",
    );
    rows::check(
        &place,
        "0 a.obj --dims 5,5,1 --labels colour -o a.vox
            no err W015",
    );
    let found = colours(&labels(&place, "a.vox"));
    assert_eq!(found.len(), 25);
    for ([i, j, _], [r, g, b]) in found {
        let share = |n: usize| ((n as f64 + 0.5) / 5.0 * 255.0).round();
        let off = (f64::from(r) - share(i))
            .abs()
            .max((f64::from(g) - share(j)).abs());
        // Palette colours belong to points at a distance of up to a third of a cell.
        assert!(
            off <= 255.0 / 5.0 / 3.0 + 1.0 && b == 0,
            "({i}, {j}): {r} {g} {b}"
        );
    }
    // An independent reader finds the same colours.
    let scene = dot_vox::load(place.path("a.vox").to_str().unwrap()).unwrap();
    let ours = labels(&place, "a.vox");
    for voxel in &scene.models[0].voxels {
        let cell = [voxel.x, voxel.y, voxel.z].map(usize::from);
        let seen = scene.palette[usize::from(voxel.i)];
        assert_eq!(
            Some([seen.r, seen.g, seen.b]),
            ours.legend().get(ours.get(cell)).unwrap().colour
        );
    }
}

#[test]
fn more_colours_than_labels_are_merged_and_counted() {
    let place = Place::new();
    place.write(
        "a.obj",
        "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n",
    );
    let how = "a.obj -r 96 --rule offset --radius 3vx --labels color -o";
    let table = format!(
        r#"0 {how} a.npz --json -j 1
            /warnings/0/code "W015"
            out colours of the mesh are merged into"#
    );
    rows::check(&place, &table);
    let merged = labels(&place, "a.npz");
    let names = merged.legend().labels().len();
    assert!((200..256).contains(&names), "{names}");
    // Merged colours are close to the original colours.
    let mesh = Mesh::open(place.path("a.obj")).unwrap();
    assert_eq!(
        mesh.colours().unwrap().of(0),
        [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    );
    let lattice = format::open(&place.path("a.npz")).unwrap().lattice.unwrap();
    for ([i, j, _], colour) in colours(&merged) {
        let [x, y, _] = lattice.centre([i, j, 3]);
        if x >= 0.0 && y >= 0.0 && x + y <= 1.0 && (i + j) % 7 == 0 {
            let wanted = mesh.colours().unwrap().at(0, [1.0 - x - y, x, y]);
            assert!(
                is_near(colour, wanted, 24),
                "({i}, {j}): {colour:?} for {wanted:?}"
            );
        }
    }
    let bytes = std::fs::read(place.path("a.npz")).unwrap();
    for more in ["-j 3", "--simd scalar", "-j 2 --max-memory 23000K"] {
        place.run(&format!("{how} b.npz {more}")).expect(0);
        assert!(
            bytes == std::fs::read(place.path("b.npz")).unwrap(),
            "{more}"
        );
    }
}

#[test]
fn colours_follow_a_mirror_and_chosen_parts() {
    let place = Place::new();
    place.write("a.obj", "o one\nv 0 0 0 1 0 0\nv 4 0 0 0 1 0\nv 0 2 0 0 0 1\nf 1 2 3\no two\nv 9 9 9\nv 9 8 9\nv 8 9 9\nf 4 5 6\n");
    // Parts without colours in a mesh with colours are white.
    for (options, cell, wanted, tolerance) in [
        ("--only one", [0, 0, 0], [255, 0, 0], 30),
        ("--only one", [15, 0, 0], [0, 255, 0], 30),
        ("--only one --axes -x,y,z", [0, 0, 0], [0, 255, 0], 30),
        ("--only one --axes -x,y,z", [15, 0, 0], [255, 0, 0], 30),
        ("--only two", [3, 3, 0], [255; 3], 1),
    ] {
        let line = format!("a.obj {options} --voxel-size 1/4 --labels colour -o a.npz");
        place.run(&line).expect(0);
        let found = colours(&labels(&place, "a.npz"));
        let (_, colour) = found.iter().find(|(other, _)| *other == cell).unwrap();
        assert!(
            is_near(*colour, wanted, tolerance),
            "{options}: {colour:?} for {wanted:?}"
        );
    }
}

#[test]
fn meshes_without_colours_are_refused_and_missing_materials_noted() {
    let place = Place::new();
    rows::check(
        &place,
        "4 cube.stl -r 8 --labels colour -o a.vox
            err no colours
         2 cube.stl -r 8 --labels colour --rule distance -o a.npz",
    );
    std::fs::create_dir(place.path("folder")).unwrap();
    for library in ["gone.mtl", "../gone.mtl", "/gone.mtl", "folder"] {
        let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
        place.write("a.obj", format!("mtllib {library}\n{obj}"));
        // If colours are requested, the error states why there are none.
        rows::check(
            &place,
            r#"0 a.obj -r 4 -o a.vox --json
                /warnings/0/code "S110"
               3 a.obj -r 4 -o a.vox --strict
               4 a.obj -r 4 --labels colour -o a.vox
                err a.obj: the mesh has no colours; colours are unknown:"#,
        );
    }
    let colours = MeshColours::new(vec![[[1, 2, 3]; 3]; 2]);
    let mesh = Mesh::open(place.path("a.obj")).unwrap();
    assert!(
        mesh.with_colours(colours)
            .unwrap_err()
            .message()
            .contains("colours of 2 triangles")
    );
}

#[test]
fn labels_of_materials_have_the_colours_of_their_materials() {
    let place = Place::new();
    place.write(
        "two.mtl",
        "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nnewmtl plain\n",
    );
    let mut text = "mtllib two.mtl\n".to_string();
    for (n, name) in ["red", "blue", "plain"].into_iter().enumerate() {
        for [x, y] in [[0, 0], [9, 0], [9, 9], [0, 9]] {
            text += &format!("v {x} {y} {}\n", 3 * n);
        }
        text += &format!("usemtl {name}\nf -4 -3 -2 -1\n");
    }
    place.write("two.obj", text);
    place
        .run("two.obj --labels material -r 9 -o a.npz")
        .expect(0);
    let found = labels(&place, "a.npz");
    let found: Vec<_> = found
        .legend()
        .labels()
        .iter()
        .map(|label| (&*label.name, label.colour))
        .collect();
    assert_eq!(found[0], ("red", Some([255, 0, 0])));
    assert_eq!(found[1], ("blue", Some([0, 0, 255])));
    assert_eq!((found.len(), found[2].0), (3, "plain"));
}

#[test]
fn colours_that_are_left_out_are_noted_where_the_output_could_hold_them() {
    let place = Place::new();
    boxes(&place);
    let corners = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\n";
    place.write(
        "two.obj",
        format!("{corners}usemtl a\nf 1 3 2\nf 1 2 4\nusemtl b\nf 1 4 3\nf 2 3 4\n"),
    );
    place.write(
        "one.obj",
        format!("{corners}usemtl a\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nusemtl b\n"),
    );
    const COLOURS: &str = "the colours of the mesh are left out; --labels colour keeps them";
    const MATERIALS: &str = "the materials of the mesh are left out; --labels material keeps them";
    let mut noted = 0;
    for (call, text) in [
        ("box.obj -r 4 -o a.vox", COLOURS),
        ("box.obj -r 4 --filled -o a.npz", COLOURS),
        ("box.obj -r 4 -n -o a.vox", COLOURS),
        ("two.obj -r 4 --solid -o a.vox", MATERIALS),
        ("box.obj -r 4 --labels colour -o a.vox", ""),
        ("box.obj -r 4 --labels material -o a.vox", ""),
        ("box.obj -r 4 --rule distance -o a.npz", ""),
        ("box.obj -r 4 -o a.binvox", ""),
        ("one.obj -r 4 -o a.vox", ""),
        ("cube.stl -r 4 -o a.vox", ""),
    ] {
        let run = place.run(call).expect(0);
        assert_eq!(!text.is_empty(), run.err.contains("are left out"), "{call}");
        assert!(run.err.contains(text), "{call}: {}", run.err);
        let json = place.run(&format!("{call} --json")).expect(0).json();
        let codes = json["warnings"].as_array().unwrap().iter();
        let notes: Vec<_> = codes.filter(|one| one["code"] == "W026").collect();
        assert_eq!(notes.len(), usize::from(!text.is_empty()), "{call}");
        for note in notes {
            assert_eq!(note["level"], "note", "{call}");
            let words = format!(
                "{}; {}",
                note["message"].as_str().unwrap(),
                note["hint"].as_str().unwrap()
            );
            assert_eq!(words, text, "{call}");
            noted += 1;
        }
    }
    assert_eq!(noted, 4);
}
