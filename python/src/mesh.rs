//! Meshes from files, bytes and arrays.

use std::path::{Path, PathBuf};

use numpy::{PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use voxelize::job::{MeshPose, PosedName, Transform, UnitOfLength, UpAxis};
use voxelize::mesh::read::{self, Loaded, ReadNear, ReadOptions, Tolerance};
use voxelize::tool::text::{bytes, file_label};
use voxelize::{Error, Finding, Rational, Result};

use crate::errors::{FindingFacts, finding, raised};
use crate::work::{How, Watcher, run, run_here};

/// Mesh in memory. It is read once and can be voxelized any number of times.
#[pyclass(frozen, module = "voxelize._native")]
pub struct Mesh {
    pub mesh: voxelize::Mesh,
    /// Name of the file without its folder, or the name that the user gave.
    #[pyo3(get)]
    pub name: String,
    /// The user gave the name, so that it is a label as it is.
    has_given_name: bool,
    /// Poses that were applied, as text. Empty for a mesh as in its file.
    poses: String,
    pub unit: Option<UnitOfLength>,
    pub up: Option<UpAxis>,
    /// Mesh in coordinates relative to a point near it, and that point. `None` unless the file is far from
    /// the origin.
    pub near: Option<(voxelize::Mesh, [Rational; 3])>,
    findings: Vec<Finding>,
}

/// Options for reading files.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Reading {
    lenient: bool,
    strict: bool,
    textures: bool,
}

impl Reading {
    /// Returns how damaged and unusual files are treated.
    pub fn tolerance(&self) -> Tolerance {
        match (self.strict, self.lenient) {
            (true, _) => Tolerance::Strict,
            (_, true) => Tolerance::Lenient,
            _ => Tolerance::Usual,
        }
    }

    fn options<'a>(&self, max_memory: Option<u64>, watcher: &'a Watcher) -> ReadOptions<'a> {
        ReadOptions::default()
            .tolerance(self.tolerance())
            .memory(max_memory)
            .textures(self.textures)
            .progress(watcher)
    }
}

impl Mesh {
    /// Creates the mesh of a file. If it is far from the origin, the mesh is also kept in the coordinates of
    /// the file, rounded to floats.
    fn loaded(name: String, loaded: Loaded) -> Result<Self> {
        let Loaded {
            mesh,
            unit,
            up,
            findings,
            near,
            ..
        } = loaded;
        let placed = Transform {
            near,
            ..Transform::default()
        };
        if !placed.is_near() {
            return Ok(Self {
                mesh,
                name,
                has_given_name: false,
                poses: String::new(),
                unit,
                up,
                near: None,
                findings,
            });
        }
        let far = placed.apply_all(mesh.clone())?;
        Ok(Self {
            mesh: far,
            name,
            has_given_name: false,
            poses: String::new(),
            unit,
            up,
            near: Some((mesh, placed.near)),
            findings,
        })
    }

    fn made(name: String, mesh: voxelize::Mesh) -> Self {
        Self {
            mesh,
            name,
            has_given_name: false,
            poses: String::new(),
            unit: None,
            up: None,
            near: None,
            findings: vec![],
        }
    }

    /// Returns the name of the mesh's label: the given name, or the name of the file without its extension.
    pub fn label(&self) -> &str {
        if self.has_given_name {
            return &self.name;
        }
        file_label(&self.name)
    }

    /// Returns the name for the record of a grid, with the poses. `None` if the mesh has no name.
    pub fn recorded_name(&self) -> Option<String> {
        if self.name.is_empty() || self.poses.is_empty() {
            return Some(self.name.clone()).filter(|name| !name.is_empty());
        }
        Some(format!("{}@{}", self.name, self.poses))
    }
}

