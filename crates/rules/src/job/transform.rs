//! The map from the coordinates of a mesh file to the coordinates of the grid: order of axes, matrix,
//! rotations, scale and translation.

use std::fmt;
use std::str::FromStr;

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Point, Rational};
use voxelize_core::grid::frame::SCAN_FRAME;
use voxelize_core::grid::{AXES, Lattice, Length, LengthUnit, ScanFrame};
use voxelize_core::text::GridCoordinates;
use voxelize_meshes::{Mesh, UnitOfLength, UpAxis};

use super::measure::WrittenLength;
use super::turn::{Matrix, Rotation, Turns, multiplier, short};

/// Axis of the file, with a sign, for each axis of the grid. For example, `x,-z,y` rotates a mesh whose y
/// axis points up so that its z axis points up.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::job::AxisOrder;
///
/// let order: AxisOrder = "x,-z,y".parse()?;
/// assert_eq!((order.to_string(), order.is_mirror()), ("x,-z,y".to_string(), false));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisOrder([(usize, bool); 3]);

impl Default for AxisOrder {
    fn default() -> Self {
        Self([(0, false), (1, false), (2, false)])
    }
}

impl FromStr for AxisOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let one = |text: &str| {
            let (name, minus) = text
                .strip_prefix('-')
                .map_or((text, false), |name| (name, true));
            let axis = AXES.iter().position(|axis| name.parse() == Ok(*axis));
            let axis = axis.map(|axis| (axis, minus));
            axis.ok_or_else(|| Error::usage(format!("'{name}' is not an axis: x, y or z")))
        };
        let order = text
            .split(',')
            .map(|part| one(part.trim()))
            .collect::<Result<Vec<_>>>()?;
        let order: [(usize, bool); 3] = order
            .try_into()
            .map_err(|_| Error::usage("expected three axes such as x,-z,y"))?;
        for axis in 0..3 {
            if order.iter().all(|(from, _)| *from != axis) {
                return Err(Error::usage("each of x, y and z must occur once"));
            }
        }
        Ok(Self(order))
    }
}

impl fmt::Display for AxisOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (axis, minus)) in self.0.into_iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let sign = if minus { "-" } else { "" };
            write!(f, "{comma}{sign}{}", AXES[axis])?;
        }
        Ok(())
    }
}

impl AxisOrder {
    /// Returns true if the order mirrors the mesh, and false if it only rotates the mesh.
    pub fn is_mirror(self) -> bool {
        let [a, b, c] = self.0.map(|(axis, _)| axis);
        let is_odd = (a > b) ^ (b > c) ^ (a > c);
        let mut is_mirror = is_odd;
        for (_, minus) in self.0 {
            is_mirror ^= minus;
        }
        is_mirror
    }

    fn exact_point(self, point: &[Rational; 3]) -> [Rational; 3] {
        self.0.map(|(axis, minus)| {
            if minus {
                -&point[axis]
            } else {
                point[axis].clone()
            }
        })
    }

    fn point(self, p: Point) -> Point {
        // Unlike negation, subtraction from zero never gives a negative zero.
        self.0
            .map(|(axis, minus)| if minus { 0.0 - p[axis] } else { p[axis] })
    }
}

/// Formats a number as a decimal if a double represents it exactly, otherwise as a fraction.
pub(super) fn decimal(number: &Rational) -> String {
    let text = number.to_f64().to_string();
    if Rational::parse(&text).as_ref() == Ok(number) {
        text
    } else {
        short(number)
    }
}

