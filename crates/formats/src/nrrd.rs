//! `.nrrd`, the image format of Teem, 3D Slicer and ITK: lines of text, an empty line, and the cells.
//!
//! | line | content |
//! |---|---|
//! | `NRRD0005` | the version; 1 to 5 are read |
//! | `type: uint8` | 0 and 1 as bool; labels as u8, 0 for empty cells; `float` for a field |
//! | `dimension: 3`, `sizes: nx ny nz` | x fastest |
//! | `space: left-posterior-superior` | x to the left, y to the back, z up |
//! | `space directions: (sx,0,0) (0,sy,0) (0,0,sz)` | the steps from cell to cell along each axis of the array; for a scan, its steps |
//! | `space origin: (x,y,z)` | the centre of the first cell, as the nearest doubles |
//! | `space units: "m" "m" "m"` | the unit, if known |
//! | `kinds: domain domain domain`, `endian: little` | |
//! | `encoding: gzip` | `raw` on request |
//! | `Segment0_Name:=bone` … | labels as segments of 3D Slicer: name, number, colour, extent; in a `.seg.nrrd` bits are one segment, named after the mesh |
//! | `voxelize:={…}` | the exact lattice and the record of how the grid was made, as JSON; `\` is written `\\` |
//!
//! Files of other programs can be read if their axes are perpendicular, in any order and direction. The space must be LPS, RAS, or have no name, which counts as LPS. Coordinates in a named space are in mm
//! unless `space units` states another unit. `.nhdr` files can only be described, because their cells are in
//! another file.
//!
//! <https://teem.sourceforge.net/nrrd/format.html>

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use super::dense;
use super::image::{ImageData, ImageFrame, described, parse_metadata, place_of, take_unit};
use super::npy;
use super::open::{VoxelSource, failure};
use super::packed;
use super::scan_order;
use super::{Choice, Dtype, Format, FrameSupport, Reader, SaveOptions, Write};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellSource, CellType, Label, Legend};
use voxelize_core::text::file_label;

/// Maximum size of a header that is read, in bytes.
const MAX_HEADER: u64 = 1 << 20;

/// Key of the JSON that this tool writes.
const KEY: &str = "voxelize";

/// Names of units in files, each with the name that this tool uses.
const UNITS: [(&[&str], &str); 6] = [
    (&["um", "µm", "μm", "micron", "microns"], "um"),
    (&["mm"], "mm"),
    (&["cm"], "cm"),
    (&["m"], "m"),
    (&["in"], "in"),
    (&["ft"], "ft"),
];

pub(super) const FORMAT: Format = Format {
    name: "nrrd",
    extensions: &["nrrd"],
    about: "image of 3D Slicer and ITK, packed by gzip; mesh coordinates are LPS",
    dtypes: &[Dtype::Bool, Dtype::U8],
    choices: &[Choice::Uncompressed],
    magic: &[b"NRRD000"],
    size: |dims, dtype, _, choices| packed::size(dims, dtype, choices),
    memory: |_, _, threads, choices| packed::memory(threads, choices),
    frames: FrameSupport::Header,
    write: Write::Forward(write),
    annotate: npy::annotate,
    reader: Some(Reader {
        cells: read,
        describe,
    }),
    ..Format::BASE
};

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let is_packed = !options.has(Choice::Uncompressed);
    out.write_all(header(source, dtype, options).as_bytes())?;
    scan_order::write(source, |cells| {
        if is_packed {
            packed::gzip_cells(cells, &[], out, dtype, options)
        } else {
            dense::write(cells, out, dtype, options.progress)
        }
    })
}

