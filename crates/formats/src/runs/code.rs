//! Deflate codes for cells as bytes (RFC 1951). A run of equal cells is coded as one byte, followed by
//! matches that repeat it at distance 1. A row that equals the previous row is coded as matches at the
//! distance of one row. All grids whose rows have the same length share one Huffman code.

use super::bit_string::BitString;

/// Symbol that ends a deflate block.
const END: usize = 256;

/// Number of symbols: the byte values, the end of the block, and the lengths of matches.
const SYMBOLS: usize = 286;

/// Maximum distance of a match.
const FARTHEST: usize = 1 << 15;

/// Maximum length of a match.
const LONGEST: usize = 258;

/// Shortest run for which a match is shorter than single bytes.
const SHORTEST: usize = 4;

/// Number of equal match codes that are appended at once.
const AT_ONCE: usize = 21;

/// Bits of a code, and the number of bits.
type CodeWord = (u64, u32);

/// Codes that are needed for runs and repeated rows.
pub(super) struct RunCode {
    bytes: [CodeWord; 2],
    end: CodeWord,
    /// Codes of a match at distance 1, indexed by its length.
    matches: Vec<CodeWord>,
    /// Codes of a match at the distance of one row, indexed by its length. `None` if deflate cannot express
    /// that distance.
    rows: Option<Vec<CodeWord>>,
    /// Number of cells in a row.
    nx: usize,
    /// Start of a deflate block: its type and the code lengths.
    head: BitString,
}

/// Returns the code lengths of all symbols. The symbols that occur in most runs have two bits. All others
/// have seven bits, except for three that have six, so that the code is complete.
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

/// Returns the codes with these lengths. The first bit of a code is its lowest bit.
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
        // The distance code has two symbols of one bit: 0 for distance 1, and 1 for the distance of a row.
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

    /// Appends the start of the only block, which is marked as the last one.
    pub(super) fn begin(&self, bits: &mut BitString) {
        bits.append(&self.head);
    }

    /// Appends the end of the block.
    pub(super) fn end(&self, bits: &mut BitString) {
        bits.push(self.end.0, self.end.1);
    }

    /// Returns `true` if a row that equals the previous row takes fewer bits as a match than as runs. `words`
    /// is the number of nonzero words in the row.
    pub(super) fn repeats(&self, words: usize) -> bool {
        /// Approximate number of bits of a run.
        const OF_RUN: usize = 20;
        let Some(rows) = &self.rows else {
            return false;
        };
        let bits = self.nx.div_ceil(LONGEST) * rows[LONGEST].1 as usize;
        bits < OF_RUN * words
    }

    /// Appends a match of `count` cells with the previous row.
    pub(super) fn push_repeated(&self, bits: &mut BitString, mut count: usize) {
        let Some(rows) = &self.rows else { return };
        while count > 0 {
            // At least three cells must remain, because the shortest match has three.
            let length = if count > LONGEST {
                LONGEST.min(count - 3)
            } else {
                count
            };
            bits.push(rows[length].0, rows[length].1);
            count -= length;
        }
    }

    /// Appends a run of `count` bytes that all have the value `byte`, which is 0 or 1.
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

/// Returns the code for the length of a match, without its distance.
fn match_code(codes: &[CodeWord], length: usize) -> CodeWord {
    let (symbol, extra) = match length {
        0..3 => return (0, 0),
        LONGEST => (SYMBOLS - 1, (0, 0)),
        3..11 => (254 + length, (0, 0)),
        _ => {
            // There are four length symbols for each power of two.
            let over = length - 3;
            let extra = over.ilog2() - 2;
            let symbol = 257 + 4 * extra as usize + (over >> extra);
            (symbol, ((over & ((1 << extra) - 1)) as u64, extra))
        }
    };
    let (code, bits) = codes[symbol];
    (code | extra.0 << bits, bits + extra.1)
}

/// Returns the symbol for a distance, and its extra bits.
fn distance_symbol(distance: usize) -> (usize, CodeWord) {
    let over = distance - 1;
    if over < 4 {
        return (over, (0, 0));
    }
    // There are two distance symbols for each power of two.
    let extra = over.ilog2() - 1;
    (
        2 * extra as usize + (over >> extra),
        ((over & ((1 << extra) - 1)) as u64, extra),
    )
}

/// Returns the start of a block that is marked as the last one. It states these code lengths for the symbols,
/// and one-bit codes for distance 1 and for the distance symbol `distance`.
fn head(lengths: &[u8; SYMBOLS], distance: usize) -> BitString {
    /// Order in which deflate stores the code lengths of the code-length alphabet.
    const ORDER: [usize; 19] = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ];
    /// Symbol for eleven or more zeros. Seven extra bits state their number.
    const ZEROS: usize = 18;
    let mut of_lengths = [0; 19];
    for (symbol, length) in [(7, 2), (6, 2), (2, 2), (ZEROS, 3), (1, 4), (0, 4)] {
        of_lengths[symbol] = length;
    }
    let codes = codes(&of_lengths);
    let mut bits = BitString::default();
    // The header fields: last block with its own codes, number of symbols beyond 257, number of distances
    // beyond one, and number of code-length codes beyond four.
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
