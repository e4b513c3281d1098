//! The places of occupied cells alone contain the same information as all cells.

use std::io::Write as _;

use voxelize::format::Choice;
use zip::write::SimpleFileOptions;

use super::kinds::{Split, grids};
use super::*;

const CHOICES: [Choice; 2] = [Choice::SparseIndices, Choice::SparseRuns];

fn npz() -> &'static Format {
    format::by_name("npz").unwrap()
}

fn written(source: &mut Split, choice: Choice) -> Vec<u8> {
    let options = SaveOptions {
        choices: &[choice],
        ..SaveOptions::default()
    };
    let mut bytes = Vec::new();
    format::write_source_to(source, &mut bytes, npz(), &options).unwrap();
    bytes
}

#[test]
fn sparse_arrays_come_back_as_they_were_from_slabs_of_any_height() {
    let mut seen = 0;
    for voxels in grids() {
        for choice in CHOICES {
            let bytes = written(&mut Split::new(&voxels, 11), choice);
            let back = read(&bytes, npz(), None).unwrap();
            assert_eq!(back, voxels, "{choice:?} {:?}", voxels.cells);
            assert_eq!(back.digest(), voxels.digest());
            assert!(
                written(&mut Split::new(&voxels, 4), choice) == bytes,
                "{choice:?}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 26, "{seen}");
    for bits in [
        f_grid(),
        BitGrid::new([5, 6, 7]).unwrap(),
        scattered([200, 3, 2]),
    ] {
        let voxels = at_odd_place(bits);
        for choice in CHOICES {
            let options = SaveOptions {
                choices: &[choice],
                ..SaveOptions::default()
            };
            let mut bytes = Vec::new();
            format::write_to(&voxels, &mut bytes, npz(), &options).unwrap();
            assert_eq!(read(&bytes, npz(), None).unwrap(), voxels, "{choice:?}");
        }
    }
}

/// Returns an archive of arrays: name, type, shape, data.
pub(super) fn archive(arrays: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, descr, shape, data) in arrays {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default())
            .unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(dict.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(dict.as_bytes()).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn longs(values: &[i64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

#[test]
fn indices_of_numpy_are_read_and_lies_are_errors() {
    let of = |shape: &[i64], rows: &str, indices: &[i64]| {
        archive(&[
            ("shape", "<i8", "(3,)", longs(shape)),
            ("indices", "<i8", rows, longs(indices)),
        ])
    };
    let found = read(&of(&[4, 3, 2], "(2, 3)", &[3, 0, 1, 1, 2, 0]), npz(), None).unwrap();
    assert_eq!(
        found.occupied().unwrap().iter().collect::<Vec<_>>(),
        [[1, 2, 0], [3, 0, 1]]
    );
    let labelled = archive(&[
        ("shape", "<i8", "(3,)", longs(&[4, 3, 2])),
        ("runs", "<i8", "(2, 4)", longs(&[0, 0, 0, 3, 3, 2, 1, 1])),
        ("values", "|u1", "(2,)", vec![9, 4]),
    ]);
    let labelled = read(&labelled, npz(), None).unwrap();
    assert_eq!(labelled.labels().unwrap().counts(), [(4, 1), (9, 3)]);
    let long = "(1, 3)";
    let mut seen = 0;
    for (bytes, code) in [
        (of(&[4, 3, 2], long, &[4, 0, 0]), "V009"),
        (of(&[4, 3, 2], long, &[-1, 0, 0]), "V009"),
        (of(&[4, 3, 2], "(99, 3)", &[0, 0, 0]), "V005"),
        (of(&[4, 3, 2], "(3,)", &[0, 0, 0]), "V004"),
        (of(&[4, 0, 2], long, &[0, 0, 0]), "V004"),
        (of(&[4, -3, 2], long, &[0, 0, 0]), "V004"),
        (of(&[4, 3], long, &[0, 0, 0]), "V004"),
        (
            archive(&[
                ("shape", "<i8", "(3,)", longs(&[4, 3, 2])),
                ("runs", "<i8", "(1, 4)", longs(&[2, 0, 0, 3])),
            ]),
            "V009",
        ),
        (
            archive(&[
                ("shape", "<i8", "(3,)", longs(&[4, 3, 2])),
                ("indices", "<i8", long, longs(&[0, 0, 0])),
                ("values", "|u1", "(2,)", vec![1, 2]),
            ]),
            "V005",
        ),
    ] {
        let error = read(&bytes, npz(), None).unwrap_err();
        assert_eq!(error.code().name(), code, "{error}, case {seen}");
        seen += 1;
    }
    assert_eq!(seen, 9);
    let far = read(
        &of(&[1 << 24, 1 << 24, 1 << 24], long, &[0, 0, 0]),
        npz(),
        None,
    )
    .unwrap_err();
    assert_eq!(far.kind(), voxelize::Kind::TooLarge);
}

#[test]
fn sparse_files_that_are_cut_or_changed_never_panic() {
    let mut errors = 0;
    let mut seen = 0;
    for choice in CHOICES {
        let bytes = written(&mut Split::new(&grids()[8], 11), choice);
        for length in (0..bytes.len()).step_by(37) {
            assert!(read(&bytes[..length], npz(), None).is_err(), "{length}");
        }
        for at in (0..bytes.len()).step_by(5) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x55;
            errors += usize::from(read(&bytes, npz(), None).is_err());
            seen += 1;
        }
    }
    assert!(seen > 500 && errors > seen / 2, "{errors} of {seen}");
}
