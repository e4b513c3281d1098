//! Meshes that a repair does not change, detected without sorting.
//!
//! Triangles with two equal corners are dropped first. Their directed edges cancel each other, so
//! the other triangles are closed and oriented if all triangles are. A repair does not change the
//! rest if no other triangle is without area, and
//!
//! - every directed edge is cancelled by its reverse ([`Mesh::closedness`]), and no directed edge
//!   occurs twice. Then each edge belongs to exactly two triangles, in opposite directions;
//! - all triangles are connected by edges. Then they are one patch in which nothing has to be
//!   turned. There are no duplicates, because two triangles with three common edges would be a
//!   whole patch;
//! - the volume is positive by more than rounding. Then the patch is a body that faces outwards,
//!   and it is in no other body.
//!
//! The repaired mesh then has the same triangles, none turned, in one patch without a boundary.

use std::borrow::Cow;

use crate::closed::Closedness;
use crate::{Mesh, union_find, weld};
use voxelize_core::error::Result;
use voxelize_core::geom::{Point, Triangle, forest};
use voxelize_core::par::{self, Progress};

/// Number of parts of the edges. Each part fits into the cache.
const PARTS: usize = 256;

/// Number of triangles that a thread takes at a time.
const CHUNK: usize = 1 << 16;

/// Maximum number of edges that are remembered until their second triangle. They fit into the
/// second-level cache of a core.
const REMEMBERED: usize = 1 << 14;

/// Minimum volume for a certain result, as a factor of area times extent. A repair requires 2⁻⁴⁰,
/// with other sums of the same volumes.
const OF_AREA: f64 = 1.0 / (1_u64 << 20) as f64;

/// Minimum volume for each triangle, as a factor of the cube of the extent.
///
/// The volume between a triangle and the middle of the bounds is six products of three coordinates,
/// each at most half of the extent. Its error in doubles is less than 2⁻⁵⁰ of the cube of the
/// extent. A sum has up to 2³¹ such volumes, whose sizes add up to at most a sixth of area times
/// extent. The error of the sum is the error of each term plus 2⁻²² of area times extent. The
/// errors of both sums together are less than these bounds.
const OF_EACH: f64 = 1.0 / (1_u64 << 48) as f64;

/// Returns the triangles of a mesh except triangles without area, if a repair is known not to
/// change them: they are one patch that faces outwards. `None` states nothing about the mesh.
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

/// Returns the triangles except triangles with two equal corners. `None` if other triangles are
/// without area.
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

/// Returns an upper bound of the area of triangles, from the sizes of two of their edges along the
/// axes.
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

/// Returns the sum of the distances of two points along the axes.
fn axis_distance(p: &Point, q: &Point) -> f64 {
    (0..3)
        .map(|i| (f64::from(q[i]) - f64::from(p[i])).abs())
        .sum()
}

/// Side of a triangle.
#[derive(Clone, Copy, Default)]
struct HashedSide {
    /// Hash of the edge, which is not zero.
    edge: u64,
    triangle: u32,
    /// The side goes from the end with the lesser hash to the other end.
    is_forth: bool,
}

/// Hashes and triangles of sides, by part of their edges.
type SideParts = Vec<Vec<(u64, u32)>>;

/// Sides of some triangles.
struct ChunkSides {
    /// Sides that go forth.
    forth: SideParts,
    /// Sides that go back, of edges whose other side was not remembered.
    back: SideParts,
    /// For each triangle, a triangle that it is connected with by edges, or the triangle itself if
    /// it is the first of these.
    forest: Vec<u32>,
}

/// Returns whether no edge of closed and oriented triangles occurs twice in one direction, and all
/// triangles are connected by edges. The result is false if hashes of edges coincide by chance.
///
/// A side that goes back belongs to the same edge as the side that goes forth with the same hash:
/// its edge has such a side, and no two forward sides have the same hash.
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
    /// Collects the sides of triangles. `first` is the number of the first triangle.
    fn of(triangles: &[Triangle], first: u32) -> Self {
        let usual = 3 * triangles.len() / PARTS / 2;
        let mut forth: SideParts = (0..PARTS)
            .map(|_| Vec::with_capacity(usual + usual / 4))
            .collect();
        let mut back: SideParts = vec![vec![]; PARTS];
        let part = |edge: u64| (edge >> (64 - PARTS.trailing_zeros())) as usize;
        let mut forest: Vec<u32> = (0..triangles.len() as u32).collect();
        // Sides whose other side has not occurred yet.
        let mut waiting = vec![HashedSide::default(); REMEMBERED];
        for (triangle, corners) in (0..).zip(triangles) {
            // −0 + 0 is 0.
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

    /// Returns the triangles sorted, each from its least vertex on.
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

    /// Returns whether a mesh is found to be one outward patch. A repair must agree.
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

    /// Returns the faces of unit cubes on a lattice. Faces between two cubes are left out.
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
        // Collapsed to an edge, to a point, and next to the cube.
        assert!(is_one(more(vec![[a, a, b], [c, c, c], [b, [7.0; 3], b]])));
        for other in [
            vec![],
            // On one line. Without this triangle, the edge lacks a corner.
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
            // Common edges, and common corners.
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
