//! Pictures show the cells and only the cells. Silhouettes and colours are compared with a projection of
//! every single cell, pictures with references pixel by pixel. `voxelize view` is tested on the command line.
//!
//! `VOXELIZE_BLESS=1` writes the references again and fails once.

mod command;
mod layers;
mod meshes;
mod plain;
mod references;
mod seen;

use crate::support::random::Random;
use voxelize::Labels;
use voxelize::grid::Legend;

/// Returns random cells with labels of the legend.
pub fn labels_of(random: &mut Random, dims: [usize; 3], legend: Legend, share: u64) -> Labels {
    let values: Vec<u8> = legend.labels().iter().map(|label| label.value).collect();
    let mut labels = Labels::new(dims, legend).unwrap();
    let cells = dims.iter().product::<usize>() as u64 / share + 1;
    for _ in 0..cells {
        let cell = dims.map(|n| random.below(n as u64) as usize);
        if labels.get(cell) == 0 {
            labels.set(cell, values[random.below(values.len() as u64) as usize]);
        }
    }
    labels
}
