//! Finds the cells on which four methods for the inside disagree. The label of such a cell names the methods
//! that consider it inside.
//!
//! A closed mesh without defects has few such cells. In a defective mesh they surround the defects. A flood
//! that leaked is not compared, because it reached cells of the inside.

use crate::run::memory::MemoryEstimate;
use crate::run::{Demand, Plan, Run};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Label, LabelDigest, Labels, Lattice, Legend};
use voxelize_core::par;
use voxelize_meshes::Mesh;

use super::Inside;
use super::inside::flood::{self, Flood};

/// Methods that are compared for every cell, in the order of their bits in a label. The flood has the next
/// bit.
const COMPARED: [Inside; 3] = [Inside::Nonzero, Inside::EvenOdd, Inside::Robust];

/// Labels of cells in doubt. Each label stands for a set of the four methods, except the empty set and the
/// full set.
const LABELS: std::ops::Range<u8> = 1..(1 << (COMPARED.len() + 1)) - 1;

/// Number of grids in memory at the same time, in addition to the grid of the cells: one for each of the four
/// methods, with the cells that are inside. The grid of the cells first has the cells that the flood did not
/// reach. The flood itself needs at most four grids: the walls, the outside, and the inside by evenodd of the
/// mesh and of the caps of its holes.
const GRIDS: u128 = 4;

/// Number of grids in the result: one for its cells and four planes of labels.
pub(crate) const RESULT_GRIDS: u128 = 5;

/// Cells on which methods that find the inside disagree.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Cells that some methods consider inside and others outside. [`legend`] defines their labels.
    pub cells: Labels,
    /// Number of cells that at least one compared method considers inside.
    pub inside: u64,
    /// Each method with its number of cells inside. The flood comes first.
    pub by: [(Inside, u64); 4],
    /// The flood entered the mesh through a hole, or where the lattice cuts the mesh. Such a flood is not
    /// compared.
    pub leaked: bool,
}

impl Doubt {
    /// Returns the number of cells in doubt divided by the number of cells that at least one compared method
    /// considers inside. 0 if there are no such cells.
    pub fn share(&self) -> f64 {
        if self.inside == 0 {
            0.0
        } else {
            self.cells.occupied().count() as f64 / self.inside as f64
        }
    }
}

/// Finds the cells of `lattice` on which [`Inside::Nonzero`], [`Inside::EvenOdd`],
/// [`Inside::Flood`] and [`Inside::Robust`] disagree.
///
/// All methods decide by the centres of cells. The flood makes no decision about cells that the surface
/// touches under ties up. For these cells only the other three methods are compared. If `inside` is a flood
/// that closes holes, the same holes are closed here. Otherwise no hole is closed. A flood that entered the
/// mesh, as reported by [`W007`](voxelize_core::Code::W007), is not compared anywhere.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::rule::doubt;
/// use voxelize::run::Run;
/// use voxelize::{Inside, Lattice, Mesh};
///
/// let mesh = Mesh::open("fixtures/open.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 32)?;
/// let found = doubt::doubt(&mesh, &lattice, Inside::Auto, &Run::default())?;
/// println!("{} cells of {} are in doubt", found.cells.occupied().count(), found.inside);
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if the search does not fit in memory or exceeds the memory limit of `run`, if the machine lacks the
/// instruction set, or if the run was cancelled.
pub fn doubt(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<Doubt> {
    run.supported_level()?;
    let estimate = MemoryEstimate::bound(mesh, lattice, run);
    let need = Demand::of(&estimate, 0).bytes(Plan::Dense) + memory(&estimate);
    run.refuse_above(need, || {
        let [x, y, z] = lattice.dims();
        let triangles = mesh.triangles().len();
        format!("five grids of {x} × {y} × {z} cells and {triangles} triangles, to be repaired,")
    })?;
    par::with_threads(run.thread_count(), || compare(mesh, lattice, inside, run))?
}

/// Returns the memory, in bytes, that the comparison needs in addition to the mesh and the result.
pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
    let methods = COMPARED.map(|method| method.memory(estimate));
    methods.into_iter().max().unwrap_or(0) + estimate.grids(GRIDS, 2.3)
}

