//! Pictures as PNG files that say which tool made them.

use std::io::BufReader;
use std::path::Path;

use super::picture::Picture;
use voxelize_core::error::{Error, Result};
use voxelize_formats::{Existing, Written};

/// The keyword of the PNG chunk that says what made it.
const MARK: &str = "Software";

impl Picture {
    /// The picture as a PNG file, its pixels in a bit each if all are black or white.
    ///
    /// # Errors
    /// If it does not fit in memory.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let [width, height] = self.size().map(|n| n as u32);
        let fail =
            |e: png::EncodingError| Error::too_large(format!("the picture cannot be encoded: {e}"));
        let mut encoder = png::Encoder::new(&mut file, width, height);
        let bits = self.black_and_white();
        let (colour, depth) = match &bits {
            Some(_) => (png::ColorType::Grayscale, png::BitDepth::One),
            None => (png::ColorType::Rgba, png::BitDepth::Eight),
        };
        encoder.set_color(colour);
        encoder.set_depth(depth);
        encoder.set_compression(png::Compression::Balanced);
        encoder
            .add_text_chunk(MARK.into(), voxelize_core::TOOL.into())
            .map_err(fail)?;
        let mut writer = encoder.write_header().map_err(fail)?;
        writer
            .write_image_data(bits.as_deref().unwrap_or(self.as_bytes()))
            .map_err(fail)?;
        writer.finish().map_err(fail)?;
        Ok(file)
    }

    /// A bit for each pixel, rows filled up to whole bytes, the first pixel highest; `None` if any is neither black nor
    /// white.
    fn black_and_white(&self) -> Option<Vec<u8>> {
        let [width, _] = self.size();
        let is_either = |pixel: &[u8]| matches!(pixel, [0, 0, 0, 255] | [255, 255, 255, 255]);
        if !self.as_bytes().chunks_exact(4).all(is_either) {
            return None;
        }
        let byte = |pixels: &[u8]| {
            let bits = pixels.chunks_exact(4).zip((0..8).rev());
            bits.fold(0, |byte, (pixel, bit)| byte | (pixel[0] & 1) << bit)
        };
        let rows = self.as_bytes().chunks_exact(4 * width);
        Some(rows.flat_map(|row| row.chunks(4 * 8).map(byte)).collect())
    }

    /// Saves the picture as a PNG at `path`, atomically.
    ///
    /// # Errors
    /// If the file cannot be written. What was there before is then still there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Written> {
        let png = self.to_png()?;
        voxelize_formats::save_bytes(path.as_ref(), Existing::Replace, "png", |out| {
            out.write_all(&png)
        })
    }
}

/// Whether the file at `path` is a PNG that says this tool made it. What cannot be read does not.
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
