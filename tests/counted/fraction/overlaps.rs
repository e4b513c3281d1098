//! Overlapping parts of one mesh: the shares of their union are compared with products and with solids cut in
//! rational numbers.

use voxelize::geom::Triangle;
use voxelize::grid::Field;
use voxelize::{Lattice, Rational, Snap};

use super::oracle::Point;
use super::{lattice, octahedron, unit};
use crate::separation::half_open::clipped;
use crate::support::meshes::{each_cell, mapped, mesh_of};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out};
use crate::support::suite::Counts;

/// Error bound of the share of a union, in addition to the rounding to a float: 2^-30.
const MOST: f64 = 1.0 / (1_u64 << 30) as f64;

fn made(triangles: Vec<Triangle>, lattice: &Lattice) -> (Field, u64) {
    let mesh = mesh_of(triangles);
    let made = super::made(&mesh, lattice);
    let united = made.stats.fraction.united;
    assert_eq!(united.unknown, 0);
    assert!(united.error < MOST, "{united:?}");
    assert_eq!(united.cells > 0, united.first.is_some());
    (made.voxels.field().expect("a field").clone(), united.cells)
}

/// Boxes with corners at p/q, in all positions: the union of two is their sum minus their intersection.
pub fn boxes() -> Counts {
    let mut random = Random::new(41);
    let dims = [4, 5, 3];
    let lattice = unit(dims);
    let [mut cells, mut united, mut unseen, mut pairs] = [0; 4];
    let mut worst = 0.0_f64;
    for n in 0..2_000 {
        let parts = random.of(&[2, 3, 4, 7, 8, 10]);
        let corner =
            |random: &mut Random| random.whole(-3 * parts, 3 * parts) as f32 / parts as f32;
        let boxes = [0; 2].map(|_| {
            let low = [0; 3].map(|_| corner(&mut random));
            let size = [0; 3].map(|_| random.whole(parts, 5 * parts) as f32 / parts as f32);
            [low, [0, 1, 2].map(|a| low[a] + size[a])]
        });
        let solids = boxes.map(|[low, high]| between(low, high));
        // With rounded corners.
        let boxes = solids.each_ref().map(|solid| {
            let corners = solid.as_flattened();
            let bound = |of: fn(f32, f32) -> f32| {
                corners
                    .iter()
                    .copied()
                    .reduce(|p, q| [0, 1, 2].map(|a| of(p[a], q[a])))
            };
            [bound(f32::min), bound(f32::max)].map(|corner| corner.expect("corners"))
        });
        let mut triangles = solids.concat();
        if n % 5 == 0 {
            // An inverted box inside the other is a hole; outside of it, it also counts.
            triangles = [solids[0].clone(), inside_out(solids[1].clone())].concat();
        }
        let mesh = mesh_of(triangles.clone());
        if mesh.volume() < 0.0 {
            continue;
        }
        let (field, some) = made(triangles, &lattice);
        united += some;
        pairs += 1;
        for (cell, share) in each_cell(dims).zip(field.values()) {
            let volume = |[low, high]: [[f32; 3]; 2]| -> f64 {
                let side = |a: usize| {
                    let [low, high] =
                        [low, high].map(|v| (f64::from(v[a]) - cell[a] as f64).clamp(0.0, 1.0));
                    (high - low).max(0.0)
                };
                side(0) * side(1) * side(2)
            };
            let [[a, b], [c, d]] = boxes;
            let common = volume([
                [0, 1, 2].map(|n| a[n].max(c[n])),
                [0, 1, 2].map(|n| b[n].min(d[n])),
            ]);
            let [one, other] = [volume([a, b]), volume([c, d])];
            let wanted = one + other - if n % 5 == 0 { 2.0 } else { 1.0 } * common;
            let mean = one + if n % 5 == 0 { -other } else { other };
            unseen += u64::from((0.0..=1.0).contains(&mean) && (mean - wanted).abs() > 1e-6);
            let off = (f64::from(*share) - wanted).abs();
            worst = worst.max(off - 6e-8 * wanted);
            assert!(
                off <= 6e-8 * wanted + MOST,
                "{n} {boxes:?} {cell:?}: {share} for {wanted}"
            );
            cells += 1;
        }
    }
    println!("largest error beside rounding {worst:e}");
    vec![
        ("pairs", pairs),
        ("cells", cells),
        ("united", united),
        ("whose means say nothing of it", unseen),
    ]
}

