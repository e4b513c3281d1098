//! Bytes of intact STL files, with a few distinguishable triangles.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Returns a record of binary STL: triangle `n`, its normal and its attributes.
pub fn record(n: f32, normal: [f32; 3], attributes: u16) -> Vec<u8> {
    let floats = [normal, [n, 0.0, 0.0], [n + 1.0, 0.0, 0.0], [n, 1.0, 0.0]];
    let floats = floats.as_flattened().iter().flat_map(|f| f.to_le_bytes());
    floats.chain(attributes.to_le_bytes()).collect()
}

/// Returns a binary STL of `triangles` with this header and count.
pub fn binary(header: &[u8], count: u32, triangles: u16) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, 0);
    bytes.extend(count.to_le_bytes());
    bytes.extend((0..triangles).flat_map(|n| record(f32::from(n), [0.0, 0.0, 1.0], 0)));
    bytes
}

/// Returns a facet with triangle `n` of `record`.
pub fn facet(n: u16) -> String {
    format!(
        "  facet normal 0 0 1\n    outer loop\n      vertex {n} 0 0\n      vertex {} 0 0\n      \
         vertex {n} 1 0\n    endloop\n  endfacet\n",
        n + 1
    )
}

/// Returns an ASCII STL of this number of triangles.
pub fn ascii(name: &str, triangles: u16) -> String {
    let facets: String = (0..triangles).map(facet).collect();
    let name = if name.is_empty() {
        String::new()
    } else {
        format!(" {name}")
    };
    format!("solid{name}\n{facets}endsolid{name}\n")
}

/// Returns text that is not an STL.
pub fn plate() -> String {
    "plate 10 20 30\n".repeat(20)
}

/// Returns these bytes in a gzip file.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(vec![], Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}
