//! `.npz`, a zip of arrays: `numpy.load("a.npz")["voxels"][x, y, z]`, with the lattice in arrays of its own.
//!
//! | member | type | content |
//! |---|---|---|
//! | `voxels.npy` | bool, u8 or float32, (nx, ny, nz) | the cells, as in a `.npy` |
//! | `origin.npy`, `spacing.npy` | float64, (3,) | outer corner of cell (0, 0, 0) and size of a cell, rounded |
//! | `origin_exact.npy`, `spacing_exact.npy` | text, (3,) | the same as fractions `p/q` |
//! | `closed.npy` | bool, (3,) | whether the last wall belongs to the lattice |
//! | `order.npy` | text, () | `xyz`: the order of the axes |
//! | `rule.npy`, `ties.npy`, `snap.npy`, `tool.npy`, `input.npy` | text, () | how the grid came about; absent if not known |
//! | `label_values.npy`, `label_names.npy`, `label_colours.npy` | u8, text, text, (n,) | the legend of labels; a colour is `#rrggbb` or empty |
//! | `label_digest.npy` | text, () | what digests of the labels cover, `occupancy` or `values` |
//! | `background.npy` | float32, () | the background of a field |
//!
//! Surface and interior of a filled grid have no legend in the file: u8 cells 1 and 2 of a grid that this tool
//! made by the rule filled are these.
//!
//! Members are deflated, fast, with the date 1980-01-01, so that equal grids make equal files; zip64
//! where it is needed. Without `voxels.npy` the only array in the file is read.

use std::io::{self, Read, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipArchive, ZipWriter};

use super::fail_once::FailOnce;
use super::npy::{self, Header};
use super::open::{Input, VoxelSource, failure, nameless};
use super::save::Sink;
use super::{Carries, Dtype, FileSize, Format, Reader, SaveOptions, Write, dense};
use crate::error::{Code, Error, Result, sanitize};
use crate::grid::metadata::{Metadata, hex, lattice_from_doubles, lattice_from_fractions, parse_hex};
use crate::grid::{CellKind, CellSource, Cells, Label, LabelDigest, Lattice, Legend, Record, Snap, Voxels};

pub(super) const FORMAT: Format = Format {
    name: "npz",
    extensions: &["npz"],
    about: "compressed NumPy archive: voxels[x, y, z] with origin, spacing and how it was made",
    carries: Carries::InFile,
    kinds: &CellKind::ALL,
    dtypes: &[Dtype::Bool, Dtype::U8],
    max_bytes: None,
    choices: &[],
    slab_layers: 1,
    magic: &[b"PK\x03\x04"],
    weak_magic: &[],
    limits: super::no_limits,
    warnings: super::no_warnings,
    size: |dims, dtype, _, _| dense::bytes_for(dims, dtype).map(FileSize::at_most),
    write: Write::Seeking(write),
    annotate: npy::annotate,
    reader: Some(Reader { cells: read, describe }),
};

/// The longest small member that is read.
const MAX_SMALL: u64 = 1 << 20;

/// Deflate makes at most 1032 bytes of one.
const MOST_DEFLATED: u64 = 1032;

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let mut zip = ZipWriter::new(FailOnce::new(out));
    // From here on sizes may not fit 32 bits, deflated noise being a little longer than it was.
    let large = dense::bytes_for(source.dims(), dtype).is_none_or(|bytes| bytes > 0xf000_0000);
    zip.start_file("voxels.npy", member().large_file(large))?;
    npy::write(source, &mut zip, dtype, options)?;
    for (name, bytes) in small_members(&super::metadata(source, dtype)) {
        zip.start_file(format!("{name}.npy"), member())?;
        zip.write_all(&bytes)?;
    }
    zip.finish()?;
    Ok(())
}

fn member() -> SimpleFileOptions {
    SimpleFileOptions::DEFAULT
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(1))
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix)
        .unix_permissions(0o644)
}

