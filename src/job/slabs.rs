//! A grid made in slabs: a range of layers at a time in memory, so that the grid may be larger than
//! that. Each is filled in a pass of its own over the triangles, or out of bricks that one pass made.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::findings::{self, LostFound};
use crate::error::{Error, Finding, Result};
use crate::grid::{
    BitGrid, CellKind, CellSource, CellType, Cells, Digest, DigestBuilder, Field, FieldSummary, Label,
    Lattice, Legend, Record, Slab,
};
use crate::kernel::sink::SIDE;
use crate::mesh::Mesh;
use crate::par::{self, Progress};
use crate::rule::{Keep, PreparedRule, Rule, Stats, labels};
use crate::run::cover::Covered;
use crate::run::{Demand, Plan, Run};

/// Voxels that are made a slab at a time, as [`CellSource::next`] asks for them; what
/// [`Voxelizer::slabs`](crate::Voxelizer::slabs) gives.
pub struct Slabs<'a> {
    /// Rule, ties, tool and input.
    pub record: Record,
    lattice: &'a Lattice,
    /// Where files say that the cells are, if that is elsewhere.
    placed: Option<Lattice>,
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
    /// The background, if the rule makes a field.
    background: Option<f32>,
    /// The nearest triangles of the cells of one slab, if they are wanted.
    nearest: Option<Vec<i32>>,
    digest: DigestBuilder,
    pub(super) made: Made,
    /// The features that the rule loses, where they were looked for before the first slab.
    pub(super) lost: LostFound,
    /// The unit of lengths.
    pub(super) unit: Option<&'static str>,
}

/// Where the cells of slabs come from.
enum SlabSource {
    /// A pass over the triangles for each slab.
    Triangles,
    /// Bricks of all slabs, to be made before the first.
    NoBricks(Keep),
    Bricks(Covered),
}

