//! What the rule solid loses: parts that hold no cell's centre, thin ones that have cells for some of them only,
//! and places of others, such as thin ribs ([`places`]). They are named, or kept.
//!
//! A part is judged by itself, and a shell with its cavities if its walls are thin; on the lattice as far as
//! the mesh goes, so that it is the same wherever the grid is cut. Parts that are not closed have no inside of
//! their own and are not judged; parts within the material of others, as cavities are, lose nothing. Of a mesh
//! that does not face one way the repaired one is judged.

mod bodies;
mod centres;
mod pieces;
mod places;
mod window;
mod within;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use self::bodies::Body;
use self::centres::Asked;
use self::places::Around;
pub use self::places::ThinPlaces;
use super::{Rule, inside, surface};
use crate::error::{Error, Result};
use crate::geom::{Bounds, Point, Rational, Ties, Triangle};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::KernelLattice;
use crate::mesh::closed::Seal;
use crate::mesh::parts::{MeshPart, Parts};
use crate::mesh::repair::Repaired;
use crate::mesh::{Mesh, parts};
use crate::par;
use crate::run::Run;

/// What it takes to tell parts apart, in meshes: most where every triangle is a part.
const MESHES: u128 = 4;

/// The bytes that [`lost`] takes beside the mesh, at most.
pub fn lost_bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    let repair = if mesh.seal() == Seal::Oriented { 0 } else { inside::Inside::Robust.info().meshes };
    let parts = (MESHES + repair) * size_of::<Triangle>() as u128 * mesh.triangles().len() as u128;
    parts + places::bytes(mesh, lattice, run)
}

/// What the rule solid loses of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lost {
    /// Parts of it, if any.
    pub parts: Option<ThinParts>,
    /// Places of other parts, if any.
    pub places: Option<ThinPlaces>,
    /// Whether places were looked for: the mesh is closed, or can be turned so.
    pub closed: bool,
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

/// What was found out about a mesh.
pub(super) struct Thin {
    /// What is lost.
    pub told: Lost,
    /// The lost and the thin parts, if there are any.
    parts: Option<Mesh>,
    /// The way to tell their inside.
    inside: inside::Inside,
    /// Where there are places to be kept.
    places: Option<Around>,
    /// The mesh, if it had to be repaired.
    repaired: Option<Mesh>,
}

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Whole,
    Scattered,
    Lost,
}

impl Thin {
    /// Adds the cells of the rule filled of what is to be kept.
    pub(super) fn keep(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
    ) -> Result<()> {
        if let Some(around) = &self.places {
            let mesh = self.repaired.as_ref().unwrap_or(mesh);
            places::keep(mesh, self.parts.as_ref(), around, layers.clone(), run, grid)?;
        }
        let Some(parts) = &self.parts else { return Ok(()) };
        filled(self.inside).prepare(parts, lattice, run)?.fill(layers, run, grid).map(drop)
    }
}

/// The cells that share volume with a mesh, as long as `inside` tells that of its centres.
fn filled(inside: inside::Inside) -> Rule {
    Rule::Filled { inside, ties: Ties::None, shell: None }
}

/// What [`Rule::Solid`] loses of a mesh, or has scattered cells of. `solid` are the cells of the lattice whose
/// centres are inside by [`Inside::Nonzero`](inside::Inside::Nonzero), if they are there already: that saves
/// filling them again, and takes at most as much memory as they do beside [`lost_bytes`].
///
/// # Errors
/// If the dims differ, there are too many triangles, memory is not there, the level does not exist here, or
/// the run was cancelled.
pub fn lost(mesh: &Mesh, lattice: &Lattice, solid: Option<&BitGrid>, run: &Run) -> Result<Lost> {
    if solid.is_some_and(|solid| solid.dims() != lattice.dims()) {
        return Err(Error::usage("the grid has other dims than the lattice"));
    }
    par::with_threads(run.threads(), || Ok(find(mesh, lattice, solid, run)?.told))?
}

/// Finds what of a mesh is lost, in the threads this is called in; `solid` as in [`lost`].
///
/// # Errors
/// If there are too many triangles, memory is not there, or the run was cancelled.
pub(super) fn find(mesh: &Mesh, lattice: &Lattice, solid: Option<&BitGrid>, run: &Run) -> Result<Thin> {
    let repaired = match mesh.seal() {
        Seal::Oriented => None,
        _ => Some(Mesh::from_triangles(Repaired::with(mesh, run.progress)?.triangles)?),
    };
    let mesh = repaired.as_ref().unwrap_or(mesh);
    let is_oriented = mesh.seal() == Seal::Oriented;
    let inside = if is_oriented { inside::Inside::Nonzero } else { inside::Inside::Robust };
    let (told, parts) = find_parts(mesh, lattice, run)?;
    let mut thin = Thin {
        told: Lost { parts: told, places: None, closed: is_oriented },
        parts,
        inside,
        places: None,
        repaired: None,
    };
    if is_oriented {
        let around = Around::new(lattice, mesh.bounds())?;
        let solid = solid.filter(|_| repaired.is_none());
        let found = places::find(mesh, thin.parts.as_ref(), lattice, solid, &around, run)?;
        thin.told.places = found.told;
        thin.places = found.any.then_some(around);
    }
    Ok(Thin { repaired, ..thin })
}

/// Finds the parts that are lost or thin, and makes a mesh of these.
fn find_parts(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<(Option<ThinParts>, Option<Mesh>)> {
    let Parts { of, parts } = mesh.parts()?;
    let sorted = Sorted::new(mesh, &of, parts.len());
    let size = (0..3).map(|a| lattice.spacing()[a].to_f64()).fold(f64::INFINITY, f64::min);
    run.progress.check()?;
    let bodies = bodies::of(&parts, &sorted, size);
    let fates = fates(lattice, mesh.seal(), &parts, &bodies, &sorted, size, run)?;
    let told = told(&bodies, &fates, size);
    let lost = told.map(|_| {
        let lost = bodies.iter().zip(&fates).filter(|(_, fate)| **fate != Fate::Whole);
        Mesh::from_triangles(lost.flat_map(|(body, _)| body.triangles(&sorted)).collect())
    });
    Ok((told, lost.transpose()?))
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
    let frame = KernelLattice::of_centres(wide.axes(), sorted.mesh.bounds(), 0);
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
    let dims = lattice.dims();
    let (mut before, mut behind) = ([0; 3], [0; 3]);
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

/// The same cells, and as many more before and behind them along each axis.
fn grown(lattice: &Lattice, before: [usize; 3], behind: [usize; 3]) -> Result<Lattice> {
    let dims = [0, 1, 2].map(|a| before[a] + lattice.dims()[a] + behind[a]);
    let spacing = lattice.spacing();
    let origin =
        [0, 1, 2].map(|a| &lattice.origin()[a] + &(&spacing[a] * &Rational::from(-(before[a] as i64))));
    let wider = Lattice::new(dims, origin, spacing.clone(), lattice.closed())?;
    Ok(wider.with_snap(lattice.snap()))
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
