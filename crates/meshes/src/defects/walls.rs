//! Thin walls. The wall of a triangle is measured from its middle along the inward normal, up to the next
//! triangle that faces the opposite way. Distances are computed in doubles. Large triangles can be measured at the middles of
//! their congruent parts.

use super::sites::{Search, Site, Sites, ascending, centroid};
use crate::pairs::boxes::{LANES, LaneBoxes, lanes};
use crate::pairs::tree::{BinNode, PairTree};
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Triangle, degenerate};
use voxelize_core::par;

/// Cosine of 60 degrees. A triangle ends a wall if its normal is within 60 degrees of the inward direction.
const FACING: f64 = 0.5;

/// Number of triangles whose walls are measured between two checks of the limit.
const BLOCK: usize = 1 << 10;

/// Error bound of a position along a segment, as a fraction of the segment.
const OFF: f64 = 1.0 / (1 << 30) as f64;

/// Number of points of all triangles at which walls are measured, unless there are more triangles.
const SAMPLES: usize = 1 << 20;

/// Maximum number of points of a triangle is the square of this number.
const MOST_PARTS: usize = 64;

/// Returns the triangles whose walls are thinner than `thickness`, the thinnest wall first.
///
/// The number of compared triangles is limited to about the number of pairs that the search may examine. If
/// the limit is reached, only the first triangles in the order of their vertices are measured.
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
    let most_parts = if search.samples_walls {
        (SAMPLES / triangles.len()).isqrt().clamp(1, MOST_PARTS)
    } else {
        1
    };
    let mut least = vec![];
    let mut compared = 0;
    let mut measured = 0;
    search.progress.begin("walls", order.len() as u64);
    for block in order.chunks(BLOCK) {
        if compared > most {
            break;
        }
        let walls = par::map_range(0..block.len(), |n| {
            search.progress.check()?;
            let triangle = &triangles[block[n].1 as usize];
            let mut compared = 0;
            let mut thinnest: Option<(u64, usize)> = None;
            for (sample, point) in middles(triangle, thickness, most_parts).enumerate() {
                let mut ray = WallRay::new(triangle, point, thickness);
                ray.visit(&tree);
                compared += ray.compared;
                if let Some(distance) = ray.nearest {
                    // Distances are not negative, so their bits are in the order of the distances.
                    let found = (distance.to_bits(), sample);
                    thinnest = Some(thinnest.map_or(found, |least| least.min(found)));
                }
            }
            search.progress.advance(1);
            Ok((compared, thinnest))
        });
        for ((vertices, n), wall) in block.iter().zip(walls) {
            let (more, thinnest) = wall?;
            compared += more;
            if let Some((bits, sample)) = thinnest {
                least.push((bits, *vertices, *n, sample));
            }
        }
        measured += block.len();
    }
    let is_partial = measured < order.len();
    drop((tree, order));
    least.sort_unstable();
    let mut found = Sites {
        is_partial,
        ..Sites::default()
    };
    for (bits, _, n, sample) in least {
        found.add(search.most, &[n], || {
            let point = middles(&triangles[n as usize], thickness, most_parts).nth(sample);
            Site {
                length: Some(f64::from_bits(bits)),
                ..Site::new(point.unwrap_or_default(), [n])
            }
        });
    }
    Ok(found.finished())
}

