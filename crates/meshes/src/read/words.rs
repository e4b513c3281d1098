//! Reader of text as words, which are separated by blanks and line ends of any kind. It also counts lines.

use std::io::Read;

use super::source::is_blank;
use super::window::Window;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::par::Progress;

/// Minimum number of bytes that are read at a time. No word may be longer than the buffer.
const BLOCK: usize = 256 << 10;

/// Words of a text, one after another, without copying.
pub(super) struct Words<'a, R> {
    /// Window on the text. The bytes that were not taken begin with the current word.
    window: Window<'a, R>,
    /// Length of the current word.
    length: usize,
    line: u64,
    again: bool,
    lone_cr: Option<u64>,
    marked: bool,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a, R: Read> Words<'a, R> {
    /// Creates a reader of words. A byte order mark at the start is skipped. At least `block` bytes are read
    /// at a time.
    pub(super) fn new(reader: R, block: usize, progress: &'a dyn Progress) -> Result<Self> {
        let mut window = Window::new(reader, block.max(BLOCK), 0, progress);
        window.refill()?;
        let marked = window.rest().starts_with(MARK);
        if marked {
            window.take(MARK.len());
        }
        Ok(Self {
            window,
            length: 0,
            line: 1,
            again: false,
            lone_cr: None,
            marked,
        })
    }

    /// Returns whether the text began with a byte order mark.
    pub(super) fn marked(&self) -> bool {
        self.marked
    }

    /// Returns the number of the first line that ends in CR without LF. `None` if there is none.
    pub(super) fn lone_cr(&self) -> Option<u64> {
        self.lone_cr
    }

    /// Advances to the next word. Returns `false` at the end of the text.
    pub(super) fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.again) {
            return Ok(self.length > 0);
        }
        self.window.take(self.length);
        self.length = 0;
        if !self.skip_blanks()? {
            return Ok(false);
        }
        loop {
            let more = &self.window.rest()[self.length..];
            if let Some(length) = more.iter().position(|&byte| is_blank(byte)) {
                self.length += length;
                return Ok(true);
            }
            self.length += more.len();
            if !self.refill()? {
                return Ok(true);
            }
        }
    }

    /// Makes the next call of [`advance`](Self::advance) return the current word again.
    pub(super) fn stay(&mut self) {
        self.again = true;
    }

    /// Returns the current word. It is empty at the end of the text.
    pub(super) fn word(&self) -> &[u8] {
        &self.window.rest()[..self.length]
    }

    /// Returns whether the current word is `keyword`, ignoring ASCII case.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.word().eq_ignore_ascii_case(keyword.as_bytes())
    }

    /// Returns the number of the line with the current word, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns whether the text ends directly after the current word.
    pub(super) fn at_end(&self) -> bool {
        self.window.has_ended() && self.length == self.window.rest().len()
    }

    /// Returns the number of bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.window.bytes()
    }

    /// Returns the bytes that were read but not parsed. They include the current word if [`stay`](Self::stay)
    /// was called.
    pub(super) fn rest(&self) -> &[u8] {
        &self.window.rest()[if self.again { 0 } else { self.length }..]
    }

    /// Skips the first `length` bytes of [`rest`](Self::rest). They must end with a whole word.
    pub(super) fn skip(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        if !std::mem::take(&mut self.again) {
            self.window.take(self.length);
        }
        self.length = 0;
        self.window.take(length);
        let skipped = self.window.taken(length);
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

    /// Advances to the start of the next word, and counts lines. LF, CR and CRLF each end a line.
    fn skip_blanks(&mut self) -> Result<bool> {
        let mut after_cr = false;
        loop {
            let mut blanks = 0;
            for &byte in self.window.rest() {
                if after_cr && byte != b'\n' {
                    self.lone_cr.get_or_insert(self.line - 1);
                }
                if !is_blank(byte) {
                    self.window.take(blanks);
                    return Ok(true);
                }
                self.line += u64::from(byte == b'\r' || byte == b'\n' && !after_cr);
                after_cr = byte == b'\r';
                blanks += 1;
            }
            self.window.take(blanks);
            if !self.refill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more bytes. Returns `false` at the end of the text.
    fn refill(&mut self) -> Result<bool> {
        if self.window.is_full() {
            return Err(
                Error::input(Code::S006, format!("a word has more than {BLOCK} bytes"))
                    .at_line(self.line),
            );
        }
        Ok(self.window.refill()? > 0)
    }
}
