//! Makes the cells of all jobs: all layers at once, or one slab of layers at a time, so that the grid may be
//! larger than memory. Each slab is made in a separate pass over the triangles, or from bricks that a single
//! pass made.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::drain::{DrainHole, PreparedDrain};
use super::findings::{self, LostFound, LostSearch};
use super::label_fields::{LabelFieldSum, LabelFields, SharedShares};
use super::paint::{PaintedParts, Painter};
use super::part_colours::PartColours;
use super::parts::{self, LabelledMesh};
use super::voxelizer::{JobLabels, Voxelized, Voxelizer};
use crate::rule::{self, PreparedRule, Rule, Stats, labels};
use crate::run::cover::Covered;
use crate::run::walls::WallGauge;
use crate::run::{Plan, Run, WallThickness};
use voxelize_core::error::{Error, Finding, Result};
use voxelize_core::grid::{
    ArrayContent, BitGrid, CellArray, CellSource, CellType, Cells, CellsMut, Digest, DigestBuilder,
    Field, FieldSummary, Hash, Label, Labels, Lattice, LayerHash, Legend, Quantity, Record, Slab,
    layer_hashes,
};
use voxelize_core::par::{self, Progress};
use voxelize_formats::Voxels;
use voxelize_kernel::sink::SIDE;
use voxelize_meshes::Mesh;

/// Source of cells that makes one slab at a time, when [`CellSource::next`] requests it. Created by
/// [`Voxelizer::slabs`](crate::Voxelizer::slabs).
pub struct Slabs<'a> {
    /// Record of the cells, with the tool, the rule, its options and the input.
    pub record: Record,
    lattice: &'a Lattice,
    /// Lattice that is written to files.
    placed: Lattice,
    voxelizer: Voxelizer<'a>,
    sources: Vec<Source<'a>>,
    plan: Plan,
    /// Layers to make: all layers, or the layers of a region.
    layers: Range<usize>,
    /// First layer of the next slab.
    next: usize,
    /// Hashes of the finished layers. `None` if they were not requested.
    hashes: Option<Vec<Option<LayerHash>>>,
    /// Cells of one slab. Their memory is reused for the next slab.
    cells: Option<Cells>,
    /// Painter that labels cells by colour. `None` if colours were not requested.
    painter: Option<Painter<'a>>,
    /// Labels of the colours of parts. `None` if these were not requested.
    part_colours: Option<Arc<PartColours>>,
    /// Legend of the labels. `None` if cells are not labelled.
    legend: Option<Legend>,
    /// Background value of the field. `None` if the rule makes bits.
    background: Option<f32>,
    /// Numbers of the triangles nearest to the cells of one slab. `None` if they were not requested.
    nearest: Option<Vec<i32>>,
    /// Additional arrays for the cells of one slab: the quantities, then the fields of labels.
    arrays: Vec<CellArray>,
    /// Parts that have fields of their own. `None` if no part has one.
    label_fields: Option<LabelFields<'a>>,
    /// Digest of each additional array.
    array_digests: Vec<DigestBuilder>,
    /// Drain holes of a hollow part.
    drains: Vec<PreparedDrain>,
    digest: DigestBuilder,
    made: Made,
}

/// Mesh that is voxelized as a unit: the whole mesh, one of its parts, or parts that are closed only
/// together.
struct Source<'a> {
    voxelizer: Voxelizer<'a>,
    lattice: &'a Lattice,
    mesh: Cow<'a, Mesh>,
    /// Labels of the cells. A single part has one label. Parts that are closed only together have several.
    labels: Vec<Label>,
    /// Painter that chooses among several labels. `None` if there is at most one label, and if cells are
    /// labelled by the colours of parts.
    painter: Option<Painter<'a>>,
    /// Labels of the colours of parts, and the parts of this mesh. `None` if these were not requested.
    part_colours: Option<(Arc<PartColours>, PaintedParts)>,
    /// Rule that was prepared for a borrowed mesh. It is dropped after the last layer. For an owned mesh the
    /// rule is prepared anew for every slab, because the prepared rules of many parts together may need much
    /// memory.
    prepared: Option<PreparedRule<'a>>,
    /// Cells of all slabs, for [`Plan::Bricks`]. They are made before the first slab.
    bricks: Option<Covered>,
    /// Measurement of the wall. `None` if it was not requested.
    gauge: Option<WallGauge>,
    /// Features that the rule loses. `None` until the search has been made.
    lost: Option<LostFound>,
    stats: Stats,
    is_occupied: bool,
}

