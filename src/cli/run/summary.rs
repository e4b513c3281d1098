//! The summary for people: the mesh, the position and number of cells, the outputs.

use std::time::Duration;

use voxelize::format::{Carries, Choice, Dtype, FileSize, Written};
use voxelize::grid::{AXES, CellKind, Label};
use voxelize::job::system::peak_memory;
use voxelize::job::{JobLabels, MemoryLimit, MemoryPlan, SharedCells, Target, Transform, UnitOfLength};
use voxelize::mesh::read::Packing;
use voxelize::run::Plan as Strategy;
use voxelize::{Bounds, Lattice, Length, Rational, Rule};

use super::super::files::Destination;
use super::super::memory::Resources;
use super::super::options::{JobOptions, Mode, Options};
use super::super::report::display::{self, bytes, counted, durations, grouped, listed, number, occupancy};
use super::super::report::finding_line;
use super::super::report::{Verbosity, row, value};
use super::field;
use super::findings;
use super::report::{MeshInput, RunReport, surface_and_interior};

/// Most pairs of labels that share cells which the summary lists.
const SHOWN_PAIRS: usize = 6;

/// The rows of the summary, as far as the run came.
pub fn summary(options: &Options, found: &RunReport) -> String {
    let mut rows = String::new();
    let mut row = |label: &str, text: &str| row(&mut rows, label, text);
    if let Some(mesh) = &found.mesh {
        let transform = transform_text(&options.job.options.grid.transform, &mesh.bounds);
        row("mesh", &format!("{}{transform}", mesh_line(&options.job.source.name(), mesh)));
    }
    if let Some(defect) = found.defect {
        let mesh = options.job.source.path().map_or_else(|| "MESH".into(), |path| path.display().to_string());
        row("check", &format!("{}: 'voxelize check {mesh}' shows where", defect.text()));
    }
    if let Some(lattice) = &found.lattice {
        row("grid", &grid(options, lattice, found.cut.as_deref()));
        if let Some(snapped @ 1..) = found.snapped {
            row("snap", &snap(snapped));
        }
        row("rule", &rule(options, found));
        match (&found.field, found.occupied) {
            (Some(summary), _) => {
                row("field", &field::range(summary));
                row("cells", &field::cells(&options.job.options.rule, summary, lattice));
                if !found.arrays.is_empty() {
                    row("arrays", &listed(found.arrays.iter().map(|(quantity, _)| quantity.name().into())));
                }
            }
            (None, Some(occupied)) => {
                row("cells", &cells(options, occupied, lattice, found.kept));
                // Cells that are all surface have one value.
                let is_surface = matches!(surface_and_interior(&found.labels), Some([_, 0]));
                if !found.labels.is_empty() && !is_surface {
                    let counted = |(label, cells): &(Label, u64)| {
                        format!("{} ({}): {}", label.name, label.value, grouped(*cells))
                    };
                    row("labels", &listed(found.labels.iter().map(counted)));
                    for (n, pair) in found.shared.iter().take(SHOWN_PAIRS).enumerate() {
                        row(if n == 0 { "shared" } else { "" }, &shared(pair));
                    }
                    if let Some(more @ 1..) = found.shared.len().checked_sub(SHOWN_PAIRS) {
                        row("", &display::counted(more as u64, "more pair", "more pairs"));
                    }
                    if found.taken > 0 {
                        row(
                            "",
                            "a shared cell has the label of the earlier part; --priority changes which is first",
                        );
                    }
                }
            }
            (None, None) => {}
        }
        if found.has_colours && options.job.options.parts.labels == JobLabels::Off && holds_labels(options) {
            row("colours", "those of the mesh are left out; --labels colour keeps them");
        }
        if let Some(doubt) = &found.doubt {
            row("doubt", &doubt.line());
            row("", &doubt.by_method());
        }
        if let Some(cells) = found.leak_path {
            row("leak", &leak(cells, found));
        }
    }
    if let (Some(memory), Mode::DryRun) = (&found.memory, options.mode) {
        row("plan", &plan(options, found, memory));
    }
    if let Some(kept) = options.output.kept().filter(|_| found.mesh.is_none()) {
        row("skipped", &format!("{} exists", kept.display()));
        return rows;
    }
    for written in found.outputs.iter().flatten() {
        row("wrote", &wrote(options, written));
    }
    if let Some(digest) = &found.digest {
        row("digest", &display::digest(digest));
    }
    row("time", &time(options, found));
    rows
}

/// The lines of the warnings that are printed; `about` says of which of many meshes.
pub fn warning_lines(found: &RunReport, verbosity: Verbosity, about: &str) -> String {
    let printed = found.warnings.iter().filter(|warning| verbosity.prints(warning));
    printed.map(|warning| finding_line(about, warning)).collect()
}

