//! Bodies: parts of a mesh, each with the cavities that leave only thin walls of it.

use std::collections::HashSet;

use super::{Sorted, within};
use crate::geom::Triangle;
use crate::mesh::closed::Seal;
use crate::mesh::parts::MeshPart;

/// A part of a mesh, or a shell with what is hollow in it.
pub(super) struct Body {
    /// As a part: area and volume are those of all its members, the bounds those of the outer one.
    pub part: MeshPart,
    /// The parts of the mesh it is made of, the outer one first.
    pub members: Vec<usize>,
}

impl Body {
    fn of(outer: usize, parts: &[MeshPart]) -> Self {
        let part = MeshPart { volume: parts[outer].volume.abs(), ..parts[outer] };
        Self { part, members: vec![outer] }
    }

    fn hollow(&mut self, cavity: usize, parts: &[MeshPart]) {
        let MeshPart { triangles, area, volume, .. } = parts[cavity];
        self.part.triangles += triangles;
        self.part.area += area;
        self.part.volume -= volume.abs();
        self.members.push(cavity);
    }

    /// Its triangles.
    pub fn triangles(&self, sorted: &Sorted) -> Vec<Triangle> {
        self.members.iter().flat_map(|part| sorted.of(*part).into_owned()).collect()
    }
}

/// The bodies of a mesh. A cavity is a part within the material of others that faces the other way than the mesh
/// as a whole; it belongs to the smallest part around it of which it leaves walls thinner than `size`. Where
/// walls are thick it is left a part by itself.
pub(super) fn of(parts: &[MeshPart], sorted: &Sorted, size: f64) -> Vec<Body> {
    let sign = parts.iter().map(|part| part.volume).sum::<f64>().signum();
    let (cavities, solids): (Vec<_>, Vec<_>) =
        (0..parts.len()).partition(|part| parts[*part].volume * sign < 0.0);
    let triangles = |part: usize| sorted.of(part).into_owned();
    let volume = |part: usize| parts[part].volume.abs();
    let mut groups = within::groups(&cavities, &solids, parts);
    for (part, inner) in &mut groups {
        inner.retain(|cavity| volume(*cavity) < volume(*part));
    }
    let is_thin = |(part, inner): &(usize, Vec<usize>)| {
        let mut body = Body::of(*part, parts);
        inner.iter().for_each(|cavity| body.hollow(*cavity, parts));
        !inner.is_empty() && body.part.volume > 0.0 && body.part.thickness() < size
    };
    groups.retain(is_thin);
    groups.sort_by(|(a, _), (b, _)| volume(*b).total_cmp(&volume(*a)).then(a.cmp(b)));
    let mut asked: Vec<usize> = groups.iter().flat_map(|(_, inner)| inner).copied().collect();
    asked.sort_unstable();
    asked.dedup();
    let all: Vec<usize> = (0..parts.len()).collect();
    let hollow: HashSet<_> = within::of(&asked, &all, parts, triangles, Seal::Oriented).into_iter().collect();
    let mut outer = vec![None; parts.len()];
    for (part, mut inner) in groups {
        inner.retain(|cavity| hollow.contains(cavity));
        // The largest come first, so the smallest is what remains.
        for cavity in within::one(part, &inner, triangles) {
            outer[cavity] = Some(part);
        }
    }
    let mut bodies: Vec<Body> = vec![];
    let mut numbers = vec![0; parts.len()];
    for part in (0..parts.len()).filter(|part| outer[*part].is_none()) {
        numbers[part] = bodies.len();
        bodies.push(Body::of(part, parts));
    }
    for (cavity, outer) in outer.iter().enumerate() {
        if let Some(outer) = outer {
            bodies[numbers[*outer]].hollow(cavity, parts);
        }
    }
    bodies
}
