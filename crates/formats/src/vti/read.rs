//! Reading `.vti`.

use std::borrow::Cow;
use std::io::{self, Read};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::bits::BitReader;
use super::write::bytes_of;
use super::{CELLS, JSON};
use crate::Voxels;
use crate::image::{ImageFrame, cells_of, parse_metadata};
use crate::open::{VoxelSource, failure};
use crate::packed::unpack_zlib;
use crate::room::CellRoom;
use crate::{ARRAYS, Dtype, ORDER};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::Cells;
use voxelize_core::grid::metadata::Metadata;

/// Maximum number of bytes of XML that are read before the cells.
const MAX_HEAD: u64 = 1 << 20;

/// Maximum uncompressed size of a block in bytes.
const MAX_BLOCK: u64 = 64 << 20;

/// Array of numbers, as its XML element describes it.
#[derive(Default)]
struct ArrayElement {
    name: String,
    kind: String,
    components: usize,
    offset: Option<u64>,
    is_of_points: bool,
}

/// Content of the XML before the cells.
#[derive(Default)]
struct VtiHeader {
    /// Numbers are little-endian. `None` before the root element.
    is_little: Option<bool>,
    is_wide: bool,
    compressor: String,
    extent: Option<[i64; 6]>,
    origin: Option<[Rational; 3]>,
    spacing: Option<[Rational; 3]>,
    direction: Option<[Rational; 9]>,
    pieces: usize,
    arrays: Vec<ArrayElement>,
    json: Option<String>,
    encoding: String,
    /// Offset of the appended data in the file, after the `_`.
    begin: Option<u64>,
}