/// Counts over the slabs that were made so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// Number of slabs that were made.
    pub slabs: usize,
    /// Number of occupied cells.
    pub occupied: u64,
    /// Number of cells with each label, in the order of the legend.
    pub labels: Vec<(Label, u64)>,
    /// Number of cells that several parts occupy. Such a cell has the label of the first of these parts.
    pub taken: u64,
    /// Number of cells that both parts of a pair occupy, for each pair of labels in the order of the legend.
    pub shared: Vec<SharedCells>,
    /// Number and range of the values of a field that differ from the background. `None` if the cells are not
    /// a field.
    pub field: Option<FieldSummary>,
    /// Sum of all shares, added layer by layer. `None` unless the cells are shares of volume.
    pub shares: Option<f64>,
    /// Thickness of the wall of a hollow part. `None` if it was not measured.
    pub walls: Option<WallThickness>,
    /// Drain holes.
    pub drains: Vec<DrainHole>,
    /// Values of the field of each label, in the order of the labels. Empty if the labels have no fields.
    pub label_values: Vec<LabelFieldSum>,
    /// Cells in which parts overlap. `None` if the parts have no shares.
    pub shared_shares: Option<SharedShares>,
    /// Counts and findings of the rule.
    pub stats: Stats,
    /// Time for making the cells.
    pub filling: Duration,
    /// Time for counting cells and computing digests.
    pub hashing: Duration,
}

