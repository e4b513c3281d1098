//! `voxelize info` describes meshes and voxel files.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use serde::Serialize;
use voxelize::format::{self, ARRAYS, Carries, Description, IMAGE_AXES, UNKNOWN_AXES, UNREAD_TYPE};
use voxelize::grid::frame::SCAN_FRAME;
use voxelize::grid::record::FIELDS;
use voxelize::grid::{Label, Record, ScanFrame};
use voxelize::job::{DEFAULT_RES, MeshPose, UnitOfLength, findings, part_sizes};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{self, ReadNear, ReadOptions};
use voxelize::tool::text::GridCoordinates;
use voxelize::{
    BitGrid, Bounds, Code, Error, Fit, Lattice, Mesh, Rational, Result, Rule, Size, Voxels, par,
};

use super::args::{MemoryArgs, ReadArgs, SceneArgs, arguments, transform, values};
use super::command::{Call, Command};
use super::contents::{self, Contents};
use super::files;
use super::memory::Resources;
use super::names::InputFile;
use super::report::display::{
    self, bytes, counted, grouped, number, occupancy, open_axes, ranges, suffix,
};
use super::report::value::{
    self, CornersJson, Counts, Digests, FieldsJson, Grid, LabelCount, SidesJson, Warning, lossy,
};
use super::report::{Object, Outcome, Report, ReportRows, empty};
use super::run::{MeshInput, mesh_format, record_text, triangles};
use super::scene;

pub const COMMAND: Command = Command {
    name: "info",
    about: "describe a mesh or a voxel file",
    examples: "\
voxelize info part.stl           triangles, bounds, holes, parts, suggested cell sizes
voxelize info part.stl --unit mm --density 1.24   and its volume in ml and mass in g
voxelize info part.vox           its grid, how it was made, its digests
voxelize info *.npz --json       one line of JSON for each file",
    notes: "\
A mesh is closed (watertight) if each edge occurs an even number of times, and oriented if each edge occurs equally often in both directions. Vertices are the same if their coordinates are equal.
A file that fails does not stop the others. The exit code is then the code of the failures, or 7 if they have different codes.",
    empty: empty::<FileInfo>,
    arguments: arguments::<InfoArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct InfoArgs {
    /// Meshes and voxel files, of any format that 'voxelize formats' lists
    #[arg(
        value_name = "FILE",
        required_unless_present = "scene",
        help_heading = "Files"
    )]
    files: Vec<PathBuf>,

    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    read: ReadArgs,

    /// The unit of the coordinates of meshes: um, mm, cm, m, in or ft. Nothing is scaled
    /// [default: the unit that the file states]
    #[arg(long, value_name = "UNIT", value_parser = transform::unit(), hide_possible_values = true,
          help_heading = "Input")]
    unit: Option<UnitOfLength>,

    /// The density of the material in g/cm³, such as 1.24 for PLA: report the mass of meshes with a volume and a unit
    /// [default: no mass]
    #[arg(long, value_name = "G", value_parser = values::density, help_heading = "Output")]
    density: Option<Rational>,

    #[command(flatten)]
    memory: MemoryArgs,
}

/// Result of the command for one mesh or one voxel file.
#[derive(Default, Serialize)]
struct FileInfo {
    path: Option<String>,
    kind: Option<&'static str>,
    format: Option<&'static str>,
    bytes: Option<u64>,
    mesh: Option<MeshInfoJson>,
    suggestions: Option<Vec<Suggestion>>,
    warnings: Option<Vec<Warning>>,
    dtype: Option<String>,
    #[serde(flatten)]
    cells: CellsInfo,
    mesh_volume: Option<f64>,
    digest: Option<Digests>,
}

#[derive(Serialize)]
struct MeshInfoJson {
    triangles: usize,
    degenerate: u64,
    bounds: Option<CornersJson>,
    extent: Option<[f64; 3]>,
    closed: bool,
    oriented: bool,
    open_edges: u64,
    unbalanced_edges: u64,
    volume: Option<f64>,
    volume_ml: Option<f64>,
    mass_g: Option<f64>,
    median_edge: Option<f64>,
    dropped: u64,
    unit: Option<&'static str>,
    parts: Vec<PartJson>,
    colours: Option<ColourCounts>,
}

