//! Native module `voxelize._native`: reads meshes from files and arrays, runs jobs of the library, and
//! returns cells as arrays. The public names, defaults and documentation are in the Python package
//! `package/voxelize`.

mod compare;
mod errors;
mod grid;
mod job;
mod mesh;
mod options;
mod regions;
mod work;

use pyo3::prelude::*;

/// Internal interface of the library for the Python package. It is not stable.
#[pymodule(gil_used = false)]
mod _native {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    /// Loads the array interface of NumPy at once. If an interrupt arrived while it is loaded later, there
    /// would be a panic.
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
    use super::mesh::{Mesh, split_pose};
    #[pymodule_export]
    use super::options::options;
    #[pymodule_export]
    use super::regions::{
        check_store, hash_of, make_regions, plan_store, planned_grid, voxelize_block,
    };
    #[pymodule_export]
    use super::work::Cancel;

    /// Runs a command line as the program `voxelize` does. Returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| ::voxelize::cli::start(words))
    }
}
