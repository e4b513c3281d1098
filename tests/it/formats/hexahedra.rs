//! `.vtu` and `.inp` files are meshes of hexahedra that share their nodes, each in the place of its cell.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use voxelize::grid::{Cells, CellsRef, Field, Label, Labels, Legend};

use super::kinds::grids;
use super::*;

/// Corners of a cell in the order of VTK and Abaqus.
const CORNERS: [[usize; 3]; 8] = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
    [0, 1, 1],
];

fn bytes_of(voxels: &Voxels, name: &str, dtype: Option<Dtype>, choices: &[Choice]) -> Vec<u8> {
    let options = SaveOptions {
        dtype,
        ..with_choices(choices)
    };
    written(voxels, named(name), &options).unwrap()
}

/// Parsed file: places of nodes, nodes and values of cells.
#[derive(Default)]
struct Mesh {
    points: Vec<[f64; 3]>,
    cells: Vec<[usize; 8]>,
    values: Vec<f32>,
    indices: Vec<[usize; 3]>,
    json: String,
    /// Number type of the node numbers.
    number: String,
}

/// Returns the bytes of an array after the head of a .vtu.
fn array(data: &[u8], offset: usize, is_packed: bool) -> Vec<u8> {
    let number =
        |n: usize| u64::from_le_bytes(data[offset + 8 * n..][..8].try_into().unwrap()) as usize;
    if !is_packed {
        return data[offset + 8..][..number(0)].to_vec();
    }
    let [count, size, last] = [number(0), number(1), number(2)];
    let mut at = offset + 8 * (3 + count);
    let mut all = Vec::new();
    for n in 0..count {
        let mut block = Vec::new();
        let packed = &data[at..at + number(3 + n)];
        flate2::read::ZlibDecoder::new(packed)
            .read_to_end(&mut block)
            .unwrap();
        let is_last = n + 1 == count && last > 0;
        assert_eq!(block.len(), if is_last { last } else { size });
        at += packed.len();
        all.extend(block);
    }
    all
}

/// Returns a little-endian number.
fn whole(bytes: &[u8]) -> usize {
    let digits = bytes.iter().rev();
    digits.fold(0, |all, byte| all << 8 | usize::from(*byte))
}

fn parse_vtu(bytes: &[u8]) -> Mesh {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let mut windows = bytes.windows(mark.len());
    let begin = windows.position(|window| window == mark).unwrap() + mark.len();
    let (head, data) = bytes.split_at(begin);
    assert!(data.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));
    let head = std::str::from_utf8(head).unwrap().to_string() + "</AppendedData></VTKFile>";
    let document = roxmltree::Document::parse(&head).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("type"), Some("UnstructuredGrid"));
    assert_eq!(root.attribute("header_type"), Some("UInt64"));
    let is_packed = root.attribute("compressor").is_some();
    let of = |name: &str| {
        let is_named = |node: &roxmltree::Node| node.attribute("Name") == Some(name);
        document.descendants().find(is_named).unwrap()
    };
    let found = |name: &str, width: usize| -> Vec<Vec<u8>> {
        let offset = of(name).attribute("offset").unwrap().parse().unwrap();
        let bytes = array(data, offset, is_packed);
        assert_eq!(bytes.len() % width, 0, "{name}");
        bytes.chunks(width).map(<[u8]>::to_vec).collect()
    };
    let codes = of("voxelize").text().unwrap().split_whitespace();
    let json: Vec<u8> = codes.map(|code| code.parse().unwrap()).collect();
    let length = of("voxelize").attribute("NumberOfTuples");
    assert_eq!(length, Some(&*json.len().to_string()));
    let number = of("connectivity").attribute("type").unwrap().to_string();
    let width = if number == "Int32" { 4 } else { 8 };
    let double = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
    let mut mesh = Mesh {
        json: String::from_utf8(json).unwrap(),
        number,
        ..Mesh::default()
    };
    for point in found("Points", 24) {
        mesh.points
            .push([0, 8, 16].map(|at| double(&point[at..at + 8])));
    }
    for nodes in found("connectivity", 8 * width) {
        let node = |n: usize| whole(&nodes[n * width..(n + 1) * width]);
        mesh.cells.push([0, 1, 2, 3, 4, 5, 6, 7].map(node));
    }
    for ijk in found("ijk", 12) {
        mesh.indices
            .push([0, 4, 8].map(|at| whole(&ijk[at..at + 4])));
    }
    let is_byte = of("voxels").attribute("type") == Some("UInt8");
    for value in found("voxels", if is_byte { 1 } else { 4 }) {
        mesh.values.push(match value[..] {
            [byte] => byte.into(),
            _ => f32::from_le_bytes(value.try_into().unwrap()),
        });
    }
    let is_piece = |node: &roxmltree::Node| node.has_tag_name("Piece");
    let piece = document.descendants().find(is_piece).unwrap();
    for (name, count) in [
        ("NumberOfPoints", mesh.points.len()),
        ("NumberOfCells", mesh.cells.len()),
    ] {
        assert_eq!(piece.attribute(name), Some(&*count.to_string()));
    }
    let offsets = found("offsets", width);
    assert_eq!(offsets.len(), mesh.cells.len());
    for (n, offset) in offsets.iter().enumerate() {
        assert_eq!(whole(offset), 8 * (n + 1));
    }
    let types = found("types", 1);
    assert_eq!(types, vec![[12]; mesh.cells.len()]);
    mesh
}

