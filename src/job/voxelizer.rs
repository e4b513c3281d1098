//! A rule with everything that says how it runs, and what comes of it.

use std::time::Instant;

use super::findings::{self, LostFound, LostSearch};
use super::plan::{Extras, JobLabels, MemoryBudget, MemoryLimit};
use super::slabs::Slabs;
use super::transform::Transform;
use crate::error::{Error, Finding, Result};
use crate::grid::{BitGrid, CellKind, Cells, Field, Lattice, Record, Voxels};
use crate::kernel::Level;
use crate::mesh::Mesh;
use crate::mesh::read::Tolerance;
use crate::par::{self, CancelToken, Progress};
use crate::rule::{self, Rule, Stats};
use crate::run::{Demand, Plan, Run};

/// Fills cells by a rule; options chain.
///
/// ```
/// use voxelize::{Inside, Lattice, Mesh, Rule, Voxelizer};
///
/// let mesh = Mesh::open("fixtures/knot.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 128)?;
/// let rule = Rule::filled().with_inside(Inside::Robust)?;
/// let result = Voxelizer::new(rule).threads(2).memory(1 << 30).run(&mesh, &lattice)?;
/// result.findings.iter().for_each(|finding| eprintln!("{finding}"));
/// println!("{} voxels, {} coordinates snapped", result.voxels.count(), result.stats.snapped);
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Voxelizer<'a> {
    pub(super) rule: Rule,
    pub(super) run: Run<'a>,
    pub(super) budget: MemoryBudget,
    pub(super) extras: Extras,
    transform: Option<&'a Transform>,
    input: Option<&'a str>,
    has_findings: bool,
}

/// Cells, and what was noted while they were filled.
struct Filled {
    cells: Cells,
    record: Record,
    stats: Stats,
    is_empty: bool,
}

/// Voxels, and what was found while they were made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxelized {
    /// The cells, where they are, and how they came about.
    pub voxels: Voxels,
    /// Warnings and notes about the result: what it may lack, and what to do about it.
    pub findings: Vec<Finding>,
    /// The findings in numbers.
    pub stats: Stats,
}

