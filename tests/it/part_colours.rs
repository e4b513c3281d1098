//! Colours of parts: each cell has the part and the colour that the definition gives it, `.vox` has an object
//! for each part, and `.glb` a node for each part and one palette.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Cursor;

use dot_vox::{DotVoxData, SceneNode};
use serde_json::Value;
use voxelize::format;
use voxelize::grid::{Cells, Labels};

use crate::support::place::Place;
use crate::support::rows;

const COLOURS: [(&str, [u8; 3]); 4] = [
    ("red", [255, 0, 0]),
    ("green", [0, 255, 0]),
    ("blue", [0, 0, 255]),
    ("grey", [51, 102, 153]),
];

/// Appends a box whose six faces have these materials, in turn.
fn put_box(text: &mut String, name: &str, low: [f32; 3], high: [f32; 3], materials: &[&str]) {
    let _ = writeln!(text, "o {name}");
    for n in 0..8 {
        let at = [0, 1, 2].map(|axis| {
            if n >> axis & 1 == 1 {
                high[axis]
            } else {
                low[axis]
            }
        });
        let _ = writeln!(text, "v {} {} {}", at[0], at[1], at[2]);
    }
    for (n, [a, b, c, d]) in [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ]
    .into_iter()
    .enumerate()
    {
        let material = materials[n % materials.len()];
        let [a, b, c, d] = [a, b, c, d].map(|n: i32| n - 8);
        let _ = writeln!(text, "usemtl {material}\nf {a} {b} {c} {d}");
    }
}

/// Writes `parts.obj`: a body, a lid that overlaps it, and a foot apart from both.
fn write_parts(place: &Place, scale: [f32; 3]) {
    let mut mtl = String::new();
    for (name, rgb) in COLOURS {
        let [r, g, b] = rgb.map(|channel| f64::from(channel) / 255.0);
        let _ = writeln!(mtl, "newmtl {name}\nKd {r:.4} {g:.4} {b:.4}");
    }
    place.write("m.mtl", mtl);
    let mut obj = "mtllib m.mtl\n".to_string();
    let at = |corner: [f32; 3]| [0, 1, 2].map(|axis| corner[axis] * scale[axis]);
    let mut put = |name: &str, low: [f32; 3], high: [f32; 3], materials: &[&str]| {
        put_box(&mut obj, name, at(low), at(high), materials);
    };
    put("body", [0.0; 3], [6.0, 4.0, 4.0], &["red", "green"]);
    put(
        "lid",
        [1.0, 1.0, 3.0],
        [5.0, 3.0, 6.0],
        &["red", "blue", "grey"],
    );
    put("foot", [8.0, 0.0, 0.0], [10.0, 3.0, 1.0], &["grey"]);
    place.write("parts.obj", obj);
}

fn labels(place: &Place, name: &str) -> Labels {
    let Cells::Labels(labels) = format::open(&place.path(name)).unwrap().cells else {
        panic!("no labels")
    };
    labels
}

#[test]
fn a_cell_has_its_part_and_the_colour_of_the_part_alone() {
    let place = Place::new();
    write_parts(&place, [1.0; 3]);
    let mut seen = BTreeSet::new();
    let mut cells = 0;
    for rule in ["--surface", "--solid", "--filled", "--rule thin"] {
        let how = format!("parts.obj --voxel-size 1/3 --bounds 0,0,0,10,4,6 {rule}");
        let table = format!(
            "0 {how} --labels object,colour -o both.npz -j 1
             0 {how} --labels object -o parts.npz
             0 {how} --labels object,color -o again.npz -j 3
             0 diff both.npz again.npz
             0 {how} --labels object,colour --priority lid -o first.npz
             0 {how} --labels object --priority lid -o lid.npz"
        );
        rows::check(&place, &table);
        let mut alone = BTreeMap::new();
        for part in ["body", "lid", "foot"] {
            let table = format!("0 {how} --only {part} --labels colour -o alone.npz");
            rows::check(&place, &table);
            alone.insert(part, labels(&place, "alone.npz"));
        }
        for (both, parts) in [("both.npz", "parts.npz"), ("first.npz", "lid.npz")] {
            let [both, parts] = [both, parts].map(|name| labels(&place, name));
            assert_eq!(both.occupied(), parts.occupied(), "{rule}");
            for (cell, value) in both.iter() {
                let label = both.legend().get(value).unwrap();
                let part = label.part().unwrap();
                assert_eq!(part, parts.legend().name(parts.get(cell)), "{cell:?}");
                let alone = &alone[part];
                let colour = alone.legend().colour(alone.get(cell));
                assert_eq!(label.colour, Some(colour), "{rule} {part} {cell:?}");
                seen.insert(label.name.to_string());
                cells += 1;
            }
        }
    }
    assert_eq!(seen.len(), 2 + 3 + 1, "{seen:?}");
    assert!(cells > 10_000, "{cells}");
}

