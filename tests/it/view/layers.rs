//! Pictures of all layers, by `view --slice z=all` and in `.slices`.

use std::fs;

use voxelize::Voxels;

use crate::support::place::Place;
use crate::support::{bless, rows};

fn place() -> Place {
    let place = Place::new();
    fs::copy(bless::root("fixtures/f.stl"), place.path("f.stl")).unwrap();
    place
}

/// Rows of the pixels of a grey picture, from the top. White pixels are 255.
fn greys(place: &Place, name: &str) -> Vec<Vec<u8>> {
    let file = fs::File::open(place.path(name)).unwrap();
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Grayscale, "{name}");
    let rows = bytes.chunks(frame.width as usize);
    rows.map(<[u8]>::to_vec).collect()
}

#[test]
fn the_same_plates_are_written_by_each_command() {
    let place = place();
    rows::check(
        &place,
        "0 f.stl --unit mm --voxel-size 1 --solid --size 9x12 -o f.slices
         0 f.stl --unit mm --voxel-size 1 --solid -o f.npz
         0 convert f.npz g.slices --size 9x12
         0 view f.npz --slice z=all --size 9x12 -o layers/
         0 f.stl --voxel-size 1 --rule fraction --size 2000x2000 -o grey.slices.zip --dry-run
             err as slices.zip, at most",
    );
    for layer in 0..3 {
        let made = greys(&place, &format!("f.slices/000{layer}.png"));
        assert_eq!((made[0].len(), made.len()), (9, 12));
        assert!(made.concat().contains(&255));
        assert_eq!(made, greys(&place, &format!("g.slices/000{layer}.png")));
        assert_eq!(made, greys(&place, &format!("layers/z{layer}.png")));
    }
}

#[test]
fn shares_are_greys() {
    let place = place();
    rows::check(
        &place,
        "0 f.stl --voxel-size 0.7 --rule fraction -o f.npz
         0 f.stl --voxel-size 0.7 --rule fraction --size 13x19 -o grey.slices
             err , u8
         0 f.stl --voxel-size 0.7 --rule fraction --dtype u8 --max-memory 30M -j 1 --size 13x19 -o slabs.slices
         0 convert f.npz converted.slices --size 13x19",
    );
    let voxels = Voxels::open(place.path("f.npz")).unwrap();
    let field = voxels.field().unwrap();
    let [nx, ny, nz] = field.dims();
    let [left, top] = [(13 - nx) / 2, (19 - ny) / 2];
    let mut between = 0;
    for k in 0..nz {
        let name = format!("grey.slices/{k:04}.png");
        let rows = greys(&place, &name);
        for j in 0..ny {
            for i in 0..nx {
                let wanted = (f64::from(field.get([i, j, k])) * 255.0).round() as u8;
                let found = rows[top + ny - 1 - j][left + i];
                assert_eq!(found, wanted, "{i}, {j}, {k}");
                between += usize::from(![0, 255].contains(&found));
            }
        }
        let bytes = fs::read(place.path(&name)).unwrap();
        for other in ["slabs", "converted"] {
            let other = name.replace("grey", other);
            assert!(fs::read(place.path(&other)).unwrap() == bytes, "{other}");
        }
    }
    assert!(between > 20, "{between}");
}

#[test]
fn plates_that_do_not_fit_are_refused() {
    let place = place();
    place.run("f.stl --voxel-size 1 --solid -o f.npz").expect(0);
    fs::create_dir(place.path("mine.slices")).unwrap();
    place.write("mine.slices/notes.txt", "mine");
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/z1.png", "mine");
    rows::refused(
        &place,
        "2 f.stl --voxel-size 1 --solid --size 4x12 -o a.slices
             err does not fit on a plate of 4 × 12 pixels
         2 f.stl --voxel-size 1 --solid --size 12x6 -o a.slices
             err turn the part: --rotate z,90
         2 convert f.npz a.slices --size 12x6
             err name a larger plate: --size
         2 f.stl --voxel-size 1 --size 9x12 -o a.npz
             err --size 9x12: npz has no pictures
         2 f.stl --size 9 -o a.slices
             err expected width and height
         2 f.stl --size 9x99999 -o a.slices
             err the maximum is 16384 pixels
         2 f.stl --rule distance -o a.slices
             err stores shares of cells
         2 f.stl --rule fraction --dtype bit -o a.slices
         6 f.stl --solid -r 8 -o mine.slices
             err is a folder with other files, such as notes.txt
         6 view f.npz --slice z=all -o mine/
             err already exists",
    );
}
