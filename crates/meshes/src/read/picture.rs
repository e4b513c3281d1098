//! Decoder of the pictures that meshes name: PNG, JPEG and WebP.

#[cfg(feature = "textures")]
use std::io::Cursor;

#[cfg(feature = "textures")]
use image_webp::WebPDecoder;
#[cfg(feature = "textures")]
use zune_jpeg::JpegDecoder;
#[cfg(feature = "textures")]
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

use voxelize_core::error::Result;
#[cfg(feature = "textures")]
use voxelize_core::error::{Code, Error, sanitize};

/// Maximum number of texels of all pictures of a mesh. Without it, a file of a few bytes could contain huge
/// pictures of one colour.
pub(super) const MAX_TEXELS: u64 = 1 << 28;

/// Maximum number of texels of all broken pictures of a mesh. Most of the decoding time is spent before the
/// damage is found.
pub(super) const MAX_BROKEN_TEXELS: u64 = 1 << 29;

/// Maximum size of a picture file in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 28;

/// Limits for decoding a picture.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "textures"), expect(dead_code))]
pub(super) struct Budget {
    pub texels: u64,
    /// Maximum number of texels of a picture that turns out to be broken.
    pub broken: u64,
    /// Maximum memory in bytes.
    pub bytes: u64,
}

/// Width and height of a picture, and its texels row by row from the top.
pub(super) type DecodedImage = ([u32; 2], Vec<[u8; 3]>);

/// Decodes the picture in these bytes within a budget. Adds the number of texels of a broken picture to
/// `broken`. Opacity and colour profiles are ignored.
#[cfg(feature = "textures")]
pub(super) fn decode(bytes: &[u8], budget: Budget, broken: &mut u64) -> Result<DecodedImage> {
    let mut open = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        OpenPicture::png(bytes, budget)?
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        OpenPicture::jpeg(bytes)?
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        OpenPicture::webp(bytes)?
    } else {
        return Err(damaged("it is not a PNG, JPEG or WebP file"));
    };
    let [width, height] = open.size;
    let texels = u64::from(width) * u64::from(height);
    if texels > budget.texels {
        return Err(Error::input(
            Code::S110,
            format!("an image of {width} x {height} pixels is too large"),
        ));
    }
    if texels > budget.broken {
        return Err(Error::input(Code::S110, "too many large images are broken"));
    }
    // Memory for the samples of the file twice, and for the decoded texels.
    let need = 2 * open.samples.len_of(texels) + 3 * texels + open.extra_bytes(texels, bytes);
    if need > budget.bytes {
        return Err(too_large(need));
    }
    let length = usize::try_from(open.samples.len_of(texels)).map_err(|_| too_large(need))?;
    let mut data = vec![0; length];
    match &mut open.decoder {
        Decoder::Png(decoder) => decoder.next_frame(&mut data).map(|_| ()).map_err(damaged),
        Decoder::Jpeg(decoder) => decoder.decode_into(&mut data).map_err(damaged),
        Decoder::WebP(decoder) => decoder.read_image(&mut data).map_err(damaged),
    }
    .inspect_err(|_| *broken += texels)?;
    Ok(([width, height], open.samples.texels(&data)))
}

/// Picture whose header was read.
#[cfg(feature = "textures")]
struct OpenPicture<'a> {
    size: [u32; 2],
    samples: Samples,
    decoder: Decoder<'a>,
}

