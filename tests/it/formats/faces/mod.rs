//! Exposed faces of cells: every format of meshes contains all of them, once, oriented outwards and in their
//! place.

mod parsed;
#[cfg(feature = "cli")]
mod program;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use voxelize::grid::metadata::Metadata;
use voxelize::grid::{CellsRef, Label, Labels, Legend};
use voxelize::job::Transform;
use voxelize::{Cells, Field, Inside, Mesh, Rule, voxelize};

use self::parsed::{ParsedFaces, parse};
use super::*;

/// Formats of faces.
const NAMES: [&str; 4] = ["ply", "obj", "stl", "glb"];

const GREEDY: &[Choice] = &[Choice::GreedyFaces];

/// Returns each format of faces with separate faces and with rectangles.
fn ways() -> impl Iterator<Item = (&'static str, &'static [Choice])> {
    let both = |name| [(name, &[][..]), (name, GREEDY)];
    NAMES.into_iter().flat_map(both)
}

/// Writes these cells in a format.
fn file(voxels: &Voxels, name: &str, choices: &[Choice]) -> Result<Vec<u8>> {
    let options = SaveOptions {
        // .stl files have no labels.
        dtype: (name == "stl").then_some(Dtype::Bool),
        ..with_choices(choices)
    };
    written(voxels, named(name), &options)
}

fn faces(voxels: &Voxels, name: &str, choices: &[Choice]) -> ParsedFaces {
    parse(name, &file(voxels, name, choices).unwrap())
}

/// Face of a cell: its axis, a flag for the upper end, and the cell.
type UnitFace = (usize, bool, [usize; 3]);

/// Returns every exposed face by the definition, with the label of its cell.
fn exposed(cells: CellsRef) -> BTreeMap<UnitFace, u8> {
    let bits = cells.occupied().unwrap();
    let mut found = BTreeMap::new();
    for cell in bits.iter() {
        for (axis, is_upper) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            let mut beyond = cell;
            beyond[axis] = if is_upper {
                cell[axis] + 1
            } else {
                cell[axis].wrapping_sub(1)
            };
            if beyond[axis] >= bits.dims()[axis] || !bits.get(beyond) {
                let label = if let CellsRef::Labels(labels) = cells {
                    labels.get(cell)
                } else {
                    0
                };
                found.insert((axis, is_upper, cell), label);
            }
        }
    }
    found
}

/// Returns every face of a cell of size 1 that a face of the file covers. Each is covered once.
fn covered(parsed: &ParsedFaces) -> BTreeMap<UnitFace, u8> {
    let mut found = BTreeMap::new();
    for (corners, label) in parsed.corners().zip(&parsed.labels) {
        let walls = |axis: usize| corners.map(|corner| corner[axis] as usize);
        let low = [0, 1, 2].map(|axis| walls(axis).into_iter().min().unwrap());
        let high = [0, 1, 2].map(|axis| walls(axis).into_iter().max().unwrap());
        let axis = (0..3).find(|axis| low[*axis] == high[*axis]).unwrap();
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        let [a, b, _, d] = corners;
        let area = (b[u] - a[u]) * (d[v] - a[v]) - (b[v] - a[v]) * (d[u] - a[u]);
        let size = ((high[u] - low[u]) * (high[v] - low[v])) as f64;
        assert_eq!(area.abs(), size, "a rectangle");
        let is_upper = area > 0.0;
        for (p, q) in (low[u]..high[u]).flat_map(|p| (low[v]..high[v]).map(move |q| (p, q))) {
            let mut cell = low;
            (cell[u], cell[v]) = (p, q);
            // Upper faces are on the wall beyond their cell.
            cell[axis] -= usize::from(is_upper);
            let before = found.insert((axis, is_upper, cell), *label);
            assert_eq!(before, None, "covered twice");
        }
    }
    found
}

/// Returns the number of directed edges that are not cancelled by their reverse.
fn uncancelled(parsed: &ParsedFaces) -> usize {
    let mut edges: HashMap<_, i64> = HashMap::new();
    for corners in parsed.corners() {
        let corners = corners.map(|corner| corner.map(f64::to_bits));
        for n in 0..4 {
            let [from, to] = [corners[n], corners[(n + 1) % 4]];
            *edges.entry((from, to)).or_default() += 1;
            *edges.entry((to, from)).or_default() -= 1;
        }
    }
    edges.values().filter(|count| **count != 0).count()
}

