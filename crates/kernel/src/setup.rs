//! Preparation of a triangle for the kernels: computes the positions of its vertices in index space, and the
//! cells of its bounds.

use crate::geom::Ties;
use crate::geom::Triangle;

use super::lattice::{KernelAxis, KernelLattice, U};

/// Triangle in index coordinates, relative to the lowest cell of its bounds. Nested arrays are indexed by
/// axis, then by vertex.
pub struct Setup {
    /// Lowest cell that the bounds touch, according to the ties rule of the lattice.
    pub base: [i64; 3],
    /// Highest cell that the bounds touch, relative to `base`. 0 along an axis if the bounds touch one cell.
    pub high: [i64; 3],
    /// Coordinates of the vertices relative to `base`.
    pub u: [[f64; 3]; 3],
    /// Exact floors of the coordinates, relative to `base`.
    pub floor: [[i64; 3]; 3],
    /// The coordinate is exactly equal to its floor.
    pub on: [[bool; 3]; 3],
    /// Bound of the error in each coordinate of `u`.
    pub error: f64,
    /// Power of two, at most 1, that divides all coordinates in `u`. Valid only if `error` is zero.
    pub grain: f64,
    /// Number of coordinates that were moved by snapping.
    pub snapped: u32,
}

/// Coordinate after the map from the file to index space.
pub struct PlacedCoordinate {
    /// Index coordinate as a double.
    pub u: f64,
    floor: i64,
    on: bool,
    exact: bool,
    moved: bool,
}

impl KernelAxis {
    /// Maps a coordinate of the file to index space.
    #[inline(always)]
    pub fn place(&self, v: f32) -> PlacedCoordinate {
        let u = self.index(v);
        let half = (2.0 * u).round_ties_even();
        if (u - 0.5 * half).abs() > self.margin {
            return PlacedCoordinate {
                u,
                floor: u.floor() as i64,
                on: false,
                exact: self.is_exact(v),
                moved: false,
            };
        }
        if let Some(m) = self.map.snapped(v) {
            let moved = self.map.moves_to(v, m);
            return PlacedCoordinate {
                u: 0.5 * m as f64,
                floor: m.div_euclid(2),
                on: m % 2 == 0,
                exact: true,
                moved,
            };
        }
        let (floor, on) = self.map.floor(v, u);
        PlacedCoordinate {
            u,
            floor,
            on,
            exact: self.is_exact(v),
            moved: false,
        }
    }

    /// Returns the lowest and the highest cell that three coordinates touch. `on` states which of them are
    /// equal to their floor.
    fn cells(&self, floor: &[i64; 3], on: &[bool; 3], ties: Ties) -> (i64, i64) {
        let below = |v: usize| floor[v] - i64::from(on[v]);
        let least = |of: [i64; 3]| of[0].min(of[1]).min(of[2]);
        let most = |of: [i64; 3]| of[0].max(of[1]).max(of[2]);
        let below = [below(0), below(1), below(2)];
        match ties {
            Ties::Up => {
                // A coordinate on the last wall of a closed axis belongs to the last layer. A coordinate
                // beyond it does not.
                let last = |v: usize| self.closed && on[v] && floor[v] == self.cells;
                let cell = |v: usize| floor[v] - i64::from(last(v));
                let cells = [cell(0), cell(1), cell(2)];
                (least(cells), most(cells))
            }
            Ties::Both => (least(below), most(*floor)),
            Ties::None => (least(*floor), most(below)),
        }
    }
}

impl Setup {
    /// Prepares a triangle. `None` if it touches no cell, because it lies in a wall and cells are open boxes.
    #[inline(always)]
    pub fn new(frame: &KernelLattice, triangle: &Triangle) -> Option<Self> {
        let mut this = Self {
            base: [0; 3],
            high: [0; 3],
            u: [[0.0; 3]; 3],
            floor: [[0; 3]; 3],
            on: [[false; 3]; 3],
            error: 0.0,
            grain: 0.0,
            snapped: 0,
        };
        let mut exact = true;
        let mut index = [[0.0; 3]; 3];
        for (axis, frame_axis) in frame.axes.iter().enumerate() {
            let mut farthest = 0.0_f64;
            for (v, vertex) in triangle.iter().enumerate() {
                let place = frame_axis.place(vertex[axis]);
                index[axis][v] = place.u;
                this.floor[axis][v] = place.floor;
                this.on[axis][v] = place.on;
                this.snapped += u32::from(place.moved);
                exact &= place.exact;
                farthest = farthest.max(place.u.abs());
            }
            let (low, high) = frame_axis.cells(&this.floor[axis], &this.on[axis], frame.ties);
            if low > high {
                return None;
            }
            this.base[axis] = low;
            this.high[axis] = high - low;
            for v in 0..3 {
                this.u[axis][v] = index[axis][v] - low as f64;
                this.floor[axis][v] -= low;
            }
            // Subtracting a whole number of cells may round once more.
            this.error = this
                .error
                .max(frame_axis.error(farthest) + U * (farthest + 1.0));
        }
        // The grain is computed before the subtraction of whole cells, which may remove bits far below a
        // grain.
        if exact && let Some(grain) = grain(&index) {
            this.error = 0.0;
            this.grain = grain;
        }
        Some(this)
    }

    /// Returns the number of axes along which the bounds touch more than one cell.
    pub fn wide_axes(&self) -> usize {
        self.high.iter().filter(|&&high| high > 0).count()
    }

    /// Returns the last wall of an axis relative to `base`.
    pub fn last_wall(&self, frame: &KernelLattice, axis: usize) -> i64 {
        frame.axes[axis].cells - self.base[axis]
    }
}

/// Returns the largest of a few powers of two that divides every coordinate. `None` if none of them does. If
/// coordinates are below 2^30 and multiples of this power, subtracting whole cells is exact.
fn grain(u: &[[f64; 3]; 3]) -> Option<f64> {
    if u.iter().flatten().any(|u| u.abs() >= (1u64 << 30) as f64) {
        return None;
    }
    [1.0, 0.5, 0.0625, 2f64.powi(-10)]
        .into_iter()
        .find(|grain| u.iter().flatten().all(|u| (u / grain).fract() == 0.0))
}
