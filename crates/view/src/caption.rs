//! Caption below a picture: a description, and a scale bar if the picture has a single scale.

use super::axes::label;
use super::colours;
use super::font;
use super::panel::{GROUND, TEXT, fill, scale_of, short};
use super::picture::{Background, CLEAR, Picture, pixel};

/// Free space around the line of text, in font pixels.
const MARGIN: usize = 5;

/// Maximum length of the bar, as a share of the width of the picture.
const LONGEST: f64 = 0.22;

/// Height of the bar in font pixels.
const BAR: usize = 3;

impl Picture {
    /// Adds a line of text below the picture. If the whole picture has one scale, also adds a bar whose
    /// length is 1, 2 or 5 times a power of ten units. `unit` is written after the length. Text that is too
    /// long is cut off.
    #[must_use]
    pub fn with_caption(&self, text: &str, unit: &str, background: Background) -> Self {
        let [width, height] = self.size();
        let scale = scale_of([width, height]);
        let line = (font::HEIGHT + 2 * MARGIN) * scale;
        let mut rows = vec![vec![CLEAR; width]; line];
        fill(&mut rows, [0, 0], [width, line], GROUND);
        let margin = MARGIN * scale;
        let ink = pixel(TEXT, 1.0);
        let text_width = |text: &str| text.len() * font::ADVANCE * scale;
        let mut room = width.saturating_sub(2 * margin);
        if let Some((pixels, name)) = self.bar(unit) {
            let needed = pixels + margin + text_width(&name);
            if needed + margin < room {
                let left = width - margin - needed;
                let top = (line - BAR * scale) / 2;
                fill(
                    &mut rows,
                    [left, top],
                    [pixels, BAR * scale],
                    pixel(colours::INK, 1.0),
                );
                label(
                    &mut rows,
                    &name,
                    [left + pixels + margin, margin],
                    scale,
                    ink,
                );
                room -= needed + margin;
            }
        }
        let letters = room / (font::ADVANCE * scale);
        let shown: String = text
            .chars()
            .take(letters)
            .map(|c| if c.is_ascii() { c } else { '?' })
            .collect();
        label(&mut rows, &shown, [margin, margin], scale, ink);
        self.above(&Self::from_rows([width, line], &rows, background))
    }

    /// Returns the length of the bar in pixels and its label. `None` if the picture has no single scale.
    fn bar(&self, unit: &str) -> Option<(usize, String)> {
        let per_unit = self.pixels_per_unit()?;
        let most = LONGEST * self.size()[0] as f64 / per_unit;
        if !most.is_normal() || most <= 0.0 {
            return None;
        }
        let power = 10_f64.powi(most.log10().floor() as i32);
        let lengths = [5.0 * power, 2.0 * power, 1.0 * power];
        let length = lengths.into_iter().find(|length| *length <= most)?;
        let pixels = (length * per_unit).round() as usize;
        if pixels < 4 {
            return None;
        }
        let mut name = short(length);
        if !unit.is_empty() {
            name = format!("{name} {unit}");
        }
        Some((pixels, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_stands_below_with_a_bar_of_a_round_length() {
        let rows = vec![vec![pixel([1.0, 0.0, 0.0], 1.0); 400]; 50];
        let picture = Picture::from_rows([400, 50], &rows, Background::Transparent).with_scale(3.7);
        // 0.22 * 400 / 3.7 is 23.8, so the bar is 20 long.
        assert_eq!(picture.bar("mm"), Some((74, "20 mm".to_string())));
        let with = picture.with_caption("part.stl", "mm", Background::Plain([255; 3]));
        assert_eq!(with.size(), [400, 50 + font::HEIGHT + 2 * MARGIN]);
        assert!(
            with.as_bytes().starts_with(picture.as_bytes()),
            "the picture stays"
        );
        let dark = |from: usize, to: usize| {
            (50..67)
                .flat_map(|y| (from..to).map(move |x| [x, y]))
                .filter(|at| with.get(*at)[0] < 130)
                .count()
        };
        assert!(dark(0, 60) > 20 && dark(280, 400) > 74 * BAR && dark(80, 200) == 0);
        let plain = Picture::from_rows([400, 50], &rows, Background::Transparent);
        assert_eq!(plain.bar(""), None);
    }
}
