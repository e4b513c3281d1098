//! Parsers of meshes of faces, written from the descriptions of the formats alone.

use serde_json::Value;

/// Parsed mesh. Faces are quads, also if the file has two triangles for each.
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
    let end = bytes
        .windows(11)
        .position(|window| window == b"end_header\n")
        .unwrap()
        + 11;
    let header = std::str::from_utf8(&bytes[..end]).unwrap();
    assert!(
        header.is_ascii()
            && header.starts_with("ply\nformat binary_little_endian 1.0\ncomment voxelize {")
    );
    let lines: Vec<_> = header.lines().collect();
    assert!(
        lines.iter().all(|line| line.len() < 500),
        "MeshLab takes 510 bytes"
    );
    (lines, &bytes[end..])
}

/// Returns the count of an element and its properties.
pub fn ply_element<'a>(lines: &[&'a str], name: &str) -> (usize, Vec<&'a str>) {
    let start = lines
        .iter()
        .position(|line| line.starts_with(&format!("element {name} ")))
        .unwrap();
    let count = lines[start].rsplit(' ').next().unwrap().parse().unwrap();
    let properties = lines[start + 1..]
        .iter()
        .map_while(|line| line.strip_prefix("property "));
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
    assert_eq!(face[0], "list uchar int vertex_indices");
    let has_labels = face.len() > 1;
    if has_labels {
        assert_eq!(
            face[1..],
            ["uchar red", "uchar green", "uchar blue", "uchar label"]
        );
    }
    let mut take = |length: usize| {
        let (now, later) = rest.split_at(length);
        rest = later;
        now
    };
    let colour = |bytes: &[u8]| <[u8; 3]>::try_from(bytes).unwrap();
    let mut parsed = ParsedFaces {
        vertices: vec![],
        faces: vec![],
        labels: vec![],
        colours: vec![],
        json: comments(&lines, "comment voxelize "),
    };
    for _ in 0..vertex_count {
        let numbers = take(24);
        let number = |n: usize| f64::from_le_bytes(numbers[8 * n..8 * n + 8].try_into().unwrap());
        parsed.vertices.push([0, 1, 2].map(number));
    }
    let mut triangles = vec![];
    for _ in 0..face_count {
        let corners = usize::from(take(1)[0]);
        assert_eq!(corners, if has_labels { 3 } else { 4 });
        let list = take(4 * corners);
        let index = |n: usize| u32_at(list, 4 * n) as usize;
        if !has_labels {
            parsed.faces.push([0, 1, 2, 3].map(index));
            parsed.labels.push(0);
            continue;
        }
        triangles.push([0, 1, 2].map(index));
        let last = (colour(take(3)), take(1)[0]);
        if triangles.len().is_multiple_of(2) {
            assert_eq!(
                (parsed.colours.last(), parsed.labels.last()),
                (Some(&last.0), Some(&last.1))
            );
        } else {
            parsed.colours.push(last.0);
            parsed.labels.push(last.1);
        }
    }
    parsed.faces.extend(quads(&triangles));
    assert!(rest.is_empty(), "{} bytes more", rest.len());
    parsed
}

