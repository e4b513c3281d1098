//! Correctness of the additional numbers of cells: cells compared with triangles cut in rational numbers,
//! sums over a mesh, and a digest independent of the plan.

use voxelize::geom::Triangle;
use voxelize::grid::{CellSource, Digest, Hash, Quantity};
use voxelize::job::Extras;
use voxelize::run::Plan;
use voxelize::{Fit, Lattice, Level, Mesh, Rational, Rule, Voxelizer};

use super::oracle::{Exact, ExactCell};
use super::{SUM, closed, field, is_oriented, made, overlaps, random_case};
use crate::support::meshes::{cross, each_cell, fitted, mesh_of, minus};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out, without};
use crate::support::suite::Counts;

fn with_all(voxelizer: Voxelizer) -> Voxelizer {
    voxelizer.extras(Extras {
        quantities: Quantity::ALL.into_iter().collect(),
        ..Extras::default()
    })
}

/// Digest of the shares, and digests of all arrays.
type Digests = (Digest, Vec<Hash>);

/// Returns all arrays of a mesh in the order of [`Quantity::ALL`], and the digests.
fn arrays(
    voxelizer: Voxelizer,
    mesh: &Mesh,
    lattice: &Lattice,
    plan: Plan,
) -> (Vec<Vec<f32>>, Digests) {
    let mut slabs = with_all(voxelizer)
        .slabs(mesh, lattice, plan)
        .expect("slabs");
    let mut all = vec![vec![]; 4];
    while slabs.advance().expect("a slab") {
        all.iter_mut()
            .zip(slabs.arrays())
            .for_each(|(all, array)| all.extend(array.numbers()));
    }
    let of_arrays = slabs.digests_of_arrays().into_iter();
    let of_arrays = of_arrays.map(|(_, digest)| digest).collect();
    (all, (slabs.digest(), of_arrays))
}

pub(super) fn at_once(mesh: &Mesh, lattice: &Lattice) -> Vec<Vec<f32>> {
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
        if !is_oriented(&mesh) {
            continue;
        }
        meshes += 1;
        let exact = Exact::new(&mesh, &lattice);
        let found = at_once(&mesh, &lattice);
        let sides = faces_of(&lattice);
        let largest = sides.into_iter().fold(0.0, f64::max);
        let [nx, ny, nz] = lattice.dims();
        for [_, j, k] in each_cell([1, ny, nz]) {
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
        let plain = made(&mesh, &lattice);
        // For overlapping parts, shares and faces have no sign and are at most 1.
        let overlaps = plain.stats.fraction.odd.cells > 0;
        let [area, normal, faces, _] =
            <[Vec<f32>; 4]>::try_from(at_once(&mesh, &lattice)).expect("four");
        let sum =
            |numbers: &mut dyn Iterator<Item = &f32>| numbers.map(|n| f64::from(*n)).sum::<f64>();
        let length = |t: &Triangle| {
            let [p, q, r] = t.map(|v| v.map(f64::from));
            let normal = cross(minus(q, p), minus(r, p));
            normal.iter().map(|c| c * c).sum::<f64>().sqrt() / 2.0
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

/// Shares and all arrays are equal at every level, with several threads, in slabs, and in other orders of the
/// triangles: of the fixtures, and of overlapping balls.
pub(super) fn one_digest() -> Counts {
    let [mut meshes, mut ways, mut united] = [0; 3];
    let mut random = Random::new(4);
    let balls = [(6, 9), (24, 13), (60, 6)].map(|(steps, cells)| {
        let mesh = mesh_of(overlaps::balls(steps));
        let lattice = fitted(Fit::longest(cells).pad(1), &mesh);
        (format!("balls of {steps}"), mesh, lattice)
    });
    for (name, mesh, lattice) in closed().chain(balls) {
        let voxelizer = Voxelizer::new(Rule::fraction());
        let mut wanted = None;
        let mut plains = vec![];
        let mut check = |voxelizer: Voxelizer, mesh: &Mesh, plan: Plan| {
            let digests = arrays(voxelizer, mesh, &lattice, plan).1;
            let wanted = wanted.get_or_insert_with(|| digests.clone());
            assert_eq!(digests, *wanted, "{name} {plan:?}");
            ways += 1;
        };
        let levels = Level::available().into_iter().map(|level| (level, 1));
        for (level, threads) in levels.chain([(Level::best(), 2), (Level::best(), 5)]) {
            let voxelizer = voxelizer.threads(threads).level(level);
            check(voxelizer, &mesh, Plan::Dense);
            // The shares equal the shares without arrays.
            let plain = voxelizer.run(&mesh, &lattice).expect("cells");
            plains.push(plain.voxels.digest());
        }
        for _ in 0..3 {
            let shuffled = mesh_of(random.shuffled(mesh.triangles()));
            check(voxelizer, &shuffled, Plan::Dense);
        }
        for height in [1, 3, 4, 7, 8] {
            check(voxelizer.threads(2), &mesh, Plan::Slabs(height));
        }
        let with = with_all(voxelizer).run(&mesh, &lattice).expect("cells");
        plains.push(with.voxels.digest());
        let wanted = wanted.expect("some ways").0;
        assert!(plains.iter().all(|digest| *digest == wanted), "{name}");
        united += with.stats.fraction.united.cells;
        meshes += 1;
    }
    vec![("meshes", meshes), ("ways", ways), ("united", united)]
}

/// The rule area has the additional areas of fraction, except for areas on walls and of open meshes.
pub(super) fn area_alone() -> Counts {
    let [mut meshes, mut open, mut compared] = [0; 3];
    let all = |mesh: &Mesh, lattice: &Lattice| {
        let made = voxelize::voxelize(mesh, lattice, Rule::Area).expect("cells");
        made.field().expect("a field").values().to_vec()
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
        let turned = mesh_of(inside_out(mesh.triangles().to_vec()));
        assert!(areas == all(&turned, &lattice), "{name}");
        // Areas of half of the triangles, and of the other half.
        let halves = [0, 1].map(|half| mesh_of(without(&mesh, |n| n % 2 == half)));
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
                let mesh = mesh_of(between([0.0; 3], side));
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
            let mesh = mesh_of(triangles);
            let lattice = super::unit([3; 3]);
            let faces = &at_once(&mesh, &lattice)[2];
            let cell = [1, 3, 9][axis];
            assert_eq!(faces[3 * cell + axis], wanted, "{name} along {axis}");
            rows += 1;
        }
    }
    vec![("rows", rows)]
}
