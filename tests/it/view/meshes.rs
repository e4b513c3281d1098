//! Pictures of meshes have their colours and their up axis.

use std::fs;

use crate::support::picture::{RgbImage, png_of};
use crate::support::place::Place;
use crate::support::{bless, rows};

/// Texels of the picture along each axis.
const TEXELS: usize = 4;

fn texture() -> RgbImage {
    RgbImage::from_fn(TEXELS as u32, TEXELS as u32, |x, y| {
        [40 + 50 * x, 30 + 60 * y, 200 * ((x + y) % 2)].map(|channel| channel as u8)
    })
}

/// Writes a square of 4 × 4 that faces the front, with a texture or with a colour for each vertex.
fn write_squares(place: &Place) {
    place.write("square.png", png_of(&texture()));
    place.write("square.mtl", "newmtl all\nmap_Kd square.png\n");
    place.write(
        "texture.obj",
        "mtllib square.mtl\nusemtl all\nv 0 0 0\nv 4 0 0\nv 4 0 4\nv 0 0 4\n\
         vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n",
    );
    place.write(
        "vertices.obj",
        "v 0 0 0 1 0 0\nv 4 0 0 0 1 0\nv 4 0 4 0 0 1\nv 0 0 4 1 1 1\nf 1 2 3\nf 1 3 4\n",
    );
    place.write(
        "plain.obj",
        "v 0 0 0\nv 4 0 0\nv 4 0 4\nv 0 0 4\nf 1 2 3 4\n",
    );
}

/// Red, green, blue and opacity of the pixels of a picture of 300 × 300.
fn pixels(place: &Place, name: &str) -> Vec<[u8; 4]> {
    let file = fs::File::open(place.path(name)).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((frame.width, frame.height), (300, 300));
    let (pixels, _) = bytes.as_chunks::<4>();
    pixels.to_vec()
}

/// Light on a face that is turned to the viewer.
const LIGHT: f64 = 0.42 + (1.2 - 0.42) * (0.5 + 0.5 * 0.54) * (0.5 + 0.5 * 0.54);

/// Size of the margin in pixels, and of a unit of length.
const MARGIN: f64 = 18.0;
const UNIT: f64 = (300.0 - 2.0 * MARGIN) / 4.0;

fn assert_shaded(found: [u8; 4], colour: [f64; 3], case: &str) {
    for n in 0..3 {
        let wanted = (colour[n] * LIGHT).min(255.0);
        let is_near = (f64::from(found[n]) - wanted).abs() <= 1.5;
        assert!(is_near, "{case}: {found:?}, not {colour:?} × {LIGHT}");
    }
    assert_eq!(found[3], 255, "{case}");
}

#[test]
fn a_pixel_has_the_colour_of_the_mesh_at_its_point() {
    let place = Place::new();
    write_squares(&place);
    let texture = texture();
    let mut seen = 0;
    for perspective in ["", "--perspective"] {
        for name in ["texture", "vertices", "plain"] {
            let line = "--mesh --from front --size 300x300 --no-axes";
            place
                .run(&format!(
                    "view {name}.obj {line} {perspective} -o {name}.png"
                ))
                .expect(0);
            let pixels = pixels(&place, &format!("{name}.png"));
            for (n, pixel) in pixels.into_iter().enumerate() {
                // The square is perpendicular to the view, so it is a square in perspective, too.
                let x = ((n % 300) as f64 + 0.5 - MARGIN) / UNIT;
                let z = 4.0 - ((n / 300) as f64 + 0.5 - MARGIN) / UNIT;
                let rest = |a: f64| (a - a.round()).abs();
                let is_inside = x > 0.0 && x < 4.0 && z > 0.0 && z < 4.0;
                // Pixels on a border between texels or of the square are mixed.
                if !is_inside || rest(x) < 2.0 / UNIT || rest(z) < 2.0 / UNIT {
                    continue;
                }
                let colour = match name {
                    "texture" => {
                        let texel = texture.at(x as u32, (4.0 - z) as u32);
                        texel.map(f64::from)
                    }
                    "vertices" => {
                        // The weights of the corners of the triangle that the point is in.
                        let [u, v] = [x / 4.0, z / 4.0];
                        if (u - v).abs() < 0.02 {
                            continue;
                        }
                        if u > v {
                            [1.0 - u, u - v, v].map(|weight| 255.0 * weight)
                        } else {
                            [1.0 - v + (v - u), v - u, u + (v - u)].map(|weight| 255.0 * weight)
                        }
                    }
                    _ => [0xd0, 0xd2, 0xd6].map(f64::from),
                };
                assert_shaded(pixel, colour, &format!("{name} {perspective} {x} {z}"));
                seen += 1;
            }
        }
    }
    assert!(seen > 200_000, "{seen}");
}

#[test]
fn a_mesh_stands_on_its_feet_and_has_its_unit() {
    let place = Place::new();
    fs::copy(bless::root("fixtures/f.stl"), place.path("f.stl")).unwrap();
    write_squares(&place);
    rows::check(
        &place,
        "0 f.stl --unit m --filled -r 8 -o f.glb
         0 view f.glb -r 8 --size 90x90 -o cells.png
             err y up
         0 view f.glb --mesh --size 90x90 -o stated.png
             err triangles, from 45°, 35.2644°, y up
         0 view f.glb --mesh --size 90x90 --up y -o y.png
         0 view f.glb --mesh --size 90x90 --up z -o z.png
             err z up
         0 view f.stl --mesh --size 90x90 --unit mm -o f.png
             err mm
         0 view f.stl -r 8 --size 90x90 --unit mm -o cells.png
             err 5 × 7 × 3 mm
         # A texture that is missing is reported.
         0 view texture.obj --mesh --size 90x90 -o texture.png
             no err S110",
    );
    let read = |name: &str| fs::read(place.path(name)).unwrap();
    assert!(read("stated.png") == read("y.png") && read("y.png") != read("z.png"));
    fs::remove_file(place.path("square.png")).unwrap();
    rows::check(
        &place,
        "0 view texture.obj --mesh --size 90x90 -o texture.png
             err warning[S110]",
    );
    rows::refused(
        &place,
        "2 view f.stl --mesh -r 9 -o a.png
             err --res
         5 view f.stl --mesh --size 4000x4000 --max-memory 40M -o a.png",
    );
}
