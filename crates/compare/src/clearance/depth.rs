//! Depth of penetration of two meshes that share volume: the length of the least translation of one of them
//! after which they share none.
//!
//! A translation that separates the convex hulls separates the meshes, so the depth of the hulls is an upper
//! bound. There are two lower bounds. One is the distance of the deepest measured point of one mesh inside the
//! other. The other is for meshes that are convex, or convex except for the rounding of their coordinates: the
//! points on the inner side of all triangles are a convex part of the mesh that is almost as large as the hull.

use super::ClearanceBody;
use super::ClearanceOptions;
use super::hulls::{self, HullSeparation};
use super::samples::{self, DeepestPoint};
use voxelize_core::error::Result;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Point, Triangle, orientation};
use voxelize_core::par::{self, Progress};
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::pairs;

/// Depth of penetration of two meshes. If both are convex, the depth is exact. Otherwise it is between two
/// bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PenetrationDepth {
    /// Lower bound: no shorter translation separates the meshes.
    pub least: f64,
    /// Upper bound: the length of `separation`.
    pub most: f64,
    /// Both meshes are convex and the bounds are equal: the depth, rounded once.
    pub is_exact: bool,
    /// Translation of the first mesh that separates the convex hulls of the meshes. No shorter one separates
    /// the hulls, unless the search ended early.
    pub separation: [f64; 3],
    /// Point of one mesh that is inside the other mesh, farther from its surface than all other measured
    /// points. `None` if both meshes are convex, or no measured point is inside.
    pub deepest: Option<InnerPoint>,
}

/// Point of the surface of one mesh inside the other mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerPoint {
    /// Lower bound of the distance from the surface of the other mesh.
    pub depth: f64,
    /// Coordinates of the point.
    pub point: [f64; 3],
    /// The mesh that has the point: 0 for the first, 1 for the second.
    pub mesh: usize,
}

/// Maximum number of pairs of a triangle and a vertex that are tested to find out whether a mesh is convex.
const TESTS: usize = 1 << 26;

/// Greatest depth of a dent, as a share of the distance of the farthest vertex from the middle, for which a
/// mesh counts as almost convex.
const DENT: f64 = 1e-3;

/// Number of triangles that are tested between two checks for cancellation.
const CHUNK: usize = 256;

impl ClearanceBody<'_> {
    /// Returns the depth of penetration of this mesh, which is the first one, and `second`. `None` if it is not
    /// known: a mesh is not closed and oriented, or their hulls share no volume or are almost flat.
    ///
    /// The result does not depend on the number of threads or on the order of the triangles.
    ///
    /// # Errors
    /// Fails if there is not enough memory, or if the work was cancelled.
    pub fn depth(
        &self,
        second: &Self,
        options: &ClearanceOptions,
    ) -> Result<Option<PenetrationDepth>> {
        let pair = [self, second];
        let progress = options.progress;
        let is_closed = |body: &Self| body.mesh.closedness() == Closedness::Oriented;
        if !pair.iter().all(|body| is_closed(body)) {
            return Ok(None);
        }
        pairs::refuse_more(depth_bytes(pair), options.max_bytes)?;
        let vertices = pair.map(|body| distinct_vertices(body.mesh.triangles()));
        let Some(hulls) = hulls::separate(vertices.each_ref().map(Vec::as_slice), progress)? else {
            return Ok(None);
        };
        let mut losses = vec![];
        for (body, vertices) in pair.iter().zip(&vertices) {
            losses.extend(convex_loss(body, vertices, progress)?);
        }
        let convex = match losses.as_slice() {
            [first, second] => (hulls.least - first - second).max(0.0),
            _ => 0.0,
        };
        let is_convex = losses == [0.0, 0.0];
        let is_exact = is_convex && hulls.least == hulls.length;
        let deepest = if is_convex {
            None
        } else {
            samples::deepest(pair, progress)?
        };
        Ok(Some(PenetrationDepth::new(
            &hulls, convex, is_exact, deepest,
        )))
    }
}

impl PenetrationDepth {
    fn new(
        hulls: &HullSeparation,
        convex: f64,
        is_exact: bool,
        deepest: Option<DeepestPoint>,
    ) -> Self {
        let measured = deepest.map_or(0.0, |deepest| deepest.depth);
        Self {
            least: convex.max(measured).min(hulls.length),
            most: hulls.length,
            is_exact,
            separation: hulls.translation,
            deepest: deepest.map(|deepest| InnerPoint {
                depth: deepest.depth,
                point: deepest.point.map(f64::from),
                mesh: deepest.mesh,
            }),
        }
    }
}

/// Returns the maximum memory for the depth in bytes, in addition to the bodies.
fn depth_bytes(pair: [&ClearanceBody; 2]) -> u64 {
    let mut need = hulls::POLYTOPE_BYTES;
    let mut largest = 0;
    for body in pair {
        let triangles = body.mesh.triangles().len();
        // The points that are equally high along a direction are copied.
        need += (2 * 3 * triangles * size_of::<Point>()) as u64;
        largest = largest.max(samples::bytes_for(triangles));
    }
    need + largest
}

