//! Closed meshes with many ties: vertices on integers, planes through corners of cells.

use voxelize::Mesh;
use voxelize::geom::{Point, Triangle};

use crate::solid::boxes;
use crate::solid::check::Chain;
use crate::support::meshes::{fixture, mapped, mesh_of};
use crate::support::random::Random;

/// Closed mesh.
pub struct Shape {
    pub name: String,
    pub mesh: Mesh,
    /// Cell sizes to test, in halves of the grid of its vertices.
    pub sizes: Vec<i64>,
}

/// Cells of half, equal and double size of the grid of integers.
const AROUND_ONE: [i64; 3] = [1, 2, 4];

impl Shape {
    fn new(name: impl Into<String>, triangles: Vec<Triangle>, sizes: &[i64]) -> Self {
        let name = name.into();
        assert_eq!(Chain::of(&triangles), Chain::Oriented, "{name}");
        let mesh = mesh_of(triangles);
        Self {
            name,
            mesh,
            sizes: sizes.to_vec(),
        }
    }
}

/// Returns the closed fixtures with integer vertices.
pub fn from_fixtures() -> Vec<Shape> {
    // The cube is 64 long. A quarter of it has as many kinds of ties.
    let quarter = mapped(&fixture("cube.stl"), |v| v.map(|c| c / 4.0));
    let of = |name: &str, mesh: &Mesh| Shape::new(name, mesh.triangles().to_vec(), &AROUND_ONE);
    let mut shapes = vec![of("a quarter of cube.stl", &quarter)];
    shapes.extend(["prism.stl", "octahedron.stl", "f.stl"].map(|name| of(name, &fixture(name))));
    shapes
}

/// Returns the prism with its flat faces moved off all walls of unit cells. Only y = x and y = x + 4 remain.
pub fn prism_off_the_flat_walls() -> Shape {
    let mesh = mapped(&fixture("prism.stl"), |[x, y, z]| {
        [x - 0.25, y - 0.25, z - 0.25]
    });
    Shape::new(
        "the prism off the flat walls",
        mesh.triangles().to_vec(),
        &[2],
    )
}

/// Returns the cube with this corner and size.
pub fn cube(low: [i32; 3], size: i32) -> Shape {
    let high = low.map(|c| c + size);
    let [from, to] = [low, high].map(|corner| corner.map(|c| c as f32));
    Shape::new(
        format!("cube of {size} at {low:?}"),
        boxes::triangles(from, to),
        &AROUND_ONE,
    )
}

/// Returns cubes on walls, and their images under integer matrices.
pub fn cubes_and_their_images() -> Vec<Shape> {
    let rows: [[[f32; 3]; 3]; 6] = [
        [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
        [[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]],
        [[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]],
        [[2.0, 1.0, 0.0], [-1.0, 2.0, 1.0], [0.0, -1.0, 1.0]],
    ];
    let cubes = [cube([0, 0, 0], 4), cube([-3, 2, 1], 5), cube([1, 1, 1], 6)];
    let mut shapes = vec![];
    for cube in cubes {
        for m in &rows {
            let dot = |row: &[f32; 3], v: Point| row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
            let image = mapped(&cube.mesh, |v| std::array::from_fn(|a| dot(&m[a], v)));
            let name = format!("{} under {m:?}", cube.name);
            shapes.push(Shape::new(name, image.triangles().to_vec(), &AROUND_ONE));
        }
        shapes.push(cube);
    }
    shapes
}

/// Returns spheres with vertices rounded to integers, which are 2, 1, 1/2, 1/4 and 1/8 of a cell for the
/// tested sizes.
pub fn spheres_rounded() -> Vec<Shape> {
    let centres = [
        [0.0, 0.0, 0.0],
        [0.5, 0.25, -0.125],
        [0.3, -0.4, 0.1],
        [3.7, 1.1, 2.9],
    ];
    let sizes: [(f64, u32, &[i64]); 4] = [
        (3.2, 4, &AROUND_ONE),
        (5.7, 6, &AROUND_ONE),
        (9.4, 8, &AROUND_ONE),
        (44.0, 10, &[4, 8, 16]),
    ];
    let sphere = |&(radius, parts, sizes): &(f64, u32, &[i64]), centre: [f64; 3]| {
        let triangles = sphere(radius, parts as i32, centre);
        Shape::new(
            format!("sphere of {radius} at {centre:?}"),
            triangles,
            sizes,
        )
    };
    sizes
        .iter()
        .flat_map(|size| centres.map(|centre| sphere(size, centre)))
        .collect()
}

/// Returns an octahedron with edges in `parts`, projected to a sphere, with rounded vertices. A vertex
/// depends on its place alone, so closed meshes stay closed.
fn sphere(radius: f64, parts: i32, centre: [f64; 3]) -> Vec<Triangle> {
    let vertex = |p: [i32; 3]| -> Point {
        let p = p.map(f64::from);
        let length = p.iter().map(|c| c * c).sum::<f64>().sqrt();
        std::array::from_fn(|a| (centre[a] + p[a] / length * radius).round() as f32)
    };
    let mut triangles = vec![];
    for mask in 0..8 {
        let sign: [i32; 3] = std::array::from_fn(|a| if mask >> a & 1 == 1 { -1 } else { 1 });
        let at = |i: i32, j: i32| vertex([sign[0] * i, sign[1] * j, sign[2] * (parts - i - j)]);
        let mut push = |[a, b, c]: [Point; 3]| {
            triangles.push(if sign.iter().product::<i32>() > 0 {
                [a, b, c]
            } else {
                [a, c, b]
            });
        };
        for i in 0..parts {
            for j in 0..parts - i {
                push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < parts {
                    push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    triangles
}

/// Returns tetrahedra with vertices on small integers, some of them flat.
pub fn tetrahedra() -> Vec<Shape> {
    let mut random = Random(7);
    let shape = |n: u32| {
        let [a, b, c, d]: [Point; 4] =
            std::array::from_fn(|_| [(); 3].map(|()| random.below(9) as f32));
        Shape::new(
            format!("tetrahedron {n}"),
            vec![[a, c, b], [a, b, d], [b, c, d], [c, a, d]],
            &AROUND_ONE,
        )
    };
    (0..200).map(shape).collect()
}
