//! The parts of a mesh: triangles that hang together by common vertices.

use super::Mesh;
use super::{joined, weld};
use crate::error::Result;
use crate::geom::solid_angle::{cross, dot, minus};
use crate::geom::{Bounds, Point, Triangle};
use crate::par;

/// Which part each triangle belongs to, and the parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The number of its part for each triangle, in the order of the mesh.
    pub of: Vec<u32>,
    /// The parts, in the order of their least vertices.
    pub parts: Vec<MeshPart>,
}

/// What is known of a part. Areas and volumes are computed by doubles for each triangle, and added up so
/// that no order of triangles matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshPart {
    /// How many triangles it has.
    pub triangles: u64,
    /// Its bounds.
    pub bounds: Bounds,
    /// The area of its triangles.
    pub area: f64,
    /// The signed volume it encloses, as [`Mesh::volume`] counts it.
    pub volume: f64,
}

impl MeshPart {
    /// How thick it is: that of a plate with as much volume between two sides that have its area together.
    /// Zero without area.
    pub fn thickness(&self) -> f64 {
        if self.area > 0.0 { 2.0 * self.volume.abs() / self.area } else { 0.0 }
    }
}

impl Mesh {
    /// The parts of the mesh: triangles are in one if they have a vertex in common. Which triangles belong
    /// together, and the order of the parts, depend on no order of the triangles.
    ///
    /// ```
    /// let cube = voxelize::Mesh::open("fixtures/cube.stl")?;
    /// let parts = cube.parts()?.parts;
    /// assert_eq!(parts.len(), 1);
    /// assert_eq!((parts[0].triangles, parts[0].volume, parts[0].area), (12, 262_144.0, 24_576.0));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than 1.4 thousand million triangles, or memory is not there.
    pub fn parts(&self) -> Result<Parts> {
        weld::refuse_more(self.triangles().len())?;
        let (of, parts) = numbered(self.triangles(), joined::firsts(self.triangles())?);
        let parts = self.measured(&of, parts);
        Ok(Parts { of, parts })
    }

    /// The parts with their sizes.
    fn measured(&self, of: &[u32], mut parts: Vec<MeshPart>) -> Vec<MeshPart> {
        let units: Vec<Unit> = parts.iter().map(|part| Unit::of(&part.bounds)).collect();
        let chunks = self.triangles().chunks(CHUNK).zip(of.chunks(CHUNK)).collect();
        let shares = par::map(chunks, |(triangles, of): (&[Triangle], &[u32])| {
            let share = |(triangle, part): (&Triangle, &u32)| units[*part as usize].shares(triangle);
            triangles.iter().zip(of).map(share).collect::<Vec<_>>()
        });
        let mut sums = vec![[0_i128; 2]; parts.len()];
        for (part, shares) in of.iter().zip(shares.iter().flatten()) {
            parts[*part as usize].triangles += 1;
            // Whole numbers are added up alike in any order.
            let sums = &mut sums[*part as usize];
            *sums = std::array::from_fn(|n| sums[n] + i128::from(shares[n]));
        }
        for ((part, [area, volume]), Unit { length, .. }) in parts.iter_mut().zip(sums).zip(units) {
            part.area = area as f64 / FINE / 2.0 * (length * length);
            part.volume = volume as f64 / FINE / 6.0 * (length * length * length);
        }
        parts
    }
}

/// The number of its part for each triangle, and the bounds of the parts, in the order of their least
/// vertices; `firsts` are the first triangles of their parts.
fn numbered(triangles: &[Triangle], firsts: Vec<u32>) -> (Vec<u32>, Vec<MeshPart>) {
    let mut of = firsts;
    let mut found: Vec<(Point, Bounds)> = vec![];
    for (n, triangle) in triangles.iter().enumerate() {
        let first = of[n] as usize;
        if first == n {
            of[n] = found.len() as u32;
            found.push((triangle[0], Bounds::EMPTY));
        } else {
            of[n] = of[first];
        }
        let (least, bounds) = &mut found[of[n] as usize];
        for point in triangle {
            if point < least {
                *least = *point;
            }
            *bounds = bounds.with(point);
        }
    }
    let mut order: Vec<u32> = (0..found.len() as u32).collect();
    order.sort_by(|a, b| found[*a as usize].0.partial_cmp(&found[*b as usize].0).expect("finite"));
    let mut numbers = vec![0; found.len()];
    (0..).zip(&order).for_each(|(number, part)| numbers[*part as usize] = number);
    of.iter_mut().for_each(|part| *part = numbers[*part as usize]);
    let part = |n: &u32| MeshPart { triangles: 0, bounds: found[*n as usize].1, area: 0.0, volume: 0.0 };
    (of, order.iter().map(part).collect())
}

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 15;

