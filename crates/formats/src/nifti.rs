//! `.nii` and `.nii.gz`, NIfTI-1 images, the format of brain imaging.
//!
//! | byte | content (little-endian) |
//! |---|---|
//! | 0 | 348 |
//! | 40 | 3, nx, ny, nz, 1, 1, 1, 1: 16 bits each, x fastest |
//! | 68 | intent: 1002 for labels |
//! | 70, 72 | type and bits: 2 and 8 for bits and labels, 16 and 32 for a field |
//! | 76 | 1, sx, sy, sz: floats |
//! | 108 | offset of the cells, as a float |
//! | 112, 116 | slope 1 and offset 0; slope 1/255 of shares of cells as u8 |
//! | 123 | the unit: metre 1, millimetre 2, micrometre 3, else 0 |
//! | 148 | `voxelize` |
//! | 252, 254 | qform and sform, 1 each: positions in a scanner |
//! | 256 | the quaternion 0, 0, 1, and the centre of the first cell; for a scan, its rotation |
//! | 280 | rows −sx 0 0 x, 0 −sy 0 y, 0 0 sz z: x to the right, y to the front, z up; for a scan, its steps |
//! | 344 | `n+1\0` |
//! | 348 | 1, 0, 0, 0: an extension follows, its length, 6 (a comment), and JSON: the exact lattice and the record of how the grid was made |
//! | … | the cells |
//!
//! In NIfTI x points to the right and y to the front, so both are reversed relative to the mesh. The
//! positions of the cells are rounded to floats, but the JSON has the exact numbers. A file of another
//! program is read by its sform, otherwise by its qform, otherwise only by the sizes of its cells. Its axes
//! must be perpendicular.
//!
//! <https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h>

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use super::dense;
use super::image::{ImageData, ImageFrame, described, parse_metadata, place_of, take_unit};
use super::npy;
use super::open::{VoxelSource, failure};
use super::packed;
use super::scan_order;
use super::{Choice, Dtype, FileSize, Format, FrameSupport, Reader, SaveOptions, Write, shares};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellSource, CellType, Lattice};

/// Size of the header in bytes.
const HEADER: usize = 348;

/// Maximum size of the JSON of this tool, in bytes.
const MAX_JSON: u64 = 1 << 20;

/// NIfTI code for an extension that is a comment.
const COMMENT: u32 = 6;

/// Factor that converts bytes to shares of cells.
const SLOPE_OF_SHARES: f32 = 1.0 / 255.0;

/// Units, indexed by their numbers in the format.
const UNITS: [Option<&str>; 8] = [
    None,
    Some("m"),
    Some("mm"),
    Some("um"),
    None,
    None,
    None,
    None,
];

/// Maximum number of cells along an axis. The format stores sizes in 15 bits.
const MOST: usize = i16::MAX as usize;

const ZERO_STEPS: [[Rational; 3]; 3] = [
    [Rational::ZERO; 3],
    [Rational::ZERO; 3],
    [Rational::ZERO; 3],
];

pub(super) const FORMAT: Format = Format {
    name: "nii",
    extensions: &["nii"],
    about: "NIfTI-1 image; mesh coordinates are LPS, the image is RAS; at most 32767 cells per axis",
    dtypes: &[Dtype::Bool, Dtype::U8],
    magic: &[&[0x5c, 1, 0, 0]],
    limits,
    size: |dims, dtype, _, _| dense::bytes_for(dims, dtype).map(FileSize::about),
    frames: FrameSupport::Header,
    write: Write::Forward(write),
    annotate: npy::annotate,
    reader: Some(Reader {
        cells: read,
        describe,
    }),
    ..Format::BASE
};

pub(super) const PACKED: Format = Format {
    name: "nii.gz",
    extensions: &["nii.gz"],
    about: "NIfTI-1 image packed by gzip",
    magic: &[],
    weak_magic: &[&[0x1f, 0x8b]],
    size: |dims, dtype, _, _| dense::bytes_for(dims, dtype).map(FileSize::at_most),
    memory: |_, _, threads, _| packed::queue_bytes(threads),
    write: Write::Forward(|source, out, dtype, options| {
        let head = head(source, dtype, options)?;
        scan_order::write(source, |cells| {
            packed::gzip_cells(cells, &head, out, dtype, options)
        })
    }),
    ..FORMAT
};

