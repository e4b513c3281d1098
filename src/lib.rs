//! Turn triangle meshes into voxels, exactly.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod error;
pub mod format;
pub mod geom;
pub mod grid;
pub mod kernel;
pub mod mesh;
pub mod par;
pub mod rule;
pub mod run;

pub use error::{Error, Kind, Result};
pub use geom::{Bounds, Rational, Ties};
pub use grid::{BitGrid, Digest, Fit, Lattice, Meta, Size, Snap, Voxels};
pub use kernel::Level;
pub use mesh::Mesh;
pub use par::Progress;
pub use rule::{RULES, Rule, Stats, What};
pub use run::Run;

/// The name and version that saved files carry.
pub const TOOL: &str = concat!("voxelize ", env!("CARGO_PKG_VERSION"));

/// Fills the cells of `lattice` by `rule`, with all threads and the best level of the machine.
///
/// # Errors
/// If the grid does not fit in memory.
pub fn voxelize(mesh: &Mesh, lattice: &Lattice, rule: impl Into<What>) -> Result<Voxels> {
    Ok(voxelize_with(mesh, lattice, rule, &Run::default())?.0)
}

/// The same, run as told, with what was noticed on the way.
///
/// # Errors
/// If the grid does not fit in memory or above `run.max_memory`, the level does not exist here, or
/// the run was cancelled.
pub fn voxelize_with(
    mesh: &Mesh,
    lattice: &Lattice,
    rule: impl Into<What>,
    run: &Run,
) -> Result<(Voxels, Stats)> {
    let what = rule.into();
    run.level()?;
    run.admit(mesh.triangles().len(), lattice.dims())?;
    let mut bits = BitGrid::try_from(lattice)?;
    let stats = par::with_threads(run.threads(), || what.fill(mesh, lattice, run, &mut bits))??;
    let meta = Meta {
        tool: Some(TOOL.to_string()),
        rule: Some(what.rule.info().name.to_string()),
        ties: what.ties().map(|ties| ties.name().to_string()),
        snap: Some(lattice.snap().name().to_string()),
        input: None,
    };
    Ok((Voxels { bits, lattice: Some(lattice.clone()), meta }, stats))
}
