//! The voxelizer: a rule with the settings of a run and the options of a job.

use super::drain::Drain;
use super::transform::Transform;
use crate::rule::{Rule, Stats};
use crate::run::{MemoryBudget, Run};
use voxelize_core::error::{Finding, Result};
use voxelize_core::grid::{Lattice, Quantities, Record, ScanFrame};
use voxelize_core::par::{CancelToken, Progress};
use voxelize_core::text::GridCoordinates;
use voxelize_formats::Voxels;
use voxelize_kernel::Level;
use voxelize_meshes::PartKind;

/// Voxelizes meshes with a rule. The methods that set an option can be chained.
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
    pub(super) drains: &'a [Drain],
    pub(super) has_findings: bool,
}

/// Results that a job makes in addition to its grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// Kind of labels of the cells.
    pub labels: JobLabels,
    /// Find the cells on which the methods for the inside disagree, as [`doubt`](crate::rule::doubt::doubt)
    /// does.
    pub doubt: bool,
    /// Find the paths along which a flood leaks into the mesh, as
    /// [`leak_path`](crate::rule::leak_path::leak_path) does.
    pub leak: bool,
    /// Return the number of the triangle nearest to each cell, if the rule makes a field.
    pub nearest: bool,
    /// Measure the wall of a hollow part. With labels of parts or negative volumes, no wall is measured.
    pub walls: bool,
    /// Quantities that are computed in addition to the field. They must be among [`Rule::quantities`].
    pub quantities: Quantities,
}

/// Kind of labels of the cells of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobLabels {
    /// The cells have no labels.
    #[default]
    Off,
    /// The labels are surface and interior, as defined by
    /// [`surface_and_interior`](crate::rule::surface_and_interior). If the rule [has no
    /// labels](Rule::has_labels), this is the same as [`Off`](Self::Off).
    SurfaceAndInterior,
    /// Each [part](voxelize_meshes::Mesh::parts) of this kind has a label. Each part is voxelized as a
    /// separate mesh. If several parts occupy a cell, the cell has the label of the first of them. The rules
    /// fraction and area make a field for each part in addition to the field of the whole mesh; see
    /// [`Rule::has_label_fields`].
    Parts(PartKind),
    /// Each [colour](voxelize_meshes::Mesh::colours) of the mesh has a label. Similar colours are merged if
    /// there are more than 255. A cell has the colour of the triangle nearest to its centre. Among equally
    /// near triangles, the one whose inner side faces the centre most directly decides, and among these the
    /// one with the least number.
    Colours,
    /// Each colour of a part of this kind has a label, such as `lid #ff0000`. Cells belong to parts as with
    /// [`Parts`](Self::Parts). A cell has the colour of the triangle of its part that is nearest to its
    /// centre. If there are more than 255 labels, similar colours of a part are merged.
    PartColours(PartKind),
}

impl JobLabels {
    /// Returns true if the labels represent parts or colours of the mesh.
    pub fn are_of_mesh(self) -> bool {
        self.part_kind().is_some() || self.are_colours()
    }

    /// Returns true if the labels represent colours, whether or not parts have labels of their own.
    pub fn are_colours(self) -> bool {
        matches!(self, Self::Colours | Self::PartColours(_))
    }

    /// Returns the kind of the parts that have labels of their own. `None` if parts have none.
    pub fn part_kind(self) -> Option<PartKind> {
        match self {
            Self::Parts(kind) | Self::PartColours(kind) => Some(kind),
            _ => None,
        }
    }
}

/// Result of voxelizing a mesh: the voxels and the findings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxelized {
    /// Cells, their lattice, and the record that describes how they were made.
    pub voxels: Voxels,
    /// Warnings and notes about possible defects of the result, with hints on what to do about them.
    pub findings: Vec<Finding>,
    /// Counts from which the findings were derived.
    pub stats: Stats,
}

