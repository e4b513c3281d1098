//! glTF and GLB: placed scenes, every kind of primitive and accessor, external files, and damage.

use serde_json::{Value, json};
use voxelize::job::{UnitOfLength, UpAxis};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_file, read_stream};
use voxelize::{Code, Error, Mesh, Result};

use super::indexed::{CUBE, SIDES};

fn read(bytes: &[u8], tolerance: Tolerance) -> Result<Loaded> {
    read_stream(
        &mut &bytes[..],
        "-",
        &ReadOptions::default().tolerance(tolerance),
    )
}

fn usual(bytes: impl AsRef<[u8]>) -> Mesh {
    let loaded = read(bytes.as_ref(), Tolerance::Strict).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.bytes, bytes.as_ref().len() as u64);
    loaded.mesh
}

fn refused(bytes: impl AsRef<[u8]>) -> Error {
    read(bytes.as_ref(), Tolerance::Usual)
        .map(|loaded| loaded.mesh)
        .expect_err("it is damaged")
}

/// Returns a GLB of this document and these bytes.
pub(super) fn glb(document: &Value, bin: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let json = padded(document.to_string().as_bytes(), b' ');
    let bin = padded(bin, 0);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + json.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", bin)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

fn floats(points: &[[f32; 3]]) -> Vec<u8> {
    points
        .iter()
        .flatten()
        .flat_map(|c| c.to_le_bytes())
        .collect()
}

fn corners() -> Vec<u32> {
    SIDES
        .iter()
        .flat_map(|[a, b, c, d]| [*a, *b, *c, *a, *c, *d])
        .collect()
}

/// Returns the box with indices of this component type.
fn cube(component: u32) -> (Value, Vec<u8>) {
    let mut bin = floats(&CUBE);
    for corner in corners() {
        let bytes = corner.to_le_bytes();
        bin.extend(
            &bytes[..[(5121, 1), (5123, 2), (5125, 4)]
                .iter()
                .find(|row| row.0 == component)
                .unwrap()
                .1],
        );
    }
    let document = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 8},
            {"bufferView": 1, "componentType": component, "type": "SCALAR", "count": 36},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 96},
            {"buffer": 0, "byteOffset": 96, "byteLength": bin.len() - 96},
        ],
        "buffers": [{"byteLength": bin.len()}],
    });
    (document, bin)
}

