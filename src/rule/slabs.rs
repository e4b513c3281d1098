//! A grid made in slabs: a range of layers at a time in memory, so that the grid may be larger than
//! that. Each is filled in a pass of its own over the triangles, or out of bricks that one pass made.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::{Keep, PreparedRule, Rule, Stats, labels};
use crate::error::{Error, Result};
use crate::grid::{
    BitGrid, CellSource, CellType, Cells, Digest, DigestBuilder, Label, Lattice, Legend, Record, Slab,
};
use crate::kernel::sink::SIDE;
use crate::mesh::Mesh;
use crate::par::{self, Progress};
use crate::run::cover::Covered;
use crate::run::{Demand, Plan, Run};

/// Voxels that are made a slab at a time, as [`CellSource::next`] asks for them; what
/// [`Voxelizer::slabs`](crate::Voxelizer::slabs) gives.
pub struct Slabs<'a> {
    /// Rule, ties, tool and input.
    pub record: Record,
    lattice: &'a Lattice,
    prepared: PreparedRule<'a>,
    run: Run<'a>,
    height: usize,
    source: SlabSource,
    /// The layers that come next.
    next: usize,
    /// The cells of one slab, whose memory is used again for the next.
    cells: Option<Cells>,
    /// The legend, if cells are labelled.
    legend: Option<Legend>,
    digest: DigestBuilder,
    made: Made,
}

/// Where the cells of slabs come from.
enum SlabSource {
    /// A pass over the triangles for each slab.
    Triangles,
    /// Bricks of all slabs, to be made before the first.
    NoBricks(Keep),
    Bricks(Covered),
}

/// What is known of the slabs made so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// How many slabs.
    pub slabs: usize,
    /// How many cells of them are occupied.
    pub occupied: u64,
    /// How many of these are surface, and how many interior, if they are labelled.
    pub surface_and_interior: Option<[u64; 2]>,
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
        rule: Rule,
        plan: Plan,
        run: &Run<'a>,
    ) -> Result<Self> {
        run.supported_level()?;
        let (height, source) = match plan {
            Plan::Dense => (lattice.dims()[2], SlabSource::Triangles),
            Plan::Slabs(height) => (height, SlabSource::Triangles),
            Plan::Bricks(height) if !height.is_multiple_of(SIDE) => {
                return Err(Error::usage(format!("bricks have {SIDE} layers, {height} cut some of them")));
            }
            Plan::Bricks(height) => match rule.info().keep {
                Some(keep) => (height, SlabSource::NoBricks(keep)),
                None => return Err(Error::usage("this rule has no bricks")),
            },
        };
        if height == 0 {
            return Err(Error::usage("a slab needs at least one layer"));
        }
        if run.max_memory.is_some() {
            let need = Demand::new(mesh, lattice, run).with(rule.extra_bytes(mesh, lattice, run)).bytes(plan);
            let [x, y, _] = lattice.dims();
            run.refuse_above(need, || {
                format!("slabs of {x} × {y} × {height} cells and {} triangles", mesh.triangles().len())
            })?;
        }
        let digest = DigestBuilder::new(lattice.dims(), CellType::Bits);
        let prepared = par::with_threads(run.thread_count(), || rule.prepare(mesh, lattice, run))??;
        let record = prepared.record();
        let (run, made) = (*run, Made::default());
        Ok(Self {
            record,
            lattice,
            prepared,
            run,
            height,
            source,
            next: 0,
            cells: None,
            legend: None,
            digest,
            made,
        })
    }

    /// The same slabs, their cells labelled as [`surface_and_interior`](super::surface_and_interior) does it;
    /// a grid more of a slab is in memory, and a pass over the triangles is made for each.
    /// [`Demand::labelled`] counts it.
    #[must_use]
    pub fn labelled(self) -> Self {
        let legend = Legend::surface_and_interior();
        let digest = DigestBuilder::new(self.lattice.dims(), CellType::Labels(&legend));
        Self { legend: Some(legend), digest, ..self }
    }

    /// What is known of the slabs so far; after the last, of the whole grid.
    pub fn made(&self) -> Made {
        self.made.clone()
    }

    /// How many slabs there will be.
    pub fn count(&self) -> usize {
        self.lattice.dims()[2].div_ceil(self.height)
    }

    /// The memory of the slab before, as a grid of these dims, and that of its labels.
    fn memory(&mut self, dims: [usize; 3]) -> Result<(BitGrid, Option<BitGrid>)> {
        let (mut bits, plane) = match self.cells.take() {
            None => return Ok((BitGrid::new(dims)?, None)),
            Some(Cells::Labels(labels)) => {
                let (bits, planes) = labels.into_planes();
                (bits, planes.into_iter().next())
            }
            Some(other) => (other.into_occupied()?, None),
        };
        bits.reshape(dims)?;
        Ok((bits, plane))
    }

    /// Fills the slab of these layers, in the memory of the one before.
    fn fill(&mut self, layers: Range<usize>) -> Result<()> {
        let [nx, ny, _] = self.lattice.dims();
        let dims = [nx, ny, layers.len()];
        let phase = format!("slab {}/{}", self.made.slabs + 1, self.count());
        let start = Instant::now();
        let (mut bits, plane) = self.memory(dims)?;
        if let SlabSource::NoBricks(keep) = self.source {
            let covered = keep(&self.prepared, &self.run)?;
            self.made.stats.snapped = covered.snapped();
            self.source = SlabSource::Bricks(covered);
        }
        if let SlabSource::Bricks(covered) = &self.source {
            self.run.check()?;
            covered.copy_to(layers.start, &mut bits);
        } else {
            let progress = Phase { name: &phase, progress: &self.run };
            let run = Run { progress: &progress, ..self.run };
            bits.clear();
            let stats = self.prepared.fill(layers.clone(), &run, &mut bits)?;
            self.made.stats.add(stats);
        }
        let cells: Cells = if self.legend.is_some() {
            let progress = Phase { name: &phase, progress: &self.run };
            let run = Run { progress: &progress, ..self.run };
            let labels = labels::of_layers(self.prepared.mesh, self.lattice, layers, bits, plane, &run)?;
            let [surface, interior] = self.made.surface_and_interior.unwrap_or_default();
            let more = [Label::SURFACE, Label::INTERIOR].map(|label| labels.count(label.value));
            self.made.surface_and_interior = Some([surface + more[0], interior + more[1]]);
            labels.into()
        } else {
            bits.into()
        };
        let filled = Instant::now();
        let cells = self.cells.insert(cells);
        self.made.occupied += cells.as_ref().count();
        self.digest.add(&*cells);
        self.made.filling += filled - start;
        self.made.hashing += filled.elapsed();
        self.made.slabs += 1;
        Ok(())
    }
}

impl CellSource for Slabs<'_> {
    fn dims(&self) -> [usize; 3] {
        self.lattice.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        Some(self.lattice)
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn cell_type(&self) -> CellType<'_> {
        self.legend.as_ref().map_or(CellType::Bits, CellType::Labels)
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let layers = self.next..self.lattice.dims()[2].min(self.next.saturating_add(self.height));
        if layers.is_empty() {
            return Ok(None);
        }
        let first = layers.start;
        self.next = layers.end;
        par::with_threads(self.run.thread_count(), || self.fill(layers))??;
        Ok(self.cells.as_ref().map(|cells| Slab { first, cells: cells.as_ref() }))
    }

    fn digest(&self) -> Digest {
        self.digest.finish(Some(self.lattice))
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
