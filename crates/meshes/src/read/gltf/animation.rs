//! Animations. They are never played. A warning states the number of animations whose first frame differs
//! from the static scene.

use super::accessor::Accessor;
use super::buffers::Buffers;
use super::document::GltfObject;
use super::node::{self, PlacedNode};
use crate::read::ReadOptions;
use crate::read::indexed::Indexed;
use crate::read::triage::Triage;
use voxelize_core::error::{Code, Error, Result};

/// Warns if animations start with a pose that differs from the pose in the mesh.
pub(super) fn note(
    buffers: &Buffers,
    nodes: &[PlacedNode],
    indexed: &Indexed,
    triage: &Triage,
    options: &ReadOptions,
) -> Result<()> {
    let document = buffers.document;
    let count = document.count("animations");
    if count == 0 {
        return Ok(());
    }
    let moving = moving(buffers, nodes)?;
    let mut others = 0;
    for n in 0..count {
        let animation = document.get("animations", n)?;
        for channel in animation.each("channels") {
            options.progress.check()?;
            if is_other_pose(&animation, &channel, &moving, buffers, indexed) {
                others += 1;
                break;
            }
        }
    }
    if others == 0 {
        return Ok(());
    }
    let subject = if others == 1 {
        "1 animation is".into()
    } else {
        format!("{others} animations are")
    };
    let text =
        format!("{subject} not played: the mesh stands as its nodes and default weights place it");
    triage.found(Error::input(Code::S108, text).about("animations"))
}

/// Properties of a node whose animation moves triangles of the scene: its placement (`by_place`) and its
/// morph weights (`by_weights`).
#[derive(Clone, Copy, Default)]
struct Moving {
    by_place: bool,
    by_weights: bool,
}

/// Returns, for each node of the document, the properties that move triangles of the scene.
fn moving(buffers: &Buffers, nodes: &[PlacedNode]) -> Result<Vec<Moving>> {
    let document = buffers.document;
    let mut moving = vec![Moving::default(); document.count("nodes") as usize];
    let mut skins = vec![false; document.count("skins") as usize];
    for node in nodes {
        if !node.is_visible || node.object.inner("mesh").is_none() {
            continue;
        }
        let index = node.object.index() as usize;
        moving[index].by_weights = true;
        let Some(skin) = node.object.whole("skin")? else {
            moving[index].by_place = true;
            continue;
        };
        let skin = document.get("skins", skin)?;
        if std::mem::replace(&mut skins[skin.index() as usize], true) {
            continue;
        }
        for joint in skin.each("joints") {
            let joint = document.get("nodes", joint.as_whole("joints")?)?;
            moving[joint.index() as usize].by_place = true;
        }
    }
    // Joints may be in no scene, so ancestors are found in the whole document.
    let parents = node::parents(buffers)?;
    for node in 0..moving.len() {
        if !moving[node].by_place {
            continue;
        }
        let mut above = parents[node];
        while let Some(parent) = above.filter(|parent| !moving[*parent as usize].by_place) {
            moving[parent as usize].by_place = true;
            above = parents[parent as usize];
        }
    }
    Ok(moving)
}

/// Returns whether the channel moves triangles and its first key differs from the static scene. A key that
/// cannot be read counts as different.
fn is_other_pose(
    animation: &GltfObject,
    channel: &GltfObject,
    moving: &[Moving],
    buffers: &Buffers,
    indexed: &Indexed,
) -> bool {
    let Some(target) = channel.inner("target") else {
        return false;
    };
    let Some(index) = target.whole("node").ok().flatten() else {
        return false;
    };
    let Some(of) = moving.get(index as usize) else {
        return false;
    };
    let path = target.text("path").unwrap_or_default();
    let moves = match path {
        "weights" => of.by_weights,
        "translation" | "rotation" | "scale" => of.by_place,
        _ => false,
    };
    if !moves {
        return false;
    }
    let same = is_same(animation, channel, path, index, buffers, indexed);
    !same.ok().flatten().unwrap_or(false)
}

/// Returns whether the first key of a channel is equal to the value of the node. `None` if there is
/// no key.
fn is_same(
    animation: &GltfObject,
    channel: &GltfObject,
    path: &str,
    node: u64,
    buffers: &Buffers,
    indexed: &Indexed,
) -> Result<Option<bool>> {
    let node = buffers.document.get("nodes", node)?;
    let Some(sampler) = animation.element("samplers", channel.needed("sampler")? as usize) else {
        return Ok(None);
    };
    let output = sampler.needed("output")?;
    // A key of a cubic spline begins with a tangent, followed by its value.
    let first = if sampler.text("interpolation") == Some("CUBICSPLINE") {
        1
    } else {
        0
    };
    let admit = |more| indexed.admit(more);
    if path == "weights" {
        let keys = Accessor::<1>::new(buffers, output, &admit)?;
        let mesh = buffers.document.get("meshes", node.needed("mesh")?)?;
        let of = if node.inner("weights").is_some() {
            node
        } else {
            mesh
        };
        let count = mesh
            .element("primitives", 0)
            .map_or(0, |primitive| primitive.length("targets"));
        for n in 0..count {
            let place = (first * count + n) as u64;
            if place >= keys.count {
                return Ok(None);
            }
            let weight = of
                .element("weights", n)
                .and_then(|weight| weight.as_number())
                .unwrap_or(0.0);
            if !is_near(&keys.at(place), &[weight], keys.rounding()) {
                return Ok(Some(false));
            }
        }
        return Ok(Some(true));
    }
    if node.inner("matrix").is_some() {
        return Ok(None);
    }
    let first = first as u64;
    if path == "rotation" {
        let keys = Accessor::<4>::new(buffers, output, &admit)?;
        let still = node
            .numbers::<4>("rotation")?
            .unwrap_or([0.0, 0.0, 0.0, 1.0]);
        if first >= keys.count {
            return Ok(None);
        }
        // A quaternion and its negative are the same rotation.
        let key = keys.at(first);
        let negative = key.map(|number| -number);
        return Ok(Some(
            is_near(&key, &still, keys.rounding()) || is_near(&negative, &still, keys.rounding()),
        ));
    }
    let keys = Accessor::<3>::new(buffers, output, &admit)?;
    let default = if path == "scale" { [1.0; 3] } else { [0.0; 3] };
    let still = node.numbers::<3>(path)?.unwrap_or(default);
    if first >= keys.count {
        return Ok(None);
    }
    Ok(Some(is_near(&keys.at(first), &still, keys.rounding())))
}

/// Returns whether numbers are equal up to their rounding error when stored.
fn is_near(a: &[f64], b: &[f64], rounding: f64) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| (a - b).abs() <= rounding * b.abs().max(1.0))
}
