//! The surface under ties up is 26-separating, and thin is 6-separating. A flood from outside over empty
//! cells that share a corner, or a face, never reaches a cell whose centre is inside. docs/internals/separation.md
//! contains the proof.
//!
//! Meshes are closed with many ties, and lattices have every relation to their vertices. The inside is
//! decided in exact integers alone.

mod flood;
mod grids;
mod half_open;
mod inside;
pub mod shapes;

use crate::support::suite::{Check, Counts, Suite};
use voxelize::{Lattice, Rule, Ties, voxelize};

use flood::{Flood, Steps};
use grids::lattices;
use shapes::Shape;

pub const SUITE: Suite = Suite::of(
    "separation",
    &[
        Check {
            name: "inside_matches_exact_integers",
            run: inside::inside_matches_exact_integers,
        },
        Check {
            name: "fixtures",
            run: || separates(&shapes::from_fixtures()),
        },
        Check {
            name: "cubes_and_their_images",
            run: || separates(&shapes::cubes_and_their_images()),
        },
        Check {
            name: "spheres_rounded",
            run: || separates(&shapes::spheres_rounded()),
        },
        Check {
            name: "tetrahedra",
            run: || separates(&shapes::tetrahedra()),
        },
        Check {
            name: "thin_on_fixtures",
            run: || thin_separates(&shapes::from_fixtures()),
        },
        Check {
            name: "thin_on_cubes_and_their_images",
            run: || thin_separates(&shapes::cubes_and_their_images()),
        },
        Check {
            name: "thin_on_spheres_rounded",
            run: || thin_separates(&shapes::spheres_rounded()),
        },
        Check {
            name: "thin_on_tetrahedra",
            run: || thin_separates(&shapes::tetrahedra()),
        },
        Check {
            name: "open_cells_leak",
            run: open_cells_leak,
        },
        Check {
            name: "open_last_walls_leak",
            run: open_last_walls_leak,
        },
    ],
);

/// Floods every lattice of every shape under ties up. The flood never enters the inside.
fn separates(shapes: &[Shape]) -> Counts {
    let mut grids = 0;
    let mut inside = 0;
    let mut hollow = 0;
    let mut reached = 0;
    let mut on_last = 0;
    for shape in shapes {
        for lattice in lattices(shape) {
            let flood = Flood::of(shape, &lattice, Ties::Up);
            if let Some(cell) = flood.leak {
                panic!(
                    "{} in {lattice:?}: the flood reaches {cell:?}, which is inside",
                    shape.name
                );
            }
            grids += 1;
            inside += flood.inside;
            hollow += flood.inside_empty;
            reached += flood.reached;
            on_last += u64::from(grids::ends_on_last_walls(shape, &lattice));
        }
    }
    vec![
        ("meshes", shapes.len() as u64),
        ("grids", grids),
        ("of them with the mesh on a last wall", on_last),
        ("cells inside", inside),
        ("of them empty", hollow),
        ("cells flooded", reached),
    ]
}

/// Floods every lattice of every shape of thin by faces. The flood never enters the inside. A flood by
/// corners does.
fn thin_separates(shapes: &[Shape]) -> Counts {
    let mut grids = 0;
    let mut inside = 0;
    let mut hollow = 0;
    let mut reached = 0;
    let mut leaks = 0;
    for shape in shapes {
        for lattice in lattices(shape) {
            let cells = voxelize(&shape.mesh, &lattice, Rule::Thin).expect("it fits");
            let cells = cells.into_occupied().expect("bits");
            let flood = Flood::through(&cells, shape, &lattice, Steps::Faces);
            if let Some(cell) = flood.leak {
                panic!(
                    "{} in {lattice:?}: the flood reaches {cell:?}, which is inside",
                    shape.name
                );
            }
            grids += 1;
            inside += flood.inside;
            hollow += flood.inside_empty;
            reached += flood.reached;
            leaks += u64::from(
                Flood::through(&cells, shape, &lattice, Steps::Corners)
                    .leak
                    .is_some(),
            );
        }
    }
    vec![
        ("meshes", shapes.len() as u64),
        ("grids", grids),
        ("of them leak by corners", leaks),
        ("cells inside", inside),
        ("of them empty", hollow),
        ("cells flooded", reached),
    ]
}

/// Negative test: open and half-open cells mark nothing next to the planes y = x and y = x + 4, and leak at
/// the edges shared by the cells next to them. Also on those planes alone: the rest of that prism lies off
/// all walls.
fn open_cells_leak() -> Counts {
    let mut grids = 0;
    let mut leaks = 0;
    for shape in shapes::from_fixtures()
        .iter()
        .chain(&shapes::cubes_and_their_images())
    {
        let mut leaking = 0;
        for lattice in lattices(shape) {
            leaking += u64::from(Flood::of(shape, &lattice, Ties::None).leak.is_some());
            grids += 1;
        }
        assert!(
            leaking > 0 || shape.name != "prism.stl",
            "ties none do not leak on the prism"
        );
        leaks += leaking;
    }
    let prism = shapes::prism_off_the_flat_walls();
    let lattice = grids::whole_cells(&prism);
    assert!(
        Flood::of(&prism, &lattice, Ties::Up).leak.is_none(),
        "ties up separate"
    );
    assert!(
        Flood::of(&prism, &lattice, Ties::None).leak.is_some(),
        "open cells leak along y = x"
    );
    let half_open = half_open::surface(&prism, &lattice);
    assert!(half_open.count() > 0);
    let flood = Flood::through(&half_open, &prism, &lattice, Steps::Corners);
    assert!(flood.leak.is_some(), "half-open cells leak along y = x");
    vec![("grids", grids + 2), ("grids that leak", leaks + 2)]
}

/// Negative test: without the closed last wall, faces on it are lost if the grid has no padding.
fn open_last_walls_leak() -> Counts {
    let mut leaks = 0;
    for shape in shapes::from_fixtures() {
        let closed = grids::whole_cells(&shape);
        assert!(grids::ends_on_last_walls(&shape, &closed), "{}", shape.name);
        let open = Lattice::new(
            closed.dims(),
            closed.origin().clone(),
            closed.spacing().clone(),
            [false; 3],
        );
        let flood = Flood::of(&shape, &open.expect("the same dims"), Ties::Up);
        leaks += u64::from(flood.leak.is_some());
        assert!(flood.leak.is_some() || shape.name != "a quarter of cube.stl");
    }
    vec![("meshes that leak", leaks)]
}
