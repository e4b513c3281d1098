//! A rib between two blocks never breaks silently, and never with `--keep-thin`.

use voxelize::rule::lost;
use voxelize::{Bounds, Inside, Mesh, Rule, Run};

use super::{cells, grid, keep_thin, made, pieces_of};
use crate::support::solids::Triangle;

/// Returns two cubes of ten with a rod between them in one closed mesh: loops of four corners along x, each
/// joined to the next.
pub fn blocks_and_rib(half: [f64; 2], length: f64) -> Vec<[[f64; 3]; 3]> {
    let ring = |x: f64, [y, z]: [f64; 2]| {
        [
            [x, 5.0 - y, 5.0 - z],
            [x, 5.0 + y, 5.0 - z],
            [x, 5.0 + y, 5.0 + z],
            [x, 5.0 - y, 5.0 + z],
        ]
    };
    let far = 10.0 + length;
    let rings = [
        (0.0, [5.0; 2]),
        (10.0, [5.0; 2]),
        (10.0, half),
        (far, half),
        (far, [5.0; 2]),
        (far + 10.0, [5.0; 2]),
    ];
    let rings = rings.map(|(x, half)| ring(x, half));
    let [a, b, c, d] = rings[0];
    let [e, f, g, h] = rings[5];
    let mut triangles = vec![[a, d, c], [a, c, b], [e, f, g], [e, g, h]];
    for (a, b) in rings.iter().zip(&rings[1..]) {
        for n in 0..4 {
            let m = (n + 1) % 4;
            triangles.extend([[a[n], a[m], b[m]], [a[n], b[m], b[n]]]);
        }
    }
    triangles
}

/// Generator of numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rotates a point about z, y and x by these angles.
fn turned([x, y, z]: [f64; 3], angles: [f64; 3]) -> [f64; 3] {
    let turn = |a: f64, b: f64, angle: f64| {
        (
            a * angle.cos() - b * angle.sin(),
            a * angle.sin() + b * angle.cos(),
        )
    };
    let (x, y) = turn(x, y, angles[0]);
    let (x, z) = turn(x, z, angles[1]);
    let (y, z) = turn(y, z, angles[2]);
    [x, y, z]
}

#[test]
fn no_rib_is_broken_without_a_word_or_after_it_was_kept() {
    let mut random = Random(40);
    let mut broken = 0;
    let mut most = 0;
    let mut added = 0;
    for n in 0..40 {
        let half = [0.05 + 0.5 * random.next(), 0.05 + 0.5 * random.next()];
        let length = 12.0 + 12.0 * random.next();
        let angles = [(); 3].map(|()| random.next() * std::f64::consts::TAU);
        let shift = [(); 3].map(|()| 100.0 + random.next());
        let placed = |corner: [f64; 3]| {
            let corner = turned(corner, angles);
            [0, 1, 2].map(|a| (corner[a] + shift[a]) as f32)
        };
        let triangles: Vec<Triangle> = blocks_and_rib(half, length)
            .into_iter()
            .map(|triangle| triangle.map(placed))
            .collect();
        let mesh = Mesh::from_triangles(triangles.clone()).unwrap();
        assert!(mesh.edge_counts().is_oriented() && mesh.volume() > 2000.0);
        let lattice = cells(&triangles, 10);
        let (solid, summary) = made(&triangles, &lattice, Rule::solid());
        let found = lost::find(&mesh, &lattice, Inside::Auto, None, &Run::default()).unwrap();
        let pieces = pieces_of(&solid);
        let counted = summary.map_or(0, |summary| summary.pieces);
        let wanted = if pieces > 1 { pieces as u64 } else { 0 };
        assert_eq!(counted, wanted, "rib {n}");
        let kept = grid(&triangles, &lattice, keep_thin());
        assert_eq!(pieces_of(&kept), 1, "rib {n}: {pieces} pieces before");
        assert!(solid.iter().all(|cell| kept.get(cell)));
        assert!(
            kept == solid || found.components.is_some() || found.places.is_some(),
            "rib {n}"
        );
        // Nothing is added to the blocks: the new cells are around the line between the middles of the rib's
        // ends.
        let ends = [10.0, 10.0 + length].map(|x| turned([x, 5.0, 5.0], angles));
        let along = [0, 1, 2].map(|a| ends[1][a] - ends[0][a]);
        for cell in kept.iter().filter(|cell| !solid.get(*cell)) {
            let centre = lattice.centre(cell);
            let from = [0, 1, 2].map(|a| centre[a] - shift[a] - ends[0][a]);
            let at = (0..3).map(|a| from[a] * along[a]).sum::<f64>() / length;
            assert!(
                (-3.0..length + 3.0).contains(&at),
                "rib {n}: {cell:?} is {at} along the rib"
            );
            added += 1;
        }
        (broken, most) = (broken + usize::from(pieces > 1), most.max(pieces));
        assert!(!Bounds::of(&triangles).is_empty());
    }
    assert!(
        broken > 20 && most > 5 && added > 300,
        "{broken} broken, up to {most} pieces, {added} cells added"
    );
}
