//! Meshes in gzip files. A gzip file is recognized by its first two bytes, whatever its name, and read as a
//! stream.
//!
//! A file of several consecutive members is read as their concatenation, as gzip does. Positions in findings
//! are bytes and lines of the unpacked content. Only findings about gzip itself state bytes of the packed
//! file.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::rc::Rc;

use flate2::bufread::GzDecoder;

use super::triage::Triage;
use voxelize_core::error::{Code, Error};

const MAGIC: &[u8] = b"\x1f\x8b";

/// Returns whether a file begins with the two bytes of gzip.
pub(super) fn recognise(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Unpacked content of a gzip file as a stream. It ends with an error if the packed data is incomplete.
pub(super) struct Gunzip<'a> {
    /// Member that is being read. `None` at the end.
    member: Option<GzDecoder<PackedReader<'a>>>,
    triage: &'a Triage,
    read: Rc<Cell<u64>>,
}

type PackedReader<'a> = BufReader<CountedReader<Box<dyn Read + 'a>>>;

impl<'a> Gunzip<'a> {
    /// Creates a stream of the content of `packed`. `read` counts the bytes that were read from `packed`.
    pub(super) fn new(packed: Box<dyn Read + 'a>, triage: &'a Triage, read: Rc<Cell<u64>>) -> Self {
        let packed = BufReader::with_capacity(64 << 10, CountedReader(packed, Rc::clone(&read)));
        Self {
            member: Some(GzDecoder::new(packed)),
            triage,
            read,
        }
    }

    /// Continues with the next member after a member has ended.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else {
            return Ok(());
        };
        let mut packed = member.into_inner();
        let next = packed.fill_buf()?;
        if next.is_empty() {
            return Ok(());
        }
        if next.starts_with(MAGIC) || next == &MAGIC[..1] {
            self.member = Some(GzDecoder::new(packed));
            return Ok(());
        }
        let byte = self.read.get() - next.len() as u64;
        self.found(Error::input(Code::S005, "bytes follow the gzip data").at_byte(byte))
    }

    /// Reports a finding and ends the stream. This is an error only if the finding is refused.
    fn found(&mut self, error: Error) -> io::Result<()> {
        self.member = None;
        self.triage.found(error).map_err(io::Error::other)
    }
}

impl Read for Gunzip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => self.next_member()?,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    let error = Error::input(Code::S003, "cut short: the gzip data ends early");
                    self.found(error.at_byte(self.read.get()))?;
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::InvalidInput | ErrorKind::InvalidData
                    ) =>
                {
                    self.found(Error::input(
                        Code::S011,
                        format!("the gzip data is damaged: {error}"),
                    ))?;
                }
                result => return result,
            }
        }
        Ok(0)
    }
}

/// Reader that counts the bytes it returns.
struct CountedReader<R>(R, Rc<Cell<u64>>);

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.set(self.1.get() + read as u64);
        Ok(read)
    }
}