#[cfg(feature = "textures")]
enum Decoder<'a> {
    Png(Box<png::Reader<Cursor<&'a [u8]>>>),
    Jpeg(Box<JpegDecoder<ZCursor<&'a [u8]>>>),
    WebP(Box<WebPDecoder<Cursor<&'a [u8]>>>),
}

/// Layout of a texel as the decoder returns it.
#[cfg(feature = "textures")]
#[derive(Clone, Copy)]
struct Samples {
    /// Number of channels: 1 is grey, 2 grey and opacity, 3 red, green and blue, 4 these and opacity.
    channels: usize,
    /// Number of bytes of a channel. The high byte comes first.
    bytes: usize,
}

#[cfg(feature = "textures")]
impl Samples {
    fn len_of(self, texels: u64) -> u64 {
        texels * (self.channels * self.bytes) as u64
    }

    /// Converts the texels of a picture to colours.
    fn texels(self, data: &[u8]) -> Vec<[u8; 3]> {
        let texels = data.chunks_exact(self.channels * self.bytes);
        let mut colours = Vec::with_capacity(texels.len());
        for texel in texels {
            colours.push(if self.channels < 3 {
                [self.channel(texel, 0); 3]
            } else {
                [0, 1, 2].map(|channel| self.channel(texel, channel))
            });
        }
        colours
    }

    /// Returns a channel of a texel, rounded to a byte.
    fn channel(self, texel: &[u8], channel: usize) -> u8 {
        if self.bytes == 1 {
            return texel[channel];
        }
        let number = u16::from_be_bytes([texel[2 * channel], texel[2 * channel + 1]]);
        // Converts a 16-bit number to the nearest of 255 steps.
        ((u32::from(number) + 128) / 257) as u8
    }
}

#[cfg(feature = "textures")]
impl<'a> OpenPicture<'a> {
    fn png(bytes: &'a [u8], budget: Budget) -> Result<Self> {
        /// Memory in bytes for a header and a row of texels.
        const HEADER: u64 = 1 << 24;

        let limit = HEADER + 2 * bytes.len() as u64;
        let limits = png::Limits {
            bytes: usize::try_from(limit.min(budget.bytes)).unwrap_or(usize::MAX),
        };
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
        // These chunks may be compressed, and the size of the picture does not limit their unpacked size.
        decoder.set_ignore_iccp_chunk(true);
        decoder.set_ignore_text_chunk(true);
        decoder.set_transformations(png::Transformations::EXPAND);
        let reader = match decoder.read_info() {
            Err(png::DecodingError::LimitsExceeded) if budget.bytes < limit => {
                return Err(too_large(limit));
            }
            other => other.map_err(damaged)?,
        };
        let (colour, depth) = reader.output_color_type();
        let samples = Samples {
            channels: colour.samples(),
            bytes: if depth == png::BitDepth::Sixteen {
                2
            } else {
                1
            },
        };
        let size = [reader.info().width, reader.info().height];
        Ok(Self {
            size,
            samples,
            decoder: Decoder::Png(Box::new(reader)),
        })
    }

    fn jpeg(bytes: &'a [u8]) -> Result<Self> {
        let options = DecoderOptions::default()
            .set_strict_mode(false)
            .set_max_width(usize::MAX)
            .set_max_height(usize::MAX)
            .jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(damaged)?;
        let (width, height) = decoder.dimensions().unwrap_or_default();
        // Width and height of a JPEG have 16 bits.
        let size = [width as u32, height as u32];
        Ok(Self {
            size,
            samples: Samples {
                channels: 3,
                bytes: 1,
            },
            decoder: Decoder::Jpeg(Box::new(decoder)),
        })
    }

    fn webp(bytes: &'a [u8]) -> Result<Self> {
        let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
        let (width, height) = decoder.dimensions();
        let channels = if decoder.has_alpha() { 4 } else { 3 };
        let samples = Samples { channels, bytes: 1 };
        Ok(Self {
            size: [width, height],
            samples,
            decoder: Decoder::WebP(Box::new(decoder)),
        })
    }

    /// Returns the memory in bytes that the decoder needs in addition to the picture.
    fn extra_bytes(&self, texels: u64, bytes: &[u8]) -> u64 {
        match self.decoder {
            // A progressive JPEG is read completely, and all its coefficients are stored.
            Decoder::Jpeg(_) => 8 * texels + bytes.len() as u64,
            _ => 0,
        }
    }
}

#[cfg(feature = "textures")]
fn damaged(error: impl std::fmt::Display) -> Error {
    Error::input(
        Code::S110,
        format!("its image: {}", sanitize(error.to_string().as_bytes())),
    )
}

#[cfg(feature = "textures")]
fn too_large(need: u64) -> Error {
    Error::too_large(format!(
        "an image needs {}, which is more than is allowed",
        voxelize_core::text::bytes(need)
    ))
}

#[cfg(not(feature = "textures"))]
pub(super) fn decode(_: &[u8], _: Budget, _: &mut u64) -> Result<DecodedImage> {
    use voxelize_core::error::{Code, Error};
    Err(Error::input(
        Code::S110,
        "textures need the feature 'textures' of this library",
    ))
}
