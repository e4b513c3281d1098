//! Correctness of the additional numbers of cells: cells compared with triangles cut in rational numbers,
//! sums over a mesh, and a digest independent of the plan.

use voxelize::geom::Triangle;
use voxelize::grid::{CellSource, Hash, Quantities, Quantity};
use voxelize::job::Extras;
use voxelize::run::Plan;
use voxelize::{Lattice, Level, Mesh, Rational, Rule, Voxelizer};

use super::oracle::{Exact, ExactCell};
use super::{SUM, closed, field, random_case};
use crate::support::random::Random;
use crate::support::suite::Counts;

/// Returns all arrays of a mesh in the order of [`Quantity::ALL`], and their digests.
fn arrays(
    voxelizer: Voxelizer,
    mesh: &Mesh,
    lattice: &Lattice,
    plan: Plan,
) -> (Vec<Vec<f32>>, Vec<Hash>) {
    let quantities: Quantities = Quantity::ALL.into_iter().collect();
    let voxelizer = voxelizer.extras(Extras {
        quantities,
        ..Extras::default()
    });
    let mut slabs = voxelizer.slabs(mesh, lattice, plan).expect("slabs");
    let mut all = vec![vec![]; 4];
    while slabs.advance().expect("a slab") {
        all.iter_mut()
            .zip(slabs.arrays())
            .for_each(|(all, array)| all.extend(array.numbers()));
    }
    (
        all,
        slabs
            .digests_of_arrays()
            .into_iter()
            .map(|(_, digest)| digest)
            .collect(),
    )
}

fn at_once(mesh: &Mesh, lattice: &Lattice) -> Vec<Vec<f32>> {
    arrays(Voxelizer::new(Rule::fraction()), mesh, lattice, Plan::Dense).0
}

/// Reports whether a number is the float nearest to an exact one, or adjacent to it, or within an error of
/// `most`.
fn is_near(found: f32, exact: f64, most: f64) -> bool {
    let nearest = exact as f32;
    (nearest.next_down()..=nearest.next_up()).contains(&found)
        || (f64::from(found) - exact).abs() <= most
}

fn faces_of(lattice: &Lattice) -> [f64; 3] {
    let [x, y, z] = lattice.spacing().each_ref().map(Rational::to_f64);
    [y * z, z * x, x * y]
}

pub(super) fn cells_are_exact() -> Counts {
    let mut random = Random::new(57);
    let [mut meshes, mut cells, mut met, mut centroids] = [0; 4];
    for n in 0..240 {
        let (mesh, lattice) = random_case(&mut random, n);
        let is_oriented = !mesh.triangles().is_empty()
            && mesh.volume() > 0.0
            && mesh.closedness() == voxelize::mesh::closed::Closedness::Oriented;
        if !is_oriented {
            continue;
        }
        meshes += 1;
        let exact = Exact::new(&mesh, &lattice);
        let found = at_once(&mesh, &lattice);
        let sides = faces_of(&lattice);
        let largest = sides.into_iter().fold(0.0, f64::max);
        let [nx, ny, nz] = lattice.dims();
        for (j, k) in (0..nz).flat_map(|k| (0..ny).map(move |j| (j, k))) {
            for (i, mean) in exact.row([j, k], nx).iter().enumerate() {
                let cell = (k * ny + j) * nx + i;
                let ExactCell {
                    pieces,
                    faces,
                    moments,
                } = exact.cell([i, j, k]);
                let vectors: Vec<_> = pieces
                    .iter()
                    .map(|n| [0, 1, 2].map(|a| n[a].to_f64() * sides[a]))
                    .collect();
                let area = vectors
                    .iter()
                    .map(|[x, y, z]| (x * x + y * y + z * z).sqrt())
                    .sum::<f64>();
                let at = format!("case {n}, cell {:?}", [i, j, k]);
                assert!(
                    is_near(found[0][cell], area, SUM * largest),
                    "{at}: {} for {area}",
                    found[0][cell]
                );
                met += u64::from(area > 0.0);
                for a in 0..3 {
                    let normal = pieces
                        .iter()
                        .fold(Rational::ZERO, |sum, n| sum + n[a].clone());
                    let normal = normal.to_f64() * sides[a];
                    let number = found[1][3 * cell + a];
                    assert!(
                        is_near(number, normal, SUM * sides[a]),
                        "{at}: normal {number} for {normal}"
                    );
                    let number = found[2][3 * cell + a];
                    let face = &faces[a];
                    if *face >= Rational::ZERO && *face <= Rational::ONE {
                        assert!(
                            is_near(number, face.to_f64(), SUM),
                            "{at}: face {a} {number} for {face:?}"
                        );
                    }
                    let number = found[3][3 * cell + a];
                    if mean.is_zero() {
                        assert!(number.is_nan() || f64::from(number).abs() <= 0.5, "{at}");
                    } else if *mean > Rational::ZERO && *mean <= Rational::ONE {
                        let place = (&moments[a] / mean).to_f64() - 0.5;
                        // Rounding of the moment of a small inside.
                        let most = SUM / mean.to_f64();
                        let is_lost = number.is_nan() && most > 0.01;
                        assert!(
                            is_lost || is_near(number, place, most),
                            "{at}: centroid {number} for {place}"
                        );
                        centroids += 1;
                    }
                }
                cells += 1;
            }
        }
    }
    vec![
        ("meshes", meshes),
        ("cells", cells),
        ("with mesh", met),
        ("centroids", centroids),
    ]
}

