//! The method flood: a cell is inside unless it is reachable from outside the grid. The flood steps between
//! cells that share a face and does not enter cells that the surface touches.
//!
//! The mesh need not be oriented. It may have holes that are smaller than cells. The flood leaks through
//! larger holes, and the leaks are reported. If holes are closed first, their caps stop the flood as the
//! surface does.

use std::ops::Range;

use super::{FillInside, Inside, InsideReport, PreparedInside};
use crate::rule::{Rule, Stats};
use crate::run::cover::{self, IntersectionTarget};
use crate::run::leak::{self, Flooded, Leak};
use crate::run::{Run, holes};
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Ties, Triangle};
use voxelize_core::grid::{BitGrid, Lattice, flood};
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;
use voxelize_meshes::boundary::{self, Loop};
use voxelize_meshes::closed::Closedness;

/// Result of the flood of all cells of the lattice. It does not depend on the layers to fill.
pub(in crate::rule) struct Flood {
    /// Cells that the flood reached.
    pub outside: BitGrid,
    /// Cells that stopped the flood, because the mesh or a cap of a closed hole touches them.
    pub walls: BitGrid,
    /// Number of holes that were closed. `None` if the method does not close holes.
    closed: Option<u64>,
    /// Leaks of the flood through holes. `None` if the flood did not leak.
    pub leak: Option<Leak>,
}

pub(super) fn ready<'a>(
    used: Inside,
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    run: &Run,
) -> Result<PreparedInside<'a>> {
    Ok(PreparedInside::new(
        used,
        flooded(mesh, lattice, used.closed_holes(), run)?,
    ))
}

/// Floods the lattice. Holes of at most `close` cells along every axis are closed first.
pub(in crate::rule) fn flooded(
    mesh: &Mesh,
    lattice: &Lattice,
    close: Option<u32>,
    run: &Run,
) -> Result<Flood> {
    let level = run.supported_level()?;
    let is_open = mesh.closedness() == Closedness::Open;
    let all = if is_open { mesh.holes()? } else { vec![] };
    let caps = Mesh::from_triangles(boundary::caps(&all))?;
    let [small, large] = match close {
        Some(cells) => holes::parted(all, lattice, cells),
        None => [vec![], all],
    };
    let closed = close.map(|_| small.len() as u64);
    let walls = walls(mesh, lattice, &small, run)?;
    let outside = flood::outside(&walls, run)?;
    let mut leak = None;
    if is_open {
        let mut inside = evenodd(mesh, lattice, run)?;
        // A line through a hole lacks a crossing there. The caps of the holes add it.
        inside.differ(&evenodd(&caps, lattice, run)?);
        let flooded = Flooded {
            lattice,
            outside: &outside,
            inside: &inside,
        };
        leak = leak::find(flooded, large, level, run)?;
    }
    Ok(Flood {
        outside,
        walls,
        closed,
        leak,
    })
}

/// Returns the cells that [`Inside::EvenOdd`] considers inside.
fn evenodd(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<BitGrid> {
    let mut inside = BitGrid::try_from(lattice)?;
    let prepared = Inside::EvenOdd.prepare(mesh, lattice, run)?;
    prepared.fill(0..lattice.dims()[2], run, &mut inside)?;
    Ok(inside)
}

/// Returns true if the mesh extends beyond the lattice. A flood, which starts at the faces of the lattice,
/// then enters the mesh where a face cuts it.
pub(in crate::rule) fn enters_by_cut(mesh: &Mesh, lattice: &Lattice) -> bool {
    (0..3).any(|axis| lattice.is_passed(axis, mesh.bounds()).contains(&true))
}

/// Returns the cells that stop the flood: those that the mesh or a cap of the holes `closed` touches.
fn walls(mesh: &Mesh, lattice: &Lattice, closed: &[Loop], run: &Run) -> Result<BitGrid> {
    let mut walls = BitGrid::try_from(lattice)?;
    let surface = Rule::Surface { ties: Ties::Up }.prepare(mesh, lattice, run)?;
    surface.fill(0..lattice.dims()[2], run, &mut walls)?;
    cap(&boundary::caps(closed), lattice, run, &mut walls)?;
    Ok(walls)
}

/// Returns the caps of the holes whose bounding boxes are at most `most` cells long along every axis.
pub(in crate::rule) fn caps(mesh: &Mesh, lattice: &Lattice, most: u32) -> Result<Vec<Triangle>> {
    let [small, _] = holes::parted(mesh.holes()?, lattice, most);
    Ok(boundary::caps(&small))
}

/// Occupies the cells that the caps touch under ties up.
pub(in crate::rule) fn cap(
    caps: &[Triangle],
    lattice: &Lattice,
    run: &Run,
    walls: &mut BitGrid,
) -> Result<()> {
    if caps.is_empty() {
        return Ok(());
    }
    let cells = IntersectionTarget::Box(KernelLattice::new(
        lattice.axes(),
        &Bounds::of(caps),
        Ties::Up,
    ));
    cover::cover(&cells, caps, 0, walls, run.supported_level()?, &()).map(drop)
}

impl FillInside for Flood {
    fn fill(&self, layers: Range<usize>, _: &Run, grid: &mut BitGrid) -> Result<Stats> {
        grid.add_neither(&self.outside, &self.walls, layers.start);
        let inside = InsideReport {
            leak: self.leak.clone(),
            closed_holes: self.closed,
            ..InsideReport::default()
        };
        Ok(Stats {
            inside,
            ..Stats::default()
        })
    }

    fn close(&self, layers: Range<usize>, grid: &mut BitGrid) {
        if self.closed > Some(0) {
            grid.add_neither(&self.outside, &self.outside, layers.start);
        }
    }

    fn occupy_touched(&self, layers: Range<usize>, grid: &mut BitGrid) {
        grid.add_neither(&self.outside, &self.outside, layers.start);
    }
}
