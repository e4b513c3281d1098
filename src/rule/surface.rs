//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use super::{Stats, What};
use crate::error::Result;
use crate::geom::tri_box::ExactTriangle;
use crate::grid::{BitGrid, Lattice};
use crate::mesh::Mesh;
use crate::run::Run;

/// Fills a new grid with the cells that a triangle of `mesh` touches.
pub(super) fn apply(mesh: &Mesh, lattice: &Lattice, what: What, _run: &Run) -> Result<(BitGrid, Stats)> {
    let mut grid = BitGrid::try_from(lattice)?;
    let dims = lattice.dims();
    let maps: [_; 3] = std::array::from_fn(|a| lattice.axis(a));
    let ties = what.ties().unwrap_or_default();
    let mut stats = Stats::default();
    for triangle in mesh.triangles() {
        stats.snapped += triangle.iter().flat_map(|v| (0..3).filter(|&a| maps[a].moves(v[a]))).count() as u64;
        let index = triangle.map(|v| std::array::from_fn(|a| maps[a].index(v[a])));
        let exact = ExactTriangle::new(&index);
        let range: [_; 3] = std::array::from_fn(|a| {
            let low = index.iter().map(|v| &v[a]).min().and_then(|v| v.floor()).unwrap_or(0) - 1;
            let high = index.iter().map(|v| &v[a]).max().and_then(|v| v.ceil()).unwrap_or(0);
            low.max(0)..=high.min(dims[a] as i64 - 1)
        });
        for k in range[2].clone() {
            for j in range[1].clone() {
                for i in range[0].clone() {
                    let cell = [i, j, k];
                    let last = std::array::from_fn(|a| lattice.closed()[a] && cell[a] == dims[a] as i64 - 1);
                    if exact.touches(cell, ties, last) {
                        grid.set(cell.map(|c| c as usize));
                    }
                }
            }
        }
    }
    Ok((grid, stats))
}
