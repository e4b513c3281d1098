//! Places of a closed mesh that the rule solid loses, such as a thin rib of a thick part. A cell that shares volume
//! with the mesh and whose centre is not inside is lost if none of the 26 around it has its centre inside; and,
//! more than three cells from every thick cell, if what is solid within two cells of it is in several pieces.
//! A cell is thick if it and the 26 around it have their centres inside.
//!
//! What is lost depends on cells around, and on no others. So it is looked for on the lattice and as many cells
//! beyond, as far as the mesh goes, and is the same wherever the grid is cut; and a range of layers at a time,
//! so that grids of any height take the same memory.

use std::ops::Range;

use super::pieces::{Piece, Pieces, Stretch, Touch};
use super::{filled, grown, surface, window};
use crate::error::Result;
use crate::geom::Bounds;
use crate::grid::{BitGrid, Lattice, bits, erode};
use crate::kernel::sink::SIDE;
use crate::mesh::Mesh;
use crate::par;
use crate::rule::{Inside, PreparedRule};
use crate::run::{Run, rows};

/// Up to so many cells from a thick one, what is solid is not asked whether it falls apart.
const THICK: usize = 3;

/// How far cells matter for whether one is lost: those around thick ones.
const LOST: usize = THICK + 1;

/// How far cells matter for whether one is kept.
const KEPT: usize = LOST + 1;

/// A place is named if it is as many cells long. Where there are fewer it is a corner or the tip of a horn.
const LONG: usize = 4;

/// The bytes of a grid in memory, unless a few layers take more.
const MOST: usize = 1 << 28;

/// Layers that are looked at together, at least.
const LAYERS: usize = 8;

/// The places of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses: cells that share volume with the mesh and
/// whose centres are not inside, where no centre of the 26 cells around is, or where what is solid falls apart:
/// more than three cells from every cell that is thick, as it and the 26 around it are solid, and with several
/// pieces of solid within two cells, as far as filled hangs together there (by faces, edges or corners, as these
/// pieces do). Lost cells that touch are of one place. Of fewer than four cells along every axis, as a horn's tip
/// may have, nothing is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinPlaces {
    /// How many there are.
    pub places: u64,
    /// How many cells they have.
    pub cells: u64,
    /// The walls around the longest: its least and its greatest corner.
    pub largest: [[f64; 3]; 2],
    /// How many cells the longest has along each axis.
    pub dims: [usize; 3],
}

/// The bytes that it takes to find the places, or to keep them, beside the mesh.
pub(super) fn bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    let [nx, ny, nz] = lattice.dims();
    let [nx, ny] = [nx, ny].map(|n| n + 2 * KEPT);
    let layers = (height([nx, ny, nz], run) + 2 * KEPT).min(nz + 2 * KEPT);
    4 * BitGrid::bytes_for([nx, ny, layers]) + rows::bytes(mesh.triangles(), lattice, run.max_memory)
}

/// How many layers are looked at together.
fn height(dims: [usize; 3], run: &Run) -> usize {
    let layer = BitGrid::bytes_for([dims[0], dims[1], 1]).max(1);
    let most = run.max_memory.map_or(MOST, |limit| (limit / 16).min(MOST as u64) as usize);
    ((most as u128 / layer) as usize).max(LAYERS).min(dims[2])
}

/// A lattice with as many cells more around it as matter, where the mesh goes on there.
pub(super) struct Around {
    lattice: Lattice,
    /// How many cells come before those of the lattice, along each axis.
    before: [usize; 3],
    /// The dims of the lattice.
    dims: [usize; 3],
}

impl Around {
    pub fn new(lattice: &Lattice, bounds: &Bounds) -> Result<Self> {
        let dims = lattice.dims();
        let more = |a: usize| lattice.is_passed(a, bounds).map(|is_passed| if is_passed { KEPT } else { 0 });
        let [before, behind] = [0, 1].map(|side: usize| [0, 1, 2].map(|a| more(a)[side]));
        Ok(Self { lattice: grown(lattice, before, behind)?, before, dims })
    }

