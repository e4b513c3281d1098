//! Fast reader for facets of an ASCII STL in the usual form: in lower case, complete, and with finite
//! numbers.
//!
//! It only affects speed: the careful parser, which reads word by word, finds the same facets and also parses
//! any other text.
//!
//! ```text
//! facet normal X Y Z outer loop vertex X Y Z vertex X Y Z vertex X Y Z endloop endfacet
//! ```

use super::number;
use super::source::is_blank;
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par;

/// Number of bytes of text that a thread processes at a time.
pub(super) const CHUNK: usize = 256 << 10;

/// Facets in the usual form at the start of a text.
#[derive(Default)]
pub(super) struct Plain {
    /// Triangles of the facets, in consecutive lists.
    pub parts: Vec<Vec<Triangle>>,
    /// Total length of these facets in bytes. The last facet ends there.
    pub length: usize,
    /// The text has nothing after these facets, except possibly an incomplete facet.
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
    // A chunk is known to begin between two facets only if the previous chunk was read exactly to its end.
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

/// Number of threads to use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Threads {
    One,
    All,
}

/// Maximum length of an incomplete facet at the end of the text. A longer one is not in the usual form.
const HALF_FACET: usize = 4 << 10;

/// Returns the ends of chunks: some positions after a word `endfacet`, which may also be part of a name, and
/// the end of the text.
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

/// Position in a text, at a word or at the blanks before it.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Reads the next facet. If there is none in the usual form, returns `None` and leaves the position
    /// unchanged.
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
        // The blanks after the facet are left for the next call.
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
