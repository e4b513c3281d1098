//! Small solids made of triangles, and the bytes of files with them.

use voxelize::Mesh;

pub type Triangle = [[f32; 3]; 3];

/// Corners of the faces of a box, counterclockwise from outside: low and high z, y and x. Bit `a` of a corner's
/// number states whether it is high on axis `a`.
pub const BOX_FACES: [[usize; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

/// Returns the triangles of a box from 0 to `high`.
pub fn cuboid(high: [f32; 3]) -> Vec<Triangle> {
    let corner = |n: usize| std::array::from_fn(|a| if n >> a & 1 == 1 { high[a] } else { 0.0 });
    BOX_FACES
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .map(|t| t.map(corner))
        .collect()
}

/// Returns a box between two corners.
pub fn between(low: [f32; 3], high: [f32; 3]) -> Vec<Triangle> {
    let size = [0, 1, 2].map(|a| high[a] - low[a]);
    let moved = |v: [f32; 3]| [0, 1, 2].map(|a| v[a] + low[a]);
    cuboid(size)
        .into_iter()
        .map(|triangle| triangle.map(moved))
        .collect()
}

/// Returns a cube of ten.
pub fn block() -> Vec<Triangle> {
    cuboid([10.0; 3])
}

/// Returns a plate of a tenth, rotated about y. When flat, its heights are between integers and
/// half-integers.
pub fn plate(degrees: f64) -> Vec<Triangle> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let turned = |v: [f32; 3]| {
        let [x, z] = [f64::from(v[0]) - 19.0, f64::from(v[2]) - 5.0];
        [
            (x * cos - z * sin + 19.0) as f32,
            v[1],
            (x * sin + z * cos + 5.0) as f32,
        ]
    };
    between([14.0, 0.0, 4.95], [24.0, 10.0, 5.05])
        .into_iter()
        .map(|t| t.map(turned))
        .collect()
}

/// Returns a slab of 64 × 64 × 20 with a rib on it, 40 high and a tenth thick, in one closed part, rotated
/// about y.
pub fn ribbed(degrees: f64) -> Vec<Triangle> {
    let profile = [
        [0.0, 0.0],
        [64.0, 0.0],
        [64.0, 20.0],
        [32.3, 20.0],
        [32.3, 60.0],
        [32.2, 60.0],
        [32.2, 20.0],
        [0.0, 20.0],
    ];
    let (sin, cos) = degrees.to_radians().sin_cos();
    let at = |n: usize, y: f32| {
        let [x, z]: [f64; 2] = profile[n];
        [(x * cos + z * sin) as f32, y, (z * cos - x * sin) as f32]
    };
    let ends = [
        [0, 1, 6],
        [1, 3, 6],
        [1, 2, 3],
        [0, 6, 7],
        [3, 4, 5],
        [3, 5, 6],
    ];
    let ends = ends.into_iter().flat_map(|[a, b, c]| {
        [
            [at(a, 0.0), at(b, 0.0), at(c, 0.0)],
            [at(a, 64.0), at(c, 64.0), at(b, 64.0)],
        ]
    });
    let sides = (0..8).flat_map(|a| {
        let b = (a + 1) % 8;
        let square = [at(a, 0.0), at(a, 64.0), at(b, 64.0), at(b, 0.0)];
        [
            [square[0], square[1], square[2]],
            [square[0], square[2], square[3]],
        ]
    });
    ends.chain(sides).collect()
}

/// Returns the triangles with reversed orientation.
pub fn inside_out(triangles: Vec<Triangle>) -> Vec<Triangle> {
    triangles.into_iter().map(|[a, b, c]| [a, c, b]).collect()
}

/// Returns a mesh without some of its triangles.
pub fn without(mesh: &Mesh, is_gone: impl Fn(usize) -> bool) -> Vec<Triangle> {
    mesh.triangles()
        .iter()
        .enumerate()
        .filter(|(n, _)| !is_gone(*n))
        .map(|(_, t)| *t)
        .collect()
}

/// Returns the cube of 20 with a NaN coordinate and a truncated last triangle.
pub fn damaged() -> Vec<u8> {
    let mut bytes = stl(&cuboid([20.0; 3]));
    bytes[84 + 50 * 3 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    bytes.truncate(bytes.len() - 10);
    bytes
}

/// Returns the bytes of a binary STL file.
pub fn stl(triangles: &[Triangle]) -> Vec<u8> {
    let mut bytes = vec![b'-'; 80];
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|c| c.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}
