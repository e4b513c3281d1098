//! CRC-32, the checksum of gzip and zip, of cells as bytes 0 and 1, without making these bytes. The checksum
//! is linear, so it is the sum of the checksums of the nonzero words, each followed by zeros up to the end.

use voxelize_core::grid::spread::spread;

/// The polynomial 0x04C11DB7 with its bits reversed.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// Tables that update a checksum for further bytes. There is one table for each byte of the old checksum,
/// with an entry for each value of that byte.
type ByteTables = [[u32; 256]; 4];

/// Tables for checksums that start from zero and are not inverted at the end.
pub(super) struct SumTables {
    /// Entry `n` updates a checksum for 2ⁿ further bytes that are all zero.
    zeros: Vec<ByteTables>,
    /// Checksums of eight cells of a word, followed by zeros for the remaining cells of the word. One table
    /// for each byte of the word.
    cells: [[u32; 256]; 8],
}

fn apply(tables: &ByteTables, sum: u32) -> u32 {
    let [a, b, c, d] = sum.to_le_bytes().map(usize::from);
    tables[0][a] ^ tables[1][b] ^ tables[2][c] ^ tables[3][d]
}

impl SumTables {
    /// Creates tables for up to `bytes` consecutive zero bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let one = |sum: u32| (0..8).fold(sum, |sum, _| sum >> 1 ^ (POLYNOMIAL * (sum & 1)));
        let mut zeros = vec![of_each_byte(one)];
        while zeros.len() < 7 || bytes >> zeros.len() > 0 {
            let last = &zeros[zeros.len() - 1];
            zeros.push(of_each_byte(|sum| apply(last, apply(last, sum))));
        }
        let mut all = Self {
            zeros,
            cells: [[0; 256]; 8],
        };
        for n in 0..8 {
            for cells in 0..256 {
                let [bytes, ..] = spread(cells);
                all.cells[n][cells as usize] = all.after_zeros(all.of_bytes(0, &bytes), 56 - 8 * n);
            }
        }
        all
    }

    /// Returns the checksum after these bytes. `sum` is the checksum before them.
    pub(super) fn of_bytes(&self, sum: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(sum, |sum, byte| {
            apply(&self.zeros[0], sum ^ u32::from(*byte))
        })
    }

    /// Returns the checksum after `count` zero bytes. `sum` is the checksum before them.
    #[inline]
    pub(super) fn after_zeros(&self, mut sum: u32, mut count: usize) -> u32 {
        while count != 0 {
            sum = apply(&self.zeros[count.trailing_zeros() as usize], sum);
            count &= count - 1;
        }
        sum
    }

    /// Returns the checksum of a word's 64 cells.
    #[inline]
    pub(super) fn of_word(&self, word: u64) -> u32 {
        let bytes = word.to_le_bytes();
        (0..8).fold(0, |sum, n| sum ^ self.cells[n][usize::from(bytes[n])])
    }
}

fn of_each_byte(after: impl Fn(u32) -> u32) -> ByteTables {
    std::array::from_fn(|n| std::array::from_fn(|byte| after((byte as u32) << (8 * n))))
}
