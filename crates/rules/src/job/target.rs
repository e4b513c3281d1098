//! Output file of a job: estimates its size before it is written, and reports findings about it.

use std::path::Path;

use super::system::free_space;
use super::transform::Transform;
use super::turn::short;
use crate::rule::Rule;
use crate::run::touched;
use voxelize_core::error::{Code, Finding, Hint};
use voxelize_core::grid::{Lattice, Length};
use voxelize_core::text::bytes;
use voxelize_formats::{self as format, Choice, Dtype, FileSize, Format};
use voxelize_meshes::{Mesh, UnitOfLength, UpAxis};

/// File to which the cells of a job are written slab by slab.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Format of the file.
    pub format: &'static Format,
    /// Path of the file. `None` if the output is a stream.
    pub path: Option<&'a Path>,
    /// Type of the stored values. `None` if it is not known.
    pub dtype: Option<Dtype>,
    /// Other options of the format.
    pub choices: &'a [Choice],
}

impl Target<'_> {
    /// Returns the size of the file before it is written. `None` if it cannot be estimated. If the size
    /// depends on the number of occupied cells, it is an upper bound, except for hollow rules. For these it
    /// is an approximation that needs a pass over the triangles, and it is made only if `is_estimated` is
    /// true.
    pub fn size(
        &self,
        rule: &Rule,
        mesh: &Mesh,
        lattice: &Lattice,
        is_estimated: bool,
    ) -> Option<FileSize> {
        let dims = lattice.dims();
        let dtype = self.dtype?;
        let all: u128 = dims.iter().map(|&n| n as u128).product();
        let all = u64::try_from(all).unwrap_or(u64::MAX);
        let size = |occupied: u64| self.format.size(dims, dtype, Some(occupied), self.choices);
        // Upper bound of the number of occupied cells.
        let reachable = if rule.margin() == Length::ZERO {
            within_bounds(mesh, lattice)
        } else {
            all
        };
        let most = size(reachable)?;
        if size(0) == Some(most) {
            return Some(most);
        }
        if !rule.is_hollow() {
            return Some(FileSize::AtMost(most.bytes()));
        }
        if !is_estimated {
            return None;
        }
        let crossed = touched::crossed(mesh, lattice, [1; 3]) as u64;
        size(crossed.min(all))
    }

    /// Returns the findings about limits of the format and of programs that read it. `up` is the axis of the
    /// grid that points up.
    pub fn limits(&self, lattice: &Lattice, up: UpAxis) -> Vec<Finding> {
        let [x, y, z] = lattice.dims();
        let stands = if up == UpAxis::Y {
            [x, z, y]
        } else {
            [x, y, z]
        };
        if self.choices.contains(&Choice::VoxSplit) {
            return vec![];
        }
        format::warnings(lattice, stands, self.format)
    }

    /// Returns the findings about the file. Its name may belong to another format (W003), the grid may exceed
    /// limits of the format (W004), the disk may be too full for `size` (W012), or programs may misinterpret
    /// the grid (W019). `transform` is the transform of the mesh.
    pub fn findings(
        &self,
        lattice: &Lattice,
        transform: &Transform,
        size: Option<FileSize>,
    ) -> Vec<Finding> {
        let name = self.format.name;
        let mut found = vec![];
        if let Some(path) = self.path
            && let Some(other) = format::by_path(path)
            && other.name != name
        {
            let text = format!(
                "{} is written as {name}, not {}",
                path.display(),
                other.name
            );
            found.push(Finding::new(Code::W003, text));
        }
        found.extend(self.limits(lattice, transform.up));
        for assumed in self.format.assumes {
            found.extend(self.misread(*assumed, transform));
        }
        let Some(size) = size else { return found };
        let need = size.bytes();
        let is_one = !self.choices.contains(&Choice::VoxSplit);
        let is_mesh = self.format.is_of_faces();
        if let Some(most) = self.format.max_bytes
            && is_one
            && !is_mesh
            && need > most
        {
            let text = format!(
                "a .{name} file holds at most {}; this one may take {}, and its size is known only once it is voxelized",
                bytes(most),
                bytes(need)
            );
            found.push(Finding::new(Code::W004, text));
        }
        if let Some(path) = self.path
            && matches!(size, FileSize::About(_))
            && let Some(free) = free_space(path)
            && free < need
        {
            let [free, need] = [free, need].map(bytes);
            let text = format!(
                "the disk of {} has {free} free, but the output takes {need}",
                path.display()
            );
            found.push(Finding::new(Code::W012, text));
        }
        found
    }

    /// Returns W019 if readers of the format assume another unit or another up axis than the grid has. `None`
    /// if the grid has the property. The first argument is a pair: the name of the property (`up` or the
    /// unit) and the value that readers assume.
    fn misread(&self, (name, assumed): (&str, &str), transform: &Transform) -> Option<Finding> {
        let format = self.format.name;
        if name == "up" {
            let is_other = transform.up.name() != assumed;
            let text =
                format!("programs that read .{format} take {assumed} as up; in this grid y is up");
            let hint = "voxelize the mesh with `--axes x,-z,y`, which turns it upright";
            return is_other.then(|| Finding::new(Code::W019, text).with_hint(hint));
        }
        let unit = transform.unit.filter(|unit| unit.name() != assumed)?;
        let factor = &transform.scale
            * &(unit.millimetres() / UnitOfLength::from_name(assumed)?.millimetres());
        let text = format!(
            "programs that read .{format} take its coordinates as {assumed}; those of this grid are {}",
            unit.name()
        );
        let factor = short(&factor);
        let converts = format!("voxelize the mesh with `--scale {factor}` `--unit {assumed}`");
        let hint: Hint = if transform.is_scaled() {
            [
                format!("`--unit {assumed}` if they are in {assumed}, being scaled"),
                format!("else {converts}"),
            ]
            .into()
        } else {
            converts.into()
        };
        Some(Finding::new(Code::W019, text).with_hint(hint))
    }
}

/// Returns an upper bound of the number of cells that the bounding box of a mesh touches.
fn within_bounds(mesh: &Mesh, lattice: &Lattice) -> u64 {
    let dims = lattice.dims();
    let bounds = mesh.bounds();
    let along = |axis: usize| {
        let place = |coordinate: f32| {
            (f64::from(coordinate) - lattice.origin()[axis].to_f64())
                / lattice.spacing()[axis].to_f64()
        };
        // Adds one cell on either side because of rounding.
        let first = place(bounds.min[axis]).floor() - 1.0;
        let last = place(bounds.max[axis]).floor() + 1.0;
        (last.min(dims[axis] as f64 - 1.0) - first.max(0.0) + 1.0).max(0.0) as u64
    };
    along(0).saturating_mul(along(1)).saturating_mul(along(2))
}