/// `cube20.stl: binary STL, 12 triangles, 20 × 20 × 20`.
pub fn mesh_line(name: &str, mesh: &MeshInput) -> String {
    let format = match mesh.packing {
        _ if !mesh.files.is_empty() => format!("{} meshes", mesh.files.len()),
        Packing::None => mesh_format(mesh.format),
        _ => format!("{} in gzip", mesh_format(mesh.format)),
    };
    let triangles = triangles(mesh);
    format!("{name}: {format}, {triangles}, {}", extent(&mesh.bounds, 1.0))
}

/// The size of a mesh: `20 × 20 × 20`.
pub fn extent(bounds: &Bounds, scale: f64) -> String {
    let side = |axis: usize| scale * (f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]));
    [0, 1, 2].map(|axis| number(side(axis))).join(" × ")
}

/// The unit and the transforms of a mesh of these bounds: ` mm, y up`, `, scaled by 0.001 to 2 × 2 × 2 m`.
fn transform_text(transform: &Transform, bounds: &Bounds) -> String {
    let unit = transform.unit.map_or_else(String::new, |unit| format!(" {}", unit.name()));
    let text = |(name, value): (&str, String)| match name {
        "unit" if transform.is_scaled() => String::new(),
        "unit" => format!(" {value}"),
        "up" => format!(", {value} up"),
        "rotate" if !transform.rotates_exactly() => format!(", rotate {value}, coordinates rounded"),
        "matrix" if transform.matrix.as_ref().is_some_and(|matrix| !matrix.is_exact()) => {
            format!(", matrix {value}, coordinates rounded")
        }
        "scale" => {
            let scale = transform.scale.to_f64();
            format!(", scaled by {} to {}{unit}", number(scale), extent(bounds, scale))
        }
        _ => format!(", {name} {value}"),
    };
    let (units, others): (Vec<_>, Vec<_>) =
        transform.entries().into_iter().partition(|(name, _)| *name == "unit");
    units.into_iter().chain(others).map(text).collect()
}

/// The format of a mesh for people: `stl-binary` reads better turned around.
pub fn mesh_format(name: &str) -> String {
    match name.split_once('-') {
        Some((name, "binary")) => format!("binary {}", name.to_ascii_uppercase()),
        Some((name, form)) => format!("{} {}", form.to_ascii_uppercase(), name.to_ascii_uppercase()),
        None => name.to_ascii_uppercase(),
    }
}

/// `871,414 triangles (108 degenerate), 2 triangles dropped`.
pub fn triangles(mesh: &MeshInput) -> String {
    let mut text = counted(mesh.triangles as u64, "triangle", "triangles");
    if mesh.degenerate > 0 {
        text += &format!(" ({} degenerate)", grouped(mesh.degenerate));
    }
    if mesh.dropped > 0 {
        text += &format!(", {} dropped", counted(mesh.dropped, "triangle", "triangles"));
    }
    text
}

/// The grid; `cut` are the axes along which the mesh goes on beyond a box that was given.
fn grid(options: &Options, lattice: &Lattice, cut: Option<&str>) -> String {
    let grid = &options.job.options.grid;
    let unit = grid.transform.unit.map(UnitOfLength::name);
    let mut text = match options.mode {
        Mode::DryRun => display::planned_grid(lattice, unit),
        Mode::Write => display::grid_in(lattice, unit),
    };
    text += &padding(&options.job.options, lattice);
    if let Some(grown) = grown(options, lattice) {
        let kept = if grid.option.starts_with("--dims") { " (--stretch keeps the box)" } else { "" };
        text += &format!(", box grown to {grown}{kept}");
    }
    if let Some(axes) = cut {
        text += &format!(", the mesh goes on beyond it along {axes}");
    }
    text
}

/// The cells around the mesh: `, grown by 3 cells on every side`.
pub fn padding(options: &JobOptions, lattice: &Lattice) -> String {
    let grid = &options.grid;
    // Where a box cuts the mesh, the mesh may go on in the padding.
    let is_empty = !grid.is_bounded && options.rule.margin() == Length::ZERO;
    let padded = if is_empty { "padded" } else { "grown" };
    match grid.padding(lattice) {
        None | Some([0, 0, 0]) => String::new(),
        Some([1, 1, 1]) => format!(", {padded} by 1 cell on every side"),
        Some([x, y, z]) if x == y && y == z => format!(", {padded} by {x} cells on every side"),
        Some([x, y, z]) => format!(", {padded} by {x}, {y} and {z} cells on every side"),
    }
}

