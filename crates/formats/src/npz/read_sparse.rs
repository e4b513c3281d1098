//! Reading sparse arrays.

use std::io::{BufReader, Read};

use zip::read::ZipFile;

use super::archive::{Archive, MOST_DEFLATED, broken, in_member, small};
use super::sparse::Sparse;
use crate::Dtype;
use crate::dense::RowValues;
use crate::npy::Header;
use crate::open::failure;
use crate::room::CellRoom;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{Cells, Field};

/// Reads the number of cells along each axis from the member `shape`.
pub(super) fn dims(archive: &mut Archive) -> Result<[usize; 3]> {
    let wrong = || {
        Error::input(
            Code::V004,
            "shape is not an array of three numbers of cells, int64",
        )
    };
    let (header, bytes) = small(archive, "shape")?.ok_or_else(wrong)?;
    let sizes: Option<Vec<usize>> = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|bytes| usize::try_from(i64::from_le_bytes(*bytes)).ok())
        .collect();
    match sizes.map(<[usize; 3]>::try_from) {
        Some(Ok(dims)) if header.descr == "i8" && !dims.contains(&0) => Ok(dims),
        _ => Err(wrong()),
    }
}

/// Reads the dims and the number type of the cells.
pub(super) fn described(archive: &mut Archive) -> Result<([usize; 3], Dtype)> {
    let dims = dims(archive)?;
    if archive.index_for_name("values.npy").is_none() {
        return Ok((dims, Dtype::Bool));
    }
    let header = Header::read(&mut archive.by_name("values.npy").map_err(broken)?)?;
    match &*header.descr {
        "u1" => Ok((dims, Dtype::U8)),
        "f4" => Ok((dims, Dtype::F32)),
        _ => Err(Error::input(
            Code::V004,
            "values is not an array of uint8 or float32",
        )),
    }
}

/// Checks that the member has the size that the header of its array implies. `bytes` is the size of a row.
/// Returns the number of rows.
fn check_length<R: Read + ?Sized>(
    file: &ZipFile<'_, R>,
    header: &Header,
    bytes: u64,
    name: &str,
) -> Result<u64> {
    let rows = header.shape.first().copied().unwrap_or(1) as u64;
    let expected = rows
        .checked_mul(bytes)
        .and_then(|data| data.checked_add(header.bytes));
    let most = file
        .compressed_size()
        .saturating_mul(MOST_DEFLATED)
        .saturating_add(1 << 12);
    if expected != Some(file.size()) || file.size() > most {
        let text = format!(
            "{rows} rows do not fit {} bytes, {} packed",
            file.size(),
            file.compressed_size()
        );
        return Err(in_member(Error::input(Code::V005, text), name));
    }
    Ok(rows)
}

