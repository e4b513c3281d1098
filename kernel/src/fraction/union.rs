//! The share of one cell that is inside a mesh whose parts overlap in it.
//!
//! The cell is cut by planes across z, these by lines across y, and along a line the mesh winds around intervals of x. How
//! often, counts from a point of the cell; how often around that point, the mean of the cell says, which is known.
//! Between the corners of the overlapping parts, of their intersections and of the walls, the area in a plane is quadratic
//! in z, and the length on a line linear in y: two planes and one line in each interval make an integral that is exact but
//! for rounding. A cell of many triangles is divided across y and z first.

use super::clip::{IndexPoint, Polygon, extent};
use super::units::UNITS;

/// A triangle near a cell, from the low corner of the cell.
pub(super) type CellTriangle = [IndexPoint; 3];

/// Triangles of a column, and pairs of them that may cross, at most: more are divided.
const MOST_FACETS: usize = 40;
const MOST_PAIRS: usize = 40;

/// Columns of a cell are at least one 2^n-th wide; in narrower ones the line in the middle stands for all.
const MOST_DIVISIONS: u32 = 5;

/// Points to count from, none of them special: another is taken where rounding near the mesh has spoiled a count.
const STARTS: [IndexPoint; 3] = [
    [0.381_966_011_250_105, 0.554_958_132_087_371, 0.445_041_867_912_629],
    [0.618_033_988_749_895, 0.307_978_528_369_903, 0.692_021_471_630_096],
    [0.271_844_506_334_508, 0.725_191_949_522_967, 0.523_956_767_972_401],
];

/// How far the mean of a cell may be from what the lines say about it: the rounding of both.
const MOST_OFF: f64 = 1.0 / (1_u64 << 25) as f64;

/// A volume that is nothing but rounding.
const LEAST: f64 = 1.0 / (1_u64 << 40) as f64;

/// What is known about a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CellUnion {
    /// The mesh winds around its points n or n + 1 times: the mean is enough.
    Simple,
    /// The share around which it does not wind 0 times, and the most that is left out of account.
    Share { share: f64, error: f64 },
    /// Rounding has spoiled all counts.
    Unknown,
}

/// The union in a cell that has all of these triangles near it, equal ones one after the other, and this mean. A
/// part alone is simple where it does not cross itself, unless it is known to overlap itself: then the cell is shared.
/// A shared cell in which nothing crosses is simple, too, if all facets are between the same two winding numbers.
pub(super) fn union_in_cell(facets: &[CellTriangle], mean: f64, is_shared: bool) -> CellUnion {
    // Those that are there several times count at once.
    let groups: Vec<_> = facets.chunk_by(|f, g| f == g).collect();
    let all: Vec<_> = groups.iter().map(|group| (group[0], group.len() as i32)).collect();
    let is_simple =
        |(n, one): (usize, &Counted)| one.1 == 1 && all[..n].iter().all(|other| !may_cross(&other.0, &one.0));
    if all.iter().enumerate().all(is_simple) && (!is_shared || have_two_windings(&all)) {
        return CellUnion::Simple;
    }
    for start in STARTS {
        let mut sweep = CellSweep { all: &all, start, found: Volumes::new(), lists: SweepLists::default() };
        sweep.column(&(0..all.len()).collect::<Vec<_>>(), [[0.0, 1.0]; 2], 0);
        if let Some(found) = sweep.found.union(mean) {
            return found;
        }
    }
    CellUnion::Unknown
}

/// Whether facets that do not cross have the same two winding numbers on their sides in a cell. No region of the cell is
/// without facets around it, unless it is the whole cell.
fn have_two_windings(all: &[Counted]) -> bool {
    let (mut least, mut most) = (0, 0);
    for (n, (facet, _)) in all.iter().enumerate() {
        let [mut part, mut whole] = [const { Polygon::empty() }; 2];
        whole.set(facet);
        for axis in 0..3 {
            part.set_band(&whole, axis, [0.0, 1.0]);
            std::mem::swap(&mut part, &mut whole);
        }
        let corners = whole.corners();
        if corners.len() < 3 {
            continue;
        }
        let middle = [0, 1, 2].map(|a| corners.iter().map(|p| p[a]).sum::<f64>() / corners.len() as f64);
        let Some(sides) = windings_beside(all, n, &middle) else { return false };
        (least, most) = sides.into_iter().fold((least, most), |(l, m), side| (side.min(l), side.max(m)));
    }
    most - least <= 1
}

