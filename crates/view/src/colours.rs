//! Colours in sRGB. Labels have the colours of their legend, so that a picture has the same colours as a .vox
//! file.

use voxelize_core::grid::{Label, Legend};

/// Red, green and blue, each from 0 to 1.
pub(super) type Colour = [f32; 3];

/// Colour of the lines of boxes and labels.
pub(super) const INK: Colour = rgb(0x6b, 0x72, 0x7c);

/// Colour of the rings that mark a few changed cells.
pub(super) const RING: Colour = rgb(0x1c, 0x1f, 0x24);

/// Colour of the translucent cells, and colour of bits that are seen through them.
pub(super) const COMMON: Colour = of_bytes(Label::STANDARD_COLOURS[2]);
pub(super) const MARKED: Colour = of_bytes(Label::STANDARD_COLOURS[4]);

/// Colours of the axes x, y and z.
pub(super) const AXES: [Colour; 3] = [
    rgb(0xd1, 0x4b, 0x4b),
    rgb(0x3f, 0x9b, 0x5a),
    rgb(0x3d, 0x74, 0xd6),
];

/// Colour of the triangles of a mesh.
pub(super) const FACETS: Colour = rgb(0xd0, 0xd2, 0xd6);

/// Colour of empty cells in a slice.
pub(super) const EMPTY: Colour = rgb(0xf1, 0xf2, 0xf4);

/// Colour of occupied cells of bits.
pub(super) const SURFACE: Colour = of_bytes(Label::STANDARD_COLOURS[0]);

/// In a slice of bits, colour of the cells whose six neighbours are all occupied.
pub(super) const INTERIOR: Colour = of_bytes(Label::STANDARD_COLOURS[1]);

/// Colour of the cells of a field that are inside and beyond its band. Also the colour of cells with share 1
/// in a picture of shares.
pub(super) const NEGATED: Colour = rgb(0x2b, 0x2f, 0x36);

/// Colour of the cells of a field that have no value.
pub(super) const NO_VALUE: Colour = rgb(0xd9, 0x8c, 0xb3);

/// Colours of a scale from the lowest value to the highest, evenly spaced. This is viridis, which is
/// perceptually uniform for people with any colour vision and in greyscale (Smith and van der Walt, A Better
/// Default Colormap for Matplotlib, 2015; CC0). The table has 25 of its 256 colours. Interpolated colours
/// differ from the original by at most 3 of 255.
const SCALE: [Colour; 25] = [
    rgb(0x44, 0x01, 0x54),
    rgb(0x47, 0x11, 0x63),
    rgb(0x48, 0x1f, 0x71),
    rgb(0x47, 0x2d, 0x7b),
    rgb(0x44, 0x3a, 0x83),
    rgb(0x40, 0x46, 0x88),
    rgb(0x3b, 0x52, 0x8b),
    rgb(0x35, 0x5d, 0x8d),
    rgb(0x31, 0x68, 0x8e),
    rgb(0x2c, 0x72, 0x8e),
    rgb(0x28, 0x7c, 0x8e),
    rgb(0x24, 0x86, 0x8e),
    rgb(0x21, 0x90, 0x8c),
    rgb(0x1f, 0x9a, 0x8a),
    rgb(0x20, 0xa4, 0x86),
    rgb(0x28, 0xae, 0x80),
    rgb(0x35, 0xb7, 0x79),
    rgb(0x47, 0xc0, 0x6f),
    rgb(0x5d, 0xc9, 0x63),
    rgb(0x75, 0xd0, 0x54),
    rgb(0x8f, 0xd7, 0x44),
    rgb(0xab, 0xdc, 0x32),
    rgb(0xc7, 0xe0, 0x20),
    rgb(0xe3, 0xe4, 0x18),
    rgb(0xfd, 0xe7, 0x25),
];

/// Returns the colour at a position on the scale, from 0 to 1.
pub(super) fn of_share(share: f64) -> Colour {
    between(&SCALE, share)
}

/// Interpolates between evenly spaced colours at a position from 0 to 1.
fn between(colours: &[Colour], share: f64) -> Colour {
    let place = share.clamp(0.0, 1.0) * (colours.len() - 1) as f64;
    let below = (place as usize).min(colours.len() - 2);
    let rest = (place - below as f64) as f32;
    std::array::from_fn(|c| colours[below][c] * (1.0 - rest) + colours[below + 1][c] * rest)
}

