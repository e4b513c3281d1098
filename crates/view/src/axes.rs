//! Axes in a corner of the picture: three lines with letters. The axis that is nearest to the viewer is drawn
//! last, on top of the others.

use super::camera::Camera;
use super::colours;
use super::font;
use super::picture::{Pixel, over, pixel};

/// Whether the axes are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axes {
    /// Drawn in the lower left corner.
    #[default]
    Shown,
    /// Not drawn.
    Hidden,
}

/// Draws the axes of a camera on a picture. Small pictures get no axes.
pub(super) fn draw(camera: &Camera, size: [usize; 2], rows: &mut [Vec<Pixel>]) {
    let shorter = size[0].min(size[1]) as f64;
    if shorter < 160.0 {
        return;
    }
    let length = (shorter * 0.055).clamp(14.0, 90.0);
    let unit = (shorter / 320.0).clamp(1.0, 6.0).round();
    let thick = unit * 0.7;
    // The margin is large enough that the longest line and its letter stay within the picture in every
    // direction.
    let reach = length + unit * 10.0;
    let middle = [reach + 2.0, size[1] as f64 - reach - 2.0];
    let mut order: Vec<usize> = vec![0, 1, 2];
    let turned: Vec<[f64; 3]> = (0..3)
        .map(|a| camera.turn(std::array::from_fn(|b| f64::from(u8::from(a == b)))))
        .collect();
    order.sort_by(|a, b| turned[*a][2].total_cmp(&turned[*b][2]));
    for axis in order {
        let [right, up, _] = turned[axis];
        let along = [right, -up];
        let flat = (right * right + up * up).sqrt();
        // An axis that points towards the viewer is seen as a point and needs no letter.
        if flat < 0.05 {
            continue;
        }
        let end: [f64; 2] = std::array::from_fn(|n| middle[n] + along[n] * length);
        line(rows, middle, end, thick, pixel(colours::AXES[axis], 1.0));
        let beyond = |n: usize| middle[n] + along[n] * length + along[n] / flat * unit * 6.5;
        letter(
            rows,
            ["x", "y", "z"][axis],
            [beyond(0), beyond(1)],
            unit,
            pixel(colours::AXES[axis], 1.0),
        );
    }
}

/// Draws an antialiased line with round ends.
fn line(rows: &mut [Vec<Pixel>], from: [f64; 2], to: [f64; 2], radius: f64, colour: Pixel) {
    let d = [to[0] - from[0], to[1] - from[1]];
    let square = d[0] * d[0] + d[1] * d[1];
    let span = |n: usize| {
        let low = from[n].min(to[n]) - radius - 1.0;
        let high = from[n].max(to[n]) + radius + 1.0;
        low.max(0.0) as usize..high.max(0.0) as usize + 1
    };
    for y in span(1) {
        for x in span(0) {
            let p = [x as f64 + 0.5 - from[0], y as f64 + 0.5 - from[1]];
            let t = ((p[0] * d[0] + p[1] * d[1]) / square).clamp(0.0, 1.0);
            let off = [p[0] - t * d[0], p[1] - t * d[1]];
            let distance = (off[0] * off[0] + off[1] * off[1]).sqrt();
            cover(
                rows,
                [x, y],
                colour,
                (radius + 0.5 - distance).clamp(0.0, 1.0) as f32,
            );
        }
    }
}

/// Draws a letter centred on a point. `unit` is the size of a font pixel in pixels.
fn letter(rows: &mut [Vec<Pixel>], text: &str, at: [f64; 2], unit: f64, colour: Pixel) {
    let scale = unit as usize;
    // A lower-case letter fills the lower five of seven rows.
    let left = (at[0] - 2.5 * unit).round().max(0.0) as usize;
    let top = (at[1] - 4.5 * unit).round().max(0.0) as usize;
    label(rows, text, [left, top], scale, colour);
}

/// Draws a line of text whose upper left corner is at a pixel. `scale` is the size of a font pixel in pixels.
pub(super) fn label(
    rows: &mut [Vec<Pixel>],
    text: &str,
    [left, top]: [usize; 2],
    scale: usize,
    colour: Pixel,
) {
    for y in 0..font::HEIGHT * scale {
        for x in 0..text.len() * font::ADVANCE * scale {
            if font::inked(text, x / scale, y / scale) {
                cover(rows, [left + x, top + y], colour, 1.0);
            }
        }
    }
}

fn cover(rows: &mut [Vec<Pixel>], [x, y]: [usize; 2], colour: Pixel, share: f32) {
    if let Some(below) = rows.get_mut(y).and_then(|row| row.get_mut(x)) {
        *below = over(colour.map(|c| c * share), *below);
    }
}
