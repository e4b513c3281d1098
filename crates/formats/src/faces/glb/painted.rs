//! GLB of labels that stand for colours: one material, whose texture is the palette.
//!
//! | bytes | content (numbers are 32 bits, little-endian) |
//! |---|---|
//! | 12 + 8 | the same start as without a palette |
//! | … | the JSON, filled up with blanks |
//! | 8 | the length of the rest, `BIN` and a zero |
//! | 20 each | positions and texture coordinates of vertices as floats, part by part |
//! | 24 each | six indices of vertices for each face, part by part |
//! | … | the palette as PNG of 16 × 16 pixels in sRGB, filled up with zeros |
//!
//! Colours are single nodes with one mesh. If labels stand for the colours of parts, each part is a node with
//! the name of the part below the first node, and has a mesh of its own. All of them have the same material, so
//! a renderer needs one draw call for each part.
//!
//! The palette has each colour once, in the order of the legend, row by row from the top. Texture coordinates
//! are the centres of texels, and the sampler takes the nearest texel. Unused texels are black. The texture is
//! in sRGB, so its bytes are the colours of the labels.
//!
//! Faces share a vertex if their colour and their part are the same, and if both end at the same wall of z or
//! at the next one. A vertex is therefore repeated where colours meet, and in some places along large
//! rectangles.

use std::fmt::Write as _;
use std::io;

use super::scene::{number, quoted, start};
use super::{BETWEEN, FACE, HEAD};
use crate::faces::exposed::ExposedFace;
use crate::faces::meshing::{has_labels, mesh};
use crate::faces::sections::FaceSections;
use crate::faces::sink::{FaceSink, too_many};
use crate::faces::walls;
use crate::png::{Pixels, PngFrame};
use crate::save::{SPOOL, Sink};
use crate::{Dtype, SaveOptions};
use voxelize_core::grid::{CellSource, CellType, Legend};

/// Number of bytes of a vertex: position and texture coordinates.
const VERTEX: usize = 20;

/// Number of texels along each side of the palette.
const SIDE: usize = 16;

/// Returns an upper bound for the memory of writing: temporary files and pending bytes of vertices and of
/// faces, and the recent vertices of two walls, in lists that grow by doubling.
pub(super) fn memory([nx, ny, _]: [usize; 3]) -> u64 {
    let walls = 2 * 2 * (nx as u64 + 1) * (ny as u64 + 1);
    4 * SPOOL as u64 + walls * size_of::<RecentVertex>() as u64
}

/// Parts and colours of the labels.
pub(super) struct PaintedScene {
    /// Start of the JSON, up to the first node.
    start: String,
    /// Names of the parts. Empty if labels stand for colours alone.
    parts: Vec<String>,
    /// Index of the part for each label value.
    part_of: [u8; 256],
    palette: Vec<[u8; 3]>,
    /// Index in the palette for each label value.
    texel_of: [u8; 256],
}

impl PaintedScene {
    /// Returns the scene of these cells. `None` if the labels do not stand for colours.
    pub(super) fn of(source: &dyn CellSource, dtype: Dtype) -> Option<Self> {
        let cells = source.cell_type();
        let CellType::Labels(legend) = &cells else {
            return None;
        };
        if !has_labels(source, dtype) || !is_painted(legend) {
            return None;
        }
        let parts = legend.coloured_parts();
        let mut scene = Self {
            start: start(source, dtype),
            parts: parts.iter().map(ToString::to_string).collect(),
            part_of: [0; 256],
            palette: vec![],
            texel_of: [0; 256],
        };
        for label in legend.labels() {
            let value = usize::from(label.value);
            let colour = legend.colour(label.value);
            let texel = scene.palette.iter().position(|known| *known == colour);
            let texel = texel.unwrap_or_else(|| {
                scene.palette.push(colour);
                scene.palette.len() - 1
            });
            scene.texel_of[value] = texel as u8;
            let part = parts.iter().position(|part| Some(*part) == label.part());
            scene.part_of[value] = part.unwrap_or(0) as u8;
        }
        Some(scene)
    }

