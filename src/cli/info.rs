//! `voxelize info`: describes meshes and voxel files.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use voxelize::format::{self, Carries, Description, IMAGE_AXES, UNKNOWN_AXES, UNREAD_TYPE};
use voxelize::grid::metadata::Metadata;
use voxelize::grid::record::FIELDS;
use voxelize::grid::{Label, Record};
use voxelize::job::{DEFAULT_RES, InFile, UnitOfLength, findings};
use voxelize::mesh::closed::EdgeCounts;
use voxelize::mesh::read::{self, ReadOptions, Tolerance};
use voxelize::tool::text::GridCoordinates;
use voxelize::{BitGrid, Bounds, Code, Error, Fit, Lattice, Mesh, Rational, Result, Rule, Size, Voxels, par};

use super::args::{MemoryArgs, ReadArgs, arguments};
use super::command::{Call, Command};
use super::contents::{self, LabelCount};
use super::files;
use super::memory::Resources;
use super::report::display::{self, bytes, counted, grouped, number, occupancy, ranges};
use super::report::finding_line;
use super::report::{Outcome, Report, value};
use super::run::{MeshInput, mesh_format, option_text, triangles};

pub const COMMAND: Command = Command {
    name: "info",
    about: "describe a mesh or a voxel file",
    examples: "\
voxelize info part.stl           triangles, bounds, holes, suggested cell sizes
voxelize info part.vox           its grid, how it was made, its digests
voxelize info *.npz --json       one line of JSON for each file",
    notes: "\
A mesh is closed (watertight) if each edge occurs an even number of times, and oriented if each is \
cancelled by its reverse; vertices are the same if their coordinates are.
A file that fails does not stop the others; the exit code is then that of the failures, or 7 if they fail \
for different reasons.",
    keys: "path kind format bytes mesh suggestions warnings dtype contents labels grid made_by input rule [fields] \
           snap transform counts volume mesh_volume digest",
    arguments: arguments::<InfoArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct InfoArgs {
    /// Meshes and voxel files, of any format that 'voxelize formats' lists
    #[arg(value_name = "FILE", required = true, help_heading = "Files")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    memory: MemoryArgs,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: InfoArgs = call.args()?;
    let read = |path: &PathBuf| call.names.reads(path, "a file to be read");
    let files = args.files.iter().map(read).collect::<Result<Vec<_>>>()?;
    call.check_files()?;
    // Nothing is written before the report: a signal may end the process while a pipe is waited for.
    let _may_stall = call.signals.may_stall();
    let resources = call.resources(args.memory.max_memory)?;
    for (n, file) in files.iter().enumerate() {
        let path = file.path();
        let report = Report::of(|report| {
            report.set("path", path.to_string_lossy());
            if n > 0 {
                report.out += "\n";
            }
            par::with_threads(resources.threads, || {
                describe(file, args.read.tolerance(), &resources, call, report)
            })?
            .map(|()| Outcome::Done)
            .inspect_err(|_| report.out.clear())
        });
        call.printer.print(&report);
    }
    Ok(Vec::new())
}

fn describe(
    file: &InFile,
    tolerance: Tolerance,
    resources: &Resources,
    call: &Call,
    report: &mut Report,
) -> Result<()> {
    let path = file.path();
    files::is_there(path)?;
    if files::voxel_format(path).is_some() || files::is_voxel_name(path) {
        report.set("kind", "voxels");
        return describe_voxels(file, resources, report);
    }
    report.set("kind", "mesh");
    let max_memory = resources.for_job().map(|bytes| bytes / PER_MESH);
    let bar = call.bar();
    let options = ReadOptions::default().tolerance(tolerance).memory(max_memory).progress(&bar);
    describe_mesh(file, &options, report).map_err(|error| match error.code() {
        Code::S002 => Error::input(Code::S002, "neither a mesh nor voxels of a known format")
            .in_file(path)
            .with_hint("'voxelize formats' lists the formats"),
        _ => error,
    })
}

/// The memory for the description of a mesh, in meshes: the mesh and the lengths of its sides.
const PER_MESH: u64 = 3;

/// Describes the mesh in a file.
fn describe_mesh(file: &InFile, options: &ReadOptions, report: &mut Report) -> Result<()> {
    let path = file.path();
    let companions = |path: &Path| file.reads_companion(path);
    let loaded = read::read_file(path, &options.companions(&companions))?;
    let mesh = &loaded.mesh;
    let edges = loaded.mesh.edge_counts();
    let median = median_edge(mesh);
    let solid = edges.is_closed() && edges.is_oriented() && !mesh.triangles().is_empty();
    // The volume of what negative volumes leave is not computed.
    let volume = (solid && mesh.cuts().is_none()).then(|| mesh.volume());
    let input = MeshInput::new(mesh, loaded.format, loaded.bytes, loaded.packing, loaded.dropped);
    report.set("format", loaded.format);
    report.set("bytes", loaded.bytes);
    let unit = loaded.unit.map(UnitOfLength::name);
    let mut known = mesh_json(mesh, &edges, volume, median);
    known["dropped"] = json!(loaded.dropped);
    known["unit"] = json!(unit);
    report.set("mesh", known);
    let mut warnings = loaded.findings.clone();
    warnings.extend(findings::not_subtracted(mesh, "this description"));
    report.set("warnings", warnings.iter().map(value::finding).collect::<Value>());
    let suggestions = suggestions(mesh.bounds(), median);
    report.set("suggestions", suggestions.iter().map(Suggestion::json).collect::<Value>());

    let kind = mesh_format(loaded.format);
    let triangles = triangles(&input);
    let size = bytes(loaded.bytes);
    report.row("mesh", &format!("{}: {kind}, {triangles}, {size}", path.display()));
    if !mesh.bounds().is_empty() {
        report.row("size", &extent(mesh.bounds(), &display::suffix(unit)));
        report.row("closed", &closed(&edges, volume, unit));
    }
    for (n, suggestion) in suggestions.iter().enumerate() {
        report.row(if n == 0 { "cells" } else { "" }, &suggestion.text(&display::suffix(unit)));
    }
    warnings.iter().for_each(|warning| report.out += &finding_line("", warning));
    Ok(())
}

fn mesh_json(mesh: &Mesh, edges: &EdgeCounts, volume: Option<f64>, median: Option<f64>) -> Value {
    let bounds = mesh.bounds();
    let extent: [f64; 3] = std::array::from_fn(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a]));
    json!({
        "triangles": mesh.triangles().len(),
        "degenerate": mesh.degenerate(),
        "bounds": value::bounds(bounds, &GridCoordinates::default()),
        "extent": (!bounds.is_empty()).then_some(extent),
        "closed": edges.is_closed(),
        "oriented": edges.is_oriented(),
        "open_edges": edges.open_edges,
        "unbalanced_edges": edges.unbalanced_edges,
        "volume": volume,
        "median_edge": median,
    })
}

