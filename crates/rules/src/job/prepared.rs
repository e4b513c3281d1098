//! A job with its memory plan, and the result of a job.

use std::time::{Duration, Instant};

use super::drain::DrainHole;
use super::label_fields::{LabelFieldSum, SharedShares};
use super::plan::{MemoryPlan, Needs, share_exceeded};
use super::slabs::{Made, SharedCells, Slabs};
use super::target::Target;
use super::voxelizer::Voxelizer;
use crate::rule::doubt::{self, Doubt};
use crate::rule::{Stats, leak_path};
use crate::run::{MemoryLimit, Plan, WallThickness};
use voxelize_core::error::{Code, Finding, Result};
use voxelize_core::grid::record::INSIDE;
use voxelize_core::grid::{
    BitGrid, CellKind, CellSource, CellType, Digest, FieldSummary, Hash, Label, Lattice, Quantity,
    Record, Slab,
};
use voxelize_core::par::Progress;
use voxelize_formats::{InMemory, Voxels};
use voxelize_meshes::Mesh;

/// Job that is ready to run: its options and its memory plan are fixed, and no cell has been made.
#[derive(Clone)]
pub struct Prepared<'a> {
    pub(super) voxelizer: Voxelizer<'a>,
    pub(super) mesh: &'a Mesh,
    pub(super) lattice: &'a Lattice,
    /// Arrangement of the grid in memory, and an upper bound of its memory.
    pub memory: MemoryPlan,
}

/// Counts and findings of a finished job.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobResult {
    /// Number of occupied cells. If the cells are a field, number of cells whose value is not the background.
    pub occupied: u64,
    /// Digest of the lattice and its cells.
    pub digest: Digest,
    /// Summary of the values of a field. `None` if the cells are not a field.
    pub field: Option<FieldSummary>,
    /// Sum of all shares. `None` unless the cells are shares of volume.
    pub shares: Option<f64>,
    /// Number of cells with each label, in the order of the legend.
    pub labels: Vec<(Label, u64)>,
    /// Number of cells that several parts occupy. Such a cell has the label of the first of these parts.
    pub taken: u64,
    /// Number of cells that both parts of a pair occupy, for each pair of labels in the order of the legend.
    pub shared: Vec<SharedCells>,
    /// Name of the method that was used to find the inside. `None` if the rule needs no method.
    pub inside: Option<String>,
    /// Thickness of the wall of a hollow part. `None` if it was not requested, or if memory does not suffice.
    pub walls: Option<WallThickness>,
    /// Drain holes that were made.
    pub drains: Vec<DrainHole>,
    /// Counts and findings of the rule.
    pub stats: Stats,
    /// Warnings and notes about the cells.
    pub findings: Vec<Finding>,
    /// Additional quantities, each with the digest of its array.
    pub arrays: Vec<(Quantity, Hash)>,
    /// Values of the field of each label, in the order of the labels, with the digest that the part has as a
    /// separate mesh. Empty if the labels have no fields.
    pub label_fields: Vec<(LabelFieldSum, Hash)>,
    /// Cells in which parts with shares overlap. `None` if the parts have no shares.
    pub shared_shares: Option<SharedShares>,
    /// Cells on which the methods disagree. `None` if they were not requested.
    pub doubt: Option<Doubt>,
    /// Cells of the paths along which a flood leaks into the mesh. `None` if they were not requested.
    pub leak: Option<BitGrid>,
    /// Duration of each phase of the job.
    pub times: JobTimes,
}

/// Duration of each phase of a job.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobTimes {
    /// Time for making the cells and for additional searches.
    pub voxelize: Duration,
    /// Time for counting cells and computing digests.
    pub digest: Duration,
    /// Time for writing the output.
    pub write: Duration,
}

/// Function that is called for each slab with the numbers of the triangles nearest to its cells.
pub type NearestSink<'a> = &'a mut dyn FnMut(&[i32]) -> Result<()>;

