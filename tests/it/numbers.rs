//! Reports use the triangle numbers of the file even if damaged triangles were dropped.

use crate::support::place::Place;
use crate::support::solids::{between, stl};

/// Returns a binary file of these triangles with damaged ones before the triangles of some numbers.
fn damaged(triangles: &[voxelize::geom::Triangle], before: &[usize]) -> (Vec<u8>, Vec<u64>) {
    let bad = [[f32::NAN; 3]; 3];
    let mut all = vec![];
    let mut numbers = vec![];
    for (n, triangle) in triangles.iter().enumerate() {
        all.extend(before.iter().filter(|place| **place == n).map(|_| bad));
        numbers.push(all.len() as u64);
        all.push(*triangle);
    }
    (stl(&all), numbers)
}

#[test]
fn a_check_names_triangles_by_their_number_in_the_file() {
    let place = Place::new();
    let cube = between([0.0; 3], [8.0; 3]);
    // Without its last triangle, so that the neighbours of the hole are reported.
    let open = &cube[..11];
    place.write("whole.stl", stl(open));
    let (bytes, numbers) = damaged(open, &[0, 0, 3, 7, 9]);
    place.write("damaged.stl", bytes);
    let places = |file: &str| {
        let json = place
            .run(&format!("check {file} --lenient --json"))
            .expect(0)
            .json();
        let triangles = json["findings"][0]["places"][0]["triangles"]
            .as_array()
            .unwrap();
        triangles
            .iter()
            .map(|n| n.as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let whole = places("whole.stl");
    let wanted: Vec<_> = whole.iter().map(|n| numbers[*n as usize]).collect();
    assert!(whole.len() == 3 && wanted != whole, "{whole:?}");
    assert_eq!(places("damaged.stl"), wanted);
    // A permutation of the axes creates another mesh of the same file.
    let json = place
        .run("check damaged.stl --lenient --json --axes z,x,y")
        .expect(0)
        .json();
    assert_eq!(json["findings"][0]["places"][0]["triangles"][0], wanted[0]);
}

#[test]
fn nearest_triangles_have_their_number_in_the_file() {
    let place = Place::new();
    let cube = between([0.0; 3], [8.0; 3]);
    place.write("whole.stl", stl(&cube));
    let (bytes, numbers) = damaged(&cube, &[0, 2, 2, 5, 11]);
    place.write("damaged.stl", bytes);
    let nearest = |file: &str| {
        place
            .run(&format!(
                "{file} --lenient -r 12 --rule distance --nearest n.npy -o d.npz"
            ))
            .expect(0);
        let bytes = std::fs::read(place.path("n.npy")).unwrap();
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let numbers = bytes[header..]
            .chunks(4)
            .map(|n| i32::from_le_bytes(n.try_into().unwrap()));
        numbers.collect::<Vec<_>>()
    };
    let whole = nearest("whole.stl");
    let damaged = nearest("damaged.stl");
    let wanted = |n: &i32| usize::try_from(*n).map_or(*n, |n| numbers[n] as i32);
    assert!(damaged == whole.iter().map(wanted).collect::<Vec<_>>());
    assert!(
        whole.contains(&-1) && whole.contains(&11) && !damaged.contains(&0),
        "{damaged:?}"
    );
}

#[test]
fn clearance_names_triangles_by_their_number_in_the_file() {
    let place = Place::new();
    let cube = between([0.0; 3], [8.0; 3]);
    let (bytes, of_first) = damaged(&cube, &[0, 2, 2, 5, 11]);
    place.write("whole.stl", stl(&cube));
    place.write("damaged.stl", bytes);
    let others = [
        between([8.0, 1.0, 1.0], [12.0, 4.0, 4.0]),
        between([9.0, 1.0, 1.0], [12.0, 4.0, 4.0]),
    ];
    for (other, meets) in others.into_iter().zip([true, false]) {
        let (bytes, of_second) = damaged(&other, &[0, 0, 0, 7]);
        place.write("other.stl", stl(&other));
        place.write("other-damaged.stl", bytes);
        let pairs = |files: &str| {
            let json = place
                .run(&format!("clearance {files} --lenient --json"))
                .expect(0)
                .json();
            let places = json["pairs"][0]["places"].as_array().unwrap();
            let named = std::iter::once(&json["pairs"][0])
                .chain(places)
                .map(|pair| &pair["triangles"]);
            named
                .map(|pair| [0, 1].map(|n| pair[n].as_u64().unwrap()))
                .collect::<Vec<_>>()
        };
        let whole = pairs("whole.stl other.stl");
        let in_file = |[a, b]: &[u64; 2]| [of_first[*a as usize], of_second[*b as usize]];
        let wanted: Vec<_> = whole.iter().map(in_file).collect();
        assert_eq!(pairs("damaged.stl other-damaged.stl"), wanted);
        assert!(wanted != whole && (wanted.len() > 1) == meets, "{whole:?}");
    }
}
