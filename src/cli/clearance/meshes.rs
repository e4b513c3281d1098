//! Meshes to compare, each with its own pose.

use std::path::Path;

use voxelize::job::{UnitOfLength, findings, one_unit, one_up, other_unit};
use voxelize::mesh::read::{self, Loaded, ReadNear, ReadOptions};
use voxelize::{Error, Kind, Result};

use super::ClearanceArgs;
use crate::cli::files::{self, PartSource};
use crate::cli::memory::Resources;
use crate::cli::progress::Bar;
use crate::cli::report::display::bytes;

/// Memory of one triangle in bytes.
const TRIANGLE: u64 = size_of::<[[f32; 3]; 3]>() as u64;

/// Reads all meshes within the memory limit and transforms them. Returns them with their common unit.
pub fn read_all(
    args: &ClearanceArgs,
    sources: &[PartSource],
    budget: &mut MemoryLeft,
    bar: &Bar,
) -> Result<(Vec<Loaded>, Option<UnitOfLength>)> {
    let read = sources.iter().map(|source| {
        // A mesh that will be moved is read relative to a point near it, because far from the origin
        // coordinates lose digits when they are rounded to 32 bits.
        let near = if source.pose.translates() {
            ReadNear::Mesh
        } else {
            ReadNear::Origin
        };
        let options = ReadOptions::default()
            .tolerance(args.read.tolerance())
            .near(near);
        let mut loaded = open(source, &options.memory(budget.left).progress(bar))?;
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
    let as_stated = meshes
        .iter()
        .zip(sources)
        .filter(|(_, source)| !source.pose.turns());
    one_up(as_stated.map(|(loaded, _)| loaded.up)).map_err(|error| {
        error.with_hint(
            "FILE@axes=x,-z,y turns a file with y up upright, FILE@axes=x,y,z leaves it as it is",
        )
    })?;
    for (loaded, source) in meshes.iter_mut().zip(sources) {
        let about = |error: Error| error.in_file(source.name());
        let transform = source.pose.transform(unit).map_err(about)?;
        loaded.findings.extend(other_unit(loaded.unit, &transform));
        if !source.pose.is_empty() {
            // The mesh before and after the transform are in memory at the same time.
            budget.admit(loaded.mesh.triangles().len() as u64 * TRIANGLE)?;
        }
        source.pose.apply(loaded, unit).map_err(about)?;
    }
    Ok((meshes, unit))
}

fn open(source: &PartSource, options: &ReadOptions) -> Result<Loaded> {
    let Some(file) = &source.file else {
        return Err(Error::usage("-: standard input cannot be compared")
            .with_hint("write it to a file first"));
    };
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
