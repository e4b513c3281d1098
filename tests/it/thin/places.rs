//! Thin places of a part that is thicker than a cell elsewhere: compared with their definition, cell by cell,
//! for any end of the grid and any plan.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use voxelize::grid::CellSource;
use voxelize::rule::{LostComponents, LostFeatures, LostPlaces, lost};
use voxelize::{BitGrid, Bounds, Fit, Inside, Lattice, Mesh, Rational, Rule, Run, Voxelizer};

use super::{keep_thin, made, union};
use crate::support::place::Place;
use crate::support::solids::{Triangle, between, block, inside_out, plate, ribbed, stl};

const NOTHING: LostFeatures = LostFeatures {
    components: None,
    places: None,
};

/// Returns a sphere with spikes: every vertex is moved inwards by a pseudo-random amount.
fn spiky() -> Vec<Triangle> {
    let drawn = |vertex: [f32; 3]| {
        let bits = vertex.iter().fold(1_u64, |n, c| {
            (n ^ u64::from((c + 0.0).to_bits()))
                .wrapping_mul(6_364_136_223_846_793_005)
                .rotate_left(29)
        });
        let scale = [1.0, 0.6, 0.55, 0.5][(bits % 4) as usize];
        vertex.map(|c| c * scale)
    };
    let sphere = Mesh::open("fixtures/sphere.stl").unwrap();
    sphere
        .triangles()
        .iter()
        .map(|triangle| triangle.map(drawn))
        .collect()
}

fn grid(triangles: &[Triangle], longest: usize) -> Lattice {
    Fit::longest(longest)
        .pad(1)
        .to(&Bounds::of(triangles))
        .unwrap()
}

/// Returns a cell and its existing neighbours within `steps` steps.
fn around(dims: [usize; 3], cell: [usize; 3], steps: usize) -> impl Iterator<Item = [usize; 3]> {
    let side = 2 * steps + 1;
    let near = (0..side.pow(3)).map(move |n| {
        let step = [n % side, n / side % side, n / side / side];
        [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(steps))
    });
    near.filter(move |near| (0..3).all(|a| near[a] < dims[a]))
}

/// Removes the cells connected with `cell` from `left` and returns them.
fn take(left: &mut BTreeSet<[usize; 3]>, cell: [usize; 3]) -> Vec<[usize; 3]> {
    left.remove(&cell);
    let mut taken = vec![cell];
    let mut next = 0;
    while let Some(cell) = taken.get(next).copied() {
        // The indices of cells are far from the largest number.
        taken.extend(around([usize::MAX / 2; 3], cell, 1).filter(|near| left.remove(near)));
        next += 1;
    }
    taken
}

