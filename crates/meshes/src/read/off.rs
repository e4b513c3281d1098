//! Reader of OFF, the format of Geomview.
//!
//! ```text
//! OFF                  (COFF, NOFF, CNOFF, STOFF, …: colours, normals, texture coordinates after each vertex)
//!                      (in any case; it may be missing, or be joined to the first number: OFF8 12 0)
//! 8 6 12               numbers of vertices, faces and edges; the last is ignored
//! X Y Z …              each vertex
//! 4 0 1 2 3 …          each face: number of corners, their vertices, which count from 0; a colour may follow
//!                      (a face without a colour may continue in the next lines)
//! ```
//!
//! Comments extend from `#` to the end of the line. Empty lines are ignored. Faces are cut into triangles
//! (`polygon.rs`). Binary OFF is refused, and so are vertices with another number of coordinates than three.
//!
//! <http://www.geomview.org/docs/html/OFF.html>

use std::io::Read;

use super::indexed::{FilePosition, Indexed, no_number};
use super::lines::{Lines, first_word, next_word, whole};
use super::number;
use super::shares::{ColourRange, WrittenColour};
use super::source::{Head, MeshBytes};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use voxelize_core::error::{Code, Error, Result, sanitize};

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "off",
    extensions: &["off"],
    about: "OFF of Geomview: polygons; COFF, NOFF and similar",
    states_unit: false,
    has_decimals: true,
    recognise,
    read,
};

fn recognise(head: &Head) -> Guess {
    let lines = head.text().split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut lines = lines.filter(|line| !next_word(line).0.is_empty());
    let Some(line) = lines.next() else {
        return Guess::No;
    };
    let (word, rest) = next_word(line);
    let Some((keyword, glued)) = split_keyword(word) else {
        let is_whole = head.length == Some(head.bytes.len() as u64);
        return match without_keyword(line, lines) {
            _ if !head.is_text() => Guess::No,
            Guess::Maybe if is_whole => Guess::No,
            guess => guess,
        };
    };
    if keyword.iter().all(|byte| !byte.is_ascii_lowercase()) {
        return Guess::Sure;
    }
    // The keyword could be an ordinary word, unless numbers follow.
    let next = if glued.is_empty() {
        next_word(rest).0
    } else {
        glued
    };
    let next = if next.is_empty() {
        lines.next().map_or(next, |line| next_word(line).0)
    } else {
        next
    };
    let is_usual = next.is_empty() || whole(next).is_some() || next.eq_ignore_ascii_case(b"BINARY");
    if is_usual && head.is_text() {
        Guess::Sure
    } else {
        Guess::No
    }
}

/// Splits a word into the keyword and a number that follows it without a blank. The keyword is `OFF`, with
/// prefixes that state what data each vertex has.
fn split_keyword(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = word.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let (keyword, glued) = word.split_at(length);
    let upper = keyword.to_ascii_uppercase();
    let before = upper.strip_suffix(b"OFF")?;
    let before = before.strip_prefix(b"ST").unwrap_or(before);
    let is_known = before.len() < 5 && before.iter().all(|byte| b"CN4".contains(byte));
    is_known.then_some((keyword, glued))
}

