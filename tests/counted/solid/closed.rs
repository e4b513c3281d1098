//! Closed meshes with many ties.

use voxelize::geom::{Point, Triangle};
use voxelize::{Fit, Rational, Size, Snap};

use super::boxes;
use super::check::{Case, Chain};
use crate::separation::shapes::{self, Shape};
use crate::support::meshes::{self, fraction};
use crate::support::random::Random;

fn spacing(size: &str) -> Size {
    Size::Spacing([0; 3].map(|_| fraction(size)))
}

/// Returns a closed mesh on a lattice fitted to it.
fn fitted(triangles: &[Triangle], fit: &Fit) -> Case {
    assert_ne!(Chain::of(triangles), Chain::Open);
    let lattice = fit
        .to(&voxelize::Bounds::of(triangles))
        .expect("a lattice that fits");
    Case {
        triangles: triangles.to_vec(),
        lattice,
    }
}

/// Menger sponges of level two in cells of several sizes: the faces between full and empty cubes, and the
/// full cubes themselves, whose common faces occur twice.
pub fn sponges() -> Vec<Case> {
    let is_full = |at: [i32; 3]| {
        let hole = |n: i32| (0..3).filter(|a| at[*a] / n % 3 == 1).count() > 1;
        at.iter().all(|c| (0..9).contains(c)) && !hole(1) && !hole(3)
    };
    let cells = (0..729)
        .map(|n| [n % 9, n / 9 % 9, n / 81])
        .filter(|at| is_full(*at));
    let mut skin = vec![];
    let mut cubes = vec![];
    for at in cells {
        let faces = boxes::triangles(at.map(|c| c as f32), at.map(|c| (c + 1) as f32));
        for (n, pair) in faces.chunks(2).enumerate() {
            let mut beside = at;
            beside[n / 2] += if n % 2 == 0 { -1 } else { 1 };
            if !is_full(beside) {
                skin.extend_from_slice(pair);
            }
        }
        cubes.extend(faces);
    }
    assert_eq!(cubes.len(), 400 * 12);
    let fits = |size| Fit::new(spacing(size)).origin([0; 3].map(Rational::from));
    let mut cases: Vec<_> = ["1/1", "1/2", "2/3", "3/4", "2/1"]
        .map(|size| fitted(&skin, &fits(size)))
        .into();
    cases.push(fitted(&skin, &Fit::longest(13).pad(1)));
    cases.extend(["1/1", "3/4"].map(|size| fitted(&cubes, &fits(size))));
    cases
}

/// Returns lattices of each size of a shape, with walls and with centres through its vertices.
fn lattices(shape: &Shape) -> Vec<Case> {
    let size = |halves: i64| Rational::new(halves, 2);
    let fit = |halves| Fit::new(Size::Spacing([0; 3].map(|_| size(halves)))).snap(Snap::None);
    let cases = shape.sizes.iter().flat_map(|&halves| {
        let half = [0; 3].map(|_| &size(halves) * &Rational::new(1, 2));
        [
            fit(halves).origin([0; 3].map(Rational::from)),
            fit(halves).origin(half).pad(1),
        ]
    });
    cases
        .map(|fit| fitted(shape.mesh.triangles(), &fit))
        .collect()
}

/// Spheres whose vertices are on walls or centres.
pub fn spheres_rounded() -> Vec<Case> {
    // The largest are meant for floods and slow here.
    let few = |shape: &Shape| shape.mesh.triangles().len() < 700;
    shapes::spheres_rounded()
        .iter()
        .filter(|shape| few(shape))
        .flat_map(lattices)
        .collect()
}

/// Cubes and parallelepipeds with vertices on integers.
pub fn images_of_cubes() -> Vec<Case> {
    shapes::cubes_and_their_images()
        .iter()
        .flat_map(lattices)
        .collect()
}

fn prism(random: &mut Random) -> Vec<Triangle> {
    let at = |random: &mut Random| [0; 3].map(|_| random.whole(0, 8) as f32 / 2.0);
    let base = [at(random), at(random), at(random)];
    let along = [0; 3].map(|_| random.whole(-4, 4) as f32 / 2.0);
    let top = base.map(|v| -> Point { std::array::from_fn(|a| v[a] + along[a]) });
    let [a, b, c] = base;
    let [d, e, f] = top;
    vec![
        [a, c, b],
        [d, e, f],
        [a, b, e],
        [a, e, d],
        [b, c, f],
        [b, f, e],
        [c, a, d],
        [c, d, f],
    ]
}

/// Triangular prisms with vertices on walls and centre planes, so that edges and faces pass through corners
/// and centres of cells.
pub fn prisms() -> Vec<Case> {
    let mut random = Random::new(11);
    let case = |n: usize| {
        let triangles = prism(&mut random);
        let sizes = ["1/1", "1/2", "3/4", "2/1"];
        let fit = Fit::new(spacing(sizes[n % 4])).origin([0; 3].map(Rational::from));
        fitted(
            &triangles,
            &if n.is_multiple_of(3) { fit.pad(1) } else { fit },
        )
    };
    (0..400).map(case).collect()
}

/// Closed fixtures.
pub fn fixtures() -> Vec<Case> {
    let mut cases = vec![];
    for (name, mesh) in meshes::fixtures() {
        if Chain::of(mesh.triangles()) == Chain::Open {
            continue;
        }
        let many = mesh.triangles().len() > 1000;
        for cells in if many { vec![24] } else { vec![7, 16, 24] } {
            cases.push((name.clone(), fitted(mesh.triangles(), &Fit::longest(cells))));
        }
    }
    let mut names: Vec<_> = cases.iter().map(|(name, _)| name).collect();
    names.dedup();
    assert!(names.len() >= 8, "few closed fixtures: {names:?}");
    cases.into_iter().map(|(_, case)| case).collect()
}
