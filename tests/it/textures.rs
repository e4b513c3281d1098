//! Cells have the colour of the texture at their place on the mesh.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use voxelize::grid::{Cells, Labels};
use voxelize::mesh::read::{ReadOptions, read_file};
use voxelize::{Kind, Mesh, format};

use crate::support::picture::{RgbImage, encoded_png, png_of, webp_of};
use crate::support::{place::Place, rows};

type Rgb = [u8; 3];

/// Corners of a box of 4 × 2 × 1, and its faces.
const CORNERS: [[f64; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [4.0, 0.0, 0.0],
    [4.0, 2.0, 0.0],
    [0.0, 2.0, 0.0],
    [0.0, 0.0, 1.0],
    [4.0, 0.0, 1.0],
    [4.0, 2.0, 1.0],
    [0.0, 2.0, 1.0],
];
const FACES: [[usize; 4]; 6] = [
    [0, 3, 2, 1],
    [4, 5, 6, 7],
    [0, 1, 5, 4],
    [1, 2, 6, 5],
    [2, 3, 7, 6],
    [3, 0, 4, 7],
];

/// Returns a picture of distinct colours.
fn picture(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let n = (y * width + x) * 0x9e37;
        [n % 251, n / 251 % 251, n / 251 / 251 * 100].map(|channel| channel as u8)
    })
}

/// Writes the box with the whole picture on each of its faces.
fn write_box(place: &Place, picture: &RgbImage) {
    place.write("box.png", png_of(picture));
    place.write("box.mtl", "newmtl all\nKd 0 0 0\nmap_Kd box.png\n");
    let mut obj = String::from("mtllib box.mtl\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl all\n");
    for [x, y, z] in CORNERS {
        obj += &format!("v {x} {y} {z}\n");
    }
    for [a, b, c, d] in FACES.map(|face| face.map(|corner| corner + 1)) {
        obj += &format!("f {a}/1 {b}/2 {c}/3 {d}/4\n");
    }
    place.write("box.obj", obj);
}

/// Returns the colour of the texel at the nearest point of the box.
fn expected([x, y, z]: [f64; 3], picture: &RgbImage) -> Rgb {
    let away = [z, 1.0 - z, y, 4.0 - x, 2.0 - y, x];
    let face = (0..6).fold(0, |best, n| if away[n] < away[best] { n } else { best });
    let [a, b, _, d] = FACES[face].map(|corner| CORNERS[corner]);
    let along = |to: [f64; 3]| {
        let side = [0, 1, 2].map(|n| to[n] - a[n]);
        let away = [x - a[0], y - a[1], z - a[2]];
        let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        dot(side, away) / dot(side, side)
    };
    let u = along(b);
    let v = 1.0 - along(d);
    picture.at(
        (u * f64::from(picture.width)) as u32,
        (v * f64::from(picture.height)) as u32,
    )
}

fn labels(place: &Place, name: &str) -> Labels {
    let Cells::Labels(labels) = format::open(&place.path(name)).unwrap().cells else {
        panic!("no labels")
    };
    labels
}

fn colour(labels: &Labels, cell: [usize; 3]) -> Rgb {
    let label = labels.legend().get(labels.get(cell)).unwrap();
    label.colour.unwrap()
}

