//! Wavefront OBJ.
//!
//! | line | |
//! |---|---|
//! | `v X Y Z …` | a vertex; a weight or a colour may follow, and does not matter to geometry |
//! | `f V V V …` | a polygon: each `V` is a vertex's number, `V/VT`, `V//VN` or `V/VT/VN`; numbers count from 1, negative ones back from the last vertex |
//! | `o NAME` | an object: the polygons that follow are a part of the mesh |
//! | `g NAME …` | a group: a part, where the file names no objects |
//! | `usemtl NAME` | the polygons that follow are of this material |
//! | `mtllib`, `vt`, `vn`, `s`, `#` | what materials are, textures, normals, comments: nothing of geometry |
//! | `p`, `l`, `curv`, `surf`, … | points, lines and free-form curves and surfaces: no triangles, noted and left out |
//!
//! A line that ends in `\` goes on in the next. Polygons are cut into triangles (`polygon.rs`). Text is read once, in
//! blocks; vertices and triangles are what is held of it.
//!
//! The format: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

use super::indexed::{Indexed, Place, no_number};
use super::lines::{Lines, first_word, next_word, whole};
use super::source::{Head, MeshBytes};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::error::{Code, Error, Result, sanitize};

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "obj",
    extensions: &["obj"],
    about: "Wavefront OBJ: polygons, objects and groups",
    recognise,
    read,
};

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

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let mut lines = Lines::new(source.into_reader(), options.progress);
    let indexed = Indexed::new(options.max_memory, triage, 1);
    let mut reader = ObjReader { indexed, triage, has_objects: false };
    while lines.advance()? {
        reader.line(lines.line(), lines.number())?;
    }
    Ok(Content::new(reader.indexed.into_mesh()?, lines.bytes))
}

/// Lines on their way to triangles.
struct ObjReader<'a> {
    indexed: Indexed<'a>,
    triage: &'a Triage,
    has_objects: bool,
}

impl ObjReader<'_> {
    fn line(&mut self, line: &[u8], number: u64) -> Result<()> {
        let (word, mut rest) = next_word(line);
        let mut next = || {
            let (word, behind) = next_word(rest);
            rest = behind;
            word
        };
        match word {
            b"v" => self.indexed.vertex_of(next, Place::Line(number)),
            b"f" | b"fo" => {
                let count = self.indexed.count() as i64;
                let corners = std::iter::from_fn(|| Some(next()).filter(|word| !word.is_empty()));
                self.indexed.face(corners.map(|word| place(word, count)), Place::Line(number))
            }
            b"o" => self.begin_object(rest),
            b"g" if !self.has_objects => self.indexed.begin_object(name(rest)),
            b"usemtl" => self.indexed.begin_material(name(rest)),
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => {
                let text = format!("'{}': points, lines and free-form surfaces are left out", sanitize(word));
                self.triage
                    .found_all(Code::S107, 1, || Error::input(Code::S107, text.clone()).at_line(number))
            }
            // Comments, normals, textures, what materials are, and what belongs to free-form surfaces.
            _ => Ok(()),
        }
    }

    /// Goes on with this object. Groups before the first object are none, unless they have polygons.
    fn begin_object(&mut self, rest: &[u8]) -> Result<()> {
        if !self.has_objects && self.indexed.triangles.is_empty() {
            self.indexed.objects.forget();
        }
        self.has_objects = true;
        self.indexed.begin_object(name(rest))
    }
}

/// The name on the rest of a line.
fn name(rest: &[u8]) -> String {
    String::from_utf8_lossy(rest.trim_ascii()).into_owned()
}

/// The place of the vertex that a word such as `7/2/1` or `-1` names, where `count` come before.
fn place(word: &[u8], count: i64) -> Result<i64> {
    let digits = word.split(|byte| *byte == b'/').next().unwrap_or_default();
    let named = whole(digits).ok_or_else(|| no_number(word, "the number of a vertex"))?;
    Ok(if named < 0 { count + named } else { named - 1 })
}
