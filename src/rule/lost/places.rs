//! Lost places: places of a closed mesh that the rule solid loses, such as a thin rib of a thick part. A cell that
//! shares volume with the mesh and whose centre is not inside is lost if none of the 26 cells around it has its
//! centre inside; and, more than three cells from every thick cell, if the solid cells within two cells of it are
//! several pieces. A cell is thick if it and the 26 around it have their centres inside.
//!
//! Whether a cell is lost depends on the cells around it alone. So the search extends the lattice by as many cells as
//! matter, as far as the mesh goes, and finds the same wherever the grid is cut. It takes a range of layers at a time,
//! so grids of any height take the same memory.

use std::ops::Range;

use super::pieces::{CellRun, Piece, PieceBuilder, Touch};
use super::report::LostPlaces;
use super::{covered, filled, grown, surface, window};
use crate::error::Result;
use crate::geom::Bounds;
use crate::grid::{BitGrid, Lattice, bits, erode};
use crate::kernel::sink::SIDE;
use crate::mesh::Mesh;
use crate::par;
use crate::par::Progress;
use crate::rule::{Inside, PreparedRule};
use crate::run::{Run, rows};

/// Up to so many cells from a thick one, solid cells are not tested for connection.
const THICK: usize = 3;

/// The distance at which cells decide whether one is lost: those around thick ones.
const LOST: usize = THICK + 1;

/// The distance at which cells decide whether one is kept.
const KEPT: usize = LOST + 1;

/// A place is named if it is as many cells long. Where there are fewer it is a corner or the tip of a horn.
const LONG: usize = 4;

/// The bytes of a grid in memory, unless a few layers take more.
const MOST: usize = 1 << 28;

/// The least number of layers scanned together.
const LAYERS: usize = 8;

/// The bytes that it takes to find the places, or to keep them, beside the mesh.
pub(super) fn bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    let [nx, ny, nz] = lattice.dims();
    let [nx, ny] = [nx, ny].map(|n| n + 2 * KEPT);
    let layers = (height([nx, ny, nz], run) + 2 * KEPT).min(nz + 2 * KEPT);
    4 * BitGrid::bytes_for([nx, ny, layers]) + rows::bytes(mesh.triangles(), lattice, run.max_memory)
}

/// The number of layers scanned together.
fn height(dims: [usize; 3], run: &Run) -> usize {
    let layer = BitGrid::bytes_for([dims[0], dims[1], 1]).max(1);
    let most = run.max_memory.map_or(MOST, |limit| (limit / 16).min(MOST as u64) as usize);
    ((most as u128 / layer) as usize).max(LAYERS).min(dims[2])
}

/// A lattice extended by as many cells as matter, where the mesh extends beyond it.
pub(super) struct Around {
    lattice: Lattice,
    /// The number of cells before those of the lattice, along each axis.
    before: [usize; 3],
    /// The dims of the lattice.
    dims: [usize; 3],
}

impl Around {
    pub(super) fn new(lattice: &Lattice, bounds: &Bounds) -> Result<Self> {
        let dims = lattice.dims();
        let more = |a: usize| lattice.is_passed(a, bounds).map(|is_passed| if is_passed { KEPT } else { 0 });
        let [before, behind] = [0, 1].map(|side: usize| [0, 1, 2].map(|a| more(a)[side]));
        Ok(Self { lattice: grown(lattice, before, behind)?, before, dims })
    }

    /// Whether the mesh extends beyond the lattice.
    fn is_cut(&self) -> bool {
        self.lattice.dims() != self.dims
    }
}

/// Scans the cells of a closed, consistently oriented mesh.
struct Scanner<'a> {
    around: &'a Around,
    prepared: PreparedRule<'a>,
    /// Fills the components that are lost or kept as wholes: these have no places.
    components: Option<PreparedRule<'a>>,
    /// The layers scanned last, whose memory is used again.
    inside: BitGrid,
    touched: BitGrid,
    thick: BitGrid,
}

