//! A job whose plan of memory is found, and what comes of it.

use std::time::{Duration, Instant};

use super::plan::{MemoryPlan, Needs, share_exceeded};
use super::slabs::{Made, SharedCells, Slabs};
use super::target::Target;
use super::voxelizer::Voxelizer;
use crate::rule::doubt::{self, Doubt};
use crate::rule::{Stats, leak_path};
use crate::run::{MemoryLimit, Plan};
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::grid::record::INSIDE;
use voxelize_core::grid::{
    BitGrid, CellKind, CellSource, CellType, Digest, FieldSummary, Hash, Label, Lattice, Quantity,
    Record, Slab,
};
use voxelize_core::par::Progress;
use voxelize_formats::{InMemory, Voxels};
use voxelize_meshes::Mesh;

/// A job that is ready to run: all that is decided before the first cell.
#[derive(Clone)]
pub struct Prepared<'a> {
    pub(super) voxelizer: Voxelizer<'a>,
    pub(super) mesh: &'a Mesh,
    pub(super) lattice: &'a Lattice,
    /// How the grid is held, and the memory that this takes at most.
    pub memory: MemoryPlan,
}

/// The numbers of a job that has run, and what was found on the way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobResult {
    /// Occupied cells; of a field, those with a value.
    pub occupied: u64,
    /// The digest of the grid and of its cells.
    pub digest: Digest,
    /// The values of a field.
    pub field: Option<FieldSummary>,
    /// The sum of the values of a field of shares of cells.
    pub shares: Option<f64>,
    /// How many cells have each label, in the order of the legend.
    pub labels: Vec<(Label, u64)>,
    /// How many cells of parts have the label of a part before them.
    pub taken: u64,
    /// The same for each pair of labels that share cells, in the order of the legend.
    pub shared: Vec<SharedCells>,
    /// The method that decided the inside.
    pub inside: Option<String>,
    /// The counts of the rule.
    pub stats: Stats,
    /// Warnings and notes about the cells.
    pub findings: Vec<Finding>,
    /// The arrays beside the cells, each with its digest.
    pub arrays: Vec<(Quantity, Hash)>,
    /// The cells in doubt, if they were wanted.
    pub doubt: Option<Doubt>,
    /// The path through which a flood leaks, if it was wanted.
    pub leak: Option<BitGrid>,
    /// How long each phase took.
    pub times: JobTimes,
}

/// How long each phase of a job took.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobTimes {
    /// Making the cells, and all that is searched.
    pub voxelize: Duration,
    /// Counting and digests.
    pub digest: Duration,
    /// The writer's own time.
    pub write: Duration,
}

/// Takes the numbers of the triangles nearest to the cells of one slab after the other.
pub type NearestSink<'a> = &'a mut dyn FnMut(&[i32]) -> Result<()>;

impl<'a> Voxelizer<'a> {
    /// Finds the plan of memory for the cells of `lattice`, which go to `target` slab by slab, or stay in memory. A
    /// job that is prepared and not run is a dry run.
    ///
    /// # Errors
    /// If no plan fits into the limit.
    pub fn prepare<'b>(
        &self,
        mesh: &'b Mesh,
        lattice: &'b Lattice,
        target: Option<Target>,
    ) -> Result<Prepared<'b>>
    where
        'a: 'b,
    {
        if self.extras.labels.are_of_mesh() && self.rule.kind() == CellKind::Field {
            let error = Error::usage(format!(
                "labels: the rule {} makes a field",
                self.rule.name()
            ));
            return Err(error.with_hint("rules that make bits have labels"));
        }
        self.refuse_other_quantities()?;
        let needs = Needs {
            voxelizer: self,
            mesh,
            lattice,
            target,
        };
        let memory = needs.plan()?;
        Ok(Prepared {
            voxelizer: *self,
            mesh,
            lattice,
            memory,
        })
    }
}

