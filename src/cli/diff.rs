//! `voxelize diff`: two voxel files, cell by cell.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use voxelize::compare::{self, Difference, Gate, Mismatch, diff};
use voxelize::format::{self, FORMATS, Format, SaveOptions, Written};
use voxelize::grid::AXES;
use voxelize::grid::{CellKind, InMemory};
use voxelize::job::{Names, NewFile, OutFile, UnitOfLength};
use voxelize::view::{self, View};
use voxelize::{BitGrid, Error, Kind, Lattice, Rational, Result, Voxels, par};

use super::args::{MemoryArgs, arguments, values};
use super::command::{Call, Command};
use super::diff_fields::{self, FieldOptions};
use super::files::{self, has_extension};
use super::info::rule_text;
use super::report::display::{self, bytes, cell_box, counted, dims, grouped, number, share};
use super::report::{Outcome, Report, value};

/// How many cells -v lists.
const LISTED: usize = 20;

pub const COMMAND: Command = Command {
    name: "diff",
    about: "compare two voxel files, cell by cell",
    examples: "\
voxelize diff old.vox new.npz            exit code 0 if equal, 1 if different
voxelize diff old.vox new.vox -o d.vox   write the differences as coloured voxels
voxelize diff old.vox new.vox -o d.png   the same as a picture, common cells dimmed
voxelize diff old.npy new.npy --allow 3  up to 3 cells may differ
voxelize diff -q old.raw new.raw         the exit code alone",
    notes: "\
Files of any two formats can be compared. diff first compares the positions of the cells, exactly, \
and ends with exit code 2 if they differ; images of other programs may differ by the rounding of \
numbers to 32-bit floats. A file without positions is compared by its cells alone, \
and the report states it. Labels are compared where both files have one; surface and interior of \
filled grids count as equal. For fields, the report has the largest difference and the number of \
cells that differ by more than --tolerance. Without --tolerance -0 differs from +0, since the sign of \
a distance says on which side of the surface a cell is.

Exit codes: 0 equal, or within --allow and --iou-min; 1 different; 2 usage error, or the grids do not match; \
3 a file cannot be read",
    keys: "first second grid counts iou largest box outputs",
    arguments: arguments::<DiffArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct DiffArgs {
    /// The voxel file to compare with, of any format that 'voxelize formats' lists
    #[arg(value_name = "A", help_heading = "Files")]
    first: PathBuf,

    /// The voxel file that is compared: cells only in B are added, cells only in A are removed
    #[arg(value_name = "B", help_heading = "Files")]
    second: PathBuf,

    /// Compare the cells of grids with different positions or cell sizes; the dims must still agree
    #[arg(long, help_heading = "Compare")]
    ignore_grid: bool,

    /// At most N cells may differ [default: 0, or no limit with --iou-min]
    #[arg(long, value_name = "N", value_parser = values::allowance, allow_negative_numbers = true,
          help_heading = "Compare")]
    allow: Option<u64>,

    /// Values of fields may differ by T, and -0 counts as +0: --allow counts cells that differ by more
    /// [default: no difference, not even of a sign]
    #[arg(long, value_name = "T", value_parser = values::tolerance, allow_negative_numbers = true,
          help_heading = "Compare")]
    tolerance: Option<f64>,

    /// The lowest intersection over union to accept, from 0 to 1 [default: none]
    #[arg(long, value_name = "X", value_parser = values::share, allow_negative_numbers = true,
          help_heading = "Compare")]
    iou_min: Option<f64>,

    /// Write the cells added and removed to this .vox or .npz as labels, or a picture of them
    /// among the common ones to this .png [default: none]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    memory: MemoryArgs,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: DiffArgs = call.args()?;
    Ok(vec![Report::of(|report| {
        let resources = call.resources(args.memory.max_memory)?;
        par::with_threads(resources.threads, || compare(&args, resources.for_job(), call, report))?
            .inspect_err(|_| report.out.clear())
    })])
}

