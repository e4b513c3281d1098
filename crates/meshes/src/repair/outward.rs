//! Detection of meshes that a repair would not change, without a sort.
//!
//! Triangles with two equal corners are dropped first. The directed edges of such a triangle cancel each
//! other, so the remaining triangles are closed and oriented if the whole mesh is. A repair does not change
//! the remaining triangles if none of them has an area of zero, and
//!
//! - every directed edge is cancelled by its reverse ([`Mesh::closedness`]), and no directed edge
//!   occurs twice. Then each edge belongs to exactly two triangles, in opposite directions;
//! - all triangles are connected by edges. Then they are one patch in which no triangle has to be turned
//!   over. There are no duplicates, because two triangles with three common edges would be a patch of their
//!   own;
//! - the volume exceeds the rounding error. Then the patch is a body that faces outwards, and no other body
//!   contains it.
//!
//! The repaired mesh then consists of the same triangles. No triangle is turned over, and they form one patch
//! without a boundary.

use std::borrow::Cow;

use crate::closed::Closedness;
use crate::{Mesh, union_find, weld};
use voxelize_core::error::Result;
use voxelize_core::geom::{Point, Triangle, forest};
use voxelize_core::par::{self, Progress};

/// Number of buckets that the edges are divided into. The table of one bucket fits into the cache.
const PARTS: usize = 256;

/// Number of triangles that a thread processes at a time.
const CHUNK: usize = 1 << 16;

/// Maximum number of sides that wait for the other side of their edge. They fit into the second-level cache
/// of a core.
const REMEMBERED: usize = 1 << 14;

/// Minimum volume for a certain result, as a factor of area times extent. The repair itself requires only
/// 2⁻⁴⁰, and adds up the same volumes in another order.
const OF_AREA: f64 = 1.0 / (1_u64 << 20) as f64;

/// Minimum volume per triangle, as a factor of the cube of the extent.
///
/// The volume between a triangle and the middle of the bounds is six products of three coordinates, each at
/// most half of the extent. Its error in doubles is less than 2⁻⁵⁰ of the cube of the extent. A sum has up to
/// 2³¹ such volumes, and their absolute values add up to at most a sixth of area times extent. The error of
/// the sum is at most the errors of all terms plus 2⁻²² of area times extent. The errors of this sum and of
/// the repair's sum together are less than these bounds.
const OF_EACH: f64 = 1.0 / (1_u64 << 48) as f64;

/// Returns the triangles of a mesh, except triangles without area, if they are known to be one patch that
/// faces outwards. A repair would not change them. `None` says nothing about the mesh.
///
/// # Errors
/// If there are more than 1.4 billion triangles, memory runs out, or the work is
/// cancelled.
pub fn outward_patch<'a>(
    mesh: &'a Mesh,
    progress: &dyn Progress,
) -> Result<Option<Cow<'a, [Triangle]>>> {
    weld::refuse_more(mesh.triangles().len())?;
    if mesh.closedness() != Closedness::Oriented || mesh.volume() <= 0.0 {
        return Ok(None);
    }
    progress.check()?;
    let Some(triangles) = without_collapsed(mesh) else {
        return Ok(None);
    };
    let bounds = mesh.bounds();
    let extent: f64 = (0..3)
        .map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a]))
        .sum();
    let least = OF_AREA * at_most_area(&triangles) * extent
        + OF_EACH * mesh.triangles().len() as f64 * extent.powi(3);
    if mesh.volume() <= least {
        return Ok(None);
    }
    progress.check()?;
    Ok(are_one_by_distinct_edges(&triangles).then_some(triangles))
}