/// Object or material of a mesh.
#[derive(Serialize)]
struct PartJson {
    kind: &'static str,
    name: String,
    triangles: u64,
}

/// Numbers of triangles by the source of their colours.
#[derive(Default, Serialize)]
struct ColourCounts {
    /// Triangles with a texture.
    texture: u64,
    /// Triangles without a texture whose corners have different colours.
    vertex: u64,
    /// Triangles of a single colour.
    single: u64,
}

/// Suggested options for a grid of the mesh, and the grid that they make.
#[derive(Serialize)]
struct Suggestion {
    option: String,
    why: String,
    dims: [usize; 3],
    spacing: f64,
    spacing_exact: String,
}

/// Cells of a voxel file, and the record of how they were made.
#[derive(Default, Serialize)]
pub struct CellsInfo {
    contents: Option<Contents>,
    labels: Option<Vec<LabelCount>>,
    grid: Option<FileGrid>,
    made_by: Option<String>,
    input: Option<String>,
    rule: Option<String>,
    #[serde(flatten)]
    fields: FieldsJson,
    snap: Option<String>,
    transform: Option<Object>,
    counts: Option<Counts>,
    volume: Option<f64>,
}

/// Grid of a file. A file may state the dims without the position of the cells.
#[derive(Serialize)]
#[serde(untagged)]
enum FileGrid {
    Placed(Box<Grid>),
    Unplaced { dims: Option<[usize; 3]> },
}

impl FileGrid {
    fn new(lattice: Option<&Lattice>, dims: Option<[usize; 3]>) -> Self {
        match lattice {
            Some(lattice) => Self::Placed(Box::new(lattice.into())),
            None => Self::Unplaced { dims },
        }
    }
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: InfoArgs = call.args()?;
    let mut files = vec![];
    for given in &args.files {
        let (path, pose) = match files::posed(given)? {
            Some(found) => found,
            None => (given.clone(), MeshPose::default()),
        };
        let path = match files::named(&path) {
            Some((_, file)) if !path.exists() => file.into(),
            _ => path,
        };
        let file = call.names.reads(&path, "a file to be read")?;
        files.push((lossy(given), file, pose));
    }
    if let Some(path) = &args.scene.scene {
        for part in scene::parts(path, &call.names)? {
            let name = part.name();
            files.extend(part.file.map(|file| (name, file, part.pose)));
        }
    }
    call.check_files()?;
    // The command writes nothing before its report. If a pipe blocks it, a signal may therefore end the
    // process at once.
    let _may_stall = call.signals.may_stall();
    let resources = call.resources(args.memory.max_memory)?;
    for (n, (name, file, pose)) in files.iter().enumerate() {
        call.printer
            .print(&Report::of(|report, info: &mut FileInfo| {
                info.path = Some(name.clone());
                if n > 0 {
                    report.out.0 += "\n";
                }
                let rows = &mut report.out;
                par::with_threads(resources.threads, || {
                    describe((file, pose), &args, &resources, call, info, rows)
                })??;
                Ok(Outcome::Done)
            }));
    }
    Ok(Vec::new())
}

fn describe(
    (file, pose): (&InputFile, &MeshPose),
    args: &InfoArgs,
    resources: &Resources,
    call: &Call,
    info: &mut FileInfo,
    rows: &mut ReportRows,
) -> Result<()> {
    let path = file.path();
    files::is_there(path)?;
    if files::voxel_format(path).is_some() || files::is_voxel_name(path) {
        if !pose.is_empty() {
            files::refuse_pose(Path::new(&info.path.clone().unwrap_or_default()))?;
        }
        info.kind = Some("voxels");
        let option = match (&args.unit, &args.density) {
            (Some(_), _) => Some("--unit"),
            (_, Some(_)) => Some("--density"),
            (None, None) => None,
        };
        if let Some(option) = option {
            let error = Error::usage(format!("{option}: this file holds voxels, not a mesh"));
            return Err(error
                .in_file(path)
                .with_hint("give --unit and --density when a mesh is voxelized"));
        }
        return describe_voxels(file, resources, info, rows);
    }
    info.kind = Some("mesh");
    let max_memory = resources.for_job().map(|bytes| bytes / PER_MESH);
    let bar = call.bar();
    let options = ReadOptions::default()
        .tolerance(args.read.tolerance())
        .memory(max_memory)
        .progress(&bar);
    describe_mesh((file, pose), args, &options, info, rows).map_err(|error| match error.code() {
        Code::S002 => Error::input(Code::S002, "neither a mesh nor voxels of a known format")
            .in_file(path)
            .with_hint("'voxelize formats' lists the formats"),
        _ => error,
    })
}

