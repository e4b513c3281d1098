//! Cells on both sides of a triangle that lies in a wall. These are all cells whose closed boxes touch the
//! triangle. They are found exactly, row by row.
//!
//! Let the wall be one of `axis`, and `t` and `s` the two other axes. The part of the triangle between two
//! walls of `t` is a convex polygon. Its corners are the vertices between these walls and the crossings of
//! edges with these walls. The polygon is connected, so it touches all closed cells between its least and its
//! greatest corner along `s`.

use crate::exact::LazyExact;
use crate::geom::Triangle;
use crate::geom::crossing::Floor;
use crate::lattice::KernelLattice;

/// Calls `visit` with boxes of cells of the grid, each given by its lowest and its highest cell along each
/// axis. Together they are the cells whose closed boxes touch the triangle, which lies in a wall of `axis`.
pub fn cells_beside_wall(
    frame: &KernelLattice,
    triangle: &Triangle,
    axis: usize,
    mut visit: impl FnMut([[usize; 2]; 3]),
) {
    let [s, t] = [[1, 2], [0, 2], [0, 1]][axis];
    // Walls are counted from the cell of the first vertex, which keeps the numbers short.
    let base: [i64; 3] = std::array::from_fn(|a| {
        let axis = &frame.axes[a];
        let coordinate = triangle[0][a];
        axis.map.floor(coordinate, axis.index(coordinate)).0
    });
    let mut exact = LazyExact::new(frame, triangle, base);
    let at = [0, 1, 2].map(|n| [exact.vertex(n, s), exact.vertex(n, t)]);
    let Some(layers) = in_grid(frame, base, axis, touching(exact.vertex(0, axis))) else {
        return;
    };
    let ends = joined(at.iter().map(|[_, t]| touching(*t)));
    let Some(rows) = in_grid(frame, base, t, ends) else {
        return;
    };
    for row in rows[0]..=rows[1] {
        let walls = [row as i64 - base[t], row as i64 + 1 - base[t]];
        let corners = corners(&mut exact, &at, [s, t], walls);
        let span = joined(corners.into_iter().map(touching));
        if let Some(span) = in_grid(frame, base, s, span) {
            let mut cells = [[0; 2]; 3];
            cells[axis] = layers;
            cells[s] = span;
            cells[t] = [row, row];
            visit(cells);
        }
    }
}

/// Returns the lowest and the highest cell of an interval, limited to the grid. `low` and `high` are relative
/// to cell `base`. `None` if no cell of the interval is in the grid.
fn in_grid(
    frame: &KernelLattice,
    base: [i64; 3],
    axis: usize,
    [low, high]: [i64; 2],
) -> Option<[usize; 2]> {
    let low = (low + base[axis]).max(0);
    let high = (high + base[axis]).min(frame.axes[axis].cells - 1);
    if low > high {
        return None;
    }
    Some([low as usize, high as usize])
}

/// Returns the corners, as positions along axis `s`, of the triangle's part between two walls of axis `t`.
/// `at` has the positions of the vertices along both axes.
fn corners(
    exact: &mut LazyExact,
    at: &[[Floor; 2]; 3],
    axes: [usize; 2],
    walls: [i64; 2],
) -> Vec<Floor> {
    let is_below = |n: usize, wall: i64| at[n][1].0 < wall;
    let is_above = |n: usize, wall: i64| at[n][1].0 > wall || at[n][1] == (wall, false);
    let mut found = vec![];
    for n in 0..3 {
        if !is_below(n, walls[0]) && !is_above(n, walls[1]) {
            found.push(at[n][0]);
        }
        let m = (n + 1) % 3;
        for wall in walls {
            if is_below(n, wall) && is_above(m, wall) || is_below(m, wall) && is_above(n, wall) {
                found.push(exact.edge_crossing([n, m], axes, wall));
            }
        }
    }
    found
}

/// Returns the lowest and the highest cell that a point touches along an axis. A point on a wall touches the
/// cells on both sides.
fn touching((floor, is_on_wall): Floor) -> [i64; 2] {
    [floor - i64::from(is_on_wall), floor]
}

/// Returns the lowest and the highest cell of several intervals.
fn joined(parts: impl Iterator<Item = [i64; 2]>) -> [i64; 2] {
    parts.fold([i64::MAX / 2, i64::MIN / 2], |all, [low, high]| {
        [all[0].min(low), all[1].max(high)]
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
    use crate::geom::tri_box::ExactTriangle;
    use crate::geom::{Bounds, Rational, Ties};
    use crate::random::Random;

    const DIMS: [usize; 3] = [5, 4, 6];

    fn frame(spacing: &Rational) -> KernelLattice {
        let origin = Rational::new(-1, 2);
        let map = || AxisMap::new(origin.clone(), spacing.clone(), Snap::Float);
        let axes = DIMS.map(|cells| LatticeAxis {
            map: map(),
            cells,
            closed: true,
        });
        KernelLattice::new(
            axes,
            &Bounds {
                min: [-9.0; 3],
                max: [9.0; 3],
            },
            Ties::None,
        )
    }

    #[test]
    fn cells_beside_a_wall_touch_the_triangle() {
        let mut random = Random::new(1);
        let mut touched = 0;
        let mut within = 0;
        for n in 0..3000 {
            let spacing = [Rational::new(1, 2), Rational::new(3, 10)][n % 2].clone();
            let frame = frame(&spacing);
            let axis = n / 2 % 3;
            // Coordinates on walls, between walls, and outside of the grid.
            let mut coordinate = |fine: u64| {
                let at = Rational::new(random.below(8 * fine) as i64 - fine as i64, fine as i64);
                (&Rational::new(-1, 2) + &(&spacing * &at)).to_f32()
            };
            let wall = coordinate(1);
            let fine = [1, 2, 7][n / 6 % 3];
            let triangle: Triangle = std::array::from_fn(|_| {
                std::array::from_fn(|a| if a == axis { wall } else { coordinate(fine) })
            });
            let mut found = BTreeSet::new();
            cells_beside_wall(&frame, &triangle, axis, |[x, y, z]| {
                for (k, j) in (z[0]..=z[1]).flat_map(|k| (y[0]..=y[1]).map(move |j| (k, j))) {
                    (x[0]..=x[1]).for_each(|i| assert!(found.insert([i, j, k]), "twice"));
                }
            });
            let index = triangle.map(|v| std::array::from_fn(|a| frame.axes[a].map.index(v[a])));
            let exact = ExactTriangle::new(&index);
            for n in 0..DIMS.iter().product() {
                let cell = [n % 5, n / 5 % 4, n / 20];
                let touches = exact.touches(cell.map(|n| n as i64), Ties::Both, [false; 3]);
                assert_eq!(found.contains(&cell), touches, "{triangle:?} {cell:?}");
                touched += usize::from(touches);
            }
            within += usize::from(!found.is_empty());
        }
        assert!(touched > 20_000 && within > 2000, "{touched} {within}");
    }
}
