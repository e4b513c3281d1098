//! Decimals and doubles far from the origin are read without loss.

use serde_json::Value;
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
    let mut corners = vec![];
    for walls in HOUSE {
        for n in 0..8 {
            corners.push([0, 1, 2].map(|axis| {
                let hundredths = place[axis] + walls[n >> axis & 1][axis];
                format!("{}.{:02}", hundredths / 100, hundredths % 100)
            }));
        }
    }
    corners
}

/// Returns the corners of the triangles. The interior faces inwards.
fn faces() -> Vec<[usize; 3]> {
    let mut faces = vec![];
    for [a, b, c, d] in QUADS {
        faces.extend([
            [a, b, c],
            [a, c, d],
            [a + 8, d + 8, c + 8],
            [a + 8, c + 8, b + 8],
        ]);
    }
    faces
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
        binary.extend(face.iter().flat_map(|n| (*n as u32).to_le_bytes()));
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
    let obj = lines("v ") + &of("f", 1);
    let off = format!("OFF\n16 24 0\n{}{}", lines(""), of("3", 0));
    let text = format!("{}{}{}", header("ascii"), lines(""), of("3", 0));
    vec![
        ("house.obj", obj.into_bytes()),
        ("house.off", off.into_bytes()),
        ("text.ply", text.into_bytes()),
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
        let opened = Mesh::open(files.path(name)).unwrap();
        assert_eq!(opened, read[2].mesh, "{name}");
        assert!(read[2].mesh.bounds().min[1] == 5_411_876.0, "{name}");
    }
}

/// Voxelizes and returns the report.
fn voxelized(files: &Place, mesh: &str) -> Value {
    let line = format!("{mesh} --solid --voxel-size 0.1 --json -o x.npz");
    let report = files.run(&line).expect(0).json();
    std::fs::remove_file(files.path("x.npz")).unwrap();
    report
}

#[test]
fn cells_of_a_house_on_a_map_are_those_at_the_origin() {
    let files = Place::new();
    for ((name, near), (_, far)) in houses([0; 3]).into_iter().zip(houses(PLACE)) {
        files.write(&format!("near-{name}"), &near);
        files.write(name, &far);
        let here = voxelized(&files, &format!("near-{name}"));
        let there = voxelized(&files, name);
        let translated = "--translate=-450123.4,-5411876.2,-231.7";
        let moved = voxelized(&files, &format!("{name} {translated}"));
        let bounds = "--bounds 450123.4,5411876.2,231.7,450133.4,5411884.2,237.7";
        let boxed = voxelized(&files, &format!("{name} {bounds}"));
        for found in [&there, &moved, &boxed] {
            for pointer in ["/counts/occupied", "/grid/dims"] {
                assert!(here.pointer(pointer).is_some());
                assert_eq!(found.pointer(pointer), here.pointer(pointer), "{name}");
            }
        }
        // In the coordinates of the output the grid is the same.
        assert_eq!(moved["digest"], here["digest"], "{name}");
        assert!(there["warnings"].to_string().contains("L001"), "{name}");
        assert!(!moved["warnings"].to_string().contains("L001"), "{name}");
    }
}

#[test]
fn regions_of_a_house_on_a_map_are_the_whole() {
    let files = Place::new();
    for (name, far) in houses(PLACE) {
        files.write(name, &far);
        let whole = voxelized(&files, name);
        for bin in ["", " --bin"] {
            let store = format!("{name}{}.zarr", bin.trim());
            let plan = format!("plan {name} --solid --voxel-size 0.1 --regions 2{bin} -o {store}");
            files.run(&plan).expect(0);
            files.run(&format!("{store} --region 1/1")).expect(0);
            let made = files.run(&format!("finish {store} --json")).expect(0);
            assert_eq!(made.json()["digest"], whole["digest"], "{name}{bin}");
        }
    }
}
