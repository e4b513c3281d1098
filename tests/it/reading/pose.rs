//! The static scene of a glTF: skins, morph targets, hidden nodes, instances, strips and fans that repeat
//! vertices.

use serde_json::{Value, json};
use voxelize::Mesh;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};

use super::gltf::{base64, glb};
use super::inputs::{codes, refused, rows, sound, stream};

type Matrix = [[f64; 4]; 4];

/// glTF under construction.
struct Scene {
    document: Value,
    bin: Vec<u8>,
}

impl Scene {
    fn new() -> Self {
        let document = json!({
            "asset": {"version": "2.0"},
            "accessors": [], "bufferViews": [], "meshes": [], "nodes": [],
        });
        Self {
            document,
            bin: vec![],
        }
    }

    fn push(&mut self, list: &str, object: Value) -> usize {
        let list = self.document[list].as_array_mut().unwrap();
        list.push(object);
        list.len() - 1
    }

    /// Adds a mesh of one primitive.
    fn mesh(&mut self, primitive: Value) -> usize {
        self.push("meshes", json!({"primitives": [primitive]}))
    }

    /// Returns the primitive of a mesh.
    fn primitive(&mut self, mesh: usize) -> &mut Value {
        &mut self.document["meshes"][mesh]["primitives"][0]
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend(bytes);
        self.push("bufferViews", view)
    }

    /// Adds an accessor of numbers, stored as this type. Normalized integers represent shares from 0 to 1.
    fn accessor<const N: usize>(
        &mut self,
        component: u32,
        normalized: bool,
        all: &[[f64; N]],
    ) -> usize {
        let mut bytes = vec![];
        for number in all.as_flattened() {
            let share = |most: f64| {
                if normalized {
                    (number * most).round()
                } else {
                    *number
                }
            };
            match component {
                5120 => bytes.extend((share(127.0) as i8).to_le_bytes()),
                5121 => bytes.extend((share(255.0) as u8).to_le_bytes()),
                5122 => bytes.extend((share(32767.0) as i16).to_le_bytes()),
                5123 => bytes.extend((share(65535.0) as u16).to_le_bytes()),
                5125 => bytes.extend((*number as u32).to_le_bytes()),
                _ => bytes.extend((*number as f32).to_le_bytes()),
            }
        }
        let kind = match N {
            1 => "SCALAR",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let view = self.view(&bytes);
        // Vertex attributes are aligned to four bytes. Three bytes or three shorts need padding.
        let accessor = json!({"bufferView": view, "componentType": component, "normalized": normalized, "type": kind, "count": all.len()});
        self.push("accessors", accessor)
    }

    fn floats<const N: usize>(&mut self, all: &[[f64; N]]) -> usize {
        self.accessor(5126, false, all)
    }

    fn file(&self) -> Vec<u8> {
        let mut document = self.document.clone();
        document["buffers"] = json!([{"byteLength": self.bin.len()}]);
        glb(&document, &self.bin)
    }

    fn read(&self) -> Loaded {
        stream(self.file(), Tolerance::Usual).unwrap_or_else(|error| panic!("{error}"))
    }
}

// The oracle uses 4 × 4 matrices, rotates vectors by products of quaternions, and divides by the fourth
// coordinate.

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| (0..4).map(|n| a[row][n] * b[n][column]).sum())
    })
}

fn hamilton(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let [x, y, z, w] = a;
    let [p, q, r, s] = b;
    [
        w * p + x * s + y * r - z * q,
        w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s,
        w * s - x * p - y * q - z * r,
    ]
}

fn placing(shift: [f64; 3], turn: [f64; 4], scale: [f64; 3]) -> Matrix {
    let mut matrix = [[0.0; 4]; 4];
    for axis in 0..3 {
        let mut unit = [0.0; 4];
        unit[axis] = scale[axis];
        let [x, y, z, w] = turn;
        let turned = hamilton(hamilton(turn, unit), [-x, -y, -z, w]);
        for row in 0..3 {
            matrix[row][axis] = turned[row];
        }
    }
    for row in 0..3 {
        matrix[row][3] = shift[row];
    }
    matrix[3][3] = 1.0;
    matrix
}

fn columns(matrix: &Matrix) -> [f64; 16] {
    std::array::from_fn(|n| matrix[n % 4][n / 4])
}

