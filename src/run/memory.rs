//! What a job takes in memory, to choose a plan that fits before anything is allocated.

use super::Run;
use crate::geom::Triangle;
use crate::grid::{BitGrid, Lattice};
use crate::kernel::bricks;
use crate::kernel::sink::SIDE;
use crate::mesh::Mesh;

/// How a grid is held in memory while it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// All of it at once.
    Dense,
    /// In slabs of so many layers of z, one after the other; the last may have fewer. Each is a pass over
    /// the triangles.
    Slabs(usize),
    /// All cells in bricks that one pass over the triangles makes, and then slabs of these.
    Bricks(usize),
}

impl Plan {
    /// The word for it: `dense`, `slabs` or `bricks`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Slabs(_) => "slabs",
            Self::Bricks(_) => "bricks",
        }
    }
}

/// The memory of a job under every plan, in bytes: the mesh, the cells in memory at a time, the bricks of each
/// thread, and one row of cells as it is written. Code, stacks and buffers that are the same for every job are not in
/// it.
#[derive(Debug, Clone)]
pub struct Demand {
    triangles: usize,
    dims: [usize; 3],
    threads: usize,
    extra: u128,
    /// Grids of the cells that are in memory at a time.
    grids: u128,
    /// Bytes of each cell besides those of grids: of a field, and of the numbers of triangles.
    values: u128,
}

impl Demand {
    /// The memory that `run` takes to fill `lattice`.
    pub fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Self {
        Self {
            triangles: mesh.triangles().len(),
            dims: lattice.dims(),
            threads: run.thread_count(),
            extra: mesh.colours().map_or(0, |colours| colours.bytes().into()),
            grids: 1,
            values: 0,
        }
    }

    /// The demand of a field, whose signs take a grid, and with the numbers of the nearest triangles if `nearest`.
    #[must_use]
    pub fn field(self, nearest: bool) -> Self {
        Self { values: if nearest { 8 } else { 4 }, ..self }
    }

    /// The demand with the cells labelled, as [`Voxelizer::labelled`](crate::Voxelizer::labelled) makes them.
    pub fn labelled(self) -> Self {
        Self { grids: 2, ..self }
    }

    /// The demand with so many grids in memory at a time, instead of one.
    #[must_use]
    pub fn grids(self, grids: u128) -> Self {
        Self { grids, ..self }
    }

    /// The demand with so many bytes more, as [`Rule::extra_bytes`](crate::Rule::extra_bytes) says.
    pub fn with(self, extra: u128) -> Self {
        Self { extra, ..self }
    }

    /// The bytes of cells of these dims, as they are held.
    pub(crate) fn cell_bytes(&self, dims: [usize; 3]) -> u128 {
        let cells = dims.iter().map(|&n| n as u128).product::<u128>();
        self.grids * BitGrid::bytes_for(dims) + self.values * cells
    }

    /// The bytes under `plan`, at most.
    pub fn bytes(&self, plan: Plan) -> u128 {
        let [nx, ny, nz] = self.dims;
        let mesh = self.triangles as u128 * size_of::<Triangle>() as u128;
        let slab = |height: usize| [nx, ny, height.clamp(1, nz)];
        // What is covered at once, and what else is held.
        let (covered, extra) = match plan {
            Plan::Dense => (self.dims, 0),
            Plan::Slabs(height) => (slab(height), 0),
            // A layer of bricks that is full becomes one of the grid.
            Plan::Bricks(height) => (self.dims, BitGrid::bytes_for(slab(height))),
        };
        let mesh = mesh + self.extra;
        let bricks = if self.values > 0 { 0 } else { bricks::bytes_for(covered, self.threads) };
        mesh + self.cell_bytes(covered) + bricks + extra + nx as u128
    }

    /// Bricks with slabs of some MiB, of a multiple of `multiple` layers; `None` if the grid is small.
    pub fn bricks(&self, multiple: usize) -> Option<Plan> {
        const SMALL: u128 = 32 << 20;
        const SLAB: u128 = 4 << 20;
        let [nx, ny, nz] = self.dims;
        if BitGrid::bytes_for(self.dims) < SMALL {
            return None;
        }
        let layers = (SLAB / BitGrid::bytes_for([nx, ny, 1])) as usize;
        let multiple = if multiple.is_multiple_of(SIDE) { multiple } else { multiple * SIDE };
        let height = (layers / multiple).max(1) * multiple;
        (height < nz).then_some(Plan::Bricks(height))
    }

