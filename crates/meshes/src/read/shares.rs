//! Colours of vertices and faces written as numbers. Shares of 1 and bytes up to 255 look alike in a single colour, so the
//! whole file decides.

use super::number;

/// The greatest share that light in a scene makes of a colour. A larger number is a byte.
const LIGHT: f32 = 16.0;

/// A colour as a file writes it.
pub(super) type WrittenColour = [f32; 3];

/// What is known of the numbers of all colours of a file.
#[derive(Clone, Copy, Default)]
pub(super) struct ColourRange {
    largest: f32,
    has_fractions: bool,
}

impl ColourRange {
    /// Looks at a number of a colour, and at whether it was written with a decimal point.
    pub(super) fn see(&mut self, value: f32, is_fraction: bool) {
        self.has_fractions |= is_fraction;
        if value.is_finite() {
            self.largest = self.largest.max(value);
        }
    }

    /// The number of full colour: 255 for bytes, which are whole or large; 1 for shares. Shares above 1 are clamped.
    pub(super) fn full(&self) -> f32 {
        let are_bytes = self.largest > LIGHT || self.largest > 1.0 && !self.has_fractions;
        if are_bytes { 255.0 } else { 1.0 }
    }

    /// Returns the colour of three words, and an opacity behind them if there is one, and looks at them. Words that are no
    /// numbers are no colour.
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
    fn the_whole_file_decides_what_full_is() {
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
