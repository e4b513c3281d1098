//! Facets of an ASCII STL that are written plainly, fast: lower case, all numbers there and finite.
//!
//! The careful parser, word by word, would find the same facets, and parses text in any other
//! form. So this decides speed alone.
//!
//! ```text
//! facet normal X Y Z outer loop vertex X Y Z vertex X Y Z vertex X Y Z endloop endfacet
//! ```

use super::number;
use super::source::is_blank;
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par;

/// The text that one thread takes at a time.
pub(super) const CHUNK: usize = 256 << 10;

/// The facets that a text begins with.
#[derive(Default)]
pub(super) struct Plain {
    /// Their triangles, in parts that follow each other.
    pub parts: Vec<Vec<Triangle>>,
    /// The bytes they take; a whole word ends there.
    pub length: usize,
    /// Whether they end where the text does, less half a facet.
    pub to_end: bool,
}

/// As many plain facets as `text` begins with. It begins between two facets.
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
    // A chunk begins between two facets only if the one before came exactly to its end.
    let mut plain = Plain::default();
    for ((triangles, at), end) in found.into_iter().zip(ends) {
        plain.parts.push(triangles);
        (plain.length, plain.to_end) = (at, at >= end || text.len() - at < HALF_FACET);
        if at != end {
            break;
        }
    }
    plain
}

/// The threads that look for facets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Threads {
    One,
    All,
}

/// No facet that is cut by the end of the text is longer, or it is none of the usual ones.
const HALF_FACET: usize = 4 << 10;

/// Where chunks end: behind the word `endfacet`, or what looks like it, and at the end.
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

/// A place in a text, at or before the blanks before a word.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// The next facet; without one nothing is taken.
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
        // The blanks behind it belong to what follows.
        self.at = end;
        Some(triangle)
    }

    #[inline(always)]
    fn vertex(&mut self) -> Option<Point> {
        self.word(b"vertex")?;
        Some([self.number()?, self.number()?, self.number()?])
    }

    /// This word, and the blanks behind it, of which there must be one.
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