/// The winding numbers on both sides of a facet at a point of it, counted from a start, by three lines: the last one goes
/// through the facet.
fn windings_beside(all: &[Counted], n: usize, point: &IndexPoint) -> Option<[i32; 2]> {
    let start = STARTS[0];
    let (normal, _) = plane(&all[n].0);
    let last = (0..3).max_by(|a, b| normal[*a].abs().total_cmp(&normal[*b].abs()))?;
    let [first, second] = [(last + 1) % 3, (last + 2) % 3];
    let along =
        |axes: [usize; 3], at: [f64; 2]| between(&line(all, axes, at), start[axes[2]], point[axes[2]]);
    let winding = along([second, last, first], [start[second], start[last]])
        + along([first, last, second], [point[first], start[last]]);
    let at = [point[first], point[second]];
    let own = line(&all[n..=n], [first, second, last], at).pop()?.1;
    let others: i32 = [&all[..n], &all[n + 1..]]
        .map(|some| between(&line(some, [first, second, last], at), start[last], point[last]))
        .iter()
        .sum();
    let before = winding + others;
    Some([before, before + if start[last] < point[last] { own } else { -own }])
}

/// Windings from the start on that have a volume of their own, to either side.
const WINDINGS: i32 = 31;

/// The volumes around which a mesh winds so often more than around the start.
struct Volumes {
    of: [f64; 2 * WINDINGS as usize + 1],
    /// The mean, less the winding number of the start.
    mean: f64,
    /// The columns that one line stands for.
    sampled: f64,
}

impl Volumes {
    fn new() -> Self {
        Self { of: [0.0; 2 * WINDINGS as usize + 1], mean: 0.0, sampled: 0.0 }
    }

    fn add(&mut self, winding: i32, volume: f64) {
        self.of[(winding.clamp(-WINDINGS, WINDINGS) + WINDINGS) as usize] += volume;
        self.mean += f64::from(winding) * volume;
    }

    /// The union, if the mean agrees.
    fn union(&self, mean: f64) -> Option<CellUnion> {
        let start = (mean - self.mean).round();
        let off = (mean - self.mean - start).abs();
        if off > MOST_OFF + self.sampled || start.abs() >= f64::from(WINDINGS) {
            return None;
        }
        let is_there = |volume: &f64| *volume > LEAST;
        let first = self.of.iter().position(is_there).unwrap_or(0);
        let last = self.of.iter().rposition(is_there).unwrap_or(0);
        if last <= first + 1 {
            return Some(CellUnion::Simple);
        }
        let outside = self.of[(WINDINGS - start as i32) as usize];
        Some(CellUnion::Share { share: (1.0 - outside).clamp(0.0, 1.0), error: off.max(self.sampled) })
    }
}

/// Where a mesh is crossed, and by how much the winding number is greater beyond.
type WindingStep = (f64, i32);

/// The part of a facet in a plane, from where its boundary goes up through the plane to where it goes down.
type Section = [IndexPoint; 2];

/// A facet, and how often it is there.
type Counted = (CellTriangle, i32);

/// Lists that are filled again and again.
#[derive(Default)]
struct SweepLists {
    /// By the number of the facet, with how often it is there.
    sections: Vec<(usize, i32, Section)>,
    rows: Vec<f64>,
    across: Vec<WindingStep>,
    along: Vec<WindingStep>,
}

struct CellSweep<'a> {
    all: &'a [Counted],
    /// Where counts begin.
    start: IndexPoint,
    found: Volumes,
    lists: SweepLists,
}

