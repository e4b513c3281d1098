//! Exact decision whether two meshes share volume, if they meet without crossing triangles.
//!
//! If they share volume, and no component is entirely inside the other mesh, the shared volume reaches a
//! corner of the intersection of two triangles. The reason is that pieces of both surfaces bound this volume,
//! and the pieces meet in such corners. Around each corner, the edges of one mesh that lie in a triangle of
//! the other mesh divide this triangle into sectors. A test point is moved from the corner into each sector
//! by an infinitesimal, and then to either side of the triangle by the square of the infinitesimal. The
//! meshes share volume if and only if some test point is inside both (docs/internals/clearance.md has the
//! proof).

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicBool};

use super::inside::MeshInside;
use super::meetings::{MeetingPlace, PLANES};
use super::{ClearanceBody, pair_of};
use voxelize_core::error::Result;
use voxelize_core::geom::fractions::{
    ExactPoint, cross, dot, exact, is_zero, minus, plus, rounded,
};
use voxelize_core::geom::separation::{common, is_on_segment};
use voxelize_core::geom::tri_tri::{self, Meeting};
use voxelize_core::geom::{Bounds, Triangle, orientation};
use voxelize_core::par::{self, Progress};
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::pairs::{RaySample, TriangleMarks};

/// Returns `true` if a plane separates the meshes. Planes perpendicular to the axes are tried, and the planes
/// of the triangles in the first of the meeting pairs.
pub(super) fn are_parted(pair: [&ClearanceBody; 2], first: &[MeetingPlace]) -> bool {
    let [a, b] = pair.map(|body| body.mesh.bounds());
    (0..3).any(|i| a.max[i] <= b.min[i] || b.max[i] <= a.min[i])
        || first
            .iter()
            .take(PLANES)
            .flat_map(|met| pair_of(pair, met.triangles))
            .any(|t| parts(pair, t))
}

/// Returns `true` if the plane of the triangle separates the meshes.
fn parts(pair: [&ClearanceBody; 2], [a, b, c]: &Triangle) -> bool {
    let is_beside = |body: &ClearanceBody, sign: i8| {
        body.mesh
            .triangles()
            .as_flattened()
            .iter()
            .all(|v| orientation::side([*a, *b, *c, *v]) * sign >= 0)
    };
    [1, -1]
        .into_iter()
        .any(|sign| is_beside(pair[0], sign) && is_beside(pair[1], -sign))
}

/// Returns `true` if some test point is inside both meshes. Test points are next to the corners at which a
/// triangle of the first mesh meets the second mesh. The marks state which triangles meet. If a mesh is not
/// closed, the result is `false`, because such a mesh has no volume.
///
/// # Errors
/// Fails if the work was cancelled.
pub(super) fn share_volume(
    pair: [&ClearanceBody; 2],
    [own, other]: [&TriangleMarks; 2],
    progress: &dyn Progress,
) -> Result<bool> {
    if pair
        .iter()
        .any(|body| body.mesh.closedness() == Closedness::Open)
    {
        return Ok(false);
    }
    let insides = pair.map(|body| MeshInside::of(body.mesh));
    let is_inside_both = |sample: &RaySample| {
        pair.iter()
            .zip(&insides)
            .all(|(body, inside)| inside.holds(body, sample))
    };
    let met = own.numbers();
    progress.begin("contacts", met.len() as u64);
    let found = AtomicBool::new(false);
    let answers = par::share(&met, |next| {
        for n in next {
            progress.check()?;
            progress.advance(1);
            if found.load(atomic::Ordering::Relaxed) {
                break;
            }
            let own = &pair[0].mesh.triangles()[*n as usize];
            if MetTriangle::new(own, &partners(own, pair[1], other)).any_sample(&is_inside_both) {
                found.store(true, atomic::Ordering::Relaxed);
            }
        }
        Ok(())
    });
    answers.into_iter().collect::<Result<()>>()?;
    Ok(found.into_inner())
}

/// Returns the marked triangles of a mesh that meet the triangle `own`.
fn partners<'a>(
    own: &Triangle,
    body: &ClearanceBody<'a>,
    marks: &TriangleMarks,
) -> Vec<&'a Triangle> {
    let Bounds { min, max } = Bounds::of(std::slice::from_ref(own));
    let mut found = vec![];
    body.tree.around(&[min, max], &mut |n| {
        let other = &body.mesh.triangles()[n as usize];
        if marks.has(n) && tri_tri::meeting(own, other) != Meeting::Apart {
            found.push(other);
        }
    });
    found
}

/// Triangle of one mesh, and its intersections with the other mesh.
struct MetTriangle {
    corners: [ExactPoint; 3],
    normal: ExactPoint,
    /// For each edge, the direction in the plane that points to the left of the edge. This is the direction
    /// into the triangle.
    lefts: [ExactPoint; 3],
    /// Two axes onto which the triangle is projected. In the projection its normal points towards the viewer.
    /// Meaningless if the triangle has no normal.
    seen: [usize; 2],
    /// Corners of the intersections with triangles of the other mesh.
    places: Vec<ExactPoint>,
    /// Edges of the triangle itself, and edges of the other triangles that lie in its plane.
    edges: Vec<FlatEdge>,
}

