//! Text as lines, each as words.

use std::io::Read;

use super::source::{fill, is_blank};
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::par::Progress;

/// So much is read at a time; no line may be longer.
const BLOCK: usize = 1 << 20;

/// What may follow a line that ends in `\`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// Another line: the backslash is part of this one.
    Ends,
    /// More numbers of this line.
    Numbers,
    /// More words of this line.
    Words,
}

/// The lines of a text; LF, CR and CRLF each end one.
pub(super) struct Lines<'a, R> {
    reader: R,
    progress: &'a dyn Progress,
    buffer: Vec<u8>,
    /// `buffer[at..end]` is still to be looked at.
    at: usize,
    end: usize,
    has_ended: bool,
    /// How many lines have ended.
    count: u64,
    /// The bytes read so far.
    pub(super) bytes: u64,
    /// Where the current line is, and its number.
    current: (usize, usize),
    number: u64,
    /// All of it, where it goes on in others.
    joined: Vec<u8>,
    /// What may follow a line from which the final backslash was taken.
    continuation: fn(&[u8]) -> Continuation,
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(reader: R, progress: &'a dyn Progress) -> Self {
        Self {
            reader,
            progress,
            buffer: vec![0; BLOCK],
            at: 0,
            end: 0,
            has_ended: false,
            count: 0,
            bytes: 0,
            current: (0, 0),
            number: 0,
            joined: vec![],
            continuation: |_| Continuation::Ends,
        }
    }

    /// These lines, of which some go on in the next where they end in `\`.
    pub(super) fn joining(self, continuation: fn(&[u8]) -> Continuation) -> Self {
        Self {
            continuation,
            ..self
        }
    }

    /// Goes to the next line; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let Some(found) = self.piece()? else {
            return Ok(false);
        };
        self.number = self.count;
        self.current = found;
        self.joined.clear();
        let line = self.piece_at(found);
        let Some(start) = continued(line) else {
            return Ok(true);
        };
        let follows = (self.continuation)(start);
        if follows == Continuation::Ends {
            return Ok(true);
        }
        let start = start.to_vec();
        self.joined.extend_from_slice(&start);
        loop {
            self.joined.push(b' ');
            let Some(found) = self.piece()? else {
                return Ok(true);
            };
            let piece = &self.buffer[found.0..found.1];
            if follows == Continuation::Numbers && !begins_with_number(piece) {
                // The next line stands for itself.
                self.at = found.0;
                self.count -= 1;
                return Ok(true);
            }
            let goes_on = continued(piece);
            self.joined.extend_from_slice(goes_on.unwrap_or(piece));
            if self.joined.len() > BLOCK {
                return Err(too_long(self.number));
            }
            if goes_on.is_none() {
                return Ok(true);
            }
        }
    }

    /// The line, with those in which it goes on.
    pub(super) fn line(&self) -> &[u8] {
        if self.joined.is_empty() {
            self.piece_at(self.current)
        } else {
            &self.joined
        }
    }

    /// Its number, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// A piece of the text, less a byte order mark at the beginning of all.
    fn piece_at(&self, (from, to): (usize, usize)) -> &[u8] {
        let piece = &self.buffer[from..to];
        if self.count == 1 {
            piece.strip_prefix(b"\xef\xbb\xbf").unwrap_or(piece)
        } else {
            piece
        }
    }

    /// Where the text up to the next line end is.
    fn piece(&mut self) -> Result<Option<(usize, usize)>> {
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.at + seen..self.end];
            if let Some(n) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                let from = self.at;
                let to = self.at + seen + n;
                // CRLF is one end; whether LF follows may be known only in the next block.
                if self.buffer[to] == b'\r' && to + 1 == self.end && !self.has_ended {
                    seen = to - from;
                    self.refill()?;
                    continue;
                }
                let is_pair =
                    self.buffer[to] == b'\r' && self.buffer[..self.end].get(to + 1) == Some(&b'\n');
                self.at = to + 1 + usize::from(is_pair);
                self.count += 1;
                return Ok(Some((from, to)));
            }
            if self.has_ended {
                let from = std::mem::replace(&mut self.at, self.end);
                self.count += u64::from(from < self.end);
                return Ok((from < self.end).then_some((from, self.end)));
            }
            seen = self.end - self.at;
            self.refill()?;
        }
    }

    /// Reads more behind what is left.
    fn refill(&mut self) -> Result<()> {
        self.progress.check()?;
        if self.at == 0 && self.end == self.buffer.len() {
            return Err(too_long(self.count + 1));
        }
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        let read = fill(&mut self.reader, &mut self.buffer[self.end..])?;
        self.end += read;
        self.bytes += read as u64;
        self.has_ended = self.end < self.buffer.len();
        self.progress.advance(read as u64);
        Ok(())
    }
}

fn too_long(number: u64) -> Error {
    Error::input(Code::S006, format!("a line of over {BLOCK} bytes")).at_line(number)
}

/// A line without its final backslash, if it has one outside of a comment. Blanks may follow it.
fn continued(line: &[u8]) -> Option<&[u8]> {
    let start = line.trim_ascii_end().strip_suffix(b"\\")?;
    let mut rest = start;
    loop {
        let (word, behind) = next_word(rest);
        if word.is_empty() {
            // A comment ends with its line.
            return (!has_comment(rest)).then_some(start);
        }
        rest = behind;
    }
}

/// Whether a comment begins behind the blanks of a line.
fn has_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'#')
}

/// Whether the first word of a line is a number, or the backslash alone.
fn begins_with_number(line: &[u8]) -> bool {
    let first = line.trim_ascii_start().first();
    first.is_some_and(|byte| byte.is_ascii_digit() || b"+-.\\".contains(byte))
}

/// The first word of a line, whatever it begins with; empty if there is none.
pub(super) fn first_word(line: &[u8]) -> &[u8] {
    split_word(line).0
}

/// A whole number with a sign.
pub(super) fn whole(digits: &[u8]) -> Option<i64> {
    let (sign, digits) = match digits {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        all => (1, all),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        sign * digits
            .iter()
            .fold(0, |n, digit| 10 * n + i64::from(digit - b'0')),
    )
}

/// The first word of a line, and what follows; empty at its end, or where a comment begins.
pub(super) fn next_word(line: &[u8]) -> (&[u8], &[u8]) {
    match split_word(line) {
        ([b'#', ..], _) => (&[], &[]),
        found => found,
    }
}

/// The first word of a line, and what follows it.
fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
    let start = line
        .iter()
        .position(|byte| !is_blank(*byte))
        .unwrap_or(line.len());
    let rest = &line[start..];
    let end = rest
        .iter()
        .position(|byte| is_blank(*byte))
        .unwrap_or(rest.len());
    rest.split_at(end)
}
