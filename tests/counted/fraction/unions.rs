//! Random cut cells of overlapping parts, compared with clipping in integers, and the reported cases one by
//! one.
//!
//! Parts share corners, edges and faces, touch, are inside out, and have lobes of opposite orientation, along
//! every axis. `VOXELIZE_UNIONS=1000000` sets the number of cut cells.

use voxelize::geom::Triangle;
use voxelize::{Inside, Lattice, Rational, Rule, Snap, Voxelized, Voxelizer};

use super::clipping::{HalfSpace, SignedSolid, union_share};
use super::{has_finding, lattice, quantities, unit};
use crate::support::meshes::{cross, each_cell, mesh_of, minus};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out};
use crate::support::suite::Counts;

type Corner = [i64; 3];

/// Part of a mesh: triangles with integer corners, and the solids that they bound.
struct Part {
    triangles: Vec<[Corner; 3]>,
    solids: Vec<SignedSolid>,
}

impl Part {
    /// Turns the part inside out.
    fn inverted(mut self) -> Self {
        for [_, b, c] in &mut self.triangles {
            std::mem::swap(b, c);
        }
        for solid in &mut self.solids {
            solid.sign = -solid.sign;
        }
        self
    }
}

fn volume_of([a, b, c, d]: [Corner; 4]) -> i64 {
    let normal = cross(minus(c, a), minus(d, a));
    (0..3).map(|n| (b[n] - a[n]) * normal[n]).sum()
}

/// Returns a convex part from its triangles with outward orientation.
fn convex(triangles: Vec<[Corner; 3]>) -> Part {
    let planes = triangles.iter().map(|t| HalfSpace::of(*t)).collect();
    Part {
        triangles,
        solids: vec![SignedSolid { planes, sign: 1 }],
    }
}

/// Returns a tetrahedron. `None` if it is flat.
fn tetrahedron(mut corners: [Corner; 4]) -> Option<Part> {
    if volume_of(corners) == 0 {
        return None;
    }
    if volume_of(corners) < 0 {
        corners.swap(0, 1);
    }
    let [a, b, c, d] = corners;
    Some(convex(vec![[a, c, b], [a, b, d], [b, c, d], [c, a, d]]))
}

fn box_part(low: Corner, high: Corner) -> Option<Part> {
    if (0..3).any(|a| low[a] >= high[a]) {
        return None;
    }
    let corner = |n: usize| [0, 1, 2].map(|a| if n >> a & 1 == 1 { high[a] } else { low[a] });
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Some(convex(triangles.map(|t| t.map(corner)).collect()))
}

/// Returns a prism along an axis over a polygon of four corners whose first and third side cross: two lobes
/// of opposite orientation.
fn bowtie(axis: usize, corners: [[i64; 2]; 4], [low, high]: [i64; 2]) -> Option<Part> {
    let turn = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let [a, b, c, d] = corners;
    // Sides bc and da cross.
    let cross = turn(b, c, d).signum() * turn(b, c, a).signum() < 0
        && turn(d, a, b).signum() * turn(d, a, c).signum() < 0;
    if !cross || low >= high {
        return None;
    }
    let at = |p: [i64; 2], along: i64| {
        let mut corner = [along; 3];
        corner[(axis + 1) % 3] = p[0];
        corner[(axis + 2) % 3] = p[1];
        corner
    };
    let mut triangles = vec![];
    for [p, q] in [[a, b], [b, c], [c, d], [d, a]] {
        triangles.push([at(p, low), at(q, low), at(q, high)]);
        triangles.push([at(p, low), at(q, high), at(p, high)]);
    }
    for [p, q, r] in [[a, b, c], [a, c, d]] {
        triangles.push([at(p, high), at(q, high), at(r, high)]);
        triangles.push([at(p, low), at(r, low), at(q, low)]);
    }
    // A lobe is between one side and both crossing sides. Their inner side is the side of the opposite
    // corner.
    let lobe = |[p, q]: [[i64; 2]; 2], others: [([i64; 2], [i64; 2]); 2]| {
        let sign = if turn(p, q, others[0].1) > 0 { 1 } else { -1 };
        let mut planes = vec![];
        let mut add = |from: [i64; 2], to: [i64; 2], inner: [i64; 2]| {
            let is_left = turn(from, to, inner) > 0;
            let [from, to] = if is_left { [from, to] } else { [to, from] };
            planes.push(HalfSpace::of([at(from, low), at(to, low), at(to, high)]));
        };
        // Beyond p and q the sides continue to the other corners.
        add(p, q, others[0].1);
        add(others[0].0, others[0].1, q);
        add(others[1].0, others[1].1, p);
        let mut normal = [0; 3];
        normal[axis] = 1;
        planes.push(HalfSpace {
            normal,
            offset: high,
        });
        normal[axis] = -1;
        planes.push(HalfSpace {
            normal,
            offset: -low,
        });
        SignedSolid { planes, sign }
    };
    let solids = vec![
        lobe([a, b], [(a, d), (b, c)]),
        lobe([c, d], [(c, b), (d, a)]),
    ];
    Some(Part { triangles, solids })
}

