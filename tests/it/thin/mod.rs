//! Thin parts are never lost silently. Parts that solid loses are reported, `--keep-thin` keeps them and
//! changes nothing else, and `--hollow` keeps the cells of a plain loop.

mod order;
mod places;
mod ribs;

use std::collections::BTreeSet;

use crate::support::place::Place;
use crate::support::rows::check;
use crate::support::solids::{Triangle, between, block, inside_out, plate, stl};
use voxelize::grid::CellSource;
use voxelize::rule::{LostComponents, lost};
use voxelize::run::Plan;
use voxelize::{
    BitGrid, Fit, Inside, Lattice, Mesh, Rational, Rule, Run, Size, ThinFeatures, Ties, Voxelizer,
};

/// Returns cells of this size in tenths, with walls through the origin.
fn cells(triangles: &[Triangle], tenths: i64) -> Lattice {
    let fit = Fit::new(Size::Spacing([0; 3].map(|_| Rational::new(tenths, 10))));
    fit.origin([0; 3].map(Rational::from))
        .to(&voxelize::Bounds::of(triangles))
        .unwrap()
}

fn made(
    triangles: &[Triangle],
    lattice: &Lattice,
    what: Rule,
) -> (BitGrid, Option<LostComponents>) {
    let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
    let voxelize::Voxelized { voxels, stats, .. } =
        Voxelizer::new(what).run(&mesh, lattice).unwrap();
    let inside = what.inside().unwrap_or_default();
    let found = lost::find(&mesh, lattice, inside, None, &Run::default()).unwrap();
    assert!(stats.lost.is_none_or(|summary| summary == found));
    (voxels.into_occupied().unwrap(), found.components)
}

fn grid(triangles: &[Triangle], lattice: &Lattice, what: Rule) -> BitGrid {
    made(triangles, lattice, what).0
}

fn keep_thin() -> Rule {
    Rule::solid().with_thin(ThinFeatures::Keep).unwrap()
}

fn union(a: &BitGrid, b: &BitGrid) -> BitGrid {
    let mut both = a.clone();
    b.iter().for_each(|cell| both.set(cell));
    both
}

#[test]
fn a_plate_of_a_tenth_of_a_cell_is_named_and_kept_and_nothing_else_is() {
    for (degrees, solid_cells) in [(0.0, 0), (30.0, 20), (90.0, 0)] {
        let block = block();
        let plate = plate(degrees);
        let all = [block.clone(), plate.clone()].concat();
        let lattice = cells(&all, 10);
        let (solid, summary) = made(&all, &lattice, Rule::solid());
        assert_eq!(solid.count(), 1000 + solid_cells, "{degrees}");
        let summary = summary.unwrap();
        // Twenty cells in two rows.
        let (lost, pieces) = if solid_cells == 0 { (1, 0) } else { (0, 2) };
        assert_eq!(
            (summary.components, summary.lost, summary.broken),
            (2, lost, 1 - lost),
            "{degrees}"
        );
        assert_eq!((summary.triangles, summary.pieces), (12, pieces));
        assert!(
            (0.09..0.1).contains(&summary.thickness) && summary.thickness < summary.cell,
            "{summary:?}"
        );
        let bounds = voxelize::Bounds::of(&plate);
        let corners = [bounds.min, bounds.max].map(|corner| corner.map(f64::from));
        assert_eq!(summary.largest, corners);

        let whole = grid(&plate, &lattice, Rule::filled());
        assert!(whole.count() >= 100);
        let thick = grid(&block, &lattice, Rule::solid());
        let (kept, same) = made(&all, &lattice, keep_thin());
        if lost == 1 {
            assert!(kept == union(&thick, &whole), "{degrees}");
        }
        assert!(kept.iter().all(|cell| thick.get(cell) || whole.get(cell)));
        assert_eq!(pieces_of(&kept), 2, "{degrees}");
        assert_eq!(same, Some(summary));
        let filled = grid(&all, &lattice, Rule::filled());
        assert!(whole.iter().all(|cell| filled.get(cell)));
    }
}

#[test]
fn parts_with_enough_cells_are_not_reported() {
    let all = [block(), plate(30.0)].concat();
    assert_eq!(made(&block(), &cells(&block(), 10), Rule::solid()).1, None);
    // As the warning advises.
    let fine = Fit::new(Size::Spacing([0; 3].map(|_| Rational::new(98, 1000))));
    let lattice = fine.to(&voxelize::Bounds::of(&all)).unwrap();
    assert_eq!(made(&all, &lattice, Rule::solid()).1, None);
}

