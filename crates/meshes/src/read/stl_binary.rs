//! Binary STL.
//!
//! | byte | |
//! |---|---|
//! | 0 | 80 bytes of header, which mean nothing, whatever they say |
//! | 80 | u32, the number n of triangles |
//! | 84 + 50 i | triangle i: normal (3 × f32), then three vertices (9 × f32), then u16 of attributes |
//!
//! All little-endian; 84 + 50 n bytes in all. About one in seven in the wild begins with `solid`,
//! so the length decides. Normals and attributes do not matter to geometry; attributes may be colours (`stl_colours.rs`).

use std::fs::File;
use std::io::{ErrorKind, Read};

use super::records::{HEADER, Looked, Normals, RECORD, decode, length_for, look_like_triangles};
use super::refuse;
use super::room::Room;
use super::source::{Head, MeshBytes, fill, read_at, unreadable};
use super::stl_colours;
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::{Mesh, MeshColours};
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::par;
use voxelize_kernel::memory::Zeroed;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "stl-binary",
    extensions: &["stl"],
    about: "binary STL, whatever its header says",
    states_unit: false,
    has_decimals: false,
    recognise,
    read,
};

/// Triangles read at a time: a block of 256 KiB stays in the second-level cache.
const BLOCK: usize = (256 << 10) / RECORD;
/// Triangles below which one thread reads them all: 2 MB take it less than a millisecond.
const SPLIT: usize = 40_000;

fn recognise(head: &Head) -> Guess {
    match (count(head.bytes), head.length) {
        (Some(count), Some(length)) if length_for(count) == length => Guess::Sure,
        _ if head.is_text() => Guess::No,
        _ => Guess::Maybe,
    }
}

/// Refuses a file that is hardly a binary STL: neither do half of its records explain the count, or half of the count
/// its records, nor do the first records look like triangles. Where not one record is whole, a count that meshes have
/// must do.
fn refuse_others(count: u64, length: u64, head: &[u8]) -> Result<()> {
    let records = length.saturating_sub(HEADER as u64) / RECORD as u64;
    let is_near = match records {
        0 => count < 1 << 24,
        _ => records.div_ceil(2) <= count && count.div_ceil(2) <= records,
    };
    if is_near || look_like_triangles(head.get(HEADER..).unwrap_or_default(), Normals::Count) {
        return Ok(());
    }
    Err(refuse::no_mesh(count, Some(length)))
}

/// The count in the header, if that is there.
fn count(head: &[u8]) -> Option<u64> {
    let bytes = head.get(HEADER - 4..HEADER)?;
    Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let head = source.head();
    let count = count(head.bytes).ok_or_else(|| {
        let length = head.bytes.len();
        let says =
            format!("cut short: a binary STL has at least {HEADER} bytes, this has {length}");
        Error::input(Code::S003, says).at_byte(length as u64)
    })?;
    let start = head.bytes.to_vec();
    match head.length {
        Some(length) => refuse_others(count, length, &start)?,
        // The end will tell; until then the start must do.
        None if look_like_triangles(&start[HEADER..], Normals::Ignored) => {}
        None => return Err(refuse::no_mesh(count, None)),
    }
    options.progress.advance(HEADER as u64);
    let mut attributes = if options.textures { Some(vec![]) } else { None };
    let (triangles, looked, length) = match (source.length(), source.as_file()) {
        (Some(length), Some(file)) => {
            let taken = Claim {
                count,
                length,
                at_least: "",
            }
            .settle(triage)?;
            let found = read_positioned(file, taken, options, triage);
            let (triangles, looked) = found.map_err(|error| triage.refused(error))?;
            if let (Some(attributes), true) = (&mut attributes, looked.attributes.count > 0) {
                read_attributes(file, taken, attributes, options)?;
            }
            (triangles, looked, length)
        }
        (Some(length), None) if !triage.is_lenient() => {
            Claim {
                count,
                length,
                at_least: "",
            }
            .settle(triage)?;
            read_in_order(
                source.into_reader(),
                count,
                &start,
                &mut attributes,
                options,
                triage,
            )?
        }
        _ => read_in_order(
            source.into_reader(),
            count,
            &start,
            &mut attributes,
            options,
            triage,
        )?,
    };
    let is_painted = looked.attributes.count > 0 && looked.not_finite.is_none();
    let colours = attributes
        .filter(|_| is_painted)
        .and_then(|mut attributes| {
            attributes.truncate(triangles.len());
            stl_colours::colours(&start[..HEADER - 4], &attributes)
        });
    note(&start[..HEADER - 4], &looked, colours.is_some(), triage)?;
    let mesh = match looked.not_finite {
        Some(first) => drop_not_finite(triangles, &first, options, triage)?,
        None => Mesh::seen(triangles, &looked.seen),
    };
    let mesh = match colours {
        Some(colours) => mesh.with_colours(MeshColours::new(colours))?,
        None => mesh,
    };
    Ok(Content::new(mesh, length))
}