/// Computes lost and kept cells by loops over all cells, for a mesh of one component.
fn plainly(triangles: &[Triangle], lattice: &Lattice) -> (LostFeatures, BitGrid) {
    let dims = lattice.dims();
    let (solid, _) = made(triangles, lattice, Rule::solid());
    let (filled, _) = made(triangles, lattice, Rule::filled());
    let mut pieces = BTreeMap::new();
    let mut left: BTreeSet<_> = solid.iter().collect();
    while let Some(first) = left.first().copied() {
        pieces.extend(take(&mut left, first).into_iter().map(|cell| (cell, first)));
    }
    let is_lost = |cell: &[usize; 3]| !around(dims, *cell, 1).any(|near| solid.get(near));
    // A lost cell is its own piece.
    let piece = |cell: [usize; 3]| {
        pieces
            .get(&cell)
            .copied()
            .or((filled.get(cell) && is_lost(&cell)).then_some(cell))
    };
    let mut components = 0;
    let mut broken = 0;
    let mut most = 0;
    let mut places = vec![];
    let mut kept = solid.clone();
    let mut rest: BTreeSet<_> = filled.iter().collect();
    let mut lost = 0;
    while let Some(first) = rest.first().copied() {
        let component = take(&mut rest, first);
        let of_it: BTreeSet<_> = component
            .iter()
            .filter_map(|cell| pieces.get(cell))
            .collect();
        components += 1;
        lost += u64::from(of_it.is_empty());
        broken += u64::from(of_it.len() > 1);
        most = most.max(if of_it.len() > 1 {
            of_it.len() as u64
        } else {
            0
        });
        let mut named = vec![];
        let mut left: BTreeSet<_> = component.iter().copied().filter(is_lost).collect();
        while let Some(first) = left.first().copied() {
            let place = take(&mut left, first);
            let low = [0, 1, 2].map(|a| place.iter().map(|cell| cell[a]).min().unwrap());
            let high = [0, 1, 2].map(|a| place.iter().map(|cell| cell[a]).max().unwrap());
            if !of_it.is_empty() && (0..3).any(|a| high[a] - low[a] >= 3) {
                named.push((place.len() as u64, low, high));
            }
        }
        if of_it.len() != 1 || !named.is_empty() {
            for cell in component {
                let near: BTreeSet<_> = around(dims, cell, 2).filter_map(piece).collect();
                if is_lost(&cell) || near.len() > 1 {
                    kept.set(cell);
                }
            }
        }
        places.extend(named);
    }
    let length =
        |(_, low, high): &(u64, [usize; 3], [usize; 3])| (0..3).map(|a| high[a] + 1 - low[a]).max();
    let largest = places
        .iter()
        .copied()
        .max_by_key(|place| (length(place), place.0, Reverse([place.1, place.2])));
    let walls = |at: [usize; 3]| [0, 1, 2].map(|a| lattice.wall(a, at[a]).to_f64());
    let places = largest.map(|(_, low, high)| LostPlaces {
        places: places.len() as u64,
        cells: places.iter().map(|(cells, ..)| cells).sum(),
        largest: [walls(low), walls(high.map(|n| n + 1))],
        dims: [0, 1, 2].map(|a| high[a] + 1 - low[a]),
    });
    let summary = LostComponents {
        components,
        lost,
        broken,
        pieces: most,
        ..EMPTY
    };
    (
        LostFeatures {
            components: (lost + broken > 0).then_some(summary),
            places,
        },
        kept,
    )
}

/// Counts without details.
const EMPTY: LostComponents = LostComponents {
    components: 0,
    lost: 0,
    broken: 0,
    pieces: 0,
    largest: [[0.0; 3]; 2],
    triangles: 0,
    thickness: 0.0,
    cell: 0.0,
};

/// Removes the fields that describe components of the mesh.
fn numbers(found: LostFeatures) -> LostFeatures {
    let components = found.components.map(
        |LostComponents {
             components,
             lost,
             broken,
             pieces,
             ..
         }| {
            LostComponents {
                components,
                lost,
                broken,
                pieces,
                ..EMPTY
            }
        },
    );
    LostFeatures {
        components,
        ..found
    }
}

fn found(triangles: &[Triangle], lattice: &Lattice) -> LostFeatures {
    let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
    let found = lost::find(&mesh, lattice, Inside::Auto, None, &Run::default()).unwrap();
    let voxelize::Voxelized { voxels: solid, .. } =
        Voxelizer::new(Rule::solid()).run(&mesh, lattice).unwrap();
    for threads in [1, 3] {
        let run = Run::default().threads(threads);
        let solid = Some(solid.occupied().unwrap());
        assert_eq!(
            lost::find(&mesh, lattice, Inside::Auto, solid, &run).unwrap(),
            found
        );
    }
    found
}

/// Returns closed meshes of one part, each with a grid.
fn meshes() -> Vec<(String, Vec<Triangle>, Lattice)> {
    let mut meshes = vec![];
    for degrees in [0.0, 10.0, 30.0, 45.0, 77.0, 90.0] {
        let ribbed = ribbed(degrees);
        meshes.push((
            format!("a rib at {degrees} degrees"),
            ribbed.clone(),
            grid(&ribbed, 40),
        ));
    }
    for longest in [17, 23, 33, 60] {
        meshes.push((
            format!("spikes of {longest}"),
            spiky(),
            grid(&spiky(), longest),
        ));
    }
    for (name, longest) in [
        ("knot", 12),
        ("knot", 20),
        ("octahedron", 31),
        ("prism", 17),
        ("cube", 9),
    ] {
        let triangles = Mesh::open(format!("fixtures/{name}.stl"))
            .unwrap()
            .triangles()
            .to_vec();
        let lattice = grid(&triangles, longest);
        meshes.push((format!("{name} of {longest}"), triangles, lattice));
    }
    meshes
}

