//! Lattices for aimed triangles, with the conversion from index space to the nearest floats.

use voxelize::geom::Triangle;
use voxelize::{Bounds, Fit, Lattice, Rational, Size, Snap};

use crate::support::check::Case;
use crate::support::meshes::fraction;
use crate::support::random::Random;

/// Returns either snap.
pub fn random_snap(random: &mut Random) -> Snap {
    random.of(&[Snap::Float, Snap::None])
}

/// Lattice with its walls as doubles.
pub struct Space {
    dims: [usize; 3],
    origin: [Rational; 3],
    size: [Rational; 3],
    snap: Snap,
    closed: [bool; 3],
    /// Cells per axis.
    pub cells: [f64; 3],
    near: [[f64; 2]; 3],
}

/// Sizes of cells: powers of two, decimals, other fractions.
const SIZES: [&str; 12] = [
    "1/1", "1/1", "1/8", "4/1", "1/10", "1/40", "1/3", "5/24", "27/256", "999/7", "1/1000",
    "13/100",
];

/// Origins in cells.
const ORIGINS: [&str; 8] = [
    "0/1", "0/1", "0/1", "-1/1", "1/3", "-7/2", "5/1000", "700/1",
];

impl Space {
    /// Returns a lattice of `n` cells per axis, or a few less.
    pub fn random(random: &mut Random, n: usize) -> Self {
        let dims = [0; 3].map(|_| n - random.index(3));
        Self::of(random, dims)
    }

    /// Returns a lattice of these dims.
    pub fn of(random: &mut Random, dims: [usize; 3]) -> Self {
        let cubic = random.one_in(2).then(|| random.of(&SIZES));
        let size = [0; 3].map(|_| fraction(cubic.unwrap_or_else(|| random.of(&SIZES))));
        let origin = [0, 1, 2].map(|a| &fraction(random.of(&ORIGINS)) * &size[a]);
        Self::new(
            dims,
            origin,
            size,
            random_snap(random),
            [0; 3].map(|_| !random.one_in(4)),
        )
    }

    /// Returns a lattice of `2 n` cells per axis whose middle wall is at zero, where floats are finest.
    pub fn around_zero(random: &mut Random, n: usize) -> Self {
        let size = [0; 3].map(|_| fraction(random.of(&SIZES)));
        let origin = size
            .each_ref()
            .map(|size| &Rational::from(-(n as i64)) * size);
        Self::new(
            [2 * n; 3],
            origin,
            size,
            random_snap(random),
            [0; 3].map(|_| random.one_in(2)),
        )
    }

    /// Returns a lattice with these walls. An axis marked in `closed` is closed if the mesh allows it.
    pub fn new(
        dims: [usize; 3],
        origin: [Rational; 3],
        size: [Rational; 3],
        snap: Snap,
        closed: [bool; 3],
    ) -> Self {
        let near = std::array::from_fn(|a| [origin[a].to_f64(), size[a].to_f64()]);
        Self {
            dims,
            cells: dims.map(|n| n as f64),
            origin,
            size,
            snap,
            closed,
            near,
        }
    }

    /// Returns the floats nearest to index coordinates.
    pub fn at(&self, u: [f64; 3]) -> [f32; 3] {
        std::array::from_fn(|a| (self.near[a][0] + u[a] * self.near[a][1]) as f32)
    }

    /// Returns the approximate index coordinates of floats.
    pub fn index(&self, v: [f32; 3]) -> [f64; 3] {
        std::array::from_fn(|a| (f64::from(v[a]) - self.near[a][0]) / self.near[a][1])
    }

    /// Returns the case of these triangles.
    pub fn case(self, triangles: Vec<Triangle>) -> Case {
        let lattice =
            Lattice::new(self.dims, self.origin, self.size, self.closed).expect("a lattice");
        let lattice = lattice.with_snap(self.snap);
        let bounds = Bounds::of(&triangles);
        let allowed = |a: usize| {
            self.closed[a]
                && lattice.axis(a).index(bounds.max[a]) <= Rational::from(self.dims[a] as i64)
        };
        let closed = [allowed(0), allowed(1), allowed(2)];
        let origin = lattice.origin().clone();
        let size = lattice.spacing().clone();
        let lattice = Lattice::new(self.dims, origin, size, closed)
            .expect("a lattice")
            .with_snap(self.snap);
        Case { triangles, lattice }
    }
}

/// Returns a case of triangles seen through `cells` cells of `size` per axis around a place.
pub fn window(triangles: Vec<Triangle>, at: [f64; 3], size: &str, cells: i64, snap: Snap) -> Case {
    let size = fraction(size);
    let half = &size * &Rational::new(cells, 2);
    let middle = at.map(|c| Rational::from(c as i64));
    let low = middle.each_ref().map(|c| c - &half);
    let high = middle.each_ref().map(|c| c + &half);
    let fit = Fit::new(Size::Spacing([size.clone(), size.clone(), size]))
        .bounds(low, high)
        .snap(snap);
    let lattice = fit
        .to(&Bounds::of(&triangles))
        .expect("a lattice that fits");
    Case { triangles, lattice }
}
