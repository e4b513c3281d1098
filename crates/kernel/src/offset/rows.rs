//! Rows of cells near a piece of a triangle: finds the centres that are surely within the radius, and the
//! centres to test.
//!
//! All numbers are floats with a margin for their errors. As a consequence, a few more centres may be tested
//! than necessary, and a few centres may not be recognized as surely in.

use fearless_simd::{Simd, f32x16, mask32x16, mask64x8, prelude::*, u32x16, u64x8};

use crate::bits::bits_of;
use crate::bricks::Bricks;
use crate::geom::vector::{cross, dot, minus};
use crate::sink::{SIDE, Shape, bricks_in};

use super::{OffsetLattice, Offsetter, TargetTriangle};

/// Number of rows in a vector: the eight rows of each of two layers of a brick.
const LANES: usize = 16;

/// Number of the row of each lane within its layer.
const ROWS: [f32; LANES] = [
    0., 1., 2., 3., 4., 5., 6., 7., 0., 1., 2., 3., 4., 5., 6., 7.,
];

/// Relative error bound of the computations in floats, with a margin.
const SLACK: f64 = 1.0 / (1 << 18) as f64;

/// Least absolute x component of a normal. It replaces smaller components.
const LEAST: f64 = 1.0 / (1 << 12) as f64;

/// Maximum size of a piece that is a needle, in units of the smallest side of a cell.
const NEEDLE: f64 = 16.0;

/// A line is treated as parallel to x if the squared sine of its angle to x is below this.
const LEAST_STEEP: f64 = 1.0 / 16.0;

/// Queue of cells whose centres have to be tested, relative to a base cell.
#[derive(Default)]
pub struct Pending {
    pub cells: [[f32; LANES]; 3],
    pub count: usize,
}

impl Pending {
    /// Adds a cell. Returns `true` if the queue is now full.
    #[inline(always)]
    pub fn push(&mut self, cell: [i64; 3]) -> bool {
        for (cells, c) in self.cells.iter_mut().zip(cell) {
            cells[self.count] = c as f32;
        }
        self.count += 1;
        self.count == LANES
    }

    /// Returns the cell in a lane of the queue.
    #[inline(always)]
    pub fn cell(&self, lane: usize, base: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|a: usize| self.cells[a][lane] as i64 + base[a])
    }
}

/// Bricks and layers of bricks that are full, so that they need not be visited again.
pub struct Places {
    shape: Shape,
    /// For each brick, a bit for each of its layers. The bit is set if the layer is full.
    full: Vec<u8>,
    /// For each layer of bricks, the number of its bricks that are not full.
    open: Vec<u32>,
}

impl Places {
    pub fn new(shape: Shape) -> Self {
        let [_, _, nz] = shape.dims;
        let mut full = vec![0; bricks_in(shape.dims)];
        let beyond = nz.next_multiple_of(SIDE) - nz;
        let last = full.len() - shape.per_layer;
        full[last..].fill(!(0xff >> beyond) as u8);
        Self {
            shape,
            full,
            open: vec![shape.per_layer as u32; shape.brick_layers()],
        }
    }

    pub fn bytes_for(dims: [usize; 3]) -> u128 {
        bricks_in(dims) as u128 + 4 * dims[2].div_ceil(SIDE) as u128
    }

    /// Records that some layers of a brick are full. `layers` has a bit for each of them.
    fn fill(&mut self, number: usize, layers: u8) {
        let before = self.full[number];
        self.full[number] |= layers;
        if before != 0xff && self.full[number] == 0xff {
            self.open[number / self.shape.per_layer] -= 1;
        }
    }
}

/// Piece of a triangle, in a ball around its middle.
pub struct TrianglePiece {
    /// Middle of the piece in cells. The centre of cell 0 is at 0.
    middle: [f64; 3],
    /// Radius of the ball.
    pub size: f64,
    /// Radius around the middle outside of which no centre is within the radius of the piece (`outer`), and
    /// radius inside of which every centre is (`inner`).
    outer: f64,
    inner: f64,
    sides: [f64; 3],
    normal: Option<[f64; 3]>,
    radius: f64,
    needle: Option<Needle>,
    /// For each axis, distances below and above the middle within which centres may be within the radius.
    extent: [[f64; 2]; 3],
}

/// Line through the middle of a piece that is much longer than wide, along the piece.
struct Needle {
    direction: [f64; 3],
    /// Distance from the line beyond which no centre is within the radius of the piece.
    reach: f64,
}

