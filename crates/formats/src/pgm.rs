//! `.pgm` with a `.yaml` next to it, the map of `map_server` and Nav2 in ROS: a picture of the grid seen from
//! above.
//!
//! | bytes | content of the `.pgm` |
//! |---|---|
//! | `P5` | |
//! | `# voxelize {…}` | metadata of the cells as JSON, in as many lines as needed |
//! | `NX NY`, `255` | width, height and greatest value |
//! | NX · NY | one byte for each column of cells, x fastest, from the greatest y to the least |
//!
//! | value | the column of cells is |
//! |---|---|
//! | 0 | occupied: at least one of its cells is |
//! | 254 | free |
//!
//! | line of the `.yaml` | |
//! |---|---|
//! | `# voxelize VERSION` | |
//! | `image: NAME.pgm` | the picture, in the same folder |
//! | `mode: trinary` | |
//! | `resolution: R` | side of a cell, the nearest double |
//! | `origin: [X, Y, 0]` | corner of the grid with the least x and y |
//! | `negate: 0`, `occupied_thresh: 0.65`, `free_thresh: 0.196` | black is occupied, white is free |
//!
//! Coordinates are those of the mesh. ROS takes them as metres, and z as up. A grid whose y axis points up is
//! not turned. The layers of a map are those of the grid, so the box of the grid decides which heights count. A
//! stream has no `.yaml`.
//!
//! <https://wiki.ros.org/map_server>

use std::io::{self, Write as _};
use std::path::Path;

use super::comments::{MARK, METADATA_START, comments};
use super::save::Sink;
use super::several::Companions;
use super::steps::{cancelled, next};
use super::{Dtype, FileSize, Format, SaveOptions, Write, metadata};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::metadata::Style;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{CellKind, CellSource, Lattice};

/// Value of an occupied pixel.
const OCCUPIED: u8 = 0;

/// Value of a free pixel, as `map_saver` writes it.
const FREE: u8 = 254;

pub(super) const FORMAT: Format = Format {
    name: "pgm",
    extensions: &["pgm"],
    about: "map for ROS map_server and Nav2: all layers seen from above, with a .yaml next to it; square cells only",
    assumes: &[("unit", "m"), ("up", "z")],
    kinds: &[CellKind::Bits],
    dtypes: &[Dtype::Bool],
    is_map: true,
    limits: |lattice, _| check_square(lattice),
    size: |[nx, ny, _], _, _, _| Some(FileSize::about(nx as u128 * ny as u128)),
    memory: |dims, _, _, _| memory(dims),
    write: Write::Several(|path, _| vec![path.with_extension("yaml")], write),
    is_ours: |head| head.starts_with(format!("P5\n# {MARK}{METADATA_START}").as_bytes()),
    ..Format::BASE
};

/// Returns the number of words of a row.
fn row_words(nx: usize) -> usize {
    nx.div_ceil(64)
}

/// Returns the memory of the columns and of a row of pixels in bytes.
fn memory([nx, ny, _]: [usize; 3]) -> u64 {
    (8 * row_words(nx) * ny + nx) as u64
}

fn check_square(lattice: Option<&Lattice>) -> Result<()> {
    let is_square = |lattice: &Lattice| lattice.spacing()[0] == lattice.spacing()[1];
    if lattice.is_none_or(is_square) {
        return Ok(());
    }
    let text = "a .pgm file has one resolution for x and y, but the sides of the cells differ";
    Err(Error::usage(text)
        .with_hint("give the same cell size along x and y: `--voxel-size S,S,SZ`"))
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
    (path, beside): (&Path, &Companions),
) -> io::Result<()> {
    let [nx, ny, nz] = source.dims();
    let json = metadata(source, dtype).to_json(Style::OneLine);
    write!(out, "P5\n{}{nx} {ny}\n255\n", comments("#", &json))?;
    let columns = columns(source, options, nz)?;
    let mut row = vec![FREE; nx];
    for words in columns.chunks(row_words(nx)).rev() {
        cancelled(options.progress)?;
        for (x, pixel) in row.iter_mut().enumerate() {
            let is_occupied = words[x / 64] >> (x % 64) & 1 == 1;
            *pixel = if is_occupied { OCCUPIED } else { FREE };
        }
        out.write_all(&row)?;
    }
    if beside.are_possible() {
        let yaml = path.with_extension("yaml");
        let mut file = beside.open(&yaml)?;
        file.write_all(map(source.lattice(), path).as_bytes())?;
        beside.close(&yaml, file)?;
    }
    out.flush()
}

/// Returns a bit for each column of cells, in rows of words. It is set if a cell of the column is occupied.
fn columns(
    source: &mut dyn CellSource,
    options: &SaveOptions,
    layers: usize,
) -> io::Result<Vec<u64>> {
    let [nx, ny, _] = source.dims();
    let mut columns = vec![0; row_words(nx) * ny];
    options.progress.begin("write", layers as u64);
    while let Some(slab) = next(source)? {
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        for k in 0..bits.dims()[2] {
            cancelled(options.progress)?;
            for (column, word) in columns.iter_mut().zip(bits.layer(k)) {
                *column |= word;
            }
            options.progress.advance(1);
        }
    }
    Ok(columns)
}

/// Returns the content of the `.yaml` of the map at `path`.
fn map(lattice: Option<&Lattice>, path: &Path) -> String {
    let (origin, side) = match lattice {
        Some(lattice) => (
            [0, 1].map(|axis| lattice.origin()[axis].to_f64()),
            lattice.spacing()[0].to_f64(),
        ),
        None => ([0.0; 2], 1.0),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let [x, y] = origin.map(decimal);
    format!(
        "# {TOOL}\nimage: {}\nmode: trinary\nresolution: {}\norigin: [{x}, {y}, 0.0]\n\
         negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n",
        quoted(&name),
        decimal(side),
    )
}

/// Returns the decimal with a point and without an exponent, which all parsers of YAML read as a number.
fn decimal(value: f64) -> String {
    let text = value.to_string();
    if text.contains('.') {
        text
    } else {
        format!("{text}.0")
    }
}

/// Returns a name as a text of YAML, in quotes if it has characters with a meaning in YAML.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        return name.to_string();
    }
    serde_json::Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::geom::Rational;

    #[test]
    fn a_map_is_yaml_of_plain_numbers_and_names() {
        let path = Path::new("maps/Raum 1: \"oben\".pgm");
        let tiny = Rational::new(1, 10_000_000);
        let lattice = Lattice::new(
            [4, 3, 2],
            [Rational::new(-1, 4), Rational::from(7), Rational::ZERO],
            [tiny.clone(), tiny, Rational::ONE],
            [true; 3],
        )
        .unwrap();
        let text = map(Some(&lattice), path);
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(
            lines[..4],
            [
                r#"image: "Raum 1: \"oben\".pgm""#,
                "mode: trinary",
                "resolution: 0.0000001",
                "origin: [-0.25, 7.0, 0.0]"
            ]
        );
        assert!(map(None, Path::new("room.pgm")).contains("\nimage: room.pgm\n"));
    }
}
