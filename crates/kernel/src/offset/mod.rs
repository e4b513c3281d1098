//! Finds the cells whose centres are within a radius of a triangle, and writes them into the bricks of one
//! thread.
//!
//! A triangle is cut into *pieces* of a few cells. A piece lies in a ball around its middle. Centres within
//! the radius of the piece therefore lie in a larger ball, and also between two planes parallel to the piece.
//! They are found row by row (`rows`). Centres within the radius of the middle are surely in, because the
//! middle is a point of the triangle. The other centres are tested against the whole triangle, unless their
//! cells are already occupied: eight at a time (`ball`), and in integers if that test is unsure (`exact`).
//! Pieces only select candidates, with a margin for errors. The result therefore depends neither on the cuts
//! nor on their order.

mod ball;
mod exact;
mod rows;

use std::ops::Range;

use fearless_simd::{Simd, f32x16, prelude::*};

use crate::bits::bits_of;
use crate::bricks::Bricks;
use crate::geom::axis::LatticeAxis;
use crate::geom::vector::{cross, dot, minus};
use crate::geom::{Bounds, Rational, Ties, Triangle};
use crate::lattice::{KernelLattice, U};
use crate::levels::{Level, on_level};
use crate::setup::Setup;
use crate::sink::{BrickSink, ThreadBricks};

use ball::{BallRadius, BallTest};
use exact::LazyBall;
use rows::{Pending, Places, TrianglePiece};

/// Lattice and radius, prepared for the kernel. The unit of length is the smallest side of a cell.
#[derive(Debug)]
pub struct OffsetLattice {
    lattice: KernelLattice,
    /// Lengths of the sides of a cell, at least 1.
    sides: [f64; 3],
    ball: BallRadius,
    /// Radius in world units.
    radius: Rational,
    /// Sides of a cell and radius as fractions. `None` if the fractions are too long.
    ratios: Option<([[i128; 2]; 3], [i128; 2])>,
}

/// Largest radius in cells. A larger radius exceeds every lattice, and floats of that size have no fractions
/// of a cell.
const LARGEST: f64 = (1u64 << 40) as f64;

impl OffsetLattice {
    /// Prepares the search for cells whose centres are within `radius` of triangles. `radius` is in world
    /// units, and the coordinates of the triangles are within `bounds`.
    pub fn new(axes: [LatticeAxis; 3], bounds: &Bounds, radius: Rational) -> Self {
        let spacing = axes.each_ref().map(|axis| axis.map.spacing().clone());
        let smallest = spacing.iter().min().cloned().unwrap_or(Rational::ONE);
        let sides = spacing.map(|side| side / &smallest);
        let scaled = &radius / &smallest;
        let ratios = ratios(&sides, &scaled);
        let is_cubic = sides.iter().all(|side| *side == Rational::ONE);
        let double = scaled.to_f64().min(LARGEST);
        let mut grain = 0.0;
        if is_cubic && scaled.is_f64() {
            for n in 1..=10 {
                let power = 0.5f64.powi(n);
                if (double / power).fract() == 0.0 {
                    grain = power;
                    break;
                }
            }
        }
        let squared = (&scaled * &scaled).to_f64().min(LARGEST * LARGEST);
        let ball = BallRadius {
            radius: double,
            squared,
            grain,
        };
        let lattice = KernelLattice::new(axes, bounds, Ties::Both);
        Self {
            lattice,
            sides: sides.map(|side| side.to_f64()),
            ball,
            radius,
            ratios,
        }
    }

    /// Returns the length of the longest side of a cell.
    fn longest_side(&self) -> f64 {
        self.sides.iter().fold(1.0, |most, side| side.max(most))
    }
}

/// Returns the sides of a cell and the radius as fractions. `None` if the fractions are too long.
fn ratios(sides: &[Rational; 3], radius: &Rational) -> Option<([[i128; 2]; 3], [i128; 2])> {
    let [x, y, z] = sides.each_ref().map(short_ratio);
    Some(([x?, y?, z?], short_ratio(radius)?))
}

fn short_ratio(number: &Rational) -> Option<[i128; 2]> {
    let (numerator, denominator) = number.parts()?;
    Some([numerator, denominator])
}

/// Occupies the cells whose centres are within the radius of triangles, in the bricks of one thread.
pub struct Offsetter<'a, 'b, 't> {
    offset: &'a OffsetLattice,
    triangles: &'a [Triangle],
    bricks: Bricks<'b, 't>,
    places: Places,
    /// Parts of the current triangle that were not processed yet.
    parts: Vec<[[f64; 3]; 3]>,
    pending: Pending,
    snapped: u64,
}

