//! A picture in memory.

use super::colours::Colour;

/// Maximum length of a side of a picture, in pixels.
pub const MAX_SIDE: usize = 16384;

/// Picture with red, green, blue and opacity, one byte each. Rows begin at the top. Colours are not
/// premultiplied by the opacity.
#[derive(Clone)]
pub struct Picture {
    size: [usize; 2],
    rgba: Vec<u8>,
    /// Pixels per unit of length. `None` unless it is the same in the whole picture.
    scale: Option<f64>,
}

impl PartialEq for Picture {
    /// Compares the size and all pixels.
    fn eq(&self, other: &Self) -> bool {
        (self.size, &self.rgba) == (other.size, &other.rgba)
    }
}

impl Eq for Picture {}

/// What pixels show where nothing is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// The pixels are transparent.
    #[default]
    Transparent,
    /// The pixels have this colour.
    Plain([u8; 3]),
}

/// Colour that is premultiplied by its opacity, and the opacity.
pub(super) type Pixel = [f32; 4];

/// Transparent pixel.
pub(super) const CLEAR: Pixel = [0.0; 4];

/// Returns the pixel for a colour with this opacity.
pub(super) fn pixel(colour: Colour, opacity: f32) -> Pixel {
    [
        colour[0] * opacity,
        colour[1] * opacity,
        colour[2] * opacity,
        opacity,
    ]
}

/// Composites `top` over `below`.
pub(super) fn over(top: Pixel, below: Pixel) -> Pixel {
    std::array::from_fn(|c| top[c] + (1.0 - top[3]) * below[c])
}

impl Picture {
    /// Creates a picture from rows of pixels, which are drawn over a background.
    pub(super) fn from_rows(size: [usize; 2], rows: &[Vec<Pixel>], background: Background) -> Self {
        let ground = match background {
            Background::Transparent => CLEAR,
            Background::Plain(rgb) => pixel(rgb.map(|c| f32::from(c) / 255.0), 1.0),
        };
        let mut rgba = Vec::with_capacity(4 * size[0] * size[1]);
        for pixel in rows.iter().flatten() {
            rgba.extend(bytes(over(*pixel, ground)));
        }
        Self {
            size,
            rgba,
            scale: None,
        }
    }

    /// Creates a black picture with a rectangle of size `inner` in its middle. `is_white` returns `true` for
    /// the pixels of the rectangle that are white.
    pub(super) fn mask(
        size: [usize; 2],
        inner: [usize; 2],
        is_white: impl Fn([usize; 2]) -> bool,
    ) -> Self {
        let [left, top] = [0, 1].map(|n| (size[n] - inner[n]) / 2);
        let mut rgba = [0, 0, 0, 255].repeat(size[0] * size[1]);
        for y in 0..inner[1] {
            for x in 0..inner[0] {
                if is_white([x, y]) {
                    let start = 4 * ((top + y) * size[0] + left + x);
                    rgba[start..start + 4].fill(255);
                }
            }
        }
        Self {
            size,
            rgba,
            scale: None,
        }
    }

    /// Sets the number of pixels per unit of length.
    pub(super) fn with_scale(self, pixels: f64) -> Self {
        Self {
            scale: Some(pixels),
            ..self
        }
    }

    /// Returns the number of pixels per unit of length. `None` unless it is the same in the whole picture.
    pub fn pixels_per_unit(&self) -> Option<f64> {
        self.scale
    }

    /// Returns a picture with this picture at the top and `other` below it. Both must have the same width.
    pub(super) fn above(&self, other: &Self) -> Self {
        let size = [self.size[0], self.size[1] + other.size[1]];
        Self {
            size,
            rgba: [&*self.rgba, &other.rgba].concat(),
            scale: self.scale,
        }
    }

    /// Returns a picture with this picture on the left and `other` on the right.
    ///
    /// # Panics
    /// Panics if the pictures do not have the same height.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        assert_eq!(self.size[1], other.size[1], "pictures of other heights");
        let mut rgba = Vec::with_capacity(self.rgba.len() + other.rgba.len());
        let left = self.rgba.chunks_exact(4 * self.size[0]);
        let right = other.rgba.chunks_exact(4 * other.size[0]);
        for (left, right) in left.zip(right) {
            rgba.extend_from_slice(left);
            rgba.extend_from_slice(right);
        }
        Self {
            size: [self.size[0] + other.size[0], self.size[1]],
            rgba,
            scale: None,
        }
    }

    /// Returns the width and the height in pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Returns red, green, blue and opacity of a pixel. `x` is its column and `y` its row, from the upper
    /// left corner.
    ///
    /// # Panics
    /// Panics if the pixel is outside the picture.
    pub fn get(&self, [x, y]: [usize; 2]) -> [u8; 4] {
        assert!(
            x < self.size[0] && y < self.size[1],
            "pixel outside the picture"
        );
        let start = 4 * (y * self.size[0] + x);
        std::array::from_fn(|c| self.rgba[start + c])
    }

    /// Returns all bytes. A pixel has four bytes, and rows begin at the top.
    pub fn as_bytes(&self) -> &[u8] {
        &self.rgba
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture {} × {}", self.size[0], self.size[1])
    }
}

/// Converts a premultiplied pixel to bytes that are not premultiplied.
fn bytes(pixel: Pixel) -> [u8; 4] {
    let [r, g, b, opacity] = pixel;
    if opacity > 0.0 {
        [r / opacity, g / opacity, b / opacity, opacity].map(byte)
    } else {
        [0, 0, 0, byte(opacity)]
    }
}

fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_fill_clear_pixels() {
        let rows = vec![vec![CLEAR, pixel([0.0; 3], 0.5)]];
        let picture = Picture::from_rows([2, 1], &rows, Background::Plain([200, 100, 0]));
        assert_eq!(
            (picture.get([0, 0]), picture.get([1, 0])),
            ([200, 100, 0, 255], [100, 50, 0, 255])
        );
    }
}
