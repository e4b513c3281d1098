//! Cells in which parts of a mesh may overlap, and the triangles near these cells.

use std::ops::Range;

use super::bricks::SIDE;
use super::clip::{IndexPoint, PieceTaker, extent};
use super::cutter::PieceCutter;
use super::place::placed;
use super::rows::OddCells;
use super::union::{CellTriangle, CellUnion, crossing_on_line};
use crate::geom::Triangle;
use crate::lattice::KernelLattice;

/// Part number of a triangle that is not near another part.
pub const NO_PART: u32 = u32::MAX;

/// Flag in the part number of a part that overlaps itself.
pub const OVERLAPS_ITSELF: u32 = 1 << 31;

/// Returns the x coordinate at which a line along x passes through a triangle, and the increase of the
/// winding number at this point. The line has these y and z coordinates. `None` if it does not pass through
/// the triangle. Two triangles that share an edge have the same points on it.
pub fn crossing_along_x(triangle: &[[f64; 3]; 3], [y, z]: [f64; 2]) -> Option<(f64, i32)> {
    crossing_on_line(triangle, [2, 1, 0], [z, y])
}

/// Number of cells whose triangles are in memory at the same time.
pub(super) const CELLS_AT_A_TIME: usize = 1 << 10;

/// Cells in which parts overlap, so that their shares are those of the union.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UnitedCells {
    /// Number of these cells.
    pub cells: u64,
    /// The first of these cells.
    pub first: Option<[usize; 3]>,
    /// Error bound of the shares, without the error of rounding to floats.
    pub error: f64,
    /// Number of cells whose union could not be computed. Their shares follow from their means.
    pub unknown: u64,
}

impl UnitedCells {
    /// Adds the result for later cells.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.first = self.first.or(other.first);
        self.error = self.error.max(other.error);
        self.unknown += other.unknown;
    }

    /// Sets the value of a cell, given its mean winding number and the result `known` for it. A cell in an
    /// inverted part is counted as odd, even if its mean is only slightly below 0.
    pub(super) fn set(
        &mut self,
        cell: [usize; 3],
        known: CellUnion,
        mean: f64,
        odd: &mut OddCells,
        value: &mut f32,
    ) {
        match known {
            CellUnion::Simple => {}
            CellUnion::Inverted => {
                *value = (-mean).min(1.0) as f32;
                odd.add_odd(mean, 1, cell);
            }
            CellUnion::Share { share, error } => {
                *value = share as f32;
                self.add(Self {
                    cells: 1,
                    first: Some(cell),
                    error,
                    unknown: 0,
                });
            }
            CellUnion::Unknown => self.unknown += 1,
        }
    }
}

/// Part number of a brick that may contain several parts, or a part that overlaps itself.
const SEVERAL: u32 = NO_PART - 1;

/// Bricks of some layers, with the number of the part in each brick.
struct PartBricks {
    /// Number of bricks along x.
    count: usize,
    parts: Vec<u32>,
}

impl PartBricks {
    /// Creates the bricks of a lattice with this number of cells along x and along y.
    fn new(cells: [i64; 2]) -> Self {
        let [x, y] = cells.map(|n| (n as usize).div_ceil(SIDE));
        Self {
            count: x,
            parts: vec![NO_PART; x * y],
        }
    }

    /// Returns the bricks within the bounds of a triangle.
    fn near(&self, corners: &[IndexPoint; 3]) -> impl Iterator<Item = usize> + use<> {
        let count = self.count;
        let all = [count, self.parts.len() / count.max(1)];
        let [x, y] = [0, 1].map(|axis| {
            let [low, high] = extent(corners, axis);
            // A triangle on a wall counts for the bricks on both sides.
            let brick = |x: f64| x.clamp(0.0, f64::from(u32::MAX)) as usize / SIDE;
            brick(low.next_down())..(brick(high) + 1).min(all[axis])
        });
        y.flat_map(move |y| x.clone().map(move |x| y * count + x))
    }