/// Where the box that was given had to grow for its cells to be whole, or to be cubes: `x = 1.2, z = -1 … 3`.
fn grown(options: &Options, lattice: &Lattice) -> Option<String> {
    let grid = &options.job.options.grid;
    let given = grid.grown_from.as_ref()?;
    let ends = |axis: usize| {
        let pad = grid.padding(lattice).map_or(0, |padding| padding[axis]);
        let pad = &lattice.spacing()[axis] * &Rational::from(pad as i64);
        [&lattice.origin()[axis] + &pad, &lattice.end()[axis] - &pad]
    };
    let grown = |axis: usize| {
        let [low, high] = ends(axis);
        let [first, last] = [&low, &high].map(|end| number(end.to_f64()));
        match (low < given.min[axis], high > given.max[axis]) {
            (false, false) => None,
            (false, true) => Some(format!("{} = {last}", AXES[axis])),
            (true, _) => Some(format!("{} = {first} … {last}", AXES[axis])),
        }
    };
    let grown: Vec<_> = (0..3).filter_map(grown).collect();
    (!grown.is_empty()).then(|| grown.join(", "))
}

/// Whether the cells are bits, and the format of the output may hold labels.
fn holds_labels(options: &Options) -> bool {
    let is_bits = options.job.options.rule.kind() == CellKind::Bits;
    is_bits && options.output.target().format.kinds.contains(&CellKind::Labels)
}

/// `block (1) and ball (2): 925 cells`.
fn shared(pair: &SharedCells) -> String {
    let SharedCells { first, second, cells, .. } = pair;
    let cells = counted(*cells, "cell", "cells");
    format!("{} ({}) and {} ({}): {cells}", first.name, first.value, second.name, second.value)
}

fn snap(snapped: u64) -> String {
    let coordinates = counted(snapped, "coordinate", "coordinates");
    format!("{coordinates} snapped to the nearest wall or cell centre")
}

/// `filled; ties: none; inside: nonzero (auto)`.
fn rule(options: &Options, found: &RunReport) -> String {
    let rule = &options.job.options.rule;
    let fields = rule.fields();
    let unit = options.job.options.grid.transform.unit.map(UnitOfLength::name);
    let fields = fields.iter().map(|(name, value)| {
        let walls = found.lattice.as_ref().map_or_else(String::new, |lattice| walls(rule, lattice, unit));
        findings::option_text(name, value, Some(found), unit) + if *name == "variant" { &walls } else { "" }
    });
    std::iter::once(rule.name().to_string()).chain(fields).collect::<Vec<_>>().join("; ")
}

/// How thick a shell is: ` (walls of 2 × 2 × 4 mm)`.
fn walls(rule: &Rule, lattice: &Lattice, unit: Option<&str>) -> String {
    let Rule::Filled { shell: Some(cells), .. } = rule else { return String::new() };
    let sides = lattice.spacing().each_ref().map(|side| f64::from(*cells) * side.to_f64());
    format!(" (walls of {}{})", display::sizes(sides), display::suffix(unit))
}

/// `63,084 of 262,144 (24.1 %), 72 of them by --keep-thin, volume 63,084 mm³`.
fn cells(options: &Options, occupied: u64, lattice: &Lattice, kept: Option<u64>) -> String {
    let kept = kept.map_or_else(String::new, |kept| format!(", {} of them by --keep-thin", grouped(kept)));
    let cells = occupancy(occupied, lattice.dims()) + &kept;
    let is_full = lattice.dims().iter().map(|n| *n as u128).product::<u128>() == u128::from(occupied);
    if occupied == 0 || is_full && options.job.options.rule.is_hollow() {
        cells
    } else if options.job.options.rule.is_hollow() {
        // The volume of a shell would be read as that of the part.
        format!("{cells}; hollow; --filled fills it")
    } else {
        let unit = options.job.options.grid.transform.unit.map(UnitOfLength::name);
        let volume = display::volume(value::volume(occupied, lattice), unit);
        match options.job.options.rule {
            Rule::Offset { radius } => format!(
                "{cells}, volume {volume}; cells inside, farther than the radius, are empty; --rule distance --signed --band all --iso {radius} fills them"
            ),
            _ => format!("{cells}, volume {volume}"),
        }
    }
}

/// `2 holes leak; 37 cells on the paths through them`.
fn leak(cells: u64, found: &RunReport) -> String {
    let holes = found.inside_report.leak.as_ref().map_or(0, |leak| leak.holes.len() as u64);
    match holes {
        _ if cells == 0 => "no leak: the file of the leak path has no cells".to_string(),
        1 => format!("1 hole leaks; {} on the path through it", counted(cells, "cell", "cells")),
        n => format!(
            "{} holes leak; {} on the paths through them",
            grouped(n),
            counted(cells, "cell", "cells")
        ),
    }
}

