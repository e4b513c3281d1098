//! Corrects the crossing counts of a closed mesh by the winding number of a few triangles. Each cell gets a
//! threshold, called its number: the greatest count of crossings for which its centre is still outside.
//!
//! Boxes of cells are halved along each axis until a polynomial and its error bound prove that all cells of a
//! box have the same number, which is mostly zero. The smallest boxes are bricks of 4³ cells. In a brick, the
//! solid angles of near triangles are summed for all cells at the same time. Only winding numbers that are
//! too close to one half are evaluated exactly by the definition.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::geom::solid_angle::Vector;
use voxelize_core::geom::winding::{BoxView, Depth, RimPlace};
use voxelize_core::geom::{Winding, solid_angle};
use voxelize_core::grid::BitGrid;
use voxelize_core::par;
use voxelize_core::par::Progress;
use voxelize_kernel::Level;
use voxelize_kernel::angles::{self, BRICK, CELLS};

/// Number of boxes at which the halving stops and the boxes are distributed to threads.
const BOXES: usize = 64;

/// Memory, in bytes, of a brick whose numbers are not all zero: its entries in the growing list of results
/// and in the hash table.
const BYTES: u64 = 280;

/// Divisor of the memory limit. Numbers may take a quarter of the limit.
const SHARE: u64 = 4;

/// Returns the number of layers of cells that are processed together. It is chosen so that their numbers fit
/// in a quarter of the memory limit. It is a positive multiple of the height of a brick.
pub(super) fn layers([nx, ny, nz]: [usize; 3], max_memory: Option<u64>) -> usize {
    let layer = BYTES * (nx.div_ceil(BRICK) * ny.div_ceil(BRICK)) as u64;
    let most = match max_memory {
        Some(bytes) => bytes / SHARE / layer.max(1),
        None => u64::MAX,
    };
    let bricks = usize::try_from(most).unwrap_or(usize::MAX);
    bricks.clamp(1, nz.div_ceil(BRICK).max(1)) * BRICK
}

/// Returns the upper bound of the memory, in bytes, for the numbers of the layers that are processed
/// together.
pub(super) fn bytes(dims: [usize; 3], max_memory: Option<u64>) -> u128 {
    let [x, y, z] = [dims[0], dims[1], layers(dims, max_memory)].map(|n| n.div_ceil(BRICK) as u128);
    u128::from(BYTES) * x * y * z
}

/// Numbers of the cells of the layers that are processed together.
pub(super) struct Near {
    /// Index of the first layer of cells.
    first: usize,
    /// Bricks whose numbers are not all zero.
    special: BitGrid,
    numbers: HashMap<[u32; 3], Numbers>,
}

/// Numbers of the cells of a brick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Least number.
    least: i32,
    /// Differences from the least number. Each word has one bit per cell. A cell's difference is the number
    /// of words in which its bit is set.
    above: Vec<u64>,
}

/// Cells whose numbers are requested, and the triangles that determine the numbers.
pub(super) struct WindingCells<'a> {
    /// Number of cells along each axis.
    pub dims: [usize; 3],
    /// Index of the first layer along z.
    pub first: usize,
    /// Distances between adjacent cell centres along each axis. The origin is the centre of cell (0, 0, 0).
    pub aspect: Vector,
    /// Triangles whose winding number determines the numbers of the cells.
    pub winding: &'a Winding,
}

/// Exact positions of cell centres relative to triangles. Triangles are given by their index.
pub(super) trait ExactPlaces: Sync {
    /// Returns the side of a triangle's plane on which the displaced centre of a cell is.
    fn side(&self, triangle: usize, cell: [usize; 3]) -> Ordering;

    /// Returns the vertex or edge of the triangle that contains the cell's centre. `None` if the centre is
    /// not on the rim of the triangle.
    fn rim(&self, triangle: usize, cell: [usize; 3]) -> Option<RimPlace>;
}

/// Box of bricks, and the view of the triangles from this box.
struct BrickBox {
    low: [usize; 3],
    /// Number of bricks along each axis.
    size: usize,
    view: BoxView,
}

