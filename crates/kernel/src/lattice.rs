//! Lattice in doubles, with bounds of the rounding errors.
//!
//! The bounds are derived in docs/internals/error-bounds.md. Both there and here, `u` is 2^-53.

use crate::geom::axis::{AxisMap, FAR, LatticeAxis, Snap};
use crate::geom::{Bounds, Rational, Ties};

/// Half a unit in the last place of 1.0: the relative error of one rounding.
pub const U: f64 = f64::EPSILON / 2.0;

/// Largest error bound of coordinates, in cells, at which kernels in floats are useful.
const LARGEST_ERROR: f64 = 1.0 / (1 << 20) as f64;

/// Half-index of the first wall of an axis, and of its first plane of centres. Half-indices count walls and
/// planes of centres alternately.
const FIRST_WALL: i64 = 0;
const FIRST_CENTRE: i64 = 1;

/// Lattice prepared for the kernels.
#[derive(Debug)]
pub struct KernelLattice {
    /// The axes x, y, z.
    pub axes: [KernelAxis; 3],
    /// Rule for triangles that touch a wall or lie in it: states which cells they occupy.
    pub ties: Ties,
}

/// Returns `axis`, along which rows lie, and then the two other axes. They are in the order of their
/// displacement.
pub fn across(axis: usize) -> [usize; 3] {
    [[0, 1, 2], [1, 0, 2], [2, 0, 1]][axis]
}

/// One axis of a [`KernelLattice`].
#[derive(Debug)]
pub struct KernelAxis {
    /// Exact map from world coordinates to index coordinates.
    pub map: AxisMap,
    /// Origin, as the sum of two doubles.
    pub origin: [f64; 2],
    /// Size of a cell, as the nearest double.
    pub spacing: f64,
    /// Number of cells per unit of world space, as the nearest double.
    pub scale: f64,
    /// Relative part of the error bound. Index coordinates computed as doubles have an error of at most
    /// `relative * |index| + absolute`.
    pub relative: f64,
    /// Absolute part of the error bound. See `relative`.
    pub absolute: f64,
    /// Largest absolute value of an index coordinate of the mesh.
    pub farthest: f64,
    /// Bound of the error in `farthest`.
    pub farthest_error: f64,
    /// Largest distance, in cells, from which a coordinate may snap to a wall or centre plane.
    pub reach_of_snap: f64,
    /// Distance, in cells, from walls and centre planes beyond which a coordinate of the mesh is certain: it
    /// does not snap, and it is on the same side of the wall as the double that is computed for it.
    pub margin: f64,
    /// Number of cells along the axis.
    pub cells: i64,
    /// A point on the last wall belongs to the last cell.
    pub closed: bool,
    /// Multiplication by `scale` is exact.
    pub dyadic: bool,
}

impl KernelLattice {
    /// Creates the lattice with the axes x, y, z for triangles whose coordinates are within `bounds`.
    pub fn new(axes: [LatticeAxis; 3], bounds: &Bounds, ties: Ties) -> Self {
        let [x, y, z] = axes;
        let axes = [
            KernelAxis::new(x, extent(bounds, 0)),
            KernelAxis::new(y, extent(bounds, 1)),
            KernelAxis::new(z, extent(bounds, 2)),
        ];
        Self { axes, ties }
    }

    /// Creates the lattice for rows along `axis` through the centres of cells. Its axes are in the order of
    /// [`across`], and its wall `n` is the plane through the centres of layer `n`.
    pub fn of_centres(axes: [LatticeAxis; 3], bounds: &Bounds, axis: usize) -> Self {
        Self::of_rows(axes, bounds, axis, FIRST_CENTRE)
    }

    /// Creates the lattice for rows along `axis` whose segments between walls of cells matter. It is like
    /// [`of_centres`](Self::of_centres), except that its walls along `axis` are the walls of the cells.
    pub fn of_segments(axes: [LatticeAxis; 3], bounds: &Bounds, axis: usize) -> Self {
        Self::of_rows(axes, bounds, axis, FIRST_WALL)
    }

