//! Jobs of the library: from meshes and options to a grid and its findings.

use std::path::PathBuf;

use ::voxelize::format::{self, Carries, IMAGE_AXES, UNKNOWN_AXES};
use ::voxelize::grid::{CellArray, Quantities, Quantity, Record, ScanFrame};
use ::voxelize::job::{
    Extras, JobLabels, Request, ResolvedRequest, UnitOfLength, UpAxis, check_unit_of_grid,
    findings, other_unit,
};
use ::voxelize::mesh::{MeshParts, PartKind};
use ::voxelize::{Error, Finding, Lattice, Level, Mesh, Rational, Result, Rule, Voxelizer, Voxels};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{finding, raised};
use crate::grid::Grid;
use crate::mesh::{Mesh as PyMesh, joined};
use crate::options::{Options, named};
use crate::work::{How, Watcher, run};

/// Joined meshes of a job. They can be used without the Python interpreter.
pub struct Source {
    mesh: Mesh,
    /// Unit and up axis that the file of each mesh states.
    stated: Vec<(Option<UnitOfLength>, Option<UpAxis>)>,
    are_several: bool,
    /// A single mesh that is far from the origin, in coordinates relative to a point near it, and that point.
    near: Option<(Mesh, [Rational; 3])>,
    /// Name of the input, for the record.
    pub name: Option<String>,
    /// Label of a single mesh.
    label: Option<String>,
}

/// Joins the meshes. Also returns the units and up axes that their files state.
pub fn common(py: Python<'_>, meshes: &[PyRef<'_, PyMesh>]) -> PyResult<Source> {
    if meshes.is_empty() {
        return Err(raised(py, &Error::usage("no mesh is given")));
    }
    Ok(Source {
        mesh: joined(meshes).map_err(|error| raised(py, &error))?,
        stated: meshes.iter().map(|mesh| (mesh.unit, mesh.up)).collect(),
        are_several: meshes.len() > 1,
        near: if let [one] = meshes {
            one.near.clone()
        } else {
            None
        },
        name: if let [one] = meshes {
            one.recorded_name()
        } else {
            None
        },
        label: if let [one] = meshes {
            Some(one.label().to_string()).filter(|label| !label.is_empty())
        } else {
            None
        },
    })
}

impl Source {
    /// Returns the request that the options make. If there are several meshes, each is a label unless the
    /// options set labels or the cells are distances.
    pub fn request(&self, options: &Options) -> Result<Request> {
        let mut request = options.request()?;
        // Distances have no labels.
        let makes_distances =
            request.iso.is_none() && matches!(request.rule, Some(Rule::Distance { .. }));
        if request.labels.is_none() && self.are_several && !makes_distances {
            request.labels = Some(JobLabels::Parts(PartKind::File));
        }
        Ok(request)
    }

    /// Returns the unit that the file of each mesh states.
    pub fn units(&self) -> impl Iterator<Item = Option<UnitOfLength>> {
        self.stated.iter().map(|(unit, _)| *unit)
    }

    /// Resolves a request for these meshes, and for the frame of the scan whose grid is used. Also returns the
    /// mesh with its axes in the order of the grid.
    fn turned(
        &self,
        request: &Request,
        frame: Option<ScanFrame>,
    ) -> Result<(ResolvedRequest, Mesh)> {
        let mut job = request.resolve(&self.stated)?;
        let mut mesh = self.mesh.clone();
        if let Some((near_mesh, near)) = &self.near {
            job = job.relative_to(near.clone());
            mesh = near_mesh.clone();
        }
        job.transform.frame = frame;
        let kind = request.labels.and_then(JobLabels::part_kind);
        let are_files = kind == Some(PartKind::File);
        if are_files && mesh.parts(PartKind::File).is_none() {
            let name = self.label.as_deref().unwrap_or("mesh");
            let parts = MeshParts::new([name], std::iter::repeat_n(0, mesh.triangles().len()))?;
            mesh = mesh.with_parts(PartKind::File, parts)?;
        }
        let mesh = job.transform.apply(request.choose(mesh)?)?;
        if mesh.triangles().is_empty() {
            return Err(
                Error::unfit("the mesh has no triangles").with_hint("export the mesh again")
            );
        }
        Ok((job, mesh))
    }

    /// Resolves a request for these meshes. Also returns the mesh and the lattice that is fitted to it.
    pub fn prepared(&self, request: &Request) -> Result<(ResolvedRequest, Mesh, Lattice)> {
        let (job, mesh) = self.turned(request, None)?;
        let lattice = job.fit.to(mesh.bounds())?;
        job.rule.check_on(&lattice)?;
        Ok((job, mesh, lattice))
    }
}

