//! Relation of two meshes, compared with all pairs of their triangles.
//!
//! The input: a byte for the kind of numbers, a byte for the number of triangles of the first mesh, then nine
//! bytes for each triangle of both.

use voxelize::Mesh;
use voxelize::compare::clearance::{ClearanceBody, ClearanceOptions, Relation};
use voxelize::geom::tri_tri::{Meeting, closest_points, meeting};

use crate::alone;

/// Maximum number of triangles of an input.
const MOST: usize = 48;

/// Compares two meshes.
pub fn check(bytes: &[u8]) {
    let [kind, count, rest @ ..] = bytes else {
        return;
    };
    let number = |byte: &u8| {
        let value = f32::from(*byte as i8);
        match kind % 5 {
            0 => value / 4.0,
            1 => value * 1e-3,
            2 => value * 2f32.powi(100),
            3 => value / 4.0 + 4096.0,
            _ => (value / 4.0).round() * 2f32.powi(-120),
        }
    };
    let triangle = |nine: &[u8]| [0, 3, 6].map(|n| [0, 1, 2].map(|axis| number(&nine[n + axis])));
    let triangles: Vec<_> = rest.chunks_exact(9).take(MOST).map(triangle).collect();
    let (first, second) = triangles.split_at(triangles.len().min(1 + usize::from(*count)));
    if second.is_empty() {
        return;
    }
    alone();
    let [first, second] =
        [first, second].map(|some| Mesh::from_triangles(some.to_vec()).expect("finite"));
    compare(&first, &second);
}

fn compare(first: &Mesh, second: &Mesh) {
    let mut meetings = vec![];
    let mut least = f64::INFINITY;
    let mut largest = 0.0_f64;
    for (i, s) in (0..).zip(first.triangles()) {
        for (j, t) in (0..).zip(second.triangles()) {
            let found = meeting(s, t);
            if found != Meeting::Apart {
                meetings.push(([i, j], found));
            }
            let [p, q] = closest_points(s, t);
            least = least.min((0..3).map(|n| (p[n] - q[n]).powi(2)).sum::<f64>().sqrt());
            let size = |most: f64, c: &f32| most.max(f64::from(c.abs()));
            largest = s
                .as_flattened()
                .iter()
                .chain(t.as_flattened())
                .fold(largest, size);
        }
    }
    let [a, b] = [first, second].map(|mesh| ClearanceBody::new(mesh).expect("it has triangles"));
    let options = ClearanceOptions {
        places: usize::MAX,
        ..ClearanceOptions::default()
    };
    let found = a.clearance(&b, &options).expect("few triangles");
    let mut pairs: Vec<_> = found
        .places
        .iter()
        .map(|place| (place.triangles, place.meeting))
        .collect();
    pairs.sort();
    assert_eq!(pairs, meetings);
    assert_eq!(found.meetings == 0, found.distance > 0.0, "{found:?}");
    assert!(
        (found.distance - least).abs() <= 1e-12 * largest,
        "{found:?}: {least}"
    );
    let swapped = b.clearance(&a, &options).expect("few triangles");
    let mirrored = match found.relation {
        Relation::Contains => Relation::Within,
        Relation::Within => Relation::Contains,
        same => same,
    };
    assert_eq!(
        (swapped.relation, swapped.meetings),
        (mirrored, found.meetings)
    );
    assert!((swapped.distance - found.distance).abs() <= 1e-12 * largest);
}
