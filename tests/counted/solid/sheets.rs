//! Meshes that enclose nothing or are not connected: flat sheets through the centres of cells, and soups of
//! needles and of large triangles, under robust.

use std::cmp::Ordering;

use voxelize::geom::{Triangle, Winding};
use voxelize::mesh::repair::Repaired;
use voxelize::{BitGrid, Bounds, Fit, Inside, Lattice, Mesh, Rational, Rule, Size, Snap};

use super::check::{How, found, levels, plans};
use super::methods::Tally;
use crate::support::meshes::{cross, each_cell, fixture, fraction, mapped, mesh_of, minus};
use crate::support::random::Random;
use crate::support::solids::{inside_out, without};
use crate::support::suite::Counts;

fn solid() -> Rule {
    Rule::solid().with_inside(Inside::Robust).unwrap()
}

/// Returns the cells of robust.
fn cells(mesh: &Mesh, lattice: &Lattice, threads: usize) -> BitGrid {
    found(mesh, lattice, solid(), How::best(threads, None))
}

/// Returns a lattice of cells of this size with walls through zero.
fn lattice(triangles: &[Triangle], size: &str) -> Lattice {
    let size = fraction(size);
    let sizes = [size.clone(), size.clone(), size];
    let fit = Fit::new(Size::Spacing(sizes))
        .origin([0; 3].map(Rational::from))
        .pad(2);
    fit.to(&Bounds::of(triangles)).expect("a lattice that fits")
}

/// Returns a sheet of `squares` times `squares` parallelograms of two triangles each, with steps in halves.
fn sheet(from: [i64; 3], u: [i64; 3], v: [i64; 3], squares: i64) -> Vec<Triangle> {
    let at = |s: i64, t: i64| std::array::from_fn(|n| (from[n] + s * u[n] + t * v[n]) as f32 / 2.0);
    let all = (0..squares).flat_map(|s| (0..squares).map(move |t| (s, t)));
    let two = |(s, t)| {
        let [a, b, c, d] = [at(s, t), at(s + 1, t), at(s + 1, t + 1), at(s, t + 1)];
        [[a, b, c], [a, c, d]]
    };
    all.flat_map(two).collect()
}

/// Returns the number of cells with a centre in the plane of a sheet.
fn in_plane(lattice: &Lattice, [a, b, c]: &Triangle) -> u64 {
    // In sixths all coordinates are integers.
    let whole = |x: f64| (x * 6.0).round() as i64;
    let [a, b, c] = [a, b, c].map(|v| v.map(|x| whole(f64::from(x))));
    let normal = cross(minus(b, a), minus(c, a));
    // Terms of the height above the plane, by the centres along each axis.
    let heights = [0, 1, 2].map(|n| -> Vec<i64> {
        let axis = lattice.axis(n);
        let term = |i: usize| {
            let middle = Rational::new(2 * i as i64 + 1, 2);
            let centre = (axis.origin() + &(axis.spacing() * &middle)).to_f64();
            normal[n] * (whole(centre) - a[n])
        };
        (0..lattice.dims()[n]).map(term).collect()
    });
    each_cell(lattice.dims())
        .filter(|[i, j, k]| heights[0][*i] + heights[1][*j] + heights[2][*k] == 0)
        .count() as u64
}

