//! glTF and GLB: placed scenes, every kind of primitive and accessor, external files, and damage.

use serde_json::{Value, json};
use voxelize::Mesh;
use voxelize::job::{UnitOfLength, UpAxis};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{ReadOptions, Tolerance, read_file};

use super::indexed::{CUBE, SIDES};
use super::inputs::{codes, refused, rows, sound, stream, too_large};

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
    let length = match component {
        5121 => 1,
        5123 => 2,
        _ => 4,
    };
    for corner in corners() {
        bin.extend(&corner.to_le_bytes()[..length]);
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
    let corners: Vec<_> = corners().iter().map(|n| points[*n as usize]).collect();
    Mesh::from_triangles(corners.as_chunks().0.to_vec()).unwrap()
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
    for component in [5121, 5123, 5125] {
        let (document, bin) = cube(component);
        let loaded = stream(glb(&document, &bin), Tolerance::Strict).unwrap();
        assert_eq!(
            (loaded.format, loaded.unit, loaded.up),
            ("gltf", Some(UnitOfLength::Metre), Some(UpAxis::Y))
        );
        assert!(loaded.mesh == whole);
        assert!(loaded.mesh.edge_counts().is_oriented());
        let mut embedded = document.clone();
        let uri = format!("data:application/octet-stream;base64,{}", base64(&bin));
        embedded["buffers"][0]["uri"] = json!(uri);
        assert!(sound(embedded.to_string()) == loaded.mesh);
        assert!(sound(format!("\u{feff}\r\n {embedded:#}")) == loaded.mesh);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("a b")).unwrap();
        std::fs::write(path("a b/x%.bin"), &bin).unwrap();
        embedded["buffers"][0]["uri"] = json!("a%20b/x%.bin");
        std::fs::write(path("box.gltf"), embedded.to_string()).unwrap();
        let named = read_file(&path("box.gltf"), &ReadOptions::default()).unwrap();
        assert!(named.mesh == loaded.mesh);
    }
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
    assert!(sound(glb(&document, &mixed)) == whole);
    // Corners in their order, without indices.
    let (mut document, _) = cube(5125);
    let points: Vec<_> = corners().iter().map(|n| CUBE[*n as usize]).collect();
    document["meshes"][0]["primitives"][0] = json!({"attributes": {"POSITION": 0}});
    document["accessors"][0]["count"] = json!(36);
    document["bufferViews"][0]["byteLength"] = json!(36 * 12);
    assert!(sound(glb(&document, &floats(&points))) == whole);
}