#[test]
fn thick_parts_stay_as_solid_has_them_wherever_they_are() {
    // An octahedron off the walls. For its surface, filled would have more cells.
    let octahedron: Vec<Triangle> = Mesh::open("fixtures/octahedron.stl")
        .unwrap()
        .triangles()
        .to_vec();
    let extent = voxelize::Bounds::of(&octahedron);
    let lattice = Fit::longest(23).pad(8).to(&extent).unwrap();
    let cell = lattice.spacing()[0].to_f64() as f32;
    let high = extent.max.map(|c| c + 3.3 * cell);
    let low = [
        high[0] - 2.0 * cell,
        high[1] - 3.0 * cell,
        high[2] - 0.05 * cell,
    ];
    let sliver = between(low, high);
    let (solid, none) = made(&octahedron, &lattice, Rule::solid());
    assert_eq!(none, None);
    assert!(grid(&octahedron, &lattice, keep_thin()) == solid);
    let all = [octahedron, sliver.clone()].concat();
    let kept = grid(&all, &lattice, keep_thin());
    let whole = grid(&sliver, &lattice, Rule::filled());
    assert!(kept == union(&solid, &whole) && whole.count() >= 6);
    assert!(grid(&all, &lattice, Rule::filled()).count() > kept.count());
}

#[test]
fn cavities_are_no_parts_to_be_lost_and_sheets_are() {
    let slot = inside_out(between([2.0, 2.0, 5.05], [8.0, 8.0, 5.15]));
    let all = [block(), slot].concat();
    let lattice = cells(&all, 10);
    let (solid, summary) = made(&all, &lattice, Rule::solid());
    assert_eq!(summary, None);
    assert!(grid(&all, &lattice, keep_thin()) == solid);
    // A sheet has no inside and is lost like a plate.
    let sheet = vec![[[12.0, 0.0, 5.1], [14.0, 0.0, 5.1], [12.0, 9.0, 5.1]]];
    let all = [block(), sheet.clone()].concat();
    let lattice = cells(&all, 10);
    let (solid, summary) = made(&all, &lattice, Rule::solid());
    let summary = summary.unwrap();
    assert_eq!((summary.lost, summary.thickness), (1, 0.0));
    assert_eq!(solid.count(), 1000);
    let surface = Rule::surface().with_ties(Ties::None).unwrap();
    let whole = grid(&sheet, &lattice, surface);
    assert!(grid(&all, &lattice, keep_thin()) == union(&solid, &whole));
}

#[test]
fn a_part_with_cells_for_some_of_it_is_named_unless_they_are_all_over_it() {
    // A tilted rod with a cell in its middle; the walls of a hollow box without any; a plate whose cells are
    // connected by corners.
    let mut rod = between([15.0, 8.45, 2.0], [25.0, 8.55, 2.1]);
    for [x, y, z] in rod.as_flattened_mut() {
        let [tilted_x, tilted_y] = [*x + 0.31 * *y - 0.135, *y - 0.31 * *x + 0.2];
        [*x, *y, *z] = [tilted_x, tilted_y, *z + 0.17 * *x + 0.05];
    }
    let low = [14.3, 0.3, 0.3];
    let outer = between(low, low.map(|c| c + 8.0));
    let inner = between(low.map(|c| c + 0.1), low.map(|c| c + 7.9));
    let hollow = [outer, inside_out(inner)].concat();
    let mut sheet = between([14.0, 0.0, 2.0], [22.0, 8.0, 2.5]);
    for [x, y, z] in sheet.as_flattened_mut() {
        *z = *z + 0.7 * *x + 0.6 * *y;
    }
    let mut cells_of_it = vec![];
    for (thin, lost, has_places) in [(rod, 0, true), (hollow, 1, false), (sheet, 0, false)] {
        let all = [block(), thin.clone()].concat();
        let lattice = cells(&all, 10);
        let mesh = Mesh::from_triangles(all.clone()).unwrap();
        let found = lost::find(&mesh, &lattice, Inside::Auto, None, &Run::default()).unwrap();
        let (solid, summary) = made(&all, &lattice, Rule::solid());
        cells_of_it.push(solid.count() - 1000);
        let found_lost = summary.map_or(0, |summary| summary.lost);
        assert_eq!(found_lost, lost, "{summary:?}");
        assert_eq!(found.places.is_some(), has_places, "{found:?}");
        let kept = grid(&all, &lattice, keep_thin());
        assert_eq!(pieces_of(&kept), 2);
        assert!(lost == 1 || has_places || kept == solid);
        // The fate of a part depends neither on other parts nor on the orientation of its triangles.
        let mut mixed = all;
        for triangle in mixed.iter_mut().skip(1).step_by(2) {
            triangle.swap(1, 2);
        }
        for others in [thin, mixed] {
            let mesh = Mesh::from_triangles(others).unwrap();
            let again = lost::find(&mesh, &lattice, Inside::Robust, None, &Run::default()).unwrap();
            let again_lost = again.components.map_or(0, |summary| summary.lost);
            assert_eq!((again_lost, again.places), (lost, found.places));
        }
    }
    assert!(
        cells_of_it[0] > 0 && cells_of_it[1] == 0 && cells_of_it[2] > 20,
        "{cells_of_it:?}"
    );
}

