//! Decimal numbers as floats: the nearest one, exactly as the standard library has it, but faster for
//! the numbers that STL files are full of.

/// Powers of ten that doubles hold exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The number that `text` begins with and the bytes it takes; none if it needs a closer look.
#[inline]
pub(super) fn short(text: &[u8]) -> Option<(f32, usize)> {
    let mut at = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let mut mantissa = 0;
    let start = at;
    at = digits(text, at, &mut mantissa);
    let mut count = at - start;
    let mut exponent = 0;
    if text.get(at) == Some(&b'.') {
        let point = at + 1;
        at = digits(text, point, &mut mantissa);
        count += at - point;
        exponent = -((at - point) as i64);
    }
    // With more the mantissa may have overflowed.
    if count == 0 || count > 19 {
        return None;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let negative = text.get(at + 1) == Some(&b'-');
        let start = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let mut power = 0;
        at = digits(text, start, &mut power);
        if at == start || at > start + 4 {
            return None;
        }
        exponent += if negative {
            -(power as i64)
        } else {
            power as i64
        };
    }
    let value = nearest(mantissa, exponent)?;
    Some((if text[0] == b'-' { -value } else { value }, at))
}

/// Adds the digits from `at` on to a number; returns where they end.
#[inline(always)]
fn digits(text: &[u8], mut at: usize, number: &mut u64) -> usize {
    while let Some(digit @ 0..=9) = text.get(at).map(|byte| byte.wrapping_sub(b'0')) {
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The float nearest to `mantissa * 10^exponent`, where two roundings give it.
///
/// Mantissa and power are exact doubles, so their product or quotient is rounded once, to the nearest
/// double. That one lies on the same side of every middle between two floats as the exact value, as
/// middles are doubles and rounding keeps order, unless it is a middle itself.
#[inline(always)]
fn nearest(mantissa: u64, exponent: i64) -> Option<f32> {
    // The bits of a double that a float does not have, and of those the first: halfway.
    const REST: u64 = (1 << 29) - 1;
    const MIDDLE: u64 = 1 << 28;
    if mantissa == 0 {
        return Some(0.0);
    }
    let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
    if mantissa > 1 << 53 {
        return None;
    }
    let value = if exponent < 0 {
        mantissa as f64 / power
    } else {
        mantissa as f64 * power
    };
    let is_normal = (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&value);
    (is_normal && value.to_bits() & REST != MIDDLE).then_some(value as f32)
}

/// The nearest float; infinite or NaN if the word says so, in the words of any run-time library.
pub(super) fn of(word: &[u8]) -> Option<f32> {
    if let Some((value, length)) = short(word)
        && length == word.len()
    {
        return Some(value);
    }
    let text = std::str::from_utf8(word).ok()?;
    text.parse().ok().or_else(|| {
        // Old C run-times print 1.#INF, -1.#IND and 1.#QNAN, newer ones -nan(ind).
        let text = text.to_ascii_lowercase();
        match text.trim_start_matches(['-', '+']) {
            odd if odd.starts_with("1.#inf") => Some(f32::INFINITY),
            odd if odd.starts_with("1.#") || odd.starts_with("nan(") => Some(f32::NAN),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Compares with the standard library; true if the short way was taken.
    fn agrees(text: &str) -> bool {
        let expected: Result<f32, _> = text.parse();
        let found = of(text.as_bytes());
        assert_eq!(
            found.map(f32::to_bits),
            expected.ok().map(f32::to_bits),
            "{text}"
        );
        short(text.as_bytes()).is_some_and(|(_, length)| length == text.len())
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut random = Random::new(1);
        let mut short = 0;
        let mut all = 0;
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
                short += u64::from(agrees(&text));
                all += 1;
            }
        }
        assert!(
            short > all / 4 && short < all,
            "{short} of {all} were short"
        );
    }

    #[test]
    fn what_is_no_number_is_none_here_as_there() {
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
