//! Words out of files, made fit for messages.

/// Words out of a file as messages show them: at most 40 characters, none that a terminal would obey.
pub fn sanitize(words: impl AsRef<[u8]>) -> String {
    let words = words.as_ref();
    let text = String::from_utf8_lossy(&words[..words.len().min(160)]);
    text.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
