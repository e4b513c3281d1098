//! Which way each patch faces.
//!
//! A patch whose boundary is closed by caps has a volume. If that is more than the caps could make it by
//! bulging, the patch bounds a *body*, and the sign of the volume tells which way it faces. Any other is
//! as good as flat: it is left as most of its area was given, and turned over with all of them if the
//! bodies were given inside out.

use super::patches::Patches;
use super::sheets::Sheets;
use crate::boundary::{self, Way};
use voxelize_core::geom::Bounds;
use voxelize_core::geom::vector::{cross, dot, minus};

/// How a patch faces, as it is turned at first.
#[derive(Debug)]
pub(super) struct Face {
    pub patch: usize,
    pub bounds: Bounds,
    pub area: f64,
    /// The volume of patch and caps.
    pub volume: f64,
    /// Whether the volume tells which way it faces.
    pub is_body: bool,
    /// The area that is turned as it was given, less the rest.
    pub as_given: f64,
    /// Whether all of it is turned as it was given, or all is not.
    pub fitted: bool,
}

impl Face {
    /// Whether the volume it had as it was given is above zero.
    pub(super) fn given_outwards(&self) -> bool {
        (self.volume > 0.0) == (self.as_given > 0.0)
    }
}

/// A cap of this area may as well bulge so much that it makes a sixteenth of its area to the power of
/// 3/2. Half a ball, open at its base, has six times that.
const BULGE: f64 = 1.0 / 16.0;

/// How much of area times extent a volume must at least be to be more than rounding.
const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;

/// How a patch faces before any is turned.
pub(super) fn face(patches: &Patches, sheets: &Sheets, patch: usize) -> Face {
    let members = patches.members(patch);
    let mut face = Face {
        patch,
        bounds: Bounds::EMPTY,
        area: 0.0,
        volume: 0.0,
        is_body: false,
        as_given: 0.0,
        fitted: true,
    };
    let turned_as_given = |n: &u32| patches.turned[*n as usize] == sheets.given_turned[*n as usize];
    for n in members {
        let corners = sheets.corners(&sheets.triangles[*n as usize]);
        face.bounds = corners.iter().fold(face.bounds, Bounds::with);
    }
    let middle = middle(&face.bounds);
    let mut of_members = 0.0;
    let mut given = 0;
    for n in members {
        let [a, b, c] = sheets.exact_corners(&sheets.triangles[*n as usize]);
        let area = area(&[a, b, c]);
        face.area += area;
        face.as_given += if turned_as_given(n) { area } else { -area };
        given += usize::from(turned_as_given(n));
        of_members += volume(
            &if patches.turned[*n as usize] {
                [a, c, b]
            } else {
                [a, b, c]
            },
            &middle,
        );
    }
    face.fitted = given == 0 || given == members.len();
    // One triangle is flat.
    if members.len() > 1 {
        let open = patches.open_sides(patch, &sheets.triangles);
        let ends = boundary::net(&open, |side| patches.is_forth(side.place));
        let (of_caps, doubt) = closed(&ends, sheets, &middle);
        face.volume = of_members + of_caps;
        face.is_body = face.volume.abs() > doubt + ROUNDING * face.area * extent(&face.bounds);
    }
    face
}

/// The volume of the caps that close a patch with these ends, and what more it could be if they bulged.
fn closed(ends: &[[u32; 2]], sheets: &Sheets, from: &[f64; 3]) -> (f64, f64) {
    let mut volumes = 0.0;
    let mut doubt = 0.0;
    for circuit in boundary::circuits(ends, Way::Along) {
        let around = boundary::of(&circuit, &sheets.points);
        let mut size = 0.0;
        for cap in around.cap().map(|cap| cap.map(|v| v.map(f64::from))) {
            size += area(&cap);
            volumes += volume(&cap, from);
        }
        doubt += BULGE * size.powf(1.5);
    }
    (volumes, doubt)
}

/// The corners of a triangle as it is turned.
pub(super) fn oriented(patches: &Patches, sheets: &Sheets, n: u32) -> [[f64; 3]; 3] {
    let [a, b, c] = sheets.exact_corners(&sheets.triangles[n as usize]);
    if patches.turned[n as usize] {
        [a, c, b]
    } else {
        [a, b, c]
    }
}

/// Whether triangles that bound no body, as they were given, have a volume below zero, and one that is
/// more than the sides of a crumpled sheet make up.
pub(super) fn is_inside_out(faces: &[Face], sheets: &Sheets) -> bool {
    let bounds = faces
        .iter()
        .fold(Bounds::EMPTY, |all, face| all.union(&face.bounds));
    if bounds.is_empty() {
        return false;
    }
    let middle = middle(&bounds);
    let given = sheets
        .triangles
        .iter()
        .zip(&sheets.given_turned)
        .map(|(triangle, turned)| {
            let its = volume(&sheets.exact_corners(triangle), &middle);
            if *turned { -its } else { its }
        });
    let area: f64 = faces.iter().map(|face| face.area).sum();
    given.sum::<f64>() < -area * extent(&bounds) / 64.0
}

/// The signed volume between a triangle and a point.
fn volume(triangle: &[[f64; 3]; 3], from: &[f64; 3]) -> f64 {
    let [a, b, c] = triangle.map(|v| minus(v, *from));
    dot(a, cross(b, c)) / 6.0
}

fn area([a, b, c]: &[[f64; 3]; 3]) -> f64 {
    let normal = cross(minus(*b, *a), minus(*c, *a));
    dot(normal, normal).sqrt() / 2.0
}

fn middle(bounds: &Bounds) -> [f64; 3] {
    std::array::from_fn(|i| (f64::from(bounds.min[i]) + f64::from(bounds.max[i])) / 2.0)
}

/// The diagonal of a box.
fn extent(bounds: &Bounds) -> f64 {
    let sides: [f64; 3] =
        std::array::from_fn(|i| f64::from(bounds.max[i]) - f64::from(bounds.min[i]));
    dot(sides, sides).sqrt()
}
