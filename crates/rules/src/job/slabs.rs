//! The one place that fills grids: all layers at once, or a slab of layers at a time, so that the grid may be larger than
//! memory. Each slab is filled in a pass of its own over the triangles, or out of bricks that one pass made.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::findings::{self, LostFound, LostSearch};
use super::paint::Painter;
use super::parts::{self, LabelledMesh};
use super::voxelizer::{JobLabels, Voxelized, Voxelizer};
use crate::rule::{self, PreparedRule, Rule, Stats, labels};
use crate::run::cover::Covered;
use crate::run::{Plan, Run};
use voxelize_core::error::{Error, Finding, Result};
use voxelize_core::grid::{
    BitGrid, CellArray, CellSource, CellType, Cells, CellsMut, Digest, DigestBuilder, Field,
    FieldSummary, Hash, Label, Labels, Lattice, LayerHash, Legend, Quantity, Record, Slab,
    layer_hashes,
};
use voxelize_core::par::{self, Progress};
use voxelize_formats::Voxels;
use voxelize_kernel::sink::SIDE;
use voxelize_meshes::Mesh;

/// Voxels that are made a slab at a time, as [`CellSource::next`] asks for them; what
/// [`Voxelizer::slabs`](crate::Voxelizer::slabs) gives.
pub struct Slabs<'a> {
    /// Rule, ties, tool and input.
    pub record: Record,
    lattice: &'a Lattice,
    /// Where files say that the cells are.
    placed: Lattice,
    voxelizer: Voxelizer<'a>,
    sources: Vec<Source<'a>>,
    plan: Plan,
    /// The layers that are made: all, or those of a region.
    layers: Range<usize>,
    /// The layer that comes next.
    next: usize,
    /// The hashes of the layers so far, if they are wanted.
    hashes: Option<Vec<Option<LayerHash>>>,
    /// The cells of one slab, whose memory is used again for the next.
    cells: Option<Cells>,
    /// What gives cells their colours, if they are to have some.
    painter: Option<Painter<'a>>,
    /// The legend, if cells are labelled.
    legend: Option<Legend>,
    /// The background, if the rule makes a field.
    background: Option<f32>,
    /// The nearest triangles of the cells of one slab, if they are wanted.
    nearest: Option<Vec<i32>>,
    /// The arrays beside the cells of one slab, and their digests.
    arrays: Vec<CellArray>,
    array_digests: Vec<DigestBuilder>,
    digest: DigestBuilder,
    made: Made,
}

/// A mesh whose cells are made: all of it, or one of its parts.
struct Source<'a> {
    voxelizer: Voxelizer<'a>,
    lattice: &'a Lattice,
    mesh: Cow<'a, Mesh>,
    /// The labels of its cells: one if it is a part, several if it is of parts that are closed only together.
    labels: Vec<Label>,
    /// What tells several labels apart.
    painter: Option<Painter<'a>>,
    /// The rule, if the mesh is borrowed, until its last layer is filled. Otherwise it is prepared for every slab: rules of
    /// many parts at a time may take much memory.
    prepared: Option<PreparedRule<'a>>,
    /// The cells of all slabs, made before the first of [`Plan::Bricks`].
    bricks: Option<Covered>,
    /// The features that the rule loses; `None` until they are looked for.
    lost: Option<LostFound>,
    stats: Stats,
    is_occupied: bool,
}

/// The numbers of the slabs made so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// How many slabs.
    pub slabs: usize,
    /// How many cells of them are occupied.
    pub occupied: u64,
    /// How many cells have each label, in the order of the legend.
    pub labels: Vec<(Label, u64)>,
    /// How many cells of parts have the label of a part before them.
    pub taken: u64,
    /// The same for each pair of labels that share cells, in the order of the legend.
    pub shared: Vec<SharedCells>,
    /// Of a field: how many cells have a value other than the background, and the range of these.
    pub field: Option<FieldSummary>,
    /// The sum of the values of a field, layer by layer, if the rule makes shares of cells.
    pub shares: Option<f64>,
    /// The counts of the rule.
    pub stats: Stats,
    /// How long filling them took.
    pub filling: Duration,
    /// How long counting and digests took.
    pub hashing: Duration,
}

/// Cells that the parts of two labels both occupy, counted without those of a third part that comes before both.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedCells {
    /// The label that the cells have.
    pub first: Label,
    /// The label of the part that comes after.
    pub second: Label,
    /// How many cells.
    pub cells: u64,
}

