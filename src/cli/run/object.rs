//! Result of a run as JSON, schema 1. All keys are always present. Values of steps that the run did not reach
//! are null.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use voxelize::format::FileSize;
use voxelize::grid::record::{FIELDS, INSIDE};
use voxelize::grid::{CellKind, Hash, Quantity, ScanFrame};
use voxelize::job::system::peak_memory;
use voxelize::job::{DrainHole, Transform};
use voxelize::mesh::closed::Closedness;
use voxelize::run::WallThickness;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Lattice, Rational, Rule};

use super::inside::InsideInfo;
use super::report::{DoubtReport, MeshFile, RunReport, left_out, surface_and_interior};
use crate::cli::options::{JobOptions, Mode, Options};
use crate::cli::report::value::{
    self, ArrayValues, CornersJson, Counts, Digests, FieldValues, FieldsJson, Grid, LabelCount,
    OutputJson, OverlapCount, SharedCount, SidesJson, Warning, lossy,
};
use crate::cli::report::{Object, object};

/// Result of a run.
#[derive(Default, Serialize)]
pub struct RunResult {
    input: Option<InputInfo>,
    mesh: Option<MeshJson>,
    transform: Option<TransformInfo>,
    grid: Option<PaddedGrid>,
    rule: Option<&'static str>,
    #[serde(flatten)]
    fields: FieldsJson,
    inside: Option<InsideInfo>,
    snap: Option<Snapped>,
    counts: Option<Counts>,
    field: Option<FieldValues>,
    volume: Option<f64>,
    volume_ml: Option<f64>,
    mass_g: Option<f64>,
    digest: Option<Digests>,
    warnings: Vec<Warning>,
    run: Option<ThreadsJson>,
    timings_ms: Object,
    memory: MemoryJson,
    outputs: Option<Vec<OutputJson>>,
    doubt: Option<DoubtReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    walls: Option<WallsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drains: Option<Vec<DrainJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateJson>,
}

#[derive(Serialize)]
pub struct InputInfo {
    path: String,
    format: Option<&'static str>,
    bytes: Option<u64>,
    packing: Option<&'static str>,
    files: Option<Vec<MeshFile>>,
}

#[derive(Serialize)]
pub struct MeshJson {
    triangles: usize,
    degenerate: u64,
    dropped: u64,
    bounds: Option<CornersJson>,
    closed: Option<bool>,
    oriented: Option<bool>,
    unit: Option<&'static str>,
}

