//! Correctness of the shares of cells: cells compared with triangles cut in rational numbers; products for
//! boxes; the volume of the mesh; a digest independent of the plan; the mean of eight cells; a sphere.
//!
//! `VOXELIZE_FRACTION_SOAK=100` multiplies the number of random meshes. `VOXELIZE_UNIONS=1000000` sets the
//! number of cells with overlapping parts.

mod clipping;
mod oracle;
mod overlaps;
mod quantities;
mod unions;

use voxelize::geom::Triangle;
use voxelize::grid::Field;
use voxelize::mesh::closed::Closedness;
use voxelize::{
    Fit, Kind, Lattice, Mesh, Rational, Rule, Snap, Ties, Voxelized, Voxelizer, voxelize,
};

use crate::support::meshes::{
    each_cell, fitted, fixture, fixtures, mapped, mesh_of, occupied, surface,
};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out, without};
use crate::support::suite::{Counts, Suite};
use oracle::Exact;

pub const SUITE: Suite = Suite::of(
    "fraction",
    &[
        (
            "cells_are_as_triangles_cut_in_rationals_say",
            cells_are_exact,
        ),
        ("boxes_are_products", boxes_are_products),
        ("boxes_on_walls_flip_nothing", boxes_on_walls),
        (
            "untouched_cells_are_solid_and_shares_are_of_cut_ones",
            cut_cells,
        ),
        ("shares_add_up_to_the_volume", volumes),
        ("regions_are_parts_of_the_whole", regions),
        (
            "mirrored_and_permuted_they_are_equal",
            mirrored_and_permuted,
        ),
        ("mean_of_eight_is_the_coarse_cell", mean_of_eight),
        ("a_sphere_converges_with_the_square_of_the_cell", a_sphere),
        ("overlaps_are_found", overlaps_are_found),
        ("overlapping_boxes_are_their_union", overlaps::boxes),
        ("overlapping_solids_are_their_union", overlaps::solids),
        ("reported_unions", unions::reported),
        (
            "small_inverted_parts_have_a_centroid",
            unions::inverted_centroid,
        ),
        ("random_unions_are_those_of_clipping", unions::random_cells),
        ("parts_that_do_not_overlap_change_nothing", overlaps::apart),
        ("lobes_wound_in_both_ways_are_their_union", overlaps::lobes),
        (
            "small_inverted_parts_have_their_share",
            overlaps::small_inverted,
        ),
        ("open_meshes_are_refused_and_closed_by_robust", open_meshes),
        (
            "quantities_are_as_triangles_cut_in_rationals_say",
            quantities::cells_are_exact,
        ),
        ("quantities_add_up", quantities::sums),
        (
            "faces_on_walls_are_in_the_cell_on_their_inner_side",
            quantities::on_walls,
        ),
        (
            "faces_between_parts_that_touch_are_closed",
            quantities::touching,
        ),
        ("one_digest_however_they_are_made", quantities::one_digest),
        (
            "areas_alone_are_those_beside_shares",
            quantities::area_alone,
        ),
    ],
);

fn made(mesh: &Mesh, lattice: &Lattice) -> Voxelized {
    let made = Voxelizer::new(Rule::fraction()).run(mesh, lattice);
    made.expect("a closed mesh")
}

fn field(mesh: &Mesh, lattice: &Lattice) -> Field {
    made(mesh, lattice).voxels.field().expect("a field").clone()
}

fn has_finding(made: &Voxelized, code: &str) -> bool {
    made.findings
        .iter()
        .any(|finding| finding.code().name() == code)
}

/// Reports whether a mesh is closed, with outward orientation.
fn is_oriented(mesh: &Mesh) -> bool {
    !mesh.triangles().is_empty() && mesh.volume() > 0.0 && mesh.closedness() == Closedness::Oriented
}

fn lattice(origin: [Rational; 3], spacing: [Rational; 3], dims: [usize; 3], snap: Snap) -> Lattice {
    Lattice::new(dims, origin, spacing, [false; 3])
        .expect("a lattice")
        .with_snap(snap)
}