impl TrianglePiece {
    #[inline(always)]
    pub fn new(
        offset: &OffsetLattice,
        part: &[[f64; 3]; 3],
        base: [i64; 3],
        error: f64,
        normal: Option<[f64; 3]>,
    ) -> Self {
        let [a, b, c] = part;
        let centre: [f64; 3] = std::array::from_fn(|i| (a[i] + b[i] + c[i]) * (1.0 / 3.0));
        let away = |v: &[f64; 3]| {
            (0..3)
                .map(|i| (v[i] - centre[i]) * (v[i] - centre[i]))
                .sum::<f64>()
        };
        let size = away(a).max(away(b)).max(away(c)).sqrt();
        let middle = std::array::from_fn(|i| base[i] as f64 + centre[i] / offset.sides[i]);
        let far = middle.iter().fold(1.0, |most: f64, c| c.abs().max(most));
        let slack = 2.0 * error + (size + far) * 2f64.powi(-44);
        let radius = offset.ball.radius;
        let outer = radius + size + slack;
        let inner = radius - slack;
        let needle = Needle::of(part, centre, size, radius + slack);
        let extent = std::array::from_fn(|i| {
            let least = a[i].min(b[i]).min(c[i]);
            let most = a[i].max(b[i]).max(c[i]);
            [
                centre[i] - least + radius + slack,
                most - centre[i] + radius + slack,
            ]
        });
        Self {
            middle,
            size,
            outer,
            inner,
            sides: offset.sides,
            normal,
            radius: radius + slack,
            needle,
            extent,
        }
    }

    /// Returns `true` if the position of the piece is barely resolved, because doubles of that size hardly
    /// have fractions.
    pub fn is_vague(&self) -> bool {
        self.outer - self.size - self.inner > 1.0
    }

    /// Returns `true` if the piece is larger than `largest` and should be cut. The limit for a needle is at
    /// least [`NEEDLE`], because a needle has few rows even if it is long.
    #[inline(always)]
    pub fn is_too_long(&self, largest: f64) -> bool {
        self.size
            > if self.needle.is_some() {
                largest.max(NEEDLE)
            } else {
                largest
            }
    }

    /// Returns, for each axis, the range of cells of the grid whose centres may be within the radius of the
    /// piece. `None` if there are none.
    #[inline(always)]
    pub fn ranges(&self, bricks: &Bricks) -> Option<[[i64; 2]; 3]> {
        let mut ranges = [[0; 2]; 3];
        let limits = bricks.ranges();
        for axis in 0..3 {
            let [below, above] =
                self.extent[axis].map(|half| half / self.sides[axis] * (1.0 + SLACK));
            let low = ((self.middle[axis] - below).ceil() as i64).max(limits[axis].start);
            let high = ((self.middle[axis] + above).floor() as i64).min(limits[axis].end - 1);
            if low > high {
                return None;
            }
            ranges[axis] = [low, high];
        }
        Some(ranges)
    }
}

impl Needle {
    /// Returns the line through the middle in the direction of the longest edge. `None` if the distance of
    /// some vertex from that line is at least an eighth of the size.
    #[inline(always)]
    fn of([a, b, c]: &[[f64; 3]; 3], centre: [f64; 3], size: f64, radius: f64) -> Option<Self> {
        let edges = [minus(*b, *a), minus(*c, *b), minus(*a, *c)];
        let squares = edges.map(|edge| dot(edge, edge));
        let longest = (0..3).fold(
            0,
            |best, n| if squares[n] > squares[best] { n } else { best },
        );
        let length = squares[longest].sqrt();
        let direction = edges[longest].map(|c| c / length);
        let aside = |v: &[f64; 3]| {
            let away = minus(*v, centre);
            let across = cross(away, direction);
            dot(across, across)
        };
        let width = aside(a).max(aside(b)).max(aside(c)).sqrt();
        // This is false if all vertices are one point, because the direction is NaN.
        (8.0 * width < size).then_some(Self {
            direction,
            reach: (radius + width) * (1.0 + SLACK),
        })
    }
}

/// Rows of a brick, relative to the middle of the piece.
struct BrickRows<S: Simd> {
    /// Distance along y of each row from the middle of the piece (`dy`), and its square (`dy2`).
    dy: f32x16<S>,
    dy2: f32x16<S>,
    /// Rows of a layer that are within the grid, as bits.
    rows: u64,
    /// Squares of the radii `outer` and `inner` of the piece, with a margin for errors.
    outer2: f64,
    inner2: f64,
    /// Number of cells per unit of length.
    scale: f32,
    slack: f32,
}

