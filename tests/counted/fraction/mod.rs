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
use voxelize::grid::{CellSource, Field};
use voxelize::run::Plan;
use voxelize::{
    Digest, Fit, Kind, Lattice, Level, Mesh, Rational, Rule, Snap, Ties, Voxelizer, voxelize,
};

use crate::support::meshes::{fixture, fixtures, mapped, surface};
use crate::support::random::Random;
use crate::support::solids::{between, inside_out, without};
use crate::support::suite::{Check, Counts, Suite};
use oracle::Exact;

pub const SUITE: Suite = Suite::of(
    "fraction",
    &[
        Check {
            name: "cells_are_as_triangles_cut_in_rationals_say",
            run: cells_are_exact,
        },
        Check {
            name: "boxes_are_products",
            run: boxes_are_products,
        },
        Check {
            name: "boxes_on_walls_flip_nothing",
            run: boxes_on_walls,
        },
        Check {
            name: "untouched_cells_are_solid_and_shares_are_of_cut_ones",
            run: cut_cells,
        },
        Check {
            name: "shares_add_up_to_the_volume",
            run: volumes,
        },
        Check {
            name: "one_digest_however_they_are_made",
            run: one_digest,
        },
        Check {
            name: "regions_are_parts_of_the_whole",
            run: regions,
        },
        Check {
            name: "mirrored_and_permuted_they_are_equal",
            run: mirrored_and_permuted,
        },
        Check {
            name: "mean_of_eight_is_the_coarse_cell",
            run: mean_of_eight,
        },
        Check {
            name: "a_sphere_converges_with_the_square_of_the_cell",
            run: a_sphere,
        },
        Check {
            name: "overlaps_are_found",
            run: overlaps_are_found,
        },
        Check {
            name: "overlapping_boxes_are_their_union",
            run: overlaps::boxes,
        },
        Check {
            name: "overlapping_solids_are_their_union",
            run: overlaps::solids,
        },
        Check {
            name: "reported_unions",
            run: unions::reported,
        },
        Check {
            name: "faces_on_walls",
            run: unions::faces_on_walls,
        },
        Check {
            name: "random_unions_are_those_of_clipping",
            run: unions::random_cells,
        },
        Check {
            name: "unions_have_one_digest",
            run: overlaps::one_digest,
        },
        Check {
            name: "parts_that_do_not_overlap_change_nothing",
            run: overlaps::apart,
        },
        Check {
            name: "lobes_wound_in_both_ways_are_their_union",
            run: overlaps::lobes,
        },
        Check {
            name: "small_inverted_parts_have_their_share",
            run: overlaps::small_inverted,
        },
        Check {
            name: "open_meshes_are_refused_and_closed_by_robust",
            run: open_meshes,
        },
        Check {
            name: "quantities_are_as_triangles_cut_in_rationals_say",
            run: quantities::cells_are_exact,
        },
        Check {
            name: "quantities_add_up",
            run: quantities::sums,
        },
        Check {
            name: "faces_on_walls_are_in_the_cell_on_their_inner_side",
            run: quantities::on_walls,
        },
        Check {
            name: "faces_between_parts_that_touch_are_closed",
            run: quantities::touching,
        },
        Check {
            name: "quantities_have_one_digest",
            run: quantities::one_digest,
        },
        Check {
            name: "areas_alone_are_those_beside_shares",
            run: quantities::area_alone,
        },
    ],
);

