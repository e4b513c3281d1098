//! A layer of cells that differ, as text of coloured squares. Reports in Markdown show it where pictures cannot be
//! shown, as in job summaries of GitHub.

use voxelize::grid::AXES;
use voxelize::{BitGrid, compare::diff};

/// Maximum number of squares in a row and in a column.
const MOST: [usize; 2] = [40, 30];

/// Cells around those that differ.
const MARGIN: usize = 3;

/// The layer with the most cells that differ.
pub struct Squares {
    /// Text such as `layer z = 7, x 30 … 39, y 12 … 24: 4 of the 6 cells that differ`.
    pub title: String,
    /// Rows of squares, from the highest to the lowest.
    pub rows: Vec<String>,
}

impl Squares {
    /// Draws the layer of two grids in which the most cells differ. `None` if no cell differs.
    pub fn of(first: &BitGrid, second: &BitGrid) -> Option<Self> {
        let dims = first.dims();
        let mut counts = dims.map(|n| vec![0_u64; n]);
        let mut all = 0;
        for (cell, _) in diff::cells(first, second) {
            all += 1;
            for axis in 0..3 {
                counts[axis][cell[axis]] += 1;
            }
        }
        // Of layers with equal numbers, the first one across z is drawn.
        let mut best = (0, 2, 0);
        for axis in [2, 1, 0] {
            for (layer, count) in counts[axis].iter().enumerate() {
                if *count > best.0 {
                    best = (*count, axis, layer);
                }
            }
        }
        let (count, axis, layer) = best;
        if count == 0 {
            return None;
        }
        let plane = match axis {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        };
        let mut low = plane.map(|axis| dims[axis]);
        let mut high = [0; 2];
        for (cell, _) in diff::cells(first, second) {
            if cell[axis] == layer {
                for n in 0..2 {
                    low[n] = low[n].min(cell[plane[n]]);
                    high[n] = high[n].max(cell[plane[n]]);
                }
            }
        }
        for n in 0..2 {
            low[n] = low[n].saturating_sub(MARGIN);
            high[n] = (high[n] + MARGIN).min(dims[plane[n]] - 1);
        }
        // Number of cells per square, along both axes.
        let step = [0, 1]
            .map(|n| (high[n] + 1 - low[n]).div_ceil(MOST[n]))
            .into_iter()
            .max()
            .unwrap_or(1);
        let mut rows = vec![];
        for up in (low[1]..=high[1]).step_by(step) {
            let mut row = String::new();
            for right in (low[0]..=high[0]).step_by(step) {
                let mut seen = [false; 4];
                for y in up..(up + step).min(high[1] + 1) {
                    for x in right..(right + step).min(high[0] + 1) {
                        let mut cell = [layer; 3];
                        cell[plane[0]] = x;
                        cell[plane[1]] = y;
                        let kind = 2 * usize::from(first.get(cell)) + usize::from(second.get(cell));
                        seen[kind] = true;
                    }
                }
                row.push(match seen {
                    [_, true, false, _] => '🟦',
                    [_, false, true, _] => '🟧',
                    [_, true, true, _] => '🟪',
                    [_, _, _, true] => '⬛',
                    _ => '⬜',
                });
            }
            rows.push(row);
        }
        rows.reverse();
        let range = |n: usize| format!("{} {} … {}", AXES[plane[n]], low[n], high[n]);
        let mut title = format!(
            "layer {} = {layer}, {}, {}: {count} of the {all} cells that differ",
            AXES[axis],
            range(0),
            range(1)
        );
        if step > 1 {
            title += &format!("; a square is {step} × {step} cells");
        }
        Some(Self { title, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_with_the_most_changes_is_drawn() {
        let first = BitGrid::from_text("##..\n##..\n\n....\n####").unwrap();
        let second = BitGrid::from_text("##..\n##..\n\n.##.\n#.##").unwrap();
        let squares = Squares::of(&first, &second).unwrap();
        assert!(
            squares.title.ends_with("3 of the 3 cells that differ"),
            "{}",
            squares.title
        );
        assert!(squares.title.starts_with("layer z = "), "{}", squares.title);
        let text = squares.rows.join("\n");
        let count = |square: char| text.matches(square).count();
        assert_eq!(['🟦', '🟧', '⬛', '⬜'].map(count), [2, 1, 3, 2], "{text}");
        assert!(Squares::of(&first, &first).is_none());
    }

    #[test]
    fn a_large_layer_has_several_cells_per_square() {
        let mut first = BitGrid::new([100, 70, 1]).unwrap();
        let mut second = BitGrid::new([100, 70, 1]).unwrap();
        first.set([0, 0, 0]);
        second.set([99, 69, 0]);
        let squares = Squares::of(&first, &second).unwrap();
        assert_eq!(
            (squares.rows.len(), squares.rows[0].chars().count()),
            (24, 34)
        );
        assert!(squares.rows[0].ends_with('🟦') && squares.rows[23].starts_with('🟧'));
        assert!(squares.title.ends_with("a square is 3 × 3 cells"));
    }
}