/// Returns the triangles of the box with these corners.
fn box_of(points: [[f32; 3]; 8]) -> Mesh {
    let corners = corners();
    let all = corners
        .as_chunks()
        .0
        .iter()
        .map(|t: &[u32; 3]| t.map(|n| points[n as usize]));
    Mesh::from_triangles(all.collect()).unwrap()
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        let letters = (0..4).map(|n| char::from(LETTERS[(bits >> (18 - 6 * n)) as usize & 63]));
        text.extend(letters.take(three.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    text
}

#[test]
fn a_box_is_the_same_however_it_is_stored() {
    let whole = box_of(CUBE);
    let mut seen = 0;
    for component in [5121, 5123, 5125] {
        let (document, bin) = cube(component);
        let loaded = read(&glb(&document, &bin), Tolerance::Strict).unwrap();
        assert_eq!(
            (loaded.format, loaded.unit, loaded.up),
            ("gltf", Some(UnitOfLength::Metre), Some(UpAxis::Y))
        );
        assert!(loaded.mesh == whole);
        assert!(loaded.mesh.edge_counts().is_oriented());
        let mut embedded = document.clone();
        embedded["buffers"][0]["uri"] = json!(format!(
            "data:application/octet-stream;base64,{}",
            base64(&bin)
        ));
        assert!(usual(embedded.to_string()) == loaded.mesh);
        assert!(usual(format!("\u{feff}\r\n {embedded:#}")) == loaded.mesh);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("a b")).unwrap();
        std::fs::write(path("a b/x%.bin"), &bin).unwrap();
        embedded["buffers"][0]["uri"] = json!("a%20b/x%.bin");
        std::fs::write(path("box.gltf"), embedded.to_string()).unwrap();
        assert!(
            read_file(&path("box.gltf"), &ReadOptions::default())
                .unwrap()
                .mesh
                == loaded.mesh
        );
        seen += 1;
    }
    assert_eq!(seen, 3);
    // Interleaved with other numbers, at the end of a longer view.
    let (mut document, bin) = cube(5123);
    let mut mixed = vec![9; 4];
    bin[..96]
        .chunks(12)
        .for_each(|point| mixed.extend(point.iter().chain(&[7; 8])));
    mixed.extend(&bin[96..]);
    document["bufferViews"][0] =
        json!({"buffer": 0, "byteOffset": 4, "byteLength": 160, "byteStride": 20});
    document["bufferViews"][1]["byteOffset"] = json!(164);
    document["buffers"][0]["byteLength"] = json!(mixed.len());
    assert!(usual(glb(&document, &mixed)) == whole);
    // Corners in their order, without indices.
    let (mut document, _) = cube(5125);
    let points: Vec<_> = corners().iter().map(|n| CUBE[*n as usize]).collect();
    document["meshes"][0]["primitives"][0] = json!({"attributes": {"POSITION": 0}});
    document["accessors"][0]["count"] = json!(36);
    document["bufferViews"][0]["byteLength"] = json!(36 * 12);
    assert!(usual(glb(&document, &floats(&points))) == whole);
}

#[test]
fn strips_and_fans_turn_as_they_should() {
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ];
    let (mut document, _) = cube(5125);
    document["accessors"][0]["count"] = json!(4);
    document["bufferViews"][0]["byteLength"] = json!(48);
    document["meshes"][0]["primitives"][0] = json!({"attributes": {"POSITION": 0}, "mode": 5});
    let places = |mesh: &Mesh| -> Vec<[u32; 3]> {
        mesh.triangles()
            .iter()
            .map(|t| t.map(|[x, y, _]| (x + 2.0 * y) as u32))
            .collect()
    };
    assert_eq!(
        places(&usual(glb(&document, &floats(&corners)))),
        [[0, 1, 2], [2, 1, 3]]
    );
    document["meshes"][0]["primitives"][0]["mode"] = json!(6);
    let fan = [corners[0], corners[1], corners[3], corners[2]];
    assert_eq!(
        places(&usual(glb(&document, &floats(&fan)))),
        [[0, 1, 3], [0, 3, 2]]
    );
    for mode in 0..4 {
        document["meshes"][0]["primitives"][0]["mode"] = json!(mode);
        let loaded = read(&glb(&document, &floats(&corners)), Tolerance::Usual).unwrap();
        assert_eq!(
            (loaded.mesh.triangles().len(), loaded.findings[0].code()),
            (0, Code::S107)
        );
    }
}

