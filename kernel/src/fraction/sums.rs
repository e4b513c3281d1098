//! The sums of pieces in some layers of cells, in bricks, and the shares of cells that they make.

use std::ops::Range;

use super::bricks::{CELLS, SIDE, SumBricks};
use super::clip::{IndexPoint, Polygon, cells, extent, integrals, is_on_wall, split};
use super::place::{LAYERS, placed};
use super::quantities::{Quantity, QuantitySum, QuantitySums, area_vector};
use super::units::{LIMIT, UNITS, units, whole, without_sign};
use crate::geom::Triangle;
use crate::lattice::{KernelAxis, KernelLattice};

/// The sums of the pieces in one cell.
#[derive(Clone, Copy, Default)]
struct PieceSum {
    area: i64,
    moment: i64,
}

/// Cells that pieces lie in.
struct CutBrick {
    sums: [PieceSum; CELLS],
    /// For each row, the cells whose inside a piece meets. Pieces on walls of cells do not.
    cut: [u8; CELLS / SIDE],
}

/// The sums of pieces that lie in some layers of cells.
struct PieceSums {
    /// Of the shares of cells, if they are wanted.
    cut: Option<SumBricks<CutBrick>>,
    /// Of other numbers, if they are wanted.
    quantities: Option<QuantitySums>,
}

/// The sums of at most [`LAYERS`] layers of cells.
pub struct LayerSums<'a> {
    frame: &'a KernelLattice,
    layers: Range<i64>,
    pieces: PieceSums,
    /// A triangle, and two parts of it in layers, in rows, and in cells.
    parts: Box<[Polygon; 7]>,
}

/// The cells in which the mesh winds around points other than 0 or 1 times, as far as their means show it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OddCells {
    /// How many.
    pub cells: u64,
    /// The mean that is farthest from 0 … 1, and the first of the cells that have it.
    pub farthest: Option<(f64, [usize; 3])>,
}

impl OddCells {
    /// Adds a cell, or cells, that follow.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        let off = |mean: f64| (mean - mean.clamp(0.0, 1.0)).abs();
        let is_farther = |(mean, _): &(f64, _)| self.farthest.is_none_or(|(most, _)| off(*mean) > off(most));
        if let Some(farther) = other.farthest.filter(is_farther) {
            self.farthest = Some(farther);
        }
    }
}

impl<'a> LayerSums<'a> {
    /// Of these layers of a lattice: at most [`LAYERS`].
    pub fn new(frame: &'a KernelLattice, layers: Range<usize>) -> Self {
        debug_assert!(layers.len() <= LAYERS);
        let layers = layers.start as i64..layers.end as i64;
        let cells = [0, 1].map(|a| frame.axes[a].cells);
        let cut = Some(SumBricks::new(cells, layers.clone()));
        Self {
            frame,
            layers,
            pieces: PieceSums { cut, quantities: None },
            parts: Box::new([const { Polygon::empty() }; 7]),
        }
    }

    /// With other numbers of cells that have these sides, too.
    #[must_use]
    pub fn with_quantities(mut self, sides: [f64; 3]) -> Self {
        let cells = [0, 1].map(|a| self.frame.axes[a].cells);
        let bricks = SumBricks::new(cells, self.layers.clone());
        let ends = (!self.is_oriented()).then(|| [0, 1].map(|a| end(&self.frame.axes[a])));
        self.pieces.quantities = Some(QuantitySums::new(bricks, sides, ends));
        self
    }

    /// Without the shares of cells, and whichever way triangles are wound; before [`with_quantities`](Self::with_quantities). A piece on a wall is in the cell above it, on
    /// the last wall of a closed axis in the last one.
    #[must_use]
    pub fn without_shares(mut self) -> Self {
        self.pieces.cut = None;
        self
    }

    /// Whether the winding of triangles counts.
    fn is_oriented(&self) -> bool {
        self.pieces.cut.is_some()
    }

    /// The bytes of those of a lattice of these dims, at most.
    pub fn bytes_for(dims: [usize; 3]) -> u128 {
        SumBricks::<CutBrick>::bytes_for(dims)
    }

    /// The bytes of those of other numbers, at most.
    pub fn bytes_of_quantities(dims: [usize; 3]) -> u128 {
        SumBricks::<[QuantitySum; CELLS]>::bytes_for(dims)
    }