/// Memory for the description of a mesh, as a multiple of the memory of the mesh. Covers the mesh and the
/// lengths of its edges.
const PER_MESH: u64 = 3;

fn describe_mesh(
    (file, pose): (&InputFile, &MeshPose),
    args: &InfoArgs,
    options: &ReadOptions,
    info: &mut FileInfo,
    rows: &mut ReportRows,
) -> Result<()> {
    let path = file.path();
    let companions = |path: &Path| file.reads_companion(path);
    let near = if pose.translates() {
        ReadNear::Mesh
    } else {
        ReadNear::Origin
    };
    let options = options.companions(&companions).near(near);
    let mut loaded = read::read_file(path, &options)?;
    if pose.scales() {
        // The coordinates are then in another unit, which no file states.
        loaded.unit = None;
    }
    if args.unit.is_some() {
        loaded.unit = args.unit;
    }
    let unit = loaded.unit;
    pose.apply(&mut loaded, unit)
        .map_err(|error| error.in_file(info.path.as_deref().unwrap_or_default()))?;
    let mesh = &loaded.mesh;
    let bounds = mesh.bounds();
    let edges = mesh.edge_counts();
    let is_solid = edges.is_closed() && edges.is_oriented() && !mesh.triangles().is_empty();
    // The volume with negative volumes subtracted is not computed.
    let volume = (is_solid && mesh.cuts().is_none()).then(|| mesh.volume());
    let volume_ml = volume
        .zip(unit)
        .map(|(volume, unit)| volume.abs() * unit.millimetres().to_f64().powi(3) / 1000.0);
    let density = args.density.as_ref().map(Rational::to_f64);
    if density.is_some() && unit.is_none() {
        let error = Error::usage("--density: the unit of the mesh is unknown").in_file(path);
        return Err(error.with_hint("state it with `--unit`: um, mm, cm, m, in or ft"));
    }
    let unit = unit.map(UnitOfLength::name);
    let median = median_edge(mesh);
    info.format = Some(loaded.format);
    info.bytes = Some(loaded.bytes);
    let about = info.mesh.insert(MeshInfoJson {
        triangles: mesh.triangles().len(),
        degenerate: mesh.degenerate(),
        bounds: CornersJson::of(bounds, &GridCoordinates::default()),
        extent: (!bounds.is_empty()).then(|| extent(bounds)),
        closed: edges.is_closed(),
        oriented: edges.is_oriented(),
        open_edges: edges.open_edges,
        unbalanced_edges: edges.unbalanced_edges,
        volume,
        volume_ml,
        mass_g: volume_ml
            .zip(density)
            .map(|(volume, density)| volume * density),
        median_edge: median,
        dropped: loaded.dropped,
        unit,
        parts: parts(mesh),
        colours: ColourCounts::new(mesh, &loaded.unread_pictures),
    });
    let mut warnings = loaded.findings.clone();
    warnings.extend(findings::not_subtracted(mesh, "this description"));
    info.warnings = Some(value::warnings(&warnings));

    let kind = mesh_format(loaded.format);
    let input = MeshInput::new(
        mesh,
        loaded.format,
        loaded.bytes,
        loaded.packing,
        loaded.dropped,
    );
    rows.row(
        "mesh",
        format!(
            "{}: {kind}, {}, {}",
            info.path.as_deref().unwrap_or_default(),
            triangles(&input),
            bytes(loaded.bytes)
        ),
    );
    if let Some(extent) = about.extent {
        let corners = [bounds.min, bounds.max].map(|corner| corner.map(f64::from));
        let extent = extent.map(number).join(" × ");
        rows.row(
            "size",
            format!("{extent}{}: {}", suffix(unit), ranges(corners)),
        );
        rows.row("closed", about.closed_text());
    }
    for (n, text) in parts_text(&about.parts).iter().enumerate() {
        rows.row(if n == 0 { "parts" } else { "" }, text);
    }
    if let Some(colours) = &about.colours {
        rows.row("colours", colours.text());
    }
    let suggestions = suggestions(bounds, median);
    for (n, suggestion) in suggestions.iter().enumerate() {
        rows.row(if n == 0 { "cells" } else { "" }, suggestion.text(unit));
    }
    info.suggestions = Some(suggestions);
    for warning in &warnings {
        rows.finding("", warning);
    }
    Ok(())
}

