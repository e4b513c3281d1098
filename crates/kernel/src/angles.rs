//! Sums of the solid angles of triangles, seen from the cells of a brick. The lanes of a vector hold
//! different cells.
//!
//! Half of a solid angle is the argument of a complex number (van Oosterom and Strackee 1983), so a sum of
//! these angles is the argument of a product. The argument does not contain full turns. They are counted: the
//! product completes one when it crosses the negative real axis. In the end, one arctangent per cell is
//! sufficient for any number of triangles. Error bounds: `docs/internals/winding.md`, section 6.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::lattice::U;
use super::levels::{Level, on_level};

/// Number of cells of a brick along each axis.
pub const BRICK: usize = 4;

/// Number of cells of a brick.
pub const CELLS: usize = BRICK * BRICK * BRICK;

/// Number of factors after which the product is rescaled to an absolute value of about one. Each factor is
/// between 1/√2 and 1.
pub(crate) const FACTORS: usize = 512;

/// Sum of angles, as a number of whole turns and a complex number whose argument is the rest.
#[derive(Debug, Clone, Copy)]
pub struct Turning {
    /// Number of whole turns.
    pub turns: f64,
    /// Real part of the complex number.
    pub real: f64,
    /// Imaginary part of the complex number.
    pub imaginary: f64,
}

/// Eight sums of angles, one in each lane.
pub(crate) struct TurningLanes<S: Simd> {
    pub turns: f64x8<S>,
    pub real: f64x8<S>,
    pub imaginary: f64x8<S>,
}

impl<S: Simd> TurningLanes<S> {
    #[inline(always)]
    pub fn none(simd: S) -> Self {
        let zero = f64x8::splat(simd, 0.0);
        Self {
            turns: zero,
            real: f64x8::splat(simd, 1.0),
            imaginary: zero,
        }
    }

    /// Adds an angle in each lane, given as the argument of the complex number `re` + `im` i.
    #[inline(always)]
    pub fn turn(&mut self, simd: S, re: f64x8<S>, im: f64x8<S>) {
        let zero = f64x8::splat(simd, 0.0);
        let one = f64x8::splat(simd, 1.0);
        let next = self.real * im + self.imaginary * re;
        self.real = self.real * re - self.imaginary * im;
        let up = self.imaginary.simd_ge(zero) & im.simd_ge(zero) & next.simd_lt(zero);
        let down = self.imaginary.simd_lt(zero) & im.simd_lt(zero) & next.simd_ge(zero);
        self.turns += up.select(one, zero) - down.select(one, zero);
        self.imaginary = next;
    }

    /// Rescales the complex numbers to an absolute value of about one.
    #[inline(always)]
    pub fn rescale(&mut self, simd: S) {
        let scale = f64x8::splat(simd, 1.0) / (self.real.abs() + self.imaginary.abs());
        (self.real, self.imaginary) = (self.real * scale, self.imaginary * scale);
    }

    /// Returns the sum of the angles of all lanes.
    #[inline(always)]
    pub fn all(mut self, simd: S) -> Turning {
        self.rescale(simd);
        let [turns, real, imaginary] = [self.turns, self.real, self.imaginary].map(|of| {
            let mut lanes = [0.0; 8];
            of.store_slice(&mut lanes);
            lanes
        });
        let mut sum = Turning {
            turns: turns.iter().sum(),
            real: real[0],
            imaginary: imaginary[0],
        };
        for n in 1..8 {
            let next = sum.real * imaginary[n] + sum.imaginary * real[n];
            sum.real = sum.real * real[n] - sum.imaginary * imaginary[n];
            match (sum.imaginary < 0.0, imaginary[n] < 0.0, next < 0.0) {
                (false, false, true) => sum.turns += 1.0,
                (true, true, false) => sum.turns -= 1.0,
                _ => {}
            }
            sum.imaginary = next;
        }
        sum
    }
}

