//! Pictures (textures) on triangles.

use voxelize_core::error::{Error, Result};

/// Continuation of a picture beyond its sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TextureWrap {
    /// Repeats the picture.
    #[default]
    Repeat,
    /// Repeats the picture and mirrors every second copy.
    Mirror,
    /// Continues the outermost texels.
    Clamp,
}

impl TextureWrap {
    /// Returns the texel at `place` in a row of `count` texels. The row extends from 0 to 1.
    fn texel(self, place: f64, count: u32) -> u32 {
        let inside = match self {
            Self::Repeat => place.rem_euclid(1.0),
            Self::Mirror => 1.0 - (place.rem_euclid(2.0) - 1.0).abs(),
            Self::Clamp => place,
        };
        // The conversion saturates at 0, and NaN becomes 0.
        ((inside * f64::from(count)) as u32).min(count - 1)
    }
}

/// Picture with sRGB red, green and blue for each texel.
///
/// ```
/// # use voxelize_meshes::voxelize;
/// use voxelize::mesh::{MeshTexture, TextureWrap};
///
/// let (black, white) = ([0; 3], [255; 3]);
/// let texture = MeshTexture::new([2, 1], vec![black, white], [TextureWrap::Clamp; 2])?;
/// assert_eq!((texture.at([0.4, 0.5]), texture.at([7.0, 0.5])), (black, white));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshTexture {
    size: [u32; 2],
    texels: Vec<[u8; 3]>,
    wrap: [TextureWrap; 2],
}

impl MeshTexture {
    /// Creates a picture of this width and height. The texels are stored row by row from the top. `wrap`
    /// states how the picture continues beyond its left and right sides, and beyond its top and bottom.
    ///
    /// # Errors
    /// If the number of texels is not width times height, or is zero.
    pub fn new(size: [u32; 2], texels: Vec<[u8; 3]>, wrap: [TextureWrap; 2]) -> Result<Self> {
        let [width, height] = size.map(u64::from);
        if width * height != texels.len() as u64 || texels.is_empty() {
            let text = format!(
                "a picture of {width} x {height} with {} texels",
                texels.len()
            );
            return Err(
                Error::usage(text).with_hint("give width times height texels, at least one")
            );
        }
        Ok(Self { size, texels, wrap })
    }

    /// Returns the texel at a point. The first coordinate goes from 0 at the left to 1 at the right, the
    /// second from 0 at the top to 1 at the bottom.
    pub fn at(&self, place: [f64; 2]) -> [u8; 3] {
        let [column, row] = [0, 1].map(|axis| self.wrap[axis].texel(place[axis], self.size[axis]));
        self.texels[row as usize * self.size[0] as usize + column as usize]
    }

    /// Memory use in bytes.
    pub(super) fn bytes(&self) -> u64 {
        3 * self.texels.capacity() as u64
    }
}

/// Position of a triangle in a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TexturePlace {
    /// Index of the picture, from 0.
    pub texture: u32,
    /// Positions of the corners, in the coordinates of [`MeshTexture::at`].
    pub corners: [[f32; 2]; 3],
}

impl TexturePlace {
    /// Returns the position in the picture of the point with these barycentric weights. Points near a side of
    /// the triangle are moved inwards a little, so that they do not get a texel outside the triangle's area
    /// in the picture.
    pub(super) fn of(&self, weights: [f64; 3]) -> [f64; 2] {
        const INWARDS: f64 = 1.0 / 65_536.0;
        let weights = weights.map(|weight| weight + INWARDS * (1.0 / 3.0 - weight));
        std::array::from_fn(|axis| {
            (0..3)
                .map(|n| weights[n] * f64::from(self.corners[n][axis]))
                .sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_a_picture_wrap() {
        use TextureWrap::*;
        for (wrap, place, texel) in [
            (Repeat, 0.0, 0),
            (Repeat, 0.99, 3),
            (Repeat, 1.0, 0),
            (Repeat, -0.1, 3),
            (Repeat, 5.3, 1),
            (Mirror, 0.3, 1),
            (Mirror, 1.1, 3),
            (Mirror, -0.3, 1),
            (Mirror, 2.3, 1),
            (Clamp, -7.0, 0),
            (Clamp, 1.0, 3),
            (Clamp, f64::NAN, 0),
            (Repeat, f64::INFINITY, 0),
        ] {
            assert_eq!(wrap.texel(place, 4), texel, "{wrap:?} {place}");
        }
    }

    #[test]
    fn a_side_of_a_triangle_belongs_to_the_triangle() {
        let place = TexturePlace {
            texture: 0,
            corners: [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]],
        };
        let colours = [[1; 3], [2; 3], [3; 3], [4; 3]];
        let texture = MeshTexture::new([2, 2], colours.to_vec(), [TextureWrap::Repeat; 2]).unwrap();
        assert_eq!(texture.at(place.of([0.0, 1.0, 0.0])), [2; 3]);
        assert_eq!(texture.at(place.of([0.0, 0.0, 1.0])), [4; 3]);
        assert_eq!(texture.at([1.0, 0.0]), [1; 3]);
    }

    #[test]
    fn a_picture_has_all_its_texels() {
        for (size, count) in [([2, 2], 3), ([0, 5], 0), ([u32::MAX, u32::MAX], 1)] {
            assert!(
                MeshTexture::new(size, vec![[0; 3]; count], [TextureWrap::Clamp; 2]).is_err(),
                "{size:?}"
            );
        }
    }
}