#[derive(Serialize)]
struct TransformInfo {
    up: &'static str,
    axes: String,
    rotate: Option<String>,
    scale: String,
    translate: [String; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<FrameJson>,
}

/// Frame of the scan whose grid is used.
#[derive(Serialize)]
struct FrameJson {
    /// Axes of the array of the scan, such as `-x,-y,z`. `None` if they are tilted.
    axes: Option<String>,
    /// Greatest angle in degrees between an axis of the scan and the nearest of x, y and z.
    tilt: f64,
    /// Directions of the axes of the array.
    directions: [[f64; 3]; 3],
    /// The coordinates of the mesh are turned into the axes of the scan, and rounded once to 32-bit floats.
    rounded: bool,
}

impl FrameJson {
    fn new(frame: &ScanFrame) -> Self {
        let directions = frame.directions().each_ref();
        Self {
            axes: frame.axes_text(),
            tilt: frame.tilt(),
            directions: directions.map(|direction| direction.each_ref().map(Rational::to_f64)),
            rounded: frame.is_tilted(),
        }
    }
}

#[derive(Serialize)]
struct PaddedGrid {
    #[serde(flatten)]
    grid: Grid,
    /// One number if the padding is the same on all sides.
    pad: Value,
}

#[derive(Serialize)]
struct Snapped {
    mode: &'static str,
    coordinates: Option<u64>,
}

#[derive(Serialize)]
struct ThreadsJson {
    threads: usize,
    simd: &'static str,
    plan: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct MemoryJson {
    peak_bytes: Option<u64>,
}

/// Thickness of the wall of a hollow part. The values are null without a cavity.
#[derive(Serialize)]
struct WallsJson {
    least: Option<f64>,
    mean: Option<f64>,
    greatest: Option<f64>,
    faces: u64,
}

/// Drain hole of a hollow part.
#[derive(Serialize)]
struct DrainJson {
    point: [f64; 3],
    diameter: f64,
    /// Nearest point of the cavity.
    end: [f64; 3],
    length: f64,
    cells: u64,
}

/// Estimates of a dry run.
#[derive(Serialize)]
struct EstimateJson {
    memory_bytes: u64,
    peak_bytes: Option<u64>,
    slabs: usize,
    output_bytes: Option<u64>,
    cells: Option<u64>,
}

/// Returns the JSON object for a run that did not begin.
pub fn empty(started: Instant) -> Object {
    object(&RunResult::new(None, None, &RunReport::new(started)))
}

impl RunResult {
    /// Creates the result of a run, which may have stopped early. `mesh` is the name of the mesh.
    pub fn new(mesh: Option<&Path>, options: Option<&Options>, found: &RunReport) -> Self {
        let coordinates = options.map(|options| options.job.options.grid.transform.coordinates());
        let own_fields = FIELDS
            .iter()
            .position(|name| *name == INSIDE)
            .unwrap_or(FIELDS.len());
        let mut result = Self {
            input: mesh.map(|path| InputInfo::new(path, found)),
            mesh: MeshJson::new(found, &coordinates.unwrap_or_default()),
            fields: FieldsJson::new(&FIELDS[..own_fields], &[]),
            digest: found.digest.as_ref().map(Digests::from),
            warnings: value::warnings(&found.warnings),
            timings_ms: value::timings(&found.times.phases(), found.elapsed()),
            memory: MemoryJson {
                peak_bytes: peak_memory(),
            },
            outputs: found.outputs.as_deref().map(value::outputs),
            doubt: found.doubt.clone(),
            ..Self::default()
        };
        let Some(options) = options else {
            return result;
        };
        let job = &options.job.options;
        let left_out = left_out(options, found);
        result.warnings.extend(left_out.as_ref().map(Warning::from));
        result.set_options(job, found, own_fields);
        result.walls = found.walls.as_ref().map(WallsJson::from);
        if !found.drains.is_empty() {
            result.drains = Some(found.drains.iter().map(DrainJson::from).collect());
        }
        result.volume_ml = found.volume_ml(job, &Rational::ONE);
        if let Some(density) = &options.density {
            result.mass_g = found.volume_ml(job, density);
        }
        if let Some(lattice) = &found.lattice {
            result.set_cells(&job.rule, lattice, found);
        }
        if options.mode == Mode::DryRun {
            result.estimate = EstimateJson::new(found);
        }
        result
    }

    fn set_options(&mut self, job: &JobOptions, found: &RunReport, own_fields: usize) {
        let Transform {
            up,
            axes,
            matrix,
            scale,
            translate,
            frame,
            ..
        } = &job.grid.transform;
        self.transform = Some(TransformInfo {
            up: up.name(),
            axes: axes.to_string(),
            rotate: job.grid.transform.rotation_text(),
            scale: scale.to_string(),
            translate: translate.each_ref().map(Rational::to_string),
            matrix: matrix.as_ref().map(|matrix| matrix.to_string()),
            frame: frame.as_ref().map(FrameJson::new),
        });
        self.grid = found.lattice.as_ref().map(|lattice| PaddedGrid {
            grid: Grid::from(lattice),
            pad: match job.grid.padding(lattice) {
                Some([[x, y, z], high]) if [x, y, z] == high && x == y && y == z => x.into(),
                Some([low, high]) if low == high => low.into(),
                Some([low, high]) => [low, high].concat().into(),
                None => Value::Null,
            },
        });
        self.rule = Some(job.rule.name());
        self.fields = FieldsJson::new(&FIELDS[..own_fields], &job.rule.fields());
        self.inside = InsideInfo::new(&job.rule, found, &job.grid.transform.coordinates());
        self.snap = Some(Snapped {
            mode: job.grid.snap.name(),
            coordinates: found.snapped,
        });
        self.run = Some(ThreadsJson {
            threads: job.resources.threads,
            simd: job.resources.level.name(),
            plan: found.memory.as_ref().map(|memory| memory.strategy.name()),
        });
    }