/// Map from the coordinates of a mesh file to the coordinates of the grid. Its steps are the order of axes,
/// the matrix, the rotations, the scale, the translation and the frame. The first three steps and a tilted
/// frame turn the mesh. The scale and the translation are applied to the lattice instead of the mesh, because
/// they would round the coordinates of the mesh.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::job::Transform;
/// use voxelize::{Mesh, Rational};
///
/// let transform = Transform { axes: "x,-z,y".parse()?, scale: Rational::new(1, 3), ..Transform::default() };
/// let upright = transform.apply(Mesh::open("fixtures/knot.stl")?)?;
/// assert_eq!(transform.entries(), [("axes", "x,-z,y".to_string()), ("scale", "1/3".to_string())]);
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    /// Order and signs of the axes of the file that become the axes of the grid.
    pub axes: AxisOrder,
    /// Matrix that is applied after the axes. Its translation is added exactly.
    pub matrix: Option<Matrix>,
    /// Rotations that are applied after the matrix, in this order.
    pub rotate: Vec<Rotation>,
    /// Factor by which coordinates are scaled.
    pub scale: Rational,
    /// Translation that is applied after the scale.
    pub translate: [Rational; 3],
    /// Point of the file to which the coordinates of the mesh are relative, as [chosen by its
    /// reader](voxelize_meshes::read::ReadNear). Usually it is the origin.
    pub near: [Rational; 3],
    /// Unit of the coordinates of the grid. It does not change any coordinate.
    pub unit: Option<UnitOfLength>,
    /// Axis of the grid that points up. If a format has a fixed up axis, the cells are turned when they are
    /// written.
    pub up: UpAxis,
    /// Frame of the scan for which the grid is made. If its axes are tilted, the grid has these axes, and the
    /// mesh is mapped to them as the last step, in the same rounding. Scale and translation are then part of
    /// this step. `None` if the axes of the scan are x, y and z.
    pub frame: Option<ScanFrame>,
}

impl Default for Transform {
    fn default() -> Self {
        Self {
            axes: AxisOrder::default(),
            matrix: None,
            rotate: vec![],
            scale: Rational::ONE,
            translate: [const { Rational::ZERO }; 3],
            near: [const { Rational::ZERO }; 3],
            unit: None,
            up: UpAxis::default(),
            frame: None,
        }
    }
}

impl Transform {
    /// Returns true if the transform scales coordinates.
    pub fn is_scaled(&self) -> bool {
        self.scale != Rational::ONE
    }

    /// Returns true if the transform moves coordinates.
    pub fn is_moved(&self) -> bool {
        self.shift().iter().any(|by| !by.is_zero())
    }

    /// Returns the vector that is added to the coordinates of the turned mesh after scaling. It is the
    /// translation plus the scaled [`offset`](Self::offset). It is zero if the frame is tilted, because the mesh
    /// is then moved when it is turned.
    pub fn shift(&self) -> [Rational; 3] {
        if self.tilted_frame().is_some() {
            return [const { Rational::ZERO }; 3];
        }
        self.unframed_shift()
    }

    /// Returns the [shift](Self::shift) of a mesh that is not mapped to the axes of a tilted frame.
    fn unframed_shift(&self) -> [Rational; 3] {
        if self.matrix.is_none() && !self.is_near() {
            return self.translate.clone();
        }
        let offset = self.offset();
        std::array::from_fn(|axis| &(&offset[axis] * &self.scale) + &self.translate[axis])
    }

    /// Returns the frame if its axes are tilted.
    pub fn tilted_frame(&self) -> Option<&ScanFrame> {
        self.frame.as_ref().filter(|frame| frame.is_tilted())
    }

    /// Returns the matrix that maps the turned mesh to the axes of a tilted frame, and the vector that is then
    /// added. The vector includes the shift. `None` if the frame is not tilted.
    fn frame_map(&self) -> Option<([[Rational; 3]; 3], [f64; 3])> {
        let frame = self.tilted_frame()?;
        let vector = frame.from_world(&self.unframed_shift());
        let vector = vector.map(|part| (part / self.scale.clone()).to_f64());
        Some((frame.inverse(), vector))
    }

