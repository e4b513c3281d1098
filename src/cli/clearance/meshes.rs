//! Meshes of a comparison, each with its own transform, `part.stl@rotate=z,90@translate=0,0,5`.

use std::path::{Path, PathBuf};

use voxelize::job::{Request, Transform, UnitOfLength, findings, one_unit, one_up, other_unit};
use voxelize::mesh::read::{self, Loaded, ReadNear, ReadOptions};
use voxelize::{Error, Kind, Mesh, Result};

use super::ClearanceArgs;
use crate::cli::files;
use crate::cli::memory::Resources;
use crate::cli::names::InputFile;
use crate::cli::progress::Bar;
use crate::cli::report::display::bytes;

/// Options of a transform after the name of a mesh.
const TRANSFORMS: [&str; 5] = ["axes", "matrix", "rotate", "scale", "translate"];

/// Memory of a triangle in bytes.
const TRIANGLE: u64 = size_of::<[[f32; 3]; 3]>() as u64;

/// Mesh as given.
pub struct PlacedMesh {
    /// File with its transform, in reports.
    pub name: String,
    pub path: PathBuf,
    transform: Request,
}

impl PlacedMesh {
    /// Splits a name into the file and its transform. An existing file of the whole name has no
    /// transform.
    pub fn new(argument: &Path) -> Result<Self> {
        let name = argument.display().to_string();
        let mut transform = Request::new(|name| format!("@{name}"));
        let mut path = argument.to_str().unwrap_or_default();
        if argument.exists() || path.is_empty() {
            return Ok(Self {
                name,
                path: argument.to_path_buf(),
                transform,
            });
        }
        let mut options = vec![];
        while let Some((before, part)) = path.rsplit_once('@')
            && let Some(option) = part.split_once('=')
        {
            options.push(option);
            path = before;
        }
        // Rotations are applied in the given order.
        for (option, value) in options.into_iter().rev() {
            set(&mut transform, option, value).map_err(|why| {
                let error = Error::usage(format!("{name}: @{option}={value}: {}", why.message()));
                error.with_hint("for example: part.stl@rotate=z,90@translate=0,0,5")
            })?;
        }
        Ok(Self {
            path: PathBuf::from(path),
            name,
            transform,
        })
    }

    fn transform(&self, unit: Option<UnitOfLength>) -> Result<Transform> {
        let mut request = self.transform.clone();
        request.unit = unit;
        request
            .transform(&[])
            .map_err(|error| error.in_file(&self.name))
    }

    /// Returns `true` if axes, a matrix or rotations are given.
    fn turns(&self) -> bool {
        let turns = &TRANSFORMS[..3];
        turns.iter().any(|name| self.transform.is_given(name))
    }
}

/// Sets an option of a transform.
fn set(transform: &mut Request, name: &str, text: &str) -> Result<()> {
    if !TRANSFORMS.contains(&name) {
        let names = TRANSFORMS.join(", ");
        return Err(Error::usage(format!("is not one of {names}")));
    }
    if name != "rotate" && transform.is_given(name) {
        return Err(Error::usage("is there twice"));
    }
    transform.set(name, text)
}

