//! Wavefront OBJ.
//!
//! | line | |
//! |---|---|
//! | `v X Y Z …` | a vertex; three numbers more are its colour, red, green and blue from 0 to 1, or to 255 |
//! | `f V V V …` | a polygon: each `V` is a vertex's number, `V/VT`, `V//VN` or `V/VT/VN`; numbers count from 1, negative ones back from the last vertex |
//! | `o NAME` | an object: the polygons that follow are a part of the mesh |
//! | `g NAME …` | a group: a part, where the file names no objects |
//! | `usemtl NAME` | the polygons that follow are of this material |
//! | `mtllib FILE` | a file beside the mesh, where `newmtl NAME` and `Kd R G B` give a material its colour |
//! | `vt`, `vn`, `s`, `#` | textures, normals, comments: nothing of geometry |
//! | `p`, `l`, `curv`, `surf`, … | points, lines and free-form curves and surfaces: no triangles, noted and left out |
//!
//! A line that ends in `\` goes on in the next. Polygons are cut into triangles (`polygon.rs`). Text is read once, in
//! blocks; vertices and triangles are what is held of it.
//!
//! The format: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use super::indexed::{FilePosition, Indexed, channel, no_number};
use super::lines::{Lines, next_word, whole};
use super::number;
use super::source::{Head, MeshBytes, open_beside, unreadable};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::error::{Code, Error, Kind, Result, sanitize};

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "obj",
    extensions: &["obj"],
    about: "Wavefront OBJ: polygons, objects and groups",
    states_unit: false,
    recognise,
    read,
};

/// The most bytes of a file of materials.
const MAX_MATERIALS: u64 = 16 << 20;

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
    let folder = source.folder();
    let mut lines = Lines::new(source.into_reader(), options.progress);
    let indexed = Indexed::new(options.max_memory, triage, 1);
    let mut reader = ObjReader { indexed, triage, folder, has_objects: false, colours: HashMap::new() };
    while lines.advance()? {
        reader.line(lines.line(), lines.number())?;
    }
    Ok(Content::new(reader.indexed.into_mesh()?, lines.bytes))
}

/// Lines on their way to triangles.
struct ObjReader<'a> {
    indexed: Indexed<'a>,
    triage: &'a Triage,
    folder: Option<&'a Path>,
    has_objects: bool,
    /// The colours of materials.
    colours: HashMap<String, [u8; 3]>,
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
            b"v" => {
                self.indexed.vertex_of(&mut next, FilePosition::Line(number))?;
                match colour([next(), next(), next()]) {
                    Some(colour) => self.indexed.colour_vertex(colour),
                    None => Ok(()),
                }
            }
            b"f" | b"fo" => {
                let count = self.indexed.count() as i64;
                let corners = std::iter::from_fn(|| Some(next()).filter(|word| !word.is_empty()));
                self.indexed.face(corners.map(|word| place(word, count)), FilePosition::Line(number))
            }
            b"o" => self.begin_object(rest),
            b"g" if !self.has_objects => self.indexed.begin_object(name(rest)),
            b"usemtl" => {
                let name = name(rest);
                self.indexed.set_base_colour(self.colours.get(&name).copied());
                self.indexed.begin_material(name)
            }
            b"mtllib" => self.materials(&name(rest), number),
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => {
                let text = format!("'{}': points, lines and free-form surfaces are left out", sanitize(word));
                self.triage
                    .found_all(Code::S107, 1, || Error::input(Code::S107, text.clone()).at_line(number))
            }
            // Comments, normals, textures, what materials are, and what belongs to free-form surfaces.
            _ => Ok(()),
        }
    }

    /// Learns the colours of materials from the file of this name, if it can be read.
    fn materials(&mut self, file: &str, number: u64) -> Result<()> {
        if self.folder.is_none() {
            // A stream has nothing beside it.
            return Ok(());
        }
        let found = open_beside(self.folder, file).and_then(|(file, length)| {
            if length > MAX_MATERIALS {
                return Err(Error::input(Code::S110, format!("more than {MAX_MATERIALS} bytes")));
            }
            self.indexed.hold(2 * length)?;
            let mut text = vec![];
            file.take(MAX_MATERIALS).read_to_end(&mut text).map_err(|error| unreadable(&error))?;
            Ok(text)
        });
        let text = match found {
            Ok(text) => text,
            Err(error) if error.kind() == Kind::TooLarge => return Err(error),
            Err(error) => {
                let text = format!("colours of materials are not known: {}", error.message());
                let finding = || Error::input(Code::S110, text.clone()).at_line(number);
                return self.triage.found_all(Code::S110, 1, finding);
            }
        };
        let mut current = None;
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            match next_word(line) {
                (b"newmtl", rest) => current = Some(name(rest)),
                (b"Kd", rest) => {
                    let words = [(); 3].map({
                        let mut rest = rest;
                        move |()| {
                            let (word, behind) = next_word(rest);
                            rest = behind;
                            word
                        }
                    });
                    if let (Some(name), Some(colour)) = (&current, colour(words)) {
                        self.colours.insert(name.clone(), colour);
                    }
                }
                _ => {}
            }
        }
        Ok(())
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

/// The colour of three words, if they are numbers: from 0 to 1, or, where one is larger, to 255.
fn colour(words: [&[u8]; 3]) -> Option<[u8; 3]> {
    if words[2].is_empty() {
        return None;
    }
    let [r, g, b] = words.map(number::of);
    let shares = [r?, g?, b?].map(f64::from);
    let most = if shares.iter().any(|share| *share > 1.0) { 255.0 } else { 1.0 };
    Some(shares.map(|share| channel(share / most)))
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
