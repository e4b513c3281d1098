//! Window on an input: a buffer with a part of it. Bytes are taken from its start, and more bytes are read at
//! its end.

use std::io::Read;

use super::source::fill;
use voxelize_core::error::Result;
use voxelize_core::par::Progress;

/// Buffer that moves along an input.
pub(super) struct Window<'a, R> {
    reader: R,
    progress: &'a dyn Progress,
    buffer: Vec<u8>,
    /// Start of the bytes that were not taken yet, which are `buffer[at..end]`.
    at: usize,
    end: usize,
    /// Number of bytes of the file before the start of the buffer.
    before: u64,
    has_ended: bool,
}

impl<'a, R: Read> Window<'a, R> {
    /// Creates a window of `size` bytes. The first byte of `reader` is at position `before` of the file.
    pub(super) fn new(reader: R, size: usize, before: u64, progress: &'a dyn Progress) -> Self {
        Self {
            reader,
            progress,
            buffer: vec![0; size],
            at: 0,
            end: 0,
            before,
            has_ended: false,
        }
    }

    /// Returns the bytes that were read but not taken.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Takes `count` bytes. They stay in the buffer until more bytes are read.
    #[inline]
    pub(super) fn take(&mut self, count: usize) {
        self.at += count;
        debug_assert!(self.at <= self.end);
    }

    /// Returns the last `count` bytes that were taken.
    pub(super) fn taken(&self, count: usize) -> &[u8] {
        &self.buffer[self.at - count..self.at]
    }

    /// Gives back the last `count` bytes that were taken. They can be taken again.
    pub(super) fn give_back(&mut self, count: usize) {
        self.at -= count;
    }

    /// Returns the position in the file of the first byte that was not taken.
    pub(super) fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Returns the number of bytes of the file that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.before + self.end as u64
    }

    /// Returns whether the end of the input was read, so that nothing follows the bytes in the buffer.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns whether the bytes that were not taken fill the whole buffer.
    pub(super) fn is_full(&self) -> bool {
        self.rest().len() == self.buffer.len()
    }

    /// Reads more bytes until the buffer is full or the input ends. Returns the number of bytes read.
    pub(super) fn refill(&mut self) -> Result<usize> {
        self.progress.check()?;
        self.buffer.copy_within(self.at..self.end, 0);
        self.before += self.at as u64;
        self.end -= self.at;
        self.at = 0;
        let read = fill(&mut self.reader, &mut self.buffer[self.end..])?;
        self.end += read;
        self.has_ended = self.end < self.buffer.len();
        self.progress.advance(read as u64);
        Ok(read)
    }
}
