//! `.glb`, binary glTF 2.0, for game engines, browsers, Blender and Windows.
//!
//! | bytes | content (numbers are 32 bits, little-endian) |
//! |---|---|
//! | 12 | `glTF`, version 2, the length of the file |
//! | 8 | the length of the JSON, `JSON` |
//! | … | the JSON, filled up with blanks |
//! | 8 | the length of the rest, `BIN` and a zero |
//! | 12 each | positions of vertices as floats, x fastest, then y |
//! | 24 each | six indices of vertices for each face, by layers of z, sorted by label |
//!
//! If there are no faces, only the JSON follows the header. There is one node with one mesh. Each label that
//! has faces is a primitive, with a material of the label's name and colour. The `extras` of the material
//! state the label's number. Bits are a single primitive with the material `voxels`. All primitives share the
//! positions. They have no normals, so that viewers shade the faces flat, which suits cells.
//!
//! Labels that stand for colours have one material with a palette as its texture (`painted.rs`).
//!
//! In glTF y points up and the unit is the metre. Positions are the coordinates of the mesh, rounded once to
//! floats. The node has a `matrix`. It turns x, y, z to x, z, −y, unless the record states that y points up.
//! It also scales from the record's unit to metres. An unknown unit counts as the metre.
//! `asset.extras.voxelize` holds the metadata of the cells.
//!
//! Colours in glTF are linear: each channel is proportional to the light that sRGB defines for it (IEC
//! 61966-2-1).
//!
//! Source: Khronos Group, glTF 2.0 Specification.

mod painted;
mod scene;

use std::io::{self, SeekFrom};

use super::exposed::ExposedFace;
use super::meshing::mesh;
use super::sections::FaceSections;
use super::sink::{FaceSink, too_many};
use super::{check_walls, most_bytes, walls};
use crate::comments::{METADATA_START, contains};
use crate::save::{SPOOL, Sink};
use crate::{Carries, Choice, Dtype, Format, SaveOptions, Write};
use voxelize_core::grid::CellSource;

use self::painted::PaintedScene;
use self::scene::{GlbScene, number};

pub(crate) const FORMAT: Format = Format {
    name: "glb",
    extensions: &["glb"],
    about: "exposed faces as binary glTF, at most 4 GiB; labels are materials; y is up, in metres",
    choices: &[Choice::GreedyFaces],
    // A face has six indices of four bytes, and a vertex has three floats, or five with a palette.
    size: |dims, dtype, occupied, _| {
        let floats = if dtype == Dtype::U8 { 5 } else { 3 };
        most_bytes(dims, occupied, [6 * 4, floats * 4])
    },
    memory: |dims, dtype, _, _| {
        if dtype == Dtype::U8 {
            painted::memory(dims)
        } else {
            SPOOL as u64
        }
    },
    carries: Carries::InFile,
    max_bytes: Some(u32::MAX as u64),
    limits: check_walls::<f32>,
    write: Write::Seeking(write),
    is_ours: |head| {
        let metadata = format!("\"extras\":{{\"voxelize\":{METADATA_START}");
        head.starts_with(b"glTF") && contains(head, &metadata)
    },
    ..super::ply::FORMAT
};

/// Number of bytes of a position.
const POSITION: u64 = 12;

/// Number of bytes of the two triangles of a face.
const FACE: u64 = 24;

/// Number of bytes before the JSON.
const HEAD: u64 = 20;

/// Number of bytes between the JSON and the positions.
const BETWEEN: u64 = 8;

struct GlbWriter<'a> {
    out: &'a mut dyn Sink,
    walls: [Vec<f32>; 3],
    vertices: u64,
    /// Wall indices of the lowest and the highest corner.
    bounds: [[u32; 3]; 2],
    /// Faces, in one section for each label.
    faces: FaceSections,
    /// Size of the file in bytes.
    length: u64,
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    if let Some(scene) = PaintedScene::of(source, dtype) {
        return painted::write(&scene, source, out, dtype, options);
    }
    let scene = GlbScene::of(source, dtype);
    let walls: [Vec<f32>; 3] = walls(source);
    let longest = walls.each_ref().map(|walls| {
        let numbers = walls.iter().map(|wall| number(*wall));
        numbers.max_by_key(String::len).unwrap_or_default()
    });
    let most = vec![u64::from(u32::MAX); scene.labels.len()];
    let room = scene
        .json(u64::from(u32::MAX), &most, &[longest.clone(), longest])
        .len() as u64;
    let room = room.next_multiple_of(4);
    let start = out.stream_position()?;
    let length = HEAD + room + BETWEEN;
    out.seek(SeekFrom::Start(start + length))?;
    let bounds = [[u32::MAX; 3], [0; 3]];
    let faces = FaceSections::new(256);
    let mut writer = GlbWriter {
        out,
        walls,
        vertices: 0,
        bounds,
        faces,
        length,
    };
    mesh(source, &mut writer, dtype, options)?;
    writer.finish(&scene, start, room)
}