/// Reads all meshes within the memory limit and transforms them. Returns them with their common unit.
pub fn read_all(
    args: &ClearanceArgs,
    named: &[PlacedMesh],
    files: &[InputFile],
    budget: &mut MemoryLeft,
    bar: &Bar,
) -> Result<(Vec<Loaded>, Option<UnitOfLength>)> {
    let read = files.iter().zip(named).map(|(file, named)| {
        // A mesh that is far from the origin is moved before its coordinates are rounded.
        let near = if named.transform.translate.is_some() {
            ReadNear::Mesh
        } else {
            ReadNear::Origin
        };
        let options = ReadOptions::default()
            .tolerance(args.read.tolerance())
            .near(near);
        let mut loaded = open(file, &options.memory(budget.left).progress(bar))?;
        loaded
            .findings
            .extend(findings::not_subtracted(&loaded.mesh, "the comparison"));
        budget.take(loaded.mesh.triangles().len() as u64 * TRIANGLE)?;
        Ok(loaded)
    });
    let mut meshes = read.collect::<Result<Vec<_>>>()?;
    let unit = match args.unit {
        Some(unit) => Some(unit),
        None => one_unit(meshes.iter().map(|loaded| loaded.unit)).map_err(|error| {
            let stated = meshes.iter().find_map(|loaded| loaded.unit).unwrap_or(UnitOfLength::Millimetre);
            let other = match stated {
                UnitOfLength::Millimetre => UnitOfLength::Metre,
                _ => UnitOfLength::Millimetre,
            };
            let scale = (&other.millimetres() / &stated.millimetres()).to_string();
            let scale = scale.strip_suffix("/1").unwrap_or(&scale);
            let [name, other] = [stated, other].map(UnitOfLength::name);
            error.with_hint(format!(
                "--unit {name} takes all coordinates as being in {name}; FILE@scale={scale} converts those of a file in {other}"
            ))
        })?,
    };
    // A transform of the axes overrides the up axis of the file.
    let as_stated = meshes.iter().zip(named).filter(|(_, named)| !named.turns());
    one_up(as_stated.map(|(loaded, _)| loaded.up)).map_err(|error| {
        error.with_hint(
            "FILE@axes=x,-z,y turns a file with y up upright, FILE@axes=x,y,z leaves it as it is",
        )
    })?;
    for (loaded, named) in meshes.iter_mut().zip(named) {
        let transform = Transform {
            near: loaded.near.clone(),
            ..named.transform(unit)?
        };
        loaded.findings.extend(other_unit(loaded.unit, &transform));
        if transform.turns() || transform.is_scaled() || transform.is_moved() {
            // Meanwhile both meshes are in memory.
            budget.admit(loaded.mesh.triangles().len() as u64 * TRIANGLE)?;
            let mesh = std::mem::replace(&mut loaded.mesh, Mesh::from_triangles(vec![])?);
            loaded.mesh = transform.apply_all(mesh).map_err(|_| {
                let error = Error::unfit("a coordinate is beyond the range of 32-bit floats")
                    .in_file(&named.name);
                error.with_hint("use a smaller @scale or @translate")
            })?;
        }
    }
    Ok((meshes, unit))
}

fn open(file: &InputFile, options: &ReadOptions) -> Result<Loaded> {
    let path = file.path();
    files::is_there(path)?;
    let companions = |path: &Path| file.reads_companion(path);
    read::read_file(path, &options.companions(&companions)).map_err(|error| match error.kind() {
        Kind::Input => files::holds_voxels(path).unwrap_or(error),
        _ => error,
    })
}

/// Memory that is left for meshes, their trees and the comparison.
pub struct MemoryLeft<'a> {
    resources: &'a Resources,
    /// Bytes, or `None` without a limit.
    pub left: Option<u64>,
}

impl<'a> MemoryLeft<'a> {
    pub fn new(resources: &'a Resources) -> Self {
        Self {
            resources,
            left: resources.for_job(),
        }
    }

    /// Reserves memory, or returns an error.
    pub fn take(&mut self, need: u64) -> Result<()> {
        self.admit(need)?;
        self.left = self.left.map(|left| left - need);
        Ok(())
    }

    /// Returns an error for more memory than is left.
    pub fn admit(&self, need: u64) -> Result<()> {
        let Some(left) = self.left.filter(|left| need > *left) else {
            return Ok(());
        };
        let says = self.resources.memory.text().unwrap_or_default();
        let need = bytes(need);
        let left = bytes(left);
        Err(Error::too_large(format!(
            "the comparison needs {need}, but {left} are left: {says}"
        ))
        .with_hint("raise --max-memory, or compare fewer meshes at a time"))
    }
}
