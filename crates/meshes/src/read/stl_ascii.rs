//! Reader of ASCII STL.
//!
//! ```text
//! solid NAME
//!   facet normal X Y Z
//!     outer loop
//!       vertex X Y Z      (three times)
//!     endloop
//!   endfacet
//! endsolid NAME
//! ```
//!
//! The reader accepts all variants that occur in practice: keywords in upper or lower case, any blanks and
//! line ends, any name or none, several solids, a byte order mark, all text on one line, and normals that are
//! not numbers. It refuses text that could lose geometry: a facet that is not a triangle, a number that
//! cannot be parsed, a missing end, or anything after the end. A lenient reader drops such a facet and
//! continues with the next.

use std::borrow::Cow;
use std::io::Read;

use super::facets::{self, Plain, Threads};
use super::lines::first_word;
use super::number;
use super::room::Room;
use super::source::{Head, MeshBytes};
use super::triage::Triage;
use super::words::Words;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::{Mesh, MeshParts, PartKind, not_finite};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "stl-ascii",
    extensions: &["stl"],
    about: "ASCII STL with one or several solids",
    states_unit: false,
    has_decimals: true,
    recognise,
    read,
};

fn recognise(head: &Head) -> Guess {
    let word = first_word(head.text());
    if word.eq_ignore_ascii_case(b"solid") && head.is_text() {
        Guess::Sure
    } else {
        Guess::No
    }
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let threads = par::current_threads();
    let is_long = source
        .length()
        .is_none_or(|length| length > facets::CHUNK as u64);
    let block = if is_long && threads > 1 {
        4 * threads * facets::CHUNK
    } else {
        0
    };
    // The buffered bytes are not counted elsewhere, so the buffer takes a small part of the memory limit.
    let block = block.min(
        options
            .max_memory
            .map_or(usize::MAX, |bytes| (bytes / 16) as usize),
    );
    let words = Words::new(source.into_reader(), block, options.progress)?;
    let room = Room::new(options.max_memory);
    let mut parser = Parser {
        words,
        triangles: Vec::new(),
        room,
        triage,
        solids: 0,
        parts: MeshParts::default(),
        within: false,
        stumbled: None,
    };
    parser.text()?;
    parser.end_part();
    let bytes = parser.words.bytes();
    let Parser {
        triangles, parts, ..
    } = parser;
    Ok(Content::new(
        Mesh::of_finite(triangles.into()).with_parts(PartKind::Object, parts)?,
        bytes,
    ))
}

/// State of the conversion of words to triangles.
struct Parser<'a, R> {
    words: Words<'a, R>,
    triangles: Vec<Triangle>,
    room: Room,
    triage: &'a Triage,
    solids: u64,
    /// Solids read so far. The triangles of the last solid are added when it ends.
    parts: MeshParts,
    /// A facet has begun but not ended.
    within: bool,
    /// Number of bytes that had been read when a facet was found that is not in the usual form.
    stumbled: Option<u64>,
}

/// Maximum length in bytes of a name that is stored.
const MAX_NAME: usize = 200;

/// Text after the word `solid`, normally the name of the solid.
struct Name {
    /// Stored words of the name, separated by blanks.
    text: String,
    /// Number of words, including words that are not stored.
    length: usize,
    is_utf8: bool,
    /// Start of the facet after the name, as far as it was read.
    begun: Begun,
}

/// Words of a facet that were already read while searching for the end of the name.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Begun {
    #[default]
    Nothing,
    /// The word `facet`. The next word is `normal`.
    Facet,
    /// The words `facet outer loop`. The next word is `vertex`.
    Loop,
}