/// Number of cells that two parts both occupy. Cells that a part before both of them also occupies are not
/// counted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedCells {
    /// Label of the earlier part, which the cells have.
    pub first: Label,
    /// Label of the later part.
    pub second: Label,
    /// Number of cells that both parts occupy.
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
        voxelizer.refuse_other_labels()?;
        let placed = voxelizer.placed(lattice)?;
        let background = rule.background(&placed);
        let label_fields = match voxelizer.label_fields() {
            Some(kind) => Some(LabelFields::new(mesh, kind, rule)?),
            None => None,
        };
        let parts = match extras.labels.part_kind() {
            Some(kind) if label_fields.is_none() => {
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
        let part_colours = match extras.labels {
            JobLabels::PartColours(kind) => {
                Some(Arc::new(PartColours::new(mesh, kind, &parts, lattice)?))
            }
            _ => None,
        };
        let legend = match extras.labels {
            JobLabels::PartColours(_) => match &part_colours {
                Some(colours) => Some(colours.legend()?),
                None => None,
            },
            JobLabels::Parts(_) if label_fields.is_none() => Some(parts::legend(&parts)?),
            JobLabels::Colours => match &painter {
                Some(painter) => Some(painter.legend()?),
                None => None,
            },
            JobLabels::SurfaceAndInterior if rule.has_labels() => {
                Some(Legend::surface_and_interior())
            }
            _ => None,
        };
        let sources = parts
            .into_iter()
            .map(|part| Source::new(voxelizer, part, lattice, plan, part_colours.clone()))
            .collect::<Result<Vec<_>>>()?;
        let Some(first) = sources.first() else {
            return Err(Error::no_triangles());
        };
        let drains = first.drains(run)?;
        let record = voxelizer.about(first.record()?);
        let labels: Vec<_> = legend
            .iter()
            .flat_map(Legend::labels)
            .map(|label| (label.clone(), 0))
            .collect();
        let cell_type = cell_type(&legend, background);
        let digest = DigestBuilder::new(lattice.dims(), cell_type);
        let mut contents: Vec<_> = extras.quantities.iter().map(ArrayContent::from).collect();
        for label in label_fields.iter().flat_map(LabelFields::labels) {
            contents.push(label.clone().into());
        }
        let mut array_digests = vec![];
        for content in &contents {
            let dims = CellArray::dims_for(content, lattice.dims());
            array_digests.push(DigestBuilder::new(
                dims,
                CellType::Field { background: 0.0 },
            ));
        }
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
            part_colours,
            legend,
            background,
            nearest: None,
            arrays: contents.into_iter().map(CellArray::new).collect(),
            label_fields,
            array_digests,
            drains,
            digest,
            made: Made {
                labels,
                filling: start.elapsed(),
                ..Made::default()
            },
        })
    }

    /// Requests the numbers of the nearest triangles if the rule makes a field. [`nearest`](Self::nearest)
    /// returns them, and [`Demand::values`](crate::run::Demand::values) must include their memory.
    #[must_use]
    pub fn with_nearest(self) -> Self {
        Self {
            nearest: self.background.map(|_| vec![]),
            ..self
        }
    }

    /// Starts anew with these layers: resets all counts. The hashes of these layers are recorded. The digest
    /// of the whole grid is not available afterwards.
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

    /// Returns the hashes of the layers that were made since the call of [`begin`](Self::begin).
    pub(super) fn layer_hashes(&self) -> &[Option<LayerHash>] {
        self.hashes.as_deref().unwrap_or_default()
    }

    /// Returns the number of the triangle nearest to each cell of the last slab, with x fastest. Among
    /// equally near triangles it is the least number. Cells with the background value have −1. The result is
    /// empty if the numbers were not requested, or if the rule makes bits.
    pub fn nearest(&self) -> &[i32] {
        self.nearest.as_deref().unwrap_or_default()
    }

    /// Makes the next slab. Returns false after the last slab.
    ///
    /// # Errors
    /// Fails if memory does not suffice, or if the run was cancelled.
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
            label_fields,
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
                if let Some(field) = array.as_field() {
                    digest.add(field);
                }
            }
            made.occupied = digest.occupied();
            match cells {
                Cells::Bits(_) => {}
                Cells::Labels(labels) => {
                    let counts = labels.counts();
                    for ((_, sum), (_, cells)) in made.labels.iter_mut().zip(counts) {
                        *sum += cells;
                    }
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
                        let mut shares = made.shares.unwrap_or(0.0);
                        for sum in sums {
                            shares += sum;
                        }
                        made.shares = Some(shares);
                    }
                    if let Some(labels) = label_fields {
                        let quantities = voxelizer.extras.quantities.iter().count();
                        labels.add(field, &arrays[quantities..]);
                        made.label_values = labels.values.clone();
                        made.shared_shares = labels.shared;
                    }
                }
            }
        })?;
        self.made.hashing += start.elapsed();
        Ok(true)
    }

    /// Returns the additional quantities, each with the digest of its array over all layers. The digest is
    /// that of [`CellArray::as_field`]. It is valid only after the last slab.
    pub fn digests_of_arrays(&self) -> Vec<(Quantity, Hash)> {
        let mut digests = vec![];
        for (array, digest) in self.arrays.iter().zip(&self.array_digests) {
            if let Some(quantity) = array.content.quantity() {
                digests.push((quantity, digest.finish(None).cells));
            }
        }
        digests
    }

    /// Returns the digests of the fields of labels, in the order of the labels. Each equals the digest of the
    /// cells that the part has as a separate mesh. They are valid only after the last slab.
    pub fn digests_of_labels(&self) -> Vec<Hash> {
        let mut digests = vec![];
        for (array, digest) in self.arrays.iter().zip(&self.array_digests) {
            if array.content.label().is_some() {
                digests.push(digest.finish(None).cells);
            }
        }
        digests
    }

    /// Returns the slab that was made last. `None` before the first slab.
    pub fn slab(&self) -> Option<Slab<'_>> {
        let cells = self.cells.as_ref()?.as_ref();
        Some(Slab {
            first: self.next - cells.dims()[2],
            cells,
        })
    }

    /// Returns the counts over the slabs made so far. After the last slab they are the counts of the whole
    /// grid.
    pub fn made(&self) -> Made {
        let coordinates = self.voxelizer.coordinates();
        let gauge = self.sources.first().and_then(|first| first.gauge.as_ref());
        Made {
            walls: gauge.map(|gauge| gauge.thickness(self.voxelizer.scale())),
            drains: self
                .drains
                .iter()
                .map(|drain| drain.hole(&coordinates))
                .collect(),
            stats: self.stats(),
            ..self.made.clone()
        }
    }

    /// Returns the counts and findings of the rule so far. If there are several parts, it has only the number
    /// of snapped coordinates, which is summed over the parts.
    pub(super) fn stats(&self) -> Stats {
        match self.sources.as_slice() {
            [only] => only.stats(),
            all => Stats {
                snapped: all.iter().map(|one| one.stats.snapped).sum(),
                ..Stats::default()
            },
        }
    }

    /// Returns the findings about the cells made so far. After the last slab they are the findings about the
    /// whole grid. A finding about a part begins with the part's name.
    pub fn findings(&self) -> Vec<Finding> {
        let Voxelizer {
            rule, has_findings, ..
        } = &self.voxelizer;
        let coordinates = &self.voxelizer.coordinates();
        let mut all: Vec<_> = self.painter.iter().filter_map(Painter::finding).collect();
        if let Some(colours) = &self.part_colours {
            all.extend(colours.finding());
        }
        let is_empty = self.sources.iter().all(|source| !source.is_occupied);
        for source in &self.sources {
            let mesh = &source.mesh;
            let mut found: Vec<_> = source
                .lost
                .iter()
                .flat_map(|lost| lost.skipped.clone())
                .collect();
            if *has_findings {
                let mut stats = source.stats();
                // Each part keeps its own share, and the shared cells are counted.
                if let Some(labels) = &self.label_fields
                    && !labels.has_odd_part
                {
                    stats.fraction.forget_overlaps();
                }
                found.extend(findings::of_cells(
                    rule,
                    mesh,
                    self.lattice,
                    &stats,
                    is_empty,
                    coordinates,
                ));
            }
            match source.labels.as_slice() {
                [label] => all.extend(found.into_iter().map(|finding| finding.about(&label.name))),
                _ => all.extend(found),
            }
            if *has_findings && source.labels.len() > 1 {
                all.push(findings::filled_together(&source.labels, mesh.closedness()));
            }
        }
        let is_of_parts = self.voxelizer.extras.labels.part_kind().is_some();
        if is_of_parts && *has_findings && !is_empty {
            let found = match &self.part_colours {
                Some(colours) => findings::parts_without_cells(&colours.totals(&self.made.labels)),
                None => findings::parts_without_cells(&self.made.labels),
            };
            all.extend(found);
            // Without `advance` the values are not known.
            let labels = self
                .label_fields
                .iter()
                .filter(|_| self.made.field.is_some());
            all.extend(labels.filter_map(|labels| labels.finding(rule)));
        }
        all
    }

    /// Returns the last slab, the numbers of the nearest triangles, and the additional arrays. With
    /// [`Plan::Dense`] the slab has all cells.
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

    /// Returns the number of slabs into which the layers are divided.
    pub fn count(&self) -> usize {
        self.layers.len().div_ceil(self.height())
    }

    fn height(&self) -> usize {
        match self.plan {
            Plan::Dense => self.lattice.dims()[2],
            Plan::Slabs(height) | Plan::Bricks(height) => height,
        }
    }

    /// Makes the next slab in the memory of the previous one, without counting its cells. Returns false after
    /// the last slab.
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

    /// Makes the cells of these layers.
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
                    // The old field is dropped first, because both fields together would exceed the memory
                    // plan.
                    drop(other);
                    Field::new_in_parallel(dims, of_file, run)?
                }
            };
            if let Some(nearest) = &mut self.nearest {
                let cells = dims.iter().product();
                if nearest.is_empty() {
                    // Zeroed memory comes from the system without being touched here. The threads of the
                    // search then touch it first.
                    *nearest = vec![0; cells];
                }
                nearest.resize(cells, 0);
            }
            for array in &mut self.arrays {
                array.resize(dims)?;
            }
            let quantities = self.voxelizer.extras.quantities.iter().count();
            let (quantities, of_labels) = self.arrays.split_at_mut(quantities);
            let cells = if quantities.is_empty() {
                CellsMut::Field(&mut field, self.nearest.as_deref_mut())
            } else {
                CellsMut::WithArrays(&mut field, quantities)
            };
            first.fill(layers.clone(), run, cells)?;
            if let Some(labels) = &mut self.label_fields {
                let rule = &self.voxelizer.rule;
                labels.fill(&layers, (self.lattice, rule), run, of_labels)?;
            }
            // Signed distances have the negative background far inside.
            first.is_occupied = first.is_occupied
                || field
                    .values()
                    .iter()
                    .any(|value| !field.is_background(value.abs()));
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
            (JobLabels::PartColours(_), Some(legend)) => {
                let mut labels = Labels::new(dims, legend.clone())?;
                for source in &mut self.sources {
                    bits.clear();
                    source.occupy(layers.clone(), is_in_bricks, run, &mut bits)?;
                    let Some([low, high]) = bits.occupied_box() else {
                        continue;
                    };
                    let cells = [0, 1, 2].map(|axis| low[axis]..high[axis] + 1);
                    let painted = source.paint_colours(&bits, &cells, legend, layers.start, run)?;
                    let taken = add_painted(&mut labels, &painted, &cells);
                    self.made
                        .take_from_parts(&taken, self.part_colours.as_deref());
                }
                Ok(labels.into())
            }
            (_, legend) => {
                first.occupy(layers.clone(), is_in_bricks, run, &mut bits)?;
                for drain in &mut self.drains {
                    drain.carve(self.lattice, layers.start, &mut bits);
                }
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
    /// Counts the cells of the part `label` that earlier parts already occupy. `taken` has the number of such
    /// cells for each label of the legend.
    fn take(&mut self, taken: Vec<u64>, label: &Label, legend: &Legend) {
        for (first, cells) in legend.labels().iter().zip(taken) {
            if cells > 0 {
                self.share(first, label, cells);
            }
        }
    }

    /// Counts the cells that the colours of earlier parts already occupy. `taken` has their number for each
    /// pair of values: of the earlier part, and of the later part.
    fn take_from_parts(&mut self, taken: &BTreeMap<[u8; 2], u64>, colours: Option<&PartColours>) {
        for (values, cells) in taken {
            let parts = values.map(|value| colours.and_then(|colours| colours.part(value)));
            if let [Some(first), Some(second)] = parts {
                self.share(first, second, *cells);
            }
        }
    }

    /// Adds cells that have the label of the part `first` although the part `second` occupies them as well.
    fn share(&mut self, first: &Label, second: &Label, cells: u64) {
        self.taken += cells;
        let known = self
            .shared
            .iter_mut()
            .find(|pair| pair.first == *first && pair.second == *second);
        match known {
            Some(pair) => pair.cells += cells,
            None => self.shared.push(SharedCells {
                first: first.clone(),
                second: second.clone(),
                cells,
            }),
        }
        self.shared
            .sort_by_key(|pair| (pair.first.value, pair.second.value));
    }
}

