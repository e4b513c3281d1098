//! Binary STL.
//!
//! | byte | |
//! |---|---|
//! | 0 | 80 bytes of header, which mean nothing, whatever they say |
//! | 80 | u32, the number n of triangles |
//! | 84 + 50 i | triangle i: normal (3 × f32), then three vertices (9 × f32), then u16 of attributes |
//!
//! All little-endian; 84 + 50 n bytes in all. About one in seven in the wild begins with `solid`,
//! so the length decides. Normals and attributes do not matter to geometry and are not looked at.

use std::fs::File;
use std::io::{ErrorKind, Read};

use super::room::Room;
use super::source::{Head, Source, fill, read_at, unreadable};
use super::{Guess, InputFormat, ReadOptions};
use crate::error::{Error, Result};
use crate::geom::{Bounds, Triangle, degenerate};
use crate::mesh::{Mesh, Seen, not_finite};
use crate::par;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "stl-binary",
    extensions: &["stl"],
    about: "binary STL, whatever its header says",
    recognise,
    read,
};

const HEADER: usize = 84;
const RECORD: usize = 50;
/// Where the vertices begin in a record, after the normal.
const VERTICES: usize = 12;
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

/// The count in the header, if that is there.
fn count(head: &[u8]) -> Option<u64> {
    let bytes = head.get(HEADER - 4..HEADER)?;
    Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
}

fn length_for(count: u64) -> u64 {
    HEADER as u64 + RECORD as u64 * count
}

fn read(source: Source, options: &ReadOptions) -> Result<(Mesh, u64)> {
    let head = source.head();
    let count = count(head.bytes).ok_or_else(|| {
        let length = head.bytes.len();
        Error::input(
            "S003",
            format!("cut short: a binary STL has at least {HEADER} bytes, this has {length}"),
        )
    })?;
    if let Some(length) = source.length() {
        agrees(count, length, "")?;
    }
    options.progress.advance(HEADER as u64);
    let mesh = match source.as_file() {
        Some(file) => read_positioned(file, count, options)?,
        None => read_in_order(source.into_reader(), count, options)?,
    };
    Ok((mesh, length_for(count)))
}

/// Whether count and length agree; `at_least` stands before the length if there may be more.
fn agrees(count: u64, length: u64, at_least: &str) -> Result<()> {
    let (expected, whole) = (length_for(count), length.saturating_sub(HEADER as u64) / RECORD as u64);
    let (code, what) = match length {
        _ if length < expected => ("S003", format!("cut short by {} bytes", expected - length)),
        _ if length > expected => ("S005", format!("{at_least}{} bytes too many", length - expected)),
        _ => return Ok(()),
    };
    Err(Error::input(
        code,
        format!(
            "{what}: the count says {} ({expected} bytes), there are {at_least}{length} bytes, {at_least}{}",
            triangles(count, ""),
            triangles(whole, "whole ")
        ),
    ))
}

fn triangles(n: u64, whole: &str) -> String {
    format!("{n} {whole}triangle{}", if n == 1 { "" } else { "s" })
}

/// Reads a file whose length agrees with its count: threads take turns at blocks of it.
fn read_positioned(file: &File, count: u64, options: &ReadOptions) -> Result<Mesh> {
    let mut triangles = Room::new(options.max_memory).exactly(count)?;
    // A few parts for each thread, so that one that is slow to start does not hold up the rest.
    let parts = if triangles.len() < SPLIT { 1 } else { 4 * par::current_threads() };
    let size = triangles.len().div_ceil(parts).max(1);
    let work = triangles.chunks_mut(size).enumerate().map(|(n, part)| (n * size, part)).collect();
    let parts: Vec<Result<Seen>> = par::map(work, |(first, part)| read_part(file, first, part, options));
    // The error of the first part is the one of the smallest triangle.
    let mut seen = Seen::default();
    for part in parts {
        seen = seen.and(&part?);
    }
    Ok(Mesh::seen(triangles, &seen))
}

