//! Wavefront OBJ.
//!
//! | line | |
//! |---|---|
//! | `v X Y Z …` | a vertex; three numbers more are its colour, red, green and blue from 0 to 1, or to 255 |
//! | `f V V V …` | a polygon: each `V` is a vertex's number, `V/VT`, `V//VN` or `V/VT/VN`; numbers count from 1, negative ones back from the last vertex |
//! | `o NAME` | an object: the polygons that follow are a part of the mesh |
//! | `g NAME …` | a group: a part, where the file names no objects |
//! | `usemtl NAME` | the polygons that follow are of this material |
//! | `mtllib FILE` | a file beside the mesh, where `newmtl NAME` and `Kd R G B` give a material its colour, and `map_Kd FILE` a picture in place of it |
//! | `vt U V` | a place in a picture, from its lower left corner |
//! | `vn`, `s`, `#` | normals, comments: nothing of geometry |
//! | `p`, `l`, `curv`, `surf`, … | points, lines and free-form curves and surfaces: no triangles, noted and left out |
//!
//! A line that ends in `\` goes on in the next. Polygons are cut into triangles (`polygon.rs`). Text is read once, in
//! blocks; vertices and triangles are what is held of it.
//!
//! The format: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

use std::collections::HashMap;

use super::indexed::{FilePosition, Indexed, no_number};
use super::lines::{Lines, next_word, whole};
use super::number;
use super::picture;
use super::source::{Head, MeshBytes, MeshFolder, is_blank, note_beside, read_beside};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::error::{Code, Error, Kind, Result, sanitize};
use crate::mesh::TextureWrap;
use crate::mesh::colours::channel;

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
    let indexed = Indexed::new(options.max_memory, triage, 1).numbered(options.vertex_numbers);
    let mut reader = ObjReader {
        indexed,
        triage,
        folder,
        reads_textures: options.textures,
        has_objects: false,
        materials: HashMap::new(),
        material: ObjMaterial::default(),
        places: vec![],
    };
    while lines.advance()? {
        reader.line(lines.line(), lines.number())?;
    }
    Ok(Content::new(reader.indexed.into_mesh()?, lines.bytes))
}

/// Lines on their way to triangles.
struct ObjReader<'a> {
    indexed: Indexed<'a>,
    triage: &'a Triage,
    folder: Option<MeshFolder<'a>>,
    reads_textures: bool,
    has_objects: bool,
    materials: HashMap<String, ObjMaterial>,
    /// The material of the next faces.
    material: ObjMaterial,
    /// The places in pictures, if pictures are read.
    places: Vec<[f32; 2]>,
}

/// What is known of a material.
#[derive(Clone, Default)]
struct ObjMaterial {
    colour: Option<[u8; 3]>,
    map: Option<TextureMap>,
    /// The number of its picture, once it was looked for.
    picture: Option<Option<u32>>,
}

/// A picture and how it lies on faces.
#[derive(Clone, PartialEq, Debug)]
struct TextureMap {
    file: String,
    scale: [f32; 2],
    offset: [f32; 2],
    wrap: TextureWrap,
}

/// Whether a line of a file of materials names a picture.
fn is_picture(keyword: &[u8]) -> bool {
    let keyword = keyword.to_ascii_lowercase();
    keyword.starts_with(b"map_") || matches!(&keyword[..], b"bump" | b"disp" | b"decal" | b"refl" | b"norm")
}

impl TextureMap {
    /// The map of the words behind `map_Kd`: options, then the name of a file, which may have blanks.
    fn of(mut rest: &[u8]) -> Self {
        let mut map =
            Self { file: String::new(), scale: [1.0; 2], offset: [0.0; 2], wrap: TextureWrap::Repeat };
        loop {
            let (word, mut behind) = next_word(rest);
            let [fewest, most] = match word {
                b"-o" | b"-s" | b"-t" => [1, 3],
                b"-mm" => [2, 2],
                _ if word.len() > 1 && word[0] == b'-' => [1, 1],
                _ => break,
            };
            let mut values = [None; 2];
            for n in 0..most {
                let (value, after) = next_word(behind);
                let number = number::of(value);
                if n >= fewest && number.is_none() {
                    break;
                }
                values.get_mut(n).into_iter().for_each(|known| *known = number);
                if word == b"-clamp" && value == b"on" {
                    map.wrap = TextureWrap::Clamp;
                }
                behind = after;
            }
            let numbers = match word {
                b"-o" => Some(&mut map.offset),
                b"-s" => Some(&mut map.scale),
                _ => None,
            };
            for (number, value) in numbers.into_iter().flatten().zip(values) {
                *number = value.unwrap_or(*number);
            }
            rest = behind;
        }
        // Names from Windows.
        map.file = name(rest).replace('\\', "/");
        map
    }

    /// The place in the picture, from its upper left corner.
    fn place(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        [u * self.scale[0] + self.offset[0], 1.0 - (v * self.scale[1] + self.offset[1])]
    }
}

