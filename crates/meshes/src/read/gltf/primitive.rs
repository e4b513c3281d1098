//! Primitives of a mesh: places their vertices and adds their triangles.

use std::rc::Rc;

use super::accessor::Accessor;
use super::attribute::{AttributeNumbers, Morphed};
use super::buffers::Buffers;
use super::document::GltfObject;
use super::draco::Decoded;
use super::material::Material;
use super::pose::{Bones, Skin};
use crate::colours::channel_of_light;
use crate::read::affine::Affine;
use crate::read::indexed::{FilePosition, Indexed};
use crate::read::triage::Triage;
use voxelize_core::error::{Code, Error, Result};

const DRACO: &str = "KHR_draco_mesh_compression";

/// Placement of the vertices of a primitive.
pub(super) enum Pose {
    Rigid(Affine),
    /// The skin, and the map of the node for primitives without joints.
    Skinned(Rc<Skin>, Affine),
}

/// Primitive of a mesh, and its placement.
pub(super) struct Primitive<'a> {
    pub buffers: &'a Buffers<'a>,
    pub triage: &'a Triage,
    pub object: GltfObject<'a>,
    pub pose: &'a Pose,
    /// Indices and weights of the morph targets that displace the primitive.
    pub weights: &'a [(usize, f64)],
    pub material: Rc<Material>,
}

/// Returns the mode of a primitive that has triangles. `None` for points, lines, and primitives without
/// positions.
pub(super) fn mode(primitive: &GltfObject, triage: &Triage) -> Result<Option<u64>> {
    let mode = primitive.whole("mode")?.unwrap_or(4);
    if mode > 6 {
        return Err(primitive.error(Code::S006, format!("{mode} is not a primitive mode")));
    }
    let left_out = match attribute(primitive, "POSITION")? {
        _ if mode < 4 => "points and lines are left out",
        None => "a primitive has no positions and is left out",
        Some(_) => return Ok(Some(mode)),
    };
    triage.found_all(Code::S107, 1, || primitive.error(Code::S107, left_out))?;
    Ok(None)
}

/// Returns the number of triangles of a primitive with this mode, as far as its accessors state it.
pub(super) fn triangles(primitive: &GltfObject, mode: u64, buffers: &Buffers) -> Result<u64> {
    let corners = match primitive.whole("indices")? {
        Some(indices) => Some(indices),
        None => attribute(primitive, "POSITION")?,
    };
    let Some(corners) = corners else { return Ok(0) };
    let count = buffers
        .document
        .get("accessors", corners)?
        .whole("count")?
        .unwrap_or(0);
    Ok(if mode == 4 {
        count / 3
    } else {
        count.saturating_sub(2)
    })
}

/// Returns the index of the accessor of an attribute. `None` if the primitive does not have the attribute.
fn attribute(primitive: &GltfObject, name: &str) -> Result<Option<u64>> {
    match primitive.inner("attributes") {
        Some(all) => all.whole(name),
        None => Ok(None),
    }
}

/// Vertex indices of the corners of a primitive.
enum PrimitiveCorners<'a> {
    InOrder(u64),
    Listed(Accessor<'a, 1>),
    Decoded(&'a Decoded<'a>),
}

impl PrimitiveCorners<'_> {
    fn count(&self) -> u64 {
        match self {
            Self::InOrder(count) => *count,
            Self::Listed(accessor) => accessor.count,
            Self::Decoded(decoded) => decoded.corners(),
        }
    }

    fn at(&self, n: u64) -> u64 {
        match self {
            Self::InOrder(_) => n,
            Self::Listed(accessor) => accessor.at(n)[0] as u64,
            Self::Decoded(decoded) => decoded.corner(n),
        }
    }
}

/// Vertices to place.
enum Chosen {
    /// All vertices. The number is their count.
    All(u64),
    /// Some vertices in ascending order, and the number of all vertices.
    Some(Vec<u64>, u64),
}

impl Chosen {
    /// Chooses the vertices that corners use. If there are at least as many corners as vertices, all vertices
    /// are chosen. Otherwise the time is limited by the number of corners.
    fn new(
        count: u64,
        corners: &PrimitiveCorners,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        if corners.count() >= count {
            return Ok(Self::All(count));
        }
        admit(8 * corners.count())?;
        let mut some: Vec<_> = (0..corners.count())
            .map(|n| corners.at(n))
            .filter(|n| *n < count)
            .collect();
        some.sort_unstable();
        some.dedup();
        Ok(Self::Some(some, count))
    }

