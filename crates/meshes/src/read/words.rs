//! Text as words: blanks and line ends of every kind separate them, and lines are counted.

use std::io::Read;

use super::source::{fill, is_blank};
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::par::Progress;

/// So much is read at a time; no word may be longer.
const BLOCK: usize = 256 << 10;

/// The words of a text, one at a time, without a copy.
pub(super) struct Words<'a, R> {
    reader: R,
    progress: &'a dyn Progress,
    buffer: Vec<u8>,
    /// The current word is `buffer[start..at]`; `buffer[at..end]` is still to be looked at.
    start: usize,
    at: usize,
    end: usize,
    ended: bool,
    line: u64,
    bytes: u64,
    again: bool,
    lone_cr: Option<u64>,
    marked: bool,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a, R: Read> Words<'a, R> {
    /// The words of what `reader` gives, less a byte order mark, in blocks of so many bytes or more.
    pub(super) fn new(reader: R, block: usize, progress: &'a dyn Progress) -> Result<Self> {
        let buffer = vec![0; block.max(BLOCK)];
        let start = 0;
        let at = 0;
        let end = 0;
        let bytes = 0;
        let line = 1;
        let ended = false;
        let again = false;
        let marked = false;
        let lone_cr = None;
        let mut words = Self {
            reader,
            progress,
            buffer,
            start,
            at,
            end,
            ended,
            line,
            bytes,
            again,
            lone_cr,
            marked,
        };
        words.refill()?;
        if words.buffer[..words.end].starts_with(MARK) {
            (words.start, words.at, words.marked) = (MARK.len(), MARK.len(), true);
        }
        Ok(words)
    }

    /// Whether the text began with a byte order mark.
    pub(super) fn marked(&self) -> bool {
        self.marked
    }

    /// The first line that ends in CR alone.
    pub(super) fn lone_cr(&self) -> Option<u64> {
        self.lone_cr
    }

    /// Goes to the next word; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.again) {
            return Ok(self.start < self.at);
        }
        if !self.skip_blanks()? {
            return Ok(false);
        }
        loop {
            let rest = &self.buffer[self.at..self.end];
            match rest.iter().position(|&byte| is_blank(byte)) {
                Some(length) => {
                    self.at += length;
                    return Ok(true);
                }
                None => {
                    self.at = self.end;
                    if !self.refill()? {
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// Makes the next [`advance`](Self::advance) stay where it is.
    pub(super) fn stay(&mut self) {
        self.again = true;
    }

    /// The current word; empty at the end.
    pub(super) fn word(&self) -> &[u8] {
        &self.buffer[self.start..self.at]
    }

    /// Whether the current word is `keyword`, in any case.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.word().eq_ignore_ascii_case(keyword.as_bytes())
    }

    /// The line of the current word, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Whether the input ends with the current word.
    pub(super) fn at_end(&self) -> bool {
        self.ended && self.at == self.end
    }

    /// The bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes read and not yet parsed, including a retained word.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[if self.again { self.start } else { self.at }..self.end]
    }

    /// Goes on behind so many bytes of the rest, which end with a word.
    pub(super) fn skip(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let from = if self.again { self.start } else { self.at };
        (self.at, self.start, self.again) = (from + length, from + length, false);
        let skipped = &self.buffer[from..self.at];
        let count = |byte: u8| skipped.iter().filter(|b| **b == byte).count() as u64;
        let cr = count(b'\r');
        let pairs = if cr == 0 {
            0
        } else {
            skipped.windows(2).filter(|pair| *pair == b"\r\n").count() as u64
        };
        if cr > pairs {
            self.lone_cr.get_or_insert(self.line);
        }
        self.line += count(b'\n') + cr - pairs;
    }

    /// Goes to the start of a word, counting lines: LF, CR and CRLF each end one.
    fn skip_blanks(&mut self) -> Result<bool> {
        let mut after_cr = false;
        loop {
            while self.at < self.end {
                let byte = self.buffer[self.at];
                if after_cr && byte != b'\n' {
                    self.lone_cr.get_or_insert(self.line - 1);
                }
                if !is_blank(byte) {
                    self.start = self.at;
                    return Ok(true);
                }
                self.line += u64::from(byte == b'\r' || byte == b'\n' && !after_cr);
                after_cr = byte == b'\r';
                self.at += 1;
            }
            self.start = self.at;
            if !self.refill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more bytes after the remaining ones from `start`; false at the end.
    fn refill(&mut self) -> Result<bool> {
        self.progress.check()?;
        if self.start == 0 && self.end == self.buffer.len() {
            return Err(
                Error::input(Code::S006, format!("a word of over {BLOCK} bytes"))
                    .at_line(self.line),
            );
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.at, self.end, self.start) = (self.at - self.start, self.end - self.start, 0);
        let read = fill(&mut self.reader, &mut self.buffer[self.end..])?;
        self.end += read;
        self.bytes += read as u64;
        self.ended = read == 0;
        self.progress.advance(read as u64);
        Ok(read > 0)
    }
}
