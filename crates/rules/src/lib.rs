//! Rules that decide which cells are occupied ([`rule`]), the algorithms that apply rules to triangles
//! ([`run`](mod@run)), and complete jobs from a mesh to a file ([`job`]).
//!
//! Programs should depend on the package `voxelize-mesh`, which re-exports the public API of this package.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod job;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
pub mod rule;
pub mod run;

pub use job::{Slabs, Voxelized, Voxelizer};
pub use rule::{Band, Inside, Iso, METHODS, RULES, Rule, ShellThickness, Stats, ThinFeatures};
pub use run::Run;
pub use voxelize_core::*;
pub use voxelize_formats as format;
pub use voxelize_formats::Voxels;
pub use voxelize_meshes as mesh;
pub use voxelize_meshes::Mesh;

/// Voxelizes a mesh on `lattice` with `rule`. Uses all threads and the best instruction set of the machine.
/// [`Voxelizer`] has further options.
///
/// # Errors
/// Fails if options of the rule exclude each other, if the mesh does not suit the rule, or if the grid does
/// not fit in memory.
pub fn voxelize(mesh: &Mesh, lattice: &Lattice, rule: Rule) -> Result<Voxels> {
    Ok(Voxelizer::new(rule)
        .without_findings()
        .run(mesh, lattice)?
        .voxels)
}

/// Returns the distance from the centre of every cell of `lattice` to the nearest point of the mesh, in units
/// of the file. Uses all threads and the best instruction set of the machine. Cells outside the band have the
/// width of the band as their value. [`Rule::Distance`] can also give distances a sign, and
/// [`Voxelizer::run_with_nearest`] also returns the nearest triangles.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::{Band, Fit, Mesh, distance};
///
/// let sphere = Mesh::open("fixtures/sphere.stl")?;
/// let lattice = Fit::longest(32).pad(3).to(sphere.bounds())?;
/// let field = distance(&sphere, &lattice, Band::cells(3))?;
/// assert_eq!(field.get([0, 0, 0]), field.background());
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if the field does not fit in memory.
pub fn distance(mesh: &Mesh, lattice: &Lattice, band: Band) -> Result<Field> {
    field(mesh, lattice, Rule::distance().with_band(band)?)
}

/// Returns, for every cell of `lattice`, the share of its volume that is inside the mesh, from 0 to 1. Uses
/// all threads and the best instruction set of the machine. [`Rule::Fraction`] describes the treatment of the
/// mesh. [`Stats::fraction`] describes shares that are uncertain because parts overlap.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::{Lattice, Mesh, fraction};
///
/// let sphere = Mesh::open("fixtures/sphere.stl")?;
/// let lattice = Lattice::fit(sphere.bounds(), 32)?;
/// let shares = fraction(&sphere, &lattice)?;
/// assert_eq!((shares.get([0, 0, 0]), shares.get([16, 16, 16])), (0.0, 1.0));
/// assert!(shares.values().iter().any(|share| *share > 0.0 && *share < 1.0));
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if the mesh is open, or if the field does not fit in memory.
pub fn fraction(mesh: &Mesh, lattice: &Lattice) -> Result<Field> {
    field(mesh, lattice, Rule::fraction())
}

/// Voxelizes a mesh with a rule that makes a field, and returns the field.
fn field(mesh: &Mesh, lattice: &Lattice, rule: Rule) -> Result<Field> {
    match voxelize(mesh, lattice, rule)?.cells {
        Cells::Field(field) => Ok(field),
        _ => Err(Error::usage("the rule makes no field")),
    }
}
