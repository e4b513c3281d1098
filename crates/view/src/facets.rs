//! Pictures of a mesh's triangles, for comparison with its cells. Each triangle is shaded flat. A pixel has
//! four sample points. At each, the nearest triangle is drawn, with the colour of the mesh at that point.

use std::ops::Range;

use super::camera::Camera;
use super::colours::{self, Colour};
use super::picture::{CLEAR, Pixel, pixel};
use super::shade;
use voxelize_core::geom::Triangle;
use voxelize_core::geom::vector::{self, dot, minus};
use voxelize_core::par;
use voxelize_meshes::Mesh;

/// Number of rows that a thread draws at a time.
const BAND: usize = 32;

/// Number of sample points along each side of a pixel.
const FINE: usize = 2;

/// Triangle in the picture. Its coordinates are in units of sample points.
struct DrawnFacet {
    corners: [[f64; 3]; 3],
    light: f32,
    /// Number of the triangle in the mesh.
    triangle: u32,
}

/// What a sample point shows.
#[derive(Clone, Copy)]
struct Sample {
    near: f64,
    light: f32,
    triangle: u32,
}

/// Sample point at which no triangle is drawn.
const EMPTY: Sample = Sample {
    near: f64::NEG_INFINITY,
    light: 0.0,
    triangle: 0,
};

/// Returns an upper bound for the memory of drawing this number of triangles, in bytes, in addition to the
/// mesh and to [`bytes_for`](super::bytes_for).
pub(super) fn bytes_for(triangles: usize, width: usize, threads: usize) -> u64 {
    let band = width * BAND * FINE * FINE * size_of::<Sample>();
    // A vector that grows may have twice the capacity that it needs.
    (2 * triangles * size_of::<DrawnFacet>() + threads * band) as u64
}

/// Returns the extent of the vertices of a mesh along each of the given directions.
pub(super) fn reach(mesh: &Mesh, directions: [[f64; 3]; 6]) -> [f64; 6] {
    let mut most = [f64::NEG_INFINITY; 6];
    for vertex in mesh.triangles().iter().flatten() {
        let vertex = vertex.map(f64::from);
        for (most, direction) in most.iter_mut().zip(directions) {
            *most = most.max(dot(direction, vertex));
        }
    }
    most
}

/// Returns the pixels of all rows.
pub(super) fn rows(mesh: &Mesh, camera: &Camera, size: [usize; 2]) -> Vec<Vec<Pixel>> {
    let mut facets = vec![];
    for (n, triangle) in mesh.triangles().iter().enumerate() {
        facets.extend(facet(triangle, n as u32, camera));
    }
    let bands = par::map_range(0..size[1].div_ceil(BAND), |n| {
        let rows = n * BAND..((n + 1) * BAND).min(size[1]);
        band(mesh, camera, &facets, size[0], rows)
    });
    bands.into_iter().flatten().collect()
}

/// Projects a triangle to the picture. `None` if it has no normal.
fn facet(triangle: &Triangle, number: u32, camera: &Camera) -> Option<DrawnFacet> {
    let [a, b, c] = triangle.map(|vertex| vertex.map(f64::from));
    let normal = vector::cross(minus(b, a), minus(c, a));
    let length = dot(normal, normal).sqrt();
    if length == 0.0 {
        return None;
    }
    // Both sides of a triangle are lit, so the normal is turned towards the viewer.
    let turned = camera.turn(normal.map(|n| n / length));
    let [here, viewer] = camera.sight(a);
    let towards = dot(normal, std::array::from_fn(|n| viewer[n] - here[n]));
    let facing = if towards < 0.0 {
        turned.map(|n| -n)
    } else {
        turned
    };
    let corners = [a, b, c].map(|p| {
        let [x, y, near] = camera.project(p);
        [x * FINE as f64, y * FINE as f64, near]
    });
    Some(DrawnFacet {
        corners,
        light: shade::light(facing) as f32,
        triangle: number,
    })
}

