//! Exact differences between two lattices. Two lattices are equal if their cells are the same boxes and if
//! they are closed at the same ends. The digest of a grid covers the same properties. Snapping is not
//! compared.

use std::fmt;

use voxelize_core::geom::Rational;
use voxelize_core::grid::lattice::AXES;
use voxelize_core::grid::{Lattice, ScanFrame};
use voxelize_core::text::number;
use voxelize_formats::Voxels;

/// Property in which two lattices differ. `Display` shows its name, the value of the first lattice and the
/// value of the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Number of cells along each axis.
    Dims([[usize; 3]; 2]),
    /// Position of the first wall along an axis (0, 1, 2 for x, y, z).
    Origin(usize, [Rational; 2]),
    /// Size of a cell along an axis.
    Spacing(usize, [Rational; 2]),
    /// The last wall along an axis belongs to one lattice only.
    Closed(usize, [bool; 2]),
    /// Unit of the coordinates.
    Unit([String; 2]),
    /// Directions and position of the axes of a tilted scan as text. `None` if the axes of a grid are x, y and
    /// z.
    Frame([Option<String>; 2]),
}

/// Returns the differences between two grids from files. If both lattices are known, they are compared;
/// otherwise only the dims. Units of the coordinates are compared if both are known.
pub fn grids(first: &Voxels, second: &Voxels) -> Vec<Mismatch> {
    let mut found = match (&first.lattice, &second.lattice) {
        (Some(first), Some(second)) => lattices(first, second),
        _ if first.dims() != second.dims() => vec![Mismatch::Dims([first.dims(), second.dims()])],
        _ => Vec::new(),
    };
    let units = [first, second].map(|voxels| voxels.record.transform("unit").map(str::to_string));
    if let [Some(first), Some(second)] = units
        && first != second
    {
        found.push(Mismatch::Unit([first, second]));
    }
    let frames = [first, second].map(|voxels| ScanFrame::tilted_of(&voxels.record));
    let are_equal = match &frames {
        [Some(first), Some(second)] => first.is_near(second),
        [first, second] => first == second,
    };
    if !are_equal {
        found.push(Mismatch::Frame(
            frames.map(|frame| frame.as_ref().map(directions_text)),
        ));
    }
    found
}

/// Returns the directions of a tilted frame and the centre of its first cell, rounded, as in `(0.8, 0.6, 0) (-0.6,
/// 0.8, 0) (0, 0, 1) at (0, 0, 5)`.
fn directions_text(frame: &ScanFrame) -> String {
    let text = |vector: &[Rational; 3]| {
        let numbers = vector.each_ref().map(|part| number(part.to_f64()));
        format!("({})", numbers.join(", "))
    };
    let directions = frame.directions().each_ref().map(text).join(" ");
    match frame.zero() {
        Some(zero) => format!("{directions} at {}", text(zero)),
        None => directions,
    }
}

/// Returns the differences between two lattices. Empty if they are equal.
///
/// ```
/// # use voxelize_compare::voxelize;
/// use voxelize::compare::lattices;
/// use voxelize::{Lattice, Rational};
///
/// let at = |x| [Rational::new(x, 3), Rational::ZERO, Rational::ZERO];
/// let size = [(); 3].map(|()| Rational::new(1, 10));
/// let lattice = |x| Lattice::new([8, 4, 2], at(x), size.clone(), [true; 3]);
/// assert!(lattices(&lattice(1)?, &lattice(1)?).is_empty());
///
/// let found = lattices(&lattice(1)?, &lattice(2)?);
/// assert_eq!(found[0].to_string(), "origin along x: 1/3 → 2/3");
/// # Ok::<(), voxelize::Error>(())
/// ```
pub fn lattices(first: &Lattice, second: &Lattice) -> Vec<Mismatch> {
    let mut found = Vec::new();
    if first.dims() != second.dims() {
        found.push(Mismatch::Dims([first.dims(), second.dims()]));
    }
    for axis in 0..3 {
        let origins = [&first.origin()[axis], &second.origin()[axis]];
        if origins[0] != origins[1] {
            found.push(Mismatch::Origin(axis, origins.map(Rational::clone)));
        }
        let spacings = [&first.spacing()[axis], &second.spacing()[axis]];
        if spacings[0] != spacings[1] {
            found.push(Mismatch::Spacing(axis, spacings.map(Rational::clone)));
        }
        let closed = [first.closed()[axis], second.closed()[axis]];
        if closed[0] != closed[1] {
            found.push(Mismatch::Closed(axis, closed));
        }
    }
    found
}