impl Slabs<'_> {
    /// Converts lengths and areas from the unit of the file to the unit of the grid. Each value is rounded
    /// only once. `background` is the background of the field in the unit of the grid.
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
            // A value that is within the band must stay within the band after rounding.
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
        let are_areas = self.voxelizer.rule.unit_power() == 2;
        for array in &mut self.arrays {
            let is_area = match array.content.quantity() {
                Some(quantity) => quantity.is_area(),
                None => are_areas,
            };
            if is_area {
                each(array.numbers_mut(), area);
            }
        }
    }
}

impl<'a> Source<'a> {
    fn new(
        voxelizer: &Voxelizer<'a>,
        part: LabelledMesh<'a>,
        lattice: &'a Lattice,
        plan: Plan,
        colours: Option<Arc<PartColours>>,
    ) -> Result<Self> {
        let Voxelizer {
            rule, run, extras, ..
        } = voxelizer;
        let LabelledMesh {
            mesh,
            labels,
            values,
        } = part;
        let mut part_colours = None;
        let painter = match extras.labels {
            JobLabels::Parts(kind) if labels.len() > 1 => {
                Some(Painter::of_parts(&mesh, lattice, rule, run, kind, values)?)
            }
            JobLabels::PartColours(kind) => {
                let painted = match labels.as_slice() {
                    [label] => PaintedParts::One(label.value),
                    _ => PaintedParts::Several(kind, values),
                };
                part_colours = colours.map(|colours| (colours, painted));
                None
            }
            _ => None,
        };
        let search = LostSearch {
            mesh: &mesh,
            lattice,
            rule,
            run,
        };
        // The search takes longer than making a small grid, so it is skipped if it is not needed.
        let lost = if !voxelizer.has_findings || !search.is_needed() {
            Some(LostFound::default())
        } else if plan == Plan::Dense && search.fits_with_grid() {
            None
        } else {
            Some(search.find(None)?)
        };
        let prepared = match &mesh {
            Cow::Borrowed(mesh) => Some(par::with_threads(run.thread_count(), || {
                rule.prepare(mesh, lattice, run)
            })??),
            Cow::Owned(_) => None,
        };
        let gauge = if voxelizer.measures_walls() && mesh.cuts().is_none() {
            Some(par::with_threads(run.thread_count(), || {
                WallGauge::new(&mesh, lattice, run)
            })??)
        } else {
            None
        };
        Ok(Self {
            voxelizer: *voxelizer,
            lattice,
            mesh,
            labels,
            painter,
            part_colours,
            prepared,
            bricks: None,
            gauge,
            lost,
            stats: Stats::default(),
            is_occupied: false,
        })
    }

