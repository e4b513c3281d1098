//! Is a broken mesh turned outwards, whatever was done to it? Are its boundary, its caps and its winding
//! numbers what they say?

mod closing;
mod shapes;
mod t_junctions;
mod turning;
mod winding;

use crate::support::place::Place;
use crate::support::solids::{Triangle, between, stl};

#[test]
fn sheets_in_front_of_open_parts_are_warned_of() {
    // A tower without its bottom, and the ground that it stands on.
    let tower: Vec<Triangle> = between([2.0, 2.0, 0.0], [5.0, 5.0, 12.0])
        .into_iter()
        .filter(|triangle| triangle.iter().any(|corner| corner[2] > 0.0))
        .collect();
    let up: [Triangle; 2] =
        [[[0.0; 3], [9.0, 0.0, 0.0], [9.0, 8.0, 0.0]], [[0.0; 3], [9.0, 8.0, 0.0], [0.0, 8.0, 0.0]]];
    let place = Place::new();
    let text = "2 triangles belong to open sheets: cells in front of them may be lost";
    let mut seen = 0;
    for (name, triangles, is_warned) in [
        ("both.stl", [&tower[..], &up].concat(), true),
        ("tower.stl", tower.clone(), false),
        ("sheet.stl", up.to_vec(), false),
    ] {
        place.write(name, stl(&triangles));
        let err = place.run(&format!("{name} --solid --voxel-size 0.5 --pad 2 -o cells.npz")).err;
        assert!(err.contains("W006"), "{name}: {err}");
        assert_eq!(err.contains(text), is_warned, "{name}: {err}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}
