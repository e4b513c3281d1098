//! A `.pgm` and its `.yaml` are the map that `map_server` reads, cell by cell.

use super::*;
#[cfg(feature = "cli")]
use crate::support::{place::Place, rows};

fn pgm() -> &'static Format {
    named("pgm")
}

/// Parses a picture as the page of netpbm describes it. Returns its width, its height and its values, the top
/// row first.
fn picture(bytes: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut words = vec![];
    let mut at = 0;
    while words.len() < 4 {
        let start = at;
        while !bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        let word = std::str::from_utf8(&bytes[start..at]).unwrap();
        if word.starts_with('#') {
            while bytes[at] != b'\n' {
                at += 1;
            }
        } else {
            words.push(word);
        }
        at += 1;
    }
    assert_eq!((words[0], words[3]), ("P5", "255"));
    let [nx, ny] = [1, 2].map(|n| words[n].parse().unwrap());
    assert_eq!(bytes.len() - at, nx * ny);
    (nx, ny, bytes[at..].to_vec())
}

#[test]
fn a_pixel_is_a_column_of_cells_with_the_greatest_y_on_top() {
    let mut compared = 0;
    for dims in [[3, 4, 2], [1, 1, 1], [64, 3, 5], [65, 7, 9], [200, 1, 3]] {
        for bits in [scattered(dims), BitGrid::new(dims).unwrap(), full(dims)] {
            let voxels = at_odd_place(bits.clone());
            let bytes = written(&voxels, pgm(), &SaveOptions::default()).unwrap();
            let (nx, ny, pixels) = picture(&bytes);
            assert_eq!([nx, ny], [dims[0], dims[1]]);
            for (n, pixel) in pixels.into_iter().enumerate() {
                let (x, y) = (n % nx, ny - 1 - n / nx);
                let is_occupied = (0..dims[2]).any(|z| bits.get([x, y, z]));
                assert_eq!(pixel, if is_occupied { 0 } else { 254 }, "{dims:?} {x} {y}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000);
    let (_, _, pixels) =
        picture(&written(&at_odd_place(f_grid()), pgm(), &SaveOptions::default()).unwrap());
    let rows: Vec<String> = pixels
        .chunks(3)
        .map(|row| {
            row.iter()
                .map(|pixel| if *pixel == 0 { '#' } else { '.' })
                .collect()
        })
        .collect();
    // The letters of both layers, seen from above.
    assert_eq!(rows, ["###", "#.#", "##.", "#.."]);
}

#[test]
fn the_yaml_states_the_place_of_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("room.pgm");
    format::save(
        &at_odd_place(f_grid()),
        &path,
        pgm(),
        &SaveOptions::default(),
    )
    .unwrap();
    let yaml = fs::read_to_string(folder.path().join("room.yaml")).unwrap();
    let lines: Vec<_> = yaml.lines().collect();
    assert!(lines[0].starts_with("# voxelize "), "{yaml}");
    assert_eq!(
        lines[1..],
        [
            "image: room.pgm",
            "mode: trinary",
            "resolution: 0.1",
            "origin: [-0.3333333333333333, 3.142857142857143, 0.0]",
            "negate: 0",
            "occupied_thresh: 0.65",
            "free_thresh: 0.196",
        ]
    );
    // A map of this program is replaced, a file of the user is not.
    format::save(
        &at_odd_place(f_grid()),
        &path,
        pgm(),
        &SaveOptions::default(),
    )
    .unwrap();
    fs::write(folder.path().join("room.yaml"), "image: mine.png\n").unwrap();
    let options = SaveOptions::default();
    let error = format::save(&at_odd_place(f_grid()), &path, pgm(), &options).unwrap_err();
    assert_eq!(error.code(), Code::Exists);
}

#[test]
fn cells_of_a_map_are_square() {
    let bits = f_grid();
    let mut tried = 0;
    for (spacing, is_square) in [([1, 1, 1], true), ([1, 1, 7], true), ([1, 2, 1], false)] {
        let lattice = Lattice::new(
            bits.dims(),
            [const { Rational::ZERO }; 3],
            spacing.map(|side| Rational::new(side, 4)),
            [true; 3],
        );
        let found = format::check(
            CellKind::Bits,
            &lattice.unwrap(),
            pgm(),
            &SaveOptions::default(),
        );
        assert_eq!(found.is_ok(), is_square, "{spacing:?}");
        tried += 1;
    }
    assert_eq!(tried, 3);
}

#[cfg(feature = "cli")]
#[test]
fn the_command_writes_maps() {
    let place = Place::new();
    rows::check(
        &place,
        "0 cube.stl --unit m --filled --voxel-size 5 --pad 2,1,0 -o map.pgm
             file map.yaml
             no err warning
         0 cube.stl --unit m --voxel-size 5 --pad 1 -o walls.pgm
             err warning[W004]
             err --filled
         0 cube.stl --unit mm --filled --voxel-size 5 -o mm.pgm
             err W019
         0 cube.stl --unit m --filled -r 8 -o a.npz
         0 convert a.npz a.pgm
             file a.yaml",
    );
    let bytes = std::fs::read(place.path("map.pgm")).unwrap();
    let (nx, ny, pixels) = picture(&bytes);
    let occupied = pixels.iter().filter(|pixel| **pixel == 0).count();
    let yaml = std::fs::read_to_string(place.path("map.yaml")).unwrap();
    assert!(yaml.contains("image: map.pgm\n"), "{yaml}");
    assert!(yaml.contains("resolution: 5.0\n"), "{yaml}");
    assert_eq!(([nx, ny], occupied), ([8, 6], 16));
    // The box of the grid decides which heights count.
    let line = "cube.stl --unit m --filled --voxel-size 5 --bounds=-5,0,10,20,20,15 -f pgm -o -";
    let (nx, ny, pixels) = picture(&place.run(line).expect(0).out);
    assert_eq!([nx, ny], [5, 4]);
    for (n, pixel) in pixels.into_iter().enumerate() {
        assert_eq!(pixel, if n % 5 == 0 { 254 } else { 0 }, "{n}");
    }
    rows::refused(
        &place,
        "2 cube.stl --voxel-size 5,4,5 -o c.pgm
             err one resolution for x and y
         2 cube.stl --rule distance -o c.pgm
             err pgm cannot store fields
         3 view map.pgm -o c.png
             err map.pgm",
    );
}
