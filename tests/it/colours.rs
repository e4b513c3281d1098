//! Cells have the colour of the nearest point of the mesh, in every file format and with every plan.

use serde_json::json;
use voxelize::Mesh;
use voxelize::format;
use voxelize::grid::{Cells, Labels};
use voxelize::mesh::MeshColours;

use crate::support::place::Place;

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

fn lines<T>(items: &[T], line: impl Fn(&T) -> String) -> String {
    items.iter().map(|item| line(item) + "\n").collect()
}

fn words<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the box with a colour for each face, in every format with colours. The name of the mesh comes
/// last.
fn boxes() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let numbered: Vec<_> = FACES.iter().zip(COLOURS).enumerate().collect();
    let off = |head: &str, colour: &dyn Fn([u8; 3]) -> String| {
        let faces = lines(&numbered, |(_, (face, rgb))| {
            format!("4 {} {}", words(*face), colour(*rgb))
        });
        format!(
            "{head}\n8 6 0\n{}{faces}",
            lines(&CORNERS, |corner| words(corner))
        )
    };
    let share = |rgb: [u8; 3]| {
        words(
            &rgb.map(|channel| f64::from(channel) / 255.0)
                .map(|n| format!("{n:.4}")),
        )
    };
    let vertices = lines(&CORNERS, |corner| format!("v {}", words(corner)));
    let obj = lines(&numbered, |(n, (face, _))| {
        format!("usemtl m{n}\nf {}", words(&face.map(|n| n + 1)))
    });
    let mtl = lines(&numbered, |(n, (_, rgb))| {
        format!("newmtl m{n}\nKa 0 0 0\nKd {}", share(*rgb))
    });
    let ply = format!(
        "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 6\n\
         property list uchar int vertex_indices\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
         end_header\n{}{}",
        lines(&CORNERS, |corner| words(corner)),
        lines(&numbered, |(_, (face, rgb))| format!(
            "4 {} {}",
            words(*face),
            words(rgb)
        ))
    );
    vec![
        (
            "whole.off",
            vec![("whole.off", off("OFF", &|rgb| words(&rgb)))],
        ),
        ("share.off", vec![("share.off", off("OFF", &share))]),
        (
            "box.obj",
            vec![
                ("m.mtl", mtl),
                ("box.obj", format!("mtllib m.mtl\n{vertices}{obj}")),
            ],
        ),
        ("box.ply", vec![("box.ply", ply)]),
    ]
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

