//! Repeated subdivision of triangles into four: the same surface with more triangles.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use voxelize::geom::Triangle;

/// Returns the number of subdivisions that turn `triangles` into at least `wanted`.
pub fn times(triangles: usize, wanted: usize) -> u32 {
    (0..)
        .find(|times| triangles << (2 * times) >= wanted)
        .expect("fours grow without end")
}

/// Writes the subdivided triangles as a binary STL.
pub fn write(triangles: &[Triangle], times: u32, path: &Path) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let count = u32::try_from(triangles.len() << (2 * times)).map_err(io::Error::other)?;
    out.write_all(&[0; 80])?;
    out.write_all(&count.to_le_bytes())?;
    triangles
        .iter()
        .try_for_each(|triangle| divided(triangle, times, &mut out))?;
    out.into_inner()?.sync_all()
}

/// Writes the parts of one triangle. Their corners are middles of edges, rounded to 32 bits.
fn divided(&[a, b, c]: &Triangle, times: u32, out: &mut impl Write) -> io::Result<()> {
    if times == 0 {
        // No normal and no attributes.
        let mut record = [0; 50];
        for (bytes, coordinate) in record[12..48]
            .chunks_exact_mut(4)
            .zip([a, b, c].as_flattened())
        {
            bytes.copy_from_slice(&coordinate.to_le_bytes());
        }
        return out.write_all(&record);
    }
    let middle = |p: [f32; 3], q: [f32; 3]| std::array::from_fn(|axis| (p[axis] + q[axis]) / 2.0);
    let ab = middle(a, b);
    let bc = middle(b, c);
    let ca = middle(c, a);
    let parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
    parts
        .iter()
        .try_for_each(|part| divided(part, times - 1, out))
}
