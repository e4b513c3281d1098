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

use super::near::{BRICK, Caps, Near, Rim};
use super::{Fill, Inside, Ready, Repairs, Told};
use crate::error::Result;
use crate::geom::solid_angle::Vector;
use crate::geom::{Bounds, Triangle, Winding};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::Frame;
use crate::kernel::crossings::{placed, side};
use crate::mesh::Mesh;
use crate::mesh::boundary::Loop;
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
    let boxes: Vec<_> = placed.iter().map(|cap| around(cap)).collect();
    let rims = rims(&repaired.boundary, &placed);
    let winding = Winding::new(placed);
    let near = Near::new(lattice.dims(), aspect, &winding, &boxes, &rims)?;
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
            let caps = self.near.of([from / BRICK, j_brick, k_brick]);
            // As far as bricks are of the same kind.
            let mut to = end.min((from / BRICK + 1) * BRICK);
            while to < end && self.near.of([to / BRICK, j_brick, k_brick]) == caps {
                to = end.min(to + BRICK);
            }
            match caps {
                Caps::By(shift) if stretch.turns > shift => {
                    Stretch { cells: from..to, words: &mut *stretch.words, ..stretch }.occupy();
                }
                Caps::By(_) => {}
                Caps::Unknown => {
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

/// The box around some points.
fn around(points: &[Vector]) -> [Vector; 2] {
    let of = |pick: fn(f64, f64) -> f64| {
        std::array::from_fn(|a| points.iter().map(|point| point[a]).reduce(pick).unwrap_or(0.0))
    };
    [of(f64::min), of(f64::max)]
}

/// The rims of caps: of each, the first edges of its triangles.
fn rims(boundary: &[Loop], caps: &[[Vector; 3]]) -> Vec<Rim> {
    let mut rest = caps;
    let mut rims = vec![];
    for around_hole in boundary {
        let (these, others) = rest.split_at(around_hole.points.len());
        rest = others;
        let edge = |[from, to, _]: &[Vector; 3]| {
            let [low, high] = around(&[*from, *to]);
            let length = (0..3).map(|a| (to[a] - from[a]).powi(2)).sum::<f64>().sqrt();
            Rim { low, high, length, edges: vec![] }
        };
        let edges: Vec<Rim> = these.iter().map(edge).collect();
        let corners: Vec<Vector> = these.iter().flat_map(|[from, to, _]| [*from, *to]).collect();
        let [low, high] = around(&corners);
        let length = edges.iter().map(|edge| edge.length).sum();
        rims.push(Rim { low, high, length, edges });
    }
    rims
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
