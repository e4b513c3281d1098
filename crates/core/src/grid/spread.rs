//! Conversions between cells as bits and cells as bytes, 64 cells at a time.

/// Table that spreads the bits of a byte: byte `i` of `SPREAD[b]` is bit `i` of `b`. Byte 0 is the least
/// significant.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let mut i = 0;
        while i < 8 {
            table[b] |= ((b >> i & 1) as u64) << (8 * i);
            i += 1;
        }
        b += 1;
    }
    table
};

/// Converts the bits of a word to bytes with the values 0 and 1, in groups of eight. The first byte is the
/// lowest bit.
#[inline]
pub fn spread(word: u64) -> [[u8; 8]; 8] {
    word.to_le_bytes()
        .map(|byte| SPREAD[usize::from(byte)].to_le_bytes())
}

/// Converts the words of a row to one byte per cell, with the values 0 and 1.
pub fn spread_row(words: &[u64], cells: &mut [u8]) {
    for (word, cells) in words.iter().zip(cells.chunks_mut(64)) {
        match cells.as_chunks_mut::<8>().0 {
            // The word has all 64 cells. Zero words have their own case, because most words of a shell are
            // zero.
            whole @ [_, _, _, _, _, _, _, _] if *word == 0 => whole.fill([0; 8]),
            whole @ [_, _, _, _, _, _, _, _] => whole.copy_from_slice(&spread(*word)),
            _ => cells.copy_from_slice(&spread(*word).as_flattened()[..cells.len()]),
        }
    }
}

/// Converts up to 64 bytes to the bits of a word. The first byte becomes the lowest bit. A bit is 1 if the
/// byte is not zero.
#[inline]
pub fn gather(cells: &[u8]) -> u64 {
    let (whole, rest) = cells.as_chunks::<8>();
    let mut word = 0;
    for (n, bytes) in whole.iter().enumerate() {
        let bytes = u64::from_le_bytes(*bytes);
        // Sets the top bit of each nonzero byte, then collects these bits in one byte by a multiplication.
        let occupied = (((bytes & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f) | bytes) >> 7;
        let ones = occupied & 0x0101_0101_0101_0101;
        word |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * n);
    }
    for (n, byte) in rest.iter().enumerate() {
        word |= u64::from(*byte != 0) << (8 * whole.len() + n);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_byte_but_zero_is_occupied() {
        for byte in 0..=255u8 {
            let expected = if byte == 0 { 0 } else { 1 << 11 | 1 << 17 };
            let mut cells = [0; 18];
            (cells[11], cells[17]) = (byte, byte);
            assert_eq!(gather(&cells), expected, "{byte}");
        }
        let word = 0x8000_0421_0000_0301;
        assert_eq!(gather(spread(word).as_flattened()), word);
    }
}
