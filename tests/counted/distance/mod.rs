//! Correctness of distances. Cells are compared with all triangles in exact arithmetic; the digest does not
//! depend on the plan; the sign is the sign of the rule solid; the nearest triangle is the first of equally
//! near ones; the field of a sphere is the field of its facets.
//!
//! `VOXELIZE_MESHES=FOLDER VOXELIZE_DISTANCE_CELLS=100000` tests that many cells of bunny and dragon in the
//! folder. `VOXELIZE_DISTANCE_SOAK=100` multiplies the number of needles, ties and orders.

mod exact;
mod needles;
mod oracle;
mod shapes;
mod ties;

use std::path::Path;

use voxelize::geom::Triangle;
use voxelize::grid::{CellSource, Field};
use voxelize::run::Plan;
use voxelize::{
    Band, Digest, Fit, Inside, Lattice, Length, Level, METHODS, Mesh, Rational, Rule, Run, Size,
    Voxelizer,
};

use crate::fraction::sphere;
use crate::support::meshes::{self, cross, each_cell, fitted, mesh_of, minus, occupied};
use crate::support::random::Random;
use crate::support::suite::{Counts, Suite};
use oracle::Brute;

pub const SUITE: Suite = Suite::of(
    "distance",
    &[
        ("cells_are_as_far_as_all_triangles_say", cells_are_exact),
        (
            "doubles_are_within_their_bound",
            shapes::doubles_are_within_their_bound,
        ),
        (
            "needles_of_every_width_hide_no_nearer_triangle",
            shapes::needles_of_every_width,
        ),
        (
            "the_nearest_is_the_first_of_those_exactly_as_near",
            ties::first_of_equals,
        ),
        ("the_nearest_is_the_first_in_every_order", ties::every_order),
        ("one_digest_however_they_are_made", one_digest),
        ("the_sign_is_that_of_solid", the_sign_is_that_of_solid),
        (
            "iso_is_the_field_up_to_a_value",
            iso_is_the_field_up_to_a_value,
        ),
        ("a_sphere_is_as_far_as_its_facets_allow", a_sphere),
    ],
);

const FIXTURES: [&str; 8] = [
    "sphere",
    "knot",
    "cube",
    "slivers",
    "degenerate",
    "cad_bounds",
    "open",
    "prism",
];

fn fixture(name: &str) -> Mesh {
    meshes::fixture(&format!("{name}.stl"))
}

fn lattice(mesh: &Mesh, res: usize, pad: usize) -> Lattice {
    fitted(Fit::longest(res).pad(pad), mesh)
}

fn rule(band: &str) -> Rule {
    Rule::distance()
        .with_band(band.parse::<Band>().expect("a band"))
        .expect("a distance")
}

/// Returns a field with the nearest triangles.
fn field(rule: Rule, mesh: &Mesh, lattice: &Lattice) -> (Field, Vec<i32>) {
    let (made, nearest) = Voxelizer::new(rule)
        .run_with_nearest(mesh, lattice)
        .expect("a small field");
    (made.voxels.field().expect("a field").clone(), nearest)
}

/// Returns random cells.
fn some_cells(dims: [usize; 3], count: usize, seed: u64) -> impl Iterator<Item = [usize; 3]> {
    let mut random = Random::new(seed);
    (0..count).map(move |_| dims.map(|n| random.index(n)))
}

/// Counts of the comparisons.
#[derive(Default)]
struct Compared {
    cells: u64,
    background: u64,
    /// Cells whose nearest triangle is the exact one, the first of several equally near ones.
    first: u64,
}

impl Compared {
    /// Compares cells of a field with the oracle.
    fn add(&mut self, name: &str, mesh: &Mesh, lattice: &Lattice, band: &str, cells: usize) {
        let (field, nearest) = field(rule(band), mesh, lattice);
        let brute = Brute::new(mesh.triangles());
        let corners = [lattice.origin().clone(), lattice.end()];
        let largest = corners
            .iter()
            .flatten()
            .map(|c| c.to_f64().abs())
            .fold(0.0, f64::max);
        for cell in some_cells(lattice.dims(), cells, 1) {
            let (exact, first) = brute.nearest(lattice, cell);
            let found = f64::from(field.get(cell));
            let distance = exact.to_f64().sqrt();
            let [i, j, k] = cell;
            let number = nearest[i + lattice.dims()[0] * (j + lattice.dims()[1] * k)];
            let ulp = f64::from((distance as f32).next_up()) - f64::from(distance as f32);
            let allowed = ulp.max(largest * 2f64.powi(-48));
            if field.is_background(field.get(cell)) {
                assert!(
                    distance >= found - allowed && number == -1,
                    "{name} {cell:?}: {distance}, background"
                );
                self.background += 1;
            } else {
                assert!(
                    (found - distance).abs() <= allowed,
                    "{name} {cell:?}: {found}, exactly {distance}"
                );
                assert!(number >= 0, "{name} {cell:?}: no triangle");
                self.first += u64::from(number as usize == first);
            }
            self.cells += 1;
        }
    }
}

