//! Writing a zip of deflated members, with the date 1980-01-01, zip64 where it is needed.
//!
//! | bytes | before each member | in the list at the end |
//! |---|---|---|
//! | 4 | `PK\x03\x04` | `PK\x01\x02` |
//! | 2 | | who made it: Unix, and the version |
//! | 10 | version needed, flags (none), method (8, deflate), time, date, u16 each | the same |
//! | 12 | CRC-32, bytes compressed, bytes, u32 each | the same |
//! | 4 | lengths of the name and of the field of zip64, u16 each | the same |
//! | 14 | | comment, disk, attributes (none), permissions, and u32, where the member begins |
//! | … | the name; the field of zip64: its number 1, its length, bytes, bytes compressed | the same, and where it begins |
//!
//! Numbers that are in the field of zip64 are `ffffffff` in their place.
//!
//! <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>

use std::io::{self, SeekFrom, Write};

use super::deflate::{Deflate, Sums};
use super::save::Sink;

/// 1980-01-01, the first there is.
const DATE: u16 = 1 << 5 | 1;

/// A file that all read and its owner writes.
const PERMISSIONS: u32 = 0o100_644 << 16;

/// The system whose permissions these are.
const UNIX: u16 = 3 << 8;

/// The number that stands for one in the field of zip64.
const LARGE: u32 = u32::MAX;

/// A zip on its way to `out`.
pub(super) struct ZipWriter<'a> {
    out: &'a mut dyn Sink,
    members: Vec<Member>,
}

struct Member {
    name: String,
    /// Whether its sizes are in a field of zip64.
    is_large: bool,
    sums: Sums,
    /// Where it begins.
    place: u64,
}

impl<'a> ZipWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Sink) -> Self {
        Self { out, members: vec![] }
    }

    /// A member that `write` writes, of about so many bytes at most.
    pub(super) fn member(
        &mut self,
        name: &str,
        most: u128,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        // Noise is a little longer deflated than it was.
        let is_large = most > 0xf000_0000;
        let place = self.out.stream_position()?;
        let mut member = Member { name: name.to_string(), is_large, sums: Sums::default(), place };
        self.out.write_all(&member.header())?;
        let mut deflate = Deflate::new(&mut *self.out);
        write(&mut deflate)?;
        member.sums = deflate.finish()?;
        let end = self.out.stream_position()?;
        self.out.seek(SeekFrom::Start(place))?;
        self.out.write_all(&member.header())?;
        self.out.seek(SeekFrom::Start(end))?;
        self.members.push(member);
        Ok(())
    }

    /// A member of these few bytes.
    pub(super) fn small_member(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut packed = vec![];
        let mut deflate = Deflate::new(&mut packed);
        deflate.write_all(bytes)?;
        let (sums, place) = (deflate.finish()?, self.out.stream_position()?);
        let member = Member { name: name.to_string(), is_large: false, sums, place };
        self.out.write_all(&member.header())?;
        self.out.write_all(&packed)?;
        self.members.push(member);
        Ok(())
    }

    /// Writes the list of members.
    pub(super) fn finish(self) -> io::Result<()> {
        let start = self.out.stream_position()?;
        let list: Vec<u8> = self.members.iter().flat_map(Member::entry).collect();
        self.out.write_all(&list)?;
        let (count, length) = (self.members.len() as u16, list.len() as u32);
        if start >= u64::from(LARGE) {
            self.out.write_all(&end_of_zip64(count, length, start))?;
        }
        let end = Bytes(b"PK\x05\x06".to_vec()).u16s(&[0, 0, count, count]).u32s(&[length, short(start)]);
        self.out.write_all(&end.u16s(&[0]).0)
    }
}

/// The end of the list in the numbers of zip64, and where that is.
fn end_of_zip64(count: u16, length: u32, start: u64) -> Vec<u8> {
    let version = Member::version(true);
    let (count, length) = (u64::from(count), u64::from(length));
    Bytes(b"PK\x06\x06".to_vec())
        // Bytes that follow.
        .u64s(&[44])
        .u16s(&[UNIX | version, version])
        // Disks.
        .u32s(&[0, 0])
        .u64s(&[count, count, length, start])
        .with(b"PK\x06\x07")
        .u32s(&[0])
        .u64s(&[start + length])
        .u32s(&[1])
        .0
}

impl Member {
    fn version(is_large: bool) -> u16 {
        if is_large { 45 } else { 20 }
    }

