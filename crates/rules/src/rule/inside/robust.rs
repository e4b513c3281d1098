//! The method robust: the mesh is repaired, and a centre is inside if the generalized winding
//! number exceeds one half (Jacobson, Kavan and Sorkine-Hornung 2013).
//!
//! The winding number w(M) of the repaired mesh M is not summed over the whole mesh. Together with caps over
//! its holes, M is closed. The winding number of a closed mesh is an integer, and counting the crossings
//! along a row gives it exactly. Therefore
//!
//! ```text
//! w(M) = crossings of M + caps − w(caps),
//! ```
//!
//! where w(caps) is a sum over few triangles. It is less than ½ except near the holes.
//!
//! Some patches are so ragged that their caps would have as many triangles as the patches themselves. Such
//! patches are left out of the closed mesh. Instead, their triangles are reversed and added to the triangles
//! that are summed (`near.rs`). A centre on one of these triangles or its edges is displaced like any other
//! centre, and the displaced centre decides. If the winding number equals one half within its error bound,
//! the centre is outside.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::near::{self, ExactPlaces, Near, WindingCells};
use super::{FillInside, Inside, InsideReport, PreparedInside, Repairs};
use crate::rule::Stats;
use crate::run::Run;
use crate::run::rows::{self, Stretch};
use voxelize_core::error::Result;
use voxelize_core::geom::winding::RimPlace;
use voxelize_core::geom::{Bounds, Point, Rational, Triangle, Winding};
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_core::par::Progress;
use voxelize_kernel::KernelLattice;
use voxelize_kernel::angles::BRICK;
use voxelize_kernel::crossings::{Sides, placed};
use voxelize_meshes::Mesh;
use voxelize_meshes::repair::{self, Repaired};

struct Robust<'a> {
    /// Repaired mesh without its ragged patches, and with caps.
    closed: Cow<'a, [Triangle]>,
    /// Caps, followed by the ragged patches with reversed orientation.
    summed: Vec<Triangle>,
    /// Number of caps in `summed`.
    caps: usize,
    frame: KernelLattice,
    /// Side lengths of a cell, divided by its side length along x.
    aspect: [f64; 3],
    winding: Winding,
    repairs: Repairs,
}

pub(super) fn ready<'a>(
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    run: &Run,
) -> Result<PreparedInside<'a>> {
    let progress: &dyn Progress = run;
    let RobustParts {
        closed,
        summed,
        caps,
        repairs,
    } = parts(mesh, progress)?;
    progress.check()?;
    let frame = KernelLattice::of_centres(
        lattice.axes(),
        &Bounds::of(&closed).union(&Bounds::of(&summed)),
        0,
    );
    let sizes = lattice.spacing().each_ref().map(|size| size.to_f64());
    let aspect = sizes.map(|size| size / sizes[0]);
    let mut placed_all = Vec::with_capacity(summed.len());
    for some in summed.chunks(CHUNK) {
        progress.check()?;
        for cap in some {
            let scaled = placed(&frame, cap).map(|n| std::array::from_fn(|a| n[a] * aspect[a]));
            placed_all.push(scaled);
        }
    }
    let winding = Winding::about(placed_all, slack(&frame, aspect, lattice.dims()), progress)?;
    progress.check()?;
    Ok(PreparedInside::new(
        Inside::Robust,
        Robust {
            closed,
            summed,
            caps,
            frame,
            aspect,
            winding,
            repairs,
        },
    ))
}

/// Repaired mesh, split into the parts that [`Robust`] uses.
pub(in crate::rule) struct RobustParts<'a> {
    pub closed: Cow<'a, [Triangle]>,
    pub summed: Vec<Triangle>,
    pub caps: usize,
    pub repairs: Repairs,
}

pub(in crate::rule) fn parts<'a>(
    mesh: &'a Mesh,
    progress: &dyn Progress,
) -> Result<RobustParts<'a>> {
    if let Some(closed) = repair::outward_patch(mesh, progress)? {
        return Ok(RobustParts {
            closed,
            summed: vec![],
            caps: 0,
            repairs: Repairs::of_patch(mesh),
        });
    }
    let repaired = Repaired::with(mesh, progress)?;
    progress.check()?;
    let repairs = Repairs::of(&repaired);
    let ragged = repaired.ragged.iter().filter(|ragged| **ragged).count();
    let (closed, summed) = repaired.into_closed()?;
    let caps = summed.len() - ragged;
    Ok(RobustParts {
        closed: closed.into(),
        summed,
        caps,
        repairs,
    })
}

/// Number of triangles between two checks for cancellation.
const CHUNK: usize = 1 << 14;

/// Returns the error bound of triangle coordinates relative to cell centres, in units of the side of a cell
/// along x.
fn slack(frame: &KernelLattice, aspect: [f64; 3], dims: [usize; 3]) -> f64 {
    let axes = (0..3).map(|a| {
        let axis = &frame.axes[a];
        // If the factor is one, the product with an integer is exact.
        let scaled = if aspect[a] == 1.0 {
            0.0
        } else {
            axis.farthest.abs().max(dims[a] as f64) * f64::EPSILON
        };
        aspect[a] * (axis.farthest_error + 2.0 * scaled)
    });
    axes.fold(0.0, f64::max)
}

/// Exact positions of centres relative to the triangles that are summed.
struct SummedPlaces<'a> {
    frame: &'a KernelLattice,
    triangles: &'a [Triangle],
    sides: Sides<'a>,
}

