//! Comparisons and checks. The results are dictionaries of facts.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use voxelize::compare::check::{self as mesh_check, CheckOptions, Fitness, MeshCheck};
use voxelize::compare::clearance::{ClearanceBody, ClearanceOptions};
use voxelize::compare::diff as differences;
use voxelize::compare::{Difference, FieldDifference, Mismatch, differ_by_rounding, grids};
use voxelize::job::{one_unit, one_up};
use voxelize::mesh::PairLimit;
use voxelize::tool::text;
use voxelize::{Error, Result, Voxels};

use crate::errors::raised;
use crate::grid::Grid;
use crate::mesh::Mesh;
use crate::work::{How, run};

/// Checks a mesh and returns the facts.
#[pyfunction]
pub fn check<'py>(
    py: Python<'py>,
    mesh: PyRef<'py, Mesh>,
    lattice: Option<PyRef<'py, Grid>>,
    places: usize,
    max_pairs: Option<u64>,
    how: How,
) -> PyResult<Bound<'py, PyDict>> {
    let triangles = &mesh.mesh;
    let lattice = lattice
        .as_ref()
        .and_then(|grid| grid.voxels.lattice.as_ref());
    let most = how.max_memory.unwrap_or(u64::MAX);
    let found = run(py, &how, |progress| {
        let need = mesh_check::bytes_for(triangles);
        if need > most {
            let [need, most] = [need, most].map(text::bytes);
            return Err(Error::too_large(format!(
                "the check needs {need}, {most} are allowed"
            )));
        }
        let options = CheckOptions {
            lattice,
            places,
            pairs: limit(max_pairs),
            progress,
            ..CheckOptions::default()
        };
        mesh_check::check(triangles, &options)
    })?;
    facts_of_check(py, &found)
}

fn facts_of_check<'py>(py: Python<'py>, found: &MeshCheck) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("vertices", found.vertices)?;
    facts.set_item("is_partial", found.is_partial)?;
    for fitness in Fitness::ALL {
        facts.set_item(fitness.name(), found.is_fit(fitness))?;
    }
    let methods = found
        .verdict
        .safe_methods
        .iter()
        .map(|method| method.name());
    facts.set_item("safe_methods", methods.collect::<Vec<_>>())?;
    let component = |c: &mesh_check::CheckedComponent| {
        let facts = PyDict::new(py);
        let size = &c.component;
        facts.set_item("triangles", size.triangles)?;
        facts.set_item("bounds", [size.bounds.min, size.bounds.max])?;
        facts.set_item("area", size.area)?;
        facts.set_item("volume", size.volume)?;
        facts.set_item("closed", c.closed)?;
        facts.set_item("oriented", c.oriented)?;
        Ok::<_, PyErr>(facts)
    };
    facts.set_item(
        "components",
        found
            .components
            .iter()
            .map(component)
            .collect::<PyResult<Vec<_>>>()?,
    )?;
    let defect = |defect: &mesh_check::Defect| {
        let facts = PyDict::new(py);
        facts.set_item("name", defect.info.name)?;
        facts.set_item("code", defect.info.code.to_string())?;
        facts.set_item("severity", defect.info.severity().name())?;
        facts.set_item("effect", defect.info.effect)?;
        facts.set_item("count", defect.count)?;
        let points: Vec<f64> = defect.places.iter().flat_map(|place| place.at).collect();
        facts.set_item("points", points.into_pyarray(py))?;
        facts.set_item("triangles", defect.triangles.clone().into_pyarray(py))?;
        Ok::<_, PyErr>(facts)
    };
    facts.set_item(
        "defects",
        found
            .defects
            .iter()
            .map(defect)
            .collect::<PyResult<Vec<_>>>()?,
    )?;
    Ok(facts)
}

