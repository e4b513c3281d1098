//! Sums over the pieces in some layers of cells, and the shares of cells that are computed from these sums.

use std::ops::Range;

use super::bands::{
    LAYER, LAYERS_OF_BAND, PART, ROWS_OF_BAND, RowPlaces, WHOLE, cut_layers, cut_rows,
};
use super::bricks::{CELLS, SIDE, SumBricks};
use super::cut_cells::CutCells;
use super::cutter::{PieceCutter, end};
use super::enter::{EnterLists, enter};
use super::lists::{LaneList, WIDEST};
use super::pieces::{LONG, LONG_OF_STEP, add_long_parts, add_parts};
use super::place::LAYERS;
use super::quantities::{CellMean, Quantity, QuantitySum, QuantitySums};
use super::rows::{self, OddCells};
use super::union::{CellUnion, number_of, union_in_cell};
use super::unite::{CELLS_AT_A_TIME, UnitedCells, each_union, shared_cells};
use crate::geom::Triangle;
use crate::lattice::KernelLattice;
use crate::levels::{LANES, Level, on_level};

/// Sums for at most [`LAYERS`] layers of cells at a time.
pub struct LayerSums {
    level: Level,
    layers: Range<usize>,
    /// First cell along x and along y for which values are requested.
    first: [usize; 2],
    /// Sums for the shares of cells. `None` if shares are not requested.
    cut: Option<CutSums>,
    /// Cutter and sums for other quantities. `None` if no other quantities are requested.
    quantities: Option<(PieceCutter, QuantitySums)>,
}

/// Sums for the shares of cells, and lists of triangles and parts that were not added to the sums yet.
struct CutSums {
    whole: LaneList<WHOLE>,
    layer: LaneList<LAYER>,
    parts: LaneList<PART>,
    long: LaneList<LONG>,
    cells: CutCells,
}

impl LayerSums {
    /// Creates the sums for a lattice. The range of layers is empty. Values are requested for the cells from
    /// `first` on, along x and along y. The mesh before these cells counts as in the whole lattice, so that
    /// the values are the same.
    pub fn new(frame: &KernelLattice, first: [usize; 2], level: Level) -> Self {
        let cut = Some(CutSums::new(frame, first[1]));
        Self {
            level,
            layers: 0..0,
            first,
            cut,
            quantities: None,
        }
    }

    /// Adds sums for other quantities. `sides` are the sides of a cell.
    #[must_use]
    pub fn with_quantities(mut self, frame: &KernelLattice, sides: [f64; 3]) -> Self {
        let is_oriented = self.cut.is_some();
        let first = self.first.map(|n| n as i64);
        let bricks = SumBricks::new(first, [0, 1].map(|a| frame.axes[a].cells), 0..0);
        let ends = if is_oriented {
            None
        } else {
            Some([end(&frame.axes[0]), end(&frame.axes[1])])
        };
        self.quantities = Some((
            PieceCutter::new(is_oriented),
            QuantitySums::new(bricks, sides, ends),
        ));
        self
    }

    /// Omits the sums for shares, so that the orientation of triangles does not matter. Must be called before
    /// [`with_quantities`](Self::with_quantities). A piece that lies on a wall is then in the cell above it,
    /// or in the last cell if it lies on the last wall of a closed axis.
    #[must_use]
    pub fn without_shares(mut self) -> Self {
        self.cut = None;
        self
    }

    /// Returns the maximum memory in bytes for a lattice of these dims whose cells start at `first` along x
    /// and y.
    pub fn bytes_for(first: [usize; 2], [nx, ny, nz]: [usize; 3]) -> u128 {
        let lists = (WHOLE + LAYER + PART + LONG) * LaneList::<1>::BYTES;
        // Rows of cells are stored from their beginning. The first row of bricks is stored with all its rows
        // of cells.
        let dims = [first[0] + nx, first[1] % SIDE + ny, nz];
        CutCells::bytes_for(dims) + lists as u128
    }

    /// Returns the maximum memory in bytes for the sums of other quantities.
    pub fn bytes_of_quantities(first: [usize; 2], [nx, ny, nz]: [usize; 3]) -> u128 {
        SumBricks::<[QuantitySum; CELLS]>::bytes_for([
            first[0] % SIDE + nx,
            first[1] % SIDE + ny,
            nz,
        ])
    }

    /// Clears the sums and continues with the cells of `layers`, at most [`LAYERS`] layers.
    pub fn begin(&mut self, layers: Range<usize>) {
        debug_assert!(layers.len() <= LAYERS);
        if let Some(cut) = &mut self.cut {
            cut.clear();
        }
        if let Some((cutter, sums)) = &mut self.quantities {
            cutter.layers = layers.start as i64..layers.end as i64;
            sums.bricks =
                SumBricks::new(sums.bricks.first, sums.bricks.cells, cutter.layers.clone());
        }
        self.layers = layers;
    }

