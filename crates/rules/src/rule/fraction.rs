//! The rule fraction: the value of a cell is the share of its volume that is inside the mesh.
//! docs/internals/fraction.md describes the computation and its exactness.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::inside::{self, Inside, Repairs, RobustParts, robust_parts};
use super::near_parts::{self, near_parts};
use super::{FillCells, InsideReport, Stats};
use crate::run::Run;
use crate::run::cover::{self, IntersectionTarget};
use crate::run::memory::MemoryEstimate;
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::geom::{Bounds, Rational, Ties, Triangle};
use voxelize_core::grid::{BitGrid, CellArray, CellsMut, Field, Lattice, Quantity};
use voxelize_core::par::{self, Progress};
use voxelize_core::text::{GridCoordinates, counted, number};
use voxelize_kernel::KernelLattice;
use voxelize_kernel::fraction::{LAYERS, LayerBins, LayerSums, OddCells, UnitedCells};
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::{Mesh, components};

/// Number of triangles between two checks for cancellation.
const CHUNK: usize = 1 << 14;

/// Counts that the rule fraction reports.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FractionReport {
    /// Cells with points whose winding number is neither 0 nor 1. Only cells whose mean winding number
    /// reveals such points are counted.
    pub odd: OddCells,
    /// Cells that contain surfaces of overlapping parts.
    pub united: UnitedCells,
    /// Number of triangles in the caps that close holes.
    pub caps: u64,
    /// Number of cells whose interior a cap intersects.
    pub capped: u64,
    /// Number of triangles in ragged patches. These triangles are ignored.
    pub left_out: u64,
}

impl FractionReport {
    /// Returns `true` if parts overlap or are inside out, as far as the shares show this.
    pub(crate) fn has_overlaps(&self) -> bool {
        self.odd.farthest.is_some() || self.united.first.is_some() || self.united.unknown > 0
    }

    /// Leaves out overlaps of parts, so that no finding reports them. Cells whose union is unknown are kept.
    pub(crate) fn forget_overlaps(&mut self) {
        self.odd.farthest = None;
        self.united.first = None;
    }

    /// Adds the counts of another body for the same layers.
    pub(super) fn add_body(&mut self, other: Self) {
        let caps = self.caps + other.caps;
        let left_out = self.left_out + other.left_out;
        self.add(Self {
            caps,
            left_out,
            ..other
        });
    }

    /// Adds the counts of the next layers of the same body. The number of caps and the number of ignored
    /// triangles are counts of the whole mesh, so they are not summed.
    pub(super) fn add(&mut self, other: Self) {
        self.odd.add(other.odd);
        self.united.add(other.united);
        self.capped += other.capped;
        self.caps = other.caps;
        self.left_out = other.left_out;
    }
}

/// Computes the share of each cell that is inside the mesh.
pub(super) struct FractionCells<'a> {
    triangles: Cow<'a, [Triangle]>,
    bounds: Bounds,
    caps: Vec<Triangle>,
    left_out: u64,
    lattice: &'a Lattice,
    /// Whole lattice, of which `lattice` may be a region.
    frame: KernelLattice,
    /// Index in the whole lattice of the first cell of the region.
    first: [usize; 3],
    bins: LayerBins,
    /// For each triangle, the number of its part if that part may overlap. `None` if no parts may overlap.
    parts: Option<Vec<u32>>,
    /// Sums of finished layers of bricks. Their memory is reused for the next layers.
    idle: Mutex<Vec<LayerSums>>,
    used: Inside,
    repairs: Option<Repairs>,
}

/// Returns true if the mesh is repaired and oriented before it is voxelized.
pub(super) fn is_repaired(inside: Inside, mesh: &Mesh) -> bool {
    match inside {
        Inside::Robust => true,
        Inside::Auto => {
            mesh.closedness() != Closedness::Oriented || mesh.is_two_sided() || mesh.volume() < 0.0
        }
        _ => false,
    }
}

/// Returns the memory, in bytes, that the rule needs in addition to the mesh and the field.
pub(super) fn memory(inside: Inside, estimate: &MemoryEstimate) -> u128 {
    let MemoryEstimate { mesh, lattice, .. } = *estimate;
    let repair = if is_repaired(inside, mesh) {
        inside::repair_memory(estimate) + estimate.grids(1, 0.0)
    } else {
        0
    };
    let [x, y, _] = lattice.first_of_whole();
    let threads = estimate.run.thread_count() as u128;
    let sums = threads * LayerSums::bytes_for([x, y], lattice.dims());
    let near_parts = near_parts::bytes_for(mesh.triangles().len());
    repair + estimate.bytes(sums + near_parts, 0) + bins_memory(estimate)
}

