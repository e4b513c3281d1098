//! Results of a run. The summary, the JSON and the rows of `-v` print them.

use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use voxelize::format::{FileSize, Written};
use voxelize::grid::{CellKind, FieldSummary, Hash, Label, Quantity};
use voxelize::job::{DrainHole, JobLabels, LabelFieldSum, MemoryPlan, SharedCells, SharedShares};
use voxelize::mesh::PartKind;
use voxelize::mesh::closed::{Closedness, ClosednessDefect};
use voxelize::rule::doubt::Doubt;
use voxelize::rule::{InsideReport, LostFeatures};
use voxelize::run::WallThickness;
use voxelize::{Bounds, Code, Digest, Finding, Inside, Lattice, Mesh, Rational};

use crate::cli::options::{JobOptions, Options, has_volume};
use crate::cli::report::display::{counted, grouped, number, percent};

/// Results of a run. A value is `None` if the run did not reach the step that computes it.
#[derive(Default)]
pub struct RunReport {
    started: Option<Instant>,
    pub mesh: Option<MeshInput>,
    pub lattice: Option<Lattice>,
    pub memory: Option<MemoryPlan>,
    /// Expected peak of memory in bytes, including the program. `None` unless the run is a dry run.
    pub peak: Option<u128>,
    /// Expected size of the output. `None` unless the run is a dry run and the format allows an estimate.
    pub output_size: Option<FileSize>,
    /// Axes along which the mesh extends beyond the given box, such as `x, z`. `None` if the box contains the
    /// mesh.
    pub cut: Option<String>,
    /// Number of coordinates that were snapped.
    pub snapped: Option<u64>,
    /// Whether the mesh is closed. `None` if the rule does not depend on it.
    pub closedness: Option<Closedness>,
    /// Defect found by the quick test that the rule makes. `None` if there is none, or if the rule makes no
    /// test.
    pub defect: Option<ClosednessDefect>,
    /// Name of the method that decided the inside.
    pub inside: Option<String>,
    /// Findings about the inside.
    pub inside_report: InsideReport,
    /// Features of the mesh that the rule solid loses, or keeps with `--keep-thin`.
    pub lost: Option<LostFeatures>,
    /// Number of cells that `--keep-thin` added to keep the features.
    pub kept: Option<u64>,
    /// Number of occupied cells. In a field, the number of cells with a value.
    pub occupied: Option<u64>,
    /// Summary of the values of a field. `None` for other cells.
    pub field: Option<FieldSummary>,
    /// Sum of the shares of all cells. `None` unless the cells are shares of volume.
    pub shares: Option<f64>,
    /// What `--labels` could keep of the look of the mesh. `None` if the mesh has neither colours nor materials.
    pub look: Option<MeshLook>,
    /// Arrays that are stored in addition to the field, each with its digest.
    pub arrays: Vec<(Quantity, Hash)>,
    /// Values of the field of each part, with its digest. Empty if parts have no fields.
    pub label_fields: Vec<(LabelFieldSum, Hash)>,
    /// Cells in which parts with shares overlap.
    pub shared_shares: Option<SharedShares>,
    /// Labels, each with the number of its cells.
    pub labels: Vec<(Label, u64)>,
    /// Number of cells that several parts occupy. Such a cell has the label of the first of these parts.
    pub taken: u64,
    /// Number of shared cells for each pair of labels.
    pub shared: Vec<SharedCells>,
    /// Thickness of the wall of a hollow part. `None` if it was not measured.
    pub walls: Option<WallThickness>,
    /// Drain holes.
    pub drains: Vec<DrainHole>,
    /// Cells in doubt. `None` unless they were requested.
    pub doubt: Option<DoubtReport>,
    /// Number of cells on the leak path. `None` unless the path was requested.
    pub leak_path: Option<u64>,
    pub digest: Option<Digest>,
    pub warnings: Vec<Finding>,
    pub times: Times,
    /// Files that were written.
    pub outputs: Option<Vec<Written>>,
}

/// What a mesh has in addition to its shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MeshLook {
    /// Colours or textures.
    Colours,
    /// Several materials without colours.
    Materials,
    /// Several objects without materials and colours.
    Objects,
}

impl MeshLook {
    /// Returns what this mesh has in addition to its shape. `has_pictures` states that it has textures that were
    /// not read.
    pub fn of(mesh: &Mesh, has_pictures: bool) -> Option<Self> {
        if mesh.colours().is_some() || has_pictures {
            return Some(Self::Colours);
        }
        let Some(parts) = mesh.parts(PartKind::Material) else {
            let objects = mesh.parts(PartKind::Object)?;
            return (objects.names().len() > 1).then_some(Self::Objects);
        };
        let mut others = 1..mesh.triangles().len() as u32;
        let has_several =
            parts.names().len() > 1 && others.any(|triangle| parts.of(triangle) != parts.of(0));
        has_several.then_some(Self::Materials)
    }
}