#[test]
fn a_cell_has_the_texel_that_is_nearest() {
    for (width, height, merged) in [(4, 4, false), (17, 15, false), (100, 100, true)] {
        let place = Place::new();
        let picture = picture(width, height);
        write_box(&place, &picture);
        let run = place
            .run("box.obj --voxel-size 1/32 --labels colour -o a.npz")
            .expect(0);
        assert_eq!(run.err.contains("W015"), merged, "{}", run.err);
        let found = labels(&place, "a.npz");
        let lattice = format::open(&place.path("a.npz")).unwrap().lattice.unwrap();
        let [mut seen, mut off] = [0_u64; 2];
        for (cell, _) in found.iter() {
            let is = colour(&found, cell);
            let wanted = expected(lattice.centre(cell), &picture);
            let case = format!("{width} x {height}: {cell:?}");
            assert!(merged || is == wanted, "{case} is {is:?}, not {wanted:?}");
            off += u64::from((0..3).map(|n| is[n].abs_diff(wanted[n])).max().unwrap());
            seen += 1;
        }
        assert_eq!(seen, 128 * 64 * 32 - 126 * 62 * 30);
        // With 255 colours for ten thousand, neighbouring colours are a sixth of a channel's range apart.
        assert!(off / seen < 24, "{} on the average", off / seen);
        // The bytes do not depend on the plan, and an independent reader agrees.
        let make = |words: &str| {
            let line = format!("box.obj --voxel-size 1/32 --labels colour -o a.vox {words}");
            place.run(&line).expect(0);
            std::fs::read(place.path("a.vox")).unwrap()
        };
        let bytes = make("");
        for words in ["", "-j 1", "-j 5", "--simd scalar", "--max-memory 40M"] {
            assert!(make(words) == bytes, "{words}");
        }
        let scene = dot_vox::load_bytes(&bytes).unwrap();
        for voxel in &scene.models[0].voxels {
            let is = scene.palette[usize::from(voxel.i)];
            let cell = [voxel.x, voxel.y, voxel.z].map(usize::from);
            assert_eq!([is.r, is.g, is.b], colour(&found, cell));
        }
        assert_eq!(scene.models[0].voxels.len() as u64, seen);
    }
}

/// The picture is upright: its upper left corner is the upper left corner of the plate.
const UPRIGHT: [[f32; 2]; 4] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];

/// Returns a plate of 4 × 4 with an upright picture as glTF. The arguments are merged into its material and
/// the document.
fn plate(image: &[u8], surface: Value, more: Value) -> Value {
    plate_at(UPRIGHT, image, surface, more)
}

/// Returns a plate with these texture coordinates.
fn plate_at(places: [[f32; 2]; 4], image: &[u8], surface: Value, more: Value) -> Value {
    let mut bin: Vec<u8> = vec![];
    let corners = [
        [0.0, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [4.0, 4.0, 0.0],
        [0.0_f32, 4.0, 0.0],
    ];
    bin.extend(corners.as_flattened().iter().flat_map(|n| n.to_le_bytes()));
    bin.extend(places.as_flattened().iter().flat_map(|n| n.to_le_bytes()));
    bin.extend([0_u16, 1, 2, 0, 2, 3].iter().flat_map(|n| n.to_le_bytes()));
    let mut document = json!({
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"uri": format!("data:image/png;base64,{}", STANDARD.encode(image))}],
        "buffers": [{"byteLength": bin.len(), "uri": format!("data:;base64,{}", STANDARD.encode(&bin))}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 32},
            {"buffer": 0, "byteOffset": 80, "byteLength": 12}
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"},
            {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"}
        ],
    });
    for (key, value) in surface.as_object().unwrap() {
        document["materials"][0]["pbrMetallicRoughness"][key] = value.clone();
    }
    for (key, value) in more.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

/// Returns the colours of the cells of a plate as seen from above: rows from the top.
fn cells(place: &Place, document: &Value) -> Vec<Rgb> {
    place.write("plate.gltf", document.to_string());
    place
        .run("plate.gltf --up z --dims 4,4,1 --labels colour -o a.npz")
        .expect(0);
    let found = labels(place, "a.npz");
    (0..16)
        .map(|n| colour(&found, [n % 4, 3 - n / 4, 0]))
        .collect()
}

