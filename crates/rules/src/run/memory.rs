//! Estimates of the memory of a job. Before anything is allocated, an upper bound is used to choose a plan
//! that fits in the limit. The expected peak is reported to the user.

use super::{Run, touched};
use voxelize_core::geom::Triangle;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_kernel::sink::{Brick, SIDE, bricks_in, kept_bytes_for};
use voxelize_kernel::{bricks, distance};
use voxelize_meshes::Mesh;

/// Arrangement of a grid in memory while its cells are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// The whole grid is in memory.
    Dense,
    /// Slabs with this number of layers along z, one after the other. The last slab may have fewer layers.
    /// Each slab needs a pass over the triangles.
    Slabs(usize),
    /// One pass over the triangles stores all cells in bricks. Slabs with this number of layers are then made
    /// from the bricks.
    Bricks(usize),
}

impl Plan {
    /// Returns the name of the plan: `dense`, `slabs` or `bricks`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Slabs(_) => "slabs",
            Self::Bricks(_) => "bricks",
        }
    }

    /// Returns the number of layers that are in memory at the same time. The grid has `nz` layers.
    pub(crate) fn layers(self, nz: usize) -> usize {
        match self {
            Self::Dense => nz,
            Self::Slabs(height) | Self::Bricks(height) => height.clamp(1, nz),
        }
    }
}

/// Kind of memory estimate. Both kinds are sums over the same allocations. The code that estimates an
/// allocation is next to the code that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryFigure {
    /// Memory that a job never exceeds. It decides which plan fits in a limit.
    UpperBound,
    /// Expected peak of the memory, a prediction for users. `layers` is the number of layers that are in
    /// memory at the same time.
    Expected { layers: usize },
}

/// Estimator for the memory of a job.
#[derive(Clone, Copy)]
pub(crate) struct MemoryEstimate<'a> {
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    pub run: &'a Run<'a>,
    pub figure: MemoryFigure,
}

impl<'a> MemoryEstimate<'a> {
    /// Returns an estimator of the upper bound.
    pub(crate) fn bound(mesh: &'a Mesh, lattice: &'a Lattice, run: &'a Run<'a>) -> Self {
        Self {
            mesh,
            lattice,
            run,
            figure: MemoryFigure::UpperBound,
        }
    }

    /// Returns an estimator of the same kind for work that needs the whole grid in memory, even if the cells
    /// are made in slabs.
    pub(crate) fn of_whole(self) -> Self {
        let layers = self.lattice.dims()[2];
        let figure = match self.figure {
            MemoryFigure::UpperBound => MemoryFigure::UpperBound,
            MemoryFigure::Expected { .. } => MemoryFigure::Expected { layers },
        };
        Self { figure, ..self }
    }

    /// Returns `bound` if the upper bound is estimated, and `expected` if the expected peak is.
    pub(crate) fn bytes(&self, bound: u128, expected: u128) -> u128 {
        match self.figure {
            MemoryFigure::UpperBound => bound,
            MemoryFigure::Expected { .. } => expected,
        }
    }

    /// Returns the memory, in bytes, of grids of bits. `bound` and `expected` are the numbers of grids for
    /// the two kinds of estimate. The expected peak counts only the layers that are in memory at the same
    /// time.
    pub(crate) fn grids(&self, bound: u128, expected: f64) -> u128 {
        let dims = self.lattice.dims();
        match self.figure {
            MemoryFigure::UpperBound => bound * BitGrid::bytes_for(dims),
            MemoryFigure::Expected { layers } => {
                let slab = BitGrid::bytes_for([dims[0], dims[1], layers]);
                (expected * slab as f64) as u128
            }
        }
    }

    /// Returns the memory, in bytes, of several meshes of the same size as the mesh. `bound` and `expected`
    /// are the numbers of meshes for the two kinds of estimate.
    pub(crate) fn meshes(&self, bound: u128, expected: f64) -> u128 {
        let mesh = size_of_val(self.mesh.triangles()) as u128;
        self.bytes(bound * mesh, (expected * mesh as f64) as u128)
    }

    /// Returns the approximate number of bricks that the triangles cross, which is at least one. `cells` is
    /// the size of a brick in cells.
    fn crossed(&self, cells: [usize; 3]) -> f64 {
        let bricks = [0, 1, 2].map(|i| self.lattice.dims()[i].div_ceil(cells[i]) as f64);
        touched::crossed(self.mesh, self.lattice, cells).clamp(1.0, bricks.iter().product())
    }
}

