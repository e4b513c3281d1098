//! Reader of binary STL.
//!
//! | byte | |
//! |---|---|
//! | 0 | 80 bytes of header, which are ignored |
//! | 80 | the number n of triangles (u32) |
//! | 84 + 50 i | triangle i: normal (3 × f32), three vertices (9 × f32), attributes (u16) |
//!
//! All numbers are little-endian, and the file has 84 + 50 n bytes. The header of about one in seven files
//! begins with `solid`, like an ASCII STL, so the length decides the format. Normals and attributes do not
//! affect geometry. Attributes may be colours (`stl_colours.rs`).

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
    about: "binary STL, also with a header that begins with solid",
    states_unit: false,
    has_decimals: false,
    recognise,
    read,
};

/// Number of triangles that are read at a time. Such a block has 256 KiB and stays in the second-level cache.
const BLOCK: usize = (256 << 10) / RECORD;
/// Minimum number of triangles for several threads. One thread reads fewer, which are 2 MB, in less than a
/// millisecond.
const SPLIT: usize = 40_000;

fn recognise(head: &Head) -> Guess {
    match (count(head.bytes), head.length) {
        (Some(count), Some(length)) if length_for(count) == length => Guess::Sure,
        _ if head.is_text() => Guess::No,
        _ => Guess::Maybe,
    }
}

/// Fails if the file is unlikely to be a binary STL: the count and the number of records differ by more than
/// a factor of two, and the first records do not look like triangles. If the file has no complete record, the
/// count must be plausible.
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

/// Returns the count in the header. `None` if the header is incomplete.
fn count(head: &[u8]) -> Option<u64> {
    let bytes = head.get(HEADER - 4..HEADER)?;
    Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let head = source.head();
    let count = count(head.bytes).ok_or_else(|| {
        let length = head.bytes.len();
        let text =
            format!("cut short: a binary STL has at least {HEADER} bytes, this has {length}");
        Error::input(Code::S003, text).at_byte(length as u64)
    })?;
    let start = head.bytes.to_vec();
    match head.length {
        Some(length) => refuse_others(count, length, &start)?,
        // The length of a stream is known only at its end. Until then the start decides the format.
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
            if looked.attributes.count > 0
                && let Some(attributes) = &mut attributes
            {
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
    let colours = match attributes {
        Some(mut attributes) if is_painted => {
            attributes.truncate(triangles.len());
            stl_colours::colours(&start[..HEADER - 4], &attributes)
        }
        _ => None,
    };
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

/// Number of triangles that the header claims, and length of the file.
struct Claim {
    count: u64,
    length: u64,
    /// Text before the length in messages. It is `at least ` if there may be more bytes.
    at_least: &'static str,
}

impl Claim {
    /// Returns the number of triangles to read. A difference between count and length is a finding. If the
    /// bytes after the counted triangles are not whole triangles, they are more likely other data than
    /// triangles that were not counted. Then the count is used, unless it is zero.
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
                format!(
                    "{at_least}{} bytes after the last triangle",
                    length - expected
                ),
            ),
            _ => return None,
        };
        let claimed = triangles(count);
        let whole = triangles(whole);
        let message = format!(
            "{what}: the header states {claimed} ({expected} bytes), but the file has {at_least}{length} bytes, enough for \
             {at_least}{whole}"
        );
        Some(Error::input(code, message).at_byte(length.min(expected)))
    }
}

fn triangles(n: u64) -> String {
    format!("{n} triangle{}", if n == 1 { "" } else { "s" })
}

/// Reads the triangles of a file that is known to be long enough. Several threads read different parts.
fn read_positioned(
    file: &File,
    count: u64,
    options: &ReadOptions,
    triage: &Triage,
) -> Result<(Zeroed<Triangle>, Looked)> {
    let mut triangles = Room::new(options.max_memory).exactly(count)?;
    // There are a few parts for each thread, so that a thread that starts late does not delay the others.
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
    // Parts are in order, so the first error is about the triangle with the lowest number.
    let mut looked = Looked::default();
    for part in parts {
        looked = looked.and(part?);
    }
    Ok((triangles, looked))
}

/// Reads the triangles from number `first` on into `part`, block by block.
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
            ErrorKind::UnexpectedEof => {
                Error::input(Code::S003, "the file became shorter while it was read")
            }
            _ => unreadable(&error),
        })?;
        looked = looked.and(admit(decode(block, triangles, first), lenient)?);
        first += triangles.len() as u64;
        options.progress.advance(block.len() as u64);
    }
    Ok(looked)
}

/// Reads the attributes of all triangles of a file that is known to be long enough.
fn read_attributes(
    file: &File,
    count: u64,
    attributes: &mut Vec<u16>,
    options: &ReadOptions,
) -> Result<()> {
    // This also counts the memory of the colours that are made from the attributes.
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

/// Memory per triangle for its attributes and colours in bytes.
const PAINT: u64 = (size_of::<u16>() + size_of::<[[u8; 3]; 3]>()) as u64;

fn attributes_of(block: &[u8]) -> impl Iterator<Item = u16> {
    let records = block.as_chunks::<RECORD>().0;
    records
        .iter()
        .map(|record| u16::from_le_bytes([record[RECORD - 2], record[RECORD - 1]]))
}

/// Returns the error for a coordinate that is not finite, unless triangles with such coordinates are dropped.
fn admit(looked: Looked, lenient: bool) -> Result<Looked> {
    match looked.not_finite {
        Some(error) if !lenient => Err(error),
        _ => Ok(looked),
    }
}

/// Reads a stream up to its end. Its header may claim any count. Also returns the length of the stream.
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
    // A block ends at the claimed count, because the bytes after it may be other data.
    let mut triangles = Vec::new();
    let mut within = Looked::default();
    let mut beyond = Looked::default();
    let (length, at_least) = loop {
        options.progress.check()?;
        let first = triangles.len() as u64;
        if first >= count && !lenient {
            // Reads at most one block of the remaining bytes, because the stream may never end.
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

/// Reports peculiarities of the header, the normals and the attributes.
fn note(header: &[u8], looked: &Looked, has_colours: bool, triage: &Triage) -> Result<()> {
    if header
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
    {
        triage.found(
            Error::input(
                Code::S101,
                "the header begins with 'solid', but the file is binary",
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
            let text =
                format!("the header has {word}, as written by Magics; its colours are not used");
            triage.found(Error::input(Code::S102, text).at_byte(byte as u64))?;
        }
    }
    let attributes = "attribute bytes are not zero; they may be colours, which are not used";
    let normals = "the normal is NaN or infinite; normals are not used";
    for (code, text, odd) in [
        (Code::S102, attributes, &looked.attributes),
        (Code::S103, normals, &looked.normals),
    ] {
        let is_known = code == Code::S102 && has_colours;
        if let Some(first) = odd.first.filter(|_| !is_known) {
            let error = || {
                Error::input(code, text)
                    .at_triangle(first)
                    .at_byte(length_for(first))
            };
            triage.found_all(code, odd.count, error)?;
        }
    }
    Ok(())
}

/// Returns a mesh of the triangles with finite coordinates. The other triangles are recorded as dropped.
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
