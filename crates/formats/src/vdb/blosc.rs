//! Decompression of Blosc, the default compression of OpenVDB. The bytes of floats are sorted by their
//! position in a float and compressed with LZ4. Decompressing a block of LZ4 takes 40 lines, so this file
//! does it without another crate.
//!
//! | bytes | content (little-endian) |
//! |---|---|
//! | 2 | versions of Blosc and of its packer |
//! | 1 | flags: 1 = sorted, 2 = not packed, 4 = bits are sorted, 16 = blocks are one stream; the upper three bits are the packer (1 = LZ4) |
//! | 1 | bytes of a value |
//! | 3 × 4 | unpacked bytes, unpacked bytes of a block, bytes of the whole chunk |
//! | 4 each | offsets of the blocks |
//! | … | for each block one stream, or one stream for each byte of a value: 4 bytes of length, and LZ4, or the plain bytes if the length is the unpacked length |
//!
//! <https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst>,
//! <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>

const SORTED: u8 = 1;
const NOT_PACKED: u8 = 2;
const BITS_SORTED: u8 = 4;
const ONE_STREAM: u8 = 16;

/// Number of the compressor LZ4 in the header.
const LZ4: u8 = 1;

/// Size of the header in bytes.
const HEADER: usize = 16;

/// Maximum size of a value in bytes for which a block has one stream for each byte of a value.
const MOST_STREAMS: usize = 16;

/// Minimum number of values in a block that has one stream for each byte of a value.
const LEAST_VALUES: usize = 128;

/// Decompresses `chunk` into `out`. Returns `None` if the chunk is malformed or has another length.
pub(super) fn unpack(chunk: &[u8], out: &mut [u8]) -> Option<()> {
    let (head, _) = chunk.split_first_chunk::<HEADER>()?;
    let flags = head[2];
    let width = usize::from(head[3]).max(1);
    let length = number(chunk, 4)?;
    let block = number(chunk, 8)?;
    if length != out.len() || number(chunk, 12)? != chunk.len() {
        return None;
    }
    if length == 0 {
        return Some(());
    }
    if flags & NOT_PACKED != 0 {
        out.copy_from_slice(chunk.get(HEADER..HEADER + length)?);
        return Some(());
    }
    if flags >> 5 != LZ4 || flags & BITS_SORTED != 0 || block == 0 {
        return None;
    }
    let mut sorted = Vec::new();
    for (n, out) in out.chunks_mut(block).enumerate() {
        let is_whole = out.len() == block;
        let is_split = flags & ONE_STREAM == 0
            && is_whole
            && width <= MOST_STREAMS
            && block / width >= LEAST_VALUES
            && block % width == 0;
        let mut at = number(chunk, HEADER + 4 * n)?;
        let is_sorted = flags & SORTED != 0 && width > 1;
        let target = if is_sorted {
            sorted.resize(out.len(), 0);
            &mut sorted[..]
        } else {
            &mut *out
        };
        let stream = if is_split {
            block / width
        } else {
            target.len()
        };
        for part in target.chunks_mut(stream.max(1)) {
            let packed = number(chunk, at)?;
            let bytes = chunk.get(at + 4..(at + 4).checked_add(packed)?)?;
            at += 4 + packed;
            if packed == part.len() {
                part.copy_from_slice(bytes);
            } else {
                unpack_lz4(bytes, part)?;
            }
        }
        if is_sorted {
            unsort(&sorted, width, out);
        }
    }
    Some(())
}

/// Returns the 32-bit number at an offset. `None` if there are too few bytes.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

/// Puts the bytes of each value next to each other again. The bytes of an incomplete value remain at the end.
fn unsort(sorted: &[u8], width: usize, out: &mut [u8]) {
    let count = sorted.len() / width;
    for (place, bytes) in sorted.chunks_exact(count.max(1)).take(width).enumerate() {
        for (out, byte) in out.iter_mut().skip(place).step_by(width).zip(bytes) {
            *out = *byte;
        }
    }
    let whole = count * width;
    out[whole..].copy_from_slice(&sorted[whole..]);
}

