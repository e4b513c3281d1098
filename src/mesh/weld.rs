//! Triangles by the numbers of their vertices: vertices are one if their bits are (−0 is 0).
//!
//! Numbers follow the order of the coordinates, x first, so they depend on no order of triangles.

use super::counted;
use crate::error::{Error, Result};
use crate::geom::{Point, Triangle};

/// The vertices of some triangles, each once, in order; and the triangles in the order they were given.
#[derive(Debug, Clone)]
pub(super) struct Welded {
    pub points: Vec<Point>,
    pub triangles: Vec<[u32; 3]>,
}

impl Welded {
    /// # Errors
    /// If there are more than 2³² corners.
    pub(super) fn of(triangles: &[Triangle]) -> Result<Self> {
        refuse_more(triangles.len())?;
        // By x first, which is mostly enough to tell vertices apart, then those of one x by y and z.
        let corners = triangles.as_flattened();
        let mut by_x: Vec<u64> =
            (0..).zip(corners).map(|(n, point)| u64::from(ordered(point[0])) << 32 | n).collect();
        counted::sort_by_upper_half(&mut by_x);
        let mut welded = Self { points: vec![], triangles: vec![[0; 3]; triangles.len()] };
        let mut alike: Vec<(u64, u32)> = vec![];
        for same in by_x.chunk_by(|a, b| a >> 32 == b >> 32) {
            alike.clear();
            alike.extend(same.iter().map(|corner| {
                let [_, y, z] = corners[*corner as u32 as usize].map(|c| u64::from(ordered(c)));
                (y << 32 | z, *corner as u32)
            }));
            alike.sort_unstable();
            let x = coordinate((same[0] >> 32) as u32);
            for vertex in alike.chunk_by(|a, b| a.0 == b.0) {
                let number = welded.points.len() as u32;
                let (y, z) = ((vertex[0].0 >> 32) as u32, vertex[0].0 as u32);
                welded.points.push([x, coordinate(y), coordinate(z)]);
                for (_, place) in vertex {
                    welded.triangles.as_flattened_mut()[*place as usize] = number;
                }
            }
        }
        Ok(welded)
    }

    /// The corners of a triangle of these vertices.
    pub(super) fn corners(&self, vertices: &[u32; 3]) -> Triangle {
        vertices.map(|n| self.points[n as usize])
    }
}

/// Refuses more triangles than have numbers for all their corners.
pub(super) fn refuse_more(triangles: usize) -> Result<()> {
    if triangles > u32::MAX as usize / 3 {
        let message = format!("{triangles} triangles are too many to be looked at by their edges");
        return Err(Error::too_large(message).with_hint("up to 1,431,655,765 can be"));
    }
    Ok(())
}

/// The bits of a coordinate so that they have the order of the numbers.
fn ordered(coordinate: f32) -> u32 {
    // −0 + 0 is 0.
    let bits = (coordinate + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The coordinate whose ordered bits these are.
fn coordinate(ordered: u32) -> f32 {
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_numbered_in_order() {
        let values = [f32::MIN, -2.5, -1e-45, 0.0, 1e-45, 1.0, 3.0e38];
        let triangles: Vec<Triangle> =
            values.iter().rev().map(|v| [[*v, 0.0, 1.0], [*v, -0.0, 1.0], [*v, -1.0, 2.0]]).collect();
        let welded = Welded::of(&triangles).unwrap();
        assert_eq!(welded.points.len(), 2 * values.len());
        assert!(welded.points.is_sorted());
        for (numbers, triangle) in welded.triangles.iter().zip(&triangles) {
            assert!(numbers[0] == numbers[1] && numbers[2] + 1 == numbers[0]);
            assert_eq!(&numbers.map(|n| welded.points[n as usize]), triangle);
        }
    }
}
