//! The module `voxelize._native`: meshes from files and arrays, jobs of the library, cells as arrays. Names, defaults
//! and documentation for users are in `package/voxelize`, which is Python; here is what needs the library.

mod compare;
mod errors;
mod grid;
mod job;
mod mesh;
mod options;
mod regions;
mod work;

use pyo3::prelude::*;

/// What the Python of the package needs of the library. It has no promise.
#[pymodule(gil_used = false)]
mod _native {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    /// Loads what arrays need of NumPy now: an interrupt while it loads later would end in a panic.
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

    /// Does what these words ask for, as the program `voxelize` does, and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| ::voxelize::cli::start(words))
    }
}
