//! Welding: gives equal vertices the same number, and lists each triangle by its vertex numbers. Vertices are
//! equal if their bits are equal (−0 is 0).
//!
//! Vertices are numbered in the order of their coordinates, x first, so the numbers do not depend on the
//! order of the triangles.

use super::{counted, union_find};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Point, Triangle};

/// Distinct vertices of some triangles in the order of their coordinates, and the triangles in their original
/// order.
#[derive(Debug, Clone)]
pub(super) struct Welded {
    pub points: Vec<Point>,
    pub triangles: Vec<[u32; 3]>,
}

impl Welded {
    /// Welds triangles.
    ///
    /// # Errors
    /// If there are more than 2³² corners.
    pub(super) fn of(triangles: &[Triangle]) -> Result<Self> {
        refuse_more(triangles.len())?;
        let Corners { some, of } = Corners::of(triangles);
        // Sorts by x first, which usually distinguishes the vertices. Then sorts vertices with the
        // same x by y and z.
        let mut by_x: Vec<u64> = (0..)
            .zip(&some)
            .map(|(n, point)| u64::from(ordered(point[0])) << 32 | n)
            .collect();
        counted::sort_by_upper_half(&mut by_x);
        let mut points = Vec::with_capacity(some.len());
        let mut numbers = vec![0_u32; some.len()];
        let mut alike: Vec<(u64, u32)> = vec![];
        for same in by_x.chunk_by(|a, b| a >> 32 == b >> 32) {
            alike.clear();
            alike.extend(same.iter().map(|n| {
                let [_, y, z] = some[*n as u32 as usize].map(|c| u64::from(ordered(c)));
                (y << 32 | z, *n as u32)
            }));
            alike.sort_unstable();
            let x = coordinate((same[0] >> 32) as u32);
            for vertex in alike.chunk_by(|a, b| a.0 == b.0) {
                let number = points.len() as u32;
                let y = (vertex[0].0 >> 32) as u32;
                let z = vertex[0].0 as u32;
                points.push([x, coordinate(y), coordinate(z)]);
                for (_, n) in vertex {
                    numbers[*n as usize] = number;
                }
            }
        }
        let mut triangles = of;
        for n in triangles.as_flattened_mut() {
            *n = numbers[*n as usize];
        }
        Ok(Self { points, triangles })
    }

    /// Returns the corners of a triangle of these vertices.
    pub(super) fn corners(&self, vertices: &[u32; 3]) -> Triangle {
        vertices.map(|n| self.points[n as usize])
    }
}

/// Corners of triangles. A small cache of recent corners recognizes most repeated vertices, so few vertices
/// occur in `some` more than once. This leaves much less to sort.
struct Corners {
    some: Vec<Point>,
    /// For each triangle, the indices of its corners in `some`.
    of: Vec<[u32; 3]>,
}

/// Maximum number of vertices in the cache. They fit into the second-level cache of a core.
const REMEMBERED: usize = 1 << 15;

impl Corners {
    fn of(triangles: &[Triangle]) -> Self {
        let mut last =
            vec![([u32::MAX; 3], 0); REMEMBERED.min(triangles.len().next_power_of_two())];
        let mut some: Vec<Point> = Vec::with_capacity(triangles.len() / 2);
        let mut number = |point: &Point| {
            // Adding 0 turns −0 into 0. Empty entries have the bits `u32::MAX`, which are NaN and therefore
            // no coordinate.
            let bits = point.map(|c| (c + 0.0).to_bits());
            let place = union_find::hash(&bits) as usize & (last.len() - 1);
            let (its, number) = &mut last[place];
            if *its != bits {
                *its = bits;
                *number = some.len() as u32;
                some.push(*point);
            }
            *number
        };
        let of = triangles
            .iter()
            .map(|[a, b, c]| [number(a), number(b), number(c)])
            .collect();
        Self { some, of }
    }
}

/// Fails if there are too many triangles for 32-bit numbers of corners.
pub(super) fn refuse_more(triangles: usize) -> Result<()> {
    if triangles > u32::MAX as usize / 3 {
        let message = format!("{triangles} triangles are too many for the search by edges");
        return Err(
            Error::too_large(message).with_hint("at most 1,431,655,765 triangles are possible")
        );
    }
    Ok(())
}

/// Returns bits of a coordinate which, compared as integers, have the order of the coordinates.
pub(super) fn ordered(coordinate: f32) -> u32 {
    // Adding 0 turns −0 into 0.
    let bits = (coordinate + 0.0).to_bits();
    if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

/// Returns the coordinate with these sortable bits (see [`ordered`]).
fn coordinate(ordered: u32) -> f32 {
    f32::from_bits(if ordered >> 31 == 1 {
        ordered & !(1 << 31)
    } else {
        !ordered
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_that_the_cache_forgot_are_welded() {
        // Many more vertices than the cache holds, and then all of them again.
        let strip =
            |n: usize| [0.0, 0.25, 0.5].map(|c| [(n % 1000) as f32 + c, (n / 1000) as f32, c]);
        let count = REMEMBERED;
        let triangles: Vec<Triangle> = (0..count).chain(0..count).map(strip).collect();
        let corners = Corners::of(&triangles);
        assert!(corners.some.len() > 4 * count);
        let welded = Welded::of(&triangles).unwrap();
        assert!(welded.points.len() == 3 * count && welded.points.is_sorted());
        for (numbers, triangle) in welded.triangles.iter().zip(&triangles) {
            assert_eq!(&welded.corners(numbers), triangle);
        }
    }

    #[test]
    fn vertices_are_numbered_in_order() {
        let values = [f32::MIN, -2.5, -1e-45, 0.0, 1e-45, 1.0, 3.0e38];
        let triangles: Vec<Triangle> = values
            .iter()
            .rev()
            .map(|v| [[*v, 0.0, 1.0], [*v, -0.0, 1.0], [*v, -1.0, 2.0]])
            .collect();
        let welded = Welded::of(&triangles).unwrap();
        assert_eq!(welded.points.len(), 2 * values.len());
        assert!(welded.points.is_sorted());
        for (numbers, triangle) in welded.triangles.iter().zip(&triangles) {
            assert!(numbers[0] == numbers[1] && numbers[2] + 1 == numbers[0]);
            assert_eq!(&numbers.map(|n| welded.points[n as usize]), triangle);
        }
    }
}
