//! Binary `.stl`, for slicers and CAD programs. It holds only triangles.
//!
//! | bytes | content |
//! |---|---|
//! | 80 | `voxelize`, the version, and the unit if known, filled up with blanks; never begins with `solid` |
//! | 4 | the number of triangles, little-endian |
//! | 50 each | the normal and three corners as floats, and two bytes of zero |
//!
//! A face is two triangles. Faces are ordered by layers of z. Coordinates are those of the mesh, rounded once
//! to floats, and the format states no up axis. Slicers take z as up and the millimetre as the unit. The
//! format has neither labels nor shared vertices. A grid of labels is therefore written as occupied cells,
//! and only with the type `bool`. The format can count at most 2³² − 1 triangles.
//!
//! The crate `stl_io`, which writes the triangles of `check --mark`, is not used here. It needs the number of
//! triangles first and writes its own header, but here faces are made layer by layer and their number is
//! known only at the end.
//!
//! 3D Systems, Stereolithography Interface Specification, 1988.

use std::io::{self, SeekFrom};

use super::exposed::ExposedFace;
use super::meshing::mesh;
use super::sink::{FaceSink, too_many};
use super::{check_walls, most_bytes, walls};
use crate::comments::MARK;
use crate::save::Sink;
use crate::{Carries, Choice, Dtype, Format, SaveOptions, Write};
use voxelize_core::grid::{CellSource, Record};

pub(crate) const FORMAT: Format = Format {
    name: "stl",
    extensions: &["stl"],
    about: "exposed faces as binary triangles, for slicers and CAD",
    choices: &[Choice::GreedyFaces],
    size: |dims, _, occupied, _| most_bytes(dims, occupied, [2 * TRIANGLE as u128, 0]),
    carries: Carries::SidecarOnRequest,
    assumes: &[("unit", "mm"), ("up", "z")],
    dtypes: &[Dtype::Bool],
    max_bytes: Some(HEADER as u64 + 4 + TRIANGLE as u64 * u32::MAX as u64),
    limits: check_walls::<f32>,
    write: Write::Seeking(write),
    is_ours: |head| head.starts_with(MARK.as_bytes()),
    ..super::ply::FORMAT
};

const HEADER: usize = 80;
const TRIANGLE: usize = 50;

struct StlWriter<'a> {
    out: &'a mut dyn Sink,
    walls: [Vec<f32>; 3],
    triangles: u64,
}

fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let start = out.stream_position()?;
    out.write_all(&header(source.record()))?;
    out.write_all(&[0; 4])?;
    let mut writer = StlWriter {
        walls: walls(source),
        out,
        triangles: 0,
    };
    mesh(source, &mut writer, dtype, options)?;
    let StlWriter { out, triangles, .. } = writer;
    out.seek(SeekFrom::Start(start + HEADER as u64))?;
    out.write_all(&(triangles as u32).to_le_bytes())?;
    out.seek(SeekFrom::End(0))?;
    out.flush()
}

fn header(record: &Record) -> [u8; HEADER] {
    // A grid that another program made may state any tool, even one whose name begins with 'solid'.
    let tool = record
        .tool
        .as_deref()
        .filter(|tool| tool.starts_with(MARK))
        .unwrap_or("exposed faces of cells");
    let unit = record
        .transform("unit")
        .map_or(String::new(), |unit| format!("; unit {unit}"));
    let text = format!("{tool}{unit}");
    let mut header = [b' '; HEADER];
    for (to, byte) in header.iter_mut().zip(text.bytes()) {
        *to = match byte {
            b' '..=b'~' => byte,
            _ => b'?',
        };
    }
    header
}

impl FaceSink for StlWriter<'_> {
    fn vertex(&mut self, _: [u32; 3]) -> io::Result<()> {
        Ok(())
    }

    fn face(&mut self, face: &ExposedFace, _: [u32; 4]) -> io::Result<()> {
        self.triangles += 2;
        if self.triangles > u64::from(u32::MAX) {
            return Err(too_many("triangles", self.triangles));
        }
        let corners = face.corners();
        let [a, b, c, d] =
            corners.map(|corner| [0, 1, 2].map(|axis| self.walls[axis][corner[axis] as usize]));
        let normal = face.facing.normal();
        let mut bytes = [0; 2 * TRIANGLE];
        for (bytes, [one, two, three]) in
            bytes.chunks_exact_mut(TRIANGLE).zip([[a, b, c], [a, c, d]])
        {
            let vectors = [normal, one, two, three];
            for (to, number) in bytes.chunks_exact_mut(4).zip(vectors.as_flattened()) {
                to.copy_from_slice(&number.to_le_bytes());
            }
        }
        self.out.write_all(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::faces::exposed::Facing;
    use voxelize_core::error::{Error, Kind};

    #[test]
    fn more_triangles_than_the_header_counts_are_refused() {
        let face = ExposedFace {
            facing: Facing::UP,
            label: 0,
            low: [0, 0, 1],
            high: [1, 1, 1],
        };
        let walls = [(); 3].map(|()| vec![0.0, 1.0]);
        let mut out = Cursor::new(vec![]);
        let mut writer = StlWriter {
            out: &mut out,
            walls,
            triangles: u64::from(u32::MAX) - 3,
        };
        assert!(writer.face(&face, [0; 4]).is_ok());
        let error = writer.face(&face, [0; 4]).unwrap_err();
        let error = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Error>())
            .unwrap();
        assert_eq!((error.kind(), out.get_ref().len()), (Kind::TooLarge, 100));
        assert!(
            error.hint().is_some() && error.message().contains("4294967296 triangles"),
            "{error}"
        );
    }
}
