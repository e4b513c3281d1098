//! Conversion of a user's request, such as "256 cells long", "0.1 mm" or "32 × 32 × 32", to a [`Lattice`].

use super::bits::check_dims;
use super::lattice::{AXES, Lattice, MAX_DIM};
use super::length::Length;
use crate::error::{Error, Result};
use crate::geom::axis::{AxisMap, Snap};
use crate::geom::{Bounds, Rational};

/// Size or number of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// Number of cubic cells along the longest axis.
    Longest(usize),
    /// Number of cubic cells along the longest axis of a level of detail, and of the coarsest level. The lattice
    /// covers the box that the lattice of the coarsest level fills, and has the same corner. If the ratio of the
    /// numbers is an integer, it fills the same box.
    Level {
        /// Number of cells of this level.
        longest: usize,
        /// Number of cells of the coarsest level.
        coarsest: usize,
    },
    /// Exact number of cubic cells along each axis. The box is centred in the lattice.
    Dims([usize; 3]),
    /// Exact number of cells along each axis. The cells are stretched so that the lattice equals the box.
    Stretched([usize; 3]),
    /// Side lengths of a cell along each axis, in world units.
    Spacing([Rational; 3]),
}

/// Options of a lattice that is fitted to a mesh. [`Fit::to`] creates the lattice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    size: Size,
    origin: Option<[Rational; 3]>,
    bounds: Option<[[Rational; 3]; 2]>,
    cube: bool,
    padding: Padding,
    snap: Snap,
}

/// Space that is added around the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    /// Numbers of cells on the low side and on the high side of each axis.
    Cells([[usize; 3]; 2]),
    /// Length on every side, rounded up to whole cells.
    Margin(Length),
}

impl Lattice {
    /// Creates a lattice for `bounds` with `longest` cubic cells along the longest axis. It starts at the
    /// least coordinates of the bounds. [`Fit`] has further options.
    ///
    /// # Errors
    /// Fails if `longest` is zero, or if the bounds are empty or a single point.
    pub fn fit(bounds: &Bounds, longest: usize) -> Result<Self> {
        Fit::longest(longest).to(bounds)
    }
}

impl Fit {
    /// Creates a fit with this size to the bounding box of the mesh, without padding.
    pub fn new(size: Size) -> Self {
        Self {
            size,
            origin: None,
            bounds: None,
            cube: false,
            padding: Padding::Cells([[0; 3]; 2]),
            snap: Snap::default(),
        }
    }

    /// Creates a fit with cubic cells of this size in world units. The decimal is used exactly: `"0.1"` is
    /// one tenth.
    ///
    /// ```
    /// # use voxelize_core as voxelize;
    /// use voxelize::{Bounds, Fit, Rational};
    ///
    /// let bounds = Bounds { min: [0.0; 3], max: [1.0; 3] };
    /// let lattice = Fit::cell_size("0.1")?.pad(1).to(&bounds)?;
    /// assert_eq!(lattice.spacing()[0], Rational::new(1, 10));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the text is neither a decimal of at most 40 significant digits nor a fraction `p/q`, or if
    /// the size is not positive.
    pub fn cell_size(decimal: &str) -> Result<Self> {
        let size = Rational::parse(decimal).map_err(Error::usage)?;
        if !size.is_positive() {
            return Err(Error::usage(format!(
                "cell size {decimal}: must be above zero"
            )));
        }
        Ok(Self::new(Size::Spacing([size.clone(), size.clone(), size])))
    }

    /// Creates a fit with `n` cubic cells along the longest axis.
    pub fn longest(n: usize) -> Self {
        Self::new(Size::Longest(n))
    }

    /// Shifts the lattice so that `origin` is a corner of cells. The point may be outside the grid: the walls
    /// are then thought to continue there.
    #[must_use]
    pub fn origin(mut self, origin: [Rational; 3]) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Uses the box from `min` to `max` instead of the bounding box of the mesh.
    #[must_use]
    pub fn bounds(mut self, min: [Rational; 3], max: [Rational; 3]) -> Self {
        self.bounds = Some([min, max]);
        self
    }

