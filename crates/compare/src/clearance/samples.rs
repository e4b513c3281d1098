//! Deepest point of the surface of one mesh inside another mesh.
//!
//! If a point of one mesh is inside the other mesh at a distance d from its surface, every translation that is
//! shorter than d leaves the point inside. So the greatest such distance is a lower bound of every translation
//! that separates the meshes.
//!
//! A piece of the surface is measured at one point. The rest of the piece is deeper by at most its distance
//! from this point, so pieces that cannot have the deepest point are skipped, and the most promising pieces are
//! divided first: runs of neighbouring triangles, then single triangles, then parts of a triangle.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::ClearanceBody;
use super::inside::MeshInside;
use voxelize_core::error::Result;
use voxelize_core::geom::distance::squared_distance;
use voxelize_core::geom::vector::{dot, minus};
use voxelize_core::geom::{Bounds, Point, Triangle, morton};
use voxelize_core::par::{self, Progress};
use voxelize_meshes::pairs::boxes::{LANES, squared_gaps};
use voxelize_meshes::pairs::{RaySample, TriangleKey};

/// Maximum number of points that are measured on each mesh.
const POINTS: usize = 1 << 15;

/// Number of pieces that are measured in parallel. The result depends on it, and not on the number of threads.
const BATCH: usize = 64;

/// The search ends when no other point is deeper by this share.
const TOLERANCE: f64 = 1.0 / 256.0;

/// Relative error bound of a distance: 2^-46 of the largest coordinate, doubled for the square root.
const ROUNDING: f64 = 1.0 / (1_u64 << 45) as f64;

/// Memory of a search in bytes: the sorted triangles, and two pieces for each point.
pub(super) fn bytes_for(triangles: usize) -> u64 {
    let sorting = size_of::<(u64, TriangleKey, u32)>() + size_of::<u32>();
    (triangles * sorting + 2 * POINTS * size_of::<SurfacePiece>()) as u64
}

/// Point of one mesh inside the other mesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeepestPoint {
    /// Lower bound of the distance from the surface of the other mesh.
    pub depth: f64,
    pub point: Point,
    /// Index of the mesh whose surface has the point.
    pub mesh: usize,
}

/// Returns the deepest point that a search of limited length finds. `None` if no measured point of a mesh is
/// inside the other mesh. The meshes are closed.
///
/// # Errors
/// Fails if the work was cancelled.
pub(super) fn deepest(
    pair: [&ClearanceBody; 2],
    progress: &dyn Progress,
) -> Result<Option<DeepestPoint>> {
    let mut best: Option<DeepestPoint> = None;
    for mesh in [0, 1] {
        let search = SurfaceSearch::new(pair[mesh], pair[1 - mesh]);
        // Both searches begin at zero, so that the result does not depend on the order of the meshes.
        let Some((depth, point)) = search.run(progress)? else {
            continue;
        };
        if best.is_none_or(|best| (depth, best.point) > (best.depth, point)) {
            best = Some(DeepestPoint { depth, point, mesh });
        }
    }
    Ok(best)
}

/// SurfacePiece of a surface.
struct SurfacePiece {
    shape: SurfaceShape,
    /// Upper bound of the depth of its points.
    upper: f64,
    /// Triangle of the other mesh that is near the piece.
    near: u32,
    /// Pieces that were found earlier come first if their bounds are equal.
    number: u64,
}

enum SurfaceShape {
    /// Triangles at these places of the sorted list.
    Run(Range<usize>),
    /// Part of the triangle with this index, by its corners.
    Part(u32, Triangle),
}

impl Ord for SurfacePiece {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_number = || other.number.cmp(&self.number);
        self.upper.total_cmp(&other.upper).then_with(by_number)
    }
}