    fn len(&self) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Some(some, _) => some.len() as u64,
        }
    }

    /// Returns the vertex index of the `n`-th placed vertex.
    fn vertex(&self, n: u64) -> u64 {
        match self {
            Self::All(_) => n,
            Self::Some(some, _) => some[n as usize],
        }
    }

    /// Returns the index of a vertex in the list of placed vertices. Fails if the vertex does not exist.
    fn number(&self, vertex: u64) -> Result<i64> {
        let (number, count) = match self {
            Self::All(count) => (Some(vertex).filter(|vertex| vertex < count), count),
            Self::Some(some, count) => (some.binary_search(&vertex).ok().map(|n| n as u64), count),
        };
        number.map(|number| number as i64).ok_or_else(|| {
            Error::input(
                Code::S012,
                format!("vertex {vertex} does not exist (vertices: {count})"),
            )
        })
    }
}

/// Placed vertices, and further data for their triangles.
struct PlacedVertices<'a> {
    chosen: Chosen,
    /// Positions of the vertices before placement.
    points: &'a Morphed<'a, 3>,
    /// Positions in the picture of the material. Empty if the material has no picture.
    places: Vec<[f32; 2]>,
    /// The placement mirrors the whole mesh.
    is_mirror: bool,
    /// For each vertex: its joints mirror it. Vertices after the last mirrored one have no entry.
    mirrored: Vec<bool>,
    about: &'a str,
}

impl PlacedVertices<'_> {
    /// Returns whether placement turns a triangle inside out, because it mirrors at least two of its
    /// vertices.
    fn turns(&self, numbers: [i64; 3]) -> bool {
        let is_mirrored = |n: &&i64| self.mirrored.get(**n as usize) == Some(&true);
        self.is_mirror || numbers.iter().filter(is_mirrored).count() > 1
    }
}

impl<'a> Primitive<'a> {
    /// Adds the triangles of the primitive. `mode` states how its corners form triangles.
    pub(super) fn add(&self, mode: u64, indexed: &mut Indexed) -> Result<()> {
        indexed.begin_material(self.material.name.as_str())?;
        indexed.begin_vertices();
        let admit = |more| indexed.admit(more);
        if let Some(extension) = self.object.extension(DRACO)
            && (cfg!(feature = "draco") || !self.has_plain_positions())
        {
            let decoded = Decoded::new(extension, self.buffers, &admit)?;
            return self.add_corners(
                mode,
                &PrimitiveCorners::Decoded(&decoded),
                Some(&decoded),
                indexed,
            );
        }
        let corners = match self.object.whole("indices")? {
            None => {
                let points = self.numbers::<3>("POSITION", &["VEC3"], None, &admit)?;
                PrimitiveCorners::InOrder(points.map_or(0, |points| points.count()))
            }
            Some(indices) => {
                let indices = Accessor::<1>::new(self.buffers, indices, &admit)?;
                if !indices.is_unsigned() {
                    return Err(self.object.error(
                        Code::S006,
                        "its indices are not whole numbers of at least 0",
                    ));
                }
                PrimitiveCorners::Listed(indices)
            }
        };
        self.add_corners(mode, &corners, None, indexed)
    }

    /// Returns whether the primitive also has uncompressed positions.
    fn has_plain_positions(&self) -> bool {
        let index = attribute(&self.object, "POSITION").ok().flatten();
        let accessor = index.and_then(|index| self.buffers.document.get("accessors", index).ok());
        accessor.is_some_and(|accessor| accessor.inner("bufferView").is_some())
    }

    /// Returns the values of an attribute, decoded if the primitive is compressed.
    fn numbers<const N: usize>(
        &self,
        name: &str,
        types: &[&str],
        decoded: Option<&Decoded>,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<AttributeNumbers<'a, N>>> {
        let index = attribute(&self.object, name)?;
        if let Some(decoded) = decoded {
            let accessor =
                index.and_then(|index| self.buffers.document.get("accessors", index).ok());
            if let Some(numbers) = decoded.attribute(name, accessor.as_ref(), admit)? {
                return Ok(Some(numbers));
            }
        }
        let Some(index) = index else { return Ok(None) };
        Ok(Some(AttributeNumbers::Plain(Accessor::first_of(
            types,
            self.buffers,
            index,
            admit,
        )?)))
    }

