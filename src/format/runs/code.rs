//! The code of a deflated run of cells (RFC 1951): its byte, then matches that repeat it from a distance of one. One
//! Huffman code serves all grids: surfaces of scans and of parts, at any resolution, take at most a tenth more bits with it
//! than with codes of their own.

use super::bit_string::BitString;

/// The symbol that ends a block.
const END: usize = 256;

/// Symbols of bytes, the end and lengths.
const SYMBOLS: usize = 286;

/// The longest match.
const LONGEST: usize = 258;

/// Runs of fewer bytes are as short when each is written.
const SHORTEST: usize = 4;

/// Codes of the same match that are added at a time.
const AT_ONCE: usize = 21;

/// Bits, and how many they are.
type CodeWord = (u64, u32);

/// The codes of what a run is made of.
pub(super) struct RunCode {
    bytes: [CodeWord; 2],
    end: CodeWord,
    /// The code of a match of each length.
    matches: Vec<CodeWord>,
    /// The start of a block: its type, and the lengths of the codes.
    head: BitString,
}

/// The lengths of the codes of bytes, the end and lengths of matches: two bits for what most runs have, seven for others,
/// and six for three of these, so that no code is left over.
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

/// The codes of these lengths, the first bit of each the lowest.
fn codes(lengths: &[u8]) -> Vec<CodeWord> {
    let mut next = 0_u32;
    let mut codes = vec![(0, 0); lengths.len()];
    for length in 1..=15 {
        next <<= 1;
        for (code, _) in codes.iter_mut().zip(lengths).filter(|(_, of)| **of == length) {
            let length = u32::from(length);
            *code = (u64::from(next.reverse_bits() >> (32 - length)), length);
            next += 1;
        }
    }
    codes
}

impl RunCode {
    pub(super) fn new() -> Self {
        let lengths = lengths();
        let codes = codes(&lengths);
        let matches = (0..=LONGEST).map(|length| match_code(&codes, length)).collect();
        Self { bytes: [codes[0], codes[1]], end: codes[END], matches, head: head(&lengths) }
    }

    /// The start of the last block.
    pub(super) fn begin(&self, bits: &mut BitString) {
        bits.append(&self.head);
    }

    /// The end of a block.
    pub(super) fn end(&self, bits: &mut BitString) {
        bits.push(self.end.0, self.end.1);
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

/// The code of a match of this length and the distance one, whose code is a zero.
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
    (code | extra.0 << bits, bits + extra.1 + 1)
}

/// The start of a last block with codes of these lengths, and two codes of one bit for distances.
fn head(lengths: &[u8; SYMBOLS]) -> BitString {
    /// The order in which lengths of the codes of lengths stand.
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    /// The symbol of eleven zeros or more, with seven bits for how many.
    const ZEROS: usize = 18;
    let mut of_lengths = [0; 19];
    for (symbol, length) in [(7, 2), (6, 2), (2, 2), (ZEROS, 3), (1, 3)] {
        of_lengths[symbol] = length;
    }
    let codes = codes(&of_lengths);
    let mut bits = BitString::default();
    // The last block, of codes of its own; symbols beyond 257; distances beyond one; lengths of lengths beyond four.
    for (value, count) in [(0b101, 3), (SYMBOLS as u64 - 257, 5), (1, 5), (14, 4)] {
        bits.push(value, count);
    }
    for symbol in &ORDER[..18] {
        bits.push(of_lengths[*symbol].into(), 3);
    }
    let all = [&lengths[..], &[1, 1]].concat();
    let mut rest = &all[..];
    while let [length, after @ ..] = rest {
        let zeros = rest.iter().take(138).take_while(|length| **length == 0).count();
        let (code, count) = codes[if zeros > 0 { ZEROS } else { usize::from(*length) }];
        bits.push(code, count);
        rest = if zeros > 0 {
            bits.push(zeros as u64 - 11, 7);
            &rest[zeros..]
        } else {
            after
        };
    }
    bits
}