impl CellSweep<'_> {
    /// Adds the volumes of a column between some y and some z, with these of the facets in it.
    fn column(&mut self, facets: &[usize], [y, z]: [[f64; 2]; 2], divisions: u32) {
        let pairs = (facets.len() <= MOST_FACETS).then(|| self.pairs(facets, [y, z]));
        let is_too_much = pairs.as_ref().is_none_or(|pairs| pairs.len() > MOST_PAIRS);
        if is_too_much && divisions < MOST_DIVISIONS {
            let halves = |[low, high]: [f64; 2]| {
                let middle = f64::midpoint(low, high);
                [[low, middle], [middle, high]]
            };
            for z in halves(z) {
                for y in halves(y) {
                    let meets = |n: &usize| {
                        [(1, y), (2, z)].into_iter().all(|(axis, [low, high])| {
                            let [from, to] = extent(&self.all[*n].0, axis);
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
            self.row(f64::midpoint(y[0], y[1]), within, winding, (y[1] - y[0]) * (z[1] - z[0]));
            return;
        }
        let pairs = pairs.unwrap_or_default();
        let levels = self.levels(facets, &pairs, [y, z]);
        for level in levels.windows(2) {
            let half = (level[1] - level[0]) / 2.0;
            let middle = f64::midpoint(level[0], level[1]);
            // The two points of Gauss's rule, 1/√3 from the middle.
            for z in [-half, half].map(|side| middle + side * 0.577_350_269_189_625_8) {
                self.cut(facets, z);
                self.plane(&pairs, y, within, moved + between(&up, z0, z), half);
            }
        }
    }

    /// The sections of the facets at a height.
    fn cut(&mut self, facets: &[usize], z: f64) {
        let sections = &mut self.lists.sections;
        sections.clear();
        sections.extend(facets.iter().filter_map(|n| {
            let (facet, count) = &self.all[*n];
            Some((*n, *count, section(facet, 2, z)?))
        }));
    }

    /// Adds the plane of the sections, of some thickness, between some y. The winding number is that at the start of the
    /// column in it, whose y is `within`.
    fn plane(&mut self, pairs: &[[usize; 2]], y: [f64; 2], within: f64, winding: i32, thickness: f64) {
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
        let find = |n: usize| self.lists.sections.binary_search_by_key(&n, |(facet, ..)| *facet).ok();
        for [m, n] in pairs {
            if let (Some(m), Some(n)) = (find(*m), find(*n)) {
                meeting(&self.lists.sections[m].2, &self.lists.sections[n].2).into_iter().for_each(&mut add);
            }
        }
        rows.sort_unstable_by(f64::total_cmp);
        for pair in rows.windows(2).filter(|pair| pair[0] < pair[1]) {
            let row = f64::midpoint(pair[0], pair[1]);
            self.row(row, within, winding, (pair[1] - pair[0]) * thickness);
        }
        self.lists.rows = rows;
    }

    /// Adds the volumes along a row of this y in the plane of the sections, and of this cross-section.
    fn row(&mut self, y: f64, within: f64, winding: i32, area: f64) {
        let SweepLists { sections, across, along, .. } = &mut self.lists;
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
        let before: i32 = along.iter().filter(|(x, _)| *x < x0).map(|(_, sign)| sign).sum();
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

    /// The pairs of facets in a column that may cross.
    fn pairs(&self, facets: &[usize], [y, z]: [[f64; 2]; 2]) -> Vec<[usize; 2]> {
        let boxes: Vec<_> = facets.iter().map(|n| clipped(&self.all[*n].0, [y, z])).collect();
        let mut pairs = vec![];
        for (at, m) in facets.iter().enumerate() {
            for (other, n) in facets.iter().enumerate().skip(at + 1) {
                let meet = (0..3).all(|a| {
                    boxes[at][a][0].max(boxes[other][a][0]) <= boxes[at][a][1].min(boxes[other][a][1])
                });
                if meet && may_cross(&self.all[*m].0, &self.all[*n].0) {
                    pairs.push([*m, *n]);
                }
            }
        }
        pairs
    }

    /// The heights between which areas in planes are quadratic: those of corners of facets, of their intersections, and of
    /// both with walls, and of facets on edges of the column. More of them do no harm.
    fn levels(&self, facets: &[usize], pairs: &[[usize; 2]], [y, z]: [[f64; 2]; 2]) -> Vec<f64> {
        let mut levels = z.to_vec();
        let mut add = |level: f64| {
            if z[0] < level && level < z[1] {
                levels.push(level);
            }
        };
        let walls = [(0, 0.0), (0, 1.0), (1, y[0]), (1, y[1])];
        for facet in facets.iter().map(|n| &self.all[*n].0) {
            facet.iter().for_each(|corner| add(corner[2]));
            for [p, q] in edges(facet) {
                for (axis, wall) in walls {
                    if (p[axis] < wall) != (q[axis] < wall) {
                        add(crossing([p, q], axis, wall, 2).0);
                    }
                }
            }
        }
        // Rounding may have moved a point out of a box that it is in: one too many does no harm.
        let is_in = |point: &IndexPoint, some: &[usize]| {
            some.iter().all(|n| {
                let all = clipped(&self.all[*n].0, [y, z]);
                (0..3).all(|a| (all[a][0] - 1e-6..=all[a][1] + 1e-6).contains(&point[a]))
            })
        };
        let wall = |(axis, wall): (usize, f64)| {
            let mut normal = [0.0; 3];
            normal[axis] = 1.0;
            (normal, wall)
        };
        for n in facets {
            for (x, y) in walls[..2].iter().flat_map(|x| walls[2..].iter().map(move |y| (*x, *y))) {
                let point = common([&plane(&self.all[*n].0), &wall(x), &wall(y)]);
                point.filter(|point| is_in(point, &[*n])).into_iter().for_each(|point| add(point[2]));
            }
        }
        for (at, [m, n]) in pairs.iter().enumerate() {
            let [f, g] = [m, n].map(|n| &self.all[*n].0);
            for (facet, other) in [(f, g), (g, f)] {
                let (normal, offset) = plane(other);
                for [p, q] in edges(facet) {
                    let [a, b] = [p, q].map(|point| dot(&normal, point) - offset);
                    if (a < 0.0) != (b < 0.0) {
                        add(p[2] + a / (a - b) * (q[2] - p[2]));
                    }
                }
            }
            let planes = [plane(f), plane(g)];
            for one in walls {
                let point = common([&planes[0], &planes[1], &wall(one)]);
                point.filter(|point| is_in(point, &[*m, *n])).into_iter().for_each(|point| add(point[2]));
            }
            // Of three that cross each other, the one whose numbers are in order.
            for [other, third] in &pairs[at + 1..] {
                if other == m && pairs.contains(&[*n, *third]) {
                    let point = common([&planes[0], &planes[1], &plane(&self.all[*third].0)]);
                    let some = [*m, *n, *third];
                    point.filter(|point| is_in(point, &some)).into_iter().for_each(|point| add(point[2]));
                }
            }
        }
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

/// The box of a facet, within the cell and between some y and z.
fn clipped(facet: &CellTriangle, [y, z]: [[f64; 2]; 2]) -> [[f64; 2]; 3] {
    let walls = [[0.0, 1.0], y, z];
    [0, 1, 2].map(|a| {
        let [low, high] = extent(facet, a);
        [low.max(walls[a][0]), high.min(walls[a][1])]
    })
}

/// Whether two facets may cross other than in an edge or a corner that they share. They do not if the plane of one of them
/// separates them, or the plane through one of its edges at right angles to it, as for neighbours in one plane.
fn may_cross(f: &CellTriangle, g: &CellTriangle) -> bool {
    if f.iter().filter(|corner| g.contains(corner)).count() >= 2 {
        return false;
    }
    // A corner that they share is on both sides, and on neither.
    let is_beside = |facet: &CellTriangle, (normal, offset): &FacetPlane, other: &CellTriangle| {
        let corners = facet.iter().filter(|corner| !other.contains(corner));
        corners.fold([true; 2], |[above, below], corner| {
            let side = dot(normal, corner) - offset;
            [above && side > 0.0, below && side < 0.0]
        })
    };
    let both = [(f, g), (g, f)];
    let planes = both.map(|(_, other)| plane(other));
    let are_apart = both
        .iter()
        .zip(&planes)
        .any(|((facet, other), plane)| is_beside(facet, plane, other).contains(&true));
    let is_beyond_edge = |(facet, other): &(&CellTriangle, &CellTriangle), (normal, _): &FacetPlane| {
        edges(other).into_iter().any(|[p, q]| {
            // Away from the facet, whose corners are counterclockwise around its normal.
            let out = cross(&[0, 1, 2].map(|a| q[a] - p[a]), normal);
            is_beside(facet, &(out, dot(&out, p)), other)[0]
        })
    };
    !are_apart && !both.iter().zip(&planes).any(|(both, plane)| is_beyond_edge(both, plane))
}

fn edges(facet: &CellTriangle) -> [[&IndexPoint; 2]; 3] {
    let [a, b, c] = facet;
    [[a, b], [b, c], [c, a]]
}

/// The point at `s` along an axis on the edge between two points, from the one that is below: the same for both facets
/// that share the edge.
fn point_on(p: &IndexPoint, q: &IndexPoint, axis: usize, s: f64) -> IndexPoint {
    let (p, q) = if p[axis] < s { (p, q) } else { (q, p) };
    let t = (s - p[axis]) / (q[axis] - p[axis]);
    [0, 1, 2].map(|a| p[a] + t * (q[a] - p[a]))
}

/// The part of a facet at `s` along an axis.
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

/// Where a section, or an edge, is at `t` along an axis, as a coordinate along another axis; and 1 if it goes up there. In
/// a plane across z, that is by how much the winding number is greater beyond it along x, and smaller along y.
fn crossing([p, q]: [&IndexPoint; 2], axis: usize, t: f64, along: usize) -> WindingStep {
    (point_on(p, q, axis, t)[along], if p[axis] < t { 1 } else { -1 })
}

/// Where facets are crossed along a line: the last of the axes, through these coordinates along the other two.
pub(super) fn line(
    facets: &[Counted],
    [first, second, last]: [usize; 3],
    [s, t]: [f64; 2],
) -> Vec<WindingStep> {
    // The sign of x along lines in planes across z turns with the handedness of the axes.
    let turned = if (first + 2) % 3 == second { 1 } else { -1 };
    let sections = facets.iter().filter_map(|(facet, count)| Some((section(facet, first, s)?, count)));
    let crossed = sections.filter(|([p, q], _)| (p[second] < t) != (q[second] < t));
    crossed
        .map(|([p, q], count)| {
            let (at, sign) = crossing([&p, &q], second, t, last);
            (at, turned * sign * count)
        })
        .collect()
}

/// By how much the winding number changes from one coordinate on a line to another.
fn between(crossings: &[WindingStep], from: f64, to: f64) -> i32 {
    let sum = |low: f64, high: f64| -> i32 {
        crossings.iter().filter(|(at, _)| low < *at && *at < high).map(|(_, sign)| sign).sum()
    };
    if from < to { sum(from, to) } else { -sum(to, from) }
}

/// The y at which two sections cross.
fn meeting([p, q]: &Section, [r, s]: &Section) -> Option<f64> {
    let [d, e, f] = [(p, q), (r, s), (p, r)].map(|(from, to)| [to[0] - from[0], to[1] - from[1]]);
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let t = cross(f, e) / cross(d, e);
    (0.0..=1.0).contains(&t).then(|| p[1] + t * d[1])
}

/// A plane: the points whose product with the normal is the offset.
type FacetPlane = (IndexPoint, f64);

fn plane([a, b, c]: &CellTriangle) -> FacetPlane {
    let [p, q] = [b, c].map(|corner| [0, 1, 2].map(|n| corner[n] - a[n]));
    let normal = cross(&p, &q);
    (normal, dot(&normal, a))
}

fn dot(p: &IndexPoint, q: &IndexPoint) -> f64 {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
}

fn cross(p: &IndexPoint, q: &IndexPoint) -> IndexPoint {
    [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
}

/// The point of three planes; none if they have no single one.
fn common([(l, a), (m, b), (n, c)]: [&FacetPlane; 3]) -> Option<IndexPoint> {
    let [mn, nl, lm] = [cross(m, n), cross(n, l), cross(l, m)];
    let inverse = 1.0 / dot(l, &mn);
    let point = [0, 1, 2].map(|i| (a * mn[i] + b * nl[i] + c * lm[i]) * inverse);
    point.iter().all(|c| c.is_finite()).then_some(point)
}

/// A mean in units as a number.
pub(super) fn number_of(mean: i64) -> f64 {
    mean as f64 / UNITS
}
