//! Pictures that meshes name: PNG, JPEG and WebP.

use crate::error::Result;
#[cfg(feature = "textures")]
use crate::error::{Code, Error, sanitize};

/// The most texels of all pictures of a mesh. Whole pictures of one colour take no more than a few bytes of a file.
pub(super) const MAX_TEXELS: u64 = 1 << 28;

/// The bytes of a picture file, at most.
pub(super) const MAX_BYTES: u64 = 1 << 28;

/// Width, height, and the texels row by row from the top.
pub(super) type DecodedImage = ([u32; 2], Vec<[u8; 3]>);

/// The picture in these bytes, if it has no more texels than are left; `admit` refuses memory. What is transparent has
/// the colour that it would have if it were not.
#[cfg(feature = "textures")]
pub(super) fn decode(bytes: &[u8], left: u64, admit: impl Fn(u64) -> Result<()>) -> Result<DecodedImage> {
    use image::{DynamicImage, ImageDecoder, ImageReader};
    use std::io::Cursor;

    let broken = |error: &dyn std::fmt::Display| {
        Error::input(Code::S110, format!("its picture: {}", sanitize(error.to_string().as_bytes())))
    };
    let reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| broken(&error))?;
    let decoder = reader.into_decoder().map_err(|error| broken(&error))?;
    let (width, height) = decoder.dimensions();
    let texels = u64::from(width) * u64::from(height);
    if texels > left {
        return Err(Error::input(Code::S110, format!("a picture of {width} x {height}, which is too large")));
    }
    // As it is in the file, and as it will be.
    admit(2 * decoder.total_bytes() + 3 * texels)?;
    let image = DynamicImage::from_decoder(decoder).map_err(|error| broken(&error))?;
    let texels = image.into_rgb8().into_raw().as_chunks().0.to_vec();
    Ok(([width, height], texels))
}

#[cfg(not(feature = "textures"))]
pub(super) fn decode(_: &[u8], _: u64, _: impl Fn(u64) -> Result<()>) -> Result<DecodedImage> {
    use crate::error::{Code, Error};
    Err(Error::input(Code::S110, "pictures need the feature 'textures' of this library"))
}
