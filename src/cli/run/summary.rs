//! Summary of a run as text: the mesh, the grid, the number of cells and the outputs.

use std::time::Duration;

use voxelize::format::{self, Carries, Choice, Dtype, FileSize, Written};
use voxelize::grid::frame::SCAN_FRAME;
use voxelize::grid::{AXES, Label, Legend};
use voxelize::job::system::peak_memory;
use voxelize::job::{MemoryLimit, MemoryPlan, Target, Transform, UnitOfLength};
use voxelize::run::Plan as Strategy;
use voxelize::{Bounds, Lattice, Length, Rational, Rule, ShellThickness};

use super::inside::option_text;
use super::report::{MeshInput, RunReport, left_out, surface_and_interior};
use crate::cli::contents::{made_values, range};
use crate::cli::memory::Resources;
use crate::cli::options::{JobOptions, Mode, Options, has_volume};
use crate::cli::report::display::{
    self, bytes, counted, durations, grouped, listed, number, occupancy, suffix,
};
use crate::cli::report::{ReportRows, hint_text, value};

/// Maximum number of rows about pairs of labels that share cells.
const SHOWN_PAIRS: usize = 6;

/// Adds the rows of the summary. Steps that the run did not reach have no rows.
pub fn summary(rows: &mut ReportRows, options: &Options, found: &RunReport) {
    mesh_rows(rows, options, found);
    if let Some(lattice) = &found.lattice {
        grid_rows(rows, options, lattice, found);
    }
    if let (Some(memory), Mode::DryRun) = (&found.memory, options.mode) {
        rows.row("plan", plan(options, found, memory));
    }
    if let Some(kept) = options.output.kept().filter(|_| found.mesh.is_none()) {
        rows.row("skipped", format!("{} exists", kept.display()));
        return;
    }
    for written in found.outputs.iter().flatten() {
        rows.row("wrote", wrote(options, written));
        if let Some(text) = labels_in_file(written, found) {
            rows.row("", text);
        }
    }
    if let Some(digest) = &found.digest {
        rows.row("digest", display::digest(digest));
    }
    rows.row("time", time(options, found));
}

/// Adds the rows about the mesh.
pub(super) fn mesh_rows(rows: &mut ReportRows, options: &Options, found: &RunReport) {
    let job = &options.job;
    if let Some(mesh) = &found.mesh {
        let transform = transform_text(&job.options.grid.transform, &mesh.bounds);
        rows.row("mesh", mesh_line(&job.source.name(), mesh) + &transform);
    }
    if let Some(defect) = found.defect {
        let mesh = job
            .source
            .path()
            .map_or_else(|| "MESH".into(), |path| path.display().to_string());
        rows.row(
            "check",
            format!("{}: 'voxelize check {mesh}' shows where", defect.text()),
        );
    }
}

/// Adds the rows about the grid, the rule and the cells.
fn grid_rows(rows: &mut ReportRows, options: &Options, lattice: &Lattice, found: &RunReport) {
    let job = &options.job.options;
    rows.row("grid", grid(options, lattice, found.cut.as_deref()));
    if let Some(snapped @ 1..) = found.snapped {
        let coordinates = counted(snapped, "coordinate", "coordinates");
        rows.row(
            "snap",
            format!("{coordinates} snapped to the nearest wall or cell centre"),
        );
    }
    rows.row("rule", rule(job, lattice, found));
    if let Some(summary) = &found.field {
        rows.row("field", range(summary));
        let mut text = made_values(&job.rule, summary, lattice);
        if let Some(shares) = found.shares {
            text += &volume(options, shares * lattice.cell_volume().to_f64(), found);
        }
        rows.row("cells", text);
        if !found.label_fields.is_empty() {
            label_field_rows(rows, job, lattice, found);
        }
        if !found.arrays.is_empty() {
            rows.row(
                "arrays",
                listed(
                    found
                        .arrays
                        .iter()
                        .map(|(quantity, _)| quantity.name().into()),
                ),
            );
        }
    } else if let Some(occupied) = found.occupied {
        rows.row("cells", cells(options, occupied, lattice, found));
        // If all cells are surface cells, a row of labels would add nothing.
        let is_surface = matches!(surface_and_interior(&found.labels), Some([_, 0]));
        if !found.labels.is_empty() && !is_surface {
            label_rows(rows, job, lattice, found);
        }
    }
    if job.rule.has_cavity() && found.occupied.is_some() {
        rows.row("wall", wall(options, found));
    }
    let unit = suffix(job.grid.transform.unit.map(UnitOfLength::name));
    for drain in &found.drains {
        let end = drain.end.map(number).join(", ");
        let length = number(drain.length);
        let cells = counted(drain.cells, "cell", "cells");
        rows.row(
            "drain",
            format!(
                "{}: {length}{unit} to the cavity at {end}; {cells} emptied",
                drain.text
            ),
        );
    }
    if let Some(finding) = left_out(options, found) {
        let hint = finding.first.hint().map(hint_text).unwrap_or_default();
        rows.row("colours", format!("{}; {hint}", finding.first.message()));
    }
    if let Some(doubt) = &found.doubt {
        rows.row("doubt", doubt.line());
        rows.row("", doubt.by_method());
    }
    if let Some(cells) = found.leak_path {
        rows.row("leak", leak(cells, found));
    }
}