impl<'a> Voxelizer<'a> {
    /// By this rule, with all threads and the best level of the machine, silent, without a limit of memory.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            run: Run::default(),
            budget: MemoryBudget::default(),
            extras: Extras::default(),
            transform: None,
            input: None,
            has_findings: true,
        }
    }

    /// Run in this way.
    #[must_use]
    pub fn with_run(self, run: Run<'a>) -> Self {
        let limit = run.max_memory.map_or(MemoryLimit::Unknown, MemoryLimit::Requested);
        Self { run, budget: MemoryBudget { limit, program: 0 }, ..self }
    }

    /// With so many threads; 0 for all the system offers.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { run: self.run.threads(threads), ..self }
    }

    /// With this instruction set.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self { run: self.run.level(level), ..self }
    }

    /// With at most so many bytes of memory for mesh, cells and what else the rule takes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.budget(MemoryBudget { limit: MemoryLimit::Requested(bytes), program: 0 })
    }

    /// With this limit of memory.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        let run = self.run.memory(budget.for_job());
        Self { budget, run, ..self }
    }

    /// Reports progress to `progress`, which may also cancel.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { run: self.run.progress(progress), ..self }
    }

    /// Until `token` is cancelled: then it ends, soon, with an error of kind `Interrupted`.
    #[must_use]
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        Self { run: self.run.cancel(token), ..self }
    }

    /// For a mesh that is transformed so: [`Transform::apply`] has turned it, the lattice is in its coordinates. The
    /// cells are placed on the [scaled](Lattice::scaled) lattice, and findings have its unit.
    #[must_use]
    pub fn transform(self, transform: &'a Transform) -> Self {
        Self { transform: Some(transform), ..self }
    }

    /// With cells labelled as [`surface_and_interior`](rule::surface_and_interior) does it, where the rule
    /// [has labels](Rule::has_labels): a `.vox` file then shows both.
    #[must_use]
    pub fn labelled(self) -> Self {
        Self { extras: Extras { labels: JobLabels::SurfaceAndInterior, ..self.extras }, ..self }
    }

    /// With these cells and numbers beside the grid.
    #[must_use]
    pub fn extras(self, extras: Extras) -> Self {
        Self { extras, ..self }
    }

    /// From a file of this name, which the records of the cells have.
    #[must_use]
    pub fn input(self, name: Option<&'a str>) -> Self {
        Self { input: name, ..self }
    }

    /// Without findings: what a solid loses is not looked for, which takes time.
    #[must_use]
    pub fn without_findings(self) -> Self {
        Self { has_findings: false, ..self }
    }

    /// Fills the cells of `lattice`.
    ///
    /// # Errors
    /// If the options of the rule do not go together, the mesh is unfit for it, the grid does not fit in memory or
    /// in the limit, the level does not exist here, or the run was cancelled.
    pub fn run(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        let mut all = match self.has_findings {
            true => findings::of_lattice(mesh, lattice, &self.rule, Tolerance::Usual)?,
            false => vec![],
        };
        let Voxelized { voxels, findings, stats } = self.fill(mesh, lattice)?;
        findings::add(&mut all, findings);
        Ok(Voxelized { voxels, findings: all, stats })
    }

    /// The cells of [`run`](Self::run) with the findings about them, but those about the place of the lattice.
    ///
    /// # Errors
    /// As those of [`run`](Self::run).
    pub fn fill(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        let search = LostSearch { mesh, lattice, rule: &self.rule, run: &self.run };
        let is_searched = self.has_findings && search.is_needed();
        let is_later = is_searched && search.fits_with_grid();
        let mut lost = if is_searched && !is_later { search.find(None)? } else { LostFound::default() };
        let Filled { cells, record, mut stats, is_empty } = self.cells(mesh, lattice)?;
        if is_later {
            lost = search.find(Some(cells.as_ref().occupied()?))?;
        }
        stats.lost = stats.lost.or(lost.lost);
        let mut findings: Vec<Finding> = lost.skipped.into_iter().collect();
        if self.has_findings {
            let unit = self.unit();
            findings.extend(findings::of_cells(&self.rule, mesh, lattice, &stats, is_empty, unit));
        }
        let cells = if self.has_labels() {
            rule::surface_and_interior(mesh, lattice, cells.into_occupied()?, &self.run)?.into()
        } else {
            cells
        };
        let voxels = Voxels { cells, lattice: Some(self.placed(lattice)?), record: self.about(record) };
        Ok(Voxelized { voxels, findings, stats })
    }

    /// The lattice in the coordinates of files and digests.
    fn placed(&self, lattice: &Lattice) -> Result<Lattice> {
        match self.transform.filter(|transform| transform.is_scaled()) {
            Some(transform) => lattice.scaled(&transform.scale),
            None => Ok(lattice.clone()),
        }
    }

    /// Whether cells are labelled.
    pub(super) fn has_labels(&self) -> bool {
        self.extras.labels == JobLabels::SurfaceAndInterior && self.rule.has_labels()
    }

    fn unit(&self) -> Option<&'static str> {
        Some(self.transform?.unit?.name())
    }

    /// A record that says how the mesh is transformed, too.
    fn about(&self, record: Record) -> Record {
        let transform = self.transform.map(Transform::entries).unwrap_or_default();
        let input = self.input.map(str::to_string);
        Record { transform, input, ..record }
    }

    /// The cells.
    fn cells(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Filled> {
        let run = &self.run;
        run.supported_level()?;
        if let Some(background) = self.rule.background(lattice) {
            return self.field(mesh, lattice, background, None);
        }
        let extra = run.max_memory.map_or(0, |_| self.rule.extra_bytes(mesh, lattice, run));
        run.admit(mesh.triangles().len(), lattice.dims(), extra)?;
        let mut bits = BitGrid::try_from(lattice)?;
        let (stats, record) = par::with_threads(run.thread_count(), || {
            let prepared = self.rule.prepare(mesh, lattice, run)?;
            Ok((prepared.fill(0..lattice.dims()[2], run, &mut bits)?, prepared.record()))
        })??;
        let is_empty = bits.words().iter().all(|word| *word == 0);
        Ok(Filled { cells: bits.into(), record, stats, is_empty })
    }

    /// The field of a rule that makes one, with the number of the triangle nearest to each cell, x fastest: the least
    /// of those equally near, −1 in cells of the background.
    ///
    /// ```
    /// use voxelize::{Fit, Mesh, Rule, Voxelizer};
    ///
    /// let mesh = Mesh::open("fixtures/cube.stl")?;
    /// let lattice = Fit::longest(16).pad(3).to(mesh.bounds())?;
    /// let (result, nearest) = Voxelizer::new(Rule::distance()).run_with_nearest(&mesh, &lattice)?;
    /// let field = result.voxels.field().unwrap();
    /// assert!(nearest.iter().zip(field.values()).all(|(n, v)| (*n == -1) == (*v == field.background())));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// As those of [`run`](Self::run), and if the rule makes bits.
    pub fn run_with_nearest(&self, mesh: &Mesh, lattice: &Lattice) -> Result<(Voxelized, Vec<i32>)> {
        let background = self.rule.background(lattice).ok_or_else(|| {
            Error::usage(format!("the rule {} has no nearest triangles", self.rule.name()))
                .with_hint("the rule distance has, without an iso value")
        })?;
        let mut nearest = vec![];
        let Filled { cells, record, stats, is_empty } =
            self.field(mesh, lattice, background, Some(&mut nearest))?;
        let mut findings = vec![];
        if self.has_findings {
            findings = findings::of_lattice(mesh, lattice, &self.rule, Tolerance::Usual)?;
            let of_cells = findings::of_cells(&self.rule, mesh, lattice, &stats, is_empty, self.unit());
            findings::add(&mut findings, of_cells);
        }
        let voxels = Voxels { cells, lattice: Some(self.placed(lattice)?), record: self.about(record) };
        Ok((Voxelized { voxels, findings, stats }, nearest))
    }

    fn field(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        background: f32,
        mut nearest: Option<&mut Vec<i32>>,
    ) -> Result<Filled> {
        let run = &self.run;
        if run.max_memory.is_some() {
            let demand = Demand::new(mesh, lattice, run).with(self.rule.extra_bytes(mesh, lattice, run));
            let need = demand.field(nearest.is_some()).bytes(Plan::Dense);
            let [x, y, z] = lattice.dims();
            run.refuse_above(need, || {
                format!("a field of {x} × {y} × {z} cells and {} triangles", mesh.triangles().len())
            })?;
        }
        let mut field = Field::new(lattice.dims(), background)?;
        if let Some(nearest) = &mut nearest {
            nearest.resize(field.values().len(), 0);
        }
        let nearest = nearest.map(Vec::as_mut_slice);
        let (stats, record) = par::with_threads(run.thread_count(), || {
            let prepared = self.rule.prepare(mesh, lattice, run)?;
            Ok((prepared.fill_field(0..lattice.dims()[2], run, &mut field, nearest)?, prepared.record()))
        })??;
        let is_empty = field.values().iter().all(|value| field.is_background(*value));
        Ok(Filled { cells: field.into(), record, stats, is_empty })
    }

    /// The plan that fits the limit of memory: the whole grid if there is none, else slabs as high as fit, of a
    /// multiple of so many layers, [`Format::slab_layers`](crate::format::Format::slab_layers); `None` if none fits.
    pub fn plan(&self, mesh: &Mesh, lattice: &Lattice, multiple: usize) -> Option<Plan> {
        let Some(limit) = self.run.max_memory else { return Some(Plan::Dense) };
        let run = &self.run;
        let demand = Demand::new(mesh, lattice, run).with(self.rule.extra_bytes(mesh, lattice, run));
        let demand = if self.rule.kind() == CellKind::Field { demand.field(false) } else { demand };
        demand.fit(u128::from(limit), multiple)
    }

    /// The cells of a grid that may be larger than memory: made in slabs of layers of z, each in its turn, when it is
    /// needed. With [`Plan::Slabs`] every slab is a pass over all triangles. With [`Plan::Bricks`] one pass keeps
    /// their cells in bricks of 64 × 8 × 8, and slabs are made of these: where most of the grid is empty that takes
    /// much less memory, and time, than the whole grid at once.
    ///
    /// ```
    /// use voxelize::format::{self, SaveOptions};
    /// use voxelize::run::Plan;
    /// use voxelize::{Lattice, Mesh, Rule, Voxelizer, voxelize};
    ///
    /// let mesh = Mesh::open("fixtures/knot.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 256)?;
    /// let npz = format::by_name("npz").unwrap();
    ///
    /// // Mesh and cells are to take at most half a MiB.
    /// let voxelizer = Voxelizer::new(Rule::surface()).memory(512 << 10);
    /// let plan = voxelizer.plan(&mesh, &lattice, npz.slab_layers).unwrap();
    /// assert!(matches!(plan, Plan::Slabs(_)));
    ///
    /// let mut slabs = voxelizer.slabs(&mesh, &lattice, plan)?;
    /// let mut file = Vec::new();
    /// format::write_source_to(&mut slabs, &mut file, npz, &SaveOptions::default())?;
    ///
    /// let whole = voxelize(&mesh, &lattice, Rule::surface())?;
    /// assert_eq!(slabs.made().occupied, whole.count());
    /// # use voxelize::grid::CellSource;
    /// assert_eq!(slabs.digest(), whole.digest());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If slabs have no layers, those of bricks no multiple of 8, the rule has no bricks, the plan needs more than
    /// the limit of memory, or the level does not exist here. Memory that is not there, and cancellation, end the
    /// slabs on the way.
    pub fn slabs(&self, mesh: &'a Mesh, lattice: &'a Lattice, plan: Plan) -> Result<Slabs<'a>> {
        let search = LostSearch { mesh, lattice, rule: &self.rule, run: &self.run };
        let is_searched = self.has_findings && search.is_needed();
        let start = Instant::now();
        let lost = if is_searched { search.find(None)? } else { LostFound::default() };
        let searching = start.elapsed();
        let mut slabs = Slabs::new(mesh, lattice, self.rule, plan, &self.run)?;
        slabs.made.filling += searching;
        slabs.lost = lost;
        slabs.unit = self.unit();
        slabs.record = self.about(slabs.record);
        if self.has_labels() {
            slabs = slabs.labelled();
        }
        if self.transform.is_some_and(Transform::is_scaled) {
            slabs = slabs.placed(self.placed(lattice)?);
        }
        Ok(slabs)
    }
}
