//! Places that solid loses of a part that is no thinner than a cell as a whole: against their definition, cell
//! by cell, wherever the grid ends and however it is made.

use std::collections::BTreeSet;

use voxelize::grid::CellSource;
use voxelize::rule::{LostFeatures, LostPlaces, lost};
use voxelize::{BitGrid, Bounds, Fit, Inside, Lattice, Mesh, Rational, Rule, Run, Voxelizer};

use super::{keep_thin, made, union};
use crate::support::place::Place;
use crate::support::solids::{Triangle, between, block, inside_out, plate, ribbed, stl};

/// Of a closed mesh.
const NOTHING: LostFeatures = LostFeatures { components: None, places: None, closed: true };

/// A sphere with spikes: every vertex is drawn in by as much as its bits say.
fn spiky() -> Vec<Triangle> {
    let drawn = |vertex: [f32; 3]| {
        let bits = vertex.iter().fold(1_u64, |n, c| {
            (n ^ u64::from((c + 0.0).to_bits())).wrapping_mul(6_364_136_223_846_793_005).rotate_left(29)
        });
        let scale = [1.0, 0.6, 0.55, 0.5][(bits % 4) as usize];
        vertex.map(|c| c * scale)
    };
    let sphere = Mesh::open("fixtures/sphere.stl").unwrap();
    sphere.triangles().iter().map(|triangle| triangle.map(drawn)).collect()
}

fn grid(triangles: &[Triangle], longest: usize) -> Lattice {
    Fit::longest(longest).pad(1).to(&Bounds::of(triangles)).unwrap()
}

/// A cell and those up to so many steps around it, as far as there are any.
fn around(dims: [usize; 3], cell: [usize; 3], steps: usize) -> impl Iterator<Item = [usize; 3]> {
    let side = 2 * steps + 1;
    let near = (0..side.pow(3)).map(move |n| {
        let step = [n % side, n / side % side, n / side / side];
        [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(steps))
    });
    near.filter(move |near| (0..3).all(|a| near[a] < dims[a]))
}

/// Takes out of `left` what hangs together with `cell`.
fn take(left: &mut BTreeSet<[usize; 3]>, cell: [usize; 3]) -> Vec<[usize; 3]> {
    left.remove(&cell);
    let mut taken = vec![cell];
    let mut next = 0;
    while let Some(cell) = taken.get(next).copied() {
        // The numbers of cells are far from the largest.
        taken.extend(around([usize::MAX / 2; 3], cell, 1).filter(|near| left.remove(near)));
        next += 1;
    }
    taken
}

/// Whether a cell that is filled and not solid is lost, by definition.
fn is_lost(solid: &BitGrid, filled: &BitGrid, cell: [usize; 3]) -> bool {
    let dims = solid.dims();
    let beside = |cell, steps| around(dims, cell, steps);
    if !beside(cell, 1).any(|near| solid.get(near)) {
        return true;
    }
    let is_thick = |cell| beside(cell, 1).count() == 27 && beside(cell, 1).all(|near| solid.get(near));
    if beside(cell, 3).any(is_thick) {
        return false;
    }
    let mut window: BTreeSet<_> = beside(cell, 2).filter(|near| filled.get(*near)).collect();
    let here = take(&mut window, cell);
    let mut left: BTreeSet<_> = here.into_iter().filter(|near| solid.get(*near)).collect();
    let Some(first) = left.first().copied() else { return true };
    take(&mut left, first);
    !left.is_empty()
}

