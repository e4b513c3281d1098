//! Clusters of sixteen triangles that are near each other.

use crate::geom::Triangle;
use crate::levels::LANES;

/// Cluster of sixteen triangles. If there are fewer, the last one is repeated.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Nine coordinates of each triangle: x, y and z of the first, second and third vertex. The side between
    /// the first two vertices is the longest.
    pub vertices: [[f32; LANES]; 9],
    /// Numbers of the triangles in the mesh.
    pub numbers: [u32; LANES],
}

impl Cluster {
    /// Cluster without triangles.
    pub const EMPTY: Self = Self {
        vertices: [[0.0; LANES]; 9],
        numbers: [0; LANES],
    };

    /// Stores one to sixteen triangles in the cluster. `number` returns the number of the triangle of a lane.
    pub fn fill(&mut self, triangles: &[Triangle], number: impl Fn(usize) -> u32) {
        for lane in 0..LANES {
            let number = number(lane);
            let vertices = longest_first(&triangles[number as usize]);
            for (row, coordinate) in vertices.into_iter().flatten().enumerate() {
                self.vertices[row][lane] = coordinate;
            }
            self.numbers[lane] = number;
        }
    }

    /// Returns the vertices of the triangle in a lane.
    pub fn triangle(&self, lane: usize) -> Triangle {
        let v = &self.vertices;
        [0, 3, 6].map(|n| [v[n][lane], v[n + 1][lane], v[n + 2][lane]])
    }
}

fn longest_first(&[a, b, c]: &Triangle) -> Triangle {
    let squared = |p: [f32; 3], q: [f32; 3]| {
        let [x, y, z] = [0, 1, 2].map(|n| f64::from(p[n]) - f64::from(q[n]));
        x * x + y * y + z * z
    };
    let ab = squared(a, b);
    let bc = squared(b, c);
    let ca = squared(c, a);
    if ab >= bc && ab >= ca {
        [a, b, c]
    } else if bc >= ca {
        [b, c, a]
    } else {
        [c, a, b]
    }
}