/// Returns the legend of the labels of cells in doubt. A label names the methods by which a cell is inside.
/// Its value is the sum of 1 for nonzero, 2 for evenodd, 4 for robust and 8 for flood. The digest of a grid
/// does not cover these labels.
pub fn legend() -> Legend {
    let methods = COMPARED.into_iter().chain([Inside::flood()]);
    let names: Vec<_> = methods.map(|method| method.info().name).collect();
    let label = |value: u8| {
        let mut inside = vec![];
        for (bit, name) in names.iter().enumerate() {
            if value >> bit & 1 == 1 {
                inside.push(*name);
            }
        }
        Label::new(value, format!("inside by {}", inside.join(" + ")))
    };
    let legend = Legend::new(LABELS.map(label)).expect("names differ");
    legend.with_digest(LabelDigest::Occupancy)
}

fn compare(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<Doubt> {
    let layers = 0..lattice.dims()[2];
    let FloodCells {
        count,
        leaked,
        inside: flood,
        not_outside,
    } = flooded(mesh, lattice, inside, run)?;
    let mut by = vec![(Inside::flood(), count)];
    let mut planes = Vec::new();
    for method in COMPARED {
        let mut cells = BitGrid::try_from(lattice)?;
        method
            .prepare(mesh, lattice, run)?
            .fill(layers.clone(), run, &mut cells)?;
        by.push((method, cells.count()));
        planes.push(cells);
    }
    planes.push(flood);
    let (cells, inside) = label(not_outside, &mut planes);
    let by = by.try_into().expect("flood, and the others");
    Ok(Doubt {
        cells: Labels::from_planes(cells, planes, legend()),
        inside,
        by,
        leaked,
    })
}

/// Returns the cells in doubt, and the number of cells that are inside by at least one method. `planes` has
/// one grid for each method, with the cells that are inside. The function replaces them by the planes of the
/// labels. Their bits encode the index of a label in the legend, which is the label's value minus one.
fn label(not_outside: BitGrid, planes: &mut [BitGrid]) -> (BitGrid, u64) {
    let mut cells = not_outside;
    let mut planes: Vec<&mut [u64]> = planes.iter_mut().map(BitGrid::words_mut).collect();
    let (flood, others) = planes.split_last().expect("one for each method");
    let mut inside = 0;
    for (n, cell) in cells.words_mut().iter_mut().enumerate() {
        let any = others.iter().fold(flood[n], |any, plane| any | plane[n]);
        let all = others.iter().fold(*cell, |all, plane| all & plane[n]);
        inside += u64::from(any.count_ones());
        *cell = any & !all;
    }
    for (n, &cell) in cells.words().iter().enumerate() {
        let mut borrow = cell;
        for plane in &mut planes {
            let bits = plane[n] & cell;
            plane[n] = bits ^ borrow;
            borrow &= !bits;
        }
    }
    (cells, inside)
}

/// Result of the flood, prepared for the comparison.
struct FloodCells {
    /// Number of cells that are inside.
    count: u64,
    /// The flood entered the mesh and is therefore not compared.
    leaked: bool,
    /// Cells that are inside. Empty if the flood leaked.
    inside: BitGrid,
    /// Cells that are not outside. All cells if the flood leaked.
    not_outside: BitGrid,
}

fn flooded(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<FloodCells> {
    let Flood {
        mut outside,
        walls,
        leak,
        ..
    } = flood::flooded(mesh, lattice, inside.closed_holes(), run)?;
    let leaked = leak.is_some() || flood::enters_by_cut(mesh, lattice);
    let mut inside = BitGrid::try_from(lattice)?;
    inside.add_neither(&outside, &walls, 0);
    drop(walls);
    let count = inside.count();
    if leaked {
        inside.clear();
        outside.clear();
    }
    let mut not_outside = BitGrid::try_from(lattice)?;
    not_outside.add_neither(&outside, &outside, 0);
    Ok(FloodCells {
        count,
        leaked,
        inside,
        not_outside,
    })
}
