//! What a job takes in memory, to choose a plan that fits before anything is allocated.

use std::ops::Range;

use super::Run;
use super::slabs::{CHUNK, slab_height};
use crate::geom::{Ties, Triangle};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::Frame;
use crate::mesh::Mesh;

/// The most slabs of a plan: each is a pass over all triangles.
const MAX_SLABS: usize = 1 << 16;

/// How a grid is held in memory while it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// All of it at once.
    Dense,
    /// In slabs of so many layers of z, one after the other; the last may have fewer.
    Slabs(usize),
}

impl Plan {
    /// The word for it: `dense` or `slabs`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Slabs(_) => "slabs",
        }
    }
}

/// What a job would take under every plan, in bytes: the mesh, the cells in memory at a time, the
/// triangles sorted by layers, and one row of cells as it is written. Code, stacks and buffers that
/// are the same for every job are not in it.
#[derive(Debug, Clone)]
pub struct Demand {
    triangles: usize,
    dims: [usize; 3],
    threads: usize,
    /// Layers that triangles are counted by, so that a count stays small for any grid.
    step: usize,
    /// `begun[n]` triangles begin below layer `n * step`.
    begun: Vec<u32>,
    /// `ended[n]` triangles end below layer `n * step`.
    ended: Vec<u32>,
}

impl Demand {
    /// What `run` would take to fill `lattice`.
    pub fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Self {
        let (triangles, dims) = (mesh.triangles().len(), lattice.dims());
        let step = dims[2].div_ceil(MAX_SLABS);
        let steps = dims[2].div_ceil(step);
        let (mut begun, mut ended) = (vec![0; steps + 1], vec![0; steps + 1]);
        let frame = Frame::new(lattice, mesh.bounds(), Ties::default());
        for (first, last) in mesh.triangles().iter().filter_map(|triangle| frame.layers(triangle)) {
            begun[first / step + 1] += 1;
            ended[last / step + 1] += 1;
        }
        for n in 0..steps {
            begun[n + 1] += begun[n];
            ended[n + 1] += ended[n];
        }
        Self { triangles, dims, threads: run.threads(), step, begun, ended }
    }

    /// The bytes under `plan`.
    pub fn bytes(&self, plan: Plan) -> u128 {
        let [nx, ny, nz] = self.dims;
        let height = match plan {
            Plan::Dense => nz,
            Plan::Slabs(height) => height.clamp(self.step, nz),
        };
        let mesh = self.triangles as u128 * size_of::<Triangle>() as u128;
        let windows = (0..nz).step_by(height).map(|first| first..nz.min(first + height));
        let sorted = windows.map(|window| self.sorted(window)).max().unwrap_or(0);
        mesh + BitGrid::bytes_for([nx, ny, height]) + sorted + nx as u128
    }

    /// The plan that fits in `limit` bytes: dense, or else the highest slabs of a multiple of
    /// `multiple` layers. `None` if not even the lowest do.
    pub fn fit(&self, limit: u128, multiple: usize) -> Option<Plan> {
        let fits = |plan: &Plan| self.bytes(*plan) <= limit;
        if fits(&Plan::Dense) {
            return Some(Plan::Dense);
        }
        let of = |n: usize| Plan::Slabs(n * multiple);
        let (mut found, mut most) = (self.step.div_ceil(multiple), (self.dims[2] - 1) / multiple);
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
        let lowest = self.step.next_multiple_of(multiple);
        self.bytes(Plan::Slabs(lowest)).min(self.bytes(Plan::Dense))
    }

    /// The bytes of the triangles of a window, each sorted into the slabs of threads it reaches.
    fn sorted(&self, window: Range<usize>) -> u128 {
        let layer_words = self.dims[0].div_ceil(64) * self.dims[1];
        let height = slab_height(window.len(), layer_words, self.threads);
        let slabs = window.clone().step_by(height).map(|first| first..window.end.min(first + height));
        let (mut entries, mut bins) = (0, 0);
        for slab in slabs {
            let (begun, ended) = (slab.end.div_ceil(self.step), slab.start / self.step);
            entries += u128::from(self.begun[begun] - self.ended[ended]);
            bins += self.triangles.div_ceil(CHUNK) as u128;
        }
        if bins <= 1 && window.len() == self.dims[2] {
            return 0;
        }
        // A list grows by doubling, so half of it may be empty; the least holds four numbers.
        2 * entries * size_of::<u32>() as u128 + bins * (size_of::<Vec<u32>>() + 4 * size_of::<u32>()) as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Rational;

    /// A column of `count` triangles, each over one layer, and one over all of them.
    fn demand(count: usize, dims: [usize; 3]) -> Demand {
        let one = |n: usize| {
            let (low, high) = (n as f32 + 0.25, n as f32 + 0.75);
            [[0.0, 0.0, low], [1.0, 0.0, low], [0.0, 1.0, high]]
        };
        let mut triangles: Vec<_> = (0..count).map(|n| one(n % dims[2])).collect();
        triangles.push([[0.0, 0.0, 0.25], [1.0, 0.0, 0.25], [0.0, 1.0, dims[2] as f32 - 0.25]]);
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let lattice =
            Lattice::new(dims, [0, 0, 0].map(Rational::from), [1, 1, 1].map(Rational::from), [true; 3]);
        Demand::new(&mesh, &lattice.unwrap(), &Run { threads: 1, ..Run::default() })
    }

    #[test]
    fn each_triangle_counts_in_the_slabs_it_reaches() {
        let demand = demand(20, [64, 10, 20]);
        let (mesh, row, bin) = (21 * 36, 64, 24 + 16);
        assert_eq!(demand.bytes(Plan::Dense), mesh + 20 * 80 + row);
        // In every window of five layers, five triangles and the long one.
        assert_eq!(demand.bytes(Plan::Slabs(5)), mesh + 5 * 80 + 2 * 4 * 6 + bin + row);
        assert_eq!(demand.least(1), mesh + 80 + 2 * 4 * 2 + bin + row);
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
