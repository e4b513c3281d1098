//! Triangles without orientation: their three vertex numbers in ascending order. Each set of three numbers
//! occurs once.

use crate::Mesh;
use crate::counted;
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::{Point, Triangle, degenerate};

/// Triangles of a mesh that have an area, in sorted order. Triangles with the same three vertices are stored
/// once.
#[derive(Debug)]
pub(super) struct Sheets {
    pub points: Vec<Point>,
    /// Vertices of each triangle, ascending. Exchanging the last two turns the triangle over.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle: its orientation in the mesh is opposite to that of its ascending vertices. If the
    /// mesh has several copies, the orientation of most of them counts. A tie counts as `false`.
    pub given_turned: Vec<bool>,
    pub duplicates: u64,
}

impl Sheets {
    pub(super) fn of(mesh: &Mesh) -> Result<Self> {
        let mut welded = Welded::of(mesh.triangles())?;
        if mesh.degenerate() > 0 {
            for (vertices, triangle) in welded.triangles.iter_mut().zip(mesh.triangles()) {
                if degenerate::is_degenerate(triangle) {
                    *vertices = [0; 3];
                }
            }
        }
        let with_area = welded.triangles.iter().filter(|[a, b, _]| a != b);
        let all = counted::sorted(with_area.map(ascending), welded.points.len(), |all| {
            all.0[0]
        });
        let mut sheets = Self {
            points: welded.points,
            triangles: vec![],
            given_turned: vec![],
            duplicates: 0,
        };
        for copies in all.chunk_by(|one, next| one.0 == next.0) {
            let turned = copies.iter().filter(|(_, turned)| *turned).count();
            sheets.triangles.push(copies[0].0);
            sheets.given_turned.push(2 * turned > copies.len());
            sheets.duplicates += copies.len() as u64 - 1;
        }
        Ok(sheets)
    }

    /// Returns the corners of a triangle in doubles.
    pub(super) fn exact_corners(&self, triangle: &[u32; 3]) -> [[f64; 3]; 3] {
        self.corners(triangle).map(|v| v.map(f64::from))
    }

    /// Returns the corners of a triangle.
    pub(super) fn corners(&self, triangle: &[u32; 3]) -> Triangle {
        triangle.map(|n| self.points[n as usize])
    }
}

/// Returns the three numbers in ascending order, and whether this order turns the triangle over.
fn ascending(triangle: &[u32; 3]) -> ([u32; 3], bool) {
    let [a, b, c] = *triangle;
    let least = a.min(b).min(c);
    let [a, b, c] = if least == a {
        [a, b, c]
    } else if least == b {
        [b, c, a]
    } else {
        [c, a, b]
    };
    if b < c {
        ([a, b, c], false)
    } else {
        ([a, c, b], true)
    }
}
