//! Cells of a contact: cells where both surfaces are, or cells between the closest points.

use super::Clearance;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, Label, Labels, Lattice, Legend};
use voxelize_meshes::Mesh;
use voxelize_rules::Voxelizer;
use voxelize_rules::rule::Rule;
use voxelize_rules::run::{Demand, Plan, Run};

/// Label of cells that the surfaces of two meeting meshes both touch.
pub const CONTACT: u8 = 1;

/// Label of cells on the line between the closest points of two meshes that do not meet.
pub const CLOSEST: u8 = 2;

/// Returns the maximum memory of [`cells`] in bytes, including the meshes: labels, the cells of
/// each mesh, and one more grid of cells.
pub fn cell_bytes(meshes: &[&Mesh], lattice: &Lattice, run: &Run) -> u128 {
    let cells = lattice.dims().iter().map(|n| *n as u128).product::<u128>();
    let grids = (meshes.len() as u128 + 1) * BitGrid::bytes_for(lattice.dims());
    let largest = meshes
        .iter()
        .map(|mesh| Demand::new(mesh, lattice, run).bytes(Plan::Dense))
        .max();
    largest.unwrap_or(0) + cells + grids
}

/// Returns the cells that the surfaces of meshes touch, labelled: cells where two meshes meet,
/// cells between the closest points of two meshes that do not meet, and all other cells. Meetings
/// are only as precise as cells. Each pair is the numbers of two meshes, and their clearance.
///
/// # Errors
/// If there is no such mesh, the cells do not fit in memory, or the work is cancelled.
pub fn cells(
    meshes: &[&Mesh],
    pairs: &[([usize; 2], Clearance)],
    lattice: &Lattice,
    run: &Run,
) -> Result<Labels> {
    let legend = Legend::new([
        Label::new(CONTACT, "contact").with_colour([0xe0, 0x00, 0x80]),
        Label::new(CLOSEST, "closest").with_colour([0x00, 0x72, 0xb2]),
        Label::AROUND,
    ])?;
    let mut labels = Labels::new(lattice.dims(), legend)?;
    let surface = Voxelizer::new(Rule::surface())
        .with_run(*run)
        .without_findings();
    let touched =
        |mesh: &Mesh| Ok::<_, Error>(surface.fill(mesh, lattice)?.voxels.occupied()?.clone());
    let mut all = vec![];
    for mesh in meshes {
        all.push(touched(mesh)?);
    }
    for cells in &all {
        labels.add(cells, Label::AROUND.value);
    }
    for (_, found) in pairs {
        if found.meetings > 0 {
            continue;
        }
        let [p, q] = found.points.map(|point| point.map(|c| c as f32));
        let line = touched(&Mesh::from_triangles(vec![[p, q, q]])?)?;
        set_all(&mut labels, &line, CLOSEST);
    }
    // The last write to a cell wins.
    for (numbers, found) in pairs {
        if found.meetings == 0 {
            continue;
        }
        let [Some(one), Some(other)] = numbers.map(|n| all.get(n)) else {
            return Err(Error::usage(format!(
                "no pair of meshes has the numbers {numbers:?}"
            )));
        };
        let mut both = one.clone();
        both.keep(other);
        set_all(&mut labels, &both, CONTACT);
    }
    Ok(labels)
}

/// Gives all these cells a label.
fn set_all(labels: &mut Labels, cells: &BitGrid, value: u8) {
    for cell in cells.iter() {
        labels.set(cell, value);
    }
}
