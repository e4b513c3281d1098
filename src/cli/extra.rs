//! A file of cells beside the output: what `--doubt` and `--leak` write.

use std::path::{Path, PathBuf};

use voxelize::format::{self, Carries, FORMATS, Format, SaveOptions, Sidecar, Written};
use voxelize::grid::{Layers, Whole};
use voxelize::{BitGrid, Error, Lattice, Record, Result, TOOL, Voxels};

use super::errors;
use super::output::Output;
use super::place::Place;
use super::tell;
use super::typed::JsonTarget;

/// A file of cells beside the output.
#[derive(Clone)]
pub struct Extra {
    /// Where the cells go.
    pub path: PathBuf,
    format: &'static Format,
    /// The option that asks for it.
    option: &'static str,
    /// What the cells are.
    pub about: &'static str,
}

impl Extra {
    /// The file of this name, in the format of its extension.
    ///
    /// # Errors
    /// If no format has it.
    pub fn new(path: &Path, option: &'static str, about: &'static str) -> Result<Self> {
        let Some(format) = format::by_path(path) else {
            let known: Vec<_> = FORMATS.iter().map(|format| format.extensions[0]).collect();
            let error = Error::usage("no voxel format has this extension").in_file(path);
            return Err(error.with_hint(format!("{option} takes .{}", known.join(", ."))));
        };
        Ok(Self { path: path.to_path_buf(), format, option, about })
    }

    /// The file that describes the cells, if there will be one.
    fn sidecar(&self, asked: Sidecar) -> Option<PathBuf> {
        let mut beside = self.path.as_os_str().to_os_string();
        beside.push(".json");
        (asked == Sidecar::Write || self.format.carries == Carries::Sidecar).then(|| beside.into())
    }

    /// Makes sure that the file can hold the cells of `lattice`.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self, lattice: &Lattice) -> Result<()> {
        format::check(lattice, self.format, &SaveOptions::default()).map_err(|e| e.in_file(&self.path))
    }

    /// Writes the cells.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(
        &self,
        cells: BitGrid,
        lattice: &Lattice,
        input: Option<String>,
        options: &SaveOptions,
    ) -> Result<Vec<Written>> {
        // No rule of a mesh: what was asked for.
        let rule_name = Some(self.option.trim_start_matches('-').to_string());
        let snap = Some(lattice.snap().name().to_string());
        let record = Record { tool: Some(TOOL.to_string()), rule_name, snap, input, ..Record::default() };
        let voxels = Voxels { bits: cells, lattice: Some(lattice.clone()), record };
        let layers: &mut dyn Layers = &mut Whole::new(&voxels);
        format::save_layers(layers, &self.path, self.format, options).map_err(|e| self.hinted(e))
    }

    fn hinted(&self, error: Error) -> Error {
        errors::or_hint(error, &format!("{} FILE names another file", self.option))
    }
}

/// Makes sure that these files can be written, and are no other file of this run.
///
/// # Errors
/// If not.
pub fn check_files(
    extras: &[&Extra],
    input: Option<&Path>,
    output: &Output,
    json: Option<&JsonTarget>,
) -> Result<()> {
    let mut named: Vec<(PathBuf, &str)> =
        input.map(|path| (path.to_path_buf(), "the mesh")).into_iter().collect();
    if let Place::File(path) = &output.place {
        named.push((path.clone(), "the output"));
    }
    named.extend(output.sidecar_path().map(|path| (path, "the sidecar of the output")));
    if let Some(JsonTarget::File(path)) = json {
        named.push((path.clone(), "the file of --json"));
    }
    for extra in extras {
        let others: Vec<(&Path, &str)> = named.iter().map(|(path, what)| (path.as_path(), *what)).collect();
        if let Some(sidecar) = extra.sidecar(output.sidecar) {
            tell::refuse_same(&sidecar, &others)?;
        }
        tell::refuse_same(&extra.path, &others)?;
        format::probe_output(&extra.path).map_err(|e| extra.hinted(e))?;
        named.push((extra.path.clone(), extra.about));
        named.extend(extra.sidecar(output.sidecar).map(|path| (path, "the sidecar of another")));
    }
    Ok(())
}