/// Returns whether a text without a keyword is OFF: it begins with the numbers of vertices, faces and edges,
/// then has that many vertices of three numbers, and a face that uses these vertices.
fn without_keyword<'a>(first: &[u8], mut lines: impl Iterator<Item = &'a [u8]>) -> Guess {
    let mut counts = OffWords(first);
    let mut count = || whole(counts.next_word()).filter(|count| *count > 0);
    let (Some(vertices), Some(_)) = (count(), count()) else {
        return Guess::No;
    };
    let edges = counts.next_word();
    if whole(edges).is_none() || !counts.next_word().is_empty() || vertices < 3 {
        return Guess::No;
    }
    for _ in 0..vertices {
        let Some(line) = lines.next() else {
            return Guess::Maybe;
        };
        if OffWords(line)
            .take(3)
            .filter(|word| number::of(word).is_some())
            .count()
            < 3
        {
            return Guess::No;
        }
    }
    let Some(face) = lines.next() else {
        return Guess::Maybe;
    };
    let mut words = OffWords(face);
    let corners = whole(words.next_word()).filter(|corners| (3..=vertices).contains(corners));
    let Some(corners) = corners.and_then(|corners| usize::try_from(corners).ok()) else {
        return Guess::No;
    };
    let is_corner =
        |word: &&[u8]| whole(word).is_some_and(|corner| (0..vertices).contains(&corner));
    let found = words.take(corners).filter(is_corner).count();
    if found == corners {
        Guess::Sure
    } else {
        Guess::No
    }
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let mut lines = Lines::new(source.into_reader(), options.progress);
    let mut indexed = Indexed::new(options.max_memory, triage, 0)
        .numbered(options.vertex_numbers)
        .heard_by(options.progress);
    let ([vertices, faces], layout) = header(&mut lines)?;
    for n in 0..vertices {
        if !to_next(&mut lines)? {
            triage.found(cut_short("vertex", n, vertices).at_line(lines.number()))?;
            break;
        }
        let mut words = OffWords(lines.line());
        indexed.vertex_of(|| words.next_word(), FilePosition::Line(lines.number()))?;
        if layout.has_colours {
            for _ in words.by_ref().take(layout.before_colours) {}
            if let Some(colour) = words.colour(indexed.vertex_range()) {
                indexed.colour_written(indexed.count() as usize - 1, colour)?;
            }
        }
    }
    let mut joined = Joined::default();
    for n in 0..faces {
        if !joined.has_next && !to_next(&mut lines)? {
            triage.found(cut_short("face", n, faces).at_line(lines.number()))?;
            break;
        }
        let number = FilePosition::Line(lines.number());
        let mut words = OffWords(joined.face(&mut lines)?);
        let count = words.next_word();
        match whole(count).filter(|count| *count >= 0) {
            Some(corners) => {
                let mut following = OffWords(words.0);
                for _ in following
                    .by_ref()
                    .take(usize::try_from(corners).unwrap_or(0))
                {}
                if let Some(colour) = following.colour(indexed.face_range()) {
                    indexed.colour_next_written(colour)?;
                }
                let place = |_| {
                    let word = words.next_word();
                    whole(word).ok_or_else(|| no_number(word, "the number of a vertex"))
                };
                indexed.face((0..corners).map(place), number)?;
            }
            None => {
                let error = no_number(count, "the number of corners of a face");
                indexed.face(std::iter::once(Err(error)), number)?;
            }
        }
    }
    if joined.has_next || to_next(&mut lines)? {
        let text = format!(
            "'{}' follows the last face",
            sanitize(first_word(lines.line()))
        );
        triage.found(Error::input(Code::S005, text).at_line(lines.number()))?;
        while lines.advance()? {}
    }
    Ok(Content::new(indexed.into_mesh()?, lines.bytes()))
}

fn cut_short(what: &str, n: u64, count: u64) -> Error {
    Error::input(
        Code::S003,
        format!("cut short: {what} {n} of {count} is missing"),
    )
}

