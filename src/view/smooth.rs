//! Light where cells are only a pixel or two in size. Their faces cannot be told apart there, and
//! would be noise; the light falls on a plane through the points that the rays around have met.

use super::shade;

/// Cells of so many pixels and more show their own faces alone.
const LARGE: f64 = 3.2;

/// Cells of so many pixels and fewer show the plane alone.
const SMALL: f64 = 1.8;

/// The largest radius of what is around, in pixels.
pub(super) const REACH: usize = 5;

/// The light on the plane through the points around.
#[derive(Clone, Copy)]
pub(super) struct Smooth {
    /// The light on it.
    pub light: f64,
    /// How much it counts against the light on the face itself.
    pub share: f64,
}

/// The light around a pixel whose ray met a cell at the point `here`, in view coordinates, where a
/// cell has a side of `side` and so many `pixels`. `point` gives the points of the rays beside, by
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
    // What is farther off in depth belongs to another surface: a slope of 75 degrees, and two cells.
    let far = (4.0 * radius as f64 / pixels + 2.0) * side;
    let mut plane = Plane::default();
    for dy in -radius..=radius {
        for dx in -radius..=radius {
            let weight = radius * radius + radius - dx * dx - dy * dy;
            if weight <= 0 {
                continue;
            }
            let Some(there) = point(dx, dy) else { continue };
            let offset: [f64; 3] = std::array::from_fn(|a| there[a] - here[a]);
            if offset[2].abs() <= far {
                plane.add(offset, weight as f64);
            }
        }
    }
    Some(Smooth { light: shade::light(plane.normal()?), share })
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
        let products = [x * weighted[0], x * weighted[1], y * weighted[1], x * weighted[2], y * weighted[2]];
        (0..5).for_each(|n| self.second[n] += products[n]);
    }

    /// Its normal, of length one, towards the viewer; `None` if the points are on a line.
    fn normal(&self) -> Option<[f64; 3]> {
        let [x, y, z] = self.first.map(|sum| sum / self.weight);
        let [xx, xy, yy, xz, yz] = self.second;
        let (sx, sy) = (self.first[0], self.first[1]);
        let [xx, xy, yy, xz, yz] = [xx - sx * x, xy - sx * y, yy - sy * y, xz - sx * z, yz - sy * z];
        let determinant = xx * yy - xy * xy;
        // For a line it is zero, but for rounding; for no points at all it is no number.
        (determinant > 1e-9 * xx * yy).then(|| {
            let (b, c) = ((xz * yy - yz * xy) / determinant, (yz * xx - xz * xy) / determinant);
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
        assert!((a / c + 2.0).abs() < 1e-12 && (b / c - 3.0).abs() < 1e-12 && c > 0.0, "{a} {b} {c}");
        let mut line = Plane::default();
        (0..4).for_each(|n| line.add([f64::from(n), 2.0 * f64::from(n), 1.0], 1.0));
        assert!(line.normal().is_none() && Plane::default().normal().is_none());
    }

    #[test]
    fn only_small_cells_are_smooth() {
        let flat = |dx: isize, dy: isize| Some([dx as f64, dy as f64, 0.0]);
        let share = |pixels: f64| smooth([0.0; 3], pixels, pixels, flat).map(|smooth| smooth.share);
        assert_eq!((share(1.0), share(3.2)), (Some(1.0), None));
        assert!((share(2.5).unwrap() - 0.5).abs() < 1e-12);
        let light = smooth([0.0; 3], 1.0, 1.0, flat).unwrap().light;
        assert!((light - shade::light([0.0, 0.0, 1.0])).abs() < 1e-12);
    }
}
