//! Flood: what cannot be reached from outside, in steps between cells that share a face, through cells
//! that the surface does not touch. Needs no orientation, and no closed mesh where holes are smaller than
//! cells; through larger ones the flood gets in, and says where.

use std::ops::Range;

use super::{Fill, Inside, Ready, Told};
use crate::error::Result;
use crate::geom::Ties;
use crate::grid::{BitGrid, Lattice, flood};
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::rule::{Rule, Stats};
use crate::run::Run;
use crate::run::leak::{self, Flooded, Leak};

/// All cells of the lattice, whichever layers are asked for.
struct Flood {
    outside: BitGrid,
    walls: BitGrid,
    leak: Option<Leak>,
}

pub(super) fn ready<'a>(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<Ready<'a>> {
    let layers = 0..lattice.dims()[2];
    let mut walls = BitGrid::try_from(lattice)?;
    let surface = Rule::Surface.with_ties(Ties::Up).prepare(mesh, lattice, run)?;
    surface.fill(layers.clone(), run, &mut walls)?;
    let outside = flood::outside(&walls, run.progress)?;
    let mut leak = None;
    if mesh.seal() == Seal::Open {
        let mut inside = BitGrid::try_from(lattice)?;
        Inside::EvenOdd.prepare(mesh, lattice, run)?.fill(layers, run, &mut inside)?;
        let flooded = Flooded { lattice, outside: &outside, inside: &inside };
        leak = leak::find(flooded, mesh.holes()?, run.level()?, run.progress)?;
    }
    Ok(Ready::new(Inside::Flood, Flood { outside, walls, leak }))
}

impl Fill for Flood {
    fn fill(&self, layers: Range<usize>, _: &Run, grid: &mut BitGrid) -> Result<Stats> {
        grid.add_neither(&self.outside, &self.walls, layers.start);
        Ok(Stats { snapped: 0, told: Told { leak: self.leak.clone(), ..Told::default() } })
    }
}
