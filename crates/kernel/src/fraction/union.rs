//! Share of one cell that is inside a mesh whose parts overlap in the cell.
//!
//! The cell is cut by planes across z, and each plane by lines at constant y. Along a line, the mesh winds
//! around intervals of x. Winding numbers are counted from a start point in the cell. The winding number of
//! the start point itself follows from the mean of the cell, which is known. Consider the corners of the
//! overlapping parts, of their intersections and of the walls. Between these, the inside area in a plane is
//! quadratic in z, and the inside length on a line is linear in y. Two planes and one line in each interval
//! therefore give an integral that is exact up to rounding. A cell with many triangles is first divided
//! across y and z.
//!
//! Error bounds decide whether two triangles may cross and whether a point may be in a triangle, so that no
//! crossing is missed (docs/internals/error-bounds.md).

use super::clip::{IndexPoint, Polygon, extent};
use super::units::{NEAR, UNITS};
use crate::lattice::U;

/// Triangle near a cell, relative to the low corner of the cell.
pub(super) type CellTriangle = [IndexPoint; 3];

/// Maximum number of triangles in a column, and maximum number of pairs of them that may cross. Columns with
/// more are divided.
const MOST_FACETS: usize = 40;
const MOST_PAIRS: usize = 40;

/// Maximum number of pairs in a column that cannot be divided further.
const MOST_PAIRS_AT_LAST: usize = 400;

/// Maximum number of divisions. After n divisions, a column is 2^-n of a cell wide. A column that would have
/// to be divided further is represented by the line in its middle.
const MOST_DIVISIONS: u32 = 5;

/// Start points for the counting of winding numbers. If rounding near the mesh has made a count uncertain,
/// the next start point is used. The coordinates are fractional parts of roots of primes and do not satisfy a
/// linear equation with rational coefficients, so facets with short coordinates do not pass through these
/// points.
const STARTS: [IndexPoint; 3] = [
    [
        0.414_213_562_373_095,
        0.732_050_807_568_877,
        0.236_067_977_499_790,
    ],
    [
        0.645_751_311_064_591,
        0.316_624_790_355_400,
        0.605_551_275_463_989,
    ],
    [
        0.123_105_625_617_661,
        0.358_898_943_540_674,
        0.795_831_523_312_719,
    ],
];

/// Largest difference that rounding explains between the mean of a cell and the mean computed from the lines.
const MOST_OFF: f64 = 1.0 / (1_u64 << 25) as f64;

/// Largest volume that may be a rounding error.
const LEAST: f64 = 1.0 / (1_u64 << 40) as f64;

/// Rounding error of the volumes of a cell, for each facet and for coordinates up to 1. It is 2^-45.
const ROUNDING: f64 = 1.0 / (1_u64 << 45) as f64;

/// A crossing that is closer than this to the end of a line may be on either side of the end.
const CLOSE: f64 = 1.0 / (1_u64 << 30) as f64;

/// Result for a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CellUnion {
    /// All winding numbers in the cell are n or n + 1, so the mean is sufficient.
    Simple,
    /// All winding numbers in the cell are -1 or 0, so the absolute value of the mean is the share.
    Inverted,
    /// Share of the cell whose winding number is not zero, and the error bound of this share.
    Share { share: f64, error: f64 },
    /// Rounding has made all counts uncertain.
    Unknown,
}

/// Triangle near a cell, with its plane and the number of its copies.
struct Facet {
    corners: CellTriangle,
    plane: FacetPlane,
    count: i32,
}

impl Facet {
    fn new(corners: CellTriangle, count: i32) -> Self {
        Self {
            plane: plane(&corners),
            corners,
            count,
        }
    }

    /// Returns the axis that is most nearly perpendicular to the facet's plane.
    fn last_axis(&self) -> usize {
        let normal = self.plane.normal.map(f64::abs);
        if normal[2] >= normal[0] && normal[2] >= normal[1] {
            2
        } else if normal[1] >= normal[0] {
            1
        } else {
            0
        }
    }

    /// Groups equal triangles into facets. Equal triangles must be consecutive.
    fn each(triangles: &[CellTriangle]) -> Vec<Self> {
        let mut facets = vec![];
        for group in triangles.chunk_by(|f, g| f == g) {
            facets.push(Self::new(group[0], group.len() as i32));
        }
        facets
    }
}

/// Computes the union in a cell from its mean winding number and from all triangles near it, in which equal
/// ones must be consecutive. `is_shared` states that the cell has several parts, or one that is known to
/// overlap itself. A cell that is not shared is simple if its part does not cross itself. A shared cell
/// without crossings is also simple if all facets are between the same two winding numbers. If the mean is so
/// little below 0 that this may be a rounding error, the winding numbers are always computed, because the
/// cell may be in an inverted part.
pub(super) fn union_in_cell(triangles: &[CellTriangle], mean: f64, is_shared: bool) -> CellUnion {
    let all = Facet::each(triangles);
    let is_doubtful = mean < -(NEAR as f64 / UNITS) && mean > -1e-6;
    if !is_doubtful && are_apart(&all) && (!is_shared || have_two_windings(&all)) {
        return CellUnion::Simple;
    }
    let coordinates = triangles.as_flattened().as_flattened();
    let largest = coordinates
        .iter()
        .fold(1.0, |most: f64, c| most.max(c.abs()));
    let rounding = ROUNDING * largest * all.len() as f64;
    for start in STARTS {
        let mut sweep = CellSweep {
            all: &all,
            start,
            found: Volumes::new(),
            lists: SweepLists::default(),
        };
        sweep.column(&(0..all.len()).collect::<Vec<_>>(), [[0.0, 1.0]; 2], 0);
        if let Some(found) = sweep.found.union(mean, rounding) {
            return found;
        }
    }
    CellUnion::Unknown
}

