//! Lost components: those that contain no cell centre, and thin ones that have cells for only some of their extent.

use std::collections::HashSet;

use super::bodies::{self, Body, ByComponent};
use super::centres::{ComponentTest, Fate};
use super::report::LostComponents;
use super::{grown, within};
use crate::error::Result;
use crate::geom::{Bounds, Point};
use crate::grid::Lattice;
use crate::kernel::KernelLattice;
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::mesh::components::{Component, Components, longer};
use crate::par;
use crate::par::Progress;
use crate::run::Run;

/// Finds the lost and scattered components, and makes a mesh of them.
pub(super) fn find(
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
) -> Result<(Option<LostComponents>, Option<Mesh>)> {
    let Components { of, components } = mesh.components()?;
    let triangles_of = ByComponent::new(mesh, &of, components.len());
    let size = (0..3).map(|a| lattice.spacing()[a].to_f64()).fold(f64::INFINITY, f64::min);
    run.check()?;
    let bodies = bodies::of(&components, &triangles_of, size);
    let fates = fates(lattice, mesh.seal(), &components, &bodies, &triangles_of, size, run)?;
    let report = report(&bodies, &fates, size);
    let lost = report.map(|_| {
        let lost = bodies.iter().zip(&fates).filter(|(_, fate)| **fate != Fate::Whole);
        Mesh::from_triangles(lost.flat_map(|(body, _)| body.triangles(&triangles_of)).collect())
    });
    Ok((report, lost.transpose()?))
}

/// The fate of each body; `size` is that of a cell along the axis where it is smallest.
fn fates(
    lattice: &Lattice,
    seal: Seal,
    components: &[Component],
    bodies: &[Body],
    triangles_of: &ByComponent,
    size: f64,
    run: &Run,
) -> Result<Vec<Fate>> {
    let wide = extended(lattice, triangles_of.mesh.bounds());
    let frame = KernelLattice::of_centres(wide.axes(), triangles_of.mesh.bounds(), 0);
    let test = ComponentTest { lattice: wide, frame, seal, level: run.supported_level()? };
    let judged = judged(lattice, seal, bodies, triangles_of)?;
    let found = par::share(&judged, |next| {
        let mut found = vec![];
        for &n in next {
            run.check()?;
            let Body { component, members } = &bodies[n];
            if !test.has_within(&component.bounds) {
                continue;
            }
            let triangles = match members[..] {
                [one] => triangles_of.of(one),
                _ => bodies[n].triangles(triangles_of).into(),
            };
            let fate = if component.thickness() < size {
                test.cells(&triangles, &component.bounds)
            } else if test.holds_a_centre(&triangles, &component.bounds) {
                Fate::Whole
            } else {
                Fate::Lost
            };
            found.push((n, fate));
        }
        Ok(found)
    });
    let mut fates = vec![Fate::Whole; bodies.len()];
    for (n, fate) in found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        fates[n] = fate;
    }
    let (mut whole, mut lost, mut body_of) = (vec![], vec![], vec![0; components.len()]);
    for (n, (body, fate)) in bodies.iter().zip(&fates).enumerate() {
        if *fate == Fate::Whole {
            whole.extend(&body.members);
        } else {
            lost.push(body.members[0]);
            body_of[body.members[0]] = n;
        }
    }
    for component in
        within::of(&lost, &whole, components, |component| triangles_of.of(component).into_owned(), seal)
    {
        fates[body_of[component]] = Fate::Whole;
    }
    Ok(fates)
}

/// The bodies that have an inside of their own and reach into the grid.
fn judged(lattice: &Lattice, seal: Seal, bodies: &[Body], triangles_of: &ByComponent) -> Result<Vec<usize>> {
    let meets = |component: &Component| {
        (0..3).all(|a| {
            let [low, high] =
                [component.bounds.min[a], component.bounds.max[a]].map(|v| lattice.axis(a).index(v).floor());
            let last = lattice.dims()[a] as i64 - 1;
            low.is_none_or(|low| low <= last) && high.is_none_or(|high| high >= 0)
        })
    };
    let bits = |point: &Point| point.map(|c| (c + 0.0).to_bits());
    let holes = if seal == Seal::Open { triangles_of.mesh.holes()? } else { vec![] };
    let rims: HashSet<_> = holes.iter().flat_map(|hole| hole.points.iter().map(bits)).collect();
    let ends = |component: &usize| {
        !rims.is_empty()
            && triangles_of.of(*component).as_flattened().iter().any(|point| rims.contains(&bits(point)))
    };
    let is_judged = |body: &Body| {
        body.component.volume != 0.0 && meets(&body.component) && !body.members.iter().any(ends)
    };
    Ok((0..bodies.len()).filter(|n| is_judged(&bodies[*n])).collect())
}

/// A lattice is extended to so many cells along an axis, or as many as it has, and no further.
const MOST: usize = 1 << 13;

/// The lattice, extended to reach around a mesh of these bounds; the lattice itself if the mesh is very much
/// larger: then components that extend beyond it are not judged.
fn extended(lattice: &Lattice, bounds: &Bounds) -> Lattice {
    let dims = lattice.dims();
    let (mut before, mut behind) = ([0; 3], [0; 3]);
    if bounds.is_empty() {
        // No component has a volume.
        return lattice.clone();
    }
    for a in 0..3 {
        let index = |v: f32| lattice.axis(a).index(v).floor();
        let (Some(low), Some(high)) = (index(bounds.min[a]), index(bounds.max[a])) else {
            return lattice.clone();
        };
        let (low, high) = (low.min(0), high.saturating_add(1).max(dims[a] as i64));
        if high.saturating_sub(low) as usize > dims[a].max(MOST) {
            return lattice.clone();
        }
        (before[a], behind[a]) = (low.unsigned_abs() as usize, high as usize - dims[a]);
    }
    grown(lattice, before, behind).unwrap_or_else(|_| lattice.clone())
}

/// The lost components; `None` if there are none.
fn report(bodies: &[Body], fates: &[Fate], cell: f64) -> Option<LostComponents> {
    let count = |fate: Fate| fates.iter().filter(|other| **other == fate).count() as u64;
    let (lost, scattered) = (count(Fate::Lost), count(Fate::Scattered));
    let shown = if lost > 0 { Fate::Lost } else { Fate::Scattered };
    let these = |wanted: fn(Fate, Fate) -> bool| {
        bodies
            .iter()
            .zip(fates)
            .filter(move |(_, fate)| wanted(**fate, shown))
            .map(|(body, _)| &body.component)
    };
    let largest = these(|fate, shown| fate == shown).reduce(|a, b| if longer(b, a) { b } else { a })?;
    let thickness =
        these(|fate, _| fate != Fate::Whole).map(Component::thickness).fold(f64::INFINITY, f64::min);
    Some(LostComponents {
        components: bodies.len() as u64,
        lost,
        scattered,
        largest: *largest,
        thickness,
        cell,
    })
}