#[test]
fn sparse_and_whole_numbers_are_positions() {
    let (mut document, mut bin) = cube(5123);
    // A sparse accessor: all zeros except for these values.
    let values = bin.len();
    bin.extend([1_u8, 2, 4]);
    bin.push(0);
    bin.extend(floats(&[[3.0, 0.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 3.0]]));
    let views = document["bufferViews"].as_array_mut().unwrap();
    views.push(json!({"buffer": 0, "byteOffset": values, "byteLength": 3}));
    views.push(json!({"buffer": 0, "byteOffset": values + 4, "byteLength": 36}));
    document["buffers"][0]["byteLength"] = json!(bin.len());
    let sparse = json!({"count": 3, "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 3}});
    document["accessors"][0]["sparse"] = sparse;
    let patched = usual(glb(&document, &bin));
    let mut points = CUBE;
    (points[1], points[2], points[4]) = ([3.0, 0.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 3.0]);
    assert!(patched == box_of(points));
    document["accessors"][0]
        .as_object_mut()
        .unwrap()
        .remove("bufferView");
    let zeros = std::array::from_fn(|n| {
        if [1, 2, 4].contains(&n) {
            points[n]
        } else {
            [0.0; 3]
        }
    });
    assert!(usual(glb(&document, &bin)) == box_of(zeros));
    // Integers with their values, and normalized.
    let (mut document, bin) = cube(5123);
    let mut whole: Vec<u8> = CUBE
        .iter()
        .flat_map(|p| [p[0] as i8 as u8, p[1] as u8, p[2] as u8, 0])
        .collect();
    whole.resize(96, 0);
    whole.extend(&bin[96..]);
    document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    document["bufferViews"][0]["byteStride"] = json!(4);
    for (component, normalized, unit) in [
        (5120, false, 1.0),
        (5121, false, 1.0),
        (5120, true, 127.0),
        (5121, true, 255.0),
    ] {
        document["accessors"][0]["componentType"] = json!(component);
        document["accessors"][0]["normalized"] = json!(normalized);
        let expected = CUBE.map(|p| p.map(|c| (f64::from(c as u8) / unit) as f32));
        assert!(
            usual(glb(&document, &whole)) == box_of(expected),
            "{component} {normalized}"
        );
    }
}

#[test]
fn nodes_place_their_meshes() {
    let (mut document, bin) = cube(5123);
    document["materials"] = json!([{"name": "red"}, {}]);
    let primitive =
        |material: u32| json!({"attributes": {"POSITION": 0}, "indices": 1, "material": material});
    document["meshes"] = json!([
        {"name": "box", "primitives": [primitive(0)]},
        {"primitives": [primitive(1), {"attributes": {"POSITION": 0}, "indices": 1}]},
    ]);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    document["nodes"] = json!([
        {"name": "root", "translation": [10, 0, 0], "children": [2, 1]},
        {"mesh": 0, "scale": [-1, 1, 1], "name": "mirrored"},
        {"mesh": 0, "translation": [0, 0, 100]},
        {"mesh": 1, "matrix": [0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 0, 50, 0, 1]},
        {"mesh": 0, "rotation": [half, 0, 0, half]},
        {"mesh": 0, "name": "in no scene"},
    ]);
    document["scenes"] = json!([{"nodes": [4]}, {"nodes": [0, 3]}]);
    document["scene"] = json!(1);
    let mesh = usual(glb(&document, &bin));
    let objects = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(objects.names(), ["box", "mirrored", ""]);
    assert_eq!(
        mesh.parts(PartKind::Material).unwrap().names(),
        ["red", "material 1", ""]
    );
    let bounds = |part: u32| *mesh.select(|n| objects.of(n) == part).bounds();
    let edges = |part| {
        (
            bounds(part).min.map(f64::from),
            bounds(part).max.map(f64::from),
        )
    };
    assert_eq!(edges(0), ([10.0, 0.0, 100.0], [12.0, 2.0, 102.5]));
    assert_eq!(edges(1), ([8.0, 0.0, 0.0], [10.0, 2.0, 2.5]));
    assert_eq!(edges(2), ([-4.0, 50.0, 0.0], [0.0, 54.0, 5.0]));
    // A mirrored box is not inside out.
    assert_eq!(mesh.volume(), 10.0 + 10.0 + 2.0 * 80.0);
    let of = |material: u32| {
        let materials = mesh.parts(PartKind::Material).unwrap();
        (0..48).filter(|n| materials.of(*n) == material).count()
    };
    assert_eq!([0, 1, 2].map(of), [24, 12, 12]);
    // Without scenes: all nodes without a parent.
    document.as_object_mut().unwrap().remove("scenes");
    document.as_object_mut().unwrap().remove("scene");
    assert_eq!(usual(glb(&document, &bin)).triangles().len(), 12 * 6);
}

#[test]
fn damage_is_named_with_its_object() {
    let (document, bin) = cube(5123);
    let with = |path: &str, value: Value| {
        let mut document = document.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap();
        match parent {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            parent => parent[key] = value,
        }
        glb(&document, &bin)
    };
    let mut seen = 0;
    for (file, code, says) in [
        (with("/asset/version", json!("1.0")), Code::S009, "glTF 1.0"),
        (with("/asset", json!({})), Code::S002, "no glTF"),
        (
            with("/extensionsRequired", json!(["EXT_odd"])),
            Code::S009,
            "EXT_odd",
        ),
        (with("/scene", json!(7)), Code::S012, "scenes[7]"),
        (
            with("/scene", json!("x")),
            Code::S006,
            "scene is no whole number",
        ),
        (with("/scenes/0/nodes", json!([9])), Code::S012, "nodes[9]"),
        (
            with("/nodes/0/children", json!([0])),
            Code::S006,
            "nodes[0]: a node that has two parents",
        ),
        (
            with("/nodes/0/mesh", json!(-1)),
            Code::S006,
            "nodes[0]: mesh is no whole number",
        ),
        (
            with("/nodes/0/matrix", json!([1, 2, 3])),
            Code::S006,
            "nodes[0]: matrix has not 16 numbers",
        ),
        (
            with("/nodes/0/matrix", json!(vec![1; 16])),
            Code::S006,
            "not affine",
        ),
        (
            with(
                "/nodes/0/extensions",
                json!({"EXT_mesh_gpu_instancing": {}}),
            ),
            Code::S006,
            "EXT_mesh_gpu_instancing without TRANSLATION",
        ),
        (
            with("/meshes/0/primitives/0/indices", json!(5)),
            Code::S012,
            "accessors[5]",
        ),
        (
            with("/meshes/0/primitives/0/indices", json!(0)),
            Code::S006,
            "accessors[0]: its type is not SCALAR",
        ),
        (
            with("/meshes/0/primitives/0/mode", json!(7)),
            Code::S006,
            "7 is no mode",
        ),
        (
            with("/accessors/0/count", json!(9)),
            Code::S003,
            "accessors[0]: cut short: 9 elements",
        ),
        (
            with("/accessors/0/componentType", json!(1)),
            Code::S006,
            "no type of components",
        ),
        (
            with("/accessors/1/count", json!(35)),
            Code::S006,
            "no whole number of triangles",
        ),
        (
            with("/accessors/0/count", json!(7)),
            Code::S012,
            "meshes[0]: vertex 7 does not exist",
        ),
        (
            with("/accessors/0/byteOffset", json!(u64::MAX)),
            Code::S003,
            "cut short",
        ),
        (
            with("/bufferViews/0/byteStride", json!(u64::MAX)),
            Code::S003,
            "cut short",
        ),
        (
            with("/bufferViews/0/byteLength", json!(9999)),
            Code::S003,
            "bufferViews[0]: cut short",
        ),
        (
            with("/bufferViews/0/buffer", json!(1)),
            Code::S012,
            "buffers[1]",
        ),
        (
            with("/buffers/0/uri", json!("../x.bin")),
            Code::S008,
            "buffers[0]: it is in '../x.bin', which is not below",
        ),
        (
            with("/buffers/0/uri", json!("/etc/passwd")),
            Code::S008,
            "not below the folder",
        ),
        (
            with("/buffers/0/uri", json!("%2e%2e/x")),
            Code::S008,
            "not below the folder",
        ),
        (
            with("/buffers/0/uri", json!("http://a/x")),
            Code::S008,
            "not below the folder",
        ),
        (
            with("/buffers/0/uri", json!("x.bin")),
            Code::S008,
            "a stream lies in no folder",
        ),
        (
            with("/buffers/0/uri", json!("data:;base64,%%%%")),
            Code::S006,
            "base64 is broken",
        ),
        (
            with("/buffers/0/uri", json!("data:;base64,AAAA")),
            Code::S003,
            "buffers[0]: cut short: 3 bytes",
        ),
        (
            with("/buffers/0/uri", json!("data:text,AAAA")),
            Code::S003,
            "buffers[0]: cut short: 4 bytes",
        ),
        (
            with("/buffers/0/uri", json!("data:text")),
            Code::S006,
            "without a comma",
        ),
        (
            with("/bufferViews/0/byteStride", json!(11)),
            Code::S006,
            "elements of 12 bytes, 11 bytes apart",
        ),
        (
            with(
                "/accessors/0",
                json!({"componentType": 5126, "type": "VEC3", "count": u64::MAX}),
            ),
            Code::S006,
            "without a view",
        ),
        (b"{\"asset\": ".to_vec(), Code::S006, "JSON"),
        (
            b"glTF\x01\0\0\0\x14\0\0\0\0\0\0\0\0\0\0\0".to_vec(),
            Code::S009,
            "version 1",
        ),
    ] {
        let error = refused(&file);
        assert!(
            error.code() == code && error.message().contains(says),
            "{says}\n{error}"
        );
        seen += 1;
    }
    assert_eq!(seen, 35);
    // A primitive without positions is omitted with a note.
    let loaded = read(
        &with("/meshes/0/primitives/0/attributes", json!({})),
        Tolerance::Usual,
    )
    .unwrap();
    assert_eq!(
        (loaded.mesh.triangles().len(), loaded.findings[0].code()),
        (0, Code::S107)
    );
    let mut nan = bin.clone();
    nan[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(refused(glb(&document, &nan)).code(), Code::S004);
    let lenient = read(&glb(&document, &nan), Tolerance::Lenient).unwrap();
    // Five of the triangles contain the first corner.
    assert_eq!(
        (lenient.mesh.triangles().len(), lenient.dropped),
        (12 - 5, 5)
    );
}

#[test]
fn a_glb_that_is_cut_is_an_error_at_every_byte() {
    let (document, bin) = cube(5123);
    let whole = glb(&document, &bin);
    for length in 4..whole.len() {
        let error = refused(&whole[..length]);
        assert!(
            [Code::S003, Code::S006].contains(&error.code()),
            "{length}: {error}"
        );
    }
    let longer = [&whole[..], b"more"].concat();
    assert_eq!(refused(&longer).code(), Code::S005);
    assert!(read(&longer, Tolerance::Lenient).unwrap().mesh == usual(&whole));
    // The limit applies to the file, its JSON, and its buffers.
    for limit in [100, 1000, 10_000] {
        let options = ReadOptions::default().memory(limit);
        let error = read_stream(&mut &whole[..], "-", &options).unwrap_err();
        assert_eq!(error.kind(), voxelize::Kind::TooLarge, "{limit}");
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    use std::os::unix::fs::symlink;

    let (mut document, bin) = cube(5123);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("scene/data")).unwrap();
    std::fs::write(path("outside.bin"), &bin).unwrap();
    std::fs::write(path("scene/data/inside.bin"), &bin).unwrap();
    symlink("..", path("scene/up")).unwrap();
    symlink("../outside.bin", path("scene/out.bin")).unwrap();
    symlink("data/inside.bin", path("scene/in.bin")).unwrap();
    symlink("data", path("scene/other")).unwrap();
    // The folder itself may be reached through a link.
    symlink("scene", path("linked")).unwrap();
    let mut seen = 0;
    for (uri, is_read) in [
        ("data/inside.bin", true),
        ("in.bin", true),
        ("other/inside.bin", true),
        ("./data/./inside.bin", true),
        ("out.bin", false),
        ("up/outside.bin", false),
    ] {
        document["buffers"][0]["uri"] = json!(uri);
        std::fs::write(path("scene/box.gltf"), document.to_string()).unwrap();
        for mesh in ["scene/box.gltf", "linked/box.gltf"] {
            match read_file(&path(mesh), &ReadOptions::default()) {
                Ok(loaded) => assert!(is_read && loaded.mesh == box_of(CUBE), "{uri}"),
                Err(error) => {
                    assert!(!is_read && error.code() == Code::S008, "{uri}: {error}");
                    assert!(
                        error.message().contains("not below the folder of the mesh"),
                        "{error}"
                    );
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}

/// The box in the format of the reference encoder: exact, and with 11 bits per coordinate.
#[cfg(feature = "draco")]
#[test]
fn compressed_primitives_are_decoded() {
    const EXACT: &[u8] = &[
        68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 8, 12, 0, 11, 0, 0, 3, 95, 171, 10, 1, 1, 16, 1,
        255, 0, 0, 1, 0, 9, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 64, 0, 0, 0, 64, 0, 0, 0,
        64, 0, 0, 32, 64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 32, 64, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0,
        0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 32, 64, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0,
    ];
    const QUANTIZED: &[u8] = &[
        68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 8, 12, 0, 11, 0, 0, 3, 95, 171, 10, 1, 1, 16, 1,
        255, 0, 0, 1, 0, 9, 3, 0, 0, 2, 1, 1, 1, 0, 11, 3, 1, 16, 1, 8, 27, 1, 40, 4, 0, 150, 34,
        129, 156, 121, 102, 0, 104, 6, 0, 0, 0, 98, 22, 32, 102, 154, 1, 0, 8, 192, 204, 0, 0, 0,
        0, 0, 0, 255, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 64, 11,
    ];
    let compressed = |bytes: &[u8]| {
        let (mut document, _) = cube(5123);
        document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
        document["bufferViews"] = json!([{"buffer": 0, "byteLength": bytes.len()}]);
        document["buffers"][0]["byteLength"] = json!(bytes.len());
        document["meshes"][0]["primitives"][0]["extensions"] =
            json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}});
        glb(&document, bytes)
    };
    let edges = |mesh: &Mesh| (mesh.bounds().min, mesh.bounds().max);
    let exact = usual(compressed(EXACT));
    assert_eq!(
        (exact.triangles().len(), exact.volume(), edges(&exact)),
        (12, 10.0, ([0.0; 3], [2.0, 2.0, 2.5]))
    );
    let rough = usual(compressed(QUANTIZED));
    assert!(
        rough.edge_counts().is_oriented() && (rough.volume() - 10.0).abs() < 0.01,
        "{}",
        rough.volume()
    );
    for length in 0..EXACT.len() {
        assert_eq!(
            refused(compressed(&EXACT[..length])).code(),
            Code::S006,
            "{length}"
        );
    }
    for at in 0..QUANTIZED.len() {
        for bit in 0..8 {
            let mut damaged = QUANTIZED.to_vec();
            damaged[at] ^= 1 << bit;
            // Read or rejected, within a limit.
            let options = ReadOptions::default().memory(1 << 20);
            let _ = read_stream(&mut &compressed(&damaged)[..], "-", &options);
        }
    }
}

#[test]
fn colours_come_from_materials_and_vertices() {
    let (mut document, bin) = cube(5123);
    document["meshes"][0]["primitives"][0]["material"] = json!(0);
    document["materials"] =
        json!([{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 0.5]}}]);
    let mesh = usual(glb(&document, &bin));
    // Half of the linear light is 188 of 255.
    assert!((0..12).all(|n| mesh.colours().unwrap().of(n) == [[255, 188, 0]; 3]));
    // Normalized bytes of four channels, then floats of three.
    let mut coloured = document.clone();
    for list in ["bufferViews", "accessors"] {
        coloured[list].as_array_mut().unwrap().push(Value::Null);
    }
    coloured["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(2);
    let mut with_colours = |kind: u32, of: &str, more: Vec<u8>| {
        let from = bin.len();
        let bytes = [&bin[..], &more].concat();
        coloured["bufferViews"][2] =
            json!({"buffer": 0, "byteOffset": from, "byteLength": more.len()});
        coloured["accessors"][2] = json!({"bufferView": 2, "componentType": kind, "type": of, "count": 8, "normalized": kind == 5121});
        coloured["buffers"][0]["byteLength"] = json!(bytes.len());
        usual(glb(&coloured, &bytes))
    };
    let mesh = with_colours(
        5121,
        "VEC4",
        (0..8).flat_map(|n| [255, 255, 255, n]).collect(),
    );
    assert_eq!(
        mesh.colours().unwrap().of(7),
        [[255, 188, 0]; 3],
        "times the colour of the material"
    );
    let shares: Vec<u8> = (0..8)
        .flat_map(|n| [n as f32 / 7.0, 1.0, 2.0])
        .flat_map(|share: f32| share.to_le_bytes())
        .collect();
    let mesh = with_colours(5126, "VEC3", shares);
    assert_eq!(mesh.colours().unwrap().of(0)[0], [0, 188, 0]);
    document["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(1);
    assert!(
        refused(glb(&document, &bin))
            .message()
            .contains("its type is not VEC3")
    );
    assert!(usual(glb(&cube(5123).0, &bin)).colours().is_none());
}

/// The box with a colour and a texture coordinate for each vertex, as encoded by the reference encoder.
#[cfg(all(feature = "draco", feature = "textures"))]
#[test]
fn compressed_primitives_have_colours_and_places() {
    use crate::support::picture::{RgbImage, png_of};

    const COMPRESSED: &[u8] = &[
        68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 8, 12, 0, 11, 0, 0, 3, 111, 171, 20, 1, 1, 16, 1,
        255, 0, 0, 3, 2, 2, 3, 1, 0, 3, 9, 2, 1, 1, 0, 9, 3, 0, 2, 1, 0, 2, 0, 1, 1, 0, 9, 23, 1,
        24, 3, 1, 40, 3, 0, 8, 176, 240, 241, 14, 180, 179, 0, 239, 240, 0, 59, 15, 192, 191, 3,
        236, 60, 64, 61, 13, 192, 239, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 63, 0, 0, 0, 63, 0, 0,
        96, 63, 0, 0, 0, 62, 0, 0, 192, 62, 0, 0, 32, 63, 0, 0, 128, 62, 0, 0, 64, 63, 0, 0, 64,
        63, 0, 0, 128, 62, 0, 0, 32, 63, 0, 0, 192, 62, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 62, 0,
        0, 96, 63, 0, 1, 1, 0, 14, 3, 1, 16, 1, 8, 39, 1, 40, 4, 0, 52, 48, 129, 4, 0, 155, 25, 0,
        128, 155, 25, 0, 0, 0, 2, 0, 206, 12, 0, 56, 51, 0, 16, 0, 155, 25, 0, 0, 0, 0, 0, 0, 0,
        255, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 64, 14,
    ];
    // Texture coordinates are eighths, from left to right and from the bottom to the top.
    let picture = RgbImage::from_fn(16, 1, |x, _| [(16 * x) as u8, 0, 0]);
    let png = png_of(&picture);
    let bin = [COMPRESSED, &png].concat();
    let (mut document, _) = cube(5123);
    document["bufferViews"] = json!([
        {"buffer": 0, "byteLength": COMPRESSED.len()},
        {"buffer": 0, "byteOffset": COMPRESSED.len(), "byteLength": png.len()}
    ]);
    document["buffers"][0]["byteLength"] = json!(bin.len());
    document["meshes"][0]["primitives"][0]["material"] = json!(0);
    document["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    document["textures"] = json!([{"source": 0}]);
    document["images"] = json!([{"bufferView": 1, "mimeType": "image/png"}]);
    let read = |attributes: Value| {
        let mut document = document.clone();
        document["meshes"][0]["primitives"][0]["extensions"] =
            json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": attributes}});
        Mesh::read(&glb(&document, &bin)[..], "-").unwrap()
    };
    // Returns the number of a vertex by its place.
    let number = |point: [f32; 3]| {
        let [x, y, z] = point.map(|n| u8::from(n > 1.0));
        4 * z + [[0, 3], [1, 2]][usize::from(x)][usize::from(y)]
    };
    let mesh = read(json!({"COLOR_0": 0, "POSITION": 2}));
    let colours = mesh.colours().unwrap();
    let light =
        |channel: u8| ((f64::from(channel) / 255.0).powf(1.0 / 2.4) * 1.055 - 0.055) * 255.0;
    for (n, triangle) in (0..).zip(mesh.triangles()) {
        for (corner, colour) in triangle.iter().zip(colours.of(n)) {
            let vertex = 30 * number(*corner);
            let off = f64::from(colour[1]) - light(255 - vertex);
            assert!(
                off.abs() <= 0.5 && colours.texture(n).is_none(),
                "{corner:?}: {colour:?}"
            );
        }
    }
    let mesh = read(json!({"TEXCOORD_0": 1, "POSITION": 2}));
    let colours = mesh.colours().unwrap();
    for (n, triangle) in (0..).zip(mesh.triangles()) {
        let (_, place) = colours.texture(n).unwrap();
        for (corner, [u, v]) in triangle.iter().zip(place.corners) {
            let share = f32::from(number(*corner)) / 8.0;
            assert_eq!([u, v], [share, 1.0 - share]);
        }
        // Towards the middle: a sixteenth further, or less.
        let [red, ..] = colours.at(n, [1.0, 0.0, 0.0]);
        assert!(red.abs_diff(32 * number(triangle[0])) <= 16, "{n}: {red}");
    }
}
