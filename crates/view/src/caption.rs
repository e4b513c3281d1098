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

/// Maximum number of lines of text.
const MOST_LINES: usize = 3;

/// Minimum number of letters in a line. Text is not continued on shorter lines.
const LEAST_LETTERS: usize = 16;

impl Picture {
    /// Adds text below the picture. If the whole picture has one scale, also adds a bar whose length is 1, 2 or
    /// 5 times a power of ten units. `unit` is written after the length. Text that is too long for a line is
    /// continued on the next one, and cut off after three lines.
    #[must_use]
    pub fn with_caption(&self, text: &str, unit: &str, background: Background) -> Self {
        let [width, height] = self.size();
        let scale = scale_of([width, height]);
        let line = (font::HEIGHT + 2 * MARGIN) * scale;
        let margin = MARGIN * scale;
        let ink = pixel(TEXT, 1.0);
        let text_width = |text: &str| text.len() * font::ADVANCE * scale;
        let mut room = width.saturating_sub(2 * margin);
        let mut bar = None;
        if let Some((pixels, name)) = self.bar(unit) {
            let needed = pixels + margin + text_width(&name);
            if needed + margin < room {
                room -= needed + margin;
                bar = Some((width - margin - needed, pixels, name));
            }
        }
        let lines = wrapped(text, room / (font::ADVANCE * scale));
        let next = (font::HEIGHT + MARGIN) * scale;
        let height = line + next * (lines.len() - 1);
        let mut rows = vec![vec![CLEAR; width]; height];
        fill(&mut rows, [0, 0], [width, height], GROUND);
        if let Some((left, pixels, name)) = bar {
            let top = (line - BAR * scale) / 2;
            let colour = pixel(colours::INK, 1.0);
            fill(&mut rows, [left, top], [pixels, BAR * scale], colour);
            let left = left + pixels + margin;
            label(&mut rows, &name, [left, margin], scale, ink);
        }
        for (n, text) in lines.iter().enumerate() {
            label(&mut rows, text, [margin, margin + n * next], scale, ink);
        }
        self.above(&Self::from_rows([width, height], &rows, background))
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

/// Divides a text at spaces into lines of at most `letters` letters. Returns at least one line. What does not fit
/// is cut off.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let count = lines.len();
        let line = &mut lines[count - 1];
        if line.is_empty() {
            line.push_str(word);
        } else if letters < LEAST_LETTERS || line.len() + 1 + word.len() <= letters {
            *line += &format!(" {word}");
        } else {
            lines.push(word.to_string());
        }
    }
    lines.truncate(MOST_LINES);
    for line in &mut lines {
        let shown = line.chars().take(letters);
        *line = shown.map(|c| if c.is_ascii() { c } else { '?' }).collect();
    }
    lines
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

    #[test]
    fn long_text_is_continued_on_the_next_line() {
        let text = "part.npz, z=40: 512 x 512 x 99 cells of 0.78125 x 0.78125 x 2.5 mm";
        for (letters, lines) in [
            (99, vec![text]),
            (
                40,
                vec![
                    "part.npz, z=40: 512 x 512 x 99 cells of",
                    "0.78125 x 0.78125 x 2.5 mm",
                ],
            ),
            (
                20,
                vec![
                    "part.npz, z=40: 512",
                    "x 512 x 99 cells of",
                    "0.78125 x 0.78125 x",
                ],
            ),
            (9, vec!["part.npz,"]),
            (0, vec![""]),
        ] {
            assert_eq!(wrapped(text, letters), lines, "{letters}");
        }
        assert_eq!(wrapped("Würfel", 20), ["W?rfel"]);
    }
}
