//! Brightness of a face: light from the upper left behind the viewer, less light in corners between cells,
//! and thin dark lines where cells are large enough to have visible edges.

use super::rays::Hit;
use super::solid::Solid;
use voxelize_core::geom::vector::dot;

/// Direction of the light: right, up, towards the viewer.
const LIGHT: [f64; 3] = [-0.36, 0.76, 0.54];

/// Ambient light.
const AMBIENT: f64 = 0.42;

/// Brightness of a face towards the light.
const BRIGHT: f64 = 1.2;

/// Share of the light at a corner surrounded by three cells.
const CORNER: f64 = 0.58;

/// Share of the light at an edge between cells.
const EDGE: f64 = 0.72;

/// Returns the brightness for a unit normal in view coordinates.
pub(super) fn light(normal: [f64; 3]) -> f64 {
    // A wrapped cosine: faces that point away from the light still differ.
    let facing = 0.5 + 0.5 * dot(normal, LIGHT);
    AMBIENT + (BRIGHT - AMBIENT) * facing * facing
}

/// Returns the share of the light that reaches a point of a face past the surrounding cells. Each corner of
/// the face counts the two cells next to it and the diagonal one in the layer in front of the face. The
/// values of the corners are interpolated.
pub(super) fn openness(solid: &Solid, hit: &Hit) -> f64 {
    let axis = usize::from(hit.axis);
    let u = (axis + 1) % 3;
    let v = (axis + 2) % 3;
    let mut before = hit.cell;
    before[axis] += if hit.high { 1 } else { -1 };
    let mut around = [[false; 3]; 3];
    for (row, dv) in around.iter_mut().zip(-1..) {
        for (found, du) in row.iter_mut().zip(-1..) {
            let mut cell = before;
            (cell[u], cell[v]) = (cell[u] + du, cell[v] + dv);
            *found = (du, dv) != (0, 0) && solid.holds(cell);
        }
    }
    let corner = |cu: usize, cv: usize| {
        let side = around[1][cu];
        let above = around[cv][1];
        let across = around[cv][cu];
        let shut = if side && above {
            3
        } else {
            u8::from(side) + u8::from(above) + u8::from(across)
        };
        1.0 - (1.0 - CORNER) / 3.0 * f64::from(shut)
    };
    let [s, t] = within_face(hit);
    let low = corner(0, 0) * (1.0 - s) + corner(2, 0) * s;
    let high = corner(0, 2) * (1.0 - s) + corner(2, 2) * s;
    low * (1.0 - t) + high * t
}

/// Returns the share of the light near the edges of a face, for a cell of this length in pixels.
pub(super) fn edge(hit: &Hit, pixels: f64) -> f64 {
    // Lines appear as cells grow from 6 to 14 pixels.
    let strength = ((pixels - 6.0) / 8.0).clamp(0.0, 1.0) * (1.0 - EDGE);
    if strength == 0.0 {
        return 1.0;
    }
    let [s, t] = within_face(hit);
    let distance = s.min(1.0 - s).min(t).min(1.0 - t) * pixels;
    1.0 - strength * (1.4 - distance).clamp(0.0, 1.0)
}

/// Returns the point on the face, from 0 to 1 along its two axes.
fn within_face(hit: &Hit) -> [f64; 2] {
    [1, 2].map(|n| {
        let axis = (usize::from(hit.axis) + n) % 3;
        (hit.at[axis] - f64::from(hit.cell[axis])).clamp(0.0, 1.0)
    })
}