    /// The fields that are in both places, up to the length of the name.
    fn common(&self, kind: &[u8], is_large: bool) -> Bytes {
        let Sums { crc, bytes, packed } = self.sums;
        let sizes = if self.is_large { [LARGE; 2] } else { [short(packed), short(bytes)] };
        Bytes(kind.to_vec())
            .u16s(&[Self::version(is_large), 0, 8, 0, DATE])
            .u32s(&[crc, sizes[0], sizes[1]])
            .u16s(&[self.name.len() as u16])
    }

    /// What stands before the member.
    fn header(&self) -> Vec<u8> {
        let Sums { bytes, packed, .. } = self.sums;
        let field = if self.is_large { Bytes::zip64(&[bytes, packed]) } else { vec![] };
        let common = self.common(b"PK\x03\x04", self.is_large);
        common.u16s(&[field.len() as u16]).with(self.name.as_bytes()).with(&field).0
    }

    /// What stands in the list at the end.
    fn entry(&self) -> Vec<u8> {
        let Self { sums: Sums { bytes, packed, .. }, place, .. } = *self;
        let field = match (self.is_large, place >= u64::from(LARGE)) {
            (true, true) => Bytes::zip64(&[bytes, packed, place]),
            (true, false) => Bytes::zip64(&[bytes, packed]),
            (false, true) => Bytes::zip64(&[place]),
            (false, false) => vec![],
        };
        let is_large = !field.is_empty();
        let kind = Bytes(b"PK\x01\x02".to_vec()).u16s(&[UNIX | Self::version(is_large)]).0;
        self.common(&kind, is_large)
            .u16s(&[field.len() as u16, 0, 0, 0])
            .u32s(&[PERMISSIONS, short(place)])
            .with(self.name.as_bytes())
            .with(&field)
            .0
    }
}

/// A number, or what stands for it if it is in the field of zip64.
fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(LARGE)
}

/// Bytes, to which numbers are added, little-endian.
struct Bytes(Vec<u8>);

impl Bytes {
    /// The field of zip64 with these numbers.
    fn zip64(numbers: &[u64]) -> Vec<u8> {
        Self(vec![]).u16s(&[1, 8 * numbers.len() as u16]).u64s(numbers).0
    }

    fn with(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16s(self, numbers: &[u16]) -> Self {
        numbers.iter().fold(self, |bytes, number| bytes.with(&number.to_le_bytes()))
    }

    fn u32s(self, numbers: &[u32]) -> Self {
        numbers.iter().fold(self, |bytes, number| bytes.with(&number.to_le_bytes()))
    }

    fn u64s(self, numbers: &[u64]) -> Self {
        numbers.iter().fold(self, |bytes, number| bytes.with(&number.to_le_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::*;

    #[test]
    fn members_are_read_by_another_crate() {
        let mut file = Cursor::new(vec![]);
        let mut zip = ZipWriter::new(&mut file);
        let large: Vec<u8> = (0..3 << 20).map(|n| (n / 1000 % 7) as u8).collect();
        // The second says that it may be beyond 4 GiB.
        for (name, most) in [("usual", large.len() as u128), ("large", 1 << 33)] {
            zip.member(name, most, |out| out.write_all(&large)).unwrap();
        }
        zip.small_member("small", b"abc").unwrap();
        zip.small_member("empty", b"").unwrap();
        zip.finish().unwrap();
        let mut archive = zip::ZipArchive::new(file).unwrap();
        for (n, (name, bytes)) in
            [("usual", &large[..]), ("large", &large[..]), ("small", b"abc"), ("empty", b"")]
                .into_iter()
                .enumerate()
        {
            let mut read = vec![];
            let mut member = archive.by_index(n).unwrap();
            assert_eq!((member.name().unwrap().as_ref(), member.size()), (name, bytes.len() as u64));
            assert_eq!(member.unix_mode(), Some(0o100_644));
            member.read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{name}");
        }
    }

    #[test]
    fn what_begins_beyond_four_gigabytes_has_its_place_in_zip64() {
        let sums = Sums { crc: 7, bytes: 3, packed: 5 };
        let member = |is_large, place| Member { name: "a".into(), is_large, sums, place }.entry();
        let place = 1_u64 << 33;
        assert!(member(false, place).ends_with(&Bytes::zip64(&[place])));
        assert!(member(true, place).ends_with(&Bytes::zip64(&[3, 5, place])));
        assert!(member(true, 9).ends_with(&Bytes::zip64(&[3, 5])));
        assert!(member(false, 9).ends_with(&[9, 0, 0, 0, b'a']));
    }
}
