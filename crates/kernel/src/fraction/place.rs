//! Triangles in index space, and their distribution to layers of bricks.

use super::clip::IndexPoint;
use crate::geom::Triangle;
use crate::lattice::{KernelAxis, KernelLattice};

/// Number of layers of cells in a layer of bricks.
pub const LAYERS: usize = 4;

/// Returns the corners of a triangle in index space. The triangle is rotated so that its least corner comes
/// first.
pub(super) fn placed(frame: &KernelLattice, triangle: &Triangle) -> [IndexPoint; 3] {
    let [p, q, r] = triangle.map(|corner| [0, 1, 2].map(|a| coordinate(&frame.axes[a], corner[a])));
    if q < p && q <= r {
        [q, r, p]
    } else if r < p && r < q {
        [r, p, q]
    } else {
        [p, q, r]
    }
}

/// Coordinates farther than this from the first wall are only known to be far away.
const FAR: f64 = (1_u64 << 40) as f64;

/// Returns a coordinate of the mesh in index space, after snapping. It is exactly on a wall if and only if
/// the exact coordinate is on that wall. Otherwise both are on the same side of every wall.
pub(super) fn coordinate(axis: &KernelAxis, v: f32) -> f64 {
    let index = axis.index(v);
    let half = (2.0 * index + 0.5_f64.copysign(index)) as i64 as f64;
    if (2.0 * index - half).abs() > 2.0 * axis.margin {
        return index;
    }
    if let Some(half) = axis.map.snapped(v) {
        return half as f64 / 2.0;
    }
    if index.abs() > FAR || axis.is_exact(v) {
        return index;
    }
    let (wall, is_on) = axis.map.floor(v, index);
    let wall = wall as f64;
    if is_on {
        wall
    } else {
        index.clamp(wall.next_up(), (wall + 1.0).next_down())
    }
}

/// Returns `true` if index coordinates are exact for all floats, without further checks.
pub(super) fn are_exact(axis: &KernelAxis) -> bool {
    axis.reach_of_snap == 0.0 && axis.dyadic && axis.origin == [0.0; 2]
}

/// Numbers of the triangles in each layer of bricks.
pub struct LayerBins {
    /// Start of the list of each layer in `numbers`, followed by the length of `numbers`.
    starts: Vec<usize>,
    /// Triangles that reach at most two layers of bricks.
    numbers: Vec<u32>,
    /// Triangles that reach more than two layers of bricks, each with the first and the last layer.
    tall: Vec<(u32, [u32; 2])>,
}

impl LayerBins {
    /// Returns the maximum memory in bytes.
    pub fn bytes_for(triangles: usize, layers: usize) -> u128 {
        // Each triangle has a range, and either two numbers or one entry in `tall`. A list may have twice the
        // capacity of its items.
        let each = size_of::<[u32; 2]>() + 2 * size_of::<(u32, [u32; 2])>();
        (each * triangles + 2 * size_of::<usize>() * (layers.div_ceil(LAYERS) + 1)) as u128
    }

    /// Distributes triangles to the layers of bricks of a lattice. `ranges` has the result of
    /// [`range`](Self::range) for each triangle. There must be fewer than 2^32 triangles.
    pub fn new(ranges: &[[u32; 2]], layers: usize) -> Self {
        let count = layers.div_ceil(LAYERS);
        let mut starts = vec![0; count + 1];
        for range in ranges {
            if !is_tall(range) {
                for layer in range[0]..=range[1] {
                    starts[layer as usize + 1] += 1;
                }
            }
        }
        for layer in 0..count {
            starts[layer + 1] += starts[layer];
        }
        let mut numbers = vec![0; starts[count]];
        let mut next = starts.clone();
        let mut tall = vec![];
        for (n, range) in (0..).zip(ranges) {
            if is_tall(range) {
                tall.push((n, *range));
                continue;
            }
            for layer in range[0]..=range[1] {
                numbers[next[layer as usize]] = n;
                next[layer as usize] += 1;
            }
        }
        Self {
            starts,
            numbers,
            tall,
        }
    }

    /// Returns the first and the last layer of bricks that a triangle reaches. If it reaches none, the last
    /// is less than the first.
    pub fn range(frame: &KernelLattice, triangle: &Triangle) -> [u32; 2] {
        let axis = &frame.axes[2];
        let [p, q, r] = triangle.map(|corner| corner[2]);
        // Snapping and rounding move a coordinate by less than this bound.
        const MOST: f64 = 1.0 / 64.0;
        let low = axis.index(p.min(q).min(r)) - MOST;
        let high = axis.index(p.max(q).max(r)) + MOST;
        if high < 0.0 || low >= axis.cells as f64 {
            return [1, 0];
        }
        [low.max(0.0), high.min((axis.cells - 1) as f64)].map(|z| z as u32 / LAYERS as u32)
    }

    /// Returns the triangles that reach a layer of bricks. The first list has those that reach at most two
    /// layers, in ascending order. The second has the others.
    pub fn of_layer(&self, layer: usize) -> (&[u32], Vec<u32>) {
        let mut tall = vec![];
        for (n, [first, last]) in &self.tall {
            if (*first..=*last).contains(&(layer as u32)) {
                tall.push(*n);
            }
        }
        (
            &self.numbers[self.starts[layer]..self.starts[layer + 1]],
            tall,
        )
    }
}

/// Returns `true` if a triangle reaches more than two layers of bricks.
fn is_tall([first, last]: &[u32; 2]) -> bool {
    first + 1 < *last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
    use crate::geom::{Bounds, Rational, Ties};

    /// Asserts that an index coordinate is on a wall if the exact coordinate is, and that both are otherwise
    /// on the same side of the wall.
    #[test]
    fn walls_are_decided_exactly() {
        let mut on_walls = 0;
        let mut moved = 0;
        for (origin, spacing) in [
            (Rational::new(3, 10), Rational::new(3, 10)),
            (Rational::new(-1, 3), Rational::new(7, 10)),
            (Rational::new(1_000_001, 10), Rational::new(1, 1_000)),
            (Rational::ZERO, Rational::new(1, 3)),
            (Rational::ZERO, Rational::new(1, 4)),
        ] {
            let map = AxisMap::new(origin.clone(), spacing.clone(), Snap::None);
            let axes = [(); 3].map(|()| LatticeAxis {
                map: map.clone(),
                cells: 400,
                closed: false,
            });
            let far = (&origin + &(&spacing * &Rational::from(400))).to_f32();
            let frame = KernelLattice::new(
                axes,
                &Bounds {
                    min: [origin.to_f32(); 3],
                    max: [far; 3],
                },
                Ties::None,
            );
            let axis = &frame.axes[0];
            for wall in 0..400 {
                let nearest = map.half_plane(2 * wall).to_f32();
                for v in [nearest.next_down(), nearest, nearest.next_up()] {
                    let index = coordinate(axis, v);
                    let exact = map.index(v);
                    let floor = exact.floor().expect("small");
                    assert_eq!(index.floor() as i64, floor, "{v} {origin} {spacing}");
                    assert_eq!(
                        index.fract() == 0.0,
                        exact.is_whole(),
                        "{v} {origin} {spacing}"
                    );
                    on_walls += u32::from(exact.is_whole());
                    moved += u32::from(axis.index(v) != index);
                }
            }
        }
        assert!(on_walls > 400 && moved > 20, "{on_walls} {moved}");
    }
}
