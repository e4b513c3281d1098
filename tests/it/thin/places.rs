//! Thin places of a part that is thicker than a cell elsewhere: compared with their definition, cell by cell,
//! for any end of the grid and any plan.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use voxelize::grid::CellSource;
use voxelize::rule::{LostComponents, LostFeatures, LostPlaces, lost};
use voxelize::run::Plan;
use voxelize::{BitGrid, Bounds, Fit, Inside, Lattice, Mesh, Rational, Rule, Run, Voxelizer};

use super::{cells, grid, keep_thin, union};
use crate::support::place::Place;
use crate::support::rows::check;
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
    let triangles = sphere.triangles().iter();
    triangles.map(|triangle| triangle.map(drawn)).collect()
}

fn padded(triangles: &[Triangle], longest: usize) -> Lattice {
    let fit = Fit::longest(longest).pad(1);
    fit.to(&Bounds::of(triangles)).unwrap()
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
    let solid = grid(triangles, lattice, Rule::solid());
    let filled = grid(triangles, lattice, Rule::filled());
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
    let mut summary = EMPTY;
    let mut places = vec![];
    let mut kept = solid.clone();
    let mut rest: BTreeSet<_> = filled.iter().collect();
    while let Some(first) = rest.first().copied() {
        let component = take(&mut rest, first);
        let of_it: BTreeSet<_> = component
            .iter()
            .filter_map(|cell| pieces.get(cell))
            .collect();
        summary.components += 1;
        summary.lost += u64::from(of_it.is_empty());
        if of_it.len() > 1 {
            summary.broken += 1;
            summary.pieces = summary.pieces.max(of_it.len() as u64);
        }
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
    let is_any = summary.lost + summary.broken > 0;
    let components = is_any.then_some(summary);
    (LostFeatures { components, places }, kept)
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
    let components = found.components.map(|all| LostComponents {
        components: all.components,
        lost: all.lost,
        broken: all.broken,
        pieces: all.pieces,
        ..EMPTY
    });
    LostFeatures {
        components,
        ..found
    }
}

fn found(triangles: &[Triangle], lattice: &Lattice) -> LostFeatures {
    let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
    let found = lost::find(&mesh, lattice, Inside::Auto, None, &Run::default()).unwrap();
    let solid = grid(triangles, lattice, Rule::solid());
    for threads in [1, 3] {
        let run = Run::default().threads(threads);
        let again = lost::find(&mesh, lattice, Inside::Auto, Some(&solid), &run).unwrap();
        assert_eq!(again, found);
    }
    found
}

/// Returns closed meshes of one part, each with a grid.
fn meshes() -> Vec<(String, Vec<Triangle>, Lattice)> {
    let mut meshes = vec![];
    for degrees in [0.0, 10.0, 30.0, 45.0, 77.0, 90.0] {
        let name = format!("a rib at {degrees} degrees");
        meshes.push((name, ribbed(degrees), 40));
    }
    for longest in [17, 23, 33, 60] {
        meshes.push((format!("spikes of {longest}"), spiky(), longest));
    }
    for (name, longest) in [
        ("knot", 12),
        ("knot", 20),
        ("octahedron", 31),
        ("prism", 17),
        ("cube", 9),
    ] {
        let mesh = Mesh::open(format!("fixtures/{name}.stl")).unwrap();
        let triangles = mesh.triangles().to_vec();
        meshes.push((format!("{name} of {longest}"), triangles, longest));
    }
    let with_grid = |(name, triangles, longest): (_, Vec<_>, _)| {
        let lattice = padded(&triangles, longest);
        (name, triangles, lattice)
    };
    meshes.into_iter().map(with_grid).collect()
}

#[test]
fn expected_are_named_and_kept_by_definition() {
    let mut places = 0;
    let mut broken = 0;
    let mut more = 0;
    let mut none = 0;
    for (name, triangles, lattice) in meshes() {
        let solid = grid(&triangles, &lattice, Rule::solid());
        let (expected, wanted) = plainly(&triangles, &lattice);
        assert_eq!(numbers(found(&triangles, &lattice)), expected, "{name}");
        let kept = grid(&triangles, &lattice, keep_thin());
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
            assert!(grid(&mixed, &lattice, robust) == solid, "{name}");
            let mesh = Mesh::from_triangles(mixed.clone()).unwrap();
            let again = lost::find(&mesh, &lattice, Inside::Robust, None, &Run::default()).unwrap();
            assert_eq!(numbers(again), expected, "{name}");
            let robust = keep_thin().with_inside(Inside::Robust).unwrap();
            assert!(grid(&mixed, &lattice, robust) == kept, "{name}");
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
        let lattice = padded(&ribbed, 50);
        let kept = grid(&ribbed, &lattice, keep_thin());
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
        let whole = Voxelizer::new(keep_thin()).run(&mesh, &lattice).unwrap();
        let lost_whole = whole.stats.lost;
        for height in [1, 5, 16] {
            let voxelizer = Voxelizer::new(keep_thin());
            let mut made = voxelizer
                .slabs(&mesh, &lattice, Plan::Slabs(height))
                .unwrap();
            while made.next().unwrap().is_some() {}
            assert_eq!(made.digest(), whole.voxels.digest(), "{name}, {height}");
            assert_eq!(made.made().stats.lost, lost_whole, "{name}");
            slabs += 1;
        }
        for run in [1, 2, 7].map(|threads| Run::default().threads(threads)) {
            let found = lost::find(&mesh, &lattice, Inside::Auto, None, &run).unwrap();
            assert_eq!(Some(found), lost_whole, "{name}");
        }
        // Padding changes nothing.
        let padded = Fit::new(voxelize::Size::Spacing(lattice.spacing().clone()))
            .origin(lattice.origin().clone())
            .pad(11)
            .to(mesh.bounds())
            .unwrap();
        let found = lost::find(&mesh, &padded, Inside::Auto, None, &Run::default()).unwrap();
        assert_eq!(Some(found), lost_whole, "{name}");
    }
    assert!(slabs >= 45, "{slabs} runs in slabs");
}

#[test]
fn a_cut_through_a_mesh_makes_no_lost_feature() {
    let part = plate(0.0);
    let ribbed = ribbed(0.0);
    let raised = part.iter().map(|t| t.map(|[x, y, z]| [x, y, z + 30.0]));
    let raised: Vec<Triangle> = raised.collect();
    let all = [ribbed.clone(), raised.clone()].concat();
    let lattice = cells(&all, 10);
    // A lost component is not a place.
    let of_all = found(&all, &lattice);
    let components = of_all.components.unwrap();
    assert_eq!((components.components, components.lost), (2, 1));
    let places = of_all.places.unwrap();
    assert_eq!((places.places, places.dims), (1, [1, 64, 39]));
    let whole = grid(&raised, &lattice, Rule::filled());
    let kept = grid(&all, &lattice, keep_thin());
    assert!(kept == union(&grid(&ribbed, &lattice, keep_thin()), &whole));
    // Beyond the grid nothing is lost.
    let part_of = |dims: [usize; 3], low: [i64; 3]| {
        let spacing = lattice.spacing().clone();
        Lattice::new(dims, low.map(Rational::from), spacing, [false; 3]).unwrap()
    };
    assert_eq!(found(&ribbed, &part_of([64, 64, 20], [0; 3])), NOTHING);
    // A cut through a block leaves nothing thin.
    let cut = part_of([3; 3], [8; 3]);
    assert_eq!(found(&block(), &cut), NOTHING);
    let edge = between([0.0; 3], [10.0, 10.0, 8.4]);
    assert_eq!(found(&edge, &cut), NOTHING);
    assert!(grid(&edge, &cut, keep_thin()) == grid(&edge, &cut, Rule::solid()));
    // A cut along a rib leaves a thin place without losing its cells.
    let tile = part_of([20; 3], [20, 20, 30]);
    assert_eq!(found(&ribbed, &tile).components, None);
    assert!(found(&ribbed, &tile).places.is_some());
    let part = grid(&ribbed, &tile, keep_thin());
    let whole = grid(&ribbed, &lattice, keep_thin());
    let same =
        |cell: [usize; 3]| whole.get([cell[0] + 20, cell[1] + 20, cell[2] + 30]) == part.get(cell);
    assert!((0..8000).all(|n| same([n % 20, n / 20 % 20, n / 400])) && part.count() == 400);
}

/// The transcripts `warnings` and `summary` have the texts.
#[test]
fn the_command_counts_places_and_keeps_them() {
    let place = Place::new();
    place.write("ribbed.stl", stl(&ribbed(0.0)));
    place.write("open.stl", stl(&ribbed(0.0)[1..]));
    let runs = check(
        &place,
        r#"
        0 ribbed.stl --solid --voxel-size 1 -o a.npz --json
            /warnings/0/code "W011"
            /inside/thin_places/places 1
            /inside/thin_places/cells 2496
            /inside/thin_places/largest/bounds/min [32.0, 0.0, 21.0]
            /inside/thin_places/largest/dims [1, 64, 39]
            # Every cell of the block.
            /counts/occupied 81920
        0 ribbed.stl --solid --voxel-size 1 --keep-thin -o b.npz --json
            /warnings []
            /inside/thin_places/cells 2496
            # Also the cells of the rib.
            /counts/occupied 84480
        0 verify b.npz ribbed.stl
        # A missing triangle changes the method, not the lost features.
        0 open.stl --solid --voxel-size 1 -o c.npz --json
            /inside/used "robust"
        "#,
    );
    let json = runs[3].json();
    let cells = json["inside"]["thin_places"]["cells"].as_u64();
    assert!(cells > Some(1000), "{json}");
}