fn cells_are_exact() -> Counts {
    let mut compared = Compared::default();
    for name in FIXTURES {
        let mesh = fixture(name);
        for (res, band) in [(40, "3"), (24, "all"), (90, "1.5")] {
            compared.add(name, &mesh, &lattice(&mesh, res, 4), band, 150);
        }
    }
    // Non-cubic cells, and a grid that cuts the mesh.
    let mesh = fixture("sphere");
    let sizes =
        ["0.31", "0.5", "0.22"].map(|size| Rational::parse_decimal(size).expect("a decimal"));
    let stretched = Fit::new(Size::Spacing(sizes))
        .to(mesh.bounds())
        .expect("a small grid");
    compared.add("stretched", &mesh, &stretched, "2", 300);
    if let (Some(folder), Some(cells)) = (std::env::var_os("VOXELIZE_MESHES"), soak()) {
        for (name, res, band) in [
            ("bunny", 256, "3"),
            ("bunny", 128, "all"),
            ("dragon", 256, "3"),
            ("dragon", 128, "all"),
        ] {
            let mesh =
                Mesh::open(Path::new(&folder).join(name).with_extension("stl")).expect("a mesh");
            compared.add(name, &mesh, &lattice(&mesh, res, 3), band, cells / 2);
        }
    }
    let share = compared.first as f64 / (compared.cells - compared.background) as f64;
    assert!(
        share > 0.9,
        "only {share} of the nearest triangles are the exact ones"
    );
    vec![
        ("cells", compared.cells),
        ("of the background", compared.background),
        ("exact firsts", compared.first),
    ]
}

/// Returns the number of cells of large meshes to be queried.
fn soak() -> Option<usize> {
    std::env::var("VOXELIZE_DISTANCE_CELLS")
        .ok()
        .map(|cells| cells.parse().expect("a number of cells"))
}

fn digest(rule: Rule, mesh: &Mesh, lattice: &Lattice, run: Run) -> Digest {
    Voxelizer::new(rule)
        .with_run(run)
        .run(mesh, lattice)
        .expect("a small field")
        .voxels
        .digest()
}

fn one_digest() -> Counts {
    let mut made = 0;
    for name in FIXTURES {
        let mesh = fixture(name);
        let lattice = lattice(&mesh, 22, 3);
        for band in ["3", "0.4", "all"] {
            let rule = rule(band);
            let whole = digest(rule, &mesh, &lattice, Run::default());
            let nearest = field(rule, &mesh, &lattice).1;
            for level in Level::available() {
                for threads in [1, 3] {
                    let run = Run::default().threads(threads).level(level);
                    let other = digest(rule, &mesh, &lattice, run);
                    assert_eq!(other, whole, "{name} {band} {level:?} {threads}");
                    made += 1;
                }
            }
            let shuffled = mesh_of(Random::new(7919).shuffled(mesh.triangles()));
            let other = digest(rule, &shuffled, &lattice, Run::default());
            assert_eq!(other, whole, "{name} {band}");
            made += 1;
            for plan in [
                Plan::Dense,
                Plan::Slabs(1),
                Plan::Slabs(7),
                Plan::Slabs(8),
                Plan::Slabs(13),
            ] {
                let slabs = Voxelizer::new(rule).slabs(&mesh, &lattice, plan);
                let mut slabs = slabs.expect("small slabs").with_nearest();
                let mut numbers = vec![];
                while slabs.advance().expect("nothing cancels it") {
                    numbers.extend_from_slice(slabs.nearest());
                }
                assert_eq!(slabs.digest(), whole, "{name} {band} {plan:?}");
                assert!(numbers == nearest, "{name} {band} {plan:?}");
                made += 1;
            }
        }
    }
    vec![("fields", made)]
}

