//! Sums over the pieces in each cell of some layers, in bricks.

use super::bricks::SIDE;
use super::place::LAYERS;

/// Sums over the pieces in one cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PieceSum {
    pub(super) area: i64,
    /// Twice the moment, plus 1 if a piece meets the inside of the cell. Pieces that lie on the walls of the
    /// cell do not count.
    pub(super) moment: i64,
}

impl PieceSum {
    /// Returns the moment of the pieces in the cell. `None` if no piece meets the inside of the cell.
    #[inline(always)]
    pub(super) fn cut(self) -> Option<i64> {
        (self.moment & 1 != 0).then_some(self.moment >> 1)
    }
}

/// Number of cells of a brick. A brick has a single layer of cells, because surfaces across z would otherwise
/// fill a layer of bricks that are mostly empty.
pub(super) const CELLS: usize = SIDE * SIDE;

type CutBrick = [PieceSum; CELLS];

/// Number of bricks that are allocated together.
const GROUP: usize = 128;

/// Number that marks a missing brick.
const NONE: u32 = u32::MAX;

/// Brick that contains pieces: its position along x in bricks, and its number.
pub(super) type ListedBrick = [u32; 2];

/// Sums of the cells of some layers, in bricks that are created when needed.
pub(super) struct CutCells {
    /// Number of cells along x and along y. Cells before the first row are included.
    pub(super) cells: [usize; 2],
    /// First row.
    pub(super) first_row: usize,
    /// Number of bricks along x and along y.
    counts: [usize; 2],
    /// Number of each brick. x varies fastest, then y, then z.
    places: Vec<u32>,
    /// Bricks in groups. Existing groups are not moved when one is added.
    groups: Vec<Box<[CutBrick; GROUP]>>,
    /// Number of bricks in use. The groups may contain more.
    made: usize,
    /// Lists of all rows of bricks, one after another.
    listed: Vec<ListedBrick>,
    /// End of each row of bricks in `listed`.
    ends: Vec<usize>,
}

impl CutCells {
    /// Creates an empty set of bricks for `cells` along x and y. The rows start at `first_row`.
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

    /// Returns the maximum memory in bytes for a lattice of these dims.
    pub(super) fn bytes_for([nx, ny, _]: [usize; 3]) -> u128 {
        let [x, y] = [nx, ny].map(|n| n.div_ceil(SIDE));
        let y = y * LAYERS;
        // A list that grows takes up to twice the memory of its items.
        let bricks = (x * y) as u128 * (size_of::<u32>() + 2 * size_of::<ListedBrick>()) as u128;
        let group = size_of::<[CutBrick; GROUP]>() + 2 * size_of::<Box<()>>();
        let groups = (x * y).div_ceil(GROUP) as u128 * group as u128;
        bricks + groups + (y * 2 * size_of::<usize>()) as u128
    }

    /// Returns the number of places between rows of bricks, and between layers of bricks.
    pub(super) fn strides(&self) -> [usize; 2] {
        let [x, y] = self.counts;
        [x * CELLS, x * y * CELLS]
    }

    /// Removes all sums.
    pub(super) fn clear(&mut self) {
        self.places.fill(NONE);
        self.made = 0;
    }

    /// Adds a piece to a cell. The place of the cell is its number in its brick, plus the number of cells in
    /// all bricks before it. In the list of bricks x varies fastest, then y, then z.
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
        // Sums may wrap. The final sums are right if they fit into 64 bits.
        sum.area = sum.area.wrapping_add(area);
        sum.moment = sum.moment.wrapping_add(moment.wrapping_mul(2)) | i64::from(is_cut);
    }

    /// Lists the bricks that contain pieces. This is done after the last piece was added.
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

    /// Returns the listed bricks along row `j` of a layer.
    pub(super) fn bricks_along(&self, [j, layer]: [usize; 2]) -> &[ListedBrick] {
        let row = layer * self.counts[1] + j / SIDE - self.first_row / SIDE;
        let first = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.listed[first..self.ends[row]]
    }

    /// Returns the first cell of row `j` in a brick, and the sums of the row's cells in it. `None` if all
    /// these sums are zero.
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

/// Creates a brick of zeros and returns its number. Writing zeros to the whole brick loads it into the cache
/// before its cells are needed. This takes less time than writing zeros to each row when its first piece is
/// added.
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