impl<'a> Slabs<'a> {
    pub(super) fn new(
        voxelizer: &Voxelizer<'a>,
        mesh: &'a Mesh,
        lattice: &'a Lattice,
        plan: Plan,
    ) -> Result<Self> {
        let start = Instant::now();
        let Voxelizer {
            rule, run, extras, ..
        } = voxelizer;
        run.supported_level()?;
        match plan {
            Plan::Slabs(0) | Plan::Bricks(0) => {
                return Err(Error::usage("a slab needs at least one layer"));
            }
            Plan::Bricks(height) if !height.is_multiple_of(SIDE) => {
                return Err(Error::usage(format!(
                    "bricks have {SIDE} layers, {height} cut some of them"
                )));
            }
            Plan::Bricks(_) if !rule.has_bricks() => return Err(rule::no_bricks()),
            _ => {}
        }
        let placed = voxelizer.placed(lattice)?;
        let background = rule.background(&placed);
        let parts = match extras.labels {
            JobLabels::Parts(kind) => {
                parts::parts(mesh, kind, voxelizer.priority, rule.inside().is_some())?
            }
            _ => vec![LabelledMesh {
                mesh: Cow::Borrowed(mesh),
                labels: vec![],
                values: vec![],
            }],
        };
        let painter = match extras.labels {
            JobLabels::Colours => Some(Painter::of_colours(mesh, lattice, rule, run)?),
            _ => None,
        };
        let legend = match extras.labels {
            JobLabels::Parts(_) => Some(parts::legend(&parts)?),
            JobLabels::Colours => painter.as_ref().map(Painter::legend).transpose()?,
            JobLabels::SurfaceAndInterior if rule.has_labels() => {
                Some(Legend::surface_and_interior())
            }
            _ => None,
        };
        let sources = parts
            .into_iter()
            .map(|part| Source::new(voxelizer, part, lattice, plan))
            .collect::<Result<Vec<_>>>()?;
        let Some(first) = sources.first() else {
            return Err(Error::no_triangles());
        };
        let record = voxelizer.about(first.record()?);
        let labels: Vec<_> = legend
            .iter()
            .flat_map(Legend::labels)
            .map(|label| (label.clone(), 0))
            .collect();
        let cell_type = cell_type(&legend, background);
        let digest = DigestBuilder::new(lattice.dims(), cell_type);
        let quantities = extras.quantities;
        let digest_of = |quantity| {
            let dims = CellArray::dims_for(quantity, lattice.dims());
            DigestBuilder::new(dims, CellType::Field { background: 0.0 })
        };
        Ok(Self {
            record,
            lattice,
            placed,
            voxelizer: *voxelizer,
            sources,
            plan,
            layers: 0..lattice.dims()[2],
            next: 0,
            hashes: None,
            cells: None,
            painter,
            legend,
            background,
            nearest: None,
            arrays: quantities.iter().map(CellArray::new).collect(),
            array_digests: quantities.iter().map(digest_of).collect(),
            digest,
            made: Made {
                labels,
                filling: start.elapsed(),
                ..Made::default()
            },
        })
    }

    /// These slabs of a field, with the numbers of the nearest triangles: [`nearest`](Self::nearest) has them.
    /// [`Demand::values`](crate::run::Demand::values) counts them.
    #[must_use]
    pub fn with_nearest(self) -> Self {
        Self {
            nearest: self.background.map(|_| vec![]),
            ..self
        }
    }

    /// Goes on with these layers, as if none had been made before: their hashes are kept. There is no digest of all.
    pub(super) fn begin(&mut self, layers: Range<usize>) {
        let cells = cell_type(&self.legend, self.background);
        self.digest = DigestBuilder::new(self.lattice.dims(), cells);
        let labels = std::mem::take(&mut self.made.labels);
        let labels = labels.into_iter().map(|(label, _)| (label, 0)).collect();
        self.made = Made {
            labels,
            ..Made::default()
        };
        for source in &mut self.sources {
            source.stats = Stats::default();
            source.is_occupied = false;
        }
        self.next = layers.start;
        self.layers = layers;
        self.hashes = Some(vec![]);
    }