fn obj(text: &str) -> ParsedFaces {
    let lines: Vec<_> = text.lines().collect();
    let json = comments(&lines, "# voxelize ");
    let mut parsed = ParsedFaces {
        vertices: vec![],
        faces: vec![],
        labels: vec![],
        colours: vec![],
        json,
    };
    let mut label = 0;
    for line in lines.iter().filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["v", x, y, z] => parsed
                .vertices
                .push([x, y, z].map(|word| word.parse().unwrap())),
            ["f", a, b, c, d] => {
                parsed
                    .faces
                    .push([a, b, c, d].map(|word| word.parse::<usize>().unwrap() - 1));
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
    let mut vertices = vec![];
    let mut faces = vec![];
    for pair in bytes[84..].chunks(100) {
        let corner = |triangle: usize, n: usize| {
            let at = 50 * triangle + 12 * n;
            [0, 1, 2].map(|axis| f32_at(pair, at + 4 * axis))
        };
        let [a, b, c, d] = [corner(0, 1), corner(0, 2), corner(0, 3), corner(1, 3)];
        assert_eq!(
            ([corner(1, 1), corner(1, 2)], corner(0, 0)),
            ([a, c], corner(1, 0))
        );
        let [u, v] = [b, d]
            .map(|p: [f32; 3]| [0, 1, 2].map(|n| (p[n] - a[n]).signum() * f32::from(p[n] != a[n])));
        let normal = [
            u[1] * v[2] - u[2] * v[1],
            u[2] * v[0] - u[0] * v[2],
            u[0] * v[1] - u[1] * v[0],
        ];
        assert_eq!(corner(0, 0), normal);
        assert_eq!(
            ([pair[48], pair[49]], [pair[98], pair[99]]),
            ([0, 0], [0, 0])
        );
        faces.push([0, 1, 2, 3].map(|n| vertices.len() + n));
        vertices.extend([a, b, c, d].map(|p| p.map(f64::from)));
    }
    let labels = vec![0; faces.len()];
    ParsedFaces {
        vertices,
        faces,
        labels,
        colours: vec![],
        json: String::new(),
    }
}

/// Returns the JSON and the binary chunk of a GLB.
pub fn glb_chunks(bytes: &[u8]) -> (Value, &[u8]) {
    assert_eq!(
        (&bytes[..4], u32_at(bytes, 4), u32_at(bytes, 8) as usize),
        (&b"glTF"[..], 2, bytes.len())
    );
    let length = u32_at(bytes, 12) as usize;
    assert_eq!((&bytes[16..20], length % 4), (&b"JSON"[..], 0));
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let rest = &bytes[20 + length..];
    if rest.is_empty() {
        return (json, rest);
    }
    assert_eq!(
        (&rest[4..8], u32_at(rest, 0) as usize),
        (&b"BIN\0"[..], rest.len() - 8)
    );
    (json, &rest[8..])
}

fn glb(bytes: &[u8]) -> ParsedFaces {
    let (json, data) = glb_chunks(bytes);
    let whole = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let extras = json["asset"]["extras"]["voxelize"].to_string();
    let mut parsed = ParsedFaces {
        vertices: vec![],
        faces: vec![],
        labels: vec![],
        colours: vec![],
        json: extras,
    };
    if json.get("meshes").is_none() {
        return parsed;
    }
    assert_eq!(whole(&json["buffers"][0]["byteLength"]), data.len());
    let start = |accessor: &Value, component: u64, kind: &str| {
        assert_eq!(
            (
                accessor["componentType"].as_u64(),
                accessor["type"].as_str()
            ),
            (Some(component), Some(kind))
        );
        let view = &json["bufferViews"][whole(&accessor["bufferView"])];
        let end = whole(&accessor["byteOffset"])
            + whole(&accessor["count"]) * if kind == "VEC3" { 12 } else { 4 };
        assert!(end <= whole(&view["byteLength"]));
        whole(&view["byteOffset"]) + whole(&accessor["byteOffset"])
    };
    let positions = &json["accessors"][0];
    let at = start(positions, 5126, "VEC3");
    for n in 0..whole(&positions["count"]) {
        parsed
            .vertices
            .push([0, 1, 2].map(|axis| f64::from(f32_at(data, at + 12 * n + 4 * axis))));
    }
    for axis in 0..3 {
        let all = parsed.vertices.iter().map(|vertex| vertex[axis]);
        let bounds = [
            all.clone().fold(f64::INFINITY, f64::min),
            all.fold(f64::NEG_INFINITY, f64::max),
        ];
        assert_eq!(
            [&positions["min"], &positions["max"]].map(|b| b[axis].as_f64().unwrap()),
            bounds
        );
    }
    for primitive in json["meshes"][0]["primitives"].as_array().unwrap() {
        assert_eq!(
            (
                whole(&primitive["attributes"]["POSITION"]),
                whole(&primitive["mode"])
            ),
            (0, 4)
        );
        let accessor = &json["accessors"][whole(&primitive["indices"])];
        let at = start(accessor, 5125, "SCALAR");
        let indices: Vec<_> = (0..whole(&accessor["count"]))
            .map(|n| u32_at(data, at + 4 * n) as usize)
            .collect();
        let quads = quads(indices.as_chunks().0);
        let material = &json["materials"][whole(&primitive["material"])];
        parsed
            .labels
            .extend(vec![whole(&material["extras"]["label"]) as u8; quads.len()]);
        parsed.faces.extend(quads);
    }
    parsed
}