/// Parts that are closed only together share one inside, and a cell has the part and the colour of the nearest
/// face.
#[test]
fn parts_that_are_closed_together_have_the_colour_of_the_nearest_face() {
    let place = Place::new();
    write_parts(&place, [1.0; 3]);
    let text = std::fs::read_to_string(place.path("parts.obj")).unwrap();
    let body = text.split("o lid").next().unwrap();
    // The last two faces of the body are a part of their own.
    let at = body.rmatch_indices("usemtl").nth(1).unwrap().0;
    place.write("two.obj", format!("{}o end\n{}", &body[..at], &body[at..]));
    rows::check(
        &place,
        "0 two.obj --voxel-size 1/4 --solid --labels object,colour -v -o both.npz
             err body, end are closed only together
             err labels  body:
         0 two.obj --voxel-size 1/4 --solid --labels object -o parts.npz
         0 two.obj --voxel-size 1/4 --solid --labels colour -o colours.npz",
    );
    let [both, parts, colours] =
        ["both.npz", "parts.npz", "colours.npz"].map(|name| labels(&place, name));
    let mut seen = BTreeSet::new();
    for (cell, value) in both.iter() {
        let label = both.legend().get(value).unwrap();
        assert_eq!(label.part().unwrap(), parts.legend().name(parts.get(cell)));
        assert_eq!(
            label.colour.unwrap(),
            colours.legend().colour(colours.get(cell))
        );
        seen.insert(value);
    }
    assert_eq!((both.occupied().count(), seen.len()), (24 * 16 * 16, 4));
}

/// Returns each object of a scene: its name, its layer, and its voxels with their colours by place.
type Outline = BTreeMap<String, (u32, BTreeMap<[i64; 3], [u8; 3]>)>;

fn outline(data: &DotVoxData) -> Outline {
    let mut found = Outline::new();
    let mut open = vec![(0, [0; 3], String::new(), 0)];
    while let Some((id, at, name, layer)) = open.pop() {
        match &data.scenes[id as usize] {
            SceneNode::Transform {
                attributes,
                frames,
                child,
                layer_id,
            } => {
                let by = frames[0].position().map_or([0; 3], |p| [p.x, p.y, p.z]);
                let at = [0, 1, 2].map(|a| at[a] + i64::from(by[a]));
                let name = attributes.get("_name").cloned().unwrap_or(name);
                open.push((*child, at, name, *layer_id));
            }
            SceneNode::Group { children, .. } => {
                open.extend(
                    children
                        .iter()
                        .map(|child| (*child, at, name.clone(), layer)),
                );
            }
            SceneNode::Shape { models, .. } => {
                let model = &data.models[models[0].model_id as usize];
                let size = [model.size.x, model.size.y, model.size.z].map(i64::from);
                let (_, voxels) = found.entry(name).or_insert((layer, BTreeMap::new()));
                for voxel in &model.voxels {
                    let cell = [voxel.x, voxel.y, voxel.z].map(i64::from);
                    let place = [0, 1, 2].map(|a| at[a] + cell[a] - size[a] / 2);
                    let colour = data.palette[usize::from(voxel.i)];
                    let before = voxels.insert(place, [colour.r, colour.g, colour.b]);
                    assert_eq!(before, None);
                }
            }
        }
    }
    found
}