    /// The hashes of the layers since [`begin`](Self::begin).
    pub(super) fn layer_hashes(&self) -> &[Option<LayerHash>] {
        self.hashes.as_deref().unwrap_or_default()
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
        if !self.fill_next()? {
            return Ok(false);
        }
        let start = Instant::now();
        let Self {
            voxelizer,
            cells,
            digest,
            hashes,
            made,
            arrays,
            array_digests,
            next,
            ..
        } = self;
        let cells = cells.as_ref().expect("a slab was filled");
        let first = *next - cells.as_ref().dims()[2];
        par::with_threads(voxelizer.run.thread_count(), || {
            let new = layer_hashes(first, cells);
            if let Some(hashes) = hashes {
                hashes.extend(new.iter().cloned());
            }
            digest.put_layers(first, new);
            for (digest, array) in array_digests.iter_mut().zip(&*arrays) {
                array
                    .as_field()
                    .into_iter()
                    .for_each(|field| digest.add(field));
            }
            made.occupied = digest.occupied();
            match cells {
                Cells::Bits(_) => {}
                Cells::Labels(labels) => {
                    let counts = labels.counts();
                    made.labels
                        .iter_mut()
                        .zip(counts)
                        .for_each(|((_, sum), (_, cells))| *sum += cells);
                }
                Cells::Field(field) => {
                    let summary = made.field.unwrap_or_default().and(field.summary());
                    made.occupied = summary.cells;
                    made.field = Some(summary);
                    if matches!(voxelizer.rule, Rule::Fraction { .. }) {
                        let [nx, ny, _] = field.dims();
                        let layers = field.values().chunks(nx * ny).collect();
                        let sums = par::map(layers, |layer: &[f32]| {
                            layer.iter().map(|share| f64::from(*share)).sum::<f64>()
                        });
                        made.shares = Some(
                            sums.iter()
                                .fold(made.shares.unwrap_or(0.0), |all, sum| all + sum),
                        );
                    }
                }
            }
        })?;
        self.made.hashing += start.elapsed();
        Ok(true)
    }

    /// The arrays beside the cells with the digest of each, that of [`CellArray::as_field`] of all layers, to be asked for
    /// after the last slab.
    pub fn digests_of_arrays(&self) -> Vec<(Quantity, Hash)> {
        let digests = self
            .array_digests
            .iter()
            .map(|digest| digest.finish(None).cells);
        self.arrays
            .iter()
            .map(|array| array.quantity)
            .zip(digests)
            .collect()
    }

