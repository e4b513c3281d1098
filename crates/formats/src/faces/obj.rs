//! `.obj`, the text format of Wavefront, which every modelling program reads.
//!
//! | line | |
//! |---|---|
//! | `# voxelize {…}` | metadata of the cells as JSON, in as many lines as needed |
//! | `mtllib NAME.mtl` | with labels: the file next to it with their colours |
//! | `v X Y Z` | a vertex, x fastest, then y |
//! | `g NAME`, `usemtl NAME` | with labels: the following faces have this label; labels are sorted by number |
//! | `f A B C D` | a face: the numbers of its vertices, from 1 on; by layers of z |
//!
//! Each line that begins with `# voxelize ` has at most 236 bytes of JSON in ASCII. Joined together they are
//! the metadata. A coordinate is the double nearest to the exact number, with the fewest digits that identify
//! it. Coordinates are those of the mesh, and the format states no up axis. Blender takes y as up unless its
//! importer is set otherwise. The `.mtl` file has `newmtl NAME` and `Kd R G B` for each label that has faces.
//! The colour is in shares of sRGB. A stream has no `.mtl`. In names, every character other than letters,
//! digits, `-` and `.` is replaced by `_`.
//!
//! Source: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::exposed::ExposedFace;
use super::meshing::{has_labels, mesh};
use super::sections::FaceSections;
use super::sink::FaceSink;
use super::{check_walls, most_bytes, walls};
use crate::comments::{MARK, METADATA_START, comments};
use crate::save::Sink;
use crate::several::Companions;
use crate::{Carries, Choice, Dtype, Format, OutputShape, SaveOptions, Write, metadata};
use voxelize_core::grid::metadata::Style;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{CellKind, CellSource, CellType};

pub(crate) const FORMAT: Format = Format {
    name: "obj",
    extensions: &["obj"],
    about: "exposed faces as text, quads for modellers; labels are groups, coloured by the .mtl next to it",
    choices: &[Choice::GreedyFaces],
    // A face takes a line of four numbers, and a vertex a line of three decimals.
    size: |dims, _, occupied, _| most_bytes(dims, occupied, [4 * 11 + 3, 3 * 26 + 3]),
    carries: Carries::InFile,
    limits: check_walls::<f64>,
    write: Write::Several(companions, write),
    is_ours: |head| head.starts_with(format!("# {MARK}{METADATA_START}").as_bytes()),
    ..super::ply::FORMAT
};

struct ObjWriter<'a> {
    out: &'a mut dyn Sink,
    /// Coordinates of the walls as text.
    walls: [Vec<String>; 3],
    /// Faces, in one section for each label.
    faces: FaceSections,
    line: String,
}

/// Returns the path of the material file, if there are labels.
fn companions(path: &Path, shape: &OutputShape) -> Vec<PathBuf> {
    if shape.kind == CellKind::Labels {
        vec![path.with_extension("mtl")]
    } else {
        vec![]
    }
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
    (path, beside): (&Path, &Companions),
) -> io::Result<()> {
    let json = metadata(source, dtype).to_json(Style::OneLine);
    out.write_all(comments("#", &json).as_bytes())?;
    let names = if has_labels(source, dtype) {
        names(&source.cell_type())
    } else {
        vec![]
    };
    let materials = path.with_extension("mtl");
    let has_materials = !names.is_empty() && beside.are_possible();
    if has_materials && let Some(name) = materials.file_name() {
        writeln!(out, "mtllib {}", name.display())?;
    }
    let walls = walls::<f64>(source).map(|walls| walls.iter().map(f64::to_string).collect());
    let mut writer = ObjWriter {
        out,
        walls,
        faces: FaceSections::new(256),
        line: String::new(),
    };
    mesh(source, &mut writer, dtype, options)?;
    let ObjWriter { out, mut faces, .. } = writer;
    faces.copy(0, out)?;
    let mut library = format!("# {TOOL}\n");
    for (label, name) in names {
        let section = usize::from(label);
        if faces.length(section) > 0 {
            writeln!(out, "g {name}\nusemtl {name}")?;
            faces.copy(section, out)?;
            let [r, g, b] = source
                .cell_type()
                .colour(label)
                .map(|channel| f64::from(channel) / 255.0);
            let _ = writeln!(library, "newmtl {name}\nKd {r:.4} {g:.4} {b:.4}");
        }
    }
    if has_materials {
        let mut file = beside.open(&materials)?;
        file.write_all(library.as_bytes())?;
        beside.close(&materials, file)?;
    }
    out.flush()
}

/// Returns the labels that faces may have, sorted by number. Each has a unique name that is a single word.
fn names(cells: &CellType) -> Vec<(u8, String)> {
    let CellType::Labels(legend) = cells else {
        return vec![];
    };
    let mut names: Vec<(u8, String)> = (1..=255)
        .filter(|value| legend.allows(*value))
        .map(|value| (value, legend.name(value).chars().map(word_char).collect()))
        .collect();
    for n in 0..names.len() {
        let mut name = names[n].1.clone();
        while is_taken(&names, n, &name) {
            let _ = write!(name, "_{}", names[n].0);
        }
        names[n].1 = name;
    }
    names
}

/// Returns the character, or `_` if it must not occur in a name.
fn word_char(c: char) -> char {
    if c.is_alphanumeric() || ['-', '.', '_'].contains(&c) {
        c
    } else {
        '_'
    }
}

/// Returns `true` if an entry other than entry `own` has this name.
fn is_taken(names: &[(u8, String)], own: usize, name: &str) -> bool {
    names
        .iter()
        .enumerate()
        .any(|(n, (_, other))| n != own && other == name)
}

impl FaceSink for ObjWriter<'_> {
    fn vertex(&mut self, at: [u32; 3]) -> io::Result<()> {
        let [x, y, z] = [0, 1, 2].map(|axis| &self.walls[axis][at[axis] as usize]);
        self.line.clear();
        let _ = writeln!(self.line, "v {x} {y} {z}");
        self.out.write_all(self.line.as_bytes())
    }

    fn face(&mut self, face: &ExposedFace, vertices: [u32; 4]) -> io::Result<()> {
        let [a, b, c, d] = vertices.map(|vertex| u64::from(vertex) + 1);
        self.line.clear();
        let _ = writeln!(self.line, "f {a} {b} {c} {d}");
        self.faces
            .push(usize::from(face.label), self.line.as_bytes())
    }
}