pub(super) fn sums() -> Counts {
    let [mut meshes, mut cells, mut walls] = [0; 3];
    for (name, mesh, lattice) in closed() {
        let plain = Voxelizer::new(Rule::fraction())
            .run(&mesh, &lattice)
            .expect("cells");
        // For overlapping parts, shares and faces have no sign and are at most 1.
        let overlaps = plain.stats.fraction.odd.cells > 0;
        let [area, normal, faces, _] =
            <[Vec<f32>; 4]>::try_from(at_once(&mesh, &lattice)).expect("four");
        let sum =
            |numbers: &mut dyn Iterator<Item = &f32>| numbers.map(|n| f64::from(*n)).sum::<f64>();
        let length = |t: &Triangle| {
            let [p, q, r] = t.map(|v| v.map(f64::from));
            let [a, b] = [q, r].map(|v| [0, 1, 2].map(|n| v[n] - p[n]));
            let cross = [0, 1, 2]
                .map(|n| a[(n + 1) % 3] * b[(n + 2) % 3] - a[(n + 2) % 3] * b[(n + 1) % 3]);
            cross.iter().map(|c| c * c).sum::<f64>().sqrt() / 2.0
        };
        let wanted: f64 = mesh.triangles().iter().map(length).sum();
        // Every number is rounded to a float. The kernel's own test covers the sums before rounding.
        let found = sum(&mut area.iter());
        assert!(
            (found / wanted - 1.0).abs() < 1e-7,
            "{name}: {found} for {wanted}"
        );
        for axis in 0..3 {
            let all = sum(&mut normal.iter().skip(axis).step_by(3));
            assert!(all.abs() < 1e-7 * wanted, "{name}: {all}");
        }
        // The total flux out of a cell through faces and mesh is zero. The high face is the low face of the
        // next cell.
        let dims = lattice.dims();
        let sides = faces_of(&lattice);
        let index = |[i, j, k]: [usize; 3]| (k * dims[1] + j) * dims[0] + i;
        let shares = field(&mesh, &lattice);
        for n in 0..index(dims.map(|n| n - 1)) {
            let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
            for axis in 0..3 {
                let mut next = cell;
                next[axis] += 1;
                if next[axis] == dims[axis] {
                    continue;
                }
                let low = f64::from(faces[3 * n + axis]);
                let high = f64::from(faces[3 * index(next) + axis]);
                let flow = high - low + f64::from(normal[3 * n + axis]) / sides[axis];
                let is_whole = [n, index(next)]
                    .iter()
                    .all(|n| [0.0, 1.0].contains(&shares.values()[*n]));
                assert!(
                    flow.abs() < 1e-6 || overlaps,
                    "{name} {cell:?} {axis}: {flow}"
                );
                walls += u64::from(!is_whole);
            }
            cells += 1;
        }
        meshes += 1;
    }
    vec![
        ("meshes", meshes),
        ("cells", cells),
        ("walls of cut cells", walls),
    ]
}