/// Everything but the cells.
fn small_members(metadata: &Metadata) -> Vec<(&'static str, Vec<u8>)> {
    let mut members = vec![("order", text(&[], &["xyz"]))];
    if let Some(lattice) = &metadata.lattice {
        for (name, exact, values) in
            [("origin", "origin_exact", lattice.origin()), ("spacing", "spacing_exact", lattice.spacing())]
        {
            let doubles = values.each_ref().map(|value| value.to_f64().to_le_bytes());
            members.push((name, [npy::header("<f8", &[3]), doubles.concat()].concat()));
            let fractions = values.each_ref().map(|value| value.to_string());
            members.push((exact, text(&[3], &fractions.each_ref().map(String::as_str))));
        }
        let closed = lattice.closed().map(u8::from);
        members.push(("closed", [npy::header("|b1", &[3]), closed.to_vec()].concat()));
    }
    let mut entries: Vec<_> = metadata.record.entries().collect();
    // So they have stood in files from the first, and equal grids make equal files.
    entries
        .sort_by_key(|(name, _)| ["tool", "input"].iter().position(|last| last == name).map_or(0, |n| n + 1));
    members.extend(entries.into_iter().map(|(name, value)| (name, text(&[], &[value]))));
    let is_known = |legend: &&Legend| is_filled(metadata) && **legend == Legend::surface_and_interior();
    if let Some(legend) = metadata.legend.as_ref().filter(|legend| !is_known(legend)) {
        members.extend(legend_members(legend));
    }
    if let Some(background) = metadata.background {
        members.push(("background", [npy::header("<f4", &[]), background.to_le_bytes().to_vec()].concat()));
    }
    members
}

fn legend_members(legend: &Legend) -> [(&'static str, Vec<u8>); 4] {
    let labels = legend.labels();
    let shape = [legend.labels().len()];
    let values = labels.iter().map(|label| label.value).collect();
    let names: Vec<&str> = labels.iter().map(|label| &*label.name).collect();
    let colours: Vec<String> = labels.iter().map(|label| label.colour.map_or(String::new(), hex)).collect();
    let colours: Vec<&str> = colours.iter().map(String::as_str).collect();
    [
        ("label_values", [npy::header("|u1", &shape), values].concat()),
        ("label_names", text(&shape, &names)),
        ("label_colours", text(&shape, &colours)),
        ("label_digest", text(&[], &[legend.digest().name()])),
    ]
}

/// An array of text: four bytes a character, each as long as the longest, zeros after the end.
fn text(shape: &[usize], values: &[&str]) -> Vec<u8> {
    let longest = values.iter().map(|value| value.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = npy::header(&format!("<U{longest}"), shape);
    for value in values {
        let characters = value.chars().map(u32::from).chain(std::iter::repeat(0));
        bytes.extend(characters.take(longest).flat_map(u32::to_le_bytes));
    }
    bytes
}

type Archive<'a> = ZipArchive<&'a mut dyn Input>;

fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let mut metadata = describe(source)?;
    let is_named = metadata.legend.is_some();
    if !is_named && is_filled(&metadata) {
        metadata.legend = Some(Legend::surface_and_interior());
    }
    let room = source.room;
    let mut archive = ZipArchive::new(source.input()).map_err(broken)?;
    let name = name_of_cells(&archive)?;
    let mut file = archive.by_name(&name).map_err(broken)?;
    let header = checked_header(&mut file).map_err(|error| in_member(error, &name))?;
    let cells = header.cells(&mut file, Some(&metadata), room).map_err(|error| in_member(error, &name))?;
    // Reading to the end checks the sum, too.
    if file.read(&mut [0]).map_err(failure)? != 0 {
        return Err(in_member(Error::input(Code::V005, "bytes follow the cells"), &name));
    }
    let cells = match cells {
        Cells::Labels(labels) if is_named && Some(labels.legend()) != metadata.legend.as_ref() => {
            let what = "cells have labels that the legend does not name";
            return Err(in_member(Error::input(Code::V007, what), &name));
        }
        // A filled grid without interior cells was saved as bits.
        Cells::Labels(labels) if !is_named && labels.count(2) == 0 => nameless(labels.into())?,
        cells => cells,
    };
    Ok(Voxels { cells, lattice: metadata.lattice, record: metadata.record })
}

/// Whether the cells, if they are u8, are surface and interior.
fn is_filled(metadata: &Metadata) -> bool {
    let by_this_tool = metadata.record.tool.as_ref().is_some_and(|tool| tool.starts_with("voxelize "));
    by_this_tool && metadata.record.rule_name.as_deref() == Some("filled")
}

fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let mut archive = ZipArchive::new(source.input()).map_err(broken)?;
    let header = {
        let name = name_of_cells(&archive)?;
        checked_header(&mut archive.by_name(&name).map_err(broken)?)?
    };
    let dims = header.dims()?;
    let (lattice, record) = read_metadata(&mut archive, dims)?;
    let legend = if header.dtype() == Dtype::U8 { read_legend(&mut archive)? } else { None };
    let background = if header.dtype() == Dtype::F32 { float(&mut archive, "background")? } else { None };
    let mut metadata =
        Metadata { dims: Some(dims), lattice, record, legend, background, ..Metadata::default() };
    npy::annotate(header.dtype(), &mut metadata);
    Ok(metadata)
}