/// Decompresses a block of LZ4. Returns `None` unless the result has exactly the length of `out`.
fn unpack_lz4(mut bytes: &[u8], out: &mut [u8]) -> Option<()> {
    let mut length = 0_usize;
    loop {
        let token = take_byte(&mut bytes)?;
        let literals = take_length(usize::from(token >> 4), &mut bytes)?;
        let (some, rest) = bytes.split_at_checked(literals)?;
        out.get_mut(length..length.checked_add(literals)?)?
            .copy_from_slice(some);
        length += literals;
        bytes = rest;
        if bytes.is_empty() {
            return (length == out.len()).then_some(());
        }
        let offset = usize::from(take_byte(&mut bytes)?) | usize::from(take_byte(&mut bytes)?) << 8;
        let count = take_length(usize::from(token & 15), &mut bytes)?.checked_add(4)?;
        let from = length.checked_sub(offset).filter(|_| offset > 0)?;
        let end = length.checked_add(count).filter(|end| *end <= out.len())?;
        // The bytes are copied one by one, because the source and the target may overlap.
        for n in 0..count {
            out[length + n] = out[from + n];
        }
        length = end;
    }
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

/// Reads a length whose first four bits are `first`. If these are 15, the following bytes are added, up to
/// the first one that is not 255.
fn take_length(first: usize, bytes: &mut &[u8]) -> Option<usize> {
    let mut length = first;
    let mut goes_on = first == 15;
    while goes_on {
        let more = take_byte(bytes)?;
        length = length.checked_add(more.into())?;
        goes_on = more == 255;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_lz4() {
        let unpack = |bytes: &[u8], length: usize| {
            let mut out = vec![0; length];
            unpack_lz4(bytes, &mut out).map(|()| out)
        };
        assert_eq!(unpack(b"\x30abc", 3).unwrap(), b"abc");
        // Six bytes that repeat the previous two bytes, followed by one literal byte.
        assert_eq!(unpack(b"\x22ab\x02\x00\x10c", 9).unwrap(), b"ababababc");
        let long = [&b"\xf0\x01"[..], &[7; 16]].concat();
        assert_eq!(unpack(&long, 16).unwrap(), [7; 16]);
        let mut seen = 0;
        for (bytes, length) in [
            (&b"\x30abc"[..], 4),
            (b"\x30abc", 2),
            (b"\x40abc", 4),
            (b"\x22ab\x03\x00\x10c", 9),
            (b"\x22ab\x00\x00\x10c", 9),
            (b"\x22ab\x02\x00\x10c", 7),
            (b"\x22ab\x02", 8),
            (b"\xf0\xff\xff", 999),
            (b"", 0),
        ] {
            assert_eq!(unpack(bytes, length), None, "{bytes:?}");
            seen += 1;
        }
        assert_eq!(seen, 9);
    }

    /// Creates a chunk with one block of 4-byte values whose bytes are sorted.
    fn chunk(flags: u8, length: u32, streams: &[&[u8]]) -> Vec<u8> {
        let mut chunk = vec![2, 1, flags, 4];
        let body: usize = streams.iter().map(|stream| 4 + stream.len()).sum();
        for number in [
            length,
            length,
            (HEADER + 4 + body) as u32,
            (HEADER + 4) as u32,
        ] {
            chunk.extend(number.to_le_bytes());
        }
        for stream in streams {
            chunk.extend((stream.len() as u32).to_le_bytes());
            chunk.extend_from_slice(stream);
        }
        chunk
    }

    #[test]
    fn bytes_of_values_are_joined() {
        let flags = LZ4 << 5 | SORTED;
        // 128 values 0x04030201. Each stream repeats a single byte.
        let streams = [1, 2, 3, 4].map(|byte| [0x1f, byte, 1, 0, 108, 0].to_vec());
        let streams: Vec<_> = streams
            .into_iter()
            .map(|mut stream| {
                // 1 + 4 + 15 + 107 + 1 = 128 bytes. The last byte is a literal.
                stream.truncate(5);
                stream[4] = 107;
                [&stream[..], &[0x10, stream[1]]].concat()
            })
            .collect();
        let streams: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
        let mut out = vec![0; 512];
        unpack(&chunk(flags, 512, &streams), &mut out).unwrap();
        assert!(out.chunks(4).all(|value| value == [1, 2, 3, 4]));
        // Two values and one extra byte, in a single stream.
        let mut out = vec![0; 9];
        unpack(
            &chunk(flags | ONE_STREAM, 9, &[&[1, 5, 2, 6, 3, 7, 4, 8, 9]]),
            &mut out,
        )
        .unwrap();
        assert_eq!(out, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let whole = chunk(flags, 512, &streams);
        for cut in 0..whole.len() {
            assert_eq!(unpack(&whole[..cut], &mut [0; 512]), None, "{cut}");
        }
        assert_eq!(unpack(&whole, &mut [0; 511]), None);
        for other in [BITS_SORTED | flags, 0, 4 << 5 | SORTED] {
            assert_eq!(unpack(&chunk(other, 512, &streams), &mut [0; 512]), None);
        }
    }
}