/// Returns six times the enclosed volume.
fn six_volumes(parsed: &ParsedFaces) -> f64 {
    let det = |[a, b, c]: [[f64; 3]; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let faces = parsed.corners();
    faces
        .map(|[a, b, c, d]| det([a, b, c]) + det([a, c, d]))
        .sum()
}

fn text(picture: &str) -> Voxels {
    Voxels::new(BitGrid::from_text(picture).unwrap())
}

/// Returns labels in pseudo-random cells. Their names end with their value. The legend determines their
/// storage.
fn labelled(bits: &BitGrid, values: &[u8]) -> Voxels {
    let label = |value: &u8| {
        Label::new(*value, format!("bone {value}")).with_colour([*value, 2, 255 - *value])
    };
    let legend = Legend::new(values.iter().map(label)).unwrap();
    let mut labels = Labels::new(bits.dims(), legend).unwrap();
    let mut random = Random::new(7);
    for cell in bits.iter() {
        labels.set(cell, values[random.index(values.len())]);
    }
    Voxels::new(labels)
}

fn labelled_at_odd_place() -> Voxels {
    let bits = scattered([20, 9, 11]);
    Voxels {
        cells: labelled(&bits, &[3, 200]).cells,
        ..at_odd_place(bits)
    }
}

/// Returns cells of size 1/`n` whose corner is at `origin`.
fn placed(bits: BitGrid, origin: [i64; 3], n: i64) -> Voxels {
    let spacing = [(); 3].map(|()| Rational::new(1, n));
    let lattice = Lattice::new(bits.dims(), origin.map(Rational::from), spacing, [true; 3]);
    Voxels {
        lattice: Some(lattice.unwrap()),
        ..Voxels::new(bits)
    }
}

/// Returns grids of every kind: rows of one word and of several, whole words, holes, edges, scattered cells,
/// labels in planes and in bytes.
fn grids() -> Vec<Voxels> {
    let holed = every_cell([5; 3]).filter(|cell| *cell != [2; 3]);
    let dims = [[65, 7, 3], [130, 9, 11], [1, 40, 30], [40, 30, 1]];
    let mut all = vec![f_grid(), grid_of([5; 3], holed)];
    all.extend([[64, 2, 2], [65, 1, 3]].map(full));
    all.extend(dims.map(scattered));
    let labels = [
        labelled(&scattered([70, 9, 11]), &[3, 200]),
        labelled(&full([6, 5, 4]), &[1, 2, 3, 4, 5, 9]),
        labelled(&full([66, 3, 2]), &[7]),
    ];
    all.into_iter().map(Voxels::new).chain(labels).collect()
}

#[test]
fn small_grids_have_the_vertices_and_faces_that_one_counts() {
    for (picture, vertices, faces_alone, rectangles) in [
        ("#", 8, 6, 6),
        ("##", 12, 10, 6),
        // Two cells that touch in an edge share two vertices there; in a corner they share one.
        ("#.\n.#", 14, 12, 12),
        ("#.\n..\n\n..\n.#", 15, 12, 12),
        ("##\n##\n\n##\n##", 26, 24, 6),
        // A tunnel along z.
        ("###\n#.#\n###", 32, 32, 16),
        // An L of three cells.
        ("##\n#.", 16, 14, 10),
        (".", 0, 0, 0),
    ] {
        for (name, choices) in ways() {
            let parsed = faces(&text(picture), name, choices);
            if choices.is_empty() {
                assert_eq!(parsed.faces.len(), faces_alone, "{picture} {name}");
                assert!(
                    name == "stl" || parsed.vertices.len() == vertices,
                    "{picture} {name}"
                );
            } else {
                assert_eq!(parsed.faces.len(), rectangles, "{picture} {name}");
            }
        }
    }
}

#[test]
fn each_exposed_face_is_there_once_outwards_with_shared_vertices() {
    let mut compared = 0;
    for voxels in grids() {
        let expected = exposed(voxels.cells.as_ref());
        for (name, choices) in ways() {
            let what = format!("{name} {choices:?} {:?}", voxels.cells);
            let parsed = faces(&voxels, name, choices);
            let mut found = covered(&parsed);
            if name == "stl" {
                for (face, label) in &mut found {
                    *label = expected.get(face).copied().unwrap_or(0);
                }
            } else {
                // Vertices are by z, y, x, each once, and have a face.
                let places: Vec<_> = parsed.vertices.iter().map(|[x, y, z]| [z, y, x]).collect();
                assert!(places.is_sorted_by(|a, b| a < b), "{what}");
                let used: BTreeSet<_> = parsed.faces.as_flattened().iter().copied().collect();
                assert!(used.into_iter().eq(0..places.len()), "{what}");
            }
            assert!(found == expected, "{what}");
            assert_eq!(six_volumes(&parsed), 6.0 * voxels.count() as f64, "{what}");
            if choices.is_empty() {
                assert_eq!(parsed.faces.len(), expected.len(), "{what}");
                assert_eq!(uncancelled(&parsed), 0, "{what}");
            }
            compared += expected.len();
        }
    }
    assert!(compared > 50_000, "{compared}");
}

/// The first run of a plane extends over all rows that contain it. The remainder of longer rows belongs to
/// other rectangles.
#[test]
fn rectangles_extend_the_first_run() {
    let parsed = faces(&text("####\n.##.\n.##."), "ply", GREEDY);
    let mut up: Vec<_> = parsed
        .corners()
        .filter(|corners| corners.iter().all(|corner| corner[2] == 1.0))
        .map(|[a, _, c, _]| [a[0], a[1], c[0], c[1]].map(|n| n as u8))
        .collect();
    up.sort();
    assert_eq!(up, [[0, 2, 1, 3], [1, 0, 3, 3], [3, 2, 4, 3]]);
}

#[test]
fn vertices_are_the_numbers_nearest_to_walls() {
    let voxels = at_odd_place(f_grid());
    let lattice = voxels.lattice.clone().unwrap();
    for name in NAMES {
        let parsed = faces(&voxels, name, &[]);
        let walls = faces(&Voxels::new(f_grid()), name, &[]);
        assert_eq!(parsed.faces, walls.faces);
        assert_eq!(parsed.vertices.len(), walls.vertices.len());
        for (found, at) in parsed.vertices.iter().zip(&walls.vertices) {
            for axis in 0..3 {
                let exact = lattice.wall(axis, at[axis] as usize);
                let nearest = match name {
                    "stl" | "glb" => exact.to_f32().into(),
                    _ => exact.to_f64(),
                };
                assert_eq!(found[axis], nearest, "{name} {at:?}");
            }
        }
    }
}

#[test]
fn meshes_of_faces_become_the_same_cells() {
    for bits in [
        f_grid(),
        scattered([65, 7, 3]),
        full([5, 6, 7]),
        scattered([20, 30, 10]),
    ] {
        for voxels in [at_odd_place(bits.clone()), placed(bits, [3, 4, 5], 2)] {
            let lattice = voxels.lattice.clone().unwrap();
            for (name, choices) in ways() {
                let bytes = file(&voxels, name, choices).unwrap();
                let mesh = Mesh::read(&bytes[..], &format!("a.{name}")).unwrap();
                let mut transform = Transform::default();
                if name == "glb" {
                    // Its node turns y up.
                    transform.axes = "x,-z,y".parse().unwrap();
                }
                let mesh = transform.apply(mesh).unwrap();
                let mut rule = Rule::solid();
                if !choices.is_empty() {
                    // Corners of rectangles lie on edges of others, so the mesh is not closed.
                    rule = rule.with_inside(Inside::EvenOdd).unwrap();
                }
                let again = voxelize(&mesh, &lattice, rule).unwrap();
                assert!(
                    again.cells == voxels.cells,
                    "{name} {choices:?} {lattice:?}"
                );
            }
        }
    }
}

#[test]
fn labels_are_colours_groups_and_materials() {
    let voxels = labelled(&scattered([20, 9, 11]), &[200, 3]);
    let ply = faces(&voxels, "ply", &[]);
    let colours: Vec<_> = ply
        .labels
        .iter()
        .map(|label| [*label, 2, 255 - label])
        .collect();
    assert_eq!(ply.colours, colours);
    for name in ["obj", "glb"] {
        let mut labels = faces(&voxels, name, &[]).labels;
        assert!(labels.is_sorted(), "{name}");
        labels.dedup();
        assert_eq!(labels, [3, 200], "{name}");
    }
    let glb = file(&voxels, "glb", &[]).unwrap();
    let (json, _) = parsed::glb_chunks(&glb);
    assert_eq!(json["materials"].as_array().unwrap().len(), 2);
    for (pointer, expected) in [
        ("/materials/0/name", "\"bone 3\""),
        ("/materials/1/name", "\"bone 200\""),
        // 200, 2 and 55 of sRGB in linear light.
        (
            "/materials/1/pbrMetallicRoughness/baseColorFactor",
            "[0.57758,0.000607,0.038204,1]",
        ),
    ] {
        assert_eq!(json.pointer(pointer).unwrap().to_string(), expected);
    }
    // Stored as bool, labels become bits.
    let bytes = written(&voxels, named("ply"), &as_dtype(Dtype::Bool));
    let bits = Voxels::new(voxels.occupied().unwrap().clone());
    assert!(bytes == file(&bits, "ply", &[]));
}

#[test]
fn names_of_groups_are_single_words_with_a_material_file() {
    let legend = Legend::new([
        Label::new(1, "a b").with_colour([255, 0, 51]),
        Label::new(2, "a#b"),
        Label::new(3, "a_b_1"),
        Label::new(4, "Knöchel"),
        Label::new(9, "unused"),
    ]);
    let mut labels = Labels::new([4, 1, 1], legend.unwrap()).unwrap();
    (0..4).for_each(|n| labels.set([n, 0, 0], n as u8 + 1));
    let voxels = Voxels::new(labels);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    voxels.save(&path).unwrap();
    let text_of = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let written = text_of("a.obj");
    let words = |start: &str| -> Vec<_> {
        let lines = written.lines();
        lines.filter_map(|line| line.strip_prefix(start)).collect()
    };
    let names = words("usemtl ");
    assert_eq!(words("mtllib "), ["a.mtl"]);
    assert_eq!(names, words("g "));
    assert!(names.len() == 4 && names[3] == "Knöchel", "{names:?}");
    assert!(!names.concat().contains([' ', '#']), "{names:?}");
    assert_eq!(BTreeSet::from_iter(&names).len(), 4, "{names:?}");
    let library = text_of("a.mtl");
    let first = format!("newmtl {}\nKd 1.0000 0.0000 0.2000\n", names[0]);
    assert!(
        library.starts_with("# voxelize ") && library.contains(&first),
        "{library}"
    );
    assert!(!library.contains("unused"), "{library}");
    // Our own reader returns the names and the colours.
    let mesh = Mesh::open(&path).unwrap();
    assert_eq!(mesh.colours().unwrap().of(0)[0], [255, 0, 51]);
    // A stream has no second file next to it, and bits have no materials.
    let stream = String::from_utf8(file(&voxels, "obj", &[]).unwrap()).unwrap();
    assert!(!stream.contains("mtllib"));
    text("#").save(folder.path().join("b.obj")).unwrap();
    assert!(!folder.path().join("b.mtl").exists());
}

#[test]
fn files_state_their_origin() {
    for voxels in [at_odd_place(f_grid()), labelled_at_odd_place()] {
        for (name, choices) in ways().filter(|(name, _)| *name != "stl") {
            let parsed = faces(&voxels, name, choices);
            let metadata = Metadata::from_json(&parsed.json).unwrap();
            assert_eq!(metadata.lattice, voxels.lattice);
            assert_eq!(metadata.record, voxels.record);
            assert_eq!(
                metadata.legend.as_ref(),
                voxels.labels().map(Labels::legend)
            );
        }
        let stl = file(&voxels, "stl", &[]).unwrap();
        assert!(stl.starts_with(b"voxelize 0.1.0; unit some \"unit\"  "));
    }
    let mut other = at_odd_place(f_grid());
    other.record.tool = Some("solid maker".into());
    let stl = file(&other, "stl", &[]).unwrap();
    assert!(stl.starts_with(b"exposed faces of cells; unit"));
}

#[test]
fn the_node_of_a_glb_turns_and_scales() {
    const MM: f64 = 0.001;
    const IN: f64 = 0.0254;
    for (up, unit, length, expected) in [
        (
            "",
            "",
            1.0,
            Some([1.0, 0., 0., 0., 0., 0., -1.0, 0., 0., 1.0]),
        ),
        ("y", "", 1.0, None),
        ("y", "m", 1.0, None),
        (
            "y",
            "in",
            IN,
            Some([IN, 0., 0., 0., 0., IN, 0., 0., 0., 0.]),
        ),
        (
            "",
            "mm",
            MM,
            Some([MM, 0., 0., 0., 0., 0., -MM, 0., 0., MM]),
        ),
    ] {
        let mut voxels = placed(f_grid(), [0; 3], 1);
        let entries = [("up", up), ("unit", unit)].map(|(name, value)| (name, value.into()));
        voxels.record.transform = entries.into();
        voxels
            .record
            .transform
            .retain(|(_, value)| !value.is_empty());
        let bytes = file(&voxels, "glb", &[]).unwrap();
        let (json, _) = parsed::glb_chunks(&bytes);
        let first = |matrix: &serde_json::Value| {
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| matrix[n].as_f64().unwrap())
        };
        let matrix = json["nodes"][0].get("matrix").map(first);
        assert_eq!(matrix, expected, "{up:?} {unit:?}");
        // Read by our own reader, the F stands upright, in metres.
        let mesh = Mesh::read(&bytes[..], "a.glb").unwrap();
        let bounds = mesh.bounds();
        let cells = if up == "y" {
            [3.0, 4.0, 2.0]
        } else {
            [3.0, 2.0, 4.0]
        };
        for (axis, cells) in cells.into_iter().enumerate() {
            let size = f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]);
            assert!((size - length * cells).abs() < 1e-6, "{bounds:?}");
        }
    }
}

