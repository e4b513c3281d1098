//! The static scene of a glTF: skins, morph targets, hidden nodes, instances, strips and fans that repeat
//! vertices.

use serde_json::{Value, json};
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};
use voxelize::{Code, Mesh};

use super::gltf::{base64, glb};

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
        read(&self.file(), Tolerance::Usual)
    }
}

fn read(file: &[u8], tolerance: Tolerance) -> Loaded {
    let options = ReadOptions::default().tolerance(tolerance);
    read_stream(&mut &file[..], "-", &options).unwrap_or_else(|error| panic!("{error}"))
}

fn codes(loaded: &Loaded) -> Vec<Code> {
    loaded
        .findings
        .iter()
        .map(|finding| finding.code())
        .collect()
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

/// Checks that the corners of the triangles of a mesh are these points in their order, rounded once.
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
    let joints = [
        [0, 1, 2, 0],
        [1, 0, 0, 0],
        [2, 1, 0, 0],
        [0, 2, 0, 0],
        [1, 2, 0, 0],
        [2, 0, 0, 0],
    ];
    let weights = [
        [3, 5, 7, 0],
        [15, 0, 0, 0],
        [10, 5, 0, 0],
        [1, 14, 0, 0],
        [6, 9, 0, 0],
        [15, 0, 0, 0],
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
    let mut seen = 0;
    for (of_joints, of_weights, has_inverse, factor, split) in [
        (5121, 5126, true, 1.0, false),
        (5123, 5126, true, 1.0, false),
        (5121, 5121, true, 1.0, false),
        (5123, 5123, true, 1.0, false),
        (5121, 5126, false, 1.0, false),
        // Two sets of joints.
        (5121, 5126, true, 1.0, true),
        (5123, 5121, true, 1.0, true),
        // The sum is not 1.
        (5121, 5126, true, 0.5, false),
        (5121, 5126, true, 3.0, false),
    ] {
        let about = format!("{of_joints} {of_weights} {has_inverse} {factor} {split}");
        let mut scene = Scene::new();
        let points = scene.floats(&POINTS);
        let mut attributes = json!({"POSITION": points});
        let sets = if split { 2 } else { 1 };
        for set in 0..sets {
            // The second set contains the joints that the first one omits.
            let own = |n: usize| if split { (n < 1) == (set == 0) } else { true };
            let numbers: Vec<[f64; 4]> = joints.iter().map(|all| all.map(f64::from)).collect();
            let shares: Vec<[f64; 4]> = weights
                .iter()
                .map(|all| {
                    std::array::from_fn(|n| {
                        if own(n) {
                            factor * share(f64::from(all[n]))
                        } else {
                            0.0
                        }
                    })
                })
                .collect();
            attributes[format!("JOINTS_{set}")] = json!(scene.accessor(of_joints, false, &numbers));
            attributes[format!("WEIGHTS_{set}")] =
                json!(scene.accessor(of_weights, of_weights != 5126, &shares));
        }
        scene.push(
            "meshes",
            json!({"primitives": [{"attributes": attributes}]}),
        );
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
        let loaded = scene.read();
        let maps = [hip, knee, lone];
        let expected: Vec<_> = (0..6)
            .map(|n| {
                let used = (0..4).filter(|k| weights[n][*k] > 0).map(|k| {
                    let joint = joints[n][k] as usize;
                    let bound = if has_inverse {
                        product(&maps[joint], &inverse[joint])
                    } else {
                        maps[joint]
                    };
                    (bound, factor * share(f64::from(weights[n][k])))
                });
                skinned(POINTS[n], &used.collect::<Vec<_>>())
            })
            .collect();
        // Inverse bind matrices are stored as floats.
        let corners = loaded.mesh.triangles().as_flattened();
        for (n, (found, expected)) in corners.iter().zip(&expected).enumerate() {
            for axis in 0..3 {
                let off = (f64::from(found[axis]) - expected[axis]).abs();
                assert!(
                    off < 2.0e-6,
                    "{about}: corner {n} is {found:?}, not {expected:?}"
                );
            }
        }
        assert_eq!(corners.len(), 6, "{about}");
        assert_eq!(
            codes(&loaded),
            if factor == 1.0 {
                vec![]
            } else {
                vec![Code::S108]
            },
            "{about}"
        );
        seen += 1;
    }
    assert_eq!(seen, 9);
}

/// Returns a triangle bound to joints, with properties that are merged into the mesh node, the primitive and
/// the skin.
fn bound(node: Value, primitive: Value, weights: [f64; 4], joints: [f64; 4]) -> Scene {
    let mut scene = Scene::new();
    let points = scene.floats(&POINTS[..3]);
    let joints = scene.accessor(5121, false, &[joints; 3]);
    let weights = scene.floats(&[weights; 3]);
    let mut attributes = json!({"POSITION": points, "JOINTS_0": joints, "WEIGHTS_0": weights});
    if primitive["rigid"] == json!(true) {
        attributes = json!({"POSITION": points});
    }
    scene.push(
        "meshes",
        json!({"primitives": [{"attributes": attributes}]}),
    );
    scene.document["skins"] = json!([{"joints": [1]}]);
    let mut mesh = json!({"mesh": 0, "skin": 0, "translation": [50, 0, 0]});
    mesh.as_object_mut()
        .unwrap()
        .extend(node.as_object().unwrap().clone());
    scene.document["nodes"] = json!([mesh, {"scale": [2, 2, -2]}]);
    scene
}

#[test]
fn odd_skins_are_read_with_a_warning_or_refused() {
    let twice = POINTS.map(|[x, y, z]| [2.0 * x, 2.0 * y, -2.0 * z]);
    // A mirroring joint flips the triangle.
    let turned = [twice[0], twice[2], twice[1]];
    let shifted = POINTS.map(|[x, y, z]| [x + 50.0, y, z]);
    let whole = [1.0, 0.0, 0.0, 0.0];
    let plain = bound(json!({}), json!({}), whole, [0.0; 4]).read();
    assert_corners(&plain.mesh, &turned, "mirrored");
    assert_eq!(codes(&plain), []);
    // A joint that does not exist has no weight.
    let unused = bound(json!({}), json!({}), whole, [0.0, 9.0, 200.0, 0.0]).read();
    assert_corners(&unused.mesh, &turned, "unused");
    // All weights are zero.
    let none = bound(json!({}), json!({}), [0.0; 4], [0.0; 4]).read();
    assert_corners(&none.mesh, &turned, "without weights");
    assert_eq!(codes(&none), [Code::S108]);
    let rigid = bound(json!({}), json!({"rigid": true}), whole, [0.0; 4]).read();
    assert_corners(&rigid.mesh, &shifted[..3], "without joints");
    assert_eq!(codes(&rigid), [Code::S108]);
    // A mesh with joints at a node without a skin.
    let mut without = bound(json!({}), json!({}), whole, [0.0; 4]);
    without.document["nodes"][0]
        .as_object_mut()
        .unwrap()
        .remove("skin");
    assert_corners(&without.read().mesh, &shifted[..3], "without skin");
    assert_eq!(codes(&without.read()), []);
    let mut seen = 0;
    for (scene, code, says) in [
        (
            bound(json!({"skin": 4}), json!({}), whole, [0.0; 4]),
            Code::S012,
            "skins[4]",
        ),
        (
            bound(json!({}), json!({}), whole, [3.0; 4]),
            Code::S012,
            "joint 3, and its skin has 1 joints",
        ),
        (
            {
                let mut scene = bound(json!({}), json!({}), whole, [0.0; 4]);
                scene.document["skins"][0]["joints"] = json!([7]);
                scene
            },
            Code::S012,
            "nodes[7]",
        ),
        (
            {
                let mut scene = bound(json!({}), json!({}), whole, [0.0; 4]);
                let matrices = scene.floats(&[[2.0; 16]]);
                scene.document["skins"][0]["inverseBindMatrices"] = json!(matrices);
                scene
            },
            Code::S006,
            "inverse bind matrix 0 is not affine",
        ),
        (
            {
                let mut scene = bound(json!({}), json!({}), whole, [0.0; 4]);
                let matrices =
                    scene.floats(&[columns(&placing([0.0; 3], [0.0, 0.0, 0.0, 1.0], [1.0; 3]))]);
                scene.document["skins"][0] =
                    json!({"joints": [1, 1], "inverseBindMatrices": matrices});
                scene
            },
            Code::S006,
            "1 inverse bind matrices of 2 joints",
        ),
    ] {
        let options = ReadOptions::default();
        let error = read_stream(&mut &scene.file()[..], "-", &options)
            .map(|loaded| loaded.mesh)
            .expect_err(says);
        assert!(
            error.code() == code && error.message().contains(says),
            "{says}\n{error}"
        );
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn morph_targets_have_their_default_weights() {
    let [a, b] = [[10.0, 0.5, 0.0], [0.0, -1.0, 4.0]];
    let moved = |wa: f64, wb: f64| -> Vec<[f64; 3]> {
        let shares = |n: usize| {
            if n.is_multiple_of(2) {
                [wa, wb]
            } else {
                [wa, 0.0]
            }
        };
        (0..6)
            .map(|n| {
                std::array::from_fn(|k| POINTS[n][k] + shares(n)[0] * a[k] + shares(n)[1] * b[k])
            })
            .collect()
    };
    let mut seen = 0;
    for (of_mesh, of_node, weights) in [
        (json!(null), json!(null), [0.0, 0.0]),
        (json!([1, 0]), json!(null), [1.0, 0.0]),
        (json!([0.25, -2]), json!(null), [0.25, -2.0]),
        (json!(null), json!([0.5, 1]), [0.5, 1.0]),
        (json!([1, 1]), json!([0, 0.5]), [0.0, 0.5]),
        (json!([1, 1]), json!([0, 0]), [0.0, 0.0]),
        (json!([0, 0]), json!(null), [0.0, 0.0]),
        // Weights of missing targets, and targets without weights.
        (json!([1, 1, 9, 9]), json!(null), [1.0, 1.0]),
        (json!([1]), json!(null), [1.0, 0.0]),
    ] {
        let about = format!("{of_mesh} {of_node}");
        let mut scene = Scene::new();
        let points = scene.floats(&POINTS);
        let all = scene.floats(&[a; 6]);
        // The second target moves only every second vertex.
        let indices = scene.view(&[0, 2, 4]);
        let bytes: Vec<u8> = [b; 3]
            .as_flattened()
            .iter()
            .flat_map(|n| (*n as f32).to_le_bytes())
            .collect();
        let values = scene.view(&bytes);
        let some = scene.push(
            "accessors",
            json!({"componentType": 5126, "type": "VEC3", "count": 6, "sparse": {
                "count": 3, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}}}),
        );
        let targets = json!([{"POSITION": all}, {"POSITION": some, "NORMAL": all}]);
        let mut mesh =
            json!({"primitives": [{"attributes": {"POSITION": points}, "targets": targets}]});
        let mut node = json!({"mesh": 0, "translation": [0, 0, 100]});
        if !of_mesh.is_null() {
            mesh["weights"] = of_mesh;
        }
        if !of_node.is_null() {
            node["weights"] = of_node;
        }
        scene.push("meshes", mesh);
        scene.push("nodes", node);
        let loaded = scene.read();
        let expected: Vec<_> = moved(weights[0], weights[1])
            .iter()
            .map(|[x, y, z]| [*x, *y, z + 100.0])
            .collect();
        assert_corners(&loaded.mesh, &expected, &about);
        assert_eq!(codes(&loaded), [], "{about}");
        seen += 1;
    }
    assert_eq!(seen, 9);
    // Normalized bytes, then bound to a joint: targets move the mesh before its skin does.
    let mut scene = bound(
        json!({"weights": [0.5]}),
        json!({}),
        [1.0, 0.0, 0.0, 0.0],
        [0.0; 4],
    );
    let shares = scene.accessor(
        5122,
        true,
        &[[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
    );
    scene.document["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": shares}]);
    scene.document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let expected = [[1.0, 0.0, 1.0], [1.0, 5.0, -1.0], [2.0, 1.0, 0.0]];
    assert_corners(&scene.read().mesh, &expected, "both");
    // A target with another number of vertices.
    let few = scene.floats(&POINTS[..2]);
    scene.document["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": few}]);
    let error = read_stream(&mut &scene.file()[..], "-", &ReadOptions::default()).unwrap_err();
    assert!(
        error
            .message()
            .contains("target 0: POSITION of 2 vertices, not 3"),
        "{error}"
    );
    // A target without positions moves nothing.
    scene.document["meshes"][0]["primitives"][0]["targets"] = json!([{"NORMAL": few}]);
    assert_eq!(codes(&scene.read()), []);
}