/// Some layers of cells; they are numbered as in the lattice.
struct SlabView<'a> {
    /// Those with a centre inside, or of components that are lost, and their first layer.
    inside: (&'a BitGrid, usize),
    /// Those that the mesh touches, so that they share volume with it, too.
    touched: (&'a BitGrid, usize),
    /// Those that are thick, as far as they matter.
    thick: (&'a BitGrid, usize),
}

impl<'a> Scanner<'a> {
    fn new(mesh: &'a Mesh, components: Option<&'a Mesh>, around: &'a Around, run: &Run) -> Result<Self> {
        let prepared = filled(Inside::Nonzero).prepare(mesh, &around.lattice, run)?;
        let components = components
            .map(|components| filled(Inside::Nonzero).prepare(components, &around.lattice, run))
            .transpose()?;
        let none = || BitGrid::new([1; 3]);
        Ok(Self { around, prepared, components, inside: none()?, touched: none()?, thick: none()? })
    }

    /// Scans layers of the lattice, and `more` on both sides.
    fn scan(&mut self, layers: &Range<usize>, more: usize, run: &Run) -> Result<SlabView<'_>> {
        run.check()?;
        let [nx, ny, nz] = self.around.lattice.dims();
        let start = layers.start + self.around.before[2];
        let first = start.saturating_sub(more);
        let layers = first..nz.min(start + layers.len() + more);
        for grid in [&mut self.inside, &mut self.touched] {
            grid.reshape([nx, ny, layers.len()])?;
            grid.clear();
        }
        self.prepared.inside().fill(layers.clone(), run, &mut self.inside)?;
        if let Some(components) = &self.components {
            components.fill(layers.clone(), run, &mut self.inside)?;
        }
        covered::fill(
            &surface::target(&self.prepared),
            &self.prepared,
            layers.clone(),
            run,
            &mut self.touched,
        )?;
        thicken(&self.inside, 0..layers.len(), &mut self.thick)?;
        let [inside, touched, thick] = [&self.inside, &self.touched, &self.thick].map(|grid| (grid, first));
        Ok(SlabView { inside, touched, thick })
    }
}

/// Makes `thick` the thick cells of some layers.
fn thicken(inside: &BitGrid, layers: Range<usize>, thick: &mut BitGrid) -> Result<()> {
    let [nx, ny, _] = inside.dims();
    thick.reshape([nx, ny, layers.len()])?;
    thick.take(inside, layers.start);
    erode::erode(thick, 1)
}

impl SlabView<'_> {
    /// The cells of a layer that are lost.
    fn lost(&self, k: usize) -> Vec<CellRun> {
        let ((inside, below), (touched, first)) = (self.inside, self.touched);
        let mut runs: Vec<CellRun> = vec![];
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
                    match runs.last_mut() {
                        Some(last) if last.row == [j, k] && last.cells.end == i => last.cells.end += 1,
                        _ => runs.push(CellRun { row: [j, k], cells: i..i + 1 }),
                    }
                }
            }
        }
        runs
    }

    /// Whether the solid cells around a cell are disconnected.
    fn is_broken(&self, [i, j, k]: [usize; 3]) -> bool {
        let [inside, touched] =
            [self.inside, self.touched].map(|(grid, first)| window::at(grid, [i, j, k - first]));
        window::is_broken(inside | touched, inside)
    }

    /// The lost cells of many layers, in order.
    fn lost_of(&self, layers: Range<usize>) -> impl Iterator<Item = CellRun> {
        par::map(layers.collect(), |k: usize| self.lost(k)).into_iter().flatten()
    }
}

/// Which cells of word `n` of a row have one of the grid within so many steps, a step going to any of the 26
/// cells around; the search ends when all of `cells` have.
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

/// The result of the search.
pub(super) struct PlaceSearch {
    /// The places; `None` if none is long enough.
    pub report: Option<LostPlaces>,
    /// Whether there may be cells to be kept: some are lost, here or next to the lattice.
    pub any: bool,
}