#[pymethods]
impl Mesh {
    /// Reads a mesh from a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, reading: Reading, how: How) -> PyResult<Self> {
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let limit = how.max_memory;
        run(py, &how, |watcher| {
            let options = reading.options(limit, watcher).near(ReadNear::Mesh);
            Self::loaded(name, read::read_file(&path, &options)?)
        })
    }

    /// Reads a mesh from the content of a file.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        bytes: &[u8],
        name: String,
        reading: Reading,
        how: How,
    ) -> PyResult<Self> {
        let limit = how.max_memory;
        run(py, &how, |watcher| {
            let options = reading.options(limit, watcher).near(ReadNear::Mesh);
            let loaded = read::read_stream(&mut &bytes[..], &name, &options)?;
            Self::loaded(name, loaded)
        })
    }

    /// Returns the same mesh with another name.
    fn renamed(&self, name: String) -> Self {
        Self {
            mesh: self.mesh.clone(),
            name,
            has_given_name: true,
            poses: self.poses.clone(),
            unit: self.unit,
            up: self.up,
            near: self.near.clone(),
            findings: self.findings.clone(),
        }
    }

    /// Returns the mesh with a pose, whose steps have names and texts. The original mesh stays in memory.
    /// `unit` is the unit of the coordinates if the file states none.
    fn posed(
        &self,
        py: Python<'_>,
        steps: Vec<(String, String)>,
        unit: Option<String>,
        how: How,
    ) -> PyResult<Self> {
        let limit = how.max_memory;
        run(py, &how, |_| {
            let pose = pose_of(&steps)?;
            let unit = unit.as_deref().and_then(UnitOfLength::from_name);
            let copy = size_of_val(self.mesh.triangles()) as u64;
            if let Some(most) = limit.filter(|most| 2 * copy > *most) {
                let (need, most) = (bytes(2 * u128::from(copy)), bytes(u128::from(most)));
                let text = format!("the mesh and the mesh posed need {need}, {most} are allowed");
                return Err(Error::too_large(text).with_hint("raise `--max-memory`"));
            }
            // Like the command: only a mesh that is moved is taken from the point near it.
            let (mesh, near) = match &self.near {
                Some((mesh, near)) if pose.translates() => (mesh.clone(), near.clone()),
                _ => (self.mesh.clone(), [const { Rational::ZERO }; 3]),
            };
            Ok(Self {
                mesh: pose.posed(mesh, near, unit.or(self.unit))?,
                name: self.name.clone(),
                has_given_name: self.has_given_name,
                poses: match self.poses.as_str() {
                    "" => pose.to_string(),
                    before => format!("{before}, then @{pose}"),
                },
                unit: self.unit.filter(|_| !pose.scales()),
                up: self.up.map(|up| pose.up(up)),
                near: None,
                findings: self.findings.clone(),
            })
        })
    }

    /// Creates a mesh from vertices, and from faces that are indices of vertices.
    #[staticmethod]
    fn indexed(
        py: Python<'_>,
        vertices: PyReadonlyArray2<'_, f32>,
        faces: PyReadonlyArray2<'_, u32>,
        name: String,
    ) -> PyResult<Self> {
        let vertices = triples(py, vertices.shape(), vertices.as_slice(), "vertices")?;
        let faces = triples(py, faces.shape(), faces.as_slice(), "faces")?;
        run_here(py, || {
            voxelize::par::with_threads(1, || voxelize::Mesh::from_indexed(vertices, faces))
                .and_then(|mesh| mesh)
        })
        .map(|mesh| Self::made(name, mesh))
    }

    /// Creates a mesh from the corners of its triangles.
    #[staticmethod]
    fn triangles(
        py: Python<'_>,
        corners: PyReadonlyArray3<'_, f32>,
        name: String,
    ) -> PyResult<Self> {
        let corners = triples(py, corners.shape(), corners.as_slice(), "triangles")?;
        let work = || {
            let triangles = corners.as_chunks::<3>().0.to_vec();
            voxelize::par::with_threads(1, || voxelize::Mesh::from_triangles(triangles))
                .and_then(|mesh| mesh)
        };
        run_here(py, work).map(|mesh| Self::made(name, mesh))
    }

    /// Returns the number of triangles.
    fn __len__(&self) -> usize {
        self.mesh.triangles().len()
    }

    /// Lowest and highest coordinates. `None` if the mesh has no triangles.
    #[getter]
    fn bounds(&self) -> Option<[[f32; 3]; 2]> {
        let bounds = self.mesh.bounds();
        (!self.mesh.triangles().is_empty()).then_some([bounds.min, bounds.max])
    }

    /// Unit that the file states. `None` if it states none.
    #[getter]
    fn unit(&self) -> Option<&'static str> {
        self.unit.map(UnitOfLength::name)
    }

    #[getter]
    fn findings(&self) -> Vec<FindingFacts> {
        self.findings.iter().map(finding).collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "<voxelize.Mesh {:?}: {} triangles>",
            self.name,
            self.__len__()
        )
    }
}

/// Returns the numbers of an array in groups of three. `name` is the argument for messages. Fails unless the
/// array has the right shape.
fn triples<'a, T, E>(
    py: Python<'_>,
    shape: &[usize],
    numbers: std::result::Result<&'a [T], E>,
    name: &str,
) -> PyResult<&'a [[T; 3]]> {
    let refuse = |why: String| raised(py, &Error::usage(format!("{name}: {why}")));
    if shape.last() != Some(&3) || shape.get(1) != Some(&3) {
        return Err(refuse(format!(
            "three numbers are expected along the last axis, the shape is {shape:?}"
        )));
    }
    let numbers = numbers.map_err(|_| refuse("the array is not contiguous".to_string()))?;
    Ok(numbers.as_chunks::<3>().0)
}

/// Returns the pose of these steps.
fn pose_of(steps: &[(String, String)]) -> Result<MeshPose> {
    let mut pose = MeshPose::default();
    for (name, text) in steps {
        pose.set(name, text).map_err(|error| error.about(name))?;
    }
    Ok(pose)
}

/// Splits the name of a mesh from the steps of its pose, as in `part.stl@rotate=z,90`. `None` for a name
/// without a pose.
#[pyfunction]
pub fn split_pose(name: &str) -> Option<(String, Vec<(String, String)>)> {
    let found = PosedName::new(name)?;
    // A name before `=` may contain any character.
    let is_pose = found.has_known_step() || Path::new(found.file).exists();
    if !is_pose || Path::new(name).exists() {
        return None;
    }
    let mut steps = vec![];
    for (name, text) in &found.steps {
        steps.push((name.to_string(), text.to_string()));
    }
    Some((found.file.to_string(), steps))
}

/// Joins the meshes. In the result each mesh is a part of the kind file.
pub fn joined(meshes: &[PyRef<'_, Mesh>]) -> Result<voxelize::Mesh> {
    match meshes {
        [one] => Ok(one.mesh.clone()),
        all => voxelize::Mesh::join(all.iter().map(|mesh| (mesh.label(), &mesh.mesh))),
    }
}