/// The size that the header claims, and the size of the file.
struct Claim {
    count: u64,
    length: u64,
    /// Stands before the length if there may be more.
    at_least: &'static str,
}

impl Claim {
    /// How many triangles to take. Where count and length differ that is a finding, and which of them
    /// is believed depends: bytes that make no whole triangle are more likely something else than
    /// triangles that were not counted, unless nothing was.
    fn settle(&self, triage: &Triage) -> Result<u64> {
        let rest = self.length.saturating_sub(HEADER as u64);
        let whole = rest / RECORD as u64;
        let left = rest % RECORD as u64;
        let Some(error) = self.finding(whole) else {
            return Ok(self.count);
        };
        triage.found(error)?;
        if self.count > whole || self.count == 0 {
            if left > 0 {
                triage.drop_part();
            }
            return Ok(whole);
        }
        Ok(if left == 0 { whole } else { self.count })
    }

    fn finding(&self, whole: u64) -> Option<Error> {
        let Self {
            count,
            length,
            at_least,
        } = *self;
        let expected = length_for(count);
        let (code, what) = match length {
            _ if length < expected => (
                Code::S003,
                format!("cut short by {} bytes", expected - length),
            ),
            _ if length > expected => (
                Code::S005,
                format!("{at_least}{} bytes too many", length - expected),
            ),
            _ => return None,
        };
        let claimed = triangles(count, "");
        let whole = triangles(whole, "whole ");
        let message = format!(
            "{what}: the count says {claimed} ({expected} bytes), there are {at_least}{length} bytes, {at_least}{whole}"
        );
        Some(Error::input(code, message).at_byte(length.min(expected)))
    }
}

fn triangles(n: u64, whole: &str) -> String {
    format!("{n} {whole}triangle{}", if n == 1 { "" } else { "s" })
}

/// Reads triangles that the file is long enough for: threads take turns at blocks of it.
fn read_positioned(
    file: &File,
    count: u64,
    options: &ReadOptions,
    triage: &Triage,
) -> Result<(Zeroed<Triangle>, Looked)> {
    let mut triangles = Room::new(options.max_memory).exactly(count)?;
    // A few parts for each thread, so that one that is slow to start does not hold up the rest.
    let parts = if triangles.len() < SPLIT {
        1
    } else {
        4 * par::current_threads()
    };
    let size = triangles.len().div_ceil(parts).max(1);
    let lenient = triage.is_lenient();
    let work = triangles
        .chunks_mut(size)
        .enumerate()
        .map(|(n, part)| (n * size, part))
        .collect();
    let parts = par::map(work, |(first, part)| {
        read_part(file, first, part, options, lenient)
    });
    // The error of the first part is the one of the smallest triangle.
    let mut looked = Looked::default();
    for part in parts {
        looked = looked.and(part?);
    }
    Ok((triangles, looked))
}

/// Reads the triangles from number `first` into `part`, block by block.
fn read_part(
    file: &File,
    first: usize,
    part: &mut [Triangle],
    options: &ReadOptions,
    lenient: bool,
) -> Result<Looked> {
    let mut buffer = vec![0; part.len().min(BLOCK) * RECORD];
    let mut looked = Looked::default();
    let mut first = first as u64;
    for triangles in part.chunks_mut(BLOCK) {
        options.progress.check()?;
        let block = &mut buffer[..triangles.len() * RECORD];
        read_at(file, block, length_for(first)).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Error::input(Code::S003, "cut short while it was read"),
            _ => unreadable(&error),
        })?;
        looked = looked.and(admit(decode(block, triangles, first), lenient)?);
        first += triangles.len() as u64;
        options.progress.advance(block.len() as u64);
    }
    Ok(looked)
}

/// Reads the attributes of all triangles, which the file is long enough for.
fn read_attributes(
    file: &File,
    count: u64,
    attributes: &mut Vec<u16>,
    options: &ReadOptions,
) -> Result<()> {
    // With the colours that they become.
    Room::new(options.max_memory).admit(count, PAINT * count)?;
    let mut buffer = vec![0; BLOCK * RECORD];
    let mut first = 0;
    while first < count {
        options.progress.check()?;
        let block = &mut buffer[..(count - first).min(BLOCK as u64) as usize * RECORD];
        read_at(file, block, length_for(first)).map_err(|error| unreadable(&error))?;
        attributes.extend(attributes_of(block));
        first += (block.len() / RECORD) as u64;
    }
    Ok(())
}

/// Bytes of the attributes and the colours of a triangle.
const PAINT: u64 = (size_of::<u16>() + size_of::<[[u8; 3]; 3]>()) as u64;

fn attributes_of(block: &[u8]) -> impl Iterator<Item = u16> {
    let records = block.as_chunks::<RECORD>().0;
    records
        .iter()
        .map(|record| u16::from_le_bytes([record[RECORD - 2], record[RECORD - 1]]))
}

