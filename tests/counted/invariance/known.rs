//! Numbers that are known in advance.

use std::process::Command;

use voxelize::{Fit, Lattice, Mesh, Rational, Size, Snap, Ties, Voxels};

use super::{cells_of, shells};
use crate::support::meshes::{cropped, fitted, fixture, folder, mesh_of, surface};
use crate::support::suite::Counts;

/// The cube 0…64 in 64 cells: all its faces lie on walls.
pub fn the_cube_is_counted() -> Counts {
    let mesh = fixture("cube.stl");
    let shell = |outer: u64, hollow: u64| outer.pow(3) - hollow.pow(3);
    let [up, both, none, thin] = shells();
    // Edges and corners of the cube mark no additional cells of thin.
    let known = [
        (0, up, 23_816, shell(64, 62)),
        (0, both, 23_816, shell(64, 62)),
        (0, none, 0, 0),
        (0, thin, 23_816, shell(64, 62)),
        (1, up, 24_578, shell(65, 63)),
        (1, both, 49_168, shell(66, 62)),
        (1, none, 0, 0),
        (1, thin, 24_385, 6 * 64 * 64 - 3 * 64 + 1),
    ];
    for (pad, rule, expected, derived) in known {
        let lattice = fitted(Fit::longest(64).pad(pad), &mesh);
        let count = cells_of(rule, &mesh, &lattice).count();
        assert_eq!(count, expected, "pad {pad}, {rule:?}");
        assert_eq!(expected, derived);
    }
    vec![("lattices", known.len() as u64)]
}

/// `--bounds` for the two halves of the cube.
pub fn halves_of_the_cube_join() -> Counts {
    let mesh = fixture("cube.stl");
    let whole = surface(
        &mesh,
        &Lattice::fit(mesh.bounds(), 64).expect("it fits"),
        Ties::Up,
    );
    let dir = tempfile::tempdir().expect("a folder");
    let mut joined = 0;
    for (low, bounds) in [(0, "0,0,0,32,64,64"), (32, "32,0,0,64,64,64")] {
        let path = dir.path().join("half.vox");
        let mesh = folder().join("cube.stl");
        let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
        command
            .arg(mesh)
            .args(["-q", "--voxel-size", "1", "--bounds", bounds, "-o"]);
        let status = command.arg(&path).status().expect("the tool starts");
        assert!(status.success());
        let half = Voxels::open(&path).expect("it was written");
        assert_eq!(
            *half.occupied().unwrap(),
            cropped(&whole, [low, 0, 0], [32, 64, 64]),
            "{bounds}"
        );
        assert_eq!(
            half.lattice.as_ref().expect("a .vox says").closed(),
            [low == 32, true, true]
        );
        joined += half.occupied().unwrap().count();
    }
    assert_eq!(joined, 23_816);
    vec![("halves", 2), ("cells", joined)]
}

/// The upright faces at x = 0.3, 0.7 and 2.5 mark one layer each. In cells of a tenth they are on walls by
/// their decimals, although 0.3 and 0.7 are not floats. With `--snap none` their bits count.
pub fn steps_of_the_bracket() -> Counts {
    let mesh = fixture("bracket.stl");
    let tenth = || Rational::new(1, 10);
    let mut faces = 0;
    for fit in [
        Fit::longest(100),
        Fit::new(Size::Spacing([tenth(), tenth(), tenth()])),
    ] {
        for (snap, layers) in [(Snap::Float, [3, 7, 25]), (Snap::None, [3, 6, 25])] {
            let lattice = fit.clone().snap(snap).to(mesh.bounds()).expect("it fits");
            for (step, layer) in [0.3, 0.7, 2.5].into_iter().zip(layers) {
                let marked = layers_marked(&face_at(&mesh, step), &lattice);
                assert_eq!(
                    marked,
                    [layer, layer],
                    "the face at x = {step}, snap {snap:?}"
                );
                faces += 1;
            }
        }
    }
    vec![("faces", faces)]
}

/// Returns the triangles in the plane x = `at`.
fn face_at(mesh: &Mesh, at: f32) -> Mesh {
    let flat = mesh
        .triangles()
        .iter()
        .filter(|t| t.iter().all(|vertex| vertex[0] == at));
    mesh_of(flat.copied().collect())
}

/// Returns the first and last layer along x that the mesh marks.
fn layers_marked(mesh: &Mesh, lattice: &Lattice) -> [usize; 2] {
    let [low, high] = surface(mesh, lattice, Ties::Up)
        .occupied_box()
        .expect("a face marks cells");
    [low[0], high[0]]
}
