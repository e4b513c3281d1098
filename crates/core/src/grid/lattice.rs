//! Lattice: the position in world space of each cell `(i, j, k)`.
//!
//! The order of axes is always x, y, z, and cells are stored with x fastest: cell `(i, j, k)` of a grid of
//! `[nx, ny, nz]` cells has the index `i + nx * (j + ny * k)`.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
use crate::geom::{Bounds, Rational};

/// Names of the axes.
pub const AXES: [char; 3] = ['x', 'y', 'z'];

/// Greatest number of cells along an axis.
pub const MAX_DIM: usize = 1 << 24;

/// Regular lattice of cells in space. Wall `i` of an axis is exactly at `origin + i * spacing`, in world
/// units.
///
/// If an axis is *closed*, its last wall belongs to the last layer of cells: parts of the mesh in this wall
/// occupy cells of the last layer. A fitted lattice has a closed axis if the mesh does not extend beyond its
/// last wall.
#[derive(Debug, Clone)]
pub struct Lattice {
    dims: [usize; 3],
    origin: [Rational; 3],
    spacing: [Rational; 3],
    closed: [bool; 3],
    snap: Snap,
    /// Lattice of which this lattice is a region. `None` if it is not a region.
    whole: Option<Box<WholeLattice>>,
}

/// Lattice that contains the region.
#[derive(Debug, Clone)]
struct WholeLattice {
    /// Least corner of the whole lattice.
    origin: [Rational; 3],
    /// Index in the whole lattice of the first cell of the region.
    first: [usize; 3],
}

/// A region is equal to any lattice with the same cells.
impl PartialEq for Lattice {
    fn eq(&self, other: &Self) -> bool {
        self.dims == other.dims
            && self.closed == other.closed
            && self.snap == other.snap
            && self.origin == other.origin
            && self.spacing == other.spacing
    }
}

impl Eq for Lattice {}

impl Lattice {
    /// Creates a lattice of `dims` cells. `origin` is the least corner of cell (0, 0, 0).
    ///
    /// # Errors
    /// Fails if an axis has no cells or more than [`MAX_DIM`] cells, or if a spacing is not positive.
    pub fn new(
        dims: [usize; 3],
        origin: [Rational; 3],
        spacing: [Rational; 3],
        closed: [bool; 3],
    ) -> Result<Self> {
        for axis in 0..3 {
            let name = AXES[axis];
            if dims[axis] == 0 {
                return Err(Error::usage(format!(
                    "a grid needs at least one cell along {name}"
                )));
            }
            if dims[axis] > MAX_DIM {
                let count = dims[axis];
                return Err(Error::too_large(format!(
                    "{count} cells along {name}; the maximum is {MAX_DIM}"
                ))
                .with_hint("use larger cells"));
            }
            if !spacing[axis].is_positive() {
                return Err(Error::usage(format!(
                    "the cell size along {name} must be above zero"
                )));
            }
        }
        Ok(Self {
            dims,
            origin,
            spacing,
            closed,
            snap: Snap::default(),
            whole: None,
        })
    }

    /// Creates a lattice without closed axes from doubles. Each double is used with its exact value. For
    /// example, `0.1` is 3602879701896397/2⁵⁵.
    ///
    /// ```
    /// # use voxelize_core as voxelize;
    /// use voxelize::Lattice;
    ///
    /// let lattice = Lattice::from_f64([64, 64, 32], [-1.5, 0.0, 0.0], [0.25; 3])?;
    /// assert_eq!(lattice.end()[2].to_f64(), 8.0);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for the reasons listed at [`new`](Self::new), and if a number is not finite.
    pub fn from_f64(dims: [usize; 3], origin: [f64; 3], spacing: [f64; 3]) -> Result<Self> {
        Self::new(dims, exact(origin)?, exact(spacing)?, [false; 3])
    }

    /// Sets the method of snapping coordinates to walls.
    #[must_use]
    pub fn with_snap(mut self, snap: Snap) -> Self {
        self.snap = snap;
        self
    }

    /// Multiplies all coordinates by `factor`.
    ///
    /// # Errors
    /// Fails if the factor is not positive.
    pub fn scaled(&self, factor: &Rational) -> Result<Self> {
        let origin = self.origin.each_ref().map(|value| value * factor);
        let spacing = self.spacing.each_ref().map(|value| value * factor);
        let lattice = Self::new(self.dims, origin, spacing, self.closed)?;
        Ok(lattice.with_snap(self.snap))
    }

