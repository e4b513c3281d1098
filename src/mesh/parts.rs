//! The parts of a mesh: triangles that hang together by common vertices.

use super::Mesh;
use super::closed::mixed;
use super::weld;
use crate::error::Result;
use crate::geom::solid_angle::{cross, dot, minus};
use crate::geom::{Bounds, Point, Triangle};

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
    /// If there are more than 1.4 thousand million triangles.
    pub fn parts(&self) -> Result<Parts> {
        weld::refuse_more(self.triangles().len())?;
        let mut vertices = Numbers::new();
        let mut least: Vec<u32> = vec![];
        let mut firsts = Vec::with_capacity(self.triangles().len());
        for triangle in self.triangles() {
            let [a, b, c] = triangle.map(|point| vertices.number(point.map(|c| c + 0.0)));
            least.extend(least.len() as u32..vertices.points.len() as u32);
            join(&mut least, a, b);
            join(&mut least, a, c);
            firsts.push(a);
        }
        let numbers = numbers(&mut least, &vertices.points);
        let of: Vec<u32> = firsts.iter().map(|first| numbers[*first as usize]).collect();
        let count = numbers.iter().max().map_or(0, |most| *most as usize + 1);
        let none = MeshPart { triangles: 0, bounds: Bounds::EMPTY, area: 0.0, volume: 0.0 };
        let mut parts = vec![none; count];
        self.measure(&of, &mut parts);
        Ok(Parts { of, parts })
    }

    fn measure(&self, of: &[u32], parts: &mut [MeshPart]) {
        for (triangle, part) in self.triangles().iter().zip(of) {
            let part = &mut parts[*part as usize];
            part.bounds = triangle.iter().fold(part.bounds, Bounds::with);
        }
        let units: Vec<f64> = parts.iter().map(|part| unit(&part.bounds)).collect();
        let mut sums = vec![[0; 2]; parts.len()];
        for (triangle, &n) in self.triangles().iter().zip(of) {
            let (part, unit) = (&mut parts[n as usize], units[n as usize]);
            part.triangles += 1;
            let middle: [f64; 3] = std::array::from_fn(|i| {
                (f64::from(part.bounds.min[i]) + f64::from(part.bounds.max[i])) / 2.0
            });
            let [a, b, c] = turned(triangle).map(|v| minus(&v.map(f64::from), &middle).map(|x| x / unit));
            let normal = cross(&minus(&b, &a), &minus(&c, &a));
            let shares = [dot(&normal, &normal).sqrt(), dot(&a, &cross(&b, &c))];
            // Whole numbers are added up alike in any order.
            std::iter::zip(&mut sums[n as usize], shares)
                .for_each(|(sum, share)| *sum += (share * FINE) as i128);
        }
        for ((part, [area, volume]), unit) in parts.iter_mut().zip(sums).zip(units) {
            part.area = area as f64 / FINE / 2.0 * (unit * unit);
            part.volume = volume as f64 / FINE / 6.0 * (unit * unit * unit);
        }
    }
}

/// Areas and volumes are counted in fractions of this, of a unit that is a part's size.
const FINE: f64 = (1_u64 << 60) as f64;

/// The power of two at or above the longest extent, so that dividing by it rounds nothing.
fn unit(bounds: &Bounds) -> f64 {
    let extent = |a: usize| f64::from(bounds.max[a]) - f64::from(bounds.min[a]);
    let longest = extent(0).max(extent(1)).max(extent(2));
    if longest > 0.0 { longest.log2().ceil().exp2() } else { 1.0 }
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

/// Vertices, −0 taken for 0, numbered as they come: a hash table whose slots follow each other.
struct Numbers {
    /// Numbers of vertices, or [`FREE`]; a power of two of them.
    slots: Vec<u32>,
    points: Vec<Point>,
}

const FREE: u32 = u32::MAX;

impl Numbers {
    fn new() -> Self {
        Self { slots: vec![FREE; 64], points: vec![] }
    }

    /// The number of a vertex, a new one if it has none.
    fn number(&mut self, point: Point) -> u32 {
        let place = self.place(&point);
        if self.slots[place] != FREE {
            return self.slots[place];
        }
        let number = self.points.len() as u32;
        self.slots[place] = number;
        self.points.push(point);
        if 2 * self.points.len() > self.slots.len() {
            self.slots = vec![FREE; 2 * self.slots.len()];
            for number in 0..self.points.len() {
                let place = self.place(&self.points[number]);
                self.slots[place] = number as u32;
            }
        }
        number
    }

    /// The slot of a vertex, or the free one where it would be.
    fn place(&self, point: &Point) -> usize {
        let [x, y, z] = point.map(|c| u64::from(c.to_bits()));
        let mut place = mixed(mixed(x << 32 | y) ^ z) as usize;
        loop {
            place &= self.slots.len() - 1;
            let number = self.slots[place];
            if number == FREE || self.points[number as usize] == *point {
                return place;
            }
            place += 1;
        }
    }
}

/// The number of its part for each vertex; parts are numbered in the order of their least vertices.
fn numbers(least: &mut [u32], points: &[Point]) -> Vec<u32> {
    let roots: Vec<u32> = (0..least.len() as u32).map(|vertex| root(least, vertex)).collect();
    let mut lowest = points.to_vec();
    for (root, point) in roots.iter().zip(points) {
        if *point < lowest[*root as usize] {
            lowest[*root as usize] = *point;
        }
    }
    let mut parts: Vec<u32> = (0..roots.len() as u32).filter(|v| roots[*v as usize] == *v).collect();
    parts.sort_by(|a, b| lowest[*a as usize].partial_cmp(&lowest[*b as usize]).expect("finite"));
    let mut numbers = vec![0; roots.len()];
    parts.iter().enumerate().for_each(|(number, root)| numbers[*root as usize] = number as u32);
    roots.iter().map(|root| numbers[*root as usize]).collect()
}

/// The least vertex that a vertex is joined to; paths are halved on the way.
fn root(least: &mut [u32], mut vertex: u32) -> u32 {
    while least[vertex as usize] != vertex {
        let next = least[least[vertex as usize] as usize];
        least[vertex as usize] = next;
        vertex = next;
    }
    vertex
}

fn join(least: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(least, a), root(least, b));
    least[a.max(b) as usize] = a.min(b);
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
