//! Parts that the rule solid loses: those that hold no cell's centre, and those thinner than a cell, of which
//! it has scattered cells. They are named, or kept.
//!
//! A part is judged by itself, on the lattice as far as the mesh goes, so that it is the same wherever the
//! grid is cut. Parts that are not closed have no inside of their own and are not judged, nor are cavities:
//! parts within the bounds of a larger one whose volume has the other sign.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{Rule, What, inside};
use crate::error::Result;
use crate::geom::{Bounds, Point, Rational, Ties, Triangle};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::crossings::{Crosser, Crossing};
use crate::kernel::{Frame, Level};
use crate::mesh::closed::Seal;
use crate::mesh::parts::{MeshPart, Parts};
use crate::mesh::{Mesh, parts};
use crate::par;
use crate::run::Run;

/// Layers of which the crossings are in memory at a time.
const LAYERS: usize = 64;

/// What it takes to tell parts apart, in meshes: their vertices, in a table, and their triangles by part.
const MESHES: u128 = 5;

/// The bytes it takes beside mesh and grid, at most.
pub(super) fn bytes(mesh: &Mesh) -> u128 {
    MESHES * size_of::<Triangle>() as u128 * mesh.triangles().len() as u128
}

/// The parts that a rule loses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinParts {
    /// How many parts the mesh has.
    pub parts: u64,
    /// How many hold no cell's centre, wherever the grid ends.
    pub lost: u64,
    /// How many hold some and are thinner than a cell.
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
    let seal = mesh.seal();
    let inside = if seal == Seal::Oriented { inside::Inside::Nonzero } else { inside::Inside::Robust };
    let Parts { of, parts } = mesh.parts()?;
    let mut fates = vec![Fate::Whole; parts.len()];
    let judged = judged(mesh, seal, &of, &parts)?;
    let sorted = sorted(&of, parts.len());
    let asked = Asked { lattice: without_end(lattice, mesh.bounds()), seal, level: run.level()? };
    let size = (0..3).map(|a| lattice.spacing()[a].to_f64()).fold(f64::INFINITY, f64::min);
    let frame = Frame::of_centres(&asked.lattice, mesh.bounds(), 0);
    let found = par::share(&judged, |next| {
        let mut found = vec![];
        for &part in next {
            run.progress.check()?;
            if !asked.has_within(&frame, &parts[part].bounds) {
                continue;
            }
            let triangles = sorted.of(part).iter().map(|n| mesh.triangles()[*n as usize]);
            let triangles: Cow<[Triangle]> =
                if parts.len() == 1 { mesh.triangles().into() } else { triangles.collect() };
            let is_thin = parts[part].thickness() < size;
            if !asked.holds_a_centre(&frame, &triangles, &parts[part].bounds) {
                found.push((part, Fate::Lost));
            } else if is_thin {
                found.push((part, Fate::Scattered));
            }
        }
        Ok(found)
    });
    for (part, fate) in found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        fates[part] = fate;
    }
    drop_cavities(&parts, &mut fates);
    let told = told(&parts, &fates, size);
    let mesh = match (then, told) {
        (Then::Keep, Some(_)) => {
            let kept =
                of.iter().zip(mesh.triangles()).filter(|(part, _)| fates[**part as usize] != Fate::Whole);
            Some(Mesh::from_triangles(kept.map(|(_, triangle)| *triangle).collect())?)
        }
        _ => None,
    };
    Ok(Thin { told, mesh, inside })
}

/// The parts that have an inside of their own.
fn judged(mesh: &Mesh, seal: Seal, of: &[u32], parts: &[MeshPart]) -> Result<Vec<usize>> {
    let mut has_inside: Vec<bool> = parts.iter().map(|part| part.area > 0.0).collect();
    if seal == Seal::Open {
        let bits = |point: &Point| point.map(|c| (c + 0.0).to_bits());
        let rims: HashSet<_> = mesh.holes()?.iter().flat_map(|hole| hole.points.iter().map(bits)).collect();
        for (part, triangle) in of.iter().zip(mesh.triangles()) {
            if triangle.iter().any(|point| rims.contains(&bits(point))) {
                has_inside[*part as usize] = false;
            }
        }
    }
    Ok((0..parts.len()).filter(|part| has_inside[*part]).collect())
}

/// Triangles by part.
struct Sorted {
    starts: Vec<usize>,
    triangles: Vec<u32>,
}

impl Sorted {
    fn of(&self, part: usize) -> &[u32] {
        &self.triangles[self.starts[part]..self.starts[part + 1]]
    }
}