    /// Whether the mesh goes on beyond the lattice.
    fn is_cut(&self) -> bool {
        self.lattice.dims() != self.dims
    }
}

/// Looks at cells of a closed mesh that faces one way.
struct Looker<'a> {
    around: &'a Around,
    prepared: PreparedRule<'a>,
    /// Fills the parts that are lost or kept as wholes: of these nothing more is said.
    parts: Option<PreparedRule<'a>>,
    /// The layers last looked at, whose memory is used again.
    inside: BitGrid,
    touched: BitGrid,
    thick: BitGrid,
}

/// Cells of a lattice; layers are numbered as there.
struct Looked<'a> {
    /// Those with a centre inside, or of parts that are lost, and their first layer.
    inside: (&'a BitGrid, usize),
    /// Those that the mesh touches, so that they share volume with it, too.
    touched: (&'a BitGrid, usize),
    /// Those that are thick, as far as they matter.
    thick: (&'a BitGrid, usize),
}

impl<'a> Looker<'a> {
    fn new(mesh: &'a Mesh, parts: Option<&'a Mesh>, around: &'a Around, run: &Run) -> Result<Self> {
        let prepared = filled(Inside::Nonzero).prepare(mesh, &around.lattice, run)?;
        let parts =
            parts.map(|parts| filled(Inside::Nonzero).prepare(parts, &around.lattice, run)).transpose()?;
        let none = || BitGrid::new([1; 3]);
        Ok(Self { around, prepared, parts, inside: none()?, touched: none()?, thick: none()? })
    }

    /// Looks at layers of the lattice, and at `more` on both sides.
    fn look(&mut self, layers: &Range<usize>, more: usize, run: &Run) -> Result<Looked<'_>> {
        run.progress.check()?;
        let [nx, ny, nz] = self.around.lattice.dims();
        let start = layers.start + self.around.before[2];
        let first = start.saturating_sub(more);
        let layers = first..nz.min(start + layers.len() + more);
        for grid in [&mut self.inside, &mut self.touched] {
            grid.reshape([nx, ny, layers.len()])?;
            grid.clear();
        }
        self.prepared.inside().fill(layers.clone(), run, &mut self.inside)?;
        if let Some(parts) = &self.parts {
            parts.fill(layers.clone(), run, &mut self.inside)?;
        }
        surface::fill(&self.prepared, layers.clone(), run, &mut self.touched)?;
        thicken(&self.inside, 0..layers.len(), &mut self.thick)?;
        let [inside, touched, thick] = [&self.inside, &self.touched, &self.thick].map(|grid| (grid, first));
        Ok(Looked { inside, touched, thick })
    }
}

/// Makes `thick` the thick cells of some layers.
fn thicken(inside: &BitGrid, layers: Range<usize>, thick: &mut BitGrid) -> Result<()> {
    let [nx, ny, _] = inside.dims();
    thick.reshape([nx, ny, layers.len()])?;
    thick.take(inside, layers.start);
    erode::erode(thick, 1)
}

impl Looked<'_> {
    /// The cells of a layer that are lost.
    fn lost(&self, k: usize) -> Vec<Stretch> {
        let ((inside, below), (touched, first)) = (self.inside, self.touched);
        let mut stretches: Vec<Stretch> = vec![];
        for j in 0..touched.dims()[1] {
            let rows = touched.row(j, k - first).iter().zip(inside.row(j, k - below)).enumerate();
            for (n, (touched, inside)) in rows {
                let cells = touched & !inside;
                if cells == 0 {
                    continue;
                }
                let mut lost = cells & !within(self.inside, [n, j, k], 1, cells);
                let near = cells & !lost;
                let thin = near & !within(self.thick, [n, j, k], THICK, near);
                for bit in bits::bits_of(thin) {
                    let cell = [64 * n + bit, j, k];
                    if self.is_broken(cell) {
                        lost |= 1 << bit;
                    }
                }
                for i in bits::bits_of(lost).map(|bit| 64 * n + bit) {
                    match stretches.last_mut() {
                        Some(last) if last.row == [j, k] && last.cells.end == i => last.cells.end += 1,
                        _ => stretches.push(Stretch { row: [j, k], cells: i..i + 1 }),
                    }
                }
            }
        }
        stretches
    }

    /// Whether what is solid around a cell falls apart.
    fn is_broken(&self, [i, j, k]: [usize; 3]) -> bool {
        let [inside, touched] =
            [self.inside, self.touched].map(|(grid, first)| window::at(grid, [i, j, k - first]));
        window::is_broken(inside | touched, inside)
    }

    /// The lost cells of many layers, in order.
    fn lost_of(&self, layers: Range<usize>) -> impl Iterator<Item = Stretch> {
        par::map(layers.collect(), |k: usize| self.lost(k)).into_iter().flatten()
    }
}