/// Returns the middles of congruent parts of a triangle, whose sides are about as long as the
/// thickness. There are at most `most` parts along a side. The rotation of the triangle does not
/// matter.
fn middles(
    triangle: &Triangle,
    thickness: f64,
    most: usize,
) -> impl Iterator<Item = [f64; 3]> + use<> {
    let mut sorted = *triangle;
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    let centre = centroid(&sorted);
    let [a, b, c] = sorted.map(|v| v.map(f64::from));
    let longest = [minus(b, a), minus(c, a), minus(c, b)]
        .map(|side| dot(side, side))
        .into_iter()
        .fold(0.0, f64::max)
        .sqrt();
    // The cast saturates.
    let n = ((longest / thickness).ceil() as usize).clamp(1, most);
    // Rows of parts that point like the triangle, each followed by a part that points the other way.
    (0..n)
        .flat_map(move |i| (0..2 * (n - i) - 1).map(move |j| (i, j)))
        .map(move |(i, j)| {
            if n == 1 {
                return centre;
            }
            let turned = j % 2;
            let u = (3 * i + 1 + turned) as f64 / (3 * n) as f64;
            let v = (3 * (j / 2) + 1 + turned) as f64 / (3 * n) as f64;
            std::array::from_fn(|axis| a[axis] + u * (b[axis] - a[axis]) + v * (c[axis] - a[axis]))
        })
}

/// Segment from a point of a triangle along the inward normal, and the distance of the nearest triangle on
/// it.
struct WallRay {
    segment: Triangle,
    from: [f64; 3],
    /// Reciprocal of the segment's extent along each axis.
    inverse: [f64; 3],
    thickness: f64,
    length: f64,
    nearest: Option<f64>,
    compared: u64,
}

impl WallRay {
    fn new(triangle: &Triangle, middle: [f64; 3], thickness: f64) -> Self {
        let segment = segment(triangle, middle, thickness);
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

    /// Searches for the nearest triangle. The nearest boxes are visited first.
    fn visit(&mut self, tree: &PairTree) {
        if self.length == 0.0 {
            return;
        }
        let mut waiting: Vec<(f64, &BinNode)> = vec![(0.0, &tree.root)];
        while let Some((entry, node)) = waiting.pop() {
            if self.is_beyond_nearest(entry) {
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
            // The farthest box comes first, because the last element is visited next.
            waiting[begin..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        }
    }

    /// Returns whether a box lies beyond the nearest triangle. `entry` is the fraction of the segment at
    /// which the segment enters the box.
    fn is_beyond_nearest(&self, entry: f64) -> bool {
        match self.nearest {
            Some(nearest) => (entry - OFF) * self.length > nearest,
            None => false,
        }
    }

    fn measure(&mut self, triangle: &Triangle, entry: f64) {
        self.compared += 1;
        let Some(hit) = distance(&self.segment, triangle) else {
            return;
        };
        // Rounding can move the hit of a needle to a point outside its box. Such hits are left out, so that
        // the order of the boxes does not matter.
        if hit >= self.thickness || hit < (entry - OFF) * self.length {
            return;
        }
        self.nearest = Some(match self.nearest {
            Some(nearest) => nearest.min(hit),
            None => hit,
        });
    }

    /// Returns the boxes that the segment enters, as bits, and stores the fraction of the segment at which it
    /// enters each box (Kay and Kajiya 1986). A box within another box never has a smaller fraction, even
    /// after rounding.
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
                // No value is NaN, so each selection compiles to one instruction.
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

/// Returns the segment from a point of a triangle along the inward normal. Its end is given twice. The
/// segment of a triangle without area has length zero.
fn segment(triangle: &Triangle, middle: [f64; 3], length: f64) -> Triangle {
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

/// Returns the triangle rotated so that its least vertex comes first.
fn turned(&[a, b, c]: &Triangle) -> Triangle {
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    turns
        .into_iter()
        .reduce(|least, other| if other < least { other } else { least })
        .expect("three")
}

/// Returns the distance along a segment to its intersection with a triangle (Möller and Trumbore 1997).
/// `None` if they do not intersect, or the triangle's normal is not within 60 degrees of the segment.
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
    // Adding zero turns −0 into 0, because distances are sorted by their bits.
    is_hit.then_some(share * length + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_of_zero_has_no_sign() {
        let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for (height, wanted) in [(0.0, 0.0), (-0.5, 0.5)] {
            let [from, to] = [[0.25, 0.25, height], [0.25, 0.25, height + 1.0]];
            let found = distance(&[from, to, to], &triangle).expect("a hit");
            assert_eq!(found.to_bits(), f64::to_bits(wanted));
        }
    }
}
