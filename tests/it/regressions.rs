//! Cases that were wrong once or are prone to errors: every level and all ties are compared with the oracle.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::support::listed::Listed;
use voxelize::geom::Triangle;
use voxelize::mesh::closed::Closedness;
use voxelize::{
    Band, BitGrid, Lattice, Level, Mesh, Progress, Rational, Rule, Run, Snap, Voxelizer,
};

fn check(cases: &[Listed]) {
    for case in cases {
        match case.check() {
            Ok(compared) => assert!(compared > 0, "nothing was compared"),
            Err(wrong) => panic!("{wrong}"),
        }
    }
}

#[test]
fn beyond_a_closed_wall_is_not_on_it() {
    check(&[
        // Cell [0, 0, 2] is untouched, ties up; was wrong at every level.
        Listed {
            triangles: &[[
                0x00000000, 0x41100000, 0x40800000, 0x00000000, 0x00000000, 0x40000000, 0x41000000,
                0x00000000, 0x40800000,
            ]],
            dims: [5, 3, 3],
            origin: ["4/1", "4/1", "0/1"],
            spacing: ["1/1", "1/1", "1/1"],
            closed: [false, true, true],
            snap: Snap::Float,
        },
        // Cell [1, 0, 0] is untouched, ties up; was wrong at every level.
        Listed {
            triangles: &[[
                0x00000000, 0x00000000, 0x40000000, 0x00000000, 0x00000000, 0x40000000, 0x40000000,
                0x40000000, 0x40800000,
            ]],
            dims: [4, 5, 1],
            origin: ["1/1", "2/1", "2/1"],
            spacing: ["1/1", "1/1", "1/1"],
            closed: [false, true, true],
            snap: Snap::Float,
        },
    ]);
}

#[test]
fn a_face_on_the_last_wall_and_a_diagonal_through_corners() {
    check(&[
        // The face z = 2 of the cube 0…2, then the plane x = y through lattice lines.
        Listed {
            triangles: &[
                [
                    0, 0, 0x40000000, 0x40000000, 0, 0x40000000, 0, 0x40000000, 0x40000000,
                ],
                [
                    0, 0, 0, 0x40000000, 0x40000000, 0, 0x40000000, 0x40000000, 0x40000000,
                ],
            ],
            dims: [2, 2, 2],
            origin: ["0/1", "0/1", "0/1"],
            spacing: ["1/1", "1/1", "1/1"],
            closed: [true, true, true],
            snap: Snap::Float,
        },
    ]);
}

#[test]
fn seven_tenths_is_on_wall_seven_only_if_it_snaps() {
    for snap in [Snap::Float, Snap::None] {
        // 0.3 and 0.7, between walls that are tenths.
        check(&[Listed {
            triangles: &[[
                0x3e99999a, 0x3f333333, 0x3e99999a, 0x3f333333, 0x3f333333, 0x3e99999a, 0x3e99999a,
                0x3f333333, 0x3f333333,
            ]],
            dims: [10, 10, 10],
            origin: ["0/1", "0/1", "0/1"],
            spacing: ["1/10", "1/10", "1/10"],
            closed: [true, true, true],
            snap,
        }]);
    }
}

#[test]
fn an_edge_that_doubles_cannot_separate_from_a_wall() {
    // Both ends of an edge next to a wall round to the wall, so its slope is not a number.
    check(&[
        // Cell [15, 16, 16] is touched, ties up; was wrong at every level.
        Listed {
            triangles: &[[
                0x00000000, 0x80000000, 0x80000000, 0xb0000000, 0xa0000000, 0x00000000, 0x00000000,
                0x20000000, 0x80000000,
            ]],
            dims: [21, 21, 21],
            origin: ["-2/1", "-2/1", "-2/1"],
            spacing: ["1/8", "1/8", "1/8"],
            closed: [true, true, true],
            snap: Snap::None,
        },
    ]);
}

#[test]
fn a_plane_that_doubles_cannot_separate_from_parallel() {
    // The plane leans by less than 1e-18: which wall of a row it meets first has to be decided exactly.
    check(&[
        // Cell [38, 39, 38] is touched, ties both; was wrong at every level.
        Listed {
            triangles: &[[
                0x00000000, 0x80000000, 0x80000000, 0x10000000, 0x40000000, 0x00000000, 0x00000000,
                0x20000000, 0x40000000,
            ]],
            dims: [44, 44, 44],
            origin: ["-117/1", "-117/1", "-117/1"],
            spacing: ["3/1", "3/1", "3/1"],
            closed: [true, true, true],
            snap: Snap::None,
        },
        // Cell [28, 28, 28] is touched, ties up; was wrong at every level.
        Listed {
            triangles: &[[
                0x80000000, 0xc0000000, 0x00000000, 0x90000000, 0x80000000, 0x80000000, 0x00000000,
                0x00000000, 0xb0000000,
            ]],
            dims: [34, 34, 34],
            origin: ["-203/3", "-203/3", "-203/3"],
            spacing: ["7/3", "7/3", "7/3"],
            closed: [true, true, true],
            snap: Snap::Float,
        },
    ]);
}