/// The numbers of the slabs made so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// How many slabs.
    pub slabs: usize,
    /// How many cells of them are occupied.
    pub occupied: u64,
    /// How many of these are surface, and how many interior, if they are labelled.
    pub surface_and_interior: Option<[u64; 2]>,
    /// Of a field: how many cells have a value other than the background, and the range of these.
    pub field: Option<FieldSummary>,
    /// The counts of the rule.
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
            let demand = Demand::new(mesh, lattice, run).with(rule.extra_bytes(mesh, lattice, run));
            let is_field = rule.kind() == CellKind::Field;
            let need = if is_field { demand.field(false) } else { demand }.bytes(plan);
            let [x, y, _] = lattice.dims();
            run.refuse_above(need, || {
                format!("slabs of {x} × {y} × {height} cells and {} triangles", mesh.triangles().len())
            })?;
        }
        let background = rule.background(lattice);
        let cell_type = background.map_or(CellType::Bits, |background| CellType::Field { background });
        let digest = DigestBuilder::new(lattice.dims(), cell_type);
        let start = Instant::now();
        let prepared = par::with_threads(run.thread_count(), || rule.prepare(mesh, lattice, run))??;
        let record = prepared.record();
        let run = *run;
        let made = Made { filling: start.elapsed(), ..Made::default() };
        Ok(Self {
            record,
            lattice,
            placed: None,
            prepared,
            run,
            height,
            source,
            next: 0,
            cells: None,
            legend: None,
            background,
            nearest: None,
            digest,
            made,
            lost: LostFound::default(),
            unit: None,
        })
    }

    /// These slabs, their cells labelled as [`surface_and_interior`](crate::rule::surface_and_interior) does it; a
    /// grid more of a slab is in memory, and a pass over the triangles is made for each. [`Demand::labelled`] counts
    /// it.
    #[must_use]
    pub fn labelled(self) -> Self {
        let legend = Legend::surface_and_interior();
        let digest = DigestBuilder::new(self.lattice.dims(), CellType::Labels(&legend));
        Self { legend: Some(legend), digest, ..self }
    }

    /// These slabs, of which files and digests say that their cells are on another lattice of as many cells, such as
    /// a [scaled](Lattice::scaled) one.
    #[must_use]
    pub fn placed(self, lattice: Lattice) -> Self {
        Self { placed: Some(lattice), ..self }
    }

    /// These slabs of a field, with the numbers of the nearest triangles: [`nearest`](Self::nearest) has them.
    /// [`Demand::field`] counts them.
    #[must_use]
    pub fn with_nearest(self) -> Self {
        Self { nearest: self.background.map(|_| vec![]), ..self }
    }

    /// The number of the triangle nearest to each cell of the last slab, x fastest, the least of those equally near;
    /// −1 in cells of the background. Empty if they are not wanted, or the rule makes bits.
    pub fn nearest(&self) -> &[i32] {
        self.nearest.as_deref().unwrap_or_default()
    }

    /// Makes the next slab; false after the last.
    ///
    /// # Errors
    /// If it cannot be made: its memory is not there, or the run was cancelled.
    pub fn advance(&mut self) -> Result<bool> {
        let layers = self.next..self.lattice.dims()[2].min(self.next.saturating_add(self.height));
        if layers.is_empty() {
            return Ok(false);
        }
        self.next = layers.end;
        par::with_threads(self.run.thread_count(), || self.fill(layers))??;
        Ok(true)
    }

    /// The slab that was made last; `None` before the first.
    pub fn slab(&self) -> Option<Slab<'_>> {
        let cells = self.cells.as_ref()?.as_ref();
        Some(Slab { first: self.next - cells.dims()[2], cells })
    }

    /// The numbers of the slabs made so far; after the last, of the whole grid.
    pub fn made(&self) -> Made {
        let mut made = self.made.clone();
        made.stats.lost = made.stats.lost.or(self.lost.lost);
        made
    }

    /// The findings about the cells made so far; after the last slab, about the whole grid.
    pub fn findings(&self) -> Vec<Finding> {
        let Made { stats, occupied, .. } = self.made();
        let rule = &self.prepared.rule;
        let mesh = self.prepared.mesh;
        let of_cells = findings::of_cells(rule, mesh, self.lattice, &stats, occupied == 0, self.unit);
        self.lost.skipped.iter().cloned().chain(of_cells).collect()
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

    /// The memory of the slab before, as a field of these dims.
    fn field_memory(&mut self, dims: [usize; 3], background: f32) -> Result<Field> {
        match self.cells.take() {
            Some(Cells::Field(field)) if field.dims() == dims => Ok(field),
            _ => Field::new(dims, background),
        }
    }

    /// Fills the slab of these layers of a field.
    fn fill_field(&mut self, layers: Range<usize>, background: f32) -> Result<()> {
        let [nx, ny, _] = self.lattice.dims();
        let dims = [nx, ny, layers.len()];
        let start = Instant::now();
        let mut field = self.field_memory(dims, background)?;
        if let Some(nearest) = &mut self.nearest {
            nearest.resize(nx * ny * layers.len(), 0);
        }
        let phase = format!("slab {}/{}", self.made.slabs + 1, self.count());
        let progress = Phase { name: &phase, progress: &self.run };
        let run = Run { progress: &progress, ..self.run };
        let stats = self.prepared.fill_field(layers, &run, &mut field, self.nearest.as_deref_mut())?;
        self.made.stats.add(stats);
        let filled = Instant::now();
        self.digest.add(&field);
        let summary = self.made.field.unwrap_or_default().and(field.summary());
        (self.made.occupied, self.made.field) = (summary.cells, Some(summary));
        self.cells = Some(field.into());
        self.made.filling += filled - start;
        self.made.hashing += filled.elapsed();
        self.made.slabs += 1;
        Ok(())
    }

    /// Fills the slab of these layers, in the memory of the one before.
    fn fill(&mut self, layers: Range<usize>) -> Result<()> {
        if let Some(background) = self.background {
            return self.fill_field(layers, background);
        }
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
        self.digest.add(&*cells);
        self.made.occupied = self.digest.occupied();
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
        Some(self.placed.as_ref().unwrap_or(self.lattice))
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn cell_type(&self) -> CellType<'_> {
        match (&self.legend, self.background) {
            (_, Some(background)) => CellType::Field { background },
            (Some(legend), _) => CellType::Labels(legend),
            _ => CellType::Bits,
        }
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        if self.advance()? { Ok(self.slab()) } else { Ok(None) }
    }

    fn digest(&self) -> Digest {
        self.digest.finish(CellSource::lattice(self))
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
