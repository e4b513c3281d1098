//! Text from files, made safe to print in messages.

use std::fmt::Write;

/// Returns text from a file as messages print it: at most 40 characters, without control characters.
pub fn sanitize(words: impl AsRef<[u8]>) -> String {
    let words = words.as_ref();
    let text = String::from_utf8_lossy(&words[..words.len().min(160)]);
    visible(&text.chars().take(40).collect::<String>())
}

/// Returns one line of text in which every control character is replaced by its code, such as `\u{1b}`.
pub fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            // A writer into a String cannot fail.
            c if is_obeyed(c) => drop(write!(line, "\\u{{{:x}}}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

/// Returns `true` if a terminal or a viewer interprets this character instead of printing it: C0, DEL and C1,
/// changes of text direction, characters without width, and line ends.
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
