//! Module `voxelize._native`: meshes from files and arrays, jobs of the library, cells as arrays. The
//! public names, defaults and documentation are in `package/voxelize`, in Python.

mod compare;
mod errors;
mod grid;
mod job;
mod mesh;
mod options;
mod regions;
mod work;

use pyo3::prelude::*;

/// Interface of the library for the Python package. It is not stable.
#[pymodule(gil_used = false)]
mod _native {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    /// Loads the array API of NumPy now, because an interrupt while it loads later would cause a panic.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        numpy::PyArray1::<u8>::zeros(module.py(), [0], false);
        Ok(())
    }

    #[pymodule_export]
    use super::compare::{check, clearance, diff, diff_fields};
    #[pymodule_export]
    use super::grid::{Grid, formats, open_grid, unpacked};
    #[pymodule_export]
    use super::job::voxelize;
    #[pymodule_export]
    use super::mesh::Mesh;
    #[pymodule_export]
    use super::options::options;
    #[pymodule_export]
    use super::regions::{
        check_store, hash_of, make_regions, plan_store, planned_grid, voxelize_block,
    };
    #[pymodule_export]
    use super::work::Cancel;

    /// Runs a command line like the program `voxelize` and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| ::voxelize::cli::start(words))
    }
}
