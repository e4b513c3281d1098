//! Cells of a contact or a collision: cells that both surfaces touch, or cells between the closest points.

use super::{Clearance, Relation};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, Label, Labels, Lattice, Legend};
use voxelize_meshes::Mesh;
use voxelize_rules::Voxelizer;
use voxelize_rules::rule::Rule;
use voxelize_rules::run::{Demand, Plan, Run};

/// Label of the cells that both surfaces touch, if two meshes meet. The meshes share no volume, or it is not
/// known whether they do.
pub const CONTACT: u8 = 1;

/// Label of the cells on the line between the closest points, if two meshes do not meet.
pub const CLOSEST: u8 = 2;

/// Label of the cells that both surfaces touch, if two meshes share volume. Also the label of the surface of a
/// mesh within another one.
pub const COLLISION: u8 = 3;

/// Returns the maximum memory that [`cells`] needs in bytes, including the meshes. It holds the labels, the
/// cells of each mesh, and one more grid of cells.
pub fn cell_bytes(meshes: &[&Mesh], lattice: &Lattice, run: &Run) -> u128 {
    let cells = lattice.dims().iter().map(|n| *n as u128).product::<u128>();
    let grids = (meshes.len() as u128 + 1) * BitGrid::bytes_for(lattice.dims());
    let largest = meshes
        .iter()
        .map(|mesh| Demand::new(mesh, lattice, run).bytes(Plan::Dense))
        .max();
    largest.unwrap_or(0) + cells + grids
}

/// Returns the cells that the surfaces of the meshes touch, with four labels: [`COLLISION`], [`CONTACT`],
/// [`CLOSEST`], and [`Label::AROUND`] for all other cells. A contact is located only to the precision of a cell. Each entry of `pairs` has the indices
/// of two meshes, and their clearance.
///
/// # Errors
/// Fails if there is no mesh with such an index, if the cells do not fit into memory, or if the work is
/// cancelled.
pub fn cells(
    meshes: &[&Mesh],
    pairs: &[([usize; 2], Clearance)],
    lattice: &Lattice,
    run: &Run,
) -> Result<Labels> {
    let legend = Legend::new([
        Label::new(CONTACT, "contact").with_colour([0xf0, 0xe4, 0x42]),
        Label::new(CLOSEST, "closest").with_colour([0x00, 0x72, 0xb2]),
        Label::new(COLLISION, "collision").with_colour([0xe0, 0x00, 0x80]),
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
        if found.meetings > 0 || found.relation.shares_volume() {
            continue;
        }
        let [p, q] = found.points.map(|point| point.map(|c| c as f32));
        let line = touched(&Mesh::from_triangles(vec![[p, q, q]])?)?;
        set_all(&mut labels, &line, CLOSEST);
    }
    // The last label written to a cell remains.
    for is_collision in [false, true] {
        for (numbers, found) in pairs {
            let shares_volume = found.relation.shares_volume();
            if shares_volume != is_collision || !shares_volume && found.meetings == 0 {
                continue;
            }
            let [Some(one), Some(other)] = numbers.map(|n| all.get(n)) else {
                return Err(Error::usage(format!(
                    "there is no pair of meshes {numbers:?}"
                )));
            };
            match found.relation {
                Relation::Contains => set_all(&mut labels, other, COLLISION),
                Relation::Within => set_all(&mut labels, one, COLLISION),
                _ => {
                    let mut both = one.clone();
                    both.keep(other);
                    let label = if is_collision { COLLISION } else { CONTACT };
                    set_all(&mut labels, &both, label);
                }
            }
        }
    }
    Ok(labels)
}

/// Sets the label of all these cells.
fn set_all(labels: &mut Labels, cells: &BitGrid, value: u8) {
    for cell in cells.iter() {
        labels.set(cell, value);
    }
}
