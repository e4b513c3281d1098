//! Writes every file in `fixtures/` again: `cargo run --example make_fixtures`.

#[path = "fixtures/mod.rs"]
#[allow(dead_code, reason = "tests need the rest")]
mod fixtures;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    std::fs::create_dir_all(&folder)?;
    for fixture in fixtures::FIXTURES {
        let bytes = fixture.bytes();
        std::fs::write(folder.join(fixture.file), &bytes)?;
        println!("{}: {} bytes", fixture.file, bytes.len());
    }
    std::fs::create_dir_all(folder.join("defects"))?;
    for fixture in fixtures::DEFECTS {
        std::fs::write(
            folder.join("defects").join(fixture.file),
            fixtures::binary(&(fixture.make)()),
        )?;
    }
    std::fs::write(folder.join("README.md"), fixtures::readme())
}
