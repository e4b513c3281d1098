//! A grid made in slabs: a range of layers at a time in memory, each filled in a pass of its own
//! over the triangles, so that the grid may be larger than memory.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::{Stats, What};
use crate::error::{Error, Result};
use crate::grid::{BitGrid, Digest, Digester, Lattice, Layers, Meta, Window};
use crate::mesh::Mesh;
use crate::par::{self, Progress};
use crate::run::{Demand, Plan, Run};

/// Voxels that are made a slab at a time, as [`Layers::next`] asks for them; what
/// [`voxelize_slabs`](crate::voxelize_slabs) gives.
pub struct Slabs<'a> {
    /// Rule, ties, tool and input.
    pub meta: Meta,
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    what: What,
    run: Run<'a>,
    height: usize,
    /// The layers that come next.
    next: usize,
    /// The cells of one slab, used again for the next.
    bits: Option<BitGrid>,
    digester: Digester,
    made: Made,
}

/// What is known of the slabs made so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Made {
    /// How many slabs.
    pub slabs: usize,
    /// How many cells of them are occupied.
    pub occupied: u64,
    /// What was noticed on the way.
    pub stats: Stats,
    /// How long filling them took.
    pub filling: Duration,
    /// How long counting and digests took.
    pub hashing: Duration,
}

impl<'a> Slabs<'a> {
    pub(crate) fn new(
        mesh: &'a Mesh,
        lattice: &'a Lattice,
        what: What,
        height: usize,
        run: &Run<'a>,
        meta: Meta,
    ) -> Result<Self> {
        run.level()?;
        if height == 0 {
            return Err(Error::usage("a slab needs at least one layer"));
        }
        if run.max_memory.is_some() {
            let need = Demand::new(mesh, lattice, run).bytes(Plan::Slabs(height));
            let [x, y, _] = lattice.dims();
            run.refuse_above(need, || {
                format!("slabs of {x} × {y} × {height} cells and {} triangles", mesh.triangles().len())
            })?;
        }
        let digester = Digester::new(lattice.dims());
        let (run, made) = (*run, Made::default());
        Ok(Self { meta, mesh, lattice, what, run, height, next: 0, bits: None, digester, made })
    }

    /// What is known of the slabs so far; after the last, of the whole grid.
    pub fn made(&self) -> Made {
        self.made
    }

    /// How many slabs there will be.
    pub fn count(&self) -> usize {
        self.lattice.dims()[2].div_ceil(self.height)
    }

    /// Fills the slab of these layers, in the memory of the one before.
    fn fill(&mut self, layers: Range<usize>) -> Result<&BitGrid> {
        let [nx, ny, _] = self.lattice.dims();
        let dims = [nx, ny, layers.len()];
        let phase = format!("slab {}/{}", self.made.slabs + 1, self.count());
        let bits = match self.bits.take() {
            Some(mut bits) if bits.dims() == dims => {
                bits.clear();
                bits
            }
            // What is left of the one before goes first.
            other => {
                drop(other);
                BitGrid::new(dims)?
            }
        };
        let bits = self.bits.insert(bits);
        let progress = Phase { name: &phase, progress: self.run.progress };
        let run = Run { progress: &progress, ..self.run };
        let start = Instant::now();
        let stats = self.what.fill_layers(self.mesh, self.lattice, layers, &run, bits)?;
        let filled = Instant::now();
        self.made.occupied += bits.count();
        self.digester.add(bits);
        self.made.filling += filled - start;
        self.made.hashing += filled.elapsed();
        self.made.stats.snapped += stats.snapped;
        self.made.slabs += 1;
        Ok(bits)
    }
}

impl Layers for Slabs<'_> {
    fn dims(&self) -> [usize; 3] {
        self.lattice.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        Some(self.lattice)
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn next(&mut self) -> Result<Option<Window<'_>>> {
        let layers = self.next..self.lattice.dims()[2].min(self.next.saturating_add(self.height));
        if layers.is_empty() {
            return Ok(None);
        }
        let first = layers.start;
        self.next = layers.end;
        let bits = par::with_threads(self.run.threads(), || self.fill(layers))??;
        Ok(Some(Window { first, bits, parts: &[] }))
    }

    fn digest(&self) -> Digest {
        self.digester.finish(Some(self.lattice))
    }
}

/// Progress under another name.
struct Phase<'a> {
    name: &'a str,
    progress: &'a dyn Progress,
}

impl Progress for Phase<'_> {
    fn begin(&self, _: &str, total: u64) {
        self.progress.begin(self.name, total);
    }

    fn advance(&self, by: u64) {
        self.progress.advance(by);
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }
}
