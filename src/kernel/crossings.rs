//! Where lines through the centres of cells cross triangles: what insides are made of.
//!
//! Lattice lines run along one axis through the displaced centres of cells: the point of a cell is its
//! centre less (ε, ε², ε³), so that no line meets an edge or a corner, no point lies on a triangle, and
//! edges that triangles share are crossed once (Simulation of Simplicity, Edelsbrunner and Mücke 1990).
//! In a [`Frame`] of centres, wall `n` is the plane of centres of layer `n`, and the displacement says
//! what counts as beyond it:
//!
//! - a corner on plane `k` is above the line's plane;
//! - in plane `k`, the line of row `j` passes above an edge that crosses at `y` iff `y < j`;
//! - cell `i` is behind a crossing at `x` iff `x < i`. Along y and z, where the displacement across is
//!   the larger one, a crossing at exactly `i` goes by the slope of the triangle.
//!
//! So floors of crossings decide: those of edges of the projection with the planes of layers say which
//! rows pass through the triangle, those of its plane with these rows where.

use std::ops::Range;

use crate::geom::Triangle;

use super::exact::LazyExact;
use super::frame::Frame;
use super::plane::Plane;
use super::setup::Setup;
use super::span::Edge;

/// A triangle that a row crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// The row, along the other two axes in the order of [`across`].
    pub row: [usize; 2],
    /// The first cell behind the triangle, at most one beyond the last.
    pub first: usize,
    /// Whether the side that normals point away from is behind the triangle: one goes in.
    pub inwards: bool,
}

/// The cells whose crossings are asked for, by axis of the [`Frame`]: along rows, and across them.
pub type Box3 = [Range<usize>; 3];

/// The axis of rows, and those across them, in the order of their displacement.
pub fn across(axis: usize) -> [usize; 3] {
    [[0, 1, 2], [1, 0, 2], [2, 0, 1]][axis]
}

/// Finds crossings with rows along one axis.
pub struct Crosser<'a> {
    frame: &'a Frame,
    order: [usize; 3],
    /// Whether that order mirrors space.
    mirrors: bool,
    cells: Box3,
}

impl<'a> Crosser<'a> {
    /// For rows along `axis` of a grid, whose `cells` are given in the order of the frame, which is
    /// [`Frame::of_centres`] for that axis.
    pub fn new(frame: &'a Frame, axis: usize, cells: Box3) -> Self {
        Self { frame, order: across(axis), mirrors: axis == 1, cells }
    }

    /// Gives every crossing of a triangle with rows of the cells. What lies before the first cell of a
    /// row counts as on its near wall, what lies behind the last as nowhere. The answer is how many
    /// coordinates snapping moved, if the triangle begins in these cells' layers or below the first.
    pub fn cross(&self, triangle: &Triangle, mut put: impl FnMut(Crossing)) -> u64 {
        let triangle = triangle.map(|v| self.order.map(|axis| v[axis]));
        if self.is_between(&triangle) {
            return 0;
        }
        let Some(setup) = Setup::new(self.frame, &triangle) else { return 0 };
        let begin = setup.base[2].max(0);
        let layers = &self.cells[2];
        let snapped = if layers.contains(&(begin as usize)) { u64::from(setup.snapped) } else { 0 };
        let [low, high] = [setup.base[2] + 1, setup.base[2] + setup.high[2]];
        let (low, high) = (low.max(layers.start as i64), high.min(layers.end as i64 - 1));
        if low <= high && setup.high[1] > 0 {
            let exact = LazyExact::new(self.frame, &triangle, setup.base);
            Passage { setup: &setup, exact, plane: None, edges: [const { None }; 3] }
                .rows(low, high, self, &mut put);
        }
        snapped
    }

    /// Whether doubles say that no row can pass and no coordinate can snap.
    fn is_between(&self, triangle: &Triangle) -> bool {
        let mut alike = [false; 3];
        for (a, axis) in self.frame.axes.iter().enumerate() {
            let u = triangle.map(|v| axis.index(v[a]));
            let clear = |u: f64| (u - 0.5 * (2.0 * u).round_ties_even()).abs() > axis.margin;
            if !(clear(u[0]) && clear(u[1]) && clear(u[2])) {
                return false;
            }
            let floor = u.map(f64::floor);
            alike[a] = floor[0] == floor[1] && floor[1] == floor[2];
        }
        alike[1] || alike[2]
    }