fn unit(dims: [usize; 3]) -> Lattice {
    lattice(
        [const { Rational::ZERO }; 3],
        [const { Rational::ONE }; 3],
        dims,
        Snap::None,
    )
}

/// Error bound of a sum of pieces in rows of at most a thousand cells: 2^-34.
const SUM: f64 = 1.0 / (1_u64 << 34) as f64;

/// Reports whether a share is the float nearest to an exact one, or adjacent to it, or within the error of
/// sums.
fn is_near(share: f32, exact: &Rational) -> bool {
    let nearest = exact.to_f32();
    let off = (Rational::from_f32(share).expect("finite") - exact.clone())
        .abs()
        .to_f64();
    (nearest.next_down()..=nearest.next_up()).contains(&share) || off <= SUM
}

/// Returns an octahedron around a centre. Its corners are moved along axes and slightly across.
fn octahedron(
    random: &mut Random,
    centre: [f64; 3],
    radii: [[f64; 2]; 3],
    jitter: f64,
) -> Vec<Triangle> {
    let mut corner = |axis: usize, side: usize| -> [f32; 3] {
        std::array::from_fn(|a| {
            let along = if a == axis {
                radii[axis][side] * [-1.0, 1.0][side]
            } else {
                0.0
            };
            (centre[a] + along + random.within(-jitter, jitter)) as f32
        })
    };
    let corners = [0, 1, 2].map(|axis| [corner(axis, 0), corner(axis, 1)]);
    let face = |n: usize| {
        let [x, y, z] = [0, 1, 2].map(|a| corners[a][n >> a & 1]);
        if n.count_ones() % 2 == 1 {
            [x, y, z]
        } else {
            [x, z, y]
        }
    };
    (0..8).map(face).collect()
}

/// Returns a random closed mesh, and a lattice that intersects or contains it.
fn random_case(random: &mut Random, n: usize) -> (Mesh, Lattice) {
    let dims = [0; 3].map(|_| 2 + random.index(4));
    let middle = dims.map(|n| n as f64 / 2.0);
    let thin = random.of(&[1.0, 1.0, 1e-2, 1e-5]);
    let radii = [1.0, thin, 1.0].map(|most| [0, 1].map(|_| most * random.within(0.1, 4.0)));
    let triangles = match n % 4 {
        0 => octahedron(random, middle, radii, 0.05 * thin),
        1 => {
            // Corners at quarters, many of them on walls.
            let mut quarter = |low: i64| random.whole(low, 14) as f32 / 4.0;
            let low = [quarter(-4), quarter(-4), quarter(-4)];
            between(low, [0, 1, 2].map(|a| low[a] + 0.25 + quarter(0)))
        }
        2 => octahedron(
            random,
            middle,
            [[30.0, 25.0], [thin, 2.0 * thin], [0.02, 0.01]],
            0.0,
        ),
        _ => octahedron(random, middle, radii, 0.0)
            .into_iter()
            .map(|t| t.map(|v| v.map(|c| (c * 8.0).round() / 8.0)))
            .collect(),
    };
    let (origin, spacing) = match n % 3 {
        0 => ([const { Rational::ZERO }; 3], [const { Rational::ONE }; 3]),
        1 => (
            [(1, 3), (-2, 7), (0, 1)].map(|(n, d)| Rational::new(n, d)),
            [(1, 3), (7, 10), (2, 1)].map(|(n, d)| Rational::new(n, d)),
        ),
        _ => (
            [1_000, -250_000, 0].map(Rational::from),
            [const { Rational::ONE }; 3],
        ),
    };
    let shift = if n % 3 == 2 {
        [1_000.0, -250_000.0, 0.0]
    } else {
        [0.0; 3]
    };
    let mesh = mesh_of(triangles);
    let mesh = mapped(&mesh, |v| [0, 1, 2].map(|a| v[a] + shift[a]));
    (
        mesh,
        lattice(origin, spacing, dims, random.of(&[Snap::None, Snap::Float])),
    )
}

