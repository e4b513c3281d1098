//! The connected components of a mesh: triangles are connected by common vertices.

use super::Mesh;
use super::{union_find, weld};
use voxelize_core::error::Result;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Bounds, Point, Triangle};
use voxelize_core::par;

/// The component of each triangle, and the components.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// The number of its component for each triangle, in the order of the mesh.
    pub of: Vec<u32>,
    /// The components, in the order of their least vertices.
    pub components: Vec<Component>,
}

/// A connected component of a mesh. Areas and volumes are computed by doubles for each triangle, and added up so
/// that no order of triangles matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// How many triangles it has.
    pub triangles: u64,
    /// Its bounds.
    pub bounds: Bounds,
    /// The area of its triangles.
    pub area: f64,
    /// The signed volume it encloses, as [`Mesh::volume`] counts it.
    pub volume: f64,
}

impl Component {
    /// Its thickness: that of a plate of the same volume whose two sides have its area together; zero without
    /// area.
    pub fn thickness(&self) -> f64 {
        if self.area > 0.0 {
            2.0 * self.volume.abs() / self.area
        } else {
            0.0
        }
    }
}

impl Mesh {
    /// The connected components of the mesh: triangles with a common vertex are in one. Components and their
    /// order do not depend on the order of the triangles.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let cube = voxelize::Mesh::open("fixtures/cube.stl")?;
    /// let components = cube.components()?.components;
    /// assert_eq!(components.len(), 1);
    /// assert_eq!((components[0].triangles, components[0].volume, components[0].area), (12, 262_144.0, 24_576.0));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than 1.4 thousand million triangles, or memory is not there.
    pub fn components(&self) -> Result<Components> {
        weld::refuse_more(self.triangles().len())?;
        let (of, components) = numbered(self.triangles(), union_find::firsts(self.triangles())?);
        let components = self.measured(&of, components);
        Ok(Components { of, components })
    }

    /// Whether it is one connected component.
    pub fn is_one_component(&self) -> Result<bool> {
        weld::refuse_more(self.triangles().len())?;
        Ok(union_find::firsts(self.triangles())?
            .iter()
            .all(|first| *first == 0))
    }

    /// The components with their sizes.
    fn measured(&self, of: &[u32], mut components: Vec<Component>) -> Vec<Component> {
        let units: Vec<Unit> = components
            .iter()
            .map(|component| Unit::of(&component.bounds))
            .collect();
        let chunks = self
            .triangles()
            .chunks(CHUNK)
            .zip(of.chunks(CHUNK))
            .collect();
        let shares = par::map(chunks, |(triangles, of): (&[Triangle], &[u32])| {
            let share = |(triangle, component): (&Triangle, &u32)| {
                let unit = &units[*component as usize];
                [unit.area(triangle), unit.volume(triangle)]
            };
            triangles.iter().zip(of).map(share).collect::<Vec<_>>()
        });
        let mut sums = vec![[0_i128; 2]; components.len()];
        for (component, shares) in of.iter().zip(shares.iter().flatten()) {
            components[*component as usize].triangles += 1;
            // Whole numbers are added up alike in any order.
            let sums = &mut sums[*component as usize];
            *sums = std::array::from_fn(|n| sums[n] + i128::from(shares[n]));
        }
        for ((component, [area, volume]), Unit { length, .. }) in
            components.iter_mut().zip(sums).zip(units)
        {
            component.area = area as f64 / FINE / 2.0 * (length * length);
            component.volume = volume as f64 / FINE / 6.0 * (length * length * length);
        }
        components
    }
}

/// The number of its component for each of some triangles, which have these bounds, and the bounds of the components.
///
/// # Errors
/// If there are more than 1.4 thousand million triangles, or memory is not there.
pub fn of_triangles(triangles: &[Triangle], bounds: &Bounds) -> Result<(Vec<u32>, Vec<Bounds>)> {
    weld::refuse_more(triangles.len())?;
    let firsts = union_find::firsts(triangles)?;
    if firsts.iter().all(|first| *first == 0) {
        return Ok((firsts, vec![*bounds]));
    }
    let (of, components) = numbered(triangles, firsts);
    Ok((
        of,
        components
            .iter()
            .map(|component| component.bounds)
            .collect(),
    ))
}

/// The signed volume that triangles enclose, which have these bounds, whatever their order.
pub fn volume(triangles: &[Triangle], bounds: &Bounds) -> f64 {
    let unit = Unit::of(bounds);
    let sums = par::map(
        triangles.chunks(CHUNK).collect(),
        |triangles: &[Triangle]| {
            triangles
                .iter()
                .map(|triangle| i128::from(unit.volume(triangle)))
                .sum::<i128>()
        },
    );
    sums.into_iter().sum::<i128>() as f64 / FINE / 6.0 * unit.length.powi(3)
}

