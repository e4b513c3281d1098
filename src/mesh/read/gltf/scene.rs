//! From a scene to triangles: nodes, their matrices, and the primitives of their meshes.

use super::super::ReadOptions;
use super::super::affine::Affine;
use super::super::indexed::{FilePosition, Indexed};
use super::super::triage::Triage;
use super::accessor::Accessor;
use super::buffers::Buffers;
use super::document::{GltfObject, unknown_extension};
use super::material::{Material, Materials};
use crate::error::{Code, Result};
use crate::mesh::colours::channel_of_light;

/// The map of a node to its parent.
fn map_of(node: &GltfObject) -> Result<Affine> {
    if let Some(m) = node.numbers::<16>("matrix")? {
        if [m[3], m[7], m[11], m[15]] != [0.0, 0.0, 0.0, 1.0] {
            return Err(node.error(Code::S006, "its matrix is not affine"));
        }
        return Ok(Affine([0, 1, 2].map(|row| [0, 4, 8, 12].map(|column| m[column + row]))));
    }
    let shift = node.numbers("translation")?.unwrap_or([0.0; 3]);
    let scale = node.numbers("scale")?.unwrap_or([1.0; 3]);
    let turn = rotation(node.numbers("rotation")?.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    let row = |n: usize| {
        let [a, b, c] = [0, 1, 2].map(|column: usize| turn[n][column] * scale[column]);
        [a, b, c, shift[n]]
    };
    Ok(Affine([row(0), row(1), row(2)]))
}

/// The matrix of a quaternion, of whatever length.
fn rotation([x, y, z, w]: [f64; 4]) -> [[f64; 3]; 3] {
    let square = x * x + y * y + z * z + w * w;
    let s = if square > 0.0 { 2.0 / square } else { 0.0 };
    [
        [1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
        [s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)],
        [s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)],
    ]
}

/// Adds the triangles of the scene.
pub(super) fn add(
    buffers: &Buffers,
    indexed: &mut Indexed,
    triage: &Triage,
    options: &ReadOptions,
) -> Result<()> {
    let document = buffers.document;
    let mut seen = vec![false; document.count("nodes") as usize];
    // Those to come, the next one last.
    let mut nodes: Vec<(u64, Affine)> = vec![];
    let mut materials = Materials::new(buffers, options.textures);
    let roots = roots(buffers)?;
    nodes.extend(roots.into_iter().rev().map(|root| (root, Affine::IDENTITY)));
    while let Some((index, parent)) = nodes.pop() {
        options.progress.check()?;
        let node = document.get("nodes", index)?;
        if std::mem::replace(&mut seen[index as usize], true) {
            return Err(node.error(Code::S006, "a node that has two parents, or is its own"));
        }
        let placed = parent.after(&map_of(&node)?);
        if node.inner("extensions").is_some_and(|all| all.inner("EXT_mesh_gpu_instancing").is_some()) {
            return Err(unknown_extension("EXT_mesh_gpu_instancing"));
        }
        if let Some(mesh) = node.whole("mesh")? {
            let mesh = document.get("meshes", mesh)?;
            let name = if node.name().is_empty() { mesh.name() } else { node.name() };
            indexed.begin_instance(name.to_string())?;
            if node.inner("skin").is_some() || mesh.inner("weights").is_some() {
                let bind = || node.error(Code::S108, "a skin or morph targets, which are not applied");
                triage.found_all(Code::S108, 1, bind)?;
            }
            for primitive in mesh.each("primitives") {
                let material = match primitive.whole("material")? {
                    Some(index) => materials.get(index, indexed)?,
                    None => Material::default(),
                };
                Primitive { buffers, triage, object: primitive, placed, material }.add(indexed)?;
            }
        }
        for child in node.each("children").rev() {
            nodes.push((child.as_whole("children")?, placed));
        }
    }
    Ok(())
}

/// The nodes that are placed by themselves.
fn roots(buffers: &Buffers) -> Result<Vec<u64>> {
    let document = buffers.document;
    if document.count("scenes") > 0 {
        let scene = document.get("scenes", document.scene()?)?;
        return scene.each("nodes").map(|node| node.as_whole("nodes")).collect();
    }
    let count = document.count("nodes");
    let mut is_child = vec![false; count as usize];
    for node in 0..count {
        for child in document.get("nodes", node)?.each("children") {
            let child = child.as_whole("children")?;
            document.get("nodes", child)?;
            is_child[child as usize] = true;
        }
    }
    Ok((0..count).filter(|node| !is_child[*node as usize]).collect())
}