/// What is lost, and what is to be kept, by loops over all cells. `parts` has the cells of lost parts.
fn plainly(
    triangles: &[Triangle],
    lattice: &Lattice,
    parts: Option<&BitGrid>,
) -> (Option<LostPlaces>, BitGrid) {
    let dims = lattice.dims();
    let (solid, _) = made(triangles, lattice, Rule::solid());
    let solid = parts.map_or(solid.clone(), |parts| union(&solid, parts));
    let (filled, _) = made(triangles, lattice, Rule::filled());
    let is_lost = |cell: &[usize; 3]| !solid.get(*cell) && is_lost(&solid, &filled, *cell);
    let mut left: BTreeSet<_> = filled.iter().filter(is_lost).collect();
    let mut kept = solid.clone();
    let near = left.iter().flat_map(|cell| around(dims, *cell, 1)).filter(|near| filled.get(*near));
    near.for_each(|near| kept.set(near));
    let mut told: Option<(LostPlaces, u64)> = None;
    while let Some(first) = left.first().copied() {
        let place = take(&mut left, first);
        let (cells, mut low, mut high) = (place.len() as u64, first, first);
        for cell in place {
            low = [0, 1, 2].map(|a| low[a].min(cell[a]));
            high = [0, 1, 2].map(|a| high[a].max(cell[a]));
        }
        let dims = [0, 1, 2].map(|a| high[a] + 1 - low[a]);
        if dims.iter().all(|n| *n < 4) {
            continue;
        }
        let walls = |at: [usize; 3]| [0, 1, 2].map(|a| lattice.wall(a, at[a]).to_f64());
        let place = LostPlaces { places: 1, cells, largest: [walls(low), walls(high.map(|n| n + 1))], dims };
        let length = |place: &LostPlaces| place.dims.into_iter().max().unwrap();
        told = Some(match told {
            None => (place, cells),
            Some((told, most)) => {
                let (places, all) = (told.places + 1, told.cells + cells);
                let is_larger = (length(&place), cells) > (length(&told), most);
                let (largest, most) = if is_larger { (place, cells) } else { (told, most) };
                (LostPlaces { places, cells: all, ..largest }, most)
            }
        });
    }
    (told.map(|(told, _)| told), kept)
}

fn found(triangles: &[Triangle], lattice: &Lattice) -> LostFeatures {
    let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
    let found = lost::find(&mesh, lattice, None, &Run::default()).unwrap();
    let nonzero = Rule::solid().with_inside(Inside::Nonzero).unwrap();
    let voxelize::Voxelized { voxels: solid, .. } = Voxelizer::new(nonzero).run(&mesh, lattice).unwrap();
    for threads in [1, 3] {
        let run = Run::default().threads(threads);
        assert_eq!(lost::find(&mesh, lattice, Some(solid.occupied().unwrap()), &run).unwrap(), found);
    }
    found
}

/// Closed meshes of one part, with a grid each.
fn meshes() -> Vec<(String, Vec<Triangle>, Lattice)> {
    let mut meshes = vec![];
    for degrees in [0.0, 10.0, 30.0, 45.0, 77.0, 90.0] {
        let ribbed = ribbed(degrees);
        meshes.push((format!("a rib at {degrees} degrees"), ribbed.clone(), grid(&ribbed, 40)));
    }
    for longest in [17, 23, 33, 70, 150] {
        meshes.push((format!("spikes of {longest}"), spiky(), grid(&spiky(), longest)));
    }
    for (name, longest) in [("knot", 12), ("knot", 20), ("octahedron", 31), ("prism", 17), ("cube", 9)] {
        let triangles = Mesh::open(format!("fixtures/{name}.stl")).unwrap().triangles().to_vec();
        let lattice = grid(&triangles, longest);
        meshes.push((format!("{name} of {longest}"), triangles, lattice));
    }
    meshes
}