fn name_of_cells(archive: &Archive) -> Result<String> {
    let names: Vec<_> = (0..archive.len()).filter_map(|n| archive.name_for_index(n)?.ok()).collect();
    let arrays: Vec<&str> = names.iter().map(AsRef::as_ref).filter(|name| name.ends_with(".npy")).collect();
    match *arrays {
        [one] => Ok(one.to_string()),
        _ if arrays.contains(&"voxels.npy") => Ok("voxels.npy".into()),
        _ => Err(Error::input(
            Code::V004,
            "no array is named 'voxels', and the archive does not have exactly \
            one array",
        )
        .with_hint("name the array of the cells 'voxels'")),
    }
}

/// Reads the header of the cells and holds the size it claims against that of its member.
fn checked_header<R: Read + ?Sized>(file: &mut zip::read::ZipFile<'_, R>) -> Result<Header> {
    let packed = file.compressed_size();
    let size = file.size();
    let header = Header::read(&mut *file)?;
    let [x, y, z] = header.dims()?;
    let expected = header.bytes_of_cells()?.unwrap_or(u128::MAX);
    if expected.saturating_add(u128::from(header.bytes)) != u128::from(size)
        || size > packed.saturating_mul(MOST_DEFLATED).saturating_add(MAX_SMALL)
    {
        let message = format!("{x} × {y} × {z} cells do not fit {size} bytes, {packed} packed");
        return Err(Error::input(Code::V005, message));
    }
    Ok(header)
}

/// The lattice and the record that the small members hold.
fn read_metadata(archive: &mut Archive, dims: [usize; 3]) -> Result<(Option<Lattice>, Record)> {
    let word = |name: &str| Ok::<_, Error>(texts(archive, name)?.and_then(|texts| texts.into_iter().next()));
    let record = Record::from_entries(word)?;
    let snap = if record.snap.as_deref() == Some("none") { Snap::None } else { Snap::Float };
    let lattice = read_lattice(archive, dims)?.map(|lattice| lattice.with_snap(snap));
    Ok((lattice, record))
}

fn read_lattice(archive: &mut Archive, dims: [usize; 3]) -> Result<Option<Lattice>> {
    let exact = (texts(archive, "origin_exact")?, texts(archive, "spacing_exact")?);
    let rounded = (doubles(archive, "origin")?, doubles(archive, "spacing")?);
    let closed = small(archive, "closed")?.filter(|(header, _)| header.descr == "b1");
    let closed = closed.and_then(|(_, bytes)| <[u8; 3]>::try_from(bytes).ok());
    let lattice = match (exact, rounded, closed) {
        ((Some(origin), Some(spacing)), _, Some(closed)) => {
            let (Ok(origin), Ok(spacing)) = (origin.try_into(), spacing.try_into()) else {
                return Err(Error::input(Code::V007, "origin_exact and spacing_exact are not three each"));
            };
            lattice_from_fractions(dims, &origin, &spacing, closed.map(|c| c != 0))
        }
        (_, (Some(origin), Some(spacing)), _) => lattice_from_doubles(dims, origin, spacing),
        _ => return Ok(None),
    };
    lattice.map(Some).map_err(|why| Error::input(Code::V007, format!("the lattice is broken: {why}")))
}

