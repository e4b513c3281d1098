//! Source of cells in slabs of consecutive layers. Formats write grids from such sources. The grid may be in
//! memory, or may be computed slab by slab.

use super::arrays::CellArray;
use super::cells::{CellType, CellsRef};
use super::digest::Digest;
use super::lattice::Lattice;
use super::record::Record;
use crate::error::Result;

/// Source of the cells of a grid, slab by slab from the lowest layer to the highest. It also has the
/// properties of the grid that are known in advance.
///
/// Implement this trait to write a grid that is larger than memory. The following example makes a field of
/// distances from a point, with only one layer in memory at a time:
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
    /// Returns the number of cells of the whole grid along each axis, `[nx, ny, nz]`.
    fn dims(&self) -> [usize; 3];

    /// Returns the position of the cells in space. `None` if it is unknown.
    fn lattice(&self) -> Option<&Lattice>;

    /// Returns the record of how the cells were made.
    fn record(&self) -> &Record;

    /// Returns the kind of the cells of all slabs, with the legend of labels or the background of a field.
    fn cell_type(&self) -> CellType<'_>;

    /// Returns the next slab. `None` after the last slab.
    ///
    /// # Errors
    /// Fails if the slab cannot be computed because memory does not suffice, or if the run is cancelled.
    fn next(&mut self) -> Result<Option<Slab<'_>>>;

    /// Returns the digests of the whole grid. Must be called only after the last slab.
    fn digest(&self) -> Digest;

    /// Returns the additional arrays, with the values for the cells of the last slab. Before the first slab
    /// they have no layers.
    fn arrays(&self) -> &[CellArray] {
        &[]
    }
}

/// Slab: consecutive layers of a grid.
#[derive(Debug, Clone, Copy)]
pub struct Slab<'a> {
    /// Index in the grid of layer 0 of `cells`.
    pub first: usize,
    /// Cells of the layers. They have the dims of the grid along x and y.
    pub cells: CellsRef<'a>,
}
