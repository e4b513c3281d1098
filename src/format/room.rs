//! Memory for cells that are read: within a limit, and asked for before it is allocated.

use crate::error::{Error, Result};
use crate::grid::{BitGrid, Field, Labels, Legend};
use crate::text::bytes;

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

    /// Refuses so many bytes for cells of these dims if they are too many.
    pub(super) fn admit(self, need: u128, [x, y, z]: [usize; 3]) -> Result<()> {
        match self.0.filter(|most| u128::from(*most) < need) {
            None => Ok(()),
            Some(most) => {
                let need = bytes(need);
                let most = bytes(most);
                Err(Error::too_large(format!("{x} × {y} × {z} cells need {need}, {most} are available")))
            }
        }
    }
}