/// Cells of sixteen rows, as one word for each row.
type RowCells<S> = [u64x8<S>; 2];

impl Offsetter<'_, '_, '_> {
    /// Occupies the cells near a piece whose centres are surely within the radius, and tests the other cells
    /// near it that are not occupied.
    #[inline(always)]
    pub(super) fn cover_piece<S: Simd>(
        &mut self,
        simd: S,
        piece: &TrianglePiece,
        [x, y, z]: [[i64; 2]; 3],
        target: &mut TargetTriangle,
    ) {
        let first = self.places.shape.first;
        let side = SIDE as i64;
        for layer in (z[0] - first) / side..=(z[1] - first) / side {
            if self.places.open[layer as usize] == 0 {
                continue;
            }
            let low = first + layer * side;
            let layers = [z[0].max(low), z[1].min(low + side - 1)];
            let dz = outside(piece.middle[2], layers) * piece.sides[2];
            for column in y[0] / side..=y[1] / side {
                let rows = [y[0].max(column * side), y[1].min(column * side + side - 1)];
                let dy = outside(piece.middle[1], rows) * piece.sides[1];
                let left = piece.outer * piece.outer * (1.0 + SLACK) - dz * dz - dy * dy;
                if left < 0.0 {
                    continue;
                }
                let half = left.sqrt() / piece.sides[0] * (1.0 + SLACK);
                let from = x[0].max((piece.middle[0] - half).ceil() as i64);
                let to = x[1].min((piece.middle[0] + half).floor() as i64);
                if from <= to {
                    self.cover_bricks(simd, piece, [from / 64, to / 64], column, layers, target);
                }
            }
        }
    }

    /// Covers bricks with the numbers `words` along x, in a column of rows. `layers` are within one layer of
    /// bricks.
    #[inline(always)]
    fn cover_bricks<S: Simd>(
        &mut self,
        simd: S,
        piece: &TrianglePiece,
        words: [i64; 2],
        column: i64,
        layers: [i64; 2],
        target: &mut TargetTriangle,
    ) {
        let rows = BrickRows::new(simd, piece, column, self.places.shape.dims[1]);
        for n in words[0]..=words[1] {
            let number = self.bricks.number(n, column, layers[0]);
            if self.places.full[number] == 0xff {
                continue;
            }
            let first = self.places.shape.first;
            let corner = (layers[0] - first) / SIDE as i64 * SIDE as i64 + first;
            for pair in (layers[0] - corner) / 2..=(layers[1] - corner) / 2 {
                if self.places.full[number] >> (2 * pair) & 3 == 3 {
                    continue;
                }
                let k = corner + 2 * pair;
                let (outer, inner) =
                    rows.cells(simd, piece, n, k, layers, self.places.shape.dims[0]);
                self.put(simd, [n, column, k], number, [outer, inner], target);
                if piece.outer > 12.0 {
                    self.mark_full_layers(simd, [n, k], number, rows.rows);
                }
            }
        }
    }

    /// Occupies the cells in `inner` of two layers of a brick, and tests the cells in `outer` that are still
    /// empty.
    #[inline(always)]
    fn put<S: Simd>(
        &mut self,
        simd: S,
        [n, column, k]: [i64; 3],
        number: usize,
        [outer, inner]: [RowCells<S>; 2],
        target: &mut TargetTriangle,
    ) {
        let layer = (k - self.places.shape.first) as usize % SIDE;
        let none = u64x8::splat(simd, 0);
        let mut planes = match self.bricks.peek(number) {
            Some(brick) => [0, 1].map(|half| u64x8::from_slice(simd, &brick[layer + half])),
            None => [none; 2],
        };
        let fresh = (inner[0] & !planes[0]) | (inner[1] & !planes[1]);
        if fresh.simd_gt(none).any_true() {
            let brick = self.bricks.brick(number);
            for half in 0..2 {
                planes[half] |= inner[half];
                planes[half].store_slice(&mut brick[layer + half]);
            }
        }
        let rest = [outer[0] & !planes[0], outer[1] & !planes[1]];
        let some = rest[0].simd_gt(none).to_bitmask() | rest[1].simd_gt(none).to_bitmask() << SIDE;
        if some == 0 {
            return;
        }
        let mut words = [0; LANES];
        rest[0].store_slice(&mut words[..SIDE]);
        rest[1].store_slice(&mut words[SIDE..]);
        for row in bits_of(some) {
            let j = 8 * column + (row % SIDE) as i64;
            let k = k + (row / SIDE) as i64;
            for bit in bits_of(words[row]) {
                self.queue_test(simd, [64 * n + bit as i64, j, k], target);
            }
        }
    }

    /// Records which of two layers of a brick are full, so that they are not visited again.
    #[inline(always)]
    fn mark_full_layers<S: Simd>(&mut self, simd: S, [n, k]: [i64; 2], number: usize, rows: u64) {
        let layer = (k - self.places.shape.first) as usize % SIDE;
        let Some(brick) = self.bricks.peek(number) else {
            return;
        };
        let all = u64x8::splat(simd, cells_of_word(n, self.places.shape.dims[0]));
        let mut full = 0;
        for half in 0..2 {
            let empty = u64x8::from_slice(simd, &brick[layer + half])
                .simd_lt(all)
                .to_bitmask()
                & rows;
            full |= u8::from(empty == 0) << (layer + half);
        }
        self.places.fill(number, full);
    }
}