    /// Returns the picture of the palette.
    fn png(&self) -> io::Result<Vec<u8>> {
        let frame = PngFrame {
            size: [SIDE; 2],
            pixels: Pixels::Rgb,
            depth: 8,
            density: None,
        };
        frame.encode(|row, pixels| {
            for (column, pixel) in pixels.chunks_exact_mut(3).enumerate() {
                if let Some(colour) = self.palette.get(SIDE * row + column) {
                    pixel.copy_from_slice(colour);
                }
            }
        })
    }

    /// Returns the JSON. `parts` are the parts that have faces, with their names, and `image` is the length of
    /// the palette in bytes.
    fn json(&self, parts: &[(&str, &PaintedPart)], walls: &[Vec<f32>; 3], image: usize) -> String {
        let mut json = self.start.clone();
        if parts.is_empty() {
            return json + "}]}";
        }
        if self.parts.is_empty() {
            json += ",\"mesh\":0}";
        } else {
            let children: Vec<String> = (1..=parts.len()).map(|n| n.to_string()).collect();
            let _ = write!(json, ",\"children\":[{}]}}", children.join(","));
            for (n, (name, _)) in parts.iter().enumerate() {
                let _ = write!(json, ",{{\"name\":{},\"mesh\":{n}}}", quoted(name));
            }
        }
        let mut meshes = vec![];
        let mut accessors = vec![];
        let [mut vertices, mut indices] = [0; 2];
        for (n, (name, part)) in parts.iter().enumerate() {
            let [position, texture, faces] = [3 * n, 3 * n + 1, 3 * n + 2];
            meshes.push(format!(
                "{{\"name\":{},\"primitives\":[{{\"attributes\":{{\"POSITION\":{position},\"TEXCOORD_0\":{texture}}},\
                 \"indices\":{faces},\"material\":0,\"mode\":4}}]}}",
                quoted(name)
            ));
            let [low, high] = part.bounds.map(|corner| {
                let at = [0, 1, 2].map(|axis| number(walls[axis][corner[axis] as usize]));
                at.join(",")
            });
            let count = part.vertices;
            accessors.push(format!(
                "{{\"bufferView\":0,\"byteOffset\":{vertices},\"componentType\":5126,\"count\":{count},\
                 \"type\":\"VEC3\",\"min\":[{low}],\"max\":[{high}]}}"
            ));
            accessors.push(format!(
                "{{\"bufferView\":0,\"byteOffset\":{},\"componentType\":5126,\"count\":{count},\"type\":\"VEC2\"}}",
                vertices + 12
            ));
            accessors.push(format!(
                "{{\"bufferView\":1,\"byteOffset\":{indices},\"componentType\":5125,\"count\":{},\"type\":\"SCALAR\"}}",
                6 * part.faces
            ));
            vertices += VERTEX as u64 * count;
            indices += FACE * part.faces;
        }
        let bytes = vertices + indices + image.next_multiple_of(4) as u64;
        let _ = write!(
            json,
            "],\"meshes\":[{}],\"materials\":[{{\"name\":\"palette\",\"pbrMetallicRoughness\":\
             {{\"baseColorTexture\":{{\"index\":0}},\"metallicFactor\":0,\"roughnessFactor\":1}}}}],\
             \"textures\":[{{\"sampler\":0,\"source\":0}}],\
             \"samplers\":[{{\"magFilter\":9728,\"minFilter\":9728,\"wrapS\":33071,\"wrapT\":33071}}],\
             \"images\":[{{\"name\":\"palette\",\"bufferView\":2,\"mimeType\":\"image/png\"}}],\
             \"accessors\":[{}],\
             \"bufferViews\":[{{\"buffer\":0,\"byteLength\":{vertices},\"byteStride\":{VERTEX},\"target\":34962}},\
             {{\"buffer\":0,\"byteOffset\":{vertices},\"byteLength\":{indices},\"target\":34963}},\
             {{\"buffer\":0,\"byteOffset\":{},\"byteLength\":{image}}}],\
             \"buffers\":[{{\"byteLength\":{bytes}}}]}}",
            meshes.join(","),
            accessors.join(","),
            vertices + indices,
        );
        json
    }
}

