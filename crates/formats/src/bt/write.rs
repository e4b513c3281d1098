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
                "the octree has {} nodes, and OctoMap counts them in 32 bits",
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

/// Where the cells are; from 0 on, of size 1, where that is not known.
fn lattice(source: &dyn CellSource) -> Result<Lattice> {
    let all = |value: Rational| [(); 3].map(|()| value.clone());
    match source.lattice() {
        Some(lattice) => Ok(lattice.clone()),
        None => Lattice::new(
            source.dims(),
            all(Rational::ZERO),
            all(Rational::ONE),
            [false; 3],
        ),
    }
}
