//! Drain holes of a hollow part. A hole leads from a point straight to the nearest point of the cavity. It
//! empties the cells whose centre is at most half its diameter away from this segment. All decisions are exact.
//!
//! Two conditions guarantee that a path of empty cells that share faces leads from the outside through the hole
//! to the cavity:
//!
//! - The diameter is at least the diagonal of a cell. The centre of every cell that the segment passes through
//!   is then near enough, and consecutive cells on the segment share a face, or touch cells that do.
//! - The centre of some cell outside the part is at most half the diameter away from the point. Steps along the
//!   axes that reduce the distance to the point lead from this cell to the cell of the point.
//!
//! A hole whose point has no cell of the part as near as that is refused as well, because the point is
//! probably a mistake.

use std::ops::Range;

use super::transform::{Transform, decimal};
use crate::rule::PreparedRule;
use crate::run::Run;
use crate::run::memory::MemoryEstimate;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{BitGrid, Lattice, MAX_DIM};
use voxelize_core::par::Progress;
use voxelize_core::text::GridCoordinates;

/// Number of layers that are searched for the cavity at a time.
const LAYERS: usize = 8;

/// Relative error, with a large margin, of squared distances in doubles.
const ERROR: f64 = 1e-12;

/// Drain hole that a user requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drain {
    /// Point from which the hole leads to the cavity, in the coordinates of the lattice.
    point: [Rational; 3],
    /// Diameter in units of the lattice.
    diameter: Rational,
    /// Point and diameter in the coordinates of the grid, as saved files state them: `10,0,2.5,3`.
    text: String,
}

/// Drain hole that was made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DrainHole {
    /// Point and diameter in the coordinates of the grid, as saved files state them.
    pub text: String,
    /// Point at which the hole begins, in the coordinates of the grid.
    pub point: [f64; 3],
    /// Diameter in the unit of the grid.
    pub diameter: f64,
    /// Nearest point of the cavity, in the coordinates of the grid.
    pub end: [f64; 3],
    /// Distance of the point from the cavity, in the unit of the grid.
    pub length: f64,
    /// Number of cells that were emptied. A cell of several holes counts for the first of them.
    pub cells: u64,
}

/// Drain hole whose end is known.
pub(super) struct PreparedDrain {
    drain: Drain,
    end: [Rational; 3],
    cells: u64,
}

impl Drain {
    /// Creates a hole from the coordinates of a point and a diameter, in the coordinates of the grid.
    pub(super) fn new([x, y, z, diameter]: [Rational; 4], transform: &Transform) -> Self {
        let text = [&x, &y, &z, &diameter].map(decimal).join(",");
        Self {
            point: transform.unplaced(&[x, y, z]),
            diameter: diameter / &transform.scale,
            text,
        }
    }

    /// Returns the point and the diameter in the coordinates of the grid, as saved files state them.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Moves the hole together with the lattice.
    pub(super) fn move_by(&mut self, by: &[Rational; 3]) {
        for (coordinate, by) in self.point.iter_mut().zip(by) {
            *coordinate = &*coordinate + by;
        }
    }

    fn radius(&self) -> Rational {
        &self.diameter * &Rational::new(1, 2)
    }

    fn error(&self, message: &str) -> Error {
        Error::unfit(format!("drain {}: {message}", self.text))
    }
}

/// Returns the memory, in bytes, of the search for the ends of holes.
pub(super) fn memory(estimate: &MemoryEstimate) -> u128 {
    let [nx, ny, nz] = estimate.lattice.dims();
    // The wall and the cavity of some layers, and the distances of centres and cells along each axis.
    let grids = 2 * BitGrid::bytes_for([nx, ny, LAYERS.min(nz)]);
    let bytes = grids + 2 * ((nx + ny + nz) * size_of::<f64>()) as u128;
    estimate.bytes(bytes, bytes)
}