/// Adds the volume or the area of each label that has a field, and the volume that parts share.
fn label_field_rows(rows: &mut ReportRows, job: &JobOptions, lattice: &Lattice, found: &RunReport) {
    let unit = job.grid.transform.unit.map(UnitOfLength::name);
    let cell = lattice.cell_volume().to_f64();
    let amount = |sum: f64| match found.shared_shares {
        Some(_) => format!("volume {}", display::volume(sum * cell, unit)),
        None => format!("area {}", display::area(sum, unit)),
    };
    let labels = found.label_fields.iter();
    rows.row(
        "labels",
        listed(labels.map(|(values, _)| {
            let name = &values.label.name;
            format!("{name} ({}): {}", values.label.value, amount(values.sum))
        })),
    );
    if let Some(shared) = found.shared_shares
        && shared.cells > 0
    {
        let cells = counted(shared.cells, "cell", "cells");
        let text = format!(
            "parts overlap in {cells}, {}; each part keeps its own fraction",
            amount(shared.sum)
        );
        rows.row("shared", text);
    }
}

/// Adds the number of cells for each label, the volume of parts if the rule has one, and the pairs of labels that
/// share cells.
pub(super) fn label_rows(
    rows: &mut ReportRows,
    job: &JobOptions,
    lattice: &Lattice,
    found: &RunReport,
) {
    let unit = job.grid.transform.unit.map(UnitOfLength::name);
    let has_volumes = job.labels().part_kind().is_some() && has_volume(&job.rule);
    let amount = |cells: u64| {
        if !has_volumes {
            return grouped(cells);
        }
        let volume = display::volume(value::volume(cells, lattice), unit);
        format!("{} (volume {volume})", grouped(cells))
    };
    rows.row(
        "labels",
        listed(label_texts(&found.labels, amount).into_iter()),
    );
    for (n, pair) in found.shared.iter().take(SHOWN_PAIRS).enumerate() {
        let [first, second] =
            [&pair.first, &pair.second].map(|label| format!("{} ({})", label.name, label.value));
        let cells = counted(pair.cells, "cell", "cells");
        rows.row(
            if n == 0 { "shared" } else { "" },
            format!("{first} and {second}: {cells}"),
        );
    }
    if let Some(more @ 1..) = found.shared.len().checked_sub(SHOWN_PAIRS) {
        rows.row("", counted(more as u64, "more pair", "more pairs"));
    }
    if found.taken > 0 {
        let first = found.shared.first().map(|pair| &pair.first);
        let is_one = found.shared.iter().all(|pair| Some(&pair.first) == first);
        let label = match first.filter(|_| is_one) {
            Some(first) => format!("these cells have the label {}", first.name),
            None => "these cells have the label that is named first".to_string(),
        };
        let is_chosen = !job.request.priority.is_empty();
        rows.row(
            "",
            match is_chosen {
                true => label,
                false => format!("{label}; --priority NAME changes this"),
            },
        );
    }
}

