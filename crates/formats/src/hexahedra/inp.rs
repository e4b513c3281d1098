//! Writing `.inp`.

use std::io;

use super::elements::{LabelledLines, set_names};
use super::nodes::{HexahedronSink, hexahedra};
use super::walls;
use crate::comments::comments;
use crate::image::described;
use crate::{Dtype, SaveOptions};
use voxelize_core::error::Error;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{CellSource, CellType};

/// Highest number that a node or an element can have in Abaqus.
const MOST: u64 = 999_999_999;

/// Maximum number of characters that CalculiX reads of a number.
const DIGITS: usize = 20;

/// Name of the element set for cells without labels.
const VOXELS: &str = "VOXELS";

/// Number of bytes of nodes that are collected before they are written.
const BLOCK: usize = 256 << 10;

/// Writer of the file. Nodes are written as they arrive. Elements are collected and written after the last
/// node.
struct InpWriter<'a> {
    out: &'a mut dyn io::Write,
    /// Coordinates of the walls along each axis as text, such as `, 0.5`.
    walls: [Vec<String>; 3],
    text: Vec<u8>,
    line: Vec<u8>,
    nodes: u64,
    cells: u64,
    elements: LabelledLines,
}

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    out.write_all(head(source, dtype).as_bytes())?;
    let sets = match source.cell_type() {
        CellType::Labels(legend) if dtype == Dtype::U8 => set_names(legend),
        _ => vec![(1, VOXELS.to_string())],
    };
    let walls = walls(source).map(|walls| {
        walls
            .iter()
            .map(|wall| format!(", {}", number(*wall)))
            .collect()
    });
    let mut writer = InpWriter {
        out,
        walls,
        text: Vec::new(),
        line: Vec::new(),
        nodes: 0,
        cells: 0,
        elements: LabelledLines::new(),
    };
    hexahedra(source, dtype, options, &mut writer)?;
    writer.write_elements(&sets)
}

/// Returns the lines before the nodes.
fn head(source: &dyn CellSource, dtype: Dtype) -> String {
    let record = source.record();
    let tool = record.tool.as_deref().unwrap_or(TOOL);
    let title = match &record.input {
        Some(input) => format!("{tool}: {input}"),
        None => tool.to_string(),
    };
    let title: String = title
        .chars()
        .map(|c| match c {
            '*' => '_',
            c if c.is_ascii() && !c.is_control() => c,
            _ => '_',
        })
        .take(DIGITS * 4)
        .collect();
    let json = comments("**", &described(source, dtype));
    format!("*HEADING\n{title}\n{json}*NODE, NSET=NALL\n")
}

/// Returns a number with the fewest digits that identify it. If that takes more characters than CalculiX
/// reads, the number is rounded.
fn number(value: f64) -> String {
    for text in [format!("{value}"), format!("{value:e}")] {
        if text.len() <= DIGITS {
            return text;
        }
    }
    for digits in (0..17).rev() {
        let text = format!("{value:.digits$e}");
        if text.len() <= DIGITS {
            return text;
        }
    }
    String::new()
}

/// Appends an integer. This is many times as fast as `write!`.
fn push_whole(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return text.extend_from_slice(&digits[start..]);
        }
    }
}

fn check(count: u64, what: &str) -> io::Result<()> {
    if count <= MOST {
        return Ok(());
    }
    let text = format!("an .inp file has at most {MOST} {what}; the grid has more");
    Err(io::Error::other(
        Error::too_large(text).with_hint("use larger cells, or save as .vtu"),
    ))
}

impl InpWriter<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Writes the elements of each label that has elements.
    fn write_elements(mut self, sets: &[(u8, String)]) -> io::Result<()> {
        self.flush()?;
        for (label, name) in sets {
            if !self.elements.has(*label) {
                continue;
            }
            writeln!(self.out, "*ELEMENT, TYPE=C3D8, ELSET={name}")?;
            self.elements.write(*label, self.out)?;
        }
        Ok(())
    }
}

impl HexahedronSink for InpWriter<'_> {
    fn node(&mut self, walls: [usize; 3]) -> io::Result<()> {
        self.nodes += 1;
        check(self.nodes, "nodes")?;
        push_whole(&mut self.text, self.nodes);
        for (along, wall) in self.walls.iter().zip(walls) {
            self.text.extend_from_slice(along[wall].as_bytes());
        }
        self.text.push(b'\n');
        if self.text.len() >= BLOCK {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn hexahedron(&mut self, _: [usize; 3], nodes: &[u64; 8], value: u32) -> io::Result<()> {
        self.cells += 1;
        check(self.cells, "elements")?;
        self.line.clear();
        push_whole(&mut self.line, self.cells);
        for node in nodes {
            self.line.extend_from_slice(b", ");
            push_whole(&mut self.line, node + 1);
        }
        self.line.push(b'\n');
        self.elements.push(value as u8, &self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_into_twenty_characters() {
        for (value, text) in [
            (0.0, "0"),
            (-1.5, "-1.5"),
            (-1.0 / 3.0, "-0.3333333333333333"),
            (1e300, "1e300"),
            (1e-12, "0.000000000001"),
            (-1.234_567_890_123_456_7e-12, "-1.2345678901235e-12"),
            (-123_456_789.012_345_67, "-123456789.01234567"),
        ] {
            assert_eq!(number(value), text);
            assert!(number(value).len() <= DIGITS);
        }
        let mut text = vec![];
        [0, 9, 10, u64::MAX]
            .into_iter()
            .for_each(|number| push_whole(&mut text, number));
        assert_eq!(text, b"091018446744073709551615");
        assert!(check(MOST, "nodes").is_ok() && check(MOST + 1, "nodes").is_err());
    }
}