impl Prepared<'_> {
    /// The cells per axis.
    pub fn dims(&self) -> [usize; 3] {
        self.lattice.dims()
    }

    /// The expected peak of memory, in bytes, without the program itself.
    pub fn expected_bytes(&self) -> u128 {
        let needs = Needs {
            voxelizer: &self.voxelizer,
            mesh: self.mesh,
            lattice: self.lattice,
            target: None,
        };
        needs.expected(self.memory.strategy).min(self.memory.bytes)
    }

    /// Makes the cells, and hands them to `write` at once or slab by slab, as the plan has it; the numbers of the
    /// nearest triangles go to `nearest`, if the rule makes a field.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::format::{self, SaveOptions};
    /// use voxelize::{Lattice, Mesh, Rule, Voxelizer};
    ///
    /// let mesh = Mesh::open("fixtures/knot.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 64)?;
    /// let prepared = Voxelizer::new(Rule::filled()).labelled().prepare(&mesh, &lattice, None)?;
    /// let npz = format::by_name("npz").unwrap();
    /// let mut file = vec![];
    /// let write = |cells: &mut dyn voxelize::grid::CellSource| {
    ///     format::write_source_to(cells, &mut file, npz, &SaveOptions::default())
    /// };
    /// let (bytes, result) = prepared.run(write, None)?;
    /// let labelled: u64 = result.labels.iter().map(|(_, cells)| cells).sum();
    /// assert!(bytes == file.len() as u64 && labelled == result.occupied);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Voxelizer::run`] and of `write`; and if the job had a share of the memory, and the features that a
    /// solid loses do not fit in that.
    pub fn run<T>(
        &self,
        write: impl FnOnce(&mut dyn CellSource) -> Result<T>,
        nearest: Option<NearestSink>,
    ) -> Result<(T, JobResult)> {
        self.searched(|| match self.memory.strategy {
            Plan::Dense if self.voxelizer.rule.kind() != CellKind::Field => {
                let (voxels, mut result) = self.at_once()?;
                self.voxelizer.run.check()?;
                let start = Instant::now();
                let written = write(&mut InMemory::with_digest(&voxels, result.digest))?;
                result.times.write = start.elapsed();
                Ok((written, result))
            }
            strategy => self.in_slabs(strategy, write, nearest),
        })
    }

    /// Makes the cells, all of them in memory.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn voxels(&self) -> Result<(Voxels, JobResult)> {
        self.searched(|| self.at_once())
    }

    /// What `make` makes, with the cells that are wanted beside them: these are looked for first.
    fn searched<T>(&self, make: impl FnOnce() -> Result<(T, JobResult)>) -> Result<(T, JobResult)> {
        let Voxelizer {
            rule, run, extras, ..
        } = &self.voxelizer;
        let inside = rule.inside().unwrap_or_default();
        let start = Instant::now();
        let doubt = extras
            .doubt
            .then(|| doubt::doubt(self.mesh, self.lattice, inside, run))
            .transpose()?;
        let leak = extras
            .leak
            .then(|| leak_path::leak_path(self.mesh, self.lattice, inside, run))
            .transpose()?;
        let searching = start.elapsed();
        let (made, mut result) = make()?;
        result.doubt = doubt;
        result.leak = leak;
        // The methods run again, so this is more of the same work.
        result.times.voxelize += searching;
        Ok((made, result))
    }

    fn at_once(&self) -> Result<(Voxels, JobResult)> {
        let mut slabs = Slabs::new(&self.voxelizer, self.mesh, self.lattice, Plan::Dense)?;
        slabs.advance()?;
        let result = self.result(&slabs)?;
        Ok((slabs.into_voxelized().0.voxels, result))
    }

    /// Fills slab after slab, each as the writer asks for it.
    fn in_slabs<T>(
        &self,
        strategy: Plan,
        write: impl FnOnce(&mut dyn CellSource) -> Result<T>,
        nearest: Option<NearestSink>,
    ) -> Result<(T, JobResult)> {
        let start = Instant::now();
        let mut slabs = Slabs::new(&self.voxelizer, self.mesh, self.lattice, strategy)?;
        let written = match nearest {
            None => write(&mut slabs)?,
            Some(put) => {
                slabs = slabs.with_nearest();
                write(&mut WithNearest {
                    slabs: &mut slabs,
                    put,
                })?
            }
        };
        let mut result = self.result(&slabs)?;
        let JobTimes {
            voxelize,
            digest,
            write,
        } = &mut result.times;
        *write = start.elapsed().saturating_sub(*voxelize + *digest);
        Ok((written, result))
    }

    /// The numbers of all slabs.
    fn result(&self, slabs: &Slabs) -> Result<JobResult> {
        let findings = slabs.findings();
        let is_share = matches!(self.voxelizer.run.budget.limit, MemoryLimit::Share(_));
        if is_share && findings.iter().any(|finding| finding.code() == Code::W010) {
            return Err(share_exceeded());
        }
        let Made {
            occupied,
            labels,
            taken,
            shared,
            field,
            shares,
            stats,
            filling,
            hashing,
            ..
        } = slabs.made();
        let arrays = slabs.digests_of_arrays();
        Ok(JobResult {
            occupied,
            digest: slabs.digest(),
            field,
            shares,
            labels,
            taken,
            shared,
            inside: slabs.record.field(INSIDE).map(str::to_string),
            stats,
            findings,
            arrays,
            doubt: None,
            leak: None,
            times: JobTimes {
                voxelize: filling,
                digest: hashing,
                ..JobTimes::default()
            },
        })
    }
}

/// Slabs whose nearest triangles are written as the cells are.
struct WithNearest<'a, 'b> {
    slabs: &'a mut Slabs<'b>,
    put: NearestSink<'a>,
}

impl CellSource for WithNearest<'_, '_> {
    fn dims(&self) -> [usize; 3] {
        self.slabs.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.slabs.lattice()
    }

    fn record(&self) -> &Record {
        CellSource::record(self.slabs)
    }

    fn cell_type(&self) -> CellType<'_> {
        self.slabs.cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        if self.slabs.advance()? {
            (self.put)(self.slabs.nearest())?;
        } else {
            return Ok(None);
        }
        Ok(self.slabs.slab())
    }

    fn digest(&self) -> Digest {
        self.slabs.digest()
    }
}