/// Returns `true` if two lattices are equal except that numbers were rounded to 32-bit floats.
///
/// Both lattices must have the same number of cells along each axis and be closed at the same ends. Cell
/// sizes, and the centres of the first cell, may differ by a relative error of 2⁻²³. For a centre that is
/// smaller than a cell, the error is relative to the cell size. This comparison is for images, which store
/// their position in floats or decimals.
///
/// ```
/// # use voxelize_compare::voxelize;
/// use voxelize::compare::differ_by_rounding;
/// use voxelize::{Lattice, Rational};
///
/// let lattice = |size: f32| {
///     let spacing = [(); 3].map(|()| Rational::from_f64(size.into()).unwrap());
///     Lattice::new([8, 4, 2], [const { Rational::ZERO }; 3], spacing, [true; 3])
/// };
/// assert!(differ_by_rounding(&lattice(0.1)?, &lattice(0.1_f32.next_up())?));
/// assert!(!differ_by_rounding(&lattice(0.1)?, &lattice(0.1001)?));
/// # Ok::<(), voxelize::Error>(())
/// ```
pub fn differ_by_rounding(first: &Lattice, second: &Lattice) -> bool {
    if first.dims() != second.dims() || first.closed() != second.closed() {
        return false;
    }
    let half = Rational::new(1, 2);
    for axis in 0..3 {
        let [a, b] = [first, second].map(|lattice| &lattice.spacing()[axis]);
        let [u, v] = [first, second]
            .map(|lattice| &lattice.origin()[axis] + &(&lattice.spacing()[axis] * &half));
        if !is_near(a, b, a) || !is_near(&u, &v, a) {
            return false;
        }
    }
    true
}

/// Returns whether two lattices are equal, except for rounding, if the coordinates of the second are
/// multiplied by a factor.
pub fn differ_by_factor(first: &Lattice, second: &Lattice, factor: &Rational) -> bool {
    let scaled = |numbers: &[Rational; 3]| numbers.each_ref().map(|number| number * factor);
    let second = Lattice::new(
        second.dims(),
        scaled(second.origin()),
        scaled(second.spacing()),
        second.closed(),
    );
    second.is_ok_and(|second| differ_by_rounding(first, &second))
}

/// Factors between units that people confuse: inches and millimetres, millimetres and centimetres,
/// millimetres and metres.
const CONFUSED: [f64; 3] = [25.4, 10.0, 1000.0];

/// Size of a box in the coordinates of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxSize {
    /// Lengths along x, y and z.
    pub sides: [f64; 3],
    /// Greatest error of a length.
    pub tolerance: f64,
}

impl BoxSize {
    /// Returns the size of the occupied cells, with the longest side of a cell as the tolerance. `None` if the
    /// position of the cells is unknown, or no cell is occupied.
    pub fn of_cells(voxels: &Voxels) -> Option<Self> {
        let lattice = voxels.lattice.as_ref()?;
        let [low, high] = voxels.occupied().ok()?.occupied_box()?;
        let spacing = lattice.spacing().each_ref().map(Rational::to_f64);
        Some(Self {
            sides: std::array::from_fn(|axis| (high[axis] + 1 - low[axis]) as f64 * spacing[axis]),
            tolerance: spacing.into_iter().fold(0.0, f64::max),
        })
    }
}

/// Returns the factor by which the second box is larger than the first, if units may have been
/// confused: 25.4, 10, 1000 or a reciprocal of them.
pub fn confused_factor(first: &BoxSize, second: &BoxSize) -> Option<f64> {
    let larger = CONFUSED.into_iter().map(|factor| (factor, 1.0, factor));
    let smaller = CONFUSED
        .into_iter()
        .map(|factor| (1.0, factor, 1.0 / factor));
    for (of_first, of_second, found) in larger.chain(smaller) {
        let tolerance = of_first * first.tolerance + of_second * second.tolerance;
        let is_one = (0..3).all(|axis| {
            (of_first * first.sides[axis] - of_second * second.sides[axis]).abs() <= tolerance
        });
        let longest = first.sides.into_iter().fold(0.0, f64::max) * of_first;
        // A box of a few cells has no clear size.
        if is_one && tolerance < 0.2 * longest {
            return Some(found);
        }
    }
    None
}

/// Returns `true` if two numbers differ by at most 2⁻²³ times the first number, or times `least` if that is
/// larger.
fn is_near(a: &Rational, b: &Rational, least: &Rational) -> bool {
    let size = a.abs().max(least.clone());
    (a - b).abs() <= &size * &Rational::new(1, 1 << 23)
}

/// Returns a number as exact text. An integer is written as 3 instead of 3/1.
fn exact_text(value: &Rational) -> String {
    let text = value.to_string();
    match text.strip_suffix("/1") {
        Some(whole) => whole.to_string(),
        None => text,
    }
}

