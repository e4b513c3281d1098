//! Wavefront OBJ.
//!
//! | line | |
//! |---|---|
//! | `v X Y Z …` | a vertex; a weight or a colour may follow, and does not matter to geometry |
//! | `f V V V …` | a polygon: each `V` is a vertex's number, `V/VT`, `V//VN` or `V/VT/VN`; numbers count from 1, negative ones back from the last vertex |
//! | `o NAME` | an object: the polygons that follow are a part of the mesh |
//! | `g NAME …` | a group: a part, where the file names no objects |
//! | `usemtl`, `mtllib`, `vt`, `vn`, `s`, `#` | materials, textures, normals, comments: nothing of geometry |
//! | `p`, `l`, `curv`, `surf`, … | points, lines and free-form curves and surfaces: no triangles, noted and left out |
//!
//! A line that ends in `\` goes on in the next. Polygons are cut into triangles (`polygon.rs`). Text is read once, in
//! blocks; vertices and triangles are what is held of it.
//!
//! The format: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

use std::collections::HashMap;
use std::io::Read;

use super::number;
use super::polygon::PolygonCutter;
use super::room::Room;
use super::source::{Head, MeshBytes, fill, is_blank};
use super::triage::Triage;
use super::{Guess, InputFormat, ReadOptions};
use crate::error::{Code, Error, Result, sanitize};
use crate::geom::{Point, Triangle};
use crate::mesh::{Mesh, MeshParts, not_finite};
use crate::par::Progress;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "obj",
    extensions: &["obj"],
    about: "Wavefront OBJ: polygons, objects and groups",
    recognise,
    read,
};

/// So much is read at a time; no line may be longer.
const BLOCK: usize = 1 << 20;

/// The words that lines begin with; the first two make sure that it is an OBJ.
const KEYWORDS: [&[u8]; 14] =
    [b"v", b"f", b"vt", b"vn", b"vp", b"o", b"g", b"s", b"l", b"p", b"usemtl", b"mtllib", b"cstype", b"deg"];

fn recognise(head: &Head) -> Guess {
    if !head.is_text() {
        return Guess::No;
    }
    let text = head.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head.bytes);
    // The last line of the head may be cut.
    let mut lines: Vec<_> = text.split(|byte| matches!(byte, b'\n' | b'\r')).collect();
    if head.length.is_none_or(|length| length > head.bytes.len() as u64) {
        lines.pop();
    }
    let mut words =
        lines.iter().map(|line| first_word(line)).filter(|word| !word.is_empty() && word[0] != b'#');
    let mut begins = 0;
    let all_known = words.by_ref().take(32).inspect(|_| begins += 1).all(|word| KEYWORDS.contains(&word));
    if begins > 0 && all_known { Guess::Sure } else { Guess::No }
}

fn first_word(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !is_blank(*byte)).unwrap_or(line.len());
    let end = line[start..].iter().position(|byte| is_blank(*byte)).map_or(line.len(), |n| start + n);
    &line[start..end]
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<(Mesh, u64)> {
    let mut lines = Lines::new(source.into_reader(), options.progress);
    let mut reader = ObjReader {
        room: Room::new(options.max_memory),
        triage,
        vertices: vec![],
        triangles: vec![],
        parts: MeshParts::default(),
        known: HashMap::new(),
        part: 0,
        has_objects: false,
        polygon: vec![],
        cutter: PolygonCutter::new(),
    };
    while let Some((line, number)) = lines.next()? {
        reader.line(line, number)?;
    }
    reader.end_part();
    let ObjReader { triangles, parts, .. } = reader;
    let mesh = Mesh::of_finite(triangles.into());
    let mesh = if parts.names().iter().all(String::is_empty) { mesh } else { mesh.with_parts(parts)? };
    Ok((mesh, lines.bytes))
}

/// Lines on their way to triangles.
struct ObjReader<'a> {
    room: Room,
    triage: &'a Triage,
    /// Damaged ones are NaN, so that numbers stay.
    vertices: Vec<Point>,
    triangles: Vec<Triangle>,
    /// Objects, or groups where there are none, without the triangles of the last.
    parts: MeshParts,
    /// Their numbers by name: a file may come back to a part.
    known: HashMap<String, u32>,
    part: u32,
    has_objects: bool,
    polygon: Vec<Point>,
    cutter: PolygonCutter,
}