impl<S: Simd> BrickRows<S> {
    #[inline(always)]
    fn new(simd: S, piece: &TrianglePiece, column: i64, ny: usize) -> Self {
        let first = column * SIDE as i64;
        let side = piece.sides[1];
        let dy = f32x16::from_slice(simd, &ROWS) * side as f32
            + ((first as f64 - piece.middle[1]) * side) as f32;
        let reach = piece.outer + 8.0 * side;
        let slack2 = reach * reach * SLACK;
        let inner2 = if piece.inner > 0.0 {
            piece.inner * piece.inner - slack2
        } else {
            -1.0
        };
        let scale = 1.0 / piece.sides[0];
        Self {
            dy,
            dy2: dy * dy,
            rows: 0xff >> (first + SIDE as i64 - ny as i64).max(0),
            outer2: piece.outer * piece.outer + slack2,
            inner2,
            scale: scale as f32,
            slack: ((piece.outer * scale + 64.0) * SLACK) as f32,
        }
    }

    /// Returns the cells of brick `n` along x in the two layers from `k` on, limited to `layers`. The first
    /// result has the cells whose centres are within the outer ball, between the planes and near the needle.
    /// The second has the cells whose centres are within the inner ball.
    #[inline(always)]
    fn cells(
        &self,
        simd: S,
        piece: &TrianglePiece,
        n: i64,
        k: i64,
        layers: [i64; 2],
        nx: usize,
    ) -> (RowCells<S>, RowCells<S>) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let second = mask32x16::from_bitmask(simd, 0xff00);
        let pair =
            |values: [f64; 2]| second.select(splat(values[1] as f32), splat(values[0] as f32));
        let dz = [k, k + 1].map(|k| (k as f64 - piece.middle[2]) * piece.sides[2]);
        let taken = [k, k + 1].map(|k| {
            if layers[0] <= k && k <= layers[1] {
                self.rows
            } else {
                0
            }
        });
        let taken = taken[0] | taken[1] << SIDE;
        let middle = splat((piece.middle[0] - (64 * n) as f64) as f32);
        let zero = splat(0.0);

        let outer = pair(dz.map(|dz| self.outer2 - dz * dz)) - self.dy2;
        let half = outer.max(zero).sqrt() * self.scale + self.slack;
        let mut low = middle - half;
        let mut high = middle + half;
        if let Some(normal) = piece.normal {
            let along = if normal[0] < 0.0 {
                normal[0].min(-LEAST)
            } else {
                normal[0].max(LEAST)
            };
            let steep = 1.0 / (along * piece.sides[0]);
            let width = (piece.radius + piece.outer * 2.0 * LEAST) * steep.abs();
            let lean =
                (self.dy * normal[1] as f32 + pair(dz.map(|dz| dz * normal[2]))) * steep as f32;
            let width = (lean.abs() + width as f32) * (SLACK as f32) + width as f32 + self.slack;
            (low, high) = (
                low.max(middle - lean - width),
                high.min(middle - lean + width),
            );
        }
        let mut rows = taken & outer.simd_ge(zero).to_bitmask();
        if let Some(needle) = &piece.needle {
            let near = self.near_line(piece, needle, pair(dz), pair(dz.map(|dz| dz * dz)));
            rows &= near.rows;
            (low, high) = (low.max(middle + near.low), high.min(middle + near.high));
        }
        let outer = words(simd, low.ceil(), high.floor(), rows, cells_of_word(n, nx));
        if self.inner2 <= 0.0 {
            return (outer, [u64x8::splat(simd, 0); 2]);
        }
        let inner = pair(dz.map(|dz| self.inner2 - dz * dz)) - self.dy2;
        let half = inner.max(zero).sqrt() * self.scale - self.slack;
        let rows = taken & inner.simd_gt(zero).to_bitmask();
        let inner = words(
            simd,
            (middle - half).ceil(),
            (middle + half).floor(),
            rows,
            cells_of_word(n, nx),
        );
        (outer, inner)
    }
}

