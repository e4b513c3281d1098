//! Panel: a grid of powers, and a line for each series with its name next to its last point.

use std::fmt::{Result, Write};

use super::scale::Scale;

/// Text and grid lines, readable on white and on black.
pub const GREY: &str = "#7d8590";

/// Distance between names.
const NAME_HEIGHT: f64 = 17.0;

/// Series of points.
pub struct Line {
    pub name: &'static str,
    pub colour: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// Panel with its axes.
pub struct Panel {
    pub title: String,
    pub across: &'static str,
    pub x: Scale,
    pub y: Scale,
    /// Ticks of the horizontal axis are powers of this base.
    pub base: f64,
    /// Format of horizontal values.
    pub tick: fn(f64) -> String,
}

/// Formats a time in milliseconds.
fn time(ms: f64) -> String {
    match ms {
        1000.0.. => format!("{} s", (ms / 1000.0).round()),
        1.0.. => format!("{} ms", ms.round()),
        _ => format!("{} µs", (ms * 1000.0).round()),
    }
}

impl Panel {
    /// Draws the panel.
    pub fn draw(&self, lines: &[Line], svg: &mut String) -> Result {
        let [left, right] = self.x.ends();
        let [bottom, top] = self.y.ends();
        let middle = f64::midpoint(left, right);
        writeln!(
            svg,
            r#"<text class="title" x="{middle:.1}" y="{:.1}">{}</text>"#,
            top - 18.0,
            self.title
        )?;
        writeln!(
            svg,
            r#"<text x="{middle:.1}" y="{:.1}">{}</text>"#,
            bottom + 42.0,
            self.across
        )?;
        for value in self.x.powers(self.base) {
            let x = self.x.at(value);
            writeln!(
                svg,
                r#"<path class="grid" stroke="{GREY}" d="M{x:.1} {bottom:.1}V{top:.1}"/>"#
            )?;
            writeln!(
                svg,
                r#"<text x="{x:.1}" y="{:.1}">{}</text>"#,
                bottom + 20.0,
                (self.tick)(value)
            )?;
        }
        for value in self.y.powers(10.0) {
            let y = self.y.at(value);
            writeln!(
                svg,
                r#"<path class="grid" stroke="{GREY}" d="M{left:.1} {y:.1}H{right:.1}"/>"#
            )?;
            writeln!(
                svg,
                r#"<text class="end" x="{:.1}" y="{:.1}">{}</text>"#,
                left - 8.0,
                y + 4.0,
                time(value)
            )?;
        }
        for line in lines {
            self.draw_line(line, svg)?;
        }
        self.draw_names(lines, svg)
    }

    fn draw_line(&self, line: &Line, svg: &mut String) -> Result {
        let places: Vec<_> = line
            .points
            .iter()
            .map(|&(x, y)| (self.x.at(x), self.y.at(y)))
            .collect();
        let path: Vec<_> = places
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let colour = line.colour;
        writeln!(
            svg,
            r#"<polyline stroke="{colour}" points="{}"/>"#,
            path.join(" ")
        )?;
        for (x, y) in places {
            writeln!(
                svg,
                r#"<circle fill="{colour}" cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#
            )?;
        }
        Ok(())
    }

    /// Draws names next to the last points, from the bottom upwards, moved up where they would overlap.
    fn draw_names(&self, lines: &[Line], svg: &mut String) -> Result {
        let mut names = vec![];
        for line in lines {
            if let Some(&(x, y)) = line.points.last() {
                names.push((line, self.x.at(x), self.y.at(y)));
            }
        }
        names.sort_by(|a, b| b.2.total_cmp(&a.2));
        let mut lowest = f64::INFINITY;
        for (line, x, y) in names {
            let y = y.min(lowest);
            lowest = y - NAME_HEIGHT;
            let Line { colour, name, .. } = line;
            writeln!(
                svg,
                r#"<text class="name" fill="{colour}" x="{:.1}" y="{:.1}">{name}</text>"#,
                x + 10.0,
                y + 4.0
            )?;
        }
        Ok(())
    }
}
