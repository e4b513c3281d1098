//! `.ply`, the Stanford polygon format, for Blender, MeshLab, CloudCompare, Open3D and trimesh.
//!
//! ```text
//! ply
//! format binary_little_endian 1.0
//! comment voxelize {…}                         metadata of the cells as JSON, in as many lines as needed
//! element vertex N                             x fastest, then y
//! property double x                            then y and z
//! element face M                               by layers of z
//! property list uchar int vertex_indices       four each; with labels three
//! property uchar red                           then green and blue; with labels
//! property uchar label                         with labels
//! comment ....                                 fills up the header to the same length for all counts
//! end_header
//! ```
//!
//! The vertices and then the faces follow without gaps. Each has its properties in the order above. Each line
//! that begins with `comment voxelize ` has at most 236 bytes of JSON in ASCII. Joined together they are the
//! metadata, which include the colours of the labels.
//!
//! With labels each face is two triangles, because some readers cut quads and then assign the colours wrongly
//! (trimesh). A face has the colour of its label. Vertices have no colours, because faces with different
//! labels share them, and readers prefer the colours of vertices to those of faces. Blender and Open3D read
//! only the colours of vertices; a `.glb` has materials for these programs. Coordinates are those of the
//! mesh, and the format states no up axis. Readers use signed 32-bit indices, so there are fewer than 2³¹
//! vertices and faces.
//!
//! Greg Turk, The PLY Polygon File Format, 1994.

use std::io::{self, SeekFrom};

use super::exposed::ExposedFace;
use super::meshing::{has_labels, mesh};
use super::sections::FaceSections;
use super::sink::{FaceSink, too_many};
use super::{check_walls, most_bytes, walls};
use crate::comments::{MARK, METADATA_START, comments, contains};
use crate::point_cloud;
use crate::save::{SPOOL, Sink};
use crate::{Choice, Dtype, Format, SaveOptions, Write, metadata};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::metadata::Style;
use voxelize_core::grid::{CellKind, CellSource, Lattice};

pub(crate) const FORMAT: Format = Format {
    name: "ply",
    extensions: &["ply"],
    about: "exposed faces as polygons, for Blender, MeshLab and trimesh; labels are colours of faces",
    kinds: &[CellKind::Bits, CellKind::Labels],
    dtypes: &[Dtype::Bool, Dtype::U8],
    choices: &[Choice::GreedyFaces, Choice::Points],
    limits,
    size: |dims, _, occupied, choices| {
        if choices.contains(&Choice::Points) {
            return point_cloud::size(occupied);
        }
        // Two triangles with label and colour take more bytes than a quad.
        most_bytes(dims, occupied, [2 * (1 + 3 * 4 + 4), 3 * 8])
    },
    memory: |_, _, _, _| SPOOL as u64,
    write: Write::Seeking(write),
    is_ours: |head| {
        head.starts_with(b"ply\n") && contains(head, &format!("\ncomment {MARK}{METADATA_START}"))
    },
    ..Format::BASE
};

fn limits(lattice: Option<&Lattice>, choices: &[Choice]) -> Result<()> {
    if choices.contains(&Choice::GreedyFaces) && choices.contains(&Choice::Points) {
        return Err(Error::usage("points have no faces to merge")
            .with_hint("use only one of the two options"));
    }
    check_walls::<f64>(lattice, choices)
}

/// Maximum number of vertices, and of faces.
const MOST: u64 = i32::MAX as u64;

struct PlyWriter<'a> {
    out: &'a mut dyn Sink,
    walls: [Vec<f64>; 3],
    /// Colour of each label. `None` if faces have no labels.
    colours: Option<Vec<[u8; 3]>>,
    faces: FaceSections,
    counts: [u64; 2],
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    if options.has(Choice::Points) {
        return point_cloud::write(source, out, dtype, options);
    }
    let cells = source.cell_type();
    let is_labelled = has_labels(source, dtype);
    let colours = is_labelled.then(|| (0..=255).map(|label| cells.colour(label)).collect());
    let json = metadata(source, dtype).to_json(Style::OneLine);
    let start = out.stream_position()?;
    out.write_all(header(&json, [MOST; 2], is_labelled).as_bytes())?;
    let walls = walls(source);
    let mut writer = PlyWriter {
        out,
        walls,
        colours,
        faces: FaceSections::new(1),
        counts: [0; 2],
    };
    mesh(source, &mut writer, dtype, options)?;
    let PlyWriter {
        out,
        mut faces,
        counts,
        ..
    } = writer;
    faces.copy(0, out)?;
    out.seek(SeekFrom::Start(start))?;
    out.write_all(header(&json, counts, is_labelled).as_bytes())?;
    out.seek(SeekFrom::End(0))?;
    out.flush()
}