/// Reports whether labels stand for colours, or for colours of parts.
fn is_painted(legend: &Legend) -> bool {
    let labels = legend.labels();
    let are_colours = !labels.is_empty() && labels.iter().all(|label| label.is_colour());
    are_colours || !legend.coloured_parts().is_empty()
}

/// Counts of a part.
#[derive(Clone)]
struct PaintedPart {
    vertices: u64,
    faces: u64,
    /// Wall indices of the lowest and the highest corner.
    bounds: [[u32; 3]; 2],
}

/// Last vertex at a point where walls meet.
#[derive(Clone, Copy, Default)]
struct RecentVertex {
    /// Number of the vertex in its part.
    number: u32,
    part: u8,
    texel: u8,
    is_there: bool,
}

/// Vertices at the points of a wall of z.
#[derive(Default)]
struct RecentWall {
    k: u32,
    /// Number that the maker of faces gives to the first point.
    first: u64,
    vertices: Vec<RecentVertex>,
}

struct PaintedWriter<'a> {
    scene: &'a PaintedScene,
    walls: [Vec<f32>; 3],
    /// Vertices and faces, in one section for each part.
    vertices: FaceSections,
    faces: FaceSections,
    parts: Vec<PaintedPart>,
    /// The last wall with vertices, and the one before.
    recent: [RecentWall; 2],
    /// Number of points that the maker of faces passed.
    points: u64,
    /// Bytes of vertices and faces.
    length: u64,
}

pub(super) fn write(
    scene: &PaintedScene,
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let count = scene.parts.len().max(1);
    let part = PaintedPart {
        vertices: 0,
        faces: 0,
        bounds: [[u32::MAX; 3], [0; 3]],
    };
    let mut writer = PaintedWriter {
        scene,
        walls: walls(source),
        vertices: FaceSections::new(count),
        faces: FaceSections::new(count),
        parts: vec![part; count],
        recent: Default::default(),
        points: 0,
        length: HEAD + BETWEEN,
    };
    mesh(source, &mut writer, dtype, options)?;
    writer.finish(out)
}