/// Returns the facts about the clearance of two meshes.
#[pyfunction]
pub fn clearance<'py>(
    py: Python<'py>,
    first: PyRef<'py, Mesh>,
    second: PyRef<'py, Mesh>,
    places: usize,
    max_pairs: Option<u64>,
    how: How,
) -> PyResult<Bound<'py, PyDict>> {
    let units = one_unit([first.unit, second.unit].into_iter()).map(drop);
    let alike = units.and(one_up([first.up, second.up].into_iter()).map(drop));
    alike.map_err(|error| {
        let hint = "convert the vertices of one of them: Mesh takes (vertices, faces)";
        raised(py, &error.with_hint(hint))
    })?;
    let (first, second) = (&first.mesh, &second.mesh);
    let max_bytes = how.max_memory;
    let found = run(py, &how, |progress| {
        let options = ClearanceOptions {
            places,
            pairs: limit(max_pairs),
            max_bytes,
            progress,
        };
        ClearanceBody::new(first)?.clearance(&ClearanceBody::new(second)?, &options)
    })?;
    let facts = PyDict::new(py);
    facts.set_item("relation", found.relation.name())?;
    facts.set_item("shares_volume", found.shares_volume)?;
    facts.set_item("distance", found.distance)?;
    facts.set_item("squared", found.squared.to_string())?;
    facts.set_item("points", found.points)?;
    facts.set_item("direction", found.direction)?;
    facts.set_item("triangles", found.triangles)?;
    facts.set_item("meetings", found.meetings)?;
    facts.set_item("is_all", found.is_all)?;
    let pairs: Vec<u64> = found
        .places
        .iter()
        .flat_map(|pair| pair.triangles)
        .collect();
    facts.set_item("pairs", pairs.into_pyarray(py))?;
    let ends: Vec<f64> = found
        .places
        .iter()
        .flat_map(|pair| pair.ends)
        .flatten()
        .collect();
    facts.set_item("ends", ends.into_pyarray(py))?;
    Ok(facts)
}

/// Compares two grids of bits or labels. Returns the facts, and a grid of the cells that differ.
#[pyfunction]
pub fn diff<'py>(
    py: Python<'py>,
    first: PyRef<'py, Grid>,
    second: PyRef<'py, Grid>,
    how: How,
) -> PyResult<Bound<'py, PyDict>> {
    let (old, new) = (&first.voxels, &second.voxels);
    let (found, changes) = run(py, &how, |_| {
        let found = Difference::between(old, new)?;
        let changes = differences::changes(old.occupied()?, new.occupied()?)?;
        Ok((found, differences::saved(changes, old.lattice.as_ref())))
    })?;
    let facts = PyDict::new(py);
    facts.set_item("common", found.common)?;
    facts.set_item("added", found.added)?;
    facts.set_item("removed", found.removed)?;
    facts.set_item("relabelled", found.relabelled)?;
    facts.set_item("iou", found.iou())?;
    facts.set_item("bounds", found.bounds)?;
    facts.set_item("mismatches", mismatches(old, new))?;
    facts.set_item("grid", Grid::new(changes))?;
    Ok(facts)
}

/// Compares two fields and returns the facts.
#[pyfunction]
pub fn diff_fields<'py>(
    py: Python<'py>,
    first: PyRef<'py, Grid>,
    second: PyRef<'py, Grid>,
    tolerance: Option<f64>,
    how: How,
) -> PyResult<Bound<'py, PyDict>> {
    let (old, new) = (&first.voxels, &second.voxels);
    let none = || raised(py, &Error::usage("both grids must be fields, or neither"));
    let (Some(a), Some(b)) = (old.field(), new.field()) else {
        return Err(none());
    };
    let found: FieldDifference = run(py, &how, |_| -> Result<_> {
        FieldDifference::between(a, b, tolerance)
    })?;
    let facts = PyDict::new(py);
    facts.set_item("differing", found.differing)?;
    facts.set_item("beyond", found.beyond)?;
    facts.set_item("bounds", found.bounds)?;
    let largest = found
        .largest
        .map(|largest| (largest.cell, largest.values, largest.difference));
    facts.set_item("largest", largest)?;
    facts.set_item("mismatches", mismatches(old, new))?;
    Ok(facts)
}

/// Returns the differences between the lattices of two grids as text.
fn mismatches(first: &Voxels, second: &Voxels) -> Vec<String> {
    let found = grids(first, second);
    let is_image = |voxels: &Voxels| voxels.record.tool.is_none();
    // Images of other programs store their position as decimals or floats. The command treats them in the
    // same way.
    let is_rounding = match (&first.lattice, &second.lattice) {
        (Some(a), Some(b)) => (is_image(first) || is_image(second)) && differ_by_rounding(a, b),
        _ => false,
    };
    let counts = |mismatch: &&Mismatch| {
        !is_rounding || matches!(mismatch, Mismatch::Unit(_) | Mismatch::Frame(_))
    };
    found
        .iter()
        .filter(counts)
        .map(|mismatch| mismatch.to_string())
        .collect()
}

fn limit(max_pairs: Option<u64>) -> PairLimit {
    match max_pairs {
        None => PairLimit::Usual,
        Some(0) => PairLimit::All,
        Some(most) => PairLimit::AtMost(most),
    }
}