/// Ends the reading at a coordinate that is not finite, unless its triangle will be dropped.
fn admit(looked: Looked, lenient: bool) -> Result<Looked> {
    match looked.not_finite {
        Some(error) if !lenient => Err(error),
        _ => Ok(looked),
    }
}

/// Reads a stream, whose header may claim anything, to its end; returns its length as well.
fn read_in_order(
    mut reader: impl Read,
    count: u64,
    head: &[u8],
    attributes: &mut Option<Vec<u16>>,
    options: &ReadOptions,
    triage: &Triage,
) -> Result<(Zeroed<Triangle>, Looked, u64)> {
    fill(&mut reader, &mut [0; HEADER])?;
    let room = Room::new(options.max_memory);
    let lenient = triage.is_lenient();
    let mut buffer = vec![0; BLOCK * RECORD];
    // Blocks end where the count does: bytes after it may be other data.
    let mut triangles = Vec::new();
    let mut within = Looked::default();
    let mut beyond = Looked::default();
    let (length, at_least) = loop {
        options.progress.check()?;
        let first = triangles.len() as u64;
        if first >= count && !lenient {
            // Looked at no further than a block: the stream may have no end.
            let after = fill(&mut reader, &mut buffer)?;
            let at_least = if after == buffer.len() {
                "at least "
            } else {
                ""
            };
            break (length_for(first) + after as u64, at_least);
        }
        let left = if first < count {
            count - first
        } else {
            BLOCK as u64
        };
        let wanted = left.min(BLOCK as u64) as usize * RECORD;
        let filled = fill(&mut reader, &mut buffer[..wanted])?;
        let whole = filled / RECORD;
        let painted = attributes
            .as_ref()
            .map_or(0, |known| PAINT * (known.len() + whole) as u64);
        room.grow(
            &mut triangles,
            whole,
            if lenient { u64::MAX } else { count },
            painted,
        )?;
        triangles.resize(first as usize + whole, [[0.0; 3]; 3]);
        let block = &buffer[..whole * RECORD];
        if let Some(attributes) = attributes {
            attributes.extend(attributes_of(block));
        }
        let looked = admit(
            decode(block, &mut triangles[first as usize..], first),
            lenient,
        )
        .map_err(|error| triage.refused(error))?;
        let part = if first < count {
            &mut within
        } else {
            &mut beyond
        };
        *part = std::mem::take(part).and(looked);
        options.progress.advance(block.len() as u64);
        if filled < wanted {
            break (length_for(first) + filled as u64, "");
        }
    };
    refuse_others(count, length, head)?;
    let taken = Claim {
        count,
        length,
        at_least,
    }
    .settle(triage)?;
    triangles.truncate(taken as usize);
    Ok((
        triangles.into(),
        if taken > count {
            within.and(beyond)
        } else {
            within
        },
        length,
    ))
}

/// Notes oddities of the header and of the bytes that are not vertices.
fn note(header: &[u8], looked: &Looked, has_colours: bool, triage: &Triage) -> Result<()> {
    if header
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
    {
        triage.found(
            Error::input(
                Code::S101,
                "the header begins with 'solid', but it is binary",
            )
            .at_byte(0),
        )?;
    }
    let ignored: &[&str] = if has_colours {
        &["MATERIAL="]
    } else {
        &["COLOR=", "MATERIAL="]
    };
    for word in ignored {
        if let Some(byte) = header
            .windows(word.len())
            .position(|found| found == word.as_bytes())
        {
            let says = format!("the header has {word}, as Magics writes it; colours are ignored");
            triage.found(Error::input(Code::S102, says).at_byte(byte as u64))?;
        }
    }
    let attributes = "attribute bytes are not zero; they may be colours and are ignored";
    let normals = "normal is NaN or infinite; normals are ignored";
    for (code, says, odd) in [
        (Code::S102, attributes, &looked.attributes),
        (Code::S103, normals, &looked.normals),
    ] {
        let is_known = code == Code::S102 && has_colours;
        if let Some(first) = odd.first.filter(|_| !is_known) {
            let error = || {
                Error::input(code, says)
                    .at_triangle(first)
                    .at_byte(length_for(first))
            };
            triage.found_all(code, odd.count, error)?;
        }
    }
    Ok(())
}

/// A mesh of the triangles whose coordinates are all finite; the others are counted.
fn drop_not_finite(
    mut triangles: Zeroed<Triangle>,
    first: &Error,
    options: &ReadOptions,
    triage: &Triage,
) -> Result<Mesh> {
    let room = Room::new(options.max_memory);
    let all = triangles.len();
    let mut kept = 0;
    for n in 0..all {
        let triangle = triangles[n];
        if triangle
            .as_flattened()
            .iter()
            .all(|coordinate| coordinate.is_finite())
        {
            triangles[kept] = triangle;
            kept += 1;
        } else {
            triage.drop_triangle(kept);
            room.admit(all as u64, triage.bytes())?;
        }
    }
    triangles.truncate(kept);
    triage.found_all(Code::S004, (all - kept) as u64, || first.clone())?;
    Ok(Mesh::of_finite(triangles))
}
