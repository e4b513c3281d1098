//! The method vote: the majority of the three results of evenodd along x, y and z. A hole affects the result
//! for a cell along one axis, but rarely along two.

use std::ops::Range;
use std::sync::Mutex;

use super::{FillInside, Inside, InsideReport, PreparedInside};
use crate::rule::Stats;
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::geom::Triangle;
use voxelize_core::grid::{BitGrid, Lattice, prefix};
use voxelize_core::par;
use voxelize_core::par::Progress;
use voxelize_kernel::KernelLattice;
use voxelize_kernel::across;
use voxelize_kernel::crossings::{Crosser, Crossing};
use voxelize_meshes::Mesh;

/// Number of triangles in the unit of work of a thread.
const RUN: usize = 1 << 12;

/// Number of crossings that a thread collects before it writes them to the shared grid.
const KEPT: usize = 1 << 16;

struct Vote<'a> {
    mesh: &'a Mesh,
    frames: [KernelLattice; 3],
}

pub(super) fn ready<'a>(mesh: &'a Mesh, lattice: &'a Lattice) -> PreparedInside<'a> {
    let frames =
        [0, 1, 2].map(|axis| KernelLattice::of_centres(lattice.axes(), mesh.bounds(), axis));
    PreparedInside::new(Inside::Vote, Vote { mesh, frames })
}

impl FillInside for Vote<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let mut snapped = 0;
        let mut votes = vec![];
        for axis in 0..3 {
            let mut toggles = BitGrid::new(grid.dims())?;
            let moved = self.toggle(axis, layers.clone(), run, &mut toggles)?;
            // The count of the first axis is used. All axes count the same coordinates, but rows along z
            // extend beyond the layers.
            snapped = if axis == 0 { moved } else { snapped };
            votes.push(toggles);
        }
        let disputed = prefix::vote([&votes[0], &votes[1], &votes[2]], grid);
        Ok(Stats {
            snapped,
            inside: InsideReport {
                disputed: Some(disputed),
                ..InsideReport::default()
            },
            ..Stats::default()
        })
    }
}

impl Vote<'_> {
    /// Toggles the first cell after every crossing along an axis. Returns the number of triangle coordinates
    /// that snapping moved.
    fn toggle(
        &self,
        axis: usize,
        layers: Range<usize>,
        run: &Run,
        toggles: &mut BitGrid,
    ) -> Result<u64> {
        let [nx, ny, _] = toggles.dims();
        let level = run.supported_level()?;
        let cells = across(axis).map(|a| [0..nx, 0..ny, layers.clone()][a].clone());
        let crosser = Crosser::new(&self.frames[axis], axis, cells);
        let runs: Vec<&[Triangle]> = self.mesh.triangles().chunks(RUN).collect();
        run.begin("inside", runs.len() as u64);
        let shared = Mutex::new(toggles);
        let flush = |kept: &mut Vec<[usize; 3]>| {
            let mut toggles = shared.lock().expect("no thread panics here");
            kept.drain(..).for_each(|cell| toggles.toggle(cell));
        };
        let cell_of = |crossing: &Crossing| {
            let mut cell = [0; 3];
            let place = [crossing.first, crossing.row[0], crossing.row[1]];
            for (a, n) in across(axis).into_iter().zip(place) {
                cell[a] = n;
            }
            cell[2] -= layers.start;
            cell
        };
        let parts = par::share(&runs, |next| {
            let mut kept = vec![];
            let mut snapped = 0;
            for run_of in next {
                run.check()?;
                snapped += crosser.cross(level, run_of, &mut |crossings| {
                    kept.extend(crossings.iter().map(cell_of));
                    if kept.len() >= KEPT {
                        flush(&mut kept);
                    }
                });
                run.advance(1);
            }
            flush(&mut kept);
            Ok(snapped)
        });
        parts.into_iter().sum()
    }
}
