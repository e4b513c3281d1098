//! Robust: the mesh is repaired, and inside is where it winds around more than half (the generalized
//! winding number, Jacobson, Kavan and Sorkine-Hornung 2013).
//!
//! That number is not summed up over the mesh. With caps K over its holes the repaired mesh M is closed,
//! and around a closed mesh the number is whole: it is counted exactly, by crossings of rows. So
//!
//! ```text
//! w(M) = crossings of M + K − w(K),
//! ```
//!
//! and w(K) is a sum over a few triangles, less than ½ everywhere but near the holes, where inside is where
//! crossings count at least one. Only in bricks of cells where a bound does not say so is it looked at
//! (`near.rs`), and summed up for single cells.

use std::ops::Range;

use super::near::{BRICK, Near, Needed};
use super::{Fill, Inside, Ready, Repairs, Told};
use crate::error::Result;
use crate::geom::{Bounds, Triangle, Winding};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::Frame;
use crate::kernel::crossings::{placed, side};
use crate::mesh::Mesh;
use crate::mesh::repair::Repaired;
use crate::rule::Stats;
use crate::run::Run;
use crate::run::rows::{self, Stretch};

struct Robust {
    /// The repaired mesh and its caps.
    closed: Vec<Triangle>,
    caps: Vec<Triangle>,
    frame: Frame,
    /// Cells along y and z by their size along x.
    aspect: [f64; 3],
    winding: Winding,
    near: Near,
    repairs: Repairs,
}

pub(super) fn ready<'a>(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<Ready<'a>> {
    let repaired = Repaired::new(mesh)?;
    run.progress.check()?;
    let caps = repaired.caps();
    let repairs = Repairs::of(&repaired);
    let mut closed = repaired.triangles;
    closed.extend(&caps);
    let frame = Frame::of_centres(lattice, &Bounds::of(&closed), 0);
    let sizes = lattice.spacing().each_ref().map(|size| size.to_f64());
    let aspect = sizes.map(|size| size / sizes[0]);
    let scaled = |n: [f64; 3]| std::array::from_fn(|a| n[a] * aspect[a]);
    let placed: Vec<_> = caps.iter().map(|cap| placed(&frame, cap).map(scaled)).collect();
    let winding = Winding::new(placed);
    let near = Near::new(lattice.dims(), aspect, &winding)?;
    Ok(Ready::new(Inside::Robust, Robust { closed, caps, frame, aspect, winding, near, repairs }))
}

impl Fill for Robust {
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let mark = |stretch: Stretch| self.mark(stretch);
        let snapped = rows::follow(&self.frame, &self.closed, layers.start, grid, run, mark)?;
        Ok(Stats { snapped, told: Told { repairs: Some(self.repairs.clone()), ..Told::default() } })
    }
}

impl Robust {
    fn mark(&self, mut stretch: Stretch) {
        if self.near.is_far(stretch.row) {
            if stretch.turns > 0 {
                stretch.occupy();
            }
            return;
        }
        let [j, k] = stretch.row;
        let Range { start, end } = stretch.cells;
        let (j_brick, k_brick) = (j / BRICK, k / BRICK);
        let mut from = start;
        while from < end {
            let needed = self.near.of([from / BRICK, j_brick, k_brick]);
            // As far as bricks are of the same kind.
            let mut to = end.min((from / BRICK + 1) * BRICK);
            while to < end && self.near.of([to / BRICK, j_brick, k_brick]) == needed {
                to = end.min(to + BRICK);
            }
            match needed {
                Needed::Crossings(needed) if stretch.turns >= needed => {
                    Stretch { cells: from..to, words: &mut *stretch.words, ..stretch }.occupy();
                }
                Needed::Crossings(_) => {}
                Needed::Unknown => {
                    (from..to).filter(|i| self.is_inside([*i, j, k], stretch.turns)).for_each(|i| {
                        stretch.words[i / 64] |= 1 << (i % 64);
                    });
                }
            }
            from = to;
        }
    }

    /// Whether the repaired mesh winds around a cell's centre more than half.
    fn is_inside(&self, cell: [usize; 3], turns: i32) -> bool {
        let centre = std::array::from_fn(|a| cell[a] as f64 * self.aspect[a]);
        self.winding.inside_without(&centre, turns, |n| side(&self.frame, &self.caps[n], cell))
    }
}

impl Repairs {
    fn of(repaired: &Repaired) -> Self {
        let longest = repaired.boundary.iter().max_by(|a, b| a.length().total_cmp(&b.length()));
        Self {
            degenerate: repaired.degenerate,
            duplicates: repaired.duplicates,
            turned: repaired.turned,
            patches: repaired.patches,
            cavities: repaired.cavities,
            not_orientable: repaired.not_orientable,
            holes: repaired.boundary.len(),
            longest: longest.cloned(),
        }
    }
}
