//! Conversion of a scene to triangles: adds the mesh of every visible node, in its static pose.

use std::collections::HashMap;
use std::rc::Rc;

use super::accessor::Accessor;
use super::animation;
use super::buffers::Buffers;
use super::document::GltfObject;
use super::material::Materials;
use super::node::{self, PlacedNode, composed};
use super::pose::{self, Skins};
use super::primitive::{self, Pose, Primitive};
use crate::read::ReadOptions;
use crate::read::affine::Affine;
use crate::read::indexed::Indexed;
use crate::read::triage::Triage;
use voxelize_core::error::{Code, Error, Result};

/// Adds the triangles of all visible nodes of the scene.
pub(super) fn add(
    buffers: &Buffers,
    indexed: &mut Indexed,
    triage: &Triage,
    options: &ReadOptions,
) -> Result<()> {
    let nodes = node::scene(buffers, options.progress)?;
    indexed.hold((size_of::<PlacedNode>() * nodes.len()) as u64)?;
    let mut meshes = Meshes {
        buffers,
        triage,
        known: HashMap::new(),
    };
    let mut materials = Materials::new(buffers, options);
    let mut skins = Skins::new(buffers, options.progress);
    let mut hidden = Hidden::default();
    for node in &nodes {
        options.progress.check()?;
        let Some(index) = node.object.whole("mesh")? else {
            continue;
        };
        let mesh = meshes.get(index)?;
        if !node.is_visible {
            hidden.nodes += 1;
            hidden.triangles = hidden.triangles.saturating_add(mesh.triangles);
            continue;
        }
        let object = mesh.object;
        let name = if node.object.name().is_empty() {
            object.name()
        } else {
            node.object.name()
        };
        indexed.begin_instance(name.to_string())?;
        let own_weights;
        let weights = if node.object.inner("weights").is_some() {
            own_weights = pose::weights(&node.object, &object)?;
            &own_weights
        } else {
            &mesh.weights
        };
        for pose in poses(node, buffers, &mut skins, indexed)? {
            for (primitive, mode) in &mesh.primitives {
                options.progress.check()?;
                let material = materials.of(primitive, indexed)?;
                let primitive = Primitive {
                    buffers,
                    triage,
                    object: *primitive,
                    pose: &pose,
                    weights,
                    material,
                };
                primitive.add(*mode, indexed)?;
            }
        }
    }
    hidden.note(triage)?;
    animation::note(buffers, &nodes, indexed, triage, options)?;
    indexed.hold(buffers.held.take())?;
    note_unplaced(buffers, &mut meshes, indexed.triangles.is_empty(), triage)
}

/// Mesh that nodes may place.
struct GltfMesh<'a> {
    object: GltfObject<'a>,
    /// Primitives that have triangles, and their modes.
    primitives: Vec<(GltfObject<'a>, u64)>,
    /// Number of triangles of all primitives, as far as their accessors state it.
    triangles: u64,
    /// Indices and default weights of the morph targets that displace the mesh.
    weights: Vec<(usize, f64)>,
}

/// Meshes by index, read when a node first needs them.
struct Meshes<'a> {
    buffers: &'a Buffers<'a>,
    triage: &'a Triage,
    known: HashMap<u64, Rc<GltfMesh<'a>>>,
}

impl<'a> Meshes<'a> {
    /// Returns the mesh with this index. Points and lines in it are reported only once.
    fn get(&mut self, index: u64) -> Result<Rc<GltfMesh<'a>>> {
        if let Some(known) = self.known.get(&index) {
            return Ok(Rc::clone(known));
        }
        let object = self.buffers.document.get("meshes", index)?;
        let mut primitives = vec![];
        let mut triangles: u64 = 0;
        for primitive in object.each("primitives") {
            let Some(mode) = primitive::mode(&primitive, self.triage)? else {
                continue;
            };
            triangles =
                triangles.saturating_add(primitive::triangles(&primitive, mode, self.buffers)?);
            primitives.push((primitive, mode));
        }
        let weights = pose::weights(&object, &object)?;
        let mesh = Rc::new(GltfMesh {
            object,
            primitives,
            triangles,
            weights,
        });
        self.known.insert(index, Rc::clone(&mesh));
        Ok(mesh)
    }
}

/// Returns the poses of a node's mesh. There is one pose, or one per instance if the node has the extension
/// `EXT_mesh_gpu_instancing`.
fn poses(
    node: &PlacedNode,
    buffers: &Buffers,
    skins: &mut Skins,
    indexed: &mut Indexed,
) -> Result<Vec<Pose>> {
    if let Some(skin) = node.object.whole("skin")? {
        return Ok(vec![Pose::Skinned(skins.get(skin, indexed)?, node.placed)]);
    }
    let Some(extension) = node.object.extension("EXT_mesh_gpu_instancing") else {
        return Ok(vec![Pose::Rigid(node.placed)]);
    };
    let maps = instances(&extension, buffers, indexed)?;
    Ok(maps
        .iter()
        .map(|map| Pose::Rigid(node.placed.after(map)))
        .collect())
}