/// Returns the number of cells for each thing that labels became in a file, such as the blocks of Minecraft. `None` if
/// they stay labels.
fn labels_in_file(written: &Written, found: &RunReport) -> Option<String> {
    let format = format::by_name(written.format)?;
    let legend = Legend::new(found.labels.iter().map(|(label, _)| label.clone())).ok()?;
    let mut cells: Vec<(String, u64)> = Vec::new();
    for (value, name) in (format.label_names)(&legend) {
        let of_label = found.labels.iter().find(|(label, _)| label.value == value);
        let Some((_, count)) = of_label else {
            continue;
        };
        match cells.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += count,
            None => cells.push((name, *count)),
        }
    }
    let texts = cells
        .iter()
        .map(|(name, count)| format!("{name}: {}", grouped(*count)));
    (!cells.is_empty()).then(|| listed(texts))
}

/// Returns `lid (1): 2,295` for each label. If labels stand for the colours of parts, returns `lid: 2,295 in 3
/// colours` for each part.
fn label_texts(labels: &[(Label, u64)], amount: impl Fn(u64) -> String) -> Vec<String> {
    let mut parts: Vec<(&str, u64, u64)> = vec![];
    for (label, cells) in labels {
        let Some(part) = label.part() else {
            return labels
                .iter()
                .map(|(label, cells)| {
                    format!("{} ({}): {}", label.name, label.value, amount(*cells))
                })
                .collect();
        };
        let colour = u64::from(*cells > 0);
        match parts.iter_mut().find(|(name, ..)| *name == part) {
            Some((_, sum, colours)) => {
                *sum += cells;
                *colours += colour;
            }
            None => parts.push((part, *cells, colour)),
        }
    }
    let mut texts = vec![];
    for (part, cells, colours) in parts {
        let colours = counted(colours, "colour", "colours");
        texts.push(format!("{part}: {} in {colours}", amount(cells)));
    }
    texts
}

/// Returns the row about the mesh: `cube20.stl: binary STL, 12 triangles, 20 × 20 × 20`.
pub fn mesh_line(name: &str, mesh: &MeshInput) -> String {
    let mut format = mesh_format(mesh.format);
    if !mesh.files.is_empty() {
        format = format!("{} meshes", mesh.files.len());
    } else if mesh.packing.is_some() {
        format += " in gzip";
    }
    format!(
        "{name}: {format}, {}, {}",
        triangles(mesh),
        extent(&mesh.bounds, 1.0)
    )
}

/// Returns the size of a mesh: `20 × 20 × 20`.
pub fn extent(bounds: &Bounds, scale: f64) -> String {
    let side = |axis: usize| scale * (f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]));
    [0, 1, 2].map(|axis| number(side(axis))).join(" × ")
}

/// Returns the unit and the transforms of a mesh with these bounds: ` mm, y up`, or `, scaled by 0.001 to 2 ×
/// 2 × 2 m`.
pub fn transform_text(transform: &Transform, bounds: &Bounds) -> String {
    let mut text = String::new();
    if let Some(unit) = transform.unit.filter(|_| !transform.is_scaled()) {
        text += &format!(" {}", unit.name());
    }
    for (name, value) in transform.entries() {
        let is_rounded = match name {
            "rotate" => !transform.rotates_exactly(),
            "matrix" => transform
                .matrix
                .as_ref()
                .is_some_and(|matrix| !matrix.is_exact()),
            _ => false,
        };
        text += &match name {
            "unit" => String::new(),
            SCAN_FRAME => match transform.tilted_frame() {
                Some(frame) => format!(
                    ", turned by {:.4} degrees into the axes of the scan, coordinates rounded",
                    frame.tilt()
                ),
                None => String::new(),
            },
            "up" => format!(", {value} up"),
            "scale" => {
                let scale = transform.scale.to_f64();
                let unit = suffix(transform.unit.map(UnitOfLength::name));
                format!(
                    ", scaled by {} to {}{unit}",
                    number(scale),
                    extent(bounds, scale)
                )
            }
            _ if is_rounded => format!(", {name} {value}, coordinates rounded"),
            _ => format!(", {name} {value}"),
        };
    }
    text
}

