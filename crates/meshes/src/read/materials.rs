//! Material files of an OBJ. A material is `newmtl NAME` with a colour `Kd R G B` and possibly a picture
//! `map_Kd FILE`, which replaces the colour. Upper and lower case of keywords are equivalent. A file is read
//! once, even if it is named several times.
//!
//! Names in real files are often irregular. They contain blanks, several names are on one line, comments
//! follow them, and paths have Windows backslashes or folders of another machine. All possible
//! interpretations of a name are tried, and the first one that is an existing file or material is used.

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

/// Maximum size of a material file in bytes.
const MAX_MATERIALS: u64 = 16 << 20;

/// Memory of a map entry in bytes, in addition to its name.
const ENTRY: u64 = 64;

/// Materials read so far.
pub(super) struct MaterialLibrary<'a> {
    /// Folder of the mesh. `None` if the mesh is read from a stream.
    folder: Option<MeshFolder<'a>>,
    known: HashMap<String, ObjMaterial>,
    /// Full names of materials, by their names without a trailing comment.
    short: HashMap<String, String>,
    /// Texts of lines with file names, and file names, that were already read.
    read: HashSet<String>,
    /// Index in the mesh of each picture, by file name and clamping. `None` for a picture that cannot be
    /// read.
    pictures: HashMap<(String, bool), Option<u32>>,
    /// At least one line names a material file.
    pub is_named: bool,
    /// At least one material file cannot be read.
    pub is_incomplete: bool,
}

/// Colour and picture of a material.
#[derive(Clone, Default)]
pub(super) struct ObjMaterial {
    pub colour: Option<[u8; 3]>,
    pub map: Option<TextureMap>,
}

/// Picture of a material, and its placement on faces.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TextureMap {
    /// Folder of the material file, relative to the folder of the mesh. Empty, or with a slash at the end.
    folder: String,
    file: String,
    scale: [f32; 2],
    offset: [f32; 2],
    wrap: TextureWrap,
}

impl TextureMap {
    /// Parses the words after `map_Kd`: options, then a file name, which may contain blanks.
    fn of(mut rest: &[u8]) -> Self {
        let mut map = Self {
            folder: String::new(),
            file: String::new(),
            scale: [1.0; 2],
            offset: [0.0; 2],
            wrap: TextureWrap::Repeat,
        };
        loop {
            let (word, mut following) = next_word(rest);
            let [fewest, most] = match word {
                b"-o" | b"-s" | b"-t" => [1, 3],
                b"-mm" => [2, 2],
                _ if word.len() > 1 && word[0] == b'-' => [1, 1],
                _ => break,
            };
            let mut values = [None; 2];
            for n in 0..most {
                let (value, after) = next_word(following);
                let number = number::of(value);
                if n >= fewest && number.is_none() {
                    break;
                }
                if let Some(known) = values.get_mut(n) {
                    *known = number;
                }
                if word == b"-clamp" && value == b"on" {
                    map.wrap = TextureWrap::Clamp;
                }
                following = after;
            }
            rest = following;
            let numbers = match word {
                b"-o" => &mut map.offset,
                b"-s" => &mut map.scale,
                _ => continue,
            };
            for (number, value) in numbers.iter_mut().zip(values) {
                *number = value.unwrap_or(*number);
            }
        }
        map.file = text(rest);
        map
    }

    /// Converts a texture position of a vertex to coordinates relative to the upper left corner of the
    /// picture.
    pub(super) fn place(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        [
            u * self.scale[0] + self.offset[0],
            1.0 - (v * self.scale[1] + self.offset[1]),
        ]
    }
}

impl<'a> MaterialLibrary<'a> {
    pub(super) fn new(folder: Option<MeshFolder<'a>>) -> Self {
        Self {
            folder,
            known: HashMap::new(),
            short: HashMap::new(),
            read: HashSet::new(),
            pictures: HashMap::new(),
            is_named: false,
            is_incomplete: false,
        }
    }

    /// Reads the material files that the rest of a line names. Files that cannot be read are reported.
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
                format!("{shown}: a stream has no files next to it"),
            );
            return indexed.no_colours(
                &error.with_hint("pass the name of the mesh file instead of a pipe"),
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

    /// Returns the file names on a line. Names may contain blanks, so three readings are tried: the whole
    /// line, parts that end in `.mtl`, and single words. The first reading with an existing file is used. If
    /// there is none, returns the line without its comment.
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

    /// Reads the materials of a file. If the file cannot be read, returns the reason.
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
                b"map_kd" if let Some(name) = &current => {
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

    /// Returns the name of the material on the rest of a line. If the text has several readings, prefers the
    /// name of a known material.
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

    /// Returns the material with this name. `None` if it is unknown.
    pub(super) fn get(&self, name: &str) -> Option<&ObjMaterial> {
        self.known.get(name)
    }

    /// Returns the index in the mesh of a material's picture, which is read at the first call. `None` if it
    /// cannot be read.
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
            // The folder of the material file is tried first.
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

/// Returns whether this keyword of a material file is followed by the name of a picture.
fn is_picture(keyword: &[u8]) -> bool {
    keyword.starts_with(b"map_")
        || matches!(keyword, b"bump" | b"disp" | b"decal" | b"refl" | b"norm")
}

/// Returns the meaning of a backslash at the end of a line of a material file.
fn continuation(line: &[u8]) -> Continuation {
    let (word, rest) = next_word(line);
    match word.to_ascii_lowercase().as_slice() {
        b"kd" => Continuation::Numbers,
        b"map_kd" if TextureMap::of(rest).file.is_empty() => Continuation::Words,
        _ => Continuation::Ends,
    }
}

/// Parses the colour after `Kd`: three numbers, or one number for all channels.
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

/// Reads the first of these files that is readable. If none is, returns the error for the first file.
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

/// Returns possible interpretations of a file name: unchanged, with backslashes replaced by slashes, and
/// without its folder.
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

/// Returns the rest of a line as text without surrounding blanks.
fn text(rest: &[u8]) -> String {
    String::from_utf8_lossy(rest.trim_ascii()).into_owned()
}

/// Returns a name without a trailing comment. A `#` begins a comment if it is between blanks or at the end.
/// `Material #25` is therefore unchanged.
pub(super) fn without_comment(name: &str) -> &str {
    for (at, _) in name.match_indices('#') {
        let after = name[at + 1..].chars().next();
        if follows_blank(name, at) && after.is_none_or(char::is_whitespace) {
            return name[..at].trim_end();
        }
    }
    name
}

/// Returns whether the character before byte `at` is a blank.
fn follows_blank(name: &str, at: usize) -> bool {
    let before = name[..at].chars().next_back();
    before.is_some_and(char::is_whitespace)
}

/// Returns the part of a name before the first word that begins with `#`.
fn without_note(name: &str) -> &str {
    for (at, _) in name.match_indices('#') {
        if follows_blank(name, at) {
            return name[..at].trim_end();
        }
    }
    name
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
    fn comments_after_names_are_left_out() {
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