#[test]
fn points_and_lines_are_left_out_with_a_note() {
    let (mut document, bin) = cube(5125);
    for mode in 0..4 {
        document["meshes"][0]["primitives"][0]["mode"] = json!(mode);
        let loaded = stream(glb(&document, &bin), Tolerance::Usual).unwrap();
        assert!(loaded.mesh.triangles().is_empty());
        assert_eq!(codes(&loaded), "S107");
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
    let patched = sound(glb(&document, &bin));
    let mut points = CUBE;
    (points[1], points[2], points[4]) = ([3.0, 0.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 3.0]);
    assert!(patched == box_of(points));
    document["accessors"][0]
        .as_object_mut()
        .unwrap()
        .remove("bufferView");
    let mut zeros = [[0.0; 3]; 8];
    for n in [1, 2, 4] {
        zeros[n] = points[n];
    }
    assert!(sound(glb(&document, &bin)) == box_of(zeros));
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
            sound(glb(&document, &whole)) == box_of(expected),
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
    let mesh = sound(glb(&document, &bin));
    let objects = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(objects.names(), ["box", "mirrored", ""]);
    assert_eq!(
        mesh.parts(PartKind::Material).unwrap().names(),
        ["red", "material 1", ""]
    );
    let edges = |part: u32| {
        let bounds = *mesh.select(|n| objects.of(n) == part).bounds();
        (bounds.min, bounds.max)
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
    assert_eq!(sound(glb(&document, &bin)).triangles().len(), 12 * 6);
}

/// Codes, changed values of the box, and parts of the message.
const DAMAGED: &str = r#"
    S009 | /asset/version | "1.0" | glTF 1.0
    S002 | /asset | {} | not a glTF
    S009 | /extensionsRequired | ["EXT_odd"] | EXT_odd
    S012 | /scene | 7 | scenes[7]
    S006 | /scene | "x" | scene is not a whole number
    S012 | /scenes/0/nodes | [9] | nodes[9]
    S006 | /nodes/0/children | [0] | nodes[0]: a node has two parents
    S006 | /nodes/0/mesh | -1 | nodes[0]: mesh is not a whole number
    S006 | /nodes/0/matrix | [1, 2, 3] | nodes[0]: matrix does not have 16 numbers
    S006 | /nodes/0/matrix | [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] | not affine
    S006 | /nodes/0/extensions | {"EXT_mesh_gpu_instancing": {}} | EXT_mesh_gpu_instancing without TRANSLATION
    S012 | /meshes/0/primitives/0/indices | 5 | accessors[5]
    S006 | /meshes/0/primitives/0/indices | 0 | accessors[0]: its type is not SCALAR
    S006 | /meshes/0/primitives/0/mode | 7 | 7 is not a primitive mode
    S003 | /accessors/0/count | 9 | accessors[0]: cut short: 9 elements
    S006 | /accessors/0/componentType | 1 | not a type of components
    S006 | /accessors/1/count | 35 | not a multiple of 3
    S012 | /accessors/0/count | 7 | meshes[0]: vertex 7 does not exist
    S003 | /accessors/0/byteOffset | 18446744073709551615 | cut short
    S003 | /bufferViews/0/byteStride | 18446744073709551615 | cut short
    S003 | /bufferViews/0/byteLength | 9999 | bufferViews[0]: cut short
    S012 | /bufferViews/0/buffer | 1 | buffers[1]
    S008 | /buffers/0/uri | "../x.bin" | buffers[0]: it is in '../x.bin', which is not below
    S008 | /buffers/0/uri | "/etc/passwd" | not below the folder
    S008 | /buffers/0/uri | "%2e%2e/x" | not below the folder
    S008 | /buffers/0/uri | "http://a/x" | not below the folder
    S008 | /buffers/0/uri | "x.bin" | a stream lies in no folder
    S006 | /buffers/0/uri | "data:;base64,%%%%" | has broken base64
    S003 | /buffers/0/uri | "data:;base64,AAAA" | buffers[0]: cut short: 3 bytes
    S003 | /buffers/0/uri | "data:text,AAAA" | buffers[0]: cut short: 4 bytes
    S006 | /buffers/0/uri | "data:text" | has no comma
    S006 | /bufferViews/0/byteStride | 11 | elements of 12 bytes, 11 bytes apart
    S006 | /accessors/0 | {"componentType": 5126, "type": "VEC3", "count": 18446744073709551615} | without a view
"#;

#[test]
fn damage_is_named_with_its_object() {
    let (document, bin) = cube(5123);
    let with = |path: &str, value: &str| {
        let mut document = document.clone();
        let value = serde_json::from_str(value).expect(value);
        let (parent, key) = path.rsplit_once('/').unwrap();
        match document.pointer_mut(parent).unwrap() {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            parent => parent[key] = value,
        }
        glb(&document, &bin)
    };
    for [code, path, value, text] in rows(DAMAGED) {
        refused(with(path, value), code, text);
    }
    refused(b"{\"asset\": ", "S006", "JSON");
    let first_version = b"glTF\x01\0\0\0\x14\0\0\0\0\0\0\0\0\0\0\0";
    refused(first_version, "S009", "version 1");
    // A primitive without positions is omitted with a note.
    let file = with("/meshes/0/primitives/0/attributes", "{}");
    let loaded = stream(file, Tolerance::Usual).unwrap();
    assert!(loaded.mesh.triangles().is_empty());
    assert_eq!(codes(&loaded), "S107");
    let mut nan = bin.clone();
    nan[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    refused(glb(&document, &nan), "S004", "");
    let lenient = stream(glb(&document, &nan), Tolerance::Lenient).unwrap();
    // Five of the triangles contain the first corner.
    let found = (lenient.mesh.triangles().len(), lenient.dropped);
    assert_eq!(found, (12 - 5, 5));
}

#[test]
fn a_glb_that_is_cut_is_an_error_at_every_byte() {
    let (document, bin) = cube(5123);
    let whole = glb(&document, &bin);
    for length in 4..whole.len() {
        let error = stream(&whole[..length], Tolerance::Usual).unwrap_err();
        assert!(
            ["S003", "S006"].contains(&error.code().name()),
            "{length}: {error}"
        );
    }
    let longer = [&whole[..], b"more"].concat();
    refused(&longer, "S005", "");
    assert!(stream(&longer, Tolerance::Lenient).unwrap().mesh == sound(&whole));
    // The limit applies to the file, its JSON, and its buffers.
    for limit in [100, 1000, 10_000] {
        too_large(&whole, limit);
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
                    let is_outside = error.message().contains("not below the folder of the mesh");
                    assert!(!is_read && is_outside, "{uri}: {error}");
                    assert_eq!(error.code().name(), "S008");
                }
            }
        }
    }
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
    let exact = sound(compressed(EXACT));
    assert_eq!((exact.triangles().len(), exact.volume()), (12, 10.0));
    assert_eq!(
        (exact.bounds().min, exact.bounds().max),
        ([0.0; 3], [2.0, 2.0, 2.5])
    );
    let rough = sound(compressed(QUANTIZED));
    assert!(rough.edge_counts().is_oriented());
    assert!((rough.volume() - 10.0).abs() < 0.01, "{}", rough.volume());
    for length in 0..EXACT.len() {
        refused(compressed(&EXACT[..length]), "S006", "");
    }
    for at in 0..QUANTIZED.len() {
        for bit in 0..8 {
            let mut damaged = QUANTIZED.to_vec();
            damaged[at] ^= 1 << bit;
            // Read or rejected, within a limit.
            let options = ReadOptions::default().memory(1 << 20);
            let _ =
                voxelize::mesh::read::read_stream(&mut &compressed(&damaged)[..], "-", &options);
        }
    }
}

#[test]
fn colours_come_from_materials_and_vertices() {
    let (mut document, bin) = cube(5123);
    document["meshes"][0]["primitives"][0]["material"] = json!(0);
    document["materials"] =
        json!([{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 0.5]}}]);
    let mesh = sound(glb(&document, &bin));
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
        sound(glb(&coloured, &bytes))
    };
    let white = (0..8).flat_map(|n| [255, 255, 255, n]).collect();
    let mesh = with_colours(5121, "VEC4", white);
    // Times the colour of the material.
    assert_eq!(mesh.colours().unwrap().of(7), [[255, 188, 0]; 3]);
    let shares = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| [n as f32 / 7.0, 1.0, 2.0]);
    let mesh = with_colours(5126, "VEC3", floats(&shares));
    assert_eq!(mesh.colours().unwrap().of(0)[0], [0, 188, 0]);
    document["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(1);
    refused(glb(&document, &bin), "S006", "its type is not VEC3");
    assert!(sound(glb(&cube(5123).0, &bin)).colours().is_none());
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
