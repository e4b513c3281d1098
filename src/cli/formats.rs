//! `voxelize formats`: what is read and what is written, from the tables that do it.

use voxelize::format::{Carries, FORMATS};
use voxelize::mesh::read::INPUTS;

/// The list, for stdout.
pub fn list() -> String {
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