/// Half-spaces of a convex solid, given by its triangles.
struct Convex {
    triangles: Vec<[Point; 3]>,
}

impl Convex {
    fn new(triangles: &[Triangle]) -> Self {
        let exact = |v: [f32; 3]| v.map(|c| Rational::from_f32(c).expect("finite"));
        Self {
            triangles: triangles.iter().map(|t| t.map(exact)).collect(),
        }
    }

    /// Returns the part of a polygon within the solid.
    fn clip(&self, polygon: Vec<Point>) -> Vec<Point> {
        self.triangles
            .iter()
            .fold(polygon, |part, triangle| below(&part, triangle))
    }
}

/// Returns the part of a polygon on the inner side of the plane of a triangle.
fn below(part: &[Point], [a, b, c]: &[Point; 3]) -> Vec<Point> {
    let minus = |p: &Point, q: &Point| [0, 1, 2].map(|n| &p[n] - &q[n]);
    let [d, e] = [minus(b, a), minus(c, a)];
    let normal = [0, 1, 2].map(|n| {
        let i = (n + 1) % 3;
        let j = (n + 2) % 3;
        &(&d[i] * &e[j]) - &(&d[j] * &e[i])
    });
    let height =
        |p: &Point| (0..3).fold(Rational::ZERO, |sum, n| sum + &normal[n] * &(&p[n] - &a[n]));
    clipped(part, |p| Rational::ZERO - height(p))
}

/// Returns the volume of the intersection of convex solids without coplanar faces.
fn common(solids: &[&Convex]) -> Rational {
    let mut six = Rational::ZERO;
    for (n, solid) in solids.iter().enumerate() {
        for triangle in &solid.triangles {
            let others = solids.iter().enumerate().filter(|(other, _)| *other != n);
            let part = others.fold(triangle.to_vec(), |part, (_, other)| other.clip(part));
            for n in 2..part.len() {
                let [a, b, c] = [&part[0], &part[n - 1], &part[n]];
                let across = (0..3).fold(Rational::ZERO, |sum, n| {
                    let i = (n + 1) % 3;
                    let j = (n + 2) % 3;
                    sum + &a[n] * &(&(&b[i] * &c[j]) - &(&b[j] * &c[i]))
                });
                six = six + across;
            }
        }
    }
    six / Rational::from(6)
}

/// Octahedra in all positions, large and small ones, with needles and plates among them.
pub fn solids() -> Counts {
    let mut random = Random::new(42);
    let dims = [3, 2, 3];
    let lattice = unit(dims);
    let [mut cells, mut united, mut pairs] = [0; 3];
    let mut worst = 0.0_f64;
    for n in 0..150 {
        let mut solid = || {
            let thin = random.of(&[1.0, 1.0, 0.1, 1e-3]);
            let radii = [random.of(&[1.0, thin]), 1.0, thin]
                .map(|most| [0, 1].map(|_| most * random.within(0.3, 2.0)));
            let middle = dims.map(|n| random.within(0.0, n as f64));
            octahedron(&mut random, middle, radii, 0.0)
        };
        // Equal corners would create coplanar faces.
        let solids = [solid(), solid()];
        let mut triangles = solids.concat();
        if n % 3 == 0 {
            // A duplicate: the winding number of its points is two, or three where they overlap.
            triangles.extend(solids[0].clone());
        }
        let (field, some) = made(triangles, &lattice);
        united += some;
        pairs += 1;
        let [one, other] = [&solids[0], &solids[1]].map(|solid| Convex::new(solid));
        for (cell, share) in each_cell(dims).zip(field.values()) {
            let low = cell.map(|n| n as f32);
            let cube = Convex::new(&between(low, low.map(|c| c + 1.0)));
            let volumes = [
                vec![&one, &cube],
                vec![&other, &cube],
                vec![&one, &other, &cube],
            ];
            let [a, b, c] = volumes.map(|solids| common(&solids));
            let wanted = (a + b - c).to_f64();
            let off = (f64::from(*share) - wanted).abs();
            worst = worst.max(off - 6e-8 * wanted);
            assert!(
                off <= 6e-8 * wanted + MOST,
                "{n} {cell:?}: {share} for {wanted}: {solids:?}"
            );
            cells += 1;
        }
    }
    println!("largest error beside rounding {worst:e}");
    vec![("pairs", pairs), ("cells", cells), ("united", united)]
}

