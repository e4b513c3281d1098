//! Camera of a picture: a viewing direction, a projection, and a frame that fits the scene.
//!
//! View coordinates are `[right, up, towards the viewer]` in the units of the scene. All numbers are computed
//! with `+`, `-`, `*`, `/` and square roots. Every machine rounds these identically, so that a picture has
//! the same pixels everywhere. Sines are computed here as well, because libraries round them differently.

use voxelize_core::geom::vector::dot;

/// Free margin on each side, as a share of the shorter side of a picture.
const MARGIN: f64 = 0.06;

/// Tangent of half the angle of view along the shorter side. The angle of view is 30 degrees.
const HALF_ANGLE: f64 = 0.268;

/// Direction from which the scene is viewed, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct From {
    /// Angle of the viewer around the up axis, counterclockwise as seen from above. 0 is the front and 90 the
    /// right.
    pub azimuth: f64,
    /// Angle of the viewer above the horizon. 90 is straight above.
    pub elevation: f64,
}

/// Viewing directions that have names.
pub const NAMED: [(&str, From); 7] = [
    // The elevation at which the edges of a cube appear equally long: atan(1/√2).
    ("iso", From::new(45.0, 35.264_389_682_754_654)),
    ("front", From::new(0.0, 0.0)),
    ("back", From::new(180.0, 0.0)),
    ("left", From::new(270.0, 0.0)),
    ("right", From::new(90.0, 0.0)),
    ("top", From::new(0.0, 90.0)),
    ("bottom", From::new(0.0, -90.0)),
];

impl From {
    /// Creates a viewing direction from its angles.
    pub const fn new(azimuth: f64, elevation: f64) -> Self {
        Self { azimuth, elevation }
    }

    /// Parses one of the names in [`NAMED`], or `AZIMUTH,ELEVATION`.
    ///
    /// # Errors
    /// Returns a sentence that describes the fault.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        if let Some((_, from)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*from);
        }
        let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some([azimuth, elevation]) if azimuth.abs() <= 360.0 && elevation.abs() <= 90.0 => {
                Ok(Self::new(*azimuth, *elevation))
            }
            Some([_, _]) => {
                Err("the azimuth is within -360 and 360, the elevation within -90 and 90".into())
            }
            _ => {
                let names = NAMED.map(|(name, _)| name).join(", ");
                Err(format!(
                    "is neither one of {names} nor two angles in degrees such as 30,20"
                ))
            }
        }
    }
}

/// Axis that points up in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Up {
    /// y, as in many rendering programs. The view from the front is then along -z.
    Y,
    /// z, as in most CAD programs. The view from the front is then along +y.
    #[default]
    Z,
}

/// How distance from the viewer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Projection {
    /// Cells have the same size at every distance.
    #[default]
    Orthographic,
    /// Nearer cells are larger, as for an eye.
    Perspective,
}

/// Viewing direction, projection and frame of a picture.
#[derive(Debug, Clone)]
pub(super) struct Camera {
    /// The directions `right`, `up` and `towards the viewer` in the coordinates of the scene.
    axes: [[f64; 3]; 3],
    /// Middle of the picture, along the directions right and up.
    centre: [f64; 2],
    /// Range of the scene along the direction towards the viewer, the nearest depth first. In perspective the
    /// first number is the depth of the eye.
    depths: [f64; 2],
    /// Size of a pixel in the scene. In perspective, its size at a distance of one from the eye.
    pixel: f64,
    size: [usize; 2],
    projection: Projection,
}

impl Camera {
    /// Creates a camera with a picture of `size` pixels that the scene fills. For each of the given
    /// directions, `reach` returns the extent of the scene: the greatest dot product of the direction with
    /// any point of the scene. Returns `None` if the scene has no extent, or an infinite one.
    pub(super) fn new(
        from: From,
        up: Up,
        projection: Projection,
        size: [usize; 2],
        reach: impl Fn([[f64; 3]; 6]) -> [f64; 6],
    ) -> Option<Self> {
        let axes = basis(from, up);
        let [right, upwards, back] = axes;
        let shorter = size[0].min(size[1]) as f64;
        let room = size.map(|n| n as f64 - 2.0 * MARGIN * shorter);
        // In perspective, a nearer point needs more space at the sides. This is the additional space per unit
        // of depth.
        let slope = match projection {
            Projection::Orthographic => [0.0; 2],
            Projection::Perspective => room.map(|n| HALF_ANGLE * n / shorter),
        };
        let [r, l, u, d, near, far] = reach([
            combine([(right, 1.0), (back, slope[0])]),
            combine([(right, -1.0), (back, slope[0])]),
            combine([(upwards, 1.0), (back, slope[1])]),
            combine([(upwards, -1.0), (back, slope[1])]),
            back,
            back.map(|c| -c),
        ]);
        let half = [(r + l) / 2.0, (u + d) / 2.0];
        let (near, pixel) = match projection {
            Projection::Orthographic => {
                (near, (2.0 * half[0] / room[0]).max(2.0 * half[1] / room[1]))
            }
            // The nearest position of the eye, in front of the scene, at which the whole scene is within the
            // angle of view.
            Projection::Perspective => {
                let eye = (half[0] / slope[0]).max(half[1] / slope[1]);
                (
                    eye.max(near + (near + far) * 1e-3),
                    2.0 * HALF_ANGLE / shorter,
                )
            }
        };
        let centre = [(r - l) / 2.0, (u - d) / 2.0];
        let finite = [pixel, near, far, centre[0], centre[1]]
            .iter()
            .all(|n| n.is_finite());
        (finite && pixel > 0.0).then_some(Self {
            axes,
            centre,
            depths: [near, -far],
            pixel,
            size,
            projection,
        })
    }

