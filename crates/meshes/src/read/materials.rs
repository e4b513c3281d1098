//! The files of materials that an OBJ names: `newmtl NAME`, its colour `Kd R G B`, and `map_Kd FILE`, a picture in place of
//! the colour. Keywords may be in any case. A file is read once, however often it is named.
//!
//! People write names with blanks, several in a line, with comments behind them, with the backslashes of Windows and with
//! folders of another machine. Each way to read them is tried, and a file or a material that is there decides.

use std::collections::{HashMap, HashSet};

use super::indexed::{FilePosition, Indexed};
use super::lines::{Continuation, Lines, next_word};
use super::number;
use super::picture;
use super::shares::{ColourRange, WrittenColour};
use super::source::{MeshFolder, note_beside, read_beside};
use crate::TextureWrap;
use crate::colours::channel;
use voxelize_core::error::{Code, Error, Kind, Result, sanitize};

/// The most bytes of a file of materials.
const MAX_MATERIALS: u64 = 16 << 20;

/// Memory of an entry of a map, beside the text of its name.
const ENTRY: u64 = 64;

/// The materials that are known so far.
pub(super) struct MaterialLibrary<'a> {
    /// The folder of the mesh; a stream lies in none.
    folder: Option<MeshFolder<'a>>,
    reads_textures: bool,
    known: HashMap<String, ObjMaterial>,
    /// Names of materials by what is left of them without a comment.
    short: HashMap<String, String>,
    /// The lines with names of files that were read.
    read: HashSet<String>,
    /// The numbers of pictures by the names of their files, and whether they are clamped; none for those that cannot be
    /// read.
    pictures: HashMap<(String, bool), Option<u32>>,
    /// A file of materials was named.
    pub is_named: bool,
    /// Some file of materials cannot be read.
    pub is_incomplete: bool,
}

/// What is known of a material.
#[derive(Clone, Default)]
pub(super) struct ObjMaterial {
    pub colour: Option<[u8; 3]>,
    pub map: Option<TextureMap>,
}

/// A picture and how it lies on faces.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TextureMap {
    /// The folder of the file of materials, below that of the mesh; empty or with a slash at the end.
    folder: String,
    file: String,
    scale: [f32; 2],
    offset: [f32; 2],
    wrap: TextureWrap,
}

impl TextureMap {
    /// The map of the words behind `map_Kd`: options, then the name of a file, which may have blanks.
    fn of(mut rest: &[u8]) -> Self {
        let mut map = Self {
            folder: String::new(),
            file: String::new(),
            scale: [1.0; 2],
            offset: [0.0; 2],
            wrap: TextureWrap::Repeat,
        };
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
                values
                    .get_mut(n)
                    .into_iter()
                    .for_each(|known| *known = number);
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
        map.file = text(rest);
        map
    }

    /// The place in the picture, from its upper left corner.
    pub(super) fn place(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        [
            u * self.scale[0] + self.offset[0],
            1.0 - (v * self.scale[1] + self.offset[1]),
        ]
    }
}

impl<'a> MaterialLibrary<'a> {
    pub(super) fn new(folder: Option<MeshFolder<'a>>, reads_textures: bool) -> Self {
        Self {
            folder,
            reads_textures,
            known: HashMap::new(),
            short: HashMap::new(),
            read: HashSet::new(),
            pictures: HashMap::new(),
            is_named: false,
            is_incomplete: false,
        }
    }

    /// Reads the files that the rest of a line names, if they can be read.
    pub(super) fn read(&mut self, rest: &[u8], indexed: &mut Indexed, line: u64) -> Result<()> {
        let line_text = text(rest);
        if line_text.is_empty() || self.read.contains(&line_text) {
            return Ok(());
        }
        indexed.hold(line_text.len() as u64 + ENTRY)?;
        self.is_named = true;
        let place = FilePosition::Line(line);
        let files = self.files(&line_text);
        self.read.insert(line_text);
        if self.folder.is_none() {
            self.is_incomplete = true;
            let shown = sanitize(files.join(" ").as_bytes());
            let error = Error::input(
                Code::S110,
                format!("{shown}: a stream has no files beside it"),
            );
            return indexed.no_colours(
                &error.with_hint("name the file of the mesh in place of a pipe"),
                place,
            );
        }
        for file in files {
            if let Some(error) = self.read_file(&file, indexed)? {
                self.is_incomplete = true;
                indexed.no_colours(&error, place)?;
            }
        }
        Ok(())
    }