/// Returns overlapping balls with many triangles per cell, and a third one inside out.
pub(super) fn balls(steps: usize) -> Vec<Triangle> {
    let ball = super::sphere(steps);
    let moved = |by: [f32; 3], scale: f32| {
        let moved = mapped(&ball, |v| [0, 1, 2].map(|a| v[a] * scale + by[a]));
        moved.triangles().to_vec()
    };
    [
        moved([0.0; 3], 1.0),
        moved([0.9, 0.3, 0.2], 0.8),
        inside_out(moved([-0.5, 0.1, -0.3], 0.6)),
    ]
    .concat()
}

/// Parts near each other, in each other's holes and side by side. Nothing overlaps, and each share is the sum
/// of the shares of the parts.
pub fn apart() -> Counts {
    let [mut cells, mut shared] = [0; 2];
    let mut random = Random::new(44);
    for n in 0..200 {
        let low = [0; 3].map(|_| random.whole(0, 8) as f32 / 8.0);
        let outer = [low, low.map(|c| c + 4.0)];
        let hole = [low.map(|c| c + 0.25), low.map(|c| c + 3.75)];
        let core = [low.map(|c| c + 0.5), low.map(|c| c + 2.0)];
        let beside = [
            [low[0] + 2.125, low[1] + 0.5, low[2] + 0.5],
            low.map(|c| c + 3.5),
        ];
        let lattice = lattice(
            [const { Rational::ZERO }; 3],
            [const { Rational::ONE }; 3],
            [6; 3],
            [Snap::None, Snap::Float][n % 2],
        );
        let parts = [(outer, false), (hole, true), (core, false), (beside, false)].map(
            |([low, high], is_hole)| {
                let solid = between(low, high);
                if is_hole { inside_out(solid) } else { solid }
            },
        );
        let (field, united) = made(parts.concat(), &lattice);
        assert_eq!(united, 0);
        let alone =
            |[low, high]: [[f32; 3]; 2]| super::field(&mesh_of(between(low, high)), &lattice);
        let [outer, hole, core, beside] = [outer, hole, core, beside].map(alone);
        for (at, share) in field.values().iter().enumerate() {
            let [a, b, c, d] = [&outer, &hole, &core, &beside].map(|field| field.values()[at]);
            shared += u64::from(a > 0.0 && c > 0.0 && *share < 1.0);
            assert_eq!(*share, a - b + c + d, "{n} {at}");
            cells += 1;
        }
    }
    vec![("cells", cells), ("with several parts", shared)]
}

/// Returns a prism over a polygon, with the orientation of the polygon from above. The first triangles of a
/// fan are its faces.
fn prism(polygon: &[[f32; 2]], [low, high]: [f32; 2]) -> Vec<Triangle> {
    let at = |n: usize, z: f32| {
        [
            polygon[n % polygon.len()][0],
            polygon[n % polygon.len()][1],
            z,
        ]
    };
    let mut triangles = vec![];
    for n in 1..polygon.len() - 1 {
        triangles.push([at(0, high), at(n, high), at(n + 1, high)]);
        triangles.push([at(0, low), at(n + 1, low), at(n, low)]);
    }
    for n in 0..polygon.len() {
        triangles.push([at(n, low), at(n + 1, low), at(n + 1, high)]);
        triangles.push([at(n, low), at(n + 1, high), at(n, high)]);
    }
    triangles
}

