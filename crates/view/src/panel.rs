//! Legend next to a picture: a scale with its values, and coloured squares with their names.

use super::axes::label;
use super::colours::{self, Colour};
use super::font;
use super::picture::{Pixel, over, pixel};
use super::scale::Scale;

/// Colour of the names and values.
pub(super) const TEXT: Colour = [0.15, 0.17, 0.2];

/// Colour of the area behind the names. It makes them legible on any background.
pub(super) const GROUND: Pixel = [0.96 * 0.85, 0.96 * 0.85, 0.97 * 0.85, 0.85];

/// Height of a line of text including the gap below it, in font pixels.
const LINE: usize = font::HEIGHT + 5;

/// Width of the scale and width of a square, in font pixels.
const SQUARE: usize = 9;

/// Free space around the legend, in font pixels.
const MARGIN: usize = 4;

/// Maximum number of lines of text, however high the picture is.
const MOST_LINES: usize = 40;

/// Legend of the colours of a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Panel {
    /// Scale with its values. `None` if the legend has no scale.
    pub scale: Option<PanelScale>,
    /// Unit of the values, which is written after the highest value. `None` if it is unknown.
    pub unit: Option<String>,
    /// Coloured squares with their names.
    pub squares: Vec<(Colour, String)>,
}

/// Kind of scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PanelScale {
    /// Values of any range.
    Values(Scale),
    /// Shares of cells from 0 to 1, shown in greys.
    Shares,
}

impl PanelScale {
    fn values(self, most: usize) -> Vec<f64> {
        match self {
            Self::Values(scale) => scale.values(most),
            Self::Shares => Scale::around([0.0, 1.0]).values(most),
        }
    }

    fn colour(self, value: f64) -> Colour {
        match self {
            Self::Values(scale) => scale.colour(value),
            Self::Shares => colours::grey_of(value as f32),
        }
    }
}

impl Panel {
    /// Returns the size of the legend in pixels for a picture of this size. `None` if the legend is empty or
    /// does not fit.
    pub(super) fn size(&self, picture: [usize; 2]) -> Option<[usize; 2]> {
        let scale = scale_of(picture);
        let lines = self.lines(picture[1])?;
        let longest = lines.iter().map(|line| line.text().chars().count()).max()?;
        let width = SQUARE + MARGIN + longest * font::ADVANCE + 2 * MARGIN;
        let size = [width * scale, (lines.len() * LINE + 2 * MARGIN) * scale];
        (2 * size[0] <= picture[0] && size[1] <= picture[1]).then_some(size)
    }

    /// Draws the legend with its upper left corner at a pixel. `picture` is the size of the picture.
    pub(super) fn draw(
        &self,
        rows: &mut [Vec<Pixel>],
        [left, top]: [usize; 2],
        picture: [usize; 2],
    ) {
        let (Some(size), Some(lines)) = (self.size(picture), self.lines(picture[1])) else {
            return;
        };
        let scale = scale_of(picture);
        fill(rows, [left, top], size, GROUND);
        let at = |line: usize| [left + MARGIN * scale, top + (MARGIN + line * LINE) * scale];
        let values = self.values(picture);
        if let (Some(panel_scale), Some(first), Some(last)) =
            (self.scale, values.first(), values.last())
        {
            // The scale extends from the middle of the first line to the middle of the last line of values.
            let height = (values.len() - 1) * LINE * scale;
            let [x, y] = at(0);
            let y = y + font::HEIGHT * scale / 2;
            for n in 0..=height {
                let share = n as f64 / height.max(1) as f64;
                let colour = panel_scale.colour(first + (last - first) * share);
                fill(rows, [x, y + n], [SQUARE * scale, 1], pixel(colour, 1.0));
            }
        }
        for (n, line) in lines.iter().enumerate() {
            let [x, y] = at(n);
            if let Line::Square(colour, _) = line {
                // The square has a frame, because its colour may be the same as that of the area behind it.
                fill(
                    rows,
                    [x, y],
                    [font::HEIGHT * scale; 2],
                    pixel(colours::INK, 1.0),
                );
                let inner = [(font::HEIGHT - 2) * scale; 2];
                fill(rows, [x + scale, y + scale], inner, pixel(*colour, 1.0));
            }
            label(
                rows,
                line.text(),
                [x + (SQUARE + MARGIN) * scale, y],
                scale,
                pixel(TEXT, 1.0),
            );
        }
    }