/// Returns the name of a mesh format for readers: `binary STL` for `stl-binary`.
pub fn mesh_format(name: &str) -> String {
    match name.split_once('-') {
        Some((name, "binary")) => format!("binary {}", name.to_ascii_uppercase()),
        Some((name, form)) => format!(
            "{} {}",
            form.to_ascii_uppercase(),
            name.to_ascii_uppercase()
        ),
        None => name.to_ascii_uppercase(),
    }
}

/// Returns the number of triangles as text: `871,414 triangles (108 degenerate), 2 triangles dropped`.
pub fn triangles(mesh: &MeshInput) -> String {
    let mut text = counted(mesh.triangles as u64, "triangle", "triangles");
    if mesh.degenerate > 0 {
        text += &format!(" ({} degenerate)", grouped(mesh.degenerate));
    }
    if mesh.dropped > 0 {
        text += &format!(
            ", {} dropped",
            counted(mesh.dropped, "triangle", "triangles")
        );
    }
    text
}

/// Returns the text about the grid. `cut` lists the axes along which the mesh extends beyond the given box.
pub(super) fn grid(options: &Options, lattice: &Lattice, cut: Option<&str>) -> String {
    let grid = &options.job.options.grid;
    let unit = grid.transform.unit.map(UnitOfLength::name);
    let mut text = match options.mode {
        Mode::DryRun => display::planned_grid(lattice, unit),
        Mode::Write => display::grid_in(lattice, unit),
    };
    text += &padding(&options.job.options, lattice);
    if let Some(grown) = grown(&options.job.options, lattice) {
        let kept = if grid.option.starts_with("--dims") {
            " (--stretch keeps the box)"
        } else {
            ""
        };
        text += &format!(", box grown to {grown}{kept}");
    }
    if let Some(axes) = cut {
        text += &format!("; the mesh extends beyond it along {axes}");
    }
    text
}

/// Returns the padding as text, such as `, padded by 1 cell` or `, grown by 3 cells on every side`. Empty
/// without padding.
pub fn padding(options: &JobOptions, lattice: &Lattice) -> String {
    let grid = &options.grid;
    // Padding is empty only if the mesh cannot reach into it: no given box cuts the mesh, and the rule does
    // not grow it.
    let is_empty = grid.bounds.is_none() && options.rule.margin() == Length::ZERO;
    let padded = if is_empty { "padded" } else { "grown" };
    let Some([low, high]) = grid.padding(lattice) else {
        return String::new();
    };
    if low != high {
        let [x0, y0, z0] = low;
        let [x1, y1, z1] = high;
        return format!(
            ", {padded} by {x0}, {y0} and {z0} cells on the low sides, {x1}, {y1} and {z1} on the high sides"
        );
    }
    match low {
        [0, 0, 0] => String::new(),
        [1, 1, 1] => format!(", {padded} by 1 cell on every side"),
        [x, y, z] if x == y && y == z => format!(", {padded} by {x} cells on every side"),
        [x, y, z] => format!(", {padded} by {x}, {y} and {z} cells on every side"),
    }
}

/// Returns the faces of the given box that moved, because the box grew to whole or cubic cells: `x = 1.2, z =
/// -1 … 3`. `None` if the box did not grow.
fn grown(job: &JobOptions, lattice: &Lattice) -> Option<String> {
    let [min, max] = job.grid.bounds.as_ref()?;
    let [below, above] = job.grid.padding(lattice).unwrap_or_default();
    let mut grown = vec![];
    for axis in 0..3 {
        let cells = |count: usize| &lattice.spacing()[axis] * &Rational::from(count as i64);
        let low = &lattice.origin()[axis] + &cells(below[axis]);
        let high = &lattice.end()[axis] - &cells(above[axis]);
        let last = number(high.to_f64());
        if low < min[axis] {
            grown.push(format!(
                "{} = {} … {last}",
                AXES[axis],
                number(low.to_f64())
            ));
        } else if high > max[axis] {
            grown.push(format!("{} = {last}", AXES[axis]));
        }
    }
    (!grown.is_empty()).then(|| grown.join(", "))
}

