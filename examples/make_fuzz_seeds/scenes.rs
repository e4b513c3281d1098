//! Seeds of glTF: JSON, a zero byte, and a buffer.

use serde_json::{Value, json};

use super::Seeds;

/// Returns small scenes of every kind of primitive, accessor and transform, sound and odd.
pub fn files() -> Seeds {
    let points: Vec<u8> = [
        [0.0_f32, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 2.0],
    ]
    .iter()
    .flatten()
    .flat_map(|c| c.to_le_bytes())
    .collect();
    let buffer = [
        &[0][..],
        &[0; 3],
        &points,
        &[0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2],
    ]
    .concat();
    let scene = |nodes: Value, primitive: Value, accessor: Value| {
        let document = json!({
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": [0]}],
            "nodes": nodes,
            "meshes": [{"primitives": [primitive]}],
            "materials": [{"name": "m"}],
            "accessors": [
                accessor,
                {"bufferView": 1, "componentType": 5121, "type": "SCALAR", "count": 12},
            ],
            "bufferViews": [
                {"buffer": 0, "byteOffset": 4, "byteLength": 48},
                {"buffer": 0, "byteOffset": 52, "byteLength": 12},
            ],
            "buffers": [{"byteLength": 64}],
        });
        [document.to_string().as_bytes(), &buffer].concat()
    };
    let node = || json!([{"mesh": 0}]);
    let indexed = || json!({"attributes": {"POSITION": 0}, "indices": 1, "material": 0});
    let mode = |mode: u32| json!({"attributes": {"POSITION": 0}, "mode": mode});
    let floats = || json!({"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4});
    let nested = json!([
        {"children": [1, 2], "scale": [-1, 2, 1]},
        {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]},
        {"mesh": 0, "rotation": [0, 0, 1, 1], "translation": [1, 2, 3], "name": "turned"},
    ]);
    let bytes = json!({"bufferView": 0, "componentType": 5120, "normalized": true, "type": "VEC3", "count": 16});
    let sparse = json!({
        "componentType": 5126, "type": "VEC3", "count": 4,
        "sparse": {"count": 2, "indices": {"bufferView": 1, "componentType": 5121}, "values": {"bufferView": 0}},
    });
    let circle = json!([{"mesh": 0, "children": [0]}]);
    let embedded = json!({
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [mode(4)]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": format!("data:;base64,{}", "AAAA".repeat(12))}],
    });
    // The bytes of the corners are also used as joints and weights, mostly invalid ones, and as a target.
    let posed = |node: Value, weights: Value| {
        let document = json!({
            "asset": {"version": "2.0"},
            "nodes": [node, {"scale": [2, 1, -1], "children": [2]}, {"translation": [1, 2, 3]}],
            "skins": [{"joints": [1, 2], "inverseBindMatrices": 4}],
            "animations": [{
                "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
                "samplers": [{"input": 0, "output": 0}],
            }],
            "meshes": [{"weights": weights, "primitives": [{
                "attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3, "COLOR_0": 0},
                "indices": 1, "targets": [{"POSITION": 0}, {"POSITION": 5}],
            }]}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4},
                {"bufferView": 1, "componentType": 5121, "type": "SCALAR", "count": 12},
                {"componentType": 5121, "type": "VEC4", "count": 4},
                {"bufferView": 0, "componentType": 5121, "normalized": true, "type": "VEC4", "count": 4},
                {"componentType": 5126, "type": "MAT4", "count": 2, "sparse": {
                    "count": 2, "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 3}}},
                {"componentType": 5126, "type": "VEC3", "count": 4, "sparse": {
                    "count": 2, "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 0}}},
            ],
            "bufferViews": [
                {"buffer": 0, "byteOffset": 4, "byteLength": 48},
                {"buffer": 0, "byteOffset": 52, "byteLength": 12},
                {"buffer": 0, "byteOffset": 64, "byteLength": 2},
                {"buffer": 0, "byteOffset": 68, "byteLength": 128},
            ],
            "buffers": [{"byteLength": 196}],
        });
        let diagonal = |n: usize| if n.is_multiple_of(5) { 1.0_f32 } else { 0.0 };
        let matrices: Vec<u8> = (0..32)
            .flat_map(|n| diagonal(n % 16).to_le_bytes())
            .collect();
        [
            document.to_string().as_bytes(),
            &buffer,
            &[0, 1, 0, 0],
            &matrices,
        ]
        .concat()
    };
    let hidden = json!([
        {"children": [1, 2], "extensions": {"KHR_node_visibility": {"visible": false}}}, {"mesh": 0}, {"mesh": 0},
    ]);
    let instances = json!([
        {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0, "SCALE": 0}}}},
    ]);
    let joined = json!({"attributes": {"POSITION": 0}, "indices": 1, "mode": 5});
    let percent = json!({
        "asset": {"version": "2"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [mode(4)]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3}],
        "bufferViews": [{"buffer": 0, "byteLength": 36, "extensions": {"EXT_meshopt_compression": {"buffer": 1}}}],
        "buffers": [{"byteLength": 36, "uri": format!("DATA:text/plain,{}", "%00%80%3fA".repeat(9))}],
    });
    let seeds = [
        (
            "skin",
            posed(json!({"mesh": 0, "skin": 0}), json!([0.5, 1])),
        ),
        (
            "morph",
            posed(json!({"mesh": 0, "weights": [1, 0.25]}), json!([])),
        ),
        ("hidden", scene(hidden, indexed(), floats())),
        ("instances", scene(instances, indexed(), floats())),
        ("joined", scene(node(), joined, floats())),
        ("percent", percent.to_string().into_bytes()),
        ("indexed", scene(node(), indexed(), floats())),
        ("strip", scene(node(), mode(5), floats())),
        ("fan", scene(node(), mode(6), floats())),
        ("lines", scene(node(), mode(1), floats())),
        ("nested", scene(nested, indexed(), floats())),
        ("bytes", scene(node(), mode(5), bytes)),
        ("sparse", scene(node(), indexed(), sparse)),
        ("circle", scene(circle, indexed(), floats())),
        ("embedded", embedded.to_string().into_bytes()),
    ];
    seeds.map(|(name, bytes)| (name.to_string(), bytes)).into()
}