/// Returns the distinct vertices in lexicographic order.
fn distinct_vertices(triangles: &[Triangle]) -> Vec<Point> {
    let mut vertices: Vec<Point> = triangles.as_flattened().to_vec();
    for c in vertices.as_flattened_mut() {
        // -0 becomes 0.
        *c += 0.0;
    }
    vertices.sort_unstable_by(|a, b| a.partial_cmp(b).expect("finite"));
    vertices.dedup();
    vertices
}

/// Returns an upper bound of the depth that is lost if the convex hull of a mesh is replaced by a convex part
/// of the mesh. It is zero if the mesh is convex. `None` if the mesh has deep dents, or too many triangles.
///
/// Let e be the greatest height of a vertex above the plane of a triangle. The points on the inner side of all
/// planes are inside the mesh, because every triangle is seen from its inner side, so that the winding number is
/// positive. If the planes are at least r away from a point c among them, the hull shrunk towards c by the
/// factor r / (r + e) is among them. No vertex is farther from c than R, so shrinking lowers the height of the
/// hull along any direction by at most R e / (r + e).
fn convex_loss(
    body: &ClearanceBody,
    vertices: &[Point],
    progress: &dyn Progress,
) -> Result<Option<f64>> {
    let triangles = body.mesh.triangles();
    if triangles.len().saturating_mul(vertices.len()) > TESTS {
        return Ok(None);
    }
    let outwards = if body.mesh.volume() < 0.0 { -1 } else { 1 };
    let mut middle = [0.0; 3];
    for v in vertices {
        for (middle, c) in middle.iter_mut().zip(v) {
            *middle += f64::from(*c) / vertices.len() as f64;
        }
    }
    let way_to = |v: &Point| minus(v.map(f64::from), middle);
    let mut farthest: f64 = 0.0;
    for v in vertices {
        let way = way_to(v);
        farthest = farthest.max(dot(way, way).sqrt());
    }
    let mut highest: f64 = 0.0;
    let mut nearest = f64::INFINITY;
    // A mesh with dents usually has one among its first triangles.
    for chunk in triangles.chunks(CHUNK) {
        progress.check()?;
        let found = par::map(chunk.iter().collect(), |triangle| {
            PlaneHeights::of(triangle, vertices, outwards, middle)
        });
        for heights in found.into_iter().flatten() {
            highest = highest.max(heights.highest);
            nearest = nearest.min(heights.middle);
        }
        if highest > DENT * farthest {
            return Ok(None);
        }
    }
    if highest == 0.0 {
        return Ok(Some(0.0));
    }
    if nearest <= 0.0 {
        return Ok(None);
    }
    Ok(Some(
        farthest * highest / (nearest + highest) * (1.0 + 1e-9),
    ))
}

/// Heights above the plane of a triangle.
struct PlaneHeights {
    /// Upper bound of the heights of all vertices. Zero if exact arithmetic finds none above the plane, and
    /// infinite if rounding prevents a bound.
    highest: f64,
    /// Lower bound of the distance of the middle below the plane.
    middle: f64,
}

impl PlaneHeights {
    /// Returns the heights above a triangle. `outwards` is 1 if normals point outwards, -1 if they point
    /// inwards. `None` for a triangle without area.
    ///
    /// Error bound, with u = 2^-53: differences of coordinates have one rounding, the components of the normal
    /// errors below 4 u times the product of both edges, and heights below 12 u times that product and the
    /// length of the way. The bound 32 u has room for the division.
    fn of(triangle: &Triangle, vertices: &[Point], outwards: i8, middle: [f64; 3]) -> Option<Self> {
        const BOUND: f64 = 32.0 / (1_u64 << 53) as f64;
        let [a, b, c] = *triangle;
        let from_a = |p: Point| minus(p.map(f64::from), a.map(f64::from));
        let length = |v: [f64; 3]| dot(v, v).sqrt();
        let edges = [from_a(b), from_a(c)];
        let normal = cross(edges[0], edges[1]).map(|n| n * f64::from(outwards));
        let size = length(edges[0]) * length(edges[1]);
        let least_length = length(normal) - BOUND * size;
        let height_bounds = |way: [f64; 3]| {
            let height = dot(normal, way);
            let error = BOUND * size * length(way);
            [height - error, height + error].map(|height| height / least_length)
        };
        let mut above = vec![];
        let mut has_area = false;
        for v in vertices {
            let side = orientation::side([a, b, c, *v]);
            has_area |= side != 0;
            if side == outwards {
                above.push(*v);
            }
        }
        if !has_area {
            // All vertices are in the plane of a triangle without area.
            return None;
        }
        if least_length <= 0.0 {
            let highest = if above.is_empty() { 0.0 } else { f64::INFINITY };
            return Some(Self {
                highest,
                middle: f64::NEG_INFINITY,
            });
        }
        let mut highest: f64 = 0.0;
        for v in above {
            highest = highest.max(height_bounds(from_a(v))[1]);
        }
        let [_, of_middle] = height_bounds(minus(middle, a.map(f64::from)));
        Some(Self {
            highest,
            middle: -of_middle * (1.0 - 2.0 * BOUND * size / least_length),
        })
    }
}