    /// Returns the offset that is added to the coordinates of the turned mesh before scaling. It is the point
    /// `near`, to which the mesh's coordinates are relative, after the axis order, the matrix with its
    /// translation, and the rotations.
    pub fn offset(&self) -> [Rational; 3] {
        let mut point = self.axes.exact_point(&self.near);
        if let Some(matrix) = &self.matrix {
            point = matrix.applied(&point);
        }
        Turns::new(&self.rotate).turned(&point)
    }

    /// Returns true if the mesh's coordinates are relative to a point other than the origin of the file.
    pub fn is_near(&self) -> bool {
        self.near.iter().any(|value| !value.is_zero())
    }

    /// Returns true if the axis order, the matrix, the rotations or the frame change the coordinates of the
    /// mesh.
    pub fn turns(&self) -> bool {
        self.axes != AxisOrder::default()
            || self.multiplies()
            || !self.rotate.is_empty()
            || self.tilted_frame().is_some()
    }

    /// Returns true if there is a matrix that does more than move points.
    fn multiplies(&self) -> bool {
        self.matrix
            .as_ref()
            .is_some_and(|matrix| !matrix.only_moves())
    }

    /// Returns true if the rotations do not round any coordinate.
    pub fn rotates_exactly(&self) -> bool {
        Turns::new(&self.rotate).are_exact()
    }

    /// Returns true if the transform mirrors the mesh.
    fn is_mirror(&self) -> bool {
        let is_mirror =
            self.axes.is_mirror() != self.matrix.as_ref().is_some_and(Matrix::is_mirror);
        is_mirror != self.frame.as_ref().is_some_and(ScanFrame::is_mirror)
    }

    /// Returns a function that applies the axis order, the matrix without its translation, the rotations and
    /// the frame to a point, and rounds the result to 32-bit floats.
    fn turner(&self) -> impl Fn(Point) -> Point + use<> {
        let turn = self.turner_in_doubles();
        // The addition of zero turns a negative zero into zero.
        move |p| turn(p).map(|c| c as f32 + 0.0)
    }

    /// Returns a function that applies the axis order, the matrix without its translation, the rotations and
    /// the frame to a point.
    fn turner_in_doubles(&self) -> impl Fn(Point) -> [f64; 3] + use<> {
        let axes = self.axes;
        let matrix = self
            .matrix
            .as_ref()
            .filter(|_| self.multiplies())
            .map(Matrix::multiplier);
        let turn = Turns::new(&self.rotate).turner();
        let frame = self
            .frame_map()
            .map(|(rows, vector)| (multiplier(&rows), vector));
        move |p| {
            let p = axes.point(p).map(f64::from);
            let multiplied = match &matrix {
                Some(multiply) => multiply(p),
                None => p,
            };
            let turned = turn(multiplied);
            match &frame {
                Some((multiply, vector)) => {
                    let along = multiply(turned);
                    [0, 1, 2].map(|axis| along[axis] + vector[axis])
                }
                None => turned,
            }
        }
    }

    /// Maps a point of the grid back to the coordinates of the turned mesh, before scale and translation.
    pub fn unplaced(&self, point: &[Rational; 3]) -> [Rational; 3] {
        let shift = self.shift();
        std::array::from_fn(|axis| (&point[axis] - &shift[axis]) / &self.scale)
    }

    /// Maps a lattice in the coordinates of the turned mesh to the coordinates of the grid.
    ///
    /// # Errors
    /// Fails if a coordinate exceeds the range of exact numbers.
    pub fn place(&self, lattice: &Lattice) -> Result<Lattice> {
        match (self.is_scaled(), self.is_moved()) {
            (false, false) => Ok(lattice.clone()),
            (false, true) => lattice.moved(&self.shift()),
            _ => lattice.scaled(&self.scale)?.moved(&self.shift()),
        }
    }

    /// Maps a lattice in the coordinates of the grid to the coordinates of the turned mesh.
    ///
    /// # Errors
    /// Fails if a coordinate exceeds the range of exact numbers.
    pub fn unplace(&self, lattice: &Lattice) -> Result<Lattice> {
        let back = self.shift().each_ref().map(|by| -by);
        lattice.moved(&back)?.scaled(&(Rational::ONE / &self.scale))
    }