/// Returns the note that the output could hold the colours or materials of the mesh, but that they are left out
/// (W026), or that its objects are, because it has no materials. `None` if nothing is left out.
pub fn left_out(options: &Options, found: &RunReport) -> Option<Finding> {
    let job = &options.job.options;
    let holds_labels = options
        .output
        .target()
        .format
        .kinds
        .contains(&CellKind::Labels);
    if job.rule.kind() != CellKind::Bits || !holds_labels {
        return None;
    }
    let look = found.look?;
    if look == MeshLook::Objects {
        if job.labels().part_kind() != Some(PartKind::Material) {
            return None;
        }
        let text = "the mesh has no materials, and its objects are left out";
        return Some(Finding::new(Code::W026, text).with_hint("`--labels object` keeps them"));
    }
    if job.labels() != JobLabels::Off {
        return None;
    }
    let (what, hint) = match look {
        MeshLook::Objects => return None,
        MeshLook::Colours => ("colours", "`--labels colour` keeps them"),
        MeshLook::Materials => ("materials", "`--labels material` keeps them"),
    };
    let text = format!("the {what} of the mesh are left out");
    Some(Finding::new(Code::W026, text).with_hint(hint))
}

/// Returns the numbers of surface cells and interior cells. `None` if the labels stand for something else.
pub fn surface_and_interior(labels: &[(Label, u64)]) -> Option<[u64; 2]> {
    let is_standard = labels
        .iter()
        .map(|(label, _)| label)
        .eq(&[Label::SURFACE, Label::INTERIOR]);
    is_standard.then(|| [labels[0].1, labels[1].1])
}

/// One file of a mesh.
#[derive(Clone, Serialize)]
pub struct MeshFile {
    pub path: String,
    /// Pose, such as `rotate=z,90`. `None` without a pose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pose: Option<String>,
    /// Name of the format, such as `stl-binary`.
    pub format: &'static str,
    pub bytes: u64,
    /// Compression, such as `gzip`. `None` if the file is not compressed.
    pub packing: Option<&'static str>,
}

/// Description of the mesh that was read.
#[derive(Clone)]
pub struct MeshInput {
    /// Name of the format, such as `stl-binary`. With several files, the format of the first one.
    pub format: &'static str,
    /// Total size of all files in bytes.
    pub bytes: u64,
    pub packing: Option<&'static str>,
    /// All files, if there are several. Otherwise empty.
    pub files: Vec<MeshFile>,
    pub triangles: usize,
    /// Number of triangles that have no area.
    pub degenerate: u64,
    /// Number of triangles that were dropped because they were malformed or truncated.
    pub dropped: u64,
    pub bounds: Bounds,
}

/// Time that each phase took. `None` for a phase that the run did not reach.
#[derive(Default)]
pub struct Times {
    pub read: Option<Duration>,
    pub voxelize: Option<Duration>,
    /// Time for counting cells and computing digests.
    pub digest: Option<Duration>,
    pub write: Option<Duration>,
}

impl RunReport {
    pub fn new(started: Instant) -> Self {
        Self {
            started: Some(started),
            ..Self::default()
        }
    }

    /// Creates the report of one of several grids that are made from the mesh of this report.
    pub fn of_grid(&self) -> Self {
        Self {
            started: self.started,
            mesh: self.mesh.clone(),
            look: self.look,
            warnings: self.warnings.clone(),
            times: Times {
                read: self.times.read,
                ..Times::default()
            },
            ..Self::default()
        }
    }

    /// Returns the volume of the part in millilitres, which are cubic centimetres, times `factor`. `None` if the
    /// rule has no volume, or if the unit or the number of cells is unknown. The count of cells, the size of a
    /// cell and the factor are multiplied exactly.
    pub fn volume_ml(&self, job: &JobOptions, factor: &Rational) -> Option<f64> {
        let lattice = self.lattice.as_ref()?;
        if !has_volume(&job.rule) {
            return None;
        }
        let centimetres = job.grid.transform.unit?.millimetres() * Rational::new(1, 10);
        let cube = &(&centimetres * &centimetres) * &centimetres;
        let cell = &(&lattice.cell_volume() * &cube) * factor;
        match self.shares {
            Some(shares) => Some(shares * cell.to_f64()),
            None => {
                let cells = Rational::from(i64::try_from(self.occupied?).unwrap_or(i64::MAX));
                Some((&cell * &cells).to_f64())
            }
        }
    }

    /// Returns the time since the run started.
    pub fn elapsed(&self) -> Duration {
        self.started
            .map(|started| started.elapsed())
            .unwrap_or_default()
    }
}

