//! Slabs of any height, from any number of threads, make the bytes of the whole, in every format with every
//! type and choice.

use voxelize::par;

use super::kinds::{Split, grids};
use super::*;

/// Writes cells from slabs of this height.
pub(super) fn from_slabs(
    voxels: &Voxels,
    height: usize,
    format: &Format,
    options: &SaveOptions,
) -> Vec<u8> {
    let mut bytes = vec![];
    let mut source = Split::new(voxels, height);
    format::write_source_to(&mut source, &mut bytes, format, options).unwrap();
    bytes
}

/// Returns the accepted options for these voxels.
fn accepted(voxels: &Voxels, format: &'static Format) -> Vec<SaveOptions<'static>> {
    let dtypes: &[_] = match voxels.kind() {
        CellKind::Field => &[None],
        _ => &[None, Some(Dtype::Bool), Some(Dtype::U8), Some(Dtype::Bit)],
    };
    let mut all = vec![];
    let single = format.choices.iter().map(std::slice::from_ref);
    for choices in single.chain([&[][..]]) {
        for &dtype in dtypes {
            let options = SaveOptions {
                dtype,
                choices,
                ..SaveOptions::default()
            };
            let lattice = voxels.lattice.as_ref().unwrap();
            // Fields that are not shares of cells.
            if voxels.kind() == CellKind::Field && format.has_greys() {
                continue;
            }
            if format::check(voxels.kind(), lattice, format, &options).is_ok() {
                all.push(options);
            }
        }
    }
    all
}

#[test]
fn slabs_and_threads_make_the_bytes_of_the_whole() {
    // Rows of one word and of several, whole words, and no cell.
    let dims = [
        [65, 7, 3],
        [130, 9, 11],
        [70, 9, 40],
        [1, 40, 30],
        [40, 30, 1],
    ];
    let mut bits: Vec<_> = dims.map(scattered).into();
    bits.extend([f_grid(), full([64, 2, 2]), BitGrid::new([5, 4, 3]).unwrap()]);
    let mut all: Vec<_> = bits.into_iter().map(at_odd_place).chain(grids()).collect();
    let labels = all.iter().find(|voxels| voxels.kind() == CellKind::Labels);
    all.extend([
        with_y_up(all[1].clone()),
        with_y_up(labels.unwrap().clone()),
    ]);
    for format in FORMATS.iter().filter(|format| !format.is_folder()) {
        let mut compared = 0;
        for voxels in &all {
            for options in accepted(voxels, format) {
                let whole = written(voxels, format, &options).unwrap();
                for (height, threads) in [(1_usize, 1), (4, 3), (7, 2)] {
                    let height = height.next_multiple_of(format.slab_layers);
                    let slabs = || from_slabs(voxels, height, format, &options);
                    assert!(
                        par::with_threads(threads, slabs).unwrap() == whole,
                        "{format:?} {height} {:?} {:?} {:?}",
                        options.dtype,
                        options.choices,
                        voxels.cells
                    );
                    compared += 1;
                }
            }
        }
        // Each type and choice writes bits.
        assert!(
            compared >= 3 * 9 * (format.choices.len() + format.dtypes.len()),
            "{format:?} {compared}"
        );
    }
}
