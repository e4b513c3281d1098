//! Regions of a grid: stores whose regions are made by several processes, and blocks of cells.

use std::io::Write as _;
use std::path::PathBuf;

use ::voxelize::format::{Choice, Dtype, Durability};
use ::voxelize::grid::{BytesHasher, CellKind};
use ::voxelize::job::regions::{
    RegionMaker, RegionMesh, RegionPlan, RegionRequest, RegionState, RegionStore, ShardCheck,
};
use ::voxelize::job::{Extras, JobLabels, MeshPose, ResolvedRequest, UnitOfLength};
use ::voxelize::mesh::read::ReadOptions;
use ::voxelize::{Error, Lattice, Result, Voxelizer, Voxels};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{finding, raised};
use crate::grid::Grid;
use crate::job::{common, with_how};
use crate::mesh::Mesh as PyMesh;
use crate::options::{Options, named};
use crate::work::{How, run};

/// Options for the layout of a store.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Storing {
    path: PathBuf,
    /// Files of the meshes, in order, each with its name and its pose, or empty texts.
    files: Vec<(PathBuf, String, String)>,
    /// Unit of the coordinates of files that state none.
    unit: Option<String>,
    regions: Option<usize>,
    dtype: Option<String>,
    uncompressed: bool,
    no_pyramid: bool,
    bin: bool,
}

/// Plans a store for the cells of meshes. If a store with the same plan exists, it is opened.
#[pyfunction]
pub fn plan_store<'py>(
    py: Python<'py>,
    meshes: Vec<PyRef<'py, PyMesh>>,
    options: Options,
    storing: Storing,
    how: How,
) -> PyResult<Bound<'py, PyDict>> {
    let source = common(py, &meshes)?;
    drop(meshes);
    let (store, findings) = run(py, &how, |watcher| {
        let request = source.request(&options)?;
        let (job, mesh, lattice) = source.prepared(&request)?;
        let mut labels = request.labels.unwrap_or_default();
        let dtype = storing.dtype.as_deref();
        let known = |dtype: &Dtype| matches!(dtype, Dtype::U8 | Dtype::Bool);
        let dtype = dtype.map(|text| {
            named(
                "dtype",
                text,
                Dtype::from_name(text).filter(known),
                &["u8", "bool"],
            )
        });
        let dtype = dtype.transpose()?;
        if labels == JobLabels::Off && dtype.unwrap_or(Dtype::U8) == Dtype::U8 {
            labels = JobLabels::SurfaceAndInterior;
        }
        let choices = [
            (storing.uncompressed, Choice::Uncompressed),
            (storing.no_pyramid, Choice::NoPyramid),
        ];
        let choices: Vec<_> = choices
            .into_iter()
            .filter_map(|(is, choice)| is.then_some(choice))
            .collect();
        let given = storing.unit.as_deref().and_then(UnitOfLength::from_name);
        let mut files = vec![];
        for ((file, name, pose), unit) in storing.files.iter().zip(source.units()) {
            let pose: MeshPose = pose.parse()?;
            files.push(RegionMesh {
                file: RegionPlan::mesh_name(&storing.path, file)?,
                name: Some(name.clone()).filter(|name| !name.is_empty()),
                pose: pose.in_units_of(given.or(unit))?,
            });
        }
        let region_request = RegionRequest {
            dtype,
            choices: &choices,
            regions: storing.regions,
            meshes: files,
            tolerance: options.reading.tolerance(),
            parts: &request.parts,
            bins: storing.bin,
        };
        let voxelizer = with_how(Voxelizer::new(job.rule), &how, watcher)?
            .transform(&job.transform)
            .input(source.name.as_deref())
            .priority(&request.priority)
            .drains(&job.drains)
            .extras(Extras {
                labels,
                ..Extras::default()
            });
        let (plan, findings) = voxelizer.plan_regions(&mesh, &lattice, &region_request)?;
        // The plans may divide the layers into regions differently.
        let there = RegionStore::open_if_planned(&storing.path)?
            .filter(|there| there.plan.makes_same(&plan));
        let plan = there.map_or(plan, |there| there.plan);
        let store = match storing.bin {
            true => RegionStore::create_with_bins(
                &storing.path,
                plan,
                &mesh,
                Durability::Synced,
                watcher,
            )?,
            false => RegionStore::create(&storing.path, plan, Durability::Synced)?,
        };
        Ok((store, findings))
    })?;
    let answer = PyDict::new(py);
    answer.set_item("regions", store.plan.regions())?;
    answer.set_item("layers", store.plan.store.region_layers)?;
    answer.set_item("findings", findings.iter().map(finding).collect::<Vec<_>>())?;
    Ok(answer)
}