/// Returns the place of a point on joints with these weights.
fn skinned(point: [f64; 3], joints: &[(Matrix, f64)]) -> [f64; 3] {
    let point = [point[0], point[1], point[2], 1.0];
    let mut sum = [0.0; 4];
    for (matrix, weight) in joints {
        for row in 0..4 {
            sum[row] += weight * (0..4).map(|n| matrix[row][n] * point[n]).sum::<f64>();
        }
    }
    [sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]]
}

/// Reports whether a point is nearer than a bound to another one along each axis.
fn is_near(found: &[f32; 3], expected: &[f64; 3], bound: f64) -> bool {
    (0..3).all(|axis| (f64::from(found[axis]) - expected[axis]).abs() < bound)
}

/// Checks that the corners of a mesh are these points in their order, rounded once.
#[track_caller]
fn assert_corners(mesh: &Mesh, points: &[[f64; 3]], about: &str) {
    let corners = mesh.triangles().as_flattened();
    assert_eq!(corners.len(), points.len(), "{about}");
    for (n, (found, expected)) in corners.iter().zip(points).enumerate() {
        for axis in 0..3 {
            let off = (f64::from(found[axis]) - expected[axis]).abs();
            let bound = 6.0e-8 * expected[axis].abs().max(1.0e-3);
            assert!(
                off <= bound,
                "{about}: corner {n} is {found:?}, not {expected:?}"
            );
        }
    }
}

const POINTS: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 2.0, 0.0],
    [0.5, 0.0, 3.0],
    [1.0, 1.0, 1.0],
    [-2.0, 0.5, 0.25],
];

const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

#[test]
fn skins_are_in_their_bind_pose() {
    // Bytes, shorts and floats represent few common fractions. Fifteenths are exact in bytes and shorts.
    let share = |n: f64| n / 15.0;
    let joints: [[usize; 3]; 6] = [
        [0, 1, 2],
        [1, 0, 0],
        [2, 1, 0],
        [0, 2, 0],
        [1, 2, 0],
        [2, 0, 0],
    ];
    let weights: [[u8; 3]; 6] = [
        [3, 5, 7],
        [15, 0, 0],
        [10, 5, 0],
        [1, 14, 0],
        [6, 9, 0],
        [15, 0, 0],
    ];
    let up = placing([0.0, 5.0, 0.0], [HALF, 0.0, 0.0, HALF], [2.0; 3]);
    let hip = placing([1.0, 0.0, 0.0], [0.0, 0.0, HALF, HALF], [1.0; 3]);
    let knee = placing([0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 1.0], [1.0, 3.0, 1.0]);
    let hip = product(&up, &hip);
    let knee = product(&hip, &knee);
    let lone = placing([-7.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0; 3]);
    let inverse = [
        placing([0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.5; 3]),
        placing([0.25, 0.0, 0.0], [0.0, HALF, 0.0, HALF], [1.0; 3]),
        placing([0.0; 3], [0.0, 0.0, 0.0, 1.0], [0.01, 0.01, 0.01]),
    ];
    // The types of joints and weights, the inverse bind matrices, the sum of the weights, and two sets.
    for (of_joints, of_weights, has_inverse, factor, split) in [
        (5121, 5126, true, 1.0, false),
        (5123, 5126, true, 1.0, false),
        (5121, 5121, true, 1.0, false),
        (5123, 5123, true, 1.0, false),
        (5121, 5126, false, 1.0, false),
        (5121, 5126, true, 1.0, true),
        (5123, 5121, true, 1.0, true),
        (5121, 5126, true, 0.5, false),
        (5121, 5126, true, 3.0, false),
    ] {
        let about = format!("{of_joints} {of_weights} {has_inverse} {factor} {split}");
        let mut scene = Scene::new();
        let mut attributes = json!({"POSITION": scene.floats(&POINTS)});
        for set in 0..if split { 2 } else { 1 } {
            let mut numbers = [[0.0; 4]; 6];
            let mut shares = [[0.0; 4]; 6];
            for n in 0..6 {
                for k in 0..3 {
                    numbers[n][k] = joints[n][k] as f64;
                    // The second set contains the joints that the first one omits.
                    if !split || (k < 1) == (set == 0) {
                        shares[n][k] = factor * share(f64::from(weights[n][k]));
                    }
                }
            }
            attributes[format!("JOINTS_{set}")] = json!(scene.accessor(of_joints, false, &numbers));
            attributes[format!("WEIGHTS_{set}")] =
                json!(scene.accessor(of_weights, of_weights != 5126, &shares));
        }
        scene.mesh(json!({"attributes": attributes}));
        let mut skin = json!({"joints": [2, 3, 4], "skeleton": 2});
        if has_inverse {
            let all = inverse.map(|matrix| columns(&matrix));
            skin["inverseBindMatrices"] = json!(scene.floats(&all));
        }
        scene.document["skins"] = json!([skin]);
        scene.document["nodes"] = json!([
            // The transform of a skinned mesh node and of its ancestors has no effect.
            {"children": [1], "scale": [100, 100, -100], "translation": [1, 2, 3]},
            {"mesh": 0, "skin": 0, "rotation": [1, 0, 0, 0], "translation": [7, 0, 0]},
            {"rotation": [0, 0, HALF, HALF], "translation": [1, 0, 0], "children": [3]},
            {"scale": [1, 3, 1], "translation": [0, 0, 4]},
            {"translation": [-7, 0, 0]},
            {"children": [2], "rotation": [HALF, 0, 0, HALF], "scale": [2, 2, 2], "translation": [0, 5, 0]},
        ]);
        // One of the joints is in no scene.
        scene.document["scenes"] = json!([{"nodes": [0, 5]}]);
        let maps = [hip, knee, lone];
        let mut expected = vec![];
        for n in 0..6 {
            let mut bound = vec![];
            for k in 0..3 {
                let joint = joints[n][k];
                let mut map = maps[joint];
                if has_inverse {
                    map = product(&map, &inverse[joint]);
                }
                bound.push((map, factor * share(f64::from(weights[n][k]))));
            }
            expected.push(skinned(POINTS[n], &bound));
        }
        let loaded = scene.read();
        // Inverse bind matrices are stored as floats.
        let corners = loaded.mesh.triangles().as_flattened();
        assert_eq!(corners.len(), 6, "{about}");
        for (n, (found, expected)) in corners.iter().zip(&expected).enumerate() {
            assert!(
                is_near(found, expected, 2.0e-6),
                "{about}: corner {n} is {found:?}, not {expected:?}"
            );
        }
        let warned = if factor == 1.0 { "" } else { "S108" };
        assert_eq!(codes(&loaded), warned, "{about}");
    }
}