#[test]
fn meshes_without_losses_are_not_reported() {
    let at = |low: [f32; 3], size: [f32; 3]| between(low, [0, 1, 2].map(|a| low[a] + size[a]));
    let plates = [
        // As thick as a cell, on walls and between them, and thinner with all cells of a layer.
        (at([14.0, 0.0, 0.0], [20.0, 20.0, 1.0]), 400),
        (at([14.0, 0.0, 4.5], [20.0, 20.0, 1.0]), 400),
        (at([14.0, 0.0, 4.25], [20.0, 20.0, 0.5]), 400),
        // Two thirds of its area by its volume, and a whole cube of cells.
        (at([14.25, 0.25, 0.25], [2.5; 3]), 27),
        // Within the block, which already has these cells.
        (at([2.0, 2.0, 5.05], [6.0, 6.0, 0.1]), 0),
    ];
    for (plate, cells_of_it) in plates {
        let all = [block(), plate].concat();
        let lattice = cells(&all, 10);
        let (solid, summary) = made(&all, &lattice, Rule::solid());
        assert_eq!((summary, solid.count()), (None, 1000 + cells_of_it));
        assert!(grid(&all, &lattice, keep_thin()) == solid);
    }
    // Beyond the grid.
    let all = [block(), plate(0.0)].concat();
    let lattice = cells(&block(), 10);
    let (solid, summary) = made(&all, &lattice, Rule::solid());
    assert_eq!((summary, solid.count()), (None, 1000));
}

#[test]
fn parts_in_holes_and_cavities_are_reported_in_any_orientation() {
    let knot = Mesh::open("fixtures/knot.stl").unwrap();
    let plate = between([-1.0, -1.0, -0.05], [1.0, 1.0, 0.05]);
    let lattice = Lattice::fit(knot.bounds(), 40).unwrap();
    let cavity = inside_out(between([1.0; 3], [9.0; 3]));
    let within = between([2.0, 2.0, 5.05], [8.0, 8.0, 5.15]);
    let hollow = [block(), cavity].concat();
    let cases = [
        (knot.triangles().to_vec(), plate, lattice),
        (hollow.clone(), within, cells(&hollow, 10)),
    ];
    for (around, part, lattice) in cases {
        let (plain, none) = made(&around, &lattice, Rule::solid());
        assert_eq!(none, None);
        let whole = grid(&part, &lattice, Rule::filled());
        assert!(whole.count() >= 4 && whole.iter().all(|cell| !plain.get(cell)));
        for part in [part.clone(), inside_out(part)] {
            let all = [around.clone(), part.clone()].concat();
            let (_, summary) = made(&all, &lattice, Rule::solid());
            let summary = summary.expect("it is lost");
            let bounds = voxelize::Bounds::of(&part);
            let corners = [bounds.min, bounds.max].map(|corner| corner.map(f64::from));
            assert_eq!((summary.lost, summary.largest), (1, corners));
            assert!(grid(&all, &lattice, keep_thin()) == union(&plain, &whole));
        }
    }
}

