//! Triangles cut into bands by the walls of an axis: first into layers, and then each layer into rows of
//! cells. The lanes of a vector hold different triangles.
//!
//! The corners of a triangle are sorted along the axis. Every band then has two corners on its low wall and
//! two on its high wall. Of each two, one is on the long side of the triangle, and one is on the short sides.
//! The band may also have the middle corner of the triangle. The point at which an edge meets a wall is
//! always computed from the edge's lower end along the axis. It is therefore the same for both triangles that
//! share the edge, and for both bands that meet at the wall.

use fearless_simd::{Simd, prelude::*};

use super::lists::{LaneList, WIDEST};

/// One point in index space for each lane.
pub(super) type LanePoint<S> = [<S as Simd>::f64s; 3];

/// Number of values of a triangle that has to be cut across z: three corners, 1 or −1 for the orientation,
/// and the first wall.
pub(super) const WHOLE: usize = 11;

/// Number of values of a triangle that has to be cut across y: three corners, 1 or −1 for the orientation,
/// its layer, and the first wall.
pub(super) const LAYER: usize = 12;

/// Number of values of a part in a row of cells: four corners, and the place of its row plus 1. If the
/// orientation is reversed, y is negated.
pub(super) const PART: usize = 13;

/// Maximum number of items that one step adds to the list of layers, and to the list of rows.
pub(super) const LAYERS_OF_BAND: usize = 5 * WIDEST;
pub(super) const ROWS_OF_BAND: usize = 3 * WIDEST;

/// Conversion of rows of cells to places. A place is the index of a cell in the order of bricks: the number
/// of cells in all bricks before its own, plus its number within its brick.
#[derive(Clone, Copy)]
pub(super) struct RowPlaces {
    /// Number of cells of a brick along x, and also along y.
    pub(super) side: f64,
    /// Number of places between rows of bricks.
    pub(super) bricks: f64,
    /// Number of places between layers of bricks.
    pub(super) layer: f64,
    /// First layer, and the end of the range of layers.
    pub(super) layers: [f64; 2],
    /// First row of a layer, and the end of the range of rows.
    pub(super) rows: [f64; 2],
    /// Number of places from row 0 of the first layer to the first row of bricks.
    pub(super) before: f64,
}

impl RowPlaces {
    /// Returns the place of the first cell of row `(j, k)`.
    #[inline(always)]
    pub(super) fn row<S: Simd>(&self, j: S::f64s, k: S::f64s) -> S::f64s {
        let brick = (j * (1.0 / self.side)).floor();
        brick * self.bricks
            + (j - brick * self.side) * self.side
            + (k - self.layers[0]) * self.layer
            - self.before
    }
}

/// Parts of triangles between two adjacent walls. If only one more band follows above, also the part in that
/// band.
struct WallBand<S: Simd> {
    /// Corners on the low wall, or at the low end of the triangle: first the one on its long side, then the
    /// one on its short sides.
    low_ends: [LanePoint<S>; 2],
    /// Corners on the high wall, or at the high end of the triangle, in the same order.
    high_ends: [LanePoint<S>; 2],
    /// Middle corner of the triangle if it is in the band, otherwise the high end of the short sides in the
    /// band.
    bend: LanePoint<S>,
    /// Middle corner of the triangle if it is above the band, otherwise the high end of the short sides in
    /// the band.
    bend_above: LanePoint<S>,
    /// Corners of the triangle, sorted along the axis.
    sorted: [LanePoint<S>; 3],
    sign: S::f64s,
    low: S::f64s,
    high: S::f64s,
    is_there: S::mask64s,
    /// The band contains the low end of the triangle.
    is_first: S::mask64s,
    is_last: S::mask64s,
    /// The band contains the middle corner of the triangle.
    is_bent: S::mask64s,
    /// Exactly one further band above is within the lattice and the triangle.
    has_last: S::mask64s,
    /// Several further bands above are within the lattice and the triangle.
    has_more: S::mask64s,
}

/// Selects one of two points in each lane: `p` in `lanes`, `q` in the other lanes.
#[inline(always)]
pub(super) fn select<S: Simd>(lanes: S::mask64s, p: LanePoint<S>, q: LanePoint<S>) -> LanePoint<S> {
    [
        lanes.select(p[0], q[0]),
        lanes.select(p[1], q[1]),
        lanes.select(p[2], q[2]),
    ]
}

