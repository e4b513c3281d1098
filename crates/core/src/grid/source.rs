//! Cells that come in slabs of consecutive layers: what formats write, whether the whole grid is in
//! memory or is made slab by slab.

use super::arrays::CellArray;
use super::cells::{CellType, CellsRef};
use super::digest::Digest;
use super::lattice::Lattice;
use super::record::Record;
use crate::error::Result;

/// The cells of a grid, slab after slab from the lowest layer to the highest, and what is known before the
/// first of them.
///
/// A grid larger than memory can be written by implementing it. Here is a field, the distance from a point,
/// of which one layer is in memory at a time:
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::grid::{CellSource, CellType, CellsRef, Digest, DigestBuilder, Field, Lattice, Record, Slab};
/// use voxelize::Result;
///
/// const DIMS: [usize; 3] = [20, 15, 10];
///
/// fn layer(k: usize) -> Result<Field> {
///     let mut field = Field::new([DIMS[0], DIMS[1], 1], 0.0)?;
///     for j in 0..DIMS[1] {
///         for (i, value) in field.row_mut(j, 0).iter_mut().enumerate() {
///             *value = ((i * i + j * j + k * k) as f32).sqrt();
///         }
///     }
///     Ok(field)
/// }
///
/// struct Layers {
///     next: usize,
///     field: Field,
///     record: Record,
///     digest: DigestBuilder,
/// }
///
/// impl CellSource for Layers {
///     fn dims(&self) -> [usize; 3] { DIMS }
///     fn lattice(&self) -> Option<&Lattice> { None }
///     fn record(&self) -> &Record { &self.record }
///     fn cell_type(&self) -> CellType<'_> { CellType::Field { background: 0.0 } }
///     fn digest(&self) -> Digest { self.digest.finish(None) }
///     fn next(&mut self) -> Result<Option<Slab<'_>>> {
///         if self.next == DIMS[2] {
///             return Ok(None);
///         }
///         let first = self.next;
///         self.field = layer(first)?;
///         self.digest.add(&self.field);
///         self.next += 1;
///         Ok(Some(Slab { first, cells: (&self.field).into() }))
///     }
/// }
///
/// let digest = DigestBuilder::new(DIMS, CellType::Field { background: 0.0 });
/// let mut layers = Layers { next: 0, field: layer(0)?, record: Record::default(), digest };
/// let mut values = Vec::new();
/// while let Some(slab) = layers.next()? {
///     if let CellsRef::Field(field) = slab.cells {
///         values.extend_from_slice(field.values());
///     }
/// }
/// let whole = Field::from_values(DIMS, 0.0, values)?;
/// assert_eq!(layers.digest(), Digest::of(&whole, None));
/// # Ok::<(), voxelize::Error>(())
/// ```
pub trait CellSource {
    /// Cells per axis of the whole grid, `[nx, ny, nz]`.
    fn dims(&self) -> [usize; 3];

    /// Where the cells are, if known.
    fn lattice(&self) -> Option<&Lattice>;

    /// Rule, ties, tool and input, as far as known.
    fn record(&self) -> &Record;

    /// The kind of all slabs, with their legend or background.
    fn cell_type(&self) -> CellType<'_>;

    /// The next slab; `None` after the last.
    ///
    /// # Errors
    /// If it cannot be made: its memory is not there, or the run was cancelled.
    fn next(&mut self) -> Result<Option<Slab<'_>>>;

    /// The digests of all cells, to be called after the last slab.
    fn digest(&self) -> Digest;

    /// The arrays beside the cells, with the numbers of the last slab; without layers before the first.
    fn arrays(&self) -> &[CellArray] {
        &[]
    }
}

/// Consecutive layers of a grid.
#[derive(Debug, Clone, Copy)]
pub struct Slab<'a> {
    /// Layer 0 of `cells` is this layer of the grid.
    pub first: usize,
    /// The layers, with all cells of the grid along x and y.
    pub cells: CellsRef<'a>,
}