impl MetTriangle {
    fn new(own: &Triangle, others: &[&Triangle]) -> Self {
        let corners = own.map(exact);
        let normal = cross(
            &minus(&corners[1], &corners[0]),
            &minus(&corners[2], &corners[0]),
        );
        let mut places = vec![];
        let mut edges = corners_of_edges(&corners).to_vec();
        for other in others {
            places.extend(common(own, other));
            let other = other.map(exact);
            let is_flat = |v: &ExactPoint| dot(&normal, &minus(v, &corners[0])).is_zero();
            edges.extend(
                corners_of_edges(&other)
                    .into_iter()
                    .filter(|ends| ends.iter().all(is_flat)),
            );
        }
        places.sort();
        places.dedup();
        edges.sort();
        edges.dedup();
        let lefts = corners_of_edges(&corners).map(|[p, q]| cross(&normal, &minus(&q, &p)));
        let seen = match (0..3).find(|i| !normal[*i].is_zero()).unwrap_or(0) {
            i if normal[i].is_positive() => [(i + 1) % 3, (i + 2) % 3],
            i => [(i + 2) % 3, (i + 1) % 3],
        };
        let edges = edges.into_iter().map(FlatEdge::new).collect();
        Self {
            corners,
            normal,
            lefts,
            seen,
            places,
            edges,
        }
    }

    /// Returns `true` if `holds` is true for some test point in a sector of the triangle. A triangle without
    /// area has no sectors. Its corners also belong to neighbouring triangles, which have test points there.
    fn any_sample(&self, holds: &impl Fn(&RaySample) -> bool) -> bool {
        if is_zero(&self.normal) {
            return false;
        }
        let sides = [self.normal.clone(), self.normal.each_ref().map(|c| -c)];
        for place in &self.places {
            for inward in self.sectors(place) {
                for side in &sides {
                    let leans = vec![inward.clone(), side.clone()];
                    if holds(&RaySample::displaced(place.clone(), leans)) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Edges divide the triangle around a point into sectors. Returns one direction into each sector.
    fn sectors(&self, place: &ExactPoint) -> Vec<ExactPoint> {
        let rays = self.rays(place);
        if rays.is_empty() {
            // No edge passes through the point, so its whole neighbourhood is one sector.
            let [a, b, _] = &self.corners;
            return vec![minus(b, a)];
        }
        let mut sectors = vec![];
        for (ray, next) in rays.iter().zip(rays.iter().cycle().skip(1)) {
            let inward = match self.turn(ray, next) {
                Ordering::Greater => plus(ray, next),
                // The next ray is half a turn or more away.
                _ => cross(&self.normal, ray),
            };
            if self.leads_inwards(place, &inward) {
                sectors.push(inward);
            }
        }
        sectors
    }

    /// Returns the different directions in which edges leave a point, in order around the point.
    fn rays(&self, place: &ExactPoint) -> Vec<ExactPoint> {
        let rounded = rounded(place);
        let mut rays = vec![];
        for edge in &self.edges {
            let [p, q] = &edge.ends;
            if !edge.may_hold(&rounded) || !is_on_segment(place, [p, q]) {
                continue;
            }
            for end in &edge.ends {
                let ray = minus(end, place);
                if !is_zero(&ray) {
                    rays.push(ray);
                }
            }
        }
        if let Some(first) = rays.first().cloned() {
            // 0 is along the first ray, 1 to its left, 2 opposite to it, 3 to its right.
            let part = |ray: &ExactPoint| match self.turn(&first, ray) {
                Ordering::Greater => 1,
                Ordering::Less => 3,
                Ordering::Equal => 2 * u8::from(!dot(&first, ray).is_positive()),
            };
            rays.sort_by(|a, b| part(a).cmp(&part(b)).then_with(|| self.turn(b, a)));
            rays.dedup_by(|b, a| part(a) == part(b) && self.turn(a, b).is_eq());
        }
        rays
    }

    /// Returns `Greater` if the shorter turn between two directions in the plane is to the left, for a viewer
    /// towards whom the normal points.
    fn turn(&self, from: &ExactPoint, to: &ExactPoint) -> Ordering {
        let [x, y] = self.seen;
        (&from[x] * &to[y]).cmp(&(&from[y] * &to[x]))
    }

    /// Returns `true` if a direction leads from a point of the triangle into its interior.
    fn leads_inwards(&self, place: &ExactPoint, inward: &ExactPoint) -> bool {
        self.lefts.iter().zip(&self.corners).all(|(left, p)| {
            let height = dot(left, &minus(place, p));
            let height = if height.is_zero() {
                dot(left, inward)
            } else {
                height
            };
            height.is_positive()
        })
    }
}

fn corners_of_edges([a, b, c]: &[ExactPoint; 3]) -> [[ExactPoint; 2]; 3] {
    [[a, b], [b, c], [c, a]].map(|ends| ends.map(Clone::clone))
}

/// Edge that lies in the plane of a triangle, with its bounds in doubles.
struct FlatEdge {
    ends: [ExactPoint; 2],
    bounds: [[f64; 2]; 3],
}

impl FlatEdge {
    fn new(ends: [ExactPoint; 2]) -> Self {
        let [p, q] = ends.each_ref().map(rounded);
        Self {
            ends,
            bounds: std::array::from_fn(|i| [p[i].min(q[i]), p[i].max(q[i])]),
        }
    }

    /// Returns `false` if a point with these rounded coordinates is certainly not on the edge. This is
    /// correct because rounding is monotonic.
    fn may_hold(&self, rounded: &[f64; 3]) -> bool {
        self.bounds
            .iter()
            .zip(rounded)
            .all(|([low, high], c)| low <= c && c <= high)
    }
}
