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
use super::lines::{Lines, next_word, whole};
use super::number;
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

/// The words that a file may begin with.
const BEGINNINGS: [&[u8]; 8] = [b"v", b"vt", b"vn", b"mtllib", b"usemtl", b"o", b"g", b"s"];

fn recognise(head: &Head) -> Guess {
    if !head.is_text() {
        return Guess::No;
    }
    let text = head.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head.bytes);
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut lines = lines.map(next_word).filter(|(word, _)| !word.is_empty()).peekable();
    // More comments than are looked at may come first.
    let Some((first, _)) = lines.peek() else {
        return if text.starts_with(b"#") { Guess::Maybe } else { Guess::No };
    };
    let begins = BEGINNINGS.contains(first);
    let is_vertex = |(word, rest): (&[u8], &[u8])| word == b"v" && number::of(next_word(rest).0).is_some();
    if begins && lines.any(is_vertex) { Guess::Sure } else { Guess::No }
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
