//! Writing `.schem`.

use std::io::{self, Write};

use super::blocks::{STONE, blocks};
use super::count;
use super::nbt::{MAX_TEXT, NbtWriter, modified_utf8};
use crate::packed::GzipWriter;
use crate::steps::{cancelled, next};
use crate::{Dtype, SaveOptions, metadata};
use voxelize_core::grid::metadata::{Metadata, Style};
use voxelize_core::grid::{BitGrid, CellSource, CellType, Cells, CellsRef, Labels};
use voxelize_core::par::Progress;

/// Version of the schematic format.
const VERSION: i32 = 3;

/// Data version of Minecraft 1.16.5, which knows all block names that are written here.
const DATA_VERSION: i32 = 2586;

/// The blocks in a file, and the block number of each label.
struct BlockPalette {
    /// Value and block name of each label.
    labels: Vec<(u8, String)>,
    /// Names of the blocks in the order of their numbers. The first one is air.
    names: Vec<String>,
    /// Block number for each value of a cell.
    numbers: [u8; 256],
}

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let cells = count(source.dims()).map_err(io::Error::other)?;
    let palette = BlockPalette::new(source, dtype);
    let is_y_up = source.record().transform("up") == Some("y");
    let [nx, ny, nz] = source.dims().map(|n| n as u16);
    let [height, length] = if is_y_up { [ny, nz] } else { [nz, ny] };
    let mut packed = GzipWriter::new(out)?;
    let mut nbt = NbtWriter { out: &mut packed };
    nbt.compound("")?;
    nbt.compound("Schematic")?;
    nbt.int("Version", VERSION)?;
    nbt.int("DataVersion", DATA_VERSION)?;
    write_metadata(&mut nbt, source, dtype, &palette)?;
    for (name, size) in [("Width", nx), ("Height", height), ("Length", length)] {
        nbt.short(name, size)?;
    }
    nbt.ints("Offset", &[0; 3])?;
    nbt.compound("Blocks")?;
    nbt.compound("Palette")?;
    for (number, name) in palette.names.iter().enumerate() {
        nbt.int(name, number as i32)?;
    }
    nbt.end()?;
    nbt.bytes("Data", cells)?;
    let mut rows = RowWriter {
        out: nbt.out,
        palette: &palette,
        dtype,
        is_y_up,
        progress: options.progress,
    };
    rows.write_all(source)?;
    nbt.no_compounds("BlockEntities")?;
    for _ in 0..3 {
        nbt.end()?;
    }
    packed.finish()
}

fn write_metadata(
    nbt: &mut NbtWriter,
    source: &dyn CellSource,
    dtype: Dtype,
    palette: &BlockPalette,
) -> io::Result<()> {
    nbt.compound("Metadata")?;
    nbt.text(
        "Name",
        source.record().input.as_deref().unwrap_or("voxelize"),
    )?;
    let whole = metadata(source, dtype);
    let nameless = Metadata {
        legend: None,
        ..whole.clone()
    };
    let texts = [whole, nameless].map(|metadata| metadata.to_json(Style::OneLine));
    if let Some(json) = texts
        .iter()
        .find(|json| modified_utf8(json).len() <= MAX_TEXT)
    {
        nbt.text("Voxelize", json)?;
    }
    if !palette.labels.is_empty() {
        nbt.compound("VoxelizeBlocks")?;
        for (value, name) in &palette.labels {
            nbt.text(&value.to_string(), name)?;
        }
        nbt.end()?;
    }
    nbt.end()
}

impl BlockPalette {
    fn new(source: &dyn CellSource, dtype: Dtype) -> Self {
        let mut palette = Self {
            labels: Vec::new(),
            names: vec!["minecraft:air".into()],
            numbers: [0; 256],
        };
        match source.cell_type() {
            CellType::Labels(legend) if dtype == Dtype::U8 => palette.labels = blocks(legend),
            _ => {
                palette.numbers[1] = 1;
                palette.names.push(STONE.into());
            }
        }
        for (value, name) in &palette.labels {
            let known = palette.names.iter().position(|other| other == name);
            let number = known.unwrap_or_else(|| {
                palette.names.push(name.clone());
                palette.names.len() - 1
            });
            palette.numbers[usize::from(*value)] = number as u8;
        }
        palette
    }
}

