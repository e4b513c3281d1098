//! Rings around a few changed cells, which might otherwise be overlooked in a large picture.

use super::camera::Camera;
use super::colours;
use super::picture::{Pixel, over, pixel};

/// If there are more cells than this, they can only get a single ring around their bounding box.
pub(super) const MOST: usize = 8;

/// Maximum size of cells that get a ring, as a share of the shorter side of the picture. Larger changes are
/// visible without one.
const SMALL: f64 = 0.05;

/// Minimum radius of a ring, as a share of the shorter side of the picture.
const RADIUS: f64 = 0.035;

/// Draws rings around boxes. If all boxes together are small in the picture, they get one ring. Otherwise
/// each small box gets its own. A box is given as its lowest and its highest corner in the scene.
pub(super) fn draw(
    camera: &Camera,
    size: [usize; 2],
    boxes: &[[[f64; 3]; 2]],
    rows: &mut [Vec<Pixel>],
) {
    let shorter = size[0].min(size[1]) as f64;
    let mut ringed: Vec<[[f64; 2]; 2]> = boxes.iter().map(|one| seen(camera, one)).collect();
    let Some(all) = ringed.iter().copied().reduce(union) else {
        return;
    };
    let largest = SMALL * shorter;
    if is_within(&all, largest) {
        ringed = vec![all];
    } else {
        ringed.retain(|one| is_within(one, largest));
    }
    let mut drawn: Vec<([f64; 2], f64)> = Vec::new();
    for [low, high] in ringed {
        let middle = [0, 1].map(|n| (low[n] + high[n]) / 2.0);
        let radius = (distance(low, high) * 0.75).max(RADIUS * shorter);
        // Cells that are next to each other share one ring.
        if drawn
            .iter()
            .all(|(other, radius)| distance(*other, middle) > radius * 0.6)
        {
            ring(rows, middle, radius, (shorter / 300.0).max(1.0));
            drawn.push((middle, radius));
        }
    }
}

/// Returns the rectangle of the picture that contains a box, in pixels.
fn seen(camera: &Camera, [low, high]: &[[f64; 3]; 2]) -> [[f64; 2]; 2] {
    let mut all = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    for n in 0..8 {
        let corner = std::array::from_fn(|a| if n >> a & 1 == 1 { high[a] } else { low[a] });
        let [x, y, _] = camera.project(corner);
        all = union(all, [[x, y]; 2]);
    }
    all
}

/// Returns `true` if both sides of a rectangle are at most `largest` long.
fn is_within([low, high]: &[[f64; 2]; 2], largest: f64) -> bool {
    (0..2).all(|n| high[n] - low[n] <= largest)
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

/// Draws an antialiased circle. `half` is half the width of its line.
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