fn header(source: &dyn CellSource, dtype: Dtype, options: &SaveOptions) -> String {
    let encoding = if options.has(Choice::Uncompressed) {
        "raw"
    } else {
        "gzip"
    };
    let dims = scan_order::array_dims(source.dims(), scan_order::axes_of(source.record()));
    let [nx, ny, nz] = dims;
    let kind = if dtype == Dtype::F32 {
        "float"
    } else {
        "uint8"
    };
    let mut text = format!("NRRD0005\ntype: {kind}\ndimension: 3\n");
    if let Some(lattice) = source.lattice() {
        let place = place_of(lattice, source.record());
        let directions = place.steps.each_ref().map(vector).join(" ");
        let centre = vector(&place.centre);
        text += &format!(
            "space: left-posterior-superior\nsizes: {nx} {ny} {nz}\nspace directions: {directions}\n\
             kinds: domain domain domain\nendian: little\nencoding: {encoding}\nspace origin: {centre}\n"
        );
        if let Some(unit) = source.record().transform("unit") {
            text += &format!("space units: \"{unit}\" \"{unit}\" \"{unit}\"\n");
        }
    } else {
        text += &format!("sizes: {nx} {ny} {nz}\nendian: little\nencoding: {encoding}\n");
    }
    if let (CellType::Labels(legend), Dtype::U8) = (source.cell_type(), dtype) {
        text += &segments(legend, dims);
    } else if options.is_segmentation && matches!(source.cell_type(), CellType::Bits) {
        text += &segments(&of_input(source.record().input.as_deref()), dims);
    }
    let json = described(source, dtype);
    text + KEY + ":=" + &json.replace('\\', r"\\") + "\n\n"
}

/// Returns a vector as `(x,y,z)`, as the nearest doubles.
fn vector(parts: &[Rational; 3]) -> String {
    let [x, y, z] = parts.each_ref().map(Rational::to_f64);
    format!("({x},{y},{z})")
}

/// Returns the legend for a grid of bits. It has one label, which is named after the input files.
fn of_input(input: Option<&str>) -> Legend {
    let names: Vec<_> = input
        .unwrap_or("mesh")
        .split(", ")
        .map(file_label)
        .collect();
    Legend::new([Label::new(1, names.join(", "))]).expect("one label is a legend")
}

/// Returns the header lines that describe the labels as segments of 3D Slicer.
fn segments(legend: &Legend, [nx, ny, nz]: [usize; 3]) -> String {
    let mut text = String::from("Segmentation_MasterRepresentation:=Binary labelmap\n");
    for (n, label) in legend.labels().iter().enumerate() {
        let colour = label
            .standard_colour()
            .unwrap_or(legend.colour(label.value));
        let [r, g, b] = colour.map(|channel| f64::from(channel) / 255.0);
        let name: String = label
            .name
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        text += &format!(
            "Segment{n}_ID:=Segment_{}\nSegment{n}_Name:={}\nSegment{n}_LabelValue:={}\nSegment{n}_Layer:=0\n\
             Segment{n}_Color:={r:.6} {g:.6} {b:.6}\nSegment{n}_Extent:=0 {} 0 {} 0 {}\n",
            label.value,
            name.replace('\\', r"\\"),
            label.value,
            nx - 1,
            ny - 1,
            nz - 1
        );
    }
    text
}

/// Fields and keys in a header.
#[derive(Default)]
struct NrrdHeader {
    fields: BTreeMap<String, String>,
    keys: BTreeMap<String, String>,
    /// Size of the header in bytes.
    length: u64,
}