impl Near {
    /// Computes the numbers of some cells.
    ///
    /// # Errors
    /// Fails if the run is cancelled.
    pub(super) fn new(cells: &WindingCells, run: &Run, places: &impl ExactPlaces) -> Result<Self> {
        let bricks = cells.dims.map(|n| n.div_ceil(BRICK));
        let mut near = Self {
            first: cells.first,
            special: BitGrid::new(bricks)?,
            numbers: HashMap::new(),
        };
        if cells.winding.is_empty() {
            return Ok(near);
        }
        let size = bricks.into_iter().max().unwrap_or(1).next_power_of_two();
        run.begin("winding", bricks.iter().map(|n| *n as u64).product());
        let search = NearSearch {
            cells,
            bricks,
            run,
            level: run.supported_level()?,
            places,
        };
        let found = search.all(size).into_iter().collect::<Result<Vec<_>>>()?;
        near.numbers.reserve(found.iter().map(Vec::len).sum());
        for (brick, numbers) in found.into_iter().flatten() {
            near.special.set(brick);
            near.numbers.insert(brick.map(|n| n as u32), numbers);
        }
        Ok(near)
    }

    /// Returns true if all cells of this row have the number zero, so that one crossing is enough to be
    /// inside.
    pub(super) fn is_far(&self, [j, k]: [usize; 2]) -> bool {
        self.special
            .row(j / BRICK, (k - self.first) / BRICK)
            .iter()
            .all(|word| *word == 0)
    }

    /// Returns the numbers of the brick that contains a cell. `None` if all numbers of the brick are zero.
    pub(super) fn of(&self, [i, j, k]: [usize; 3]) -> Option<&Numbers> {
        let brick = [i, j, k - self.first].map(|n| n / BRICK);
        if self.special.get(brick) {
            self.numbers.get(&brick.map(|n| n as u32))
        } else {
            None
        }
    }

    /// Returns the number of a cell. `numbers` has the numbers of the brick that contains the cell.
    pub(super) fn number(&self, numbers: &Numbers, [i, j, k]: [usize; 3]) -> i32 {
        let [x, y, z] = [i, j, k - self.first].map(|n| n % BRICK);
        let bit = x + BRICK * (y + BRICK * z);
        let mut number = numbers.least;
        for cells in &numbers.above {
            number += (cells >> bit & 1) as i32;
        }
        number
    }
}

impl Numbers {
    /// Packs the numbers of the cells of a brick.
    fn of(cells: &[i32; CELLS]) -> Self {
        let least = cells.iter().copied().min().unwrap_or(0);
        let most = cells.iter().copied().max().unwrap_or(0);
        let mut above = vec![];
        for n in least..most {
            let mut bits = 0;
            for (cell, number) in cells.iter().enumerate() {
                bits |= u64::from(*number > n) << cell;
            }
            above.push(bits);
        }
        Self { least, above }
    }

    /// Returns the number that all cells of the brick have. `None` if their numbers differ.
    pub(super) fn single(&self) -> Option<i32> {
        self.above.is_empty().then_some(self.least)
    }
}

/// List of bricks, each with the numbers of its cells.
type BrickNumbers = Vec<([usize; 3], Numbers)>;

struct NearSearch<'a, P> {
    cells: &'a WindingCells<'a>,
    bricks: [usize; 3],
    run: &'a Run<'a>,
    level: Level,
    places: &'a P,
}

