//! A job of the library: meshes and options in, a grid and its findings out.

use std::path::{Path, PathBuf};

use ::voxelize::format::{self, Carries};
use ::voxelize::job::{Extras, Transform, UnitOfLength, UpAxis, findings};
use ::voxelize::{Error, Finding, Lattice, Level, Mesh, Result, Rule, Voxelizer, Voxels};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{finding, raised};
use crate::grid::Grid;
use crate::mesh::{Mesh as PyMesh, joined};
use crate::options::{Options, named};
use crate::work::{How, Watcher, run};

/// A job without the interpreter.
struct Job {
    mesh: Mesh,
    stated: (Option<UnitOfLength>, Option<UpAxis>),
    are_several: bool,
    /// The name of the input in the record.
    name: Option<String>,
    options: Options,
    like: Option<Like>,
    has_nearest: bool,
    level: Option<String>,
    threads: usize,
    max_memory: Option<u64>,
}

/// The grid that is taken over.
#[derive(FromPyObject)]
pub enum Like {
    /// That of voxels in memory.
    Voxels(Py<Grid>),
    /// That of a file: of a scan only the headers are read.
    File(PathBuf),
}

/// All that a job made.
struct Made {
    voxels: Voxels,
    findings: Vec<Finding>,
    inside: Option<String>,
    snapped: u64,
    nearest: Option<Vec<i32>>,
}

/// Fills the cells of a lattice around meshes by a rule. Several meshes are one grid, labelled by mesh unless `labels`
/// says otherwise.
#[pyfunction]
pub fn voxelize<'py>(
    py: Python<'py>,
    meshes: Vec<PyRef<'py, PyMesh>>,
    options: Options,
    how: How,
    like: Option<Like>,
    nearest: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let stated = |mesh: &PyMesh| (mesh.unit, mesh.up);
    let Some(first) = meshes.first().map(|mesh| stated(mesh)) else {
        return Err(raised(py, &Error::usage("no mesh is given")));
    };
    let is_common = meshes.iter().all(|mesh| stated(mesh) == first);
    let job = Job {
        mesh: joined(&meshes).map_err(|error| raised(py, &error))?,
        stated: if is_common { first } else { (None, None) },
        are_several: meshes.len() > 1,
        name: if let [one] = &meshes[..] { Some(one.name.clone()).filter(|n| !n.is_empty()) } else { None },
        options,
        like,
        has_nearest: nearest,
        level: how.simd.clone(),
        threads: how.threads,
        max_memory: how.max_memory,
    };
    drop(meshes);
    let made = run(py, &how, |watcher| job.run(watcher))?;
    let answer = PyDict::new(py);
    answer.set_item("findings", made.findings.iter().map(finding).collect::<Vec<_>>())?;
    answer.set_item("inside", made.inside)?;
    answer.set_item("snapped", made.snapped)?;
    answer.set_item("nearest", made.nearest.map(|numbers| numbers.into_pyarray(py)))?;
    answer.set_item("grid", Grid::new(made.voxels))?;
    Ok(answer)
}

impl Job {
    fn run(self, watcher: &Watcher) -> Result<Made> {
        let Self { options, .. } = &self;
        let transform = options.transform(self.stated)?;
        let rule = options.rule(&transform)?;
        let labels = options.labels(self.are_several)?;
        let mesh = transform.apply(options.choose(self.mesh.clone(), labels)?)?;
        if mesh.triangles().is_empty() {
            return Err(Error::unfit("the mesh has no triangles").with_hint("export the mesh again"));
        }
        let lattice = self.lattice(&rule, &transform, &mesh)?;
        rule.check_on(&lattice)?;
        let mut voxelizer = Voxelizer::new(rule)
            .threads(self.threads)
            .progress(watcher)
            .transform(&transform)
            .input(self.name.as_deref())
            .priority(&options.priority)
            .extras(Extras { labels, ..Extras::default() });
        if let Some(level) = self.level.as_deref().filter(|level| *level != "auto") {
            let known: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
            voxelizer = voxelizer.level(named("simd", level, Level::from_name(level), &known)?);
        }
        if let Some(bytes) = self.max_memory {
            voxelizer = voxelizer.memory(bytes);
        }
        let mut found = findings::of_lattice(&mesh, &lattice, &rule, options.reading.tolerance())?;
        if self.like.is_some() {
            found.extend(findings::beyond(&mesh, &lattice, "like"));
        }
        if self.has_nearest {
            let (made, nearest) = voxelizer.run_with_nearest(&mesh, &lattice)?;
            findings::add(&mut found, made.findings);
            let (voxels, inside, snapped) = (made.voxels, None, made.stats.snapped);
            return Ok(Made { voxels, findings: found, inside, snapped, nearest: Some(nearest) });
        }
        let (voxels, result) = voxelizer.prepare(&mesh, &lattice, None)?.voxels()?;
        findings::add(&mut found, result.findings);
        let (inside, snapped) = (result.inside, result.stats.snapped);
        Ok(Made { voxels, findings: found, inside, snapped, nearest: None })
    }

    fn lattice(&self, rule: &Rule, transform: &Transform, mesh: &Mesh) -> Result<Lattice> {
        let Some(like) = &self.like else { return self.options.fit(rule, transform)?.to(mesh.bounds()) };
        self.options.check_like()?;
        let lattice = transform.unplace(&like.lattice(self.max_memory)?)?;
        let snap = self.options.snap()?.unwrap_or(lattice.snap());
        Ok(lattice.with_snap(snap))
    }
}

impl Like {
    fn lattice(&self, max_memory: Option<u64>) -> Result<Lattice> {
        match self {
            Self::Voxels(grid) => grid.get().voxels.lattice.clone().ok_or_else(no_lattice),
            Self::File(path) => lattice_of(path, max_memory)?.ok_or_else(|| no_lattice().in_file(path)),
        }
    }
}

/// The lattice of a voxel file, from its headers where these have it.
fn lattice_of(path: &Path, max_memory: Option<u64>) -> Result<Option<Lattice>> {
    let description = format::describe(path)?;
    match description.format.carries {
        Carries::InFile | Carries::Rounded => Ok(description.metadata.lattice),
        _ => Ok(format::open_within(path, max_memory)?.lattice),
    }
}

fn no_lattice() -> Error {
    let error = Error::usage("does not contain the position of its cells");
    error.with_hint("like takes voxels with a lattice, or a file that says it, such as .npz, .nrrd and .nii")
}
