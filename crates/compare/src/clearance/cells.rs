//! The cells of a contact: where both surfaces are, or the closest points.

use super::Clearance;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, Label, Labels, Lattice, Legend};
use voxelize_meshes::Mesh;
use voxelize_rules::Voxelizer;
use voxelize_rules::rule::Rule;
use voxelize_rules::run::{Demand, Plan, Run};

/// Cells that the surfaces of two meshes touch which meet.
pub const CONTACT: u8 = 1;

/// Cells on the line between the closest points of two meshes that do not meet.
pub const CLOSEST: u8 = 2;

/// The bytes that [`cells`] takes with the meshes, at most: labels, the cells of each mesh, and those of one more.
pub fn cell_bytes(meshes: &[&Mesh], lattice: &Lattice, run: &Run) -> u128 {
    let cells = lattice.dims().iter().map(|n| *n as u128).product::<u128>();
    let grids = (meshes.len() as u128 + 1) * BitGrid::bytes_for(lattice.dims());
    let largest = meshes
        .iter()
        .map(|mesh| Demand::new(mesh, lattice, run).bytes(Plan::Dense))
        .max();
    largest.unwrap_or(0) + cells + grids
}

/// The cells that the surfaces of meshes touch, labelled: those where two meet, as far as cells tell, those between the
/// closest points of two that do not, and all others. Each pair is the numbers of two meshes, and how they lie.
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
    let all = meshes
        .iter()
        .map(|mesh| touched(mesh))
        .collect::<Result<Vec<_>>>()?;
    for cells in &all {
        labels.add(cells, Label::AROUND.value);
    }
    let label = |labels: &mut Labels, cells: &BitGrid, value: u8| {
        cells.iter().for_each(|cell| labels.set(cell, value));
    };
    let [meet, apart]: [Vec<_>; 2] = [true, false].map(|meets| {
        pairs
            .iter()
            .filter(|(_, found)| (found.meetings > 0) == meets)
            .collect()
    });
    for (_, found) in apart {
        let [p, q] = found.points.map(|point| point.map(|c| c as f32));
        label(
            &mut labels,
            &touched(&Mesh::from_triangles(vec![[p, q, q]])?)?,
            CLOSEST,
        );
    }
    // The last write stays.
    for (numbers, _) in meet {
        let [Some(one), Some(other)] = numbers.map(|n| all.get(n)) else {
            return Err(Error::usage(format!(
                "there is no pair of meshes {numbers:?}"
            )));
        };
        let mut both = one.clone();
        both.keep(other);
        label(&mut labels, &both, CONTACT);
    }
    Ok(labels)
}
