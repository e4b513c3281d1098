//! Reader of Wavefront OBJ.
//!
//! | line | |
//! |---|---|
//! | `v X Y Z …` | a vertex; three further numbers are its colour: red, green and blue, from 0 to 1 or from 0 to 255 (`shares.rs`) |
//! | `f V V V …` | a polygon; each corner is the number of a vertex `V`, or `V/VT`, `V//VN` or `V/VT/VN`; numbers count from 1, and negative numbers count backwards from the last vertex |
//! | `o NAME` | an object; the following polygons form a part of the mesh |
//! | `g NAME …` | a group; the following polygons form a part of the mesh, unless the file has objects |
//! | `usemtl NAME` | the material of the following polygons |
//! | `mtllib FILE …` | material files in the folder of the mesh (`materials.rs`) |
//! | `vt U V` | a position in a picture, relative to its lower left corner |
//! | `vn`, `s`, `#` | normals, smoothing groups and comments, which are ignored |
//! | `p`, `l`, `curv`, `surf`, … | points, lines, and free-form curves and surfaces; they are left out and reported |
//!
//! A line of numbers that ends in `\` continues in the next line if that begins with a number. Comments and
//! names end with their line. Colours of vertices that ZBrush writes into comments, `#MRGB MMRRGGBB…`, are
//! read. Polygons are cut into triangles (`polygon.rs`). The text is read once, in blocks, and only vertices
//! and triangles are kept.
//!
//! Source: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

use super::indexed::{FilePosition, Indexed, no_number};
use super::lines::{Continuation, Lines, next_word, whole};
use super::materials::{MaterialLibrary, TextureMap, without_comment};
use super::number;
use super::source::{Head, MeshBytes, is_blank};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use voxelize_core::error::{Code, Error, Result, sanitize};

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "obj",
    extensions: &["obj"],
    about: "Wavefront OBJ: polygons, objects and groups",
    states_unit: false,
    has_decimals: true,
    recognise,
    read,
};

/// Words with which the first line of a file may begin.
const BEGINNINGS: [&[u8]; 8] = [b"v", b"vt", b"vn", b"mtllib", b"usemtl", b"o", b"g", b"s"];

fn recognise(head: &Head) -> Guess {
    if !head.is_text() {
        return Guess::No;
    }
    let text = head
        .bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head.bytes);
    // All lines so far are valid in OBJ.
    let mut is_pure = true;
    let mut has_words = false;
    // At least one line begins with a word that is rare in other texts.
    let mut is_likely = false;
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let (word, rest) = next_word(line);
        if word.is_empty() {
            continue;
        }
        has_words = true;
        if matches!(word, b"v" | b"vt" | b"vn") {
            let numbers = count_numbers(rest);
            // After lines that are not OBJ, a line with coordinates is recognized only if it has three
            // numbers.
            let least = if is_pure { 1 } else { 3 };
            if numbers >= least {
                return Guess::Sure;
            }
        }
        is_likely |= matches!(word, b"mtllib" | b"usemtl" | b"f") && !next_word(rest).0.is_empty();
        is_pure &= BEGINNINGS.contains(&word)
            || (matches!(word, b"f" | b"l" | b"p") && whole(next_word(rest).0).is_some());
    }
    // The examined text may consist of comments only.
    let is_empty = !has_words && text.trim_ascii_start().starts_with(b"#");
    if is_empty || is_pure && is_likely {
        Guess::Maybe
    } else {
        Guess::No
    }
}

/// Returns how many of the first three words of a line are numbers, counted up to the first word that is not
/// a number.
fn count_numbers(mut rest: &[u8]) -> usize {
    for count in 0..3 {
        let (word, following) = next_word(rest);
        if number::of(word).is_none() {
            return count;
        }
        rest = following;
    }
    3
}

/// Returns the meaning of a backslash at the end of a line.
fn continuation(line: &[u8]) -> Continuation {
    match next_word(line).0 {
        b"v" | b"vt" | b"vn" | b"vp" | b"f" | b"fo" | b"l" | b"p" => Continuation::Numbers,
        _ => Continuation::Ends,
    }
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let folder = source.folder();
    let mut lines = Lines::new(source.into_reader(), options.progress).joining(continuation);
    let indexed = Indexed::new(options.max_memory, triage, 1)
        .numbered(options.vertex_numbers)
        .heard_by(options.progress);
    let mut reader = ObjReader {
        indexed,
        triage,
        reads_textures: options.textures,
        has_objects: false,
        materials: MaterialLibrary::new(folder),
        material: None,
        map: None,
        unknown: None,
        late: 0,
        places: vec![],
        has_places: false,
        painted: 0,
    };
    while lines.advance()? {
        reader.line(lines.line(), lines.number())?;
    }
    let mut unread_pictures = reader.indexed.take_unread_pictures()?;
    if !reader.has_places {
        unread_pictures.clear();
    }
    Ok(Content {
        unread_pictures,
        ..Content::new(reader.indexed.into_mesh()?, lines.bytes())
    })
}

