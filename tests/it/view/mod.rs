//! Do pictures show the cells, and only them? Silhouettes and colours against a projection of every
//! cell by itself; pictures against references, pixel by pixel; and `voxelize view` as it is called.
//!
//! `VOXELIZE_BLESS=1` writes the references again, and fails that once.

mod command;
mod plain;
mod references;
mod seen;

use crate::support::meshes::Random;
use voxelize::{BitGrid, Part, Sort};

/// Cells drawn by lot, some of each sort.
pub fn parts_of(random: &mut Random, dims: [usize; 3], sorts: &[Sort], share: u64) -> Vec<Part> {
    let empty = |sort: &Sort| Part { sort: *sort, cells: BitGrid::new(dims).unwrap() };
    let mut parts: Vec<Part> = sorts.iter().map(empty).collect();
    let cells = dims.iter().product::<usize>() as u64 / share + 1;
    for _ in 0..cells {
        let cell = dims.map(|n| random.below(n as u64) as usize);
        if !parts.iter().any(|part| part.cells.get(cell)) {
            let which = random.below(sorts.len() as u64) as usize;
            parts[which].cells.set(cell);
        }
    }
    parts
}