/// Writer of rows of cells along x, in the order that Minecraft's y and z axes require.
struct RowWriter<'a> {
    out: &'a mut dyn Write,
    palette: &'a BlockPalette,
    dtype: Dtype,
    is_y_up: bool,
    progress: &'a dyn Progress,
}

impl RowWriter<'_> {
    /// Writes all rows. A grid in which z points up is written layer by layer. A grid in which y points up is
    /// written after all its layers are collected.
    fn write_all(&mut self, source: &mut dyn CellSource) -> io::Result<()> {
        let dims = source.dims();
        let [_, ny, nz] = dims;
        self.progress.begin("write", ny as u64 * nz as u64);
        let mut together: Option<Cells> = None;
        while let Some(slab) = next(source)? {
            let layers = slab.cells.dims()[2];
            if !self.is_y_up {
                self.write_rows(
                    slab.cells,
                    (0..layers).flat_map(|k| (0..ny).rev().map(move |j| [j, k])),
                )?;
            } else if layers == nz {
                self.write_turned(slab.cells)?;
            } else {
                if together.is_none() {
                    together = Some(empty(slab.cells, dims)?);
                }
                if let Some(all) = &mut together {
                    put(all, slab.cells, slab.first)?;
                }
            }
        }
        match together {
            Some(all) => self.write_turned(all.as_ref()),
            None => Ok(()),
        }
    }

    fn write_turned(&mut self, cells: CellsRef) -> io::Result<()> {
        let [_, ny, nz] = cells.dims();
        self.write_rows(cells, (0..ny).flat_map(|j| (0..nz).map(move |k| [j, k])))
    }

    fn write_rows(
        &mut self,
        cells: CellsRef,
        rows: impl Iterator<Item = [usize; 2]>,
    ) -> io::Result<()> {
        let bits = cells.occupied().map_err(io::Error::other)?;
        let mut row = vec![0; bits.dims()[0]];
        for (n, [j, k]) in rows.enumerate() {
            if n % 256 == 0 {
                cancelled(self.progress)?;
            }
            match cells {
                CellsRef::Labels(labels) if self.dtype == Dtype::U8 => {
                    labels.row(j, k, &mut row);
                    for cell in &mut row {
                        *cell = self.palette.numbers[usize::from(*cell)];
                    }
                }
                _ => bits.row_bytes(j, k, &mut row),
            }
            self.out.write_all(&row)?;
            self.progress.advance(1);
        }
        Ok(())
    }
}

/// Creates an empty grid of the same kind as `cells`.
fn empty(cells: CellsRef, dims: [usize; 3]) -> io::Result<Cells> {
    match cells {
        CellsRef::Labels(labels) => Labels::new(dims, labels.legend().clone()).map(Cells::from),
        _ => BitGrid::new(dims).map(Cells::from),
    }
    .map_err(io::Error::other)
}

/// Copies layers of cells into a grid. The first one becomes layer `first`.
fn put(all: &mut Cells, cells: CellsRef, first: usize) -> io::Result<()> {
    match (all, cells) {
        (Cells::Bits(all), CellsRef::Bits(bits)) => all.put(bits, first),
        (Cells::Labels(all), CellsRef::Labels(labels)) => {
            let [nx, ny, layers] = labels.dims();
            let mut row = vec![0; nx];
            for k in 0..layers {
                for j in 0..ny {
                    labels.row(j, k, &mut row);
                    all.put_row(j, first + k, &row).map_err(|_| {
                        io::Error::other("a slab has a label that its legend does not name")
                    })?;
                }
            }
        }
        _ => {
            return Err(io::Error::other(
                "a slab has cells of another kind than the slab before it",
            ));
        }
    }
    Ok(())
}
