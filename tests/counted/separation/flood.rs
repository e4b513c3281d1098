//! Flood over empty cells from a ring of cells around the grid.

use voxelize::{BitGrid, Lattice, Ties};

use super::inside::Inside;
use super::shapes::Shape;
use crate::support::meshes::surface;

/// Neighbours of a cell for a flood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// Cells that share a face: 6-connected.
    Faces,
    /// Cells that share a corner: 26-connected.
    Corners,
}

/// Result of a flood.
pub struct Flood {
    /// Cells with their centre inside.
    pub inside: u64,
    /// Cells inside that the surface leaves empty.
    pub inside_empty: u64,
    /// Cells of the grid that the flood reached.
    pub reached: u64,
    /// A cell inside that it reached.
    pub leak: Option<[usize; 3]>,
}

impl Flood {
    /// Floods the surface of a shape.
    pub fn of(shape: &Shape, lattice: &Lattice, ties: Ties) -> Self {
        Self::through(
            &surface(&shape.mesh, lattice, ties),
            shape,
            lattice,
            Steps::Corners,
        )
    }

    /// Floods the empty cells of `bits`.
    pub fn through(bits: &BitGrid, shape: &Shape, lattice: &Lattice, steps: Steps) -> Self {
        let inside = Inside::of(&shape.mesh, lattice);
        let reached = from_outside(bits, steps);
        let mut flood = Self {
            inside: 0,
            inside_empty: 0,
            reached: 0,
            leak: None,
        };
        let [nx, ny, nz] = bits.dims();
        for k in 0..nz {
            for j in 0..ny {
                let row = inside.row(j, k);
                for i in 0..nx {
                    let cell = [i, j, k];
                    let wet = reached[index(bits.dims(), [i + 1, j + 1, k + 1])];
                    let within = row.holds(i);
                    flood.inside += u64::from(within);
                    flood.inside_empty += u64::from(within && !bits.get(cell));
                    flood.reached += u64::from(wet);
                    if within && wet {
                        flood.leak = Some(cell);
                    }
                }
            }
        }
        flood
    }
}

/// Returns the number of a cell in the grid with its ring, which starts at -1.
pub fn index(dims: [usize; 3], [i, j, k]: [usize; 3]) -> usize {
    (k * (dims[1] + 2) + j) * (dims[0] + 2) + i
}

/// Returns the cells that the flood reaches, including the ring.
pub fn from_outside(bits: &BitGrid, steps: Steps) -> Vec<bool> {
    let dims = bits.dims();
    let size = dims.map(|n| n + 2);
    let empty = |cell: [usize; 3]| {
        let ring = (0..3).any(|a| cell[a] == 0 || cell[a] == dims[a] + 1);
        ring || !bits.get(cell.map(|c| c - 1))
    };
    let mut reached = vec![false; size.iter().product()];
    let mut edge = vec![[0_usize; 3]];
    reached[0] = true;
    while let Some(cell) = edge.pop() {
        let around = |a: usize| cell[a].saturating_sub(1)..=(cell[a] + 1).min(size[a] - 1);
        for k in around(2) {
            for j in around(1) {
                for i in around(0) {
                    let next = index(dims, [i, j, k]);
                    let far: usize = [i, j, k]
                        .iter()
                        .zip(&cell)
                        .map(|(a, b)| a.abs_diff(*b))
                        .sum();
                    if steps == Steps::Faces && far > 1 {
                        continue;
                    }
                    if !reached[next] && empty([i, j, k]) {
                        reached[next] = true;
                        edge.push([i, j, k]);
                    }
                }
            }
        }
    }
    reached
}