/// Returns the memory, in bytes, of the lists that contain the triangles of each layer of bricks.
pub(super) fn bins_memory(estimate: &MemoryEstimate) -> u128 {
    let MemoryEstimate { mesh, lattice, .. } = *estimate;
    let triangles = mesh.triangles().len();
    let layers = lattice.first_of_whole()[2] + lattice.dims()[2];
    estimate.bytes(
        LayerBins::bytes_for(triangles, layers),
        16 * triangles as u128,
    )
}

/// Returns the memory, in bytes, that the computation of additional arrays needs, without the arrays
/// themselves.
pub(crate) fn quantities_memory(estimate: &MemoryEstimate) -> u128 {
    let [x, y, _] = estimate.lattice.first_of_whole();
    let sums = LayerSums::bytes_of_quantities([x, y], estimate.lattice.dims());
    estimate.bytes(estimate.run.thread_count() as u128 * sums, 0)
}

impl<'a> FractionCells<'a> {
    /// Prepares the rule. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if the mesh is open or not consistently oriented and `inside` requests no repair, or if the run
    /// was cancelled.
    pub(super) fn new(
        inside: Inside,
        mesh: &'a Mesh,
        lattice: &'a Lattice,
        run: &Run,
    ) -> Result<Self> {
        refuse_unfit(inside, mesh)?;
        let is_repaired = is_repaired(inside, mesh);
        let RobustParts {
            closed,
            mut summed,
            caps,
            repairs,
        } = if is_repaired {
            robust_parts(mesh, run)?
        } else {
            RobustParts {
                closed: mesh.triangles().into(),
                summed: vec![],
                caps: 0,
                repairs: Repairs::none(),
            }
        };
        let left_out = (summed.len() - caps) as u64;
        summed.truncate(caps);
        let bounds = if is_repaired {
            Bounds::of(&closed)
        } else {
            *mesh.bounds()
        };
        let (axes, first) = lattice.axes_of_whole();
        let frame = KernelLattice::new(axes, &bounds, Ties::None);
        let bins = bins(&frame, &closed, first[2] + lattice.dims()[2], run)?;
        // The components of a subset of triangles may differ from the components of the whole mesh. Subsets
        // are made only of meshes whose parts do not overlap.
        let parts = if mesh.is_some_of_another() {
            None
        } else {
            near_parts((&closed, &bounds), &frame, run)?
        };
        Ok(Self {
            triangles: closed,
            bounds,
            caps: summed,
            left_out,
            lattice,
            frame,
            first,
            bins,
            parts,
            idle: Mutex::new(vec![]),
            used: if is_repaired {
                Inside::Robust
            } else {
                Inside::Nonzero
            },
            repairs: is_repaired.then_some(repairs),
        })
    }

    /// Fills the cells of some layers, whose indices refer to the whole lattice.
    fn fill_layers(&self, cells: BrickLayers, run: &Run) -> Result<(OddCells, UnitedCells)> {
        let BrickLayers {
            layers,
            values,
            mut arrays,
        } = cells;
        let [nx, ny, _] = self.lattice.dims();
        let mut sums = self.sums(!arrays.is_empty(), run)?;
        sums.begin(layers.clone());
        add_triangles(
            &mut sums,
            &self.frame,
            &self.bins,
            layers.start,
            &self.triangles,
            run,
        )?;
        let mut odd = OddCells::default();
        let bricks = layers.start / LAYERS;
        let first_row = self.first[1];
        let places = layers.flat_map(|k| (first_row..first_row + ny).map(move |j| [j, k]));
        for (place, values) in places.clone().zip(values.chunks_mut(nx)) {
            odd.add(sums.row(place, values));
        }
        let mut united = UnitedCells::default();
        let mut inverted = vec![];
        if odd.cells + odd.doubtful > 0 || self.parts.is_some() {
            run.check()?;
            let (most, tall) = self.bins.of_layer(bricks);
            let triangles = (&*self.triangles, [most, &tall]);
            (united, inverted) = sums.unite(
                &self.frame,
                triangles,
                self.parts.as_deref(),
                &mut odd,
                values,
            );
        }
        if !arrays.is_empty() {
            for (n, place) in places.enumerate() {
                let rows = arrays.iter_mut().map(|(quantity, numbers)| {
                    let each = quantity.numbers() * nx;
                    (*quantity, &mut numbers[n * each..][..each])
                });
                sums.quantity_row(place, &inverted, &mut rows.collect::<Vec<_>>());
            }
        }
        if arrays.is_empty() {
            self.idle().push(sums);
        }
        run.advance(1);
        Ok((odd, united))
    }

    /// Returns sums for a layer of bricks. Reuses the memory of a finished layer if possible.
    fn sums(&self, with_arrays: bool, run: &Run) -> Result<LayerSums> {
        let idle = if with_arrays { None } else { self.idle().pop() };
        if let Some(sums) = idle {
            return Ok(sums);
        }
        let [x, y, _] = self.first;
        let sums = LayerSums::new(&self.frame, [x, y], run.supported_level()?);
        Ok(if with_arrays {
            sums.with_quantities(&self.frame, sides(self.lattice))
        } else {
            sums
        })
    }

