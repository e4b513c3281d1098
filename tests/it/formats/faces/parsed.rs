//! Parsers of meshes of faces, written from the descriptions of the formats alone.

use serde_json::Value;

/// Parsed mesh. Faces are quads, also if the file has two triangles for each.
#[derive(Default)]
pub struct ParsedFaces {
    /// Vertices. If the file does not share vertices, each corner is separate.
    pub vertices: Vec<[f64; 3]>,
    pub faces: Vec<[usize; 4]>,
    /// Label of each face. 0 if the file has none.
    pub labels: Vec<u8>,
    /// Colour of each face, in formats with colours.
    pub colours: Vec<[u8; 3]>,
    /// JSON text as it is in the file.
    pub json: String,
}

impl ParsedFaces {
    /// Returns the places of the corners of each face.
    pub fn corners(&self) -> impl Iterator<Item = [[f64; 3]; 4]> {
        let corners = |face: &[usize; 4]| face.map(|n| self.vertices[n]);
        self.faces.iter().map(corners)
    }
}

/// Parses a file of this format.
pub fn parse(format: &str, bytes: &[u8]) -> ParsedFaces {
    match format {
        "ply" => ply(bytes),
        "obj" => obj(std::str::from_utf8(bytes).unwrap()),
        "stl" => stl(bytes),
        "glb" => glb(bytes),
        other => panic!("{other}"),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_bits(u32_at(bytes, at))
}

/// Returns the lines of the header of a PLY, and the bytes after it.
pub fn ply_header(bytes: &[u8]) -> (Vec<&str>, &[u8]) {
    let mut windows = bytes.windows(11);
    let end = windows.position(|window| window == b"end_header\n");
    let (header, data) = bytes.split_at(end.unwrap() + 11);
    let header = std::str::from_utf8(header).unwrap();
    let start = "ply\nformat binary_little_endian 1.0\ncomment voxelize {";
    assert!(header.is_ascii() && header.starts_with(start));
    let lines: Vec<_> = header.lines().collect();
    // MeshLab takes 510 bytes.
    assert!(lines.iter().all(|line| line.len() < 500));
    (lines, data)
}

/// Returns the count of an element and its properties.
pub fn ply_element<'a>(lines: &[&'a str], name: &str) -> (usize, Vec<&'a str>) {
    let element = format!("element {name} ");
    let start = lines
        .iter()
        .position(|line| line.starts_with(&element))
        .unwrap();
    let count = lines[start][element.len()..].parse().unwrap();
    let after = lines[start + 1..].iter();
    let properties = after.map_while(|line| line.strip_prefix("property "));
    (count, properties.collect())
}

/// Returns the JSON in comment lines.
pub fn comments(text: &[&str], begin: &str) -> String {
    text.iter()
        .filter_map(|line| line.strip_prefix(begin))
        .collect()
}

fn ply(bytes: &[u8]) -> ParsedFaces {
    let (lines, mut rest) = ply_header(bytes);
    let (vertex_count, vertex) = ply_element(&lines, "vertex");
    let (face_count, face) = ply_element(&lines, "face");
    assert_eq!(vertex, ["double x", "double y", "double z"]);
    let colours = ["uchar red", "uchar green", "uchar blue", "uchar label"];
    let list = "list uchar int vertex_indices";
    let has_labels = face.len() > 1;
    if has_labels {
        assert_eq!(face, [&[list], &colours[..]].concat());
    } else {
        assert_eq!(face, [list]);
    }
    let mut take = |length: usize| {
        let (now, later) = rest.split_at(length);
        rest = later;
        now
    };
    let mut parsed = ParsedFaces {
        json: comments(&lines, "comment voxelize "),
        ..ParsedFaces::default()
    };
    for _ in 0..vertex_count {
        let numbers = take(24).as_chunks().0;
        parsed
            .vertices
            .push([0, 1, 2].map(|n| f64::from_le_bytes(numbers[n])));
    }
    let mut triangles = vec![];
    for n in 0..face_count {
        let corners = if has_labels { 3 } else { 4 };
        assert_eq!(take(1), [corners]);
        let list = take(4 * usize::from(corners));
        let index = |n: usize| u32_at(list, 4 * n) as usize;
        if !has_labels {
            parsed.faces.push([0, 1, 2, 3].map(index));
            parsed.labels.push(0);
            continue;
        }
        triangles.push([0, 1, 2].map(index));
        let [red, green, blue, label] = take(4).try_into().unwrap();
        let colour = [red, green, blue];
        if n % 2 == 0 {
            parsed.colours.push(colour);
            parsed.labels.push(label);
        }
        assert_eq!(parsed.colours.last(), Some(&colour));
        assert_eq!(parsed.labels.last(), Some(&label));
    }
    parsed.faces.extend(quads(&triangles));
    assert!(rest.is_empty(), "{} bytes more", rest.len());
    parsed
}

fn obj(text: &str) -> ParsedFaces {
    let lines: Vec<_> = text.lines().collect();
    let mut parsed = ParsedFaces {
        json: comments(&lines, "# voxelize "),
        ..ParsedFaces::default()
    };
    let mut label = 0;
    for line in lines.iter().filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["v", x, y, z] => {
                let place = [x, y, z].map(|word| word.parse().unwrap());
                parsed.vertices.push(place);
            }
            ["f", a, b, c, d] => {
                let number = |word: &str| word.parse::<usize>().unwrap() - 1;
                parsed.faces.push([a, b, c, d].map(number));
                parsed.labels.push(label);
            }
            // Names in tests end with their number.
            ["usemtl" | "g", name] => label = name.rsplit('_').next().unwrap().parse().unwrap(),
            ["mtllib", _] => {}
            _ => panic!("{line}"),
        }
    }
    parsed
}

