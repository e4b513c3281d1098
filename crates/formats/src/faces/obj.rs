//! `.obj`, Wavefront's, as text: every modeller.
//!
//! | line | |
//! |---|---|
//! | `# voxelize {…}` | what is known of the cells, as JSON, in as many lines as it takes |
//! | `mtllib NAME.mtl` | with labels: the file beside it that has their colours |
//! | `v X Y Z` | a vertex: by z, then y, then x |
//! | `g NAME`, `usemtl NAME` | with labels: the faces that follow are of this label, in the order of their numbers |
//! | `f A B C D` | a face: the numbers of its vertices, from 1 on; by layers of z |
//!
//! The lines that begin with `# voxelize ` have 400 characters of JSON at most, in ASCII: joined they are the metadata. A coordinate is the double
//! nearest to the exact one, in as few digits as say it. Coordinates are the mesh's, and no axis is up: Blender takes y as up
//! unless its importer is told otherwise. The `.mtl` has for each label that has faces `newmtl NAME` and `Kd R G B`, its colour in
//! shares of sRGB; a stream has none. Names have `_` in place of what is neither a letter nor a digit, `-` nor `.`.
//!
//! The format: appendix B of the manual of Wavefront's Advanced Visualizer, version 4.0.

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

pub(in super::super) const FORMAT: Format = Format {
    name: "obj",
    extensions: &["obj"],
    about: "exposed faces as text, quads for modellers; labels are groups, coloured by the .mtl beside it",
    choices: &[Choice::GreedyFaces],
    // A line of a face has four numbers, one of a vertex three decimals.
    size: |dims, _, occupied, _| most_bytes(dims, occupied, [4 * 11 + 3, 3 * 26 + 3]),
    carries: Carries::InFile,
    limits: check_walls::<f64>,
    write: Write::Several(companions, write),
    is_ours: |head| head.starts_with(format!("# {MARK}{METADATA_START}").as_bytes()),
    ..super::ply::FORMAT
};

struct ObjWriter<'a> {
    out: &'a mut dyn Sink,
    /// The words of coordinates.
    walls: [Vec<String>; 3],
    /// A section for each label.
    faces: FaceSections,
    line: String,
}

/// The file of materials, which labels have.
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
    if let Some(name) = materials.file_name().filter(|_| has_materials) {
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

/// The labels that faces may have, by their numbers, each with a name of one word that no other has.
fn names(cells: &CellType) -> Vec<(u8, String)> {
    let CellType::Labels(legend) = cells else {
        return vec![];
    };
    let plain = |c: char| {
        if c.is_alphanumeric() || ['-', '.', '_'].contains(&c) {
            c
        } else {
            '_'
        }
    };
    let mut names: Vec<(u8, String)> = (1..=255)
        .filter(|value| legend.allows(*value))
        .map(|value| (value, legend.name(value).chars().map(plain).collect()))
        .collect();
    for n in 0..names.len() {
        let is_taken = |name: &str| {
            names
                .iter()
                .enumerate()
                .any(|(m, (_, other))| m != n && other == name)
        };
        let mut name = names[n].1.clone();
        while is_taken(&name) {
            let _ = write!(name, "_{}", names[n].0);
        }
        names[n].1 = name;
    }
    names
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
