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
mod pgm;
mod round_trip;
mod scenes;
mod schem;
mod slabs;
#[cfg(all(feature = "npz", feature = "png"))]
mod slices;
#[cfg(feature = "npz")]
mod sparse;
mod vdb;
mod vti;
mod zarr;

use std::fmt::Debug;
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use tempfile::TempDir;
use voxelize::format::{
    self, Carries, Choice, Dtype, Durability, FORMATS, Format, SaveOptions, Sidecar,
};
use voxelize::grid::CellKind;
use voxelize::grid::record::{FIELDS, TRANSFORM};
use voxelize::{BitGrid, Code, Kind, Lattice, Rational, Record, Result, Voxels};

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
        drain: text("1,2,3,0.5;-1/3,0,0,2"),
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

/// Returns every cell of a grid of these dims, x fastest.
fn every_cell([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / nx / ny])
}

/// Returns the grid of these occupied cells.
fn grid_of(dims: [usize; 3], cells: impl IntoIterator<Item = [usize; 3]>) -> BitGrid {
    let mut bits = BitGrid::new(dims).unwrap();
    for cell in cells {
        bits.set(cell);
    }
    bits
}

/// Returns pseudo-random cells with increasing density along the grid.
fn scattered(dims: [usize; 3]) -> BitGrid {
    let mut random = Random::new(1);
    let is_occupied =
        |[i, j, k]: &[usize; 3]| random.below(100) < ((i + 2 * j + 3 * k) % 90) as u64;
    grid_of(dims, every_cell(dims).filter(is_occupied))
}

fn full(dims: [usize; 3]) -> BitGrid {
    grid_of(dims, every_cell(dims))
}

/// Returns voxels of a mesh whose file has y up.
fn with_y_up(mut voxels: Voxels) -> Voxels {
    voxels.record.transform = vec![("up", "y".into())];
    voxels
}

/// Returns the format of this name.
fn named(name: &str) -> &'static Format {
    format::by_name(name).expect(name)
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

fn with_choices(choices: &[Choice]) -> SaveOptions<'_> {
    SaveOptions {
        choices,
        ..SaveOptions::default()
    }
}

/// Returns the path of a file of this format in a folder.
fn path_of(folder: &TempDir, format: &Format) -> PathBuf {
    let name = format!("grid.{}", format.extensions[0]);
    folder.path().join(name)
}

/// Saves a file and returns its bytes and its sidecar, if reading needs it.
fn saved(voxels: &Voxels, format: &Format, dtype: Dtype) -> (Vec<u8>, Option<String>) {
    let (bytes, sidecar) = saved_with(voxels, format, &as_dtype(dtype));
    let needed = (format.carries != Carries::InFile).then_some(sidecar);
    (bytes, needed)
}

/// Saves a file and returns its bytes and its sidecar.
fn saved_with(voxels: &Voxels, format: &Format, options: &SaveOptions) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = path_of(&folder, format);
    format::save(voxels, &path, format, options).unwrap();
    let sidecar = fs::read_to_string(format!("{}.json", path.display())).unwrap();
    (fs::read(&path).unwrap(), sidecar)
}

/// Writes cells into memory.
fn written(voxels: &Voxels, format: &Format, options: &SaveOptions) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = format::write_to(voxels, &mut bytes, format, options)?;
    assert_eq!(length, bytes.len() as u64, "{format:?}");
    Ok(bytes)
}

fn read(bytes: &[u8], format: &Format, sidecar: Option<&str>) -> Result<Voxels> {
    format::read_from(Cursor::new(bytes), format, sidecar)
}

/// Saves cells and reads them back.
fn returned(voxels: &Voxels, format: &Format, dtype: Dtype) -> Result<Voxels> {
    let (bytes, sidecar) = saved(voxels, format, dtype);
    read(&bytes, format, sidecar.as_deref())
}

/// Checks the code of a failure to read.
#[track_caller]
fn check_error(found: Result<Voxels>, code: &str, case: impl Debug) {
    let error = found.expect_err(&format!("{case:?}"));
    assert_eq!(error.code().name(), code, "{case:?}: {error}");
}

fn occupied_cells(voxels: &Voxels) -> Vec<[usize; 3]> {
    voxels.occupied().unwrap().iter().collect()
}

/// Compares dims, origin, spacing and occupied cells with exact numbers, such as
/// `2 3 4 at -1 -2.5 0 by 0.5 0.5 1: 1 0 0`.
#[track_caller]
fn check_frame(found: &Voxels, expected: &str) {
    let exact = |text: &str| Rational::parse_decimal(text).ok();
    let expected: Vec<_> = expected.split([' ', ':']).filter_map(exact).collect();
    let lattice = found.lattice.as_ref().unwrap();
    let whole = |n: usize| Rational::from(n as i64);
    let mut numbers = lattice.dims().map(whole).to_vec();
    numbers.extend(lattice.origin().clone());
    numbers.extend(lattice.spacing().clone());
    numbers.extend(occupied_cells(found).into_iter().flatten().map(whole));
    assert_eq!(numbers, expected);
}

/// Splits the lines of a table into columns. The last column is the rest of a line.
fn table<const COLUMNS: usize>(text: &str) -> Vec<[&str; COLUMNS]> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut rows = vec![];
    for line in lines {
        let columns: Vec<_> = line.splitn(COLUMNS, ' ').collect();
        rows.push(columns.try_into().expect(line));
    }
    assert!(!rows.is_empty(), "a table without rows");
    rows
}