/// Applies the settings of a call to a voxelizer: threads, instruction set, memory and progress.
pub fn with_how<'a>(
    voxelizer: Voxelizer<'a>,
    how: &How,
    watcher: &'a Watcher,
) -> Result<Voxelizer<'a>> {
    let mut voxelizer = voxelizer.threads(how.threads).progress(watcher);
    if let Some(level) = how.simd.as_deref().filter(|level| *level != "auto") {
        let known: Vec<_> = Level::available()
            .iter()
            .map(|level| level.name())
            .collect();
        voxelizer = voxelizer.level(named("simd", level, Level::from_name(level), &known)?);
    }
    Ok(how
        .max_memory
        .map_or(voxelizer, |bytes| voxelizer.memory(bytes)))
}

/// Job with all its data. It can be run without the Python interpreter.
struct Job {
    source: Source,
    options: Options,
    like: Option<Like>,
    has_nearest: bool,
    quantities: Vec<String>,
    /// Number of the level of detail, if the options have several. `None` if they make a single grid.
    level: Option<usize>,
    max_memory: Option<u64>,
}

/// Value of the argument `like`, which gives the grid.
#[derive(FromPyObject)]
pub enum Like {
    /// The grid of voxels in memory.
    Voxels(Py<Grid>),
    /// The grid of a file. If the file contains its lattice, only its headers are read.
    File(PathBuf),
}

/// Results of a job.
struct Made {
    voxels: Voxels,
    findings: Vec<Finding>,
    inside: Option<String>,
    snapped: u64,
    nearest: Option<Vec<i32>>,
    arrays: Vec<CellArray>,
}

/// Makes cells from meshes by a rule. Several meshes make one grid, in which each mesh is a label unless
/// `labels` is set. `level` is the number of a level of detail, if the options have several.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "each is an argument of the Python function"
)]
pub fn voxelize<'py>(
    py: Python<'py>,
    meshes: Vec<PyRef<'py, PyMesh>>,
    options: Options,
    how: How,
    like: Option<Like>,
    nearest: bool,
    quantities: Vec<String>,
    level: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let source = common(py, &meshes)?;
    let job = Job {
        source,
        options,
        like,
        has_nearest: nearest,
        quantities,
        level,
        max_memory: how.max_memory,
    };
    drop(meshes);
    let made = run(py, &how, |watcher| job.run(&how, watcher))?;
    let answer = PyDict::new(py);
    answer.set_item(
        "findings",
        made.findings.iter().map(finding).collect::<Vec<_>>(),
    )?;
    answer.set_item("inside", made.inside)?;
    answer.set_item("snapped", made.snapped)?;
    answer.set_item(
        "nearest",
        made.nearest.map(|numbers| numbers.into_pyarray(py)),
    )?;
    let names = CellArray::unique_names(made.arrays.iter().map(|array| &array.content));
    let mut arrays = vec![];
    for (array, name) in made.arrays.iter().zip(names) {
        let numbers = PyArray1::from_slice(py, array.numbers());
        arrays.push((name, array.content.numbers(), numbers));
    }
    answer.set_item("arrays", arrays)?;
    answer.set_item("grid", Grid::new(made.voxels))?;
    Ok(answer)
}

