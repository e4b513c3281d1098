//! `--pictures`: the files contain the differing cells and nothing else.

use std::fs;

use serde_json::json;
use voxelize::format;
use voxelize::grid::Label;

use super::Place;

#[test]
fn differences_are_shown() {
    let place = Place::recorded();
    place.run("goldens.toml --pictures shown/more").expect(0);
    assert!(!place.path("shown").exists(), "nothing failed");

    place.dent_knot();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place
        .run("goldens.toml --pictures shown/more --json")
        .expect(1);
    let name = "shown/more/meshes-knot.stl-res-40";
    assert_eq!(
        run.cases()[2]["pictures"],
        json!([format!("{name}.vox"), format!("{name}.png")])
    );
    // The cube has only a digest.
    assert_eq!(fs::read_dir(place.path("shown/more")).unwrap().count(), 2);

    let all = format::open(&place.path(&format!("{name}.vox"))).unwrap();
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
    let channels = info.color_type.samples();
    let coloured = |pixel: &[u8]| {
        let low = pixel[..3].iter().min();
        let high = pixel[..3].iter().max();
        high.zip(low).is_some_and(|(high, low)| high - low > 40)
    };
    let pixels = pixels[..info.buffer_size()].chunks(channels);
    (pixels.len(), pixels.filter(|pixel| coloured(pixel)).count())
}

#[test]
fn the_picture_shows_cells_from_their_side() {
    let place = Place::recorded();
    let mut seen = 0;
    // A cube with a pushed-in corner: four corners, which cover each side of each axis twice.
    place
        .run("--update corners.toml meshes/cube.stl -r 12 --golden cells")
        .expect(0);
    for corner in [0, 3, 5, 6] {
        place.bring("cube.stl", "meshes/cube.stl");
        let at = [0, 1, 2].map(|axis| if corner >> axis & 1 == 1 { 64.0 } else { 0.0 });
        place.move_vertex("meshes/cube.stl", at, at.map(|c| 16.0 + c / 2.0));
        place.run("corners.toml --pictures shown").expect(1);
        let (all, coloured) = pixels(&place.read_bytes("shown/meshes-cube.stl-res-12.png"));
        // In such a picture, each visible side of a cell has about 1,500 pixels.
        assert!(
            all == 1200 * 900 && coloured > 1000,
            "corner {at:?}: {coloured} of {all} pixels"
        );
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn failed_pictures_report_the_reason() {
    let place = Place::recorded();
    place.bring("octahedron.stl", "meshes/cube.stl");
    place.bring("octahedron.stl", "meshes/knot.stl");
    let run = place.run("goldens.toml --pictures shown").expect(1);
    assert!(
        run.out
            .contains("no picture: the golden is a digest, which has no cells"),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("no picture: the grid changed"),
        "{}",
        run.out
    );
    let quiet = place.run("goldens.toml").expect(1);
    assert!(!quiet.out.contains("no picture"), "{}", quiet.out);
}
