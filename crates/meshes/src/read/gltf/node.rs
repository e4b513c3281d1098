//! Nodes: the scene as a list of nodes, and the affine maps that place them.

use super::buffers::Buffers;
use super::document::GltfObject;
use crate::read::affine::Affine;
use voxelize_core::error::{Code, Result};
use voxelize_core::par::Progress;

/// Tolerance for rounding errors in the last row of a matrix, which should be 0 0 0 1.
const ROUNDING: f64 = 1e-5;

/// Node of the scene.
pub(super) struct PlacedNode<'a> {
    pub object: GltfObject<'a>,
    /// Map from the coordinates of the node to those of the scene.
    pub placed: Affine,
    /// Neither the node nor any of its ancestors is hidden.
    pub is_visible: bool,
}

/// Returns the affine map of a matrix of 16 numbers, stored by columns. `None` if its last row is not 0 0 0
/// 1, up to rounding errors.
pub(super) fn affine(m: &[f64; 16]) -> Option<Affine> {
    let is_last = [m[3], m[7], m[11], m[15] - 1.0]
        .iter()
        .all(|number| number.abs() <= ROUNDING);
    if !is_last {
        return None;
    }
    Some(Affine(
        [0, 1, 2].map(|row| [0, 4, 8, 12].map(|column| m[column + row])),
    ))
}

/// Returns the map from the coordinates of a node to those of its parent.
fn map_of(node: &GltfObject) -> Result<Affine> {
    if let Some(matrix) = node.numbers::<16>("matrix")? {
        return affine(&matrix).ok_or_else(|| node.error(Code::S006, "its matrix is not affine"));
    }
    let shift = node.numbers("translation")?.unwrap_or([0.0; 3]);
    let turn = node.numbers("rotation")?.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let scale = node.numbers("scale")?.unwrap_or([1.0; 3]);
    Ok(composed(shift, turn, scale))
}

/// Returns the map that scales, then rotates by a quaternion, then translates.
pub(super) fn composed(shift: [f64; 3], turn: [f64; 4], scale: [f64; 3]) -> Affine {
    let turn = rotation(turn);
    let row = |n: usize| {
        let [a, b, c] = [0, 1, 2].map(|column: usize| turn[n][column] * scale[column]);
        [a, b, c, shift[n]]
    };
    Affine([row(0), row(1), row(2)])
}

/// Returns the rotation matrix of a quaternion, which need not have length 1.
fn rotation([x, y, z, w]: [f64; 4]) -> [[f64; 3]; 3] {
    let square = x * x + y * y + z * z + w * w;
    let s = if square > 0.0 { 2.0 / square } else { 0.0 };
    [
        [
            1.0 - s * (y * y + z * z),
            s * (x * y - z * w),
            s * (x * z + y * w),
        ],
        [
            s * (x * y + z * w),
            1.0 - s * (x * x + z * z),
            s * (y * z - x * w),
        ],
        [
            s * (x * z - y * w),
            s * (y * z + x * w),
            1.0 - s * (x * x + y * y),
        ],
    ]
}

/// Returns the nodes of the scene. Every node comes after its parent.
pub(super) fn scene<'a>(
    buffers: &Buffers<'a>,
    progress: &dyn Progress,
) -> Result<Vec<PlacedNode<'a>>> {
    let document = buffers.document;
    let mut seen = vec![false; document.count("nodes") as usize];
    let mut scene: Vec<PlacedNode> = vec![];
    // The last element is visited next.
    let mut waiting: Vec<(u64, Option<usize>)> = vec![];
    waiting.extend(roots(buffers)?.into_iter().rev().map(|root| (root, None)));
    while let Some((index, parent)) = waiting.pop() {
        progress.check()?;
        let object = document.get("nodes", index)?;
        if std::mem::replace(&mut seen[index as usize], true) {
            return Err(object.error(Code::S006, "a node has two parents, or is its own ancestor"));
        }
        let (above, is_visible) = match parent {
            Some(parent) => (scene[parent].placed, scene[parent].is_visible),
            None => (Affine::IDENTITY, true),
        };
        let placed = above.after(&map_of(&object)?);
        let is_hidden = object
            .extension("KHR_node_visibility")
            .is_some_and(|all| all.denies("visible"));
        let number = scene.len();
        scene.push(PlacedNode {
            object,
            placed,
            is_visible: is_visible && !is_hidden,
        });
        for child in object.each("children").rev() {
            waiting.push((child.as_whole("children")?, Some(number)));
        }
    }
    Ok(scene)
}

