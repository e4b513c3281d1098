//! The methods nonzero and evenodd: they count crossings of the mesh with the lines along x through the cell
//! centres. Triangles outside the lattice count as well.

use std::ops::Range;

use super::{FillInside, Inside, PreparedInside};
use crate::rule::Stats;
use crate::run::Run;
use crate::run::rows::{self, Stretch};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;

/// Counts the crossings of an unrepaired mesh.
struct Crossings<'a> {
    mesh: &'a Mesh,
    frame: KernelLattice,
    is_inside: fn(&Stretch) -> bool,
}

pub(super) fn ready<'a>(mesh: &'a Mesh, lattice: &'a Lattice, used: Inside) -> PreparedInside<'a> {
    let is_inside: fn(&Stretch) -> bool = match used {
        Inside::EvenOdd => |stretch| stretch.crossed % 2 == 1,
        _ => |stretch| stretch.turns != 0,
    };
    let frame = KernelLattice::of_centres(lattice.axes(), mesh.bounds(), 0);
    PreparedInside::new(
        used,
        Crossings {
            mesh,
            frame,
            is_inside,
        },
    )
}

impl FillInside for Crossings<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let Self {
            mesh,
            frame,
            is_inside,
        } = self;
        let mark = |mut stretch: Stretch| {
            if is_inside(&stretch) {
                stretch.occupy();
            }
        };
        let snapped = rows::follow(frame, mesh.triangles(), layers.start, grid, run, mark)?;
        Ok(Stats {
            snapped,
            ..Stats::default()
        })
    }
}