/// Returns `true` if a closed surface may wind around some points more than once, or around some points once
/// in each direction. The coordinates of its triangles must be between 0 and 1. If there are no crossings,
/// each region is next to a facet, and each facet has one winding number on each side.
pub fn may_overlap_itself(mut triangles: Vec<[[f64; 3]; 3]>) -> bool {
    for triangle in &mut triangles {
        // Rotates the least corner to the front, so that copies of a triangle compare as equal.
        let mut least = 0;
        for n in 1..3 {
            if triangle[n] < triangle[least] {
                least = n;
            }
        }
        triangle.rotate_left(least);
    }
    triangles.sort_unstable_by(|f, g| f.partial_cmp(g).unwrap_or(std::cmp::Ordering::Equal));
    let all = Facet::each(&triangles);
    if !are_apart(&all) {
        return true;
    }
    let mut least = 0;
    let mut most = 0;
    for n in 0..all.len() {
        let corners = &all[n].corners;
        let point = [0, 1, 2].map(|a| (corners[0][a] + corners[1][a] + corners[2][a]) / 3.0);
        let last = all[n].last_axis();
        let axes = [(last + 1) % 3, (last + 2) % 3, last];
        // The line starts outside of the bounds, where the winding number is zero.
        let mut before = 0;
        let mut own = None;
        for (other, facet) in all.iter().enumerate() {
            let Some((at, sign)) =
                crossing_on_line(&facet.corners, axes, [point[axes[0]], point[axes[1]]])
            else {
                continue;
            };
            if other == n {
                own = Some(sign);
            } else if (at - point[last]).abs() < CLOSE {
                return true;
            } else if at < point[last] {
                before += sign;
            }
        }
        // If a facet is nearly a line, its sides are uncertain.
        let Some(own) = own else { return true };
        least = least.min(before).min(before + own);
        most = most.max(before).max(before + own);
    }
    most - least > 1
}

/// Returns `true` if surely no two facets cross, and each occurs only once.
fn are_apart(all: &[Facet]) -> bool {
    for (n, facet) in all.iter().enumerate() {
        if facet.count > 1 || all[..n].iter().any(|other| may_cross(other, facet)) {
            return false;
        }
    }
    true
}

/// Returns `true` if all facets have the same two winding numbers on their sides in a cell. The facets must
/// not cross. Every region of the cell is then bounded by facets, unless it is the whole cell.
fn have_two_windings(all: &[Facet]) -> bool {
    let mut least = 0;
    let mut most = 0;
    let mut part = Polygon::empty();
    let mut whole = Polygon::empty();
    for (n, facet) in all.iter().enumerate() {
        whole.set(&facet.corners);
        for axis in 0..3 {
            part.set_band(&whole, axis, [0.0, 1.0]);
            std::mem::swap(&mut part, &mut whole);
        }
        let corners = whole.corners();
        if corners.len() < 3 {
            continue;
        }
        let middle =
            [0, 1, 2].map(|a| corners.iter().map(|p| p[a]).sum::<f64>() / corners.len() as f64);
        // If rounding may have changed a count, the result is decided from volumes instead.
        let Some(sides) = windings_on_both_sides(all, n, &middle) else {
            return false;
        };
        for side in sides {
            least = least.min(side);
            most = most.max(side);
        }
    }
    most - least <= 1
}

/// Returns the winding numbers on both sides of a facet at one of its points, relative to a start point. They
/// are counted along a path of three lines. The last of these passes through the facet. `None` if rounding
/// may have changed a count.
fn windings_on_both_sides(all: &[Facet], n: usize, point: &IndexPoint) -> Option<[i32; 2]> {
    let start = STARTS[0];
    let last = all[n].last_axis();
    let [first, second] = [(last + 1) % 3, (last + 2) % 3];
    let along = |axes: [usize; 3], at: [f64; 2]| {
        surely_between(&line(all, axes, at), start[axes[2]], point[axes[2]])
    };
    let mut before = along([second, last, first], [start[second], start[last]])?
        + along([first, last, second], [point[first], start[last]])?;
    let at = [point[first], point[second]];
    let own = line(&all[n..=n], [first, second, last], at).pop()?.1;
    for others in [&all[..n], &all[n + 1..]] {
        before += surely_between(
            &line(others, [first, second, last], at),
            start[last],
            point[last],
        )?;
    }
    Some([
        before,
        before + if start[last] < point[last] { own } else { -own },
    ])
}

/// Largest absolute winding number, relative to the start point, that has its own sum of volume. Volumes with
/// larger winding numbers are added to the sum for `WINDINGS` or `-WINDINGS`.
const WINDINGS: i32 = 31;

/// Volume with each winding number, relative to the winding number of the start point.
struct Volumes {
    of: [f64; 2 * WINDINGS as usize + 1],
    /// Mean of the winding numbers relative to the start point.
    mean: f64,
    /// Total cross-section of the columns that are represented by a single line each.
    sampled: f64,
}

