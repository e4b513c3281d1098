//! `voxelize formats`: the supported file formats, from the tables of readers and writers.

use serde_json::{Value, json};
use voxelize::Result;
use voxelize::format::{Carries, FORMATS, Format};
use voxelize::mesh::read::INPUTS;

use super::args::arguments;
use super::command::{Call, Command};
use super::report::{Outcome, Report};

pub const COMMAND: Command = Command {
    name: "formats",
    about: "list the supported file formats",
    examples: "\
voxelize formats           the formats, with their extensions and types of numbers
voxelize formats --json    the same for programs",
    notes: "",
    keys: "meshes voxels",
    arguments: arguments::<FormatsArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct FormatsArgs {}

fn run(call: &Call) -> Result<Vec<Report>> {
    call.check_files()?;
    Ok(vec![Report::of(|report| {
        let meshes = INPUTS
            .iter()
            .map(|input| json!({"name": input.name, "extensions": input.extensions, "about": input.about}));
        report.set("meshes", meshes.collect::<Value>());
        report.set("voxels", FORMATS.iter().map(voxels).collect::<Value>());
        report.out = rows();
        Ok(Outcome::Done)
    })])
}

fn voxels(format: &Format) -> Value {
    json!({
        "name": format.name,
        "extensions": format.extensions,
        "about": format.about,
        "dtypes": dtypes(format),
        "choices": format.choices.iter().map(|choice| choice.words()).collect::<Value>(),
        "readable": format.is_readable(),
        "cells": format.kinds.iter().map(|kind| kind.name()).collect::<Value>(),
        "lattice": match format.carries {
            Carries::InFile => "file",
            Carries::Rounded => "file-rounded",
            Carries::Sidecar => "sidecar",
            _ => "sidecar-on-request",
        },
    })
}

fn dtypes(format: &Format) -> Vec<&'static str> {
    format.dtypes.iter().map(|dtype| dtype.name()).collect()
}

fn rows() -> String {
    let mut text = "Mesh formats that voxelize reads, recognised by content:\n".to_string();
    for input in INPUTS {
        text += &row(input.name, input.extensions, input.about);
    }
    text += "\nVoxel formats that voxelize writes, by extension or -f FORMAT:\n";
    for format in FORMATS {
        text += &row(format.name, format.extensions, format.about);
        let dtypes = dtypes(format);
        let dtype = if dtypes.len() > 1 { format!("--dtype {}; ", dtypes.join("|")) } else { String::new() };
        let lattice = match format.carries {
            Carries::InFile => "contains the position of its cells",
            Carries::Rounded => {
                "contains the position of its cells, rounded; exactly in a .json with --sidecar"
            }
            Carries::Sidecar => "a .json sidecar, always written, contains the position of its cells",
            _ => "--sidecar writes the position of its cells to a .json",
        };
        let reading = if format.is_readable() { "" } else { "; written only" };
        text += &format!("{:20}{dtype}{lattice}{reading}\n", "");
        for choice in format.choices {
            text += &format!("{:20}--{}: {}\n", "", choice.words(), choice.about());
        }
    }
    text
}

fn row(name: &str, extensions: &[&str], about: &str) -> String {
    let extensions: Vec<_> = extensions.iter().map(|extension| format!(".{extension}")).collect();
    format!("  {name:<10}  {:<5} {about}\n", extensions.join(" "))
}
