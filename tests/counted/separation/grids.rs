//! Lattices for a shape: all its sizes, at several places relative to its vertices.

use voxelize::{Fit, Lattice, Rational, Size, Snap};

use super::shapes::Shape;

/// Returns fitted lattices with and without padding, then with walls and with centres through integers, and
/// with walls a quarter of a cell next to integers.
pub fn lattices(shape: &Shape) -> Vec<Lattice> {
    let mut lattices = vec![];
    for &halves in &shape.sizes {
        let size = Rational::new(halves, 2);
        let fit =
            || Fit::new(Size::Spacing([size.clone(), size.clone(), size.clone()])).snap(Snap::None);
        let part = |n: i64| &size * &Rational::new(n, 4);
        let fits = [
            fit(),
            fit().pad(1),
            fit().origin([part(0), part(0), part(0)]),
            fit().origin([part(2), part(2), part(2)]),
            fit().origin([part(0), part(1), part(2)]),
        ];
        lattices.extend(
            fits.iter()
                .map(|fit| fit.to(shape.mesh.bounds()).expect("it fits")),
        );
    }
    assert!(lattices.len() >= 5);
    lattices
}

/// Returns unit cells with walls through integers.
pub fn whole_cells(shape: &Shape) -> Lattice {
    let fit = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from)))
        .origin([0, 0, 0].map(Rational::from));
    fit.snap(Snap::None)
        .to(shape.mesh.bounds())
        .expect("it fits")
}

/// Reports whether the mesh reaches the last wall of an axis.
pub fn ends_on_last_walls(shape: &Shape, lattice: &Lattice) -> bool {
    let max = shape.mesh.bounds().max;
    (0..3).any(|a| lattice.axis(a).index(max[a]) == Rational::from(lattice.dims()[a] as i64))
}