#[test]
fn an_empty_grid_is_a_mesh_without_faces() {
    let voxels = Voxels::new(BitGrid::new([5, 4, 3]).unwrap());
    for (name, choices) in ways() {
        let bytes = file(&voxels, name, choices).unwrap();
        let parsed = parse(name, &bytes);
        assert!(
            parsed.faces.is_empty() && parsed.vertices.is_empty(),
            "{name}"
        );
        let mesh = Mesh::read(&bytes[..], &format!("a.{name}")).unwrap();
        assert!(mesh.triangles().is_empty(), "{name}");
    }
}

#[test]
fn walls_that_round_to_the_same_number_are_refused() {
    // Far from zero, where floats are a quarter apart and doubles far less.
    let far = placed(f_grid(), [3_000_000; 3], 10);
    // Distinct walls on consecutive floats.
    let on_floats = placed(f_grid(), [16_777_000; 3], 1);
    let size = [(); 3].map(|()| Rational::from_f64(1e39).unwrap());
    let origin = [(); 3].map(|()| Rational::ZERO);
    let beyond = Voxels {
        lattice: Some(Lattice::new([2, 1, 1], origin, size, [true; 3]).unwrap()),
        ..text("##")
    };
    for (voxels, refused) in [
        (&far, "the same as 32-bit floats"),
        (&beyond, "beyond 32-bit floats"),
        (&on_floats, ""),
    ] {
        for name in NAMES {
            let result = file(voxels, name, &[]);
            if refused.is_empty() || ["ply", "obj"].contains(&name) {
                assert!(result.is_ok(), "{name} {refused}");
            } else {
                let error = result.unwrap_err();
                assert_eq!(error.kind(), Kind::Usage);
                assert!(error.message().contains(refused), "{name} {error}");
            }
        }
    }
}

