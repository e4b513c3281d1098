//! parry3d's `VoxelSet` on a lattice: `parry-peer STL OX,OY,OZ SIZE OUT`.
//!
//! Prints the seconds of the call as JSON, and writes the cells to OUT as 32-bit i, j, k. parry puts the
//! centre of its first cell at the smallest coordinates of all points. An additional point half a cell before
//! the lattice, which belongs to no triangle, makes its cell 1 the lattice's cell 0.

use std::collections::HashMap;
use std::time::Instant;

use parry3d::math::Vector;
use parry3d::transformation::voxelization::{FillMode, VoxelSet};

/// The calls are repeated while their total is shorter than this, and at most three times.
const ENOUGH: f64 = 5.0;

fn numbers(text: &str) -> [f64; 3] {
    let parts: Vec<f64> = text.split(',').map(|part| part.parse().expect("a number")).collect();
    parts.try_into().expect("three numbers")
}

/// Returns the distinct points and the triangles of a binary STL.
fn read(path: &str) -> (Vec<Vector>, Vec<[u32; 3]>) {
    let bytes = std::fs::read(path).expect("the mesh is read");
    let mut points = vec![];
    let mut numbered = HashMap::new();
    let mut corner = |bytes: &[u8]| {
        let mut parts =
            bytes.chunks_exact(4).map(|part| f32::from_le_bytes(part.try_into().expect("four bytes")));
        let point: [f32; 3] = std::array::from_fn(|_| parts.next().expect("three coordinates"));
        *numbered.entry(point.map(f32::to_bits)).or_insert_with(|| {
            points.push(Vector::from(point));
            points.len() as u32 - 1
        })
    };
    let records = bytes[84..].chunks_exact(50);
    let triangles = records.map(|record| [12, 24, 36].map(|at| corner(&record[at..at + 12]))).collect();
    (points, triangles)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [stl, origin, size, out] = &args[..] else { panic!("STL OX,OY,OZ SIZE OUT") };
    let origin = numbers(origin);
    let size: f64 = size.parse().expect("a number");
    let (mut points, triangles) = read(stl);
    points.push(Vector::from(origin.map(|o| (o - size / 2.0) as f32)));
    let mut seconds = vec![];
    let mut set = VoxelSet::new();
    while seconds.is_empty() || seconds.len() < 3 && seconds.iter().sum::<f64>() < ENOUGH {
        let begin = Instant::now();
        set = VoxelSet::with_voxel_size(&points, &triangles, size as f32, FillMode::SurfaceOnly, false);
        seconds.push(begin.elapsed().as_secs_f64());
    }
    let mut cells = Vec::with_capacity(12 * set.len());
    for voxel in set.voxels() {
        for index in [voxel.coords.x, voxel.coords.y, voxel.coords.z] {
            cells.extend((index - 1).to_le_bytes());
        }
    }
    std::fs::write(out, cells).expect("the cells are written");
    seconds.sort_by(f64::total_cmp);
    println!("{{\"seconds\": {}, \"busy\": 1}}", seconds[seconds.len() / 2]);
}
