//! Greatest depth of a difference. The depth of a cell that differs is its distance from the surface of the
//! first grid or of the second grid, and the greater one counts. Distances are between centres of cells. In a
//! wall, a removed cell is at most half the wall away from the first surface; the distance from the second
//! surface is the depth of a pocket. The distances are exact Euclidean distance transforms by lower envelopes
//! of parabolas (Felzenszwalb and Huttenlocher 2012), in a box around the cells that differ.

use voxelize_core::error::Result;
use voxelize_core::grid::BitGrid;
use voxelize_core::par;

use crate::diff::same_dims;

/// Grid from whose surface a depth is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepthFrom {
    /// First grid.
    First,
    /// Second grid.
    Second,
}

/// Cell that is farthest from the surface of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deepest {
    /// Distance between the centres of this cell and of the nearest cell on the other side of the
    /// surface, in units of the spacing.
    pub distance: f64,
    /// Cell. Among several, the first, x fastest.
    pub cell: [usize; 3],
    /// Grid whose surface this is. The first grid if the depths are equal.
    pub from: DepthFrom,
}

/// Greatest depth of the cells that a second grid adds and removes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DifferenceDepth {
    /// Added cell that is farthest from the occupied cells of the first grid, or from the empty cells
    /// of the second grid. Cells beyond a grid are empty. `None` if no cell was added.
    pub added: Option<Deepest>,
    /// Removed cell that is farthest from the empty cells of the first grid, or from the occupied
    /// cells of the second grid. `None` if no cell was removed.
    pub removed: Option<Deepest>,
}

/// Cells around the cells that differ at which the search begins.
const MARGIN: usize = 8;

impl DifferenceDepth {
    /// Measures the difference of two grids. `bounds` is the box of the cells that differ, and
    /// `spacing` the size of a cell. `None` if the distances need more than `max_bytes`.
    ///
    /// ```
    /// # use voxelize_compare::voxelize;
    /// use voxelize::BitGrid;
    /// use voxelize::compare::{DepthFrom, DifferenceDepth};
    ///
    /// let old = BitGrid::from_text("..#####")?;
    /// let new = BitGrid::from_text(".##....")?;
    /// let bounds = Some([[1, 0, 0], [6, 0, 0]]);
    /// let depth = DifferenceDepth::between(&old, &new, bounds, [0.5, 9.0, 9.0], u64::MAX)?.unwrap();
    /// let [added, removed] = [depth.added.unwrap(), depth.removed.unwrap()];
    /// assert_eq!((added.distance, added.cell), (0.5, [1, 0, 0]));
    /// assert_eq!((removed.distance, removed.cell), (2.0, [6, 0, 0]));
    /// assert_eq!(removed.from, DepthFrom::Second);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dims of the grids differ.
    pub fn between(
        first: &BitGrid,
        second: &BitGrid,
        bounds: Option<[[usize; 3]; 2]>,
        spacing: [f64; 3],
        max_bytes: u64,
    ) -> Result<Option<Self>> {
        same_dims(first.dims(), second.dims())?;
        let mut found = Self::default();
        let Some(bounds) = bounds else {
            return Ok(Some(found));
        };
        for is_removed in [false, true] {
            let mut greatest: Option<Deepest> = None;
            for from in [DepthFrom::First, DepthFrom::Second] {
                let search = DepthSearch {
                    first,
                    second,
                    is_removed,
                    from,
                    bounds,
                    spacing,
                };
                let Ok(deepest) = search.deepest(max_bytes) else {
                    return Ok(None);
                };
                let Some(deepest) = deepest else {
                    continue;
                };
                if greatest.is_none_or(|greatest| deepest.distance > greatest.distance) {
                    greatest = Some(deepest);
                }
            }
            if is_removed {
                found.removed = greatest;
            } else {
                found.added = greatest;
            }
        }
        Ok(Some(found))
    }
}

/// The distances need too much memory.
struct TooLarge;