    /// Returns the conversion with which reports print positions and lengths of the turned mesh.
    pub fn coordinates(&self) -> GridCoordinates {
        GridCoordinates {
            scale: self.scale.to_f64(),
            by: self.shift().each_ref().map(Rational::to_f64),
            near: if self.is_near() {
                Some(self.near.each_ref().map(Rational::to_f64))
            } else {
                None
            },
            unit: self.unit.map(UnitOfLength::name),
            tilted: self.tilted_frame().and_then(|frame| {
                let doubles = |vector: &[Rational; 3]| vector.each_ref().map(Rational::to_f64);
                let directions = frame.directions().each_ref().map(doubles);
                Some((directions, doubles(frame.zero()?)))
            }),
        }
    }

    /// Turns the mesh: applies the axis order, the matrix, the rotations and the frame.
    ///
    /// # Errors
    /// Fails if there is not enough memory for another mesh.
    pub fn apply(&self, mesh: Mesh) -> Result<Mesh> {
        if !self.turns() {
            return Ok(mesh);
        }
        self.mapped(&mesh, self.turner())
    }

    /// Applies a function to the vertices of the mesh.
    fn mapped(&self, mesh: &Mesh, point: impl Fn(Point) -> Point) -> Result<Mesh> {
        let is_mirror = self.is_mirror();
        let turned = mesh.map(|[a, b, c]| {
            // In a mirrored mesh, two vertices of each triangle are swapped, so that the triangle still faces
            // outwards.
            let [b, c] = if is_mirror { [c, b] } else { [b, c] };
            [a, b, c].map(|p| point(*p))
        })?;
        Ok(if is_mirror {
            turned.with_turned_corners()
        } else {
            turned
        })
    }

    /// Maps the mesh to the coordinates of the grid, including scale and translation. Each coordinate is
    /// computed in doubles and rounded once, to a 32-bit float. To voxelize the mesh, use [`apply`](Self::apply)
    /// and [`place`](Self::place) instead, which avoid this rounding.
    ///
    /// # Errors
    /// Fails if there is not enough memory for another mesh, or if a coordinate exceeds the range of floats.
    pub fn apply_all(&self, mesh: Mesh) -> Result<Mesh> {
        if !self.is_scaled() && !self.is_moved() {
            return self.apply(mesh);
        }
        let turn = self.turner_in_doubles();
        let scale = self.scale.to_f64();
        let by = self.shift().each_ref().map(Rational::to_f64);
        self.mapped(&mesh, |p| {
            let turned = turn(p);
            std::array::from_fn(|a| (scale * turned[a] + by[a]) as f32 + 0.0)
        })
    }

    /// Converts a length exactly to the unit of the file. If the transform scales coordinates, converts it to
    /// cells, whose side length is `cell`.
    ///
    /// # Errors
    /// Fails if the length has a unit and the unit of the file is unknown, or if the length is not a finite
    /// decimal in that unit. If the transform scales coordinates, also fails if the length is not a finite
    /// decimal in cells, or if `cell` is `None`.
    pub fn length(&self, written: &WrittenLength, cell: Option<&Rational>) -> Result<Length> {
        let length = match written {
            WrittenLength::Length(length) => *length,
            WrittenLength::Measure(measure) => {
                let unit = self.unit.map_or("", UnitOfLength::name);
                Length::new(&measure.in_units_of(self.unit)?, LengthUnit::World).ok_or_else(
                    || {
                        Error::usage(format!("cannot be written as a finite decimal in the unit of the file, '{unit}'"))
                            .with_hint("write it in the unit of the file")
                    },
                )?
            }
        };
        if !self.is_scaled() || length.unit() == LengthUnit::Cells {
            return Ok(length);
        }
        let in_cells = |cell: &Rational| Length::new(&(&length.value() / cell), LengthUnit::Cells);
        cell.and_then(in_cells).ok_or_else(|| {
            let error = Error::usage(
                "the mesh is scaled: this length must be given in cells, or must be a finite decimal number of cells",
            );
            error.with_hint(
                "give it in cells, such as 2vx, or give one cell size with `--voxel-size S`",
            )
        })
    }