fn extent(bounds: &Bounds) -> [f64; 3] {
    std::array::from_fn(|axis| f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]))
}

impl MeshInfoJson {
    fn closed_text(&self) -> String {
        match self.volume {
            Some(volume) if volume < 0.0 => {
                format!("yes, but inside out: volume {}", self.volume_text(volume))
            }
            Some(volume) => {
                let volume = self.volume_text(volume);
                format!("yes, and oriented; volume {volume} (sum over all shells)")
            }
            None if self.closed && self.oriented => {
                "yes, and oriented; volume not computed, because the mesh has negative volumes"
                    .into()
            }
            None if self.closed => {
                let edges = counted(self.unbalanced_edges, "edge does", "edges do");
                format!("yes, but not oriented: {edges} not occur equally often in both directions")
            }
            None => format!(
                "no, {}; '--rule fraction --inside robust' computes the volume with the holes closed",
                counted(self.open_edges, "open edge", "open edges")
            ),
        }
    }

    /// Returns the volume, in millilitres if the unit is known, and the mass if the density is known.
    fn volume_text(&self, volume: f64) -> String {
        let mut text = display::volume(volume, self.unit);
        if let Some(millilitres) = self.volume_ml {
            text += &format!(" ({} ml)", display::three_digits(millilitres));
        }
        if let Some(grams) = self.mass_g {
            text += &format!(", mass {} g", display::three_digits(grams));
        }
        text
    }
}

/// Returns the objects and then the materials of a mesh, each in the order of the file.
fn parts(mesh: &Mesh) -> Vec<PartJson> {
    let mut parts = vec![];
    for kind in [PartKind::Object, PartKind::Material] {
        for (name, triangles) in part_sizes(mesh, kind) {
            parts.push(PartJson {
                kind: kind.name(),
                name,
                triangles,
            });
        }
    }
    parts
}

/// Returns a line for each kind of part: `objects: body (12 triangles), lid (12)`.
fn parts_text(parts: &[PartJson]) -> Vec<String> {
    let mut lines = vec![];
    for kind in [PartKind::Object, PartKind::Material] {
        let of_kind: Vec<_> = parts
            .iter()
            .filter(|part| part.kind == kind.name())
            .collect();
        if of_kind.is_empty() {
            continue;
        }
        let texts = of_kind.iter().enumerate().map(|(n, part)| match n {
            0 => {
                let triangles = counted(part.triangles, "triangle", "triangles");
                format!("{} ({triangles})", part.name)
            }
            _ => format!("{} ({})", part.name, grouped(part.triangles)),
        });
        lines.push(format!("{}s: {}", kind.name(), display::listed(texts)));
    }
    lines
}

impl ColourCounts {
    /// Counts the triangles of a mesh. The triangles in the ranges `unread_pictures` have textures that were not
    /// read. `None` if the mesh has no colours.
    fn new(mesh: &Mesh, unread_pictures: &[Range<usize>]) -> Option<Self> {
        let mut counts = Self::default();
        let Some(colours) = mesh.colours() else {
            counts.texture = unread_pictures.iter().map(|range| range.len() as u64).sum();
            return (counts.texture > 0).then_some(counts);
        };
        let mut unread = unread_pictures.iter().peekable();
        for triangle in 0..mesh.triangles().len() as u32 {
            let number = triangle as usize;
            while unread.next_if(|range| range.end <= number).is_some() {}
            let is_unread = unread.peek().is_some_and(|range| range.contains(&number));
            if is_unread || colours.texture(triangle).is_some() {
                counts.texture += 1;
            } else if colours.only(triangle).is_none() {
                counts.vertex += 1;
            } else {
                counts.single += 1;
            }
        }
        Some(counts)
    }