fn broken(why: impl Into<String>) -> Error {
    Error::input(Code::V003, why)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// Returns the attribute with this name. `None` if it does not exist.
fn attribute(element: &BytesStart, name: &str) -> Result<Option<String>> {
    let found = element
        .try_get_attribute(name)
        .map_err(|error| broken(format!("its XML: {error}")))?;
    let Some(attribute) = found else {
        return Ok(None);
    };
    let text = attribute
        .normalized_value(XmlVersion::Implicit1_0)
        .map_err(|error| broken(format!("its XML: {error}")))?;
    Ok(Some(text.trim().to_string()))
}

/// Parses an attribute that consists of `N` numbers. `None` if it does not exist.
fn numbers<const N: usize>(element: &BytesStart, name: &str) -> Result<Option<[Rational; N]>> {
    let Some(text) = attribute(element, name)? else {
        return Ok(None);
    };
    let numbers: Option<Vec<_>> = text
        .split_whitespace()
        .map(|word| Rational::parse_decimal(word).ok())
        .collect();
    match numbers.map(<[Rational; N]>::try_from) {
        Some(Ok(numbers)) => Ok(Some(numbers)),
        _ => Err(broken(format!(
            "{name} is '{}', not {N} numbers",
            sanitize(&text)
        ))),
    }
}

impl VtiHeader {
    fn read(source: &mut VoxelSource) -> Result<Self> {
        source.seek(0)?;
        let mut text = Vec::new();
        source
            .take(MAX_HEAD)
            .read_to_end(&mut text)
            .map_err(failure)?;
        let mut header = Self::default();
        let appended = find(&text, b"<AppendedData");
        let xml = appended
            .and_then(|at| Some(at + find(&text[at..], b">")? + 1))
            .unwrap_or(text.len());
        header.begin = appended.and_then(|at| Some((at + find(&text[at..], b"_")? + 1) as u64));
        let xml = String::from_utf8_lossy(&text[..xml]);
        // If bytes that are not UTF-8 were replaced, offsets in the text differ from those in the file.
        let is_as_in_file = matches!(xml, Cow::Borrowed(_));
        let mut reader = Reader::from_str(&xml);
        let mut place = "";
        let mut is_json = false;
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) if element.name().0 == "AppendedData" => {
                    header.encoding = attribute(&element, "encoding")?.unwrap_or_default();
                    break;
                }
                Ok(Event::Start(element) | Event::Empty(element)) => {
                    place = match element.name().0 {
                        "PointData" => "points",
                        "CellData" => "cells",
                        "FieldData" => "fields",
                        _ => place,
                    };
                    is_json =
                        place == "fields" && attribute(&element, "Name")?.as_deref() == Some(JSON);
                    header.take(&element, place)?;
                }
                Ok(Event::Text(codes)) if is_json => {
                    is_json = false;
                    let bytes = codes
                        .split_ascii_whitespace()
                        .map_while(|code| code.parse().ok());
                    let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
                    header.json = String::from_utf8(bytes).ok();
                }
                Ok(Event::Eof) => break,
                // If the XML itself contains data, it may be longer than the part that was read.
                Err(_) if text.len() as u64 == MAX_HEAD && header.extent.is_some() => break,
                Err(error) => {
                    let error = broken(format!("its XML: {error}"));
                    return Err(if is_as_in_file {
                        error.at_byte(reader.error_position())
                    } else {
                        error
                    });
                }
                Ok(_) => {}
            }
        }
        match header.is_little {
            None => Err(Error::input(Code::V001, "not a file of VTK")),
            Some(false) => Err(Error::input(
                Code::V004,
                "the image is big-endian; save it as little-endian",
            )),
            Some(true) => Ok(header),
        }
    }

    /// Takes the data from an XML element.
    fn take(&mut self, element: &BytesStart, place: &str) -> Result<()> {
        match element.name().0 {
            "VTKFile" => {
                let kind = attribute(element, "type")?.unwrap_or_default();
                if kind != "ImageData" {
                    let text =
                        format!("the file is a {} of VTK, not an ImageData", sanitize(&kind));
                    return Err(Error::input(Code::V004, text).with_hint("save it as .vti"));
                }
                self.is_little =
                    Some(attribute(element, "byte_order")?.as_deref() != Some("BigEndian"));
                self.is_wide = attribute(element, "header_type")?.as_deref() == Some("UInt64");
                self.compressor = attribute(element, "compressor")?.unwrap_or_default();
            }
            "ImageData" => {
                let extent = attribute(element, "WholeExtent")?.unwrap_or_default();
                let ends: Option<Vec<i64>> = extent
                    .split_whitespace()
                    .map(|word| word.parse::<i32>().ok().map(i64::from))
                    .collect();
                let ends = ends.and_then(|ends| <[i64; 6]>::try_from(ends).ok());
                let why = format!(
                    "WholeExtent is '{}', not six whole numbers",
                    sanitize(&extent)
                );
                self.extent = Some(ends.ok_or_else(|| broken(why))?);
                self.origin = numbers(element, "Origin")?;
                self.spacing = numbers(element, "Spacing")?;
                self.direction = numbers(element, "Direction")?;
            }
            "Piece" => self.pieces += 1,
            "DataArray" if place != "fields" => {
                let components = attribute(element, "NumberOfComponents")?;
                let offset = match attribute(element, "format")?.as_deref() {
                    Some("appended") => {
                        attribute(element, "offset")?.and_then(|text| text.parse().ok())
                    }
                    _ => None,
                };
                self.arrays.push(ArrayElement {
                    name: attribute(element, "Name")?.unwrap_or_default(),
                    kind: attribute(element, "type")?.unwrap_or_default(),
                    components: components.and_then(|text| text.parse().ok()).unwrap_or(1),
                    offset,
                    is_of_points: place == "points",
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the array that holds the cells. This is the array of this tool, otherwise the first array of
    /// cells, otherwise the first array of points.
    fn array(&self) -> Option<&ArrayElement> {
        let single: Vec<&ArrayElement> = self
            .arrays
            .iter()
            .filter(|array| array.components == 1)
            .collect();
        let ours = single
            .iter()
            .find(|array| !array.is_of_points && array.name == CELLS);
        let of_cells = single.iter().find(|array| !array.is_of_points);
        ours.or(of_cells).or(single.first()).copied()
    }

    fn frame(&self) -> Result<ImageFrame> {
        let extent = self.extent.ok_or_else(|| broken("no ImageData"))?;
        let is_of_points = self.array().is_some_and(|array| array.is_of_points);
        let more = i64::from(is_of_points);
        let dims =
            [0, 2, 4].map(|n| usize::try_from(extent[n + 1] - extent[n] + more).unwrap_or(0));
        if dims.contains(&0) {
            let text = format!("WholeExtent is {extent:?}: no cells");
            return Err(Error::input(Code::V004, text));
        }
        let sizes = self.spacing.clone().unwrap_or([Rational::ONE; 3]);
        let steps = [0, 1, 2].map(|n| {
            [0, 1, 2].map(|row| match &self.direction {
                Some(direction) => &direction[3 * row + n] * &sizes[n],
                None if row == n => sizes[n].clone(),
                None => Rational::ZERO,
            })
        });
        let mut centre = self.origin.clone().unwrap_or([Rational::ZERO; 3]);
        for (n, step) in steps.iter().enumerate() {
            // The centre of the first cell is the first point, or halfway from there to the next point.
            let first = &Rational::from(extent[2 * n]) + &Rational::new(1 - more, 2);
            for axis in 0..3 {
                centre[axis] = &centre[axis] + &(&step[axis] * &first);
            }
        }
        ImageFrame::parallel(dims, &centre, &steps)
    }

    /// Returns the metadata in the JSON of this tool, with the lattice.
    fn metadata(&self, frame: &ImageFrame) -> Result<Metadata> {
        let mut metadata = parse_metadata(self.json.as_deref(), frame.lattice.dims())?;
        let is_stated =
            metadata.dims.is_none() && (self.origin.is_some() || self.spacing.is_some());
        metadata.lattice = frame.lattice_at_corner(&metadata, is_stated);
        Ok(metadata)
    }

    /// Reads a number from the header of the data. It has 32 or 64 bits.
    fn number(&self, source: &mut VoxelSource) -> Result<u64> {
        if self.is_wide {
            source.bytes().map(u64::from_le_bytes)
        } else {
            source.u32().map(u64::from)
        }
    }
}

/// Reader of cells in blocks. Each block is a zlib stream.
struct ZlibReader<'a, 'b> {
    source: &'a mut VoxelSource<'b>,
    /// Compressed and uncompressed length of each block. The last block comes first.
    blocks: Vec<(u64, u64)>,
    block: Vec<u8>,
    next: usize,
}

impl<'a, 'b> ZlibReader<'a, 'b> {
    /// Reads the lengths of the blocks. The sum of the uncompressed lengths must be `need`.
    fn new(header: &VtiHeader, source: &'a mut VoxelSource<'b>, need: u64) -> Result<Self> {
        let [count, size, last] = [
            header.number(source)?,
            header.number(source)?,
            header.number(source)?,
        ];
        let width = if header.is_wide { 8 } else { 4 };
        let whole = count
            .saturating_sub(u64::from(last > 0))
            .checked_mul(size)
            .and_then(|n| n.checked_add(last));
        if size > MAX_BLOCK || whole != Some(need) {
            let text = format!(
                "{count} blocks of {size} bytes, the last of {last}, are not the {need} of the cells"
            );
            return Err(source.error(Code::V005, text));
        }
        if count.saturating_mul(width) > source.left() {
            return Err(source.error(
                Code::V002,
                format!("the file ends early: {count} lengths of blocks are expected"),
            ));
        }
        let mut blocks = Vec::new();
        for n in 0..count {
            let length = if last > 0 && n + 1 == count {
                last
            } else {
                size
            };
            blocks.push((header.number(source)?, length));
        }
        let packed = blocks
            .iter()
            .fold(0_u64, |sum, (packed, _)| sum.saturating_add(*packed));
        if packed > source.left() {
            let left = source.left();
            return Err(source.error(
                Code::V002,
                format!("the file ends early: the blocks have {packed} bytes, {left} follow"),
            ));
        }
        blocks.reverse();
        Ok(Self {
            source,
            blocks,
            block: Vec::new(),
            next: 0,
        })
    }
}

impl Read for ZlibReader<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.next == self.block.len()
            && let Some((packed, length)) = self.blocks.pop()
        {
            let packed = self.source.vec(packed).map_err(io::Error::other)?;
            unpack_zlib(&packed, length as usize, &mut self.block)?;
            self.next = 0;
        }
        let count = out.len().min(self.block.len() - self.next);
        out[..count].copy_from_slice(&self.block[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

/// Returns the number type of the cells. Fails if the type cannot be read.
fn dtype(array: &ArrayElement) -> Result<Dtype> {
    match &*array.kind {
        "UInt8" => Ok(Dtype::U8),
        "Bit" => Ok(Dtype::Bit),
        "Float32" => Ok(Dtype::F32),
        other => {
            let text = format!(
                "its array '{}' is of type {}, not UInt8, Bit or Float32",
                sanitize(&array.name),
                sanitize(other)
            );
            Err(Error::input(Code::V004, text).with_hint([
                "save it as unsigned char or float",
                "`--like FILE` takes the grid of any type",
            ]))
        }
    }
}

/// Checks that the data are followed only by the closing tags.
fn check_end(source: &mut VoxelSource, header: &VtiHeader) -> Result<()> {
    const MOST: u64 = 128;
    let left = source.left();
    if header.arrays.len() > 1 && left > MOST {
        source.seek(source.len() - MOST)?;
    } else if left > MOST {
        return Err(source.error(
            Code::V005,
            format!("{left} bytes follow the cells, where the file should end"),
        ));
    }
    let end = source.vec(source.left())?;
    let end = String::from_utf8_lossy(&end);
    let words: Vec<_> = end.split_ascii_whitespace().collect();
    let is_right = match words.as_slice() {
        [before @ .., "</AppendedData>", "</VTKFile>"] => {
            before.is_empty() || header.arrays.len() > 1
        }
        _ => false,
    };
    // Files of this tool end with a line feed.
    if is_right && (header.json.is_none() || end.ends_with('\n')) {
        return Ok(());
    }
    Err(source.error(
        Code::V002,
        "the file does not end with </AppendedData> and </VTKFile> after the cells",
    ))
}

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let header = VtiHeader::read(source)?;
    let frame = header.frame()?;
    let metadata = header.metadata(&frame)?;
    let array = header
        .array()
        .ok_or_else(|| Error::input(Code::V004, "an image without an array of single numbers"))?;
    let dtype = dtype(array)?;
    let is_known = matches!(&*header.compressor, "" | "vtkZLibDataCompressor");
    let is_supported = header.encoding == "raw" && is_known && header.pieces < 2;
    let start = match (header.begin, array.offset) {
        (Some(begin), Some(offset)) if is_supported => Some(begin.saturating_add(offset)),
        _ => None,
    };
    let Some(start) = start else {
        let error = Error::input(
            Code::V004,
            "only images of one piece with appended raw data, packed by zlib or not at all, are read",
        );
        return Err(error.with_hint([
            "save it with SetDataModeToAppended and EncodeAppendedDataOff",
            "`--like FILE` takes the grid of any .vti",
        ]));
    };
    let need = bytes_of(frame.dims(), dtype).unwrap_or(u64::MAX);
    source.seek(start)?;
    let room = source.room;
    let cells = if header.compressor.is_empty() {
        let bytes = header.number(source)?;
        if bytes != need {
            return Err(source.error(
                Code::V005,
                format!("{bytes} bytes are not the {need} of the cells"),
            ));
        }
        if bytes > source.left() {
            let left = source.left();
            return Err(source.error(
                Code::V002,
                format!("the file ends early: {bytes} bytes of cells are expected, {left} follow"),
            ));
        }
        read_cells(source, &frame, dtype, &metadata, room)?
    } else {
        let mut unpacked = ZlibReader::new(&header, source, need)?;
        read_cells(&mut unpacked, &frame, dtype, &metadata, room)?
    };
    check_end(source, &header)?;
    Ok(Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    })
}

fn read_cells(
    input: &mut dyn Read,
    frame: &ImageFrame,
    dtype: Dtype,
    metadata: &Metadata,
    room: CellRoom,
) -> Result<Cells> {
    if dtype == Dtype::Bit {
        let mut bytes = BitReader::new(input);
        return cells_of(&mut bytes, frame, Dtype::U8, metadata, room);
    }
    cells_of(input, frame, dtype, metadata, room)
}

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let header = VtiHeader::read(source)?;
    let frame = header.frame()?;
    let mut metadata = header.metadata(&frame)?;
    metadata.dims = Some(frame.lattice.dims());
    metadata.extra.insert(ORDER[0].into(), ORDER[1].into());
    if header.json.is_some() {
        let others = header.arrays.iter().filter(|array| array.name != CELLS);
        let names: Vec<_> = others.map(|array| sanitize(&array.name)).collect();
        if !names.is_empty() {
            metadata.extra.insert(ARRAYS.into(), names.join(", "));
        }
    }
    Ok(metadata)
}
