//! Reading `.npz`.

use std::io::Read;

use zip::ZipArchive;

use super::archive::{Archive, MAX_SMALL, MOST_DEFLATED, broken, has, in_member, small};
use super::arrays::{FIELDS_OF_LABELS, LABEL_NAMES};
use super::read_sparse;
use super::sparse::Sparse;
use super::stack;
use super::{DIGESTS, is_filled};
use crate::Voxels;
use crate::npy::{self, Header};
use crate::open::{VoxelSource, failure, nameless};
use crate::room::CellRoom;
use crate::{ARRAYS, BIT_ORDER, Dtype, shares};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::grid::metadata::{
    Metadata, lattice_from_doubles, lattice_from_fractions, parse_hex,
};
use voxelize_core::grid::{Cells, Label, LabelDigest, Lattice, Legend, Quantity, Record, Snap};
use voxelize_core::text::counted;

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let mut metadata = describe(source)?;
    let is_named = metadata.legend.is_some();
    if !is_named && is_filled(&metadata) {
        metadata.legend = Some(Legend::surface_and_interior());
    }
    let (room, length) = (source.room, source.len());
    let mut archive = ZipArchive::new(source.input()).map_err(broken)?;
    let cells = match Sparse::in_archive(&archive) {
        Some(form) => read_sparse::read(&mut archive, form, &metadata, room, length)?,
        None => whole(&mut archive, &metadata, room)?,
    };
    let cells = match cells {
        Cells::Labels(labels) if is_named && Some(labels.legend()) != metadata.legend.as_ref() => {
            return Err(Error::input(
                Code::V007,
                "cells have labels that the legend does not name",
            ));
        }
        // A filled grid without interior cells was saved as bits.
        Cells::Labels(labels) if !is_named && labels.count(2) == 0 => nameless(labels.into())?,
        cells => cells,
    };
    Ok(Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    })
}

/// Reads the cells from an array that has one number for each cell.
fn whole(archive: &mut Archive, metadata: &Metadata, room: CellRoom) -> Result<Cells> {
    let name = name_of_cells(archive)?;
    let is_zyx = is_zyx(archive)?;
    let packed = packed_dims(archive)?;
    let mut file = archive.by_name(&name).map_err(broken)?;
    let header = checked_header(&mut file, is_zyx).map_err(|error| in_member(error, &name))?;
    let cells = match packed {
        Some(dims) if header.packs(dims) => header.bits(&mut file, dims, room),
        Some(dims) => Err(no_bits_of(dims)),
        None => header.cells(&mut file, Some(metadata), room),
    };
    let cells = cells.map_err(|error| in_member(error, &name))?;
    // The checksum is verified only when the member is read to its end.
    match file.read(&mut [0]).map_err(failure)? {
        0 => Ok(cells),
        _ => Err(in_member(
            Error::input(Code::V005, "bytes follow the cells"),
            &name,
        )),
    }
}

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let mut archive = ZipArchive::new(source.input()).map_err(broken)?;
    let (dims, dtype) = match Sparse::in_archive(&archive) {
        Some(_) => read_sparse::described(&mut archive)?,
        None => {
            let name = name_of_cells(&archive)?;
            let is_zyx = is_zyx(&mut archive)?;
            let packed = packed_dims(&mut archive)?;
            let header = checked_header(&mut archive.by_name(&name).map_err(broken)?, is_zyx)?;
            match packed {
                Some(dims) if header.packs(dims) => (dims, Dtype::Bit),
                Some(dims) => return Err(in_member(no_bits_of(dims), &name)),
                None => (header.dims()?, header.dtype()),
            }
        }
    };
    let (lattice, record) = read_metadata(&mut archive, dims)?;
    let legend = if dtype == Dtype::U8 {
        read_legend(&mut archive)?
    } else {
        None
    };
    let are_shares = dtype == Dtype::U8 && is_of_shares(&mut archive)?;
    let is_field = dtype == Dtype::F32 || are_shares;
    let background = if is_field {
        float(&mut archive, "background")?
    } else {
        None
    };
    let mut metadata = Metadata {
        dims: Some(dims),
        lattice,
        record,
        legend,
        background,
        ..Metadata::default()
    };
    npy::annotate(dtype, &mut metadata);
    if are_shares {
        shares::annotate(&mut metadata);
    }
    for (name, key) in DIGESTS {
        if let Some(digest) = first_text(&mut archive, name)? {
            metadata.extra.insert(key.to_string(), digest);
        }
    }
    let mut arrays = vec![];
    for name in Quantity::ALL.map(Quantity::name) {
        if has(&archive, name) {
            arrays.push(name.to_string());
        }
    }
    for name in FIELDS_OF_LABELS {
        if has(&archive, name) {
            let labels = texts(&mut archive, LABEL_NAMES)?.unwrap_or_default();
            arrays.push(format!("{name} ({})", sanitize(labels.join(", "))));
        }
    }
    if !arrays.is_empty() && has(&archive, "voxels") {
        metadata.extra.insert(ARRAYS.to_string(), arrays.join(", "));
    }
    Ok(metadata)
}