/// Sorts two corners along an axis. If they are exchanged, `sign` is negated.
#[inline(always)]
fn order<S: Simd>(axis: usize, [p, q]: [LanePoint<S>; 2], sign: &mut S::f64s) -> [LanePoint<S>; 2] {
    let turned = p[axis].simd_gt(q[axis]);
    *sign = turned.select(-*sign, *sign);
    [select::<S>(turned, q, p), select::<S>(turned, p, q)]
}

/// Returns the points at which edges from `p` up to `q` meet a wall. `inverse` is 1 divided by the extent of
/// the edges along the axis.
#[inline(always)]
fn cut<S: Simd>(
    axis: usize,
    [p, q]: [&LanePoint<S>; 2],
    inverse: S::f64s,
    wall: S::f64s,
) -> LanePoint<S> {
    let t = (wall - p[axis]) * inverse;
    let mut point = [wall; 3];
    for a in 0..3 {
        if a != axis {
            point[a] = p[a] + t * (q[a] - p[a]);
        }
        // Later cuts are along the axes before this one. Rounding must not move the point beyond a wall that
        // its edge does not pass.
        if a < axis {
            point[a] = point[a].max(p[a].min(q[a])).min(p[a].max(q[a]));
        }
    }
    point
}

/// Returns the points at which one of the short sides meets a wall: the lower side in the lanes `is_lower`,
/// the upper side in the other lanes.
#[inline(always)]
fn cut_short<S: Simd>(
    axis: usize,
    [a, b, c]: &[LanePoint<S>; 3],
    [lower, upper]: [S::f64s; 2],
    wall: S::f64s,
    is_lower: S::mask64s,
) -> LanePoint<S> {
    let p = select::<S>(is_lower, *a, *b);
    let q = select::<S>(is_lower, *b, *c);
    cut::<S>(axis, [&p, &q], is_lower.select(lower, upper), wall)
}

impl<S: Simd> WallBand<S> {
    /// Creates the first band of each triangle at or above the wall `start`, if it is below the wall `end`.
    #[inline(always)]
    fn new(
        simd: S,
        axis: usize,
        [a, b, c]: [LanePoint<S>; 3],
        mut sign: S::f64s,
        start: S::f64s,
        end: f64,
    ) -> Self {
        let [a, b] = order::<S>(axis, [a, b], &mut sign);
        let [b, c] = order::<S>(axis, [b, c], &mut sign);
        let [a, b] = order::<S>(axis, [a, b], &mut sign);
        let sorted = [a, b, c];
        let one = S::f64s::splat(simd, 1.0);
        let end = S::f64s::splat(simd, end);
        let low = a[axis].floor().max(start);
        let high = low + one;
        // A triangle that lies in a wall is not in any band.
        let is_there = c[axis].simd_gt(low) & low.simd_lt(end);
        let is_first = low.simd_le(a[axis]);
        let is_last = high.simd_ge(c[axis]);
        let is_above_low = b[axis].simd_gt(low);
        let is_above_high = b[axis].simd_gt(high);
        let is_bent = (is_above_low | is_first) & (b[axis].simd_lt(high) | is_last);
        // An inverse is infinite only for an edge that does not meet a wall.
        let long = one / (c[axis] - a[axis]);
        let short = [one / (b[axis] - a[axis]), one / (c[axis] - b[axis])];
        let low_ends = [
            select::<S>(is_first, a, cut::<S>(axis, [&a, &c], long, low)),
            select::<S>(
                is_first,
                a,
                cut_short::<S>(axis, &sorted, short, low, is_above_low),
            ),
        ];
        let high_ends = [
            select::<S>(is_last, c, cut::<S>(axis, [&a, &c], long, high)),
            select::<S>(
                is_last,
                c,
                cut_short::<S>(axis, &sorted, short, high, is_above_high),
            ),
        ];
        let is_more = is_there & !is_last & high.simd_lt(end);
        let is_one_more = (high + one).simd_ge(c[axis]);
        Self {
            low_ends,
            high_ends,
            bend: select::<S>(is_bent, b, high_ends[1]),
            bend_above: select::<S>(is_above_high, b, high_ends[1]),
            sorted,
            sign,
            low,
            high,
            is_there,
            is_first,
            is_last,
            is_bent,
            has_last: is_more & is_one_more,
            has_more: is_more & !is_one_more,
        }
    }
}

/// Returns the values of a triangle that has to be cut across z.
#[inline(always)]
pub(super) fn whole<S: Simd>(
    [a, b, c]: &[LanePoint<S>; 3],
    rest: [S::f64s; 2],
) -> [S::f64s; WHOLE] {
    [
        a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], rest[0], rest[1],
    ]
}