    fn add(&mut self, corners: &[IndexPoint; 3], part: u32) {
        for brick in self.near(corners) {
            let known = &mut self.parts[brick];
            let is_other = *known != NO_PART && *known != part;
            *known = if is_other || part & OVERLAPS_ITSELF != 0 {
                SEVERAL
            } else {
                part
            };
        }
    }

    fn has_several(&self, corners: &[IndexPoint; 3]) -> bool {
        self.near(corners).any(|brick| self.parts[brick] == SEVERAL)
    }

    fn has_several_in(&self, [i, j]: [i64; 2]) -> bool {
        self.parts[j as usize / SIDE * self.count + i as usize / SIDE] == SEVERAL
    }
}

/// Receiver of pieces. It records the cells that contain triangles, and the parts of these triangles.
struct CellsOfParts {
    part: u32,
    cells: [i64; 2],
    /// Part of each brick. Only cells in bricks with several parts are recorded.
    bricks: PartBricks,
    /// Recorded cells, each as k, j, i and the part.
    found: Vec<[u32; 4]>,
}

impl PieceTaker for CellsOfParts {
    fn add(&mut self, [i, j, k]: [i64; 3], _: &[IndexPoint], _: [[f64; 2]; 3]) {
        let is_there = (0..self.cells[0]).contains(&i) && (0..self.cells[1]).contains(&j);
        if is_there && self.bricks.has_several_in([i, j]) {
            self.found.push([k as u32, j as u32, i as u32, self.part]);
            if self.found.len() == self.found.capacity() {
                self.merge();
                // The list is enlarged if it stays nearly full. Otherwise it would be merged again and again.
                if self.found.len() > self.found.capacity() / 2 {
                    self.found.reserve(self.found.capacity());
                }
            }
        }
    }
}

impl CellsOfParts {
    /// Removes duplicate entries.
    fn merge(&mut self) {
        self.found.sort_unstable();
        self.found.dedup();
    }
}

/// Returns the cells of some layers that contain triangles of several parts, or of one part that overlaps
/// itself. Each cell is given as k, j and i.
pub(super) fn shared_cells(
    frame: &KernelLattice,
    layers: Range<usize>,
    (triangles, lists): (&[Triangle], [&[u32]; 2]),
    parts: &[u32],
) -> Vec<[u32; 3]> {
    let cells = [0, 1].map(|a| frame.axes[a].cells);
    let mut bricks = PartBricks::new(cells);
    let mut numbers = vec![];
    for n in lists.into_iter().flatten() {
        let n = *n as usize;
        if parts[n] != NO_PART {
            bricks.add(&placed(frame, &triangles[n]), parts[n]);
            numbers.push(n);
        }
    }
    let mut cutter = PieceCutter::new(true);
    cutter.layers = layers.start as i64..layers.end as i64;
    let mut cells = CellsOfParts {
        part: NO_PART,
        cells,
        bricks,
        found: vec![],
    };
    for n in numbers {
        if cells.bricks.has_several(&placed(frame, &triangles[n])) {
            cells.part = parts[n];
            cutter.add(frame, &triangles[n], &mut cells);
        }
    }
    cells.merge();
    let mut shared = vec![];
    for group in cells.found.chunk_by(|p, q| p[..3] == q[..3]) {
        let [k, j, i, part] = group[0];
        if group.len() > 1 || part & OVERLAPS_ITSELF != 0 {
            shared.push([k, j, i]);
        }
    }
    shared
}