    /// The slab that was made last; `None` before the first.
    pub fn slab(&self) -> Option<Slab<'_>> {
        let cells = self.cells.as_ref()?.as_ref();
        Some(Slab {
            first: self.next - cells.dims()[2],
            cells,
        })
    }

    /// The numbers of the slabs made so far; after the last, of the whole grid.
    pub fn made(&self) -> Made {
        Made {
            stats: self.stats(),
            ..self.made.clone()
        }
    }

    /// The counts of the rule so far. Of several parts, those that add up.
    pub(super) fn stats(&self) -> Stats {
        match self.sources.as_slice() {
            [only] => only.stats(),
            all => Stats {
                snapped: all.iter().map(|one| one.stats.snapped).sum(),
                ..Stats::default()
            },
        }
    }

    /// The findings about the cells made so far; after the last slab, about the whole grid. Those about a part begin
    /// with its name.
    pub fn findings(&self) -> Vec<Finding> {
        let Voxelizer {
            rule, has_findings, ..
        } = &self.voxelizer;
        let coordinates = &self.voxelizer.coordinates();
        let mut all: Vec<_> = self.painter.iter().filter_map(Painter::finding).collect();
        let is_empty = self.sources.iter().all(|source| !source.is_occupied);
        for source in &self.sources {
            let mesh = &source.mesh;
            let mut found: Vec<_> = source
                .lost
                .iter()
                .flat_map(|lost| lost.skipped.clone())
                .collect();
            if *has_findings {
                found.extend(findings::of_cells(
                    rule,
                    mesh,
                    self.lattice,
                    &source.stats(),
                    is_empty,
                    coordinates,
                ));
            }
            match source.labels.as_slice() {
                [label] => all.extend(found.into_iter().map(|finding| finding.about(&label.name))),
                _ => all.extend(found),
            }
            if *has_findings && source.painter.is_some() {
                all.push(findings::closed_together(&source.labels));
            }
        }
        let is_of_parts = matches!(self.voxelizer.extras.labels, JobLabels::Parts(_));
        if is_of_parts && *has_findings && !is_empty {
            all.extend(findings::parts_without_cells(&self.made.labels));
        }
        all
    }

    /// The slab made last, with the numbers of the nearest triangles and the arrays: after [`Plan::Dense`], all cells.
    pub(super) fn into_voxelized(self) -> (Voxelized, Vec<i32>, Vec<CellArray>) {
        let findings = self.findings();
        let stats = self.stats();
        let cells = self.cells.expect("a slab was filled");
        let voxels = Voxels {
            cells,
            lattice: Some(self.placed),
            record: self.record,
        };
        (
            Voxelized {
                voxels,
                findings,
                stats,
            },
            self.nearest.unwrap_or_default(),
            self.arrays,
        )
    }

    /// How many slabs there will be.
    pub fn count(&self) -> usize {
        self.layers.len().div_ceil(self.height())
    }

    fn height(&self) -> usize {
        match self.plan {
            Plan::Dense => self.lattice.dims()[2],
            Plan::Slabs(height) | Plan::Bricks(height) => height,
        }
    }

    /// Fills the next slab, in the memory of the one before; false after the last.
    pub(super) fn fill_next(&mut self) -> Result<bool> {
        let layers = self.next..self.layers.end.min(self.next.saturating_add(self.height()));
        if layers.is_empty() {
            return Ok(false);
        }
        let start = Instant::now();
        self.next = layers.end;
        let name = format!("slab {}/{}", self.made.slabs + 1, self.count());
        let outer = self.voxelizer.run;
        let progress = Phase {
            name: &name,
            progress: &outer,
        };
        let is_pass = matches!(self.plan, Plan::Slabs(_));
        let run = if is_pass {
            Run {
                progress: &progress,
                ..outer
            }
        } else {
            outer
        };
        let cells = par::with_threads(outer.thread_count(), || self.fill(layers, &run))??;
        self.cells = Some(cells);
        self.made.slabs += 1;
        self.made.filling += start.elapsed();
        Ok(true)
    }

    /// The cells of these layers.
    fn fill(&mut self, layers: Range<usize>, run: &Run) -> Result<Cells> {
        let [nx, ny, _] = self.lattice.dims();
        let dims = [nx, ny, layers.len()];
        let memory = self.cells.take();
        let is_in_bricks = matches!(self.plan, Plan::Bricks(_));
        let first = &mut self.sources[0];
        if let (Some(background), Some(of_file)) = (
            self.background,
            self.voxelizer.rule.background(self.lattice),
        ) {
            let mut field = match memory {
                Some(Cells::Field(field)) if field.dims() == dims => field.with_background(of_file),
                other => {
                    // Both at a time are more than the plan counts.
                    drop(other);
                    Field::new_in_parallel(dims, of_file, run)?
                }
            };
            if let Some(nearest) = &mut self.nearest {
                let cells = dims.iter().product();
                if nearest.is_empty() {
                    // Zero pages of the system, which the search touches first.
                    *nearest = vec![0; cells];
                }
                nearest.resize(cells, 0);
            }
            self.arrays
                .iter_mut()
                .try_for_each(|array| array.resize(dims))?;
            let cells = match self.arrays.is_empty() {
                true => CellsMut::Field(&mut field, self.nearest.as_deref_mut()),
                false => CellsMut::WithArrays(&mut field, &mut self.arrays),
            };
            first.fill(layers, run, cells)?;
            first.is_occupied = first.is_occupied
                || field
                    .values()
                    .iter()
                    .any(|value| !field.is_background(*value));
            self.scale(&mut field, background);
            return Ok(field.with_background(background).into());
        }
        let (mut bits, plane) = grids(memory, dims)?;
        match (self.voxelizer.extras.labels, &self.legend) {
            (JobLabels::Parts(_), Some(legend)) => {
                let mut labels = Labels::new(dims, legend.clone())?;
                for source in &mut self.sources {
                    bits.clear();
                    source.occupy(layers.clone(), is_in_bricks, run, &mut bits)?;
                    let Some(painter) = &source.painter else {
                        let label = &source.labels[0];
                        self.made
                            .take(labels.add(&bits, label.value), label, legend);
                        continue;
                    };
                    let painted = painter.paint(&bits, legend, layers.clone(), run)?;
                    if source.labels.len() == legend.labels().len() {
                        labels = painted;
                        continue;
                    }
                    for label in &source.labels {
                        let cells = painted.cells_of(label.value)?;
                        self.made
                            .take(labels.add(&cells, label.value), label, legend);
                    }
                }
                Ok(labels.into())
            }
            (_, legend) => {
                first.occupy(layers.clone(), is_in_bricks, run, &mut bits)?;
                match legend {
                    None => Ok(bits.into()),
                    Some(legend) if let Some(painter) = &self.painter => {
                        Ok(painter.paint(&bits, legend, layers, run)?.into())
                    }
                    Some(_) => {
                        Ok(
                            labels::of_layers(&first.mesh, self.lattice, layers, bits, plane, run)?
                                .into(),
                        )
                    }
                }
            }
        }
    }
}

