//! Memory for cells that are read: within a limit, and asked for before it is allocated.

use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, Field, Labels, Legend};
use voxelize_core::text::bytes;

/// Cells that a grid may always have, however short the file: 8 GiB, of which the system gives only
/// the pages that hold cells. Beyond, the file must be in proportion.
const FREE_CELLS: u128 = 1 << 36;

/// So many cells more for each byte of a file.
const PER_BYTE: u128 = 32768;

/// The most bytes that cells of a file may take; no limit if there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellRoom(pub Option<u64>);

impl CellRoom {
    /// A grid without cells.
    pub(super) fn bits(self, dims: [usize; 3]) -> Result<BitGrid> {
        self.admit(BitGrid::bytes_for(dims), dims)?;
        BitGrid::new(dims)
    }

    /// Labels without cells, while other cells take so many bytes.
    pub(super) fn labels(self, dims: [usize; 3], legend: Legend, others: u128) -> Result<Labels> {
        self.admit(Labels::bytes_for(dims, &legend) + others, dims)?;
        Labels::new(dims, legend)
    }

    /// A field without values.
    pub(super) fn field(self, dims: [usize; 3]) -> Result<Field> {
        self.admit(Field::bytes_for(dims), dims)?;
        Field::new(dims, 0.0)
    }

    /// Refuses dims out of proportion to a file of so many bytes that holds places of cells, not all of them; a cell
    /// takes so many bits, or pages that are not touched.
    pub(super) fn check_proportion(self, dims: [usize; 3], bits: u128, file: u64) -> Result<()> {
        let free = FREE_CELLS / bits + PER_BYTE * u128::from(file);
        if cells_in_words(dims).is_none_or(|cells| cells > free) {
            return Err(Error::too_large(format!("the file spans {dims:?} cells")));
        }
        Ok(())
    }

    /// Refuses so many bytes for cells of these dims if they are too many.
    pub(super) fn admit(self, need: u128, [x, y, z]: [usize; 3]) -> Result<()> {
        match self.0.filter(|most| u128::from(*most) < need) {
            None => Ok(()),
            Some(most) => {
                let need = bytes(need);
                let most = bytes(most);
                Err(Error::too_large(format!(
                    "{x} × {y} × {z} cells need {need}, {most} are available"
                )))
            }
        }
    }
}

/// The cells of a grid with its rows padded to whole words.
fn cells_in_words([nx, ny, nz]: [usize; 3]) -> Option<u128> {
    (64 * nx.div_ceil(64) as u128)
        .checked_mul(ny as u128)?
        .checked_mul(nz as u128)
}