    /// Locks and returns the list of sums that no thread uses.
    fn idle(&self) -> MutexGuard<'_, Vec<LayerSums>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills the cells of some layers. Each layer of bricks is filled by one thread.
    fn fill_field(
        &self,
        layers: Range<usize>,
        field: &mut Field,
        arrays: &mut [CellArray],
        run: &Run,
    ) -> Result<(OddCells, UnitedCells)> {
        let first_layer = self.first[2];
        let work = in_bricks(
            layers.start + first_layer..layers.end + first_layer,
            field,
            arrays,
        );
        run.begin("voxelize", work.len() as u64);
        let found = par::map(work, |cells: BrickLayers| self.fill_layers(cells, run));
        let mut odd = OddCells::default();
        let mut united = UnitedCells::default();
        for found in found {
            let (some_odd, some_united) = found?;
            odd.add(some_odd);
            united.add(some_united);
        }
        let in_region = |cell: [usize; 3]| [0, 1, 2].map(|a| cell[a] - self.first[a]);
        odd.farthest = odd.farthest.map(|(mean, cell)| (mean, in_region(cell)));
        united.first = united.first.map(in_region);
        Ok((odd, united))
    }

    /// Returns the number of cells in some layers whose interior a cap intersects.
    fn count_capped(&self, layers: Range<usize>, run: &Run) -> Result<u64> {
        if self.caps.is_empty() {
            return Ok(0);
        }
        let [nx, ny, _] = self.lattice.dims();
        let mut grid = BitGrid::new([nx, ny, layers.len()])?;
        let target = IntersectionTarget::Box(KernelLattice::new(
            self.lattice.axes(),
            &Bounds::of(&self.caps),
            Ties::None,
        ));
        cover::cover(
            &target,
            &self.caps,
            layers.start,
            &mut grid,
            run.supported_level()?,
            run,
        )?;
        Ok(grid.count())
    }
}

/// Cells of some layers that all belong to one layer of bricks.
pub(super) struct BrickLayers<'a> {
    pub layers: Range<usize>,
    pub values: &'a mut [f32],
    /// Additional quantities, each with its values for these cells.
    arrays: Vec<(Quantity, &'a mut [f32])>,
}

/// Splits the cells of some layers at the boundaries of layers of bricks.
pub(super) fn in_bricks<'a>(
    layers: Range<usize>,
    field: &'a mut Field,
    arrays: &'a mut [CellArray],
) -> Vec<BrickLayers<'a>> {
    let [nx, ny, _] = field.dims();
    let mut rest = field.values_mut();
    let mut arrays: Vec<_> = arrays
        .iter_mut()
        .filter_map(|array| Some((array.content.quantity()?, array.numbers_mut())))
        .collect();
    let mut work = vec![];
    let mut first = layers.start;
    while first < layers.end {
        let next = layers.end.min((first / LAYERS + 1) * LAYERS);
        let cells = (next - first) * nx * ny;
        let (values, others) = rest.split_at_mut(cells);
        let arrays = arrays.iter_mut().map(|(quantity, numbers)| {
            (
                *quantity,
                numbers
                    .split_off_mut(..quantity.numbers() * cells)
                    .unwrap_or_default(),
            )
        });
        work.push(BrickLayers {
            layers: first..next,
            values,
            arrays: arrays.collect(),
        });
        first = next;
        rest = others;
    }
    work
}

/// Returns the side lengths of a cell, rounded to the nearest double.
pub(super) fn sides(lattice: &Lattice) -> [f64; 3] {
    lattice.spacing().each_ref().map(Rational::to_f64)
}

/// Adds to the sums all triangles in the layer of bricks that begins at cell layer `layer`.
pub(super) fn add_triangles(
    sums: &mut LayerSums,
    frame: &KernelLattice,
    bins: &LayerBins,
    layer: usize,
    triangles: &[Triangle],
    run: &Run,
) -> Result<()> {
    // Chunks are small, because a triangle may intersect all rows and cells of the layer.
    const CHUNK: usize = 1 << 10;
    let (most, tall) = bins.of_layer(layer / LAYERS);
    run.check()?;
    for numbers in most.chunks(CHUNK).chain(tall.chunks(CHUNK)) {
        sums.add(frame, triangles, numbers);
        run.check()?;
    }
    sums.end();
    Ok(())
}

