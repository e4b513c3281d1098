//! Bodies: components of a mesh, each with the cavities that leave only thin walls of it.

use std::borrow::Cow;
use std::collections::HashSet;

use super::within;
use crate::geom::Triangle;
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::mesh::components::Component;

/// A component of a mesh, or a shell with its cavities.
pub(super) struct Body {
    /// As one component: the area and volume of all members, the bounds of the outer one.
    pub component: Component,
    /// The components of the mesh it is made of, the outer one first.
    pub members: Vec<usize>,
}

impl Body {
    fn of(outer: usize, components: &[Component]) -> Self {
        let component = Component { volume: components[outer].volume.abs(), ..components[outer] };
        Self { component, members: vec![outer] }
    }

    fn hollow(&mut self, cavity: usize, components: &[Component]) {
        let Component { triangles, area, volume, .. } = components[cavity];
        self.component.triangles += triangles;
        self.component.area += area;
        self.component.volume -= volume.abs();
        self.members.push(cavity);
    }

    /// Its triangles.
    pub(super) fn triangles(&self, triangles_of: &ByComponent) -> Vec<Triangle> {
        self.members.iter().flat_map(|component| triangles_of.of(*component).into_owned()).collect()
    }
}

/// The bodies of a mesh. A cavity is a component within the material of others that faces the other way than the mesh
/// as a whole; it belongs to the smallest component around it of which it leaves walls thinner than `size`. Where
/// walls are thick it is left a component by itself.
pub(super) fn of(components: &[Component], triangles_of: &ByComponent, size: f64) -> Vec<Body> {
    let sign = components.iter().map(|component| component.volume).sum::<f64>().signum();
    let (cavities, solids): (Vec<_>, Vec<_>) =
        (0..components.len()).partition(|component| components[*component].volume * sign < 0.0);
    let triangles = |component: usize| triangles_of.of(component).into_owned();
    let volume = |component: usize| components[component].volume.abs();
    let mut groups = within::groups(&cavities, &solids, components);
    for (component, inner) in &mut groups {
        inner.retain(|cavity| volume(*cavity) < volume(*component));
    }
    let is_thin = |(component, inner): &(usize, Vec<usize>)| {
        let mut body = Body::of(*component, components);
        inner.iter().for_each(|cavity| body.hollow(*cavity, components));
        !inner.is_empty() && body.component.volume > 0.0 && body.component.thickness() < size
    };
    groups.retain(is_thin);
    groups.sort_by(|(a, _), (b, _)| volume(*b).total_cmp(&volume(*a)).then(a.cmp(b)));
    let mut candidates: Vec<usize> = groups.iter().flat_map(|(_, inner)| inner).copied().collect();
    candidates.sort_unstable();
    candidates.dedup();
    let all: Vec<usize> = (0..components.len()).collect();
    let hollow: HashSet<_> =
        within::of(&candidates, &all, components, triangles, Seal::Oriented).into_iter().collect();
    let mut outer = vec![None; components.len()];
    for (component, mut inner) in groups {
        inner.retain(|cavity| hollow.contains(cavity));
        // The largest come first, so the smallest is what remains.
        for cavity in within::one(component, &inner, triangles) {
            outer[cavity] = Some(component);
        }
    }
    let mut bodies: Vec<Body> = vec![];
    let mut numbers = vec![0; components.len()];
    for component in (0..components.len()).filter(|component| outer[*component].is_none()) {
        numbers[component] = bodies.len();
        bodies.push(Body::of(component, components));
    }
    for (cavity, outer) in outer.iter().enumerate() {
        if let Some(outer) = outer {
            bodies[numbers[*outer]].hollow(cavity, components);
        }
    }
    bodies
}

/// The triangles of a mesh, sorted by component.
pub(super) struct ByComponent<'a> {
    pub mesh: &'a Mesh,
    starts: Vec<usize>,
    numbers: Vec<u32>,
}

impl<'a> ByComponent<'a> {
    pub(super) fn new(mesh: &'a Mesh, of: &[u32], components: usize) -> Self {
        let mut starts = vec![0; components + 1];
        of.iter().for_each(|component| starts[*component as usize + 1] += 1);
        (0..components).for_each(|component| starts[component + 1] += starts[component]);
        let mut numbers = vec![0; if components > 1 { of.len() } else { 0 }];
        let mut next = starts.clone();
        for (n, component) in (0..).zip(of).take(numbers.len()) {
            let place = &mut next[*component as usize];
            numbers[*place] = n;
            *place += 1;
        }
        Self { mesh, starts, numbers }
    }

    /// The triangles of a component: the mesh, if there is no other.
    pub(super) fn of(&self, component: usize) -> Cow<'a, [Triangle]> {
        let triangles = self.mesh.triangles();
        if self.numbers.is_empty() {
            return triangles.into();
        }
        let numbers = &self.numbers[self.starts[component]..self.starts[component + 1]];
        numbers.iter().map(|n| triangles[*n as usize]).collect()
    }
}
