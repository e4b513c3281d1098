//! Pictures of grey values or colours, as PNG.
//!
//! The crate `png` encodes the pictures of the package `view` but is not needed here. A picture consists of
//! one zlib stream of finished rows and four chunks with their checksums. The crate flate2, which this
//! package needs anyway, makes the zlib stream.

use std::io::{self, Write as _};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::packed::LEVEL;

/// First bytes of every PNG.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

/// Number of bytes of rows that are compressed at a time.
const ROWS_BYTES: usize = 32 << 10;

/// Content of a pixel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pixels {
    Grey,
    /// Red, green and blue in sRGB.
    Rgb,
}

/// Size, bit depth and density, which are the same for all pictures of a stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PngFrame {
    /// Width and height in pixels.
    pub size: [usize; 2],
    pub pixels: Pixels,
    /// Number of bits per channel.
    pub depth: u8,
    /// Pixels per metre along both axes. `None` if they are unknown.
    pub density: Option<[u32; 2]>,
}

impl PngFrame {
    /// Encodes a picture. `draw` gets the number of each row, from the top, and its pixels, which are 0.
    pub(crate) fn encode(&self, mut draw: impl FnMut(usize, &mut [u8])) -> io::Result<Vec<u8>> {
        let mut png = SIGNATURE.to_vec();
        let [width, height] = self
            .size
            .map(|n| u32::try_from(n).map_err(io::Error::other));
        let [pixels, channels] = match self.pixels {
            Pixels::Grey => [0, 1],
            Pixels::Rgb => [2, 3],
        };
        // Deflate, standard filter method, not interlaced.
        let kind = [self.depth, pixels, 0, 0, 0];
        put(
            &mut png,
            *b"IHDR",
            &[&width?.to_be_bytes()[..], &height?.to_be_bytes(), &kind].concat(),
        );
        if let Some([x, y]) = self.density {
            const METRE: u8 = 1;
            put(
                &mut png,
                *b"pHYs",
                &[&x.to_be_bytes()[..], &y.to_be_bytes(), &[METRE]].concat(),
            );
        }
        let start = png.len();
        png.extend([0; 4]);
        png.extend(b"IDAT");
        // A row begins with a zero byte, which states that it has no filter.
        let bytes = 1 + (self.size[0] * usize::from(channels * self.depth)).div_ceil(8);
        let mut rows = vec![0; bytes * (ROWS_BYTES / bytes).max(1)];
        let mut packed = ZlibEncoder::new(png, Compression::new(LEVEL));
        let mut y = 0;
        while y < self.size[1] {
            rows.fill(0);
            let mut used = 0;
            for row in rows.chunks_exact_mut(bytes).take(self.size[1] - y) {
                draw(y, &mut row[1..]);
                y += 1;
                used += bytes;
            }
            packed.write_all(&rows[..used])?;
        }
        let mut png = packed.finish()?;
        finish_chunk(&mut png, start)?;
        put(&mut png, *b"IEND", &[]);
        png.shrink_to_fit();
        Ok(png)
    }
}

/// Completes a chunk at the end of `png` that begins at `start`: sets its length, and appends the checksum of
/// its kind and content.
fn finish_chunk(png: &mut Vec<u8>, start: usize) -> io::Result<()> {
    let content = start + 8;
    let length = u32::try_from(png.len() - content).map_err(io::Error::other)?;
    png[start..start + 4].copy_from_slice(&length.to_be_bytes());
    let mut sum = Crc::new();
    sum.update(&png[start + 4..]);
    png.extend(sum.sum().to_be_bytes());
    Ok(())
}

/// Appends a chunk: its length, its kind, its content, and the checksum of kind and content.
fn put(png: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) {
    let mut sum = Crc::new();
    sum.update(&kind);
    sum.update(content);
    png.extend((content.len() as u32).to_be_bytes());
    png.extend(kind);
    png.extend(content);
    png.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_picture_is_known_byte_by_byte() {
        let frame = PngFrame {
            size: [1, 1],
            pixels: Pixels::Grey,
            depth: 1,
            density: None,
        };
        let png = frame.encode(|_, row| row[0] = 0x80).unwrap();
        // Every 1 × 1 picture with 1 bit per pixel has this start and this end.
        let head = b"\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x01\0\0\0\0\x37\x6e\xf9\x24";
        assert_eq!(png[..8], SIGNATURE);
        assert_eq!(png[8..33], head[..]);
        assert!(png.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
