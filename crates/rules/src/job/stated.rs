//! What mesh files state about their coordinates, beside what the caller says: the unit, and the axis that points up.

use super::transform::Transform;
use super::turn::short;
use voxelize_core::error::{Code, Error, Finding, Hint, Result};
use voxelize_meshes::{UnitOfLength, UpAxis};

/// The unit of all files.
///
/// # Errors
/// If they do not state the same.
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
    Err(error.with_hint("`--unit mm` takes all coordinates as being in it, and scales none"))
}

/// The axis that points up in all files, if any of them states one; in a file that states none it is z.
///
/// # Errors
/// If it is y in some and z in others.
pub fn one_up(ups: impl Iterator<Item = Option<UpAxis>> + Clone) -> Result<Option<UpAxis>> {
    let stated = ups.clone().flatten().next();
    if ups
        .clone()
        .all(|up| up.unwrap_or_default() == stated.unwrap_or_default())
    {
        return Ok(stated);
    }
    let error = Error::unfit("y is up in some of the meshes, and z in others");
    Err(error.with_hint("`--up z` takes all of them as they are, and turns none"))
}

/// The finding that a unit is given which the file does not state, where nothing is scaled (W020).
pub fn other_unit(stated: Option<UnitOfLength>, transform: &Transform) -> Option<Finding> {
    let [given, stated] = [transform.unit?, stated?].map(UnitOfLength::name);
    let is_other = given != stated && !transform.is_scaled();
    let text =
        format!("the file states {stated}; its coordinates are taken as {given}, and not scaled");
    is_other.then(|| Finding::new(Code::W020, text))
}

/// Refuses the grid of a file whose coordinates are in another unit than those of the mesh; `option` names the grid.
///
/// # Errors
/// If the units are known, and differ.
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
    let hint: Hint = match transform.is_scaled() {
        // The unit is that of what is scaled already, more often than not.
        true => [
            format!("`--unit {grid}` if its coordinates are in {grid}, being scaled"),
            format!("else {converts}"),
        ]
        .into(),
        false => [
            converts,
            format!("`--unit {grid}` alone if its coordinates are in {grid}"),
        ]
        .into(),
    };
    Err(Error::usage(format!(
        "{option}: that grid is in {grid}, the mesh in {mesh}"
    ))
    .with_hint(hint))
}