/// Returns the header. It has the same length for all numbers of vertices and faces.
fn header(json: &str, counts: [u64; 2], has_labels: bool) -> String {
    let colours = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    let [colours, label] = if has_labels {
        [colours, "property uchar label\n"]
    } else {
        [""; 2]
    };
    let json = comments("comment", json);
    let [vertices, faces] = counts.map(|count| count.to_string());
    let gap = ".".repeat(1 + 2 * MOST.to_string().len() - vertices.len() - faces.len());
    format!(
        "ply\nformat binary_little_endian 1.0\n{json}\
         element vertex {vertices}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {faces}\nproperty list uchar int vertex_indices\n{colours}{label}\
         comment {gap}\nend_header\n"
    )
}

impl PlyWriter<'_> {
    fn count(&mut self, n: usize, what: &str) -> io::Result<()> {
        self.counts[n] += 1;
        if self.counts[n] > MOST {
            Err(too_many(what, self.counts[n]))
        } else {
            Ok(())
        }
    }

    /// Adds a polygon. If faces have labels, also adds the label and its colour.
    fn put(&mut self, corners: &[u32], label: u8) -> io::Result<()> {
        self.count(1, "faces")?;
        let mut bytes = [0; 1 + 4 * 4 + 4];
        let colour = 1 + 4 * corners.len();
        bytes[0] = corners.len() as u8;
        for (bytes, vertex) in bytes[1..colour].chunks_exact_mut(4).zip(corners) {
            bytes.copy_from_slice(&vertex.to_le_bytes());
        }
        let Some(colours) = &self.colours else {
            return self.faces.push(0, &bytes[..colour]);
        };
        bytes[colour..colour + 3].copy_from_slice(&colours[usize::from(label)]);
        bytes[colour + 3] = label;
        self.faces.push(0, &bytes[..colour + 4])
    }
}

impl FaceSink for PlyWriter<'_> {
    fn vertex(&mut self, at: [u32; 3]) -> io::Result<()> {
        self.count(0, "vertices")?;
        let mut bytes = [0; 24];
        for (axis, bytes) in bytes.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&self.walls[axis][at[axis] as usize].to_le_bytes());
        }
        self.out.write_all(&bytes)
    }

    fn face(&mut self, face: &ExposedFace, vertices: [u32; 4]) -> io::Result<()> {
        if self.colours.is_none() {
            return self.put(&vertices, 0);
        }
        let [a, b, c, d] = vertices;
        self.put(&[a, b, c], face.label)?;
        self.put(&[a, c, d], face.label)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::faces::exposed::Facing;
    use voxelize_core::error::Kind;

    #[test]
    fn vertices_and_faces_beyond_31_bits_are_refused() {
        let face = ExposedFace {
            facing: Facing::UP,
            label: 0,
            low: [0, 0, 1],
            high: [1, 1, 1],
        };
        let walls = [(); 3].map(|()| vec![0.0, 1.0]);
        let mut out = Cursor::new(vec![]);
        let (colours, faces) = (None, FaceSections::new(1));
        let mut writer = PlyWriter {
            out: &mut out,
            walls,
            colours,
            faces,
            counts: [MOST - 1; 2],
        };
        assert!(writer.vertex([0; 3]).is_ok() && writer.face(&face, [0; 4]).is_ok());
        for error in [writer.vertex([0; 3]), writer.face(&face, [0; 4])] {
            let error = error.unwrap_err();
            let error = error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<Error>())
                .unwrap();
            assert_eq!(error.kind(), Kind::TooLarge);
        }
        assert_eq!((writer.faces.length(0), out.get_ref().len()), (17, 24));
    }
}