#[test]
fn a_scene_has_an_object_for_each_part_in_its_place_and_colours() {
    let place = Place::new();
    for (scale, size, models, nodes) in [
        // One tile: root, group, and two nodes for each part.
        ([1.0; 3], "1/3", 3, 2 + 3 * 2),
        // Three tiles along x. Each part has two models in a group.
        ([60.0, 1.0, 1.0], "1", 6, 2 + 3 * 6),
    ] {
        write_parts(&place, scale);
        let how = format!("parts.obj --voxel-size {size} --solid --labels");
        rows::check(
            &place,
            &format!(
                "0 {how} object,colour -o a.vox
                 0 {how} object,colour -o a.npz
                 0 diff a.npz a.vox
                 0 {how} object,colour -o b.vox -j 3
                 0 convert a.npz c.vox
                 0 {how} object -o parts.vox
                 0 {how} object -o parts.npz
                 0 diff parts.npz parts.vox
                 0 {how} object,colour --vox-hull -o hull.vox
                 0 info hull.vox"
            ),
        );
        let read = |name: &str| std::fs::read(place.path(name)).unwrap();
        assert!(read("a.vox") == read("b.vox"), "{scale:?}");
        assert_eq!(labels(&place, "a.npz"), labels(&place, "a.vox"));
        assert_eq!(labels(&place, "a.npz"), labels(&place, "c.vox"));
        let expected = labels(&place, "a.npz");
        let [nx, ny, _] = expected.dims();
        for (file, shows_colours) in [("a.vox", true), ("parts.vox", false)] {
            let data = dot_vox::load_bytes(&read(file)).unwrap();
            assert_eq!(
                (data.models.len(), data.scenes.len()),
                (models, nodes),
                "{file}"
            );
            let names: Vec<_> = data
                .layers
                .iter()
                .map(|layer| layer.name().unwrap())
                .collect();
            assert_eq!(names, ["body", "lid", "foot"]);
            let found = outline(&data);
            assert!(found.keys().eq(["body", "foot", "lid"]), "{file}");
            let mut cells = 0;
            for (cell, value) in expected.iter() {
                let label = expected.legend().get(value).unwrap();
                let (layer, voxels) = &found[label.part().unwrap()];
                let [i, j, k] = cell.map(|n| n as i64);
                let colour = voxels[&[i - (nx / 2) as i64, j - (ny / 2) as i64, k]];
                assert!(!shows_colours || Some(colour) == label.colour, "{cell:?}");
                assert_eq!(names[*layer as usize], label.part().unwrap());
                cells += 1;
            }
            let all: usize = found.values().map(|(_, voxels)| voxels.len()).sum();
            assert_eq!(all, cells);
            if shows_colours {
                // Red and grey occur in two parts, and once in the palette.
                for (_, rgb) in COLOURS {
                    let count = data
                        .palette
                        .iter()
                        .filter(|c| [c.r, c.g, c.b] == rgb)
                        .count();
                    assert_eq!(count, 1, "{rgb:?}");
                }
            }
        }
    }
    // Models end with their part.
    write_parts(&place, [1.0; 3]);
    rows::check(
        &place,
        "0 parts.obj --voxel-size 1 --solid --labels object -o a.vox",
    );
    let data = dot_vox::load_bytes(&std::fs::read(place.path("a.vox")).unwrap()).unwrap();
    let sizes = data
        .models
        .iter()
        .map(|model| [model.size.x, model.size.y, model.size.z]);
    assert!(sizes.eq([[6, 4, 4], [4, 2, 2], [2, 4, 2]]));
}

#[test]
fn more_than_32_parts_are_objects_without_layers() {
    let place = Place::new();
    let mut obj = String::new();
    for n in 0..40_u8 {
        let x = f32::from(n);
        put_box(
            &mut obj,
            &format!("p{n}"),
            [x, 0.0, 0.0],
            [x + 1.0, 1.0, 1.0],
            &["red"],
        );
    }
    place.write("many.obj", obj);
    rows::check(
        &place,
        "0 many.obj -r 80 --solid --labels object -o a.vox
         0 many.obj -r 80 --solid --labels object -o a.npz
         0 diff a.npz a.vox",
    );
    let data = dot_vox::load_bytes(&std::fs::read(place.path("a.vox")).unwrap()).unwrap();
    let found = outline(&data);
    assert_eq!((found.len(), data.layers.len()), (40, 1));
    assert!(
        found
            .values()
            .all(|(layer, voxels)| (*layer, voxels.len()) == (0, 8))
    );
}