    /// Translates the requested origin and box by `by`.
    #[must_use]
    pub fn moved(mut self, by: &[Rational; 3]) -> Self {
        if let Some(origin) = &mut self.origin {
            move_point(origin, by);
        }
        for corner in self.bounds.iter_mut().flatten() {
            move_point(corner, by);
        }
        self
    }

    /// Sets all dims to the largest of them. The mesh is centred. If the number of added cells along an axis
    /// is odd, the extra cell is on the high side.
    #[must_use]
    pub fn cube(mut self) -> Self {
        self.cube = true;
        self
    }

    /// Adds `n` cells on every side, after all other options. The added cells stay empty, with two
    /// exceptions. If a box is given, it may cut the mesh, which then continues in the added cells. If a face
    /// of the mesh is in the wall next to them, the ties of the rule may occupy one layer of them.
    #[must_use]
    pub fn pad(self, n: usize) -> Self {
        self.pad_sides([n; 3], [n; 3])
    }

    /// Adds these numbers of cells on the low side and on the high side of each axis, as [`pad`](Self::pad)
    /// does.
    #[must_use]
    pub fn pad_sides(mut self, low: [usize; 3], high: [usize; 3]) -> Self {
        self.padding = Padding::Cells([low, high]);
        self
    }

    /// Pads every side by `length`, rounded up to whole cells per axis. Replaces the number of cells set by
    /// [`pad`](Self::pad). `Rule::margin` is the length that a rule needs around a mesh.
    #[must_use]
    pub fn margin(mut self, length: Length) -> Self {
        self.padding = Padding::Margin(length);
        self
    }

    /// Returns the numbers of cells that are added on the low side and on the high side of each axis.
    /// `spacing` has the side lengths of a cell. A level of detail has the padding of the coarsest level, of
    /// which only whole cells are counted.
    pub fn padding(&self, spacing: &[Rational; 3]) -> [[usize; 3]; 2] {
        if let Size::Level { longest, coarsest } = self.size {
            let ratio = Rational::new(longest as i64, coarsest.max(1) as i64);
            let padding = self
                .of_level(coarsest)
                .padding(&spacing.each_ref().map(|side| side * &ratio));
            let scaled = |cells: usize| {
                let cells = &Rational::from(cells as i64) * &ratio;
                cells
                    .floor()
                    .and_then(|cells| usize::try_from(cells).ok())
                    .unwrap_or(usize::MAX)
            };
            return padding.map(|side| side.map(scaled));
        }
        match self.padding {
            Padding::Cells(sides) => sides,
            Padding::Margin(length) => [length.cells_to_cover(spacing); 2],
        }
    }

    /// Returns this fit with the number of cells of a level of detail along the longest axis.
    fn of_level(&self, longest: usize) -> Self {
        Self {
            size: Size::Longest(longest),
            ..self.clone()
        }
    }

    /// Sets the method of snapping coordinates to walls.
    #[must_use]
    pub fn snap(mut self, snap: Snap) -> Self {
        self.snap = snap;
        self
    }

    /// Creates the lattice for a mesh with these bounds.
    ///
    /// # Errors
    /// Fails if the bounds are empty, if they are a single point although the size of cells depends on them,
    /// if a requested number is zero, or if an axis would have more than [`MAX_DIM`] cells.
    pub fn to(&self, mesh: &Bounds) -> Result<Lattice> {
        if let Size::Level { longest, coarsest } = self.size {
            divided(&[const { Rational::ONE }; 3], &[longest; 3])?;
            let whole = self.of_level(coarsest).to(mesh)?;
            let ratio = Rational::new(coarsest as i64, longest as i64);
            let sides = whole.spacing().each_ref().map(|side| side * &ratio);
            let fit = Self::new(Size::Spacing(sides)).snap(self.snap);
            return fit.bounds(whole.origin().clone(), whole.end()).to(mesh);
        }
        let mesh_box = mesh.exact().ok_or_else(Error::no_triangles)?;
        let target = self.bounds.as_ref().unwrap_or(&mesh_box);
        for (axis, name) in AXES.iter().enumerate() {
            if target[0][axis] > target[1][axis] {
                return Err(Error::usage(format!(
                    "the bounds end before they begin along {name}"
                )));
            }
        }
        let spacing = self.spacing(target)?;
        let (mut origin, mut dims) = self.walls(target, mesh, &spacing)?;
        if self.cube {
            let most = dims.into_iter().max().unwrap_or(1);
            for axis in 0..3 {
                let low = (most - dims[axis]) / 2;
                origin[axis] = shifted(&origin[axis], &spacing[axis], low);
                dims[axis] = most;
            }
        }
        let [low, high] = self.padding(&spacing);
        for axis in 0..3 {
            origin[axis] = shifted(&origin[axis], &spacing[axis], low[axis]);
            dims[axis] = dims[axis]
                .saturating_add(low[axis])
                .saturating_add(high[axis]);
        }
        // An axis is closed if the mesh does not extend beyond its last wall.
        let closed = std::array::from_fn(|a| {
            let map = AxisMap::new(origin[a].clone(), spacing[a].clone(), self.snap);
            map.index(mesh.max[a]) <= Rational::from(dims[a] as i64)
        });
        Ok(Lattice::new(dims, origin, spacing, closed)?.with_snap(self.snap))
    }

