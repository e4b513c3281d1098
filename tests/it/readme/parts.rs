//! Generated parts of the README, by name.

use std::process::Command;

use voxelize::format::{Carries, FORMATS};
use voxelize::grid::CellKind;
use voxelize::mesh::read::INPUTS;
use voxelize::{Fit, Inside, METHODS, RULES, Rational, Rule, Size, Ties, voxelize};

use crate::support::bless::root;
use crate::support::meshes::{fixture, mapped, surface};

/// Name of a part with its generator.
type Part = (&'static str, fn() -> String);

/// All parts.
pub const PARTS: &[Part] = &[
    ("slice", slice),
    ("rules", rules),
    ("ties", ties),
    ("insides", insides),
    ("open", open),
    ("inputs", inputs),
    ("formats", formats),
    ("formats in short", formats_in_short),
    ("options", options),
    ("exit codes", exit_codes),
];

/// Generates the text of one part.
pub fn make(name: &str) -> String {
    let part = PARTS.iter().find(|(known, _)| *known == name);
    part.unwrap_or_else(|| panic!("no part is called {name}")).1()
}

fn text(inside: &str) -> String {
    format!("```text\n{}\n```", inside.trim_end())
}

fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let body: String = rows.map(|row| line(&row)).collect();
    assert!(!body.is_empty(), "a table without rows");
    line(&head.map(String::from)) + &line(&[(); N].map(|()| "---".into())) + &body
}

fn extensions(extensions: &[&str]) -> String {
    extensions
        .iter()
        .map(|extension| format!("`.{extension}`"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the output of a command of the README, which is shown below it.
fn slice() -> String {
    let line = "voxelize view fixtures/knot.stl -r 32 --slice z";
    let words: Vec<_> = line.split(' ').skip(1).collect();
    format!("```console\n$ {line}\n{}```", printed(&words))
}

/// Returns the output of this tool.
fn printed(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    let output = command.args(words).current_dir(root("")).output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn rules() -> String {
    let row =
        |info: &voxelize::rule::RuleInfo| [format!("`{}`", info.name), info.about.to_string()];
    table(["rule", "occupied cells, or field"], RULES.iter().map(row))
}

/// Places columns of text side by side, each 12 wide.
fn side_by_side(columns: &[String]) -> String {
    let columns: Vec<Vec<_>> = columns.iter().map(|text| text.lines().collect()).collect();
    let mut rows = String::new();
    for n in 0..columns[0].len() {
        let row: String = columns
            .iter()
            .map(|lines| format!("{:12}", lines[n]))
            .collect();
        rows += row.trim_end();
        rows += "\n";
    }
    text(&rows)
}

/// Draws one layer of the prism under each of the ties, side by side.
fn ties() -> String {
    let mesh = fixture("prism.stl");
    let size = Size::Spacing([(); 3].map(|()| Rational::from(2)));
    let lattice = Fit::new(size).pad(1).to(mesh.bounds()).unwrap();
    side_by_side(&Ties::ALL.map(|ties| {
        let layer = surface(&mesh, &lattice, ties).layer_text(2);
        format!("{}\n{layer}", ties.name())
    }))
}

fn insides() -> String {
    let row =
        |method: &voxelize::rule::Method| [format!("`{}`", method.name), method.about.to_string()];
    table(
        ["`--inside`", "a point is inside if"],
        METHODS.iter().map(row),
    )
}

/// Draws one layer of an open mesh by several methods for the inside, side by side.
fn open() -> String {
    let mesh = mapped(&fixture("open.stl"), |[x, y, z]| [z, y, x]);
    let size = Size::Longest(14);
    let lattice = Fit::new(size).pad(1).to(mesh.bounds()).unwrap();
    let [nx, ny, nz] = lattice.dims();
    let ways = [
        Inside::Robust,
        Inside::EvenOdd,
        Inside::Vote,
        Inside::flood(),
    ];
    side_by_side(&ways.map(|inside| {
        let rule = Rule::solid().with_inside(inside).unwrap();
        let voxels = voxelize(&mesh, &lattice, rule).unwrap();
        let cells = voxels.occupied().unwrap();
        let mut text = inside.info().name.to_string();
        for k in (0..nz).rev() {
            text.push('\n');
            for i in 0..nx {
                text.push(if cells.get([i, ny / 2, k]) { '#' } else { '.' });
            }
        }
        text
    }))
}

fn input_row(input: &voxelize::mesh::read::InputFormat) -> [String; 3] {
    [
        format!("`{}`", input.name),
        extensions(input.extensions),
        input.about.to_string(),
    ]
}

fn inputs() -> String {
    table(["mesh", "file", "content"], INPUTS.iter().map(input_row))
}

fn short_row(format: &voxelize::format::Format) -> [String; 3] {
    // Commas in brackets separate indices.
    let mut depth = 0;
    let is_end = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth == 0 && [';', ',', ':'].contains(&c)
    };
    let about = format.about.split(is_end).next().unwrap_or_default();
    let read = if format.is_readable() { "yes" } else { "" };
    [
        extensions(format.extensions),
        about.to_string(),
        read.to_string(),
    ]
}

/// Returns the first words about each format.
fn formats_in_short() -> String {
    table(["file", "content", "read"], FORMATS.iter().map(short_row))
}

fn format_row(format: &voxelize::format::Format) -> [String; 5] {
    let types = format
        .dtypes
        .iter()
        .chain(format.dtypes_of(CellKind::Field));
    let dtypes: Vec<_> = types.map(|dtype| dtype.name()).collect();
    let carries = match format.carries {
        Carries::InFile => "in the file",
        Carries::Rounded => "in the file, rounded; in a `.json` sidecar, with `--sidecar`",
        Carries::Sidecar => "in a `.json` sidecar, always",
        _ => "in a `.json` sidecar, with `--sidecar`",
    };
    let name = format!("`{}`", format.name);
    let extensions = extensions(format.extensions);
    [
        name,
        extensions,
        format.about.to_string(),
        dtypes.join(", "),
        carries.to_string(),
    ]
}

fn formats() -> String {
    table(
        [
            "voxels",
            "file",
            "content",
            "type of a cell",
            "position of the cells",
        ],
        FORMATS.iter().map(format_row),
    )
}

fn options() -> String {
    text(&printed(&["-h"]))
}

fn exit_codes() -> String {
    let page = printed(&["--help"]);
    let (_, codes) = page
        .split_once("Exit codes:\n")
        .expect("--help ends with the exit codes");
    let row = |line: &str| {
        let (code, meaning) = line
            .trim()
            .split_once("  ")
            .expect("a code and its meaning");
        [code.to_string(), meaning.to_string()]
    };
    table(["code", "meaning"], codes.lines().map(row))
}