fn cells_are_exact() -> Counts {
    let soak = std::env::var("VOXELIZE_FRACTION_SOAK")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let mut random = Random::new(32);
    let [mut cells, mut cut, mut meshes] = [0; 3];
    for n in 0..4_000 * soak {
        let (mesh, lattice) = random_case(&mut random, n);
        if !is_oriented(&mesh) {
            continue;
        }
        meshes += 1;
        let exact = Exact::new(&mesh, &lattice);
        let field = field(&mesh, &lattice);
        let [nx, ny, nz] = lattice.dims();
        for [_, j, k] in each_cell([1, ny, nz]) {
            for (i, exact) in exact.row([j, k], nx).iter().enumerate() {
                if *exact < Rational::ZERO || *exact > Rational::ONE {
                    continue;
                }
                let share = field.get([i, j, k]);
                let at = format!("case {n}, {i} {j} {k}: {share} for {exact}");
                assert!(is_near(share, exact), "{at}");
                if exact.is_zero() || *exact == Rational::ONE {
                    assert!((share - exact.to_f32()).abs() < 1e-10, "{at}");
                } else {
                    cut += 1;
                }
                cells += 1;
            }
        }
    }
    vec![("meshes", meshes), ("cells", cells), ("cut cells", cut)]
}

fn boxes_are_products() -> Counts {
    let mut random = Random::new(7);
    let mut cells = 0;
    for _ in 0..60 {
        let lattice = unit([7, 6, 5]);
        let low = [0; 3].map(|_| random.whole(-9, 9) as f32 / random.of(&[3.0, 5.0, 7.0]));
        let high = low.map(|low| low + random.whole(1, 20) as f32 / random.of(&[3.0, 5.0, 7.0]));
        let mesh = mesh_of(between(low, high));
        let bounds = mesh.bounds();
        let field = field(&mesh, &lattice);
        for (cell, share) in each_cell(lattice.dims()).zip(field.values()) {
            let side = |a: usize| {
                let ends = [f64::from(bounds.min[a]), f64::from(bounds.max[a])]
                    .map(|v| v - cell[a] as f64);
                ends[1].clamp(0.0, 1.0) - ends[0].clamp(0.0, 1.0)
            };
            let wanted = side(0) * side(1) * side(2);
            assert!(
                (f64::from(*share) - wanted).abs() < 6e-8 * wanted + SUM,
                "{low:?} {high:?} {cell:?}"
            );
            cells += 1;
        }
    }
    vec![("cells", cells)]
}

/// Boxes whose faces are on walls or an adjacent float.
fn boxes_on_walls() -> Counts {
    let [mut cells, mut boxes] = [0; 2];
    for n in [10, 15, 20, 25] {
        for step in [0, 1, 2] {
            let beside = |v: f32| [v, v.next_up(), v.next_down()][step];
            let mesh = mesh_of(between([beside(0.2); 3], [beside(0.6); 3]));
            let side = Rational::new(1, n as i64);
            let lattice = lattice(
                [const { Rational::ZERO }; 3],
                [side.clone(), side.clone(), side],
                [n; 3],
                Snap::Float,
            );
            let field = field(&mesh, &lattice);
            let is_within = |i: usize| 5 * i >= n && 5 * i < 3 * n;
            for (cell, share) in each_cell([n; 3]).zip(field.values()) {
                let wanted = if cell.into_iter().all(is_within) {
                    1.0
                } else {
                    0.0
                };
                let most = if step == 0 { 0.0 } else { 1e-4 };
                assert!(
                    (share - wanted).abs() <= most,
                    "{n} cells, step {step}, {cell:?}: {share}"
                );
                cells += 1;
            }
            boxes += 1;
        }
    }
    vec![("boxes", boxes), ("cells", cells)]
}

/// Returns the closed fixtures with outward orientation, with lattices.
fn closed() -> impl Iterator<Item = (String, Mesh, Lattice)> {
    fixtures()
        .into_iter()
        .filter(|(_, mesh)| is_oriented(mesh))
        .map(|(name, mesh)| {
            let lattice = fitted(Fit::longest(23).pad(1), &mesh);
            (name, mesh, lattice)
        })
}

