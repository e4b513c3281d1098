//! The solid cells of one component: whether there are any, and whether they reach all over it.

use std::ops::Range;

use super::pieces::{CellRun, Piece, PieceBuilder, Touch};
use crate::geom::{Bounds, Triangle};
use crate::grid::Lattice;
use crate::kernel::crossings::{Crosser, Crossing};
use crate::kernel::{KernelLattice, Level};
use crate::mesh::closed::Seal;

/// The result for a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Whole,
    Scattered,
    Lost,
}

/// Layers of which the crossings are in memory at a time.
const LAYERS: usize = 64;

/// Tests components on a lattice.
pub(super) struct ComponentTest {
    pub lattice: Lattice,
    pub frame: KernelLattice,
    pub seal: Seal,
    pub level: Level,
}

impl ComponentTest {
    /// Whether these bounds are within the lattice, or at most a quarter of a cell beyond.
    pub(super) fn has_within(&self, bounds: &Bounds) -> bool {
        (0..3).all(|a| {
            // In a frame of centres the first wall is at −1/2.
            let [low, high] = [bounds.min[a], bounds.max[a]].map(|v| self.frame.axes[a].index(v));
            low >= -0.75 && high <= self.lattice.dims()[a] as f64 - 0.25
        })
    }

    /// Whether the centre of a cell is inside these triangles, in layers that their bounds reach: the one
    /// in the middle first, where there mostly is one.
    pub(super) fn holds_a_centre(&self, triangles: &[Triangle], bounds: &Bounds) -> bool {
        let layers = self.layers(bounds);
        let middle = (layers.start + layers.end) / 2;
        let mut bands = std::iter::once(middle..middle + 1).chain(bands(layers));
        bands.any(|band| !self.runs(triangles, band).is_empty())
    }

    /// The fate of a thin component: whole if its cells are 6-connected and reach its bounds to within a cell.
    pub(super) fn cells(&self, triangles: &[Triangle], bounds: &Bounds) -> Fate {
        let (mut count, mut all) = (0, None::<Piece>);
        let mut pieces = PieceBuilder::new(Touch::Faces, |piece| {
            count += 1;
            all.get_or_insert(piece).add(&piece);
        });
        for band in bands(self.layers(bounds)) {
            self.runs(triangles, band).into_iter().for_each(|cell_run| pieces.add(cell_run));
        }
        pieces.finish();
        let Some(Piece { reach: [low, high], .. }) = all else { return Fate::Lost };
        let is_reached = |a: usize| {
            // In a frame of centres a cell reaches half a cell to both sides.
            let [from, to] = [bounds.min[a], bounds.max[a]].map(|v| self.frame.axes[a].index(v));
            from > low[a] as f64 - 1.5 && to < high[a] as f64 + 1.5
        };
        if count == 1 && (0..3).all(is_reached) { Fate::Whole } else { Fate::Scattered }
    }

    /// The layers that bounds reach.
    fn layers(&self, bounds: &Bounds) -> Range<usize> {
        let dims = self.lattice.dims();
        let layer = |v: f32| self.frame.axes[2].index(v).floor().clamp(0.0, dims[2] as f64 - 1.0) as usize;
        // Doubles may be off by less than a layer.
        layer(bounds.min[2]).saturating_sub(1)..dims[2].min(layer(bounds.max[2]) + 2)
    }

    /// The runs of cells in these layers whose centres are inside, in order, layer by layer.
    fn runs(&self, triangles: &[Triangle], layers: Range<usize>) -> Vec<CellRun> {
        let [nx, ny, _] = self.lattice.dims();
        let crosser = Crosser::new(&self.frame, 0, [0..nx, 0..ny, layers]);
        let mut crossings = vec![];
        crosser.cross(self.level, triangles, &mut |some| {
            crossings.extend(
                some.iter().map(|Crossing { row: [j, k], first, inwards }| ([*k, *j], *first, *inwards)),
            );
        });
        crossings.sort_unstable();
        let mut runs = vec![];
        let (mut turns, mut crossed) = (0, 0);
        for (n, ([k, j], first, inwards)) in crossings.iter().enumerate() {
            crossed += 1;
            turns += if *inwards { 1 } else { -1 };
            // Behind the last crossing of a row there are cells, too.
            let next = crossings.get(n + 1).filter(|(row, ..)| row == &[*k, *j]);
            let end = next.map_or(nx, |(_, next, _)| *next);
            let is_inside = if self.seal == Seal::Oriented { turns != 0 } else { crossed % 2 == 1 };
            if is_inside && *first < end {
                runs.push(CellRun { row: [*j, *k], cells: *first..end });
            }
            if next.is_none() {
                (turns, crossed) = (0, 0);
            }
        }
        runs
    }
}

fn bands(layers: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = layers.end;
    layers.step_by(LAYERS).map(move |first| first..end.min(first + LAYERS))
}