#[test]
fn colours_of_parts_are_merged_if_they_are_more_than_255() {
    let place = Place::new();
    // Parts have the same ramp of colours, or different ramps.
    for (blue, least) in [(0.0, 255), (0.5, 200)] {
        let mut obj = String::new();
        for n in 0..3_u8 {
            let z = f64::from(n);
            let _ = writeln!(obj, "o part{n}");
            for [x, y] in [[0, 0], [8, 0], [0, 8]] {
                let [r, g] = [x, y].map(|c| f64::from(c) / 8.0);
                let _ = writeln!(obj, "v {x} {y} {z} {r} {g} {}", z * blue);
            }
            let _ = writeln!(obj, "f -3 -2 -1");
        }
        place.write("ramps.obj", obj);
        rows::check(
            &place,
            r#"0 ramps.obj -r 96 --labels object,colour -o a.npz --json
                   /warnings/0/code "W015"
                   out colours of parts are merged into
               0 ramps.obj -r 96 --labels object,colour -o b.npz -j 3
               0 diff a.npz b.npz
               0 ramps.obj -r 96 --labels object,colour -o a.vox
               0 diff a.npz a.vox"#,
        );
        let found = labels(&place, "a.npz");
        let count = found.legend().labels().len();
        assert!((least..=255).contains(&count), "{count}");
        let parts = found.legend().coloured_parts();
        assert_eq!(parts, ["part0", "part1", "part2"]);
        let lattice = format::open(&place.path("a.npz")).unwrap().lattice.unwrap();
        for (cell, value) in found.iter() {
            let label = found.legend().get(value).unwrap();
            let [x, y, z] = lattice.centre(cell);
            assert_eq!(label.part().unwrap(), format!("part{}", z.round()));
            // Cells at the edge of the triangle have the colour of the edge.
            let wanted = [x / 8.0, y / 8.0, z.round() * blue];
            for (found, wanted) in label.colour.unwrap().into_iter().zip(wanted) {
                let away = f64::from(found) - 255.0 * wanted.clamp(0.0, 1.0);
                assert!(away.abs() < 64.0, "{cell:?} {label:?}");
            }
        }
    }
}

#[test]
fn calls_that_cannot_label_both_are_refused() {
    let place = Place::new();
    write_parts(&place, [1.0; 3]);
    rows::refused(
        &place,
        "4 cube.stl -r 8 --labels object,colour -o a.npz
             err the mesh has no colours
         2 parts.obj -r 8 --rule distance --labels object,colour -o a.npz
             err makes a field",
    );
    // A mesh without objects is one part.
    let text = std::fs::read_to_string(place.path("parts.obj")).unwrap();
    place.write("one.obj", text.replace("o ", "# "));
    rows::check(
        &place,
        "2 parts.obj -r 8 --labels object,material -o a.npz
             err --labels
         0 one.obj -r 8 --labels object,colour -o a.npz
             err labels  mesh: ",
    );
}

/// Returns the JSON and the binary chunk of a GLB.
fn chunks(bytes: &[u8]) -> (Value, &[u8]) {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    (json, &bytes[28 + length..])
}

fn whole(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

/// Returns the area of each colour of each mesh of a GLB, by the name of its node. Colours are those of the
/// texels at the vertices of triangles.
fn areas(bytes: &[u8]) -> BTreeMap<(String, [u8; 3]), f64> {
    let (json, data) = chunks(bytes);
    let view = &json["bufferViews"][whole(&json["images"][0]["bufferView"])];
    let start = whole(&view["byteOffset"]);
    let png = &data[start..start + whole(&view["byteLength"])];
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info().unwrap();
    let mut picture = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut picture).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    let width = frame.width as usize;
    let float = |at: usize| f32::from_le_bytes(data[at..at + 4].try_into().unwrap());
    let mut found = BTreeMap::new();
    for node in json["nodes"].as_array().unwrap() {
        if node.get("mesh").is_none() {
            continue;
        }
        let mesh = &json["meshes"][whole(&node["mesh"])];
        let name = node["name"].as_str().unwrap().to_string();
        let [primitive] = &mesh["primitives"].as_array().unwrap()[..] else {
            panic!("{mesh}")
        };
        let accessor = |name: &Value| {
            let accessor = &json["accessors"][whole(name)];
            let view = &json["bufferViews"][whole(&accessor["bufferView"])];
            let start = whole(&view["byteOffset"]) + whole(&accessor["byteOffset"]);
            (start, whole(&accessor["count"]), whole(&view["byteStride"]))
        };
        let (positions, count, stride) = accessor(&primitive["attributes"]["POSITION"]);
        let (texture, ..) = accessor(&primitive["attributes"]["TEXCOORD_0"]);
        let (indices, corners, _) = accessor(&primitive["indices"]);
        for n in 0..corners / 3 {
            let corners = [0, 1, 2].map(|corner| {
                let at = indices + 4 * (3 * n + corner);
                let vertex = u32::from_le_bytes(data[at..at + 4].try_into().unwrap()) as usize;
                assert!(vertex < count);
                let at = [0, 1, 2].map(|a| float(positions + stride * vertex + 4 * a));
                let uv = [0, 1].map(|a| float(texture + stride * vertex + 4 * a));
                (at.map(f64::from), uv)
            });
            let [(a, uv), (b, _), (c, _)] = corners;
            assert!(corners.iter().all(|(_, other)| *other == uv));
            // The centre of a texel.
            let texel = uv.map(|share| share * width as f32 - 0.5);
            assert!(texel.iter().all(|n| n.fract() == 0.0), "{uv:?}");
            let first = 3 * (texel[1] as usize * width + texel[0] as usize);
            let colour = [0, 1, 2].map(|channel| picture[first + channel]);
            let side = |p: [f64; 3]| [0, 1, 2].map(|axis| p[axis] - a[axis]);
            let [u, v] = [side(b), side(c)];
            let cross = [1, 2, 0].map(|x| {
                let y = (x + 1) % 3;
                u[x] * v[y] - u[y] * v[x]
            });
            let area = cross.iter().map(|c| c * c).sum::<f64>().sqrt() / 2.0;
            *found.entry((name.clone(), colour)).or_insert(0.0) += area;
        }
    }
    found
}

