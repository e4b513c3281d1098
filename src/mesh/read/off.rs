//! OFF, the format of Geomview.
//!
//! ```text
//! OFF                  (COFF, NOFF, CNOFF, STOFF, …: colours, normals, texture coordinates behind each vertex)
//! 8 6 12               the numbers of vertices, faces and edges; the last means nothing
//! X Y Z …              each vertex
//! 4 0 1 2 3 …          each face: how many corners, their vertices, which count from 0; a colour may follow
//!                      (a face without a colour may go on in the next lines)
//! ```
//!
//! Comments go from `#` to the end of the line; empty lines mean nothing. Faces are cut into triangles (`polygon.rs`).
//! Binary OFF, and vertices of four or n coordinates, are refused.
//!
//! <http://www.geomview.org/docs/html/OFF.html>

use std::io::Read;

use super::indexed::{FilePosition, Indexed, no_number};
use super::lines::{Lines, first_word, next_word, whole};
use super::number;
use super::source::{Head, MeshBytes};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::error::{Code, Error, Result, sanitize};
use crate::mesh::colours::channel;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "off",
    extensions: &["off"],
    about: "OFF of Geomview: polygons; COFF, NOFF and their like",
    states_unit: false,
    recognise,
    read,
};

fn recognise(head: &Head) -> Guess {
    let mut words = head.bytes.split(|byte| matches!(byte, b'\n' | b'\r')).map(first_word);
    let word = words.find(|word| !word.is_empty() && word[0] != b'#').unwrap_or_default();
    if is_keyword(word) { Guess::Sure } else { Guess::No }
}

/// Whether a word is `OFF` with what says how vertices are written in front of it.
fn is_keyword(word: &[u8]) -> bool {
    let before = word.strip_suffix(b"OFF").map(|before| before.strip_prefix(b"ST").unwrap_or(before));
    before.is_some_and(|before| before.len() < 5 && before.iter().all(|byte| b"CN4n".contains(byte)))
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let mut lines = Lines::new(source.into_reader(), options.progress);
    let mut indexed = Indexed::new(options.max_memory, triage, 0).numbered(options.vertex_numbers);
    let ([vertices, faces], layout) = header(&mut lines)?;
    for n in 0..vertices {
        if !to_next(&mut lines)? {
            triage.found(cut_short("vertex", n, vertices).at_line(lines.number()))?;
            break;
        }
        let mut words = OffWords(lines.line());
        indexed.vertex_of(|| words.next_word(), FilePosition::Line(lines.number()))?;
        if layout.has_colours {
            words.by_ref().take(layout.before_colours).for_each(drop);
            words.colour().map_or(Ok(()), |colour| indexed.colour_vertex(colour))?;
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
                let mut behind = OffWords(words.0);
                behind.by_ref().take(usize::try_from(corners).unwrap_or(0)).for_each(drop);
                behind.colour().into_iter().for_each(|colour| indexed.colour_next([colour; 3]));
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
        let text = format!("'{}' follows the last face", sanitize(first_word(lines.line())));
        triage.found(Error::input(Code::S005, text).at_line(lines.number()))?;
        while lines.advance()? {}
    }
    Ok(Content::new(indexed.into_mesh()?, lines.bytes))
}

fn cut_short(what: &str, n: u64, count: u64) -> Error {
    Error::input(Code::S003, format!("cut short: {what} {n} of {count} is missing"))
}

/// Goes to the next line that says something.
fn to_next(lines: &mut Lines<impl Read>) -> Result<bool> {
    while lines.advance()? {
        if !next_word(lines.line()).0.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where the colours of vertices stand.
struct OffLayout {
    has_colours: bool,
    /// The numbers between the coordinates and the colour: those of a normal.
    before_colours: usize,
}

/// The numbers of vertices and faces, and what vertices have.
fn header(lines: &mut Lines<impl Read>) -> Result<([u64; 2], OffLayout)> {
    let refused = |what: &str| {
        let error = Error::input(Code::S009, format!("{what} is not supported"));
        Err(error.with_hint("export OFF as text, or binary STL"))
    };
    to_next(lines)?;
    let mut words = OffWords(lines.line());
    let keyword = words.next_word();
    if keyword.iter().any(|byte| b"4n".contains(byte)) {
        return refused("OFF of other than three coordinates");
    }
    let has_normals = keyword.contains(&b'N');
    let layout =
        OffLayout { has_colours: keyword.contains(&b'C'), before_colours: if has_normals { 3 } else { 0 } };
    if words.0.trim_ascii() == b"BINARY" {
        return refused("binary OFF");
    }
    if next_word(words.0).0.is_empty() {
        if !to_next(lines)? {
            return Err(Error::input(Code::S003, "cut short: it has no numbers of vertices and faces"));
        }
        words = OffWords(lines.line());
    }
    let mut count = |what: &str| {
        let word = words.next_word();
        let found = whole(word).and_then(|count| u64::try_from(count).ok());
        found.ok_or_else(|| no_number(word, what).at_line(lines.number()))
    };
    Ok(([count("the number of vertices")?, count("the number of faces")?], layout))
}

/// The longest face of several lines.
const MAX_JOINED: usize = 1 << 20;

/// A face of several lines.
#[derive(Default)]
struct Joined {
    words: Vec<u8>,
    /// Whether the line at hand is the first of the next face.
    has_next: bool,
}

impl Joined {
    /// The face that begins in the line at hand: with those behind it, as long as they are no more than its missing
    /// corners.
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

/// How many corners of a face are not in its first line.
fn missing_corners(line: &[u8]) -> usize {
    let mut words = OffWords(line);
    let corners = whole(words.next_word()).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    corners - words.take(corners).count()
}

/// The words of a line.
struct OffWords<'a>(&'a [u8]);

impl<'a> Iterator for OffWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        Some(self.next_word()).filter(|word| !word.is_empty())
    }
}

impl<'a> OffWords<'a> {
    /// The next word; empty at the end of the line.
    fn next_word(&mut self) -> &'a [u8] {
        let (word, behind) = next_word(self.0);
        self.0 = behind;
        word
    }

    /// The colour that the next three words are: shares of 1 if they have a point, else whole numbers up to 255. A single
    /// number, of a table of colours, is none.
    fn colour(&mut self) -> Option<[u8; 3]> {
        let words = [(); 3].map(|()| self.next_word());
        if words[2].is_empty() {
            return None;
        }
        let is_share = words.iter().any(|word| word.contains(&b'.'));
        let [r, g, b] = words.map(number::of);
        Some([r?, g?, b?].map(|value| channel(f64::from(value) / if is_share { 1.0 } else { 255.0 })))
    }
}
