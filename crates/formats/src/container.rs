//! Writing of zip archives. The crate `zip` is not used for this, because it cannot add bytes that are
//! already deflated and whose checksum is known.
//!
//! The header of a member is completed after its data are written, because some programs that read arrays
//! take the lengths from this header.

use std::io::{self, SeekFrom, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc, CrcWriter};

use super::runs::PlainBytes;
use super::save::{CountedWriter, Sink};

/// Time and date of all members: 1980-01-01, the earliest that zip can state.
const WHEN: [u16; 2] = [0, 0x21];

/// Method of a member that is not compressed.
const STORED: u16 = 0;

/// Method of a member that is compressed by deflate.
const DEFLATED: u16 = 8;

/// States that a Unix system made the archive.
const UNIX: u16 = 3 << 8;

/// File mode: everyone may read the file, and the owner may write it.
const MODE: u32 = 0o100_644 << 16;

/// Value of a 32-bit field that refers to a 64-bit field elsewhere in the header.
const ELSEWHERE: u32 = u32::MAX;

/// Member that has been written.
struct MemberEntry {
    name: String,
    method: u16,
    is_large: bool,
    at: u64,
    packed: u64,
    plain: PlainBytes,
}

/// Archive that is being written.
pub(super) struct ArchiveWriter<'a> {
    out: &'a mut dyn Sink,
    /// Number of bytes written so far.
    at: u64,
    members: Vec<MemberEntry>,
}

impl<'a> ArchiveWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Sink) -> Self {
        Self {
            out,
            at: 0,
            members: vec![],
        }
    }

    /// Adds a member. `write` writes its compressed bytes. The lengths of a large member are stored in 64
    /// bits.
    fn put(
        &mut self,
        (name, method): (&str, u16),
        is_large: bool,
        write: impl FnOnce(&mut dyn Write) -> io::Result<PlainBytes>,
    ) -> io::Result<()> {
        let plain = PlainBytes { sum: 0, count: 0 };
        let mut entry = MemberEntry {
            name: name.into(),
            method,
            is_large,
            at: self.at,
            packed: 0,
            plain,
        };
        let header = entry.header();
        self.out.write_all(&header)?;
        let mut out = CountedWriter {
            out: &mut *self.out,
            bytes: 0,
        };
        entry.plain = write(&mut out)?;
        entry.packed = out.bytes;
        if !is_large {
            u32::try_from(entry.packed.max(entry.plain.count)).map_err(io::Error::other)?;
        }
        self.out.seek(SeekFrom::Start(self.at))?;
        self.out.write_all(&entry.header())?;
        self.at += header.len() as u64 + entry.packed;
        self.out.seek(SeekFrom::Start(self.at))?;
        self.members.push(entry);
        Ok(())
    }

    /// Adds a member whose bytes `write` has already deflated.
    pub(super) fn put_deflated(
        &mut self,
        name: &str,
        is_large: bool,
        write: impl FnOnce(&mut dyn Write) -> io::Result<PlainBytes>,
    ) -> io::Result<()> {
        self.put((name, DEFLATED), is_large, write)
    }

    /// Adds a member. The bytes that `write` writes are deflated at this level.
    pub(super) fn deflate(
        &mut self,
        (name, level): (&str, Compression),
        is_large: bool,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.put_deflated(name, is_large, |out| {
            let mut plain = CrcWriter::new(DeflateEncoder::new(out, level));
            let mut counted = CountedWriter {
                out: &mut plain,
                bytes: 0,
            };
            write(&mut counted)?;
            let count = counted.bytes;
            let sum = plain.crc().sum();
            plain.into_inner().finish()?;
            Ok(PlainBytes { sum, count })
        })
    }

    /// Adds a member with these bytes, without compression.
    pub(super) fn store(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.put((name, STORED), false, |out| {
            out.write_all(bytes)?;
            let mut sum = Crc::new();
            sum.update(bytes);
            Ok(PlainBytes {
                sum: sum.sum(),
                count: bytes.len() as u64,
            })
        })
    }

    /// Completes the archive with the list of its members.
    pub(crate) fn finish(self) -> io::Result<()> {
        let Self {
            out,
            at: start,
            members,
        } = self;
        let list: Vec<u8> = members.iter().flat_map(MemberEntry::listed).collect();
        out.write_all(&list)?;
        let (count, length) = (members.len() as u64, list.len() as u64);
        if start >= ELSEWHERE.into() {
            let at = start + length;
            let mut end = vec![];
            end.extend(b"PK\x06\x06");
            end.extend(44_u64.to_le_bytes());
            end.extend((UNIX | 45).to_le_bytes());
            end.extend(45_u16.to_le_bytes());
            end.extend([0; 8]);
            for number in [count, count, length, start] {
                end.extend(number.to_le_bytes());
            }
            // Locator of this record. It states that the archive is a single file.
            end.extend(b"PK\x06\x07\0\0\0\0");
            end.extend(at.to_le_bytes());
            end.extend(1_u32.to_le_bytes());
            out.write_all(&end)?;
        }
        let mut end = vec![];
        end.extend(b"PK\x05\x06\0\0\0\0");
        end.extend((count as u16).to_le_bytes());
        end.extend((count as u16).to_le_bytes());
        end.extend(narrow(length).to_le_bytes());
        end.extend(narrow(start).to_le_bytes());
        end.extend([0; 2]);
        out.write_all(&end)?;
        out.flush()
    }
}

