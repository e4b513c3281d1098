//! Readers of folders: nodes, shards and chunks of Zarr. The input consists of files, one after the other:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | the index of the name in [`NAMES`] |
//! | 3 | length, little-endian; if the input is shorter, its rest |
//! | … | the file |

use std::fs;
use std::path::Path;

use voxelize::format::{self, SaveOptions};
use voxelize::{BitGrid, Kind, Voxels};

use crate::{check_error, within};

/// Names of files: of a group, of an array, and of chunks in every naming scheme.
const NAMES: [&str; 12] = [
    "zarr.json",
    "0/zarr.json",
    "0/c/0/0/0",
    "0/c/1/0/0",
    "0/c/0/1/0",
    "0/c/0/0/1",
    "c/0/0/0",
    "c/1/1/1",
    "c.0.0.0",
    "0.0.0",
    "0/0/0",
    "1/zarr.json",
];

/// Larger grids, in words, are not written again.
const SMALL: u128 = 1 << 14;

/// Reads the folder, and writes and reads the result again.
pub fn check(bytes: &[u8]) {
    let place = tempfile::tempdir().expect("a folder for temporary ones");
    let folder = place.path().join("a.zarr");
    fs::create_dir(&folder).expect("room for an input");
    write(&folder, bytes);
    // A chunk is unpacked in addition to its row, and both are copied.
    let enough = (16 << 20) + 4 * 1032 * bytes.len();
    let said = within(enough, || format::describe(&folder));
    match within(enough, || format::open(&folder)) {
        Ok(found) => {
            let said = said.expect("what can be read can be described").metadata;
            assert_eq!(
                (said.dims, &said.lattice),
                (Some(found.dims()), &found.lattice)
            );
            check_again(&found, place.path());
        }
        Err(error) if error.kind() == Kind::Usage => panic!("{error}"),
        Err(error) => check_error(&error, 'V', bytes.len()),
    }
}

fn write(folder: &Path, mut bytes: &[u8]) {
    while let [name, a, b, c, rest @ ..] = bytes {
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        let (file, after) = rest.split_at(length.min(rest.len()));
        bytes = after;
        let path = folder.join(NAMES[usize::from(*name) % NAMES.len()]);
        // A name may denote a folder and a file. The first one is kept.
        if path
            .parent()
            .is_some_and(|parent| fs::create_dir_all(parent).is_ok())
            && !path.is_dir()
        {
            fs::write(path, file).expect("room for an input");
        }
    }
}

fn check_again(found: &Voxels, place: &Path) {
    if BitGrid::bytes_for(found.dims()) > 8 * SMALL {
        return;
    }
    let zarr = format::by_name("zarr").expect("a format");
    let path = place.join("b.zarr");
    format::save(found, &path, zarr, &SaveOptions::default()).expect("a small grid");
    assert_eq!(format::open(&path).expect("it was written"), *found);
}