/// Returns a part of random kind with corners on a coarse or a fine grid. Some corners are corners of earlier
/// parts.
fn part(random: &mut Random, most: i64, corners: &[Corner]) -> Option<Part> {
    let mut corner = || -> Corner {
        if !corners.is_empty() && random.one_in(3) {
            random.of(corners)
        } else {
            [0; 3].map(|_| random.whole(0, most))
        }
    };
    let four = [corner(), corner(), corner(), corner()];
    let part = match random.index(5) {
        0..3 => tetrahedron(four),
        3 => {
            let [p, q, ..] = four;
            box_part(
                [0, 1, 2].map(|a| p[a].min(q[a])),
                [0, 1, 2].map(|a| p[a].max(q[a])),
            )
        }
        _ => {
            let axis = random.index(3);
            let ends = [
                four[0][axis].min(four[1][axis]),
                four[0][axis].max(four[1][axis]),
            ];
            bowtie(
                axis,
                four.map(|v| [v[(axis + 1) % 3], v[(axis + 2) % 3]]),
                ends,
            )
        }
    }?;
    Some(if random.one_in(3) {
        part.inverted()
    } else {
        part
    })
}

fn made(triangles: Vec<Triangle>, lattice: &Lattice) -> Option<Voxelized> {
    let mesh = mesh_of(triangles);
    let rule = Rule::fraction()
        .with_inside(Inside::Nonzero)
        .expect("a method");
    Voxelizer::new(rule).threads(1).run(&mesh, lattice).ok()
}

fn wanted_cells() -> u64 {
    std::env::var("VOXELIZE_UNIONS").map_or(6_000, |n| n.parse().expect("a whole number"))
}

/// Cells per axis of a case.
const DIMS: [usize; 3] = [2, 2, 1];

pub(super) fn random_cells() -> Counts {
    let mut random = Random::new(71);
    let [mut cut, mut cases, mut united, mut beside] = [0; 4];
    let mut worst = 0.0_f64;
    let wanted = wanted_cells();
    while cut < wanted {
        // Units per cell. Few units make corners, edges and faces coincide.
        let side = random.of(&[1, 1, 2, 2, 3, 4, 7, 16]);
        let most = 2 * side + i64::from(random.one_in(2));
        let mut parts: Vec<Part> = vec![];
        let count = 2 + random.index(2);
        for _ in 0..60 {
            if parts.len() == count {
                break;
            }
            let corners: Vec<_> = parts
                .iter()
                .flat_map(|part| part.triangles.as_flattened().to_vec())
                .collect();
            parts.extend(part(&mut random, most, &corners));
        }
        let solids: Vec<_> = parts.iter().flat_map(|part| part.solids.clone()).collect();
        if parts.len() < count || solids.len() > 5 {
            continue;
        }
        // A third is not a float: walls and corners snap.
        let scale = random.of(&[1.0_f64, 0.25, 1.0 / 3.0, 0.1]);
        let is_exact = scale == 1.0 || scale == 0.25;
        let placed = |v: &Corner| v.map(|c| (c as f64 * scale) as f32);
        let whole: Vec<_> = parts
            .iter()
            .flat_map(|part| part.triangles.clone())
            .collect();
        let triangles: Vec<_> = whole.iter().map(|t| t.each_ref().map(placed)).collect();
        // A corner that is not a float is moved, unless it is on a wall of cells, because walls snap.
        if !is_exact
            && whole
                .as_flattened()
                .as_flattened()
                .iter()
                .any(|c| c % side != 0)
        {
            continue;
        }
        let unit = match scale {
            1.0 => Rational::ONE,
            0.25 => Rational::new(1, 4),
            0.1 => Rational::new(1, 10),
            _ => Rational::new(1, 3),
        };
        let spacing = [0; 3].map(|_| &unit * &Rational::from(side));
        let lattice = lattice([const { Rational::ZERO }; 3], spacing, DIMS, Snap::Float);
        let Some(made) = made(triangles, &lattice) else {
            continue;
        };
        let report = made.stats.fraction;
        assert_eq!(report.united.unknown, 0, "{whole:?} in cells of {side}");
        cases += 1;
        united += report.united.cells;
        let field = made.voxels.field().expect("a field");
        for cell in each_cell(DIMS) {
            let share = union_share(&solids, cell.map(|c| c as i64 * side), side);
            let found = field.get(cell);
            let off = (f64::from(found) - share).abs();
            let nearest = share as f32;
            let is_beside = (nearest.next_down()..=nearest.next_up()).contains(&found);
            assert!(
                is_beside || off < 1e-11,
                "cell {cell:?} of {side}: {found} for {share}: {whole:?}, W016 says {:e}",
                report.united.error
            );
            beside += u64::from(found != nearest);
            if report.united.cells > 0 {
                // Rounding to a float, and error of the clipping.
                let rounding = share * 2f64.powi(-24) + 1e-14;
                assert!(
                    off <= report.united.error + rounding,
                    "{off:e} in {cell:?} of {side}: {whole:?}"
                );
                worst = worst.max((off - share * 2f64.powi(-24)).max(0.0) / report.united.error);
            }
            cut += u64::from(share > 1e-14 && share < 1.0 - 1e-14);
        }
    }
    println!("the largest error is {worst:.2} of what W016 says");
    vec![
        ("cases", cases),
        ("cut cells", cut),
        ("united", united),
        ("not the nearest float", beside),
    ]
}

