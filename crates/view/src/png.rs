//! Pictures as PNG files. The files name the tool that made them.

use std::io::BufReader;
use std::path::Path;

use super::picture::Picture;
use voxelize_core::error::{Error, Result};
use voxelize_formats::{Existing, Written};

/// Keyword of the PNG text chunk that names the tool.
const MARK: &str = "Software";

impl Picture {
    /// Encodes the picture as a PNG file. If all pixels are black or white, the file has one bit per pixel.
    ///
    /// # Errors
    /// Fails if the file does not fit into memory.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        match self.black_and_white() {
            Some(bits) => of_bits(self.size(), &bits),
            None => encoded(
                self.size(),
                (png::ColorType::Rgba, png::BitDepth::Eight),
                self.as_bytes(),
            ),
        }
    }

    /// Returns one bit per pixel. The first pixel is the highest bit of a byte, and rows are padded to whole
    /// bytes. `None` if a pixel is neither black nor white.
    fn black_and_white(&self) -> Option<Vec<u8>> {
        let [width, _] = self.size();
        let is_either = |pixel: &[u8]| matches!(pixel, [0, 0, 0, 255] | [255, 255, 255, 255]);
        if !self.as_bytes().chunks_exact(4).all(is_either) {
            return None;
        }
        let mut packed = vec![];
        for row in self.as_bytes().chunks_exact(4 * width) {
            for eight in row.chunks(4 * 8) {
                let mut byte = 0;
                for (pixel, bit) in eight.chunks_exact(4).zip((0..8).rev()) {
                    byte |= (pixel[0] & 1) << bit;
                }
                packed.push(byte);
            }
        }
        Some(packed)
    }

    /// Saves the picture as a PNG at `path`. The file appears only when it is complete.
    ///
    /// # Errors
    /// Fails if the file cannot be written. An existing file is then unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Written> {
        let png = self.to_png()?;
        voxelize_formats::save_bytes(path.as_ref(), Existing::Replace, "png", |out| {
            out.write_all(&png)
        })
    }
}

/// Encodes black and white pixels. The first pixel of a row is the highest bit of a byte, and rows are padded to
/// whole bytes.
pub(super) fn of_bits(size: [usize; 2], bits: &[u8]) -> Result<Vec<u8>> {
    encoded(size, (png::ColorType::Grayscale, png::BitDepth::One), bits)
}

fn encoded(
    [width, height]: [usize; 2],
    (colour, depth): (png::ColorType, png::BitDepth),
    pixels: &[u8],
) -> Result<Vec<u8>> {
    let fail =
        |e: png::EncodingError| Error::too_large(format!("the picture cannot be encoded: {e}"));
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::Balanced);
    if depth == png::BitDepth::One {
        // A filter combines bytes, which have eight pixels each.
        encoder.set_filter(png::Filter::NoFilter);
    }
    encoder
        .add_text_chunk(MARK.into(), voxelize_core::TOOL.into())
        .map_err(fail)?;
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(pixels).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(file)
}

/// Returns `true` if the file at `path` is a PNG that this tool made. Returns `false` if the file cannot be
/// read.
pub fn made_by_this_tool(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else {
        return false;
    };
    let Ok(reader) = png::Decoder::new(BufReader::new(file)).read_info() else {
        return false;
    };
    let marks = &reader.info().uncompressed_latin1_text;
    marks
        .iter()
        .any(|chunk| chunk.keyword == MARK && chunk.text.starts_with("voxelize "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Background;
    use crate::picture::{CLEAR, pixel};

    #[test]
    fn a_png_holds_the_pixels_and_the_mark() {
        let half = pixel([1.0, 0.0, 0.5], 0.5);
        let rows = vec![
            vec![CLEAR, half],
            vec![pixel([0.2, 0.4, 0.6], 1.0), CLEAR],
            vec![half, half],
        ];
        let picture = Picture::from_rows([2, 3], &rows, Background::Transparent);
        assert_eq!(
            (picture.get([1, 0]), picture.get([0, 1])),
            ([255, 0, 128, 128], [51, 102, 153, 255])
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.png");
        picture.save(&path).unwrap();
        let mut reader = png::Decoder::new(BufReader::new(std::fs::File::open(&path).unwrap()))
            .read_info()
            .unwrap();
        let mut found = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut found).unwrap();
        assert!(found == picture.as_bytes() && made_by_this_tool(&path));
        std::fs::write(&path, b"\x89PNG\r\n\x1a\n").unwrap();
        assert!(!made_by_this_tool(&path));
    }
}
