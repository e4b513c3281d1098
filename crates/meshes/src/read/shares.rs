//! Colours of vertices and faces that are stored as numbers. A single colour does not show whether its
//! numbers are shares of 1 or bytes up to 255, so the decision is made for the whole file.

use super::number;

/// Maximum number that may be a share of 1. Shares exceed 1 in bright light. Larger numbers must be bytes.
const LIGHT: f32 = 16.0;

/// Colour as the file stores it.
pub(super) type WrittenColour = [f32; 3];

/// Range of the numbers in all colours of a file.
#[derive(Clone, Copy, Default)]
pub(super) struct ColourRange {
    largest: f32,
    has_fractions: bool,
}

impl ColourRange {
    /// Extends the range by a number of a colour. `is_fraction` states whether it was written with a decimal
    /// point.
    pub(super) fn see(&mut self, value: f32, is_fraction: bool) {
        self.has_fractions |= is_fraction;
        if value.is_finite() {
            self.largest = self.largest.max(value);
        }
    }

    /// Returns the number that stands for full intensity: 255 if the numbers are bytes, 1 if they are shares.
    /// They are bytes if some number is large, or if some exceeds 1 and none has a decimal point. Otherwise
    /// shares above 1 are clamped.
    pub(super) fn full(&self) -> f32 {
        let are_bytes = self.largest > LIGHT || self.largest > 1.0 && !self.has_fractions;
        if are_bytes { 255.0 } else { 1.0 }
    }

    /// Parses a colour of three words and an optional opacity, and extends the range by its numbers. `None`
    /// if a word is not a number.
    pub(super) fn colour(&mut self, words: [&[u8]; 4]) -> Option<WrittenColour> {
        let mut colour = [0.0; 3];
        for (value, word) in colour.iter_mut().zip(words) {
            *value = number::of(word)?;
        }
        let opacity = number::of(words[3]);
        for (value, word) in colour.into_iter().chain(opacity).zip(words) {
            let is_fraction = word.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
            self.see(value, is_fraction);
        }
        Some(colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_file_decides_the_number_of_full_colour() {
        for (colours, full) in [
            (&["0 0 1", "1 0 0"][..], 1.0),
            (&["0 0 1", "255 0 0"], 255.0),
            (&["0 0 1", "2 0 0"], 255.0),
            (&["0 0 1", "2.0 0 0"], 1.0),
            (&["1.05 0.5 0.2"], 1.0),
            (&["3.5 0 0", "0 1 0"], 1.0),
            (&["254.5 0.5 0.2", "0.0 0.0 1.0"], 255.0),
            (&["0 1 1 255"], 255.0),
            (&["1 0 0 1"], 1.0),
            (&["1 0 0 0.5"], 1.0),
            (&["inf 0 0"], 1.0),
        ] {
            let mut range = ColourRange::default();
            for colour in colours {
                let mut words = colour.split(' ').map(str::as_bytes);
                range.colour([(); 4].map(|()| words.next().unwrap_or_default()));
            }
            assert_eq!(range.full(), full, "{colours:?}");
        }
        assert_eq!(ColourRange::default().colour([b"1", b"x", b"0", b""]), None);
    }
}