    /// Returns the values of an attribute, displaced by morph targets.
    fn morphed<const N: usize>(
        &self,
        name: &str,
        types: &[&str],
        decoded: Option<&Decoded>,
        indexed: &Indexed,
    ) -> Result<Option<Morphed<'a, N>>> {
        let admit = |more| indexed.admit(more);
        let Some(base) = self.numbers(name, types, decoded, &admit)? else {
            return Ok(None);
        };
        let morphed = Morphed::new(
            base,
            name,
            types,
            &self.object,
            self.weights,
            self.buffers,
            &admit,
        )?;
        Ok(Some(morphed))
    }

    /// Returns the joints and weights of the vertices. Empty if the primitive has none.
    fn bones(&self, decoded: Option<&Decoded>, count: u64, indexed: &Indexed) -> Result<Bones<'a>> {
        let admit = |more| indexed.admit(more);
        let mut bones: Bones = vec![];
        loop {
            let [joints, weights] =
                ["JOINTS", "WEIGHTS"].map(|name| format!("{name}_{}", bones.len()));
            let of_joints = self.numbers::<4>(&joints, &["VEC4"], decoded, &admit)?;
            let of_weights = self.numbers::<4>(&weights, &["VEC4"], decoded, &admit)?;
            let (Some(of_joints), Some(of_weights)) = (of_joints, of_weights) else {
                return Ok(bones);
            };
            for (name, found) in [(joints, of_joints.count()), (weights, of_weights.count())] {
                if found < count {
                    let text = format!("{name} of {found} vertices, not {count}");
                    return Err(self.object.error(Code::S006, text));
                }
            }
            bones.push((of_joints, of_weights));
        }
    }

    /// Returns the position of each chosen vertex in the picture of the material.
    fn places(
        &self,
        chosen: &Chosen,
        decoded: Option<&Decoded>,
        indexed: &Indexed,
    ) -> Result<Vec<[f32; 2]>> {
        let Some(texture) = &self.material.texture else {
            return Ok(vec![]);
        };
        let name = format!("TEXCOORD_{}", texture.places);
        let Some(found) = self.morphed::<2>(&name, &["VEC2"], decoded, indexed)? else {
            let text = format!("it has no {name} for the texture of its material");
            indexed.no_colours(
                &Error::input(Code::S110, text),
                FilePosition::Of(&self.object.path()),
            )?;
            return Ok(vec![]);
        };
        indexed.admit(8 * chosen.len())?;
        let mut places = vec![];
        for n in 0..chosen.len() {
            let vertex = chosen.vertex(n);
            if vertex >= found.count() {
                break;
            }
            places.push(texture.place(found.at(vertex)));
        }
        Ok(places)
    }

    fn add_corners(
        &self,
        mode: u64,
        corners: &PrimitiveCorners,
        decoded: Option<&Decoded>,
        indexed: &mut Indexed,
    ) -> Result<()> {
        let about = self.object.path();
        let Some(points) = self.morphed::<3>("POSITION", &["VEC3"], decoded, indexed)? else {
            return Err(self
                .object
                .error(Code::S006, "a primitive without positions"));
        };
        let colours = self.morphed::<3>("COLOR_0", &["VEC3", "VEC4"], decoded, indexed)?;
        let (skin, rigid) = match self.pose {
            Pose::Rigid(map) => (None, map),
            Pose::Skinned(skin, map) => (Some(skin), map),
        };
        let bones = match skin {
            Some(_) => self.bones(decoded, points.count(), indexed)?,
            None => vec![],
        };
        if skin.is_some() && bones.is_empty() {
            let text =
                "it has no joints and weights for the skin of its node, and is placed by the node";
            self.triage.found(self.object.error(Code::S108, text))?;
        }
        let skin = skin.filter(|_| !bones.is_empty());
        let chosen = Chosen::new(points.count(), corners, &|more| indexed.admit(more))?;
        let places = self.places(&chosen, decoded, indexed)?;
        indexed.hold(self.buffers.held.take())?;
        indexed.admit(16 * chosen.len())?;
        indexed.expect(
            chosen.len(),
            if mode == 4 {
                corners.count() / 3
            } else {
                corners.count()
            },
        )?;
        let base = self.material.light;
        indexed.set_base_colour(
            base.filter(|_| colours.is_none())
                .map(|light| light.map(channel_of_light)),
        );
        let texture = self.material.texture.as_ref();
        indexed.set_texture(texture.map(|texture| texture.picture));
        let has_unread_picture = match self.material.unread {
            Some(places) => attribute(&self.object, &format!("TEXCOORD_{places}"))?.is_some(),
            None => false,
        };
        indexed.set_unread_picture(has_unread_picture)?;
        let mut mirrored = vec![];
        let mut uneven = 0;
        for n in 0..chosen.len() {
            let vertex = chosen.vertex(n);
            let mut map = *rigid;
            let mut damage = None;
            match skin.map(|skin| skin.blend(vertex, &bones)) {
                Some(Ok(blend)) => {
                    map = blend.map;
                    uneven += u64::from(blend.is_uneven);
                    if map.is_mirror() {
                        mirrored.resize(n as usize, false);
                        mirrored.push(true);
                    }
                }
                Some(Err(error)) => damage = Some(error.about(&about)),
                None => {}
            }
            match damage {
                None => indexed.vertex(map.apply(points.at(vertex)), FilePosition::Of(&about))?,
                Some(damage) => indexed.no_vertex(damage)?,
            }
            if let Some(colours) = colours.as_ref().filter(|colours| vertex < colours.count()) {
                let factor = base.unwrap_or([1.0; 3]);
                let light = colours.at(vertex);
                indexed.colour_vertex([0, 1, 2].map(|n| channel_of_light(light[n] * factor[n])))?;
            }
        }
        if uneven > 0 {
            let text = format!(
                "weights of {uneven} vertices do not sum to 1, and are divided by their sum"
            );
            self.triage.found(self.object.error(Code::S108, text))?;
        }
        let is_mirror = skin.is_none() && rigid.is_mirror();
        let placed = PlacedVertices {
            chosen,
            points: &points,
            places,
            is_mirror,
            mirrored,
            about: &about,
        };
        self.add_faces(mode, corners, &placed, indexed)
    }

    /// Adds the triangles that the corners form in this mode.
    fn add_faces(
        &self,
        mode: u64,
        corners: &PrimitiveCorners,
        placed: &PlacedVertices,
        indexed: &mut Indexed,
    ) -> Result<()> {
        let count = corners.count();
        if mode == 4 || matches!(corners, PrimitiveCorners::Decoded(_)) {
            for n in 0..count / 3 {
                let triangle = [0, 1, 2].map(|corner| corners.at(3 * n + corner));
                add_face(triangle, placed, indexed)?;
            }
            if !count.is_multiple_of(3) {
                let text = format!("it has {count} corners, which is not a multiple of 3");
                self.triage.found(self.object.error(Code::S006, text))?;
            }
            return Ok(());
        }
        if count < 3 {
            return Ok(());
        }
        let mut a = corners.at(0);
        let mut b = corners.at(1);
        for n in 2..count {
            let c = corners.at(n);
            // Every second triangle of a strip has the opposite orientation.
            let triangle = if mode == 5 && n % 2 == 1 {
                [b, a, c]
            } else {
                [a, b, c]
            };
            if !is_connector(triangle, corners, placed.points) {
                add_face(triangle, placed, indexed)?;
            }
            if mode == 5 {
                a = b;
            }
            b = c;
        }
        Ok(())
    }
}

