//! Cells have the colour of the texture at their place on the mesh.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use voxelize::grid::{Cells, Labels};
use voxelize::mesh::read::{ReadOptions, read_file};
use voxelize::{Kind, Mesh, format};

use crate::support::picture::{RgbImage, encoded_png, png_of, webp_of};
use crate::support::place::Place;

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
        [
            (n % 251) as u8,
            (n / 251 % 251) as u8,
            (n / 251 / 251 * 100) as u8,
        ]
    })
}

/// Writes the box with the whole picture on each of its faces.
fn write_box(place: &Place, picture: &RgbImage) {
    place.write("box.png", png_of(picture));
    place.write("box.mtl", "newmtl all\nKd 0 0 0\nmap_Kd box.png\n");
    let mut obj = String::from("mtllib box.mtl\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl all\n");
    CORNERS
        .iter()
        .for_each(|[x, y, z]| obj += &format!("v {x} {y} {z}\n"));
    for face in FACES {
        let corners: Vec<_> = (1..)
            .zip(face)
            .map(|(n, corner)| format!("{}/{n}", corner + 1))
            .collect();
        obj += &format!("f {}\n", corners.join(" "));
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
    labels
        .legend()
        .get(labels.get(cell))
        .unwrap()
        .colour
        .unwrap()
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
        let mut seen = 0_u64;
        let mut off = 0_u64;
        for (cell, _) in found.iter() {
            let is = colour(&found, cell);
            let wanted = expected(lattice.centre(cell), &picture);
            assert!(
                merged || is == wanted,
                "{width} x {height}: {cell:?} is {is:?}, not {wanted:?}"
            );
            off += u64::from((0..3).map(|n| is[n].abs_diff(wanted[n])).max().unwrap());
            seen += 1;
        }
        assert_eq!(seen, 128 * 64 * 32 - 126 * 62 * 30);
        // With 255 colours for ten thousand, neighbouring colours are a sixth of a channel's range apart.
        assert!(off / seen < 24, "{} on the average", off / seen);
        // The bytes do not depend on the plan, and an independent reader agrees.
        place
            .run("box.obj --voxel-size 1/32 --labels colour -o a.vox")
            .expect(0);
        let bytes = std::fs::read(place.path("a.vox")).unwrap();
        for more in ["", "-j 1", "-j 5", "--simd scalar", "--max-memory 40M"] {
            place
                .run(&format!(
                    "box.obj --voxel-size 1/32 --labels colour -o b.vox {more}"
                ))
                .expect(0);
            assert!(
                bytes == std::fs::read(place.path("b.vox")).unwrap(),
                "{more}"
            );
        }
        let scene = dot_vox::load_bytes(&bytes).unwrap();
        let mut voxels = 0;
        for voxel in &scene.models[0].voxels {
            let seen = scene.palette[usize::from(voxel.i)];
            assert_eq!(
                [seen.r, seen.g, seen.b],
                colour(&found, [voxel.x, voxel.y, voxel.z].map(usize::from))
            );
            voxels += 1;
        }
        assert_eq!(voxels, seen);
    }
}

/// Returns a plate of 4 × 4 with a picture as glTF. The arguments are merged into its material and its
/// texture, and set its texture coordinates.
fn plate(image: &[u8], kind: &str, surface: Value, more: Value, places: [[f32; 2]; 4]) -> Value {
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
        "images": [{"uri": format!("data:{kind};base64,{}", STANDARD.encode(image))}],
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
    let merge = |into: &mut Value, more: Value| {
        into.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
    };
    merge(
        &mut document["materials"][0]["pbrMetallicRoughness"],
        surface,
    );
    merge(&mut document, more);
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

/// The picture is upright: its upper left corner is the upper left corner of the plate.
const UPRIGHT: [[f32; 2]; 4] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];

