//! Cases that were wrong once or are prone to errors: every level and all ties are compared with the oracle.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::support::listed::{compare, parse};
use voxelize::geom::Triangle;
use voxelize::mesh::closed::Closedness;
use voxelize::{Band, BitGrid, Lattice, Level, Mesh, Progress, Rational, Rule, Run, Voxelizer};

/// Cells per axis, origin, spacing, closed axes, snap, and the bits of the coordinates of triangles.
const CASES: &str = "
    # Beyond a closed wall is not on it: [0, 0, 2] and [1, 0, 0] are untouched, ties up; were wrong at every level.
    5 3 3 | 4 4 0 | 1 1 1 | false true true | Float | 00000000 41100000 40800000 00000000 00000000 40000000 41000000 00000000 40800000
    4 5 1 | 1 2 2 | 1 1 1 | false true true | Float | 00000000 00000000 40000000 00000000 00000000 40000000 40000000 40000000 40800000

    # The face z = 2 of the cube 0…2 on the last wall, then the plane x = y through lattice lines.
    2 2 2 | 0 0 0 | 1 1 1 | true true true | Float | 0 0 40000000 40000000 0 40000000 0 40000000 40000000 0 0 0 40000000 40000000 0 40000000 40000000 40000000

    # 0.3 and 0.7, between walls that are tenths: 0.7 is on wall seven only if it snaps.
    10 10 10 | 0 0 0 | 1/10 1/10 1/10 | true true true | Float | 3e99999a 3f333333 3e99999a 3f333333 3f333333 3e99999a 3e99999a 3f333333 3f333333
    10 10 10 | 0 0 0 | 1/10 1/10 1/10 | true true true | None | 3e99999a 3f333333 3e99999a 3f333333 3f333333 3e99999a 3e99999a 3f333333 3f333333

    # Both ends of an edge next to a wall round to the wall, so its slope is not a number. Cell [15, 16, 16] is
    # touched, ties up; was wrong at every level.
    21 21 21 | -2 -2 -2 | 1/8 1/8 1/8 | true true true | None | 00000000 80000000 80000000 b0000000 a0000000 00000000 00000000 20000000 80000000

    # The plane leans by less than 1e-18: which wall of a row it meets first has to be decided exactly. Cell
    # [38, 39, 38] is touched, ties both, and [28, 28, 28], ties up; were wrong at every level.
    44 44 44 | -117 -117 -117 | 3 3 3 | true true true | None | 00000000 80000000 80000000 10000000 40000000 00000000 00000000 20000000 40000000
    34 34 34 | -203/3 -203/3 -203/3 | 7/3 7/3 7/3 | true true true | Float | 80000000 c0000000 00000000 90000000 80000000 80000000 00000000 00000000 b0000000

    # Coordinates beyond any count of cells: the library panicked.
    4 4 4 | -2 -2 -2 | 1 1 1 | false false false | None | 80000000 80000000 80000000 80000000 dfc00000 40000000 00000000 00000000 00000000
    8 8 8 | -4/7 -4/7 -4/7 | 1/7 1/7 1/7 | false false false | None | 00000000 00000000 80000000 80000000 80000000 00000000 e0000000 00000000 40000000

    # A triangle that is one point to doubles has a plane: cells [34, 34, 34] and [26, 26, 26] are untouched, ties
    # up; were wrong at every level.
    40 40 40 | -35/8 -35/8 -35/8 | 1/8 1/8 1/8 | true true true | None | 80000000 88000000 08000000 88000000 0d000000 88000000 08000000 88000000 00000000
    31 31 31 | -26 -26 -26 | 1 1 1 | true true true | Float | 80000000 24000000 a3800000 00000000 a2000000 00000000 a0000000 80000000 00000000

    # Differences of coordinates overflow floats. The second triangle is within a cell.
    8 4 4 | 240000000000000000000000000000000000000 0 0 | 2343750000000000000000000000000000000 2343750000000000000000000000000000000 2343750000000000000000000000000000000 | true true true | Float | ff61b1e6 00000000 00000000 ff5a2bf8 7b4097ce 00000000 ff61b1e6 00000000 7b4097ce 7f354ee9 7b4097ce 7b4097ce 7f35622c 7b671c91 7b4097ce 7f354ee9 7b4097ce 7b9071db 7f61b1e6 00000000 00000000 7f61b1e6 7b4097ce 00000000 7f5a2bf8 00000000 7b4097ce

    # Cell [0, 0, 0] is touched, no ties: the edge passes 1e-41 next to its corner. It was considered to pass
    # through the corner, because the shift by whole cells rounded the distance away. Found by fuzzing.
    1 3 4 | 0 0 -4 | 1 1 1 | false true true | Float | 00000000 00000000 00000000 00004951 00540000 c0c00000 c0000000 c0000000 c0c00000
";

#[test]
fn listed_cases_are_decided_as_by_the_oracle() {
    for case in parse(CASES) {
        let decisions = compare(&case).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(decisions > 0, "nothing was compared");
    }
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
            let found: Vec<_> = layer.iter().collect();
            assert_eq!(found, wanted, "layer {k}, {}", level.name());
        }
    }
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
    let one = [[0.0, 0.0, 0.0], [8.0, 4096.0, 0.0], [0.0, 0.0, 2048.0]];
    let one = looks(vec![one], [8, 4096, 2048]);
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
    let triangle = corners.map(|corner| corner.map(f32::from_bits));
    let mesh = Mesh::from_triangles(vec![triangle]).unwrap();
    assert_eq!(mesh.closedness(), Closedness::Open);
    assert_eq!(mesh.edge_counts().open_edges, 3);
}

/// Returns the distance of cell [0, 2, 0] and its nearest triangle, on every level.
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
    let mut found = vec![];
    for level in Level::available() {
        let voxelizer = Voxelizer::new(rule).with_run(Run::default().level(level));
        let (made, nearest) = voxelizer.run_with_nearest(&mesh, &lattice).unwrap();
        let field = made.voxels.field().expect("a field");
        found.push((field.get([0, 2, 0]), nearest[2 * dims[0]]));
    }
    found
}

#[test]
fn a_needle_hides_no_nearer_triangle() {
    // Seen from the end of the needle, the squares of its short side underflow. Was 2.598 on all vector
    // levels.
    let needle = [[0.0; 3], [0.0, -1.87377e-11, 0.0], [6.466309, 0.0, 0.0]];
    let segment = [[0.0; 3], [0.0; 3], [0.0, 0.0, -1.143984]];
    for found in distances(
        &[segment, needle],
        [-1, -3, -1],
        Rational::from(3),
        [6, 7, 3],
    ) {
        assert_eq!(found, (2.1509876, 0));
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
    let far = [[3e38; 3], [3e38, 3.1e38, 3e38], [3e38, 3e38, 3.1e38]];
    let side = Rational::from_f32(8e37).expect("finite");
    for (value, nearest) in distances(&[far], [3, 3, 3], side, [8, 8, 8]) {
        assert_eq!(nearest, 0);
        assert!(value > 1e37 && value < 2e38, "{value}");
    }
}
