//! Thin walls: from the middle of each triangle straight inwards, how far the next triangle is that faces the other
//! way. Computed by doubles.

use super::sites::{Search, Site, Sites, ascending, centroid};
use crate::error::Result;
use crate::geom::solid_angle::{cross, dot, minus};
use crate::geom::{Triangle, degenerate};
use crate::mesh::overlaps::{PairsOf, overlaps};
use crate::mesh::weld::Welded;

/// A triangle faces the other way if its normal is within 60 degrees of inwards: the cosine.
const FACING: f64 = 0.5;

/// Triangles whose wall is thinner than `thickness`, the thinnest first.
pub(super) fn thin(search: &Search, welded: &Welded, thickness: f64) -> Result<Sites> {
    let triangles = search.mesh.triangles();
    let inwards: Vec<Triangle> = triangles.iter().map(|triangle| segment(triangle, thickness)).collect();
    // Bits of distances have their order.
    let hits = overlaps(
        PairsOf::Two([&inwards, triangles]),
        search.progress,
        |_| false,
        |segment, triangle| distance(segment, triangle).filter(|hit| *hit < thickness).map(f64::to_bits),
    )?;
    let mut least: Vec<(u64, [u32; 3], u32)> = vec![];
    for hits in hits.chunk_by(|one, next| one.0[0] == next.0[0]) {
        let n = hits[0].0[0];
        let vertices = ascending(welded.triangles[n as usize]);
        least.extend(hits.iter().map(|(_, bits)| (*bits, vertices, n)).min());
    }
    least.sort_unstable();
    let mut found = Sites::default();
    for (bits, vertices, n) in least {
        let site = Site::new(centroid(&welded.corners(&vertices)), [n]);
        found.add(search.most, &[n], || Site { length: Some(f64::from_bits(bits)), ..site });
    }
    Ok(found.finished())
}

/// The segment from the middle of a triangle inwards, its end given twice; a point for one without area.
fn segment(triangle: &Triangle, length: f64) -> Triangle {
    // In the order of the vertices, so that their rotation does not matter.
    let middle = centroid(&{
        let mut sorted = *triangle;
        sorted.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
        sorted
    });
    let start = middle.map(|c| c as f32);
    if degenerate::is_degenerate(triangle) {
        return [start; 3];
    }
    let [a, b, c] = turned(triangle).map(|v| v.map(f64::from));
    let normal = cross(&minus(&b, &a), &minus(&c, &a));
    let share = length / dot(&normal, &normal).sqrt();
    let end = std::array::from_fn(|i| (middle[i] - share * normal[i]) as f32);
    [start, end, end]
}

/// The same triangle with its least vertex first.
fn turned(&[a, b, c]: &Triangle) -> Triangle {
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    turns.into_iter().reduce(|least, other| if other < least { other } else { least }).expect("three")
}

/// How far along a segment it meets a triangle that faces the same way (Möller and Trumbore 1997).
fn distance([from, to, _]: &Triangle, triangle: &Triangle) -> Option<f64> {
    let [from, to] = [from, to].map(|p| p.map(f64::from));
    let [a, b, c] = turned(triangle).map(|v| v.map(f64::from));
    let (along, ab, ac) = (minus(&to, &from), minus(&b, &a), minus(&c, &a));
    let normal = cross(&ab, &ac);
    let facing = dot(&normal, &along);
    let length = dot(&along, &along).sqrt();
    if facing <= FACING * length * dot(&normal, &normal).sqrt() {
        return None;
    }
    let there = minus(&from, &a);
    let turned = cross(&there, &along);
    let (u, v) = (-dot(&ac, &turned) / facing, dot(&ab, &turned) / facing);
    let share = -dot(&normal, &there) / facing;
    let is_hit = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&share);
    is_hit.then_some(share * length)
}