/// Which cells of word `n` of a row have one of the grid within so many steps, a step going to any of the 26
/// cells around; it is looked for until all of `cells` have.
fn within((grid, first): (&BitGrid, usize), [n, j, k]: [usize; 3], steps: usize, cells: u64) -> u64 {
    let [_, ny, nz] = grid.dims();
    let mut found = 0;
    // Those next to it first.
    for k in outwards(k - first, steps, nz) {
        for j in outwards(j, steps, ny) {
            let row = grid.row(j, k);
            let (below, word) = (n.checked_sub(1).map_or(0, |n| row[n]), row[n]);
            let above = row.get(n + 1).copied().unwrap_or(0);
            found |= word;
            for step in 1..=steps {
                found |= word << step | word >> step | below >> (64 - step) | above << (64 - step);
            }
            if cells & !found == 0 {
                return found;
            }
        }
    }
    found
}

/// A number, and those up to so many steps beside it that are below `n`, the nearest first.
fn outwards(at: usize, steps: usize, n: usize) -> impl Iterator<Item = usize> {
    let beside = (1..=steps).flat_map(move |step| [at.checked_sub(step), Some(at + step)]);
    std::iter::once(Some(at)).chain(beside).flatten().filter(move |at| *at < n)
}

/// A number, and those beside it that are below `n`.
fn beside(at: usize, n: usize) -> Range<usize> {
    at.saturating_sub(1)..n.min(at + 2)
}

/// Which cells are lost in places.
pub(super) struct Found {
    /// The places; `None` if none is long enough.
    pub told: Option<ThinPlaces>,
    /// Whether there may be cells to be kept: some are lost, here or next to the lattice.
    pub any: bool,
}

