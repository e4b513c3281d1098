//! The cells of a part by itself: whether it holds any cell's centre, and whether it has cells for all of it.

use std::ops::Range;

use super::Fate;
use crate::geom::{Bounds, Triangle};
use crate::grid::Lattice;
use crate::kernel::crossings::{Crosser, Crossing};
use crate::kernel::{Frame, Level};
use crate::mesh::closed::Seal;

/// Layers of which the crossings are in memory at a time.
const LAYERS: usize = 64;

/// What is asked of parts.
pub(super) struct Asked {
    pub lattice: Lattice,
    pub frame: Frame,
    pub seal: Seal,
    pub level: Level,
}

/// Cells of a row whose centres are inside, one after the other.
struct Stretch {
    row: [usize; 2],
    cells: Range<usize>,
}

impl Asked {
    /// Whether these bounds are within the lattice, or at most a quarter of a cell beyond.
    pub fn has_within(&self, bounds: &Bounds) -> bool {
        (0..3).all(|a| {
            // In a frame of centres the first wall is at −1/2.
            let [low, high] = [bounds.min[a], bounds.max[a]].map(|v| self.frame.axes[a].index(v));
            low >= -0.75 && high <= self.lattice.dims()[a] as f64 - 0.25
        })
    }

    /// Whether the centre of a cell is inside these triangles, in layers that their bounds reach: the one
    /// in the middle first, where there mostly is one.
    pub fn holds_a_centre(&self, triangles: &[Triangle], bounds: &Bounds) -> bool {
        let layers = self.layers(bounds);
        let middle = (layers.start + layers.end) / 2;
        let mut bands = std::iter::once(middle..middle + 1).chain(bands(layers));
        bands.any(|band| !self.stretches(triangles, band).is_empty())
    }

    /// What becomes of thin triangles: whole, if their cells hang together by faces, and reach as far as their
    /// bounds to within a cell.
    pub fn cells(&self, triangles: &[Triangle], bounds: &Bounds) -> Fate {
        let mut pieces = Pieces::new();
        for band in bands(self.layers(bounds)) {
            self.stretches(triangles, band).into_iter().for_each(|stretch| pieces.add(stretch));
        }
        let [low, high] = pieces.reach;
        let is_reached = |a: usize| {
            // In a frame of centres a cell reaches half a cell to both sides.
            let [from, to] = [bounds.min[a], bounds.max[a]].map(|v| self.frame.axes[a].index(v));
            from > low[a] as f64 - 1.5 && to < high[a] as f64 + 1.5
        };
        match pieces.count() {
            0 => Fate::Lost,
            1 if (0..3).all(is_reached) => Fate::Whole,
            _ => Fate::Scattered,
        }
    }

    /// The layers that bounds reach.
    fn layers(&self, bounds: &Bounds) -> Range<usize> {
        let dims = self.lattice.dims();
        let layer = |v: f32| self.frame.axes[2].index(v).floor().clamp(0.0, dims[2] as f64 - 1.0) as usize;
        // Doubles may be off by less than a layer.
        layer(bounds.min[2]).saturating_sub(1)..dims[2].min(layer(bounds.max[2]) + 2)
    }

    /// The stretches of cells in these layers whose centres are inside, in order, layer by layer.
    fn stretches(&self, triangles: &[Triangle], layers: Range<usize>) -> Vec<Stretch> {
        let [nx, ny, _] = self.lattice.dims();
        let crosser = Crosser::new(&self.frame, 0, [0..nx, 0..ny, layers]);
        let mut crossings = vec![];
        crosser.cross(self.level, triangles, |Crossing { row: [j, k], first, inwards }| {
            crossings.push(([k, j], first, inwards));
        });
        crossings.sort_unstable();
        let mut stretches = vec![];
        let (mut turns, mut crossed) = (0, 0);
        for (n, ([k, j], first, inwards)) in crossings.iter().enumerate() {
            crossed += 1;
            turns += if *inwards { 1 } else { -1 };
            // Behind the last crossing of a row there are cells, too.
            let next = crossings.get(n + 1).filter(|(row, ..)| row == &[*k, *j]);
            let end = next.map_or(nx, |(_, next, _)| *next);
            let is_inside = if self.seal == Seal::Oriented { turns != 0 } else { crossed % 2 == 1 };
            if is_inside && *first < end {
                stretches.push(Stretch { row: [*j, *k], cells: *first..end });
            }
            if next.is_none() {
                (turns, crossed) = (0, 0);
            }
        }
        stretches
    }
}