/// Returns the triangles except those with two equal corners. `None` if a remaining triangle has an area of
/// zero.
fn without_collapsed(mesh: &Mesh) -> Option<Cow<'_, [Triangle]>> {
    let triangles = mesh.triangles();
    if mesh.degenerate() == 0 {
        return Some(triangles.into());
    }
    let mut collapsed = vec![];
    for (n, [a, b, c]) in triangles.iter().enumerate() {
        if (a == b) | (b == c) | (c == a) {
            collapsed.push(n);
        }
    }
    if collapsed.len() as u64 != mesh.degenerate() {
        return None;
    }
    let mut others = Vec::with_capacity(triangles.len() - collapsed.len());
    let mut from = 0;
    for n in collapsed {
        others.extend_from_slice(&triangles[from..n]);
        from = n + 1;
    }
    others.extend_from_slice(&triangles[from..]);
    Some(others.into())
}

/// Returns an upper bound of the total area of triangles. It is computed from the lengths of two edges of
/// each triangle, measured along the axes.
fn at_most_area(triangles: &[Triangle]) -> f64 {
    let chunks = triangles.chunks(CHUNK).collect();
    let areas = par::map(chunks, |triangles: &[Triangle]| {
        let mut sum = 0.0;
        for [a, b, c] in triangles {
            sum += axis_distance(a, b) * axis_distance(a, c);
        }
        sum
    });
    areas.iter().sum::<f64>() / 2.0
}

/// Returns the sum over the axes of the distances of two points.
fn axis_distance(p: &Point, q: &Point) -> f64 {
    (0..3)
        .map(|i| (f64::from(q[i]) - f64::from(p[i])).abs())
        .sum()
}

/// Side of a triangle.
#[derive(Clone, Copy, Default)]
struct HashedSide {
    /// Hash of the edge. Never zero.
    edge: u64,
    triangle: u32,
    /// The side goes from the end with the lesser hash to the end with the greater hash.
    is_forth: bool,
}

/// Pairs of an edge's hash and a triangle's number, in one list per bucket.
type SideParts = Vec<Vec<(u64, u32)>>;

/// Sides of the triangles of one chunk.
struct ChunkSides {
    /// All forward sides. They go from the end with the lesser hash to the end with the greater hash.
    forth: SideParts,
    /// Backward sides whose forward side was not found among the waiting sides.
    back: SideParts,
    /// Union-find forest: for each triangle, an earlier triangle that is connected with it by edges. The
    /// first triangle of a connected set has itself.
    forest: Vec<u32>,
}

/// Returns whether all of these closed and oriented triangles are connected by edges, and no edge occurs
/// twice in the same direction. Also returns `false` if the hashes of two edges happen to be equal.
///
/// A backward side belongs to the same edge as the forward side with the same hash, for two reasons: the edge
/// of the backward side has a forward side too, and no two forward sides have the same hash.
fn are_one_by_distinct_edges(triangles: &[Triangle]) -> bool {
    let chunks: Vec<&[Triangle]> = triangles.chunks(CHUNK).collect();
    let chunks = par::map(
        chunks.into_iter().zip(0..).collect(),
        |(triangles, n): (_, u32)| ChunkSides::of(triangles, n * CHUNK as u32),
    );
    let joined = par::map_range(0..PARTS, |part| {
        let count: usize = chunks.iter().map(|chunk| chunk.forth[part].len()).sum();
        // At least a quarter of the slots stays free.
        let mut slots = vec![(0_u64, 0_u32); (count + count / 3 + 1).next_power_of_two()];
        let mask = slots.len() - 1;
        let slot_of = |slots: &[(u64, u32)], edge: u64| {
            let mut slot = (edge >> 1) as usize & mask;
            while slots[slot].0 != 0 && slots[slot].0 != edge {
                slot = (slot + 1) & mask;
            }
            slot
        };
        for side in chunks.iter().flat_map(|chunk| &chunk.forth[part]) {
            let slot = slot_of(&slots, side.0);
            if slots[slot].0 != 0 {
                return None;
            }
            slots[slot] = *side;
        }
        let mut joined = vec![];
        for (edge, triangle) in chunks.iter().flat_map(|chunk| &chunk.back[part]) {
            let (forth, other) = slots[slot_of(&slots, *edge)];
            if forth == 0 {
                return None;
            }
            joined.push([*triangle, other]);
        }
        Some(joined)
    });
    let mut forest: Vec<u32> = Vec::with_capacity(triangles.len());
    for chunk in &chunks {
        let first = forest.len() as u32;
        forest.extend(chunk.forest.iter().map(|parent| first + parent));
    }
    for joined in joined {
        let Some(joined) = joined else { return false };
        for [a, b] in joined {
            forest::join(&mut forest, a, b);
        }
    }
    (0..).zip(&forest).all(|(n, parent)| n == 0 || *parent != n)
}