/// Returns the cells by their numbers, with the names of the sets instead of values.
fn parse_inp(bytes: &[u8]) -> (Mesh, BTreeMap<usize, String>) {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut mesh = Mesh::default();
    let mut cells = BTreeMap::new();
    let mut sets = BTreeMap::new();
    let mut keyword = String::new();
    let mut set = String::new();
    assert!(text.is_ascii() && text.starts_with("*HEADING\n") && text.ends_with('\n'));
    for line in text.lines() {
        assert!(line.len() <= 256);
        if let Some(json) = line.strip_prefix("** voxelize ") {
            mesh.json += json;
        } else if line.starts_with('*') {
            keyword = line.split(',').next().unwrap().to_string();
            let name = line.split_once("ELSET=").map(|(_, name)| name);
            set = name.unwrap_or_default().to_string();
            assert!(keyword != "*ELEMENT" || line == format!("*ELEMENT, TYPE=C3D8, ELSET={set}"));
        } else if keyword == "*NODE" {
            let numbers: Vec<f64> = line.split(", ").map(|word| word.parse().unwrap()).collect();
            let [number, x, y, z] = numbers.try_into().unwrap();
            assert_eq!(number as usize, mesh.points.len() + 1);
            mesh.points.push([x, y, z]);
        } else if keyword == "*ELEMENT" {
            let numbers: Vec<usize> = line.split(", ").map(|word| word.parse().unwrap()).collect();
            let nodes: [usize; 8] = numbers[1..].try_into().unwrap();
            let before = cells.insert(numbers[0], nodes.map(|node| node - 1));
            assert_eq!(before, None);
            sets.insert(numbers[0], set.clone());
        }
    }
    assert!(cells.keys().copied().eq(1..=cells.len()));
    mesh.cells = cells.into_values().collect();
    (mesh, sets)
}

/// Returns the places of the written cells, x fastest, and their values.
fn expected(voxels: &Voxels) -> Vec<([usize; 3], f32)> {
    let cells = voxels.cells.as_ref();
    let mut found = vec![];
    for cell in every_cell(cells.dims()) {
        let (value, is_written) = match cells {
            CellsRef::Bits(bits) => (1.0, bits.get(cell)),
            CellsRef::Labels(labels) => (labels.get(cell).into(), labels.get(cell) != 0),
            // Values of zero are written and counted.
            CellsRef::Field(field) => (field.get(cell), !field.is_background(field.get(cell))),
        };
        if is_written {
            found.push((cell, value));
        }
    }
    found
}

/// Checks that every hexahedron is the box of its cell, and that no two nodes have the same place.
fn check(mesh: &Mesh, voxels: &Voxels, what: &str) -> Vec<([usize; 3], f32)> {
    let cells = expected(voxels);
    assert_eq!(mesh.cells.len(), cells.len(), "{what}");
    let lattice = voxels.lattice.as_ref();
    let wall =
        |axis: usize, n: usize| lattice.map_or(n as f64, |lattice| lattice.wall(axis, n).to_f64());
    let mut corners = BTreeSet::new();
    for ((cell, _), nodes) in cells.iter().zip(&mesh.cells) {
        for (corner, node) in CORNERS.iter().zip(nodes) {
            let walls = [0, 1, 2].map(|axis| cell[axis] + corner[axis]);
            let place = [0, 1, 2].map(|axis| wall(axis, walls[axis]));
            assert_eq!(mesh.points[*node], place, "{what} {cell:?}");
            corners.insert(walls);
        }
    }
    assert_eq!(mesh.points.len(), corners.len(), "{what}: nodes are shared");
    let nodes: BTreeSet<_> = mesh.cells.iter().flatten().collect();
    assert_eq!(nodes.len(), corners.len(), "{what}: every node has a cell");
    let json: serde_json::Value = serde_json::from_str(&mesh.json).unwrap();
    assert_eq!(json["dims"], serde_json::json!(voxels.dims()), "{what}");
    assert_eq!(json["origin"].is_array(), lattice.is_some(), "{what}");
    cells
}