impl NrrdHeader {
    fn read(source: &mut VoxelSource) -> Result<Self> {
        let mut header = Self::default();
        let mut reader = BufReader::with_capacity(4096, source.input().take(MAX_HEADER));
        let mut line = vec![];
        for n in 1_u64.. {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(failure)?;
            header.length += length as u64;
            if length == 0 {
                // A detached header is a separate file, so it may end without the empty line that precedes
                // cells.
                break;
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']);
            if text.is_empty() {
                break;
            }
            if n == 1 || text.starts_with('#') {
                continue;
            }
            let key = text
                .find(":=")
                .filter(|at| text.find(": ").is_none_or(|field| *at < field));
            match (key, text.split_once(':')) {
                (Some(at), _) => {
                    header
                        .keys
                        .insert(text[..at].to_string(), unescaped(&text[at + 2..]));
                }
                (None, Some((field, value))) => {
                    header
                        .fields
                        .insert(field.trim().to_lowercase(), value.trim().to_string());
                }
                (None, None) => {
                    let text = format!("'{}' is not a field of NRRD", sanitize(text));
                    return Err(Error::input(Code::V003, text).at_line(n));
                }
            }
        }
        if header.length >= MAX_HEADER {
            return Err(Error::input(
                Code::V003,
                format!("the header has more than {MAX_HEADER} bytes"),
            ));
        }
        Ok(header)
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    fn bad(&self, name: &str, why: &str) -> Error {
        let value = self.field(name).unwrap_or("not there");
        Error::input(
            Code::V004,
            format!(
                "the field '{name}' of the NRRD is {}: {why}",
                sanitize(value)
            ),
        )
    }

    fn dims(&self) -> Result<[usize; 3]> {
        let words = self.field("sizes").unwrap_or_default().split_whitespace();
        let sizes: Option<Vec<usize>> = words
            .map(|word| word.parse().ok().filter(|n| *n > 0))
            .collect();
        match sizes.map(<[usize; 3]>::try_from) {
            Some(Ok(sizes)) => Ok(sizes),
            _ => Err(self.bad("sizes", "a grid has three sizes")),
        }
    }

    fn data(&self) -> Result<ImageData> {
        let kind = self.field("type").unwrap_or_default();
        let dtype = match kind {
            "uint8" | "uint8_t" | "uchar" | "unsigned char" => Some(Dtype::U8),
            "float" if self.field("endian") != Some("big") => Some(Dtype::F32),
            _ => None,
        };
        Ok(ImageData {
            frame: self.frame()?,
            dtype,
            type_name: kind.to_string(),
            is_packed: matches!(self.field("encoding"), Some("gzip" | "gz")),
            skip: 0,
        })
    }

    /// Returns `true` if the header states the position of the cells, not only their sizes.
    fn is_placed(&self) -> bool {
        ["space", "space directions", "space origin"]
            .iter()
            .any(|name| self.field(name).is_some())
    }

    fn frame(&self) -> Result<ImageFrame> {
        let dims = self.dims()?;
        let is_reversed = match self.field("space").map(str::to_lowercase).as_deref() {
            None | Some("left-posterior-superior" | "lps") => [false, false, false],
            Some("right-anterior-superior" | "ras") => [true, true, false],
            Some("left-anterior-superior" | "las") => [false, true, false],
            Some(_) => return Err(self.bad("space", "known are LPS, RAS and LAS")),
        };
        let steps = match (self.field("space directions"), self.field("spacings")) {
            (Some(directions), _) => {
                let steps: Option<Vec<_>> = vectors(directions).collect();
                let Some(Ok(steps)) = steps.map(<[[Rational; 3]; 3]>::try_from) else {
                    return Err(self.bad("space directions", "three vectors are expected"));
                };
                steps.map(|step| turned(step, is_reversed))
            }
            (None, Some(spacings)) => {
                let sizes: Option<Vec<_>> = spacings.split_whitespace().map(number).collect();
                let Some(Ok([x, y, z])) = sizes.map(<[Rational; 3]>::try_from) else {
                    return Err(self.bad("spacings", "three numbers are expected"));
                };
                [along(0, x), along(1, y), along(2, z)]
            }
            (None, None) => [0, 1, 2].map(|axis| along(axis, Rational::ONE)),
        };
        let centre = match self.field("space origin") {
            Some(text) => {
                let Some(centre) = vectors(text).next().flatten() else {
                    return Err(self.bad("space origin", "a vector is expected"));
                };
                turned(centre, is_reversed)
            }
            None => [Rational::ZERO; 3],
        };
        ImageFrame::new(dims, &centre, &steps)
    }

    /// Returns the unit that the file states. If the space has a name and no unit is stated, the unit is the
    /// millimetre.
    fn unit(&self) -> Option<&'static str> {
        let Some(all) = self.field("space units").or(self.field("units")) else {
            return self.field("space").map(|_| "mm");
        };
        let mut words = all.split_whitespace().map(|word| word.trim_matches('"'));
        let first = words.next()?;
        if words.any(|word| word != first) {
            return None;
        }
        let unit = UNITS.iter().find(|(names, _)| names.contains(&first));
        unit.map(|(_, unit)| *unit)
    }

    /// Returns the metadata of the cells from the JSON of this tool. If there is none, returns the legend of
    /// 3D Slicer's segments.
    fn metadata(&self, frame: &ImageFrame) -> Result<Metadata> {
        let mut metadata =
            parse_metadata(self.keys.get(KEY).map(String::as_str), frame.lattice.dims())?;
        let is_stated = ["space directions", "spacings"]
            .iter()
            .any(|name| self.field(name).is_some());
        take_unit(&mut metadata, self.unit());
        frame.set_place(&mut metadata, is_stated, Rational::to_f64);
        if metadata.dims.is_none() {
            metadata.legend = self.legend();
        }
        Ok(metadata)
    }

    /// Returns the legend of 3D Slicer's segments. `None` if the header describes no segments.
    fn legend(&self) -> Option<Legend> {
        let labels: Vec<_> = (0..).map_while(|n| self.segment(n)).collect();
        if labels.is_empty() {
            return None;
        }
        Legend::new(labels).ok()
    }

    /// Returns segment `n` as a label. `None` if the header does not describe it.
    fn segment(&self, n: usize) -> Option<Label> {
        let value: u8 = self.segment_key(n, "LabelValue")?.trim().parse().ok()?;
        if value == 0 {
            return None;
        }
        let name = self.segment_key(n, "Name").unwrap_or_default();
        let mut label = Label::new(value, name.to_string());
        let mut colour = Vec::new();
        for word in self
            .segment_key(n, "Color")
            .unwrap_or_default()
            .split_whitespace()
        {
            let Ok(share) = word.parse::<f64>() else {
                break;
            };
            colour.push((share * 255.0).round() as u8);
        }
        if let Ok(colour) = <[u8; 3]>::try_from(colour) {
            label = label.with_colour(colour);
        }
        Some(label)
    }

    fn segment_key(&self, n: usize, name: &str) -> Option<&str> {
        self.keys
            .get(&format!("Segment{n}_{name}"))
            .map(String::as_str)
    }
}

/// Negates the components of a vector whose axes are reversed.
fn turned(mut vector: [Rational; 3], is_reversed: [bool; 3]) -> [Rational; 3] {
    for (part, is_reversed) in vector.iter_mut().zip(is_reversed) {
        if is_reversed {
            *part = -&*part;
        }
    }
    vector
}

/// Returns the vector of length `size` along an axis.
fn along(axis: usize, size: Rational) -> [Rational; 3] {
    let mut vector = [Rational::ZERO; 3];
    vector[axis] = size;
    vector
}

/// Resolves the escapes in the value of a key. `\n` stands for a line break and `\\` for a backslash.
fn unescaped(text: &str) -> String {
    let mut value = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => value.push('\n'),
            Some(other) => value.push(other),
            None => {}
        }
    }
    value
}