/// Makes those of these regions that are incomplete. Regions are numbered from 0. Returns for each region
/// whether it was made by this call.
#[pyfunction]
pub fn make_regions(
    py: Python<'_>,
    path: PathBuf,
    regions: Vec<usize>,
    files: Option<Vec<PathBuf>>,
    how: How,
) -> PyResult<Vec<bool>> {
    let store = RegionStore::open(&path).map_err(|error| raised(py, &error))?;
    run(py, &how, |watcher| {
        let is_whole = |region: &usize| Ok(store.state(*region, watcher)?.part().is_some());
        let whole = regions.iter().map(is_whole).collect::<Result<Vec<_>>>()?;
        if whole.iter().all(|is_whole| *is_whole) {
            return Ok(whole.iter().map(|_| false).collect());
        }
        let like = with_how(Voxelizer::new(store.plan.rule), &how, watcher)?;
        let missing = || {
            regions
                .iter()
                .zip(&whole)
                .filter(|(_, is_whole)| !**is_whole)
                .map(|(region, _)| *region)
        };
        if let (None, Some(bins)) = (&files, store.bins()?) {
            for region in missing() {
                let mesh = bins.mesh(region, how.max_memory, watcher)?;
                RegionMaker::new(&store, &mesh, &like, Durability::Synced)?.make(region)?;
            }
            return Ok(whole.iter().map(|is_whole| !is_whole).collect());
        }
        let files = files
            .clone()
            .unwrap_or_else(|| store.plan.meshes(&store.root));
        let reading = ReadOptions::default()
            .memory(how.max_memory)
            .progress(watcher);
        let (mesh, _) = store.plan.read_mesh(&files, &reading)?;
        let mut maker = RegionMaker::new(&store, &mesh, &like, Durability::Synced)?;
        for region in missing() {
            maker.make(region)?;
        }
        Ok(whole.iter().map(|is_whole| !is_whole).collect())
    })
}

/// Checks all regions of a store. If all are complete and `finish` is true, writes the metadata that
/// completes the store. If `elsewhere` is true, shards may be missing here.
#[pyfunction]
pub fn check_store<'py>(
    py: Python<'py>,
    path: PathBuf,
    finish: bool,
    elsewhere: bool,
    how: How,
) -> PyResult<Bound<'py, PyDict>> {
    let store = RegionStore::open(&path).map_err(|error| raised(py, &error))?;
    let check = if elsewhere {
        ShardCheck::Skipped
    } else {
        ShardCheck::Bytes
    };
    let report = run(py, &how, |watcher| match finish {
        true => store.finish_by(check, Durability::Synced, watcher),
        false => store.check_by(check, watcher),
    })?;
    let answer = PyDict::new(py);
    answer.set_item(
        "states",
        report
            .states
            .iter()
            .map(RegionState::name)
            .collect::<Vec<_>>(),
    )?;
    answer.set_item(
        "digest",
        report
            .digest
            .and_then(|digest| digest.grid)
            .map(|hash| hash.to_string()),
    )?;
    answer.set_item(
        "cells_digest",
        report.digest.map(|digest| digest.cells.to_string()),
    )?;
    answer.set_item("occupied", report.occupied)?;
    answer.set_item("bytes", report.bytes)?;
    answer.set_item("shape", store.plan.store.dims())?;
    let shards = report
        .states
        .iter()
        .filter_map(RegionState::part)
        .flat_map(|part| &part.shards);
    let shards: Vec<_> = shards
        .map(|shard| (shard.name.clone(), shard.bytes, shard.hash.to_string()))
        .collect();
    answer.set_item("shards", shards)?;
    answer.set_item(
        "findings",
        report.findings.iter().map(finding).collect::<Vec<_>>(),
    )?;
    Ok(answer)
}

/// Returns the hash of bytes, in the form in which part files state the hashes of shards.
#[pyfunction]
pub fn hash_of(py: Python<'_>, bytes: &[u8]) -> String {
    py.detach(|| {
        let mut hasher = BytesHasher::default();
        hasher
            .write_all(bytes)
            .expect("nothing is written that could fail");
        hasher.finish().to_string()
    })
}

/// Returns the dims of the grid for meshes, and the kind of its cells: `bits`, `labels` or `field`.
#[pyfunction]
pub fn planned_grid(
    py: Python<'_>,
    meshes: Vec<PyRef<'_, PyMesh>>,
    options: Options,
    how: How,
) -> PyResult<([usize; 3], &'static str)> {
    let source = common(py, &meshes)?;
    drop(meshes);
    run(py, &how, |_| {
        let request = source.request(&options)?;
        let labels = request.labels.unwrap_or_default();
        let (ResolvedRequest { rule, .. }, _, lattice) = source.prepared(&request)?;
        if !rule.is_local() || labels.are_colours() {
            let text = format!("blocks: {} needs cells beside a block", rule.name());
            return Err(Error::usage(text).with_hint("make the grid at once"));
        }
        let kind = match rule.kind() {
            CellKind::Field => "field",
            _ if labels == JobLabels::Off => "bits",
            _ => "labels",
        };
        Ok((lattice.dims(), kind))
    })
}

/// Makes the cells of a box of the grid for meshes. The box is `[x0, x1, y0, y1, z0, z1]`.
#[pyfunction]
pub fn voxelize_block(
    py: Python<'_>,
    meshes: Vec<PyRef<'_, PyMesh>>,
    options: Options,
    block: [usize; 6],
    how: How,
) -> PyResult<Grid> {
    let source = common(py, &meshes)?;
    drop(meshes);
    let voxels = run(py, &how, |watcher| {
        let request = source.request(&options)?;
        let (job, mesh, lattice) = source.prepared(&request)?;
        if !job.drains.is_empty() {
            return Err(
                Error::usage("drain: blocks of a grid have no drain holes").with_hint(
                    "make the whole grid with `voxelize`; with `--max-memory` it is made in slabs",
                ),
            );
        }
        let [x0, x1, y0, y1, z0, z1] = block;
        let region: Lattice = lattice.region([x0..x1, y0..y1, z0..z1])?;
        let voxelizer = with_how(Voxelizer::new(job.rule), &how, watcher)?
            .transform(&job.transform)
            .priority(&request.priority)
            .extras(Extras {
                labels: request.labels.unwrap_or_default(),
                ..Extras::default()
            })
            .without_findings();
        let made: Voxels = voxelizer.prepare(&mesh, &region, None)?.voxels()?.0;
        Ok(made)
    })?;
    Ok(Grid::new(voxels))
}
