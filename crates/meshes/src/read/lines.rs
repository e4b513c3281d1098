//! Reader of text as lines of words.

use std::io::Read;

use super::source::is_blank;
use super::window::Window;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::par::Progress;

/// Number of bytes that are read at a time. It is also the maximum length of a line.
const BLOCK: usize = 1 << 20;

/// Meaning of a `\` at the end of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// The line ends here. The backslash is part of the line.
    Ends,
    /// The line continues in the next line if that begins with a number.
    Numbers,
    /// The line continues in the next line.
    Words,
}

/// Lines of a text. LF, CR and CRLF each end a line.
pub(super) struct Lines<'a, R> {
    window: Window<'a, R>,
    /// Number of lines that have ended.
    count: u64,
    /// Lengths in bytes of the last line read, without and with its line end.
    last: [usize; 2],
    /// Number of the current line, from 1.
    number: u64,
    /// Joined text of the current line and its continuation lines. Empty if it has none.
    joined: Vec<u8>,
    /// Returns the meaning of a `\` at the end of a line. The argument is the line without it.
    continuation: fn(&[u8]) -> Continuation,
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(reader: R, progress: &'a dyn Progress) -> Self {
        Self {
            window: Window::new(reader, BLOCK, 0, progress),
            count: 0,
            last: [0; 2],
            number: 0,
            joined: vec![],
            continuation: |_| Continuation::Ends,
        }
    }

    /// Sets the function that decides whether a line that ends in `\` continues in the next line.
    pub(super) fn joining(self, continuation: fn(&[u8]) -> Continuation) -> Self {
        Self {
            continuation,
            ..self
        }
    }

    /// Advances to the next line. Returns `false` at the end of the text.
    pub(super) fn advance(&mut self) -> Result<bool> {
        if !self.take_line()? {
            return Ok(false);
        }
        self.number = self.count;
        self.joined.clear();
        let Some(start) = continued(self.last_line()) else {
            return Ok(true);
        };
        let follows = (self.continuation)(start);
        if follows == Continuation::Ends {
            return Ok(true);
        }
        self.joined = start.to_vec();
        loop {
            self.joined.push(b' ');
            if !self.take_line()? {
                return Ok(true);
            }
            let [length, whole] = self.last;
            let piece = &self.window.taken(whole)[..length];
            if follows == Continuation::Numbers && !begins_with_number(piece) {
                // The next line does not continue this one.
                self.window.give_back(whole);
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

    /// Returns the current line, joined with its continuation lines.
    pub(super) fn line(&self) -> &[u8] {
        if self.joined.is_empty() {
            self.last_line()
        } else {
            &self.joined
        }
    }

    /// Returns the number of the current line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.window.bytes()
    }

    /// Returns the last line read, without a byte order mark at the start of the text.
    fn last_line(&self) -> &[u8] {
        let [length, whole] = self.last;
        let line = &self.window.taken(whole)[..length];
        if self.count == 1 {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        } else {
            line
        }
    }

    /// Reads one line including its line end. Returns `false` at the end of the text.
    fn take_line(&mut self) -> Result<bool> {
        let mut seen = 0;
        loop {
            let rest = self.window.rest();
            let ends = rest[seen..]
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = ends.map_or(rest.len(), |n| seen + n);
            // CRLF is one line end. The LF may be in the next block.
            let is_whole = ends.is_some() && (rest[length] != b'\r' || length + 1 < rest.len());
            if is_whole || self.window.has_ended() {
                let end = match rest[length..] {
                    [] => 0,
                    [b'\r', b'\n', ..] => 2,
                    _ => 1,
                };
                self.last = [length, length + end];
                self.window.take(length + end);
                self.count += u64::from(length + end > 0);
                return Ok(length + end > 0);
            }
            seen = length;
            if self.window.is_full() {
                return Err(too_long(self.count + 1));
            }
            self.window.refill()?;
        }
    }
}

fn too_long(number: u64) -> Error {
    Error::input(Code::S006, format!("a line has more than {BLOCK} bytes")).at_line(number)
}

/// Returns a line without its final backslash and any blanks after it. `None` if there is no final backslash,
/// or it is within a comment.
fn continued(line: &[u8]) -> Option<&[u8]> {
    let start = line.trim_ascii_end().strip_suffix(b"\\")?;
    let mut rest = start;
    loop {
        let (word, following) = next_word(rest);
        if word.is_empty() {
            // A comment does not continue in the next line.
            return (!has_comment(rest)).then_some(start);
        }
        rest = following;
    }
}

/// Returns whether the rest of a line is a comment, possibly after blanks.
fn has_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'#')
}

/// Returns whether a line begins with a number, or consists of a continuation only.
fn begins_with_number(line: &[u8]) -> bool {
    let first = line.trim_ascii_start().first();
    first.is_some_and(|byte| byte.is_ascii_digit() || b"+-.\\".contains(byte))
}

/// Returns the first word of a line, even if it begins a comment. The word is empty if there is none.
pub(super) fn first_word(line: &[u8]) -> &[u8] {
    split_word(line).0
}

/// Parses an integer with an optional sign.
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

/// Returns the first word of a line and the rest of the line. The word is empty at the end of the line or at
/// a comment.
pub(super) fn next_word(line: &[u8]) -> (&[u8], &[u8]) {
    match split_word(line) {
        ([b'#', ..], _) => (&[], &[]),
        found => found,
    }
}

/// Returns the first word of a line and the rest of the line. A comment counts as words.
pub(super) fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
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
