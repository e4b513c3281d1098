//! Memory for cells that are read. It is limited, and checked before it is allocated.

use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, Field, Labels, Legend};
use voxelize_core::text::bytes;

/// Cells that a grid may have even in a short file: 8 GiB. The system provides only the pages that
/// hold cells. Larger grids must be in proportion to the file.
const FREE_CELLS: u128 = 1 << 36;

/// Additional cells for each byte of a file.
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

    /// Creates labels of empty cells, while other cells take `others` bytes.
    pub(super) fn labels(self, dims: [usize; 3], legend: Legend, others: u128) -> Result<Labels> {
        self.admit(Labels::bytes_for(dims, &legend) + others, dims)?;
        Labels::new(dims, legend)
    }

    /// Creates a field without values.
    pub(super) fn field(self, dims: [usize; 3]) -> Result<Field> {
        self.admit(Field::bytes_for(dims), dims)?;
        Field::new(dims, 0.0)
    }

    /// Refuses dims out of proportion to a file of `file` bytes that lists only some cells. A cell takes
    /// `bits` bits, or pages that are never touched.
    pub(super) fn check_proportion(self, dims: [usize; 3], bits: u128, file: u64) -> Result<()> {
        let free = FREE_CELLS / bits + PER_BYTE * u128::from(file);
        if cells_in_words(dims).is_none_or(|cells| cells > free) {
            return Err(Error::too_large(format!("the file spans {dims:?} cells")));
        }
        Ok(())
    }

    /// Refuses `need` bytes for cells of these dims if they exceed the limit.
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

/// Counts the cells of a grid whose rows are padded to whole words.
fn cells_in_words([nx, ny, nz]: [usize; 3]) -> Option<u128> {
    (64 * nx.div_ceil(64) as u128)
        .checked_mul(ny as u128)?
        .checked_mul(nz as u128)
}