/// Joins pairs of triangles that share their first and third corner to quads.
fn quads(triangles: &[[usize; 3]]) -> Vec<[usize; 4]> {
    let pairs = triangles.chunks(2).map(|pair| {
        let [[a, b, c], [d, e, f]] = pair.try_into().unwrap();
        assert_eq!([a, c], [d, e]);
        [a, b, c, f]
    });
    pairs.collect()
}

fn stl(bytes: &[u8]) -> ParsedFaces {
    assert!(bytes[..80].is_ascii() && !bytes.starts_with(b"solid"));
    let count = u32_at(bytes, 80) as usize;
    assert_eq!(bytes.len(), 84 + 50 * count);
    let mut parsed = ParsedFaces::default();
    for pair in bytes[84..].chunks(100) {
        let corner = |triangle: usize, n: usize| {
            let at = 50 * triangle + 12 * n;
            [0, 1, 2].map(|axis| f32_at(pair, at + 4 * axis))
        };
        let [a, b, c, d] = [corner(0, 1), corner(0, 2), corner(0, 3), corner(1, 3)];
        assert_eq!([corner(1, 1), corner(1, 2)], [a, c]);
        let direction =
            |p: [f32; 3]| [0, 1, 2].map(|n| (p[n] - a[n]).signum() * f32::from(p[n] != a[n]));
        let [u, v] = [direction(b), direction(d)];
        let normal = [
            u[1] * v[2] - u[2] * v[1],
            u[2] * v[0] - u[0] * v[2],
            u[0] * v[1] - u[1] * v[0],
        ];
        assert_eq!([corner(0, 0), corner(1, 0)], [normal; 2]);
        assert_eq!([&pair[48..50], &pair[98..]], [[0, 0]; 2]);
        let first = parsed.vertices.len();
        parsed.faces.push([0, 1, 2, 3].map(|n| first + n));
        parsed.labels.push(0);
        parsed
            .vertices
            .extend([a, b, c, d].map(|p| p.map(f64::from)));
    }
    parsed
}

/// Returns the JSON and the binary chunk of a GLB.
pub fn glb_chunks(bytes: &[u8]) -> (Value, &[u8]) {
    assert_eq!(&bytes[..4], b"glTF");
    assert_eq!([4, 8].map(|at| u32_at(bytes, at)), [2, bytes.len() as u32]);
    let length = u32_at(bytes, 12) as usize;
    assert_eq!((&bytes[16..20], length % 4), (&b"JSON"[..], 0));
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let rest = &bytes[20 + length..];
    if rest.is_empty() {
        return (json, rest);
    }
    assert_eq!(&rest[4..8], b"BIN\0");
    assert_eq!(u32_at(rest, 0) as usize, rest.len() - 8);
    (json, &rest[8..])
}

fn glb(bytes: &[u8]) -> ParsedFaces {
    let (json, data) = glb_chunks(bytes);
    let whole = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let mut parsed = ParsedFaces {
        json: json["asset"]["extras"]["voxelize"].to_string(),
        ..ParsedFaces::default()
    };
    if json.get("meshes").is_none() {
        return parsed;
    }
    assert_eq!(whole(&json["buffers"][0]["byteLength"]), data.len());
    let start = |accessor: &Value, component: usize, kind: &str| {
        assert_eq!(whole(&accessor["componentType"]), component);
        assert_eq!(accessor["type"], kind);
        let view = &json["bufferViews"][whole(&accessor["bufferView"])];
        let size = if kind == "VEC3" { 12 } else { 4 };
        let offset = whole(&accessor["byteOffset"]);
        assert!(offset + whole(&accessor["count"]) * size <= whole(&view["byteLength"]));
        whole(&view["byteOffset"]) + offset
    };
    let positions = &json["accessors"][0];
    let at = start(positions, 5126, "VEC3");
    for n in 0..whole(&positions["count"]) {
        let number = |axis: usize| f64::from(f32_at(data, at + 12 * n + 4 * axis));
        parsed.vertices.push([0, 1, 2].map(number));
    }
    for axis in 0..3 {
        let all = || parsed.vertices.iter().map(|vertex| vertex[axis]);
        assert_eq!(positions["min"][axis], all().fold(f64::INFINITY, f64::min));
        assert_eq!(
            positions["max"][axis],
            all().fold(f64::NEG_INFINITY, f64::max)
        );
    }
    for primitive in json["meshes"][0]["primitives"].as_array().unwrap() {
        assert_eq!(whole(&primitive["attributes"]["POSITION"]), 0);
        assert_eq!(whole(&primitive["mode"]), 4);
        let accessor = &json["accessors"][whole(&primitive["indices"])];
        let at = start(accessor, 5125, "SCALAR");
        let index = |n: usize| u32_at(data, at + 4 * n) as usize;
        let indices: Vec<_> = (0..whole(&accessor["count"])).map(index).collect();
        let material = &json["materials"][whole(&primitive["material"])];
        let label = whole(&material["extras"]["label"]) as u8;
        let quads = quads(indices.as_chunks().0);
        parsed.labels.extend(vec![label; quads.len()]);
        parsed.faces.extend(quads);
    }
    parsed
}
