//! Two grids whose cells are aligned, in a common frame: the smallest grid that contains both.

use voxelize::grid::MAX_DIM;
use voxelize::{BitGrid, Lattice, Rational, Result, Voxels};

/// Number of bits per cell of the frame for two grids, the labels of their cells and the cells that differ.
const BITS: u128 = 2 + 3 + 2;

/// Maximum number of bits per cell of the first grid: its label, and whether the cell is occupied.
const FIRST_BITS: u128 = 8 + 1;

/// Cells of a frame that are always accepted, and the maximum size of a larger frame as a multiple of the grids in it.
const SMALL: u128 = 1 << 20;
const LARGEST: u128 = 4;

/// The cells of two grids, on one lattice.
pub struct CommonFrame {
    pub first: BitGrid,
    pub second: BitGrid,
    pub lattice: Lattice,
}

impl CommonFrame {
    /// Creates the frame of two grids. `None` if their cells are not aligned, if a grid has no lattice or is a field,
    /// or if the frame is too large because the grids are far apart. `room` limits the memory of
    /// the first grid and of the frame, in bytes.
    pub fn of(first: &Voxels, second: &Voxels, room: Option<u64>) -> Result<Option<Self>> {
        let (Some(one), Some(other)) = (&first.lattice, &second.lattice) else {
            return Ok(None);
        };
        let (Ok(first), Ok(second)) = (first.occupied(), second.occupied()) else {
            return Ok(None);
        };
        let Some(steps) = steps(one, other) else {
            return Ok(None);
        };
        let low = steps.map(|step| step.min(0));
        let mut dims = [0; 3];
        for axis in 0..3 {
            let high = (one.dims()[axis] as i64).max(steps[axis] + other.dims()[axis] as i64);
            dims[axis] = (high - low[axis]) as usize;
        }
        let cells: u128 = dims.iter().map(|n| *n as u128).product();
        let is_small = cells <= SMALL.max(LARGEST * (one.cells() + other.cells()));
        let bits = cells * BITS + one.cells() * FIRST_BITS;
        let fits = room.is_none_or(|room| bits / 8 <= u128::from(room));
        if !is_small || !fits || dims.iter().any(|n| *n > MAX_DIM) {
            return Ok(None);
        }
        let mut origin = one.origin().clone();
        for axis in 0..3 {
            let shift = &one.spacing()[axis] * &Rational::from(low[axis]);
            origin[axis] = &origin[axis] + &shift;
        }
        let lattice = Lattice::new(dims, origin, one.spacing().clone(), [false; 3])?;
        let at = low.map(|step| -step);
        let other_at = [0, 1, 2].map(|axis| steps[axis] - low[axis]);
        Ok(Some(Self {
            first: placed(first, dims, at)?,
            second: placed(second, dims, other_at)?,
            lattice,
        }))
    }
}

/// Returns the position of the second lattice in cells of the first one. `None` if their cells are not aligned.
fn steps(first: &Lattice, second: &Lattice) -> Option<[i64; 3]> {
    /// Larger distances would overflow sums of steps and dims.
    const FARTHEST: i64 = 1 << 40;
    let mut steps = [0; 3];
    for (axis, step) in steps.iter_mut().enumerate() {
        let side = &first.spacing()[axis];
        let distance = &(&second.origin()[axis] - &first.origin()[axis]) / side;
        *step = distance.floor()?;
        let is_whole = Rational::from(*step) == distance;
        if *side != second.spacing()[axis] || !is_whole || step.abs() > FARTHEST {
            return None;
        }
    }
    Some(steps)
}

/// Returns cells in a larger grid, moved by this number of cells.
fn placed(cells: &BitGrid, dims: [usize; 3], at: [i64; 3]) -> Result<BitGrid> {
    let mut placed = BitGrid::new(dims)?;
    for cell in cells.iter() {
        placed.set([0, 1, 2].map(|axis| cell[axis] + at[axis] as usize));
    }
    Ok(placed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize::Record;
    use voxelize::compare::Difference;

    fn voxels(text: &str, origin: [Rational; 3], side: i64) -> Voxels {
        let bits = BitGrid::from_text(text).unwrap();
        let side = [side; 3].map(Rational::from);
        let lattice = Lattice::new(bits.dims(), origin, side, [true; 3]).unwrap();
        Voxels {
            cells: bits.into(),
            lattice: Some(lattice),
            record: Record::default(),
        }
    }

    #[test]
    fn cells_are_compared_by_their_position() {
        let at = |x: i64| [Rational::from(x), Rational::ZERO, Rational::ZERO];
        let golden = voxels("##.#", at(0), 2);
        for (text, x, dims, counts) in [
            ("##.#", 0, [4, 1, 1], (3, 0, 0)),
            ("#.#", 2, [4, 1, 1], (2, 0, 1)),
            (".##.#..", -2, [7, 1, 1], (3, 0, 0)),
            ("##", 12, [8, 1, 1], (0, 2, 3)),
        ] {
            let now = voxels(text, at(x), 2);
            let frame = CommonFrame::of(&golden, &now, None).unwrap().unwrap();
            let found = Difference::between(&frame.first, &frame.second).unwrap();
            assert_eq!(frame.first.dims(), dims, "{text}");
            assert_eq!((found.common, found.added, found.removed), counts, "{text}");
            assert_eq!(frame.lattice.origin(), &at(x.min(0)), "{text}");
        }
    }

    #[test]
    fn grids_without_a_common_frame() {
        let at = |x: Rational| [x, Rational::ZERO, Rational::ZERO];
        let golden = voxels("##.#", at(Rational::ZERO), 2);
        for (x, side, room) in [
            (Rational::from(1), 2, None),
            (Rational::from(0), 1, None),
            (Rational::from(1 << 40), 2, None),
            (Rational::new(1, 3), 2, None),
            (Rational::from(2000), 2, Some(10)),
        ] {
            let now = voxels("##", at(x), side);
            assert!(CommonFrame::of(&golden, &now, room).unwrap().is_none());
        }
    }
}