fn compare(args: &DiffArgs, max_memory: Option<u64>, call: &Call, report: &mut Report) -> Result<Outcome> {
    report.set("first", json!({"path": args.first.to_string_lossy()}));
    report.set("second", json!({"path": args.second.to_string_lossy()}));
    let first = call.names.reads(&args.first, "the first file")?;
    let second = call.names.reads(&args.second, "the second file")?;
    let output = args.output.as_deref().map(|path| DiffOutput::new(path, &call.names)).transpose()?;
    call.check_files()?;
    let first = files::open_voxels(&first, &args.second, max_memory)?;
    let left = max_memory.map(|most| less(most, first.cells.as_ref().bytes()));
    let second = files::open_voxels(&second, &args.first, left)?;
    report.set("first", about(&args.first, &first));
    report.set("second", about(&args.second, &second));
    let grid = ComparedGrid::of(args, &first, &second);
    report.set("grid", grid.json(first.dims()));
    grid.check(args)?;
    let paths = [args.first.as_path(), args.second.as_path()];
    diff_fields::check(paths, [&first, &second], call)?;
    if let (Some(old), Some(new)) = (first.field(), second.field()) {
        let gate = Gate { allow: args.allow, iou_min: None };
        let tolerance = args.tolerance;
        let lattice = grid.lattice;
        let options = FieldOptions { paths, tolerance, gate, grid: grid.text(args), lattice };
        return diff_fields::compare([old, new], &options, report);
    }
    let left = left.map(|most| less(most, second.cells.as_ref().bytes()));
    if let Some(output) = &output {
        output.refuse_too_large(first.dims(), left)?;
    }
    let difference = Difference::between(&first, &second)?;
    let written = match output {
        Some(output) => output.write(&first, &second, grid.lattice, call)?,
        None => Vec::new(),
    };
    set(report, &first, &grid, &difference, &written);
    let gate = Gate { allow: args.allow, iou_min: args.iou_min };
    let passes = gate.lets_pass(difference.differing(), difference.iou());
    rows(report, args, [&first, &second], &grid, &difference, passes);
    for written in &written {
        let cells = match written.format {
            "json" => String::new(),
            _ => format!(": {}", counted(difference.added + difference.removed, "cell", "cells")),
        };
        report.row("wrote", &format!("{}, {}{cells}", written.path.display(), bytes(written.bytes)));
    }
    if call.printer.is_verbose() {
        list(report, first.occupied()?, second.occupied()?, &difference);
    }
    Ok(if passes { Outcome::Done } else { Outcome::CheckFailed(None) })
}

/// The memory that is left of a limit.
fn less(most: u64, taken: u128) -> u64 {
    most.saturating_sub(u64::try_from(taken).unwrap_or(u64::MAX))
}

fn about(path: &Path, voxels: &Voxels) -> Value {
    let kind = voxels.kind().name();
    let occupied = voxels.occupied().is_ok().then(|| voxels.count());
    let rule = &voxels.record.rule_name;
    json!({"path": path.to_string_lossy(), "kind": kind, "dims": voxels.dims(), "occupied": occupied, "rule": rule})
}

fn set(
    report: &mut Report,
    first: &Voxels,
    grid: &ComparedGrid,
    difference: &Difference,
    written: &[Written],
) {
    let Difference { common, added, removed, relabelled, .. } = *difference;
    let counts = json!({
        "cells": value::cells(first.dims()),
        "common": common,
        "added": added,
        "removed": removed,
        "relabelled": relabelled,
        "differing": difference.differing(),
    });
    report.set("counts", counts);
    report.set("iou", difference.iou());
    report.set("box", value::difference_box(difference.bounds, grid.lattice));
    report.set("outputs", value::outputs(written));
}