    /// Slabs of a field of some MiB, of a multiple of `multiple` layers, as none is a pass over all triangles. Dense if
    /// it is one slab.
    pub fn field_slabs(&self, multiple: usize) -> Plan {
        const SLAB: u128 = 16 << 20;
        let [nx, ny, nz] = self.dims;
        let layers = (SLAB / (self.values.max(1) * nx as u128 * ny as u128)) as usize;
        let multiple = if multiple.is_multiple_of(SIDE) { multiple } else { multiple * SIDE };
        let height = (layers / multiple).max(1) * multiple;
        if height < nz { Plan::Slabs(height) } else { Plan::Dense }
    }

    /// The plan that fits in `limit` bytes: dense, or else the highest slabs of a multiple of
    /// `multiple` layers. `None` if not even the lowest do.
    pub fn fit(&self, limit: u128, multiple: usize) -> Option<Plan> {
        let fits = |plan: &Plan| self.bytes(*plan) <= limit;
        if fits(&Plan::Dense) {
            return Some(Plan::Dense);
        }
        let of = |n: usize| Plan::Slabs(n * multiple);
        let mut found = 1;
        let mut most = (self.dims[2] - 1) / multiple;
        if found > most || !fits(&of(found)) {
            return None;
        }
        while found < most {
            let middle = (found + most).div_ceil(2);
            if fits(&of(middle)) { found = middle } else { most = middle - 1 }
        }
        Some(of(found))
    }

    /// The least limit that something fits in.
    pub fn least(&self, multiple: usize) -> u128 {
        self.bytes(Plan::Slabs(multiple)).min(self.bytes(Plan::Dense))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(triangles: usize, dims: [usize; 3]) -> Demand {
        Demand { triangles, dims, threads: 1, extra: 0, grids: 1, values: 0 }
    }

    #[test]
    fn mesh_cells_bricks_and_a_row_are_counted() {
        let demand = demand(21, [64, 10, 20]);
        let mesh = 21 * 36;
        let row = 64;
        let brick = 512 + 2 + 12;
        // One brick stands for none.
        assert_eq!(demand.bytes(Plan::Dense), mesh + 20 * 80 + 512 + 6 * brick + row);
        assert_eq!(demand.bytes(Plan::Slabs(5)), mesh + 5 * 80 + 512 + 2 * brick + row);
        assert_eq!(demand.clone().labelled().bytes(Plan::Slabs(5)), demand.bytes(Plan::Slabs(5)) + 5 * 80);
        assert_eq!(demand.least(1), mesh + 80 + 512 + 2 * brick + row);
    }

    #[test]
    fn large_grids_are_made_in_bricks_and_slabs_of_whole_ones() {
        assert_eq!(demand(5, [500, 500, 500]).bricks(1), None);
        let large = demand(5, [1024, 722, 458]);
        assert_eq!(large.bricks(1), Some(Plan::Bricks(40)));
        assert_eq!(large.bricks(256), Some(Plan::Bricks(256)));
        assert_eq!(large.bricks(1000), None);
        let slab = BitGrid::bytes_for([1024, 722, 40]);
        assert_eq!(large.bytes(Plan::Bricks(40)), large.bytes(Plan::Dense) + slab);
        assert_eq!(demand(5, [1 << 20, 1 << 10, 9]).bricks(1), Some(Plan::Bricks(8)));
    }

    #[test]
    fn the_highest_slabs_that_fit_are_taken() {
        let demand = demand(2000, [500, 500, 300]);
        let all = demand.bytes(Plan::Dense);
        assert_eq!(demand.fit(all, 1), Some(Plan::Dense));
        let mut seen = 0;
        for multiple in [1, 7, 256, 300, 1000] {
            let least = demand.least(multiple);
            assert_eq!(demand.fit(least - 1, multiple), None, "{multiple}");
            for limit in (least..all).step_by(500_000) {
                let Some(Plan::Slabs(height)) = demand.fit(limit, multiple) else { panic!("{multiple}") };
                assert!(height % multiple == 0 && height < 300 && demand.bytes(Plan::Slabs(height)) <= limit);
                let higher = height + multiple;
                assert!(higher >= 300 || demand.bytes(Plan::Slabs(higher)) > limit, "{limit}: {height}");
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }
}