    /// Translates the lattice by `by`.
    ///
    /// # Errors
    /// Fails if a coordinate exceeds the range of exact numbers.
    pub fn moved(&self, by: &[Rational; 3]) -> Result<Self> {
        let origin = std::array::from_fn(|axis| &self.origin[axis] + &by[axis]);
        Ok(Self::new(self.dims, origin, self.spacing.clone(), self.closed)?.with_snap(self.snap))
    }

    /// Returns the lattice of a box of cells, which is given by its ranges along x, y and z. Its walls are
    /// walls of this lattice. An axis is closed if it is closed in this lattice and the box extends to its
    /// end. Local rules compute bitwise the same cells, including shares and areas, as for the whole lattice.
    ///
    /// ```
    /// # use voxelize_core as voxelize;
    /// use voxelize::{Bounds, Lattice};
    ///
    /// let lattice = Lattice::fit(&Bounds { min: [0.0; 3], max: [4.0, 3.0, 2.0] }, 40)?;
    /// let [nx, ny, nz] = lattice.dims();
    /// let region = lattice.region([0..nx, 5..ny, 3..9])?;
    /// assert_eq!(region.dims(), [nx, ny - 5, 6]);
    /// assert_eq!(region.spacing(), lattice.spacing());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a range is empty or extends beyond the lattice.
    pub fn region(&self, cells: [Range<usize>; 3]) -> Result<Self> {
        for (axis, range) in cells.iter().enumerate() {
            if range.is_empty() || range.end > self.dims[axis] {
                let Range { start, end } = range;
                let name = AXES[axis];
                let text = format!(
                    "cells {start}..{end} along {name} are not a region of {} cells",
                    self.dims[axis]
                );
                return Err(Error::usage(text)
                    .with_hint("give the first cell, and the end after the last cell"));
            }
        }
        let origin = std::array::from_fn(|axis| self.wall(axis, cells[axis].start));
        let closed =
            std::array::from_fn(|axis| self.closed[axis] && cells[axis].end == self.dims[axis]);
        let start = cells.each_ref().map(|range| range.start);
        let whole = match &self.whole {
            Some(whole) => WholeLattice {
                origin: whole.origin.clone(),
                first: [0, 1, 2].map(|axis| whole.first[axis] + start[axis]),
            },
            None => WholeLattice {
                origin: self.origin.clone(),
                first: start,
            },
        };
        let dims = cells.map(|range| range.len());
        let region = Self::new(dims, origin, self.spacing.clone(), closed)?.with_snap(self.snap);
        Ok(Self {
            whole: Some(Box::new(whole)),
            ..region
        })
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Returns the least corner of cell (0, 0, 0).
    pub fn origin(&self) -> &[Rational; 3] {
        &self.origin
    }

    /// Returns the side length of a cell along each axis.
    pub fn spacing(&self) -> &[Rational; 3] {
        &self.spacing
    }

    /// Reports for each axis whether it is closed: whether its last wall belongs to the last layer of cells.
    pub fn closed(&self) -> [bool; 3] {
        self.closed
    }

    /// Returns the method of snapping coordinates to walls.
    pub fn snap(&self) -> Snap {
        self.snap
    }

    /// Returns the number of cells. It cannot overflow, because an axis has at most [`MAX_DIM`] cells.
    pub fn cells(&self) -> u128 {
        self.dims.iter().map(|&n| n as u128).product()
    }

    /// Reports whether the cells are cubes.
    pub fn is_cubic(&self) -> bool {
        self.spacing[0] == self.spacing[1] && self.spacing[1] == self.spacing[2]
    }

    /// Returns the volume of one cell in cubic world units.
    pub fn cell_volume(&self) -> Rational {
        &(&self.spacing[0] * &self.spacing[1]) * &self.spacing[2]
    }

    /// Returns the map of one axis from world space to index space. Axes 0, 1 and 2 are x, y and z.
    pub fn axis(&self, axis: usize) -> AxisMap {
        AxisMap::new(
            self.origin[axis].clone(),
            self.spacing[axis].clone(),
            self.snap,
        )
    }

    /// Returns all axes in the form that kernels need.
    pub fn axes(&self) -> [LatticeAxis; 3] {
        [0, 1, 2].map(|a| LatticeAxis {
            map: self.axis(a),
            cells: self.dims[a],
            closed: self.closed[a],
        })
    }

    /// Returns the axes of the whole lattice, of which this lattice is a region, and the index in it of the
    /// region's first cell. The axes end at the last cell of the region. Numbers that are rounded relative to
    /// the origin of the whole lattice are equal in all of its regions.
    pub fn axes_of_whole(&self) -> ([LatticeAxis; 3], [usize; 3]) {
        let Some(whole) = &self.whole else {
            return (self.axes(), [0; 3]);
        };
        let axes = [0, 1, 2].map(|a| LatticeAxis {
            map: AxisMap::new(whole.origin[a].clone(), self.spacing[a].clone(), self.snap),
            cells: whole.first[a] + self.dims[a],
            closed: self.closed[a],
        });
        (axes, whole.first)
    }

    /// Returns the index in the whole lattice of the first cell of this region. It is zero if this lattice is
    /// not a region.
    pub fn first_of_whole(&self) -> [usize; 3] {
        self.whole.as_ref().map_or([0; 3], |whole| whole.first)
    }

    /// Reports whether a box extends beyond the lattice along an axis: below its first wall, and above its
    /// last wall. Both are false for an empty box.
    pub fn is_passed(&self, axis: usize, bounds: &Bounds) -> [bool; 2] {
        if bounds.is_empty() {
            return [false; 2];
        }
        let map = self.axis(axis);
        let end = Rational::from(self.dims[axis] as i64);
        [
            map.index(bounds.min[axis]) < Rational::ZERO,
            map.index(bounds.max[axis]) > end,
        ]
    }

    /// Returns the position of wall `i` of an axis. Axes 0, 1 and 2 are x, y and z.
    pub fn wall(&self, axis: usize, i: usize) -> Rational {
        &self.origin[axis] + &(&self.spacing[axis] * &Rational::from(i as i64))
    }

    /// Returns the centre of cell `(i, j, k)` in world units. Each coordinate is the double nearest to the
    /// exact coordinate.
    pub fn centre(&self, cell: [usize; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.axis(a).half_plane(2 * cell[a] as i64 + 1).to_f64())
    }

    /// Returns the cell that contains a point in world units. `None` if the point is outside the lattice, or
    /// if a coordinate is not finite. A point on a wall belongs to the cell above the wall. A point on the
    /// last wall of a closed axis belongs to the last cell.
    ///
    /// ```
    /// # use voxelize_core as voxelize;
    /// use voxelize::{Bounds, Lattice};
    ///
    /// let lattice = Lattice::fit(&Bounds { min: [0.0; 3], max: [8.0, 4.0, 2.0] }, 16)?;
    /// assert_eq!(lattice.centre([3, 0, 1]), [1.75, 0.25, 0.75]);
    /// assert_eq!(lattice.cell_at([1.75, 0.25, 0.75]), Some([3, 0, 1]));
    /// assert_eq!(lattice.cell_at([1.5, 4.0, 0.0]), Some([3, 7, 0]));
    /// assert_eq!(lattice.cell_at([8.1, 0.0, 0.0]), None);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub fn cell_at(&self, point: [f64; 3]) -> Option<[usize; 3]> {
        let mut cell = [0; 3];
        for a in 0..3 {
            let index =
                (Rational::from_f64(point[a])? - self.origin[a].clone()) / self.spacing[a].clone();
            let floor = usize::try_from(index.floor()?).ok()?;
            let on_last = self.closed[a] && index.is_whole() && floor == self.dims[a];
            cell[a] = if on_last { floor - 1 } else { floor };
            if cell[a] >= self.dims[a] {
                return None;
            }
        }
        Some(cell)
    }

    /// Returns the greatest corner of the lattice: the position of the last wall of each axis.
    pub fn end(&self) -> [Rational; 3] {
        std::array::from_fn(|a| self.axis(a).half_plane(2 * self.dims[a] as i64))
    }
}

fn exact(values: [f64; 3]) -> Result<[Rational; 3]> {
    let [x, y, z] = values.map(|value| {
        Rational::from_f64(value)
            .ok_or_else(|| Error::usage(format!("{value} is not a finite number")))
    });
    Ok([x?, y?, z?])
}