impl Mismatch {
    /// Returns the text of `Display` with decimals of six digits instead of fractions. Fractions remain if the
    /// decimals of both values are equal.
    pub fn rounded(&self) -> String {
        let (name, axis, values) = match self {
            Self::Origin(axis, values) => ("origin", *axis, values),
            Self::Spacing(axis, values) => ("cell size", *axis, values),
            _ => return self.to_string(),
        };
        let [old, new] = values.each_ref().map(|value| number(value.to_f64()));
        if old == new {
            return self.to_string();
        }
        format!("{name} along {}: {old} → {new}", AXES[axis])
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dims([a, b]) => {
                let [a, b] = [a, b].map(|[x, y, z]| format!("{x} × {y} × {z}"));
                write!(f, "dims: {a} → {b}")
            }
            Self::Origin(axis, [a, b]) => {
                write!(
                    f,
                    "origin along {}: {} → {}",
                    AXES[*axis],
                    exact_text(a),
                    exact_text(b)
                )
            }
            Self::Spacing(axis, [a, b]) => {
                write!(
                    f,
                    "cell size along {}: {} → {}",
                    AXES[*axis],
                    exact_text(a),
                    exact_text(b)
                )
            }
            Self::Closed(axis, [a, b]) => {
                let [a, b] = [a, b].map(|closed| if *closed { "closed" } else { "open" });
                write!(f, "end along {}: {a} → {b}", AXES[*axis])
            }
            Self::Unit([a, b]) => write!(f, "unit: {a} → {b}"),
            Self::Frame([a, b]) => {
                let [a, b] = [a, b].map(|axes| axes.as_deref().unwrap_or("x,y,z"));
                write!(f, "directions of the axes: {a} → {b}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::Snap;

    fn lattice(dims: [usize; 3], origin: i64, size: i64, closed: [bool; 3]) -> Lattice {
        let all = |n: i64| [(); 3].map(|()| Rational::new(n, 7));
        Lattice::new(dims, all(origin), all(size), closed).unwrap()
    }

    #[test]
    fn each_kind_is_named_with_both_values() {
        let base = lattice([3, 2, 1], 0, 7, [true; 3]);
        let named = |other: &Lattice| -> Vec<_> {
            lattices(&base, other)
                .iter()
                .map(Mismatch::to_string)
                .collect()
        };
        assert!(named(&base.clone().with_snap(Snap::None)).is_empty());
        let other = lattice([3, 2, 4], 0, 7, [true; 3]);
        assert_eq!(named(&other), ["dims: 3 × 2 × 1 → 3 × 2 × 4"]);
        let other = lattice([3, 2, 1], 1, 7, [true; 3]);
        assert_eq!(named(&other)[2], "origin along z: 0 → 1/7");
        let other = lattice([3, 2, 1], 0, 2, [true; 3]);
        assert_eq!(named(&other)[0], "cell size along x: 1 → 2/7");
        let other = lattice([3, 2, 1], 0, 7, [true, false, true]);
        assert_eq!(named(&other), ["end along y: closed → open"]);
        assert_eq!(named(&lattice([1; 3], 1, 1, [false; 3])).len(), 10);
    }

    #[test]
    fn rounded_values_are_decimals_if_they_differ() {
        let third = Rational::new(1, 3);
        let near = &third + &Rational::new(1, 1 << 40);
        let spacing = Mismatch::Spacing(2, [Rational::new(5, 8), Rational::new(81, 128)]);
        assert_eq!(spacing.rounded(), "cell size along z: 0.625 → 0.632812");
        let origin = Mismatch::Origin(0, [third.clone(), Rational::new(-85, 8)]);
        assert_eq!(origin.rounded(), "origin along x: 0.333333 → -10.625");
        let origin = Mismatch::Origin(0, [third, near]);
        assert_eq!(origin.rounded(), origin.to_string());
    }

    #[test]
    fn factors_of_confused_units_are_recognised() {
        let sides = [50.8, 25.4, 10.0];
        let size = |sides, tolerance| BoxSize { sides, tolerance };
        let scaled = |by: f64| sides.map(|side| (side + 0.04) * by);
        for (by, expected) in [
            (1.0 / 25.4, Some(1.0 / 25.4)),
            (25.4, Some(25.4)),
            (10.0, Some(10.0)),
            (0.001, Some(0.001)),
            (1.0, None),
            (20.0, None),
            (100.0, None),
        ] {
            let second = size(scaled(by), 0.1 * by);
            assert_eq!(
                confused_factor(&size(sides, 0.1), &second),
                expected,
                "{by}"
            );
        }
        for (second, tolerance) in [([10.0, 10.0, 1.0], 0.01), ([10.0; 3], 1.0)] {
            let [first, second] = [[1.0; 3], second].map(|sides| size(sides, tolerance));
            assert_eq!(confused_factor(&first, &second), None);
        }
    }
}
