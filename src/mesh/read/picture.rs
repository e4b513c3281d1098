//! Pictures that meshes name: PNG, JPEG and WebP.

use crate::error::Result;
#[cfg(feature = "textures")]
use crate::error::{Code, Error, sanitize};

/// The most texels of all pictures of a mesh. Whole pictures of one colour take no more than a few bytes of a file.
pub(super) const MAX_TEXELS: u64 = 1 << 28;

/// The most texels of all broken pictures of a mesh. Most of the time they take is before the damage.
pub(super) const MAX_BROKEN_TEXELS: u64 = 1 << 29;

/// The bytes of a picture file, at most.
pub(super) const MAX_BYTES: u64 = 1 << 28;

/// What a picture may take.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "textures"), expect(dead_code))]
pub(super) struct Budget {
    pub texels: u64,
    /// Texels of a picture that turns out to be broken.
    pub broken: u64,
    /// Bytes of memory.
    pub bytes: u64,
}

/// Width, height, and the texels row by row from the top.
pub(super) type DecodedImage = ([u32; 2], Vec<[u8; 3]>);

/// Decodes the picture in these bytes within a budget. Texels of a broken picture are added to `broken`. What is
/// transparent has the colour that it would have if it were not.
#[cfg(feature = "textures")]
pub(super) fn decode(bytes: &[u8], budget: Budget, broken: &mut u64) -> Result<DecodedImage> {
    use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
    use std::io::Cursor;

    /// Memory for a header, and for a row.
    const HEADER: u64 = 1 << 24;

    let damaged = |error: &dyn std::fmt::Display| {
        Error::input(Code::S110, format!("its picture: {}", sanitize(error.to_string().as_bytes())))
    };
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| damaged(&error))?;
    let format = reader.format();
    let mut limits = Limits::no_limits();
    // A colour profile of PNG is unpacked with the header. It is not used.
    let header = HEADER + 2 * bytes.len() as u64;
    limits.max_alloc = Some(header.min(budget.bytes));
    reader.limits(limits);
    let decoder = match reader.into_decoder() {
        Err(image::ImageError::Limits(_)) if budget.bytes < header => return Err(too_large(header)),
        other => other.map_err(|error| damaged(&error))?,
    };
    let (width, height) = decoder.dimensions();
    let texels = u64::from(width) * u64::from(height);
    if texels > budget.texels {
        return Err(Error::input(Code::S110, format!("a picture of {width} x {height}, which is too large")));
    }
    if texels > budget.broken {
        return Err(Error::input(Code::S110, "too many large pictures are broken"));
    }
    // As it is in the file, and as it will be. A progressive JPEG is read whole, and holds its coefficients.
    let coefficients = if format == Some(ImageFormat::Jpeg) { 8 * texels + bytes.len() as u64 } else { 0 };
    let need = 2 * decoder.total_bytes() + 3 * texels + coefficients;
    if need > budget.bytes {
        return Err(too_large(need));
    }
    let image = DynamicImage::from_decoder(decoder).map_err(|error| {
        *broken += texels;
        damaged(&error)
    })?;
    let texels = image.into_rgb8().into_raw().as_chunks().0.to_vec();
    Ok(([width, height], texels))
}

#[cfg(feature = "textures")]
fn too_large(need: u64) -> Error {
    Error::too_large(format!("a picture needs {}, more than is allowed", crate::text::bytes(need)))
}

#[cfg(not(feature = "textures"))]
pub(super) fn decode(_: &[u8], _: Budget, _: &mut u64) -> Result<DecodedImage> {
    use crate::error::{Code, Error};
    Err(Error::input(Code::S110, "pictures need the feature 'textures' of this library"))
}
