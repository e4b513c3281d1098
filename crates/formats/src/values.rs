//! Requested numbers for cells, such as −1, 0 and 1 for outside, surface and interior. Labels are converted
//! to these numbers when an array is written, and back when it is read. The sidecar lists the numbers as
//! `"values": "-1,0,1"`.

use std::io::{self, Read, Write};
use std::ops::RangeInclusive;

use super::{Dtype, FORMATS, Format, SaveOptions, dense};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellSource, CellType, LabelDigest};

/// Metadata key for the list of numbers.
const VALUES: &str = "values";

/// Byte for empty cells, followed by the byte for each label. If there are two bytes, the second one stands
/// for all occupied cells.
struct ValueTable(Vec<u8>);

/// Returns the range of numbers that a type can store. `None` if numbers cannot be requested for this type.
fn range(dtype: Dtype) -> Option<RangeInclusive<i16>> {
    match dtype {
        Dtype::I8 => Some(-128..=127),
        Dtype::U8 => Some(0..=255),
        _ => None,
    }
}

impl Format {
    /// Returns `true` if numbers can be requested for the cells; see [`SaveOptions::values`].
    pub fn takes_values(&self) -> bool {
        self.dtypes.contains(&Dtype::I8)
    }

    /// Checks the numbers that are requested to stand for empty cells and for labels.
    ///
    /// # Errors
    /// Fails if numbers cannot be requested for the format, if a number does not fit into the type, or if a
    /// number is listed twice.
    pub fn check_values(&self, dtype: Dtype, values: &[i16]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        if !self.takes_values() {
            let known: Vec<_> = FORMATS
                .iter()
                .filter(|format| format.takes_values())
                .map(|f| f.name)
                .collect();
            return Err(Error::usage(format!(
                "the values of cells of {} cannot be chosen",
                self.name
            ))
            .with_hint(format!("those of {} can", known.join(", "))));
        }
        checked(dtype, values).map(drop).map_err(Error::usage)
    }
}

/// Returns the bytes for these numbers.
fn checked(dtype: Dtype, values: &[i16]) -> std::result::Result<ValueTable, String> {
    let name = dtype.name();
    let range =
        range(dtype).ok_or_else(|| format!("values are stored as i8 or u8, not as {name}"))?;
    if !(2..=256).contains(&values.len()) {
        return Err(
            "at least two values are needed: one for empty cells, then those of occupied cells"
                .into(),
        );
    }
    for (n, value) in values.iter().enumerate() {
        if !range.contains(value) {
            return Err(format!(
                "the value {value} does not fit {name}: {} to {}",
                range.start(),
                range.end()
            ));
        }
        if values[..n].contains(value) {
            return Err(format!(
                "the value {value} occurs twice: cells could not be distinguished"
            ));
        }
    }
    // The cast stores negative numbers in two's complement.
    Ok(ValueTable(
        values.iter().map(|value| *value as u8).collect(),
    ))
}

/// Returns `true` if labels can be told apart in cells that are stored with these options.
pub(super) fn keep_labels(dtype: Dtype, options: &SaveOptions) -> bool {
    range(dtype).is_some() && options.values.len() != 2
}

/// Returns `true` if a file of cells that are stored with these options contains all data from which the
/// digest is computed.
pub(super) fn keep_digest(cells: CellType, dtype: Dtype, options: &SaveOptions) -> bool {
    match cells {
        CellType::Labels(legend) => {
            legend.digest() == LabelDigest::Occupancy || keep_labels(dtype, options)
        }
        // Shares that are stored as bytes are rounded.
        CellType::Field { .. } => dtype == Dtype::F32,
        _ => true,
    }
}

/// Fails if no number is requested for one of the labels.
pub(super) fn check_labels(cells: CellType, dtype: Dtype, options: &SaveOptions) -> Result<()> {
    let CellType::Labels(legend) = cells else {
        return Ok(());
    };
    if !keep_labels(dtype, options) {
        return Ok(());
    }
    let most = most_label(dtype, options.values);
    match legend.labels().iter().find(|label| label.value > most) {
        Some(label) => Err(no_value(label.value)),
        None => Ok(()),
    }
}

