//! Formatting of values as text: numbers, sizes, durations, grids and digests. All values in reports are
//! formatted here.

use std::time::Duration;

use voxelize::grid::AXES;
pub use voxelize::tool::text::{bytes, counted, grouped, grouped_number, number};
use voxelize::tool::text::{is_obeyed, visible};
use voxelize::{Digest, Lattice, Rational};

/// Returns `0.5` if the three numbers are equal, otherwise `0.5 × 0.5 × 1`.
pub fn sizes(values: [f64; 3]) -> String {
    let [x, y, z] = values.map(number);
    if x == y && y == z {
        x
    } else {
        format!("{x} × {y} × {z}")
    }
}

/// Returns a share in percent: `86.4 %`, `< 0.1 %`. Only exact values become `0 %` or `100 %`.
pub fn percent(part: u64, whole: u128) -> String {
    let share = 100.0 * part as f64 / whole as f64;
    if part == 0 {
        "0 %".to_string()
    } else if u128::from(part) == whole {
        "100 %".to_string()
    } else if share < 0.1 {
        "< 0.1 %".to_string()
    } else if share > 99.9 {
        "> 99.9 %".to_string()
    } else {
        format!("{share:.1} %")
    }
}

/// Returns `42 × 42 × 42`.
pub fn dims([x, y, z]: [usize; 3]) -> String {
    format!("{x} × {y} × {z}")
}

/// Returns the grid as text: `42 × 42 × 42 cells of 0.5, corner (-0.5, -0.5, -0.5)`.
pub fn grid(lattice: &Lattice) -> String {
    grid_in(lattice, None)
}

/// Returns the grid as text, with the unit of its cells: `42 × 42 × 42 cells of 0.5 mm, corner (-0.5, -0.5,
/// -0.5)`.
pub fn grid_in(lattice: &Lattice, unit: Option<&str>) -> String {
    format!("{} {}", dims(lattice.dims()), cells_in(lattice, unit))
}

/// Returns the grid as text, with the number of its cells: `42 × 42 × 42 = 74,088 cells of 0.5 mm, corner
/// (-0.5, -0.5, -0.5)`.
pub fn planned_grid(lattice: &Lattice, unit: Option<&str>) -> String {
    let all: u128 = lattice.dims().iter().map(|&n| n as u128).product();
    let all = grouped(u64::try_from(all).unwrap_or(u64::MAX));
    format!(
        "{} = {all} {}",
        dims(lattice.dims()),
        cells_in(lattice, unit)
    )
}

/// Returns the unit that follows a length, ` mm`. Empty if the unit is unknown.
pub fn suffix(unit: Option<&str>) -> String {
    unit.map_or_else(String::new, |unit| format!(" {unit}"))
}

/// Returns a volume with its unit: `8,000 mm³`.
pub fn volume(volume: f64, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{} {unit}³", grouped_number(volume)),
        None => grouped_number(volume),
    }
}

/// Returns an area with its unit: `2,400 mm²`.
pub fn area(area: f64, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{} {unit}²", grouped_number(area)),
        None => grouped_number(area),
    }
}

/// Returns a number with three digits, or with all digits before the point if there are more: `5.26`, `43.2`,
/// `1,235`.
pub fn three_digits(value: f64) -> String {
    if value >= 1000.0 {
        return grouped_number(value.round());
    }
    number(format!("{value:.2e}").parse().unwrap_or(value))
}

/// Returns the size of the cells and the corner of the grid: `cells of 0.5, corner (-0.5, -0.5, -0.5)`.
pub fn cells(lattice: &Lattice) -> String {
    cells_in(lattice, None)
}

fn cells_in(lattice: &Lattice, unit: Option<&str>) -> String {
    let corner = lattice
        .origin()
        .each_ref()
        .map(|c| number(c.to_f64()))
        .join(", ");
    let unit = suffix(unit);
    format!(
        "cells of {}{unit}, corner ({corner}){unit}",
        sizes(lattice.spacing().each_ref().map(Rational::to_f64))
    )
}

/// Returns the number of occupied cells and their share of all cells: `64,000 of 74,088 (86.4 %)`.
pub fn occupancy(occupied: u64, dims: [usize; 3]) -> String {
    let all: u128 = dims.iter().map(|&n| n as u128).product();
    let share = percent(occupied, all);
    format!(
        "{} of {} ({share})",
        grouped(occupied),
        grouped(u64::try_from(all).unwrap_or(u64::MAX))
    )
}

