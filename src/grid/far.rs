//! Meshes far from the origin: 32-bit floats are coarser there than the cells are fine.

use super::lattice::{AXES, Lattice};
use crate::error::{Code, Error};
use crate::geom::{Bounds, Rational};

/// A float step above this part of a cell is worth a word: faces may be off by so much, unseen.
const PART: i64 = 100;

impl Lattice {
    /// The finding, code `L001`, that a mesh of these bounds is so far from the origin that the floats of
    /// its coordinates are more than a hundredth of a cell apart; of the worst axis.
    pub fn far_from_origin(&self, mesh: &Bounds) -> Option<Error> {
        let coarse = (0..3).filter_map(|axis| {
            let farthest = mesh.min[axis].abs().max(mesh.max[axis].abs());
            let step = step(farthest)?;
            let spacing = &self.spacing()[axis];
            (&Rational::from_f64(step)? * &Rational::from(PART) > *spacing)
                .then(|| (axis, farthest, step, step / spacing.to_f64()))
        });
        let (axis, farthest, step, _) = coarse.max_by(|a, b| a.3.total_cmp(&b.3))?;
        let name = AXES[axis];
        let size = self.spacing()[axis].to_f64();
        let message = format!(
            "far from the origin: 32-bit floats near {name} = {farthest} are {step} apart, where cells are {size}"
        );
        let hint = "move the mesh to the origin in the program that made it, and export it again";
        Some(Error::input(Code::L001, message).with_hint(hint))
    }
}

/// The distance from a float to the next; none if there is none.
fn step(magnitude: f32) -> Option<f64> {
    let step = f64::from(magnitude.next_up()) - f64::from(magnitude);
    step.is_finite().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_from_a_hundredth_of_a_cell_on() {
        let at = |x: f32, size: i64| {
            let bounds = Bounds::of(&[[[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, 0.0]]]);
            let spacing = [(); 3].map(|()| Rational::new(size, 100));
            let lattice = Lattice::new([1; 3], [(); 3].map(|()| Rational::ZERO), spacing, [true; 3]);
            lattice.unwrap().far_from_origin(&bounds).map(|error| error.message().to_string())
        };
        // From 2^17 on floats are 1/64 apart.
        assert_eq!((at(100_000.0, 100), at(100_000.0, 79)), (None, None));
        let says =
            "far from the origin: 32-bit floats near x = 200001 are 0.015625 apart, where cells are 1.5";
        assert_eq!(at(200_000.0, 150).as_deref(), Some(says));
        assert_eq!((at(-200_000.0, 157), at(-200_000.0, 156).is_some()), (None, true));
        assert_eq!(at(0.0, 1), None);
        assert!(at(f32::MAX, 1).is_none(), "no step, and no lattice either");
    }
}