fn plan(options: &Options, found: &RunReport, memory: &MemoryPlan) -> String {
    // A dry run writes nothing: what a run would write, and what it would take.
    let (slabs, whole) = match memory.strategy {
        Strategy::Dense => (String::new(), String::new()),
        Strategy::Bricks(_) => (String::new(), String::new()),
        Strategy::Slabs(height) => {
            let layers = counted(height as u64, "layer", "layers");
            (
                format!("in {} slabs of {layers}, ", grouped(memory.slabs as u64)),
                format!("; all at once takes {}", bytes(memory.dense)),
            )
        }
    };
    let limit = match options.job.options.resources.memory {
        MemoryLimit::Requested(most) => format!(" (--max-memory allows {}{whole})", bytes(most)),
        MemoryLimit::Available(most) => format!(" ({} available)", bytes(most)),
        MemoryLimit::Share(_) | MemoryLimit::Unknown => String::new(),
    };
    let size = match found.output_size {
        Some(FileSize::About(n)) => format!(", about {}", bytes(n)),
        Some(FileSize::AtMost(n)) => format!(", at most {}", bytes(n)),
        None => String::new(),
    };
    let aux =
        |aux: &super::super::output::AuxOutput| format!("; {} to {}", aux.about, aux.file.path().display());
    let aux: String = options.aux_outputs().map(aux).collect();
    let name = options.output.name();
    let format = options.output.format.name;
    let most = bytes(options.job.options.resources.budget().with_program(memory.bytes));
    let need = match found.peak {
        Some(peak) => format!("about {} of memory, at most {most}", bytes(peak)),
        None => format!("at most {most} of memory"),
    };
    let target = match options.output.destination {
        Destination::Stdout => format!("{format} to {name}"),
        Destination::File(_) => format!("{name} as {format}"),
    };
    format!("would write {target}{size}{aux}; {slabs}{need}{limit}")
}

fn wrote(options: &Options, written: &Written) -> String {
    let output = &options.output;
    let name = match written.path.to_str() {
        Some("-") => output.name(),
        _ => written.path.display().to_string(),
    };
    let numbers = match options.aux_outputs().find(|aux| aux.file.path() == written.path) {
        Some(aux) => format!(", {}", aux.about),
        None if written.format == output.format.name => {
            // A reader of the file alone does not know where its cells are.
            let is_bare = output.format.carries == Carries::SidecarOnRequest
                && output.destination != Destination::Stdout
                && output.sidecar_path().is_none();
            let bare = if is_bare { "; --sidecar records the grid" } else { "" };
            numbers(&output.target()) + bare
        }
        None => String::new(),
    };
    format!("{name}, {}{numbers}", bytes(written.bytes))
}

/// The type and the axes of an array: `, bool a[x,y,z]`.
fn numbers(target: &Target) -> String {
    let Some(dtype) = target.dtype.filter(|_| target.format.dtypes.len() > 1) else { return String::new() };
    // NumPy's index order; the other formats have no index to speak of.
    let index = match target.choices {
        _ if !target.format.name.starts_with("np") => "",
        [] if dtype == Dtype::Bit => " a[x/8,y,z]",
        [Choice::Zyx] if dtype == Dtype::Bit => " a[z,y,x/8]",
        [] => " a[x,y,z]",
        [Choice::Zyx] => " a[z,y,x]",
        _ => "",
    };
    format!(", {}{index}", dtype.name())
}

fn time(options: &Options, found: &RunReport) -> String {
    let times = &found.times;
    let phases = [
        ("read", times.read),
        ("voxelize", times.voxelize),
        ("digest", times.digest),
        ("write", times.write),
    ];
    let slabs = match &found.memory {
        Some(MemoryPlan { strategy: Strategy::Slabs(_), slabs, .. }) => {
            format!(", {} slabs", grouped(*slabs as u64))
        }
        _ => String::new(),
    };
    time_line(found.started.elapsed(), &phases, &options.job.options.resources, &slabs)
}

/// How long it took, in all and by phase, and with what.
pub fn time_line(
    total: Duration,
    phases: &[(&str, Option<Duration>)],
    resources: &Resources,
    slabs: &str,
) -> String {
    let threads = counted(resources.threads as u64, "thread", "threads");
    let peak = peak_memory().map_or_else(String::new, |peak| format!(", peak {}", bytes(peak)));
    format!("{}; {threads}, {}{slabs}{peak}", durations(total, phases), resources.level.name())
}