/// Files, grid, counts and box.
fn rows(
    report: &mut Report,
    args: &DiffArgs,
    [first, second]: [&Voxels; 2],
    grid: &ComparedGrid,
    difference: &Difference,
    passes: bool,
) {
    for (label, path, voxels) in [("first", &args.first, first), ("second", &args.second, second)] {
        let occupied = counted(voxels.count(), "voxel", "voxels");
        report.row(label, &format!("{}: {occupied} in {} cells", path.display(), dims(voxels.dims())));
    }
    report.row("grid", &grid.text(args));
    if let Some(rules) = rules(first, second) {
        report.row("rules", &rules);
    }
    let cells = if difference.is_none() {
        "equal".to_string()
    } else {
        let Difference { common, added, removed, relabelled, .. } = *difference;
        let verdict = if passes { "different, but within what is allowed" } else { "different" };
        let [common, added, removed] = [common, added, removed].map(grouped);
        let iou = share(difference.iou());
        let labels =
            if relabelled > 0 { format!(" ({} relabelled)", grouped(relabelled)) } else { String::new() };
        format!(
            "{verdict}: {added} added, {removed} removed, {common} common{labels}; intersection over union {iou}"
        )
    };
    report.row("cells", &cells);
    if let Some(bounds) = difference.bounds {
        report.row("box", &cell_box(bounds, grid.lattice));
    }
}

/// The rules of two grids that were made by different ones: `surface; ties: up, and solid; inside: auto`.
pub fn rules(first: &Voxels, second: &Voxels) -> Option<String> {
    let [a, b] = [first, second].map(|voxels| (&voxels.record.rule_name, &voxels.record.fields));
    let differ = a != b && a.0.is_some() && b.0.is_some();
    let text = |voxels: &Voxels| rule_text(&voxels.record).unwrap_or_default();
    differ.then(|| format!("differ: {}, and {}", text(first), text(second)))
}

/// The first cells that differ.
fn list(report: &mut Report, first: &BitGrid, second: &BitGrid, difference: &Difference) {
    for ([i, j, k], label) in diff::cells(first, second).take(LISTED) {
        report.row("cell", &format!("({i}, {j}, {k}) {}", label.name));
    }
    let more = difference.differing().saturating_sub(LISTED as u64);
    if more > 0 {
        report.row("cell", &format!("and {} more", grouped(more)));
    }
}

/// By what two grids are compared.
struct ComparedGrid<'a> {
    /// Where the cells are, if that is the same, or only one of them says it.
    lattice: Option<&'a Lattice>,
    /// The differences.
    mismatches: Vec<Mismatch>,
    /// Whether they are rounding: an image of another program has no exact position.
    is_rounding: bool,
    /// Whether both say where their cells are.
    known: [bool; 2],
    ignored: bool,
}

impl<'a> ComparedGrid<'a> {
    fn of(args: &DiffArgs, first: &'a Voxels, second: &'a Voxels) -> Self {
        let known = [first.lattice.is_some(), second.lattice.is_some()];
        let mismatches = compare::grids(first, second);
        let is_of_unit = |mismatch: &Mismatch| matches!(mismatch, Mismatch::Unit(_));
        let is_rounding = match (&first.lattice, &second.lattice) {
            (Some(a), Some(b)) if is_rounded(&args.first, first) || is_rounded(&args.second, second) => {
                !mismatches.is_empty()
                    && !mismatches.iter().any(is_of_unit)
                    && compare::differ_by_rounding(a, b)
            }
            _ => false,
        };
        let is_one = mismatches.is_empty() || is_rounding;
        let lattice = first.lattice.as_ref().or(second.lattice.as_ref()).filter(|_| is_one);
        Self { lattice, mismatches, is_rounding, known, ignored: args.ignore_grid }
    }

