//! Inconsistent data is rejected, and nothing is written.

use voxelize::format::{self, FORMATS, SaveOptions};
use voxelize::view::{self, View};
use voxelize::{BitGrid, Kind, Lattice, Rational, Voxels};

/// Regression: a lattice with other dims than the cells was saved and could not be read again.
#[test]
fn voxels_whose_lattice_and_cells_disagree_are_not_saved() {
    let place = tempfile::tempdir().unwrap();
    let one = || [0, 1, 2].map(|_| Rational::ONE);
    let lattice = Lattice::new(
        [3, 4, 5],
        [0, 1, 2].map(|_| Rational::ZERO),
        one(),
        [true; 3],
    )
    .unwrap();
    let mut cells = BitGrid::new([3, 4, 6]).unwrap();
    cells.set([1, 1, 1]);
    let voxels = Voxels {
        lattice: Some(lattice),
        ..Voxels::new(cells)
    };
    let mut seen = 0;
    for format in FORMATS.iter().filter(|format| format.is_readable()) {
        let path = place.path().join(format!("a.{}", format.extensions[0]));
        let error = format::save(&voxels, &path, format, &SaveOptions::default()).unwrap_err();
        assert_eq!(
            (error.kind(), path.exists()),
            (Kind::Usage, false),
            "{}",
            format.name
        );
        let error = format::write_to(&voxels, &mut Vec::new(), format, &SaveOptions::default())
            .unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{}", format.name);
        seen += 1;
    }
    assert!(seen > 2);
}

/// Regression: cells of size zero or of an undefined size ended in a panic or in an empty picture.
#[test]
fn pictures_of_cells_without_a_size_are_refused() {
    let mut cells = BitGrid::new([3, 4, 6]).unwrap();
    cells.set([1, 1, 1]);
    let view = View {
        size: [40, 30],
        ..View::default()
    };
    assert!(view::cells(&cells, [1.0; 3], &view).is_ok());
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 4.0] {
        let error = view::cells(&cells, [1.0, size, 1.0], &view).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{size}");
    }
}
