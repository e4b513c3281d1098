//! Colours in the attributes of a binary STL. Each facet has 15 bits, in one of two conventions.
//!
//! | program | header | bit 15 | bits 0 to 4, 5 to 9, 10 to 14 |
//! |---|---|---|---|
//! | Magics | `COLOR=` and four bytes: the colour of the whole part | not set: the facet has its own colour | red, green, blue |
//! | VisCAM, SolidView, MeshLab | anything | set: the facet has a colour | blue, green, red |

use crate::colours::WHITE;

/// Returns the colours of facets, given their attributes. `None` if no attribute is a colour.
pub(super) fn colours(header: &[u8], attributes: &[u16]) -> Option<Vec<[[u8; 3]; 3]>> {
    const MARK: &[u8] = b"COLOR=";
    const OWN: u16 = 1 << 15;
    let part = header.windows(MARK.len()).position(|window| window == MARK);
    let part = part.and_then(|at| header.get(at + MARK.len()..at + MARK.len() + 3));
    let colour_of = |attribute: u16| {
        let [low, middle, high] = [0, 5, 10].map(|bit| channel(attribute >> bit & 31));
        match part {
            Some(&[r, g, b]) if attribute & OWN != 0 => [r, g, b],
            Some(_) => [low, middle, high],
            None if attribute & OWN != 0 => [high, middle, low],
            None => WHITE,
        }
    };
    let has_colours = part.is_some() || attributes.iter().any(|attribute| attribute & OWN != 0);
    has_colours.then(|| {
        attributes
            .iter()
            .map(|attribute| [colour_of(*attribute); 3])
            .collect()
    })
}

/// Scales a channel of five bits to eight bits.
fn channel(bits: u16) -> u8 {
    ((u32::from(bits) * 255 + 15) / 31) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_colours_in_two_conventions() {
        let red = [255, 0, 0];
        let blue = [0, 0, 255];
        let plain = &[b' '; 80][..];
        let magics = &b"binary COLOR=\x01\x02\x03\xff and more"[..];
        for (header, attributes, expected) in [
            (
                plain,
                &[0x8000 | 31 << 10, 0x8000 | 31][..],
                Some(vec![red, blue]),
            ),
            (plain, &[0x8000 | 31 << 10, 7], Some(vec![red, WHITE])),
            (plain, &[7, 0], None),
            (
                magics,
                &[31, 31 << 10, 0x8000],
                Some(vec![red, blue, [1, 2, 3]]),
            ),
            (magics, &[], Some(vec![])),
        ] {
            let found = colours(header, attributes);
            let expected =
                expected.map(|colours| colours.into_iter().map(|colour| [colour; 3]).collect());
            assert_eq!(found, expected, "{attributes:?}");
        }
        assert_eq!([0, 1, 16, 31].map(channel), [0, 8, 132, 255]);
    }
}
