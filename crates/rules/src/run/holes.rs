//! Sizes of the holes of a mesh, measured in cells.

use voxelize_core::geom::Rational;
use voxelize_core::grid::Lattice;
use voxelize_core::grid::axis::AxisMap;
use voxelize_meshes::boundary::Loop;

/// Returns, for each hole, the length of the longest side of its bounding box, in cells of `lattice`, rounded
/// up. Each side is divided by the side of a cell along the same axis, after snapping. The computation is
/// exact. A size that does not fit in 64 bits becomes `u64::MAX`.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::run::holes;
/// use voxelize::{Lattice, Mesh};
///
/// let cube = Mesh::open("fixtures/cube.stl")?;
/// let without_two = Mesh::from_triangles(cube.triangles()[2..].to_vec())?;
/// let lattice = Lattice::fit(cube.bounds(), 100)?;
/// assert_eq!(holes::sides(&without_two.holes()?, &lattice), [100]);
/// # Ok::<(), voxelize::Error>(())
/// ```
pub fn sides(holes: &[Loop], lattice: &Lattice) -> Vec<u64> {
    let axes: [AxisMap; 3] = std::array::from_fn(|axis| lattice.axis(axis));
    holes.iter().map(|hole| side(hole, &axes)).collect()
}

fn side(hole: &Loop, axes: &[AxisMap; 3]) -> u64 {
    let bounds = hole.bounds();
    let mut longest = 0;
    for (a, axis) in axes.iter().enumerate() {
        let extent: Rational = axis.index(bounds.max[a]) - axis.index(bounds.min[a]);
        let cells = match extent.ceil() {
            Some(cells) => u64::try_from(cells).unwrap_or(u64::MAX),
            None => u64::MAX,
        };
        longest = longest.max(cells);
    }
    longest
}

/// Splits the holes into those that are at most `most` cells long and all others. Both lists keep the order.
pub(crate) fn parted(holes: Vec<Loop>, lattice: &Lattice, most: u32) -> [Vec<Loop>; 2] {
    let sides = sides(&holes, lattice);
    let mut small = vec![];
    let mut large = vec![];
    for (hole, side) in holes.into_iter().zip(sides) {
        if side <= u64::from(most) {
            small.push(hole);
        } else {
            large.push(hole);
        }
    }
    [small, large]
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::Snap;

    fn around(points: [[f32; 3]; 3]) -> Loop {
        Loop {
            points: points.into(),
        }
    }

    #[test]
    fn sides_are_counted_in_cells_of_their_axis_and_exactly() {
        let size = [Rational::new(1, 10), Rational::from(1), Rational::from(3)];
        let lattice = Lattice::new([9; 3], [0, 0, 0].map(Rational::from), size, [true; 3]).unwrap();
        let hole = |high: [f32; 3]| around([[0.0; 3], high, [0.0, high[1], 0.0]]);
        // The 32-bit float nearest to 0.3 is greater than 0.3 and snaps to 0.3.
        let holes = [
            [0.3, 1.0, 1.0],
            [0.301, 1.0, 1.0],
            [0.3, 4.0, 1.0],
            [0.3, 4.5, 1.0],
            [0.3, 4.0, 12.5],
            [0.0, 3e38, 0.0],
        ];
        let holes = holes.map(hole);
        assert_eq!(sides(&holes, &lattice), [3, 4, 4, 5, 5, u64::MAX]);
        let bits = lattice.clone().with_snap(Snap::None);
        assert_eq!(sides(&holes[..1], &bits), [4]);
        let [small, large] = parted(holes.to_vec(), &lattice, 4);
        assert_eq!((&small[..], &large[..]), (&holes[..3], &holes[3..]));
    }
}
