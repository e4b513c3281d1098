//! Parts that the rule solid loses: those that hold no cell's centre, and thin ones that have cells for some
//! of them only. They are named, or kept.
//!
//! A part is judged by itself, and a shell with its cavities if its walls are thin; on the lattice as far as
//! the mesh goes, so that it is the same wherever the grid is cut. Parts that are not closed have no inside of
//! their own and are not judged; parts within the material of others, as cavities are, lose nothing. Of a mesh
//! that does not face one way the repaired one is judged.

mod bodies;
mod centres;
mod within;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use self::bodies::Body;
use self::centres::Asked;
use super::{Rule, What, inside};
use crate::error::Result;
use crate::geom::{Bounds, Point, Rational, Ties, Triangle};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::Frame;
use crate::mesh::closed::Seal;
use crate::mesh::parts::{MeshPart, Parts};
use crate::mesh::repair::Repaired;
use crate::mesh::{Mesh, parts};
use crate::par;
use crate::run::Run;

/// What it takes to tell parts apart, in meshes: most where every triangle is a part.
const MESHES: u128 = 4;

/// The bytes that [`thin_parts`] takes beside the mesh, at most.
pub fn thin_parts_bytes(mesh: &Mesh) -> u128 {
    let repair = if mesh.seal() == Seal::Oriented { 0 } else { inside::Inside::Robust.info().meshes };
    (MESHES + repair) * size_of::<Triangle>() as u128 * mesh.triangles().len() as u128
}

/// The parts that a rule loses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinParts {
    /// How many parts the mesh has.
    pub parts: u64,
    /// How many hold no cell's centre, wherever the grid ends.
    pub lost: u64,
    /// How many are thinner than a cell and have cells for some of them only: these do not hang together by
    /// faces, or end a cell and more before the part does.
    pub scattered: u64,
    /// The one with the longest diagonal, of the lost if there are any.
    pub largest: MeshPart,
    /// The least thickness of all these.
    pub thickness: f64,
    /// The size of a cell along the axis where it is smallest.
    pub cell: f64,
}

/// What was found out about the parts of a mesh.
pub(super) struct Thin {
    /// `None` if no part is lost or thin.
    pub told: Option<ThinParts>,
    /// The lost and the thin ones, if they are to be kept.
    mesh: Option<Mesh>,
    /// The way to tell their inside.
    inside: inside::Inside,
}

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Whole,
    Scattered,
    Lost,
}

impl Thin {
    /// Adds the cells of the rule filled of the parts that are to be kept.
    pub(super) fn keep(
        &self,
        lattice: &Lattice,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
    ) -> Result<()> {
        let Some(mesh) = &self.mesh else { return Ok(()) };
        let filled = Rule::Filled.with_ties(Ties::None);
        let filled = What { inside: Some(self.inside), ..filled };
        filled.prepare(mesh, lattice, run)?.fill(layers, run, grid).map(drop)
    }
}

/// Whether lost and thin parts are only named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Tell,
    Keep,
}