    /// Adds the triangles with these numbers to the sums.
    pub fn add(&mut self, frame: &KernelLattice, triangles: &[Triangle], numbers: &[u32]) {
        if let Some(cut) = &mut self.cut {
            cut.add(frame, self.level, &self.layers, (triangles, numbers));
        }
        if let Some((cutter, sums)) = &mut self.quantities {
            for n in numbers {
                cutter.add(frame, &triangles[*n as usize], sums);
            }
        }
    }

    /// Completes the sums after the last triangle was added.
    pub fn end(&mut self) {
        if let Some(cut) = &mut self.cut {
            cut.end(self.level, &self.layers);
        }
    }

    /// Fills `values` with the shares of the cells of a row. Returns the cells whose mean winding number is
    /// outside of 0 … 1.
    pub fn row(&self, [j, k]: [usize; 2], values: &mut [f32]) -> OddCells {
        let mut odd = OddCells::default();
        let Some(cut) = &self.cut else { return odd };
        let place = [j, k, k - self.layers.start];
        if self.first[0] > 0 {
            rows::fill_from(&cut.cells, place, self.first[0], values, &mut odd);
            return odd;
        }
        // The code is compiled for the level, although it uses no vectors explicitly.
        on_level!(self.level, _simd => rows::fill(&cut.cells, place, values, &mut odd));
        odd
    }

    /// Replaces the values of cells in which parts of the mesh overlap by the shares of the union of these
    /// parts. The rows of `values` are the rows of all layers. If the mesh has several parts, `parts` has the
    /// part of each triangle that may be near another part. `odd` has the cells that [`row`](Self::row)
    /// found. Also returns the cells in inverted parts whose means are only slightly below 0, as k, j and i.
    /// They are also added to `odd`.
    pub fn unite(
        &self,
        frame: &KernelLattice,
        (triangles, lists): (&[Triangle], [&[u32]; 2]),
        parts: Option<&[u32]>,
        odd: &mut OddCells,
        values: &mut [f32],
    ) -> (UnitedCells, Vec<[u32; 3]>) {
        let mut united = UnitedCells::default();
        let mut inverted = vec![];
        let Some(cut) = &self.cut else {
            return (united, inverted);
        };
        let [nx, ny] = cut.cells.cells;
        let [x, y] = self.first;
        let mut shared = match parts {
            Some(parts) => shared_cells(frame, self.layers.clone(), (triangles, lists), parts),
            None => vec![],
        };
        shared.retain(|[_, j, i]| *i as usize >= x && *j as usize >= y);
        let mut found = shared.clone();
        if odd.cells + odd.doubtful > 0 {
            for k in self.layers.clone() {
                for j in y..ny {
                    for i in rows::odd_cut_cells(&cut.cells, [j, k - self.layers.start]) {
                        if i >= x {
                            found.push([k as u32, j as u32, i as u32]);
                        }
                    }
                }
            }
            found.sort_unstable();
            found.dedup();
        }
        for cells in found.chunks(CELLS_AT_A_TIME) {
            let mut row = ([u32::MAX; 2], vec![]);
            each_union(frame, (triangles, lists), cells, |cell, facets| {
                let is_shared = shared.binary_search(&cell).is_ok();
                let [k, j, i] = cell;
                if row.0 != [j, k] {
                    row = ([j, k], self.means([j as usize, k as usize], nx));
                }
                let [i, j, k] = [i, j, k].map(|n| n as usize);
                let row_of_values = (k - self.layers.start) * (ny - y) + j - y;
                let value = &mut values[row_of_values * (nx - x) + i - x];
                let mean = row.1[i];
                let mut known = union_in_cell(facets, number_of(mean), is_shared);
                if known == CellUnion::Inverted {
                    if rows::is_odd(mean) {
                        // This cell is already known to be inverted.
                        known = CellUnion::Simple;
                    } else {
                        inverted.push(cell);
                    }
                }
                united.set([i, j, k], known, number_of(mean), odd, value);
            });
        }
        (united, inverted)
    }

    /// Returns the mean winding numbers of the cells of a row, in units.
    fn means(&self, [j, k]: [usize; 2], cells: usize) -> Vec<i64> {
        match &self.cut {
            Some(cut) => rows::means(&cut.cells, [j, k - self.layers.start]),
            None => vec![0; cells],
        }
    }

