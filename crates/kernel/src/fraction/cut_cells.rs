//! Sums of the pieces in the cells of some layers, in bricks.

use super::bricks::SIDE;
use super::place::LAYERS;

/// Sums of the pieces in one cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PieceSum {
    pub(super) area: i64,
    /// Twice the moment, plus one if a piece meets the inside of the cell. Pieces on its walls do not count.
    pub(super) moment: i64,
}

impl PieceSum {
    /// Returns the moment if a piece meets the inside of the cell.
    #[inline(always)]
    pub(super) fn cut(self) -> Option<i64> {
        (self.moment & 1 != 0).then_some(self.moment >> 1)
    }
}

/// Number of cells of a brick. Bricks are flat, because surfaces across z would otherwise fill a layer of
/// bricks that are mostly empty.
pub(super) const CELLS: usize = SIDE * SIDE;

type CutBrick = [PieceSum; CELLS];

/// Number of bricks allocated at a time.
const GROUP: usize = 128;

/// Marks a missing brick.
const NONE: u32 = u32::MAX;

/// Brick with pieces in it: its place along x, and its number.
pub(super) type ListedBrick = [u32; 2];

/// Cells of some layers, in bricks that are created on demand.
pub(super) struct CutCells {
    /// Number of cells along x and y, including the cells before the first row.
    pub(super) cells: [usize; 2],
    /// First row.
    pub(super) first_row: usize,
    /// Number of bricks along x and y.
    counts: [usize; 2],
    /// Numbers of bricks, x fastest.
    places: Vec<u32>,
    /// Bricks in groups, which are not moved when more are added.
    groups: Vec<Box<[CutBrick; GROUP]>>,
    /// Number of bricks in use.
    made: usize,
    /// Bricks of all rows of bricks.
    listed: Vec<ListedBrick>,
    /// End of each row of bricks in the list.
    ends: Vec<usize>,
}

impl CutCells {
    /// Creates an empty set for `cells` along x and y, from row `first_row` on.
    pub(super) fn new(cells: [i64; 2], first_row: usize) -> Self {
        let cells = cells.map(|n| n as usize);
        let counts = [
            cells[0].div_ceil(SIDE),
            cells[1].div_ceil(SIDE) - first_row / SIDE,
        ];
        let places = vec![NONE; counts[0] * counts[1] * LAYERS];
        Self {
            cells,
            first_row,
            counts,
            places,
            groups: vec![],
            made: 0,
            listed: vec![],
            ends: vec![],
        }
    }

    /// Returns the number of places before the first row of bricks.
    pub(super) fn before(&self) -> usize {
        self.first_row / SIDE * self.counts[0] * CELLS
    }

    /// Returns the maximum number of bytes for a lattice of these dims.
    pub(super) fn bytes_for([nx, ny, _]: [usize; 3]) -> u128 {
        let [x, y] = [nx, ny].map(|n| n.div_ceil(SIDE));
        let y = y * LAYERS;
        // A growing list takes up to twice the size of its items.
        let bricks = (x * y) as u128 * (size_of::<u32>() + 2 * size_of::<ListedBrick>()) as u128;
        let group = size_of::<[CutBrick; GROUP]>() + 2 * size_of::<Box<()>>();
        let groups = (x * y).div_ceil(GROUP) as u128 * group as u128;
        bricks + groups + (y * 2 * size_of::<usize>()) as u128
    }

    /// Returns the numbers of places from one row of bricks to the next, and from one layer of bricks to the
    /// next.
    pub(super) fn strides(&self) -> [usize; 2] {
        let [x, y] = self.counts;
        [x * CELLS, x * y * CELLS]
    }

    /// Forgets all sums.
    pub(super) fn clear(&mut self) {
        self.places.fill(NONE);
        self.made = 0;
    }

    /// Adds a piece to the cell at a place: its number in its brick, with bricks x fastest.
    #[inline(always)]
    pub(super) fn add(&mut self, place: usize, area: i64, moment: i64, is_cut: bool) {
        let Some(number) = self.places.get_mut(place / CELLS) else {
            return;
        };
        if *number == NONE {
            *number = make(&mut self.groups, &mut self.made);
        }
        let number = *number as usize;
        let sum = &mut self.groups[number / GROUP][number % GROUP][place % CELLS];
        // Sums may wrap. They are right if their totals fit 64 bits.
        sum.area = sum.area.wrapping_add(area);
        sum.moment = sum.moment.wrapping_add(moment.wrapping_mul(2)) | i64::from(is_cut);
    }

    /// Lists the bricks after the last piece.
    pub(super) fn list(&mut self) {
        self.listed.clear();
        self.ends.clear();
        for row in self.places.chunks(self.counts[0]) {
            let made = (0..).zip(row).filter(|(_, number)| **number != NONE);
            self.listed
                .extend(made.map(|(place, number)| [place, *number]));
            self.ends.push(self.listed.len());
        }
    }

    /// Returns the bricks along row `j` of a layer.
    pub(super) fn bricks_along(&self, [j, layer]: [usize; 2]) -> &[ListedBrick] {
        let row = layer * self.counts[1] + j / SIDE - self.first_row / SIDE;
        let first = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.listed[first..self.ends[row]]
    }

    /// Returns the first cell of row `j` in a brick and the sums of its cells. `None` if all sums are zero.
    #[inline(always)]
    pub(super) fn row(
        &self,
        [place, number]: &ListedBrick,
        j: usize,
    ) -> Option<(usize, &[PieceSum; SIDE])> {
        let brick = &self.groups[*number as usize / GROUP][*number as usize % GROUP];
        let sums = brick[j % SIDE * SIDE..].first_chunk::<SIDE>()?;
        let mut any = 0;
        for n in 0..SIDE {
            any |= sums[n].area | sums[n].moment;
        }
        (any != 0).then_some((*place as usize * SIDE, sums))
    }
}

/// Creates a brick of zeros and returns its number. Zeroing all of it at once brings it into the cache before
/// its cells are needed, which takes less time than zeroing single rows at their first piece.
#[cold]
#[inline(never)]
fn make(groups: &mut Vec<Box<[CutBrick; GROUP]>>, made: &mut usize) -> u32 {
    let number = *made;
    if number / GROUP == groups.len() {
        let bricks = vec![[PieceSum::default(); CELLS]; GROUP];
        groups.push(
            bricks
                .into_boxed_slice()
                .try_into()
                .expect("so many bricks"),
        );
    }
    groups[number / GROUP][number % GROUP].fill(PieceSum::default());
    *made += 1;
    number as u32
}
