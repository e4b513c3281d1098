//! Cells as arrays in which x varies fastest. Bits and labels are bytes, packed bits are words, and fields
//! are floats. Rows are read and written in blocks.

mod bit_rows;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub(super) use self::bit_rows::{read_bit_rows, shape as bit_row_shape, write_bit_rows};
pub(super) use self::read::{
    RowValues, read_floats, read_occupied, read_shares, read_values, read_words,
};
pub(super) use self::write::write;

use super::Dtype;

/// Maximum size of a block in bytes. A block stays in the second-level cache until it is written.
const BLOCK: usize = 256 << 10;

/// Order of the cells in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// x varies fastest, then y. This is the Fortran order of an array `a[x, y, z]`.
    XFastest,
    /// z varies fastest, then y. This is the C order of an array `a[x, y, z]`.
    ZFastest,
}

/// Returns the size of an array of cells in bytes. `None` if it overflows.
pub(super) fn bytes_for([nx, ny, nz]: [usize; 3], dtype: Dtype) -> Option<u128> {
    let row = match dtype {
        Dtype::Bool | Dtype::U8 | Dtype::I8 => nx as u128,
        Dtype::Bit => 8 * nx.div_ceil(64) as u128,
        Dtype::F32 => 4 * nx as u128,
    };
    row.checked_mul(ny as u128)?.checked_mul(nz as u128)
}