/// The parts of a mesh that [`Rule::Solid`] loses or has scattered cells of; `None` if there are none.
///
/// # Errors
/// If there are too many triangles, memory is not there, the level does not exist here, or the run was
/// cancelled.
pub fn thin_parts(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Option<ThinParts>> {
    par::with_threads(run.threads(), || Ok(find(mesh, lattice, Then::Tell, run)?.told))?
}

/// Finds the lost and the thin parts of a mesh, in the threads this is called in.
///
/// # Errors
/// If there are too many triangles, memory is not there, or the run was cancelled.
pub(super) fn find(mesh: &Mesh, lattice: &Lattice, then: Then, run: &Run) -> Result<Thin> {
    let repaired = match mesh.seal() {
        Seal::Oriented => None,
        _ => Some(Mesh::from_triangles(Repaired::with(mesh, run.progress)?.triangles)?),
    };
    let mesh = repaired.as_ref().unwrap_or(mesh);
    let seal = mesh.seal();
    let inside = if seal == Seal::Oriented { inside::Inside::Nonzero } else { inside::Inside::Robust };
    let Parts { of, parts } = mesh.parts()?;
    let sorted = Sorted::new(mesh, &of, parts.len());
    let size = (0..3).map(|a| lattice.spacing()[a].to_f64()).fold(f64::INFINITY, f64::min);
    run.progress.check()?;
    let bodies = bodies::of(&parts, &sorted, size);
    let fates = fates(lattice, seal, &parts, &bodies, &sorted, size, run)?;
    let told = told(&bodies, &fates, size);
    let mesh = match (then, told) {
        (Then::Keep, Some(_)) => {
            let kept = bodies.iter().zip(&fates).filter(|(_, fate)| **fate != Fate::Whole);
            Some(Mesh::from_triangles(kept.flat_map(|(body, _)| body.triangles(&sorted)).collect())?)
        }
        _ => None,
    };
    Ok(Thin { told, mesh, inside })
}

/// What becomes of each body; cells are as small as `size` along some axis.
fn fates(
    lattice: &Lattice,
    seal: Seal,
    parts: &[MeshPart],
    bodies: &[Body],
    sorted: &Sorted,
    size: f64,
    run: &Run,
) -> Result<Vec<Fate>> {
    let wide = without_end(lattice, sorted.mesh.bounds());
    let frame = Frame::of_centres(&wide, sorted.mesh.bounds(), 0);
    let asked = Asked { lattice: wide, frame, seal, level: run.level()? };
    let judged = judged(lattice, seal, bodies, sorted)?;
    let found = par::share(&judged, |next| {
        let mut found = vec![];
        for &n in next {
            run.progress.check()?;
            let Body { part, members } = &bodies[n];
            if !asked.has_within(&part.bounds) {
                continue;
            }
            let triangles = match members[..] {
                [one] => sorted.of(one),
                _ => bodies[n].triangles(sorted).into(),
            };
            let fate = if part.thickness() < size {
                asked.cells(&triangles, &part.bounds)
            } else if asked.holds_a_centre(&triangles, &part.bounds) {
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
    let (mut whole, mut lost, mut body_of) = (vec![], vec![], vec![0; parts.len()]);
    for (n, (body, fate)) in bodies.iter().zip(&fates).enumerate() {
        if *fate == Fate::Whole {
            whole.extend(&body.members);
        } else {
            lost.push(body.members[0]);
            body_of[body.members[0]] = n;
        }
    }
    for part in within::of(&lost, &whole, parts, |part| sorted.of(part).into_owned(), seal) {
        fates[body_of[part]] = Fate::Whole;
    }
    Ok(fates)
}

/// The bodies that have an inside of their own, and share in the grid.
fn judged(lattice: &Lattice, seal: Seal, bodies: &[Body], sorted: &Sorted) -> Result<Vec<usize>> {
    let meets = |part: &MeshPart| {
        (0..3).all(|a| {
            let [low, high] =
                [part.bounds.min[a], part.bounds.max[a]].map(|v| lattice.axis(a).index(v).floor());
            let last = lattice.dims()[a] as i64 - 1;
            low.is_none_or(|low| low <= last) && high.is_none_or(|high| high >= 0)
        })
    };
    let bits = |point: &Point| point.map(|c| (c + 0.0).to_bits());
    let holes = if seal == Seal::Open { sorted.mesh.holes()? } else { vec![] };
    let rims: HashSet<_> = holes.iter().flat_map(|hole| hole.points.iter().map(bits)).collect();
    let ends = |part: &usize| {
        !rims.is_empty() && sorted.of(*part).as_flattened().iter().any(|point| rims.contains(&bits(point)))
    };
    let is_judged =
        |body: &Body| body.part.volume != 0.0 && meets(&body.part) && !body.members.iter().any(ends);
    Ok((0..bodies.len()).filter(|n| is_judged(&bodies[*n])).collect())
}

/// Triangles by part.
struct Sorted<'a> {
    mesh: &'a Mesh,
    starts: Vec<usize>,
    numbers: Vec<u32>,
}

impl<'a> Sorted<'a> {
    fn new(mesh: &'a Mesh, of: &[u32], parts: usize) -> Self {
        let mut starts = vec![0; parts + 1];
        of.iter().for_each(|part| starts[*part as usize + 1] += 1);
        (0..parts).for_each(|part| starts[part + 1] += starts[part]);
        let mut numbers = vec![0; if parts > 1 { of.len() } else { 0 }];
        let mut next = starts.clone();
        for (n, part) in (0..).zip(of).take(numbers.len()) {
            let place = &mut next[*part as usize];
            numbers[*place] = n;
            *place += 1;
        }
        Self { mesh, starts, numbers }
    }

    /// The triangles of a part: the mesh, if there is no other.
    fn of(&self, part: usize) -> Cow<'a, [Triangle]> {
        let triangles = self.mesh.triangles();
        if self.numbers.is_empty() {
            return triangles.into();
        }
        let numbers = &self.numbers[self.starts[part]..self.starts[part + 1]];
        numbers.iter().map(|n| triangles[*n as usize]).collect()
    }
}

/// More cells along an axis than these, and than the lattice has, are not added around it.
const MOST: usize = 1 << 13;

/// The same cells, and as many more as reach around a mesh of these bounds; the lattice itself if the mesh is
/// very much larger: then parts that go beyond it are not judged.
fn without_end(lattice: &Lattice, bounds: &Bounds) -> Lattice {
    let (mut dims, mut origin) = (lattice.dims(), lattice.origin().clone());
    for a in 0..3 {
        let index = |v: f32| lattice.axis(a).index(v).floor();
        let (Some(low), Some(high)) = (index(bounds.min[a]), index(bounds.max[a])) else {
            return lattice.clone();
        };
        let (low, high) = (low.min(0), high.saturating_add(1).max(dims[a] as i64));
        let wider = high.saturating_sub(low) as usize;
        if wider > dims[a].max(MOST) {
            return lattice.clone();
        }
        dims[a] = wider;
        origin[a] = &origin[a] + &(&lattice.spacing()[a] * &Rational::from(low));
    }
    let wider = Lattice::new(dims, origin, lattice.spacing().clone(), lattice.closed());
    wider.map_or_else(|_| lattice.clone(), |wider| wider.with_snap(lattice.snap()))
}

fn told(bodies: &[Body], fates: &[Fate], cell: f64) -> Option<ThinParts> {
    let count = |fate: Fate| fates.iter().filter(|other| **other == fate).count() as u64;
    let (lost, scattered) = (count(Fate::Lost), count(Fate::Scattered));
    let shown = if lost > 0 { Fate::Lost } else { Fate::Scattered };
    let these = |wanted: fn(Fate, Fate) -> bool| {
        bodies.iter().zip(fates).filter(move |(_, fate)| wanted(**fate, shown)).map(|(body, _)| &body.part)
    };
    let largest =
        these(|fate, shown| fate == shown).reduce(|a, b| if parts::longer(b, a) { b } else { a })?;
    let thickness =
        these(|fate, _| fate != Fate::Whole).map(MeshPart::thickness).fold(f64::INFINITY, f64::min);
    Some(ThinParts { parts: bodies.len() as u64, lost, scattered, largest: *largest, thickness, cell })
}