/// Sums of solid angles for the cells of a brick. Each sum is a number of whole turns and a complex number
/// whose argument is the rest.
#[derive(Debug, Clone)]
pub struct Angles {
    /// Number of whole turns.
    pub turns: [f64; CELLS],
    /// Real part of each complex number.
    pub real: [f64; CELLS],
    /// Imaginary part of each complex number.
    pub imaginary: [f64; CELLS],
    /// Error bound of each sum: the sum over triangles of the error bound of a factor, divided by the
    /// factor's absolute value. Infinite or NaN if it is uncertain on which side of a triangle the cell is.
    pub off: [f64; CELLS],
}

/// Returns the sums of triangles seen from the centres of the cells of a brick, x fastest. Corners are
/// relative to the first centre. Along each axis, neighbouring centres are `step` apart. Each coordinate of a
/// corner may have an error of `slack`.
pub fn sums(level: Level, triangles: &[[f64; 9]], step: [f64; 3], slack: f64) -> Angles {
    let mut angles = Angles {
        turns: [0.0; CELLS],
        real: [1.0; CELLS],
        imaginary: [0.0; CELLS],
        off: [0.0; CELLS],
    };
    on_level!(level, simd => add(simd, triangles, step, slack, &mut angles));
    angles
}

#[inline(always)]
fn add<S: Simd>(simd: S, triangles: &[[f64; 9]], step: [f64; 3], slack: f64, to: &mut Angles) {
    let splat = |x: f64| f64x8::splat(simd, x);
    let along = f64x8::from_slice(simd, &[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0]) * splat(step[0]);
    let upper = f64x8::from_slice(simd, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]) * splat(step[1]);
    let zero = splat(0.0);
    let one = splat(1.0);
    let side_off = splat(12.0 * U);
    let side_slack = splat(1.75 * slack);
    let off = splat(64.0 * U);
    let off_slack = splat(7.5 * slack);
    let unknown = splat(f64::INFINITY);
    for n in 0..CELLS / 8 {
        let [x, y] = [along, upper + splat((n % 2) as f64 * 2.0 * step[1])];
        let z = splat((n / 2) as f64 * step[2]);
        let mut turning = TurningLanes::none(simd);
        let mut sum = zero;
        for some in triangles.chunks(FACTORS) {
            for t in some {
                let [ax, ay, az] = [splat(t[0]) - x, splat(t[1]) - y, splat(t[2]) - z];
                let [bx, by, bz] = [splat(t[3]) - x, splat(t[4]) - y, splat(t[5]) - z];
                let [cx, cy, cz] = [splat(t[6]) - x, splat(t[7]) - y, splat(t[8]) - z];
                let a = (ax * ax + ay * ay + az * az).sqrt();
                let b = (bx * bx + by * by + bz * bz).sqrt();
                let c = (cx * cx + cy * cy + cz * cz).sqrt();
                let ab = a * b;
                let bc = b * c;
                let ca = c * a;
                let size = ab * c;
                let u = by * cz - bz * cy;
                let v = bz * cx - bx * cz;
                let w = bx * cy - by * cx;
                let across = ax * u + ay * v + az * w;
                let over_c = (ax * bx + ay * by + az * bz) * c;
                let over_a = (bx * cx + by * cy + bz * cz) * a;
                let over_b = (cx * ax + cy * ay + cz * az) * b;
                let along = size + over_c + over_a + over_b;
                let sides = ab + bc + ca;
                // If `along` is positive, the centre is not on the triangle itself. Near the plane of the
                // triangle its side then does not matter, because the angle is about zero.
                let known = across.abs().simd_gt(size * side_off + sides * side_slack)
                    | along.simd_gt(zero);
                let scale = one / (across.abs() + along.abs());
                let its = known.select((size * off + sides * off_slack) * scale, unknown);
                sum += its;
                turning.turn(simd, along * scale, across * scale);
            }
            turning.rescale(simd);
        }
        let TurningLanes {
            turns,
            real,
            imaginary,
        } = turning;
        turns.store_slice(&mut to.turns[8 * n..8 * n + 8]);
        real.store_slice(&mut to.real[8 * n..8 * n + 8]);
        imaginary.store_slice(&mut to.imaginary[8 * n..8 * n + 8]);
        sum.store_slice(&mut to.off[8 * n..8 * n + 8]);
    }
}
