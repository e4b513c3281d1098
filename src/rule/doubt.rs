//! Doubt: the cells on which four ways to tell inside from outside do not agree. Where a mesh is closed and
//! sound there are few; where it is broken they are around what is broken.

use crate::error::Result;
use crate::geom::Triangle;
use crate::grid::{BitGrid, Lattice, flood};
use crate::mesh::Mesh;
use crate::par;
use crate::run::{Demand, Plan, Run, holes, rows};

use super::{Inside, inside};

/// The methods that are asked about every cell, beside flood.
const ASKED: [Inside; 3] = [Inside::Nonzero, Inside::EvenOdd, Inside::Robust];

/// Grids in memory at a time, beside the one of the answer: two, and what is known of the caps of holes.
pub const GRIDS: u128 = 3;

/// The cells that are in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Those that some methods call inside, and others outside.
    pub cells: BitGrid,
    /// How many cells any of the methods calls inside.
    pub inside: u64,
    /// How many each of them does.
    pub by: [(Inside, u64); 4],
}

impl Doubt {
    /// How many of the cells that any method calls inside are in doubt; 0 if there are none.
    pub fn share(&self) -> f64 {
        if self.inside == 0 { 0.0 } else { self.cells.count() as f64 / self.inside as f64 }
    }
}

/// The cells of `lattice` on which [`Inside::Nonzero`], [`Inside::EvenOdd`], [`Inside::Flood`] and
/// [`Inside::Robust`] do not agree. All are asked about the centres of cells, but a flood has no opinion on
/// cells that the surface touches, ties up: about these the other three are asked. `close_holes` is that of
/// [`What::close_holes`](super::What::close_holes), and keeps the flood out.
///
/// ```
/// use voxelize::rule::doubt;
/// use voxelize::run::Run;
/// use voxelize::{Lattice, Mesh};
///
/// let mesh = Mesh::open("fixtures/open.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 32)?;
/// let found = doubt::doubt(&mesh, &lattice, None, &Run::default())?;
/// println!("{} cells of {} are in doubt", found.cells.count(), found.inside);
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// If what it needs, as [`beside`] counts it, does not fit in memory or is above `run.max_memory`, the level
/// does not exist here, or the run was cancelled.
pub fn doubt(mesh: &Mesh, lattice: &Lattice, close_holes: Option<u32>, run: &Run) -> Result<Doubt> {
    run.level()?;
    let need = Demand::new(mesh, lattice, run).with(beside(mesh, lattice, run)).bytes(Plan::Dense);
    run.refuse_above(need, || {
        let ([x, y, z], triangles) = (lattice.dims(), mesh.triangles().len());
        format!("four grids of {x} × {y} × {z} cells and {triangles} triangles, to be repaired,")
    })?;
    par::with_threads(run.threads(), || asked(mesh, lattice, close_holes, run))?
}

/// The bytes that it takes beside the mesh and the grid of the answer, at most.
pub fn beside(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    let triangles = mesh.triangles().len() as u128 * size_of::<Triangle>() as u128;
    let meshes = ASKED.map(|method| method.info().meshes).into_iter().max().unwrap_or(0);
    let crossings = rows::bytes(mesh.triangles(), lattice, run.max_memory);
    crossings + GRIDS * BitGrid::bytes_for(lattice.dims()) + meshes * triangles
}

fn asked(mesh: &Mesh, lattice: &Lattice, close_holes: Option<u32>, run: &Run) -> Result<Doubt> {
    let layers = 0..lattice.dims()[2];
    let [mut any, mut all] = flooded(mesh, lattice, close_holes, run)?;
    let mut by = vec![(Inside::Flood, any.count())];
    let mut inside = BitGrid::try_from(lattice)?;
    for method in ASKED {
        inside.clear();
        method.prepare(mesh, lattice, run)?.fill(layers.clone(), run, &mut inside)?;
        by.push((method, inside.count()));
        any.add(&inside);
        all.keep(&inside);
    }
    let count = any.count();
    any.remove(&all, 0);
    let by = by.try_into().expect("flood, and those that are asked");
    Ok(Doubt { cells: any, inside: count, by })
}

/// What the flood calls inside, and what it does not call outside.
fn flooded(mesh: &Mesh, lattice: &Lattice, close_holes: Option<u32>, run: &Run) -> Result<[BitGrid; 2]> {
    let closed = match close_holes {
        Some(cells) => {
            let [small, _] = holes::parted(mesh.holes()?, lattice, cells);
            small
        }
        None => vec![],
    };
    let walls = inside::flood::walls(mesh, lattice, &closed, run)?;
    let outside = flood::outside(&walls, run.progress)?;
    let mut inside = BitGrid::try_from(lattice)?;
    inside.add_neither(&outside, &walls, 0);
    drop(walls);
    let mut not_outside = BitGrid::try_from(lattice)?;
    not_outside.add_neither(&outside, &outside, 0);
    Ok([inside, not_outside])
}