fn sorted(of: &[u32], parts: usize) -> Sorted {
    let mut starts = vec![0; parts + 1];
    of.iter().for_each(|part| starts[*part as usize + 1] += 1);
    (0..parts).for_each(|part| starts[part + 1] += starts[part]);
    let mut triangles = vec![0; of.len()];
    let mut next = starts.clone();
    for (n, part) in of.iter().enumerate() {
        let place = &mut next[*part as usize];
        triangles[*place] = n as u32;
        *place += 1;
    }
    Sorted { starts, triangles }
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

/// What is asked of parts.
struct Asked {
    lattice: Lattice,
    seal: Seal,
    level: Level,
}

impl Asked {
    /// Whether these bounds are within the lattice, or at most a quarter of a cell beyond.
    fn has_within(&self, frame: &Frame, bounds: &Bounds) -> bool {
        (0..3).all(|a| {
            // In a frame of centres the first wall is at −1/2.
            let [low, high] = [bounds.min[a], bounds.max[a]].map(|v| frame.axes[a].index(v));
            low >= -0.75 && high <= self.lattice.dims()[a] as f64 - 0.25
        })
    }

    /// Whether the centre of a cell is inside these triangles, in layers that their bounds reach: the one
    /// in the middle first, where there mostly is one.
    fn holds_a_centre(&self, frame: &Frame, triangles: &[Triangle], bounds: &Bounds) -> bool {
        let last = self.lattice.dims()[2] as f64 - 1.0;
        let layer = |v: f32| frame.axes[2].index(v).floor().clamp(0.0, last) as usize;
        // Doubles may be off by less than a layer.
        let (low, high) = (layer(bounds.min[2]).saturating_sub(1), layer(bounds.max[2]) + 2);
        let high = high.min(self.lattice.dims()[2]);
        let middle = (low + high) / 2;
        let bands = (low..high).step_by(LAYERS).map(|first| first..high.min(first + LAYERS));
        std::iter::once(middle..middle + 1).chain(bands).any(|band| self.is_in(frame, triangles, band))
    }

    /// The same in these layers.
    fn is_in(&self, frame: &Frame, triangles: &[Triangle], layers: Range<usize>) -> bool {
        let [nx, ny, _] = self.lattice.dims();
        let crosser = Crosser::new(frame, 0, [0..nx, 0..ny, layers]);
        let mut crossings = vec![];
        crosser.cross(self.level, triangles, |Crossing { row, first, inwards }| {
            crossings.push((row, first, inwards));
        });
        crossings.sort_unstable();
        let (mut turns, mut crossed) = (0, 0);
        crossings.iter().enumerate().any(|(n, (row, first, inwards))| {
            crossed += 1;
            turns += if *inwards { 1 } else { -1 };
            // Behind the last crossing of a row there are cells, too.
            let next = crossings.get(n + 1).filter(|(other, ..)| other == row);
            let is_inside = if self.seal == Seal::Oriented { turns != 0 } else { crossed % 2 == 1 };
            if next.is_none() {
                (turns, crossed) = (0, 0);
            }
            is_inside && next.is_none_or(|(_, next, _)| next > first)
        })
    }
}

/// Takes parts for whole that are cavities.
fn drop_cavities(parts: &[MeshPart], fates: &mut [Fate]) {
    let hollow: Vec<_> = (0..parts.len()).filter(|part| fates[*part] == Fate::Whole).collect();
    for part in 0..parts.len() {
        let MeshPart { bounds, volume, .. } = parts[part];
        let is_around = |other: &&usize| {
            let around = &parts[**other];
            let is_beyond =
                |a: usize| around.bounds.min[a] < bounds.min[a] && around.bounds.max[a] > bounds.max[a];
            around.volume * volume < 0.0 && (0..3).all(is_beyond)
        };
        if fates[part] != Fate::Whole && hollow.iter().any(|other| is_around(&other)) {
            fates[part] = Fate::Whole;
        }
    }
}

fn told(parts: &[MeshPart], fates: &[Fate], cell: f64) -> Option<ThinParts> {
    let count = |fate: Fate| fates.iter().filter(|other| **other == fate).count() as u64;
    let (lost, scattered) = (count(Fate::Lost), count(Fate::Scattered));
    let shown = if lost > 0 { Fate::Lost } else { Fate::Scattered };
    let these = |wanted: fn(Fate, Fate) -> bool| {
        parts.iter().zip(fates).filter(move |(_, fate)| wanted(**fate, shown)).map(|(part, _)| part)
    };
    let largest =
        these(|fate, shown| fate == shown).reduce(|a, b| if parts::longer(b, a) { b } else { a })?;
    let thickness =
        these(|fate, _| fate != Fate::Whole).map(MeshPart::thickness).fold(f64::INFINITY, f64::min);
    Some(ThinParts { parts: parts.len() as u64, lost, scattered, largest: *largest, thickness, cell })
}