/// A primitive of a mesh at its place.
struct Primitive<'a> {
    buffers: &'a Buffers<'a>,
    triage: &'a Triage,
    object: GltfObject<'a>,
    placed: Affine,
    material: Material,
}

impl Primitive<'_> {
    fn add(&self, indexed: &mut Indexed) -> Result<()> {
        let mode = self.object.whole("mode")?.unwrap_or(4);
        if mode < 4 {
            let error = || self.object.error(Code::S107, "points and lines are left out");
            return self.triage.found_all(Code::S107, 1, error);
        }
        indexed.begin_material(self.material.name.as_str())?;
        indexed.begin_vertices();
        let about = self.object.path();
        let extension =
            self.object.inner("extensions").and_then(|all| all.inner("KHR_draco_mesh_compression"));
        match extension {
            Some(extension) => self.add_compressed(&extension, indexed, &about),
            None => self.add_plain(mode, indexed, &about),
        }
    }

    /// The accessor of an attribute.
    fn attribute(&self, name: &str) -> Result<Option<u64>> {
        self.object.inner("attributes").map_or(Ok(None), |all| all.whole(name))
    }

    /// The light that each vertex reflects.
    fn lights(&self, indexed: &Indexed) -> Result<Vec<[f64; 3]>> {
        let Some(index) = self.attribute("COLOR_0")? else { return Ok(vec![]) };
        let admit = |more| indexed.admit(more);
        let accessor = self.buffers.document.get("accessors", index)?;
        let most = |count: u64| indexed.admit(24 * count);
        if accessor.text("type") == Some("VEC4") {
            let colours = Accessor::<4>::new(self.buffers, index, &admit)?;
            most(colours.count)?;
            return Ok(colours.shares().map(|[r, g, b, _]| [r, g, b]).collect());
        }
        let colours = Accessor::<3>::new(self.buffers, index, &admit)?;
        most(colours.count)?;
        Ok(colours.shares().collect())
    }

    /// The place of each vertex in the picture of the material.
    fn places(&self, indexed: &Indexed) -> Result<Vec<[f32; 2]>> {
        let Some(texture) = &self.material.texture else { return Ok(vec![]) };
        let Some(index) = self.attribute(&format!("TEXCOORD_{}", texture.places))? else { return Ok(vec![]) };
        let places = Accessor::<2>::new(self.buffers, index, &|more| indexed.admit(more))?;
        indexed.admit(8 * places.count)?;
        Ok(places.shares().map(|place| texture.place(place)).collect())
    }

    /// Adds vertices that reflect this light, where it is known.
    fn add_vertices(
        &self,
        points: impl Iterator<Item = [f64; 3]>,
        lights: &[[f64; 3]],
        indexed: &mut Indexed,
        about: &str,
    ) -> Result<()> {
        let base = self.material.light;
        let plain = base.filter(|_| lights.is_empty());
        indexed.set_base_colour(plain.map(|light| light.map(channel_of_light)));
        indexed.set_texture(self.material.texture.as_ref().map(|texture| texture.picture));
        for (n, point) in points.enumerate() {
            indexed.vertex(self.placed.apply(point), FilePosition::Of(about))?;
            if let Some(light) = lights.get(n) {
                let factor = base.unwrap_or([1.0; 3]);
                indexed.colour_vertex([0, 1, 2].map(|n| channel_of_light(light[n] * factor[n])))?;
            }
        }
        Ok(())
    }

    fn add_plain(&self, mode: u64, indexed: &mut Indexed, about: &str) -> Result<()> {
        let Some(position) = self.attribute("POSITION")? else {
            return Err(self.object.error(Code::S006, "a primitive without positions"));
        };
        let points = Accessor::<3>::new(self.buffers, position, &|more| indexed.admit(more))?;
        let lights = self.lights(indexed)?;
        let places = self.places(indexed)?;
        indexed.hold(self.buffers.held.take())?;
        indexed.expect(points.count, 0)?;
        self.add_vertices(points.iter(), &lights, indexed, about)?;
        match self.object.whole("indices")? {
            None => self.add_faces(
                mode,
                points.count,
                (0..points.count).map(|n| n as i64),
                &places,
                indexed,
                about,
            ),
            Some(indices) => {
                let indices = Accessor::<1>::new(self.buffers, indices, &|more| indexed.admit(more))?;
                if indices.is_float() {
                    return Err(self.object.error(Code::S006, "its indices are no whole numbers"));
                }
                indexed.hold(self.buffers.held.take())?;
                indexed.expect(0, indices.count / if mode == 4 { 3 } else { 1 })?;
                let corners = indices.iter().map(|[n]| n as i64);
                self.add_faces(mode, indices.count, corners, &places, indexed, about)
            }
        }
    }

    /// Adds the triangles of corners in this mode.
    fn add_faces(
        &self,
        mode: u64,
        count: u64,
        mut corners: impl Iterator<Item = i64>,
        places: &[[f32; 2]],
        indexed: &mut Indexed,
        about: &str,
    ) -> Result<()> {
        let mut face = |corners: [i64; 3]| self.add_face(corners, places, indexed, about);
        if mode == 4 {
            while let (Some(a), Some(b), Some(c)) = (corners.next(), corners.next(), corners.next()) {
                face([a, b, c])?;
            }
            if !count.is_multiple_of(3) {
                let text = format!("{count} corners, which are no whole number of triangles");
                self.triage.found(self.object.error(Code::S006, text))?;
            }
            return Ok(());
        }
        let (Some(mut a), Some(mut b)) = (corners.next(), corners.next()) else { return Ok(()) };
        for (n, c) in corners.enumerate() {
            match mode {
                // Strips turn every second triangle.
                5 if n % 2 == 0 => face([a, b, c])?,
                5 => face([b, a, c])?,
                6 => face([a, b, c])?,
                other => {
                    return Err(self.object.error(Code::S006, format!("{other} is no mode of primitives")));
                }
            }
            if mode == 5 {
                a = b;
            }
            b = c;
        }
        Ok(())
    }

    /// Adds a triangle of vertices that have these places in the picture; a mirror turns it.
    fn add_face(
        &self,
        [a, b, c]: [i64; 3],
        places: &[[f32; 2]],
        indexed: &mut Indexed,
        about: &str,
    ) -> Result<()> {
        let corners = if self.placed.is_mirror() { [a, c, b] } else { [a, b, c] };
        if !places.is_empty() {
            let place = |corner: &i64| places.get(usize::try_from(*corner).ok()?).copied();
            indexed.place_next(corners.iter().map_while(place));
        }
        indexed.triangle(corners, FilePosition::Of(about))
    }

    #[cfg(feature = "draco")]
    fn add_compressed(&self, extension: &GltfObject, indexed: &mut Indexed, about: &str) -> Result<()> {
        let decoded = super::draco::Decoded::new(extension, self.buffers, &|more| indexed.admit(more))?;
        indexed.hold(self.buffers.held.take())?;
        let points = match decoded.attribute::<3>("POSITION")? {
            Some((3, points)) => points,
            Some((count, _)) => {
                return Err(
                    extension.error(Code::S006, format!("its Draco data: positions of {count} numbers"))
                );
            }
            None => return Err(extension.error(Code::S006, "its Draco data: no positions")),
        };
        let lights = decoded.attribute::<3>("COLOR_0")?.map_or(vec![], |(_, lights)| lights);
        let lights: Vec<_> = lights.into_iter().map(|light| light.map(f64::from)).collect();
        let places = match &self.material.texture {
            Some(texture) => {
                let places = decoded.attribute::<2>(&format!("TEXCOORD_{}", texture.places))?;
                let places = places.map_or(vec![], |(_, places)| places);
                places.into_iter().map(|place| texture.place(place.map(f64::from))).collect()
            }
            None => vec![],
        };
        indexed.admit(64 * decoded.count())?;
        self.add_vertices(points.into_iter().map(|point| point.map(f64::from)), &lights, indexed, about)?;
        for triangle in decoded.triangles() {
            self.add_face(triangle.map(i64::from), &places, indexed, about)?;
        }
        Ok(())
    }

    #[cfg(not(feature = "draco"))]
    fn add_compressed(&self, _: &GltfObject, _: &mut Indexed, _: &str) -> Result<()> {
        Err(unknown_extension("KHR_draco_mesh_compression"))
    }
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
}
