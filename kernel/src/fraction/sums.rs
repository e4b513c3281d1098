//! The sums of pieces in some layers of cells, in bricks, and the shares of cells that they make.

use std::ops::Range;

use super::clip::{IndexPoint, Polygon, cells, extent, integrals, is_on_wall, split};
use super::place::{LAYERS, placed};
use crate::geom::Triangle;
use crate::lattice::KernelLattice;

/// Cells of a brick along x and y.
const SIDE: usize = 8;

/// Cells of a brick.
const CELLS: usize = SIDE * SIDE * LAYERS;

/// The unit of sums is one in so many.
const UNITS: f64 = (1_u64 << 44) as f64;

/// How far from 0 … 1 rounding may bring a share, in units: 2^-26, the error bound of docs/error-bounds.md.
const LIMIT: i64 = 1 << 18;

/// No brick.
const NONE: u32 = u32::MAX;

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

/// Where bricks of sums are made as pieces need them.
struct CutBricks {
    /// Cells along x and y.
    cells: [i64; 2],
    layers: Range<i64>,
    /// Bricks along x.
    count: usize,
    places: Vec<u32>,
    bricks: Vec<Box<CutBrick>>,
}

/// The sums of at most [`LAYERS`] layers of cells.
pub struct LayerSums<'a> {
    frame: &'a KernelLattice,
    bricks: CutBricks,
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
        let cells = [0, 1].map(|a| frame.axes[a].cells);
        let [x, y] = cells.map(|n| (n as usize).div_ceil(SIDE));
        let layers = layers.start as i64..layers.end as i64;
        Self {
            frame,
            bricks: CutBricks { cells, layers, count: x, places: vec![NONE; x * y], bricks: vec![] },
            parts: Box::new([const { Polygon::empty() }; 7]),
        }
    }

    /// The bytes of those of a lattice of these dims, at most.
    pub fn bytes_for([nx, ny, _]: [usize; 3]) -> u128 {
        let bricks = (nx.div_ceil(SIDE) * ny.div_ceil(SIDE)) as u128;
        // A list that grows takes up to twice what is in it.
        bricks * (size_of::<u32>() + 2 * size_of::<Box<CutBrick>>() + size_of::<CutBrick>()) as u128
    }

    /// Adds a triangle.
    pub fn add(&mut self, triangle: &Triangle) {
        let corners = placed(self.frame, triangle);
        let extents = [0, 1, 2].map(|a| extent(&corners, a));
        let [x, y, all] = extents.map(cells);
        let mine = all.start.max(self.bricks.layers.start)..all.end.min(self.bricks.layers.end);
        if mine.is_empty() {
            return;
        }
        if [&x, &y, &all].iter().all(|cells| cells.end - cells.start == 1) {
            // Most triangles of a scan.
            self.bricks.add_piece([x.start, y.start, all.start], &corners, extents);
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
        for j in all.start.max(0)..all.end.min(self.bricks.cells[1]) {
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
            self.bricks.add_piece([all.start, j, k], row.corners(), extents);
            return;
        }
        if all.end - all.start == 2 {
            split(row, 0, (all.start + 1) as f64, [piece, other]);
            for (i, half) in [(all.start, piece), (all.start + 1, other)] {
                if half.corners().len() > 2 {
                    self.bricks.add_piece([i, j, k], half.corners(), [walls(i), extents[1], extents[2]]);
                }
            }
            return;
        }
        let mut add = |i: i64, walls: [f64; 2]| {
            piece.set_band(row, 0, walls);
            if piece.corners().len() > 2 {
                self.bricks.add_piece([i, j, k], piece.corners(), [walls, extents[1], extents[2]]);
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

impl CutBricks {
    /// Adds a piece within one cell, or beside the lattice; a piece in a wall along the row has no normal along it. The
    /// extents say whether it lies on a wall.
    fn add_piece(&mut self, [i, j, k]: [i64; 3], corners: &[IndexPoint], extents: [[f64; 2]; 3]) {
        let [nx, ny] = self.cells;
        if i >= nx || !(0..ny).contains(&j) || is_on_wall(extents[1]) || is_on_wall(extents[2]) {
            return;
        }
        let [area, moment] = integrals(corners, [i, j, k].map(|n| n as f64));
        if i < 0 {
            // As if it were on the first wall of the lattice.
            self.add_to([0, j, k], [area, 0.0], false);
        } else {
            self.add_to([i, j, k], [area, moment], !is_on_wall(extents[0]));
        }
    }

    /// Adds the integrals of a piece to its cell.
    fn add_to(&mut self, [i, j, k]: [i64; 3], [area, moment]: [f64; 2], is_cut: bool) {
        let [i, j] = [i as usize, j as usize];
        let place = &mut self.places[j / SIDE * self.count + i / SIDE];
        if *place == NONE {
            *place = self.bricks.len() as u32;
            self.bricks
                .push(Box::new(CutBrick { sums: [PieceSum::default(); CELLS], cut: [0; CELLS / SIDE] }));
        }
        let brick = &mut self.bricks[*place as usize];
        let row = (k - self.layers.start) as usize * SIDE + j % SIDE;
        let sum = &mut brick.sums[row * SIDE + i % SIDE];
        // Of more pieces than 64 bits hold, the sums are right where their totals are.
        sum.area = sum.area.wrapping_add(units(area));
        sum.moment = sum.moment.wrapping_add(units(moment));
        brick.cut[row] |= u8::from(is_cut) << (i % SIDE);
    }
}

impl LayerSums<'_> {
    /// Makes `values` the shares of the cells of a row; the answer has those that are beyond 0 … 1.
    pub fn row(&self, [j, k]: [usize; 2], values: &mut [f32]) -> OddCells {
        let mut odd = OddCells::default();
        let CutBricks { layers, count, places, bricks, .. } = &self.bricks;
        let row = (k - layers.start as usize) * SIDE + j % SIDE;
        let places = &places[j / SIDE * count..][..*count];
        // The covered share of the wall between two cells.
        let mut cover = 0_i64;
        for ((n, values), place) in values.chunks_mut(SIDE).enumerate().zip(places) {
            let of_cell = |i: usize| [n * SIDE + i, j, k];
            let Some(brick) = bricks.get(*place as usize) else {
                cover = whole(cover);
                let (value, found) = share(cover, of_cell(0));
                values.fill(value);
                odd.add(OddCells { cells: found.cells * values.len() as u64, ..found });
                continue;
            };
            let sums = &brick.sums[row * SIDE..][..SIDE];
            for (i, (value, sum)) in values.iter_mut().zip(sums).enumerate() {
                cover = cover.wrapping_sub(sum.area);
                let is_cut = brick.cut[row] >> i & 1 != 0;
                if !is_cut {
                    cover = whole(cover);
                }
                let mean = if is_cut { sum.moment.wrapping_add(cover) } else { cover };
                let (share, found) = share(mean, of_cell(i));
                *value = share;
                odd.add(found);
            }
        }
        odd
    }
}

/// The walls of a cell.
fn walls(cell: i64) -> [f64; 2] {
    [cell as f64, (cell + 1) as f64]
}

/// An integral in units; at most 2^6 in size, as integrals of pieces are. Without an instruction for it
/// `f64::round_ties_even` is a call: a sum with a number of this size is rounded to whole ones.
fn units(integral: f64) -> i64 {
    const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
    let sum = integral * UNITS + WHOLE;
    sum.to_bits().wrapping_sub(WHOLE.to_bits()) as i64
}

/// The nearest whole number, in units.
fn whole(sum: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    sum.wrapping_add(ONE / 2).div_euclid(ONE).wrapping_mul(ONE)
}

/// The share of a cell that the mesh winds around so often on average: without its sign, and 1 at most.
fn share(mean: i64, cell: [usize; 3]) -> (f32, OddCells) {
    const ONE: i64 = UNITS as i64;
    let mut odd = OddCells::default();
    if !(-LIMIT..=ONE + LIMIT).contains(&mean) {
        odd = OddCells { cells: 1, farthest: Some((mean as f64 / UNITS, cell)) };
    }
    let inside = if mean < -LIMIT { mean.saturating_neg() } else { mean };
    ((inside.clamp(0, ONE) as f64 / UNITS) as f32, odd)
}
