//! Colours, as sRGB: quiet ones for what is always there, blue and orange, which everybody can tell
//! apart, for what differs.

use crate::grid::Sort;

/// Red, green, blue from 0 to 1.
pub type Colour = [f32; 3];

/// Lines of boxes and labels.
pub const INK: Colour = rgb(0x6b, 0x72, 0x7c);

/// The axes x, y, z.
pub const AXES: [Colour; 3] = [rgb(0xd1, 0x4b, 0x4b), rgb(0x3f, 0x9b, 0x5a), rgb(0x3d, 0x74, 0xd6)];

/// The facets of a mesh.
pub const FACETS: Colour = rgb(0xd0, 0xd2, 0xd6);

/// The empty cells of a slice.
pub const EMPTY: Colour = rgb(0xf1, 0xf2, 0xf4);

/// The colour of cells of a sort.
pub const fn of(sort: Sort) -> Colour {
    match sort {
        Sort::Surface => rgb(0x8f, 0xb1, 0xcf),
        Sort::Interior => rgb(0xe0, 0xc3, 0x8c),
        Sort::Common => rgb(0xc4, 0xc8, 0xcd),
        Sort::Added => rgb(0x1f, 0x78, 0xd1),
        Sort::Removed => rgb(0xec, 0x7a, 0x1c),
    }
}

const fn rgb(r: u8, g: u8, b: u8) -> Colour {
    [r as f32 / 255.0, g as f32 / 255.0, b as f32 / 255.0]
}

/// Reads `white`, `black` or `#rrggbb`.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse(text: &str) -> Result<[u8; 3], String> {
    match text {
        "white" => return Ok([255; 3]),
        "black" => return Ok([0; 3]),
        _ => {}
    }
    let digits = text.strip_prefix('#').unwrap_or(text);
    let byte = |n: usize| u8::from_str_radix(digits.get(2 * n..2 * n + 2)?, 16).ok();
    let plain = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    match (plain, byte(0), byte(1), byte(2)) {
        (true, Some(r), Some(g), Some(b)) => Ok([r, g, b]),
        _ => Err("is not white, black or six hexadecimal digits such as #f4f1ea".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read() {
        assert_eq!(parse("white"), Ok([255; 3]));
        assert_eq!((parse("#0a1Bff"), parse("0a1bff")), (Ok([10, 27, 255]), Ok([10, 27, 255])));
        for text in ["", "#fff", "#12345g", "+12345", "#1234567", "red", "é12345"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_two_sorts_look_alike() {
        for (n, a) in Sort::ALL.into_iter().enumerate() {
            for b in Sort::ALL.into_iter().skip(n + 1) {
                let apart: f32 = (0..3).map(|c| (of(a)[c] - of(b)[c]).abs()).sum();
                assert!(apart > 0.2, "{a:?} {b:?}");
            }
        }
    }
}