    /// Returns the record that describes how the cells are made.
    fn record(&self) -> Result<Record> {
        let Voxelizer { rule, run, .. } = &self.voxelizer;
        match &self.prepared {
            Some(prepared) => Ok(prepared.record()),
            None => par::with_threads(run.thread_count(), || {
                Ok(rule.prepare(&self.mesh, self.lattice, run)?.record())
            })?,
        }
    }

    /// Finds the ends of the drain holes.
    fn drains(&self, run: &Run) -> Result<Vec<PreparedDrain>> {
        let Voxelizer { drains, .. } = self.voxelizer;
        let mut found = vec![];
        if drains.is_empty() {
            return Ok(found);
        }
        let prepared = self.prepared.as_ref().ok_or_else(|| {
            Error::usage("drain: labelled parts have no drain holes")
                .with_hint("leave out the labels, or choose one part")
        })?;
        if self.mesh.cuts().is_some() {
            return Err(
                Error::unfit("drain: a mesh with negative volumes has no drain holes")
                    .with_hint("subtract the negative volumes in a slicer or a CAD program first"),
            );
        }
        let coordinates = self.voxelizer.coordinates();
        par::with_threads(run.thread_count(), || {
            for drain in drains {
                let drain = PreparedDrain::new(drain, prepared, self.lattice, &coordinates, run)?;
                found.push(drain);
            }
            Ok(found)
        })?
    }