impl<P: ExactPlaces> NearSearch<'_, P> {
    /// Finds all bricks with a number other than zero. `size` is the number of bricks along each axis of a
    /// box that contains all cells.
    fn all(&self, size: usize) -> Vec<Result<BrickNumbers>> {
        let [low, high] = self.corners([0; 3], size);
        let view = BoxView::whole(self.cells.winding, &low, &high, depth(size), self.level);
        let whole = BrickBox {
            low: [0; 3],
            size,
            view,
        };
        let mut parts = vec![whole];
        let mut found = vec![];
        while parts.len() < BOXES && parts.iter().any(|part| part.size > 1) {
            let halved = par::map(parts, |part| {
                let mut rest = vec![];
                self.divide(part, &mut rest).map(|found| (rest, found))
            });
            parts = vec![];
            for half in halved {
                match half {
                    Ok((rest, numbers)) => {
                        parts.extend(rest);
                        found.push(Ok(numbers));
                    }
                    Err(error) => return vec![Err(error)],
                }
            }
            if parts.is_empty() {
                return found;
            }
        }
        found.extend(par::map(parts, |part| {
            let mut waiting = vec![part];
            let mut found = vec![];
            while let Some(part) = waiting.pop() {
                found.extend(self.divide(part, &mut waiting)?);
            }
            Ok(found)
        }));
        found
    }

    /// Returns those bricks of a box whose numbers are known and not all zero. Where the numbers are not yet
    /// known, pushes smaller boxes to `rest`.
    fn divide(&self, part: BrickBox, rest: &mut Vec<BrickBox>) -> Result<BrickNumbers> {
        self.run.check()?;
        let BrickBox { low, size, view } = part;
        if let Some(number) = view.outside(self.cells.winding) {
            let ends: [usize; 3] = std::array::from_fn(|a| (low[a] + size).min(self.bricks[a]));
            self.run
                .advance((0..3).map(|a| (ends[a] - low[a]) as u64).product());
            let numbers = Numbers {
                least: number,
                above: vec![],
            };
            let mut found = vec![];
            if number == 0 {
                return Ok(found);
            }
            for z in low[2]..ends[2] {
                for y in low[1]..ends[1] {
                    for x in low[0]..ends[0] {
                        found.push(([x, y, z], numbers.clone()));
                    }
                }
            }
            return Ok(found);
        }
        if size == 1 {
            self.run.advance(1);
            let cells = self.each(low, &view)?;
            return Ok(if cells == [0; CELLS] {
                vec![]
            } else {
                vec![(low, Numbers::of(&cells))]
            });
        }
        let half = size / 2;
        for n in 0..8 {
            let low: [usize; 3] = std::array::from_fn(|a| low[a] + half * (n >> a & 1));
            if (0..3).all(|a| low[a] < self.bricks[a]) {
                let corners = self.corners(low, half);
                let view = view.narrowed(self.cells.winding, &corners[0], &corners[1], depth(half));
                rest.push(BrickBox {
                    low,
                    size: half,
                    view,
                });
            }
        }
        Ok(vec![])
    }

    /// Returns the numbers of the cells of a brick.
    fn each(&self, brick: [usize; 3], view: &BoxView) -> Result<[i32; CELLS]> {
        let winding = self.cells.winding;
        let from = self.centre(self.cell(brick, 0));
        let (near, slack) = view.near(winding, &from);
        let sums = angles::sums(self.level, &near, self.cells.aspect, slack);
        let mut sharpened = None;
        let mut numbers = [0; CELLS];
        for (n, number) in numbers.iter_mut().enumerate() {
            let cell = self.cell(brick, n);
            if (0..3).any(|a| cell[a] >= self.end(a)) {
                continue;
            }
            let centre = self.centre(cell);
            let near = sums.turns[n] + solid_angle::turn(sums.real[n], sums.imaginary[n]);
            let mut known = view.outside_at(winding, &centre, near, sums.off[n]);
            if known.is_none() {
                let sharpened = sharpened.get_or_insert_with(|| view.sharpened(winding));
                if let Some(view) = sharpened {
                    known = view.outside_at(winding, &centre, near, sums.off[n]);
                }
            }
            *number = match known {
                Some(number) => number,
                None => {
                    self.run.check()?;
                    let side = |n| self.places.side(n, cell);
                    winding.outside_up_to(&centre, side, |n| self.places.rim(n, cell))
                }
            };
        }
        Ok(numbers)
    }

    /// Returns the index of the `n`th cell of a brick.
    fn cell(&self, brick: [usize; 3], n: usize) -> [usize; 3] {
        let [x, y, z] = brick.map(|n| n * BRICK);
        [
            x + n % BRICK,
            y + n / BRICK % BRICK,
            self.cells.first + z + n / (BRICK * BRICK),
        ]
    }

    /// Returns the end of the range of cell indices along an axis.
    fn end(&self, axis: usize) -> usize {
        self.cells.dims[axis] + if axis == 2 { self.cells.first } else { 0 }
    }

    fn centre(&self, cell: [usize; 3]) -> Vector {
        std::array::from_fn(|a| cell[a] as f64 * self.cells.aspect[a])
    }

    /// Returns the centres of the first and the last cell in a box of bricks. The box begins at brick `low`
    /// and has `size` bricks along each axis.
    fn corners(&self, low: [usize; 3], size: usize) -> [Vector; 2] {
        let first = self.cell(low, 0);
        let last = std::array::from_fn(|a| (first[a] + size * BRICK).min(self.end(a)) - 1);
        [self.centre(first), self.centre(last)]
    }
}

/// Returns whether a box with `size` bricks along each axis is divided further. A single brick is not.
fn depth(size: usize) -> Depth {
    if size == 1 {
        Depth::Last
    } else {
        Depth::Further
    }
}
