//! The check of a mesh, compared with every pair of triangles, and in another order.
//!
//! The input has the layout of `kernels.rs`.

use arbitrary::Unstructured;
use voxelize::compare::check::{CheckOptions, MeshCheck, check as check_mesh};
use voxelize::geom::tri_tri::{Meeting, meeting};
use voxelize::geom::{Triangle, orientation};
use voxelize::{Code, Mesh};

use crate::alone;
use crate::kernels::Case;

/// Checks some triangles.
pub fn check(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let case = Case::from(&mut input).expect("zeros follow the end");
    alone();
    let options = CheckOptions {
        lattice: Some(&case.lattice),
        places: 5,
        ..CheckOptions::default()
    };
    let found = check_mesh(&case.mesh, &options).expect("a small mesh");
    let edges = case.mesh.edge_counts();
    let is_empty = case.mesh.triangles().is_empty();
    assert_eq!(count(&found, Code::M004), edges.open_edges);
    assert_eq!(count(&found, Code::M002), case.mesh.degenerate());
    assert_eq!(found.verdict.closed, !is_empty && edges.is_closed());
    assert_eq!(found.verdict.oriented, !is_empty && edges.is_oriented());
    assert!(!found.verdict.manifold_3mf || (found.verdict.closed && found.verdict.oriented));
    let pairs = pairs(case.mesh.triangles());
    assert_eq!(
        [Code::M009, Code::M010, Code::M011].map(|code| count(&found, code)),
        pairs
    );
    for defect in &found.defects {
        assert!(defect.count > 0 && defect.places.len() <= 5 && !defect.triangles.is_empty());
        assert!(
            defect
                .triangles
                .iter()
                .all(|n| (*n as usize) < case.mesh.triangles().len())
        );
        assert!(
            defect
                .places
                .iter()
                .all(|place| place.at.iter().all(|c| c.is_finite())),
            "{defect:?}"
        );
    }
    let backwards = case
        .mesh
        .triangles()
        .iter()
        .rev()
        .map(|[a, b, c]| [*b, *c, *a])
        .collect();
    let again = check_mesh(&Mesh::from_triangles(backwards).expect("finite"), &options)
        .expect("a small mesh");
    assert_eq!(places(&again), places(&found));
    assert_eq!(
        (again.verdict, again.components),
        (found.verdict, found.components)
    );
}

fn count(found: &MeshCheck, code: Code) -> u64 {
    found
        .defects
        .iter()
        .find(|defect| defect.info.code == code)
        .map_or(0, |defect| defect.count)
}

/// Returns the results that do not depend on the order of triangles.
fn places(found: &MeshCheck) -> Vec<(Code, u64, u64, Vec<[u64; 3]>)> {
    let at = |at: [f64; 3]| at.map(|c| (c + 0.0).to_bits());
    let of = found.defects.iter();
    of.map(|d| {
        (
            d.info.code,
            d.count,
            d.more,
            d.places.iter().map(|p| at(p.at)).collect(),
        )
    })
    .collect()
}

/// Returns the number of pairs that cross, touch and overlap.
fn pairs(triangles: &[Triangle]) -> [u64; 3] {
    let is_flat = |[a, b, c]: &Triangle| {
        // The triangle without area is on a line, so it is in a plane with each of three points that are not
        // collinear.
        [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ]
        .iter()
        .all(|p| orientation::side([*a, *b, *c, *p]) == 0)
    };
    let whole: Vec<&Triangle> = triangles
        .iter()
        .filter(|triangle| !is_flat(triangle))
        .collect();
    let mut found = [0; 3];
    for (n, s) in whole.iter().enumerate() {
        for t in &whole[..n] {
            let shared = s.iter().filter(|v| t.contains(v)).count();
            match (shared, meeting(s, t)) {
                (_, Meeting::Apart) | (1, Meeting::Point) | (2, Meeting::Segment) | (3, _) => {}
                (_, Meeting::Crossing) => found[0] += 1,
                (_, Meeting::Overlap) => found[2] += 1,
                _ => found[1] += 1,
            }
        }
    }
    found
}