fn cut_cells() -> Counts {
    let [mut meshes, mut cut, mut whole] = [0; 3];
    for (name, mesh, lattice) in closed() {
        let made = made(&mesh, &lattice);
        let field = made.voxels.field().expect("a field");
        let touched = surface(&mesh, &lattice, Ties::None);
        let solid = occupied(Voxelizer::new(Rule::solid()), &mesh, &lattice);
        for (cell, share) in each_cell(lattice.dims()).zip(field.values()) {
            if touched.get(cell) {
                cut += 1;
                assert!((0.0..=1.0).contains(share), "{name} {cell:?}: {share}");
            } else {
                whole += 1;
                let wanted = f32::from(u8::from(solid.get(cell)));
                assert_eq!(*share, wanted, "{name} {cell:?}");
            }
        }
        meshes += 1;
    }
    vec![
        ("meshes", meshes),
        ("cut cells", cut),
        ("whole cells", whole),
    ]
}

fn volumes() -> Counts {
    let [mut meshes, mut cells] = [0; 2];
    for (name, mesh, lattice) in closed() {
        let made = made(&mesh, &lattice);
        if made.stats.fraction.odd.cells > 0 {
            continue;
        }
        let field = made.voxels.field().expect("a field");
        let sum: f64 = field.values().iter().map(|share| f64::from(*share)).sum();
        let cut = field
            .values()
            .iter()
            .filter(|share| **share > 0.0 && **share < 1.0)
            .count();
        let volume = mesh.volume() / lattice.cell_volume().to_f64();
        // Every share is rounded to a float.
        let most = cut as f64 * 2f64.powi(-25) + 1e-9 * volume;
        assert!(
            (sum - volume).abs() <= most,
            "{name}: {sum} cells, {volume} by the mesh"
        );
        meshes += 1;
        cells += cut as u64;
    }
    vec![("meshes", meshes), ("cut cells", cells)]
}

/// A region has bitwise the cells of the whole, for shares and for areas, also where parts overlap.
fn regions() -> Counts {
    let [mut meshes, mut cells, mut cut] = [0; 3];
    let mut random = Random::new(58);
    let balls = mesh_of(overlaps::balls(24));
    let of_balls = fitted(Fit::longest(31).pad(1), &balls);
    let all = closed().chain([("balls".to_string(), balls, of_balls)]);
    for (name, mesh, lattice) in all {
        for rule in [Rule::fraction(), Rule::Area] {
            let made = |lattice: &Lattice| {
                let made = voxelize(&mesh, lattice, rule).expect("a closed mesh");
                made.field().expect("a field").clone()
            };
            let whole = made(&lattice);
            for n in 0..4 {
                let dims = lattice.dims();
                let parts = dims.map(|count| {
                    let start = if n == 0 {
                        count / 3
                    } else {
                        random.index(count)
                    };
                    start..start + 1 + random.index(count - start)
                });
                let low = parts.each_ref().map(|part| part.start);
                let mut region = lattice.region(parts).expect("a part");
                let mut first = low;
                if n == 3 {
                    // A region of a region.
                    let rest = region.dims().map(|count| count / 2..count);
                    first = [0, 1, 2].map(|a| low[a] + rest[a].start);
                    region = region.region(rest).expect("a part");
                }
                let part = made(&region);
                for (cell, value) in each_cell(region.dims()).zip(part.values()) {
                    let wanted = whole.get([0, 1, 2].map(|a| cell[a] + first[a]));
                    assert_eq!(
                        value.to_bits(),
                        wanted.to_bits(),
                        "{name} {cell:?} of {first:?}"
                    );
                    cells += 1;
                    cut += u64::from(*value > 0.0 && *value < 1.0);
                }
            }
        }
        meshes += 1;
    }
    vec![("meshes", meshes), ("cells", cells), ("cut cells", cut)]
}

