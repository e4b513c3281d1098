//! Flood: inside are the cells that are not reachable from outside, 6-connected, through cells that the surface does
//! not touch. It needs no orientation, and no closed mesh where holes are smaller than cells; larger holes leak, and
//! the leaks are reported. Caps of closed holes keep the flood out as the surface does.

use std::ops::Range;

use super::{FillInside, Inside, InsideReport, PreparedInside};
use crate::rule::{Rule, Stats};
use crate::run::cover::{self, IntersectionTarget};
use crate::run::leak::{self, Flooded, Leak};
use crate::run::{Run, holes};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Bounds, Ties, Triangle};
use voxelize_core::grid::{BitGrid, Lattice, flood};
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;
use voxelize_meshes::boundary::{self, Loop};
use voxelize_meshes::closed::Closedness;

/// A flood of all cells of the lattice, whichever layers are filled.
pub(in crate::rule) struct Flood {
    /// The cells that it reached.
    pub outside: BitGrid,
    /// The cells that kept it out: those that the mesh touches, and those that caps of closed holes touch.
    pub walls: BitGrid,
    /// The number of closed holes, if any were to be closed.
    closed: Option<u64>,
    /// The leaks.
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

/// Floods the lattice; holes of at most `close` cells are closed, if that is given.
pub(in crate::rule) fn flooded(
    mesh: &Mesh,
    lattice: &Lattice,
    close: Option<u32>,
    run: &Run,
) -> Result<Flood> {
    let layers = 0..lattice.dims()[2];
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
        let evenodd = |mesh: &Mesh| {
            let mut inside = BitGrid::try_from(lattice)?;
            Inside::EvenOdd
                .prepare(mesh, lattice, run)?
                .fill(layers.clone(), run, &mut inside)?;
            Ok::<_, Error>(inside)
        };
        let mut inside = evenodd(mesh)?;
        // With the crossings of all caps: a line through a hole crosses an open mesh too few times.
        inside.differ(&evenodd(&caps)?);
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

/// Whether the lattice cuts the mesh: a flood from the faces of the lattice enters there.
pub(in crate::rule) fn enters_by_cut(mesh: &Mesh, lattice: &Lattice) -> bool {
    (0..3).any(|axis| lattice.is_passed(axis, mesh.bounds()).contains(&true))
}

/// The cells that keep a flood out of a mesh of which these holes are closed.
fn walls(mesh: &Mesh, lattice: &Lattice, closed: &[Loop], run: &Run) -> Result<BitGrid> {
    let mut walls = BitGrid::try_from(lattice)?;
    let surface = Rule::Surface { ties: Ties::Up }.prepare(mesh, lattice, run)?;
    surface.fill(0..lattice.dims()[2], run, &mut walls)?;
    cap(&boundary::caps(closed), lattice, run, &mut walls)?;
    Ok(walls)
}

/// The caps of the holes that a flood closes which closes those of at most so many cells.
pub(in crate::rule) fn caps(mesh: &Mesh, lattice: &Lattice, most: u32) -> Result<Vec<Triangle>> {
    let [small, _] = holes::parted(mesh.holes()?, lattice, most);
    Ok(boundary::caps(&small))
}

/// Occupies the cells that caps touch.
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