/// Returns a triangle bound to joints.
fn bound(weights: [f64; 4], joints: [f64; 4]) -> Scene {
    let mut scene = Scene::new();
    let points = scene.floats(&POINTS[..3]);
    let joints = scene.accessor(5121, false, &[joints; 3]);
    let weights = scene.floats(&[weights; 3]);
    let attributes = json!({"POSITION": points, "JOINTS_0": joints, "WEIGHTS_0": weights});
    scene.mesh(json!({"attributes": attributes}));
    scene.document["skins"] = json!([{"joints": [1]}]);
    scene.document["nodes"] = json!([
        {"mesh": 0, "skin": 0, "translation": [50, 0, 0]},
        {"scale": [2, 2, -2]},
    ]);
    scene
}

/// Weight of the first joint alone.
const FIRST: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

#[test]
fn odd_skins_are_read_with_a_warning_or_refused() {
    let twice = POINTS.map(|[x, y, z]| [2.0 * x, 2.0 * y, -2.0 * z]);
    // A mirroring joint flips the triangle.
    let turned = [twice[0], twice[2], twice[1]];
    let shifted = [0, 1, 2].map(|n| [POINTS[n][0] + 50.0, POINTS[n][1], POINTS[n][2]]);
    let mut without_joints = bound(FIRST, [0.0; 4]);
    without_joints.primitive(0)["attributes"] = json!({"POSITION": 0});
    let mut without_skin = bound(FIRST, [0.0; 4]);
    without_skin.document["nodes"][0] = json!({"mesh": 0, "translation": [50, 0, 0]});
    for (about, scene, points, warned) in [
        ("mirrored", bound(FIRST, [0.0; 4]), turned, ""),
        // A joint that does not exist has no weight.
        ("unused", bound(FIRST, [0.0, 9.0, 200.0, 0.0]), turned, ""),
        ("without weights", bound([0.0; 4], [0.0; 4]), turned, "S108"),
        ("without joints", without_joints, shifted, "S108"),
        ("without skin", without_skin, shifted, ""),
    ] {
        let loaded = scene.read();
        assert_corners(&loaded.mesh, &points, about);
        assert_eq!(codes(&loaded), warned, "{about}");
    }
    refused(
        bound(FIRST, [3.0; 4]).file(),
        "S012",
        "joint 3, but its skin has 1 joints",
    );
    let mut scene = bound(FIRST, [0.0; 4]);
    let unlike = scene.floats(&[[2.0; 16]]);
    let one = scene.floats(&[columns(&placing([0.0; 3], [0.0, 0.0, 0.0, 1.0], [1.0; 3]))]);
    for (skin, code, text) in [
        (json!({"joints": [7]}), "S012", "nodes[7]"),
        (
            json!({"joints": [1], "inverseBindMatrices": unlike}),
            "S006",
            "inverse bind matrix 0 is not affine",
        ),
        (
            json!({"joints": [1, 1], "inverseBindMatrices": one}),
            "S006",
            "1 inverse bind matrices of 2 joints",
        ),
    ] {
        scene.document["skins"] = json!([skin]);
        refused(scene.file(), code, text);
    }
    scene.document["nodes"][0]["skin"] = json!(4);
    refused(scene.file(), "S012", "skins[4]");
}