    fn check(&self, args: &DiffArgs) -> Result<()> {
        let dims = self.mismatches.iter().any(|m| matches!(m, Mismatch::Dims(_)));
        if self.mismatches.is_empty() || self.is_rounding || self.ignored && !dims {
            return Ok(());
        }
        let first = args.first.display();
        let second = args.second.display();
        let what = match self.mismatches.iter().find(|m| matches!(m, Mismatch::Dims(_))) {
            Some(dims) if self.ignored => {
                format!(
                    "a comparison of cells needs equal dims; {}",
                    difference_text(std::slice::from_ref(dims))
                )
            }
            _ => format!("the grids do not match; {}", difference_text(&self.mismatches)),
        };
        let error = Error::usage(format!("{first} and {second}: {what}"));
        let like = format!(
            "'voxelize A.stl B.stl --same-grid -o DIR/' puts two meshes on one grid; --like {first} takes that of the first, and \
             cuts off what is beyond it"
        );
        let units = self.mismatches.iter().find_map(|mismatch| match mismatch {
            Mismatch::Unit(names) => Some(names.each_ref().map(|name| UnitOfLength::from_name(name))),
            _ => None,
        });
        if let Some([Some(one), Some(other)]) = units {
            let factor = &other.millimetres() / &one.millimetres();
            return Err(error.with_hint(format!(
                "one is in {}, the other in {}: voxelize the second mesh with --scale {factor} --unit {}; --ignore-grid \
                 compares the cells anyway",
                one.name(),
                other.name(),
                one.name()
            )));
        }
        Err(if dims {
            error.with_hint(like)
        } else {
            error.with_hint(format!("--ignore-grid compares the cells anyway; {like}"))
        })
    }

    /// Whether the cells are known to be the same boxes.
    fn is_same(&self) -> bool {
        self.known == [true; 2] && (self.mismatches.is_empty() || self.is_rounding)
    }

    fn json(&self, dims: [usize; 3]) -> Value {
        let differs: Vec<_> = self.mismatches.iter().map(json_of).collect();
        json!({
            "dims": dims,
            "compared_by": if self.is_same() { "lattice" } else { "cells" },
            "differs": differs,
        })
    }

    fn text(&self, args: &DiffArgs) -> String {
        let names = [&args.first, &args.second].map(|path| path.display().to_string());
        if let (true, Some(lattice)) = (self.is_same(), self.lattice) {
            let but = if self.is_rounding { " but for rounding to 32-bit floats" } else { "" };
            return format!("the same{but}: {}", display::cells(lattice));
        }
        if !self.mismatches.is_empty() {
            return format!("differs, ignored; {}", difference_text(&self.mismatches));
        }
        let silent: Vec<_> =
            names.into_iter().zip(self.known).filter(|(_, known)| !known).map(|(name, _)| name).collect();
        let verb = if silent.len() == 1 { "does" } else { "do" };
        format!("compared by cells: {} {verb} not contain the position of the cells", silent.join(" and "))
    }
}

/// Whether a file is an image of another program, whose position is in decimals or floats.
fn is_rounded(path: &Path, voxels: &Voxels) -> bool {
    let is_image = |format: &Format| ["nrrd", "nii", "nii.gz", "vti"].contains(&format.name);
    voxels.record.tool.is_none() && format::sniff(path).is_some_and(is_image)
}

/// The differences; a difference equal on all axes appears once.
fn difference_text(mismatches: &[Mismatch]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let all_sizes = match mismatches.iter().filter_map(spacings).collect::<Vec<_>>().as_slice() {
        [x, y, z] if x == y && y == z => Some(format!("cell size: {}", pair(x))),
        _ => None,
    };
    for mismatch in mismatches {
        match (mismatch, &all_sizes) {
            (Mismatch::Spacing(0, _), Some(all)) => texts.push(all.clone()),
            (Mismatch::Spacing(..), Some(_)) => {}
            (Mismatch::Spacing(axis, values), None) => {
                texts.push(format!("cell size along {}: {}", AXES[*axis], pair(values)));
            }
            (Mismatch::Origin(axis, values), _) => {
                texts.push(format!("corner along {}: {}", AXES[*axis], pair(values)));
            }
            (other, _) => texts.push(other.to_string()),
        }
    }
    texts.join("; ")
}

fn spacings(mismatch: &Mismatch) -> Option<&[Rational; 2]> {
    match mismatch {
        Mismatch::Spacing(_, values) => Some(values),
        _ => None,
    }
}

/// Two numbers that differ: to six digits if that shows it, else exactly, and by how much.
fn pair([first, second]: &[Rational; 2]) -> String {
    let [a, b] = [first, second].map(|value| number(value.to_f64()));
    match a == b {
        true => format!("{first} → {second}, {} apart", number((first - second).abs().to_f64())),
        false => format!("{a} → {b}"),
    }
}

