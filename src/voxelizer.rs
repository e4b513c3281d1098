//! A rule with everything that says how it runs, and what comes of it.

use crate::error::{Error, Finding, Result};
use crate::grid::{BitGrid, CellKind, Field, Lattice, Voxels};
use crate::kernel::Level;
use crate::mesh::Mesh;
use crate::par::{self, CancelToken, Progress};
use crate::rule::{self, Rule, Slabs, Stats};
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
    rule: Rule,
    run: Run<'a>,
}

/// Voxels, and what was found while they were made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxelized {
    /// The cells, where they are, and how they came about.
    pub voxels: Voxels,
    /// Warnings and notes about the result: what it may lack, and what to do about it.
    pub findings: Vec<Finding>,
    /// The same in numbers.
    pub stats: Stats,
}

impl<'a> Voxelizer<'a> {
    /// By this rule, with all threads and the best level of the machine, silent, without a limit of memory.
    pub fn new(rule: Rule) -> Self {
        Self { rule, run: Run::default() }
    }

    /// Run in this way.
    #[must_use]
    pub fn with_run(self, run: Run<'a>) -> Self {
        Self { run, ..self }
    }

    /// With so many threads; 0 for all the system offers.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.with_run(self.run.threads(threads))
    }

    /// With this instruction set.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        self.with_run(self.run.level(level))
    }

    /// With at most so many bytes of memory for mesh, cells and what else the rule takes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.with_run(self.run.memory(bytes))
    }

    /// Heard by `progress`, which may also cancel.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        self.with_run(self.run.progress(progress))
    }

    /// Until `token` is cancelled: then it ends, soon, with an error of kind `Interrupted`.
    #[must_use]
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        self.with_run(self.run.cancel(token))
    }

    /// Fills the cells of `lattice`.
    ///
    /// # Errors
    /// If the options of the rule do not go together, the mesh is unfit for it, the grid does not fit in memory or
    /// in the limit, the level does not exist here, or the run was cancelled.
    pub fn run(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        let run = &self.run;
        run.supported_level()?;
        if let Some(background) = self.rule.background(lattice) {
            return self.run_field(mesh, lattice, background, None);
        }
        let extra = run.max_memory.map_or(0, |_| self.rule.extra_bytes(mesh, lattice, run));
        run.admit(mesh.triangles().len(), lattice.dims(), extra)?;
        let mut bits = BitGrid::try_from(lattice)?;
        let (stats, record) = par::with_threads(run.thread_count(), || {
            let prepared = self.rule.prepare(mesh, lattice, run)?;
            Ok((prepared.fill(0..lattice.dims()[2], run, &mut bits)?, prepared.record()))
        })??;
        let is_empty = bits.words().iter().all(|word| *word == 0);
        let voxels = Voxels { cells: bits.into(), lattice: Some(lattice.clone()), record };
        Ok(self.found(mesh, lattice, voxels, is_empty, stats))
    }

    /// The same of a rule that makes a field, with the number of the triangle nearest to each cell, x fastest: the
    /// least of those equally near, −1 in cells of the background.
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
        let result = self.run_field(mesh, lattice, background, Some(&mut nearest))?;
        Ok((result, nearest))
    }

    fn run_field(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        background: f32,
        mut nearest: Option<&mut Vec<i32>>,
    ) -> Result<Voxelized> {
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
        let voxels = Voxels { cells: field.into(), lattice: Some(lattice.clone()), record };
        Ok(self.found(mesh, lattice, voxels, is_empty, stats))
    }

    /// The result with its findings.
    fn found(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        voxels: Voxels,
        is_empty: bool,
        stats: Stats,
    ) -> Voxelized {
        let mut findings = rule::findings(&self.rule, mesh, lattice, &stats.inside, None);
        if is_empty {
            findings.push(rule::nothing_occupied(&self.rule, &findings));
        }
        Voxelized { voxels, findings, stats }
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

    /// The same cells for a grid that may be larger than memory: made in slabs of layers of z, each in its turn, when
    /// it is needed. With [`Plan::Slabs`] every slab is a pass over all triangles. With [`Plan::Bricks`] one pass
    /// keeps their cells in bricks of 64 × 8 × 8, and slabs are made of these: where most of the grid is empty that
    /// takes much less memory, and time, than the whole grid at once.
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
        Slabs::new(mesh, lattice, self.rule, plan, &self.run)
    }
}
