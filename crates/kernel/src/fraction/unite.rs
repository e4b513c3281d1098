//! The cells in which parts of a mesh may overlap, with the triangles near them.

use std::ops::Range;

use super::bricks::SIDE;
use super::clip::{IndexPoint, PieceTaker, extent};
use super::cutter::PieceCutter;
use super::place::placed;
use super::rows::OddCells;
use super::union::{CellTriangle, CellUnion, crossing_on_line};
use crate::geom::Triangle;
use crate::lattice::KernelLattice;

/// The part of a triangle that is near no other part.
pub const NO_PART: u32 = u32::MAX;

/// Added to the number of a part that overlaps itself.
pub const OVERLAPS_ITSELF: u32 = 1 << 31;

/// Where a line along x at some y and z goes through a triangle, and by how much the winding number is greater beyond.
/// Triangles that share an edge share its points.
pub fn crossing_along_x(triangle: &[[f64; 3]; 3], [y, z]: [f64; 2]) -> Option<(f64, i32)> {
    crossing_on_line(triangle, [2, 1, 0], [z, y])
}

/// Cells whose triangles are in memory together.
pub(super) const CELLS_AT_A_TIME: usize = 1 << 10;

/// The cells whose shares are those of the union of parts that overlap in them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UnitedCells {
    /// How many.
    pub cells: u64,
    /// The first of them.
    pub first: Option<[usize; 3]>,
    /// The error bound of their shares, without the rounding to a float.
    pub error: f64,
    /// The cells in which the union is not known: their shares are those of means.
    pub unknown: u64,
}

impl UnitedCells {
    /// Adds cells that follow.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.first = self.first.or(other.first);
        self.error = self.error.max(other.error);
        self.unknown += other.unknown;
    }

    /// Sets the value of a cell of this mean to what is known about it. A cell that is found to be in an inverted part,
    /// though its mean is hardly below 0, is odd.
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

/// The part of bricks in which several may be, or one that overlaps itself.
const SEVERAL: u32 = NO_PART - 1;

/// The bricks of some layers, by the part that is in them.
struct PartBricks {
    /// Bricks along x.
    count: usize,
    parts: Vec<u32>,
}

impl PartBricks {
    /// Of a lattice with so many cells along x and y.
    fn new(cells: [i64; 2]) -> Self {
        let [x, y] = cells.map(|n| (n as usize).div_ceil(SIDE));
        Self {
            count: x,
            parts: vec![NO_PART; x * y],
        }
    }

    /// The bricks within the extents of a triangle.
    fn near(&self, corners: &[IndexPoint; 3]) -> impl Iterator<Item = usize> + use<> {
        let count = self.count;
        let all = [count, self.parts.len() / count.max(1)];
        let [x, y] = [0, 1].map(|axis| {
            let [low, high] = extent(corners, axis);
            // Of a triangle on a wall, the bricks on both sides.
            let brick = |x: f64| x.clamp(0.0, f64::from(u32::MAX)) as usize / SIDE;
            brick(low.next_down())..(brick(high) + 1).min(all[axis])
        });
        y.flat_map(move |y| x.clone().map(move |x| y * count + x))
    }