/// Reads the triangles from number `first` into `part`, block by block.
fn read_part(file: &File, first: usize, part: &mut [Triangle], options: &ReadOptions) -> Result<Seen> {
    let mut buffer = vec![0; part.len().min(BLOCK) * RECORD];
    let (mut seen, mut first) = (Seen::default(), first as u64);
    for triangles in part.chunks_mut(BLOCK) {
        options.progress.check()?;
        let block = &mut buffer[..triangles.len() * RECORD];
        read_at(file, block, length_for(first)).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Error::input("S003", "cut short while it was read"),
            _ => unreadable(&error),
        })?;
        seen = seen.and(&decode(block, triangles, first)?);
        first += triangles.len() as u64;
        options.progress.advance(block.len() as u64);
    }
    Ok(seen)
}

/// Reads a stream, whose header may claim anything, to its end.
fn read_in_order(mut reader: impl Read, count: u64, options: &ReadOptions) -> Result<Mesh> {
    fill(&mut reader, &mut [0; HEADER])?;
    let room = Room::new(options.max_memory);
    let mut buffer = vec![0; BLOCK * RECORD];
    let (mut triangles, mut seen) = (Vec::new(), Seen::default());
    while (triangles.len() as u64) < count {
        options.progress.check()?;
        let first = triangles.len();
        let wanted = (count - first as u64).min(BLOCK as u64) as usize * RECORD;
        let filled = fill(&mut reader, &mut buffer[..wanted])?;
        let whole = filled / RECORD;
        room.grow(&mut triangles, whole, count)?;
        triangles.resize(first + whole, [[0.0; 3]; 3]);
        let block = &buffer[..whole * RECORD];
        seen = seen.and(&decode(block, &mut triangles[first..], first as u64)?);
        options.progress.advance(block.len() as u64);
        if filled < wanted {
            agrees(count, length_for(first as u64) + filled as u64, "")?;
        }
    }
    // Looked at no further than a block: the stream may have no end.
    let after = fill(&mut reader, &mut buffer)?;
    agrees(count, length_for(count) + after as u64, if after == buffer.len() { "at least " } else { "" })?;
    Ok(Mesh::seen(triangles.into(), &seen))
}

/// Takes the vertices out of `block` into `triangles`, the first of which is number `first`.
fn decode(block: &[u8], triangles: &mut [Triangle], first: u64) -> Result<Seen> {
    let (mut min, mut max, mut odd) = ([f32::INFINITY; 9], [f32::NEG_INFINITY; 9], [0_u32; 9]);
    for (record, triangle) in block.chunks_exact(RECORD).zip(triangles.iter_mut()) {
        let bits: [u32; 9] = std::array::from_fn(|i| {
            let at = VERTICES + 4 * i;
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        });
        for (i, coordinate) in triangle.as_flattened_mut().iter_mut().enumerate() {
            *coordinate = f32::from_bits(bits[i]);
            min[i] = if *coordinate < min[i] { *coordinate } else { min[i] };
            max[i] = if *coordinate > max[i] { *coordinate } else { max[i] };
            // Carries into the top bit exactly if all exponent bits are set: infinite or NaN.
            odd[i] |= (bits[i] & 0x7fff_ffff) + 0x0080_0000;
        }
    }
    if odd.iter().any(|bits| bits >> 31 != 0) {
        return Err(first_odd(triangles, first));
    }
    let corner = |of: [f32; 9], v: usize| [of[v], of[v + 1], of[v + 2]];
    let bounds = if triangles.is_empty() { [].iter() } else { [0, 3, 6].iter() };
    let bounds = bounds.fold(Bounds::EMPTY, |bounds, &v| bounds.with(&corner(min, v)).with(&corner(max, v)));
    Ok(Seen { bounds, degenerate: degenerate::count(triangles) })
}

/// The error for the first coordinate of a block that is not finite.
fn first_odd(triangles: &[Triangle], first: u64) -> Error {
    let coordinates = triangles.as_flattened().as_flattened();
    let place = coordinates.iter().position(|c| !c.is_finite()).unwrap_or(0);
    let triangle = first + (place / 9) as u64;
    let byte = length_for(triangle) + (VERTICES + place % 9 * 4) as u64;
    not_finite(coordinates[place]).at_triangle(triangle).at_byte(byte)
}