fn read_legend(archive: &mut Archive) -> Result<Option<Legend>> {
    let Some((header, values)) = small(archive, "label_values")? else { return Ok(None) };
    let broken = |why: &str| Error::input(Code::V007, format!("the legend is broken: {why}"));
    let names = texts(archive, "label_names")?.unwrap_or_default();
    let colours = texts(archive, "label_colours")?.unwrap_or_else(|| vec![String::new(); values.len()]);
    if header.descr != "u1" || names.len() != values.len() || colours.len() != values.len() {
        return Err(broken("label_values, label_names and label_colours differ in length"));
    }
    let mut labels = Vec::new();
    for ((value, name), colour) in values.into_iter().zip(names).zip(colours) {
        let colour = match &*colour {
            "" => None,
            text => Some(parse_hex(text).ok_or_else(|| broken("a colour is #rrggbb"))?),
        };
        labels.push(Label { colour, ..Label::new(value, name) });
    }
    let legend = Legend::new(labels).map_err(|error| broken(error.message()))?;
    let digest = texts(archive, "label_digest")?.and_then(|texts| texts.into_iter().next());
    let digest =
        digest.as_deref().map(|name| LabelDigest::from_name(name).ok_or_else(|| broken("label_digest")));
    Ok(Some(legend.with_digest(digest.transpose()?.unwrap_or(LabelDigest::Values))))
}

fn float(archive: &mut Archive, name: &str) -> Result<Option<f32>> {
    let array = small(archive, name)?.filter(|(header, _)| header.descr == "f4");
    Ok(array.and_then(|(_, bytes)| Some(f32::from_le_bytes(bytes.try_into().ok()?))))
}

fn doubles(archive: &mut Archive, name: &str) -> Result<Option<[f64; 3]>> {
    let array = small(archive, name)?.filter(|(header, _)| header.descr == "f8");
    Ok(array.and_then(|(_, bytes)| {
        let values: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        values.try_into().ok()
    }))
}

fn texts(archive: &mut Archive, name: &str) -> Result<Option<Vec<String>>> {
    let Some((header, bytes)) = small(archive, name)? else { return Ok(None) };
    let broken = || Error::input(Code::V007, format!("{name} is not an array of text"));
    let longest = header.descr.strip_prefix('U').and_then(|n| n.parse::<usize>().ok());
    let stride = longest.and_then(|n| n.checked_mul(4)).filter(|n| *n > 0).ok_or_else(broken)?;
    let one = |bytes: &[u8]| {
        let characters = bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c));
        characters.take_while(|c| *c != 0).map(char::from_u32).collect::<Option<String>>()
    };
    bytes.chunks(stride).map(one).collect::<Option<Vec<_>>>().ok_or_else(broken).map(Some)
}

/// The header and the data of a small array; `None` if it is not there.
fn small(archive: &mut Archive, name: &str) -> Result<Option<(Header, Vec<u8>)>> {
    let name = format!("{name}.npy");
    if archive.index_for_name(&name).is_none() {
        return Ok(None);
    }
    let file = archive.by_name(&name).map_err(broken)?;
    let mut file = file.take(MAX_SMALL);
    let header = Header::read(&mut file).map_err(|error| in_member(error, &name))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| in_member(failure(error), &name))?;
    Ok(Some((header, bytes)))
}

fn in_member(error: Error, name: &str) -> Error {
    let named = Error::input(error.code(), format!("{}: {}", sanitize(name), error.message()));
    match error.hint() {
        _ if error.kind() != crate::error::Kind::Input => error,
        Some(hint) => named.with_hint(hint),
        None => named,
    }
}

fn broken(error: zip::result::ZipError) -> Error {
    match error {
        zip::result::ZipError::Io(error) => failure(error),
        other => Error::input(Code::V003, format!("the zip archive is broken: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek, SeekFrom, Write};

    use super::*;
    use crate::grid::{BitGrid, InMemory};

    /// A disk that is full after so many bytes.
    struct Disk {
        file: Cursor<Vec<u8>>,
        space: u64,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.file.position() + bytes.len() as u64 > self.space {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.file.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_an_error_at_every_byte() {
        let bits = BitGrid::from_text("##.\n#..").unwrap();
        let voxels = Voxels::new(bits);
        let on = |space| {
            let mut disk = Disk { file: Cursor::default(), space };
            write(&mut InMemory::new(&voxels), &mut disk, Dtype::Bool, &SaveOptions::default())
                .map(|()| disk.file.into_inner().len() as u64)
        };
        let whole = on(u64::MAX).unwrap();
        assert!(whole > 200);
        for space in 0..whole {
            assert_eq!(on(space).unwrap_err().kind(), io::ErrorKind::StorageFull, "{space}");
        }
        assert_eq!(on(whole).unwrap(), whole);
    }
}
