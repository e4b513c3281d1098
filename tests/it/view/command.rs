//! `voxelize view` on the command line. Its messages are in the transcripts.

use std::fs;

use voxelize::{BitGrid, Voxels};

use crate::support::place::Place;
use crate::support::{bless, rows};

fn place() -> Place {
    let place = Place::new();
    fs::copy(bless::root("fixtures/f.stl"), place.path("f.stl")).unwrap();
    place
}

fn names(place: &Place, folder: &str) -> Vec<String> {
    fs::read_dir(place.path(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_picture_replaces_only_its_like() {
    let place = place();
    let picture = || fs::read(place.path("f.png")).unwrap();
    rows::check(&place, "0 view f.stl --size 80x60 -q -r 12");
    let fine = picture();
    assert!(fine.starts_with(b"\x89PNG"));
    rows::check(&place, "0 view f.stl --size 80x60 -q -r 8");
    assert!(picture() != fine);
    place.write("f.png", "mine");
    rows::check(&place, "0 view f.stl --size 80x60 -q -r 12 -o f.png");
    assert!(picture() == fine);
}

#[test]
fn files_and_pipes_show_the_same() {
    let place = place();
    let runs = rows::check(
        &place,
        "0 f.stl -r 12 -o f.npz -q
         0 view f.npz --size 80x60 -o -
         0 view f.stl -r 12 --size 80x60 -o -
         0 view f.stl --mesh --size 80x60 -o -
         0 view f.npz --slice z=1 --size 80x60 -o -
         0 view f.npz --sheet y --size 80x60 -o -",
    );
    assert!(runs[1].out == runs[2].out && runs[1].out.starts_with(b"\x89PNG"));
    for (n, run) in runs.iter().enumerate().skip(2) {
        for other in &runs[n + 1..] {
            assert!(run.out != other.out, "{} and {}", run.line, other.line);
        }
    }
}

#[test]
fn json_has_the_slice_or_names_the_written_files() {
    let place = place();
    let runs = rows::check(
        &place,
        r#"0 view f.stl -r 6 --slice z=0
             no err
           0 view f.stl -r 6 --slice z=0 --json
           0 view f.stl -r 12 --size 320x200 --json
             /outputs/0/path "f.png"
             /picture/size [320, 200]
           0 view f.stl -r 12 --size 320x200 --json --caption --perspective -o caption.png
             /picture/size [320, 217]
           0 view f.stl -r 12 --size 320x200 --json --caption -o caption.png
             /picture/size [320, 217]"#,
    );
    assert_eq!(runs[1].json()["text"], runs[0].text());
    let bytes = fs::metadata(place.path("f.png")).unwrap().len();
    assert_eq!(runs[2].json()["outputs"][0]["bytes"], bytes);
}

#[test]
fn pictures_that_do_not_fit_in_memory_are_refused() {
    rows::refused(
        &place(),
        "5 view f.stl --size 6000x4000 --max-memory 40M
         5 view f.stl -r 999 --size 9x9 --max-memory 16M",
    );
}

/// Returns the pixels of a picture of one bit per pixel, for printers, as text.
fn pixels(place: &Place, name: &str) -> String {
    let file = fs::File::open(place.path(name)).unwrap();
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let info = reader.info();
    assert_eq!(info.color_type, png::ColorType::Grayscale, "{name}");
    assert_eq!(info.bit_depth, png::BitDepth::One, "{name}");
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let mut text = String::new();
    for row in bytes.chunks(info.width as usize) {
        for pixel in row {
            text.push(match pixel {
                255 => '#',
                0 => '.',
                other => panic!("{other}"),
            });
        }
        text.push('\n');
    }
    text
}

#[test]
fn all_layers_are_pictures_of_a_pixel_a_cell() {
    let place = place();
    rows::check(
        &place,
        "0 f.stl --voxel-size 1 --filled -o f.npz -q
         0 view f.npz --slice x=all -o x/
             err layers in
         0 view f.npz --slice y=all -o y/
         0 view f.npz --slice z=all -o z/
         0 view f.npz --slice z=1 --size cells -o one.png
         0 view f.npz --slice z=all --size 9x12 -o plate/",
    );
    let layer = |name: &str| {
        let run = place.run(&format!("view f.npz --slice {name}"));
        run.expect(0).text().to_string()
    };
    let mut seen = 0;
    for axis in ["x", "y", "z"] {
        for name in names(&place, axis) {
            let index: usize = name[1..name.len() - 4].parse().unwrap();
            let text = layer(&format!("{axis}={index}"));
            assert_eq!(pixels(&place, &format!("{axis}/{name}")), text, "{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, 5 + 7 + 3);
    assert_eq!(pixels(&place, "one.png"), layer("z=1"));
    // In the middle of a plate.
    let empty = ".".repeat(9) + "\n";
    let mut expected = empty.repeat(2);
    for line in layer("z=1").lines() {
        expected += &format!("..{line}..\n");
    }
    expected += &empty.repeat(3);
    assert_eq!(pixels(&place, "plate/z1.png"), expected);
    rows::refused(
        &place,
        "2 view f.npz --slice z=all --size 4x12 -o small/
             err does not fit on a plate of 4 × 12 pixels
         2 view f.npz --slice z=all
         2 view f.npz --slice z=all -o a.png
         2 view f.npz --slice z=all -o z/ --caption
         2 view f.npz --size cells
         2 view f.npz --slice z=none",
    );
}

/// The part around a leak.
#[test]
fn cells_around_others_are_a_veil() {
    let place = place();
    rows::check(
        &place,
        "0 f.stl -r 40 --filled -o part.npz -q
         0 f.stl -r 12 -o coarse.npz -q",
    );
    // One cell of the part.
    let part = Voxels::open(place.path("part.npz")).unwrap();
    let mut bits = BitGrid::new(part.cells.as_ref().dims()).unwrap();
    bits.set([1, 1, 1]);
    let one = Voxels {
        lattice: part.lattice.clone(),
        ..Voxels::new(bits)
    };
    one.save(place.path("one.npz")).unwrap();
    rows::check(
        &place,
        "0 view one.npz --veil part.npz --size 300x300 -o veil.png -q",
    );
    let file = fs::File::open(place.path("veil.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    let [mut cell, mut grey, mut ring] = [0; 3];
    for pixel in bytes.chunks(4).filter(|pixel| pixel[3] == 255) {
        let [r, g, b] = [0, 1, 2].map(|n| i32::from(pixel[n]));
        cell += usize::from(r > b + 40);
        grey += usize::from((r - g).abs() < 6 && (g - b).abs() < 6 && r > 90);
        ring += usize::from(r < 40 && b < 50);
    }
    // The cell is orange, the part grey, and a dark ring surrounds the cell.
    assert!(
        cell > 20 && grey > 10_000 && ring > 40,
        "{cell} {grey} {ring}"
    );
    rows::refused(
        &place,
        "2 view one.npz --veil coarse.npz
             err its grid differs from the grid of one.npz
         2 view one.npz --veil part.npz --slice z
             err --slice
         3 view one.npz --veil missing.npz",
    );
}

#[test]
fn mismatching_layers_of_a_run_are_reported() {
    let place = place();
    rows::check(
        &place,
        "0 view f.stl -r 12 --solid --slice z=all -o layers/
             no err from another run
         0 view f.stl -r 6 --solid --slice z=all -o layers/
             err were written by another run
             no err W019
         0 f.stl -r 6 --up y --solid -o f.npz
         0 view f.npz --slice z=all -o lying/
             err warning[W019]: printers assume that z is up, but in this grid y is up
         # A mesh that is voxelized for the picture is hollow by the default rule.
         0 view f.stl -r 9 --slice z=all -o hollow/
             err ; hollow; --filled or --solid fills it",
    );
    assert_eq!(names(&place, "layers").len(), 6);
}