/// Triangle that is being processed.
struct TargetTriangle<'a> {
    test: BallTest,
    exact: LazyBall<'a>,
    /// Cell whose centre is the origin of the coordinates.
    base: [i64; 3],
    sides: [f64; 3],
}

impl<'a, 'b, 't> Offsetter<'a, 'b, 't> {
    /// Creates the state of one thread. The cells are written to `target`, to which `threads` threads write.
    pub fn new(
        offset: &'a OffsetLattice,
        triangles: &'a [Triangle],
        target: &'b BrickSink<'t>,
        threads: usize,
    ) -> Self {
        let bricks = Bricks::new(target, threads);
        let places = Places::new(target.shape());
        let pending = Pending::default();
        Self {
            offset,
            triangles,
            bricks,
            places,
            parts: vec![],
            pending,
            snapped: 0,
        }
    }

    /// Occupies the cells of `layers` whose centres are within the radius of one of `triangles`.
    pub fn cover(&mut self, level: Level, triangles: Range<u32>, layers: Range<i64>) {
        self.bricks.layers = layers;
        on_level!(level, simd => self.cover_with(simd, triangles));
    }

    /// Returns the occupied cells, and the number of coordinates that snapping moved. A triangle is counted
    /// only by the call of [`cover`](Self::cover) whose layers contain its lowest cell.
    pub fn finish(self) -> (ThreadBricks, u64) {
        (self.bricks.finish(), self.snapped)
    }

    #[inline(always)]
    fn cover_with<S: Simd>(&mut self, simd: S, triangles: Range<u32>) {
        for id in triangles {
            self.cover_triangle(simd, &self.triangles[id as usize]);
        }
    }

    #[inline(always)]
    fn cover_triangle<S: Simd>(&mut self, simd: S, triangle: &'a Triangle) {
        let offset = self.offset;
        let Some(setup) = Setup::new(&offset.lattice, triangle) else {
            return;
        };
        if self.bricks.layers.contains(&setup.base[2].max(0)) {
            self.snapped += u64::from(setup.snapped);
        }
        // The base is a cell of the grid, so that it is near the other cells of the grid.
        let near = |a: usize| setup.base[a].clamp(0, offset.lattice.axes[a].cells - 1);
        let base = [near(0), near(1), near(2)];
        let shift = [0, 1, 2].map(|a: usize| (setup.base[a] - base[a]) as f64 - 0.5);
        let vertex =
            |v: usize| [0, 1, 2].map(|a: usize| (setup.u[a][v] + shift[a]) * offset.sides[a]);
        let vertices = [0, 1, 2].map(vertex);
        let extent = extent(&vertices);
        let ball = &offset.ball;
        let longest = offset.longest_side();
        let farthest = vertices
            .iter()
            .flatten()
            .fold(0.0, |most: f64, c| c.abs().max(most));
        // For coordinates below this limit, adding multiples of 1/2 and of the grain is exact.
        let is_exact = setup.error == 0.0 && farthest < (1 << 30) as f64 && ball.grain > 0.0;
        let error = if is_exact {
            0.0
        } else {
            (setup.error + 4.0 * U * farthest) * longest
        };
        // No tested centre is farther than this from a vertex. The sum has the extent of a piece, the radius
        // of its ball, and a cell as a margin.
        let reach = 3.0 * extent + ball.radius + 4.0 * longest;
        let mut target = TargetTriangle {
            test: BallTest::new(vertices, [error, setup.grain], ball, reach),
            exact: LazyBall::new(offset, triangle, base),
            base,
            sides: offset.sides,
        };
        let slab = normal(&vertices, error);
        let largest = (0.5 * ball.radius).max(4.0 * longest);
        self.parts.clear();
        let whole = TrianglePiece::new(offset, &vertices, base, error, slab);
        if whole.is_vague() {
            self.test_all(simd, &whole, &mut target);
        } else {
            self.parts.push(vertices);
        }
        while let Some(part) = self.parts.pop() {
            let piece = TrianglePiece::new(offset, &part, base, error, slab);
            let Some(ranges) = piece.ranges(&self.bricks) else {
                continue;
            };
            if piece.is_too_long(largest) {
                self.parts.extend(halves(&part));
            } else {
                self.cover_piece(simd, &piece, ranges, &mut target);
            }
        }
        self.decide(simd, &mut target);
    }

