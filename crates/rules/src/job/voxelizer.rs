//! A rule with all settings of its run.

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

/// Fills cells by a rule. Options chain.
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

/// Cells and numbers that a job makes in addition to its grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// Labels of cells.
    pub labels: JobLabels,
    /// Compare the methods that find the inside and return the cells in doubt, like
    /// [`doubt`](crate::rule::doubt::doubt).
    pub doubt: bool,
    /// Find the path through which a flood leaks, like
    /// [`leak_path`](crate::rule::leak_path::leak_path).
    pub leak: bool,
    /// Return the numbers of the nearest triangles, if the rule makes a field.
    pub nearest: bool,
    /// Arrays in addition to the field, from [`Rule::quantities`].
    pub quantities: Quantities,
}

/// Labels of the cells of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobLabels {
    /// No labels.
    #[default]
    Off,
    /// Surface and interior, as defined by
    /// [`surface_and_interior`](crate::rule::surface_and_interior), if the rule [has
    /// labels](Rule::has_labels).
    SurfaceAndInterior,
    /// One label for each of the [parts](voxelize_meshes::Mesh::parts) of this kind. The rule
    /// treats each part as a separate mesh. A cell that several parts occupy has the label of the
    /// first.
    Parts(PartKind),
    /// One label for each [colour](voxelize_meshes::Mesh::colours) of the mesh, at most 255. The
    /// triangle nearest to the centre of a cell decides. Among equally near triangles it is the one
    /// whose inner side faces the centre most, then the one with the least number.
    Colours,
}

impl JobLabels {
    /// Returns true if the labels represent parts or colours of the mesh.
    pub fn are_of_mesh(self) -> bool {
        matches!(self, Self::Parts(_) | Self::Colours)
    }
}

/// Voxels, and the findings from making them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxelized {
    /// Cells with their lattice and the record of their origin.
    pub voxels: Voxels,
    /// Warnings and notes about the result: possible defects, and what to do about them.
    pub findings: Vec<Finding>,
    /// Findings as numbers.
    pub stats: Stats,
}

impl<'a> Voxelizer<'a> {
    /// Creates a voxelizer of this rule. It uses all threads and the best instruction set of the
    /// machine, reports no progress, and has no limit of memory.
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

    /// Sets another rule.
    pub(super) fn with_rule(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    /// Sets all settings of the run.
    #[must_use]
    pub fn with_run(self, run: Run<'a>) -> Self {
        Self { run, ..self }
    }

    /// Sets the number of threads. 0 for all threads of the system.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self {
            run: self.run.threads(threads),
            ..self
        }
    }

    /// Sets the instruction set.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self {
            run: self.run.level(level),
            ..self
        }
    }

    /// Sets the greatest number of bytes for mesh, cells, and other memory of the rule.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self {
            run: self.run.memory(bytes),
            ..self
        }
    }

    /// Sets the limit of memory.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        Self {
            run: self.run.budget(budget),
            ..self
        }
    }

    /// Sets the listener of progress, which may also cancel the run.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self {
            run: self.run.progress(progress),
            ..self
        }
    }

    /// Sets a token that cancels the run. A cancelled run soon ends with an error of kind
    /// `Interrupted`.
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

    /// Sets the transform of the mesh. [`Transform::apply`] has already turned the mesh, and the
    /// lattice is in its coordinates. The cells are placed on the [scaled](Lattice::scaled)
    /// lattice, and findings use its unit.
    #[must_use]
    pub fn transform(self, transform: &'a Transform) -> Self {
        Self {
            transform: Some(transform),
            ..self
        }
    }

    /// Requests labels of [`surface_and_interior`](crate::rule::surface_and_interior), if the rule
    /// [has labels](Rule::has_labels). A `.vox` file then shows both.
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

    /// Sets the cells and numbers that are made in addition to the grid.
    #[must_use]
    pub fn extras(self, extras: Extras) -> Self {
        Self { extras, ..self }
    }

    /// Sets the order of parts that share cells. The parts of these names come first.
    #[must_use]
    pub fn priority(self, names: &'a [String]) -> Self {
        Self {
            priority: names,
            ..self
        }
    }

    /// Sets the name of the input file for the records of the cells.
    #[must_use]
    pub fn input(self, name: Option<&'a str>) -> Self {
        Self {
            input: name,
            ..self
        }
    }

    /// Turns findings off. This saves the search for lost features of a solid, which takes time.
    #[must_use]
    pub fn without_findings(self) -> Self {
        Self {
            has_findings: false,
            ..self
        }
    }

    /// Returns the lattice in the coordinates of files and digests.
    pub(super) fn placed(&self, lattice: &Lattice) -> Result<Lattice> {
        match self.transform {
            Some(transform) => transform.place(lattice),
            None => Ok(lattice.clone()),
        }
    }

    /// Returns the factor of the coordinates.
    pub(super) fn scale(&self) -> f64 {
        self.transform
            .map_or(1.0, |transform| transform.scale.to_f64())
    }

    /// Returns true if cells are labelled as surface and interior.
    pub(super) fn has_labels(&self) -> bool {
        self.extras.labels == JobLabels::SurfaceAndInterior && self.rule.has_labels()
    }

    /// Returns the form of coordinates in findings.
    pub(super) fn coordinates(&self) -> GridCoordinates {
        self.transform
            .map(Transform::coordinates)
            .unwrap_or_default()
    }

    /// Adds the transform of the mesh and the name of the input to a record.
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