#[test]
fn coordinates_beyond_any_count_of_cells() {
    check(&[
        // The library panicked.
        Listed {
            triangles: &[[
                0x80000000, 0x80000000, 0x80000000, 0x80000000, 0xdfc00000, 0x40000000, 0x00000000,
                0x00000000, 0x00000000,
            ]],
            dims: [4, 4, 4],
            origin: ["-2/1", "-2/1", "-2/1"],
            spacing: ["1/1", "1/1", "1/1"],
            closed: [false, false, false],
            snap: Snap::None,
        },
        // The library panicked.
        Listed {
            triangles: &[[
                0x00000000, 0x00000000, 0x80000000, 0x80000000, 0x80000000, 0x00000000, 0xe0000000,
                0x00000000, 0x40000000,
            ]],
            dims: [8, 8, 8],
            origin: ["-4/7", "-4/7", "-4/7"],
            spacing: ["1/7", "1/7", "1/7"],
            closed: [false, false, false],
            snap: Snap::None,
        },
    ]);
}

#[test]
fn a_triangle_that_is_one_point_to_doubles_has_a_plane() {
    check(&[
        // Cell [34, 34, 34] is untouched, ties up; was wrong at every level.
        Listed {
            triangles: &[[
                0x80000000, 0x88000000, 0x08000000, 0x88000000, 0x0d000000, 0x88000000, 0x08000000,
                0x88000000, 0x00000000,
            ]],
            dims: [40, 40, 40],
            origin: ["-35/8", "-35/8", "-35/8"],
            spacing: ["1/8", "1/8", "1/8"],
            closed: [true, true, true],
            snap: Snap::None,
        },
        // Cell [26, 26, 26] is untouched, ties up; was wrong at every level.
        Listed {
            triangles: &[[
                0x80000000, 0x24000000, 0xa3800000, 0x00000000, 0xa2000000, 0x00000000, 0xa0000000,
                0x80000000, 0x00000000,
            ]],
            dims: [31, 31, 31],
            origin: ["-26/1", "-26/1", "-26/1"],
            spacing: ["1/1", "1/1", "1/1"],
            closed: [true, true, true],
            snap: Snap::Float,
        },
    ]);
}

#[test]
fn a_mesh_wider_than_floats_loses_nothing() {
    check(&[
        // Differences of its coordinates overflow floats. The second triangle is within a cell.
        Listed {
            triangles: &[
                [
                    0xff61b1e6, 0x00000000, 0x00000000, 0xff5a2bf8, 0x7b4097ce, 0x00000000,
                    0xff61b1e6, 0x00000000, 0x7b4097ce,
                ],
                [
                    0x7f354ee9, 0x7b4097ce, 0x7b4097ce, 0x7f35622c, 0x7b671c91, 0x7b4097ce,
                    0x7f354ee9, 0x7b4097ce, 0x7b9071db,
                ],
                [
                    0x7f61b1e6, 0x00000000, 0x00000000, 0x7f61b1e6, 0x7b4097ce, 0x00000000,
                    0x7f5a2bf8, 0x00000000, 0x7b4097ce,
                ],
            ],
            dims: [8, 4, 4],
            origin: ["240000000000000000000000000000000000000/1", "0/1", "0/1"],
            spacing: [
                "2343750000000000000000000000000000000/1",
                "2343750000000000000000000000000000000/1",
                "2343750000000000000000000000000000000/1",
            ],
            closed: [true, true, true],
            snap: Snap::Float,
        },
    ]);
}

#[test]
fn a_triangle_of_more_cells_than_floats_count_is_in_every_layer_it_reaches() {
    let bottom = -50_331_644.0;
    let triangle = [[1.0, 1.0, bottom], [2.0, 1.0, 6.9], [1.0, 2.0, 6.9]];
    let mesh = Mesh::from_triangles(vec![triangle]).unwrap();
    let whole = |n: i64| [n, n, n].map(Rational::from);
    let lattice = Lattice::new([4; 3], whole(0), whole(3), [true; 3]).unwrap();
    for level in Level::available() {
        let run = Run::default().level(level);
        let job = Rule::surface().prepare(&mesh, &lattice, &run).unwrap();
        for k in 0..4 {
            let mut layer = BitGrid::new([4, 4, 1]).unwrap();
            job.fill(k..k + 1, &run, &mut layer).unwrap();
            let wanted = if k < 3 { vec![[0, 0, 0]] } else { vec![] };
            assert_eq!(
                layer.iter().collect::<Vec<_>>(),
                wanted,
                "layer {k}, {}",
                level.name()
            );
        }
    }
}

#[test]
fn distances_far_below_a_grain_are_off_the_wall() {
    // Cell [0, 0, 0] is touched, no ties: the edge passes 1e-41 next to its corner. It was considered to pass
    // through the corner, because the shift by whole cells rounded the distance away. Found by fuzzing.
    check(&[Listed {
        triangles: &[[
            0x00000000, 0x00000000, 0x00000000, 0x00004951, 0x00540000, 0xc0c00000, 0xc0000000,
            0xc0000000, 0xc0c00000,
        ]],
        dims: [1, 3, 4],
        origin: ["0/1", "0/1", "-4/1"],
        spacing: ["1/1", "1/1", "1/1"],
        closed: [false, true, true],
        snap: Snap::Float,
    }]);
}

