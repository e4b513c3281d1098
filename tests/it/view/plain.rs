//! Simple renderer of boxes: every box is projected by itself, its outline computed, and every pixel compared
//! with every box. The camera follows the documentation.

use voxelize::view::{Projection, Up, View};

/// Camera, from the definition of its angles and of its frame.
pub struct Plain {
    axes: [[f64; 3]; 3],
    centre: [f64; 2],
    /// Pixels per unit. In perspective, at a distance of one from the eye.
    scale: f64,
    /// Distance of the eye along the third axis. Infinite without perspective.
    eye: f64,
    size: [f64; 2],
}

type Box3 = [[f64; 3]; 2];

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|n| a[n] * b[n]).sum()
}

fn corners([low, high]: Box3) -> [[f64; 3]; 8] {
    std::array::from_fn(|n| std::array::from_fn(|a| if n >> a & 1 == 1 { high[a] } else { low[a] }))
}

impl Plain {
    pub fn new(view: &View, boxes: &[Box3]) -> Self {
        let azimuth = view.from.azimuth.to_radians();
        let elevation = view.from.elevation.to_radians();
        // The viewer starts at the front, moves around the up axis towards the right, then rises.
        let (front, right, up) = match view.up {
            Up::Z => ([0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            Up::Y => ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        };
        let mix = |a: [f64; 3], s: f64, b: [f64; 3], t: f64| -> [f64; 3] {
            std::array::from_fn(|n| s * a[n] + t * b[n])
        };
        let level = mix(front, azimuth.cos(), right, azimuth.sin());
        let towards = mix(level, elevation.cos(), up, elevation.sin());
        let aside = mix(right, azimuth.cos(), front, -azimuth.sin());
        let above = mix(up, elevation.cos(), level, -elevation.sin());
        let axes = [aside, above, towards];
        let size = view.size.map(|n| n as f64);
        let free = 0.06 * size[0].min(size[1]);
        let room = size.map(|n| n - 2.0 * free);
        let points: Vec<[f64; 3]> = boxes
            .iter()
            .flat_map(|b| corners(*b))
            .map(|p| axes.map(|axis| dot(axis, p)))
            .collect();
        let most =
            |f: &dyn Fn(&[f64; 3]) -> f64| points.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
        if view.projection == Projection::Orthographic {
            let span = |a: usize| (most(&|p| -p[a]), most(&|p| p[a]));
            let (left, right) = span(0);
            let (down, up) = span(1);
            let scale = (room[0] / (left + right)).min(room[1] / (down + up));
            return Self {
                axes,
                centre: [(right - left) / 2.0, (up - down) / 2.0],
                scale,
                eye: f64::INFINITY,
                size,
            };
        }
        // The nearest eye from which all points are within the frame.
        let scale = size[0].min(size[1]) / (2.0 * 0.268);
        let slopes = room.map(|n| n / 2.0 / scale);
        let plane = |a: usize, sign: f64| most(&|p| sign * p[a] + slopes[a] * p[2]);
        let sides = [0, 1].map(|a| (plane(a, 1.0), plane(a, -1.0)));
        let near = most(&|p| p[2]);
        let far = most(&|p| -p[2]);
        let least = near + (near + far) * 1e-3;
        let eye = (0..2)
            .map(|a| (sides[a].0 + sides[a].1) / 2.0 / slopes[a])
            .fold(least, f64::max);
        Self {
            axes,
            centre: sides.map(|(high, low)| (high - low) / 2.0),
            scale,
            eye,
            size,
        }
    }

    fn project(&self, point: [f64; 3]) -> [f64; 2] {
        let [x, y, z] = self.axes.map(|axis| dot(axis, point));
        let scale = if self.eye.is_finite() {
            self.scale / (self.eye - z)
        } else {
            self.scale
        };
        [
            self.size[0] / 2.0 + (x - self.centre[0]) * scale,
            self.size[1] / 2.0 - (y - self.centre[1]) * scale,
        ]
    }

    /// Returns the distance in pixels of a point of the picture from the outline of a box: positive inside,
    /// negative outside.
    pub fn within(&self, at: [f64; 2], one: Box3) -> f64 {
        let outline = hull(corners(one).map(|p| self.project(p)).to_vec());
        let side = |n: usize| {
            let a = outline[n];
            let b = outline[(n + 1) % outline.len()];
            let length = ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)).sqrt();
            turn(a, b, at) / length
        };
        (0..outline.len()).map(side).fold(f64::INFINITY, f64::min)
    }

    /// Returns the greatest depth, relative to the middle of the scene, at which the line of sight through a
    /// point of the picture is within a box.
    pub fn depth(&self, at: [f64; 2], [low, high]: Box3) -> f64 {
        let aside = [
            (at[0] - self.size[0] / 2.0) / self.scale,
            (self.size[1] / 2.0 - at[1]) / self.scale,
        ];
        let [right, up, towards] = self.axes;
        let place = |z: f64| -> [f64; 3] {
            let grown = if self.eye.is_finite() {
                self.eye - z
            } else {
                1.0
            };
            std::array::from_fn(|n| {
                right[n] * (self.centre[0] + aside[0] * grown)
                    + up[n] * (self.centre[1] + aside[1] * grown)
                    + towards[n] * z
            })
        };
        // The point depends linearly on z. Find the range between the two planes of every axis.
        let a = place(0.0);
        let b = place(1.0);
        let mut span = [f64::NEG_INFINITY, f64::INFINITY];
        for n in 0..3 {
            let rate = b[n] - a[n];
            if rate.abs() > 1e-12 {
                let ends = [(low[n] - a[n]) / rate, (high[n] - a[n]) / rate];
                span = [
                    span[0].max(ends[0].min(ends[1])),
                    span[1].min(ends[0].max(ends[1])),
                ];
            }
        }
        span[1]
    }
}

/// Returns a positive number if `c` is to the left of the line from `a` to `b`.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Returns the convex chain of sorted points without its last point.
fn chain(points: &mut dyn Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut chain: Vec<[f64; 2]> = vec![];
    for point in points {
        while let [.., a, b] = chain[..] {
            if turn(a, b, point) > 1e-9 {
                break;
            }
            chain.pop();
        }
        chain.push(point);
    }
    chain.pop();
    chain
}

/// Returns the convex hull of points, counterclockwise.
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let mut outline = chain(&mut points.iter().copied());
    outline.extend(chain(&mut points.iter().rev().copied()));
    outline
}
