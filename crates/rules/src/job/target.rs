//! The file that cells go to: its size before it is written, and what is found about that.

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

/// The file that the cells of a job go to, slab by slab.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its format.
    pub format: &'static Format,
    /// Its name, unless it is a stream.
    pub path: Option<&'a Path>,
    /// The type of its numbers, where that is known.
    pub dtype: Option<Dtype>,
    /// What else is chosen for it.
    pub choices: &'a [Choice],
}

impl Target<'_> {
    /// The size of the file, where its format allows a guess: of the cells of a surface about, if that is to be estimated,
    /// which takes a pass over the triangles; of others at most.
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
        // Every cell that the rule can reach may be occupied.
        let most = size(if rule.margin() == Length::ZERO {
            within_bounds(mesh, lattice)
        } else {
            all
        })?;
        match rule.is_hollow() {
            _ if size(0) == Some(most) => Some(most),
            true if is_estimated => size((touched::crossed(mesh, lattice, [1; 3]) as u64).min(all)),
            true => None,
            false => Some(FileSize::AtMost(most.bytes())),
        }
    }

    /// The findings about programs that read the file, of a grid whose axis `up` points up.
    pub fn limits(&self, lattice: &Lattice, up: UpAxis) -> Vec<Finding> {
        let [x, y, z] = lattice.dims();
        let stands = if up == UpAxis::Y {
            [x, z, y]
        } else {
            [x, y, z]
        };
        match self.choices.contains(&Choice::VoxSplit) {
            true => vec![],
            false => format::warnings(lattice, stands, self.format),
        }
    }

    /// The findings about a file of this size: its name is that of another format (W003), its format has limits (W004),
    /// the disk is too full (W012), or programs take the grid for another than it is (W019). `transform` is that of the
    /// mesh.
    pub fn findings(
        &self,
        lattice: &Lattice,
        transform: &Transform,
        size: Option<FileSize>,
    ) -> Vec<Finding> {
        let name = self.format.name;
        let other = |path: &Path| {
            let other = format::by_path(path).filter(|other| other.name != name)?;
            let text = format!(
                "{} is written as {name}, not {}",
                path.display(),
                other.name
            );
            Some(Finding::new(Code::W003, text))
        };
        let mut found: Vec<Finding> = self.path.and_then(other).into_iter().collect();
        found.extend(self.limits(lattice, transform.up));
        found.extend(
            self.format
                .assumes
                .iter()
                .filter_map(|assumed| self.misread(*assumed, transform)),
        );
        let Some(size) = size else { return found };
        let need = size.bytes();
        let is_one = !self.choices.contains(&Choice::VoxSplit);
        let is_mesh = self.format.is_of_faces();
        if let Some(most) = self
            .format
            .max_bytes
            .filter(|most| is_one && !is_mesh && need > *most)
        {
            let text = format!(
                "a .{name} file holds at most {}; this one may take {}, and its size is known only once it is voxelized",
                bytes(most),
                bytes(need)
            );
            found.push(Finding::new(Code::W004, text));
        }
        let path = self.path.filter(|_| matches!(size, FileSize::About(_)));
        if let Some((path, free)) = path
            .and_then(|path| Some((path, free_space(path)?)))
            .filter(|(_, free)| *free < need)
        {
            let [free, need] = [free, need].map(bytes);
            let text = format!(
                "the disk of {} has {free} free; it takes {need}",
                path.display()
            );
            found.push(Finding::new(Code::W012, text));
        }
        found
    }

    /// The finding that programs take for granted what is not so of this grid (W019).
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
        let hint: Hint = match transform.is_scaled() {
            false => converts.into(),
            true => [
                format!("`--unit {assumed}` if they are in {assumed}, being scaled"),
                format!("else {converts}"),
            ]
            .into(),
        };
        Some(Finding::new(Code::W019, text).with_hint(hint))
    }
}

/// The cells of a lattice that the bounds of a mesh touch.
fn within_bounds(mesh: &Mesh, lattice: &Lattice) -> u64 {
    let dims = lattice.dims();
    let bounds = mesh.bounds();
    let along = |axis: usize| {
        let place = |coordinate: f32| {
            (f64::from(coordinate) - lattice.origin()[axis].to_f64())
                / lattice.spacing()[axis].to_f64()
        };
        // A cell more on either side, against rounding.
        let first = place(bounds.min[axis]).floor() - 1.0;
        let last = place(bounds.max[axis]).floor() + 1.0;
        (last.min(dims[axis] as f64 - 1.0) - first.max(0.0) + 1.0).max(0.0) as u64
    };
    along(0).saturating_mul(along(1)).saturating_mul(along(2))
}
