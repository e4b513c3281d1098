//! `--pictures`: the files contain the differing cells and nothing else.

use std::fs;

use voxelize::format;
use voxelize::grid::Label;

use super::{bring, dent_knot, move_vertex, recorded};
use crate::support::place::{cuboid, stl};
use crate::support::rows;

#[test]
fn differences_are_shown() {
    let place = recorded();
    rows::check(
        &place,
        "0 verify goldens.toml --pictures shown/more
             no file shown",
    );
    dent_knot(&place);
    bring(&place, "octahedron.stl", "meshes/cube.stl");
    rows::check(
        &place,
        r#"1 verify goldens.toml --pictures shown/more --json
             /2/pictures ["shown/more/meshes-knot.stl-res-40.vox", "shown/more/meshes-knot.stl-res-40.png"]"#,
    );
    // The cube has only a digest.
    assert_eq!(fs::read_dir(place.path("shown/more")).unwrap().count(), 2);

    let all = format::open(&place.path("shown/more/meshes-knot.stl-res-40.vox")).unwrap();
    let golden = format::open(&place.path("cells/knot-res-40.npz")).unwrap();
    assert_eq!((all.count(), &all.lattice), (6, &golden.lattice));
    let labels = all.labels().unwrap();
    assert_eq!(
        labels.counts(),
        [(Label::ADDED.value, 3), (Label::REMOVED.value, 3)]
    );
    for (cell, value) in labels.iter() {
        let was = golden.occupied().unwrap().get(cell);
        assert_eq!(was, value == Label::REMOVED.value, "{cell:?}");
    }
}

/// Returns the number of pixels of a PNG, and the number of pixels with a colour instead of a shade of grey.
fn pixels(bytes: &[u8]) -> (usize, usize) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let mut coloured = 0;
    let mut count = 0;
    for pixel in pixels[..info.buffer_size()].chunks(info.color_type.samples()) {
        let [r, g, b] = [pixel[0], pixel[1], pixel[2]];
        coloured += usize::from(r.max(g).max(b) - r.min(g).min(b) > 40);
        count += 1;
    }
    (count, coloured)
}

#[test]
fn the_picture_shows_cells_from_their_side() {
    let place = recorded();
    // A cube with a pushed-in corner: four corners, which cover each side of each axis twice.
    rows::check(
        &place,
        "0 verify --update corners.toml meshes/cube.stl -r 12 --golden cells",
    );
    for corner in [0, 3, 5, 6] {
        bring(&place, "cube.stl", "meshes/cube.stl");
        let at = [0, 1, 2].map(|axis| if corner >> axis & 1 == 1 { 64.0 } else { 0.0 });
        move_vertex(&place, "meshes/cube.stl", at, at.map(|c| 16.0 + c / 2.0));
        rows::check(&place, "1 verify corners.toml --pictures shown");
        let picture = fs::read(place.path("shown/meshes-cube.stl-res-12.png")).unwrap();
        let (all, coloured) = pixels(&picture);
        // In such a picture, each visible side of a cell has about 1,500 pixels.
        assert!(
            all == 1200 * 900 && coloured > 1000,
            "corner {at:?}: {coloured} of {all} pixels"
        );
    }
}

#[test]
fn failed_pictures_report_the_reason() {
    let place = recorded();
    rows::check(
        &place,
        "0 verify --update goldens.toml meshes/knot.stl -r 9 --rule fraction --golden cells",
    );
    bring(&place, "octahedron.stl", "meshes/cube.stl");
    bring(&place, "octahedron.stl", "meshes/knot.stl");
    rows::check(
        &place,
        "1 verify goldens.toml --pictures shown
             out no picture: the golden is a digest, which does not contain the cells
             out no picture: the grid changed, and the cells are a field
             out side by side, because their cells are not aligned
         1 verify goldens.toml
             no out no picture
             no out side by side",
    );
}

/// Grids that changed: cells are compared by position if they are aligned, else both grids are in the picture.
#[test]
fn changed_grids_are_shown() {
    let place = recorded();
    rows::check(
        &place,
        "0 verify --update size.toml meshes/cube.stl --voxel-size 4 --filled --golden cells",
    );
    // A block of 20 × 16 × 16 cells, and one of 12 × 16 × 16.
    for (max, added, removed, world) in [
        (
            80.0,
            4 * 16 * 16,
            0,
            r#"{"min": [64.0, 0.0, 0.0], "max": [80.0, 64.0, 64.0]}"#,
        ),
        (
            48.0,
            0,
            4 * 16 * 16,
            r#"{"min": [48.0, 0.0, 0.0], "max": [64.0, 64.0, 64.0]}"#,
        ),
    ] {
        place.write("meshes/cube.stl", stl(&cuboid([max, 64.0, 64.0])));
        let json = rows::check(
            &place,
            &format!(
                "1 verify size.toml --pictures shown --json
                     /outcome \"grid\"
                     /golden/cells 4096
                     /difference/added {added}
                     /difference/removed {removed}
                     /difference/box/cells null
                     /difference/box/world {world}
                     /pictures/1 \"shown/meshes-cube.stl-voxel-size-4-filled.png\"
                 1 verify size.toml
                     out the grid changed: size 64 × 64 × 64 → {max} × 64 × 64, rounded to whole cells; 1 more change below
                     out by position:
                     out where: in space x "
            ),
        );
        assert_eq!(json.len(), 2);
        let shown = place.path("shown/meshes-cube.stl-voxel-size-4-filled.vox");
        let all = format::open(&shown).unwrap();
        assert_eq!(all.count(), added + removed);
        let picture = fs::read(shown.with_extension("png")).unwrap();
        assert!(pixels(&picture).1 > 10_000);
    }
    // Cells of another size, or between those of the golden: one file with both grids.
    for corner in [[1.0_f32, 0.0, 0.0], [0.5, 0.25, 0.0]] {
        let mut moved = cuboid([64.0; 3]);
        for point in moved.iter_mut().flatten() {
            for axis in 0..3 {
                point[axis] += corner[axis];
            }
        }
        place.write("meshes/cube.stl", stl(&moved));
        fs::remove_dir_all(place.path("shown")).unwrap();
        rows::check(
            &place,
            r#"1 verify size.toml --pictures shown --json
                 /outcome "grid"
                 /difference null
                 /pictures ["shown/meshes-cube.stl-voxel-size-4-filled.png"]"#,
        );
        let picture =
            fs::read(place.path("shown/meshes-cube.stl-voxel-size-4-filled.png")).unwrap();
        let (all, _) = pixels(&picture);
        assert!(all > 1200 * 900 && all < 1200 * 1000, "{all}");
    }
}
