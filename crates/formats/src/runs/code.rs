//! The code of deflated cells (RFC 1951). A run is its byte, then matches that repeat it from a distance of
//! one. Rows that equal the row before are matches from a distance of a row. One Huffman code serves all
//! grids with rows of a length.

use super::bit_string::BitString;

/// Symbol that ends a block.
const END: usize = 256;

/// Number of symbols: bytes, the end and lengths.
const SYMBOLS: usize = 286;

/// Maximum distance of a match.
const FARTHEST: usize = 1 << 15;

/// Maximum length of a match.
const LONGEST: usize = 258;

/// Shortest run that is shorter as a match than as single bytes.
const SHORTEST: usize = 4;

/// Codes of the same match that are added at a time.
const AT_ONCE: usize = 21;

/// Bits, and their number.
type CodeWord = (u64, u32);

/// Codes of the elements of runs.
pub(super) struct RunCode {
    bytes: [CodeWord; 2],
    end: CodeWord,
    /// Code of a match of each length with the byte before.
    matches: Vec<CodeWord>,
    /// Code of a match of each length with the row before, if the row is not too long.
    rows: Option<Vec<CodeWord>>,
    /// Cells of a row.
    nx: usize,
    /// Start of a block: its type, and the lengths of the codes.
    head: BitString,
}

/// Returns the lengths of the codes of bytes, the end and lengths of matches: two bits for the symbols of
/// most runs, seven for the others, and six for three of the others, which makes the code complete.
fn lengths() -> [u8; SYMBOLS] {
    let mut lengths = [0; SYMBOLS];
    lengths[END..].fill(7);
    for symbol in [0, 1, SYMBOLS - 1] {
        lengths[symbol] = 2;
    }
    for symbol in [277, 281, 282] {
        lengths[symbol] = 6;
    }
    lengths
}

/// Returns the codes of these lengths, with the first bit of each code lowest.
fn codes(lengths: &[u8]) -> Vec<CodeWord> {
    let mut next = 0_u32;
    let mut codes = vec![(0, 0); lengths.len()];
    for length in 1..=15 {
        next <<= 1;
        for (code, _) in codes
            .iter_mut()
            .zip(lengths)
            .filter(|(_, of)| **of == length)
        {
            let length = u32::from(length);
            *code = (u64::from(next.reverse_bits() >> (32 - length)), length);
            next += 1;
        }
    }
    codes
}

impl RunCode {
    pub(super) fn new(nx: usize) -> Self {
        let lengths = lengths();
        let codes = codes(&lengths);
        let matches: Vec<_> = (0..=LONGEST)
            .map(|length| match_code(&codes, length))
            .collect();
        // There are two codes of distances, of one bit: zero for the byte before, one for the row before.
        let has_rows = (3..=FARTHEST).contains(&nx);
        let (symbol, extra) = distance_symbol(if has_rows { nx } else { 2 });
        let mut rows = None;
        if has_rows {
            let mut codes = Vec::new();
            for (code, bits) in &matches {
                codes.push((code | 1 << bits | extra.0 << (bits + 1), bits + 1 + extra.1));
            }
            rows = Some(codes);
        }
        Self {
            bytes: [codes[0], codes[1]],
            end: codes[END],
            matches: matches
                .into_iter()
                .map(|(code, bits)| (code, bits + 1))
                .collect(),
            rows,
            nx,
            head: head(&lengths, symbol),
        }
    }

    /// Adds the start of the last block.
    pub(super) fn begin(&self, bits: &mut BitString) {
        bits.append(&self.head);
    }

    /// Adds the end of a block.
    pub(super) fn end(&self, bits: &mut BitString) {
        bits.push(self.end.0, self.end.1);
    }

    /// Returns true if a row that equals the row before is shorter as a match than as runs. `words` is the
    /// number of its nonzero words.
    pub(super) fn repeats(&self, words: usize) -> bool {
        /// Approximate number of bits of a run.
        const OF_RUN: usize = 20;
        let Some(rows) = &self.rows else {
            return false;
        };
        let bits = self.nx.div_ceil(LONGEST) * rows[LONGEST].1 as usize;
        bits < OF_RUN * words
    }