/// Finds the places of a closed, consistently oriented mesh, none in `components`, which are lost or kept as wholes.
/// `solid` are the cells of the lattice with a centre inside, if they are there already.
pub(super) fn find(
    mesh: &Mesh,
    components: Option<&Mesh>,
    lattice: &Lattice,
    solid: Option<&BitGrid>,
    around: &Around,
    run: &Run,
) -> Result<PlaceSearch> {
    let (mut any, mut places, mut cells, mut largest) = (around.is_cut(), 0, 0, None::<Piece>);
    let mut pieces = PieceBuilder::new(Touch::Corners, |piece| {
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
        Some(solid) if components.is_none() && !around.is_cut() => {
            let prepared = filled(Inside::Nonzero).prepare(mesh, lattice, run)?;
            let covered = covered::keep(&surface::target(&prepared), &prepared, run)?;
            let [mut touched, mut thick] = [BitGrid::new([1; 3])?, BitGrid::new([1; 3])?];
            for layers in bands(0..nz, 4 * SIDE) {
                run.check()?;
                let more = |by: usize| layers.start.saturating_sub(by)..nz.min(layers.end + by);
                let (seen, solid_seen) = (more(SIDE), more(LOST));
                touched.reshape([nx, ny, seen.len()])?;
                covered.copy_to(seen.start, &mut touched);
                thicken(solid, solid_seen.clone(), &mut thick)?;
                let (touched, thick) = ((&touched, seen.start), (&thick, solid_seen.start));
                let view = SlabView { inside: (solid, 0), touched, thick };
                view.lost_of(layers).for_each(|cell_run| pieces.add(cell_run));
            }
        }
        _ => {
            let mut scanner = Scanner::new(mesh, components, around, run)?;
            for layers in bands(0..nz, height(lattice.dims(), run)) {
                let view = scanner.scan(&layers, LOST, run)?;
                let runs = view.lost_of(layers.start + before..layers.end + before);
                runs.filter_map(|cell_run| around.within(&cell_run))
                    .for_each(|cell_run| pieces.add(cell_run));
            }
        }
    }
    pieces.finish();
    let report = largest.map(|Piece { reach: [low, high], .. }| LostPlaces {
        places,
        cells,
        largest: [low, high.map(|n| n + 1)].map(|at| [0, 1, 2].map(|a| lattice.wall(a, at[a]).to_f64())),
        dims: [0, 1, 2].map(|a| high[a] + 1 - low[a]),
    });
    Ok(PlaceSearch { report, any })
}

/// Adds the cells of the places of these layers of the lattice, and those around them that share volume with
/// the mesh, so that they are connected with the solid cells.
pub(super) fn keep(
    mesh: &Mesh,
    components: Option<&Mesh>,
    around: &Around,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<()> {
    let mut scanner = Scanner::new(mesh, components, around, run)?;
    let ([nx, ny, _], [x, y, z]) = (around.dims, around.before);
    let wide = around.lattice.dims();
    for band in bands(layers.clone(), height(around.dims, run)) {
        let view = scanner.scan(&band, KEPT, run)?;
        let (touched, first) = view.touched;
        let lost = (band.start + z).saturating_sub(1)..wide[2].min(band.end + z + 1);
        for CellRun { row: [j, k], cells } in view.lost_of(lost) {
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
    /// The part of a cell_run within the lattice, in its own cells.
    fn within(&self, cell_run: &CellRun) -> Option<CellRun> {
        let ([nx, ny, _], [x, y, z], [j, k]) = (self.dims, self.before, cell_run.row);
        let cells = cell_run.cells.start.saturating_sub(x)..cell_run.cells.end.saturating_sub(x).min(nx);
        let is_within = (y..y + ny).contains(&j) && cells.start < cells.end;
        is_within.then(|| CellRun { row: [j - y, k - z], cells })
    }
}

fn bands(layers: Range<usize>, height: usize) -> impl Iterator<Item = Range<usize>> {
    let end = layers.end;
    layers.step_by(height.max(1)).map(move |first| first..end.min(first + height))
}
