//! The surface under ties up is 26-separating, and thin is 6-separating. A flood from outside over empty
//! cells that share a corner, or a face, never reaches a cell whose centre is inside. docs/internals/separation.md
//! contains the proof.
//!
//! Meshes are closed with many ties, and lattices have every relation to their vertices. The inside is
//! decided in exact integers alone.

pub mod flood;
mod grids;
pub mod half_open;
mod inside;
pub mod shapes;

use crate::support::meshes::occupied;
use crate::support::suite::{Counts, Suite};
use voxelize::{Lattice, Rule, Ties, Voxelizer};

use flood::{Flood, Steps};
use grids::lattices;
use shapes::Shape;

pub const SUITE: Suite = Suite::of(
    "separation",
    &[
        (
            "inside_matches_exact_integers",
            inside::inside_matches_exact_integers,
        ),
        ("fixtures", || {
            separates(&shapes::from_fixtures(), Rule::surface())
        }),
        ("cubes_and_their_images", || {
            separates(&shapes::cubes_and_their_images(), Rule::surface())
        }),
        ("spheres_rounded", || {
            separates(&shapes::spheres_rounded(), Rule::surface())
        }),
        ("tetrahedra", || {
            separates(&shapes::tetrahedra(), Rule::surface())
        }),
        ("thin_on_fixtures", || {
            separates(&shapes::from_fixtures(), Rule::Thin)
        }),
        ("thin_on_cubes_and_their_images", || {
            separates(&shapes::cubes_and_their_images(), Rule::Thin)
        }),
        ("thin_on_spheres_rounded", || {
            separates(&shapes::spheres_rounded(), Rule::Thin)
        }),
        ("thin_on_tetrahedra", || {
            separates(&shapes::tetrahedra(), Rule::Thin)
        }),
        ("open_cells_leak", open_cells_leak),
        ("open_last_walls_leak", open_last_walls_leak),
    ],
);

/// Floods every lattice of every shape. Under ties up the flood steps over corners, in thin over faces. It
/// never enters the inside. A flood over corners enters thin.
fn separates(shapes: &[Shape], rule: Rule) -> Counts {
    let [mut grids, mut inside, mut hollow, mut reached, mut special] = [0; 5];
    let (steps, what) = match rule {
        Rule::Thin => (Steps::Faces, "of them leak by corners"),
        _ => (Steps::Corners, "of them with the mesh on a last wall"),
    };
    for shape in shapes {
        for lattice in lattices(shape) {
            let cells = occupied(Voxelizer::new(rule), &shape.mesh, &lattice);
            let flood = Flood::through(&cells, shape, &lattice, steps);
            let name = &shape.name;
            assert_eq!(
                flood.leak, None,
                "{name} in {lattice:?}: a cell inside is reached"
            );
            grids += 1;
            inside += flood.inside;
            hollow += flood.inside_empty;
            reached += flood.reached;
            special += u64::from(match rule {
                Rule::Thin => {
                    let by_corners = Flood::through(&cells, shape, &lattice, Steps::Corners);
                    by_corners.leak.is_some()
                }
                _ => grids::ends_on_last_walls(shape, &lattice),
            });
        }
    }
    vec![
        ("meshes", shapes.len() as u64),
        ("grids", grids),
        (what, special),
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
