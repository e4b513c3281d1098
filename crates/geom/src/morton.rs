//! Morton codes: the positions of the cells of a cube on a space-filling curve. Cells that are near each
//! other mostly have codes that are near each other.

/// Returns the Morton code of a cell: the interleaved lower 21 bits of its three coordinates.
#[inline]
pub fn code(coordinates: [u64; 3]) -> u64 {
    (0..3).fold(0, |code, axis| code | spread(coordinates[axis]) << axis)
}

/// Inserts two zero bits after each of the lower 21 bits.
#[inline]
fn spread(bits: u64) -> u64 {
    let masks = [
        (32, 0x1f_0000_0000_ffff),
        (16, 0x1f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ];
    masks
        .iter()
        .fold(bits, |bits, (by, mask)| (bits | bits << by) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread() {
        for bit in 0..21 {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
        let all = (1 << 21) - 1;
        assert_eq!(spread(all), (0..21).map(|bit| 1 << (3 * bit)).sum::<u64>());
        assert_eq!(
            (code([1, 0, 2]), code([all; 3])),
            (0b10_0001, u64::MAX >> 1)
        );
    }
}
