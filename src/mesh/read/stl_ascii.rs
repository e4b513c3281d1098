//! ASCII STL.
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
//! Read as the files in the wild are: keywords in any case, any blanks and line ends, no or any
//! name, several solids, a byte order mark, all on one line, normals that are no numbers. What is
//! not tolerated is what could lose geometry: a facet that is no triangle, a number that cannot be
//! read, an end that is missing, anything after it.

use std::io::Read;

use super::room::Room;
use super::source::{Head, Source, is_blank};
use super::words::Words;
use super::{Guess, InputFormat, ReadOptions};
use crate::error::{Error, Result, shown};
use crate::geom::{Point, Triangle};
use crate::mesh::{Mesh, not_finite};

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "stl-ascii",
    extensions: &["stl"],
    about: "ASCII STL, of one or several solids",
    recognise,
    read,
};

fn recognise(head: &Head) -> Guess {
    let text = head.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head.bytes);
    let start = text.iter().position(|&byte| !is_blank(byte)).unwrap_or(text.len());
    let word = text[start..].split(|&byte| is_blank(byte)).next().unwrap_or_default();
    if word.eq_ignore_ascii_case(b"solid") && head.is_text() { Guess::Sure } else { Guess::No }
}

fn read(source: Source, options: &ReadOptions) -> Result<(Mesh, u64)> {
    let words = Words::new(source.into_reader(), options.progress)?;
    let mut parser = Parser { words, triangles: Vec::new(), room: Room::new(options.max_memory) };
    parser.solids()?;
    let bytes = parser.words.bytes();
    Ok((Mesh::of_finite(parser.triangles.into()), bytes))
}

/// Words on their way to triangles.
struct Parser<'a, R> {
    words: Words<'a, R>,
    triangles: Vec<Triangle>,
    room: Room,
}

impl<R: Read> Parser<'_, R> {
    /// One solid after another, to the end.
    fn solids(&mut self) -> Result<()> {
        while self.words.advance()? {
            if !self.words.is("solid") {
                return Err(self.unexpected("'solid' or the end"));
            }
            let line = self.words.line();
            let mut begun = self.name()?;
            loop {
                self.facets(begun)?;
                begun = self.end_name(line)?;
                if !begun {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Skips the name, which is the rest of the line, unless a facet begins or the solid ends there;
    /// true if a facet does.
    fn name(&mut self) -> Result<bool> {
        let line = self.words.line();
        let mut after_facet = false;
        while self.words.advance()? {
            if after_facet && (self.words.is("normal") || self.words.is("outer")) {
                self.words.stay();
                return Ok(true);
            }
            if self.words.line() != line || self.words.is("endsolid") {
                self.words.stay();
                break;
            }
            after_facet = self.words.is("facet");
        }
        Ok(false)
    }

    /// Skips the name after `endsolid`, which may hold the word `solid`. Where the solid that ends here
    /// began on the same line, that word begins another; so it does where a facet follows on the line,
    /// and then the answer is true: that facet is begun.
    fn end_name(&mut self, begun_at: u64) -> Result<bool> {
        let line = self.words.line();
        while self.words.advance()? {
            if self.words.line() != line || line == begun_at && self.words.is("solid") {
                self.words.stay();
                break;
            }
            if self.words.is("solid") && self.name()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All facets of a solid, and its `endsolid`.
    fn facets(&mut self, mut begun: bool) -> Result<()> {
        loop {
            if !begun {
                self.need("'facet' or 'endsolid'")?;
                if self.words.is("endsolid") {
                    return Ok(());
                }
                if !self.words.is("facet") {
                    return Err(self.unexpected("'facet' or 'endsolid'"));
                }
            }
            let triangle = self.facet()?;
            self.room.grow(&mut self.triangles, 1, u64::MAX)?;
            self.triangles.push(triangle);
            begun = false;
        }
    }

    /// One facet, from behind its first word to `endfacet`.
    fn facet(&mut self) -> Result<Triangle> {
        // "normal" and three words that do not matter; some files leave them out.
        for skipped in 0..=4 {
            self.need("'outer loop'")?;
            if self.words.is("outer") {
                break;
            }
            if skipped == 4 {
                return Err(self.unexpected("'outer loop'"));
            }
        }
        self.expect("loop")?;
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
            return Err(self.syntax(format!("a facet of {vertices} vertices, not 3")));
        }
        self.expect("endfacet")?;
        Ok(triangle)
    }

    fn vertex(&mut self) -> Result<Point> {
        let mut point = [0.0; 3];
        for (axis, coordinate) in point.iter_mut().enumerate() {
            self.need("a coordinate")?;
            if self.words.is("vertex") || self.words.is("endloop") {
                return Err(self.syntax(format!("a vertex of {axis} coordinates, not 3")));
            }
            let value = number(self.words.word()).ok_or_else(|| self.no_number())?;
            if !value.is_finite() {
                let triangle = self.triangles.len() as u64;
                return Err(not_finite(value).at_triangle(triangle).at_line(self.words.line()));
            }
            *coordinate = value;
        }
        Ok(point)
    }

    /// Goes to the next word, which must be there.
    fn need(&mut self, wanted: &str) -> Result<()> {
        if self.words.advance()? { Ok(()) } else { Err(self.missing(wanted)) }
    }

    fn expect(&mut self, keyword: &str) -> Result<()> {
        if !self.words.advance()? {
            return Err(self.missing(&format!("'{keyword}'")));
        }
        if self.words.is(keyword) { Ok(()) } else { Err(self.unexpected(&format!("'{keyword}'"))) }
    }

    fn missing(&self, wanted: &str) -> Error {
        let whole = self.triangles.len();
        self.cut_short(format!("{wanted} is missing, after {whole} whole triangles"))
    }

    /// The error for a word that should be another. At the end it may be half of the right one.
    fn unexpected(&self, wanted: &str) -> Error {
        let found = shown(self.words.word());
        if self.words.at_end() {
            return self.cut_short(format!("it ends in '{found}', where {wanted} should be"));
        }
        self.syntax(format!("found '{found}' where {wanted} should be"))
    }

    fn no_number(&self) -> Error {
        let word = self.words.word();
        let found = shown(word);
        if self.words.at_end() {
            return self.cut_short(format!("it ends in '{found}', where a coordinate should be"));
        }
        let error = Error::input("S007", format!("'{found}' is not a number")).at_line(self.words.line());
        if word.contains(&b',') {
            return error.with_hint("numbers need a decimal point, not a comma, and blanks between them");
        }
        if word[0] != b'd' && word.iter().any(|byte| matches!(byte, b'd' | b'D')) {
            return error.with_hint("exponents are written 1e3, not 1d3");
        }
        error
    }

    fn syntax(&self, message: String) -> Error {
        Error::input("S006", message).at_line(self.words.line())
    }

    fn cut_short(&self, message: String) -> Error {
        Error::input("S003", format!("cut short: {message}")).at_line(self.words.line())
    }
}

/// The nearest float; infinite or NaN if the word says so, in the words of any run-time library.
fn number(word: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(word).ok()?;
    text.parse().ok().or_else(|| {
        // Old C run-times print 1.#INF, -1.#IND and 1.#QNAN, newer ones -nan(ind).
        let text = text.to_ascii_lowercase();
        match text.trim_start_matches(['-', '+']) {
            odd if odd.starts_with("1.#inf") => Some(f32::INFINITY),
            odd if odd.starts_with("1.#") || odd.starts_with("nan(") => Some(f32::NAN),
            _ => None,
        }
    })
}