/// Search for the deepest cell among those added, or among those removed.
struct DepthSearch<'a> {
    first: &'a BitGrid,
    second: &'a BitGrid,
    is_removed: bool,
    from: DepthFrom,
    bounds: [[usize; 3]; 2],
    spacing: [f64; 3],
}

impl DepthSearch<'_> {
    fn deepest(&self, max_bytes: u64) -> std::result::Result<Option<Deepest>, TooLarge> {
        let dims = self.first.dims();
        if !self.has_searched() || self.grid().count() == 0 && !self.is_occupied() {
            return Ok(None);
        }
        let mut margin = MARGIN;
        loop {
            let window = self.window(margin);
            let cells = window.dims().iter().map(|n| *n as u128).product::<u128>();
            if cells * size_of::<f64>() as u128 > u128::from(max_bytes) {
                return Err(TooLarge);
            }
            let deepest = self.deepest_in(&window);
            // A cell outside the window is farther than its margin.
            let least = self.spacing.into_iter().fold(f64::INFINITY, f64::min);
            let is_sure = match deepest {
                Some(deepest) => deepest.distance <= margin as f64 * least,
                None => false,
            };
            if is_sure || margin > dims.into_iter().max().unwrap_or(0) {
                return Ok(deepest.filter(|deepest| deepest.distance.is_finite()));
            }
            margin *= 2;
        }
    }

    /// Returns the cells at most `margin` cells from those that differ. One layer of cells beyond
    /// the grid belongs to it.
    fn window(&self, margin: usize) -> DepthWindow {
        let dims = self.first.dims();
        let [low, high] = self.bounds;
        // Coordinates count from the layer before the grid.
        DepthWindow {
            low: low.map(|c| (c + 1).saturating_sub(margin)),
            high: std::array::from_fn(|axis| (high[axis] + 1 + margin).min(dims[axis] + 1)),
        }
    }

    /// Returns the grid from whose surface the depth is measured.
    fn grid(&self) -> &BitGrid {
        match self.from {
            DepthFrom::First => self.first,
            DepthFrom::Second => self.second,
        }
    }

    /// Returns whether the cells of the search are occupied in this grid.
    fn is_occupied(&self) -> bool {
        self.is_removed == (self.from == DepthFrom::First)
    }

    fn has_searched(&self) -> bool {
        let [low, high] = self.bounds;
        (low[2]..=high[2]).any(|k| {
            (low[1]..=high[1]).any(|j| (low[0]..=high[0]).any(|i| self.is_searched([i, j, k])))
        })
    }

    /// Returns whether a cell is on the other side of the surface. Coordinates count from the layer
    /// before the grid.
    fn is_target(&self, cell: [usize; 3]) -> bool {
        let dims = self.first.dims();
        let is_inside = (0..3).all(|axis| (1..=dims[axis]).contains(&cell[axis]));
        let is_occupied = is_inside && self.grid().get(cell.map(|c| c - 1));
        is_occupied != self.is_occupied()
    }

    fn is_searched(&self, cell: [usize; 3]) -> bool {
        let old = self.first.get(cell);
        let new = self.second.get(cell);
        old != new && old == self.is_removed
    }

    fn deepest_in(&self, window: &DepthWindow) -> Option<Deepest> {
        let [nx, ny, nz] = window.dims();
        let unit = self.spacing[0];
        let [_, sy, sz] = self.spacing.map(|side| side / unit);
        // Squared distances within each layer, in sides of a cell along x, which are whole numbers
        // for cubes.
        let layers: Vec<Vec<f64>> = par::map_range(0..nz, |k| {
            let mut layer = vec![f64::INFINITY; nx * ny];
            for (j, row) in layer.chunks_exact_mut(nx).enumerate() {
                self.fill_row(window, [j, k], row);
            }
            let mut envelope = Envelope::default();
            let mut column = vec![0.0; ny];
            for i in 0..nx {
                for (j, value) in column.iter_mut().enumerate() {
                    *value = layer[i + nx * j];
                }
                envelope.transform(&mut column, sy);
                for (j, value) in column.iter().enumerate() {
                    layer[i + nx * j] = *value;
                }
            }
            layer
        });
        let [low, high] = self.bounds;
        let rows = par::map_range(low[1]..high[1] + 1, |j| {
            let mut deepest: Option<(f64, [usize; 3])> = None;
            let mut envelope = Envelope::default();
            let mut column = vec![0.0; nz];
            for i in low[0]..=high[0] {
                if !(low[2]..=high[2]).any(|k| self.is_searched([i, j, k])) {
                    continue;
                }
                let at = (i + 1 - window.low[0]) + nx * (j + 1 - window.low[1]);
                for (value, layer) in column.iter_mut().zip(&layers) {
                    *value = layer[at];
                }
                envelope.transform(&mut column, sz);
                for k in low[2]..=high[2] {
                    if self.is_searched([i, j, k]) {
                        let squared = column[k + 1 - window.low[2]];
                        deepest = deeper(deepest, Some((squared, [i, j, k])));
                    }
                }
            }
            deepest
        });
        let (squared, cell) = rows.into_iter().fold(None, deeper)?;
        Some(Deepest {
            distance: squared.sqrt() * unit,
            cell,
            from: self.from,
        })
    }

    /// Fills in the squared distance of each cell of a row from the nearest target in the row.
    fn fill_row(&self, window: &DepthWindow, [j, k]: [usize; 2], row: &mut [f64]) {
        let [x, y, z] = window.low;
        let mut nearest: Option<usize> = None;
        for (i, squared) in row.iter_mut().enumerate() {
            if self.is_target([x + i, y + j, z + k]) {
                nearest = Some(i);
            }
            if let Some(nearest) = nearest {
                *squared = ((i - nearest) as f64).powi(2);
            }
        }
        nearest = None;
        for (i, squared) in row.iter_mut().enumerate().rev() {
            if *squared == 0.0 {
                nearest = Some(i);
            }
            if let Some(nearest) = nearest {
                *squared = squared.min(((nearest - i) as f64).powi(2));
            }
        }
    }
}