impl Made {
    /// Counts cells of a part that have the labels of parts before it, by the place of these in the legend.
    fn take(&mut self, taken: Vec<u64>, label: &Label, legend: &Legend) {
        for (first, cells) in legend
            .labels()
            .iter()
            .zip(taken)
            .filter(|(_, cells)| *cells > 0)
        {
            self.taken += cells;
            let known = self
                .shared
                .iter_mut()
                .find(|pair| pair.first == *first && pair.second == *label);
            match known {
                Some(pair) => pair.cells += cells,
                None => self.shared.push(SharedCells {
                    first: first.clone(),
                    second: label.clone(),
                    cells,
                }),
            }
        }
        self.shared
            .sort_by_key(|pair| (pair.first.value, pair.second.value));
    }
}

impl Slabs<'_> {
    /// Turns lengths and areas from units of the file into those of the grid, each rounded once. `background` is that of the
    /// field in units of the grid.
    fn scale(&mut self, field: &mut Field, background: f32) {
        let scale = self.voxelizer.scale();
        if scale == 1.0 {
            return;
        }
        let times = |by: f64| move |number: f32| (f64::from(number) * by) as f32;
        let of_file = field.background();
        let length = times(scale);
        let area = times(scale * scale);
        match self.voxelizer.rule.unit_power() {
            0 => {}
            // What is within the band stays so.
            1 => each(field.values_mut(), |value| {
                let is_within = value.abs() < of_file;
                let size = if is_within {
                    length(value).abs().min(background.next_down())
                } else {
                    background
                };
                size.copysign(value)
            }),
            _ => each(field.values_mut(), area),
        }
        for array in self
            .arrays
            .iter_mut()
            .filter(|array| array.quantity.is_area())
        {
            each(array.numbers_mut(), area);
        }
    }
}

impl<'a> Source<'a> {
    fn new(
        voxelizer: &Voxelizer<'a>,
        part: LabelledMesh<'a>,
        lattice: &'a Lattice,
        plan: Plan,
    ) -> Result<Self> {
        let Voxelizer {
            rule, run, extras, ..
        } = voxelizer;
        let LabelledMesh {
            mesh,
            labels,
            values,
        } = part;
        let painter = match extras.labels {
            JobLabels::Parts(kind) if labels.len() > 1 => {
                Some(Painter::of_parts(&mesh, lattice, rule, run, kind, values)?)
            }
            _ => None,
        };
        let search = LostSearch {
            mesh: &mesh,
            lattice,
            rule,
            run,
        };
        // To look into the mesh for what is not needed takes longer than to fill a small grid.
        let lost = match voxelizer.has_findings && search.is_needed() {
            true if plan == Plan::Dense && search.fits_with_grid() => None,
            true => Some(search.find(None)?),
            false => Some(LostFound::default()),
        };
        let prepared = match &mesh {
            Cow::Borrowed(mesh) => Some(par::with_threads(run.thread_count(), || {
                rule.prepare(mesh, lattice, run)
            })??),
            Cow::Owned(_) => None,
        };
        Ok(Self {
            voxelizer: *voxelizer,
            lattice,
            mesh,
            labels,
            painter,
            prepared,
            bricks: None,
            lost,
            stats: Stats::default(),
            is_occupied: false,
        })
    }

    /// The record of its cells.
    fn record(&self) -> Result<Record> {
        let Voxelizer { rule, run, .. } = &self.voxelizer;
        match &self.prepared {
            Some(prepared) => Ok(prepared.record()),
            None => par::with_threads(run.thread_count(), || {
                Ok(rule.prepare(&self.mesh, self.lattice, run)?.record())
            })?,
        }
    }

