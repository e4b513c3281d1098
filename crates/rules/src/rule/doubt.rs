//! Doubt: the cells on which four methods that find the inside disagree, each labelled with those that call it inside.
//! In a closed, sound mesh there are few; in a broken one they surround its defects. A flood that leaked is left out:
//! it reached cells of the inside, so what it calls outside means nothing.

use crate::run::memory::MemoryEstimate;
use crate::run::{Demand, Plan, Run};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Label, LabelDigest, Labels, Lattice, Legend};
use voxelize_core::par;
use voxelize_meshes::Mesh;

use super::Inside;
use super::inside::flood::{self, Flood};

/// The methods that are compared for every cell, in the order of their bits in a label. Flood has the next.
const COMPARED: [Inside; 3] = [Inside::Nonzero, Inside::EvenOdd, Inside::Robust];

/// The labels of cells in doubt: every set of the four methods but none and all.
const LABELS: std::ops::Range<u8> = 1..(1 << (COMPARED.len() + 1)) - 1;

/// Grids in memory at a time, besides one for the cells of the run: those of the methods, and the cells that flood
/// does not call outside. The flood itself has no more: walls, outside, and the inside by evenodd of the mesh and of
/// the caps of its holes.
const GRIDS: u128 = 4;

/// Grids of the result: its cells, and four planes of labels.
pub(crate) const RESULT_GRIDS: u128 = 5;

/// The cells that are in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// The cells that some methods call inside, and others outside. Their labels, by [`legend`], say which.
    pub cells: Labels,
    /// How many cells any of the compared methods calls inside.
    pub inside: u64,
    /// How many each method calls inside; the flood is the first.
    pub by: [(Inside, u64); 4],
    /// Whether the flood leaked, through a hole or where the lattice cuts the mesh: then it is not compared.
    pub leaked: bool,
}

impl Doubt {
    /// How many of the cells that any compared method calls inside are in doubt; 0 if there are none.
    pub fn share(&self) -> f64 {
        if self.inside == 0 {
            0.0
        } else {
            self.cells.occupied().count() as f64 / self.inside as f64
        }
    }
}

/// The cells of `lattice` on which [`Inside::Nonzero`], [`Inside::EvenOdd`], [`Inside::Flood`] and
/// [`Inside::Robust`] disagree. All decide about the centres of cells, but a flood does not decide about
/// cells that the surface touches, ties up: for these the other three are compared. The flood is that of `inside`
/// if it is one, and closes the same holes; otherwise it closes none. A flood that entered the mesh, as
/// [`W007`](voxelize_core::Code::W007) reports it, is compared nowhere.
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
/// If what it needs does not fit in memory or is above the limit of `run`, the level
/// does not exist here, or the run was cancelled.
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

/// Returns the bytes that it takes in addition to the mesh and the result.
pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
    let methods = COMPARED.map(|method| method.memory(estimate));
    methods.into_iter().max().unwrap_or(0) + estimate.grids(GRIDS, 2.3)
}

/// The labels of cells in doubt: the methods that call a cell inside. The value is the sum of 1 for nonzero, 2 for
/// evenodd, 4 for robust and 8 for flood. No digest covers them.
pub fn legend() -> Legend {
    let names: Vec<_> = COMPARED
        .iter()
        .chain(&[Inside::flood()])
        .map(|method| method.info().name)
        .collect();
    let label = |value: u8| {
        let inside = names
            .iter()
            .enumerate()
            .filter(|(bit, _)| value >> bit & 1 == 1);
        let inside: Vec<_> = inside.map(|(_, name)| *name).collect();
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

/// The cells in doubt, and how many any method calls inside. `planes` are the cells that each of them does; they
/// become the planes of labels, whose bits are those of a label's place in the legend: its value less one.
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

/// The answers of the flood.
struct FloodCells {
    /// How many cells it calls inside.
    count: u64,
    /// Whether it leaked, so that it is not compared.
    leaked: bool,
    /// The cells that it calls inside; none if it leaked.
    inside: BitGrid,
    /// The cells that it does not call outside; all if it leaked.
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