#[test]
fn parts_closer_than_a_cell_are_not_broken() {
    // The gap contains a layer of cells that both blocks touch, with centres outside.
    let all = [block(), between([10.6, 0.0, 0.0], [20.0, 10.0, 10.0])].concat();
    let lattice = cells(&all, 10);
    let (solid, summary) = made(&all, &lattice, Rule::solid());
    assert_eq!((pieces_of(&solid), summary), (2, None));
    assert_eq!(pieces_of(&grid(&all, &lattice, Rule::filled())), 1);
    assert!(grid(&all, &lattice, keep_thin()) == solid);
}

#[test]
fn parts_are_judged_alike_in_any_order_and_by_any_method() {
    let all = [block(), plate(30.0)].concat();
    let lattice = cells(&all, 10);
    let (kept, summary) = made(&all, &lattice, keep_thin());
    let turned: Vec<_> = all.iter().rev().map(|[a, b, c]| [*b, *c, *a]).collect();
    let (again, others) = made(&turned, &lattice, keep_thin());
    assert!(again == kept && others == summary);
    use Inside::{EvenOdd, Nonzero, Robust, Vote};
    for inside in [Nonzero, EvenOdd, Vote, Robust] {
        let what = keep_thin().with_inside(inside).unwrap();
        assert!(grid(&all, &lattice, what) == kept, "{inside:?}");
    }
}

#[test]
fn two_sided_meshes_are_filled_by_robust_and_lose_nothing() {
    let place = Place::new();
    let one = between([0.0; 3], [10.0, 20.0, 30.0]);
    let both = [one.clone(), inside_out(one.clone())].concat();
    place.write("two_sided.stl", stl(&both));
    place.write("one_sided.stl", stl(&one));
    for (inside, used, warnings, solid) in [
        ("auto", "robust", "/warnings/0/code \"W013\"", 7986),
        ("robust", "robust", "/warnings []", 7986),
        ("flood", "flood", "/warnings []", 10 * 21 * 32),
    ] {
        for (options, wanted) in [
            ("--solid", solid),
            ("--solid --keep-thin", solid),
            ("--filled", 9384),
        ] {
            let table = format!(
                "0 two_sided.stl --voxel-size 0.9 {options} --inside {inside} -o a.npy --json
                    /inside/used \"{used}\"
                    /counts/occupied {wanted}
                    {warnings}
                    no out W00"
            );
            check(&place, &table);
        }
    }
    // Lines through it find nothing inside, and the hint advises another method.
    for inside in ["nonzero", "evenodd", "vote"] {
        let table = format!(
            "0 two_sided.stl --voxel-size 0.9 --solid --inside {inside} -o a.npy --json
                /counts/occupied 0
                /warnings/0/code \"W006\"
                /warnings/1/code \"W002\""
        );
        check(&place, &table);
    }
    check(
        &place,
        "
        0 one_sided.stl --voxel-size 0.9 --solid -o a.npy --json
            /counts/occupied 7986
            /warnings []
        ",
    );
}

/// Returns the number of pieces of cells, connected by faces, edges or corners.
fn pieces_of(cells: &BitGrid) -> usize {
    let mut left: BTreeSet<_> = cells.iter().collect();
    let mut pieces = 0;
    while let Some(first) = left.pop_first() {
        let mut waiting = vec![first];
        while let Some(cell) = waiting.pop() {
            let near = (0..27).map(|n| [n % 3, n / 3 % 3, n / 9]);
            let near = near.map(|step| [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(1)));
            waiting.extend(near.filter(|near| left.remove(near)));
        }
        pieces += 1;
    }
    pieces
}

/// Returns the cells that have an empty cell or the outside of the grid within some steps, by a plain loop.
fn outer(filled: &BitGrid, steps: i64) -> BitGrid {
    let dims = filled.dims();
    let is_empty = |cell: [i64; 3]| {
        let is_beyond = (0..3).any(|a| cell[a] < 0 || cell[a] >= dims[a] as i64);
        is_beyond || !filled.get(cell.map(|c| c as usize))
    };
    let mut outer = BitGrid::new(dims).unwrap();
    let near = || -steps..=steps;
    for cell in filled.iter() {
        let [i, j, k] = cell.map(|c| c as i64);
        if near().any(|z| near().any(|y| near().any(|x| is_empty([i + x, j + y, k + z])))) {
            outer.set(cell);
        }
    }
    outer
}