/// Colours of signed values, evenly spaced: blue below zero, light at zero, orange above. Nearly all people
/// can tell them apart.
const SIGNED: [Colour; 7] = [
    rgb(0x0b, 0x3c, 0x6e),
    rgb(0x3f, 0x86, 0xbd),
    rgb(0xa9, 0xcf, 0xe5),
    rgb(0xfa, 0xf8, 0xf4),
    rgb(0xfd, 0xcf, 0x9f),
    rgb(0xe0, 0x82, 0x3d),
    rgb(0x7f, 0x2b, 0x0a),
];

/// Returns the colour at a position from -1 to 1 on a scale whose middle is zero.
pub(super) fn of_signed_share(share: f64) -> Colour {
    between(&SIGNED, (share + 1.0) / 2.0)
}

/// Lightness of shares just above 0 and just below 1. It differs from the lightness of empty and of full
/// cells.
const GREYS: [f32; 2] = [0.86, 0.32];

/// Returns the grey for a share between 0 and 1.
pub(super) fn grey_of(share: f32) -> Colour {
    [GREYS[0] + (GREYS[1] - GREYS[0]) * share.clamp(0.0, 1.0); 3]
}

/// Returns the colour for a share of a cell. Shares of 0 and 1 have their own colours.
pub(super) fn of_share_of_cell(share: f32) -> Colour {
    match share {
        _ if share.is_nan() => NO_VALUE,
        _ if share <= 0.0 => EMPTY,
        _ if share >= 1.0 => NEGATED,
        _ => grey_of(share),
    }
}

/// Returns the colours of all 256 values of a legend.
pub(super) fn of(legend: &Legend) -> [Colour; 256] {
    std::array::from_fn(|value| {
        let value = value as u8;
        let standard = legend.get(value).and_then(Label::standard_colour);
        of_bytes(standard.unwrap_or(legend.colour(value)))
    })
}

/// Converts bytes to shares.
pub(super) const fn of_bytes([r, g, b]: [u8; 3]) -> Colour {
    rgb(r, g, b)
}

const fn rgb(r: u8, g: u8, b: u8) -> Colour {
    [r as f32 / 255.0, g as f32 / 255.0, b as f32 / 255.0]
}

/// Parses `white`, `black` or `#rrggbb`.
///
/// # Errors
/// Returns a sentence that describes the fault.
pub fn parse(text: &str) -> Result<[u8; 3], String> {
    match text {
        "white" => return Ok([255; 3]),
        "black" => return Ok([0; 3]),
        _ => {}
    }
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() == 6
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
        && let Ok(number) = u32::from_str_radix(digits, 16)
    {
        let [_, r, g, b] = number.to_be_bytes();
        return Ok([r, g, b]);
    }
    Err("is not white, black or six hexadecimal digits such as #f4f1ea".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read() {
        assert_eq!(parse("white"), Ok([255; 3]));
        assert_eq!(
            (parse("#0a1Bff"), parse("0a1bff")),
            (Ok([10, 27, 255]), Ok([10, 27, 255]))
        );
        for text in ["", "#fff", "#12345g", "+12345", "#1234567", "red", "é12345"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_scale_gets_lighter_from_end_to_end() {
        assert_eq!((of_share(-1.0), of_share(2.0)), (SCALE[0], SCALE[24]));
        let light = |n: u32| {
            let [r, g, b] = of_share(f64::from(n) / 100.0);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        for n in 0..100 {
            assert!(light(n + 1) > light(n), "{n}");
        }
    }

    #[test]
    fn no_two_labels_look_alike() {
        let standard = Label::STANDARD_COLOURS.map(of_bytes);
        let unnamed = of(&Legend::default());
        let mut compared = 0;
        // The first forty values must have different colours.
        for colours in [&standard[..], &unnamed[1..41]] {
            for (n, a) in colours.iter().enumerate() {
                for b in &colours[n + 1..] {
                    let apart: f32 = (0..3).map(|c| (a[c] - b[c]).abs()).sum();
                    assert!(apart > 0.1, "{a:?} {b:?}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 10 + 40 * 39 / 2);
    }
}
