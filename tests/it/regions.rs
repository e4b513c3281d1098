//! A region of a lattice has the cells of the whole, and the digest of the whole can be computed from its
//! parts.

use voxelize::grid::DigestBuilder;
use voxelize::{Fit, Inside, Lattice, Mesh, Rule, ThinFeatures, Voxels, voxelize};

use crate::support::meshes::{cropped, fixture};
use crate::support::random::Random;
use crate::support::rules::local;

fn solid(inside: Inside) -> Rule {
    Rule::solid().with_inside(inside).unwrap()
}

/// Returns lattices of a mesh: with its upper end on the last wall, with padding, and cutting the mesh.
fn lattices(mesh: &Mesh) -> Vec<Lattice> {
    let whole = Fit::longest(30).to(mesh.bounds()).unwrap();
    let [nx, ny, nz] = whole.dims();
    vec![
        whole
            .region([nx / 4..nx, 0..ny.div_ceil(2), 0..nz])
            .unwrap(),
        Fit::longest(40).pad(3).to(mesh.bounds()).unwrap(),
        whole,
    ]
}

/// Returns a random box of cells. Some boxes reach the end of an axis.
fn region(random: &mut Random, dims: [usize; 3]) -> [std::ops::Range<usize>; 3] {
    dims.map(|n| {
        let first = random.below(n as u64) as usize;
        let end = first + 1 + random.below((n - first) as u64) as usize;
        first..if random.below(2) == 0 { n } else { end }
    })
}

fn is_part(part: &Voxels, whole: &Voxels, at: [usize; 3]) -> bool {
    let dims = part.dims();
    match (part.field(), whole.field()) {
        (Some(part), Some(whole)) => (0..dims[1] * dims[2]).all(|n| {
            let [j, k] = [n % dims[1], n / dims[1]];
            let row = &whole.row(j + at[1], k + at[2])[at[0]..at[0] + dims[0]];
            part.row(j, k)
                .iter()
                .zip(row)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        }),
        _ => *part.occupied().unwrap() == cropped(whole.occupied().unwrap(), at, dims),
    }
}

#[test]
fn local_rules_have_the_cells_of_the_whole_in_a_region() {
    let mut random = Random(11);
    let mut regions = 0;
    let mut closed = 0;
    let mut occupied = 0;
    for name in ["knot.stl", "open.stl", "slivers.stl", "cube.stl"] {
        let mesh = fixture(name);
        for lattice in lattices(&mesh) {
            for rule in local() {
                assert!(rule.is_local(), "{rule:?}");
                let whole = voxelize(&mesh, &lattice, rule).unwrap();
                for _ in 0..4 {
                    let cells = region(&mut random, lattice.dims());
                    let region = lattice.region(cells.clone()).unwrap();
                    let part = voxelize(&mesh, &region, rule).unwrap();
                    let at = cells.each_ref().map(|range| range.start);
                    assert!(is_part(&part, &whole, at), "{name} {rule:?} {cells:?}");
                    regions += 1;
                    closed += usize::from(region.closed().contains(&true));
                    occupied += part.count();
                }
            }
        }
    }
    assert!(
        regions > 500 && closed > 100 && occupied > 100_000,
        "{regions} {closed} {occupied}"
    );
}

#[test]
fn the_other_rules_have_not() {
    let mesh = fixture("knot.stl");
    let lattice = Fit::longest(30).pad(1).to(mesh.bounds()).unwrap();
    let [nx, ny, nz] = lattice.dims();
    let cells = [3..nx - 3, 3..ny - 3, nz / 3..2 * nz / 3];
    let region = lattice.region(cells.clone()).unwrap();
    for rule in [
        solid(Inside::Flood { close_holes: None }),
        Rule::filled().with_shell(1).unwrap(),
    ] {
        let whole = voxelize(&mesh, &lattice, rule).unwrap();
        let part = voxelize(&mesh, &region, rule).unwrap();
        assert!(
            !rule.is_local() && !is_part(&part, &whole, [3, 3, nz / 3]),
            "{rule:?}"
        );
    }
    assert!(
        !Rule::solid()
            .with_thin(ThinFeatures::Keep)
            .unwrap()
            .is_local()
    );
}

#[test]
fn the_digest_of_the_whole_comes_from_its_layers_in_any_order() {
    let mut random = Random(5);
    let mut merged = 0;
    for rule in [Rule::surface(), Rule::solid(), Rule::distance()] {
        let mesh = fixture("knot.stl");
        let lattice = Lattice::fit(mesh.bounds(), 32).unwrap();
        let whole = voxelize(&mesh, &lattice, rule).unwrap();
        let [nx, ny, nz] = lattice.dims();
        for _ in 0..10 {
            let mut ends: Vec<usize> = (0..5).map(|_| random.index(nz)).chain([0, nz]).collect();
            ends.sort_unstable();
            ends.dedup();
            let mut parts: Vec<_> = ends.windows(2).map(|ends| ends[0]..ends[1]).collect();
            for n in (1..parts.len()).rev() {
                parts.swap(n, random.index(n + 1));
            }
            // Two builders, as on two machines.
            let cell_type = whole.cells.as_ref().cell_type();
            let mut builders = [(); 2].map(|()| DigestBuilder::new(lattice.dims(), cell_type));
            for (n, layers) in parts.iter().enumerate() {
                let region = lattice.region([0..nx, 0..ny, layers.clone()]).unwrap();
                let part = voxelize(&mesh, &region, rule).unwrap();
                let to = if layers.start == 0 { 0 } else { n % 2 };
                builders[to].add_at(layers.start, &part.cells);
            }
            let [mut one, other] = builders;
            one.merge(other);
            assert_eq!(
                one.finish(Some(&lattice)),
                whole.digest(),
                "{rule:?} {parts:?}"
            );
            merged += parts.len();
        }
    }
    assert!(merged > 60, "{merged}");
}

#[test]
fn invalid_regions_are_refused() {
    let lattice = Lattice::fit(fixture("cube.stl").bounds(), 8).unwrap();
    for cells in [[0..9, 0..8, 0..8], [0..8, 4..4, 0..8], [0..8, 0..8, 8..9]] {
        let error = lattice.region(cells).unwrap_err();
        assert!(
            error.message().contains("are not a region of 8 cells"),
            "{error}"
        );
    }
}