    /// Adds cells that equal the cells of the row before.
    pub(super) fn push_repeated(&self, bits: &mut BitString, mut count: usize) {
        let Some(rows) = &self.rows else { return };
        while count > 0 {
            // At least three must be left, the shortest match.
            let length = if count > LONGEST {
                LONGEST.min(count - 3)
            } else {
                count
            };
            bits.push(rows[length].0, rows[length].1);
            count -= length;
        }
    }

    /// Adds a run of `count` bytes that are all `byte`, 0 or 1.
    #[inline]
    pub(super) fn push_run(&self, bits: &mut BitString, byte: usize, count: usize) {
        let mut put = |(code, length): CodeWord| bits.push(code, length);
        let mut left = count;
        if left > 0 {
            put(self.bytes[byte]);
            left -= 1;
        }
        if left >= AT_ONCE * LONGEST {
            let (code, length) = self.matches[LONGEST];
            let many = (0..AT_ONCE).fold(0, |many, _| many << length | code);
            while left >= AT_ONCE * LONGEST {
                put((many, AT_ONCE as u32 * length));
                left -= AT_ONCE * LONGEST;
            }
        }
        while left >= SHORTEST {
            let length = left.min(LONGEST);
            put(self.matches[length]);
            left -= length;
        }
        (0..left).for_each(|_| put(self.bytes[byte]));
    }
}

/// Returns the code of a match of this length, without its distance.
fn match_code(codes: &[CodeWord], length: usize) -> CodeWord {
    let (symbol, extra) = match length {
        0..3 => return (0, 0),
        LONGEST => (SYMBOLS - 1, (0, 0)),
        3..11 => (254 + length, (0, 0)),
        _ => {
            // Four symbols for each power of two.
            let over = length - 3;
            let extra = over.ilog2() - 2;
            let symbol = 257 + 4 * extra as usize + (over >> extra);
            (symbol, ((over & ((1 << extra) - 1)) as u64, extra))
        }
    };
    let (code, bits) = codes[symbol];
    (code | extra.0 << bits, bits + extra.1)
}

/// Returns the symbol of a distance, and its extra bits.
fn distance_symbol(distance: usize) -> (usize, CodeWord) {
    let over = distance - 1;
    if over < 4 {
        return (over, (0, 0));
    }
    // Two symbols for each power of two.
    let extra = over.ilog2() - 1;
    (
        2 * extra as usize + (over >> extra),
        ((over & ((1 << extra) - 1)) as u64, extra),
    )
}

/// Returns the start of a last block with codes of these lengths, and codes of one bit for a distance of one
/// and for another distance.
fn head(lengths: &[u8; SYMBOLS], distance: usize) -> BitString {
    /// Order of the lengths of the codes of lengths.
    const ORDER: [usize; 19] = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ];
    /// Symbol of eleven zeros or more, with seven bits for their number.
    const ZEROS: usize = 18;
    let mut of_lengths = [0; 19];
    for (symbol, length) in [(7, 2), (6, 2), (2, 2), (ZEROS, 3), (1, 4), (0, 4)] {
        of_lengths[symbol] = length;
    }
    let codes = codes(&of_lengths);
    let mut bits = BitString::default();
    // The last block, with its own codes; symbols beyond 257; distances beyond one; lengths of lengths beyond
    // four.
    for (value, count) in [
        (0b101, 3),
        (SYMBOLS as u64 - 257, 5),
        (distance as u64, 5),
        (14, 4),
    ] {
        bits.push(value, count);
    }
    for symbol in &ORDER[..18] {
        bits.push(of_lengths[*symbol].into(), 3);
    }
    let mut all = [&lengths[..], &vec![0; distance + 1]].concat();
    (all[SYMBOLS], all[SYMBOLS + distance]) = (1, 1);
    let mut rest = &all[..];
    while let [length, after @ ..] = rest {
        let zeros = rest
            .iter()
            .take(138)
            .take_while(|length| **length == 0)
            .count();
        let is_run = zeros >= 11;
        let (code, count) = codes[if is_run { ZEROS } else { usize::from(*length) }];
        bits.push(code, count);
        if is_run {
            bits.push(zeros as u64 - 11, 7);
        }
        rest = if is_run { &rest[zeros..] } else { after };
    }
    bits
}