fn limits(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    let Some(lattice) = lattice else {
        return Ok(());
    };
    if lattice.dims().iter().all(|n| *n <= MOST) {
        return Ok(());
    }
    let text = format!("a NIfTI image has at most {MOST} cells along an axis");
    Err(Error::usage(text).with_hint("use larger cells, or save as .nrrd"))
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    out.write_all(&head(source, dtype, options)?)?;
    scan_order::write(source, |cells| {
        dense::write(cells, out, dtype, options.progress)
    })
}

/// Returns all bytes that precede the cells.
fn head(source: &dyn CellSource, dtype: Dtype, options: &SaveOptions) -> io::Result<Vec<u8>> {
    if source.dims().iter().any(|n| *n > MOST) {
        return Err(io::Error::other(
            limits(source.lattice(), options.choices)
                .err()
                .unwrap_or_else(|| Error::usage("too large")),
        ));
    }
    let mut json = described(source, dtype).into_bytes();
    // The size of the extension must be a multiple of 16 bytes. It includes the length and the code.
    json.resize((json.len() + 8).next_multiple_of(16) - 8, 0);
    let extension = json.len() as u32 + 8;
    let header = header(source, dtype, HEADER as u32 + 4 + extension);
    Ok([
        &header,
        &[1, 0, 0, 0][..],
        &extension.to_le_bytes(),
        &COMMENT.to_le_bytes(),
        &json,
    ]
    .concat())
}

fn put(header: &mut [u8; HEADER], at: usize, bytes: &[u8]) {
    header[at..at + bytes.len()].copy_from_slice(bytes);
}

fn put_floats(header: &mut [u8; HEADER], at: usize, values: &[f32]) {
    for (n, value) in values.iter().enumerate() {
        put(header, at + 4 * n, &value.to_le_bytes());
    }
}

fn header(source: &dyn CellSource, dtype: Dtype, begin: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    put(&mut header, 0, &(HEADER as u32).to_le_bytes());
    let axes = scan_order::axes_of(source.record());
    let dims = scan_order::array_dims(source.dims(), axes).map(|n| n as u16);
    let shape = [3, dims[0], dims[1], dims[2], 1, 1, 1, 1];
    for (n, size) in shape.into_iter().enumerate() {
        put(&mut header, 40 + 2 * n, &size.to_le_bytes());
    }
    if let (CellType::Labels(_), Dtype::U8) = (source.cell_type(), dtype) {
        put(&mut header, 68, &1002_u16.to_le_bytes());
    }
    let [kind, bits] = if dtype == Dtype::F32 {
        [16_u16, 32]
    } else {
        [2, 8]
    };
    put(&mut header, 70, &kind.to_le_bytes());
    put(&mut header, 72, &bits.to_le_bytes());
    let place = source.lattice().map(|lattice| {
        let place = place_of(lattice, source.record());
        let sizes = axes.map(|(axis, _)| lattice.spacing()[axis].to_f32());
        (place, sizes)
    });
    let [sx, sy, sz] = place.as_ref().map_or([1.0; 3], |(_, sizes)| *sizes);
    let rotation = place.as_ref().map(|(place, _)| rotation(&place.steps));
    let sign = rotation.map_or(1.0, |(_, sign)| sign);
    put_floats(&mut header, 76, &[sign, sx, sy, sz]);
    let slope = if shares::are_bytes(source.cell_type(), dtype) {
        SLOPE_OF_SHARES
    } else {
        1.0
    };
    put_floats(&mut header, 108, &[begin as f32, slope, 0.0]);
    let unit = source.record().transform("unit");
    let unit = UNITS
        .iter()
        .position(|known| known.is_some() && *known == unit);
    put(&mut header, 123, &[unit.unwrap_or(0) as u8]);
    put(&mut header, 148, b"voxelize");
    if let (Some((place, _)), Some(([b, c, d], _))) = (&place, rotation) {
        let [x, y, z] = place.centre.each_ref().map(Rational::to_f32);
        put(&mut header, 252, &[1, 0, 1, 0]);
        put_floats(&mut header, 256, &[b, c, d, -x, -y, z]);
        for (row, centre) in [-x, -y, z].into_iter().enumerate() {
            let [u, v, w] = place.steps.each_ref().map(|step| {
                // A zero must not get a sign.
                let part = if row == 2 {
                    step[row].clone()
                } else {
                    -&step[row]
                };
                part.to_f32()
            });
            put_floats(&mut header, 280 + 16 * row, &[u, v, w, centre]);
        }
    }
    put(&mut header, 344, b"n+1\0");
    header
}