/// Returns the pixels of a range of rows.
fn band(
    mesh: &Mesh,
    camera: &Camera,
    facets: &[DrawnFacet],
    width: usize,
    rows: Range<usize>,
) -> Vec<Vec<Pixel>> {
    let fine = (width * FINE, rows.start * FINE..rows.end * FINE);
    let mut points = vec![EMPTY; fine.0 * fine.1.len()];
    for facet in facets {
        fill(facet, &mut points, fine.0, &fine.1);
    }
    let mut drawn = Vec::with_capacity(rows.len());
    for y in 0..rows.len() {
        let mut row = Vec::with_capacity(width);
        for x in 0..width {
            let mut sum = CLEAR;
            for n in 0..FINE * FINE {
                let [column, line] = [x * FINE + n % FINE, y * FINE + n / FINE];
                let sample = points[line * fine.0 + column];
                if sample.near == f64::NEG_INFINITY {
                    continue;
                }
                let place = [column, fine.1.start + line].map(|p| (p as f64 + 0.5) / FINE as f64);
                let colour = colour_at(mesh, camera, sample.triangle, place);
                let seen = pixel(colour.map(|c| c * sample.light), 1.0);
                (0..4).for_each(|c| sum[c] += seen[c]);
            }
            row.push(sum.map(|c| c / (FINE * FINE) as f32));
        }
        drawn.push(row);
    }
    drawn
}

/// Returns the colour of a triangle at a point of the picture: the colour of the mesh, or grey if the mesh has
/// no colours.
fn colour_at(mesh: &Mesh, camera: &Camera, triangle: u32, place: [f64; 2]) -> Colour {
    let Some(colours) = mesh.colours() else {
        return colours::FACETS;
    };
    let colour = colours.only(triangle).unwrap_or_else(|| {
        let [start, end] = camera.segment(place);
        // The segment of a flat scene may have no length.
        let [here, viewer] = camera.sight(end);
        let triangle_at = &mesh.triangles()[triangle as usize];
        colours.at(
            triangle,
            weights_at(triangle_at, start, minus(viewer, here)),
        )
    });
    colours::of_bytes(colour)
}

/// Returns the barycentric coordinates of the point at which a line meets the plane of a triangle. `ray` is the
/// direction of the line. If rounding places the point outside the triangle, it is moved to the triangle.
fn weights_at(triangle: &Triangle, start: [f64; 3], ray: [f64; 3]) -> [f64; 3] {
    let corners = triangle.map(|vertex| vertex.map(f64::from));
    let [a, b, c] = corners.map(|corner| minus(corner, start));
    // Each volume is proportional to the weight of the corner that it lacks.
    let volumes = [[b, c], [c, a], [a, b]].map(|[p, q]| dot(ray, vector::cross(p, q)));
    let sum: f64 = volumes.iter().sum();
    let weights = volumes.map(|volume| (volume / sum).max(0.0));
    let sum: f64 = weights.iter().sum();
    if sum.is_finite() && sum > 0.0 {
        weights.map(|weight| weight / sum)
    } else {
        [1.0 / 3.0; 3]
    }
}

/// Draws a triangle at the sample points where it is nearer than the triangles drawn before.
fn fill(facet: &DrawnFacet, points: &mut [Sample], width: usize, rows: &Range<usize>) {
    let [a, b, c] = &facet.corners;
    let span = |n: usize, range: Range<usize>| {
        let low = a[n].min(b[n]).min(c[n]) - 0.5;
        let high = a[n].max(b[n]).max(c[n]) - 0.5;
        let first = (low.ceil().max(range.start as f64)) as usize;
        first..((high.floor() + 1.0).clamp(0.0, range.end as f64) as usize).max(first)
    };
    let area = cross(a, b, c);
    if area == 0.0 {
        return;
    }
    for y in span(1, rows.clone()) {
        for x in span(0, 0..width) {
            let p = [x as f64 + 0.5, y as f64 + 0.5, 0.0];
            let [wa, wb, wc] = [
                cross(b, c, &p) / area,
                cross(c, a, &p) / area,
                cross(a, b, &p) / area,
            ];
            if wa < 0.0 || wb < 0.0 || wc < 0.0 {
                continue;
            }
            let near = wa * a[2] + wb * b[2] + wc * c[2];
            let point = &mut points[(y - rows.start) * width + x];
            if near > point.near {
                *point = Sample {
                    near,
                    light: facet.light,
                    triangle: facet.triangle,
                };
            }
        }
    }
}

/// Returns twice the signed area of a triangle in the picture.
fn cross(a: &[f64; 3], b: &[f64; 3], c: &[f64; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}