/// Parses a number without rounding.
fn number(word: &str) -> Option<Rational> {
    Rational::parse_decimal(word.trim()).ok()
}

/// Parses vectors such as `(1,0,0) (0,1,0)`. The word `none` in place of a vector gives `None`.
fn vectors(text: &str) -> impl Iterator<Item = Option<[Rational; 3]>> {
    text.split(')')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let numbers: Option<Vec<_>> = part.strip_prefix('(')?.split(',').map(number).collect();
            <[Rational; 3]>::try_from(numbers?).ok()
        })
}

fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let header = NrrdHeader::read(source)?;
    if header.fields.contains_key("data file") || header.fields.contains_key("datafile") {
        let error = Error::input(Code::V004, "a header alone: its cells are in another file");
        let hint = [
            "save both as one .nrrd",
            "`--like FILE` takes the grid of the header",
        ];
        return Err(error.with_hint(hint));
    }
    let encoding = header.field("encoding").unwrap_or_default();
    if !matches!(encoding, "raw" | "gzip" | "gz") {
        return Err(header.bad("encoding", "raw and gzip are read"));
    }
    let data = header.data()?;
    source.seek(header.length)?;
    let metadata = header.metadata(&data.frame)?;
    data.read(source, metadata)
}

fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let header = NrrdHeader::read(source)?;
    let data = header.data()?;
    let metadata = header.metadata(&data.frame)?;
    Ok(data.describe(metadata, header.is_placed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_exact() {
        let found: Vec<_> = vectors("(0.1,0,0) (0,-2e-1,0) none (1,2)").collect();
        assert_eq!(
            found[0],
            Some([Rational::new(1, 10), Rational::ZERO, Rational::ZERO])
        );
        assert_eq!(
            found[1],
            Some([Rational::ZERO, Rational::new(-1, 5), Rational::ZERO])
        );
        assert_eq!(found[2], None);
    }
}