/// Default weights of a mesh and of its node in JSON, and the effective weights.
const WEIGHTS: &str = "
    null | null | 0 0
    [1, 0] | null | 1 0
    [0.25, -2] | null | 0.25 -2
    null | [0.5, 1] | 0.5 1
    [1, 1] | [0, 0.5] | 0 0.5
    [1, 1] | [0, 0] | 0 0
    [0, 0] | null | 0 0
    # Weights of missing targets, and targets without weights.
    [1, 1, 9, 9] | null | 1 1
    [1] | null | 1 0
";

#[test]
fn morph_targets_have_their_default_weights() {
    let [a, b] = [[10.0, 0.5, 0.0], [0.0, -1.0, 4.0]];
    for [of_mesh, of_node, weights] in rows(WEIGHTS) {
        let about = format!("{of_mesh} {of_node}");
        let weights: Vec<f64> = weights.split(' ').map(|n| n.parse().unwrap()).collect();
        let mut scene = Scene::new();
        let points = scene.floats(&POINTS);
        let all = scene.floats(&[a; 6]);
        // The second target moves only every second vertex.
        let indices = scene.view(&[0, 2, 4]);
        let moved = [b.map(|n| n as f32); 3];
        let bytes: Vec<u8> = moved
            .iter()
            .flatten()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        let values = scene.view(&bytes);
        let some = scene.push(
            "accessors",
            json!({"componentType": 5126, "type": "VEC3", "count": 6, "sparse": {
                "count": 3, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}}}),
        );
        let targets = json!([{"POSITION": all}, {"POSITION": some, "NORMAL": all}]);
        let mesh = scene.mesh(json!({"attributes": {"POSITION": points}, "targets": targets}));
        let node = scene.push("nodes", json!({"mesh": mesh, "translation": [0, 0, 100]}));
        for (list, n, value) in [("meshes", mesh, of_mesh), ("nodes", node, of_node)] {
            if value != "null" {
                scene.document[list][n]["weights"] = serde_json::from_str(value).expect(value);
            }
        }
        let mut expected = POINTS;
        for (n, point) in expected.iter_mut().enumerate() {
            for k in 0..3 {
                point[k] += weights[0] * a[k];
                if n % 2 == 0 {
                    point[k] += weights[1] * b[k];
                }
            }
            point[2] += 100.0;
        }
        let loaded = scene.read();
        assert_corners(&loaded.mesh, &expected, &about);
        assert_eq!(codes(&loaded), "", "{about}");
    }
    // Normalized bytes, then bound to a joint: targets move the mesh before its skin does.
    let mut scene = bound(FIRST, [0.0; 4]);
    scene.document["nodes"][0]["weights"] = json!([0.5]);
    let shares = [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]];
    let shares = scene.accessor(5122, true, &shares);
    scene.primitive(0)["targets"] = json!([{"POSITION": shares}]);
    scene.document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let expected = [[1.0, 0.0, 1.0], [1.0, 5.0, -1.0], [2.0, 1.0, 0.0]];
    assert_corners(&scene.read().mesh, &expected, "both");
    // A target with another number of vertices.
    let few = scene.floats(&POINTS[..2]);
    scene.primitive(0)["targets"] = json!([{"POSITION": few}]);
    refused(
        scene.file(),
        "S006",
        "target 0: POSITION of 2 vertices, not 3",
    );
    // A target without positions moves nothing.
    scene.primitive(0)["targets"] = json!([{"NORMAL": few}]);
    assert_eq!(codes(&scene.read()), "");
}

