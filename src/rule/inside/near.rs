//! Where the caps of a mesh matter: bricks of cells around which they wind so much, or so differently from
//! cell to cell, that each cell must be asked.
//!
//! A bound of the winding number settles most bricks. In a brick that no cap meets the number is smooth: it
//! is the solid angle of the caps' rims, whose gradient is at most the rims' length over the square of
//! their distance, over 4π (the law of Biot and Savart). So its value in the middle says which whole number
//! it is nearest to in all of the brick, or that this is not known.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::f64::consts::PI;

use crate::geom::Winding;
use crate::geom::solid_angle::Vector;
use crate::grid::BitGrid;
use crate::{error::Result, par};

/// Cells of a brick along each axis.
pub const BRICK: usize = 4;

/// The error of winding numbers in the middle of bricks.
const AIM: f64 = 1.0 / 256.0;

/// Bricks of a block along each axis.
const BLOCK: usize = 16;

/// What caps do to the cells of bricks.
pub struct Near {
    /// The bricks that are to be looked up in `shifts`.
    special: BitGrid,
    /// For bricks in which the caps wind around all cells by nearly the same whole number, that number.
    shifts: HashMap<[usize; 3], i32>,
}

/// What caps do to the cells of a brick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caps {
    /// They wind around them by this number, give or take less than a half.
    By(i32),
    /// Nobody knows: each must be asked.
    Unknown,
}

/// An edge of the rim of a cap, or a whole rim: the box around it and its length.
pub struct Rim {
    /// The lowest corner of its box.
    pub low: Vector,
    /// The highest corner of its box.
    pub high: Vector,
    /// How long it is.
    pub length: f64,
    /// The edges of a whole rim.
    pub edges: Vec<Self>,
}

/// A box of points.
struct Box3 {
    low: Vector,
    high: Vector,
}

impl Near {
    /// For a grid of `dims` cells, whose centres lie `aspect` apart from the origin on, caps that wind as
    /// `winding` says, the boxes around each of them, and their rims.
    pub fn new(
        dims: [usize; 3],
        aspect: Vector,
        winding: &Winding,
        caps: &[[Vector; 2]],
        rims: &[Rim],
    ) -> Result<Self> {
        let bricks = dims.map(|n| n.div_ceil(BRICK));
        let blocks = bricks.map(|n| n.div_ceil(BLOCK));
        let found = par::map_range(0..blocks.iter().product(), |n| {
            let block = [n % blocks[0], n / blocks[0] % blocks[1], n / blocks[0] / blocks[1]];
            Block::new(block, dims, aspect, winding, caps, rims).bricks()
        });
        let mut near = Self { special: BitGrid::new(bricks)?, shifts: HashMap::new() };
        for (brick, caps) in found.into_iter().flatten() {
            near.special.set(brick);
            if let Caps::By(shift) = caps {
                near.shifts.insert(brick, shift);
            }
        }
        Ok(near)
    }

    /// Whether the caps wind around no cell of this row as much as half.
    pub fn is_far(&self, [j, k]: [usize; 2]) -> bool {
        self.special.row(j / BRICK, k / BRICK).iter().all(|word| *word == 0)
    }

    /// What the caps do to the cells of this brick.
    pub fn of(&self, brick: [usize; 3]) -> Caps {
        if !self.special.get(brick) {
            return Caps::By(0);
        }
        self.shifts.get(&brick).map_or(Caps::Unknown, |shift| Caps::By(*shift))
    }
}

/// A block of bricks, with what is near it.
struct Block<'a> {
    /// Its first brick.
    first: [usize; 3],
    dims: [usize; 3],
    aspect: Vector,
    winding: &'a Winding,
    caps: Vec<&'a [Vector; 2]>,
    /// The edges of rims nearby.
    edges: Vec<&'a Rim>,
    /// What all other rims have in length over the square of their distance, at most.
    far: f64,
}

impl<'a> Block<'a> {
    fn new(
        block: [usize; 3],
        dims: [usize; 3],
        aspect: Vector,
        winding: &'a Winding,
        caps: &'a [[Vector; 2]],
        rims: &'a [Rim],
    ) -> Self {
        let first = block.map(|n| n * BLOCK);
        let mut this = Self { first, dims, aspect, winding, caps: vec![], edges: vec![], far: 0.0 };
        let here = this.points(first, BLOCK);
        if winding.bound(&here.low, &here.high) < 0.5 {
            return this;
        }
        this.caps = caps.iter().filter(|[low, high]| here.square(low, high) == 0.0).collect();
        let size = (0..3).map(|a| here.high[a] - here.low[a]).fold(0.0, f64::max);
        for rim in rims {
            let square = here.square(&rim.low, &rim.high);
            if square > size * size {
                this.far += rim.length / square;
            } else {
                this.edges.extend(&rim.edges);
            }
        }
        this
    }

    /// The bricks that are special.
    fn bricks(&self) -> Vec<([usize; 3], Caps)> {
        let bricks = self.dims.map(|n| n.div_ceil(BRICK));
        let mut found = vec![];
        let mut asked = vec![(self.first, BLOCK)];
        while let Some((low, size)) = asked.pop() {
            if (0..3).any(|a| low[a] >= bricks[a]) {
                continue;
            }
            let half = size / 2;
            match self.caps_around(&self.points(low, size)) {
                Caps::By(0) => {}
                caps if size == 1 => found.push((low, caps)),
                _ => asked
                    .extend((0..8).map(|n| (std::array::from_fn(|a| low[a] + half * (n >> a & 1)), half))),
            }
        }
        found
    }

    fn caps_around(&self, points: &Box3) -> Caps {
        if self.winding.bound(&points.low, &points.high) < 0.5 {
            return Caps::By(0);
        }
        if self.caps.iter().any(|[low, high]| points.square(low, high) == 0.0) {
            return Caps::Unknown;
        }
        let middle = std::array::from_fn(|a| (points.low[a] + points.high[a]) / 2.0);
        let reach = (0..3).map(|a| ((points.high[a] - points.low[a]) / 2.0).powi(2)).sum::<f64>().sqrt();
        let near: f64 =
            self.edges.iter().map(|edge| edge.length / points.square(&edge.low, &edge.high)).sum();
        // A little more than they are, for rounding.
        let varies = 1.000_001 * reach * (near + self.far) / (4.0 * PI);
        if varies >= 0.5 {
            return Caps::Unknown;
        }
        // No cap is met, so those in the plane of which the middle is are seen as lines.
        let seen = self.winding.at(&middle, AIM, |_| Ordering::Equal);
        let whole = seen.value.round_ties_even();
        let known = (seen.value - whole).abs() + seen.error + varies < 0.499_999;
        if known { Caps::By(whole as i32) } else { Caps::Unknown }
    }

    /// The centres of the cells in `size` bricks along each axis from `low` on.
    fn points(&self, low: [usize; 3], size: usize) -> Box3 {
        let first = low.map(|n| n * BRICK);
        let last = |a: usize| (first[a] + size * BRICK).min(self.dims[a]).max(first[a] + 1) - 1;
        Box3 {
            low: std::array::from_fn(|a| first[a] as f64 * self.aspect[a]),
            high: std::array::from_fn(|a| last(a) as f64 * self.aspect[a]),
        }
    }
}

impl Box3 {
    /// The square of the distance to another box.
    fn square(&self, low: &Vector, high: &Vector) -> f64 {
        (0..3).map(|a| (low[a] - self.high[a]).max(self.low[a] - high[a]).max(0.0).powi(2)).sum()
    }
}
