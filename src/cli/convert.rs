//! `voxelize convert`: the cells of a voxel file in another format.

use std::path::PathBuf;

use serde_json::Value;
use voxelize::format::{self, ARRAYS};
use voxelize::grid::InMemory;
use voxelize::job::Transform;
use voxelize::{BitGrid, Code, Finding, Hint, Result, par};

use super::args::{FileArgs, MemoryArgs, OutputArgs, arguments};
use super::command::{Call, Command};
use super::files::{self, MeshSource};
use super::memory::Resources;
use super::output::Output;
use super::report::display::{self, bytes};
use super::report::{Outcome, Report, finding_line, row, value};
use super::{contents, info};

pub const COMMAND: Command = Command {
    name: "convert",
    about: "write the cells of a voxel file in another format",
    examples: "\
voxelize convert part.vox part.nrrd           with the same digests
voxelize convert part.npz part.npy --sidecar  a .json keeps where the cells are
voxelize convert part.nii - -f npy > part.npy",
    notes: "\
Bits, labels and fields, their position, names, colours and how they were made are kept where the format holds \
them. The whole grid is held in memory.",
    keys: "path format bytes contents labels grid made_by input rule [fields] snap transform counts volume digest \
           warnings outputs",
    arguments: arguments::<ConvertFileArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct ConvertFileArgs {
    /// A voxel file, of any format that 'voxelize formats' lists as readable
    #[arg(value_name = "IN", help_heading = "Files")]
    input: PathBuf,

    /// The file to write, in the format of its extension; an existing file is replaced. - is standard output
    /// and needs -f; DIR/ gets a file with the name of IN
    #[arg(value_name = "OUT", help_heading = "Files", allow_hyphen_values = false)]
    out: PathBuf,

    #[command(flatten)]
    file: FileArgs,

    #[command(flatten)]
    memory: MemoryArgs,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: ConvertFileArgs = call.args()?;
    Ok(vec![Report::of(|report| {
        let resources = call.resources(args.memory.max_memory)?;
        par::with_threads(resources.threads, || convert(args, &resources, call, report))?
    })])
}

fn convert(
    args: ConvertFileArgs,
    resources: &Resources,
    call: &Call,
    report: &mut Report,
) -> Result<Outcome> {
    let ConvertFileArgs { input, out, file, .. } = args;
    report.set("path", input.to_string_lossy());
    let source = call.names.reads(&input, "the input")?;
    files::is_there(&input)?;
    let description = format::describe(&input).map_err(|error| match files::if_mesh(error, &input) {
        mesh if mesh.hint().is_none() => {
            let hint = format!("voxelize {} -o {} makes voxels of it", input.display(), out.display());
            mesh.with_hint(hint)
        }
        error => error,
    })?;
    let format = description.format.name;
    report.set("format", format);
    report.set("bytes", description.bytes);
    let voxels = files::open_within(&source, resources.for_job())?;

    let output = OutputArgs { output: Some(out), file, skip_existing: false, stack: false };
    let output = Output::new(&output, voxels.cells.as_ref().kind(), &MeshSource::File(source), call)?;
    output.check_rounding(&voxels.record)?;
    call.check_files()?;
    call.signals.listen()?;
    let bar = call.bar();
    let written = output.write(&mut InMemory::new(&voxels), &bar, call.signals)?;
    bar.clear();

    let labels = contents::labels(voxels.cells.as_ref());
    info::set_voxels(report, &voxels, &labels, voxels.occupied().ok().map(BitGrid::count));
    let transform = Transform::from_entries(&voxels.record.transform).unwrap_or_default();
    let lattice = voxels.lattice.as_ref();
    let mut warnings =
        lattice.map_or_else(Vec::new, |lattice| output.target().findings(lattice, &transform, None));
    if let Some(arrays) = description.metadata.extra.get(ARRAYS) {
        let text = format!("only the cells are converted: the arrays beside them, {arrays}, are left out");
        let hint = Hint::from("take them from the input, or make them again of the mesh");
        warnings.push(Finding::new(Code::W004, text).with_hint(hint));
    }
    report.set("warnings", warnings.iter().map(value::finding).collect::<Value>());
    report.set("outputs", value::outputs(&written));
    let digest = voxels.digest();
    report.set("digest", value::digest(&digest));
    row(&mut report.err, "voxels", &format!("{}: {format}, {}", input.display(), bytes(description.bytes)));
    let unit = voxels.record.transform("unit");
    let in_unit = |lattice| display::grid_in(lattice, unit);
    let grid = voxels.lattice.as_ref().map_or_else(|| display::dims(voxels.dims()), in_unit);
    row(&mut report.err, "grid", &grid);
    for written in &written {
        let name =
            if written.path.as_os_str() == "-" { output.name() } else { written.path.display().to_string() };
        row(&mut report.err, "wrote", &format!("{name}, {}", bytes(written.bytes)));
    }
    row(&mut report.err, "digest", &display::digest(&digest));
    warnings.iter().for_each(|warning| report.err += &finding_line("", warning));
    Ok(Outcome::Done)
}
