//! Functions that make text from files safe to print in messages.

use std::fmt::Write;

/// Converts text from a file to a form that is safe in messages: at most 40 characters, with escaped control
/// characters.
pub fn sanitize(words: impl AsRef<[u8]>) -> String {
    let words = words.as_ref();
    let text = String::from_utf8_lossy(&words[..words.len().min(160)]);
    visible(&text.chars().take(40).collect::<String>())
}

/// Converts text to one line in which every control character is replaced by an escape such as `\u{1b}`.
pub fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            // Writing to a String cannot fail.
            c if is_obeyed(c) => drop(write!(line, "\\u{{{:x}}}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

/// Returns `true` if a terminal or a viewer interprets this character instead of displaying it. These are
/// control characters (C0, DEL and C1), characters that change the text direction, zero-width characters, and
/// line separators.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_obeyed_stays() {
        let hostile = "a\u{1b}[31m\u{9b}b\n::error::c\u{202e}\u{200b}\u{7f}\u{e0041}é";
        assert_eq!(
            visible(hostile),
            "a\\u{1b}[31m\\u{9b}b\\n::error::c\\u{202e}\\u{200b}\\u{7f}\\u{e0041}é"
        );
        assert!(!visible(hostile).chars().any(is_obeyed));
        assert_eq!(sanitize("plain words, ü × 3"), "plain words, ü × 3");
    }
}
