//! `voxelize formats`: the supported file formats, from the tables of readers and writers.

use serde::Serialize;
use voxelize::Result;
use voxelize::format::{Carries, FORMATS, Format};
use voxelize::mesh::read::{INPUTS, InputFormat};

use super::args::arguments;
use super::command::{Call, Command};
use super::report::{Outcome, Report, ReportRows, empty};

pub const COMMAND: Command = Command {
    name: "formats",
    about: "list the supported file formats",
    examples: "\
voxelize formats           the formats, with their extensions and types of numbers
voxelize formats --json    the same for programs",
    notes: "",
    empty: empty::<SupportedFormats>,
    arguments: arguments::<FormatsArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct FormatsArgs {}

/// Result of the command. Null until the call is validated.
#[derive(Default, Serialize)]
struct SupportedFormats {
    meshes: Option<Vec<MeshFormat>>,
    voxels: Option<Vec<VoxelFormat>>,
}

#[derive(Serialize)]
struct MeshFormat {
    name: &'static str,
    extensions: &'static [&'static str],
    about: &'static str,
}

#[derive(Serialize)]
struct VoxelFormat {
    name: &'static str,
    extensions: &'static [&'static str],
    about: &'static str,
    dtypes: Vec<&'static str>,
    choices: Vec<String>,
    readable: bool,
    cells: Vec<&'static str>,
    lattice: &'static str,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    call.check_files()?;
    Ok(vec![Report::of(|report, result: &mut SupportedFormats| {
        let input = |input: &InputFormat| MeshFormat {
            name: input.name,
            extensions: input.extensions,
            about: input.about,
        };
        result.meshes = Some(INPUTS.iter().map(input).collect());
        result.voxels = Some(FORMATS.iter().map(VoxelFormat::new).collect());
        report.out = rows();
        Ok(Outcome::Done)
    })])
}

impl VoxelFormat {
    fn new(format: &Format) -> Self {
        Self {
            name: format.name,
            extensions: format.extensions,
            about: format.about,
            dtypes: format.dtypes.iter().map(|dtype| dtype.name()).collect(),
            choices: format.choices.iter().map(|choice| choice.words()).collect(),
            readable: format.is_readable(),
            cells: format.kinds.iter().map(|kind| kind.name()).collect(),
            lattice: match format.carries {
                Carries::InFile => "file",
                Carries::Rounded => "file-rounded",
                Carries::Sidecar => "sidecar",
                _ => "sidecar-on-request",
            },
        }
    }
}

fn rows() -> ReportRows {
    let mut text = "Mesh formats that voxelize reads, recognised by content:\n".to_string();
    for input in INPUTS {
        text += &row(input.name, input.extensions, input.about);
    }
    text += "\nVoxel formats that voxelize writes, by extension or -f FORMAT:\n";
    for format in FORMATS {
        text += &row(format.name, format.extensions, format.about);
        let dtypes: Vec<_> = format.dtypes.iter().map(|dtype| dtype.name()).collect();
        let dtype = if dtypes.len() > 1 {
            format!("--dtype {}; ", dtypes.join("|"))
        } else {
            String::new()
        };
        let lattice = match format.carries {
            Carries::InFile => "contains the position of its cells",
            Carries::Rounded => {
                "contains the position of its cells, rounded; exactly in a .json with --sidecar"
            }
            Carries::Sidecar => {
                "a .json sidecar, always written, contains the position of its cells"
            }
            _ => "--sidecar writes the position of its cells to a .json",
        };
        let reading = if format.is_readable() {
            ""
        } else {
            "; written only"
        };
        text += &format!("{:20}{dtype}{lattice}{reading}\n", "");
        for choice in format.choices {
            text += &format!("{:20}--{}: {}\n", "", choice.words(), choice.about());
        }
    }
    ReportRows(text)
}

fn row(name: &str, extensions: &[&str], about: &str) -> String {
    let extensions: Vec<_> = extensions
        .iter()
        .map(|extension| format!(".{extension}"))
        .collect();
    format!("  {name:<10}  {:<5} {about}\n", extensions.join(" "))
}
