//! The sums of the pieces in the cells of some layers, in bricks.

use super::bricks::{CELLS, SIDE};

/// The sums of the pieces in one cell.
#[derive(Clone, Copy, Default)]
pub(super) struct PieceSum {
    pub(super) area: i64,
    /// Twice the moment, and one more if the inside of the cell meets a piece: pieces on its walls do not.
    pub(super) moment: i64,
}

impl PieceSum {
    /// The moment, if the inside of the cell meets a piece.
    #[inline(always)]
    pub(super) fn cut(self) -> Option<i64> {
        (self.moment & 1 != 0).then_some(self.moment >> 1)
    }
}

/// No brick.
const NONE: u32 = u32::MAX;

/// Cells of some layers, in bricks that are made as cells need them.
pub(super) struct CutCells {
    /// Cells along x and y.
    pub(super) cells: [usize; 2],
    /// Bricks along x.
    count: usize,
    /// The number of the brick at each place, rows of bricks along x.
    places: Vec<u32>,
    bricks: Vec<Box<[PieceSum; CELLS]>>,
    /// Bricks that were used before.
    spare: Vec<Box<[PieceSum; CELLS]>>,
    /// The bricks of all rows of bricks, with their places along x.
    listed: Vec<[u32; 2]>,
    /// Where those of each row of bricks end in the list.
    ends: Vec<usize>,
}

impl CutCells {
    /// None yet, of so many cells along x and y.
    pub(super) fn new(cells: [i64; 2]) -> Self {
        let cells = cells.map(|n| n as usize);
        let [x, y] = cells.map(|n| n.div_ceil(SIDE));
        let places = vec![NONE; x * y];
        Self { cells, count: x, places, bricks: vec![], spare: vec![], listed: vec![], ends: vec![] }
    }

    /// The bytes of those of a lattice of these dims, at most.
    pub(super) fn bytes_for([nx, ny, _]: [usize; 3]) -> u128 {
        let [x, y] = [nx, ny].map(|n| n.div_ceil(SIDE) as u128);
        // Lists that grow take up to twice what is in them.
        let brick = size_of::<[PieceSum; CELLS]>() + 4 * size_of::<Box<()>>() + 2 * size_of::<[u32; 2]>();
        x * y * (size_of::<u32>() + brick) as u128 + y * 2 * size_of::<usize>() as u128
    }

    /// Places from a row of bricks to the next one.
    pub(super) fn row_of_bricks(&self) -> usize {
        self.count * CELLS
    }

    /// Forgets all sums.
    pub(super) fn clear(&mut self) {
        self.places.fill(NONE);
        self.spare.append(&mut self.bricks);
    }

    /// Adds a piece to the cell at a place: its number in its brick, the bricks in the order of rows.
    #[inline(always)]
    pub(super) fn add(&mut self, place: usize, area: i64, moment: i64, is_cut: bool) {
        let Some(number) = self.places.get_mut(place / CELLS) else { return };
        if *number as usize >= self.bricks.len() {
            *number = make(&mut self.bricks, &mut self.spare);
        }
        let sum = &mut self.bricks[*number as usize][place % CELLS];
        // Of more pieces than 64 bits hold, the sums are right where their totals are.
        sum.area = sum.area.wrapping_add(area);
        sum.moment = sum.moment.wrapping_add(moment.wrapping_mul(2)) | i64::from(is_cut);
    }

    /// Lists the bricks, after the last piece.
    pub(super) fn list(&mut self) {
        self.listed.clear();
        self.ends.clear();
        for row in self.places.chunks(self.count) {
            let made = (0..).zip(row).filter(|(_, number)| **number != NONE);
            self.listed.extend(made.map(|(n, number)| [n, *number]));
            self.ends.push(self.listed.len());
        }
    }

    /// The cells along x in the bricks along row `j` of a layer: the first of them, and their sums, which are not all
    /// zero.
    #[inline(always)]
    pub(super) fn row(&self, j: usize, layer: usize) -> impl Iterator<Item = (usize, &[PieceSum; SIDE])> {
        let first = (j / SIDE).checked_sub(1).map_or(0, |before| self.ends[before]);
        let row = layer * SIDE + j % SIDE;
        self.listed[first..self.ends[j / SIDE]].iter().filter_map(move |[n, number]| {
            let sums = self.bricks[*number as usize][row * SIDE..].first_chunk::<SIDE>()?;
            let any = sums.iter().fold(0, |any, sum| any | sum.area | sum.moment);
            (any != 0).then_some((*n as usize * SIDE, sums))
        })
    }
}

/// Makes a brick of zeros; the answer is its number.
#[cold]
#[inline(never)]
fn make(bricks: &mut Vec<Box<[PieceSum; CELLS]>>, spare: &mut Vec<Box<[PieceSum; CELLS]>>) -> u32 {
    let brick = match spare.pop() {
        Some(mut brick) => {
            brick.fill(PieceSum::default());
            brick
        }
        None => Box::new([PieceSum::default(); CELLS]),
    };
    bricks.push(brick);
    bricks.len() as u32 - 1
}
