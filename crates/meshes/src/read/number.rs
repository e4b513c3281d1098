//! Conversion of decimal numbers to the nearest floats, as in the standard library.

/// Returns the number at the start of `text` and its length in bytes. `None` if there is no number.
#[inline]
pub(super) fn first(text: &[u8]) -> Option<(f32, usize)> {
    fast_float2::parse_partial(text).ok()
}

/// Returns the float nearest to a number. `None` if the word is not a number. Infinity and NaN may be in the
/// notation of any C run-time library.
pub(super) fn of(word: &[u8]) -> Option<f32> {
    fast_float2::parse(word).ok().or_else(|| odd(word))
}

/// Returns the double nearest to a finite number. `None` for other words.
pub(super) fn double(word: &[u8]) -> Option<f64> {
    let value: f64 = fast_float2::parse(word).ok()?;
    value.is_finite().then_some(value)
}

/// Parses infinity and NaN as C run-time libraries print them: old ones print `1.#INF`, `-1.#IND` and
/// `1.#QNAN`, newer ones `-nan(ind)`.
#[cold]
fn odd(word: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    match text.trim_start_matches(['-', '+']) {
        odd if odd.starts_with("1.#inf") => Some(f32::INFINITY),
        odd if odd.starts_with("1.#") || odd.starts_with("nan(") => Some(f32::NAN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Asserts that the result is the same as in the standard library.
    fn agrees(text: &str) {
        let expected: Result<f32, _> = text.parse();
        let found = of(text.as_bytes());
        assert_eq!(
            found.map(f32::to_bits),
            expected.ok().map(f32::to_bits),
            "{text}"
        );
    }

    #[test]
    fn numbers_match_the_standard_library() {
        let mut random = Random::new(1);
        for _ in 0..60_000 {
            let bits = (random.below(1 << 31) as u32) << 1 | random.below(2) as u32;
            let value = f32::from_bits(bits);
            let middle = f64::midpoint(f64::from(value), f64::from(value.next_up()));
            for text in [
                format!("{value}"),
                format!("{value:e}"),
                format!("{value:.6}"),
                format!("{value:.6e}"),
                format!("{middle:e}"),
                format!("{:e}", middle.next_up()),
                format!("{:e}", middle.next_down()),
                format!(
                    "{}.{}e{}",
                    random.below(1000),
                    random.below(1 << 30),
                    random.below(60) as i64 - 30
                ),
                format!("-{}{:09}", random.below(1 << 30), random.below(1 << 30)),
                format!(
                    "0.{:0>1$}",
                    random.below(1 << 24),
                    random.below(14) as usize
                ),
            ] {
                agrees(&text);
            }
        }
    }

    #[test]
    fn words_that_are_not_numbers_match_the_standard_library() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "-.",
            "e5",
            ".e5",
            "1e",
            "1e+",
            "1e+-3",
            "1.2.3",
            "1,5",
            "1d3",
            "0x10",
            "1_000",
            "1e99999",
            "1e-99999",
            "--1",
            "+-1",
            "1.",
            ".5",
            "+.5",
            "5.e3",
            "00012",
            "-0",
            "0e999",
            "1e0000003",
            "9007199254740993",
            "18446744073709551616",
            "99999999999999999999",
            "16777217",
            "1e22",
            "1e23",
            "340282356779733661637539395458142568447",
            "340282356779733661637539395458142568448",
            "1e-45",
            "7e-46",
            "1.17549435e-38",
            "1.17549421e-38",
        ] {
            agrees(text);
        }
    }
}