/// Returns whether a triangle of a strip or fan has two equal vertices. Such triangles only connect strips.
fn is_connector([a, b, c]: [u64; 3], corners: &PrimitiveCorners, points: &Morphed<3>) -> bool {
    if let PrimitiveCorners::InOrder(_) = corners {
        // Without indices, a repeated vertex is stored twice, so positions are compared.
        let [a, b, c] = [a, b, c].map(|n| points.at(n));
        return a == b || b == c || a == c;
    }
    a == b || b == c || a == c
}

/// Adds the triangle of these three vertices.
fn add_face([a, b, c]: [u64; 3], placed: &PlacedVertices, indexed: &mut Indexed) -> Result<()> {
    let number = |vertex| placed.chosen.number(vertex);
    let position = FilePosition::Of(placed.about);
    let (Ok(d), Ok(e), Ok(f)) = (number(a), number(b), number(c)) else {
        return indexed.face([a, b, c].into_iter().map(number), position);
    };
    let numbers = if placed.turns([d, e, f]) {
        [d, f, e]
    } else {
        [d, e, f]
    };
    if !placed.places.is_empty() {
        indexed.place_next(
            numbers
                .iter()
                .map_while(|n| placed.places.get(*n as usize).copied()),
        );
    }
    indexed.triangle(numbers, position)
}