    fn set_cells(&mut self, rule: &Rule, lattice: &Lattice, found: &RunReport) {
        let mut counts = Counts {
            cells: value::cells(lattice.dims()),
            ..Counts::default()
        };
        if rule.kind() == CellKind::Field {
            let array = |(quantity, digest): &(Quantity, Hash)| ArrayValues {
                name: quantity.name(),
                components: quantity.numbers(),
                digest: digest.to_string(),
            };
            if let Some(background) = rule.background(lattice) {
                let field = self
                    .field
                    .insert(FieldValues::new(background, found.field.as_ref()));
                field.arrays = Some(found.arrays.iter().map(array).collect());
            }
            let cell = lattice.spacing().iter().map(Rational::to_f64);
            let cell = cell.product::<f64>();
            self.volume = found.shares.map(|shares| shares * cell);
            if !found.label_fields.is_empty() {
                set_label_fields(&mut counts, cell, found);
            }
        } else if let Some(occupied) = found.occupied {
            counts.occupied = Some(occupied);
            let named = surface_and_interior(&found.labels);
            // If the rule has no interior cells, all occupied cells are surface cells.
            let sides = if rule.is_hollow() {
                Some([occupied, 0])
            } else {
                named
            };
            let (surface, interior) = sides.map(|[surface, interior]| (surface, interior)).unzip();
            counts.sides = Some(SidesJson { surface, interior });
            if !found.labels.is_empty() && named.is_none() {
                set_labels(&mut counts, lattice, found);
            }
            self.volume = Some(value::volume(occupied, lattice));
        } else {
            return;
        }
        self.counts = Some(counts);
    }
}

fn set_labels(counts: &mut Counts, lattice: &Lattice, found: &RunReport) {
    let mut labels = vec![];
    for (label, cells) in &found.labels {
        labels.push(LabelCount {
            label: label.name.to_string(),
            value: Some(label.value),
            cells: *cells,
            volume: Some(value::volume(*cells, lattice)),
            ..LabelCount::default()
        });
    }
    let mut shared = vec![];
    for pair in &found.shared {
        let labels = [&pair.first, &pair.second].map(|label| label.name.to_string());
        shared.push(SharedCount {
            labels,
            cells: pair.cells,
            volume: value::volume(pair.cells, lattice),
        });
    }
    counts.taken = Some(found.taken);
    counts.shared = Some(shared);
    counts.labels = Some(labels);
}

/// Adds the values of the fields of labels. `cell` is the volume of a cell.
fn set_label_fields(counts: &mut Counts, cell: f64, found: &RunReport) {
    let mut labels = vec![];
    for (values, digest) in &found.label_fields {
        let has_shares = found.shared_shares.is_some();
        labels.push(LabelCount {
            label: values.label.name.to_string(),
            value: Some(values.label.value),
            cells: values.cells,
            volume: has_shares.then_some(values.sum * cell),
            area: (!has_shares).then_some(values.sum),
            digest: Some(digest.to_string()),
        });
    }
    counts.overlap = found.shared_shares.map(|shared| OverlapCount {
        cells: shared.cells,
        volume: shared.sum * cell,
    });
    counts.labels = Some(labels);
}

impl InputInfo {
    pub fn new(path: &Path, found: &RunReport) -> Self {
        let mesh = found.mesh.as_ref();
        Self {
            path: lossy(path),
            format: mesh.map(|mesh| mesh.format),
            bytes: mesh.map(|mesh| mesh.bytes),
            packing: mesh.and_then(|mesh| mesh.packing),
            files: mesh
                .map(|mesh| mesh.files.clone())
                .filter(|files| !files.is_empty()),
        }
    }
}

impl MeshJson {
    pub fn new(found: &RunReport, coordinates: &GridCoordinates) -> Option<Self> {
        let mesh = found.mesh.as_ref()?;
        Some(Self {
            triangles: mesh.triangles,
            degenerate: mesh.degenerate,
            dropped: mesh.dropped,
            bounds: CornersJson::of(&mesh.bounds, coordinates),
            closed: found
                .closedness
                .map(|closedness| closedness != Closedness::Open),
            oriented: found
                .closedness
                .map(|closedness| closedness == Closedness::Oriented),
            unit: coordinates.unit,
        })
    }
}

impl From<&WallThickness> for WallsJson {
    fn from(walls: &WallThickness) -> Self {
        let value = |value: f64| (walls.faces > 0).then_some(value);
        Self {
            least: value(walls.least),
            mean: value(walls.mean),
            greatest: value(walls.greatest),
            faces: walls.faces,
        }
    }
}

impl From<&DrainHole> for DrainJson {
    fn from(drain: &DrainHole) -> Self {
        Self {
            point: drain.point,
            diameter: drain.diameter,
            end: drain.end,
            length: drain.length,
            cells: drain.cells,
        }
    }
}

impl EstimateJson {
    fn new(found: &RunReport) -> Option<Self> {
        let memory = found.memory.as_ref()?;
        Some(Self {
            memory_bytes: u64::try_from(memory.bytes).unwrap_or(u64::MAX),
            peak_bytes: found
                .peak
                .map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)),
            slabs: memory.slabs,
            output_bytes: found.output_size.map(FileSize::bytes),
            cells: found
                .lattice
                .as_ref()
                .map(|lattice| value::cells(lattice.dims())),
        })
    }
}
