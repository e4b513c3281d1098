//! `.vtu` and `.inp` files are meshes of hexahedra that share their nodes, each in the place of its cell.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use voxelize::format::Choice;
use voxelize::grid::{Cells, CellsRef, Field, Label, Labels, Legend};

use super::kinds::{Split, grids};
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

fn written(voxels: &Voxels, name: &str, dtype: Option<Dtype>, choices: &[Choice]) -> Vec<u8> {
    let options = SaveOptions {
        dtype,
        choices,
        ..SaveOptions::default()
    };
    let mut bytes = Vec::new();
    format::write_to(voxels, &mut bytes, format::by_name(name).unwrap(), &options).unwrap();
    bytes
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
        flate2::read::ZlibDecoder::new(&data[at..at + number(3 + n)])
            .read_to_end(&mut block)
            .unwrap();
        assert_eq!(
            block.len(),
            if n + 1 == count && last > 0 {
                last
            } else {
                size
            }
        );
        at += number(3 + n);
        all.extend(block);
    }
    all
}

fn parse_vtu(bytes: &[u8]) -> Mesh {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let begin = bytes
        .windows(mark.len())
        .position(|window| window == mark)
        .unwrap()
        + mark.len();
    let data = &bytes[begin..];
    assert!(data.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));
    let head = String::from_utf8(bytes[..begin].to_vec()).unwrap() + "</AppendedData></VTKFile>";
    let document = roxmltree::Document::parse(&head).unwrap();
    let root = document.root_element();
    assert_eq!(
        (root.attribute("type"), root.attribute("header_type")),
        (Some("UnstructuredGrid"), Some("UInt64"))
    );
    let is_packed = root.attribute("compressor").is_some();
    let piece = root
        .descendants()
        .find(|node| node.has_tag_name("Piece"))
        .unwrap();
    let of = |name: &str| {
        document
            .descendants()
            .find(|node| node.attribute("Name") == Some(name))
            .unwrap()
    };
    let found = |name: &str, width: usize| -> Vec<Vec<u8>> {
        let offset = of(name).attribute("offset").unwrap().parse().unwrap();
        let bytes = array(data, offset, is_packed);
        assert_eq!(bytes.len() % width, 0, "{name}");
        bytes.chunks(width).map(<[u8]>::to_vec).collect()
    };
    let json = of("voxelize")
        .text()
        .unwrap()
        .split_whitespace()
        .map(|code| code.parse::<u8>().unwrap());
    let json = String::from_utf8(json.collect()).unwrap();
    assert_eq!(
        of("voxelize").attribute("NumberOfTuples"),
        Some(&*json.len().to_string())
    );
    let number = of("connectivity").attribute("type").unwrap().to_string();
    let width = if number == "Int32" { 4 } else { 8 };
    let whole = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0_usize, |all, byte| all << 8 | usize::from(*byte))
    };
    let count = |name: &str| piece.attribute(name).unwrap().parse::<usize>().unwrap();
    let mesh = Mesh {
        points: found("Points", 24)
            .iter()
            .map(|point| {
                [0, 8, 16].map(|at| f64::from_le_bytes(point[at..at + 8].try_into().unwrap()))
            })
            .collect(),
        cells: found("connectivity", 8 * width)
            .iter()
            .map(|nodes| {
                [0, 1, 2, 3, 4, 5, 6, 7].map(|n| whole(&nodes[n * width..(n + 1) * width]))
            })
            .collect(),
        values: match of("voxels").attribute("type").unwrap() {
            "UInt8" => found("voxels", 1)
                .iter()
                .map(|value| value[0].into())
                .collect(),
            _ => found("voxels", 4)
                .iter()
                .map(|value| f32::from_le_bytes(value[..].try_into().unwrap()))
                .collect(),
        },
        indices: found("ijk", 12)
            .iter()
            .map(|ijk| [0, 4, 8].map(|at| whole(&ijk[at..at + 4])))
            .collect(),
        json,
        number,
    };
    assert_eq!(
        (count("NumberOfPoints"), count("NumberOfCells")),
        (mesh.points.len(), mesh.cells.len())
    );
    let offsets: Vec<usize> = found("offsets", width)
        .iter()
        .map(|offset| whole(offset))
        .collect();
    assert!(
        offsets
            .into_iter()
            .eq((1..=mesh.cells.len()).map(|n| 8 * n))
    );
    assert!(found("types", 1).iter().all(|kind| kind[0] == 12));
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
            set = line
                .split_once("ELSET=")
                .map_or(String::new(), |(_, name)| name.to_string());
            assert!(keyword != "*ELEMENT" || line == format!("*ELEMENT, TYPE=C3D8, ELSET={set}"));
        } else if keyword == "*NODE" {
            let numbers: Vec<f64> = line.split(", ").map(|word| word.parse().unwrap()).collect();
            assert_eq!(
                (numbers.len(), numbers[0] as usize),
                (4, mesh.points.len() + 1)
            );
            mesh.points.push([numbers[1], numbers[2], numbers[3]]);
        } else if keyword == "*ELEMENT" {
            let numbers: Vec<usize> = line.split(", ").map(|word| word.parse().unwrap()).collect();
            let nodes: [usize; 8] = numbers[1..].try_into().unwrap();
            assert!(
                cells
                    .insert(numbers[0], nodes.map(|node| node - 1))
                    .is_none()
            );
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
    let [nx, ny, nz] = cells.dims();
    let all = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
    all.filter_map(|cell| {
        let value = match cells {
            CellsRef::Bits(bits) => f32::from(bits.get(cell)),
            CellsRef::Labels(labels) => labels.get(cell).into(),
            CellsRef::Field(field) if field.is_background(field.get(cell)) => 0.0,
            // Values of zero are written and counted.
            CellsRef::Field(field) => return Some((cell, field.get(cell))),
        };
        (value != 0.0).then_some((cell, value))
    })
    .collect()
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
            assert_eq!(
                mesh.points[*node],
                [0, 1, 2].map(|axis| wall(axis, walls[axis])),
                "{what} {cell:?}"
            );
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

fn bit_grids() -> Vec<Voxels> {
    let grids = [
        f_grid(),
        scattered([65, 3, 7]),
        scattered([63, 20, 5]),
        scattered([130, 9, 4]),
        full([64, 3, 2]),
    ];
    let empty = BitGrid::new([5, 4, 3]).unwrap();
    let mut all: Vec<_> = grids.into_iter().chain([empty]).map(at_odd_place).collect();
    all.push(Voxels::new(f_grid()));
    all
}

#[test]
fn every_cell_of_a_vtu_is_in_its_place() {
    let mut seen = 0;
    for voxels in bit_grids().into_iter().chain(grids()) {
        for choices in [&[][..], &[Choice::Uncompressed]] {
            let what = format!("{choices:?} {:?}", voxels.cells);
            let mesh = parse_vtu(&written(&voxels, "vtu", None, choices));
            let cells = check(&mesh, &voxels, &what);
            assert!(
                mesh.indices.iter().eq(cells.iter().map(|(cell, _)| cell)),
                "{what}"
            );
            let same = |(found, (_, value)): (&f32, &([usize; 3], f32))| {
                found.to_bits() == value.to_bits() || found.is_nan() && value.is_nan()
            };
            assert!(
                mesh.values.len() == cells.len() && mesh.values.iter().zip(&cells).all(same),
                "{what}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 2 * 20, "{seen}");
}

#[test]
fn every_cell_of_an_inp_is_in_its_place() {
    let mut seen = 0;
    for voxels in bit_grids().into_iter().chain(grids()) {
        if voxels.kind() == CellKind::Field {
            continue;
        }
        let what = format!("{:?}", voxels.cells);
        let (mesh, sets) = parse_inp(&written(&voxels, "inp", Some(Dtype::U8), &[]));
        let cells = check(&mesh, &voxels, &what);
        let mut names = BTreeMap::new();
        for ((_, value), set) in cells.iter().zip(sets.values()) {
            // One set for each label.
            assert_eq!(
                names.entry(*value as u8).or_insert_with(|| set.clone()),
                set,
                "{what}"
            );
        }
        let distinct: BTreeSet<_> = names.values().map(|name| name.to_uppercase()).collect();
        assert_eq!(distinct.len(), names.len(), "{what}");
        match voxels.labels() {
            None => assert!(names.values().all(|name| name == "VOXELS")),
            Some(labels) if labels.legend().labels().is_empty() => assert_eq!(names[&3], "label_3"),
            Some(labels) => {
                let first = &labels.legend().labels()[0];
                let name: String = first
                    .name
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                    .collect();
                assert_eq!(names[&first.value], name);
            }
        }
        let (_, sets) = parse_inp(&written(&voxels, "inp", Some(Dtype::Bool), &[]));
        assert!(sets.values().all(|set| set == "VOXELS"), "{what}");
        seen += 1;
    }
    assert!(seen >= 15, "{seen}");
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
    let text = String::from_utf8(written(&voxels, "inp", None, &[])).unwrap();
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
    let bytes = written(&voxels, "vtu", None, &[Choice::Uncompressed]);
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

#[test]
fn slabs_make_the_bytes_of_the_whole() {
    let mut compared = 0;
    for voxels in bit_grids().into_iter().chain(grids()) {
        for name in ["vtu", "inp"] {
            let format = format::by_name(name).unwrap();
            if !format.holds(voxels.kind()) {
                continue;
            }
            let bytes = written(&voxels, name, None, &[]);
            for height in [1, 3, 4] {
                let mut slabs = Vec::new();
                let mut source = Split::new(&voxels, height);
                format::write_source_to(&mut source, &mut slabs, format, &SaveOptions::default())
                    .unwrap();
                assert!(slabs == bytes, "{name} {height} {:?}", voxels.cells);
                compared += 1;
            }
        }
    }
    assert!(compared >= 3 * 30, "{compared}");
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
        let mesh = parse_vtu(&written(&voxels, "vtu", None, &[]));
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
    let voxels = at_odd_place(full([61, 40, 40]));
    let mesh = parse_vtu(&written(&voxels, "vtu", None, &[]));
    check(&mesh, &voxels, "full");
    let mut labels = Labels::new(
        [61, 40, 40],
        Legend::new((1..=9).map(|n| Label::new(n, format!("{n}")))).unwrap(),
    )
    .unwrap();
    for (n, cell) in full([61, 40, 40]).iter().enumerate() {
        labels.set(cell, (n % 9) as u8 + 1);
    }
    let voxels = Voxels {
        cells: Cells::Labels(labels),
        ..voxels
    };
    let (mesh, sets) = parse_inp(&written(&voxels, "inp", None, &[]));
    let cells = check(&mesh, &voxels, "labels");
    assert!(
        sets.values()
            .zip(cells)
            .all(|(set, (_, value))| *set == format!("L_{value}"))
    );
    let mut field = Field::new([61, 40, 40], 1.0).unwrap();
    field
        .values_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(n, value)| *value = (n % 3) as f32);
    let voxels = Voxels {
        cells: field.into(),
        ..voxels
    };
    let mesh = parse_vtu(&written(&voxels, "vtu", None, &[]));
    let cells = check(&mesh, &voxels, "field");
    assert!(mesh.values.iter().eq(cells.iter().map(|(_, value)| value)));
}
