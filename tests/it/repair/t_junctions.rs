//! Boxes whose faces end at different vertices, with centres of cells on their faces, edges and corners.
//! Robust must find the cells that nonzero finds in the sound box.

use voxelize::geom::Triangle;
use voxelize::{Inside, Lattice, Mesh, Rational, Rule, voxelize};

use crate::support::random::Random;

/// Returns a face of a box as triangles around one of its points. Its edges have additional vertices that the
/// adjacent faces lack.
fn face(size: [i64; 3], axis: usize, is_high: bool, random: &mut Random) -> Vec<[[i64; 3]; 3]> {
    let [s, t] = [(axis + 1) % 3, (axis + 2) % 3];
    let at = |u: i64, v: i64| {
        let mut point = [0; 3];
        (point[axis], point[s], point[t]) = (if is_high { size[axis] } else { 0 }, u, v);
        point
    };
    let corners = [[0, 0], [size[s], 0], [size[s], size[t]], [0, size[t]]];
    let mut rim = vec![];
    for n in 0..4 {
        let [from, to] = [corners[n], corners[(n + 1) % 4]];
        rim.push(from);
        let length = (to[0] - from[0]).abs() + (to[1] - from[1]).abs();
        for step in 1..length {
            if random.below(4) == 0 {
                rim.push([0, 1].map(|i| from[i] + step * (to[i] - from[i]).signum()));
            }
        }
    }
    let mut triangles = vec![];
    if rim.len() == 4 && random.below(2) == 0 {
        triangles = vec![[rim[0], rim[1], rim[2]], [rim[0], rim[2], rim[3]]];
    } else {
        let middle = [random.whole(1, size[s] - 1), random.whole(1, size[t] - 1)];
        for n in 0..rim.len() {
            triangles.push([rim[n], rim[(n + 1) % rim.len()], middle]);
        }
    }
    let placed = |[a, b, c]: [[i64; 2]; 3]| [at(a[0], a[1]), at(b[0], b[1]), at(c[0], c[1])];
    triangles
        .into_iter()
        .map(placed)
        .map(|[a, b, c]| if is_high { [a, b, c] } else { [a, c, b] })
        .collect()
}

#[test]
fn centres_on_faces_and_edges_are_decided_as_in_a_sound_box() {
    let mut random = Random::new(56);
    let mut open = 0;
    let mut cells = 0;
    for case in 0..300 {
        let size: [i64; 3] = std::array::from_fn(|_| random.whole(2, 5));
        let mut triangles = vec![];
        for axis in 0..3 {
            for is_high in [false, true] {
                triangles.extend(face(size, axis, is_high, &mut random));
            }
        }
        // Thirds and sevenths are not floats and have to snap.
        let part = [1, 3, 7][case % 3];
        let scaled = |triangle: [[i64; 3]; 3]| -> Triangle {
            triangle.map(|point| point.map(|c| Rational::new(c, part).to_f32()))
        };
        let mesh = Mesh::from_triangles(triangles.into_iter().map(scaled).collect()).unwrap();
        open += usize::from(mesh.closedness() == voxelize::mesh::closed::Closedness::Open);
        let lattice = Lattice::new(
            size.map(|n| n as usize + 3),
            [const { 0 }; 3].map(|_: i32| Rational::new(-3, 2 * part)),
            [const { 0 }; 3].map(|_: i32| Rational::new(1, part)),
            [false; 3],
        )
        .unwrap();
        let rule = Rule::solid().with_inside(Inside::Robust).unwrap();
        let voxels = voxelize(&mesh, &lattice, rule).unwrap();
        let found = voxels.occupied().unwrap();
        let [nx, ny, nz] = lattice.dims();
        for n in 0..nx * ny * nz {
            let cell = [n % nx, n / nx % ny, n / nx / ny];
            // The centre is at the index minus one, displaced slightly downwards.
            let is_inside = (0..3).all(|a| (2..=size[a] as usize + 1).contains(&cell[a]));
            assert_eq!(
                found.get(cell),
                is_inside,
                "case {case}: {cell:?} of {size:?}"
            );
            cells += 1;
        }
    }
    assert!(
        open > 250 && cells > 50_000,
        "{open} open boxes, {cells} cells"
    );
}