impl Times {
    pub fn phases(&self) -> [(&'static str, Option<Duration>); 4] {
        [
            ("read", self.read),
            ("voxelize", self.voxelize),
            ("digest", self.digest),
            ("write", self.write),
        ]
    }
}

/// Runs `work` and adds its duration to `time`.
pub fn timed<R>(time: &mut Option<Duration>, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *time = Some(time.unwrap_or_default() + start.elapsed());
    result
}

/// Number of cells in doubt, and the numbers that explain it.
#[derive(Debug, Clone, Serialize)]
pub struct DoubtReport {
    cells: u64,
    /// Cells in doubt as a share of the cells inside.
    share: f64,
    /// Number of cells that any compared method counts as inside.
    inside: u64,
    /// Number of cells that each method counts as inside.
    #[serde(rename = "inside_by", serialize_with = "by_name")]
    by: [(Inside, u64); 4],
    /// Methods that were not compared. Only a flood that leaked is left out.
    left_out: Vec<&'static str>,
    /// Maximum share that the user allows. `None` for no maximum.
    #[serde(rename = "asked_most", serialize_with = "as_float")]
    most: Option<Rational>,
}

fn by_name<S: Serializer>(
    by: &[(Inside, u64)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(by.iter().map(|(method, cells)| (method.name(), cells)))
}

fn as_float<S: Serializer>(
    share: &Option<Rational>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    share.as_ref().map(Rational::to_f64).serialize(serializer)
}

impl DoubtReport {
    pub fn new(found: &Doubt, most: Option<Rational>) -> Self {
        let leaked = found
            .by
            .iter()
            .filter(|(method, _)| found.leaked && method.is_flood());
        Self {
            cells: found.cells.occupied().count(),
            share: found.share(),
            inside: found.inside,
            by: found.by,
            left_out: leaked.map(|(method, _)| method.name()).collect(),
            most,
        }
    }

    /// Returns `true` if the share of cells in doubt is at most the allowed share.
    pub fn passes(&self) -> bool {
        let whole = |n: u64| Rational::from(i64::try_from(n).unwrap_or(i64::MAX));
        self.most
            .as_ref()
            .is_none_or(|most| whole(self.cells) <= most * &whole(self.inside))
    }

    /// Returns `1,234 cells (0.4 % of the 310,000 that at least one of four methods counts as inside)`.
    pub fn line(&self) -> String {
        let cells = counted(self.cells, "cell", "cells");
        let share = percent(self.cells, u128::from(self.inside));
        let inside = grouped(self.inside);
        let methods = if self.left_out.is_empty() {
            "four"
        } else {
            "three"
        };
        format!(
            "{cells} ({share} of the {inside} that at least one of {methods} methods counts as inside)"
        )
    }

    /// Returns `inside by nonzero 310,000, evenodd 309,980, robust 309,990, flood 290,000 without the
    /// surface`. If the flood leaked, the text states instead that flood is not compared.
    pub fn by_method(&self) -> String {
        let mut flood = "; flood leaked and is not compared".to_string();
        let mut others = vec![];
        for (method, cells) in &self.by {
            let text = format!("{} {}", method.name(), grouped(*cells));
            if !method.is_flood() {
                others.push(text);
            } else if self.left_out.is_empty() {
                flood = format!(", {text} without the surface");
            }
        }
        format!("inside by {}{flood}", others.join(", "))
    }

    /// Returns the error message for a share that is too large.
    pub fn refusal(&self) -> String {
        let most = self.most.as_ref().map_or(1.0, Rational::to_f64);
        format!(
            "failed: {} are in doubt; --max-doubt allows {} %",
            self.line(),
            number(100.0 * most)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::values;

    #[test]
    fn as_many_cells_in_doubt_as_are_allowed_pass_and_no_more() {
        for (most, cells, inside, passes) in [
            ("0.7%", 7, 1000, true),
            ("0.007", 8, 1000, false),
            ("0", 0, 0, true),
            ("0", 1, u64::MAX >> 1, false),
            ("100 %", 5, 5, true),
        ] {
            let by = [(Inside::Nonzero, inside); 4];
            let most = Some(values::portion(most).unwrap());
            let found = DoubtReport {
                cells,
                share: 0.0,
                inside,
                by,
                left_out: vec![],
                most,
            };
            assert_eq!(found.passes(), passes, "{found:?}");
        }
        let by = [(Inside::Robust, 5); 4];
        let left_out = vec!["flood"];
        assert!(
            DoubtReport {
                cells: 5,
                share: 1.0,
                inside: 5,
                by,
                left_out,
                most: None
            }
            .passes()
        );
        for wrong in ["101%", "-1%", "1.1", "%", "1%%", "some"] {
            assert!(values::portion(wrong).is_err(), "{wrong}");
        }
    }
}
