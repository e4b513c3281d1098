//! Meshes that a repair leaves as they are, told from others without sorting anything.
//!
//! That is so where no triangle is without area, and
//!
//! - every directed edge is cancelled by its reverse ([`Mesh::closedness`]), and none is there twice: then each edge is of
//!   exactly two triangles, in opposite directions;
//! - all triangles are connected by edges: they are one patch, nothing of which has to be turned to fit. There are no
//!   duplicates: two triangles of three common edges would be all that is connected with them;
//! - the volume is above zero, by more than rounding: the patch is a body that faces outwards, and in no other one.
//!
//! So the repaired mesh has the same triangles, none turned, in one patch without a boundary.

use super::super::closed::Closedness;
use super::super::{Mesh, union_find, weld};
use crate::error::Result;
use crate::geom::Triangle;
use crate::par::{self, Progress};

/// Parts of the edges that are looked at apart, so that each stays in the cache.
const PARTS: usize = 256;

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 16;

/// The least volume, over area times extent, to be sure that a repair finds the patch to be a body that faces
/// outwards; it asks for 2⁻⁴⁰, in other sums of the same volumes.
const OF_AREA: f64 = 1.0 / (1_u64 << 20) as f64;

/// And of each triangle, of the cube of the extent. The volume between a triangle and the middle of the bounds is six
/// products of three coordinates, each at most half of the extent: in doubles it is off by less than 2⁻⁵⁰ of that cube.
/// A sum of up to 2³¹ of them, which together are at most a sixth of area times extent, is off by that much for each,
/// and by 2⁻²² of area times extent. Both sums together stay below these bounds.
const OF_EACH: f64 = 1.0 / (1_u64 << 48) as f64;

/// Whether a repair is known to leave a mesh as it is: one patch that faces outwards. If not, nothing is known.
///
/// # Errors
/// If there are more than 1.4 thousand million triangles, memory is not there, or the work is cancelled.
pub(crate) fn is_outward_patch(mesh: &Mesh, progress: &dyn Progress) -> Result<bool> {
    weld::refuse_more(mesh.triangles().len())?;
    if mesh.degenerate() > 0 || mesh.closedness() != Closedness::Oriented || mesh.volume() <= 0.0 {
        return Ok(false);
    }
    progress.check()?;
    let Some(area) = area_of_distinct_edges(mesh.triangles()) else { return Ok(false) };
    let bounds = mesh.bounds();
    let extent: f64 = (0..3).map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a])).sum();
    let count = mesh.triangles().len() as f64;
    if mesh.volume() <= OF_AREA * area * extent + OF_EACH * count * extent.powi(3) {
        return Ok(false);
    }
    progress.check()?;
    union_find::are_one_by_edges(mesh.triangles())
}

/// An upper bound of the area of triangles no two of which go along an edge in the direction from the lesser hash of its
/// ends to the greater; `None` if two do, or their hashes say so.
fn area_of_distinct_edges(triangles: &[Triangle]) -> Option<f64> {
    let parts = par::map(triangles.chunks(CHUNK).collect(), |triangles: &[Triangle]| {
        let mut edges: Vec<Vec<u64>> = vec![vec![]; PARTS];
        let mut area = 0.0;
        for triangle in triangles {
            area += at_most_area(triangle);
            // −0 + 0 is 0.
            let ends = triangle.map(|point| union_find::hash(&point.map(|c| (c + 0.0).to_bits())));
            for n in 0..3 {
                let from = ends[n];
                let to = ends[(n + 1) % 3];
                let edge = union_find::folded(from ^ 0x9e37_79b9_7f4a_7c15, to ^ 0xbf58_476d_1ce4_e5b9) | 1;
                if from <= to {
                    edges[(edge >> (64 - PARTS.trailing_zeros())) as usize].push(edge);
                }
            }
        }
        (edges, area)
    });
    let are_distinct = par::map_range(0..PARTS, |part| {
        let count: usize = parts.iter().map(|(edges, _)| edges[part].len()).sum();
        // At least half of the slots stay free, which are zero.
        let mut slots = vec![0_u64; (2 * count + 1).next_power_of_two()];
        let mask = slots.len() - 1;
        parts.iter().flat_map(|(edges, _)| &edges[part]).all(|edge| {
            let mut slot = (edge >> 1) as usize & mask;
            while slots[slot] != 0 && slots[slot] != *edge {
                slot = (slot + 1) & mask;
            }
            std::mem::replace(&mut slots[slot], *edge) != *edge
        })
    });
    let area = parts.iter().map(|(_, area)| area).sum();
    (!are_distinct.contains(&false)).then_some(area)
}

/// The area of a triangle seen along the axes together, which is no less than its own.
fn at_most_area(triangle: &Triangle) -> f64 {
    let [a, b, c] = triangle.map(|point| point.map(f64::from));
    let p = [0, 1, 2].map(|i| b[i] - a[i]);
    let q = [0, 1, 2].map(|i| c[i] - a[i]);
    let twice = [[1, 2], [2, 0], [0, 1]].map(|[i, j]| (p[i] * q[j] - p[j] * q[i]).abs());
    (twice[0] + twice[1] + twice[2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::repair::Repaired;
    use crate::random::Random;

    /// The triangles as a set, each from its least vertex on.
    fn sorted(triangles: &[Triangle]) -> Vec<[[u32; 3]; 3]> {
        let turned = |[a, b, c]: &Triangle| {
            let turns = [[*a, *b, *c], [*b, *c, *a], [*c, *a, *b]];
            turns.map(|turn| turn.map(|point| point.map(|c| (c + 0.0).to_bits()))).into_iter().min().unwrap()
        };
        let mut all: Vec<_> = triangles.iter().map(turned).collect();
        all.sort_unstable();
        all
    }

    /// Whether a mesh is found to be one outward patch; then a repair must agree.
    fn is_one(triangles: Vec<Triangle>) -> bool {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let is_one = is_outward_patch(&mesh, &()).unwrap();
        if is_one {
            let repaired = Repaired::new(&mesh).unwrap();
            assert_eq!(sorted(&repaired.triangles), sorted(mesh.triangles()));
            let Repaired { degenerate, duplicates, patches, turned, cavities, not_orientable, .. } = repaired;
            assert_eq!(
                [degenerate, duplicates, patches, turned, cavities, not_orientable],
                [0, 0, 1, 0, 0, 0]
            );
            assert!(repaired.boundary.is_empty() && !repaired.ragged.contains(&true));
        }
        is_one
    }

    /// The faces of unit cubes on a lattice: those between two cubes are left out.
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
                    faces.extend(if side == 1 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
                }
            }
        }
        faces
    }

    #[test]
    fn outward_patches_are_known_and_no_others_are_taken_for_them() {
        let cube = cubes(&[[0; 3]]);
        assert!(is_one(cube.clone()) && is_one(cubes(&[[0; 3], [1, 0, 0], [1, 1, 0]])));
        let knot = Mesh::open("fixtures/knot.stl").unwrap();
        assert!(is_one(knot.triangles().to_vec()));
        let turned =
            |triangles: &[Triangle]| triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect::<Vec<_>>();
        let more = |other: Vec<Triangle>| [cube.clone(), other].concat();
        for other in [
            vec![],
            turned(&cube),
            cube[1..].to_vec(),
            [turned(&cube[..1]), cube[1..].to_vec()].concat(),
            more(cube.clone()),
            more(vec![[[0.0; 3], [0.0; 3], [1.0; 3]]]),
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
    fn clusters_of_cubes_are_one_patch_where_a_repair_says_so() {
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
                let mut edges: Vec<_> =
                    sorted(&triangles).into_iter().flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
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