#[test]
fn textures_of_a_gltf_are_placed_by_its_coordinates() {
    let place = Place::new();
    let picture = picture(4, 4);
    let png = png_of(&picture);
    let all: Vec<Rgb> = picture.texels.clone();
    let with = |surface: Value| cells(&place, &plate(&png, surface, json!({})));
    assert_eq!(with(json!({})), all);
    // Twice as large a piece of the plane, which extends beyond the picture.
    let twice = UPRIGHT.map(|[u, v]| [2.0 * u, 2.0 * v]);
    for (wrap, at) in [
        (10497, [0, 2, 0, 2]),
        (33071, [0, 2, 3, 3]),
        (33648, [0, 2, 2, 0]),
    ] {
        let more = json!({"samplers": [{"wrapS": wrap, "wrapT": wrap}], "textures": [{"source": 0, "sampler": 0}]});
        let found = cells(&place, &plate_at(twice, &png, json!({}), more));
        for (n, colour) in found.iter().enumerate() {
            // Centres of cells are on the sides of texels, shifted towards the middle of their triangle.
            let near = [0, 1].map(|less| at.map(|texel: i32| (texel + less).clamp(0, 3) as usize));
            let texels = near.map(|columns| near.map(|rows| all[4 * rows[n / 4] + columns[n % 4]]));
            assert!(texels.as_flattened().contains(colour), "{wrap}: cell {n}");
        }
    }
    let transformed = |transform: Value| {
        let extensions = json!({"KHR_texture_transform": transform});
        with(json!({"baseColorTexture": {"index": 0, "extensions": extensions}}))
    };
    // A quarter turn, and half of the picture.
    let turned = transformed(json!({"rotation": std::f64::consts::FRAC_PI_2, "offset": [0, 1]}));
    let clockwise: Vec<_> = (0..16).map(|n| all[4 * (3 - n % 4) + n / 4]).collect();
    assert_eq!(turned, clockwise);
    let wide = transformed(json!({"scale": [0.5, 1]}));
    assert_eq!(wide[..4], [all[0], all[0], all[1], all[1]]);
    // The colour of the material multiplies in linear light.
    let dark = with(json!({"baseColorFactor": [1, 0, 1, 1]}));
    let without_green: Vec<_> = all.iter().map(|[r, _, b]| [*r, 0, *b]).collect();
    assert_eq!(dark, without_green);
    // Without texture coordinates the material's colour is used.
    let mut without = plate(&png, json!({"baseColorFactor": [1, 0, 1, 1]}), json!({}));
    without["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0});
    assert_eq!(cells(&place, &without), [[255, 0, 255]; 16]);
}

#[test]
fn pictures_are_png_jpeg_and_webp() {
    let place = Place::new();
    let red = [200, 30, 20];
    let blue = [20, 40, 180];
    let halves = RgbImage::from_fn(64, 64, |x, _| if x < 32 { red } else { blue });
    let deep = halves.texels.as_flattened().iter();
    let deep: Vec<u8> = deep.flat_map(|byte| [*byte, 0]).collect();
    let deep = encoded_png(64, 64, png::BitDepth::Sixteen, &deep);
    let jpeg = |name: &str| std::fs::read(format!("tests/pictures/{name}.jpg")).unwrap();
    let both = (red, blue);
    for (name, bytes, kind, (left, right)) in [
        ("png", png_of(&halves), "png", both),
        ("png of 16 bits", deep, "png", both),
        ("jpeg", jpeg("halves"), "jpeg", both),
        ("progressive", jpeg("progressive"), "jpeg", both),
        ("cmyk", jpeg("cmyk"), "jpeg", both),
        ("grey", jpeg("grey"), "jpeg", ([80; 3], [50; 3])),
        ("webp", webp_of(&halves), "webp", both),
    ] {
        let mut document = plate(&[], json!({}), json!({}));
        let uri = format!("data:image/{kind};base64,{}", STANDARD.encode(bytes));
        document["images"][0]["uri"] = json!(uri);
        if kind == "webp" {
            document["textures"] = json!([{"extensions": {"EXT_texture_webp": {"source": 0}}}]);
            document["extensionsRequired"] = json!(["EXT_texture_webp"]);
        }
        for (n, colour) in cells(&place, &document).into_iter().enumerate() {
            let wanted = if n % 4 < 2 { left } else { right };
            let is_near = (0..3).all(|n| colour[n].abs_diff(wanted[n]) < 6);
            assert!(is_near, "{name}: {colour:?}");
        }
    }
}

/// A triangle with the material `m` and one texture coordinate.
const TRIANGLE: &str = "mtllib a.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n";

#[test]
fn pictures_that_cannot_be_read_are_noted() {
    let place = Place::new();
    let good = png_of(&picture(64, 64));
    let mut large = good.clone();
    // The header claims the largest size.
    large[16..24].copy_from_slice(&[0, 0, 255, 255, 0, 0, 255, 255]);
    place.write("cut.png", &good[..good.len() / 2]);
    place.write("large.png", &large);
    place.write("none.png", "no picture");
    place.write("a.obj", TRIANGLE);
    for (name, message) in [
        ("gone.png", "gone.png"),
        ("cut.png", "its image"),
        ("large.png", "its image"),
        ("none.png", "its image"),
        ("../up.png", "not below the folder"),
    ] {
        let green = json!({"baseColorFactor": [0, 1, 0, 1]});
        let mut document = plate(&good, green, json!({}));
        document["images"][0]["uri"] = json!(name);
        place.write("a.gltf", document.to_string());
        place.write("a.mtl", format!("newmtl m\nKd 0 1 0\nmap_Kd {name}\n"));
        for mesh in ["a.gltf", "a.obj"] {
            // The second run requests no colours.
            let runs = rows::check(
                &place,
                &format!(
                    "0 {mesh} -r 4 --labels colour -o a.npz --json
                         /warnings/0/code \"S110\"
                     0 {mesh} -r 4 -o b.npz --json
                         /warnings/0/code \"W026\""
                ),
            );
            let warning = &runs[0].json()["warnings"][0]["message"];
            let is_right = warning.as_str().unwrap().contains(message);
            assert!(is_right, "{name}: {warning}");
            let found = labels(&place, "a.npz");
            let mut colours = found.iter().map(|(cell, _)| colour(&found, cell));
            assert!(
                colours.all(|colour| colour == [0, 255, 0]),
                "{mesh}: {name}"
            );
        }
    }
}

#[test]
fn colours_of_other_materials_are_read_or_named() {
    let place = Place::new();
    let picture = picture(4, 4);
    let png = png_of(&picture);
    let all: Vec<Rgb> = picture.texels.clone();
    let plain = |more: Value| plate(&png, json!({}), more);
    let glossy = |surface: Value| {
        let material = json!({
            "pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 1]},
            "extensions": {"KHR_materials_pbrSpecularGlossiness": surface},
        });
        cells(&place, &plain(json!({"materials": [material]})))
    };
    assert_eq!(glossy(json!({"diffuseTexture": {"index": 0}})), all);
    let both = json!({"diffuseFactor": [1, 0, 1, 0.5], "diffuseTexture": {"index": 0}});
    let without_green: Vec<_> = all.iter().map(|[r, _, b]| [*r, 0, *b]).collect();
    assert_eq!(glossy(both), without_green);
    let red = glossy(json!({"diffuseFactor": [1, 0, 0, 1]}));
    assert_eq!(red, [[255, 0, 0]; 16]);
    // A picture of an unsupported type has a fallback, or is reported.
    let mut basis = plain(
        json!({"textures": [{"source": 0, "extensions": {"KHR_texture_basisu": {"source": 7}}}]}),
    );
    assert_eq!(cells(&place, &basis), all);
    basis["textures"] = json!([{"extensions": {"KHR_texture_basisu": {"source": 0}}}]);
    basis["extensionsRequired"] = json!(["KHR_texture_basisu"]);
    place.write("basis.gltf", basis.to_string());
    // A picture without texture coordinates.
    let mut unplaced = plain(json!({}));
    unplaced["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0});
    place.write("unplaced.gltf", unplaced.to_string());
    rows::check(
        &place,
        "4 basis.gltf -r 4 --labels colour -o a.npz
             err the mesh has no colours
             err only as KHR_texture_basisu, which is not supported
             err PNG or JPEG
         4 unplaced.gltf -r 4 --labels colour -o a.npz
             err it has no TEXCOORD_0 for the texture",
    );
}

#[test]
fn an_empty_scene_is_refused_with_the_omitted_parts() {
    let place = Place::new();
    let plain = plate(&[], json!({}), json!({}));
    for (nodes, mode, message) in [
        (
            json!([]),
            4,
            "the default scene does not use 1 mesh with 2 triangles",
        ),
        (
            json!([{"mesh": 0, "extensions": {"KHR_node_visibility": {"visible": false}}}]),
            4,
            "hides 1 mesh with 2 triangles",
        ),
        (json!([{"mesh": 0}]), 1, "points and lines are left out"),
    ] {
        let mut document = plain.clone();
        document["nodes"] = nodes;
        document["meshes"][0]["primitives"][0]["mode"] = json!(mode);
        place.write("a.gltf", document.to_string());
        for line in ["a.gltf -r 4 -o a.npz", "check a.gltf"] {
            rows::check(
                &place,
                &format!("4 {line}\n err has no triangles: \n err {message}"),
            );
        }
    }
}

#[test]
fn a_broken_picture_is_read_once() {
    let place = Place::new();
    let good = png_of(&picture(64, 64));
    let green = json!({"baseColorFactor": [0, 1, 0, 1]});
    let mut document = plate(&good[..good.len() / 2], green, json!({}));
    let image = document["images"][0].clone();
    // Textures, samplers and images that all use the same bytes.
    document["images"] = json!(vec![image; 3]);
    document["samplers"] = json!([{}, {"wrapS": 33071}]);
    document["textures"] =
        json!([{"source": 0}, {"source": 0}, {"source": 1, "sampler": 1}, {"source": 2}]);
    document["materials"] = (0..4)
        .map(|n| json!({"pbrMetallicRoughness": {"baseColorFactor": [0, 1, 0, 1], "baseColorTexture": {"index": n}}}))
        .collect();
    let primitives = document["meshes"][0]["primitives"].as_array_mut().unwrap();
    for n in 1..4 {
        let mut primitive = primitives[0].clone();
        primitive["material"] = json!(n);
        primitives.push(primitive);
    }
    place.write("a.gltf", document.to_string());
    let options = ReadOptions::default().textures(true);
    let loaded = read_file(&place.path("a.gltf"), &options).unwrap();
    let found = loaded.findings.iter().map(|one| (one.code(), one.count));
    assert!(found.eq([(voxelize::Code::S110, 1)]));
    let colours = loaded.mesh.colours().unwrap();
    assert_eq!(colours.at(0, [1.0, 0.0, 0.0]), [0, 255, 0]);
}

#[test]
fn the_profile_of_a_picture_stays_within_memory() {
    let place = Place::new();
    let mut info = png::Info::with_size(1, 1);
    info.color_type = png::ColorType::Rgb;
    info.icc_profile = Some(vec![0; 100 << 20].into());
    let mut bytes = vec![];
    let mut writer = png::Encoder::with_info(&mut bytes, info)
        .unwrap()
        .write_header()
        .unwrap();
    writer.write_image_data(&[9, 8, 7]).unwrap();
    writer.finish().unwrap();
    let document = plate(&bytes, json!({}), json!({}));
    place.write("a.gltf", document.to_string());
    // The memory suffices for the picture, but not for its profile.
    place
        .run("a.gltf -r 4 --labels colour -o a.npz --max-memory 40M")
        .expect(0);
    assert!(labels(&place, "a.npz").iter().count() > 0);
}

#[test]
fn pictures_count_to_the_memory_of_a_mesh() {
    let place = Place::new();
    let black = RgbImage::from_fn(2000, 2000, |_, _| [0; 3]);
    place.write("a.png", png_of(&black));
    place.write("a.mtl", "newmtl m\nmap_Kd a.png\n");
    place.write("a.obj", TRIANGLE);
    let read = |options: ReadOptions| read_file(&place.path("a.obj"), &options);
    let limited = ReadOptions::default().memory(16 << 20);
    let error = read(limited.textures(true)).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
    assert!(read(limited).unwrap().mesh.colours().is_none());
    let mesh = Mesh::open(place.path("a.obj")).unwrap();
    assert_eq!(mesh.colours().unwrap().at(0, [1.0, 0.0, 0.0]), [0; 3]);
    place
        .run("a.obj -r 8 --labels colour -o a.npz --max-memory 20M")
        .expect(5);
}