#[test]
fn points_are_the_centres_of_cells_with_their_values() {
    let dims = [20, 9, 11];
    let bits = at_odd_place(scattered(dims));
    let labels = labelled_at_odd_place();
    let mut field = Field::new(dims, f32::INFINITY).unwrap();
    for (n, cell) in scattered(dims).iter().enumerate() {
        field.set(cell, n as f32 / 7.0 - 20.0);
    }
    let field = Voxels {
        cells: field.into(),
        ..bits.clone()
    };
    let lattice = bits.lattice.clone().unwrap();
    let colours = ["uchar red", "uchar green", "uchar blue", "uchar label"];
    for (voxels, more) in [
        (&bits, &[][..]),
        (&labels, &colours),
        (&field, &["float value"]),
    ] {
        let bytes = file(voxels, "ply", &[Choice::Points]).unwrap();
        let (lines, data) = parsed::ply_header(&bytes);
        let (count, properties) = parsed::ply_element(&lines, "vertex");
        let expected = [&["double x", "double y", "double z"], more].concat();
        assert_eq!(properties, expected);
        assert!(!lines.iter().any(|line| line.starts_with("element face")));
        let cells: Vec<_> = scattered(dims).iter().collect();
        let length = if more.is_empty() { 24 } else { 28 };
        assert_eq!((count, data.len()), (cells.len(), count * length));
        for (point, cell) in data.chunks(length).zip(cells) {
            let value = match &voxels.cells {
                Cells::Labels(labels) => {
                    let label = labels.get(cell);
                    vec![label, 2, 255 - label, label]
                }
                Cells::Field(field) => field.get(cell).to_le_bytes().to_vec(),
                _ => vec![],
            };
            let place = lattice.centre(cell).map(f64::to_le_bytes).concat();
            assert_eq!(point, [place, value].concat());
        }
        let metadata = Metadata::from_json(&parsed::comments(&lines, "comment voxelize ")).unwrap();
        assert_eq!(metadata.lattice.as_ref(), Some(&lattice));
    }
    // Formats of faces do not store fields, and points have no faces to merge.
    for (voxels, choices, message) in [
        (&field, &[][..], "ply cannot store fields"),
        (&field, GREEDY, ""),
        (
            &bits,
            &[Choice::Points, Choice::GreedyFaces],
            "no faces to merge",
        ),
    ] {
        let error = file(voxels, "ply", choices).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.message().contains(message), "{error}");
    }
}
