//! A picture in memory.

use super::colours::Colour;

/// Longest side of a picture.
pub const MAX_SIDE: usize = 16384;

/// A picture: red, green, blue and opacity, a byte each, rows from the top, not premultiplied.
#[derive(Clone)]
pub struct Picture {
    size: [usize; 2],
    rgba: Vec<u8>,
    /// Pixels for a unit of length, where that is one number for all of it.
    scale: Option<f64>,
}

impl PartialEq for Picture {
    /// Whether all pixels are the same.
    fn eq(&self, other: &Self) -> bool {
        (self.size, &self.rgba) == (other.size, &other.rgba)
    }
}

impl Eq for Picture {}

/// The fill of pixels that show nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Nothing: they stay transparent.
    #[default]
    Transparent,
    /// A colour.
    Plain([u8; 3]),
}

/// A colour with its opacity, multiplied by it.
pub(super) type Pixel = [f32; 4];

/// Nothing at all.
pub(super) const CLEAR: Pixel = [0.0; 4];

/// A colour that hides what is below it in part.
pub(super) fn pixel(colour: Colour, opacity: f32) -> Pixel {
    [
        colour[0] * opacity,
        colour[1] * opacity,
        colour[2] * opacity,
        opacity,
    ]
}

/// `top` over `below`.
pub(super) fn over(top: Pixel, below: Pixel) -> Pixel {
    std::array::from_fn(|c| top[c] + (1.0 - top[3]) * below[c])
}

impl Picture {
    /// A picture of these pixels, row by row, over a background.
    pub(super) fn from_rows(size: [usize; 2], rows: &[Vec<Pixel>], background: Background) -> Self {
        let ground = match background {
            Background::Transparent => CLEAR,
            Background::Plain(rgb) => pixel(rgb.map(|c| f32::from(c) / 255.0), 1.0),
        };
        let mut rgba = Vec::with_capacity(4 * size[0] * size[1]);
        rows.iter()
            .flatten()
            .for_each(|pixel| rgba.extend(bytes(over(*pixel, ground))));
        Self {
            size,
            rgba,
            scale: None,
        }
    }

    /// A black picture on which `is_white` says which pixels of a box of this size are white, the box in the middle.
    pub(super) fn mask(
        size: [usize; 2],
        inner: [usize; 2],
        is_white: impl Fn([usize; 2]) -> bool,
    ) -> Self {
        let [left, top] = [0, 1].map(|n| (size[n] - inner[n]) / 2);
        let mut rgba = [0, 0, 0, 255].repeat(size[0] * size[1]);
        for (y, row) in rgba
            .chunks_exact_mut(4 * size[0])
            .skip(top)
            .take(inner[1])
            .enumerate()
        {
            for (x, pixel) in row
                .chunks_exact_mut(4)
                .skip(left)
                .take(inner[0])
                .enumerate()
            {
                if is_white([x, y]) {
                    pixel.fill(255);
                }
            }
        }
        Self {
            size,
            rgba,
            scale: None,
        }
    }

    /// This picture with this many pixels for a unit of length.
    pub(super) fn with_scale(self, pixels: f64) -> Self {
        Self {
            scale: Some(pixels),
            ..self
        }
    }

    /// Pixels for a unit of length, where that is one number for all of it.
    pub fn pixels_per_unit(&self) -> Option<f64> {
        self.scale
    }

    /// The picture with another of its width below it.
    pub(super) fn above(&self, other: &Self) -> Self {
        let size = [self.size[0], self.size[1] + other.size[1]];
        Self {
            size,
            rgba: [&*self.rgba, &other.rgba].concat(),
            scale: self.scale,
        }
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
        assert!(
            x < self.size[0] && y < self.size[1],
            "pixel outside the picture"
        );
        let start = 4 * (y * self.size[0] + x);
        std::array::from_fn(|c| self.rgba[start + c])
    }

    /// All bytes, four a pixel, rows from the top.
    pub fn as_bytes(&self) -> &[u8] {
        &self.rgba
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture {} × {}", self.size[0], self.size[1])
    }
}

/// Bytes of a premultiplied colour.
fn bytes(pixel: Pixel) -> [u8; 4] {
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let opacity = pixel[3];
    let plain = |c: usize| {
        if opacity > 0.0 {
            byte(pixel[c] / opacity)
        } else {
            0
        }
    };
    [plain(0), plain(1), plain(2), byte(opacity)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_fill_what_is_clear() {
        let rows = vec![vec![CLEAR, pixel([0.0; 3], 0.5)]];
        let picture = Picture::from_rows([2, 1], &rows, Background::Plain([200, 100, 0]));
        assert_eq!(
            (picture.get([0, 0]), picture.get([1, 0])),
            ([200, 100, 0, 255], [100, 50, 0, 255])
        );
    }
}