/// Returns `true` if the array has the axes z, y and x.
fn is_zyx(archive: &mut Archive) -> Result<bool> {
    let Some(order) = texts(archive, "order")? else {
        return Ok(false);
    };
    if order
        .iter()
        .any(|order| stack::ORDERS.contains(&order.as_str()))
    {
        return Err(no_single_grid(
            &texts(archive, "names")?.unwrap_or_default(),
        ));
    }
    Ok(order == ["zyx"])
}

/// Returns the error for a stack of grids. It lists the first names.
fn no_single_grid(names: &[String]) -> Error {
    const SHOWN: usize = 3;
    let shown = names
        .iter()
        .take(SHOWN)
        .map(|name| sanitize(name.as_bytes()));
    let more = if names.len() > SHOWN { ", …" } else { "" };
    let shown = shown.collect::<Vec<_>>().join(", ");
    let grids = counted(names.len() as u64, "grid", "grids");
    let text =
        format!("a stack of {grids} in one array, {shown}{more}, where one grid is expected");
    let hint = "in NumPy, voxels[n] is the grid of names[n]; with a folder as output, each mesh has its own file";
    Error::input(Code::V004, text).with_hint(hint)
}

/// Returns the dims of cells that are packed bits. `None` if the cells are not packed.
fn packed_dims(archive: &mut Archive) -> Result<Option<[usize; 3]>> {
    match texts(archive, BIT_ORDER[0])? {
        None => Ok(None),
        Some(order) if order == [BIT_ORDER[1]] => read_sparse::dims(archive).map(Some),
        Some(order) => {
            let order = sanitize(order.concat());
            Err(Error::input(
                Code::V004,
                format!("bit_order is '{order}', not '{}'", BIT_ORDER[1]),
            ))
        }
    }
}

fn no_bits_of([x, y, z]: [usize; 3]) -> Error {
    Error::input(
        Code::V005,
        format!("not the packed bits of {x} × {y} × {z} cells"),
    )
}

fn name_of_cells(archive: &Archive) -> Result<String> {
    let names: Vec<_> = (0..archive.len())
        .filter_map(|n| archive.name_for_index(n)?.ok())
        .collect();
    let arrays: Vec<&str> = names
        .iter()
        .map(AsRef::as_ref)
        .filter(|name| name.ends_with(".npy"))
        .collect();
    match *arrays {
        [one] => Ok(one.to_string()),
        _ if arrays.contains(&"voxels.npy") => Ok("voxels.npy".into()),
        [] if names.iter().any(|name| name.ends_with(".png")) => Err(Error::input(
            Code::V004,
            "an archive of pictures of layers, which are written and not read",
        )
        .with_hint("write the cells to another format as well, such as .npz")),
        _ => Err(Error::input(
            Code::V004,
            "no array is named 'voxels', and the archive does not have exactly \
            one array",
        )
        .with_hint("name the array of the cells 'voxels'")),
    }
}

/// Reads the header of the cells, and checks that the member has the size that the header implies.
fn checked_header<R: Read + ?Sized>(
    file: &mut zip::read::ZipFile<'_, R>,
    is_zyx: bool,
) -> Result<Header> {
    let packed = file.compressed_size();
    let size = file.size();
    let header = Header::read(&mut *file)?;
    let header = if is_zyx && !header.fortran {
        header.reversed()
    } else {
        header
    };
    let [x, y, z] = header.dims()?;
    let expected = header.bytes_of_cells()?.unwrap_or(u128::MAX);
    if expected.saturating_add(u128::from(header.bytes)) != u128::from(size)
        || size
            > packed
                .saturating_mul(MOST_DEFLATED)
                .saturating_add(MAX_SMALL)
    {
        let message = format!("{x} × {y} × {z} cells do not fit {size} bytes, {packed} packed");
        return Err(Error::input(Code::V005, message));
    }
    Ok(header)
}

/// Reads the lattice and the record from small members.
fn read_metadata(archive: &mut Archive, dims: [usize; 3]) -> Result<(Option<Lattice>, Record)> {
    let record = Record::from_entries(|name: &str| first_text(archive, name))?;
    let snap = if record.snap.as_deref() == Some("none") {
        Snap::None
    } else {
        Snap::Float
    };
    let lattice = read_lattice(archive, dims)?.map(|lattice| lattice.with_snap(snap));
    Ok((lattice, record))
}