/// Search for the point of the cavity that is nearest to the point of a hole.
struct CavitySearch<'a> {
    lattice: &'a Lattice,
    drain: &'a Drain,
    /// Squared radius of the hole.
    radius_squared: Rational,
    /// Squared distances along each axis from the point to each cell.
    gaps: [Vec<f64>; 3],
    /// Distances along each axis from the point to each centre.
    offsets: [Vec<f64>; 3],
    /// Nearest cell of the cavity, with its squared distance.
    nearest: Option<([usize; 3], f64)>,
    /// A cell outside the part is within the radius of the point.
    reaches_outside: bool,
    /// A cell of the part is within the radius of the point.
    reaches_part: bool,
}

impl PreparedDrain {
    /// Finds the end of a hole. `rule` makes the cells of the part and its cavity.
    ///
    /// # Errors
    /// Fails if the hole is too narrow, if its point is not at the surface of the part, if the part has no
    /// cavity, if memory does not suffice, or if the run was cancelled.
    pub(super) fn new(
        drain: &Drain,
        rule: &PreparedRule,
        lattice: &Lattice,
        coordinates: &GridCoordinates,
        run: &Run,
    ) -> Result<Self> {
        let diagonal = squared(lattice.spacing());
        if &drain.diameter * &drain.diameter < diagonal {
            let text = format!(
                "drain {}: the hole is narrower than the diagonal of a cell, {}",
                drain.text,
                coordinates.length_text(diagonal.root_to_f64())
            );
            return Err(
                Error::usage(text).with_hint(["make the hole wider", "or the cells smaller"])
            );
        }
        let mut search = CavitySearch::new(drain, lattice);
        search.run(rule, run)?;
        let radius = coordinates.length_text(drain.radius().to_f64());
        let Some((nearest, _)) = search.nearest else {
            return Err(drain
                .error("the part has no cavity, because the wall fills it")
                .with_hint("make the wall thinner, or the cells smaller"));
        };
        if !search.reaches_part {
            let text = format!("the point is more than {radius} away from the part");
            return Err(drain.error(&text).with_hint(
                "give a point on the surface of the part; `voxelize info MESH` prints its bounds",
            ));
        }
        if !search.reaches_outside {
            let text = format!(
                "the point is more than {radius} inside the part, so the hole does not reach the outside"
            );
            return Err(drain
                .error(&text)
                .with_hint("move the point outwards, to the surface or a little beyond it"));
        }
        Ok(Self {
            end: search.nearest_point(nearest),
            drain: drain.clone(),
            cells: 0,
        })
    }

    /// Empties the cells of the hole. Layer 0 of the grid is layer `first` of the lattice.
    pub(super) fn carve(&mut self, lattice: &Lattice, first: usize, grid: &mut BitGrid) {
        let Drain { point, .. } = &self.drain;
        let radius = self.drain.radius();
        let radius_squared = &radius * &radius;
        let layers = first..first + grid.dims()[2];
        let ranges = [0, 1, 2].map(|axis| {
            let [low, high] = if point[axis] < self.end[axis] {
                [&point[axis], &self.end[axis]]
            } else {
                [&self.end[axis], &point[axis]]
            };
            let cells = cells_between(lattice, axis, &(low - &radius), &(high + &radius));
            if axis == 2 {
                cells.start.max(layers.start)..cells.end.min(layers.end)
            } else {
                cells
            }
        });
        let to_end: [_; 3] = std::array::from_fn(|axis| &self.end[axis] - &point[axis]);
        let rounded_end = to_end.each_ref().map(Rational::to_f64);
        let rounded_radius = radius_squared.to_f64();
        let offsets: [Vec<Rational>; 3] = [0, 1, 2].map(|axis| {
            let plane = |i: usize| lattice.axis(axis).half_plane(2 * i as i64 + 1) - &point[axis];
            ranges[axis].clone().map(plane).collect()
        });
        let rounded = offsets
            .each_ref()
            .map(|all| all.iter().map(Rational::to_f64).collect::<Vec<_>>());
        let [x, y, z] = ranges;
        for (nz, k) in z.enumerate() {
            for (ny, j) in y.clone().enumerate() {
                for (nx, i) in x.clone().enumerate() {
                    let cell = [i, j, k - first];
                    if !grid.get(cell) {
                        continue;
                    }
                    let centre = [rounded[0][nx], rounded[1][ny], rounded[2][nz]];
                    let (found, bound) = distance_squared(centre, rounded_end);
                    let is_within =
                        if (found - rounded_radius).abs() > bound + ERROR * rounded_radius {
                            found < rounded_radius
                        } else {
                            let centre = [&offsets[0][nx], &offsets[1][ny], &offsets[2][nz]];
                            is_within(centre, &to_end, &radius_squared)
                        };
                    if is_within {
                        grid.toggle(cell);
                        self.cells += 1;
                    }
                }
            }
        }
    }