/// The number of its component for each triangle, and the bounds of the components, in the order of their least
/// vertices; `firsts` are the first triangles of their components.
fn numbered(triangles: &[Triangle], firsts: Vec<u32>) -> (Vec<u32>, Vec<Component>) {
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
    order.sort_by(|a, b| {
        found[*a as usize]
            .0
            .partial_cmp(&found[*b as usize].0)
            .expect("finite")
    });
    let mut numbers = vec![0; found.len()];
    (0..)
        .zip(&order)
        .for_each(|(number, component)| numbers[*component as usize] = number);
    of.iter_mut()
        .for_each(|component| *component = numbers[*component as usize]);
    let component = |n: &u32| Component {
        triangles: 0,
        bounds: found[*n as usize].1,
        area: 0.0,
        volume: 0.0,
    };
    (of, order.iter().map(component).collect())
}

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 15;

/// Areas and volumes are counted in fractions of this, of a unit that is a component's size.
const FINE: f64 = (1_u64 << 60) as f64;

/// The unit in which a component is measured: the power of two at or above its longest extent, so that dividing by it
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
            length: if longest > 0.0 {
                longest.log2().ceil().exp2()
            } else {
                1.0
            },
            middle: std::array::from_fn(|a| (low[a] + high[a]) / 2.0),
        }
    }

    /// A corner of a triangle from the middle: within one unit of it.
    fn in_units(&self, corner: Point) -> [f64; 3] {
        // Of a power of two this is exact.
        let per_unit = 1.0 / self.length;
        minus(corner.map(f64::from), self.middle).map(|x| x * per_unit)
    }

    /// Twice the area of a triangle, in [`FINE`]s of the unit: not more than three.
    fn area(&self, triangle: &Triangle) -> i64 {
        let [a, b, c] = turned(triangle).map(|corner| self.in_units(corner));
        let normal = cross(minus(b, a), minus(c, a));
        (dot(normal, normal).sqrt() * FINE) as i64
    }

    /// Six times the volume between a triangle and the middle, in [`FINE`]s of the unit: not more than three.
    fn volume(&self, triangle: &Triangle) -> i64 {
        let [a, b, c] = triangle.map(|corner| self.in_units(corner));
        // Rounding makes another number of it from each corner; the middle one of the three depends on no first corner.
        let [p, q, r] = [
            dot(a, cross(b, c)),
            dot(b, cross(c, a)),
            dot(c, cross(a, b)),
        ];
        (p.min(q).max(p.max(q).min(r)) * FINE) as i64
    }
}

/// This triangle with its least vertex first.
fn turned(triangle: &Triangle) -> Triangle {
    let [a, b, c] = triangle.map(|v| v.map(|x| x + 0.0));
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    turns
        .into_iter()
        .reduce(|least, other| if other < least { other } else { least })
        .expect("three")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(at: [f32; 3], size: f32) -> Vec<Triangle> {
        let cube = Mesh::open("../../fixtures/cube.stl").unwrap();
        let moved = |v: [f32; 3]| std::array::from_fn(|i| v[i] / 64.0 * size + at[i]);
        cube.triangles().iter().map(|t| t.map(moved)).collect()
    }

    #[test]
    fn components_are_labelled_in_the_order_of_their_least_vertices() {
        // The third touches the first in a corner.
        let cubes = [
            cube([4.0, 0.0, 0.0], 2.0),
            cube([-3.0, 0.5, 0.5], 1.0),
            cube([6.0, 2.0, 2.0], 1.0),
        ];
        let mesh = Mesh::from_triangles(cubes.concat()).unwrap();
        let components = mesh.components().unwrap();
        let facts: Vec<_> = components
            .components
            .iter()
            .map(|p| (p.triangles, p.area, p.volume))
            .collect();
        assert_eq!(facts, [(12, 6.0, 1.0), (24, 30.0, 9.0)]);
        assert_eq!(components.of, [[1; 12], [0; 12], [1; 12]].concat());
        assert_eq!(
            components.components[1].bounds,
            Bounds {
                min: [4.0, 0.0, 0.0],
                max: [7.0, 3.0, 3.0]
            }
        );
        assert_eq!(components.components[0].thickness(), 1.0 / 3.0);

        let backwards: Vec<_> = mesh
            .triangles()
            .iter()
            .rev()
            .map(|t| [t[1], t[2], t[0]])
            .collect();
        let turned = Mesh::from_triangles(backwards)
            .unwrap()
            .components()
            .unwrap();
        assert!(turned.of.iter().rev().eq(&components.of));
        assert_eq!(turned.components, components.components);
    }

    #[test]
    fn no_triangles_have_no_components_and_one_without_area_has_no_thickness() {
        assert_eq!(
            Mesh::from_triangles(vec![]).unwrap().components().unwrap(),
            Components {
                of: vec![],
                components: vec![]
            }
        );
        let lines =
            Mesh::from_triangles(vec![[[1.0; 3], [1.0; 3], [2.0; 3]], [[5.0; 3]; 3]]).unwrap();
        let components = lines.components().unwrap();
        assert_eq!(
            (components.of, components.components[1].thickness()),
            (vec![0, 1], 0.0)
        );
    }
}
