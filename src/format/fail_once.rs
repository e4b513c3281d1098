//! A sink for writers that go on after an error.

use std::io;

use super::save::Sink;

/// Passes on the first error alone and then only pretends: the zip writer, when dropped after an
/// error, would go on trying and complain on standard error.
pub(super) struct FailOnce<'a> {
    out: &'a mut dyn Sink,
    position: u64,
    failed: bool,
}

impl<'a> FailOnce<'a> {
    pub(super) fn new(out: &'a mut dyn Sink) -> Self {
        Self { out, position: 0, failed: false }
    }
}

impl io::Write for FailOnce<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = match self.failed {
            true => bytes.len(),
            false => self.out.write(bytes).inspect_err(|_| self.failed = true)?,
        };
        self.position += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed { Ok(()) } else { self.out.flush().inspect_err(|_| self.failed = true) }
    }
}

impl io::Seek for FailOnce<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.position = match to {
            _ if !self.failed => self.out.seek(to).inspect_err(|_| self.failed = true)?,
            io::SeekFrom::Start(position) => position,
            io::SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            io::SeekFrom::End(_) => self.position,
        };
        Ok(self.position)
    }
}
