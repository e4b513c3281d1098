//! Test whether the centre of a cell is inside, in integers alone and independent of the product.
//!
//! Coordinates are integer multiples of 1/1024. The centre is displaced by -ε in x, -ε² in y, -ε³ in z
//! (Simulation of Simplicity, Edelsbrunner and Mücke 1990), so no ray along x meets an edge and no centre
//! lies on a triangle. Each sign below is the sign of the first non-zero term.

use voxelize::geom::Triangle;
use voxelize::{Lattice, Mesh, Rational};

use super::shapes;
use crate::support::meshes::{cross, each_cell, minus};
use crate::support::suite::Counts;

/// Units per length of one.
const UNITS: f64 = 1024.0;

type Whole = [i128; 3];

/// Mesh and lattice in units.
pub struct Inside {
    triangles: Vec<[Whole; 3]>,
    origin: Whole,
    spacing: Whole,
    cells: usize,
}

/// Row of centres along x.
pub struct Row {
    /// Winding number of each centre: the sum of the signs of the triangles that its ray crosses.
    windings: Vec<i64>,
}

fn whole(value: f64) -> i128 {
    let scaled = value * UNITS;
    assert_eq!(scaled.fract(), 0.0, "{value} is no multiple of 1/1024");
    scaled as i128
}

fn whole_of(value: &Rational) -> i128 {
    assert!(value.is_f64(), "{value} is not dyadic");
    whole(value.to_f64())
}

impl Inside {
    /// Prepares the test for all cells of `lattice`.
    pub fn of(mesh: &Mesh, lattice: &Lattice) -> Self {
        let triangle = |t: &Triangle| t.map(|v| v.map(|c| whole(f64::from(c))));
        let spacing = lattice.spacing().each_ref().map(whole_of);
        assert!(spacing.iter().all(|s| s % 2 == 0), "centres are whole");
        Self {
            triangles: mesh.triangles().iter().map(triangle).collect(),
            origin: lattice.origin().each_ref().map(whole_of),
            spacing,
            cells: lattice.dims()[0],
        }
    }

    /// Returns the centre of a cell before the displacement.
    fn centre(&self, cell: [usize; 3]) -> Whole {
        std::array::from_fn(|a| {
            self.origin[a] + self.spacing[a] * cell[a] as i128 + self.spacing[a] / 2
        })
    }

    /// Returns the winding numbers of the centres of row `j`, `k`.
    pub fn row(&self, j: usize, k: usize) -> Row {
        let mut windings = vec![0; self.cells];
        let [_, y, z] = self.centre([0, j, k]);
        for triangle in &self.triangles {
            let facing = facing(triangle, y, z);
            if facing != 0 {
                // The crossing is above all centres before the plane.
                let before = |i: &usize| is_before(triangle, self.centre([*i, j, k]), facing);
                (0..self.cells)
                    .take_while(before)
                    .for_each(|i| windings[i] += facing);
            }
        }
        Row { windings }
    }
}

impl Row {
    /// Reports whether the centre of cell `i` is inside.
    pub fn holds(&self, i: usize) -> bool {
        self.windings[i] != 0
    }
}

/// Returns 1 if the line along x through the displaced (y, z) passes a triangle that faces up along x, -1 if
/// it faces down, 0 if the line misses it.
fn facing([a, b, c]: &[Whole; 3], y: i128, z: i128) -> i64 {
    let side = |from: &Whole, to: &Whole| {
        let dy = to[1] - from[1];
        let dz = to[2] - from[2];
        // The terms without ε, of ε² and of ε³: moving down in y adds dz, and moving down in z subtracts dy.
        let terms = [dy * (z - from[2]) - dz * (y - from[1]), dz, -dy];
        terms
            .into_iter()
            .find(|&term| term != 0)
            .map_or(0, i128::signum) as i64
    };
    let area = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
    let sides = [side(a, b), side(b, c), side(c, a)];
    if area != 0 && sides.iter().all(|&s| s == sides[0]) {
        sides[0]
    } else {
        0
    }
}

/// Reports whether the displaced point lies before the plane of a triangle that faces along x as given.
fn is_before([a, b, c]: &[Whole; 3], point: Whole, facing: i64) -> bool {
    let normal = cross(minus(*b, *a), minus(*c, *a));
    assert_eq!(normal[0].signum(), i128::from(facing));
    let height: i128 = (0..3).map(|n| normal[n] * (point[n] - a[n])).sum();
    // On the plane, the displacement along x decides by the sign of the normal along x.
    let side = if height == 0 { -normal[0] } else { height };
    side.signum() != normal[0].signum()
}

/// Centres of a cube whose faces pass through centres: centres on the low faces are outside, because they
/// move down; centres on the high faces are inside.
pub fn inside_matches_exact_integers() -> Counts {
    let shape = shapes::cube([1, 1, 1], 2);
    let half = Rational::new(1, 2);
    let lattice = |origin: Rational| {
        let origin = [origin.clone(), origin.clone(), origin];
        Lattice::new([4; 3], origin, [1, 1, 1].map(Rational::from), [true; 3]).expect("few cells")
    };
    let mut inside = 0;
    for (origin, range) in [(Rational::ZERO, 1..3), (half.clone(), 1..3), (-&half, 2..4)] {
        let question = Inside::of(&shape.mesh, &lattice(origin.clone()));
        for [i, j, k] in each_cell([4; 3]) {
            let expected = [i, j, k].iter().all(|c| range.contains(c));
            assert_eq!(
                question.row(j, k).holds(i),
                expected,
                "cell {:?} from {origin}",
                [i, j, k]
            );
            inside += u64::from(expected);
        }
    }
    vec![("centres inside", inside)]
}