    /// Adds a triangle.
    pub fn add(&mut self, triangle: &Triangle) {
        let mut corners = placed(self.frame, triangle);
        if !self.is_oriented() && corners[2] < corners[1] {
            corners.swap(1, 2);
        }
        let extents = [0, 1, 2].map(|a| extent(&corners, a));
        let [x, y, mut all] = extents.map(cells);
        if is_on_wall(extents[2]) {
            if self.pieces.quantities.is_none() {
                return;
            }
            let is_below = match self.is_oriented() {
                // In the layer on its inner side.
                true => area_vector(&corners)[2] > 0.0,
                false => all.start == end(&self.frame.axes[2]),
            };
            if is_below {
                all = all.start - 1..all.start;
            }
        }
        let mine = all.start.max(self.layers.start)..all.end.min(self.layers.end);
        if mine.is_empty() {
            return;
        }
        if [&x, &y, &all].iter().all(|cells| cells.end - cells.start == 1) {
            // Most triangles of a scan.
            self.pieces.add([x.start, y.start, all.start], &corners, extents);
            return;
        }
        self.parts[0].set(&corners);
        if all.end - all.start == 1 {
            self.add_layer(0, all.start);
            return;
        }
        let [whole, part, other, ..] = &mut *self.parts;
        if all.end - all.start == 2 {
            split(whole, 2, (all.start + 1) as f64, [part, other]);
            mine.for_each(|k| self.add_layer(if k == all.start { 1 } else { 2 }, k));
            return;
        }
        for k in mine {
            let [whole, part, ..] = &mut *self.parts;
            part.set_band(whole, 2, walls(k));
            self.add_layer(1, k);
        }
    }

    /// Adds the part of the triangle in layer `k`, which is this one of the parts.
    fn add_layer(&mut self, which: usize, k: i64) {
        let corners = self.parts[which].corners();
        if corners.len() < 3 {
            return;
        }
        let all = cells(extent(corners, 1));
        if all.end - all.start == 1 {
            self.add_row(which, [all.start, k]);
            return;
        }
        let (layers, [part, other, ..]) = self.parts.split_at_mut(3) else { return };
        if all.end - all.start == 2 {
            split(&layers[which], 1, (all.start + 1) as f64, [part, other]);
            self.add_row(3, [all.start, k]);
            self.add_row(4, [all.start + 1, k]);
            return;
        }
        for j in all.start.max(0)..all.end.min(self.frame.axes[1].cells) {
            let (layers, rows) = self.parts.split_at_mut(3);
            rows[0].set_band(&layers[which], 1, walls(j));
            self.add_row(3, [j, k]);
        }
    }

    /// Adds the part of the triangle in a row of cells, which is this one of the parts.
    fn add_row(&mut self, which: usize, [j, k]: [i64; 2]) {
        let (rows, [piece, other]) = self.parts.split_at_mut(5) else { return };
        let row = &rows[which];
        if row.corners().len() < 3 {
            return;
        }
        let extents = [0, 1, 2].map(|a| extent(row.corners(), a));
        let all = cells(extents[0]);
        if all.end - all.start == 1 {
            self.pieces.add([all.start, j, k], row.corners(), extents);
            return;
        }
        if all.end - all.start == 2 {
            split(row, 0, (all.start + 1) as f64, [piece, other]);
            for (i, half) in [(all.start, piece), (all.start + 1, other)] {
                if half.corners().len() > 2 {
                    self.pieces.add([i, j, k], half.corners(), [walls(i), extents[1], extents[2]]);
                }
            }
            return;
        }
        let mut add = |i: i64, walls: [f64; 2]| {
            piece.set_band(row, 0, walls);
            if piece.corners().len() > 2 {
                self.pieces.add([i, j, k], piece.corners(), [walls, extents[1], extents[2]]);
            }
        };
        if all.start < 0 {
            add(-1, [f64::NEG_INFINITY, 0.0]);
        }
        for i in all.start.max(0)..all.end.min(self.frame.axes[0].cells) {
            add(i, walls(i));
        }
    }
}

impl PieceSums {
    /// Adds a piece within one cell, or beside the lattice. The extents say whether it lies on a wall.
    fn add(&mut self, cell: [i64; 3], corners: &[IndexPoint], extents: [[f64; 2]; 3]) {
        if let Some(quantities) = &mut self.quantities {
            quantities.add(cell, corners, extents);
        }
        // A piece in a wall along the row has no normal along it.
        if let Some(cut) = self.cut.as_mut().filter(|_| !is_on_wall(extents[1]) && !is_on_wall(extents[2])) {
            add_cut(cut, cell, corners, extents[0]);
        }
    }
}

/// Adds the integrals of a piece to its cell; of one before the first wall of the lattice, as if it were on it.
fn add_cut(cut: &mut SumBricks<CutBrick>, cell: [i64; 3], corners: &[IndexPoint], extent: [f64; 2]) {
    let [i, j, k] = cell;
    let make = || CutBrick { sums: [PieceSum::default(); CELLS], cut: [0; CELLS / SIDE] };
    let Some((brick, n)) = cut.at([i.max(0), j, k], make) else { return };
    let [area, moment] = integrals(corners, cell.map(|n| n as f64));
    let sum = &mut brick.sums[n];
    // Of more pieces than 64 bits hold, the sums are right where their totals are.
    sum.area = sum.area.wrapping_add(units(area));
    if i >= 0 {
        sum.moment = sum.moment.wrapping_add(units(moment));
        brick.cut[n / SIDE] |= u8::from(!is_on_wall(extent)) << (n % SIDE);
    }
}

