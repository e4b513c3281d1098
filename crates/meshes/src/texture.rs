//! Pictures on triangles: what colour lies at a place of one.

use voxelize_core::error::{Error, Result};

/// What continues a picture beyond its sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TextureWrap {
    /// The picture again.
    #[default]
    Repeat,
    /// The picture again, each time in a mirror.
    Mirror,
    /// Its outermost texels.
    Clamp,
}

impl TextureWrap {
    /// The texel of `count` in a row that lies at `place`, where 0 and 1 are the sides of the picture.
    fn texel(self, place: f64, count: u32) -> u32 {
        let inside = match self {
            Self::Repeat => place.rem_euclid(1.0),
            Self::Mirror => 1.0 - (place.rem_euclid(2.0) - 1.0).abs(),
            Self::Clamp => place,
        };
        // A conversion ends at 0; what is no number is 0.
        ((inside * f64::from(count)) as u32).min(count - 1)
    }
}

/// A picture: red, green and blue of sRGB for each texel.
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
    /// A picture of this width and height, its texels row by row from the top, that goes on so to the right and down.
    ///
    /// # Errors
    /// If there are more or fewer texels, or none.
    pub fn new(size: [u32; 2], texels: Vec<[u8; 3]>, wrap: [TextureWrap; 2]) -> Result<Self> {
        let [width, height] = size.map(u64::from);
        if width * height != texels.len() as u64 || texels.is_empty() {
            let text = format!(
                "a picture of {width} x {height} with {} texels",
                texels.len()
            );
            return Err(
                Error::usage(text).with_hint("give width times height texels, one at least")
            );
        }
        Ok(Self { size, texels, wrap })
    }

    /// The texel at a place: 0 to 1 from left to right, and from top to bottom.
    pub fn at(&self, place: [f64; 2]) -> [u8; 3] {
        let [column, row] = [0, 1].map(|axis| self.wrap[axis].texel(place[axis], self.size[axis]));
        self.texels[row as usize * self.size[0] as usize + column as usize]
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        3 * self.texels.capacity() as u64
    }
}

/// Where a triangle lies in a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TexturePlace {
    /// The number of the picture, from 0 on.
    pub texture: u32,
    /// The places of the corners, as [`MeshTexture::at`] takes them.
    pub corners: [[f32; 2]; 3],
}

impl TexturePlace {
    /// The place of a point between the corners. What lies on a side of the triangle counts to the triangle, not to what
    /// is beyond that side of the picture.
    pub(super) fn of(&self, weights: [f64; 3]) -> [f64; 2] {
        const INWARDS: f64 = 1.0 / 65_536.0;
        let weights = weights.map(|weight| weight + INWARDS * (1.0 / 3.0 - weight));
        [0, 1].map(|axis| {
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
    fn a_side_of_a_triangle_counts_to_it() {
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
