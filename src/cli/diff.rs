//! `voxelize diff` compares two voxel files cell by cell.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use voxelize::compare::{
    self, BoxSize, Deepest, DepthFrom, Difference, DifferenceDepth, FieldDifference, Gate,
    Mismatch, confused_factor, diff,
};
use voxelize::format::{self, FORMATS, Format, SaveOptions, Written};
use voxelize::grid::{AXES, CellKind, InMemory};
use voxelize::job::UnitOfLength;
use voxelize::view::{self, View};
use voxelize::{BitGrid, Error, Kind, Lattice, Rational, Result, Voxels, par};

use super::args::{MemoryArgs, arguments, values};
use super::command::{Call, Command};
use super::compared;
use super::diff_fields::{self, FieldOptions};
use super::files::has_extension;
use super::names::{Names, OutputFile};
use super::report::display::{self, bytes, cell_box, counted, dims, grouped, number, share};
use super::report::value::{self, DifferenceBox, LargestJson, OutputJson, lossy};
use super::report::{Outcome, Report, ReportRows, empty};
use super::run::record_text;

/// Names of the files in the hint about their sizes.
const COMPARED: [&str; 2] = ["the first", "the second"];

/// Number of differing cells that `-v` lists.
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
and the report states it. Labels are compared where both files have one; surface and interior of filled grids are treated as equal. For fields, the report has the largest difference and the number of \
cells that differ by more than --tolerance. Without --tolerance -0 differs from +0, because the sign of a distance states on which side of the surface a cell is.

Exit codes: 0 equal, or within --allow and --iou-min; 1 different; 2 usage error, or the grids do not match; \
3 a file cannot be read",
    empty: empty::<ComparedFiles>,
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

    /// Values of fields may differ by T, and -0 equals +0; --allow counts only cells that differ by more
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

/// Result of the command.
#[derive(Default, Serialize)]
struct ComparedFiles {
    first: Option<ComparedFile>,
    second: Option<ComparedFile>,
    grid: Option<GridComparison>,
    counts: Option<DifferenceCounts>,
    iou: Option<f64>,
    unit: Option<String>,
    volumes: Option<DifferenceVolumes>,
    depth: Option<DepthJson>,
    size_factor: Option<f64>,
    largest: Option<LargestJson>,
    #[serde(rename = "box")]
    within: Option<DifferenceBox>,
    outputs: Option<Vec<OutputJson>>,
}

#[derive(Serialize)]
struct ComparedFile {
    path: String,
    #[serde(flatten)]
    cells: Option<ComparedCells>,
}

/// Cells of one of the two files, once it has been read.
#[derive(Serialize)]
struct ComparedCells {
    kind: &'static str,
    dims: [usize; 3],
    occupied: Option<u64>,
    rule: Option<String>,
}

#[derive(Serialize)]
struct GridComparison {
    dims: [usize; 3],
    compared_by: &'static str,
    differs: Vec<GridDifference>,
}

#[derive(Serialize)]
struct GridDifference {
    what: &'static str,
    axis: Option<char>,
    first: Value,
    second: Value,
}

#[derive(Serialize)]
#[serde(untagged)]
enum DifferenceCounts {
    Cells {
        cells: u64,
        common: u64,
        added: u64,
        removed: u64,
        relabelled: u64,
        differing: u64,
    },
    Fields {
        cells: u64,
        differing: u64,
        signs_of_zero: u64,
        beyond: u64,
    },
}

/// Volumes in cubed units.
#[derive(Serialize)]
struct DifferenceVolumes {
    common: f64,
    added: f64,
    removed: f64,
}

/// Greatest distance of added and removed cells from the surface of one of the grids.
#[derive(Serialize)]
struct DepthJson {
    added: Option<DeepestJson>,
    removed: Option<DeepestJson>,
}

#[derive(Serialize)]
struct DeepestJson {
    distance: f64,
    surface: &'static str,
    cell: [usize; 3],
    point: [f64; 3],
}

impl DeepestJson {
    fn new(deepest: Deepest, lattice: &Lattice) -> Self {
        Self {
            distance: deepest.distance,
            surface: file_of(deepest.from),
            cell: deepest.cell,
            point: lattice.centre(deepest.cell),
        }
    }
}