pub(super) fn one_digest() -> Counts {
    let [mut meshes, mut ways] = [0; 2];
    let mut random = Random::new(4);
    for (name, mesh, lattice) in closed() {
        let make = |voxelizer: Voxelizer, mesh: &Mesh, plan: Plan| {
            arrays(voxelizer, mesh, &lattice, plan).1
        };
        let voxelizer = Voxelizer::new(Rule::fraction());
        let wanted = make(voxelizer, &mesh, Plan::Dense);
        for threads in [1, 3] {
            for level in Level::available() {
                assert_eq!(
                    make(voxelizer.threads(threads).level(level), &mesh, Plan::Dense),
                    wanted,
                    "{name}"
                );
                ways += 1;
            }
        }
        let turned = random
            .shuffled(mesh.triangles())
            .into_iter()
            .map(|[p, q, r]| [q, r, p]);
        let turned = Mesh::from_triangles(turned.collect::<Vec<_>>()).expect("finite");
        assert_eq!(
            make(voxelizer, &turned, Plan::Dense),
            wanted,
            "{name} in another order"
        );
        for height in [1, 3, 4, 7] {
            assert_eq!(
                make(voxelizer.threads(2), &mesh, Plan::Slabs(height)),
                wanted,
                "{name} in slabs"
            );
            ways += 1;
        }
        // The shares equal the shares without arrays.
        let quantities: Quantities = Quantity::ALL.into_iter().collect();
        let with = voxelizer.extras(Extras {
            quantities,
            ..Extras::default()
        });
        let made = with.run(&mesh, &lattice).expect("cells");
        assert_eq!(
            *made.voxels.field().expect("a field"),
            field(&mesh, &lattice),
            "{name}"
        );
        meshes += 1;
    }
    vec![("meshes", meshes), ("ways", ways)]
}

/// The rule area has the additional areas of fraction, except for areas on walls and of open meshes.
pub(super) fn area_alone() -> Counts {
    let [mut meshes, mut open, mut compared] = [0; 3];
    let all = |mesh: &Mesh, lattice: &Lattice| {
        let made = Voxelizer::new(Rule::Area)
            .run(mesh, lattice)
            .expect("cells");
        made.voxels.field().expect("a field").values().to_vec()
    };
    for (name, mesh, lattice) in closed() {
        let areas = all(&mesh, &lattice);
        let is_flat = |t: &Triangle| (0..3).any(|a| t[0][a] == t[1][a] && t[1][a] == t[2][a]);
        let beside = at_once(&mesh, &lattice).swap_remove(0);
        let sum = |areas: &[f32]| areas.iter().map(|area| f64::from(*area)).sum::<f64>();
        assert!((sum(&areas) / sum(&beside) - 1.0).abs() < 1e-7, "{name}");
        if !mesh.triangles().iter().any(is_flat) {
            assert!(
                areas
                    .iter()
                    .zip(&beside)
                    .all(|(a, b)| (a - b).abs() <= 2e-7 * b + 1e-9),
                "{name}"
            );
            compared += areas.len() as u64;
        }
        let other_way = mesh
            .triangles()
            .iter()
            .map(|[p, q, r]| [*q, *p, *r])
            .collect::<Vec<_>>();
        assert!(
            areas == all(&Mesh::from_triangles(other_way).expect("finite"), &lattice),
            "{name}"
        );
        // Areas of half of the triangles, and of the other half.
        let is_first = |n: usize| n.is_multiple_of(2);
        let halves = [true, false].map(|first| {
            let some = mesh
                .triangles()
                .iter()
                .enumerate()
                .filter(|(n, _)| is_first(*n) == first);
            Mesh::from_triangles(some.map(|(_, triangle)| *triangle).collect::<Vec<_>>())
                .expect("finite")
        });
        let [one, other] = halves.each_ref().map(|half| all(half, &lattice));
        for ((area, one), other) in areas.iter().zip(one).zip(other) {
            assert!(
                (area - (one + other)).abs() <= 2e-7 * area + 1e-9,
                "{name}: {area}, {one} and {other}"
            );
        }
        open += halves
            .iter()
            .filter(|half| !half.edge_counts().is_closed())
            .count() as u64;
        meshes += 1;
    }
    vec![
        ("meshes", meshes),
        ("open halves", open),
        ("cells beside shares", compared),
    ]
}