impl ObjReader<'_> {
    fn line(&mut self, line: &[u8], number: u64) -> Result<()> {
        let word = first_word(line);
        let rest = &line[word.as_ptr().addr() - line.as_ptr().addr() + word.len()..];
        match word {
            b"v" => self.vertex(rest, number),
            b"f" | b"fo" => self.face(rest, number),
            b"o" => self.part(rest, true),
            b"g" if !self.has_objects => self.part(rest, false),
            b"" | b"g" | b"vt" | b"vn" | b"s" | b"usemtl" | b"mtllib" => Ok(()),
            _ if word[0] == b'#' => Ok(()),
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => {
                let text = format!("'{}': points, lines and free-form surfaces are left out", sanitize(word));
                self.triage
                    .found_all(Code::S107, 1, || Error::input(Code::S107, text.clone()).at_line(number))
            }
            // What belongs to free-form geometry, or to pictures of it.
            _ => Ok(()),
        }
    }

    fn vertex(&mut self, mut rest: &[u8], number: u64) -> Result<()> {
        let mut point = [f32::NAN; 3];
        for coordinate in &mut point {
            let (word, behind) = next_word(rest);
            rest = behind;
            match number::of(word) {
                Some(value) => *coordinate = value,
                None => {
                    let error = self.no_number(word, "a coordinate").at_line(number);
                    self.triage.found(error)?;
                    point = [f32::NAN; 3];
                    break;
                }
            }
        }
        if let Some(bad) = point.iter().find(|coordinate| !coordinate.is_finite()) {
            let error = not_finite(*bad).at_line(number);
            self.triage.found(error)?;
            point = [f32::NAN; 3];
        }
        if self.vertices.len() == self.vertices.capacity() {
            self.admit(self.vertices.capacity().max(512))?;
        }
        self.vertices.push(point);
        Ok(())
    }

    /// Makes room for so many more vertices, beside the triangles.
    fn admit(&mut self, more: usize) -> Result<()> {
        // While they move, both are there.
        let bytes = (self.vertices.len() + more) as u64 * size_of::<Point>() as u64;
        self.room.admit(self.triangles.capacity() as u64, self.beside() + bytes)?;
        let too_many = |_| Error::too_large("more vertices than the system provides memory for");
        self.vertices.try_reserve_exact(more).map_err(too_many)
    }

    fn face(&mut self, mut rest: &[u8], number: u64) -> Result<()> {
        self.polygon.clear();
        let damage = loop {
            let (word, behind) = next_word(rest);
            rest = behind;
            if word.is_empty() {
                break None;
            }
            match self.corner(word) {
                Ok(corner) => self.polygon.push(corner),
                Err(error) => break Some(error),
            }
        };
        let damage = damage.or_else(|| {
            let corners = self.polygon.len();
            let text = || format!("a polygon of {corners} corners, not of three or more");
            (corners < 3).then(|| Error::input(Code::S006, text()))
        });
        if let Some(error) = damage {
            let error =
                error.at_triangle(self.triangles.len() as u64 + self.triage.count_dropped()).at_line(number);
            self.triage.found(error)?;
            self.triage.drop_triangle(self.triangles.len());
            return Ok(());
        }
        let beside = self.beside();
        let cut = self.cutter.cut(&self.polygon);
        self.room.grow(&mut self.triangles, cut.len(), u64::MAX, beside)?;
        self.triangles.extend(cut.iter().map(|places| places.map(|n| self.polygon[n as usize])));
        Ok(())
    }

    /// The vertex that a word such as `7/2/1` or `-1` names.
    fn corner(&self, word: &[u8]) -> Result<Point> {
        let digits = word.split(|byte| *byte == b'/').next().unwrap_or_default();
        let Some(named) = whole(digits) else { return Err(self.no_number(word, "the number of a vertex")) };
        let count = self.vertices.len() as i64;
        let place = if named < 0 { count + named } else { named - 1 };
        let found = usize::try_from(place).ok().and_then(|place| self.vertices.get(place));
        match found {
            Some(vertex) if vertex[0].is_finite() => Ok(*vertex),
            Some(_) => Err(Error::input(Code::S004, format!("vertex {named} has no finite coordinates"))),
            None => {
                let text = format!("vertex {named} is not there: {count} come before this face");
                Err(Error::input(Code::S012, text))
            }
        }
    }

    fn no_number(&self, word: &[u8], what: &str) -> Error {
        let found =
            if word.is_empty() { "the end of the line".into() } else { format!("'{}'", sanitize(word)) };
        Error::input(Code::S007, format!("found {found} where {what} should be"))
    }

    /// Goes on with the part of this name. Groups before the first object are no parts, unless they have polygons.
    fn part(&mut self, rest: &[u8], is_object: bool) -> Result<()> {
        self.end_part();
        if is_object && !self.has_objects {
            self.has_objects = true;
            if self.triangles.is_empty() {
                (self.parts, self.known) = (MeshParts::default(), HashMap::new());
            }
        }
        let name = String::from_utf8_lossy(rest.trim_ascii()).into_owned();
        self.part = match self.known.get(&name) {
            Some(part) => *part,
            None => {
                let part = self.parts.name(name.clone());
                self.known.insert(name, part);
                part
            }
        };
        self.room.admit(self.triangles.capacity() as u64, self.beside())
    }

    /// Adds the triangles since the last part began to it.
    fn end_part(&mut self) {
        let more = self.triangles.len() as u64 - self.parts.len();
        if more > 0 && self.parts.names().is_empty() {
            self.part = self.parts.name(String::new());
        }
        self.parts.extend(more, self.part);
    }

    /// The memory beside the triangles, in bytes.
    fn beside(&self) -> u64 {
        let vertices = self.vertices.capacity() * size_of::<Point>();
        vertices as u64 + 2 * self.parts.bytes() + self.triage.bytes()
    }
}