#[test]
fn expected_are_named_and_kept_by_definition() {
    let mut places = 0;
    let mut broken = 0;
    let mut more = 0;
    let mut none = 0;
    for (name, triangles, lattice) in meshes() {
        let (solid, _) = made(&triangles, &lattice, Rule::solid());
        let (expected, wanted) = plainly(&triangles, &lattice);
        assert_eq!(numbers(found(&triangles, &lattice)), expected, "{name}");
        let (kept, _) = made(&triangles, &lattice, keep_thin());
        assert!(
            kept == wanted,
            "{name}: {} cells, not {}",
            kept.count(),
            wanted.count()
        );
        places += expected.places.map_or(0, |of| of.places);
        broken += expected.components.map_or(0, |of| of.broken);
        more += kept.count() - solid.count();
        none += u64::from(expected == NOTHING && kept == solid);
        // The orientation of triangles does not matter while it can be repaired.
        if name.starts_with("a rib") {
            assert!(expected != NOTHING, "{name}");
            let turned = inside_out(triangles.clone());
            assert_eq!(numbers(found(&turned, &lattice)), expected, "{name}");
            let mixed: Vec<_> = [&turned[..9], &triangles[9..]].concat();
            let robust = Rule::solid().with_inside(Inside::Robust).unwrap();
            assert!(made(&mixed, &lattice, robust).0 == solid, "{name}");
            let mesh = Mesh::from_triangles(mixed.clone()).unwrap();
            let again = lost::find(&mesh, &lattice, Inside::Robust, None, &Run::default()).unwrap();
            assert_eq!(numbers(again), expected, "{name}");
            let robust = keep_thin().with_inside(Inside::Robust).unwrap();
            assert!(made(&mixed, &lattice, robust).0 == kept, "{name}");
        }
    }
    assert!(
        places > 10 && broken > 3 && more > 5_000 && none >= 2,
        "{places} places, {broken} broken, {more} cells, {none} meshes without"
    );
}

#[test]
fn kept_cells_of_a_rib_are_connected_with_the_rest() {
    for degrees in [0.0, 10.0, 45.0, 90.0] {
        let ribbed = ribbed(degrees);
        let lattice = grid(&ribbed, 50);
        let (kept, _) = made(&ribbed, &lattice, keep_thin());
        let mut left: BTreeSet<_> = kept.iter().collect();
        let first = *left.first().unwrap();
        take(&mut left, first);
        assert_eq!(left.len(), 0, "{degrees}");
    }
}

#[test]
fn expected_do_not_depend_on_how_the_grid_is_made() {
    let mut slabs = 0;
    for (name, triangles, lattice) in meshes() {
        let mesh = Mesh::from_triangles(triangles.clone()).unwrap();
        let voxelize::Voxelized {
            voxels: whole,
            stats,
            ..
        } = Voxelizer::new(keep_thin()).run(&mesh, &lattice).unwrap();
        for height in [1, 5, 16] {
            let mut made = Voxelizer::new(keep_thin())
                .slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height))
                .unwrap();
            while made.next().unwrap().is_some() {}
            assert_eq!(made.digest(), whole.digest(), "{name}, slabs of {height}");
            assert_eq!(made.made().stats.lost, stats.lost, "{name}");
            slabs += 1;
        }
        for run in [1, 2, 7].map(|threads| Run::default().threads(threads)) {
            let found = lost::find(&mesh, &lattice, Inside::Auto, None, &run).unwrap();
            assert_eq!(Some(found), stats.lost, "{name}");
        }
        // Padding changes nothing.
        let padded = Fit::new(voxelize::Size::Spacing(lattice.spacing().clone()))
            .origin(lattice.origin().clone())
            .pad(11)
            .to(mesh.bounds())
            .unwrap();
        let found = lost::find(&mesh, &padded, Inside::Auto, None, &Run::default()).unwrap();
        assert_eq!(Some(found), stats.lost, "{name}");
    }
    assert!(slabs >= 45, "{slabs} runs in slabs");
}