impl Volumes {
    fn new() -> Self {
        Self {
            of: [0.0; 2 * WINDINGS as usize + 1],
            mean: 0.0,
            sampled: 0.0,
        }
    }

    fn add(&mut self, winding: i32, volume: f64) {
        self.of[(winding.clamp(-WINDINGS, WINDINGS) + WINDINGS) as usize] += volume;
        self.mean += f64::from(winding) * volume;
    }

    /// Returns the result for a cell with this mean. `None` if the mean does not agree with the volumes.
    fn union(&self, mean: f64, rounding: f64) -> Option<CellUnion> {
        let start = (mean - self.mean).round();
        let off = (mean - self.mean - start).abs();
        if off > MOST_OFF + self.sampled || start.abs() >= f64::from(WINDINGS) {
            return None;
        }
        let start = start as i32;
        let is_there = |volume: &f64| *volume > LEAST;
        let first = self.of.iter().position(is_there).unwrap_or(0);
        let last = self.of.iter().rposition(is_there).unwrap_or(0);
        if last <= first + 1 && self.sampled == 0.0 {
            let least = first as i32 - WINDINGS + start;
            return Some(if least == -1 && mean < 0.0 {
                CellUnion::Inverted
            } else {
                CellUnion::Simple
            });
        }
        let outside = self.of[(WINDINGS - start) as usize];
        // If a count was wrong in a part of the cell, it has changed the mean by the volume of that part, so
        // this difference bounds the error.
        let error = off + self.sampled + rounding;
        Some(CellUnion::Share {
            share: (1.0 - outside).clamp(0.0, 1.0),
            error,
        })
    }
}

/// Position of a crossing of a line with the mesh, and the increase of the winding number at the crossing.
pub(super) type WindingStep = (f64, i32);

/// Intersection of a facet with a plane, as a segment. It starts where the facet's boundary rises through the
/// plane, and ends where it falls.
type Section = [IndexPoint; 2];

/// Buffers that are reused for all columns.
#[derive(Default)]
struct SweepLists {
    /// For each facet that meets the plane: its number, the number of its copies, and its section.
    sections: Vec<(usize, i32, Section)>,
    rows: Vec<f64>,
    across: Vec<WindingStep>,
    along: Vec<WindingStep>,
}

struct CellSweep<'a> {
    all: &'a [Facet],
    /// Start point for the counting of winding numbers.
    start: IndexPoint,
    found: Volumes,
    lists: SweepLists,
}