impl<'a> Voxelizer<'a> {
    /// Creates a voxelizer with this rule. It uses all threads and the best instruction set of the machine,
    /// reports no progress, and has no memory limit.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            run: Run::default(),
            extras: Extras::default(),
            transform: None,
            input: None,
            priority: &[],
            drains: &[],
            has_findings: true,
        }
    }

    /// Replaces the rule.
    pub(super) fn with_rule(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    /// Replaces all settings of the run.
    #[must_use]
    pub fn with_run(self, run: Run<'a>) -> Self {
        Self { run, ..self }
    }

    /// Sets the number of threads. 0 means all threads of the system.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self {
            run: self.run.threads(threads),
            ..self
        }
    }

    /// Sets the instruction set of the kernels.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self {
            run: self.run.level(level),
            ..self
        }
    }

    /// Sets the memory limit, in bytes, for the mesh, the cells, and other data of the rule.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self {
            run: self.run.memory(bytes),
            ..self
        }
    }

    /// Sets the memory limit together with the memory of the program.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        Self {
            run: self.run.budget(budget),
            ..self
        }
    }

    /// Sets the listener that gets progress reports and may cancel the run.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self {
            run: self.run.progress(progress),
            ..self
        }
    }

    /// Sets a token that cancels the run. Soon after the cancellation, the run ends with an error of kind
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

    /// Sets the transform of the mesh. The mesh must already be turned by [`Transform::apply`], and the
    /// lattice must be in the coordinates of the turned mesh. The resulting cells have the lattice that
    /// [`Transform::place`] returns, and findings use the coordinates of that lattice.
    #[must_use]
    pub fn transform(self, transform: &'a Transform) -> Self {
        Self {
            transform: Some(transform),
            ..self
        }
    }

    /// Requests the labels of [`surface_and_interior`](crate::rule::surface_and_interior), if the rule [has
    /// labels](Rule::has_labels). A `.vox` file then shows surface and interior in different colours.
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

    /// Sets the results that are made in addition to the grid.
    #[must_use]
    pub fn extras(self, extras: Extras) -> Self {
        Self { extras, ..self }
    }

    /// Sets the names of the parts that have precedence if several parts occupy the same cell.
    #[must_use]
    pub fn priority(self, names: &'a [String]) -> Self {
        Self {
            priority: names,
            ..self
        }
    }

    /// Sets the drain holes of a hollow part.
    #[must_use]
    pub fn drains(self, drains: &'a [Drain]) -> Self {
        Self { drains, ..self }
    }

    /// Returns true if the wall of a hollow part is measured.
    pub(super) fn measures_walls(&self) -> bool {
        let has_parts = matches!(self.extras.labels, JobLabels::Parts(_));
        self.extras.walls && self.rule.has_cavity() && !has_parts
    }

    /// Sets the name of the input file that the record of the cells states.
    #[must_use]
    pub fn input(self, name: Option<&'a str>) -> Self {
        Self {
            input: name,
            ..self
        }
    }

    /// Turns findings off. With the rule solid, this saves the time of the search for lost features.
    #[must_use]
    pub fn without_findings(self) -> Self {
        Self {
            has_findings: false,
            ..self
        }
    }

    /// Maps the lattice to the coordinates of the grid, which are used in files and digests.
    pub(super) fn placed(&self, lattice: &Lattice) -> Result<Lattice> {
        match self.transform {
            Some(transform) => transform.place(lattice),
            None => Ok(lattice.clone()),
        }
    }

    /// Returns the frame of the scan for which the grid is made.
    pub(super) fn frame(&self) -> Option<&ScanFrame> {
        self.transform?.frame.as_ref()
    }

    /// Returns the factor by which the transform scales coordinates.
    pub(super) fn scale(&self) -> f64 {
        self.transform
            .map_or(1.0, |transform| transform.scale.to_f64())
    }

    /// Returns true if cells have the labels surface and interior.
    pub(super) fn has_labels(&self) -> bool {
        self.extras.labels == JobLabels::SurfaceAndInterior && self.rule.has_labels()
    }

    /// Returns the conversion with which findings print coordinates.
    pub(super) fn coordinates(&self) -> GridCoordinates {
        self.transform
            .map(Transform::coordinates)
            .unwrap_or_default()
    }

    /// Adds the transform of the mesh and the name of the input file to a record. Scales the volume of the
    /// mesh in it.
    pub(super) fn about(&self, record: Record) -> Record {
        let transform = self.transform.map(Transform::entries).unwrap_or_default();
        let input = self.input.map(str::to_string);
        let scaled = |text: String| match (self.scale(), text.parse::<f64>()) {
            (scale, Ok(volume)) if scale != 1.0 => (volume * scale.powi(3)).to_string(),
            _ => text,
        };
        let mesh_volume = record.mesh_volume.map(scaled);
        let drains: Vec<_> = self.drains.iter().map(Drain::text).collect();
        Record {
            drain: Some(drains.join(";")).filter(|text| !text.is_empty()),
            transform,
            mesh_volume,
            input,
            ..record
        }
    }
}