/// Returns a mesh with permuted axes, some of them mirrored. Triangles are flipped where that reverses the
/// orientation.
fn moved_axes(triangles: &[Triangle], axes: [usize; 3], mirrored: usize) -> Vec<Triangle> {
    let sign = |axis: usize| if mirrored >> axis & 1 == 1 { -1.0 } else { 1.0 };
    let is_odd = axes == [1, 0, 2] || axes == [0, 2, 1] || axes == [2, 1, 0];
    let turns = is_odd != (mirrored.count_ones() % 2 == 1);
    let moved = triangles
        .iter()
        .map(|t| t.map(|v| [0, 1, 2].map(|a| sign(a) * v[axes[a]])));
    if turns {
        inside_out(moved.collect::<Vec<_>>())
    } else {
        moved.collect()
    }
}

const AXES: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [1, 0, 2],
    [0, 2, 1],
    [2, 1, 0],
];

/// Lobes of both orientations next to each other along every axis. No line along x meets two of them.
pub fn lobes() -> Counts {
    let [mut cells, mut meshes] = [0; 2];
    // Polygon, and its share of the cell from 2 to 6 along each axis.
    let bow_tie = vec![[0.0, 0.0], [8.0, 0.0], [2.0, 6.0], [6.0, 6.0]];
    let thin = vec![[0.0, 0.0], [8.0, 0.0], [3.875, 4.125], [4.125, 4.125]];
    let corners = [
        [2.0, 2.0],
        [4.0, 2.0],
        [4.0, 4.0],
        [6.0, 4.0],
        [6.0, 6.0],
        [4.0, 6.0],
        [4.0, 4.0],
        [2.0, 4.0],
    ];
    let turned = [
        [2.0, 2.0],
        [4.0, 2.0],
        [4.0, 6.0],
        [6.0, 6.0],
        [6.0, 4.0],
        [2.0, 4.0],
    ];
    let cases = [
        ("bow tie", bow_tie, 0.5),
        ("thin bow tie", thin, (4.0 + 0.015_625) / 16.0),
        ("squares with a corner in common", corners.to_vec(), 0.5),
        ("squares wound in both ways", turned.to_vec(), 0.5),
    ];
    for (name, polygon, share) in cases {
        for heights in [[0.0_f32, 8.0], [0.0, 4.0], [3.0, 5.0]] {
            let height = (heights[1].min(6.0) - heights[0].max(2.0)) / 4.0;
            for (axes, mirrored) in AXES
                .into_iter()
                .flat_map(|axes| (0..8).map(move |n| (axes, n)))
            {
                let mut triangles = moved_axes(&prism(&polygon, heights), axes, mirrored);
                let origin = [0, 1, 2].map(|a| if mirrored >> a & 1 == 1 { -6 } else { 2 });
                let lattice = lattice(
                    origin.map(Rational::from),
                    [4; 3].map(Rational::from),
                    [1; 3],
                    Snap::None,
                );
                if mesh_of(triangles.clone()).volume() < 0.0 {
                    triangles = inside_out(triangles);
                }
                let (field, _) = made(triangles, &lattice);
                let wanted = share * f64::from(height);
                let found = f64::from(field.values()[0]);
                assert!(
                    (found - wanted).abs() < 1e-7,
                    "{name} {heights:?} {axes:?} {mirrored}: {found}"
                );
                cells += 1;
            }
            meshes += 1;
        }
    }
    vec![("meshes", meshes), ("cells", cells)]
}

/// Inverted parts have a share in a cell however small it is.
pub fn small_inverted() -> Counts {
    let mut cells = 0;
    let large = between([4.0; 3], [6.0; 3]);
    for side in [0.25_f32, 1e-2, 1e-3, 2e-4] {
        let small = between([0.5; 3], [0.5 + side; 3]);
        let bound = small
            .as_flattened()
            .iter()
            .fold([0.0_f32; 3], |most, v| [0, 1, 2].map(|a| most[a].max(v[a])));
        let exact: f64 = bound.map(|c| f64::from(c) - 0.5).iter().product();
        for solid in [small.clone(), inside_out(small)] {
            let (field, _) = made([large.clone(), solid].concat(), &unit([6; 3]));
            let found = f64::from(field.get([0; 3]));
            assert!(
                (found - exact).abs() < 1e-7 * exact + super::SUM,
                "{side}: {found} for {exact}"
            );
            assert!(found > 0.0, "{side}");
            cells += 1;
        }
    }
    vec![("cells", cells)]
}