/// Calls `take` with each of some cells and the triangles near it. The cells must be sorted by k, j and i.
pub(super) fn each_union(
    frame: &KernelLattice,
    (triangles, lists): (&[Triangle], [&[u32]; 2]),
    cells: &[[u32; 3]],
    mut take: impl FnMut([u32; 3], &[CellTriangle]),
) {
    let mut near: Vec<(u32, u32)> = vec![];
    for n in lists.into_iter().flatten() {
        let corners = placed(frame, &triangles[*n as usize]);
        let ranges = [0, 1, 2].map(|axis| cells_near(extent(&corners, axis)));
        if ranges.iter().any(|[_, high]| *high < 0) {
            continue;
        }
        let [[x_low, x_high], [y_low, y_high], [z_low, z_high]] =
            ranges.map(|[low, high]| [low.max(0) as u32, high as u32]);
        let mut rest = starting_at(cells, [z_low, 0, 0]);
        // Visits the rows that contain any of these cells.
        while let Some(&[k, j, _]) = rest.first()
            && k <= z_high
        {
            if j < y_low {
                rest = starting_at(rest, [k, y_low, 0]);
                continue;
            }
            if j > y_high {
                rest = starting_at(rest, [k + 1, 0, 0]);
                continue;
            }
            rest = starting_at(rest, [k, j, x_low]);
            while let Some(cell) = rest.first()
                && cell[..2] == [k, j]
                && cell[2] <= x_high
            {
                if meets(&corners, cell) {
                    near.push(((cells.len() - rest.len()) as u32, *n));
                }
                rest = &rest[1..];
            }
            rest = starting_at(rest, [k, j + 1, 0]);
        }
    }
    near.sort_unstable();
    let mut facets: Vec<CellTriangle> = vec![];
    for group in near.chunk_by(|p, q| p.0 == q.0) {
        let cell = cells[group[0].0 as usize];
        let origin = low_corner(&cell);
        facets.clear();
        facets.extend(group.iter().map(|(_, n)| {
            placed(frame, &triangles[*n as usize])
                .map(|corner| [0, 1, 2].map(|a| corner[a] - origin[a]))
        }));
        // The triangles are sorted, so that the order of the mesh does not change the result.
        facets.sort_unstable_by(|f, g| f.partial_cmp(g).unwrap_or(std::cmp::Ordering::Equal));
        take(cell, &facets);
    }
}

/// Returns the lowest and the highest cell near an extent along an axis. If the extent starts on a wall, the
/// cell below it is included.
fn cells_near([low, high]: [f64; 2]) -> [i64; 2] {
    [low.next_down(), high].map(|x| x.clamp(-1.0, f64::from(u32::MAX)).floor() as i64)
}

/// Returns the part of the sorted cells that starts at cell `first`.
fn starting_at(cells: &[[u32; 3]], first: [u32; 3]) -> &[[u32; 3]] {
    &cells[cells.partition_point(|cell| *cell < first)..]
}

/// Returns the low corner of the cell with these k, j and i.
fn low_corner([k, j, i]: &[u32; 3]) -> IndexPoint {
    [i, j, k].map(|n| f64::from(*n))
}

/// Returns `true` if the plane of a triangle may meet a cell.
fn meets(corners: &[IndexPoint; 3], cell: &[u32; 3]) -> bool {
    let low = low_corner(cell);
    let [p, q, r] = corners.map(|corner| [0, 1, 2].map(|a| corner[a] - low[a] - 0.5));
    let [d, e] = [q, r].map(|corner| [0, 1, 2].map(|a| corner[a] - p[a]));
    let n = [
        d[1] * e[2] - d[2] * e[1],
        d[2] * e[0] - d[0] * e[2],
        d[0] * e[1] - d[1] * e[0],
    ];
    let far = (n[0] * p[0] + n[1] * p[1] + n[2] * p[2]).abs();
    let size = [p, q, r]
        .as_flattened()
        .iter()
        .fold(0.0_f64, |most, c| most.max(c.abs()));
    // With u = 2^-53 and s the size, the error of n is at most 32 u s², and the error of the distance times n
    // is at most 168 u s³.
    far <= (n[0].abs() + n[1].abs() + n[2].abs()) / 2.0 + 2.0_f64.powi(-44) * size * size * size
}
