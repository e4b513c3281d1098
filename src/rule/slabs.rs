//! A grid made in slabs: a range of layers at a time in memory, so that the grid may be larger than
//! that. Each is filled in a pass of its own over the triangles, or out of bricks that one pass made.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::{Keep, PreparedRule, Rule, Stats, parts};
use crate::error::{Error, Result};
use crate::grid::{BitGrid, Digest, Digester, Lattice, Layers, Part, Record, Sort, Window};
use crate::kernel::sink::SIDE;
use crate::mesh::Mesh;
use crate::par::{self, Progress};
use crate::run::cover::Covered;
use crate::run::{Demand, Plan, Run};

/// Voxels that are made a slab at a time, as [`Layers::next`] asks for them; what
/// [`voxelize_slabs`](crate::voxelize_slabs) and [`voxelize_bricks`](crate::voxelize_bricks) give.
pub struct Slabs<'a> {
    /// Rule, ties, tool and input.
    pub record: Record,
    lattice: &'a Lattice,
    prepared: PreparedRule<'a>,
    run: Run<'a>,
    height: usize,
    source: Source,
    /// The layers that come next.
    next: usize,
    /// The cells of one slab, used again for the next.
    bits: Option<BitGrid>,
    telling: Telling,
    parts: Vec<Part>,
    digester: Digester,
    made: Made,
}

/// Whether cells are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Plain,
    Parts,
}

/// Where the cells of slabs come from.
enum Source {
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
    /// How many of these are on the surface, and how many within, if they are told apart.
    pub parts: Option<[u64; 2]>,
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
        run.level()?;
        let (height, source) = match plan {
            Plan::Dense => (lattice.dims()[2], Source::Triangles),
            Plan::Slabs(height) => (height, Source::Triangles),
            Plan::Bricks(height) if !height.is_multiple_of(SIDE) => {
                return Err(Error::usage(format!("bricks have {SIDE} layers, {height} cut some of them")));
            }
            Plan::Bricks(height) => match rule.info().keep {
                Some(keep) => (height, Source::NoBricks(keep)),
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
        let digester = Digester::new(lattice.dims());
        let prepared = par::with_threads(run.threads(), || rule.prepare(mesh, lattice, run))??;
        let record = prepared.record();
        let (run, made, telling) = (*run, Made::default(), Telling::Plain);
        Ok(Self {
            record,
            lattice,
            prepared,
            run,
            height,
            source,
            next: 0,
            bits: None,
            telling,
            parts: vec![],
            digester,
            made,
        })
    }

    /// The same slabs, their cells told apart as [`surface_and_interior`](super::surface_and_interior) does;
    /// two grids more of a slab are in memory, and a pass over the triangles is made for each.
    /// [`Demand::in_parts`] counts them.
    #[must_use]
    pub fn in_parts(self) -> Self {
        Self { telling: Telling::Parts, ..self }
    }

    /// What is known of the slabs so far; after the last, of the whole grid.
    pub fn made(&self) -> Made {
        self.made.clone()
    }

    /// How many slabs there will be.
    pub fn count(&self) -> usize {
        self.lattice.dims()[2].div_ceil(self.height)
    }

    /// Fills the slab of these layers, in the memory of the one before.
    fn fill(&mut self, layers: Range<usize>) -> Result<()> {
        let [nx, ny, _] = self.lattice.dims();
        let dims = [nx, ny, layers.len()];
        let phase = format!("slab {}/{}", self.made.slabs + 1, self.count());
        let start = Instant::now();
        let bits = match &mut self.bits {
            Some(bits) => {
                bits.reshape(dims)?;
                bits
            }
            none => none.insert(BitGrid::new(dims)?),
        };
        if let Source::NoBricks(keep) = self.source {
            let covered = keep(&self.prepared, &self.run)?;
            self.made.stats.snapped = covered.snapped();
            self.source = Source::Bricks(covered);
        }
        if let Source::Bricks(covered) = &self.source {
            self.run.progress.check()?;
            covered.copy_to(layers.start, bits);
        } else {
            let progress = Phase { name: &phase, progress: self.run.progress };
            let run = Run { progress: &progress, ..self.run };
            bits.clear();
            let stats = self.prepared.fill(layers.clone(), &run, bits)?;
            self.made.stats.add(stats);
        }
        if self.telling == Telling::Parts {
            let progress = Phase { name: &phase, progress: self.run.progress };
            let run = Run { progress: &progress, ..self.run };
            // Those of the slab before go first.
            self.parts.clear();
            self.parts.extend(parts::of_layers(self.prepared.mesh, self.lattice, layers, bits, &run)?);
            let [surface, interior] = self.made.parts.unwrap_or_default();
            let [more_surface, more_interior] = [0, 1].map(|n: usize| self.parts[n].cells.count());
            self.made.parts = Some([surface + more_surface, interior + more_interior]);
        }
        let filled = Instant::now();
        self.made.occupied += bits.count();
        self.digester.add(bits);
        self.made.filling += filled - start;
        self.made.hashing += filled.elapsed();
        self.made.slabs += 1;
        Ok(())
    }
}

impl Layers for Slabs<'_> {
    fn dims(&self) -> [usize; 3] {
        self.lattice.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        Some(self.lattice)
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn next(&mut self) -> Result<Option<Window<'_>>> {
        let layers = self.next..self.lattice.dims()[2].min(self.next.saturating_add(self.height));
        if layers.is_empty() {
            return Ok(None);
        }
        let first = layers.start;
        self.next = layers.end;
        par::with_threads(self.run.threads(), || self.fill(layers))??;
        let Some(bits) = &self.bits else { return Ok(None) };
        Ok(Some(Window { first, bits, parts: &self.parts }))
    }

    fn sorts(&self) -> Vec<Sort> {
        if self.telling == Telling::Parts { vec![Sort::Surface, Sort::Interior] } else { vec![] }
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
