//! One layer of a mesh's voxels as text: `cargo run --example slice -- MESH [RES [LAYER]]`.
//!
//! `#` is an occupied cell; x runs to the right, y upwards. RES is the number of cells on the
//! longest axis, 48 unless given; LAYER counts from 0 at the lowest z, the middle one unless given.

use std::path::Path;

use voxelize::{Lattice, Mesh, Result, Rule, voxelize};

/// The layer as text.
pub fn slice(mesh: &Path, res: usize, layer: Option<usize>) -> Result<String> {
    let mesh = Mesh::open(mesh)?;
    let lattice = Lattice::fit(mesh.bounds(), res)?;
    let voxels = voxelize(&mesh, &lattice, Rule::Surface)?;
    let layers = voxels.dims()[2];
    Ok(voxels.bits.layer_text(layer.unwrap_or(layers / 2).min(layers - 1)))
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize| args.get(n).map(|text| text.parse().expect("a whole number"));
    let Some(mesh) = args.first() else {
        eprintln!("usage: slice MESH [RES [LAYER]]");
        return 2.into();
    };
    match slice(Path::new(mesh), number(1).unwrap_or(48), number(2)) {
        Ok(text) => print!("{text}"),
        Err(error) => {
            eprintln!("error: {error}");
            return 1.into();
        }
    }
    0.into()
}
