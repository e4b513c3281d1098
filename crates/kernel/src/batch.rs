//! Sixteen triangles at a time, classified by the number of cells that their bounds span.
//!
//! A vertex near a wall or centre plane is examined more closely. If it surely snaps, it is moved there
//! exactly. If doubles cannot decide this, its triangle is *careful*: scalar code prepares the triangle and
//! decides in integers.

use fearless_simd::{Simd, f32x16, f64x8, mask32x16, mask64x8, prelude::*};

use crate::geom::Ties;
use crate::geom::axis::EXACT_PLANES;

use super::bricks::Bricks;
use super::gather::Vertices;
use super::lattice::{KernelAxis, KernelLattice};
use super::levels::LANES;

/// Sixteen triangles in index space, one in each lane.
pub struct TriangleBatch<S: Simd> {
    /// Coordinates relative to `base`, rounded to floats. They are indexed by axis, then by vertex.
    pub local: [[f32x16<S>; 3]; 3],
    /// Lowest cell of each triangle's bounds.
    pub base: [f32x16<S>; 3],
    /// Highest cell of each triangle's bounds, relative to `base`.
    pub span: [f32x16<S>; 3],
    /// 1 if all coordinates are exact multiples of half a cell and the rule for ties at the last wall does
    /// not matter. Otherwise -1 if, along an axis on which the bounds span several cells, a coordinate is
    /// near a wall or centre plane. 0 in all other cases.
    pub exact: f32x16<S>,
    /// Number of coordinates that snapping moved.
    pub moved: f32x16<S>,
    /// Class of each triangle. A triangle outside of the covered layers has no class.
    pub kinds: Kinds,
}

/// Classes of the triangles of a batch, as disjoint bit masks of lanes.
#[derive(Debug, Default, Clone, Copy)]
pub struct Kinds {
    /// Triangles that scalar code must prepare.
    pub careful: u64,
    /// Triangles with bounds of one cell.
    pub single: u64,
    /// Triangles with bounds of at most two cells per axis.
    pub two: u64,
    /// Triangles with bounds of at most three cells per axis.
    pub three: u64,
    /// Triangles with bounds of at most four cells per axis.
    pub four: u64,
    /// Triangles with bounds of at most sixteen cells per axis, within the lattice along x and y. Along axes
    /// of several cells, no coordinate is near a wall or centre plane.
    pub small: u64,
    /// All other triangles.
    pub large: u64,
}

/// Coordinates of eight triangles along one axis in index space.
struct Half<S: Simd> {
    /// Coordinates of the vertices.
    u: [f64x8<S>; 3],
    /// Lanes in which a coordinate is near a wall or centre plane.
    near: mask64x8<S>,
    /// Lanes in which doubles cannot decide whether a coordinate snaps.
    careful: mask64x8<S>,
    /// Lanes whose coordinates all lie exactly on walls or centre planes.
    exact: mask64x8<S>,
    /// Number of coordinates that snapping moved.
    moved: f64x8<S>,
}

/// Maps the coordinates of eight triangles along an axis to index space.
#[inline(always)]
fn index_axis<S: Simd>(simd: S, axis: &KernelAxis, v: [f64x8<S>; 3]) -> Half<S> {
    let margin = f64x8::splat(simd, axis.margin);
    let no = mask64x8::splat(simd, false);
    let mut half = Half {
        u: v,
        near: no,
        careful: no,
        exact: no,
        moved: f64x8::splat(simd, 0.0),
    };
    // These are loops because only inlined code is compiled for the level, and closures may not be inlined.
    for u in &mut half.u {
        *u = ((*u - axis.origin[0]) - axis.origin[1]) * axis.scale;
        let plane = (*u + *u).round_ties_even() * 0.5;
        half.near |= (*u - plane).abs().simd_le(margin);
    }
    half.careful = half.near;
    if half.careful.any_true() && axis.margin < f64::INFINITY {
        // This function is long, and is needed for hardly any or nearly all batches of a mesh. It must not be
        // inlined.
        simd.vectorize(
            #[inline(always)]
            || snap_axis(simd, axis, v, &mut half),
        );
    }
    half
}

