//! Dropped triangles, and the orientation of the rest.

use std::collections::HashSet;

use voxelize::geom::Triangle;

use super::shapes::*;
use crate::support::random::Random;

/// Meshes with correct orientation.
fn sound() -> Vec<(&'static str, Vec<Triangle>)> {
    let hollow = [cube([0.0; 3], 8.0), inside_out(&cube([2.0; 3], 4.0))].concat();
    let with_island = [hollow.clone(), cube([3.0; 3], 1.0)].concat();
    let beside = [cube([0.0; 3], 2.0), cube([2.0, 2.0, 0.0], 2.0)].concat();
    let mut all = vec![
        ("a cavity", hollow),
        ("a solid in a cavity", with_island),
        ("two cubes with a common edge", beside),
        ("a slit", slit_cube()),
        ("an open cube", cube([5.0; 3], 3.0)[2..].to_vec()),
    ];
    for name in ["knot", "sphere", "bracket", "f", "octahedron", "prism"] {
        all.push((name, fixture(name)));
    }
    all
}

#[test]
fn a_sound_mesh_stays_as_it_is() {
    for (name, triangles) in sound() {
        let repaired = repaired(&triangles);
        let changed = [repaired.turned, repaired.duplicates];
        assert_eq!((changed, repaired.not_orientable), ([0; 2], 0), "{name}");
        let left = repaired.triangles.len() as u64 + repaired.degenerate;
        assert_eq!(left, triangles.len() as u64, "{name}");
        let was = volume(&triangles);
        let off = (was - volume(&repaired.triangles)).abs();
        assert!(was > 0.0 && off < 1e-6 * was, "{name}: {was}, off by {off}");
    }
}

#[test]
fn turned_mixed_and_doubled_triangles_are_put_right() {
    let mut random = Random::new(5);
    for (name, triangles) in sound() {
        let right = repaired(&triangles);
        for n in 0..4 {
            let tossed = tossed(&triangles, &mut random);
            let doubled = [tossed.clone(), random.shuffled(&tossed[..tossed.len() / 2])].concat();
            let broken = [
                ("inside out", inside_out(&triangles)),
                ("tossed", tossed),
                ("doubled", doubled),
            ];
            for (how, broken) in broken {
                let found = repaired(&random.shuffled(&broken));
                let degenerate = found.degenerate - right.degenerate;
                let dropped = (found.duplicates + degenerate) as usize;
                let doubles = triangles.len() / 2;
                assert_eq!(
                    dropped,
                    if how == "doubled" { doubles } else { 0 },
                    "{name}"
                );
                assert!(found.turned > 0, "{name} {how}");
                let counts = [found.patches, found.cavities];
                assert_eq!(counts, [right.patches, right.cavities], "{name} {how}");
                assert_eq!(found.boundary, right.boundary, "{name} {how} {n}");
                assert_eq!(found.triangles, right.triangles, "{name} {how} {n}");
            }
        }
    }
}

#[test]
fn torn_meshes_keep_their_sides() {
    let mut random = Random::new(6);
    for name in ["knot", "sphere"] {
        let right = repaired(&fixture(name)).triangles;
        let bits = |t: &Triangle| t.map(|v| v.map(f32::to_bits));
        let of_right: HashSet<_> = right.iter().map(bits).collect();
        for _ in 0..5 {
            let torn = torn(&fixture(name), &mut random);
            let broken = [tossed(&torn, &mut random), inside_out(&torn), torn.clone()];
            for broken in &broken {
                let found = repaired(&random.shuffled(broken));
                assert!(found.triangles.len() < right.len() && !found.boundary.is_empty());
                let mut bits = found.triangles.iter().map(bits);
                assert!(bits.all(|bits| of_right.contains(&bits)), "{name}");
            }
        }
    }
}

#[test]
fn bodies_within_bodies() {
    let [large, middle, small] = [0.0, 1.0, 2.0].map(|low| cube([low; 3], 8.0 - 2.0 * low));
    let beside = cube([20.0; 3], 1.0);
    let mut random = Random::new(7);
    let found = |parts: &[&[Triangle]]| {
        let all = repaired(&parts.concat());
        (volume(&all.triangles), all.cavities, all.patches)
    };
    // All faced the same way: solids that overlap.
    assert_eq!(
        found(&[&large, &middle, &small, &beside]),
        (512.0 + 216.0 + 64.0 + 1.0, 0, 4)
    );
    assert_eq!(
        found(&[&inside_out(&large), &inside_out(&small)]),
        (512.0 + 64.0, 0, 2)
    );
    // Without any orientation: a solid, a cavity, a solid.
    for _ in 0..8 {
        let toss = |part: &[Triangle], random: &mut Random| {
            // A cube that is consistent by chance would have an orientation, so two triangles are made
            // inconsistent.
            let fits_not = [part[0], over(&part[1])];
            [&fits_not[..], &tossed(&part[2..], random)].concat()
        };
        let [a, b, c] = [&large, &middle, &small].map(|part| toss(part, &mut random));
        assert_eq!(found(&[&a, &b, &c, &beside]).0, 512.0 - 216.0 + 64.0 + 1.0);
    }
    // If the outer cube is inconsistent, the kind of the inner one is unknown.
    let unknown = [&[over(&large[0])], &large[1..]].concat();
    assert_eq!(found(&[&unknown, &small]), (512.0 - 64.0, 1, 2));
    // Cavities that touch the outside in an edge, or share the plane of a side.
    let touching = cube([0.0, 2.0, 2.0], 2.0);
    assert_eq!(found(&[&large, &inside_out(&touching)]).0, 512.0 - 8.0);
    assert_eq!(found(&[&unknown, &touching]).0, 512.0 - 8.0);
}

