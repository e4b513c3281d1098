//! The places of occupied cells alone contain the same information as all cells.

use std::io::Write as _;

use zip::write::SimpleFileOptions;

use super::kinds::{Split, grids};
use super::*;

const CHOICES: [Choice; 2] = [Choice::SparseIndices, Choice::SparseRuns];

fn npz() -> &'static Format {
    named("npz")
}

/// Writes cells from slabs of this height.
fn from_slabs(voxels: &Voxels, height: usize, choice: Choice) -> Vec<u8> {
    let mut source = Split::new(voxels, height);
    let mut bytes = Vec::new();
    format::write_source_to(&mut source, &mut bytes, npz(), &with_choices(&[choice])).unwrap();
    bytes
}

#[test]
fn sparse_arrays_come_back_as_they_were_from_slabs_of_any_height() {
    let bits = [
        f_grid(),
        BitGrid::new([5, 6, 7]).unwrap(),
        scattered([200, 3, 2]),
    ];
    let mut seen = 0;
    for voxels in grids().into_iter().chain(bits.map(at_odd_place)) {
        for choice in CHOICES {
            let bytes = written(&voxels, npz(), &with_choices(&[choice])).unwrap();
            let back = read(&bytes, npz(), None).unwrap();
            assert_eq!(back, voxels, "{choice:?} {:?}", voxels.cells);
            assert_eq!(back.digest(), voxels.digest());
            for height in [4, 11] {
                let slabs = from_slabs(&voxels, height, choice);
                assert!(slabs == bytes, "{choice:?}, {height}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 32, "{seen}");
}

/// Returns an archive of arrays: name, type, shape, data.
pub(super) fn archive(arrays: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, descr, shape, data) in arrays {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (dict.len() as u16).to_le_bytes();
        let array = [b"\x93NUMPY\x01\x00", &length[..], dict.as_bytes(), data].concat();
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default())
            .unwrap();
        zip.write_all(&array).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn longs(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Reads an archive of a shape and one other array of numbers, with these values if there are any.
fn claimed(
    shape: &[i64],
    name: &str,
    rows: &str,
    numbers: &[i64],
    values: &[u8],
) -> Result<Voxels> {
    let mut arrays = vec![
        ("shape", "<i8", "(3,)", longs(shape)),
        (name, "<i8", rows, longs(numbers)),
    ];
    if !values.is_empty() {
        arrays.push(("values", "|u1", "(2,)", values.to_vec()));
    }
    read(&archive(&arrays), npz(), None)
}

#[test]
fn indices_of_numpy_are_read_and_lies_are_errors() {
    const SHAPE: &[i64] = &[4, 3, 2];
    let found = claimed(SHAPE, "indices", "(2, 3)", &[3, 0, 1, 1, 2, 0], &[]).unwrap();
    assert_eq!(occupied_cells(&found), [[1, 2, 0], [3, 0, 1]]);
    let runs = [0, 0, 0, 3, 3, 2, 1, 1];
    let labelled = claimed(SHAPE, "runs", "(2, 4)", &runs, &[9, 4]).unwrap();
    assert_eq!(labelled.labels().unwrap().counts(), [(4, 1), (9, 3)]);
    for (shape, rows, indices, code) in [
        (SHAPE, "(1, 3)", [4, 0, 0], "V009"),
        (SHAPE, "(1, 3)", [-1, 0, 0], "V009"),
        (SHAPE, "(99, 3)", [0, 0, 0], "V005"),
        (SHAPE, "(3,)", [0, 0, 0], "V004"),
        (&[4, 0, 2], "(1, 3)", [0, 0, 0], "V004"),
        (&[4, -3, 2], "(1, 3)", [0, 0, 0], "V004"),
        (&[4, 3], "(1, 3)", [0, 0, 0], "V004"),
        (&[1 << 24; 3], "(1, 3)", [0, 0, 0], "too-large"),
    ] {
        let found = claimed(shape, "indices", rows, &indices, &[]);
        check_error(found, code, (shape, rows, indices));
    }
    let far = claimed(SHAPE, "runs", "(1, 4)", &[2, 0, 0, 3], &[]);
    check_error(far, "V009", "a run beyond its row");
    let more = claimed(SHAPE, "indices", "(1, 3)", &[0, 0, 0], &[1, 2]);
    check_error(more, "V005", "more values than cells");
}

#[test]
fn sparse_files_that_are_cut_or_changed_never_panic() {
    let [mut errors, mut seen] = [0; 2];
    for choice in CHOICES {
        let mut bytes = from_slabs(&grids()[8], 11, choice);
        for length in (0..bytes.len()).step_by(37) {
            assert!(read(&bytes[..length], npz(), None).is_err(), "{length}");
        }
        for at in (0..bytes.len()).step_by(5) {
            bytes[at] ^= 0x55;
            errors += usize::from(read(&bytes, npz(), None).is_err());
            bytes[at] ^= 0x55;
            seen += 1;
        }
    }
    assert!(seen > 500 && errors > seen / 2, "{errors} of {seen}");
}
