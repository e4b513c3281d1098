//! Yardstick: Akenine-Möller's test of 2001 as a good programmer writes it, in scalar floats.
//!
//! Per triangle: bounds, edges, normal. Per candidate cell: plane, then nine edge axes; the bounds are
//! covered by the candidates. Generic over `f32` and `f64`, with the build profile of the kernels.

use std::ops::{Add, Mul, Neg, Sub};

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Lattice};

/// Float type of the textbook.
pub trait Float:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn floor_to(self) -> i64;
    fn abs(self) -> Self;
}

macro_rules! float {
    ($type:ty) => {
        impl Float for $type {
            fn of(value: f64) -> Self {
                value as Self
            }
            fn floor_to(self) -> i64 {
                self.floor() as i64
            }
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
        }
    };
}
float!(f32);
float!(f64);

fn min<T: Float>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

fn max<T: Float>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

fn dot<T: Float>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn sub<T: Float>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Sets the cells that the triangles touch according to floats, in the words of an x-fastest grid.
pub fn textbook<T: Float>(triangles: &[Triangle], lattice: &Lattice, grid: &mut Cells) {
    let origin: [T; 3] = std::array::from_fn(|a| T::of(lattice.origin()[a].to_f64()));
    let size: [T; 3] = std::array::from_fn(|a| T::of(lattice.spacing()[a].to_f64()));
    let inverse: [T; 3] = std::array::from_fn(|a| T::of(1.0 / lattice.spacing()[a].to_f64()));
    let half: [T; 3] = size.map(|s| s * T::of(0.5));
    for triangle in triangles {
        let v = triangle.map(|p| p.map(|c| T::of(c.into())));
        let range: [(i64, i64); 3] = std::array::from_fn(|a| {
            let low = min(min(v[0][a], v[1][a]), v[2][a]) - origin[a];
            let high = max(max(v[0][a], v[1][a]), v[2][a]) - origin[a];
            let last = lattice.dims()[a] as i64 - 1;
            (
                (low * inverse[a]).floor_to().clamp(0, last),
                (high * inverse[a]).floor_to().clamp(0, last),
            )
        });
        let edges = [sub(v[1], v[0]), sub(v[2], v[1]), sub(v[0], v[2])];
        let [e, f] = [edges[0], edges[1]];
        let normal = [
            e[1] * f[2] - e[2] * f[1],
            e[2] * f[0] - e[0] * f[2],
            e[0] * f[1] - e[1] * f[0],
        ];
        let reach =
            half[0] * normal[0].abs() + half[1] * normal[1].abs() + half[2] * normal[2].abs();
        for k in range[2].0..=range[2].1 {
            for j in range[1].0..=range[1].1 {
                for i in range[0].0..=range[0].1 {
                    let centre: [T; 3] = std::array::from_fn(|a| {
                        origin[a] + (T::of([i, j, k][a] as f64) + T::of(0.5)) * size[a]
                    });
                    let p = [sub(v[0], centre), sub(v[1], centre), sub(v[2], centre)];
                    if dot(normal, p[0]).abs() <= reach && edges_overlap(&edges, &p, half) {
                        grid.set(i as usize, j as usize, k as usize);
                    }
                }
            }
        }
    }
}

/// Tests the nine axes that are products of a box edge and a triangle edge.
#[inline(always)]
fn edges_overlap<T: Float>(edges: &[[T; 3]; 3], p: &[[T; 3]; 3], half: [T; 3]) -> bool {
    for n in 0..3 {
        // Both vertices of an edge have the same projection, so one of them and the third are enough.
        let e = edges[n];
        let a = p[n];
        let b = p[(n + 2) % 3];
        for (s, t) in [(1, 2), (2, 0), (0, 1)] {
            let pa = e[t] * a[s] - e[s] * a[t];
            let pb = e[t] * b[s] - e[s] * b[t];
            let radius = half[s] * e[t].abs() + half[t] * e[s].abs();
            if min(pa, pb) > radius || max(pa, pb) < -radius {
                return false;
            }
        }
    }
    true
}

/// Bit grid in the layout of the tool, for writing.
pub struct Cells {
    pub words: Vec<u64>,
    rows: usize,
    row_words: usize,
}

impl Cells {
    pub fn new(lattice: &Lattice) -> Self {
        let [nx, rows, layers] = lattice.dims();
        let row_words = nx.div_ceil(64);
        Self {
            words: vec![0; row_words * rows * layers],
            rows,
            row_words,
        }
    }

    #[inline(always)]
    fn set(&mut self, i: usize, j: usize, k: usize) {
        self.words[(k * self.rows + j) * self.row_words + i / 64] |= 1 << (i % 64);
    }

    /// Returns the number of cells that differ from the grid.
    pub fn differ(&self, grid: &BitGrid) -> u64 {
        self.words
            .iter()
            .zip(grid.words())
            .map(|(a, b)| u64::from((a ^ b).count_ones()))
            .sum::<u64>()
    }
}
