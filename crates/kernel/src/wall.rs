//! The cells beside a triangle that lies in a wall, exactly: those whose closed boxes touch it, row by row.
//!
//! With `t` one of the other axes and `s` the third: between two walls of `t` the triangle is a convex polygon. Its corners
//! are the triangle's there, and the crossings of edges with these walls. It is connected, so it touches all cells between
//! its least and its greatest corner along `s`, closed boxes taken.

use crate::exact::LazyExact;
use crate::geom::Triangle;
use crate::geom::crossing::Floor;
use crate::lattice::KernelLattice;

/// Calls `visit` with boxes of cells of the lattice, the lowest and the highest along each axis, that together are the
/// cells whose closed boxes touch a triangle that lies in a wall of `axis`.
pub fn cells_beside_wall(
    frame: &KernelLattice,
    triangle: &Triangle,
    axis: usize,
    mut visit: impl FnMut([[usize; 2]; 3]),
) {
    let [s, t] = [[1, 2], [0, 2], [0, 1]][axis];
    // Walls are counted from the first vertex, so that numbers are short.
    let base: [i64; 3] = std::array::from_fn(|a| {
        let axis = &frame.axes[a];
        let coordinate = triangle[0][a];
        axis.map.floor(coordinate, axis.index(coordinate)).0
    });
    let mut exact = LazyExact::new(frame, triangle, base);
    let at = [0, 1, 2].map(|n| [exact.vertex(n, s), exact.vertex(n, t)]);
    let in_grid = |a: usize, [low, high]: [i64; 2]| {
        let low = (low + base[a]).max(0);
        let high = (high + base[a]).min(frame.axes[a].cells - 1);
        (low <= high).then_some([low as usize, high as usize])
    };
    let Some(beside) = in_grid(axis, touching(exact.vertex(0, axis))) else {
        return;
    };
    let ends = joined(at.iter().map(|[_, t]| touching(*t)));
    let Some(rows) = in_grid(t, ends) else { return };
    for row in rows[0]..=rows[1] {
        let walls = [row as i64 - base[t], row as i64 + 1 - base[t]];
        let span = joined(
            corners(&mut exact, &at, [s, t], walls)
                .into_iter()
                .map(touching),
        );
        if let Some(span) = in_grid(s, span) {
            let mut cells = [[0; 2]; 3];
            (cells[axis], cells[s], cells[t]) = (beside, span, [row, row]);
            visit(cells);
        }
    }
}

/// Where the corners of the triangle's part between two walls of axis `t` lie along axis `s`; `at` has the vertices along
/// both.
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

/// The cells that a point touches along an axis, the lower and the higher: on a wall those on both sides.
fn touching((floor, is_on_wall): Floor) -> [i64; 2] {
    [floor - i64::from(is_on_wall), floor]
}

/// The lowest and the highest of all.
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
    fn the_cells_beside_a_wall_are_those_that_touch() {
        let mut random = Random::new(1);
        let mut touched = 0;
        let mut within = 0;
        for n in 0..3000 {
            let spacing = [Rational::new(1, 2), Rational::new(3, 10)][n % 2].clone();
            let frame = frame(&spacing);
            let axis = n / 2 % 3;
            // On walls, between them, and beyond the grid.
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
