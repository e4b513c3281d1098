//! Fast reader for facets of an ASCII STL in the usual form: lower case, complete and with finite
//! numbers.
//!
//! The careful parser, which reads word by word, finds the same facets, and also parses all other
//! text. This module only affects speed.
//!
//! ```text
//! facet normal X Y Z outer loop vertex X Y Z vertex X Y Z vertex X Y Z endloop endfacet
//! ```

use super::number;
use super::source::is_blank;
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par;

/// Bytes of text that a thread takes at a time.
pub(super) const CHUNK: usize = 256 << 10;

/// Facets in the usual form at the start of a text.
#[derive(Default)]
pub(super) struct Plain {
    /// Triangles, in consecutive parts.
    pub parts: Vec<Vec<Triangle>>,
    /// Length of these facets in bytes. A whole word ends there.
    pub length: usize,
    /// The facets reach the end of the text, except for part of a facet.
    pub to_end: bool,
}

/// Reads facets in the usual form from the start of `text`, which must begin between two facets.
pub(super) fn plain(text: &[u8], threads: Threads) -> Plain {
    let ends = match threads {
        Threads::One => vec![text.len()],
        Threads::All => chunk_ends(text),
    };
    let begins = std::iter::once(0).chain(ends.iter().copied());
    let found = par::map(begins.zip(ends.iter().copied()).collect(), |(from, to)| {
        let mut cursor = Cursor { text, at: from };
        let mut triangles = Vec::new();
        while cursor.at < to
            && let Some(triangle) = cursor.facet()
        {
            triangles.push(triangle);
        }
        (triangles, cursor.at)
    });
    // A chunk begins between two facets only if the previous chunk was read exactly to its end.
    let mut plain = Plain::default();
    for ((triangles, at), end) in found.into_iter().zip(ends) {
        plain.parts.push(triangles);
        plain.length = at;
        plain.to_end = at >= end || text.len() - at < HALF_FACET;
        if at != end {
            break;
        }
    }
    plain
}

/// Threads to use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Threads {
    One,
    All,
}

/// Maximum length of a facet that is cut off by the end of the text. A longer one is not in the
/// usual form.
const HALF_FACET: usize = 4 << 10;

/// Returns the ends of chunks: after each `endfacet` found, which may be other text, and at the end
/// of the text.
fn chunk_ends(text: &[u8]) -> Vec<usize> {
    const WORD: &[u8] = b"endfacet";
    let mut ends = vec![];
    let mut at = CHUNK;
    while at < text.len() {
        let Some(found) = text[at..].windows(WORD.len()).position(|word| word == WORD) else {
            break;
        };
        ends.push(at + found + WORD.len());
        at += found + CHUNK;
    }
    if ends.last().is_none_or(|end| *end < text.len()) {
        ends.push(text.len());
    }
    ends
}

/// Position in a text, at a word or at blanks before it.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Reads the next facet. The position does not change if there is none.
    #[inline]
    fn facet(&mut self) -> Option<Triangle> {
        let begin = self.at;
        let triangle = self.facet_from_here();
        if triangle.is_none() {
            self.at = begin;
        }
        triangle
    }

    #[inline(always)]
    fn facet_from_here(&mut self) -> Option<Triangle> {
        self.blanks();
        self.word(b"facet")?;
        self.word(b"normal")?;
        for _ in 0..3 {
            self.number()?;
        }
        self.word(b"outer")?;
        self.word(b"loop")?;
        let triangle = [self.vertex()?, self.vertex()?, self.vertex()?];
        self.word(b"endloop")?;
        let end = self.at + b"endfacet".len();
        self.word(b"endfacet")?;
        // The blanks after the facet belong to the following text.
        self.at = end;
        Some(triangle)
    }

    #[inline(always)]
    fn vertex(&mut self) -> Option<Point> {
        self.word(b"vertex")?;
        Some([self.number()?, self.number()?, self.number()?])
    }

    /// Reads this word and the blanks after it. At least one blank is required.
    #[inline(always)]
    fn word(&mut self, word: &[u8]) -> Option<()> {
        if !self.text[self.at..].starts_with(word) {
            return None;
        }
        self.at += word.len();
        self.blanks()
    }

    #[inline(always)]
    fn blanks(&mut self) -> Option<()> {
        let begin = self.at;
        while self.text.get(self.at).is_some_and(|byte| is_blank(*byte)) {
            self.at += 1;
        }
        (self.at > begin).then_some(())
    }

    #[inline(always)]
    fn number(&mut self) -> Option<f32> {
        let (value, length) = number::first(&self.text[self.at..])?;
        self.at += length;
        self.blanks()?;
        value.is_finite().then_some(value)
    }
}