/// Returns a number in 32 bits. If the number is too large, returns [`ELSEWHERE`].
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(ELSEWHERE)
}

impl MemberEntry {
    /// Returns the part that both headers of a member share: required version, flags (none), method, time,
    /// checksum and lengths, then the lengths of the name and of the extra field `more`.
    fn common(&self, more: &[u8]) -> Vec<u8> {
        let is_wide = self.is_large || !more.is_empty();
        let mut bytes = vec![];
        let version = if is_wide { 45 } else { 20 };
        for number in [version, 0_u16, self.method, WHEN[0], WHEN[1]] {
            bytes.extend(number.to_le_bytes());
        }
        let [packed, plain] = if self.is_large {
            [ELSEWHERE; 2]
        } else {
            [self.packed as u32, self.plain.count as u32]
        };
        for number in [self.plain.sum, packed, plain] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend((more.len() as u16).to_le_bytes());
        bytes
    }

    /// Returns the extra field with the numbers that need 64 bits. Empty if no number does.
    fn wide(&self, place: Option<u64>) -> Vec<u8> {
        let mut numbers = vec![];
        if self.is_large {
            numbers.extend([self.plain.count, self.packed]);
        }
        numbers.extend(place);
        if numbers.is_empty() {
            return vec![];
        }
        let length = 8 * numbers.len() as u16;
        let mut field = vec![1, 0];
        field.extend(length.to_le_bytes());
        for number in numbers {
            field.extend(number.to_le_bytes());
        }
        field
    }

    /// Returns the header that precedes the data of the member.
    fn header(&self) -> Vec<u8> {
        let wide = self.wide(None);
        [
            b"PK\x03\x04",
            &*self.common(&wide),
            self.name.as_bytes(),
            &wide,
        ]
        .concat()
    }

    /// Returns the entry of the member in the list at the end of the archive.
    fn listed(&self) -> Vec<u8> {
        let place = narrow(self.at);
        let wide = self.wide(Some(self.at).filter(|_| place == ELSEWHERE));
        let common = self.common(&wide);
        let made_by = UNIX | u16::from(common[0]);
        // No comment, the first file of the archive, binary data.
        let more = [&[0; 6][..], &MODE.to_le_bytes(), &place.to_le_bytes()].concat();
        [
            b"PK\x01\x02",
            &made_by.to_le_bytes()[..],
            &common,
            &more,
            self.name.as_bytes(),
            &wide,
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    const MEMBERS: [(&str, &str); 2] = [("a", "first"), ("b", "")];

    #[test]
    fn members_are_read_back_at_any_offset() {
        // The writer behaves as if members of this total length had already been written.
        for before in [0, u64::from(ELSEWHERE) - 5, 7 << 32] {
            for is_large in [false, true] {
                let mut archive = FileEnd::default();
                let mut writer = ArchiveWriter::new(&mut archive);
                writer.at = before;
                writer.out.seek(SeekFrom::Start(before)).unwrap();
                for (name, text) in MEMBERS {
                    writer
                        .deflate((name, Compression::new(1)), is_large, |out| {
                            out.write_all(text.as_bytes())
                        })
                        .unwrap();
                }
                writer.store("c", b"third").unwrap();
                writer.finish().unwrap();
                let mut archive = zip::ZipArchive::new(archive).unwrap();
                assert_eq!(archive.len(), 3);
                for (name, text) in MEMBERS.into_iter().chain([("c", "third")]) {
                    let mut read = String::new();
                    archive
                        .by_name(name)
                        .unwrap()
                        .read_to_string(&mut read)
                        .unwrap();
                    assert_eq!(read, text, "{before}");
                }
            }
        }
    }

    /// File of zeros that stores only the bytes written at its end.
    #[derive(Default)]
    struct FileEnd {
        start: Option<u64>,
        end: Vec<u8>,
        at: u64,
    }

    impl io::Seek for FileEnd {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            let (base, by) = match to {
                SeekFrom::Start(at) => (at, 0),
                SeekFrom::Current(by) => (self.at, by),
                SeekFrom::End(by) => (self.start.unwrap_or(0) + self.end.len() as u64, by),
            };
            self.at = base
                .checked_add_signed(by)
                .ok_or(io::ErrorKind::InvalidInput)?;
            Ok(self.at)
        }
    }

    impl Write for FileEnd {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let place = (self.at - *self.start.get_or_insert(self.at)) as usize;
            self.end.resize(self.end.len().max(place + bytes.len()), 0);
            self.end[place..place + bytes.len()].copy_from_slice(bytes);
            self.at += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for FileEnd {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let start = self.start.unwrap_or(0);
            let count = match start.checked_sub(self.at) {
                Some(zeros @ 1..) => {
                    let count = bytes.len().min(zeros as usize);
                    bytes[..count].fill(0);
                    count
                }
                _ => (&self.end[self.end.len().min((self.at - start) as usize)..]).read(bytes)?,
            };
            self.at += count as u64;
            Ok(count)
        }
    }
}