/// Returns the deeper of two cells, or the first of them, x fastest.
fn deeper(
    one: Option<(f64, [usize; 3])>,
    other: Option<(f64, [usize; 3])>,
) -> Option<(f64, [usize; 3])> {
    let (Some((a, [i, j, k])), Some((b, [u, v, w]))) = (one, other) else {
        return one.or(other);
    };
    let is_other = b > a || b == a && [w, v, u] < [k, j, i];
    if is_other { other } else { one }
}

/// Box of cells, both ends inclusive, counted from the layer before the grid.
struct DepthWindow {
    low: [usize; 3],
    high: [usize; 3],
}

impl DepthWindow {
    fn dims(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.high[axis] + 1 - self.low[axis])
    }
}

/// Lower envelope of parabolas.
#[derive(Default)]
struct Envelope {
    /// Place and height of the parabolas, and where each begins.
    parabolas: Vec<(f64, f64, f64)>,
}

impl Envelope {
    /// Replaces each value by the least value of another place plus the squared distance of the
    /// places, which are `side` apart.
    fn transform(&mut self, values: &mut [f64], side: f64) {
        self.parabolas.clear();
        for (n, height) in values.iter().enumerate() {
            if height.is_infinite() {
                continue;
            }
            let place = n as f64 * side;
            loop {
                let Some((last, of_last, begin)) = self.parabolas.last() else {
                    self.parabolas.push((place, *height, f64::NEG_INFINITY));
                    break;
                };
                let meeting = (place + last + (height - of_last) / (place - last)) / 2.0;
                if meeting > *begin {
                    self.parabolas.push((place, *height, meeting));
                    break;
                }
                self.parabolas.pop();
            }
        }
        if self.parabolas.is_empty() {
            return;
        }
        let mut current = 0;
        for (n, value) in values.iter_mut().enumerate() {
            let place = n as f64 * side;
            while self
                .parabolas
                .get(current + 1)
                .is_some_and(|next| next.2 <= place)
            {
                current += 1;
            }
            let (at, height, _) = self.parabolas[current];
            *value = (place - at).powi(2) + height;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Difference;
    use crate::random::Random;

    /// Returns the greatest depths by all pairs of cells, with one layer of empty cells around the
    /// grid.
    fn by_all_pairs(first: &BitGrid, second: &BitGrid, spacing: [f64; 3]) -> [Option<f64>; 2] {
        let dims = first.dims().map(|n| n as i64);
        let get = |grid: &BitGrid, cell: [i64; 3]| {
            (0..3).all(|axis| (0..dims[axis]).contains(&cell[axis]))
                && grid.get(cell.map(|c| c as usize))
        };
        let mut all = vec![];
        for z in -1..=dims[2] {
            for y in -1..=dims[1] {
                for x in -1..=dims[0] {
                    all.push([x, y, z]);
                }
            }
        }
        let mut deepest = [None; 2];
        for (n, is_removed) in [false, true].into_iter().enumerate() {
            for cell in &all {
                let [old, new] = [first, second].map(|grid| get(grid, *cell));
                if old == new || old != is_removed {
                    continue;
                }
                for (grid, is_occupied) in [(first, old), (second, new)] {
                    let mut nearest = f64::INFINITY;
                    for other in all.iter().filter(|other| get(grid, **other) != is_occupied) {
                        let squares = (0..3).map(|axis| {
                            ((cell[axis] - other[axis]) as f64 * spacing[axis]).powi(2)
                        });
                        nearest = nearest.min(squares.sum());
                    }
                    if nearest.is_finite() {
                        let distance = nearest.sqrt();
                        deepest[n] =
                            Some(deepest[n].map_or(distance, |most: f64| most.max(distance)));
                    }
                }
            }
        }
        deepest
    }

    #[test]
    fn depths_match_all_pairs_of_cells() {
        let mut random = Random::new(3);
        let mut seen = [0; 2];
        for round in 0..60 {
            let dims = [24, 8, 8].map(|most| 1 + random.below(most) as usize);
            let mut first = BitGrid::new(dims).unwrap();
            let mut second = BitGrid::new(dims).unwrap();
            let sparse = 2 + 20 * (round % 4);
            for k in 0..dims[2] {
                for j in 0..dims[1] {
                    for i in 0..dims[0] {
                        if round % 2 == 0 && !random.one_in(sparse) || random.one_in(sparse) {
                            first.set([i, j, k]);
                        }
                        if random.one_in(2 + round % 5) {
                            second.set([i, j, k]);
                        }
                    }
                }
            }
            let spacing = if round % 3 == 0 {
                [1.0; 3]
            } else {
                [0.5, 0.75, 2.0]
            };
            let bounds = Difference::between(&first, &second).unwrap().bounds;
            let found = DifferenceDepth::between(&first, &second, bounds, spacing, u64::MAX);
            let found = found.unwrap().unwrap();
            let expected = by_all_pairs(&first, &second, spacing);
            for (n, (found, expected)) in [found.added, found.removed]
                .into_iter()
                .zip(expected)
                .enumerate()
            {
                match (found, expected) {
                    (None, None) => {}
                    (Some(found), Some(expected)) => {
                        assert!(
                            (found.distance - expected).abs() <= 1e-12 * expected,
                            "{round}: {found:?}, {expected}"
                        );
                        seen[n] += 1;
                    }
                    other => panic!("{round}: {other:?}"),
                }
            }
        }
        assert!(seen.iter().all(|seen| *seen > 30), "{seen:?}");
    }

    #[test]
    fn too_little_memory_gives_no_depth() {
        let first = BitGrid::from_text("###").unwrap();
        let second = BitGrid::from_text("#..").unwrap();
        let bounds = Some([[1, 0, 0], [2, 0, 0]]);
        let found = DifferenceDepth::between(&first, &second, bounds, [1.0; 3], 8).unwrap();
        assert_eq!(found, None);
    }
}