#[test]
fn places_are_told_and_kept_by_definition() {
    let (mut places, mut more, mut none) = (0, 0, 0);
    for (name, triangles, lattice) in meshes() {
        let (solid, parts) = made(&triangles, &lattice, Rule::solid());
        assert_eq!(parts, None, "{name}");
        let (told, wanted) = plainly(&triangles, &lattice, None);
        assert_eq!(found(&triangles, &lattice).places, told, "{name}");
        let (kept, _) = made(&triangles, &lattice, keep_thin());
        assert!(kept == wanted, "{name}: {} cells, not {}", kept.count(), wanted.count());
        places += told.map_or(0, |told| told.places);
        more += kept.count() - solid.count();
        none += u64::from(told.is_none() && kept == solid);
        // Which way triangles face does not matter while it can be repaired.
        if name.starts_with("a rib") {
            assert!(told.is_some(), "{name}");
            let turned = inside_out(triangles.clone());
            assert_eq!(found(&turned, &lattice).places, told, "{name}");
            let mixed: Vec<_> = [&turned[..9], &triangles[9..]].concat();
            assert_eq!(found(&mixed, &lattice).places, told, "{name}");
            assert!(made(&mixed, &lattice, keep_thin()).0 == kept, "{name}");
        }
    }
    assert!(places > 30 && more > 5_000 && none >= 2, "{places} places, {more} cells, {none} meshes without");
}

#[test]
fn what_is_kept_of_a_rib_hangs_together_with_the_rest() {
    for degrees in [0.0, 10.0, 45.0, 90.0] {
        let ribbed = ribbed(degrees);
        let lattice = grid(&ribbed, 50);
        let (kept, _) = made(&ribbed, &lattice, keep_thin());
        let mut left: BTreeSet<_> = kept.iter().collect();
        let first = *left.first().unwrap();
        take(&mut left, first);
        assert_eq!(left.len(), 0, "{degrees}");
        assert_eq!(found(&ribbed, &lattice).components, None);
    }
}

#[test]
fn places_do_not_depend_on_where_the_grid_ends_or_how_it_is_made() {
    let (mut tiles, mut slabs) = (0, 0);
    for (name, triangles, lattice) in meshes() {
        let mesh = Mesh::from_triangles(triangles.clone()).unwrap();
        let voxelize::Voxelized { voxels: whole, stats, .. } =
            Voxelizer::new(keep_thin()).run(&mesh, &lattice).unwrap();
        for height in [1, 5, 16] {
            let mut made = Voxelizer::new(keep_thin())
                .slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height))
                .unwrap();
            while made.next().unwrap().is_some() {}
            assert_eq!(made.digest(), whole.digest(), "{name}, slabs of {height}");
            assert_eq!(made.made().stats.inside.lost, stats.inside.lost, "{name}");
            slabs += 1;
        }
        for run in [1, 2, 7].map(|threads| Run::default().threads(threads)) {
            assert_eq!(Some(lost::find(&mesh, &lattice, None, &run).unwrap()), stats.inside.lost, "{name}");
        }
        let few = Run::default().memory(1 << 21);
        assert_eq!(
            Some(lost::find(&mesh, &lattice, None, &few).unwrap()),
            stats.inside.lost,
            "{name}, a layer at a time"
        );
        let all = lattice.dims();
        for (first, last) in [([3, 1, 2], [2, 2, 3]), ([2, 3, 1], [3, 3, 2])] {
            let low = [0, 1, 2].map(|a| all[a] / first[a] / 2);
            let dims = [0, 1, 2].map(|a| (all[a] - low[a]) / last[a] + 1).map(|n| n.min(90));
            let dims = [0, 1, 2].map(|a| dims[a].min(all[a] - low[a]));
            let origin = [0, 1, 2].map(|a| lattice.wall(a, low[a]));
            let tile = Lattice::new(dims, origin, lattice.spacing().clone(), [false; 3]).unwrap();
            let (part, _) = made(&triangles, &tile.with_snap(lattice.snap()), keep_thin());
            for n in 0..dims[0] * dims[1] * dims[2] {
                let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
                let there = whole.occupied().unwrap().get([0, 1, 2].map(|a| cell[a] + low[a]));
                assert_eq!(part.get(cell), there, "{name}, {cell:?} of the tile at {low:?}");
            }
            tiles += 1;
        }
    }
    assert!(tiles >= 30 && slabs >= 45, "{tiles} tiles, {slabs} runs in slabs");
}