/// Estimate of the memory of a job, from which the memory of each plan follows. It includes the mesh, the
/// cells that are in memory at the same time, the bricks of each thread, and one row of cells in the output.
/// It excludes code, stacks and buffers that every job needs.
#[derive(Debug, Clone)]
pub struct Demand {
    figure: MemoryFigure,
    triangles: usize,
    dims: [usize; 3],
    threads: usize,
    /// Memory of the mesh in bytes, including its colours and negative volumes.
    pub(crate) mesh: u128,
    /// Memory, in bytes, that the rule and other work of the job need under every plan.
    pub(crate) extra: u128,
    /// Number of copies of the grid of cells that are in memory at the same time.
    pub(crate) grids: u128,
    /// Number of bytes per cell in addition to the grids, such as for the values of a field and the numbers
    /// of nearest triangles.
    pub values: u128,
    /// Number of bricks that contain occupied cells. `usize::MAX` if it is unknown.
    pub(crate) touched: usize,
    /// Greatest size of a slab, in bytes, if the memory limit allows it.
    pub(crate) slab: u128,
}

/// Size of a slab, in bytes, at which the pass over the triangles takes little time compared to the work on
/// its cells. Larger slabs are slower, because their cells are evicted from the cache before they are used
/// again.
pub(crate) const LARGE_SLAB: u128 = 64 << 20;

impl Demand {
    /// Returns the upper bound of the memory that is needed to fill a grid of bits on `lattice` with the
    /// settings `run`.
    pub fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Self {
        Self::of(&MemoryEstimate::bound(mesh, lattice, run), 0)
    }

    /// Returns the estimate for cells that need `values` bytes each in addition to the grids.
    pub(crate) fn of(estimate: &MemoryEstimate, values: u128) -> Self {
        let mesh = estimate.mesh;
        let triangles = mesh.triangles().len() + mesh.cuts().map_or(0, |cuts| cuts.count());
        let colours = mesh.colours().map_or(0, |colours| colours.bytes().into());
        let touched = match (estimate.figure, values) {
            (MemoryFigure::UpperBound, _) => usize::MAX,
            (_, 0) => estimate.crossed([64, SIDE, SIDE]) as usize,
            _ => estimate.crossed([distance::SIDE; 3]) as usize,
        };
        Self {
            figure: estimate.figure,
            triangles,
            dims: estimate.lattice.dims(),
            threads: estimate.run.thread_count(),
            mesh: (triangles * size_of::<Triangle>()) as u128 + colours,
            extra: 0,
            grids: 1,
            values,
            touched,
            slab: u128::MAX,
        }
    }

    /// Returns the memory, in bytes, of a grid of `dims` cells with all copies and values.
    pub(crate) fn cell_bytes(&self, dims: [usize; 3]) -> u128 {
        let cells = dims.iter().map(|&n| n as u128).product::<u128>();
        self.grids * BitGrid::bytes_for(dims) + self.values * cells
    }

    /// Returns the memory of the job under `plan`, in bytes.
    pub fn bytes(&self, plan: Plan) -> u128 {
        let [nx, ny, nz] = self.dims;
        let row = nx as u128;
        let slab = [nx, ny, plan.layers(nz)];
        let bricks = match plan {
            Plan::Dense | Plan::Slabs(_) => self.threads_bytes(slab),
            Plan::Bricks(_) => self.threads_bytes(self.dims) + self.kept_bytes(slab),
        };
        self.mesh + self.extra + row + self.cell_bytes(slab) + bricks
    }