/// `63 × 65 × 28 mm: x -28.5 … 34.5, …`.
fn extent(bounds: &Bounds, unit: &str) -> String {
    let low = bounds.min.map(f64::from);
    let high = bounds.max.map(f64::from);
    let extent = [0, 1, 2].map(|a| number(high[a] - low[a])).join(" × ");
    format!("{extent}{unit}: {}", ranges([low, high]))
}

fn closed(edges: &EdgeCounts, volume: Option<f64>, unit: Option<&str>) -> String {
    match volume {
        Some(inverted) if inverted < 0.0 => {
            format!("yes, but inside out: volume {}", display::volume(inverted, unit))
        }
        Some(volume) => {
            format!("yes, and oriented; volume {}, the sum of its shells", display::volume(volume, unit))
        }
        None if edges.is_closed() && edges.is_oriented() => "yes, and oriented; less negative volumes".into(),
        None if edges.is_closed() => {
            let edges = counted(edges.unbalanced_edges, "edge is", "edges are");
            format!("yes, but not oriented: {edges} not cancelled by their reverse")
        }
        None => format!("no, {}", counted(edges.open_edges, "open edge", "open edges")),
    }
}

/// The middle one of the lengths of all sides that have a length.
fn median_edge(mesh: &Mesh) -> Option<f64> {
    let length = |a: &[f32; 3], b: &[f32; 3]| {
        (0..3).map(|i| (f64::from(b[i]) - f64::from(a[i])).powi(2)).sum::<f64>().sqrt()
    };
    let sides = mesh.triangles().iter().flat_map(|t| (0..3).map(|n| length(&t[n], &t[(n + 1) % 3])));
    let mut lengths: Vec<f64> = sides.filter(|length| *length > 0.0).collect();
    let middle = lengths.len() / 2;
    (!lengths.is_empty()).then(|| *lengths.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The cells on the longest axis that are worth suggesting.
const SENSIBLE: std::ops::RangeInclusive<usize> = 16..=4096;

fn longest(lattice: &Lattice) -> usize {
    lattice.dims().into_iter().max().unwrap_or(0)
}

/// Options that make a grid of this mesh, and what that grid would be.
struct Suggestion {
    option: String,
    why: String,
    lattice: Lattice,
}

/// The default, and a size by which an edge is about as long as a cell: where edges are that short, they
/// are as long as the details they draw. What does not fit is left out.
fn suggestions(bounds: &Bounds, median: Option<f64>) -> Vec<Suggestion> {
    let mut found = Vec::new();
    let mut add = |option: String, why: String, fit: Fit, lengths: std::ops::RangeInclusive<usize>| {
        let lattice = fit.to(bounds).ok().filter(|lattice| lengths.contains(&longest(lattice)));
        found.extend(lattice.map(|lattice| Suggestion { option, why, lattice }));
    };
    let default = format!("--res {DEFAULT_RES}");
    add(default, "the default".to_string(), Fit::longest(DEFAULT_RES), 1..=usize::MAX);
    if let Some(median) = median {
        // Two digits are enough to begin with.
        let size = number(format!("{median:.1e}").parse().unwrap_or(median));
        if let Ok(exact) = Rational::parse_decimal(&size) {
            let fit = Fit::new(Size::Spacing([exact.clone(), exact.clone(), exact]));
            let why = format!("about the median edge, {}", number(median));
            add(format!("--voxel-size {size}"), why, fit, SENSIBLE);
        }
    }
    found
}

impl Suggestion {
    fn text(&self, unit: &str) -> String {
        let [x, y, z] = self.lattice.dims().map(|n| grouped(n as u64));
        let size = number(self.lattice.spacing()[0].to_f64());
        let memory = bytes(BitGrid::bytes_for(self.lattice.dims()));
        format!("{} ({}): {x} × {y} × {z} of {size}{unit}, {memory} as bits", self.option, self.why)
    }

    fn json(&self) -> Value {
        json!({
            "option": self.option,
            "why": self.why,
            "dims": self.lattice.dims(),
            "spacing": self.lattice.spacing()[0].to_f64(),
            "spacing_exact": self.lattice.spacing()[0].to_string(),
        })
    }
}

/// Describes the voxels in a file.
fn describe_voxels(file: &InFile, resources: &Resources, report: &mut Report) -> Result<()> {
    let path = file.path();
    let description = format::describe(path)?;
    report.set("format", description.format.name);
    report.set("bytes", description.bytes);
    let unread = description.metadata.extra.get(UNREAD_TYPE).map(String::as_str);
    let dtype = description.dtype.map(|dtype| dtype.name()).or(unread);
    report.set("dtype", dtype);
    let dtype = dtype.map_or_else(String::new, |dtype| format!(", {dtype}"));
    let size = bytes(description.bytes);
    let first = format!("{}: {}{dtype}, {size}", path.display(), description.format.name);
    if let Some(dtype) = unread {
        report.row("voxels", &first);
        describe_header(&description, report);
        let like = format!("'--like {}' takes the grid", path.display());
        report.row("cells", &format!("not read: their type is {dtype}, not uint8 or float; {like}"));
        return Ok(());
    }
    let voxels = files::open_within(file, resources.for_job())?;
    let labels = contents::labels(voxels.cells.as_ref());
    // A field has no occupied cells.
    let occupied = voxels.occupied().ok().map(BitGrid::count);
    set_voxels(report, &voxels, &labels, occupied);

    report.row("voxels", &first);
    report.row("grid", &grid(voxels.lattice.as_ref(), voxels.dims(), &voxels.record, &description));
    if let Some(exact) = voxels.lattice.as_ref().and_then(exact) {
        report.row("exact", &exact);
    }
    let snap = voxels.record.snap.as_ref().map(|snap| format!("snap: {snap}"));
    let rule: Vec<_> = rule_text(&voxels.record).into_iter().chain(snap).collect();
    if !rule.is_empty() {
        let rule = rule.join("; ");
        report.row("rule", &rule);
    }
    if let Some(made) = made(&voxels.record) {
        report.row("made", &made);
    }
    if let Some(field) = voxels.field() {
        report.row("field", &contents::range(field));
        report.row("cells", &contents::valued(field));
        if let Some(volume) = volume_of_shares(&voxels) {
            let text = |volume| display::volume(volume, unit(&voxels));
            let mesh =
                mesh_volume(&voxels).map_or_else(String::new, |mesh| format!("; of the mesh {}", text(mesh)));
            report.row("volume", &format!("{}, the sum of all shares{mesh}", text(volume)));
        }
    }
    if let Some(occupied) = occupied {
        report.row("cells", &cells(&voxels, occupied));
    }
    contents::texts(&labels).iter().for_each(|text| report.row("", text));
    let digest = voxels.digest();
    report.set("digest", value::digest(&digest));
    report.row("digest", &display::digest(&digest));
    Ok(())
}

/// Describes the grid of an image whose cells are not read.
fn describe_header(description: &Description, report: &mut Report) {
    let Metadata { dims, lattice, record, .. } = &description.metadata;
    report.set("transform", transform(record));
    report.set("grid", lattice.as_ref().map_or_else(|| json!({"dims": dims}), value::lattice));
    report.row("grid", &grid(lattice.as_ref(), dims.unwrap_or_default(), record, description));
}

fn transform(record: &Record) -> Value {
    let all = record.transform.iter().map(|(name, value)| (name.to_string(), json!(value)));
    Value::Object(all.collect())
}

/// Sets the keys about cells.
pub fn set_voxels(report: &mut Report, voxels: &Voxels, labels: &[LabelCount], occupied: Option<u64>) {
    let Record { tool, rule_name, snap, input, .. } = &voxels.record;
    FIELDS.iter().for_each(|name| report.set(name, voxels.record.field(name)));
    for (key, value) in [("rule", rule_name), ("snap", snap), ("made_by", tool), ("input", input)] {
        report.set(key, value.clone());
    }
    report.set("contents", contents::json(voxels.cells.as_ref(), labels));
    report.set("transform", transform(&voxels.record));
    let count = |label: &LabelCount| json!({"label": label.name, "cells": label.cells});
    report.set("labels", labels.iter().map(count).collect::<Vec<_>>());
    let dims = || json!({"dims": voxels.dims()});
    report.set("grid", voxels.lattice.as_ref().map_or_else(dims, value::lattice));
    let of = |label: &Label| labels.iter().find(|found| found.name == label.name).map(|found| found.cells);
    let hollow = occupied.filter(|_| Rule::from_record(&voxels.record).is_some_and(|rule| rule.is_hollow()));
    let surface = of(&Label::SURFACE).or(hollow);
    let interior = of(&Label::INTERIOR).or(surface.map(|_| 0));
    let cells = value::cells(voxels.dims());
    let counts = json!({"cells": cells, "occupied": occupied, "surface": surface, "interior": interior});
    report.set("counts", counts);
    let lattice = voxels.lattice.as_ref().zip(occupied);
    let volume = lattice.map(|(lattice, occupied)| value::volume(occupied, lattice));
    report.set("volume", volume.or_else(|| volume_of_shares(voxels)));
    report.set("mesh_volume", mesh_volume(voxels));
}

/// The volume that shares of cells add up to; `None` of other cells, or where their size is not known.
fn volume_of_shares(voxels: &Voxels) -> Option<f64> {
    Rule::from_record(&voxels.record).filter(|rule| matches!(rule, Rule::Fraction { .. }))?;
    Some(contents::sum(voxels.field()?) * voxels.lattice.as_ref()?.cell_volume().to_f64())
}

/// The volume of the mesh that shares are of, where the file has it.
fn mesh_volume(voxels: &Voxels) -> Option<f64> {
    voxels.record.mesh_volume.as_ref()?.parse().ok().filter(|volume: &f64| volume.is_finite())
}

fn grid(lattice: Option<&Lattice>, dims: [usize; 3], record: &Record, description: &Description) -> String {
    let Some(lattice) = lattice else {
        let hint = match (&description.metadata.lattice, description.format.carries) {
            (Some(_), _) => ", and its .json describes other cells",
            (None, Carries::InFile | Carries::Rounded) => "",
            (None, _) => "; --sidecar writes it to a .json",
        };
        return format!("{} cells; the file does not contain their position{hint}", display::dims(dims));
    };
    let open: Vec<_> =
        ["x", "y", "z"].into_iter().zip(lattice.closed()).filter(|(_, closed)| !closed).collect();
    let open: Vec<_> = open.into_iter().map(|(axis, _)| axis).collect();
    let open =
        if open.is_empty() { String::new() } else { format!(", open at the end of {}", open.join(", ")) };
    let axes = description.metadata.extra.get(IMAGE_AXES);
    let axes = match axes.map(String::as_str) {
        None => String::new(),
        Some(UNKNOWN_AXES) => {
            "; the image does not say where it is: taken as along x, y, z, its first cell around 0, 0, 0"
                .into()
        }
        Some(axes) => format!(", the axes of the image run {axes}"),
    };
    format!("{}{open}{axes}", display::grid_in(lattice, record.transform("unit")))
}

/// The fractions, where decimals do not say them.
fn exact(lattice: &Lattice) -> Option<String> {
    let is_said = |value: &Rational| Rational::parse_decimal(&number(value.to_f64())).as_ref() == Ok(value);
    if lattice.spacing().iter().chain(lattice.origin()).all(is_said) {
        return None;
    }
    let size = match lattice.spacing() {
        [x, ..] if lattice.is_cubic() => x.to_string(),
        all => all.each_ref().map(Rational::to_string).join(" × "),
    };
    let corner = lattice.origin().each_ref().map(Rational::to_string).join(", ");
    Some(format!("cells of {size}, corner ({corner})"))
}

/// `surface; ties: up`.
pub fn rule_text(record: &Record) -> Option<String> {
    let unit = record.transform("unit");
    let options = record.fields.iter().map(|(name, value)| option_text(name, value, None, unit));
    let all: Vec<_> = record.rule_name.clone().into_iter().chain(options).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// `by voxelize 0.1.0 from part.stl`.
fn made(record: &Record) -> Option<String> {
    let by = record.tool.as_ref().map(|tool| format!("by {tool}"));
    let from = record.input.as_ref().map(|input| format!("from {input}"));
    let transform = record.transform.iter().map(|(name, value)| format!(", {name} {value}"));
    let all: Vec<_> = by.into_iter().chain(from).collect();
    (!all.is_empty()).then(|| all.join(" ") + &transform.collect::<String>())
}

/// The unit of the coordinates, where the file records it.
fn unit(voxels: &Voxels) -> Option<&str> {
    voxels.record.transform("unit")
}

fn cells(voxels: &Voxels, occupied: u64) -> String {
    let cells = occupancy(occupied, voxels.dims());
    match &voxels.lattice {
        // The volume of a shell would be read as that of the part.
        _ if Rule::from_record(&voxels.record).is_some_and(|rule| rule.is_hollow()) => {
            format!("{cells}; hollow")
        }
        Some(lattice) => {
            format!("{cells}, volume {}", display::volume(value::volume(occupied, lattice), unit(voxels)))
        }
        None => cells,
    }
}