impl PartialOrd for SurfacePiece {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SurfacePiece {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SurfacePiece {}

/// Measured point of a piece.
struct Measured {
    point: Point,
    /// Distance from the other surface, and its nearest triangle.
    distance: f64,
    nearest: u32,
    is_inside: bool,
    /// Distance of the point from its own surface, on which it may not lie because of rounding.
    off: f64,
    /// Greatest distance of a point of the piece.
    radius: f64,
}

/// Search of the surface of one mesh for the deepest point in another mesh.
struct SurfaceSearch<'a> {
    own: &'a ClearanceBody<'a>,
    other: &'a ClearanceBody<'a>,
    inside: MeshInside,
    /// Indices of the triangles of the own mesh whose bounds meet those of the other mesh, along a
    /// space-filling curve.
    sorted: Vec<u32>,
    /// Error bound of a distance.
    error: f64,
}

impl<'a> SurfaceSearch<'a> {
    fn new(own: &'a ClearanceBody<'a>, other: &'a ClearanceBody<'a>) -> Self {
        let bounds = own.mesh.bounds();
        let around = other.mesh.bounds();
        let mut keys = vec![];
        for (n, triangle) in own.mesh.triangles().iter().enumerate() {
            let Bounds { min, max } = Bounds::of(std::slice::from_ref(triangle));
            if (0..3).all(|a| min[a] <= around.max[a] && max[a] >= around.min[a]) {
                let position = curve_position(bounds, [min, max]);
                keys.push((position, TriangleKey::of(triangle), n as u32));
            }
        }
        keys.sort_unstable();
        let corners = [bounds.min, bounds.max, around.min, around.max];
        let largest = corners
            .as_flattened()
            .iter()
            .fold(0.0_f32, |most, c| most.max(c.abs()));
        Self {
            own,
            other,
            inside: MeshInside::of(other.mesh),
            sorted: keys.into_iter().map(|(_, _, n)| n).collect(),
            error: f64::from(largest) * ROUNDING,
        }
    }

    /// Returns the depth of the deepest point that was found, and the point. `None` if none was found.
    fn run(&self, progress: &dyn Progress) -> Result<Option<(f64, Point)>> {
        let mut best = None;
        if self.sorted.is_empty() {
            return Ok(None);
        }
        let mut depth = 0.0;
        let mut queue = BinaryHeap::new();
        let mut number = 0;
        let mut measured = 0;
        let whole = SurfaceShape::Run(0..self.sorted.len());
        queue.push(SurfacePiece {
            shape: whole,
            upper: f64::INFINITY,
            near: 0,
            number,
        });
        while measured < POINTS {
            progress.check()?;
            let mut batch = vec![];
            while batch.len() < BATCH
                && let Some(piece) = queue.pop()
            {
                if piece.upper <= depth * (1.0 + TOLERANCE) {
                    // All other pieces have lower bounds.
                    queue.clear();
                    break;
                }
                batch.push(piece);
            }
            if batch.is_empty() {
                break;
            }
            measured += batch.len();
            let found = par::map(batch, |piece| {
                let measured = self.measured(&piece, depth);
                (piece, measured)
            });
            for (piece, found) in found {
                let Some(found) = found else {
                    continue;
                };
                let signed = if found.is_inside {
                    found.distance
                } else {
                    -found.distance
                };
                let certain = signed - found.off - self.error;
                if certain > depth {
                    depth = certain;
                    best = Some((certain, found.point));
                }
                let upper = signed + found.radius;
                if upper <= depth {
                    continue;
                }
                for shape in self.divided(piece.shape) {
                    number += 1;
                    queue.push(SurfacePiece {
                        shape,
                        upper,
                        near: found.nearest,
                        number,
                    });
                }
            }
        }
        Ok(best)
    }

    /// Measures the first point of a piece. `None` if no point of the piece is deeper than `depth`.
    fn measured(&self, piece: &SurfacePiece, depth: f64) -> Option<Measured> {
        let point = self.first_point(&piece.shape);
        let at = point.map(f64::from);
        let distance_to = |corner: &Point| {
            let way = minus(corner.map(f64::from), at);
            dot(way, way).sqrt()
        };
        let mut radius: f64 = 0.0;
        let mut off = 0.0;
        match &piece.shape {
            SurfaceShape::Run(places) => {
                for n in &self.sorted[places.clone()] {
                    for corner in &self.own.mesh.triangles()[*n as usize] {
                        radius = radius.max(distance_to(corner));
                    }
                }
            }
            SurfaceShape::Part(n, corners) => {
                for corner in corners {
                    radius = radius.max(distance_to(corner));
                }
                let triangle = &self.own.mesh.triangles()[*n as usize];
                off = squared_distance(at, triangle).sqrt() + self.error;
            }
        }
        let (distance, nearest) = self.distance(point, piece.near);
        if distance + radius <= depth {
            return None;
        }
        let is_inside = self.inside.holds(self.other, &RaySample::vertex(point));
        Some(Measured {
            point,
            distance,
            nearest,
            is_inside,
            off,
            radius,
        })
    }

