//! Contour lines on a slice of a field. Thin lines are at the values of the scale. A thick line is at zero,
//! which is the surface if the field has signed distances.
//!
//! Values are interpolated bilinearly between the centres of cells. A pixel belongs to a line if the values
//! of two adjacent pixels are on different sides of the line's value.

use super::picture::{Pixel, over};
use voxelize_core::grid::Field;

/// Minimum length in pixels of the shorter side of a rectangle in which the thick line is three pixels wide.
/// In smaller rectangles it is one pixel wide.
const WIDE: usize = 200;

/// Colours of the thin lines and of the thick line. They are dark and translucent.
const THIN: Pixel = [0.08 * 0.45, 0.09 * 0.45, 0.1 * 0.45, 0.45];
const THICK: Pixel = [0.08 * 0.9, 0.09 * 0.9, 0.1 * 0.9, 0.9];

/// Rectangle of a picture that shows a layer of a field.
pub(super) struct Contours<'a, F> {
    pub field: &'a Field,
    /// Function that returns the cell at a column and a row. Rows are counted upwards.
    pub cell: F,
    /// Number of columns and rows of cells.
    pub dims: [usize; 2],
    /// Upper left pixel of the rectangle, and its width and height in pixels.
    pub corner: [usize; 2],
    pub size: [usize; 2],
}

impl<F: Fn([usize; 2]) -> [usize; 3]> Contours<'_, F> {
    /// Draws the lines at these values, and the line at zero.
    pub(super) fn draw(&self, values: &[f64], rows: &mut [Vec<Pixel>]) {
        let [width, height] = self.size;
        let mut above: Vec<Option<f64>> = vec![None; width];
        let mut zero = Vec::new();
        for y in 0..height {
            let mut left = None;
            for x in 0..width {
                let here = self.value([x, y]);
                let near = [left, above[x]];
                above[x] = here;
                left = here;
                let Some(value) = here else { continue };
                let mut passes_zero = false;
                let mut passes_value = false;
                for other in near.into_iter().flatten() {
                    passes_zero |= (other < 0.0) != (value < 0.0);
                    passes_value |= rank(values, other) != rank(values, value);
                }
                if passes_zero {
                    zero.push([x, y]);
                } else if passes_value {
                    let pixel = &mut rows[self.corner[1] + y][self.corner[0] + x];
                    *pixel = over(THIN, *pixel);
                }
            }
        }
        self.draw_thick(&zero, rows);
    }

    /// Draws the thick line along these pixels.
    fn draw_thick(&self, line: &[[usize; 2]], rows: &mut [Vec<Pixel>]) {
        let [width, height] = self.size;
        let reach = usize::from(width.min(height) >= WIDE);
        let mut wide: Vec<[usize; 2]> = Vec::new();
        for [x, y] in line {
            let columns = x.saturating_sub(reach)..(x + reach + 1).min(width);
            let lines = y.saturating_sub(reach)..(y + reach + 1).min(height);
            wide.extend(lines.flat_map(|y| columns.clone().map(move |x| [x, y])));
        }
        wide.sort_unstable();
        wide.dedup();
        for [x, y] in wide {
            let pixel = &mut rows[self.corner[1] + y][self.corner[0] + x];
            *pixel = over(THICK, *pixel);
        }
    }

    /// Returns the value of the field at the centre of a pixel. `None` next to a cell that has the background
    /// or no number.
    fn value(&self, [x, y]: [usize; 2]) -> Option<f64> {
        // Rows of cells are counted upwards, but rows of pixels downwards.
        let pixel = [x, self.size[1] - 1 - y];
        let place = |n: usize| {
            let at = (pixel[n] as f64 + 0.5) / self.size[n] as f64 * self.dims[n] as f64 - 0.5;
            let at = at.clamp(0.0, (self.dims[n] - 1) as f64);
            let low = (at as usize).min(self.dims[n].saturating_sub(2));
            (low, at - low as f64)
        };
        let (i, s) = place(0);
        let (j, t) = place(1);
        let corner = |right: usize, up: usize| {
            let at = [
                (i + right).min(self.dims[0] - 1),
                (j + up).min(self.dims[1] - 1),
            ];
            let value = self.field.get((self.cell)(at));
            (value.is_finite() && !self.field.is_background(value)).then_some(f64::from(value))
        };
        let low = corner(0, 0)? * (1.0 - s) + corner(1, 0)? * s;
        let high = corner(0, 1)? * (1.0 - s) + corner(1, 1)? * s;
        Some(low * (1.0 - t) + high * t)
    }
}

/// Returns the number of levels that are at most `value`.
fn rank(levels: &[f64], value: f64) -> usize {
    levels.iter().filter(|level| **level <= value).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_run_between_values_on_different_sides() {
        // The values are x - 3.5 in eight columns, so zero is between the fourth and the fifth column.
        let values = (0..8 * 2).map(|n| (n % 8) as f32 - 3.5).collect();
        let field = Field::from_values([8, 2, 1], 100.0, values).unwrap();
        let contours = Contours {
            field: &field,
            cell: |[i, j]: [usize; 2]| [i, j, 0],
            dims: [8, 2],
            corner: [1, 0],
            size: [80, 20],
        };
        let mut rows = vec![vec![[1.0; 4]; 82]; 20];
        contours.draw(&[2.5, 30.0], &mut rows);
        let is = |line: Pixel| move |pixel: &Pixel| *pixel == over(line, [1.0; 4]);
        for row in &rows {
            assert_eq!(row.iter().position(is(THICK)), Some(1 + 40));
            assert_eq!(row.iter().position(is(THIN)), Some(1 + 65));
            assert_eq!(row.iter().filter(|pixel| **pixel != [1.0; 4]).count(), 2);
        }
        let empty = Field::new([8, 2, 1], 1.0).unwrap();
        let before = rows.clone();
        Contours {
            field: &empty,
            ..contours
        }
        .draw(&[0.5], &mut rows);
        assert!(rows == before, "no line where nothing has a value");
    }
}
