//! Whether a point is inside a mesh that it does not lie on, exactly.
//!
//! A closed mesh is crossed by a ray from the point along x: triangles crossed outwards count one, inwards minus one
//! if the mesh is oriented, and else all count alike. The ray is displaced by an infinitesimal in y, and by the square of it
//! in z, so that it meets no edge (Edelsbrunner and Mücke, Simulation of Simplicity, 1990). Signs are decided in doubles
//! where their error leaves no doubt, else in fractions.
//!
//! A mesh that is not closed has no inside in this sense; there it is where its winding number is beyond a half either
//! way (Jacobson, Kavan and Sorkine-Hornung 2013), in doubles.

use super::{ClearanceBody, ClearanceOptions};
use crate::error::Result;
use crate::geom::fractions::{self, ExactPoint, cross, exact, minus};
use crate::geom::{Point, Rational, Triangle, Winding};
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::mesh::pairs::{self, TriangleMarks};
use crate::par;

/// The bytes that components take for a triangle of the first mesh, and winding numbers for one of the second.
const COMPONENTS: u64 = 220;
const WINDING: u64 = 360;

/// How points are classified as inside or outside a mesh.
pub(super) enum MeshInside {
    /// RayCount with their signs.
    NonZero,
    /// The parity of crossings.
    EvenOdd,
    /// The winding number.
    Winding(Winding),
}

/// What rays count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RayCount {
    turns: i64,
    count: u64,
}

/// The components of a mesh that do not meet another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ComponentCount {
    /// How many of them are inside the other.
    pub inside: u64,
    /// Whether that is all components of the mesh.
    pub is_all: bool,
}

/// Counts the components of the first mesh that are inside the second, but for those with a triangle that is marked.
///
/// # Errors
/// If there is not enough memory, or the work was cancelled.
pub(super) fn components(
    [own, other]: [&ClearanceBody; 2],
    met: Option<&TriangleMarks>,
    options: &ClearanceOptions,
) -> Result<ComponentCount> {
    let (bounds, around) = (own.mesh.bounds(), other.mesh.bounds());
    if (0..3).any(|a| bounds.max[a] < around.min[a] || around.max[a] < bounds.min[a]) {
        return Ok(ComponentCount::default());
    }
    let ClearanceOptions { max_bytes, progress, .. } = *options;
    progress.check()?;
    let of_other =
        if other.mesh.seal() == Seal::Open { other.mesh.triangles().len() as u64 * WINDING } else { 0 };
    pairs::refuse_more(own.mesh.triangles().len() as u64 * COMPONENTS + of_other, max_bytes)?;
    let found = own.mesh.components()?;
    let mut least: Vec<Option<Point>> = vec![None; found.components.len()];
    for (triangle, component) in own.mesh.triangles().iter().zip(&found.of) {
        let least = &mut least[*component as usize];
        for v in triangle {
            if least.is_none_or(|least| *v < least) {
                *least = Some(*v);
            }
        }
    }
    for n in met.map(TriangleMarks::numbers).into_iter().flatten() {
        least[found.of[n as usize] as usize] = None;
    }
    for (least, component) in least.iter_mut().zip(&found.components) {
        let (low, high) = (component.bounds.min, component.bounds.max);
        if (0..3).any(|a| low[a] < around.min[a] || high[a] > around.max[a]) {
            *least = None;
        }
    }
    let points: Vec<Point> = least.into_iter().flatten().collect();
    if points.is_empty() {
        return Ok(ComponentCount::default());
    }
    let method = MeshInside::of(other.mesh);
    let answers = par::map(points, |point| {
        progress.check()?;
        Ok(method.holds(other, &RaySample::vertex(point)) == Some(true))
    });
    let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
    let inside = answers.iter().filter(|is_inside| **is_inside).count();
    Ok(ComponentCount { inside: inside as u64, is_all: inside == found.components.len() })
}

impl MeshInside {
    pub(super) fn of(mesh: &Mesh) -> Self {
        match mesh.seal() {
            Seal::Oriented => Self::NonZero,
            Seal::Closed => Self::EvenOdd,
            Seal::Open => {
                let triangles = mesh.triangles().iter().map(|t| t.map(|v| v.map(f64::from)));
                Self::Winding(Winding::new(triangles.collect()))
            }
        }
    }

    /// Whether a point is inside the mesh; `None` on its surface.
    pub(super) fn holds(&self, body: &ClearanceBody, sample: &RaySample) -> Option<bool> {
        match self {
            Self::NonZero => crossings(body, sample).map(|found| found.turns != 0),
            Self::EvenOdd => crossings(body, sample).map(|found| found.count % 2 == 1),
            Self::Winding(winding) => {
                let side = |n: usize| sample.side(&body.mesh.triangles()[n]).cmp(&0).reverse();
                Some(winding.at(&sample.approximate, 1e-3, side).value.abs() > 0.5)
            }
        }
    }
}

/// A point, and directions in which it is displaced: by an infinitesimal, and by its square.
pub(super) struct RaySample {
    at: ExactPoint,
    leans: Vec<ExactPoint>,
    /// The point in doubles.
    approximate: [f64; 3],
}