/// Boxes with faces on walls whose index is not exact in doubles: the exact cells, without snapping.
pub(super) fn on_walls() -> Counts {
    let [mut faces_on_walls, mut boxes] = [0; 2];
    // Spacing along an axis, its origin, and the sides of the box.
    let spacings = [
        (3, 10, 3, 10),
        (1, 10, 1, 10),
        (1, 3, -1, 3),
        (7, 10, 7, 10),
        (3, 7, 2, 7),
    ];
    for (n, d, o, p) in spacings {
        for axis in 0..3 {
            for high in 1..=12 {
                let mut side = [1.0_f32; 3];
                side[axis] = high as f32;
                let triangles = crate::support::solids::between([0.0; 3], side);
                let mesh = Mesh::from_triangles(triangles).expect("finite");
                let mut origin = [const { Rational::ZERO }; 3];
                let mut spacing = [const { Rational::ONE }; 3];
                (origin[axis], spacing[axis]) = (Rational::new(o, p), Rational::new(n, d));
                let mut dims = [1; 3];
                dims[axis] = 45;
                let lattice = super::lattice(origin, spacing, dims, voxelize::Snap::None);
                let [_, normal, faces, _] =
                    <[Vec<f32>; 4]>::try_from(at_once(&mesh, &lattice)).expect("four");
                let map = lattice.axis(axis);
                let [from, to] = [0.0, side[axis]].map(|v| map.index(v));
                for cell in 0..dims[axis] {
                    let [low, end] = [cell, cell + 1].map(|n| Rational::from(n as i64));
                    // The low face of the box belongs to the cell above it, the high face to the cell below.
                    let has_low = from >= low && from < end;
                    let has_high = to > low && to <= end;
                    let wanted = f32::from(u8::from(has_high)) - f32::from(u8::from(has_low));
                    let number = normal[3 * cell + axis];
                    assert!(
                        (number - wanted).abs() < 1e-6,
                        "{n}/{d} along {axis} to {high}, {cell}: {number}"
                    );
                    let is_open = f32::from(u8::from(low > from && low < to));
                    let number = faces[3 * cell + axis];
                    assert!(
                        (number - is_open).abs() < 1e-6,
                        "{n}/{d} along {axis} to {high}, {cell}: {number}"
                    );
                    faces_on_walls += u64::from(has_high && to == end || has_low && from == low);
                }
                boxes += 1;
            }
        }
    }
    vec![("boxes", boxes), ("faces on walls", faces_on_walls)]
}

/// Two boxes that touch at a wall, the second inside the first, and a box across the wall.
pub(super) fn touching() -> Counts {
    use crate::support::solids::between;
    let mut rows = 0;
    let along = |axis: usize, low: f32, high: f32, side: f32| {
        let mut corners = [[0.0; 3], [side; 3]];
        (corners[0][axis], corners[1][axis]) = (low, high);
        between(corners[0], corners[1])
    };
    for axis in 0..3 {
        let cases: [(&str, Vec<Triangle>, f32); 4] = [
            ("across the wall", along(axis, 0.0, 2.0, 1.0), 1.0),
            (
                "two that touch",
                [along(axis, 0.0, 1.0, 1.0), along(axis, 1.0, 2.0, 1.0)].concat(),
                0.0,
            ),
            (
                "half of the wall",
                [along(axis, 0.0, 1.0, 1.0), along(axis, 1.0, 2.0, 0.5)].concat(),
                0.0,
            ),
            (
                "one within the other",
                [along(axis, 0.0, 2.0, 1.0), along(axis, 1.0, 2.0, 1.0)].concat(),
                1.0,
            ),
        ];
        for (name, triangles, wanted) in cases {
            let mesh = Mesh::from_triangles(triangles).expect("finite");
            let lattice = super::unit([3; 3]);
            let faces = &at_once(&mesh, &lattice)[2];
            let cell = [1, 3, 9][axis];
            assert_eq!(faces[3 * cell + axis], wanted, "{name} along {axis}");
            rows += 1;
        }
    }
    vec![("rows", rows)]
}
