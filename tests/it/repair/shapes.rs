//! Meshes and their modifications.

use voxelize::Mesh;
use voxelize::geom::Triangle;
use voxelize::mesh::repair::Repaired;

use crate::support::random::Random;

pub fn fixture(name: &str) -> Vec<Triangle> {
    let mesh = Mesh::open(format!("fixtures/{name}.stl")).unwrap();
    mesh.triangles().to_vec()
}

pub fn mesh(triangles: &[Triangle]) -> Mesh {
    Mesh::from_triangles(triangles.to_vec()).unwrap()
}

pub fn repaired(triangles: &[Triangle]) -> Repaired {
    Repaired::new(&mesh(triangles)).unwrap()
}

pub fn volume(triangles: &[Triangle]) -> f64 {
    mesh(triangles).volume()
}

/// Returns a cube of twelve triangles with outward normals.
pub fn cube(at: [f32; 3], size: f32) -> Vec<Triangle> {
    let place = |v: [f32; 3]| std::array::from_fn(|i| v[i] / 64.0 * size + at[i]);
    fixture("cube").iter().map(|t| t.map(place)).collect()
}

pub fn over(triangle: &Triangle) -> Triangle {
    [triangle[0], triangle[2], triangle[1]]
}

pub fn inside_out(triangles: &[Triangle]) -> Vec<Triangle> {
    triangles.iter().map(over).collect()
}

/// Flips about every second triangle.
pub fn tossed(triangles: &[Triangle], random: &mut Random) -> Vec<Triangle> {
    triangles
        .iter()
        .map(|t| if random.one_in(2) { over(t) } else { *t })
        .collect()
}

/// Removes about every fiftieth triangle.
pub fn torn(triangles: &[Triangle], random: &mut Random) -> Vec<Triangle> {
    let mut torn = triangles.to_vec();
    torn.retain(|_| !random.one_in(50));
    torn
}

/// Returns triangles between the points of a small grid, so that they share many points.
pub fn soup(count: usize, steps: usize, random: &mut Random) -> Vec<Triangle> {
    (0..count)
        .map(|_| [0; 3].map(|_| [0; 3].map(|_| random.index(steps) as f32)))
        .collect()
}

/// Returns a strip of quads with a half turn.
pub fn moebius(quads: usize) -> Vec<Triangle> {
    let at = |n: usize, side: f32| {
        let turn = (n % quads) as f32 / quads as f32 * std::f32::consts::TAU;
        // After one revolution the two sides have changed places.
        let side = if n >= quads { -side } else { side };
        let out = 4.0 + side * (turn / 2.0).cos();
        let up = side * (turn / 2.0).sin();
        [out * turn.cos(), out * turn.sin(), up]
    };
    let quad = |n| {
        let [a, b, c, d] = [at(n, -1.0), at(n, 1.0), at(n + 1, -1.0), at(n + 1, 1.0)];
        [[a, c, b], [b, c, d]]
    };
    (0..quads).flat_map(quad).collect()
}

/// Returns a cube whose side at x = 0 has an additional vertex in the middle of its edge with the side at y =
/// 0.
pub fn slit_cube() -> Vec<Triangle> {
    let mut split = 0;
    let mut all = vec![];
    for triangle in cube([0.0; 3], 2.0) {
        let ends = |n: usize| [triangle[n], triangle[(n + 1) % 3]];
        let on_edge = |v: [f32; 3]| v[0] == 0.0 && v[1] == 0.0;
        let side = (0..3).find(|n| ends(*n).iter().all(|v| on_edge(*v)));
        if let Some(n) = side.filter(|_| triangle.iter().all(|v| v[0] == 0.0)) {
            let [a, b] = ends(n);
            let c = triangle[(n + 2) % 3];
            all.extend([[a, [0.0, 0.0, 1.0], c], [[0.0, 0.0, 1.0], b, c]]);
            split += 1;
        } else {
            all.push(triangle);
        }
    }
    assert_eq!(split, 1);
    all
}