fn field(mesh: &Mesh, lattice: &Lattice) -> Field {
    voxelize(mesh, lattice, Rule::fraction())
        .expect("a closed mesh")
        .field()
        .expect("a field")
        .clone()
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
    let mesh = Mesh::from_triangles(triangles).expect("finite");
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
        if mesh.triangles().is_empty() {
            continue;
        }
        let is_oriented = mesh.volume() > 0.0
            && mesh.closedness() == voxelize::mesh::closed::Closedness::Oriented;
        if !is_oriented {
            continue;
        }
        meshes += 1;
        let exact = Exact::new(&mesh, &lattice);
        let field = field(&mesh, &lattice);
        let [nx, ny, nz] = lattice.dims();
        for (j, k) in (0..nz).flat_map(|k| (0..ny).map(move |j| (j, k))) {
            for (i, exact) in exact.row([j, k], nx).iter().enumerate() {
                if *exact < Rational::ZERO || *exact > Rational::ONE {
                    continue;
                }
                let share = field.get([i, j, k]);
                assert!(
                    is_near(share, exact),
                    "case {n}, cell {:?}: {share} for {exact}",
                    [i, j, k]
                );
                if exact.is_zero() || *exact == Rational::ONE {
                    assert!(
                        (share - exact.to_f32()).abs() < 1e-10,
                        "case {n}: {share} for {exact}"
                    );
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
        let mesh = Mesh::from_triangles(between(low, high)).expect("finite");
        let bounds = mesh.bounds();
        let field = field(&mesh, &lattice);
        for (n, share) in field.values().iter().enumerate() {
            let cell = [n % 7, n / 7 % 6, n / 42];
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
            let mesh =
                Mesh::from_triangles(between([beside(0.2); 3], [beside(0.6); 3])).expect("finite");
            let side = Rational::new(1, n as i64);
            let lattice = lattice(
                [const { Rational::ZERO }; 3],
                [side.clone(), side.clone(), side],
                [n; 3],
                Snap::Float,
            );
            let field = field(&mesh, &lattice);
            let is_within = |i: usize| 5 * i >= n && 5 * i < 3 * n;
            for (cell, share) in field.values().iter().enumerate() {
                let cell = [cell % n, cell / n % n, cell / n / n];
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
    let is_closed = |mesh: &Mesh| {
        mesh.closedness() == voxelize::mesh::closed::Closedness::Oriented && mesh.volume() > 0.0
    };
    fixtures()
        .into_iter()
        .filter(move |(_, mesh)| is_closed(mesh))
        .map(|(name, mesh)| {
            let lattice = Fit::longest(23)
                .pad(1)
                .to(mesh.bounds())
                .expect("a small grid");
            (name, mesh, lattice)
        })
}

fn cut_cells() -> Counts {
    let [mut meshes, mut cut, mut whole] = [0; 3];
    for (name, mesh, lattice) in closed() {
        let made = Voxelizer::new(Rule::fraction())
            .run(&mesh, &lattice)
            .expect("a closed mesh");
        let field = made.voxels.field().expect("a field");
        let touched = surface(&mesh, &lattice, Ties::None);
        let solid = voxelize(&mesh, &lattice, Rule::solid())
            .expect("a grid")
            .into_occupied()
            .expect("bits");
        let [nx, ny, _] = lattice.dims();
        for (n, share) in field.values().iter().enumerate() {
            let cell = [n % nx, n / nx % ny, n / nx / ny];
            if touched.get(cell) {
                cut += 1;
                assert!((0.0..=1.0).contains(share), "{name} {cell:?}: {share}");
            } else {
                whole += 1;
                assert_eq!(
                    *share,
                    f32::from(u8::from(solid.get(cell))),
                    "{name} {cell:?}"
                );
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
        let made = Voxelizer::new(Rule::fraction())
            .run(&mesh, &lattice)
            .expect("a closed mesh");
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

fn one_digest() -> Counts {
    let [mut meshes, mut ways] = [0; 2];
    let mut random = Random::new(3);
    for (name, mesh, lattice) in closed() {
        let wanted = field(&mesh, &lattice);
        let mut check = |found: &Field, how: &str| {
            assert_eq!(*found, wanted, "{name} {how}");
            ways += 1;
        };
        for threads in [1, 2, 5] {
            for level in Level::available() {
                let made = Voxelizer::new(Rule::fraction())
                    .threads(threads)
                    .level(level)
                    .run(&mesh, &lattice);
                check(
                    made.expect("cells").voxels.field().expect("a field"),
                    "in threads",
                );
            }
        }
        for _ in 0..3 {
            let shuffled = Mesh::from_triangles(random.shuffled(mesh.triangles())).expect("finite");
            check(&field(&shuffled, &lattice), "shuffled");
        }
        let digest = Digest::of(&wanted, Some(&lattice));
        for height in [1, 3, 4, 7, 8] {
            let voxelizer = Voxelizer::new(Rule::fraction()).threads(2);
            let mut slabs = voxelizer
                .slabs(&mesh, &lattice, Plan::Slabs(height))
                .expect("slabs");
            while slabs.advance().expect("a slab") {}
            assert_eq!(slabs.digest(), digest, "{name} in slabs of {height}");
            ways += 1;
        }
        meshes += 1;
    }
    vec![("meshes", meshes), ("ways", ways)]
}

/// A region has bitwise the cells of the whole, for shares and for areas, also where parts overlap.
fn regions() -> Counts {
    let [mut meshes, mut cells, mut cut] = [0; 3];
    let mut random = Random::new(58);
    let balls = Mesh::from_triangles(overlaps::balls(24)).expect("finite");
    let of_balls = Fit::longest(31)
        .pad(1)
        .to(balls.bounds())
        .expect("a small grid");
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
                let [nx, ny, _] = region.dims();
                for (n, value) in part.values().iter().enumerate() {
                    let cell = [n % nx, n / nx % ny, n / nx / ny];
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
            let other =
                Mesh::from_triangles(mesh.triangles().iter().map(mirrored).collect::<Vec<_>>())
                    .expect("finite");
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
            let [nx, ny, _] = there.dims();
            for (n, share) in found.values().iter().enumerate() {
                let cell = [n % nx, n / nx % ny, n / nx / ny];
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
        let coarse_made = Voxelizer::new(Rule::fraction())
            .run(&mesh, &coarse)
            .expect("cells");
        if coarse_made.stats.fraction.odd.cells > 0 {
            continue;
        }
        let [coarse_field, fine] = [field(&mesh, &coarse), field(&mesh, &fine)];
        for (n, share) in coarse_field.values().iter().enumerate() {
            let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
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
fn sphere(steps: usize) -> Mesh {
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
    Mesh::from_triangles(triangles.flatten().collect::<Vec<_>>()).expect("finite")
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
    let overlapping: Vec<_> = one
        .iter()
        .copied()
        .chain(between([2.5; 3], [6.5; 3]))
        .collect();
    let inverted: Vec<_> = one
        .iter()
        .copied()
        .chain(inside_out(between([5.5; 3], [7.5; 3])))
        .collect();
    let mut found = 0;
    for (triangles, farthest) in [(overlapping, 2.0), (inverted, -1.0)] {
        let mesh = Mesh::from_triangles(triangles).expect("finite");
        let made = Voxelizer::new(Rule::fraction())
            .run(&mesh, &lattice)
            .expect("closed");
        let odd = made.stats.fraction.odd;
        assert_eq!(odd.farthest.map(|(mean, _)| mean), Some(farthest));
        assert!(
            odd.cells > 0
                && made
                    .findings
                    .iter()
                    .any(|finding| finding.code().name() == "W016")
        );
        // Cells with an integer winding number are the cells of solid.
        let solid = voxelize(&mesh, &lattice, Rule::solid())
            .expect("cells")
            .into_occupied()
            .expect("bits");
        let touched = surface(&mesh, &lattice, Ties::None);
        let field = made.voxels.field().expect("a field");
        for (n, share) in field.values().iter().enumerate() {
            let cell = [n % 8, n / 8 % 8, n / 64];
            assert!((0.0..=1.0).contains(share));
            assert!(
                touched.get(cell) || *share == f32::from(u8::from(solid.get(cell))),
                "{cell:?}"
            );
        }
        found += odd.cells;
    }
    // If everything is flipped, nothing is odd.
    let mesh = Mesh::from_triangles(inside_out(one.clone())).expect("finite");
    let made = Voxelizer::new(Rule::fraction())
        .run(&mesh, &lattice)
        .expect("closed");
    assert_eq!(made.stats.fraction.odd.cells, 0);
    assert_eq!(
        *made.voxels.field().expect("a field"),
        field(&Mesh::from_triangles(one).expect("finite"), &lattice)
    );
    vec![("odd cells", found)]
}

fn open_meshes() -> Counts {
    let whole = fixture("sphere.stl");
    let mesh = Mesh::from_triangles(without(&whole, |n| (100..140).contains(&n))).expect("finite");
    let lattice = Fit::longest(16).to(mesh.bounds()).expect("a small grid");
    let error = voxelize(&mesh, &lattice, Rule::fraction()).expect_err("an open mesh");
    assert_eq!(error.kind(), Kind::Unfit);
    let robust = Rule::fraction()
        .with_inside(voxelize::Inside::Robust)
        .expect("a method");
    let made = Voxelizer::new(robust)
        .run(&mesh, &lattice)
        .expect("closed by caps");
    let report = made.stats.fraction;
    assert!(
        report.caps > 0
            && made
                .findings
                .iter()
                .any(|finding| finding.code().name() == "W006")
    );
    vec![("caps", report.caps), ("cells with caps", report.capped)]
}