/// Returns the rule with its options: `filled; ties: none; inside: nonzero (auto)`.
pub(super) fn rule(job: &JobOptions, lattice: &Lattice, found: &RunReport) -> String {
    let unit = job.grid.transform.unit.map(UnitOfLength::name);
    let mut text = job.rule.name().to_string();
    for (name, value) in job.rule.fields() {
        text += &format!("; {}", option_text(name, &value, Some(found), unit));
        if name == "variant"
            && let Rule::Filled {
                shell: Some(ShellThickness::Steps(cells)),
                ..
            } = &job.rule
        {
            let sides = lattice
                .spacing()
                .each_ref()
                .map(|side| f64::from(*cells) * side.to_f64());
            text += &format!(" (walls {}{} thick)", display::sizes(sides), suffix(unit));
        }
    }
    text
}

/// Returns the number of occupied cells and their volume: `63,084 of 262,144 (24.1 %), 72 of them by
/// --keep-thin, volume 63,084 mm³ (63.1 ml)`.
pub(super) fn cells(
    options: &Options,
    occupied: u64,
    lattice: &Lattice,
    found: &RunReport,
) -> String {
    let job = &options.job.options;
    let mut text = occupancy(occupied, lattice.dims());
    if let Some(kept) = found.kept {
        text += &format!(", {} of them by --keep-thin", grouped(kept));
    }
    if occupied == 0 {
        return text;
    }
    if job.rule.is_hollow() {
        // A shell gets no volume here, because it would be mistaken for the volume of the part.
        let is_full = value::cells(lattice.dims()) == occupied;
        return if is_full {
            text
        } else {
            text + "; hollow; --filled fills it"
        };
    }
    text += &volume(options, value::volume(occupied, lattice), found);
    if let Rule::Offset { radius } = &job.rule {
        text += &format!(
            "; cells inside, farther than the radius, are empty; --rule distance --signed --band all --iso {radius} fills them"
        );
    }
    text
}

/// Returns the thickness of the wall: `1.81 to 2.2 mm, mean 2.01 mm, from the surface to the faces of the cavity`.
fn wall(options: &Options, found: &RunReport) -> String {
    let job = &options.job.options;
    let unit = suffix(job.grid.transform.unit.map(UnitOfLength::name));
    let Some(walls) = &found.walls else {
        return "not measured, because of labels of parts, negative volumes or too little memory"
            .to_string();
    };
    if walls.faces == 0 {
        return "no cavity: the wall fills the part".to_string();
    }
    let [least, mean, greatest] = [walls.least, walls.mean, walls.greatest].map(number);
    format!(
        "{least} to {greatest}{unit}, mean {mean}{unit}, from the surface to the faces of the cavity"
    )
}

/// Returns a volume in cubic units, in millilitres if the unit is known, and the mass if the density is known: `,
/// volume 5,256 mm³ (5.26 ml), mass 6.52 g`.
pub(super) fn volume(options: &Options, volume: f64, found: &RunReport) -> String {
    let job = &options.job.options;
    let unit = job.grid.transform.unit.map(UnitOfLength::name);
    let mut text = format!(", volume {}", display::volume(volume, unit));
    if let Some(millilitres) = found.volume_ml(job, &Rational::ONE) {
        text += &format!(" ({} ml)", display::three_digits(millilitres));
    }
    if let Some(density) = &options.density
        && let Some(grams) = found.volume_ml(job, density)
    {
        text += &format!(", mass {} g", display::three_digits(grams));
    }
    text
}

/// Returns the text about the leak path: `2 holes leak; 37 cells on the paths through them`.
fn leak(cells: u64, found: &RunReport) -> String {
    let holes = found
        .inside_report
        .leak
        .as_ref()
        .map_or(0, |leak| leak.holes.len() as u64);
    let cells_text = counted(cells, "cell", "cells");
    match holes {
        _ if cells == 0 => "no leak: the file of the leak path has no cells".to_string(),
        1 => format!("1 hole leaks; {cells_text} on the path through it"),
        n => format!(
            "{} holes leak; {cells_text} on the paths through them",
            grouped(n)
        ),
    }
}