#[test]
fn a_glb_has_one_palette_and_a_node_for_each_part() {
    let place = Place::new();
    write_parts(&place, [1.0; 3]);
    let how = "parts.obj --voxel-size 1/2 --solid --labels";
    rows::check(
        &place,
        &format!(
            "0 {how} object,colour -o both.glb
             0 {how} object,colour -o both.npz
             0 {how} colour -o colours.glb
             0 {how} colour -o colours.npz
             0 {how} colour --merge greedy -o greedy.glb
             0 {how} object,colour --merge greedy -o parts.glb"
        ),
    );
    for (file, cells, parts) in [
        ("both.glb", "both.npz", 3),
        ("parts.glb", "both.npz", 3),
        ("colours.glb", "colours.npz", 1),
        ("greedy.glb", "colours.npz", 1),
    ] {
        let bytes = std::fs::read(place.path(file)).unwrap();
        let (json, _) = chunks(&bytes);
        assert_eq!(json["materials"].as_array().unwrap().len(), 1);
        assert_eq!(json["meshes"].as_array().unwrap().len(), parts, "{file}");
        assert_eq!(json["samplers"][0]["magFilter"], 9728);
        // Faces of the cells, counted by part and colour.
        let labels = labels(&place, cells);
        let dims = labels.dims();
        let mut expected = BTreeMap::new();
        for (cell, value) in labels.iter() {
            let label = labels.legend().get(value).unwrap();
            let name = label.part().unwrap_or("voxels").to_string();
            let mut faces = 0;
            for axis in 0..3 {
                for is_up in [false, true] {
                    let mut next = cell;
                    next[axis] = match is_up {
                        true => cell[axis] + 1,
                        false => cell[axis].wrapping_sub(1),
                    };
                    let is_inside = next[axis] < dims[axis];
                    faces += u32::from(!is_inside || labels.get(next) == 0);
                }
            }
            if faces > 0 {
                *expected.entry((name, label.colour.unwrap())).or_insert(0.0) +=
                    f64::from(faces) / 4.0;
            }
        }
        assert_eq!(areas(&bytes), expected, "{file}");
        // The file is a mesh in the same colours.
        let call = format!("{file} --voxel-size 1/2 --solid --labels colour -o again.npz");
        place.run(&call).expect(0);
        let again = self::labels(&place, "again.npz");
        let again: BTreeSet<_> = again.legend().labels().iter().map(|l| l.colour).collect();
        assert!(again == expected.keys().map(|(_, colour)| Some(*colour)).collect());
    }
    // A part without cells has no node, and a grid without cells no mesh.
    rows::check(
        &place,
        &format!(
            "0 {how} object,colour --bounds 7,0,0,11,4,6 -o foot.glb
             0 {how} object,colour --bounds 50,0,0,54,4,6 -o none.glb"
        ),
    );
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    let foot = read("foot.glb");
    let (json, _) = chunks(&foot);
    assert_eq!(json["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(json["nodes"][1]["name"], "foot");
    let none = read("none.glb");
    let length = u32::from_le_bytes(none[12..16].try_into().unwrap()) as usize;
    assert_eq!(none.len(), 20 + length);
}
