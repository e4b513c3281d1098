//! Bytes of a glTF file: in the GLB, in `data:` URIs, or in files in its folder.

use std::cell::{Cell, OnceCell};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::document::{Document, GltfObject, unknown_extension};
use crate::read::source::{MeshFolder, note_beside, read_beside};
use voxelize_core::error::{Code, Error, Result};

/// Extensions for compressed views. A document that uses them may have a fallback buffer with the
/// uncompressed bytes.
const COMPRESSIONS: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Buffers of a document.
pub(super) struct Buffers<'a> {
    pub document: &'a Document,
    /// Folder of the files that the document names.
    folder: Option<MeshFolder<'a>>,
    /// Second chunk of a GLB. `None` if there is none.
    chunk: Option<&'a [u8]>,
    /// Length of the glTF or GLB file itself in bytes.
    pub length: u64,
    /// Bytes of each buffer. Empty until the buffer was read.
    loaded: Vec<OnceCell<Vec<u8>>>,
    /// Number of bytes that were read but not yet registered with the memory limit.
    pub held: Cell<u64>,
    /// For each accessor: it was used.
    used: Vec<Cell<bool>>,
}

/// View: a range of bytes of a buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferView<'a> {
    pub bytes: &'a [u8],
    /// Distance between the starts of consecutive elements in bytes. `None` if the view does not state it.
    pub stride: Option<u64>,
}

impl<'a> Buffers<'a> {
    /// Creates the buffers of a document. `length` is the length of its file in bytes.
    pub(super) fn new(
        document: &'a Document,
        folder: Option<MeshFolder<'a>>,
        chunk: Option<&'a [u8]>,
        length: u64,
    ) -> Self {
        Self {
            document,
            folder,
            chunk,
            length,
            loaded: (0..document.count("buffers"))
                .map(|_| OnceCell::new())
                .collect(),
            held: Cell::new(0),
            used: vec![Cell::new(false); document.count("accessors") as usize],
        }
    }

    /// Marks an accessor as used. Returns whether this is its first use.
    pub(super) fn is_first_use(&self, accessor: u64) -> bool {
        !self.used[accessor as usize].replace(true)
    }

    /// Returns the view with this index. `admit` fails if the memory exceeds the limit.
    pub(super) fn view(
        &self,
        index: u64,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<BufferView<'_>> {
        let view = self.document.get("bufferViews", index)?;
        let buffer = self.document.get("buffers", view.needed("buffer")?)?;
        if let Some(name) = COMPRESSIONS
            .into_iter()
            .find(|name| view.extension(name).is_some())
            && !self.has_bytes(&buffer)
        {
            return Err(compressed(name));
        }
        let all = self.bytes(&buffer, admit)?;
        let from = view.whole("byteOffset")?.unwrap_or(0);
        let length = view.needed("byteLength")?;
        let bytes = slice(all, from, length).ok_or_else(|| {
            let text = format!(
                "cut short: it ends at byte {}, but its buffer has {} bytes",
                from.saturating_add(length),
                all.len()
            );
            view.error(Code::S003, text)
        })?;
        Ok(BufferView {
            bytes,
            stride: view.whole("byteStride")?,
        })
    }

    fn has_bytes(&self, buffer: &GltfObject) -> bool {
        let is_placeholder = COMPRESSIONS.iter().any(|name| {
            buffer
                .extension(name)
                .is_some_and(|fallback| fallback.flag("fallback"))
        });
        buffer.text("uri").is_some()
            || (buffer.index() == 0 && self.chunk.is_some() && !is_placeholder)
    }

    fn bytes(&self, buffer: &GltfObject, admit: &dyn Fn(u64) -> Result<()>) -> Result<&[u8]> {
        let Some(uri) = buffer.text("uri") else {
            let chunk = self.chunk.filter(|_| buffer.index() == 0);
            return chunk.ok_or_else(|| {
                buffer.error(Code::S003, "it has no bytes: no uri, and no chunk of a GLB")
            });
        };
        let cell = &self.loaded[buffer.index() as usize];
        if let Some(bytes) = cell.get() {
            return Ok(bytes);
        }
        let length = buffer.needed("byteLength")?;
        let bytes = self
            .at(uri, length, admit)
            .map_err(|error| error.about(&buffer.path()))?;
        if (bytes.len() as u64) < length {
            let text = format!("cut short: {} bytes of {length}", bytes.len());
            return Err(buffer.error(Code::S003, text));
        }
        self.held.set(self.held.get() + bytes.len() as u64);
        Ok(cell.get_or_init(|| bytes))
    }

