//! A rule with everything that says how it runs.

use super::transform::Transform;
use crate::rule::{Rule, Stats};
use crate::run::{MemoryBudget, Run};
use voxelize_core::error::{Finding, Result};
use voxelize_core::grid::{Lattice, Quantities, Record};
use voxelize_core::par::{CancelToken, Progress};
use voxelize_core::text::GridCoordinates;
use voxelize_formats::Voxels;
use voxelize_kernel::Level;
use voxelize_meshes::PartKind;

/// Fills cells by a rule; options chain.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
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
    pub(super) extras: Extras,
    transform: Option<&'a Transform>,
    input: Option<&'a str>,
    pub(super) priority: &'a [String],
    pub(super) has_findings: bool,
}

/// The cells and numbers that a job makes beside its grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// The labels of cells.
    pub labels: JobLabels,
    /// The cells in doubt: methods that find the inside are compared, as [`doubt`](crate::rule::doubt::doubt) does it.
    pub doubt: bool,
    /// The path through which a flood leaks, as [`leak_path`](crate::rule::leak_path::leak_path) finds it.
    pub leak: bool,
    /// The numbers of the nearest triangles, where the rule makes a field.
    pub nearest: bool,
    /// The arrays beside the field, of [`Rule::quantities`].
    pub quantities: Quantities,
}

/// The labels of the cells of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobLabels {
    /// None.
    #[default]
    Off,
    /// Surface and interior, as [`surface_and_interior`](crate::rule::surface_and_interior) has them, where the rule
    /// [has labels](Rule::has_labels).
    SurfaceAndInterior,
    /// One for each of the [parts](voxelize_meshes::Mesh::parts) of this kind: the rule judges each part as a mesh of its own, and
    /// a cell that several occupy has the label of the first.
    Parts(PartKind),
    /// One for each [colour](voxelize_meshes::Mesh::colours) of the mesh, of at most 255: the triangle nearest to the centre of a
    /// cell decides; of those equally near the one that faces it most with its inner side, then that of the least number.
    Colours,
}

impl JobLabels {
    /// Whether they stand for parts or colours of the mesh.
    pub fn are_of_mesh(self) -> bool {
        matches!(self, Self::Parts(_) | Self::Colours)
    }
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
            extras: Extras::default(),
            transform: None,
            input: None,
            priority: &[],
            has_findings: true,
        }
    }

    /// By another rule.
    pub(super) fn with_rule(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    /// Run in this way.
    #[must_use]
    pub fn with_run(self, run: Run<'a>) -> Self {
        Self { run, ..self }
    }

    /// With so many threads; 0 for all the system offers.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self {
            run: self.run.threads(threads),
            ..self
        }
    }

    /// With this instruction set.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self {
            run: self.run.level(level),
            ..self
        }
    }

    /// With at most so many bytes of memory for mesh, cells and what else the rule takes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self {
            run: self.run.memory(bytes),
            ..self
        }
    }

    /// With this limit of memory.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        Self {
            run: self.run.budget(budget),
            ..self
        }
    }

    /// Reports progress to `progress`, which may also cancel.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self {
            run: self.run.progress(progress),
            ..self
        }
    }

    /// Until `token` is cancelled: then it ends, soon, with an error of kind `Interrupted`.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::{CancelToken, Lattice, Mesh, Rule, Voxelizer};
    ///
    /// let cancel = CancelToken::new();
    /// cancel.cancel();
    /// let mesh = Mesh::open("fixtures/knot.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 64)?;
    /// let error = Voxelizer::new(Rule::surface()).cancel(&cancel).run(&mesh, &lattice).unwrap_err();
    /// assert_eq!(error.kind(), voxelize::Kind::Interrupted);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    #[must_use]
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        Self {
            run: self.run.cancel(token),
            ..self
        }
    }

    /// For a mesh that is transformed so: [`Transform::apply`] has turned it, the lattice is in its coordinates. The
    /// cells are placed on the [scaled](Lattice::scaled) lattice, and findings have its unit.
    #[must_use]
    pub fn transform(self, transform: &'a Transform) -> Self {
        Self {
            transform: Some(transform),
            ..self
        }
    }

    /// With cells labelled as [`surface_and_interior`](crate::rule::surface_and_interior) does it, where the rule
    /// [has labels](Rule::has_labels): a `.vox` file then shows both.
    #[must_use]
    pub fn labelled(self) -> Self {
        Self {
            extras: Extras {
                labels: JobLabels::SurfaceAndInterior,
                ..self.extras
            },
            ..self
        }
    }

    /// With these cells and numbers beside the grid.
    #[must_use]
    pub fn extras(self, extras: Extras) -> Self {
        Self { extras, ..self }
    }

    /// Where parts with labels share cells, those of these names come first, in this order.
    #[must_use]
    pub fn priority(self, names: &'a [String]) -> Self {
        Self {
            priority: names,
            ..self
        }
    }

    /// From a file of this name, which the records of the cells have.
    #[must_use]
    pub fn input(self, name: Option<&'a str>) -> Self {
        Self {
            input: name,
            ..self
        }
    }

    /// Without findings: what a solid loses is not looked for, which takes time.
    #[must_use]
    pub fn without_findings(self) -> Self {
        Self {
            has_findings: false,
            ..self
        }
    }

    /// The lattice in the coordinates of files and digests.
    pub(super) fn placed(&self, lattice: &Lattice) -> Result<Lattice> {
        self.transform
            .map_or_else(|| Ok(lattice.clone()), |transform| transform.place(lattice))
    }

    /// What coordinates are multiplied by.
    pub(super) fn scale(&self) -> f64 {
        self.transform
            .map_or(1.0, |transform| transform.scale.to_f64())
    }

    /// Whether cells are labelled.
    pub(super) fn has_labels(&self) -> bool {
        self.extras.labels == JobLabels::SurfaceAndInterior && self.rule.has_labels()
    }

    /// How findings write places of the mesh.
    pub(super) fn coordinates(&self) -> GridCoordinates {
        self.transform
            .map(Transform::coordinates)
            .unwrap_or_default()
    }

    /// A record that says how the mesh is transformed, too.
    pub(super) fn about(&self, record: Record) -> Record {
        let transform = self.transform.map(Transform::entries).unwrap_or_default();
        let input = self.input.map(str::to_string);
        let scaled = |text: String| match (self.scale(), text.parse::<f64>()) {
            (scale, Ok(volume)) if scale != 1.0 => (volume * scale.powi(3)).to_string(),
            _ => text,
        };
        let mesh_volume = record.mesh_volume.map(scaled);
        Record {
            transform,
            mesh_volume,
            input,
            ..record
        }
    }
}