#[test]
fn textures_of_a_gltf_are_placed_by_its_coordinates() {
    let place = Place::new();
    let picture = picture(4, 4);
    let png = png_of(&picture);
    let all: Vec<Rgb> = picture.texels.clone();
    let plain =
        |surface: Value, more: Value, places| plate(&png, "image/png", surface, more, places);
    assert_eq!(cells(&place, &plain(json!({}), json!({}), UPRIGHT)), all);
    // Twice as large a piece of the plane, which extends beyond the picture.
    let twice = UPRIGHT.map(|[u, v]| [2.0 * u, 2.0 * v]);
    for (wrap, at) in [
        (10497, [0, 2, 0, 2]),
        (33071, [0, 2, 3, 3]),
        (33648, [0, 2, 2, 0]),
    ] {
        let more = json!({"samplers": [{"wrapS": wrap, "wrapT": wrap}], "textures": [{"source": 0, "sampler": 0}]});
        let found = cells(&place, &plain(json!({}), more, twice));
        for (n, colour) in found.iter().enumerate() {
            // Centres of cells are on the sides of texels, shifted towards the middle of their triangle.
            let near = [0, 1].map(|less| at.map(|texel: i32| (texel + less).clamp(0, 3) as usize));
            let texels = near.map(|columns| near.map(|rows| all[4 * rows[n / 4] + columns[n % 4]]));
            assert!(texels.as_flattened().contains(colour), "{wrap}: cell {n}");
        }
    }
    // A quarter turn, and half of the picture.
    let transform = json!({"KHR_texture_transform": {"rotation": std::f64::consts::FRAC_PI_2, "offset": [0, 1]}});
    let turned = cells(
        &place,
        &plain(
            json!({"baseColorTexture": {"index": 0, "extensions": transform}}),
            json!({}),
            UPRIGHT,
        ),
    );
    let clockwise: Vec<_> = (0..16).map(|n| all[4 * (3 - n % 4) + n / 4]).collect();
    assert_eq!(turned, clockwise);
    let half = json!({"KHR_texture_transform": {"scale": [0.5, 1]}});
    let wide = cells(
        &place,
        &plain(
            json!({"baseColorTexture": {"index": 0, "extensions": half}}),
            json!({}),
            UPRIGHT,
        ),
    );
    assert_eq!(
        [wide[0], wide[1], wide[2], wide[3]],
        [all[0], all[0], all[1], all[1]]
    );
    // The colour of the material multiplies in linear light.
    let dark = cells(
        &place,
        &plain(json!({"baseColorFactor": [1, 0, 1, 1]}), json!({}), UPRIGHT),
    );
    assert!(
        dark.iter()
            .zip(&all)
            .all(|(is, was)| *is == [was[0], 0, was[2]])
    );
    // Without texture coordinates the material's colour is used.
    let mut without = plain(json!({"baseColorFactor": [1, 0, 1, 1]}), json!({}), UPRIGHT);
    without["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0});
    assert!(
        cells(&place, &without)
            .iter()
            .all(|colour| *colour == [255, 0, 255])
    );
}

#[test]
fn pictures_are_png_jpeg_and_webp() {
    let place = Place::new();
    let red = [200, 30, 20];
    let blue = [20, 40, 180];
    let halves = RgbImage::from_fn(64, 64, |x, _| if x < 32 { red } else { blue });
    let deep: Vec<u8> = halves
        .texels
        .iter()
        .flatten()
        .flat_map(|byte| [*byte, 0])
        .collect();
    let greys = ([80; 3], [50; 3]);
    let mut seen = 0;
    for (name, bytes, kind, (left, right)) in [
        ("png", png_of(&halves), "png", (red, blue)),
        (
            "png of 16 bits",
            encoded_png(64, 64, png::BitDepth::Sixteen, &deep),
            "png",
            (red, blue),
        ),
        (
            "jpeg",
            include_bytes!("../pictures/halves.jpg").to_vec(),
            "jpeg",
            (red, blue),
        ),
        (
            "progressive",
            include_bytes!("../pictures/progressive.jpg").to_vec(),
            "jpeg",
            (red, blue),
        ),
        (
            "cmyk",
            include_bytes!("../pictures/cmyk.jpg").to_vec(),
            "jpeg",
            (red, blue),
        ),
        (
            "grey",
            include_bytes!("../pictures/grey.jpg").to_vec(),
            "jpeg",
            greys,
        ),
        ("webp", webp_of(&halves), "webp", (red, blue)),
    ] {
        let mut document = plate(
            &bytes,
            &format!("image/{kind}"),
            json!({}),
            json!({}),
            UPRIGHT,
        );
        if kind == "webp" {
            document["textures"] = json!([{"extensions": {"EXT_texture_webp": {"source": 0}}}]);
            document["extensionsRequired"] = json!(["EXT_texture_webp"]);
        }
        for (n, colour) in cells(&place, &document).into_iter().enumerate() {
            let wanted = if n % 4 < 2 { left } else { right };
            assert!(
                (0..3).all(|n| colour[n].abs_diff(wanted[n]) < 6),
                "{name}: {colour:?}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 7 * 16);
}

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
    let mut seen = 0;
    for (name, says) in [
        ("gone.png", "gone.png"),
        ("cut.png", "its picture"),
        ("large.png", "picture"),
        ("none.png", "its picture"),
        ("../up.png", "not below the folder"),
    ] {
        let mut document = plate(
            &good,
            "image/png",
            json!({"baseColorFactor": [0, 1, 0, 1]}),
            json!({}),
            UPRIGHT,
        );
        document["images"][0]["uri"] = json!(name);
        place.write("a.gltf", document.to_string());
        place.write("a.mtl", format!("newmtl m\nKd 0 1 0\nmap_Kd {name}\n"));
        place.write(
            "a.obj",
            "mtllib a.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n",
        );
        for mesh in ["a.gltf", "a.obj"] {
            let run = place
                .run(&format!("{mesh} -r 4 --labels colour -o a.npz --json"))
                .expect(0)
                .json();
            assert_eq!(run["warnings"][0]["code"], json!("S110"), "{mesh}: {name}");
            let message = run["warnings"][0]["message"].as_str().unwrap();
            assert!(message.contains(says), "{name}: {message}");
            let found = labels(&place, "a.npz");
            assert!(
                found
                    .iter()
                    .all(|(cell, _)| colour(&found, cell) == [0, 255, 0]),
                "{mesh}: {name}"
            );
            // No colours are requested.
            assert_eq!(
                place
                    .run(&format!("{mesh} -r 4 -o a.npz --json"))
                    .expect(0)
                    .json()["warnings"],
                json!([])
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 10);
}

#[test]
fn colours_of_other_materials_are_read_or_named() {
    let place = Place::new();
    let picture = picture(4, 4);
    let png = png_of(&picture);
    let all: Vec<Rgb> = picture.texels.clone();
    let plain = |more: Value| plate(&png, "image/png", json!({}), more, UPRIGHT);
    let glossy = |surface: Value| {
        json!({"materials": [{
            "pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 1]},
            "extensions": {"KHR_materials_pbrSpecularGlossiness": surface},
        }]})
    };
    assert_eq!(
        cells(
            &place,
            &plain(glossy(json!({"diffuseTexture": {"index": 0}})))
        ),
        all
    );
    let both = json!({"diffuseFactor": [1, 0, 1, 0.5], "diffuseTexture": {"index": 0}});
    let without_green: Vec<_> = all.iter().map(|[r, _, b]| [*r, 0, *b]).collect();
    assert_eq!(cells(&place, &plain(glossy(both))), without_green);
    assert_eq!(
        cells(
            &place,
            &plain(glossy(json!({"diffuseFactor": [1, 0, 0, 1]})))
        ),
        [[255, 0, 0]; 16]
    );
    // A picture of an unsupported type has a fallback, or is reported.
    let mut basis = plain(
        json!({"textures": [{"source": 0, "extensions": {"KHR_texture_basisu": {"source": 7}}}]}),
    );
    assert_eq!(cells(&place, &basis), all);
    basis["textures"] = json!([{"extensions": {"KHR_texture_basisu": {"source": 0}}}]);
    basis["extensionsRequired"] = json!(["KHR_texture_basisu"]);
    place.write("basis.gltf", basis.to_string());
    let run = place
        .run("basis.gltf -r 4 --labels colour -o a.npz")
        .expect(4);
    for says in [
        "the mesh has no colours",
        "only as KHR_texture_basisu, which is not read",
        "PNG or JPEG",
    ] {
        assert!(run.err.contains(says), "{says}\n{}", run.err);
    }
    // A picture without texture coordinates.
    let mut unplaced = plain(json!({}));
    unplaced["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0});
    place.write("unplaced.gltf", unplaced.to_string());
    let run = place
        .run("unplaced.gltf -r 4 --labels colour -o a.npz")
        .expect(4);
    assert!(
        run.err.contains("no TEXCOORD_0 places the picture"),
        "{}",
        run.err
    );
}

#[test]
fn an_empty_scene_is_refused_with_the_omitted_parts() {
    let place = Place::new();
    let plain = plate(&[], "image/png", json!({}), json!({}), UPRIGHT);
    let mut seen = 0;
    for (nodes, mode, says) in [
        (
            json!([]),
            4,
            "no node of the scene places 1 mesh with 2 triangles",
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
        for words in ["a.gltf -r 4 -o a.npz", "check a.gltf"] {
            let run = place.run(words).expect(4);
            assert!(
                run.err.contains("has no triangles: ") && run.err.contains(says),
                "{words}\n{}",
                run.err
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 6);
}

#[test]
fn a_broken_picture_is_read_once() {
    let place = Place::new();
    let good = png_of(&picture(64, 64));
    let mut document = plate(
        &good[..good.len() / 2],
        "image/png",
        json!({"baseColorFactor": [0, 1, 0, 1]}),
        json!({}),
        UPRIGHT,
    );
    let image = document["images"][0].clone();
    let primitive = document["meshes"][0]["primitives"][0].clone();
    // Textures, samplers and images that all use the same bytes.
    document["images"] = json!(vec![image; 3]);
    document["samplers"] = json!([{}, {"wrapS": 33071}]);
    document["textures"] =
        json!([{"source": 0}, {"source": 0}, {"source": 1, "sampler": 1}, {"source": 2}]);
    document["materials"] = (0..4)
        .map(|n| json!({"pbrMetallicRoughness": {"baseColorFactor": [0, 1, 0, 1], "baseColorTexture": {"index": n}}}))
        .collect();
    document["meshes"][0]["primitives"] = (0..4)
        .map(|n| {
            let mut primitive = primitive.clone();
            primitive["material"] = json!(n);
            primitive
        })
        .collect();
    place.write("a.gltf", document.to_string());
    let options = ReadOptions::default().textures(true);
    let loaded = read_file(&place.path("a.gltf"), &options).unwrap();
    let counts: Vec<_> = loaded
        .findings
        .iter()
        .map(|finding| (finding.code(), finding.count))
        .collect();
    assert_eq!(counts, [(voxelize::Code::S110, 1)]);
    assert_eq!(
        loaded.mesh.colours().unwrap().at(0, [1.0, 0.0, 0.0]),
        [0, 255, 0]
    );
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
    let document = plate(&bytes, "image/png", json!({}), json!({}), UPRIGHT);
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
    place.write(
        "box.png",
        png_of(&RgbImage::from_fn(2000, 2000, |_, _| [0; 3])),
    );
    place.write("box.mtl", "newmtl m\nmap_Kd box.png\n");
    place.write(
        "box.obj",
        "mtllib box.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n",
    );
    let read = |options: ReadOptions| read_file(&place.path("box.obj"), &options);
    let limited = ReadOptions::default().memory(16 << 20);
    assert_eq!(
        read(limited.textures(true)).unwrap_err().kind(),
        Kind::TooLarge
    );
    assert!(read(limited).unwrap().mesh.colours().is_none());
    let mesh = Mesh::open(place.path("box.obj")).unwrap();
    assert_eq!(mesh.colours().unwrap().at(0, [1.0, 0.0, 0.0]), [0; 3]);
    place
        .run("box.obj -r 8 --labels colour -o a.npz --max-memory 20M")
        .expect(5);
}