#[test]
fn hollow_keeps_the_outer_cells_whole_and_in_slabs() {
    let mut emptied = 0;
    for name in ["cube", "knot", "sphere", "open"] {
        let mesh = Mesh::open(format!("fixtures/{name}.stl")).unwrap();
        let lattice = Lattice::fit(mesh.bounds(), 30).unwrap();
        let filled = voxelize::voxelize(&mesh, &lattice, Rule::filled()).unwrap();
        for steps in [1, 2, 5, 16, 1000] {
            let what = Rule::filled().with_shell(steps).unwrap();
            let wanted = outer(filled.occupied().unwrap(), i64::from(steps).min(31));
            emptied += filled.count() - wanted.count();
            let whole = Voxelizer::new(what).run(&mesh, &lattice).unwrap();
            let cells = whole.voxels.occupied().unwrap();
            assert!(*cells == wanted, "{name}, {steps}");
            for height in [1, 4, 11] {
                let plan = Plan::Slabs(height);
                let mut slabs = Voxelizer::new(what).slabs(&mesh, &lattice, plan).unwrap();
                while slabs.next().unwrap().is_some() {}
                assert_eq!(
                    slabs.digest(),
                    whole.voxels.digest(),
                    "{name}, {steps}, {height}"
                );
                assert_eq!(slabs.made().stats.snapped, whole.stats.snapped);
            }
        }
    }
    assert!(emptied > 10_000, "{emptied}");
}

/// The transcripts `summary`, `json` and `warnings` have the texts, and the report with `--keep-thin`.
#[test]
fn the_command_counts_keeps_and_records() {
    let place = Place::new();
    place.write("plate.stl", stl(&[block(), plate(0.0)].concat()));
    check(
        &place,
        r#"
        0 plate.stl --solid --voxel-size 1 -o a.npz --json
            /variant null
            /counts/occupied 1000
            /inside/thin/components 2
            /inside/thin/lost 1
            /inside/thin/broken 0
            /inside/thin_places {"places": 0, "cells": 0, "largest": null}
            /warnings/0/code "W009"
            no out kept_cells
        0 cube.stl --solid -o d.npz --json
            /inside/thin {"components": null, "lost": 0, "broken": 0, "pieces": 0, "largest": null, "thickness": null}
        0 cube.stl --filled -o d.npz --json
            /inside/thin null
        # A golden is reproduced from its record.
        0 plate.stl --solid --voxel-size 1 --keep-thin -o b.npz --json
            /inside/kept_cells 200
        0 info b.npz --json
            /rule "solid"
            /variant "keep-thin"
        0 verify b.npz plate.stl
        0 cube.stl --filled --hollow 2 -r 20 -o h.npz
        0 verify h.npz cube.stl
        0 cube.stl --filled --hollow 2 -r 20 -o h.npz --json --max-memory 1G
        "#,
    );
}

#[test]
fn short_of_memory_the_search_is_skipped_with_a_warning() {
    let place = Place::new();
    for name in ["knot.stl", "sphere.stl"] {
        place.write(name, std::fs::read(format!("fixtures/{name}")).unwrap());
    }
    let runs = check(
        &place,
        r#"
        0 knot.stl --solid -r 32 -j 2 --max-memory 17.35M -o a.npz --json
            /warnings/0/code "W010"
        0 knot.stl --solid -r 32 -o b.npz --json
            /warnings []
        # Several meshes share the memory, but none of them has fewer findings because of that.
        0 knot.stl cube.stl sphere.stl --solid -r 32 -j 2 --max-memory 18.2M -o all/ -f npz --json
            /2/warnings []
            no out W010
        "#,
    );
    assert_eq!(runs[0].json()["digest"], runs[1].json()["digest"]);
}

/// The command refuses the options in the transcript `errors`.
#[test]
fn variants_belong_to_their_rules() {
    for refused in [
        Rule::filled().with_thin(ThinFeatures::Keep),
        Rule::solid().with_shell(1),
    ] {
        assert_eq!(refused.unwrap_err().kind(), voxelize::Kind::Usage);
    }
    // An explicit shell of zero.
    let mesh = Mesh::from_triangles(block()).unwrap();
    let rule = Rule::Filled {
        inside: Inside::Auto,
        ties: Ties::None,
        shell: Some(0.into()),
    };
    let error = Voxelizer::new(rule).run(&mesh, &cells(&block(), 10));
    assert_eq!(error.unwrap_err().kind(), voxelize::Kind::Usage);
}