fn mirrored_and_permuted() -> Counts {
    let [mut meshes, mut cells, mut equal] = [0; 3];
    for (name, mesh, lattice) in closed() {
        let wanted = field(&mesh, &lattice);
        let bounds = mesh.bounds();
        for turn in 0..3 {
            // Permuted axes. The last permutation is mirrored and keeps the orientation.
            let to = |v: [f32; 3]| [0, 1, 2].map(|a| v[(a + turn) % 3]);
            let mirrored = |t: &Triangle| {
                let [p, q, r] = t.map(|v| [-v[0], v[1], v[2]]).map(to);
                [p, r, q]
            };
            let other = mesh_of(mesh.triangles().iter().map(mirrored).collect());
            let from = |a: usize| (a + turn) % 3;
            let low = |a: usize| {
                if a == 0 {
                    Rational::ZERO - lattice.end()[0].clone()
                } else {
                    lattice.origin()[a].clone()
                }
            };
            let there = lattice_of(
                &lattice,
                [0, 1, 2].map(|a| low(from(a))),
                [0, 1, 2].map(from),
            );
            let found = field(&other, &there);
            for (cell, share) in each_cell(there.dims()).zip(found.values()) {
                let mut here = [0; 3];
                (0..3).for_each(|a| here[from(a)] = cell[a]);
                here[0] = lattice.dims()[0] - 1 - here[0];
                let wanted = wanted.get(here);
                let is_beside = (wanted.next_down()..=wanted.next_up()).contains(share);
                assert!(
                    is_beside || f64::from((share - wanted).abs()) < SUM,
                    "{name}: {share}, {wanted}, {bounds:?}"
                );
                equal += u64::from(*share == wanted);
                cells += 1;
            }
        }
        meshes += 1;
    }
    assert!(equal * 1000 > cells * 999, "{equal} of {cells} are equal");
    vec![("meshes", meshes), ("cells", cells), ("equal", equal)]
}

fn lattice_of(like: &Lattice, origin: [Rational; 3], from: [usize; 3]) -> Lattice {
    let spacing = from.map(|a| like.spacing()[a].clone());
    Lattice::new(from.map(|a| like.dims()[a]), origin, spacing, [true; 3])
        .expect("a lattice")
        .with_snap(like.snap())
}

fn mean_of_eight() -> Counts {
    let [mut meshes, mut cells] = [0; 2];
    for (name, mesh, coarse) in closed() {
        let dims = coarse.dims();
        let half = coarse
            .spacing()
            .each_ref()
            .map(|side| side / &Rational::from(2));
        // Centres of coarse cells are walls of fine cells. They agree only without snapping.
        let coarse = coarse.with_snap(Snap::None);
        let fine = lattice(
            coarse.origin().clone(),
            half,
            dims.map(|n| 2 * n),
            Snap::None,
        );
        if made(&mesh, &coarse).stats.fraction.odd.cells > 0 {
            continue;
        }
        let [coarse_field, fine] = [field(&mesh, &coarse), field(&mesh, &fine)];
        for (cell, share) in each_cell(dims).zip(coarse_field.values()) {
            let eight =
                (0..8).map(|n| f64::from(fine.get([0, 1, 2].map(|a| 2 * cell[a] + (n >> a & 1)))));
            let mean = eight.sum::<f64>() / 8.0;
            assert!(
                (f64::from(*share) - mean).abs() <= 1.2e-7 * mean + SUM,
                "{name} {cell:?}: {share}, {mean}"
            );
            cells += 1;
        }
        meshes += 1;
    }
    vec![("meshes", meshes), ("cells", cells)]
}