    /// Sets [`up`](Self::up) from the axis that points up in the file. The axis order, the matrix and the
    /// rotations map this axis to the axis that points up in the grid. If that axis is neither y nor z, `up`
    /// is set to the axis of the file. It is then assumed that the mesh is turned upright when it is written.
    #[must_use]
    pub fn with_up(self, up: UpAxis) -> Self {
        let axis = if up == UpAxis::Y {
            [0.0, 1.0, 0.0]
        } else {
            [0.0, 0.0, 1.0]
        };
        let unframed = Self {
            frame: None,
            ..self.clone()
        };
        let [x, y, z] = unframed.turner()(axis);
        let up = if y > x.abs() && y > z.abs() {
            UpAxis::Y
        } else if z > x.abs() && z > y.abs() {
            UpAxis::Z
        } else {
            up
        };
        Self { up, ..self }
    }

    /// Returns the transform that a record describes by these entries.
    ///
    /// # Errors
    /// Fails if a name or a value is unknown.
    pub fn from_entries(entries: &[(&'static str, String)]) -> Result<Self> {
        let unknown = |name: &str, value: &str| {
            Error::usage(format!("the transform {name} {value} is unknown"))
        };
        let mut transform = Self::default();
        for (name, value) in entries {
            let number =
                |text: &str| Rational::parse_fraction(text).map_err(|_| unknown(name, value));
            match *name {
                "up" => {
                    let up = UpAxis::ALL.into_iter().find(|up| up.name() == value);
                    transform.up = up.ok_or_else(|| unknown(name, value))?;
                }
                "axes" => transform.axes = value.parse()?,
                "matrix" => transform.matrix = Some(value.parse()?),
                "rotate" => {
                    transform.rotate = value.split(';').map(str::parse).collect::<Result<_>>()?
                }
                "scale" => transform.scale = number(value)?,
                "translate" => {
                    let by = value.split(',').map(number).collect::<Result<Vec<_>>>()?;
                    transform.translate = by.try_into().map_err(|_| unknown(name, value))?;
                }
                "near" => {
                    let number =
                        |text: &str| Rational::parse(text).map_err(|_| unknown(name, value));
                    let near = value.split(',').map(number).collect::<Result<Vec<_>>>()?;
                    transform.near = near.try_into().map_err(|_| unknown(name, value))?;
                }
                "unit" => {
                    let unit =
                        UnitOfLength::from_name(value).ok_or_else(|| unknown(name, value))?;
                    transform.unit = Some(unit);
                }
                SCAN_FRAME => {
                    let frame = value.parse().map_err(|_| unknown(name, value))?;
                    transform.frame = Some(frame);
                }
                _ => return Err(unknown(name, value)),
            }
        }
        Ok(transform)
    }

    /// Formats the rotations for a record, as in `x,10;z,30`. `None` if there are no rotations.
    pub fn rotation_text(&self) -> Option<String> {
        let rotations: Vec<_> = self.rotate.iter().map(Rotation::to_string).collect();
        if rotations.is_empty() {
            None
        } else {
            Some(rotations.join(";"))
        }
    }

    /// Returns the entries for a record as names and values. Only values that differ from the default have an
    /// entry.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut entries = vec![];
        if self.up != UpAxis::default() {
            entries.push(("up", self.up.name().to_string()));
        }
        if self.axes != AxisOrder::default() {
            entries.push(("axes", self.axes.to_string()));
        }
        if let Some(matrix) = &self.matrix {
            entries.push(("matrix", matrix.to_string()));
        }
        if let Some(rotations) = self.rotation_text() {
            entries.push(("rotate", rotations));
        }
        if self.is_scaled() {
            entries.push(("scale", self.scale.to_string()));
        }
        if self.translate.iter().any(|by| !by.is_zero()) {
            let by = self.translate.each_ref().map(short);
            entries.push(("translate", by.join(",")));
        }
        if self.is_near() {
            let near = self.near.each_ref().map(decimal);
            entries.push(("near", near.join(",")));
        }
        if let Some(unit) = self.unit {
            entries.push(("unit", unit.name().to_string()));
        }
        if let Some(frame) = &self.frame {
            entries.push((SCAN_FRAME, frame.to_string()));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_units_of_the_file() {
        let length = |text: &str, unit: &str| {
            let transform = Transform {
                unit: UnitOfLength::from_name(unit),
                ..Transform::default()
            };
            transform
                .length(&text.parse().unwrap(), None)
                .map(|length| length.to_string())
        };
        assert_eq!(
            (length("5cm", "mm").unwrap(), length("2vx", "m").unwrap()),
            ("50".into(), "2vx".into())
        );
        assert_eq!(length("5cm", "m").unwrap(), "0.05");
        assert!(length("1mm", "in").is_err());
    }

    #[test]
    fn rotations_are_within_a_float() {
        let mut tried = 0;
        for degrees in -200..200 {
            let rotate = vec![format!("z,{degrees}").parse().unwrap()];
            let turn = Transform {
                rotate,
                ..Transform::default()
            }
            .turner();
            let angle = f64::from(degrees).to_radians();
            let [x, y, z] = turn([1.0, 2.0, 3.0]);
            let expected = [
                angle.cos() - 2.0 * angle.sin(),
                angle.sin() + 2.0 * angle.cos(),
            ];
            let error = (f64::from(x) - expected[0])
                .abs()
                .max((f64::from(y) - expected[1]).abs());
            assert!(error < 1.3e-7 && z == 3.0, "{degrees}: {error}");
            tried += 1;
        }
        assert_eq!(tried, 400);
    }

    #[test]
    fn matrix_and_rotations_go_before_scale_and_translation() {
        let transform = Transform {
            matrix: Some("0,2,0,10,1,0,0,20,0,0,1,30".parse().unwrap()),
            rotate: ["z,90", "x,90"].map(|text| text.parse().unwrap()).into(),
            scale: Rational::new(1, 2),
            translate: [1, 2, 3].map(Rational::from),
            ..Transform::default()
        };
        let triangle = [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 1.0]];
        let mesh = || Mesh::from_triangles(vec![triangle]).unwrap();
        // The matrix maps the first point to 4, 1, 3. The rotations map it further to −1, 4, 3 and then −1,
        // −3, 4. The matrix mirrors the triangle.
        let turned = transform.apply(mesh()).unwrap().triangles()[0];
        assert_eq!(
            turned,
            [[-1.0, -3.0, 4.0], [-4.0, -1.0, 0.0], [0.0, 0.0, 0.0]]
        );
        // The rotations map the matrix's translation 10, 20, 30 to −20, −30, 10.
        assert_eq!(transform.shift(), [-9, -13, 8].map(Rational::from));
        let all = transform.apply_all(mesh()).unwrap().triangles()[0];
        assert_eq!(all[0], [-9.5, -14.5, 10.0]);
        assert_eq!(
            transform.unplaced(&transform.shift()),
            [const { Rational::ZERO }; 3]
        );
        let entries = transform.entries();
        assert_eq!(
            entries[0],
            ("matrix", "0,2,0,10,1,0,0,20,0,0,1,30".to_string())
        );
        assert_eq!(entries[1], ("rotate", "z,90;x,90".to_string()));
        assert_eq!(Transform::from_entries(&entries).unwrap(), transform);
    }

    #[test]
    fn a_lattice_is_placed_and_taken_back() {
        let lattice =
            Lattice::fit(Mesh::open("../../fixtures/knot.stl").unwrap().bounds(), 9).unwrap();
        let translate = [Rational::new(1, 3), Rational::ZERO, Rational::from(-7)];
        let transform = Transform {
            scale: Rational::new(5, 7),
            translate,
            ..Transform::default()
        };
        let placed = transform.place(&lattice).unwrap();
        assert_eq!(
            placed.spacing()[0],
            &lattice.spacing()[0] * &transform.scale
        );
        assert_eq!(transform.unplaced(placed.origin()), *lattice.origin());
        assert_eq!(transform.unplace(&placed).unwrap(), lattice);
    }

    #[test]
    fn a_point_near_the_mesh_is_turned_and_scaled_with_it() {
        let near = [
            Rational::new(1001, 10),
            Rational::from(20),
            Rational::from(3),
        ];
        let tenths = |value: i64| Rational::new(value, 10);
        for (axes, matrix, rotate, expected) in [
            ("x,y,z", None, None, [2012, 400, 60]),
            ("x,-z,y", None, None, [2012, -60, 400]),
            ("x,y,z", None, Some("z,90"), [-390, 2002, 60]),
            ("x,-z,y", None, Some("x,-90"), [2012, 400, 60]),
            (
                "x,y,z",
                Some("0,1,0,0,1,0,0,5,0,0,1,0"),
                None,
                [410, 2102, 60],
            ),
        ] {
            let transform = Transform {
                axes: axes.parse().unwrap(),
                matrix: matrix.map(|text| text.parse().unwrap()),
                rotate: rotate
                    .map(|text| text.parse().unwrap())
                    .into_iter()
                    .collect(),
                scale: Rational::from(2),
                translate: [Rational::ONE, Rational::ZERO, Rational::ZERO],
                near: near.clone(),
                ..Transform::default()
            };
            assert_eq!(
                transform.shift(),
                expected.map(tenths),
                "{axes} {matrix:?} {rotate:?}"
            );
            assert_eq!(
                transform
                    .entries()
                    .iter()
                    .find(|entry| entry.0 == "near")
                    .unwrap()
                    .1,
                "100.1,20,3"
            );
            assert_eq!(
                Transform::from_entries(&transform.entries()).unwrap(),
                transform
            );
        }
    }

    #[test]
    fn axes_are_turned_or_mirrored() {
        for (text, is_mirror) in [
            ("x,y,z", false),
            ("x,-z,y", false),
            ("y,z,x", false),
            ("y,x,z", true),
            ("-x,y,z", true),
            ("-y,x,z", false),
            ("-x,-y,-z", true),
        ] {
            let order: AxisOrder = text.parse().unwrap();
            assert_eq!(
                (order.is_mirror(), order.to_string()),
                (is_mirror, text.to_string())
            );
        }
        for wrong in ["x,y", "x,y,x", "x,y,w", "", "x,y,z,x"] {
            assert!(wrong.parse::<AxisOrder>().is_err(), "{wrong}");
        }
        let triangle = [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 1.0]];
        let moved = |axes: &str| {
            let transform = Transform {
                axes: axes.parse().unwrap(),
                ..Transform::default()
            };
            transform
                .apply(Mesh::from_triangles(vec![triangle]).unwrap())
                .unwrap()
                .triangles()[0]
        };
        let turned = moved("x,-z,y");
        assert_eq!(
            turned,
            [[1.0, -3.0, 2.0], [0.0, 0.0, 0.0], [4.0, -1.0, 0.0]]
        );
        assert!(
            turned
                .as_flattened()
                .iter()
                .all(|c| c.to_bits() != (-0.0_f32).to_bits())
        );
        assert_eq!(
            moved("-x,y,z"),
            [[-1.0, 2.0, 3.0], [-4.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
        );
    }
}