impl<R: Read> Parser<'_, R> {
    /// Reads all solids up to the end of the text.
    fn text(&mut self) -> Result<()> {
        if self.words.marked() {
            self.unusual("it begins with a byte order mark", 1)?;
        }
        while self.words.advance()? {
            if self.words.is("solid") {
                self.solid()?;
                continue;
            }
            self.triage.found(self.unexpected("'solid' or the end"))?;
            // Facets outside of a solid are read too.
            while !self.words.is("solid") && !self.words.is("facet") && self.words.advance()? {}
            if self.words.is("facet") {
                self.words.stay();
                self.facets(Begun::Nothing)?;
            } else if self.words.is("solid") {
                self.words.stay();
            }
        }
        match self.words.lone_cr() {
            Some(line) => self.unusual("lines end in CR alone", line),
            None => Ok(()),
        }
    }

    /// Reads a solid. Also reads further solids if they begin on the line on which the previous solid ends.
    fn solid(&mut self) -> Result<()> {
        let line = self.words.line();
        self.another(line)?;
        if self.words.word() != b"solid" {
            self.unusual("keywords are not in lower case", line)?;
        }
        let Name {
            text,
            length,
            is_utf8,
            begun,
        } = self.name()?;
        self.parts.name(text);
        if begun != Begun::Nothing {
            self.unusual("a facet begins on the line of 'solid'", line)?;
        }
        if !is_utf8 {
            self.unusual("a name is not UTF-8", line)?;
        }
        if length == 0 {
            let error = || Error::input(Code::S105, "the solid has no name").at_line(line);
            self.triage.found_all(Code::S105, 1, error)?;
        }
        self.facets(begun)?;
        loop {
            let Some(Name { text, begun, .. }) = self.end_name(line)? else {
                return Ok(());
            };
            self.another(self.words.line())?;
            self.parts.name(text);
            self.facets(begun)?;
        }
    }

    /// Assigns the triangles that were read since the last call to the last solid.
    fn end_part(&mut self) {
        let more = self.triangles.len() as u64 - self.parts.len();
        // Facets outside of a solid form a part without a name.
        let last = match self.parts.names().len() {
            0 => self.parts.name(String::new()),
            names => names as u32 - 1,
        };
        self.parts.extend(more, last);
    }

    fn another(&mut self, line: u64) -> Result<()> {
        self.solids += 1;
        if self.solids > 1 || !self.triangles.is_empty() {
            self.end_part();
            self.room.admit(
                self.triangles.capacity() as u64,
                self.triage.bytes() + self.parts.bytes(),
            )?;
        }
        if self.solids == 1 {
            return Ok(());
        }
        let error = || {
            Error::input(
                Code::S104,
                "the file has several solids; all of them are read as one mesh",
            )
            .at_line(line)
        };
        self.triage.found_all(Code::S104, 1, error)
    }

    fn unusual(&self, what: &str, line: u64) -> Result<()> {
        let error = || Error::input(Code::S106, format!("unusual text: {what}")).at_line(line);
        self.triage.found_all(Code::S106, 1, error)
    }

    /// Reads the name, which is the rest of the line, or ends earlier where a facet begins or the solid ends.
    /// A name may contain words of facets: `facet outer loop` is part of the name unless `vertex` follows.
    fn name(&mut self) -> Result<Name> {
        const LOOP: [&str; 3] = ["facet", "outer", "loop"];
        let line = self.words.line();
        let mut name = Name {
            text: String::new(),
            length: 0,
            is_utf8: true,
            begun: Begun::Nothing,
        };
        // Length of the name's text before the last words that match LOOP.
        let mut loop_at = 0;
        // Number of the last words that match LOOP.
        let mut matched = 0;
        while self.words.advance()? {
            name.begun = match matched {
                1 if self.words.is("normal") => Begun::Facet,
                3 if self.words.is("vertex") => Begun::Loop,
                _ => Begun::Nothing,
            };
            let begins = name.begun != Begun::Nothing;
            if begins || self.words.line() != line || self.words.is("endsolid") {
                self.words.stay();
                if begins {
                    name.length -= matched;
                    name.text.truncate(loop_at);
                }
                break;
            }
            let follows = LOOP.get(matched).is_some_and(|word| self.words.is(word));
            matched = if follows {
                matched + 1
            } else {
                usize::from(self.words.is("facet"))
            };
            if matched == 1 {
                loop_at = name.text.len();
            }
            name.length += 1;
            let word = String::from_utf8_lossy(self.words.word());
            name.is_utf8 &= matches!(word, Cow::Borrowed(_));
            if name.text.len() + word.len() < MAX_NAME {
                name.text += if name.text.is_empty() { "" } else { " " };
                name.text += &word;
            }
        }
        Ok(name)
    }

    /// Skips the name after `endsolid`. A name may contain the word `solid`. That word begins another solid
    /// in two cases: if the solid that ends here began on the same line, or if a facet follows on the line.
    /// In the second case the name before that facet is returned.
    fn end_name(&mut self, begun_at: u64) -> Result<Option<Name>> {
        let line = self.words.line();
        while self.words.advance()? {
            if self.words.line() != line || line == begun_at && self.words.is("solid") {
                self.words.stay();
                break;
            }
            if self.words.is("solid") {
                let name = self.name()?;
                if name.begun != Begun::Nothing {
                    return Ok(Some(name));
                }
            }
        }
        Ok(None)
    }

    /// Reads all facets of a solid up to its `endsolid`. `begun` states which words of the first facet were
    /// already read.
    fn facets(&mut self, mut begun: Begun) -> Result<()> {
        loop {
            self.within = begun != Begun::Nothing;
            if !self.within {
                self.plain_facets()?;
            }
            match self.next_facet(std::mem::take(&mut begun)) {
                Ok(Some(triangle)) => {
                    self.room.grow(&mut self.triangles, 1, u64::MAX, 0)?;
                    self.triangles.push(triangle);
                }
                Ok(None) => return Ok(()),
                Err(damage) => {
                    self.triage.found(damage)?;
                    if self.within {
                        self.triage.drop_triangle(self.triangles.len());
                        self.room
                            .admit(self.triangles.capacity() as u64, self.triage.bytes())?;
                    }
                    if !self.resume()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads facets in the usual form, as far as they are already buffered.
    fn plain_facets(&mut self) -> Result<()> {
        if !self.triage.is_plain() {
            return Ok(());
        }
        let text = self.words.rest();
        // If the text is not in the usual form, several threads would mostly read in vain. They are used only
        // if no unusual facet was found since the buffer was filled.
        let smooth = self.stumbled != Some(self.words.bytes());
        let threads = if smooth && text.len() > facets::CHUNK {
            Threads::All
        } else {
            Threads::One
        };
        let Plain {
            parts,
            length,
            to_end,
        } = facets::plain(text, threads);
        for part in parts {
            self.room
                .grow(&mut self.triangles, part.len(), u64::MAX, 0)?;
            self.triangles.extend(part);
        }
        self.words.skip(length);
        self.stumbled = if to_end {
            None
        } else {
            Some(self.words.bytes())
        };
        Ok(())
    }

    /// Reads the next facet word by word. `None` at the end of the solid.
    fn next_facet(&mut self, begun: Begun) -> Result<Option<Triangle>> {
        if !self.within {
            self.need("'facet' or 'endsolid'")?;
            if self.words.is("endsolid") {
                return Ok(None);
            }
            if !self.words.is("facet") {
                return Err(self.unexpected("'facet' or 'endsolid'"));
            }
            self.within = true;
        }
        let triangle = self.facet(begun)?;
        self.within = false;
        Ok(Some(triangle))
    }

    /// Continues after damage at the next facet or at the end of the solid. Returns `false` at the end of the
    /// text.
    fn resume(&mut self) -> Result<bool> {
        while !self.words.is("facet") && !self.words.is("endsolid") {
            if !self.words.advance()? {
                return Ok(false);
            }
        }
        self.words.stay();
        Ok(true)
    }

    /// Reads the rest of a facet up to `endfacet`. `begun` states which words were already read: `facet`, or
    /// `facet outer loop`.
    fn facet(&mut self, begun: Begun) -> Result<Triangle> {
        if begun == Begun::Loop {
            self.no_normal(self.words.line())?;
        } else {
            self.normal()?;
            self.expect("loop")?;
        }
        let mut triangle = [[0.0; 3]; 3];
        let mut vertices = 0;
        loop {
            self.need("'vertex' or 'endloop'")?;
            if self.words.is("vertex") {
                let vertex = self.vertex()?;
                if let Some(place) = triangle.get_mut(vertices) {
                    *place = vertex;
                }
                vertices += 1;
            } else if self.words.is("endloop") {
                break;
            } else {
                return Err(self.unexpected("'vertex' or 'endloop'"));
            }
        }
        if vertices != 3 {
            return Err(self.syntax(format!("a facet has {vertices} vertices, not 3")));
        }
        self.expect("endfacet")?;
        Ok(triangle)
    }

    /// Skips `normal` and three words, if they are present. Some files omit them.
    fn normal(&mut self) -> Result<()> {
        let line = self.words.line();
        let mut numbers = 0;
        for skipped in 0..=4 {
            self.need("'outer loop'")?;
            if self.words.is("outer") {
                break;
            }
            if skipped == 4 {
                return Err(self.unexpected("'outer loop'"));
            }
            numbers += u32::from(number::of(self.words.word()).is_some_and(f32::is_finite));
        }
        if numbers == 3 {
            Ok(())
        } else {
            self.no_normal(line)
        }
    }

    fn no_normal(&self, line: u64) -> Result<()> {
        let triangle = self.number();
        let error = || {
            let text = "the normal is missing, malformed, NaN or infinite; normals are not used";
            Error::input(Code::S103, text)
                .at_triangle(triangle)
                .at_line(line)
        };
        self.triage.found_all(Code::S103, 1, error)
    }

    /// Returns the number of the facet that is being read.
    fn number(&self) -> u64 {
        self.triangles.len() as u64 + self.triage.count_dropped()
    }

    fn vertex(&mut self) -> Result<Point> {
        let mut point = [0.0; 3];
        for (axis, coordinate) in point.iter_mut().enumerate() {
            self.need("a coordinate")?;
            if self.words.is("vertex") || self.words.is("endloop") {
                return Err(self.syntax(format!("a vertex has {axis} coordinates, not 3")));
            }
            let value = self
                .triage
                .coordinate(axis, self.words.word())
                .ok_or_else(|| self.no_number())?;
            if !value.is_finite() {
                return Err(not_finite(value)
                    .at_triangle(self.number())
                    .at_line(self.words.line()));
            }
            *coordinate = value;
        }
        Ok(point)
    }

    /// Advances to the next word. Fails at the end of the text. `wanted` describes the expected word.
    fn need(&mut self, wanted: &str) -> Result<()> {
        if self.words.advance()? {
            Ok(())
        } else {
            Err(self.missing(wanted))
        }
    }

    fn expect(&mut self, keyword: &str) -> Result<()> {
        if !self.words.advance()? {
            return Err(self.missing(&format!("'{keyword}'")));
        }
        if self.words.is(keyword) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{keyword}'")))
        }
    }

    fn missing(&self, wanted: &str) -> Error {
        let whole = self.triangles.len();
        self.cut_short(format!(
            "{wanted} is missing, after {whole} whole triangles"
        ))
    }

    /// Returns the error for an unexpected word. If the word is the last of the text and alphanumeric, it may
    /// be the start of the expected word, and the text was cut short.
    fn unexpected(&self, wanted: &str) -> Error {
        let found = sanitize(self.words.word());
        if self.words.at_end() && self.words.word().iter().all(u8::is_ascii_alphanumeric) {
            return self.cut_short(format!("it ends in '{found}', but {wanted} is expected"));
        }
        self.syntax(format!("expected {wanted}, found '{found}'"))
    }

    fn no_number(&self) -> Error {
        let word = self.words.word();
        let found = sanitize(word);
        if self.words.at_end() {
            return self.cut_short(format!(
                "it ends in '{found}', but a coordinate is expected"
            ));
        }
        let error = Error::input(Code::S007, format!("'{found}' is not a number"))
            .at_line(self.words.line());
        if word.contains(&b',') {
            return error
                .with_hint("numbers need a decimal point, not a comma, and blanks between them");
        }
        if word[0] != b'd' && word.iter().any(|byte| matches!(byte, b'd' | b'D')) {
            return error.with_hint("exponents are written 1e3, not 1d3");
        }
        error
    }

    fn syntax(&self, message: String) -> Error {
        Error::input(Code::S006, message).at_line(self.words.line())
    }

    fn cut_short(&self, message: String) -> Error {
        Error::input(Code::S003, format!("cut short: {message}")).at_line(self.words.line())
    }
}