    /// Reports, for each axis, whether the mesh reaches the last layer of cells only because its coordinates
    /// were rounded to floats. With exact coordinates the lattice would then have one layer less. Always
    /// false unless the size of cells is given, and always false if an origin or a box is given, or if
    /// coordinates do not snap to walls.
    pub fn rounded_axes(&self, mesh: &Bounds) -> [bool; 3] {
        /// Tolerance in ulps. One ulp covers the rounding of the two ends. The rest covers the error of a
        /// size that was computed in floats.
        const STEPS: f64 = 4.0;
        let (Size::Spacing(sizes), Snap::Float, None, None) =
            (&self.size, self.snap, &self.origin, &self.bounds)
        else {
            return [false; 3];
        };
        std::array::from_fn(|axis| {
            let [low, high] = [mesh.min[axis], mesh.max[axis]];
            let Some(first) = Rational::from_f32(low) else {
                return false;
            };
            let above = AxisMap::new(first, sizes[axis].clone(), self.snap)
                .index(high)
                .to_f64();
            let largest = low.abs().max(high.abs());
            let step = f64::from(largest.next_up() - largest) / sizes[axis].to_f64();
            above > 1.0 && above - (above.ceil() - 1.0) <= STEPS * step
        })
    }

    fn spacing(&self, target: &[[Rational; 3]; 2]) -> Result<[Rational; 3]> {
        let extent: [Rational; 3] = std::array::from_fn(|a| &target[1][a] - &target[0][a]);
        match &self.size {
            Size::Longest(n) | Size::Level { longest: n, .. } => {
                let size = largest(&divided(&extent, &[*n; 3])?)?;
                Ok([size.clone(), size.clone(), size])
            }
            Size::Dims(dims) => {
                let size = largest(&divided(&extent, dims)?)?;
                Ok([size.clone(), size.clone(), size])
            }
            Size::Stretched(dims) => {
                let sizes = divided(&extent, dims)?;
                let size = largest(&sizes)?;
                Ok(sizes.map(|s| if s.is_zero() { size.clone() } else { s }))
            }
            Size::Spacing(sizes) => match sizes.iter().position(|s| !s.is_positive()) {
                Some(axis) => Err(Error::usage(format!(
                    "the cell size along {} must be above zero",
                    AXES[axis]
                ))),
                None => Ok(sizes.clone()),
            },
        }
    }