fn read_lattice(archive: &mut Archive, dims: [usize; 3]) -> Result<Option<Lattice>> {
    let exact = (
        texts(archive, "origin_exact")?,
        texts(archive, "spacing_exact")?,
    );
    let rounded = (doubles(archive, "origin")?, doubles(archive, "spacing")?);
    let closed = small(archive, "closed")?.filter(|(header, _)| header.descr == "b1");
    let closed = closed.and_then(|(_, bytes)| <[u8; 3]>::try_from(bytes).ok());
    let lattice = match (exact, rounded, closed) {
        ((Some(origin), Some(spacing)), _, Some(closed)) => {
            let (Ok(origin), Ok(spacing)) = (origin.try_into(), spacing.try_into()) else {
                return Err(Error::input(
                    Code::V007,
                    "origin_exact and spacing_exact do not have three numbers each",
                ));
            };
            lattice_from_fractions(dims, &origin, &spacing, closed.map(|c| c != 0))
        }
        (_, (Some(origin), Some(spacing)), _) => lattice_from_doubles(dims, origin, spacing),
        _ => return Ok(None),
    };
    lattice
        .map(Some)
        .map_err(|why| Error::input(Code::V007, format!("the lattice is broken: {why}")))
}

fn read_legend(archive: &mut Archive) -> Result<Option<Legend>> {
    let Some((header, values)) = small(archive, "label_values")? else {
        return Ok(None);
    };
    let broken = |why: &str| Error::input(Code::V007, format!("the legend is broken: {why}"));
    let names = texts(archive, "label_names")?.unwrap_or_default();
    let colours =
        texts(archive, "label_colours")?.unwrap_or_else(|| vec![String::new(); values.len()]);
    if header.descr != "u1" || names.len() != values.len() || colours.len() != values.len() {
        return Err(broken(
            "label_values, label_names and label_colours differ in length",
        ));
    }
    let mut labels = Vec::new();
    for ((value, name), colour) in values.into_iter().zip(names).zip(colours) {
        let colour = match &*colour {
            "" => None,
            text => Some(parse_hex(text).ok_or_else(|| broken("a colour must be #rrggbb"))?),
        };
        labels.push(Label {
            colour,
            ..Label::new(value, name)
        });
    }
    let legend = Legend::new(labels).map_err(|error| broken(error.message()))?;
    let digest = match first_text(archive, "label_digest")? {
        Some(name) => LabelDigest::from_name(&name).ok_or_else(|| broken("label_digest"))?,
        None => LabelDigest::Values,
    };
    Ok(Some(legend.with_digest(digest)))
}

fn float(archive: &mut Archive, name: &str) -> Result<Option<f32>> {
    let array = small(archive, name)?.filter(|(header, _)| header.descr == "f4");
    Ok(array.and_then(|(_, bytes)| Some(f32::from_le_bytes(bytes.try_into().ok()?))))
}

/// Returns `true` if the bytes are shares of cells.
fn is_of_shares(archive: &mut Archive) -> Result<bool> {
    let scale = small(archive, shares::SCALE[0])?.filter(|(header, _)| header.descr == "f8");
    Ok(scale.is_some_and(|(_, bytes)| bytes == (1.0_f64 / 255.0).to_le_bytes()))
}

fn doubles(archive: &mut Archive, name: &str) -> Result<Option<[f64; 3]>> {
    let array = small(archive, name)?.filter(|(header, _)| header.descr == "f8");
    Ok(array.and_then(|(_, bytes)| {
        let values: Vec<f64> = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        values.try_into().ok()
    }))
}

fn texts(archive: &mut Archive, name: &str) -> Result<Option<Vec<String>>> {
    let Some((header, bytes)) = small(archive, name)? else {
        return Ok(None);
    };
    let broken = || Error::input(Code::V007, format!("{name} is not an array of text"));
    let longest = header
        .descr
        .strip_prefix('U')
        .and_then(|n| n.parse::<usize>().ok());
    let stride = longest
        .and_then(|n| n.checked_mul(4))
        .filter(|n| *n > 0)
        .ok_or_else(broken)?;
    let mut texts = Vec::new();
    for bytes in bytes.chunks(stride) {
        texts.push(text_of(bytes).ok_or_else(broken)?);
    }
    Ok(Some(texts))
}

fn first_text(archive: &mut Archive, name: &str) -> Result<Option<String>> {
    let texts = texts(archive, name)?.unwrap_or_default();
    Ok(texts.into_iter().next())
}

/// Decodes a text with four bytes per character. The text ends at a zero.
fn text_of(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    for code in bytes.as_chunks::<4>().0 {
        match u32::from_le_bytes(*code) {
            0 => break,
            code => text.push(char::from_u32(code)?),
        }
    }
    Some(text)
}