/// Returns a sphere with `steps` steps from pole to pole.
pub fn sphere(steps: usize) -> Mesh {
    let at = |i: usize, j: usize| {
        let polar = std::f64::consts::PI * i as f64 / steps as f64;
        let around = std::f64::consts::PI * (j % (2 * steps)) as f64 / steps as f64;
        let ring = if i == 0 || i == steps {
            0.0
        } else {
            polar.sin()
        };
        [ring * around.cos(), ring * around.sin(), polar.cos()].map(|c| c as f32)
    };
    let squares = (0..steps).flat_map(|i| (0..2 * steps).map(move |j| (i, j)));
    let triangles = squares.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [
            (i > 0).then_some([a, b, d]),
            (i + 1 < steps).then_some([b, c, d]),
        ]
    });
    mesh_of(triangles.flatten().collect())
}

/// Returns the error of the volume of a ball of radius 1 in `n` cells per axis.
fn sphere_error(n: usize) -> f64 {
    let mesh = sphere(2 * n);
    let side = Rational::new(5, 2) / Rational::from(n as i64);
    let low = Rational::new(-5, 4);
    let lattice = lattice(
        [low.clone(), low.clone(), low],
        [side.clone(), side.clone(), side],
        [n; 3],
        Snap::None,
    );
    let cell = lattice.cell_volume().to_f64();
    let sum: f64 = field(&mesh, &lattice)
        .values()
        .iter()
        .map(|share| f64::from(*share) * cell)
        .sum();
    (sum - 4.0 / 3.0 * std::f64::consts::PI).abs()
}

/// The volume below planes in a cell is linear where the sphere is nearly flat. With facets of about the size
/// of a cell, the total error of the shares is proportional to the square of the cell size.
fn a_sphere() -> Counts {
    let errors = [8, 16, 32].map(sphere_error);
    for pair in errors.windows(2) {
        assert!((3.5..4.5).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
    vec![("sizes", 3)]
}

fn overlaps_are_found() -> Counts {
    let lattice = unit([8; 3]);
    let one = between([0.5; 3], [4.5; 3]);
    let overlapping = [one.clone(), between([2.5; 3], [6.5; 3])].concat();
    let inverted = [one.clone(), inside_out(between([5.5; 3], [7.5; 3]))].concat();
    let mut found = 0;
    for (triangles, farthest) in [(overlapping, 2.0), (inverted, -1.0)] {
        let mesh = mesh_of(triangles);
        let made = made(&mesh, &lattice);
        let odd = made.stats.fraction.odd;
        assert_eq!(odd.farthest.map(|(mean, _)| mean), Some(farthest));
        assert!(odd.cells > 0 && has_finding(&made, "W016"));
        // Cells with an integer winding number are the cells of solid.
        let solid = occupied(Voxelizer::new(Rule::solid()), &mesh, &lattice);
        let touched = surface(&mesh, &lattice, Ties::None);
        let field = made.voxels.field().expect("a field");
        for (cell, share) in each_cell([8; 3]).zip(field.values()) {
            assert!((0.0..=1.0).contains(share));
            assert!(
                touched.get(cell) || *share == f32::from(u8::from(solid.get(cell))),
                "{cell:?}"
            );
        }
        found += odd.cells;
    }
    // If everything is flipped, nothing is odd.
    let mesh = mesh_of(inside_out(one.clone()));
    let made = made(&mesh, &lattice);
    assert_eq!(made.stats.fraction.odd.cells, 0);
    assert_eq!(
        *made.voxels.field().expect("a field"),
        field(&mesh_of(one), &lattice)
    );
    vec![("odd cells", found)]
}

fn open_meshes() -> Counts {
    let whole = fixture("sphere.stl");
    let mesh = mesh_of(without(&whole, |n| (100..140).contains(&n)));
    let lattice = fitted(Fit::longest(16), &mesh);
    let error = voxelize(&mesh, &lattice, Rule::fraction()).expect_err("an open mesh");
    assert_eq!(error.kind(), Kind::Unfit);
    let robust = Rule::fraction()
        .with_inside(voxelize::Inside::Robust)
        .expect("a method");
    let made = Voxelizer::new(robust)
        .run(&mesh, &lattice)
        .expect("closed by caps");
    let report = made.stats.fraction;
    assert!(report.caps > 0 && has_finding(&made, "W006"));
    vec![("caps", report.caps), ("cells with caps", report.capped)]
}