    /// Returns the hole as it was made so far, in the coordinates of the grid.
    pub(super) fn hole(&self, coordinates: &GridCoordinates) -> DrainHole {
        let Drain {
            point,
            diameter,
            text,
        } = &self.drain;
        let to_end: [_; 3] = std::array::from_fn(|axis| &self.end[axis] - &point[axis]);
        let place =
            |point: &[Rational; 3]| coordinates.point(point.each_ref().map(Rational::to_f64));
        DrainHole {
            text: text.clone(),
            point: place(point),
            diameter: coordinates.length(diameter.to_f64()),
            end: place(&self.end),
            length: coordinates.length(squared(&to_end).root_to_f64()),
            cells: self.cells,
        }
    }
}

impl<'a> CavitySearch<'a> {
    fn new(drain: &'a Drain, lattice: &'a Lattice) -> Self {
        let radius = drain.radius();
        let of_cells = |axis: usize, from: fn(&Lattice, usize, usize, &Rational) -> Rational| {
            let point = &drain.point[axis];
            let cells = 0..lattice.dims()[axis];
            cells
                .map(|cell| from(lattice, axis, cell, point).to_f64())
                .collect::<Vec<_>>()
        };
        let mut gaps = [0, 1, 2].map(|axis| of_cells(axis, gap));
        for gap in gaps.iter_mut().flatten() {
            *gap *= *gap;
        }
        Self {
            lattice,
            drain,
            radius_squared: &radius * &radius,
            gaps,
            offsets: [0, 1, 2].map(|axis| of_cells(axis, offset)),
            nearest: None,
            reaches_outside: false,
            reaches_part: false,
        }
    }

    /// Searches layers in the order of their distance from the point.
    fn run(&mut self, rule: &PreparedRule, run: &Run) -> Result<()> {
        self.reaches_outside = self.reaches_beyond_grid();
        let [nx, ny, nz] = self.lattice.dims();
        let radius_squared = self.radius_squared.to_f64() * (1.0 + ERROR);
        let mut blocks: Vec<(f64, Range<usize>)> = (0..nz)
            .step_by(LAYERS)
            .map(|start| {
                let layers = start..nz.min(start + LAYERS);
                let gaps = layers.clone().map(|k| self.gaps[2][k]);
                (gaps.fold(f64::INFINITY, f64::min), layers)
            })
            .collect();
        blocks.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        for (gap, layers) in blocks {
            let nearest = self.nearest.map_or(f64::INFINITY, |(_, squared)| squared);
            if gap > radius_squared && gap > nearest * (1.0 + ERROR) {
                break;
            }
            run.check()?;
            let dims = [nx, ny, layers.len()];
            let mut part = BitGrid::new(dims)?;
            let mut cavity = BitGrid::new(dims)?;
            rule.hollow(layers.clone(), run, &mut part, &mut cavity)?;
            self.add_cavity(&cavity, layers.start);
            part.add(&cavity);
            self.add_near(&part, layers.start);
        }
        Ok(())
    }