fn the_sign_is_that_of_solid() -> Counts {
    let mut inside = 0;
    let mut outside = 0;
    let mut deep = 0;
    for name in FIXTURES {
        let mesh = fixture(name);
        let lattice = lattice(&mesh, 36, 2);
        let (plain, _) = field(rule("2"), &mesh, &lattice);
        for method in METHODS.iter().map(|method| method.inside) {
            let signed = rule("2").with_inside(method).expect("a sign");
            let (signed, _) = field(signed, &mesh, &lattice);
            let solid = match method {
                // A cell that the mesh touches may have its centre on either side. It counts as inside, like
                // for filled.
                Inside::Flood { .. } => Rule::filled().with_inside(method).expect("an inside"),
                _ => Rule::solid().with_inside(method).expect("an inside"),
            };
            let solid = occupied(Voxelizer::new(solid), &mesh, &lattice);
            for cell in each_cell(lattice.dims()) {
                let value = signed.get(cell);
                let is_inside = solid.get(cell);
                assert_eq!(
                    value.is_sign_negative(),
                    is_inside,
                    "{name} {method:?} {cell:?}"
                );
                assert_eq!(value.abs(), plain.get(cell), "{name} {method:?} {cell:?}");
                *if is_inside { &mut inside } else { &mut outside } += 1;
                deep += u64::from(value == -signed.background());
            }
        }
    }
    vec![
        ("inside", inside),
        ("outside", outside),
        ("deeper than the band", deep),
    ]
}

fn iso_is_the_field_up_to_a_value() -> Counts {
    let mut within = 0;
    let mut empty = 0;
    for name in FIXTURES {
        let mesh = fixture(name);
        let lattice = lattice(&mesh, 36, 4);
        for (band, iso) in [("3", "2vx"), ("3", "0vx"), ("all", "5.5vx")] {
            let iso: Length = iso.parse().expect("a length");
            let exact = iso.in_world(lattice.spacing());
            for rule in [
                rule(band),
                rule(band).with_inside(Inside::Vote).expect("a sign"),
            ] {
                let (field, _) = field(rule, &mesh, &lattice);
                let with_iso = rule.with_iso(iso).expect("within the band");
                let bits = occupied(Voxelizer::new(with_iso), &mesh, &lattice);
                for cell in each_cell(lattice.dims()) {
                    let value = field.get(cell);
                    let is_within = value < 0.0
                        || value.is_sign_negative()
                        || Rational::from_f32(value).is_some_and(|value| value <= exact);
                    assert_eq!(bits.get(cell), is_within, "{name} {cell:?}");
                    *if is_within { &mut within } else { &mut empty } += 1;
                }
            }
        }
    }
    vec![("occupied", within), ("empty", empty)]
}

/// Returns the largest depth of the facets below a sphere of radius 1.
fn depth(mesh: &Mesh) -> f64 {
    let depth = |t: &Triangle| {
        let [a, b, c] = t.map(|v| v.map(f64::from));
        let middle = [0, 1, 2].map(|n| (a[n] + b[n] + c[n]) / 3.0);
        // Between two rings a facet is deepest where its plane is nearest to the centre of the sphere.
        let normal = cross(minus(b, a), minus(c, a));
        let size = normal.iter().map(|c| c * c).sum::<f64>().sqrt();
        1.0 - (0..3).map(|n| normal[n] * middle[n]).sum::<f64>().abs() / size
    };
    mesh.triangles().iter().map(depth).fold(0.0, f64::max)
}

fn a_sphere() -> Counts {
    let mut cells = 0;
    println!("| facets | cells across | largest error | depth of the facets |\n|---|---|---|---|");
    for (rings, res) in [(16, 32), (32, 32), (64, 32), (32, 64)] {
        let mesh = sphere(rings);
        let depth = depth(&mesh);
        let lattice = lattice(&mesh, res, 2);
        let rule = rule("all").with_inside(Inside::Nonzero).expect("a sign");
        let (field, _) = field(rule, &mesh, &lattice);
        let mut worst = 0.0_f64;
        for cell in each_cell(lattice.dims()) {
            let squared: f64 = lattice.centre(cell).iter().map(|c| c * c).sum();
            let error = f64::from(field.get(cell)) - (squared.sqrt() - 1.0);
            // Facets are within the sphere: no outside cell is nearer to them, and no inside cell farther.
            assert!(
                error > -1e-6 && error < depth + 1e-6,
                "{rings} {res} {cell:?}: {error}"
            );
            worst = worst.max(error);
            cells += 1;
        }
        assert!(worst > 0.5 * depth, "{rings} {res}: {worst} of {depth}");
        println!(
            "| {} | {res} | {worst:.2e} | {depth:.2e} |",
            mesh.triangles().len()
        );
    }
    vec![("cells", cells)]
}