    /// Returns `textures on 1,200 triangles, vertex colours on 8, one colour each on 12`.
    fn text(&self) -> String {
        let mut texts: Vec<String> = vec![];
        for (what, count) in [
            ("textures", self.texture),
            ("vertex colours", self.vertex),
            ("one colour each", self.single),
        ] {
            if count == 0 {
                continue;
            }
            texts.push(match texts.is_empty() {
                true => format!("{what} on {}", counted(count, "triangle", "triangles")),
                false => format!("{what} on {}", grouped(count)),
            });
        }
        texts.join(", ") + "; --labels colour keeps them"
    }
}

/// Returns the median length of the edges of all triangles. Edges of length 0 do not count. `None` if no edge
/// remains.
fn median_edge(mesh: &Mesh) -> Option<f64> {
    let mut lengths = vec![];
    for triangle in mesh.triangles() {
        for n in 0..3 {
            let [a, b] = [triangle[n], triangle[(n + 1) % 3]];
            let squares = (0..3).map(|i| (f64::from(b[i]) - f64::from(a[i])).powi(2));
            let length = squares.sum::<f64>().sqrt();
            if length > 0.0 {
                lengths.push(length);
            }
        }
    }
    let middle = lengths.len() / 2;
    (!lengths.is_empty()).then(|| *lengths.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Returns suggested grids: the default, and a grid whose cells are about as long as the median edge, because
/// that length is near the size of the details. A grid that cannot be made is left out.
fn suggestions(bounds: &Bounds, median: Option<f64>) -> Vec<Suggestion> {
    /// Suggested grids have this many cells along the longest axis.
    const SENSIBLE: RangeInclusive<usize> = 16..=4096;
    let mut found = Vec::new();
    let default = Fit::longest(DEFAULT_RES).to(bounds).ok();
    found.extend(default.map(|lattice| {
        Suggestion::new(
            format!("--res {DEFAULT_RES}"),
            "the default".to_string(),
            &lattice,
        )
    }));
    let Some(median) = median else { return found };
    // Two digits are enough for a suggestion.
    let size = number(format!("{median:.1e}").parse().unwrap_or(median));
    if let Ok(exact) = Rational::parse_decimal(&size)
        && let Ok(lattice) =
            Fit::new(Size::Spacing([exact.clone(), exact.clone(), exact])).to(bounds)
        && lattice
            .dims()
            .iter()
            .max()
            .is_some_and(|longest| SENSIBLE.contains(longest))
    {
        let why = format!("about the median edge, {}", number(median));
        found.push(Suggestion::new(
            format!("--voxel-size {size}"),
            why,
            &lattice,
        ));
    }
    found
}

impl Suggestion {
    fn new(option: String, why: String, lattice: &Lattice) -> Self {
        let spacing = &lattice.spacing()[0];
        let (spacing, spacing_exact) = (spacing.to_f64(), spacing.to_string());
        Self {
            option,
            why,
            dims: lattice.dims(),
            spacing,
            spacing_exact,
        }
    }

    fn text(&self, unit: Option<&str>) -> String {
        let [x, y, z] = self.dims.map(|n| grouped(n as u64));
        let size = number(self.spacing) + &suffix(unit);
        let memory = bytes(BitGrid::bytes_for(self.dims));
        format!(
            "{} ({}): {x} × {y} × {z} of {size}, {memory} as bits",
            self.option, self.why
        )
    }
}

fn describe_voxels(
    file: &InputFile,
    resources: &Resources,
    info: &mut FileInfo,
    rows: &mut ReportRows,
) -> Result<()> {
    let path = file.path();
    let description = format::describe(path)?;
    let metadata = &description.metadata;
    info.format = Some(description.format.name);
    info.bytes = Some(description.bytes);
    let unread = metadata.extra.get(UNREAD_TYPE);
    info.dtype = description
        .dtype
        .map(|dtype| dtype.name().to_string())
        .or(unread.cloned());
    let dtype = info
        .dtype
        .as_ref()
        .map_or_else(String::new, |dtype| format!(", {dtype}"));
    let size = bytes(description.bytes);
    let first = format!(
        "{}: {}{dtype}, {size}",
        path.display(),
        description.format.name
    );
    if let Some(dtype) = unread {
        let lattice = metadata.lattice.as_ref();
        info.cells.transform = Some(value::transform(&metadata.record));
        info.cells.grid = Some(FileGrid::new(lattice, metadata.dims));
        rows.row("voxels", first);
        rows.row(
            "grid",
            grid_text(
                lattice,
                metadata.dims.unwrap_or_default(),
                &metadata.record,
                &description,
            ),
        );
        let like = format!("'--like {}' takes the grid", path.display());
        rows.row(
            "cells",
            format!("not read: their type is {dtype}, not uint8 or float; {like}"),
        );
        return Ok(());
    }
    let voxels = files::open_within(file, resources.for_job())?;
    let record = &voxels.record;
    info.cells = CellsInfo::new(&voxels);
    info.mesh_volume = mesh_volume(record);

    rows.row("voxels", first);
    rows.row(
        "grid",
        grid_text(voxels.lattice.as_ref(), voxels.dims(), record, &description),
    );
    if let Some(exact) = voxels.lattice.as_ref().and_then(exact_text) {
        rows.row("exact", exact);
    }
    let snap = record.snap.as_ref().map(|snap| format!("snap: {snap}"));
    let rule: Vec<_> = record_text(record).into_iter().chain(snap).collect();
    if !rule.is_empty() {
        rows.row("rule", rule.join("; "));
    }
    if let Some(made) = made_text(record) {
        rows.row("made", made);
    }
    if let Some(field) = voxels.field() {
        let summary = field.summary();
        rows.row("field", contents::range(&summary));
        rows.row("cells", contents::values(&summary, field));
        if let Some(volume) = info.cells.volume {
            let text = |volume| display::volume(volume, record.transform("unit"));
            let mesh = info.mesh_volume.map_or_else(String::new, |mesh| {
                format!("; volume of the mesh {}", text(mesh))
            });
            rows.row(
                "volume",
                format!("{} (sum over all shares){mesh}", text(volume)),
            );
        }
    }
    if let Some(arrays) = metadata.extra.get(ARRAYS) {
        rows.row("arrays", arrays.clone());
    }
    if let Some(text) = cells_text(&info.cells, &voxels) {
        rows.row("cells", text);
    }
    let legend = info
        .cells
        .contents
        .as_ref()
        .and_then(|contents| contents.legend.as_deref());
    for text in contents::texts(legend.unwrap_or_default()) {
        rows.row("", text);
    }
    let digest = voxels.digest();
    info.digest = Some(Digests::from(&digest));
    rows.row("digest", display::digest(&digest));
    Ok(())
}

impl CellsInfo {
    pub fn new(voxels: &Voxels) -> Self {
        let record = &voxels.record;
        let occupied = voxels.occupied().ok().map(BitGrid::count);
        let contents = Contents::new(voxels.cells.as_ref());
        let lattice = voxels.lattice.as_ref();
        let mut labels = vec![];
        for entry in contents.legend.iter().flatten() {
            labels.push(LabelCount {
                label: entry.name.clone(),
                cells: entry.cells,
                volume: lattice.map(|lattice| value::volume(entry.cells, lattice)),
                ..LabelCount::default()
            });
        }
        let of = |label: &Label| {
            labels
                .iter()
                .find(|one| one.label == label.name)
                .map(|one| one.cells)
        };
        let is_hollow = Rule::from_record(record).is_some_and(|rule| rule.is_hollow());
        let surface = of(&Label::SURFACE).or(occupied.filter(|_| is_hollow));
        let interior = of(&Label::INTERIOR).or(surface.map(|_| 0));
        Self {
            contents: Some(contents),
            grid: Some(FileGrid::new(voxels.lattice.as_ref(), Some(voxels.dims()))),
            made_by: record.tool.clone(),
            input: record.input.clone(),
            rule: record.rule_name.clone(),
            fields: FieldsJson::new(&FIELDS, &record.fields),
            snap: record.snap.clone(),
            transform: Some(value::transform(record)),
            counts: Some(Counts {
                cells: value::cells(voxels.dims()),
                occupied,
                sides: Some(SidesJson { surface, interior }),
                ..Counts::default()
            }),
            labels: Some(labels),
            volume: volume(voxels),
        }
    }
}

/// Returns the volume of the occupied cells, or of the shares of cells. `None` if the cells hold neither, or if
/// their size is unknown.
pub fn volume(voxels: &Voxels) -> Option<f64> {
    match (&voxels.lattice, voxels.occupied()) {
        (Some(lattice), Ok(occupied)) => Some(value::volume(occupied.count(), lattice)),
        _ => volume_of_shares(voxels),
    }
}

/// Returns the volume of the part, computed from the shares of the cells. `None` if the cells hold no shares,
/// or if their size is unknown.
fn volume_of_shares(voxels: &Voxels) -> Option<f64> {
    Rule::from_record(&voxels.record).filter(|rule| matches!(rule, Rule::Fraction { .. }))?;
    Some(contents::sum(voxels.field()?) * voxels.lattice.as_ref()?.cell_volume().to_f64())
}

/// Returns the volume of the mesh that the shares were computed from. `None` if the file does not record it.
pub fn mesh_volume(record: &Record) -> Option<f64> {
    record
        .mesh_volume
        .as_ref()?
        .parse()
        .ok()
        .filter(|volume: &f64| volume.is_finite())
}

fn grid_text(
    lattice: Option<&Lattice>,
    dims: [usize; 3],
    record: &Record,
    description: &Description,
) -> String {
    let Some(lattice) = lattice else {
        let hint = match (&description.metadata.lattice, description.format.carries) {
            (Some(_), _) => ", and its .json describes other cells",
            (None, Carries::InFile | Carries::Rounded) => "",
            (None, _) => "; --sidecar writes it to a .json",
        };
        return format!(
            "{} cells; the file does not contain their position{hint}",
            display::dims(dims)
        );
    };
    let mut text = display::grid_in(lattice, record.transform("unit"));
    let open = open_axes(lattice);
    if !open.is_empty() {
        text += &format!(", open at the end of {}", open.join(", "));
    }
    if let Some(frame) = ScanFrame::tilted_of(record) {
        text += &format!(
            ", along the axes of the image, which are tilted by {:.4} degrees against x, y and z",
            frame.tilt()
        );
    }
    match description
        .metadata
        .extra
        .get(IMAGE_AXES)
        .map(String::as_str)
    {
        None => {}
        Some(UNKNOWN_AXES) => {
            text += "; the image does not state its position: axes assumed along x, y, z, first cell around 0, 0, 0";
        }
        Some(axes) => text += &format!(", the axes of the image run {axes}"),
    }
    text
}

/// Returns the position and size of the cells as fractions. `None` if decimals state them exactly.
fn exact_text(lattice: &Lattice) -> Option<String> {
    let is_decimal =
        |value: &Rational| Rational::parse_decimal(&number(value.to_f64())).as_ref() == Ok(value);
    if lattice
        .spacing()
        .iter()
        .chain(lattice.origin())
        .all(is_decimal)
    {
        return None;
    }
    let size = match lattice.spacing() {
        [x, ..] if lattice.is_cubic() => x.to_string(),
        all => all.each_ref().map(Rational::to_string).join(" × "),
    };
    let corner = lattice
        .origin()
        .each_ref()
        .map(Rational::to_string)
        .join(", ");
    Some(format!("cells of {size}, corner ({corner})"))
}

/// Returns `by voxelize 0.1.0 from part.stl`.
fn made_text(record: &Record) -> Option<String> {
    let by = record.tool.as_ref().map(|tool| format!("by {tool}"));
    let from = record.input.as_ref().map(|input| format!("from {input}"));
    // The row about the grid describes the frame.
    let transform = record
        .transform
        .iter()
        .filter(|(name, _)| *name != SCAN_FRAME)
        .map(|(name, value)| format!(", {name} {value}"));
    let all: Vec<_> = by.into_iter().chain(from).collect();
    (!all.is_empty()).then(|| all.join(" ") + &transform.collect::<String>())
}

/// Returns the number of occupied cells as text. `None` for a field.
fn cells_text(cells: &CellsInfo, voxels: &Voxels) -> Option<String> {
    let text = occupancy(cells.counts.as_ref()?.occupied?, voxels.dims());
    // A hollow grid gets no volume, because the volume of a shell would be mistaken for the volume of the
    // part.
    if Rule::from_record(&voxels.record).is_some_and(|rule| rule.is_hollow()) {
        return Some(format!("{text}; hollow"));
    }
    Some(match cells.volume {
        Some(volume) => {
            format!(
                "{text}, volume {}",
                display::volume(volume, voxels.record.transform("unit"))
            )
        }
        None => text,
    })
}
