//! The bytes of a glTF: in the GLB, in `data:` URIs, or in files beside it.

use std::cell::{Cell, OnceCell};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::source::{MeshFolder, note_beside, read_beside};
use super::document::{Document, GltfObject, unknown_extension};
use crate::error::{Code, Error, Result};

/// The buffers of a document.
pub(super) struct Buffers<'a> {
    pub document: &'a Document,
    /// Where the files lie that it names.
    pub folder: Option<MeshFolder<'a>>,
    /// The second chunk of a GLB.
    pub chunk: Option<&'a [u8]>,
    /// The bytes of the file itself.
    pub length: u64,
    /// The buffers that were read.
    pub loaded: Vec<OnceCell<Vec<u8>>>,
    /// The bytes of those that were read since they were last asked for.
    pub held: Cell<u64>,
}

/// A piece of a buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferView<'a> {
    pub bytes: &'a [u8],
    /// The bytes from one element to the next, if it states them.
    pub stride: Option<u64>,
}

impl Buffers<'_> {
    /// The view of this index; `admit` refuses memory.
    pub(super) fn view(&self, index: u64, admit: &dyn Fn(u64) -> Result<()>) -> Result<BufferView<'_>> {
        let view = self.document.get("bufferViews", index)?;
        if view.inner("extensions").is_some_and(|all| all.inner("EXT_meshopt_compression").is_some()) {
            return Err(unknown_extension("EXT_meshopt_compression"));
        }
        let buffer = self.document.get("buffers", view.needed("buffer")?)?;
        let all = self.bytes(&buffer, admit)?;
        let [from, length] = [view.whole("byteOffset")?.unwrap_or(0), view.needed("byteLength")?];
        let bytes = slice(all, from, length).ok_or_else(|| {
            let text = format!(
                "cut short: it ends at byte {}, its buffer has {}",
                from.saturating_add(length),
                all.len()
            );
            view.error(Code::S003, text)
        })?;
        Ok(BufferView { bytes, stride: view.whole("byteStride")? })
    }

    fn bytes(&self, buffer: &GltfObject, admit: &dyn Fn(u64) -> Result<()>) -> Result<&[u8]> {
        let Some(uri) = buffer.text("uri") else {
            let chunk = self.chunk.filter(|_| buffer.index() == 0);
            return chunk
                .ok_or_else(|| buffer.error(Code::S003, "it has no bytes: no uri, and no chunk of a GLB"));
        };
        let cell = &self.loaded[buffer.index() as usize];
        if let Some(bytes) = cell.get() {
            return Ok(bytes);
        }
        let length = buffer.needed("byteLength")?;
        let bytes = self.at(uri, length, admit).map_err(|error| error.about(&buffer.path()))?;
        if (bytes.len() as u64) < length {
            let text = format!("cut short: {} bytes of {length}", bytes.len());
            return Err(buffer.error(Code::S003, text));
        }
        self.held.set(self.held.get() + bytes.len() as u64);
        Ok(cell.get_or_init(|| bytes))
    }

    /// Tells of the files of all buffers and pictures, whether or not they are read.
    pub(super) fn note_files(&self) -> Result<()> {
        for list in ["buffers", "images"] {
            for n in 0..self.document.count(list) {
                let Ok(one) = self.document.get(list, n as u64) else { continue };
                if let Some(uri) = one.text("uri").filter(|uri| !uri.starts_with("data:")) {
                    note_beside(self.folder, &unescaped(uri))?;
                }
            }
        }
        Ok(())
    }

    /// The bytes of a `data:` URI, or the first `length` bytes of a file below the folder.
    pub(super) fn at(&self, uri: &str, length: u64, admit: &dyn Fn(u64) -> Result<()>) -> Result<Vec<u8>> {
        if let Some(data) = uri.strip_prefix("data:") {
            return embedded(data, self.held.get(), admit);
        }
        let hint = "keep it below the folder of the mesh, or export a GLB";
        let held = self.held.get();
        read_beside(self.folder, &unescaped(uri), length, |count| admit(held + count))
            .map_err(|error| if error.hint().is_some() { error } else { error.with_hint(hint) })
    }
}

/// The bytes of a `data:` URI behind its scheme.
fn embedded(data: &str, held: u64, admit: &dyn Fn(u64) -> Result<()>) -> Result<Vec<u8>> {
    let bad = |what: &str| Error::input(Code::S006, format!("a data URI {what}"));
    let (kind, coded) = data.split_once(',').ok_or_else(|| bad("without a comma"))?;
    if !kind.ends_with(";base64") {
        return Err(bad("that is not in base64"));
    }
    admit(held + coded.len() as u64)?;
    STANDARD.decode(coded).map_err(|error| bad(&format!("whose base64 is broken: {error}")))
}

/// The name that a URI stands for: `%20` is a blank.
fn unescaped(uri: &str) -> String {
    let mut bytes = vec![];
    let mut rest = uri.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// So many bytes from a place, if they are there.
pub(super) fn slice(bytes: &[u8], from: u64, length: u64) -> Option<&[u8]> {
    let to = usize::try_from(from.checked_add(length)?).ok()?;
    bytes.get(usize::try_from(from).ok()?..to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_uris_are_unescaped() {
        for (uri, name) in [("a%20b.bin", "a b.bin"), ("50%.bin", "50%.bin"), ("%c3%a9%2", "é%2"), ("a", "a")]
        {
            assert_eq!(unescaped(uri), name);
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
