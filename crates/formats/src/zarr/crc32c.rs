//! CRC-32C, the checksum of Castagnoli, computed with a table of 256 entries. It is needed only for the
//! indices of shards, which have some kilobytes each, so that a crate would save no time.

/// The polynomial 0x1EDC6F41 with its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLE[b]` is the remainder of byte `b` in the division by the polynomial.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let mut remainder = b as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = (remainder >> 1) ^ (POLYNOMIAL * (remainder & 1));
            bit += 1;
        }
        table[b] = remainder;
        b += 1;
    }
    table
};

/// Returns the checksum of `bytes`.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        sum >> 8 ^ TABLE[usize::from(sum as u8 ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    /// Values from RFC 3720, appendix B.4, and the common check value of CRC-32C.
    #[test]
    fn known_checksums() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(
            crc32c(&std::array::from_fn::<u8, 32, _>(|n| n as u8)),
            0x46dd_794e
        );
        assert_eq!(crc32c(&[]), 0);
    }
}