/// Decides whether coordinates near walls or centre planes snap, in the same way as `AxisMap::snapped`.
#[inline(always)]
fn snap_axis<S: Simd>(simd: S, axis: &KernelAxis, v: [f64x8<S>; 3], half: &mut Half<S>) {
    let planes = axis.map.planes();
    let one = f64x8::splat(simd, 1.0);
    let zero = f64x8::splat(simd, 0.0);
    half.careful = mask64x8::splat(simd, false);
    half.exact = mask64x8::splat(simd, true);
    for n in 0..3 {
        let u = half.u[n];
        let v = v[n];
        let index = (u + u).round_ties_even();
        let distance = (u - index * 0.5).abs();
        let near = distance.simd_le(f64x8::splat(simd, axis.margin));
        let offset = index * planes.half;
        let plane = offset + planes.origin;
        let slack = if planes.exact {
            0.0
        } else {
            4.0 * f64::EPSILON
        };
        let error = (offset.abs() + planes.origin.abs()) * slack;
        let fine = v.abs().simd_lt(f64x8::splat(simd, planes.limit));
        let far = index.abs().simd_gt(f64x8::splat(simd, EXACT_PLANES));
        let below = nearest_float(plane - error);
        let above = nearest_float(plane + error);
        let on = fine & below.simd_eq(v) & above.simd_eq(v);
        let off = !fine | (below.simd_ne(v) & above.simd_ne(v));
        // It must also be certain whether snapping moved the coordinate, because the moved coordinates are
        // counted.
        let moved = (plane - v).abs().simd_gt(error);
        let counted = if planes.exact { on } else { on & moved };
        let placed = off & distance.simd_gt(f64x8::splat(simd, axis.farthest_error));
        half.careful |= near & (far | !(counted | placed));
        half.exact &= near & counted;
        half.moved += (near & on & moved).select(one, zero);
        half.u[n] = (near & on).select(index * 0.5, u);
    }
}

/// Rounds doubles to the nearest floats. The result is in doubles.
#[inline(always)]
fn nearest_float<S: Simd>(x: f64x8<S>) -> f64x8<S> {
    let float: f32x16<S> = x.narrow(x);
    float.widen().0
}

/// Returns the lowest cell of each of eight triangles along an axis, and the highest cell relative to it,
/// according to the rule `ties`. The second value is negative for a triangle that touches no cell.
#[inline(always)]
fn cells_of<S: Simd>(simd: S, axis: &KernelAxis, ties: Ties, u: [f64x8<S>; 3]) -> [f64x8<S>; 2] {
    let least = u[0].min(u[1]).min(u[2]);
    let most = u[0].max(u[1]).max(u[2]);
    let end = f64x8::splat(simd, axis.cells as f64);
    let (low, high) = match ties {
        // A coordinate on the last wall belongs to the last layer. A coordinate beyond this wall does not.
        Ties::Up if axis.closed => (
            least.simd_eq(end).select(end - 1.0, least.floor()),
            most.simd_eq(end).select(end - 1.0, most.floor()),
        ),
        Ties::Up => (least.floor(), most.floor()),
        Ties::Both => (least.ceil() - 1.0, most.floor()),
        Ties::None => (least.floor(), most.ceil() - 1.0),
    };
    [low, high - low]
}

impl<S: Simd> TriangleBatch<S> {
    /// Creates a batch of triangles that are within the covered layers, and whose lowest and highest cells
    /// are known. Only the walls of the lowest cells are computed in doubles (docs/internals/error-bounds.md,
    /// section 2).
    #[inline(always)]
    pub fn of_bounds(
        simd: S,
        frame: &KernelLattice,
        vertices: &Vertices<S>,
        lows: &[f32x16<S>; 3],
        highs: &[f32x16<S>; 3],
        lanes: u64,
    ) -> Self {
        let zero = f32x16::splat(simd, 0.0);
        let mut local = [[zero; 3]; 3];
        let mut span = [zero; 3];
        let mut most = zero;
        for axis in 0..3 {
            span[axis] = highs[axis] - lows[axis];
            most = most.max(span[axis]);
        }
        let mut up_to = [0; 4];
        for (up_to, cells) in up_to.iter_mut().zip([1.0, 2.0, 3.0, LANES as f32 - 1.0]) {
            *up_to = most.simd_le(f32x16::splat(simd, cells)).to_bitmask() & lanes;
        }
        let [two, three, four, small] = up_to;
        // Only these classes need relative coordinates. The kernels of other classes use the vertices.
        if four != 0 {
            for (
                axis,
                KernelAxis {
                    origin,
                    spacing,
                    scale,
                    ..
                },
            ) in frame.axes.iter().enumerate()
            {
                let (low, high) = lows[axis].widen();
                let low = low * *spacing + origin[0];
                let high = high * *spacing + origin[0];
                let wall: f32x16<S> = low.narrow(high);
                let (coarse_low, coarse_high) = wall.widen();
                let rest: f32x16<S> =
                    ((low - coarse_low) + origin[1]).narrow((high - coarse_high) + origin[1]);
                for v in 0..3 {
                    local[axis][v] = ((vertices[axis][v] - wall) - rest) * *scale as f32;
                }
            }
        }
        let kinds = Kinds {
            two,
            three: three & !two,
            four: four & !three,
            small: small & !four,
            large: lanes & !small,
            ..Kinds::default()
        };
        Self {
            local,
            base: *lows,
            span,
            exact: zero,
            moved: zero,
            kinds,
        }
    }