/// Returns two triangles, one of which is placed by these nodes.
fn placed(nodes: Value) -> Scene {
    let mut scene = Scene::new();
    for count in [3, 6] {
        let points = scene.floats(&POINTS[..count]);
        scene.mesh(json!({"attributes": {"POSITION": points}}));
    }
    scene.document["nodes"] = nodes;
    scene
}

/// Numbers of triangles, warnings with parts of their texts, and nodes.
const HIDDEN: &str = r#"
    3 | | [{"mesh": 0}, {"mesh": 1}]
    3 | | [{"mesh": 0}, {"mesh": 1, "extensions": SHOWN}]
    3 | | [{"mesh": 0}, {"mesh": 1, "extensions": {"KHR_node_visibility": {}}}]
    1 | S120 1 mesh with 2 triangles | [{"mesh": 0}, {"mesh": 1, "extensions": HIDDEN}]
    # A hidden node hides all its descendants, whatever they state.
    1 | S120 2 meshes with 3 triangles | [{"children": [1], "extensions": HIDDEN}, {"mesh": 0, "children": [2], "extensions": SHOWN}, {"mesh": 1}, {"mesh": 0}]
    # A hidden node without triangles is not reported.
    3 | | [{"mesh": 0}, {"mesh": 1}, {"camera": 0, "extensions": HIDDEN}]
    1 | S121 does not use 1 mesh with 2 triangles | [{"mesh": 0}]
    0 | S121 does not use 2 meshes with 3 triangles | []
    0 | S120 1 mesh with 1 triangle,; S121 does not use 1 mesh with 2 triangles | [{"mesh": 0, "extensions": HIDDEN}]
"#;