impl<'a> Voxelizer<'a> {
    /// Prepares a job: plans the memory for the cells of `lattice`. If there is a `target`, the cells are to
    /// be written to it slab by slab. Otherwise they stay in memory. For a dry run, prepare the job and do
    /// not run it.
    ///
    /// # Errors
    /// Fails if no plan fits in the memory limit, or if the rule cannot make the requested labels or
    /// quantities.
    pub fn prepare<'b>(
        &self,
        mesh: &'b Mesh,
        lattice: &'b Lattice,
        target: Option<Target>,
    ) -> Result<Prepared<'b>>
    where
        'a: 'b,
    {
        self.refuse_other_labels()?;
        self.refuse_other_quantities()?;
        let mut voxelizer = *self;
        let needs = Needs {
            voxelizer: self,
            mesh,
            lattice,
            target,
        };
        voxelizer.extras.walls = needs.has_room_for_walls();
        let needs = Needs {
            voxelizer: &voxelizer,
            ..needs
        };
        let memory = needs.plan()?;
        Ok(Prepared {
            voxelizer,
            mesh,
            lattice,
            memory,
        })
    }
}

impl Prepared<'_> {
    /// Returns the number of cells along each axis.
    pub fn dims(&self) -> [usize; 3] {
        self.lattice.dims()
    }

    /// Returns the expected peak of the memory in bytes, without the program itself.
    pub fn expected_bytes(&self) -> u128 {
        let needs = Needs {
            voxelizer: &self.voxelizer,
            mesh: self.mesh,
            lattice: self.lattice,
            target: None,
        };
        needs.expected(self.memory.strategy).min(self.memory.bytes)
    }

    /// Makes the cells and passes them to `write`, at once or slab by slab, depending on the plan. If the
    /// rule makes a field, `nearest` is called with the numbers of the nearest triangles.
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
    /// Fails for the reasons listed at [`Voxelizer::run`], and if `write` fails. A job whose memory limit is
    /// a [share](MemoryLimit::Share) also fails if the search for lost features does not fit in the share.
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

    /// Makes all cells and returns them.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`run`](Self::run).
    pub fn voxels(&self) -> Result<(Voxels, JobResult)> {
        self.searched(|| self.at_once())
    }

    /// Runs the requested searches for cells in doubt and for leaks, then runs `make`, and adds the results
    /// of the searches to the result of `make`.
    fn searched<T>(&self, make: impl FnOnce() -> Result<(T, JobResult)>) -> Result<(T, JobResult)> {
        let Voxelizer {
            rule, run, extras, ..
        } = &self.voxelizer;
        let inside = rule.inside().unwrap_or_default();
        let start = Instant::now();
        let mut doubt = None;
        if extras.doubt {
            doubt = Some(doubt::doubt(self.mesh, self.lattice, inside, run)?);
        }
        let mut leak = None;
        if extras.leak {
            let path = leak_path::leak_path(self.mesh, self.lattice, inside, run)?;
            leak = Some(path);
        }
        let searching = start.elapsed();
        let (made, mut result) = make()?;
        result.doubt = doubt;
        result.leak = leak;
        // The searches voxelize the mesh as well, so their time counts as voxelization.
        result.times.voxelize += searching;
        Ok((made, result))
    }

    fn at_once(&self) -> Result<(Voxels, JobResult)> {
        let mut slabs = Slabs::new(&self.voxelizer, self.mesh, self.lattice, Plan::Dense)?;
        slabs.advance()?;
        let result = self.result(&slabs)?;
        Ok((slabs.into_voxelized().0.voxels, result))
    }

    /// Makes one slab after the other. The writer requests each slab when it is ready to write it.
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

    /// Returns the result of the job, from the counts of all slabs.
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
            walls,
            drains,
            label_values,
            shared_shares,
            stats,
            filling,
            hashing,
            ..
        } = slabs.made();
        let arrays = slabs.digests_of_arrays();
        let label_fields = label_values.into_iter().zip(slabs.digests_of_labels());
        Ok(JobResult {
            occupied,
            digest: slabs.digest(),
            field,
            shares,
            labels,
            taken,
            shared,
            inside: slabs.record.field(INSIDE).map(str::to_string),
            walls,
            drains,
            stats,
            findings,
            arrays,
            label_fields: label_fields.collect(),
            shared_shares,
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

/// Source of slabs that also passes the numbers of the nearest triangles to a function.
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