/// A whole number with a sign.
fn whole(digits: &[u8]) -> Option<i64> {
    let (sign, digits) = match digits {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        all => (1, all),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(sign * digits.iter().fold(0, |n, digit| 10 * n + i64::from(digit - b'0')))
}

/// The first word of a line, and what follows; empty at its end, or where a comment begins.
fn next_word(line: &[u8]) -> (&[u8], &[u8]) {
    let start = line.iter().position(|byte| !is_blank(*byte)).unwrap_or(line.len());
    let rest = &line[start..];
    let end = rest.iter().position(|byte| is_blank(*byte)).unwrap_or(rest.len());
    if rest.first() == Some(&b'#') { (&[], &[]) } else { rest.split_at(end) }
}

/// The lines of a text; LF, CR and CRLF each end one, and a line that ends in `\` goes on in the next.
struct Lines<'a, R> {
    reader: R,
    progress: &'a dyn Progress,
    buffer: Vec<u8>,
    /// `buffer[at..end]` is still to be looked at.
    at: usize,
    end: usize,
    has_ended: bool,
    /// How many lines have ended.
    count: u64,
    bytes: u64,
    joined: Vec<u8>,
}

impl<'a, R: Read> Lines<'a, R> {
    fn new(reader: R, progress: &'a dyn Progress) -> Self {
        Self {
            reader,
            progress,
            buffer: vec![0; BLOCK],
            at: 0,
            end: 0,
            has_ended: false,
            count: 0,
            bytes: 0,
            joined: vec![],
        }
    }

    /// The next line with its number, from 1; none at the end.
    fn next(&mut self) -> Result<Option<(&[u8], u64)>> {
        let Some((from, to)) = self.piece()? else { return Ok(None) };
        let number = self.count;
        if self.buffer[from..to].last() != Some(&b'\\') {
            return Ok(Some((self.text(from, to), number)));
        }
        self.joined.clear();
        self.joined.extend_from_slice(&self.buffer[from..to - 1]);
        loop {
            let Some((from, to)) = self.piece()? else { break };
            let piece = &self.buffer[from..to];
            self.joined.push(b' ');
            self.joined.extend_from_slice(piece.strip_suffix(b"\\").unwrap_or(piece));
            if self.joined.len() > BLOCK {
                return Err(too_long(number));
            }
            if piece.last() != Some(&b'\\') {
                break;
            }
        }
        Ok(Some((&self.joined, number)))
    }

    /// A line, less a byte order mark at the beginning of all.
    fn text(&self, from: usize, to: usize) -> &[u8] {
        let line = &self.buffer[from..to];
        if self.count == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
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
                let is_pair = self.buffer[to] == b'\r' && self.buffer[..self.end].get(to + 1) == Some(&b'\n');
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
