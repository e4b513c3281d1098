//! Static pose of a mesh: morph targets with their default weights, then a skin whose joints are where their
//! nodes place them.
//!
//! Source: glTF 2.0, sections 3.7.2.2 and 3.7.3. Animations are never sampled. The position of a skinned
//! vertex is the weighted mean of the positions that its joints give it. The mean is divided by the sum of
//! the weights, as a renderer divides by the fourth coordinate.

use std::collections::HashMap;
use std::rc::Rc;

use super::accessor::Accessor;
use super::attribute::AttributeNumbers;
use super::buffers::Buffers;
use super::document::GltfObject;
use super::node::{self, affine};
use crate::read::affine::Affine;
use crate::read::indexed::Indexed;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::par::Progress;

/// Maximum difference between 1 and a sum of weights that is explained by rounding the weights to bytes.
const ROUNDING: f64 = 0.01;

/// Maps of the joints of a skin. Each applies the inverse bind matrix first, then the map of the joint's
/// node.
pub(super) struct Skin(Vec<Affine>);

/// Skins of a document.
pub(super) struct Skins<'a> {
    buffers: &'a Buffers<'a>,
    progress: &'a dyn Progress,
    /// Maps of nodes to scene coordinates, by node index. Empty until a skin needs them.
    maps: Vec<Option<Affine>>,
    known: HashMap<u64, Rc<Skin>>,
}

impl<'a> Skins<'a> {
    pub(super) fn new(buffers: &'a Buffers, progress: &'a dyn Progress) -> Self {
        Self {
            buffers,
            progress,
            maps: vec![],
            known: HashMap::new(),
        }
    }

    /// Returns the skin with this index.
    pub(super) fn get(&mut self, index: u64, indexed: &mut Indexed) -> Result<Rc<Skin>> {
        if let Some(known) = self.known.get(&index) {
            return Ok(Rc::clone(known));
        }
        let document = self.buffers.document;
        let object = document.get("skins", index)?;
        if self.maps.is_empty() {
            indexed.hold(size_of::<[Option<Affine>; 2]>() as u64 * document.count("nodes"))?;
            self.maps = node::maps(self.buffers, self.progress)?;
        }
        let count = object.length("joints");
        indexed.hold((size_of::<Affine>() * count) as u64)?;
        let inverse = match object.whole("inverseBindMatrices")? {
            Some(index) => Some(Accessor::<16>::new(self.buffers, index, &|more| {
                indexed.admit(more)
            })?),
            None => None,
        };
        indexed.hold(self.buffers.held.take())?;
        if let Some(inverse) = &inverse
            && inverse.count < count as u64
        {
            let text = format!("{} inverse bind matrices of {count} joints", inverse.count);
            return Err(object.error(Code::S006, text));
        }
        let mut joints = Vec::with_capacity(count);
        for (n, joint) in object.each("joints").enumerate() {
            let joint = joint.as_whole("joints")?;
            document.get("nodes", joint)?;
            let Some(map) = self.maps[joint as usize] else {
                return Err(object.error(
                    Code::S006,
                    format!("its joint nodes[{joint}] is its own descendant"),
                ));
            };
            let bound = match &inverse {
                Some(inverse) => affine(&inverse.at(n as u64)).ok_or_else(|| {
                    object.error(Code::S006, format!("inverse bind matrix {n} is not affine"))
                })?,
                None => Affine::IDENTITY,
            };
            joints.push(map.after(&bound));
        }
        let skin = Rc::new(Skin(joints));
        self.known.insert(index, Rc::clone(&skin));
        Ok(skin)
    }
}

/// Joints and weights of each vertex, in pairs of attributes. Each pair has four joints and four weights per
/// vertex.
pub(super) type Bones<'a> = Vec<(AttributeNumbers<'a, 4>, AttributeNumbers<'a, 4>)>;

/// Map of a vertex, blended from the maps of its joints.
pub(super) struct Blend {
    pub map: Affine,
    /// The weights do not add up to 1.
    pub is_uneven: bool,
}

impl Skin {
    /// Returns the map of vertex `n`. A vertex without weights moves with its first joint.
    pub(super) fn blend(&self, n: u64, bones: &Bones) -> Result<Blend> {
        let mut sum = 0.0;
        let mut rows = [[0.0; 4]; 3];
        let mut first = None;
        for (joints, weights) in bones {
            let joints = joints.at(n);
            let weights = weights.at(n);
            first = first.or(Some(joints[0]));
            for (joint, weight) in joints.into_iter().zip(weights) {
                if weight == 0.0 {
                    continue;
                }
                let map = self.joint(joint, n)?;
                sum += weight;
                for (row, of) in rows.iter_mut().zip(map.0) {
                    for (number, of) in row.iter_mut().zip(of) {
                        *number += weight * of;
                    }
                }
            }
        }
        if sum == 0.0 {
            return Ok(Blend {
                map: *self.joint(first.unwrap_or(0.0), n)?,
                is_uneven: true,
            });
        }
        if sum != 1.0 {
            rows = rows.map(|row| row.map(|number| number / sum));
        }
        Ok(Blend {
            map: Affine(rows),
            is_uneven: (sum - 1.0).abs() > ROUNDING,
        })
    }

    fn joint(&self, joint: f64, vertex: u64) -> Result<&Affine> {
        let index = Some(joint as usize).filter(|index| *index as f64 == joint);
        index.and_then(|index| self.0.get(index)).ok_or_else(|| {
            let text = format!(
                "vertex {vertex} uses joint {joint}, but its skin has {} joints",
                self.0.len()
            );
            Error::input(Code::S012, text)
        })
    }
}

/// Returns the indices of the morph targets that displace a mesh, and their weights. Targets with a weight of
/// 0 are left out. Weights of the node replace weights of its mesh.
pub(super) fn weights(node: &GltfObject, mesh: &GltfObject) -> Result<Vec<(usize, f64)>> {
    let of = if node.inner("weights").is_some() {
        node
    } else {
        mesh
    };
    let mut weights = vec![];
    for (n, weight) in of.each("weights").enumerate() {
        let number = weight.as_number();
        let number = number
            .ok_or_else(|| of.error(Code::S006, format!("weights[{n}] is not a finite number")))?;
        if number != 0.0 {
            weights.push((n, number));
        }
    }
    Ok(weights)
}
