//! `voxelize formats`: what is read and what is written, from the tables that do it.

use clap::CommandFactory;
use serde_json::{Value, json};
use voxelize::Result;
use voxelize::format::{Carries, FORMATS};
use voxelize::mesh::read::INPUTS;

use super::args::{PageArgs, PowerArgs, TellArgs};
use super::call::{Call, End};
use super::verb::Verb;

pub const VERB: Verb = Verb {
    name: "formats",
    usage: "[OPTIONS]",
    about: "what is read and written",
    examples: "\
voxelize formats           the formats, with their extensions and types of numbers
voxelize formats --json    the same for programs",
    notes: "",
    keys: &["meshes", "voxels"],
    arguments: Args::command,
    run,
};

#[derive(Debug, clap::Parser)]
struct Args {
    #[command(flatten)]
    tell: TellArgs,

    #[command(flatten)]
    power: PowerArgs,

    #[command(flatten)]
    page: PageArgs,
}

fn run(call: &mut Call) -> Result<()> {
    let meshes = INPUTS
        .iter()
        .map(|input| json!({"name": input.name, "extensions": input.extensions, "about": input.about}));
    call.know("meshes", meshes.collect::<Value>());
    let voxels = FORMATS.iter().map(|format| {
        let dtypes: Vec<_> = format.dtypes.iter().map(|dtype| dtype.name()).collect();
        json!({
            "name": format.name,
            "extensions": format.extensions,
            "about": format.about,
            "dtypes": dtypes,
            "lattice": match format.carries {
                Carries::InFile => "file",
                Carries::Sidecar => "sidecar",
                _ => "sidecar-on-request",
            },
        })
    });
    call.know("voxels", voxels.collect::<Value>());
    call.answer(&list(), &End::Yes)
}

fn list() -> String {
    let mut text = "Meshes that are read, told by their content:\n".to_string();
    for input in INPUTS {
        text += &row(input.name, input.extensions, input.about);
    }
    text += "\nVoxels that are written, by extension or -f FORMAT:\n";
    for format in FORMATS {
        text += &row(format.name, format.extensions, format.about);
        let dtypes: Vec<_> = format.dtypes.iter().map(|dtype| dtype.name()).collect();
        let lattice = match format.carries {
            Carries::InFile => "says itself where its cells are",
            Carries::Sidecar => "a .json beside it says where its cells are",
            _ => "with --sidecar a .json beside it says where its cells are",
        };
        let dtype = if dtypes.len() > 1 { format!("--dtype {}; ", dtypes.join("|")) } else { String::new() };
        text += &format!("{:20}{dtype}{lattice}\n", "");
    }
    text
}

fn row(name: &str, extensions: &[&str], about: &str) -> String {
    let extensions: Vec<_> = extensions.iter().map(|extension| format!(".{extension}")).collect();
    format!("  {name:<10}  {:<5} {about}\n", extensions.join(" "))
}
