//! Finds the cells that contain many points. Uses doubles where their error bound allows it, otherwise exact
//! numbers.

use super::lattice::Lattice;

/// Lattice, with its origin and spacing as doubles.
struct CellFinder<'a> {
    lattice: &'a Lattice,
    origin: [f64; 3],
    spacing: [f64; 3],
}

impl Lattice {
    /// Returns the cell that contains each point, as [`cell_at`](Self::cell_at) does, but many times faster.
    ///
    /// ```
    /// # use voxelize_core as voxelize;
    /// use voxelize::{Bounds, Lattice};
    ///
    /// let lattice = Lattice::fit(&Bounds { min: [0.0; 3], max: [8.0, 4.0, 2.0] }, 16)?;
    /// let cells: Vec<_> = lattice.cells_at(&[[1.75, 0.25, 0.75], [8.1, 0.0, 0.0]]).collect();
    /// assert_eq!(cells, [Some([3, 0, 1]), None]);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub fn cells_at(&self, points: &[[f64; 3]]) -> impl Iterator<Item = Option<[usize; 3]>> {
        let [origin, spacing] =
            [self.origin(), self.spacing()].map(|point| point.each_ref().map(|c| c.to_f64()));
        let finder = CellFinder {
            lattice: self,
            origin,
            spacing,
        };
        points.iter().map(move |point| finder.cell(*point))
    }
}

impl CellFinder<'_> {
    fn cell(&self, point: [f64; 3]) -> Option<[usize; 3]> {
        let dims = self.lattice.dims();
        let mut cell = [0; 3];
        for a in 0..3 {
            let index = (point[a] - self.origin[a]) / self.spacing[a];
            // Origin, spacing, difference and quotient are each rounded by at most half a unit in the last
            // place. The total error is less than 2⁻⁵⁰ times the largest of the numbers.
            let error = ((point[a].abs() + self.origin[a].abs()) / self.spacing[a] + index.abs())
                * f64::EPSILON
                * 4.0;
            let floor = (index - error).floor();
            let is_sure =
                floor == (index + error).floor() && floor >= 0.0 && floor < dims[a] as f64;
            if !is_sure {
                return self.lattice.cell_at(point);
            }
            cell[a] = floor as usize;
        }
        Some(cell)
    }
}

#[cfg(test)]
mod tests {
    use crate::geom::Bounds;
    use crate::grid::Fit;
    use crate::random::Random;

    #[test]
    fn doubles_find_the_cells_that_fractions_do() {
        let mut random = Random::new(3);
        let mut seen = [0; 2];
        for (low, size, cells) in [
            (0.0, 1.0, 10),
            (1e6, 3.0, 7),
            (-0.1, 0.3, 64),
            (-1e-30, 1e-29, 5),
        ] {
            let bounds = Bounds {
                min: [low; 3],
                max: [low + size; 3],
            };
            let lattice = Fit::longest(cells).pad(1).to(&bounds).unwrap();
            let mut points = vec![[f64::NAN; 3], [f64::INFINITY, 0.0, 0.0]];
            for n in 0..2000_usize {
                // The points are on walls, next to walls, and at random positions.
                let wall = |axis: usize, n: usize| lattice.wall(axis, n % (cells + 4)).to_f64();
                let beside = [
                    wall(0, n),
                    wall(1, n / 3).next_up(),
                    wall(2, n / 5).next_down(),
                ];
                let anywhere = [(); 3].map(|()| {
                    f64::from(low) + f64::from(size) * (f64::from(random.unit()) * 1.6 - 0.3)
                });
                points.extend([beside, anywhere]);
            }
            for (point, found) in points.iter().zip(lattice.cells_at(&points)) {
                assert_eq!(found, lattice.cell_at(*point), "{point:?}");
                seen[usize::from(found.is_some())] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
    }
}
