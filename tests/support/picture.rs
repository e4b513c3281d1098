//! Pictures for textures, and their files.

/// Colours of a picture, row by row from the top.
pub struct RgbImage {
    pub width: u32,
    pub height: u32,
    pub texels: Vec<[u8; 3]>,
}

impl RgbImage {
    /// Creates a picture whose texel `(x, y)` has the colour `colour(x, y)`.
    pub fn from_fn(width: u32, height: u32, colour: impl Fn(u32, u32) -> [u8; 3]) -> Self {
        let mut texels = vec![];
        for y in 0..height {
            for x in 0..width {
                texels.push(colour(x, y));
            }
        }
        Self {
            width,
            height,
            texels,
        }
    }

    /// Returns the colour of a texel.
    pub fn at(&self, x: u32, y: u32) -> [u8; 3] {
        self.texels[(y * self.width + x) as usize]
    }
}

/// Returns the PNG of a picture.
pub fn png_of(picture: &RgbImage) -> Vec<u8> {
    let bytes = picture.texels.as_flattened();
    encoded_png(picture.width, picture.height, png::BitDepth::Eight, bytes)
}

/// Returns a PNG with channels of 8 or 16 bits.
pub fn encoded_png(width: u32, height: u32, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Returns the lossless WebP of a picture.
pub fn webp_of(picture: &RgbImage) -> Vec<u8> {
    let mut bytes = vec![];
    let encoder = image_webp::WebPEncoder::new(&mut bytes);
    let data = picture.texels.as_flattened();
    encoder
        .encode(
            data,
            picture.width,
            picture.height,
            image_webp::ColorType::Rgb8,
        )
        .unwrap();
    bytes
}
