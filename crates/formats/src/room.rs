//! Memory for cells that are read. The required amount is checked against the limit before it is allocated.

use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, Field, Labels, Legend};
use voxelize_core::text::bytes;

/// Number of cells that a grid may have even if its file is short: 8 GiB of bits. The system provides only
/// the memory pages that are written. Larger grids must be in proportion to the size of the file.
const FREE_CELLS: u128 = 1 << 36;

/// Number of additional cells that each byte of the file allows.
const PER_BYTE: u128 = 32768;

/// Maximum number of bytes for the cells of a file. `None` for no limit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellRoom(pub Option<u64>);

impl CellRoom {
    /// Creates a grid of empty cells.
    pub(super) fn bits(self, dims: [usize; 3]) -> Result<BitGrid> {
        self.admit(BitGrid::bytes_for(dims), dims)?;
        BitGrid::new(dims)
    }

    /// Creates labels of empty cells. Other cells that are in memory at the same time take `others` bytes.
    pub(super) fn labels(self, dims: [usize; 3], legend: Legend, others: u128) -> Result<Labels> {
        self.admit(Labels::bytes_for(dims, &legend) + others, dims)?;
        Labels::new(dims, legend)
    }

    /// Creates a field without values.
    pub(super) fn field(self, dims: [usize; 3]) -> Result<Field> {
        self.admit(Field::bytes_for(dims), dims)?;
        Field::new(dims, 0.0)
    }

    /// Fails if the dims are out of proportion to a file of `file` bytes that lists only some of the cells. A
    /// cell takes up to `bits` bits of memory, although pages of empty cells are never allocated.
    pub(super) fn check_proportion(self, dims: [usize; 3], bits: u128, file: u64) -> Result<()> {
        let free = FREE_CELLS / bits + PER_BYTE * u128::from(file);
        if cells_in_words(dims).is_none_or(|cells| cells > free) {
            return Err(Error::too_large(format!("the file spans {dims:?} cells")));
        }
        Ok(())
    }

    /// Fails if `need` bytes for cells of these dims exceed the limit.
    pub(super) fn admit(self, need: u128, [x, y, z]: [usize; 3]) -> Result<()> {
        let Some(most) = self.0 else {
            return Ok(());
        };
        if need <= u128::from(most) {
            return Ok(());
        }
        let need = bytes(need);
        let most = bytes(most);
        Err(Error::too_large(format!(
            "{x} × {y} × {z} cells need {need}, {most} are available"
        )))
    }
}

/// Returns the number of cells in a grid whose rows are padded to whole words. `None` if it overflows.
fn cells_in_words([nx, ny, nz]: [usize; 3]) -> Option<u128> {
    (64 * nx.div_ceil(64) as u128)
        .checked_mul(ny as u128)?
        .checked_mul(nz as u128)
}