/// Counts the checks for cancellation.
#[derive(Default)]
struct Looks(AtomicU64);

impl Progress for Looks {
    fn cancelled(&self) -> bool {
        self.0.fetch_add(1, Relaxed);
        false
    }
}

/// Regression: on one thread, few triangles were one piece of work, however large they were.
#[test]
fn a_surface_of_few_large_triangles_asks_whether_to_stop() {
    let looks = |triangles: Vec<Triangle>, dims: [usize; 3]| {
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let zero = [0; 3].map(Rational::from);
        let lattice = Lattice::new(dims, zero, [1; 3].map(Rational::from), [true; 3]).unwrap();
        let looks = Looks::default();
        Voxelizer::new(Rule::surface())
            .threads(1)
            .progress(&looks)
            .run(&mesh, &lattice)
            .unwrap();
        looks.0.into_inner()
    };
    let large = |n: u16| {
        let at = f32::from(n) / 2.0;
        [[0.0, at, 100.0], [127.0, 100.0, at], [at, 127.0 - at, 0.0]]
    };
    let many = looks((0..200).map(large).collect(), [128; 3]);
    assert!(many >= 8, "{many} looks at 200 triangles");
    let one = looks(
        vec![[[0.0, 0.0, 0.0], [8.0, 4096.0, 0.0], [0.0, 0.0, 2048.0]]],
        [8, 4096, 2048],
    );
    assert!(one >= 8, "{one} looks at one triangle");
}

#[test]
fn an_open_triangle_made_to_fool_sums_of_hashes_is_open() {
    // Its edges cancelled under hashes that were the same in every process.
    let corners: [[u32; 3]; 3] = [
        [0x3f114cbb, 0xbf999446, 0xbfa00779],
        [0x3ebda39a, 0x3eda0b5a, 0x3f96fbbf],
        [0x3ca8bfbd, 0x3ec2c39d, 0x41f2bd66],
    ];
    let mesh =
        Mesh::from_triangles(vec![corners.map(|corner| corner.map(f32::from_bits))]).unwrap();
    assert_eq!(
        (mesh.closedness(), mesh.edge_counts().open_edges),
        (Closedness::Open, 3)
    );
}

/// Returns the distance of one cell and its nearest triangle, on every level.
fn distances(
    triangles: &[Triangle],
    origin: [i64; 3],
    side: Rational,
    dims: [usize; 3],
) -> Vec<(f32, i32)> {
    let spacing = [(); 3].map(|()| side.clone());
    let origin = origin.map(|o| Rational::from(o) * &side);
    let lattice = Lattice::new(dims, origin, spacing, [true; 3]).expect("a few cells");
    let mesh = Mesh::from_triangles(triangles.to_vec()).expect("finite");
    let rule = Rule::distance().with_band(Band::All).expect("a band");
    let of_level = |level| {
        let voxelizer = Voxelizer::new(rule).with_run(Run::default().level(level));
        let (made, nearest) = voxelizer
            .run_with_nearest(&mesh, &lattice)
            .expect("a small field");
        (
            made.voxels.field().expect("a field").get([0, 2, 0]),
            nearest[2 * dims[0]],
        )
    };
    Level::available().into_iter().map(of_level).collect()
}

#[test]
fn a_needle_hides_no_nearer_triangle() {
    // Seen from the end of the needle, the squares of its short side underflow. Was 2.598 on all vector
    // levels.
    let needle = [[0.0; 3], [0.0, -1.87377e-11, 0.0], [6.466309, 0.0, 0.0]];
    let segment = [[0.0; 3], [0.0; 3], [0.0, 0.0, -1.143984]];
    for (value, nearest) in distances(
        &[segment, needle],
        [-1, -3, -1],
        Rational::from(3),
        [6, 7, 3],
    ) {
        assert_eq!((value, nearest), (2.1509876, 0));
    }
}

#[test]
fn a_foot_on_a_shared_edge_is_nearest_to_the_first_triangle() {
    // The plane and the edge round differently; was 1.
    let edge = [[2.0, 2.0, 6.0], [1.0, 1.0, 3.0]];
    let triangles = [[2.0, 4.0, 10.0], [0.0, 0.0, 0.0]].map(|third| [edge[0], edge[1], third]);
    for (_, nearest) in distances(&triangles, [4, 2, 1], Rational::from(1), [1, 3, 1]) {
        assert_eq!(nearest, 0);
    }
}

#[test]
fn cells_around_the_largest_float_have_distances() {
    // The middle of the brick is beyond all floats; was infinite.
    let far = [
        [3e38, 3e38, 3e38],
        [3e38, 3.1e38, 3e38],
        [3e38, 3e38, 3.1e38],
    ];
    let side = Rational::from_f32(8e37).expect("finite");
    for (value, nearest) in distances(&[far], [3, 3, 3], side, [8, 8, 8]) {
        assert!(
            nearest == 0 && value > 1e37 && value < 2e38,
            "{value} {nearest}"
        );
    }
}
