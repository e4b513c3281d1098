//! Oracle: finds the cells that a triangle touches, by brute force in integers of any size.
//!
//! It shares no arithmetic and no case analysis with the library. From a lattice it reads the dims, the
//! fractions of origin and spacing as text, the closed axes, and the snap.
//!
//! **Formulation.** A point of triangle ABC is `A + s (B - A) + t (C - A)` with `s >= 0`, `t >= 0`, `1 - s -
//! t >= 0`. It is in a cell if it is at or above three walls and at or below three. These are nine linear
//! inequalities `n · (s, t) + c >= 0` in two unknowns, and the cell is touched iff some `(s, t)` satisfies
//! all nine. Degenerate triangles need no special case.
//!
//! **Decision.** By Farkas' lemma there is no solution iff some weights `w >= 0` give `Σ w n = 0` and `Σ w c
//! < 0`: the weighted sum of the inequalities is a contradiction. By Carathéodory at most three weights are
//! needed. Minimal sets are one inequality with `n = 0`, two with opposite `n`, or three whose `n` surround
//! the origin. There are 9 + 36 + 84 sets to test. The weights depend on the triangle alone, the `c` also on
//! the cell.
//!
//! **Ties** move the walls by infinitesimals: ε in x, ε² in y, ε³ in z. A `c` is then a polynomial in ε, and
//! its sign for small ε is the sign of its first non-zero coefficient. `up` moves walls down, and the last
//! wall of a closed axis up. `both` moves nothing. An open box (`none`) is touched iff the closed box with
//! all walls moved inwards is touched.

use num_bigint::{BigInt, Sign};
use voxelize::{Lattice, Rational, Snap};

/// Order of the results: `up`, `both`, `none`.
pub const TIES: [voxelize::Ties; 3] = [
    voxelize::Ties::Up,
    voxelize::Ties::Both,
    voxelize::Ties::None,
];

/// Every float is a multiple of 2^-149, and half the sum of two is a multiple of 2^-150.
const FLOAT_BITS: u32 = 150;

/// Returns `v * 2^150`.
fn float(v: f32) -> BigInt {
    let exponent = v.to_bits() >> 23 & 0xff;
    let fraction = v.to_bits() & 0x7f_ffff;
    let (mantissa, exponent) = if exponent == 0 {
        (fraction, 1)
    } else {
        (fraction | 0x80_0000, exponent)
    };
    // The value is mantissa * 2^(exponent - 150).
    let magnitude = BigInt::from(mantissa) << exponent;
    if v.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// Returns `n / d` rounded down, or a number far beyond any lattice. `d` is positive.
pub fn floor(n: &BigInt, d: &BigInt) -> i64 {
    let toward_zero: BigInt = n / d;
    let floor = if toward_zero.clone() * d > *n {
        toward_zero - 1
    } else {
        toward_zero
    };
    let far = if floor < BigInt::ZERO {
        i64::MIN / 2
    } else {
        i64::MAX / 2
    };
    i64::try_from(floor).unwrap_or(far)
}

/// Axis of a lattice: wall `i` is at `p/q + i * r/s`.
pub struct Axis {
    origin: [BigInt; 2],
    spacing: [BigInt; 2],
    cells: i64,
    closed: bool,
    snap: bool,
}

/// Returns numerator and denominator.
pub fn fraction(value: &Rational) -> [BigInt; 2] {
    let text = value.to_string();
    let (p, q) = text.split_once('/').expect("p/q");
    [p, q].map(|number| number.parse().expect("a whole number"))
}

/// Returns the axes of a lattice.
pub fn axes(lattice: &Lattice) -> [Axis; 3] {
    std::array::from_fn(|a| Axis {
        origin: fraction(&lattice.origin()[a]),
        spacing: fraction(&lattice.spacing()[a]),
        cells: lattice.dims()[a] as i64,
        closed: lattice.closed()[a],
        snap: lattice.snap() == Snap::Float,
    })
}

impl Axis {
    /// Returns the factor that makes index coordinates integers.
    pub fn unit(&self) -> BigInt {
        (&self.origin[1] * &self.spacing[0]) << (FLOAT_BITS + 1)
    }

    /// Returns the index coordinate of `v`, times the unit.
    pub fn index(&self, v: f32) -> BigInt {
        let [p, q] = &self.origin;
        let s = &self.spacing[1];
        // (v - p/q) / (r/s) * 2 * 2^150 q r
        let exactly: BigInt = ((float(v) * q - (p << FLOAT_BITS)) * s) << 1;
        // Half-planes are even for walls, odd for centres.
        let below = floor(&(exactly.clone() << 1), &self.unit());
        match [below, below + 1].into_iter().find(|&m| self.snaps(v, m)) {
            Some(m) => (self.unit() >> 1) * m,
            None => exactly,
        }
    }

    /// Reports whether `v` snaps to half-plane `m`: it is the float nearest to the half-plane, and the float
    /// step is below a thousandth of the spacing.
    fn snaps(&self, v: f32, m: i64) -> bool {
        let [p, q] = &self.origin;
        let [r, s] = &self.spacing;
        let step = float(v.abs().next_up()) - float(v.abs());
        if !self.snap || step * s * 1000 >= r << FLOAT_BITS {
            return false;
        }
        // Twice the half-plane p/q + m/2 r/s, and the ends of the range that rounds to v, all times 2^150 * 2
        // q s.
        let plane: BigInt = (((p * s) << 1) + r * q * m) << (FLOAT_BITS + 1);
        let common: BigInt = (q * s) << 1;
        let low = (float(v) + float(v.next_down())) * &common;
        let high = (float(v) + float(v.next_up())) * &common;
        let ties_to_it = v.to_bits() & 1 == 0;
        low < plane && plane < high || ties_to_it && (low == plane || plane == high)
    }
}

/// Weights of some of the nine inequalities whose sum contains neither `s` nor `t`.
type Certificate = Vec<(usize, BigInt)>;

/// Triangle on a lattice.
pub struct Oracle<'a> {
    axes: &'a [Axis; 3],
    unit: [BigInt; 3],
    /// Index coordinates of the first vertex, times the unit.
    first: [BigInt; 3],
    certificates: Vec<Certificate>,
    /// Cells that the bounds reach, and one more below: first and last per axis, within the grid.
    pub cells: [(i64, i64); 3],
}

