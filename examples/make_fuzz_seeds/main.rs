//! Writes initial inputs for the fuzz targets: `cargo run --example make_fuzz_seeds` fills `fuzz/corpus`,
//! with a folder per target. Names are derived from the content, so existing files stay.

#[path = "../fixtures/mod.rs"]
#[allow(dead_code, reason = "seeds need a part of it")]
mod fixtures;
mod folders;
mod lines;
mod lists;
mod meshes;
mod numbers;
mod packages;
mod polygons;
#[path = "../../tests/support/random.rs"]
mod random;
mod scenes;
mod voxels;

use std::fs;
use std::io;
use std::path::Path;

/// Seeds of one target: names with their bytes.
type Seeds = Vec<(String, Vec<u8>)>;

/// Target with the generator of its seeds.
type Target = (&'static str, fn() -> Seeds);

/// All targets.
static TARGETS: [Target; 14] = [
    ("read_stl", meshes::files),
    ("read_ascii", meshes::texts),
    ("read_indexed", polygons::files),
    ("read_gltf", scenes::files),
    ("read_3mf", packages::files),
    ("read_voxels", voxels::files),
    ("read_goldens", lists::goldens),
    ("plan", lines::words),
    ("names", lines::names),
    ("check", numbers::triangles),
    ("insides", numbers::triangles),
    ("kernels", numbers::triangles),
    ("clearance", numbers::pairs),
    ("round_trip", numbers::grids),
];

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (target, make) in TARGETS {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        let seeds = make();
        for (name, bytes) in &seeds {
            fs::write(folder.join(name), bytes)?;
        }
        println!("{target}: {} seeds", seeds.len());
    }
    Ok(())
}