/// Returns the name of the file from whose surface a depth is measured.
fn file_of(from: DepthFrom) -> &'static str {
    match from {
        DepthFrom::First => "first",
        DepthFrom::Second => "second",
    }
}

impl ComparedFile {
    fn new(path: &Path, voxels: Option<&Voxels>) -> Option<Self> {
        let cells = voxels.map(|voxels| ComparedCells {
            kind: voxels.kind().name(),
            dims: voxels.dims(),
            occupied: voxels.occupied().is_ok().then(|| voxels.count()),
            rule: voxels.record.rule_name.clone(),
        });
        Some(Self {
            path: lossy(path),
            cells,
        })
    }
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: DiffArgs = call.args()?;
    Ok(vec![Report::of(|report, result| {
        let resources = call.resources(args.memory.max_memory)?;
        let rows = &mut report.out;
        par::with_threads(resources.threads, || {
            compare(&args, resources.for_job(), call, rows, result)
        })?
    })])
}

fn compare(
    args: &DiffArgs,
    max_memory: Option<u64>,
    call: &Call,
    rows: &mut ReportRows,
    result: &mut ComparedFiles,
) -> Result<Outcome> {
    result.first = ComparedFile::new(&args.first, None);
    result.second = ComparedFile::new(&args.second, None);
    let first = call.names.reads(&args.first, "the first file")?;
    let second = call.names.reads(&args.second, "the second file")?;
    let output = args
        .output
        .as_deref()
        .map(|path| output_file(path, &call.names))
        .transpose()?;
    call.check_files()?;
    let first = compared::open_voxels(&first, &args.second, max_memory)?;
    let left = max_memory.map(|most| less(most, first.cells.as_ref().bytes()));
    let second = compared::open_voxels(&second, &args.first, left)?;
    let dims = first.dims();
    result.first = ComparedFile::new(&args.first, Some(&first));
    result.second = ComparedFile::new(&args.second, Some(&second));
    let grid = ComparedGrid::of(args, &first, &second);
    result.grid = Some(GridComparison {
        dims,
        compared_by: if grid.is_same() { "lattice" } else { "cells" },
        differs: grid.mismatches.iter().map(GridDifference::from).collect(),
    });
    grid.check(args, [&first, &second])?;
    let paths = [args.first.as_path(), args.second.as_path()];
    diff_fields::check(paths, [&first, &second], call)?;
    let cells = value::cells(dims);
    let lattice = grid.lattice;
    if let (Some(old), Some(new)) = (first.field(), second.field()) {
        let gate = Gate {
            allow: args.allow,
            iou_min: None,
        };
        let tolerance = args.tolerance;
        let options = FieldOptions {
            paths,
            tolerance,
            gate,
            grid: grid.text(args),
            lattice,
        };
        let (difference, passes) = diff_fields::compare([old, new], &options, rows)?;
        let FieldDifference {
            differing,
            signs_of_zero,
            beyond,
            largest,
            bounds,
        } = difference;
        result.counts = Some(DifferenceCounts::Fields {
            cells,
            differing,
            signs_of_zero,
            beyond,
        });
        result.largest = largest.map(Into::into);
        result.within = bounds.map(|bounds| DifferenceBox::new(bounds, lattice));
        result.outputs = Some(vec![]);
        return Ok(outcome(passes));
    }
    let left = left.map(|most| less(most, second.cells.as_ref().bytes()));
    if let Some(output) = &output {
        refuse_too_large(output, dims, left)?;
    }
    let difference = Difference::between(&first, &second)?;
    let written = match &output {
        Some(output) => write(output, &first, &second, lattice, call)?,
        None => Vec::new(),
    };
    let Difference {
        common,
        added,
        removed,
        relabelled,
        bounds,
    } = difference;
    let (differing, iou) = (difference.differing(), difference.iou());
    result.counts = Some(DifferenceCounts::Cells {
        cells,
        common,
        added,
        removed,
        relabelled,
        differing,
    });
    result.iou = Some(iou);
    result.within = bounds.map(|bounds| DifferenceBox::new(bounds, lattice));
    result.outputs = Some(value::outputs(&written));
    let unit = [&first, &second]
        .into_iter()
        .find_map(|voxels| voxels.record.transform("unit"));
    let mut sizes = vec![];
    let mut hint = None;
    if let Some(lattice) = lattice {
        let cell = lattice.cell_volume().to_f64();
        result.unit = unit.map(str::to_string);
        let [in_common, in_added, in_removed] =
            [common, added, removed].map(|cells| cells as f64 * cell);
        result.volumes = Some(DifferenceVolumes {
            common: in_common,
            added: in_added,
            removed: in_removed,
        });
        let [text_added, text_removed] =
            [in_added, in_removed].map(|volume| display::volume(volume, unit));
        if added + removed > 0 {
            sizes.push((
                "volume",
                format!("{text_added} added, {text_removed} removed"),
            ));
            let spacing = lattice.spacing().each_ref().map(Rational::to_f64);
            let left = left.unwrap_or(u64::MAX);
            let [old, new] = [first.occupied()?, second.occupied()?];
            let depth = DifferenceDepth::between(old, new, bounds, spacing, left)?;
            sizes.push(("depth", depth_text(depth, lattice, unit)));
            result.depth = depth.map(|depth| DepthJson {
                added: depth
                    .added
                    .map(|deepest| DeepestJson::new(deepest, lattice)),
                removed: depth
                    .removed
                    .map(|deepest| DeepestJson::new(deepest, lattice)),
            });
        }
        let factor = match grid.converted {
            Some(_) => None,
            None => confused_units([&first, &second]),
        };
        result.size_factor = factor;
        hint = factor.map(|factor| display::size_factor(factor, COMPARED));
    }
    let passes = Gate {
        allow: args.allow,
        iou_min: args.iou_min,
    }
    .lets_pass(differing, iou);
    add_rows(rows, args, [&first, &second], &grid, &difference, passes);
    for (label, text) in sizes {
        rows.row(label, text);
    }
    if let Some(hint) = hint {
        rows.row("size", hint);
    }
    for one in &written {
        let mut text = format!("{}, {}", one.path.display(), bytes(one.bytes));
        if one.format != "json" {
            text += &format!(": {}", counted(added + removed, "cell", "cells"));
        }
        rows.row("wrote", text);
    }
    if call.printer.is_verbose() {
        list(rows, first.occupied()?, second.occupied()?, &difference);
    }
    Ok(outcome(passes))
}

