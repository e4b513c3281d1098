//! Triangles that meet walls and corners exactly where doubles cannot decide it: cells whose size has no
//! exact inverse, far from the first wall, or smaller than the step of floats.

use voxelize::geom::Triangle;
use voxelize::{Rational, Snap};

use super::space::{Space, random_snap};
use crate::support::check::Case;
use crate::support::random::Random;

/// Returns a lattice that is long in one or two axes, with cells of an odd size starting at zero.
fn long(random: &mut Random, odd: i64) -> (Space, [i64; 3]) {
    let from = random.whole(60, 240);
    let one = random.index(3);
    let two = if random.one_in(2) {
        random.index(3)
    } else {
        one
    };
    let low = [0, 1, 2].map(|a| if a == one || a == two { from } else { 0 });
    let dims = low.map(|n| n as usize + 9);
    let size = [0; 3].map(|_| Rational::from(odd));
    let snap = if random.one_in(4) {
        random_snap(random)
    } else {
        Snap::None
    };
    (
        Space::new(dims, [0; 3].map(Rational::from), size, snap, [true; 3]),
        low,
    )
}

/// Vertices on walls `i * odd`, with faces in walls.
pub fn walls(random: &mut Random) -> Case {
    let odd = 2 * random.whole(1, 1023) + 1;
    let (space, low) = long(random, odd);
    let flat = random.index(4);
    let triangles = (0..4).map(|_| -> Triangle {
        let corner = low.map(|n| n + random.whole(0, 4));
        let mut vertex = || {
            [0, 1, 2].map(|a| {
                ((corner[a] + if a == flat { 0 } else { random.whole(0, 4) }) * odd) as f32
            })
        };
        [vertex(), vertex(), vertex()]
    });
    let triangles = triangles.collect();
    space.case(triangles)
}

/// Integer vertices in cells of an odd size: edges and planes through corners, vertices next to them.
pub fn corners(random: &mut Random) -> Case {
    let odd = random.of(&[3, 5, 7, 11, 49, 341]);
    let (space, low) = long(random, odd);
    let triangles = (0..4).map(|_| -> Triangle {
        let corner = low.map(|n| n + random.whole(2, 7));
        // A and its reflection in the corner; the third vertex is arbitrary, or also a reflection.
        let mut offset = || [0; 3].map(|_| random.whole(-2 * odd, 2 * odd));
        let p = offset();
        let q = offset();
        let at = |d: [i64; 3], sign: i64| [0, 1, 2].map(|a| (corner[a] * odd + sign * d[a]) as f32);
        match random.index(3) {
            0 => [at(p, 1), at(p, -1), at(q, 1)],
            1 => [
                at(p, 1),
                at(q, 1),
                at([0, 1, 2].map(|a| (p[a] + q[a]) / 2), -1),
            ],
            _ => [at(p, 1), at(q, -1), at(p, -1)],
        }
    });
    let triangles = triangles.collect();
    space.case(triangles)
}

/// Cells far below the float step along one axis, in which the mesh is flat. Its plane is on a wall, on a
/// centre plane or between.
pub fn fine(random: &mut Random) -> Case {
    let axis = random.index(3);
    let at = random.of(&[1.0_f32, -3.0, 0.7, 1e6]);
    let tiny = Rational::new(1, random.of(&[3, 7, 10]) << random.whole(40, 58));
    let tiny = &tiny * &Rational::from_f32(at.abs()).expect("finite");
    let wall = Rational::new(random.whole(0, 16), 2) + Rational::new(random.whole(-1, 1), 1 << 40);
    let mut size = [0; 3].map(|_| Rational::new(random.of(&[1, 1, 7]), 10));
    let mut origin = [0; 3].map(Rational::from);
    origin[axis] = Rational::from_f32(at).expect("finite") - &tiny * &wall;
    size[axis] = tiny;
    let vertex = |random: &mut Random| {
        let mut v = [0; 3].map(|_| (random.whole(0, 20) as f64 / 10.0) as f32);
        v[axis] = at;
        v
    };
    let triangles = (0..3)
        .map(|_| [vertex(random), vertex(random), vertex(random)])
        .collect();
    let space = Space::new([8; 3], origin, size, random_snap(random), [true; 3]);
    space.case(triangles)
}

/// Vertices so near to a wall that doubles counting from the first wall cannot decide: next to zero, on a
/// lattice that starts elsewhere.
pub fn beside(random: &mut Random) -> Case {
    let size = random.of(&[(1, 1), (1, 10), (3, 1), (7, 3), (1, 8)]);
    let size = [0; 3].map(|_| Rational::new(size.0, size.1));
    let below = random.whole(1, 40);
    let origin = [0, 1, 2].map(|a| &size[a] * &Rational::from(-below));
    let space = Space::new(
        [below as usize + 5; 3],
        origin,
        size,
        random_snap(random),
        [true; 3],
    );
    let tiny = random.whole(20, 100);
    let triangles = (0..8).map(|_| -> Triangle {
        [0; 3].map(|_| {
            let half = [0; 3].map(|_| below as f64 + 0.5 * random.whole(-2, 6) as f64);
            space.at(half).map(|c| match random.index(3) {
                0 => c,
                _ => {
                    (random.within(-1.0, 1.0) * 0.5_f64.powi((tiny + random.whole(0, 8)) as i32))
                        as f32
                }
            })
        })
    });
    let triangles = triangles.collect();
    space.case(triangles)
}

/// Walls next to the middle between two floats, closer than doubles resolve: only one of the floats snaps.
pub fn middles(random: &mut Random) -> Case {
    let axis = random.index(3);
    let below = random.of(&[0.7_f32, 1.1, 3.3, -2.7, 100.3]);
    let exact = |v: f32| Rational::from_f32(v).expect("finite");
    let middle = (exact(below) + exact(below.next_up())) / Rational::from(2);
    let beside = Rational::new(random.whole(-1, 1), 3 << 60);
    let size = [0; 3].map(|_| Rational::new(1, random.of(&[1, 1, 2, 3])));
    let mut origin = [0; 3].map(Rational::from);
    origin[axis] = middle + beside - &size[axis] * &Rational::from(random.whole(0, 3));
    let triangles = (0..3).map(|_| -> Triangle {
        [0; 3].map(|_| {
            let mut v = [0; 3].map(|_| random.whole(0, 16) as f32 / 8.0);
            v[axis] = random.of(&[below, below.next_up(), below, below.next_up(), below + 0.6]);
            v
        })
    });
    let triangles = triangles.collect();
    let space = Space::new([6; 3], origin, size, Snap::Float, [true; 3]);
    space.case(triangles)
}
