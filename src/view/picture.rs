//! A picture in memory, and as a PNG that says which tool made it.

use std::io::BufReader;
use std::path::Path;

use super::colours::Colour;
use crate::error::{Error, Result};
use crate::format::Written;

/// Longest side of a picture.
pub const MAX_SIDE: usize = 16384;

/// The keyword of the PNG chunk that says what made it.
const MARK: &str = "Software";

/// A picture: red, green, blue and opacity, a byte each, rows from the top, not premultiplied.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    size: [usize; 2],
    rgba: Vec<u8>,
}

/// What fills the pixels that show nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Nothing: they stay transparent.
    #[default]
    Transparent,
    /// A colour.
    Plain([u8; 3]),
}

/// A colour with its opacity, multiplied by it.
pub type Pixel = [f32; 4];

/// Nothing at all.
pub const CLEAR: Pixel = [0.0; 4];

/// A colour that hides what is below it in part.
pub fn pixel(colour: Colour, opacity: f32) -> Pixel {
    [colour[0] * opacity, colour[1] * opacity, colour[2] * opacity, opacity]
}

/// `top` over `below`.
pub fn over(top: Pixel, below: Pixel) -> Pixel {
    std::array::from_fn(|c| top[c] + (1.0 - top[3]) * below[c])
}

impl Picture {
    /// A picture of these pixels, row by row, over a background.
    pub(super) fn from_rows(size: [usize; 2], rows: &[Vec<Pixel>], background: Background) -> Self {
        let ground = match background {
            Background::Transparent => CLEAR,
            Background::Plain(rgb) => pixel(rgb.map(|c| f32::from(c) / 255.0), 1.0),
        };
        let rgba = rows.iter().flatten().flat_map(|pixel| bytes(over(*pixel, ground))).collect();
        Self { size, rgba }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Red, green, blue and opacity of the pixel in column `x` of row `y`, from the upper left.
    ///
    /// # Panics
    /// If it is outside.
    pub fn get(&self, [x, y]: [usize; 2]) -> [u8; 4] {
        assert!(x < self.size[0] && y < self.size[1], "pixel outside the picture");
        let start = 4 * (y * self.size[0] + x);
        std::array::from_fn(|c| self.rgba[start + c])
    }

    /// All bytes, four a pixel, rows from the top.
    pub fn as_bytes(&self) -> &[u8] {
        &self.rgba
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// If it does not fit in memory.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let [width, height] = self.size.map(|n| n as u32);
        let fail = |e: png::EncodingError| Error::too_large(format!("the picture cannot be encoded: {e}"));
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        encoder.add_text_chunk(MARK.into(), crate::TOOL.into()).map_err(fail)?;
        let mut writer = encoder.write_header().map_err(fail)?;
        writer.write_image_data(&self.rgba).map_err(fail)?;
        writer.finish().map_err(fail)?;
        Ok(file)
    }

    /// Saves the picture as a PNG at `path`, atomically.
    ///
    /// # Errors
    /// If the file cannot be written. What was there before is then still there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Written> {
        let png = self.to_png()?;
        crate::format::save_bytes(path.as_ref(), "png", |out| out.write_all(&png))
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture {} × {}", self.size[0], self.size[1])
    }
}

/// Whether the file at `path` is a PNG that says this tool made it. What cannot be read does not.
pub fn made_by_this_tool(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let Ok(reader) = png::Decoder::new(BufReader::new(file)).read_info() else { return false };
    let marks = &reader.info().uncompressed_latin1_text;
    marks.iter().any(|chunk| chunk.keyword == MARK && chunk.text.starts_with("voxelize "))
}

/// Bytes of a premultiplied colour.
fn bytes(pixel: Pixel) -> [u8; 4] {
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let opacity = pixel[3];
    let plain = |c: usize| if opacity > 0.0 { byte(pixel[c] / opacity) } else { 0 };
    [plain(0), plain(1), plain(2), byte(opacity)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_holds_the_pixels_and_the_mark() {
        let half = pixel([1.0, 0.0, 0.5], 0.5);
        let rows = vec![vec![CLEAR, half], vec![pixel([0.2, 0.4, 0.6], 1.0), CLEAR], vec![half, half]];
        let picture = Picture::from_rows([2, 3], &rows, Background::Transparent);
        assert_eq!((picture.get([1, 0]), picture.get([0, 1])), ([255, 0, 128, 128], [51, 102, 153, 255]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.png");
        picture.save(&path).unwrap();
        let mut reader =
            png::Decoder::new(BufReader::new(std::fs::File::open(&path).unwrap())).read_info().unwrap();
        let mut found = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut found).unwrap();
        assert!(found == picture.as_bytes() && made_by_this_tool(&path));
        std::fs::write(&path, b"\x89PNG\r\n\x1a\n").unwrap();
        assert!(!made_by_this_tool(&path));
    }

    #[test]
    fn backgrounds_fill_what_is_clear() {
        let rows = vec![vec![CLEAR, pixel([0.0; 3], 0.5)]];
        let picture = Picture::from_rows([2, 1], &rows, Background::Plain([200, 100, 0]));
        assert_eq!((picture.get([0, 0]), picture.get([1, 0])), ([200, 100, 0, 255], [100, 50, 0, 255]));
    }
}
