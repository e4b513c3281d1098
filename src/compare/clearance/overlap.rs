//! Whether meshes that meet, but of which no triangle passes through another, have a volume in common, exactly.
//!
//! If they have, and no component is inside the other mesh as a whole, that volume reaches a corner of what some two
//! triangles have in common: it is bounded by pieces of both surfaces, and where these pieces meet there are such
//! corners. Around each corner, the edges of one mesh that lie in a triangle of the other cut it into sectors. Each
//! sector is followed by an infinitesimal from the corner, then by its square to either side: if such a point is
//! inside both meshes, they share volume, and if none is they do not (docs/clearance.md has the proof).

use std::sync::atomic::{AtomicBool, Ordering};

use super::inside::{MeshInside, RaySample};
use super::meetings::{MeetingPlace, PLANES};
use super::{ClearanceBody, pair_of};
use crate::error::Result;
use crate::geom::fractions::{ExactPoint, cross, dot, exact, is_zero, minus, plus};
use crate::geom::separation::{common, is_on_segment};
use crate::geom::tri_tri::{self, Meeting};
use crate::geom::{Bounds, Rational, Triangle, orientation};
use crate::mesh::closed::Seal;
use crate::mesh::pairs::TriangleMarks;
use crate::par::{self, Progress};

/// Whether a plane lies between the meshes: across an axis, or that of a triangle of one of the first places.
pub(super) fn are_parted(pair: [&ClearanceBody; 2], first: &[MeetingPlace]) -> bool {
    let [a, b] = pair.map(|body| body.mesh.bounds());
    (0..3).any(|i| a.max[i] <= b.min[i] || b.max[i] <= a.min[i])
        || first.iter().take(PLANES).flat_map(|met| pair_of(pair, met.triangles)).any(|t| parts(pair, t))
}

/// Whether the plane of a triangle has one mesh on each side.
fn parts(pair: [&ClearanceBody; 2], [a, b, c]: &Triangle) -> bool {
    let is_beside = |body: &ClearanceBody, sign: i8| {
        body.mesh.triangles().as_flattened().iter().all(|v| orientation::side([*a, *b, *c, *v]) * sign >= 0)
    };
    [1, -1].into_iter().any(|sign| is_beside(pair[0], sign) && is_beside(pair[1], -sign))
}

/// Whether a point next to a corner of a triangle of the first mesh, where that meets the second, is inside both; the
/// triangles that meet are marked. Meshes that are not closed have no volume.
///
/// # Errors
/// If the work was cancelled.
pub(super) fn share_volume(
    pair: [&ClearanceBody; 2],
    [own, other]: [&TriangleMarks; 2],
    progress: &dyn Progress,
) -> Result<bool> {
    if pair.iter().any(|body| body.mesh.seal() == Seal::Open) {
        return Ok(false);
    }
    let insides = pair.map(|body| MeshInside::of(body.mesh));
    let is_inside_both = |sample: &RaySample| {
        pair.iter().zip(&insides).all(|(body, inside)| inside.holds(body, sample) == Some(true))
    };
    let met = own.numbers();
    progress.begin("contacts", met.len() as u64);
    let found = AtomicBool::new(false);
    let answers = par::share(&met, |next| {
        for n in next {
            progress.check()?;
            progress.advance(1);
            if found.load(Ordering::Relaxed) {
                break;
            }
            let own = &pair[0].mesh.triangles()[*n as usize];
            if MetTriangle::new(own, &partners(own, pair[1], other)).any_sample(&is_inside_both) {
                found.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    answers.into_iter().collect::<Result<()>>()?;
    Ok(found.into_inner())
}

/// The marked triangles of a mesh that meet a triangle.
fn partners<'a>(own: &Triangle, body: &ClearanceBody<'a>, marks: &TriangleMarks) -> Vec<&'a Triangle> {
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

/// A triangle of one mesh with what of the other meets it.
struct MetTriangle {
    corners: [ExactPoint; 3],
    normal: ExactPoint,
    /// The corners of its intersection with the others.
    places: Vec<ExactPoint>,
    /// Edges of the others that lie in its plane.
    cuts: Vec<[ExactPoint; 2]>,
}

impl MetTriangle {
    fn new(own: &Triangle, others: &[&Triangle]) -> Self {
        let corners = own.map(exact);
        let normal = cross(&minus(&corners[1], &corners[0]), &minus(&corners[2], &corners[0]));
        let (mut places, mut cuts) = (vec![], vec![]);
        for other in others {
            places.extend(common(own, other));
            let other = other.map(exact);
            let is_flat = other.each_ref().map(|v| dot(&normal, &minus(v, &corners[0])).is_zero());
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                if is_flat[i] && is_flat[j] {
                    cuts.push([other[i].clone(), other[j].clone()]);
                }
            }
        }
        places.sort();
        places.dedup();
        cuts.sort();
        cuts.dedup();
        Self { corners, normal, places, cuts }
    }

    /// Whether a point next to the triangle in one of its sectors has a property. One without area has no sectors, and
    /// its neighbours have its corners.
    fn any_sample(&self, holds: &impl Fn(&RaySample) -> bool) -> bool {
        if is_zero(&self.normal) {
            return false;
        }
        let sides = [self.normal.clone(), self.normal.each_ref().map(|c| -c)];
        self.places.iter().any(|place| {
            self.sectors(place).into_iter().any(|inward| {
                sides.iter().any(|side| {
                    holds(&RaySample::displaced(place.clone(), vec![inward.clone(), side.clone()]))
                })
            })
        })
    }

    /// A direction into each sector that edges make of the triangle around a point, and perhaps others.
    fn sectors(&self, place: &ExactPoint) -> Vec<ExactPoint> {
        let [a, b, c] = &self.corners;
        let own = [[a, b], [b, c], [c, a]];
        let cuts = self.cuts.iter().map(|[p, q]| [p, q]);
        let mut rays: Vec<ExactPoint> = vec![];
        for edge in own.into_iter().chain(cuts).filter(|edge| is_on_segment(place, *edge)) {
            for ray in edge.map(|end| minus(end, place)) {
                let is_along =
                    |other: &ExactPoint| is_zero(&cross(other, &ray)) && dot(other, &ray).is_positive();
                if !is_zero(&ray) && !rays.iter().any(is_along) {
                    rays.push(ray);
                }
            }
        }
        if rays.is_empty() {
            // All around it is one sector.
            return vec![minus(b, a)];
        }
        // Between two rays that are next to each other; or across one, where the next is half a turn away or more.
        let mut found = vec![];
        for (n, ray) in rays.iter().enumerate() {
            let across = cross(&self.normal, ray);
            found.push(across.each_ref().map(|c| -c));
            found.push(across);
            found.extend(rays[..n].iter().map(|other| plus(other, ray)));
        }
        found.retain(|inward| !is_zero(inward) && self.leads_inwards(place, inward));
        found
    }

    /// Whether a direction leads from a point of the triangle into its interior.
    fn leads_inwards(&self, place: &ExactPoint, inward: &ExactPoint) -> bool {
        let [a, b, c] = &self.corners;
        [[a, b], [b, c], [c, a]].into_iter().all(|[p, q]| {
            let left = cross(&self.normal, &minus(q, p));
            let height = dot(&left, &minus(place, p));
            let height = if height.is_zero() { dot(&left, inward) } else { height };
            height > Rational::ZERO
        })
    }
}
