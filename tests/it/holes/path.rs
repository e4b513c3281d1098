//! Path of a leaking flood.

use voxelize::mesh::boundary::{self, Loop};
use voxelize::rule::leak_path::leak_path;
use voxelize::run::holes;
use voxelize::{BitGrid, Fit, Inside, Lattice, Level, Mesh, Rule, Run, Ties};

use super::plainly::{Cell, Steps, beside, cells, on_face};
use super::{flood, lattices, made, of, open_meshes, shuffled};
use crate::support::meshes::{fixture, surface};

/// Returns the paths by the definition, one for each leaking hole, each starting outside.
fn ways(mesh: &Mesh, lattice: &Lattice, holes: &[Loop]) -> Vec<Vec<Cell>> {
    let dims = lattice.dims();
    let walls = surface(mesh, lattice, Ties::Up);
    let capped = of([mesh.triangles(), &boundary::caps(holes)].concat());
    let capped = surface(&capped, lattice, Ties::Up);
    let caps = surface(&of(boundary::caps(holes)), lattice, Ties::Up);
    let wet = Steps::outside(&walls);
    let dry = Steps::outside(&capped);
    let leaked =
        |cell: &Cell| wet.of(*cell).is_some() && dry.of(*cell).is_none() && !caps.get(*cell);
    let inwards = Steps::from(cells(dims).filter(leaked), &walls);
    let mut ways = vec![];
    for hole in holes {
        let cap = surface(&of(hole.cap().collect()), lattice, Ties::Up);
        let reached = cap.iter().filter(|cell| wet.of(*cell).is_some());
        let end = reached.min_by_key(|cell| wet.of(*cell));
        let end = end.expect("a cap that the flood reached");
        let mut way = wet.back(end);
        way.reverse();
        if inwards.of(end).is_some() {
            way.extend(&inwards.back(end)[1..]);
            assert!(leaked(way.last().unwrap()), "it ends within");
        }
        assert!(on_face(way[0], dims), "it begins on a face");
        assert!(way.iter().all(|cell| !walls.get(*cell)), "through no wall");
        let is_step = |pair: &[Cell]| beside(pair[0], dims).any(|next| next == pair[1]);
        assert!(way.windows(2).all(is_step), "in one piece");
        ways.push(way);
    }
    ways
}

#[test]
fn the_way_in_is_a_shortest_path_by_definition() {
    let mut compared = 0;
    let mut paths = 0;
    let mut within = 0;
    let mut longest = 0;
    for (name, mesh) in open_meshes() {
        let mixed = shuffled(&mesh);
        let mut lattices = lattices(&mesh);
        lattices.extend(
            [Fit::longest(33).pad(7), Fit::longest(70).pad(2)]
                .map(|f| f.to(mesh.bounds()).unwrap()),
        );
        for lattice in lattices {
            for close in [None, Some(4)] {
                let report = made(&mesh, &lattice, flood(Rule::solid(), close), 2).1;
                let holes = report.leak.map(|leak| leak.holes).unwrap_or_default();
                let closed = mesh.holes().unwrap().into_iter().filter(|hole| {
                    close.is_some_and(|n| {
                        holes::sides(std::slice::from_ref(hole), &lattice)[0] <= u64::from(n)
                    })
                });
                let caps = boundary::caps(&closed.collect::<Vec<_>>());
                let ways = ways(&of([mesh.triangles(), &caps].concat()), &lattice, &holes);
                let mut expected = BitGrid::try_from(&lattice).unwrap();
                ways.iter().flatten().for_each(|cell| expected.set(*cell));
                let mut runs = [1, 2, 7].map(|n| Run::default().threads(n)).to_vec();
                let levels = Level::available().into_iter();
                runs.extend(levels.map(|level| Run::default().threads(2).level(level)));
                let inside = Inside::Flood { close_holes: close };
                for run in runs {
                    for mesh in [&mesh, &mixed] {
                        let found = leak_path(mesh, &lattice, inside, &run).unwrap();
                        assert!(found == expected, "{name}, {close:?}");
                        compared += 1;
                    }
                }
                paths += ways.len();
                within += ways
                    .iter()
                    .filter(|way| !on_face(*way.last().unwrap(), lattice.dims()))
                    .count();
                longest = longest.max(ways.iter().map(Vec::len).max().unwrap_or(0));
                assert!(name != "a closed one" || expected.count() == 0);
            }
        }
    }
    assert!(
        compared > 300 && paths > 60,
        "{compared} compared, {paths} paths"
    );
    assert!(
        within * 2 > paths && longest > 10,
        "{within} of {paths} end within, the longest has {longest}"
    );
}

#[test]
fn a_limit_of_memory_refuses_the_way_in_before_it_is_made() {
    let mesh = fixture("open.stl");
    let lattice = Lattice::fit(mesh.bounds(), 400).unwrap();
    let run = Run::default().memory(16 << 20);
    let error = leak_path(&mesh, &lattice, Inside::flood(), &run).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::TooLarge);
}
