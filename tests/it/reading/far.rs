//! Decimals and doubles far from the origin are read without loss.

use voxelize::mesh::read::{ReadNear, ReadOptions, read_file, read_stream};
use voxelize::{Mesh, Rational};

use crate::support::place::Place;

/// Corners of a house of 10 × 8 × 6 and of its interior, with walls of 0.3, in hundredths.
const HOUSE: [[[i64; 3]; 2]; 2] = [
    [[0, 0, 0], [1000, 800, 600]],
    [[30, 30, 30], [970, 770, 570]],
];
/// Position in hundredths.
const PLACE: [i64; 3] = [45_012_340, 541_187_620, 23_170];
const QUADS: [[usize; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

fn corners(place: [i64; 3]) -> Vec<[String; 3]> {
    let corner = |[low, high]: [[i64; 3]; 2], n: usize| {
        [0, 1, 2].map(|axis| {
            let hundredths = place[axis]
                + if n >> axis & 1 == 1 {
                    high[axis]
                } else {
                    low[axis]
                };
            format!("{}.{:02}", hundredths / 100, hundredths % 100)
        })
    };
    HOUSE
        .iter()
        .flat_map(|walls| (0..8).map(|n| corner(*walls, n)))
        .collect()
}

/// Returns the corners of the triangles. The interior faces inwards.
fn faces() -> Vec<[usize; 3]> {
    let of = |first: usize, [a, b, c, d]: [usize; 4]| {
        let [b, d] = if first > 0 { [d, b] } else { [b, d] };
        [[a, b, c], [a, c, d]].map(|corners| corners.map(|n| first + n))
    };
    [0, 8]
        .into_iter()
        .flat_map(|first| QUADS.into_iter().flat_map(move |quad| of(first, quad)))
        .collect()
}

/// Returns the house in every format with decimals or doubles.
fn houses(place: [i64; 3]) -> Vec<(&'static str, Vec<u8>)> {
    let corners = corners(place);
    let lines = |before: &str| {
        corners
            .iter()
            .map(|c| format!("{before}{}\n", c.join(" ")))
            .collect::<String>()
    };
    let of = |before: &str, first: usize| {
        let line =
            |[a, b, c]: [usize; 3]| format!("{before} {} {} {}\n", a + first, b + first, c + first);
        faces().into_iter().map(line).collect::<String>()
    };
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement vertex 16\nproperty double x\nproperty double y\nproperty double z\n\
             element face 24\nproperty list uchar int vertex_indices\nend_header\n"
        )
    };
    let mut binary = header("binary_little_endian").into_bytes();
    for coordinate in corners.iter().flatten() {
        binary.extend(coordinate.parse::<f64>().unwrap().to_le_bytes());
    }
    for face in faces() {
        binary.push(3);
        binary.extend(
            face.into_iter()
                .flat_map(|corner| (corner as u32).to_le_bytes()),
        );
    }
    let mut stl = "solid house\n".to_string();
    for face in faces() {
        let vertices: String = face
            .iter()
            .map(|n| format!("vertex {}\n", corners[*n].join(" ")))
            .collect();
        stl += &format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n");
    }
    stl += "endsolid house\n";
    vec![
        ("house.obj", (lines("v ") + &of("f", 1)).into_bytes()),
        (
            "house.off",
            format!("OFF\n16 24 0\n{}{}", lines(""), of("3", 0)).into_bytes(),
        ),
        (
            "text.ply",
            format!("{}{}{}", header("ascii"), lines(""), of("3", 0)).into_bytes(),
        ),
        ("binary.ply", binary),
        ("house.stl", stl.into_bytes()),
    ]
}

fn point(place: [i64; 3]) -> [Rational; 3] {
    place.map(|hundredths| Rational::new(hundredths, 100))
}

#[test]
fn a_house_on_a_map_is_that_at_the_origin() {
    let files = Place::new();
    for ((name, near), (_, far)) in houses([0; 3]).into_iter().zip(houses(PLACE)) {
        files.write(name, &far);
        let options = ReadOptions::default().near(ReadNear::Mesh);
        let origin = read_stream(&mut &near[..], name, &options).unwrap();
        assert_eq!(origin.near, point([0; 3]), "{name}");
        let mut read = vec![
            read_stream(&mut &far[..], name, &options).unwrap(),
            read_file(&files.path(name), &options).unwrap(),
        ];
        for loaded in &read {
            assert_eq!(loaded.near, point(PLACE), "{name}");
            assert_eq!(loaded.mesh.triangles(), origin.mesh.triangles(), "{name}");
        }
        // Without options, coordinates are rounded to multiples of a half.
        read.push(read_file(&files.path(name), &ReadOptions::default()).unwrap());
        assert_eq!(read[2].near, point([0; 3]));
        assert_eq!(
            Mesh::open(files.path(name)).unwrap(),
            read[2].mesh,
            "{name}"
        );
        assert!(read[2].mesh.bounds().min[1] == 5_411_876.0, "{name}");
    }
}

#[test]
fn cells_of_a_house_on_a_map_are_those_at_the_origin() {
    let files = Place::new();
    let mut seen = 0;
    for ((name, near), (_, far)) in houses([0; 3]).into_iter().zip(houses(PLACE)) {
        files.write(&format!("near-{name}"), &near);
        files.write(name, &far);
        let run = |words: &str| {
            files
                .run(&format!("{words} --solid --voxel-size 0.1 --json -o x.npz"))
                .expect(0)
                .json()
        };
        let here = run(&format!("near-{name}"));
        let there = run(name);
        let moved = run(&format!("{name} --translate=-450123.4,-5411876.2,-231.7"));
        let boxed = run(&format!(
            "{name} --bounds 450123.4,5411876.2,231.7,450133.4,5411884.2,237.7"
        ));
        for found in [&there, &moved, &boxed] {
            assert_eq!(
                found["counts"]["occupied"], here["counts"]["occupied"],
                "{name}"
            );
            assert_eq!(found["grid"]["dims"], here["grid"]["dims"], "{name}");
        }
        // In the coordinates of the output the grid is the same.
        assert_eq!(moved["digest"], here["digest"], "{name}");
        let codes = |found: &serde_json::Value| {
            let all = found["warnings"].as_array().unwrap().iter();
            all.map(|warning| warning["code"].as_str().unwrap().to_string())
                .collect::<Vec<_>>()
        };
        assert!(
            codes(&there).contains(&"L001".to_string()),
            "{name}: {:?}",
            codes(&there)
        );
        assert!(
            !codes(&moved).contains(&"L001".to_string()),
            "{name}: {:?}",
            codes(&moved)
        );
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn regions_of_a_house_on_a_map_are_the_whole() {
    let files = Place::new();
    for (name, far) in houses(PLACE) {
        files.write(name, &far);
        for bin in ["", " --bin"] {
            let store = format!("{name}{}.zarr", bin.trim());
            let plan = format!("plan {name} --solid --voxel-size 0.1 --regions 2{bin} -o {store}");
            files.run(&plan).expect(0);
            files.run(&format!("{store} --region 1/1")).expect(0);
            let made = files
                .run(&format!("finish {store} --json"))
                .expect(0)
                .json();
            let whole = files
                .run(&format!(
                    "{name} --solid --voxel-size 0.1 --json -o {name}.npz"
                ))
                .expect(0)
                .json();
            assert_eq!(made["digest"], whole["digest"], "{name}{bin}");
            std::fs::remove_file(files.path(&format!("{name}.npz"))).unwrap();
        }
    }
}
