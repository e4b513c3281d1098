//! Exact squared distances in integers of any size, of cells and of points from triangles of any shape and
//! scale.

use std::cmp::Ordering;

use num_bigint::BigInt;
use voxelize::Lattice;
use voxelize::geom::Triangle;

use crate::offset::oracle::{Vector, squared_distance};
use crate::support::oracle::fraction;

/// Squared distance in units of a [`Ruler`], as a fraction.
pub struct Squared([BigInt; 2]);

impl Squared {
    pub fn order(&self, other: &Self) -> Ordering {
        let [p, q] = &self.0;
        let [r, s] = &other.0;
        (p * s).cmp(&(r * q))
    }
}

/// Unit of length in which all coordinates of triangles and points are integers.
pub struct Ruler {
    /// Units per unit of the file: this factor times `2^bits`.
    factor: BigInt,
    bits: usize,
    /// First corner of a lattice and sides of its cells, in units before `bits`.
    lattice: Option<[[BigInt; 2]; 3]>,
}

impl Ruler {
    /// Returns the unit for the cells of a lattice.
    pub fn of_cells(lattice: &Lattice, triangles: &[Triangle]) -> Self {
        let numbers =
            [0, 1, 2].map(|a| [&lattice.origin()[a], &lattice.spacing()[a]].map(fraction));
        let factor = numbers
            .iter()
            .flatten()
            .fold(BigInt::from(2), |product, [_, q]| product * q);
        let whole = |[p, q]: &[BigInt; 2]| p * (&factor / q);
        let coordinates = triangles.iter().flatten().flatten().map(|c| f64::from(*c));
        let lattice = numbers
            .each_ref()
            .map(|[origin, side]| [whole(origin), whole(side)]);
        Self {
            factor,
            bits: bits(coordinates),
            lattice: Some(lattice),
        }
    }

    /// Returns the unit for a point.
    pub fn of_point(point: [f64; 3], triangle: &Triangle) -> Self {
        let all = triangle
            .iter()
            .flatten()
            .map(|c| f64::from(*c))
            .chain(point);
        Self {
            factor: BigInt::from(1),
            bits: bits(all),
            lattice: None,
        }
    }

    /// Returns the centre of a cell.
    pub fn centre(&self, cell: [usize; 3]) -> Vector {
        let lattice = self.lattice.as_ref().expect("a lattice");
        std::array::from_fn(|a| {
            let [origin, side] = &lattice[a];
            (origin + side * (2 * cell[a] + 1) / 2) << self.bits
        })
    }

    /// Converts a point.
    pub fn point(&self, point: [f64; 3]) -> Vector {
        point.map(|c| {
            let (mantissa, exponent) = digits(c);
            (&self.factor * mantissa) << (self.bits as i32 + exponent) as usize
        })
    }

    /// Returns the squared distance of a point from a triangle, in units.
    pub fn squared(&self, point: &Vector, triangle: &Triangle) -> Squared {
        let [a, b, c] = triangle.map(|v| {
            let vertex = self.point(v.map(f64::from));
            std::array::from_fn(|i| &vertex[i] - &point[i])
        });
        Squared(squared_distance(&a, &b, &c))
    }

    /// Returns the distance in units of the file, with an error of one or two units in the last place of a
    /// double.
    pub fn length(&self, Squared([p, q]): &Squared) -> f64 {
        if *p == BigInt::ZERO {
            return 0.0;
        }
        let unit = &self.factor << self.bits;
        let q = q * &unit * &unit;
        // A root of about 61 bits.
        let shift = (q.bits() as i64 - p.bits() as i64 + 123) / 2;
        let root = if shift >= 0 {
            (p << (2 * shift) as usize) / q
        } else {
            p / (q << (-2 * shift) as usize)
        };
        let root = u64::try_from(root.sqrt()).expect("about 61 bits") as f64;
        // In two steps, because the power may underflow doubles.
        root * 2f64.powi((-shift / 2) as i32) * 2f64.powi((-shift - -shift / 2) as i32)
    }
}

/// Returns the least number of fractional bits that represents all of these coordinates.
fn bits(coordinates: impl Iterator<Item = f64>) -> usize {
    coordinates
        .map(|c| (-digits(c).1).max(0) as usize)
        .max()
        .unwrap_or(0)
}

/// Returns a double as an integer times a power of two. The integer is odd or zero.
fn digits(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let mantissa = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 52
    };
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.trailing_zeros();
    let sign = if value.is_sign_negative() { -1 } else { 1 };
    (
        sign * (mantissa >> zeros),
        exponent.max(1) - 1075 + zeros as i32,
    )
}
