//! Light on small cells. A face of one or two pixels is too small to be seen and would look like noise, and
//! faces of up to ten pixels look restless. Small cells are therefore lit like the plane through the points
//! that the surrounding rays hit. The weight of this light grows as cells get smaller. The light is reduced
//! where points rise above the plane: in creases, and next to edges.

use super::shade;
use voxelize_core::geom::vector::dot;

/// Cells whose side is at least this many pixels are lit only by the direction of their own faces.
const LARGE: f64 = 11.0;

/// Cells whose side is at most this many pixels are lit only by the direction of the plane.
const SMALL: f64 = 2.0;

/// Maximum distance of the surrounding rays, in pixels.
pub(super) const REACH: usize = 12;

/// Maximum number of surrounding rays along this distance.
const SAMPLES: isize = 5;

/// Strength with which surrounding points that rise above the plane reduce the light.
const SHADE: f64 = 1.5;

/// Minimum share of the light that remains.
const DARKEST: f64 = 0.5;

/// Light on the plane through the surrounding points.
#[derive(Clone, Copy)]
pub(super) struct Smooth {
    /// Brightness of the plane.
    pub light: f64,
    /// Weight of this brightness. The rest of the weight is that of the brightness of the face itself.
    pub share: f64,
    /// Share of the light that remains where surrounding points rise above the plane.
    pub open: f64,
}

/// Computes the light around a pixel. `here` is the point in view coordinates at which the pixel's ray hit a
/// cell. `side` is the length of a cell's side, and `pixels` is that length in the picture. `point` returns
/// the point that a neighbouring ray hit; its arguments are the offsets of the ray in pixels, to the right
/// and down. Returns `None` if the cells are so large that only their own faces count.
pub(super) fn smooth(
    here: [f64; 3],
    side: f64,
    pixels: f64,
    point: impl Fn(isize, isize) -> Option<[f64; 3]>,
) -> Option<Smooth> {
    let share = ((LARGE - pixels) / (LARGE - SMALL)).clamp(0.0, 1.0);
    if share == 0.0 {
        return None;
    }
    let radius = ((2.0 * pixels) as isize + 2).min(REACH as isize);
    let step = (radius + SAMPLES - 1) / SAMPLES;
    // A point whose depth differs by more than this belongs to another surface. The limit is a slope of 75
    // degrees plus two cells.
    let far = (4.0 * radius as f64 / pixels + 2.0) * side;
    let mut plane = Plane::default();
    let mut above = [([0.0; 3], 0.0); (2 * SAMPLES as usize + 1).pow(2)];
    let mut count = 0;
    for dy in (-radius..=radius).filter(|dy| dy % step == 0) {
        for dx in (-radius..=radius).filter(|dx| dx % step == 0) {
            let weight = (radius * radius + radius - dx * dx - dy * dy) as f64;
            if weight <= 0.0 {
                continue;
            }
            let Some(there) = point(dx, dy) else { continue };
            let offset: [f64; 3] = std::array::from_fn(|a| there[a] - here[a]);
            if offset[2] >= -far {
                above[count] = (offset, weight);
                count += 1;
            }
            if offset[2].abs() <= far {
                plane.add(offset, weight);
            }
        }
    }
    let normal = plane.normal()?;
    let open = openness(&above[..count], normal, side);
    Some(Smooth {
        light: shade::light(normal),
        share,
        open,
    })
}

/// Returns the share of the light that remains on a plane with this normal. Points that rise above the plane
/// by more than a cell reduce the light.
fn openness(points: &[([f64; 3], f64)], normal: [f64; 3], side: f64) -> f64 {
    let mut shut = 0.0;
    let mut all = 0.0;
    for (offset, weight) in points {
        let height = dot(*offset, normal) - side;
        let length = dot(*offset, *offset).sqrt();
        all += weight;
        if height > 0.0 {
            // A surface far in front reduces the light only near it.
            shut += weight * height
                / length
                / (1.0 + (length / (12.0 * side)) * (length / (12.0 * side)));
        }
    }
    (1.0 - SHADE * shut / f64::max(all, 1.0)).max(DARKEST)
}

/// Plane `z = a + b x + c y` that fits weighted points by least squares. It is computed from the moments of
/// the points.
#[derive(Default)]
struct Plane {
    weight: f64,
    first: [f64; 3],
    /// The weighted sums of xx, xy, yy, xz and yz.
    second: [f64; 5],
}

impl Plane {
    fn add(&mut self, [x, y, z]: [f64; 3], weight: f64) {
        let weighted = [x * weight, y * weight, z * weight];
        self.weight += weight;
        (0..3).for_each(|a| self.first[a] += weighted[a]);
        let products = [
            x * weighted[0],
            x * weighted[1],
            y * weighted[1],
            x * weighted[2],
            y * weighted[2],
        ];
        (0..5).for_each(|n| self.second[n] += products[n]);
    }

    /// Returns the unit normal that points towards the viewer. `None` if the points are on a line.
    fn normal(&self) -> Option<[f64; 3]> {
        let [x, y, z] = self.first.map(|sum| sum / self.weight);
        let [xx, xy, yy, xz, yz] = self.second;
        let sx = self.first[0];
        let sy = self.first[1];
        let [xx, xy, yy, xz, yz] = [
            xx - sx * x,
            xy - sx * y,
            yy - sy * y,
            xz - sx * z,
            yz - sy * z,
        ];
        let determinant = xx * yy - xy * xy;
        // For points on a line the determinant is zero, up to rounding. Without any points it is NaN.
        let has_normal = determinant > 1e-9 * xx * yy;
        if !has_normal {
            return None;
        }
        let b = (xz * yy - yz * xy) / determinant;
        let c = (yz * xx - xz * xy) / determinant;
        let length = (b * b + c * c + 1.0).sqrt();
        Some([-b / length, -c / length, 1.0 / length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plane_through_points_has_their_normal() {
        let mut plane = Plane::default();
        for (x, y) in [(0.0, 0.0), (1.0, 0.5), (-2.0, 3.0), (0.5, -1.0)] {
            plane.add([x, y, 7.0 + 2.0 * x - 3.0 * y], 1.0 + x * x);
        }
        let [a, b, c] = plane.normal().unwrap();
        assert!(
            (a / c + 2.0).abs() < 1e-12 && (b / c - 3.0).abs() < 1e-12 && c > 0.0,
            "{a} {b} {c}"
        );
        let mut line = Plane::default();
        (0..4).for_each(|n| line.add([f64::from(n), 2.0 * f64::from(n), 1.0], 1.0));
        assert!(line.normal().is_none() && Plane::default().normal().is_none());
    }

    #[test]
    fn only_small_cells_are_smooth() {
        let flat = |dx: isize, dy: isize| Some([dx as f64, dy as f64, 0.0]);
        let share = |pixels: f64| smooth([0.0; 3], pixels, pixels, flat).map(|smooth| smooth.share);
        assert_eq!((share(1.0), share(LARGE)), (Some(1.0), None));
        assert!((share(6.5).unwrap() - 0.5).abs() < 1e-12);
        let found = smooth([0.0; 3], 1.0, 1.0, flat).unwrap();
        assert!((found.light - shade::light([0.0, 0.0, 1.0])).abs() < 1e-12 && found.open == 1.0);
        // In the inner corner of a step that is six cells high.
        let step =
            |dx: isize, dy: isize| Some([dx as f64, dy as f64, if dx > 0 { 6.0 } else { 0.0 }]);
        assert!(smooth([0.0; 3], 1.0, 1.0, step).unwrap().open < 0.9);
    }
}