/// Returns the last three numbers of the quaternion of the rotation of an image with these steps, and −1 if the
/// third axis is reversed after the rotation, otherwise 1. Both are for coordinates in which x points to the
/// right and y to the front.
fn rotation(steps: &[[Rational; 3]; 3]) -> ([f32; 3], f32) {
    let mut columns = steps.each_ref().map(|step| {
        let [x, y, z] = step.each_ref().map(Rational::to_f64);
        let length = x.hypot(y).hypot(z);
        [0.0 - x / length, 0.0 - y / length, z / length]
    });
    let [a, b, c] = columns;
    let volume = a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0]);
    let sign = if volume < 0.0 { -1.0 } else { 1.0 };
    columns[2] = columns[2].map(|part| 0.0 + part * sign);
    let at = |row: usize, column: usize| columns[column][row];
    // Four times the square of each number of the quaternion. The largest number is computed first.
    let squares = [
        1.0 + at(0, 0) + at(1, 1) + at(2, 2),
        1.0 + at(0, 0) - at(1, 1) - at(2, 2),
        1.0 + at(1, 1) - at(0, 0) - at(2, 2),
        1.0 + at(2, 2) - at(0, 0) - at(1, 1),
    ];
    let mut best = 0;
    for n in 1..4 {
        if squares[n] > squares[best] {
            best = n;
        }
    }
    let double = squares[best].max(0.0).sqrt();
    let half = 0.5 * double;
    let sums = [
        [
            squares[0],
            at(2, 1) - at(1, 2),
            at(0, 2) - at(2, 0),
            at(1, 0) - at(0, 1),
        ],
        [
            at(2, 1) - at(1, 2),
            squares[1],
            at(0, 1) + at(1, 0),
            at(0, 2) + at(2, 0),
        ],
        [
            at(0, 2) - at(2, 0),
            at(0, 1) + at(1, 0),
            squares[2],
            at(1, 2) + at(2, 1),
        ],
        [
            at(1, 0) - at(0, 1),
            at(0, 2) + at(2, 0),
            at(1, 2) + at(2, 1),
            squares[3],
        ],
    ];
    let mut quaternion = sums[best].map(|sum| 0.5 * sum / double);
    quaternion[best] = half;
    // The first number is not stored. It must not be negative.
    let flip = if quaternion[0] < 0.0 { -1.0 } else { 1.0 };
    let [_, b, c, d] = quaternion.map(|part| (flip * part) as f32 + 0.0);
    ([b, c, d], sign as f32)
}

/// Header of a file, and the JSON of this tool if the file has it.
struct NiftiHeader {
    bytes: [u8; HEADER],
    json: Option<String>,
    is_packed: bool,
}

impl NiftiHeader {
    fn read(source: &mut VoxelSource) -> Result<Self> {
        source.seek(0)?;
        let start: [u8; 2] = source.bytes()?;
        source.seek(0)?;
        match start {
            [0x1f, 0x8b] => Self::from(&mut MultiGzDecoder::new(source), true),
            _ => Self::from(source, false),
        }
    }

