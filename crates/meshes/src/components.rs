//! Connected components of a mesh. Triangles are connected by common vertices.

use super::Mesh;
use super::{union_find, weld};
use voxelize_core::error::Result;
use voxelize_core::geom::vector::{cross, dot, minus};
use voxelize_core::geom::{Bounds, Point, Triangle};
use voxelize_core::par;

/// Components of a mesh, and the component of each triangle.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// Index into `components` for each triangle, in the order of the mesh.
    pub of: Vec<u32>,
    /// Components in the order of the least vertex of each.
    pub components: Vec<Component>,
}

/// Connected component of a mesh. Area and volume of each triangle are computed in doubles. Their sums do not
/// depend on the order of the triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Number of triangles.
    pub triangles: u64,
    /// Bounds of the component.
    pub bounds: Bounds,
    /// Sum of the areas of its triangles.
    pub area: f64,
    /// Signed volume that the component encloses, as in [`Mesh::volume`].
    pub volume: f64,
}

impl Component {
    /// Returns the thickness of a plate that has the same volume, and whose two sides together have the same
    /// area. Zero if the area is zero.
    pub fn thickness(&self) -> f64 {
        if self.area > 0.0 {
            2.0 * self.volume.abs() / self.area
        } else {
            0.0
        }
    }
}

impl Mesh {
    /// Returns the connected components of the mesh. Triangles with a common vertex are in one
    /// component. The components and their order do not depend on the order of the triangles.
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
    /// If there are more than 1.4 billion triangles, or memory runs out.
    pub fn components(&self) -> Result<Components> {
        weld::refuse_more(self.triangles().len())?;
        let (of, components) = numbered(self.triangles(), union_find::firsts(self.triangles())?);
        let components = self.measured(&of, components);
        Ok(Components { of, components })
    }

    /// Returns whether the mesh is one connected component.
    pub fn is_one_component(&self) -> Result<bool> {
        weld::refuse_more(self.triangles().len())?;
        Ok(union_find::firsts(self.triangles())?
            .iter()
            .all(|first| *first == 0))
    }

    /// Adds the number of triangles, the area and the volume to each component. `of` is the component of each
    /// triangle.
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
            let mut shares = Vec::with_capacity(triangles.len());
            for (triangle, component) in triangles.iter().zip(of) {
                let unit = &units[*component as usize];
                shares.push([unit.area(triangle), unit.volume(triangle)]);
            }
            shares
        });
        let mut sums = vec![[0_i128; 2]; components.len()];
        for (component, shares) in of.iter().zip(shares.iter().flatten()) {
            components[*component as usize].triangles += 1;
            // Sums of integers do not depend on their order.
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

/// Returns the component of each triangle, and the bounds of the components. `bounds` are the
/// bounds of all triangles.
///
/// # Errors
/// If there are more than 1.4 billion triangles, or memory runs out.
pub fn of_triangles(triangles: &[Triangle], bounds: &Bounds) -> Result<(Vec<u32>, Vec<Bounds>)> {
    weld::refuse_more(triangles.len())?;
    let firsts = union_find::firsts(triangles)?;
    if firsts.iter().all(|first| *first == 0) {
        return Ok((firsts, vec![*bounds]));
    }
    let (of, components) = numbered(triangles, firsts);
    let bounds = components
        .iter()
        .map(|component| component.bounds)
        .collect();
    Ok((of, bounds))
}

/// Returns the signed volume that triangles with these bounds enclose. The result does not depend on the
/// order of the triangles.
pub fn volume(triangles: &[Triangle], bounds: &Bounds) -> f64 {
    let unit = Unit::of(bounds);
    let chunks = triangles.chunks(CHUNK).collect();
    let sums = par::map(chunks, |triangles: &[Triangle]| {
        triangles
            .iter()
            .map(|triangle| i128::from(unit.volume(triangle)))
            .sum::<i128>()
    });
    sums.into_iter().sum::<i128>() as f64 / FINE / 6.0 * unit.length.powi(3)
}

/// Numbers components in the order of their least vertices. Returns the component of each triangle, and the
/// components. Of these only the bounds are set; the other fields are zero. `firsts` has, for each triangle,
/// the first triangle of its component.
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
    for (number, component) in (0..).zip(&order) {
        numbers[*component as usize] = number;
    }
    for component in &mut of {
        *component = numbers[*component as usize];
    }
    let mut components = Vec::with_capacity(order.len());
    for component in order {
        components.push(Component {
            triangles: 0,
            bounds: found[component as usize].1,
            area: 0.0,
            volume: 0.0,
        });
    }
    (of, components)
}

/// Number of triangles that a thread processes at a time.
const CHUNK: usize = 1 << 15;

/// Number of integer steps per unit. Areas and volumes are added up as integers in these steps. A unit is
/// about as long as the component.
const FINE: f64 = (1_u64 << 60) as f64;

/// Unit of length for a component, and the middle of its bounds. The length is the least power of two that is
/// not below the longest extent, so division by it is exact.
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

    /// Returns a corner of a triangle in units, relative to the middle. The absolute value of each coordinate
    /// is at most one.
    fn in_units(&self, corner: Point) -> [f64; 3] {
        // The reciprocal of a power of two is exact.
        let per_unit = 1.0 / self.length;
        minus(corner.map(f64::from), self.middle).map(|x| x * per_unit)
    }

    /// Returns twice the area of a triangle, rounded to steps of a [`FINE`]th of the squared unit. At most
    /// three squared units.
    fn area(&self, triangle: &Triangle) -> i64 {
        let [a, b, c] = turned(triangle).map(|corner| self.in_units(corner));
        let normal = cross(minus(b, a), minus(c, a));
        (dot(normal, normal).sqrt() * FINE) as i64
    }

    /// Returns six times the volume of the tetrahedron between a triangle and the middle, rounded to steps of
    /// a [`FINE`]th of the cubic unit. At most three cubic units.
    fn volume(&self, triangle: &Triangle) -> i64 {
        let [a, b, c] = triangle.map(|corner| self.in_units(corner));
        // The rounded product depends on which corner is first. The median of the three products does not.
        let [p, q, r] = [
            dot(a, cross(b, c)),
            dot(b, cross(c, a)),
            dot(c, cross(a, b)),
        ];
        (p.min(q).max(p.max(q).min(r)) * FINE) as i64
    }
}

/// Returns the triangle rotated so that its least vertex comes first. −0 becomes 0.
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
        // The third cube touches the first at a corner.
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
