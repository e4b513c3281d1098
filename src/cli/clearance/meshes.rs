//! Meshes to compare, each with its own transform: `part.stl@rotate=z,90@translate=0,0,5`.

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

/// Names of the transform options that may follow the name of a mesh. The first three turn the axes.
const TRANSFORMS: [&str; 5] = ["axes", "matrix", "rotate", "scale", "translate"];

/// Memory of one triangle in bytes.
const TRIANGLE: u64 = size_of::<[[f32; 3]; 3]>() as u64;

/// Mesh as named on the command line.
pub struct PlacedMesh {
    /// Name of the file with its transform, as in the reports.
    pub name: String,
    pub path: PathBuf,
    transform: Request,
}

impl PlacedMesh {
    /// Splits an argument into the file and its transform. If a file with the whole name exists, it has no
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
        // The options were split off from the end of the name, and rotations must be applied in the given
        // order.
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

    /// Returns `true` if the transform has axes, a matrix or rotations.
    fn turns(&self) -> bool {
        let turns = &TRANSFORMS[..3];
        turns.iter().any(|name| self.transform.is_given(name))
    }
}

/// Sets one option of the transform.
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
        // A mesh that will be moved is read relative to a point near it, because far from the origin
        // coordinates lose digits when they are rounded to 32 bits.
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
    // If the user turns a mesh, the up axis that its file states is ignored.
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
            // The mesh before and after the transform are in memory at the same time.
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

/// Memory that is left for the meshes, their trees and the comparison.
pub struct MemoryLeft<'a> {
    resources: &'a Resources,
    /// Number of bytes left. `None` without a limit.
    pub left: Option<u64>,
}

impl<'a> MemoryLeft<'a> {
    pub fn new(resources: &'a Resources) -> Self {
        Self {
            resources,
            left: resources.for_job(),
        }
    }

    /// Reserves this number of bytes. Fails if fewer bytes are left.
    pub fn take(&mut self, need: u64) -> Result<()> {
        self.admit(need)?;
        self.left = self.left.map(|left| left - need);
        Ok(())
    }

    /// Fails if fewer bytes are left.
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
