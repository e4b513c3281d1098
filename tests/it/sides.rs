//! Padding of single sides, and lengths of bands.

use crate::support::place::Place;
use crate::support::rows;

#[test]
fn each_side_is_padded() {
    let place = Place::new();
    // The cube is 20 units wide, so it has 4 cells along each axis.
    let cube = "cube.stl --voxel-size 5 --filled";
    let plain = place
        .run(&format!("{cube} -o plain.npz --json"))
        .expect(0)
        .json();
    let first: Vec<_> = plain["grid"]["origin"].as_array().unwrap().clone();
    let wide = |axis: usize| first[axis].as_f64().unwrap();
    let mut tried = 0;
    for (pad, dims, json, low) in [
        ("1", [6, 6, 6], "1", [1, 1, 1]),
        ("1,0,2", [6, 4, 8], "[1,0,2]", [1, 0, 2]),
        ("1,0,2,1,0,2", [6, 4, 8], "[1,0,2]", [1, 0, 2]),
        ("1,0,2,0,3,1", [5, 7, 7], "[1,0,2,0,3,1]", [1, 0, 2]),
    ] {
        let run = place
            .run(&format!("{cube} --pad {pad} -o a.npz --json"))
            .expect(0);
        let found = run.json();
        assert_eq!(found["grid"]["dims"], serde_json::json!(dims), "{pad}");
        assert_eq!(found["grid"]["pad"].to_string(), json, "{pad}");
        for axis in 0..3 {
            let origin = found["grid"]["origin"][axis].as_f64().unwrap();
            assert_eq!(origin, wide(axis) - 5.0 * f64::from(low[axis]), "{pad}");
        }
        assert_eq!(
            found["counts"]["occupied"], plain["counts"]["occupied"],
            "{pad}"
        );
        tried += 1;
    }
    assert_eq!(tried, 4);
    rows::check(
        &place,
        "0 cube.stl -r 8 --filled --pad 1,0,2,0,3,1 -o a.npz
             err padded by 1, 0 and 2 cells on the low sides, 0, 3 and 1 on the high sides
         0 cube.stl -r 8 --filled --pad 0,0,2 -o a.npz
             err padded by 0, 0 and 2 cells on every side
         0 verify --update list.toml cube.stl -r 8 --pad 1,0,2,0,3,1
         0 verify list.toml",
    );
    rows::refused(
        &place,
        "2 cube.stl --pad 1,2 -o c.npz
             err expected 1, 3 or 6 numbers, found 2
         2 cube.stl --pad 1,2,-3 -o c.npz
             err must not be below zero",
    );
}

#[test]
fn a_band_is_a_length_or_a_number_of_cells() {
    let place = Place::new();
    let mut compared = 0;
    for (cells, length) in [
        ("6", "3mm"),
        ("6", "0.3cm"),
        ("2.5", "1.25mm"),
        ("6", "3units"),
    ] {
        for options in ["--signed", "--iso 1", "--pad 2"] {
            let line = |band: &str| {
                let line = format!(
                    "cube.stl --unit mm --voxel-size 0.5 --rule distance --band {band} {options} -o a.npz --json"
                );
                place.run(&line).expect(0).json()
            };
            let (found, expected) = (line(length), line(cells));
            assert_eq!(found["digest"], expected["digest"], "{length} {options}");
            assert_eq!(found["grid"], expected["grid"], "{length} {options}");
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
    rows::check(
        &place,
        r#"0 cube.stl --unit mm --voxel-size 2 --rule distance --band 3mm -o a.npz --json
             /band "3units"
           0 info a.npz --json
             /band "3units"
           0 info a.npz
             out band: 3 mm
           0 verify a.npz cube.stl
           0 cube.stl --unit m --scale 0.001 --voxel-size 0.001 --rule distance --band 3mm -o a.npz --json
             /band "3"
           0 plan cube.stl -r 100 --unit mm --rule distance --band 3mm -o a.zarr --bin
           0 a.zarr --region 1/1
           0 finish a.zarr"#,
    );
    rows::refused(
        &place,
        "2 cube.stl --rule distance --band 3mm -o c.npz
             err --band 3mm: the unit of the file is unknown
         2 cube.stl --unit mm --rule distance --band 3mm --iso 4 -o c.npz
             err --iso: 4 must be less than the band, 3units
         2 cube.stl --unit mm --rule distance --band=-3mm -o c.npz
             err must be above zero",
    );
}
