//! Selection of the nearest triangle if several triangles are equally near, or so nearly equally near that
//! doubles cannot decide.
//!
//! Distances decide if they differ by more than their error. Most of the remaining pairs of triangles share
//! the nearest vertex or edge, which a few products show. Integers decide the rest. If the exact distances of
//! triangles are equal, [`TieBreak`] decides.

use std::cmp::Ordering;

use super::centres::{CentreLattice, TieBreak};
use super::near::{CELLS, NONE, SIDE};
use super::tree::TriangleTree;
use crate::geom::Triangle;
use crate::geom::feature::{is_surely_no_nearer, sure_inner_side};
use crate::levels::LANES;

/// Relative difference up to which two squared distances may be equal. See [`NearestTriangles::slack`].
const NEAR: f64 = 1.0 / (1_u64 << 40) as f64;

/// Error of two distances from one point, including the error of the point, relative to the coordinates.
const ERRORS: f64 = 1.0 / (1_u64 << 46) as f64;

/// Nearest triangles of the cells of a brick. Ties are decided when a triangle is added.
pub struct NearestTriangles<'a> {
    tree: &'a TriangleTree,
    lattice: &'a CentreLattice,
    ties: TieBreak,
    /// For each cell, the index of its nearest triangle among the triangles of all clusters. See
    /// [`place_of`].
    nearest: [u32; CELLS],
    /// First cell of the brick.
    first: [usize; 3],
    /// Largest absolute difference up to which two squared distances may be equal. It is added to the
    /// relative difference [`NEAR`]. It follows from the error `e` of two distances: `(a + e)² <= (1 + t) a²
    /// + (1 + 1/t) e²`.
    slack: f64,
}

/// Returns the index of a triangle among the triangles of all clusters.
pub fn place_of(cluster: u32, lane: usize) -> u32 {
    cluster * LANES as u32 + lane as u32
}

impl<'a> NearestTriangles<'a> {
    pub fn new(tree: &'a TriangleTree, lattice: &'a CentreLattice, ties: TieBreak) -> Self {
        Self {
            tree,
            lattice,
            ties,
            nearest: [NONE; CELLS],
            first: [0; 3],
            slack: 0.0,
        }
    }

    /// Moves to the brick that starts at `first`. The coordinates of its centres, and of triangles relative
    /// to these, are at most `reach`.
    pub fn place(&mut self, first: [usize; 3], reach: f64) {
        let error = ERRORS * reach;
        (self.first, self.slack) = (first, 1.01 / NEAR * error * error);
        self.nearest.fill(NONE);
    }

    /// Considers a triangle for a cell, given the squared distance between them. `place` is the index of the
    /// triangle, and `best` is the least squared distance of the cell so far, which is updated.
    #[inline(always)]
    pub fn add(&mut self, cell: usize, place: u32, squared: f64, best: &mut f64) {
        let farthest = |squared: f64| squared * (1.0 + NEAR) + self.slack;
        if squared > farthest(*best) {
            return;
        }
        let nearest = self.nearest[cell];
        if nearest == NONE || *best > farthest(squared) || self.is_nearer(cell, place, nearest) {
            self.nearest[cell] = place;
        }
        if squared < *best {
            *best = squared;
        }
    }

    /// Returns `true` if the triangle at `place` is preferred to `other` for a cell: it is nearer, or equally
    /// near and selected by the tie-break.
    #[inline(never)]
    fn is_nearer(&self, cell: usize, place: u32, other: u32) -> bool {
        let [number, other_number] = [place, other].map(|place| self.number(place));
        if number == other_number {
            return false;
        }
        let cell = [cell % SIDE, cell / SIDE % SIDE, cell / (SIDE * SIDE)];
        let cell: [usize; 3] = std::array::from_fn(|axis| self.first[axis] + cell[axis]);
        let point = std::array::from_fn(|axis| self.lattice.centres[axis][cell[axis]]);
        let [triangle, other] = [place, other].map(|place| self.triangle(place));
        let (first, last) = if number < other_number {
            (&triangle, &other)
        } else {
            (&other, &triangle)
        };
        let is_first = self.is_first(cell, point, [first, last]);
        is_first == (number < other_number)
    }

    /// Returns `true` if the first of two triangles is preferred for a cell. The first triangle has the lower
    /// number.
    fn is_first(&self, cell: [usize; 3], point: [f64; 3], [first, last]: [&Triangle; 2]) -> bool {
        match self.ties {
            TieBreak::Number if is_surely_no_nearer(point, last, first) => return true,
            TieBreak::Number => {}
            TieBreak::InnerSide => match sure_inner_side(point, [first, last]) {
                Some(Ordering::Less) if is_surely_no_nearer(point, last, first) => return true,
                Some(Ordering::Greater) if is_surely_no_nearer(point, first, last) => return false,
                _ => {}
            },
        }
        self.lattice.nearer(cell, [first, last], self.ties).is_le()
    }

    /// Writes the number of the nearest triangle of each cell of the brick.
    pub fn numbers(&self, nearest: &mut [u32; CELLS]) {
        for (number, place) in nearest.iter_mut().zip(self.nearest) {
            *number = if place == NONE {
                NONE
            } else {
                self.number(place)
            };
        }
    }

    fn number(&self, place: u32) -> u32 {
        self.tree.clusters[place as usize / LANES].numbers[place as usize % LANES]
    }

    fn triangle(&self, place: u32) -> Triangle {
        self.tree.clusters[place as usize / LANES].triangle(place as usize % LANES)
    }
}
