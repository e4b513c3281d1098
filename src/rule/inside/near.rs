//! Where the caps of a mesh matter: bricks of cells in which they change what crossings must come to, or in
//! which each cell must be asked.

use std::collections::HashMap;

use crate::geom::Winding;
use crate::geom::solid_angle::Vector;
use crate::grid::BitGrid;
use crate::{error::Result, par};

/// Cells of a brick along each axis.
pub const BRICK: usize = 4;

/// Bricks of a block along each axis.
const BLOCK: usize = 16;

/// What it takes to be inside, brick by brick.
pub struct Near {
    /// The bricks where it is not one crossing.
    special: BitGrid,
    /// For those of them where it is the same number for all cells, that number.
    needed: HashMap<[usize; 3], i32>,
}

/// What it takes to be inside, for the cells of a brick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// As many crossings inwards, less those outwards.
    Crossings(i32),
    /// That differs from cell to cell.
    Unknown,
}

impl Near {
    /// For a grid of `dims` cells, whose centres lie `aspect` apart from the origin on, and caps that wind as
    /// `winding` says.
    ///
    /// # Errors
    /// If memory is not there.
    pub fn new(dims: [usize; 3], aspect: Vector, winding: &Winding) -> Result<Self> {
        let bricks = dims.map(|n| n.div_ceil(BRICK));
        let blocks = bricks.map(|n| n.div_ceil(BLOCK));
        let found = par::map_range(0..blocks.iter().product(), |n| {
            let block = [n % blocks[0], n / blocks[0] % blocks[1], n / blocks[0] / blocks[1]];
            special(block.map(|n| n * BLOCK), dims, aspect, winding)
        });
        let mut near = Self { special: BitGrid::new(bricks)?, needed: HashMap::new() };
        for (brick, needed) in found.into_iter().flatten() {
            near.special.set(brick);
            near.needed.extend(needed.map(|needed| (brick, needed)));
        }
        Ok(near)
    }

    /// Whether one crossing is enough, and needed, in all bricks of this row of cells.
    pub fn is_far(&self, [j, k]: [usize; 2]) -> bool {
        self.special.row(j / BRICK, k / BRICK).iter().all(|word| *word == 0)
    }

    /// What it takes to be inside, for the cells of this brick.
    pub fn of(&self, brick: [usize; 3]) -> Needed {
        if !self.special.get(brick) {
            return Needed::Crossings(1);
        }
        self.needed.get(&brick).map_or(Needed::Unknown, |needed| Needed::Crossings(*needed))
    }
}

/// The bricks of a block, from `first` on, in which it does not take one crossing: what it takes.
fn special(
    first: [usize; 3],
    dims: [usize; 3],
    aspect: Vector,
    winding: &Winding,
) -> Vec<([usize; 3], Option<i32>)> {
    let bricks = dims.map(|n| n.div_ceil(BRICK));
    let mut found = vec![];
    let mut asked = vec![(first, BLOCK)];
    while let Some((brick, size)) = asked.pop() {
        if (0..3).any(|a| brick[a] >= bricks[a]) {
            continue;
        }
        // From the first centre to the last.
        let low = std::array::from_fn(|a| (brick[a] * BRICK) as f64 * aspect[a]);
        let last = |a: usize| ((brick[a] + size) * BRICK).min(dims[a]) - 1;
        let high = std::array::from_fn(|a| last(a) as f64 * aspect[a]);
        match winding.crossings_needed(&low, &high) {
            Some(1) => {}
            needed if size == 1 => found.push((brick, needed)),
            _ => {
                let half = size / 2;
                asked.extend((0..8).map(|n| (std::array::from_fn(|a| brick[a] + half * (n >> a & 1)), half)));
            }
        }
    }
    found
}