impl LayerSums<'_> {
    /// Makes `values` the shares of the cells of a row; the answer has those that are beyond 0 … 1.
    pub fn row(&self, place: [usize; 2], values: &mut [f32]) -> OddCells {
        let mut odd = OddCells::default();
        self.each_mean(place, values.len(), |cells, mean| {
            let (share, found) = share(mean, [cells.start, place[0], place[1]]);
            odd.add(OddCells { cells: found.cells * cells.len() as u64, ..found });
            values[cells].fill(share);
        });
        odd
    }

    /// Makes each of the arrays the numbers of the cells of a row: so many to a cell as its quantity has. Without the shares
    /// of cells, of quantities that need none.
    pub fn quantity_row(&self, place: [usize; 2], arrays: &mut [(Quantity, &mut [f32])]) {
        let Some(quantities) = &self.pieces.quantities else { return };
        let cells = quantities.bricks.cells[0] as usize;
        let mut means = vec![0; cells];
        self.each_mean(place, cells, |some, mean| means[some].fill(mean));
        let (bricks, row) = quantities.bricks.row(place);
        for (n, brick) in bricks.enumerate() {
            let sums = brick.map(|sums| &sums[row * SIDE..][..SIDE]);
            let some = n * SIDE..cells.min((n + 1) * SIDE);
            for (quantity, numbers) in arrays.iter_mut() {
                let each = numbers.len() / cells;
                for cell in some.clone() {
                    let numbers = &mut numbers[cell * each..][..each];
                    quantities.put(*quantity, sums.map(|sums| &sums[cell % SIDE]), means[cell], numbers);
                }
            }
        }
    }

    /// The means and the sums of all cells, x fastest.
    #[cfg(test)]
    pub(super) fn quantity_sums(&self) -> Vec<(i64, QuantitySum)> {
        let quantities = self.pieces.quantities.as_ref().expect("quantities");
        let [nx, ny] = quantities.bricks.cells.map(|n| n as usize);
        let mut all = vec![];
        for (j, k) in self.layers.clone().flat_map(|k| (0..ny).map(move |j| (j, k as usize))) {
            let mut means = vec![0; nx];
            self.each_mean([j, k], nx, |cells, mean| means[cells].fill(mean));
            let (bricks, row) = quantities.bricks.row([j, k]);
            let bricks: Vec<_> = bricks.collect();
            let sum = |i: usize| {
                bricks[i / SIDE].map_or_else(QuantitySum::default, |sums| sums[row * SIDE + i % SIDE])
            };
            all.extend(means.into_iter().enumerate().map(|(i, mean)| (mean, sum(i))));
        }
        all
    }

    /// Calls `take` with the cells of a row, one or some in their order, and how often the mesh winds around the points of
    /// each on average, in units.
    fn each_mean(&self, place: [usize; 2], count: usize, mut take: impl FnMut(Range<usize>, i64)) {
        let Some(cut) = &self.pieces.cut else { return };
        let (bricks, row) = cut.row(place);
        // The covered share of the wall between two cells.
        let mut cover = 0_i64;
        for (n, brick) in bricks.enumerate() {
            let some = n * SIDE..count.min((n + 1) * SIDE);
            let Some(brick) = brick else {
                cover = whole(cover);
                take(some, cover);
                continue;
            };
            let sums = &brick.sums[row * SIDE..][..SIDE];
            for (cell, sum) in some.zip(sums) {
                cover = cover.wrapping_sub(sum.area);
                let is_cut = brick.cut[row] >> (cell % SIDE) & 1 != 0;
                if !is_cut {
                    cover = whole(cover);
                }
                take(cell..cell + 1, if is_cut { sum.moment.wrapping_add(cover) } else { cover });
            }
        }
    }
}

/// The wall at the end of an axis, if it belongs to the last cell; else none that there is.
fn end(axis: &KernelAxis) -> i64 {
    if axis.closed { axis.cells } else { i64::MAX }
}

/// The walls of a cell.
fn walls(cell: i64) -> [f64; 2] {
    [cell as f64, (cell + 1) as f64]
}

/// The share of a cell that the mesh winds around so often on average: without its sign, and 1 at most.
fn share(mean: i64, cell: [usize; 3]) -> (f32, OddCells) {
    const ONE: i64 = UNITS as i64;
    let mut odd = OddCells::default();
    if !(-LIMIT..=ONE + LIMIT).contains(&mean) {
        odd = OddCells { cells: 1, farthest: Some((mean as f64 / UNITS, cell)) };
    }
    ((without_sign(mean) as f64 / UNITS) as f32, odd)
}