    /// Updates the nearest cell by the cells of the cavity in some layers.
    fn add_cavity(&mut self, cavity: &BitGrid, first: usize) {
        let [_, ny, layers] = cavity.dims();
        for k in 0..layers {
            for j in 0..ny {
                let of_row = self.gaps[2][first + k] + self.gaps[1][j];
                for (place, word) in cavity.row(j, k).iter().enumerate() {
                    let mut rest = *word;
                    while rest != 0 {
                        let i = 64 * place + rest.trailing_zeros() as usize;
                        rest &= rest - 1;
                        self.add_cell([i, j, first + k], of_row + self.gaps[0][i]);
                    }
                }
            }
        }
    }

    /// Updates the nearest cell by one cell. Of equally near cells, the first in the order of x, then y, then z
    /// is kept.
    fn add_cell(&mut self, cell: [usize; 3], squared: f64) {
        let Some((known, of_known)) = self.nearest else {
            self.nearest = Some((cell, squared));
            return;
        };
        if squared > of_known * (1.0 + ERROR) {
            return;
        }
        let is_nearer = if squared < of_known * (1.0 - ERROR) {
            true
        } else {
            let order = |[i, j, k]: [usize; 3]| [k, j, i];
            let [exact, of_known] = [cell, known].map(|cell| self.exact_gap(cell));
            exact < of_known || exact == of_known && order(cell) < order(known)
        };
        if is_nearer {
            self.nearest = Some((cell, squared));
        }
    }

    /// Returns the squared distance from the point to a cell.
    fn exact_gap(&self, cell: [usize; 3]) -> Rational {
        let gaps: [_; 3] = std::array::from_fn(|axis| {
            gap(self.lattice, axis, cell[axis], &self.drain.point[axis])
        });
        squared(&gaps)
    }

    /// Returns the point of a cell that is nearest to the point of the hole.
    fn nearest_point(&self, cell: [usize; 3]) -> [Rational; 3] {
        std::array::from_fn(|axis| {
            let [low, high] = walls(self.lattice, axis, cell[axis]);
            self.drain.point[axis].clone().max(low).min(high)
        })
    }

    /// Looks for cells of the part and cells outside it within the radius of the point. `part` has the wall and
    /// the cavity.
    fn add_near(&mut self, part: &BitGrid, first: usize) {
        let radius = self.drain.radius();
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let point = &self.drain.point[axis];
            cells_between(self.lattice, axis, &(point - &radius), &(point + &radius))
        });
        let layers = first..first + part.dims()[2];
        for k in z.start.max(layers.start)..z.end.min(layers.end) {
            for j in y.clone() {
                for i in x.clone() {
                    let is_part = part.get([i, j, k - first]);
                    let is_known = if is_part {
                        self.reaches_part
                    } else {
                        self.reaches_outside
                    };
                    if is_known || !self.is_near([i, j, k]) {
                        continue;
                    }
                    if is_part {
                        self.reaches_part = true;
                    } else {
                        self.reaches_outside = true;
                    }
                }
            }
        }
    }

    /// Returns true if the centre of a cell is within the radius of the point.
    fn is_near(&self, cell: [usize; 3]) -> bool {
        let [x, y, z] = [0, 1, 2].map(|axis| self.offsets[axis][cell[axis]]);
        let radius = self.radius_squared.to_f64();
        let found = x * x + y * y + z * z;
        if (found - radius).abs() > ERROR * radius {
            return found < radius;
        }
        let offsets: [_; 3] = std::array::from_fn(|axis| {
            offset(self.lattice, axis, cell[axis], &self.drain.point[axis])
        });
        squared(&offsets) <= self.radius_squared
    }

    /// Returns true if the centre of a cell beyond the grid would be within the radius of the point.
    fn reaches_beyond_grid(&self) -> bool {
        // The squared distance along each axis to the nearest centre, and to the nearest centre beyond the grid.
        let nearest = [0, 1, 2].map(|axis| {
            let cells = self.lattice.dims()[axis] as i64;
            let lattice_axis = self.lattice.axis(axis);
            let point = &self.drain.point[axis];
            let from_first = (point - &lattice_axis.half_plane(0)) / lattice_axis.spacing();
            // Beyond this range the point is too far from the part in any case.
            let far = 2 * MAX_DIM as i64;
            let cell = from_first.floor().map_or(far, |cell| cell.clamp(-far, far));
            let distance = |cell: i64| {
                let to = lattice_axis.half_plane(2 * cell + 1) - point;
                &to * &to
            };
            let beyond = [cell.min(-1), cell.max(cells)].map(distance);
            let [low, high] = beyond;
            [distance(cell), low.min(high)]
        });
        (0..3).any(|axis| {
            let sum = (0..3).fold(Rational::ZERO, |sum, other| {
                &sum + &nearest[other][usize::from(other == axis)]
            });
            sum <= self.radius_squared
        })
    }
}

