//! How bright a face is: light from the upper left behind the viewer, less in corners between cells,
//! thin dark lines where cells are large enough to have edges.

use super::rays::Hit;
use super::solid::Solid;
use voxelize_core::geom::vector::dot;

/// Where the light comes from: right, up, towards the viewer.
const LIGHT: [f64; 3] = [-0.36, 0.76, 0.54];

/// The ambient light.
const AMBIENT: f64 = 0.42;

/// The brightness of a face towards the light.
const BRIGHT: f64 = 1.2;

/// The share of the light at a corner with three cells around it.
const CORNER: f64 = 0.58;

/// The share of the light that an edge between cells keeps.
const EDGE: f64 = 0.72;

/// How bright something is whose normal, of length one, is this in view coordinates.
pub(super) fn light(normal: [f64; 3]) -> f64 {
    // A wrapped cosine: faces that look away from the light still differ.
    let facing = 0.5 + 0.5 * dot(normal, LIGHT);
    AMBIENT + (BRIGHT - AMBIENT) * facing * facing
}

/// How much of the light reaches a point of a face past the cells around it: for each corner of the
/// face, the two cells next to it and the one across in the layer before the face; between corners
/// in proportion.
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

/// The share of the light at the edges of a face, where a cell is so many pixels long.
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

/// The point on the face, from 0 to 1 along its two axes.
fn within_face(hit: &Hit) -> [f64; 2] {
    [1, 2].map(|n| {
        let axis = (usize::from(hit.axis) + n) % 3;
        (hit.at[axis] - f64::from(hit.cell[axis])).clamp(0.0, 1.0)
    })
}
