//! Rings around few changed cells, which would be overlooked in a large picture.

use super::camera::Camera;
use super::colours;
use super::picture::{Pixel, over, pixel};

/// More cells than these get one ring, if they are near each other.
pub(super) const MOST: usize = 8;

/// Cells within this share of the shorter side are ringed; larger changes are seen.
const SMALL: f64 = 0.05;

/// The least radius of a ring, as a share of the shorter side.
const RADIUS: f64 = 0.035;

/// Draws a ring around all of some boxes if they are small and near each other in the picture, else around each that is
/// small. A box is its lowest and its highest corner, in the space of the camera.
pub(super) fn draw(
    camera: &Camera,
    size: [usize; 2],
    boxes: &[[[f64; 3]; 2]],
    rows: &mut [Vec<Pixel>],
) {
    let shorter = size[0].min(size[1]) as f64;
    let is_small =
        |[low, high]: &[[f64; 2]; 2]| (0..2).all(|n| high[n] - low[n] <= SMALL * shorter);
    let each: Vec<[[f64; 2]; 2]> = boxes.iter().map(|one| seen(camera, one)).collect();
    let Some(all) = each.iter().copied().reduce(union) else {
        return;
    };
    let ringed = if is_small(&all) {
        vec![all]
    } else {
        each.into_iter().filter(is_small).collect()
    };
    let mut drawn: Vec<([f64; 2], f64)> = Vec::new();
    for [low, high] in ringed {
        let middle = [0, 1].map(|n| (low[n] + high[n]) / 2.0);
        let radius = (distance(low, high) * 0.75).max(RADIUS * shorter);
        // One ring for cells that are side by side.
        if drawn
            .iter()
            .all(|(other, radius)| distance(*other, middle) > radius * 0.6)
        {
            ring(rows, middle, radius, (shorter / 300.0).max(1.0));
            drawn.push((middle, radius));
        }
    }
}

/// The rectangle of the picture in which a box is seen.
fn seen(camera: &Camera, [low, high]: &[[f64; 3]; 2]) -> [[f64; 2]; 2] {
    let corner = |n: usize| std::array::from_fn(|a| if n >> a & 1 == 1 { high[a] } else { low[a] });
    let at = |n: usize| {
        let [x, y, _] = camera.project(corner(n));
        [[x, y]; 2]
    };
    (1..8).map(at).fold(at(0), union)
}

fn union([a, b]: [[f64; 2]; 2], [c, d]: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    [
        std::array::from_fn(|n| a[n].min(c[n])),
        std::array::from_fn(|n| b[n].max(d[n])),
    ]
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// A circle with smooth borders, `half` its half width.
fn ring(rows: &mut [Vec<Pixel>], middle: [f64; 2], radius: f64, half: f64) {
    let reach = radius + half + 1.0;
    let span =
        |n: usize| (middle[n] - reach).max(0.0) as usize..(middle[n] + reach).max(0.0) as usize + 1;
    for y in span(1) {
        let Some(row) = rows.get_mut(y) else { break };
        for x in span(0) {
            let Some(below) = row.get_mut(x) else { break };
            let off = (distance([x as f64 + 0.5, y as f64 + 0.5], middle) - radius).abs();
            let opacity = (half + 0.5 - off).clamp(0.0, 1.0);
            *below = over(pixel(colours::RING, opacity as f32), *below);
        }
    }
}