    /// Tests all cells that are not occupied yet. This is used if the triangle is so far away that doubles
    /// barely resolve its position.
    fn test_all<S: Simd>(&mut self, simd: S, piece: &TrianglePiece, target: &mut TargetTriangle) {
        let Some([x, y, z]) = piece.ranges(&self.bricks) else {
            return;
        };
        for k in z[0]..=z[1] {
            for j in y[0]..=y[1] {
                for i in x[0]..=x[1] {
                    if !self.bricks.has([i, j, k]) {
                        self.queue_test(simd, [i, j, k], target);
                    }
                }
            }
        }
    }

    /// Adds a cell to the queue of cells to test. Tests the queue when it is full.
    #[inline(always)]
    fn queue_test<S: Simd>(&mut self, simd: S, cell: [i64; 3], target: &mut TargetTriangle) {
        if self
            .pending
            .push([0, 1, 2].map(|a: usize| cell[a] - target.base[a]))
        {
            // This function is long and must not be inlined.
            simd.vectorize(
                #[inline(always)]
                || self.decide(simd, target),
            );
        }
    }

    /// Tests all cells of the queue and empties it.
    #[inline(always)]
    fn decide<S: Simd>(&mut self, simd: S, target: &mut TargetTriangle) {
        let count = self.pending.count;
        if count == 0 {
            return;
        }
        let cells = self
            .pending
            .cells
            .each_ref()
            .map(|cells| f32x16::from_slice(simd, cells).widen());
        let [x, y, z] = target.sides;
        let low = target
            .test
            .decide(simd, [cells[0].0 * x, cells[1].0 * y, cells[2].0 * z]);
        let mut within = low.within;
        let mut unsure = !(low.within | low.outside) & 0xff;
        if count > 8 {
            let high = target
                .test
                .decide(simd, [cells[0].1 * x, cells[1].1 * y, cells[2].1 * z]);
            within |= high.within << 8;
            unsure |= (!(high.within | high.outside) & 0xff) << 8;
        }
        let ready = (1 << count) - 1;
        for lane in bits_of(within & ready) {
            self.bricks.cell(self.pending.cell(lane, target.base));
        }
        for lane in bits_of(unsure & ready) {
            let relative = self.pending.cell(lane, [0; 3]);
            if target.exact.is_within(relative) {
                self.bricks.cell(self.pending.cell(lane, target.base));
            }
        }
        self.pending.count = 0;
    }
}

/// Returns the maximum number of bytes that all threads use for a grid of these dims, in addition to their
/// bricks.
pub fn bytes_for(dims: [usize; 3], threads: usize) -> u128 {
    threads as u128 * Places::bytes_for(dims)
}

/// Returns the largest difference of two vertices along an axis.
fn extent(vertices: &[[f64; 3]; 3]) -> f64 {
    let [a, b, c] = vertices;
    (0..3).fold(0.0, |most, i| {
        (a[i].max(b[i]).max(c[i]) - a[i].min(b[i]).min(c[i])).max(most)
    })
}

/// Returns the unit normal of a triangle whose coordinates have errors of at most `error`. `None` if the
/// direction of the normal is not sure.
#[inline(always)]
fn normal([a, b, c]: &[[f64; 3]; 3], error: f64) -> Option<[f64; 3]> {
    let ab = minus(*b, *a);
    let ac = minus(*c, *a);
    let normal = cross(ab, ac);
    let length = dot(normal, normal).sqrt();
    let longest = dot(ab, ab).max(dot(ac, ac));
    // The error of each component is below 11 (error + u extent) times an edge.
    let sure = length > 2f64.powi(26) * (error * longest.sqrt() + f64::EPSILON * longest);
    sure.then(|| normal.map(|n| n / length))
}

/// Cuts a triangle in two at the midpoint of its longest edge.
fn halves([a, b, c]: &[[f64; 3]; 3]) -> [[[f64; 3]; 3]; 2] {
    let length = |p: &[f64; 3], q: &[f64; 3]| dot(minus(*p, *q), minus(*p, *q));
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    let [p, q, r] = turns.into_iter().fold(turns[0], |best, turn| {
        if length(turn[0], turn[1]) > length(best[0], best[1]) {
            turn
        } else {
            best
        }
    });
    let middle = std::array::from_fn(|i| 0.5 * (p[i] + q[i]));
    [[*p, middle, *r], [middle, *q, *r]]
}