/// Returns two triangles, one of which is placed by these nodes.
fn placed(nodes: Value) -> Scene {
    let mut scene = Scene::new();
    for count in [3, 6] {
        let points = scene.floats(&POINTS[..count]);
        scene.push(
            "meshes",
            json!({"primitives": [{"attributes": {"POSITION": points}}]}),
        );
    }
    scene.document["nodes"] = nodes;
    scene
}

#[test]
fn hidden_and_unplaced_parts_are_omitted_with_a_warning() {
    let hidden = || json!({"KHR_node_visibility": {"visible": false}});
    let shown = || json!({"KHR_node_visibility": {"visible": true}});
    let mut seen = 0;
    for (nodes, triangles, found) in [
        (json!([{"mesh": 0}, {"mesh": 1}]), 3, vec![]),
        (
            json!([{"mesh": 0}, {"mesh": 1, "extensions": shown()}]),
            3,
            vec![],
        ),
        (
            json!([{"mesh": 0}, {"mesh": 1, "extensions": {"KHR_node_visibility": {}}}]),
            3,
            vec![],
        ),
        (
            json!([{"mesh": 0}, {"mesh": 1, "extensions": hidden()}]),
            1,
            vec![(Code::S120, "1 mesh with 2 triangles")],
        ),
        // A hidden node hides all its descendants, whatever they state.
        (
            json!([{"children": [1], "extensions": hidden()}, {"mesh": 0, "children": [2], "extensions": shown()}, {"mesh": 1}, {"mesh": 0}]),
            1,
            vec![(Code::S120, "2 meshes with 3 triangles")],
        ),
        // A hidden node without triangles is not reported.
        (
            json!([{"mesh": 0}, {"mesh": 1}, {"camera": 0, "extensions": hidden()}]),
            3,
            vec![],
        ),
        (
            json!([{"mesh": 0}]),
            1,
            vec![(Code::S121, "places 1 mesh with 2 triangles")],
        ),
        (
            json!([]),
            0,
            vec![(Code::S121, "places 2 meshes with 3 triangles")],
        ),
        (
            json!([{"mesh": 0, "extensions": hidden()}]),
            0,
            vec![
                (Code::S120, "1 mesh with 1 triangle,"),
                (Code::S121, "places 1 mesh with 2 triangles"),
            ],
        ),
    ] {
        for is_required in [false, true] {
            let mut scene = placed(nodes.clone());
            let list = if is_required {
                "extensionsRequired"
            } else {
                "extensionsUsed"
            };
            scene.document[list] = json!(["KHR_node_visibility"]);
            let loaded = scene.read();
            assert_eq!(loaded.mesh.triangles().len(), triangles, "{nodes}");
            assert_eq!(
                loaded.findings.len(),
                found.len(),
                "{nodes}: {:?}",
                loaded.findings
            );
            for (finding, (code, says)) in loaded.findings.iter().zip(&found) {
                assert_eq!(finding.code(), *code, "{nodes}");
                assert_eq!(finding.severity.name(), "warning");
                assert!(finding.text().contains(says), "{says}: {}", finding.text());
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 18);
    // A mesh of another scene is not reported, unless the default scene is empty.
    let mut scenes = placed(json!([{"mesh": 0}, {"mesh": 1}]));
    scenes.document["scenes"] = json!([{"nodes": [1]}, {"nodes": [0]}]);
    assert_eq!(
        (scenes.read().mesh.triangles().len(), codes(&scenes.read())),
        (2, vec![])
    );
    scenes.document["scenes"] = json!([{}, {"nodes": [0, 1]}]);
    assert_eq!(
        (scenes.read().mesh.triangles().len(), codes(&scenes.read())),
        (0, vec![Code::S121])
    );
}

#[test]
fn animations_are_not_played_but_reported() {
    const MOVED: [f64; 3] = [7.0, 0.0, 0.0];
    const STILL: [f64; 3] = [1.0, 2.0, 3.0];
    let animated = |mut scene: Scene, of: &[(u32, &str)], first: &[f64], interpolation: &str| {
        let mut animations = vec![];
        for (node, path) in of {
            let keys: Vec<[f64; 1]> = first.iter().map(|n| [*n]).collect();
            let output = match *path {
                "weights" => scene.floats(&keys),
                "rotation" => scene.floats(&[<[f64; 4]>::try_from(first).unwrap()]),
                _ => scene.floats(first.as_chunks::<3>().0),
            };
            animations.push(json!({
                "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
                "samplers": [{"input": output, "output": output, "interpolation": interpolation}],
            }));
        }
        scene.document["animations"] = json!(animations);
        scene.read()
    };
    let mut seen = 0;
    for (of, first, interpolation, found) in [
        (&[][..], &[][..], "LINEAR", 0),
        (&[(0, "translation")], &MOVED, "LINEAR", 1),
        (&[(0, "translation")], &STILL, "LINEAR", 0),
        (&[(0, "translation")], &[1.000_001, 2.0, 3.0], "STEP", 0),
        // A tangent comes first.
        (
            &[(0, "translation")],
            &[9.0, 9.0, 9.0, 1.0, 2.0, 3.0],
            "CUBICSPLINE",
            0,
        ),
        (
            &[(0, "translation")],
            &[1.0, 2.0, 3.0, 9.0, 9.0, 9.0],
            "CUBICSPLINE",
            1,
        ),
        // Empty animation data.
        (&[(0, "translation")], &[], "LINEAR", 1),
        // Ancestors of the mesh node.
        (
            &[(1, "translation"), (3, "scale"), (1, "scale")],
            &MOVED,
            "LINEAR",
            3,
        ),
        (&[(1, "scale")], &[1.0; 3], "LINEAR", 0),
        (&[(1, "rotation")], &[0.0, 0.0, 0.0, -1.0], "LINEAR", 0),
        (&[(1, "rotation")], &[0.0, 0.0, HALF, HALF], "LINEAR", 1),
        (&[(0, "weights")], &[0.0, 0.5], "LINEAR", 0),
        (&[(0, "weights")], &[0.5, 0.5], "LINEAR", 1),
        // Animations of a camera, of weights elsewhere, and of nothing.
        (
            &[
                (2, "translation"),
                (1, "weights"),
                (0, "pointer"),
                (9, "scale"),
            ],
            &MOVED,
            "LINEAR",
            0,
        ),
    ] {
        let mut scene = placed(json!([
            {"mesh": 1, "translation": STILL, "weights": [0, 0.5]}, {"children": [0]}, {"camera": 0}, {"mesh": 0},
        ]));
        scene.document["meshes"][1]["primitives"][0]["targets"] = json!([{}, {}]);
        let loaded = animated(scene, of, first, interpolation);
        assert_eq!(
            codes(&loaded),
            vec![Code::S108; usize::from(found > 0)],
            "{of:?} {first:?}"
        );
        if found > 0 {
            let text = loaded.findings[0].text();
            assert!(text.contains(&format!("{found} animation")), "{text}");
        }
        assert_eq!(loaded.mesh.triangles().len(), 3);
        seen += 1;
    }
    assert_eq!(seen, 14);
    // Animating the node of a skinned mesh moves nothing. Animating its joints and their ancestors does.
    for (node, found) in [(0, 0), (1, 1), (2, 1)] {
        let mut scene = bound(json!({}), json!({}), [1.0, 0.0, 0.0, 0.0], [0.0; 4]);
        scene.document["nodes"]
            .as_array_mut()
            .unwrap()
            .push(json!({"children": [1]}));
        let loaded = animated(scene, &[(node, "translation")], &MOVED, "LINEAR");
        assert_eq!(codes(&loaded).len(), found, "{node}");
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
    let still = [[0.0, 0.0, 0.0, 1.0]; 3];
    let mut seen = 0;
    for (has_turns, has_scales) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut scene = Scene::new();
        let points = scene.floats(&POINTS[..3]);
        scene.push(
            "meshes",
            json!({"primitives": [{"attributes": {"POSITION": points}}]}),
        );
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
            let turn = if has_turns { turns[n] } else { still[n] };
            let scale = if has_scales { scales[n] } else { [1.0; 3] };
            let map = product(&above, &placing(shifts[n], turn, scale));
            expected.extend(
                POINTS[..3]
                    .iter()
                    .map(|point| skinned(*point, &[(map, 1.0)])),
            );
        }
        for required in [json!([]), json!(["EXT_mesh_gpu_instancing"])] {
            scene.document["extensionsRequired"] = required;
            let mesh = scene.read().mesh;
            let corners = mesh.triangles().as_flattened();
            assert_eq!(corners.len(), 9);
            for (found, expected) in corners.iter().zip(&expected) {
                // The half turn is stored as floats.
                assert!(
                    (0..3).all(|n| (f64::from(found[n]) - expected[n]).abs() < 1.0e-5),
                    "{found:?} {expected:?}"
                );
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
    let mut scene =
        placed(json!([{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {}}}}]));
    assert!(read_stream(&mut &scene.file()[..], "-", &ReadOptions::default()).is_err());
    let few = scene.floats(&POINTS[..2]);
    let attributes = json!({"TRANSLATION": 0, "SCALE": few});
    scene.document["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = attributes;
    let error = read_stream(&mut &scene.file()[..], "-", &ReadOptions::default()).unwrap_err();
    assert!(
        error.message().contains("3 of one attribute, 2 of another"),
        "{error}"
    );
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
    scene.push("meshes", json!({"primitives": [primitive]}));
    scene.push("nodes", json!({"mesh": 0}));
    let loaded = scene.read();
    assert_eq!(codes(&loaded), []);
    loaded
        .mesh
        .triangles()
        .iter()
        .map(|triangle| triangle.map(|[x, ..]| x as u32))
        .collect()
}

#[test]
fn triangles_that_join_strips_are_left_out() {
    let mut seen = 0;
    for (mode, indices, expected) in [
        (5, &[0, 1, 2, 3][..], &[[0, 1, 2], [2, 1, 3]][..]),
        // The second strip starts after an even number of corners, so its orientation is that of a separate
        // strip.
        (
            5,
            &[0, 1, 2, 3, 3, 4, 4, 5, 6, 7],
            &[[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]],
        ),
        // After an odd number, one more corner is repeated.
        (5, &[0, 1, 2, 2, 4, 4, 5, 6], &[[0, 1, 2], [5, 4, 6]]),
        (5, &[0, 1, 2, 2, 4, 4, 4, 5, 6], &[[0, 1, 2], [4, 5, 6]]),
        // A swap inside a strip.
        (5, &[0, 1, 2, 1, 3], &[[0, 1, 2], [2, 1, 3]]),
        (5, &[0, 0, 0, 0], &[]),
        (5, &[0, 1], &[]),
        (5, &[], &[]),
        (6, &[0, 1, 2, 3], &[[0, 1, 2], [0, 2, 3]]),
        (
            6,
            &[0, 1, 2, 2, 3, 0, 4, 5],
            &[[0, 1, 2], [0, 2, 3], [0, 4, 5]],
        ),
        // In a list, repeated vertices are intended by the author.
        (
            4,
            &[0, 1, 1, 2, 2, 2, 3, 4, 5],
            &[[0, 1, 1], [2, 2, 2], [3, 4, 5]],
        ),
    ] {
        for listed in [true, false] {
            let mut found = triangles(mode, indices, listed);
            let mut expected = expected.to_vec();
            // The orientation matters, not the first corner.
            for triangle in found.iter_mut().chain(&mut expected) {
                let least = (0..3).min_by_key(|n| triangle[*n]).unwrap();
                triangle.rotate_left(least);
            }
            assert_eq!(found, expected, "{mode} {indices:?} {listed}");
            seen += 1;
        }
    }
    assert_eq!(seen, 22);
}

#[test]
fn compressed_views_have_a_fallback() {
    let mut scene = placed(json!([{"mesh": 0}, {"mesh": 1}]));
    let plain = scene.read().mesh;
    let mut seen = 0;
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
            let error = read_stream(
                &mut &glb(&document, &[0; 4])[..],
                "-",
                &ReadOptions::default(),
            )
            .unwrap_err();
            assert_eq!(error.code(), Code::S009, "{list}");
            assert!(
                error.message().contains(name)
                    && error.hint().unwrap().to_string().contains("gltfpack"),
                "{error}"
            );
            document["buffers"][1]["uri"] = json!(bytes);
            assert!(
                read(&glb(&document, &[0; 4]), Tolerance::Strict).mesh == plain,
                "{list}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
    // Unaligned views are also read.
    scene.document["asset"]["version"] = json!("2");
    assert!(scene.read().mesh == plain);
}

#[test]
fn versions_padding_and_strides_of_old_exporters_are_read() {
    let scene = placed(json!([{"mesh": 0}, {"mesh": 1}]));
    let plain = scene.read().mesh;
    let mut seen = 0;
    for version in [json!("2"), json!("2.0"), json!("2.1"), json!(2), json!(2.0)] {
        let mut scene = placed(json!([{"mesh": 0}, {"mesh": 1}]));
        scene.document["asset"]["version"] = version;
        // Views without gaps.
        for view in scene.document["bufferViews"].as_array_mut().unwrap() {
            view["byteStride"] = json!(0);
        }
        assert!(scene.read().mesh == plain);
        seen += 1;
    }
    assert_eq!(seen, 5);
    for version in [json!("1.0"), json!("20"), json!("3"), json!(1)] {
        let mut scene = placed(json!([{"mesh": 0}, {"mesh": 1}]));
        scene.document["asset"]["version"] = version.clone();
        let error = read_stream(&mut &scene.file()[..], "-", &ReadOptions::default()).unwrap_err();
        assert!(
            error.code() == Code::S009 && error.message().contains("glTF 2.0 is read"),
            "{version}: {error}"
        );
    }
    // The JSON is padded with zeros.
    let mut file = scene.file();
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
    assert!(read(&file, Tolerance::Strict).mesh == plain);
}

#[test]
fn counts_that_no_bytes_vouch_for_are_refused() {
    let mut seen = 0;
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
                let mut scene = bound(json!({}), json!({}), [1.0, 0.0, 0.0, 0.0], [0.0; 4]);
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
                let primitive = &mut scene.document["meshes"][0]["primitives"][0];
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
                    assert!(
                        [Code::S003, Code::S006].contains(&error.code()),
                        "{attribute} {count} {stride}: {error}"
                    );
                }
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 7 * 5 * 5);
}