    /// The names of files on a line: all of it, parts that end in `.mtl`, or words, whichever is there.
    fn files(&self, line: &str) -> Vec<String> {
        let bare = without_comment(line);
        let is_there = |name: &String| {
            ways(name)
                .iter()
                .any(|way| self.folder.is_some_and(|folder| folder.has_file(way)))
        };
        let whole = [
            line.to_string(),
            bare.to_string(),
            without_note(line).to_string(),
        ];
        if let Some(whole) = whole.iter().find(|whole| is_there(whole)) {
            return vec![whole.clone()];
        }
        let mut parts = vec![];
        let mut part = String::new();
        for word in bare.split_ascii_whitespace() {
            if !part.is_empty() {
                part.push(' ');
            }
            part += word;
            if word
                .to_ascii_lowercase()
                .trim_end_matches('"')
                .ends_with(".mtl")
            {
                parts.push(std::mem::take(&mut part));
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
        if parts.len() == 1 || parts.iter().any(is_there) {
            return parts;
        }
        let words: Vec<String> = bare.split_ascii_whitespace().map(str::to_string).collect();
        if words.iter().any(is_there) {
            words
        } else {
            vec![bare.to_string()]
        }
    }

    /// Learns the materials of a file; returns why it cannot be read, if so.
    fn read_file(&mut self, name: &str, indexed: &mut Indexed) -> Result<Option<Error>> {
        let key = format!("\n{name}");
        if self.read.contains(&key) {
            return Ok(None);
        }
        indexed.hold(key.len() as u64 + ENTRY)?;
        self.read.insert(key);
        let admit = |length| indexed.admit(2 * length);
        let (way, text) = match read_first(self.folder, &ways(name), MAX_MATERIALS + 1, admit) {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), Kind::TooLarge | Kind::Usage) => {
                return Err(error);
            }
            Err(error) => return Ok(Some(error)),
        };
        if text.len() as u64 > MAX_MATERIALS {
            return Ok(Some(
                Error::input(Code::S110, format!("more than {MAX_MATERIALS} bytes")).about(name),
            ));
        }
        let entries = text.split(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
        indexed.hold(2 * text.len() as u64 + ENTRY * entries)?;
        let folder = way.rfind('/').map_or("", |end| &way[..=end]);
        match self.parse(&text, folder) {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == Kind::Usage => Err(error),
            Err(error) => Ok(Some(error.about(name))),
        }
    }

    fn parse(&mut self, text_of_file: &[u8], folder: &str) -> Result<()> {
        let mut current: Option<String> = None;
        let mut range = ColourRange::default();
        let mut colours: HashMap<String, WrittenColour> = HashMap::new();
        let mut lines = Lines::new(text_of_file, &()).joining(continuation);
        while lines.advance()? {
            let (word, rest) = next_word(lines.line());
            let keyword = word.to_ascii_lowercase();
            if is_picture(&keyword) {
                for way in ways(&TextureMap::of(rest).file) {
                    note_beside(self.folder, &format!("{folder}{way}"))?;
                }
            }
            match keyword.as_slice() {
                b"newmtl" => {
                    let name = text(rest);
                    let short = without_note(&name);
                    if short != name {
                        self.short
                            .entry(short.to_string())
                            .or_insert_with(|| name.clone());
                    }
                    self.known.entry(name.clone()).or_default();
                    current = Some(name);
                }
                b"map_kd" if let (true, Some(name)) = (self.reads_textures, &current) => {
                    let map = TextureMap {
                        folder: folder.to_string(),
                        ..TextureMap::of(rest)
                    };
                    self.known.entry(name.clone()).or_default().map = Some(map);
                }
                b"kd" => {
                    let colour = written(rest, &mut range);
                    if let (Some(name), Some(colour)) = (&current, colour) {
                        colours.insert(name.clone(), colour);
                    }
                }
                _ => {}
            }
        }
        for (name, colour) in colours {
            let colour = colour.map(|value| channel(f64::from(value) / f64::from(range.full())));
            self.known.entry(name).or_default().colour = Some(colour);
        }
        Ok(())
    }

    /// The name that the rest of a line gives to a material: that of a known one if a way to read it is known.
    pub(super) fn name(&self, rest: &[u8]) -> String {
        let line = text(rest);
        let first = line.split_ascii_whitespace().next().unwrap_or_default();
        for name in [&line, without_comment(&line), without_note(&line), first] {
            if self.known.contains_key(name) {
                return name.to_string();
            }
            if let Some(full) = self.short.get(name) {
                return full.clone();
            }
        }
        without_comment(&line).to_string()
    }

    /// The material of this name, if it is known.
    pub(super) fn get(&self, name: &str) -> Option<&ObjMaterial> {
        self.known.get(name)
    }

    /// The number of the picture of a map, which is read once; none if it cannot be read.
    pub(super) fn picture(
        &mut self,
        map: &TextureMap,
        indexed: &mut Indexed,
        line: u64,
    ) -> Result<Option<u32>> {
        let key = (
            format!("{}{}", map.folder, map.file),
            map.wrap == TextureWrap::Clamp,
        );
        if let Some(known) = self.pictures.get(&key) {
            return Ok(*known);
        }
        indexed.hold(key.0.len() as u64 + ENTRY)?;
        let mut names = ways(&map.file);
        for (n, name) in names.clone().into_iter().enumerate() {
            // Beside the file of materials first.
            if !map.folder.is_empty() {
                names.insert(n, format!("{}{name}", map.folder));
            }
        }
        let found = read_first(self.folder, &names, picture::MAX_BYTES, |length| {
            indexed.admit(length)
        });
        let bytes = found.map(|(_, bytes)| bytes);
        let picture = indexed.add_picture(bytes, [map.wrap; 2], FilePosition::Line(line))?;
        self.pictures.insert(key, picture);
        Ok(picture)
    }
}

/// Whether a line of a file of materials names a picture.
fn is_picture(keyword: &[u8]) -> bool {
    keyword.starts_with(b"map_")
        || matches!(keyword, b"bump" | b"disp" | b"decal" | b"refl" | b"norm")
}

/// What may follow a line of a file of materials that ends in a backslash.
fn continuation(line: &[u8]) -> Continuation {
    let (word, rest) = next_word(line);
    match word.to_ascii_lowercase().as_slice() {
        b"kd" => Continuation::Numbers,
        b"map_kd" if TextureMap::of(rest).file.is_empty() => Continuation::Words,
        _ => Continuation::Ends,
    }
}

/// The colour of the words behind `Kd`: three numbers, or one for all.
fn written(rest: &[u8], range: &mut ColourRange) -> Option<WrittenColour> {
    let (r, rest) = next_word(rest);
    let (g, rest) = next_word(rest);
    let (b, _) = next_word(rest);
    if g.is_empty() {
        range.colour([r, r, r, b""])
    } else {
        range.colour([r, g, b, b""])
    }
}

/// The first of these files that can be read, and its name; the error is about the first of all.
pub(super) fn read_first(
    folder: Option<MeshFolder>,
    names: &[String],
    most: u64,
    admit: impl Fn(u64) -> Result<()>,
) -> Result<(String, Vec<u8>)> {
    let mut first = None;
    for name in names {
        match read_beside(folder, name, most, &admit) {
            Ok(bytes) => return Ok((name.clone(), bytes)),
            Err(error) if matches!(error.kind(), Kind::TooLarge | Kind::Usage) => {
                return Err(error);
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| Error::input(Code::S110, "a file without a name")))
}

/// The ways to read the name of a file: as it is, with the slashes of other systems, and without the folder.
pub(super) fn ways(name: &str) -> Vec<String> {
    let bare = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
        .unwrap_or(name);
    let slashes = bare.replace('\\', "/");
    let slashes = slashes.strip_suffix('/').unwrap_or(&slashes).trim_end();
    let last = slashes.rsplit('/').next().unwrap_or(slashes);
    let mut ways: Vec<String> = vec![];
    for way in [name, bare, slashes, last] {
        if !way.is_empty() && !ways.iter().any(|known| known == way) {
            ways.push(way.to_string());
        }
    }
    ways
}

/// The text on the rest of a line.
fn text(rest: &[u8]) -> String {
    String::from_utf8_lossy(rest.trim_ascii()).into_owned()
}

/// A name without the comment behind it: `#` between blanks, or at the end. That of `Material #25` stays.
pub(super) fn without_comment(name: &str) -> &str {
    let is_comment = |at: &usize| {
        let [before, behind] = [
            name[..*at].chars().next_back(),
            name[at + 1..].chars().next(),
        ];
        before.is_some_and(char::is_whitespace) && behind.is_none_or(char::is_whitespace)
    };
    match name.match_indices('#').map(|(at, _)| at).find(is_comment) {
        Some(at) => name[..at].trim_end(),
        None => name,
    }
}

/// A name up to the first word that begins with `#`.
fn without_note(name: &str) -> &str {
    let begins_word = |at: &usize| {
        name[..*at]
            .chars()
            .next_back()
            .is_some_and(char::is_whitespace)
    };
    match name.match_indices('#').map(|(at, _)| at).find(begins_word) {
        Some(at) => name[..at].trim_end(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_options_and_names_with_blanks() {
        let map = |file: &str, scale, offset, wrap| TextureMap {
            folder: String::new(),
            file: file.into(),
            scale,
            offset,
            wrap,
        };
        let plain = |file| map(file, [1.0; 2], [0.0; 2], TextureWrap::Repeat);
        for (words, expected) in [
            ("a.png", plain("a.png")),
            (" my wood.jpg ", plain("my wood.jpg")),
            ("maps\\a.png", plain("maps\\a.png")),
            ("-blendu on -bm 0.5 -imfchan m a.png", plain("a.png")),
            ("-mm 0 1 a.png", plain("a.png")),
            (
                "-s 2 3 1 -o 0.5 a b.png",
                map("a b.png", [2.0, 3.0], [0.5, 0.0], TextureWrap::Repeat),
            ),
            (
                "-clamp on -t 1 7.png",
                map("7.png", [1.0; 2], [0.0; 2], TextureWrap::Clamp),
            ),
            ("-s", plain("")),
        ] {
            assert_eq!(TextureMap::of(words.as_bytes()), expected, "{words}");
        }
    }

    #[test]
    fn names_of_files_are_read_in_several_ways() {
        for (name, expected) in [
            ("a.mtl", &["a.mtl"][..]),
            ("data\\a.mtl", &["data\\a.mtl", "data/a.mtl", "a.mtl"]),
            ("\"my a.mtl\"", &["\"my a.mtl\"", "my a.mtl"]),
            ("C:\\x\\t.png", &["C:\\x\\t.png", "C:/x/t.png", "t.png"]),
            ("a.mtl\\", &["a.mtl\\", "a.mtl"]),
            ("", &[]),
        ] {
            assert_eq!(ways(name), expected, "{name}");
        }
    }

    #[test]
    fn comments_behind_names_are_none_of_them() {
        for (name, without, short) in [
            ("red", "red", "red"),
            ("red # it is", "red", "red"),
            ("red #", "red", "red"),
            ("red#1", "red#1", "red#1"),
            ("Material #25", "Material #25", "Material"),
            ("Material #25 # x", "Material #25", "Material"),
            ("#1", "#1", "#1"),
        ] {
            assert_eq!(
                (without_comment(name), without_note(name)),
                (without, short),
                "{name}"
            );
        }
    }
}
