//! A string of bits without gaps. The first bit of a byte is the lowest, as in deflate.

/// String of bits of any length.
#[derive(Debug, Default)]
pub(super) struct BitString {
    words: Vec<u64>,
    /// Bits after the complete words. There are fewer than 64.
    last: u64,
    count: u32,
}

impl BitString {
    /// Appends the lowest `count` bits of `bits`. `count` must be less than 64, and all other bits must be
    /// zero.
    #[inline]
    pub(super) fn push(&mut self, bits: u64, count: u32) {
        self.last |= bits << self.count;
        self.count += count;
        if self.count >= 64 {
            self.words.push(self.last);
            self.count -= 64;
            // At least one bit was left from before, so the shift is less than 64.
            self.last = bits >> (count - self.count);
        }
    }

    /// Appends another string.
    pub(super) fn append(&mut self, other: &Self) {
        for word in &other.words {
            self.words.push(self.last | word << self.count);
            self.last = word.checked_shr(64 - self.count).unwrap_or(0);
        }
        self.push(other.last, other.count);
    }

    /// Moves the complete words to `bytes`.
    pub(super) fn take_words(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend(self.words.drain(..).flat_map(u64::to_le_bytes));
    }

    /// Moves all bits to `bytes`. The last byte is filled up with zeros.
    pub(super) fn finish(mut self, bytes: &mut Vec<u8>) {
        self.take_words(bytes);
        bytes.extend(&self.last.to_le_bytes()[..self.count.div_ceil(8) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_joined_bit_by_bit() {
        let bits: Vec<bool> = (0..1000_u32)
            .map(|n| n.wrapping_mul(2_654_435_761) >> 31 == 1)
            .collect();
        for cut in [0, 1, 63, 64, 65, 128, 777, 1000] {
            let string = |bits: &[bool]| {
                let mut string = BitString::default();
                let mut counts = [1, 63, 7, 64 - 7, 13].iter().cycle();
                let mut rest = bits;
                while !rest.is_empty() {
                    let (these, after) = rest.split_at(rest.len().min(*counts.next().unwrap()));
                    let value = these
                        .iter()
                        .rev()
                        .fold(0, |value, bit| value << 1 | u64::from(*bit));
                    string.push(value, these.len() as u32);
                    rest = after;
                }
                string
            };
            let mut joined = string(&bits[..cut]);
            joined.append(&string(&bits[cut..]));
            let mut bytes = vec![];
            joined.finish(&mut bytes);
            assert_eq!(bytes.len(), 125);
            assert!(
                (0..1000).all(|n| (bytes[n / 8] >> (n % 8) & 1 == 1) == bits[n]),
                "{cut}"
            );
        }
    }
}
