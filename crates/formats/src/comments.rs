//! Metadata in files that are only written: ASCII comments in text headers, numbers in XML. It also serves to
//! recognise files that this tool wrote.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::by_path;

/// Word before the metadata.
pub(super) const MARK: &str = "voxelize ";

/// Maximum number of bytes of JSON in a line. Abaqus takes lines of 256 bytes, MeshLab of 510, CloudCompare
/// of 1023.
const LINE: usize = 236;

/// First characters of the metadata of this tool.
pub(super) const METADATA_START: &str = "{\"tool\":\"voxelize ";

/// Escapes every character of JSON beyond ASCII, because headers of PLY are ASCII.
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

/// Splits `json` into comment lines. Each line starts with `begin` and the mark; the parts join without a
/// gap.
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

/// Returns true if `text` can be split before byte `at`. Readers may strip blanks, and a line of .obj that
/// ends in `\` continues on the next.
fn splits_cleanly(text: &str, at: usize) -> bool {
    let (line, after) = text.split_at(at);
    !line.ends_with([' ', '\\']) && !after.starts_with(' ')
}

/// Returns the bytes of a text as decimal numbers, in lines.
pub(super) fn codes(text: &str) -> String {
    let codes: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
    codes
        .chunks(40)
        .map(|line| line.join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the first bytes of the content of a gzip file.
pub(super) fn unpacked(head: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    // The end is missing, so an error follows the bytes.
    let _ = GzDecoder::new(head).take(4096).read_to_end(&mut plain);
    plain
}

/// Returns true if `text` occurs in `bytes`.
pub(super) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Returns true if the name of the file at `path` belongs to a format without a reader, and the start of the
/// file states that this tool wrote it.
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