#[test]
fn lost_parts_are_no_places_and_open_meshes_have_none() {
    let (part, ribbed) = (plate(0.0), ribbed(0.0));
    let raised: Vec<Triangle> = part.iter().map(|t| t.map(|[x, y, z]| [x, y, z + 30.0])).collect();
    let all = [ribbed.clone(), raised.clone()].concat();
    let spacing = voxelize::Size::Spacing([0; 3].map(|_| Rational::from(1)));
    let lattice = Fit::new(spacing).origin([0; 3].map(Rational::from)).to(&Bounds::of(&all)).unwrap();
    let of_all = found(&all, &lattice);
    assert_eq!(of_all.components.map(|all| (all.components, all.lost)), Some((2, 1)));
    let (whole, _) = made(&raised, &lattice, Rule::filled());
    let (told, wanted) = plainly(&all, &lattice, Some(&whole));
    assert_eq!(of_all.places, told);
    assert_eq!(told.map(|told| (told.places, told.dims)), Some((1, [1, 64, 39])));
    assert!(made(&all, &lattice, keep_thin()).0 == wanted);
    // Where a triangle is missing.
    assert_eq!(found(&ribbed[1..], &lattice), LostFeatures::default());
    // Beyond the grid nothing is lost.
    let below = Lattice::new([64, 64, 20], [0; 3].map(Rational::from), lattice.spacing().clone(), [false; 3]);
    assert_eq!(found(&ribbed, &below.unwrap()), NOTHING);
    // A cut through a block leaves nothing thin.
    let cut =
        Lattice::new([3, 3, 3], [8; 3].map(Rational::from), lattice.spacing().clone(), [false; 3]).unwrap();
    assert_eq!(found(&block(), &cut), NOTHING);
    let edge = between([0.0; 3], [10.0, 10.0, 8.4]);
    assert_eq!(found(&edge, &cut), NOTHING);
    assert!(made(&edge, &cut, keep_thin()).0 == made(&edge, &cut, Rule::solid()).0);
}

#[test]
fn the_command_names_places_and_keeps_them() {
    let place = Place::new();
    place.write("ribbed.stl", stl(&ribbed(0.0)));
    let json = place.run("ribbed.stl --solid --voxel-size 1 -o a.npz --json").expect(0).json();
    assert_eq!(json["warnings"][0]["code"].as_str(), Some("W011"), "{json}");
    let thin = &json["inside"]["thin_places"];
    assert_eq!((&thin["places"], &thin["cells"]), (&1.into(), &2496.into()));
    assert_eq!(thin["largest"]["bounds"]["min"], serde_json::json!([32.0, 0.0, 21.0]));
    assert_eq!(thin["largest"]["dims"], serde_json::json!([1, 64, 39]));
    let kept = place.run("ribbed.stl --solid --voxel-size 1 --keep-thin -o b.npz --json").expect(0).json();
    assert_eq!(
        (&kept["warnings"], &kept["inside"]["thin_places"]["cells"]),
        (&serde_json::json!([]), &2496.into())
    );
    place.run("verify b.npz ribbed.stl").expect(0);
    // Where a triangle is missing none is looked for, and that is said.
    place.write("open.stl", stl(&ribbed(0.0)[1..]));
    let json = place.run("open.stl --solid --keep-thin --voxel-size 1 -o c.npz --json").expect(0).json();
    assert_eq!(json["warnings"][1]["code"].as_str(), Some("W010"), "{json}");
    assert!(json["inside"]["thin_places"].is_null() && json["inside"]["thin"]["lost"] == 0, "{json}");
    // Every cell of the block, and those of the rib.
    for (options, cells) in [("", 81_920), ("--keep-thin", 84_480)] {
        let line = format!("ribbed.stl --solid --voxel-size 1 {options} -o a.npz --json");
        assert_eq!(place.run(&line).expect(0).json()["counts"]["occupied"], cells, "{options}");
    }
}
