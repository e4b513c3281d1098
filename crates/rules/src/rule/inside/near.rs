//! Where the winding number of a few triangles matters: for each cell the greatest number of crossings
//! that leaves it outside.
//!
//! Boxes of cells are halved until a polynomial and a bound say that the number is the same for all of a
//! box, zero mostly, or down to bricks of 4³ cells. In those the angles of near triangles are summed for
//! all cells at once. Only sums too near one half are evaluated by the definition.

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

/// Boxes of bricks to share out to threads, at least.
const BOXES: usize = 64;

/// The bytes of a brick whose numbers are not all zero: in the list that it is found in, which grows, and in the
/// table.
const BYTES: u64 = 280;

/// The part of a limit of memory that numbers may take.
const SHARE: u64 = 4;

/// How many layers of cells of a grid are looked at together, so that their numbers stay within the share of a limit:
/// whole bricks, and one at least.
pub(super) fn layers([nx, ny, nz]: [usize; 3], max_memory: Option<u64>) -> usize {
    let layer = BYTES * (nx.div_ceil(BRICK) * ny.div_ceil(BRICK)) as u64;
    let most = max_memory.map_or(u64::MAX, |bytes| bytes / SHARE / layer.max(1));
    usize::try_from(most)
        .unwrap_or(usize::MAX)
        .clamp(1, nz.div_ceil(BRICK).max(1))
        * BRICK
}

/// The bytes that the numbers of the cells of a grid take at a time, at most.
pub(super) fn bytes(dims: [usize; 3], max_memory: Option<u64>) -> u128 {
    let [x, y, z] = [dims[0], dims[1], layers(dims, max_memory)].map(|n| n.div_ceil(BRICK) as u128);
    u128::from(BYTES) * x * y * z
}

/// The numbers of all cells.
pub(super) struct Near {
    /// The layer of the first brick.
    first: usize,
    /// The bricks in which they are not all zero.
    special: BitGrid,
    numbers: HashMap<[u32; 3], Numbers>,
}

/// The numbers of the cells of a brick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbers {
    least: i32,
    /// The rest above that: each bit of a cell counts one.
    above: Vec<u64>,
}

/// WindingCells and triangles around them.
pub(super) struct WindingCells<'a> {
    /// How many there are along each axis.
    pub dims: [usize; 3],
    /// The first layer along z.
    pub first: usize,
    /// How far apart their centres are; that of the first of all is the origin.
    pub aspect: Vector,
    /// The triangles.
    pub winding: &'a Winding,
}

/// Exact places of centres about triangles, by their numbers.
pub(super) trait ExactPlaces: Sync {
    /// The side of a triangle that the displaced centre of a cell is on.
    fn side(&self, triangle: usize, cell: [usize; 3]) -> Ordering;

    /// The place on the rim of a triangle where the centre of a cell is; `None` if it is not on the rim.
    fn rim(&self, triangle: usize, cell: [usize; 3]) -> Option<RimPlace>;
}

/// A box of bricks, and the triangles seen from there.
struct BrickBox {
    low: [usize; 3],
    /// Bricks along each axis.
    size: usize,
    view: BoxView,
}

impl Near {
    /// The numbers of some cells.
    ///
    /// # Errors
    /// If the run is cancelled.
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

    /// Whether one crossing is enough for all cells of this row.
    pub(super) fn is_far(&self, [j, k]: [usize; 2]) -> bool {
        self.special
            .row(j / BRICK, (k - self.first) / BRICK)
            .iter()
            .all(|word| *word == 0)
    }

    /// The numbers of the brick of a cell; none if all of them are zero.
    pub(super) fn of(&self, [i, j, k]: [usize; 3]) -> Option<&Numbers> {
        let brick = [i, j, k - self.first].map(|n| n / BRICK);
        if self.special.get(brick) {
            self.numbers.get(&brick.map(|n| n as u32))
        } else {
            None
        }
    }

    /// The number of a cell of a brick.
    pub(super) fn number(&self, numbers: &Numbers, [i, j, k]: [usize; 3]) -> i32 {
        let [x, y, z] = [i, j, k - self.first].map(|n| n % BRICK);
        let bit = x + BRICK * (y + BRICK * z);
        numbers
            .above
            .iter()
            .fold(numbers.least, |sum, cells| sum + (cells >> bit & 1) as i32)
    }
}

impl Numbers {
    /// Of these cells.
    fn of(cells: &[i32; CELLS]) -> Self {
        let least = cells.iter().copied().min().unwrap_or(0);
        let most = cells.iter().copied().max().unwrap_or(0);
        let above =
            |n: i32| (0..CELLS).fold(0, |bits, cell| bits | u64::from(cells[cell] > n) << cell);
        Self {
            least,
            above: (least..most).map(above).collect(),
        }
    }

    /// The number of all cells, if it is one.
    pub(super) fn single(&self) -> Option<i32> {
        self.above.is_empty().then_some(self.least)
    }
}

/// Bricks and the numbers of their cells.
type BrickNumbers = Vec<([usize; 3], Numbers)>;

struct NearSearch<'a, P> {
    cells: &'a WindingCells<'a>,
    bricks: [usize; 3],
    run: &'a Run<'a>,
    level: Level,
    places: &'a P,
}

impl<P: ExactPlaces> NearSearch<'_, P> {
    /// All bricks of a box from the first on that are special.
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

    /// The bricks of a box whose numbers are not all zero, as far as is known; the rest is left to smaller ones.
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
            let all = (low[2]..ends[2]).flat_map(|z| {
                (low[1]..ends[1]).flat_map(move |y| (low[0]..ends[0]).map(move |x| [x, y, z]))
            });
            let special = all.filter(|_| number != 0);
            return Ok(special.map(|brick| (brick, numbers.clone())).collect());
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

    /// The numbers of the cells of a brick.
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
            let of = |view: &BoxView| view.outside_at(winding, &centre, near, sums.off[n]);
            let known = of(view).or_else(|| {
                sharpened
                    .get_or_insert_with(|| view.sharpened(winding))
                    .as_ref()
                    .and_then(of)
            });
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

    /// Cell n of a brick.
    fn cell(&self, brick: [usize; 3], n: usize) -> [usize; 3] {
        let [x, y, z] = brick.map(|n| n * BRICK);
        [
            x + n % BRICK,
            y + n / BRICK % BRICK,
            self.cells.first + z + n / (BRICK * BRICK),
        ]
    }

    /// The end of the cells along an axis.
    fn end(&self, axis: usize) -> usize {
        self.cells.dims[axis] + if axis == 2 { self.cells.first } else { 0 }
    }

    fn centre(&self, cell: [usize; 3]) -> Vector {
        std::array::from_fn(|a| cell[a] as f64 * self.cells.aspect[a])
    }

    /// The least and the greatest centre of the cells in `size` bricks along each axis from `low` on.
    fn corners(&self, low: [usize; 3], size: usize) -> [Vector; 2] {
        let first = self.cell(low, 0);
        let last = std::array::from_fn(|a| (first[a] + size * BRICK).min(self.end(a)) - 1);
        [self.centre(first), self.centre(last)]
    }
}

/// Whether a box of so many bricks along each axis is divided further.
fn depth(size: usize) -> Depth {
    if size == 1 {
        Depth::Last
    } else {
        Depth::Further
    }
}