    /// Fills these layers of a hollow part, and measures its wall.
    fn fill_and_measure(
        &mut self,
        layers: Range<usize>,
        run: &Run,
        bits: &mut BitGrid,
    ) -> Result<()> {
        let (Some(gauge), Some(prepared)) = (&mut self.gauge, &self.prepared) else {
            return self.fill(layers, run, bits.into());
        };
        let mut cavity = BitGrid::new(bits.dims())?;
        let stats = prepared.hollow(layers.clone(), run, bits, &mut cavity)?;
        gauge.measure(layers.start, bits, &cavity, run)?;
        self.stats.add(stats);
        if layers.end == self.lattice.dims()[2] {
            self.prepared = None;
        }
        Ok(())
    }

    /// Fills these layers with the rule.
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

    /// Occupies the cells of these layers in the empty grid `bits`.
    fn occupy(
        &mut self,
        layers: Range<usize>,
        is_in_bricks: bool,
        run: &Run,
        bits: &mut BitGrid,
    ) -> Result<()> {
        if is_in_bricks
            && self.bricks.is_none()
            && let Some(prepared) = self.prepared.take()
        {
            let covered = prepared.keep(run)?;
            self.stats.snapped = covered.snapped();
            self.bricks = Some(covered);
        }
        run.check()?;
        match &self.bricks {
            Some(covered) => covered.fill_noted(layers.start, bits),
            None => self.fill_and_measure(layers, run, bits)?,
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
            // With negative volumes or a wall, the search makes its own solid cells, because the cells that were
            // removed would look lost.
            let is_solid = self.mesh.cuts().is_none() && rule.wall().is_none();
            let solid = Some(&*bits).filter(|_| is_solid);
            self.lost = Some(search.find(solid)?);
        }
        Ok(())
    }