impl CellSweep<'_> {
    /// Adds the volumes of a column between two y coordinates and two z coordinates. `facets` are the numbers
    /// of the facets in the column, and `divisions` is the number of divisions that led to it.
    fn column(&mut self, facets: &[usize], [y, z]: [[f64; 2]; 2], divisions: u32) {
        let pairs = (facets.len() <= MOST_FACETS).then(|| self.pairs(facets, [y, z]));
        let most = if divisions < MOST_DIVISIONS {
            MOST_PAIRS
        } else {
            MOST_PAIRS_AT_LAST
        };
        let is_too_much = pairs.as_ref().is_none_or(|pairs| pairs.len() > most);
        if is_too_much && divisions < MOST_DIVISIONS {
            let halves = |[low, high]: [f64; 2]| {
                let middle = f64::midpoint(low, high);
                [[low, middle], [middle, high]]
            };
            for z in halves(z) {
                for y in halves(y) {
                    let meets = |n: &usize| {
                        [(1, y), (2, z)].into_iter().all(|(axis, [low, high])| {
                            let [from, to] = extent(&self.all[*n].corners, axis);
                            from <= high && to >= low
                        })
                    };
                    let some: Vec<_> = facets.iter().copied().filter(meets).collect();
                    self.column(&some, [y, z], divisions + 1);
                }
            }
            return;
        }
        let [x0, y0, z0] = self.start;
        let within = y[0] + (y[1] - y[0]) * y0;
        let moved = between(&line(self.all, [2, 0, 1], [z0, x0]), y0, within);
        let up = line(self.all, [1, 0, 2], [within, x0]);
        if is_too_much {
            self.found.sampled += (y[1] - y[0]) * (z[1] - z[0]);
            let middle = f64::midpoint(z[0], z[1]);
            self.cut(facets, middle);
            let winding = moved + between(&up, z0, middle);
            self.row(
                f64::midpoint(y[0], y[1]),
                within,
                winding,
                (y[1] - y[0]) * (z[1] - z[0]),
            );
            return;
        }
        let pairs = pairs.unwrap_or_default();
        let levels = self.levels(facets, &pairs, [y, z]);
        for level in levels.windows(2) {
            let half = (level[1] - level[0]) / 2.0;
            let middle = f64::midpoint(level[0], level[1]);
            // The two points of Gauss's quadrature rule, at 1/√3 of half the height from the middle.
            for z in [-half, half].map(|side| middle + side * 0.577_350_269_189_625_8) {
                self.cut(facets, z);
                self.plane(&pairs, y, within, moved + between(&up, z0, z), half);
            }
        }
    }

    /// Computes the sections of the facets in the plane at height `z`.
    fn cut(&mut self, facets: &[usize], z: f64) {
        let sections = &mut self.lists.sections;
        sections.clear();
        sections.extend(facets.iter().filter_map(|n| {
            let facet = &self.all[*n];
            Some((*n, facet.count, section(&facet.corners, 2, z)?))
        }));
    }

    /// Adds the volumes in the plane of the sections between two y coordinates, for a layer of this
    /// thickness. `winding` is the winding number at the start of the column in this plane, at the y
    /// coordinate `within`.
    fn plane(
        &mut self,
        pairs: &[[usize; 2]],
        y: [f64; 2],
        within: f64,
        winding: i32,
        thickness: f64,
    ) {
        let mut rows = std::mem::take(&mut self.lists.rows);
        rows.clear();
        rows.extend(y);
        let mut add = |row: f64| {
            if y[0] < row && row < y[1] {
                rows.push(row);
            }
        };
        for (.., [p, q]) in &self.lists.sections {
            add(p[1]);
            add(q[1]);
            for wall in [0.0, 1.0] {
                if (p[0] < wall) != (q[0] < wall) {
                    add(crossing([p, q], 0, wall, 1).0);
                }
            }
        }
        let find = |n: usize| {
            self.lists
                .sections
                .binary_search_by_key(&n, |(facet, ..)| *facet)
                .ok()
        };
        for [m, n] in pairs {
            if let (Some(m), Some(n)) = (find(*m), find(*n)) {
                meeting(&self.lists.sections[m].2, &self.lists.sections[n].2)
                    .into_iter()
                    .for_each(&mut add);
            }
        }
        rows.sort_unstable_by(f64::total_cmp);
        for pair in rows.windows(2).filter(|pair| pair[0] < pair[1]) {
            let row = f64::midpoint(pair[0], pair[1]);
            self.row(row, within, winding, (pair[1] - pair[0]) * thickness);
        }
        self.lists.rows = rows;
    }

    /// Adds the volumes along a line at `y` in the plane of the sections. `area` is the cross-section that
    /// the line represents.
    fn row(&mut self, y: f64, within: f64, winding: i32, area: f64) {
        let SweepLists {
            sections,
            across,
            along,
            ..
        } = &mut self.lists;
        let [x0, ..] = self.start;
        across.clear();
        along.clear();
        for (_, count, [p, q]) in &*sections {
            if (p[0] < x0) != (q[0] < x0) {
                let (y, sign) = crossing([p, q], 0, x0, 1);
                across.push((y, -sign * count));
            }
            if (p[1] < y) != (q[1] < y) {
                let (x, sign) = crossing([p, q], 1, y, 0);
                along.push((x, sign * count));
            }
        }
        along.sort_unstable_by(|p, q| p.0.total_cmp(&q.0));
        let before: i32 = along
            .iter()
            .filter(|(x, _)| *x < x0)
            .map(|(_, sign)| sign)
            .sum();
        let mut winding = winding + between(across, within, y) - before;
        let mut from = 0.0;
        for (x, sign) in &*along {
            let to = x.clamp(0.0, 1.0);
            self.found.add(winding, (to - from) * area);
            winding += sign;
            from = to;
        }
        self.found.add(winding, (1.0 - from) * area);
    }

    /// Returns the pairs of facets in a column that may cross.
    fn pairs(&self, facets: &[usize], [y, z]: [[f64; 2]; 2]) -> Vec<[usize; 2]> {
        let boxes: Vec<_> = facets
            .iter()
            .map(|n| clipped(&self.all[*n].corners, [y, z]))
            .collect();
        let mut pairs = vec![];
        for (at, m) in facets.iter().enumerate() {
            for (other, n) in facets.iter().enumerate().skip(at + 1) {
                let meet = (0..3).all(|a| {
                    boxes[at][a][0].max(boxes[other][a][0])
                        <= boxes[at][a][1].min(boxes[other][a][1])
                });
                if meet && may_cross(&self.all[*m], &self.all[*n]) {
                    pairs.push([*m, *n]);
                }
            }
        }
        pairs
    }

    /// Returns heights such that the areas in planes are quadratic between consecutive heights. These are the
    /// heights of corners of facets, of intersections of facets, of crossings of facets and intersections
    /// with walls, and of facets on edges of the column. Further heights do no harm.
    fn levels(&self, facets: &[usize], pairs: &[[usize; 2]], [y, z]: [[f64; 2]; 2]) -> Vec<f64> {
        let mut levels = z.to_vec();
        let mut add = |level: f64| {
            if z[0] < level && level < z[1] {
                levels.push(level);
            }
        };
        let walls = [(0, 0.0), (0, 1.0), (1, y[0]), (1, y[1])];
        for facet in facets.iter().map(|n| &self.all[*n].corners) {
            facet.iter().for_each(|corner| add(corner[2]));
            for [p, q] in edges(facet) {
                for (axis, wall) in walls {
                    if (p[axis] < wall) != (q[axis] < wall) {
                        add(crossing([p, q], axis, wall, 2).0);
                    }
                }
            }
        }
        // If rounding may have moved a point out of a box, the point counts, because additional heights do no
        // harm.
        let height_in = |planes: [&FacetPlane; 3], some: &[usize]| -> Option<f64> {
            let (point, error) = common(planes)?;
            let is_in = some.iter().all(|n| {
                let all = clipped(&self.all[*n].corners, [y, z]);
                (0..3).all(|a| all[a][0] - error[a] <= point[a] && point[a] <= all[a][1] + error[a])
            });
            is_in.then_some(point[2])
        };
        let wall_planes = walls.map(|(axis, wall)| wall_plane(axis, wall));
        for n in facets {
            for x in &wall_planes[..2] {
                for y in &wall_planes[2..] {
                    height_in([&self.all[*n].plane, x, y], &[*n])
                        .into_iter()
                        .for_each(&mut add);
                }
            }
        }
        // For each facet, the facets that it may cross, as bits of their positions in the list.
        let place = |n: &usize| facets.partition_point(|facet| facet < n);
        let mut crossed = vec![0_u64; facets.len()];
        for [m, n] in pairs {
            crossed[place(m)] |= 1 << place(n);
        }
        for [m, n] in pairs {
            let [f, g] = [m, n].map(|n| &self.all[*n]);
            for (facet, other) in [(f, g), (g, f)] {
                let base = &other.corners[0];
                for [p, q] in edges(&facet.corners) {
                    let [a, b] = [p, q].map(|point| dot(&other.plane.normal, &minus(point, base)));
                    if (a < 0.0) != (b < 0.0) {
                        add(p[2] + a / (a - b) * (q[2] - p[2]));
                    }
                }
            }
            for wall in &wall_planes {
                height_in([&f.plane, &g.plane, wall], &[*m, *n])
                    .into_iter()
                    .for_each(&mut add);
            }
            // Each set of three facets that cross each other is handled once, with their numbers in ascending
            // order.
            let mut thirds = crossed[place(m)] & crossed[place(n)];
            while thirds != 0 {
                let third = facets[thirds.trailing_zeros() as usize];
                thirds &= thirds - 1;
                let planes = [&f.plane, &g.plane, &self.all[third].plane];
                height_in(planes, &[*m, *n, third])
                    .into_iter()
                    .for_each(&mut add);
            }
        }
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

/// Returns the bounding box of a facet, limited to the cell and to the range between two y and between two z
/// coordinates.
fn clipped(facet: &CellTriangle, [y, z]: [[f64; 2]; 2]) -> [[f64; 2]; 3] {
    let walls = [[0.0, 1.0], y, z];
    [0, 1, 2].map(|a| {
        let [low, high] = extent(facet, a);
        [low.max(walls[a][0]), high.min(walls[a][1])]
    })
}

/// Returns `true` if two facets may cross other than in an edge or corner that they share. They do not cross
/// if some plane surely separates them. Three kinds of planes are tried: the plane of either facet, the
/// planes through an edge of a facet perpendicular to its plane (for neighbours in one plane), and the planes
/// parallel to an edge of each facet.
fn may_cross(f: &Facet, g: &Facet) -> bool {
    !is_on_one_side(f, g) && !is_on_one_side(g, f) && !are_apart_along_edges(f, g)
}

/// Returns `true` if a plane that is parallel to an edge of each of two facets surely separates the facets.
/// If the facets share a corner, the plane and both edges must pass through it.
fn are_apart_along_edges(f: &Facet, g: &Facet) -> bool {
    let mut shared = f.corners.iter().filter(|corner| g.corners.contains(corner));
    let (corner, another) = (shared.next(), shared.next());
    if another.is_some() {
        return false;
    }
    for [p, q] in edges(&f.corners) {
        for [r, s] in edges(&g.corners) {
            let [along, other] = [minus(q, p), minus(s, r)];
            let normal = cross(&along, &other);
            let sizes = cross_sizes(&along.map(f64::abs), &other.map(f64::abs));
            // Range of a facet's corners across the plane. If there is a shared corner, the corners on the
            // plane through it are left out.
            let range =
                |corners: &CellTriangle, [from, to]: [&IndexPoint; 2], base: &IndexPoint| {
                    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                    for point in corners
                        .iter()
                        .filter(|point| corner.is_none() || (*point != from && *point != to))
                    {
                        let (height, error) = height(&normal, &sizes, base, point);
                        low = low.min(height - error);
                        high = high.max(height + error);
                    }
                    [low, high]
                };
            let [first, second] = match corner {
                None => [range(&f.corners, [p, q], p), range(&g.corners, [r, s], p)],
                Some(corner) if [p, q].contains(&corner) && [r, s].contains(&corner) => [
                    range(&f.corners, [p, q], corner),
                    range(&g.corners, [r, s], corner),
                ],
                Some(_) => continue,
            };
            let are_apart = match corner {
                None => first[1] < second[0] || second[1] < first[0],
                Some(_) => {
                    (first[1] < 0.0 && second[0] > 0.0) || (second[1] < 0.0 && first[0] > 0.0)
                }
            };
            if are_apart {
                return true;
            }
        }
    }
    false
}

/// Returns `true` if `facet` surely lies on one side of the plane of `other`, or outside `other` beyond a
/// plane that contains one of its edges and is perpendicular to the plane of `other`. Corners that both
/// facets share are on the plane and do not count.
fn is_on_one_side(facet: &Facet, other: &Facet) -> bool {
    let mut own = [&facet.corners[0]; 3];
    let mut shared = own;
    let (mut owned, mut shares) = (0, 0);
    for corner in &facet.corners {
        if other.corners.contains(corner) {
            shared[shares] = corner;
            shares += 1;
        } else {
            own[owned] = corner;
            owned += 1;
        }
    }
    let (own, shared) = (&own[..owned], &shared[..shares]);
    let FacetPlane { normal, sizes, .. } = &other.plane;
    let base = &other.corners[0];
    let sides = |normal: &IndexPoint, sizes: &IndexPoint, base: &IndexPoint| {
        own.iter().fold([true; 2], |[above, below], corner| {
            let (height, error) = height(normal, sizes, base, corner);
            [above && height > error, below && height < -error]
        })
    };
    if sides(normal, sizes, base).contains(&true) {
        return true;
    }
    edges(&other.corners).into_iter().any(|[p, q]| {
        // If the facets share the corner opposite the edge, it is not on the plane through the edge. The
        // facet then has points on both sides.
        if shared.iter().any(|corner| *corner != p && *corner != q) {
            return false;
        }
        // This direction points away from `other`, whose corners are counter-clockwise around its normal.
        let edge = minus(q, p);
        sides(
            &cross(&edge, normal),
            &cross_sizes(&edge.map(f64::abs), sizes),
            p,
        )[0]
    })
}

/// Returns the dot product of a normal with the vector from a base in the plane to a point, and its error
/// bound. `sizes` are the sums of the absolute products that form the components of the normal. The normal
/// was rounded at most eight times.
fn height(
    normal: &IndexPoint,
    sizes: &IndexPoint,
    base: &IndexPoint,
    point: &IndexPoint,
) -> (f64, f64) {
    let way = minus(point, base);
    let size = dot(sizes, &way.map(f64::abs));
    (dot(normal, &way), 32.0 * U * size + f64::MIN_POSITIVE)
}

fn edges(facet: &CellTriangle) -> [[&IndexPoint; 2]; 3] {
    let [a, b, c] = facet;
    [[a, b], [b, c], [c, a]]
}

/// Returns the point at coordinate `s` of an axis on the edge between two points. It is computed from the
/// lower of the two points, so that it is the same for both facets that share the edge.
fn point_on(p: &IndexPoint, q: &IndexPoint, axis: usize, s: f64) -> IndexPoint {
    let (p, q) = if p[axis] < s { (p, q) } else { (q, p) };
    let t = (s - p[axis]) / (q[axis] - p[axis]);
    [0, 1, 2].map(|a| p[a] + t * (q[a] - p[a]))
}

/// Returns the intersection of a facet with the plane at coordinate `s` of an axis. `None` if they do not
/// meet.
fn section(facet: &CellTriangle, axis: usize, s: f64) -> Option<Section> {
    let [mut up, mut down] = [None; 2];
    for [p, q] in edges(facet) {
        match (p[axis] < s, q[axis] < s) {
            (true, false) => up = Some(point_on(p, q, axis, s)),
            (false, true) => down = Some(point_on(p, q, axis, s)),
            _ => {}
        }
    }
    Some([up?, down?])
}

/// Returns the crossing of a section or an edge with coordinate `t` of `axis`: its coordinate along the axis
/// `along`, and 1 if the section rises there, otherwise −1. In a plane across z, this number is the increase
/// of the winding number along x, or its decrease along y.
fn crossing([p, q]: [&IndexPoint; 2], axis: usize, t: f64, along: usize) -> WindingStep {
    (
        point_on(p, q, axis, t)[along],
        if p[axis] < t { 1 } else { -1 },
    )
}

/// Returns the crossings of facets with a line. The line is parallel to the axis `last`, and its coordinates
/// along the axes `first` and `second` are `s` and `t`.
fn line(facets: &[Facet], [first, second, last]: [usize; 3], [s, t]: [f64; 2]) -> Vec<WindingStep> {
    let mut crossed = vec![];
    for facet in facets {
        if let Some((at, sign)) = crossing_on_line(&facet.corners, [first, second, last], [s, t]) {
            crossed.push((at, sign * facet.count));
        }
    }
    crossed
}

/// Returns the crossing of a facet with a line. The line is parallel to the axis `last`, and its coordinates
/// along the axes `first` and `second` are `s` and `t`. `None` if they do not cross.
pub(super) fn crossing_on_line(
    facet: &CellTriangle,
    [first, second, last]: [usize; 3],
    [s, t]: [f64; 2],
) -> Option<WindingStep> {
    // The sign is defined for lines along x in planes across z. For other axes it depends on the handedness
    // of their order.
    let turned = if (first + 2) % 3 == second { 1 } else { -1 };
    let [p, q] = section(facet, first, s)?;
    if (p[second] < t) == (q[second] < t) {
        return None;
    }
    let (at, sign) = crossing([&p, &q], second, t, last);
    Some((at, turned * sign))
}

/// Returns the change of the winding number from coordinate `from` to coordinate `to` on a line.
fn between(crossings: &[WindingStep], from: f64, to: f64) -> i32 {
    let sum = |low: f64, high: f64| -> i32 {
        crossings
            .iter()
            .filter(|(at, _)| low < *at && *at < high)
            .map(|(_, sign)| sign)
            .sum()
    };
    if from < to {
        sum(from, to)
    } else {
        -sum(to, from)
    }
}

/// Returns the change of the winding number like [`between`]. `None` if a crossing is so close to either end
/// that rounding may have moved it to the other side.
fn surely_between(crossings: &[WindingStep], from: f64, to: f64) -> Option<i32> {
    for (at, _) in crossings {
        if (at - from).abs() < CLOSE || (at - to).abs() < CLOSE {
            return None;
        }
    }
    Some(between(crossings, from, to))
}

/// Returns the y coordinate at which two sections cross. `None` if they do not cross.
fn meeting([p, q]: &Section, [r, s]: &Section) -> Option<f64> {
    let [d, e, f] = [(p, q), (r, s), (p, r)].map(|(from, to)| [to[0] - from[0], to[1] - from[1]]);
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let t = cross(f, e) / cross(d, e);
    (0.0..=1.0).contains(&t).then(|| p[1] + t * d[1])
}

/// Plane. It consists of the points whose dot product with the normal is the offset.
#[derive(Clone, Copy)]
struct FacetPlane {
    normal: IndexPoint,
    /// For each component of the normal, the sum of the absolute products that form it. It bounds the
    /// rounding error.
    sizes: IndexPoint,
    offset: f64,
    /// Sum of the absolute products that form the offset.
    size: f64,
}

fn plane([a, b, c]: &CellTriangle) -> FacetPlane {
    let [p, q] = [minus(b, a), minus(c, a)];
    let normal = cross(&p, &q);
    let sizes = cross_sizes(&p.map(f64::abs), &q.map(f64::abs));
    FacetPlane {
        normal,
        sizes,
        offset: dot(&normal, a),
        size: dot(&sizes, &a.map(f64::abs)),
    }
}

/// Returns the plane of the wall at coordinate `wall` of an axis.
fn wall_plane(axis: usize, wall: f64) -> FacetPlane {
    let mut normal = [0.0; 3];
    normal[axis] = 1.0;
    FacetPlane {
        normal,
        sizes: normal,
        offset: wall,
        size: wall.abs(),
    }
}

fn minus(p: &IndexPoint, q: &IndexPoint) -> IndexPoint {
    [0, 1, 2].map(|a| p[a] - q[a])
}

fn dot(p: &IndexPoint, q: &IndexPoint) -> f64 {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
}

fn cross(p: &IndexPoint, q: &IndexPoint) -> IndexPoint {
    [
        p[1] * q[2] - p[2] * q[1],
        p[2] * q[0] - p[0] * q[2],
        p[0] * q[1] - p[1] * q[0],
    ]
}

/// Returns, for each component of a cross product, the sum of the absolute products that form it.
fn cross_sizes(p: &IndexPoint, q: &IndexPoint) -> IndexPoint {
    [
        p[1] * q[2] + p[2] * q[1],
        p[2] * q[0] + p[0] * q[2],
        p[0] * q[1] + p[1] * q[0],
    ]
}

/// Returns the common point of three planes, and its error bound along each axis. `None` if there is not
/// exactly one such point. The error of a determinant is at most 24 roundings of its terms.
fn common([l, m, n]: [&FacetPlane; 3]) -> Option<(IndexPoint, IndexPoint)> {
    let [mn, nl, lm] = [
        cross(&m.normal, &n.normal),
        cross(&n.normal, &l.normal),
        cross(&l.normal, &m.normal),
    ];
    let inverse = 1.0 / dot(&l.normal, &mn);
    let point =
        [0, 1, 2].map(|i| (l.offset * mn[i] + m.offset * nl[i] + n.offset * lm[i]) * inverse);
    if !point.iter().all(|c| c.is_finite()) {
        return None;
    }
    const ROUNDED: f64 = 24.0 * U;
    let [s, t, u] = [
        cross_sizes(&m.sizes, &n.sizes),
        cross_sizes(&n.sizes, &l.sizes),
        cross_sizes(&l.sizes, &m.sizes),
    ];
    let off = ROUNDED * dot(&l.sizes, &s) * inverse.abs();
    let error = [0, 1, 2].map(|i| {
        let above = ROUNDED * (l.size * s[i] + m.size * t[i] + n.size * u[i]) * inverse.abs();
        if off < 0.5 {
            2.0 * (above + point[i].abs() * off) + 4.0 * U * point[i].abs()
        } else {
            f64::INFINITY
        }
    });
    Some((point, error))
}

/// Converts a mean from units to a double.
pub(super) fn number_of(mean: i64) -> f64 {
    mean as f64 / UNITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    type Whole = [i128; 3];

    fn less(p: Whole, q: Whole) -> Whole {
        [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
    }

    fn product(p: Whole, q: Whole) -> i128 {
        p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
    }

    fn across(p: Whole, q: Whole) -> Whole {
        [
            p[1] * q[2] - p[2] * q[1],
            p[2] * q[0] - p[0] * q[2],
            p[0] * q[1] - p[1] * q[0],
        ]
    }

    fn normal([a, b, c]: [Whole; 3]) -> Whole {
        across(less(b, a), less(c, a))
    }

    /// Point as a fraction `p / w` with positive w.
    type Quotient = (Whole, i128);

    fn is_in((p, w): Quotient, triangle: [Whole; 3]) -> bool {
        let n = normal(triangle);
        let from = |a: Whole| less(p, a.map(|c| c * w));
        let is_within = |i: usize| {
            let [a, b] = [triangle[i], triangle[(i + 1) % 3]];
            product(across(less(b, a), n), from(a)) <= 0
        };
        product(n, from(triangle[0])) == 0 && (0..3).all(is_within)
    }

    /// Returns `true` if a point is the corner that two triangles share, or is on their common edge.
    fn is_shared((p, w): Quotient, shared: &[Whole]) -> bool {
        let from = |a: Whole| less(p, a.map(|c| c * w));
        match *shared {
            [a] => from(a) == [0; 3],
            [a, b] => {
                let along = product(less(b, a), from(a));
                across(less(b, a), from(a)) == [0; 3]
                    && (0..=product(less(b, a), less(b, a)) * w).contains(&along)
            }
            _ => false,
        }
    }

    /// Returns `true` if two triangles meet outside of their shared corners and edges. Their intersection
    /// then has a corner outside of these, and it is on an edge of one of the triangles.
    fn do_cross(f: [Whole; 3], g: [Whole; 3]) -> bool {
        let shared: Vec<_> = f.into_iter().filter(|corner| g.contains(corner)).collect();
        let mut points: Vec<Quotient> = f.into_iter().chain(g).map(|corner| (corner, 1)).collect();
        for (facet, other) in [(f, g), (g, f)] {
            // The plane of the other triangle, and the planes through its edges perpendicular to it. The
            // latter are for triangles in one plane.
            let n = normal(other);
            let mut planes = vec![(n, other[0])];
            planes
                .extend((0..3).map(|i| (across(less(other[(i + 1) % 3], other[i]), n), other[i])));
            for (n, base) in planes {
                for i in 0..3 {
                    let [p, q] = [facet[i], facet[(i + 1) % 3]];
                    let [a, b] = [p, q].map(|point| product(n, less(point, base)));
                    if a.signum() * b.signum() < 0 {
                        let w = a.abs() + b.abs();
                        points.push(([0, 1, 2].map(|i| p[i] * b.abs() + q[i] * a.abs()), w));
                    }
                }
            }
        }
        points
            .into_iter()
            .any(|point| is_in(point, f) && is_in(point, g) && !is_shared(point, &shared))
    }

    #[test]
    fn no_crossing_is_missed() {
        let mut random = Random::new(61);
        let mut crossing = [0; 3];
        let [mut apart, mut sure] = [0; 2];
        for n in 0..60_000 {
            let most = [3, 6, 40][n % 3];
            let mut corner = || [0; 3].map(|_| i128::from(random.whole(-most, most)));
            let [mut f, mut g] = [0; 2].map(|_| [corner(), corner(), corner()]);
            let shares = n / 3 % 3;
            g[..shares].copy_from_slice(&f[..shares]);
            if n % 7 == 0 {
                // Puts both triangles in one plane.
                f.iter_mut().chain(&mut g).for_each(|corner| corner[2] = 0);
            }
            let common = f.into_iter().filter(|corner| g.contains(corner)).count();
            if normal(f) == [0; 3] || normal(g) == [0; 3] || common != shares {
                continue;
            }
            f.rotate_left(n / 9 % 3);
            g.rotate_left(n / 27 % 3);
            // Coordinates are scaled to multiples of 1/8, which are exact in doubles.
            let [scaled_f, scaled_g] =
                [f, g].map(|t| Facet::new(t.map(|v| v.map(|c| c as f64 * 0.125)), 1));
            let found = may_cross(&scaled_f, &scaled_g);
            if do_cross(f, g) {
                assert!(found, "{f:?} {g:?}");
                crossing[shares] += 1;
            } else {
                apart += 1;
                sure += u32::from(!found);
            }
        }
        assert!(crossing.iter().all(|n| *n > 1_000), "{crossing:?}");
        assert!(
            sure * 100 > apart * 95,
            "{sure} of {apart} that do not cross are surely apart"
        );
    }

    /// Returns the triangles of a tetrahedron, facing outwards.
    fn tetrahedron(mut corners: [[f64; 3]; 4]) -> Vec<CellTriangle> {
        let [a, b, c, d] = corners;
        if dot(&cross(&minus(&b, &a), &minus(&c, &a)), &minus(&d, &a)) < 0.0 {
            corners.swap(0, 1);
        }
        let [a, b, c, d] = corners;
        vec![[a, c, b], [a, b, d], [b, c, d], [c, a, d]]
    }

    #[test]
    fn overlaps_of_few_triangles_are_found() {
        let box_of = |low: f64, high: f64| {
            let corner =
                move |n: usize| [0, 1, 2].map(move |a| if n >> a & 1 == 1 { high } else { low });
            let faces = [
                [0, 2, 3, 1],
                [4, 5, 7, 6],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 4, 6, 2],
                [1, 3, 7, 5],
            ];
            faces
                .map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
                .concat()
                .into_iter()
                .map(move |t| t.map(corner))
        };
        let alone: Vec<_> = box_of(0.0, 1.0).collect();
        let inner: Vec<_> = box_of(0.25, 0.75).collect();
        let hole: Vec<_> = inner.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        // Two tetrahedra that touch at a corner. The second one is inside out.
        let first = tetrahedron([[0.5; 3], [0.0, 0.1, 0.2], [0.3, 0.0, 0.1], [0.1, 0.2, 0.0]]);
        let second = tetrahedron([[0.5; 3], [1.0, 0.9, 0.8], [0.7, 1.0, 0.9], [0.9, 0.8, 1.0]]);
        let turned: Vec<_> = second.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        for (name, triangles, overlaps) in [
            ("a box", alone.clone(), false),
            ("a box with a hole", [alone.clone(), hole].concat(), false),
            ("a box in a box", [alone.clone(), inner].concat(), true),
            ("a box twice", [alone.clone(), alone].concat(), true),
            (
                "two that touch, one inside out",
                [first, turned].concat(),
                true,
            ),
        ] {
            assert_eq!(may_overlap_itself(triangles), overlaps, "{name}");
        }
    }
}