#[test]
fn a_cell_has_the_colour_of_the_nearest_face() {
    let place = Place::new();
    let mut seen = 0;
    for (name, files) in boxes() {
        files
            .iter()
            .for_each(|(name, text)| place.write(name, text));
        place
            .run(&format!(
                "{name} --voxel-size 1/4 --filled --labels colour -o a.npz"
            ))
            .expect(0);
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
    let run = place
        .run("a.obj --dims 5,5,1 --labels colour -o a.vox")
        .expect(0);
    assert!(!run.err.contains("W015"), "{}", run.err);
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
    let run = place
        .run(&format!("{how} a.npz --json -j 1"))
        .expect(0)
        .json();
    let warning = &run["warnings"][0];
    assert_eq!(warning["code"], "W015");
    assert!(
        warning["message"]
            .as_str()
            .unwrap()
            .contains("colours of the mesh are merged into"),
        "{warning}"
    );
    let merged = labels(&place, "a.npz");
    let names = merged.legend().labels().len();
    assert!((200..256).contains(&names), "{names}");
    // Merged colours are close to the original colours.
    let mesh = Mesh::open(place.path("a.obj")).unwrap();
    assert_eq!(
        mesh.colours().unwrap().of(0),
        [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    );
    for ([i, j, _], colour) in colours(&merged) {
        let lattice = format::open(&place.path("a.npz")).unwrap().lattice.unwrap();
        let [x, y, _] = lattice.centre([i, j, 3]);
        if x >= 0.0 && y >= 0.0 && x + y <= 1.0 && (i + j) % 7 == 0 {
            let wanted = mesh.colours().unwrap().at(0, [1.0 - x - y, x, y]);
            let off = wanted
                .iter()
                .zip(colour)
                .map(|(a, b)| a.abs_diff(b))
                .max()
                .unwrap();
            assert!(off < 24, "({i}, {j}): {colour:?} for {wanted:?}");
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
    let at = |line: &str, cell: [usize; 3]| {
        place
            .run(&format!(
                "a.obj {line} --voxel-size 1/4 --labels colour -o a.npz"
            ))
            .expect(0);
        let found = colours(&labels(&place, "a.npz"));
        found
            .into_iter()
            .find(|(other, _)| *other == cell)
            .unwrap()
            .1
    };
    let near =
        |found: [u8; 3], wanted: [u8; 3]| found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 30);
    assert!(near(at("--only one", [0, 0, 0]), [255, 0, 0]));
    assert!(near(at("--only one", [15, 0, 0]), [0, 255, 0]));
    assert!(near(at("--only one --axes -x,y,z", [0, 0, 0]), [0, 255, 0]));
    assert!(near(
        at("--only one --axes -x,y,z", [15, 0, 0]),
        [255, 0, 0]
    ));
    // Parts without colours in a mesh with colours are white.
    assert_eq!(at("--only two", [3, 3, 0]), [255; 3]);
}

#[test]
fn meshes_without_colours_are_refused_and_missing_materials_noted() {
    let place = Place::new();
    let refused = place
        .run("cube.stl -r 8 --labels colour -o a.vox")
        .expect(4);
    assert!(refused.err.contains("no colours"), "{}", refused.err);
    place
        .run("cube.stl -r 8 --labels colour --rule distance -o a.npz")
        .expect(2);
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
    let mut seen = 0;
    for library in ["gone.mtl", "../gone.mtl", "/gone.mtl", "folder"] {
        std::fs::create_dir_all(place.path("folder")).unwrap();
        place.write("a.obj", format!("mtllib {library}\n{obj}"));
        let json = place.run("a.obj -r 4 -o a.vox --json").expect(0).json();
        assert_eq!(json["warnings"][0]["code"], json!("S110"), "{library}");
        place.run("a.obj -r 4 -o a.vox --strict").expect(3);
        // If colours are requested, the error states why there are none.
        let refused = place.run("a.obj -r 4 --labels colour -o a.vox").expect(4);
        let says = "a.obj: the mesh has no colours; colours are not known: ";
        assert!(refused.err.contains(says), "{}", refused.err);
        seen += 1;
    }
    assert_eq!(seen, 4);
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
    let square = |n: usize| {
        (0..4)
            .map(move |corner| 4 * n + 1 + corner)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
    };
    let face = |(n, name): (usize, &str)| format!("usemtl {name}\nf {}\n", square(n).join(" "));
    let corners = (0..3).flat_map(|z| {
        [[0, 0], [9, 0], [9, 9], [0, 9]].map(|[x, y]| format!("v {x} {y} {}\n", 3 * z))
    });
    let faces = ["red", "blue", "plain"].into_iter().enumerate().map(face);
    let text = std::iter::once("mtllib two.mtl\n".to_string())
        .chain(corners)
        .chain(faces)
        .collect::<String>();
    place.write("two.obj", text);
    place
        .run("two.obj --labels material -r 9 -o a.npz")
        .expect(0);
    let voxels = voxelize::Voxels::open(place.path("a.npz")).unwrap();
    let labels = voxels
        .labels()
        .unwrap()
        .legend()
        .labels()
        .iter()
        .map(|l| (l.name.to_string(), l.colour))
        .collect::<Vec<_>>();
    let expected = [("red", [255, 0, 0]), ("blue", [0, 0, 255])]
        .map(|(name, colour)| (name.to_string(), Some(colour)));
    assert_eq!(labels[..2], expected);
    assert_eq!((labels.len(), labels[2].0.as_str()), (3, "plain"));
}