/// Returns the map of each instance to the coordinates of its node.
fn instances(
    extension: &GltfObject,
    buffers: &Buffers,
    indexed: &mut Indexed,
) -> Result<Vec<Affine>> {
    fn attribute<'a, const N: usize>(
        extension: &GltfObject,
        name: &str,
        buffers: &'a Buffers,
        indexed: &Indexed,
    ) -> Result<Option<Accessor<'a, N>>> {
        let Some(attributes) = extension.inner("attributes") else {
            return Ok(None);
        };
        let Some(index) = attributes.whole(name)? else {
            return Ok(None);
        };
        let accessor = Accessor::new(buffers, index, &|more| indexed.admit(more))?;
        Ok(Some(accessor))
    }
    let shifts = attribute::<3>(extension, "TRANSLATION", buffers, indexed)?;
    let turns = attribute::<4>(extension, "ROTATION", buffers, indexed)?;
    let scales = attribute::<3>(extension, "SCALE", buffers, indexed)?;
    indexed.hold(buffers.held.take())?;
    let counts = [
        shifts.as_ref().map(|of| of.count),
        turns.as_ref().map(|of| of.count),
        scales.as_ref().map(|of| of.count),
    ];
    let mut stated = counts.into_iter().flatten();
    let Some(count) = stated.next() else {
        return Err(extension.error(
            Code::S006,
            "EXT_mesh_gpu_instancing without TRANSLATION, ROTATION and SCALE",
        ));
    };
    if let Some(other) = stated.find(|other| *other != count) {
        return Err(extension.error(
            Code::S006,
            format!("instances: {count} of one attribute, {other} of another"),
        ));
    }
    indexed.admit((2 * size_of::<Pose>() as u64).saturating_mul(count))?;
    let mut maps = Vec::with_capacity(count as usize);
    for n in 0..count {
        let shift = shifts.as_ref().map_or([0.0; 3], |shifts| shifts.at(n));
        let turn = turns
            .as_ref()
            .map_or([0.0, 0.0, 0.0, 1.0], |turns| turns.at(n));
        let scale = scales.as_ref().map_or([1.0; 3], |scales| scales.at(n));
        maps.push(composed(shift, turn, scale));
    }
    Ok(maps)
}

/// Number of hidden nodes with a mesh, and of their triangles.
#[derive(Default)]
struct Hidden {
    nodes: u64,
    triangles: u64,
}

impl Hidden {
    /// Warns that the triangles of hidden nodes are left out.
    fn note(&self, triage: &Triage) -> Result<()> {
        if self.triangles == 0 {
            return Ok(());
        }
        let text = format!(
            "KHR_node_visibility hides {} with {}, which are left out",
            counted(self.nodes, "mesh", "meshes"),
            counted(self.triangles, "triangle", "triangles"),
        );
        let hint = "make them visible and export again, if they belong to the mesh";
        triage.found(
            Error::input(Code::S120, text)
                .about("nodes")
                .with_hint(hint),
        )
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Warns of meshes with triangles that no node of any scene uses. If the resulting mesh is empty, only nodes
/// of the converted scene count.
fn note_unplaced(
    buffers: &Buffers,
    meshes: &mut Meshes,
    is_empty: bool,
    triage: &Triage,
) -> Result<()> {
    let document = buffers.document;
    let mut is_placed = vec![false; document.count("meshes") as usize];
    let mut placed_by: Vec<u64> = vec![];
    if is_empty {
        placed_by.extend(meshes.known.keys());
    } else {
        for n in 0..document.count("nodes") {
            placed_by.extend(document.get("nodes", n)?.whole("mesh")?);
        }
    }
    for mesh in placed_by {
        if let Some(is_placed) = is_placed.get_mut(mesh as usize) {
            *is_placed = true;
        }
    }
    let mut count: u64 = 0;
    let mut triangles: u64 = 0;
    for mesh in 0..is_placed.len() as u64 {
        if is_placed[mesh as usize] {
            continue;
        }
        let of = unplaced_triangles(&document.get("meshes", mesh)?, buffers);
        count += u64::from(of > 0);
        triangles = triangles.saturating_add(of);
    }
    if count == 0 {
        return Ok(());
    }
    let text = format!(
        "the default scene does not use {} with {}: {} left out",
        counted(count, "mesh", "meshes"),
        counted(triangles, "triangle", "triangles"),
        if count == 1 { "it is" } else { "they are" },
    );
    let hint = "add them to the default scene and export again, if they belong to the mesh";
    triage.found(
        Error::input(Code::S121, text)
            .about("meshes")
            .with_hint(hint),
    )
}

/// Returns the number of triangles of a mesh that is not read. Primitives with damage count as zero.
fn unplaced_triangles(mesh: &GltfObject, buffers: &Buffers) -> u64 {
    let mut all: u64 = 0;
    for primitive in mesh.each("primitives") {
        let mode = primitive.whole("mode").ok().flatten().unwrap_or(4);
        if mode >= 4 {
            all = all.saturating_add(primitive::triangles(&primitive, mode, buffers).unwrap_or(0));
        }
    }
    all
}
