//! Exposed faces of cells: every format of meshes contains all of them, once, oriented outwards and in their
//! place.

mod parsed;
#[cfg(feature = "cli")]
mod program;

use std::collections::{BTreeMap, HashMap};

use voxelize::format::{Choice, write_source_to, write_to};
use voxelize::grid::metadata::Metadata;
use voxelize::grid::{CellsRef, Label, Labels, Legend};
use voxelize::job::Transform;
use voxelize::{Inside, Kind, Mesh, Rule, voxelize};

use self::parsed::{ParsedFaces, parse};
use super::kinds::Split;
use super::*;

/// Formats of faces.
const NAMES: [&str; 4] = ["ply", "obj", "stl", "glb"];

const GREEDY: &[Choice] = &[Choice::GreedyFaces];

/// Writes these cells in a format.
fn file(voxels: &Voxels, name: &str, choices: &[Choice]) -> Vec<u8> {
    // .stl files have no labels.
    let dtype = (name == "stl").then_some(Dtype::Bool);
    let mut bytes = vec![];
    let options = SaveOptions {
        choices,
        dtype,
        ..SaveOptions::default()
    };
    write_to(voxels, &mut bytes, format::by_name(name).unwrap(), &options).unwrap();
    bytes
}

fn faces(voxels: &Voxels, name: &str, choices: &[Choice]) -> ParsedFaces {
    parse(name, &file(voxels, name, choices))
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
    for (face, label) in parsed.faces.iter().zip(&parsed.labels) {
        let corners = face.map(|n| parsed.vertices[n]);
        let walls = |axis: usize| corners.map(|corner| corner[axis] as usize);
        let [low, high] = [
            [0, 1, 2].map(|axis| *walls(axis).iter().min().unwrap()),
            [0, 1, 2].map(|axis| *walls(axis).iter().max().unwrap()),
        ];
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
            assert_eq!(
                found.insert((axis, is_upper, cell), *label),
                None,
                "covered twice"
            );
        }
    }
    found
}

