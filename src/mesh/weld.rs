//! Triangles by the numbers of their vertices: vertices are one if their bits are (−0 is 0).
//!
//! Numbers follow the order of the coordinates, x first, so they depend on no order of triangles.

use crate::error::{Error, Result};
use crate::geom::{Point, Triangle};
use crate::par;

/// The vertices of some triangles, each once, in order; and the triangles in the order they were given.
#[derive(Debug, Clone)]
pub(super) struct Welded {
    pub points: Vec<Point>,
    pub triangles: Vec<[u32; 3]>,
}

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 15;

impl Welded {
    /// # Errors
    /// If there are more than 2³² corners.
    pub(super) fn of(triangles: &[Triangle]) -> Result<Self> {
        refuse_more(triangles.len())?;
        let chunks: Vec<_> = triangles.chunks(CHUNK).enumerate().collect();
        let mut corners: Vec<u128> = par::map(chunks, |(n, chunk)| keys(chunk, 3 * n * CHUNK)).concat();
        par::sort(&mut corners);
        let mut welded = Self { points: vec![], triangles: vec![[0; 3]; triangles.len()] };
        let mut last = None;
        for corner in corners {
            let (key, place) = (corner >> 32, corner as u32 as usize);
            if last != Some(key) {
                last = Some(key);
                welded.points.push([64, 32, 0].map(|shift| coordinate((key >> shift) as u32)));
            }
            welded.triangles.as_flattened_mut()[place] = (welded.points.len() - 1) as u32;
        }
        Ok(welded)
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

/// Every corner as its coordinates in order, and its place among all.
fn keys(triangles: &[Triangle], first: usize) -> Vec<u128> {
    let key = |point: &Point| point.iter().fold(0, |key, c| key << 32 | u128::from(ordered(*c)));
    let corners = triangles.as_flattened().iter().enumerate();
    corners.map(|(n, point)| key(point) << 32 | (first + n) as u128).collect()
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