/// State of the conversion of lines to triangles.
struct ObjReader<'a> {
    indexed: Indexed<'a>,
    triage: &'a Triage,
    reads_textures: bool,
    has_objects: bool,
    materials: MaterialLibrary<'a>,
    /// Text of the line that set the current material.
    material: Option<Vec<u8>>,
    /// Picture of the current material.
    map: Option<TextureMap>,
    /// Number of the line that set an unknown material. `None` if the material is known, or the error was
    /// already reported.
    unknown: Option<u64>,
    /// Number of faces with an unknown material that were read before the first line with a material file.
    late: u64,
    /// The file has texture positions (`vt`), which are read only with pictures.
    has_places: bool,
    /// Texture positions of the file (`vt`). Empty if pictures are not read.
    places: Vec<[f32; 2]>,
    /// Number of vertices that got a colour from comments of ZBrush.
    painted: usize,
}

impl ObjReader<'_> {
    fn line(&mut self, line: &[u8], number: u64) -> Result<()> {
        let (word, words) = next_word(line);
        let mut rest = words;
        let mut next = || {
            let (word, following) = next_word(rest);
            rest = following;
            word
        };
        match word {
            b"v" => {
                self.indexed
                    .vertex_of(&mut next, FilePosition::Line(number))?;
                let words = [next(), next(), next(), next()];
                if words[2].is_empty() {
                    return Ok(());
                }
                match self.indexed.vertex_range().colour(words) {
                    Some(colour) => self
                        .indexed
                        .colour_written(self.indexed.count() as usize - 1, colour),
                    None => Ok(()),
                }
            }
            b"vt" if self.reads_textures => {
                let place = [next(), next()].map(|word| number::of(word).unwrap_or(0.0));
                if self.places.len() == self.places.capacity() {
                    let more = self.places.capacity().max(512);
                    self.indexed
                        .hold(2 * (more * size_of::<[f32; 2]>()) as u64)?;
                    self.places.reserve_exact(more);
                }
                self.places.push(place);
                Ok(())
            }
            b"vt" => {
                self.has_places = true;
                Ok(())
            }
            b"f" | b"fo" => {
                self.know_material()?;
                let count = self.indexed.count() as i64;
                if self.indexed.has_texture()
                    && let Some(map) = &self.map
                {
                    let corners = words
                        .split(|byte| is_blank(*byte))
                        .filter(|word| !word.is_empty());
                    let places = corners.map_while(|word| texture_place(word, &self.places));
                    self.indexed
                        .place_next(places.map(|place| map.place(place)));
                }
                let corners = std::iter::from_fn(|| Some(next()).filter(|word| !word.is_empty()));
                self.indexed.face(
                    corners.map(|word| place(word, count)),
                    FilePosition::Line(number),
                )
            }
            b"o" => self.begin_object(rest),
            b"g" if !self.has_objects => self.indexed.begin_object(name(rest)),
            b"usemtl" => self.begin_material(rest, number),
            b"mtllib" => self.read_materials(rest, number),
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => {
                let text = format!(
                    "'{}': points, lines and free-form surfaces are left out",
                    sanitize(word)
                );
                self.triage.found_all(Code::S107, 1, || {
                    Error::input(Code::S107, text.clone()).at_line(number)
                })
            }
            b"" => match line.trim_ascii_start().strip_prefix(b"#MRGB") {
                Some(colours) => self.paint(colours),
                None => Ok(()),
            },
            // Normals, properties of materials, and parts of free-form surfaces are ignored.
            _ => Ok(()),
        }
    }

    /// Reads a ZBrush comment with colours for the next vertices that have none. Each colour has eight
    /// hexadecimal digits, and the first two are a mask.
    fn paint(&mut self, line: &[u8]) -> Result<()> {
        for digits in line.trim_ascii().chunks_exact(8) {
            let colour = std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let Some(colour) = colour else { return Ok(()) };
            let [_, r, g, b] = colour.to_be_bytes();
            let range = self.indexed.vertex_range();
            range.see(255.0, false);
            self.indexed
                .colour_written(self.painted, [r, g, b].map(f32::from))?;
            self.painted += 1;
        }
        Ok(())
    }

    /// Reads the material files on the rest of a line. Then looks up the current material again, because the
    /// new files may define it.
    fn read_materials(&mut self, rest: &[u8], number: u64) -> Result<()> {
        self.materials.read(rest, &mut self.indexed, number)?;
        let Some(name) = self.material.take() else {
            return Ok(());
        };
        self.begin_material(&name, number)?;
        if self.late > 0 && self.unknown.is_none() {
            let text = format!("mtllib follows {} faces of its materials", self.late);
            self.indexed
                .no_colours(&Error::input(Code::S110, text), FilePosition::Line(number))?;
            self.late = 0;
        }
        Ok(())
    }

    /// Called before a face. If its material is unknown, reports this once, unless no material file has been
    /// named yet.
    fn know_material(&mut self) -> Result<()> {
        let Some(line) = self.unknown else {
            return Ok(());
        };
        if !self.materials.is_named {
            self.late += 1;
            return Ok(());
        }
        self.unknown = None;
        if self.materials.is_incomplete {
            // The material file that cannot be read was already reported.
            return Ok(());
        }
        let name = self
            .materials
            .name(self.material.as_deref().unwrap_or_default());
        let text = format!("no material file defines '{}'", sanitize(name.as_bytes()));
        self.indexed
            .no_colours(&Error::input(Code::S110, text), FilePosition::Line(line))
    }

    /// Sets the current material to the one named on the rest of a line. Its colour is used only if it has no
    /// picture.
    fn begin_material(&mut self, rest: &[u8], number: u64) -> Result<()> {
        let name = self.materials.name(rest);
        let material = self.materials.get(&name).cloned();
        self.unknown = if material.is_none() {
            Some(number)
        } else {
            None
        };
        let material = material.unwrap_or_default();
        let texture = match &material.map {
            Some(map) if self.reads_textures => {
                self.materials.picture(map, &mut self.indexed, number)?
            }
            _ => None,
        };
        self.indexed.set_texture(texture);
        self.indexed
            .set_unread_picture(material.map.is_some() && !self.reads_textures)?;
        self.indexed
            .set_base_colour(material.colour.filter(|_| texture.is_none()));
        self.map = material.map;
        self.material = Some(rest.to_vec());
        self.indexed.begin_material(name)
    }

    /// Begins an object. Groups are ignored from now on. Names of earlier groups are forgotten if there are
    /// no polygons yet.
    fn begin_object(&mut self, rest: &[u8]) -> Result<()> {
        if !self.has_objects && self.indexed.triangles.is_empty() {
            self.indexed.objects.forget();
        }
        self.has_objects = true;
        self.indexed.begin_object(name(rest))
    }
}

