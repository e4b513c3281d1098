//! Light where cells are small. Faces of a pixel or two are too small to see and would be noise; those of up to ten are
//! restless. The light falls on a plane through the points that the rays around have met, the more the smaller cells
//! are, and less of it where such points rise above the plane: in creases and behind edges.

use super::shade;
use voxelize_core::geom::vector::dot;

/// Cells of so many pixels and more show their own faces alone.
const LARGE: f64 = 11.0;

/// Cells of so many pixels and fewer show the plane alone.
const SMALL: f64 = 2.0;

/// The largest radius of what is around, in pixels.
pub(super) const REACH: usize = 12;

/// Points along the radius, at most.
const SAMPLES: isize = 5;

/// The share of the light that occlusion takes, where all around rises steeply.
const SHADE: f64 = 1.5;

/// The least that it leaves.
const DARKEST: f64 = 0.5;

/// The light on the plane through the points around.
#[derive(Clone, Copy)]
pub(super) struct Smooth {
    /// The light on it.
    pub light: f64,
    /// How much it counts against the light on the face itself.
    pub share: f64,
    /// The share of the light that the points around leave.
    pub open: f64,
}

/// The light around a pixel whose ray met a cell at the point `here`, in view coordinates, where a
/// cell has a side of `side` and so many `pixels`. `point` gives the points of the neighbouring rays, by
/// how many pixels right and down they are.
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
    // A point farther off in depth belongs to another surface: a slope of 75 degrees, and two cells.
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

/// The share of the light that points leave on a plane of this normal: those that rise above it by more than a cell
/// shade it.
fn openness(points: &[([f64; 3], f64)], normal: [f64; 3], side: f64) -> f64 {
    let mut shut = 0.0;
    let mut all = 0.0;
    for (offset, weight) in points {
        let height = dot(*offset, normal) - side;
        let length = dot(*offset, *offset).sqrt();
        all += weight;
        if height > 0.0 {
            // A surface in front shades what is near to it.
            shut += weight * height
                / length
                / (1.0 + (length / (12.0 * side)) * (length / (12.0 * side)));
        }
    }
    (1.0 - SHADE * shut / f64::max(all, 1.0)).max(DARKEST)
}

/// The plane `z = a + b x + c y` of least squares through weighted points, by their moments.
#[derive(Default)]
struct Plane {
    weight: f64,
    first: [f64; 3],
    /// xx, xy, yy, xz, yz.
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

    /// Its normal, of length one, towards the viewer; `None` if the points are on a line.
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
        // For a line it is zero, but for rounding; for no points at all it is no number.
        (determinant > 1e-9 * xx * yy).then(|| {
            let b = (xz * yy - yz * xy) / determinant;
            let c = (yz * xx - xz * xy) / determinant;
            let length = (b * b + c * c + 1.0).sqrt();
            [-b / length, -c / length, 1.0 / length]
        })
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
        // In the corner of a step of six cells.
        let step =
            |dx: isize, dy: isize| Some([dx as f64, dy as f64, if dx > 0 { 6.0 } else { 0.0 }]);
        assert!(smooth([0.0; 3], 1.0, 1.0, step).unwrap().open < 0.9);
    }
}
