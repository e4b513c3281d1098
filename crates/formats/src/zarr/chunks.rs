//! The files of an array and the chunks in them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::NOT_STORED;
use super::crc32c::crc32c;
use super::node::{ByteCodec, Sharding, ZarrArray, regular_file};
use crate::open::failure;
use crate::packed::gunzip;
use voxelize_core::error::{Code, Error, Result};

/// Maximum size of a chunk that is read, in bytes.
const MOST: usize = 1 << 30;

/// Files of an array. The key is the position of a file along the two slower axes. The value lists the files
/// at this position with their position along the fastest axis.
pub(super) type FileRows = BTreeMap<[usize; 2], Vec<(usize, PathBuf)>>;

impl ZarrArray {
    /// Returns all files that exist and have cells of the array. The array may state any size, but the work
    /// is bounded by the number of files.
    pub(super) fn files(&self) -> Result<FileRows> {
        let counts: [usize; 3] =
            std::array::from_fn(|axis| self.shape[axis].div_ceil(self.shard[axis]));
        let mut rows = FileRows::new();
        for ([z, y, x], path) in self.named_files()? {
            // If an array was cut, files beyond its new size may be left over.
            if z < counts[0] && y < counts[1] && x < counts[2] {
                rows.entry([z, y]).or_default().push((x, path));
            }
        }
        for row in rows.values_mut() {
            row.sort();
        }
        Ok(rows)
    }

    fn named_files(&self) -> Result<Vec<([usize; 3], PathBuf)>> {
        let mut found = vec![];
        if !self.names.are_folders {
            for (name, path) in entries(&self.folder)? {
                let numbers = if self.names.has_prefix {
                    name.strip_prefix("c.")
                } else {
                    Some(&*name)
                };
                if let Some(place) = numbers.and_then(place_of) {
                    found.push((place, path));
                }
            }
            return Ok(found);
        }
        let root = if self.names.has_prefix {
            self.folder.join("c")
        } else {
            self.folder.clone()
        };
        for (z, layer) in numbered(&root)? {
            for (y, row) in numbered(&layer)? {
                for (x, path) in numbered(&row)? {
                    found.push(([z, y, x], path));
                }
            }
        }
        Ok(found)
    }

    /// Returns the number of chunks along each axis of a file.
    pub(super) fn chunks_of_file(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.shard[axis] / self.chunk[axis])
    }

    /// Returns the size of a chunk's cells in bytes.
    ///
    /// # Errors
    /// Fails if a chunk is too large.
    pub(super) fn chunk_bytes(&self) -> Result<usize> {
        let all = self
            .chunk
            .iter()
            .try_fold(self.width(), |all, n| all.checked_mul(*n));
        all.filter(|all| *all <= MOST).ok_or_else(|| {
            let [z, y, x] = self.chunk;
            Error::too_large(format!("a chunk has {z} × {y} × {x} cells"))
                .with_hint("save it in smaller chunks")
        })
    }

    /// Decodes a chunk. `bytes` are its bytes in the file, and `length` is the size of its cells.
    pub(super) fn decoded(&self, mut bytes: Vec<u8>, length: usize) -> Result<Vec<u8>> {
        // The lengths before each step of encoding.
        let mut lengths = vec![length];
        for codec in &self.codecs {
            lengths
                .push(lengths[lengths.len() - 1] + if *codec == ByteCodec::Crc32c { 4 } else { 0 });
        }
        for (codec, length) in self.codecs.iter().zip(lengths).rev() {
            bytes = match codec {
                ByteCodec::Gzip => gunzip(&bytes, length).map_err(failure)?,
                ByteCodec::Crc32c => checked(bytes)?,
            };
        }
        if bytes.len() != length {
            let text = format!(
                "a chunk has {} bytes, not the {length} of its cells",
                bytes.len()
            );
            return Err(Error::input(Code::V005, text));
        }
        Ok(bytes)
    }
}

/// Removes the checksum at the end of the bytes. Fails if it is wrong.
fn checked(mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let sum = bytes.split_off(bytes.len().saturating_sub(4));
    if sum != crc32c(&bytes).to_le_bytes() {
        return Err(Error::input(
            Code::V003,
            "a checksum does not match the bytes before it",
        ));
    }
    Ok(bytes)
}

/// Parses a position such as `1.0.2`.
fn place_of(name: &str) -> Option<[usize; 3]> {
    let numbers: Option<Vec<usize>> = name.split('.').map(number).collect();
    numbers?.try_into().ok()
}