impl ChunkSides {
    /// Collects the sides of triangles. `first` is the number of the first of these triangles.
    fn of(triangles: &[Triangle], first: u32) -> Self {
        let usual = 3 * triangles.len() / PARTS / 2;
        let mut forth: SideParts = (0..PARTS)
            .map(|_| Vec::with_capacity(usual + usual / 4))
            .collect();
        let mut back: SideParts = vec![vec![]; PARTS];
        let part = |edge: u64| (edge >> (64 - PARTS.trailing_zeros())) as usize;
        let mut forest: Vec<u32> = (0..triangles.len() as u32).collect();
        // Sides whose opposite side has not occurred yet.
        let mut waiting = vec![HashedSide::default(); REMEMBERED];
        for (triangle, corners) in (0..).zip(triangles) {
            // Adding 0 turns −0 into 0.
            let ends = corners.map(|point| union_find::hash(&point.map(|c| (c + 0.0).to_bits())));
            for n in 0..3 {
                let from = ends[n];
                let to = ends[(n + 1) % 3];
                let [low, high] = [from.min(to), from.max(to)];
                let edge =
                    union_find::folded(low ^ 0x9e37_79b9_7f4a_7c15, high ^ 0xbf58_476d_1ce4_e5b9)
                        | 1;
                let side = HashedSide {
                    edge,
                    triangle,
                    is_forth: from <= to,
                };
                if side.is_forth {
                    forth[part(edge)].push((edge, first + triangle));
                }
                let place = &mut waiting[(edge >> 1) as usize % REMEMBERED];
                if place.edge == edge && place.is_forth != side.is_forth {
                    forest::join(&mut forest, place.triangle, triangle);
                    *place = HashedSide::default();
                    continue;
                }
                if place.edge != 0 && !place.is_forth {
                    back[part(place.edge)].push((place.edge, first + place.triangle));
                }
                *place = side;
            }
        }
        for side in waiting {
            if side.edge != 0 && !side.is_forth {
                back[part(side.edge)].push((side.edge, first + side.triangle));
            }
        }
        Self {
            forth,
            back,
            forest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::repair::Repaired;

    /// Returns the triangles in ascending order, each rotated so that its least vertex comes first.
    fn sorted(triangles: &[Triangle]) -> Vec<[[u32; 3]; 3]> {
        let turned = |[a, b, c]: &Triangle| {
            let turns = [[*a, *b, *c], [*b, *c, *a], [*c, *a, *b]];
            turns
                .map(|turn| turn.map(|point| point.map(|c| (c + 0.0).to_bits())))
                .into_iter()
                .min()
                .unwrap()
        };
        let mut all: Vec<_> = triangles.iter().map(turned).collect();
        all.sort_unstable();
        all
    }

    /// Returns whether a mesh is found to be one outward patch. Asserts that a repair agrees.
    fn is_one(triangles: Vec<Triangle>) -> bool {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let patch = outward_patch(&mesh, &()).unwrap();
        if let Some(patch) = &patch {
            let repaired = Repaired::new(&mesh).unwrap();
            assert_eq!(sorted(&repaired.triangles), sorted(patch));
            assert_eq!(
                patch.len() as u64 + mesh.degenerate(),
                mesh.triangles().len() as u64
            );
            let Repaired {
                degenerate,
                duplicates,
                patches,
                turned,
                cavities,
                not_orientable,
                ..
            } = repaired;
            assert_eq!(
                [
                    degenerate,
                    duplicates,
                    patches,
                    turned,
                    cavities,
                    not_orientable
                ],
                [mesh.degenerate(), 0, 1, 0, 0, 0]
            );
            assert!(repaired.boundary.is_empty() && !repaired.ragged.contains(&true));
        }
        patch.is_some()
    }

    /// Returns the faces of unit cubes at these lattice positions. A face between two cubes is left out.
    fn cubes(at: &[[i32; 3]]) -> Vec<Triangle> {
        let mut faces = vec![];
        for cube in at {
            for axis in 0..3 {
                for side in [0, 1] {
                    let mut next = *cube;
                    next[axis] += 2 * side - 1;
                    if at.contains(&next) {
                        continue;
                    }
                    let corner = |n: i32| {
                        let mut corner = *cube;
                        corner[axis] += side;
                        corner[(axis + 1) % 3] += n & 1;
                        corner[(axis + 2) % 3] += n >> 1;
                        corner.map(|c| c as f32)
                    };
                    let [a, b, c, d] = [corner(0), corner(1), corner(3), corner(2)];
                    faces.extend(if side == 1 {
                        [[a, b, c], [a, c, d]]
                    } else {
                        [[a, c, b], [a, d, c]]
                    });
                }
            }
        }
        faces
    }

    #[test]
    fn outward_patches_are_recognized_and_other_meshes_are_not() {
        let cube = cubes(&[[0; 3]]);
        assert!(is_one(cube.clone()) && is_one(cubes(&[[0; 3], [1, 0, 0], [1, 1, 0]])));
        let knot = Mesh::open("../../fixtures/knot.stl").unwrap();
        assert!(is_one(knot.triangles().to_vec()));
        let turned = |triangles: &[Triangle]| {
            triangles
                .iter()
                .map(|[a, b, c]| [*a, *c, *b])
                .collect::<Vec<_>>()
        };
        let more = |other: Vec<Triangle>| [cube.clone(), other].concat();
        let [a, b, c] = cube[0];
        let middle: Point = std::array::from_fn(|n| (a[n] + b[n]) / 2.0);
        // A triangle collapsed to an edge, one collapsed to a point, and one with an edge beside the cube.
        assert!(is_one(more(vec![[a, a, b], [c, c, c], [b, [7.0; 3], b]])));
        for other in [
            vec![],
            // A triangle on one line. If it is removed, the long edge has a T-junction.
            [
                vec![[a, b, middle], [a, middle, c], [middle, b, c]],
                cube[1..].to_vec(),
            ]
            .concat(),
            turned(&cube),
            cube[1..].to_vec(),
            [turned(&cube[..1]), cube[1..].to_vec()].concat(),
            more(cube.clone()),
            more(vec![cube[0], turned(&cube)[0]]),
            more(cubes(&[[5, 0, 0]])),
            // Cubes with a common edge, and cubes with a common corner.
            cubes(&[[0; 3], [1, 1, 0]]),
            more(cubes(&[[1, 1, 1]])),
            vec![cube[0], turned(&cube)[0]],
        ] {
            assert!(!is_one(other.clone()), "{other:?}");
        }
    }

    #[test]
    fn clusters_of_cubes_are_one_patch_if_a_repair_agrees() {
        let mut random = Random::new(5);
        let mut seen = [0; 2];
        for n in 0..600 {
            let cells: Vec<[i32; 3]> = (0..27)
                .map(|cell| [cell % 3, cell / 3 % 3, cell / 9])
                .filter(|_| random.below(27) < 1 + n % 26)
                .collect();
            let triangles = cubes(&cells);
            let mesh = Mesh::from_triangles(triangles.clone()).unwrap();
            let is_crowded = {
                let mut edges: Vec<_> = sorted(&triangles)
                    .into_iter()
                    .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]])
                    .collect();
                edges.sort_unstable();
                edges.windows(2).any(|two| two[0] == two[1])
            };
            let repaired = Repaired::new(&mesh).unwrap();
            let wanted = !is_crowded && repaired.patches == 1;
            assert_eq!(is_one(triangles), wanted, "{cells:?}");
            seen[usize::from(wanted)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    }
}
