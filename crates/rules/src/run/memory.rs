//! What a job takes in memory, to choose a plan that fits before anything is allocated.

use super::Run;
use voxelize_core::geom::Triangle;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_kernel::bricks;
use voxelize_kernel::sink::{SIDE, bricks_in, kept_bytes_for};
use voxelize_meshes::Mesh;

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
    /// Bricks that cells lie in, at most.
    touched: usize,
    /// The most bytes of a slab, if all of it fits.
    slab: u128,
}

/// Bytes of a slab where a pass over the triangles takes little beside its cells: more is slower, as none of it is in
/// a cache when it is needed again.
const LARGE_SLAB: u128 = 64 << 20;

impl Demand {
    /// The memory that `run` takes to fill `lattice`.
    pub fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Self {
        Self {
            triangles: mesh.triangles().len() + mesh.cuts().map_or(0, |cuts| cuts.count()),
            dims: lattice.dims(),
            threads: run.thread_count(),
            extra: mesh.colours().map_or(0, |colours| colours.bytes().into()),
            grids: 1,
            values: 0,
            touched: usize::MAX,
            slab: u128::MAX,
        }
    }

    /// The demand of cells that lie in so many bricks, or in fewer.
    #[must_use]
    pub(crate) fn touching(self, bricks: usize) -> Self {
        Self {
            touched: bricks,
            ..self
        }
    }

    /// The demand of a rule whose slabs need not be as high as fit: a pass over the triangles takes little time.
    #[must_use]
    pub(crate) fn with_short_passes(self) -> Self {
        Self {
            slab: LARGE_SLAB,
            ..self
        }
    }

    /// The demand of a field, whose signs take a grid, and with the numbers of the nearest triangles if `nearest`.
    #[must_use]
    pub fn field(self, nearest: bool) -> Self {
        Self {
            values: if nearest { 8 } else { 4 },
            ..self
        }
    }