    /// Fills each array with the values of its quantity for the cells of a row. A quantity has one or more
    /// values per cell. If shares are not requested, only quantities that do not need them are valid.
    /// `inverted` has the cells that [`unite`](Self::unite) found.
    pub fn quantity_row(
        &self,
        place: [usize; 2],
        inverted: &[[u32; 3]],
        arrays: &mut [(Quantity, &mut [f32])],
    ) {
        let Some((_, quantities)) = &self.quantities else {
            return;
        };
        let cells = quantities.bricks.cells[0] as usize;
        let first = self.first[0];
        let means = self.means(place, cells);
        let (bricks, row) = quantities.bricks.row(place);
        let [j, k] = place.map(|n| n as u32);
        for (n, brick) in bricks.enumerate() {
            let sums = brick.map(|sums| &sums[row * SIDE..][..SIDE]);
            let low = (first / SIDE + n) * SIDE;
            let some = low.max(first)..cells.min(low + SIDE);
            for (quantity, numbers) in arrays.iter_mut() {
                let each = numbers.len() / (cells - first);
                for cell in some.clone() {
                    let numbers = &mut numbers[(cell - first) * each..][..each];
                    let mean = CellMean {
                        units: means[cell],
                        is_inverted: inverted.binary_search(&[k, j, cell as u32]).is_ok(),
                    };
                    quantities.put(
                        *quantity,
                        sums.map(|sums| &sums[cell % SIDE]),
                        mean,
                        numbers,
                    );
                }
            }
        }
    }

    /// Returns the mean winding numbers and the sums of all cells. x varies fastest, then y, then z.
    #[cfg(test)]
    pub(super) fn quantity_sums(&self) -> Vec<(i64, QuantitySum)> {
        let (_, quantities) = self.quantities.as_ref().expect("quantities");
        let [nx, ny] = quantities.bricks.cells.map(|n| n as usize);
        let mut all = vec![];
        for k in self.layers.clone() {
            for j in 0..ny {
                let means = self.means([j, k], nx);
                let (bricks, row) = quantities.bricks.row([j, k]);
                let bricks: Vec<_> = bricks.collect();
                for (i, mean) in means.into_iter().enumerate() {
                    let sum = match bricks[i / SIDE] {
                        Some(sums) => sums[row * SIDE + i % SIDE],
                        None => QuantitySum::default(),
                    };
                    all.push((mean, sum));
                }
            }
        }
        all
    }
}