    /// Returns the ray through a point of the picture, as the first and the last point that may be in the
    /// scene. `at` is in pixels from the upper left corner.
    pub(super) fn segment(&self, at: [f64; 2]) -> [[f64; 3]; 2] {
        let aside = [
            (at[0] - self.size[0] as f64 / 2.0) * self.pixel,
            (self.size[1] as f64 / 2.0 - at[1]) * self.pixel,
        ];
        let [near, far] = self.depths;
        let (begin, end) = match self.projection {
            Projection::Orthographic => (aside, aside),
            Projection::Perspective => ([0.0; 2], aside.map(|c| c * (near - far))),
        };
        [self.point(begin, near), self.point(end, far)]
    }

    /// Returns the point at this depth and at this offset from the middle of the picture.
    fn point(&self, aside: [f64; 2], depth: f64) -> [f64; 3] {
        let [right, up, back] = self.axes;
        combine([
            (right, self.centre[0] + aside[0]),
            (up, self.centre[1] + aside[1]),
            (back, depth),
        ])
    }

    /// Returns the point and a second point, which lies in the direction from the first one to the viewer.
    pub(super) fn sight(&self, point: [f64; 3]) -> [[f64; 3]; 2] {
        let [right, up, back] = self.axes;
        let viewer = match self.projection {
            Projection::Orthographic => combine([(point, 1.0), (back, 1.0)]),
            Projection::Perspective => combine([
                (right, self.centre[0]),
                (up, self.centre[1]),
                (back, self.depths[0]),
            ]),
        };
        [point, viewer]
    }

    /// Returns the position of a point in the picture, in pixels, and its nearness. The nearness is greater
    /// for points nearer to the viewer. On the image of a plane it is a linear function.
    pub(super) fn project(&self, point: [f64; 3]) -> [f64; 3] {
        let [x, y, depth] = self.turn(point);
        let (scale, near) = match self.projection {
            Projection::Orthographic => (self.pixel, depth),
            Projection::Perspective => {
                let distance = self.depths[0] - depth;
                (self.pixel * distance, 1.0 / distance)
            }
        };
        [
            (x - self.centre[0]) / scale + self.size[0] as f64 / 2.0,
            self.size[1] as f64 / 2.0 - (y - self.centre[1]) / scale,
            near,
        ]
    }

    /// Returns `true` if a nearness, as returned by [`Camera::project`], is that of a point in front of the
    /// eye.
    pub(super) fn is_before(&self, near: f64) -> bool {
        self.projection == Projection::Orthographic || near > 0.0
    }

    /// Returns the position of a point along its [`Camera::segment`], as a fraction from 0 to 1.
    pub(super) fn fraction(&self, point: [f64; 3]) -> f64 {
        let [near, far] = self.depths;
        (near - dot(self.axes[2], point)) / (near - far)
    }

    /// Converts a direction to view coordinates.
    pub(super) fn turn(&self, direction: [f64; 3]) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, direction))
    }

    /// Returns the length in pixels at which a line at the point `at` appears, if it is perpendicular to the
    /// view. `length` is its length in the scene.
    pub(super) fn pixels(&self, length: f64, at: [f64; 3]) -> f64 {
        match self.projection {
            Projection::Orthographic => length / self.pixel,
            Projection::Perspective => {
                length / (self.pixel * (self.depths[0] - dot(self.axes[2], at)))
            }
        }
    }
}

/// Returns an orthonormal basis: `right`, `up` and `towards the viewer`.
fn basis(from: From, up: Up) -> [[f64; 3]; 3] {
    let [sin_a, cos_a] = sin_cos(from.azimuth);
    let [sin_e, cos_e] = sin_cos(from.elevation);
    let axes = [
        [cos_a, sin_a, 0.0],
        [-(sin_e * sin_a), sin_e * cos_a, cos_e],
        [cos_e * sin_a, -(cos_e * cos_a), sin_e],
    ];
    match up {
        Up::Z => axes,
        Up::Y => axes.map(|[x, y, z]| [x, z, -y]),
    }
}