impl ExactPlaces for SummedPlaces<'_> {
    fn side(&self, triangle: usize, cell: [usize; 3]) -> Ordering {
        self.sides.of(triangle, cell)
    }

    fn rim(&self, triangle: usize, cell: [usize; 3]) -> Option<RimPlace> {
        let from_centre = |point: Point| -> [Rational; 3] {
            std::array::from_fn(|a| {
                self.frame.axes[a].map.index(point[a]) - Rational::from(cell[a] as i64)
            })
        };
        let corners = self.triangles[triangle].map(from_centre);
        if let Some(n) = corners
            .iter()
            .position(|corner| corner.iter().all(Rational::is_zero))
        {
            return Some(RimPlace::Corner(n));
        }
        (0..3)
            .find(|n| is_between(&corners[*n], &corners[(n + 1) % 3]))
            .map(RimPlace::Edge)
    }
}

/// Returns true if the origin is in the interior of the segment between two points. The points must not be
/// the origin.
fn is_between(a: &[Rational; 3], b: &[Rational; 3]) -> bool {
    let is_on_line = (0..3).all(|i| {
        let j = (i + 1) % 3;
        &a[i] * &b[j] == &a[j] * &b[i]
    });
    // The origin is between the points if they have no coordinate in which both are nonzero with equal signs.
    is_on_line && (0..3).all(|i| !(&a[i] * &b[i]).is_positive())
}

impl Robust<'_> {
    /// Occupies the cells of the layers from `first` on that are inside. Returns the number of triangle
    /// coordinates that snapping moved.
    fn fill_from(&self, first: usize, run: &Run, grid: &mut BitGrid) -> Result<u64> {
        let cells = WindingCells {
            dims: grid.dims(),
            first,
            aspect: self.aspect,
            winding: &self.winding,
        };
        let sides = Sides::new(&self.frame, &self.summed);
        let places = SummedPlaces {
            frame: &self.frame,
            triangles: &self.summed,
            sides,
        };
        let near = Near::new(&cells, run, &places)?;
        let mark = |stretch: Stretch| mark(&near, stretch);
        let snapped = rows::follow(&self.frame, &self.closed, first, grid, run, mark)?;
        let of_summed = rows::snapped(
            &self.frame,
            &self.summed[self.caps..],
            first,
            grid.dims(),
            run,
        )?;
        Ok(snapped + of_summed)
    }
}

impl FillInside for Robust<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let dims = grid.dims();
        let layer_words = grid.layer_words();
        let height = if self.winding.is_empty() {
            dims[2]
        } else {
            near::layers(dims, run.max_memory())
        };
        let mut snapped = 0;
        if height >= dims[2] {
            snapped = self.fill_from(layers.start, run, grid)?;
        } else {
            let bands = grid
                .words_mut()
                .chunks_mut(height * layer_words)
                .zip(layers.step_by(height));
            for (words, first) in bands {
                let mut band = BitGrid::new([dims[0], dims[1], words.len() / layer_words])?;
                snapped += self.fill_from(first, run, &mut band)?;
                for (word, more) in words.iter_mut().zip(band.words()) {
                    *word |= more;
                }
            }
        }
        Ok(Stats {
            snapped,
            inside: InsideReport {
                repairs: Some(self.repairs.clone()),
                ..InsideReport::default()
            },
            ..Stats::default()
        })
    }
}

/// Occupies the cells of a stretch that are inside. A cell is inside if the inward minus outward crossings
/// before the stretch exceed the cell's number in `near`.
fn mark(near: &Near, mut stretch: Stretch) {
    if near.is_far(stretch.row) {
        if stretch.turns > 0 {
            stretch.occupy();
        }
        return;
    }
    let [j, k] = stretch.row;
    let Range { start, end } = stretch.cells;
    let single = |i: usize| match near.of([i, j, k]) {
        Some(numbers) => numbers.single(),
        None => Some(0),
    };
    let mut from = start;
    while from < end {
        let number = single(from);
        // Extends `from..to` over all following bricks whose cells have the same number.
        let mut to = end.min((from / BRICK + 1) * BRICK);
        while number.is_some() && to < end && single(to) == number {
            to = end.min(to + BRICK);
        }
        match (number, near.of([from, j, k])) {
            (Some(number), _) if stretch.turns > number => {
                Stretch {
                    cells: from..to,
                    words: &mut *stretch.words,
                    ..stretch
                }
                .occupy();
            }
            (None, Some(numbers)) => {
                for i in from..to {
                    if stretch.turns > near.number(numbers, [i, j, k]) {
                        stretch.words[i / 64] |= 1 << (i % 64);
                    }
                }
            }
            _ => {}
        }
        from = to;
    }
}

impl Repairs {
    /// Returns the report of a mesh that is a single patch and needs no repair.
    pub(in crate::rule) fn none() -> Self {
        Self {
            degenerate: 0,
            duplicates: 0,
            turned: 0,
            patches: 1,
            cavities: 0,
            not_orientable: 0,
            holes: 0,
            longest: None,
            of_sheets: 0,
        }
    }

    /// Returns the report of a mesh that is a single patch. Only triangles without area are dropped.
    fn of_patch(mesh: &Mesh) -> Self {
        Self {
            degenerate: mesh.degenerate(),
            ..Self::none()
        }
    }

    fn of(repaired: &Repaired) -> Self {
        let longest = repaired
            .boundary
            .iter()
            .max_by(|a, b| a.length().total_cmp(&b.length()));
        Self {
            degenerate: repaired.degenerate,
            duplicates: repaired.duplicates,
            turned: repaired.turned,
            patches: repaired.patches,
            cavities: repaired.cavities,
            not_orientable: repaired.not_orientable,
            holes: repaired.boundary.len(),
            longest: longest.cloned(),
            of_sheets: if repaired.patches > 1 {
                repaired.ragged.iter().filter(|ragged| **ragged).count() as u64
            } else {
                0
            },
        }
    }
}