impl Job {
    fn run(self, how: &How, watcher: &Watcher) -> Result<Made> {
        let Self {
            options, source, ..
        } = &self;
        let mut request = source.request(options)?;
        if let Some(level) = self.level
            && level < request.levels.len()
        {
            request = request.by_level().swap_remove(level);
        }
        if self.like.is_some() {
            request.set("like", "")?;
        }
        let taken = match &self.like {
            Some(like) => Some(like.grid(self.max_memory)?),
            None => None,
        };
        let frame = taken.as_ref().and_then(|taken| taken.frame.clone());
        let (mut job, mesh) = source.turned(&request, frame)?;
        let lattice = lattice(&request, &mut job, &mesh, taken.as_ref())?;
        let ResolvedRequest {
            transform,
            rule,
            drains,
            ..
        } = job;
        rule.check_on(&lattice)?;
        let voxelizer = with_how(Voxelizer::new(rule), how, watcher)?
            .transform(&transform)
            .input(source.name.as_deref())
            .priority(&request.priority)
            .drains(&drains)
            .extras(Extras {
                labels: request.labels.unwrap_or_default(),
                quantities: self.quantities()?,
                ..Extras::default()
            });
        let mut found = findings::of_lattice(
            &mesh,
            &lattice,
            &rule,
            options.reading.tolerance(),
            &transform.coordinates(),
        )?;
        found.extend(
            source
                .stated
                .iter()
                .filter_map(|(unit, _)| other_unit(*unit, &transform)),
        );
        if let Some(taken) = &taken {
            let unknown = taken.unknown_axes.as_deref();
            found.extend(unknown.map(findings::image_axes));
            found.extend(findings::other_axes(taken.frame.as_ref(), None));
        }
        if self.like.is_some() {
            found.extend(findings::beyond(&mesh, &lattice, "like"));
        }
        if self.has_nearest {
            let (made, nearest) = voxelizer.run_with_nearest(&mesh, &lattice)?;
            findings::add(&mut found, made.findings);
            let (voxels, inside, snapped) = (made.voxels, None, made.stats.snapped);
            let nearest = Some(nearest);
            return Ok(Made {
                voxels,
                findings: found,
                inside,
                snapped,
                nearest,
                arrays: vec![],
            });
        }
        let labels = request.labels.unwrap_or_default();
        let has_label_fields = labels.are_of_mesh() && rule.has_label_fields();
        if !self.quantities.is_empty() || has_label_fields {
            let (made, arrays) = voxelizer.run_with_arrays(&mesh, &lattice)?;
            findings::add(&mut found, made.findings);
            let inside = made.voxels.record.field("inside").map(str::to_string);
            let (voxels, snapped) = (made.voxels, made.stats.snapped);
            return Ok(Made {
                voxels,
                findings: found,
                inside,
                snapped,
                nearest: None,
                arrays,
            });
        }
        let (voxels, result) = voxelizer.prepare(&mesh, &lattice, None)?.voxels()?;
        findings::add(&mut found, result.findings);
        let (inside, snapped) = (result.inside, result.stats.snapped);
        Ok(Made {
            voxels,
            findings: found,
            inside,
            snapped,
            nearest: None,
            arrays: vec![],
        })
    }

    /// Returns the quantities requested with `with_`, which become arrays in addition to the cells.
    fn quantities(&self) -> Result<Quantities> {
        let known = Quantity::ALL.map(Quantity::name);
        let one = |name: &String| {
            let found = Quantity::ALL
                .into_iter()
                .find(|quantity| quantity.name() == name);
            named("with_", name, found, &known)
        };
        self.quantities.iter().map(one).collect()
    }
}

/// Returns the lattice: the grid that `like` gives, or a lattice that is fitted to the mesh. The mesh gets the
/// unit of the grid.
fn lattice(
    request: &Request,
    job: &mut ResolvedRequest,
    mesh: &Mesh,
    taken: Option<&TakenGrid>,
) -> Result<Lattice> {
    let Some(taken) = taken else {
        return job.fit.to(mesh.bounds());
    };
    job.transform.unit = job.transform.unit.or(taken.unit);
    check_unit_of_grid(taken.unit, &job.transform, "like")?;
    let lattice = job.transform.unplace(&taken.lattice)?;
    let snap = request.snap.unwrap_or(lattice.snap());
    Ok(lattice.with_snap(snap))
}

/// Grid that `like` gives.
struct TakenGrid {
    lattice: Lattice,
    unit: Option<UnitOfLength>,
    /// Value of [`IMAGE_AXES`] if `like` is an image that does not state its axes.
    unknown_axes: Option<String>,
    /// Order and directions of the axes of the scan. `None` if they are x, y and z.
    frame: Option<ScanFrame>,
}

impl Like {
    fn grid(&self, max_memory: Option<u64>) -> Result<TakenGrid> {
        let unit_of = |record: &Record| record.transform("unit").and_then(UnitOfLength::from_name);
        match self {
            Self::Voxels(grid) => {
                let Voxels {
                    lattice, record, ..
                } = &grid.get().voxels;
                let lattice = lattice.clone().ok_or_else(no_lattice)?;
                Ok(TakenGrid {
                    lattice,
                    unit: unit_of(record),
                    unknown_axes: None,
                    frame: ScanFrame::of(record),
                })
            }
            Self::File(path) => {
                let mut description = format::describe(path)?;
                let axes = description.metadata.extra.remove(IMAGE_AXES);
                let frame = ScanFrame::of(&description.metadata.record);
                let unit = unit_of(&description.metadata.record);
                // The lattice is either in the headers or in a sidecar, which is read with the cells.
                let lattice = match description.format.carries {
                    Carries::InFile | Carries::Rounded => description.metadata.lattice,
                    _ => format::open_within(path, max_memory)?.lattice,
                };
                let lattice = lattice.ok_or_else(|| no_lattice().in_file(path))?;
                Ok(TakenGrid {
                    lattice,
                    unit,
                    unknown_axes: axes.filter(|axes| axes == UNKNOWN_AXES),
                    frame,
                })
            }
        }
    }
}

fn no_lattice() -> Error {
    let error = Error::usage("does not contain the position of its cells");
    error.with_hint(
        "like takes voxels with a lattice, or a file that says it, such as .npz, .nrrd and .nii",
    )
}