/// Returns the names of the axes on which the last wall does not belong to the grid.
pub fn open_axes(lattice: &Lattice) -> Vec<String> {
    let open = AXES
        .iter()
        .zip(lattice.closed())
        .filter(|(_, is_closed)| !is_closed);
    open.map(|(axis, _)| axis.to_string()).collect()
}

/// Returns the hint about a box that is larger than another one by a factor: `the second is about 25.4 times
/// smaller than the first: inches and millimetres? --scale 25.4 makes the second as large`.
pub fn size_factor(factor: f64, names: [&str; 2]) -> String {
    let question = size_question(factor, names);
    let scale = scale_of(factor);
    format!("{question} --scale {scale} makes {} as large", names[1])
}

/// Returns the scale by which the second box becomes as large as the first.
pub fn scale_of(factor: f64) -> String {
    if factor > 1.0 {
        format!("1/{}", number(factor))
    } else {
        number(1.0 / factor)
    }
}

/// Returns `the second is about 25.4 times smaller than the first: inches and millimetres?`.
pub fn size_question(factor: f64, [first, second]: [&str; 2]) -> String {
    let is_larger = factor > 1.0;
    let by = if is_larger { factor } else { 1.0 / factor };
    let than = if is_larger { "larger" } else { "smaller" };
    let units = match by.round() as u64 {
        25 => "inches and millimetres",
        10 => "centimetres and millimetres",
        _ => "metres and millimetres",
    };
    let by = number(by);
    format!("{second} is about {by} times {than} than {first}: {units}?")
}

/// Returns both digests on one line.
pub fn digest(digest: &Digest) -> String {
    let grid = digest
        .grid
        .map_or_else(String::new, |grid| format!("grid {grid}   "));
    format!("{grid}cells {}", digest.cells)
}

/// Returns a duration with its unit: `3.2 ms`.
pub fn duration(time: Duration) -> String {
    durations(time, &[])
}

/// Returns the total time and the time of each phase: `3.0 ms: read 0.2, write 2.1`.
pub fn durations(total: Duration, phases: &[(&str, Option<Duration>)]) -> String {
    let (unit, per_second) = unit(total);
    let mut texts = vec![];
    for (name, time) in phases {
        texts.extend(time.map(|time| format!("{name} {}", rounded(time, per_second))));
    }
    let colon = if texts.is_empty() { "" } else { ": " };
    format!(
        "{} {unit}{colon}{}",
        rounded(total, per_second),
        texts.join(", ")
    )
}

/// Returns the unit in which a time is shown, and how many of these units a second has.
fn unit(time: Duration) -> (&'static str, f64) {
    if time < Duration::from_secs(1) {
        ("ms", 1e3)
    } else {
        ("s", 1.0)
    }
}