    /// Returns the values that are written next to the scale in a picture of this size. The highest value
    /// comes first.
    pub(super) fn values(&self, picture: [usize; 2]) -> Vec<f64> {
        self.values_in(room(picture[1]))
    }

    fn values_in(&self, room: usize) -> Vec<f64> {
        match self.scale {
            Some(scale) => scale.values(room.saturating_sub(self.squares.len())),
            None => vec![],
        }
    }

    /// Returns the lines of text that fit into a picture of this height. `None` if there are none.
    fn lines(&self, height: usize) -> Option<Vec<Line<'_>>> {
        let room = room(height);
        let mut lines = Vec::new();
        for (n, value) in self.values_in(room).into_iter().enumerate() {
            let text = short(value);
            lines.push(Line::Value(match &self.unit {
                Some(unit) if n == 0 => format!("{text} {unit}"),
                _ => text,
            }));
        }
        let left = room.saturating_sub(lines.len());
        let count = self.squares.len();
        let shown = if count <= left {
            count
        } else {
            left.saturating_sub(1)
        };
        for (colour, name) in &self.squares[..shown] {
            lines.push(Line::Square(*colour, name));
        }
        if shown < count {
            lines.push(Line::More(format!("and {} more", count - shown)));
        }
        (!lines.is_empty() && lines.len() <= room).then_some(lines)
    }
}

/// Line of text in a legend.
enum Line<'a> {
    /// Value that is written next to the scale.
    Value(String),
    /// Name with a square of its colour before it.
    Square(Colour, &'a str),
    /// Number of names for which there is no room.
    More(String),
}

impl Line<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Value(text) | Self::More(text) => text,
            Self::Square(_, name) => name,
        }
    }
}

/// Returns the number of lines of text that fit into a picture of this height.
fn room(height: usize) -> usize {
    ((height / scale_of([height; 2])).saturating_sub(2 * MARGIN) / LINE).min(MOST_LINES)
}

/// Returns the size of a font pixel in pixels, for a picture of this size.
pub(super) fn scale_of(picture: [usize; 2]) -> usize {
    (picture[0].min(picture[1]) / 380).clamp(1, 5)
}

pub(super) fn fill(
    rows: &mut [Vec<Pixel>],
    [left, top]: [usize; 2],
    [width, height]: [usize; 2],
    colour: Pixel,
) {
    for row in rows.iter_mut().skip(top).take(height) {
        for below in row.iter_mut().skip(left).take(width) {
            *below = over(colour, *below);
        }
    }
}

/// Formats a value with four significant digits.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if size != 0.0 && size.is_finite() && !(1e-4..1e7).contains(&size) {
        return format!("{rounded:e}");
    }
    // Adding zero turns -0 into 0, which has no minus sign.
    format!("{}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_four_digits() {
        let cases = [
            0.0,
            -0.0,
            1.0 / 3.0,
            -12345.678,
            1e-9,
            2.5e30,
            0.00012,
            f64::INFINITY,
        ];
        assert_eq!(
            cases.map(short),
            [
                "0", "0", "0.3333", "-12350", "1e-9", "2.5e30", "0.00012", "inf"
            ]
            .map(String::from)
        );
    }

    #[test]
    fn names_without_room_are_counted() {
        let squares = (0..60).map(|n| ([0.5; 3], format!("label {n}"))).collect();
        let panel = Panel {
            squares,
            ..Panel::default()
        };
        let texts = |height| {
            panel.lines(height).map(|lines| {
                lines
                    .iter()
                    .map(|line| line.text().to_string())
                    .collect::<Vec<_>>()
            })
        };
        let few = texts(100).unwrap();
        assert_eq!(
            (few.len(), few.last().unwrap().as_str()),
            (7, "and 54 more")
        );
        assert_eq!(texts(4000).unwrap().len(), MOST_LINES);
        assert_eq!(
            (texts(10), Panel::default().lines(500).is_none()),
            (None, true)
        );
        let squares = vec![([0.0; 3], "background 7".into())];
        let scale = PanelScale::Values(Scale::around([-0.9, 3.8]));
        let panel = Panel {
            scale: Some(scale),
            unit: None,
            squares,
        };
        let lines = panel.lines(60).unwrap();
        assert_eq!(
            lines.iter().map(Line::text).collect::<Vec<_>>(),
            ["4", "2", "0", "background 7"]
        );
    }
}