/// Seen from its plane, a flat sheet covers a half or nothing: no cell is inside.
pub fn flat_ones_are_empty() -> Counts {
    let mut counts = Tally::default();
    let mut random = Random::new(61);
    for n in 0..240 {
        let whole = |random: &mut Random, most: i64| [0; 3].map(|_| random.whole(-most, most));
        let from = whole(&mut random, 9);
        let u = whole(&mut random, 5);
        let v = whole(&mut random, 5);
        let from = from.map(|x| 2 * x + 1);
        let squares = [1, 1, 3, 6][n % 4];
        let mut triangles = sheet(from, u, v, squares);
        if n % 4 == 0 {
            triangles.pop();
        }
        if n % 3 == 0 {
            // Flipped copies are dropped.
            triangles.extend(inside_out(triangles.clone()));
        }
        let size = if n % 2 == 0 { "1/1" } else { "1/3" };
        let lattice = lattice(&triangles, size);
        let mesh = mesh_of(triangles.clone());
        if mesh.degenerate() > 0 {
            continue;
        }
        let inside = cells(&mesh, &lattice, 1).count();
        assert_eq!(inside, 0, "{triangles:?} {lattice:?}");
        counts.add("sheets", 1);
        counts.add("of several triangles", u64::from(squares > 1));
        let in_plane = in_plane(&lattice, &triangles[0]);
        counts.add("centres in their planes", in_plane);
    }
    let given = [[0.0, 0.0, 0.0], [10.0, 0.0, 1.0], [0.0, 10.0, 1.0]];
    let both = vec![given, [given[0], given[2], given[1]]];
    let lattice = lattice(&both, "1/1");
    assert_eq!(cells(&mesh_of(both), &lattice, 1).count(), 0);
    counts.at_least("centres in their planes", 10_000)
}

/// Returns triangles without neighbours: needles, or large ones.
fn soup(random: &mut Random, count: usize, is_needle: bool) -> Vec<Triangle> {
    let point = |random: &mut Random| [0; 3].map(|_| random.whole(-1000, 1000) as f32 / 1000.0);
    let triangle = |_| {
        let a = point(random);
        let b = point(random);
        let c = point(random);
        if is_needle {
            [a, b, std::array::from_fn(|n| a[n] + c[n] / 200.0)]
        } else {
            [a, b, c]
        }
    };
    (0..count).map(triangle).collect()
}

/// Soups, and one with a closed mesh and a torn one in it, at every level, with several threads, in slabs and
/// in another order: compared with the sum of all angles where it decides.
pub fn soups() -> Counts {
    let mut counts = Tally::default();
    let mut random = Random::new(62);
    let mut all: Vec<Vec<Triangle>> = [(300, true), (120, false), (9, false)]
        .map(|(n, needle)| soup(&mut random, n, needle))
        .to_vec();
    let sphere = fixture("sphere.stl");
    let corners = sphere.triangles().as_flattened().as_flattened();
    let size = corners.iter().fold(0.0, |m: f32, c| m.max(c.abs()));
    let torn = without(&mapped(&sphere, |v| v.map(|c| c * (0.7 / size))), |n| {
        n % 40 == 3
    });
    all.push([soup(&mut random, 40, false), torn].concat());
    for triangles in all {
        let lattice = Lattice::fit(&Bounds::of(&triangles), 22)
            .unwrap()
            .with_snap(Snap::None);
        let mesh = mesh_of(triangles.clone());
        let expected = cells(&mesh, &lattice, 1);
        for how in levels().chain(plans()) {
            assert_eq!(found(&mesh, &lattice, solid(), how), expected, "{how:?}");
            counts.add("grids", 1);
        }
        let other = triangles.iter().rev().map(|[a, b, c]| [*b, *c, *a]);
        let other = mesh_of(other.collect());
        assert_eq!(cells(&other, &lattice, 2), expected);

        let place = |v: [f32; 3]| -> [f64; 3] {
            std::array::from_fn(|a| (lattice.axis(a).index(v[a]) - Rational::new(1, 2)).to_f64())
        };
        let repaired = Repaired::new(&mesh).unwrap();
        let winding = Winding::new(repaired.triangles.iter().map(|t| t.map(place)).collect());
        for cell in each_cell(lattice.dims()) {
            let seen = winding.direct(&cell.map(|c| c as f64), |_| Ordering::Equal);
            if (seen.value - 0.5).abs() > seen.error + 1e-9 {
                assert_eq!(expected.get(cell), seen.value > 0.5, "{cell:?}: {seen:?}");
                counts.add("cells", 1);
                counts.add("cells inside", u64::from(seen.value > 0.5));
            }
        }
        let ragged = repaired.ragged.iter().filter(|ragged| **ragged).count();
        counts.add("ragged", ragged as u64);
    }
    counts.at_least("cells inside", 3000)
}