    /// Labels the occupied cells within a box of a slab by the colours of their parts. `first` is the first
    /// layer of the slab. The painter is made for one slab at a time, because the painters of many parts
    /// together may need much memory.
    fn paint_colours(
        &self,
        bits: &BitGrid,
        cells: &[Range<usize>; 3],
        legend: &Legend,
        first: usize,
        run: &Run,
    ) -> Result<Labels> {
        let dims = cells.each_ref().map(|cells| cells.len());
        let Some(colours) = self.part_colours.clone() else {
            return Labels::new(dims, legend.clone());
        };
        let [x, y, z] = cells.clone();
        let region = [x, y, first + z.start..first + z.end];
        let lattice = self.lattice.region(region)?;
        let mut own = BitGrid::new(dims)?;
        for cell in bits.iter() {
            own.set([0, 1, 2].map(|axis| cell[axis] - cells[axis].start));
        }
        let rule = &self.voxelizer.rule;
        let painter = Painter::of_part_colours(&self.mesh, &lattice, rule, run, colours)?;
        painter.paint(&own, legend, 0..dims[2], run)
    }

    /// Returns the counts and findings of the rule, including the features that it loses.
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

/// Returns an empty grid of these dims. Both results reuse the memory of the previous slab. If the slab had
/// labels, the second result is a grid whose memory may be reused for a plane of labels.
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

/// Sets the labels of `painted` in cells of `labels` that are still empty. Cells with a label keep it. Returns
/// the number of these for each pair of values: the value of `labels`, and that of `painted`. `cells` are the
/// ranges of `labels` that `painted` covers.
fn add_painted(
    labels: &mut Labels,
    painted: &Labels,
    cells: &[Range<usize>; 3],
) -> BTreeMap<[u8; 2], u64> {
    let mut taken = BTreeMap::new();
    let [nx, ny, nz] = painted.dims();
    let mut row = vec![0; nx];
    for (j, k) in (0..nz).flat_map(|k| (0..ny).map(move |j| (j, k))) {
        if painted.occupied().row(j, k).iter().all(|word| *word == 0) {
            continue;
        }
        painted.row(j, k, &mut row);
        for (i, value) in row.iter().enumerate() {
            if *value == 0 {
                continue;
            }
            let cell = [0, 1, 2].map(|axis| cells[axis].start + [i, j, k][axis]);
            match labels.get(cell) {
                0 => labels.set(cell, *value),
                first => *taken.entry([first, *value]).or_insert(0) += 1,
            }
        }
    }
    taken
}

/// Replaces each number by the result of `by`, with several threads.
fn each(numbers: &mut [f32], by: impl Fn(f32) -> f32 + Sync) {
    par::map(
        numbers.chunks_mut(1 << 16).collect(),
        |numbers: &mut [f32]| {
            for number in numbers {
                *number = by(*number);
            }
        },
    );
}

/// Returns the type of cells that have this legend or background.
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

/// Progress listener that replaces the name of a phase.
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
    fn only_rules_that_depend_on_closedness_examine_the_mesh() {
        for (rule, is_examined) in [
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
            assert_eq!(mesh.has_sums(), is_examined, "{}", rule.name());
        }
    }
}
