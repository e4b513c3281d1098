//! Folders of Zarr: written by this tool, and arrays of other programs in tiny chunks.

use std::path::Path;

use voxelize::format::{self, Choice, SaveOptions};

use super::Seeds;
use super::voxels::all;

/// Names that the target knows.
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

fn packed(name: usize, file: &[u8]) -> Vec<u8> {
    [
        &[name as u8][..],
        &(file.len() as u32).to_le_bytes()[..3],
        file,
    ]
    .concat()
}

fn folder(path: &Path) -> Vec<u8> {
    let mut bytes = vec![FOLDER];
    for (n, name) in NAMES.iter().enumerate() {
        if let Ok(file) = std::fs::read(path.join(name)) {
            bytes.extend(packed(n, &file));
        }
    }
    bytes
}

/// First byte of the files of a folder.
const FOLDER: u8 = 0xff;

/// Returns every grid and choice, and arrays of two cells per side.
pub fn files() -> Seeds {
    let place = tempfile::tempdir().expect("a folder for temporary files");
    let path = place.path().join("a.zarr");
    let zarr = format::by_name("zarr").expect("a format");
    let mut seeds = Seeds::new();
    for (name, voxels) in all() {
        for choices in [&[][..], &[Choice::Uncompressed]] {
            format::save(
                &voxels,
                &path,
                zarr,
                &SaveOptions {
                    choices,
                    ..SaveOptions::default()
                },
            )
            .expect("a small folder");
            seeds.push((format!("zarr-{name}-{}", choices.len()), folder(&path)));
        }
    }
    for (case, (chunk, codecs, encoding, at)) in [
        ("2,2,2", r#"{"name":"bytes"}"#, "default", 6),
        (
            "1,2,2",
            r#"{"name":"bytes","configuration":{"endian":"little"}}"#,
            "default",
            6,
        ),
        ("2,2,2", r#"{"name":"bytes"},{"name":"crc32c"}"#, "v2", 9),
        (
            "4,4,4",
            r#"{"name":"transpose","configuration":{"order":[0,1,2]}},"bytes""#,
            "v2",
            9,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let node = format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[2,2,2],"data_type":"uint8","fill_value":{case},
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[{chunk}]}}}},
            "chunk_key_encoding":{{"name":"{encoding}"}},"codecs":[{codecs}],"dimension_names":["x","y","z"]}}"#
        );
        let cells: Vec<u8> = (0..if case == 3 { 64 } else { 8 }).map(|n| n % 3).collect();
        let files = [packed(0, node.as_bytes()), packed(at, &cells)].concat();
        seeds.push((format!("zarr-array-{case}"), [&[FOLDER], &*files].concat()));
    }
    seeds
}