    fn from(input: &mut dyn Read, is_packed: bool) -> Result<Self> {
        let mut bytes = [0; HEADER];
        input.read_exact(&mut bytes).map_err(failure)?;
        let mut header = Self {
            bytes,
            json: None,
            is_packed,
        };
        if header.u32(0) != HEADER as u32 || header.bytes[344..347] != *b"n+1" {
            let error = Error::input(
                Code::V003,
                "not the header of a little-endian NIfTI-1 image in one file",
            );
            return Err(error.with_hint("save it as .nii or .nii.gz of NIfTI-1"));
        }
        let mut left = header.begin()?.saturating_sub(HEADER as u64 + 4);
        let mut flag = [0; 4];
        if input.read_exact(&mut flag).is_err() || flag[0] == 0 {
            return Ok(header);
        }
        while left >= 16 {
            let mut start = [0; 8];
            input.read_exact(&mut start).map_err(failure)?;
            let [length, code] = [0, 4].map(|at| u32_at(&start, at));
            let length = u64::from(length);
            if length < 8 || length > left || length > MAX_JSON {
                break;
            }
            let mut text = vec![];
            input
                .take(length - 8)
                .read_to_end(&mut text)
                .map_err(failure)?;
            left -= length;
            let text = String::from_utf8_lossy(&text);
            let text = text.trim_end_matches('\0');
            if code == COMMENT && text.starts_with('{') && text.contains("\"dims\"") {
                header.json = Some(text.to_string());
            }
        }
        Ok(header)
    }

    fn u32(&self, at: usize) -> u32 {
        u32_at(&self.bytes, at)
    }