/// Returns the output and the memory that a dry run expects.
pub(super) fn plan(options: &Options, found: &RunReport, memory: &MemoryPlan) -> String {
    let resources = &options.job.options.resources;
    let name = options.output.name();
    let format = options.output.format.name;
    let mut text = match options.output.file.is_stdout() {
        true => format!("would write {format} to {name}"),
        false => format!("would write {name} as {format}"),
    };
    match found.output_size {
        Some(FileSize::About(n)) => text += &format!(", about {}", bytes(n)),
        Some(FileSize::AtMost(n)) => text += &format!(", at most {}", bytes(n)),
        None => {}
    }
    for aux in options.aux_outputs() {
        text += &format!("; {} to {}", aux.role(), aux.path().display());
    }
    text += "; ";
    let mut whole = String::new();
    if let Strategy::Slabs(height) = memory.strategy {
        let layers = counted(height as u64, "layer", "layers");
        text += &format!("in {} slabs of {layers}, ", grouped(memory.slabs as u64));
        whole = format!("; all at once takes {}", bytes(memory.dense));
    }
    let most = bytes(resources.budget().with_program(memory.bytes));
    text += &match found.peak {
        Some(peak) => format!("about {} of memory, at most {most}", bytes(peak)),
        None => format!("at most {most} of memory"),
    };
    match resources.memory {
        MemoryLimit::Requested(most) => {
            text += &format!(" (--max-memory allows {}{whole})", bytes(most))
        }
        MemoryLimit::Available(most) => text += &format!(" ({} available)", bytes(most)),
        MemoryLimit::Share(_) | MemoryLimit::Unknown => {}
    }
    text
}

pub(super) fn wrote(options: &Options, written: &Written) -> String {
    let output = &options.output;
    let name = match written.path.to_str() {
        Some("-") => output.name(),
        _ => written.path.display().to_string(),
    };
    let mut text = format!("{name}, {}", bytes(written.bytes));
    if let Some(aux) = options.aux_outputs().find(|aux| aux.path() == written.path) {
        text += &format!(", {}", aux.role());
    } else if written.format == output.format.name {
        text += &numbers(&output.target());
        // The file itself does not state the position of its cells.
        if output.format.carries == Carries::SidecarOnRequest
            && !output.file.is_stdout()
            && output.sidecar_path().is_none()
        {
            // A file of faces has the coordinates of the part.
            let is_of_faces = output.format.choices.contains(&Choice::GreedyFaces);
            text += match is_of_faces {
                true => "; --sidecar saves the grid",
                false => ", without the position of the cells; --sidecar saves it",
            };
        }
    }
    text
}

/// Returns the number type and the axes of an array: `, bool a[x,y,z]`.
fn numbers(target: &Target) -> String {
    let Some(dtype) = target.dtype.filter(|_| target.format.dtypes.len() > 1) else {
        return String::new();
    };
    // Order of the indices in NumPy. Other formats have no such order.
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
    let mut slabs = String::new();
    if let Some(memory) = &found.memory
        && let Strategy::Slabs(_) = memory.strategy
    {
        slabs = format!(", {} slabs", grouped(memory.slabs as u64));
    }
    time_line(
        found.elapsed(),
        &found.times.phases(),
        &options.job.options.resources,
        &slabs,
    )
}

/// Returns the row about time: the total, each phase, the number of threads and the instruction set.
pub fn time_line(
    total: Duration,
    phases: &[(&str, Option<Duration>)],
    resources: &Resources,
    slabs: &str,
) -> String {
    let threads = counted(resources.threads as u64, "thread", "threads");
    let peak = peak_memory().map_or_else(String::new, |peak| format!(", peak {}", bytes(peak)));
    format!(
        "{}; {threads}, {}{slabs}{peak}",
        durations(total, phases),
        resources.level.name()
    )
}
