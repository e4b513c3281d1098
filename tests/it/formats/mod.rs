//! Files of every format contain the saved cells, and readers survive any input.

mod arrays;
mod bad_input;
mod binvox;
mod bt;
mod consistent;
mod described;
mod faces;
mod files;
mod hexahedra;
mod images;
mod kinds;
mod round_trip;
mod scenes;
mod schem;
mod shells;
#[cfg(all(feature = "npz", feature = "png"))]
mod slices;
#[cfg(feature = "npz")]
mod sparse;
mod vdb;
mod vti;
mod zarr;

use std::io::Cursor;

use voxelize::format::{self, Carries, Dtype, Durability, FORMATS, Format, SaveOptions, Sidecar};
use voxelize::grid::CellKind;
use voxelize::grid::record::{FIELDS, TRANSFORM};
use voxelize::{BitGrid, Code, Lattice, Rational, Record, Result, Voxels};

use crate::support::random::Random;

/// Two different letters, so that no rotation, reflection or exchange of axes maps the grid to itself.
const F: &str = "
    ###
    #..
    ##.
    #..

    ...
    ..#
    ...
    ...
";

fn f_grid() -> BitGrid {
    BitGrid::from_text(F).unwrap()
}

/// Returns `bits` on a lattice of cubic cells that no double represents, with all record data.
fn at_odd_place(bits: BitGrid) -> Voxels {
    let origin = [
        Rational::new(-1, 3),
        Rational::new(22, 7),
        Rational::from(5),
    ];
    let spacing = [(); 3].map(|()| Rational::new(1, 10));
    let lattice = Lattice::new(bits.dims(), origin, spacing, [true, false, true]).unwrap();
    let text = |text: &str| Some(text.to_string());
    let record = Record {
        tool: text("voxelize 0.1.0"),
        rule_name: text("surface"),
        fields: FIELDS.map(|name| (name, format!("some \"{name}\""))).into(),
        transform: TRANSFORM
            .map(|name| (name, format!("some \"{name}\"")))
            .into(),
        snap: text("none"),
        mesh_volume: text("0.125"),
        input: text("Würfel \"1\".stl"),
    };
    Voxels {
        cells: bits.into(),
        lattice: Some(lattice.with_snap(voxelize::Snap::None)),
        record,
    }
}

/// Returns pseudo-random cells with increasing density along the grid.
fn scattered(dims: [usize; 3]) -> BitGrid {
    let mut bits = BitGrid::new(dims).unwrap();
    let mut random = Random::new(1);
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in 0..dims[0] {
                if random.below(100) < ((i + 2 * j + 3 * k) % 90) as u64 {
                    bits.set([i, j, k]);
                }
            }
        }
    }
    bits
}

fn full(dims: [usize; 3]) -> BitGrid {
    let mut bits = BitGrid::new(dims).unwrap();
    for n in 0..dims.iter().product() {
        bits.set([n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]]);
    }
    bits
}

/// Returns every format that can be read.
pub fn readable() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.is_readable())
}

/// Returns the readable formats of single files with all their types.
fn kinds() -> Vec<(&'static Format, Dtype)> {
    let files = readable().filter(|format| !format.is_folder());
    let kinds: Vec<_> = files
        .flat_map(|f| f.dtypes.iter().map(move |d| (f, *d)))
        .collect();
    assert!(kinds.len() >= 7, "few formats: {kinds:?}");
    kinds
}

fn as_dtype(dtype: Dtype) -> SaveOptions<'static> {
    SaveOptions {
        dtype: Some(dtype),
        sidecar: Sidecar::Write,
        ..SaveOptions::default()
    }
}

/// Saves a file and returns its bytes and its sidecar.
fn saved(voxels: &Voxels, format: &Format, dtype: Dtype) -> (Vec<u8>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("grid")
        .with_extension(format.extensions[0]);
    format::save(voxels, &path, format, &as_dtype(dtype)).unwrap();
    let sidecar = std::fs::read_to_string(format!("{}.json", path.display())).unwrap();
    let needed = (format.carries != Carries::InFile).then_some(sidecar);
    (std::fs::read(&path).unwrap(), needed)
}

fn read(bytes: &[u8], format: &Format, sidecar: Option<&str>) -> Result<Voxels> {
    format::read_from(Cursor::new(bytes), format, sidecar)
}