fn rounded(time: Duration, per_second: f64) -> String {
    let value = time.as_secs_f64() * per_second;
    if value < 9.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Returns the two corners of a box of cells in coordinates of the lattice.
pub fn corners(lattice: &Lattice, [low, high]: [[usize; 3]; 2]) -> [[f64; 3]; 2] {
    let at = |axis: usize, wall: usize| lattice.wall(axis, wall).to_f64();
    [
        std::array::from_fn(|a| at(a, low[a])),
        std::array::from_fn(|a| at(a, high[a] + 1)),
    ]
}

/// Returns a box of cells as text: `cells x 3 … 5, y 0 … 7, z 2; in space x 0.3 … 0.6, …`.
pub fn cell_box(cells: [[usize; 3]; 2], lattice: Option<&Lattice>) -> String {
    let [low, high] = cells;
    let mut texts = vec![];
    for (axis, (low, high)) in AXES.iter().zip(low.into_iter().zip(high)) {
        texts.push(if low == high {
            format!("{axis} {low}")
        } else {
            format!("{axis} {low} … {high}")
        });
    }
    let text = format!("cells {}", texts.join(", "));
    match lattice {
        Some(lattice) => format!("{text}; in space {}", ranges(corners(lattice, cells))),
        None => text,
    }
}

/// Returns a box of coordinates as text: `x 0 … 20, y 0 … 20, z 0 … 20`.
pub fn ranges([min, max]: [[f64; 3]; 2]) -> String {
    [0, 1, 2]
        .map(|a| format!("{} {} … {}", AXES[a], number(min[a]), number(max[a])))
        .join(", ")
}

/// Returns a share from 0 to 1. A share below 1 is never rounded to 1.
pub fn share(value: f64) -> String {
    let text = number(value);
    if text == "1" && value < 1.0 {
        "> 0.999999".to_string()
    } else {
        text
    }
}

/// Escapes line breaks and terminal control characters in one line. File names may contain them.
pub fn sanitized(line: &str) -> String {
    visible(line)
}

/// Escapes terminal control characters and commands for CI services in a text of several lines.
pub fn sanitized_lines(text: &str) -> String {
    text.split_inclusive('\n').map(sanitized_line).collect()
}

/// Escapes one line, with or without its line break. GitHub obeys lines that begin with `::`. Azure and
/// GitHub also obey `##[` and `##vso[` anywhere in a line.
fn sanitized_line(line: &str) -> String {
    let (line, end) = line
        .strip_suffix('\n')
        .map_or((line, ""), |line| (line, "\n"));
    let line = sanitized(line)
        .replace("##[", "#\\u{23}[")
        .replace("##vso[", "#\\u{23}vso[");
    let words = line.trim_start();
    let blanks = &line[..line.len() - words.len()];
    match words.strip_prefix("::") {
        Some(rest) => format!("{blanks}\\u{{3a}}:{rest}{end}"),
        None => line + end,
    }
}

/// Colours the severity at the start of a line: `error[S004]:`, `warning[W006]:`, `hint:`.
pub fn coloured(text: &str) -> String {
    text.split_inclusive('\n').map(coloured_line).collect()
}

fn coloured_line(line: &str) -> String {
    /// ANSI codes for bold red, bold yellow, bold blue and dim. These colours are readable on dark and on
    /// light terminals.
    const COLOURS: [(&str, &str); 4] = [
        ("error", "1;31"),
        ("warning", "1;33"),
        ("note", "1;34"),
        ("hint", "2"),
    ];
    let Some((head, rest)) = line.split_once(':') else {
        return line.to_string();
    };
    let word = head.split('[').next().unwrap_or(head);
    match COLOURS.iter().find(|(name, _)| *name == word) {
        Some((_, colour)) => format!("\u{1b}[{colour}m{head}:\u{1b}[0m{rest}"),
        None => line.to_string(),
    }
}

/// Escapes terminal control characters in the strings of a JSON text. JSON itself requires this only for
/// U+0000 to U+001F.
pub fn sanitized_json(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        if is_obeyed(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text += &format!("\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// Returns `body 1,234, lid 56 and 2 more`. Items beyond the first `SHOWN` are only counted.
pub fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 12;
    let more = items.len().saturating_sub(SHOWN);
    let shown = items.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_ci_services_are_no_lines() {
        let log = sanitized_lines("  ::error::x\n##[error]y\na ::b ##vso[z\ta\n");
        assert_eq!(
            log,
            "  \\u{3a}:error::x\n#\\u{23}[error]y\na ::b #\\u{23}vso[z\\ta\n"
        );
    }

    #[test]
    fn words_that_say_how_bad_it_is_are_coloured() {
        let text = coloured("error[S004]: a: b\nhint: c\nwarnings: 2\nplain");
        assert_eq!(
            text,
            "\u{1b}[1;31merror[S004]:\u{1b}[0m a: b\n\u{1b}[2mhint:\u{1b}[0m c\nwarnings: 2\nplain"
        );
    }

    #[test]
    fn json_escapes_what_terminals_obey() {
        let name = "a\u{9b}\u{202e}\u{e0041}\u{7f}\u{1b}é";
        let line = sanitized_json(&serde_json::json!({ "name": name }).to_string());
        assert!(!line.chars().any(is_obeyed), "{line}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&line).unwrap()["name"],
            name
        );
    }

    #[test]
    fn equal_sizes_are_one() {
        assert_eq!(sizes([0.5; 3]), "0.5");
        assert_eq!(sizes([0.5, 0.5, 1.0]), "0.5 × 0.5 × 1");
    }

    #[test]
    fn shares_do_not_round_to_nothing() {
        let shares = [
            (0, 9),
            (1, 10_000),
            (64_000, 74_088),
            (99_999, 100_000),
            (9, 9),
        ];
        let texts = shares.map(|(part, whole)| percent(part, whole));
        assert_eq!(texts, ["0 %", "< 0.1 %", "86.4 %", "> 99.9 %", "100 %"]);
    }
}