    /// Returns the point at which a piece is measured.
    fn first_point(&self, shape: &SurfaceShape) -> Point {
        match shape {
            SurfaceShape::Run(places) => {
                let n = self.sorted[places.start.midpoint(places.end)];
                let [a, b, c] = self.own.mesh.triangles()[n as usize];
                [b, c]
                    .into_iter()
                    .fold(a, |least, v| if v < least { v } else { least })
            }
            SurfaceShape::Part(_, [a, b, c]) => std::array::from_fn(|i| {
                ((f64::from(a[i]) + f64::from(b[i]) + f64::from(c[i])) / 3.0) as f32
            }),
        }
    }

    /// Divides a piece. A run of one triangle becomes a part, and the longest side of a part is halved.
    fn divided(&self, shape: SurfaceShape) -> Vec<SurfaceShape> {
        match shape {
            SurfaceShape::Run(places) if places.len() == 1 => {
                let n = self.sorted[places.start];
                let mut corners = self.own.mesh.triangles()[n as usize];
                corners.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
                vec![SurfaceShape::Part(n, corners)]
            }
            SurfaceShape::Run(places) => {
                let middle = places.start.midpoint(places.end);
                vec![
                    SurfaceShape::Run(places.start..middle),
                    SurfaceShape::Run(middle..places.end),
                ]
            }
            SurfaceShape::Part(n, corners) => halves(corners)
                .into_iter()
                .flatten()
                .map(|half| SurfaceShape::Part(n, half))
                .collect(),
        }
    }

    /// Returns the distance from a point to the other surface, and the nearest triangle. The search begins with
    /// the triangle `near`. Boxes are skipped only if they are farther by more than the error of a distance, so
    /// that the result does not depend on where the search begins.
    fn distance(&self, point: Point, near: u32) -> (f64, u32) {
        let triangles = self.other.mesh.triangles();
        let at = point.map(f64::from);
        let with_error = |squared: f64| (squared.sqrt() + self.error).powi(2);
        let first = squared_distance(at, &triangles[near as usize]);
        let least = Cell::new(first);
        let limit = Cell::new(with_error(first));
        let nearest = Cell::new(near);
        let bounds = [point, point];
        self.other.tree.visit(
            &|node| squared_gap(&node.bounds, at) <= limit.get(),
            &|boxes| {
                let mut gaps = [0.0; LANES];
                squared_gaps(boxes, &bounds, &mut gaps);
                let is_near = |mask, gap: &f64| mask << 1 | u32::from(*gap <= limit.get());
                gaps.iter().rev().fold(0, is_near)
            },
            &mut |n| {
                let found = squared_distance(at, &triangles[n as usize]);
                if found < least.get() {
                    least.set(found);
                    limit.set(with_error(found));
                    nearest.set(n);
                }
            },
        );
        (least.get().sqrt(), nearest.get())
    }
}

/// Returns the halves of a triangle whose longest side is divided. `None` if the side is too short.
fn halves([a, b, c]: Triangle) -> Option<[Triangle; 2]> {
    let length = |p: &Point, q: &Point| {
        let way = minus(p.map(f64::from), q.map(f64::from));
        dot(way, way)
    };
    let [ab, bc, ca] = [length(&a, &b), length(&b, &c), length(&c, &a)];
    let (from, to, tip) = if ab >= bc && ab >= ca {
        (a, b, c)
    } else if bc >= ca {
        (b, c, a)
    } else {
        (c, a, b)
    };
    let middle: Point = std::array::from_fn(|i| from[i].midpoint(to[i]));
    if middle == from || middle == to {
        return None;
    }
    Some([[from, middle, tip], [middle, to, tip]])
}

/// Returns the squared distance from a point to a box.
fn squared_gap([low, high]: &[[f32; 3]; 2], point: [f64; 3]) -> f64 {
    let mut squared = 0.0;
    for i in 0..3 {
        let below = f64::from(low[i]) - point[i];
        let above = point[i] - f64::from(high[i]);
        squared += below.max(above).max(0.0).powi(2);
    }
    squared
}

/// Returns the position of a box along a space-filling curve through the bounds of the mesh.
fn curve_position(bounds: &Bounds, [from, to]: [Point; 2]) -> u64 {
    const STEPS: f64 = (1_u64 << 20) as f64;
    morton::code(std::array::from_fn(|axis| {
        let low = f64::from(bounds.min[axis]);
        let size = f64::from(bounds.max[axis]) - low;
        let middle = (f64::from(from[axis]) + f64::from(to[axis])) / 2.0;
        if size > 0.0 {
            ((middle - low) / size * STEPS) as u64
        } else {
            0
        }
    }))
}
