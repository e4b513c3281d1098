//! What a user says about the grid before its mesh is known.

use super::transform::Transform;
use crate::rule::Rule;
use voxelize_core::Rational;
use voxelize_core::grid::{Fit, Size, Snap};

/// The cells on the longest axis by default.
pub const DEFAULT_RES: usize = 256;

/// The options of a fit that front ends have in common. Lengths are in coordinates of the grid: scaled and translated.
#[derive(Debug, Clone, Default)]
pub struct FitOptions {
    /// The cells on the longest axis; [`DEFAULT_RES`] if nothing else decides the size.
    pub res: Option<usize>,
    /// The cells on each axis.
    pub dims: Option<[usize; 3]>,
    /// Whether the dims fill the box exactly, by cells that need not be cubes.
    pub is_stretched: bool,
    /// The sides of a cell.
    pub voxel_size: Option<[Rational; 3]>,
    /// A point that walls of all axes go through, or would.
    pub origin: Option<[Rational; 3]>,
    /// The lowest and the highest corner of a box in place of the bounds of the mesh.
    pub bounds: Option<[[Rational; 3]; 2]>,
    /// Whether all dims are equal to the largest.
    pub is_cube: bool,
    /// The cells that are added on every side. If nothing is said, a lattice that is fitted to the mesh has room for
    /// cells that the rule occupies beyond the mesh.
    pub pad: Option<usize>,
    /// How coordinates snap.
    pub snap: Snap,
}

impl FitOptions {
    /// The fit of a mesh that is transformed so, for this rule.
    pub fn fit(&self, rule: &Rule, transform: &Transform) -> Fit {
        let size = match (&self.voxel_size, self.dims) {
            (_, Some(dims)) if self.is_stretched => Size::Stretched(dims),
            (_, Some(dims)) => Size::Dims(dims),
            (Some(size), _) => Size::Spacing(size.each_ref().map(|side| side / &transform.scale)),
            _ => Size::Longest(self.res.unwrap_or(DEFAULT_RES)),
        };
        let mut fit = Fit::new(size).snap(self.snap);
        let is_fitted = self.dims.is_none() && self.bounds.is_none();
        fit = match self.pad {
            None if is_fitted => fit.margin(rule.margin()),
            pad => fit.pad(pad.unwrap_or(0)),
        };
        if let Some(origin) = &self.origin {
            fit = fit.origin(transform.unplaced(origin));
        }
        if let Some([min, max]) = &self.bounds {
            fit = fit.bounds(transform.unplaced(min), transform.unplaced(max));
        }
        if self.is_cube { fit.cube() } else { fit }
    }
}