#[test]
fn hidden_and_unplaced_parts_are_omitted_with_a_warning() {
    for [triangles, warnings, nodes] in rows(HIDDEN) {
        let nodes = nodes
            .replace("HIDDEN", r#"{"KHR_node_visibility": {"visible": false}}"#)
            .replace("SHOWN", r#"{"KHR_node_visibility": {"visible": true}}"#);
        for list in ["extensionsUsed", "extensionsRequired"] {
            let mut scene = placed(serde_json::from_str(&nodes).expect(&nodes));
            scene.document[list] = json!(["KHR_node_visibility"]);
            let loaded = scene.read();
            assert_eq!(
                loaded.mesh.triangles().len().to_string(),
                triangles,
                "{nodes}"
            );
            let warnings: Vec<_> = warnings.split_terminator("; ").collect();
            assert_eq!(loaded.findings.len(), warnings.len(), "{nodes}");
            for (finding, warning) in loaded.findings.iter().zip(warnings) {
                let (code, text) = warning.split_once(' ').unwrap();
                assert_eq!(
                    (finding.code().name(), finding.severity.name()),
                    (code, "warning")
                );
                assert!(finding.text().contains(text), "{text}: {}", finding.text());
            }
        }
    }
    // A mesh of another scene is not reported, unless the default scene is empty.
    let mut scenes = placed(json!([{"mesh": 0}, {"mesh": 1}]));
    for (all, triangles, warned) in [
        (json!([{"nodes": [1]}, {"nodes": [0]}]), 2, ""),
        (json!([{}, {"nodes": [0, 1]}]), 0, "S121"),
    ] {
        scenes.document["scenes"] = all;
        let loaded = scenes.read();
        assert_eq!(loaded.mesh.triangles().len(), triangles);
        assert_eq!(codes(&loaded), warned);
    }
}

/// Adds animations of these paths of nodes with these first values, and reads the scene.
fn animated(mut scene: Scene, targets: &str, first: &[f64], interpolation: &str) -> Loaded {
    let mut animations = vec![];
    for target in targets.split_terminator(", ") {
        let (node, path) = target.split_once(' ').unwrap();
        let keys: Vec<[f64; 1]> = first.iter().map(|n| [*n]).collect();
        let output = match path {
            "weights" => scene.floats(&keys),
            "rotation" => scene.floats(first.as_chunks::<4>().0),
            _ => scene.floats(first.as_chunks::<3>().0),
        };
        let node: u32 = node.parse().unwrap();
        animations.push(json!({
            "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
            "samplers": [{"input": output, "output": output, "interpolation": interpolation}],
        }));
    }
    scene.document["animations"] = json!(animations);
    scene.read()
}

/// Numbers of reported animations, interpolations, targets, and first values.
const ANIMATIONS: &str = "
    0 | LINEAR | |
    1 | LINEAR | 0 translation | 7 0 0
    0 | LINEAR | 0 translation | 1 2 3
    0 | STEP | 0 translation | 1.000001 2 3
    # A tangent comes first.
    0 | CUBICSPLINE | 0 translation | 9 9 9 1 2 3
    1 | CUBICSPLINE | 0 translation | 1 2 3 9 9 9
    # Empty animation data.
    1 | LINEAR | 0 translation |
    # Ancestors of the mesh node.
    3 | LINEAR | 1 translation, 3 scale, 1 scale | 7 0 0
    0 | LINEAR | 1 scale | 1 1 1
    0 | LINEAR | 1 rotation | 0 0 0 -1
    1 | LINEAR | 1 rotation | 0 0 0.7071067811865476 0.7071067811865476
    0 | LINEAR | 0 weights | 0 0.5
    1 | LINEAR | 0 weights | 0.5 0.5
    # Animations of a camera, of weights elsewhere, and of nothing.
    0 | LINEAR | 2 translation, 1 weights, 0 pointer, 9 scale | 7 0 0
";

#[test]
fn animations_are_not_played_but_reported() {
    for [found, interpolation, targets, first] in rows(ANIMATIONS) {
        let mut scene = placed(json!([
            {"mesh": 1, "translation": [1, 2, 3], "weights": [0, 0.5]}, {"children": [0]}, {"camera": 0}, {"mesh": 0},
        ]));
        scene.primitive(1)["targets"] = json!([{}, {}]);
        let first: Vec<f64> = first
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        let loaded = animated(scene, targets, &first, interpolation);
        let warned = if found == "0" { "" } else { "S108" };
        assert_eq!(codes(&loaded), warned, "{targets} {first:?}");
        if let Some(finding) = loaded.findings.first() {
            let text = finding.text();
            assert!(text.contains(&format!("{found} animation")), "{text}");
        }
        assert_eq!(loaded.mesh.triangles().len(), 3);
    }
    // Animating the node of a skinned mesh moves nothing. Animating its joints and their ancestors does.
    for (target, warned) in [
        ("0 translation", ""),
        ("1 translation", "S108"),
        ("2 translation", "S108"),
    ] {
        let mut scene = bound(FIRST, [0.0; 4]);
        scene.push("nodes", json!({"children": [1]}));
        let loaded = animated(scene, target, &[7.0, 0.0, 0.0], "LINEAR");
        assert_eq!(codes(&loaded), warned, "{target}");
    }
}

#[test]
fn instances_are_placed_below_their_node() {
    let shifts = [[0.0, 0.0, 0.0], [30.0, 0.0, 0.0], [0.0, 1.0, -5.0]];
    let turns = [
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, HALF, HALF],
        [1.0, 0.0, 0.0, 0.0],
    ];
    let scales = [[1.0; 3], [2.0, 1.0, 1.0], [0.5; 3]];
    let above = placing([0.0, 0.0, 7.0], [0.0, 0.0, 0.0, 1.0], [3.0, 1.0, 1.0]);
    for (has_turns, has_scales) in [(false, false), (true, false), (false, true), (true, true)] {
        let turns = if has_turns {
            turns
        } else {
            [[0.0, 0.0, 0.0, 1.0]; 3]
        };
        let scales = if has_scales { scales } else { [[1.0; 3]; 3] };
        let mut scene = Scene::new();
        let points = scene.floats(&POINTS[..3]);
        scene.mesh(json!({"attributes": {"POSITION": points}}));
        let mut attributes = json!({"TRANSLATION": scene.floats(&shifts)});
        if has_turns {
            attributes["ROTATION"] = json!(scene.floats(&turns));
        }
        if has_scales {
            attributes["SCALE"] = json!(scene.floats(&scales));
        }
        scene.push(
            "nodes",
            json!({"mesh": 0, "translation": [0, 0, 7], "scale": [3, 1, 1],
                "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}),
        );
        let mut expected = vec![];
        for n in 0..3 {
            let map = product(&above, &placing(shifts[n], turns[n], scales[n]));
            expected.extend([0, 1, 2].map(|corner| skinned(POINTS[corner], &[(map, 1.0)])));
        }
        for required in [json!([]), json!(["EXT_mesh_gpu_instancing"])] {
            scene.document["extensionsRequired"] = required;
            let mesh = scene.read().mesh;
            let corners = mesh.triangles().as_flattened();
            assert_eq!(corners.len(), 9);
            for (found, expected) in corners.iter().zip(&expected) {
                // The half turn is stored as floats.
                assert!(is_near(found, expected, 1.0e-5), "{found:?} {expected:?}");
            }
        }
    }
    let mut scene = placed(json!([{"mesh": 0}]));
    let few = scene.floats(&POINTS[..2]);
    for (attributes, text) in [
        (json!({}), ""),
        (
            json!({"TRANSLATION": 0, "SCALE": few}),
            "3 of one attribute, 2 of another",
        ),
    ] {
        scene.document["nodes"][0]["extensions"] =
            json!({"EXT_mesh_gpu_instancing": {"attributes": attributes}});
        refused(scene.file(), "S006", text);
    }
}

/// Returns the triangles of a primitive by the x of their vertices. Vertices are `listed` by index or repeated.
fn triangles(mode: u32, indices: &[u32], listed: bool) -> Vec<[u32; 3]> {
    let mut scene = Scene::new();
    let points: Vec<[f64; 3]> = (0..8)
        .map(|n| [f64::from(n), f64::from(n * n), 0.0])
        .collect();
    let mut primitive = json!({"mode": mode});
    if listed {
        primitive["attributes"] = json!({"POSITION": scene.floats(&points)});
        let indices: Vec<[f64; 1]> = indices.iter().map(|n| [f64::from(*n)]).collect();
        primitive["indices"] = json!(scene.accessor(5123, false, &indices));
    } else {
        // A repeated vertex is stored again.
        let all: Vec<_> = indices.iter().map(|n| points[*n as usize]).collect();
        primitive["attributes"] = json!({"POSITION": scene.floats(&all)});
    }
    scene.mesh(primitive);
    scene.push("nodes", json!({"mesh": 0}));
    let loaded = scene.read();
    assert_eq!(codes(&loaded), "");
    loaded
        .mesh
        .triangles()
        .iter()
        .map(|triangle| triangle.map(|[x, ..]| x as u32))
        .collect()
}

/// Modes, numbers of vertices, and triangles.
const JOINED: &str = "
    5 | 0 1 2 3 | 012 213
    # The second strip starts after an even number of corners, so its orientation is that of a separate strip.
    5 | 0 1 2 3 3 4 4 5 6 7 | 012 213 456 657
    # After an odd number, one more corner is repeated.
    5 | 0 1 2 2 4 4 5 6 | 012 546
    5 | 0 1 2 2 4 4 4 5 6 | 012 456
    # A swap inside a strip.
    5 | 0 1 2 1 3 | 012 213
    5 | 0 0 0 0 |
    5 | 0 1 |
    5 | |
    6 | 0 1 2 3 | 012 023
    6 | 0 1 2 2 3 0 4 5 | 012 023 045
    # In a list, repeated vertices are intended by the author.
    4 | 0 1 1 2 2 2 3 4 5 | 011 222 345
";

#[test]
fn triangles_that_join_strips_are_left_out() {
    // The orientation matters, not the first corner.
    let turned = |mut triangle: [u32; 3]| {
        let least = (0..3).min_by_key(|n| triangle[*n]).unwrap();
        triangle.rotate_left(least);
        triangle
    };
    for [mode, indices, expected] in rows(JOINED) {
        let digit = |digit: char| digit.to_digit(10).unwrap();
        let mut wanted = vec![];
        for word in expected.split_whitespace() {
            let corners: Vec<_> = word.chars().map(digit).collect();
            wanted.push(turned(corners.try_into().unwrap()));
        }
        let indices: Vec<_> = indices.chars().filter(|c| *c != ' ').map(digit).collect();
        for listed in [true, false] {
            let found = triangles(mode.parse().unwrap(), &indices, listed);
            let found: Vec<_> = found.into_iter().map(turned).collect();
            assert_eq!(found, wanted, "{mode} {indices:?} {listed}");
        }
    }
}

#[test]
fn compressed_views_have_a_fallback() {
    let mut scene = placed(json!([{"mesh": 0}, {"mesh": 1}]));
    let plain = scene.read().mesh;
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let mut document = scene.document.clone();
        for view in document["bufferViews"].as_array_mut().unwrap() {
            view["extensions"][name] = json!({"buffer": 0, "byteLength": 4, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"});
            view["buffer"] = json!(1);
        }
        let bytes = format!("data:;base64,{}", base64(&scene.bin));
        for list in ["extensionsUsed", "extensionsRequired"] {
            let mut document = document.clone();
            document[list] = json!([name]);
            let fallback =
                json!({"byteLength": scene.bin.len(), "extensions": {name: {"fallback": true}}});
            document["buffers"] = json!([{"byteLength": 4}, fallback]);
            let error = refused(glb(&document, &[0; 4]), "S009", name);
            assert!(error.advice().to_string().contains("gltfpack"), "{error}");
            document["buffers"][1]["uri"] = json!(bytes);
            assert!(sound(glb(&document, &[0; 4])) == plain, "{list}");
        }
    }
    // Unaligned views are also read.
    scene.document["asset"]["version"] = json!("2");
    assert!(scene.read().mesh == plain);
}

#[test]
fn versions_padding_and_strides_of_old_exporters_are_read() {
    let mut scene = placed(json!([{"mesh": 0}, {"mesh": 1}]));
    let plain = scene.read().mesh;
    let plain_file = scene.file();
    for version in [json!("1.0"), json!("20"), json!("3"), json!(1)] {
        scene.document["asset"]["version"] = version;
        refused(scene.file(), "S009", "glTF 2.0 is read");
    }
    // Views without gaps.
    for view in scene.document["bufferViews"].as_array_mut().unwrap() {
        view["byteStride"] = json!(0);
    }
    for version in [json!("2"), json!("2.0"), json!("2.1"), json!(2), json!(2.0)] {
        scene.document["asset"]["version"] = version;
        assert!(scene.read().mesh == plain);
    }
    // The JSON is padded with zeros.
    let mut file = plain_file;
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let mut padded = 0;
    for at in (20..20 + length).rev() {
        if file[at] != b' ' {
            break;
        }
        file[at] = 0;
        padded += 1;
    }
    if padded == 0 {
        let more = file.len() as u32 + 4;
        file[8..12].copy_from_slice(&more.to_le_bytes());
        file[12..16].copy_from_slice(&(length as u32 + 4).to_le_bytes());
        file.splice(20 + length..20 + length, [0; 4]);
    }
    assert!(sound(&file) == plain);
}

#[test]
fn counts_that_no_bytes_vouch_for_are_refused() {
    for count in [
        10_u64.pow(8),
        1 << 60,
        1 << 61,
        1 << 62,
        1 << 63,
        u64::MAX,
        768_614_336_404_564_651,
    ] {
        for attribute in ["POSITION", "COLOR_0", "TEXCOORD_0", "JOINTS_0", "indices"] {
            for stride in [json!(0), json!(1), json!(4), json!(12), json!(null)] {
                let mut scene = bound(FIRST, [0.0; 4]);
                let view = scene.view(&[0; 48]);
                if !stride.is_null() {
                    scene.document["bufferViews"][view]["byteStride"] = stride.clone();
                }
                let (kind, component) = match attribute {
                    "indices" => ("SCALAR", 5125),
                    "JOINTS_0" => ("VEC4", 5121),
                    "TEXCOORD_0" => ("VEC2", 5126),
                    _ => ("VEC3", 5126),
                };
                let accessor = json!({"bufferView": view, "componentType": component, "type": kind, "count": count});
                let accessor = scene.push("accessors", accessor);
                let primitive = scene.primitive(0);
                match attribute {
                    "indices" => primitive["indices"] = json!(accessor),
                    _ => primitive["attributes"][attribute] = json!(accessor),
                }
                primitive["material"] = json!(0);
                scene.document["materials"] =
                    json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
                scene.document["textures"] = json!([{"source": 0}]);
                scene.document["images"] = json!([{"bufferView": view}]);
                let options = ReadOptions::default().memory(1 << 20);
                let read = read_stream(&mut &scene.file()[..], "-", &options);
                if attribute != "TEXCOORD_0" {
                    let error = read.expect_err(attribute);
                    let code = error.code().name();
                    assert!(
                        ["S003", "S006"].contains(&code),
                        "{attribute} {count} {stride}: {error}"
                    );
                }
            }
        }
    }
}
