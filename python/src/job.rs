//! A job of the library: meshes and options in, a grid and its findings out.

use std::path::{Path, PathBuf};

use ::voxelize::format::{self, Carries};
use ::voxelize::grid::{CellArray, Quantities, Quantity};
use ::voxelize::job::{Extras, JobLabels, Transform, UnitOfLength, UpAxis, findings};
use ::voxelize::{Error, Finding, Lattice, Level, Mesh, Result, Rule, Voxelizer, Voxels};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{finding, raised};
use crate::grid::Grid;
use crate::mesh::{Mesh as PyMesh, joined};
use crate::options::{Options, named};
use crate::work::{How, Watcher, run};

/// The meshes of a job as one, without the interpreter.
pub struct Source {
    mesh: Mesh,
    stated: (Option<UnitOfLength>, Option<UpAxis>),
    are_several: bool,
    /// The name of the input in the record.
    pub name: Option<String>,
}

/// One mesh of all, with what their files state in common.
pub fn common(py: Python<'_>, meshes: &[PyRef<'_, PyMesh>]) -> PyResult<Source> {
    let stated = |mesh: &PyMesh| (mesh.unit, mesh.up);
    let Some(first) = meshes.first().map(|mesh| stated(mesh)) else {
        return Err(raised(py, &Error::usage("no mesh is given")));
    };
    let is_common = meshes.iter().all(|mesh| stated(mesh) == first);
    Ok(Source {
        mesh: joined(meshes).map_err(|error| raised(py, &error))?,
        stated: if is_common { first } else { (None, None) },
        are_several: meshes.len() > 1,
        name: if let [one] = meshes { Some(one.name.clone()).filter(|n| !n.is_empty()) } else { None },
    })
}

impl Source {
    /// The transform, the rule, the labels and the mesh in the axes of the grid.
    fn turned(&self, options: &Options) -> Result<(Transform, Rule, JobLabels, Mesh)> {
        let transform = options.transform(self.stated)?;
        let rule = options.rule(&transform)?;
        let labels = options.labels(self.are_several)?;
        let mesh = transform.apply(options.choose(self.mesh.clone(), labels)?)?;
        if mesh.triangles().is_empty() {
            return Err(Error::unfit("the mesh has no triangles").with_hint("export the mesh again"));
        }
        Ok((transform, rule, labels, mesh))
    }

    /// These, and the lattice that is fitted to the mesh.
    pub fn prepared(&self, options: &Options) -> Result<(Transform, Rule, JobLabels, Mesh, Lattice)> {
        let (transform, rule, labels, mesh) = self.turned(options)?;
        let lattice = options.fit(&rule, &transform)?.to(mesh.bounds())?;
        rule.check_on(&lattice)?;
        Ok((transform, rule, labels, mesh, lattice))
    }
}

/// The voxelizer with the resources of a call.
pub fn with_how<'a>(voxelizer: Voxelizer<'a>, how: &How, watcher: &'a Watcher) -> Result<Voxelizer<'a>> {
    let mut voxelizer = voxelizer.threads(how.threads).progress(watcher);
    if let Some(level) = how.simd.as_deref().filter(|level| *level != "auto") {
        let known: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
        voxelizer = voxelizer.level(named("simd", level, Level::from_name(level), &known)?);
    }
    Ok(how.max_memory.map_or(voxelizer, |bytes| voxelizer.memory(bytes)))
}

/// A job without the interpreter.
struct Job {
    source: Source,
    options: Options,
    like: Option<Like>,
    has_nearest: bool,
    quantities: Vec<String>,
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
    arrays: Vec<CellArray>,
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
    quantities: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let source = common(py, &meshes)?;
    let job = Job { source, options, like, has_nearest: nearest, quantities, max_memory: how.max_memory };
    drop(meshes);
    let made = run(py, &how, |watcher| job.run(&how, watcher))?;
    let answer = PyDict::new(py);
    answer.set_item("findings", made.findings.iter().map(finding).collect::<Vec<_>>())?;
    answer.set_item("inside", made.inside)?;
    answer.set_item("snapped", made.snapped)?;
    answer.set_item("nearest", made.nearest.map(|numbers| numbers.into_pyarray(py)))?;
    let arrays = made.arrays.iter().map(|array| {
        let numbers = PyArray1::from_slice(py, array.numbers());
        (array.quantity.name(), array.quantity.numbers(), numbers)
    });
    answer.set_item("arrays", arrays.collect::<Vec<_>>())?;
    answer.set_item("grid", Grid::new(made.voxels))?;
    Ok(answer)
}

impl Job {
    fn run(self, how: &How, watcher: &Watcher) -> Result<Made> {
        let Self { options, source, .. } = &self;
        let (transform, rule, labels, mesh) = source.turned(options)?;
        let lattice = self.lattice(&rule, &transform, &mesh)?;
        rule.check_on(&lattice)?;
        let voxelizer = with_how(Voxelizer::new(rule), how, watcher)?
            .transform(&transform)
            .input(source.name.as_deref())
            .priority(&options.priority)
            .extras(Extras { labels, quantities: self.quantities()?, ..Extras::default() });
        let mut found = findings::of_lattice(&mesh, &lattice, &rule, options.reading.tolerance())?;
        if self.like.is_some() {
            found.extend(findings::beyond(&mesh, &lattice, "like"));
        }
        if self.has_nearest {
            let (made, nearest) = voxelizer.run_with_nearest(&mesh, &lattice)?;
            findings::add(&mut found, made.findings);
            let (voxels, inside, snapped) = (made.voxels, None, made.stats.snapped);
            let nearest = Some(nearest);
            return Ok(Made { voxels, findings: found, inside, snapped, nearest, arrays: vec![] });
        }
        if !self.quantities.is_empty() {
            let (made, arrays) = voxelizer.run_with_arrays(&mesh, &lattice)?;
            findings::add(&mut found, made.findings);
            let inside = made.voxels.record.field("inside").map(str::to_string);
            let (voxels, snapped) = (made.voxels, made.stats.snapped);
            return Ok(Made { voxels, findings: found, inside, snapped, nearest: None, arrays });
        }
        let (voxels, result) = voxelizer.prepare(&mesh, &lattice, None)?.voxels()?;
        findings::add(&mut found, result.findings);
        let (inside, snapped) = (result.inside, result.stats.snapped);
        Ok(Made { voxels, findings: found, inside, snapped, nearest: None, arrays: vec![] })
    }

    /// The arrays that are wanted beside the cells.
    fn quantities(&self) -> Result<Quantities> {
        let known = Quantity::ALL.map(Quantity::name);
        let one = |name: &String| {
            let found = Quantity::ALL.into_iter().find(|quantity| quantity.name() == name);
            named("with_", name, found, &known)
        };
        self.quantities.iter().map(one).collect()
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