/// Finds the places of a closed mesh that faces one way. Of `parts`, which are lost or kept as wholes, nothing is
/// said. `solid` are the cells of the lattice with a centre inside, if they are there already.
pub(super) fn find(
    mesh: &Mesh,
    parts: Option<&Mesh>,
    lattice: &Lattice,
    solid: Option<&BitGrid>,
    around: &Around,
    run: &Run,
) -> Result<Found> {
    let (mut any, mut places, mut cells, mut largest) = (around.is_cut(), 0, 0, None::<Piece>);
    let mut pieces = Pieces::new(Touch::Corners, |piece| {
        any = true;
        if piece.length() >= LONG {
            places += 1;
            cells += piece.cells;
            // The longest; of these that with the most cells, and of these the first.
            let rank = |piece: &Piece| (piece.length(), piece.cells, std::cmp::Reverse(piece.reach));
            if largest.is_none_or(|other| rank(&piece) > rank(&other)) {
                largest = Some(piece);
            }
        }
    });
    let ([nx, ny, nz], [_, _, before]) = (lattice.dims(), around.before);
    match solid {
        // Other cells do not matter, and bricks take less memory than their grid.
        Some(solid) if parts.is_none() && !around.is_cut() => {
            let covered = surface::keep(&filled(Inside::Nonzero).prepare(mesh, lattice, run)?, run)?;
            let [mut touched, mut thick] = [BitGrid::new([1; 3])?, BitGrid::new([1; 3])?];
            for layers in bands(0..nz, 4 * SIDE) {
                run.progress.check()?;
                let more = |by: usize| layers.start.saturating_sub(by)..nz.min(layers.end + by);
                let (seen, solid_seen) = (more(SIDE), more(LOST));
                touched.reshape([nx, ny, seen.len()])?;
                covered.copy_to(seen.start, &mut touched);
                thicken(solid, solid_seen.clone(), &mut thick)?;
                let (touched, thick) = ((&touched, seen.start), (&thick, solid_seen.start));
                let looked = Looked { inside: (solid, 0), touched, thick };
                looked.lost_of(layers).for_each(|stretch| pieces.add(stretch));
            }
        }
        _ => {
            let mut looker = Looker::new(mesh, parts, around, run)?;
            for layers in bands(0..nz, height(lattice.dims(), run)) {
                let looked = looker.look(&layers, LOST, run)?;
                let stretches = looked.lost_of(layers.start + before..layers.end + before);
                stretches
                    .filter_map(|stretch| around.within(&stretch))
                    .for_each(|stretch| pieces.add(stretch));
            }
        }
    }
    pieces.finish();
    let told = largest.map(|Piece { reach: [low, high], .. }| ThinPlaces {
        places,
        cells,
        largest: [low, high.map(|n| n + 1)].map(|at| [0, 1, 2].map(|a| lattice.wall(a, at[a]).to_f64())),
        dims: [0, 1, 2].map(|a| high[a] + 1 - low[a]),
    });
    Ok(Found { told, any })
}

/// Adds the cells of the places of these layers of the lattice, and those around them that share volume with
/// the mesh, so that they hang together with what is left of it.
pub(super) fn keep(
    mesh: &Mesh,
    parts: Option<&Mesh>,
    around: &Around,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<()> {
    let mut looker = Looker::new(mesh, parts, around, run)?;
    let ([nx, ny, _], [x, y, z]) = (around.dims, around.before);
    let wide = around.lattice.dims();
    for band in bands(layers.clone(), height(around.dims, run)) {
        let looked = looker.look(&band, KEPT, run)?;
        let (touched, first) = looked.touched;
        let lost = (band.start + z).saturating_sub(1)..wide[2].min(band.end + z + 1);
        for Stretch { row: [j, k], cells } in looked.lost_of(lost) {
            let rows = beside(k, wide[2]).flat_map(|k| beside(j, wide[1]).map(move |j| (j, k)));
            for (j, k) in rows {
                if !(band.start + z..band.end + z).contains(&k) || !(y..y + ny).contains(&j) {
                    continue;
                }
                for i in x.max(cells.start.saturating_sub(1))..(x + nx).min(cells.end + 1) {
                    // Those with a centre inside are there.
                    if touched.get([i, j, k - first]) {
                        grid.set([i - x, j - y, k - z - layers.start]);
                    }
                }
            }
        }
    }
    Ok(())
}

impl Around {
    /// What is within the lattice, in its own cells.
    fn within(&self, stretch: &Stretch) -> Option<Stretch> {
        let ([nx, ny, _], [x, y, z], [j, k]) = (self.dims, self.before, stretch.row);
        let cells = stretch.cells.start.saturating_sub(x)..stretch.cells.end.saturating_sub(x).min(nx);
        let is_within = (y..y + ny).contains(&j) && cells.start < cells.end;
        is_within.then(|| Stretch { row: [j - y, k - z], cells })
    }
}

fn bands(layers: Range<usize>, height: usize) -> impl Iterator<Item = Range<usize>> {
    let end = layers.end;
    layers.step_by(height.max(1)).map(move |first| first..end.min(first + height))
}