/// Returns the number of directed edges that are not cancelled by their reverse.
fn uncancelled(parsed: &ParsedFaces) -> usize {
    let mut ids = HashMap::new();
    let ids: Vec<_> = parsed
        .vertices
        .iter()
        .map(|v| {
            let next = ids.len();
            *ids.entry(v.map(f64::to_bits)).or_insert(next)
        })
        .collect();
    let mut edges: HashMap<(usize, usize), i64> = HashMap::new();
    for face in &parsed.faces {
        for n in 0..4 {
            let [from, to] = [face[n], face[(n + 1) % 4]].map(|n| ids[n]);
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
    let faces = parsed
        .faces
        .iter()
        .map(|face| face.map(|n| parsed.vertices[n]));
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
    bits.iter()
        .for_each(|cell| labels.set(cell, values[random.index(values.len())]));
    Voxels::new(labels)
}

/// Returns grids of every kind: rows of one word and of several, whole words, holes, edges, scattered cells,
/// labels in planes and in bytes.
fn grids() -> Vec<Voxels> {
    let mut holed = BitGrid::new([5; 3]).unwrap();
    full([5; 3])
        .iter()
        .filter(|cell| *cell != [2, 2, 2])
        .for_each(|cell| holed.set(cell));
    let bits = [
        f_grid(),
        holed,
        full([64, 2, 2]),
        full([65, 1, 3]),
        scattered([65, 7, 3]),
        scattered([130, 9, 11]),
        scattered([1, 40, 30]),
        scattered([40, 30, 1]),
    ];
    let labels = [
        labelled(&scattered([70, 9, 11]), &[3, 200]),
        labelled(&full([6, 5, 4]), &[1, 2, 3, 4, 5, 9]),
        labelled(&full([66, 3, 2]), &[7]),
    ];
    bits.map(Voxels::new).into_iter().chain(labels).collect()
}

#[test]
fn small_grids_have_the_vertices_and_faces_that_one_counts() {
    let mut seen = 0;
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
        for (name, choices, expected) in NAMES
            .into_iter()
            .flat_map(|name| [(name, &[][..], faces_alone), (name, GREEDY, rectangles)])
        {
            let parsed = faces(&text(picture), name, choices);
            assert_eq!(parsed.faces.len(), expected, "{picture} {name} {choices:?}");
            if name != "stl" && choices.is_empty() {
                assert_eq!(parsed.vertices.len(), vertices, "{picture} {name}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 64);
}

#[test]
fn each_exposed_face_is_there_once_and_outwards() {
    let mut compared = 0;
    for voxels in grids() {
        let expected = exposed(voxels.cells.as_ref());
        for (name, choices) in NAMES
            .into_iter()
            .flat_map(|name| [(name, &[][..]), (name, GREEDY)])
        {
            let parsed = faces(&voxels, name, choices);
            let mut found = covered(&parsed);
            if name == "stl" {
                found
                    .iter_mut()
                    .for_each(|(face, label)| *label = expected.get(face).copied().unwrap_or(0));
            }
            assert!(found == expected, "{name} {choices:?} {:?}", voxels.cells);
            assert!(parsed.faces.len() == expected.len() || !choices.is_empty());
            assert_eq!(
                six_volumes(&parsed),
                6.0 * voxels.count() as f64,
                "{name} {choices:?}"
            );
            compared += expected.len();
        }
    }
    assert!(compared > 50_000, "{compared}");
}

#[test]
fn each_directed_edge_is_cancelled_and_vertices_are_shared_and_sorted() {
    let mut seen = 0;
    for voxels in grids() {
        for name in NAMES {
            let parsed = faces(&voxels, name, &[]);
            assert_eq!(uncancelled(&parsed), 0, "{name} {:?}", voxels.cells);
            if name != "stl" {
                let places: Vec<_> = parsed
                    .vertices
                    .iter()
                    .map(|[x, y, z]| [z, y, x].map(|c| *c as u64))
                    .collect();
                assert!(
                    places.is_sorted_by(|a, b| a < b),
                    "{name}: by z, y, x, each once"
                );
                let used: std::collections::BTreeSet<_> =
                    parsed.faces.as_flattened().iter().collect();
                assert!(
                    used.into_iter().copied().eq(0..places.len()),
                    "{name}: no vertex without a face"
                );
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 44);
    // A block of cells is topologically a sphere: V − E + F = 2, and each quad has half of four edges.
    let parsed = faces(&Voxels::new(full([5, 4, 3])), "ply", &[]);
    assert_eq!(
        parsed.vertices.len() + parsed.faces.len() - 2 * parsed.faces.len(),
        2
    );
}

#[test]
fn rectangles_have_the_vertices_of_their_corners_alone() {
    for voxels in grids() {
        for name in ["ply", "obj", "glb"] {
            let parsed = faces(&voxels, name, GREEDY);
            let used: std::collections::BTreeSet<_> = parsed.faces.as_flattened().iter().collect();
            assert!(
                used.into_iter().copied().eq(0..parsed.vertices.len()),
                "{name}"
            );
            assert!(
                parsed
                    .vertices
                    .is_sorted_by(|a, b| [a[2], a[1], a[0]] < [b[2], b[1], b[0]]),
                "{name}"
            );
        }
    }
    // The first run of a plane extends over all rows that contain it. The remainder of longer rows belongs to
    // other rectangles.
    let parsed = faces(&text("####\n.##.\n.##."), "ply", GREEDY);
    let mut up: Vec<_> = parsed
        .faces
        .iter()
        .map(|face| face.map(|n| parsed.vertices[n]))
        .filter(|corners| corners.iter().all(|corner| corner[2] == 1.0))
        .map(|[a, _, c, _]| [a[0], a[1], c[0], c[1]])
        .collect();
    up.sort_by(f64_order);
    assert_eq!(
        up,
        [
            [0.0, 2.0, 1.0, 3.0],
            [1.0, 0.0, 3.0, 3.0],
            [3.0, 2.0, 4.0, 3.0]
        ]
    );
}

fn f64_order(a: &[f64; 4], b: &[f64; 4]) -> std::cmp::Ordering {
    a.partial_cmp(b).unwrap()
}

#[test]
fn slabs_of_any_height_make_the_same_bytes() {
    let mut compared = 0;
    for voxels in grids() {
        let names = NAMES
            .into_iter()
            .flat_map(|name| [(name, &[][..]), (name, GREEDY)]);
        for (name, choices) in names.chain([("ply", &[Choice::Points][..])]) {
            let whole = file(&voxels, name, choices);
            for height in [1, 2, 5] {
                let dtype = (name == "stl").then_some(Dtype::Bool);
                let options = SaveOptions {
                    choices,
                    dtype,
                    ..SaveOptions::default()
                };
                let mut slabs = vec![];
                let mut source = Split::new(&voxels, height);
                write_source_to(
                    &mut source,
                    &mut slabs,
                    format::by_name(name).unwrap(),
                    &options,
                )
                .unwrap();
                assert!(
                    slabs == whole,
                    "{name} {choices:?} {height} {:?}",
                    voxels.cells
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 11 * 9 * 3);
}

#[test]
fn vertices_are_the_numbers_nearest_to_walls() {
    let voxels = at_odd_place(f_grid());
    let lattice = voxels.lattice.clone().unwrap();
    let plain = faces(&Voxels::new(f_grid()), "ply", &[]);
    let mut seen = 0;
    for name in NAMES {
        let parsed = faces(&voxels, name, &[]);
        let walls = faces(&Voxels::new(f_grid()), name, &[]);
        assert_eq!(parsed.faces, walls.faces);
        for (found, at) in parsed.vertices.iter().zip(&walls.vertices) {
            for axis in 0..3 {
                let exact = lattice.wall(axis, at[axis] as usize);
                let is_float = ["stl", "glb"].contains(&name);
                let nearest = if is_float {
                    f64::from(exact.to_f32())
                } else {
                    exact.to_f64()
                };
                assert_eq!(found[axis], nearest, "{name} {at:?}");
                seen += 1;
            }
        }
        assert!(name == "stl" || parsed.vertices.len() == plain.vertices.len());
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn meshes_of_faces_become_the_same_cells() {
    let mut seen = 0;
    for bits in [
        f_grid(),
        scattered([65, 7, 3]),
        full([5, 6, 7]),
        scattered([20, 30, 10]),
    ] {
        for voxels in [
            at_odd_place(bits.clone()),
            placed(bits.clone(), [3, 4, 5], 2),
        ] {
            let lattice = voxels.lattice.clone().unwrap();
            for (name, choices) in NAMES
                .into_iter()
                .flat_map(|name| [(name, &[][..]), (name, GREEDY)])
            {
                let bytes = file(&voxels, name, choices);
                let mesh = Mesh::read(&bytes[..], &format!("a.{name}")).unwrap();
                // The node of a GLB turns y up.
                let axes = if name == "glb" { "x,-z,y" } else { "x,y,z" }
                    .parse()
                    .unwrap();
                let mesh = Transform {
                    axes,
                    ..Transform::default()
                }
                .apply(mesh)
                .unwrap();
                // Corners of rectangles lie on edges of others, so the mesh is not closed.
                let inside = if choices.is_empty() {
                    Inside::default()
                } else {
                    Inside::EvenOdd
                };
                let rule = Rule::solid().with_inside(inside).unwrap();
                let again = voxelize(&mesh, &lattice, rule).unwrap();
                assert!(again.cells == voxels.cells, "{name} {choices:?} {bits:?}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 64);
}

/// Returns cells of size 1/`n` whose corner is at `origin`.
fn placed(bits: BitGrid, origin: [i64; 3], n: i64) -> Voxels {
    let lattice = Lattice::new(
        bits.dims(),
        origin.map(Rational::from),
        [(); 3].map(|()| Rational::new(1, n)),
        [true; 3],
    );
    Voxels {
        lattice: Some(lattice.unwrap()),
        ..Voxels::new(bits)
    }
}

#[test]
fn labels_are_colours_groups_and_materials() {
    let voxels = labelled(&scattered([20, 9, 11]), &[200, 3]);
    let colour = |label: u8| [label, 2, 255 - label];
    let ply = faces(&voxels, "ply", &[]);
    assert!(
        ply.colours
            .iter()
            .zip(&ply.labels)
            .all(|(found, label)| *found == colour(*label))
    );
    assert_eq!(ply.colours.len(), ply.faces.len());
    for name in ["obj", "glb"] {
        let labels = faces(&voxels, name, &[]).labels;
        assert!(
            labels.is_sorted() && labels.contains(&3) && labels.contains(&200),
            "{name}"
        );
    }
    let glb = file(&voxels, "glb", &[]);
    let (json, _) = parsed::glb_chunks(&glb);
    let names: Vec<_> = json["materials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["bone 3", "bone 200"]);
    let factor = json["materials"][1]["pbrMetallicRoughness"]["baseColorFactor"]
        .as_array()
        .unwrap();
    let factor: Vec<_> = factor
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect();
    // 200, 2 and 55 of sRGB in linear light.
    assert_eq!(factor, [0.57758, 0.000607, 0.038204, 1.0]);
    // Stored as bool, labels become bits.
    let mut bytes = vec![];
    let options = SaveOptions {
        dtype: Some(Dtype::Bool),
        ..SaveOptions::default()
    };
    write_to(
        &voxels,
        &mut bytes,
        format::by_name("ply").unwrap(),
        &options,
    )
    .unwrap();
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    let voxels = Voxels::new(labels);
    let obj = format::by_name("obj").unwrap();
    format::save(&voxels, &path, obj, &SaveOptions::default()).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    let words = |start: &str| {
        written
            .lines()
            .filter_map(|line| line.strip_prefix(start))
            .collect::<Vec<_>>()
    };
    let names = words("usemtl ");
    assert_eq!((&names, words("mtllib ")), (&words("g "), vec!["a.mtl"]));
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(
        names.iter().all(|name| !name.contains([' ', '#'])) && names[3] == "Knöchel",
        "{names:?}"
    );
    assert_eq!(
        names
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        4,
        "{names:?}"
    );
    let library = std::fs::read_to_string(folder.path().join("a.mtl")).unwrap();
    assert!(
        library.starts_with("# voxelize ") && !library.contains("unused"),
        "{library}"
    );
    assert!(
        library.contains(&format!("newmtl {}\nKd 1.0000 0.0000 0.2000\n", names[0])),
        "{library}"
    );
    // Our own reader returns the names and the colours.
    let mesh = Mesh::open(&path).unwrap();
    assert_eq!(mesh.colours().unwrap().of(0)[0], [255, 0, 51]);
    // A stream has no second file next to it, and bits have no materials.
    assert!(
        !String::from_utf8(file(&voxels, "obj", &[]))
            .unwrap()
            .contains("mtllib")
    );
    let bits = folder.path().join("b.obj");
    format::save(&text("#"), &bits, obj, &SaveOptions::default()).unwrap();
    assert!(!folder.path().join("b.mtl").exists());
}

#[test]
fn files_state_their_origin() {
    let mut seen = 0;
    for voxels in [at_odd_place(f_grid()), labelled_at_odd_place()] {
        for name in ["ply", "obj", "glb"] {
            for choices in [&[][..], GREEDY] {
                let parsed = faces(&voxels, name, choices);
                let metadata = Metadata::from_json(&parsed.json).unwrap();
                assert_eq!(
                    (metadata.lattice, metadata.record),
                    (voxels.lattice.clone(), voxels.record.clone())
                );
                assert_eq!(
                    metadata.legend.as_ref(),
                    voxels.labels().map(Labels::legend)
                );
                seen += 1;
            }
        }
        let stl = file(&voxels, "stl", &[]);
        assert!(
            stl.starts_with(b"voxelize 0.1.0; unit some \"unit\"  "),
            "{:?}",
            &stl[..80]
        );
    }
    assert_eq!(seen, 12);
    let mut other = at_odd_place(f_grid());
    other.record.tool = Some("solid maker".into());
    assert!(file(&other, "stl", &[]).starts_with(b"exposed faces of cells; unit"));
}

fn labelled_at_odd_place() -> Voxels {
    let bits = scattered([20, 9, 11]);
    Voxels {
        cells: labelled(&bits, &[3, 200]).cells,
        ..at_odd_place(bits)
    }
}

#[test]
fn the_node_of_a_glb_turns_and_scales() {
    let mut seen = 0;
    for (up, unit, expected) in [
        (
            None,
            None,
            Some([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0]),
        ),
        (Some("y"), None, None),
        (Some("y"), Some("m"), None),
        (
            Some("y"),
            Some("in"),
            Some([0.0254, 0.0, 0.0, 0.0, 0.0, 0.0254, 0.0, 0.0, 0.0, 0.0]),
        ),
        (
            None,
            Some("mm"),
            Some([0.001, 0.0, 0.0, 0.0, 0.0, 0.0, -0.001, 0.0, 0.0, 0.001]),
        ),
    ] {
        let mut voxels = placed(f_grid(), [0; 3], 1);
        let entries = [("up", up), ("unit", unit)];
        voxels.record.transform = entries
            .iter()
            .filter_map(|(name, value)| Some((*name, value.as_ref()?.to_string())))
            .collect();
        let bytes = file(&voxels, "glb", &[]);
        let (json, _) = parsed::glb_chunks(&bytes);
        let node = &json["nodes"][0];
        let matrix = node
            .get("matrix")
            .map(|m| [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| m[n].as_f64().unwrap()));
        assert_eq!(matrix, expected, "{up:?} {unit:?}");
        // Read by our own reader, the F stands upright, in metres.
        let mesh = Mesh::read(&bytes[..], "a.glb").unwrap();
        let size = [0, 1, 2]
            .map(|axis| f64::from(mesh.bounds().max[axis]) - f64::from(mesh.bounds().min[axis]));
        let length = match unit {
            Some("mm") => 0.001,
            Some("in") => 0.0254,
            _ => 1.0,
        };
        let cells = if up.is_some() {
            [3.0, 4.0, 2.0]
        } else {
            [3.0, 2.0, 4.0]
        };
        assert!(
            (0..3).all(|axis| (size[axis] - length * cells[axis]).abs() < 1e-6),
            "{size:?}"
        );
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn an_empty_grid_is_a_mesh_without_faces() {
    let voxels = Voxels::new(BitGrid::new([5, 4, 3]).unwrap());
    for name in NAMES {
        for choices in [&[][..], GREEDY] {
            let bytes = file(&voxels, name, choices);
            let parsed = parse(name, &bytes);
            assert!(
                parsed.faces.is_empty() && parsed.vertices.is_empty(),
                "{name}"
            );
            assert_eq!(
                Mesh::read(&bytes[..], &format!("a.{name}"))
                    .unwrap()
                    .triangles()
                    .len(),
                0,
                "{name}"
            );
        }
    }
}

#[test]
fn walls_that_round_to_the_same_number_are_refused() {
    let mut seen = 0;
    // Far from zero, where floats are a quarter apart and doubles far less.
    let far = placed(f_grid(), [3_000_000; 3], 10);
    // Distinct walls on consecutive floats.
    let on_floats = placed(f_grid(), [16_777_000; 3], 1);
    let beyond = Lattice::new(
        [2, 1, 1],
        [(); 3].map(|()| Rational::ZERO),
        [(); 3].map(|()| Rational::from_f64(1e39).unwrap()),
        [true; 3],
    );
    let beyond = Voxels {
        lattice: Some(beyond.unwrap()),
        ..text("##")
    };
    for (voxels, refused) in [
        (&far, "the same as 32-bit floats"),
        (&beyond, "beyond 32-bit floats"),
        (&on_floats, ""),
    ] {
        for name in NAMES {
            let options = SaveOptions::default();
            let result = write_to(
                voxels,
                &mut vec![],
                format::by_name(name).unwrap(),
                &options,
            );
            let is_float = ["stl", "glb"].contains(&name);
            match result {
                Ok(_) => assert!(!is_float || refused.is_empty(), "{name} {refused}"),
                Err(error) => {
                    assert!(
                        is_float && !refused.is_empty() && error.message().contains(refused),
                        "{name} {error}"
                    );
                    assert_eq!(error.kind(), Kind::Usage);
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}

fn points(voxels: &Voxels) -> Vec<u8> {
    let mut bytes = vec![];
    let options = SaveOptions {
        choices: &[Choice::Points],
        ..SaveOptions::default()
    };
    write_to(
        voxels,
        &mut bytes,
        format::by_name("ply").unwrap(),
        &options,
    )
    .unwrap();
    bytes
}

#[test]
fn points_are_the_centres_of_cells_with_their_values() {
    let bits = at_odd_place(scattered([20, 9, 11]));
    let labels = labelled_at_odd_place();
    let mut field = voxelize::Field::new([20, 9, 11], f32::INFINITY).unwrap();
    for (n, cell) in scattered([20, 9, 11]).iter().enumerate() {
        field.set(cell, n as f32 / 7.0 - 20.0);
    }
    let field = Voxels {
        cells: field.into(),
        ..bits.clone()
    };
    let lattice = bits.lattice.clone().unwrap();
    let colours = ["uchar red", "uchar green", "uchar blue", "uchar label"];
    let mut seen = 0;
    for (voxels, more) in [
        (&bits, &[][..]),
        (&labels, &colours),
        (&field, &["float value"]),
    ] {
        let bytes = points(voxels);
        let (lines, data) = parsed::ply_header(&bytes);
        let (count, properties) = parsed::ply_element(&lines, "vertex");
        assert_eq!(
            properties,
            [&["double x", "double y", "double z"], more].concat()
        );
        assert!(!lines.iter().any(|line| line.starts_with("element face")));
        let cells: Vec<_> = scattered([20, 9, 11]).iter().collect();
        assert_eq!(count, cells.len());
        let length = 24 + if more.is_empty() { 0 } else { 4 };
        assert_eq!(data.len(), count * length);
        for (point, cell) in data.chunks(length).zip(cells) {
            let place =
                [0, 1, 2].map(|n| f64::from_le_bytes(point[8 * n..8 * n + 8].try_into().unwrap()));
            assert_eq!(place, lattice.centre(cell));
            match &voxels.cells {
                voxelize::Cells::Labels(labels) => {
                    let label = labels.get(cell);
                    assert_eq!(point[24..], [label, 2, 255 - label, label]);
                }
                voxelize::Cells::Field(field) => {
                    assert_eq!(point[24..], field.get(cell).to_le_bytes())
                }
                _ => {}
            }
            seen += 1;
        }
        let metadata = Metadata::from_json(&parsed::comments(&lines, "comment voxelize ")).unwrap();
        assert_eq!(metadata.lattice.as_ref(), Some(&lattice));
    }
    assert!(seen > 1000, "{seen}");
    // Formats of faces do not store fields, and points have no faces to merge.
    let ply = format::by_name("ply").unwrap();
    let error = |voxels: &Voxels, choices: &[Choice]| {
        let options = SaveOptions {
            choices,
            ..SaveOptions::default()
        };
        write_to(voxels, &mut vec![], ply, &options).unwrap_err()
    };
    assert_eq!(error(&field, &[]).message(), "ply does not hold fields");
    assert!(
        error(&bits, &[Choice::Points, Choice::GreedyFaces])
            .message()
            .contains("no faces to merge")
    );
    assert_eq!(error(&field, GREEDY).kind(), Kind::Usage);
}