    /// Returns the memory, in bytes, of the bricks that threads fill before the cells are moved to the grid.
    /// `covered` is the size of the part of the grid that is filled at the same time.
    fn threads_bytes(&self, covered: [usize; 3]) -> u128 {
        match (self.values, self.figure) {
            (0, MemoryFigure::UpperBound) => bricks::bytes_for(covered, self.threads, self.touched),
            (0, MemoryFigure::Expected { .. }) => {
                // If the triangles are small and in random order, every thread touches most bricks. If they
                // are large, the bricks are divided among the threads.
                let all = self.touched as f64;
                let of_all = all + 2.0 * self.triangles as f64;
                let layers = covered[2] as f64 / self.dims[2] as f64;
                let of_thread = all.min(of_all / self.threads as f64) * layers;
                bricks::bytes_for(covered, self.threads, of_thread as usize)
            }
            // Values are written to the field directly.
            (_, MemoryFigure::UpperBound) => 0,
            (_, MemoryFigure::Expected { .. }) => {
                // The factors of two allow for the width of the band, which extends beyond the bricks that
                // the mesh crosses, and for the spare capacity of growing lists.
                let [nx, ny, layers] = covered;
                let bricks = self.dims.map(|n| n.div_ceil(distance::SIDE) as f64);
                let share = 2.0 * self.touched as f64 / bricks.iter().product::<f64>();
                let cells = nx * ny * layers.min(distance::SIDE);
                (2.0 * share.min(1.0) * (cells as u128 * self.values) as f64) as u128
            }
        }
    }

    /// Returns the memory, in bytes, of the bricks that store all cells until their slabs are made.
    fn kept_bytes(&self, slab: [usize; 3]) -> u128 {
        let [nx, ny, nz] = self.dims;
        if let MemoryFigure::Expected { .. } = self.figure {
            return (self.touched * size_of::<Brick>()) as u128;
        }
        let noted = BitGrid::noted_bytes_for(slab);
        if bricks::have_room(self.dims, self.threads, self.touched) {
            return noted;
        }
        let kept = kept_bytes_for(self.touched.min(bricks_in(self.dims)), nz.div_ceil(SIDE));
        // Any thread may convert a full layer of bricks to layers of a grid.
        let full = BitGrid::bytes_for([nx, ny, SIDE.min(nz)]) * self.threads as u128;
        kept.min(self.cell_bytes(self.dims)) + full + noted
    }

    /// Returns the plan bricks with slabs of some MiB. Their height is a multiple of `multiple` layers.
    /// `None` if the grid is so small that one slab is enough.
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

    /// Returns the plan bricks with slabs of the least height that is a multiple of `multiple` layers.
    /// Returns other plans unchanged.
    pub(crate) fn lowest(bricks: Plan, multiple: usize) -> Plan {
        match bricks {
            Plan::Bricks(_) if multiple.is_multiple_of(SIDE) => Plan::Bricks(multiple),
            Plan::Bricks(_) => Plan::Bricks(multiple * SIDE),
            other => other,
        }
    }

    /// Returns the plan for a field: slabs of some MiB, whose height is a multiple of `multiple` layers.
    /// Slabs cost little time, because a slab of a field needs no pass over all triangles. Returns the plan
    /// dense if one slab is enough.
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

    /// Returns the best plan that fits in `limit` bytes. It is dense if that fits, and otherwise the least
    /// number of slabs whose height is a multiple of `multiple` layers. For this number the slabs have the
    /// least height. `None` if not even the lowest slabs fit.
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
        // Keeps the number of slabs, and makes their heights as equal as possible.
        let slabs = nz.div_ceil(found * multiple);
        Some(of(nz.div_ceil(slabs).div_ceil(multiple)))
    }

    /// Returns the least memory limit, in bytes, for which a plan fits.
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
            figure: MemoryFigure::UpperBound,
            triangles,
            dims,
            threads: 1,
            mesh: 36 * triangles as u128,
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
        // The estimate has at least one brick.
        assert_eq!(
            demand.bytes(Plan::Dense),
            mesh + 20 * 80 + 512 + 6 * brick + row
        );
        assert_eq!(
            demand.bytes(Plan::Slabs(5)),
            mesh + 5 * 80 + 512 + 2 * brick + row
        );
        assert_eq!(
            Demand {
                grids: 2,
                ..demand.clone()
            }
            .bytes(Plan::Slabs(5)),
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
        let touching = |touched| {
            let demand = Demand {
                touched,
                ..large.clone()
            };
            demand.bytes(Plan::Bricks(40))
        };
        // A thread keeps all of its bricks if they are at most a quarter of all bricks.
        let room = 16 * 91 * 58 / 4;
        let all_in_thread = touching(room);
        // A memory pool allocates pages of 2 MiB.
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
                // The least height that needs one slab fewer.
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
        let short = Demand {
            slab: LARGE_SLAB,
            ..demand
        };
        let Some(Plan::Slabs(low)) = short.fit(limit, 1) else {
            panic!("slabs")
        };
        assert_eq!([high, low], [2048, 32]);
    }
}