/// Returns the sine and the cosine of an angle in degrees. They are computed from their power series, within
/// 45 degrees of the nearest multiple of a right angle.
fn sin_cos(degrees: f64) -> [f64; 2] {
    let quarters = (degrees / 90.0).round();
    let x = (degrees - 90.0 * quarters) * (std::f64::consts::PI / 180.0);
    // The terms that are left out are below 2^-60.
    let series = |first: u32| {
        (0..9).rev().fold(0.0, |sum, n| {
            let k = f64::from(2 * n + first);
            1.0 - x * x / ((k + 1.0) * (k + 2.0)) * sum
        })
    };
    let sin = x * series(1);
    let cos = series(0);
    match quarters.rem_euclid(4.0) as u32 {
        0 => [sin, cos],
        1 => [cos, -sin],
        2 => [-sin, -cos],
        _ => [-cos, sin],
    }
}

/// Returns the linear combination of vectors with these factors.
fn combine<const N: usize>(terms: [([f64; 3], f64); N]) -> [f64; 3] {
    std::array::from_fn(|a| {
        terms
            .iter()
            .map(|(vector, factor)| vector[a] * factor)
            .sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::geom::segment_box::ClosedBox;

    /// Returns the extent of a box along each of the given directions.
    fn reach_of_box(within: &ClosedBox, directions: [[f64; 3]; 6]) -> [f64; 6] {
        directions.map(|d| {
            (0..3)
                .map(|a| (d[a] * within.low[a]).max(d[a] * within.high[a]))
                .sum()
        })
    }

    #[test]
    fn sines_match_the_library() {
        for n in -720..=720 {
            let angle = f64::from(n) / 2.0;
            let [sin, cos] = sin_cos(angle);
            let (s, c) = angle.to_radians().sin_cos();
            assert!(
                (sin - s).abs() < 3e-15 && (cos - c).abs() < 3e-15,
                "{angle}: {sin} {s} {cos} {c}"
            );
        }
        assert_eq!(
            (sin_cos(0.0), sin_cos(90.0), sin_cos(-90.0)),
            ([0.0, 1.0], [1.0, 0.0], [-1.0, 0.0])
        );
    }

    #[test]
    fn named_directions_have_their_axes() {
        let view = |name: &str, up| basis(NAMED.iter().find(|(n, _)| *n == name).unwrap().1, up);
        for (name, right, upwards) in [
            ("front", [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            ("back", [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            ("right", [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
            ("left", [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]),
            ("top", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
            ("bottom", [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
        ] {
            assert_eq!(view(name, Up::Z)[..2], [right, upwards], "{name}");
        }
        assert_eq!(
            view("front", Up::Y),
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        );
        assert_eq!(view("right", Up::Y)[0], [0.0, 0.0, -1.0]);
    }

    #[test]
    fn the_scene_fills_the_frame_and_projects_back() {
        let within = ClosedBox {
            low: [-1.0, 2.0, 0.0],
            high: [3.0, 4.0, 9.0],
        };
        for projection in [Projection::Orthographic, Projection::Perspective] {
            for (name, from) in NAMED {
                let reach = |directions| reach_of_box(&within, directions);
                let camera = Camera::new(from, Up::Z, projection, [400, 300], reach).unwrap();
                let corner =
                    |n: usize| std::array::from_fn(|a| [within.low, within.high][n >> a & 1][a]);
                let seen: Vec<[f64; 3]> = (0..8).map(|n| camera.project(corner(n))).collect();
                let span = |axis: usize| {
                    let low = seen.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
                    [
                        low,
                        seen.iter()
                            .map(|p| p[axis])
                            .fold(f64::NEG_INFINITY, f64::max),
                    ]
                };
                let x = span(0);
                let y = span(1);
                let full = |[low, high]: [f64; 2], size: f64| low < 18.01 && high > size - 18.01;
                assert!(
                    x[0] > 17.99 && x[1] < 382.01 && y[0] > 17.99 && y[1] < 282.01,
                    "{name} {x:?} {y:?}"
                );
                assert!(
                    full(x, 400.0) || full(y, 300.0),
                    "{name} {projection:?}: {x:?} {y:?}"
                );
                for (n, place) in seen.iter().enumerate() {
                    let [a, b] = camera.segment([place[0], place[1]]);
                    let d = combine([(b, 1.0), (a, -1.0)]);
                    let p = corner(n);
                    let t = dot(combine([(p, 1.0), (a, -1.0)]), d) / dot(d, d);
                    let miss = combine([(a, 1.0), (d, t), (p, -1.0)]);
                    assert!(dot(miss, miss) < 1e-20, "{name}: {miss:?}");
                }
            }
        }
    }
}