impl CutSums {
    fn new(frame: &KernelLattice, first_row: usize) -> Self {
        Self {
            whole: LaneList::new(),
            layer: LaneList::new(),
            parts: LaneList::new(),
            long: LaneList::new(),
            cells: CutCells::new([0, 1].map(|a| frame.axes[a].cells), first_row),
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
    }

    /// Returns the conversion of rows to places.
    fn places(&self, layers: &Range<usize>) -> RowPlaces {
        let [bricks, layer] = self.cells.strides().map(|n| n as f64);
        RowPlaces {
            side: SIDE as f64,
            bricks,
            layer,
            layers: [layers.start as f64, layers.end as f64],
            rows: [self.cells.first_row as f64, self.cells.cells[1] as f64],
            before: self.cells.before() as f64,
        }
    }

    /// Adds the triangles with these numbers to the sums.
    fn add(
        &mut self,
        frame: &KernelLattice,
        level: Level,
        layers: &Range<usize>,
        (triangles, numbers): (&[Triangle], &[u32]),
    ) {
        let places = self.places(layers);
        let mut numbers = numbers;
        while !numbers.is_empty() {
            let Self {
                whole,
                layer,
                cells,
                ..
            } = self;
            let to = &mut EnterLists {
                whole,
                layer,
                cells,
            };
            let done =
                on_level!(level, simd => enter(simd, frame, triangles, numbers, &places, to));
            numbers = &numbers[done..];
            while !self.whole.has_room(LANES) || !self.layer.has_room(LANES) {
                self.step(level, layers, false);
            }
        }
    }

    /// Completes the sums after the last triangle was added.
    fn end(&mut self, level: Level, layers: &Range<usize>) {
        while self.whole.count() + self.layer.count() + self.parts.count() + self.long.count() > 0 {
            self.step(level, layers, true);
        }
        self.cells.list();
    }

    /// Processes one list that is full. If none is full, processes the triangles that were not cut yet. If
    /// `is_end` is true, every list that is not empty counts as full.
    fn step(&mut self, level: Level, layers: &Range<usize>, is_end: bool) {
        let places = &self.places(layers);
        let least = if is_end { 1 } else { WIDEST };
        let Self {
            whole,
            layer,
            parts,
            long,
            cells,
            ..
        } = self;
        if !long.has_room(LONG_OF_STEP) || (is_end && long.count() > 0) {
            on_level!(level, simd => add_long_parts(simd, long, cells, least));
        } else if !parts.has_room(ROWS_OF_BAND) || (is_end && parts.count() > 0) {
            on_level!(level, simd => add_parts(simd, parts, long, cells, least));
        } else if !layer.has_room(LAYERS_OF_BAND) || (is_end && layer.count() > 0) {
            on_level!(level, simd => cut_rows(simd, layer, parts, places, least));
        } else {
            on_level!(level, simd => cut_layers(simd, whole, layer, places, least));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
    use crate::geom::{Bounds, Rational, Ties};
    use crate::random::Random;

    /// Number of cells along x and along y. All cells are in one layer of bricks.
    const CELLS_ACROSS: [usize; 2] = [21, 13];

    fn frame(triangles: &[Triangle]) -> KernelLattice {
        let map = || AxisMap::new(Rational::ZERO, Rational::ONE, Snap::None);
        let cells = [CELLS_ACROSS[0], CELLS_ACROSS[1], LAYERS];
        let axes = cells.map(|cells| LatticeAxis {
            map: map(),
            cells,
            closed: false,
        });
        KernelLattice::new(axes, &Bounds::of(triangles), Ties::None)
    }

    /// Returns triangles within a cell, across a few cells, and across the whole lattice and beyond it.
    fn triangles(random: &mut Random) -> Vec<Triangle> {
        let one = |n: usize| {
            let size = [0.3, 1.0, 2.5, 40.0][n % 4];
            let middle = [21.0, 13.0, 4.0].map(|cells| random.within(-1.0, cells + 1.0));
            [(); 3].map(|()| middle.map(|c| (c + random.within(-size, size)) as f32))
        };
        (0..60).map(one).collect()
    }

    /// Returns the sums of all cells with non-zero sums.
    fn sums(
        frame: &KernelLattice,
        level: Level,
        triangles: &[Triangle],
    ) -> (LayerSums, Vec<[i64; 2]>) {
        let mut sums = LayerSums::new(frame, [0; 2], level).with_quantities(frame, [1.0; 3]);
        // The sums of earlier triangles must not remain.
        sums.begin(0..LAYERS);
        sums.add(frame, triangles, &[0, 1]);
        sums.end();
        sums.begin(0..LAYERS);
        sums.add(frame, triangles, &Vec::from_iter(0..triangles.len() as u32));
        sums.end();
        let [nx, ny] = CELLS_ACROSS;
        let mut found = vec![];
        for (j, k) in (0..LAYERS).flat_map(|k| (0..ny).map(move |j| (j, k))) {
            let mut row = vec![[0; 2]; nx.next_multiple_of(SIDE)];
            let cells = &sums.cut.as_ref().expect("shares").cells;
            for (first, some) in cells
                .bricks_along([j, k])
                .iter()
                .filter_map(|brick| cells.row(brick, j))
            {
                for (n, sum) in some.iter().enumerate() {
                    row[first + n] = [sum.area, sum.moment];
                }
            }
            found.extend(&row[..nx]);
        }
        (sums, found)
    }

    #[test]
    fn lanes_sum_what_pieces_one_by_one_do() {
        // Largest allowed difference in units. It is far more than rounding errors, and far less than a piece
        // that is omitted or counted twice.
        const MOST: u64 = 1 << 10;
        let mut random = Random::new(12);
        let mut compared = 0;
        for _ in 0..40 {
            let triangles = triangles(&mut random);
            let frame = frame(&triangles);
            let (sums, found) = sums(&frame, Level::Scalar, &triangles);
            for (n, (found, (_, pieces))) in found.iter().zip(sums.quantity_sums()).enumerate() {
                // The first cell of a row also has the pieces before the lattice, so it is not compared.
                if n % CELLS_ACROSS[0] == 0 {
                    continue;
                }
                let [area, moment] = pieces.along_x();
                let off = [found[0].abs_diff(area), (found[1] >> 1).abs_diff(moment)];
                assert!(
                    off.iter().all(|off| *off < MOST),
                    "{n}: {found:?}, {area}, {moment}"
                );
                compared += u64::from(area != 0);
            }
        }
        assert!(compared > 10_000, "{compared}");
    }

    #[test]
    fn levels_and_orders_sum_the_same() {
        let mut random = Random::new(13);
        let mut compared = 0;
        for n in 0..60 {
            let mut triangles = triangles(&mut random);
            if n % 3 == 0 {
                // Moves corners, edges and faces onto walls.
                triangles
                    .iter_mut()
                    .flatten()
                    .flatten()
                    .for_each(|c| *c = (*c * 2.0).round() / 2.0);
            }
            let frame = frame(&triangles);
            let wanted = sums(&frame, Level::Scalar, &triangles).1;
            let turned: Vec<_> = random
                .shuffled(&triangles)
                .into_iter()
                .map(|[p, q, r]| [q, r, p])
                .collect();
            for level in Level::available() {
                for triangles in [&triangles, &turned] {
                    assert_eq!(sums(&frame, level, triangles).1, wanted, "{level:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 120, "{compared}");
    }
}