    /// Whether cells at crossing `(x, y, z)` exactly are behind the triangle.
    fn is_behind(&self, exact: &mut LazyExact) -> bool {
        let [along, b, c] = self.order;
        // The slope of x along an axis has the sign of -n / n[0]; the farther displacement decides.
        let signs = exact.normal_signs();
        let rises = |axis: usize| signs[axis] * signs[0] < 0;
        match (signs[1] != 0, signs[2] != 0) {
            (true, _) if b < along => rises(1),
            (_, true) if c < along => rises(2),
            _ => false,
        }
    }
}

/// A triangle on its way through rows.
struct Passage<'a> {
    setup: &'a Setup,
    exact: LazyExact<'a>,
    /// Made on first use; the inner one is none where the triangle is parallel to rows.
    plane: Option<Option<Plane>>,
    edges: [Option<Edge>; 3],
}

/// The edges of a triangle, by their first vertex.
const ENDS: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

impl Passage<'_> {
    /// All crossings in layers `low..=high`.
    fn rows(&mut self, low: i64, high: i64, crosser: &Crosser, put: &mut impl FnMut(Crossing)) {
        let base = self.setup.base;
        let rows = &crosser.cells[1];
        for k in low..=high {
            let [up, down] = self.ends(k - base[2]);
            let (from, to) = (up.min(down) + 1 + base[1], up.max(down) + base[1]);
            let (from, to) = (from.max(rows.start as i64), to.min(rows.end as i64 - 1));
            for j in from..=to {
                let Some(first) = self.first(j - base[1], k - base[2], crosser) else { return };
                let cells = &crosser.cells[0];
                let first = (first + base[0]).clamp(cells.start as i64, cells.end as i64) as usize;
                if first < cells.end {
                    let inwards = (up < down) != crosser.mirrors;
                    put(Crossing { row: [j as usize, k as usize], first, inwards });
                }
            }
        }
    }

    /// The floors of where the plane of layer `k` crosses the edge that rises and the one that falls.
    fn ends(&mut self, k: i64) -> [i64; 2] {
        let floor = &self.setup.floor[2];
        let mut ends = [0; 2];
        for (n, [v, w]) in ENDS.into_iter().enumerate() {
            match (floor[v] < k, floor[w] < k) {
                (true, false) => ends[0] = self.edge_floor(n, [v, w], k),
                (false, true) => ends[1] = self.edge_floor(n, [w, v], k),
                _ => {}
            }
        }
        ends
    }

    /// The floor of where an edge, rising, crosses plane `k`.
    fn edge_floor(&mut self, n: usize, ends: [usize; 2], k: i64) -> i64 {
        let edge = self.edges[n].get_or_insert_with(|| Edge::new(self.setup, ends, [1, 2]));
        let crossing = edge.at(k);
        let nearest = crossing.round_ties_even();
        if (crossing - nearest).abs() > edge.error {
            return crossing.floor() as i64;
        }
        if edge.on_grain { nearest as i64 } else { self.exact.edge_crossing(ends, [1, 2], k).0 }
    }

    /// The first cell behind the crossing of row `(j, k)`; `None` if the triangle is parallel to rows.
    fn first(&mut self, j: i64, k: i64, crosser: &Crosser) -> Option<i64> {
        let Self { setup, exact, plane, .. } = self;
        let plane = plane.get_or_insert_with(|| Plane::new(setup, exact)).as_ref()?;
        let crossing = plane.at(j, k);
        let nearest = crossing.round_ties_even();
        if (crossing - nearest).abs() > plane.error {
            return Some(crossing.floor() as i64 + 1);
        }
        let (floor, on) = if plane.on_grain { (nearest as i64, true) } else { exact.plane_crossing(j, k) };
        Some(floor + i64::from(!(on && crosser.is_behind(exact))))
    }
}