    /// Creates the lattice for rows along `axis`. Its wall 0 along `axis` is at half-index `first`.
    fn of_rows(axes: [LatticeAxis; 3], bounds: &Bounds, axis: usize, first: i64) -> Self {
        let axes = across(axis).map(|a| {
            let LatticeAxis { map, cells, closed } = &axes[a];
            let first = if a == axis { first } else { FIRST_CENTRE };
            let map = AxisMap::new(map.half_plane(first), map.spacing().clone(), map.snap());
            let planes = LatticeAxis {
                map,
                cells: *cells,
                closed: *closed && first == FIRST_WALL,
            };
            KernelAxis::new(planes, extent(bounds, a))
        });
        Self {
            axes,
            ties: Ties::Up,
        }
    }

    /// Returns the error, in cells, of walls near the mesh that are stored as sums of two floats. `None` if
    /// neighbouring floats in the range of the mesh may be more than a cell apart.
    pub fn wall_error(&self) -> Option<f64> {
        let mut most = 0.0_f64;
        for axis in &self.axes {
            most = most.max(axis.origin[0].abs() * axis.scale + axis.farthest + 1.0);
        }
        if most > f64::from(1_u32 << 24) {
            return None;
        }
        Some(4.0 * U * most)
    }

    /// Returns the error bound of a coordinate of the mesh that is computed as a double relative to a nearby
    /// cell.
    pub fn local_error(&self) -> f64 {
        self.axes
            .iter()
            .fold(0.0, |most, axis| most.max(axis.farthest_error))
    }
}

/// Returns the extent of bounds along an axis. Empty bounds are infinite and give the extent 0 to 0.
fn extent(bounds: &Bounds, axis: usize) -> [f32; 2] {
    if bounds.is_empty() {
        [0.0; 2]
    } else {
        [bounds.min[axis], bounds.max[axis]]
    }
}

impl KernelAxis {
    fn new(LatticeAxis { map, cells, closed }: LatticeAxis, [min, max]: [f32; 2]) -> Self {
        let high = map.origin().to_f64();
        let rest = Rational::from_f64(high).map_or(Rational::ZERO, |high| map.origin() - &high);
        let origin = [high, rest.to_f64()];
        let spacing = map.spacing().to_f64();
        let inverse = Rational::ONE / map.spacing().clone();
        let scale = inverse.to_f64();
        let dyadic = inverse.is_f64() && scale.to_bits() << 12 == 0 && rest.is_zero();

        let relative = 6.0 * U;
        let absolute = (high.abs() * scale) * 2f64.powi(-100) + f64::MIN_POSITIVE;
        let mut this = Self {
            map,
            origin,
            spacing,
            scale,
            relative,
            absolute,
            farthest: 0.0,
            farthest_error: 0.0,
            reach_of_snap: 0.0,
            margin: 0.0,
            cells: cells as i64,
            closed,
            dyadic,
        };
        let farthest = this.index(min).abs().max(this.index(max).abs());
        this.farthest = farthest;
        let magnitude = min.abs().max(max.abs());
        this.farthest_error = this.error(farthest) + U * (farthest + 1.0);
        this.reach_of_snap = this.reach_of_snap(magnitude);
        this.margin = this.farthest_error + this.reach_of_snap;
        if this.farthest_error > LARGEST_ERROR {
            this.margin = f64::INFINITY;
        }
        this
    }

    /// Returns the largest distance, in cells, from which a coordinate below `magnitude` may snap to a wall
    /// or centre plane. It is half the distance between neighbouring floats, but only if that distance is
    /// below a thousandth of a cell.
    fn reach_of_snap(&self, magnitude: f32) -> f64 {
        if self.map.snap() == Snap::None {
            return 0.0;
        }
        let step = f64::from(magnitude.next_up()) - f64::from(magnitude);
        (0.5 * step * self.scale * (1.0 + 4.0 * U)).min(0.0005 * (1.0 + 4.0 * U))
    }