/// Returns the greatest label that can be stored with these values.
fn most_label(dtype: Dtype, values: &[i16]) -> u8 {
    match values.len() {
        0 if dtype == Dtype::I8 => 127,
        0 => 255,
        count => (count - 1) as u8,
    }
}

fn no_value(label: u8) -> Error {
    Error::usage(format!("label {label} has no value"))
        .with_hint("give one for empty cells and one for each label from 1 on")
}

/// Adds the list of requested numbers to the metadata.
pub(super) fn annotate(options: &SaveOptions, metadata: &mut Metadata) {
    if !options.values.is_empty() {
        let words: Vec<_> = options.values.iter().map(i16::to_string).collect();
        metadata.extra.insert(VALUES.into(), words.join(","));
    }
}

/// Writes an array of cells as the requested numbers. x varies fastest.
pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let table = match options.values {
        [] if dtype == Dtype::I8 => ValueTable((0..=127).collect()),
        [] => return dense::write(source, out, dtype, options.progress),
        values => checked(dtype, values).map_err(|why| io::Error::other(Error::usage(why)))?,
    };
    let labels = if keep_labels(dtype, options) {
        Dtype::U8
    } else {
        Dtype::Bool
    };
    dense::write(
        source,
        &mut ValueWriter {
            out,
            table,
            block: vec![],
        },
        labels,
        options.progress,
    )
}

/// Writer that converts labels to the requested numbers.
struct ValueWriter<'a> {
    out: &'a mut dyn Write,
    table: ValueTable,
    block: Vec<u8>,
}

impl Write for ValueWriter<'_> {
    fn write(&mut self, labels: &[u8]) -> io::Result<usize> {
        let Self {
            out,
            table: ValueTable(bytes),
            block,
        } = self;
        let most = labels.iter().copied().max().unwrap_or(0);
        if usize::from(most) >= bytes.len() {
            return Err(io::Error::other(no_value(most)));
        }
        block.clear();
        block.extend(labels.iter().map(|label| bytes[usize::from(*label)]));
        out.write_all(block)?;
        Ok(labels.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Calls `read` with an input from which it reads labels. If `metadata` lists requested numbers, the input
/// converts them to labels.
pub(super) fn read<T>(
    input: &mut dyn Read,
    dtype: Dtype,
    metadata: Option<&Metadata>,
    read: impl FnOnce(&mut dyn Read) -> Result<T>,
) -> Result<T> {
    let Some(text) = metadata.and_then(|metadata| metadata.extra.get(VALUES)) else {
        return read(input);
    };
    let values: Option<Vec<i16>> = text
        .split(',')
        .map(|word| word.trim().parse().ok())
        .collect();
    let table = match values {
        Some(values) => checked(dtype, &values),
        None => Err("they are not numbers".to_string()),
    };
    let ValueTable(bytes) = table.map_err(|why| {
        Error::input(
            Code::V007,
            format!("the values '{}' of the sidecar: {why}", sanitize(text)),
        )
    })?;
    let mut labels = [None; 256];
    for (label, byte) in bytes.into_iter().enumerate() {
        labels[usize::from(byte)] = Some(label as u8);
    }
    read(&mut ValueReader { input, labels })
}

/// Returns `true` if `metadata` lists requested numbers.
pub(super) fn are_stated(metadata: &Metadata) -> bool {
    metadata.extra.contains_key(VALUES)
}

/// Reader that converts the requested numbers to labels.
struct ValueReader<'a> {
    input: &'a mut dyn Read,
    labels: [Option<u8>; 256],
}

impl Read for ValueReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(bytes)?;
        for byte in &mut bytes[..count] {
            *byte = self.labels[usize::from(*byte)].ok_or_else(|| {
                let text = format!("byte {byte} is not in the sidecar's list of values");
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?;
        }
        Ok(count)
    }
}