    /// Returns the position of the first wall and the number of cells along each axis, before `cube` and
    /// `pad` are applied.
    fn walls(
        &self,
        target: &[[Rational; 3]; 2],
        mesh: &Bounds,
        spacing: &[Rational; 3],
    ) -> Result<([Rational; 3], [usize; 3])> {
        let mut origin = target[0].clone();
        let mut dims = [1; 3];
        for axis in 0..3 {
            let size = &spacing[axis];
            if let Size::Dims(wanted) | Size::Stretched(wanted) = &self.size {
                let middle = (&target[0][axis] + &target[1][axis]) / Rational::from(2);
                origin[axis] = middle - size * &Rational::new(wanted[axis] as i64, 2);
                dims[axis] = wanted[axis];
                continue;
            }
            // Corners of the mesh may snap to walls. The corners of a given box are used exactly.
            let index = |first: &Rational, own: f32, given: &Rational| {
                let map = AxisMap::new(first.clone(), size.clone(), self.snap);
                if self.bounds.is_some() {
                    map.index_of(given)
                } else {
                    map.index(own)
                }
            };
            if let Some(anchor) = &self.origin {
                let below = index(&anchor[axis], mesh.min[axis], &target[0][axis]);
                let steps = below.floor().ok_or_else(|| too_many(axis))?;
                origin[axis] = &anchor[axis] + &(size * &Rational::from(steps));
            }
            let above = index(&origin[axis], mesh.max[axis], &target[1][axis]);
            let cells = above.ceil().ok_or_else(|| too_many(axis))?.max(1);
            dims[axis] = match usize::try_from(cells) {
                Ok(cells) if cells <= MAX_DIM => cells,
                _ => return Err(too_many(axis)),
            };
        }
        Ok((origin, dims))
    }
}

/// Returns the side lengths of a cell if an extent is divided into `dims` cells.
fn divided(extent: &[Rational; 3], dims: &[usize; 3]) -> Result<[Rational; 3]> {
    check_dims(*dims)?;
    if let Some(axis) = dims.iter().position(|&n| n > MAX_DIM) {
        return Err(too_many(axis));
    }
    Ok(std::array::from_fn(|a| {
        &extent[a] / Rational::from(dims[a] as i64)
    }))
}

/// Returns the largest of three sizes. Fails if it is zero.
fn largest(sizes: &[Rational; 3]) -> Result<Rational> {
    let largest = sizes.iter().max().cloned().unwrap_or(Rational::ZERO);
    if largest.is_zero() {
        return Err(
            Error::unfit("the mesh is a single point, so its bounding box has no extent")
                .with_hint("`--voxel-size S` gives the size of a cell"),
        );
    }
    Ok(largest)
}

fn move_point(point: &mut [Rational; 3], by: &[Rational; 3]) {
    for axis in 0..3 {
        point[axis] = &point[axis] + &by[axis];
    }
}

fn too_many(axis: usize) -> Error {
    Error::too_large(format!("more than {MAX_DIM} cells along {}", AXES[axis]))
        .with_hint("use larger cells")
}