/// Checks also the values and the indices of a `.vtu` file.
fn check_vtu(voxels: &Voxels, choices: &[Choice]) {
    let what = format!("{choices:?} {:?}", voxels.cells);
    let mesh = parse_vtu(&bytes_of(voxels, "vtu", None, choices));
    let cells = check(&mesh, voxels, &what);
    let bits = |value: f32| {
        if value.is_nan() {
            None
        } else {
            Some(value.to_bits())
        }
    };
    let found = mesh
        .indices
        .into_iter()
        .zip(mesh.values.iter().copied().map(bits));
    assert_eq!(mesh.values.len(), cells.len(), "{what}");
    let cells = cells.into_iter().map(|(cell, value)| (cell, bits(value)));
    assert!(found.eq(cells), "{what}");
}

/// Returns grids of bits, labels and fields.
fn all_grids() -> Vec<Voxels> {
    let dims = [[65, 3, 7], [63, 20, 5], [130, 9, 4]];
    let mut bits: Vec<_> = dims.map(scattered).into();
    bits.extend([f_grid(), full([64, 3, 2]), BitGrid::new([5, 4, 3]).unwrap()]);
    let mut all: Vec<_> = bits.into_iter().map(at_odd_place).chain(grids()).collect();
    all.push(Voxels::new(f_grid()));
    all
}

#[test]
fn every_cell_of_a_vtu_is_in_its_place() {
    for voxels in all_grids() {
        check_vtu(&voxels, &[]);
        check_vtu(&voxels, &[Choice::Uncompressed]);
    }
}

#[test]
fn every_cell_of_an_inp_is_in_its_place() {
    for voxels in all_grids() {
        if voxels.kind() == CellKind::Field {
            continue;
        }
        let what = format!("{:?}", voxels.cells);
        let (mesh, sets) = parse_inp(&bytes_of(&voxels, "inp", Some(Dtype::U8), &[]));
        let cells = check(&mesh, &voxels, &what);
        let mut names = BTreeMap::new();
        for ((_, value), set) in cells.iter().zip(sets.values()) {
            // One set for each label.
            let name = names.entry(*value as u8).or_insert(set);
            assert_eq!(*name, set, "{what}");
        }
        let distinct: BTreeSet<_> = names.values().map(|name| name.to_uppercase()).collect();
        assert_eq!(distinct.len(), names.len(), "{what}");
        match voxels.labels().map(|labels| labels.legend().labels()) {
            None => assert!(names.values().all(|name| *name == "VOXELS")),
            Some([]) => assert_eq!(names[&3], "label_3"),
            Some([first, ..]) => {
                let name = first
                    .name
                    .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                assert_eq!(*names[&first.value], name);
            }
        }
        let (_, sets) = parse_inp(&bytes_of(&voxels, "inp", Some(Dtype::Bool), &[]));
        assert!(sets.values().all(|set| set == "VOXELS"), "{what}");
    }
}