/// Returns `removed up to 4 mm above the surface of the second, at cell (3, 4, 5), centre (3.5, 4.5, 5.5)`.
fn depth_text(depth: Option<DifferenceDepth>, lattice: &Lattice, unit: Option<&str>) -> String {
    let Some(DifferenceDepth { added, removed }) = depth else {
        return "not measured; raise --max-memory".to_string();
    };
    let mut texts = vec![];
    for (what, deepest) in [("added", added), ("removed", removed)] {
        let Some(deepest) = deepest else {
            continue;
        };
        let [i, j, k] = deepest.cell;
        let distance = number(deepest.distance) + &display::suffix(unit);
        let side = if (what == "removed") == (deepest.from == DepthFrom::First) {
            "below"
        } else {
            "above"
        };
        let file = file_of(deepest.from);
        let centre = lattice.centre(deepest.cell).map(number).join(", ");
        texts.push(format!(
            "{what} up to {distance} {side} the surface of the {file}, at cell ({i}, {j}, {k}), centre ({centre})"
        ));
    }
    texts.join("; ")
}

/// Returns the factor between the sizes of two files, if units may have been confused.
fn confused_units([first, second]: [&Voxels; 2]) -> Option<f64> {
    confused_factor(&BoxSize::of_cells(first)?, &BoxSize::of_cells(second)?)
}

fn outcome(passes: bool) -> Outcome {
    if passes {
        Outcome::Done
    } else {
        Outcome::CheckFailed(None)
    }
}

/// Returns the memory that remains of the limit `most` after `taken` bytes.
fn less(most: u64, taken: u128) -> u64 {
    most.saturating_sub(u64::try_from(taken).unwrap_or(u64::MAX))
}