    /// The demand of a field with so many floats more in each cell.
    #[must_use]
    pub fn with_numbers(self, numbers: usize) -> Self {
        Self {
            values: self.values + 4 * numbers as u128,
            ..self
        }
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

    /// The demand with so many grids in memory at a time in addition to these.
    #[must_use]
    pub(crate) fn more_grids(self, more: u128) -> Self {
        Self {
            grids: self.grids + more,
            ..self
        }
    }

    /// The demand with so many bytes more, as [`Rule::extra_bytes`](crate::Rule::extra_bytes) says.
    pub fn with(self, extra: u128) -> Self {
        Self { extra, ..self }
    }

    /// The demand with so many bytes more, beside those of [`with`](Self::with).
    #[must_use]
    pub(crate) fn and(self, more: u128) -> Self {
        Self {
            extra: self.extra + more,
            ..self
        }
    }

    /// The bytes of cells of these dims, as they are held.
    pub(crate) fn cell_bytes(&self, dims: [usize; 3]) -> u128 {
        let cells = dims.iter().map(|&n| n as u128).product::<u128>();
        self.grids * BitGrid::bytes_for(dims) + self.values * cells
    }

    /// The bytes under `plan`, at most.
    pub fn bytes(&self, plan: Plan) -> u128 {
        let [nx, ny, nz] = self.dims;
        let mesh = self.triangles as u128 * size_of::<Triangle>() as u128 + self.extra + nx as u128;
        let slab = |height: usize| [nx, ny, height.clamp(1, nz)];
        let in_threads = |covered| match self.values {
            0 => bricks::bytes_for(covered, self.threads, self.touched),
            _ => 0,
        };
        let made = |covered| self.cell_bytes(covered) + in_threads(covered);
        mesh + match plan {
            Plan::Dense => made(self.dims),
            Plan::Slabs(height) => made(slab(height)),
            Plan::Bricks(height) => {
                let cells = match bricks::have_room(self.dims, self.threads, self.touched) {
                    true => 0,
                    false => {
                        let kept = kept_bytes_for(
                            self.touched.min(bricks_in(self.dims)),
                            nz.div_ceil(SIDE),
                        );
                        // A layer of bricks that is full becomes one of the grid, in any thread.
                        let full = BitGrid::bytes_for(slab(SIDE)) * self.threads as u128;
                        kept.min(self.cell_bytes(self.dims)) + full
                    }
                };
                let noted = BitGrid::noted_bytes_for(slab(height));
                cells + in_threads(self.dims) + self.cell_bytes(slab(height)) + noted
            }
        }
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
        let multiple = if multiple.is_multiple_of(SIDE) {
            multiple
        } else {
            multiple * SIDE
        };
        let height = (layers / multiple).max(1) * multiple;
        (height < nz).then_some(Plan::Bricks(height))
    }

    /// Bricks with the lowest slabs of a multiple of `multiple` layers, instead of these.
    pub(crate) fn lowest(bricks: Plan, multiple: usize) -> Plan {
        match bricks {
            Plan::Bricks(_) if multiple.is_multiple_of(SIDE) => Plan::Bricks(multiple),
            Plan::Bricks(_) => Plan::Bricks(multiple * SIDE),
            other => other,
        }
    }

    /// Slabs of a field of some MiB, of a multiple of `multiple` layers, as none is a pass over all triangles. Dense if
    /// it is one slab.
    pub fn field_slabs(&self, multiple: usize) -> Plan {
        const SLAB: u128 = 16 << 20;
        let [nx, ny, nz] = self.dims;
        let layers = (SLAB / (self.values.max(1) * nx as u128 * ny as u128)) as usize;
        let multiple = if multiple.is_multiple_of(SIDE) {
            multiple
        } else {
            multiple * SIDE
        };
        let height = (layers / multiple).max(1) * multiple;
        if height < nz {
            Plan::Slabs(height)
        } else {
            Plan::Dense
        }
    }

    /// The plan that fits in `limit` bytes: dense, or else as few slabs as fit, and none higher than that needs, of a
    /// multiple of `multiple` layers. `None` if not even the lowest do.
    pub fn fit(&self, limit: u128, multiple: usize) -> Option<Plan> {
        let fits = |plan: &Plan| self.bytes(*plan) <= limit;
        if fits(&Plan::Dense) {
            return Some(Plan::Dense);
        }
        let [nx, ny, nz] = self.dims;
        let of = |n: usize| Plan::Slabs(n * multiple);
        let mut found = 1;
        let mut most = (nz - 1) / multiple;
        if found > most || !fits(&of(found)) {
            return None;
        }
        let in_slab = (self.slab / self.cell_bytes([nx, ny, multiple])).max(1);
        most = usize::try_from(in_slab).unwrap_or(usize::MAX).min(most);
        while found < most {
            let middle = (found + most).div_ceil(2);
            if fits(&of(middle)) {
                found = middle
            } else {
                most = middle - 1
            }
        }
        // As many slabs, of equal height.
        let slabs = nz.div_ceil(found * multiple);
        Some(of(nz.div_ceil(slabs).div_ceil(multiple)))
    }

    /// The least limit that something fits in.
    pub fn least(&self, multiple: usize) -> u128 {
        self.bytes(Plan::Slabs(multiple))
            .min(self.bytes(Plan::Dense))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(triangles: usize, dims: [usize; 3]) -> Demand {
        Demand {
            triangles,
            dims,
            threads: 1,
            extra: 0,
            grids: 1,
            values: 0,
            touched: usize::MAX,
            slab: u128::MAX,
        }
    }

    #[test]
    fn mesh_cells_bricks_and_a_row_are_counted() {
        let demand = demand(21, [64, 10, 20]);
        let mesh = 21 * 36;
        let row = 64;
        let brick = 512 + 2 + 12;
        // One brick stands for none.
        assert_eq!(
            demand.bytes(Plan::Dense),
            mesh + 20 * 80 + 512 + 6 * brick + row
        );
        assert_eq!(
            demand.bytes(Plan::Slabs(5)),
            mesh + 5 * 80 + 512 + 2 * brick + row
        );
        assert_eq!(
            demand.clone().labelled().bytes(Plan::Slabs(5)),
            demand.bytes(Plan::Slabs(5)) + 5 * 80
        );
        assert_eq!(demand.least(1), mesh + 80 + 512 + 2 * brick + row);
    }

    #[test]
    fn large_grids_are_made_in_bricks_and_slabs_of_whole_ones() {
        assert_eq!(demand(5, [500, 500, 500]).bricks(1), None);
        let large = demand(5, [1024, 722, 458]);
        assert_eq!(large.bricks(1), Some(Plan::Bricks(40)));
        assert_eq!(large.bricks(256), Some(Plan::Bricks(256)));
        assert_eq!(large.bricks(1000), None);
        let [slab, full] = [40, 8].map(|height| BitGrid::bytes_for([1024, 722, height]));
        let noted = slab / 2;
        assert_eq!(
            large.bytes(Plan::Bricks(40)),
            large.bytes(Plan::Dense) + slab + full + noted
        );
        let touching = |bricks| large.clone().touching(bricks).bytes(Plan::Bricks(40));
        // All of them stay with the thread, of which a quarter of all bricks may.
        let room = 16 * 91 * 58 / 4;
        let all_in_thread = touching(room);
        // Of a pool, pages of 2 MiB.
        assert_eq!(touching(room - 1), all_in_thread - 12);
        assert_eq!(
            all_in_thread - touching(4095),
            (room as u128 + 1) * 512 - (2 << 20) + (room as u128 - 4095) * 12
        );
        let kept = |bricks: u128| bricks * (512 + 24) + 58 * 16 * 512 + full;
        assert_eq!(touching(room + 1), all_in_thread + kept(room as u128 + 1));
        assert_eq!(
            demand(5, [1 << 20, 1 << 10, 9]).bricks(1),
            Some(Plan::Bricks(8))
        );
    }

    #[test]
    fn as_few_slabs_as_fit_are_taken_and_none_higher_than_needed() {
        let demand = demand(2000, [500, 500, 300]);
        let all = demand.bytes(Plan::Dense);
        assert_eq!(demand.fit(all, 1), Some(Plan::Dense));
        let mut seen = 0;
        for multiple in [1, 7, 256, 300, 1000] {
            let least = demand.least(multiple);
            assert_eq!(demand.fit(least - 1, multiple), None, "{multiple}");
            for limit in (least..all).step_by(500_000) {
                let Some(Plan::Slabs(height)) = demand.fit(limit, multiple) else {
                    panic!("{multiple}")
                };
                assert!(
                    height % multiple == 0
                        && height < 300
                        && demand.bytes(Plan::Slabs(height)) <= limit
                );
                let slabs = 300_usize.div_ceil(height);
                // The lowest of one slab fewer.
                let higher = if slabs == 1 {
                    300
                } else {
                    300_usize.div_ceil(slabs - 1).next_multiple_of(multiple)
                };
                assert!(
                    higher >= 300 || demand.bytes(Plan::Slabs(higher)) > limit,
                    "{limit}: {height}"
                );
                assert!(
                    height == multiple || 300_usize.div_ceil(height - multiple) > slabs,
                    "{limit}: {height}"
                );
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn slabs_with_short_passes_stay_within_what_is_fast() {
        let demand = demand(2000, [4096, 4096, 4096]);
        let limit = demand.bytes(Plan::Dense) - 1;
        let Some(Plan::Slabs(high)) = demand.fit(limit, 1) else {
            panic!("slabs")
        };
        let Some(Plan::Slabs(low)) = demand.with_short_passes().fit(limit, 1) else {
            panic!("slabs")
        };
        assert_eq!([high, low], [2048, 32]);
    }
}