#[test]
fn a_cut_through_a_mesh_makes_no_lost_feature() {
    let part = plate(0.0);
    let ribbed = ribbed(0.0);
    let raised: Vec<Triangle> = part
        .iter()
        .map(|t| t.map(|[x, y, z]| [x, y, z + 30.0]))
        .collect();
    let all = [ribbed.clone(), raised.clone()].concat();
    let spacing = voxelize::Size::Spacing([0; 3].map(|_| Rational::from(1)));
    let lattice = Fit::new(spacing)
        .origin([0; 3].map(Rational::from))
        .to(&Bounds::of(&all))
        .unwrap();
    // A lost component is not a place.
    let of_all = found(&all, &lattice);
    assert_eq!(
        of_all.components.map(|all| (all.components, all.lost)),
        Some((2, 1))
    );
    assert_eq!(
        of_all.places.map(|of| (of.places, of.dims)),
        Some((1, [1, 64, 39]))
    );
    let (whole, _) = made(&raised, &lattice, Rule::filled());
    let (kept, _) = made(&all, &lattice, keep_thin());
    assert!(kept == union(&made(&ribbed, &lattice, keep_thin()).0, &whole));
    // Beyond the grid nothing is lost.
    let below = Lattice::new(
        [64, 64, 20],
        [0; 3].map(Rational::from),
        lattice.spacing().clone(),
        [false; 3],
    );
    assert_eq!(found(&ribbed, &below.unwrap()), NOTHING);
    // A cut through a block leaves nothing thin.
    let cut = Lattice::new(
        [3, 3, 3],
        [8; 3].map(Rational::from),
        lattice.spacing().clone(),
        [false; 3],
    )
    .unwrap();
    assert_eq!(found(&block(), &cut), NOTHING);
    let edge = between([0.0; 3], [10.0, 10.0, 8.4]);
    assert_eq!(found(&edge, &cut), NOTHING);
    assert!(made(&edge, &cut, keep_thin()).0 == made(&edge, &cut, Rule::solid()).0);
    // A cut along a rib leaves a thin place without losing its cells.
    let tile = Lattice::new(
        [20, 20, 20],
        [20, 20, 30].map(Rational::from),
        lattice.spacing().clone(),
        [false; 3],
    );
    let tile = tile.unwrap();
    assert_eq!(found(&ribbed, &tile).components, None);
    assert!(found(&ribbed, &tile).places.is_some());
    let part = made(&ribbed, &tile, keep_thin()).0;
    let whole = made(&ribbed, &lattice, keep_thin()).0;
    let same =
        |cell: [usize; 3]| whole.get([cell[0] + 20, cell[1] + 20, cell[2] + 30]) == part.get(cell);
    assert!((0..8000).all(|n| same([n % 20, n / 20 % 20, n / 400])) && part.count() == 400);
}

#[test]
fn the_command_names_places_and_keeps_them() {
    let place = Place::new();
    place.write("ribbed.stl", stl(&ribbed(0.0)));
    let json = place
        .run("ribbed.stl --solid --voxel-size 1 -o a.npz --json")
        .expect(0)
        .json();
    assert_eq!(json["warnings"][0]["code"].as_str(), Some("W011"), "{json}");
    let thin = &json["inside"]["thin_places"];
    assert_eq!((&thin["places"], &thin["cells"]), (&1.into(), &2496.into()));
    assert_eq!(
        thin["largest"]["bounds"]["min"],
        serde_json::json!([32.0, 0.0, 21.0])
    );
    assert_eq!(thin["largest"]["dims"], serde_json::json!([1, 64, 39]));
    let kept = place
        .run("ribbed.stl --solid --voxel-size 1 --keep-thin -o b.npz --json")
        .expect(0)
        .json();
    assert_eq!(
        (&kept["warnings"], &kept["inside"]["thin_places"]["cells"]),
        (&serde_json::json!([]), &2496.into())
    );
    place.run("verify b.npz ribbed.stl").expect(0);
    // A missing triangle changes the method, not the lost features.
    place.write("open.stl", stl(&ribbed(0.0)[1..]));
    let json = place
        .run("open.stl --solid --voxel-size 1 -o c.npz --json")
        .expect(0)
        .json();
    assert_eq!(json["inside"]["used"], "robust", "{json}");
    assert!(
        json["inside"]["thin_places"]["cells"].as_u64() > Some(1000),
        "{json}"
    );
    // Every cell of the block, then also the cells of the rib.
    for (options, cells) in [("", 81_920), ("--keep-thin", 84_480)] {
        let line = format!("ribbed.stl --solid --voxel-size 1 {options} -o a.npz --json");
        assert_eq!(
            place.run(&line).expect(0).json()["counts"]["occupied"],
            cells,
            "{options}"
        );
    }
}