/// Reads the rows and sets the cells that they list.
pub(super) fn read(
    archive: &mut Archive,
    form: Sparse,
    metadata: &Metadata,
    room: CellRoom,
    length: u64,
) -> Result<Cells> {
    let (dims, dtype) = described(archive)?;
    room.check_proportion(dims, if dtype == Dtype::F32 { 256 } else { 8 }, length)?;
    let values = read_values(archive, dims, dtype)?;
    let name = format!("{}.npy", form.name());
    let mut file = archive.by_name(&name).map_err(broken)?;
    let header = Header::read(&mut file).map_err(|error| in_member(error, &name))?;
    // NumPy itself makes indices of type int64, so both widths are read.
    let width = match (&*header.descr, header.fortran, &*header.shape) {
        ("i4", false, [_, columns]) if *columns == form.columns() => 4,
        ("i8", false, [_, columns]) if *columns == form.columns() => 8,
        _ => {
            let text = format!(
                "not an array (n, {}) of int32 or int64, row by row",
                form.columns()
            );
            return Err(in_member(Error::input(Code::V004, text), &name));
        }
    };
    let rows = check_length(&file, &header, width * form.columns() as u64, &name)?;
    if values
        .as_ref()
        .is_some_and(|values| values.len() as u64 != rows * value_width(dtype))
    {
        return Err(Error::input(
            Code::V005,
            format!("{} and values differ in length", form.name()),
        ));
    }
    let mut input = BufReader::with_capacity(1 << 16, &mut file);
    let mut number = || -> Result<usize> {
        let mut bytes = [0; 8];
        input
            .read_exact(&mut bytes[..width as usize])
            .map_err(failure)?;
        let value = if width == 4 {
            i64::from(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        } else {
            i64::from_le_bytes(bytes)
        };
        Ok(usize::try_from(value).unwrap_or(usize::MAX))
    };
    let mut cells = SparseCells::new(dims, dtype, metadata, room)?;
    for row in 0..rows as usize {
        let cell = [number()?, number()?, number()?];
        let count = if form == Sparse::Runs { number()? } else { 1 };
        let is_within =
            (0..3).all(|axis| cell[axis] < dims[axis]) && count <= dims[0].saturating_sub(cell[0]);
        if !is_within {
            let [x, y, z] = cell.map(|n| n as i64);
            let text =
                format!("row {row}: {count} cells from ({x}, {y}, {z}) on are not within {dims:?}");
            return Err(in_member(Error::input(Code::V009, text), &name));
        }
        for i in cell[0]..cell[0] + count {
            cells.set([i, cell[1], cell[2]], values.as_deref().unwrap_or(&[]), row)?;
        }
    }
    drop(input);
    // The checksum is verified only when the member is read to its end.
    match file.read(&mut [0]).map_err(failure)? {
        0 => Ok(cells.into_cells()),
        _ => Err(in_member(
            Error::input(Code::V005, "bytes follow the rows"),
            &name,
        )),
    }
}

fn value_width(dtype: Dtype) -> u64 {
    if dtype == Dtype::F32 { 4 } else { 1 }
}

/// Reads the values of all rows as bytes. `None` for bits, whose rows have no values.
fn read_values(archive: &mut Archive, dims: [usize; 3], dtype: Dtype) -> Result<Option<Vec<u8>>> {
    if dtype == Dtype::Bool {
        return Ok(None);
    }
    const NAME: &str = "values.npy";
    let mut file = archive.by_name(NAME).map_err(broken)?;
    let header = Header::read(&mut file).map_err(|error| in_member(error, NAME))?;
    let rows = check_length(&file, &header, value_width(dtype), NAME)?;
    let all: u128 = dims.iter().map(|&n| n as u128).product();
    if header.shape.len() != 1 || u128::from(rows) > all {
        return Err(in_member(
            Error::input(
                Code::V005,
                format!("there are {rows} values, not one for each row"),
            ),
            NAME,
        ));
    }
    let mut values = Vec::new();
    file.read_to_end(&mut values)
        .map_err(|error| in_member(failure(error), NAME))?;
    Ok(Some(values))
}

/// Cells that are set row by row.
enum SparseCells {
    Values(RowValues),
    Field(Field),
}

impl SparseCells {
    fn new(dims: [usize; 3], dtype: Dtype, metadata: &Metadata, room: CellRoom) -> Result<Self> {
        if dtype != Dtype::F32 {
            let legend = metadata.legend.as_ref().filter(|_| dtype == Dtype::U8);
            return RowValues::new(dims, legend, room).map(Self::Values);
        }
        let background = metadata.background.unwrap_or(0.0);
        let mut field = room.field(dims)?.with_background(background);
        field.values_mut().fill(background);
        Ok(Self::Field(field))
    }

    /// Sets a cell to the value of row `row`. If rows have no values, sets it to 1.
    fn set(&mut self, cell: [usize; 3], values: &[u8], row: usize) -> Result<()> {
        match self {
            Self::Field(field) => {
                let bytes = values
                    .as_chunks::<4>()
                    .0
                    .get(row)
                    .copied()
                    .unwrap_or_default();
                field.set(cell, f32::from_le_bytes(bytes));
            }
            Self::Values(cells) => match values.get(row).copied().unwrap_or(1) {
                0 => {}
                value => cells.set(cell, value)?,
            },
        }
        Ok(())
    }

    fn into_cells(self) -> Cells {
        match self {
            Self::Field(field) => field.into(),
            Self::Values(values) => values.cells,
        }
    }
}