    /// Fills the cells of these layers.
    fn fill(&mut self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<()> {
        let is_last = layers.end == self.lattice.dims()[2];
        let stats = match &self.prepared {
            Some(prepared) => prepared.fill(layers, run, cells)?,
            None => self
                .voxelizer
                .rule
                .prepare(&self.mesh, self.lattice, run)?
                .fill(layers, run, cells)?,
        };
        self.stats.add(stats);
        if is_last {
            self.prepared = None;
        }
        Ok(())
    }

    /// Occupies the cells of these layers in a grid that is empty.
    fn occupy(
        &mut self,
        layers: Range<usize>,
        is_in_bricks: bool,
        run: &Run,
        bits: &mut BitGrid,
    ) -> Result<()> {
        if let (true, None, Some(prepared)) = (is_in_bricks, &self.bricks, &self.prepared) {
            let covered = prepared.keep(run)?;
            self.stats.snapped = covered.snapped();
            self.bricks = Some(covered);
            self.prepared = None;
        }
        run.check()?;
        match &self.bricks {
            Some(covered) => covered.fill_noted(layers.start, bits),
            None => self.fill(layers, run, bits.into())?,
        }
        self.is_occupied = self.is_occupied || bits.words().iter().any(|word| *word != 0);
        if self.lost.is_none() {
            let rule = &self.voxelizer.rule;
            let search = LostSearch {
                mesh: &self.mesh,
                lattice: self.lattice,
                rule,
                run,
            };
            // What negative volumes take away is not lost.
            let solid = Some(&*bits).filter(|_| self.mesh.cuts().is_none());
            self.lost = Some(search.find(solid)?);
        }
        Ok(())
    }

    /// The counts of the rule, with the features that it loses.
    fn stats(&self) -> Stats {
        let lost = self
            .stats
            .lost
            .or(self.lost.as_ref().and_then(|found| found.lost));
        Stats {
            lost,
            ..self.stats.clone()
        }
    }
}

/// Two grids of these dims out of the memory of the slab before, if there was one: an empty one for bits, and perhaps one
/// for a plane of labels.
fn grids(memory: Option<Cells>, dims: [usize; 3]) -> Result<(BitGrid, Option<BitGrid>)> {
    let (mut bits, plane) = match memory {
        None => return Ok((BitGrid::new(dims)?, None)),
        Some(Cells::Labels(labels)) => {
            let (bits, planes) = labels.into_planes();
            (bits, planes.into_iter().next())
        }
        Some(other) => (other.into_occupied()?, None),
    };
    if bits.dims() == dims {
        bits.clear();
    } else {
        bits.reshape(dims)?;
    }
    Ok((bits, plane))
}

/// Replaces each number.
fn each(numbers: &mut [f32], by: impl Fn(f32) -> f32 + Sync) {
    par::map(
        numbers.chunks_mut(1 << 16).collect(),
        |numbers: &mut [f32]| {
            numbers.iter_mut().for_each(|number| *number = by(*number));
        },
    );
}

/// The type of cells with this legend, or this background.
fn cell_type(legend: &Option<Legend>, background: Option<f32>) -> CellType<'_> {
    match (legend, background) {
        (_, Some(background)) => CellType::Field { background },
        (Some(legend), _) => CellType::Labels(legend),
        _ => CellType::Bits,
    }
}

impl CellSource for Slabs<'_> {
    fn dims(&self) -> [usize; 3] {
        self.lattice.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        Some(&self.placed)
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn cell_type(&self) -> CellType<'_> {
        cell_type(&self.legend, self.background)
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        if self.advance()? {
            Ok(self.slab())
        } else {
            Ok(None)
        }
    }

    fn digest(&self) -> Digest {
        self.digest.finish(CellSource::lattice(self))
    }

    fn arrays(&self) -> &[CellArray] {
        &self.arrays
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_is_looked_into_only_by_rules_that_mind_how_far_it_is_closed() {
        for (rule, is_looked_into) in [
            (Rule::surface(), false),
            (Rule::Thin, false),
            (Rule::solid(), true),
        ] {
            let mesh = Mesh::open("../../fixtures/knot.stl").unwrap();
            let lattice = Lattice::fit(mesh.bounds(), 16).unwrap();
            Voxelizer::new(rule)
                .memory(1 << 30)
                .run(&mesh, &lattice)
                .unwrap();
            assert_eq!(mesh.has_sums(), is_looked_into, "{}", rule.name());
        }
    }
}
