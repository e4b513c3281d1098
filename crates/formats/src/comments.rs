//! Metadata in files that are only written: as ASCII comments in text headers, and as numbers in XML. The
//! metadata also shows that this tool wrote a file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::by_path;

/// Word that precedes the metadata.
pub(super) const MARK: &str = "voxelize ";

/// Maximum number of bytes of JSON per line. Abaqus reads lines of up to 256 bytes, MeshLab of up to 510 and
/// CloudCompare of up to 1023.
const LINE: usize = 236;

/// Start of metadata that this tool wrote.
pub(super) const METADATA_START: &str = "{\"tool\":\"voxelize ";

/// Escapes all characters of a JSON text that are not ASCII, because PLY headers are ASCII.
pub(super) fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

/// Splits `json` into comment lines. Each line starts with `begin` and the mark. Readers get the JSON back by
/// joining the rest of the lines without a gap.
pub(super) fn comments(begin: &str, json: &str) -> String {
    let json = ascii(json);
    let mut lines = String::new();
    let mut rest = &json[..];
    while !rest.is_empty() {
        let most = rest.len().min(LINE);
        let end = (1..=most)
            .rev()
            .find(|end| splits_cleanly(rest, *end))
            .unwrap_or(most);
        let (line, after) = rest.split_at(end);
        let _ = writeln!(lines, "{begin} {MARK}{line}");
        rest = after;
    }
    lines
}

/// Returns `true` if `text` can be split before byte `at` without harm. A space at the split may be stripped
/// by readers, and an .obj line that ends in `\` continues on the next line.
fn splits_cleanly(text: &str, at: usize) -> bool {
    let (line, after) = text.split_at(at);
    !line.ends_with([' ', '\\']) && !after.starts_with(' ')
}

/// Returns the bytes of a text as decimal numbers, 40 to a line.
pub(super) fn codes(text: &str) -> String {
    let codes: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
    codes
        .chunks(40)
        .map(|line| line.join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Unpacks the start of a gzip file. `head` is the first part of the file.
pub(super) fn unpacked(head: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    // The end of the file is missing, so reading fails after the last complete byte. The error is ignored.
    let _ = GzDecoder::new(head).take(4096).read_to_end(&mut plain);
    plain
}

/// Returns `true` if `text` occurs in `bytes`.
pub(super) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Returns `true` if this tool wrote the file at `path`. The extension must belong to a format that is only
/// written, and the start of the file must have the mark of this tool.
pub(super) fn is_marked(path: &Path) -> bool {
    let Some(format) = by_path(path) else {
        return false;
    };
    let mut head = vec![];
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.is_ok() && (format.is_ours)(&head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_short_ascii_lines_that_join() {
        let json = format!(
            "{{\"a\":\"{}Würfel 😀 {}\"}}",
            "b\\\\ ".repeat(250),
            " ".repeat(20)
        );
        let lines = comments("#", &json);
        assert!(lines.is_ascii() && lines.lines().count() > 2);
        for line in lines.lines() {
            assert!(
                line.len() <= LINE + 11
                    && !line.ends_with(['\\', ' '])
                    && !line[11..].starts_with(' '),
                "{line}"
            );
        }
        let joined: String = lines
            .lines()
            .map(|line| line.strip_prefix("# voxelize ").unwrap())
            .collect();
        assert_eq!(
            joined,
            json.replace('ü', "\\u00fc").replace('😀', "\\ud83d\\ude00")
        );
    }
}
