//! Writing `.bt`.

use std::io;

use super::first_key;
use super::octree::Octree;
use crate::image::described;
use crate::steps::whole;
use crate::{Choice, Dtype, SaveOptions};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellSource, Lattice};

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let lattice = lattice(source).map_err(io::Error::other)?;
    let first = first_key(&lattice).map_err(io::Error::other)?;
    let json = described(source, dtype);
    whole(source, |bits| {
        let tree = Octree::new(bits, first, options.has(Choice::MarkFree), options.progress)?;
        let nodes = u32::try_from(tree.nodes).map_err(|_| {
            let text = format!(
                "the octree has {} nodes, more than the 32-bit count of OctoMap allows",
                tree.nodes
            );
            io::Error::other(Error::too_large(text).with_hint("use larger cells, or save as .npz"))
        })?;
        write!(out, "# Octomap OcTree binary file\n# voxelize {json}\n")?;
        write!(
            out,
            "id OcTree\nsize {nodes}\nres {}\ndata\n",
            lattice.spacing()[0].to_f64()
        )?;
        tree.write(out, options.progress)
    })
}

/// Returns the lattice of the cells. If the source has none, the cells begin at 0 and have size 1.
fn lattice(source: &dyn CellSource) -> Result<Lattice> {
    if let Some(lattice) = source.lattice() {
        return Ok(lattice.clone());
    }
    let origin = [Rational::ZERO; 3];
    let spacing = [Rational::ONE; 3];
    Lattice::new(source.dims(), origin, spacing, [false; 3])
}