/// Rows that come near a line, and the range of cells in which they do, relative to the middle of the piece.
struct NearLine<S: Simd> {
    rows: u64,
    low: f32x16<S>,
    high: f32x16<S>,
}

impl<S: Simd> BrickRows<S> {
    /// Returns the rows, and the cells in them, that are within reach of the line of a needle. `dz` is the
    /// distance of the rows from the middle along z.
    ///
    /// With the direction `d`, a centre at `p` from the middle has the squared distance `p² - (p · d)²` from
    /// the line. In a row this square minus the squared reach is `a x² - 2 b x + c`, with `q = y d₁ + z d₂`,
    /// `a = 1 - d₀²`, `b = d₀ q` and `c = y² + z² - q²` minus the squared reach. The cells therefore lie
    /// between the roots. If the line is nearly parallel to the row, the roots are far apart and inaccurate.
    /// Then the result has either all cells of a row or none. On a piece the line deviates from the row by at
    /// most `size √a`.
    #[inline(always)]
    fn near_line(
        &self,
        piece: &TrianglePiece,
        needle: &Needle,
        dz: f32x16<S>,
        dz2: f32x16<S>,
    ) -> NearLine<S> {
        let [along, d1, d2] = needle.direction;
        let steep = 1.0 - along * along;
        let reach2 = needle.reach * needle.reach;
        let far = (piece.outer + 8.0 * piece.sides[1] + 8.0 * piece.sides[2]) as f32;
        let slack2 = far * far * (4.0 * SLACK) as f32;
        if steep < LEAST_STEEP {
            let reach = needle.reach + piece.size * steep.max(0.0).sqrt();
            let rows = (self.dy2 + dz2)
                .simd_le((reach * reach) as f32 + slack2)
                .to_bitmask();
            let none = self.dy * 0.0;
            return NearLine {
                rows,
                low: none - 1e9,
                high: none + 1e9,
            };
        }
        let q = self.dy * d1 as f32 + dz * d2 as f32;
        let b = q * along as f32;
        let c = self.dy2 + dz2 - q * q - reach2 as f32;
        let root = b * b - c * steep as f32 + slack2;
        let none = self.dy * 0.0;
        let half = root.max(none).sqrt();
        let scale = (piece.sides[0] * steep).recip() as f32;
        let slack = self.slack * (4.0 / steep) as f32;
        NearLine {
            rows: root.simd_ge(none).to_bitmask(),
            low: (b - half) * scale - slack,
            high: (b + half) * scale + slack,
        }
    }
}

/// Returns the distance of a coordinate from a range. Zero if it is within the range.
fn outside(middle: f64, [low, high]: [i64; 2]) -> f64 {
    (low as f64 - middle).max(middle - high as f64).max(0.0)
}

/// Returns the cells of word `n` of a row that are within a grid of `nx` cells.
fn cells_of_word(n: i64, nx: usize) -> u64 {
    let beyond = 64 * (n + 1) - nx as i64;
    !0 >> beyond.max(0)
}

/// Returns a word for each of sixteen rows with the cells `low..=high`. Cells outside of `all` and rows
/// outside of `rows` are left out.
#[inline(always)]
fn words<S: Simd>(simd: S, low: f32x16<S>, high: f32x16<S>, rows: u64, all: u64) -> RowCells<S> {
    let zero = f32x16::splat(simd, 0.0);
    let last = f32x16::splat(simd, 63.0);
    let rows = rows & (low.simd_le(high) & high.simd_ge(zero) & low.simd_le(last)).to_bitmask();
    let from: u32x16<S> = low.max(zero).min(last).to_int();
    let to: u32x16<S> = high.max(zero).min(last).to_int();
    let from = from.widen();
    let rest = (63 - to).widen();
    let none = u64x8::splat(simd, 0);
    let ones = u64x8::splat(simd, !0);
    let lower = mask64x8::from_bitmask(simd, rows & 0xff);
    let upper = mask64x8::from_bitmask(simd, rows >> SIDE & 0xff);
    [
        lower.select((ones << from.0) & (ones >> rest.0) & all, none),
        upper.select((ones << from.1) & (ones >> rest.1) & all, none),
    ]
}