impl PaintedWriter<'_> {
    /// Adds bytes to the size of the file. Fails if the file becomes too large.
    fn grow(&mut self, bytes: u64) -> io::Result<()> {
        self.length += bytes;
        if self.length > u64::from(u32::MAX) {
            Err(too_many("bytes", self.length))
        } else {
            Ok(())
        }
    }

    /// Returns the number of the vertex at a corner. `point` is the number of the corner that the maker of
    /// faces gave to it.
    fn number(&mut self, part: u8, texel: u8, corner: [u32; 3], point: u32) -> io::Result<u32> {
        let mut place = None;
        for (n, wall) in self.recent.iter().enumerate() {
            let index = u64::from(point).wrapping_sub(wall.first) as usize;
            if wall.k == corner[2] && index < wall.vertices.len() {
                place = Some((n, index));
            }
        }
        if let Some((n, index)) = place {
            let recent = self.recent[n].vertices[index];
            if recent.is_there && (recent.part, recent.texel) == (part, texel) {
                return Ok(recent.number);
            }
        }
        let number = self.put_vertex(part, texel, corner)?;
        if let Some((n, index)) = place {
            self.recent[n].vertices[index] = RecentVertex {
                number,
                part,
                texel,
                is_there: true,
            };
        }
        Ok(number)
    }

    /// Adds a vertex to a part and returns its number.
    fn put_vertex(&mut self, part: u8, texel: u8, corner: [u32; 3]) -> io::Result<u32> {
        self.grow(VERTEX as u64)?;
        let mut bytes = [0; VERTEX];
        let at = [0, 1, 2].map(|axis| self.walls[axis][corner[axis] as usize]);
        let texel = usize::from(texel);
        let texture = [texel % SIDE, texel / SIDE].map(|n| (n as f32 + 0.5) / SIDE as f32);
        for (bytes, value) in bytes.chunks_exact_mut(4).zip(at.into_iter().chain(texture)) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        self.vertices.push(usize::from(part), &bytes)?;
        let counts = &mut self.parts[usize::from(part)];
        let [low, high] = &mut counts.bounds;
        for axis in 0..3 {
            low[axis] = low[axis].min(corner[axis]);
            high[axis] = high[axis].max(corner[axis]);
        }
        counts.vertices += 1;
        // The size of the file limits the number of vertices to far less than 32 bits.
        Ok((counts.vertices - 1) as u32)
    }

    /// Writes the file.
    fn finish(mut self, out: &mut dyn Sink) -> io::Result<()> {
        let mut own = vec![];
        for (n, part) in self.parts.iter().enumerate() {
            if part.faces > 0 {
                let name = self.scene.parts.get(n).map_or("voxels", |name| name);
                own.push((n, (name, part)));
            }
        }
        let named: Vec<(&str, &PaintedPart)> = own.iter().map(|(_, part)| *part).collect();
        let is_empty = named.is_empty();
        let mut png = self.scene.png()?;
        let mut json = self.scene.json(&named, &self.walls, png.len());
        png.resize(png.len().next_multiple_of(4), 0);
        json.extend(std::iter::repeat_n(
            ' ',
            json.len().next_multiple_of(4) - json.len(),
        ));
        let sections: Vec<usize> = own.iter().map(|(n, _)| *n).collect();
        let binary = self.length - HEAD - BETWEEN + png.len() as u64;
        let mut length = HEAD + json.len() as u64;
        if !is_empty {
            length += BETWEEN + binary;
        }
        let whole = u32::try_from(length).map_err(|_| too_many("bytes", length))?;
        let mut head = b"glTF".to_vec();
        let words = [2, whole, json.len() as u32];
        head.extend(words.into_iter().flat_map(u32::to_le_bytes));
        head.extend(b"JSON");
        head.extend(json.bytes());
        if is_empty {
            out.write_all(&head)?;
            return out.flush();
        }
        head.extend((binary as u32).to_le_bytes());
        head.extend(b"BIN\0");
        out.write_all(&head)?;
        for n in &sections {
            self.vertices.copy(*n, out)?;
        }
        for n in &sections {
            self.faces.copy(*n, out)?;
        }
        out.write_all(&png)?;
        out.flush()
    }
}

impl FaceSink for PaintedWriter<'_> {
    fn vertex(&mut self, at: [u32; 3]) -> io::Result<()> {
        let is_new = self.recent[0].vertices.is_empty() || self.recent[0].k != at[2];
        if is_new {
            self.recent.swap(0, 1);
            let wall = &mut self.recent[0];
            wall.k = at[2];
            wall.first = self.points;
            wall.vertices.clear();
        }
        self.recent[0].vertices.push(RecentVertex::default());
        self.points += 1;
        Ok(())
    }

    fn face(&mut self, face: &ExposedFace, points: [u32; 4]) -> io::Result<()> {
        let value = usize::from(face.label);
        let [part, texel] = [self.scene.part_of[value], self.scene.texel_of[value]];
        let mut numbers = [0; 4];
        for ((number, corner), point) in numbers.iter_mut().zip(face.corners()).zip(points) {
            *number = self.number(part, texel, corner, point)?;
        }
        self.grow(FACE)?;
        let [a, b, c, d] = numbers;
        let mut bytes = [0; FACE as usize];
        for (bytes, vertex) in bytes.chunks_exact_mut(4).zip([a, b, c, a, c, d]) {
            bytes.copy_from_slice(&vertex.to_le_bytes());
        }
        self.faces.push(usize::from(part), &bytes)?;
        self.parts[usize::from(part)].faces += 1;
        Ok(())
    }
}
