//! Thin walls: from the middle of each triangle straight inwards, how far the next triangle is that faces the other
//! way. Computed by doubles.

use super::sites::{Search, Site, Sites, ascending, centroid};
use crate::pairs::boxes::{LANES, LaneBoxes, lanes};
use crate::pairs::tree::{BinNode, PairTree};
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Triangle, degenerate};
use voxelize_core::par;

/// A triangle faces the other way if its normal is within 60 degrees of inwards: the cosine.
const FACING: f64 = 0.5;

/// Triangles whose walls are measured between two looks at the limit.
const BLOCK: usize = 1 << 10;

/// The error bound of a share of a segment.
const OFF: f64 = 1.0 / (1 << 30) as f64;

/// Triangles whose wall is thinner than `thickness`, the thinnest first. As many triangles are compared as pairs of
/// triangles are examined; if that is not enough, the first by their vertices are looked at.
///
/// # Errors
/// If the work is cancelled.
pub(super) fn thin(search: &Search, welded: &Welded, thickness: f64) -> Result<Sites> {
    let triangles = search.mesh.triangles();
    if triangles.is_empty() {
        return Ok(Sites::default());
    }
    let tree = PairTree::new(triangles);
    let mut order: Vec<([u32; 3], u32)> = welded
        .triangles
        .iter()
        .zip(0..)
        .map(|(triangle, n)| (ascending(*triangle), n))
        .collect();
    order.sort_unstable();
    let most = search.pairs.pairs(triangles.len());
    let mut least = vec![];
    let mut compared = 0;
    let mut looked_at = 0;
    search.progress.begin("walls", order.len() as u64);
    for block in order.chunks(BLOCK) {
        if compared > most {
            break;
        }
        let walls = par::map_range(0..block.len(), |n| {
            search.progress.check()?;
            let mut ray = WallRay::new(&triangles[block[n].1 as usize], thickness);
            ray.visit(&tree);
            search.progress.advance(1);
            Ok(ray)
        });
        for ((vertices, n), ray) in block.iter().zip(walls) {
            let ray = ray?;
            compared += ray.compared;
            least.extend(
                ray.nearest
                    .map(|distance| (distance.to_bits(), *vertices, *n)),
            );
        }
        looked_at += block.len();
    }
    let is_partial = looked_at < order.len();
    drop((tree, order));
    // Bits of distances have their order.
    least.sort_unstable();
    let mut found = Sites {
        is_partial,
        ..Sites::default()
    };
    for (bits, vertices, n) in least {
        let site = Site::new(centroid(&welded.corners(&vertices)), [n]);
        found.add(search.most, &[n], || Site {
            length: Some(f64::from_bits(bits)),
            ..site
        });
    }
    Ok(found.finished())
}

/// A segment inwards from the middle of a triangle, and the nearest triangle on it.
struct WallRay {
    segment: Triangle,
    from: [f64; 3],
    /// One over its extent on each axis.
    inverse: [f64; 3],
    thickness: f64,
    length: f64,
    nearest: Option<f64>,
    compared: u64,
}

impl WallRay {
    fn new(triangle: &Triangle, thickness: f64) -> Self {
        let segment = segment(triangle, thickness);
        let [from, to] = [segment[0], segment[1]].map(|v| v.map(f64::from));
        let along = minus(to, from);
        let length = dot(along, along).sqrt();
        Self {
            segment,
            from,
            inverse: along.map(|c| 1.0 / c),
            thickness,
            length,
            nearest: None,
            compared: 0,
        }
    }