/// Adds the rows about the files, the grid, the numbers of cells and the bounding box of the differences.
fn add_rows(
    rows: &mut ReportRows,
    args: &DiffArgs,
    [first, second]: [&Voxels; 2],
    grid: &ComparedGrid,
    difference: &Difference,
    passes: bool,
) {
    for (label, path, voxels) in [
        ("first", &args.first, first),
        ("second", &args.second, second),
    ] {
        let occupied = counted(voxels.count(), "voxel", "voxels");
        rows.row(
            label,
            format!(
                "{}: {occupied} in {} cells",
                path.display(),
                dims(voxels.dims())
            ),
        );
    }
    rows.row("grid", grid.text(args));
    let rules = [first, second].map(|voxels| record_text(&voxels.record));
    if let [Some(a), Some(b)] = rules
        && (&first.record.rule_name, &first.record.fields)
            != (&second.record.rule_name, &second.record.fields)
        && first.record.rule_name.is_some()
        && second.record.rule_name.is_some()
    {
        rows.row("rules", format!("differ: {a}, and {b}"));
    }
    if difference.is_none() {
        rows.row("cells", "equal");
    } else {
        let Difference {
            common,
            added,
            removed,
            relabelled,
            ..
        } = *difference;
        let verdict = if passes {
            "different, but within the limits"
        } else {
            "different"
        };
        let [common, added, removed, labels] = [common, added, removed, relabelled].map(grouped);
        let mut text = format!("{verdict}: {added} added, {removed} removed, {common} common");
        if relabelled > 0 {
            text += &format!(" ({labels} relabelled)");
        }
        rows.row(
            "cells",
            format!(
                "{text}; intersection over union {}",
                share(difference.iou())
            ),
        );
    }
    if let Some(bounds) = difference.bounds {
        rows.row("box", cell_box(bounds, grid.lattice));
    }
}

/// Adds a row for each of the first cells that differ.
fn list(rows: &mut ReportRows, first: &BitGrid, second: &BitGrid, difference: &Difference) {
    for ([i, j, k], label) in diff::cells(first, second).take(LISTED) {
        rows.row("cell", format!("({i}, {j}, {k}) {}", label.name));
    }
    let more = difference.differing().saturating_sub(LISTED as u64);
    if more > 0 {
        rows.row("cell", format!("and {} more", grouped(more)));
    }
}

/// Comparison of the positions of two grids.
struct ComparedGrid<'a> {
    /// Lattice of both files, or of the only file that states it.
    lattice: Option<&'a Lattice>,
    /// Properties in which the two lattices differ.
    mismatches: Vec<Mismatch>,
    /// The lattices differ only by rounding. Images of other programs do not store exact positions.
    is_rounding: bool,
    /// Units of both files, if the lattices are equal after conversion.
    converted: Option<[UnitOfLength; 2]>,
    /// Whether each file states the position of its cells.
    known: [bool; 2],
    ignored: bool,
}

impl<'a> ComparedGrid<'a> {
    fn of(args: &DiffArgs, first: &'a Voxels, second: &'a Voxels) -> Self {
        let known = [first.lattice.is_some(), second.lattice.is_some()];
        let mismatches = compare::grids(first, second);
        let is_of_unit =
            |mismatch: &Mismatch| matches!(mismatch, Mismatch::Unit(_) | Mismatch::Frame(_));
        let is_rounding = match (&first.lattice, &second.lattice) {
            (Some(a), Some(b))
                if is_rounded(&args.first, first) || is_rounded(&args.second, second) =>
            {
                !mismatches.is_empty()
                    && !mismatches.iter().any(is_of_unit)
                    && compare::differ_by_rounding(a, b)
            }
            _ => false,
        };
        let converted = match (&first.lattice, &second.lattice) {
            (Some(a), Some(b)) => units_of(&mismatches).filter(|[one, other]| {
                let factor = &other.millimetres() / &one.millimetres();
                compare::differ_by_factor(a, b, &factor)
            }),
            _ => None,
        };
        let is_rounding = is_rounding || converted.is_some();
        let is_one = mismatches.is_empty() || is_rounding;
        let lattice = first
            .lattice
            .as_ref()
            .or(second.lattice.as_ref())
            .filter(|_| is_one);
        Self {
            lattice,
            mismatches,
            is_rounding,
            converted,
            known,
            ignored: args.ignore_grid,
        }
    }