    /// Maps the triangles in the first `count` lanes to index space and classifies them.
    #[inline(always)]
    pub fn new(
        simd: S,
        frame: &KernelLattice,
        vertices: &Vertices<S>,
        count: usize,
        bricks: &Bricks,
    ) -> Self {
        let zero = f32x16::splat(simd, 0.0);
        let mut this = Self {
            local: [[zero; 3]; 3],
            base: [zero; 3],
            span: [zero; 3],
            exact: zero,
            moved: zero,
            kinds: Kinds::default(),
        };
        let valid = (1u64 << count) - 1;
        let mut near = 0;
        let mut careful = 0;
        let mut exact = !0;
        let mut outside = mask32x16::splat(simd, false);
        let mut within = mask32x16::splat(simd, true);
        let mut most = zero;
        for (axis, frame_axis) in frame.axes.iter().enumerate() {
            let a = vertices[axis][0].widen();
            let b = vertices[axis][1].widen();
            let c = vertices[axis][2].widen();
            let low = index_axis(simd, frame_axis, [a.0, b.0, c.0]);
            let high = index_axis(simd, frame_axis, [a.1, b.1, c.1]);
            let [low_base, low_span] = cells_of(simd, frame_axis, frame.ties, low.u);
            let [high_base, high_span] = cells_of(simd, frame_axis, frame.ties, high.u);
            for v in 0..3 {
                this.local[axis][v] = (low.u[v] - low_base).narrow(high.u[v] - high_base);
            }
            let base: f32x16<S> = low_base.narrow(high_base);
            let span: f32x16<S> = low_span.narrow(high_span);
            let moved: f32x16<S> = low.moved.narrow(high.moved);
            (this.base[axis], this.span[axis]) = (base, span);
            this.moved += moved;
            // Cell numbers from this on are not exact in floats. They do not occur in any lattice.
            let most_cells = f32x16::splat(simd, (1u32 << 24) as f32);
            let far = base.abs().simd_ge(most_cells) | span.simd_ge(most_cells);
            // If the bounds are one cell along an axis, the exact position in this cell does not matter.
            let wide = span.simd_gt(zero).to_bitmask();
            near |= (low.near.to_bitmask() | high.near.to_bitmask() << 8) & wide;
            careful |= low.careful.to_bitmask() | high.careful.to_bitmask() << 8 | far.to_bitmask();
            exact &= low.exact.to_bitmask() | high.exact.to_bitmask() << 8;
            if frame.ties == Ties::Up && frame_axis.closed {
                let last = f32x16::splat(simd, (frame_axis.cells - 1) as f32);
                // If the bounds are one cell along this axis, the cells are already decided.
                exact &= ((base + span).simd_lt(last) | span.simd_lt(zero + 0.5)).to_bitmask();
            }
            let range = bricks.ranges()[axis].clone();
            let first = f32x16::splat(simd, range.start as f32);
            let last = f32x16::splat(simd, (range.end - 1) as f32);
            let high = base + span;
            outside |= base.simd_gt(last) | high.simd_lt(first) | span.simd_lt(zero);
            if axis < 2 {
                within &= base.simd_ge(first) & high.simd_le(last);
            }
            most = most.max(span);
        }
        let exact = mask32x16::from_bitmask(simd, exact);
        let mixed = mask32x16::from_bitmask(simd, near).select(zero - 1.0, zero);
        this.exact = exact.select(f32x16::splat(simd, 1.0), mixed);
        // If a triangle is careful, scalar code also decides whether it is outside.
        let sure = valid & !careful & !outside.to_bitmask();
        let single = most.simd_le(zero).to_bitmask();
        let two = most.simd_le(f32x16::splat(simd, 1.0)).to_bitmask();
        let three = most.simd_le(f32x16::splat(simd, 2.0)).to_bitmask();
        let four = most.simd_le(f32x16::splat(simd, 3.0)).to_bitmask();
        let sixteen = most.simd_lt(f32x16::splat(simd, LANES as f32)) & within;
        let small = sure & !four & !near & sixteen.to_bitmask();
        this.kinds = Kinds {
            careful: valid & careful,
            single: sure & single,
            two: sure & two & !single,
            three: sure & three & !two,
            four: sure & four & !three,
            small,
            large: sure & !four & !small,
        };
        this
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
    use crate::geom::{Bounds, Rational};
    use crate::levels::{Level, on_level};

    /// Returns the coordinates of triangles relative to their lowest cells. `lows` has the lowest cell of the
    /// triangle in each lane.
    fn locals(
        level: Level,
        frame: &KernelLattice,
        vertices: &[[[f32; LANES]; 3]; 3],
        lows: &[[f32; LANES]; 3],
    ) -> [[[f32; LANES]; 3]; 3] {
        #[inline(always)]
        fn of<S: Simd>(
            simd: S,
            frame: &KernelLattice,
            vertices: &[[[f32; LANES]; 3]; 3],
            lows: &[[f32; LANES]; 3],
        ) -> [[[f32; LANES]; 3]; 3] {
            let vector = |values: &[f32; LANES]| f32x16::from_slice(simd, values);
            let lows = lows.each_ref().map(vector);
            let highs = lows.map(|low| low + 3.0);
            let vertices = vertices.each_ref().map(|axis| axis.each_ref().map(vector));
            let batch = TriangleBatch::of_bounds(simd, frame, &vertices, &lows, &highs, 0xffff);
            assert_eq!(batch.kinds.four, 0xffff);
            batch.local.map(|axis| axis.map(|values| *values))
        }
        on_level!(level, simd => of(simd, frame, vertices, lows))
    }

    #[test]
    fn coordinates_without_doubles_are_within_the_bound() {
        let origins = [
            Rational::ZERO,
            Rational::new(-1, 3),
            Rational::new(100_000, 7),
            Rational::new(-99_999, 11),
        ];
        let sizes = [
            Rational::ONE,
            Rational::new(1, 10),
            Rational::new(27, 256),
            Rational::new(355, 113),
        ];
        let mut compared = 0;
        let mut largest = 0.0_f64;
        for (origin, size) in origins
            .iter()
            .flat_map(|o| sizes.iter().map(move |size| (o, size)))
        {
            let axis = || {
                let map = AxisMap::new(origin.clone(), size.clone(), Snap::None);
                LatticeAxis {
                    map,
                    cells: 1000,
                    closed: true,
                }
            };
            let [near, far] =
                [0, 1000].map(|n| (origin + &(Rational::from(n) * size)).to_f64() as f32);
            let frame = KernelLattice::new(
                [axis(), axis(), axis()],
                &Bounds {
                    min: [near; 3],
                    max: [far; 3],
                },
                Ties::Up,
            );
            let bound = frame.wall_error().unwrap() + 19.0 * f64::from(f32::EPSILON / 2.0);
            for first in 0..60 {
                let mut vertices = [[[0.0_f32; LANES]; 3]; 3];
                let mut lows = [[0.0_f32; LANES]; 3];
                for (a, lane) in (0..3).flat_map(|a| (0..LANES).map(move |lane| (a, lane))) {
                    let low = (first * LANES + lane + 7 * a) % 990;
                    lows[a][lane] = low as f32;
                    for v in 0..3 {
                        let at = low as f64 + 0.001 + 1.3 * v as f64 + 0.017 * (lane as f64);
                        let place = origin.to_f64() + at * size.to_f64();
                        vertices[a][v][lane] = place as f32;
                    }
                }
                for level in Level::available() {
                    let found = locals(level, &frame, &vertices, &lows);
                    for (a, v, lane) in (0..9 * LANES).map(|n| (n % 3, n / 3 % 3, n / 9)) {
                        let exact = frame.axes[a].map.index(vertices[a][v][lane])
                            - &Rational::from(lows[a][lane] as i64);
                        let off = (&exact
                            - &Rational::from_f64(f64::from(found[a][v][lane])).unwrap())
                            .abs()
                            .to_f64();
                        assert!(
                            off <= bound,
                            "{off} above {bound}: {origin} {size} {}",
                            vertices[a][v][lane]
                        );
                        largest = largest.max(off / bound);
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 100_000 && largest > 0.05, "{compared} {largest}");
    }
}