fn cross(a: &[BigInt; 2], b: &[BigInt; 2]) -> BigInt {
    &a[0] * &b[1] - &a[1] * &b[0]
}

fn dot(a: &[BigInt; 2], b: &[BigInt; 2]) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1]
}

/// Returns all weights that may prove that there is no solution.
fn certificates(normals: &[[BigInt; 2]]) -> Vec<Certificate> {
    let zero = BigInt::ZERO;
    let mut found = vec![];
    for (i, a) in normals.iter().enumerate() {
        if a[0] == zero && a[1] == zero {
            found.push(vec![(i, BigInt::from(1))]);
        }
        for (j, b) in normals.iter().enumerate().skip(i + 1) {
            if cross(a, b) == zero && dot(a, b) < zero {
                found.push(vec![(i, -dot(a, b)), (j, dot(a, a))]);
            }
            for (k, c) in normals.iter().enumerate().skip(j + 1) {
                let weights = [cross(b, c), cross(c, a), cross(a, b)];
                if weights.iter().all(|w| *w > zero) || weights.iter().all(|w| *w < zero) {
                    let [u, v, w] = weights.map(|w| if w < zero { -w } else { w });
                    found.push(vec![(i, u), (j, v), (k, w)]);
                }
            }
        }
    }
    found
}

impl<'a> Oracle<'a> {
    /// Prepares the oracle for a triangle.
    pub fn new(axes: &'a [Axis; 3], triangle: &[[f32; 3]; 3]) -> Self {
        let mut normals = vec![
            [1, 0].map(BigInt::from),
            [0, 1].map(BigInt::from),
            [-1, -1].map(BigInt::from),
        ];
        let mut first = std::array::from_fn(|_| BigInt::ZERO);
        let mut unit = first.clone();
        let mut cells = [(0, 0); 3];
        for (a, axis) in axes.iter().enumerate() {
            let u = triangle.map(|v| axis.index(v[a]));
            let whole = axis.unit();
            let least = u.iter().min().expect("three");
            let most = u.iter().max().expect("three");
            cells[a] = (
                (floor(least, &whole) - 1).max(0),
                floor(most, &whole).min(axis.cells - 1),
            );
            // Short numbers are faster: common powers of two are dropped.
            let zeros = u
                .iter()
                .chain([&whole])
                .filter_map(BigInt::trailing_zeros)
                .min()
                .expect("the unit");
            let [p, q, r] = u.map(|u| u >> zeros);
            unit[a] = whole >> zeros;
            let along = [q - &p, r - &p];
            normals.push(along.clone());
            normals.push(along.map(|n| -n));
            first[a] = p;
        }
        Self {
            axes,
            unit,
            first,
            certificates: certificates(&normals),
            cells,
        }
    }

    /// Reports whether the triangle touches the cell, for each of [`TIES`].
    pub fn touches(&self, cell: [i64; 3]) -> [bool; 3] {
        let mut constants = vec![BigInt::ZERO, BigInt::ZERO, BigInt::from(1)];
        for (a, &i) in cell.iter().enumerate() {
            constants.push(&self.first[a] - &self.unit[a] * i);
            constants.push(&self.unit[a] * (i + 1) - &self.first[a]);
        }
        let outwards = std::array::from_fn(|a| self.outwards(a, cell[a]));
        let mut touched = [true; 3];
        for certificate in &self.certificates {
            let sum: BigInt = certificate
                .iter()
                .map(|(n, weight)| weight * &constants[*n])
                .sum();
            for (ties, touched) in touched.iter_mut().enumerate() {
                let sign = match sum.sign() {
                    Sign::NoSign => first_order(certificate, &outwards, ties),
                    sign => sign,
                };
                *touched &= sign != Sign::Minus;
            }
            if touched == [false; 3] {
                break;
            }
        }
        touched
    }

    /// Returns the movement of the lower and the upper wall of a cell for each of the ties: outwards 1,
    /// inwards -1.
    fn outwards(&self, axis: usize, i: i64) -> [[i64; 2]; 3] {
        let Axis { cells, closed, .. } = self.axes[axis];
        let up = if closed && i == cells - 1 {
            [1, 1]
        } else {
            [1, -1]
        };
        [up, [0, 0], [-1, -1]]
    }
}

/// Returns the sign of the first non-zero coefficient of ε, ε², ε³ in the sum of the constants. Moving a wall
/// outwards increases the constant of its inequality.
fn first_order(certificate: &Certificate, outwards: &[[[i64; 2]; 3]; 3], ties: usize) -> Sign {
    for (axis, outwards) in outwards.iter().enumerate() {
        let mut sum = BigInt::ZERO;
        for (wall, way) in outwards[ties].iter().enumerate() {
            for (_, weight) in certificate
                .iter()
                .filter(|(n, _)| *n == 3 + 2 * axis + wall)
            {
                sum += weight * way;
            }
        }
        if sum.sign() != Sign::NoSign {
            return sum.sign();
        }
    }
    Sign::NoSign
}