    fn add(&mut self, corners: &[IndexPoint; 3], part: u32) {
        for brick in self.near(corners) {
            let its = &mut self.parts[brick];
            let is_other = *its != NO_PART && *its != part;
            *its = if is_other || part & OVERLAPS_ITSELF != 0 {
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

/// The cells that triangles are in, with the parts of these.
struct CellsOfParts {
    part: u32,
    cells: [i64; 2],
    /// Only cells of bricks with several parts count.
    bricks: PartBricks,
    /// k, j and i of a cell, and the part.
    found: Vec<[u32; 4]>,
}

impl PieceTaker for CellsOfParts {
    fn add(&mut self, [i, j, k]: [i64; 3], _: &[IndexPoint], _: [[f64; 2]; 3]) {
        let is_there = (0..self.cells[0]).contains(&i) && (0..self.cells[1]).contains(&j);
        if is_there && self.bricks.has_several_in([i, j]) {
            self.found.push([k as u32, j as u32, i as u32, self.part]);
            if self.found.len() == self.found.capacity() {
                self.merge();
                // Else a list that is nearly full would be merged again and again.
                if self.found.len() > self.found.capacity() / 2 {
                    self.found.reserve(self.found.capacity());
                }
            }
        }
    }
}

impl CellsOfParts {
    /// Keeps each pair once.
    fn merge(&mut self) {
        self.found.sort_unstable();
        self.found.dedup();
    }
}

/// The cells of some layers, by k, j and i, in which triangles of several parts are, or of one that overlaps itself.
pub(super) fn shared_cells(
    frame: &KernelLattice,
    layers: Range<usize>,
    (triangles, lists): (&[Triangle], [&[u32]; 2]),
    parts: &[u32],
) -> Vec<[u32; 3]> {
    let cells = [0, 1].map(|a| frame.axes[a].cells);
    let mut bricks = PartBricks::new(cells);
    let numbers = || {
        lists
            .into_iter()
            .flatten()
            .map(|n| *n as usize)
            .filter(|n| parts[*n] != NO_PART)
    };
    numbers().for_each(|n| bricks.add(&placed(frame, &triangles[n]), parts[n]));
    let mut cutter = PieceCutter::new(true);
    cutter.layers = layers.start as i64..layers.end as i64;
    let mut cells = CellsOfParts {
        part: NO_PART,
        cells,
        bricks,
        found: vec![],
    };
    for n in numbers() {
        if cells.bricks.has_several(&placed(frame, &triangles[n])) {
            cells.part = parts[n];
            cutter.add(frame, &triangles[n], &mut cells);
        }
    }
    cells.merge();
    let by_cell = cells.found.chunk_by(|p, q| p[..3] == q[..3]);
    let is_shared = |group: &&[[u32; 4]]| group.len() > 1 || group[0][3] & OVERLAPS_ITSELF != 0;
    by_cell
        .filter(is_shared)
        .map(|group| [group[0][0], group[0][1], group[0][2]])
        .collect()
}

/// Hands on the triangles near each of some cells, which are in the order of k, j and i.
pub(super) fn each_union(
    frame: &KernelLattice,
    (triangles, lists): (&[Triangle], [&[u32]; 2]),
    cells: &[[u32; 3]],
    mut take: impl FnMut([u32; 3], &[CellTriangle]),
) {
    let mut near: Vec<(u32, u32)> = vec![];
    for n in lists.into_iter().flatten() {
        let corners = placed(frame, &triangles[*n as usize]);
        let extents = [0, 1, 2].map(|axis| extent(&corners, axis));
        // Of a triangle on a wall, the cells on both sides.
        let [x, y, z] = extents.map(|[low, high]| {
            let cells = |x: f64| x.clamp(-1.0, f64::from(u32::MAX)).floor() as i64;
            cells(low.next_down())..=cells(high)
        });
        let clip = |range: &std::ops::RangeInclusive<i64>| {
            (*range.start()).max(0) as u32..=(*range.end()).max(-1) as u32
        };
        if [&x, &y, &z].iter().any(|range| *range.end() < 0) {
            continue;
        }
        let [x, y, z] = [clip(&x), clip(&y), clip(&z)];
        let from = cells.partition_point(|cell| cell[0] < *z.start());
        let mut rest = &cells[from..];
        // Row by row, over those that have any of the cells.
        while let Some(&[k, j, _]) = rest.first().filter(|cell| cell[0] <= *z.end()) {
            let skip = |rest: &[[u32; 3]], to: [u32; 3]| rest.partition_point(|cell| *cell < to);
            if j < *y.start() {
                rest = &rest[skip(rest, [k, *y.start(), 0])..];
                continue;
            }
            if j > *y.end() {
                rest = &rest[skip(rest, [k + 1, 0, 0])..];
                continue;
            }
            rest = &rest[skip(rest, [k, j, *x.start()])..];
            while let Some(cell) = rest
                .first()
                .filter(|cell| cell[0] == k && cell[1] == j && cell[2] <= *x.end())
            {
                if meets(&corners, cell) {
                    near.push(((cells.len() - rest.len()) as u32, *n));
                }
                rest = &rest[1..];
            }
            rest = &rest[skip(rest, [k, j + 1, 0])..];
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
        // In an order of their own, so that no other one changes a bit.
        facets.sort_unstable_by(|f, g| f.partial_cmp(g).unwrap_or(std::cmp::Ordering::Equal));
        take(cell, &facets);
    }
}

/// The low corner of the cell of this k, j and i.
fn low_corner([k, j, i]: &[u32; 3]) -> IndexPoint {
    [i, j, k].map(|n| f64::from(*n))
}

/// Whether the plane of a triangle may meet a cell.
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
    // With u = 2^-53, n is off by at most 32 u s², and the distance times n by 168 u s³.
    far <= (n[0].abs() + n[1].abs() + n[2].abs()) / 2.0 + 2.0_f64.powi(-44) * size * size * size
}