#[test]
fn flat_patches_stay_as_most_of_them_was_or_go_with_the_bodies() {
    let sheet = [
        [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]],
        [[0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [2.0, 2.5, 0.0]],
    ];
    let kept = repaired(&sheet);
    assert_eq!((kept.turned, kept.patches), (0, 1));
    // The larger triangle decides.
    let found = repaired(&[sheet[0], over(&sheet[1])]);
    assert_eq!((found.turned, &found.triangles), (1, &kept.triangles));
    let found = repaired(&inside_out(&sheet));
    assert_eq!(found.turned, 0);
    assert_ne!(found.triangles, kept.triangles);
    // If the body was inside out, the sheet was as well.
    let body = cube([10.0; 3], 2.0);
    let right = repaired(&[&sheet[..], &body].concat());
    let found = repaired(&inside_out(&[&sheet[..], &body].concat()));
    assert_eq!((found.turned, found.triangles), (14, right.triangles));
}

#[test]
fn sides_that_share_no_vertex_with_others_are_still_a_cube() {
    // Every side is slightly detached from the others.
    let mut apart = cube([0.0; 3], 8.0);
    for triangle in &mut apart {
        let normal = (0..3)
            .find(|i| triangle.iter().all(|v| v[*i] == triangle[0][*i]))
            .unwrap();
        triangle
            .iter_mut()
            .for_each(|v| v[normal] += (v[normal] - 4.0) * 1e-3);
    }
    let kept = repaired(&apart);
    assert_eq!((kept.patches, kept.turned), (6, 0));
    let turned = repaired(&inside_out(&apart));
    assert_eq!((turned.turned, turned.triangles), (12, kept.triangles));
}

#[test]
fn single_triangles_and_strips_with_one_side() {
    let mut random = Random::new(8);
    let single: Vec<_> = (0..1000)
        .map(|_| [0; 3].map(|_| [0; 3].map(|_| random.within(-1.0, 1.0) as f32)))
        .collect();
    let found = repaired(&single);
    assert_eq!(
        (found.patches, found.turned, found.boundary.len()),
        (1000, 0, 1000)
    );

    for quads in [7, 30] {
        let strip = moebius(quads);
        let right = repaired(&strip);
        assert_eq!((right.patches, right.not_orientable), (1, 1));
        // One seam across the strip, or its two ends as a loop with the rim.
        assert!(!right.boundary.is_empty());
        for _ in 0..5 {
            let other = repaired(&random.shuffled(&strip));
            assert_eq!(other, right);
        }
    }
}

#[test]
fn triangles_without_area_and_duplicates_are_dropped() {
    let cube = cube([0.0; 3], 4.0);
    let line = [[0.0; 3], [1.0; 3], [2.0; 3]];
    let point = [[-0.0; 3], [0.0; 3], [3.0; 3]];
    let broken = [&cube[..], &[line, point, cube[5], over(&cube[5]), cube[3]]].concat();
    let found = repaired(&broken);
    assert_eq!(
        (found.degenerate, found.duplicates, found.turned),
        (2, 3, 0)
    );
    assert_eq!(found.triangles, repaired(&cube).triangles);
    let mut coordinates = found.triangles.iter().flatten().flatten();
    assert!(coordinates.all(|c| c.to_bits() != (-0.0_f32).to_bits()));
    let nothing = repaired(&[line]);
    assert!(nothing.triangles.is_empty() && nothing.boundary.is_empty());
    assert_eq!(nothing.patches, 0);
}

#[test]
fn no_order_changes_the_list() {
    let mut random = Random::new(9);
    let sound = sound().into_iter();
    let tossed = sound.map(|(_, triangles)| tossed(&triangles, &mut random));
    let mut meshes: Vec<_> = tossed.collect();
    meshes.extend([30, 300, 3000].map(|count| soup(count, 6, &mut random)));
    for triangles in meshes {
        let first = repaired(&triangles);
        for threads in 1..3 {
            let other = random.shuffled(&triangles);
            let other = voxelize::par::with_threads(threads, || repaired(&other)).unwrap();
            assert!(other == first);
        }
    }
}