impl GlbWriter<'_> {
    /// Adds bytes to the size of the file. Fails if the file becomes too large.
    fn grow(&mut self, bytes: u64) -> io::Result<()> {
        self.length += bytes;
        if self.length > u64::from(u32::MAX) {
            Err(too_many("bytes", self.length))
        } else {
            Ok(())
        }
    }

    /// Writes the indices. Then seeks back and writes everything that precedes the positions.
    fn finish(mut self, scene: &GlbScene, start: u64, room: u64) -> io::Result<()> {
        let mut indices = Vec::new();
        for label in &scene.labels {
            indices.push(self.faces.length(usize::from(label.value)) / 4);
        }
        for label in &scene.labels {
            self.faces.copy(usize::from(label.value), self.out)?;
        }
        let bounds = self.bounds.map(|corner| self.coordinates(corner));
        let mut json = scene.json(self.vertices, &indices, &bounds);
        let is_empty = self.vertices == 0;
        let room = if is_empty {
            json.len().next_multiple_of(4)
        } else {
            room as usize
        };
        json.extend(std::iter::repeat_n(' ', room - json.len()));
        let length = if is_empty {
            HEAD + room as u64
        } else {
            self.length
        };
        let mut head = b"glTF".to_vec();
        let words = [2, length as u32, room as u32];
        head.extend(words.into_iter().flat_map(u32::to_le_bytes));
        head.extend(b"JSON");
        head.extend(json.bytes());
        if !is_empty {
            let bytes = length - HEAD - room as u64 - BETWEEN;
            head.extend((bytes as u32).to_le_bytes());
            head.extend(b"BIN\0");
        }
        self.out.seek(SeekFrom::Start(start))?;
        self.out.write_all(&head)?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.flush()
    }

    /// Returns the coordinates of a corner as text. The texts are empty for a mesh without vertices.
    fn coordinates(&self, corner: [u32; 3]) -> [String; 3] {
        [0, 1, 2].map(|axis| match self.walls[axis].get(corner[axis] as usize) {
            Some(wall) => number(*wall),
            None => String::new(),
        })
    }
}

impl FaceSink for GlbWriter<'_> {
    fn vertex(&mut self, at: [u32; 3]) -> io::Result<()> {
        self.grow(POSITION)?;
        self.vertices += 1;
        let [low, high] = &mut self.bounds;
        let mut bytes = [0; POSITION as usize];
        for (axis, bytes) in bytes.chunks_exact_mut(4).enumerate() {
            (low[axis], high[axis]) = (low[axis].min(at[axis]), high[axis].max(at[axis]));
            bytes.copy_from_slice(&self.walls[axis][at[axis] as usize].to_le_bytes());
        }
        self.out.write_all(&bytes)
    }

    fn face(&mut self, face: &ExposedFace, [a, b, c, d]: [u32; 4]) -> io::Result<()> {
        self.grow(FACE)?;
        let mut bytes = [0; FACE as usize];
        for (bytes, vertex) in bytes.chunks_exact_mut(4).zip([a, b, c, a, c, d]) {
            bytes.copy_from_slice(&vertex.to_le_bytes());
        }
        self.faces.push(usize::from(face.label), &bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::faces::exposed::Facing;
    use voxelize_core::error::{Error, Kind};

    #[test]
    fn a_file_ends_at_4_gib() {
        let face = ExposedFace {
            facing: Facing::UP,
            label: 0,
            low: [0, 0, 1],
            high: [1, 1, 1],
        };
        let walls = [(); 3].map(|()| vec![0.0, 1.0]);
        let mut out = Cursor::new(vec![]);
        let length = u64::from(u32::MAX) - POSITION - FACE;
        let bounds = [[u32::MAX; 3], [0; 3]];
        let faces = FaceSections::new(256);
        let mut writer = GlbWriter {
            out: &mut out,
            walls,
            vertices: 0,
            bounds,
            faces,
            length,
        };
        assert!(writer.vertex([0; 3]).is_ok() && writer.face(&face, [0; 4]).is_ok());
        let error = writer.vertex([0; 3]).unwrap_err();
        let error = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Error>())
            .unwrap();
        assert_eq!((error.kind(), out.get_ref().len()), (Kind::TooLarge, 12));
    }
}