fn floats(part: Option<Part>) -> Vec<Triangle> {
    part.expect("a part")
        .triangles
        .iter()
        .map(|t| t.map(|v| v.map(|c| c as f32)))
        .collect()
}

pub(super) fn reported() -> Counts {
    let tetrahedra = [
        floats(tetrahedron([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0]])),
        floats(tetrahedron([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1]])),
    ];
    let prism = floats(bowtie(2, [[0, 0], [8, 0], [2, 6], [6, 6]], [0, 4]));
    let small = 2f32.powi(-10);
    let inverted = inside_out(between([0.25; 3], [0.25 + small; 3]));
    let apart = [inverted, between([5.0; 3], [6.0; 3])];
    let crossed = [[0.5, 0.25, 1.0], [0.5, 1.0, 0.25]].map(|high| between([0.0; 3], high));
    // Two tetrahedra that share a corner. A prism with two lobes. A small box inside out, and a box far away.
    // Boxes with a common face on each other's side.
    let cases = [
        (tetrahedra.concat(), [0; 3], 1, 23.0 / 72.0),
        (prism, [2, 2, 0], 4, 0.5),
        (apart.concat(), [0; 3], 1, 2f64.powi(-30)),
        (crossed.concat(), [0; 3], 1, 0.5 * (0.25 + 0.25 - 0.0625)),
    ];
    let mut compared = 0;
    for (n, (triangles, low, side, wanted)) in cases.into_iter().enumerate() {
        for by in 0..3 {
            let low = [0, 1, 2].map(|a| Rational::from(low[(a + by) % 3]));
            let side = [side; 3].map(Rational::from);
            let lattice = lattice(low, side, [1; 3], Snap::Float);
            let turned = triangles
                .iter()
                .map(|t| t.map(|v| [0, 1, 2].map(|a| v[(a + by) % 3])));
            let made = made(turned.collect(), &lattice).expect("a closed mesh");
            let share = made.voxels.field().expect("a field").get([0; 3]);
            assert_eq!(share, wanted as f32, "case {n}, turned by {by}");
            assert!(has_finding(&made, "W016"), "case {n}");
            compared += 1;
        }
    }
    vec![("cases", compared)]
}

/// A small part that is inside out has a centroid.
pub(super) fn inverted_centroid() -> Counts {
    let low = [0.25, 0.5, 0.75_f32];
    let small = 2f32.powi(-10);
    let inverted = inside_out(between(low, low.map(|c| c + small)));
    let mesh = mesh_of([inverted, between([5.0; 3], [6.0; 3])].concat());
    let centroid = &quantities::at_once(&mesh, &unit([7; 3]))[3][..3];
    for (found, low) in centroid.iter().zip(low) {
        let wanted = f64::from(low) - 0.5 + f64::from(small) / 2.0;
        assert!((f64::from(*found) - wanted).abs() < 1e-3, "{centroid:?}");
    }
    vec![("coordinates", centroid.len() as u64)]
}
