//! Inconsistent data is rejected, and nothing is written.

use voxelize::view::{self, View};

use super::*;

fn one_cell() -> BitGrid {
    let mut cells = BitGrid::new([3, 4, 6]).unwrap();
    cells.set([1, 1, 1]);
    cells
}

/// Regression: a lattice with other dims than the cells was saved and could not be read again.
#[test]
fn voxels_whose_lattice_and_cells_disagree_are_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let voxels = Voxels {
        lattice: at_odd_place(BitGrid::new([3, 4, 5]).unwrap()).lattice,
        ..Voxels::new(one_cell())
    };
    let options = SaveOptions::default();
    let mut seen = 0;
    for format in readable() {
        let path = path_of(&folder, format);
        let error = format::save(&voxels, &path, format, &options).unwrap_err();
        assert_eq!((error.kind(), path.exists()), (Kind::Usage, false));
        let error = written(&voxels, format, &options).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{format:?}");
        seen += 1;
    }
    assert!(seen > 2);
}

/// Regression: cells of size zero or of an undefined size ended in a panic or in an empty picture.
#[test]
fn pictures_of_cells_without_a_size_are_refused() {
    let view = View {
        size: [40, 30],
        ..View::default()
    };
    assert!(view::cells(&one_cell(), [1.0; 3], &view).is_ok());
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 4.0] {
        let error = view::cells(&one_cell(), [1.0, size, 1.0], &view).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{size}");
    }
}
