//! Collects the lines of elements and writes them sorted by label. Also names the element sets of the labels.

use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

use crate::save::{SPOOL, not_spooled};
use voxelize_core::grid::Legend;

/// Number of bytes of a label's lines that are collected before they are written to the temporary file.
const PIECE: usize = 16 << 10;

/// Upper bound for the memory of the lines of all labels in bytes. Includes the part of the temporary file
/// that is in memory.
pub(super) const BYTES: u64 = (2 * 256 * PIECE + SPOOL) as u64;

/// Maximum number of characters in the name of a set.
const LONGEST: usize = 80;

/// Lines that are added in any order of their labels.
pub(super) struct LabelledLines {
    spool: SpooledTempFile,
    /// Label and length of each piece in the temporary file.
    pieces: Vec<(u8, u64)>,
    /// Lines of each label that are not yet in the temporary file.
    pending: Vec<Vec<u8>>,
}

impl LabelledLines {
    pub(super) fn new() -> Self {
        Self {
            spool: SpooledTempFile::new(SPOOL),
            pieces: Vec::new(),
            pending: vec![Vec::new(); 256],
        }
    }

    pub(super) fn push(&mut self, label: u8, line: &[u8]) -> io::Result<()> {
        let pending = &mut self.pending[usize::from(label)];
        pending.extend_from_slice(line);
        if pending.len() >= PIECE {
            self.spool.write_all(pending).map_err(not_spooled)?;
            self.pieces.push((label, pending.len() as u64));
            pending.clear();
        }
        Ok(())
    }

    /// Returns `true` if there are lines of this label.
    pub(super) fn has(&self, label: u8) -> bool {
        !self.pending[usize::from(label)].is_empty()
            || self.pieces.iter().any(|(of, _)| *of == label)
    }

    /// Writes the lines of a label in the order in which they were added.
    pub(super) fn write(&mut self, label: u8, out: &mut dyn Write) -> io::Result<()> {
        let mut start = 0;
        for (of, length) in &self.pieces {
            if *of == label {
                self.spool
                    .seek(SeekFrom::Start(start))
                    .map_err(not_spooled)?;
                io::copy(&mut Read::take(&mut self.spool, *length), out)?;
            }
            start += length;
        }
        out.write_all(&self.pending[usize::from(label)])
    }
}

/// Returns the names of the element sets of all labels, in the order of the legend. A name begins with a
/// letter, and has only letters, digits and `_`. No two names are equal, even if upper and lower case are not
/// distinguished.
pub(super) fn set_names(legend: &Legend) -> Vec<(u8, String)> {
    let values: Vec<u8> = match legend.labels() {
        [] => (1..=255).collect(),
        labels => labels.iter().map(|label| label.value).collect(),
    };
    let mut names: Vec<(u8, String)> = Vec::new();
    for value in values {
        let mut name: String = legend
            .name(value)
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "L_");
        }
        name.truncate(LONGEST);
        if names
            .iter()
            .any(|(_, other)| other.eq_ignore_ascii_case(&name))
        {
            name = (0..)
                .find_map(|n| unused(&names, &name, value, n))
                .unwrap_or(name);
        }
        names.push((value, name));
    }
    names
}

/// Appends the value of the label to a name. After the first attempt, also appends the number `n`. Returns
/// `None` if the resulting name is already used.
fn unused(names: &[(u8, String)], name: &str, value: u8, n: usize) -> Option<String> {
    let end = if n == 0 {
        format!("_{value}")
    } else {
        format!("_{value}_{n}")
    };
    let name = format!("{}{end}", &name[..name.len().min(LONGEST - end.len())]);
    if names
        .iter()
        .any(|(_, other)| other.eq_ignore_ascii_case(&name))
    {
        return None;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::Label;

    #[test]
    fn names_of_sets_are_words_that_differ() {
        let long = "x".repeat(100);
        let labels = [
            "bone",
            "Bone",
            "2nd part, left",
            "Würfel",
            "bone_2",
            "bone 2",
            &long,
            &long.to_uppercase(),
        ];
        let labels = labels
            .iter()
            .zip(1..)
            .map(|(name, value)| Label::new(value, *name));
        let names: Vec<String> = set_names(&Legend::new(labels).unwrap())
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        let expected = [
            "bone",
            "Bone_2",
            "L_2nd_part__left",
            "W_rfel",
            "bone_2_5",
            "bone_2_6",
        ];
        assert_eq!(names[..6], expected);
        assert_eq!((names[6].len(), names[7].len()), (80, 80));
        assert!(names[7].ends_with("X_8"));
        let all = set_names(&Legend::default());
        assert_eq!((all.len(), &*all[6].1), (255, "label_7"));
    }

    #[test]
    fn many_lines_are_sorted_by_label() {
        let mut lines = LabelledLines::new();
        let line = |n: u32| format!("{n:06}\n");
        for n in 0..80_000 {
            lines.push((n % 7 * 40) as u8, line(n).as_bytes()).unwrap();
        }
        for label in 0..7 {
            let mut found = Vec::new();
            lines.write((label * 40) as u8, &mut found).unwrap();
            let expected: String = (0..80_000).filter(|n| n % 7 == label).map(line).collect();
            assert!(
                found == expected.as_bytes() && found.len() > PIECE,
                "{label}"
            );
        }
        assert!(lines.has(240) && !lines.has(241) && lines.pieces.len() == 7 * (80_000 / PIECE));
    }
}
