//! Reading the members of an archive.

use std::io::Read;

use zip::ZipArchive;

use crate::npy::Header;
use crate::open::{Input, failure};
use voxelize_core::error::{Code, Error, Result, sanitize};

/// Maximum size of a small member in bytes.
pub(super) const MAX_SMALL: u64 = 1 << 20;

/// Maximum number of bytes that one deflated byte can unpack to.
pub(super) const MOST_DEFLATED: u64 = 1032;

/// Size in bytes above which a compressed length may not fit into 32 bits. It is less than 2³², because data
/// that cannot be compressed become a little longer when deflated.
pub(super) const LARGE: u128 = 0xf000_0000;

pub(super) type Archive<'a> = ZipArchive<&'a mut dyn Input>;

/// Returns `true` if the archive has an array with this name.
pub(super) fn has(archive: &Archive, name: &str) -> bool {
    archive.index_for_name(&format!("{name}.npy")).is_some()
}

/// Reads the header and the data of a small array. `None` if the archive does not have it.
pub(super) fn small(archive: &mut Archive, name: &str) -> Result<Option<(Header, Vec<u8>)>> {
    let name = format!("{name}.npy");
    if archive.index_for_name(&name).is_none() {
        return Ok(None);
    }
    let file = archive.by_name(&name).map_err(broken)?;
    let mut file = file.take(MAX_SMALL);
    let header = Header::read(&mut file).map_err(|error| in_member(error, &name))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| in_member(failure(error), &name))?;
    Ok(Some((header, bytes)))
}

pub(super) fn in_member(error: Error, name: &str) -> Error {
    let named = Error::input(
        error.code(),
        format!("{}: {}", sanitize(name), error.message()),
    );
    match error.hint() {
        _ if error.kind() != voxelize_core::error::Kind::Input => error,
        Some(hint) => named.with_hint(hint),
        None => named,
    }
}

pub(super) fn broken(error: zip::result::ZipError) -> Error {
    match error {
        zip::result::ZipError::Io(error) => failure(error),
        other => Error::input(Code::V003, format!("the zip archive is broken: {other}")),
    }
}