/// Returns the name on the rest of a line, without a comment.
fn name(rest: &[u8]) -> String {
    without_comment(&String::from_utf8_lossy(rest.trim_ascii())).to_string()
}

/// Returns the texture position that a word such as `7/2/1` or `-1/-1` refers to. `None` if it does not
/// exist.
fn texture_place(word: &[u8], places: &[[f32; 2]]) -> Option<[f32; 2]> {
    let named = whole(word.split(|byte| *byte == b'/').nth(1)?)?;
    let place = if named < 0 {
        places.len() as i64 + named
    } else {
        named - 1
    };
    places.get(usize::try_from(place).ok()?).copied()
}

/// Returns the index of the vertex that a word such as `7/2/1` or `-1` refers to. `count` is the number of
/// vertices so far.
fn place(word: &[u8], count: i64) -> Result<i64> {
    let digits = word.split(|byte| *byte == b'/').next().unwrap_or_default();
    let named = whole(digits).ok_or_else(|| no_number(word, "the number of a vertex"))?;
    Ok(if named < 0 { count + named } else { named - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_pictures_may_be_missing() {
        let places = [[0.0, 0.0], [0.5, 0.25]];
        for (word, place) in [
            ("1/2", Some(places[1])),
            ("1/-2/3", Some(places[0])),
            ("1", None),
            ("1//3", None),
            ("1/3", None),
            ("1/-3", None),
            ("1/0", None),
        ] {
            assert_eq!(texture_place(word.as_bytes(), &places), place, "{word}");
        }
    }
}