/// Returns the triangles of each layer of bricks.
pub(super) fn bins(
    frame: &KernelLattice,
    triangles: &[Triangle],
    layers: usize,
    run: &Run,
) -> Result<LayerBins> {
    if u32::try_from(triangles.len()).is_err() {
        return Err(Error::too_large(format!(
            "{} triangles; the maximum is 2^32 - 1",
            triangles.len()
        )));
    }
    let mut ranges = vec![[0; 2]; triangles.len()];
    let work = ranges
        .chunks_mut(CHUNK)
        .zip(triangles.chunks(CHUNK))
        .collect();
    let done = par::map(
        work,
        |(ranges, triangles): (&mut [[u32; 2]], &[Triangle])| {
            run.check()?;
            for (range, triangle) in ranges.iter_mut().zip(triangles) {
                *range = LayerBins::range(frame, triangle);
            }
            Ok(())
        },
    );
    done.into_iter().collect::<Result<()>>()?;
    Ok(LayerBins::new(&ranges, layers))
}

/// Fails if the winding number of the mesh is not an integer everywhere and no repair closes the mesh.
fn refuse_unfit(inside: Inside, mesh: &Mesh) -> Result<()> {
    let why = match (inside, mesh.closedness()) {
        (Inside::Robust, _) => return Ok(()),
        (Inside::Auto, _) if mesh.is_two_sided() => return Ok(()),
        (_, Closedness::Open) => "the mesh is not closed: cells at its holes have no volume inside",
        (Inside::Nonzero, Closedness::Closed) => "the mesh is not consistently oriented",
        _ => return Ok(()),
    };
    let error = Error::unfit(why);
    Err(error.with_hint("`--inside robust` orients its triangles and closes its holes with caps"))
}

impl FillCells for FractionCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        let (field, arrays) = match cells {
            CellsMut::Field(field, None) => (field, &mut [][..]),
            CellsMut::WithArrays(field, arrays) => (field, arrays),
            _ => {
                let text = "the rule fraction makes a field of shares, without nearest triangles";
                return Err(Error::usage(text));
            }
        };
        let (odd, united) = self.fill_field(layers.clone(), field, arrays, run)?;
        let capped = self.count_capped(layers, run)?;
        Ok(Stats {
            inside: InsideReport {
                repairs: self.repairs.clone(),
                ..InsideReport::default()
            },
            fraction: FractionReport {
                odd,
                united,
                caps: self.caps.len() as u64,
                capped,
                left_out: self.left_out,
            },
            ..Stats::default()
        })
    }

    fn inside(&self) -> Option<Inside> {
        Some(self.used)
    }

    fn mesh_volume(&self) -> Option<f64> {
        Some(components::volume(&self.triangles, &self.bounds))
    }
}

/// Returns the findings about shares. They report cells whose share does not follow from the winding number
/// alone, and caps that were added to the mesh.
pub(super) fn findings(
    report: &FractionReport,
    lattice: &Lattice,
    coordinates: &GridCoordinates,
) -> Vec<Finding> {
    let FractionReport {
        odd,
        united,
        caps,
        capped,
        left_out,
    } = report;
    let mut found = vec![];
    if *caps > 0 {
        let caps = counted(*caps, "triangle was", "triangles were");
        let mut text = format!("the mesh is not closed: {caps} added to close its holes");
        if *capped > 0 {
            let cells = counted(*capped, "cell depends", "cells depend");
            text += &format!("; the shares of {cells} on them");
        }
        found.push(Finding::new(Code::W006, text));
    }
    if *left_out > 0 {
        let text = counted(
            *left_out,
            "triangle of ragged patches is",
            "triangles of ragged patches are",
        );
        found.push(Finding::new(
            Code::W006,
            format!("the mesh is not closed: {text} left out"),
        ));
    }
    let place = |cell: &[usize; 3]| {
        let half = |a: usize| lattice.axis(a).half_plane(2 * cell[a] as i64 + 1).to_f64();
        coordinates.point_text([0, 1, 2].map(half))
    };
    if let Some((mean, cell)) = &odd.farthest {
        let cells = counted(odd.cells, "cell", "cells");
        let off = number(mean - mean.clamp(0.0, 1.0));
        let place = place(cell);
        let text = format!(
            "overlapping or inverted parts: in {cells} the mean winding number is outside 0 … 1, by up to {off} in \
             the cell around {place}; the share is its absolute value, at most 1"
        );
        found.push(Finding::new(Code::W016, text));
    }
    if let Some(first) = &united.first {
        let cells = counted(united.cells, "cell", "cells");
        let place = place(first);
        let text = format!(
            "surfaces of overlapping parts meet in {cells}, the first around {place}: each gets the share that the union of \
             the parts occupies, with an error of at most {:.1e} plus rounding to a float",
            united.error
        );
        found.push(Finding::new(Code::W016, text));
    }
    if united.unknown > 0 {
        let cells = counted(united.unknown, "cell", "cells");
        let text = format!(
            "in {cells} the union of overlapping parts is lost in rounding: the mean winding number gives the share"
        );
        found.push(Finding::new(Code::W016, text));
    }
    found
}