    /// Looks for the nearest triangle, in near boxes first.
    fn visit(&mut self, tree: &PairTree) {
        if self.length == 0.0 {
            return;
        }
        let mut waiting: Vec<(f64, &BinNode)> = vec![(0.0, &tree.root)];
        while let Some((entry, node)) = waiting.pop() {
            if self.is_behind(entry) {
                continue;
            }
            let parts = node.parts(tree.triangles);
            let mut entries = [0.0; LANES];
            let hit = self.enters(&parts.boxes, &mut entries);
            let begin = waiting.len();
            for lane in lanes(hit) {
                if let Some(node) = parts.nodes.get(lane) {
                    waiting.push((entries[lane], node));
                } else if let Some(n) = parts.numbers.get(lane) {
                    self.measure(&tree.triangles[*n as usize], entries[lane]);
                }
            }
            // The last is the next.
            waiting[begin..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        }
    }

    /// Whether a box entered at this share of the segment is farther than the nearest triangle.
    fn is_behind(&self, entry: f64) -> bool {
        self.nearest
            .is_some_and(|nearest| (entry - OFF) * self.length > nearest)
    }

    fn measure(&mut self, triangle: &Triangle, entry: f64) {
        self.compared += 1;
        // What needles say by rounding, outside of their boxes, is left out, so that no order of boxes matters.
        let is_within = |hit: &f64| *hit < self.thickness && *hit >= (entry - OFF) * self.length;
        if let Some(hit) = distance(&self.segment, triangle).filter(is_within) {
            self.nearest = Some(self.nearest.map_or(hit, |nearest| nearest.min(hit)));
        }
    }

    /// The boxes that the segment enters, by bit, and at which share of it (Kay and Kajiya 1986). Of a box in another
    /// one the share is no less, rounded or not.
    fn enters(&self, boxes: &LaneBoxes, entries: &mut [f64; LANES]) -> u32 {
        let mut hit = [true; LANES];
        let mut exits = [1.0_f64; LANES];
        *entries = [0.0; LANES];
        for axis in 0..3 {
            let from = self.from[axis];
            let inverse = self.inverse[axis];
            let lowest = &boxes[axis];
            let highest = &boxes[3 + axis];
            if inverse.is_infinite() {
                for lane in 0..LANES {
                    hit[lane] &=
                        f64::from(lowest[lane]) <= from && f64::from(highest[lane]) >= from;
                }
                continue;
            }
            let (near, far) = if inverse > 0.0 {
                (lowest, highest)
            } else {
                (highest, lowest)
            };
            for lane in 0..LANES {
                let entry = (f64::from(near[lane]) - from) * inverse;
                let exit = (f64::from(far[lane]) - from) * inverse;
                // Selections of one instruction, as nothing is NaN.
                entries[lane] = if entry > entries[lane] {
                    entry
                } else {
                    entries[lane]
                };
                exits[lane] = if exit < exits[lane] {
                    exit
                } else {
                    exits[lane]
                };
            }
        }
        (0..LANES).rev().fold(0, |mask, lane| {
            mask << 1 | u32::from(hit[lane] && entries[lane] - OFF <= exits[lane] + OFF)
        })
    }
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
    let normal = cross(minus(b, a), minus(c, a));
    let share = length / dot(normal, normal).sqrt();
    let end = std::array::from_fn(|i| (middle[i] - share * normal[i]) as f32);
    [start, end, end]
}

/// This triangle with its least vertex first.
fn turned(&[a, b, c]: &Triangle) -> Triangle {
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    turns
        .into_iter()
        .reduce(|least, other| if other < least { other } else { least })
        .expect("three")
}

/// How far along a segment it meets a triangle that faces the same way (Möller and Trumbore 1997).
fn distance([from, to, _]: &Triangle, triangle: &Triangle) -> Option<f64> {
    let [from, to] = [from, to].map(|p| p.map(f64::from));
    let [a, b, c] = turned(triangle).map(|v| v.map(f64::from));
    let along = minus(to, from);
    let ab = minus(b, a);
    let ac = minus(c, a);
    let normal = cross(ab, ac);
    let facing = dot(normal, along);
    let length = dot(along, along).sqrt();
    if facing <= FACING * length * dot(normal, normal).sqrt() {
        return None;
    }
    let there = minus(from, a);
    let turned = cross(there, along);
    let u = -dot(ac, turned) / facing;
    let v = dot(ab, turned) / facing;
    let share = -dot(normal, there) / facing;
    let is_hit = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&share);
    // Without the sign of a zero, as distances are put in the order of their bits.
    is_hit.then_some(share * length + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_of_nothing_has_no_sign() {
        let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for (height, wanted) in [(0.0, 0.0), (-0.5, 0.5)] {
            let [from, to] = [[0.25, 0.25, height], [0.25, 0.25, height + 1.0]];
            let found = distance(&[from, to, to], &triangle).expect("a hit");
            assert_eq!(found.to_bits(), f64::to_bits(wanted));
        }
    }
}