/// Returns the coordinate `origin` minus the length of `cells` cells.
fn shifted(origin: &Rational, size: &Rational, cells: usize) -> Rational {
    origin - &(size * &Rational::from(cells as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(min: [f32; 3], max: [f32; 3]) -> Bounds {
        Bounds { min, max }
    }

    fn decimal(text: &str) -> Rational {
        Rational::parse_decimal(text).unwrap()
    }

    fn size(text: &str) -> Size {
        Size::Spacing([decimal(text), decimal(text), decimal(text)])
    }

    #[test]
    fn longest_axis_gets_all_cells_and_the_others_enough() {
        let lattice = Lattice::fit(&bounds([1.0, 0.0, 0.0], [4.0, 1.0, 0.0]), 100).unwrap();
        assert_eq!(lattice.dims(), [100, 34, 1]);
        assert_eq!(lattice.spacing()[0], Rational::new(3, 100));
        assert_eq!(lattice.origin()[0], Rational::from(1));
        assert_eq!(lattice.closed(), [true; 3]);
        assert_eq!(lattice.end()[0], Rational::from(4));
    }

    #[test]
    fn a_maximum_that_snaps_to_a_wall_lies_on_it() {
        let mesh = bounds([0.0; 3], [0.3, 0.7, 0.5]);
        let with = |snap| Fit::new(size("0.1")).snap(snap).to(&mesh).unwrap();
        assert_eq!(with(Snap::Float).dims(), [3, 7, 5]);
        assert_eq!(
            with(Snap::None).dims(),
            [4, 7, 5],
            "0.3 is above three tenths as a float"
        );
        assert_eq!(with(Snap::None).closed(), [true; 3]);
    }

    #[test]
    fn a_layer_for_the_rounding_of_coordinates_is_seen() {
        let cube = |low: f32, high: f32| bounds([low; 3], [high; 3]);
        let fit = Fit::new(size("0.1"));
        for (mesh, is_rounded, cells) in [
            (cube(-0.3, 0.3), true, 7),
            (cube(0.0, 0.3), false, 3),
            (cube(-0.3, 0.31), false, 7),
            (cube(-1e-9, 0.05), false, 1),
        ] {
            let lattice = fit.to(&mesh).unwrap();
            assert_eq!(
                (fit.rounded_axes(&mesh), lattice.dims()),
                ([is_rounded; 3], [cells; 3]),
                "{mesh:?}"
            );
        }
        let tenths = fit.origin([decimal("-0.3"), decimal("-0.3"), decimal("-0.3")]);
        let mesh = cube(-0.3, 0.3);
        assert_eq!(
            (tenths.rounded_axes(&mesh), tenths.to(&mesh).unwrap().dims()),
            ([false; 3], [6; 3])
        );
    }

    #[test]
    fn origin_makes_walls_congruent() {
        let mesh = bounds([0.25, -0.25, 0.4], [1.0, 1.0, 1.0]);
        let lattice =
            Fit::new(size("0.1")).origin([Rational::new(1, 20), Rational::ZERO, Rational::from(5)]);
        let lattice = lattice.to(&mesh).unwrap();
        assert_eq!(
            lattice.origin(),
            &[decimal("0.25"), decimal("-0.3"), decimal("0.4")]
        );
        assert_eq!(lattice.dims(), [8, 13, 6]);
    }

    #[test]
    fn dims_are_cubic_and_centred() {
        let mesh = bounds([0.0; 3], [4.0, 2.0, 1.0]);
        let lattice = Fit::new(Size::Dims([8, 8, 8])).to(&mesh).unwrap();
        assert_eq!((lattice.dims(), lattice.is_cubic()), ([8; 3], true));
        assert_eq!(
            lattice.origin(),
            &[Rational::ZERO, Rational::from(-1), Rational::new(-3, 2)]
        );
        let lattice = Fit::new(Size::Stretched([8, 8, 8])).to(&mesh).unwrap();
        assert_eq!(
            lattice.spacing(),
            &[
                Rational::new(1, 2),
                Rational::new(1, 4),
                Rational::new(1, 8)
            ]
        );
        assert_eq!(
            lattice.origin(),
            &[Rational::ZERO, Rational::ZERO, Rational::ZERO]
        );
    }

    #[test]
    fn cube_and_pad_grow_by_whole_cells() {
        let mesh = bounds([0.0; 3], [4.0, 1.0, 2.0]);
        let lattice = Fit::longest(4).cube().pad(1).to(&mesh).unwrap();
        assert_eq!(lattice.dims(), [6; 3]);
        // Along y, the 1 cell becomes 4, with one added below and two above. Padding then adds one on each
        // side.
        assert_eq!(
            lattice.origin(),
            &[Rational::from(-1), Rational::from(-2), Rational::from(-2)]
        );
        assert_eq!(lattice.closed(), [true; 3]);
        let sides = Fit::longest(4).pad_sides([1, 0, 2], [0, 3, 0]);
        let lattice = sides.to(&mesh).unwrap();
        assert_eq!(lattice.dims(), [5, 4, 4]);
        assert_eq!(
            lattice.origin(),
            &[Rational::from(-1), Rational::ZERO, Rational::from(-2)]
        );
    }

    #[test]
    fn levels_of_detail_fill_one_box() {
        let mesh = bounds([1.0, 0.0, -2.0], [11.0, 4.1, 0.5]);
        let level = |longest, coarsest| Fit::new(Size::Level { longest, coarsest });
        let fits: [fn(Fit) -> Fit; 5] = [
            |fit| fit,
            |fit| fit.pad(1),
            |fit| fit.margin("0.7".parse().unwrap()),
            |fit| fit.cube(),
            |fit| fit.bounds([0, 0, 0].map(Rational::from), [9, 3, 1].map(Rational::from)),
        ];
        for (n, options) in fits.into_iter().enumerate() {
            let whole = options(Fit::longest(16)).to(&mesh).unwrap();
            for (longest, ratio) in [(16, 1), (32, 2), (48, 3), (64, 4)] {
                let fit = options(level(longest, 16));
                let lattice = fit.to(&mesh).unwrap();
                assert_eq!(lattice.dims(), whole.dims().map(|n| ratio * n), "{n}");
                assert_eq!(lattice.origin(), whole.origin(), "{n}");
                assert_eq!(lattice.end(), whole.end(), "{n}");
                let padding = options(Fit::longest(16)).padding(whole.spacing());
                assert_eq!(
                    fit.padding(lattice.spacing()),
                    padding.map(|side| side.map(|cells| ratio * cells)),
                    "{n}"
                );
            }
            // The cells of 24 and 16 do not nest.
            let lattice = options(level(24, 16)).to(&mesh).unwrap();
            assert_eq!(lattice.origin(), whole.origin(), "{n}");
            for axis in 0..3 {
                let over = &lattice.end()[axis] - &whole.end()[axis];
                assert!(!(&whole.end()[axis] - &lattice.end()[axis]).is_positive());
                assert!(over < lattice.spacing()[axis], "{n}");
            }
        }
        assert!(level(64, 0).to(&mesh).is_err() && level(0, 16).to(&mesh).is_err());
    }

    #[test]
    fn a_margin_is_rounded_up_along_each_axis() {
        let mesh = bounds([0.0; 3], [4.0, 4.0, 2.0]);
        let sizes = Size::Spacing([decimal("1"), decimal("2"), decimal("0.5")]);
        for (length, dims) in [("2.5", [10, 6, 14]), ("2vx", [6, 4, 8]), ("0", [4, 2, 4])] {
            let fit = Fit::new(sizes.clone()).margin(length.parse().unwrap());
            assert_eq!(fit.to(&mesh).unwrap().dims(), dims, "{length}");
        }
        assert!(
            Fit::longest(4)
                .margin("1e30".parse().unwrap())
                .to(&mesh)
                .is_err()
        );
    }

    #[test]
    fn given_bounds_stand_for_the_mesh_and_are_open_where_it_goes_on() {
        let mesh = bounds([0.0; 3], [64.0; 3]);
        let box_of = |x0, x1| {
            let corner = |x| [Rational::from(x), Rational::ZERO, Rational::ZERO];
            Fit::new(size("1")).bounds(
                corner(x0),
                [Rational::from(x1), Rational::from(64), Rational::from(64)],
            )
        };
        let low = box_of(0, 32).to(&mesh).unwrap();
        assert_eq!(
            (low.dims(), low.closed()),
            ([32, 64, 64], [false, true, true])
        );
        let high = box_of(32, 64).to(&mesh).unwrap();
        assert_eq!((high.dims(), high.closed()), ([32, 64, 64], [true; 3]));
        assert!(box_of(2, 1).to(&mesh).is_err());
    }

    #[test]
    fn points_need_a_cell_size_and_empty_meshes_never_fit() {
        let point = bounds([1.0; 3], [1.0; 3]);
        assert!(Lattice::fit(&point, 8).unwrap_err().hint().is_some());
        assert_eq!(Fit::new(size("0.5")).to(&point).unwrap().dims(), [1; 3]);
        assert!(Lattice::fit(&Bounds::EMPTY, 8).is_err());
        assert!(Lattice::fit(&bounds([0.0; 3], [1.0; 3]), 0).is_err());
        assert!(
            Fit::new(size("0.0000001"))
                .to(&bounds([0.0; 3], [9e9; 3]))
                .is_err()
        );
    }

    #[test]
    fn bounds_just_below_zero_are_exact() {
        let mesh = bounds([-2.5, -1.25, -2.731_85e-16], [2.5, 1.25, 1.375]);
        // 1.375 is slightly above wall 55 of cells with side 0.025, and it is the float nearest to this wall.
        let dims_with = |snap| Fit::longest(200).snap(snap).to(&mesh).unwrap().dims();
        assert_eq!(dims_with(Snap::Float), [200, 100, 55]);
        assert_eq!(dims_with(Snap::None), [200, 100, 56]);
    }
}
