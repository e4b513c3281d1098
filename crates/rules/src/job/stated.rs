//! Compares the units and the up axes that mesh files state.

use super::transform::Transform;
use super::turn::short;
use voxelize_core::error::{Code, Error, Finding, Hint, Result};
use voxelize_meshes::{UnitOfLength, UpAxis};

/// Returns the unit that all files state. `None` if no file states a unit.
///
/// # Errors
/// Fails if the files state different units, or if only some of them state a unit.
pub fn one_unit(
    mut units: impl Iterator<Item = Option<UnitOfLength>>,
) -> Result<Option<UnitOfLength>> {
    let Some(first) = units.next() else {
        return Ok(None);
    };
    let Some(other) = units.find(|unit| *unit != first) else {
        return Ok(first);
    };
    let [first, other] = [first, other].map(|unit| unit.map_or("none", UnitOfLength::name));
    let error = Error::unfit(format!(
        "the meshes state different units, {first} and {other}"
    ));
    Err(error.with_hint("`--unit mm` takes all coordinates as mm and scales nothing"))
}

/// Returns the axis that points up in all files. `None` if no file states an up axis. If only some files
/// state it, z is assumed to point up in the others.
///
/// # Errors
/// Fails if y points up in some files and z in others.
pub fn one_up(ups: impl Iterator<Item = Option<UpAxis>> + Clone) -> Result<Option<UpAxis>> {
    let stated = ups.clone().flatten().next();
    if ups
        .clone()
        .all(|up| up.unwrap_or_default() == stated.unwrap_or_default())
    {
        return Ok(stated);
    }
    let error = Error::unfit("y is up in some of the meshes, and z in others");
    Err(error.with_hint("`--up z` takes all meshes as they are and rotates nothing"))
}

/// Returns the finding that the unit of the transform differs from the unit that the file states (W020).
/// `None` if a unit is unknown or coordinates are scaled.
pub fn other_unit(stated: Option<UnitOfLength>, transform: &Transform) -> Option<Finding> {
    let [given, stated] = [transform.unit?, stated?].map(UnitOfLength::name);
    if given == stated || transform.is_scaled() {
        return None;
    }
    let text =
        format!("the file states {stated}; its coordinates are taken as {given}, and not scaled");
    Some(Finding::new(Code::W020, text))
}

/// Checks that the lattice of a file is in the same unit as the mesh. `option` is the name of the option that
/// selects the file.
///
/// # Errors
/// Fails if both units are known and differ.
pub fn check_unit_of_grid(
    grid: Option<UnitOfLength>,
    transform: &Transform,
    option: &str,
) -> Result<()> {
    let (Some(grid), Some(mesh)) = (grid, transform.unit) else {
        return Ok(());
    };
    if grid == mesh {
        return Ok(());
    }
    let scale = short(&(&(&transform.scale * &mesh.millimetres()) / &grid.millimetres()));
    let [grid, mesh] = [grid, mesh].map(UnitOfLength::name);
    let moved = if transform.is_moved() {
        format!(", with the translation in {grid}")
    } else {
        String::new()
    };
    let converts = format!("`--scale {scale}` `--unit {grid}` converts the mesh{moved}");
    let hint: Hint = if transform.is_scaled() {
        // In most cases the user means the unit after scaling, so this hint comes first.
        [
            format!("`--unit {grid}` if its coordinates are in {grid}, being scaled"),
            format!("else {converts}"),
        ]
        .into()
    } else {
        [
            converts,
            format!("`--unit {grid}` alone if its coordinates are in {grid}"),
        ]
        .into()
    };
    Err(Error::usage(format!(
        "{option}: that grid is in {grid}, the mesh in {mesh}"
    ))
    .with_hint(hint))
}