fn bands(layers: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = layers.end;
    layers.step_by(LAYERS).map(move |first| first..end.min(first + LAYERS))
}

/// Stretches that come layer by layer, joined where cells share a face.
struct Pieces {
    /// Of the layer that comes and of the one below, each in order.
    layers: [Vec<(Stretch, usize)>; 2],
    /// The stretch that each is joined to, itself if it is the first of its piece.
    firsts: Vec<usize>,
    /// The lowest and the highest cell of all, along each axis.
    reach: [[usize; 3]; 2],
}

impl Pieces {
    fn new() -> Self {
        Self { layers: [vec![], vec![]], firsts: vec![], reach: [[usize::MAX; 3], [0; 3]] }
    }

    /// Adds a stretch that is in order behind all others.
    fn add(&mut self, stretch: Stretch) {
        let [j, k] = stretch.row;
        if let Some((last, _)) = self.layers[0].last()
            && last.row[1] != k
        {
            self.layers.swap(0, 1);
            self.layers[0].clear();
        }
        let Range { start, end } = stretch.cells;
        for (a, [first, last]) in [[start, end - 1], [j, j], [k, k]].into_iter().enumerate() {
            self.reach[0][a] = self.reach[0][a].min(first);
            self.reach[1][a] = self.reach[1][a].max(last);
        }
        let number = self.firsts.len();
        self.firsts.push(number);
        // The row before it in its layer, and the one below it.
        let before = j.checked_sub(1).map(|j| (0, [j, k]));
        let below = k.checked_sub(1).map(|k| (1, [j, k]));
        for (layer, row) in before.into_iter().chain(below) {
            let from = self.layers[layer].partition_point(|(other, _)| other.row[0] < row[0]);
            for n in from..self.layers[layer].len() {
                let (other, its) = &self.layers[layer][n];
                if other.row != row {
                    break;
                }
                if other.cells.start < end && start < other.cells.end {
                    let (a, b) = (first(&mut self.firsts, *its), first(&mut self.firsts, number));
                    self.firsts[a.max(b)] = a.min(b);
                }
            }
        }
        self.layers[0].push((stretch, number));
    }

    fn count(&self) -> usize {
        self.firsts.iter().enumerate().filter(|(n, first)| n == *first).count()
    }
}

fn first(firsts: &mut [usize], mut n: usize) -> usize {
    while firsts[n] != n {
        firsts[n] = firsts[firsts[n]];
        n = firsts[n];
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BitGrid;

    /// By spreading from cell to cell.
    fn slowly(grid: &BitGrid) -> usize {
        let mut left: std::collections::BTreeSet<[usize; 3]> = grid.iter().collect();
        let mut pieces = 0;
        while let Some(cell) = left.pop_first() {
            pieces += 1;
            let mut waiting = vec![cell];
            while let Some(cell) = waiting.pop() {
                for (axis, step) in (0..3).flat_map(|axis| [(axis, 1), (axis, usize::MAX)]) {
                    let mut near = cell;
                    near[axis] = near[axis].wrapping_add(step);
                    if left.remove(&near) {
                        waiting.push(near);
                    }
                }
            }
        }
        pieces
    }

    #[test]
    fn pieces_are_what_hangs_together_by_faces() {
        let (mut state, mut seen) = (7_u64, 0);
        for dims in [[1, 1, 1], [9, 1, 6], [1, 7, 7], [6, 7, 8], [12, 5, 9]] {
            for tenths in [0, 1, 2, 4, 7, 10] {
                let mut grid = BitGrid::new(dims).unwrap();
                let mut pieces = Pieces::new();
                for (j, k) in (0..dims[2]).flat_map(|k| (0..dims[1]).map(move |j| (j, k))) {
                    let mut start = None;
                    for i in 0..=dims[0] {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let is_in = i < dims[0] && (state >> 33) % 10 < tenths;
                        match (is_in, start) {
                            (true, None) => start = Some(i),
                            (false, Some(from)) => {
                                pieces.add(Stretch { row: [j, k], cells: from..i });
                                start = None;
                            }
                            _ => {}
                        }
                        if is_in {
                            grid.set([i, j, k]);
                        }
                    }
                }
                assert_eq!(pieces.count(), slowly(&grid), "{dims:?}, {tenths}\n{grid:?}");
                seen += pieces.count();
            }
        }
        assert!(seen > 50, "{seen}");
    }
}