/// Returns the root nodes of the scene.
fn roots(buffers: &Buffers) -> Result<Vec<u64>> {
    let document = buffers.document;
    if document.count("scenes") > 0 {
        let scene = document.get("scenes", document.scene()?)?;
        return scene
            .each("nodes")
            .map(|node| node.as_whole("nodes"))
            .collect();
    }
    let parents = parents(buffers)?;
    let is_root = |node: &u64| parents[*node as usize].is_none();
    Ok((0..parents.len() as u64).filter(is_root).collect())
}

/// Returns the parent of each node of the document, whatever scene it is in. `None` for a node without a
/// parent.
pub(super) fn parents(buffers: &Buffers) -> Result<Vec<Option<u64>>> {
    let document = buffers.document;
    let count = document.count("nodes");
    let mut parents = vec![None; count as usize];
    for node in 0..count {
        for child in document.get("nodes", node)?.each("children") {
            let child = child.as_whole("children")?;
            document.get("nodes", child)?;
            parents[child as usize] = Some(node);
        }
    }
    Ok(parents)
}

/// Returns the map of each node of the document to scene coordinates, by the index of the node. `None` for a
/// node that is its own ancestor.
pub(super) fn maps(buffers: &Buffers, progress: &dyn Progress) -> Result<Vec<Option<Affine>>> {
    let document = buffers.document;
    let parents = parents(buffers)?;
    let mut maps: Vec<Option<Affine>> = vec![None; parents.len()];
    let mut waiting: Vec<u64> = (0..parents.len() as u64)
        .filter(|node| parents[*node as usize].is_none())
        .collect();
    while let Some(index) = waiting.pop() {
        progress.check()?;
        let node = document.get("nodes", index)?;
        let above = parents[index as usize].and_then(|parent| maps[parent as usize]);
        maps[index as usize] = Some(above.unwrap_or(Affine::IDENTITY).after(&map_of(&node)?));
        for child in node.each("children") {
            let child = child.as_whole("children")?;
            // If a node has two parents, only one of them counts.
            if parents[child as usize] == Some(index) && maps[child as usize].is_none() {
                waiting.push(child);
            }
        }
    }
    Ok(maps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quaternions_turn() {
        let half = 0.5_f64.sqrt();
        for (quaternion, from, to) in [
            ([0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
            ([half, 0.0, 0.0, half], [1.0, 2.0, 3.0], [1.0, -3.0, 2.0]),
            ([0.0, 7.0, 0.0, 7.0], [1.0, 2.0, 3.0], [3.0, 2.0, -1.0]),
            ([0.0, 0.0, 1.0, 0.0], [1.0, 2.0, 3.0], [-1.0, -2.0, 3.0]),
        ] {
            let turn = rotation(quaternion);
            for (row, expected) in turn.iter().zip(to) {
                let found: f64 = row.iter().zip(from).map(|(a, b)| a * b).sum();
                assert!((found - expected).abs() < 1e-15, "{quaternion:?}");
            }
        }
    }

    #[test]
    fn matrices_are_affine_up_to_rounding() {
        let with = |at: usize, value: f64| {
            let mut matrix = [
                1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 5.0, 6.0, 7.0, 1.0,
            ];
            matrix[at] = value;
            affine(&matrix).map(|map| map.apply([1.0; 3]))
        };
        for (at, value) in [
            (15, 1.0),
            (15, 0.999_999_94),
            (15, 1.000_000_2),
            (3, -1.2e-7),
            (7, 1e-6),
            (11, 4e-9),
        ] {
            assert_eq!(with(at, value), Some([6.0, 8.0, 10.0]), "{at} {value}");
        }
        for (at, value) in [
            (15, 0.5),
            (15, 0.0),
            (15, -1.0),
            (3, 0.001),
            (11, 1.0),
            (7, f64::NAN),
        ] {
            assert_eq!(with(at, value), None, "{at} {value}");
        }
    }
}
