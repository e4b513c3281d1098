//! `voxelize convert` writes the cells of a voxel file in another format.

use std::path::PathBuf;

use serde::Serialize;
use voxelize::format::{self, ARRAYS};
use voxelize::grid::InMemory;
use voxelize::job::{MeshPose, Transform};
use voxelize::{Code, Finding, Result, par};

use super::args::{FileArgs, MemoryArgs, OutputArgs, arguments};
use super::command::{Call, Command};
use super::files::{self, MeshSource, PartSource};
use super::info::{CellsInfo, mesh_volume};
use super::memory::Resources;
use super::output::Output;
use super::report::display::{self, bytes};
use super::report::value::{self, Digests, Warning, lossy};
use super::report::{Outcome, Report, empty};

pub const COMMAND: Command = Command {
    name: "convert",
    about: "write the cells of a voxel file in another format",
    examples: "\
voxelize convert part.vox part.nrrd           with the same digests
voxelize convert part.npz part.npy --sidecar  a .json stores the position of the cells
voxelize convert part.nii - -f npy > part.npy",
    notes: "\
Bits, labels and fields, their position, names, colours and how they were made are kept if the format can store them. The whole grid must fit in memory.",
    empty: empty::<Conversion>,
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
    #[arg(
        value_name = "OUT",
        help_heading = "Files",
        allow_hyphen_values = false
    )]
    out: PathBuf,

    #[command(flatten)]
    file: FileArgs,

    #[command(flatten)]
    memory: MemoryArgs,
}

/// Result of the command.
#[derive(Default, Serialize)]
struct Conversion {
    path: Option<String>,
    format: Option<&'static str>,
    bytes: Option<u64>,
    #[serde(flatten)]
    cells: CellsInfo,
    digest: Option<Digests>,
    warnings: Option<Vec<Warning>>,
    outputs: Option<Vec<value::OutputJson>>,
    /// Volume of the mesh that the cells were made from. Null if the file does not record it. Absent until
    /// the file has been read.
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh_volume: Option<Option<f64>>,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: ConvertFileArgs = call.args()?;
    Ok(vec![Report::of(|report, result| {
        let resources = call.resources(args.memory.max_memory)?;
        par::with_threads(resources.threads, || {
            convert(args, &resources, call, report, result)
        })?
    })])
}

fn convert(
    args: ConvertFileArgs,
    resources: &Resources,
    call: &Call,
    report: &mut Report,
    result: &mut Conversion,
) -> Result<Outcome> {
    let ConvertFileArgs {
        input, out, file, ..
    } = args;
    result.path = Some(lossy(&input));
    let source = call.names.reads(&input, "the input")?;
    files::is_there(&input)?;
    let description =
        format::describe(&input).map_err(|error| match files::if_mesh(error, &input) {
            mesh if mesh.hint().is_none() => {
                let hint = format!(
                    "voxelize {} -o {} makes voxels of it",
                    input.display(),
                    out.display()
                );
                mesh.with_hint(hint)
            }
            error => error,
        })?;
    let format = description.format.name;
    result.format = Some(format);
    result.bytes = Some(description.bytes);
    let voxels = files::open_within(&source, resources.for_job())?;

    let output = OutputArgs {
        output: Some(out),
        file,
        skip_existing: false,
        stack: false,
    };
    let source = MeshSource {
        parts: vec![PartSource {
            given_name: None,
            file: Some(source),
            pose: MeshPose::default(),
        }],
        scene: None,
    };
    let output = Output::new(&output, voxels.cells.as_ref().kind(), &source, call)?;
    output.check_rounding(&voxels.record)?;
    call.check_files()?;
    call.signals.listen()?;
    let bar = call.bar();
    let mut written = output.write(&mut InMemory::new(&voxels), &bar)?;
    bar.clear();

    let mut warnings = vec![];
    if let Some(lattice) = &voxels.lattice {
        let transform = Transform::from_entries(&voxels.record.transform).unwrap_or_default();
        warnings = output.target().findings(lattice, &transform, None);
    }
    if let Some(arrays) = description.metadata.extra.get(ARRAYS) {
        let text =
            format!("only the cells are converted: the additional arrays {arrays} are left out");
        let hint = "read them from the input, or make them again from the mesh";
        warnings.push(Finding::new(Code::W004, text).with_hint(hint));
    }
    let digest = voxels.digest();
    result.cells = CellsInfo::new(&voxels);
    result.mesh_volume = Some(mesh_volume(&voxels.record));
    result.warnings = Some(value::warnings(&warnings));
    result.outputs = Some(value::outputs(&written));
    result.digest = Some(Digests::from(&digest));

    let rows = &mut report.err;
    rows.row(
        "voxels",
        format!(
            "{}: {format}, {}",
            input.display(),
            bytes(description.bytes)
        ),
    );
    rows.row(
        "grid",
        match &voxels.lattice {
            Some(lattice) => display::grid_in(lattice, voxels.record.transform("unit")),
            None => display::dims(voxels.dims()),
        },
    );
    for one in &mut written {
        if one.path.as_os_str() == "-" {
            one.path = output.name().into();
        }
    }
    rows.wrote(&written);
    rows.row("digest", display::digest(&digest));
    for warning in &warnings {
        rows.finding("", warning);
    }
    Ok(Outcome::Done)
}