impl ObjReader<'_> {
    fn line(&mut self, line: &[u8], number: u64) -> Result<()> {
        let (word, words) = next_word(line);
        let mut rest = words;
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
            b"vt" if self.reads_textures => {
                let place = [next(), next()].map(|word| number::of(word).unwrap_or(0.0));
                if self.places.len() == self.places.capacity() {
                    let more = self.places.capacity().max(512);
                    self.indexed.hold(2 * (more * size_of::<[f32; 2]>()) as u64)?;
                    self.places.reserve_exact(more);
                }
                self.places.push(place);
                Ok(())
            }
            b"f" | b"fo" => {
                let count = self.indexed.count() as i64;
                if let (true, Some(map)) = (self.indexed.has_texture(), &self.material.map) {
                    let corners = words.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty());
                    let places = corners.map_while(|word| texture_place(word, &self.places));
                    self.indexed.place_next(places.map(|place| map.place(place)));
                }
                let corners = std::iter::from_fn(|| Some(next()).filter(|word| !word.is_empty()));
                self.indexed.face(corners.map(|word| place(word, count)), FilePosition::Line(number))
            }
            b"o" => self.begin_object(rest),
            b"g" if !self.has_objects => self.indexed.begin_object(name(rest)),
            b"usemtl" => self.begin_material(name(rest), number),
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
        let found = read_beside(self.folder, file, MAX_MATERIALS + 1, |length| self.indexed.hold(2 * length));
        let found = found.and_then(|text| match text.len() as u64 > MAX_MATERIALS {
            true => Err(Error::input(Code::S110, format!("more than {MAX_MATERIALS} bytes"))),
            false => Ok(text),
        });
        let text = match found {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), Kind::TooLarge | Kind::Usage) => return Err(error),
            Err(error) => return self.indexed.no_colours(&error, FilePosition::Line(number)),
        };
        let mut current = None;
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            if let (keyword, rest) = next_word(line)
                && is_picture(keyword)
            {
                note_beside(self.folder, &TextureMap::of(rest).file)?;
            }
            match next_word(line) {
                (b"newmtl", rest) => current = Some(name(rest)),
                (b"map_Kd", rest) if let (true, Some(name)) = (self.reads_textures, &current) => {
                    self.materials.entry(name.clone()).or_default().map = Some(TextureMap::of(rest));
                }
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
                        self.materials.entry(name.clone()).or_default().colour = Some(colour);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Goes on with this material. Its colour counts where it has no picture.
    fn begin_material(&mut self, name: String, number: u64) -> Result<()> {
        let known = self.materials.get(&name).cloned();
        self.material = known.unwrap_or_default();
        if let (Some(map), None) = (&self.material.map, self.material.picture) {
            let same = self
                .materials
                .values()
                .find(|other| other.picture.is_some() && other.map.as_ref() == Some(map));
            let picture = match same {
                Some(other) => other.picture,
                None => {
                    let admit = |length| self.indexed.admit(length);
                    let bytes = read_beside(self.folder, &map.file, picture::MAX_BYTES, admit);
                    Some(self.indexed.add_picture(bytes, [map.wrap; 2], FilePosition::Line(number))?)
                }
            };
            self.material.picture = picture;
            self.materials.insert(name.clone(), self.material.clone());
        }
        let texture = self.material.picture.flatten();
        self.indexed.set_texture(texture);
        self.indexed.set_base_colour(self.material.colour.filter(|_| texture.is_none()));
        self.indexed.begin_material(name)
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

/// The place in a picture that a word such as `7/2/1` or `-1/-1` names.
fn texture_place(word: &[u8], places: &[[f32; 2]]) -> Option<[f32; 2]> {
    let named = whole(word.split(|byte| *byte == b'/').nth(1)?)?;
    let place = if named < 0 { places.len() as i64 + named } else { named - 1 };
    places.get(usize::try_from(place).ok()?).copied()
}

/// The place of the vertex that a word such as `7/2/1` or `-1` names, where `count` come before.
fn place(word: &[u8], count: i64) -> Result<i64> {
    let digits = word.split(|byte| *byte == b'/').next().unwrap_or_default();
    let named = whole(digits).ok_or_else(|| no_number(word, "the number of a vertex"))?;
    Ok(if named < 0 { count + named } else { named - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_options_and_names_with_blanks() {
        let map = |file: &str, scale, offset, wrap| TextureMap { file: file.into(), scale, offset, wrap };
        let plain = |file| map(file, [1.0; 2], [0.0; 2], TextureWrap::Repeat);
        for (words, expected) in [
            ("a.png", plain("a.png")),
            (" my wood.jpg ", plain("my wood.jpg")),
            ("maps\\a.png", plain("maps/a.png")),
            ("-blendu on -bm 0.5 -imfchan m a.png", plain("a.png")),
            ("-mm 0 1 a.png", plain("a.png")),
            ("-s 2 3 1 -o 0.5 a b.png", map("a b.png", [2.0, 3.0], [0.5, 0.0], TextureWrap::Repeat)),
            ("-clamp on -t 1 7.png", map("7.png", [1.0; 2], [0.0; 2], TextureWrap::Clamp)),
            ("-s", plain("")),
        ] {
            assert_eq!(TextureMap::of(words.as_bytes()), expected, "{words}");
        }
    }

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