/// Advances to the next line that is not empty. Returns `false` at the end of the text.
fn to_next(lines: &mut Lines<impl Read>) -> Result<bool> {
    while lines.advance()? {
        if !next_word(lines.line()).0.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Position of the colour in the line of a vertex.
struct OffLayout {
    has_colours: bool,
    /// Number of words between the coordinates and the colour, which are the normal.
    before_colours: usize,
}

/// Reads the header: the numbers of vertices and faces, and the layout of vertices.
fn header(lines: &mut Lines<impl Read>) -> Result<([u64; 2], OffLayout)> {
    let refused = |what: &str| {
        let error = Error::input(Code::S009, format!("{what} is not supported"));
        Err(error.with_hint("export OFF as text, or binary STL"))
    };
    to_next(lines)?;
    let mut words = OffWords(lines.line());
    let (first, rest) = next_word(words.0);
    let (keyword, glued) = split_keyword(first).unwrap_or((b"", first));
    words.0 = if glued.is_empty() {
        rest
    } else {
        &words.0[words.0.len() - rest.len() - glued.len()..]
    };
    // `nOFF` means any number of coordinates. `noff` is `NOFF` in lower case, which means normals.
    if keyword.contains(&b'4') || keyword.contains(&b'n') && keyword.ends_with(b"OFF") {
        return refused("the OFF does not have three coordinates per vertex");
    }
    let keyword = keyword.to_ascii_uppercase();
    let has_normals = keyword.contains(&b'N');
    let layout = OffLayout {
        has_colours: keyword.contains(&b'C'),
        before_colours: if has_normals { 3 } else { 0 },
    };
    if words.0.trim_ascii().eq_ignore_ascii_case(b"BINARY") {
        return refused("binary OFF");
    }
    if next_word(words.0).0.is_empty() {
        if !to_next(lines)? {
            return Err(Error::input(
                Code::S003,
                "cut short: it has no numbers of vertices and faces",
            ));
        }
        words = OffWords(lines.line());
    }
    let mut count = |what: &str| {
        let word = words.next_word();
        let found = whole(word).and_then(|count| u64::try_from(count).ok());
        found.ok_or_else(|| no_number(word, what).at_line(lines.number()))
    };
    Ok((
        [
            count("the number of vertices")?,
            count("the number of faces")?,
        ],
        layout,
    ))
}

/// Maximum length in bytes of a face that is spread over several lines.
const MAX_JOINED: usize = 1 << 20;

/// Face that is spread over several lines.
#[derive(Default)]
struct Joined {
    words: Vec<u8>,
    /// The current line already belongs to the next face.
    has_next: bool,
}

impl Joined {
    /// Reads the face that begins in the current line. A following line belongs to the face if it has at most
    /// as many words as corners are missing.
    fn face<'a>(&'a mut self, lines: &'a mut Lines<impl Read>) -> Result<&'a [u8]> {
        self.has_next = false;
        let mut missing = missing_corners(lines.line());
        if missing == 0 {
            return Ok(lines.line());
        }
        self.words.clear();
        self.push(lines.line());
        while missing > 0 && to_next(lines)? {
            let found = OffWords(lines.line()).count();
            self.has_next = found > missing || self.words.len() > MAX_JOINED;
            if self.has_next {
                break;
            }
            self.push(lines.line());
            missing -= found;
        }
        Ok(&self.words)
    }

    fn push(&mut self, line: &[u8]) {
        for word in OffWords(line) {
            self.words.extend_from_slice(word);
            self.words.push(b' ');
        }
    }
}

/// Returns the number of corners of a face that are missing in its first line.
fn missing_corners(line: &[u8]) -> usize {
    let mut words = OffWords(line);
    let corners = whole(words.next_word())
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(0);
    corners - words.take(corners).count()
}

/// Words of a line.
struct OffWords<'a>(&'a [u8]);

impl<'a> Iterator for OffWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        Some(self.next_word()).filter(|word| !word.is_empty())
    }
}

impl<'a> OffWords<'a> {
    /// Returns the next word. It is empty at the end of the line.
    fn next_word(&mut self) -> &'a [u8] {
        let (word, following) = next_word(self.0);
        self.0 = following;
        word
    }

    /// Returns the colour in the next three words. An opacity after it is skipped. A single number is an
    /// index into a table of colours and is ignored.
    fn colour(&mut self, range: &mut ColourRange) -> Option<WrittenColour> {
        let words = [(); 4].map(|()| self.next_word());
        if words[2].is_empty() {
            None
        } else {
            range.colour(words)
        }
    }
}
