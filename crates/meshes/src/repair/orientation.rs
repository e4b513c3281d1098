//! Orientation of patches before and after a repair.
//!
//! The boundary of a patch is closed by caps, so that the patch has a volume. Caps could also bulge, so this
//! volume is uncertain. If the volume exceeds the uncertainty, the patch bounds a *body*, and the sign of the
//! volume is its orientation. Any other patch is considered flat, and keeps the original orientation of most
//! of its area. If most of the area of the bodies was originally inside out, all flat patches are turned
//! over.

use super::patches::Patches;
use super::sheets::Sheets;
use crate::boundary::{self, Way};
use voxelize_core::geom::Bounds;
use voxelize_core::geom::vector::{cross, dot, minus};

/// Data about the orientation of a patch, before any patch is turned over as a whole.
#[derive(Debug)]
pub(super) struct Face {
    pub patch: usize,
    pub bounds: Bounds,
    pub area: f64,
    /// Volume of the patch together with its caps.
    pub volume: f64,
    /// The patch bounds a body, so its volume decides the orientation.
    pub is_body: bool,
    /// Area of the triangles with their original orientation, minus the area of the triangles with the
    /// opposite orientation.
    pub as_given: f64,
    /// All triangles have their original orientation, or all have the opposite orientation.
    pub fitted: bool,
}

impl Face {
    /// Returns whether the patch in its original orientation had a positive volume.
    pub(super) fn given_outwards(&self) -> bool {
        (self.volume > 0.0) == (self.as_given > 0.0)
    }
}

/// Volume that a cap may gain by bulging, as a factor of its area to the power of 3/2. A hemisphere over the
/// same base would have six times this volume.
const BULGE: f64 = 1.0 / 16.0;

/// Minimum volume that certainly exceeds rounding errors, as a factor of area times extent.
const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;

/// Computes the data about the orientation of a patch.
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
        let turned = patches.turned[*n as usize];
        if turned == sheets.given_turned[*n as usize] {
            face.as_given += area;
            given += 1;
        } else {
            face.as_given -= area;
        }
        let triangle = if turned { [a, c, b] } else { [a, b, c] };
        of_members += volume(&triangle, &middle);
    }
    face.fitted = given == 0 || given == members.len();
    // A single triangle is always considered flat.
    if members.len() > 1 {
        let open = patches.open_sides(patch, &sheets.triangles);
        let ends = boundary::net(&open, |side| patches.is_forth(side.place));
        let (of_caps, doubt) = closed(&ends, sheets, &middle);
        face.volume = of_members + of_caps;
        face.is_body = face.volume.abs() > doubt + ROUNDING * face.area * extent(&face.bounds);
    }
    face
}

/// Returns the signed volume of the flat caps that close a patch, and a bound for its uncertainty: the volume
/// that the caps could add if they were bulged. `ends` are the directed open edges of the patch.
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

/// Returns the corners of a triangle in its present orientation.
pub(super) fn oriented(patches: &Patches, sheets: &Sheets, n: u32) -> [[f64; 3]; 3] {
    let [a, b, c] = sheets.exact_corners(&sheets.triangles[n as usize]);
    if patches.turned[n as usize] {
        [a, c, b]
    } else {
        [a, b, c]
    }
}

/// Returns whether the triangles of a mesh without bodies were originally inside out, that is, had a clearly
/// negative volume. The absolute volume must exceed the volume that a crumpled sheet could enclose.
pub(super) fn is_inside_out(faces: &[Face], sheets: &Sheets) -> bool {
    let bounds = faces
        .iter()
        .fold(Bounds::EMPTY, |all, face| all.union(&face.bounds));
    if bounds.is_empty() {
        return false;
    }
    let middle = middle(&bounds);
    let mut given = 0.0;
    for (triangle, turned) in sheets.triangles.iter().zip(&sheets.given_turned) {
        let own = volume(&sheets.exact_corners(triangle), &middle);
        given += if *turned { -own } else { own };
    }
    let area: f64 = faces.iter().map(|face| face.area).sum();
    given < -area * extent(&bounds) / 64.0
}

/// Returns the signed volume of the tetrahedron between a triangle and a point.
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

/// Returns the length of the diagonal of a bounding box.
fn extent(bounds: &Bounds) -> f64 {
    let sides: [f64; 3] =
        std::array::from_fn(|i| f64::from(bounds.max[i]) - f64::from(bounds.min[i]));
    dot(sides, sides).sqrt()
}