impl RaySample {
    pub(super) fn vertex(point: Point) -> Self {
        Self::displaced(exact(point), vec![])
    }

    pub(super) fn displaced(at: ExactPoint, leans: Vec<ExactPoint>) -> Self {
        let approximate = fractions::rounded(&at);
        Self { at, leans, approximate }
    }

    /// On which side of a triangle's plane it is: 1 where the normal points to; 0 in the plane.
    fn side(&self, triangle: &Triangle) -> i8 {
        if let Some(sure) = self.sure_side(triangle) {
            return sure;
        }
        let [a, b, c] = triangle.map(exact);
        let normal = cross(&minus(&b, &a), &minus(&c, &a));
        let heights = std::iter::once(minus(&self.at, &a)).chain(self.leans.iter().cloned());
        first_sign(heights.map(|v| fractions::dot(&normal, &v)))
    }

    /// The same where doubles are sure. The point is off by half a unit in the last place, and all else as in
    /// [`orientation`](crate::geom::orientation): 32 u times the sizes of what goes in is more than their sum.
    fn sure_side(&self, triangle: &Triangle) -> Option<i8> {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let [a, b, c] = triangle.map(|v| v.map(f64::from));
        let (mut sum, mut size) = (0.0, 0.0);
        for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let (p, q) = ((b[i] - a[i]) * (c[j] - a[j]), (b[j] - a[j]) * (c[i] - a[i]));
            sum += (p - q) * (self.approximate[k] - a[k]);
            size += (p.abs() + q.abs()) * (self.approximate[k].abs() + a[k].abs());
        }
        (sum.abs() > BOUND * size).then_some(if sum > 0.0 { 1 } else { -1 })
    }

    /// On which side of an edge from `p` to `q` it is, seen along x; 0 only if the edge is seen as a point.
    fn side_of_edge(&self, p: &Point, q: &Point) -> i8 {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let [p64, q64] = [p, q].map(|v| v.map(f64::from));
        let [_, y, z] = self.approximate;
        let (along_y, along_z) = (q64[1] - p64[1], q64[2] - p64[2]);
        let sum = along_y * (z - p64[2]) - along_z * (y - p64[1]);
        let size = along_y.abs() * (z.abs() + p64[2].abs()) + along_z.abs() * (y.abs() + p64[1].abs());
        if sum.abs() > BOUND * size {
            return if sum > 0.0 { 1 } else { -1 };
        }
        let [p, q] = [p, q].map(|v| exact(*v));
        let e = minus(&q, &p);
        let turn = |v: &ExactPoint| &(&e[1] * &v[2]) - &(&e[2] * &v[1]);
        let displaced = std::iter::once(turn(&minus(&self.at, &p))).chain(self.leans.iter().map(turn));
        first_sign(displaced.chain([-&e[2], e[1].clone()]))
    }

    /// Whether the triangle is crossed ahead: 1 outwards, -1 inwards, 0 not; `None` if the point lies on it.
    fn crosses(&self, triangle: &Triangle) -> Option<i8> {
        let [a, b, c] = triangle;
        // Seen as a line, it has edges of both ways.
        if [1, 2].into_iter().any(|i| a[i] == b[i] && b[i] == c[i]) {
            return Some(0);
        }
        let turn = self.side_of_edge(a, b);
        if turn == 0 || self.side_of_edge(b, c) != turn || self.side_of_edge(c, a) != turn {
            return Some(0);
        }
        match self.side(triangle) {
            0 => None,
            side if side == -turn => Some(turn),
            _ => Some(0),
        }
    }
}

/// The sign of the first number that has one.
fn first_sign(numbers: impl Iterator<Item = Rational>) -> i8 {
    numbers.map(|number| fractions::sign(&number)).find(|sign| *sign != 0).unwrap_or(0)
}

/// The crossings of a ray from the point along x; `None` if the point lies on the mesh.
fn crossings(body: &ClearanceBody, sample: &RaySample) -> Option<RayCount> {
    let [x, y, z] = sample.approximate.map(|c| [c.next_down(), c.next_up()]);
    let triangles = body.mesh.triangles();
    let mut waiting = vec![&body.tree.root];
    let mut found = RayCount::default();
    while let Some(node) = waiting.pop() {
        let parts = node.parts(triangles);
        let is_ahead = |lane: &usize| {
            let [_, low_y, low_z, high_x, high_y, high_z] =
                parts.boxes.each_ref().map(|row| f64::from(row[*lane]));
            low_y <= y[1] && low_z <= z[1] && high_x >= x[0] && high_y >= y[0] && high_z >= z[0]
        };
        for lane in (0..parts.boxes[0].len()).filter(is_ahead) {
            if let Some(node) = parts.nodes.get(lane) {
                waiting.push(node);
            } else if let Some(number) = parts.numbers.get(lane) {
                let turn = sample.crosses(&triangles[*number as usize])?;
                found.turns += i64::from(turn);
                found.count += u64::from(turn != 0);
            }
        }
    }
    Some(found)
}