/// Areas and volumes are counted in fractions of this, of a unit that is a part's size.
const FINE: f64 = (1_u64 << 60) as f64;

/// What a part is measured in: the power of two at or above its longest extent, so that dividing by it
/// rounds nothing, from the middle of its bounds.
struct Unit {
    length: f64,
    middle: [f64; 3],
}

impl Unit {
    fn of(bounds: &Bounds) -> Self {
        let [low, high] = [bounds.min, bounds.max].map(|corner| corner.map(f64::from));
        let longest = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max);
        Self {
            length: if longest > 0.0 { longest.log2().ceil().exp2() } else { 1.0 },
            middle: std::array::from_fn(|a| (low[a] + high[a]) / 2.0),
        }
    }

    /// Twice the area of a triangle and six times the volume between it and the middle, in [`FINE`]s of the
    /// unit. All corners are within a unit of the middle, so neither is more than three.
    fn shares(&self, triangle: &Triangle) -> [i64; 2] {
        // Of a power of two this is exact.
        let per_unit = 1.0 / self.length;
        let [a, b, c] =
            turned(triangle).map(|v| minus(&v.map(f64::from), &self.middle).map(|x| x * per_unit));
        let normal = cross(&minus(&b, &a), &minus(&c, &a));
        [dot(&normal, &normal).sqrt(), dot(&a, &cross(&b, &c))].map(|share| (share * FINE) as i64)
    }
}

/// The same triangle with its least vertex first.
fn turned(triangle: &Triangle) -> Triangle {
    let [a, b, c] = triangle.map(|v| v.map(|x| x + 0.0));
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    turns.into_iter().reduce(|least, other| if other < least { other } else { least }).expect("three")
}

/// Whether the bounds of `a` have a longer diagonal than those of `b`.
pub(crate) fn longer(a: &MeshPart, b: &MeshPart) -> bool {
    let square = |part: &MeshPart| {
        let extent = |i: usize| f64::from(part.bounds.max[i]) - f64::from(part.bounds.min[i]);
        (0..3).map(|i| extent(i) * extent(i)).sum::<f64>()
    };
    square(a) > square(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(at: [f32; 3], size: f32) -> Vec<Triangle> {
        let cube = Mesh::open("fixtures/cube.stl").unwrap();
        let moved = |v: [f32; 3]| std::array::from_fn(|i| v[i] / 64.0 * size + at[i]);
        cube.triangles().iter().map(|t| t.map(moved)).collect()
    }

    #[test]
    fn parts_are_told_apart_in_the_order_of_their_least_vertices() {
        // The third touches the first in a corner.
        let cubes = [cube([4.0, 0.0, 0.0], 2.0), cube([-3.0, 0.5, 0.5], 1.0), cube([6.0, 2.0, 2.0], 1.0)];
        let mesh = Mesh::from_triangles(cubes.concat()).unwrap();
        let parts = mesh.parts().unwrap();
        let facts: Vec<_> = parts.parts.iter().map(|p| (p.triangles, p.area, p.volume)).collect();
        assert_eq!(facts, [(12, 6.0, 1.0), (24, 30.0, 9.0)]);
        assert_eq!(parts.of, [[1; 12], [0; 12], [1; 12]].concat());
        assert_eq!(parts.parts[1].bounds, Bounds { min: [4.0, 0.0, 0.0], max: [7.0, 3.0, 3.0] });
        assert_eq!(parts.parts[0].thickness(), 1.0 / 3.0);

        let backwards: Vec<_> = mesh.triangles().iter().rev().map(|t| [t[1], t[2], t[0]]).collect();
        let turned = Mesh::from_triangles(backwards).unwrap().parts().unwrap();
        assert!(turned.of.iter().rev().eq(&parts.of));
        assert_eq!(turned.parts, parts.parts);
    }

    #[test]
    fn no_triangles_have_no_parts_and_one_without_area_has_no_thickness() {
        assert_eq!(
            Mesh::from_triangles(vec![]).unwrap().parts().unwrap(),
            Parts { of: vec![], parts: vec![] }
        );
        let lines = Mesh::from_triangles(vec![[[1.0; 3], [1.0; 3], [2.0; 3]], [[5.0; 3]; 3]]).unwrap();
        let parts = lines.parts().unwrap();
        assert_eq!((parts.of, parts.parts[1].thickness()), (vec![0, 1], 0.0));
    }
}