    /// Reports the names of all buffer and picture files, even if the files are not read.
    pub(super) fn note_files(&self) -> Result<()> {
        for list in ["buffers", "images"] {
            for n in 0..self.document.count(list) {
                let Ok(one) = self.document.get(list, n) else {
                    continue;
                };
                if let Some(uri) = one.text("uri").filter(|uri| data_of(uri).is_none()) {
                    note_beside(self.folder, &file_name(uri))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the bytes of a `data:` URI, or at most `length` bytes of a file in the folder or below it.
    pub(super) fn at(
        &self,
        uri: &str,
        length: u64,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Vec<u8>> {
        if let Some(data) = data_of(uri) {
            return embedded(data, self.held.get(), admit);
        }
        let hint = "keep it below the folder of the mesh, or export a GLB";
        let held = self.held.get();
        read_beside(self.folder, &file_name(uri), length, |count| {
            admit(held.saturating_add(count))
        })
        .map_err(|error| {
            if error.hint().is_some() {
                error
            } else {
                error.with_hint(hint)
            }
        })
    }
}

/// Returns the rest of a `data:` URI after its scheme. `None` for other URIs.
fn data_of(uri: &str) -> Option<&str> {
    let (scheme, data) = uri.split_once(':')?;
    scheme.eq_ignore_ascii_case("data").then_some(data)
}

/// Returns the file name in a URI, with its `%` escapes decoded.
fn file_name(uri: &str) -> String {
    String::from_utf8_lossy(&unescaped(uri)).into_owned()
}

/// Returns the error for compressed views that have no uncompressed fallback.
fn compressed(name: &str) -> Error {
    let hint = "export without compression ('gltfpack' without '-c', or with '-cf'), or with Draco";
    unknown_extension(name).with_hint(hint)
}

/// Returns the bytes of a `data:` URI (RFC 2397). `data` is the URI without its scheme: `TYPE;base64,DATA`,
/// or `TYPE,DATA` with `%` escapes. Base64 data may lack its padding, and may have line breaks and escapes.
fn embedded(data: &str, held: u64, admit: &dyn Fn(u64) -> Result<()>) -> Result<Vec<u8>> {
    const BASE64: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::RequireNone)
            .with_decode_allow_trailing_bits(true),
    );
    let bad = |what: &str| Error::input(Code::S006, format!("a data URI {what}"));
    let (kind, coded) = data.split_once(',').ok_or_else(|| bad("has no comma"))?;
    // Memory for the bytes with decoded escapes, and for the bytes decoded from base64.
    admit(held.saturating_add(2 * coded.len() as u64))?;
    let mut bytes = unescaped(coded);
    let encoding = kind.rsplit_once(';').map_or("", |(_, last)| last.trim());
    if !encoding.eq_ignore_ascii_case("base64") {
        return Ok(bytes);
    }
    bytes.retain(|byte| !byte.is_ascii_whitespace());
    while bytes.last() == Some(&b'=') {
        bytes.pop();
    }
    BASE64
        .decode(bytes)
        .map_err(|error| bad(&format!("has broken base64: {error}")))
}

/// Decodes the `%` escapes of a URI, such as `%20` for a blank.
fn unescaped(uri: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((byte, following)) = rest.split_first() {
        let digits = following
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| *byte == b'%' && !digits.starts_with('+'));
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() {
            &following[2..]
        } else {
            following
        };
    }
    bytes
}

/// Returns `length` bytes from byte `from` on. `None` if there are not that many.
pub(super) fn slice(bytes: &[u8], from: u64, length: u64) -> Option<&[u8]> {
    let to = usize::try_from(from.checked_add(length)?).ok()?;
    bytes.get(usize::try_from(from).ok()?..to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_uris_are_unescaped() {
        for (uri, name) in [
            ("a%20b.bin", "a b.bin"),
            ("50%.bin", "50%.bin"),
            ("%c3%a9%2", "é%2"),
            ("a", "a"),
        ] {
            assert_eq!(unescaped(uri), name.as_bytes());
        }
    }

    #[test]
    fn data_uris_have_every_form() {
        let mut seen = 0;
        for (data, expected) in [
            (
                "application/octet-stream;base64,AQIDBA==",
                &[1, 2, 3, 4][..],
            ),
            (";base64,AQIDBA", &[1, 2, 3, 4]),
            (";base64,AQIDBA=", &[1, 2, 3, 4]),
            (";base64,AQI\r\nDBA\t ==\n", &[1, 2, 3, 4]),
            (";base64,AQIDBA%3D%3d", &[1, 2, 3, 4]),
            (";BASE64,%2B/8", &[251, 255]),
            (
                "text/plain;charset=utf-8;base64,AQIDBP8=",
                &[1, 2, 3, 4, 255],
            ),
            ("application/gltf-buffer; base64,AQ", &[1]),
            // The unused bits after the last byte are not zero.
            (";base64,AR", &[1]),
            (";base64,", &[]),
            (
                "application/octet-stream,%01%02%fF%00a+b",
                &[1, 2, 255, 0, b'a', b'+', b'b'],
            ),
            (",abc", b"abc"),
            (",50%+1%", b"50%+1%"),
            ("base64,AQ", b"AQ"),
        ] {
            assert_eq!(embedded(data, 0, &|_| Ok(())).unwrap(), expected, "{data}");
            seen += 1;
        }
        assert_eq!(seen, 14);
        for data in [
            ";base64",
            "",
            ";base64,A",
            ";base64,AQ=A",
            ";base64,%%%%",
            ";base64,AQ_-",
        ] {
            assert!(embedded(data, 0, &|_| Ok(())).is_err(), "{data}");
        }
    }

    #[test]
    fn slices_are_within_their_bytes() {
        let bytes = [1, 2, 3];
        assert_eq!(slice(&bytes, 1, 2), Some(&bytes[1..]));
        assert_eq!(slice(&bytes, 3, 0), Some(&bytes[3..]));
        for (from, length) in [(2, 2), (4, 0), (u64::MAX, 2), (1, u64::MAX)] {
            assert_eq!(slice(&bytes, from, length), None);
        }
    }
}