    fn check(&self, args: &DiffArgs, files: [&Voxels; 2]) -> Result<()> {
        let dims = self
            .mismatches
            .iter()
            .any(|m| matches!(m, Mismatch::Dims(_)));
        if self.mismatches.is_empty() || self.is_rounding || self.ignored && !dims {
            return Ok(());
        }
        let first = args.first.display();
        let second = args.second.display();
        let what = match self
            .mismatches
            .iter()
            .find(|m| matches!(m, Mismatch::Dims(_)))
        {
            Some(dims) if self.ignored => {
                format!(
                    "a comparison of cells needs equal dims; {}",
                    difference_text(std::slice::from_ref(dims))
                )
            }
            _ => format!(
                "the grids do not match; {}",
                difference_text(&self.mismatches)
            ),
        };
        let error = Error::usage(format!("{first} and {second}: {what}"));
        if units_of(&self.mismatches).is_none()
            && let Some(factor) = confused_units(files)
        {
            return Err(error.with_hint(format!(
                "{}; --ignore-grid compares the cells anyway",
                display::size_factor(factor, COMPARED)
            )));
        }
        let like = format!(
            "'voxelize A.stl B.stl --same-grid -o DIR/' puts two meshes on one grid; --like {first} uses the grid of the \
             first file, and cuts off the mesh outside it"
        );
        if let Some([one, other]) = units_of(&self.mismatches) {
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

    /// Returns `true` if both files state their positions, and cells with the same index are the same box,
    /// apart from rounding.
    fn is_same(&self) -> bool {
        self.known == [true; 2] && (self.mismatches.is_empty() || self.is_rounding)
    }

    fn text(&self, args: &DiffArgs) -> String {
        let names = [&args.first, &args.second].map(|path| path.display().to_string());
        if let (true, Some(lattice)) = (self.is_same(), self.lattice) {
            let but = match self.converted {
                Some([one, other]) => {
                    format!(" in {}, converted from {}", one.name(), other.name())
                }
                None if self.is_rounding => " except for rounding to 32-bit floats".to_string(),
                None => String::new(),
            };
            return format!("the same{but}: {}", display::cells(lattice));
        }
        if !self.mismatches.is_empty() {
            return format!("differs, ignored; {}", difference_text(&self.mismatches));
        }
        let silent: Vec<_> = names
            .into_iter()
            .zip(self.known)
            .filter(|(_, known)| !known)
            .map(|(name, _)| name)
            .collect();
        let verb = if silent.len() == 1 { "does" } else { "do" };
        format!(
            "not compared: {} {verb} not contain the position of the cells",
            silent.join(" and ")
        )
    }
}

/// Returns the units of two files if they differ and are known.
fn units_of(mismatches: &[Mismatch]) -> Option<[UnitOfLength; 2]> {
    let names = mismatches.iter().find_map(|mismatch| match mismatch {
        Mismatch::Unit(names) => Some(names),
        _ => None,
    })?;
    let [one, other] = names.each_ref().map(|name| UnitOfLength::from_name(name));
    Some([one?, other?])
}

/// Returns `true` for an image of another program. Such files store positions as decimals or floats.
fn is_rounded(path: &Path, voxels: &Voxels) -> bool {
    let is_image = |format: &Format| ["nrrd", "nii", "nii.gz", "vti"].contains(&format.name);
    voxels.record.tool.is_none() && format::sniff(path).is_some_and(is_image)
}

/// Returns the text of the differences between the lattices. A difference that is the same on all axes
/// appears once.
fn difference_text(mismatches: &[Mismatch]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let all_sizes = match mismatches
        .iter()
        .filter_map(spacings)
        .collect::<Vec<_>>()
        .as_slice()
    {
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

/// Returns the text of two different numbers. If six digits tell them apart, these are shown; otherwise the
/// exact numbers and their difference.
fn pair([first, second]: &[Rational; 2]) -> String {
    let [a, b] = [first, second].map(|value| number(value.to_f64()));
    match a == b {
        true => format!(
            "{first} → {second}, {} apart",
            number((first - second).abs().to_f64())
        ),
        false => format!("{a} → {b}"),
    }
}

impl From<&Mismatch> for GridDifference {
    fn from(mismatch: &Mismatch) -> Self {
        let fractions =
            |values: &[Rational; 2]| values.each_ref().map(|value| value.to_string().into());
        let (what, axis, [first, second]) = match mismatch {
            Mismatch::Dims(dims) => ("dims", None, dims.map(Value::from)),
            Mismatch::Origin(axis, values) => ("origin", Some(axis), fractions(values)),
            Mismatch::Spacing(axis, values) => ("spacing", Some(axis), fractions(values)),
            Mismatch::Closed(axis, closed) => ("closed", Some(axis), closed.map(Value::from)),
            Mismatch::Unit(units) => ("unit", None, units.clone().map(Value::from)),
            Mismatch::Frame(frames) => ("frame", None, frames.clone().map(Value::from)),
        };
        Self {
            what,
            axis: axis.map(|axis| AXES[*axis]),
            first,
            second,
        }
    }
}

/// Returns the output file of `-o`: a voxel format with labels, or a picture.
fn output_file(path: &Path, names: &Names) -> Result<OutputFile> {
    let file = OutputFile::new(path, "the output");
    if let Some(format) = format::by_path(path).filter(|format| format.holds(CellKind::Labels)) {
        return file.of_cells(format, CellKind::Labels).register(names);
    }
    let file = file.register(names)?;
    if has_extension(path, "png") {
        return Ok(file);
    }
    let known = FORMATS
        .iter()
        .filter(|format| format.holds(CellKind::Labels));
    let known: Vec<_> = known
        .map(|format| format!(".{}", format.extensions[0]))
        .collect();
    let error = Error::usage("no format that can store labels has this extension").in_file(path);
    Err(error.with_hint(format!("use {}, or .png for a picture", known.join(", "))))
}

/// Refuses an output that needs more memory than is left.
fn refuse_too_large(output: &OutputFile, dims: [usize; 3], left: Option<u64>) -> Result<()> {
    let need = match output.format() {
        Some(_) => 2 * BitGrid::bytes_for(dims),
        None => {
            let picture = view::bytes_for(View::default().size, par::available_threads());
            3 * BitGrid::bytes_for(dims) + u128::from(picture)
        }
    };
    match left {
        Some(left) if u128::from(left) < need => {
            let text = format!(
                "the differences need {}, {} are left",
                bytes(need),
                bytes(left)
            );
            let error = Error::too_large(text).in_file(output.path());
            Err(error.with_hint("without -o the grids are still compared; or raise --max-memory"))
        }
        _ => Ok(()),
    }
}

fn write(
    output: &OutputFile,
    first: &Voxels,
    second: &Voxels,
    lattice: Option<&Lattice>,
    call: &Call,
) -> Result<Vec<Written>> {
    let first = first.occupied()?;
    let second = second.occupied()?;
    call.signals.listen()?;
    let Some(format) = output.format() else {
        // Common cells are drawn dimmed, so that the picture shows where in the part the differences are.
        let spacing = match lattice {
            Some(lattice) => lattice.spacing().each_ref().map(Rational::to_f64),
            None => [1.0; 3],
        };
        let picture = view::cells(&diff::labels(first, second)?, spacing, &View::default())?;
        return Ok(vec![output.save_bytes("png", &picture.to_png()?)?]);
    };
    let changes = diff::saved(diff::changes(first, second)?, lattice);
    let bar = call.bar();
    let options = SaveOptions {
        progress: &bar,
        ..SaveOptions::default()
    };
    let written = output.save_source(&mut InMemory::new(&changes), format, &options);
    bar.clear();
    written.map_err(|error| match error.kind() {
        // The renderer refuses cells that are not cubes, and no other option would help.
        Kind::Usage => error
            .in_file(output.path())
            .with_hint("without -o the grids are still compared"),
        _ => error,
    })
}