    fn i16(&self, at: usize) -> i16 {
        i16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    fn float(&self, at: usize) -> f32 {
        f32::from_bits(self.u32(at))
    }

    /// Returns the float at an offset as an exact number.
    fn exact(&self, at: usize) -> Result<Rational> {
        let value = self.float(at);
        Rational::from_f32(value).ok_or_else(|| {
            Error::input(Code::V004, format!("expected a number, found {value}")).at_byte(at as u64)
        })
    }

    /// Returns the offset of the cells in the file.
    fn begin(&self) -> Result<u64> {
        let begin = self.float(108);
        if begin.fract() == 0.0 && (352.0..1e15).contains(&begin) {
            return Ok(begin as u64);
        }
        Err(Error::input(
            Code::V003,
            format!("its cells begin at byte {begin}, not after the header"),
        )
        .at_byte(108))
    }

    /// Returns `true` if the file has a qform or an sform, and so states the position of its cells.
    fn is_placed(&self) -> bool {
        self.i16(252) > 0 || self.i16(254) > 0
    }

    /// Returns `true` if the bytes are shares of cells in 255ths.
    fn is_of_shares(&self) -> bool {
        [self.float(112), self.float(116)] == [SLOPE_OF_SHARES, 0.0]
    }

    fn dims(&self) -> Result<[usize; 3]> {
        let all: [i16; 8] = std::array::from_fn(|n| self.i16(40 + 2 * n));
        let axes = usize::try_from(all[0]).unwrap_or(0);
        let sizes = [all[1], all[2], all[3]].map(|n| usize::try_from(n).unwrap_or(0));
        let more = all.get(4..=axes.min(7)).unwrap_or_default();
        if !(3..=7).contains(&axes) || sizes.contains(&0) || more.iter().any(|n| *n != 1) {
            let text = format!("the image has the sizes {:?}, not three axes", &all[1..]);
            return Err(Error::input(Code::V004, text)
                .at_byte(40)
                .with_hint("save a single volume"));
        }
        Ok(sizes)
    }

    fn data(&self) -> Result<ImageData> {
        let kind = self.i16(70);
        // A slope of 0 means that the values are not scaled.
        let is_plain = matches!([self.float(112), self.float(116)], [0.0 | 1.0, 0.0]);
        let dtype = match kind {
            2 if is_plain || self.is_of_shares() => Some(Dtype::U8),
            16 if is_plain => Some(Dtype::F32),
            _ => None,
        };
        let type_name = match kind {
            2 | 16 if !is_plain => "scaled".to_string(),
            4 => "int16".into(),
            8 => "int32".into(),
            64 => "float64".into(),
            128 => "rgb24".into(),
            256 => "int8".into(),
            512 => "uint16".into(),
            768 => "uint32".into(),
            1024 => "int64".into(),
            1280 => "uint64".into(),
            other => other.to_string(),
        };
        Ok(ImageData {
            frame: self.frame()?,
            dtype,
            type_name,
            is_packed: self.is_packed,
            skip: self.begin()?,
        })
    }

    fn frame(&self) -> Result<ImageFrame> {
        let dims = self.dims()?;
        let sizes = self.vector([80, 84, 88])?;
        let (mut steps, mut centre) = if self.i16(254) > 0 {
            let [x, y, z, centre] =
                [0, 4, 8, 12].map(|column| [280, 296, 312].map(|row| row + column));
            let steps = [self.vector(x)?, self.vector(y)?, self.vector(z)?];
            (steps, self.vector(centre)?)
        } else if self.i16(252) > 0 {
            (self.turned(&sizes)?, self.vector([268, 272, 276])?)
        } else {
            // If only sizes are known, the axes are taken as x, y and z.
            let mut steps = ZERO_STEPS;
            for (n, size) in sizes.into_iter().enumerate() {
                steps[n][n] = size;
            }
            return ImageFrame::new(dims, &[Rational::ZERO; 3], &steps);
        };
        // Conversion from RAS to LPS coordinates.
        for vector in steps.iter_mut().chain([&mut centre]) {
            for part in &mut vector[..2] {
                *part = -&*part;
            }
        }
        ImageFrame::new(dims, &centre, &steps)
    }

    /// Returns the floats at three offsets as exact numbers.
    fn vector(&self, [x, y, z]: [usize; 3]) -> Result<[Rational; 3]> {
        Ok([self.exact(x)?, self.exact(y)?, self.exact(z)?])
    }

    /// Returns the step vectors for cells of these sizes, rotated by the quaternion of the qform.
    fn turned(&self, sizes: &[Rational; 3]) -> Result<[[Rational; 3]; 3]> {
        let [b, c, d] = [256, 260, 264].map(|at| f64::from(self.float(at)));
        let a = (1.0 - b * b - c * c - d * d).max(0.0).sqrt();
        let last = if self.float(76) < 0.0 { -1.0 } else { 1.0 };
        let rows = [
            [
                a * a + b * b - c * c - d * d,
                2.0 * (b * c - a * d),
                2.0 * (b * d + a * c),
            ],
            [
                2.0 * (b * c + a * d),
                a * a + c * c - b * b - d * d,
                2.0 * (c * d - a * b),
            ],
            [
                2.0 * (b * d - a * c),
                2.0 * (c * d + a * b),
                a * a + d * d - b * b - c * c,
            ],
        ];
        let mut steps = ZERO_STEPS;
        for (n, (step, size)) in steps.iter_mut().zip(sizes).enumerate() {
            let sign = if n == 2 { last } else { 1.0 };
            for (part, row) in step.iter_mut().zip(&rows) {
                // Rotations by right angles must be exact, so values close to -1, 0 and 1 are rounded.
                let mut cosine = row[n] * sign;
                if (cosine - cosine.round()).abs() < 1e-6 {
                    cosine = cosine.round();
                }
                let cosine = Rational::from_f64(cosine).ok_or_else(|| {
                    Error::input(Code::V004, "the qform is not a rotation").at_byte(256)
                })?;
                *part = &cosine * size;
            }
        }
        Ok(steps)
    }

    /// Returns the metadata in the JSON of this tool. Returns the default if the JSON describes other cells.
    fn metadata(&self, frame: &ImageFrame) -> Result<Metadata> {
        let mut metadata = parse_metadata(self.json.as_deref(), frame.lattice.dims())?;
        if shares::are_stated(&metadata) && !self.is_of_shares() {
            // Another program kept the header of this tool but replaced the cells.
            metadata = Metadata::default();
        }
        // Without qform and sform only the sizes of the cells are known. That is enough for images of other
        // programs. In an image of this tool it means that the position was removed.
        let is_stated = metadata.dims.is_none() || self.is_placed();
        // The lower three bits are the unit of length. The bits above them are the unit of time.
        take_unit(&mut metadata, UNITS[usize::from(self.bytes[123] & 7)]);
        frame.set_place(&mut metadata, is_stated, |exact| exact.to_f32().into());
        if self.i16(70) == 2 && self.is_of_shares() {
            shares::annotate(&mut metadata);
        }
        Ok(metadata)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let header = NiftiHeader::read(source)?;
    let data = header.data()?;
    source.seek(if header.is_packed { 0 } else { data.skip })?;
    let metadata = header.metadata(&data.frame)?;
    data.read(source, metadata)
}

fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let header = NiftiHeader::read(source)?;
    let data = header.data()?;
    let metadata = header.metadata(&data.frame)?;
    Ok(data.describe(metadata, header.is_placed()))
}