    /// Returns the index coordinate of `v` as a double. Snapping is not applied.
    pub fn index(&self, v: f32) -> f64 {
        ((f64::from(v) - self.origin[0]) - self.origin[1]) * self.scale
    }

    /// Returns the wall on which the coordinate `v` of the mesh lies after snapping. `None` if it does not
    /// lie on a wall.
    pub fn wall_at(&self, v: f32) -> Option<i64> {
        let index = self.index(v);
        if (index - index.round()).abs() > self.margin {
            return None;
        }
        let (wall, is_on) = self.map.floor(v, index);
        is_on.then_some(wall)
    }

    /// Returns the error bound of a computed index coordinate with the value `index`.
    pub fn error(&self, index: f64) -> f64 {
        self.relative * index.abs() + self.absolute
    }

    /// Returns `true` if `index(v)` is computed without a rounding error.
    pub fn is_exact(&self, v: f32) -> bool {
        // The difference of two doubles is exact iff the error term of the two-sum algorithm is zero (Knuth).
        let v = f64::from(v);
        let o = self.origin[0];
        let d = v - o;
        let back = v - d;
        self.dyadic && (v - (d + back)) + (back - o) == 0.0 && (d * self.scale).abs() < FAR as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a lattice of 8 × 8 × 8 cells at `origin`.
    fn frame(origin: [Rational; 3], spacing: [Rational; 3], snap: Snap) -> KernelLattice {
        let map = |a: usize| AxisMap::new(origin[a].clone(), spacing[a].clone(), snap);
        let axes = std::array::from_fn(|a| LatticeAxis {
            map: map(a),
            cells: 8,
            closed: true,
        });
        KernelLattice::new(
            axes,
            &Bounds {
                min: [-1e3; 3],
                max: [1e3; 3],
            },
            Ties::Up,
        )
    }

    #[test]
    fn doubles_are_within_the_bound() {
        let origins = [
            Rational::ZERO,
            Rational::new(-1, 3),
            Rational::new(1_000_000, 7),
        ];
        let sizes = [
            Rational::ONE,
            Rational::new(1, 10),
            Rational::new(3, 1024),
            Rational::new(27, 256),
        ];
        let mut compared = 0;
        for (o, h) in origins
            .iter()
            .flat_map(|o| sizes.iter().map(move |h| (o, h)))
        {
            let of = |r: &Rational| [r.clone(), r.clone(), r.clone()];
            let frame = frame(of(o), of(h), Snap::None);
            let axis = &frame.axes[0];
            for n in -500..500 {
                let v = n as f32 * 1.234_567_9;
                let exact = axis.map.index(v);
                let double = Rational::from_f64(axis.index(v)).unwrap();
                let off = (&exact - &double).abs();
                assert!(
                    off <= Rational::from_f64(axis.error(axis.index(v))).unwrap(),
                    "{v} {o} {h}"
                );
                assert!(!axis.is_exact(v) || off.is_zero(), "{v} {o} {h}");
                compared += 1;
            }
        }
        assert_eq!(compared, 12_000);
    }

    #[test]
    fn halves_are_exact_on_dyadic_lattices() {
        let quarter = Rational::new(1, 4);
        let spacing = [quarter.clone(), quarter.clone(), Rational::new(1, 10)];
        let frame = frame([1, 2, 3].map(Rational::from), spacing, Snap::Float);
        assert!(frame.axes[0].is_exact(0.3) && frame.axes[1].is_exact(1e-3));
        assert!(!frame.axes[2].is_exact(0.5));
        assert!(!frame.axes[0].is_exact(1e-30), "1e-30 - 1 rounds");
    }
}