fn json_of(mismatch: &Mismatch) -> Value {
    let fractions = |values: &[Rational; 2]| values.each_ref().map(Rational::to_string);
    let (what, axis, values) = match mismatch {
        Mismatch::Dims(dims) => ("dims", None, json!(dims)),
        Mismatch::Origin(axis, values) => ("origin", Some(axis), json!(fractions(values))),
        Mismatch::Spacing(axis, values) => ("spacing", Some(axis), json!(fractions(values))),
        Mismatch::Closed(axis, closed) => ("closed", Some(axis), json!(closed)),
        Mismatch::Unit(units) => ("unit", None, json!(units)),
    };
    let axis = axis.map(|axis| AXES[*axis].to_string());
    json!({"what": what, "axis": axis, "first": values[0], "second": values[1]})
}

/// The file of `-o`, and what goes there.
struct DiffOutput {
    file: OutFile,
    content: DiffContent,
}

/// The content that `-o` asks for, by its extension.
enum DiffContent {
    /// Voxels with labels.
    Voxels(&'static Format),
    Picture,
}

impl DiffOutput {
    fn new(path: &Path, names: &Names) -> Result<Self> {
        let file = names.writes(NewFile::named(path, "the output"))?;
        let content = match format::by_path(path).filter(|format| format.holds(CellKind::Labels)) {
            Some(format) => DiffContent::Voxels(format),
            None if has_extension(path, "png") => DiffContent::Picture,
            None => {
                let known = FORMATS.iter().filter(|format| format.holds(CellKind::Labels));
                let known: Vec<_> = known.map(|format| format!(".{}", format.extensions[0])).collect();
                return Err(Error::usage("no format that holds labels has this extension")
                    .in_file(path)
                    .with_hint(format!("use {}, or .png for a picture", known.join(", "))));
            }
        };
        Ok(Self { file, content })
    }

    /// Refuses labels of so many cells if they take more memory than is left.
    fn refuse_too_large(&self, dims: [usize; 3], left: Option<u64>) -> Result<()> {
        let (picture, planes) = match self.content {
            DiffContent::Picture => (view::bytes_for(View::default().size, par::available_threads()), 3),
            DiffContent::Voxels(_) => (0, 2),
        };
        let need = planes * BitGrid::bytes_for(dims) + u128::from(picture);
        match left.filter(|left| u128::from(*left) < need) {
            None => Ok(()),
            Some(left) => {
                let text = format!("the differences need {}, {} are left", bytes(need), bytes(left));
                let error = Error::too_large(text).in_file(self.file.path());
                Err(error.with_hint("without -o the grids are still compared; or raise --max-memory"))
            }
        }
    }

    fn write(
        &self,
        first: &Voxels,
        second: &Voxels,
        lattice: Option<&Lattice>,
        call: &Call,
    ) -> Result<Vec<Written>> {
        let first = first.occupied()?;
        let second = second.occupied()?;
        call.signals.listen()?;
        let DiffContent::Voxels(format) = self.content else {
            // Common cells are drawn dimmed, to show the position of the differences in the part.
            let size = |lattice: &Lattice| lattice.spacing().each_ref().map(Rational::to_f64);
            let picture =
                view::cells(&diff::labels(first, second)?, lattice.map_or([1.0; 3], size), &View::default())?;
            return picture.save_in(&self.file).map(|one| vec![one]);
        };
        let changes = diff::saved(diff::changes(first, second)?, lattice);
        let bar = call.bar();
        let options = SaveOptions { progress: &bar, ..SaveOptions::default() };
        let written = self.file.save_source(&mut InMemory::new(&changes), format, &options);
        bar.clear();
        written.map_err(|error| match error.kind() {
            // The cells are not cubes; no other way of saving helps here.
            Kind::Usage => {
                error.in_file(self.file.path()).with_hint("without -o the grids are still compared")
            }
            _ => error,
        })
    }
}