#[test]
fn a_single_cell_is_this_file() {
    let spacing = [Rational::new(1, 3), Rational::new(1, 2), Rational::from(2)];
    let origin = [Rational::from(-1), Rational::new(1, 10), Rational::ZERO];
    let lattice = Lattice::new([1, 1, 1], origin, spacing, [true; 3]).unwrap();
    let record = Record {
        input: Some("W\u{fc}rfel, *1*.stl".into()),
        ..Record::default()
    };
    let voxels = Voxels {
        lattice: Some(lattice),
        record,
        ..Voxels::new(full([1, 1, 1]))
    };
    let text = String::from_utf8(bytes_of(&voxels, "inp", None, &[])).unwrap();
    let tool = voxelize::TOOL;
    assert_eq!(
        text,
        format!(
            "*HEADING\n{tool}: W_rfel, _1_.stl\n\
             ** voxelize {{\"dims\":[1,1,1],\"origin\":[\"-1/1\",\"1/10\",\"0/1\"],\"spacing\":[\"1/3\",\"1/2\",\"2/1\"],\
             \"closed\":[true,true,true],\"input\":\"W\\u00fcrfel, *1*.stl\",\"dtype\":\"bool\"}}\n\
             *NODE, NSET=NALL\n\
             1, -1, 0.1, 0\n2, -0.6666666666666666, 0.1, 0\n3, -1, 0.6, 0\n4, -0.6666666666666666, 0.6, 0\n\
             5, -1, 0.1, 2\n6, -0.6666666666666666, 0.1, 2\n7, -1, 0.6, 2\n8, -0.6666666666666666, 0.6, 2\n\
             *ELEMENT, TYPE=C3D8, ELSET=VOXELS\n1, 1, 2, 4, 3, 5, 6, 8, 7\n"
        )
    );
    let bytes = bytes_of(&voxels, "vtu", None, &[Choice::Uncompressed]);
    let begin = bytes
        .windows(2)
        .position(|window| window == b"\n_")
        .unwrap()
        + 2;
    let head = String::from_utf8(bytes[..begin].to_vec()).unwrap();
    let after = head.split_once("</FieldData>\n").unwrap().1;
    assert_eq!(
        after,
        "<Piece NumberOfPoints=\"8\" NumberOfCells=\"1\">\n<PointData/>\n<CellData Scalars=\"voxels\">\n\
         <DataArray type=\"UInt8\" Name=\"voxels\" format=\"appended\" offset=\"0\"/>\n\
         <DataArray type=\"Int32\" Name=\"ijk\" NumberOfComponents=\"3\" format=\"appended\" offset=\"9\"/>\n\
         </CellData>\n<Points>\n\
         <DataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\" format=\"appended\" offset=\"29\"/>\n\
         </Points>\n<Cells>\n\
         <DataArray type=\"Int32\" Name=\"connectivity\" format=\"appended\" offset=\"229\"/>\n\
         <DataArray type=\"Int32\" Name=\"offsets\" format=\"appended\" offset=\"269\"/>\n\
         <DataArray type=\"UInt8\" Name=\"types\" format=\"appended\" offset=\"281\"/>\n\
         </Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_"
    );
    let data = &bytes[begin..];
    assert_eq!(data[..9], [1, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(
        data[229 + 8..269],
        [0, 1, 3, 2, 4, 5, 7, 6]
            .map(|node: u32| node.to_le_bytes())
            .concat()
    );
    assert_eq!(data[281 + 8], 12);
}

/// If more nodes exist than 32 bits can count eightfold, the numbers have 64 bits.
#[test]
fn numbers_of_nodes_are_wide_where_the_grid_is_large() {
    for (dims, number) in [([2001, 257, 3], "Int32"), ([2001, 2001, 67], "Int64")] {
        let mut bits = BitGrid::new(dims).unwrap();
        let last = dims.map(|n| n - 1);
        let cells = [[0; 3], [256, 256, 1], [255, 256, 1], last];
        cells.into_iter().for_each(|cell| bits.set(cell));
        let voxels = at_odd_place(bits);
        let mesh = parse_vtu(&bytes_of(&voxels, "vtu", None, &[]));
        assert_eq!(mesh.number, number);
        // Like `check`, without a pass over all cells.
        assert_eq!((mesh.cells.len(), mesh.points.len()), (4, 4 * 8 - 4));
        assert_eq!(mesh.indices, [[0; 3], [255, 256, 1], [256, 256, 1], last]);
        let lattice = voxels.lattice.as_ref().unwrap();
        for (cell, nodes) in mesh.indices.iter().zip(&mesh.cells) {
            for (corner, node) in CORNERS.iter().zip(nodes) {
                let place =
                    [0, 1, 2].map(|axis| lattice.wall(axis, cell[axis] + corner[axis]).to_f64());
                assert_eq!(mesh.points[*node], place);
            }
        }
    }
}

#[test]
fn arrays_of_several_blocks_are_whole() {
    let dims = [61, 40, 40];
    let voxels = at_odd_place(full(dims));
    check_vtu(&voxels, &[]);
    let legend = Legend::new((1..=9).map(|n| Label::new(n, format!("{n}")))).unwrap();
    let mut labels = Labels::new(dims, legend).unwrap();
    let mut field = Field::new(dims, 1.0).unwrap();
    for (n, cell) in every_cell(dims).enumerate() {
        labels.set(cell, (n % 9) as u8 + 1);
        field.set(cell, (n % 3) as f32);
    }
    let with = |cells: Cells| Voxels {
        cells,
        ..voxels.clone()
    };
    check_vtu(&with(field.into()), &[]);
    let voxels = with(labels.into());
    let (mesh, sets) = parse_inp(&bytes_of(&voxels, "inp", None, &[]));
    let cells = check(&mesh, &voxels, "labels");
    let names = cells.iter().map(|(_, value)| format!("L_{value}"));
    assert!(sets.into_values().eq(names));
}