/// Returns the walls on both sides of a cell along an axis.
fn walls(lattice: &Lattice, axis: usize, cell: usize) -> [Rational; 2] {
    [cell, cell + 1].map(|wall| lattice.axis(axis).half_plane(2 * wall as i64))
}

/// Returns the distance along an axis from a point to a cell.
fn gap(lattice: &Lattice, axis: usize, cell: usize, point: &Rational) -> Rational {
    let [low, high] = walls(lattice, axis, cell);
    (low - point).max(point - &high).max(Rational::ZERO)
}

/// Returns the distance along an axis from a point to the centre of a cell.
fn offset(lattice: &Lattice, axis: usize, cell: usize, point: &Rational) -> Rational {
    lattice.axis(axis).half_plane(2 * cell as i64 + 1) - point
}

/// Returns a range that contains the cells whose centres are between two coordinates.
fn cells_between(lattice: &Lattice, axis: usize, low: &Rational, high: &Rational) -> Range<usize> {
    let lattice_axis = lattice.axis(axis);
    let cells = lattice.dims()[axis];
    let cell_at = |coordinate: &Rational| {
        let from_first = (coordinate - &lattice_axis.half_plane(0)) / lattice_axis.spacing();
        let is_below = from_first < Rational::ZERO;
        match from_first.floor() {
            _ if is_below => 0,
            Some(cell) => usize::try_from(cell).unwrap_or(cells).min(cells),
            None => cells,
        }
    };
    let start = cell_at(low);
    let is_below_grid = *high < lattice_axis.half_plane(0);
    let end = if is_below_grid {
        start
    } else {
        (cell_at(high) + 1).min(cells)
    };
    start..end.max(start)
}

/// Returns the squared length of a vector.
fn squared(vector: &[Rational; 3]) -> Rational {
    let [x, y, z] = vector.each_ref().map(|c| c * c);
    &(&x + &y) + &z
}

/// Returns the squared distance from a point to the segment between zero and `end`, and an error bound.
fn distance_squared(point: [f64; 3], end: [f64; 3]) -> (f64, f64) {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let along = dot(point, end);
    let length = dot(end, end);
    let distance = dot(point, point);
    let found = if along <= 0.0 {
        distance
    } else if along >= length {
        let from_end = [0, 1, 2].map(|axis| point[axis] - end[axis]);
        dot(from_end, from_end)
    } else {
        distance - along * along / length
    };
    (found, ERROR * (distance + length))
}

/// Returns true if the squared distance from a point to the segment between zero and `end` is at most
/// `radius_squared`.
fn is_within(point: [&Rational; 3], end: &[Rational; 3], radius_squared: &Rational) -> bool {
    let dot = |a: [&Rational; 3], b: &[Rational; 3]| {
        let [x, y, z] = [0, 1, 2].map(|axis| a[axis] * &b[axis]);
        &(&x + &y) + &z
    };
    let along = dot(point, end);
    let length = squared(end);
    let distance = squared(&point.map(Rational::clone));
    if along <= Rational::ZERO {
        return distance <= *radius_squared;
    }
    if along >= length {
        let from_end: [_; 3] = std::array::from_fn(|axis| point[axis] - &end[axis]);
        return squared(&from_end) <= *radius_squared;
    }
    &(&distance * &length) - &(&along * &along) <= radius_squared * &length
}