/// Returns the values of a triangle that has to be cut across y.
#[inline(always)]
pub(super) fn layer<S: Simd>(
    [a, b, c]: &[LanePoint<S>; 3],
    rest: [S::f64s; 3],
) -> [S::f64s; LAYER] {
    [
        a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], rest[0], rest[1], rest[2],
    ]
}

/// Returns the values of a part in a row.
#[inline(always)]
fn part<S: Simd>([p, q, r, s]: [LanePoint<S>; 4], sign: S::f64s, row: S::f64s) -> [S::f64s; PART] {
    [
        p[0],
        p[1] * sign,
        p[2],
        q[0],
        q[1] * sign,
        q[2],
        r[0],
        r[1] * sign,
        r[2],
        s[0],
        s[1] * sign,
        s[2],
        row + 1.0,
    ]
}

/// Cuts triangles across z and lists the parts in layers, until fewer than `least` triangles are left or the
/// list of parts is full.
#[inline(always)]
pub(super) fn cut_layers<S: Simd>(
    simd: S,
    from: &mut LaneList<WHOLE>,
    to: &mut LaneList<LAYER>,
    places: &RowPlaces,
    least: usize,
) {
    let start_of_rows = S::f64s::splat(simd, places.rows[0]);
    while from.count() >= least && to.has_room(LAYERS_OF_BAND) {
        let [a0, a1, a2, b0, b1, b2, c0, c1, c2, sign, start] = from.pop(simd);
        let corners = [[a0, a1, a2], [b0, b1, b2], [c0, c1, c2]];
        let band = WallBand::new(simd, 2, corners, sign, start, places.layers[1]);
        let WallBand {
            low_ends: [l0, s0],
            high_ends: [l1, s1],
            bend,
            bend_above,
            sorted,
            sign,
            ..
        } = band;
        let rest = [sign, band.low, start_of_rows];
        to.push::<S>(
            layer::<S>(&[l0, s0, bend], rest),
            band.is_there & !band.is_first,
        );
        to.push::<S>(
            layer::<S>(&[l0, bend, s1], rest),
            band.is_there & band.is_bent,
        );
        to.push::<S>(
            layer::<S>(&[l0, s1, l1], rest),
            band.is_there & !band.is_last,
        );
        let rest = [sign, band.high, start_of_rows];
        let is_bent_above = sorted[1][2].simd_gt(band.high);
        to.push::<S>(
            layer::<S>(&[l1, s1, bend_above], rest),
            band.has_last & is_bent_above,
        );
        to.push::<S>(
            layer::<S>(&[l1, bend_above, sorted[2]], rest),
            band.has_last,
        );
        from.push::<S>(whole::<S>(&sorted, [sign, band.high]), band.has_more);
    }
}

/// Cuts triangles of layers across y and lists the parts in rows, until fewer than `least` triangles are left
/// or the list of parts is full.
#[inline(always)]
pub(super) fn cut_rows<S: Simd>(
    simd: S,
    from: &mut LaneList<LAYER>,
    to: &mut LaneList<PART>,
    places: &RowPlaces,
    least: usize,
) {
    while from.count() >= least && to.has_room(ROWS_OF_BAND) {
        let [a0, a1, a2, b0, b1, b2, c0, c1, c2, sign, k, start] = from.pop(simd);
        let corners = [[a0, a1, a2], [b0, b1, b2], [c0, c1, c2]];
        let band = WallBand::new(simd, 1, corners, sign, start, places.rows[1]);
        let WallBand {
            low_ends: [l0, s0],
            high_ends: [l1, s1],
            bend,
            bend_above,
            sorted,
            sign,
            ..
        } = band;
        let row = places.row::<S>(band.low, k);
        let second = select::<S>(band.is_first, bend, s0);
        let third = select::<S>(band.is_first, s1, bend);
        to.push::<S>(part::<S>([l0, second, third, l1], sign, row), band.is_there);
        // A band has five corners if it contains the middle corner of the triangle, but neither its low nor
        // its high end. The fifth corner needs a second part.
        let has_five = band.is_there & band.is_bent & !band.is_first & !band.is_last;
        to.push::<S>(part::<S>([bend, s1, l1, l1], sign, row), has_five);
        let row = places.row::<S>(band.high, k);
        to.push::<S>(
            part::<S>([l1, s1, bend_above, sorted[2]], sign, row),
            band.has_last,
        );
        from.push::<S>(layer::<S>(&sorted, [sign, k, band.high]), band.has_more);
    }
}
