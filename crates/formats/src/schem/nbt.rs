//! Named binary tags, of which Minecraft's files consist. A tag is a byte for its kind, its name and its
//! content. Numbers are big-endian.

use std::io::{self, Write};

/// Maximum number of bytes in a text. Its length is stored in 16 bits.
pub(super) const MAX_TEXT: usize = u16::MAX as usize;

/// Kinds of tags that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum TagKind {
    End = 0,
    Short = 2,
    Int = 3,
    ByteArray = 7,
    Text = 8,
    List = 9,
    Compound = 10,
    IntArray = 11,
}

/// Writer of tags.
pub(super) struct NbtWriter<'a> {
    pub out: &'a mut dyn Write,
}

impl NbtWriter<'_> {
    fn tag(&mut self, kind: TagKind, name: &str) -> io::Result<()> {
        self.out.write_all(&[kind as u8])?;
        self.content(name)
    }

    /// Writes the length and the bytes of a text.
    fn content(&mut self, text: &str) -> io::Result<()> {
        let bytes = modified_utf8(text);
        let length = u16::try_from(bytes.len());
        let length = length
            .map_err(|_| io::Error::other("a text in the .schem has more than 65,535 bytes"))?;
        self.out.write_all(&length.to_be_bytes())?;
        self.out.write_all(&bytes)
    }

    /// Begins a compound. All tags up to the call of [`end`](Self::end) belong to it.
    pub(super) fn compound(&mut self, name: &str) -> io::Result<()> {
        self.tag(TagKind::Compound, name)
    }

    /// Ends a compound.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.out.write_all(&[TagKind::End as u8])
    }

    pub(super) fn short(&mut self, name: &str, value: u16) -> io::Result<()> {
        self.tag(TagKind::Short, name)?;
        self.out.write_all(&value.to_be_bytes())
    }

    pub(super) fn int(&mut self, name: &str, value: i32) -> io::Result<()> {
        self.tag(TagKind::Int, name)?;
        self.out.write_all(&value.to_be_bytes())
    }

    pub(super) fn text(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.tag(TagKind::Text, name)?;
        self.content(value)
    }

    pub(super) fn ints(&mut self, name: &str, values: &[i32]) -> io::Result<()> {
        self.tag(TagKind::IntArray, name)?;
        self.out.write_all(&(values.len() as i32).to_be_bytes())?;
        for value in values {
            self.out.write_all(&value.to_be_bytes())?;
        }
        Ok(())
    }

    /// Begins an array of `length` bytes. The caller writes the bytes.
    pub(super) fn bytes(&mut self, name: &str, length: i32) -> io::Result<()> {
        self.tag(TagKind::ByteArray, name)?;
        self.out.write_all(&length.to_be_bytes())
    }

    /// Writes an empty list of compounds.
    pub(super) fn no_compounds(&mut self, name: &str) -> io::Result<()> {
        self.tag(TagKind::List, name)?;
        self.out.write_all(&[TagKind::Compound as u8, 0, 0, 0, 0])
    }
}

/// Encodes a text in Java's modified UTF-8. NUL takes two bytes. A character beyond U+FFFF becomes two
/// surrogates of three bytes each.
pub(super) fn modified_utf8(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => bytes.extend([0xc0, 0x80]),
            '\u{10000}'.. => {
                for half in c.encode_utf16(&mut [0; 2]) {
                    let [high, middle, low] =
                        [*half >> 12, *half >> 6 & 0x3f, *half & 0x3f].map(|n| n as u8);
                    bytes.extend([0xe0 | high, 0x80 | middle, 0x80 | low]);
                }
            }
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_match_the_specification_of_nbt() {
        let mut bytes = vec![];
        let mut nbt = NbtWriter { out: &mut bytes };
        nbt.compound("hello world").unwrap();
        nbt.text("name", "Bananrama").unwrap();
        nbt.end().unwrap();
        assert_eq!(
            bytes,
            b"\x0a\x00\x0bhello world\x08\x00\x04name\x00\x09Bananrama\x00"
        );
        assert_eq!(
            modified_utf8("a\0\u{fc}\u{1f600}"),
            b"a\xc0\x80\xc3\xbc\xed\xa0\xbd\xed\xb8\x80"
        );
        let mut nbt = NbtWriter { out: &mut bytes };
        assert!(
            nbt.text("", &"x".repeat(MAX_TEXT)).is_ok()
                && nbt.text("", &"x".repeat(MAX_TEXT + 1)).is_err()
        );
    }
}