/// Returns the names in `folder` and their paths. Empty if the folder does not exist.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let found = match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => fs::read_dir(folder).map_err(failure)?,
        Ok(_) => return Err(Error::input(Code::V004, "is not a folder").in_file(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(failure(error).in_file(folder)),
    };
    let mut entries = vec![];
    for entry in found.flatten() {
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry.path()));
        }
    }
    Ok(entries)
}

fn numbered(folder: &Path) -> Result<Vec<(usize, PathBuf)>> {
    let mut found = vec![];
    for (name, path) in entries(folder)? {
        if let Some(number) = number(&name) {
            found.push((number, path));
        }
    }
    Ok(found)
}

/// Parses an integer that has no sign and no leading zeros.
fn number(text: &str) -> Option<usize> {
    text.parse()
        .ok()
        .filter(|number: &usize| number.to_string() == text)
}

/// File of an array, with the offset and the length of each chunk in it.
pub(super) struct ArrayFile {
    path: PathBuf,
    places: Vec<[u64; 2]>,
}

impl ArrayFile {
    /// Opens a file, and reads the offset and the length of each chunk.
    pub(super) fn open(path: PathBuf, array: &ZarrArray) -> Result<Self> {
        let places = places(&path, array).map_err(|error| error.in_file(&path))?;
        Ok(Self { path, places })
    }

    /// Returns `true` if the file contains this chunk.
    pub(super) fn has(&self, chunk: usize) -> bool {
        self.places[chunk] != [NOT_STORED; 2]
    }

    /// Reads the bytes of a chunk that the file contains.
    pub(super) fn read(&self, chunk: usize) -> Result<Vec<u8>> {
        self.try_read(chunk)
            .map_err(|error| error.in_file(&self.path))
    }

    fn try_read(&self, chunk: usize) -> Result<Vec<u8>> {
        let [offset, length] = self.places[chunk];
        let mut file = regular_file(&self.path)?;
        let mut bytes = vec![0; length as usize];
        file.seek(SeekFrom::Start(offset)).map_err(failure)?;
        file.read_exact(&mut bytes).map_err(failure)?;
        Ok(bytes)
    }

    /// Adds the file and the offset of a chunk to an error.
    pub(super) fn about(&self, chunk: usize, error: Error) -> Error {
        let [offset, _] = self.places[chunk];
        error.at_byte(offset).in_file(&self.path)
    }
}

/// Reads the offset and the length of each chunk, and checks that they are within the file.
fn places(path: &Path, array: &ZarrArray) -> Result<Vec<[u64; 2]>> {
    let mut file = regular_file(path)?;
    let length = file.metadata().map_err(failure)?.len();
    // Data that cannot be compressed become a little longer when deflated.
    let cells = array.chunk_bytes()? as u64;
    let most = cells + cells / 8 + 1024;
    let places = match array.sharding {
        None => vec![[0, length]],
        Some(sharding) => index(&mut file, length, array.chunks_of_file(), sharding)?,
    };
    for [offset, bytes] in places.iter().filter(|place| **place != [NOT_STORED; 2]) {
        if offset.checked_add(*bytes).is_none_or(|end| end > length) {
            let text = format!("a chunk of {bytes} bytes ends beyond the file, which has {length}");
            return Err(Error::input(Code::V002, text));
        }
        if *bytes > most {
            let text = format!("a chunk has {bytes} bytes, its cells have {cells}");
            return Err(Error::input(Code::V005, text).at_byte(*offset));
        }
    }
    Ok(places)
}

/// Reads the index of a shard, which states the offset and the length of each chunk.
fn index(
    file: &mut File,
    length: u64,
    counts: [usize; 3],
    sharding: Sharding,
) -> Result<Vec<[u64; 2]>> {
    let count = counts
        .iter()
        .fold(1_u64, |all, n| all.saturating_mul(*n as u64));
    let size = count
        .saturating_mul(16)
        .saturating_add(if sharding.has_checksum { 4 } else { 0 });
    if size > length {
        let text = format!(
            "the file ends early: an index of {count} chunks is expected, but only {length} bytes are left"
        );
        return Err(Error::input(Code::V002, text));
    }
    let start = if sharding.is_index_at_end {
        length - size
    } else {
        0
    };
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(start)).map_err(failure)?;
    file.read_exact(&mut bytes).map_err(failure)?;
    let bytes = if sharding.has_checksum {
        checked(bytes).map_err(|error| error.at_byte(start))?
    } else {
        bytes
    };
    let numbers: Vec<u64> = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    Ok(numbers.as_chunks::<2>().0.to_vec())
}
