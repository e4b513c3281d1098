//! Brightness of faces. Light comes from behind the viewer on the upper left. There is less light in corners
//! between cells. Faces of cells that are large enough have thin dark lines along their edges.

use super::rays::Hit;
use super::solid::Solid;
use voxelize_core::geom::vector::dot;

/// Direction towards the light: right, up, and towards the viewer.
const LIGHT: [f64; 3] = [-0.36, 0.76, 0.54];

/// Brightness of a face that is turned away from the light.
const AMBIENT: f64 = 0.42;

/// Brightness of a face that is turned towards the light.
const BRIGHT: f64 = 1.2;

/// Factor of the light at a corner that three cells surround.
const CORNER: f64 = 0.58;

/// Factor of the light at an edge between cells.
const EDGE: f64 = 0.72;

/// Returns the brightness of a face whose unit normal in view coordinates is `normal`.
pub(super) fn light(normal: [f64; 3]) -> f64 {
    // The cosine is shifted and scaled, so that faces turned away from the light also differ in brightness.
    let facing = 0.5 + 0.5 * dot(normal, LIGHT);
    AMBIENT + (BRIGHT - AMBIENT) * facing * facing
}

/// Returns the share of the light that reaches a point of a face, because the surrounding cells take some of
/// it. For each corner of the face, the three cells that touch the corner in the layer in front of the face
/// are counted. The values at the corners are interpolated.
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

/// Returns the factor that darkens a face near its edges: 1 away from the edges, at least [`EDGE`]. `pixels`
/// is the side of a cell in pixels.
pub(super) fn edge(hit: &Hit, pixels: f64) -> f64 {
    // The lines appear gradually as the side of a cell grows from 6 to 14 pixels.
    let strength = ((pixels - 6.0) / 8.0).clamp(0.0, 1.0) * (1.0 - EDGE);
    if strength == 0.0 {
        return 1.0;
    }
    let [s, t] = within_face(hit);
    let distance = s.min(1.0 - s).min(t).min(1.0 - t) * pixels;
    1.0 - strength * (1.4 - distance).clamp(0.0, 1.0)
}

/// Returns the position of the hit on the face, from 0 to 1 along the two axes of the face.
fn within_face(hit: &Hit) -> [f64; 2] {
    [1, 2].map(|n| {
        let axis = (usize::from(hit.axis) + n) % 3;
        (hit.at[axis] - f64::from(hit.cell[axis])).clamp(0.0, 1.0)
    })
}
