//! From a scene to triangles: nodes, their matrices, and the primitives of their meshes.

use super::super::ReadOptions;
use super::super::affine::Affine;
use super::super::indexed::{FilePosition, Indexed, channel_of_light};
use super::super::triage::Triage;
use super::accessor::Accessor;
use super::buffers::Buffers;
use super::document::{GltfObject, unknown_extension};
use crate::error::{Code, Result};

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
                Primitive { buffers, triage, object: primitive, placed }.add(indexed)?;
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
}

impl Primitive<'_> {
    fn add(&self, indexed: &mut Indexed) -> Result<()> {
        let mode = self.object.whole("mode")?.unwrap_or(4);
        if mode < 4 {
            let error = || self.object.error(Code::S107, "points and lines are left out");
            return self.triage.found_all(Code::S107, 1, error);
        }
        let mut light = None;
        let material = match self.object.whole("material")? {
            None => String::new(),
            Some(index) => {
                let material = self.buffers.document.get("materials", index)?;
                let surface = material.inner("pbrMetallicRoughness");
                light = surface.map(|surface| surface.numbers::<4>("baseColorFactor")).transpose()?.flatten();
                if material.name().is_empty() { format!("material {index}") } else { material.name().into() }
            }
        };
        indexed.begin_material(material)?;
        let light = light.map(|[r, g, b, _]| [r, g, b]);
        indexed.set_base_colour(light.map(|light| light.map(channel_of_light)));
        indexed.begin_vertices();
        let about = self.object.path();
        let extension =
            self.object.inner("extensions").and_then(|all| all.inner("KHR_draco_mesh_compression"));
        match extension {
            Some(extension) => self.add_compressed(&extension, indexed, &about),
            None => self.add_plain(mode, light, indexed, &about),
        }
    }

    /// The colours of vertices, in the light that the material leaves of them.
    fn colours(&self, light: Option<[f64; 3]>, indexed: &Indexed) -> Result<Vec<[u8; 3]>> {
        let attributes = self.object.inner("attributes");
        let Some(index) = attributes.map(|all| all.whole("COLOR_0")).transpose()?.flatten() else {
            return Ok(vec![]);
        };
        let factor = light.unwrap_or([1.0; 3]);
        let seen = |[r, g, b]: [f64; 3]| [r * factor[0], g * factor[1], b * factor[2]].map(channel_of_light);
        let admit = |more| indexed.admit(more);
        let accessor = self.buffers.document.get("accessors", index)?;
        let most = |count: u64| indexed.admit(3 * count);
        if accessor.text("type") == Some("VEC4") {
            let colours = Accessor::<4>::new(self.buffers, index, &admit)?;
            most(colours.count)?;
            return Ok(colours.shares().map(|[r, g, b, _]| seen([r, g, b])).collect());
        }
        let colours = Accessor::<3>::new(self.buffers, index, &admit)?;
        most(colours.count)?;
        Ok(colours.shares().map(seen).collect())
    }

    fn add_plain(
        &self,
        mode: u64,
        light: Option<[f64; 3]>,
        indexed: &mut Indexed,
        about: &str,
    ) -> Result<()> {
        let attributes = self.object.inner("attributes");
        let Some(position) = attributes.map(|all| all.whole("POSITION")).transpose()?.flatten() else {
            return Err(self.object.error(Code::S006, "a primitive without positions"));
        };
        let points = Accessor::<3>::new(self.buffers, position, &|more| indexed.admit(more))?;
        let colours = self.colours(light, indexed)?;
        indexed.hold(self.buffers.held.take())?;
        if !colours.is_empty() {
            indexed.set_base_colour(None);
        }
        for (n, point) in points.iter().enumerate() {
            indexed.vertex(self.placed.apply(point), FilePosition::Of(about))?;
            colours.get(n).map_or(Ok(()), |colour| indexed.colour_vertex(*colour))?;
        }
        match self.object.whole("indices")? {
            None => self.add_faces(mode, points.count, (0..points.count).map(|n| n as i64), indexed, about),
            Some(indices) => {
                let indices = Accessor::<1>::new(self.buffers, indices, &|more| indexed.admit(more))?;
                if indices.is_float() {
                    return Err(self.object.error(Code::S006, "its indices are no whole numbers"));
                }
                indexed.hold(self.buffers.held.take())?;
                let places = indices.iter().map(|[n]| n as i64);
                self.add_faces(mode, indices.count, places, indexed, about)
            }
        }
    }

    /// Adds the triangles of corners in this mode.
    fn add_faces(
        &self,
        mode: u64,
        count: u64,
        mut places: impl Iterator<Item = i64>,
        indexed: &mut Indexed,
        about: &str,
    ) -> Result<()> {
        let mut face = |corners: [i64; 3]| self.add_face(corners, indexed, about);
        if mode == 4 {
            while let (Some(a), Some(b), Some(c)) = (places.next(), places.next(), places.next()) {
                face([a, b, c])?;
            }
            if !count.is_multiple_of(3) {
                let text = format!("{count} corners, which are no whole number of triangles");
                self.triage.found(self.object.error(Code::S006, text))?;
            }
            return Ok(());
        }
        let (Some(mut a), Some(mut b)) = (places.next(), places.next()) else { return Ok(()) };
        for (n, c) in places.enumerate() {
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

    /// Adds a triangle; a mirror turns it.
    fn add_face(&self, [a, b, c]: [i64; 3], indexed: &mut Indexed, about: &str) -> Result<()> {
        let corners = if self.placed.is_mirror() { [a, c, b] } else { [a, b, c] };
        indexed.face(corners.into_iter().map(Ok), FilePosition::Of(about))
    }

    #[cfg(feature = "draco")]
    fn add_compressed(&self, extension: &GltfObject, indexed: &mut Indexed, about: &str) -> Result<()> {
        let decoded = super::draco::decode(extension, self.buffers, &|more| indexed.admit(more))?;
        indexed.hold(self.buffers.held.take())?;
        for point in decoded.points {
            indexed.vertex(self.placed.apply(point.map(f64::from)), FilePosition::Of(about))?;
        }
        for triangle in decoded.triangles {
            self.add_face(triangle.map(i64::from), indexed, about)?;
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
